"""A mechanism as Pinocchio has it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from linkwise import Mechanism

pin = pytest.importorskip("pinocchio", exc_type=ImportError)


class Twin:
    """The same mechanism in Pinocchio: fixed links become bodies and frames of the joint that carries them.

    Its quaternion has the scalar last, and its coordinates count an offset. Joints are numbered branch by branch, for
    several of Pinocchio's algorithms (`crba`, the derivatives) count on it and are silently wrong otherwise; ``place`` has
    the index of each of our speeds there. It knows rotors by their inertia at the joint ("armature") alone, and is given
    no friction.
    """

    def __init__(self, mech: Mechanism) -> None:
        self.mech, self.model = mech, pin.Model()
        self.model.gravity = pin.Motion(np.array(mech.gravity), np.zeros(3))
        self.offsets = np.array([link.offset for link in mech.links if link.moves])
        self.frames: list[int] = []
        base = mech.nv - mech.n
        self.place = np.arange(mech.nv)
        self.carried = self._joints(base)
        self._bodies()
        self.data = self.model.createData()

    def _joints(self, base: int) -> dict[int, tuple[int, np.ndarray]]:
        """Add all joints; for each link the joint that carries it, and where it stands on that."""
        mech, model = self.mech, self.model
        made: dict[str, Any] = {
            "revolute": lambda link: pin.JointModelRevoluteUnaligned(np.array(link.axis)),
            "prismatic": lambda link: pin.JointModelPrismaticUnaligned(np.array(link.axis)),
            "screw": lambda link: pin.JointModelHelicalUnaligned(np.array(link.axis), link.pitch),
        }
        carried = {-1: (0, np.array(mech.base))}
        if mech.floating:
            floating = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3(np.array(mech.base)), "floating")
            carried[-1] = (floating, np.eye(4))
        for k in branch_by_branch(mech):
            link, (joint, pose) = mech.links[k], carried[mech.parents[k]]
            if link.moves:
                joint = model.addJoint(joint, made[link.joint](link), pin.SE3(pose @ link.before), link.name)
                carried[k] = (joint, np.array(link.after))
                motors = [drive.motor for drive in mech.drives if drive.coordinate == mech.coordinates[k]]
                there = model.joints[joint].idx_v
                model.armature[there] = sum(motor.reflected_inertia for motor in motors)
                self.place[base + mech.coordinates[k]] = there
            else:
                carried[k] = (joint, pose @ link.before @ link.after)
        return carried

    def _bodies(self) -> None:
        mech, model = self.mech, self.model
        for k, link in enumerate(mech.links):
            joint, pose = self.carried[k]
            frame = pin.Frame(f"{link.name}_frame", joint, 0, pin.SE3(pose), pin.FrameType.OP_FRAME)
            self.frames.append(model.addFrame(frame))
            body = link.body
            inertia = pin.Inertia(body.mass, np.array(body.com), np.array(body.tensor))
            model.appendBodyToJoint(joint, inertia, pin.SE3(pose))
        self.joint, pose = self.carried[len(mech.links) - 1]
        self.tool = pin.SE3(pose @ mech.tool)
        self.frames.append(model.addFrame(pin.Frame("tool", self.joint, 0, self.tool, pin.FrameType.OP_FRAME)))

    def at(self, q: np.ndarray) -> np.ndarray:
        """Pinocchio's coordinates."""
        mech = self.mech
        joints = np.zeros(mech.n)
        joints[self.place[mech.nv - mech.n :] - (mech.nv - mech.n)] = q[mech.nq - mech.n :] + self.offsets
        return np.concatenate([q[:3], q[4:7], q[3:4], joints]) if mech.floating else joints

    def to(self, speeds: np.ndarray) -> np.ndarray:
        """Pinocchio's speeds, accelerations or efforts (nv,)."""
        made = np.zeros(self.mech.nv)
        made[self.place] = speeds
        return made

    def back(self, values: np.ndarray) -> np.ndarray:
        """Ours: of a vector (nv,) or of the rows of a table."""
        return np.asarray(values)[self.place]

    def square(self, values: np.ndarray, *, symmetric: bool = False) -> np.ndarray:
        """Our matrix (nv, nv); of symmetric ones Pinocchio fills the upper half."""
        table = np.asarray(values)
        table = np.triu(table) + np.triu(table, 1).T if symmetric else table
        return table[np.ix_(self.place, self.place)]


def branch_by_branch(mech: Mechanism) -> list[int]:
    """The links, each followed by all that hangs on it."""

    def from_link(k: int) -> list[int]:
        return [k] + [j for child, parent in enumerate(mech.parents) if parent == k for j in from_link(child)]

    return [j for k, parent in enumerate(mech.parents) if parent < 0 for j in from_link(k)]
