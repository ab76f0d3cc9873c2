"""Copies of matrices and of parts of them (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import Row
from linkwise.spacelib.function import exported, spacelib
from linkwise.spacelib.kinds import LINE_OF, common_batch, read, read_arrays, read_matrix, whole
from linkwise.spatial.scalar import Array


@spacelib("3.9", "copy", "A.copy()", c="mcopy mcopy3 mcopy4", maple="")
def mcopy(A1: Any) -> Array:
    """A copy, as an array of its own (manual, section 3.9).

    Parameters
    ----------
    A1 : (...) array_like
        Matrix, vector, or whatever array.

    Returns
    -------
    ndarray (...)

    Examples
    --------
    >>> A = np.eye(2)
    >>> B = mcopy(A)
    >>> B[0, 0] = 5.0
    >>> float(A[0, 0])
    1.0
    """
    (array,) = read_arrays("mcopy", "an array of numbers", A1=A1)
    return np.array(array)


@spacelib("3.9", "copy of the upper left part", "A[:im, :jm].copy()", maple="")
def mmcopy(A: Any, im: int, jm: int) -> Array:
    """A copy of the upper left part of a matrix (manual, section 3.9).

    Parameters
    ----------
    A : (..., m, n) array_like
    im, jm : int
        Rows and columns of the part.

    Returns
    -------
    ndarray (..., im, jm)

    Raises
    ------
    ArgumentError
        Where A is smaller than the part.

    Examples
    --------
    >>> mmcopy([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 2, 1).tolist()
    [[1.0], [4.0]]
    """
    a = read_matrix("mmcopy: A", A)
    rows, columns = a.shape[-2:]
    return np.array(a[..., : whole("mmcopy: im", im, most=rows), : whole("mmcopy: jm", jm, most=columns)])


@spacelib("3.9", "copy of a row or column", "A[:, val].copy()", maple="", note="Named in the manual without a description.")
def mvcopy(A: Any, rows: int, cols: int, val: int, type: int) -> Array:  # noqa: A002
    """A copy of a row or a column of a matrix as a vector.

    The manual names this function (section 3.9) and does not describe it; the order of the arguments is that of the release
    of 2009.

    Parameters
    ----------
    A : (..., rows, cols) array_like
    rows, cols : int
        Rows and columns of A.
    val : int
        Which row or column, counted from 1.
    type : int
        `Row` or `Col`.

    Returns
    -------
    ndarray (..., cols) or (..., rows)

    Raises
    ------
    ArgumentError
        Where A is of another size, or has no such row or column.

    Examples
    --------
    >>> mvcopy([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], 2, 3, 3, Col).tolist()
    [3.0, 6.0]
    """
    (a,) = read_arrays("mvcopy", "a matrix (..., m, n)", A=A)
    sizes = _sizes("mvcopy", a, rows, cols)
    line = read(LINE_OF, "mvcopy: type", type)
    place = whole("mvcopy: val", val, most=sizes[line]) - 1
    return np.array(a[..., place, :] if line == Row else a[..., :, place])


@spacelib(
    "3.9",
    "vector put into a row or column",
    "A[:dim, val] = v[:dim]",
    maple="",
    note="Only used in a program of the manual. Gives the matrix and leaves A as it was.",
)
def vmcopy(v: Any, dim: int, val: int, type: int, A: Any, rows: int, cols: int) -> Array:  # noqa: A002
    """A copy of a matrix with a vector written into one of its rows or columns, from its start on.

    The manual does not describe this function. Its program ELB_I_DH (section 7.6) calls ``vmcopy(O, 3, 4, Col, M, 4, 4)`` to
    put a point into the fourth column of a position matrix; so val counts from 1, unlike the axes `X` to `U`.

    Parameters
    ----------
    v : (..., k) array_like
        Vector, of dim entries or more.
    dim : int
        How many of its entries are written.
    val : int
        Which row or column, counted from 1.
    type : int
        `Row` or `Col`.
    A : (..., rows, cols) array_like
        Left as it is.
    rows, cols : int
        Rows and columns of A.

    Returns
    -------
    ndarray (..., rows, cols)

    Raises
    ------
    ArgumentError
        Where A is of another size or has no such row or column, or dim entries do not fit.

    Examples
    --------
    >>> vmcopy([7.0, 8.0, 9.0], 2, 2, Row, np.zeros((2, 3)), 2, 3).tolist()
    [[0.0, 0.0, 0.0], [7.0, 8.0, 0.0]]
    """
    vector, a = read_arrays("vmcopy", "an array of numbers", v=v, A=A)
    sizes = _sizes("vmcopy", a, rows, cols)
    line = read(LINE_OF, "vmcopy: type", type)
    place = whole("vmcopy: val", val, most=sizes[line]) - 1
    if vector.ndim >= 2 and vector.shape[-1] == 1:
        vector = vector[..., 0]
    if vector.ndim == 0:
        raise ArgumentError(f"vmcopy: v is {vector[()]}; expected a vector (..., k)")
    count = whole("vmcopy: dim", dim, most=min(vector.shape[-1], sizes[1 - line]))
    batch = common_batch("vmcopy", v=vector.shape[:-1], A=a.shape[:-2])
    result = np.array(np.broadcast_to(a, (*batch, *a.shape[-2:])))
    part = result[..., place, :] if line == Row else result[..., :, place]
    part[..., :count] = vector[..., :count]
    return result


def _sizes(name: str, a: Array, rows: int, cols: int) -> tuple[int, int]:
    """The rows and columns of a matrix, which must be those told."""
    sizes = (whole(f"{name}: rows", rows), whole(f"{name}: cols", cols))
    if a.ndim < 2 or a.shape[-2:] != sizes:
        raise ArgumentError(f"{name}: A is of shape {a.shape}; expected (..., {sizes[0]}, {sizes[1]}), as rows and cols say")
    return sizes


__all__ = exported(__name__)  # noqa: PLE0605
