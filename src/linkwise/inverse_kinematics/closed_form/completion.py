"""Solutions that the equations of a closed form miss at special poses: nearly reached branches, and random starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.inverse_kinematics.closed_form.at_limits import brought_within, periods, undamped_steps
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.problem import ROWS, Family
from linkwise.inverse_kinematics.closed_form.program import NEAR, SAME, SEARCH
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints.constraint import Constraint
from linkwise.solve.constraints.joint_value import Coordinate
from linkwise.solve.constraints.pose import Pose
from linkwise.solve.joint_limits import JointRanges, shorter_way, turning
from linkwise.spatial.scalar import FloatArray

#: Random starts of a pose at which an equation leaves its unknown free.
STARTS = 100

#: Tolerance of the iterations, m and rad, so that equal solutions nearly coincide.
FINE = 1e-12

#: The tolerance with which the kernel gives every branch.
OPEN = 1e30

#: Relative singular value of the Jacobian below which a solution belongs to a continuum, or is a double one.
SINGULAR = 1e-6

#: Solutions with a singular Jacobian are accurate to the root of the tolerance: closer ones (rad, m) are one.
APART = 1e-3

#: Newton steps without damping, and the longest of them (rad, m).
STEPS, LONGEST = 8, 0.1

#: Poses completed in one call.
STARTS_AT_ONCE = 500


class CompletedPose(NamedTuple):
    """The solutions of one pose.

    Attributes
    ----------
    q : ndarray (k, n)
        Joint coordinates, the nearest to the start first.
    errors : ndarray (2,)
        Position and rotation error of the first, m and rad.
    added : int
        How many of them come from random starts.
    doubtful : bool
        Whether a solution beyond the limits may stand for others within, which are not known.
    """

    q: FloatArray
    errors: FloatArray
    added: int
    doubtful: bool = False


class Completion:
    """Completes the solutions of one closed form.

    Parameters
    ----------
    mechanism, link, chain, family, fixed
        As for `linkwise.inverse_kinematics.closed_form.compiled.Compiled`.
    kernel : Kernel
        The closed form.
    """

    def __init__(
        self, mechanism: Tree, link: int | str, chain: AxisChain, family: Family, fixed: int | None, kernel: Kernel
    ) -> None:
        self.mechanism, self.link, self.fixed, self.kernel = mechanism, link, fixed, kernel
        self.size, self.rows, self.turning = chain.size, ROWS[family.asks], turning(mechanism)
        self.columns = [k for k in chain.coordinates if k != fixed]
        self.period = periods(chain, mechanism.n)
        if fixed is not None:
            self.period[fixed] = 0.0

    def run(self, poses: FloatArray, start: FloatArray, bounds: FloatArray, missing: FloatArray) -> list[CompletedPose]:
        """Solve poses (N, 16) from starts (N, n), with the kernel's flags of possibly missing solutions (N,)."""
        results: list[CompletedPose] = []
        for first in range(0, len(poses), STARTS_AT_ONCE):
            here = slice(first, first + STARTS_AT_ONCE)
            results += self._some(poses[here], start[here], bounds, missing[here])
        return results

    def _some(self, poses: FloatArray, start: FloatArray, bounds: FloatArray, missing: FloatArray) -> list[CompletedPose]:
        n, tol = self.mechanism.n, float(bounds[-2])
        ranges = JointRanges.of(self.mechanism)
        inside = np.clip(start, bounds[:n], bounds[n : 2 * n])
        if self.fixed is not None:
            inside[:, self.fixed] = start[:, self.fixed]
        limited = bool(np.isfinite(bounds[: 2 * n]).any())
        unlimited = np.concatenate([np.full(n, -np.inf), np.full(n, np.inf), [OPEN, np.nan]])
        with np.errstate(all="ignore"):
            rows, count, _, errors = self.kernel.ufunc(poses, start, bounds)
            branches, total, _, _ = self.kernel.ufunc(poses, inside, unlimited)
        known = [part[: int(k)] for part, k in zip(rows, count, strict=True)]
        start, first = inside, start
        tasks = self._numbers(poses, start)
        system = self._system(limits=False)
        at = np.repeat(np.arange(len(poses)), total.astype(int))
        begun = branches[np.arange(branches.shape[1]) < total[:, None]]
        distance, angle, _ = system.checking(tasks[at], begun)
        close = (distance < NEAR * self.size) & (angle < NEAR)
        searched = np.flatnonzero(missing >= SEARCH)
        others = system.starts(0, STARTS)
        at = np.concatenate([at, np.repeat(searched, STARTS)])
        begun = np.concatenate([begun, np.tile(others, (len(searched), 1))])
        close = np.concatenate([close, np.zeros(len(at) - len(close), dtype=bool)])
        kept = self._reached(system, tasks, start, at, begun, tol, ranges if limited else None)
        doubtful = self._within(kept, poses.reshape(-1, 4, 4)[at], close, tol, ranges) if limited else close & False
        good = np.flatnonzero(kept.good)
        good = good[np.argsort(at[good], kind="stable")]
        groups = np.split(good, np.searchsorted(at[good], np.arange(1, len(poses))))
        new = ~(self._distances(rows[at[good]], kept.q[good, None]) <= np.where(kept.regular[good], SAME, APART)[:, None])
        extended, doubted = (np.bincount(some, minlength=len(poses)) for some in (at[good[new.all(axis=1)]], at[doubtful]))
        parts: tuple[Any, ...] = kept.q, kept.regular, close, kept.far
        merged = [
            self._merged(start, old, *(part[these] for part in parts)) if more else CompletedPose(old, np.zeros(2), 0)
            for start, old, these, more in zip(first, known, groups, extended, strict=True)
        ]
        merged = [row._replace(doubtful=True) if doubt else row for row, doubt in zip(merged, doubted, strict=True)]
        empty = np.flatnonzero(
            [not len(row.q) and (row.doubtful or lack >= SEARCH) for row, lack in zip(merged, missing, strict=True)]
        )
        if limited and empty.size:  # (the representative of a continuum may be outside while other solutions are within)
            system = self._system(limits=True)
            at, begun = np.repeat(empty, STARTS), np.tile(system.starts(0, STARTS), (len(empty), 1))
            kept = self._reached(system, tasks, start, at, begun, tol, ranges)
            none = np.zeros(len(at), dtype=bool)
            for k in empty:
                these = (at == k) & kept.good
                more = self._merged(first[k], known[k], *(p[these] for p in (kept.q, kept.regular, none, kept.far)))
                merged[k] = more._replace(doubtful=merged[k].doubtful)
        return [
            row if len(row.q) and not (len(old) and np.array_equal(row.q[0], old[0])) else row._replace(errors=error[:2])
            for row, old, error in zip(merged, known, errors, strict=True)
        ]

    def _reached(
        self,
        system: CompiledProblem,
        tasks: FloatArray,
        start: FloatArray,
        at: npt.NDArray[np.intp],
        begun: FloatArray,
        tol: float,
        ranges: JointRanges | None,
    ) -> _Reached:
        """Iterate from starts (M, n) for the tasks `at` (M,), and mark the results that are solutions."""
        n = self.mechanism.n
        rows = system.reaching(tasks[at], begun, begun[:0], system.settings(min(tol, FINE)))
        q = self._polished(system, tasks[at], system.unmoved(np.ascontiguousarray(rows[:, :n]), start[at]), tol)
        if self.fixed is not None:
            q[:, self.fixed] = start[at, self.fixed]
        inside: npt.NDArray[np.bool_] = np.ones(len(q), dtype=bool)
        if ranges is not None:
            q = ranges.nearest_turns(q, start[at])
            inside = np.asarray(((q >= ranges.low - tol) & (q <= ranges.high + tol)).all(axis=1))
            q = np.where(inside[:, None], np.clip(q, ranges.low, ranges.high), q)
        else:
            q = system.ranges.nearest_turns(q, start[at])
        distance, angle, _ = system.checking(tasks[at], q)
        solved = np.asarray((distance <= tol) & (angle <= tol))
        regular: npt.NDArray[np.bool_] = np.zeros(len(q), dtype=bool)
        if solved.any():
            rates = np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.link})(q[solved]))
            rates[:, :3] /= self.size
            values = np.linalg.svd(rates[:, self.rows][..., self.columns], compute_uv=False)
            regular[solved] = values[:, -1] > SINGULAR * values[:, 0]
        return _Reached(q, solved & inside, solved & ~inside, regular, np.stack([distance, angle], axis=1))

    def _within(
        self, kept: _Reached, poses: FloatArray, close: npt.NDArray[np.bool_], tol: float, ranges: JointRanges
    ) -> npt.NDArray[np.bool_]:
        """Move results beyond the limits into `kept` where they are `close`; mark those (M,) that may duplicate others."""
        doubtful, out = np.zeros(len(close), dtype=bool), np.flatnonzero(kept.beyond & close)
        if out.size:
            parts = ranges, self.period, tol, self.columns, self.rows
            q, reached, doubt = brought_within(self.mechanism, self.link, poses[out], kept.q[out], *parts)
            kept.q[out[reached]], kept.good[out[reached]], doubtful[out] = q[reached], True, doubt & ~reached
        return doubtful

    def _polished(self, system: CompiledProblem, tasks: FloatArray, q: FloatArray, tol: float) -> FloatArray:
        """Coordinates (M, n), those that nearly solve their task after Newton steps without damping.

        Damping holds up the iteration where the Jacobian is nearly singular.
        """
        distance, angle, _ = system.checking(tasks, q)
        near = np.flatnonzero(((distance > tol) | (angle > tol)) & (distance < NEAR * self.size) & (angle < NEAR))
        wanted = tasks[near, :16].reshape(-1, 4, 4)
        for _ in range(STEPS if near.size else 0):
            reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q[near])
            gap = pose_error(reached, wanted)
            rates = np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.link})(q[near]))
            gap[:, :3] /= self.size
            rates[:, :3] /= self.size
            step = undamped_steps(rates[:, self.rows][..., self.columns], gap[:, self.rows])
            step *= (LONGEST / np.maximum(np.linalg.norm(step, axis=1), LONGEST))[:, None]
            q[near[:, None], self.columns] += step
        return q

    def _merged(
        self,
        start: FloatArray,
        known: FloatArray,
        q: FloatArray,
        regular: npt.NDArray[np.bool_],
        close: npt.NDArray[np.bool_],
        errors: FloatArray,
    ) -> CompletedPose:
        """Merge known solutions (k, n) and others of one pose without duplicates; a continuum counts only without others."""
        rows, first = np.concatenate([known, q]), len(known)
        distance = self._distances(rows, q[:, None]).tolist()
        kept, added = list(range(first)), 0
        order = np.argsort(np.linalg.norm(q - start, axis=1), kind="stable")
        for k in sorted(order.tolist(), key=lambda k: not regular[k]):
            if not (regular[k] or close[k] or not kept):
                continue
            if not kept or min(distance[k][j] for j in kept) > (SAME if regular[k] else APART):
                kept.append(first + k)
                added += not close[k]
        rows = rows[kept]
        order = np.argsort(np.sum((rows - start) ** 2, axis=1), kind="stable")
        nearest = kept[order[0]] if kept else 0
        return CompletedPose(rows[order], errors[nearest - first] if kept and nearest >= first else np.zeros(2), added)

    def _distances(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Distances (...) of coordinates (..., n) modulo full turns."""
        return np.asarray(np.linalg.norm(shorter_way(a - b, self.turning), axis=-1))

    def _numbers(self, poses: FloatArray, start: FloatArray) -> FloatArray:
        """The numbers (N, p) of the system."""
        T = poses.reshape(-1, 4, 4).copy()
        if self.rows == ROWS["position"]:
            T[:, :3, :3] = np.eye(3)
        elif self.rows == ROWS["orientation"]:
            T[:, :3, 3] = 0.0
        T[:, 3] = [0.0, 0.0, 0.0, 1.0]
        goal = Pose(self.link, T).numbers
        return goal if self.fixed is None else np.concatenate([goal, start[:, self.fixed, None]], axis=1)

    def _system(self, *, limits: bool) -> CompiledProblem:
        mask = np.zeros(6, dtype=int)
        mask[self.rows] = 1
        wanted: list[Constraint] = [Pose(self.link, np.eye(4), mask)]
        if self.fixed is not None:
            wanted.append(Coordinate(self.fixed, 0.0))
        return system_of(self.mechanism, wanted, limits=limits)


class _Reached(NamedTuple):
    q: FloatArray
    good: npt.NDArray[np.bool_]
    beyond: npt.NDArray[np.bool_]
    regular: npt.NDArray[np.bool_]
    far: FloatArray
