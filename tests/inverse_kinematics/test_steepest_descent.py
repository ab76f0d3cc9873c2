"""Steepest descent: it goes down at every step, keeps the limits on the way, and arrives where Newton-Raphson does."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics import newton_raphson, steepest_descent
from linkwise.inverse_kinematics.pose_error import pose_error

Q = np.array([0.3, 0.8, -2.0, 0.4, 0.7, 0.2])


def test_arrives_where_newton_raphson_does_from_nearby() -> None:
    mech = robots.puma560()
    T = mech.forward_kinematics(Q)
    slow, fast = steepest_descent(mech, T, Q + 0.1), newton_raphson(mech, T, Q + 0.1)
    assert slow.success
    assert fast.success
    assert np.allclose(slow.q, fast.q, rtol=0, atol=1e-7)  # both within 1e-9 m and rad, times the inverse of the Jacobian
    assert slow.iterations > 10 * fast.iterations


@pytest.mark.parametrize("scale", [0.3, 1.0])
def test_no_step_raises_the_error(scale: float) -> None:
    mech = robots.puma560()
    rng = np.random.default_rng(0)
    T = mech.forward_kinematics(rng.uniform(mech.q_min, mech.q_max, (20, 6)))
    heights = []
    for steps in range(1, 30):
        found = steepest_descent(mech, T, Q, iterations=steps, scale=scale)
        error = pose_error(mech.forward_kinematics(found.q), T) * [1, 1, 1, scale, scale, scale]
        heights.append(np.sum(error**2, axis=-1))
    assert np.all(np.diff(heights, axis=0) <= 0)
    assert np.all(heights[-1] < 0.9 * heights[0])


def test_joints_never_leave_their_limits() -> None:
    mech = robots.puma560()
    rng = np.random.default_rng(1)
    T = mech.forward_kinematics(rng.uniform(mech.q_min, mech.q_max, (50, 6)))
    for steps in (1, 5, 200):
        q = steepest_descent(mech, T, rng.uniform(-9, 9, 6), iterations=steps).q
        assert np.all((q >= mech.q_min) & (q <= mech.q_max))


def test_held_by_a_limit_it_says_so() -> None:
    arm = robots.planar_2r().replace_link(0, limits=(0.0, 0.5))
    stop = steepest_descent(arm, arm.forward_kinematics([1.2, 0.4]), [0.2, 0.4], link=0)
    assert (stop.success, stop.reason) == (False, "limit")
    assert stop.q[0] == 0.5
    free = steepest_descent(arm, robots.planar_2r().forward_kinematics([1.2, 0.4]), [0.2, 0.5], limits=False)
    assert free.success


def test_out_of_reach_it_comes_as_near_as_can_be() -> None:
    arm = robots.planar_2r()
    T = np.eye(4)
    T[:3, 3] = [3.0, 4.0, 0.0]
    found = steepest_descent(arm, T, [0.1, 0.3], mask=[1, 1, 0, 0, 0, 0])
    assert (found.success, found.reason) == (False, "singular")
    reach = sum(link.placement(0.0)[0, 3] for link in arm.links)
    assert abs(found.position_error - (5.0 - reach)) < 1e-12  # flat there: the square of what is left of the angle


def test_fewer_joints_than_the_pose_asks_for_stall_in_between() -> None:
    slide = Mechanism([Link(joint="prismatic", axis=(1, 1, 0))])
    T = np.eye(4)
    T[0, 3] = 1.0
    found = steepest_descent(slide, T, [0.0])
    assert (found.success, found.reason) == (False, "stalled")
    assert abs(found.q[0] - np.sqrt(0.5)) < 3e-8  # the foot of the perpendicular; f changes by less than its rounding there


def test_a_batch_has_the_bits_of_a_loop() -> None:
    mech = robots.puma560()
    rng = np.random.default_rng(5)
    T = mech.forward_kinematics(Q + rng.uniform(-0.3, 0.3, (7, 6)))
    found = steepest_descent(mech, T, Q, iterations=50)
    loop = [steepest_descent(mech, one, Q, iterations=50) for one in T]
    for field in ("q", "success", "reason", "position_error", "rotation_error", "iterations"):
        assert np.array_equal(getattr(found, field), np.array([getattr(one, field) for one in loop]))


def test_a_scale_must_be_a_length() -> None:
    with pytest.raises(ArgumentError, match="scale is 0; expected a number > 0"):
        steepest_descent(robots.planar_2r(), np.eye(4), scale=0)
