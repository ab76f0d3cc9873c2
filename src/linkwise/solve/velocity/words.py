"""One answer of velocity solving in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.solve.velocity.filtered import RANK
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.solve.velocity.solution import RateSolution

COMPONENTS = ("along x", "along y", "along z", "about x", "about y", "about z")

SHOWN = 0.05
"""Components of a direction below this are left out of the sentence."""


def explained(made: RateSolution, place: tuple[int, ...], reasons: Mapping[str, str]) -> str:
    """What became of one element, a sentence a line."""
    reason = str(_at(made.reason, place))
    lines = [f"{reason}: {reasons[reason]}."]
    if float(_at(made.damping, place)) > 0.0:
        lines.append(_damped(made, place, missed=reason == "damped"))
    if reason == "lacking":
        lines.append(_rank(made, place))
    if reason in ("damped", "lacking", "bounded"):
        per = "s2" if made.task.order == 2 else "s"
        linear, angular = (float(_at(value, place)) for value in (made.linear_residual, made.angular_residual))
        most, length = linear + made.task.length * angular, made.task.length
        lines.append(f"Missing: {_number(linear, most)} m/{per}, {_number(angular, most / length)} rad/{per}.")
    if made.limits and _at(made.saturated, place).any():
        lines.append(_held(made, place))
    return "\n".join(lines)


def _damped(made: RateSolution, place: tuple[int, ...], missed: bool) -> str:
    """How singular the position is, and which motion of the frame is being lost."""
    region, constant = made.task.filter
    least = _number(float(_at(made.singular_value, place)))
    how = f"damped below {region:g}" if region else f"and all are damped by {constant:g}"
    if not missed:
        return f"The least singular value is {least}, {how}."
    left, _, _ = np.linalg.svd(_matrix(made, place), full_matrices=False)
    worst = left[:, -1] / made.task.unit
    worst = worst / worst[np.argmax(np.abs(worst))]
    parts = [
        f"{part:.2g} {'m' if row < 3 else 'rad'} {COMPONENTS[row]}"
        for row, part in zip(made.task.rows, worst, strict=True)
        if abs(part) > SHOWN
    ]
    return f"The least singular value is {least}, {how}; the motion that goes with it: {', '.join(parts)}."


def _rank(made: RateSolution, place: tuple[int, ...]) -> str:
    """How many of the components asked for the joints can give."""
    values = np.linalg.svd(_matrix(made, place), compute_uv=False)
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    return f"Of the {len(made.task.rows)} components that count the joints give {rank} independently."


def _matrix(made: RateSolution, place: tuple[int, ...]) -> FloatArray:
    q = made.states[0]
    return made.task.matrix(np.broadcast_to(q, (*made.rates.shape[:-1], q.shape[-1]))[place])


def _held(made: RateSolution, place: tuple[int, ...]) -> str:
    names = made.task.mechanism.names
    rates, at = _at(made.rates, place), _at(made.saturated, place)
    held = ", ".join(
        f"{name} at {float(rate) + 0.0:.4g}" for name, rate, stands in zip(names, rates, at, strict=True) if stands
    )
    scale = float(_at(made.scale, place))
    slowed = f"; the whole motion is {scale:.4g} of what was asked" if scale < 1.0 else ""
    return f"At a bound: {held}{slowed}."


def _number(value: float, size: float = 1.0) -> str:
    """A few digits; what is rounding beside a size is zero."""
    return f"{0.0 if abs(value) < 1e-12 * size else value:.4g}"


def _at(value: Any, place: tuple[int, ...]) -> Any:
    return np.asarray(value)[place]
