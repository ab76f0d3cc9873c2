"""A closed position from nothing, or the closed position next to one that is open."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.kinematics.closing import CLOSED, closed_near, closing, first_start, random_starts
from linkwise.solve.linkage.solution import CONVERGED, UNREACHABLE, LoopSolution, shaped
from linkwise.spatial.numbers import numbers

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

STARTS = 128
"""Random starts before it is given up."""

_AT_ONCE = 32


def assemble(mechanism: Mechanism, q0: npt.ArrayLike | None = None, seed: int = 0) -> LoopSolution:
    """Return a position with all loops closed, within the joint limits.

    From q0 (zero where it is left out) by damped least squares, and where this does not close the loops from random starts
    that follow from the seed. Which of several ways to put the mechanism together is found depends on the start.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q0 : (..., nq) array_like, optional
        Where to start; the closed position that is found is one near by, if there is any.
    seed : int
        Of the random starts.

    Returns
    -------
    LoopSolution
        Without success q is the position that came nearest, and `closure_error` says how near.

    Raises
    ------
    ArgumentError
        For a mechanism without loops, or q0 of another shape.

    Examples
    --------
    >>> from linkwise import robots
    >>> assemble(robots.four_bar(), [1.0, 0.0, 0.0]).closure_error < 1e-12
    True
    """
    mechanism.require_numbers("assemble")
    if not mechanism.loops:
        raise ArgumentError(f"{mechanism.name!r} has no loops; every position of it is closed")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"seed is {shown(seed)}; expected a whole number >= 0")
    task = closing(mechanism)
    given = first_start(task) if q0 is None else numbers("q0", q0, f"real numbers (..., {mechanism.nq})")
    if given.shape[-1:] != (mechanism.nq,):
        raise ArgumentError(f"q0 has the shape {given.shape}; expected (..., {mechanism.nq})")
    batch, starts = given.shape[:-1], given.reshape(-1, mechanism.nq)
    q, error, taken = closed_near(task, starts)
    others = random_starts(task, STARTS, seed) if (error > CLOSED).any() else starts[:0]
    for first in range(0, len(others), _AT_ONCE):
        rest = np.flatnonzero(error > CLOSED)
        if not rest.size:
            break
        found, found_error, found_taken = closed_near(task, others[first : first + _AT_ONCE])
        closed, gaps = np.flatnonzero(found_error <= CLOSED), np.linalg.norm(task.residual(found), axis=-1)
        best = int(closed[0]) if closed.size else int(np.argmin(gaps))
        better = rest[gaps[best] < np.linalg.norm(task.residual(q[rest]), axis=-1)] if not closed.size else rest
        base = slice(task.base, None)  # (a floating base stays where it is)
        q[better, base], error[better], taken[better] = found[best, base], found_error[best], found_taken[best]
    return shaped(q, np.where(error <= CLOSED, CONVERGED, UNREACHABLE), error, taken, batch)
