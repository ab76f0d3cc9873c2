"""Small linear algebra over arrays of scalars: determinant, singular values, L' D L, least squares, rank, elimination.

M. R. Hestenes, "Inversion of matrices by biorthogonalization and related results", J. SIAM 6(1), 1958. Each rotation makes
two rows orthogonal; sweeps over all pairs converge quadratically, so that a fixed number of them is enough for a matrix of
up to six rows, and the whole can be written as one straight piece of arithmetic. Unlike the normal equations it does
not square the condition number: singular values come out to rounding of the greatest one, zeros among them.

R. Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", Int. J. Robotics
Research 24(6), 2005. Elimination from the tips to the base keeps the zeros of M, and zeros vanish from the graph, so nothing
here needs to know the tree.

Elimination with pairwise pivoting: of two rows the one with the larger leading element goes on, which takes no branch, only
selections (D. C. Sorensen, "Analysis of pairwise pivoting in Gaussian elimination", IEEE Trans. Computers C-34(3), 1985).
Which unknown goes next is settled by counting: the one that the fewest equations hold (H. M. Markowitz, 1957).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import Array, FloatArray, is_zero, root, select


def determinant(m: Array) -> Any:
    """The determinant, by Laplace's expansion; each minor of the first rows is computed once.

    Examples
    --------
    >>> float(determinant(np.array([[2.0, 1.0], [0.0, 3.0]])))
    6.0
    """
    return _minor(m, range(len(m)), range(len(m)))


def adjugate(m: Array) -> Array:
    """The matrix (n, n) of cofactors, transposed: its product with the matrix is the determinant times the identity.

    Examples
    --------
    >>> adjugate(np.array([[2.0, 1.0], [5.0, 3.0]])).tolist()
    [[3.0, -1.0], [-5.0, 2.0]]
    """
    n = len(m)
    result = np.empty((n, n), dtype=m.dtype)
    for i in range(n):
        for j in range(n):
            rows, columns = ([k for k in range(n) if k != gone] for gone in (j, i))
            minor = _minor(m, rows, columns)
            result[i, j] = minor if (i + j) % 2 == 0 else -minor
    return result


def _minor(m: Array, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The determinant of some rows and columns: the minors of the last rows in all sets of columns, a row more at a time."""
    results: dict[tuple[int, ...], Any] = {(): 1}
    for count, row in enumerate(reversed(rows), 1):
        results = {chosen: _expanded(m[row], chosen, results) for chosen in combinations(columns, count)}
    return results[tuple(columns)]


def _expanded(row: Array, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Any]) -> Any:
    terms = []
    for place, column in enumerate(chosen):
        term = row[column] * smaller[chosen[:place] + chosen[place + 1 :]]
        terms.append(-term if place % 2 else term)
    return reduce(add, terms)


#: Number of sweeps, by the number of rows. Two rows need one rotation, and a second one against rounding.
SWEEPS = (0, 0, 2, 5, 5, 6, 6)


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


@dataclass(frozen=True)
class Factor:
    """M = L' D L: the strict lower triangle of the unit L (n, n), and 1/D (n,)."""

    lower: Array
    inverse_pivots: tuple[Any, ...]

    def half_solve(self, right: Array) -> Array:
        """Y (n,) with L' y = right (n,)."""
        y = np.array(right, dtype=np.result_type(right, self.lower))
        for k in reversed(range(len(y))):
            for i in range(k):
                y[i] = y[i] - self.lower[k, i] * y[k]
        return np.asarray(y)

    def solve(self, right: Array) -> Array:
        """X (n,) with M x = right (n,)."""
        return self.other_half_solve(self.half_solve(right))

    def other_half_solve(self, right: Array) -> Array:
        """X (n,) with D L x = right (n,)."""
        x = np.asarray(right) * np.array(self.inverse_pivots)
        for k in range(len(x)):
            for i in range(k):
                x[k] = x[k] - self.lower[k, i] * x[i]
        return np.asarray(x)

    def inverse(self) -> Array:
        """The inverse (n, n) of M; its lower triangle is computed, the upper one is the same."""
        n = len(self.inverse_pivots)
        result = np.empty((n, n), dtype=object)
        for j in range(n):
            result[:, j] = self.solve(np.eye(n)[j])
        for i in range(n):
            result[i, i + 1 :] = result[i + 1 :, i]
        return result


