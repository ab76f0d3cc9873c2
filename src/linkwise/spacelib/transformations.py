"""Matrix transformations (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.4).

The names of those to another frame tell the rules, letter by letter: m for M, a for A, i for the inverse, t for the
transposed. Equations 3.12 and 3.13 of the manual mix two of them up; the names hold.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.extras import sympy_module
from linkwise.spacelib import exact, inverses
from linkwise.spacelib.exact import is_position
from linkwise.spacelib.function import exported, function, refuse_unless, spacelib
from linkwise.spacelib.kinds import (
    BLOCK,
    MAT3,
    MATRIX,
    MATRIX_MK,
    MATRIX_NK,
    PART,
    POSITION,
    SCALAR,
    SQUARE,
    VECTOR,
    is_symbolic,
    no_room,
    read,
    shape_of,
    whole,
)
from linkwise.spacelib.position import NO_ROTATION, rotation_measure
from linkwise.spatial.matrix_method import skew_part, tensor_to_frame
from linkwise.spatial.rotation import SINGULAR, axial, nearest_rotation
from linkwise.spatial.rotation import skew as skew_matrix
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse
from linkwise.spatial.vector import inner

#: The spacing of float64 at 1.
_EPS = 2.0**-52

_NOT_POSITIVE = "the determinant of the 3x3 block is not above zero by more than rounding; a rotation has 1"


def _iteration(name: str) -> Callable[..., Any]:
    """The nearest rotation of blocks (..., 3, 3), for the function of that name."""

    def body(R: MAT3) -> tuple[Array, Any]:
        rotation, measure = nearest_rotation(R)
        return rotation, measure - SINGULAR

    def on_symbols(R: Any) -> tuple[Array, Any]:
        if not any(isinstance(item, Expr) for item in np.ravel(R)):
            raise ArgumentError(f"{name}: SymPy symbols are not taken; the matrix is found by an iteration on numbers")
        return body(R)

    return function(name=name, refuse=(_NOT_POSITIVE,), symbolic=on_symbols)(body)


_normal, _normal3 = _iteration("normal"), _iteration("normal3")


@spacelib("3.4", "the 3x3 block made orthogonal", "Rotation.from_matrix(R).as_matrix()", c="normal normal4", maple="normalR")
@function(direct=True)
def normal(A: MATRIX) -> Array:
    """The nearest rotation in place of the 3x3 block of a matrix; the rest stays (manual, section 3.4.1).

    The limit of eq. 3.7, which is the orthogonal polar factor, by a fixed number of steps that reach it to rounding.

    Parameters
    ----------
    A : (..., 3, 3) array_like
        A rotation matrix, or a position matrix, with errors. No SymPy symbols: this is an iteration on numbers.

    Returns
    -------
    ndarray
        Of the shape of A.

    Raises
    ------
    ArgumentError
        Where the determinant of the block is not above zero: no rotation is near. (Eq. 3.7 with its cube root would make a
        rotation of a reflection.)

    Examples
    --------
    >>> m = rotat24(Z, 0.1, [1.0, 2.0, 3.0])
    >>> bool(abs(normal(m * [1.01, 1.01, 1.01, 1.0]) - m).max() < 1e-15)
    True
    """
    if min(A.shape[-2:]) < 3:
        raise ArgumentError(f"normal: A is of shape {A.shape}; expected a matrix (..., 3, 3) or larger")
    result = A.copy()
    result[..., :3, :3] = _normal(A[..., :3, :3])
    return np.asarray(result)


@spacelib("3.4", "a 3x3 matrix made orthogonal", "Rotation.from_matrix(R).as_matrix()", maple="")
def normal3(R: Any) -> Array:
    """The rotation nearest to a 3x3 matrix: `normal` for that size (manual, section 3.4.1).

    Parameters
    ----------
    R : (..., 3, 3) array_like
        No SymPy symbols: this is an iteration on numbers.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        Where the determinant is not above zero.

    Examples
    --------
    >>> normal3([[1.1, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.9]]).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return np.asarray(_normal3(R))


