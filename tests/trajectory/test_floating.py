from itertools import pairwise

import numpy as np

from linkwise.spatial.quaternion import quaternion_product, quaternion_rotation
from linkwise.trajectory import Trajectory

from .conftest import slope


def turn_z(angle: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(angle)
    return np.stack((np.cos(angle / 2), zero, zero, np.sin(angle / 2)), axis=-1)


def turn_x(angle: np.ndarray) -> np.ndarray:
    zero = np.zeros_like(angle)
    return np.stack((np.cos(angle / 2), np.sin(angle / 2), zero, zero), axis=-1)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.stack([quaternion_product(x, y) for x, y in zip(a, b, strict=True)])


def tumbling(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rz(2 t) Rx(sin 3 t) at (sin t, t^2, cos 2 t), and a joint: q, and by hand qd, qdd in the axes of the body."""
    a, ad = 2.0 * t, 2.0
    b, bd, bdd = np.sin(3 * t), 3 * np.cos(3 * t), -9 * np.sin(3 * t)
    u = product(turn_z(a), turn_x(b))
    # the angular velocity in the body: b' about x, and a' z seen after the turn by -b about x
    s, c, zero = np.sin(b), np.cos(b), 0 * t
    w = np.stack((bd, ad * s, ad * c), axis=-1)
    wd = np.stack((bdd, ad * c * bd, -ad * s * bd), axis=-1)
    p = np.stack((np.sin(t), t**2, np.cos(2 * t)), axis=-1)
    v0 = np.stack((np.cos(t), 2 * t, -2 * np.sin(2 * t)), axis=-1)
    a0 = np.stack((-np.sin(t), 2 + zero, -4 * np.cos(2 * t)), axis=-1)
    back = np.stack([np.asarray(quaternion_rotation(x)).T for x in u])
    v = np.einsum("kij,kj->ki", back, v0)
    vd = np.einsum("kij,kj->ki", back, a0) - np.cross(w, v)
    joint = np.sin(t)[:, None], np.cos(t)[:, None], -np.sin(t)[:, None]
    return tuple(np.concatenate(parts, axis=1) for parts in ((p, u, joint[0]), (v, w, joint[1]), (vd, wd, joint[2])))


def record(count: int) -> Trajectory:
    t = np.linspace(0.0, 3.0, count)
    return Trajectory(t, *tumbling(t))


def test_error_falls_as_the_sixth_power() -> None:
    t = np.linspace(0, 3, 997)
    errors = []
    for count in (31, 61, 121):
        made, true = record(count).at(t), tumbling(t)
        side = np.sign(np.sum(made[0][:, 3:7] * true[0][:, 3:7], axis=1, keepdims=True))
        made[0][:, 3:7] *= side  # q and -q are one orientation
        errors.append([np.abs(a - b).max() for a, b in zip(made, true, strict=True)])
        print(count, [f"{error:.1e}" for error in errors[-1]])
    for less in range(3):
        for coarse, fine in pairwise(errors):
            assert coarse[less] / fine[less] > 0.8 * 2 ** (6 - less)
    assert errors[-1][0] < 1e-9


def test_the_twist_is_that_of_the_interpolated_pose() -> None:
    made, h = record(10), 1e-4
    t = np.concatenate([np.linspace(a + 0.01, a + 0.32, 40) for a in made.t[:-1]])
    q, qd, qdd = made.at(t)
    rate = slope(lambda s: made.at(s)[0], t, h)
    conjugate = q[:, 3:7] * [1, -1, -1, -1]
    w = 2 * product(conjugate, rate[:, 3:7])
    v = np.einsum("kij,kj->ki", np.stack([np.asarray(quaternion_rotation(x)).T for x in q[:, 3:7]]), rate[:, :3])
    acceleration = slope(lambda s: made.at(s)[1], t, h)
    errors = [np.abs(a - b).max() for a, b in ((w[:, 1:], qd[:, 3:6]), (v, qd[:, :3]), (acceleration, qdd))]
    print([f"{error:.1e}" for error in errors])
    assert np.abs(np.linalg.norm(q[:, 3:7], axis=1) - 1).max() < 1e-15
    assert max(errors) < 1e-10  # roundings of some 1e-15 over h = 1e-4; the truncation, h^4 / 30 of up to 1e4, is less


def test_signs_of_quaternions_and_batches_make_no_difference() -> None:
    one = record(31)
    q = np.stack((one.q, one.q))
    q[1, ::3, 3:7] *= -1
    many = Trajectory(one.t, q, *(np.stack((x, x)) for x in (one.qd, one.qdd)))
    assert many.floating
    assert many.n == 1
    for k, (a, b) in enumerate(zip(many.at(1.234), one.at(1.234), strict=True)):
        assert np.array_equal(np.abs(a[1]) if k == 0 else a[1], np.abs(b) if k == 0 else b)
        assert np.array_equal(a[0], b)
