"""Velocities, accelerations and analytic Jacobians of frames, and their derivatives, on random mechanisms."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.rotation import rotation_to_rpy
from support.exact_derivatives import along, by_motion, gradients, rates
from support.random_mechanisms import VARIANTS, direct, random_state, relative, variant

WRENCH = np.array([1.0, -2.0, 0.5, 0.3, -0.7, 1.1])

BOUND = 1e-12
"""Rounding; seen: 2e-14."""

at_each = pytest.mark.parametrize("name", VARIANTS[::3])


@pytest.mark.parametrize("frame", ["world", "body"])
@at_each
def test_velocity_and_acceleration_of_a_frame(name: str, frame: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech, 1)
    options = {"link": "part1", "frame": frame}
    jac, rate = direct(mech, "jacobian", q, **options), direct(mech, "jacobian_dot", q, qd, **options)
    moving = (rates(mech, q) @ qd, qdd)
    errors = [
        relative(direct(mech, "frame_velocity", q, qd, **options), jac @ qd),
        relative(direct(mech, "frame_acceleration", q, qd, qdd, **options), jac @ qdd + rate @ qd),
        relative(
            direct(mech, "frame_acceleration", q, qd, qdd, **options),
            along(mech, "frame_velocity", (q, qd), moving, **options),
        ),
    ]
    size = 1.0 + np.abs(jac).max()  # (in its own axes the motion of a frame may be the same wherever it is)
    by_q, by_qd = direct(mech, "frame_velocity_derivatives", q, qd, **options)
    rate_by_q, rate_by_qd, rate_by_qdd = direct(mech, "frame_acceleration_derivatives", q, qd, qdd, **options)
    pairs = [
        (by_q, by_motion(mech, "frame_velocity", q, qd, **options)),
        (by_qd, jac),
        (rate_by_q, by_motion(mech, "frame_acceleration", q, qd, qdd, **options)),
        (rate_by_qd, gradients(mech, "frame_acceleration", (q, qd, qdd), 1, **options)[0]),
        (rate_by_qdd, jac),
        ((hessian := direct(mech, "kinematic_hessian", q, **options)) @ qd, rate),
        (direct(mech, "kinematic_hessian_product", q, WRENCH, **options), np.tensordot(WRENCH, hessian, 1)),
    ]
    errors += [np.abs(one - other).max() / size for one, other in pairs]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) < BOUND


def zyz(rotation: np.ndarray) -> np.ndarray:
    """Euler angles of R = Rz Ry Rz."""
    b = np.arctan2(np.hypot(rotation[0, 2], rotation[1, 2]), rotation[2, 2])
    return np.array([np.arctan2(rotation[1, 2], rotation[0, 2]), b, np.arctan2(rotation[2, 1], -rotation[2, 0])])


def quaternion(rotation: np.ndarray) -> np.ndarray:
    """The unit quaternion, its greatest component positive."""
    found = rotation_quaternion(rotation)
    return found * np.sign(found[np.argmax(np.abs(found))])


COORDINATES = {"rpy": lambda r: np.array(rotation_to_rpy(r)), "zyz": zyz, "quaternion": quaternion}


@pytest.mark.parametrize("orientation", COORDINATES)
@at_each
def test_analytic_jacobians(name: str, orientation: str) -> None:
    """Central differences of the coordinates themselves: errors of h^2 f''' / 6 + eps / h, some 1e-9 at 1e-5."""
    mech, h = variant(name), 1e-5
    q, qd, _ = random_state(mech, 2)
    options = {"link": "part1", "orientation": orientation}

    def coordinates(at: np.ndarray) -> np.ndarray:
        pose = direct(mech, "forward_kinematics", at, link="part1")
        return np.concatenate([pose[:3, 3], COORDINATES[orientation](pose[:3, :3])])

    ahead, behind = (coordinates(direct(mech, "integrate", q, sign * qd, h)) for sign in (1.0, -1.0))
    wanted = (ahead - behind) / (2 * h)
    error = np.abs(direct(mech, "analytic_jacobian", q, **options) @ qd - wanted).max() / (1.0 + np.abs(wanted).max())
    steep = along(mech, "analytic_jacobian", (q,), (rates(mech, q) @ qd,), **options)
    rate_error = relative(direct(mech, "analytic_jacobian_dot", q, qd, **options), steep)
    print(f"{error:.1e} {rate_error:.1e}")
    assert error < 1e-7
    assert rate_error < 1e-10, "angles near where they are undefined"


def test_quaternions_have_no_singular_orientation() -> None:
    arm = robots.puma560()
    q = np.random.default_rng(1).uniform(-3, 3, (200, 6))
    jac = arm.analytic_jacobian(q, orientation="quaternion")
    assert jac.shape == (200, 7, 6)
    halves = jac[:, 3:]
    unit = np.array([quaternion(T[:3, :3]) for T in arm.forward_kinematics(q)])
    assert np.abs(np.einsum("bi,bij->bj", unit, halves)).max() < 1e-14, "the norm stays one"
    turning = np.einsum("bij,bik->bjk", halves, halves) - 0.25 * np.einsum(
        "bij,bik->bjk", arm.jacobian(q)[:, 3:], arm.jacobian(q)[:, 3:]
    )
    assert np.abs(turning).max() < 1e-14, "|dq| is half the angular velocity"


def test_where_angles_are_undefined() -> None:
    arm = robots.planar_2r()
    with pytest.raises(ArgumentError, match="'zyz'"):
        arm.analytic_jacobian([0.1, 0.2], orientation="zyz")  # the third axis of a planar arm is never turned
    with np.errstate(all="ignore"):
        upright = robots.puma560().analytic_jacobian([0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0], orientation="zyz")
    assert not np.abs(upright[3:]).max() < 1e12
    with pytest.raises(ArgumentError, match="euler"):
        arm.analytic_jacobian([0.1, 0.2], orientation="euler")


def test_batches_are_their_rows() -> None:
    arm: Mechanism = robots.puma560()
    q, qd, qdd = random_state(arm, 1, (5,))
    for whole, row in (
        (arm.frame_velocity(q, qd), arm.frame_velocity(q[2], qd[2])),
        (arm.frame_acceleration(q, qd, qdd, "link3"), arm.frame_acceleration(q[2], qd[2], qdd[2], "link3")),
        (arm.frame_velocity_derivatives(q, qd)[0], arm.frame_velocity_derivatives(q[2], qd[2])[0]),
        (arm.frame_acceleration_derivatives(q, qd, qdd)[1], arm.frame_acceleration_derivatives(q[2], qd[2], qdd[2])[1]),
        (arm.kinematic_hessian(q), arm.kinematic_hessian(q[2])),
        (arm.kinematic_hessian_product(q, WRENCH), arm.kinematic_hessian_product(q[2], WRENCH)),
        (arm.analytic_jacobian_dot(q, qd), arm.analytic_jacobian_dot(q[2], qd[2])),
    ):
        assert (whole[2] == row).all()
