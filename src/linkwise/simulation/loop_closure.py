"""Keeping loops closed where something else than a step of an integrator gives the state: at the start, and at events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.kkt import independent_closure
from linkwise.errors import ArgumentError
from linkwise.kernel.tape import Shape
from linkwise.loops.loop_solver import NEARLY, REST
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import first_index
from linkwise.trajectory.motion import Event


def closed_start(tree: Tree, batch: Shape, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Close the loops of the initial states (B, nq), (B, nv) exactly, if they are closed to input precision.

    Raises
    ------
    ArgumentError
        Where they are open by more than rounding of what was typed, or singular.
    """
    if not tree.loops:
        return q, qd
    sizes = independent_closure(tree).sizes
    unit = f"in longest offsets ({sizes[0]:g} m) and rad"
    _refuse(tree, batch, "q0", _gaps(tree, q) / sizes, NEARLY, "leaves loops", unit)
    terms = kernel_of(tree, "closure_jacobian")(q) * qd[:, None, :] / sizes[:, None]
    most = NEARLY * np.sqrt(np.square(terms).sum(axis=(1, 2)))[:, None] + REST
    _refuse(tree, batch, "qd0", terms.sum(axis=2), most, "drives loops", f"{unit} per second")
    q, qd = projected(tree, q, qd)
    lost = ~(np.isfinite(q).all(axis=1) & np.isfinite(qd).all(axis=1))
    if lost.any():
        raise ArgumentError(
            f"simulate: q0{first_index(lost.reshape(batch))} is a singular position of {tree.name!r}: closure equations"
            " that are independent elsewhere repeat each other, so how it moves on is not determined"
        )
    return q, qd


def closed_events(tree: Tree, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events with the loops closed in their states, which are interpolated."""
    if not tree.loops:
        return tuple(events)
    closed = []
    for event in events:
        q, qd = projected(tree, event.q, event.qd)
        known = np.isfinite(q).all() and np.isfinite(qd).all()
        closed.append(event._replace(q=q, qd=qd) if known else event)
    return tuple(closed)


def projected(tree: Tree, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The nearest states (..., nq), (..., nv) with loops closed, NaN if there is none nearby."""
    with np.errstate(all="ignore"):
        closed_q, closed_qd = kernel_of(tree, "project_to_loops")(q, qd)
    return closed_q, closed_qd


def _gaps(tree: Tree, q: FloatArray) -> FloatArray:
    """Closure errors (B, K); a hinge with opposed axes counts as 2."""
    facing = kernel_of(tree, "closure_facing")(q).min(axis=1, keepdims=True)
    return np.where(facing > 0, kernel_of(tree, "closure")(q), 2.0 * independent_closure(tree).sizes)


def _refuse(tree: Tree, batch: Shape, name: str, gaps: FloatArray, most: Any, does: str, unit: str) -> None:
    """Raise `ArgumentError` where a gap (B, K) is more than it may be, naming the first such state."""
    wrong = ~(np.abs(gaps) <= most).all(axis=1)
    if wrong.any():
        raise ArgumentError(
            f"simulate: {name}{first_index(wrong.reshape(batch))} {does} of {tree.name!r} open by"
            f" {np.abs(gaps[wrong][0]).max():.3g}, {unit};"
            " expected a state that closes them; a Linkage gives such positions and velocities"
        )
