"""All joint coordinates near a posture, or away from their limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.constraints.constraint import (
    Configuration,
    Constraint,
    ConstraintEquations,
    importance,
    squared,
)
from linkwise.solve.validation import FARTHEST, numbers_between, settle
from linkwise.spatial.quaternion import LEAST, quaternion_product, quaternion_rotation, unit_quaternion
from linkwise.spatial.rotation import skew
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.validation import numbers


class JointRows(Constraint):
    """Equations of several joint coordinates, one each."""

    def joints(self, tree: Tree) -> list[int]:
        """Indices of the constrained joints."""
        return list(range(tree.n))

    def counted(self, tree: Tree) -> tuple[int, ...]:
        """Their whole turns count."""
        return tuple(self.joints(tree))

    def _rows(self, tree: Tree) -> tuple[Array, tuple[bool, ...]]:
        """Derivative of the coordinates (k, nv), and the mask of angles."""
        joints, is_length = self.joints(tree), tree.is_length
        return np.eye(tree.nv)[[tree.nv - tree.n + k for k in joints]], tuple(not is_length[k] for k in joints)

    def errors(self, view: Configuration, p: Array) -> tuple[Any, Any]:
        """Squared residuals of sliding joints, and of revolute ones."""
        part = self.equations(view, p)
        pairs = list(zip(part.residual, part.angles, strict=True))
        far, turned = (squared(np.array([value for value, angle in pairs if angle is kind])) for kind in (False, True))
        return far, turned


@dataclass(frozen=True, eq=False, repr=False)
class Posture(JointRows):
    """All joint coordinates are near those of a posture.

    Parameters
    ----------
    q : (..., n) or (..., nq) array_like
        The posture, rad or m; with nq numbers the quaternions of ball joints, and the places and quaternions of floating
        joints, count too, by twice the sine of half the angle. Of a floating base only the joints count.
    weight, priority
        See `Constraint`; a weight of 1 by default.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import Position, robots
    >>> arm = robots.planar_3r()
    >>> near = arm.solve([Position("tool", [1.5, 1.0, 0.0], mask=[1, 1, 0]), Posture([0.0, 0.5, 0.5])])
    >>> near.success, near.q.round(3).tolist()
    (True, [-0.474, 0.988, 1.321])
    """

    keyed: ClassVar[tuple[str, ...]] = ()
    q: FloatArray

    def __init__(self, q: npt.ArrayLike, *, weight: npt.ArrayLike | None = 1.0, priority: int | None = None) -> None:
        values = numbers("q", q, "joint coordinates (..., n), rad or m")
        if not values.ndim or np.abs(values).max(initial=0.0) > FARTHEST:
            raise ArgumentError(f"q is {shown(q)}; expected joint coordinates (..., n), rad or m")
        settle(self, q=values, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The coordinates (..., n) or (..., nq)."""
        return self.q

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless there are as many joint coordinates."""
        if self.q.shape[-1] not in (tree.n, tree.nq):
            raise ArgumentError(f"Posture: q has the shape {self.q.shape}; expected (..., {tree.n}) or (..., {tree.nq})")
        for at in self._turning(tree, self.q.shape[-1]):
            shortest = np.linalg.norm(self.q[..., at.q][..., at.joint.quaternion], axis=-1).min(initial=1.0)
            if shortest < LEAST:
                raise ArgumentError(f"Posture: the quaternion of {at.name!r} has the length {shortest:g}; expected 1")

    def is_of_arrays(self, tree: Tree) -> bool:
        """Unless quaternions count."""
        return not self._turning(tree, self.q.shape[-1])

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Residual of each coordinate; of a quaternion twice the vector part of the remaining rotation."""
        tree, numbers = view.tree, np.asarray(p)
        rates, angles = self._rows(tree)
        residuals, slopes = [numbers[len(p) - tree.n :] - view.q[tree.nq - tree.n :]], [rates]
        for at in self._turning(tree, len(p)):
            here, wanted, place = view.q[at.q], numbers[at.q], at.joint.quaternion
            w, *v = quaternion_product(unit_quaternion(here[place]) * [1, -1, -1, -1], unit_quaternion(wanted[place]))
            side = select(-w, -1.0, 1.0)
            rows = np.zeros((3, tree.nv), dtype=object)
            rows[:, at.v.stop - 3 : at.v.stop] = side * (w * np.eye(3) - skew(v))
            if at.joint.nq > 4:
                shifts = np.zeros((3, tree.nv), dtype=object)
                shifts[:, at.v.start : at.v.start + 3] = quaternion_rotation(here[place])
                residuals.append(wanted[:3] - here[:3])
                slopes.append(shifts)
                angles = (*angles, *(False,) * 3)
            residuals.append(2.0 * side * np.array(v, dtype=object))
            slopes.append(rows)
            angles = (*angles, *(True,) * 3)
        return ConstraintEquations(np.concatenate(residuals), np.concatenate(slopes), angles)

    @staticmethod
    def _turning(tree: Tree, size: int) -> list[ManifoldJoint]:
        """The joints with quaternions that numbers of this size hold."""
        return [at for at in tree.manifold_joints if at.link >= 0] if size == tree.nq else []


@dataclass(frozen=True, eq=False, repr=False)
class LimitMargin(JointRows):
    """All joints that have two limits keep a share of their range as distance.

    Parameters
    ----------
    share : (...) array_like
        From 0 to 0.5, the middle of the range.
    weight, priority
        See `Constraint`; a weight of 1 by default.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import Pose, robots
    >>> arm = robots.panda()
    >>> q0 = [0.1, -0.5, 0.2, -2.9, 0.3, 1.6, 0.7]
    >>> solution = arm.solve([Pose("tool", arm.forward_kinematics(q0)), LimitMargin(0.1)], q0=q0)
    >>> solution.holds.tolist(), round(float(solution.q[3]), 2)
    ([True, False], -2.78)
    """

    keyed: ClassVar[tuple[str, ...]] = ()
    share: FloatArray

    def __init__(self, share: npt.ArrayLike, *, weight: npt.ArrayLike | None = 1.0, priority: int | None = None) -> None:
        values = numbers_between("share", share, "numbers (...) from 0 to 0.5", 0.5)
        settle(self, share=values, **importance(weight, priority))

    @property
    def numbers(self) -> FloatArray:
        """The share (..., 1)."""
        return self.share[..., None]

    def joints(self, tree: Tree) -> list[int]:
        """Indices of the joints with two limits."""
        return [int(k) for k in np.flatnonzero(np.isfinite(tree.q_min) & np.isfinite(tree.q_max))]

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless a joint has two limits."""
        if not self.joints(tree):
            raise ArgumentError(f"LimitMargin: no joint of {tree.name!r} has two limits; expected one at least")

    def equations(self, view: Configuration, p: Array) -> ConstraintEquations:
        """Deficit of each distance from a limit."""
        tree, joints = view.tree, self.joints(view.tree)
        rates, angles = self._rows(tree)
        low, high = tree.q_min[joints], tree.q_max[joints]
        keep = p[0] * (high - low)
        return ConstraintEquations.between(view.q[tree.nq - tree.n :][joints], rates, (low + keep, high - keep), angles)
