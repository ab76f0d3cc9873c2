"""The cycle of one chain: compiled parts in order, over preallocated arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from linkwise.control.cycle.kernels import CycleKernels
from linkwise.control.cycle.setpoints import STARTS
from linkwise.control.keep_clear import KeepClear
from linkwise.kernel.sequence import Copy, If, KernelCall, Sequence, Step
from linkwise.spatial.scalar import FloatArray

#: For bringing a configuration onto the loops of a mechanism: squares of the precision, and the most steps.
CLOSING = np.array([1e-24, 1e-24, 20.0])


#: Greatest number of reductions of the calculated velocities: each leaves a small share of the remaining excess.
SLOWED = 6


class Cycle:
    """Arrays of one chain, and the calls that fill them.

    Parameters
    ----------
    parts : CycleKernels
        What is compiled.
    inputs, outputs : ndarray
        Where the inputs (I,) are read, and the outputs (O,) go: views of the values of the chain's ports.
    q0 : ndarray (nq,)
        Where the chain begins, at rest; within the limits, its loops closed.
    keeping : KeepClear, optional
        That it keeps clear, and of what.
    """

    def __init__(
        self,
        parts: CycleKernels,
        inputs: FloatArray,
        outputs: FloatArray,
        q0: FloatArray,
        keeping: KeepClear | None = None,
    ) -> None:
        self.parts, self._keeping = parts, keeping
        n, nv, pace, layout = parts.n, parts.nv, parts.pace, parts.layout
        # Memory for the next cycle, contiguous, so that a state is a copy of it: valid inputs, memory of the outputs, both
        # goals, path-scaling state of both, both outputs, length of the cycle, progress of further starts, and with loops
        # the direction of motion.
        carried = pace.input_parts["carry"].stop - pace.input_parts["carry"].start
        sizes = [layout.inputs, parts.report.size, 2 * n, 2 * carried, 2 * n, 1, nv]
        sizes.append(n + nv if parts.branch.exists else 0)
        self.memory = np.zeros(sum(sizes))
        views = [self.memory[a:b] for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]
        self.before, self.report_memory, last, carry, at, self.dt_before, self.searched, motion = views
        self.last, self.carry, self.at = last.reshape(2, n), carry.reshape(2, -1), at.reshape(2, n)
        self.anchor, self.secant = (motion[:n], motion[n:]) if parts.branch.exists else (motion, motion)
        # Cleaned inputs; parameters of the solver, now and for the end of the cycle, and its starts.
        self.inputs, self.outputs = inputs, outputs
        self.clean, self.clock = np.empty(layout.inputs), np.ones(1)
        self.flags = np.empty(parts.preparing.tape.outputs["flags"])
        self.parameters, self.later_parameters = np.empty(parts.parameters), np.empty(parts.parameters)
        self.closing, self.settings, self.retry = np.empty(parts.parameters), np.empty(3), np.empty(3)
        self.q0, self.begin, self.starts, self.none = np.empty(n), np.empty(n), np.empty((2, n)), np.empty((0, n))
        # Results of the solver: direct, from a further start, projected to the loops; and the resulting goals.
        self.now, self.later, self.spare, self.closed, self.without = np.empty((5, parts.row))
        self.goal, self.next_goal, self.carried = np.empty((3, parts.row))
        self.speeds, self.leading = np.zeros((2, nv))
        # Input and output of path scaling for both, and the memory of the outputs.
        self.pace_in, self.pace_out = np.zeros((2, pace.row)), np.empty((2, pace.output_row))
        self.next_report_memory, self.taken, self.slowed, self.over = (
            np.empty(parts.report.size),
            np.empty(n + 1),
            np.empty(nv),
            np.empty(1),
        )
        self._held = np.zeros((2, 1))  # positive if clearance limits the solved, and the predicted output
        self._steps, self._stand = self._sequences()
        self.reset(q0)

    def reset(self, q0: FloatArray) -> None:
        """Restart at rest, with the outputs of the chain at its position.

        An input that is not a number is replaced as `Layout.stand_ins` says.
        """
        parts = self.parts
        self.memory[:], self._held[:] = 0.0, 0.0
        self.before[:] = parts.layout.cleaned(self.inputs, parts.layout.stand_ins(q0))[0]
        self.last[:] = self.at[:] = q0
        if parts.branch.exists:
            self.anchor[:] = q0
        self.carry[:] = parts.pace.rest(q0)
        self.carried[: parts.n] = parts.report.kept_of(self.report_memory)["expected"][:] = q0
        for row, row_out in zip((self.goal, self.next_goal), self.pace_out, strict=True):
            row[:], row_out[:] = 0.0, 0.0
            row[: parts.n] = row_out[parts.pace.output_parts["q"]] = q0
            row_out[parts.pace.output_parts["kept"]] = 1.0
        self.speeds[:] = self.leading[:] = 0.0
        self.clock[0] = 1.0
        self._stand()
        for name in ("chain.cycle", "chain.time", "chain.period"):
            parts.layout.put(self.outputs, name, 0.0)

    def run(self, dt: float) -> None:
        """Run one cycle of length dt, s."""
        self.clock[0] = dt
        self._steps()

    def _sequences(self) -> tuple[Sequence, Sequence]:
        """Build the steps of a cycle on the arrays of this chain, and the steps that report its state at rest."""
        parts, n = self.parts, self.parts.n
        bounds = np.empty(parts.preparing.tape.outputs["bounds"])
        prepared = (
            self.clean, self.parameters, self.q0, self.starts, self.settings, self.retry, self.closing, bounds, self.flags,
        )  # fmt: skip
        look = (self.later_parameters, self.begin, self.speeds, self.leading)
        reported = (
            self.clean, self.flags, self.goal, self.next_goal, self.pace_out[0], self.pace_out[1], self.speeds,
            self.carried[:n], self.parameters, self.later_parameters, self.at, self.report_memory, self.clock,
        )  # fmt: skip
        prepare = KernelCall(parts.preparing, (self.inputs, self.before, self.last, self.at), prepared)
        report = KernelCall(parts.reporting, reported, (self.outputs, self.next_report_memory, self.taken))
        clearing, clear_report = self._clear()
        standing = Sequence([prepare, Copy(self.later_parameters, self.parameters), report, *clear_report])
        cycle = Sequence(
            [
                prepare,
                *self._solve(self.parameters, self.q0, self.now, self.goal, (self.q0, self.last[0]), again=True),
                *self._remember(),
                If(
                    self.flags[1:],
                    (
                        KernelCall(parts.looking, (self.clean, self.goal, self.last, self.clock, self.dt_before), look),
                        *self._solve(self.later_parameters, self.begin, self.later, self.next_goal, (self.goal[:n],) * 2),
                        Copy(self.carried, self.next_goal),
                        If(self.flags[2:3], self._without_free()),
                    ),
                    (
                        Copy(self.later, self.now),
                        Copy(self.next_goal, self.goal),
                        Copy(self.carried, self.goal),
                        Copy(self.later_parameters, self.parameters),
                        Copy(self.speeds, np.zeros(parts.nv)),
                        Copy(self.leading, np.zeros(parts.nv)),
                    ),
                ),
                *self._ahead(bounds),
                *clearing,
                report,
                *clear_report,
                *self._slow(bounds),
                *self._behind(),
            ]
        )
        return cycle, standing

    def _solve(
        self,
        parameters: FloatArray,
        begin: FloatArray,
        row: FloatArray,
        goal: FloatArray,
        motion: tuple[FloatArray, FloatArray],
        *,
        again: bool = False,
    ) -> list[Step]:
        """Steps that solve from a start; the solution becomes the goal.

        Where nothing is found two more starts are tried, with fewer iterations, and if a global search is asked for some
        anywhere in the joint ranges. Where they lead nowhere either the goal is the best on the way from the first. That is
        brought onto the loops of the mechanism, which give way otherwise; the solver goes on from where they do, so that it
        stays there. With loops the branch of motion is kept: `motion` are the
        joint values that came in, and the last answer.
        """
        parts, n = self.parts, self.parts.n
        best: list[Step] = [Copy(goal, row)]
        if parts.layout.tree.loops:
            close = KernelCall(parts.tracking, (self.closing, row[:n], self.none, CLOSING), (self.closed,))
            best += [close, Copy(goal[:n], self.closed[:n])]
        if again:
            more = KernelCall(parts.tracking, (parameters, self.starts[0], self.starts[1:], self.retry), (self.spare,))
            take = (Copy(row, self.spare), Copy(goal, self.spare))
            starts, state = np.empty((STARTS, n)), np.empty(parts.nv)
            search = (
                KernelCall(parts.searching, (parameters, self.last[0], self.searched), (starts, state)),
                Copy(self.searched, state),
                KernelCall(parts.tracking, (parameters, starts[0], starts[1:], self.retry), (self.spare,)),
                If(self.spare[-1:], take, tuple(best)),
            )
            best = [more, If(self.spare[-1:], take, (If(self.flags[3:4], search, tuple(best)),))]
        first = KernelCall(parts.tracking, (parameters, begin, self.none, self.settings), (row,))
        return [first, *self._keep_branch(parameters, row, *motion), If(row[-1:], (Copy(goal, row),), tuple(best))]

    def _keep_branch(self, parameters: FloatArray, row: FloatArray, begin: FloatArray, last: FloatArray) -> tuple[Step, ...]:
        """Steps that replace a solution on another branch by one that continues the motion, if there is one."""
        parts, secant = self.parts, self.secant
        if not parts.branch.exists:
            return ()
        there, other = np.empty(parts.n), np.empty(parts.row)
        off, good, better = np.empty((3, 1))
        further = (
            KernelCall(parts.tracking, (parameters, there, self.none, self.settings), (other,)),
            KernelCall(parts.nearer, (there, row, other), (better,)),
            If(better, (Copy(row, other),)),
        )
        doubted = (KernelCall(parts.continued, (parameters, begin, last, secant), (there, good)), If(good, further))
        return KernelCall(parts.turned, (last, secant, row), (off,)), If(off, doubted)

    def _remember(self) -> tuple[Step, ...]:
        """The direction of the motion up to the goal for now."""
        parts, n = self.parts, self.parts.n
        if not parts.branch.exists:
            return ()
        anchor, secant = np.empty(n), np.empty(parts.nv)
        call = KernelCall(parts.remembering, (self.goal[:n], self.anchor, self.secant), (anchor, secant))
        return call, Copy(self.anchor, anchor), Copy(self.secant, secant)

    def _without_free(self) -> tuple[Step, ...]:
        """Steps that solve for the end of the cycle without joint velocities and velocity constraints."""
        parts, n, layout = self.parts, self.parts.n, self.parts.layout
        inputs, numbers = np.empty(layout.inputs), np.empty(parts.parameters)
        begin, unused = np.empty(n), (np.empty(parts.nv), np.empty(parts.nv))
        places = [layout.ports.slice_of(at.speed) for at in layout.variables]
        steps: list[Step] = [Copy(inputs, self.clean)]
        steps += [Copy(inputs[place], np.zeros(place.stop - place.start)) for place in places]
        for k, constraint in enumerate(parts.targets.velocities):
            steps.append(Copy(inputs[layout.ports.slice_of(f"{constraint.name}.enabled")], self.flags[4 + k : 5 + k]))
        look = KernelCall(
            parts.looking, (inputs, self.goal, self.last, self.clock, self.dt_before), (numbers, begin, *unused)
        )
        solve = KernelCall(parts.tracking, (numbers, begin, self.none, self.settings), (self.without,))
        return (*steps, look, solve, If(self.without[-1:], (Copy(self.carried, self.without),)))

    def _slow(self, bounds: FloatArray) -> list[Step]:
        """Steps that limit the calculated velocities; integrals of regulators are frozen while a limit is active."""
        parts, n, layout = self.parts, self.parts.n, self.parts.layout
        first = parts.problem.limits
        begin = layout.ports.slice_of(layout.variables[0].calculated).start - layout.inputs
        speeds, kept, before = (
            self.outputs[begin : begin + parts.nv],
            parts.report.kept_of(self.next_report_memory),
            parts.report.kept_of(self.report_memory),
        )
        slow = KernelCall(
            parts.slowing, (self.taken, speeds, bounds[first : first + parts.points], self.clock), (self.slowed, self.over)
        )
        copies = (Copy(speeds, self.slowed), Copy(kept["output"], self.slowed), Copy(kept["integral"], before["integral"]))
        steps: tuple[Step, ...] = ()
        for _ in range(SLOWED):
            steps = (slow, If(self.over, (*copies, *steps)))
        return [If(self.taken[n:], steps)]

    def _ahead(self, bounds: FloatArray) -> list[Copy]:
        """Steps that limit both solutions, from the present position."""
        n, points, places = self.parts.n, self.parts.points, self.parts.pace.input_parts
        names = ("low", "high", "cones", "max_speed", "max_acceleration", "max_deceleration", "closures")
        single, limits = self.parts.layout.tree.n, self.parts.problem.limits
        sizes = [single, single, limits - 2 * single, points, points, points]
        both = dict(zip(names, np.split(bounds, np.cumsum(sizes)), strict=True))
        both |= {"goal_speed": self.leading, "dt_before": self.dt_before, "dt": self.clock}
        rows = [{"goal": self.goal[:n], "q": self.at[0], "carry": self.carry[0]}]
        rows += [{"goal": self.next_goal[:n], "q": self.at[1], "carry": self.carry[1]}]
        return [Copy(self.pace_in[k, places[name]], part) for k in range(2) for name, part in {**both, **rows[k]}.items()]

    def _clear(self) -> tuple[list[Step], list[Step]]:
        """Steps that bring both solutions, within the limits, as near to contact as permitted, and report the clearance."""
        parts, n, keeping = self.parts, self.parts.n, self._keeping
        paced = parts.pace.steps(self.pace_in, self.pace_out)
        if parts.clear is None or keeping is None:
            return list(paced), []
        clear, places, reach = parts.clear, parts.pace.input_parts, parts.pace.output_parts
        rows = keeping.clear.obstacles.rows.ravel()
        obstacles = (rows,) if len(rows) else ()
        q, goal, low, high, ahead = np.empty((5, 2, n))
        before, after = np.empty((2, 2, clear.groups))
        gained = np.empty((2, 1))
        binds = self._held
        toward, away = np.empty((2, 2, 3 * n))
        away_in, away_out = np.zeros_like(self.pace_in), np.empty_like(self.pace_out)
        switch, unit = np.zeros(2), np.ones(1)
        names, parted = ("goal", "low", "high"), (goal, low, high)

        def bounded(target: FloatArray, source: FloatArray) -> list[Step]:
            return [
                Copy(target[k, places[name]], source[k, i * n : (i + 1) * n])
                for k in range(2)
                for i, name in enumerate(names)
            ]

        fetched: list[Step] = [Copy(q, self.at)]
        fetched += [
            Copy(part[k], self.pace_in[k, places[name]]) for k in range(2) for name, part in zip(names, parted, strict=True)
        ]
        for place, name in enumerate(("margin", "enabled")):
            fetched.append(
                Copy(switch[place : place + 1], self.clean[parts.layout.ports.slice_of(f"{parts.clear_name}.{name}")])
            )
        measure = KernelCall(clear.distance, (q, *obstacles), (before,))
        bound = KernelCall(clear.bounding, (q, goal, low, high, before, switch), (toward, away, binds))
        taken = [If(gained[k], (Copy(self.pace_out[k], away_out[k]),)) for k in range(2)]
        escape: tuple[Step, ...] = (
            Copy(away_in, self.pace_in),
            *bounded(away_in, away),
            *parts.pace.steps(away_in, away_out),
            *(Copy(ahead[k], away_out[k, reach["q"]]) for k in range(2)),
            KernelCall(clear.distance, (ahead, *obstacles), (after,)),
            KernelCall(clear.accepting, (before, after), (gained,)),
            *(If(binds[k], (taken[k], Copy(self.pace_out[k, reach["limited"]], unit))) for k in range(2)),
        )
        away_if = If(binds[0], escape, (If(binds[1], escape),))
        beyond, output, still = np.empty((2, 1)), np.empty((2, n)), parts.pace.rest(self.at[0])
        stand = [
            (
                Copy(self.pace_out[k, reach["q"]], q[k]),
                Copy(self.pace_out[k, reach["carry"]], still),
                Copy(self.pace_out[k, reach["limited"]], unit),
                Copy(self.pace_out[k, reach["kept"]], np.zeros(1)),
                Copy(binds[k], unit),
            )
            for k in range(2)
        ]
        checked: list[Step] = [
            *(Copy(output[k], self.pace_out[k, reach["q"]]) for k in range(2)),
            KernelCall(clear.checking, (q, output, before, switch), (beyond,)),
            *(If(beyond[k], stand[k]) for k in range(2)),
        ]
        place = parts.layout.ports.slice_of(f"{parts.clear_name}.distance").start - parts.layout.inputs
        solved, distance = np.empty(n), np.empty(1)
        reported: list[Step] = [
            Copy(solved, self.pace_out[0, reach["q"]]),
            KernelCall(clear.least, (solved, *obstacles), (distance[0:1].reshape(()),)),
            Copy(self.outputs[place : place + 1], distance),
            Copy(self.outputs[place + 1 : place + 2], np.zeros(1)),
            *(If(binds[k], (Copy(self.outputs[place + 1 : place + 2], unit),)) for k in range(2)),
        ]
        return [*fetched, measure, bound, *bounded(self.pace_in, toward), *paced, away_if, *checked], reported

    def _behind(self) -> list[Copy]:
        """Steps that store the memory for the next cycle."""
        n, places = self.parts.n, self.parts.pace.output_parts
        copies = [(self.before, self.clean), (self.report_memory, self.next_report_memory), (self.dt_before, self.clock)]
        for k, row in enumerate((self.now, self.later)):
            copies += [
                (self.last[k], row[:n]),
                (self.at[k], self.pace_out[k, places["q"]]),
                (self.carry[k], self.pace_out[k, places["carry"]]),
            ]
        return [Copy(*pair) for pair in copies]
