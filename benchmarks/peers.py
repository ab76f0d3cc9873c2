"""The same mechanism in Pinocchio, for side-by-side measurements."""

from __future__ import annotations

from collections.abc import Container

import numpy as np
import pinocchio as pin

import linkwise as lw
from linkwise.model.inertia import Inertia
from linkwise.spatial.rotation import rotation_between

#: Name of the joint of a floating base.
BASE = "floating base"


def to_pinocchio(mech: lw.Mechanism) -> tuple[pin.Model, int]:
    """A Pinocchio model with the same joints, inertias and motor inertias, and the id of its tool frame.

    Joint axes are turned onto z, which is the form that Pinocchio computes fastest; joints stand in the order of the links.
    Each link that moves gives its name to its joint, and to a frame in the place of its own.
    """
    model = pin.Model()
    model.gravity.linear = np.asarray(mech.gravity)
    joints, placements = {-1: 0}, {-1: np.asarray(mech.base)}
    if mech.floating:
        joints[-1] = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3(placements[-1]), BASE)
        placements[-1] = np.eye(4)
    for k in mech.order:
        link, parent = mech.links[k], mech.parents[k]
        at = placements[parent] @ link.before
        joint = joints[parent]
        if link.joint == "ball":
            joint, at = model.addJoint(joint, pin.JointModelSpherical(), pin.SE3(at), link.name), np.eye(4)
        elif link.moves:
            upright = np.eye(4)
            upright[:3, :3] = rotation_between((0, 0, 1), link.axis)
            start = upright @ _offset(link)
            kind = {"revolute": pin.JointModelRZ, "prismatic": pin.JointModelPZ}[link.joint]()
            joint = model.addJoint(joint, kind, pin.SE3(at @ start), f"{link.name}")
            model.rotorInertia[model.joints[joint].idx_v] = link.motor.inertia if link.motor else 0.0
            model.rotorGearRatio[model.joints[joint].idx_v] = link.motor.gear_ratio if link.motor else 1.0
            at = upright.T
        joints[k], placements[k] = joint, at @ link.after
        model.addFrame(pin.Frame(f"{link.name} frame", joint, 0, pin.SE3(placements[k]), pin.FrameType.OP_FRAME))
        _append(model, joint, link.body, placements[k])
    last = len(mech.links) - 1
    tool = placements[last] @ mech.tool
    _append(model, joints[last], mech.payload, tool)
    model.armature = model.rotorInertia * model.rotorGearRatio**2
    frame = model.addFrame(pin.Frame("the tool", joints[last], 0, pin.SE3(tool), pin.FrameType.OP_FRAME))
    return model, frame


def places(mech: lw.Mechanism, model: pin.Model) -> tuple[np.ndarray, np.ndarray]:
    """Where Pinocchio has each of our coordinates (nq,), and each of our velocities (nv,).

    Its quaternions have the scalar last, and its joints with quaternions do not come first.
    """
    q, v = np.empty(mech.nq, dtype=int), np.empty(mech.nv, dtype=int)
    scalar_last = {"floating": [0, 1, 2, 6, 3, 4, 5], "ball": [3, 0, 1, 2]}
    for at in mech.manifold_joints:
        joint = model.joints[model.getJointId(BASE if at.link < 0 else mech.links[at.link].name)]
        q[at.q] = joint.idx_q + np.array(scalar_last[at.joint.kind])
        v[at.v] = joint.idx_v + np.arange(joint.nv)
    first_q, first_v = mech.nq - mech.n, mech.nv - mech.n
    for k, coordinate in enumerate(mech.coordinates):
        if mech.links[k].moves and mech.links[k].joint != "ball":
            joint = model.joints[model.getJointId(mech.links[k].name)]
            q[first_q + coordinate], v[first_v + coordinate] = joint.idx_q, joint.idx_v
    return q, v


def from_pinocchio(model: pin.Model, name: str = "tree", balls: Container[str] = ()) -> lw.Mechanism:
    """A mechanism with the joints and inertias of a Pinocchio model of revolute joints about x, y or z on a base.

    Parameters
    ----------
    model : pin.Model
        Its first joint may be a free-flyer.
    name : str
        Name of the mechanism.
    balls : container of str
        Joints that become ball joints, together with the two after each, whose placements and bodies but the last are left
        out.
    """
    axes = {"JointModelRX": (1, 0, 0), "JointModelRY": (0, 1, 0), "JointModelRZ": (0, 0, 1)}
    floating = model.joints[1].shortname() == "JointModelFreeFlyer"
    links, joint = [], 1
    while joint < model.njoints:
        first, kind = joint, model.joints[joint].shortname()
        joint += 2 if model.names[first] in balls else 0
        inertia = model.inertias[joint]
        moves = {"joint": "ball"} if joint > first else {"joint": "fixed"} if kind not in axes else {"axis": axes[kind]}
        links.append(
            lw.Link(
                before=model.jointPlacements[first].homogeneous,
                name=model.names[joint],
                parent="base" if model.parents[first] == 0 else model.names[model.parents[first]],
                mass=inertia.mass,
                com=inertia.lever,
                inertia=inertia.inertia,
                physical=False,  # the random inertias break the triangle inequality
                **moves,
            )
        )
        joint += 1
    return lw.Mechanism(links, gravity=model.gravity.linear, name=name, floating=floating)


def random_tree(joints: int = 26) -> lw.Mechanism:
    """The revolute joints of Pinocchio's own random humanoid, welded at the base: a tree of 26 joints."""
    pin.seed(0)
    full = pin.buildSampleModelHumanoidRandom()
    fixed = pin.buildReducedModel(full, [1], pin.neutral(full))
    assert fixed.nv == joints
    return from_pinocchio(fixed)


def humanoid(*, balls: bool = False) -> lw.Mechanism:
    """Pinocchio's random humanoid on its floating base, 26 revolute joints, or with ball joints for hips and shoulders."""
    pin.seed(0)
    model = pin.buildSampleModelHumanoidRandom()
    ends = ("lleg1_joint", "rleg1_joint", "rarm1_joint", "larm1_joint") if balls else ()
    return from_pinocchio(model, "humanoid with ball joints" if balls else "humanoid", ends)


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
