"""A closed position from nothing, or the closed position next to one that is open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.loops.loop_solver import CLOSED, closed_near, closing, random_starts
from linkwise.model.tree import Tree
from linkwise.solve.initial_guess import near_zero
from linkwise.solve.solution import REASONS, Solution
from linkwise.solve.validation import whole
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors

WORDS = ("converged", "limit", "toggle", "unreachable", "stalled", "iterations")
CONVERGED, LIMITS, TOGGLE, UNREACHABLE, STALLED, ITERATIONS = range(len(WORDS))
"""Reasons by number, in the order of `WORDS`."""


class LinkageSolution(Solution):
    """A position of a mechanism with closed loops, or a batch of them.

    `closure_error` comes from an evaluation of all closure equations at q as it stands here, and `success` follows from it.

    Attributes
    ----------
    q : ndarray (..., nq)
        Coordinates, rad or m.
    success : bool or ndarray (...)
        Whether the loops are closed to 1e-12, hinges with axes of one sense, and q is what was asked for, within limits.
    reason : str or ndarray (...)
        A key of `linkwise.solve.REASONS`; ``"converged"`` where `success` is true, and only there.
    closure_error : float or ndarray (...)
        The greatest of all closure equations, lengths over the longest offset of the mechanism, angles by their sine; 2
        where a hinge is closed with opposed axes.
    iterations : int or ndarray (...)
        Newton steps, or steps of damped least squares, that were taken.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.loops import Linkage
    >>> Linkage(robots.four_bar(), ["crank"]).position([0.1])
    <LinkageSolution: converged after 4 iterations>
    """

    _tasks = " positions"
    closure_error: Any
    _rows = ("success", "reason", "closure_error", "iterations")
    position_error: Any = np.nan
    rotation_error: Any = np.nan

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """In words, what became of one position; of a batch, or of one of it.

        Parameters
        ----------
        index : int or sequence of int, optional
            Which of a batch.

        Raises
        ------
        ArgumentError
            Where the index is not in the batch.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.loops import assemble
        >>> assemble(robots.four_bar()).explain().partition(",")[0]
        'it is solved'
        """
        if index is not None or not np.ndim(self.success):
            return self._explained(self._place(index))
        words, counts = np.unique(self.reason, return_counts=True)
        return "; ".join(f"{count}: {REASONS[str(word)]}" for word, count in zip(words, counts, strict=True))

    def _explained(self, place: tuple[int, ...]) -> str:
        reason, error = str(np.asarray(self.reason)[place]), float(np.asarray(self.closure_error)[place])
        return f"{REASONS[reason]} (closure error {error:.2g})"

    @property
    def _details(self) -> str:
        return f" after {self.iterations} iterations{'' if self.success else f', closure error {self.closure_error:.3g}'}"


def shaped(q: FloatArray, reasons: Any, errors: FloatArray, iterations: Any, batch: tuple[int, ...]) -> LinkageSolution:
    """A solution of rows (N), reasons by number, in the shape of a batch, scalars where there is none."""
    rows = {"success": reasons == CONVERGED, "reason": np.array(WORDS)[reasons], "closure_error": errors}
    return LinkageSolution.of(q=q, iterations=iterations, **rows).shaped(batch)


STARTS = 128
"""Random starts before it is given up."""

_AT_ONCE = 32


def assemble(mechanism: Tree, q0: npt.ArrayLike | None = None, seed: int = 0) -> LinkageSolution:
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
    LinkageSolution
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
    seed = whole("seed", seed)
    task = closing(mechanism)
    start = near_zero(task.mechanism) if q0 is None else vectors("q0", q0, mechanism.nq)
    batch, starts = start.shape[:-1], start.reshape(-1, mechanism.nq)
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
