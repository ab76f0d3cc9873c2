"""A URDF as Pinocchio reads it by itself: nothing of ours stands between the file and its numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism
from linkwise.model.mimic import Follower
from linkwise.spatial.rotation import rotation_z

pin = pytest.importorskip("pinocchio", exc_type=ImportError)


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

    def joints(self) -> Iterator[tuple[Any, Follower, int]]:
        """For each moving link Pinocchio's joint, how ours follows from the coordinates, and its place in a planar joint."""
        for link, follower in zip(self.mech.links, self.mech.followers, strict=True):
            if link.moves:
                name, _, part = link.coordinate_name.rpartition("_")
                planar = not self.model.existJointName(link.coordinate_name)
                index = self.model.getJointId(name if planar else link.coordinate_name)
                assert index < self.model.njoints, link.coordinate_name
                yield self.model.joints[index], follower, ("x", "y", "turn").index(part) if planar else -1

    def at(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's coordinates."""
        mech, made = self.mech, pin.neutral(self.model)
        joints = q[mech.nq - mech.n :]
        if mech.floating:
            made[:7] = [*q[:3], *q[4:7], q[3]]
        for joint, follower, part in self.joints():
            value = follower.value(joints)
            pair = [np.cos(value), np.sin(value)]
            if part >= 0:
                made[joint.idx_q + part : joint.idx_q + (4 if part == 2 else part + 1)] = pair if part == 2 else value
            else:
                made[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else pair
        return made

    def turn(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's speeds (nv there) as a matrix on ours (nv)."""
        mech, made = self.mech, np.zeros((self.model.nv, self.mech.nv))
        base = mech.nv - mech.n
        made[:base, :base] = np.eye(base)
        planar = {}
        for joint, follower, part in self.joints():
            made[joint.idx_v + max(part, 0), base + follower.coordinate] = follower.ratio
            if part == 2:
                planar[joint.idx_v] = follower.value(q[mech.nq - mech.n :])
        for at, angle in planar.items():
            made[at : at + 2] = rotation_z(-angle)[:2, :2] @ made[at : at + 2]
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
