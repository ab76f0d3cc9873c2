"""Frames on points and vectors (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.6).

Axis a1 goes along the first direction, axis a2 lies in the plane of both, on the side of the second; the third makes the
frame right handed. The manual puts the third axis along the product of the first direction and the second for every pair of
axes. That is so for the pairs (X, Y), (Y, Z) and (Z, X); for the others the axis goes against the product, as else the frame
would be left handed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import MOVING_AXIS, POINT, VECTOR
from linkwise.spatial.lines import blur_of, right_handed, spread, within
from linkwise.spatial.scalar import Array, array, blank
from linkwise.spatial.transform import transform

_NO_TRIANGLE = ("P1, P2 and P3 are more than 1e70 apart", "P1, P2 and P3 lie on one line")
_NO_PLANE = ("v1 or v2 is longer than 1e70", "v1 and v2 are parallel, or one is null")


@spacelib("3.6", "rotation of a frame from three points", c="frameP frameP3 frameP4")
@function(refuse=_NO_TRIANGLE)
def framep(P1: POINT, P2: POINT, P3: POINT, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Rotation matrix of a frame on three points (manual, section 3.6).

    Axis a1 goes from P1 to P2; axis a2 lies in the plane of the points, on the side of P3.

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.
    a1, a2 : int
        Two different axes: `X`, `Y` or `Z`. The third makes the frame right handed, whatever their order.

    Returns
    -------
    ndarray (..., 3, 3)
        The frame's axes as columns.

    Raises
    ------
    ArgumentError
        Where the points lie on one line: the sine of the angle at P1 is up to 1e-9, or within the rounding of the
        coordinates; or where two are less than 1e-70 or more than 1e70 apart.

    Examples
    --------
    >>> framep([5, 4, 3, 1], [5, 6, 4, 1], [5, 5, 5, 1], X, Y).round(3).tolist()
    [[0.0, 0.0, 1.0], [0.894, -0.447, 0.0], [0.447, 0.894, 0.0]]
    """
    return _on_points("framep", P1, P2, P3, a1, a2)


@spacelib("3.6", "frame from three points", c="frame4P")
@function(refuse=_NO_TRIANGLE)
def frame4p(P1: POINT, P2: POINT, P3: POINT, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Position matrix of a frame on three points, its origin in the first (manual, section 3.6).

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the points lie on one line, as for `framep`.

    Examples
    --------
    >>> frame4p([0, 1, 2, 1], [0, 6, 2, 1], [0, 1, 6, 1], Y, Z).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    """
    rotation, *measures = _on_points("frame4p", P1, P2, P3, a1, a2)
    return transform(rotation, P1[:3]), *measures


@spacelib("3.6", "rotation of a frame from two vectors", c="frameV frameV3 frameV4")
@function(refuse=_NO_PLANE)
def framev(v1: VECTOR, v2: VECTOR, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Rotation matrix of a frame on two vectors (manual, section 3.6).

    Axis a1 goes along v1; axis a2 lies in the plane of both, on the side of v2.

    Parameters
    ----------
    v1, v2 : (..., 3) array_like
        The vectors; their lengths do not matter.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        Where the vectors are parallel, the sine of their angle up to 1e-9, or one is null, its length not above 1e-70, or
        longer than 1e70.

    Examples
    --------
    >>> R = framev([0, 2, 0], [0, 1, 2], Z, Y)
    >>> (R @ Zaxis).tolist(), (R @ Yaxis).tolist(), (R @ Xaxis).tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0])
    """
    return _axes("framev", v1, v2, a1, a2), within(v1, v2), spread(v1, v2)


@spacelib("3.6", "frame from a point and two vectors", c="frame4V")
@function(refuse=_NO_PLANE)
def frame4v(P1: POINT, v1: VECTOR, v2: VECTOR, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Position matrix of a frame on a point and two vectors (manual, section 3.6).

    Parameters
    ----------
    P1 : (..., 4) array_like
        The origin, m.
    v1, v2 : (..., 3) array_like
        The vectors; their lengths do not matter.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the vectors are parallel or null, as for `framev`.

    Examples
    --------
    >>> (frame4v([5, 4, 3], [0, 3, 0], [2, 1, 0], Y, X) @ [1, 1, 1, 1]).tolist()
    [6.0, 5.0, 4.0, 1.0]
    """
    return transform(_axes("frame4v", v1, v2, a1, a2), P1[:3]), within(v1, v2), spread(v1, v2)


@spacelib("3.6", "unit vector of an axis", "np.eye(3)[n]", c="axis", maple="Axis axis")
@function(direct=True)
def aaxis(n: MOVING_AXIS) -> Array:
    """Unit vector of an axis of the frame (manual, section 3.6).

    Parameters
    ----------
    n : int
        `X`, `Y` or `Z`.

    Returns
    -------
    ndarray (3,)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> aaxis(Y).tolist()
    [0.0, 1.0, 0.0]
    """
    direction = np.zeros(3)
    direction[n] = 1.0
    return direction


def _on_points(name: str, p1: Array, p2: Array, p3: Array, a1: int, a2: int) -> tuple[Array, Any, Any]:
    """The axes from three points, and measures: that they are not too far apart, and not on one line."""
    first, second = p2[:3] - p1[:3], p3[:3] - p1[:3]
    measure = spread(first, second, blur_of(p1[:3], p2[:3], p3[:3]))
    return _axes(name, first, second, a1, a2), within(first, second), measure


def _axes(name: str, first: Array, second: Array, a1: int, a2: int) -> Array:
    """The axes as columns: a1 along the first vector, a2 on the side of the second."""
    if a1 == a2:
        raise ArgumentError(f"{name}: a1 and a2 are both {'XYZ'[a1]} ({a1}); expected two different axes")
    axes = blank(3, 3)
    axes[:, a1], axes[:, a2], across = right_handed(first, second)
    axes[:, 3 - a1 - a2] = across if (a2 - a1) % 3 == 1 else -across
    return array(axes)


__all__ = exported(__name__)  # noqa: PLE0605
