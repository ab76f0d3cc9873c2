"""The rows of greatest speeds: MaxSpeed, MaxAcceleration, MaxDeceleration of links, together and while they change."""

import numpy as np
import pytest

from linkwise.control import Chain
from linkwise.errors import ArgumentError
from support.chains import EPS, HOOK_GOAL, TOOL_GOAL, crane, enable, exceeded, predicted, puma, run, solved, ways

SIZE = {"crane": 5.0, "puma560": 1.5}
FREE = np.inf


def to_goal(chain: Chain) -> None:
    """A step of the target, far enough to reach greatest speeds."""
    if chain.name == "crane":
        enable(chain, "place", position=HOOK_GOAL)
    else:
        enable(chain, "target", position=TOOL_GOAL[0], angles=TOOL_GOAL[1])


def arrived(chain: Chain, rows: np.ndarray) -> int:
    """In which cycle the goal, found in the first by the solver, is there to the bit; it is not left again."""
    there = (rows == rows[-1]).all(axis=1)
    first = int(np.argmax(there))
    assert 0 < first < len(rows) - 2, "not arrived"
    assert there[first:].all()
    assert not chain.unsolved
    assert not chain["chain.limited"]
    return first


@pytest.mark.parametrize(("make", "link"), [(crane, "hook"), (crane, "boom"), (puma, "tool"), (puma, "link3")])
def test_max_speed(make, link: str) -> None:
    """The end goes as fast as it may, and no faster; without other limits nothing else slows it."""
    chain, dt = make(), 0.01
    to_goal(chain)
    chain[f"{link}.max_speed"] = 0.2
    rows = run(chain, 400, dt)
    last = arrived(chain, rows)
    places = ways(chain, rows, -1 if link == "tool" else link)
    assert exceeded(places, np.full(400, dt), 0.2, FREE, FREE, SIZE[chain.name]) == (0.0, 0.0, 0.0)
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / dt
    assert speeds[: last - 1].min() > 0.2 * (1 - 1e-4)  # (the search leaves 1e-5 of a limit)


@pytest.mark.parametrize(("make", "link"), [(crane, "hook"), (puma, "tool")])
def test_max_acceleration(make, link: str) -> None:
    chain, dt = make(), 0.01
    to_goal(chain)
    chain[f"{link}.max_acceleration"] = 2.0
    rows = run(chain, 400, dt)
    last = arrived(chain, rows)
    places = ways(chain, rows, -1 if link == "tool" else link)
    assert exceeded(places, np.full(400, dt), FREE, 2.0, FREE, SIZE[chain.name]) == (0.0, 0.0, 0.0)
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / dt
    # (from rest: the first velocity lies half a cycle after the start, but a whole one after the velocity before)
    assert np.abs(np.diff(speeds[: last - 1]) / dt - 2.0).max() < 2.0 * 1e-3


