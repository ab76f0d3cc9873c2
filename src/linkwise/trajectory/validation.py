"""Checked arguments of trajectories as float64, and the instants of planned motions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, first_place, numbers, whole

#: Default number of instants of a duration.
SAMPLES = 101

#: The most instants that a rate may ask for: a gigabyte of a motion of seven joints.
MOST = 5_000_000

#: Tolerance of times outside a trajectory, relative to its duration: the rounding of repeated addition of a step.
ROUNDING = 1e-9


def configuration(field: str, value: Any) -> FloatArray:
    """Joint coordinates (..., n)."""
    expected = "finite numbers (..., n), n joint coordinates"
    checked = numbers(field, value, expected)
    if checked.ndim < 1 or not checked.shape[-1]:
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return checked


def ends(**values: Any) -> dict[str, FloatArray]:
    """Arrays (..., n) broadcast against each other; the first two must be configurations."""
    fields = list(values)
    arrays = [configuration(field, values[field]) for field in fields[:2]]
    arrays += [numbers(field, values[field], "finite numbers (..., n), or one for all joints") for field in fields[2:]]
    n = arrays[0].shape[-1]
    for field, array in zip(fields, arrays, strict=True):
        if array.ndim and array.shape[-1] not in {n, *([] if field in fields[:2] else [1])}:
            raise ArgumentError(
                f"{field} has the shape {array.shape}; expected (..., {n}), as {fields[0]} is for {n} joints"
            )
    common_batch(**{field: array.shape[:-1] for field, array in zip(fields, arrays, strict=True) if array.ndim})
    return dict(zip(fields, np.broadcast_arrays(*arrays), strict=True))


def positive(field: str, value: Any, n: int) -> FloatArray:
    """Limits of speed or acceleration: one positive number, or one for each of n joints (..., n)."""
    expected = f"a number > 0, or {n} of them"
    checked = numbers(field, value, expected)
    if not np.all(checked > 0) or (checked.ndim and checked.shape[-1] not in {1, n}):
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return checked


def per_joint(field: str, value: Any, n: int) -> FloatArray:
    """Limits as n positive numbers (n,)."""
    checked = positive(field, value, n)
    if checked.ndim > 1:
        raise ArgumentError(f"{field} has the shape {checked.shape}; expected a number > 0, or {n} of them")
    return np.broadcast_to(checked, (n,))


def scalar(field: str, value: Any, *, above: float = 0.0, expected: str = "a number > 0") -> float:
    """One finite number greater than another."""
    checked = numbers(field, value, expected)
    if checked.ndim or isinstance(value, (bool, np.bool_)) or not checked > above:
        raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
    return float(checked)


def record(field: str, value: Any) -> FloatArray:
    """Read-only array of a record; copied, unless it and its base are read-only already."""
    checked = numbers(field, value, "an array of real numbers", finite=False, copy=False)
    whole = checked if checked.base is None else checked.base
    if checked.flags.writeable or not isinstance(whole, np.ndarray) or whole.flags.writeable:
        checked = checked.copy()
        checked.setflags(write=False)
    return checked


def closed(*arrays: FloatArray) -> tuple[FloatArray, ...]:
    """Read-only copies, with read-only bases, which `record` keeps without copying."""
    for array in arrays:
        for view in (array.base, array):
            if isinstance(view, np.ndarray):
                view.setflags(write=False)
    return arrays


def instants(t: Any, field: str = "t", least: int = 1) -> FloatArray:
    """Ascending times (T,), closed to writing."""
    kind = f"{least} instant{'s' if least > 1 else ''} or more"
    checked = numbers(field, t, f"finite times (T,), s, ascending: {kind}")
    if checked.ndim != 1 or checked.size < least:
        raise ArgumentError(f"{field} has the shape {checked.shape}; expected times (T,), s, ascending: {kind}")
    steps = np.diff(checked)
    if not np.all(steps > 0):
        k = int(np.argmin(steps > 0))
        raise ArgumentError(f"{field} does not ascend: {field}[{k + 1}] is {checked[k + 1]:g} after {checked[k]:g}")
    checked.setflags(write=False)
    return checked


def grid(t: Any, samples: int | None) -> FloatArray:
    """Instants (T,), T >= 2: as given, or a duration divided by samples."""
    expected = "a duration > 0, s, or instants (T,)"
    if numbers("t", t, expected, finite=False).ndim:
        if samples is not None:
            raise ArgumentError("samples goes with a duration; t holds the instants already")
        return instants(t, least=2)
    duration = scalar("t", t, expected=expected)
    return np.linspace(0.0, duration, count(samples))


def count(samples: int | None) -> int:
    """The number of instants, `SAMPLES` by default."""
    if samples is None:
        return SAMPLES
    return whole("samples", samples, 2, "2 instants or more")


def schedule(duration: float, t: Any, rate: Any) -> FloatArray:
    """Instants (T,) of a motion whose duration follows from its limits.

    Parameters
    ----------
    duration : float
        What the motion, or the longest of a batch, takes, s.
    t : (T,) array_like or None
        Instants; the motion begins at the first.
    rate : float or None
        Instants a second, from 0 to the first at which all is at rest. With neither, 101 instants over the duration.
    """
    if t is not None:
        if rate is not None:
            raise ArgumentError("t and rate are both given; expected one of them, or neither")
        times = instants(t)
        if times[-1] - times[0] < duration * (1.0 - 1e-12):
            raise ArgumentError(f"t lasts {times[-1] - times[0]:g} s; the motion takes {duration:.9g} s")
        return times
    if rate is None:
        return np.linspace(0.0, duration, SAMPLES if duration else 1)
    wanted = duration * scalar("rate", rate, expected="instants a second, > 0") * (1.0 - 1e-12)
    if not wanted < MOST:
        raise ArgumentError(
            f"rate is {shown(rate)}, {wanted:.3g} instants of the {duration:.6g} s that the motion takes; expected a rate "
            f"of at most {MOST / duration:.6g}, for {MOST:,} instants"
        )
    steps = math.ceil(wanted)
    return np.asarray(np.arange(steps + 1) / float(rate))


def instants_of(due: FloatArray, t: Any, samples: int | None) -> FloatArray:
    """Instants (T,) of a motion through points with known times (K,): as given, or so many samples.

    With neither they are 101, or where there are more points the times of these.
    """
    if t is None:
        if samples is None and len(due) > SAMPLES and (np.diff(due) > 0.0).all():
            return due.copy()
        return np.linspace(due[0], due[-1], count(samples)) if due[-1] > due[0] else due[:1].copy()
    if samples is not None:
        raise ArgumentError("t and samples are both given; expected one of them, or neither")
    times = instants(t)
    room = ROUNDING * (due[-1] - due[0])
    if times[0] < due[0] - room or times[-1] > due[-1] + room:
        raise ArgumentError(f"t is from {times[0]:g} to {times[-1]:g} s; the motion lasts from {due[0]:g} to {due[-1]:g} s")
    return np.clip(times, due[0], due[-1])


def within(time: Any, t: FloatArray) -> FloatArray:
    """Times () or (K,) that lie within those of a trajectory, by rounding at least."""
    checked = numbers("time", time, "a time or times (K,), s")
    room = ROUNDING * (t[-1] - t[0])
    if checked.ndim > 1:
        raise ArgumentError(f"time has the shape {checked.shape}; expected a time or times (K,), s")
    if checked.size and (checked.min() < t[0] - room or checked.max() > t[-1] + room):
        outside = (checked < t[0] - room) | (checked > t[-1] + room)
        first = float(np.atleast_1d(checked)[np.atleast_1d(outside)][0])
        raise ArgumentError(f"time is {first!r}; the trajectory lasts from {float(t[0])!r} to {float(t[-1])!r} s")
    return np.clip(checked, t[0], t[-1])


def until(time: Any, t: FloatArray) -> float:
    """One time not before the begin of a trajectory."""
    checked = numbers("time", time, "a time, s")
    if checked.ndim or checked < t[0]:
        raise ArgumentError(f"time is {shown(time)}; expected a time, s, from {t[0]:g} on")
    return float(checked)


def position_bounds(q_min: Any, q_max: Any, n: int) -> FloatArray:
    """Position limits (n, 2), infinite by default."""
    ends = []
    for name, value, default in (("q_min", q_min, -np.inf), ("q_max", q_max, np.inf)):
        end = np.asarray(default) if value is None else numbers(name, value, f"a number or ({n},)", finite=False)
        if end.shape not in ((), (n,)):
            raise ArgumentError(f"{name} is {shown(value)}; expected a number or ({n},)")
        ends.append(np.broadcast_to(end, n))
    if not np.all(ends[0] <= ends[1]):
        raise ArgumentError(f"q_min is {shown(q_min)} and q_max {shown(q_max)}; expected q_min <= q_max")
    return np.stack(ends, axis=1)


def limited(limits: Any, names: Sequence[str], t: FloatArray, q: FloatArray) -> None:
    """Raise where a coordinate of q (..., T, n) leaves (q_min, q_max): the first joint, at its first such instant."""
    if all(end is None for end in limits):
        return
    checked = position_bounds(limits[0], limits[1], q.shape[-1])
    room = 4.0 * np.finfo(np.float64).eps * np.abs(q)
    beyond = (q < checked[:, 0] - room) | (q > checked[:, 1] + room)
    if not np.any(beyond):
        return
    joint = int(np.argmax(np.any(beyond, axis=tuple(range(beyond.ndim - 1)))))
    when = int(np.argmax(np.any(beyond[..., joint], axis=tuple(range(beyond.ndim - 2)))))
    member = first_place(beyond[..., when, joint])
    value, name = float(q[(*member, when, joint)]), names[joint] if names else f"q{joint + 1}"
    where = f" in member {member}" if member else ""
    raise ArgumentError(
        f"joint {name!r} leaves its limits {checked[joint].tolist()} at t = {t[when]:g} s{where}: it is {value:g} there"
    )
