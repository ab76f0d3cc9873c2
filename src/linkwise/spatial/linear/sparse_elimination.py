"""Square systems of linear equations written out over scalars, with the zeros that the structure leaves.

Elimination with pairwise pivoting: of two rows the one with the larger leading element goes on, which takes no branch, only
selections (D. C. Sorensen, "Analysis of pairwise pivoting in Gaussian elimination", IEEE Trans. Computers C-34(3), 1985).
Which unknown goes next is settled by counting: the one that the fewest equations hold (H. M. Markowitz, 1957).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, is_zero, select


@dataclass(frozen=True)
class Solved:
    """The unknowns (n, k), one column for each right side, and the sign of the determinant of the matrix."""

    unknowns: Array
    sign: Any


def solve(matrix: Array, right: Array) -> Solved:
    """Solve matrix (n, n) times unknowns (n, k) = right (n, k); NaN or infinity where the matrix is singular."""
    size = len(matrix)
    rows = [[*row, *side] for row, side in zip(matrix.tolist(), right.tolist(), strict=True)]
    sign: Any = 1.0
    order: list[tuple[int, list[Any]]] = []
    open_columns = list(range(size))
    while open_columns:
        column = min(open_columns, key=lambda k: (sum(not is_zero(row[k]) for row in rows), k))
        holding = [row for row in rows if not is_zero(row[column])]
        if not holding:
            return Solved(np.full((size, right.shape[1]), np.inf), 0.0)
        place = next(k for k, row in enumerate(rows) if row is holding[0])
        sign = sign * (-1.0 if (place + open_columns.index(column)) % 2 else 1.0)
        rest = [row for row in rows if is_zero(row[column])]
        pivot, remaining, swaps = _eliminated(holding, column)
        sign = sign * swaps * pivot[column]
        order.append((column, pivot))
        # (the remaining rows keep their places, so that the sign of the determinant can be followed)
        result = iter(remaining)
        rows = [row if any(row is other for other in rest) else next(result) for row in rows if row is not holding[0]]
        open_columns.remove(column)
    return Solved(_substituted(order, size, right.shape[1]), sign)


def _eliminated(holding: list[list[Any]], column: int) -> tuple[list[Any], list[list[Any]], Any]:
    """The pivot row, the other rows without the column, and the sign of the exchanges."""
    pivot, remaining, swaps = holding[0], [], 1.0
    for other in holding[1:]:
        larger = abs(other[column]) - abs(pivot[column])
        above = [select(larger, q, p) for p, q in zip(pivot, other, strict=True)]
        below = [select(larger, p, q) for p, q in zip(pivot, other, strict=True)]
        swaps = swaps * select(larger, -1.0, 1.0)
        factor = below[column] / select(abs(above[column]), above[column], 1.0)  # (zero where both are zero)
        reduced = [q - factor * p for p, q in zip(above, below, strict=True)]
        reduced[column] = 0.0
        pivot = above
        remaining.append(reduced)
    return pivot, remaining, swaps


def _substituted(order: list[tuple[int, list[Any]]], size: int, sides: int) -> Array:
    result = np.zeros((size, sides), dtype=object)
    for column, row in reversed(order):
        inverse = 1.0 / row[column]
        for side in range(sides):
            value = row[size + side]
            for k in range(size):
                if k != column and not is_zero(row[k]):
                    value = value - row[k] * result[k, side]
            result[column, side] = value * inverse
    return result
