"""Mechanisms of every make as chains: joints that slide and screw, that follow others, trees, fixed links, loops of the
mechanism up to and beyond their toggle positions; and what cannot be a chain."""

import numpy as np
import pytest

from linkwise import Link, Mechanism, Mimic, robots
from linkwise.control import Chain, FixedLink, FixedPosition, LoopClosure, MovingPosition, RevoluteLink, Velocity
from linkwise.errors import ArgumentError, ModelError
from linkwise.spatial.transform import translation
from support.chains import (
    EPS,
    PRECISION,
    crane,
    enable,
    exceeded,
    four_bar,
    place_of,
    predicted,
    run,
    slider_crank,
    solved,
    ways,
)


def gap(chain: Chain, q: np.ndarray) -> float:
    """How far the loops of a mechanism are open, m, by passes of their own."""
    found = [0.0]
    for loop in chain.mechanism.loops:
        one, two = (
            (np.eye(4) if name == "base" else place_of(chain.mechanism, q, name)) @ frame
            for name, frame in ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
        )
        found.append(float(np.linalg.norm((one - two)[:3, 3])))
    return max(found)


def test_prismatic_and_screw_joints(uncompiled: None) -> None:
    """A screw is told as an angle, and moves its end by its pitch."""
    mech = Mechanism(
        [
            Link(name="slide", parent="base", joint="prismatic", axis=(1, 0, 0)),
            Link(name="spindle", parent="slide", joint="screw", pitch=0.05, before=translation(0, 0, 0.5)),
            Link(name="arm", parent="spindle", joint="revolute", before=translation(0.2)),
        ],
        name="spindle drive",
        tool=translation(0.3),
    )
    chain = Chain(mech, MovingPosition("target", "tool"), q0=[0.1, 0.3, 0.2])
    assert {"slide.d", "spindle.theta", "arm.theta"} <= set(chain.ports)
    assert chain.ports["spindle.theta"].unit == "rad"
    wanted = np.array([0.2, 1.0, 0.6])
    chain["target.position"] = place_of(mech, wanted)[:3, 3]
    assert chain.step(0.01), chain.reason
    assert np.linalg.norm(place_of(mech, solved(chain))[:3, 3] - chain["target.position"]) <= PRECISION + 64 * EPS
    assert abs(chain["spindle.solved_position"][2] - 0.5 - 0.05 * chain["spindle.theta_solved"]) <= 64 * EPS


def test_joints_that_follow_others(uncompiled: None) -> None:
    """A mimic joint has no parameter of its own; its link has ends like others."""
    mech = Mechanism(
        [
            Link(name="upper", parent="base", joint="revolute"),
            Link(name="lower", parent="upper", joint="revolute", before=translation(1.0), mimic=Mimic("upper", -2.0, 0.1)),
            Link(name="slide", parent="lower", joint="prismatic", axis=(1, 0, 0), before=translation(0.2)),
        ],
        name="follower",
        tool=translation(0.3),
    )
    chain = Chain(mech, MovingPosition("target", "tool"), q0=[0.4, 0.2])
    assert "lower.theta" not in chain.ports
    assert "lower.solved_position" in chain.ports
    chain["target.position"] = place_of(mech, np.array([0.7, 0.5]))[:3, 3]
    chain["tool.max_speed"] = chain["lower.max_acceleration"] = chain["lower.max_deceleration"] = 1.0
    rows = run(chain, 150, 0.02)
    assert not chain.unsolved
    assert np.linalg.norm(ways(chain, rows[-1:])[0] - chain["target.position"]) <= PRECISION + 64 * EPS
    assert exceeded(ways(chain, rows), np.full(150, 0.02), 1.0, np.inf, np.inf, 2.0) == (0.0, 0.0, 0.0)
    assert exceeded(ways(chain, rows, "lower"), np.full(150, 0.02), np.inf, 1.0, 1.0, 2.0) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("make", [four_bar, slider_crank])
