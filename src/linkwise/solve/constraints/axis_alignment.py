"""An axis of a link must point along a direction."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    angle_bound,
    importance,
    outside,
    with_bound,
)
from linkwise.solve.validation import FARTHEST, directions, link_given, points, settle
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, greatest, root, select
from linkwise.spatial.validation import flag, shaped
from linkwise.spatial.vector import chosen

#: Below this cosine of half the angle the shorter direction is undetermined: all take the same one.
OPPOSED = 1e-4


def facing(u: Array, turning: Array) -> tuple[Array, Array]:
    """Residual of the alignment of a frame's z axis with u, and its derivative.

    With t the angle between z and u, the residual is 4 sin(t/4) times the direction in which the tip of z must move. It
    grows all the way to t = pi, where an axis points the opposite way. The rates are cos(t/4) times those of the rotation,
    so that their slope is exactly that of half the squared residual, 8 sin(t/4)^2, whose derivative in t is 2 sin(t/2).

    Parameters
    ----------
    u : ndarray (3,)
        Unit vector in the axes of the frame, scalars.
    turning : ndarray (3, nv)
        Angular velocity of the frame against u, in the axes of the frame, per speed.

    Returns
    -------
    residual : ndarray (2,)
        rad.
    rates : ndarray (2, nv)
        Of rotation about y, which moves the tip of z along x, and about -x, which moves it along y.
    """
    square = 0.5 * (1.0 + u[2])
    near = square - OPPOSED * OPPOSED
    half = root(select(near, square, OPPOSED * OPPOSED))
    quarter = root(0.5 * (1.0 + half))
    scale = 1.0 / (half * quarter)
    residual = np.array([select(near, u[0] * scale, 2.0 * np.sqrt(2.0)), select(near, u[1] * scale, 0.0)])
    return residual, np.array([turning[1] * quarter, -turning[0] * quarter])


def cone(u: Array, turning: Array, upper: Any) -> ConstraintEquations:
    """One equation: the angle between z and u is at most a bound; arguments as for `facing`.

    Opposite to u, where no way is shorter, z turns along x.
    """
    across = root(u[0] * u[0] + u[1] * u[1])
    scale = 1.0 / greatest(across, 1e-300)
    x, y = select(across - OPPOSED * OPPOSED, u[0] * scale, 1.0), select(across - OPPOSED * OPPOSED, u[1] * scale, 0.0)
    rates = y * turning[0] - x * turning[1]
    return ConstraintEquations.between(np.array([angle_to(u)]), rates[None], ([-FARTHEST], [upper]), (True,))


def angle_to(u: Array) -> Any:
    """The angle between z and a vector u (3,), from 0 to pi, rad."""
    return atan2(root(u[0] * u[0] + u[1] * u[1]), u[2])


def basis(axis: FloatArray) -> FloatArray:
    """Rotation (3, 3) whose z axis is the given unit vector.

    Examples
    --------
    >>> basis(np.array([1.0, 0.0, 0.0]))
    array([[0., 0., 1.],
           [1., 0., 0.],
           [0., 1., 0.]])
    """
    aside = np.eye(3)[(int(np.argmax(np.abs(axis))) + 1) % 3]
    x = aside - axis * (aside @ axis)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1) + 0.0


class AxisConstraint(Constraint):
    """Base of constraints on an axis of a link: the angle between it and a direction, and an upper bound."""

    link: int | str
    axis: FloatArray
    upper: FloatArray | None

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the link exists."""
        tree.frame(self.link)

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Two equations, or one of a cone: see `linkwise.solve.constraints.axis_alignment`."""
        u, turning = self._turning(view, p[:3])
        if self.upper is not None:
            return cone(u, turning, p[3])
        residual, rates = facing(u, turning)
        return ConstraintEquations(residual, rates, (True, True))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Zero distance, and the square of the angle, or of its excess."""
        angle = angle_to(self._axis_view(view, p[:3])[1])
        angle = angle if self.upper is None else outside(angle, -FARTHEST, p[3])
        return 0.0, angle * angle

    @abstractmethod
    def _axis_view(self, view: Configuration, p: Array) -> tuple[Array, ...]:
        """Rotation (3, 3) with the axis as its z; unit direction (3,) in its axes; further values of the subclass."""

    @abstractmethod
    def _turning(self, view: Configuration, p: Array) -> tuple[Array, Array]:
        """The direction, and the angular velocity (3, nv) of that rotation against it, in its axes."""


