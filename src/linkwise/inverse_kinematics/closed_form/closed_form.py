"""The closed form of a mechanism for one of its frames: all solutions of a pose, or the nearest one.

Solutions at special poses are completed by iteration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError, shown, warn
from linkwise.inverse_kinematics.closed_form.at_limits import BESIDE, held_at_limits, least_beyond
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.decomposition import recognised
from linkwise.inverse_kinematics.closed_form.problem import ROWS, Family, values_at
from linkwise.inverse_kinematics.closed_form.program import NEAR, SAME, SEARCH, ClosedFormProgram
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.kernel import Kernel
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints.constraint import Constraint
from linkwise.solve.constraints.joint_value import Coordinate
from linkwise.solve.constraints.pose import Pose
from linkwise.solve.joint_limits import TURN, JointRanges, start_position, turning
from linkwise.solve.validation import FARTHEST, joint_given, joint_index, link_given, positive, settle
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import RIGID, choice, common_batch, flag, no_poses, numbers, rigid_poses, vectors

#: Random starts of a pose at which an equation leaves its unknown free.
STARTS = 100

#: Iterations go on to this, m and rad, so that equal solutions come out nearly equal.
FINE = 1e-12

#: The tolerance with which the kernel gives every branch.
OPEN = 1e30

#: The share of the greatest singular value of the Jacobian below which a solution is one of a continuum, or a double one.
SINGULAR = 1e-6

#: Solutions with a singular Jacobian are known to the root of the tolerance: closer ones (rad, m) are one.
APART = 1e-3

#: Newton steps without damping, the longest of them (rad, m), and the share of the greatest singular value of the Jacobian
#: below which one counts as zero.
STEPS, LONGEST, RANK = 8, 0.1, 1e-11

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
    """

    q: FloatArray
    errors: FloatArray
    added: int


