"""Operations on vectors (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.8.3)."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import reduce
from math import isfinite
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.function import exported, function, refuse_unless, spacelib
from linkwise.spacelib.kinds import ROW, SCALAR, VECTOR, is_symbolic
from linkwise.spatial import rotation
from linkwise.spatial.scalar import Array, FloatArray, array, least, root, select
from linkwise.spatial.validation import batches_fit
from linkwise.spatial.vector import inner, lengths, scalar_products, unit

_TOO_LARGE = "the result is beyond the largest number, 1.8e308"

#: A power of two: no sum of three products of components that are made smaller by it overflows.
_DOWN = 2.0**-520


def _cross_of_symbols(a: Any, b: Any) -> tuple[Any, Any]:
    """Cross product of symbols, whose magnitude is unknown."""
    return rotation.cross(a, b), 1.0


def _inner_of_symbols(a: Any, b: Any) -> tuple[Any, Any]:
    """Inner product of symbols, whose magnitude is unknown."""
    return inner(a, b), 1.0


@spacelib("3.8", "cross product", "np.cross(a, b)", note="Obsolete in MATLAB, which has a cross of its own.")
@function(refuse=(_TOO_LARGE,), symbolic=_cross_of_symbols)
def cross(a: VECTOR, b: VECTOR) -> Any:
    """Cross product of two vectors, obsolete in MATLAB, which has its own (manual, section 3.8.3).

    Parameters
    ----------
    a, b : (..., 3) array_like
        Fourth entries are left out.

    Returns
    -------
    ndarray (..., 3)

    Examples
    --------
    >>> cross([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 1.0]
    """
    return _product(rotation.cross, _cross_sizes, a, b)


@spacelib("3.8", "scalar product of vectors (3,)", "a[:3] @ b[:3]", c="", maple="vdot3")
@function(refuse=(_TOO_LARGE,), symbolic=_inner_of_symbols)
def dot3(a: VECTOR, b: VECTOR) -> Any:
    """Scalar product of the first three entries of two vectors (manual, section 3.8.3).

    Parameters
    ----------
    a, b : (..., 3) array_like
        Fourth entries are left out.

    Returns
    -------
    ndarray (...)

    Examples
    --------
    >>> float(dot3([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    32.0
    """
    return _product(inner, inner, a, b)


@spacelib("3.8", "scalar product of vectors (3,)", "a @ b", maple="", note="Obsolete in MATLAB, where it is dot3.")
@function(refuse=(_TOO_LARGE,), symbolic=_inner_of_symbols)
def dot(a: VECTOR, b: VECTOR) -> Any:
    """Obsolete name of `dot3` (manual, section 3.8.3).

    Parameters
    ----------
    a, b : (..., 3) array_like
        Fourth entries are left out.

    Returns
    -------
    ndarray (...)

    Examples
    --------
    >>> float(dot([1.0, 2.0, 3.0], [4.0, 5.0, 6.0]))
    32.0
    """
    return _product(inner, inner, a, b)


@spacelib("3.8", "scalar product of vectors (n,)", "a @ b", maple="vdot")
@function(direct=True)
def dot2(a: ROW, b: ROW) -> Any:
    """Scalar product of two vectors of any length (manual, section 3.8.3).

    Parameters
    ----------
    a, b : (..., n) array_like
        All entries count: of points the fourth ones too.

    Returns
    -------
    ndarray (...)

    Raises
    ------
    ArgumentError
        Where the lengths differ, or the product is beyond the largest number.

    Examples
    --------
    >>> float(dot2([1.0, 2.0], [3.0, 4.0]))
    11.0
    """
    if is_symbolic(a) or is_symbolic(b):
        return inner(a, b)
    _fit("dot2", a[..., 0], b[..., 0])
    return _representable("dot2", scalar_products(a, b))


@spacelib("3.8", "length of a vector", "np.linalg.norm(a)", c="")
@function(direct=True)
def modulus(a: ROW) -> Any:
    """Length of a vector (manual, section 3.8.3).

    Parameters
    ----------
    a : (..., n) array_like
        All entries count: of a point the fourth one too.

    Returns
    -------
    ndarray (...)
        To rounding however long or short a is.

    Examples
    --------
    >>> float(modulus([3.0, 4.0]))
    5.0
    """
    return size_of("modulus", a)


@spacelib("3.8", "length of a vector", "np.linalg.norm(a)", maple="", note="Obsolete in MATLAB, where it is modulus.")
@function(direct=True)
def mod(a: ROW) -> Any:
    """Obsolete name of `modulus` (manual, section 3.8.3). It is no remainder.

    Parameters
    ----------
    a : (..., n) array_like
        All entries count: of a point the fourth one too.

    Returns
    -------
    ndarray (...)
        To rounding however long or short a is.

    Examples
    --------
    >>> float(mod([3.0, 4.0]))
    5.0
    """
    return size_of("mod", a)


@spacelib("3.8", "unit vector and length", "a / np.linalg.norm(a)")
def unitv(v: VECTOR) -> tuple[Array, Any]:
    """Unit vector and length of a vector (manual, section 3.8.3).

    Parameters
    ----------
    v : (..., 3) array_like
        A fourth entry is left out.

    Returns
    -------
    u : ndarray (..., 3)
        The zero vector where v is zero.
    t : ndarray (...)
        Length of v.

    Examples
    --------
    >>> u, t = unitv([0.0, 3.0, 4.0])
    >>> u.round(12).tolist(), float(t)
    ([0.0, 0.6, 0.8], 5.0)
    """
    return unit(v)


@spacelib("3.8", "vector of a direction and a length", "length * u")
@function(direct=True)
def vector(u: ROW, mod: SCALAR) -> Array:
    """The vector along a unit vector with a given length (manual, section 3.8.3).

    Parameters
    ----------
    u : (..., n) array_like
        Unit vector. It is not made of length one first, so mod is a factor.
    mod : (...) array_like
        Length.

    Returns
    -------
    ndarray (..., n)
        As many entries as u has.

    Examples
    --------
    >>> vector([0.0, 1.0, 0.0, 0.0], 2.5).tolist()
    [0.0, 2.5, 0.0, 0.0]
    """
    factor = np.asarray(mod)
    _fit("vector", u[..., 0], factor)
    return np.asarray(factor[..., np.newaxis] * u)


def size_of(name: str, a: Array) -> Any:
    """The length of vectors (..., n) of numbers, or of one of symbols."""
    if is_symbolic(a):
        return root(inner(a, a))
    return _representable(name, lengths(a))


def _product(product: Callable[..., Any], sizes: Callable[..., Any], a: Array, b: Array) -> tuple[Any, Any]:
    """A product of vectors, and a measure that is above zero where it is one of numbers.

    Where terms of a sum are too large it is computed from smaller vectors, and is zero where it is within the rounding of
    these terms. `sizes`, of magnitudes, adds up those of the terms.
    """
    plain = product(a, b)
    down = select(reduce(least, map(_finite, np.ravel(plain))), 1.0, _DOWN)
    u, v = a * down, b * down
    components = []
    for x, y, size in zip(np.ravel(plain), np.ravel(product(u, v)), np.ravel(sizes(abs(u), abs(v))), strict=True):
        beyond = abs(y) - 4.0 * sys.float_info.epsilon * size
        components.append(select(_finite(x), x, select(beyond, y / down / down, 0.0)))
    return array(components).reshape(np.shape(plain))[()], reduce(least, map(_finite, components))


def _cross_sizes(u: Array, v: Array) -> Array:
    return array([u[1] * v[2] + u[2] * v[1], u[2] * v[0] + u[0] * v[2], u[0] * v[1] + u[1] * v[0]])


def _finite(item: Any) -> Any:
    """Above zero where a number is finite."""
    return sys.float_info.max - abs(item) + 1.0


def _representable(name: str, values: FloatArray) -> Any:
    """Return numbers, or one, unless their magnitude is out of range."""
    if values.ndim or not isfinite(values):
        refuse_unless(name, np.isfinite(values), _TOO_LARGE)
    return values[()]


def _fit(name: str, a: Array, b: Array) -> None:
    if not batches_fit(a.shape, b.shape):
        raise ArgumentError(f"{name}: the batch shapes do not fit each other: {a.shape} and {b.shape}")


__all__ = exported(__name__)  # noqa: PLE0605
