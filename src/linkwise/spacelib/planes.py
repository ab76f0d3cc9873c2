"""Planes (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.7.2).

A plane is an array (4,): a normal n and a number d, so that n . p + d = 0 for its points p. Planes made here have a unit
normal; those taken may have one of any length, from 1e-70 to 1e70.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.expr.node import Expr
from linkwise.spacelib.constants import NOTOK, OK
from linkwise.spacelib.exact import at_random, holds_symbols, undefined
from linkwise.spacelib.function import exported, function, refuse_unless, spacelib
from linkwise.spacelib.kinds import LINE, PLANE, POINT, VECTOR, in_sympy
from linkwise.spacelib.lines import NO_LINE, as_line, as_plane, usable_line
from linkwise.spacelib.points import as_point
from linkwise.spatial.lines import LARGEST, NO_GAP, PARALLEL, blur_of, common_line, normal, over, spread, usable, within
from linkwise.spatial.scalar import Array, least, select
from linkwise.spatial.vector import chosen, inner, length, unit

PIERCING, INSIDE, BESIDE = 0, 1, -1
"""The relative positions of a line and a plane, as `interlpl` tells them."""

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
    if not isinstance(test, (bool, np.bool_)):
        raise ArgumentError(f"inter2pl: test is {shown(test)}; expected True or False")
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
    """The line, and whether there is one."""
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
