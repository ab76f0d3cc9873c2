"""Constraints on a mechanism, compiled: the two iterations, and the forward pass that evaluates their residuals.

Of frames that many bodies move the iterations are not compiled: NumPy takes their steps, over kernels that loop over bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kernel.backend import backend_of
from linkwise.kernel.iteration import Descent, IterationProgram, Rounds
from linkwise.kinematics.configuration import random_coordinates
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint
from linkwise.solve.frame_problem import FrameProblem, batch_step, frame_problem
from linkwise.solve.joint_limits import start_position
from linkwise.solve.levenberg_marquardt import AUX, BEST_FIT, REACH, Policy, make_step
from linkwise.solve.problem import ConstraintProblem
from linkwise.solve.solution import Solution
from linkwise.spatial.scalar import Array, FloatArray, root

#: Random starts of a task after the first one.
STARTS = 99

#: Random starts from which, after the first one, the nearest there is to a solution is looked for.
NEAREST_STARTS = 12

#: Random starts for a task that is met outside the joint limits, from which it is looked for inside them.
MORE_STARTS = 600

#: Seeds and tolerances whose starts and settings are kept.
KEPT = 64


class CompiledProblem:
    """Compiled kernels of one kind of task on one mechanism.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of Constraint
        Constraints.
    limits : bool
        Whether joint limits hold.
    backend : str, optional
        How it is computed; the default one if left out.
    """

    def __init__(
        self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool, backend: str | None = None
    ) -> None:  # fmt: skip
        backend_of(backend)  # (refuses an unknown one)
        self.backend = backend
        if not tree.nv:
            raise ArgumentError(f"{tree.name!r} has no joint that moves")
        self.problem = self._problem_of(tree, constraints, limits=limits)
        self.size = self.problem.size
        self.ranges = self.problem.ranges
        used = self._used()
        self.idle = np.array([i for i in range(self.problem.base, tree.nq) if i not in used], dtype=np.intp)
        moved = [at for at in tree.manifold_joints if at.link >= 0]
        self.idle_joints = [at for at in moved if used.isdisjoint(range(at.q.start, at.q.stop))]
        first = start_position(tree, np.isin(np.arange(self.problem.base, tree.nq), self.idle))
        self.start = np.concatenate([tree.neutral[: self.problem.base], first])
        self.bounds = np.stack([self.ranges.low, self.ranges.high], axis=1)
        self.limited = limits
        self.names = tree.names
        self._random_starts = lru_cache(maxsize=KEPT)(self._make_starts)

    def _problem_of(self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool) -> ConstraintProblem:
        return ConstraintProblem(tree, constraints, limits=limits)

    @cached_property
    def reaching(self) -> Descent | Rounds:
        """The iteration towards a solution."""
        return iteration(self.problem, REACH, "reach", backend=self.backend)

    @cached_property
    def approaching(self) -> Descent | Rounds:
        """Iteration to the best approximation."""
        return iteration(self.problem, BEST_FIT, "approach", backend=self.backend)

    @cached_property
    def checks(self) -> Kernel:
        """Kernel from parameters (p,) and q (nq,) to distance (m), angle (rad), joints outside limits: a separate pass."""

        def check(p: Array, q: Array) -> tuple[Any, ...]:
            distance, angle = self.problem.errors(q, p)
            return root(distance), root(angle), self.problem.outside(q)

        inputs = {"numbers": (self.size,), "q": (self.problem.tree.nq,)}
        tape = trace(check, "constraint_errors", inputs, {"distance": (), "angle": (), "outside": ()})
        return Kernel(tape, self.backend)

    @cached_property
    def checking(self) -> Callable[..., tuple[Any, Any, Any]]:
        """The same as a function that is fast for one task."""
        entry: Callable[..., tuple[Any, Any, Any]] = self.checks.entry(self.checks) or self.checks
        return entry

    def pieces(self, count: int) -> list[slice]:
        """Divide tasks among threads, after tracing their common kernels."""
        _ = self.checking
        return self.reaching.pieces(count)

    def checked(self, tasks: FloatArray, rows: FloatArray, start: FloatArray, tol: float, reached: Any = True) -> Solution:
        """Solution from rows of an iteration for tasks (N, p) and starts (N, nq), verified by a separate forward pass."""
        nq = self.problem.tree.nq
        q = self.unmoved(np.ascontiguousarray(rows[:, :nq]), start)
        distance, angle, outside = self.checking(tasks, q)
        success = reached & (distance <= tol) & (angle <= tol) & (outside == 0)
        return Solution(q, success, np.full(len(q), "converged", "<U11"), distance, angle, rows[:, nq].astype(np.intp))

    @cached_property
    def rates(self) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Kernel from parameters (p,) and q (nq,) to the Jacobian of the step's equations (m, nv)."""

        def rates(p: Array, q: Array) -> Array:
            return self.problem.stacked(self.problem.parts(Configuration(self.problem.tree, q), p), exact=True)[1]

        inputs = {"numbers": (self.size,), "q": (self.problem.tree.nq,)}
        return Kernel(trace(rates, "constraint_rates", inputs), self.backend)

    @property
    def row(self) -> int:
        """Numbers that the iteration towards a solution gives for a task."""
        return self.problem.tree.nq + 5

    @staticmethod
    @lru_cache(maxsize=KEPT)
    def settings(tol: float, last: float | None = None) -> FloatArray:
        """Settings of `linkwise.solve.levenberg_marquardt`; the last is the tolerance unless stated otherwise."""
        return np.array([tol * tol, tol * tol, tol if last is None else last])

    def clipped(self, q: FloatArray) -> FloatArray:
        """Configurations (..., nq) brought into the limits."""
        inside = q.copy()
        for at in self.problem.tree.manifold_joints if self.limited else ():
            if np.isfinite(at.most):
                flat = inside[..., at.q].reshape(-1, at.joint.nq)
                inside[..., at.q] = np.reshape([at.joint.clipped(row, at.most) for row in flat], inside[..., at.q].shape)
        inside[..., self.problem.base :] = np.clip(inside[..., self.problem.base :], self.ranges.low, self.ranges.high)
        return inside

    def deficient(self, tasks: FloatArray, q: FloatArray, share: float) -> Any:
        """Mark tasks (N,) with rank-deficient Jacobian: singular values below this share of the greatest."""
        values = np.linalg.svd(self.rates(tasks, q), compute_uv=False)
        return values[:, -1] <= share * values[:, 0]

    def starts(self, seed: int, count: int = STARTS) -> FloatArray:
        """Random configurations (count, nq) within the limits: the same for the same seed."""
        return self._random_starts(seed, count)

    def _make_starts(self, seed: int, count: int) -> FloatArray:
        tree, base = self.problem.tree, self.problem.base
        starts = np.tile(self.start, (count, 1))
        starts[:, base:] = random_coordinates(tree, self.bounds, self.problem.length, count, seed)
        rng = np.random.default_rng((seed, base))
        for at in tree.manifold_joints:
            if at.link >= 0 and at not in self.idle_joints:  # (a floating base is found from where it is)
                turns = at.joint.random(rng, count, at.most if self.limited else np.inf)
                place = at.joint.quaternion
                starts[:, at.quaternion] = turns[:, place]
        return starts

    def unmoved(self, q: FloatArray, start: FloatArray) -> FloatArray:
        """Reset idle joints of configurations (..., nq) to start (..., nq), within their limits."""
        if len(self.idle):
            k = self.idle - self.problem.base
            q[..., self.idle] = np.clip(start[..., self.idle], self.ranges.low[k], self.ranges.high[k])
        for at in self.idle_joints:
            q[..., at.q] = start[..., at.q]
        return q

    def _used(self) -> set[int]:
        """The coordinates, by their place in q, on which constraints depend."""
        inputs = {"numbers": (self.size,), "q": (self.problem.tree.nq,)}
        tape = trace(lambda p, q: self.problem.errors(q, p), "constraint_sizes", inputs, {"distance": (), "angle": ()})
        used = {slot for instruction in tape.code for slot in instruction.args} | set(tape.results)
        return {slot - self.size for slot in used if self.size <= slot < self.size + self.problem.tree.nq}


