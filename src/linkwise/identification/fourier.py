"""Finite Fourier series of joint motions, also of joints with quaternions, and all of them that stay within limits."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial

import numpy as np
from numpy.polynomial import Polynomial

from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import conjugated, multiplied, rotated
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State

#: Instants per harmonic at which the limits are checked.
GRID = 32

#: The greatest of many numbers is replaced by their norm of this degree, which is smooth and never too small.
SHARP = 64.0


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """Joint motions q(t) = offset + sum over k of a_k sin(k w t) / (k w) - b_k cos(k w t) / (k w), with w = 2 pi / period.

    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and Automation 13(5), 1997,
    eq. 10 to 12.

    Attributes
    ----------
    period : float
        s.
    offset : ndarray (n,)
        The mean position, rad or m.
    coefficients : ndarray (n, 2 H)
        a_1 ... a_H, b_1 ... b_H of each joint, rad/s or m/s.
    """

    period: float
    offset: FloatArray
    coefficients: FloatArray

    def __call__(self, time: FloatArray) -> State:
        """Return q, qd and qdd (K, n) at times (K,)."""
        q, qd, qdd = basis(time, self.period, self.coefficients.shape[1] // 2) @ self.coefficients.T
        return q + self.offset, qd, qdd


def grid(period: float, count: int) -> FloatArray:
    """Even instants (count,) of one period, its end left out."""
    return np.asarray(np.arange(count) * (period / count), dtype=np.float64)


def basis(time: FloatArray, period: float, harmonics: int) -> FloatArray:
    """Basis functions of q, qd and qdd at some times: (3, K, 2 H)."""
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    sin, cos = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    return np.stack([np.hstack([sin / w, -cos / w]), np.hstack([cos, sin]), np.hstack([-w * sin, w * cos])])


def resting(period: float, harmonics: int) -> FloatArray:
    """Orthonormal directions (2 H, 2 H - 2) of the coefficients of motions that begin, and end, at rest: qd = qdd = 0."""
    conditions = basis(np.zeros(1), period, harmonics)[1:, 0]
    return np.asarray(np.linalg.svd(conditions)[2][2:].T)


@dataclass(frozen=True, eq=False)
class FourierFamily:
    """All motions of H harmonics within limits, as a function of unconstrained numbers (n, m + 2).

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
    at_rest: bool

    @property
    def numbers(self) -> int:
        """Number of parameters of a joint."""
        return 2 * self.harmonics - 2 * self.at_rest + 2

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
        slopes = np.empty_like(numbers)
        slopes[:, :-2] = scale[:, None] * along - (by_scale * scale / size)[:, None] * by_u
        slopes[:, :-2] -= (of_offset * np.tanh(o) * scale)[:, None] * reach_by_u
        slopes[:, -2] = by_scale * scale * (1.0 - _logistic(w))
        slopes[:, -1] = of_offset * (1.0 - np.tanh(o) ** 2) * (self.half - scale * reach)
        return slopes

    def directions(self) -> FloatArray:
        """The coefficients (2 H, m) of each number of a shape."""
        return resting(self.period, self.harmonics) if self.at_rest else np.eye(2 * self.harmonics)

    def _placed(self, numbers: FloatArray, directions: FloatArray, degree: float) -> tuple[FloatArray, ...]:
        """Scale and offset of each joint; its shape relative to the limits and its range, with their derivatives."""
        shapes = basis(grid(self.period, GRID * self.harmonics), self.period, self.harmonics) @ directions
        below = np.cos(np.pi / GRID)
        limits = below * np.stack([self.half, self.speed, self.acceleration])
        values = np.einsum("ktm,nm->nkt", shapes, numbers[:, :-2])
        size, by_values = _smooth_maximum((values / limits.T[:, :, None]).reshape(len(numbers), -1), degree)
        by_values = by_values.reshape(values.shape) / limits.T[:, :, None]
        reach, reach_by = _smooth_maximum(values[:, 0] / below, degree)
        scale = _logistic(numbers[:, -2]) / size
        offset = self.centre + np.tanh(numbers[:, -1]) * (self.half - scale * reach)
        by_u = np.einsum("nkt,ktm->nm", by_values, shapes)
        return scale, offset, size, reach, by_u, reach_by @ shapes[0] / below


def _smooth_maximum(values: FloatArray, degree: float) -> tuple[FloatArray, FloatArray]:
    """Greatest magnitude in each row, or a norm of some degree instead, and its derivative."""
    top = np.abs(values).max(axis=1)
    if np.isinf(degree):
        return top, np.zeros_like(values)
    parts = np.abs(values) / top[:, None]
    norm = (parts**degree).sum(axis=1) ** (1.0 / degree)
    return top * norm, np.sign(values) * (parts / norm[:, None]) ** (degree - 1.0)


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


