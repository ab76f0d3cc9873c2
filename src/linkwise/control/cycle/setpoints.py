"""What the solver is asked for in a cycle, now and at its end, and the joint speeds that lead from the one to the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi
from typing import Any

import numpy as np

from linkwise.control.angles import angles_rotation, turned
from linkwise.control.constraints import ChainConstraint, FixedPosition, FixedRotation, Velocity
from linkwise.control.cycle.constraint_equations import ChainProblem, RowGroup
from linkwise.control.cycle.layout import Layout
from linkwise.solve.constraints.constraint import Configuration, Equations
from linkwise.solve.joint_limits import InputBounds
from linkwise.solve.levenberg_marquardt import by_rows
from linkwise.solve.problem import Problem
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, select

RATE_DAMPING = 1e-12
"""Of the speeds, in units of the mechanism's size: singular values far above a millionth lose nothing."""

WIDEST = 0.5
"""A joint that constraints would turn, rad, or slide, in units of the mechanism's size, further than this in a cycle is near
a singular position: the solver then begins where the input speeds alone lead."""

NUDGE = 0.03
"""Of the last start of the solver beside the chain's own value, rad or units of size: off a singular position."""

OWN = 1e-12
"""A joint value this near to the one given out, rad or m, is that one."""


@dataclass(frozen=True)
class TargetMotion:
    """A frame that moves in the world: where it is, how it is turned, and its velocities."""

    position: Array
    rotation: Array
    velocity: Array
    spin: Array

    def after(self, time: Any) -> TargetMotion:
        """The frame some time later, its velocities held."""
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
        """Least and greatest joint values (2n,); where the least is above the greatest both are the middle."""
        low, high = (self.layout.coordinates(x, f".limits.{end}") for end in ("min", "max"))
        pairs = [(select(b - a, a, 0.5 * (a + b)), select(b - a, b, 0.5 * (a + b))) for a, b in zip(low, high, strict=True)]
        return np.array([*(pair[0] for pair in pairs), *(pair[1] for pair in pairs)], dtype=object)

    def meeting(self, x: Array) -> Array:
        """Which ends that may meet shall, 1 or 0, loop by loop."""
        owners = [self.layout.constraints[group.owner].name for group in self.problem.meeting()]
        return np.array([self.layout.take(x, f"{name}.enabled") for name in owners], dtype=object)

    def begin(self, x: Array, before: Array, last: Array, at: Array) -> Array:
        """Where the solver begins (n,): at the joint values that came in.

        A joint whose value is the one that the chain gave out in the last cycle, `at` (2, n), begins at what that was on its
        way to, `last` (2, n): so a chain that greatest speeds hold back keeps to one answer. Where a constraint has just
        been switched off, or a velocity constraint counts, it does not: the chain goes on from where it is.
        """
        enabled = [f"{constraint.name}.enabled" for constraint in self.layout.constraints]
        freed: Any = sum((self.layout.take(before, name) * (1.0 - self.layout.take(x, name)) for name in enabled), 0.0)
        freed = freed + sum(self.layout.take(x, f"{constraint.name}.enabled") for constraint in self.velocities)
        values = []
        for value, first, second, first_goal, two in zip(self.layout.coordinates(x, ""), *at, *last, strict=True):
            kept = select(OWN - abs(value - first), first_goal, select(OWN - abs(value - second), two, value))
            values.append(select(freed, value, kept))
        return np.array(values, dtype=object)

    def starts(self, last: Array) -> Array:
        """Where the solver begins again when the input values lead nowhere (2, n): its last answer, and a little beside."""
        slides = self.layout.tree.slides
        sizes = [NUDGE * (self.problem.length if slide else 1.0) for slide in slides]
        beside = [value + (size if k % 2 else -size) for k, (value, size) in enumerate(zip(last, sizes, strict=True))]
        return np.array([list(last), beside], dtype=object)

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

    def free(self, x: Array) -> Any:
        """Above zero where joint speeds or velocity constraints move the chain beside what moves its positions."""
        total: Any = sum(abs(speed) for speed in self.layout.coordinates(x, "_speed"))
        for constraint in self.velocities:
            counts = self.layout.take(x, f"{constraint.name}.enabled")
            for quantity, kind in (("velocity", "place"), ("angular_velocity", "turn")):
                if quantity in constraint.vectors:
                    amount = sum(abs(value) for value in self.layout.take(x, f"{constraint.name}.{quantity}"))
                    total = total + amount * counts * self._alone(x, constraint, kind)
        return total

    def without_free(self, x: Array) -> list[Any]:
        """For each velocity constraint whether it counts where all that is `free` is taken away, 1 or 0."""
        counting = []
        for constraint in self.velocities:
            alone: Any = 1.0
            for holds, kind in ((constraint.place, "place"), (constraint.turn, "turn")):
                alone = alone * self._alone(x, constraint, kind) if holds else alone
            counting.append(self.layout.take(x, f"{constraint.name}.enabled") * (1.0 - alone))
        return counting

    def ahead(self, x: Array, goal: Array, time: Any) -> tuple[Array, Array, Array]:
        """The numbers (p,) for the end of the cycle, where the solver begins (n,), and the joint speeds now (n,)."""
        view = Configuration(self.problem.tree, goal)
        speeds = self.speeds(x, view)
        numbers = self._numbers(x, view, time)
        slides, inputs = self.problem.tree.slides, self.layout.coordinates(x, "_speed")
        widest: Any = 0.0
        for speed, input_speed, slide in zip(speeds, inputs, slides, strict=True):
            amount = abs((speed - input_speed) * time) / (self.problem.length if slide else 1.0)
            widest = select(amount - widest, amount, widest)
        rates = [select(WIDEST - widest, speed, input_speed) for speed, input_speed in zip(speeds, inputs, strict=True)]
        return numbers, goal + np.array(rates, dtype=object) * time, speeds

    def speeds(self, x: Array, view: Configuration) -> Array:
        """Joint speeds (n,) with which all rows go on holding: the nearest to the input speeds (least squares)."""
        n, preferred = self.problem.tree.n, self.layout.coordinates(x, "_speed")
        limits = self.limits(x)
        parts = self.problem.parts(view, np.concatenate([limits, self._numbers(x, view, 0.0)]))
        if not parts:
            return preferred
        _, rates = self.problem.stacked(parts)
        drifts = [self._drift(x, group, view, part) for group, part in zip(self.problem.groups, parts, strict=True)]
        drift, bounds = np.concatenate(drifts) * self.problem.weights(parts), InputBounds(*np.split(limits, 2))
        preferred = preferred * bounds.free(view.q, preferred)
        # Twice: the joints at a limit that the first answer would move beyond are held in the second.
        shares: Array = np.ones(n)
        speeds = preferred
        for _ in range(2):
            speeds = shares * preferred + shares * by_rows(
                rates * shares, drift - rates @ (shares * preferred), RATE_DAMPING
            )
            shares = np.array(bounds.free(view.q, speeds), dtype=object)
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

    def _drift(self, x: Array, group: RowGroup, view: Configuration, part: Equations) -> Array:
        """What the residual (m,) of a group gains in a second where no joint moves, for its target moves."""
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
        """Where a constraint wants its end, in the world; a velocity constraint where it is."""
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
        """1 for a constraint that counts by itself.

        0 for a velocity where a fixed place, or rotation, of its end counts: it then says how that one moves.
        """
        alone: Any = 1.0
        fixed = FixedPosition if kind == "place" else FixedRotation
        for other in self.layout.constraints if isinstance(constraint, Velocity) else ():
            if isinstance(other, fixed) and other.link == constraint.link:
                alone = alone * (1.0 - self.layout.take(x, f"{other.name}.enabled"))
        return alone

    def _motion(self, x: Array, name: str, position: Array, rotation: Array) -> TargetMotion:
        """The motion that the ports of an entity say; what it has no port for is as given, and does not move."""

        def given(what: str) -> Array | None:
            full = f"{name}.{what}"
            return self.layout.take(x, full) if full in self.layout.ports else None

        place, angles, velocity, spin = map(given, ("position", "angles", "velocity", "angular_velocity"))
        return TargetMotion(
            position if place is None else place,
            rotation if angles is None else angles_rotation(angles, self.angles),
            np.zeros(3) if velocity is None else velocity,
            np.zeros(3) if spin is None else spin,
        )


