"""The ball joint: any turn about a point, placed by a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwise.model.joints.joint import Columns, Joint, joint
from linkwise.spatial.quaternion import (
    LEAST,
    multiplied,
    quaternion_difference,
    quaternion_exponential,
    quaternion_product,
    quaternion_rotation,
    random_quaternions,
    rotation_quaternion,
    unit_quaternion,
)
from linkwise.spatial.rotation import cross, rotation_between
from linkwise.spatial.scalar import Array, FloatArray, atan2, root, select
from linkwise.spatial.tangent import exponential_derivatives, logarithm_derivatives
from linkwise.spatial.transform import transform

#: Name and unit of each component of an orientation, an angular velocity, its derivative and a moment.
ROTATION_COLUMNS: dict[str, Columns] = {
    "q": tuple((f"_q{x}", "1") for x in "wxyz"),
    "qd": tuple((f"_w{x}", "rad/s") for x in "xyz"),
    "qdd": tuple((f"_w{x}_dot", "rad/s2") for x in "xyz"),
    "tau": tuple((f"_m{x}", "N m") for x in "xyz"),
}


@joint
@dataclass(frozen=True, eq=False)
class Ball(Joint):
    """Any rotation: q is the unit quaternion qw, qx, qy, qz; velocities are angular velocities in the child's axes.

    The axis, of the child, is what a limit holds within a cone about the same axis of the parent.
    """

    kind: ClassVar[str] = "ball"
    letter: ClassVar[str] = "S"
    nq: ClassVar[int] = 4
    nv: ClassVar[int] = 3
    quaternion: ClassVar[slice | None] = slice(0, 4)
    axis: FloatArray

    @property
    def screws(self) -> Array:
        """S' (3, 6), the unit rotations."""
        return np.eye(6)[3:]

    @property
    def cone_axis(self) -> FloatArray:
        """The axis."""
        return self.axis

    @property
    def neutral(self) -> FloatArray:
        """1, 0, 0, 0."""
        return np.array([1.0, 0.0, 0.0, 0.0])

    def columns(self, quantity: str) -> Columns:
        """Columns of a rotation."""
        return ROTATION_COLUMNS[quantity]

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4)."""
        return transform(quaternion_rotation(q), None)

    def turned(self, rotation: FloatArray, q: Array) -> Array:
        """The quaternion of the rotation times q."""
        return quaternion_product(rotation_quaternion(rotation), q)

    def q_dot(self, q: Array, qd: Array) -> Array:
        """Half the quaternion times the angular velocity.

        J. B. Kuipers, *Quaternions and Rotation Sequences* (1999), chapter 11.
        """
        return np.asarray(0.5 * quaternion_product(q, [0.0, *qd]))

    def integrate(self, q: Array, step: Array) -> Array:
        """The exponential of the rotation vector; the quaternion is normalised."""
        return unit_quaternion(quaternion_product(unit_quaternion(q), quaternion_exponential(step)))

    def difference(self, q0: Array, q1: Array) -> Array:
        """Rotation vector from q0 to q1, by the shorter direction."""
        return quaternion_difference(q0, q1)[0]

    def integrate_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Of the exponential."""
        return exponential_derivatives(step)

    def difference_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Of the logarithm."""
        return logarithm_derivatives(step)

    def coadjoint(self, qd: Array, momentum: Array) -> Array:
        """The angular velocity times the angular momentum."""
        return cross(qd, momentum)

    def random(self, rng: np.random.Generator, count: int, most: float) -> FloatArray:
        """Quaternions (count, 4) spread evenly, over all turns or those in a cone."""
        if not np.isfinite(most):
            return random_quaternions(rng, count)
        lean, heading, twist = np.arccos(rng.uniform(np.cos(most), 1.0, count)), *rng.uniform(-np.pi, np.pi, (2, count))
        across = rotation_between((0.0, 0.0, 1.0), self.axis)[:, :2] @ [np.cos(heading), np.sin(heading)]
        swing = np.column_stack([np.cos(0.5 * lean), (np.sin(0.5 * lean) * across).T])
        about = np.column_stack([np.cos(0.5 * twist), np.sin(0.5 * twist)[:, None] * self.axis])
        return multiplied(swing, about)

    def clipped(self, q: Array, most: Any) -> Array:
        """Rotate the quaternion by the shortest way back to the cone, if its axis is beyond it."""
        if _boundless(most):
            return q
        across, beyond = self._lean(q, most)
        back = quaternion_exponential(across * select(beyond, beyond, 0.0))
        return np.array([select(beyond, *pair) for pair in zip(quaternion_product(back, q), q, strict=True)])

    def excess(self, q: Array, most: Any) -> Any:
        """The angle by which the axis leans beyond the cone, rad."""
        return -1.0 if _boundless(most) else self._lean(q, most)[1]

    def lean(self, q: Array) -> tuple[Any, Array]:
        """The angle by which the axis leans, and its derivative (3,) by the angular velocity."""
        across, angle = self._lean(q, 0.0)
        return angle, -(quaternion_rotation(q).T @ across)

    def _lean(self, q: Array, most: Any) -> tuple[Array, Any]:
        """Unit axis of the rotation that brings the axis back upright, and the excess over the cone."""
        leaning = quaternion_rotation(q) @ self.axis
        back = cross(leaning, self.axis)
        square, over = back @ back, leaning @ self.axis
        aside = rotation_between((0.0, 0.0, 1.0), self.axis)[:, 0]  # (for what hangs upside down, any way is the shortest)
        hanging = select(square - LEAST, 0.0, select(-over, 1.0, 0.0))
        direction = [select(hanging, *pair) for pair in zip(aside, back / root(square + LEAST), strict=True)]
        return np.array(direction), atan2(root(square + LEAST), over) - most


def _boundless(most: Any) -> bool:
    """True if a number means that there is no cone; an expression never does."""
    return isinstance(most, (float, np.floating)) and not np.isfinite(most)
