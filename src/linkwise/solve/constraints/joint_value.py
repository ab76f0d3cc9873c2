"""A joint coordinate must have a value."""

from __future__ import annotations

from abc import abstractmethod
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
from linkwise.solve.validation import FARTHEST, joint_given, joint_index, numbers_between, settle
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.validation import common_batch


def _numbers(field: str, value: npt.ArrayLike, expected: str) -> FloatArray:
    return numbers_between(field, value, f"{expected} from {-FARTHEST:g} to {FARTHEST:g}", FARTHEST, -FARTHEST)


class JointEquation(Constraint):
    """One linear equation of joint coordinates, the first of which is constrained."""

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual of the first coordinate."""
        tree, joints = view.tree, self.counted(view.tree)
        rates = blank(1, tree.nv)
        for joint, slope in zip(joints, self._slopes(p), strict=True):
            rates[0, tree.nv - tree.n + joint] = slope
        return ConstraintEquations(np.array([self._residual(view, p)]), rates, (not tree.is_length[joints[0]],))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """The square of the difference: as a distance where the joint slides, else as an angle."""
        left = self._residual(view, p)
        return (left * left, 0.0) if view.tree.is_length[self.counted(view.tree)[0]] else (0.0, left * left)

    @abstractmethod
    def _residual(self, view: Configuration, p: Array) -> Any:
        """Residual of the first coordinate, rad or m."""

    @abstractmethod
    def _slopes(self, p: Array) -> tuple[Any, ...]:
        """Coefficients of the coordinates in the residual."""


@dataclass(frozen=True, eq=False, repr=False)
class Coordinate(JointEquation):
    """A joint coordinate has a value, or one in a range: the value itself, not one a whole turn away.

    Parameters
    ----------
    joint : int or str
        Which: a name of `Mechanism.names`, or an index among them. A joint that follows another by its description has no
        coordinate of its own.
    value : (...) array_like, optional
        rad, or m where the joint slides. A value outside the joint's limits is never reached.
    lower, upper : (...) array_like, optional
        The range, in the place of a value; infinite where it is open.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import Position, solve
    >>> arm = robots.planar_3r()
    >>> found = solve(arm, [Position("tool", [1.0, 1.5, 0.0], mask=[1, 1, 0]), Coordinate(2, 0.5)])
    >>> found.success, round(float(found.q[2]), 9)
    (True, 0.5)
    """

    keyed: ClassVar[tuple[str, ...]] = ("joint",)
    joint: int | str
    value: FloatArray
    bounds: FloatArray | None

    def __init__(
        self,
        joint: int | str,
        value: npt.ArrayLike | None = None,
        *,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        if (value is None) == (lower is None and upper is None):
            raise ArgumentError("value, and lower and upper exclude each other; expected a value or a range")
        settle(self, bounds=None if value is not None else range_bounds(lower, upper), **importance(weight, priority))
        values = _numbers("value", 0.0 if value is None else value, "numbers (...), rad or m,")
        settle(self, joint=joint_given("joint", joint), value=values)

    @property
    def numbers(self) -> FloatArray:
        """The value (..., 1), or the bounds (..., 2)."""
        return self.value[..., None] if self.bounds is None else self.bounds

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the joint exists."""
        self.counted(tree)

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """The joint: its whole turns count."""
        return (joint_index(tree, "joint", self.joint),)

    def is_of_arrays(self, tree: Tree) -> bool:
        """Unless it has a range."""
        return self.bounds is None

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual of the coordinate."""
        part = super().equations(view, p)
        if self.bounds is None:
            return part
        value = view.q[view.tree.nq - view.tree.n + self.counted(view.tree)[0]]
        return ConstraintEquations.between(np.array([value]), part.rates, (p[:1], p[1:]), part.angles)

    def _residual(self, view: Configuration, p: Array) -> Any:
        value = view.q[view.tree.nq - view.tree.n + self.counted(view.tree)[0]]
        return p[0] - value if self.bounds is None else outside(value, p[0], p[1])

    def _slopes(self, p: Array) -> tuple[Any, ...]:
        return (1.0,)


@dataclass(frozen=True, eq=False, repr=False)
class Follows(JointEquation):
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
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import Position, solve
    >>> arm = robots.planar_3r()
    >>> found = solve(arm, [Position("tool", [1.0, 1.5, 0.0], mask=[1, 1, 0]), Follows(2, 1, ratio=0.5, offset=0.1)])
    >>> found.success, round(float(found.q[2] - 0.5 * found.q[1]), 9)
    (True, 0.1)
    """

    keyed: ClassVar[tuple[str, ...]] = ("joint", "leader")
    joint: int | str
    leader: int | str
    ratio: FloatArray
    offset: FloatArray

    def __init__(
        self,
        joint: int | str,
        leader: int | str,
        ratio: npt.ArrayLike = 1.0,
        offset: npt.ArrayLike = 0.0,
        *,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        settle(self, **importance(weight, priority))
        fields = {field: _numbers(field, value, "numbers (...)") for field, value in (("ratio", ratio), ("offset", offset))}
        common_batch(ratio=fields["ratio"].shape, offset=fields["offset"].shape)
        settle(self, joint=joint_given("joint", joint), leader=joint_given("leader", leader), **fields)

    @property
    def numbers(self) -> FloatArray:
        """Ratio and offset (..., 2)."""
        return np.stack(np.broadcast_arrays(self.ratio, self.offset), axis=-1)

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless both joints exist and differ."""
        follower, leader = self.counted(tree)
        if follower == leader:
            raise ArgumentError(f"joint and leader are both {tree.names[leader]!r}; expected two joint coordinates")

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """Both joints: their full turns matter."""
        return joint_index(tree, "joint", self.joint), joint_index(tree, "leader", self.leader)

    def _residual(self, view: Configuration, p: Array) -> Any:
        follower, leader = (view.tree.nq - view.tree.n + i for i in self.counted(view.tree))
        return p[0] * view.q[leader] + p[1] - view.q[follower]

    def _slopes(self, p: Array) -> tuple[Any, ...]:
        return 1.0, -p[0]
