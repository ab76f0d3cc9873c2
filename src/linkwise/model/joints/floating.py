"""The floating joint: a rigid body that moves freely, placed by its position and a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.joint import Columns, Joint, joint
from linkwise.spatial.quaternion import (
    half_turn,
    quaternion_difference,
    quaternion_product,
    quaternion_rotation,
    random_quaternions,
    unit_quaternion,
)
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, select
from linkwise.spatial.tangent import exponential_derivatives, logarithm_derivatives
from linkwise.spatial.transform import transform

#: Half angles whose sine is below this take the series (remainder below 1e-15).
NEAR = 0.05

#: Name and unit of each component of a pose, a twist, its derivative and a wrench.
POSE_COLUMNS: dict[str, Columns] = {
    "q": (*((f"_{x}", "m") for x in "xyz"), *ROTATION_COLUMNS["q"]),
    "qd": (*((f"_v{x}", "m/s") for x in "xyz"), *ROTATION_COLUMNS["qd"]),
    "qdd": (*((f"_v{x}_dot", "m/s2") for x in "xyz"), *ROTATION_COLUMNS["qdd"]),
    "tau": (*((f"_f{x}", "N") for x in "xyz"), *ROTATION_COLUMNS["tau"]),
}


@joint
@dataclass(frozen=True, eq=False)
class Floating(Joint):
    """Any rigid motion: q is x, y, z (m), qw, qx, qy, qz; velocities are linear and angular, in body axes."""

    kind: ClassVar[str] = "floating"
    letter: ClassVar[str] = "6"
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6
    quaternion: ClassVar[slice | None] = slice(3, 7)

    @property
    def screws(self) -> Array:
        """S' (6, 6), the unit motions."""
        return np.eye(6)

    @property
    def neutral(self) -> FloatArray:
        """0, 0, 0, 1, 0, 0, 0."""
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def columns(self, quantity: str) -> Columns:
        """Columns of a pose."""
        return POSE_COLUMNS[quantity]

    def placement(self, q: Array) -> Array:
        """J(q) (4, 4)."""
        return transform(quaternion_rotation(q[3:]), q[:3])

    def q_dot(self, q: Array, qd: Array) -> Array:
        """R v, and half the quaternion times the angular velocity.

        J. B. Kuipers, *Quaternions and Rotation Sequences* (1999), chapter 11.
        """
        return np.concatenate([quaternion_rotation(q[3:]) @ qd[:3], 0.5 * quaternion_product(q[3:], [0.0, *qd[3:]])])

    def integrate(self, q: Array, step: Array) -> Array:
        """The exponential of a twist; the quaternion is normalised.

        R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation*, 1994, eq. 2.36.
        """
        linear, angular = step[:3], step[3:]
        c, half, square = half_turn(angular)
        second = (1.0 - 2.0 * (half * c)) / square
        across = cross(angular, linear)
        shift = linear + (2.0 * (half * half)) * across + second * cross(angular, across)
        turn = quaternion_product(unit_quaternion(q[3:]), [c, *(half * angular)])
        return np.concatenate([q[:3] + quaternion_rotation(q[3:]) @ shift, unit_quaternion(turn)])

    def integrate_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Of the exponential."""
        return exponential_derivatives(step)

    def difference_derivatives(self, step: Array) -> tuple[Array, Array]:
        """Of the logarithm."""
        return logarithm_derivatives(step)

    def coadjoint(self, qd: Array, momentum: Array) -> Array:
        """Coadjoint action on momentum p and angular momentum h about the origin: w x p and w x h + v x p."""
        v, w, p, h = qd[:3], qd[3:], momentum[:3], momentum[3:]
        return np.concatenate([cross(w, p), cross(w, h) + cross(v, p)])

    def random(self, rng: np.random.Generator, count: int, most: float) -> FloatArray:
        """Random poses (count, 7) with uniform rotations, within 1 m of the origin in each direction."""
        turns = random_quaternions(rng, count)
        return np.concatenate([rng.uniform(-1.0, 1.0, (count, 3)), turns], axis=-1)

    def difference(self, q0: Array, q1: Array) -> Array:
        """Twist from q0 to q1, by the shorter direction: the logarithm that inverts `integrate`."""
        shift = quaternion_rotation(q0[3:]).T @ (q1[:3] - q0[:3])
        angular, c, s = quaternion_difference(q0[3:], q1[3:])
        across = cross(angular, shift)
        return np.concatenate([shift - 0.5 * across + _second(c, s) * cross(angular, across), angular])


def _second(c: Any, s: Any) -> Any:
    """(1 - x/2 cot(x/2)) / x^2 from cosine and sine of x/2, by its series where the difference would cancel."""
    half = atan2(s, c)
    square = half * half
    series = 1 / 12 + square * (1 / 180 + square * (1 / 1890 + square * (1 / 18900 + square * (1 / 187110))))
    return select(s - NEAR, (1.0 - half * c / s) / (4.0 * square), series)
