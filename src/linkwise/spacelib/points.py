"""Points (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import POINT, SCALAR, UNCHECKED_POINT
from linkwise.spatial.lines import angle_between
from linkwise.spatial.scalar import Array, array, select
from linkwise.spatial.vector import length


@function(P1=POINT, P2=POINT, P3=POINT)
def angle(P1: Any, P2: Any, P3: Any) -> Any:
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


@function(P1=POINT, P2=POINT)
def distp(P1: Any, P2: Any) -> Any:
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


@function(P1=POINT, P2=POINT)
def dist(P1: Any, P2: Any) -> Any:
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


@function(P1=POINT, a=SCALAR, P2=POINT, b=SCALAR)
def intermed(P1: Any, a: Any, P2: Any, b: Any) -> Array:
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


@function(direct=True, P1=UNCHECKED_POINT, P2=UNCHECKED_POINT)
def middle(P1: Any, P2: Any) -> Array:
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
        made = np.asarray(P1 + P2)
    if made.dtype == object:
        return np.asarray(made / 2)
    made *= 0.5  # as exact as a division by 2, and quicker
    if not np.isfinite(made).all():  # the arguments are not, or only their sum
        made = POINT.read("middle: P1", P1) * 0.5 + POINT.read("middle: P2", P2) * 0.5
    return made


@function(direct=True, P1=UNCHECKED_POINT, P2=UNCHECKED_POINT)
def vect(P1: Any, P2: Any) -> Array:
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
        made = np.asarray(P1[..., :3] - P2[..., :3])
    if made.dtype != object and not np.isfinite(made).all():  # the arguments are not, or only their difference
        POINT.read("vect: P1", P1)
        POINT.read("vect: P2", P2)
    return made


def as_point(place: Array) -> Array:
    """Coordinates (3,) as a point (4,)."""
    return array([*place, 1])
