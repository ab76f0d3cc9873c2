"""Events of a motion: zero crossings, detected at the recorded instants and located between them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.kernel.rollout import Recorded
from linkwise.kernel.tape import Shape
from linkwise.simulation.plant import Plant
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers
from linkwise.trajectory.motion import Evaluator, Event, interpolant

#: Parts into which an interval is divided at once, and number of divisions: more than a float64 has bits.
PARTS, DIVISIONS = np.linspace(0.0, 1.0, 33), 12

CALL = "expected a function g(t, q, qd)"

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Watch:
    """A function whose zero crossings are events.

    Attributes
    ----------
    name : str
        Name of the event.
    function : callable
        ``g(t, q, qd) -> (...,)``.
    terminal : int
        Which of its events, counted from 1, ends the motion; 0 for none.
    direction : float
        Above 0 for crossings from negative to positive only, below 0 for the reverse.
    """

    name: str
    function: Callable[..., Any]
    terminal: int
    direction: float

    @classmethod
    def of(cls, name: str, function: Any) -> Watch:
        """Validate the arguments of `simulate`."""
        item = f"simulate: event {name!r}"
        if not callable(function):
            raise ArgumentError(f"{item} is {shown(function)}; {CALL}")
        try:
            inspect.signature(function).bind(None, None, None)
        except TypeError as error:
            raise ArgumentError(f"{item} does not take (t, q, qd): {error}; expected g(t, q, qd)") from error
        except ValueError:
            pass  # a function without a signature: its call will raise the error
        direction, terminal = getattr(function, "direction", 0), getattr(function, "terminal", False)
        if not isinstance(direction, (int, float, np.integer, np.floating)) or np.isnan(direction):
            raise ArgumentError(f"{item} has the direction {direction!r}; expected -1, 0 or 1")
        if not isinstance(terminal, (bool, np.bool_, int, np.integer)) or terminal < 0:
            raise ArgumentError(f"{item} has terminal {terminal!r}; expected True, False or a number of times")
        return cls(name, function, int(terminal), float(direction))

    def __call__(self, t: Any, q: FloatArray, qd: FloatArray, *, finite: bool = False) -> FloatArray:
        """Values at states (..., nq), (..., nv), validated; finite wherever the state is, if that is required."""
        shape = q.shape[:-1]
        item, expected = (
            f"simulate: what event {self.name!r} gives",
            f"real numbers of the shape {shape}, one for each state",
        )
        result = self.function(np.broadcast_to(t, shape) if shape else t, q, qd)
        values = numbers(item, result, expected, finite=False, copy=False)
        if np.asarray(result).dtype.kind == "b":
            raise ArgumentError(
                f"simulate: event {self.name!r} gives bool; expected real numbers whose zeros are looked for"
            )
        if values.shape != shape:
            raise ArgumentError(f"{item} has the shape {values.shape} for states q {q.shape}; expected {expected}")
        if finite:
            lost = np.isfinite(q).all(axis=-1) & np.isfinite(qd).all(axis=-1) & ~np.isfinite(values)
            if lost.any():
                place = tuple(np.argwhere(lost)[0])
                time = float(np.broadcast_to(t, shape)[place])
                raise ArgumentError(f"{item} is {values[place]} at t = {time:g} s; expected finite numbers")
        return values

    def crossings(self, values: FloatArray) -> tuple[Rows, Rows]:
        """Rollout and interval of each change of sign of values (B, R); one that begins at zero is none."""
        before, after = values[:, :-1], values[:, 1:]
        up, down = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        rows, columns = np.nonzero(up if self.direction > 0 else down if self.direction < 0 else up | down)
        return rows, columns


def watches(events: Any) -> tuple[Watch, ...]:
    """The functions to watch, by name: from one function, a list of them or a mapping."""
    if events is None:
        return ()
    if isinstance(events, Mapping):
        return tuple(Watch.of(name, function) for name, function in events.items())
    if not callable(events) and (not isinstance(events, Sequence) or isinstance(events, (str, bytes))):
        raise ArgumentError(f"simulate: events is {shown(events)}; {CALL}, a list of them, or a dict of them by name")
    named: dict[str, Any] = {}
    for k, function in enumerate([events] if callable(events) else events):
        name = getattr(function, "__name__", f"event{k}")
        named[name if name not in named and name != "<lambda>" else f"event{k}"] = function
    return watches(named)


def find(
    plant: Plant, events: Sequence[Watch], t: FloatArray, recorded: Recorded, batch: Shape, *, hold: bool
) -> tuple[tuple[Event, ...], FloatArray]:
    """Find every event, and when each rollout (B,) ends: at its first terminal event, or never.

    Parameters
    ----------
    plant : Plant
        What moves.
    events : sequence of Watch
        What is watched for.
    t : ndarray (R,)
        Recorded instants.
    recorded : Recorded
        The motion there.
    batch : tuple of int
        The batch shape.
    hold : bool
        Whether the torque jumps at the instants, so that the acceleration at the end of an interval is not the recorded one.
    """
    located: list[tuple[int, float, Event]] = []
    ends = np.full(len(recorded.q), np.inf)
    for watch in events:
        values = watch(t, recorded.q, recorded.qd, finite=True)
        rows, columns = watch.crossings(values)
        if not len(rows):
            continue
        between = _between(plant, t, recorded, rows, columns, hold=hold)
        times = _divide(watch, between, t[columns], t[columns + 1], values[rows, columns])
        q, qd = _states(between, times)
        counts = np.zeros(len(ends), dtype=int)
        for k in np.lexsort((times, rows)):
            row, time = int(rows[k]), float(times[k])
            counts[row] += 1
            if counts[row] == watch.terminal:
                ends[row] = min(ends[row], time)
            located.append((row, time, Event(watch.name, time, q[k], qd[k], member(row, batch))))
    kept = sorted((entry for entry in located if entry[1] <= ends[entry[0]]), key=lambda entry: entry[:2])
    return tuple(event for _, _, event in kept), ends


def member(row: int, batch: Shape) -> tuple[int, ...]:
    """The index into the batch of one of the rollouts laid out flat."""
    return tuple(int(k) for k in np.unravel_index(row, batch)) if batch else ()


def _between(plant: Plant, t: FloatArray, recorded: Recorded, rows: Rows, columns: Rows, *, hold: bool) -> Evaluator:
    """The interpolant of K intervals, each of another rollout: times (K, 1) to states (K, 1, size)."""
    place = rows[:, None], columns[:, None] + [0, 1]
    q, qd, qdd = recorded.q[place], recorded.qd[place], recorded.qdd[place]
    if hold:  # under the torque of the interval that ends here
        qdd[:, 1] = plant.compiled_accelerations(q[:, 1], qd[:, 1], recorded.tau[rows, columns])
    return interpolant(t[place[1], None], q, qd, qdd, joints=plant.tree.manifold_joints)


def _states(between: Evaluator, t: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The state q (K, nq), qd (K, nv) at one time (K,) in each interval."""
    q, qd, _ = between(t[:, None])
    return q[:, 0], qd[:, 0]


def _divide(watch: Watch, between: Evaluator, low: FloatArray, high: FloatArray, first: FloatArray) -> FloatArray:
    """Divide each interval (K,) down to neighbouring numbers; the end that is past the crossing."""
    rows = np.arange(len(low))
    for _ in range(DIVISIONS):
        times = low[:, None] + (high - low)[:, None] * PARTS
        times[:, -1] = high
        if np.all((times == low[:, None]) | (times == high[:, None])):
            break
        q, qd, _ = between(times[:, 1:-1])
        after = np.sign(watch(times[:, 1:-1], q, qd)) != np.sign(first)[:, None]
        place = np.where(after.any(axis=1), after.argmax(axis=1) + 1, len(PARTS) - 1)
        low, high = times[rows, place - 1], times[rows, place]
    return high