class Completion:
    """What completes the solutions of one closed form.

    Parameters
    ----------
    mechanism, link, chain, family, fixed
        As for `linkwise.inverse_kinematics.closed_form.closed_form.Compiled`.
    kernel : Kernel
        The closed form.
    """

    def __init__(
        self, mechanism: Tree, link: int | str, chain: AxisChain, family: Family, fixed: int | None, kernel: Kernel
    ) -> None:
        self.mechanism, self.link, self.fixed, self.kernel = mechanism, link, fixed, kernel
        self.size, self.rows, self.turning = chain.size, ROWS[family.asks], turning(mechanism)
        self.columns = [k for k in chain.coordinates if k != fixed]

    def run(self, poses: FloatArray, start: FloatArray, bounds: FloatArray, missing: FloatArray) -> list[CompletedPose]:
        """The solutions of poses (N, 16) from starts (N, n), with what the kernel says may be missing (N,)."""
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
            branches, total, _, _ = self.kernel.ufunc(poses, start, unlimited)
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
        merged = [
            self._merged(
                first[k], known[k], *(part[(at == k) & kept.good] for part in (kept.q, kept.regular, close, kept.far))
            )
            for k in range(len(poses))
        ]
        empty = np.flatnonzero((missing >= SEARCH) & np.array([not len(row.q) for row in merged]))
        if (
            limited and empty.size
        ):  # (of a continuum the solution that stands for all may be outside while others are within)
            system = self._system(limits=True)
            at, begun = np.repeat(empty, STARTS), np.tile(system.starts(0, STARTS), (len(empty), 1))
            kept = self._reached(system, tasks, start, at, begun, tol, ranges)
            none = np.zeros(len(at), dtype=bool)
            for k in empty:
                these = (at == k) & kept.good
                merged[k] = self._merged(first[k], known[k], *(p[these] for p in (kept.q, kept.regular, none, kept.far)))
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
        """Where iterations from starts (M, n) for the tasks `at` (M,) lead, and which of these are solutions."""
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
        good = np.asarray((distance <= tol) & (angle <= tol) & inside)
        regular: npt.NDArray[np.bool_] = np.zeros(len(q), dtype=bool)
        if good.any():
            rates = np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.link})(q[good]))
            rates[:, :3] /= self.size
            values = np.linalg.svd(rates[:, self.rows][..., self.columns], compute_uv=False)
            regular[good] = values[:, -1] > SINGULAR * values[:, 0]
        return _Reached(q, good, regular, np.stack([distance, angle], axis=1))

    def _polished(self, system: CompiledProblem, tasks: FloatArray, q: FloatArray, tol: float) -> FloatArray:
        """Coordinates (M, n), those that nearly solve their task after Newton steps without damping.

        Damping holds up the iteration where the Jacobian is nearly singular.
        """
        distance, angle, _ = system.checking(tasks, q)
        near = np.flatnonzero(((distance > tol) | (angle > tol)) & (distance < NEAR * self.size) & (angle < NEAR))
        wanted = tasks[near, :16].reshape(-1, 4, 4)
        for _ in range(STEPS if near.size else 0):
            reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q[near])
            gap, rates = (
                pose_error(reached, wanted),
                np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.link})(q[near])),
            )
            gap[:, :3] /= self.size
            rates[:, :3] /= self.size
            inverse = np.linalg.pinv(rates[:, self.rows][..., self.columns], rcond=RANK)
            step = (inverse @ gap[:, self.rows, None])[..., 0]
            moved = q[near]
            moved[:, self.columns] += step * (LONGEST / np.maximum(np.linalg.norm(step, axis=1), LONGEST))[:, None]
            q[near] = moved
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
        """Known solutions (k, n) and others of one pose, each once. One of a continuum counts where there is no other."""
        kept, far, added = [*known], [np.zeros(2)] * len(known), 0
        order = np.argsort(np.linalg.norm(q - start, axis=1), kind="stable")
        for k in sorted(order, key=lambda k: not regular[k]):
            if not (regular[k] or close[k] or not kept):
                continue
            away = np.array(kept).reshape(-1, len(start)) - q[k]
            away = np.where(self.turning, np.remainder(away + 0.5 * TURN, TURN) - 0.5 * TURN, away)
            if not kept or np.linalg.norm(away, axis=1).min() > (SAME if regular[k] else APART):
                kept.append(q[k])
                far.append(errors[k])
                added += not close[k]
        rows = np.array(kept).reshape(-1, len(start))
        order = np.argsort(np.sum((rows - start) ** 2, axis=1), kind="stable")
        return CompletedPose(rows[order], far[order[0]] if kept else np.zeros(2), added)

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
    regular: npt.NDArray[np.bool_]
    far: FloatArray


#: An answer is one where the forward pass comes as near to the pose as this, m and rad.
TOLERANCE = 1e-9

#: Poses of a large batch that go through the kernel together where only the nearest answers are kept.
AT_ONCE = 8192


