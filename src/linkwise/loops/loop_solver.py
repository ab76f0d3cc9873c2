"""Solver that closes the loops of a mechanism from any position, for whole batches, and measures the closure error.

Damped least squares with the damping that K. Levenberg (1944) and D. W. Marquardt (1963) gave it, in proportion to the
square of what is left, which keeps the end quadratic where closure equations repeat each other (N. Yamashita, M. Fukushima,
"On the rate of convergence of the Levenberg-Marquardt method", Computing Suppl. 15, 2001). Lengths are in units of the
longest offset of the mechanism, so that m and rad compare.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.kinematics.configuration import random_coordinates
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.joint_limits import near_zero
from linkwise.solve.lengths import longest_offset
from linkwise.solve.levenberg_marquardt import CLOSE
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import first_index

#: Up to here loops count as closed: lengths over the longest offset, and sines of angles.
CLOSED = 1e-12

#: Tolerance of the closure of a given position, relative to the longest offset, or rad; and of the velocities and
#: accelerations of the loops' ends, relative to their terms.
NEARLY = 1e-6

#: Velocities and accelerations of loops' ends below this many longest offsets, or rad, per s or s2 count as none.
REST = 1e-9

#: Steps of damped least squares from one start.
ITERATIONS = 200


_PERFECT = 1e-15

#: The damping does not fall below this part of the squared error.
_LEAST = 1e-6

#: Smaller closure errors may come from numbers given with few digits.
_MISFIT = 1e-2


@dataclass(frozen=True, eq=False)
class LoopEquations:
    """The closure equations of a mechanism with rows and columns brought to one unit.

    Attributes
    ----------
    mechanism : Mechanism
        With loops.
    size : float
        The longest offset between joints, or from a joint to a loop's frame, m; 1 where there is none.
    """

    mechanism: Tree
    size: float

    @cached_property
    def rows(self) -> FloatArray:
        """Scales of the rows (K,): one over the size for lengths, 1 for angles."""
        kinds = [CLOSURE_ROWS[loop.kind] for loop in self.mechanism.loops]
        return np.concatenate([np.repeat([1.0 / self.size, 1.0], [3, count - 3]) for count in kinds])

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions that a loop runs through."""
        return joints_in_loops(self.mechanism)

    @cached_property
    def speeds(self) -> npt.NDArray[np.intp]:
        """Velocities (s,) by which the loops are closed: of joints with quaternions in loops, then of all others."""
        tree = self.mechanism
        inside = [np.arange(at.v.start, at.v.stop) for at in self.manifold]
        return np.concatenate([*inside, np.arange(tree.nv - tree.n, tree.nv)]).astype(np.intp)

    @cached_property
    def columns(self) -> FloatArray:
        """Scales that convert small motions along the velocities (s,) to lengths or angles of this unit."""
        units = np.array([unit for _, unit in self.mechanism.columns("qd")])
        return np.where(units[self.speeds] == "m/s", self.size, 1.0)

    @property
    def base(self) -> int:
        """Number of coordinates of a floating base and of joints with quaternions."""
        return self.mechanism.nq - self.mechanism.n

    @property
    def first(self) -> int:
        """Index, among the velocities, of that of the first joint without a quaternion."""
        return len(self.speeds) - self.mechanism.n

    @property
    def shift(self) -> int:
        """Offset from the index of a velocity without quaternion to its coordinate in q."""
        return self.base - self.first

    @property
    def places(self) -> npt.NDArray[np.intp]:
        """The coordinates in q that the loops are closed by."""
        inside = [np.arange(at.q.start, at.q.stop) for at in self.manifold]
        return np.concatenate([*inside, np.arange(self.base, self.mechanism.nq)]).astype(np.intp)

    @property
    def names(self) -> list[str]:
        """Names of the velocities (s,)."""
        return [self.mechanism.velocity_names[k] for k in self.speeds]

    def moved(self, q: FloatArray, motion: FloatArray) -> FloatArray:
        """Configurations (N, nq) after small motions (N, s) along the velocities, rad or m."""
        result = q.copy()
        if self.manifold:
            whole = np.zeros((len(q), self.mechanism.nv))
            whole[:, self.speeds] = motion
            result = np.asarray(kernel_of(self.mechanism, "integrate")(q, whole, 1.0))
        result[:, self.base :] = q[:, self.base :] + motion[:, self.first :]
        return result

    def apart(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """Motion (N, s) along the velocities from one configuration (N, nq) to another, without unit."""
        return np.asarray(kernel_of(self.mechanism, "difference")(q0, q1)[..., self.speeds] / self.columns)

    def beyond(self, q: FloatArray, allowed: float) -> npt.NDArray[np.bool_]:
        """Mask of configurations (N, nq) with a joint beyond its limits by more than a share of the unit."""
        joints, slack = q[:, self.base :], allowed * self.columns[self.first :]
        low, high = self.mechanism.q_min - slack, self.mechanism.q_max + slack
        outside = np.asarray(((joints < low) | (joints > high)).any(axis=-1))
        for at in self.manifold:
            if np.isfinite(at.most):
                outside |= [bool(at.joint.excess(row, at.most) > allowed) for row in q[:, at.q]]
        return outside

    def clipped(self, q: FloatArray, which: npt.NDArray[np.intp]) -> FloatArray:
        """Clip the coordinates of some velocities to their limits, in configurations (N, nq), in place."""
        plain = which[which >= self.first] - self.first
        q[:, self.base + plain] = np.clip(q[:, self.base + plain], self.mechanism.q_min[plain], self.mechanism.q_max[plain])
        for at in self.manifold:
            if np.isfinite(at.most) and np.isin(at.v.start, self.speeds[which]):
                q[:, at.q] = [np.asarray(at.joint.clipped(row, at.most), dtype=float) for row in q[:, at.q]]
        return q

    def residual(self, q: FloatArray) -> FloatArray:
        """`closure` (..., K) without unit."""
        return np.asarray(kernel_of(self.mechanism, "closure", None, {})(q) * self.rows)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """`closure_jacobian` (..., K, s) without unit, of `speeds` only."""
        jacobian = np.asarray(kernel_of(self.mechanism, "closure_jacobian", None, {})(q))
        if len(self.speeds) < self.mechanism.nv:
            jacobian = jacobian[..., self.speeds]
        jacobian *= self.rows[:, None]
        jacobian *= self.columns
        return jacobian

    def error(self, q: FloatArray) -> FloatArray:
        """Closure error (...,): the greatest residual; 2 for a hinge closed with opposed axes."""
        greatest = np.asarray(np.abs(self.residual(q)).max(axis=-1))
        if not any(loop.kind == "hinge" for loop in self.mechanism.loops):
            return greatest
        return np.where(kernel_of(self.mechanism, "closure_facing", None, {})(q).min(axis=-1) > 0.0, greatest, 2.0)

    def require_closed(self, q: FloatArray, subject: str = "", advice: str = "") -> None:
        """Raise `ArgumentError` where loops are open at q (..., nq) by more than `NEARLY`."""
        error = np.asarray(self.error(q))
        wrong = ~(error <= NEARLY)
        if wrong.any():
            raise ArgumentError(
                f"{subject}loops of {self.mechanism.name!r} are open at q{first_index(wrong)} by {error[wrong][0]:.3g}, in"
                f" longest offsets ({self.size:g} m) and rad; expected at most {NEARLY:g}{advice}"
            )


def closing(mechanism: Tree) -> LoopEquations:
    """Closure equations of a mechanism with loops, without units; cached."""
    mechanism.require_numbers("what closes loops")
    return mechanism.memo("loop_solver", "equations", lambda: LoopEquations(mechanism, longest_offset(mechanism)))


def joints_in_loops(mechanism: Tree) -> tuple[ManifoldJoint, ...]:
    """The joints with quaternions that loops run through: on the path to one end of a loop, but not to the other."""

    def crossed(at: ManifoldJoint) -> bool:
        ends = ([name for name in (loop.first, loop.second) if name != "base"] for loop in mechanism.loops)
        return at.link >= 0 and any(sum(at.link in mechanism.path(name) for name in pair) == 1 for pair in ends)

    return tuple(at for at in mechanism.manifold_joints if crossed(at))


def repeating(task: LoopEquations, error: float) -> str:
    """Message on slightly open loops whose equations only hold if they are redundant."""
    count, joints = len(task.rows), len(task.speeds)
    if error > _MISFIT or count < joints:
        return ""
    return (
        f"; {count} equations for {joints} coordinates must repeat each other, which they do only where axes that are to be"
        " parallel, or to meet, are so to the last digits (of a pin, a 'point' asks less than a 'hinge')"
    )


def closed_near(
    task: LoopEquations, q: FloatArray, moving: npt.NDArray[np.intp] | None = None, iterations: int = ITERATIONS
) -> tuple[FloatArray, FloatArray, npt.NDArray[np.intp]]:
    """Move joints until the loops are closed, from every row of q (N, nq), within the joint limits.

    Parameters
    ----------
    task : LoopEquations
        The closure equations.
    q : ndarray (N, nq)
        Start configuration.
    moving : ndarray of int, optional
        Places, among `LoopEquations.speeds`, of those along which it may move; all by default.
    iterations : int
        Steps at most.

    Returns
    -------
    q : ndarray (N, nq)
        The best position that each start led to.
    error : ndarray (N,)
        How far it is open: see `LoopEquations.error`.
    taken : ndarray of int (N,)
        Steps.
    """
    which = np.arange(len(task.speeds)) if moving is None else moving
    plain = which >= task.first
    low, high = np.full(len(which), -np.inf), np.full(len(which), np.inf)
    low[plain], high[plain] = (limit[which[plain] - task.first] for limit in (task.mechanism.q_min, task.mechanism.q_max))
    best, unit = task.clipped(q.copy(), which), task.columns[which]
    left = _square(task, best)
    policy = CLOSE.damping
    damping, taken = np.full(len(q), policy.initial), np.zeros(len(q), dtype=np.intp)
    pending = np.flatnonzero(left > _PERFECT**2)
    for _ in range(iterations):
        if not pending.size:
            break
        here = best[pending]
        x = np.zeros((len(here), len(which)))
        x[:, plain] = here[:, task.shift + which[plain]]
        step = _step(task, here, which, x, (low, high), damping[pending] * np.minimum(left[pending], policy.most_error))
        motion = np.zeros((len(here), len(task.speeds)))
        motion[:, which] = step * unit
        trial = task.clipped(task.moved(here, motion), which)
        reached = _square(task, trial)
        better = reached < left[pending]
        taken[pending] += 1
        best[pending[better]], left[pending[better]] = trial[better], reached[better]
        eased = np.maximum(damping[pending] * policy.decrease, _LEAST)
        damping[pending] = np.where(better, eased, damping[pending] * policy.increase)
        stuck = ~better & ((damping[pending] > policy.hopeless) | (left[pending] < CLOSED**2))
        pending = pending[(left[pending] > _PERFECT**2) & ~stuck]
    return best, task.error(best), taken


def _square(task: LoopEquations, q: FloatArray) -> FloatArray:
    return np.asarray((task.residual(q) ** 2).sum(axis=-1))


def _step(
    task: LoopEquations,
    q: FloatArray,
    which: npt.NDArray[np.intp],
    x: FloatArray,
    bounds: tuple[FloatArray, FloatArray],
    damping: FloatArray,
) -> FloatArray:
    """One damped step (k, m) of the moving joints; joints that would leave their limits are locked."""
    jac, residual = task.jacobian(q), task.residual(q)
    jac = jac if len(which) == jac.shape[-1] else jac[..., which]
    downhill = -(residual[:, None, :] @ jac)[:, 0]
    held = ((x <= bounds[0]) & (downhill < 0)) | ((x >= bounds[1]) & (downhill > 0))
    if held.any():
        jac = np.where(held[:, None, :], 0.0, jac)
    normal = jac.swapaxes(1, 2) @ jac
    diagonal = np.einsum("kii->ki", normal)  # (a view)
    diagonal += (damping + CLOSE.damping.floor * (1.0 + diagonal.sum(axis=-1)))[:, None]
    step = np.linalg.solve(normal, np.where(held, 0.0, downhill)[..., None])[..., 0]
    largest = np.abs(step).max(axis=-1, initial=1e-300, keepdims=True)
    return np.asarray(step * np.minimum(1.0, (CLOSE.max_step or np.inf) / largest))


def random_starts(task: LoopEquations, count: int, seed: int) -> FloatArray:
    """Positions (count, nq) within the joint limits; where there are none, any angle, or up to two longest offsets."""
    tree = task.mechanism
    starts, rng = np.array(np.tile(tree.neutral, (count, 1))), np.random.default_rng(seed)  # (of none a tile is a view)
    starts[:, task.base :] = random_coordinates(tree, np.column_stack([tree.q_min, tree.q_max]), 2.0 * task.size, count, rng)
    for at in task.manifold:
        starts[:, at.q] = at.joint.random(rng, count, at.most)
    return starts


def closed_samples(task: LoopEquations, near: FloatArray | None = None, count: int = 8, seed: int = 0) -> FloatArray:
    """Some closed positions (k, nq), k at most `count`: around one, or anywhere; the same for the same seed."""
    if near is None:
        starts = np.vstack([near_zero(task.mechanism)[None], random_starts(task, 4 * count, seed)])
    else:
        aside = np.random.default_rng(seed).normal(0.0, 0.1, (2 * count, len(task.speeds))) * task.columns
        starts = task.moved(np.tile(near, (2 * count, 1)), aside)
    positions, error, _ = closed_near(task, starts, iterations=60)
    return positions[error <= CLOSED][:count]
