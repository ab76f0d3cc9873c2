"""Linear systems and inverses of matrices, by Gauss-Jordan elimination with full pivoting.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, chapter 4.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel, trace
from linkwise.spacelib import exact, inverses
from linkwise.spacelib.function import exported, spacelib
from linkwise.spacelib.kinds import (
    in_sympy,
    is_symbolic,
    matrix,
    one,
    read_arrays,
    read_matrix,
    whole,
    whole_number,
)
from linkwise.spatial.scalar import Array, FloatArray, greatest, select
from linkwise.spatial.validation import common_batch

IntArray = npt.NDArray[np.int64]

#: Threshold of zero, times the greater dimension of A, and the largest number that occurred.
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
    """Divide the row of the pivot by it, and eliminate it from all others, where the elimination continues."""
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
    """Clear the remainder of A below the rank, and that of b which is only rounding."""
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
        """Row and column of the next pivot; (k, k) if there is none."""
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
        """Divide the row of the pivot by it, and eliminate it from all others, where the elimination continues."""
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
        """Clear the remainder of A below the rank, and that of b which is only rounding."""
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
    """Two rows, exchanged if ``here`` is positive."""
    pairs = list(zip(first, second, strict=True))
    return [select(here, b, a) for a, b in pairs], [select(here, a, b) for a, b in pairs]


@spacelib("4", "least squares solution and rank", "np.linalg.lstsq(A, b)[0]", c="solve", maple="solver")
def solve_l(A: Any, b: Any) -> tuple[Any, Any]:
    """Solution of A x = b by the pseudo-inverse, and the rank of A (manual, section 4.1).

    Of a system with too many equations the solution of least squares, of one with too few the shortest of all solutions, and
    where neither is unique the shortest of least squares. Singular values up to eps max(m, n) times the largest count as
    zero.

    Parameters
    ----------
    A : (..., m, n) array_like
        Coefficients.
    b : (m,), (..., m, k) or (..., m) array_like
        Right-hand side: a vector, or several as columns. For a batch of matrices also a batch of vectors.

    Returns
    -------
    x : ndarray (n,), (..., n, k) or (..., n)
        As b is.
    irank : int, or ndarray (...) of int
        On symbols the rank for almost all their values.

    Raises
    ------
    ArgumentError
        For shapes that do not go together, and Linkwise expressions that are not of full rank.

    Examples
    --------
    >>> x, irank = solve_l([[2.0, 0.0], [0.0, 4.0]], [1.0, 1.0])
    >>> x.round(12).tolist(), irank
    ([0.5, 0.25], 2)
    """
    a, right = read_arrays("solve_l", "an array of numbers", A=A, b=b)
    m = matrix("solve_l: A", a).shape[-2]
    is_vector = right.ndim == 1 or (right.ndim == a.ndim - 1 and right.shape[-1] == m)
    columns = right[..., np.newaxis] if is_vector else right
    if right.ndim == 0 or columns.shape[-2] != m:
        raise ArgumentError(
            f"solve_l: b is of shape {right.shape}; expected ({m},), or columns (..., {m}, k), for A has {m} rows"
        )
    if is_symbolic(a) or is_symbolic(right):
        one("solve_l", a, columns)
        inverse, rank = exact.pseudo_inverse("solve_l", a)
        x = inverse @ columns
        return (x[:, 0] if is_vector else x), rank
    common_batch("solve_l", A=a.shape[:-2], b=columns.shape[:-2])
    pseudo_inverse, ranks = inverses.pseudo_inverse(a)
    x = pseudo_inverse @ columns
    return (x[..., 0] if is_vector else x), (int(ranks) if a.ndim == 2 else ranks)


@spacelib("4", "inverse of a matrix", "np.linalg.inv(A)")
def minvers(A: Any, dim: int | None = None) -> Any:
    """Inverse of a square matrix (manual, section 4.2).

    Parameters
    ----------
    A : (..., n, n) array_like
    dim : int, optional
        Only the upper left (dim, dim) is inverted.

    Returns
    -------
    ndarray (..., n, n) or (..., dim, dim)

    Raises
    ------
    ArgumentError
        For a matrix that is not square, or singular: with numbers, where the relative condition number of R. D. Skeel
        (J. ACM 26(3), 1979) reaches 1 / (10 n eps), so that no digit is certain.

    Examples
    --------
    >>> minvers([[2.0, 0.0], [0.0, 4.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    a = read_matrix("minvers: A", A, "a square matrix (..., n, n)")
    rows, columns = a.shape[-2:]
    if dim is not None:
        size = whole("minvers: dim", dim, most=min(rows, columns))
        a = a[..., :size, :size]
    elif rows != columns or not rows:
        raise ArgumentError(f"minvers: A is of shape {a.shape}; expected a square matrix (..., n, n)")
    if is_symbolic(a):
        one("minvers", a)
        return exact.inverse("minvers", a)
    return inverses.inverse("minvers", a)


@spacelib("4", "elimination with pivots of all rows and columns", c="linear")
def linears(
    H: Any,
    idim: int,
    jdim: int,
    imax: int,
    jmax: int,
    nsol: int,
    vpr: Any,
) -> tuple[Any, Any, Any, Any]:
    """Reduce linear systems A x = b of any shape and rank, by elimination with the pivot sought in rows and columns.

    The manual's section 4.3. H holds A, of imax rows and jmax columns, and right of it the vectors b. The result holds an
    equivalent system: an identity matrix as large as the rank, right of it the coefficients of the variables that are free,
    zeros below, and the vectors b changed with them. Columns are exchanged on the way: ivet says which variable each belongs
    to. With the free variables at zero, the element i of a solution is the variable ``ivet[i]``. Where b is not zero in a
    row of zeros, there is no solution.

    The pivot is the largest element, the first row by row of equals. The elimination ends where all are at most 10 eps
    max(imax, jmax) times the largest met in A; what then is left of A is set to zero, and so are elements of b in these rows
    where they are at most that part of the largest number met in their column. On SymPy's symbols the first element that
    is not identically zero is the pivot, and the result holds for almost all their values.

    Parameters
    ----------
    H : (..., idim, jdim) array_like
        A and the vectors b in the upper left.
    idim, jdim : int
        Rows and columns that H has. (The manual's text exchanges these and the next; its program and figure 4.1 do not.)
    imax, jmax : int
        Rows and columns of A.
    nsol : int
        How many vectors b there are.
    vpr : int or sequence of int
        Variables, from 0, that are to be main variables, ended by -1: pivots are sought among them until they are used up,
        then among all others. -1 alone for none.

    Returns
    -------
    H : ndarray (..., idim, jdim)
        The reduced system; what lies outside A and b is as it was.
    ivet : ndarray (..., jmax) of int
        The variable, from 0, of each column of A.
    irank : int, or ndarray (...) of int
        Rank of A.
    arm : scalar or ndarray (...)
        Size of the largest element found in the last search for a pivot: of the last pivot where the rank is full, else 0 or
        rounding.

    Raises
    ------
    ArgumentError
        For sizes that H does not have, variables that there are not, a list without -1, and Linkwise expressions.

    Examples
    --------
    >>> H, ivet, irank, arm = linears([[1.0, 1.0, 3.0], [1.0, -1.0, 1.0]], 2, 3, 2, 2, 1, -1)
    >>> H.tolist(), ivet.tolist(), irank
    ([[1.0, 0.0, 2.0], [0.0, 1.0, 1.0]], [0, 1], 2)
    """
    (h,) = read_arrays("linears", "a matrix (..., idim, jdim)", H=H)
    shape = (whole("linears: idim", idim), whole("linears: jdim", jdim))
    if h.ndim < 2 or h.shape[-2:] != shape:
        raise ArgumentError(
            f"linears: H is of shape {h.shape}; expected (..., {shape[0]}, {shape[1]}), as idim and jdim say"
        )
    n = whole("linears: imax", imax, most=shape[0])
    m = whole("linears: jmax", jmax, most=shape[1])
    k = whole("linears: nsol", nsol, least=0, most=shape[1] - m)
    main = _main(vpr, m)
    reduced = h.copy()
    if is_symbolic(h):
        one("linears", h)
        if not in_sympy(h):
            raise ArgumentError(
                "linears: H holds Linkwise expressions, whose zeros are not known; expected numbers or SymPy symbols"
            )
        system = exact.reduce_exactly(h[:n, : m + k].tolist(), m, main)
        reduced[:n, : m + k] = system.rows
        return reduced, np.array(system.order), system.rank, system.arm
    reduced[..., :n, : m + k], order, rank, arm = _reduce_systems(h[..., :n, : m + k], m, main)
    if h.ndim == 2:
        return reduced, order.astype(int), int(rank), float(arm)
    return reduced, order.astype(int), rank.astype(int), arm


def _reduce_systems(h: FloatArray, m: int, main: list[int]) -> tuple[Array, Array, Array, Array]:
    """Reduce systems (..., n, m + k): small ones as compiled, others all together, column after column."""
    n, width = h.shape[-2:]
    if n * width <= SMALL:
        flags = ([float(j in main) for j in range(m)],) if main else ()
        with np.errstate(all="ignore"):
            reduced, *further = compiled(n, m, width - m, bool(main)).ufunc(h, *flags)
        return reduced + 0.0, *further  # no minus before zero
    batch = h.shape[:-2]
    reduced, order, rank, arm = reduce_batch(h.reshape(-1, n, width), m, main)
    return reduced.reshape(h.shape), order.reshape(*batch, m), rank.reshape(batch), arm.reshape(batch)


def _main(vpr: Any, m: int) -> list[int]:
    """The list of main variables up to its -1."""
    items = vpr if isinstance(vpr, (list, tuple)) else np.ravel(vpr).tolist()
    listed = [item for item in map(whole_number, items) if item is not None]
    chosen = listed[: listed.index(-1)] if -1 in listed else [-1]
    if len(listed) < len(items) or len(set(chosen)) < len(chosen) or not all(0 <= item < m for item in chosen):
        raise ArgumentError(f"linears: vpr is {shown(vpr)}; expected different variables from 0 to {m - 1}, then -1")
    return chosen


__all__ = exported(__name__)  # noqa: PLE0605
