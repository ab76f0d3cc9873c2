"""Rows made orthogonal by plane rotations: the singular values of a small matrix, without a branch.

M. R. Hestenes, "Inversion of matrices by biorthogonalization and related results", J. SIAM 6(1), 1958. Each rotation makes
two rows orthogonal; sweeps over all pairs converge quadratically, so that a fixed number of them is enough for a matrix of
up to six rows, and the whole can be written as one straight piece of arithmetic. Unlike the normal equations it does
not square the condition number: singular values come out to rounding of the greatest one, zeros among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, root, select

SWEEPS = (0, 0, 2, 5, 5, 6, 6)
"""How many sweeps, by the number of rows. Two rows are done by one rotation, a second one takes what rounding left."""


@dataclass(frozen=True)
class OrthogonalRows:
    """G A, with orthogonal rows, and the rotations that G is the product of.

    Attributes
    ----------
    rows : ndarray (k, n)
        G A; their lengths are the singular values of A.
    squares : tuple of scalar
        The squares of those lengths (k,).
    rotations : tuple of (int, int, scalar, scalar)
        Which two rows, cosine and sine of each, in their order.
    """

    rows: Array
    squares: tuple[Any, ...]
    rotations: tuple[tuple[int, int, Any, Any], ...]

    def turned(self, vector: Array) -> Array:
        """G times a vector (k,)."""
        result = np.array(vector, dtype=object)
        for p, q, c, s in self.rotations:
            result[p], result[q] = c * result[p] - s * result[q], s * result[p] + c * result[q]
        return result

    def turned_back(self, vector: Array) -> Array:
        """G transposed times a vector (k,)."""
        result = np.array(vector, dtype=object)
        for p, q, c, s in reversed(self.rotations):
            result[p], result[q] = c * result[p] + s * result[q], c * result[q] - s * result[p]
        return result


def orthogonal_rows(matrix: Array) -> OrthogonalRows:
    """Rotate the rows of a matrix (k, n) of scalars, k at most 6, until they are orthogonal.

    Examples
    --------
    >>> made = orthogonal_rows(np.array([[3.0, 0.0], [4.0, 5.0]]))
    >>> sorted(round(float(square), 12) for square in made.squares)
    [5.0, 45.0]
    """
    rows = [list(row) for row in matrix]
    rotations = []
    for _ in range(SWEEPS[len(rows)]):
        for p in range(len(rows)):
            for q in range(p + 1, len(rows)):
                c, s = _rotation(rows[p], rows[q])
                rotations.append((p, q, c, s))
                pairs = list(zip(rows[p], rows[q], strict=True))
                rows[p] = [c * x - s * y for x, y in pairs]
                rows[q] = [s * x + c * y for x, y in pairs]
    squares = tuple(_dot(row, row) for row in rows)
    return OrthogonalRows(np.array(rows, dtype=object), squares, tuple(rotations))


def _rotation(x: list[Any], y: list[Any]) -> tuple[Any, Any]:
    """Cosine and sine of the lesser angle, at most pi/4, after which two rows are orthogonal.

    With d the difference of the squared lengths, p the product and h = sqrt(d^2 + 4 p^2) they are (h + |d|) r and 2 p r with
    r = 1 / sqrt(2 h (h + |d|)): one division, two roots.
    """
    shared, difference = _dot(x, y), _dot(y, y) - _dot(x, x)
    hypotenuse = root(difference * difference + 4.0 * shared * shared)
    sum_ = hypotenuse + abs(difference)
    product = hypotenuse * sum_
    ratio = root(0.5 / select(product, product, 1.0))
    sine = select(product, 2.0 * shared * ratio, 0.0)
    return select(product, sum_ * ratio, 1.0), select(-difference, -sine, sine)


def _dot(x: list[Any], y: list[Any]) -> Any:
    """The inner product of two rows, of which many elements may be zeros that are known."""
    return sum((a * b for a, b in zip(x, y, strict=True)), 0.0)
