"""Points (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import POINT, SCALAR, UNCHECKED_POINT, read
from linkwise.spatial.lines import angle_between
from linkwise.spatial.scalar import Array, array, select
from linkwise.spatial.vector import length


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


__all__ = exported(__name__)  # noqa: PLE0605
