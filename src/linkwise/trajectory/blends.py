"""Straight lines from way-point to way-point, with parabolic blends where they meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.parabolas import Parabolas


def linear_with_blends(t: FloatArray, q: FloatArray, acceleration: FloatArray) -> Parabolas | None:
    """Return straight lines through points, blended by parabolas of a given acceleration; None where they do not fit.

    J. J. Craig, *Introduction to Robotics*, 3rd edition, 2005, section 7.3, eq. 7.24 to 7.28: a blend at an inner point
    begins before it and ends after it by the same time; the first and the last lie within the motion.

    Parameters
    ----------
    t : ndarray (K,)
        Times of the points.
    q : ndarray (..., K, n)
        The points.
    acceleration : ndarray (..., n)
        Of the blends, > 0.
    """
    q, acceleration = np.swapaxes(q, -1, -2), np.asarray(acceleration)[..., None]  # (..., n, K)
    legs, ways = np.diff(t), np.diff(q, axis=-1)
    speeds = ways / legs
    first = _end(ways[..., :1], legs[0], acceleration, alone=len(t) == 2)
    last = _end(ways[..., -1:], legs[-1], acceleration, alone=len(t) == 2)
    speeds[..., :1] = ways[..., :1] / (legs[0] - (first if len(t) == 2 else 0.5 * first))
    if len(t) > 2:
        speeds[..., -1:] = ways[..., -1:] / (legs[-1] - 0.5 * last)
    changes = np.diff(speeds, axis=-1, prepend=0.0, append=0.0)
    inner = np.abs(changes[..., 1:-1]) / acceleration
    blends = np.concatenate((first, inner, last), axis=-1)
    starts = np.concatenate((t[0] + 0.0 * first, t[1:-1] - 0.5 * inner, t[-1] - last), axis=-1)
    knots = np.stack((starts, starts + blends), axis=-1).reshape(*blends.shape[:-1], -1)
    knots[..., -1] = t[-1]
    room = 1e-12 * (t[-1] - t[0])
    if not np.all(np.diff(knots, axis=-1) >= -room):  # also where there is no blend short enough (NaN)
        return None
    knots = np.maximum.accumulate(knots, axis=-1)
    return _joined(knots, q, speeds, changes, blends, acceleration)


def _end(way: FloatArray, leg: float, acceleration: FloatArray, *, alone: bool) -> FloatArray:
    """How long the first or last blend is, s; of both where the leg is the only one. NaN where the leg is too short."""
    with np.errstate(invalid="ignore"):
        if alone:
            return np.asarray(0.5 * leg - np.sqrt(0.25 * leg**2 - np.abs(way) / acceleration))
        return np.asarray(leg - np.sqrt(leg**2 - 2.0 * np.abs(way) / acceleration))


def _joined(
    knots: FloatArray, q: FloatArray, speeds: FloatArray, changes: FloatArray, blends: FloatArray, acceleration: FloatArray
) -> Parabolas:
    """The motion from its parts, all (..., n, ·): two knots a point, the blend between them, lines between the points."""
    before = np.concatenate((0.0 * speeds[..., :1], speeds), axis=-1)
    after = np.concatenate((speeds, 0.0 * speeds[..., :1]), axis=-1)
    entry, leave = q - 0.5 * before * blends, q + 0.5 * after * blends
    entry[..., 0], leave[..., -1] = q[..., 0], q[..., -1]
    leave[..., 0] = q[..., 0] + 0.5 * speeds[..., 0] * blends[..., 0]
    entry[..., -1] = q[..., -1] - 0.5 * speeds[..., -1] * blends[..., -1]
    places, rates = (np.stack(pair, axis=-1).reshape(knots.shape) for pair in ((entry, leave), (before, after)))
    qdd = np.zeros((*knots.shape[:-1], knots.shape[-1] - 1))
    qdd[..., ::2] = np.sign(changes) * acceleration
    return Parabolas(knots, places, rates, qdd)


def blended(t: FloatArray, q: FloatArray, acceleration: FloatArray, names: Sequence[str]) -> Parabolas:
    """Return `linear_with_blends`, or say for which joint and where the lines leave no room for the blends."""
    made = linear_with_blends(t, q, acceleration)
    if made is not None:
        return made
    for k in range(q.shape[-1]):
        a = np.asarray(acceleration)[..., k : k + 1] if acceleration.ndim else acceleration
        if linear_with_blends(t, q[..., k : k + 1], a) is None:
            name = names[k] if names else f"q{k + 1}"
            raise ArgumentError(
                f"joint {name!r} cannot be blended: between two way-points there is no time for it; "
                "give more acceleration or more time"
            )
    raise AssertionError  # pragma: no cover  (where all joints fit, the whole does)