class Compiled:
    """Solver of poses of one frame, with or without the value of one joint; see `ClosedFormProgram.run` for its results.

    Parameters
    ----------
    mechanism : Mechanism
        Whose frame it is.
    link : int or str
        Which frame.
    chain, family : AxisChain, Family
        The joints, and what solves them.
    fixed : int, optional
        The coordinate whose value is handed in.
    """

    def __init__(self, mechanism: Tree, link: int | str, chain: AxisChain, family: Family, fixed: int | None = None) -> None:
        self.mechanism, self.fixed = mechanism, fixed
        self._parts: _Parts | None = None
        self.program = link, chain, family

    def run(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None, limits: bool, tol: float, value: FloatArray, nearest: bool = False
    ) -> tuple[Any, ...]:
        """The completed results of `ClosedFormProgram.run` for arguments that fit; with `nearest`, rows may be left out."""
        parts = self._parts or self._made()
        bounds = parts.known.get((limits, tol)) if limits is True or limits is False else None
        if bounds is None:
            bounds = parts.bounds(limits, tol)
        if type(T) is np.ndarray and T.shape == (4, 4) and T.dtype.char == "d" and self.fixed is None:  # (without detours)
            start = parts.start if q0 is None else q0
            if type(start) is np.ndarray and start.shape == parts.start.shape and start.dtype.char == "d":
                results: tuple[Any, ...] = parts.entry(T.reshape(16), start, bounds)
                if results[3][2] <= RIGID:
                    return results
        poses, start = _poses(T), self._start(parts, q0, value)
        batch = common_batch(T=poses.shape[:-1], q0=start.shape[:-1])
        with np.errstate(all="ignore"):  # (branches that are no answers may divide by nothing)
            if nearest and math.prod(batch) > AT_ONCE:
                results = _in_blocks(parts, batch, poses, start, bounds)
            else:
                results = parts.kernel(poses, start, bounds)
        if np.all(results[3][..., 2] <= RIGID):
            return results
        if not np.all(results[3][..., 2] - results[3][..., 3] <= RIGID):
            _refuse(T, start)
        completed, added = self._completed(parts, batch, poses, start, bounds, results)
        if added and not batch and not nearest:
            warn(
                f"{self.mechanism.name!r}: {added} of {int(completed[1])} solutions come from random starts, because the"
                " closed form leaves a joint undetermined at this pose; there may be others"
            )
        return completed

    def _completed(
        self,
        parts: _Parts,
        batch: tuple[int, ...],
        poses: FloatArray,
        start: FloatArray,
        bounds: FloatArray,
        results: tuple[Any, ...],
    ) -> tuple[tuple[Any, ...], int]:
        """What the kernel gave, into its arrays, with the answers that it left out, and how many come from starts."""
        n = start.shape[-1]
        q = None if results[0] is None else results[0].reshape(-1, *results[0].shape[-2:])
        count, nearest, errors = (
            np.asarray(part).reshape(-1, *core) for part, core in zip(results[1:], ((), (n,), (4,)), strict=True)
        )
        some = np.flatnonzero(errors[:, 3] > 0.0)
        completed = parts.completion.run(
            np.broadcast_to(poses, (*batch, 16)).reshape(-1, 16)[some],
            np.broadcast_to(start, (*batch, n)).reshape(-1, n)[some],
            bounds,
            errors[some, 3],
        )
        most = max((len(rows.q) for rows in completed), default=0)
        if q is not None and most > q.shape[1]:
            q = np.concatenate([q, np.full((len(q), most - q.shape[1], n), np.nan)], axis=1)
        for k, rows in zip(some, completed, strict=True):
            count[k], errors[k, :2] = len(rows.q), rows.errors
            if len(rows.q):
                nearest[k] = rows.q[0]
            if q is not None:
                q[k, : len(rows.q)] = rows.q
        shaped = (None if p is None else p.reshape((*batch, *p.shape[1:])) for p in (q, count, nearest, errors))
        return tuple(shaped), sum(rows.added for rows in completed)

    def _made(self) -> _Parts:
        make_parts = partial(_Parts, self.mechanism, *self.program, self.fixed)
        self._parts = self.mechanism.memo("closed_form", self.program, make_parts)
        return self._parts

    def _start(self, parts: _Parts, q0: npt.ArrayLike | None, value: FloatArray) -> FloatArray:
        n = self.mechanism.n
        start = parts.start if q0 is None else vectors("q0", q0, n)
        if self.fixed is None:
            return start
        starts = np.broadcast_to(start, (*common_batch(q0=start.shape[:-1], fixed=value.shape), n)).copy()
        starts[..., self.fixed] = value
        return starts


