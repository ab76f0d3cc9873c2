"""What is watched for: found on the recorded instants, located between them, for every method."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.simulation import Feedback, simulate
from support.messages import unnamed

FALL = Mechanism([Link(joint="prismatic", axis=(0, 0, 1), mass=2.0)], gravity=(0, 0, -10.0))
"""A mass on a vertical slide: z(t) = z0 + v0 t - 5 t^2."""


def ground(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    return q[..., 0]


def level(height: float, **attributes: Any) -> Any:
    def reached(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return q[..., 0] - height

    for name, value in attributes.items():
        setattr(reached, name, value)
    return reached


METHODS = ("rk4", "dop853")


@pytest.mark.parametrize("method", METHODS)
def test_crossing_times_of_a_throw(method: str) -> None:
    made = simulate(FALL, [0.0], [10.0], t=np.linspace(0, 2.5, 26), method=method, events=level(3.2))
    # 10 t - 5 t^2 = 3.2 at t = 0.4 and 1.6, with speeds 6 and -6
    print(made.events)
    assert [event.name for event in made.events] == ["reached", "reached"]
    assert np.allclose([event.time for event in made.events], [0.4, 1.6], rtol=0, atol=1e-13)
    assert np.allclose([event.qd[0] for event in made.events], [6.0, -6.0], rtol=0, atol=1e-12)
    assert np.allclose([event.q[0] for event in made.events], 3.2, rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", METHODS)
def test_direction(method: str) -> None:
    t = np.linspace(0, 2.5, 26)
    for direction, expected in ((1, [0.4]), (-1, [1.6]), (0, [0.4, 1.6])):
        made = simulate(FALL, [0.0], [10.0], t=t, method=method, events=level(3.2, direction=direction))
        assert np.allclose([event.time for event in made.events], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_terminal_event_ends_its_rollout_only(method: str) -> None:
    speeds = np.array([[5.0], [20.0], [10.0]])
    made = simulate(FALL, [0.0], speeds, t=(2.5, 0.1), method=method, events=level(-1.25, terminal=True), energies=True)
    ends = {event.member: event.time for event in made.events}
    exact = [(v + np.sqrt(v * v + 25.0)) / 10.0 for v in (5.0, 10.0)]
    print(ends, exact)
    assert ends.keys() == {(0,), (2,)}
    assert np.allclose([ends[0,], ends[2,]], exact, rtol=0, atol=1e-12)
    for row, end in enumerate([exact[0], np.inf, exact[1]]):
        for field in ("q", "qd", "qdd", "tau"):
            assert np.array_equal(np.isnan(getattr(made, field)[row, :, 0]), made.t > end)
        assert np.array_equal(np.isnan(made.energy[row]), made.t > end)


@pytest.mark.parametrize("method", METHODS)
def test_terminal_after_so_many_times(method: str) -> None:
    pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    free = simulate(pendulum, [1.0], t=(10.0, 0.01), method=method, events=level(0.0))
    made = simulate(pendulum, [1.0], t=(10.0, 0.01), method=method, events=level(0.0, terminal=3))
    assert len(made.events) == 3 < len(free.events)
    assert np.allclose([e.time for e in made.events], [e.time for e in free.events[:3]], rtol=0, atol=1e-9)
    assert np.isnan(made.q[-1, 0])


@pytest.mark.parametrize("method", METHODS)
def test_what_begins_at_zero_is_no_event(method: str) -> None:
    made = simulate(FALL, [0.0], [10.0], t=(2.5, 0.1), method=method, events=level(0.0, terminal=True))
    assert len(made.events) == 1
    assert made.events[0].time == pytest.approx(2.0, abs=1e-12)


def test_several_events_by_name_in_the_order_of_time() -> None:
    made = simulate(
        FALL, [0.0], [[10.0], [8.0]], t=(1.9, 0.1), events={"up": level(2.0), "top": lambda t, q, qd: qd[..., 0]}
    )
    assert [(event.member, event.name) for event in made.events] == [
        ((k,), name) for k in (0, 1) for name in ("up", "top", "up")
    ]
    assert np.allclose([event.time for event in made.events if event.name == "top"], [1.0, 0.8], rtol=0, atol=1e-12)
    listed = simulate(FALL, [0.0], [10.0], t=(1.9, 0.1), events=[ground, level(2.0), level(3.0), lambda t, q, qd: t - 0.55])
    assert {event.name for event in listed.events} == {"reached", "event2", "event3"}
    assert next(event.time for event in listed.events if event.name == "event3") == pytest.approx(0.55, abs=1e-15)


def test_error_falls_as_the_sixth_power_of_the_interval() -> None:
    pendulum = Mechanism([Link(axis=(0, 1, 0), mass=1.0, com=(0, 0, -1.0))])
    exact = simulate(pendulum, [2.0], t=(1.0, 1e-5), events=level(0.5)).events[0].time
    errors = [
        abs(simulate(pendulum, [2.0], t=(1.0, 1e-4), record=k, events=level(0.5)).events[0].time - exact)
        for k in (1000, 500)
    ]
    print(errors)
    assert errors[1] < errors[0] / 16 < 1e-7  # a sixth power would be 64; where in the interval it lies changes too


def test_state_at_an_event_under_a_torque_that_jumps() -> None:
    rows = np.where(np.arange(25) % 2, 40.0, -60.0)[:, None]
    made = simulate(FALL, [0.0], [10.0], torque=rows, t=(2.5, 0.1), events=level(0.3))
    fine = simulate(FALL, [0.0], [10.0], torque=np.repeat(rows, 100, axis=0), t=(2.5, 0.001), events=level(0.3))
    assert len(made.events) == len(fine.events) > 0
    for coarse, close in zip(made.events, fine.events, strict=True):
        assert coarse.time == pytest.approx(close.time, abs=1e-12)  # parabolas in between, which the interpolant meets
        assert coarse.qd[0] == pytest.approx(close.qd[0], abs=1e-11)


def test_events_of_a_floating_base() -> None:
    hull = Link(joint="fixed", mass=3.0, com=(0.1, 0.0, 0.0), inertia=(0.05, 0.06, 0.07), name="hull")
    body = Mechanism([hull], floating=True, gravity=(0, 0, 0))
    qd0 = [0.3, 0.2, 0.1, 1.0, 2.0, -3.0]

    def upside_down(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        return q[..., 3]

    fixed, adaptive = (
        simulate(body, None, qd0, t=(2.0, 0.01), method=method, events=upside_down, rtol=1e-12, atol=1e-13)
        for method in METHODS
    )
    assert len(fixed.events) == len(adaptive.events) == 1
    print(fixed.events[0].time - adaptive.events[0].time)
    assert fixed.events[0].time == pytest.approx(adaptive.events[0].time, abs=1e-8)
    assert np.allclose(fixed.events[0].q, adaptive.events[0].q, rtol=0, atol=1e-7)
    assert abs(np.linalg.norm(fixed.events[0].q[3:7]) - 1.0) < 1e-15


def test_event_with_held_law_and_adaptive_method() -> None:
    law = Feedback(lambda t, q, qd, k: -k * qd, k=5.0)
    kept = [
        simulate(FALL, [0.0], [10.0], torque=law, t=(2.5, 0.1), method=method, hold=True, events=level(1.0, terminal=2))
        for method in METHODS
    ]
    times = [[event.time for event in made.events] for made in kept]
    assert np.allclose(times[0], times[1], rtol=0, atol=1e-9)
    assert len(times[0]) == 2
    assert np.array_equal(np.isnan(kept[0].q), np.isnan(kept[1].q))


def test_function_is_not_asked_after_the_end() -> None:
    def thrust(t: float, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
        assert np.isfinite(q).all()
        return 0.0 * qd

    made = simulate(FALL, [0.0], [10.0], torque=thrust, t=(2.5, 0.1), method="rk45", events=level(3.0, terminal=True))
    assert np.array_equal(np.isnan(made.tau[:, 0]), made.t > 1 - np.sqrt(0.4))


def test_wrong_shape_of_an_event() -> None:
    with pytest.raises(ValueError, match="what event 'whole' gives") as caught:
        simulate(robots.planar_2r(), t=(0.1, 0.01), events={"whole": lambda t, q, qd: q})
    assert (
        unnamed(
            caught.value,
            "simulate: what event 'whole' gives has the shape (1, 11, 2) for states q (1, 11, 2); expected real numbers of "
            "the shape (1, 11), one for each state",
        )
        == []
    )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("terminal", [np.True_, np.int64(1)])
def test_attributes_may_come_from_numpy(method: str, terminal: Any) -> None:
    event = level(3.2, terminal=terminal, direction=np.int64(-1))
    made = simulate(FALL, [0.0], [10.0], t=np.linspace(0, 2.5, 26), method=method, events=event)
    assert np.allclose([found.time for found in made.events], [1.6], rtol=0, atol=1e-12)
    assert np.isnan(made.q[-1, 0])
    plain = simulate(FALL, [0.0], [10.0], t=(2.5, 0.1), events=level(3.2, terminal=np.False_), energies=np.True_)
    assert len(plain.events) == 2
    assert plain.energy is not None


@pytest.mark.parametrize("method", ["rk23", "rk45", "dop853", "radau", "bdf", "lsoda"])
def test_an_event_at_an_instant_at_which_the_torque_jumps_is_found_once(method: str) -> None:
    t, torque = np.linspace(0.0, 2.0, 6), np.array([[5.0]] * 5)
    plain = simulate(FALL, [0.0], [10.0], t=t, torque=torque, method=method)
    for k in range(1, 4):  # (dense output rounds otherwise than the step, so that it may stand on another side of zero)
        height = float(plain.q[k, 0])
        motion = simulate(FALL, [0.0], [10.0], t=t, torque=torque, method=method, events=level(height))
        near = [event.time for event in motion.events if abs(event.time - t[k]) < 1e-9]
        print(k, near)
        assert len(near) == 1
