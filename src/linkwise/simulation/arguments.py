"""What `simulate` is given, checked and brought into one form."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.tree import Tree
from linkwise.simulation.feedback import Feedback, Sampled
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

EVEN = 1e-9
"""By this share of a step the intervals between instants may differ, beside the rounding of the instants themselves."""


@dataclass(frozen=True)
class Start:
    """Initial states: the batch shape of the simulation, q (B, nq) and qd (B, nv)."""

    batch: tuple[int, ...]
    q: FloatArray
    qd: FloatArray


@dataclass(frozen=True)
class Clock:
    """Instants (T,), s, and their distance where it is the same for all."""

    t: FloatArray
    step: float

    @property
    def steps(self) -> int:
        """How many steps lead through the instants."""
        return len(self.t) - 1


def state(mech: Tree, name: str, value: Any, size: int) -> FloatArray:
    """Initial coordinates or speeds (..., size)."""
    rest = np.zeros(size)
    if mech.floating and name == "q0":
        rest[3] = 1.0
    found = numbers(f"simulate: {name}", rest if value is None else value, copy=False)
    if found.ndim == 0 or found.shape[-1] != size:
        raise ArgumentError(f"simulate: {name} has the shape {found.shape}; expected (..., {size}) for {mech.name!r}")
    if mech.floating and name == "q0":
        found = np.concatenate([found[..., :3], _unit(found[..., 3:7]), found[..., 7:]], axis=-1)
    return found


def _unit(quaternion: FloatArray) -> FloatArray:
    """The quaternions (..., 4) at unit length, whatever other than zero they have."""
    largest = np.abs(quaternion).max(axis=-1, keepdims=True)
    if not np.all(largest):
        where = tuple(int(k) for k in np.argwhere(largest[..., 0] == 0.0)[0])
        raise ArgumentError(
            f"simulate: q0[..., 3:7] has the length 0{f' at {where}' if where else ''}; "
            "expected a quaternion (w, x, y, z) of any other length"
        )
    scaled = np.ldexp(quaternion, -np.frexp(largest)[1])  # so that squares neither overflow nor vanish
    return np.asarray(scaled / np.linalg.norm(scaled, axis=-1, keepdims=True))


def together(arrays: Mapping[str, tuple[int, ...]]) -> tuple[int, ...]:
    """The batch shape of everything."""
    try:
        return np.broadcast_shapes(*arrays.values())
    except ValueError as error:
        found = ", ".join(f"{name} {batch}" for name, batch in arrays.items())
        raise ArgumentError(f"simulate: the batch shapes do not fit each other: {found}") from error


def flat(array: FloatArray, batch: tuple[int, ...], behind: int) -> FloatArray:
    """The array broadcast to (B, ...) with `behind` axes after the batch; (1, ...) where it has no batch."""
    own, rest = array.shape[: array.ndim - behind], array.shape[array.ndim - behind :]
    if prod(own) == 1:
        return array.reshape(1, *rest)
    return np.broadcast_to(array, (*batch, *rest)).reshape(prod(batch), *rest)


def start(mech: Tree, q0: FloatArray, qd0: FloatArray, batch: tuple[int, ...]) -> Start:
    """Initial states (B, ...) of the whole batch."""
    whole = prod(batch)
    q, qd = (np.broadcast_to(flat(array, batch, 1), (whole, array.shape[-1])) for array in (q0, qd0))
    return Start(batch, np.ascontiguousarray(q), np.ascontiguousarray(qd))


def clock(t: Any, *, even: bool) -> Clock:
    """Instants: given as an array, or as a tuple (t_end, dt)."""
    if t is None:
        raise ArgumentError("simulate: t is missing; expected instants (T,), s, or a tuple (t_end, dt)")
    if isinstance(t, tuple):
        return _counted(t)
    found = numbers("simulate: t", t)
    if found.ndim != 1 or not found.size:
        raise ArgumentError(f"simulate: t has the shape {found.shape}; expected instants (T,), s, or a tuple (t_end, dt)")
    gaps = np.diff(found)
    if np.any(gaps <= 0):
        k = int(np.argmax(gaps <= 0))
        raise ArgumentError(f"simulate: t does not ascend: t[{k + 1}] is {found[k + 1]:g} after {found[k]:g}")
    step = float((found[-1] - found[0]) / max(1, len(gaps)))
    room = EVEN * step + 4.0 * np.finfo(np.float64).eps * float(np.abs(found).max())
    off = np.abs(gaps - step) > room
    if even and np.any(off):
        k = int(np.argmax(off))
        raise ArgumentError(
            f"simulate: t[{k}] to t[{k + 1}] is {gaps[k]:.12g} s, the mean interval {step:.12g} s; "
            "a fixed-step method needs equal intervals"
        )
    return Clock(found, step)


def _counted(t: tuple[Any, ...]) -> Clock:
    wrong = f"simulate: t is {shown(t)}; expected (t_end, dt), both > 0, s, t_end a multiple of dt"
    if len(t) != 2 or not all(isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in t):
        raise ArgumentError(wrong)
    end, step = map(float, t)
    if not (np.isfinite(end) and np.isfinite(step) and end > 0 and step > 0):
        raise ArgumentError(wrong)
    steps = round(end / step)
    if not steps or abs(steps * step - end) > 1e-9 * end:
        raise ArgumentError(wrong)
    return Clock(np.linspace(0.0, end, steps + 1), end / steps)


def record(value: Any, steps: int) -> int:
    """Every which instant is recorded."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"simulate: record is {shown(value)}; expected a whole number >= 1: every which instant is kept")
    if steps and value > steps:
        raise ArgumentError(f"simulate: record is {value}; there are only {steps} steps")
    return int(value)


