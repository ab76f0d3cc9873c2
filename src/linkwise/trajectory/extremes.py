"""The greatest speed and acceleration of motions made of polynomials of degree five."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.hermite import Hermite

HALVINGS = 53
"""Until an interval between 0 and 1 is as small as a rounding."""


def peaks(motion: Hermite) -> tuple[FloatArray, FloatArray]:
    """Return the greatest |qd| and |qdd| (..., n) over all time, exactly but for rounding.

    The acceleration is greatest at a node or where the jerk, a quadratic, is zero. Between those places it rises or falls
    throughout, so that each of its zeros, where the speed may be greatest, is found by halving.
    """
    h = np.diff(motion.t)[:, None]
    q, v, a = (values[..., :-1, :] for values in (motion.q, motion.qd, motion.qdd))
    q1, v1, a1 = (values[..., 1:, :] for values in (motion.q, motion.qd, motion.qdd))
    d, dv, da = q1 - q - h * (v + 0.5 * h * a), h * (v1 - v - h * a), h * h * (a1 - a)
    c3, c4, c5 = 10.0 * d - 4.0 * dv + 0.5 * da, -15.0 * d + 7.0 * dv - da, 6.0 * d - 3.0 * dv + 0.5 * da

    def acceleration(s: FloatArray) -> FloatArray:
        return np.asarray(a + s * (6.0 * c3 + s * (12.0 * c4 + 20.0 * s * c5)) / h**2)

    def speed(s: FloatArray) -> FloatArray:
        return np.asarray(v + s * (h * a + s * (3.0 * c3 + s * (4.0 * c4 + 5.0 * s * c5)) / h))

    ends = [np.zeros_like(c3), *_quadratic(60.0 * c5, 24.0 * c4, 6.0 * c3), np.ones_like(c3)]
    zeros = [_zero(acceleration, low, high) for low, high in pairwise(ends)]
    fastest = np.max([np.abs(speed(s)) for s in (ends[0], *zeros, ends[-1])], axis=0)
    hardest = np.max([np.abs(acceleration(s)) for s in ends], axis=0)
    return np.max(fastest, axis=-2), np.max(hardest, axis=-2)


def _quadratic(a: FloatArray, b: FloatArray, c: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The zeros of a s^2 + b s + c within 0 to 1, in order; where there are none, the nearer end instead."""
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    half = -0.5 * (b + np.where(b >= 0, root, -root))
    with np.errstate(divide="ignore", invalid="ignore"):
        both = np.stack((half / a, c / half))
    low, high = np.sort(np.clip(np.nan_to_num(both, nan=0.0, posinf=1.0, neginf=0.0), 0.0, 1.0), axis=0)
    return low, high


def _zero(function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray) -> FloatArray:
    """A place between low and high where a function that rises or falls throughout is zero; an end where it is nowhere."""
    sign = np.where(function(high) >= function(low), 1.0, -1.0)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        beyond = sign * function(middle) >= 0.0
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(0.5 * (low + high))