@pytest.mark.parametrize(("make", "link"), [(crane, "hook"), (puma, "tool")])
def test_max_deceleration(make, link: str) -> None:
    """The end brakes before it arrives, so that it need not brake harder, and does not go beyond."""
    chain, dt = make(), 0.01
    to_goal(chain)
    chain[f"{link}.max_deceleration"], chain[f"{link}.max_speed"] = 0.5, 0.3
    rows = run(chain, 600, dt)
    last = arrived(chain, rows)
    places = ways(chain, rows, -1 if link == "tool" else link)
    assert exceeded(places, np.full(600, dt), 0.3, FREE, 0.5, SIZE[chain.name]) == (0.0, 0.0, 0.0)
    left = np.abs(rows - rows[-1])
    assert (np.diff(left, axis=0) <= 4 * EPS).all()  # each joint only comes nearer
    ahead = np.linalg.norm(places[:-1] - places[-1], axis=1)
    speeds = np.linalg.norm(np.diff(places, axis=0), axis=1) / dt
    assert speeds[last - 8 : last].max() < 0.3
    assert (speeds[: last // 2] > 0.29).any()
    assert ahead[last - 1] < 0.3 * dt


def test_max_deceleration_avoids_overshoot_from_full_speed() -> None:
    """A target that comes nearer while the chain is fast: it stops in time wherever that can be done."""
    chain, dt = crane(), 0.01
    to_goal(chain)
    for what, value in (("speed", 0.5), ("acceleration", 1.0), ("deceleration", 1.0)):
        chain[f"hook.max_{what}"] = value
    rows = [run(chain, 60, dt)]
    speed = np.linalg.norm(ways(chain, rows[0][-2:], "hook")[1] - ways(chain, rows[0][-2:], "hook")[0]) / dt
    assert speed > 0.3
    goal, at = solved_goal(chain), rows[0][-1]
    stop = speed**2 / 2.0
    towards = HOOK_GOAL - ways(chain, at[None], "hook")[0]
    chain["place.position"] = HOOK_GOAL - towards * (1 - 1.3 * stop / np.linalg.norm(towards))
    rows.append(run(chain, 400, dt)[1:])
    every = np.concatenate(rows)
    arrived(chain, every)
    assert exceeded(ways(chain, every, "hook"), np.full(460, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    assert not np.allclose(every[-1], goal)


def solved_goal(chain: Chain) -> np.ndarray:
    """Where an unlimited twin goes."""
    return np.asarray(chain._cycle.now[: chain.mechanism.n]).copy()


def test_all_max_speeds_together_keep_the_path() -> None:
    """The chain is slowed as one: none is exceeded, at each moment one is reached, and all joints stay on one line."""
    chain, dt = puma(), 0.01
    to_goal(chain)
    limits = {"tool": 0.3, "link3": 0.1, "link2": 0.25, "link5": 0.28}
    for link, value in limits.items():
        chain[f"{link}.max_speed"], chain[f"{link}.max_acceleration"], chain[f"{link}.max_deceleration"] = value, 10.0, 15.0
    rows = run(chain, 500, dt)
    last = arrived(chain, rows)
    used = []
    for link, value in limits.items():
        places = ways(chain, rows, -1 if link == "tool" else link)
        assert exceeded(places, np.full(500, dt), value, 10.0, 15.0, 1.5) == (0.0, 0.0, 0.0)
        used.append(np.linalg.norm(np.diff(places, axis=0), axis=1) / dt / value)
    fastest = np.max(used, axis=0)
    assert (fastest[10 : last - 10] > 0.999).mean() > 0.9
    way = rows[-1] - rows[0]
    share = (rows - rows[0]) @ way / (way @ way)
    assert np.abs(rows - rows[0] - share[:, None] * way).max() <= 1e-12


def test_max_speeds_hold_for_predicted_values_too() -> None:
    """A target that moves faster than the end may: it is followed at the greatest speed."""
    chain, dt = crane(), 0.01
    chain["hook.max_speed"], chain["hook.max_acceleration"], chain["hook.max_deceleration"] = 0.2, 1.0, 1.0
    start = ways(chain, chain.q0[None], "hook")[0]
    velocity = np.array([-0.3, 0.3, 0.1])
    enable(chain, "target", velocity=velocity)
    rows = {"solved": [solved(chain)], "predicted": [predicted(chain)]}
    for k in range(150):
        chain["target.position"] = start + velocity * k * dt
        chain.step(dt)
        rows["solved"].append(solved(chain))
        rows["predicted"].append(predicted(chain))
    for every in rows.values():
        places = ways(chain, np.array(every), "hook")
        assert exceeded(places, np.full(150, dt), 0.2, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
        assert np.linalg.norm(places[-1] - places[-2]) / dt > 0.1999


def test_max_speed_of_a_joint() -> None:
    chain, dt = crane(), 0.01
    to_goal(chain)
    chain["jib.max_d_speed"], chain["boom.max_theta_speed"], chain["jib.max_d_acceleration"] = 0.1, 0.15, 0.4
    rows = run(chain, 500, dt)
    arrived(chain, rows)
    speeds = np.abs(np.diff(rows, axis=0)) / dt
    assert speeds[:, 2].max() <= 0.1 + 32 * EPS / dt
    assert speeds[:, 1].max() <= 0.15 + 32 * EPS / dt
    assert (np.diff(speeds[:, 2]) / dt).max() <= 0.4 + 64 * EPS / dt**2


@pytest.mark.parametrize("what", ["max_speed", "max_acceleration", "max_deceleration"])
def test_greatest_values_are_above_zero(what: str) -> None:
    for wrong in (0.0, -1.0, np.nan):
        with pytest.raises(ArgumentError, match=f"hook.{what}"):
            crane()[f"hook.{what}"] = wrong
    chain = crane()
    chain[f"hook.{what}"] = np.inf
    assert chain.step(0.01)


def test_chain_limited_says_that_something_is_held_back() -> None:
    chain = crane()
    to_goal(chain)
    chain["hook.max_speed"] = 0.5
    chain.step(0.01)
    assert chain["chain.limited"]
    assert chain["chain.kept"]
    assert not chain.unsolved  # the solution is there; the chain is on its way
    assert chain["place.distance"] > 0.1
    run(chain, 400)
    assert not chain["chain.limited"]
    assert chain["place.distance"] <= 1e-10
