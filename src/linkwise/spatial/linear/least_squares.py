"""Linear least squares for a batch of small matrices that may lack rank."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

RANK = 1e-9
"""Singular values of the Jacobian below this share of the greatest count as zero."""


def least_squares_step(
    rates: FloatArray, errors: FloatArray, rank: float = RANK
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The shortest of the steps (k, n) with the least |rates dq - errors|, and where the rates (k, m, n) lack rank."""
    u, s, vt = np.linalg.svd(rates, full_matrices=False)
    kept = s > rank * s[:, :1]
    along = np.sum(u * errors[:, :, None], axis=1)
    scaled = np.divide(along, s, out=np.zeros_like(s), where=kept)
    return np.asarray(np.sum(vt * scaled[:, :, None], axis=1)), np.asarray(~kept.all(axis=-1))