class _Parts:
    """What a closed form needs at every call."""

    def __init__(self, mechanism: Tree, link: int | str, chain: AxisChain, family: Family, fixed: int | None) -> None:
        self.kernel = ClosedFormProgram(mechanism, link, chain, family).kernel()
        self.completion = Completion(mechanism, link, chain, family, fixed, self.kernel)
        idle = np.isin(np.arange(mechanism.n), chain.coordinates, invert=True)
        self.start = np.ascontiguousarray(start_position(mechanism, idle))
        self.limits = {
            True: np.column_stack([mechanism.q_min, mechanism.q_max]),
            False: np.tile([-np.inf, np.inf], (mechanism.n, 1)),
        }
        self.known = {(limits, TOLERANCE): self.bounds(limits, TOLERANCE) for limits in (True, False)}
        self.entry = self.kernel.entry(self._slow) or self._slow

    def bounds(self, limits: bool, tol: float) -> FloatArray:
        """The third argument of the kernel."""
        return np.concatenate([*self.limits[flag("limits", limits)].T, [positive("tol", tol), np.nan]])

    def _slow(self, pose: FloatArray, q0: FloatArray, bounds: FloatArray) -> Any:
        with np.errstate(all="ignore"):
            return self.kernel.ufunc(pose, q0, bounds)


def _in_blocks(
    parts: _Parts, batch: tuple[int, ...], poses: FloatArray, start: FloatArray, bounds: FloatArray
) -> tuple[Any, ...]:
    """What the kernel gives but for all the answers, for which a large batch would need much room."""
    total, n = math.prod(batch), start.shape[-1]
    rows, starts = (np.broadcast_to(part, (*batch, part.shape[-1])).reshape(total, -1) for part in (poses, start))
    count, q, errors = np.empty(total), np.empty((total, n)), np.empty((total, 4))
    for first in range(0, total, AT_ONCE):
        here = slice(first, first + AT_ONCE)
        _, count[here], q[here], errors[here] = parts.kernel(rows[here], starts[here], bounds)
    return None, count.reshape(batch), q.reshape(*batch, n), errors.reshape(*batch, 4)


def _poses(T: npt.ArrayLike) -> FloatArray:
    """The numbers (..., 16) of poses (..., 4, 4)."""
    plain = type(T) is np.ndarray and T.shape[-2:] == (4, 4) and T.dtype == np.float64
    poses = np.asarray(T) if plain else numbers("T", T, "rigid poses (..., 4, 4)")
    if poses.shape[-2:] != (4, 4):
        raise no_poses("T", poses.shape)
    return poses.reshape(*poses.shape[:-2], 16)


def _refuse(T: npt.ArrayLike, start: FloatArray) -> None:
    """Raise what is wrong with poses or starts; return where they are right after all."""
    farthest = np.abs(rigid_poses("T", T)[..., :3, 3]).max(initial=0.0)
    if farthest > FARTHEST:
        raise ArgumentError(f"T has the position {farthest:g} m; expected positions up to {FARTHEST:g} m")
    if np.abs(start).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"q0 is {np.abs(start).max():g}; expected numbers up to {FARTHEST:g}")


class Labels(Protocol):
    """What names configurations."""

    def of(self, q: npt.ArrayLike) -> dict[str, Any]:
        """Words by name for coordinates q (..., n)."""


#: How distances between joint coordinates are measured; see `Solutions.nearest`.
Metric = npt.ArrayLike | str | Callable[[FloatArray], npt.ArrayLike] | None


def distances(away: FloatArray, metric: Metric = None) -> FloatArray:
    """Distances (...) for differences (..., n) of joint coordinates, or their squares; see `Solutions.nearest`."""
    if callable(metric):
        return np.asarray(metric(away), dtype=float)
    if isinstance(metric, str):
        choice("metric", metric, ("greatest",))
        return np.asarray(np.abs(away).max(axis=-1))
    n = away.shape[-1]
    weights = np.ones(n) if metric is None else numbers("metric", metric, f"weights ({n},) or a matrix ({n}, {n})")
    if weights.shape not in {(n,), (n, n)}:
        raise ArgumentError(f"metric has the shape {weights.shape}; expected weights ({n},) or a matrix ({n}, {n})")
    least = weights.min(initial=0.0) if weights.ndim == 1 else np.linalg.eigvalsh(0.5 * (weights + weights.T))[0]
    if least < -1e-12 * np.abs(weights).max(initial=0.0):
        raise ArgumentError(f"metric has the weight {least:g}; expected weights of at least 0, or a positive matrix")
    if weights.ndim == 1:
        return np.asarray((away * away) @ weights)
    return np.asarray(np.einsum("...i,ij,...j", away, weights, away))


