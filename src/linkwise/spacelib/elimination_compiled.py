"""The elimination of `linkwise.spacelib.elimination_batch` over scalars, for small systems: a pivot is a selection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.spacelib.elimination_batch import ROUNDING
from linkwise.spatial.scalar import Array, greatest, select

SMALL = 42
"""Systems (A, b) of up to this many numbers are compiled."""


@cache
def compiled(n: int, m: int, right: int, forced: bool) -> Kernel:
    """The kernel for A of n rows and m columns and as many vectors b; it also takes which variables are main where forced.

    Its results are those of `linkwise.spacelib.elimination_batch.reduce_batch`, as float64.
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
        found: Any = 0.0
        for value in values:
            found = greatest(found, abs(value))
        return found


def _swapped(here: Any, first: Sequence[Any], second: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Two rows, exchanged where ``here`` is above zero."""
    pairs = list(zip(first, second, strict=True))
    return [select(here, b, a) for a, b in pairs], [select(here, a, b) for a, b in pairs]
