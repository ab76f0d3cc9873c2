"""Turns between orientations: about one axis, by one angle; whole batches at once."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray

_DIAGONAL = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


def orthonormal(rotation: FloatArray) -> FloatArray:
    """The rotation (..., 3, 3) nearest to a matrix that is one but for rounding, of its numbers as printed at worst.

    Two steps of Newton's iteration for the polar factor, R (3 - R'R) / 2 (N. J. Higham, *Functions of Matrices*, 2008,
    eq. 8.20): an error of 1e-6 becomes 1e-12, then 1e-24.
    """
    r = rotation
    for _ in range(2):
        r = 0.5 * r @ (3.0 * np.eye(3) - np.swapaxes(r, -1, -2) @ r)
    return np.asarray(r)


def quaternion(rotation: FloatArray) -> FloatArray:
    """The unit quaternion (w, x, y, z) with w >= 0 of rotations (..., 3, 3); result (..., 4).

    The row with the greatest diagonal of the matrix 4 q q' (S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance
    and Control 1(3), 1978), so that nothing is lost near a half turn.
    """
    r = rotation
    square = np.empty((*r.shape[:-2], 4, 4))
    places = np.arange(4)
    square[..., places, places] = 1.0 + np.einsum("kj,...jj->...k", _DIAGONAL, r)
    for i, j, value in (
        (0, 1, r[..., 2, 1] - r[..., 1, 2]),
        (0, 2, r[..., 0, 2] - r[..., 2, 0]),
        (0, 3, r[..., 1, 0] - r[..., 0, 1]),
        (1, 2, r[..., 0, 1] + r[..., 1, 0]),
        (1, 3, r[..., 0, 2] + r[..., 2, 0]),
        (2, 3, r[..., 1, 2] + r[..., 2, 1]),
    ):
        square[..., i, j] = square[..., j, i] = value
    best = np.argmax(square[..., places, places], axis=-1)
    row = np.take_along_axis(square, best[..., None, None], axis=-2)[..., 0, :]
    row = row * np.where(row[..., :1] < 0.0, -1.0, 1.0)
    return np.asarray(row / np.linalg.norm(row, axis=-1, keepdims=True))


def axis_and_angle(rotation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The unit axis (..., 3) and the angle (...), 0 to pi, of rotations (..., 3, 3); the axis is z where nothing turns."""
    q = quaternion(rotation)
    size = np.linalg.norm(q[..., 1:], axis=-1)
    still = size == 0.0
    axis = np.where(still[..., None], np.array([0.0, 0.0, 1.0]), q[..., 1:] / np.where(still, 1.0, size)[..., None])
    return axis, 2.0 * np.arctan2(size, q[..., 0])


def turned(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about unit axes (..., 3) by angles (...), broadcast: Rodrigues' formula (O. Rodrigues, 1840)."""
    k = np.zeros((*axis.shape[:-1], 3, 3))
    x, y, z = (axis[..., i] for i in range(3))
    k[..., 0, 1], k[..., 0, 2], k[..., 1, 2] = -z, y, -x
    k[..., 1, 0], k[..., 2, 0], k[..., 2, 1] = z, -y, x
    s, half = np.sin(angle)[..., None, None], np.sin(0.5 * angle)[..., None, None]
    return np.asarray(np.eye(3) + s * k + 2.0 * half**2 * (k @ k))
