"""A bar with round ends: the shape of links in most drawings of chains."""

from __future__ import annotations

import math

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray


def rounded_bar(length: float, width: float, corners: int = 9) -> FloatArray:
    """Outline of a bar along the x axis with round ends about its two joints, the origin and (length, 0).

    Parameters
    ----------
    length, width : float
        m; both positive.
    corners : int
        Points on each half circle, at least 2.

    Returns
    -------
    ndarray (2 corners, 2)
        Counterclockwise, m; the points lie on the circles, so the polygon is within the round shape.

    Raises
    ------
    ArgumentError
        Where a number is not as said.

    Examples
    --------
    >>> rounded_bar(1.0, 0.2).shape
    (18, 2)
    """
    for name, value in (("length", length), ("width", width)):
        if not (math.isfinite(value) and value > 0.0):
            raise ArgumentError(f"{name}: {shown(value)}; expected a positive finite number, m")
    if corners < 2:
        raise ArgumentError(f"corners: {shown(corners)}; expected a whole number of at least 2")
    along = np.linspace(-0.5 * math.pi, 0.5 * math.pi, corners)
    cap = 0.5 * width * np.stack((np.cos(along), np.sin(along)), axis=1)
    return np.concatenate([cap + np.array([length, 0.0]), -cap])
