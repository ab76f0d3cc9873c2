"""The equations that a chain is solved for, in rows: places and rotations of link ends, ends that meet, loops that close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.control.constraints import ChainConstraint, DrivenJoint, Loop
from linkwise.kinematics.closure import half_sine
from linkwise.model.loop import CLOSURE_ROWS, LoopKind
from linkwise.model.tree import Tree
from linkwise.solve.constraints.closed import Closed
from linkwise.solve.constraints.constraint import View, squared
from linkwise.solve.steps import size_of
from linkwise.spatial.scalar import Array

CLOSURE_WEIGHT = 100.0
"""How much more a loop of the mechanism counts than a constraint where not all can be met: the nearest compromise of a
mechanism is one that holds together."""


@dataclass(frozen=True)
class Group:
    """Rows that belong together.

    Attributes
    ----------
    kind : {"place", "turn", "meet", "turn alike", "drive", "closed"}
        What must hold.
    link : int or str
        Whose end; -1 is the tool.
    to : int, str or None
        The other link, where two meet; ``"base"`` is the start.
    owner : int
        The constraint, by index; -1 for a loop of the mechanism.
    loop : int
        The loop, by index.
    joint : int
        The coordinate that is driven, by index.
    slides : bool
        Whether that is a length.
    """

    kind: str
    link: int | str = -1
    to: int | str | None = None
    owner: int = -1
    loop: int = -1
    joint: int = -1
    slides: bool = False

    @property
    def numbers(self) -> int:
        """How many numbers it takes: whether it counts (1 or 0), and where the end shall be."""
        return {"place": 4, "turn": 10, "drive": 2, "closed": 0}.get(self.kind, 1)

    @property
    def angular(self) -> bool:
        """Whether its rows are angles."""
        return self.turns or (self.kind == "drive" and not self.slides)

    @property
    def turns(self) -> bool:
        """Whether its rows are 2 sin(t/2) along the axis of a rotation by t."""
        return self.kind in {"turn", "turn alike"}


@dataclass(frozen=True)
class Rows:
    """What the rows are at one configuration.

    Attributes
    ----------
    residual : ndarray (m,)
        What is lacking, m and rad; zero for what does not count.
    rates : ndarray (m, n)
        What a step must fulfil: ``rates @ dq = residual``.
    """

    residual: Array
    rates: Array


class Problem:
    """All rows of a chain, as functions of scalars.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of ChainConstraint
        In the order of their numbers.
    """

    def __init__(self, tree: Tree, constraints: Sequence[ChainConstraint]) -> None:
        self.tree, self.length = tree, size_of(tree)
        self.groups = [Group("closed", loop=k) for k in range(len(tree.loops))]
        for k, constraint in enumerate(constraints):
            link = link_of(tree, constraint.link)
            if isinstance(constraint, Loop):
                to = "base" if constraint.to == "start" else link_of(tree, constraint.to)
                self.groups.append(Group("meet", link, to, k))
                if constraint.turn:
                    self.groups.append(Group("turn alike", link, to, k))
                continue
            if isinstance(constraint, DrivenJoint):
                joint = tree.coordinates[tree.link_index(constraint.link)]
                self.groups.append(Group("drive", link, None, k, joint=joint, slides=tree.slides[joint]))
                continue
            if constraint.place:
                self.groups.append(Group("place", link, None, k))
            if constraint.turn:
                self.groups.append(Group("turn", link, None, k))
        self.sizes = [group.numbers for group in self.groups]
        self.size = sum(self.sizes)

    def meeting(self) -> list[tuple[int | str, int | str, LoopKind]]:
        """Links whose ends may meet, with what then coincides, loop by loop."""
        alike = {group.owner for group in self.groups if group.kind == "turn alike"}
        found = [group for group in self.groups if group.kind == "meet"]
        return [(g.link, "base" if g.to is None else g.to, "full" if g.owner in alike else "point") for g in found]

    def split(self, numbers: Array) -> list[Array]:
        """The numbers of each group."""
        ends = np.cumsum(self.sizes, dtype=int)
        return [numbers[end - size : end] for end, size in zip(ends, self.sizes, strict=True)]

    def rows(self, view: View, numbers: Array) -> list[Rows]:
        """The rows of each group at a configuration."""
        return [self._group(group, view, part) for group, part in zip(self.groups, self.split(numbers), strict=True)]

    def weights(self) -> Array:
        """Of each row (m,) in the sum that is made least: lengths in units of the mechanism's size."""
        made: list[float] = []
        for group in self.groups:
            lengths = 0 if group.angular else min(3, self.count(group))
            weight = CLOSURE_WEIGHT if group.kind == "closed" else 1.0
            made += [weight / self.length] * lengths + [weight] * (self.count(group) - lengths)
        return np.array(made)

    def count(self, group: Group) -> int:
        """How many rows a group has."""
        if group.kind == "closed":
            return CLOSURE_ROWS[self.tree.loops[group.loop].kind]
        return 1 if group.kind == "drive" else 3

    def squares(self, rows: Sequence[Rows]) -> tuple[Any, Any]:
        """Squares of the distance (m2) and of the angle (rad2) that are lacking in all."""
        far: list[Any] = []
        turned: list[Any] = []
        for group, made in zip(self.groups, rows, strict=True):
            cut = 0 if group.angular else 3
            far += list(made.residual[:cut])
            turned += list(made.residual[cut:])
        return squared(np.array(far)), squared(np.array(turned))

    def _group(self, group: Group, view: View, numbers: Array) -> Rows:
        if group.kind == "closed":
            made = Closed(group.loop).equations(view, np.zeros(0))
            return Rows(made.residual, made.rates)
        counts = numbers[0]
        if group.kind == "drive":
            return Rows(np.array([counts * (numbers[1] - view.q[group.joint])]), counts * np.eye(self.tree.n)[[group.joint]])
        here = view.pose(group.link)
        if group.kind == "place":
            return Rows(counts * (numbers[1:] - here[:3, 3]), counts * view.jacobian(group.link)[:3])
        if group.kind == "turn":
            target = np.asarray(numbers[1:]).reshape(3, 3)
            return Rows(counts * half_sine(target @ here[:3, :3].T), counts * view.jacobian(group.link)[3:])
        other, rates = np.eye(4), view.jacobian(group.link)
        if group.to != "base" and group.to is not None:
            other, rates = view.pose(group.to), rates - view.jacobian(group.to)
        if group.kind == "meet":
            return Rows(counts * (other[:3, 3] - here[:3, 3]), counts * rates[:3])
        return Rows(counts * half_sine(other[:3, :3] @ here[:3, :3].T), counts * rates[3:])


def link_of(tree: Tree, name: str) -> int | str:
    """The link of a name as the forward kinematics take it: -1 for ``"tool"``, unless a link has that name."""
    return -1 if name == "tool" and name not in tree.link_names else tree.link_index(name)
