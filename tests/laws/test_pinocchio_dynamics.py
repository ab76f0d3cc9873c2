"""Agreement with Pinocchio on the dynamics, intermediate by intermediate: ready mechanisms, random trees, floating ones.

Where the two say different things, and why:

| | Linkwise | Pinocchio |
|---|---|---|
| links fixed to the ground | count in the centre of mass and potential energy | left out: another centre and constant |
| rotors that a link carries | their spin and its gyroscopic moment | inertia at the joint ("armature") alone |
| kinetic energy | rotors counted | as seen in 4.1, `armature` of prismatic joints alone, though M has all |
| a joint that moves no inertia (UR5's last) | `ModelError` | numbers that are not finite |
| regressor | ten columns for each link, about its frame | ten for each joint, another order, no rotors |
| friction | in inverse and forward dynamics | in none of these functions |
| quaternion | scalar first | scalar last |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ModelError
from linkwise.model.parameters import to_body
from support.bundled import BUNDLED
from support.random_mechanisms import FLOATING, SEEDS, afloat, direct, random_mechanism, random_state, relative, variant
from support.rotors_as_links import anywhere, freed

if TYPE_CHECKING:
    from support.pinocchio_model import Twin

pin = pytest.importorskip("pinocchio", exc_type=ImportError)

BOUND = 1e-12
"""Both sides round in a few thousand operations; seen: 6e-15, and in accelerations the condition of M times that."""

EPS = np.finfo(float).eps

OPEN = [name for name in BUNDLED if not robots.load(name).loops]
HEAVY = [name for name in OPEN if any(link.body.mass for link in robots.load(name).links)]

CASES = {
    **{f"random{seed}": (lambda s=seed: variant(f"joints {s}").without_friction()) for seed in SEEDS},
    "wide_tree": lambda: random_mechanism(101, ["revolute"] * 12, [-1, 0, 0, 1, 1, 2, 2, 2, -1, 8, 8, 0]).without_friction(),
    **{name: (lambda n=name: variant(n).without_friction()) for name in FLOATING if "rotors" not in name},
    **{name: (lambda n=name: robots.load(n).without_friction()) for name in HEAVY},
    "floating_panda": lambda: afloat(robots.load("panda")).without_friction(),
    "floating_puma": lambda: afloat(robots.load("puma560")).without_friction(),
}

Pair = tuple[Mechanism, "Twin", np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest) -> Pair:
    from support.pinocchio_model import Twin

    mech = CASES[request.param]()
    return mech, Twin(mech), *random_state(mech, 1)


def inside(mech: Mechanism, q: np.ndarray) -> float:
    """What solving with M may lose."""
    return float(max(BOUND, 10 * EPS * np.linalg.cond(direct(mech, "mass_matrix", q))))


def test_mass_matrix(pair: Pair) -> None:
    mech, peer, q, _, _ = pair
    wanted = peer.square(pin.crba(peer.model, peer.data, peer.at(q)), symmetric=True)
    error = relative(direct(mech, "mass_matrix", q), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_bias_and_gravity(pair: Pair) -> None:
    mech, peer, q, qd, _ = pair
    bias = peer.back(pin.nonLinearEffects(peer.model, peer.data, peer.at(q), peer.to(qd)))
    gravity = peer.back(pin.computeGeneralizedGravity(peer.model, peer.data, peer.at(q)))
    size = np.abs(bias).max()
    errors = [
        relative(direct(mech, "bias_torque", q, qd), bias),
        np.abs(direct(mech, "gravity_torque", q) - gravity).max() / size,
    ]
    print(errors)
    assert max(errors) <= BOUND


def test_coriolis_matrix(pair: Pair) -> None:
    """The matrices are the same, not only their products with qd: both are those of Christoffel symbols, and with a
    floating base of the symbols that belong to its own axes (S. Echeandia, P. M. Wensing, 2021)."""
    mech, peer, q, qd, _ = pair
    wanted = peer.square(pin.computeCoriolisMatrix(peer.model, peer.data, peer.at(q), peer.to(qd)))
    error = relative(direct(mech, "coriolis_matrix", q, qd), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_forward_dynamics(pair: Pair) -> None:
    mech, peer, q, qd, tau = pair
    if mech.name == "ur5":
        with pytest.raises(ModelError, match="joint 'wrist_3': inertia is 0"):
            direct(mech, "forward_dynamics", q, qd, tau)
        assert not np.isfinite(pin.aba(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(tau))).all()
        return
    wanted = peer.back(pin.aba(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(tau)))
    error = relative(direct(mech, "forward_dynamics", q, qd, tau), wanted)
    print(f"{error:.1e}")
    assert error <= inside(mech, q)


def test_derivatives(pair: Pair) -> None:
    mech, peer, q, qd, last = pair
    pin.computeRNEADerivatives(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(last))
    of = peer.data
    wanted = [peer.square(of.dtau_dq), peer.square(of.dtau_dv), peer.square(of.M, symmetric=True)]
    found = direct(mech, "inverse_dynamics_derivatives", q, qd, last)
    errors = [relative(a, b) for a, b in zip(found, wanted, strict=True)]
    assert max(errors) <= BOUND
    if mech.name == "ur5":
        return
    pin.computeABADerivatives(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(last))
    wanted = [peer.square(of.ddq_dq), peer.square(of.ddq_dv), peer.square(of.Minv, symmetric=True)]
    found = direct(mech, "forward_dynamics_derivatives", q, qd, last)
    solved = [relative(a, b) for a, b in zip(found, wanted, strict=True)]
    print(errors, solved)
    assert max(solved) <= inside(mech, q)


def test_energies(pair: Pair) -> None:
    """Kinetic energy of the links, rotors added by hand; potential energy as a difference between two places."""
    mech, peer, q, qd, _ = pair
    bare = peer.model.copy()
    bare.armature = np.zeros(mech.nv)
    kinetic = pin.computeKineticEnergy(bare, bare.createData(), peer.at(q), peer.to(qd))
    kinetic += 0.5 * peer.to(qd) ** 2 @ peer.model.armature
    other = random_state(mech, 2)[0]
    fall = pin.computePotentialEnergy(peer.model, peer.data, peer.at(other))
    fall -= pin.computePotentialEnergy(peer.model, peer.data, peer.at(q))
    found = direct(mech, "potential_energy", other) - direct(mech, "potential_energy", q)
    size = abs(float(direct(mech, "potential_energy", q))) + abs(fall) + 1e-12
    errors = [relative(direct(mech, "kinetic_energy", q, qd), kinetic), abs(found - fall) / size]
    print(errors)
    assert max(errors) <= BOUND


def test_centre_of_mass_and_momentum(pair: Pair) -> None:
    mech, peer, q, qd, _ = pair
    center = np.array(pin.centerOfMass(peer.model, peer.data, peer.at(q)))
    moving = peer.data.mass[0]
    jacobian = np.array(pin.jacobianCenterOfMass(peer.model, peer.data, peer.at(q)))[:, peer.place]
    momentum = pin.computeCentroidalMomentum(peer.model, peer.data, peer.at(q), peer.to(qd))
    mass = sum(link.body.mass for link in mech.links)
    grounded = [k for k in range(len(mech.links)) if peer.carried[k][0] == 0]
    poses = direct(mech, "link_poses", q)
    standing = sum(
        (mech.links[k].body.mass * (poses[k] @ [*mech.links[k].body.com, 1.0])[:3] for k in grounded), np.zeros(3)
    )
    found = mass * direct(mech, "center_of_mass", q) - standing
    about_origin = direct(mech, "momentum", q, qd)
    wanted = np.concatenate([momentum.linear, momentum.angular + np.cross(center, momentum.linear)])
    errors = [
        np.abs(found - moving * center).max() / (mass * max(np.abs(center).max(), 1e-3)),
        relative(mass * direct(mech, "center_of_mass_jacobian", q), moving * jacobian),
        relative(about_origin, wanted),
    ]
    if not grounded:
        errors.append(relative(direct(mech, "momentum", q, qd, about="com"), momentum.vector))
    print(errors)
    assert max(errors) <= BOUND


ORDER = (0, 1, 2, 3, 4, 6, 9, 5, 8, 7)
"""Pinocchio's m, m x, m y, m z, xx, xy, yy, xz, yz, zz, in our order M, MX, MY, MZ, XX, YY, ZZ, XY, YZ, XZ."""


