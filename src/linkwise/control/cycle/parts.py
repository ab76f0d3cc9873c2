"""The compiled parts of a cycle, and the order in which they run over arrays that are made once."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Mapping
from collections.abc import Sequence as Row
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint
from linkwise.control.cycle.layout import Layout
from linkwise.control.cycle.report import Report
from linkwise.control.cycle.rows import Problem
from linkwise.control.cycle.targets import Targets, common
from linkwise.control.cycle.tracking import track
from linkwise.control.pace import Pace
from linkwise.kernel import Kernel, trace
from linkwise.kernel.descent import Descent, Program
from linkwise.kernel.sequence import Call, Copy, If, Sequence, Step
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, greatest, select

STATUS = 2
"""Numbers beside the joint values that the solver keeps: steps and damping; the status follows them."""

CLOSING = np.array([1e-24, 20.0])
"""For bringing a configuration onto the loops of a mechanism: the square of the precision, and the most steps."""

LANES = 2
"""A cycle computes one or two rows: short vectors are the fastest for them."""

RETRY = 0.25
"""The share of the iterations of a cycle that a further start is given."""

_making = threading.RLock()


class Parts:
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

    def __init__(self, tree: Tree, constraints: Row[ChainConstraint], angles: str) -> None:
        self.layout = Layout(tree, constraints, tree.neutral)
        self.problem = Problem(tree, constraints)
        self.targets = Targets(self.layout, self.problem, angles)
        self.report = Report(self.layout, self.problem, self.targets)
        meeting = self.problem.meeting()
        self.pace = Pace(tree, self.report.links, closures=meeting)
        n, size, inputs = tree.n, self.problem.size, self.layout.inputs
        self.n, self.row, self.parameters = n, n + STATUS + 1, 2 * n + size
        self.points = len(self.report.links) + n
        self.preparing = self._kernel(
            self._prepare,
            "chain_prepare",
            {"inputs": (inputs,), "before": (inputs,), "last": (2, n), "at": (2, n)},
            {
                "clean": (inputs,), "parameters": (2 * n + size,), "q0": (n,), "starts": (2, n), "settings": (2,),
                "retry": (2,), "closing": (2 * n + size,), "bounds": (2 * n + 3 * self.points + len(meeting),),
                "flags": (2,),
            },
        )  # fmt: skip
        self.looking = self._kernel(
            self._ahead,
            "chain_ahead",
            {"clean": (inputs,), "found": (self.row,), "last": (2, n), "clock": (1,), "before": (1,)},
            {"parameters": (2 * n + size,), "q0": (n,), "speeds": (n,), "leading": (n,)},
        )
        step = {"parameters": (2 * n + size,), "q0": (n,), "settings": (2,), "q": (n,), "aux": (STATUS,)}
        made = {"q": (n,), "aux": (STATUS,), "status": ()}
        self.tracking = Descent(Program(trace(partial(track, self.problem), "chain_track", step, made)), lanes=LANES)
        made_row = length(self.pace.made)
        self.reporting = self._kernel(
            self._report,
            "chain_report",
            {
                "clean": (inputs,), "flags": (2,), "now": (self.row,), "later": (self.row,), "solved": (made_row,),
                "predicted": (made_row,), "speeds": (n,), "numbers": (2 * n + size,), "numbers_later": (2 * n + size,),
                "at": (2, n), "memory": (self.report.size,), "clock": (1,),
            },
            {"outputs": (self.layout.outputs,), "memory": (self.report.size,)},
        )  # fmt: skip

    @property
    def digest(self) -> str:
        """The same for the same mechanism with constraints of the same kinds, in any process."""
        tapes = [part.tape.digest for part in (self.preparing, self.looking, self.reporting)]
        return hashlib.sha256(repr([*tapes, self.tracking.program.digest]).encode()).hexdigest()

    def _kernel(self, function: Callable[..., Any], name: str, inputs: dict[str, Any], outputs: dict[str, Any]) -> Kernel:
        return Kernel(trace(function, name, inputs, outputs), lanes=LANES)

    def _prepare(self, inputs: Array, before: Array, last: Array, at: Array) -> tuple[Array, ...]:
        layout, targets = self.layout, self.targets
        clean, wrong = layout.cleaned(inputs, before)
        limits = targets.limits(clean)
        precision = layout.take(clean, "chain.calculation_precision")
        most = layout.take(clean, "chain.calculations_per_cycle")
        settings = np.array([precision * precision, most], dtype=object)
        retry = np.array([precision * precision, greatest(RETRY * most, 1.0)], dtype=object)
        bounds = [limits, *(layout.greatest(clean, what) for what in ("speed", "acceleration", "deceleration"))]
        bounds.append(targets.meeting(clean))
        flags = np.array([wrong, targets.moving(clean)], dtype=object)
        parameters = np.concatenate([limits, targets.now(clean)])
        closing = np.concatenate([limits, np.zeros(self.problem.size)])  # (no constraint counts: the loops of the mechanism)
        starts, begin = targets.starts(last[0]), targets.begin(clean, before, last, at)
        return clean, parameters, begin, starts, settings, retry, closing, np.concatenate(bounds), flags

    def _ahead(self, clean: Array, found: Array, last: Array, clock: Array, before: Array) -> tuple[Array, ...]:
        goal = found[: self.n]
        numbers, begin, speeds = self.targets.ahead(clean, goal, clock[0])
        leading = common(speeds, (goal - last[0]) / before[0])
        return np.concatenate([self.targets.limits(clean), numbers]), begin, speeds, leading

    def _report(self, *given: Array) -> tuple[Array, Array]:
        clean, flags, now, later, solved, predicted, speeds, numbers, later_numbers, at, memory, clock = given
        n, made = self.n, self.pace.made
        found = np.array([now[n], now[-1], select(flags[1], later[n], 0.0), later[-1]], dtype=object)
        held = np.array([part[made[what]][0] for what in ("limited", "kept") for part in (solved, predicted)], dtype=object)
        limited, kept = select(held[0] + held[1], 1.0, 0.0), held[2] * held[3]
        ends = solved[made["q"]], predicted[made["q"]]
        tasks = (numbers[2 * n :], later_numbers[2 * n :])
        told = np.array([limited, kept], dtype=object)
        return self.report(
            clean, flags[0], now[:n], later[:n], found, ends[0], ends[1], told, speeds, tasks, at, memory, clock[0]
        )


class Cycle:
    """One chain's arrays, and the calls that fill them.

    Parameters
    ----------
    parts : Parts
        What is compiled.
    inputs, outputs : ndarray
        Where the inputs (I,) are read, and the outputs (O,) go: views of the values of the chain's ports.
    q0 : ndarray (n,)
        Where the chain begins, at rest; within the limits, its loops closed.
    """

    def __init__(self, parts: Parts, inputs: FloatArray, outputs: FloatArray, q0: FloatArray) -> None:
        self.parts, self._q0 = parts, q0.copy()
        n, pace, layout = parts.n, parts.pace, parts.layout
        sizes = [
            layout.inputs,
            parts.report.size,
            2 * n,
            2 * (pace.given["carry"].stop - pace.given["carry"].start),
            2 * n,
            1,
        ]
        self.memory = np.zeros(sum(sizes))
        """All that a cycle keeps for the next one."""
        cut = np.cumsum([0, *sizes]).tolist()
        views = [self.memory[a:b] for a, b in pairwise(cut)]
        self.before, self.told, last, carry, at, self.dt_before = views
        self.last, self.carry, self.at = last.reshape(2, n), carry.reshape(2, -1), at.reshape(2, n)
        self.clean, self.flags, self.clock = np.empty(layout.inputs), np.empty(2), np.ones(1)
        self.parameters, self.later_parameters = np.empty(parts.parameters), np.empty(parts.parameters)
        self.q0, self.begin, self.speeds = np.empty(n), np.empty(n), np.zeros(n)
        self.leading = np.zeros(n)
        self.starts, self.none = np.empty((2, n)), np.empty((0, n))
        self.settings, self.retry, self.spare = np.empty(2), np.empty(2), np.empty(parts.row)
        self.now, self.later = np.empty(parts.row), np.empty(parts.row)
        self.goal, self.next_goal, self.closed = np.empty(parts.row), np.empty(parts.row), np.empty(parts.row)
        self.closing = np.empty(parts.parameters)
        self.given, self.made = np.zeros((2, length(pace.given))), np.empty((2, length(pace.made)))
        self.told_next, self.outputs = np.empty(parts.report.size), outputs
        self.inputs = inputs
        self._steps, self._stand = self._sequences()
        self.reset(q0)

    def reset(self, q0: FloatArray) -> None:
        """Begin again at rest, with the outputs of the chain where it stands; `Layout.stand_ins` replace no numbers."""
        parts = self.parts
        self.memory[:] = 0.0
        self.before[:] = parts.layout.cleaned(self.inputs, parts.layout.stand_ins(q0))[0]
        self.last[:] = self.at[:] = q0
        self.carry[:] = parts.pace.rest(q0)
        for row, made in zip((self.goal, self.next_goal), self.made, strict=True):
            row[:], made[:] = 0.0, 0.0
            row[: parts.n] = made[parts.pace.made["q"]] = q0
            made[parts.pace.made["kept"]] = 1.0
        self.speeds[:] = self.leading[:] = 0.0
        self.clock[0] = 1.0
        self._stand()
        for name in ("chain.cycle", "chain.time", "chain.period"):
            parts.layout.put(self.outputs, name, 0.0)

    def run(self, dt: float) -> None:
        """One cycle of length dt, s."""
        self.clock[0] = dt
        self._steps()

    def _sequences(self) -> tuple[Sequence, Sequence]:
        """All steps of a cycle, tied to the arrays of this chain; and what tells how it stands."""
        parts, n = self.parts, self.parts.n
        bounds = np.empty(parts.preparing.tape.outputs["bounds"])
        prepared = (
            self.clean,
            self.parameters,
            self.q0,
            self.starts,
            self.settings,
            self.retry,
            self.closing,
            bounds,
            self.flags,
        )
        look = (self.later_parameters, self.begin, self.speeds, self.leading)
        reported = (
            self.clean, self.flags, self.goal, self.next_goal, self.made[0], self.made[1], self.speeds, self.parameters,
            self.later_parameters, self.at, self.told, self.clock,
        )  # fmt: skip
        prepare = Call(parts.preparing, (self.inputs, self.before, self.last, self.at), prepared)
        report = Call(parts.reporting, reported, (self.outputs, self.told_next))
        standing = Sequence([prepare, Copy(self.later_parameters, self.parameters), report])
        cycle = Sequence(
            [
                prepare,
                *self._solve(self.parameters, self.q0, self.now, self.goal, again=True),
                If(
                    self.flags[1:],
                    (
                        Call(parts.looking, (self.clean, self.goal, self.last, self.clock, self.dt_before), look),
                        *self._solve(self.later_parameters, self.begin, self.later, self.next_goal, again=False),
                    ),
                    (
                        Copy(self.later, self.now),
                        Copy(self.next_goal, self.goal),
                        Copy(self.later_parameters, self.parameters),
                        Copy(self.speeds, np.zeros(n)),
                        Copy(self.leading, np.zeros(n)),
                    ),
                ),
                *self._ahead(bounds),
                *parts.pace.steps(self.given, self.made),
                report,
                *self._behind(),
            ]
        )
        return cycle, standing

    def _solve(
        self, parameters: FloatArray, begin: FloatArray, found: FloatArray, goal: FloatArray, *, again: bool
    ) -> list[Step]:
        """Solve from where it begins, and what was found is the goal.

        Where nothing is found two more starts are tried, with fewer iterations. Where they lead nowhere either the goal is
        the best on the way from the first. That is brought onto the loops of the mechanism, which give way otherwise; the
        solver goes on from where they do, so that it stays there.
        """
        parts, n = self.parts, self.parts.n
        best: list[Step] = [Copy(goal, found)]
        if parts.layout.tree.loops:
            close = Call(parts.tracking, (self.closing, found[:n], self.none, CLOSING), (self.closed,))
            best += [close, Copy(goal[:n], self.closed[:n])]
        if again:
            more = Call(parts.tracking, (parameters, self.starts[0], self.starts[1:], self.retry), (self.spare,))
            best = [more, If(self.spare[-1:], (Copy(found, self.spare), Copy(goal, self.spare)), tuple(best))]
        first = Call(parts.tracking, (parameters, begin, self.none, self.settings), (found,))
        return [first, If(found[-1:], (Copy(goal, found),), tuple(best))]

    def _ahead(self, bounds: FloatArray) -> list[Copy]:
        """What is limited: both answers, from where the chain is."""
        n, points, given = self.parts.n, self.parts.points, self.parts.pace.given
        names = ("low", "high", "max_speed", "max_acceleration", "max_deceleration", "closures")
        both = dict(zip(names, np.split(bounds, np.cumsum([n, n, points, points, points])), strict=True))
        both |= {"goal_speed": self.leading, "dt_before": self.dt_before, "dt": self.clock}
        rows = [{"goal": self.goal[:n], "q": self.at[0], "carry": self.carry[0]}]
        rows += [{"goal": self.next_goal[:n], "q": self.at[1], "carry": self.carry[1]}]
        return [Copy(self.given[k, given[name]], part) for k in range(2) for name, part in {**both, **rows[k]}.items()]

    def _behind(self) -> list[Copy]:
        """What is kept for the next cycle."""
        n, made = self.parts.n, self.parts.pace.made
        copies = [(self.before, self.clean), (self.told, self.told_next), (self.dt_before, self.clock)]
        for k, row in enumerate((self.now, self.later)):
            copies += [
                (self.last[k], row[:n]),
                (self.at[k], self.made[k, made["q"]]),
                (self.carry[k], self.made[k, made["carry"]]),
            ]
        return [Copy(*pair) for pair in copies]


def length(layout: Mapping[str, slice]) -> int:
    """How many numbers a row of this layout has."""
    return max(int(part.stop) for part in layout.values())


def parts_of(tree: Tree, constraints: Row[ChainConstraint], angles: str) -> Parts:
    """The compiled parts for constraints of these kinds; kept with the mechanism."""
    key = (angles, *(constraint.key for constraint in constraints))
    kept: dict[Any, Parts] = tree.__dict__.setdefault("_chains", {})
    if key not in kept:
        with _making:
            if key not in kept:
                kept[key] = Parts(tree, constraints, angles)
    return kept[key]
