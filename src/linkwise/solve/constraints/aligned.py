"""An axis of a link must point along a direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Constraint, Equations, View
from linkwise.solve.constraints.facing import angle_to, basis, facing
from linkwise.solve.constraints.given import directions, link_given, one, settle, words
from linkwise.spatial.scalar import Array, FloatArray, select


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(Constraint):
    """An axis of a link points along a direction; the turn about it, and the position, are left free.

    The error is the angle between the two, from 0 to pi: an axis that points the opposite way is as wrong as can be, unless
    `either_way` says that only the line counts.

    Parameters
    ----------
    link : int or str
        Whose axis: -1 the tool, else as in `Mechanism.forward_kinematics`.
    axis : (3,) array_like
        The axis, in the link's frame; of any length but zero.
    direction : (..., 3) array_like
        Where it points, world frame; of any length but zero.
    either_way : bool
        Whether an axis along the opposite direction is as good.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import solve
    >>> arm = robots.puma560()
    >>> found = solve(arm, Aligned(-1, [0, 0, 1], [0, 0, -1]))
    >>> found.success, arm.forward_kinematics(found.q)[:3, 2].round(6).tolist()
    (True, [0.0, 0.0, -1.0])
    """

    link: int | str
    axis: FloatArray
    direction: FloatArray
    either_way: bool

    def __init__(self, link: int | str, axis: npt.ArrayLike, direction: npt.ArrayLike, *, either_way: bool = False) -> None:
        if not isinstance(either_way, (bool, np.bool_)):
            raise ArgumentError(f"either_way is {shown(either_way)}; expected True or False")
        unit = one("axis", directions("axis", axis))
        settle(self, link=link_given(link), axis=unit, direction=directions("direction", direction))
        settle(self, either_way=bool(either_way))

    @property
    def numbers(self) -> FloatArray:
        """The direction, as a unit vector (..., 3)."""
        return self.direction

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not a number."""
        return (Aligned, self.link, words(self.axis), self.either_way)

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the link is there."""
        tree.link_index(self.link)

    def equations(self, view: View, p: Array) -> Equations:
        """Two equations: see `linkwise.solve.constraints.facing`."""
        rotation, u = self._seen(view, p)
        residual, rates = facing(u, rotation.T @ view.jacobian(self.link)[3:])
        return Equations(residual, rates, (True, True))

    def errors(self, view: View, p: Array) -> tuple[Any, Any]:
        """No distance; the square of the angle."""
        angle = angle_to(self._seen(view, p)[1])
        return 0.0, angle * angle

    def _seen(self, view: View, p: Array) -> tuple[Array, Array]:
        """A rotation (3, 3) with the axis as its z, and the direction (3,) in its axes; the nearer way of two."""
        rotation = view.pose(self.link)[:3, :3] @ basis(self.axis)
        u = rotation.T @ np.asarray(p)
        return rotation, u * select(u[2], 1.0, -1.0) if self.either_way else u

    def __repr__(self) -> str:
        which = ", either_way=True" if self.either_way else ""
        return f"Aligned(link={self.link!r}, axis={self.axis.tolist()}, {self.direction.shape[:-1]} tasks{which})"
