"""Joints on which nothing that is asked for depends: they stay where they are, and what else moves is as it would be."""

import numpy as np
import pytest

import linkwise as lw
from linkwise import Link, Mechanism
from linkwise.inverse_kinematics.inverse_kinematics import numeric_solutions
from linkwise.solve import Coordinate, Pose, Position, solve
from linkwise.solve.compiled_problem import system_of

ARM = lw.robots.ur5()


def with_a_gripper() -> Mechanism:
    """An arm with a jaw that slides from 0.01 m on, and a frame between that it does not move."""
    flange = ARM.link_names[-1]
    jaw = Link(name="jaw", joint="prismatic", parent=flange, limits=(0.01, 0.04))
    return Mechanism([*ARM.links, Link(name="tcp", joint="fixed", parent=flange), jaw], tool_link="tcp", base=ARM.base)


GRIPPING = with_a_gripper()
Q = np.random.default_rng(4).uniform(-2.0, 2.0, (20, 6))
POSES = ARM.replace(tool=np.eye(4)).forward_kinematics(Q)


@pytest.mark.parametrize("method", ["auto", "numeric", "newton_raphson", "steepest_descent"])
def test_the_gripper_stays_and_the_arm_moves_as_without_it(method: str) -> None:
    some = POSES[:3] if method == "steepest_descent" else POSES
    found = GRIPPING.inverse_kinematics(some, method=method)
    alone = ARM.replace(tool=np.eye(4)).inverse_kinematics(some, method=method)
    assert np.array_equal(found.success, alone.success)
    assert (found.q[:, 6] == 0.01).all()  # zero, brought to the limit next to it
    if method in {"auto", "numeric"}:
        assert found.success.all()
    good = found.success
    assert np.abs(GRIPPING.forward_kinematics(found.q[good]) - some[good]).max(initial=0.0) < 1e-8  # a tolerance of 1e-9


@pytest.mark.parametrize("method", ["auto", "numeric"])
def test_it_stays_at_q0_where_that_is_given(method: str) -> None:
    # from this start the numerical way does not lead to all poses: random starts follow, which move no idle joint either
    found = GRIPPING.inverse_kinematics(POSES, q0=[3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 0.03], method=method)
    assert found.success.all()
    assert (found.q[:, 6] == 0.03).all()
    beyond = GRIPPING.inverse_kinematics(POSES[0], q0=[0.0] * 6 + [0.09], method="numeric")
    assert beyond.success
    assert beyond.q[6] == 0.04


def test_out_of_reach_it_stays_too() -> None:
    far = POSES[0].copy()
    far[:3, 3] = 5.0, 0.0, 0.0
    found = GRIPPING.inverse_kinematics(far, q0=[0.1] * 6 + [0.02])
    assert (found.success, found.q[6]) == (False, 0.02)


def test_what_an_axis_through_the_point_turns_is_idle() -> None:
    place = ARM.replace(tool=np.eye(4)).forward_kinematics(Q[0])[:3, 3]
    found = solve(GRIPPING, Position("tool", place))
    assert found.success
    assert found.q[5] == 0.0  # the last axis goes through the flange's origin
    assert np.abs(found.q[:5]).min() > 0.0
    both = solve(GRIPPING, [Position("tool", place), Coordinate("jaw", 0.025)])
    assert both.success
    assert both.q[6] == pytest.approx(0.025, abs=1e-9)


def test_solutions_that_differ_in_idle_joints_alone_are_one() -> None:
    found = numeric_solutions(GRIPPING, POSES[0], starts=40)
    alone = numeric_solutions(ARM.replace(tool=np.eye(4)), POSES[0], starts=40)
    assert len(found) == len(alone)
    assert (found[:, 6] == 0.01).all()


def test_a_floating_base_has_no_idle_joint_by_mistake() -> None:
    loose = GRIPPING.replace(floating=True)
    found = solve(loose, Pose("tool", POSES[0]))
    assert found.success
    assert found.q[-1] == 0.01
    assert system_of(loose, [Pose("tool", POSES[0])]).idle.tolist() == [
        13
    ]  # seven of the base and six of the arm come before
    assert system_of(loose, [Pose("jaw", POSES[0])]).idle.tolist() == []
