"""Where a mechanism may go while it is followed: loops stay closed, joints within their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm.compile import kernel_of
from linkwise.errors import ArgumentError
from linkwise.loops import Linkage, assemble
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closed_samples, closing
from linkwise.model.tree import Tree
from linkwise.solve.lengths import size_of
from linkwise.spatial.scalar import FloatArray

Mask = npt.NDArray[np.bool_]

RANK = 1e-8
"""Singular values of the closure Jacobian below this share of the greatest count as zero."""

ROUNDS, SOUND = 30, 1e-14
"""Corrections that close the loops again after a step, at most, and what may be left then without another."""


@dataclass(frozen=True, eq=False)
class FeasibleMotions:
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


class FeasibleSet:
    """The positions that a mechanism may take, and the ways between them that are near.

    Parameters
    ----------
    mechanism : Mechanism
        Any. A floating base stays.
    moving : ndarray of bool (n,)
        Which joint coordinates may move.

    Attributes
    ----------
    task : LoopEquations or None
        The closure equations.
    size : float
        The length that compares with 1 rad, m.
    units : ndarray (n,)
        What coordinates are divided by.
    low, high : ndarray (n,)
        Limits, rad or m.
    """

    def __init__(self, mechanism: Tree, moving: Mask) -> None:
        self.mechanism, self.moving = mechanism, moving
        self.task: LoopEquations | None = closing(mechanism) if mechanism.loops else None
        self.size = size_of(mechanism)
        self.units = np.where(np.asarray(mechanism.slides, dtype=bool), self.task.size if self.task else self.size, 1.0)
        self.low, self.high = mechanism.q_min, mechanism.q_max
        self.base = mechanism.nq - mechanism.n
        self._eye = np.eye(mechanism.n)
        self._limited = np.flatnonzero(moving & (np.isfinite(self.low) | np.isfinite(self.high)))
        if self.task is not None:
            self._closure: Any = kernel_of(mechanism, "closure", None, {})
            self._rows = self.task.rows

    def tangent(self, q: FloatArray) -> FeasibleMotions:
        """The motions at a closed position q (nq,)."""
        free = self.moving
        if self.task is None:
            return FeasibleMotions(self._eye[:, free], None)
        jac = self.task.jacobian(q)[:, free]
        left, values, right = np.linalg.svd(jac)
        rank = int((values > RANK * max(values[0], RANK)).sum())
        basis = np.zeros((len(free), right.shape[0] - rank))
        back = np.zeros((len(free), len(jac)))
        basis[free] = right[rank:].T
        back[free] = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        return FeasibleMotions(basis, back)

    def held(self, tangent: FeasibleMotions, resting: npt.NDArray[np.intp]) -> FeasibleMotions:
        """Those of the motions during which some joints rest, given by their rows of `room`."""
        joints = np.unique(self._limited[resting % len(self._limited)])
        return self._without(tangent, joints)

    def _without(self, tangent: FeasibleMotions, joints: npt.NDArray[np.intp]) -> FeasibleMotions:
        """Those of the motions during which these joints rest."""
        rows = tangent.basis[joints]
        left, values, right = np.linalg.svd(rows)
        rank = int((values > RANK).sum())
        basis = tangent.basis @ right[rank:].T
        if tangent.back is None:
            return FeasibleMotions(basis, None)
        still = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        back = tangent.back - tangent.basis @ (still @ tangent.back[joints])
        back[joints] = 0.0
        return FeasibleMotions(basis, back)

    def beside(self, q: FloatArray, tangent: FeasibleMotions, steps: FloatArray) -> FloatArray:
        """Positions (k, nq) at small steps (k, m) along the basis; loops closed to second order."""
        positions = np.repeat(q[None], len(steps), axis=0)
        positions[:, self.base :] += (steps @ tangent.basis.T) * self.units
        if self.task is not None and tangent.back is not None:
            for _ in range(2):
                positions[:, self.base :] -= ((self._closure(positions) * self._rows) @ tangent.back.T) * self.units
        return positions

    def moved(self, q: FloatArray, tangent: FeasibleMotions, step: FloatArray) -> FloatArray | None:
        """The position (nq,) after a step (m,), loops closed, within the limits; None where there is none near by."""
        trial = q.copy()
        trial[self.base :] = np.clip(q[self.base :] + (tangent.basis @ step) * self.units, self.low, self.high)
        if self.task is None:
            return trial
        closed = self.closed_again(trial, tangent)
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

    def closed_again(self, q: FloatArray, tangent: FeasibleMotions) -> FloatArray | None:
        """Close loops that are open by little, by Newton's method with the Jacobian that is known."""
        assert tangent.back is not None
        position, before = q.copy(), np.inf
        for _ in range(ROUNDS):
            residual = self._closure(position) * self._rows
            left = float(np.abs(residual).max())
            if left <= SOUND or (left <= CLOSED and left >= 0.5 * before):
                return position
            if not left <= 0.8 * before:
                return None
            before = left
            position[self.base :] -= (tangent.back @ residual) * self.units
        return position if before <= CLOSED else None

    def settled(self, q: FloatArray) -> FloatArray:
        """The position (nq,) within the limits, and with loops closed where that is possible, next to any other."""
        position = q.copy()
        position[self.base :] = np.clip(position[self.base :], self.low, self.high)
        if self.task is None or self.open_by(position) <= CLOSED:
            return position
        return np.asarray(closed_near(self.task, position[None])[0][0])

    def open_by(self, q: FloatArray) -> float:
        """How far the loops are open at q (nq,), in longest offsets and rad; 0 where there are none."""
        return 0.0 if self.task is None else float(self.task.error(q))

    def room(self, q: FloatArray, tangent: FeasibleMotions) -> tuple[FloatArray, FloatArray]:
        """Rows (k, m) and bounds (k,) of the steps that stay within the limits: rows @ step <= bounds."""
        which = self._limited
        joints, units, basis = q[self.base :][which], self.units[which], tangent.basis[which]
        above, below = (self.high[which] - joints) / units, (joints - self.low[which]) / units
        return np.concatenate([basis, -basis]), np.maximum(np.concatenate([above, below]), 0.0)


