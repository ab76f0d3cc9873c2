"""Motions of closed loops by their driven coordinates, and the regressor of the driven efforts along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.nullspace import cut_open, driven_speeds
from linkwise.dynamics.closed_loops.regressor import closed_regressor
from linkwise.errors import ArgumentError, members
from linkwise.loops.linkage import Linkage
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

#: Positions, velocities and accelerations (K, nq), (K, nv), (K, nv).
Motion: TypeAlias = tuple[FloatArray, FloatArray, FloatArray]

#: Tolerance of a motion's end relative to its begin, rad or m: on another branch the end differs.
RETURNED = 1e-6

#: The part of its limits that a joint which follows may take at the instants at which it is looked at.
BETWEEN = 0.99

#: Random driven positions at which base parameters are counted.
POSITIONS = 64


@dataclass(frozen=True, eq=False)
class ClosedMotions:
    """Motions of a mechanism with loops by its driven coordinates.

    Attributes
    ----------
    linkage : Linkage
        With the branch on which motions are.
    speeds : list of int
        Which speeds (nv,) are driven.
    bounds : ndarray (2, n)
        Least and greatest joint coordinates; of those that follow, at instants.
    most : ndarray (2, nv)
        Greatest velocities and accelerations, likewise.
    """

    linkage: Linkage
    speeds: list[int]
    bounds: FloatArray
    most: FloatArray

    @classmethod
    def of(
        cls,
        mechanism: Tree,
        driven: Sequence[int | str] | int | str | None,
        q0: npt.ArrayLike | None,
        bounds: FloatArray,
        most: FloatArray,
    ) -> ClosedMotions:
        """The motions on the branch of q0, within position limits (n, 2), and those of velocity and acceleration (2, nv).

        Raises
        ------
        ArgumentError
            Where these coordinates cannot drive, are of joints with quaternions, or there are not as many as degrees of
            freedom.
        """
        name = "exciting_trajectory"
        speeds = driven_speeds(mechanism, driven, name)
        if turning := [mechanism.velocity_names[k] for k in speeds if k < mechanism.nv - mechanism.n]:
            raise ArgumentError(f"{name}: driven has {members(turning)}, of joints with quaternions, which no motion drives")
        linkage = Linkage(mechanism, [k - (mechanism.nv - mechanism.n) for k in speeds], q0)
        still = np.zeros(mechanism.nv)
        closed_regressor(mechanism, linkage.q0, still, still, driven, name=name)
        follows = np.isin(np.arange(mechanism.nv), speeds, invert=True)
        lowered = np.where(follows[mechanism.nv - mechanism.n :], _lowered(bounds.T), bounds.T)
        return cls(linkage, speeds, lowered, np.where(follows, BETWEEN * most, most))

    @cached_property
    def driven(self) -> list[int]:
        """Indices of the driven joint coordinates (n,)."""
        tree = self.linkage.mechanism
        return [k - (tree.nv - tree.n) for k in self.speeds]

    def assembled(self, u: FloatArray, ud: FloatArray, udd: FloatArray, near: FloatArray | None = None) -> Motion | None:
        """The motion of all coordinates, from one instant to the next or each from ``near`` (K, nq); None where it ends."""
        solution = self.linkage.trace(u) if near is None else self.linkage.position(u, near)
        if not np.all(solution.success):
            return None
        q = np.asarray(solution.q)
        try:
            qd = self.linkage.velocity(q, ud)
            return q, qd, self.linkage.acceleration(q, qd, udd)
        except ArgumentError:  # (a toggle position)
            return None

    def within(self, motion: Motion) -> bool:
        """True if all joints are within their limits, and the motion ends on its initial branch."""
        tree = self.linkage.mechanism
        (low, high), q = self.bounds, motion[0][:, tree.nq - tree.n :]
        again = self.linkage.position(self.linkage.driven_part(motion[0][:1]), motion[0][-1:]).q
        return bool(
            ((q >= low) & (q <= high)).all()
            and all((np.abs(part) <= limit).all() for part, limit in zip(motion[1:], self.most, strict=True))
            and np.abs(again - motion[0][:1]).max() < RETURNED
        )

    def wall(self, motion: Motion) -> FloatArray:
        """Barrier (K,) that is infinite at the limits of joints: the sum of r^2 / (1 - r^2), r the part of each limit."""
        tree = self.linkage.mechanism
        low, high = self.bounds
        ratios = [np.abs(part) / limit for part, limit in zip(motion[1:], self.most, strict=True)]
        bounded = np.isfinite(low) & np.isfinite(high)
        middle, half = 0.5 * (low[bounded] + high[bounded]), 0.5 * (high[bounded] - low[bounded])
        ratios.append((motion[0][:, tree.nq - tree.n :][:, bounded] - middle) / half)
        squares = np.square(np.concatenate(ratios, axis=1))
        with np.errstate(divide="ignore"):
            return np.asarray(np.where(squares < 1.0, squares / np.abs(1.0 - squares), np.inf).sum(axis=1))

    def rows(self, motion: Motion) -> FloatArray:
        """The regressor (K, m, P) of the efforts of the driven coordinates: G' times that of the tree, with qd = G ud."""
        unit = np.broadcast_to(np.eye(len(self.speeds))[:, None, :], (len(self.speeds), len(motion[0]), len(self.speeds)))
        led = np.stack([self.linkage.velocity(motion[0], speeds) for speeds in unit], axis=-2)
        return np.asarray(led @ kernel_of(cut_open(self.linkage.mechanism), "regressor")(*motion))

    def sampled(self, rng: np.random.Generator, centre: FloatArray, half: FloatArray) -> FloatArray:
        """Some positions (K, nq) of the branch."""
        u = centre + half * rng.uniform(-1.0, 1.0, (POSITIONS, len(centre)))
        solution = self.linkage.position(u)
        return np.concatenate([self.linkage.q0[None], np.asarray(solution.q)[np.asarray(solution.success)]])


def _lowered(bounds: FloatArray) -> FloatArray:
    """Limits (2, n) with some room, where both are finite."""
    low, high = bounds
    bounded = np.isfinite(low) & np.isfinite(high)
    spare = np.zeros_like(low)
    spare[bounded] = 0.5 * (1.0 - BETWEEN) * (high[bounded] - low[bounded])
    return np.stack([low + spare, high - spare])
