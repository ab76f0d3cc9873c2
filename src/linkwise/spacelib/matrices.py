"""Sums, products and copies of matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 3.8 and 3.9)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib import exact, inverses
from linkwise.spacelib.constants import Row
from linkwise.spacelib.function import exported, spacelib
from linkwise.spacelib.kinds import (
    LINE_OF,
    is_symbolic,
    matrix,
    one,
    opened,
    read,
    read_arrays,
    read_matrix,
    room,
    whole,
)
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import batches_fit, common_batch

_MATRIX = "a matrix (..., m, n)"
_ANY = "an array of numbers"


@spacelib("3.8", "product of matrices", "A @ B", c="molt molt3 molt4", maple="")
def molt(A: Any, B: Any) -> Any:
    """Product of two matrices (manual, section 3.8.1).

    Parameters
    ----------
    A : (..., m, n) array_like
    B : (..., n, k) or (n,) array_like
        A matrix, or one vector.

    Returns
    -------
    ndarray (..., m, k) or (..., m)

    Raises
    ------
    ArgumentError
        Where A has not as many columns as B has rows.

    Examples
    --------
    >>> molt([[1.0, 2.0], [3.0, 4.0]], [[0.0], [1.0]]).tolist()
    [[2.0], [4.0]]
    """
    a, b = read_arrays("molt", _MATRIX, A=A, B=B)
    matrix("molt: A", a)
    if b.ndim == 0 or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0] or not batches_fit(a.shape[:-2], b.shape[:-2]):
        raise ArgumentError(f"molt: A is of shape {a.shape} and B of shape {b.shape}; expected (..., m, n) and (..., n, k)")
    return a @ b


@spacelib("3.8", "matrix times number", "r * A", c="rmolt rmolt3 rmolt4", maple="")
def rmolt(A: Any, r: Any) -> Any:
    """A matrix times a number (manual, section 3.8.1).

    Parameters
    ----------
    A : (..., m, n) or (n,) array_like
        Matrix, or one vector.
    r : (...) array_like
        Number; a batch of numbers goes with the batch of matrices.

    Returns
    -------
    ndarray (..., m, n) or (n,)

    Raises
    ------
    ArgumentError
        Where the batches do not fit.

    Examples
    --------
    >>> rmolt([[1.0, 2.0], [3.0, 4.0]], 2.0).tolist()
    [[2.0, 4.0], [6.0, 8.0]]
    """
    a, factor = read_arrays("rmolt", _ANY, A=A, r=r)
    axes = min(a.ndim, 2)
    common_batch("rmolt", A=a.shape[: a.ndim - axes], r=factor.shape)
    return opened(factor.reshape(factor.shape + (1,) * axes) * a)


@spacelib("3.8", "sum", "A + B", c="sum sum3 sum4 sumv", maple="", note="The manual's examples call it sum.")
def ssum(A: Any, B: Any) -> Any:
    """Sum of two matrices or vectors of one shape (manual, section 3.8.1).

    A matrix is added to each of a batch; a vector is never spread over a matrix.

    Parameters
    ----------
    A, B : (..., m, n) or (n,) array_like

    Returns
    -------
    ndarray (..., m, n) or (n,)

    Raises
    ------
    ArgumentError
        Where the shapes differ.

    Examples
    --------
    >>> ssum([1.0, 2.0], [3.0, 4.0]).tolist()
    [4.0, 6.0]
    """
    a, b = _alike("ssum", A, B)
    return opened(a + b)


@spacelib("3.8", "difference", "A - B", c="sub sub3 sub4 subv", maple="")
def sub(A: Any, B: Any) -> Any:
    """Difference A - B of two matrices or vectors of one shape (manual, section 3.8.1).

    Parameters
    ----------
    A, B : (..., m, n) or (n,) array_like

    Returns
    -------
    ndarray (..., m, n) or (n,)

    Raises
    ------
    ArgumentError
        Where the shapes differ.

    Examples
    --------
    >>> sub([1.0, 2.0], [3.0, 5.0]).tolist()
    [-2.0, -3.0]
    """
    a, b = _alike("sub", A, B)
    return opened(a - b)


@spacelib(
    "3.8",
    "A2^t A1 - A1^t A2",
    "A2.T @ A1 - A1.T @ A2",
    c="",
    maple="",
    note="Obsolete; equals crosstom for skew-symmetric matrices.",
)
def crossmto(A1: Any, A2: Any) -> Any:
    """The matrix A2' A1 - A1' A2, obsolete; for skew-symmetric matrices it equals `crosstom` (manual, section 3.8.2).

    Parameters
    ----------
    A1, A2 : (..., m, n) array_like

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        Where the shapes differ, or for vectors.

    Examples
    --------
    >>> crossmto([[0, 0, 0], [0, 0, -1], [0, 1, 0]], [[0, 0, 1], [0, 0, 0], [-1, 0, 0]]).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    a, b = _alike("crossmto", A1, A2)
    product = _transposed(matrix("crossmto: A2", b)) @ matrix("crossmto: A1", a)
    return product - _transposed(product)


