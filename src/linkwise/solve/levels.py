"""Levels of priority: each is met as well as the levels before it leave.

A level that is met stays met: its equations and ranges hold on the way of the next ones. Of a level that cannot be met the
positions that meet it best are kept: they have the same slope, zero, so that what they allow are the motions without
curvature of its Lagrangian, and joints and ranges that press against it rest. (The priorities are those of Y. Nakamura, H.
Hanafusa, T. Yoshikawa, "Task-priority based redundancy control of robot manipulators", Int. J. Robotics Research 6(2), 1987,
with inequalities as by A. Escande, N. Mansard, P.-B. Wieber, "Hierarchical quadratic programming", ibid. 33(7), 2014; second
derivatives where a level is out of reach as by K. Pfeiffer, A. Escande, A. Kheddar, "Singularity resolution in equality and
inequality constrained hierarchical task-space control by adaptive nonlinear least squares", IEEE Robotics and Automation
Letters 3(4), 2018.) Rows are computed in machine code, steps over arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem, LoopedProblem
from linkwise.solve.constraints.constraint import Configuration, Constraint
from linkwise.solve.frame_problem import frame_problem
from linkwise.solve.trust_region import Aim, descend, free_motions
from linkwise.spatial.scalar import Array, FloatArray, root

Places = npt.NDArray[np.intp]

#: Relative thresholds of zero singular values of the kept rows, and of zero curvatures.
RANK, FLAT = 1e-8, 1e-6

#: Relative threshold of the negative curvature of a ridge.
DOWNWARD = 1e-6

#: Step of the difference quotients of slopes for the curvature.
ASIDE = 1e-5

#: Greatest number of corrections after a step, error below which they end, and greatest error: relative to the mechanism's
#: size, and rad.
CORRECTIONS, SOUND, KEPT = 12, 1e-13, 1e-11

#: A range this near to its bound, or a joint to its limit, is at it.
AT_BOUND = 1e-9

#: Steps of a level at most, their length, and the squares of the error at which nothing is left to do.
ROUNDS, LONGEST, DONE = 200, 1.0, 1e-27

#: A level is at rest where the slope is below this share of rates times residual; settled, so that no descent is begun.
REST, SETTLED = 1e-6, 1e-8


class LevelSystem(CompiledProblem):
    """Constraints of several priorities, compiled.

    Attributes
    ----------
    row_levels, range_levels : ndarray of int
        The levels of the rows of `table`: first those of residuals (m,), then those of intervals (k,).
    ranged : ndarray of bool (m,)
        Which residuals are those of ranges.
    """

    def __init__(self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool) -> None:
        super().__init__(tree, constraints, limits=limits)
        self.levels = [constraint.level for constraint in constraints]
        lengths = np.asarray(tree.is_linear_velocity, dtype=bool)
        self.units = np.where(lengths, self.problem.length, 1.0)
        self.owners: list[int] = []
        self.range_owners: list[int] = []
        self.table, ranged = self._rows()
        self.row_levels = np.array([self.levels[k] for k in self.owners], dtype=np.intp)
        self.range_levels = np.array([self.levels[k] for k in self.range_owners], dtype=np.intp)
        self.ranged = np.array(ranged, dtype=bool)

    def _rows(self) -> tuple[Callable[[FloatArray, FloatArray], FloatArray], list[bool]]:
        """The table of rows, numbers (p,) and q (nq,) to (m + k, nv + 3), and which residuals are those of ranges."""
        tree, ranged = self.problem.tree, list[bool]()

        def rows(p: Array, q: Array) -> Array:
            problem, nv = self.problem, tree.nv
            at, numbers = Configuration(tree, q), problem.split(p)
            residuals, intervals = [], []
            for k, (c, part) in enumerate(zip(problem.constraints, numbers, strict=True)):
                equations = c.equations(at, part)
                interval = equations.interval or c.interval(at, part)
                rates = equations.rates if equations.exact is None else equations.exact
                for row, (value, angle) in enumerate(zip(equations.residual, equations.angles, strict=True)):
                    scale = 1.0 if angle else 1.0 / problem.length
                    residuals.append(np.array([value, 0.0, 0.0, *rates[row]], dtype=object) * scale)
                self.owners += [k] * len(equations.angles)
                ranged.extend([interval is not None] * len(equations.angles))
                for row, angle in enumerate(interval.angles if interval else ()):
                    assert interval is not None
                    scale = 1.0 if angle else 1.0 / problem.length
                    values = [0.0, interval.low[row], interval.high[row], *interval.rates[row]]
                    intervals.append(np.array(values, dtype=object) * scale)
                self.range_owners.extend([k] * (len(interval.angles) if interval else 0))
            return np.reshape([*residuals, *intervals], (-1, nv + 3))

        inputs = {"numbers": (self.size,), "q": (tree.nq,)}
        return Kernel(trace(rows, "constraint_levels", inputs)), ranged

    @cached_property
    def each_error(self) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Numbers (p,) and q (nq,) to distance (m) and angle (rad) of each constraint (c, 2), by another forward pass."""

        def errors(p: Array, q: Array) -> Array:
            at, numbers = Configuration(self.problem.tree, q), self.problem.split(p)
            pairs = [c.errors(at, part) for c, part in zip(self.problem.constraints, numbers, strict=True)]
            return np.array([[root(value) for value in pair] for pair in pairs], dtype=object)

        return Kernel(trace(errors, "errors_of_constraints", {"numbers": (self.size,), "q": (self.problem.tree.nq,)}))

    def ends(self, tasks: FloatArray, starts: FloatArray, settings: FloatArray) -> FloatArray:
        """Rows of the iteration from starts (N, nq) to where tasks (N, P) are met best: q, the number of steps, and more."""
        return np.asarray(self.approaching(tasks, starts, starts[:0], settings))

    def weights(self, tasks: FloatArray) -> FloatArray:
        """The weights (..., c) of the constraints in the numbers (..., p) of tasks."""
        ends = np.cumsum(self.problem.counts, dtype=int)
        columns = [
            np.ones(tasks.shape[:-1]) if c.weight is None else tasks[..., end - 1]
            for c, end in zip(self.problem.constraints, ends, strict=True)
        ]
        return np.stack(columns, axis=-1)

    def settled(self, tasks: FloatArray, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Mark tasks (N, P) of one level that are stationary at q (N, nq), apart from joint limits, and cannot descend."""
        nv, n = len(self.units), self.problem.tree.n
        residual, rates, slope = self._of_all(tasks, q)
        joints, down = q[:, self.problem.base :], slope[:, nv - n :]
        low, high = self.bounds.T
        pressed = np.zeros((len(q), nv), dtype=bool)
        pressed[:, nv - n :] = ((joints <= low) & (down > 0.0)) | ((joints >= high) & (down < 0.0))
        size = np.linalg.norm(residual, axis=1) * np.linalg.norm(rates, axis=(1, 2))
        result = np.linalg.norm(np.where(pressed, 0.0, slope), axis=1) <= SETTLED * size
        lacking = np.flatnonzero(result & (np.linalg.norm(residual, axis=1) > KEPT))
        result[lacking] = ~self._on_ridge(tasks[lacking], q[lacking], ~pressed[lacking])
        return np.asarray(result)

    def _of_all(self, tasks: FloatArray, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Residuals (..., m), rates (..., m, nv) and the slope (..., nv) of half the sum of squares, weights counted."""
        table = np.asarray(self.table(tasks, q))[..., : len(self.owners), :]
        gains = np.sqrt(self.weights(tasks))[..., self.owners]
        residual, rates = table[..., 0] * gains, table[..., 3:] * gains[..., None] * self.units
        return residual, rates, -np.einsum("...i,...ij->...j", residual, rates)

    def _on_ridge(self, tasks: FloatArray, q: FloatArray, free: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Mark tasks (N, P) whose sum of squares has negative curvature at q (N, nq) along the free motions (N, nv)."""
        aside = ASIDE * np.diag(self.units)
        beside = self.stepped(q[:, None], np.concatenate([aside, -aside]))
        slopes = self._of_all(tasks[:, None], beside)[2]
        hessian = (slopes[:, : len(aside)] - slopes[:, len(aside) :]) / (2.0 * ASIDE)
        hessian = 0.5 * (hessian + hessian.swapaxes(1, 2)) * (free[:, :, None] & free[:, None, :])
        curvatures = np.linalg.eigvalsh(hessian)
        return np.asarray(curvatures[:, 0] < -DOWNWARD * np.abs(curvatures).max(axis=1, initial=0.0))

    def stepped(self, q: FloatArray, motion: FloatArray) -> FloatArray:
        """Configurations (..., nq) after motions (..., nv)."""
        if not self.problem.base:
            return q + motion
        return np.asarray(kernel_of(self.problem.tree, "integrate")(q, motion, 1.0))


@dataclass(frozen=True, eq=False)
class KeptRows:
    """The rows of the motions that are allowed at a position.

    Attributes
    ----------
    basis : ndarray (nv, m)
        The motions, orthonormal.
    rows : ndarray (K, nv)
        What is zero along them.
    places : ndarray of int (K,)
        Which row of the table each is; -1 for one that is not curved.
    best : tuple of (StationaryLevel, ndarray, ndarray)
        Levels that are not met, each with the motions (nv, r) that it does not allow, and its curvatures (r,) along them.
    """

    basis: FloatArray
    rows: FloatArray
    places: Places
    best: tuple[tuple[StationaryLevel, FloatArray, FloatArray], ...] = ()


@dataclass(frozen=True, eq=False)
class StationaryLevel:
    """A level that is met as well as can be, but not wholly.

    Attributes
    ----------
    level : int
        Which.
    least : float
        The root of the sum of its squares.
    places, constant, multipliers : ndarray (K,), (K, nv), (K,)
        What keeps it from being met better: rows that are zero along what is allowed, as of `KeptRows`, and how strongly
        each pushes.
    """

    level: int
    least: float
    places: Places
    constant: FloatArray
    multipliers: FloatArray


class LevelDescent(Aim):
    """Descent of one task through its levels, as both objective and feasible region.

    Parameters
    ----------
    system : LevelSystem
        The constraints.
    p : ndarray (P,)
        The numbers of the task.
    """

    def __init__(self, system: LevelSystem, p: FloatArray) -> None:
        self.system, self.p, self.units = system, p, system.units
        weights = system.weights(p)
        self.gains, self.counting = np.sqrt(weights)[system.owners], weights[system.range_owners] > 0.0
        self.sound = SOUND
        tree = system.problem.tree
        self.base, self.first = tree.nq - tree.n, tree.nv - tree.n
        self.low, self.high = system.bounds.T
        self.limited = np.flatnonzero(np.isfinite(self.low) | np.isfinite(self.high))
        self.level = 0
        self.equal = self.ranges = np.zeros(0, dtype=np.intp)
        self.frozen: Places = np.zeros(0, dtype=np.intp)
        self.frozen_ranges: Places = np.zeros(0, dtype=np.intp)
        self.best: list[StationaryLevel] = []
        self._last: tuple[bytes, FloatArray] = (b"", np.zeros(0))

    # ── what is aimed at ──────────────────────────────────────────────────────────────────────────

    def values(self, q: FloatArray) -> FloatArray:
        """Half the squares of the level (k,), at configurations (k, nq)."""
        residual = self._scaled(self.system.table(self.p, q), self.level)[0]
        return np.asarray(0.5 * np.sum(residual**2, axis=-1))

    def value(self, q: FloatArray) -> float:
        """The same of one configuration (nq,)."""
        return float(0.5 * np.sum(self._scaled(self._table(q), self.level)[0] ** 2))

    def slope(self, q: FloatArray) -> FloatArray:
        """Its derivative along the velocities (nv,)."""
        return self._slope(self._table(q), self.level)

    def _scaled(self, table: FloatArray, level: int) -> tuple[FloatArray, FloatArray]:
        """Residual (..., m) and rates (..., m, nv) of a level, times the roots of the weights."""
        places = np.flatnonzero(self.system.row_levels == level)
        gains = self.gains[places]
        return table[..., places, 0] * gains, table[..., places, 3:] * gains[:, None]

    def _slope(self, table: FloatArray, level: int) -> FloatArray:
        residual, rates = self._scaled(table, level)
        return np.asarray(-(residual[..., None, :] @ rates)[..., 0, :])

    def _table(self, q: FloatArray) -> FloatArray:
        key = q.tobytes()
        if self._last[0] != key:
            self._last = (key, np.asarray(self.system.table(self.p, q)))
        return self._last[1]

    # ── what is kept ──────────────────────────────────────────────────────────────────────────────

    def tangent(self, q: FloatArray) -> KeptRows:
        """The motions that keep the levels before, to first order."""
        table, nv = self._table(q), len(self.units)
        places = np.concatenate([self.equal, self.frozen_ranges, np.full(len(self.frozen), -1)])
        rows = np.concatenate([table[places[: len(places) - len(self.frozen)], 3:] * self.units, np.eye(nv)[self.frozen]])
        best = []
        for item in self.best:
            basis, curvatures = self._stiff(q, item)
            best.append((item, basis, curvatures))
            rows, places = np.concatenate([rows, basis.T]), np.concatenate([places, np.full(basis.shape[1], -1)])
        return KeptRows(_null_space(rows), rows, places.astype(np.intp), tuple(best))

    def _stiff(self, q: FloatArray, item: StationaryLevel) -> tuple[FloatArray, FloatArray]:
        """The motions (nv, r) along which a level is curved, of those allowed before it, and the curvatures (r,).

        Curvatures are compared with those that its rates have along all motions: along what is allowed there may be none.
        """
        basis = _null_space(self._rows_of(q, item.places, item.constant))
        hessian = self._second(q, basis, item.level, item.places, item.multipliers)
        curvatures, ways = np.linalg.eigh(hessian)
        rates = self._scaled(self._table(q), item.level)[1] * self.units
        most = max(float(np.abs(curvatures).max(initial=0.0)), float(np.sum(rates**2)), 1e-300)
        stiff = np.abs(curvatures) > FLAT * most
        return basis @ ways[:, stiff], curvatures[stiff]

    def _rows_of(self, q: FloatArray, places: Places, constant: FloatArray) -> FloatArray:
        """Rows of the table, and constant ones where the place is -1."""
        rows = np.array(constant)
        curved = places >= 0
        rows[curved] = self._table(q)[places[curved], 3:] * self.units
        return rows

    def room(self, q: FloatArray, tangent: KeptRows) -> tuple[FloatArray, FloatArray]:
        """Rows and bounds of the joint limits, then of the ranges."""
        where, table = self.first + self.limited, self._table(q)
        joints, units, basis = q[self.base + self.limited], self.units[where], tangent.basis[where]
        slopes = (table[self.ranges, 3:] * self.units) @ tangent.basis
        rows = [basis, -basis, slopes, -slopes]
        bounds = [(self.high[self.limited] - joints) / units, (joints - self.low[self.limited]) / units]
        bounds += [table[self.ranges, 2], -table[self.ranges, 1]]
        room = np.concatenate(bounds)
        return np.concatenate(rows), np.where(room <= AT_BOUND, 0.0, room)

    def with_active(self, q: FloatArray, tangent: KeptRows, resting: Places) -> KeptRows:
        """Motions with some joints and ranges locked in addition."""
        joints, ranges = self._which(resting)
        rows = np.concatenate([np.eye(len(self.units))[joints], self._table(q)[ranges, 3:] * self.units])
        places = np.concatenate([tangent.places, np.full(len(joints), -1), ranges]).astype(np.intp)
        rows = np.concatenate([tangent.rows, rows])
        return KeptRows(_null_space(rows), rows, places, tangent.best)

    def _which(self, resting: Places) -> tuple[Places, Places]:
        """The velocities of joints, and the rows of ranges in the table, of rows of `room`."""
        count = len(self.limited)
        of_joints = resting[resting < 2 * count]
        ranges = resting[resting >= 2 * count] - 2 * count
        joints = np.unique(self.first + self.limited[of_joints % max(1, count)])
        return joints, np.unique(self.ranges[ranges % max(1, len(self.ranges))])

    def moved(self, q: FloatArray, tangent: KeptRows, step: FloatArray) -> FloatArray | None:
        """The position after a step, the levels before kept."""
        return self.restored(self.system.stepped(q, tangent.basis @ step * self.units), tangent)

    def restored(self, q: FloatArray, tangent: KeptRows) -> FloatArray | None:
        """The position next to q (nq,) that keeps the levels before, within the limits; None where Newton finds none."""
        before, q = np.inf, self.system.clipped(q)
        for _ in range(CORRECTIONS):
            rows, lacking, gap = self._lacking(q, tangent)
            if gap <= self.sound or (gap <= KEPT and gap >= 0.5 * before):
                return q
            if gap > 10.0 * before:
                return None
            before = min(gap, before)
            q = self.system.clipped(self.system.stepped(q, self._bounded(q, rows, lacking) * self.units))
        return q if self._lacking(q, tangent)[2] <= KEPT else None

    def _lacking(self, q: FloatArray, tangent: KeptRows) -> tuple[FloatArray, FloatArray, float]:
        """Rows (K, nv) of violated constraints, the required step along them (K,), and the violation."""
        table = self._table(q)
        low, high = table[self.ranges, 1], table[self.ranges, 2]
        over = np.flatnonzero((low > 0.0) | (high < 0.0))
        resting = table[self.frozen_ranges, 1:3]
        nearer = np.where(np.abs(resting[:, 0]) < np.abs(resting[:, 1]), resting[:, 0], resting[:, 1])
        lacking = [table[self.equal, 0], np.where(low[over] > 0.0, low[over], high[over]), nearer]
        places = np.concatenate([self.equal, self.ranges[over], self.frozen_ranges])
        rows = [table[places, 3:] * self.units]
        gap = float(np.abs(np.concatenate(lacking)).max(initial=0.0))
        for item, basis, curvatures in tangent.best:
            excess = float(np.linalg.norm(self._scaled(table, item.level)[0])) - item.least
            gap = max(gap, excess)
            rows.append(basis.T)
            lacking.append(-(basis.T @ self._lagrangian(table, item.level, item.places, item.multipliers)) / curvatures)
        return np.concatenate(rows), np.concatenate(lacking), gap

    def _bounded(self, q: FloatArray, rows: FloatArray, lacking: FloatArray) -> FloatArray:
        """Least-norm step (nv,) that removes the violation; joints that would pass a limit are locked there."""
        step, free = np.zeros(len(self.units)), np.ones(len(self.units), dtype=bool)
        free[self.frozen] = False
        where = self.first + self.limited
        room_up = (self.high[self.limited] - q[self.base + self.limited]) / self.units[where]
        room_down = (self.low[self.limited] - q[self.base + self.limited]) / self.units[where]
        for _ in range(4):
            step[free] = np.linalg.lstsq(rows[:, free], lacking - rows[:, ~free] @ step[~free], rcond=RANK)[0]
            beyond = ((step[where] > room_up) | (step[where] < room_down)) & free[where]
            if not beyond.any():
                break
            step[where[beyond]] = np.clip(step[where], room_down, room_up)[beyond]
            free[where[beyond]] = False
        return step

    # ── curvature ─────────────────────────────────────────────────────────────────────────────────

    def curvature(self, aim: Aim, q: FloatArray, value: float, tangent: KeptRows) -> FloatArray:
        """Second derivative (m, m) of the level along the basis, including the kept levels."""
        multipliers = np.asarray(np.linalg.lstsq(tangent.rows.T, -aim.slope(q) * self.units, rcond=RANK)[0])
        return self._second(q, tangent.basis, self.level, tangent.places, multipliers)

    def _second(self, q: FloatArray, basis: FloatArray, level: int, places: Places, multipliers: FloatArray) -> FloatArray:
        """The derivative of a level's Lagrangian along a basis, by central differences of its slope."""
        aside = ASIDE * basis.T * self.units
        tables = self.system.table(self.p, self.system.stepped(q, np.concatenate([aside, -aside])))
        slopes = self._lagrangian(tables, level, places, multipliers)
        hessian = (slopes[: len(aside)] - slopes[len(aside) :]) @ basis / (2.0 * ASIDE)
        return np.asarray(0.5 * (hessian + hessian.T))

    def _lagrangian(self, table: FloatArray, level: int, places: Places, multipliers: FloatArray) -> FloatArray:
        """The slope (..., nv) of a level and of the curved rows that push against it."""
        curved = places >= 0
        pushes = multipliers[curved] @ table[..., places[curved], 3:] if curved.any() else 0.0
        return np.asarray((self._slope(table, level) + pushes) * self.units)

    # ── from level to level ───────────────────────────────────────────────────────────────────────

    def run(self, q: FloatArray, tol: float) -> tuple[FloatArray, dict[int, bool], int]:
        """Go through all levels from q (nq,): where that ends, which levels are at rest, and steps in all."""
        resting, steps = {}, 0
        self.sound = min(SOUND, 0.1 * tol / max(1.0, self.system.problem.length))
        for level in sorted(set(self.system.levels)):
            self.level = level
            q, taken = descend(self, self, q, rounds=ROUNDS, done=DONE, longest=LONGEST)
            steps += taken
            met = self._met(q, level, tol)
            resting[level] = met or self._at_rest(q)
            self._keep(q, level, met)
        return q, resting, steps

    def _met(self, q: FloatArray, level: int, tol: float) -> bool:
        errors, weights = self.system.each_error(self.p, q), self.system.weights(self.p)
        counts = (np.array(self.system.levels) == level) & (weights > 0.0)
        return bool((errors[counts] <= tol).all())

    def _at_rest(self, q: FloatArray) -> bool:
        """True if the level is stationary at q (nq,) along the feasible motions."""
        slope = self.slope(q) * self.units
        residual, rates = self._scaled(self._table(q), self.level)
        size = float(np.linalg.norm(residual) * np.linalg.norm(rates * self.units))
        return float(np.linalg.norm(free_motions(self, q, slope).basis.T @ slope)) <= REST * size

    def _keep(self, q: FloatArray, level: int, met: bool) -> None:
        """Add a level to those that are kept."""
        system, count = self.system, len(self.system.row_levels)
        if met:
            rows = (system.row_levels == level) & ~system.ranged & (self.gains > 0.0)
            self.equal = np.concatenate([self.equal, np.flatnonzero(rows)])
            counting = np.flatnonzero((system.range_levels == level) & self.counting)
            self.ranges = np.concatenate([self.ranges, count + counting])
            return
        slope = self.slope(q) * self.units
        pressing = free_motions(self, q, slope)
        multipliers = np.linalg.lstsq(pressing.rows.T, -slope, rcond=RANK)[0]
        kept = len(self.tangent(q).rows)
        size = max(float(np.linalg.norm(slope)), 1e-300)
        strong = [k for k in range(kept, len(pressing.rows)) if abs(multipliers[k]) > AT_BOUND * size]
        ranges = [int(pressing.places[k]) for k in strong if pressing.places[k] >= 0]
        joints = [int(np.argmax(np.abs(pressing.rows[k]))) for k in strong if pressing.places[k] < 0]
        self.frozen = np.union1d(self.frozen, joints).astype(np.intp)
        self.frozen_ranges = np.union1d(self.frozen_ranges, ranges).astype(np.intp)
        self.ranges = np.setdiff1d(self.ranges, self.frozen_ranges)
        chosen = np.array([*range(kept), *strong], dtype=np.intp)
        least = float(np.linalg.norm(self._scaled(self._table(q), level)[0]))
        self.best.append(StationaryLevel(level, least, pressing.places[chosen], pressing.rows[chosen], multipliers[chosen]))


def _null_space(rows: FloatArray) -> FloatArray:
    """An orthonormal basis (nv, m) of the motions along which rows (K, nv) are zero."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return np.asarray(right[int((values > RANK * values[0]).sum()) :].T) if values[0] > 0.0 else np.eye(rows.shape[1])


class LoopedLevels(LoopedProblem, LevelSystem):
    """The same for frames that many bodies move, and for coordinates: nothing is compiled for the mechanism."""

    def ends(self, tasks: FloatArray, starts: FloatArray, settings: FloatArray) -> FloatArray:
        """Rows of the starts themselves: the descent works on arrays, and goes the whole way."""
        return np.concatenate([starts, np.zeros((len(starts), 1))], axis=1)

    def _rows(self) -> tuple[Callable[[FloatArray, FloatArray], FloatArray], list[bool]]:
        problem = self.problem
        self.owners += [k for k, frame in enumerate(problem.frames) for _ in frame.angles]

        def table(p: FloatArray, q: FloatArray) -> FloatArray:
            batch = np.broadcast_shapes(p.shape[:-1], q.shape[:-1])
            at = problem.at(np.broadcast_to(q, (*batch, q.shape[-1])).reshape(-1, q.shape[-1]).T)
            numbers = np.broadcast_to(p, (*batch, p.shape[-1])).reshape(-1, p.shape[-1]).T
            residual, rates = problem.stacked(problem.parts(at, numbers), exact=True)
            zeros = np.zeros((len(residual), 2, residual.shape[-1]))
            rows = np.moveaxis(np.concatenate([residual[:, None], zeros, rates], axis=1), -1, 0)
            return np.ascontiguousarray(rows).reshape(*batch, *rows.shape[1:])

        return table, [False] * len(self.owners)

    @cached_property
    def each_error(self) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Numbers (..., p) and q (..., nq) to distance (m) and angle (rad) of each constraint (..., c, 2)."""

        def errors(p: FloatArray, q: FloatArray) -> FloatArray:
            pairs = self.problem.squares_of_errors(self.problem.at(np.moveaxis(q, -1, 0)), p)
            batch = np.broadcast_shapes(p.shape[:-1], q.shape[:-1])
            return np.sqrt([[np.broadcast_to(value, batch) for value in pair] for pair in pairs]).transpose(
                *range(2, 2 + len(batch)), 0, 1
            )

        return errors


def level_system(tree: Tree, constraints: Sequence[Constraint], *, limits: bool) -> LevelSystem:
    """The system for constraints of these kinds and levels, compiled where few bodies move them; kept with the mechanism."""

    def make() -> LevelSystem:
        kinds = [constraint.kind() for constraint in constraints]
        problem = frame_problem(tree, kinds, limits=limits, levels=True)
        return LevelSystem(tree, kinds, limits=limits) if problem is None else LoopedLevels(problem)

    key = (limits, *((*c.key, c.weight is None, c.level) for c in constraints))
    return tree.memo("solve levels", key, make)
