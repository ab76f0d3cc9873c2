"""The distance of two points must have a value, or be in a range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    importance,
    outside,
    range_bounds,
)
from linkwise.solve.validation import FARTHEST, link_given, numbers_between, points, settle
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, greatest, root
from linkwise.spatial.validation import shaped

#: Points nearer than this, m, have no direction between them.
NEAREST = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Distance(Constraint):
    """The distance between a point of a link and a point of another link, or of the world.

    Parameters
    ----------
    link, other : int or str
        ``"tool"``, or a link by name or index (-1 the last); ``"world"`` as the other for a point at rest.
    value : float, optional
        The distance, m; left out for a range.
    lower, upper : float, optional
        The range, m.
    point, other_point : (3,) array_like
        The points, in the frames of their links, m.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_3r()
    >>> solution = arm.solve(Distance("tool", "world", upper=0.5, other_point=[1.0, 1.5, 0.0]))
    >>> bool(np.linalg.norm(arm.forward_kinematics(solution.q)[:3, 3] - [1.0, 1.5, 0.0]) <= 0.5 + 1e-9)
    True
    """

    keyed: ClassVar[tuple[str, ...]] = ("link", "other", "point", "other_point", "ranged")
    link: int | str
    other: int | str
    point: FloatArray
    other_point: FloatArray
    bounds: FloatArray
    ranged: bool

    def __init__(
        self,
        link: int | str,
        other: int | str,
        value: npt.ArrayLike | None = None,
        *,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        other_point: npt.ArrayLike = (0.0, 0.0, 0.0),
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        ranged = lower is not None or upper is not None
        if ranged == (value is not None):
            raise ArgumentError("value, and lower and upper exclude each other; expected a distance or a range")
        if value is not None:
            numbers_between("value", value, f"distances (...) from 0 to {FARTHEST:g}, m", FARTHEST)
        first, second = (shaped(field, points(field, p), 3) for field, p in (("point", point), ("other_point", other_point)))
        settle(self, link=link_given(link), other=link_given(other), point=first, other_point=second, ranged=ranged)
        settle(self, bounds=range_bounds(lower, upper) if ranged else range_bounds(value, value))
        settle(self, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The bounds (..., 2)."""
        return self.bounds

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the links exist, and no link is taken for the world."""
        tree.frame(self.link)
        if self.other != "world":
            tree.frame(self.other)
        if "world" in (self.link, self.other) and "world" in tree.link_names:
            raise ArgumentError(
                f"Distance: 'world' is a link of {tree.name!r}; expected its index, {tree.link_index('world')}"
            )

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """The distance that is lacking."""
        (first, rates), (second, others) = (self._moving(view, *end) for end in self._ends)
        away = first - second
        length = root(away @ away)
        slope = (away @ (rates - others)) * (1.0 / greatest(length, NEAREST))
        if self.ranged:
            return ConstraintEquations.between(np.array([length]), slope[None], (p[:1], p[1:]), (False,))
        return ConstraintEquations(np.array([p[0] - length]), slope[None], (False,))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Square of the distance's residual."""
        first, second = (self._place(view, *end) for end in self._ends)
        away = first - second
        lacking = outside(root(away @ away), p[0], p[1])
        return lacking * lacking, 0.0

    @property
    def _ends(self) -> tuple[tuple[int | str, FloatArray], tuple[int | str, FloatArray]]:
        return (self.link, self.point), (self.other, self.other_point)

    @staticmethod
    def _place(view: Configuration, link: int | str, point: FloatArray) -> Array:
        if link == "world":
            return point
        pose = view.pose(link)
        return np.asarray(pose[:3, 3] + pose[:3, :3] @ point)

    def _moving(self, view: Configuration, link: int | str, point: FloatArray) -> tuple[Array, Array]:
        """Position (3,) and Jacobian (3, nv) of a point."""
        if link == "world":
            return point, np.zeros((3, view.tree.nv))
        jac, arm = view.jacobian(link), view.pose(link)[:3, :3] @ point
        return self._place(view, link, point), jac[:3] + np.stack([cross(column, arm) for column in jac[3:].T], axis=1)
