"""Inputs at their edges: no numbers, sensors that jump, odd periods, limits that are broken, moved or wrong."""

import numpy as np
import pytest

from linkwise.errors import ArgumentError
from support.chains import EPS, HOOK_GOAL, bounded, crane, crane_ends, enable, exceeded, finite, inside, run, solved, ways


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, 1e200])
@pytest.mark.parametrize(
    "port", ["boom.theta", "jib.d", "target.position", "boom.theta_speed", "start.position", "target.velocity"]
)
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
    bounded(chain, "hook")
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
    bounded(chain, "hook")
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
    bounded(chain, "hook", 0.5, 1.0, 1.0)
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
    bounded(chain, "hook", 0.5, 1.0, 1.0)
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
    bounded(chain, "hook", 0.5, 1.0, 1.0)
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
