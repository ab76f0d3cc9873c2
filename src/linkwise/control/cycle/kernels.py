"""What is compiled for a kind of chain: the parts of its cycle, each over scalars, as kernels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint, Loop
from linkwise.control.cycle.constraint_equations import BranchTracker, ChainProblem
from linkwise.control.cycle.layout import Layout
from linkwise.control.cycle.outputs import CycleOutputs
from linkwise.control.cycle.setpoints import STARTS, GlobalSearch, Setpoints, common
from linkwise.control.limits import Pace
from linkwise.control.limits.stop_feasibility import length
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import iteration
from linkwise.solve.policy import TRACK
from linkwise.spatial.scalar import Array, greatest, select

STATUS = 2
"""Numbers beside the joint values that the solver keeps: steps and damping; the status follows them."""

LANES = 2
"""A cycle computes one or two rows: short vectors are the fastest for them."""

OVER = 1e-12
"""By this share a greatest speed may seem to be exceeded by rounding."""

RETRY = 0.25
"""The share of the iterations of a cycle that a further start is given."""


class CycleKernels:
    """What is compiled for one kind of chain: the same for all chains of one mechanism with constraints of the same kinds.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of ChainConstraint
        Their kinds and links count here, not their values.
    angles : {"xyz", "zyx"}
        Convention of all angles.
    """

    def __init__(self, tree: Tree, constraints: Sequence[ChainConstraint], angles: str) -> None:
        self.layout = Layout(tree, constraints, tree.neutral)
        self.problem = ChainProblem(tree, constraints)
        self.targets = Setpoints(self.layout, self.problem, angles)
        self.branch = BranchTracker(self.problem)
        self.report = CycleOutputs(self.layout, self.problem, self.targets)
        meeting = [constraint.pair(tree) for constraint in constraints if isinstance(constraint, Loop)]
        self.pace = Pace(tree, self.report.links, closures=meeting)
        n, size, inputs = tree.n, self.problem.size, self.layout.inputs
        flags = 4 + len(self.targets.velocities)
        self.n, self.row, self.parameters = n, n + STATUS + 1, 2 * n + size
        self.points = len(self.report.links) + n
        self.preparing = self._kernel(
            self._prepare,
            "chain_prepare",
            {"inputs": (inputs,), "before": (inputs,), "last": (2, n), "at": (2, n)},
            {
                "clean": (inputs,), "parameters": (2 * n + size,), "q0": (n,), "starts": (2, n), "settings": (3,),
                "retry": (3,), "closing": (2 * n + size,), "bounds": (2 * n + 3 * self.points + len(meeting),),
                "flags": (flags,),
            },
        )  # fmt: skip
        self.looking = self._kernel(
            self._ahead,
            "chain_ahead",
            {"clean": (inputs,), "found": (self.row,), "last": (2, n), "clock": (1,), "before": (1,)},
            {"parameters": (2 * n + size,), "q0": (n,), "speeds": (n,), "leading": (n,)},
        )
        self.tracking = iteration(self.problem, TRACK, "chain_track", lanes=LANES)
        self.searching = self._kernel(
            GlobalSearch(self.problem),
            "chain_search",
            {"parameters": (self.parameters,), "here": (n,), "state": (n,)},
            {"starts": (STARTS, n), "state": (n,)},
        )
        if self.branch.exists:
            self._trace_branch()
        made_row = self.pace.made_row
        self.reporting = self._kernel(
            partial(self.report, self.pace.made),
            "chain_report",
            {
                "clean": (inputs,), "flags": (flags,), "now": (self.row,), "later": (self.row,), "solved": (made_row,),
                "predicted": (made_row,), "speeds": (n,), "carried": (n,), "numbers": (2 * n + size,),
                "numbers_later": (2 * n + size,), "at": (2, n), "memory": (self.report.size,), "clock": (1,),
            },
            {"outputs": (self.layout.outputs,), "memory": (self.report.size,), "taken": (n + 1,)},
        )  # fmt: skip
        self.slowing = self._kernel(
            self._slow,
            "chain_slow",
            {"taken": (n + 1,), "speeds": (n,), "limits": (self.points,), "clock": (1,)},
            {"speeds": (n,), "over": (1,)},
        )

    @property
    def digest(self) -> str:
        """The same for the same mechanism with constraints of the same kinds, in any process."""
        tapes = [part.tape.digest for part in (self.preparing, self.looking, self.reporting, self.slowing)]
        return hashlib.sha256(repr([*tapes, self.tracking.program.digest]).encode()).hexdigest()

    def _trace_branch(self) -> None:
        """What keeps the branch of motion where there are loops."""
        n, ends = self.n, {"last": (self.n,), "secant": (self.n,)}
        self.turned = self._kernel(self.branch.turned, "chain_turned", {**ends, "found": (self.row,)}, {"off": (1,)})
        asked = {"parameters": (self.parameters,), "begin": (n,), **ends}
        self.continued = self._kernel(self.branch.continued, "chain_continued", asked, {"q": (n,), "good": (1,)})
        both = {"there": (n,), "found": (self.row,), "other": (self.row,)}
        self.nearer = self._kernel(self.branch.nearer, "chain_nearer", both, {"nearer": (1,)})
        kept = {"goal": (n,), "anchor": (n,), "secant": (n,)}
        self.remembering = self._kernel(self.branch.remember, "chain_remember", kept, {"anchor": (n,), "secant": (n,)})

    def _kernel(self, function: Callable[..., Any], name: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Kernel:
        return Kernel(trace(function, name, inputs, outputs), lanes=LANES)

    def _prepare(self, inputs: Array, before: Array, last: Array, at: Array) -> tuple[Array, ...]:
        layout, targets = self.layout, self.targets
        clean, wrong = layout.cleaned(inputs, before)
        limits = targets.limits(clean)
        precision = layout.take(clean, "chain.calculation_precision")
        most, square = layout.take(clean, "chain.calculations_per_cycle"), precision * precision
        settings, retry = (np.array([square, square, count], dtype=object) for count in (most, greatest(RETRY * most, 1.0)))
        bounds = [limits, *(layout.greatest(clean, name) for name in ("speed", "acceleration", "deceleration"))]
        bounds.append(targets.meeting(clean))
        flags = [wrong, targets.moving(clean), targets.free(clean), layout.take(clean, "chain.global_search")]
        flags += targets.without_free(clean)
        parameters = np.concatenate([limits, targets.now(clean)])
        closing = np.concatenate([limits, np.zeros(self.problem.size)])  # (no constraint counts: the loops of the mechanism)
        starts, begin = targets.starts(last[0]), targets.begin(clean, before, last, at)
        ends = (settings, retry, closing, np.concatenate(bounds), np.array(flags, dtype=object))
        return clean, parameters, begin, starts, *ends

    def _ahead(self, clean: Array, row: Array, last: Array, clock: Array, before: Array) -> tuple[Array, ...]:
        goal = row[: self.n]
        numbers, begin, speeds = self.targets.ahead(clean, goal, clock[0])
        leading = common(speeds, (goal - last[0]) / before[0])
        return np.concatenate([self.targets.limits(clean), numbers]), begin, speeds, leading

    def _slow(self, taken: Array, speeds: Array, limits: Array, clock: Array) -> tuple[Array, Array]:
        """All joint speeds (n,) in the same ratio, as fast as limits of ends and joints let them; and above zero where not.

        The speed of an end is that of the `Pace`: the way in the cycle over its length. That is not quite proportional, so
        what was slowed is looked at again.
        """
        dt, points, here = clock[0], self.pace.points, taken[: self.n]
        ways = (points.positions(here + speeds * dt) - points.positions(here)) / dt
        used: Any = 0.0
        for chord, limit in zip([*ways, *speeds.reshape(-1, 1)], limits, strict=True):
            used = greatest(used, length(chord) / limit)
        over = select(used - (1.0 + OVER), 1.0, 0.0)
        return speeds * select(over, 1.0 / greatest(used, 1.0), 1.0), np.array([over], dtype=object)


def parts_of(tree: Tree, constraints: Sequence[ChainConstraint], angles: str) -> CycleKernels:
    """The compiled parts for constraints of these kinds; kept with the mechanism."""
    key = (angles, *(constraint.key for constraint in constraints))
    return tree.memo("control", key, lambda: CycleKernels(tree, constraints, angles))
