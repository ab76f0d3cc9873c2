"""Keeping loops closed where something else than a step of an integrator gives the state: at the start, and at events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.rows import independent_closure
from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Shape
from linkwise.kinematics.closing import NEARLY, REST
from linkwise.mechanism import Mechanism
from linkwise.model.tree import Tree
from linkwise.simulation.arguments import Start
from linkwise.simulation.events import member
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Event


def closed_start(mech: Mechanism, start: Start) -> Start:
    """The initial states with loops closed exactly: what was typed with six digits is, what is further off is refused.

    Raises
    ------
    ArgumentError
        Where they are open by more than rounding of what was typed, or singular.
    """
    if not mech.loops:
        return start
    sizes = _sizes(mech)
    unit = f"in longest offsets ({sizes[0]:g} m) and rad"
    _refuse(mech, start.batch, "q0", _gaps(mech, start.q) / sizes, NEARLY, "leaves loops", unit)
    terms = mech.kernel("closure_jacobian")(start.q) * start.qd[:, None, :] / sizes[:, None]
    most = NEARLY * np.sqrt(np.square(terms).sum(axis=(1, 2)))[:, None] + REST
    _refuse(mech, start.batch, "qd0", terms.sum(axis=2), most, "drives loops", f"{unit} per second")
    q, qd = projected(mech, start.q, start.qd)
    lost = ~(np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1))
    if lost.any():
        where = _where(int(np.argmax(lost)), start.batch)
        raise ArgumentError(
            f"simulate: q0{where} is a singular position of {mech.name!r}: closure equations that are independent elsewhere"
            " repeat each other, so how it moves on is not determined"
        )
    return Start(start.batch, q, qd)


def closed_events(mech: Mechanism, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events with the loops closed in their states, which are interpolated."""
    if not mech.loops:
        return tuple(events)
    found = []
    for event in events:
        q, qd = projected(mech, event.q, event.qd)
        known = np.isfinite(q).all() and np.isfinite(qd).all()
        found.append(event._replace(q=q, qd=qd) if known else event)
    return tuple(found)


def projected(mech: Tree, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nearest states (..., nq), (..., nv) with loops closed, NaN where there is none near."""
    with np.errstate(all="ignore"):
        made: tuple[FloatArray, FloatArray] = mech.kernel("project_to_loops")(q, qd)  # type: ignore[attr-defined]
    return made


def _gaps(mech: Mechanism, q: FloatArray) -> FloatArray:
    """How far loops are open (B, K); a hinge with opposed axes by 2."""
    facing = mech.kernel("closure_facing")(q).min(axis=1, keepdims=True)
    return np.where(facing > 0, mech.kernel("closure")(q), 2.0 * _sizes(mech))


def _sizes(mech: Mechanism) -> FloatArray:
    return independent_closure(mech).sizes


def _refuse(mech: Mechanism, batch: Shape, name: str, gaps: FloatArray, most: Any, does: str, unit: str) -> None:
    """Raise `ArgumentError` where a gap (B, K) is more than it may be, naming the first such state."""
    wrong = ~(np.abs(gaps) <= most).all(axis=1)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ArgumentError(
            f"simulate: {name}{_where(row, batch)} {does} of {mech.name!r} open by {np.abs(gaps[row]).max():.3g}, {unit};"
            " expected a state that closes them; a Linkage gives such positions and speeds"
        )


def _where(row: int, batch: Shape) -> str:
    place = member(row, batch)
    return str(list(place)) if place else ""
