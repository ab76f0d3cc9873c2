"""Points, lines and planes (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.7).

A line is an array (4, 2): a point on it, that ends in 1, and a direction, that ends in 0, as columns. Directions made here
have unit length; those taken may have any, from 1e-70 to 1e70.

A plane is an array (4,): a normal n and a number d, so that n . p + d = 0 for its points p. Planes made here have a unit
normal; those taken may have one of any length, from 1e-70 to 1e70.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.expr.node import Expr
from linkwise.extras import sympy_module
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.exact import at_random, holds_symbols, undefined
from linkwise.spacelib.function import exported, function, refuse_unless, spacelib
from linkwise.spacelib.kinds import LINE, PLANE, POINT, SCALAR, UNCHECKED_POINT, VECTOR, in_sympy, read, shape_of
from linkwise.spatial.lines import (
    LARGEST,
    NO_GAP,
    PARALLEL,
    ROUNDING,
    angle_between,
    blur_of,
    common_line,
    feet,
    foot_on_line,
    normal,
    over,
    spread,
    usable,
    within,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, array, least, select
from linkwise.spatial.validation import flag
from linkwise.spatial.vector import chosen, inner, length, unit


@spacelib("3.7", "angle between three points", maple="Angle")
def angle(P1: POINT, P2: POINT, P3: POINT) -> Any:
    """Angle of three points, seen from the second: of the vectors P1-P2 and P3-P2 (manual, section 3.7.1).

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.

    Returns
    -------
    float or ndarray (...)
        rad, in [0, pi]; 0 where P2 coincides with another point and no angle is defined.

    Examples
    --------
    >>> round(float(angle([1, 0, 0, 1], [0, 0, 0, 1], [1, 1, 0, 1]) / PIG), 9)
    0.25
    """
    return angle_between(P1[:3] - P2[:3], P3[:3] - P2[:3])


@spacelib("3.7", "distance of two points", "np.linalg.norm(P1 - P2)", c="")
def distp(P1: POINT, P2: POINT) -> Any:
    """Distance of two points (manual, section 3.7.1).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.

    Returns
    -------
    float or ndarray (...)
        m.

    Examples
    --------
    >>> float(distp([1, 2, 3, 1], [4, 6, 3, 1]))
    5.0
    """
    return length(P1[:3] - P2[:3])


@spacelib(
    "3.7", "distance of two points", "np.linalg.norm(P1 - P2)", maple="", note="Obsolete in MATLAB, where it is distp."
)
def dist(P1: POINT, P2: POINT) -> Any:
    """Distance of two points: the older name of `distp` (manual, section 3.7.1).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.

    Returns
    -------
    float or ndarray (...)
        m.

    Examples
    --------
    >>> float(dist(ORIGIN, [0, 0, -2]))
    2.0
    """
    return length(P1[:3] - P2[:3])


@spacelib("3.7", "weighted middle of two points", "(a * P1 + b * P2) / (a + b)", c="intermediate")
def intermed(P1: POINT, a: SCALAR, P2: POINT, b: SCALAR) -> Array:
    """Point between two points, with two weights: (a P1 + b P2) / (a + b) (manual, section 3.7.1, eq. 3.16).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.
    a, b : (...) array_like
        Their weights. Where a + b is exactly zero the sum is not divided, as the manual says.

    Returns
    -------
    ndarray (..., 4)
        The point. Its last entry is 1 in every case.

    Examples
    --------
    >>> intermed([1, 2, 3, 1], 1, [4, 6, 3, 1], 3).tolist()
    [3.25, 5.0, 3.0, 1.0]
    >>> intermed([1, 2, 3, 1], 1, [4, 6, 3, 1], -1).tolist()
    [-3.0, -4.0, 0.0, 1.0]
    """
    total = a + b
    return as_point((a * P1[:3] + b * P2[:3]) / select(abs(total), total, 1.0))


@spacelib("3.7", "middle of two points", "(P1 + P2) / 2")
@function(direct=True)
def middle(P1: UNCHECKED_POINT, P2: UNCHECKED_POINT) -> Array:
    """Point midway between two points (manual, section 3.7.1, eq. 3.17).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.

    Returns
    -------
    ndarray (..., 4)

    Examples
    --------
    >>> middle([1, 2, 3, 1], [4, 6, 3, 1]).tolist()
    [2.5, 4.0, 3.0, 1.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        halves = np.asarray(P1 + P2)
    if halves.dtype == object:
        return np.asarray(halves / 2)
    halves *= 0.5  # as exact as a division by 2, and quicker
    if not np.isfinite(halves).all():  # the arguments are not, or only their sum
        halves = read(POINT, "middle: P1", P1) * 0.5 + read(POINT, "middle: P2", P2) * 0.5
    return halves


@spacelib("3.7", "vector between two points", "(P1 - P2)[:3]")
@function(direct=True)
def vect(P1: UNCHECKED_POINT, P2: UNCHECKED_POINT) -> Array:
    """Vector P1-P2: from the second point to the first (manual, section 3.7.1).

    Parameters
    ----------
    P1, P2 : (..., 4) array_like
        The points, m.

    Returns
    -------
    ndarray (..., 3)
        m.

    Examples
    --------
    >>> vect([1, 2, 3, 1], [4, 6, 3, 1]).tolist()
    [-3.0, -4.0, 0.0]
    """
    with np.errstate(over="ignore", invalid="ignore"):
        difference = np.asarray(P1[..., :3] - P2[..., :3])
    if difference.dtype != object and not np.isfinite(difference).all():  # the arguments are not, or only their difference
        read(POINT, "vect: P1", P1)
        read(POINT, "vect: P2", P2)
    return difference


def as_point(place: Array) -> Array:
    """Coordinates (3,) as a point (4,)."""
    return array([*place, 1])


#: The relative positions of two lines, the results of `intersec`.
OBLIQUE, CROSSING, PARALLEL_LINES, SAME = 1, 0, 2, -1

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

    The manual gives the order (P1, l), and its example 3.28 calls (l, P1): both are taken, distinguished by their shapes.

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
    """Line of least distance, distance and common plane, with the second line treated as parallel to the first."""
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


#: The relative positions of a line and a plane, the results of `interlpl`.
PIERCING, INSIDE, BESIDE = 0, 1, -1

_NO_PLANE = "{} has no normal, or a number beyond 1e70"


@spacelib("3.7", "distance of a point from a plane", "pl @ P", note="Signed.")
@function(refuse=(_NO_PLANE.format("pl"),))
def distpp(pl: PLANE, P: POINT) -> Any:
    """Distance of a point from a plane, with a sign (manual, section 3.7.2).

    Parameters
    ----------
    pl : (..., 4) array_like
        The plane; its normal may have any length.
    P : (..., 4) array_like
        The point, m.

    Returns
    -------
    float or ndarray (...)
        m; positive on the side to which the normal points.

    Raises
    ------
    ArgumentError
        Where the plane's normal is null, or a number of the plane beyond 1e70.

    Examples
    --------
    >>> float(distpp([0, 0, 2, -2], [5, 6, 7, 1])), float(distpp([0, 0, 2, -2], ORIGIN))
    (6.0, -1.0)
    """
    return over(inner(pl[:3], P[:3]) + pl[3], length(pl[:3])), usable_plane(pl)


@spacelib("3.7", "foot of a point on a plane", "P[:3] - pl[:3] * (pl @ P)")
@function(refuse=(_NO_PLANE.format("pl"),))
def project(P: POINT, pl: PLANE) -> Any:
    """Projection of a point on a plane, and the distance from it, with a sign (manual, section 3.7.2).

    Parameters
    ----------
    P : (..., 4) array_like
        The point, m.
    pl : (..., 4) array_like
        The plane; its normal may have any length.

    Returns
    -------
    I : ndarray (..., 4)
        The foot of the perpendicular, m.
    dist : float or ndarray (...)
        The distance, m, as `distpp` gives it: positive on the side to which the normal points.

    Raises
    ------
    ArgumentError
        Where the plane's normal is null, or a number of the plane beyond 1e70.

    Examples
    --------
    >>> I, dist = project([5, 6, 7, 1], [0, 0, 2, -2])
    >>> I.tolist(), float(dist)
    ([5.0, 6.0, 1.0, 1.0], 6.0)
    """
    value = inner(pl[:3], P[:3]) + pl[3]
    foot = P[:3] - over(value, inner(pl[:3], pl[:3])) * pl[:3]
    return as_point(foot), over(value, length(pl[:3])), usable_plane(pl)


@spacelib("3.7", "plane through three points", maple="plane3p")
@function(refuse=("P1, P2 and P3 are more than 1e70 apart", "P1, P2 and P3 lie on one line"))
def plane(P1: POINT, P2: POINT, P3: POINT) -> Any:
    """Plane through three points (manual, section 3.7.2).

    The manual leaves the sense of the normal open. Here it is that of (P2-P1) x (P3-P1): seen from where it points to, the
    points go round counterclockwise.

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.

    Returns
    -------
    ndarray (..., 4)
        Unit normal and number d, m; the origin is at the distance d from the plane, with its sign. Where d is no more than
        rounding, the plane goes through the origin, and d is 0.

    Raises
    ------
    ArgumentError
        Where the points lie on one line: the sine of the angle at P1 is up to 1e-9, or within the rounding of the
        coordinates; or where two are less than 1e-70 or more than 1e70 apart.

    Examples
    --------
    >>> plane([1, 0, 2, 1], [0, 1, 2, 1], [0, 0, 2, 1]).tolist()
    [0.0, 0.0, 1.0, -2.0]
    """
    first, second = P2[:3] - P1[:3], P3[:3] - P1[:3]
    blur = blur_of(P1[:3], P2[:3], P3[:3])
    across, area = unit(normal(first, second))
    tilt = over(blur * (length(first) + length(second)), area)
    return as_plane(across, P1[:3], tilt), within(first, second), spread(first, second, blur)


@spacelib("3.7", "plane through a point across a vector", "np.append(v, -v @ P1[:3])", maple="planepv")
@function(refuse=("v is longer than 1e70", "v is null"))
def plane2(P1: POINT, v: VECTOR) -> Any:
    """Plane through a point at right angles to a vector (manual, section 3.7.2).

    The manual says that the plane is directed as v: v is its normal.

    Parameters
    ----------
    P1 : (..., 4) array_like
        The point, m.
    v : (..., 3) array_like
        The normal; its length does not matter.

    Returns
    -------
    ndarray (..., 4)
        Unit normal and number d, m.

    Raises
    ------
    ArgumentError
        Where v is null, its length not above 1e-70, or longer than 1e70.

    Examples
    --------
    >>> plane2([1, 1, 1, 1], [0, 0, 2]).tolist()
    [0.0, 0.0, 1.0, -1.0]
    """
    return as_plane(unit(v)[0], P1[:3]), within(v), usable(v)


@spacelib("3.7", "line of two planes", c="inters2pl")
def inter2pl(pl1: Any, pl2: Any, test: bool = False) -> Any:
    """Line in which two planes meet (manual, section 3.7.2).

    Planes count as parallel where the sine of the angle of their normals is up to 1e-9. The manual does not say what is then
    returned: here the call is refused. With ``test=True`` it returns a flag instead.

    Parameters
    ----------
    pl1, pl2 : (..., 4) array_like
        The planes; their normals may have any length.
    test : bool
        Whether to return a flag and not to refuse parallel planes.

    Returns
    -------
    l : ndarray (..., 4, 2)
        The point of the line that is nearest to the origin, m, and the unit vector along n1 x n2; with ``test=True`` NaN for
        parallel planes.
    test : int or ndarray of int (...)
        Only with ``test=True``: `OK`, or `NOTOK` for parallel planes.

    Raises
    ------
    ArgumentError
        For parallel planes without ``test=True``; where a plane's normal is null, or a number
        beyond 1e70.

    Notes
    -----
    SymPy symbols are refused, or flagged, where the planes are parallel at random values of them.

    Examples
    --------
    >>> inter2pl([0, 0, 2, -2], [1, 0, 0, -3]).T.tolist()
    [[3.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]]
    >>> line, test = inter2pl([0, 0, 2, -2], [0, 0, 1, 5], test=True)
    >>> test == NOTOK, line[0].tolist()
    (True, [nan, nan])
    """
    flag("inter2pl: test", test)
    line, code = results = _inter2pl(pl1, pl2)
    symbols = holds_symbols(results)
    if symbols and in_sympy(pl1, pl2):
        code = int(_inter2pl(*at_random("inter2pl", pl1, pl2))[1].max())
        if code == NOTOK:
            line = undefined(4, 2)
    if not symbols:
        line[code == NOTOK] = np.nan
    if test:
        return line, code
    if not isinstance(code, Expr):
        refuse_unless("inter2pl", np.asarray(code == OK), "the planes are parallel")
    return line


@spacelib("3.7", "point of a line and a plane", c="interslpl")
def interlpl(l: Any, pl: Any) -> Any:  # noqa: E741
    """Intersection of a line and a plane (manual, section 3.7.2).

    They count as parallel where the sine of the angle between them is up to 1e-9. The line then lies in the plane where the
    distance of its point is up to 1e-9 of the sum of the distances of the point and of the plane from the origin, plus 16
    units in the last place of a metre: near the origin both are rounding.

    Parameters
    ----------
    l : (..., 4, 2) array_like
        The line; its direction may have any length.
    pl : (..., 4) array_like
        The plane; its normal may have any length.

    Returns
    -------
    I : ndarray (..., 4)
        The intersection, m; the line's own point for type 1; NaN for type -1.
    inttype : int or ndarray of int (...)
        0 for one intersection, 1 for a line in the plane, -1 for a line beside it. Not the numbers of `intersec`.

    Raises
    ------
    ArgumentError
        Where the line's direction or the plane's normal is null, or a number beyond 1e70.

    Notes
    -----
    For SymPy symbols the type is what holds at random values of them. On Linkwise expressions the type is an expression too,
    and I for type -1 the line's own point.

    Examples
    --------
    >>> I, inttype = interlpl([[0, 0], [6, 0], [10, 1], [1, 0]], [0, 0, 1, -5])
    >>> I.tolist(), inttype
    ([0.0, 6.0, 5.0, 1.0], 0)
    """
    point, start, inttype = results = _interlpl(l, pl)
    if not holds_symbols(results):
        point[inttype == BESIDE] = np.nan
    elif in_sympy(l, pl):
        kinds = _interlpl(*at_random("interlpl", l, pl))[2]
        inttype = next(kind for kind in (PIERCING, BESIDE, INSIDE) if (kinds == kind).any())
        point = {PIERCING: point, INSIDE: start, BESIDE: undefined(4)}[inttype]
    return point, inttype


@function(codes=(1,), refuse=(_NO_PLANE.format("pl1"), _NO_PLANE.format("pl2")))
def _inter2pl(pl1: PLANE, pl2: PLANE) -> Any:
    """The line, and whether it exists."""
    place, direction = common_line(pl1[:3], pl1[3], pl2[:3], pl2[3])
    meeting = select(spread(pl1[:3], pl2[:3]), OK, NOTOK)
    return as_line(place, direction), meeting, usable_plane(pl1), usable_plane(pl2)


@function(codes=(2,), refuse=(NO_LINE.format("l"), _NO_PLANE.format("pl")))
def _interlpl(l: LINE, pl: PLANE) -> Any:  # noqa: E741
    """The intersection, or the line's point; the line's point; and the relative position."""
    start, along, across = l[:3, 0], l[:3, 1], pl[:3]
    slope, height = inner(across, along), inner(across, start) + pl[3]
    piercing = abs(slope) - PARALLEL * (length(across) * length(along))
    point = start - height / select(piercing, slope, 1.0) * along
    above = abs(height) - PARALLEL * (length(across) * length(start) + abs(pl[3])) - NO_GAP * length(across)
    return (
        as_point(chosen(piercing, point, start)),
        as_point(start),
        select(piercing, PIERCING, select(above, BESIDE, INSIDE)),
        usable_line(l),
        usable_plane(pl),
    )


def usable_plane(pl: Array) -> Any:
    """Above zero where a plane's normal is not null and its number not beyond 1e70."""
    return least(usable(pl[:3]), LARGEST - abs(pl[3]))


__all__ = exported(__name__)  # noqa: PLE0605
