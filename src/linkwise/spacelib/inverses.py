"""Inverse and pseudo-inverse of matrices of numbers, and of batches of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.declaration import refuse_unless
from linkwise.spatial.scalar import FloatArray

_EPS = float(np.finfo(float).eps)


def pseudo_inverse(a: FloatArray) -> tuple[FloatArray, Any]:
    """The Moore-Penrose inverse (..., n, m) and the rank (...) of a matrix (..., m, n), from its singular values.

    Those up to eps max(m, n) times the largest count as zero.
    """
    u, sizes, vt = np.linalg.svd(a, full_matrices=False)
    limit = _EPS * max(a.shape[-2:])
    if a.ndim == 2 and sizes[-1] > limit * sizes[0]:  # as below, in less time
        return (vt.T * (1.0 / sizes)) @ u.T, len(sizes)
    counts = sizes > limit * sizes[..., :1]
    inverted = np.where(counts, 1.0 / np.where(counts, sizes, 1.0), 0.0)
    return (vt.swapaxes(-1, -2) * inverted[..., np.newaxis, :]) @ u.swapaxes(-1, -2), counts.sum(axis=-1)


def inverse(name: str, a: FloatArray, field: str = "A") -> FloatArray:
    """The inverse (..., n, n) of a matrix of numbers, which messages call by the field's name.

    Raises
    ------
    ArgumentError
        Where the relative condition number of R. D. Skeel, "Scaling for numerical stability in Gaussian elimination" (J. ACM
        26(3), 1979), the norm of the product of the sizes of inverse and matrix, reaches 1 / (10 n eps).
    """
    try:
        made = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        made = np.linalg.inv(np.where(_singular(a)[..., np.newaxis, np.newaxis], np.nan, a))
    spread = (np.abs(made) @ np.abs(a)).sum(axis=-1).max(axis=-1)
    refuse_unless(name, np.asarray(spread * (10 * a.shape[-1] * _EPS) < 1), f"{field} is singular")
    return np.asarray(made)


def _singular(a: FloatArray) -> Any:
    """Which of a batch have a pivot that is exactly zero."""
    signs, _ = np.linalg.slogdet(a)
    return signs == 0
