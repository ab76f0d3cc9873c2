"""What a dragged frame or joint is to come near to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.solve.trust_region import Aim
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class PoseAim(Aim):
    """A pose of a frame: |p - pt|^2 / (2 s^2) + w^2 (1 - cos(t)), with t the angle that is missing.

    Written with the columns of the rotations, 1 - cos(t) = |R - Rt|^2 / 4, it is smooth at every angle and exact at small
    ones.

    Attributes
    ----------
    pose, rates : callable
        q to the pose (4, 4) of the frame, and to its Jacobian (6, nv), world axes.
    target : ndarray (4, 4)
        The pose wanted.
    weight : float
        w^2.
    size : float
        s, m.
    """

    pose: Callable[[FloatArray], Any]
    rates: Callable[[FloatArray], Any]
    target: FloatArray
    weight: float
    size: float

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from the pose (k,)."""
        gap = self.pose(q)[..., :3, :] - self.target[:3]
        apart, turned = gap[..., 3], gap[..., :3]
        far = np.einsum("...i,...i->...", apart, apart) / (2.0 * self.size**2)
        return np.asarray(far + 0.25 * self.weight * np.einsum("...ij,...ij->...", turned, turned))

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative along the velocities (nv,)."""
        here, rates = self.pose(q), self.rates(q)
        gradient = rates[:3].T @ (here[:3, 3] - self.target[:3, 3]) / self.size**2
        if self.weight:
            turn = here[:3, :3] @ self.target[:3, :3].T
            moment = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            gradient = gradient + 0.5 * self.weight * (rates[3:].T @ moment)
        return np.asarray(gradient)


@dataclass(frozen=True, eq=False)
class CoordinateAim(Aim):
    """A value of one coordinate: (q_k - v)^2 / (2 u^2).

    Attributes
    ----------
    index : int
        Index of the coordinate in q.
    velocity : int
        Velocity of its velocity in qd.
    velocities : int
        How many there are, nv.
    target : float
        The value wanted, rad or m.
    unit : float
        What lengths are divided by.
    """

    index: int
    velocity: int
    velocities: int
    target: float
    unit: float

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from it (k,)."""
        return np.asarray(0.5 * ((q[..., self.index] - self.target) / self.unit) ** 2)

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative along the velocities (nv,)."""
        gradient = np.zeros(self.velocities)
        gradient[self.velocity] = (q[self.index] - self.target) / self.unit**2
        return gradient
