"""Crossings of zero within a step of an adaptive integrator that the signs at both its ends do not show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.extras import optional
from linkwise.simulation.events import Watch
from linkwise.spatial.scalar import FloatArray

#: Parts of a step, at whose ends the sign of an event is looked at.
PARTS = 8

#: Divisions of the search for a minimum, each by the golden ratio: to 4e-9 of its two parts, where a square rounds away.
DIVISIONS = 40
GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0

#: The share of a part by which the slope at an end of the motion is found.
BESIDE = 1e-4

#: Tolerance of a root, as that of SciPy's events.
ROOT = 4.0 * float(np.finfo(float).eps)

#: Two roots are one that lie so near, relative to the step: what rounding makes of a value that is zero at its end.
SAME = 1e-9

#: The value of an event at a time and a state.
EventFunction = Callable[[float, FloatArray], float]


def add_missed(solution: Any, watches: Sequence[Watch], functions: Sequence[EventFunction], left: Sequence[int]) -> None:
    """Add the crossings that SciPy missed to a solution with dense output, and end it at a terminal one.

    SciPy compares the signs of an event at the ends of each step, so two crossings in one step are lost. Here each step is
    divided into `PARTS`, and where the absolute value is least between two neighbours, the minimum is searched for. So both
    are found wherever the event has one extremum at most, along the dense output, in any two parts that follow each other.

    Parameters
    ----------
    solution : OdeResult
        Of `solve_ivp`; its events, times and states are changed.
    watches : sequence of Watch
        What is watched for; the first events of the solution.
    functions : sequence of callable
        The same as functions of time and state, with one value at each time.
    left : sequence of int
        After how many events each ends the motion; 0 for never.
    """
    ends = []
    for k, (watch, function, most) in enumerate(zip(watches, functions, left, strict=True)):
        known = np.asarray(solution.t_events[k], dtype=float)
        times = _crossings(solution.sol, function, watch.direction, known)
        if len(times) > len(known):
            times = times[:most] if most else times
            solution.t_events[k], solution.y_events[k] = times, np.array([solution.sol(time) for time in times])
            if most and len(times) == most:
                ends.append(float(times[-1]))
    if ends:
        _end_at(solution, min(ends))


def _end_at(solution: Any, end: float) -> None:
    """Cut a solution at a terminal event."""
    kept = solution.t < end
    solution.t = np.append(solution.t[kept], end)
    solution.y = np.column_stack([solution.y[:, kept], solution.sol(end)])
    for k, times in enumerate(solution.t_events):
        there = np.asarray(times) <= end
        solution.t_events[k], solution.y_events[k] = np.asarray(times)[there], np.asarray(solution.y_events[k])[there]
    solution.status = 1


def _crossings(sol: Any, function: EventFunction, direction: float, known: FloatArray) -> FloatArray:
    """All crossings (K,) of a solution in a direction, the known ones among them."""
    steps = [_step_samples(function, interpolant, *step) for interpolant, step in _steps(sol)]
    times, values = (np.concatenate(columns) for columns in zip(*steps, strict=True))
    times, values = _with_minima(sol, function, times, values)
    missed: list[float] = []
    for interpolant, (begin, end) in _steps(sol):
        inside = (times >= begin) & (times <= end) & np.isfinite(values) & (values != 0.0)
        signs, at = np.sign(values[inside]), times[inside]
        for j in np.flatnonzero(signs[1:] != signs[:-1]):
            if direction == 0.0 or np.sign(direction) == signs[j + 1]:
                root = _root(function, interpolant, at[j], at[j + 1])
                if not (np.abs(known - root) <= SAME * (end - begin)).any():
                    missed.append(root)
    return np.sort(np.append(known, missed))


def _steps(sol: Any) -> list[tuple[Any, tuple[float, float]]]:
    """The interpolant of each step, and its begin and end."""
    return list(zip(sol.interpolants, pairwise(map(float, sol.ts)), strict=True))


def _step_samples(function: EventFunction, interpolant: Any, begin: float, end: float) -> tuple[FloatArray, FloatArray]:
    """Times and values at the ends of all parts of a step."""
    times = begin + (end - begin) * np.linspace(0.0, 1.0, PARTS + 1)
    times[-1] = end
    return times, np.array([function(float(time), y) for time, y in zip(times, interpolant(times).T, strict=True)])


def _with_minima(sol: Any, function: EventFunction, times: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add the times, with their values, at which minima of the absolute value have the other sign."""

    def value(time: float) -> float:
        return function(time, sol(time))

    alone: npt.NDArray[np.bool_] = np.append(True, np.diff(times) > 0.0)  # (steps share their ends)
    times, values = times[alone], values[alone]
    extrema = [_turning(value, times[low], times[high], values[k]) for low, k, high in _dips(value, times, values)]
    more = [time for time in extrema if time is not None]
    order = np.argsort([*times, *more], kind="stable")
    return np.append(times, more)[order], np.append(values, [value(time) for time in more])[order]


def _dips(value: Callable[[float], float], times: FloatArray, values: FloatArray) -> list[tuple[int, int, int]]:
    """Where a minimum of the absolute value may be: the samples before, at and after it, all of one sign."""
    sizes, last = np.abs(values), len(values) - 1
    dips = [
        (k - 1, k, k + 1)
        for k in range(1, last)
        if sizes[k] < sizes[k - 1]
        and sizes[k] <= sizes[k + 1]
        and values[k] * values[k - 1] > 0.0 < values[k] * values[k + 1]
    ]
    for end, beside in ((0, 1), (last, last - 1)):  # (beyond the ends there is no neighbour: the slope decides)
        if 0.0 < sizes[end] <= sizes[beside] and values[end] * values[beside] > 0.0:
            near = value(float(times[end] + BESIDE * (times[beside] - times[end])))
            if abs(near) < sizes[end]:
                dips.append((min(end, beside), end, max(end, beside)))
    return dips


def _turning(value: Callable[[float], float], low: float, high: float, sample: float) -> float | None:
    """Where the value has the other sign than a sample, searched for towards its minimum; None where it has not."""
    sign = 1.0 if sample > 0.0 else -1.0
    first, second = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    left, right = sign * value(first), sign * value(second)
    for _ in range(DIVISIONS):
        if left < 0.0 or right < 0.0:
            return float(first if left < 0.0 else second)
        if left < right:
            high, second, right = second, first, left
            first = high - GOLDEN * (high - low)
            left = sign * value(first)
        else:
            low, first, left = first, second, right
            second = low + GOLDEN * (high - low)
            right = sign * value(second)
    return None


def _root(function: EventFunction, interpolant: Any, low: float, high: float) -> float:
    """The zero between two times of one step."""
    brentq = optional("scipy.optimize", "events of adaptive methods need SciPy", "scipy").brentq
    return float(brentq(lambda time: function(time, interpolant(time)), low, high, xtol=ROOT, rtol=ROOT))
