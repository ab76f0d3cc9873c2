"""The same mechanism in Pinocchio, for side-by-side measurements."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import linkwise as lw
from linkwise.model.inertia import Inertia
from linkwise.spatial.rotation import rotation_between


def to_pinocchio(mech: lw.Mechanism) -> tuple[pin.Model, int]:
    """A Pinocchio model with the same joints, inertias and motor inertias, and the id of its tool frame.

    Joint axes are turned onto z, which is the form that Pinocchio computes fastest; joints stand in the order of the links.
    """
    model = pin.Model()
    model.gravity.linear = np.asarray(mech.gravity)
    joints, placements = {-1: 0}, {-1: np.asarray(mech.base)}
    for k in mech.order:
        link, parent = mech.links[k], mech.parents[k]
        at = placements[parent] @ link.before
        joint = joints[parent]
        if link.moves:
            upright = np.eye(4)
            upright[:3, :3] = rotation_between((0, 0, 1), link.axis)
            start = upright @ _offset(link)
            kind = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ}[link.joint]()
            joint = model.addJoint(joint, kind, pin.SE3(at @ start), f"{link.name}")
            model.rotorInertia[model.joints[joint].idx_v] = link.motor.inertia if link.motor else 0.0
            model.rotorGearRatio[model.joints[joint].idx_v] = link.motor.gear_ratio if link.motor else 1.0
            at = upright.T
        joints[k], placements[k] = joint, at @ link.after
        _append(model, joint, link.body, placements[k])
    last = len(mech.links) - 1
    tool = placements[last] @ mech.tool
    _append(model, joints[last], mech.payload, tool)
    model.armature = model.rotorInertia * model.rotorGearRatio**2
    frame = model.addFrame(pin.Frame("the tool", joints[last], 0, pin.SE3(tool), pin.FrameType.OP_FRAME))
    return model, frame


def from_pinocchio(model: pin.Model) -> lw.Mechanism:
    """A mechanism with the joints and inertias of a Pinocchio model made of revolute joints about x, y or z."""
    axes = {"JointModelRX": (1, 0, 0), "JointModelRY": (0, 1, 0), "JointModelRZ": (0, 0, 1)}
    links = []
    for joint in range(1, model.njoints):
        inertia = model.inertias[joint]
        links.append(
            lw.Link(
                before=model.jointPlacements[joint].homogeneous,
                axis=axes[model.joints[joint].shortname()],
                name=model.names[joint],
                parent="base" if model.parents[joint] == 0 else model.names[model.parents[joint]],
                mass=inertia.mass,
                com=inertia.lever,
                inertia=inertia.inertia,
                physical=False,  # the random inertias break the triangle inequality
            )
        )
    return lw.Mechanism(links, gravity=model.gravity.linear, name="tree")


def random_tree(joints: int = 26) -> lw.Mechanism:
    """The revolute joints of Pinocchio's own random humanoid, welded at the base: a tree of 26 joints."""
    pin.seed(0)
    full = pin.buildSampleModelHumanoidRandom()
    fixed = pin.buildReducedModel(full, [1], pin.neutral(full))
    assert fixed.nv == joints
    return from_pinocchio(fixed)


def _offset(link: lw.Link) -> np.ndarray:
    moved = np.eye(4)
    if link.joint == "revolute" and link.offset:
        c, s = np.cos(link.offset), np.sin(link.offset)
        moved[:2, :2] = [[c, -s], [s, c]]
    elif link.joint == "prismatic":
        moved[2, 3] = link.offset
    return moved


def _append(model: pin.Model, joint: int, body: Inertia, placement: np.ndarray) -> None:
    if not body.is_zero:
        model.appendBodyToJoint(joint, pin.Inertia(body.mass, body.com, body.tensor), pin.SE3(placement))
