"""Lines (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.7.2).

A line is an array (4, 2): a point on it, that ends in 1, and a direction, that ends in 0, as columns. Directions made here
have unit length; those taken may have any, from 1e-70 to 1e70.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.extras import sympy_module
from linkwise.spacelib.exact import at_random, holds_symbols, undefined
from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import LINE, POINT, VECTOR, in_sympy, shape_of
from linkwise.spacelib.points import as_point
from linkwise.spatial.lines import (
    LARGEST,
    NO_GAP,
    PARALLEL,
    ROUNDING,
    blur_of,
    feet,
    foot_on_line,
    normal,
    over,
    usable,
    within,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, array, least, select
from linkwise.spatial.vector import chosen, inner, length, unit

OBLIQUE, CROSSING, PARALLEL_LINES, SAME = 1, 0, 2, -1
"""The relative positions of two lines, as `intersec` tells them."""

NO_LINE = "{} has no direction, or a coordinate beyond 1e70"


@spacelib("3.7", "line through two points")
@function(refuse=("P1 and P2 are more than 1e70 apart", "P1 and P2 coincide"))
def line2p(P1: POINT, P2: POINT) -> Any:
    """Line from one point towards another (manual, section 3.7.2).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.

    Returns
    -------
    ndarray (..., 4, 2)
        P1, and the unit vector from P1 to P2.

    Raises
    ------
    ArgumentError
        Where the points coincide within the rounding of their coordinates, 16 units in the last place, or are less than
        1e-70 or more than 1e70 apart.

    Examples
    --------
    >>> line2p([5, 1, 3, 1], [5, 4, 7, 1]).T.tolist()
    [[5.0, 1.0, 3.0, 1.0], [0.0, 0.6, 0.8, 0.0]]
    """
    apart = P2[:3] - P1[:3]
    direction, size = unit(apart)
    return as_line(P1[:3], direction), within(apart), least(size - blur_of(P1[:3], P2[:3]), usable(apart))


@spacelib("3.7", "line through a point along a vector", c="linepvect")
@function(refuse=("v is longer than 1e70", "v is null"))
def linpvect(P1: POINT, v: VECTOR) -> Any:
    """Line through a point along a vector (manual, section 3.7.2).

    Parameters
    ----------
    P1 : (..., 4) array_like
        The point, m.
    v : (..., 3) array_like
        The vector; its length does not matter.

    Returns
    -------
    ndarray (..., 4, 2)
        P1, and the unit vector along v.

    Raises
    ------
    ArgumentError
        Where v is null, its length not above 1e-70, or longer than 1e70.

    Examples
    --------
    >>> linpvect([1, 2, 3, 1], [0, 3, 4]).T.tolist()
    [[1.0, 2.0, 3.0, 1.0], [0.0, 0.6, 0.8, 0.0]]
    """
    return as_line(P1[:3], unit(v)[0]), within(v), usable(v)


@spacelib("3.7", "foot of a point on a line", "P + v * (v @ (P1 - P))")
def projponl(P1: Any, l: Any) -> Any:  # noqa: E741
    """Projection of a point on a line, and the distance from it (manual, section 3.7.2).

    The manual gives the order (P1, l), and its example 3.28 calls (l, P1): both are taken, told apart by their shapes.

    Parameters
    ----------
    P1 : (..., 4) array_like
        The point, m.
    l : (..., 4, 2) array_like
        The line; its direction may have any length.

    Returns
    -------
    I : ndarray (..., 4)
        The foot of the perpendicular, m.
    dist : float or ndarray (...)
        The distance, m; not negative.

    Raises
    ------
    ArgumentError
        Where the line's direction is null, or a number beyond 1e70.

    Examples
    --------
    >>> I, dist = projponl([5, 1, 3, 1], [[0, 2], [0, 0], [0, 0], [1, 0]])
    >>> I.tolist(), round(float(dist) ** 2, 12)
    ([5.0, 0.0, 0.0, 1.0], 10.0)
    """
    if shape_of(P1)[-2:] == (4, 2) and shape_of(l)[-2:] != (4, 2):
        P1, l = l, P1  # noqa: E741
    return _projponl(P1, l)


@spacelib(
    "3.7",
    "two lines: common normal, distance, kind",
    matlab="intersec intersect",
    c="intersection",
    note="intersec in the text, intersect in the appendix.",
)
def intersec(l1: Any, l2: Any) -> Any:
    """Intersection of two lines, and their common normal (manual, section 3.7.2).

    Lines count as parallel where the sine of their angle is up to 1e-9. Their distance counts as zero up to 1e-9 of the
    distance between their given points, plus 16 units in the last place of the coordinates, of the way from the given
    points to the feet of the common normal, and of a metre.

    Parameters
    ----------
    l1, l2 : (..., 4, 2) array_like
        The lines; their directions may have any length.

    Returns
    -------
    lmindist : ndarray (..., 4, 2)
        The line of least distance: through I along d1 x d2 for types 1 and 0; from the point of l1 at right angles
        towards l2 for type 2; NaN for type -1.
    mindist : float or ndarray (...)
        The least distance, m: not negative, and exactly zero for types 0 and -1.
    pl : ndarray (..., 4)
        The plane: unit normal and number d. It is parallel to both lines and goes through I for types 1 and 0, so that it
        contains both lines for type 0; it contains both for type 2. NaN for type -1.
    I : ndarray (..., 4)
        The intersection for type 0; the middle of the common normal for type 1; NaN for types 2 and -1.
    inttype : int or ndarray of int (...)
        1 for oblique lines, 0 for lines that cross, 2 for parallel lines, -1 for the same line.

    Raises
    ------
    ArgumentError
        Where a direction is null, or a coordinate beyond 1e70.

    Notes
    -----
    For SymPy symbols the type is what holds at random values of them, and the results are the formulas of that type. On
    Linkwise expressions every result is one of the whole function, with the type an expression too; where the table above
    says NaN the value has no meaning.

    Examples
    --------
    >>> lmindist, mindist, pl, I, inttype = intersec([[0, 1], [0, 0], [0, 0], [1, 0]], [[0, 0], [0, 3], [2, 0], [1, 0]])
    >>> float(mindist), pl.tolist(), I.tolist(), inttype
    (2.0, [0.0, 0.0, 1.0, -1.0], [0.0, 0.0, 1.0, 1.0], 1)
    """
    lmindist, mindist, pl, point, inttype = results = _intersec(l1, l2)
    if holds_symbols(results):
        return _of_symbols(l1, l2, results) if in_sympy(l1, l2) else results
    if isinstance(inttype, int) and inttype in (OBLIQUE, CROSSING):
        return results
    lmindist[inttype == SAME] = np.nan
    pl[inttype == SAME] = np.nan
    point[(inttype == SAME) | (inttype == PARALLEL_LINES)] = np.nan
    return lmindist, mindist, pl, point, inttype


@function(refuse=(NO_LINE.format("l"),))
def _projponl(P1: POINT, l: LINE) -> Any:  # noqa: E741
    """Foot of the perpendicular, and the distance."""
    foot = foot_on_line(P1[:3], l[:3, 0], l[:3, 1])
    return as_point(foot), length(P1[:3] - foot), usable_line(l)


@function(codes=(4,), refuse=(NO_LINE.format("l1"), NO_LINE.format("l2")))
def _intersec(l1: LINE, l2: LINE) -> Any:
    """The general case for every pair of lines, with the parallel ones where they are."""
    first, second = feet(l1[:3, 0], l1[:3, 1], l2[:3, 0], l2[:3, 1])
    middle = (first + second) / 2
    across = normal(l1[:3, 1], l2[:3, 1])
    gap = over(abs(inner(l2[:3, 0] - l1[:3, 0], across)), length(across))
    shortest, beside, containing = _side_by_side(l1, l2)

    oblique = length(across) - PARALLEL * (length(l1[:3, 1]) * length(l2[:3, 1]))
    slack = PARALLEL * length(l2[:3, 0] - l1[:3, 0]) + blur_of(l1[:3, 0], l2[:3, 0]) + NO_GAP  # a gap that is none
    blur = ROUNDING * (length(first - l1[:3, 0]) + length(second - l2[:3, 0]))
    crossing = gap - (slack + blur)
    parallel = beside - slack
    return (
        chosen(oblique, as_line(middle, unit(across)[0]), shortest),
        select(oblique, select(crossing, gap, 0.0), select(parallel, beside, 0.0)),
        chosen(oblique, as_plane(unit(across)[0], middle), containing),
        as_point(middle),
        select(oblique, select(crossing, OBLIQUE, CROSSING), select(parallel, PARALLEL_LINES, SAME)),
        usable_line(l1),
        usable_line(l2),
    )


@function()
def _parallel_lines(l1: LINE, l2: LINE) -> Any:
    """Line of least distance, distance and common plane of parallel lines."""
    return _side_by_side(l1, l2)


def _side_by_side(l1: Array, l2: Array) -> tuple[Array, Any, Array]:
    """Line of least distance, distance and common plane, where the second line is taken as parallel to the first."""
    across = normal(l1[:3, 1], l2[:3, 0] - l1[:3, 0])
    towards, _ = unit(cross(across, l1[:3, 1]))
    return (
        as_line(l1[:3, 0], towards),
        over(length(across), length(l1[:3, 1])),
        as_plane(unit(across)[0], l1[:3, 0]),
    )


def _of_symbols(l1: Any, l2: Any, general: tuple[Any, ...]) -> tuple[Any, ...]:
    """The results on SymPy symbols, for the relative position that the lines have at random values of these."""
    sympy = sympy_module()

    kinds = _intersec(*at_random("intersec", l1, l2))[4]
    inttype = next(kind for kind in (OBLIQUE, CROSSING, PARALLEL_LINES, SAME) if (kinds == kind).any())
    lmindist, mindist, pl, point, _ = general
    if inttype in (PARALLEL_LINES, SAME):
        lmindist, mindist, pl = _parallel_lines(l1, l2)
        point = undefined(4)
    if inttype == SAME:
        lmindist, pl = undefined(4, 2), undefined(4)
    return lmindist, sympy.Integer(0) if inttype in (CROSSING, SAME) else mindist, pl, point, inttype


def as_line(place: Array, direction: Array) -> Array:
    """A place (3,) and a direction (3,) as a line (4, 2)."""
    return array([*zip(place, direction, strict=True), (1, 0)])


def as_plane(across: Array, place: Array, tilt: Any = 0.0) -> Array:
    """The plane (4,) with a unit normal (3,), known up to a tilt, through a place (3,); d is 0 where it is only rounding."""
    d = -inner(across, place)
    return array([*across, select(abs(d) - (ROUNDING + tilt) * length(place), d, 0.0)])


def usable_line(line: Array) -> Any:
    """Above zero where a line's direction is not null and its coordinates not beyond 1e70."""
    return least(usable(line[:3, 1]), LARGEST**2 - inner(line[:3, 0], line[:3, 0]))


__all__ = exported(__name__)  # noqa: PLE0605
