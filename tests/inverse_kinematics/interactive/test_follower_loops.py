"""Linkages that follow a target or a slider: loops closed at every step, through dead points, to the nearest place."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise import Link, Loop, Mechanism, robots
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.interactive.follower import TargetFollower
from linkwise.spatial.rotation import rotation_x, rotation_z
from linkwise.spatial.transform import translation

CLOSED = 1e-9
"""How far loops may be open, m."""

NAMES = ("four_bar", "slider_crank", "five_bar", "stewart")


@cache
def follower(name: str) -> TargetFollower:
    return TargetFollower(robots.load(name))


@cache
def two_bars(apart: float, name: str = "bars") -> TargetFollower:
    """Two bars of 0.8 m and 0.7 m on the ground that meet in a pin: a triangle."""
    links = [
        Link(name="a", parent="base", joint="revolute"),
        Link(name="b", parent="base", joint="revolute", before=translation(apart)),
    ]
    return TargetFollower(
        Mechanism(links, loops=[Loop("hinge", "a", "b", translation(0.8), translation(0.7), "pin")], name=name)
    )


def parallelogram() -> Mechanism:
    links = [
        Link(name="left", parent="base", joint="revolute"),
        Link(name="rod", parent="left", joint="revolute", before=translation(1.0)),
        Link(name="right", parent="base", joint="revolute", before=translation(2.0)),
    ]
    return Mechanism(links, loops=[Loop("hinge", "rod", "right", translation(2.0), translation(1.0), "pin")])


def closed(made: TargetFollower, found):
    """The loops are closed by a separate pass, within the limits, and the pose is that of a forward pass."""
    mech = made.mechanism
    assert np.abs(mech.kernel("closure")(found.q)).max() <= CLOSED
    assert found.closure_error <= CLOSED
    low, high = mech.q_min, mech.q_max
    assert ((found.q >= low) & (found.q <= high)).all()
    assert np.array_equal(found.T, mech.forward_kinematics(found.q, made.link))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_it_starts_closed_and_a_drag_keeps_it_closed(name):
    made = follower(name)
    q = made.start()
    start = closed(made, made.follow(made.mechanism.forward_kinematics(q), q)).T
    assert np.array_equal(made.start(), q)
    size = 0.1 * made._allowed.size
    for angle in np.linspace(0.0, 2.0 * np.pi, 13):
        target = np.array(start)
        target[:3, 3] += size * np.array([np.sin(angle), 1.0 - np.cos(angle), 0.3 * np.sin(2 * angle)])
        target[:3, :3] = rotation_z(0.1 * np.sin(angle)) @ target[:3, :3]
        found = closed(made, made.follow(target, q))
        assert found.reached or found.reason
        q = found.q


def test_a_platform_follows_its_whole_pose():
    made = follower("stewart")
    q = made.start()
    target = made.mechanism.forward_kinematics(q).copy()
    target[:3, 3] += [0.03, -0.02, 0.04]
    target[:3, :3] = rotation_x(0.1) @ target[:3, :3]
    found = closed(made, made.follow(target, q))
    assert found.reached
    assert max(found.position_error, found.rotation_error) < 1e-9
    far = target.copy()
    far[2, 3] += 5.0
    found = closed(made, made.follow(far, found.q))
    assert not found.reached
    assert "at its limit: leg" in found.reason


def test_a_delta_keeps_to_its_translations():
    made = follower("delta")
    q = made.start()
    target = made.mechanism.forward_kinematics(q).copy()
    target[:3, 3] += 0.05 * made._allowed.size
    target[:3, :3] = rotation_z(0.5) @ target[:3, :3]
    found = closed(made, made.follow(target, q))
    assert found.position_error < 1e-9
    assert found.rotation_error == pytest.approx(0.5, abs=1e-9)
    assert "the position is reached, 28.6 deg of rotation are not" in found.reason


def test_a_linkage_slides_along_its_curve_to_the_nearest_point():
    made = follower("four_bar")
    mech = made.mechanism
    turns = mech.linkage(["crank"]).trace(np.linspace(0.0, 2.0 * np.pi, 721)).q
    curve = mech.forward_kinematics(turns)[:, :3, 3]
    middle, q = curve.mean(axis=0), made.start()
    for k in range(0, 720, 8):
        target = np.eye(4)
        target[:3, 3] = middle + 1.2 * (curve[k] - middle)
        found = closed(made, made.follow(target, q, rotation=False))
        # a point of the curve that is nearest: nowhere within ten degrees of the crank is it nearer
        turned = np.abs(np.angle(np.exp(1j * (turns[:, 0] - found.q[0]))))
        best = np.linalg.norm(curve[turned < 0.17] - target[:3, 3], axis=1).min()
        assert found.position_error <= best + 1e-9
        q = found.q


@pytest.mark.parametrize(("name", "slider"), [("slider_crank", "crank"), ("jansen", "crank")])
def test_a_crank_turns_round_as_the_linkage_says(name, slider):
    made = follower(name)
    angles = np.linspace(0.0, 2.0 * np.pi, 37)
    expected = made.mechanism.linkage([slider], q0=made.start()).trace(made.start()[0] + angles)
    assert expected.success.all()
    q = made.start()
    for angle, wanted in zip(angles, expected.q, strict=True):
        found = closed(made, made.move(slider, made.start()[0] + angle, q))
        assert found.reached
        assert found.q == pytest.approx(wanted, abs=1e-8)
        q = found.q


def test_a_slider_is_pushed_through_its_dead_points():
    made = follower("slider_crank")
    mech, q = made.mechanism, made.start()
    turns = mech.linkage(["crank"]).trace(np.linspace(0.0, 2.0 * np.pi, 721)).q[:, 2]
    low, high = turns.min(), turns.max()
    for value in (high + 0.1, low - 0.1, high + 0.1, low - 0.1):
        for wanted in np.linspace(q[2], value, 25):
            found = closed(made, made.move("slider", wanted, q))
            q = found.q
            assert np.isfinite(q).all()
        assert q[2] == pytest.approx(min(max(value, low), high), abs=1e-5)  # (the trace has points each half degree)
        assert found.reason == "the loops do not let 'slider' go further from here"
        assert found.position_error == pytest.approx(abs(value - q[2]), abs=1e-12)


def test_moving_one_drive_leaves_the_others_where_they_are():
    made = follower("five_bar")
    start = closed(made, made.move("right_crank", 0.3, made.start()))
    found = closed(made, made.move("left_crank", 0.4, start.q))
    assert found.reached
    assert found.q[2] == pytest.approx(start.q[2], abs=1e-15)
    passive = closed(made, made.move("left_rod", start.q[1] + 0.1, start.q))
    assert passive.reached


def test_a_loop_of_no_freedom_stays_and_says_so():
    made = two_bars(1.0)
    found = closed(made, made.move("a", 1.0, made.start()))
    assert np.array_equal(found.q, made.start())
    assert found.reason == "the loops do not let 'a' go further from here"


def test_loops_that_cannot_be_closed_are_told():
    made = two_bars(5.0, "apart")
    found = made.follow(np.eye(4), [0.1, 0.2])
    assert not found.reached
    assert found.closure_error >= 3.5 - 1e-9  # (5 m between the pivots, 1.5 m of bars)
    assert "the loops do not close from here: they are open by" in found.reason
    with pytest.raises(ArgumentError, match="'apart' cannot be closed"):
        made.start()


def test_an_open_start_is_closed_first():
    made = follower("four_bar")
    q = made.start() + np.array([0.0, 0.02, -0.01])
    found = closed(made, made.move("crank", 0.2, q))
    assert found.reached


def test_from_a_singular_position_it_moves_on():
    mech = parallelogram()
    made = TargetFollower(mech)
    assert mech.mobility(mech.neutral) != 0
    for q in (made.start(), mech.neutral):
        there = q
        for angle in np.linspace(0.0, 2.0 * np.pi, 25):
            found = closed(made, made.move("left", angle, there))
            assert found.reached
            there = found.q


def test_another_frame_of_a_linkage_is_dragged():
    mech = robots.load("four_bar")
    made = TargetFollower(mech, "rocker")
    q = made.start()
    goal = mech.forward_kinematics(mech.linkage(["crank"]).position([0.4]).q, "rocker")
    found = closed(made, made.follow(goal, q))
    assert found.reached
    assert found.q[2] == pytest.approx(mech.linkage(["crank"]).position([0.4]).q[2], abs=1e-8)
