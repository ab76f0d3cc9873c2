"""Functions that only the C or the Maple release of SpaceLib has.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, appendix A, names these and describes no arguments. In C they write
into an argument; here they give the result.
"""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.cardan import cardompt
from linkwise.spacelib.constants import NOTOK, OK, ORIGIN, SKEW_, SYMM_
from linkwise.spacelib.exact import is_zero
from linkwise.spacelib.function import spacelib
from linkwise.spacelib.kinds import BLOCK, MAT3, MAT4, POINT, SCALAR, VECTOR, is_symbolic, read, read_arrays, read_matrix
from linkwise.spacelib.matrices import clearmat, idmat, mcopy, mmcopy
from linkwise.spacelib.printing import printm
from linkwise.spacelib.transformations import normskew, vtom
from linkwise.spacelib.vectors import size_of
from linkwise.spatial.linear import determinant
from linkwise.spatial.scalar import Array, FloatArray, root


@spacelib(
    "A.2",
    "whether a matrix is a rotation or a position matrix",
    "transform.is_rigid(A)",
    c="",
    maple="Mcheck Mcheck2",
    note="How the two differ is not described; here they are one.",
)
def Mcheck(A: Any, tolerance: float = 1e-6) -> Any:
    """Whether a matrix is a rotation matrix (3x3) or a position matrix (4x4).

    Its rotation must be orthogonal with determinant 1, and the last row of a position matrix 0 0 0 1. Of SymPy's symbols
    this must hold for all their values.

    Parameters
    ----------
    A : (..., 3, 3) or (..., 4, 4) array_like
    tolerance : float
        How far an element of R' R may be from the identity; numbers printed with four digits need about 1e-3.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For other shapes, and Linkwise expressions.

    Examples
    --------
    >>> Mcheck(np.eye(4)) == OK, Mcheck(np.diag([1.0, 1.0, -1.0])) == OK
    (True, False)
    """
    (a,) = read_arrays("Mcheck", "a matrix (..., 3, 3) or (..., 4, 4)", A=A)
    if a.ndim < 2 or a.shape[-2:] not in {(3, 3), (4, 4)}:
        raise ArgumentError(f"Mcheck: A is of shape {a.shape}; expected (..., 3, 3) or (..., 4, 4)")
    r, last = a[..., :3, :3], a[..., 3:, :]
    off = np.swapaxes(r, -1, -2) @ r - (np.eye(3) if not is_symbolic(a) else np.eye(3, dtype=int))
    if is_symbolic(a):
        row = last.ravel() - ([0, 0, 0, 1] if last.size else [])
        return _all_zero("Mcheck", np.concatenate([off.ravel(), row, [determinant(r) - 1]]))
    fine = (np.abs(off) <= _tolerance("Mcheck", tolerance)).all(axis=(-1, -2)) & (np.linalg.det(r) > 0)
    if a.shape[-1] == 4:
        fine &= (last[..., 0, :] == [0.0, 0.0, 0.0, 1.0]).all(axis=-1)
    return _code(fine)


@spacelib("A.2", "whether a matrix is zero", "not A.any()", c="")
def Miszero(A: Any, tolerance: float = 0.0) -> Any:
    """Whether a matrix is zero.

    Parameters
    ----------
    A : (..., m, n) array_like
        Numbers, or SymPy's symbols, of which every element must be zero for all their values.
    tolerance : float
        Up to which size an element counts as zero.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For a scalar or vector, a tolerance below zero, and Linkwise expressions.

    Examples
    --------
    >>> Miszero([[0.0, 0.0]]) == OK, Miszero([[0.0, 1e-9]]) == OK, Miszero([[0.0, 1e-9]], 1e-6) == OK
    (True, False, True)
    """
    a = read_matrix("Miszero: A", A)
    if is_symbolic(a):
        return _all_zero("Miszero", a.ravel())
    return _code((np.abs(a) <= _tolerance("Miszero", tolerance)).all(axis=(-1, -2)))


