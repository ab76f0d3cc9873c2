"""Greatest velocities along paths under limits linear in squared velocity and acceleration: two passes over a grid.

H. Pham and Q.-C. Pham, "A new approach to time-optimal path parameterization based on reachability analysis", IEEE
Transactions on Robotics 34(3), 2018. With x = (ds/dt)^2 and u = d2s/dt2, constant from node to node, x at the next node is
x + 2 D u. Backward, the controllable set of a node, an interval, is found from that of the next one; forward, each step
takes the greatest u that stays in it. Each limit is a pair of lines, ``low + slope x <= u <= high + slope x``, so that the
two-variable programs are about one concave function, the gap between the least upper and the greatest lower line: Newton's
method, from pair of lines to pair of lines, reaches its zero after as many steps as lines take turns.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.spatial.scalar import FloatArray

#: Rows of a block of limits: slope, low, high of this many pairs of lines.
LANES = 8

#: Results of both passes for a path: the least and greatest controllable x at its first node, the greatest x by velocities
#: there and at the last node, the least sum of velocities at the two ends of an interval, the greatest velocity.
EDGES = ("low", "high", "first_cap", "last_cap", "slowest", "fastest")

#: From so many values about an interval those of efforts in it are interpolated.
STENCIL = 8

#: The most steps of Newton's method; each takes another pair of lines, so that a few are enough.
STEPS = 100

#: A zero may be negative by this share of the greatest x, which is rounding.
ROUNDING = 1e-12


class LineBounds(NamedTuple):
    """Bounds of u at some x, their slopes, and the values of the same lines at x = 0, each (B,)."""

    low: FloatArray
    low_slope: FloatArray
    low_start: FloatArray
    high: FloatArray
    high_slope: FloatArray
    high_start: FloatArray


def profiles(lines: FloatArray, cap: FloatArray, rate: FloatArray, ends: FloatArray) -> FloatArray:
    """Controllable sets and the greatest profile of each path.

    Parameters
    ----------
    lines : ndarray (..., n, b, 3, 8)
        Of each of n intervals b blocks of limits: slopes, lower and upper lines at x = 0.
    cap : ndarray (..., n + 1)
        Greatest x at the nodes.
    rate : ndarray (..., n)
        1 / (2 D) of each interval, D its length.
    ends : ndarray (..., 2)
        x at the first and at the last node.

    Returns
    -------
    ndarray (..., n + 1, 3)
        Least and greatest controllable x, and x of the profile. NaN from the last node on, backward, at which no x keeps
        the limits.
    """
    program = _compiled(default_backend())
    arrays = [np.ascontiguousarray(part, dtype=np.float64) for part in (lines, cap, rate, ends)]
    result: FloatArray = program(*arrays)
    return result


@cache
def _compiled(backend: str) -> Callable[..., Any]:
    return backend_of(backend).reachability() or plain


def plain(lines: FloatArray, cap: FloatArray, rate: FloatArray, ends: FloatArray) -> FloatArray:
    """`profiles` by NumPy, all paths of a batch at a time."""
    batch = np.broadcast_shapes(lines.shape[:-4], cap.shape[:-1], rate.shape[:-1], ends.shape[:-1])
    lines = np.broadcast_to(lines, (*batch, *lines.shape[-4:])).reshape(-1, *lines.shape[-4:])
    cap, rate, ends = (np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for x in (cap, rate, ends))
    result = np.full((len(cap), cap.shape[1], 3), np.nan)
    with np.errstate(all="ignore"):
        result[:, -1, :2] = ends[:, 1, None]
        for k in range(rate.shape[1] - 1, -1, -1):
            high = _zero(lines[:, k], rate[:, k], result[:, k + 1], cap[:, k], downward=True)
            low = _zero(lines[:, k], rate[:, k], result[:, k + 1], np.zeros_like(high), downward=False)
            result[:, k, 0], result[:, k, 1] = np.minimum(low, high), high
        x = ends[:, 0]
        for k in range(rate.shape[1]):
            result[:, k, 2] = x
            at = _bounds(lines[:, k], rate[:, k], result[:, k + 1], x)
            flatter = np.where(np.abs(at.high_slope) < np.abs(at.low_slope), at.high, at.low)
            u = np.where(at.low <= at.high, at.high, flatter)
            x = np.minimum(np.maximum(x + u / rate[:, k], result[:, k + 1, 0]), result[:, k + 1, 1])
        result[:, -1, 2] = x
    return result.reshape(*batch, *result.shape[1:])


def _bounds(lines: FloatArray, rate: FloatArray, following: FloatArray, x: FloatArray) -> LineBounds:
    """The bounds of u by all limits (B, b, 3, 8) and by the next node's set."""
    slope, low, high = (lines[:, :, k].reshape(len(x), -1) for k in range(3))
    slope = np.concatenate((slope, -rate[:, None]), axis=1)
    sets = rate[:, None] * following[:, :2]
    starts = [np.concatenate((part, sets[:, k : k + 1]), axis=1) for k, part in enumerate((low, high))]
    values = [start + slope * x[:, None] for start in starts]
    places = np.argmax(values[0], axis=1)[:, None], np.argmin(values[1], axis=1)[:, None]
    return LineBounds(*(
        np.take_along_axis(part, place, axis=1)[:, 0]
        for place, value, start in zip(places, values, starts, strict=True)
        for part in (value, slope, start)
    ))  # fmt: skip


def _zero(lines: FloatArray, rate: FloatArray, following: FloatArray, x: FloatArray, *, downward: bool) -> FloatArray:
    """Search from x (B,) downward or upward for the first x with feasible u; NaN if there is none."""
    sign, room = (1.0 if downward else -1.0), -ROUNDING * (x + following[:, 1])
    x, active = x.copy(), np.isfinite(following[:, 1])
    x[~active] = np.nan
    for _ in range(STEPS):
        at = _bounds(lines, rate, following, x)
        gap, slope = at.high - at.low, at.high_slope - at.low_slope
        active &= ~(gap >= 0.0)
        if not active.any():
            break
        moved = (at.low_start - at.high_start) / slope
        empty = active & (~(sign * slope < 0.0) | (moved < room))
        moved = np.where(empty, np.nan, np.maximum(moved, 0.0))
        active &= empty | (sign * (x - moved) > 0.0)
        x = np.where(active, moved, x)
        active &= ~empty
    return x
