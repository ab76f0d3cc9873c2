"""Motion of every link, actions in every joint and motor efforts, at the instants of a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.inverse_dynamics import closed_inverse_dynamics
from linkwise.dynamics.external import Wrench
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.tree import TOOL, Tree
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
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
        What moves.
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
    loads: Any = external
    forces, open_tree = np.zeros((len(t), 0)), mechanism
    if mechanism.loops:
        tau, forces = closed_inverse_dynamics(mechanism, q, qd, qdd, driven, external, name="run")
        loads = _loop_wrenches(mechanism, T, base, forces) | ({} if external is None else {TOOL: external})
        open_tree = mechanism.memo("closed_inverse_dynamics", "cut open", lambda: mechanism.replace(loops=()))
    else:
        tau = mechanism.inverse_dynamics(q, qd, qdd, external)
    actions = open_tree.joint_wrenches(q, qd, qdd, loads)
    carriers = [T[:, k] if k >= 0 else base for k in mechanism.parents]
    starts = [link.before[:, 3] for link in mechanism.links]
    points = np.stack([(carrier @ start)[:, :3] for carrier, start in zip(carriers, starts, strict=True)], axis=1)
    return LinkStates(t, q, qd, qdd, tau, T, W, H, actions, points, forces)


def _loop_wrenches(tree: Tree, T: FloatArray, base: FloatArray, forces: FloatArray) -> dict[str, Wrench]:
    """What the loops do to their links, by link: forces (k, K), on the second link of each loop, and back on the first."""
    total: dict[str, FloatArray] = {}
    first = 0
    for loop in tree.loops:
        count = CLOSURE_ROWS[loop.kind]
        pose = (base if loop.first == "base" else T[:, tree.link_index(loop.first)]) @ loop.first_frame
        both = np.zeros((len(forces), 6))
        both[:, :count] = forces[:, first : first + count]
        force, moment = ((pose[:, :3, :3] @ both[:, k : k + 3, None])[..., 0] for k in (0, 3))
        wrench = np.concatenate([force, moment + np.cross(pose[:, :3, 3], force)], axis=1)
        for name, sign in ((loop.second, 1.0), (loop.first, -1.0)):
            if name != "base":
                total[name] = total.get(name, np.zeros(6)) + sign * wrench
        first += count
    origin = np.zeros(3)
    return {name: Wrench(wrench[:, :3], wrench[:, 3:], origin, "world") for name, wrench in total.items()}


def base_poses(tree: Tree, q: FloatArray) -> FloatArray:
    """Pose of the base (..., 4, 4) at the coordinates q (..., nq): constant, or that of a floating base."""
    if not tree.floating:
        return np.broadcast_to(np.asarray(tree.base, dtype=float), (*q.shape[:-1], 4, 4))
    poses = np.zeros((*q.shape[:-1], 4, 4))
    poses[..., :3, :3] = np.moveaxis(quaternion_rotation(np.moveaxis(q[..., 3:7], -1, 0)), (0, 1), (-2, -1))
    poses[..., :3, 3], poses[..., 3, 3] = q[..., :3], 1.0
    return np.asarray(tree.base @ poses)


def _at_point(m: FloatArray, p: FloatArray) -> FloatArray:
    """Velocity or acceleration (..., 3) that a matrix (..., 4, 4) gives to points (..., 3)."""
    return np.asarray((m[..., :3, :3] @ p[..., None])[..., 0] + m[..., :3, 3])


def _axial(m: FloatArray) -> FloatArray:
    """Return the vector (..., 3) of the skew-symmetric part of the 3x3 block."""
    return np.stack([m[..., j, k] - m[..., k, j] for j, k in ((2, 1), (0, 2), (1, 0))], axis=-1) / 2
