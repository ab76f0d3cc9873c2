"""A joint coordinate must have a value."""

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
class Coordinate(Constraint):
    """A joint coordinate has a value: the value itself, not one a whole turn away.

    Parameters
    ----------
    joint : int or str
        Which: a name of `Mechanism.names`, or an index among them. A joint that follows another by its description has no
        coordinate of its own.
    value : (...) array_like
        rad, or m where the joint slides. A value outside the joint's limits is never reached.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import Position, solve
    >>> arm = robots.planar_3r()
    >>> found = solve(arm, [Position(-1, [1.0, 1.5, 0.0], mask=[1, 1, 0]), Coordinate(2, 0.5)])
    >>> found.success, round(float(found.q[2]), 9)
    (True, 0.5)
    """

    joint: int | str
    value: FloatArray

    def __init__(self, joint: int | str, value: npt.ArrayLike) -> None:
        made = numbers("value", value, "numbers (...), rad or m")
        if np.abs(made).max(initial=0.0) > FARTHEST:
            raise ArgumentError(f"value reaches {np.abs(made).max():g}; expected values up to {FARTHEST:g}")
        settle(self, joint=joint_given("joint", joint), value=made)

    @property
    def numbers(self) -> FloatArray:
        """The value (..., 1)."""
        return self.value[..., None]

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not a number."""
        return (Coordinate, self.joint)

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the joint is there."""
        joint_index(tree, "joint", self.joint)

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """The joint: its whole turns count."""
        return (joint_index(tree, "joint", self.joint),)

    def equations(self, view: View, p: Array) -> Equations:
        """One equation: value - q."""
        i, tree = joint_index(view.tree, "joint", self.joint), view.tree
        rates = blank(1, tree.nv)
        rates[0, tree.nv - tree.n + i] = 1.0
        return Equations(np.array([self._left(view, p)]), rates, (not tree.slides[i],))

    def errors(self, view: View, p: Array) -> tuple[Any, Any]:
        """The square of the difference: as a distance where the joint slides, else as an angle."""
        left = self._left(view, p)
        return (left * left, 0.0) if view.tree.slides[joint_index(view.tree, "joint", self.joint)] else (0.0, left * left)

    def _left(self, view: View, p: Array) -> Any:
        tree = view.tree
        return p[0] - view.q[tree.nq - tree.n + joint_index(tree, "joint", self.joint)]

    def __repr__(self) -> str:
        return f"Coordinate({self.joint!r}, {self.value.shape} tasks)"
