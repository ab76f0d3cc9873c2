"""Poses solved by a closed form where it has an answer, and numerically where it has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.solve.closed_form import ClosedForm, closed_form
from linkwise.solve.constraints.pose import mask_of
from linkwise.solve.solution import Solution
from linkwise.solve.system import System

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

ASKS: dict[tuple[int, ...], str] = {
    (1, 1, 1, 1, 1, 1): "pose",
    (1, 1, 1, 0, 0, 0): "position",
    (0, 0, 0, 1, 1, 1): "orientation",
}
"""What a closed form is asked for, by the mask."""


def form_for(mechanism: Mechanism, link: int | str, mask: npt.ArrayLike | None, *, needed: bool) -> ClosedForm | None:
    """The closed form for poses in the axes of a mask, None where there is none.

    Raises
    ------
    NoClosedFormError
        Where there is none although it is needed: why.
    """
    asks = "pose" if mask is None else ASKS.get(tuple(map(int, mask_of(mask))))
    if asks is None:
        if needed:
            closed_form(mechanism, link).refuse("the mask leaves single axes free")
        return None
    form = closed_form(mechanism, link, asks=asks)
    if not form.exists and needed:
        form.refuse()
    return form if form.exists else None


def exactly(
    form: ClosedForm,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    tol: float,
    system: System,
    numeric: Callable[..., Solution],
) -> Solution:
    """Solve poses (..., 4, 4) with the solutions nearest to q0 (..., n), and what has none ``numeric(T, q0=q0)``."""
    q, found, far, turned = form.nearest(T, q0, system.limited, tol=tol)
    if q.ndim == 1:
        if found:
            return Solution(q, True, "converged", float(far), float(turned), 0, system.bounds, system.names, tol)
        return numeric(T, q0=q0)
    steps, reason = np.zeros(found.shape, dtype=np.intp), np.full(found.shape, "converged", dtype="<U11")
    fields: tuple[Any, ...] = (q, found, reason, far, turned, steps)
    if not found.all():
        rest = ~found
        start = None if q0 is None else np.broadcast_to(np.asarray(q0, dtype=float), q.shape)[rest]
        other = numeric(np.broadcast_to(np.asarray(T, dtype=float), (*found.shape, 4, 4))[rest], q0=start)
        others = (other.q, other.success, other.reason, other.position_error, other.rotation_error, other.iterations)
        fields = tuple(map(np.array, fields))
        for field, value in zip(fields, others, strict=True):
            field[rest] = value
    q, found, reason, far, turned, steps = fields
    return Solution(q, found, reason, far, turned, steps, system.bounds, system.names, tol)
