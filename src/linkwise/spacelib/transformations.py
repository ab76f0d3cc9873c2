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
from linkwise.spacelib.change_of_frame import check_same_size, invers, mami, mamt, miam, miamit
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import BLOCK, MAT4, SCALAR, SQUARE, VECTOR, is_symbolic
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
    for field, size in (("imax", imax), ("jmax", jmax)):
        if not isinstance(size, (int, np.integer)) or isinstance(size, bool) or size < 1:
            raise ArgumentError(f"jrand: {field} is {shown(size)}; expected a whole number above zero")
    low, high = _number("min", min), _number("max", max)
    if not low < high or math.isinf(high - low):
        raise ArgumentError(f"jrand: the range is {low} to {high}; expected finite numbers, min < max")
    source = _source(os.getpid()) if rng is None else np.random.default_rng(rng)
    made = source.uniform(low, high, (imax, jmax))
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


@function(L1=MAT4, J=MAT4, L2=MAT4)
def tracljlt(L1: Any, J: Any, L2: Any) -> Any:
    """The trace of L1 J L2': with screw axis matrices, an element of the mass matrix (manual, section 3.4.3).

    Parameters
    ----------
    L1, J, L2 : (..., 4, 4) array_like
        Two screw axis matrices, and the inertia matrix between them, in one frame.

    Returns
    -------
    ndarray (...)

    Examples
    --------
    >>> L = makel2(Rev, Z, 0.0, ORIGIN)
    >>> J = jtoj(2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0)
    >>> float(tracljlt(L, J, L))
    18.0
    """
    return inner((L1 @ J).ravel(), L2.ravel())
