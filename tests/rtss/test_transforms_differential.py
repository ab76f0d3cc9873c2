"""Small motions and forces between frames: inverse pairs, powers, and first order."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from linkwise.rtss import rt_diff2tr, rt_ftrans, rt_rpy2tr, rt_tr2diff, rt_tr2jac, rt_transl
from linkwise.spatial.spatial_vectors import on_body
from linkwise.spatial.transform import inverse
from support.messages import unnamed

EPS = np.finfo(float).eps
RNG = np.random.default_rng(3)
T = rt_transl(1.0, -2.0, 0.5) @ rt_rpy2tr(0.4, -0.9, 2.0)
S = rt_transl(0.3, 0.1, -0.7) @ rt_rpy2tr(-1.4, 0.2, 0.6)


def test_a_small_motion_and_its_matrix() -> None:
    d = RNG.standard_normal((4, 5, 6))
    assert rt_diff2tr(d).shape == (4, 5, 4, 4)
    assert np.array_equal(rt_tr2diff(rt_diff2tr(d)), d)
    x = RNG.standard_normal(3)
    moved = rt_diff2tr(d[0, 0]) @ [*x, 1.0]
    assert np.abs(moved - [*(d[0, 0, :3] + np.cross(d[0, 0, 3:], x)), 0.0]).max() < 8 * EPS


def test_from_one_transform_to_another() -> None:
    """To first order: what is left is of the second power of the motion, 1e-5 here."""
    d = 1e-5 * RNG.standard_normal((3, 6))
    moved = (np.eye(4) + rt_diff2tr(np.concatenate([np.zeros((3, 3)), d[:, 3:]], axis=1))) @ T
    moved[:, :3, 3] = T[:3, 3] + d[:, :3]
    assert np.abs(rt_tr2diff(T, moved) - d).max() < 1e-15  # (I + small) R is not a rotation by 1e-10, its skew part is exact
    assert np.abs(rt_tr2diff(moved, np.broadcast_to(T, (3, 4, 4))) + d).max() < 1e-15


def test_the_rotation_is_the_axis_times_the_sine() -> None:
    turned = T.copy()
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    from linkwise.rtss import rt_rotvec

    turned[:3, :3] = rt_rotvec(axis, 1.0)[:3, :3] @ T[:3, :3]
    assert np.abs(rt_tr2diff(T, turned) - [0, 0, 0, *(np.sin(1.0) * axis)]).max() < 4 * EPS


def test_motion_and_force_between_frames() -> None:
    """The same power, the same velocity field, composition, and Linkwise's own way of moving a force."""
    J = rt_tr2jac(T)
    v, F = RNG.standard_normal((2, 6))
    assert rt_ftrans(T, F) @ (J @ v) == pytest.approx(F @ v, abs=32 * EPS)
    linear = v[:3] + np.cross(v[3:], T[:3, 3])
    assert np.abs(J @ v - np.concatenate([T[:3, :3].T @ linear, T[:3, :3].T @ v[3:]])).max() < 8 * EPS
    assert np.abs(rt_tr2jac(T @ S) - rt_tr2jac(S) @ J).max() < 16 * EPS
    assert np.abs(rt_ftrans(T @ S, F) - rt_ftrans(S, rt_ftrans(T, F))).max() < 32 * EPS
    assert np.abs(rt_ftrans(T, F) - on_body(F, inverse(T))).max() < 16 * EPS
    assert np.abs(rt_ftrans(inverse(T), rt_ftrans(T, F)) - F).max() < 32 * EPS


def test_many_at_once() -> None:
    F = RNG.standard_normal((7, 1, 6))
    many = rt_ftrans(np.stack([T, S]), F)
    assert many.shape == (7, 2, 6)
    assert np.abs(many[3, 1] - rt_ftrans(S, F[3, 0])).max() < 4 * EPS  # (matrix products of a batch may round otherwise)
    assert np.array_equal(rt_tr2jac(np.stack([T, S]))[1], rt_tr2jac(S))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rt_diff2tr([1, 2, 3]), "rt_diff2tr: d has the shape (3,); expected finite numbers (..., 6)"),
        (lambda: rt_tr2diff(np.eye(3)), "rt_tr2diff: T1 has the shape (3, 3); expected finite numbers (..., 4, 4)"),
        (lambda: rt_ftrans(T, [1, 2, 3]), "rt_ftrans: F has the shape (3,); expected finite numbers (..., 6)"),
        (lambda: rt_tr2jac(None), "rt_tr2jac: T holds None; expected rigid poses (..., 4, 4)"),
        (
            lambda: rt_tr2diff(np.eye(4), np.zeros((4, 4))),
            "rt_tr2diff: T2 is [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0], [0.0, 0.0,...; "
            "expected a rigid pose: orthonormal right-handed rotation, last row 0 0 0 1",
        ),
    ],
)
def test_what_cannot_be_is_told(call: object, message: str) -> None:
    with pytest.raises(ArgumentError) as told:
        call()  # type: ignore[operator]
    assert unnamed(told.value, message) == []
