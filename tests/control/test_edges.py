"""What a chain does at its edges: out of reach, singular, no numbers, odd periods, limits that are broken or wrong,
constraints that contradict each other or change between cycles."""

import warnings

import numpy as np
import pytest

from linkwise.control import Chain
from linkwise.errors import ArgumentError
from linkwise.solve.steps import size_of
from some_chains import (
    EPS,
    HOOK_GOAL,
    PRECISION,
    TOOL_GOAL,
    crane,
    crane_ends,
    enable,
    exceeded,
    place_of,
    predicted,
    puma,
    run,
    solved,
    ways,
)

FAR = (np.array([0.0, 0.0, 50.0]), np.array([9.0, -4.0, 1.0]), np.array([0.0, 0.0, 1.0]))
"""Out of reach: above, beside, and inside, where the jib does not come."""


def finite(chain: Chain) -> bool:
    return bool(np.isfinite(chain.ports.outputs).all())


def inside(chain: Chain, rows: np.ndarray) -> bool:
    """Whether all joint values are within the limits that the ports say, exactly."""
    low, high = (np.array([chain[f"{link}.limits.{end}"] for link, _ in chain.layout.joints]) for end in ("min", "max"))
    return bool(((rows >= low) & (rows <= high)).all())


def limited(chain: Chain, link: str, speed: float = 0.5, acceleration: float = 1.0, deceleration: float = 1.0) -> None:
    for what, value in (("speed", speed), ("acceleration", acceleration), ("deceleration", deceleration)):
        chain[f"{link}.max_{what}"] = value


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
    limited(chain, "hook")
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


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize("port", ["boom.theta", "jib.d", "target.position", "boom.theta_speed", "start.position", "target.velocity"])
def test_what_is_no_number_is_told_and_the_value_before_counts(port: str, wrong: float) -> None:
    chain, twin = crane(), None
    chain.ports.reroute({})
    enable(chain, "target", position=HOOK_GOAL)
    chain.step(0.01)
    before = chain.ports.values.copy()
    kept = chain.save()
    chain.step(0.01)
    twin = chain.ports.outputs.copy()
    chain.restore(kept)
    good = chain[port]
    chain[port] = wrong if np.ndim(good) == 0 else [good[0], wrong, good[2]]
    chain.step(0.01)
    assert chain.reason == "input"
    assert chain.unsolved
    assert finite(chain)
    told = chain.ports.slice_of("chain.unsolved").start - len(chain.ports.inputs)
    why = chain.ports.slice_of("chain.reason").start - len(chain.ports.inputs)
    rest = [k for k in range(len(twin)) if k not in {told, why}]
    assert (chain.ports.outputs[rest] == twin[rest]).all()
    chain[port] = good
    assert chain.step(0.01), chain.reason
    assert len(before) == len(chain.ports.values)


def test_no_number_in_the_first_cycle() -> None:
    """There is no value before: joints count as where the chain begins."""
    chain = crane()
    chain.ports.reroute({})
    for name in ("mast.theta", "boom.theta", "jib.d", "lamp.theta"):
        chain[name] = np.nan
    chain.step(0.01)
    assert chain.reason == "input"
    assert finite(chain)
    assert inside(chain, solved(chain))
    assert np.abs(solved(chain) - chain.q0).max() < 1e-9


