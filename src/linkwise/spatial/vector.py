"""Vectors (k,) of scalars: scalar product, length, unit vector, one or the other."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import Any

from linkwise.spatial.scalar import Array, array, root, select

_TOO_SMALL, _TOO_LARGE = 1e-280, 1e280
"""Outside of these the square of a length has lost digits, or may be infinite."""

_UP, _DOWN = 2.0**600, 2.0**-600
"""Powers of two that bring any such vector between them: nothing is rounded by them."""


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


def tamed(v: Array) -> Array:
    """The vector, times a power of two where its length is not between 1e-140 and 1e140, which brings it there.

    Zero stays zero; of components that are smaller than the longest by more than 1e300 digits are lost.
    """
    return _scaled(v)[0]


def chosen(c: Any, x: Array, y: Array) -> Array:
    """`select` for arrays of one shape: the elements of x where the scalar c is above zero, else those of y."""
    return array([select(c, p, q) for p, q in zip(x.ravel(), y.ravel(), strict=True)]).reshape(x.shape)


def _scaled(v: Array) -> tuple[Array, Any, Any]:
    """A multiple of a vector whose length neither overflows nor underflows, this length, and the factor."""
    square = inner(v, v)
    scale = select(square - _TOO_SMALL, select(_TOO_LARGE - square, 1.0, _DOWN), _UP)
    w = v * scale
    return w, root(inner(w, w)), scale
