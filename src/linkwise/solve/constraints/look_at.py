"""An axis of a link must point at a point of the world."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Constraint, Equations, View
from linkwise.solve.constraints.facing import angle_to, basis, facing
from linkwise.solve.constraints.given import directions, link_given, one, points, settle, words
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.vector import chosen

NEAREST = 1e-9
"""A target nearer to the eye than this, m, is not looked at, whatever the axis."""

BEHIND = np.array([0.0, 0.0, -1.0])


@dataclass(frozen=True, eq=False, repr=False)
class LookAt(Constraint):
    """A ray on a link, from a point of it along an axis, passes through a target in the world.

    The error is the angle between the axis and the line of sight, from 0 to pi: a target behind is as wrong as can be, and
    so is one at the eye itself (within a nanometre), where there is no line of sight. How far the target is does not count.

    Parameters
    ----------
    link : int or str
        What looks: -1 the tool, else as in `Mechanism.forward_kinematics`.
    target : (..., 3) array_like
        The point to look at, world frame, m.
    axis : (3,) array_like
        Where the link looks, in its frame; of any length but zero.
    point : (3,) array_like
        From where, in its frame, m: the eye.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import solve
    >>> arm = robots.puma560()
    >>> found = solve(arm, LookAt(-1, [1.0, 1.0, 0.5]))
    >>> T = arm.forward_kinematics(found.q)
    >>> sight = np.array([1.0, 1.0, 0.5]) - T[:3, 3]
    >>> found.success, bool(T[:3, 2] @ sight > (1 - 1e-12) * np.linalg.norm(sight))
    (True, True)
    """

    link: int | str
    target: FloatArray
    axis: FloatArray
    point: FloatArray

    def __init__(
        self,
        link: int | str,
        target: npt.ArrayLike,
        axis: npt.ArrayLike = (0.0, 0.0, 1.0),
        point: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        unit, eye = one("axis", directions("axis", axis)), one("point", points("point", point))
        settle(self, link=link_given(link), target=points("target", target), axis=unit, point=eye)

    @property
    def numbers(self) -> FloatArray:
        """The target (..., 3)."""
        return self.target

    @property
    def key(self) -> tuple[Any, ...]:
        """What is not a number."""
        return (LookAt, self.link, words(self.axis), words(self.point))

    def check(self, tree: Tree) -> None:
        """Raise `ArgumentError` unless the link is there."""
        tree.link_index(self.link)

    def equations(self, view: View, p: Array) -> Equations:
        """Two equations: see `linkwise.solve.constraints.facing`.

        The line of sight u, of length r, turns against the link by -(w + u x v / r) where the link turns by w and its eye
        moves by v.
        """
        rotation, eye, u, r = self._seen(view, p)
        jac = view.jacobian(self.link)
        turning = rotation.T @ jac[3:]
        moving = rotation.T @ (jac[:3] + _crossed(jac[3:], eye))
        residual, rates = facing(u, turning - _crossed(moving, u) * (1.0 / r))
        return Equations(residual, rates, (True, True))

    def errors(self, view: View, p: Array) -> tuple[Any, Any]:
        """No distance; the square of the angle."""
        angle = angle_to(self._seen(view, p)[2])
        return 0.0, angle * angle

    def _seen(self, view: View, p: Array) -> tuple[Array, Array, Array, Any]:
        """What an eye sees, and how far it is; a target at the eye counts as behind.

        A rotation (3, 3) with the axis as its z; the eye (3,) from the link's origin, world axes; the line of sight (3,), a
        unit vector in the axes of that rotation; its length.
        """
        pose = view.pose(self.link)
        rotation, eye = pose[:3, :3] @ basis(self.axis), pose[:3, :3] @ self.point
        sight = rotation.T @ (np.asarray(p) - pose[:3, 3] - eye)
        square = sight @ sight
        apart = square - NEAREST * NEAREST
        r = root(select(apart, square, NEAREST * NEAREST))
        return rotation, eye, chosen(apart, sight * (1.0 / r), BEHIND), r

    def __repr__(self) -> str:
        return f"LookAt(link={self.link!r}, axis={self.axis.tolist()}, {self.target.shape[:-1]} tasks)"


def _crossed(columns: Array, vector: Array) -> Array:
    """The cross products of each column of (3, nv) with a vector (3,)."""
    return np.stack([cross(column, vector) for column in columns.T], axis=1)