def factor(matrix: Array) -> Factor:
    """Factorise a symmetric positive definite matrix (n, n), or many (n, n, ...), from the last row to the first."""
    left = np.array(matrix)
    n = len(left)
    lower = np.zeros_like(left)
    inverse_pivots: list[Any] = [1.0] * n
    for k in reversed(range(n)):
        inverse_pivots[k] = 1.0 / left[k, k]
        for i in range(k):
            lower[k, i] = left[k, i] * inverse_pivots[k]
        for i in range(k):
            for j in range(i + 1):
                left[i, j] = left[i, j] - lower[k, i] * left[k, j]
    return Factor(lower, tuple(inverse_pivots))


#: Relative threshold of zero singular values of the Jacobian.
RANK = 1e-9


def least_squares_step(
    rates: FloatArray, errors: FloatArray, rank: float = RANK
) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """The shortest of the steps (k, n) with the least |rates dq - errors|, and where the rates (k, m, n) lack rank."""
    u, s, vt = np.linalg.svd(rates, full_matrices=False)
    kept = s > rank * s[:, :1]
    along = np.sum(u * errors[:, :, None], axis=1)
    scaled = np.divide(along, s, out=np.zeros_like(s), where=kept)
    return np.asarray(np.sum(vt * scaled[:, :, None], axis=1)), np.asarray(~kept.all(axis=-1))


def product(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """The products (..., m) of matrices (..., m, n) and vectors (..., n) of numbers: a batch has the bits of a loop.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [3.0, 7.0]
    """
    side_by_side = np.ascontiguousarray(vectors)  # (with strides BLAS may add up in another order)
    return np.asarray((matrices @ side_by_side[..., None])[..., 0])


#: A column this close to the best one counts as equal: the first of them is taken, independent of rounding.
_EVEN = 0.8


def rank_of(values: npt.NDArray[np.floating[Any]]) -> int:
    """Number of singular values (k,), greatest first, that are not zero."""
    return int((values > RANK * values[0]).sum()) if values.size and values[0] > 0.0 else 0


def independent_columns(matrices: FloatArray, rank: int, weights: FloatArray | None = None) -> tuple[int, ...]:
    """The columns, `rank` of them or fewer, that are as independent as can be at the worst of several positions.

    Gram and Schmidt's way with pivots: each time the column that is longest, at the position where it is shortest, once the
    parts along those chosen before are taken off (P. Businger, G. H. Golub, 1965, for one matrix).

    Parameters
    ----------
    matrices : ndarray (S, m, n)
        One for each position.
    rank : int
        How many to choose.
    weights : ndarray (n,), optional
        What columns are worth.
    """
    left = np.array(matrices, dtype=np.float64)
    worth = np.ones(left.shape[-1]) if weights is None else weights
    results: list[int] = []
    scale = float(np.linalg.norm(left, axis=1).max(initial=0.0))
    for _ in range(rank):
        length = np.linalg.norm(left, axis=1)
        score = np.where(length.min(axis=0) > RANK * scale, length.min(axis=0) * worth, 0.0)
        score[results] = 0.0
        if not score.max(initial=0.0) > 0.0:
            break
        best = int(np.flatnonzero(score >= _EVEN * score.max())[0])
        results.append(best)
        direction = left[..., best] / length[:, best, None]
        for _ in range(2):  # once more for the rounding
            left -= direction[..., None] * np.einsum("sm,smn->sn", direction, left)[:, None, :]
    return tuple(sorted(results))


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
        zero_rows = [row for row in rows if is_zero(row[column])]
        pivot, remaining, swaps = _eliminated(holding, column)
        sign = sign * swaps * pivot[column]
        order.append((column, pivot))
        # (the remaining rows keep their places, so that the sign of the determinant can be followed)
        result = iter(remaining)
        rows = [row if any(row is other for other in zero_rows) else next(result) for row in rows if row is not holding[0]]
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