@spacelib("3.4", "nearest orthogonal matrix", "scipy.linalg.polar(A)[0]")
@function(direct=True)
def normal_g(A: SQUARE) -> Array:
    """The orthogonal matrix most similar to a square one of any size: its polar factor (manual, section 3.4.1).

    From the singular value decomposition, to which eq. 3.7 leads. A determinant below zero stays below zero. (The cube root
    of the equation is for n = 3; with it the iteration may run away for larger n.)

    Parameters
    ----------
    A : (..., n, n) array_like
        Numbers only.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For a singular matrix: the least singular value is nothing but rounding.

    Examples
    --------
    >>> normal_g([[0.0, 2.0], [3.0, 0.0]]).round(9).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    if is_symbolic(A):
        raise ArgumentError("normal_g: symbols are not taken; the matrix is found from singular values of numbers")
    left, values, right = np.linalg.svd(A)
    refuse_unless("normal_g", np.asarray(values[..., -1] > A.shape[-1] * _EPS * values[..., 0]), "A is singular")
    return np.asarray(left @ right)


@spacelib("3.4", "symmetric or skew-symmetric part", "(A + A.T) / 2", c="norm_simm_skew")
@function(direct=True)
def normskew(A: SQUARE, sign: PART) -> Array:
    """The symmetric or the skew-symmetric part of a square matrix: (A + A')/2 or (A - A')/2 (manual, eqs. 3.8 and 3.9).

    Parameters
    ----------
    A : (..., n, n) array_like
        A matrix of either kind with errors.
    sign : int
        `SYMM_` or `SKEW_`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For another sign.

    Examples
    --------
    >>> normskew([[1, 2], [4, 3]], SKEW_).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    return np.asarray(A / 2 + sign * (A.swapaxes(-1, -2) / 2))


@spacelib("3.4", "inverse of a position matrix", "transform.inverse(m)")
@function(refuse=(NO_ROTATION,))
def invers(m: POSITION) -> Any:
    """Inverse of a position matrix: the block transposed, and the origin -R' T (manual, eq. 3.14).

    Only for position matrices. `mami` and the others of this section take any that has an inverse, as does `minvers`.

    Parameters
    ----------
    m : (..., 4, 4) array_like
        Position matrix.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the last row is not 0 0 0 1, or the 3x3 block far from a rotation.

    Examples
    --------
    >>> invers(traslat2(X, 2.0))[0].tolist()
    [1.0, 0.0, 0.0, -2.0]
    """
    return inverse(m), rotation_measure(m)


@spacelib("3.4", "M A M^-1: W, H, L, Q in another frame", "matrix_method.to_frame(A, M)", c="trasf_mami")
@function(direct=True)
def mami(A1: SQUARE, M: SQUARE) -> Array:
    """M A M^-1: a matrix Q, L, W or H of frame (s) in frame (r), with the position M of (s) in (r) (manual, eq. 3.10).

    Parameters
    ----------
    A1 : (..., n, n) array_like
        The matrix.
    M : (..., n, n) array_like
        Position matrix, or any other that has an inverse. A position matrix of symbols is known by its numbers at a few
        random places, and its inverse is then written as `invers` has it.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For matrices of different sizes, or where M is singular.

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.5, 0.9)
    >>> mami(W, traslat24(Z, 0.0, [0.4, 0.1, 0.0]))[:2, U].round(9).tolist()
    [0.15, -0.6]
    """
    return np.asarray(M @ A1 @ _inverse("mami", M))


@spacelib("3.4", "M^-1 A M: the inverse of mami", "matrix_method.to_frame(A, transform.inverse(M))", c="trasf_miam")
@function(direct=True)
def miam(A1: SQUARE, M: SQUARE) -> Array:
    """M^-1 A M: the inverse of `mami`, from frame (r) to frame (s) (manual, eq. 3.11).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        As for `mami`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        As `mami`.

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.5, 0.9)
    >>> m = rotat24(X, 0.3, [0.4, 0.1, 0.0])
    >>> bool(abs(miam(mami(W, m), m) - W).max() < 1e-15)
    True
    """
    return np.asarray(_inverse("miam", M) @ A1 @ M)


@spacelib(
    "3.4", "M^-1 A M^-t: the inverse of mamt", "matrix_method.tensor_to_frame(A, transform.inverse(M))", c="trasf_miamit"
)
@function(direct=True)
def miamit(A1: SQUARE, M: SQUARE) -> Array:
    """M^-1 A M^-t: the inverse of `mamt`, from frame (r) to frame (s) (manual, section 3.4.2).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        As for `mami`.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        As `mami`.

    Examples
    --------
    >>> J = jtoj(2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.5)
    >>> miamit(J, traslat2(Z, 0.5))[2].tolist()
    [0.0, 0.0, 0.5, 0.0]
    """
    return tensor_to_frame(A1, _inverse("miamit", M))