@dataclass(frozen=True, eq=False, repr=False)
class Solutions:
    """All joint coordinates that were found for poses: for each pose as many rows as it has solutions, the nearest first.

    Of a single pose it is used like the array (k, n) of its solutions: length, index, iteration, `numpy.asarray`. Of a
    batch, iterating goes through the poses, in one row for a batch of any shape, and gives such an array each.

    Attributes
    ----------
    q : ndarray (..., K, n)
        Joint coordinates, rad or m; NaN in the rows from `count` on, so without NaN for a single pose.
    count : ndarray (...)
        How many solutions each pose has.
    complete : ndarray (...)
        False where it is not proven that there are no other solutions: where random starts were used, and, by elimination,
        where roots are too near to each other.
    unreachable : ndarray (...)
        True where it is proven that no position of the joints, within the limits where these were asked for, reaches the
        pose: there is no solution, and none can be missing. What was left out of the solutions afterwards does not count.
    labels : object, optional
        What names the configurations: `linkwise.inverse_kinematics.branches.configuration.ConfigurationLabels`.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([[0.1, 0.8, -2.0, 0.3, 0.5, 0.2], [0.3, 0.6, -1.0, 0.2, 0.4, 0.1]])
    >>> found = arm.all_inverse_kinematics(T)
    >>> found, [len(q) for q in found] == found.count.tolist(), found.complete.tolist()
    (<Solutions: 2 poses, 2 to 3 each>, True, [True, True])
    >>> one = arm.all_inverse_kinematics(T[0])
    >>> one, one[0].shape
    (<Solutions: 3 of one pose>, (6,))
    """

    q: FloatArray
    count: npt.NDArray[np.intp]
    complete: npt.NDArray[np.bool_]
    labels: Labels | None = None
    unreachable: npt.NDArray[np.bool_] = field(default=None)  # type: ignore[arg-type]

    def __post_init__(self) -> None:
        """Note what is out of reach, where that is not known yet."""
        if self.unreachable is None:
            settle(self, unreachable=np.asarray(self.complete & (self.count == 0)))

    @property
    def configuration(self) -> dict[str, npt.NDArray[np.str_]]:
        """A word for each solution (..., K), by name, such as ``"up"`` for the elbow; empty words from `count` on.

        The names are those of `configuration_labels`; there are none where the arm has none.
        """
        return {} if self.labels is None else self.labels.of(self.q)

    def nearest(self, q0: npt.ArrayLike, metric: Metric = None) -> FloatArray:
        """The solution (..., n) of each pose that is nearest to q0 (..., n); NaN where a pose has none.

        Parameters
        ----------
        q0 : (..., n) array_like
            Where distances are measured from, rad or m.
        metric : array_like, str or callable, optional
            Weights (n,) of the squared differences, or a matrix (n, n); ``"greatest"`` compares the greatest difference of
            a joint; a function takes differences (..., n) and gives distances (...). Without it all joints weigh the same.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.ur5()
        >>> solutions = arm.all_inverse_kinematics(arm.forward_kinematics([0.1, -0.8, 1.0, 0.3, 0.5, 0.2]))
        >>> solutions.nearest([0.0, -1.0, 1.2, 0.2, 0.5, 0.0], metric=[1, 1, 1, 0, 0, 0]).round(6).tolist()
        [0.1, -0.8, 1.0, 0.3, 0.5, 0.2]
        """
        n = self.q.shape[-1]
        away = self.q - vectors("q0", q0, n)[..., None, :]
        distance = distances(away, metric)
        if not distance.shape[-1]:
            return np.full((*distance.shape[:-1], n), np.nan)
        best = np.argmin(np.where(np.isnan(distance), np.inf, distance), axis=-1)
        q = np.broadcast_to(self.q, away.shape)
        return np.asarray(np.take_along_axis(q, best[..., None, None], axis=-2)[..., 0, :])

    def __len__(self) -> int:
        return int(self.count.size if self.count.ndim else self.count)

    def __iter__(self) -> Iterator[FloatArray]:
        if not self.count.ndim:
            return iter(self.q)
        rows = self.q.reshape(self.count.size, *self.q.shape[-2:])
        return (row[:count] for row, count in zip(rows, self.count.ravel(), strict=True))

    def __getitem__(self, which: Any) -> FloatArray:
        """A solution (n,) of a single pose, or the solutions (k, n) of one pose of a batch, by its index."""
        if not self.count.ndim:
            return np.asarray(self.q[which])
        count = self.count[which]
        if np.ndim(count):
            raise IndexError(f"index {which!r} is of several poses; expected that of one, of the shape {self.count.shape}")
        return np.asarray(self.q[which][: int(count)])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> FloatArray:
        return np.array(self.q, dtype=dtype, copy=copy)

    def where(self, keep: npt.ArrayLike) -> Solutions:
        """The solutions for which `keep` (..., K) is true, in the same order; `complete` says of all solutions what it said.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.puma560()
        >>> found = arm.all_inverse_kinematics(arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2]))
        >>> found.where(found.q[..., 4] > 0.0)
        <Solutions: 2 of one pose>
        """
        size = self.q.shape[-2]
        kept = np.broadcast_to(np.asarray(keep, dtype=bool), self.q.shape[:-1]) & (np.arange(size) < self.count[..., None])
        order = np.argsort(~kept, axis=-1, kind="stable")
        q = np.take_along_axis(self.q, order[..., None], -2)
        count = np.asarray(kept.sum(axis=-1), dtype=np.intp)
        q[np.arange(size) >= count[..., None]] = np.nan
        return replace(self, q=q[..., : int(count.max(initial=0)), :], count=count)

    def __repr__(self) -> str:
        if not self.count.ndim:
            return f"<Solutions: {self.count} of one pose>"
        if not self.count.size:
            return "<Solutions: 0 poses>"
        return f"<Solutions: {self.count.size} poses, {self.count.min()} to {self.count.max()} each>"


