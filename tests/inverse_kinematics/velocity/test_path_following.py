"""Paths of a frame, followed by resolved motion rate control."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import PathSolution, follow, towards_middle
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.trajectory import CartesianTrajectory, cartesian

START = np.array([0.2, 0.9, -2.6, 0.3, 1.0, 0.2])


@pytest.fixture(scope="module")
def puma(robot: Callable[[str], lw.Mechanism]) -> lw.Mechanism:
    return robot("puma560")


def line(puma: lw.Mechanism, by: tuple[float, float, float], seconds: float = 1.0) -> CartesianTrajectory:
    start = puma.forward_kinematics(START)
    end = start.copy()
    end[:3, 3] += by
    return cartesian(start, end, seconds)


def assert_truthful(puma: lw.Mechanism, made: PathSolution, path: CartesianTrajectory) -> None:
    error = pose_error(puma.forward_kinematics(made.q), path.at(made.path_time)[0])
    assert np.allclose(made.position_error, np.linalg.norm(error[:, :3], axis=-1), rtol=0, atol=1e-14)
    assert np.allclose(made.rotation_error, np.linalg.norm(error[:, 3:], axis=-1), rtol=0, atol=1e-14)
    assert made.success == (made.reason == "followed")
    if made.success:
        assert made.position_error.max() <= 1e-3
        assert made.path_time[-1] == path.t[-1]


def test_errors_fall_with_the_square_of_the_step(puma: lw.Mechanism) -> None:
    path = line(puma, (0.1, -0.1, 0.05))
    runs = [follow(puma, path, START, dt=dt) for dt in (0.02, 0.01)]
    for made, dt in zip(runs, (0.02, 0.01), strict=True):
        assert_truthful(puma, made, path)
        assert made.success
        assert np.allclose(np.diff(made.t), dt, rtol=0, atol=1e-12)
        assert abs(made.t[-1] - 1.0) < 1e-12
        assert np.array_equal(made.t, made.path_time)
    coarse, fine = (made.position_error.max() for made in runs)
    assert coarse < 1e-4
    assert 3.0 < coarse / fine < 6.0
    made = runs[1]
    jerk = np.abs(np.diff(made.qdd, axis=0)).max() / 0.01
    mean = 0.5 * (made.qd[1:] + made.qd[:-1])
    assert (
        np.abs(np.diff(made.q, axis=0) - 0.01 * mean).max() < 0.01**3 / 4 * jerk
    )  # dt^3 / 12 of a jerk smeared over three steps
    assert lw.Trajectory(made.t, made.q, made.qd, made.qdd).q.shape == made.q.shape


def test_limits_stretch_the_time_and_keep_the_path(puma: lw.Mechanism) -> None:
    path = line(puma, (0.1, -0.1, 0.05))
    made = follow(puma, path, START, dt=0.01, qd_max=0.2)
    assert_truthful(puma, made, path)
    assert made.success
    assert np.abs(made.qd).max() <= 0.2
    assert made.t[-1] > 1.5
    assert made.scale.min() < 0.5
    assert made.position_error.max() < 1e-4


def test_a_start_beside_the_path_is_drawn_to_it(puma: lw.Mechanism) -> None:
    path = line(puma, (0.0, 0.0, 0.1))
    made = follow(puma, path, START + 0.01, dt=0.01, gain=10.0)
    assert_truthful(puma, made, path)
    assert made.reason == "left"
    assert made.position_error[0] > 1e-3
    assert made.position_error[-1] < 0.01 * made.position_error[0]  # exp(-10) is 5e-5


def test_what_is_out_of_reach_is_told(puma: lw.Mechanism) -> None:
    path = line(puma, (1.5, 0.0, 0.0))
    made = follow(puma, path, START, dt=0.04, qd_max=10.0)
    assert_truthful(puma, made, path)
    assert not made.success
    assert made.position_error.max() > 0.1
    assert np.abs(made.qd).max() <= 10.0
    low, high = puma.q_min, puma.q_max
    assert np.all((made.q >= low - 1e-12) & (made.q <= high + 1e-12))
    assert made.reason in repr(made)


@pytest.mark.usefixtures("uncompiled")
def test_a_joint_at_its_limit_stops_the_motion() -> None:
    """The first joint alone turns the arm about the vertical, and may not turn so far."""
    arm = lw.Mechanism([lw.Link.dh(a=1.0, convention="standard", limits=(-0.5, 0.5))])
    start, end = arm.forward_kinematics([0.0]), arm.forward_kinematics([1.0])
    made = follow(arm, cartesian(start, end, 1.0), [0.0], dt=0.01, mask=[0, 0, 0, 0, 0, 1])
    assert made.reason == "stopped"
    assert abs(made.q[-1, 0] - 0.5) < 1e-6
    assert made.path_time[-1] < 0.6
    assert "stopped at " in repr(made)
    outside = follow(arm, cartesian(arm.forward_kinematics([0.7]), end, 1.0), [0.7], dt=0.01, mask=[0, 0, 0, 0, 0, 1])
    assert (outside.reason, len(outside.t)) == ("stopped", 1)  # (at rest there: the middle of the step finds out)


def test_secondary_motion() -> None:
    arm = lw.Mechanism.from_dh([(0, 0, 0.5, 0)] * 3, convention="standard")
    arm = arm.replace(links=[link.replace(limits=(-2.0, 2.0), dh_row=link.dh_row) for link in arm.links])
    q = np.array([1.5, -1.2, 0.6])
    pose = arm.forward_kinematics(q)
    still = CartesianTrajectory([0.0, 3.0], [pose] * 2, np.zeros((2, 6)), np.zeros((2, 6)))
    mask = [1, 1, 0, 0, 0, 0]
    made = follow(arm, still, q, dt=0.05, mask=mask, secondary=lambda q: towards_middle(arm, q))
    assert made.success
    assert np.linalg.norm(made.q[-1]) < 0.97 * np.linalg.norm(q)
    assert made.position_error.max() < 1e-3
    off = follow(arm, still, q + 0.01, dt=0.05, mask=mask)  # even where the path stands still the error is closed
    assert off.position_error[0] > 0.02
    assert off.position_error[-1] < 1e-9  # at 20 mm/s (gain times tol), and from 1 mm on by a half each step


def test_refusals(puma: lw.Mechanism) -> None:
    path = line(puma, (0.1, 0.0, 0.0))
    with pytest.raises(ArgumentError, match=r"gain.*200.*1.*0\.01.*100.*1"):
        follow(puma, path, START, dt=0.01, gain=200.0)
    with pytest.raises(ArgumentError, match=r"path.*Cartesian.*Trajectory"):
        follow(puma, [1.0], START)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match=r"q0 has the shape \(2, 6\); expected \(6,\)"):
        follow(puma, path, [START, START])
