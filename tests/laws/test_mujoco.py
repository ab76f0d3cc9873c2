"""Agreement with MuJoCo, an independent engine, on the ready mechanisms and on random trees, fixed and afloat.

Where the two say different things, and why:

| | Linkwise | MuJoCo |
|---|---|---|
| speeds of a floating base | all in the base's axes | linear in world axes, angular in the base's; turned in `Twin` |
| their derivatives | component by component | the same: a in world axes = R (dv/dt + w x v) |
| C, derivatives, regressor | exact | no such function, or by finite differences |
| rotors that a link carries | their spin and its gyroscopic moment | inertia at the joint ("armature") alone |
| momentum | rotors without a carrier add nothing | the same |
| a joint that moves no inertia (UR5's last) | `ModelError` | a warning in a log, and numbers |
| screws | a joint | none |
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from linkwise import Mechanism, robots
from linkwise.errors import ModelError
from support.bundled import BUNDLED
from support.random_mechanisms import afloat, direct, random_mechanism, random_state, relative

if TYPE_CHECKING:
    from support.mujoco_model import Twin

mujoco = pytest.importorskip("mujoco", exc_type=ImportError)

BOUND = 1e-11
"""MuJoCo keeps quaternions, and diagonalises inertias: some thousand roundings more; seen: 4e-12 in efforts."""

EPS = np.finfo(float).eps

OPEN = [name for name in BUNDLED if not robots.load(name).loops]
HEAVY = [name for name in OPEN if any(link.body.mass for link in robots.load(name).links)]


def tree(seed: int) -> Mechanism:
    """A random tree of six links without screws."""
    rng = np.random.default_rng(seed)
    kinds = ["revolute", *rng.choice(["revolute", "prismatic", "fixed"], 5, p=(0.6, 0.3, 0.1))]
    return random_mechanism(seed, kinds).without_friction()


CASES = {
    **{name: (lambda n=name: robots.load(n).without_friction()) for name in HEAVY},
    **{f"tree{seed}": (lambda s=seed: tree(s)) for seed in range(200, 205)},
    **{f"floating_{name}": (lambda n=name: afloat(robots.load(n)).without_friction()) for name in ("panda", "puma560")},
    **{f"floating_tree{seed}": (lambda s=seed: afloat(tree(s), s)) for seed in range(200, 205)},
}


@pytest.fixture(autouse=True)
def _log_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes a log where it runs: about mass matrices that it factors beforehand, singular without link inertias."""
    monkeypatch.chdir(tmp_path)


Pair = tuple[Mechanism, "Twin", np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(params=CASES, scope="module")
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pair:
    from support.mujoco_model import Twin

    mech = CASES[request.param]()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("log"))
        return mech, Twin(mech), *random_state(mech, 2)


def placed(pair: Pair) -> Twin:
    _, peer, q, qd, _ = pair
    mujoco.mj_resetData(peer.model, peer.data)
    peer.place_at(q, qd)
    mujoco.mj_fwdPosition(peer.model, peer.data)
    mujoco.mj_fwdVelocity(peer.model, peer.data)
    return peer


@pytest.mark.parametrize("name", [*OPEN, "floating"])
def test_poses_and_jacobian(name: str) -> None:
    from support.mujoco_model import Twin

    mech = CASES["floating_tree201"]() if name == "floating" else robots.load(name)
    q, _, _ = random_state(mech, 2)
    peer = Twin(mech)
    peer.place_at(q)
    mujoco.mj_kinematics(peer.model, peer.data)
    mujoco.mj_comPos(peer.model, peer.data)
    wanted = [peer.site(link) for link in mech.link_names]
    jac = np.zeros((2, 3, mech.nv))
    mujoco.mj_jacSite(peer.model, peer.data, jac[0], jac[1], peer.model.site("the tool").id)
    errors = [
        relative(mech.link_poses(q), wanted),
        relative(mech.forward_kinematics(q), peer.site("the tool")),
        relative(mech.jacobian(q), peer.columns(jac.reshape(6, -1))),
    ]
    print(errors)
    assert max(errors) <= BOUND


def test_inverse_dynamics(pair: Pair) -> None:
    mech, peer, q, qd, qdd = pair
    mujoco.mj_resetData(peer.model, peer.data)
    peer.place_at(q, qd, qdd)
    mujoco.mj_inverse(peer.model, peer.data)
    found = direct(mech, "inverse_dynamics", q, qd, qdd)
    error = relative(found, peer.back(peer.data.qfrc_inverse))
    print(f"{error:.1e}")
    assert error <= BOUND
    off = mech.replace(gravity=mech.gravity * (1 + 1e-6))
    moved = relative(direct(off, "inverse_dynamics", q, qd, qdd), found)
    assert moved > BOUND or not np.any(direct(mech, "gravity_torque", q)), "the bound has teeth"


