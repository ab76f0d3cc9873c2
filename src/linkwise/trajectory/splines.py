"""Speeds and accelerations at way-points such that the polynomials between them join smoothly."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray

Ends = tuple[FloatArray, FloatArray]
"""The values (..., n) at the first and the last way-point."""


def cubic_nodes(t: FloatArray, q: FloatArray, qd: Ends) -> tuple[FloatArray, FloatArray]:
    """Return speeds and accelerations (..., K, n) at the points of the cubic spline with given end speeds.

    Position, speed and acceleration are continuous (C. de Boor, *A Practical Guide to Splines*, 1978, chapter IV, eq. 5).

    Parameters
    ----------
    t : ndarray (K,)
        Times of the points.
    q : ndarray (..., K, n)
        The points.
    qd : pair of ndarray (..., n)
        Speeds at both ends.
    """
    h = np.diff(t)[:, None]
    slope = np.diff(q, axis=-2) / h
    v = np.zeros_like(q)
    v[..., 0, :], v[..., -1, :] = qd
    if len(t) > 2:
        left, right = 1.0 / h[:-1, 0], 1.0 / h[1:, 0]
        rhs = 3.0 * (slope[..., :-1, :] / h[:-1] + slope[..., 1:, :] / h[1:])
        rhs[..., 0, :] -= left[0] * v[..., 0, :]
        rhs[..., -1, :] -= right[-1] * v[..., -1, :]
        before, here, after = (x[:, None, None] for x in (left, 2.0 * (left + right), right))
        v[..., 1:-1, :] = block_tridiagonal(before, here, after, rhs[..., None, :])[..., 0, :]
    a = np.empty_like(v)
    a[..., :-1, :] = (6.0 * slope - 4.0 * v[..., :-1, :] - 2.0 * v[..., 1:, :]) / h
    a[..., -1, :] = (2.0 * v[..., -2, :] + 4.0 * v[..., -1, :] - 6.0 * slope[..., -1, :]) / h[-1]
    return v, a


def quintic_nodes(t: FloatArray, q: FloatArray, qd: Ends, qdd: Ends) -> tuple[FloatArray, FloatArray]:
    """Return speeds and accelerations (..., K, n) at the points of the quintic spline with given ends.

    Jerk and its derivative are continuous too; of all motions through the points with these ends it has the least integral
    of the squared jerk (I. J. Schoenberg, "Spline interpolation and the higher derivatives", Proc. Nat. Acad. Sci. 51,
    1964). Arguments as for `cubic_nodes`.
    """
    h = np.diff(t)
    step = np.diff(q, axis=-2)
    v, a = np.zeros_like(q), np.zeros_like(q)
    v[..., 0, :], v[..., -1, :] = qd
    a[..., 0, :], a[..., -1, :] = qdd
    if len(t) == 2:
        return v, a
    left, right = h[:-1], h[1:]
    jerk = 20.0 * (step[..., 1:, :] / right[:, None] ** 3 - step[..., :-1, :] / left[:, None] ** 3)
    snap = -30.0 * (step[..., 1:, :] / right[:, None] ** 4 + step[..., :-1, :] / left[:, None] ** 4)
    rhs = np.stack((jerk, snap), axis=-2)
    before = _two_by_two(-8.0 / left**2, -1.0 / left, -14.0 / left**3, -2.0 / left**2)
    here = _two_by_two(
        12.0 / right**2 - 12.0 / left**2,
        3.0 / left + 3.0 / right,
        -16.0 / left**3 - 16.0 / right**3,
        3.0 / left**2 - 3.0 / right**2,
    )
    after = _two_by_two(8.0 / right**2, -1.0 / right, -14.0 / right**3, 2.0 / right**2)
    rhs[..., 0, :, :] -= before[0] @ np.stack((v[..., 0, :], a[..., 0, :]), axis=-2)
    rhs[..., -1, :, :] -= after[-1] @ np.stack((v[..., -1, :], a[..., -1, :]), axis=-2)
    found = block_tridiagonal(before, here, after, rhs)
    v[..., 1:-1, :], a[..., 1:-1, :] = found[..., 0, :], found[..., 1, :]
    return v, a


def block_tridiagonal(before: FloatArray, here: FloatArray, after: FloatArray, rhs: FloatArray) -> FloatArray:
    """Solve before[k] x[k-1] + here[k] x[k] + after[k] x[k+1] = rhs[k] by elimination from the first row to the last.

    G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th edition, 2013, section 4.5.1.

    Parameters
    ----------
    before, here, after : ndarray (m, b, b)
        The blocks; the first of before and the last of after are not used.
    rhs : ndarray (..., m, b, n)
        Right-hand sides.

    Returns
    -------
    x : ndarray (..., m, b, n)
    """
    x = rhs.copy()
    carried = np.empty_like(here)
    pivot = here[0]
    for k in range(len(here)):
        if k:
            pivot = here[k] - before[k] @ carried[k - 1]
            x[..., k, :, :] -= before[k] @ x[..., k - 1, :, :]
        x[..., k, :, :] = np.linalg.solve(pivot, x[..., k, :, :])
        carried[k] = np.linalg.solve(pivot, after[k])
    for k in range(len(here) - 2, -1, -1):
        x[..., k, :, :] -= carried[k] @ x[..., k + 1, :, :]
    return x


def _two_by_two(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Matrices (m, 2, 2) of their elements (m,), row by row."""
    return np.stack((a, b, c, d), axis=-1).reshape(-1, 2, 2)
