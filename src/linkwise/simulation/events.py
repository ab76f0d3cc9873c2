"""What is watched for during a motion: crossings of zero, found on the recorded instants and located between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel.rollout import Recorded
from linkwise.kernel.tape import Shape
from linkwise.simulation.moved import Moved
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Event
from linkwise.trajectory.floating import coordinates, twists
from linkwise.trajectory.hermite import quintic_polynomial

HALVINGS = 60
"""Bisections of an interval: more than a float64 has bits."""


@dataclass(frozen=True)
class Span:
    """K intervals between recorded instants: times of both ends (K,), and q, qd, qdd there (K, size)."""

    begin: FloatArray
    end: FloatArray
    near: tuple[FloatArray, FloatArray, FloatArray]
    far: tuple[FloatArray, FloatArray, FloatArray]
    floating: bool

    def at(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state q (K, nq), qd (K, nv) at one time (K,) in each, by quintic Hermite interpolation."""
        if not self.floating:
            q, qd, _ = quintic_polynomial(t - self.begin, self.end - self.begin, *self.near, *self.far)
            return q, qd
        pairs = (np.stack(pair, axis=-2) for pair in zip(self.near, self.far, strict=True))
        ends = [(values[:, 0], values[:, 1]) for values in coordinates(*pairs)]
        near, far = (tuple(end[side] for end in ends) for side in (0, 1))
        q, qd, _ = twists(*quintic_polynomial(t - self.begin, self.end - self.begin, *near, *far))
        return q, qd


def find(
    moved: Moved, events: Mapping[str, Any], t: FloatArray, made: Recorded, batch: Shape, *, held: bool
) -> tuple[tuple[Event, ...], FloatArray]:
    """Find every event, and when each rollout (B,) ends: at its first terminal event, or never.

    Parameters
    ----------
    moved : Moved
        The mechanism, and what pushes it.
    events : mapping of str to callable
        ``g(t, q, qd) -> (...,)``, with attributes ``terminal`` and ``direction`` as in SciPy.
    t : ndarray (R,)
        Recorded instants.
    made : Recorded
        What was recorded.
    batch : tuple of int
        The batch shape.
    held : bool
        Whether the torque jumps at the instants, so that the acceleration at the end of an interval is not the recorded one.
    """
    found: list[tuple[int, float, Event]] = []
    ends = np.full(len(made.q), np.inf)
    for name, function in events.items():
        value = watch(name, function, t, made.q, made.qd, finite=True)
        rows, columns = _crossings(value, getattr(function, "direction", 0))
        if not len(rows):
            continue
        span = _span(moved, t, made, rows, columns, held=held)
        times = _located(name, function, span, value[rows, columns])
        q, qd = span.at(times)
        needed = int(getattr(function, "terminal", False))
        seen = np.zeros(len(made.q), dtype=int)
        for k in np.lexsort((times, rows)):
            row = int(rows[k])
            seen[row] += 1
            if seen[row] == needed:
                ends[row] = min(ends[row], times[k])
            found.append((row, float(times[k]), Event(name, float(times[k]), q[k], qd[k], member(row, batch))))
    kept = sorted((entry for entry in found if entry[1] <= ends[entry[0]]), key=lambda entry: entry[:2])
    return tuple(event for _, _, event in kept), ends


def member(row: int, batch: Shape) -> tuple[int, ...]:
    """The index into the batch of one of the rollouts laid out flat."""
    return tuple(int(k) for k in np.unravel_index(row, batch)) if batch else ()


def watch(name: str, function: Any, t: Any, q: FloatArray, qd: FloatArray, *, finite: bool = False) -> FloatArray:
    """The watched function at states (..., nq), (..., nv), checked; finite, if that is asked, wherever the state is."""
    wanted = q.shape[:-1]
    what = f"simulate: what event {name!r} gives"
    expected = f"real numbers of the shape {wanted}, one for each state"
    given = function(np.broadcast_to(t, wanted) if wanted else t, q, qd)
    value = numbers(what, given, expected, finite=False, copy=False)
    if np.asarray(given).dtype.kind == "b":
        raise ArgumentError(f"simulate: event {name!r} gives bool; expected real numbers whose zeros are looked for")
    if value.shape != wanted:
        raise ArgumentError(f"{what} has the shape {value.shape} for states q {q.shape}; expected {expected}")
    lost = np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1) & ~np.isfinite(value) if finite else np.array(False)
    if lost.any():
        place = tuple(np.argwhere(lost)[0])
        when = float(np.broadcast_to(t, wanted)[place])
        raise ArgumentError(f"{what} is {value[place]} at t = {when:g} s; expected finite numbers")
    return value


def _crossings(value: FloatArray, direction: float) -> tuple[Any, Any]:
    """Rollout and interval of each change of sign of value (B, R); one that begins at zero is none."""
    before, after = value[:, :-1], value[:, 1:]
    up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
    rows, columns = np.nonzero(up if direction > 0 else down if direction < 0 else up | down)
    return rows, columns


def _span(moved: Moved, t: FloatArray, made: Recorded, rows: Any, columns: Any, *, held: bool) -> Span:
    near = (made.q[rows, columns], made.qd[rows, columns], made.qdd[rows, columns])
    q, qd, qdd = (array[rows, columns + 1] for array in (made.q, made.qd, made.qdd))
    if held:  # under the torque of the interval that ends here
        qdd = moved.compiled_accelerations(q, qd, made.tau[rows, columns])
    return Span(t[columns], t[columns + 1], near, (q, qd, qdd), moved.tree.floating)


def _located(name: str, function: Any, span: Span, first: FloatArray) -> FloatArray:
    """Bisect each interval down to neighbouring numbers; the end that is past the crossing."""
    low, high = span.begin.copy(), span.end.copy()
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        before = np.sign(watch(name, function, middle, *span.at(middle))) == np.sign(first)
        low, high = np.where(before, middle, low), np.where(before, high, middle)
    return high
