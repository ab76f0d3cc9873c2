"""What only the C or the Maple release of SpaceLib has.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, appendix A, names these and describes no arguments. In C they write
into an argument; here they give the result.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.arrays import read_arrays
from linkwise.spacelib.cardan_rates import cardompt
from linkwise.spacelib.constants import ORIGIN, SKEW_, SYMM_
from linkwise.spacelib.copying import mcopy, mmcopy
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import BLOCK, MAT3, MAT4, POINT, SCALAR, VECTOR, is_symbolic
from linkwise.spacelib.matrices import clearmat, idmat
from linkwise.spacelib.printing import printm
from linkwise.spacelib.transformations import normskew, vtom
from linkwise.spacelib.vectors import size_of
from linkwise.spatial.scalar import Array, FloatArray, root

Origin = ORIGIN
"""The origin of a frame, a point (4,)."""


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
    made: Array = vtom(cardompt(q, qp, qpp, i, j, k))
    return made


@function(v=VECTOR)
def vect3(v: Any) -> Array:
    """The first three entries of a vector or point.

    Examples
    --------
    >>> vect3([1.0, 2.0, 3.0, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.asarray(v)


def clear3() -> FloatArray:
    """The null matrix (3, 3)."""
    return clearmat(3, 3)


def clear4() -> FloatArray:
    """The null matrix (4, 4)."""
    return clearmat(4, 4)


def clearv3() -> FloatArray:
    """The null vector (3,)."""
    return np.zeros(3)


def idmat3() -> FloatArray:
    """The identity matrix (3, 3)."""
    return idmat(3)


def idmat4() -> FloatArray:
    """The identity matrix (4, 4)."""
    return idmat(4)


@function(A=MAT3, v=VECTOR)
def moltmv3(A: Any, v: Any) -> Array:
    """A matrix (..., 3, 3) times a vector (..., 3).

    Examples
    --------
    >>> moltmv3(np.diag([1.0, 2.0, 3.0]), [1.0, 1.0, 1.0]).tolist()
    [1.0, 2.0, 3.0]
    """
    return np.asarray(A @ v)


@function(A=MAT4, P=POINT)
def moltp(A: Any, P: Any) -> Array:
    """A matrix (..., 4, 4) times a point (..., 4).

    Examples
    --------
    >>> moltp(np.diag([1.0, 2.0, 3.0, 1.0]), [1.0, 1.0, 1.0]).tolist()
    [1.0, 2.0, 3.0, 1.0]
    """
    return np.asarray(A @ P)


@function(v=VECTOR, r=SCALAR)
def rmoltv(v: Any, r: Any) -> Array:
    """A vector (..., 3) times a number (...).

    Examples
    --------
    >>> rmoltv([1.0, 2.0, 3.0], 2.0).tolist()
    [2.0, 4.0, 6.0]
    """
    return np.asarray(v * r)


def vcopy(v: Any) -> Array:
    """A copy of a vector, as `mcopy` makes it."""
    return mcopy(v)


def pcopy(P: Any) -> Array:
    """A copy of a point, as `mcopy` makes it."""
    return mcopy(P)


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
    made = np.array(b)
    made[..., :3, :3] = a
    return made


def mcopy43(A: Any) -> Array:
    """A copy of the upper left (..., 3, 3) of a matrix, as `mmcopy` makes it."""
    return mmcopy(A, 3, 3)


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
        own = a.shape[-2:]
        if 0 in own:
            raise ArgumentError(f"norm: A is of shape {a.shape}; expected a matrix (..., m, n) or a vector, not empty")
        return size_of("norm", a.reshape(*a.shape[: a.ndim - len(own)], math.prod(own)))
    if a.ndim > 2:
        raise ArgumentError(f"norm: A has the shape {a.shape}; symbols are taken one matrix at a time, no batch")
    return root(sum(item * item for item in a.ravel()))


def n_simm(A: Any) -> Any:
    """The symmetric part of a square matrix: ``normskew(A, SYMM_)``."""
    return normskew(A, SYMM_)


def n_skew(A: Any) -> Any:
    """The skew-symmetric part of a square matrix: ``normskew(A, SKEW_)``."""
    return normskew(A, SKEW_)


def n_simm34(A: Any) -> Array:
    """A copy of a matrix (..., 4, 4) whose block (..., 3, 3) is made symmetric, the rest as it is.

    Examples
    --------
    >>> n_simm34([[0, 2, 0, 7], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])[0].tolist()
    [0.0, 1.0, 0.0, 7.0]
    """
    return _block_replaced("n_simm34", A, SYMM_)


def n_skew34(A: Any) -> Array:
    """A copy of a matrix (..., 4, 4) whose block (..., 3, 3) is made skew-symmetric, the rest as it is.

    Examples
    --------
    >>> n_skew34([[0, 2, 0, 7], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]])[0].tolist()
    [0.0, 1.0, 0.0, 7.0]
    """
    return _block_replaced("n_skew34", A, SKEW_)


def printmat(A: Any) -> None:
    """Write a matrix to the screen without a comment, see `printm`."""
    printm("", A)


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
    above, below = (np.asarray(SCALAR.read(f"fmod: {name}", value)) for name, value in (("x", x), ("y", y)))
    if is_symbolic(above) or is_symbolic(below):
        raise ArgumentError("fmod: a remainder is a number; expected numbers, not symbols")
    if (below == 0).any():
        raise ArgumentError("fmod: y is 0; expected another number")
    return np.fmod(above, below)


def zerom() -> float:
    """The step from 1 to the next number of double precision."""
    return math.ulp(1.0)


def fzerom() -> float:
    """The step from 1 to the next number of single precision."""
    return float(np.finfo(np.float32).eps)


def _block_replaced(name: str, A: Any, sign: int) -> Array:
    (a,) = read_arrays(name, "a matrix (..., 4, 4)", A=A)
    if a.ndim < 2 or a.shape[-2:] != (4, 4):
        raise ArgumentError(f"{name}: A is of shape {a.shape}; expected (..., 4, 4)")
    made = np.array(a)
    made[..., :3, :3] = normskew(BLOCK.read(name, a), sign)
    return made
