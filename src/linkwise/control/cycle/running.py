"""One chain's cycle: the compiled parts in their order, over arrays that are made once."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from linkwise.control.cycle.parts import Parts
from linkwise.kernel.sequence import Call, Copy, If, Sequence, Step
from linkwise.spatial.scalar import FloatArray

CLOSING = np.array([1e-24, 20.0])
"""For bringing a configuration onto the loops of a mechanism: the square of the precision, and the most steps."""


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
        self.parts = parts
        n, pace, layout = parts.n, parts.pace, parts.layout
        # What is kept for the next cycle, side by side, so that a state is a copy of it: the good inputs, what the report
        # remembers, both goals, what the pace carries for both, both outputs, and the length of the cycle.
        carried = pace.given["carry"].stop - pace.given["carry"].start
        sizes = [layout.inputs, parts.report.size, 2 * n, 2 * carried, 2 * n, 1]
        self.memory = np.zeros(sum(sizes))
        views = [self.memory[a:b] for a, b in pairwise(np.cumsum([0, *sizes]).tolist())]
        self.before, self.told, last, carry, at, self.dt_before = views
        self.last, self.carry, self.at = last.reshape(2, n), carry.reshape(2, -1), at.reshape(2, n)
        # What comes in, cleaned; what the solver is given, now and for the end of the cycle, and where it begins.
        self.inputs, self.outputs = inputs, outputs
        self.clean, self.flags, self.clock = np.empty(layout.inputs), np.empty(2), np.ones(1)
        self.parameters, self.later_parameters = np.empty(parts.parameters), np.empty(parts.parameters)
        self.closing, self.settings, self.retry = np.empty(parts.parameters), np.empty(2), np.empty(2)
        self.q0, self.begin, self.starts, self.none = np.empty(n), np.empty(n), np.empty((2, n)), np.empty((0, n))
        # What it finds: as found, from a further start, brought onto the loops; and the goals that come of it.
        self.now, self.later, self.spare, self.closed = np.empty((4, parts.row))
        self.goal, self.next_goal = np.empty((2, parts.row))
        self.speeds, self.leading = np.zeros((2, n))
        # What the pace makes of both, and what the report will remember.
        self.given, self.made = np.zeros((2, pace.row)), np.empty((2, pace.made_row))
        self.told_next = np.empty(parts.report.size)
        self._steps, self._stand = self._sequences()
        self.reset(q0)

    def reset(self, q0: FloatArray) -> None:
        """Begin again at rest, with the outputs of the chain where it stands.

        An input that is no number is replaced as `Layout.stand_ins` says.
        """
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
            self.clean, self.parameters, self.q0, self.starts, self.settings, self.retry, self.closing, bounds, self.flags,
        )  # fmt: skip
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
