"""The problem that a chain is solved for: its constraints and its loops, with switches and limits that are inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint, link_of
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, Equations
from linkwise.solve.constraints.loop_closure import Closed
from linkwise.solve.joint_limits import CoordinateBounds, InputBounds
from linkwise.solve.problem import Problem
from linkwise.spatial.scalar import Array, select

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