def common(said: Array, seen: Array) -> Array:
    """What two speeds (n,) have in common: the smaller where they have one sign, else 0.

    A goal that is said to move, and does, may be approached faster than one that stands; one that only is said to, or that
    has jumped, may not.
    """
    return np.array(
        [select(a * b, select(abs(a) - abs(b), b, a), 0.0) for a, b in zip(said, seen, strict=True)], dtype=object
    )


STARTS = 4
"""Starts in a cycle."""

UNLIMITED = 1e6
"""A joint limit beyond this, rad or m, is none."""


class GlobalSearch:
    """Where the solver starts in the cycles in which it searches.

    Parameters
    ----------
    problem : Problem
        What is solved.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reach = np.array([problem.length if slides else pi for slides in problem.tree.slides])
        self.steps = _steps(problem.tree.n)

    def __call__(self, p: Array, here: Array, state: Array) -> tuple[Array, Array]:
        """The starts of a cycle (STARTS, n), and the next state (n,); p are the parameters of the problem.

        A joint without limits is tried up to half a turn, or the size of the mechanism, from where it is.
        """
        n = self.problem.tree.n
        low, high = p[:n], p[n : 2 * n]
        first = [select(a + UNLIMITED, a, least(b, x) - r) for a, b, x, r in zip(low, high, here, self.reach, strict=True)]
        last = [select(UNLIMITED - b, b, greatest(a, x) + r) for a, b, x, r in zip(low, high, here, self.reach, strict=True)]
        rows: list[Any] = []
        for _ in range(STARTS):
            moved = state + self.steps
            state = np.array([select(x - 1.0, x - 1.0, x) for x in moved], dtype=object)
            rows.append([a + (b - a) * x for a, b, x in zip(first, last, state, strict=True)])
        return np.array(rows, dtype=object), state


def _steps(n: int) -> FloatArray:
    """The step (n,) of the recurrence in each coordinate."""
    phi = 2.0
    for _ in range(64):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    return np.asarray((1.0 / phi) ** np.arange(1, n + 1) % 1.0)
