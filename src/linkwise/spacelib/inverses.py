"""Inverse and pseudo-inverse of matrices of numbers, and of batches of them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.spacelib.function import refuse_unless
from linkwise.spatial.linear import adjugate
from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.transform import transform
from linkwise.spatial.vector import inner

_EPS = float(np.finfo(float).eps)

#: Greatest deviation from a rotation (`rotation_error`) of the block of a position matrix inverted by minors: its singular
#: values are then within 0.94 and 1.05, and minors are as exact as an elimination.
_NEAR = 0.1


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
    inverted, fine = _by_elimination(a)
    refuse_unless(name, fine, f"{field} is singular")
    return inverted


def inverse_of_position(name: str, a: FloatArray, field: str = "M") -> FloatArray:
    """The inverse (..., n, n), in less time for position matrices (4, 4), exactly rotations or only near; of others too.

    Raises
    ------
    ArgumentError
        As for `inverse`.
    """
    if a.shape[-1] != 4:
        return inverse(name, a, field)
    with np.errstate(all="ignore"):  # an invalid position matrix may divide by zero
        inverted, measure = _of_positions().ufunc(a)
    others = np.asarray(~(measure > 0))
    if others.any():
        fine = np.ones(others.shape, dtype=bool)
        inverted[others], fine[others] = _by_elimination(a[others])
        refuse_unless(name, fine, f"{field} is singular")
    return np.asarray(inverted)


def _by_elimination(a: FloatArray) -> tuple[FloatArray, Any]:
    """Inverse (..., n, n) of any matrix of numbers, and whether (...) it exists."""
    try:
        inverted = np.linalg.inv(a)
    except np.linalg.LinAlgError:
        singular = np.linalg.slogdet(a)[0] == 0  # a pivot is exactly zero
        inverted = np.linalg.inv(np.where(singular[..., np.newaxis, np.newaxis], np.nan, a))
    spread = (np.abs(inverted) @ np.abs(a)).sum(axis=-1).max(axis=-1)
    return np.asarray(inverted), np.asarray(spread * (10 * a.shape[-1] * _EPS) < 1)


@cache
def _of_positions() -> Kernel:
    """The inverse (4, 4) of a position matrix by minors of its block, compiled, and a measure above 0 where it is one."""

    def body(m: Array) -> tuple[Array, Any]:
        block = m[:3, :3]
        minors = adjugate(block)
        back = minors / inner(block[0], minors[:, 0])
        off = sum((abs(item) for item in m[3, :3]), abs(m[3, 3] - 1.0))
        return transform(back, -(back @ m[:3, 3])), select(off, -1.0, _NEAR - rotation_error(block))

    return Kernel(trace(body, "position_inverse", {"m": (4, 4)}))
