"""Setpoints of a cycle, now and at its end, and the constraint problem that is solved for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np

from linkwise.control.constraints import (
    ChainConstraint,
    FixedPosition,
    FixedRotation,
    Velocity,
    angles_rotation,
    link_of,
    turned,
)
from linkwise.control.cycle.layout import Layout
from linkwise.control.tangent import integrate
from linkwise.kinematics.configuration import difference
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintEquations, squared
from linkwise.solve.constraints.loop_closure import Closed
from linkwise.solve.joint_limits import InputBounds
from linkwise.solve.levenberg_marquardt import by_rows
from linkwise.solve.problem import ConstraintProblem
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, root, select
from linkwise.spatial.vector import chosen, inner

#: Weight of the mechanism's loops relative to constraints if not all can be satisfied: a compromise must keep the loops
#: closed.
CLOSURE_WEIGHT = 100.0

#: Numbers of parameters of each kind of rows: active (1 or 0), and the target of the end.
NUMBERS = {"place": 4, "turn": 10, "drive": 2, "meet": 1, "closed": 0}


@dataclass(frozen=True)
class RowGroup:
    """Rows that belong together.

    Attributes
    ----------
    kind : {"place", "turn", "meet", "drive", "closed"}
        What must hold.
    constraint : Constraint
        The same as a constraint of `linkwise.solve`.
    link : int or str
        Whose end; "tool" is the tool.
    owner : int
        The constraint of the chain, by index; -1 for a loop of the mechanism.
    """

    kind: str
    constraint: Constraint
    link: int | str = "tool"
    owner: int = -1


@dataclass(frozen=True, eq=False)
class CycleBounds(InputBounds):
    """Bounds of a cycle: half the openings of cones (c,), rad, too."""

    cones: Array


class ChainProblem(ConstraintProblem):
    """All rows of a chain; the parameters p are the limits low (n,), high (n,) and cones (c,), then those of each group.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of ChainConstraint
        In the order of their numbers.
    """

    def __init__(self, tree: Tree, constraints: Sequence[ChainConstraint]) -> None:
        self.groups = [RowGroup("closed", Closed(k)) for k in range(len(tree.loops))]
        for k, constraint in enumerate(constraints):
            link = link_of(tree, constraint.link)
            self.groups += [RowGroup(kind, equations, link, k) for kind, equations in constraint.equations(tree)]
        super().__init__(tree, [group.constraint for group in self.groups])
        self.counts = [NUMBERS[group.kind] for group in self.groups]
        self.size = sum(self.counts)
        self.limits = 2 * tree.n + sum(at.joint.cone_axis is not None for at in tree.manifold_joints)
        self.parameters = self.limits + self.size

    def meeting(self) -> list[RowGroup]:
        """The groups in which the ends of links may meet, loop by loop."""
        return [group for group in self.groups if group.kind == "meet"]

    def bounds(self, p: Array) -> CycleBounds:
        """The limits of a cycle."""
        n = self.tree.n
        return CycleBounds(p[:n], p[n : 2 * n], p[2 * n : self.limits])

    def retract(self, q: Array, dq: Array) -> Array:
        """Q after a step dq (nv,); a joint that does not move keeps all bits."""
        return integrate(self.tree, q, dq)

    def within(self, bounds: InputBounds, q: Array) -> Array:  # type: ignore[override]  # (of `bounds`)
        """Q (nq,), at their limits the joints that are beyond."""
        parts = [at.joint.clipped(q[at.q], most) for at, most in cones(self.tree, bounds)]
        return np.concatenate([*parts, bounds.clipped(q[self.base :])])

    def parts(self, at: Configuration, p: Array) -> list[ConstraintEquations]:
        """Equations of each group, zero if inactive."""
        pairs = zip(self.groups, self.split(p[self.limits :]), strict=True)
        return [self._equations(group, at, part) for group, part in pairs]

    def weights(self, parts: Sequence[ConstraintEquations]) -> Array:
        """Weight of each row (m,): lengths are divided by the mechanism's size."""
        weights = [CLOSURE_WEIGHT if group.kind == "closed" else 1.0 for group in self.groups]
        pairs = zip(parts, weights, strict=True)
        return np.array([weight if angle else weight / self.length for part, weight in pairs for angle in part.angles])

    def met(self, parts: Sequence[ConstraintEquations], residual: Array, settings: Array) -> Any:
        """1 if the unweighted residual is within the tolerances; else 0, also for NaN."""
        far, turned = self.squares(parts)
        return select(settings[0] - far, 1.0, 0.0) * select(settings[1] - turned, 1.0, 0.0)

    def _equations(self, group: RowGroup, at: Configuration, part: Array) -> ConstraintEquations:
        if group.kind == "closed":
            return group.constraint.equations(at, part)
        target: Array = np.array(np.eye(4), dtype=object)
        if group.kind == "place":
            target[:3, 3] = part[1:]
        elif group.kind == "turn":
            target[:3, :3] = np.reshape(part[1:], (3, 3))
        numbers = target.ravel() if group.kind in {"place", "turn"} else part[1:]
        return group.constraint.equations(at, numbers).times(part[0])


