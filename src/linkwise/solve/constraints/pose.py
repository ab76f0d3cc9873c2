"""A frame of a link must come to a pose, to a position, to an orientation, or to a part of these."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.jacobian import check_frame
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    angle_bound,
    importance,
    outside,
    range_bounds,
    squared,
    with_bound,
)
from linkwise.solve.validation import FARTHEST, points, settle
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, greatest, root, select
from linkwise.spatial.validation import RIGID, mask_of, numbers, rigid_poses, shaped

#: Poses whose `defects` are no greater are used unchanged; the rotations of others are orthonormalized.
EXACT = 1e-26

#: Below this value of 1 + trace the axis of a rotation is undetermined: it counts as half a turn about every axis.
HALF_TURN = 1e-6

#: Each component of such a rotation: never zero, so that no opposite orientation counts as a solution.
ANY_AXIS = 2.0 / np.sqrt(3.0)


@dataclass(frozen=True, eq=False, repr=False)
class Pose(Constraint):
    """The frame of a link is at the pose T, in the selected axes.

    Parameters
    ----------
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    T : (..., 4, 4) array_like
        The pose, world frame, m.
    mask : (6,) array_like, optional
        1 for what counts, 0 for what is left free: x, y, z, rotation about x, y, z. All count by default.
    frame : {"world", "body"}
        In whose axes the mask is meant: the world's, or those of the frame that is brought to the pose.
    at : (4, 4) array_like, optional
        T_link_frame: another frame on the link, to be brought to the pose in the place of the link's own.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> Pose("link3", np.eye(4), mask=[1, 1, 0, 0, 0, 1]).mask
    (True, True, False, False, False, True)
    """

    keyed: ClassVar[tuple[str, ...]] = ("link", "mask", "frame", "at")
    link: int | str
    T: FloatArray
    mask: tuple[bool, ...]
    frame: str
    at: FloatArray | None

    def __init__(
        self,
        link: int | str,
        T: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        frame: str = "world",
        *,
        at: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        check_frame(frame)
        settle(self, link=link, T=exact_poses(T), mask=mask_of(mask), frame=frame, at=None if at is None else _frame(at))
        settle(self, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The pose, row by row (..., 16)."""
        return self.T.reshape(*self.T.shape[:-2], 16)

    def kind(self) -> Pose:
        """The same for one pose."""
        constraint = copy(self)
        object.__setattr__(constraint, "T", np.eye(4))
        return constraint

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the link exists."""
        tree.frame(self.link)

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Way and turn that are left, in the axes of the mask; the turn as 2 sin(t/2) times its axis, for an angle t.

        With the whole turn asked for its slope is that of 4 (1 - cos(t/2)), so the Jacobian stands for the derivative. With
        a part of it the derivative is taken: the turn's unit quaternion (w, v) changes by -(w o + v x o)/2 in v, for an
        angular velocity o in the world's axes, and by -(w o - v x o)/2 for one in the body's.
        """
        shift, turn, w = self._left(view, p)
        jac = view.jacobian(self.link)
        if self.at is not None:
            arm = view.pose(self.link)[:3, :3] @ self.at[:3, 3]
            jac = np.concatenate([jac[:3] - _crossed(arm, jac[3:]), jac[3:]])
        if self.frame == "body":
            r = self._reached(view)[:3, :3]
            jac = np.concatenate([r.T @ jac[:3], r.T @ jac[3:]])
            jac = np.concatenate([jac[:3] - _crossed(shift, jac[3:]), jac[3:]])
        sign = 0.5 if self.frame == "world" else -0.5
        exact = np.concatenate([jac[:3], w * jac[3:] + sign * _crossed(turn, jac[3:])])
        rows = np.array(self.mask)
        angles = tuple(k >= 3 for k in range(6) if self.mask[k])
        rates = jac if all(self.mask[3:]) else exact
        return ConstraintEquations(np.concatenate([shift, turn])[rows], rates[rows], angles, exact[rows])

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Squares of the distance and of the angle, over the axes that count."""
        shift, turn, w = self._left(view, p)
        counts = np.array(self.mask)
        distance = squared(shift[counts[:3]])
        if not counts[3:].any():
            return distance, 0.0
        if counts[3:].all():
            angle = self._angle(view, p, w)
            return distance, angle * angle
        sine = 0.5 * root(squared(turn))
        ratio = select(sine, atan2(sine, w) / greatest(sine, 1e-300), 1.0)
        return distance, select(4.0 * w * w - HALF_TURN, squared(turn[counts[3:]] * ratio), np.pi**2)

    def _angle(self, view: Configuration, p: Array, w: Any) -> Any:
        """Total remaining angle, whose half has the cosine w."""
        gap = (self._reached(view)[:3, :3] - _target(p)[:3, :3]).ravel()
        return 2.0 * atan2(root(squared(gap)) * (0.5 / np.sqrt(2.0)), w)

    def _reached(self, view: Configuration) -> Array:
        """The pose (4, 4) of the frame that is to come to T."""
        pose = view.pose(self.link)
        return pose if self.at is None else np.asarray(pose @ self.at)

    def _left(self, view: Configuration, p: Array) -> tuple[Array, Array, Any]:
        """Remaining displacement (3,), rotation (3,) as 2 sin(t/2) times its axis, and cos(t/2)."""
        reached, wanted = self._reached(view), _target(p)
        r, s = reached[:3, :3], wanted[:3, :3]
        shift = wanted[:3, 3] - reached[:3, 3]
        left = s @ r.T if self.frame == "world" else r.T @ s
        if self.frame == "body":
            shift = r.T @ shift
        square = 1.0 + left[0, 0] + left[1, 1] + left[2, 2]
        w = 0.5 * root(greatest(square, 1e-8))
        sines = np.array([left[2, 1] - left[1, 2], left[0, 2] - left[2, 0], left[1, 0] - left[0, 1]]) * (0.5 / w)
        return shift, np.array([select(square - HALF_TURN, sine, ANY_AXIS) for sine in sines]), w


class Position(Pose):
    """A point of a link, or the tool's origin, is at the point p, or within a box.

    Parameters
    ----------
    link : int or str
        The frame: ``"tool"``, or a link by name or index.
    p : (..., 3) array_like, optional
        Where, world frame, m; left out for a box.
    mask : (3,) array_like, optional
        1 for what counts of x, y, z.
    point : (3,) array_like, optional
        The point of the link, in its frame, m; its origin where it is left out.
    lower, upper : (..., 3) array_like, optional
        The box, world frame, m, infinite where it is open: in the place of p.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> Position("tool", [1.0, 0.5, 0.0], mask=[1, 1, 0], point=[0.0, 0.0, 0.1]).mask
    (True, True, False, False, False, False)
    >>> from linkwise import robots
    >>> arm = robots.planar_3r()
    >>> box = Position("tool", lower=[1.0, 0.5, -np.inf], upper=[1.5, 0.7, np.inf])
    >>> arm.solve([box, Position("tool", [0.0, 0.0, 0.0], weight=1.0)]).levels.round(6).tolist()
    [0.0, 0.745356]
    """

    box: FloatArray | None

    def __init__(
        self,
        link: int | str,
        p: npt.ArrayLike | None = None,
        mask: npt.ArrayLike | None = None,
        *,
        point: npt.ArrayLike | None = None,
        lower: npt.ArrayLike | None = None,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        if (p is None) == (lower is None and upper is None) or (p is None and mask is not None):
            raise ArgumentError("p, with a mask, and lower and upper exclude each other; expected a point or a box")
        settle(self, box=None if p is not None else range_bounds(lower, upper, 3))
        wanted = points("p", np.zeros(3) if p is None else p)
        poses = np.tile(np.eye(4), (*wanted.shape[:-1], 1, 1))
        poses[..., :3, 3] = wanted
        at = None
        if point is not None:
            at = np.eye(4)
            at[:3, 3] = shaped("point", points("point", point), 3)
        which = [*_part("mask", mask, "x, y, z"), 0, 0, 0]
        super().__init__(link, poses, mask=which, at=at, weight=weight, priority=priority)

    @property
    def numbers(self) -> FloatArray:
        """The pose (..., 16), or the box (..., 6)."""
        return super().numbers if self.box is None else self.box

    def kind(self) -> Position:
        """The same for one task."""
        constraint = copy(super().kind())
        object.__setattr__(constraint, "box", None if self.box is None else np.zeros(6))
        return constraint  # type: ignore[return-value]  # (a copy of this)

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Remaining displacement to the point or box."""
        if self.box is None:
            return super().equations(view, p)
        rates = super().equations(view, np.eye(4).ravel()).rates
        return ConstraintEquations.between(self._reached(view)[:3, 3], rates, (p[:3], p[3:]), (False,) * 3)

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """The square of the distance from the point, or from the box."""
        if self.box is None:
            return super().errors(view, p)
        here = self._reached(view)[:3, 3]
        return squared(np.array([outside(x, a, b) for x, a, b in zip(here, p[:3], p[3:], strict=True)])), 0.0