def test_loops_of_the_mechanism_stay_closed_within_greatest_speeds(make) -> None:
    chain, dt = make(), 0.01
    if make is four_bar:
        end, joint = "coupler", "crank"
        enable(chain, "turn", angles=[0.0, 0.0, 1.2])
    else:
        end, joint = "slider", "slider"
        enable(chain, "place", position=[0.22, 0.0, 0.0])
    for what, value in (("speed", 0.05), ("acceleration", 0.2), ("deceleration", 0.2)):
        chain[f"{end}.max_{what}"] = value
    rows = run(chain, 300, dt)
    assert not chain.unsolved, chain.reason
    assert not chain["chain.limited"]
    # (between the goals a cycle's way is brought onto the loops up to 1e-11 of the mechanism's size)
    assert max(gap(chain, row) for row in rows) <= 2 * PRECISION
    assert exceeded(ways(chain, rows, end), np.full(300, dt), 0.05, 0.2, 0.2, 0.5) == (0.0, 0.0, 0.0), joint


def test_four_bar_turned_through_a_whole_turn() -> None:
    """The crank is driven by its speed, routed from its prediction; the rocker swings and comes back."""
    chain, dt = four_bar(), 0.01
    for link in ("crank", "coupler", "rocker"):
        chain.ports.unroute(f"{link}.theta")
        chain.ports.route(f"{link}.predicted_theta", f"{link}.theta")
    chain["crank.theta_speed"] = chain["coupler.theta_speed"] = 0.0
    angle = solved(chain)[0]
    rocker = []
    for k in range(200):
        enable(chain, "turn", angles=[0.0, 0.0, angle + 2 * np.pi * k / 199])
        assert chain.step(dt), chain.reason
        rocker.append(chain["rocker.theta_solved"])
        assert gap(chain, solved(chain)) <= 2 * PRECISION
    assert abs(rocker[-1] - rocker[0]) <= 1e-8
    assert np.abs(np.diff(rocker)).max() < 0.2  # (never on the other branch)


def test_four_bar_pushed_beyond_its_toggle_position() -> None:
    """The coupler's point is asked for where no position of the crank brings it: it rests, told, and comes back."""
    chain = four_bar()
    chain.step(0.01)
    first = chain["tool.solved_position"]
    for push in (0.05, 0.5, 5.0):
        enable(chain, "target", position=first + np.array([push + 0.2, 0.0, 0.0]))
        rows = run(chain, 200)
        assert chain.unsolved
        assert np.isfinite(chain.ports.outputs).all()
        assert (rows[-50:] == rows[-1]).all()
        assert max(gap(chain, row) for row in rows) <= 1e-11
        assert chain["target.distance"] > 0.9 * (push + 0.2 - 0.16)
    chain["target.position"] = first
    run(chain, 20)
    assert not chain.unsolved, chain.reason
    assert gap(chain, solved(chain)) <= 2 * PRECISION


def test_slider_crank_pushed_beyond_its_dead_point() -> None:
    """The slider is stretched: within limits of speed it comes to its dead point and stands there without chatter."""
    chain, dt = slider_crank(), 0.01
    for what, value in (("speed", 0.1), ("acceleration", 0.5), ("deceleration", 0.5)):
        chain[f"slider.max_{what}"] = value
    enable(chain, "place", position=[0.30, 0.0, 0.0])
    rows = run(chain, 1000, dt)
    places = ways(chain, rows, "slider")
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() / dt <= 0.1 * (1 + 1e-6)
    assert max(gap(chain, row) for row in rows) <= 1e-11
    assert 0.25 - 1e-5 < places[-1, 0] <= 0.25 + 1e-11
    assert (rows[-300:] == rows[-1]).all()
    assert chain.unsolved


def test_slider_crank_at_its_dead_point_with_a_velocity() -> None:
    """No joint speed gives the slider the velocity that is asked for: it is told, and speeds stay finite."""
    chain = slider_crank()
    chain.reset([0.0, 0.0, 0.0])
    enable(chain, "speed", velocity=[0.1, 0.0, 0.0])
    chain.step(0.01)
    assert chain.unsolved
    assert np.isfinite(chain.ports.outputs).all()
    assert np.abs(predicted(chain)).max() < 1.0


