"""What is followed: how far a position is from it, and which way it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from linkwise.spatial.scalar import FloatArray


class Aim(Protocol):
    """Something to come near to."""

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from it (k,), without unit, 0 there."""

    def value(self, q: FloatArray) -> float:
        """The same of one position (nq,)."""

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,), at a position (nq,)."""


@dataclass(frozen=True, eq=False)
class PoseAim:
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
    joints : int
        Number of joint coordinates, the last columns of the Jacobian.
    """

    pose: Callable[[FloatArray], Any]
    rates: Callable[[FloatArray], Any]
    target: FloatArray
    weight: float
    size: float
    joints: int

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from the pose (k,)."""
        gap = self.pose(q)[..., :3, :] - self.target[:3]
        apart, turned = gap[..., 3], gap[..., :3]
        far = np.einsum("...i,...i->...", apart, apart) / (2.0 * self.size**2)
        return np.asarray(far + 0.25 * self.weight * np.einsum("...ij,...ij->...", turned, turned))

    def value(self, q: FloatArray) -> float:
        """How far one position (nq,) is from the pose."""
        return float(self.values(q))

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,)."""
        here, rates = self.pose(q), self.rates(q)[:, -self.joints :]
        made = rates[:3].T @ (here[:3, 3] - self.target[:3, 3]) / self.size**2
        if self.weight:
            turn = here[:3, :3] @ self.target[:3, :3].T
            moment = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            made = made + 0.5 * self.weight * (rates[3:].T @ moment)
        return np.asarray(made)


@dataclass(frozen=True, eq=False)
class CoordinateAim:
    """A value of one coordinate: (q_k - v)^2 / (2 u^2).

    Attributes
    ----------
    index : int
        Of the coordinate in q.
    joint : int
        Of the joint coordinate.
    joints : int
        How many there are.
    target : float
        The value wanted, rad or m.
    unit : float
        What lengths are divided by.
    """

    index: int
    joint: int
    joints: int
    target: float
    unit: float

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from it (k,)."""
        return np.asarray(0.5 * ((q[..., self.index] - self.target) / self.unit) ** 2)

    def value(self, q: FloatArray) -> float:
        """How far one position (nq,) is from it."""
        return float(self.values(q))

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,)."""
        made = np.zeros(self.joints)
        made[self.joint] = (q[self.index] - self.target) / self.unit**2
        return made
