"""Jacobians and motion matrices against finite differences of poses.

Error model: the five-point central difference with step h has the error h^4 f'''''/30 + 1.5 eps |f| / h. Along a motion
s -> q + s qd the poses are sums of products of sines whose total rate is at most about r = 10 rad per unit of s, so that
with h = 3e-4 the first part is at most h^4 r^5 / 30 = 3e-11 and the second 1e-12; for a single coordinate r is about 1.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from support.random_mechanisms import SEEDS, random_state, sample, variant

STEP = 3e-4
BOUND = 3e-11

at_each = pytest.mark.parametrize("seed", SEEDS)
in_each_frame = pytest.mark.parametrize("frame", ["world", "body"])


def rate(function: Callable[[float], np.ndarray], h: float = STEP) -> np.ndarray:
    """The derivative at 0."""
    return np.asarray((8 * (function(h) - function(-h)) - (function(2 * h) - function(-2 * h))) / (12 * h))


def second_rate(function: Callable[[float], np.ndarray], h: float = 2e-3) -> np.ndarray:
    """The second derivative at 0: error h^4 f^(6) / 90 + 5 eps |f| / h^2."""
    ends = 16 * (function(h) + function(-h)) - (function(2 * h) + function(-2 * h))
    return np.asarray((ends - 30 * function(0.0)) / (12 * h * h))


def axial(m: np.ndarray) -> np.ndarray:
    return 0.5 * np.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])


def velocity(pose: np.ndarray, pose_rate: np.ndarray) -> np.ndarray:
    """Linear velocity of the origin and angular velocity, from the rate of a pose: dR/dt R' = w~."""
    return np.concatenate([pose_rate[:3, 3], axial(pose_rate[:3, :3] @ pose[:3, :3].T)])


@at_each
@in_each_frame
def test_jacobian(seed: int, frame: str) -> None:
    mech = variant(f"joints {seed}")
    q, _, _ = random_state(mech, seed)
    worst = 0.0
    for link in ("tool", *range(len(mech.links))) if frame == "world" else ("tool", 0):
        pose = mech.forward_kinematics(q, link=link)
        columns = []
        for i in range(mech.n):
            direction = np.eye(mech.n)[i]
            columns.append(velocity(pose, rate(lambda s, d=direction, k=link: mech.forward_kinematics(q + s * d, link=k))))
        wanted = np.array(columns).T
        if frame == "body":
            wanted = np.concatenate([pose[:3, :3].T @ wanted[:3], pose[:3, :3].T @ wanted[3:]])
        worst = max(worst, np.abs(mech.jacobian(q, link=link, frame=frame) - wanted).max())
    print(f"{worst:.1e}")
    assert worst <= 3e-11


@at_each
@in_each_frame
def test_jacobian_dot(seed: int, frame: str) -> None:
    mech = variant(f"joints {seed}")
    q, qd, _ = random_state(mech, seed)
    worst = 0.0
    for link in ("tool", 1):
        wanted = rate(lambda s, k=link: mech.jacobian(q + s * qd, link=k, frame=frame))
        worst = max(worst, np.abs(mech.jacobian_dot(q, qd, link=link, frame=frame) - wanted).max())
    print(f"{worst:.1e}")
    assert worst <= BOUND


@at_each
def test_motion_velocity(seed: int) -> None:
    """dT/dt = W T for every link."""
    mech = variant(f"joints {seed}")
    q, qd, qdd = random_state(mech, seed)
    poses, w, _ = mech.motion(q, qd, qdd)
    assert np.abs(poses - mech.link_poses(q)).max() <= 1e-14
    error = np.abs(rate(lambda s: mech.link_poses(q + s * qd)) - w @ poses).max()
    print(f"{error:.1e}")
    assert error <= BOUND


@at_each
def test_motion_acceleration(seed: int) -> None:
    """d2T/dt2 = H T for every link, along q + s qd + s^2/2 qdd.

    Error h^4 f^(6) / 90 with f^(6) below 1e5 here, 2e-8 of accelerations near 10, and rounding 5 eps / h^2 = 3e-10.
    """
    mech = variant(f"joints {seed}")
    q, qd, qdd = random_state(mech, seed)
    poses, _, h = mech.motion(q, qd, qdd)
    wanted = second_rate(lambda s: mech.link_poses(q + s * qd + 0.5 * s * s * qdd))
    error = np.abs(wanted - h @ poses).max() / max(1.0, np.abs(wanted).max())
    print(f"{error:.1e}")
    assert error <= 5e-9


@at_each
def test_acceleration_is_j_qdd_plus_jd_qd(seed: int) -> None:
    """To rounding, against H: the acceleration of the tool's origin, and alpha from dW/dt = H - W W."""
    mech = variant(f"joints {seed}")
    q, qd, qdd = random_state(mech, seed)
    poses, w, h = mech.motion(q, qd, qdd)
    tool = poses[-1] @ mech.tool
    point = tool[:, 3]
    from_matrices = np.concatenate([(h[-1] @ point)[:3], axial(h[-1] - w[-1] @ w[-1])])
    found = mech.jacobian(q) @ qdd + mech.jacobian_dot(q, qd) @ qd
    twist = np.concatenate([(w[-1] @ point)[:3], axial(w[-1])])
    errors = [np.abs(found - from_matrices).max(), np.abs(mech.jacobian(q) @ qd - twist).max()]
    print(f"{max(errors):.1e}")
    # A few hundred roundings of numbers up to about 30.
    assert max(errors) <= 3e-13


def test_manipulability_is_the_product_of_singular_values() -> None:
    mech = sample(2)
    q, _, _ = random_state(mech, 0, (3,))
    for axes, rows in (("all", slice(0, 6)), ("translation", slice(0, 3)), ("rotation", slice(3, 6))):
        wanted = [np.prod(np.linalg.svd(mech.jacobian(one)[rows], compute_uv=False)) for one in q]
        assert np.allclose(mech.manipulability(q, mask=axes), wanted, rtol=1e-12, atol=1e-15)


def test_teeth() -> None:
    """A jacobian_dot without the terms of the moving frame is seen."""
    mech = sample(2)
    q, qd, _ = random_state(mech)
    wanted = rate(lambda s: mech.jacobian(q + s * qd, frame="body"))
    assert np.abs(mech.jacobian_dot(q, qd, frame="world") - wanted).max() > 1e6 * BOUND
