"""Row reduction of small systems of linear equations whose coefficients may be expressions.

Which coefficients vanish is decided on numbers: those of the matrix itself, or its values at a point with random numbers for
the symbols, where an expression that is not zero identically is not zero either (J. T. Schwartz, "Fast probabilistic
algorithms for verification of polynomial identities", J. ACM 27(4), 1980).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linkwise.expr.expand import expanded, quotient
from linkwise.expr.node import Expr
from linkwise.model.symbolic import numbers_at
from linkwise.spatial.scalar import Array, FloatArray

#: A row or a coefficient below this is rounding, where all are of the size of 1.
INDEPENDENT = 1e-8

#: A row leads first where it is larger than this: an angle that is right but for the last digits decides nothing.
CLEAR = 1e-4

#: A coefficient below this part of those that it came from is zero.
_ZERO = 1e-12

#: A random number for each symbol; empty where there are none.
Point = Mapping[Expr, float]


def at(values: Array, point: Point) -> FloatArray:
    """The numbers (float64) of an array at a point."""
    return numbers_at(values, point) if values.dtype == object else np.asarray(values, dtype=np.float64)


def independent(rows: Array, point: Point) -> Array:
    """Rows of the size of 1 that span the same: of floats an orthonormal basis, of expressions a choice among the rows."""
    if not len(rows):
        return rows
    numbers = at(rows, point)
    if rows.dtype != object:
        _, singular, basis = np.linalg.svd(numbers, full_matrices=False)
        return np.asarray(basis[singular > INDEPENDENT])
    kept: list[int] = []
    left = numbers
    while len(kept) < min(numbers.shape):
        sizes = np.linalg.norm(left, axis=1)
        best = int(np.argmax(sizes))
        if sizes[best] <= INDEPENDENT:
            break
        kept.append(best)
        direction = left[best] / sizes[best]
        left = left - np.outer(left @ direction, direction)
    return np.asarray(rows[sorted(kept)])


def reduced(rows: Array, columns: Sequence[int], point: Point) -> tuple[Array, list[int], Array]:
    """Reduced echelon form of rows over some of their columns, taken in order.

    Parameters
    ----------
    rows : ndarray (r, k)
        Coefficients; each row is of the size of 1.
    columns : sequence of int
        The columns in which a row may lead, in the order in which they are asked; those with small coefficients last.
    point : mapping
        A random number for each symbol.

    Returns
    -------
    leading : ndarray (b, k)
        Each with 1 in its own leading column, where the others have 0.
    where : list of int
        The leading column of each.
    others : ndarray (r - b, k)
        What is left of the other rows: 0 in all of these columns.
    """
    exact, numbers = np.array(rows), at(rows, point).copy()
    taken: list[int] = []
    where: list[int] = []
    for least, column in [(least, column) for least in (CLEAR, INDEPENDENT) for column in columns]:
        free = [r for r in range(len(exact)) if r not in taken]
        size = np.abs(numbers[free, column]).max(initial=0.0)
        if column in where or size <= least:
            if size <= INDEPENDENT:
                exact[free, column] = numbers[free, column] = 0.0
            continue
        row = _leader(exact, numbers, free, column)
        _divide(exact, numbers, row, column)
        for other in range(len(exact)):
            if other != row and numbers[other, column] != 0.0:
                _take_off(exact, numbers, other, row, column)
        taken.append(row)
        where.append(column)
    return exact[taken], where, exact[[r for r in range(len(exact)) if r not in taken]]


def _leader(exact: Array, numbers: FloatArray, free: list[int], column: int) -> int:
    """The row to lead in a column: the largest, among those where no symbol would have to be divided by."""
    able = [r for r in free if abs(numbers[r, column]) > INDEPENDENT]
    plain = [r for r in able if not isinstance(exact[r, column], Expr)]
    return max(plain or able, key=lambda r: abs(numbers[r, column]))


def _divide(exact: Array, numbers: FloatArray, row: int, column: int) -> None:
    if exact.dtype == object:
        below = exact[row, column]
        exact[row] = [quotient(value, below) for value in exact[row]]
    else:
        exact[row] = exact[row] / exact[row, column]
    numbers[row] = numbers[row] / numbers[row, column]
    exact[row, column] = numbers[row, column] = 1.0


def _take_off(exact: Array, numbers: FloatArray, other: int, row: int, column: int) -> None:
    """Subtract the leading row from another one, and clear remainders of rounding."""
    part = numbers[other, column] * numbers[row]
    size = np.abs(numbers[other]) + np.abs(part)
    result = exact[other] - exact[other, column] * exact[row]
    numbers[other] = numbers[other] - part
    gone = np.abs(numbers[other]) <= _ZERO * size
    numbers[other, gone] = 0.0
    result[gone] = 0.0
    exact[other] = tidied(result)
    exact[other, column] = numbers[other, column] = 0.0


def tidied(values: Array) -> Array:
    """Expand expressions so that terms cancel."""
    if values.dtype != object:
        return values
    result = values.copy()
    for place in np.ndindex(values.shape):
        result[place] = expanded(values[place])
    return result