@spacelib("A.2", "whether a vector is zero", "not v.any()", c="")
def viszero(v: Any, tolerance: float = 0.0) -> Any:
    """Whether a vector is zero.

    Parameters
    ----------
    v : (..., n) array_like
        Numbers, or SymPy's symbols, of which every element must be zero for all their values.
    tolerance : float
        Up to which size an element counts as zero.

    Returns
    -------
    int, or ndarray (...) of int
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        For a scalar, a tolerance below zero, and Linkwise expressions.

    Examples
    --------
    >>> viszero([0.0, 0.0, 0.0]) == OK
    True
    """
    (a,) = read_arrays("viszero", "a vector (..., n)", v=v)
    if a.ndim == 0:
        raise ArgumentError(f"viszero: v is {shown(v)}; expected a vector (..., n)")
    if is_symbolic(a):
        return _all_zero("viszero", a.ravel())
    return _code((np.abs(a) <= _tolerance("viszero", tolerance)).all(axis=-1))


def _all_zero(name: str, items: Array) -> int:
    if any(isinstance(item, Expr) for item in items):
        raise ArgumentError(
            f"{name}: whether a Linkwise expression is always zero is not known; expected numbers or SymPy symbols"
        )
    return OK if all(is_zero(item) for item in items) else NOTOK


def _tolerance(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.floating, np.integer)) or not 0 <= value <= sys.float_info.max:
        raise ArgumentError(f"{name}: tolerance is {shown(value)}; expected a number of 0 or more")
    return float(value)


def _code(fine: Any) -> Any:
    return np.where(fine, OK, NOTOK) if np.ndim(fine) else (OK if fine else NOTOK)


#: The origin of a frame, a point (4,).
Origin = ORIGIN


@spacelib("A.3", "angular acceleration, a matrix", c="", maple="cardanto_OMEGAPTO")
def omegapto_matrix(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int) -> Array:
    """Angular acceleration of Cardan or Euler angles as a skew-symmetric matrix: Maple's cardanto_OMEGAPTO.

    Parameters
    ----------
    q, qp, qpp : (..., 3) array_like
        Angles (rad), their rates (rad/s) and the rates of these (rad/s2).
    i, j, k : int
        Axes of the three turns, see `cardompt`.

    Returns
    -------
    ndarray (..., 3, 3)

    Examples
    --------
    >>> omegapto_matrix([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 2.0], X, Y, Z)[0].tolist()
    [0.0, -2.0, 0.0]
    """
    matrix: Array = vtom(cardompt(q, qp, qpp, i, j, k))
    return matrix


