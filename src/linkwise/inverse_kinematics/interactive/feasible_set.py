"""The positions that a mechanism may take near others: joint limits, cones of ball joints and closed loops.

Motions are velocities (nv,) for a unit of time, so that joints with quaternions turn along their tangents: `integrate` makes
coordinates of them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.configuration import tangent_derivative
from linkwise.loops import Linkage, assemble
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closed_samples, closing
from linkwise.model.tree import Tree
from linkwise.solve.lengths import size_of
from linkwise.solve.trust_region import Aim
from linkwise.spatial.quaternion import unit_quaternion
from linkwise.spatial.scalar import Array, FloatArray

Mask = npt.NDArray[np.bool_]

#: Step of difference quotients for the curvature: truncation grows with its square, rounding with its inverse.
ASIDE = 3e-4

#: Relative threshold of zero singular values of the closure Jacobian.
RANK = 1e-8

#: Greatest number of corrections that close the loops after a step, and the error below which they end.
ROUNDS, SOUND = 30, 1e-14

#: By so much, rad, an axis may lean beyond its cone.
BEYOND = 1e-12


@dataclass(frozen=True, eq=False)
class FeasibleMotions:
    """The motions that are allowed at a position, to first order, in units in which lengths and angles compare.

    Attributes
    ----------
    basis : ndarray (nv, m)
        Orthonormal.
    back : ndarray (nv, K) or None
        The least motion that closes loops which are open by little: the pseudo-inverse of the closure Jacobian. None
        where there are no loops.
    leaning : ndarray of int
        The cones, of `FeasibleSet.cones`, on which axes stay.
    """

    basis: FloatArray
    back: FloatArray | None
    leaning: npt.NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))


class FeasibleSet:
    """The feasible positions of a mechanism, and small motions among them.

    Parameters
    ----------
    mechanism : Mechanism
        Any.
    moving : ndarray of bool (nv,)
        Along which velocities it may move.

    Attributes
    ----------
    task : LoopEquations or None
        The closure equations.
    size : float
        The length that compares with 1 rad, m.
    units : ndarray (nv,)
        What motions are divided by.
    low, high : ndarray (n,)
        Limits, rad or m.
    turning, cones : tuple of ManifoldJoint
        The joints with quaternions that may move, and those of them that have limits.
    """

    def __init__(self, mechanism: Tree, moving: Mask) -> None:
        self.mechanism, self.moving = mechanism, moving
        self.task: LoopEquations | None = closing(mechanism) if mechanism.loops else None
        self.size = size_of(mechanism)
        lengths = np.asarray(mechanism.is_linear_velocity, dtype=bool)
        self.units = np.where(lengths, self.task.size if self.task else self.size, 1.0)
        self.low, self.high = mechanism.q_min, mechanism.q_max
        self.base, self.first = mechanism.nq - mechanism.n, mechanism.nv - mechanism.n
        self.turning = tuple(at for at in mechanism.manifold_joints if moving[at.v].any())
        self.cones = tuple(at for at in self.turning if np.isfinite(at.most))
        self._eye = np.eye(mechanism.nv)
        self._limited = np.flatnonzero(moving[self.first :] & (np.isfinite(self.low) | np.isfinite(self.high)))
        if self.task is not None:
            self._closure: Any = kernel_of(mechanism, "closure", None, {})
            self._rows = self.task.rows

    @cached_property
    def _lean(self) -> Kernel:
        """Build the function of q (nq,) for the excess of axes over their cones (c,), rad, and its derivative (c, nv)."""

        def excess(q: Array) -> Array:
            return np.array([at.joint.excess(q[at.q], at.most) for at in self.cones], dtype=object)

        def both(q: Array) -> tuple[Array, Array]:
            return excess(q), tangent_derivative(self.mechanism, excess, q)

        count = len(self.cones)
        outputs = {"excess": (count,), "slopes": (count, self.mechanism.nv)}
        return Kernel(trace(both, "lean", {"q": (self.mechanism.nq,)}, outputs))

    def stepped(self, q: FloatArray, motion: FloatArray) -> FloatArray:
        """Configurations (..., nq) after small motions (..., nv)."""
        result = np.array(q)
        result[..., self.base :] += motion[..., self.first :]
        if self.turning:
            turned = kernel_of(self.mechanism, "integrate")(q, motion, 1.0)
            for at in self.turning:
                result[..., at.q] = turned[..., at.q]
        return result

    def tangent(self, q: FloatArray) -> FeasibleMotions:
        """The motions at a closed position q (nq,)."""
        free = self.moving
        if self.task is None:
            return FeasibleMotions(self._eye[:, free], None)
        jac = np.zeros((len(self._rows), len(free)))
        jac[:, self.task.speeds] = self.task.jacobian(q)
        jac = jac[:, free]
        left, values, right = np.linalg.svd(jac)
        rank = int((values > RANK * max(values[0], RANK)).sum())
        basis = np.zeros((len(free), right.shape[0] - rank))
        back = np.zeros((len(free), len(jac)))
        basis[free] = right[rank:].T
        back[free] = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        return FeasibleMotions(basis, back)

    def with_active(self, q: FloatArray, tangent: FeasibleMotions, resting: npt.NDArray[np.intp]) -> FeasibleMotions:
        """Restrict the motions at q to those that keep some limits, given by their rows of `room`."""
        ends = 2 * len(self._limited)
        joints = np.unique(self._limited[resting[resting < ends] % max(1, len(self._limited))])
        return self._without(q, tangent, joints, resting[resting >= ends] - ends)

    def _without(
        self, q: FloatArray, tangent: FeasibleMotions, joints: npt.NDArray[np.intp], leaning: npt.NDArray[np.intp]
    ) -> FeasibleMotions:
        """Restrict the motions at q to those that lock joints (of the n) and keep axes on their cones."""
        places = self.first + joints
        cones = self._lean(q)[1][leaning] * self.units if leaning.size else self._eye[:0]
        rows = np.concatenate([tangent.basis[places], cones @ tangent.basis])
        left, values, right = np.linalg.svd(rows)
        rank = int((values > RANK).sum())
        basis = tangent.basis @ right[rank:].T
        if tangent.back is None:
            return FeasibleMotions(basis, None, leaning)
        still = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        back = tangent.back - tangent.basis @ (still @ np.concatenate([tangent.back[places], cones @ tangent.back]))
        back[places] = 0.0
        return FeasibleMotions(basis, back, leaning)

    def beside(self, q: FloatArray, tangent: FeasibleMotions, steps: FloatArray) -> FloatArray:
        """Positions (k, nq) at small steps (k, m) along the basis; loops closed, axes on cones, to second order."""
        positions = np.repeat(q[None], len(steps), axis=0)
        positions = self._on_cones(self.stepped(positions, (steps @ tangent.basis.T) * self.units), tangent)
        if self.task is not None and tangent.back is not None:
            for _ in range(2):
                motion = ((self._closure(positions) * self._rows) @ tangent.back.T) * self.units
                positions = self._on_cones(self.stepped(positions, -motion), tangent)
        return positions

    def moved(self, q: FloatArray, tangent: FeasibleMotions, step: FloatArray) -> FloatArray | None:
        """Position (nq,) after a step (m,), loops closed, within the limits; None if there is none nearby."""
        trial = self.stepped(q, (tangent.basis @ step) * self.units)
        trial = self._clipped(self._on_cones(trial[None], tangent)[0])
        if self.task is None:
            return trial
        closed = self.closed_again(trial, tangent)
        if closed is None:
            return None
        outside, leaning = self._outside(closed)
        if outside.any() or leaning.any():
            closed = self._clipped(closed)
            tangent = self._without(closed, self.tangent(closed), np.flatnonzero(outside), np.flatnonzero(leaning))
            closed = self.closed_again(closed, tangent)
            if closed is None or any(beyond.any() for beyond in self._outside(closed)):
                return None
        return closed

    def _on_cones(self, q: FloatArray, tangent: FeasibleMotions) -> FloatArray:
        """Configurations (k, nq) near their cones with the axes that stay on these brought back (one Newton step)."""
        if not tangent.leaning.size:
            return q
        excess, slopes = (values[:, tangent.leaning] for values in self._lean(q))
        return self.stepped(q, -np.einsum("kc,kcv->kv", excess / (slopes**2).sum(axis=-1), slopes))

    def _clipped(self, q: FloatArray) -> FloatArray:
        """The configuration (nq,), in place, at its limits where it is beyond."""
        q[self.base :] = np.clip(q[self.base :], self.low, self.high)
        for at in self.cones:
            if at.joint.excess(q[at.q], at.most) > 0.0:
                q[at.q] = np.asarray(at.joint.clipped(q[at.q], at.most), dtype=float)
        return q

    def _outside(self, q: FloatArray) -> tuple[Mask, Mask]:
        """Mark joints (n,), and axes with cones (c,), beyond their limits at q (nq,)."""
        joints = q[self.base :]
        leaning = np.array([at.joint.excess(q[at.q], at.most) > BEYOND for at in self.cones], dtype=bool)
        return (joints < self.low) | (joints > self.high), leaning

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
            position = self.stepped(position, -(tangent.back @ residual) * self.units)
        return position if before <= CLOSED else None

    def settled(self, q: FloatArray) -> FloatArray:
        """The position (nq,) within the limits, and with loops closed where that is possible, next to any other."""
        position = q.copy()
        for at in self.turning:
            position[at.quaternion] = unit_quaternion(position[at.quaternion])
        position = self._clipped(position)
        if self.task is None or self.open_by(position) <= CLOSED:
            return position
        return np.asarray(closed_near(self.task, position[None])[0][0])

    def open_by(self, q: FloatArray) -> float:
        """Closure error of the loops at q (nq,), relative to the longest offset and rad; 0 without loops."""
        return 0.0 if self.task is None else float(self.task.error(q))

    def room(self, q: FloatArray, tangent: FeasibleMotions) -> tuple[FloatArray, FloatArray]:
        """Rows (k, m) and bounds (k,) of the steps that stay within the limits: rows @ step <= bounds."""
        which, places = self._limited, self.first + self._limited
        joints, units, basis = q[self.base :][which], self.units[places], tangent.basis[places]
        above, below = (self.high[which] - joints) / units, (joints - self.low[which]) / units
        rows, bounds = [basis, -basis], [above, below]
        if self.cones:
            excess, slopes = self._lean(q)
            rows, bounds = [*rows, (slopes * self.units) @ tangent.basis], [*bounds, -excess]
        return np.concatenate(rows), np.maximum(np.concatenate(bounds), 0.0)

    def curvature(self, aim: Aim, q: FloatArray, value: float, tangent: FeasibleMotions) -> FloatArray:
        """The second derivative (m, m) of the value along the basis, from second differences."""
        count = tangent.basis.shape[1]
        differences = aim.values(self.beside(q, tangent, _offsets(count))) - value
        both = differences[: len(differences) // 2] + differences[len(differences) // 2 :]
        diagonal = both[:count]
        hessian = np.diag(diagonal)
        rows, columns = _pairs(count)
        hessian[rows, columns] = hessian[columns, rows] = 0.5 * (both[count:] - diagonal[rows] - diagonal[columns])
        return hessian / ASIDE**2

    def at_limits(self, q: FloatArray, near: float) -> list[str]:
        """Names of the movable joints within a distance, rad or m, of a limit."""
        joints = q[self.base :]
        at = ((joints - self.low <= near) | (self.high - joints <= near)) & self.moving[self.first :]
        leaning = [cone.name for cone in self.cones if cone.joint.excess(q[cone.q], cone.most) >= -near]
        return [self.mechanism.names[k] for k in np.flatnonzero(at)] + leaning


@cache
def _pairs(count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    return np.triu_indices(count, 1)


@cache
def _offsets(count: int) -> FloatArray:
    """Steps along each direction, and along each pair of them, forwards, then backwards."""
    rows, columns = _pairs(count)
    eye = np.eye(count)
    steps = ASIDE * np.concatenate([eye, eye[rows] + eye[columns]])
    both = np.concatenate([steps, -steps])
    both.flags.writeable = False
    return both


#: Distance of trial positions from a singular one, rad or longest offsets, and their number.
SIDESTEP, TRIES = 0.02, 16

#: Greatest number of steps that close the loops there.
STEPS = 30

#: Least significant singular value, relative to its usual value: below the first a position counts as singular, above the
#: second as regular.
SINGULAR, REGULAR = 1e-3, 1e-2


@dataclass(frozen=True, eq=False)
class LoopStart:
    """Properties of the closed loops of a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        With loops.
    q : ndarray (nq,)
        A position with loops closed and not singular, or the least open one where none can be closed.
    in_loops : ndarray of bool (nv,)
        Velocities that the loops constrain.
    driven : tuple of int
        Joint coordinates that drive the loops; none where nothing can.
    rank : int
        Independent closure equations.
    least : float
        The least singular value of theirs as a part of the greatest, at a typical position.
    """

    mechanism: Tree
    q: FloatArray
    in_loops: npt.NDArray[np.bool_]
    driven: tuple[int, ...]
    rank: int
    least: float

    def regular(self, q: FloatArray) -> FloatArray:
        """Return the position (nq,), or near a bifurcation of the loops the nearest regular one among some tried.

        Where the joints of a loop lie in one line, say, what is allowed to first order is more than what is allowed. The
        same is returned for the same position.
        """
        task = closing(self.mechanism)
        if not self.rank or self._share(task.jacobian(q)) > SINGULAR * self.least or task.error(q) > CLOSED:
            return q
        aside = np.random.default_rng(0).normal(0.0, SIDESTEP, (TRIES, len(task.speeds))) * task.columns
        starts = task.moved(np.repeat(q[None], TRIES, axis=0), aside)
        closed, error, _ = closed_near(task, starts, iterations=STEPS)
        good = np.flatnonzero((error <= CLOSED) & (self._share(task.jacobian(closed)) > REGULAR * self.least))
        if not good.size:
            return q
        apart = np.linalg.norm(task.apart(np.broadcast_to(q, closed.shape)[good], closed[good]), axis=1)
        return np.asarray(closed[good[int(np.argmin(apart))]])

    def _share(self, jac: FloatArray) -> FloatArray:
        """Ratio (...,) of the least significant to the greatest singular value of closure Jacobians (..., K, n)."""
        values = np.linalg.svd(jac, compute_uv=False)
        return np.asarray(values[..., self.rank - 1] / np.maximum(values[..., 0], RANK))


def loop_start(mechanism: Tree) -> LoopStart:
    """Return the loop properties of a mechanism, cached."""
    return mechanism.memo("interactive", "loop start", lambda: _find_start(mechanism))


def _find_start(mechanism: Tree) -> LoopStart:
    task, assembled = closing(mechanism), assemble(mechanism)
    samples = closed_samples(task) if assembled.success else assembled.q[None]
    samples = samples if len(samples) else assembled.q[None]
    jac = task.jacobian(samples)
    in_loops = np.zeros(mechanism.nv, dtype=bool)
    in_loops[task.speeds] = np.abs(jac).max(axis=(0, 1)) > CLOSED
    values = np.linalg.svd(jac, compute_uv=False)
    ranks = (values > RANK * np.maximum(values[:, :1], RANK)).sum(axis=1)
    rank = int(ranks.max()) if assembled.success else 0
    least = float(np.median(values[ranks == rank, rank - 1] / values[ranks == rank, 0])) if rank else 0.0
    try:
        driven = tuple(mechanism.names.index(name) for name in Linkage(mechanism).driven)
    except ArgumentError:
        driven = ()
    first = LoopStart(mechanism, np.asarray(assembled.q), in_loops, driven, rank, least)
    return LoopStart(mechanism, first.regular(first.q), in_loops, driven, rank, least)
