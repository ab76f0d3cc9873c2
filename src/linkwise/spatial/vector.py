"""Vectors (k,) of scalars: scalar product, length, unit vector, one or the other."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, FloatArray, array, root, select

#: Outside of these the square of a length has lost digits, or may be infinite.
_TOO_SMALL, _TOO_LARGE = 1e-280, 1e280

_TRUE = np.True_  # the one object there is of it

#: Powers of two that bring any such vector between them: nothing is rounded by them.
_UP, _DOWN = 2.0**600, 2.0**-600


def inner(a: Array, b: Array) -> Any:
    """The scalar product of two vectors of one length."""
    return reduce(add, [x * y for x, y in zip(a, b, strict=True)])


def length(v: Array) -> Any:
    """The Euclidean length of a vector, to rounding however small or large its components are."""
    _, size, scale = _scaled(v)
    return size / scale


def unit(v: Array) -> tuple[Array, Any]:
    """The unit vector of a vector, and its length; of the zero vector, the zero vector.

    To rounding however small or large the components are; a vector along an axis gives exactly 1.
    """
    w, size, scale = _scaled(v)
    return w / select(size, size, 1.0), size / scale


def lengths(v: FloatArray) -> FloatArray:
    """The Euclidean lengths (...) of vectors (..., n) of numbers, to rounding however small or large their components are.

    Examples
    --------
    >>> lengths(np.array([[3.0, 4.0], [2.0**800, 0.0], [2.0**-800, 0.0], [0.0, 0.0]])).tolist() == [5, 2**800, 2**-800, 0]
    True
    """
    square = _sums(v, v)
    fine = (square > _TOO_SMALL) & (square < _TOO_LARGE)
    if fine is _TRUE or fine.all():
        return np.asarray(np.sqrt(square))
    odd = np.asarray(~fine)
    sizes = np.array(np.sqrt(square))
    w, power = _near_one(v[odd])
    with np.errstate(over="ignore"):
        sizes[odd] = np.ldexp(np.sqrt(_sums(w, w)), power)
    return sizes


def directions(v: FloatArray) -> FloatArray:
    """The unit vectors of vectors (..., n) of numbers, however small or large their components are; zero stays zero.

    Examples
    --------
    >>> directions(np.array([[3e-200, 4e-200], [1e200, 0.0], [0.0, 0.0]])).tolist()
    [[0.6, 0.8], [1.0, 0.0], [0.0, 0.0]]
    """
    w = _near_one(v)[0]
    size = np.sqrt(_sums(w, w))[..., np.newaxis]
    return np.asarray(w / np.where(size > 0.0, size, 1.0))


def scalar_products(a: FloatArray, b: FloatArray) -> FloatArray:
    """The scalar products (...) of vectors (..., n) of numbers, also where only single products are too large for a number.

    Examples
    --------
    >>> float(scalar_products(np.array([1e200, 1e200, 1.0]), np.array([1e200, -1e200, 2.0])))
    0.0
    """
    result = _sums(a, b)
    fine = np.isfinite(result)
    if fine is _TRUE or fine.all():
        return np.asarray(result)
    result, odd = np.asarray(result), np.asarray(~fine)
    (u, p), (v, q) = (_near_one(np.broadcast_to(vectors, (*result.shape, vectors.shape[-1]))[odd]) for vectors in (a, b))
    with np.errstate(over="ignore"):
        result[odd] = np.ldexp(_sums(u, v), p + q)
    return result


def _sums(a: FloatArray, b: FloatArray) -> Any:
    return np.einsum("...i,...i->...", np.ascontiguousarray(a), np.ascontiguousarray(b))


def _near_one(v: FloatArray) -> tuple[FloatArray, Any]:
    """Vectors of numbers divided by a power of two near their greatest component, and its exponent."""
    power = np.frexp(np.abs(v).max(axis=-1, initial=0.0))[1]
    return np.ldexp(v, -power[..., np.newaxis]), power


def tamed(v: Array) -> Array:
    """The vector, times a power of two where its length is not between 1e-140 and 1e140, which brings it there.

    Zero stays zero; of components that are smaller than the longest by more than 1e300 digits are lost.
    """
    return _scaled(v)[0]


def chosen(c: Any, x: Any, y: Any) -> Array:
    """`select` for arrays or scalars, which broadcast: the elements of x where those of c are above zero, else of y."""
    if isinstance(c, np.ndarray) and c.dtype == np.float64:
        return np.asarray(np.where(c > 0.0, x, y))
    return array(_select(c, x, y))


#: `select` for each element of arrays.
_select = np.frompyfunc(select, 3, 1)


def total(values: Array) -> Any:
    """The sum of scalars, or of rows of any shape, one after the other; of a batch it has the bits of each row alone."""
    return np.add.accumulate(values, axis=0)[-1] if len(values) else np.zeros(values.shape[1:])[()]


def column(values: FloatArray, like: Array) -> FloatArray:
    """Numbers (n,) with the number of dimensions of arrays (n, ...)."""
    return values.reshape(-1, *[1] * (np.ndim(like) - 1))


def _scaled(v: Array) -> tuple[Array, Any, Any]:
    """A multiple of a vector whose length neither overflows nor underflows, this length, and the factor."""
    square = inner(v, v)
    scale = select(square - _TOO_SMALL, select(_TOO_LARGE - square, 1.0, _DOWN), _UP)
    w = v * scale
    return w, root(inner(w, w)), scale
