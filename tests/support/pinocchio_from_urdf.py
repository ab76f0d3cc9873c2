"""A URDF as Pinocchio reads it by itself: nothing of ours stands between the file and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism
from linkwise.spatial.rotation import rotation_z

pin = pytest.importorskip("pinocchio", exc_type=ImportError)


def scalar_last(q: np.ndarray) -> list[float]:
    """Coordinates that end in a quaternion, as Pinocchio orders them."""
    return [*q[:-4], *q[-3:], q[-4]]


class UrdfTwin:
    """The model that Pinocchio makes of a URDF, and how its coordinates follow from those of the mechanism we make of it.

    Joints are matched by name. Pinocchio orders them by name within each branch, has two numbers (cos, sin) for a continuous
    joint, the scalar last in a quaternion, and lets joints that mimic another move by themselves. The speeds of its planar
    joint are in the moved axes. Where the mechanism was let float and the file says nothing of it (`free`), so is its root.
    """

    def __init__(self, text: str, mech: Mechanism, *, free: bool = False) -> None:
        self.mech = mech
        self.model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if free else pin.buildModelFromXML(text)
        self.model.gravity = pin.Motion(np.array(mech.gravity), np.zeros(3))
        self.data = self.model.createData()

    def joints(self) -> Iterator[tuple[Any, Link, int]]:
        """For each moving link Pinocchio's joint, the link, and its place in the list."""
        for k, link in enumerate(self.mech.links):
            if link.moves:
                index = self.model.getJointId(link.coordinate_name)
                assert index < self.model.njoints, link.coordinate_name
                yield self.model.joints[index], link, k

    def at(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's coordinates."""
        made = pin.neutral(self.model)
        if self.mech.floating:
            made[:7] = scalar_last(q[:7])
        for joint, link, k in self.joints():
            value = self.mech.joint_coordinates(k, q)
            if link.has_quaternion:
                value = scalar_last(value)
            elif joint.nq == link.joint_model.nq + 1:  # (the cosine and the sine of the last one)
                angle = np.atleast_1d(value)[-1]
                value = [*np.atleast_1d(value)[:-1], np.cos(angle), np.sin(angle)]
            made[joint.idx_q : joint.idx_q + joint.nq] = value
        return made

    def turn(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's speeds (nv there) as a matrix on ours (nv)."""
        mech, made = self.mech, np.zeros((self.model.nv, self.mech.nv))
        first = mech.nv - mech.n
        if mech.floating:
            made[:6, :6] = np.eye(6)
        for joint, link, k in self.joints():
            free = next((at for at in mech.manifold_joints if at.link == k), None)
            start = free.v.start if free else first + mech.coordinates[k]
            for i in range(joint.nv):
                made[joint.idx_v + i, start + i] = mech.followers[k].ratio
            if link.joint == "planar":
                rows = slice(joint.idx_v, joint.idx_v + 2)
                made[rows] = rotation_z(-float(mech.joint_coordinates(k, q)[2]))[:2, :2] @ made[rows]
        return made

    def links(self) -> list[str]:
        """The links of the file."""
        return [frame.name for frame in self.model.frames if frame.type == pin.FrameType.BODY]

    def poses(self, q: np.ndarray) -> dict[str, np.ndarray]:
        """T_world_link of every link of the file, by name."""
        pin.framesForwardKinematics(self.model, self.data, self.at(q))
        return {name: np.array(self.data.oMf[self._frame(name)].homogeneous) for name in self.links()}

    def velocities(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> dict[str, np.ndarray]:
        """Velocity and acceleration (2, 6) of every link's frame: of its origin, angular, in world axes."""
        turn = self.turn(q)
        pin.forwardKinematics(self.model, self.data, self.at(q), turn @ qd, turn @ qdd)
        pin.updateFramePlacements(self.model, self.data)
        axes = pin.LOCAL_WORLD_ALIGNED
        made = {}
        for name in self.links():
            frame = self._frame(name)
            moved = pin.getFrameVelocity(self.model, self.data, frame, axes)
            changed = pin.getFrameClassicalAcceleration(self.model, self.data, frame, axes)
            made[name] = np.stack([np.array(moved), np.array(changed)])
        return made

    def jacobian(self, q: np.ndarray, link: str) -> np.ndarray:
        """J (6, nv) of a link's frame, linear rows first, world axes."""
        axes = pin.LOCAL_WORLD_ALIGNED
        there = pin.computeFrameJacobian(self.model, self.data, self.at(q), self._frame(link), axes)
        return np.asarray(there).reshape(6, -1) @ self.turn(q)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """M (nv, nv)."""
        table = np.array(pin.crba(self.model, self.data, self.at(q)))
        turn = self.turn(q)
        return np.asarray(turn.T @ (np.triu(table) + np.triu(table, 1).T) @ turn)

    def inverse_dynamics(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """Efforts (nv); with a planar joint only at rest, for its speeds turn with it."""
        turn = self.turn(q)
        return np.asarray(turn.T @ np.asarray(pin.rnea(self.model, self.data, self.at(q), turn @ qd, turn @ qdd)))

    def _frame(self, link: str) -> int:
        return int(self.model.getFrameId(link, pin.FrameType.BODY))
