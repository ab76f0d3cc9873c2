"""Solving with a positive semidefinite matrix whose rank is known, over scalars: the shortest solution."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from linkwise.dynamics.factor import Factor, factor
from linkwise.spatial.scalar import Array, greatest, root, select


@dataclass(frozen=True)
class Deficient:
    """A = U U', with its pseudo-inverse U (U'U)^-2 U', rows and columns brought to one unit by sizes.

    Attributes
    ----------
    half : ndarray (K, r)
        U.
    square : Factor
        Of U'U.
    sizes : ndarray (K,)
        What rows and columns of A were divided by.
    least : scalar
        The last pivot, as a part of the first.
    """

    half: Array
    square: Factor
    sizes: Array
    least: Any

    def solve(self, right: Array) -> Array:
        """The shortest x (K,), counted in its units, of those for which A x is nearest to right (K,)."""
        inner = self.square.solve(self.square.solve(self.half.T @ (right / self.sizes)))
        return np.asarray((self.half @ inner) / self.sizes)


def deficient(matrix: Array, rank: int, sizes: Array) -> Deficient:
    """Factorise a positive semidefinite matrix (K, K) of this rank.

    Cholesky's factors with diagonal pivots (G. H. Golub, C. F. Van Loan, *Matrix Computations*, section 4.2.8): as many
    columns as the rank, each from the greatest element that is left on the diagonal. What is left then is rounding, or, a
    little beside positions where rows depend on each other, of second order, and is dropped.
    """
    count = len(matrix)
    left = np.array(matrix, dtype=object) / sizes[:, None] / sizes
    columns, pivots = [], []
    for _ in range(rank):
        largest = reduce(greatest, [left[k, k] for k in range(count)])
        column, taken = left[:, count - 1], left[count - 1, count - 1]
        for k in reversed(range(count - 1)):
            here = left[k, k] - largest + 1e-14 * largest  # the first of those that are as great
            column = np.array([select(here, a, b) for a, b in zip(left[:, k], column, strict=True)], dtype=object)
            taken = select(here, left[k, k], taken)
        column = column * (1.0 / root(taken))
        pivots.append(taken)
        columns.append(column)
        for i in range(count):
            for j in range(i + 1):
                left[i, j] = left[j, i] = left[i, j] - column[i] * column[j]
    half = np.array(columns, dtype=object).T
    square = np.empty((rank, rank), dtype=object)
    for i in range(rank):
        for j in range(i + 1):
            square[i, j] = square[j, i] = half[:, i] @ half[:, j]
    return Deficient(half, factor(square), sizes, pivots[-1] / pivots[0])
