"""Which rows, or columns, of a Jacobian are independent, not at one position only but at several at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

RANK = 1e-9
"""A singular value below this share of the greatest one counts as zero, lengths being in longest offsets."""

_EVEN = 0.8
"""A column this close to the best one is as good: then the first of them is taken, whatever rounding says."""


def rank_of(values: npt.NDArray[np.floating[Any]]) -> int:
    """How many singular values (k,), greatest first, are not zero."""
    return int((values > RANK * values[0]).sum()) if values.size and values[0] > 0.0 else 0


def independent_columns(matrices: FloatArray, rank: int, weights: FloatArray | None = None) -> tuple[int, ...]:
    """The columns, `rank` of them or fewer, that are as independent as can be at the worst of several positions.

    Gram and Schmidt's way with pivots: each time the column that is longest, at the position where it is shortest, once the
    parts along those chosen before are taken off (P. Businger, G. H. Golub, 1965, for one matrix).

    Parameters
    ----------
    matrices : ndarray (S, m, n)
        One for each position.
    rank : int
        How many to choose.
    weights : ndarray (n,), optional
        What columns are worth.
    """
    left = np.array(matrices, dtype=np.float64)
    worth = np.ones(left.shape[-1]) if weights is None else weights
    results: list[int] = []
    scale = float(np.linalg.norm(left, axis=1).max(initial=0.0))
    for _ in range(rank):
        length = np.linalg.norm(left, axis=1)
        score = np.where(length.min(axis=0) > RANK * scale, length.min(axis=0) * worth, 0.0)
        score[results] = 0.0
        if not score.max(initial=0.0) > 0.0:
            break
        best = int(np.flatnonzero(score >= _EVEN * score.max())[0])
        results.append(best)
        direction = left[..., best] / length[:, best, None]
        for _ in range(2):  # once more for the rounding
            left -= direction[..., None] * np.einsum("sm,smn->sn", direction, left)[:, None, :]
    return tuple(sorted(results))
