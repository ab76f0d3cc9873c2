"""Maxima of smooth values between samples."""

from __future__ import annotations

from functools import reduce

import numpy as np

from linkwise.spatial.scalar import FloatArray

#: Shares of an interval for a second check of a result: the extrema of a Chebyshev polynomial, through which the
#: interpolating polynomial hardly deviates from a smooth function (L. N. Trefethen, *Approximation Theory and Approximation
#: Practice*, 2013, chapters 5 and 15).
DENSE = 0.5 - 0.5 * np.cos(np.pi * np.arange(17) / 16)

#: Values of this size are looked at between the places too; beyond the second number they are too great anyhow.
NEAR, BEYOND = 0.97, 2.0

#: Velocity ds/dt at which static friction has the sign of the motion that ends there.
CREEPING = 1e-100

#: Uniform samples of an interval, and refinement of the polynomial near the greatest: the error of the parabola through
#: three values is cubic in their distance.
PLACES, CLOSER = 129, 16.0


def _weights(shares: FloatArray) -> FloatArray:
    """Weights of the values at shares (...) of an interval from those at `DENSE` (..., 17) (Trefethen 2013, theorem 5.2)."""
    signs = np.where(np.arange(DENSE.size) % 2, -1.0, 1.0)
    signs[[0, -1]] *= 0.5
    apart = shares[..., None] - DENSE
    same = np.abs(apart) < 1e-15
    rows = signs / np.where(same, 1.0, apart)
    rows = np.where(same.any(axis=-1, keepdims=True), same, rows)
    return np.asarray(rows / rows.sum(axis=-1, keepdims=True))


_BETWEEN = _weights(np.linspace(0.0, 1.0, PLACES))


def in_time(begin: FloatArray, end: FloatArray, parts: FloatArray) -> FloatArray:
    """Shares (..., K) of intervals after parts (K,) of their durations, from ds/dt (...) at both ends."""
    first, both = begin[..., None], (begin + end)[..., None]
    moving = both > 0.0
    return np.where(moving, parts * (2.0 * first + (both - 2.0 * first) * parts) / np.where(moving, both, 1.0), parts)


def greatest_sizes(values: FloatArray) -> FloatArray:
    """Greatest magnitudes (..., n) of values (..., K, n); K is small, and NumPy's own loop would be over n."""
    sizes: FloatArray = reduce(np.maximum, np.moveaxis(np.abs(values), -2, 0))
    return sizes


def peaks(values: FloatArray) -> FloatArray:
    """Greatest magnitudes (..., n) of values (..., 17, n) at `DENSE`, and of their interpolating polynomial if near 1."""
    sizes = greatest_sizes(values)
    near = (sizes > NEAR) & (sizes < BEYOND)
    if near.any():
        rows, step = np.moveaxis(values, -2, -1)[near], 1.0 / (PLACES - 1)
        even = np.abs(rows @ _BETWEEN.T)
        k, offset, _ = _parabola(even)
        closer = step / CLOSER
        middle = np.clip((k + offset) * step, closer, 1.0 - closer)
        three = _weights(middle[:, None] + closer * np.array([-1.0, 0.0, 1.0])) @ rows[..., None]
        sizes[near] = np.maximum(even.max(axis=1), greatest(np.abs(three)))
    return sizes


def greatest(values: FloatArray) -> FloatArray:
    """Greatest (M,) of values (M, K, ...) at uniform places, or of the parabola through the greatest and its neighbours."""
    values = values.reshape(*values.shape[:2], -1)
    return np.asarray(np.maximum(values.max(axis=1), _parabola(values)[2]).max(axis=-1))


def _parabola(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Parabola through the greatest of values (M, K, ...) and its neighbours.

    Its middle place (M, ...), how many places from there it is greatest, and that value; 0 and minus infinity where that is
    not between the three.
    """
    k = np.clip(np.argmax(values, axis=1), 1, values.shape[1] - 2)
    before, here, after = (np.take_along_axis(values, k[:, None] + offset, axis=1)[:, 0] for offset in (-1, 0, 1))
    bend, slope = 2.0 * here - before - after, 0.5 * (after - before)
    inside = (bend > 0.0) & (np.abs(slope) < bend)
    with np.errstate(divide="ignore", invalid="ignore"):
        offset = np.where(inside, slope / bend, 0.0)
        top = np.where(inside, here + slope**2 / (2.0 * bend), -np.inf)
    return k, offset, top
