"""Directions, lines and planes over scalars: common normals, feet, angles, and when two directions count as parallel.

A line is a point (3,) on it and a direction (3,) of any length; a plane is a normal n (3,) of any length and a number d,
with n . p + d = 0 for its points p. The formulas are plain vector algebra; that of `feet` is in R. Goldman, "Intersection of
two lines in three-space", in A. S. Glassner (ed.), *Graphics Gems*, 1990, and is here put so that the feet face each other
to rounding. Lengths must be within 1e-70 and 1e70, so that no product of four is zero or infinite.
"""

from __future__ import annotations

import sys
from functools import reduce
from typing import Any

import numpy as np

from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, atan2, least, root, select
from linkwise.spatial.vector import inner, length, tamed, unit

#: The sine of an angle up to which directions count as parallel; also the part of a distance that counts as none.
PARALLEL = 1e-9

#: Relative rounding error of coordinates: a dozen operations.
ROUNDING = 16 * sys.float_info.epsilon

#: A distance (m) that is none: rounding in coordinates of a metre, where all is near the origin and shows no length.
NO_GAP = ROUNDING

#: The lengths and coordinates for which the formulas hold.
SMALLEST, LARGEST = 1e-70, 1e70


def normal(a: Array, b: Array) -> Array:
    """The vector product (3,) of two vectors, at right angles to both to rounding, also where they are nearly parallel.

    There it is a x (b - k a), with the k that makes the second factor small: in a x b itself what remains would be rounding.
    """
    aa, bb, ab = inner(a, a), inner(b, b), inner(a, b)
    shift = select(0.75 * aa * bb - ab * ab, 0.0, over(ab, aa))
    return cross(a, b - shift * a)


def over(x: Any, size: Any) -> Any:
    """The quotient x / size; x itself where the size is not above zero."""
    return x / select(size, size, 1.0)


def angle_between(a: Array, b: Array) -> Any:
    """The angle of two vectors of any length, rad, in [0, pi]; zero where one is zero.

    Examples
    --------
    >>> [round(float(angle_between(np.array([x, 0, 0]), np.array([0, x, 0]))), 9) for x in (1e-200, 1.0)]
    [1.570796327, 1.570796327]
    """
    a, b = tamed(a), tamed(b)
    return atan2(length(cross(a, b)), inner(a, b))


def right_handed(first: Array, second: Array) -> tuple[Array, Array, Array]:
    """Unit vectors along the first of two vectors, at right angles to it on the side of the second, along their normal."""
    along, _ = unit(first)
    across, _ = unit(normal(first, second))
    return along, cross(across, along), across


def foot_on_line(point: Array, origin: Array, direction: Array) -> Array:
    """The point (3,) of a line that is nearest to a point."""
    parameter = over(inner(point - origin, direction), inner(direction, direction))
    return np.asarray(origin + parameter * direction)


def feet(p1: Array, d1: Array, p2: Array, d2: Array) -> tuple[Array, Array]:
    """The points (3,) of two lines that are nearest to each other: the feet of the common normal."""
    n = normal(d1, d2)
    second = p2 + over(inner(cross(p2 - p1, d1), n), inner(n, n)) * d2
    return foot_on_line(second, p1, d1), second


def common_line(n1: Array, k1: Any, n2: Array, k2: Any) -> tuple[Array, Array]:
    """The line of two planes (n, k): its point nearest to the origin, and its unit direction n1 x n2."""
    n = normal(n1, n2)
    start = -over(k1, inner(n1, n1))
    across = over(-(k2 + start * inner(n1, n2)), inner(n, n))
    direction, _ = unit(n)
    return start * n1 + across * cross(n, n1), direction


def spread(a: Array, b: Array, blur: Any = 0.0) -> Any:
    """Above zero where two vectors are not null and not parallel, each known up to a blur."""
    sizes = length(a), length(b)
    sine = length(normal(a, b)) - PARALLEL * (sizes[0] * sizes[1]) - blur * (sizes[0] + sizes[1])
    return least(sine, least(usable(a), usable(b)))


def usable(v: Array) -> Any:
    """Above zero where a vector is not null: its length is between 1e-70 and 1e70."""
    square = inner(v, v)
    return least(square - SMALLEST**2, LARGEST**2 - square)


def within(*vectors: Array) -> Any:
    """Above zero where the lengths of all vectors are below 1e70."""
    return reduce(least, [LARGEST**2 - inner(v, v) for v in vectors])


def blur_of(*points: Array) -> Any:
    """Error bound of a difference of points (3,) by the rounding of their coordinates."""
    squares = [inner(point, point) for point in points]
    return ROUNDING * sum((root(square) for square in squares[1:]), root(squares[0]))
