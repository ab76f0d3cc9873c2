"""Finite Fourier series: motions that repeat, known exactly at every time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.state import State


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
    """What each coefficient adds to q, qd and qdd at some times: (3, K, 2 H)."""
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    sin, cos = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    return np.stack([np.hstack([sin / w, -cos / w]), np.hstack([cos, sin]), np.hstack([-w * sin, w * cos])])


def resting(period: float, harmonics: int) -> FloatArray:
    """Orthonormal directions (2 H, 2 H - 2) of the coefficients of motions that begin, and end, at rest: qd = qdd = 0."""
    conditions = basis(np.zeros(1), period, harmonics)[1:, 0]
    return np.asarray(np.linalg.svd(conditions)[2][2:].T)