ASIDE, TRIES = 0.02, 16
"""How far from a singular position another one is looked for, rad or longest offsets, and how often."""

STEPS = 30
"""Of closing the loops there again, at most."""

SINGULAR, REGULAR = 1e-3, 1e-2
"""The least singular value that counts, as a part of what it is elsewhere: below the first a position is as good as
singular, above the second it is well away."""


@dataclass(frozen=True, eq=False)
class LoopStart:
    """What loops make of a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        With loops.
    q : ndarray (nq,)
        A position with loops closed and not singular, or the least open one where none can be closed.
    held : ndarray of bool (n,)
        Which joints the loops hold.
    driven : tuple of int
        Joint coordinates that drive the loops; none where nothing can.
    rank : int
        Independent closure equations.
    least : float
        The least singular value of theirs as a part of the greatest, at a typical position.
    """

    mechanism: Tree
    q: FloatArray
    held: npt.NDArray[np.bool_]
    driven: tuple[int, ...]
    rank: int
    least: float

    def regular(self, q: FloatArray) -> FloatArray:
        """The position (nq,) itself, or where loops could go on in several ways from it, the nearest of some beside it.

        Where the joints of a loop lie in one line, say, what is allowed to first order is more than what is allowed. The
        same is returned for the same position.
        """
        task = closing(self.mechanism)
        if not self.rank or self._share(task.jacobian(q)) > SINGULAR * self.least or task.error(q) > CLOSED:
            return q
        aside = np.random.default_rng(0).normal(0.0, ASIDE, (TRIES, self.mechanism.n)) * task.columns
        starts = np.repeat(q[None], TRIES, axis=0)
        starts[:, task.base :] += aside
        closed, error, _ = closed_near(task, starts, iterations=STEPS)
        good = np.flatnonzero((error <= CLOSED) & (self._share(task.jacobian(closed)) > REGULAR * self.least))
        if not good.size:
            return q
        apart = np.linalg.norm((closed - q)[good, task.base :] / task.columns, axis=1)
        return np.asarray(closed[good[int(np.argmin(apart))]])

    def _share(self, jac: FloatArray) -> FloatArray:
        """The least singular value that counts (...,), as a part of the greatest, of closure Jacobians (..., K, n)."""
        values = np.linalg.svd(jac, compute_uv=False)
        return np.asarray(values[..., self.rank - 1] / np.maximum(values[..., 0], RANK))


def loop_start(mechanism: Tree) -> LoopStart:
    """Return what loops make of a mechanism; found once."""
    return mechanism.memo("interactive", "loop start", lambda: _find_start(mechanism))


def _find_start(mechanism: Tree) -> LoopStart:
    task, assembled = closing(mechanism), assemble(mechanism)
    samples = closed_samples(task) if assembled.success else assembled.q[None]
    samples = samples if len(samples) else assembled.q[None]
    jac = task.jacobian(samples)
    held = np.asarray(np.abs(jac).max(axis=(0, 1)) > CLOSED)
    values = np.linalg.svd(jac, compute_uv=False)
    ranks = (values > RANK * np.maximum(values[:, :1], RANK)).sum(axis=1)
    rank = int(ranks.max()) if assembled.success else 0
    least = float(np.median(values[ranks == rank, rank - 1] / values[ranks == rank, 0])) if rank else 0.0
    try:
        driven = tuple(mechanism.names.index(name) for name in Linkage(mechanism).driven)
    except ArgumentError:
        driven = ()
    first = LoopStart(mechanism, np.asarray(assembled.q), held, driven, rank, least)
    return LoopStart(mechanism, first.regular(first.q), held, driven, rank, least)