@spacelib("A.3", "first three entries", "v[:3]", c="")
def vect3(v: VECTOR) -> Array:
    """The first three entries of a vector or point.

    Examples
    --------
    >>> vect3([1.0, 2.0, 3.0, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.asarray(v)


@spacelib("A.3", "null matrix (3, 3)", "np.zeros((3, 3))", maple="")
def clear3() -> FloatArray:
    """The null matrix (3, 3)."""
    return clearmat(3, 3)


@spacelib("A.3", "null matrix (4, 4)", "np.zeros((4, 4))", maple="")
def clear4() -> FloatArray:
    """The null matrix (4, 4)."""
    return clearmat(4, 4)


@spacelib("A.3", "null vector (3,)", "np.zeros(3)", maple="")
def clearv3() -> FloatArray:
    """The null vector (3,)."""
    return np.zeros(3)


@spacelib("A.3", "identity matrix (3, 3)", "np.eye(3)", maple="")
def idmat3() -> FloatArray:
    """The identity matrix (3, 3)."""
    return idmat(3)


@spacelib("A.3", "identity matrix (4, 4)", "np.eye(4)", maple="")
def idmat4() -> FloatArray:
    """The identity matrix (4, 4)."""
    return idmat(4)


@spacelib("A.3", "matrix (3, 3) times vector", "A @ v", maple="")
def moltmv3(A: MAT3, v: VECTOR) -> Array:
    """A matrix (..., 3, 3) times a vector (..., 3).

    Examples
    --------
    >>> moltmv3(np.diag([1.0, 2.0, 3.0]), [1.0, 1.0, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.asarray(A @ v)


@spacelib("A.3", "matrix (4, 4) times point", "A @ P", maple="")
def moltp(A: MAT4, P: POINT) -> Array:
    """A matrix (..., 4, 4) times a point (..., 4).

    Examples
    --------
    >>> moltp(np.diag([1.0, 2.0, 3.0, 1.0]), [1.0, 1.0, 1.0]).tolist()
    [1.0, 2.0, 3.0, 1.0]
    """
    return np.asarray(A @ P)


@spacelib("A.3", "vector times number", "r * v", maple="")
def rmoltv(v: VECTOR, r: SCALAR) -> Array:
    """A vector (..., 3) times a number (...).

    Examples
    --------
    >>> rmoltv([1.0, 2.0, 3.0], 2.0).tolist()
    [2.0, 4.0, 6.0]
    """
    return np.asarray(v * r)


@spacelib("A.3", "copy of a vector", "v.copy()", maple="")
def vcopy(v: Any) -> Array:
    """A copy of a vector, as `mcopy` makes it."""
    return mcopy(v)


@spacelib("A.3", "copy of a point", "P.copy()", maple="")
def pcopy(P: Any) -> Array:
    """A copy of a point, as `mcopy` makes it."""
    return mcopy(P)


@spacelib(
    "A.3",
    "matrix (3, 3) put into the upper left of a larger one",
    "B[:3, :3] = A",
    maple="",
    note="The digits are read as from, to; the manual does not describe it.",
)
def mcopy34(A: Any, B: Any) -> Array:
    """A copy of B with the matrix A (..., 3, 3) in its upper left.

    Parameters
    ----------
    A : (3, 3) array_like
    B : (..., 4, 4) array_like
        Left as it is.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For other shapes.

    Examples
    --------
    >>> mcopy34(np.zeros((3, 3)), np.eye(4)).trace()
    np.float64(1.0)
    """
    a, b = read_arrays("mcopy34", "a matrix", A=A, B=B)
    if a.shape != (3, 3) or b.ndim < 2 or b.shape[-2:] != (4, 4):
        raise ArgumentError(f"mcopy34: A is of shape {a.shape} and B of shape {b.shape}; expected (3, 3) and (..., 4, 4)")
    result = np.array(b)
    result[..., :3, :3] = a
    return result


@spacelib(
    "A.3",
    "upper left (3, 3) of a larger matrix",
    "A[:3, :3].copy()",
    maple="",
    note="The digits are read as from, to; the manual does not describe it.",
)
def mcopy43(A: Any) -> Array:
    """A copy of the upper left (..., 3, 3) of a matrix, as `mmcopy` makes it."""
    return mmcopy(A, 3, 3)


@spacelib(
    "A.3",
    "norm of a matrix",
    "np.linalg.norm(A)",
    c="norm norm3 norm4",
    maple="",
    note="Which norm is not described; here the square root of the sum of squares.",
)
def norm(A: Any) -> Any:
    """The norm of a matrix or vector: the square root of the sum of the squares of all elements.

    Parameters
    ----------
    A : (..., m, n) or (n,) array_like

    Returns
    -------
    ndarray (...)

    Raises
    ------
    ArgumentError
        For a matrix without elements.

    Examples
    --------
    >>> float(norm([[3.0, 0.0], [0.0, 4.0]]))
    5.0
    """
    (a,) = read_arrays("norm", "a matrix (..., m, n)", A=A)
    if not is_symbolic(a):
        axes = a.shape[-2:]
        if 0 in axes:
            raise ArgumentError(f"norm: A is of shape {a.shape}; expected a matrix (..., m, n) or a vector, not empty")
        return size_of("norm", a.reshape(*a.shape[: a.ndim - len(axes)], math.prod(axes)))
    if a.ndim > 2:
        raise ArgumentError(f"norm: A has the shape {a.shape}; symbols are taken one matrix at a time, no batch")
    return root(sum(item * item for item in a.ravel()))


@spacelib("A.3", "symmetric part", "(A + A.T) / 2", c="n_simm3 n_simm4", maple="")
def n_simm(A: Any) -> Any:
    """The symmetric part of a square matrix: ``normskew(A, SYMM_)``."""
    return normskew(A, SYMM_)


@spacelib("A.3", "skew-symmetric part", "(A - A.T) / 2", c="n_skew3 n_skew4", maple="")
def n_skew(A: Any) -> Any:
    """The skew-symmetric part of a square matrix: ``normskew(A, SKEW_)``."""
    return normskew(A, SKEW_)


@spacelib("A.3", "symmetric part of the 3x3 block", maple="")
def n_simm34(A: Any) -> Array:
    """A copy of a matrix (..., 4, 4) whose block (..., 3, 3) is made symmetric, the rest as it is.

    Examples
    --------
    >>> n_simm34([[0, 2, 0, 7], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])[0].tolist()
    [0.0, 1.0, 0.0, 7.0]
    """
    return _block_replaced("n_simm34", A, SYMM_)


@spacelib("A.3", "skew-symmetric part of the 3x3 block", maple="")
def n_skew34(A: Any) -> Array:
    """A copy of a matrix (..., 4, 4) whose block (..., 3, 3) is made skew-symmetric, the rest as it is.

    Examples
    --------
    >>> n_skew34([[0, 2, 0, 7], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])[0].tolist()
    [0.0, 1.0, 0.0, 7.0]
    """
    return _block_replaced("n_skew34", A, SKEW_)


@spacelib("A.3", "matrix to the screen", "print(A)", c="printmat iprintmat", maple="")
def printmat(A: Any) -> None:
    """Write a matrix to the screen without a comment, see `printm`."""
    printm("", A)


@spacelib("A.3", "remainder of x / y", "np.fmod(x, y)", maple="", note="That of the C language, with the sign of x.")
def fmod(x: Any, y: Any) -> Any:
    """The remainder of x / y with the sign of x, as the C language has it.

    Raises
    ------
    ArgumentError
        For y = 0.

    Examples
    --------
    >>> float(fmod(-7.5, 2.0))
    -1.5
    """
    above, below = (np.asarray(read(SCALAR, f"fmod: {name}", value)) for name, value in (("x", x), ("y", y)))
    if is_symbolic(above) or is_symbolic(below):
        raise ArgumentError("fmod: a remainder is a number; expected numbers, not symbols")
    if (below == 0).any():
        raise ArgumentError("fmod: y is 0; expected another number")
    return np.fmod(above, below)


@spacelib("A.3", "step of the numbers next to 1", "np.finfo(float).eps", c="zerom dzerom", maple="")
def zerom() -> float:
    """The step from 1 to the next number of double precision."""
    return math.ulp(1.0)


@spacelib("A.3", "step of the single precision numbers next to 1", "np.finfo(np.float32).eps", maple="")
def fzerom() -> float:
    """The step from 1 to the next number of single precision."""
    return float(np.finfo(np.float32).eps)


def _block_replaced(name: str, A: Any, sign: int) -> Array:
    (a,) = read_arrays(name, "a matrix (..., 4, 4)", A=A)
    if a.ndim < 2 or a.shape[-2:] != (4, 4):
        raise ArgumentError(f"{name}: A is of shape {a.shape}; expected (..., 4, 4)")
    result = np.array(a)
    result[..., :3, :3] = normskew(read(BLOCK, name, a), sign)
    return result
