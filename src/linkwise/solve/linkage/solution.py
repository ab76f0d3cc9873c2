"""What closing the loops gives: a position, whether its loops are closed, and why not where they are not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray

REASONS: dict[str, str] = {
    "converged": "all loops are closed, on the branch of the start where that was closed, within the joint limits",
    "limit": "all loops are closed, but a joint is beyond its limits",
    "toggle": "the branch ends, or meets another, before the driven coordinates get there: q is the last position before",
    "unreachable": "no start led to closed loops, within the joint limits: q is where they were least open",
    "stalled": "the loops do not close to 1e-12 from here: q is as far as they did, or where they were least open",
    "iterations": "the way is too long for the steps allowed: q is how far they led",
}
"""What each reason of a `LoopSolution` means: the words of a `Solution`, and ``"toggle"``."""

CONVERGED, LIMITS, TOGGLE, UNREACHABLE, STALLED, ITERATIONS = range(len(REASONS))
"""The reasons by number, in the order of `REASONS`."""

_WORDS = np.array(list(REASONS))


@dataclass(frozen=True, eq=False, repr=False)
class LoopSolution:
    """A position of a mechanism with closed loops, or a batch of them.

    `closure_error` comes from an evaluation of all closure equations at q as it stands here, and `success` follows from it.

    Attributes
    ----------
    q : ndarray (..., nq)
        Coordinates, rad or m.
    success : bool or ndarray (...)
        Whether the loops are closed to 1e-12, hinges with axes of one sense, and q is what was asked for, within limits.
    reason : str or ndarray (...)
        A word of `REASONS`; ``"converged"`` where `success` is true, and only there.
    closure_error : float or ndarray (...)
        The greatest of all closure equations, lengths over the longest offset of the mechanism, angles by their sine; 2
        where a hinge is closed with opposed axes.
    iterations : int or ndarray (...)
        Newton steps, or steps of damped least squares, that were taken.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve.linkage import Linkage
    >>> Linkage(robots.four_bar(), ["crank"]).position([0.1])
    <LoopSolution: converged after 4 iterations>
    """

    q: FloatArray
    success: Any
    reason: Any
    closure_error: Any
    iterations: Any

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """What became of it, in words; of a batch, or of one of it.

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
        >>> from linkwise.solve.linkage import assemble
        >>> assemble(robots.four_bar()).explain().partition(",")[0]
        'all loops are closed'
        """
        if index is not None or not np.ndim(self.success):
            why, error = self._at(index)
            return f"{REASONS[why]} (closure error {error:.2g})"
        words, counts = np.unique(self.reason, return_counts=True)
        return "; ".join(f"{count}: {REASONS[str(word)]}" for word, count in zip(words, counts, strict=True))

    def _at(self, index: int | Sequence[int] | None) -> tuple[str, float]:
        """The reason and the closure error of one position."""
        place = () if index is None else (index,) if isinstance(index, (int, np.integer)) else tuple(index)
        try:
            return str(np.asarray(self.reason)[place].item()), float(np.asarray(self.closure_error)[place].item())
        except (IndexError, ValueError) as error:
            raise ArgumentError(f"no position {index}; this is a batch of {np.shape(self.success)}") from error

    def __repr__(self) -> str:
        if not np.ndim(self.success):
            error = "" if self.success else f", closure error {self.closure_error:.3g}"
            return f"<LoopSolution: {self.reason} after {self.iterations} iterations{error}>"
        words, counts = np.unique(self.reason, return_counts=True)
        found = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return f"<LoopSolution: {np.shape(self.success)} positions{': ' if found else ''}{found}>"


def shaped(q: FloatArray, reasons: Any, errors: FloatArray, iterations: Any, batch: tuple[int, ...]) -> LoopSolution:
    """A solution of rows (N), reasons by number, in the shape of a batch, scalars where there is none."""
    parts = (reasons == CONVERGED, _WORDS[reasons], errors, iterations)
    rest = [part.reshape(batch) if batch else part.item() for part in parts]
    return LoopSolution(q.reshape(*batch, q.shape[-1]), *rest)
