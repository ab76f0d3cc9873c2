"""A mechanism as MuJoCo has it."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

import mujoco
import numpy as np

from linkwise import Mechanism
from linkwise.spatial.quaternion import quaternion_product, quaternion_rotation

ANY = {"mass": "1", "pos": "0.1 0.2 0.3", "quat": "0.8 0.2 0.4 0.4", "diaginertia": "1 1.1 1.2"}
"""Of every body until it gets its own: generic, so that the compiler takes no short cuts that hold for simple ones alone."""


def quaternion(rotation: np.ndarray) -> np.ndarray:
    found = np.zeros(4)
    mujoco.mju_mat2Quat(found, np.ascontiguousarray(rotation).ravel())
    return found


def row(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


class Twin:
    """The same mechanism in MuJoCo: each body's frame stands before B, and a site stands at each link's frame.

    Masses and inertias are set after compiling, as they are: an identified set of parameters need not be a body's. The
    speeds of a free body are there its velocity in world axes and its angular velocity in its own: ``turn`` (nv, nv) takes
    ours there. Screws do not exist, friction is not given to it, and rotors are inertia at the joint ("armature") alone.
    """

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech
        self.model = mujoco.MjModel.from_xml_string(Xml.tostring(self._written(), encoding="unicode"))
        self._weigh()
        self.data = mujoco.MjData(self.model)
        joints = [self.model.joint(name) for name in mech.names]
        self.at_q = np.array([joint.qposadr[0] for joint in joints])
        base = [self.model.joint("floating").dofadr[0] + k for k in range(6)] if mech.floating else []
        self.place = np.array([*base, *(joint.dofadr[0] for joint in joints)])
        self.offsets = np.array([link.offset for link in mech.links if link.moves])
        self.turn = np.eye(mech.nv)

    def _written(self) -> Xml.Element:
        mech = self.mech
        root = Xml.Element("mujoco")
        Xml.SubElement(root, "option", gravity=row(mech.gravity))
        Xml.SubElement(root, "compiler", angle="radian", autolimits="false")
        world = Xml.SubElement(root, "worldbody")
        bodies, after = {-1: world}, {-1: np.array(mech.base)}
        if mech.floating:
            bodies[-1], after[-1] = Xml.SubElement(world, "body", name="the base"), np.eye(4)
            Xml.SubElement(bodies[-1], "inertial", ANY)
            Xml.SubElement(bodies[-1], "freejoint", name="floating")
        for k in mech.order:
            link, parent = mech.links[k], mech.parents[k]
            pose = after[parent] @ link.before
            place = {"pos": row(pose[:3, 3]), "quat": row(quaternion(pose[:3, :3]))}
            body = Xml.SubElement(bodies[parent], "body", name=link.name, **place)
            Xml.SubElement(body, "inertial", ANY)
            if link.moves:
                kind = {"revolute": "hinge", "prismatic": "slide"}[link.joint]
                motors = [drive.motor for drive in mech.drives if drive.coordinate == mech.coordinates[k]]
                armature = repr(float(sum(motor.reflected_inertia for motor in motors)))
                Xml.SubElement(body, "joint", name=link.name, type=kind, axis=row(link.axis), armature=armature)
            bodies[k], after[k] = body, np.array(link.after)
            site = {"pos": row(link.after[:3, 3]), "quat": row(quaternion(link.after[:3, :3]))}
            Xml.SubElement(body, "site", name=link.name, **site)
        last = after[len(mech.links) - 1] @ mech.tool
        site = {"pos": row(last[:3, 3]), "quat": row(quaternion(last[:3, :3]))}
        Xml.SubElement(bodies[len(mech.links) - 1], "site", name="the tool", **site)
        return root

    def _weigh(self) -> None:
        model = self.model
        if self.mech.floating:
            k = model.body("the base").id
            model.body_mass[k], model.body_inertia[k] = 0.0, 0.0
        for link in self.mech.links:
            k = model.body(link.name).id
            turn = link.after[:3, :3]
            moments, axes = np.linalg.eigh(turn @ link.body.tensor @ turn.T)
            axes[:, 2] *= np.linalg.det(axes)
            model.body_mass[k], model.body_inertia[k] = link.body.mass, moments
            model.body_ipos[k] = turn @ link.body.com + link.after[:3, 3]
            model.body_iquat[k] = quaternion(axes)
            model.body_sameframe[k] = 0
        for k in range(model.nbody):
            below = [j for j in range(model.nbody) if k in ancestry(model, j)]
            model.body_subtreemass[k] = model.body_mass[below].sum()

    def place_at(self, q: np.ndarray, *rates: np.ndarray) -> None:
        """Set q, qd and qdd."""
        mech, base = self.mech, self.mech.nv - self.mech.n
        self.data.qpos[self.at_q] = q[mech.nq - mech.n :] + self.offsets
        if mech.floating:
            stand = mech.base[:3, :3]
            rotation = stand @ quaternion_rotation(q[3:7]).astype(float)
            self.data.qpos[:3] = stand @ q[:3] + mech.base[:3, 3]
            self.data.qpos[3:7] = np.asarray(quaternion_product(quaternion(stand), q[3:7]), dtype=float)
            self.turn[:3, :3] = rotation
        for k, (name, values) in enumerate(zip(("qvel", "qacc"), rates, strict=False)):
            there = self.turn @ values
            if k and base:
                there[:3] += self.turn[:3, :3] @ np.cross(rates[0][3:6], rates[0][:3])
            getattr(self.data, name)[self.place] = there

    def back(self, efforts: np.ndarray) -> np.ndarray:
        """Our efforts (nv,)."""
        return np.asarray(self.turn.T @ np.asarray(efforts)[self.place])

    def columns(self, jacobian: np.ndarray) -> np.ndarray:
        """Our Jacobian (..., nv)."""
        return np.asarray(jacobian[..., self.place] @ self.turn)

    def site(self, name: str) -> np.ndarray:
        pose = np.eye(4)
        pose[:3, :3] = self.data.site(name).xmat.reshape(3, 3)
        pose[:3, 3] = self.data.site(name).xpos
        return pose


def ancestry(model: mujoco.MjModel, body: int) -> list[int]:
    found = [body]
    while found[-1]:
        found.append(int(model.body_parentid[found[-1]]))
    return found


def tendon_jacobian(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """The derivatives (tendons, nv) of the lengths of tendons, which MuJoCo keeps sparse."""
    held = data if hasattr(data, "ten_J_rownnz") else model  # (of versions before 4 the data)
    dense, values, columns = np.zeros((model.ntendon, model.nv)), data.ten_J.ravel(), held.ten_J_colind.ravel()
    for k, (start, count) in enumerate(zip(held.ten_J_rowadr, held.ten_J_rownnz, strict=True)):
        dense[k, columns[start : start + count]] = values[start : start + count]
    return dense
