"""The problem that a chain is solved for: its constraints and its loops, with switches and limits that are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint, link_of
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, Equations, squared
from linkwise.solve.constraints.loop_closure import Closed
from linkwise.solve.joint_limits import CoordinateBounds, InputBounds
from linkwise.solve.levenberg_marquardt import by_rows
from linkwise.solve.problem import Problem
from linkwise.spatial.scalar import Array, greatest, root, select
from linkwise.spatial.vector import chosen, inner

CLOSURE_WEIGHT = 100.0
"""How much more a loop of the mechanism counts than a constraint where not all can be met: the nearest compromise of a
mechanism is one that holds together."""

NUMBERS = {"place": 4, "turn": 10, "drive": 2, "meet": 1, "closed": 0}
"""How many numbers a kind of rows takes: whether it counts (1 or 0), and where the end shall be."""


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


class ChainProblem(Problem):
    """All rows of a chain; their numbers p are the limits low (n,) and high (n,), then those of each group.

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
        self.parameters = 2 * tree.n + self.size

    def meeting(self) -> list[RowGroup]:
        """The groups in which the ends of links may meet, loop by loop."""
        return [group for group in self.groups if group.kind == "meet"]

    def bounds(self, p: Array) -> CoordinateBounds:
        """The limits of a cycle."""
        n = self.tree.n
        return InputBounds(p[:n], p[n : 2 * n])

    def parts(self, at: Configuration, p: Array) -> list[Equations]:
        """The equations of each group, zero for what does not count."""
        pairs = zip(self.groups, self.split(p[2 * self.tree.n :]), strict=True)
        return [self._equations(group, at, part) for group, part in pairs]

    def weights(self, parts: Sequence[Equations]) -> Array:
        """What each row (m,) is multiplied by: lengths are taken in units of the mechanism's size."""
        weights = [CLOSURE_WEIGHT if group.kind == "closed" else 1.0 for group in self.groups]
        pairs = zip(parts, weights, strict=True)
        return np.array([weight if angle else weight / self.length for part, weight in pairs for angle in part.angles])

    def met(self, parts: Sequence[Equations], residual: Array, settings: Array) -> Any:
        """1 where what is lacking, without weights, is within the tolerances; else 0, also for NaN."""
        far, turned = self.squares(parts)
        return select(settings[0] - far, 1.0, 0.0) * select(settings[1] - turned, 1.0, 0.0)

    def _equations(self, group: RowGroup, at: Configuration, part: Array) -> Equations:
        if group.kind == "closed":
            return group.constraint.equations(at, part)
        target: Array = np.array(np.eye(4), dtype=object)
        if group.kind == "place":
            target[:3, 3] = part[1:]
        elif group.kind == "turn":
            target[:3, :3] = np.reshape(part[1:], (3, 3))
        numbers = target.ravel() if group.kind in {"place", "turn"} else part[1:]
        return group.constraint.equations(at, numbers).times(part[0])


SECANT = 1e-3
"""A secant is taken over at least so much, rad or units of size: at a change point joint values are known to the root of the
precision only, which must be small beside it."""

TURNED = 1e-2
"""The square of the sine of the angle by which an answer must turn off the secant to be doubted: six degrees. A branch that
is left in the middle of a step turns off by little at first."""

STEP = 1e-8
"""Answers nearer than this to the last one, rad or units of size, have no direction."""

CONTINUED = 0.1
"""The share of the residual at the last answer, and of the secant beside what the equations settle, that is left at most
where the secant continues the motion."""

NEAR = 3.0
"""The joint values that came in may be so many steps from the last answer; else they say which branch it is."""

TINY = 1e-100
"""Added to a square before its root is divided by."""

NULL_DAMPING = 1e-10
"""Squares of singular values far below this count as zero where it is asked what the equations settle."""


class BranchTracker:
    """The decisions for one kind of chain.

    Parameters
    ----------
    problem : ChainProblem
        The rows that are solved.
    """

    def __init__(self, problem: ChainProblem) -> None:
        self.problem = problem
        self.scale = np.array([1.0 / problem.length if slides else 1.0 for slides in problem.tree.slides])

    @property
    def exists(self) -> bool:
        """Whether there are loops at all, in which branches can meet."""
        return any(group.kind in {"closed", "meet"} for group in self.problem.groups)

    def turned(self, last: Array, secant: Array, row: Array) -> Array:
        """Above zero (1,) where an answer, a row of the solver, is none, or turns off the secant (n,)."""
        n = self.problem.tree.n
        step, along = (row[:n] - last) * self.scale, secant * self.scale
        size, length, both = squared(step), squared(along), inner(step, along)
        off = select(size * length * (1.0 - TURNED) - both * both, 1.0, 0.0) * select(size - STEP**2, 1.0, 0.0)
        return np.array([select(length, select(row[-1], off, 1.0), 0.0)], dtype=object)

    def continued(self, p: Array, begin: Array, last: Array, secant: Array) -> tuple[Array, Array]:
        """Where the motion along the secant leads (n,), and above zero (1,) where it does go on there.

        The length of the step is that which leaves the least residual, to first order. The step must satisfy the equations
        about, and the equations must settle it: what they leave free is not continued, or a redundant chain would drift.
        """
        residual, rates = self._rows(last, p)
        change = rates @ secant
        step = secant * (inner(change, residual) / (squared(change) + 1e-200))
        there = last + step
        left, _ = self._rows(there, p)
        length = squared(step * self.scale)
        beside = last + step * greatest(1.0, SECANT / root(length + TINY))  # (well off the change point)
        _, rates = self._rows(beside, p)
        free = (step - by_rows(rates, rates @ step, NULL_DAMPING)) * self.scale
        good = select(CONTINUED**2 * squared(residual) - squared(left), 1.0, 0.0)
        good = good * select(CONTINUED**2 * length - squared(free), 1.0, 0.0)
        good = good * select(NEAR**2 * length - squared((begin - last) * self.scale), 1.0, 0.0)
        return there, np.array([good], dtype=object)

    def _rows(self, q: Array, p: Array) -> tuple[Array, Array]:
        return self.problem.stacked(self.problem.parts(Configuration(self.problem.tree, q), p))

    def nearer(self, there: Array, first: Array, other: Array) -> Array:
        """Above zero (1,) where another answer is one, and the first is none, or further from there (n,)."""
        n = self.problem.tree.n
        gap, new = (squared((row[:n] - there) * self.scale) for row in (first, other))
        return np.array([select(other[-1], select(first[-1], gap - new, 1.0), 0.0)], dtype=object)

    def remember(self, goal: Array, anchor: Array, secant: Array) -> tuple[Array, Array]:
        """The point (n,) from which the secant (n,) is taken next, and the secant: that to the goal if it is long enough."""
        shift = goal - anchor
        far = select(squared(shift * self.scale) - SECANT**2, 1.0, 0.0)
        return chosen(far, goal, anchor), chosen(far, shift, secant)
