"""The checks that trajectories share: each returns what it checked, as float64, or says what is wrong with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

SAMPLES = 101
"""How many instants a duration is cut into unless it is said."""

ROUNDING = 1e-9
"""By this share of its duration a time may lie outside a trajectory: what adding up a step many times may cost."""


def configuration(field: str, value: Any) -> FloatArray:
    """Joint coordinates (..., n)."""
    expected = "finite numbers (..., n), n joint coordinates"
    made = numbers(field, value, expected)
    if made.ndim < 1 or not made.shape[-1]:
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return made


def ends(**values: Any) -> dict[str, FloatArray]:
    """Arrays (..., n) broadcast against each other; the first two must be configurations."""
    fields = list(values)
    made = [configuration(field, values[field]) for field in fields[:2]]
    made += [numbers(field, values[field], "finite numbers (..., n), or one for all joints") for field in fields[2:]]
    n = made[0].shape[-1]
    for field, array in zip(fields, made, strict=True):
        if array.ndim and array.shape[-1] not in {n, *([] if field in fields[:2] else [1])}:
            raise ArgumentError(
                f"{field} has the shape {array.shape}; expected (..., {n}), as {fields[0]} is for {n} joints"
            )
    try:
        return dict(zip(fields, np.broadcast_arrays(*made), strict=True))
    except ValueError as error:
        shapes = ", ".join(f"{field} {array.shape}" for field, array in zip(fields, made, strict=True) if array.ndim)
        raise ArgumentError(f"the shapes {shapes} do not broadcast") from error


def positive(field: str, value: Any, n: int) -> FloatArray:
    """Limits of speed or acceleration: one positive number, or one for each of n joints (..., n)."""
    expected = f"a number > 0, or {n} of them"
    made = numbers(field, value, expected)
    if not np.all(made > 0) or (made.ndim and made.shape[-1] not in {1, n}):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return made


def scalar(field: str, value: Any, *, above: float = 0.0, expected: str = "a number > 0") -> float:
    """One finite number greater than another."""
    made = numbers(field, value, expected)
    if made.ndim or isinstance(value, (bool, np.bool_)) or not made > above:
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(made)


def flag(field: str, value: Any, expected: str = "True or False") -> bool:
    """True or False, nothing that merely counts as such."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return bool(value)


def record(field: str, value: Any) -> FloatArray:
    """What was recorded, closed to writing; copied, unless it and what it is a view of are closed already."""
    made = numbers(field, value, "an array of real numbers", finite=False, copy=False)
    whole = made if made.base is None else made.base
    if made.flags.writeable or not isinstance(whole, np.ndarray) or whole.flags.writeable:
        made = made.copy()
        made.setflags(write=False)
    return made


def closed(*arrays: FloatArray) -> tuple[FloatArray, ...]:
    """The same arrays, new ones of our own, closed to writing with what they are views of: `record` then keeps them."""
    for array in arrays:
        for one in (array.base, array):
            if isinstance(one, np.ndarray):
                one.setflags(write=False)
    return arrays


def instants(t: Any, field: str = "t", least: int = 1) -> FloatArray:
    """Ascending times (T,), closed to writing."""
    kind = f"{least} instant{'s' if least > 1 else ''} or more"
    made = numbers(field, t, f"finite times (T,), s, ascending: {kind}")
    if made.ndim != 1 or made.size < least:
        raise ArgumentError(f"{field} has the shape {made.shape}; expected times (T,), s, ascending: {kind}")
    steps = np.diff(made)
    if not np.all(steps > 0):
        k = int(np.argmin(steps > 0))
        raise ArgumentError(f"{field} does not ascend: {field}[{k + 1}] is {made[k + 1]:g} after {made[k]:g}")
    made.setflags(write=False)
    return made


def grid(t: Any, samples: int | None) -> FloatArray:
    """Instants (T,), T >= 2: as given, or a duration cut into samples."""
    expected = "a duration > 0, s, or instants (T,)"
    if numbers("t", t, expected, finite=False).ndim:
        if samples is not None:
            raise ArgumentError("samples goes with a duration; t holds the instants already")
        return instants(t, least=2)
    duration = scalar("t", t, expected=expected)
    return np.linspace(0.0, duration, count(samples))


def count(samples: int | None) -> int:
    """How many instants, `SAMPLES` unless it is said."""
    if samples is None:
        return SAMPLES
    if isinstance(samples, bool) or not isinstance(samples, (int, np.integer)) or samples < 2:
        raise ArgumentError(f"samples is {samples!r}; expected 2 instants or more")
    return int(samples)


def within(time: Any, t: FloatArray) -> FloatArray:
    """Times () or (K,) that lie within those of a trajectory, by rounding at least."""
    made = numbers("time", time, "a time or times (K,), s")
    room = ROUNDING * (t[-1] - t[0])
    if made.ndim > 1:
        raise ArgumentError(f"time has the shape {made.shape}; expected a time or times (K,), s")
    outside = (made < t[0] - room) | (made > t[-1] + room)
    if np.any(outside):
        first = float(np.atleast_1d(made)[np.atleast_1d(outside)][0])
        raise ArgumentError(f"time is {first!r}; the trajectory lasts from {float(t[0])!r} to {float(t[-1])!r} s")
    return np.clip(made, t[0], t[-1])


def until(time: Any, t: FloatArray) -> float:
    """One time that is not before a trajectory begins."""
    made = numbers("time", time, "a time, s")
    if made.ndim or made < t[0]:
        raise ArgumentError(f"time is {shown(time)}; expected a time, s, from {t[0]:g} on")
    return float(made)


def limited(limits: Any, names: Sequence[str], t: FloatArray, q: FloatArray) -> None:
    """Raise where a coordinate of q (..., T, n) leaves its limits (n, 2): the first joint, at its first such instant."""
    if limits is None:
        return
    n = q.shape[-1]
    expected = f"(n, 2): least and greatest of {n} joints, infinite for none"
    made = numbers("limits", limits, expected, finite=False)
    if made.shape != (n, 2) or not np.all(made[:, 0] <= made[:, 1]):
        raise ArgumentError(f"limits is {shown(limits)}; expected {expected}")
    room = 4.0 * np.finfo(np.float64).eps * np.abs(q)
    beyond = (q < made[:, 0] - room) | (q > made[:, 1] + room)
    if not np.any(beyond):
        return
    joint = int(np.argmax(np.any(beyond, axis=tuple(range(beyond.ndim - 1)))))
    when = int(np.argmax(np.any(beyond[..., joint], axis=tuple(range(beyond.ndim - 2)))))
    member = tuple(int(k) for k in np.argwhere(beyond[..., when, joint])[0])
    value, name = float(q[(*member, when, joint)]), names[joint] if names else f"q{joint + 1}"
    where = f" in member {member}" if member else ""
    raise ArgumentError(
        f"joint {name!r} leaves its limits {made[joint].tolist()} at t = {t[when]:g} s{where}: it is {value:g} there"
    )
