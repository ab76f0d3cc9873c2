"""The floating base: a rigid body that moves freely, placed by its position and a unit quaternion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linkwise.model.joints.joint import Joint, joint
from linkwise.spatial.quaternion import quaternion_product, quaternion_rotation
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, cos_sin, root
from linkwise.spatial.transform import transform

#: Added to the square of an angle, so that sin(x)/x is 1 at zero; without effect on any angle above 1e-7 rad.
_LEAST = 1e-30


@joint
@dataclass(frozen=True, eq=False)
class Floating(Joint):
    """Any rigid motion: q is x, y, z (m), qw, qx, qy, qz; velocities are linear and angular, in body axes."""

    kind: ClassVar[str] = "floating"
    letter: ClassVar[str] = "6"
    nq: ClassVar[int] = 7
    nv: ClassVar[int] = 6

    @property
    def screws(self) -> Array:
        """S' (6, 6), the unit motions."""
        return np.eye(6)

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
        square = angular @ angular + _LEAST
        angle = root(square)
        c, s = cos_sin(0.5 * angle)
        half = s / angle
        second = (1.0 - 2.0 * (half * c)) / square
        across = cross(angular, linear)
        shift = linear + (2.0 * (half * half)) * across + second * cross(angular, across)
        turn = quaternion_product(_normalised(q[3:]), [c, *(half * angular)])
        return np.concatenate([q[:3] + quaternion_rotation(q[3:]) @ shift, _normalised(turn)])

    def difference(self, q0: FloatArray, q1: FloatArray) -> FloatArray:
        """The twist (..., 6) from q0 to q1 (..., 7), the shorter way round."""
        rotation = np.moveaxis(np.asarray(quaternion_rotation(np.moveaxis(q0[..., 3:], -1, 0))), (0, 1), (-2, -1))
        shift = np.einsum("...ji,...j->...i", rotation, q1[..., :3] - q0[..., :3])
        back = np.moveaxis(q0[..., 3:] * [1.0, -1.0, -1.0, -1.0], -1, 0)
        turn = np.moveaxis(quaternion_product(back, np.moveaxis(q1[..., 3:], -1, 0)), 0, -1)
        turn = turn * np.where(turn[..., :1] < 0, -1.0, 1.0)
        sine = np.linalg.norm(turn[..., 1:], axis=-1, keepdims=True)
        angle = 2.0 * np.arctan2(sine, turn[..., :1])
        angular = turn[..., 1:] * np.divide(angle, sine, out=2.0 / turn[..., :1] + 0.0 * sine, where=sine > 0)
        across = np.cross(angular, shift)
        linear = shift - 0.5 * across + _second(angle) * np.cross(angular, across)
        return np.concatenate([linear, angular], axis=-1)


def _second(angle: FloatArray) -> FloatArray:
    """(1 - x/2 cot(x/2)) / x^2, by its series where the difference would cancel (remainder below 1e-17 at 0.05 rad)."""
    small = np.abs(angle) < 0.05
    x = np.where(small, 1.0, angle)
    square = angle * angle
    series = 1 / 12 + square * (1 / 720 + square * (1 / 30240 + square * (1 / 1209600 + square / 47900160)))
    return np.where(small, series, (1.0 - 0.5 * x / np.tan(0.5 * x)) / (x * x))


def _normalised(quaternion: Array) -> Array:
    return np.asarray(quaternion * (1.0 / root(quaternion @ quaternion)))
