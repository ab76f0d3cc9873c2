"""Kernels of a chain's cycle, and the computation of its outputs."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint, LoopClosure, Velocity, link_of, turn_of
from linkwise.control.cycle.layout import METHODS, REASONS, Layout
from linkwise.control.cycle.setpoints import (
    OWN,
    STARTS,
    BranchTracker,
    ChainProblem,
    GlobalSearch,
    Setpoints,
    TargetMotion,
    common,
    cones,
)
from linkwise.control.keep_clear import KeepClear
from linkwise.control.limits.path_scaling import Pace
from linkwise.control.limits.stop_feasibility import length
from linkwise.control.tangent import block_count, blocks, integrate
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.configuration import difference
from linkwise.kinematics.link_motion import motion
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import iteration
from linkwise.solve.constraints.constraint import Configuration, ConstraintEquations, squared
from linkwise.solve.levenberg_marquardt import LIMIT, TRACK, UNREACHABLE
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, atan2, greatest, least, root, select
from linkwise.spatial.vector import chosen

#: Memory of a joint from one cycle to the next: its regulator's integral, the last input and output velocity, and the
#: assumed position if no measurement follows.
REMEMBERED = ("integral", "before", "output", "expected")


@dataclass(frozen=True)
class Regulator:
    """Gains of the proportional, integral and derivative terms of a velocity, and the smoothing factor of changes.

    With w the speed that takes the joint from its input value (or, where that is what the chain itself gave out, from the
    value predicted for now) to its predicted one within the cycle, the regulator gives

        v = v_before + r (p w + i integral(w dt) + d dw/dt - v_before).

    At first p = 1, i = 0, d = 0 and r = 1, and v = w: the speed acts at once. With r below 1 a change comes in gradually, by
    the share r in each cycle.

    Parameters
    ----------
    p, i, d, r : scalar
        The shares; i in 1/s, d in s, r above 0 and at most 1.

    Notes
    -----
    The textbook form (K. J. Aström and T. Hägglund, "PID Controllers", 1995) with a first-order lag behind it. The integral
    is a sum over the cycles; the rate is a difference over one, and zero in the first.

    Examples
    --------
    >>> regulator = Regulator(1.0, 0.0, 0.0, 0.5)
    >>> regulator.act(2.0, 0.01, integral=0.0, before=0.0, last=0.0, first=0.0)[0]
    1.0
    """

    p: Any
    i: Any
    d: Any
    r: Any

    def act(self, speed: Any, dt: Any, *, integral: Any, before: Any, last: Any, first: Any) -> tuple[Any, Any]:
        """The output after the `last` one, and the new integral; `first` is above zero in the first cycle."""
        total = integral + speed * dt
        rate = select(first, 0.0, (speed - before) / dt)
        return last + self.r * (self.p * speed + self.i * total + self.d * rate - last), total


#: Memory of the clock: length of the last cycle, number of cycles, and their total time.
CLOCK = ("period", "cycle", "time")

#: By this share of the precision the forward pass may differ from the solver's.
ROUNDING = 1e-9

#: A velocity limit beyond this is no limit.
UNLIMITED = 1e300


class CycleOutputs:
    """Outputs and memory of a cycle, over scalars.

    Parameters
    ----------
    layout : Layout
        Where inputs and outputs are.
    problem : ChainProblem
        The rows.
    targets : Setpoints
        Where the ends shall be.
    """

    def __init__(self, layout: Layout, problem: ChainProblem, targets: Setpoints) -> None:
        self.layout, self.problem, self.targets = layout, problem, targets
        self.links = [link_of(layout.tree, end) for end in layout.ends]
        tree = layout.tree
        self.size = len(CLOCK) + 12 * len(self.links) + (len(REMEMBERED) - 1) * tree.nv + tree.nq

    def __call__(self, limited_row: dict[str, slice], *inputs: Array) -> tuple[Array, Array, Array]:
        """All outputs (O,), the memory (size,) for the next cycle, and the assumed joint positions (nq + 1,).

        Parameters
        ----------
        limited_row : dict of str to slice
            Where the parts of a row of `Pace` are.
        *inputs : ndarray
            The inputs (I,) without NaN; flags, the first of which counts the NaN; the rows of the solver for now
            and for the end of the cycle; the same as far as the limits of speeds let them, rows of `Pace`; joint speeds
            (nv,) by the Jacobian; what the second row would be without joint speeds and velocity constraints (nq,); the
            numbers of the problem, now and at the end; what the last cycle gave out (2, nq), solved and predicted values;
            its memory; the length of the cycle (1,), s.
        """
        x, flags, now_row, later_row, solved_row, predicted_row, speeds, carried, *numbers, at, memory, clock_now = inputs
        n, dt = self.layout.tree.nq, clock_now[0]
        goal, after = now_row[:n], later_row[:n]
        endings = np.array([now_row[n], now_row[-1], select(flags[1], later_row[n], 0.0), later_row[-1]], dtype=object)
        held, kept = ([row[limited_row[name]][0] for row in (solved_row, predicted_row)] for name in ("limited", "kept"))
        limited, all_kept = select(held[0] + held[1], 1.0, 0.0), kept[0] * kept[1]
        solved, predicted = solved_row[limited_row["q"]], predicted_row[limited_row["q"]]
        tree, layout = self.layout.tree, self.layout
        outputs = np.zeros(layout.outputs, dtype=object)
        now = Configuration(tree, layout.coordinates(x, ""))
        views = {"now": now, "solved": Configuration(tree, solved), "predicted": Configuration(tree, predicted)}
        clock, ends, regulators = self._split(memory)
        first = select(clock[1] - 0.5, 0.0, 1.0)
        start = self.targets.start(x)
        moved = motion(tree, solved, speeds, np.zeros(tree.nv))[1]
        for k, (name, link) in enumerate(zip(layout.ends, self.links, strict=True)):
            carrier = tree.frame(link)[0]
            self._end(outputs, name, link, views, start, (ends[k], clock[0], first, dt, moved[carrier]))
        expected = _expected(tree, solved, predicted, after, carried)
        memories, taken = self._joints(outputs, x, (solved, predicted), at, regulators, first, dt)
        self.layout.put(outputs, "chain.limited", limited)
        self.layout.put(outputs, "chain.kept", all_kept)
        self.layout.put(outputs, "chain.cycle", clock[1] + 1.0)
        self.layout.put(outputs, "chain.time", clock[2] + dt)
        self.layout.put(outputs, "chain.period", dt)
        self._solved(
            outputs, x, flags[0], (Configuration(tree, goal), Configuration(tree, after), views["solved"]), endings, numbers
        )
        ends = np.array([[*now.pose(link)[:3, 3], *now.pose(link)[:3, :3].flat] for link in self.links], dtype=object)
        times = np.array([dt, clock[1] + 1.0, clock[2] + dt], dtype=object)
        return outputs, np.concatenate([times, ends.ravel(), memories.ravel(), expected]), taken

    def _split(self, memory: Array) -> tuple[Array, Array, Array]:
        """Clock (3,), ends of the links (L, 12) and memory of the joints, concatenated."""
        first, second = len(CLOCK), len(CLOCK) + 12 * len(self.links)
        return memory[:first], memory[first:second].reshape(-1, 12), memory[second:]

    def kept_of(self, memory: Array) -> dict[str, Array]:
        """Views of the memory of the joints, by name: (nv,), and (nq,) for the last."""
        return dict(zip(REMEMBERED, self._kept(self._split(memory)[2]), strict=True))

    def _kept(self, joints: Array) -> list[Array]:
        nv, last = self.layout.tree.nv, len(REMEMBERED) - 1
        return [*joints[: last * nv].reshape(last, nv), joints[last * nv :]]

    def _end(
        self,
        outputs: Array,
        name: str,
        link: int | str,
        views: dict[str, Configuration],
        start: TargetMotion,
        last_cycle: tuple[Any, ...],
    ) -> None:
        before, last, first, dt, screw = last_cycle
        now, solved, predicted = (views[key].pose(link) for key in ("now", "solved", "predicted"))
        put = self.layout.put
        put(outputs, f"{name}.position", now[:3, 3])
        put(outputs, f"{name}.rotation_matrix", now[:3, :3])
        put(outputs, f"{name}.solved_position", solved[:3, 3])
        put(outputs, f"{name}.solved_rotation", solved[:3, :3])
        put(outputs, f"{name}.predicted_position", predicted[:3, 3])
        put(outputs, f"{name}.world_position", start.position + start.rotation @ solved[:3, 3])
        moved, turned = now[:3, 3] - before[:3], turn_of(now[:3, :3] @ before[3:].reshape(3, 3).T)
        linear = {
            "measured": [select(first, 0.0, part / last) for part in moved],
            "predicted": (predicted[:3, 3] - solved[:3, 3]) / dt,
            "jacobian": screw[:3, :3] @ solved[:3, 3] + screw[:3, 3],
        }
        angular = {
            "measured": [select(first, 0.0, part / last) for part in turned],
            "predicted": turn_of(predicted[:3, :3] @ solved[:3, :3].T) / dt,
            "jacobian": axial(screw[:3, :3]),
        }
        for method in METHODS:
            put(outputs, f"{name}.calculated_velocity.{method}", linear[method])
            put(outputs, f"{name}.calculated_angular_velocity.{method}", angular[method])

    def _joints(
        self, outputs: Array, x: Array, ends: tuple[Array, Array], at: Array, kept: Array, first: Any, dt: Any
    ) -> tuple[Array, Array]:
        """Write the outputs of all joints; return their memory (3, nv), and the assumed joint positions (nq + 1,).

        The speed of a joint leads to its predicted value from its input value. An input that is the solved value of the last
        cycle is no measurement: the joint then is where the last cycle expected it. The last number is above zero where the
        speeds may be other ones than the limited predicted values have: limits must be looked at once more.
        """
        tree, put, (solved, predicted) = self.layout.tree, self.layout.put, ends
        came, (*remembered, expected) = self.layout.coordinates(x, ""), self._kept(kept)
        memories: list[list[Any]] = []
        taken, unmeasured, other = [], [], 0.0
        for joint in self.layout.variables:
            value, given_out = came[joint.q], at[0, joint.q]
            echo = OWN - sum(abs(part) for part in value - given_out)
            unmeasured.append(echo)
            taken += [select(echo, *pair) for pair in zip(expected[joint.q], value, strict=True)]
        speeds = difference(tree, np.array(taken, dtype=object), predicted)
        errors = difference(tree, came, at[1])
        for joint, echo in zip(self.layout.variables, unmeasured, strict=True):
            p, i, d, r = (self.layout.take(x, f"{joint.link}.regulator.{share}") for share in "pidr")
            for here, there in zip(taken[joint.q], at[1, joint.q], strict=True):
                other = other + abs(here - there)
            other = other + abs(p - 1.0) + abs(i) + abs(d) + abs(r - 1.0)
            for k in range(joint.v.start, joint.v.stop):
                integral, before, last = (row[k] for row in remembered)
                speed = speeds[k] / dt
                out, total = Regulator(p, i, d, r).act(speed, dt, integral=integral, before=before, last=last, first=first)
                memories.append([total, speed, out])
            put(outputs, joint.solved, solved[joint.q])
            put(outputs, joint.predicted, predicted[joint.q])
            put(outputs, joint.calculated, [row[2] for row in memories[joint.v]])
            put(outputs, joint.error, [select(echo, 0.0, error) for error in errors[joint.v]])
        self._limits_reached(outputs, x, solved)
        limited = sum(select(UNLIMITED - limit, 1.0, 0.0) for limit in self.layout.greatest(x, "speed"))
        return np.array(memories, dtype=object).T, np.array([*taken, other * limited], dtype=object)

    def _limits_reached(self, outputs: Array, x: Array, solved: Array) -> None:
        """Put which joints are at a limit."""
        layout, tree = self.layout, self.layout.tree
        for (link, _), value in zip(layout.joints, solved[tree.nq - tree.n :], strict=True):
            low, high = (layout.take(x, f"{link}.limits.{end}") for end in ("min", "max"))
            reached = select(value - low - OWN, select(high - value - OWN, 0.0, 1.0), 1.0)
            layout.put(outputs, f"{link}.limits.reached", reached)
        bounds = self.problem.bounds(self.targets.limits(x))
        for (link, _), (at, most) in zip(layout.manifold_joints, cones(tree, bounds), strict=True):
            if at.joint.cone_axis is not None:
                reached = select(at.joint.excess(solved[at.q], most) + OWN, 1.0, 0.0)
                layout.put(outputs, f"{link}.limits.reached", reached)

    def _solved(
        self,
        outputs: Array,
        x: Array,
        wrong: Any,
        views: tuple[Configuration, Configuration, Configuration],
        endings: Array,
        numbers: Sequence[Array],
    ) -> None:
        """Write the report on the solution, checked by a separate forward pass over the joint values, now and at the end."""
        precision = self.layout.take(x, "chain.calculation_precision")
        most = precision * (1.0 + ROUNDING) + ROUNDING**2
        lacking: list[Any] = []
        for view, task in zip(views[:2], numbers, strict=True):
            rows = self.problem.parts(view, task)
            far, turned = (root(square) for square in self.problem.squares(rows))
            lacking.append((far, rows, 1.0 - select(most - far, 1.0, 0.0) * select(most - turned, 1.0, 0.0)))
        now, later = lacking
        code = select(now[2], _code(endings[1]), select(later[2], _code(endings[3]), 0.0))
        put = self.layout.put
        put(outputs, "chain.unsolved", select(wrong + now[2] + later[2], 1.0, 0.0))
        put(outputs, "chain.reason", select(wrong, float(REASONS.index("input")), code))
        put(outputs, "chain.distance", select(now[2], now[0], later[0]))
        put(outputs, "chain.angle", self._angle(now[2], now[1], later[1]))
        put(outputs, "chain.iterations", endings[0] + endings[2])
        parts = self.problem.parts(views[2], numbers[0]), lacking[1][1]
        for k, group in enumerate(self.problem.groups):
            if group.kind == "closed":
                continue
            constraint = self.layout.constraints[group.owner]
            part = parts[int(isinstance(constraint, Velocity))][k]
            far, turned = self.problem.squares([part])
            if not all(part.angles):
                put(outputs, f"{constraint.name}.distance", root(far))
            if any(part.angles):
                put(outputs, f"{constraint.name}.angle", root(turned) if group.kind == "drive" else _turn(root(turned)))

    def _angle(self, lacks: Any, now: Sequence[ConstraintEquations], later: Sequence[ConstraintEquations]) -> Any:
        """Angular residual, rad, now if it is nonzero, else at the end of the cycle: root of the sum of squares."""
        total: Any = 0.0
        for group, *parts in zip(self.problem.groups, now, later, strict=True):
            square = select(lacks, *(self.problem.squares([part])[1] for part in parts))
            angle = _turn(root(square)) if group.kind in {"turn", "meet"} else 0.0
            total = total + (angle * angle if group.kind in {"turn", "meet"} else square)
        return root(total)


def _expected(tree: Tree, solved: Array, predicted: Array, after: Array, carried: Array) -> Array:
    """Expected joint positions (nq,) at the begin of the next cycle, if it starts from the solved values.

    What moves positions moves the solved values of the next cycle too, so it counts. Joint speeds and velocity constraints
    do not: they lead from the same solved values to the same predicted ones in every cycle. Where limits hold the predicted
    values back, this is held back as far, but not beyond all of the three that it lies between.
    """
    base, free = tree.nq - tree.n, tree.nv - tree.n
    values = []
    for now, then, goal, other in zip(*(row[base:] for row in (solved, predicted, after, carried)), strict=True):
        low, high = least(now, least(then, other)), greatest(now, greatest(then, other))
        values.append(least(greatest(then - (goal - other), low), high))
    if not free:
        return np.array(values, dtype=object)
    # The same of joints with quaternions in the velocities that lead there from the solved values.
    step: list[Any] = []
    to_then, to_goal, to_other = (difference(tree, solved, row) for row in (predicted, after, carried))
    for then, goal, other in zip(to_then[:free], to_goal[:free], to_other[:free], strict=True):
        low, high = least(0.0, least(then, other)), greatest(0.0, greatest(then, other))
        step.append(least(greatest(then - (goal - other), low), high))
    there = integrate(tree, solved, np.array([*step, *np.zeros(tree.n)], dtype=object))
    apart = squared(after[:base] - carried[:base])
    return np.array([*chosen(apart, there[:base], predicted[:base]), *values], dtype=object)


def _turn(size: Any) -> Any:
    """Angle, rad, of a rotation whose rows have the magnitude 2 sin(t/2)."""
    half = 0.5 * size
    return 2.0 * atan2(half, root(greatest(1.0 - half * half, 0.0)))


def _code(status: Any) -> Any:
    """The reason that a status of the solver means."""
    words = ((UNREACHABLE, "unreachable"), (LIMIT, "limit"))
    code: Any = float(REASONS.index("iterations"))
    for value, word in words:
        code = select(0.5 - abs(status - value), float(REASONS.index(word)), code)
    return code


#: Numbers of the solver besides the joint values: steps and damping; the status follows them.
STATUS = 2

#: A cycle computes one or two rows: short vectors are the fastest for them.
LANES = 2

#: Relative tolerance of a velocity limit against rounding.
OVER = 1e-12

#: Share of the cycle's iterations for a further start.
RETRY = 0.25


class CycleKernels:
    """Compiled kernels of one kind of chain, shared by chains of one mechanism with constraints of the same kinds.

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
        meeting = [constraint.pair(tree) for constraint in constraints if isinstance(constraint, LoopClosure)]
        self.pace = Pace(tree, self.report.links, closures=meeting)
        keeping = [constraint for constraint in constraints if isinstance(constraint, KeepClear)]
        self.clear = keeping[0].limits(tree) if keeping else None
        self.clear_name = keeping[0].name if keeping else ""  # in this layout: another chain may call its own otherwise
        n, nv, parameters, inputs = tree.nq, tree.nv, self.problem.parameters, self.layout.inputs
        flags = 4 + len(self.targets.velocities)
        self.n, self.nv, self.row, self.parameters = n, nv, n + STATUS + 1, parameters
        self.points = len(self.report.links) + block_count(tree)
        self.preparing = self._kernel(
            self._prepare,
            "chain_prepare",
            {"inputs": (inputs,), "before": (inputs,), "last": (2, n), "at": (2, n)},
            {
                "clean": (inputs,), "parameters": (parameters,), "q0": (n,), "starts": (2, n), "settings": (3,),
                "retry": (3,), "closing": (parameters,),
                "bounds": (self.problem.limits + 3 * self.points + len(meeting),),
                "flags": (flags,),
            },
        )  # fmt: skip
        self.looking = self._kernel(
            self._ahead,
            "chain_ahead",
            {"clean": (inputs,), "found": (self.row,), "last": (2, n), "clock": (1,), "before": (1,)},
            {"parameters": (parameters,), "q0": (n,), "speeds": (nv,), "leading": (nv,)},
        )
        self.tracking = iteration(self.problem, TRACK, "chain_track", lanes=LANES)
        self.searching = self._kernel(
            GlobalSearch(self.problem),
            "chain_search",
            {"parameters": (self.parameters,), "here": (n,), "state": (nv,)},
            {"starts": (STARTS, n), "state": (nv,)},
        )
        if self.branch.exists:
            self._trace_branch()
        output_row = self.pace.output_row
        self.reporting = self._kernel(
            partial(self.report, self.pace.output_parts),
            "chain_report",
            {
                "clean": (inputs,), "flags": (flags,), "now": (self.row,), "later": (self.row,), "solved": (output_row,),
                "predicted": (output_row,), "speeds": (nv,), "carried": (n,), "numbers": (parameters,),
                "numbers_later": (parameters,), "at": (2, n), "memory": (self.report.size,), "clock": (1,),
            },
            {"outputs": (self.layout.outputs,), "memory": (self.report.size,), "taken": (n + 1,)},
        )  # fmt: skip
        self.slowing = self._kernel(
            self._slow,
            "chain_slow",
            {"taken": (n + 1,), "speeds": (nv,), "limits": (self.points,), "clock": (1,)},
            {"speeds": (nv,), "over": (1,)},
        )

    @property
    def digest(self) -> str:
        """The same for the same mechanism with constraints of the same kinds, in any process."""
        tapes = [part.tape.digest for part in (self.preparing, self.looking, self.reporting, self.slowing)]
        clear = [] if self.clear is None else [self.clear.digest]
        return hashlib.sha256(repr([*tapes, self.tracking.program.digest, *clear]).encode()).hexdigest()

    def _trace_branch(self) -> None:
        """Trace the selection of the motion's branch, for mechanisms with loops."""
        n, ends = self.n, {"last": (self.n,), "secant": (self.nv,)}
        self.turned = self._kernel(self.branch.turned, "chain_turned", {**ends, "found": (self.row,)}, {"off": (1,)})
        asked = {"parameters": (self.parameters,), "begin": (n,), **ends}
        self.continued = self._kernel(self.branch.continued, "chain_continued", asked, {"q": (n,), "good": (1,)})
        both = {"there": (n,), "found": (self.row,), "other": (self.row,)}
        self.nearer = self._kernel(self.branch.nearer, "chain_nearer", both, {"nearer": (1,)})
        kept = {"goal": (n,), "anchor": (n,), "secant": (self.nv,)}
        self.remembering = self._kernel(self.branch.remember, "chain_remember", kept, {"anchor": (n,), "secant": (self.nv,)})

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
        flags = [wrong, targets.moving(clean), targets.free_motion(clean), layout.take(clean, "chain.global_search")]
        flags += targets.without_free(clean)
        parameters = np.concatenate([limits, targets.now(clean)])
        closing = np.concatenate([limits, np.zeros(self.problem.size)])  # (no constraint counts: the loops of the mechanism)
        starts, begin = targets.starts(last[0]), targets.begin(clean, before, last, at)
        ends = (settings, retry, closing, np.concatenate(bounds), np.array(flags, dtype=object))
        return clean, parameters, begin, starts, *ends

    def _ahead(self, clean: Array, row: Array, last: Array, clock: Array, before: Array) -> tuple[Array, ...]:
        goal = row[: self.n]
        numbers, begin, speeds = self.targets.ahead(clean, goal, clock[0])
        leading = common(speeds, difference(self.layout.tree, last[0], goal) / before[0])
        return np.concatenate([self.targets.limits(clean), numbers]), begin, speeds, leading

    def _slow(self, taken: Array, speeds: Array, limits: Array, clock: Array) -> tuple[Array, Array]:
        """Scale all joint velocities (nv,) by one factor to the limits of ends and joints; the last element flags this.

        The speed of an end is that of the `Pace`: the way in the cycle over its length. That is not quite proportional, so
        what was slowed is looked at again.
        """
        dt, points, here = clock[0], self.pace.points, taken[: self.n]
        tree = self.layout.tree
        ways = (points.positions(integrate(tree, here, speeds * dt)) - points.positions(here)) / dt
        used: Any = 0.0
        for chord, limit in zip([*ways, *blocks(tree, speeds)], limits, strict=True):
            used = greatest(used, length(chord) / limit)
        over = select(used - (1.0 + OVER), 1.0, 0.0)
        return speeds * select(over, 1.0 / greatest(used, 1.0), 1.0), np.array([over], dtype=object)


def parts_of(tree: Tree, constraints: Sequence[ChainConstraint], angles: str) -> CycleKernels:
    """The compiled parts for constraints of these kinds; kept with the mechanism."""
    key = (angles, *(constraint.key for constraint in constraints))
    return tree.memo("control", key, lambda: CycleKernels(tree, constraints, angles))
