"""Agreement with MuJoCo, an independent engine, on the ready mechanisms."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree as Xml

import numpy as np
import pytest

from linkwise import Mechanism, robots
from mechanisms import random_state, relative

mujoco = pytest.importorskip("mujoco")

BOUND = 1e-10
"""Asked for; seen are 2e-14 in poses and 4e-12 in efforts (MuJoCo keeps quaternions, and diagonalises inertias)."""

HEAVY = [name for name in robots.names() if any(link.body.mass for link in robots.load(name).links)]


@pytest.fixture(autouse=True)
def _log_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MuJoCo writes a log where it runs: about mass matrices that it factors beforehand, singular without link inertias."""
    monkeypatch.chdir(tmp_path)


def quaternion(rotation: np.ndarray) -> np.ndarray:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found


def row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def twin(mech: Mechanism) -> SimpleNamespace:
    """The same mechanism in MuJoCo: each body's frame stands before B, and a site stands at each link's frame.

    Masses and inertias are set after compiling, as they are: an identified set of parameters need not be a body's.
    """
    root = Xml.Element("mujoco")
    Xml.SubElement(root, "option", gravity=row(mech.gravity))
    Xml.SubElement(root, "compiler", angle="radian", autolimits="false")
    world = Xml.SubElement(root, "worldbody")
    bodies, after = {-1: world}, {-1: np.array(mech.base)}
    for k in mech.order:
        link, parent = mech.links[k], mech.parents[k]
        pose = after[parent] @ link.before
        body = Xml.SubElement(
            bodies[parent], "body", name=link.name, pos=row(pose[:3, 3]), quat=row(quaternion(pose[:3, :3]))
        )
        Xml.SubElement(body, "inertial", mass="1", pos="0 0 0", diaginertia="1 1 1")
        if link.moves:
            kind = {"revolute": "hinge", "prismatic": "slide"}[link.joint]
            armature = link.motor.reflected_inertia if link.motor else 0.0
            Xml.SubElement(body, "joint", name=link.name, type=kind, axis=row(link.axis), armature=repr(armature))
        bodies[k], after[k] = body, np.array(link.after)
        site = {"pos": row(link.after[:3, 3]), "quat": row(quaternion(link.after[:3, :3]))}
        Xml.SubElement(body, "site", name=link.name, **site)
    last = after[len(mech.links) - 1] @ mech.tool
    Xml.SubElement(
        bodies[len(mech.links) - 1], "site", name="the tool", pos=row(last[:3, 3]), quat=row(quaternion(last[:3, :3]))
    )
    model = mujoco.MjModel.from_xml_string(Xml.tostring(root, encoding="unicode"))
    for link in mech.links:
        k = model.body(link.name).id
        turn = link.after[:3, :3]
        moments, axes = np.linalg.eigh(turn @ link.body.tensor @ turn.T)
        axes[:, 2] *= np.linalg.det(axes)
        model.body_mass[k], model.body_inertia[k] = link.body.mass, moments
        model.body_ipos[k] = turn @ link.body.com + link.after[:3, 3]
        model.body_iquat[k] = quaternion(axes)
        model.body_sameframe[k] = 0
    return SimpleNamespace(
        model=model, data=mujoco.MjData(model), offsets=[link.offset for link in mech.links if link.moves],
        address=[model.joint(name).dofadr[0] for name in mech.names],
    )  # fmt: skip


def at_state(mech: Mechanism, q: np.ndarray, *rates: np.ndarray) -> SimpleNamespace:
    peer = twin(mech)
    for place, values in zip(("qpos", "qvel", "qacc"), (q + peer.offsets, *rates), strict=False):
        getattr(peer.data, place)[peer.address] = values
    return peer


def site(peer: SimpleNamespace, name: str) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, :3] = peer.data.site(name).xmat.reshape(3, 3)
    pose[:3, 3] = peer.data.site(name).xpos
    return pose


@pytest.mark.parametrize("name", robots.names())
def test_poses_and_jacobian(name: str) -> None:
    mech = robots.load(name)
    q, _, _ = random_state(mech, 2)
    peer = at_state(mech, q)
    mujoco.mj_kinematics(peer.model, peer.data)
    mujoco.mj_comPos(peer.model, peer.data)
    wanted = [site(peer, link) for link in mech.link_names]
    jac = np.zeros((2, 3, mech.n))
    mujoco.mj_jacSite(peer.model, peer.data, jac[0], jac[1], peer.model.site("the tool").id)
    errors = [
        relative(mech.link_poses(q), wanted),
        relative(mech.forward_kinematics(q), site(peer, "the tool")),
        relative(mech.jacobian(q), jac.reshape(6, -1)[:, peer.address]),
    ]
    print(errors)
    assert max(errors) <= BOUND


@pytest.mark.parametrize("name", HEAVY)
def test_inverse_dynamics(name: str) -> None:
    mech = robots.load(name).nofriction()
    state = random_state(mech, 2)
    peer = at_state(mech, *state)
    mujoco.mj_inverse(peer.model, peer.data)
    wanted = peer.data.qfrc_inverse[peer.address]
    error = relative(mech.inverse_dynamics(*state), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND
    off = robots.load(name).nofriction().replace(gravity=mech.gravity * (1 + 1e-6), base=mech.base)
    moved = relative(off.inverse_dynamics(*state), mech.inverse_dynamics(*state))
    assert moved > BOUND or not np.any(mech.inverse_dynamics(state[0], 0 * state[0], 0 * state[0])), "the bound has teeth"