def test_regressor(pair: Pair) -> None:
    """Pinocchio's ten columns of a joint, taken to each link that the joint carries; the motors' columns are ours alone."""
    mech, peer, q, qd, qdd = pair
    table = peer.back(pin.computeJointTorqueRegressor(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(qdd)))
    found = direct(mech, "regressor", q, qd, qdd)
    wanted = np.zeros((mech.nv, 10 * len(mech.links)))
    for k in range(len(mech.links)):
        joint, pose = peer.carried[k]
        if joint:
            columns = table[:, 10 * (joint - 1) : 10 * joint][:, ORDER]
            wanted[:, 10 * k : 10 * k + 10] = columns @ to_body(pose)
    error = relative(found[:, : wanted.shape[1]], wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


@pytest.mark.parametrize("name", [name for name in FLOATING if "rotors" not in name])
def test_integrate_and_difference(name: str) -> None:
    from support.pinocchio_model import Twin

    mech = variant(name)
    peer = Twin(mech)
    q, qd, _ = random_state(mech, 3)
    other = random_state(mech, 4)[0]
    step = peer.at(direct(mech, "integrate", q, qd, 1.0))
    wanted = np.array(pin.integrate(peer.model, peer.at(q), peer.to(qd)))
    turn = np.sign(step[3:7] @ wanted[3:7])
    error = np.abs(np.concatenate([step[:3], turn * step[3:7], step[7:]]) - wanted).max()
    between = peer.back(pin.difference(peer.model, peer.at(q), peer.at(other)))
    apart = np.abs(mech.difference(q, other) - between).max()
    print(f"{error:.1e} {apart:.1e}")
    assert max(error, apart) <= 1e-13


@pytest.mark.parametrize("name", ["rotors 1", "rotors 4", "floating rotors 0", "floating rotors 3"])
def test_carried_rotors(name: str) -> None:
    """Pinocchio is given each rotor as a body on a joint of its carrier, and what it computes is tied together."""
    from support.pinocchio_model import Twin

    mech = variant(name).without_friction()
    mech = mech.replace(motors=[motor for motor in mech.motors if motor.mass])  # its bodies cannot have holes
    assert len(mech.motors) > 1
    made, tie = freed(mech)
    peer = Twin(made)
    q, qd, qdd = random_state(mech, 5)
    there = peer.at(anywhere(mech, made, q, 5))
    tau = tie.T @ peer.back(pin.rnea(peer.model, peer.data, there, peer.to(tie @ qd), peer.to(tie @ qdd)))
    mass = tie.T @ peer.square(pin.crba(peer.model, peer.data, there), symmetric=True) @ tie
    coriolis = tie.T @ peer.square(pin.computeCoriolisMatrix(peer.model, peer.data, there, peer.to(tie @ qd))) @ tie
    errors = [
        relative(direct(mech, "inverse_dynamics", q, qd, qdd), tau),
        relative(direct(mech, "mass_matrix", q), mass),
        relative(direct(mech, "coriolis_matrix", q, qd), coriolis),
    ]
    print(errors)
    assert max(errors) <= BOUND


def test_teeth(pair: Pair) -> None:
    """A turn of the joints by a millionth of a radian is seen."""
    mech, peer, q, qd, _ = pair
    off = q.copy()
    off[-mech.n :] += 1e-6
    wanted = peer.back(pin.nonLinearEffects(peer.model, peer.data, peer.at(off), peer.to(qd)))
    assert relative(direct(mech, "bias_torque", q, qd), wanted) > 10 * BOUND


def test_the_centroidal_momentum_matrix_and_its_rate(pair: Pair) -> None:
    """Pinocchio's is about the centre of the moving links; its rate there does not know that ours is another point."""
    mech, peer, q, qd, _ = pair
    found = direct(mech, "centroidal_momentum_matrix", q)
    matrix = np.array(pin.computeCentroidalMap(peer.model, peer.data, peer.at(q)))[:, peer.place]
    shift = np.array(peer.data.com[0]) - direct(mech, "center_of_mass", q)
    matrix[3:] += np.cross(shift, matrix[:3].T).T
    errors = [relative(found, matrix)]
    if np.abs(shift).max() < 1e-12:
        pin.dccrba(peer.model, peer.data, peer.at(q), peer.to(qd))
        rate = np.array(peer.data.dAg)[:, peer.place] @ qd
        errors.append(relative(direct(mech, "centroidal_momentum_matrix_dot", q, qd) @ qd, rate))
    print([f"{error:.1e}" for error in errors])
    assert max(errors) <= BOUND


def test_centres_of_mass_of_what_joints_carry(pair: Pair) -> None:
    mech, peer, q, _, _ = pair
    pin.centerOfMass(peer.model, peer.data, peer.at(q))
    worst = 0.0
    for k, link in enumerate(mech.links):
        joint = peer.carried[k][0]
        if not link.moves or not peer.data.mass[joint] > 0:
            continue
        jac = np.array(pin.jacobianSubtreeCenterOfMass(peer.model, peer.data, peer.at(q), joint))[:, peer.place]
        own = direct(mech, "center_of_mass_jacobian", q, link=k)
        moving = np.abs(jac).max(axis=0) > 0  # (Pinocchio leaves out what moves the root of the subtree)
        worst = max(worst, relative(own[:, moving], jac[:, moving]) if moving.any() else 0.0)
    print(f"{worst:.1e}")
    assert worst <= BOUND


def test_derivatives_of_the_velocity_of_a_frame(pair: Pair) -> None:
    mech, peer, q, qd, qdd = pair
    pin.computeForwardKinematicsDerivatives(peer.model, peer.data, peer.at(q), peer.to(qd), peer.to(qdd))
    tables = pin.getFrameVelocityDerivatives(peer.model, peer.data, peer.frames[-1], pin.ReferenceFrame.LOCAL)
    found = direct(mech, "frame_velocity_derivatives", q, qd, frame="body")
    errors = [
        np.abs(one - np.array(other)[:, peer.place]).max() / (1.0 + np.abs(other).max())
        for one, other in zip(found, tables, strict=True)
    ]
    print([f"{error:.1e}" for error in errors])
    assert max(errors) <= BOUND
