"""Gauss-Jordan elimination with the pivot sought in all rows and columns: on batches, and compiled for small systems."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.kernel import Kernel, trace
from linkwise.spatial.scalar import Array, FloatArray, greatest, select

IntArray = npt.NDArray[np.int64]

#: Times the greater dimension of A, and the largest number met, what counts as zero.
ROUNDING = 10 * float(np.finfo(float).eps)

#: Numbers that are worked on at a time, so that they stay in the caches.
AT_ONCE = 1 << 15


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
    reduced, order, rank, arm = (np.concatenate(part) for part in zip(*parts, strict=True))
    return reduced, order, rank, arm


def _reduced(h: FloatArray, m: int, main: Sequence[int]) -> tuple[FloatArray, IntArray, IntArray, FloatArray]:
    number, n = h.shape[:2]
    systems = np.arange(number)
    order = np.tile(np.arange(m), (number, 1))
    is_main = np.isin(np.arange(m), list(main))
    rank, arm, largest = np.zeros(number, dtype=int), np.zeros(number), np.zeros(number)
    alive = np.ones(number, dtype=bool)
    tiny = ROUNDING * max(n, m)
    met = np.abs(h[:, :, m:]).max(axis=1)
    for k in range(min(n, m)):
        sizes = np.abs(h[:, k:, k:m]).reshape(number, -1)
        place = sizes.argmax(axis=1)
        size = sizes[systems, place]
        largest = np.where(alive, np.maximum(largest, size), largest)
        arm = np.where(alive, size, arm)
        alive &= size > tiny * largest
        if main:
            wanted = np.where(np.tile(is_main[order[:, k:]], n - k), sizes, -1.0)
            first = wanted.argmax(axis=1)
            better = alive & (wanted[systems, first] > tiny * largest)
            place = np.where(better, first, place)
            arm = np.where(better, sizes[systems, first], arm)
        if not alive.any():
            break
        i, j = (np.where(alive, index + k, k) for index in np.divmod(place, m - k))
        _swap(h, systems, k, i)
        _swap(h.swapaxes(1, 2), systems, k, j)
        _swap(order, systems, k, j)
        _clear(h, m, k, alive, met)
        rank += alive
    _emptied(h, m, rank, tiny * met)
    return h + 0.0, order, rank, arm


def _swap(value: npt.NDArray[np.generic], systems: IntArray, k: int, other: IntArray) -> None:
    """Swap along the second axis the element k with another one, in each of the batch."""
    kept = value[:, k].copy()
    value[:, k] = value[systems, other]
    value[systems, other] = kept


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


#: Systems (A, b) of up to this many numbers are compiled.
SMALL = 42


@cache
def compiled(n: int, m: int, right: int, forced: bool) -> Kernel:
    """The kernel for A of n rows and m columns and as many vectors b; it also takes which variables are main where forced.

    Its results are those of `reduce_batch`, as float64.
    """
    shapes = {"h": (n, m + right), **({"main": (m,)} if forced else {})}
    return Kernel(trace(lambda h, main=(): _Reduction(h, m, main).run(), "linears", shapes))


class _Reduction:
    """The rows of (A, b) while they are reduced, as scalars."""

    def __init__(self, h: Array, m: int, main: Sequence[Any]) -> None:
        self.rows: list[list[Any]] = [list(row) for row in h]
        self.m = m
        self.order: list[Any] = [float(j) for j in range(m)]
        self.main: list[Any] = list(main)
        self.alive: Any = 1.0
        self.largest: Any = 0.0
        self.arm: Any = 0.0
        self.rank: Any = 0.0
        self.tiny = ROUNDING * max(len(h), m)
        self.met = [self._greatest([row[j] for row in self.rows]) for j in range(m, len(self.rows[0]))]

    def run(self) -> tuple[Any, ...]:
        """Take all pivots there may be, and give the system, the order of the variables, the rank and arm."""
        for k in range(min(len(self.rows), self.m)):
            self._swap(k, *self._pivot(k))
            self._clear(k)
            self.rank = self.rank + self.alive
        self._empty()
        return np.array(self.rows, dtype=object), np.array(self.order, dtype=object), self.rank, self.arm

    def _pivot(self, k: int) -> tuple[Any, Any]:
        """Row and column of the next pivot; (k, k) where there is none."""
        columns = range(k, self.m)
        size, i, j = self._search(k, [1.0 for _ in columns])
        self.largest = select(self.alive, greatest(self.largest, size), self.largest)
        self.arm = select(self.alive, size, self.arm)
        self.alive = select(size - self.tiny * self.largest, self.alive, 0.0)
        if self.main:
            first, i_main, j_main = self._search(k, self.main[k:])
            better = select(first - self.tiny * self.largest, self.alive, 0.0)
            self.arm, i, j = select(better, first, self.arm), select(better, i_main, i), select(better, j_main, j)
        return select(self.alive, i, float(k)), select(self.alive, j, float(k))

    def _search(self, k: int, wanted: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Size and place of the largest element from row and column k on, in wanted columns: the first of equals."""
        size, i_found, j_found = -1.0, float(k), float(k)
        for i in range(k, len(self.rows)):
            for j, flag in enumerate(wanted, k):
                here = select(flag, abs(self.rows[i][j]), -1.0)
                larger = here - size
                size = select(larger, here, size)
                i_found, j_found = select(larger, float(i), i_found), select(larger, float(j), j_found)
        return size, i_found, j_found

    def _swap(self, k: int, row: Any, column: Any) -> None:
        """Swap row k and column k with those given by scalars."""
        for i in range(k + 1, len(self.rows)):
            here = 0.5 - abs(row - float(i))
            self.rows[k], self.rows[i] = _swapped(here, self.rows[k], self.rows[i])
        for j in range(k + 1, self.m):
            here = 0.5 - abs(column - float(j))
            for line in [*self.rows, self.order, *([self.main] if self.main else [])]:
                line[k], line[j] = select(here, line[j], line[k]), select(here, line[k], line[j])

    def _clear(self, k: int) -> None:
        """Divide the row of the pivot by it, and take the row off all others, where the elimination goes on."""
        pivot = self.rows[k]
        divisor = select(self.alive, pivot[k], 1.0)
        up = [value / divisor for value in pivot]
        factors = [select(self.alive, row[k], 0.0) for row in self.rows]
        factors[k] = 0.0
        top = self._greatest(factors)
        self.met = [greatest(size, top * abs(value)) for size, value in zip(self.met, up[self.m :], strict=True)]
        for i, row in enumerate(self.rows):
            if i != k:
                self.rows[i] = [value - factors[i] * other for value, other in zip(row, up, strict=True)]
                self.rows[i][k] = select(self.alive, 0.0, row[k])
        up[k] = select(self.alive, 1.0, pivot[k])
        self.rows[k] = up

    def _empty(self) -> None:
        """Set to zero what is left of A below the rank, and what is left of b there that is no more than rounding."""
        for i, row in enumerate(self.rows):
            kept = self.rank - (i + 0.5)
            for j, value in enumerate(row):
                if j < self.m:
                    row[j] = select(kept, value, 0.0)
                else:
                    limit = self.tiny * self.met[j - self.m]
                    row[j] = select(kept, value, select(abs(value) - limit, value, 0.0))

    @staticmethod
    def _greatest(values: Sequence[Any]) -> Any:
        largest: Any = 0.0
        for value in values:
            largest = greatest(largest, abs(value))
        return largest


def _swapped(here: Any, first: Sequence[Any], second: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Two rows, exchanged where ``here`` is above zero."""
    pairs = list(zip(first, second, strict=True))
    return [select(here, b, a) for a, b in pairs], [select(here, a, b) for a, b in pairs]
