"""The trapezoid of speed: how long its parts take under limits, and the motion that it makes of a way."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.parabolas import Parabolas


class Law(NamedTuple):
    """A trapezoid of speed: how long each part takes (s), the speed reached, the two accelerations; arrays (..., n)."""

    starting: FloatArray
    cruising: FloatArray
    braking: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray

    @property
    def duration(self) -> FloatArray:
        """What it takes in all, s."""
        return self.starting + self.cruising + self.braking

    def stretched(self, duration: FloatArray) -> Law:
        """Return the same in another duration."""
        still = self.duration == 0.0
        k = np.where(still, 0.0, self.duration / np.where(duration > 0, duration, 1.0))
        slower = 1.0 / np.where(still, 1.0, k)
        times = (self.starting * slower, self.cruising * slower, self.braking * slower)
        return Law(*times, self.speed * k, self.acceleration * k * k, self.deceleration * k * k)


def fastest(distance: FloatArray, speed: FloatArray, acceleration: FloatArray, deceleration: FloatArray) -> Law:
    """Return the quickest law over distances >= 0, from rest to rest.

    The peak of the triangle is sqrt(2 D a b / (a + b)): the way to it and back, v^2/2a + v^2/2b, is the distance D.
    """
    a, b = acceleration, deceleration
    peak = np.minimum(speed, np.sqrt(2.0 * distance * (a / (a + b)) * b))
    cruising = np.maximum(0.0, distance - 0.5 * peak * (peak / a + peak / b)) / speed
    return Law(peak / a, np.where(peak < speed, 0.0, cruising), peak / b, peak, a, b)


def together(distance: FloatArray, *limits: FloatArray) -> Law:
    """Return the quickest law, the same for all joints but for their distances, under limits (..., n) of each."""
    moves = distance > 0.0
    size = np.where(moves, distance, 1.0)
    tops = [np.min(np.where(moves, limit / size, np.inf), axis=-1, keepdims=True) for limit in limits]
    law = fastest(
        np.any(moves, axis=-1, keepdims=True).astype(np.float64), *(np.where(np.isfinite(top), top, 1.0) for top in tops)
    )
    rates = (np.minimum(rate * distance, limit) for rate, limit in zip(law[3:], limits, strict=True))
    return Law(*(time + 0.0 * distance for time in law[:3]), *rates)


def parabolas(q0: FloatArray, q1: FloatArray, law: Law, start: npt.ArrayLike, duration: FloatArray) -> Parabolas:
    """Return the motion from q0 to q1 (..., n) by a law, beginning at times (..., n), all over after the duration."""
    way = np.sign(q1 - q0)
    parts = (0.0 * way, law.starting, law.starting + law.cruising, duration + 0.0 * way)
    t = np.asarray(start)[..., None] + np.stack(np.broadcast_arrays(*parts), axis=-1)
    halves = [0.5 * way * law.speed * part for part in (law.starting, law.braking)]
    q = np.stack((q0, q0 + halves[0], q1 - halves[1], q1), axis=-1)
    zero, top = np.zeros_like(way), way * law.speed
    qd = np.stack((zero, top, top, zero), axis=-1)
    return Parabolas(t, q, qd, np.stack((way * law.acceleration, zero, zero - way * law.deceleration), axis=-1))
