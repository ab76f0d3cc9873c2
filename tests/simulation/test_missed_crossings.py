"""Two crossings within one step of an adaptive method: found, in the order of time, by each method and option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import linkwise as lw
from linkwise.simulation.missed_crossings import PARTS, add_missed

pytest.importorskip("scipy")
from scipy.integrate import solve_ivp

SPEED, GRAVITY = 5.0, 9.81
LIFT = lw.Mechanism([lw.Link(joint="prismatic", axis=(0, 0, 1), mass=1.0, name="lift")], gravity=(0, 0, -GRAVITY))
PEAK, AT_PEAK = SPEED**2 / (2 * GRAVITY), SPEED / GRAVITY
METHODS = ("rk23", "rk45", "dop853", "radau", "bdf", "lsoda")

#: Errors of an integration at the default tolerances, in time where the rate is `slow`.
ACCURATE = 1e-8


def over(below: float, **attributes: Any) -> Callable[..., Any]:
    """The height over a level that is so far below the peak."""

    def level(_t: Any, q: Any, _qd: Any) -> Any:
        return q[..., 0] - (PEAK - below)

    for name, value in attributes.items():
        setattr(level, name, value)
    return level


def crossings(below: float) -> np.ndarray:
    return AT_PEAK + np.array([-1.0, 1.0]) * np.sqrt(2.0 * below / GRAVITY)


def throw(event: Any, **options: Any) -> lw.Trajectory:
    return lw.simulate(
        LIFT, [0.0], [SPEED], **{"t": np.linspace(0.0, 1.0, 3), "method": "dop853", "events": event, **options}
    )


@pytest.mark.parametrize("below", [1e-1, 1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", METHODS)
def test_a_pair_within_a_step_is_found(method: str, below: float) -> None:
    """An error e of the height is one of e / sqrt(2 g d) in time, d below the peak."""
    found = [event.time for event in throw(over(below), method=method).events]
    assert len(found) == 2
    error = np.abs(found - crossings(below)).max()
    print(f"{error:.1e}")
    assert error < ACCURATE / np.sqrt(2.0 * GRAVITY * below)


def test_steps_are_so_long_that_both_are_in_one() -> None:
    """SciPy alone finds none of them: what the tests above are about."""
    level = over(1e-4)
    tight = {"method": "DOP853", "rtol": 1e-8, "atol": 1e-10}
    alone = solve_ivp(
        lambda _t, y: [y[1], -GRAVITY], (0.0, 1.0), [0.0, SPEED], events=lambda t, y: level(t, np.asarray(y)[:1], y), **tight
    )
    assert len(alone.t_events[0]) == 0


@pytest.mark.parametrize("method", METHODS)
def test_direction_and_the_states(method: str) -> None:
    for direction in (1, -1):
        (event,) = throw(over(1e-3, direction=direction), method=method).events
        assert event.time == pytest.approx(crossings(1e-3)[0 if direction > 0 else 1], abs=1e-6)
        assert event.q[0] == pytest.approx(PEAK - 1e-3, abs=1e-9)
        assert np.sign(event.qd[0]) == direction


@pytest.mark.parametrize("method", METHODS)
def test_a_terminal_event_ends_the_motion_there(method: str) -> None:
    instants = np.linspace(0.0, 1.0, 501)
    for count, terminal in ((1, True), (1, 1), (2, 2)):
        motion = throw(over(1e-4, terminal=terminal), method=method, t=instants)
        assert len(motion.events) == count
        end = crossings(1e-4)[count - 1]
        assert motion.events[-1].time == pytest.approx(end, abs=1e-6)
        there = np.isfinite(motion.q[:, 0])
        assert np.array_equal(there, instants <= motion.events[-1].time)
        height = SPEED * instants - GRAVITY * instants**2 / 2
        assert np.abs(motion.q[there, 0] - height[there]).max() < 1e-7


def test_of_two_events_the_one_that_ends_the_motion_comes_last() -> None:
    motion = throw({"high": over(1e-4, terminal=True), "low": over(1e-1)})
    assert [event.name for event in motion.events] == ["low", "high"]
    times = [event.time for event in motion.events]
    assert times == pytest.approx([crossings(1e-1)[0], crossings(1e-4)[0]], abs=1e-6)


def test_under_a_held_torque() -> None:
    """A piece from instant to instant: the efforts of the second half bring it down."""
    motion = throw(over(1e-4), torque=np.zeros((2, 1)), t=np.linspace(0.0, 1.2, 3))
    assert [event.time for event in motion.events] == pytest.approx(list(crossings(1e-4)), abs=1e-6)


def test_where_friction_sticks() -> None:
    slider = LIFT.replace(motors=[lw.Motor(joint="lift", coulomb=0.5)])
    motion = lw.simulate(
        slider, [0.0], [SPEED], t=np.linspace(0.0, 1.0, 3), method="dop853", events=over(0.3), friction="stiction"
    )
    slower = GRAVITY + 0.5
    up = (SPEED - np.sqrt(SPEED**2 - 2 * slower * (PEAK - 0.3))) / slower
    rest = SPEED / slower
    fall = rest + np.sqrt(2 * (SPEED**2 / (2 * slower) - (PEAK - 0.3)) / (GRAVITY - 0.5))
    levels = [event.time for event in motion.events if event.name == "level"]
    assert levels == pytest.approx([up, fall], abs=1e-6)


def test_each_rollout_of_a_batch_has_its_own() -> None:
    motion = lw.simulate(
        LIFT, np.zeros((3, 1)), [[SPEED], [1.0], [SPEED]], t=np.linspace(0, 1, 3), method="rk45", events=over(1e-4)
    )
    assert [event.member for event in motion.events] == [(0,), (0,), (2,), (2,)]


@pytest.mark.parametrize("seed", range(4))
def test_what_scipy_finds_stays(seed: int) -> None:
    """A double pendulum and levels of its angles: as many as with short fixed steps, each once, at the same times."""
    rng = np.random.default_rng(seed)
    arm, q0, levels = lw.robots.planar_2r(), rng.uniform(-1, 1, 2), rng.uniform(-2, 0, 3)
    events = {f"level{k}": lambda t, q, qd, k=k, level=level: q[..., k % 2] - level for k, level in enumerate(levels)}
    fixed = lw.simulate(arm, q0, t=(3.0, 1e-3), events=events)
    for method in ("rk45", "dop853"):
        found = lw.simulate(arm, q0, t=np.linspace(0, 3, 31), method=method, events=events, rtol=1e-10, atol=1e-12)
        assert [event.name for event in found.events] == [event.name for event in fixed.events]
        times = [[event.time for event in motion.events] for motion in (found, fixed)]
        assert np.abs(np.subtract(*times)).max(initial=0.0) < 1e-6


@pytest.mark.parametrize("share", [0.02, 0.3, 0.61, 0.97])
@pytest.mark.parametrize("width", [0.4, 0.1, 0.01, 1e-4])
def test_one_extremum_in_two_parts_suffices(share: float, width: float) -> None:
    """A dip of any width, anywhere in a step, also in its first and last part: |t - c| with the extremum at c only."""
    width = min(width, 1.6 * share, 1.6 * (1.0 - share))

    def dip(t: float, _y: Any) -> float:
        return (t - share) ** 2 - (width / 2) ** 2

    solution = solve_ivp(lambda _t, y: 0.0 * y, (0.0, 1.0), [1.0], events=dip, dense_output=True, first_step=1.0)
    assert len(solution.sol.ts) == 2
    assert len(solution.t_events[0]) == 0
    watch: Any = type("Watch", (), {"direction": 0.0})
    add_missed(solution, [watch], [dip], [0])
    assert solution.t_events[0] == pytest.approx([share - width / 2, share + width / 2], abs=1e-12)
    assert PARTS == 8


def test_without_events_nothing_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr("linkwise.simulation.adaptive.add_missed", never)
    assert throw(None).q.shape == (3, 1)
