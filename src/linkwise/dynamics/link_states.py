"""Motion of every link, actions in every joint and motor efforts, at the instants of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.joint_wrenches import closed_joint_wrenches
from linkwise.kinematics.forward_kinematics import base_poses
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class LinkStates:
    """States at k instants of n joints and L links; all vectors of links in the axes of the world frame.

    Attributes
    ----------
    t : ndarray (k,)
        Time, s.
    q : ndarray (k, nq)
        Joint coordinates, those of a floating base before them; see `Tree`.
    qd, qdd, tau : ndarray (k, nv)
        Velocities, accelerations and motor efforts; of a floating base in its own axes.
    T, W, H : ndarray (k, L, 4, 4)
        Pose, velocity and acceleration matrices.
    actions : ndarray (k, L, 6)
        Force and moment that each link receives from its parent, the moment about the world origin.
    joint_points : ndarray (k, L, 3)
        A point on the axis of each joint, about which `joint_moments` are taken.
    loop_forces : ndarray (k, K)
        Forces and moments that close the loops, as `Mechanism.constraint_forces` tells them.
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
    loop_forces: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def positions(self) -> FloatArray:
        """Origins of the links (k, L, 3), m."""
        return self.T[..., :3, 3]

    @property
    def quaternions(self) -> FloatArray:
        """Orientations as unit quaternions w x y z with w >= 0 (k, L, 4)."""
        return np.asarray(rotation_quaternion(self.T[..., :3, :3]) + 0.0)  # (no negative zeros)

    @property
    def velocities(self) -> FloatArray:
        """Velocities of the origins (k, L, 3), m/s."""
        return _at_point(self.W, self.positions)

    @property
    def accelerations(self) -> FloatArray:
        """Accelerations of the origins (k, L, 3), m/s2."""
        return _at_point(self.H, self.positions)

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


def link_states(
    mechanism: Any,
    t: FloatArray,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    external: FloatArray | None = None,
    driven: Sequence[str] | None = None,
) -> LinkStates:
    """Compute the states at the instants t (k,) of a motion q (k, nq), qd, qdd (k, nv).

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    t, q, qd, qdd : ndarray
        The motion; with loops, one that keeps them closed.
    external : ndarray (6,), optional
        Force and moment on the tool, tool axes.
    driven : sequence of str, optional
        With loops, the coordinates that have an effort: see `closed_inverse_dynamics`.

    Raises
    ------
    ArgumentError
        Where the motion opens loops, or the driven coordinates do not supply what it takes.
    """
    T, W, H = mechanism.motion(q, qd, qdd)
    base = base_poses(mechanism, q)
    if mechanism.loops:
        closed = closed_joint_wrenches(mechanism, q, qd, qdd, driven, external, name="run")
        tau, actions, forces = closed.tau, closed.joints, closed.forces
    else:
        tau, actions = mechanism.inverse_dynamics(q, qd, qdd, external), mechanism.joint_wrenches(q, qd, qdd, external)
        forces = np.zeros((len(t), 0))
    carriers = [T[:, k] if k >= 0 else base for k in mechanism.parents]
    starts = [link.before[:, 3] for link in mechanism.links]
    points = np.stack([(carrier @ start)[:, :3] for carrier, start in zip(carriers, starts, strict=True)], axis=1)
    return LinkStates(t, q, qd, qdd, tau, T, W, H, actions, points, forces)


def _at_point(m: FloatArray, p: FloatArray) -> FloatArray:
    """Velocity or acceleration (..., 3) that a matrix (..., 4, 4) gives to points (..., 3)."""
    return np.asarray((m[..., :3, :3] @ p[..., None])[..., 0] + m[..., :3, 3])


def _axial(m: FloatArray) -> FloatArray:
    """Return the vector (..., 3) of the skew-symmetric part of the 3x3 block."""
    return np.stack([m[..., j, k] - m[..., k, j] for j, k in ((2, 1), (0, 2), (1, 0))], axis=-1) / 2
