"""Gauss-Jordan elimination with the pivot sought in all rows and columns, on a batch of systems of any size at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

IntArray = npt.NDArray[np.int64]

ROUNDING = 10 * float(np.finfo(float).eps)
"""Times the greater dimension of A, and the largest number met, what counts as zero."""

AT_ONCE = 1 << 15
"""Numbers that are worked on at a time, so that they stay in the caches."""


def reduce_batch(h: FloatArray, m: int, main: Sequence[int]) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    """Reduce each of a batch of systems (A, b).

    The largest element is the pivot, the first of equals. The elimination ends where no element is larger than `ROUNDING`
    allows. What is left of A below is then set to zero, and so is what is left of b where it is no more than rounding.

    Parameters
    ----------
    h : (N, n, m + k) ndarray
        Coefficients and right-hand sides.
    m : int
        Columns of A.
    main : sequence of int
        Variables that are to be main variables.

    Returns
    -------
    h : ndarray (N, n, m + k)
    order : ndarray (N, m) of int
    rank : ndarray (N,) of int
    arm : ndarray (N,)
    """
    if not len(h):
        return h, np.zeros((0, m), dtype=int), np.zeros(0, dtype=int), np.zeros(0)
    count = max(1, AT_ONCE // h[0].size)
    with np.errstate(over="ignore", invalid="ignore"):  # as with plain floats
        parts = [_reduced(h[k : k + count].copy(), m, main) for k in range(0, len(h), count)]
    made, order, rank, arm = (np.concatenate(part) for part in zip(*parts, strict=True))
    return made, order, rank, arm


def _reduced(h: FloatArray, m: int, main: Sequence[int]) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    number, n = h.shape[:2]
    each = np.arange(number)
    order = np.tile(np.arange(m), (number, 1))
    is_main = np.isin(np.arange(m), list(main))
    rank, arm, largest = np.zeros(number, dtype=int), np.zeros(number), np.zeros(number)
    alive = np.ones(number, dtype=bool)
    tiny = ROUNDING * max(n, m)
    met = np.abs(h[:, :, m:]).max(axis=1)
    for k in range(min(n, m)):
        sizes = np.abs(h[:, k:, k:m]).reshape(number, -1)
        place = sizes.argmax(axis=1)
        size = sizes[each, place]
        largest = np.where(alive, np.maximum(largest, size), largest)
        arm = np.where(alive, size, arm)
        alive &= size > tiny * largest
        if main:
            wanted = np.where(np.tile(is_main[order[:, k:]], n - k), sizes, -1.0)
            first = wanted.argmax(axis=1)
            better = alive & (wanted[each, first] > tiny * largest)
            place = np.where(better, first, place)
            arm = np.where(better, sizes[each, first], arm)
        if not alive.any():
            break
        i, j = (np.where(alive, found + k, k) for found in np.divmod(place, m - k))
        _swap(h, each, k, i)
        _swap(h.swapaxes(1, 2), each, k, j)
        _swap(order, each, k, j)
        _clear(h, m, k, alive, met)
        rank += alive
    _emptied(h, m, rank, tiny * met)
    return h + 0.0, order, rank, arm


def _swap(value: npt.NDArray[np.generic], each: IntArray, k: int, other: IntArray) -> None:
    """Swap along the second axis the element k with another one, in each of the batch."""
    kept = value[:, k].copy()
    value[:, k] = value[each, other]
    value[each, other] = kept


def _clear(h: FloatArray, m: int, k: int, alive: npt.NDArray[np.bool_], met: FloatArray) -> None:
    """Divide the row of the pivot by it, and take the row off all others, where the elimination goes on."""
    divisor = np.where(alive, h[:, k, k], 1.0)
    up = h[:, k] / divisor[:, np.newaxis]
    factors = np.where(alive[:, np.newaxis], h[:, :, k], 0.0)
    factors[:, k] = 0.0
    off = factors[:, :, np.newaxis] * up[:, np.newaxis, :]
    np.maximum(met, np.abs(factors).max(axis=1)[:, np.newaxis] * np.abs(up[:, m:]), out=met)
    h -= off
    h[:, k] = up
    h[alive, :, k] = 0.0
    h[alive, k, k] = 1.0


def _emptied(h: FloatArray, m: int, rank: IntArray, limit: FloatArray) -> None:
    """Set to zero what is left of A below the rank, and what is left of b there that is no more than rounding."""
    below = np.arange(h.shape[1]) >= rank[:, np.newaxis]
    h[..., :m] = np.where(below[..., np.newaxis], 0.0, h[..., :m])
    is_rounding = np.abs(h[..., m:]) <= limit[:, np.newaxis, :]
    h[..., m:] = np.where(below[..., np.newaxis] & is_rounding, 0.0, h[..., m:])
