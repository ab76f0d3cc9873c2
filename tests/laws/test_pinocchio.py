"""Agreement with Pinocchio, an independent engine, on random chains and trees with every joint type that both have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from linkwise import Mechanism, robots
from support.bundled import BUNDLED
from support.random_mechanisms import FLOATING, SEEDS, Interpreted, direct, random_mechanism, random_state, relative, variant

if TYPE_CHECKING:
    from support.pinocchio_model import Twin

pin = pytest.importorskip("pinocchio", exc_type=ImportError)

BOUND = 1e-12
"""Asked for is 1e-10; both sides round in a few thousand operations, and what is seen is below 1e-14."""

OPEN = [name for name in BUNDLED if not robots.load(name).loops]
HEAVY = [name for name in OPEN if any(link.body.mass for link in robots.load(name).links)]

CASES = {
    **{f"random{seed}": (lambda s=seed: variant(f"joints {s}").without_friction()) for seed in SEEDS},
    "long_chain": lambda: random_mechanism(100, ["revolute"] * 12, range(-1, 11), of=Interpreted).without_friction(),
    "wide_tree": lambda: random_mechanism(
        101, ["revolute"] * 12, [-1, 0, 0, 1, 1, 2, 2, 2, -1, 8, 8, 0], of=Interpreted
    ).without_friction(),
    **{name: (lambda n=name: variant(n).without_friction()) for name in FLOATING if "rotors" not in name},
    **{name: (lambda n=name: robots.load(n).without_friction()) for name in HEAVY},
}


Pair = tuple[Mechanism, "Twin", tuple[np.ndarray, ...]]


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest) -> Pair:
    from support.pinocchio_model import Twin

    mech = CASES[request.param]()
    return mech, Twin(mech), random_state(mech, 1)


def test_poses(pair: Pair) -> None:
    mech, peer, (q, _, _) = pair
    pin.framesForwardKinematics(peer.model, peer.data, peer.at(q))
    wanted = np.array([peer.data.oMf[frame].homogeneous for frame in peer.frames])
    error = max(relative(mech.link_poses(q), wanted[:-1]), relative(mech.forward_kinematics(q), wanted[-1]))
    print(f"{error:.1e}")
    assert error <= BOUND


def test_jacobians(pair: Pair) -> None:
    mech, peer, (q, qd, _) = pair
    there = peer.at(q)
    frames = {"world": pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, "body": pin.ReferenceFrame.LOCAL}
    worst = 0.0
    for frame, named in frames.items():
        for link, peer_frame in (("tool", peer.frames[-1]), (1, peer.frames[1])):
            pin.computeJointJacobians(peer.model, peer.data, there)
            pin.updateFramePlacements(peer.model, peer.data)
            wanted = pin.getFrameJacobian(peer.model, peer.data, peer_frame, named)[:, peer.place]
            worst = max(worst, relative(direct(mech, "jacobian", q, link=link, frame=frame), wanted))
            pin.computeJointJacobiansTimeVariation(peer.model, peer.data, there, peer.to(qd))
            pin.updateFramePlacements(peer.model, peer.data)
            wanted = pin.getFrameJacobianTimeVariation(peer.model, peer.data, peer_frame, named)[:, peer.place]
            size = max(np.abs(wanted).max(), 1.0)
            worst = max(worst, np.abs(direct(mech, "jacobian_dot", q, qd, link=link, frame=frame) - wanted).max() / size)
    print(f"{worst:.1e}")
    assert worst <= BOUND


def test_inverse_dynamics(pair: Pair) -> None:
    mech, peer, (q, qd, qdd) = pair
    wanted = peer.back(pin.rnea(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(qdd)))
    error = relative(mech.inverse_dynamics(q, qd, qdd), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_inverse_dynamics_with_an_external_force(pair: Pair) -> None:
    mech, peer, (q, qd, qdd) = pair
    f = np.random.default_rng(3).normal(size=6) * 10
    forces = [pin.Force.Zero() for _ in range(peer.model.njoints)]
    forces[peer.joint] = peer.tool.act(pin.Force(f))
    wanted = peer.back(pin.rnea(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(qdd), forces))
    error = relative(mech.inverse_dynamics(q, qd, qdd, f), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_teeth(pair: Pair) -> None:
    """A turn of the joints by a millionth of a radian is seen."""
    mech, peer, (q, qd, qdd) = pair
    off = peer.at(q)
    off[-mech.n :] += 1e-6
    moved = peer.back(pin.rnea(peer.model, peer.data, off, peer.to(qd), peer.to(qdd)))
    assert relative(mech.inverse_dynamics(q, qd, qdd), moved) > 10 * BOUND
