"""Matrix transformations (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.4).

Here are those of section 3.4.3; the others stand in `linkwise.spacelib.normalization` and
`linkwise.spacelib.change_of_frame`, and can be had from here too.
"""

from __future__ import annotations

import math
import os
from functools import cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.arrays import no_room, whole
from linkwise.spacelib.change_of_frame import check_same_size, invers, mami, mamt, miam, miamit
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import BLOCK, MATRIX, SCALAR, SQUARE, VECTOR, is_symbolic, shape_of
from linkwise.spacelib.normalization import normal, normal3, normal_g, normskew
from linkwise.spatial.matrix_method import skew_part
from linkwise.spatial.rotation import axial
from linkwise.spatial.rotation import skew as skew_matrix
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.vector import inner
from linkwise.spatial.with_sympy import sympy_module

__all__ = [
    "deg",
    "grad",
    "invers",
    "jrand",
    "mami",
    "mamt",
    "miam",
    "miamit",
    "mtov",
    "normal",
    "normal3",
    "normal_g",
    "normskew",
    "rad",
    "skew",
    "tracljlt",
    "vtom",
]

TRACED = 6
"""Up to this size `tracljlt` is compiled, for each size; greater matrices are multiplied by NumPy."""


def _to_degrees(r: Any) -> Any:
    return r * (180.0 / math.pi) if isinstance(r, Expr) else r * 180 / sympy_module().pi


def _to_radians(g: Any) -> Any:
    return g * (math.pi / 180.0) if isinstance(g, Expr) else g * sympy_module().pi / 180


@function(direct=True, symbolic=_to_degrees, r=SCALAR)
def deg(r: Any) -> Any:
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


@function(direct=True, symbolic=_to_degrees, r=SCALAR)
def grad(r: Any) -> Any:
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


@function(direct=True, symbolic=_to_radians, g=SCALAR)
def rad(g: Any) -> Any:
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
        made = source.uniform(low, high, shape)
    except (ValueError, MemoryError) as error:
        raise no_room("jrand", *shape) from error
    return np.asarray(np.minimum(made, np.nextafter(high, low)))


@cache
def _source(process: int) -> np.random.Generator:
    """Where the random numbers of a process come from: no two draw the same, and only the first call pays for it."""
    return np.random.default_rng()


def _number(field: str, value: Any) -> float:
    found = SCALAR.read(f"jrand: {field}", value)
    if found.ndim or is_symbolic(found):
        raise ArgumentError(f"jrand: {field} is {shown(value)}; expected a number")
    return float(found)


@function(A=BLOCK)
def mtov(A: Any) -> Array:
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


@function(v=VECTOR)
def vtom(v: Any) -> Array:
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


@function(direct=True, A=SQUARE, B=SQUARE)
def skew(A: Any, B: Any) -> Array:
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
    check_same_size("skew", A=A, B=B)
    return skew_part(A, B)


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


def _trace(L1: Any, J: Any, L2: Any) -> Any:
    _check_trace(L1, J, L2)
    return inner((L1 @ J).ravel(), L2.ravel())


def _trace_at_once(L1: Any, J: Any, L2: Any) -> Any:
    _check_trace(L1, J, L2)
    return np.asarray((L1 @ J) * L2).sum(axis=(-2, -1))


def _check_trace(L1: Array, J: Array, L2: Array) -> None:
    (m, n), (rows, k) = L1.shape[-2:], J.shape[-2:]
    if rows != n or L2.shape[-2:] != (m, k) or 0 in (m, n, k):
        shapes = ", ".join(f"{name} {matrix.shape[-2:]}" for name, matrix in (("L1", L1), ("J", J), ("L2", L2)))
        raise ArgumentError(f"tracljlt: the shapes are {shapes}; expected (m, n), (n, k) and (m, k)")


_trace.__name__ = _trace_at_once.__name__ = tracljlt.__name__
_traced = function(L1=MATRIX, J=MATRIX, L2=MATRIX)(_trace)
_multiplied = function(direct=True, L1=MATRIX, J=MATRIX, L2=MATRIX)(_trace_at_once)
