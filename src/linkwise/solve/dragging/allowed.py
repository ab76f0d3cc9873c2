"""Where a mechanism may go while it is followed: loops stay closed, joints within their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.kinematics.closing import CLOSED, Closing, closed_near, closing
from linkwise.solve.steps import size_of
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

Mask = npt.NDArray[np.bool_]

RANK = 1e-8
"""Singular values of the closure Jacobian below this share of the greatest count as zero."""

ROUNDS, SOUND = 30, 1e-14
"""Corrections that close the loops again after a step, at most, and what may be left then without another."""


@dataclass(frozen=True, eq=False)
class Tangent:
    """The motions that are allowed at a position, to first order, in units in which lengths and angles compare.

    Attributes
    ----------
    basis : ndarray (n, m)
        Orthonormal.
    back : ndarray (n, K) or None
        The least motion that closes loops which are open by little: the pseudo-inverse of the closure Jacobian. None
        where there are no loops.
    """

    basis: FloatArray
    back: FloatArray | None


class Allowed:
    """The positions that a mechanism may take, and the ways between them that are near.

    Parameters
    ----------
    mechanism : Mechanism
        Any. A floating base stays.
    moving : ndarray of bool (n,)
        Which joint coordinates may move.

    Attributes
    ----------
    task : Closing or None
        The closure equations.
    size : float
        The length that compares with 1 rad, m.
    units : ndarray (n,)
        What coordinates are divided by.
    low, high : ndarray (n,)
        Limits, rad or m.
    """

    def __init__(self, mechanism: Mechanism, moving: Mask) -> None:
        self.mechanism, self.moving = mechanism, moving
        self.task: Closing | None = closing(mechanism) if mechanism.loops else None
        self.size = size_of(mechanism)
        self.units = np.where(np.asarray(mechanism.slides, dtype=bool), self.task.size if self.task else self.size, 1.0)
        self.low, self.high = mechanism.limits.T
        self.base = mechanism.nq - mechanism.n
        self._eye = np.eye(mechanism.n)
        self._limited = np.flatnonzero(moving & (np.isfinite(self.low) | np.isfinite(self.high)))
        if self.task is not None:
            self._closure: Any = mechanism.kernel("closure")
            self._jacobian: Any = mechanism.kernel("closure_jacobian")
            self._rows = self.task.rows
            self._scale = self._rows[:, None] * self.units
            self._speeds = mechanism.nv - mechanism.n

    def tangent(self, q: FloatArray) -> Tangent:
        """The motions at a closed position q (nq,)."""
        free = self.moving
        if self.task is None:
            return Tangent(self._eye[:, free], None)
        jac = (self._jacobian(q)[:, self._speeds :] * self._scale)[:, free]
        left, values, right = np.linalg.svd(jac)
        rank = int((values > RANK * max(values[0], RANK)).sum())
        basis = np.zeros((len(free), right.shape[0] - rank))
        back = np.zeros((len(free), len(jac)))
        basis[free] = right[rank:].T
        back[free] = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        return Tangent(basis, back)

    def held(self, tangent: Tangent, resting: npt.NDArray[np.intp]) -> Tangent:
        """Those of the motions during which some joints rest, given by their rows of `room`."""
        joints = np.unique(self._limited[resting % len(self._limited)])
        return self._without(tangent, joints)

    def _without(self, tangent: Tangent, joints: npt.NDArray[np.intp]) -> Tangent:
        """Those of the motions during which these joints rest."""
        rows = tangent.basis[joints]
        left, values, right = np.linalg.svd(rows)
        rank = int((values > RANK).sum())
        basis = tangent.basis @ right[rank:].T
        if tangent.back is None:
            return Tangent(basis, None)
        still = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        back = tangent.back - tangent.basis @ (still @ tangent.back[joints])
        back[joints] = 0.0
        return Tangent(basis, back)

    def beside(self, q: FloatArray, tangent: Tangent, steps: FloatArray) -> FloatArray:
        """Positions (k, nq) at small steps (k, m) along the basis; loops closed to second order."""
        made = np.repeat(q[None], len(steps), axis=0)
        made[:, self.base :] += (steps @ tangent.basis.T) * self.units
        if self.task is not None and tangent.back is not None:
            for _ in range(2):
                made[:, self.base :] -= ((self._closure(made) * self._rows) @ tangent.back.T) * self.units
        return made

    def moved(self, q: FloatArray, tangent: Tangent, step: FloatArray) -> FloatArray | None:
        """The position (nq,) after a step (m,), loops closed, within the limits; None where there is none near by."""
        made = q.copy()
        made[self.base :] = np.clip(q[self.base :] + (tangent.basis @ step) * self.units, self.low, self.high)
        if self.task is None:
            return made
        closed = self.closed_again(made, tangent)
        if closed is None:
            return None
        joints = closed[self.base :]
        outside = (joints < self.low) | (joints > self.high)
        if outside.any():
            closed[self.base :] = np.clip(joints, self.low, self.high)
            closed = self.closed_again(closed, self._without(self.tangent(closed), np.flatnonzero(outside)))
            if closed is None or ((closed[self.base :] < self.low) | (closed[self.base :] > self.high)).any():
                return None
        return closed

    def closed_again(self, q: FloatArray, tangent: Tangent) -> FloatArray | None:
        """Close loops that are open by little, by Newton's method with the Jacobian that is known."""
        assert tangent.back is not None
        made, before = q.copy(), np.inf
        for _ in range(ROUNDS):
            residual = self._closure(made) * self._rows
            left = float(np.abs(residual).max())
            if left <= SOUND or (left <= CLOSED and left >= 0.5 * before):
                return made
            if not left <= 0.8 * before:
                return None
            before = left
            made[self.base :] -= (tangent.back @ residual) * self.units
        return made if before <= CLOSED else None

    def settled(self, q: FloatArray) -> FloatArray:
        """The position (nq,) within the limits, and with loops closed where that is possible, next to any other."""
        made = q.copy()
        made[self.base :] = np.clip(made[self.base :], self.low, self.high)
        if self.task is None or self.open_by(made) <= CLOSED:
            return made
        return np.asarray(closed_near(self.task, made[None])[0][0])

    def open_by(self, q: FloatArray) -> float:
        """How far the loops are open at q (nq,), in longest offsets and rad; 0 where there are none."""
        return 0.0 if self.task is None else float(self.task.error(q))

    def room(self, q: FloatArray, tangent: Tangent) -> tuple[FloatArray, FloatArray]:
        """Rows (k, m) and bounds (k,) of the steps that stay within the limits: rows @ step <= bounds."""
        which = self._limited
        joints, units, basis = q[self.base :][which], self.units[which], tangent.basis[which]
        above, below = (self.high[which] - joints) / units, (joints - self.low[which]) / units
        return np.concatenate([basis, -basis]), np.maximum(np.concatenate([above, below]), 0.0)