@spacelib(
    "3.4", "M A M^t: J, Gamma, Phi in another frame", "matrix_method.tensor_to_frame(A, M)", c="trasf_mamt trasf_mamt4"
)
@function(direct=True)
def mamt(A1: SQUARE, M: SQUARE) -> Array:
    """M A M': a matrix J, Gamma or Phi of frame (s) in frame (r), with the position M of (s) in (r) (manual, section 3.4.2).

    Parameters
    ----------
    A1, M : (..., n, n) array_like
        The matrix, and the position matrix or any other.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For matrices of different sizes.

    Examples
    --------
    >>> J = jtoj(2.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    >>> mamt(J, traslat2(Z, 0.5))[2].tolist()
    [0.0, 0.0, 1.0, 1.0]
    """
    return tensor_to_frame(A1, M)


def _inverse(name: str, m: Array) -> Array:
    """The inverse of matrices; an ArgumentError where one is singular."""
    if not is_symbolic(m):
        return inverses.inverse_of_position(name, m)
    return np.asarray(invers(m)) if is_position(m) else exact.inverse(name, m, "M")


#: Up to this size `tracljlt` is compiled, for each size; greater matrices are multiplied by NumPy.
TRACED = 6


def _to_degrees(r: Any) -> Any:
    return r * (180.0 / math.pi) if isinstance(r, Expr) else r * 180 / sympy_module().pi


def _to_radians(g: Any) -> Any:
    return g * (math.pi / 180.0) if isinstance(g, Expr) else g * sympy_module().pi / 180


@spacelib("3.4", "radians to degrees", "np.rad2deg(r)")
@function(direct=True, symbolic=_to_degrees)
def deg(r: SCALAR) -> Any:
    """Degrees from radians (manual, section 3.4.3).

    Parameters
    ----------
    r : (...) array_like
        Angle, rad.

    Returns
    -------
    ndarray (...)
        The angle in degrees.

    Examples
    --------
    >>> float(deg(PIG))
    180.0
    """
    return np.degrees(r)


@spacelib("3.4", "radians to degrees", "np.rad2deg(r)", c="", maple="", note="Obsolete name of deg.")
@function(direct=True, symbolic=_to_degrees)
def grad(r: SCALAR) -> Any:
    """Degrees from radians: the older name of `deg`, and not the unit gradian (manual, section 3.4.3).

    Parameters
    ----------
    r : (...) array_like
        Angle, rad.

    Returns
    -------
    ndarray (...)
        The angle in degrees.

    Examples
    --------
    >>> float(grad(PIG_2))
    90.0
    """
    return np.degrees(r)


@spacelib("3.4", "degrees to radians", "np.deg2rad(g)")
@function(direct=True, symbolic=_to_radians)
def rad(g: SCALAR) -> Any:
    """Radians from degrees (manual, section 3.4.3).

    Parameters
    ----------
    g : (...) array_like
        Angle, degrees.

    Returns
    -------
    ndarray (...)
        The angle, rad.

    Examples
    --------
    >>> bool(rad(180.0) == PIG)
    True
    """
    return np.radians(g)


@spacelib("3.4", "matrix of random numbers", "np.random.default_rng().uniform(low, high, (imax, jmax))")
def jrand(imax: int, jmax: int, min: float, max: float, rng: Any = None) -> FloatArray:  # noqa: A002
    """Matrix of random numbers, uniform from min up to, but without, max (manual, section 3.4.3).

    Parameters
    ----------
    imax, jmax : int
        Numbers of rows and columns.
    min, max : float
        The range. The manual gives them as whole numbers; any will do.
    rng : numpy.random.Generator or int, optional
        The source of random numbers, or a seed, for numbers that can be had again.

    Returns
    -------
    ndarray (imax, jmax)

    Raises
    ------
    ArgumentError
        For sizes that are no whole numbers above zero, or a range that is empty or not finite.

    Examples
    --------
    >>> m = jrand(2, 3, -1.0, 1.0, rng=1)
    >>> m.shape, bool((m >= -1.0).all() and (m < 1.0).all())
    ((2, 3), True)
    """
    shape = whole("jrand: imax", imax), whole("jrand: jmax", jmax)
    low, high = _number("min", min), _number("max", max)
    if not low < high or math.isinf(high - low):
        raise ArgumentError(f"jrand: the range is {low} to {high}; expected finite numbers, min < max")
    try:
        source = _source(os.getpid()) if rng is None else np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"jrand: rng is {shown(rng)}; expected a generator, or a whole number of 0 or more") from error
    try:
        numbers = source.uniform(low, high, shape)
    except (ValueError, MemoryError) as error:
        raise no_room("jrand", *shape) from error
    return np.asarray(np.minimum(numbers, np.nextafter(high, low)))