@spacelib(
    "3.8",
    "cross product as a matrix",
    "rotation.skew(np.cross(a, b))",
    matlab="crosstom crossmtom",
    c="crossMtoM crossvtom",
    note="Vectors (C crossvtom) or skew-symmetric matrices (C crossMtoM); crossmtom is obsolete.",
)
def crosstom(A1: Any, A2: Any) -> Any:
    """Cross product of two vectors as a skew-symmetric matrix: A2 A1' - A1 A2' (manual, section 3.8.2).

    Two vectors give the matrix of their cross product. So do the skew-symmetric matrices of two vectors.

    Parameters
    ----------
    A1, A2 : (3,), (..., 3, 1) or (..., n, n) array_like
        Both vectors, of which a fourth entry is left out, or both square matrices. In a batch vectors are columns, for rows
        could not be distinguished from a matrix.

    Returns
    -------
    ndarray (..., 3, 3) or (..., n, n)

    Raises
    ------
    ArgumentError
        Where one is a vector and the other a matrix, or the shapes differ.

    Examples
    --------
    >>> crosstom([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]
    """
    a, b = (_as_column(value) for value in _alike("crosstom", A1, A2))
    if a.shape[-1] != 1 and a.shape[-1] != a.shape[-2]:
        raise ArgumentError(f"crosstom: A1 is of shape {a.shape}; expected (3,), (..., 3, 1) or a square matrix (..., n, n)")
    product = b @ _transposed(a)
    return product - _transposed(product)


@spacelib("3.8", "null matrix", "np.zeros((m, n))", c="clear", maple="clear nullM")
def clearmat(m: int, n: int) -> FloatArray:
    """A matrix of zeros (manual, section 3.8.2).

    Parameters
    ----------
    m, n : int
        Rows and columns.

    Returns
    -------
    ndarray (m, n)

    Raises
    ------
    ArgumentError
        For what is not a whole number of 1 or more.

    Examples
    --------
    >>> clearmat(1, 2).tolist()
    [[0.0, 0.0]]
    """
    return room("clearmat", whole("clearmat: m", m), whole("clearmat: n", n))


@spacelib("3.8", "identity matrix", "np.eye(n)", maple="idmat eye")
def idmat(id: int) -> FloatArray:  # noqa: A002
    """The identity matrix (manual, section 3.8.2).

    Parameters
    ----------
    id : int
        Rows, and columns.

    Returns
    -------
    ndarray (id, id)

    Raises
    ------
    ArgumentError
        For what is not a whole number of 1 or more.

    Examples
    --------
    >>> idmat(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    size = whole("idmat: id", id)
    identity = room("idmat", size, size)
    np.fill_diagonal(identity, 1.0)
    return identity


@spacelib("3.8", "transpose", "A.T", c="transp transp3 transp4", maple="")
def transp(A: Any) -> Any:
    """Transpose of a matrix, a new array (manual, section 3.8.2).

    Parameters
    ----------
    A : (..., m, n) array_like

    Returns
    -------
    ndarray (..., n, m)

    Raises
    ------
    ArgumentError
        For a vector (n,), which has no transpose; a row is (1, n), a column (n, 1).

    Examples
    --------
    >>> transp([[1.0, 2.0]]).tolist()
    [[1.0], [2.0]]
    """
    return _transposed(read_matrix("transp: A", A)).copy()


@spacelib("3.8", "pseudo-inverse", "np.linalg.pinv(A)", c="pseudo_inv")
def pseudinv(A: Any) -> Any:
    """Moore-Penrose inverse of a real matrix (manual, section 3.8.2).

    Singular values up to eps max(m, n) times the largest count as zero. On SymPy's symbols it is written by
    formula, for the rank that the matrix has for almost all their values; on Linkwise expressions only where that rank is
    full.

    Parameters
    ----------
    A : (..., m, n) array_like

    Returns
    -------
    ndarray (..., n, m)

    Raises
    ------
    ArgumentError
        For Linkwise expressions that are not of full rank.

    Examples
    --------
    >>> pseudinv([[2.0, 0.0, 0.0], [0.0, 4.0, 0.0]]).tolist()
    [[0.5, 0.0], [0.0, 0.25], [0.0, 0.0]]
    """
    a = read_matrix("pseudinv: A", A)
    if is_symbolic(a):
        one("pseudinv", a)
        return exact.pseudo_inverse("pseudinv", a)[0]
    return inverses.pseudo_inverse(a)[0]


def _transposed(value: Array) -> Array:
    return np.swapaxes(value, -1, -2)


def _as_column(value: Array) -> Array:
    """A vector (3,) or (4,), or a column (..., 4, 1), as a column (..., 3, 1); a matrix as it is."""
    if value.ndim == 1:
        value = value[:, np.newaxis]
    is_vector = value.shape[-1] == 1 and value.shape[-2] in (3, 4)
    return value[..., :3, :] if is_vector else value


def _alike(name: str, first: Any, second: Any) -> tuple[Array, Array]:
    """Two arrays of one shape, apart from their batches."""
    a, b = read_arrays(name, _ANY, A=first, B=second)
    axes = 2 if max(a.ndim, b.ndim) > 2 else max(a.ndim, b.ndim)
    same = min(a.ndim, b.ndim) >= axes and a.shape[a.ndim - axes :] == b.shape[b.ndim - axes :]
    if not same or not batches_fit(a.shape[: a.ndim - axes], b.shape[: b.ndim - axes]):
        raise ArgumentError(f"{name}: the shapes {a.shape} and {b.shape} differ")
    return a, b


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
    """The rows and columns of a matrix, which must be those stated."""
    sizes = (whole(f"{name}: rows", rows), whole(f"{name}: cols", cols))
    if a.ndim < 2 or a.shape[-2:] != sizes:
        raise ArgumentError(f"{name}: A is of shape {a.shape}; expected (..., {sizes[0]}, {sizes[1]}), as rows and cols say")
    return sizes


__all__ = exported(__name__)  # noqa: PLE0605