class Orientation(Pose):
    """A link's frame, or the tool's, has the rotation R (..., 3, 3), world frame, or differs by at most an angle.

    Parameters
    ----------
    link : int or str
        The frame: ``"tool"``, or a link by name or index.
    R : (..., 3, 3) array_like
        The rotation R_world_link.
    mask : (3,) array_like, optional
        1 for what counts of the turns about x, y, z.
    frame : {"world", "body"}
        In whose axes the mask is meant.
    upper : (...) array_like, optional
        How far it may be turned from R, about any axis, rad.
    weight, priority
        See `Constraint`.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Orientation, robots
    >>> found = robots.planar_2r().solve(Orientation("tool", np.eye(3)), q0=[0.3, 0.2])
    >>> found.success, bool(abs(found.q.sum()) < 1e-9)
    (True, True)
    """

    upper: FloatArray | None

    def __init__(
        self,
        link: int | str,
        R: npt.ArrayLike,
        mask: npt.ArrayLike | None = None,
        frame: str = "world",
        *,
        upper: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        priority: int | None = None,
    ) -> None:
        turn = shaped("R", R, ..., 3, 3, expected="rotations (..., 3, 3)")
        defect = np.abs(np.swapaxes(turn, -1, -2) @ turn - np.eye(3)).max(axis=(-2, -1), initial=0.0)
        wrong = (defect > RIGID) | (np.linalg.det(turn) <= 0)
        if wrong.any():
            first = turn.reshape(-1, 3, 3)[int(np.argmax(wrong))]
            raise ArgumentError(f"R is {shown(first.tolist())}; expected rotations: orthonormal, right-handed")
        poses = np.tile(np.eye(4), (*turn.shape[:-2], 1, 1))
        poses[..., :3, :3] = turn
        which = [0, 0, 0, *_part("mask", mask, "about x, y, z")]
        settle(self, upper=None if upper is None else angle_bound(upper))
        if upper is not None and not all(which[3:]):
            raise ArgumentError(f"mask is {shown(mask)}; expected none beside upper, which bounds the whole turn")
        super().__init__(link, poses, mask=which, frame=frame, weight=weight, priority=priority)

    @property
    def numbers(self) -> FloatArray:
        """Pose, and the angle if there is one (..., 16) or (..., 17)."""
        return super().numbers if self.upper is None else with_bound(super().numbers, self.upper)

    def kind(self) -> Orientation:
        """The same for one task."""
        constraint = copy(super().kind())
        object.__setattr__(constraint, "upper", None if self.upper is None else np.zeros(()))
        return constraint  # type: ignore[return-value]  # (a copy of this)

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Remaining rotation, or the excess of its angle."""
        if self.upper is None:
            return super().equations(view, p)
        part = super().equations(view, p[:16])
        half = 0.5 * root(squared(part.residual))
        axis = part.residual * (0.5 / greatest(half, 1e-300))
        angle = 2.0 * atan2(half, self._left(view, p[:16])[2])
        return ConstraintEquations.between(np.array([angle]), -(axis @ part.rates)[None], ([-FARTHEST], p[16:]), (True,))

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Square of the angle, or of its excess."""
        if self.upper is None:
            return super().errors(view, p)
        excess = outside(self._angle(view, p[:16], self._left(view, p[:16])[2]), -FARTHEST, p[16])
        return 0.0, excess * excess


