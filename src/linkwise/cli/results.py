"""What a run computes for some instants: motion of every link, the actions in every joint, the motor efforts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.files import Description


@dataclass(frozen=True)
class Results:
    """The results at k instants, for n joints and L links; all vectors of links in the axes of the world frame.

    Attributes
    ----------
    t : ndarray (k,)
        Time, s.
    q : ndarray (k, nq)
        Joint coordinates, those of a floating base before them; see `Tree`.
    qd, qdd, tau : ndarray (k, nv)
        Rates, accelerations and motor efforts; of a floating base in its own axes.
    T, W, H : ndarray (k, L, 4, 4)
        Pose, velocity and acceleration matrices.
    actions : ndarray (k, L, 6)
        Force and moment that each link receives from its parent, the moment about the world origin.
    joint_points : ndarray (k, L, 3)
        A point on the axis of each joint, about which `joint_moments` are taken.
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    T: FloatArray
    W: FloatArray
    H: FloatArray
    actions: FloatArray
    joint_points: FloatArray

    @property
    def positions(self) -> FloatArray:
        """Origins of the links (k, L, 3), m."""
        return self.T[..., :3, 3]

    @property
    def velocities(self) -> FloatArray:
        """Velocities of the origins (k, L, 3), m/s."""
        return _of_point(self.W, self.positions)

    @property
    def accelerations(self) -> FloatArray:
        """Accelerations of the origins (k, L, 3), m/s2."""
        return _of_point(self.H, self.positions)

    @property
    def angular_velocities(self) -> FloatArray:
        """Angular velocities (k, L, 3), rad/s."""
        return _axial(self.W)

    @property
    def angular_accelerations(self) -> FloatArray:
        """Angular accelerations (k, L, 3), rad/s2."""
        return _axial(self.H)

    @property
    def forces(self) -> FloatArray:
        """Forces that the links receive from their parents (k, L, 3), N."""
        return self.actions[..., :3]

    @property
    def moments(self) -> FloatArray:
        """Moments that the links receive from their parents, about the world origin (k, L, 3), N m."""
        return self.actions[..., 3:]

    @property
    def joint_moments(self) -> FloatArray:
        """The same moments, about a point on the axis of the joint (k, L, 3), N m."""
        return np.asarray(self.moments - np.cross(self.joint_points, self.forces))

    @property
    def quaternions(self) -> FloatArray:
        """Orientations as unit quaternions w x y z with w >= 0 (k, L, 4)."""
        return quaternions(self.T[..., :3, :3])


def compute(found: Description, t: FloatArray, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> Results:
    """Compute the results at the instants t (k,) of a motion q (k, nq), qd, qdd (k, nv)."""
    mechanism = found.mechanism
    external = found.external if found.external.any() else None
    T, W, H = mechanism.motion(q, qd, qdd)
    actions = mechanism.joint_actions(q, qd, qdd, external)
    tau = mechanism.inverse_dynamics(q, qd, qdd, external)
    ground = base_poses(mechanism, q)
    carriers = [T[:, k] if k >= 0 else ground for k in mechanism.parents]
    starts = [link.before[:, 3] for link in mechanism.links]
    points = np.stack([(carrier @ start)[:, :3] for carrier, start in zip(carriers, starts, strict=True)], axis=1)
    return Results(t, q, qd, qdd, tau, T, W, H, actions, points)


def base_poses(tree: Tree, q: FloatArray) -> FloatArray:
    """Pose of the base (k, 4, 4) at the coordinates q (k, nq): always the same, or wherever it floats."""
    if not tree.floating:
        return np.broadcast_to(tree.base, (len(q), 4, 4))
    made = np.zeros((len(q), 4, 4))
    made[:, :3, :3] = np.moveaxis(quaternion_rotation(q[:, 3:7].T), -1, 0)
    made[:, :3, 3], made[:, 3, 3] = q[:, :3], 1.0
    return np.asarray(tree.base @ made)


def quaternions(R: FloatArray) -> FloatArray:
    """Turn rotations (..., 3, 3) into unit quaternions w x y z (..., 4), w >= 0, by the largest of the four.

    S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance and Control 1(3), 1978.

    Examples
    --------
    >>> quaternions(np.diag([1.0, -1.0, -1.0]))
    array([0., 1., 0., 0.])
    """
    xx, yy, zz = (R[..., k, k] for k in range(3))
    u, v, w = (R[..., j, k] - R[..., k, j] for j, k in ((2, 1), (0, 2), (1, 0)))
    a, b, c = (R[..., j, k] + R[..., k, j] for j, k in ((0, 1), (1, 2), (0, 2)))
    products = np.stack(  # 4 q_i q_j
        [
            np.stack(row, axis=-1)
            for row in (
                (1 + xx + yy + zz, u, v, w),
                (u, 1 + xx - yy - zz, a, c),
                (v, a, 1 - xx + yy - zz, b),
                (w, c, b, 1 - xx - yy + zz),
            )
        ],
        axis=-2,
    )
    largest = np.argmax(np.diagonal(products, axis1=-2, axis2=-1), axis=-1)
    row = np.take_along_axis(products, largest[..., None, None], axis=-2)[..., 0, :]
    made = row / np.linalg.norm(row, axis=-1, keepdims=True)
    return np.asarray(np.where(made[..., :1] < 0, -made, made) + 0.0)


def _of_point(m: FloatArray, p: FloatArray) -> FloatArray:
    """Velocity or acceleration (..., 3) that a matrix (..., 4, 4) gives to points (..., 3)."""
    return np.asarray((m[..., :3, :3] @ p[..., None])[..., 0] + m[..., :3, 3])


def _axial(m: FloatArray) -> FloatArray:
    """Return the vector (..., 3) of the skew-symmetric part of the 3x3 block."""
    return np.stack([m[..., j, k] - m[..., k, j] for j, k in ((2, 1), (0, 2), (1, 0))], axis=-1) / 2