@cache
def _source(process: int) -> np.random.Generator:
    """Random generator of a process: different in each, created by the first call."""
    return np.random.default_rng()


def _number(field: str, value: Any) -> float:
    number = read(SCALAR, f"jrand: {field}", value)
    if number.ndim or is_symbolic(number):
        raise ArgumentError(f"jrand: {field} is {shown(value)}; expected a number")
    return float(number)


@spacelib("3.4", "vector of a skew-symmetric matrix", "rotation.axial(A[:3, :3])", c="mtov mtov3 mtov4", maple="Mtov")
def mtov(A: BLOCK) -> Array:
    """Vector of a skew-symmetric matrix: the inverse of `vtom` (manual, section 3.4.3).

    Parameters
    ----------
    A : (..., 3, 3) array_like
        The matrix, or a larger one that begins with it. Of one that is not skew, its skew part counts.

    Returns
    -------
    ndarray (..., 3)

    Examples
    --------
    >>> mtov([[0, -3, 2], [3, 0, -1], [-2, 1, 0]]).tolist()
    [1.0, 2.0, 3.0]
    """
    return axial(A)


@spacelib("3.4", "skew-symmetric matrix of a vector", "rotation.skew(v)", c="vtom vtom3 vtom4", maple="vtoM")
def vtom(v: VECTOR) -> Array:
    """Skew-symmetric matrix of a vector: its product with w is v x w (manual, section 3.4.3).

    Parameters
    ----------
    v : (..., 3) array_like
        The vector.

    Returns
    -------
    ndarray (..., 3, 3)

    Examples
    --------
    >>> vtom([1, 2, 3]).tolist()
    [[0.0, -3.0, 2.0], [3.0, 0.0, -1.0], [-2.0, 1.0, 0.0]]
    """
    return skew_matrix(v)


@spacelib("3.4", "A B - (A B)^t", "matrix_method.skew_part(A, B)", c="skew skew4")
@function(direct=True)
def skew(A: SQUARE, B: SQUARE) -> Array:
    """A B - (A B)', a skew-symmetric matrix (manual, section 3.4.3).

    With an inertia matrix B: the actions that give the acceleration A, the momentum of the velocity A.

    Parameters
    ----------
    A, B : (..., n, n) array_like
        Square matrices of one size.

    Returns
    -------
    ndarray (..., n, n)

    Raises
    ------
    ArgumentError
        For matrices of different sizes.

    Examples
    --------
    >>> skew([[1, 2], [3, 4]], [[0, 1], [1, 1]]).tolist()
    [[0.0, -1.0], [1.0, 0.0]]
    """
    return skew_part(A, B)


@spacelib("3.4", "trace of L1 J L2^t", "np.trace(L1 @ J @ L2.T)", c="trac_ljlt4", maple="trac_ljlt")
def tracljlt(L1: Any, J: Any, L2: Any) -> Any:
    """The trace of L1 J L2': with screw axis matrices, an element of the mass matrix (manual, section 3.4.3).

    Parameters
    ----------
    L1 : (..., m, n) array_like
    J : (..., n, k) array_like
    L2 : (..., m, k) array_like
        Two screw axis matrices (4, 4), and the inertia matrix (4, 4) between them, in one frame; or any matrices that this
        can be done with.

    Returns
    -------
    ndarray (...)

    Raises
    ------
    ArgumentError
        For matrices whose shapes do not go together.

    Examples
    --------
    >>> L = makel2(Rev, Z, 0.0, ORIGIN)
    >>> J = jtoj(2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0)
    >>> float(tracljlt(L, J, L))
    18.0
    """
    sizes = *shape_of(L1)[-2:], *shape_of(J)[-2:], *shape_of(L2)[-2:]
    return (_traced if max(sizes, default=0) <= TRACED else _multiplied)(L1, J, L2)


@function(name="tracljlt")
def _traced(L1: MATRIX, J: MATRIX_NK, L2: MATRIX_MK) -> Any:
    return inner((L1 @ J).ravel(), L2.ravel())


@function(name="tracljlt", direct=True)
def _multiplied(L1: MATRIX, J: MATRIX_NK, L2: MATRIX_MK) -> Any:
    return np.asarray((L1 @ J) * L2).sum(axis=(-2, -1))


__all__ = exported(__name__)  # noqa: PLE0605
