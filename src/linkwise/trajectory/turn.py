"""Rotations as matrices, whole batches at once: made orthonormal, and about one axis by one angle."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray


def orthonormal(rotation: FloatArray) -> FloatArray:
    """The rotation (..., 3, 3) nearest to a matrix that is one but for rounding, of its numbers as printed at worst.

    Two steps of Newton's iteration for the polar factor, R (3 - R'R) / 2 (N. J. Higham, *Functions of Matrices*, 2008,
    eq. 8.20): an error of 1e-6 becomes 1e-12, then 1e-24.
    """
    r = rotation
    for _ in range(2):
        r = 0.5 * r @ (3.0 * np.eye(3) - np.swapaxes(r, -1, -2) @ r)
    return np.asarray(r)


def turned(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about unit axes (..., 3) by angles (...), broadcast: Rodrigues' formula (O. Rodrigues, 1840)."""
    k = np.zeros((*axis.shape[:-1], 3, 3))
    x, y, z = (axis[..., i] for i in range(3))
    k[..., 0, 1], k[..., 0, 2], k[..., 1, 2] = -z, y, -x
    k[..., 1, 0], k[..., 2, 0], k[..., 2, 1] = z, -y, x
    s, half = np.sin(angle)[..., None, None], np.sin(0.5 * angle)[..., None, None]
    return np.asarray(np.eye(3) + s * k + 2.0 * half**2 * (k @ k))