class LoopedProblem(CompiledProblem):
    """The same for frames that many bodies move: nothing is compiled for the mechanism.

    Parameters
    ----------
    problem : FrameProblem
        The constraints.
    """

    def __init__(self, problem: FrameProblem) -> None:
        self.problem: FrameProblem = problem
        super().__init__(problem.tree, problem.constraints, limits=problem.limited)

    def _problem_of(self, *_: Any, **__: Any) -> FrameProblem:
        return self.problem

    @cached_property
    def reaching(self) -> Rounds:
        """The iteration towards a solution."""
        return self._rounds(REACH)

    @cached_property
    def approaching(self) -> Rounds:
        """Iteration to the best approximation."""
        return self._rounds(BEST_FIT)

    def _rounds(self, policy: Policy) -> Rounds:
        sizes = {"q": self.problem.tree.nq, "aux": AUX[policy.accept]}
        return Rounds(batch_step(make_step(self.problem, policy)), sizes)

    @cached_property
    def checking(self) -> Callable[..., tuple[Any, Any, Any]]:
        """Numbers (..., p) and q (..., nq) to distance (m), angle (rad), joints outside their limits."""
        return self.problem.check

    @cached_property
    def rates(self) -> Callable[[FloatArray, FloatArray], FloatArray]:
        """Function from parameters (N, p) and q (N, nq) to the Jacobian of the step's equations (N, m, nv)."""
        return self.problem.rates

    def _used(self) -> set[int]:
        tree, moved = self.problem.tree, self.problem.moved()
        joints = {i for at in tree.manifold_joints if moved[at.v].any() for i in range(at.q.start, at.q.stop)}
        return joints | {int(k) for k in self.problem.base + np.flatnonzero(moved[tree.nv - tree.n :])}


def iteration(problem: ConstraintProblem, policy: Policy, name: str, **options: Any) -> Descent:
    """Iteration that solves a problem, traced once; the options are those of `Descent`."""
    nq, extra = problem.tree.nq, AUX[policy.accept]
    size = problem.parameters
    inputs = {"parameters": (size,), "q0": (nq,), "settings": (3,), "q": (nq,), "aux": (extra,)}
    outputs = {"q": (nq,), "aux": (extra,), "status": ()}
    return Descent(IterationProgram(trace(make_step(problem, policy), name, inputs, outputs)), **options)


def system_of(
    tree: Tree, constraints: Sequence[Constraint], *, limits: bool = True, backend: str | None = None
) -> CompiledProblem:
    """The system for constraints of these kinds, compiled where few bodies move them or a back end is named; kept."""

    def make() -> CompiledProblem:
        problem = frame_problem(tree, constraints, limits=limits) if backend is None else None
        if problem is not None:
            return LoopedProblem(problem)
        return CompiledProblem(tree, constraints, limits=limits, backend=backend)

    key = (backend, limits, *((*constraint.key, constraint.weight is None) for constraint in constraints))
    return tree.memo("solve", key, make)