def cones(tree: Tree, bounds: InputBounds) -> list[tuple[ManifoldJoint, Any]]:
    """The joints with quaternions, each with half the opening of its cone, rad; infinite for one that has none."""
    openings = iter(bounds.cones if isinstance(bounds, CycleBounds) else ())
    return [(at, next(openings) if at.joint.cone_axis is not None else np.inf) for at in tree.manifold_joints]


#: Least length of a secant, rad or units of size: at a change point joint values are accurate to the root of the precision
#: only, which must be small relative to it.
SECANT = 1e-3

#: The square of the sine of the angle by which an answer must turn off the secant to be doubted: six degrees. A branch that
#: is left in the middle of a step turns off by little at first.
TURNED = 1e-2

#: Answers nearer than this to the last one, rad or units of size, have no direction.
STEP = 1e-8

#: The secant continues the motion if it reduces the residual at the last solution, and the remainder outside the determined
#: directions, at least to this share.
CONTINUED = 0.1

#: The joint values that came in may be so many steps from the last answer; else they say which branch it is.
NEAR = 3.0

#: Added to a square before its root is divided by.
TINY = 1e-100

#: Squared singular values far below this count as zero in the determined directions.
NULL_DAMPING = 1e-10


class BranchTracker:
    """The decisions for one kind of chain.

    Parameters
    ----------
    problem : ChainProblem
        The rows that are solved.
    """

    def __init__(self, problem: ChainProblem) -> None:
        self.problem = problem
        lengths = problem.tree.is_linear_velocity
        self.scale = np.array([1.0 / problem.length if is_length else 1.0 for is_length in lengths])

    @property
    def exists(self) -> bool:
        """True if there are loops, in which branches can meet."""
        return any(group.kind in {"closed", "meet"} for group in self.problem.groups)

    def turned(self, last: Array, secant: Array, row: Array) -> Array:
        """Above zero (1,) where an answer, a row of the solver, is none, or turns off the secant (n,)."""
        tree = self.problem.tree
        step, along = difference(tree, last, row[: tree.nq]) * self.scale, secant * self.scale
        size, length, both = squared(step), squared(along), inner(step, along)
        off = select(size * length * (1.0 - TURNED) - both * both, 1.0, 0.0) * select(size - STEP**2, 1.0, 0.0)
        return np.array([select(length, select(row[-1], off, 1.0), 0.0)], dtype=object)

    def continued(self, p: Array, begin: Array, last: Array, secant: Array) -> tuple[Array, Array]:
        """Solution (n,) along the secant, and a flag (1,), positive if it exists.

        The length of the step is that which leaves the least residual, to first order. The step must satisfy the equations
        about, and the equations must settle it: what they leave free is not continued, or a redundant chain would drift.
        """
        residual, rates = self._rows(last, p)
        change = rates @ secant
        step = secant * (inner(change, residual) / (squared(change) + 1e-200))
        tree = self.problem.tree
        there = integrate(tree, last, step)
        left, _ = self._rows(there, p)
        length = squared(step * self.scale)
        beside = integrate(tree, last, step * greatest(1.0, SECANT / root(length + TINY)))  # (well off the change point)
        _, rates = self._rows(beside, p)
        free = (step - by_rows(rates, rates @ step, NULL_DAMPING)) * self.scale
        good = select(CONTINUED**2 * squared(residual) - squared(left), 1.0, 0.0)
        good = good * select(CONTINUED**2 * length - squared(free), 1.0, 0.0)
        good = good * select(NEAR**2 * length - squared(difference(tree, last, begin) * self.scale), 1.0, 0.0)
        return there, np.array([good], dtype=object)

    def _rows(self, q: Array, p: Array) -> tuple[Array, Array]:
        return self.problem.stacked(self.problem.parts(Configuration(self.problem.tree, q), p))

    def nearer(self, there: Array, first: Array, other: Array) -> Array:
        """Above zero (1,) where another answer is one, and the first is none, or further from there (n,)."""
        tree = self.problem.tree
        gap, new = (squared(difference(tree, there, row[: tree.nq]) * self.scale) for row in (first, other))
        return np.array([select(other[-1], select(first[-1], gap - new, 1.0), 0.0)], dtype=object)

    def remember(self, goal: Array, anchor: Array, secant: Array) -> tuple[Array, Array]:
        """Anchor (n,) of the next secant, and the secant (n,): that to the goal if it is long enough."""
        shift = difference(self.problem.tree, anchor, goal)
        far = select(squared(shift * self.scale) - SECANT**2, 1.0, 0.0)
        return chosen(far, goal, anchor), chosen(far, shift, secant)


