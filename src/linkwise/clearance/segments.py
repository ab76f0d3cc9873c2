"""Nearest points of two segments, written over scalars without a branch."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, greatest, is_zero, least, root, select

#: Below this the squared sine of two directions is none; a number that divides must not be 0.
SMALLEST = 1e-290


def nearest_points(p: Array, d: Array, e: Array, q: Array, g: Array, h: Array) -> tuple[Any, Any]:
    """Nearest points of two segments p + s d and q + t g: s and t, each from 0 to 1.

    Parameters
    ----------
    p, q : ndarray (3,)
        One end of each, m.
    d, g : ndarray (3,)
        From there to the other end; zeros for a point.
    e, h : scalar
        1 / d·d and 1 / g·g; 0 for a point.

    Returns
    -------
    s, t : scalar

    Notes
    -----
    V. Lumelsky, "On fast computation of distance between line segments", Information Processing Letters 21(2), 1985: s of
    the lines' nearest points is clipped, then t for that s, then s for that t. The lines' s comes from cross products, so
    that its error grows as 1 / sine of the angle between the lines, and that of the distance does not grow at all; where the
    lines are parallel any s will do.
    """
    r = q - p
    n = cross(d, g)
    square = n @ n
    if is_zero(h):
        s = _unit((d @ r) * e)
        return s, 0.0
    if is_zero(e):
        return 0.0, _unit(-(g @ r) * h)
    s = _unit((cross(r, g) @ n) / greatest(square, SMALLEST))
    mixed = d @ g
    t = _unit((s * mixed - g @ r) * h)
    return _unit((t * mixed + d @ r) * e), t


def _unit(x: Any) -> Any:
    """A scalar, brought between 0 and 1; 0 for NaN."""
    return select(x, select(x - 1.0, 1.0, x), 0.0)


def gap(p: Array, d: Array, e: Array, q: Array, g: Array, h: Array) -> tuple[Any, Array, Any, Any]:
    """Distance of two segments, the vector (3,) from the nearest point of the first to that of the second, s and t."""
    s, t = nearest_points(p, d, e, q, g, h)
    w = (q - p) + g * t - d * s
    return root(w @ w), w, s, t


def reciprocal(d: np.ndarray[Any, Any]) -> Any:
    """1 / d·d of numbers (..., 3); 0 for a point."""
    square = (d * d).sum(axis=-1)
    return np.where(square > 0.0, 1.0 / np.where(square > 0.0, square, 1.0), 0.0)


def smallest(values: list[Any]) -> Any:
    """The least of scalars, by halves."""
    while len(values) > 1:
        pairs = [least(a, b) for a, b in zip(values[::2], values[1::2], strict=False)]
        values = pairs + ([values[-1]] if len(values) % 2 else [])
    return values[0]