def exact_poses(T: npt.ArrayLike) -> FloatArray:
    """Poses (..., 4, 4): those that are exact to rounding as they are, the others with the nearest exact rotation."""
    poses = rigid_poses("T", T)
    if np.abs(poses[..., :3, 3]).max(initial=0.0) > FARTHEST:
        raise ArgumentError(
            f"T has the position {np.abs(poses[..., :3, 3]).max():g} m; expected positions up to {FARTHEST:g} m"
        )
    repair = np.asarray(defects(poses.reshape(*poses.shape[:-2], 16)) > EXACT)
    if repair.any():
        exact = quaternion_rotation(np.moveaxis(rotation_quaternion(poses[repair, :3, :3]), -1, 0))
        poses[repair, :3, :3] = np.moveaxis(exact, (0, 1), (-2, -1))
    return poses


def defects(numbers: FloatArray) -> Any:
    """Deviation of numbers (..., 16) from a pose: sum of squares that should be zero, plus 1 beyond the tolerance."""
    return _defect()(numbers)


@cache
def _defect() -> Any:
    def defect(p: Array) -> Any:
        t = p.reshape(4, 4)
        gaps = (t[:3, :3] @ t[:3, :3].T - np.eye(3)).ravel()
        handed = cross(t[0, :3], t[1, :3]) @ t[2, :3] - 1.0
        far = select(t[:3, 3] @ t[:3, 3] - FARTHEST**2, 1.0, 0.0)
        return gaps @ gaps + handed * handed + t[3, :3] @ t[3, :3] + (t[3, 3] - 1.0) * (t[3, 3] - 1.0) + far

    kernel = Kernel(trace(defect, "pose_defect", {"T": (16,)}, {"defect": ()}))
    return kernel.entry(kernel) or kernel


def _part(field: str, mask: npt.ArrayLike | None, axes: str) -> list[float]:
    if mask is None:
        return [1.0, 1.0, 1.0]
    values = numbers(field, mask, f"three of 0 or 1: {axes}")
    if values.shape != (3,) or not np.isin(values, (0.0, 1.0)).all() or not values.any():
        raise ArgumentError(f"{field} is {shown(mask)}; expected three of 0 or 1, not all 0: {axes}")
    return [float(value) for value in values]


def _target(p: Array) -> Array:
    return np.asarray(p).reshape(4, 4)


def _crossed(vector: Array, columns: Array) -> Array:
    """The cross products of a vector (3,) with each column of (3, n)."""
    return np.stack([cross(vector, column) for column in columns.T], axis=1) if columns.shape[1] else columns


def _frame(at: npt.ArrayLike) -> FloatArray:
    """The frame on a link: one for all tasks."""
    return exact_poses(shaped("at", rigid_poses("at", at), 4, 4))