class NoClosedFormError(ArgumentError):
    """A closed form was asked for where none is known.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Link, Mechanism
    >>> links = [Link.dh(a=0.1 * k, alpha=0.3 + 0.5 * k, d=0.1, convention="standard") for k in range(1, 7)]
    >>> try:
    ...     Mechanism(links, name="odd").all_inverse_kinematics(np.eye(4), method="closed_form")
    ... except NoClosedFormError as error:
    ...     print(str(error).partition(":")[0])
    'odd' has no closed form for this frame
    """


#: The value of the fixed joint where there is none.
_FREE = np.zeros(())


class ClosedForm:
    """The closed form of one frame, or the reason why there is none; made by `closed_form`.

    Attributes
    ----------
    mechanism : Mechanism
        Whose it is.
    link : int or str
        Which frame: -1 the tool.
    exists : bool
        Whether there is one.
    family : str
        The geometry that makes it possible, in words; empty where there is none.
    why : str
        Why there is none; empty where there is one.
    asks : {"pose", "position", "orientation"}
        What is solved for.
    fixed : int or None
        The coordinate whose value is handed in.

    Examples
    --------
    >>> from linkwise import robots
    >>> closed_form(robots.puma560())
    <ClosedForm of puma560: the axes of joints 4, 5 and 6 meet in a point>
    >>> closed_form(robots.panda()).exists
    False
    """

    def __init__(
        self,
        mechanism: Tree,
        link: int | str = "tool",
        asks: str = "pose",
        fixed: tuple[int, npt.ArrayLike] | None = None,
    ) -> None:
        self.mechanism, self.link, self.asks = mechanism, link, asks
        self.fixed: int | None = None if fixed is None else fixed[0]
        self._value = _FREE if fixed is None else numbers("fixed", fixed[1])
        chain, family, self.why = recognised(mechanism, link, asks, self.fixed)
        self.exists = family is not None
        self.family = "" if family is None else family.name
        self._solver = None if chain is None or family is None else Compiled(mechanism, link, chain, family, self.fixed)

    def all(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> Solutions:
        """Every solution for poses, the nearest to q0 first; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
        q, count, _, errors = (self._solver or self.refuse()).run(T, q0, limits, tol, self._value)
        counts = np.asarray(count, dtype=np.intp)
        complete = np.asarray(errors[..., 3] < SEARCH)
        if limits and not counts.all() and JointRanges.of(self.mechanism).limited:
            q = self._beside_limits(T, q0, tol, q, counts, complete)
        return Solutions(q if counts.ndim else q[: int(counts)], counts, complete)

    def _beside_limits(
        self,
        T: npt.ArrayLike,
        q0: npt.ArrayLike | None,
        tol: float,
        q: FloatArray,
        counts: npt.NDArray[np.intp],
        complete: npt.NDArray[np.bool_],
    ) -> FloatArray:
        """The solutions (..., K, n), counts and completeness of poses without any, put right where one is at its limits."""
        assert self._solver is not None
        chain, n, batch = self._solver.program[1], self.mechanism.n, counts.shape
        empty = np.flatnonzero((counts == 0) & complete)
        poses = np.broadcast_to(np.asarray(T, dtype=float), (*batch, 4, 4)).reshape(-1, 4, 4)[empty]
        start = None if q0 is None else np.broadcast_to(np.asarray(q0, dtype=float), (*batch, n)).reshape(-1, n)[empty]
        form = self if self.fixed is None else self.holding(np.broadcast_to(self._value, batch).reshape(-1)[empty])
        free = form.all(poses, start, limits=False, tol=tol)
        at, which = np.nonzero(np.arange(free.q.shape[-2]) < free.count[:, None])
        ranges, period = JointRanges.of(self.mechanism), np.zeros(n)
        for place, ratio, slides in zip(chain.coordinates, chain.ratios, chain.translates, strict=True):
            period[place] = 0.0 if slides or place == self.fixed else TURN / abs(float(ratio))
        rows = least_beyond(free.q[at, which], ranges, period)
        if not at.size:
            return q
        columns = [place for place in chain.coordinates if place != self.fixed]
        part = ranges, tol, columns, ROWS[self.asks]
        moved, reached, doubtful = held_at_limits(self.mechanism, self.link, poses[at], rows, *part)
        room = max(free.q.shape[-2] - q.shape[-2], 0)
        flat = np.concatenate([q, np.full((*batch, room, n), np.nan)], axis=-2).reshape(-1, q.shape[-2] + room, n)
        for k, row, good, unknown in zip(empty[at], moved, reached, doubtful, strict=True):
            complete.reshape(-1)[k] &= bool(good or not unknown)
            others = flat[k, : counts.reshape(-1)[k]]
            if good and (not len(others) or np.abs(others - row).max(axis=1).min() > BESIDE):
                flat[k, len(others)] = row
                counts.reshape(-1)[k] += 1
        return flat.reshape(*batch, *flat.shape[1:])

    def nearest(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None = None, limits: bool = True, *, tol: float = TOLERANCE
    ) -> tuple[FloatArray, Any, Any, Any]:
        """The solution nearest to q0 for each pose.

        Returns
        -------
        q : ndarray (..., n)
            The solution; where there is none, the branch that misses least.
        found : bool or ndarray (...)
            Whether it is a solution: a forward pass brings it as near as `tol`, within the limits.
        position_error, rotation_error : float or ndarray (...)
            What the forward pass says, m and rad; the angle as twice the sine of its half.
        """
        _, count, q, errors = (self._solver or self.refuse()).run(T, q0, limits, tol, self._value, nearest=True)
        return q, count > 0, errors[..., 0], errors[..., 1]

    @property
    def branches(self) -> int:
        """How many solutions a pose has at most."""
        _, chain, family = (self._solver or self.refuse()).program
        return len(family.solve(np.eye(4, dtype=object), values_at(chain)))

    @property
    def misfit(self) -> float:
        """How far the arm is from the special one whose equations are solved, rad or shares of its size."""
        near = (self._solver or self.refuse()).program[2].near
        return 0.0 if near is None else near.misfit

    def holding(self, value: npt.ArrayLike) -> ClosedForm:
        """The same with another value of the fixed joint, rad or m, of any batch shape; nothing is compiled again."""
        if self.fixed is None:
            raise ArgumentError("this closed form has no fixed joint; expected closed_form(..., fixed={joint: value})")
        other = object.__new__(ClosedForm)
        other.__dict__.update(self.__dict__, _value=numbers("fixed", value))
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        fixed: Any = None if self.fixed is None else {self.fixed: self._value}
        return partial(closed_form, asks=self.asks, fixed=fixed), (self.mechanism, self.link)

    def __repr__(self) -> str:
        return f"<ClosedForm of {self.mechanism.name}: {self.family or 'none, ' + self.why}>"

    def refuse(self, why: str = "") -> NoReturn:
        """Raise `NoClosedFormError`: why there is none, or what else stands in its way."""
        alternative = (
            ""
            if self.mechanism.manifold_joints
            else "; inverse_kinematics(T) solves numerically, all_inverse_kinematics(T, method='numeric') from many starts"
        )
        raise NoClosedFormError(f"{self.mechanism.name!r} has no closed form for this frame: {why or self.why}{alternative}")


def closed_form(
    mechanism: Tree,
    link: int | str = "tool",
    *,
    asks: str = "pose",
    fixed: Mapping[int | str, npt.ArrayLike] | None = None,
) -> ClosedForm:
    """The closed form of a mechanism for one of its frames. Where there is none, the object that comes back says why.

    Closed forms are known for six revolute joints of which three neighbours have parallel axes or axes that meet in a point,
    wherever in the chain they are, and for what else `linkwise.inverse_kinematics.closed_form.decomposition` takes apart.
    Axes count as parallel or meeting within 1e-5 (rad, or shares of the arm's size); answers are refined on the arm as it
    is.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops on the way to the frame.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
    asks : {"pose", "position", "orientation"}
        What is solved for; of a pose given for a position only the last column counts, for an orientation the rotation.
    fixed : mapping of a joint to its value, optional
        A joint, by name or index of its coordinate, that is not solved for: rad or m, of any batch shape.

    Returns
    -------
    ClosedForm
        With the methods `ClosedForm.all` and `ClosedForm.nearest`.

    Raises
    ------
    ArgumentError
        Where there is no such link or joint, or no such thing to ask for.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.ur5()
    >>> form = closed_form(arm)
    >>> form.family
    'the axes of joints 2, 3 and 4 are parallel'
    >>> q, found, *errors = form.nearest(arm.forward_kinematics([0.1, -0.8, 1.0, 0.3, 0.5, 0.2]), q0=[0.0] * 6)
    >>> bool(found), q.round(6).tolist()
    (True, [0.1, -0.8, 1.0, 0.3, 0.5, 0.2])
    """
    choice("asks", asks, ROWS)
    link = link_given(link)
    joint, value = (None, 0.0) if fixed is None else _fixed_joint(mechanism, fixed)
    known = None if joint is None else (joint, 0.0)
    form = mechanism.memo("closed_form", (link, asks, joint), lambda: ClosedForm(mechanism, link, asks, known))
    return form if joint is None else form.holding(value)


def _fixed_joint(mechanism: Tree, fixed: Mapping[int | str, npt.ArrayLike]) -> tuple[int, npt.ArrayLike]:
    """The coordinate, by index, and its value."""
    if not isinstance(fixed, Mapping) or len(fixed) != 1:
        raise ArgumentError(f"fixed is {shown(fixed)}; expected one joint and its value, such as {{'joint7': 0.0}}")
    ((joint, value),) = fixed.items()
    return joint_index(mechanism, "fixed", joint_given("fixed", joint)), value
