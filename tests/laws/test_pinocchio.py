"""Agreement with Pinocchio, an independent engine, on random chains and trees with every joint type that both have."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from linkwise import Mechanism, robots
from mechanisms import SEEDS, random_mechanism, random_state, relative, sample

pin = pytest.importorskip("pinocchio")

BOUND = 1e-12
"""Asked for is 1e-10; both sides round in a few thousand operations, and what is seen is below 1e-14."""

CASES = {
    **{f"random{seed}": (lambda s=seed: sample(s).nofriction()) for seed in SEEDS},
    "long_chain": lambda: random_mechanism(100, ["revolute"] * 12, range(-1, 11)).nofriction(),
    "wide_tree": lambda: random_mechanism(101, ["revolute"] * 12, [-1, 0, 0, 1, 1, 2, 2, 2, -1, 8, 8, 0]).nofriction(),
    "seven_joint": lambda: robots.load("seven_joint").nofriction(),
    "panda": lambda: robots.load("panda").nofriction(),
    "smart": lambda: robots.load("smart").nofriction(),
}


def twin(mech: Mechanism) -> SimpleNamespace:
    """The same mechanism in Pinocchio: fixed links become bodies and frames of the joint that carries them."""
    model = pin.Model()
    model.gravity = pin.Motion(np.array(mech.gravity), np.zeros(3))
    made = {
        "revolute": lambda link: pin.JointModelRevoluteUnaligned(np.array(link.axis)),
        "prismatic": lambda link: pin.JointModelPrismaticUnaligned(np.array(link.axis)),
        "screw": lambda link: pin.JointModelHelicalUnaligned(np.array(link.axis), link.pitch),
    }
    carried = {-1: (0, np.array(mech.base))}
    offsets = []
    for k, link in enumerate(mech.links):
        joint, pose = carried[mech.parents[k]]
        if link.moves:
            joint = model.addJoint(joint, made[link.joint](link), pin.SE3(pose @ link.before), link.name)
            carried[k] = (joint, np.array(link.after))
            model.armature[model.joints[joint].idx_v] = link.motor.reflected_inertia if link.motor else 0.0
            offsets.append(link.offset)
        else:
            carried[k] = (joint, pose @ link.before @ link.after)
    frames = []
    for k, link in enumerate(mech.links):
        joint, pose = carried[k]
        frames.append(model.addFrame(pin.Frame(f"{link.name}_frame", joint, 0, pin.SE3(pose), pin.FrameType.OP_FRAME)))
        body = link.body
        model.appendBodyToJoint(joint, pin.Inertia(body.mass, np.array(body.com), np.array(body.tensor)), pin.SE3(pose))
    joint, pose = carried[len(mech.links) - 1]
    tool = pin.SE3(pose @ mech.tool)
    frames.append(model.addFrame(pin.Frame("tool", joint, 0, tool, pin.FrameType.OP_FRAME)))
    return SimpleNamespace(model=model, data=model.createData(), frames=frames, offsets=offsets, joint=joint, tool=tool)


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest) -> tuple[Mechanism, SimpleNamespace, tuple[np.ndarray, ...]]:
    mech = CASES[request.param]()
    return mech, twin(mech), random_state(mech, 1)


Pair = tuple[Mechanism, SimpleNamespace, tuple[np.ndarray, ...]]


def test_poses(pair: Pair) -> None:
    mech, peer, (q, _, _) = pair
    pin.framesForwardKinematics(peer.model, peer.data, q + peer.offsets)
    wanted = np.array([peer.data.oMf[frame].homogeneous for frame in peer.frames])
    error = max(relative(mech.link_poses(q), wanted[:-1]), relative(mech.forward_kinematics(q), wanted[-1]))
    print(f"{error:.1e}")
    assert error <= BOUND


def test_jacobians(pair: Pair) -> None:
    mech, peer, (q, qd, _) = pair
    there = q + peer.offsets
    frames = {"base": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "body": pin.ReferenceFrame.LOCAL}
    worst = 0.0
    for frame, named in frames.items():
        for link, peer_frame in ((-1, peer.frames[-1]), (1, peer.frames[1])):
            pin.computeJointJacobians(peer.model, peer.data, there)
            pin.updateFramePlacements(peer.model, peer.data)
            wanted = pin.getFrameJacobian(peer.model, peer.data, peer_frame, named)
            worst = max(worst, relative(mech.jacobian(q, link=link, frame=frame), wanted))
            pin.computeJointJacobiansTimeVariation(peer.model, peer.data, there, qd)
            pin.updateFramePlacements(peer.model, peer.data)
            wanted = pin.getFrameJacobianTimeVariation(peer.model, peer.data, peer_frame, named)
            size = max(np.abs(wanted).max(), 1.0)
            worst = max(worst, np.abs(mech.jacobian_dot(q, qd, link=link, frame=frame) - wanted).max() / size)
    print(f"{worst:.1e}")
    assert worst <= BOUND


def test_inverse_dynamics(pair: Pair) -> None:
    mech, peer, (q, qd, qdd) = pair
    wanted = pin.rnea(peer.model, peer.data, q + peer.offsets, qd, qdd)
    error = relative(mech.inverse_dynamics(q, qd, qdd), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_inverse_dynamics_with_an_external_force(pair: Pair) -> None:
    mech, peer, (q, qd, qdd) = pair
    f = np.random.default_rng(3).normal(size=6) * 10
    forces = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    forces[peer.joint] = peer.tool.act(pin.Force(f))
    wanted = pin.rnea(peer.model, peer.data, q + peer.offsets, qd, qdd, forces)
    error = relative(mech.inverse_dynamics(q, qd, qdd, f), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_teeth(pair: Pair) -> None:
    """A turn of one joint by a millionth of a radian is seen."""
    mech, peer, (q, qd, qdd) = pair
    off = q + peer.offsets + 1e-6
    assert relative(mech.inverse_dynamics(q, qd, qdd), pin.rnea(peer.model, peer.data, off, qd, qdd)) > 10 * BOUND