#: sin(x) / x as a polynomial of x^2, exact to rounding up to x = pi / 2, and its derivatives by x^2.
SINC = Polynomial([(-1.0) ** k / factorial(2 * k + 1) for k in range(13)])
SINC_RATE, SINC_BEND = SINC.deriv(), SINC.deriv(2)

#: Displacement of a floating base from its parent's origin along each axis, m.
SPAN = 1.0


def exponential_motion(tree: Tree, x: FloatArray, xd: FloatArray, xdd: FloatArray) -> State:
    """Return q (K, nq), qd and qdd (K, nv) of exponential coordinates (K, nv), of at most half a turn, and their rates.

    Those of a joint with a quaternion are a rotation vector, rad, in its child's axes and its parent's alike; before it
    stands the position of one that floats, m, in its parent's. The others are joint coordinates.
    """
    states: list[State] = []
    for at in tree.manifold_joints:
        turn, slide = slice(at.v.stop - 3, at.v.stop), slice(at.v.start, at.v.stop - 3)
        quaternion, w, wd = _turning(x[:, turn], xd[:, turn], xdd[:, turn])
        if slide.start < slide.stop:
            back = conjugated(quaternion)
            v = rotated(back, xd[:, slide])
            states.append((x[:, slide], v, rotated(back, xdd[:, slide]) - np.cross(w, v)))
        states.append((quaternion, w, wd))
    first = tree.nv - tree.n
    states.append((x[:, first:], xd[:, first:], xdd[:, first:]))
    q, qd, qdd = (np.concatenate(parts, axis=1) for parts in zip(*states, strict=True))
    return q, qd, qdd


def _turning(x: FloatArray, xd: FloatArray, xdd: FloatArray) -> State:
    """Unit quaternions (K, 4) of rotation vectors (K, 3), with angular velocities and their rates in the child's axes.

    w = 2 q* q', of which the rate is 2 q* q'', for q'* q' is a scalar (J. B. Kuipers, *Quaternions and Rotation
    Sequences*, 1999, chapter 11).
    """
    square, rate = 0.25 * _dot(x, x), 0.5 * _dot(x, xd)
    bend = 0.5 * (_dot(xd, xd) + _dot(x, xdd))
    f, f1, f2 = SINC(square), SINC_RATE(square), SINC_BEND(square)
    quaternion = np.concatenate([np.cos(np.sqrt(square)), 0.5 * f * x], axis=1)
    first = np.concatenate([-0.5 * f * rate, 0.5 * (f1 * rate * x + f * xd)], axis=1)
    moved = (f2 * rate**2 + f1 * bend) * x + 2.0 * f1 * rate * xd + f * xdd
    second = np.concatenate([-0.5 * (f1 * rate**2 + f * bend), 0.5 * moved], axis=1)
    back = 2.0 * conjugated(quaternion)
    return quaternion, multiplied(back, first)[:, 1:], multiplied(back, second)[:, 1:]


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sum(a * b, axis=1, keepdims=True))


def exponential_limits(tree: Tree, qd_max: FloatArray, qdd_max: FloatArray) -> FloatArray:
    """Greatest exponential coordinates (3, nv - n) of joints with quaternions, rates and second rates that keep limits.

    A rotation vector of at most the cone's half opening leans no axis further. With w = the integral of R(-s x) x' over
    s from 0 to 1, |w| <= |x'| and |w'| <= |x''| + |x'|^2 / 2; of what floats at p, |v| = |p'| and |v'| <= |p''| + |w| |v|.
    Half of an acceleration is left to the second terms. The least limit of three components holds for their vector.
    """
    columns: list[FloatArray] = []
    for at in tree.manifold_joints:
        turn, slide = slice(at.v.stop - 3, at.v.stop), slice(at.v.start, at.v.stop - 3)
        linear = qdd_max[slide].min(initial=np.inf)
        w = min(qd_max[turn].min(), np.sqrt(qdd_max[turn].min()), np.sqrt(linear / SPAN))
        if slide.start < slide.stop:
            v = min(qd_max[slide].min(), 0.5 * linear / w) if np.isfinite(linear) else qd_max[slide].min()
            columns += [np.array([np.sqrt(3.0) * SPAN, v, 0.5 * linear])] * 3
        columns += [np.array([min(at.most, np.pi), w, 0.5 * qdd_max[turn].min()])] * 3
    return np.asarray(np.reshape(columns, (-1, 3)).T / np.sqrt(3.0))
