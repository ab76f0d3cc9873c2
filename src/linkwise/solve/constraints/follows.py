"""A joint coordinate must follow another one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Constraint, Equations, View
from linkwise.solve.constraints.given import FARTHEST, joint_given, joint_index, settle
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import Array, FloatArray, blank


@dataclass(frozen=True, eq=False, repr=False)
class Follows(Constraint):
    """A joint coordinate is a multiple of another one, plus a constant: the values themselves, not modulo a whole turn.

    A `Mimic` in the description of a link says the same for good and takes the coordinate away; this holds for one task.

    Parameters
    ----------
    joint : int or str
        The coordinate that follows: a name of `Mechanism.names`, or an index among them.
    leader : int or str
        The coordinate that is followed.
    ratio : (...) array_like
        rad or m of the joint per rad or m of the leader.
    offset : (...) array_like
        The joint's coordinate where the leader's is zero, rad or m.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import Position, solve
    >>> arm = robots.planar_3r()
    >>> found = solve(arm, [Position(-1, [1.0, 1.5, 0.0], mask=[1, 1, 0]), Follows(2, 1, ratio=0.5, offset=0.1)])
    >>> found.success, round(float(found.q[2] - 0.5 * found.q[1]), 9)
    (True, 0.1)
    """

    joint: int | str
    leader: int | str
    ratio: FloatArray
    offset: FloatArray

    def __init__(self, joint: int | str, leader: int | str, ratio: npt.ArrayLike = 1.0, offset: npt.ArrayLike = 0.0) -> None:
        made = {"ratio": numbers("ratio", ratio, "numbers (...)"), "offset": numbers("offset", offset, "numbers (...)")}
        for field, value in made.items():
            if np.abs(value).max(initial=0.0) > FARTHEST:
                raise ArgumentError(f"{field} reaches {np.abs(value).max():g}; expected values up to {FARTHEST:g}")
        try:
            np.broadcast_shapes(made["ratio"].shape, made["offset"].shape)
        except ValueError as error:
            told = f"ratio {made['ratio'].shape} and offset {made['offset'].shape}"
            raise ArgumentError(f"the batch shapes {told} do not broadcast") from error
        settle(self, joint=joint_given("joint", joint), leader=joint_given("leader", leader), **made)

    @property
    def numbers(self) -> FloatArray:
        """Ratio and offset (..., 2)."""
        return np.stack(np.broadcast_arrays(self.ratio, self.offset), axis=-1)

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not a number."""
        return (Follows, self.joint, self.leader)

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless both joints are there and are two."""
        follower, leader = self.counted(tree)
        if follower == leader:
            raise ArgumentError(f"joint and leader are both {tree.names[leader]!r}; expected two joint coordinates")

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """Both joints: their whole turns count."""
        return joint_index(tree, "joint", self.joint), joint_index(tree, "leader", self.leader)

    def equations(self, view: View, p: Array) -> Equations:
        """One equation: ratio * leader + offset - joint."""
        tree, (follower, leader) = view.tree, self.counted(view.tree)
        rates = blank(1, tree.nv)
        rates[0, tree.nv - tree.n + follower] = 1.0
        rates[0, tree.nv - tree.n + leader] = -p[0]
        return Equations(np.array([self._left(view, p)]), rates, (not tree.slides[follower],))

    def errors(self, view: View, p: Array) -> tuple[Any, Any]:
        """The square of the difference: as a distance where the joint slides, else as an angle."""
        left = self._left(view, p)
        return (left * left, 0.0) if view.tree.slides[self.counted(view.tree)[0]] else (0.0, left * left)

    def _left(self, view: View, p: Array) -> Any:
        follower, leader = (view.tree.nq - view.tree.n + i for i in self.counted(view.tree))
        return p[0] * view.q[leader] + p[1] - view.q[follower]

    def __repr__(self) -> str:
        return f"Follows({self.joint!r}, {self.leader!r}, {self.numbers.shape[:-1]} tasks)"
