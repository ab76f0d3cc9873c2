"""Interpolation of the recorded motion of a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.quaternion import conjugated, quaternion_rotation, rotated, rotation_quaternion
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.floating import FloatingHermite
from linkwise.trajectory.state import State


@dataclass(frozen=True, eq=False)
class PosesHermite:
    """The quintic Hermite interpolant of poses, twists and accelerations, in position and quaternion.

    Attributes
    ----------
    t : ndarray (m,)
        Times, s.
    poses : ndarray (..., m, 4, 4)
        Poses there.
    twist, acceleration : ndarray (..., m, 6)
        Velocity of the origin and angular velocity, in the axes that the poses are in, and their derivatives.
    """

    t: FloatArray
    poses: FloatArray
    twist: FloatArray
    acceleration: FloatArray

    def __post_init__(self) -> None:
        u = rotation_quaternion(self.poses[..., :3, :3])
        back = conjugated(u)
        v, w, a, alpha = (
            rotated(back, values[..., part])
            for values in (self.twist, self.acceleration)
            for part in (slice(0, 3), slice(3, 6))
        )
        q = np.concatenate((self.poses[..., :3, 3], u), axis=-1)
        own = np.concatenate((v, w), axis=-1), np.concatenate((a - np.cross(w, v), alpha), axis=-1)
        object.__setattr__(self, "_inner", FloatingHermite(self.t, q, *own))

    def __call__(self, time: FloatArray) -> State:
        """Return poses (..., K, 4, 4), twists and accelerations (..., K, 6) at times (K,) within the nodes."""
        inner: FloatingHermite = self.__dict__["_inner"]
        q, qd, qdd = inner(time)
        u, v, w = q[..., 3:7], qd[..., :3], qd[..., 3:6]
        poses = np.zeros((*q.shape[:-1], 4, 4))
        poses[..., 3, 3], poses[..., :3, 3] = 1.0, q[..., :3]
        poses[..., :3, :3] = np.moveaxis(quaternion_rotation(np.moveaxis(u, -1, 0)), (0, 1), (-2, -1))
        twist = np.concatenate((rotated(u, v), rotated(u, w)), axis=-1)
        pulls = rotated(u, qdd[..., :3] + np.cross(w, v)), rotated(u, qdd[..., 3:6])
        return poses, twist, np.concatenate(pulls, axis=-1)