def external(value: Any) -> tuple[float, ...] | None:
    """A constant force and moment (6,), or none."""
    if value is None:
        return None
    found = numbers("simulate: external", value)
    if found.shape != (6,):
        raise ArgumentError(
            f"simulate: external has the shape {found.shape}; expected (6,): force and moment on the tool, in tool axes"
        )
    return tuple(found.tolist())


def torque_rows(mech: Tree, torque: Any, steps: int, batch: tuple[int, ...]) -> FloatArray:
    """Torques as (..., rows, nv), rows 1 or one per instant."""
    if torque is None:
        return np.zeros((1, mech.nv))
    found, nv = numbers("simulate: torque", torque, copy=False), mech.nv
    kinds = f"({nv},), (..., {steps}, {nv}) with one row per step, or (..., 1, {nv}) for what is constant"
    if found.ndim == 0 or found.shape[-1] != nv:
        raise ArgumentError(f"simulate: torque has the shape {found.shape}; expected {kinds}")
    if found.ndim == 1:
        return found[None]
    rows = found.shape[-2]
    per_step = rows in {1, steps, steps + 1}
    per_rollout = 1 < rows == (batch or (0,))[-1] and found.ndim - 1 <= len(batch)
    if per_step and per_rollout:
        raise ArgumentError(
            f"simulate: torque {found.shape} may mean {rows} instants or {rows} rollouts; say torque[None] for one row per "
            "step, torque[..., None, :] for one per rollout"
        )
    if per_rollout:
        return found[..., None, :]
    if not per_step:
        raise ArgumentError(f"simulate: torque has the shape {found.shape}; expected {kinds}")
    return found


def inputs_of(law: Feedback, steps: int) -> dict[str, Sampled]:
    """The inputs of a law, each with one value per instant, or one."""
    for name, value in law.inputs.items():
        if value.rows not in {1, steps, steps + 1}:
            raise ArgumentError(
                f"simulate: {name} of {law!r} has {value.rows} instants; expected {steps} (one per step), {steps + 1} or 1"
            )
    return law.inputs


def watched(events: Any) -> dict[str, Any]:
    """The functions to watch, by name."""
    if events is None:
        return {}
    if isinstance(events, Mapping):
        found = dict(events)
    else:
        if not callable(events) and (not isinstance(events, Sequence) or isinstance(events, (str, bytes))):
            raise ArgumentError(
                f"simulate: events is {shown(events)}; expected a function g(t, q, qd), a list of them, or a dict of them "
                "by name"
            )
        listed = [events] if callable(events) else list(events)
        found = {}
        for k, function in enumerate(listed):
            name = getattr(function, "__name__", f"event{k}")
            found[name if name not in found and name != "<lambda>" else f"event{k}"] = function
    for name, function in found.items():
        if not callable(function):
            raise ArgumentError(f"simulate: event {name!r} is {shown(function)}; expected a function g(t, q, qd)")
        _check_signature(name, function)
        direction = getattr(function, "direction", 0)
        if not isinstance(direction, (int, float, np.integer, np.floating)) or np.isnan(direction):
            raise ArgumentError(f"simulate: event {name!r} has the direction {direction!r}; expected -1, 0 or 1")
        terminal = getattr(function, "terminal", False)
        if not isinstance(terminal, (bool, np.bool_, int, np.integer)) or terminal < 0:
            raise ArgumentError(
                f"simulate: event {name!r} has terminal {terminal!r}; expected True, False or a number of times"
            )
    return found


def _check_signature(name: str, function: Any) -> None:
    """Refuse an event that cannot be called with time and state."""
    try:
        inspect.signature(function).bind(None, None, None)
    except TypeError as error:
        raise ArgumentError(f"simulate: event {name!r} does not take (t, q, qd): {error}; expected g(t, q, qd)") from error
    except ValueError:
        pass  # a function without a signature: it will say itself what it misses


def one_of(name: str, value: Any, known: Sequence[str]) -> str:
    """One of the choices."""
    if not isinstance(value, str) or value not in known:
        raise ArgumentError(f"simulate: {name} is {shown(value)}; expected {choices(known)}")
    return value


LARGEST = sys.float_info.max
"""The largest number; a whole number may be larger."""


def tolerance(name: str, value: Any) -> float:
    """A positive number."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)) or not 0 < value <= LARGEST:
        raise ArgumentError(f"simulate: {name} is {shown(value)}; expected a number > 0")
    return float(value)
