"""The rototranslation that brings a triangle from one place to another, by its screw.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 7.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import Y, Z
from linkwise.spacelib.position import frame4p, mtoscrew
from linkwise.spacelib.programs.formats import Sheet
from linkwise.spacelib.transformations import invers
from linkwise.spatial.scalar import Array

BEFORE = ((0.0, 1.0, 2.0, 1.0), (0.0, 6.0, 2.0, 1.0), (0.0, 1.0, 6.0, 1.0))

#: The points P1, P2, P3 of the manual's triangle, and their targets P4, P5, P6.
AFTER = ((3.0, 0.0, 2.0, 1.0), (8.0, 0.0, 2.0, 1.0), (3.0, 0.0, 6.0, 1.0))


@dataclass(frozen=True, eq=False)
class Triangle:
    """The displacement of a triangle.

    Attributes
    ----------
    m01, m02, m10 : ndarray (4, 4)
        Position of the frame on the triangle before and after, and the inverse of the first.
    Q : ndarray (4, 4)
        Rototranslation in frame (0): a point p of the triangle goes to Q p.
    u : ndarray (3,)
        Direction of its axis.
    phi : float
        Angle, rad, from 0 to pi.
    P : ndarray (4,)
        The point of the axis nearest to the origin.
    h : float
        Translation along the axis, m.
    """

    m01: Array
    m02: Array
    m10: Array
    Q: Array
    u: Array
    phi: Any
    P: Array
    h: Any


def triangle(before: Any = BEFORE, after: Any = AFTER) -> Triangle:
    """Find the screw that brings three points P1, P2, P3 to P4, P5, P6.

    The frame on the triangle has its origin in the first point, y toward the second and z on the side of the third. The
    two triangles are taken for one rigid body: what is found moves the first point and these axes.

    Parameters
    ----------
    before, after : sequence of three (4,) or (3,) array_like
        The points, m; those of the manual unless given.

    Returns
    -------
    Triangle

    Raises
    ------
    ArgumentError
        Where three points lie on one line, or are not three.

    Examples
    --------
    >>> found = triangle()
    >>> found.u.tolist(), round(float(found.phi), 5), found.P.tolist(), float(found.h)
    ([0.0, 0.0, -1.0], 1.5708, [1.0, -1.0, 0.0, 1.0], 0.0)
    """
    P1, P2, P3 = _three("before", before)
    P4, P5, P6 = _three("after", after)
    m01 = frame4p(P1, P2, P3, Y, Z)
    m02 = frame4p(P4, P5, P6, Y, Z)
    m10 = invers(m01)
    Q = m02 @ m10
    u, phi, P, h = mtoscrew(Q)
    return Triangle(m01, m02, m10, Q, u, phi, P, h)


def _three(name: str, points: Any) -> list[Any]:
    corners = list(points)
    if len(corners) != 3:
        raise ArgumentError(f"triangle: {name} has {len(corners)} points; expected three")
    return corners


def text(result: Triangle) -> str:
    """Write the results under the manual's names."""
    sheet = Sheet()
    sheet.matrix("Position of the triangle before: M01", result.m01)
    sheet.matrix("Position of the triangle after: M02", result.m02)
    sheet.matrix("Rototranslation matrix: Q", result.Q)
    sheet.angle("Rotation angle phi", result.phi)
    sheet.vector("Axis direction u", result.u)
    sheet.vector("Point P of the axis", result.P)
    sheet.value("Translation h", result.h, "m")
    return str(sheet)