#: Damping of the velocities, in units of the mechanism's size: singular values far above a millionth are exact.
RATE_DAMPING = 1e-12

#: If constraints would move a joint by more than this in a cycle, rad or units of the mechanism's size, it is near a
#: singular position: the solver then starts where the input velocities alone lead.
WIDEST = 0.5

#: Offset of the solver's last start from the chain's own value, rad or units of size: away from a singular position.
NUDGE = 0.03

#: A joint value this near to the last output, rad or m, counts as that output.
OWN = 1e-12


@dataclass(frozen=True)
class TargetMotion:
    """Motion of a target frame in the world: position, rotation and velocities."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def after(self, time: Any) -> TargetMotion:
        """Extrapolate the frame with constant velocities."""
        rotation = turned(self.spin * time) @ self.rotation
        return TargetMotion(self.position + self.velocity * time, rotation, self.velocity, self.spin)


class Setpoints:
    """The numbers of a problem, from the inputs of a chain.

    Parameters
    ----------
    layout : Layout
        Where the inputs are.
    problem : ChainProblem
        What the numbers are for.
    angles : {"xyz", "zyx"}
        Convention of all angles.
    """

    def __init__(self, layout: Layout, problem: ChainProblem, angles: str) -> None:
        self.layout, self.problem, self.angles = layout, problem, angles
        self.velocities = [constraint for constraint in layout.constraints if isinstance(constraint, Velocity)]

    def limits(self, x: Array) -> Array:
        """Joint limits (2n,), both set to the middle if the least is above the greatest; and cones (c,)."""
        low, high = (self.layout.coordinates(x, f".limits.{end}") for end in ("min", "max"))
        pairs = [(select(b - a, a, 0.5 * (a + b)), select(b - a, b, 0.5 * (a + b))) for a, b in zip(low, high, strict=True)]
        ends = [*(pair[0] for pair in pairs), *(pair[1] for pair in pairs), *self.layout.cones(x)]
        return np.array(ends, dtype=object)

    def meeting(self, x: Array) -> Array:
        """Flags (1 or 0) of the optional end coincidences, loop by loop."""
        owners = [self.layout.constraints[group.owner].name for group in self.problem.meeting()]
        return np.array([self.layout.take(x, f"{name}.enabled") for name in owners], dtype=object)

    def begin(self, x: Array, before: Array, last: Array, at: Array) -> Array:
        """Start of the solver (n,): the joint values of the inputs.

        A joint whose value is the one that the chain gave out in the last cycle, `at` (2, n), begins at what that was on its
        way to, `last` (2, n): so a chain that greatest speeds hold back keeps to one answer. Where a constraint has just
        been switched off, or a velocity constraint counts, it does not: the chain goes on from where it is.
        """
        enabled = [f"{constraint.name}.enabled" for constraint in self.layout.constraints]
        freed: Any = sum((self.layout.take(before, name) * (1.0 - self.layout.take(x, name)) for name in enabled), 0.0)
        freed = freed + sum(self.layout.take(x, f"{constraint.name}.enabled") for constraint in self.velocities)
        came, values = self.layout.coordinates(x, ""), []
        for joint in self.layout.variables:
            value, first, second = (q[joint.q] for q in (came, *at))
            here, there = (sum(abs(part) for part in value - goal) for goal in (first, second))
            for number, first_goal, two in zip(value, *(q[joint.q] for q in last), strict=True):
                kept = select(OWN - here, first_goal, select(OWN - there, two, number))
                values.append(select(freed, number, kept))
        return np.array(values, dtype=object)

    def starts(self, last: Array) -> Array:
        """Further starts of the solver (2, n) if the input values fail: its last solution, and a point near it."""
        tree = self.layout.tree
        sizes = [NUDGE * (self.problem.length if slide else 1.0) for slide in tree.is_linear_velocity]
        step = np.array([size if k % 2 else -size for k, size in enumerate(sizes)])
        return np.array([list(last), list(integrate(tree, last, step))], dtype=object)

    def start(self, x: Array) -> TargetMotion:
        """The start of the chain in the world."""
        return self._motion(x, "start", np.zeros(3), np.eye(3))

    def now(self, x: Array) -> Array:
        """The numbers (p,) for this instant."""
        return self._numbers(x, None, None)

    def moving(self, x: Array) -> Any:
        """Above zero where any velocity that counts is not zero."""
        total: Any = sum(abs(speed) for speed in self.layout.coordinates(x, "_speed"))
        for constraint in self.layout.constraints:
            if "speed" in constraint.scalars:
                amount = abs(self.layout.take(x, f"{constraint.name}.speed"))
                total = total + amount * self.layout.take(x, f"{constraint.name}.enabled")
        for quantity in ("velocity", "angular_velocity"):
            total = total + sum(abs(value) for value in self.layout.take(x, f"start.{quantity}"))
            for constraint in self.layout.constraints:
                if quantity in constraint.vectors:
                    amount = sum(abs(value) for value in self.layout.take(x, f"{constraint.name}.{quantity}"))
                    total = total + amount * self.layout.take(x, f"{constraint.name}.enabled")
        return total

    def free_motion(self, x: Array) -> Any:
        """Positive if joint velocities or velocity constraints move the chain besides the position constraints."""
        total: Any = sum(abs(speed) for speed in self.layout.coordinates(x, "_speed"))
        for constraint in self.velocities:
            counts = self.layout.take(x, f"{constraint.name}.enabled")
            for quantity, kind in (("velocity", "place"), ("angular_velocity", "turn")):
                if quantity in constraint.vectors:
                    amount = sum(abs(value) for value in self.layout.take(x, f"{constraint.name}.{quantity}"))
                    total = total + amount * counts * self._alone(x, constraint, kind)
        return total

    def without_free(self, x: Array) -> list[Any]:
        """Flags (1 or 0) of the velocity constraints that remain without `free_motion`."""
        counting = []
        for constraint in self.velocities:
            alone: Any = 1.0
            for holds, kind in ((constraint.place, "place"), (constraint.turn, "turn")):
                alone = alone * self._alone(x, constraint, kind) if holds else alone
            counting.append(self.layout.take(x, f"{constraint.name}.enabled") * (1.0 - alone))
        return counting

    def ahead(self, x: Array, goal: Array, time: Any) -> tuple[Array, Array, Array]:
        """Parameters (p,) for the end of the cycle, start of the solver (n,), and present joint velocities (n,)."""
        view = Configuration(self.problem.tree, goal)
        speeds = self.speeds(x, view)
        numbers = self._numbers(x, view, time)
        is_length, inputs = self.problem.tree.is_linear_velocity, self.layout.coordinates(x, "_speed")
        widest: Any = 0.0
        for speed, input_speed, slide in zip(speeds, inputs, is_length, strict=True):
            amount = abs((speed - input_speed) * time) / (self.problem.length if slide else 1.0)
            widest = select(amount - widest, amount, widest)
        rates = [select(WIDEST - widest, speed, input_speed) for speed, input_speed in zip(speeds, inputs, strict=True)]
        return numbers, integrate(self.problem.tree, goal, np.array(rates, dtype=object) * time), speeds

    def speeds(self, x: Array, view: Configuration) -> Array:
        """Joint velocities (nv,) that keep all rows satisfied, nearest to the input velocities (least squares)."""
        preferred = self.layout.coordinates(x, "_speed")
        limits = self.limits(x)
        parts = self.problem.parts(view, np.concatenate([limits, self._numbers(x, view, 0.0)]))
        if not parts:
            return preferred
        _, rates = self.problem.stacked(parts)
        drifts = [self._drift(x, group, view, part) for group, part in zip(self.problem.groups, parts, strict=True)]
        drift, bounds = np.concatenate(drifts) * self.problem.weights(parts), self.problem.bounds(limits)
        preferred = preferred * self.problem.shares(bounds, view.q, preferred)
        # Twice: the joints at a limit that the first solution would move beyond are locked in the second.
        shares: Array = np.ones(len(preferred))
        speeds = preferred
        for _ in range(2):
            speeds = shares * preferred + shares * by_rows(
                rates * shares, drift - rates @ (shares * preferred), RATE_DAMPING
            )
            shares = np.array(self.problem.shares(bounds, view.q, speeds), dtype=object)
        return np.asarray(speeds * shares)

    def _numbers(self, x: Array, view: Configuration | None, time: Any) -> Array:
        """The numbers now, or some time ahead, with the velocity constraints, for which the chain is looked at."""
        start = self.start(x)
        then = start if view is None else start.after(time)
        values: list[Any] = []
        for group in self.problem.groups:
            if group.kind == "closed":
                continue
            constraint = self.layout.constraints[group.owner]
            counts = self.layout.take(x, f"{constraint.name}.enabled")
            if group.kind == "meet":
                values.append(counts)
                continue
            if group.kind == "drive":
                value, speed = (self.layout.take(x, f"{constraint.name}.{quantity}") for quantity in ("value", "speed"))
                values += [counts, value if view is None else value + speed * time]
                continue
            target = self._target(x, constraint, group, start, view)
            if view is not None:
                target = target.after(time)
            values.append(
                0.0 if view is None and isinstance(constraint, Velocity) else counts * self._alone(x, constraint, group.kind)
            )
            back = then.rotation.T
            values += list(
                back @ (target.position - then.position) if group.kind == "place" else (back @ target.rotation).flat
            )
        return np.array(values, dtype=object)

    def _drift(self, x: Array, group: RowGroup, view: Configuration, part: ConstraintEquations) -> Array:
        """Rate of the residual (m,) of a group by the motion of its target alone."""
        if group.kind in {"closed", "meet"}:
            return np.zeros(len(part.residual))
        constraint, start = self.layout.constraints[group.owner], self.start(x)
        counts = self.layout.take(x, f"{constraint.name}.enabled") * self._alone(x, constraint, group.kind)
        if group.kind == "drive":
            return np.array([counts * self.layout.take(x, f"{constraint.name}.speed")], dtype=object)
        if group.kind == "turn":
            target = self._target(x, constraint, group, start, view)
            return np.asarray(counts * (start.rotation.T @ (target.spin - start.spin)))
        target = self._target(x, constraint, group, start, view)
        carried = start.velocity + cross(start.spin, target.position - start.position)
        return np.asarray(counts * (start.rotation.T @ (target.velocity - carried)))

    def _target(
        self, x: Array, constraint: ChainConstraint, group: RowGroup, start: TargetMotion, view: Configuration | None
    ) -> TargetMotion:
        """Target of a constraint in the world; for a velocity constraint the present frame."""
        here = np.eye(4) if view is None else view.pose(group.link)
        position, rotation = start.position + start.rotation @ here[:3, 3], start.rotation @ here[:3, :3]
        motion = self._motion(x, constraint.name, position, rotation)
        for other in self.layout.constraints if isinstance(constraint, (FixedPosition, FixedRotation)) else ():
            if isinstance(other, Velocity) and other.link == constraint.link:
                counts, moved = self.layout.take(x, f"{other.name}.enabled"), self._motion(x, other.name, position, rotation)
                motion = replace(
                    motion, velocity=motion.velocity + counts * moved.velocity, spin=motion.spin + counts * moved.spin
                )
        return motion

    def _alone(self, x: Array, constraint: ChainConstraint, kind: str) -> Any:
        """1 for a constraint that is active without others.

        0 for a velocity where a fixed place, or rotation, of its end counts: it then says how that one moves.
        """
        alone: Any = 1.0
        fixed = FixedPosition if kind == "place" else FixedRotation
        for other in self.layout.constraints if isinstance(constraint, Velocity) else ():
            if isinstance(other, fixed) and other.link == constraint.link:
                alone = alone * (1.0 - self.layout.take(x, f"{other.name}.enabled"))
        return alone

    def _motion(self, x: Array, name: str, position: Array, rotation: Array) -> TargetMotion:
        """Motion from the ports of an entity; quantities without a port have the given, constant values."""

        def value(quantity: str) -> Array | None:
            full = f"{name}.{quantity}"
            return self.layout.take(x, full) if full in self.layout.ports else None

        place, angles, velocity, spin = map(value, ("position", "angles", "velocity", "angular_velocity"))
        return TargetMotion(
            position if place is None else place,
            rotation if angles is None else angles_rotation(angles, self.angles),
            np.zeros(3) if velocity is None else velocity,
            np.zeros(3) if spin is None else spin,
        )


def common(first: Array, second: Array) -> Array:
    """Common part of two velocities (n,): the smaller if their signs agree, else 0.

    A goal that moves as announced may be approached faster than one that stands; one that is announced to move but does not,
    or that has jumped, may not.
    """
    return np.array(
        [select(a * b, select(abs(a) - abs(b), b, a), 0.0) for a, b in zip(first, second, strict=True)], dtype=object
    )


#: Starts in a cycle.
STARTS = 4

#: A joint limit beyond this, rad or m, is none.
UNLIMITED = 1e6


class GlobalSearch:
    """Starts of the solver in cycles with a global search.

    Parameters
    ----------
    problem : Problem
        What is solved.
    """

    def __init__(self, problem: ConstraintProblem) -> None:
        self.problem = problem
        tree = problem.tree
        self.reach = np.array([problem.length if is_length else pi for is_length in tree.is_linear_velocity])
        self.steps = _steps(tree.nv)

    def __call__(self, p: Array, here: Array, state: Array) -> tuple[Array, Array]:
        """The starts of a cycle (STARTS, nq), and the next state (nv,); p are the parameters of the problem.

        A joint without limits is tried up to half a turn, or the size of the mechanism, from where it is; one with a
        quaternion about each axis. The solver brings it into its cone.
        """
        tree = self.problem.tree
        n, base, free = tree.n, tree.nq - tree.n, tree.nv - tree.n
        low, high, joints, reach = p[:n], p[n : 2 * n], here[base:], self.reach[free:]
        first = [select(a + UNLIMITED, a, least(b, x) - r) for a, b, x, r in zip(low, high, joints, reach, strict=True)]
        last = [select(UNLIMITED - b, b, greatest(a, x) + r) for a, b, x, r in zip(low, high, joints, reach, strict=True)]
        rows: list[Any] = []
        for _ in range(STARTS):
            moved = state + self.steps
            state = np.array([select(x - 1.0, x - 1.0, x) for x in moved], dtype=object)
            values = [a + (b - a) * x for a, b, x in zip(first, last, state[free:], strict=True)]
            turned_by = np.concatenate([self.reach[:free] * (2.0 * state[:free] - 1.0), np.zeros(n)])
            rows.append([*integrate(tree, here, turned_by)[:base], *values] if free else values)
        return np.array(rows, dtype=object), state


def _steps(n: int) -> FloatArray:
    """The step (n,) of the recurrence in each coordinate."""
    phi = 2.0
    for _ in range(64):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    return np.asarray((1.0 / phi) ** np.arange(1, n + 1) % 1.0)