def test_mass_matrix(pair: Pair) -> None:
    mech, _, q, _, _ = pair
    peer = placed(pair)
    error = relative(direct(mech, "mass_matrix", q), mass_matrix(peer))
    print(f"{error:.1e}")
    assert error <= BOUND


def mass_matrix(peer: Twin) -> np.ndarray:
    """Ours from MuJoCo's, column by column."""
    table = np.zeros((peer.mech.nv, peer.mech.nv))
    for k, unit in enumerate(np.eye(peer.mech.nv)):
        there, force = np.zeros(peer.mech.nv), np.zeros(peer.mech.nv)
        there[peer.place] = peer.turn @ unit
        mujoco.mj_mulM(peer.model, peer.data, force, there)
        table[:, k] = peer.back(force)
    return table


def test_bias_and_gravity(pair: Pair) -> None:
    """MuJoCo's bias is at zero acceleration in its own speeds, so what R (w x v) takes is added to it."""
    mech, _, q, qd, _ = pair
    peer = placed(pair)
    extra = np.zeros(mech.nv)
    if mech.floating:
        extra[:3] = np.cross(qd[3:6], qd[:3])
    wanted = peer.back(peer.data.qfrc_bias) + mass_matrix(peer) @ extra
    errors = [relative(direct(mech, "bias_torque", q, qd), wanted)]
    peer.data.qvel[:] = 0.0
    mujoco.mj_fwdVelocity(peer.model, peer.data)
    gravity = direct(mech, "gravity_torque", q)
    errors.append(np.abs(gravity - peer.back(peer.data.qfrc_bias)).max() / np.abs(wanted).max())
    print(errors)
    assert max(errors) <= BOUND


def test_forward_dynamics(pair: Pair) -> None:
    """The acceleration of MuJoCo's speeds from ours; solving may lose the condition of M."""
    mech, peer, q, qd, tau = pair
    if mech.name == "ur5":
        with pytest.raises(ModelError, match="joint 'wrist_3': inertia is 0"):
            direct(mech, "forward_dynamics", q, qd, tau)
        return
    mujoco.mj_resetData(peer.model, peer.data)
    peer.place_at(q, qd)
    there = np.zeros(mech.nv)
    there[peer.place] = np.linalg.solve(peer.turn.T, tau)
    peer.data.qfrc_applied[:] = there
    mujoco.mj_forward(peer.model, peer.data)
    found = np.linalg.solve(peer.turn, peer.data.qacc[peer.place])
    if mech.floating:
        found[:3] -= np.cross(qd[3:6], qd[:3])
    error = relative(direct(mech, "forward_dynamics", q, qd, tau), found)
    condition = np.linalg.cond(direct(mech, "mass_matrix", q))
    print(f"{error:.1e}, condition {condition:.0f}")
    assert error <= max(BOUND, 1e3 * EPS * condition)


def test_energies(pair: Pair) -> None:
    mech, _, q, qd, _ = pair
    peer = placed(pair)
    mujoco.mj_energyPos(peer.model, peer.data)
    mujoco.mj_energyVel(peer.model, peer.data)
    potential, kinetic = peer.data.energy
    size = abs(potential) + 1e-3
    errors = [
        relative(direct(mech, "kinetic_energy", q, qd), kinetic),
        abs(float(direct(mech, "potential_energy", q)) - potential) / size,
    ]
    print(errors)
    assert max(errors) <= BOUND


def test_centre_of_mass_and_momentum(pair: Pair) -> None:
    mech, _, q, qd, _ = pair
    peer = placed(pair)
    mujoco.mj_subtreeVel(peer.model, peer.data)
    jacobian = np.zeros((3, mech.nv))
    mujoco.mj_jacSubtreeCom(peer.model, peer.data, jacobian, 0)
    mass = peer.model.body_subtreemass[0]
    wanted = np.concatenate([mass * peer.data.subtree_linvel[0], peer.data.subtree_angmom[0]])
    errors = [
        relative(direct(mech, "center_of_mass", q), peer.data.subtree_com[0]),
        relative(direct(mech, "center_of_mass_jacobian", q), peer.columns(jacobian)),
        relative(direct(mech, "momentum", q, qd, about="com"), wanted),
    ]
    print(errors)
    assert max(errors) <= BOUND
