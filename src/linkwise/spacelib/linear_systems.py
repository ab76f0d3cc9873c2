"""Linear systems and inverses of matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, chapter 4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spacelib import exact, inverses
from linkwise.spacelib.elimination import SMALL, compiled, reduce_batch
from linkwise.spacelib.function import exported, spacelib
from linkwise.spacelib.kinds import (
    common_batch,
    in_sympy,
    is_symbolic,
    matrix,
    one,
    read_arrays,
    read_matrix,
    whole,
    whole_number,
)
from linkwise.spatial.scalar import Array, FloatArray


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
    reduced[..., :n, : m + k], order, rank, arm = _reduced(h[..., :n, : m + k], m, main)
    if h.ndim == 2:
        return reduced, order.astype(int), int(rank), float(arm)
    return reduced, order.astype(int), rank.astype(int), arm


def _reduced(h: FloatArray, m: int, main: list[int]) -> tuple[Array, Array, Array, Array]:
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
