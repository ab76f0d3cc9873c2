"""Distance of a segment from a box, written over scalars without a branch."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, greatest, is_zero, least, root, select

#: Farther than anything, m.
FAR = 1e300

#: A number that divides must not be 0.
TINY = 1e-150

#: A segment that is nearer to the box, m, runs into it.
INSIDE = 1e-12


def box_gap(p: Array, d: Array, e: Any, R: Array, center: Array, half: Array) -> tuple[Any, Array, Any, Array, Array]:
    """Signed distance of a segment from a box, and where both are nearest.

    Parameters
    ----------
    p, d : ndarray (3,)
        One end, m, and from there to the other end; zeros for a point.
    e : scalar
        1 / d·d; 0 for a point.
    R : ndarray (3, 3)
        The axes of the box, as columns.
    center, half : ndarray (3,)
        Its middle and half its edges, m.

    Returns
    -------
    distance : scalar
        m; of a segment that runs into the box less the way out through the nearest face, which is that of a point, and of
        a segment at least what it must be moved.
    apart : ndarray (3,)
        From the segment to the box, m; of a segment that runs into it the way back through that face.
    between : scalar
        The length of `apart`, m.
    first, second : ndarray (3,)
        The points on the segment and on the box.

    Notes
    -----
    The squared distance of p + s d from a box is convex in s; half its derivative, the sum over the axes of the velocity
    times what the coordinate is beyond the edge, is piecewise linear, with six kinks. So its root is that of the line
    between the two kinks about it.
    """
    x, v = R.T @ (p - center), R.T @ d
    s: Any = 0.0 if is_zero(e) else _nearest(x, v, half)
    outside = _beyond(x + v * s, half)
    between = root(outside @ outside)
    depth, normal, end = _way_out(x, v, half)
    inside = INSIDE - between
    s = select(inside, end, s)
    apart = R @ np.array([select(inside, -n * depth, -c) for n, c in zip(normal, outside, strict=True)])
    first = p + d * s
    second = first + np.array([select(inside, -a, a) for a in apart])
    return select(inside, -depth, between), apart, select(inside, depth, between), first, second


def _beyond(y: Array, half: Array) -> Array:
    """What coordinates (3,) are beyond the edges."""
    return np.array([a - greatest(least(a, h), -h) for a, h in zip(y, half, strict=True)])


def _nearest(x: Array, v: Array, half: Array) -> Any:
    """The s from 0 to 1 at which x + s v is nearest to the box."""

    def slope(s: Any) -> Any:
        return v @ _beyond(x + v * s, half)

    low, high = 0.0, 1.0
    kinks = []
    for a, b, h in zip(x, v, half, strict=True):
        inverse = 1.0 / select(abs(b) - TINY, b, TINY)
        kinks += [(-h - a) * inverse, (h - a) * inverse]
    for kink in [0.0, 1.0, *(select(k, select(k - 1.0, 1.0, k), 0.0) for k in kinks)]:
        rising = slope(kink)
        low = select(rising, low, greatest(low, kink))
        high = select(rising, least(high, kink), high)
    at_low, at_high = slope(low), slope(high)
    rise = at_high - at_low
    return select(rise, least(low - (high - low) * at_low / greatest(rise, TINY), high), low)


def _way_out(x: Array, v: Array, half: Array) -> tuple[Any, Array, Any]:
    """How far a segment is inside the nearest face, m, the outward normal of that (3,), and the end that is deepest."""
    depth: Any = FAR
    normal, end = np.zeros(3), 0.0
    for k, (a, b, h) in enumerate(zip(x, v, half, strict=True)):
        for side in (1.0, -1.0):
            into = h - least(side * a, side * (a + b))
            nearer = depth - into
            depth = least(depth, into)
            normal = np.array([select(nearer, side * (i == k), n) for i, n in enumerate(normal)])
            end = select(nearer, select(-side * b, 1.0, 0.0), end)
    return depth, normal, end
