"""What a chain does at its edges: targets out of reach, singular positions, constraints that contradict each other or change
between cycles, one iteration per cycle."""

import warnings

import numpy as np
import pytest

from linkwise import robots
from linkwise.control import Chain, FixedPosition
from linkwise.solve.lengths import size_of
from support.chains import (
    EPS,
    HOOK_GOAL,
    PRECISION,
    TOOL_GOAL,
    bounded,
    crane,
    crane_ends,
    enable,
    exceeded,
    finite,
    inside,
    place_of,
    predicted,
    puma,
    run,
    solved,
    ways,
)

FAR = (np.array([0.0, 0.0, 50.0]), np.array([9.0, -4.0, 1.0]), np.array([0.0, 0.0, 1.0]))
"""Out of reach: above, beside, and inside, where the jib does not come."""


@pytest.mark.parametrize("goal", FAR)
def test_a_target_out_of_reach_is_told_and_approached(goal: np.ndarray) -> None:
    """The outputs come to rest, within the limits, at a place from which no small admissible change comes nearer."""
    chain = crane()
    enable(chain, "place", position=goal)
    rows = run(chain, 60)
    assert chain.unsolved
    assert chain.reason in {"unreachable", "limit"}
    assert inside(chain, rows)
    assert (rows[-20:] == rows[-1]).all()
    best = np.linalg.norm(crane_ends(*rows[-1])["hook"][:3, 3] - goal)
    assert abs(chain["chain.distance"] - best) <= 1e-12 * best + 64 * EPS
    rng = np.random.default_rng(1)
    for step in rng.uniform(-1e-3, 1e-3, (200, 4)):
        beside = rows[-1] + step
        if inside(chain, beside):
            assert np.linalg.norm(crane_ends(*beside)["hook"][:3, 3] - goal) >= best - 1e-7 * best