def test_sensors_that_jump_do_not_move_outputs_beyond_their_limits() -> None:
    """Positions that are written at random, a meter to and fro, with the target held: the ends stay within all limits."""
    chain, dt, rng = crane(), 0.01, np.random.default_rng(2)
    chain.ports.reroute({})
    limited(chain, "hook")
    enable(chain, "target", position=HOOK_GOAL)
    rows = [chain.q0]
    for _ in range(300):
        for link, letter in chain.layout.joints:
            value = rng.choice([np.nan, rng.uniform(-3.0, 3.0), 1e6, chain[f"{link}.{letter}_solved"]])
            chain[f"{link}.{letter}"] = float(value)
        chain.step(dt)
        assert finite(chain)
        rows.append(solved(chain))
    rows = np.array(rows)
    assert inside(chain, rows)
    assert exceeded(ways(chain, rows, "hook"), np.full(300, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)


def test_dt_zero_changes_nothing() -> None:
    chain = crane()
    limited(chain, "hook")
    enable(chain, "place", position=HOOK_GOAL)
    run(chain, 5)
    kept = chain.save()
    assert chain.step(0.0) is True
    assert chain.save() == kept
    chain.step(0.01)
    after = chain.save()
    chain.restore(kept)
    chain.step(0.01)
    assert chain.save() == after


@pytest.mark.parametrize("dt", [-0.01, np.nan, np.inf, -np.inf, 1e7, "0.01", None])
def test_dt_that_is_no_length_of_a_cycle_is_refused(dt: object) -> None:
    chain = crane()
    chain.step(0.01)
    kept = chain.save()
    with pytest.raises((ArgumentError, TypeError)):
        chain.step(dt)
    assert chain.save() == kept


@pytest.mark.parametrize("pattern", [[0.01] * 20 + [0.1], [0.001, 0.01, 0.1], [1e-5, 0.02], [0.01, 1e-9]])
def test_periods_ten_times_too_long_or_short(pattern: list[float]) -> None:
    """Limits hold for cycles of any length, and the goal is reached without going beyond."""
    chain = crane()
    limited(chain, "hook", 0.5, 1.0, 1.0)
    enable(chain, "place", position=HOOK_GOAL)
    rows, periods = [chain.q0], []
    while sum(periods) < 8.0 and len(periods) < 1500:
        periods.append(pattern[len(periods) % len(pattern)])
        chain.step(periods[-1])
        rows.append(solved(chain))
    rows = np.array(rows)
    places = ways(chain, rows, "hook")
    long = np.array(periods) >= 1e-5  # (in shorter ones a velocity is all rounding)
    if long.all():
        assert exceeded(places, periods, 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    left = np.abs(rows - chain._cycle.now[:4])
    assert (np.diff(left, axis=0) <= 64 * EPS).all()
    assert left[-1].max() <= 1e-12 if sum(periods) >= 8.0 else left[-1].max() < left[0].max()


def test_limits_broken_at_the_start_are_not_jumped_to() -> None:
    """A joint that stands beyond a limit, as its sensor says, comes back within the greatest accelerations, and stays."""
    chain, dt = crane(), 0.01
    limited(chain, "hook", 0.5, 1.0, 1.0)
    enable(chain, "place", position=HOOK_GOAL)
    run(chain, 400, dt)
    chain["boom.limits.max"] = chain["boom.theta_solved"] - 0.2
    rows = run(chain, 400, dt)
    assert exceeded(ways(chain, rows, "hook"), np.full(400, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    assert rows[-1, 1] <= chain["boom.limits.max"]
    assert (np.diff(rows[:, 1]) <= 4 * EPS).all()
    assert chain.unsolved
    assert finite(chain)


def test_limits_broken_by_the_first_values() -> None:
    """q0 beyond the limits is brought to them when the chain is made; an input beyond them only begins there."""
    chain = crane()
    chain.ports.reroute({})
    chain["boom.theta"], chain["jib.d"] = 3.0, -2.0
    chain.step(0.01)
    assert inside(chain, solved(chain))
    assert abs(chain["boom.position"][2] - crane_ends(0.3, 3.0, -2.0, 0.1)["boom"][2, 3]) <= 64 * EPS  # (as it came in)


def test_limits_that_move_while_the_chain_runs() -> None:
    chain, dt = crane(), 0.01
    limited(chain, "hook", 0.5, 1.0, 1.0)
    enable(chain, "place", position=HOOK_GOAL)
    rows = [run(chain, 30, dt)]
    for high in (0.62, 0.58, 0.66, 1.4):
        chain["boom.limits.max"] = high
        rows.append(run(chain, 150, dt)[1:])
        assert rows[-1][-1, 1] <= high
    every = np.concatenate(rows)
    assert exceeded(ways(chain, every, "hook"), np.full(len(every) - 1, dt), 0.5, 1.0, 1.0, 5.0) == (0.0, 0.0, 0.0)
    assert not chain.unsolved


def test_least_above_greatest_is_the_middle_of_both() -> None:
    """The ports take it one by one, as a client writes them: the joint goes to the middle and stays."""
    chain = crane()
    enable(chain, "place", position=HOOK_GOAL)
    chain["boom.limits.min"], chain["boom.limits.max"] = 0.8, 0.4
    run(chain, 3)
    assert abs(chain["boom.theta_solved"] - 0.6) <= 4 * EPS
    assert chain.unsolved
    chain["boom.limits.min"] = 0.2
    chain["boom.limits.max"] = 1.0
    run(chain, 3)
    assert not chain.unsolved


def test_contradictory_constraints_are_told_apart_and_do_not_chatter() -> None:
    """Each tells its own distance; the outputs stand still over a thousand cycles, half way between the two."""
    chain = crane()
    other = HOOK_GOAL + [0.0, 0.0, 0.2]
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
    limited(chain, "tool", 0.3, 1.0, 1.0)
    enable(chain, "place", position=TOOL_GOAL[0])
    enable(chain, "target", position=TOOL_GOAL[0] + [0.05, 0.0, -0.1], angles=TOOL_GOAL[1])
    rows = run(chain, 600, dt)
    assert exceeded(ways(chain, rows), np.full(600, dt), 0.3, 1.0, 1.0, 1.5) == (0.0, 0.0, 0.0)
    assert np.abs(rows[-200:] - rows[-1]).max() <= 1e-9
    assert chain.reason in {"unreachable", "limit"}


def test_constraints_switched_and_changed_between_cycles() -> None:
    """At random, over hundreds of cycles: no output ever leaves its limits or goes faster than it may."""
    chain, dt, rng = crane(), 0.01, np.random.default_rng(5)
    limited(chain, "hook", 0.5, 1.0, 1.5)
    limited(chain, "lamp", 0.6, 2.0, 2.0)
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
    limited(chain, "hook", 0.5, 1.0, 1.0)
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
