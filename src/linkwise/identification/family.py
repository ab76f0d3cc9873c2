"""The motions among which the most exciting is sought: all Fourier series within the limits, from numbers without any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.identification.fourier import FourierSeries, basis, grid, resting
from linkwise.spatial.scalar import FloatArray

GRID = 32
"""Instants for each harmonic at which the limits are held."""

SHARP = 64.0
"""The greatest of many numbers is taken as their sum of powers of this degree, which is smooth and never too small."""


@dataclass(frozen=True, eq=False)
class Family:
    """All motions of H harmonics within limits, as a function of numbers (n, m + 2) that may have any value.

    Of a joint's numbers the first m say the shape, which is then made so large that it just touches one limit; the next
    makes it smaller (logistic function), and the last moves it within what is left between the position limits (tanh).

    A trigonometric polynomial of degree H that stays below a limit at N > 2 H even instants of its period stays below
    limit / cos(pi H / N) at all times (H. Ehlich, K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math.
    Zeitschrift 86, 1964): the limits are lowered by that much, 0.5 %.
    """

    period: float
    harmonics: int
    centre: FloatArray
    half: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    rest: bool

    @property
    def numbers(self) -> int:
        """How many numbers a joint takes."""
        return 2 * self.harmonics - 2 * self.rest + 2

    def series(self, numbers: FloatArray, degree: float = np.inf) -> FourierSeries:
        """Return the motion of some numbers (n, m + 2)."""
        directions = self.directions()
        scale, offset, *_ = self._placed(numbers, directions, degree)
        return FourierSeries(self.period, offset, (scale[:, None] * numbers[:, :-2]) @ directions.T)

    def pull_back(self, numbers: FloatArray, of_offset: FloatArray, of_coefficients: FloatArray) -> FloatArray:
        """Return the slope by the numbers from the slopes by offset (n,) and coefficients (n, 2 H)."""
        directions = self.directions()
        u, w, o = numbers[:, :-2], numbers[:, -2], numbers[:, -1]
        scale, _, size, reach, by_u, reach_by_u = self._placed(numbers, directions, SHARP)
        along = of_coefficients @ directions
        by_scale = (along * u).sum(axis=1) - of_offset * np.tanh(o) * reach
        made = np.empty_like(numbers)
        made[:, :-2] = scale[:, None] * along - (by_scale * scale / size)[:, None] * by_u
        made[:, :-2] -= (of_offset * np.tanh(o) * scale)[:, None] * reach_by_u
        made[:, -2] = by_scale * scale * (1.0 - _logistic(w))
        made[:, -1] = of_offset * (1.0 - np.tanh(o) ** 2) * (self.half - scale * reach)
        return made

    def directions(self) -> FloatArray:
        """The coefficients (2 H, m) of each number of a shape."""
        return resting(self.period, self.harmonics) if self.rest else np.eye(2 * self.harmonics)

    def _placed(self, numbers: FloatArray, directions: FloatArray, degree: float) -> tuple[FloatArray, ...]:
        """Scale and offset of each joint; what the shape is of its limits and how far it reaches, with their slopes."""
        shapes = basis(grid(self.period, GRID * self.harmonics), self.period, self.harmonics) @ directions
        below = np.cos(np.pi / GRID)
        limits = below * np.stack([self.half, self.speed, self.acceleration])
        values = np.einsum("ktm,nm->nkt", shapes, numbers[:, :-2])
        size, by_values = _greatest((values / limits.T[:, :, None]).reshape(len(numbers), -1), degree)
        by_values = by_values.reshape(values.shape) / limits.T[:, :, None]
        reach, reach_by = _greatest(values[:, 0] / below, degree)
        scale = _logistic(numbers[:, -2]) / size
        offset = self.centre + np.tanh(numbers[:, -1]) * (self.half - scale * reach)
        by_u = np.einsum("nkt,ktm->nm", by_values, shapes)
        return scale, offset, size, reach, by_u, reach_by @ shapes[0] / below


def _greatest(values: FloatArray, degree: float) -> tuple[FloatArray, FloatArray]:
    """The greatest size in each row, or the norm of some degree instead, and its slope."""
    top = np.abs(values).max(axis=1)
    if np.isinf(degree):
        return top, np.zeros_like(values)
    parts = np.abs(values) / top[:, None]
    norm = (parts**degree).sum(axis=1) ** (1.0 / degree)
    return top * norm, np.sign(values) * (parts / norm[:, None]) ** (degree - 1.0)


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))
