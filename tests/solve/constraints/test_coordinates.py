"""Coordinates that must have values or follow others: the values themselves, whole turns included, within the limits."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Mimic, robots
from linkwise.errors import ArgumentError
from linkwise.solve import solve
from linkwise.solve.compiled_problem import system_of
from linkwise.solve.constraints import Aligned, Coordinate, Follows, Position
from linkwise.solve.joint_limits import TURN

CHAIN = Mechanism(
    [
        Link.dh(a=1.0, convention="standard", name="a"),
        Link.dh(a=1.0, convention="standard", name="b", limits=(-8.0, 8.0)),
        Link.dh(alpha=0.3, convention="standard", joint="prismatic", name="slide", limits=(-2.0, 2.0)),
        Link.dh(a=0.5, convention="standard", name="c"),
    ],
    name="chain",
)


@pytest.mark.parametrize("value", [0.0, -3.0, 5.0, 5.0 + TURN, -7 * TURN, 100.0])
def test_a_value_is_not_one_a_whole_turn_away(value: float) -> None:
    found = solve(CHAIN, Coordinate("a", value), q0=np.zeros(4))
    assert found.success
    assert abs(found.q[0] - value) <= 1e-9


@pytest.mark.parametrize(("joint", "value"), [("b", 7.5), (1, -8.0), ("slide", 1.9), (-2, -2.0), (2, 0.0)])
def test_values_up_to_the_limits_are_reached(joint: int | str, value: float) -> None:
    found = solve(CHAIN, Coordinate(joint, value))
    assert found.success
    assert abs(found.q[1 if joint in {"b", 1} else 2] - value) <= 1e-9
    assert (found.q >= CHAIN.q_min).all()
    assert (found.q <= CHAIN.q_max).all()


@pytest.mark.parametrize(("joint", "value", "nearest"), [("b", 8.5, 8.0), ("b", -8.0 - TURN, -8.0), ("slide", 2.5, 2.0)])
def test_values_beyond_them_are_not(joint: str, value: float, nearest: float) -> None:
    found = solve(CHAIN, Coordinate(joint, value))
    assert not found.success
    assert found.reason == "limit"
    assert abs(found.q[CHAIN.names.index(joint)] - nearest) < 1e-6
    error = found.position_error if joint == "slide" else found.rotation_error
    assert abs(error - abs(value - nearest)) < 1e-6
    assert solve(CHAIN, Coordinate(joint, value), limits=False).success


def test_the_other_joints_still_turn_freely() -> None:
    turning = system_of(CHAIN, [Coordinate("a", 1.0), Position("tool", np.zeros(3))]).ranges.turning
    assert turning.tolist() == [False, True, False, True]
    assert system_of(CHAIN, [Position("tool", np.zeros(3))]).ranges.turning.tolist() == [True, True, False, True]


def test_a_batch_of_values() -> None:
    values = np.linspace(-6.0, 6.0, 20).reshape(4, 5)
    found = solve(CHAIN, [Coordinate("b", values), Coordinate("slide", [0.5, -0.5, 1.0, 2.0, -2.0])])
    assert found.success.shape == (4, 5)
    assert found.success.all()
    assert np.abs(found.q[..., 1] - values).max() <= 1e-9
    assert np.abs(found.q[..., 2] - [0.5, -0.5, 1.0, 2.0, -2.0]).max() <= 1e-9


def test_with_a_position_the_rest_is_found() -> None:
    q = np.array([0.4, -1.0, 0.7, 2.0])
    T = CHAIN.forward_kinematics(q)
    found = solve(CHAIN, [Coordinate("slide", 0.7), Coordinate("a", 0.4 + TURN), Position("tool", T[:3, 3])])
    assert found.success
    assert abs(found.q[0] - 0.4 - TURN) <= 1e-9
    assert np.linalg.norm(CHAIN.forward_kinematics(found.q)[:3, 3] - T[:3, 3]) <= 1e-9


def test_one_follows_another() -> None:
    ratios, offsets = np.array([2.0, -0.5, 0.0]), np.array([[0.3], [-4.0]])
    found = solve(CHAIN, [Follows("c", "a", ratios, offsets), Coordinate("a", 3.0)])
    assert found.success.shape == (2, 3)
    assert found.success.all()
    assert np.abs(found.q[..., 3] - ratios * 3.0 - offsets).max() <= 1e-9


def test_a_slide_follows_a_turn() -> None:
    found = solve(CHAIN, [Follows("slide", "c", 0.1, 0.2), Coordinate("c", 10.0)])
    assert found.success
    assert abs(found.q[2] - 1.2) <= 1e-9
    beyond = solve(CHAIN, [Follows("slide", "c", 0.1, 0.2), Coordinate("c", 30.0)])
    assert (beyond.success, beyond.reason) == (False, "limit")
    assert beyond.position_error > 0.1


def test_it_is_what_a_mimic_joint_does() -> None:
    arm = robots.planar_3r()
    last = arm.link_names[2]
    geared = arm.replace_link(last, mimic=Mimic(arm.names[1], -0.5, 0.1))
    wanted = Position("tool", [0.8, 1.4, 0.0], mask=[1, 1, 0])
    one = solve(geared, wanted, q0=[0.3, 0.8])
    two = solve(arm, [wanted, Follows(2, 1, -0.5, 0.1)], q0=[0.3, 0.8, -0.3])
    assert one.success
    assert two.success
    # both within 1e-9 m of the point; two joints lead there, with a Jacobian that is no worse than 1 to 10
    assert np.abs(two.q[:2] - one.q).max() < 1e-7


def test_a_joint_that_follows_by_its_description_has_no_coordinate() -> None:
    arm = robots.planar_3r()
    geared = arm.replace_link(arm.link_names[2], mimic=Mimic(arm.names[1]))
    with pytest.raises(ValueError, match=f"joint is '{arm.names[2]}'; the joint coordinates .* indices -2 to 1"):
        solve(geared, Coordinate(arm.names[2], 0.0))


def test_behind_a_floating_base() -> None:
    hull = Link(joint="fixed", name="hull", parent="base", mass=1.0, inertia=(1, 1, 1))
    craft = Mechanism([hull, Link(name="mast", axis=(1, 0, 0), parent="hull")], floating=True)
    found = solve(craft, [Coordinate("mast", 2.0), Aligned("mast", [0, 0, 1], [0, 1, 0])])
    assert found.success
    assert abs(found.q[7] - 2.0) <= 1e-9
    assert abs(craft.forward_kinematics(found.q, link="mast")[:3, 2] - [0, 1, 0]).max() < 1e-9
    assert abs(np.linalg.norm(found.q[3:7]) - 1.0) < 1e-15 * 4


def test_the_quaternion_of_a_start_may_have_any_length_but_zero() -> None:
    hull = Link(joint="fixed", name="hull", parent="base", mass=1.0, inertia=(1, 1, 1))
    craft = Mechanism([hull, Link(name="mast", axis=(1, 0, 0), parent="hull")], floating=True)
    task, start = Coordinate("mast", 0.5), np.array([1.0, 2.0, 3.0, 0.0, 3.0, 0.0, 4.0, 0.5])
    found = solve(craft, task, q0=start)
    assert found.success
    assert np.array_equal(found.q, [1.0, 2.0, 3.0, 0.0, 0.6, 0.0, 0.8, 0.5])
    with pytest.raises(ArgumentError, match="q0 has a quaternion of zeros"):
        solve(craft, task, q0=start * [1, 1, 1, 0, 0, 0, 0, 1])