@dataclass(frozen=True, eq=False, repr=False)
class Aligned(AxisConstraint):
    """An axis of a link points along a direction; the turn about it, and the position, are left free.

    The error is the angle between the two, from 0 to pi: an axis that points the opposite way is as wrong as can be, unless
    `either_way` says that only the line counts.

    Parameters
    ----------
    link : int or str
        Link whose axis is meant: ``"tool"``, or by name or index, as in `Mechanism.forward_kinematics`.
    axis : (3,) array_like
        The axis, in the link's frame; of any length but zero.
    direction : (..., 3) array_like
        Where it points, world frame; of any length but zero.
    either_way : bool
        Whether an axis along the opposite direction is as good.
    upper : (...) array_like, optional
        Half the opening of a cone about the direction, rad, in which the axis may be; 0 where it is left out.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import solve
    >>> arm = robots.puma560()
    >>> found = solve(arm, Aligned("tool", [0, 0, 1], [0, 0, -1]))
    >>> found.success, arm.forward_kinematics(found.q)[:3, 2].round(6).tolist()
    (True, [0.0, 0.0, -1.0])
    """

    keyed: ClassVar[tuple[str, ...]] = ("link", "axis", "either_way")
    link: int | str
    axis: FloatArray
    direction: FloatArray
    either_way: bool
    upper: FloatArray | None

    def __init__(
        self,
        link: int | str,
        axis: npt.ArrayLike,
        direction: npt.ArrayLike,
        *,
        either_way: bool = False,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        unit = shaped("axis", directions("axis", axis), 3)
        settle(self, link=link_given(link), axis=unit, direction=directions("direction", direction))
        settle(self, either_way=flag("either_way", either_way), upper=None if upper is None else angle_bound(upper))
        settle(self, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """Direction as unit vector (..., 3), and the bound if there is one (..., 4)."""
        return self.direction if self.upper is None else with_bound(self.direction, self.upper)

    def _turning(self, view: Configuration, p: Array) -> tuple[Array, Array]:
        rotation, u = self._axis_view(view, p)
        return u, rotation.T @ view.jacobian(self.link)[3:]

    def _axis_view(self, view: Configuration, p: Array) -> tuple[Array, Array]:
        """As in the base class; of two senses the nearer one."""
        rotation = view.pose(self.link)[:3, :3] @ basis(self.axis)
        u = rotation.T @ np.asarray(p)
        return rotation, u * select(u[2], 1.0, -1.0) if self.either_way else u


#: A target nearer to the eye than this, m, is not looked at, whatever the axis.
NEAREST = 1e-9

BEHIND = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, eq=False, repr=False)
class LookAt(AxisConstraint):
    """A ray on a link, from a point of it along an axis, passes through a target in the world.

    The error is the angle between the axis and the line of sight, from 0 to pi: a target behind is as wrong as can be, and
    so is one at the eye itself (within a nanometre), where there is no line of sight. How far the target is does not count.

    Parameters
    ----------
    link : int or str
        Link that looks: ``"tool"``, or by name or index, as in `Mechanism.forward_kinematics`.
    target : (..., 3) array_like
        The point to look at, world frame, m.
    axis : (3,) array_like
        Where the link looks, in its frame; of any length but zero.
    point : (3,) array_like
        From where, in its frame, m: the eye.
    upper : (...) array_like, optional
        Half the opening of the field of view, rad, in which the target may be; 0 where it is left out.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import solve
    >>> arm = robots.puma560()
    >>> found = solve(arm, LookAt("tool", [1.0, 1.0, 0.5]))
    >>> T = arm.forward_kinematics(found.q)
    >>> sight = np.array([1.0, 1.0, 0.5]) - T[:3, 3]
    >>> found.success, bool(T[:3, 2] @ sight > (1 - 1e-12) * np.linalg.norm(sight))
    (True, True)
    """

    keyed: ClassVar[tuple[str, ...]] = ("link", "axis", "point")
    link: int | str
    target: FloatArray
    axis: FloatArray
    point: FloatArray
    upper: FloatArray | None

    def __init__(
        self,
        link: int | str,
        target: npt.ArrayLike,
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
        *,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        unit, eye = shaped("axis", directions("axis", axis), 3), shaped("point", points("point", point), 3)
        settle(self, link=link_given(link), target=points("target", target), axis=unit, point=eye)
        settle(self, upper=None if upper is None else angle_bound(upper), **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """Target (..., 3), and the bound if there is one (..., 4)."""
        return self.target if self.upper is None else with_bound(self.target, self.upper)

    def _turning(self, view: Configuration, p: Array) -> tuple[Array, Array]:
        """With the length r of the line of sight u, -(w + u x v / r) for link velocity w and eye velocity v."""
        rotation, u, eye, r = self._axis_view(view, p)
        jac = view.jacobian(self.link)
        moving = rotation.T @ (jac[:3] + _crossed(jac[3:], eye))
        return u, rotation.T @ jac[3:] - _crossed(moving, u) * (1.0 / r)

    def _axis_view(self, view: Configuration, p: Array) -> tuple[Array, Array, Array, Any]:
        """As in the base class, plus the eye (3,) from the link, world axes, and the distance; a target at it is behind."""
        pose = view.pose(self.link)
        rotation, eye = pose[:3, :3] @ basis(self.axis), pose[:3, :3] @ self.point
        sight = rotation.T @ (np.asarray(p) - pose[:3, 3] - eye)
        square = sight @ sight
        apart = square - NEAREST * NEAREST
        r = root(select(apart, square, NEAREST * NEAREST))
        return rotation, chosen(apart, sight * (1.0 / r), BEHIND), eye, r


def _crossed(columns: Array, vector: Array) -> Array:
    """The cross products of each column of (3, nv) with a vector (3,)."""
    return np.stack([cross(column, vector) for column in columns.T], axis=1)