def test_loops_that_do_not_close_are_refused() -> None:
    mech = robots.four_bar()
    links = [link.replace(before=translation(9.0)) if link.name == "rocker" else link for link in mech.links]
    with pytest.raises(ArgumentError, match="do not close"):
        Chain(mech.replace(links=links, name="torn"))


def test_a_link_called_tool(uncompiled: None) -> None:
    """The name is that link's, and there is no other tool."""
    chain = Chain([RevoluteLink("arm", a=1.0), FixedLink("tool", a=0.5)], FixedPosition("place", "tool", [0.0, 1.5, 0.0]))
    assert chain.step(0.01), chain.reason
    assert np.abs(chain["tool.solved_position"] - [0.0, 1.5, 0.0]).max() <= 2 * PRECISION
    assert np.abs(chain["arm.solved_position"] - [0.0, 1.0, 0.0]).max() <= 2 * PRECISION
    assert chain.layout.ends.count("tool") == 1


def test_a_single_joint_and_no_constraint(uncompiled: None) -> None:
    chain = Chain([RevoluteLink("arm", a=1.0, theta=0.3)])
    assert chain.step(0.01)
    assert chain["arm.theta_solved"] == 0.3
    chain["arm.theta_speed"] = 0.5
    assert chain.step(0.01)
    assert abs(chain["arm.predicted_theta"] - 0.305) <= 4 * EPS


def test_what_stands_is_refused() -> None:
    with pytest.raises(ArgumentError, match="no joint that moves"):
        Chain([FixedLink("post", d=1.0)])


def test_names_that_clash_are_refused() -> None:
    arm = [RevoluteLink("arm", a=1.0), RevoluteLink("hand", a=0.5)]
    for name in ("arm", "hand", "tool", "start", "chain"):
        with pytest.raises(ArgumentError, match=repr(name)):
            Chain(arm, FixedPosition(name, "hand"))
    with pytest.raises(ArgumentError, match="'same'"):
        Chain(arm, [FixedPosition("same", "hand"), FixedPosition("same", "arm")])
    with pytest.raises(ModelError, match="arm"):
        Chain([RevoluteLink("arm"), RevoluteLink("arm")])
    for name in ("start", "chain"):
        with pytest.raises((ArgumentError, ModelError), match=repr(name)):
            Chain([RevoluteLink(name)])


@pytest.mark.parametrize("link", ["leg", "start", ""])
def test_constraints_on_links_that_are_not_there_are_refused(link: str) -> None:
    arm = [RevoluteLink("arm", a=1.0), RevoluteLink("hand", a=0.5)]
    with pytest.raises(ArgumentError, match="link is"):
        Chain(arm, FixedPosition("place", link))
    with pytest.raises(ArgumentError, match="to is"):
        Chain(arm, LoopClosure("grip", "hand", "leg"))
    with pytest.raises(ModelError, match="to is"):
        LoopClosure("grip", "hand", "hand")


def test_wrong_things_are_refused() -> None:
    with pytest.raises(ArgumentError, match="constraints contain"):
        Chain(robots.planar_2r(), ["place"])
    with pytest.raises(ModelError, match="velocity is None; expected three numbers, or an angular_velocity"):
        Velocity("speed", "tool")
    with pytest.raises(ModelError, match="nothing where there are no angles"):
        MovingPosition("target", "tool", angular_velocity=(0, 0, 1))
    with pytest.raises(ArgumentError, match="q0 has the shape"):
        Chain(robots.planar_2r(), q0=[1.0])
    with pytest.raises(ArgumentError, match="zyz"):
        Chain(robots.planar_2r(), angles="zyz")
    with pytest.raises(ModelError, match="position"):
        FixedPosition("place", "tool", [0.0, np.nan, 0.0])
    for wrong in (1.0, True, "x", [1.0, 2.0], [[1.0, 2.0, 3.0]]):
        with pytest.raises(ModelError, match=r"'place': position is .*; expected 3 finite numbers"):
            FixedPosition("place", "tool", wrong)
    with pytest.raises(ArgumentError, match="q0"):
        crane().reset([np.nan] * 4)
