"""Constraints on a mechanism, compiled: the two iterations, and the forward pass that tells what has become of them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kernel.descent import Descent, Program
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Constraint
from linkwise.solve.start import start_position
from linkwise.solve.steps import Task, approach, reach
from linkwise.spatial.scalar import Array, FloatArray, root

STARTS = 99
"""Random starts of a task after the first one."""

NEAREST_STARTS = 12
"""Random starts from which, after the first one, the nearest there is to a solution is looked for."""

MORE_STARTS = 600
"""Random starts for a task that is met outside the joint limits, from which it is looked for inside them."""

KEPT = 64
"""Seeds and tolerances whose starts and settings are kept."""

_making = threading.RLock()


class System:
    """What is compiled for one kind of task on one mechanism.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of Constraint
        What must hold.
    limits : bool
        Whether joint limits hold.
    """

    def __init__(self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool) -> None:
        if not tree.nv:
            raise ArgumentError(f"{tree.name!r} has no joint that moves")
        self.task = Task(tree, constraints, limits=limits)
        self.size = sum(self.task.counts)
        self.ranges = self.task.ranges
        self.idle = self._idle()
        first = start_position(tree, np.isin(np.arange(self.task.free, tree.nq), self.idle))
        self.start = np.concatenate([tree.neutral[: self.task.free], first])
        self.bounds = np.stack([self.ranges.low, self.ranges.high], axis=1)
        self.limited = limits
        self.names = tree.names
        self._starts: dict[tuple[int, int], FloatArray] = {}
        self._settings: dict[float, FloatArray] = {}

    @cached_property
    def reaching(self) -> Descent:
        """The iteration towards a solution."""
        return self._descent(reach, 4)

    @cached_property
    def approaching(self) -> Descent:
        """The iteration to the nearest there is."""
        return self._descent(approach, 2)

    @cached_property
    def checking(self) -> Callable[..., tuple[Any, Any, Any]]:
        """Numbers (p,) and q (nq,) to distance (m), angle (rad), joints outside their limits: a forward pass of its own."""

        def check(p: Array, q: Array) -> tuple[Any, ...]:
            distance, angle = self.task.errors(q, p)
            return root(distance), root(angle), self.ranges.outside(q[self.task.free :])

        inputs = {"numbers": (self.size,), "q": (self.task.tree.nq,)}
        kernel = Kernel(trace(check, "constraint_errors", inputs, {"distance": (), "angle": (), "outside": ()}))
        made: Callable[..., tuple[Any, Any, Any]] = kernel.entry(kernel.ufunc) or kernel.ufunc
        return made

    @cached_property
    def rates(self) -> Kernel:
        """Numbers (p,) and q (nq,) to what a step must fulfil (m, nv)."""

        def rates(p: Array, q: Array) -> Array:
            return self.task.equations(q, p, exact=True)[1]

        inputs = {"numbers": (self.size,), "q": (self.task.tree.nq,)}
        return Kernel(trace(rates, "constraint_rates", inputs))

    @property
    def row(self) -> int:
        """Numbers that the iteration towards a solution gives for a task."""
        return self.task.tree.nq + 5

    def settings(self, tol: float) -> FloatArray:
        """What `linkwise.solve.steps` calls settings."""
        made = self._settings.get(tol)
        return _keep(self._settings, tol, np.array([tol * tol, tol * tol, tol])) if made is None else made

    def clipped(self, q: FloatArray) -> FloatArray:
        """Configurations (..., nq) brought into the limits."""
        made = q.copy()
        made[..., self.task.free :] = np.clip(made[..., self.task.free :], self.ranges.low, self.ranges.high)
        return made

    def deficient(self, tasks: FloatArray, q: FloatArray, share: float) -> Any:
        """Where (N,) the rates have lost rank: singular values below this share of the greatest."""
        values = np.linalg.svd(self.rates(tasks, q), compute_uv=False)
        return values[:, -1] <= share * values[:, 0]

    def starts(self, seed: int, count: int = STARTS) -> FloatArray:
        """Random configurations (count, nq) within the limits: the same for the same seed."""
        made = self._starts.get((seed, count))
        if made is None:
            rng, tree = np.random.default_rng(seed), self.task.tree
            low, high = self.ranges.low, self.ranges.high
            reach = np.where(tree.slides, self.task.length, np.pi)
            bounded = np.isfinite(low) & np.isfinite(high)
            low = np.where(
                bounded, low, np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2 * reach, -reach))
            )
            high = np.where(bounded, high, np.where(np.isfinite(high), high, low + 2 * reach))
            made = np.tile(self.start, (count, 1))
            made[:, self.task.free :] = rng.uniform(low, high, (count, tree.n))
            _keep(self._starts, (seed, count), made)
        return made

    def unmoved(self, q: FloatArray, start: FloatArray) -> FloatArray:
        """Configurations (..., nq), idle joints put back to where they were in start (..., nq), within their limits."""
        if len(self.idle):
            k = self.idle - self.task.free
            q[..., self.idle] = np.clip(start[..., self.idle], self.ranges.low[k], self.ranges.high[k])
        return q

    def _idle(self) -> npt.NDArray[np.intp]:
        """The joint coordinates, by their place in q, on which no constraint depends."""
        inputs = {"numbers": (self.size,), "q": (self.task.tree.nq,)}
        tape = trace(lambda p, q: self.task.errors(q, p), "constraint_sizes", inputs, {"distance": (), "angle": ()})
        used = {slot for instruction in tape.code for slot in instruction.args} | set(tape.results)
        return np.array([i for i in range(self.task.free, self.task.tree.nq) if self.size + i not in used], dtype=np.intp)

    def _descent(self, function: Callable[..., Any], extra: int) -> Descent:
        nq = self.task.tree.nq

        def step(*given: Array) -> Any:
            return function(self.task, *given)

        inputs = {"parameters": (self.size,), "q0": (nq,), "settings": (3,), "q": (nq,), "aux": (extra,)}
        outputs = {"q": (nq,), "aux": (extra,), "status": ()}
        return Descent(Program(trace(step, function.__name__, inputs, outputs)))


def _keep(kept: dict[Any, FloatArray], key: Any, made: FloatArray) -> FloatArray:
    """Put an array beside those that are kept; where they are many these are forgotten."""
    if len(kept) >= KEPT:
        kept.clear()
    kept[key] = made
    return made


def system_of(tree: Tree, constraints: Sequence[Constraint], *, limits: bool = True) -> System:
    """The compiled system for constraints of these kinds; kept with the mechanism."""
    key = (limits, *(constraint.key for constraint in constraints))
    systems: dict[Any, System] = tree.__dict__.setdefault("_systems", {})
    if key not in systems:
        with _making:
            if key not in systems:
                systems[key] = System(tree, constraints, limits=limits)
    return systems[key]