def test_a_target_out_of_reach_within_greatest_speeds() -> None:
    chain, dt = crane(), 0.01
    bounded(chain, "hook")
    enable(chain, "place", position=FAR[1])
    rows = run(chain, 600, dt)
    assert exceeded(ways(chain, rows, "hook"), np.full(600, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    assert inside(chain, rows)
    assert (rows[-50:] == rows[-1]).all()
    chain["place.position"] = HOOK_GOAL
    rows = run(chain, 800, dt)
    assert not chain.unsolved
    assert np.linalg.norm(crane_ends(*rows[-1])["hook"][:3, 3] - HOOK_GOAL) <= PRECISION + 64 * EPS
    assert exceeded(ways(chain, rows, "hook"), np.full(800, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)


def test_a_stretched_arm_is_pulled_inwards() -> None:
    """Where the arm is stretched no joint speed leads inwards, to first order: it is found nevertheless."""
    chain = puma()
    chain.reset([0.0, 0.0, -np.pi / 2, 0.0, 0.0, 0.0])
    place = place_of(chain.mechanism, chain.q0)[:3, 3]
    jac = chain.mechanism.jacobian(chain.q0)[:3]
    u, sizes, _ = np.linalg.svd(jac)
    out = u[:, 2] * np.sign(u[:, 2] @ place)
    assert sizes[2] < 0.2 * sizes[0]
    goal = place - 0.2 * out
    enable(chain, "place", position=goal)
    for _ in range(5):
        chain.step(0.01)
    assert not chain.unsolved, chain.reason
    assert np.linalg.norm(place_of(chain.mechanism, solved(chain))[:3, 3] - goal) <= PRECISION + 64 * EPS


def test_contradictory_constraints_are_told_apart_and_do_not_chatter() -> None:
    """Each tells its own distance; the outputs stand still over a thousand cycles, half way between the two."""
    chain = crane()
    other = HOOK_GOAL + np.array([0.0, 0.0, 0.2])
    enable(chain, "place", position=HOOK_GOAL)
    enable(chain, "target", position=other)
    run(chain, 30)
    rows = run(chain, 1000)
    assert (rows == rows[0]).all()
    assert chain.unsolved
    assert chain.reason == "unreachable"
    assert abs(chain["place.distance"] - 0.1) < 1e-8
    assert abs(chain["target.distance"] - 0.1) < 1e-8
    assert abs(chain["chain.distance"] - np.hypot(0.1, 0.1)) < 1e-8
    assert finite(chain)


def test_contradictory_constraints_with_greatest_speeds() -> None:
    chain, dt = puma(), 0.01
    bounded(chain, "tool", 0.3, 1.0, 1.0)
    enable(chain, "place", position=TOOL_GOAL[0])
    enable(chain, "target", position=TOOL_GOAL[0] + [0.05, 0.0, -0.1], angles=TOOL_GOAL[1])
    rows = run(chain, 600, dt)
    assert exceeded(ways(chain, rows), np.full(600, dt), 0.3, 1.0, 1.0, 1.5) == (0.0, 0.0, 0.0)
    assert np.abs(rows[-200:] - rows[-1]).max() <= 1e-9
    assert chain.reason in {"unreachable", "limit"}


def test_constraints_switched_and_changed_between_cycles() -> None:
    """At random, over hundreds of cycles: no output ever leaves its limits or goes faster than it may."""
    chain, dt, rng = crane(), 0.01, np.random.default_rng(5)
    bounded(chain, "hook", 0.5, 1.0, 1.5)
    bounded(chain, "lamp", 0.6, 2.0, 2.0)
    rows, ahead = [solved(chain)], [predicted(chain)]
    for k in range(600):
        if k % 23 == 0:
            for name in ("place", "target", "speed"):
                chain[f"{name}.enabled"] = bool(rng.random() < 0.5)
            for name in ("place", "target"):
                wanted = rng.uniform([-1.0, 0.0, 0.5], [1.0, 1.2, 2.3])
                chain[f"{name}.position"] = crane_ends(*wanted, 0.1)["hook"][:3, 3]
            chain["speed.velocity"] = rng.uniform(-0.4, 0.4, 3)
            chain["lamp.theta_speed"] = rng.uniform(-0.5, 0.5)
        chain.step(dt)
        assert finite(chain)
        rows.append(solved(chain))
        ahead.append(predicted(chain))
    for every in (np.array(rows), np.array(ahead)):
        assert inside(chain, every)
        assert exceeded(ways(chain, every, "hook"), np.full(600, dt), 0.5, 1.0, 1.5, 5.0) == (0.0, 0.0, 0.0)
        assert exceeded(ways(chain, every, "lamp"), np.full(600, dt), 0.6, 2.0, 2.0, 5.0) == (0.0, 0.0, 0.0)


def test_switching_a_constraint_off_brings_the_chain_to_rest() -> None:
    chain, dt = crane(), 0.01
    bounded(chain, "hook", 0.5, 1.0, 1.0)
    enable(chain, "place", position=HOOK_GOAL)
    rows = run(chain, 60, dt)
    speed = np.linalg.norm(np.diff(ways(chain, rows[-2:], "hook"), axis=0)) / dt
    assert speed > 0.3
    chain["place.enabled"] = False
    rows = np.concatenate([rows, run(chain, 200, dt)[1:]])
    assert exceeded(ways(chain, rows, "hook"), np.full(260, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    assert (rows[-50:] == rows[-1]).all()
    stopped = np.linalg.norm(np.diff(ways(chain, rows[[60, -1]], "hook"), axis=0))
    assert stopped <= 1.3 * (speed**2 / 2.0 + speed * dt)


def test_an_arm_is_folded_from_its_stretched_position_without_being_wound_up(uncompiled: None) -> None:
    """The one position of two equal links in which no joint speed leads inwards: the nearest answer is half a turn away."""
    arm = robots.planar_2r().replace(name="stretched")
    chain = Chain(arm, FixedPosition("place", "tool", [2.0, 0.0, 0.0]))
    assert np.linalg.svd(arm.jacobian(np.zeros(2))[:2])[1][1] <= 4 * EPS
    for inwards in (1e-6, 0.5, 2.0):
        chain.reset(np.zeros(2))
        for before in (2.0, 1.5, 2.5):  # (the last is out of reach: it leaves the arm stretched all but exactly)
            chain["place.position"] = [before, 0.0, 0.0]
            run(chain, 3)
        assert chain.reason == "unreachable"
        chain["place.position"] = [2.0 - inwards, 0.0, 0.0]
        assert chain.step(0.01), chain.reason
        elbow = 2.0 * np.arccos((2.0 - inwards) / 2.0)
        # (places to 1e-10 are angles to 1e-8 where the elbow is stretched, or folded)
        assert abs(abs(chain["link2.theta_solved"]) - elbow) <= 1e-5
        assert abs(chain["link1.theta_solved"]) <= np.pi / 2 + 0.1


@pytest.mark.parametrize("make", [crane, puma])
def test_one_iteration_per_cycle_goes_on_and_is_never_worse(make) -> None:
    chain = make()
    chain["chain.calculations_per_cycle"] = 1
    if make is crane:
        enable(chain, "place", position=HOOK_GOAL)
    else:
        enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])
    errors = []
    for _ in range(60):
        chain.step(0.01)
        assert chain["chain.iterations"] <= 1
        errors.append((chain["chain.distance"] / size_of(chain.mechanism)) ** 2 + chain["chain.angle"] ** 2)
    assert (np.diff(errors) <= 0.0).all()
    assert not chain.unsolved


def test_an_iteration_that_runs_far_warns_of_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chain = crane()
        enable(chain, "place", position=[1e90, -1e90, 1e90])
        run(chain, 3)
        assert finite(chain) or chain.unsolved
        assert inside(chain, solved(chain))
