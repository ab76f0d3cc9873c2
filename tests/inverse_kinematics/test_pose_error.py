"""The error of a pose and its derivative: against finite differences, for errors of any size, in both frames."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.inverse_kinematics.pose_error import pose_error, pose_error_rate
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.transform import transform
from support.random_mechanisms import column_by_column, random_pose, sample


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("seed", range(6))
def test_the_rate_is_minus_the_derivative(frame: str, seed: int) -> None:
    mech = sample(seed)
    rng = np.random.default_rng([seed, 3])
    q, wanted = rng.uniform(-2, 2, mech.n), random_pose(rng)

    def error(step: np.ndarray) -> np.ndarray:
        return pose_error(mech.forward_kinematics(q + step), wanted, frame)

    here = mech.forward_kinematics(q)
    rate = pose_error_rate(here, wanted, mech.jacobian(q, frame=frame), frame)
    difference = np.abs(rate + column_by_column(error, mech.n)).max()
    print(f"turn {np.linalg.norm(error(np.zeros(mech.n))[3:]):.2f} rad, greatest difference {difference:.1e}")
    # h^4 f5 / 480 with h = 2e-3; the derivatives of the rotation vector grow as 1 / (2 pi - turn)^5, at most 1 / pi^5 here
    assert difference < 1e-8


@pytest.mark.parametrize("frame", ["world", "body"])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 1.0, 3.0, np.pi - 1e-9])
def test_the_turn_is_axis_times_angle(frame: str, angle: float) -> None:
    rng = np.random.default_rng(2)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    here, turn = random_pose(rng), rotation_about(axis, angle)
    r = here[:3, :3]
    wanted = transform(turn @ r if frame == "world" else r @ turn, [0.1, 0.2, 0.3])
    found = pose_error(here, wanted, frame)
    way = wanted[:3, 3] - here[:3, 3]
    assert np.allclose(found[:3], way if frame == "world" else r.T @ way, rtol=0, atol=1e-15)  # three products of size 1
    assert np.allclose(found[3:], angle * axis, rtol=0, atol=1e-14)  # some ten roundings of numbers of size 1, times pi


def test_at_the_goal_the_rate_is_the_jacobian() -> None:
    mech = sample(1)
    q = np.linspace(0.1, 0.9, mech.n)
    jac = mech.jacobian(q)
    here = mech.forward_kinematics(q)
    assert np.allclose(pose_error_rate(here, here, jac), jac, rtol=0, atol=1e-14)  # the turn is zero but for rounding
