"""The links of an MJCF file: one for each body and for each further joint, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linkwise.files.formats.mjcf.attributes import Attributes
from linkwise.files.formats.mjcf.bodies import WORLD, BodyElement
from linkwise.files.formats.mjcf.joints import MjcfJoint
from linkwise.files.report import Report, attempt, unused_name
from linkwise.files.toml_text import Place
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.joints.floating import POSE_COLUMNS
from linkwise.model.joints.joint import Columns
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.potential import BallSpring, ConstantForce
from linkwise.model.spring import ForceElement, Spring
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import translation

#: What the kinds of joints are called here.
KINDS = {"hinge": "revolute", "slide": "prismatic", "ball": "ball"}

BODY_FIELDS = ("mass", "com", "inertia")


class Links:
    """Makes the links, and keeps the line of each.

    Attributes
    ----------
    model_links : list of Link
        The links, each after its parent.
    lines : dict
        Line of each place, as `Reading` has them.
    items : dict of str to Attributes
        The elements of links and joints, by the names that messages of the model use.
    joints : dict of int to MjcfJoint
        The joint of each link that has a hinge, slide or ball.
    """

    def __init__(
        self,
        names: LinkNames,
        follows: Mapping[str, Mimic],
        stays: Mapping[str, float],
        gravity: Sequence[float],
        *,
        physical: bool,
        floats: bool,
    ) -> None:
        self.names, self.follows, self.stays, self.physical, self.floats = names, follows, stays, physical, floats
        self.gravity = np.array(gravity)
        self.moving: set[int] = set()
        self.joints: dict[int, MjcfJoint] = {}
        self.model_links: list[Link] = []
        self.between: set[int] = set()
        self.lines: dict[Place, int] = {}
        self.items: dict[str, Attributes] = {}
        self.springs: list[ForceElement] = []
        self.motors: list[tuple[Attributes, Motor]] = []

    def add(self, k: int, body: BodyElement) -> None:
        """The links of the k-th body."""
        parent = "base" if body.parent == WORLD else self.names.bodies[body.parent]
        name = self.names.bodies[k]
        mass = {"mass": body.inertia.mass, "com": body.inertia.com, "inertia": body.inertia.tensor}
        if body.moves or body.parent in self.moving:
            self.moving.add(k)
            borne = body.attributes.number("gravcomp") * body.inertia.mass * -self.gravity
            if borne.any():
                self.springs.append(ConstantForce(name, borne, body.inertia.com))
        if body.free_joint is not None and not body.joints and not self.floats:
            joint_name = self.names.joint(body.free_joint.text("name"), name)
            values = {"joint": "floating", "joint_name": joint_name, "name": name, "parent": parent, **mass}
            self._link(body, None, values)
            self._drive(body.free_joint, body.free_motor, joint_name or name, POSE_COLUMNS)
            return
        before = np.eye(4) if body.free_joint is not None else body.frame
        if not body.joints:
            if body.free_joint is not None:
                self._drive(body.free_joint, body.free_motor, BASE, POSE_COLUMNS)
            self._link(body, None, {"joint": "fixed", "before": before, "name": name, "parent": parent, **mass})
            return
        for at, joint in enumerate(body.joints):
            last = at == len(body.joints) - 1
            link_name = name if last else self.names.part(k, at, joint.name)
            placed = self._placed(joint, before)
            if not last:
                self.between.add(len(self.model_links))
            self._link(body, joint, {"name": link_name, "parent": parent, **placed, **(mass if last else {})})
            parent, before = link_name, np.eye(4)

    def _placed(self, joint: MjcfJoint, before: FloatArray) -> dict[str, Any]:
        """A J(q) B of a joint: its motion is about or along an axis through its point, and the frame stays the body's."""
        to = np.asarray(translation(*joint.pos), dtype=float)
        back = np.asarray(translation(*(-joint.pos)), dtype=float)
        name, kind = joint.name, KINDS[joint.kind]
        if kind == "ball":
            return {"joint": kind, "before": before @ to, "after": back}
        if name is not None and name in self.stays:
            moved = Link(joint=kind, axis=joint.axis).motion(self.stays[name] - joint.ref)
            return {"joint": "fixed", "before": before @ to @ np.asarray(moved, dtype=float) @ back}
        frames = {"before": before @ to, "after": back, "axis": joint.axis}
        mimic = self.follows.get(name) if name else None
        return {"joint": kind, **frames, "offset": 0.0 - joint.ref, "mimic": mimic, **joint.fields}

    def _drive(self, said: Attributes, motor: Motor | None, joint: str, columns: Mapping[str, Columns]) -> None:
        """The same motor for each velocity of a joint with a quaternion."""
        if motor is not None:
            self.motors += [(said, motor.replace(joint=f"{joint}{ending}")) for ending, _ in columns["qd"]]

    def _link(self, body: BodyElement, joint: MjcfJoint | None, values: dict[str, Any]) -> None:
        """One link, or a bare one in its place after a report."""
        at, name = len(self.model_links), values["name"]
        said = body.attributes if joint is None else joint.attributes
        inertial = body.inertial or body.attributes
        if joint is not None and values["joint"] != "fixed":
            values["joint_name"] = self.names.joint(joint.name, name)
            self.joints[at] = joint
            if joint.spring is not None:
                stiffness, rest_length = joint.spring
                called = values["joint_name"] or name
                is_ball = joint.kind == "ball"
                self.springs.append(
                    BallSpring(called, stiffness, rest_length) if is_ball else Spring(called, stiffness, rest_length)
                )
            if joint.kind == "ball":
                self._drive(said, joint.fields["motor"], values["joint_name"] or name, ROTATION_COLUMNS)
            self.items[f"joint {values['joint_name'] or name!r}"] = said
        link, wrong = attempt(body.attributes.item, lambda: Link(**values))
        if link is None and not self.physical:  # marks only what cannot exist
            link, wrong = attempt(body.attributes.item, lambda: Link(**values, physical=False))
        for problem in wrong:
            (inertial if problem.field in BODY_FIELDS else said).tell(problem)
        self.items[f"link {name!r}"] = body.attributes
        self.lines["link", at] = body.attributes.element.line
        self.lines.update({("link", at, field): inertial.element.line for field in BODY_FIELDS})
        bare, _ = attempt("link", lambda: Link(name=name, parent=values["parent"]))
        self.model_links.append(link or bare or Link(name=f"?{at}", parent="base"))


def one_floats(bodies: Sequence[BodyElement]) -> bool:
    """Whether there is one tree that moves, and it moves freely: the base floats. Others are links that do."""
    still = still_roots(bodies)
    moving = [body for k, body in enumerate(bodies) if body.parent == WORLD and k not in still]
    return len(moving) == 1 and moving[0].free_joint is not None and not moving[0].joints


def still_roots(bodies: Sequence[BodyElement]) -> set[int]:
    """The bodies in the world under which nothing moves, by place."""
    roots: list[int] = []
    moving = set()
    for body in bodies:
        roots.append(len(roots) if body.parent == WORLD else roots[body.parent])
        if body.moves:
            moving.add(roots[-1])
    return set(roots) - moving


class LinkNames:
    """Names of links: those of the bodies, ``body3`` where there is none (the world is 0), and one for each further joint.

    A body of several joints is a chain of links: the last is the body; one before it has its name and that of its joint.
    """

    def __init__(self, log: Report, bodies: Sequence[BodyElement]) -> None:
        self.taken = {body.name for body in bodies if body.name} | {"base"}
        self.bodies = [self._body(log, k, body) for k, body in enumerate(bodies)]
        self.joints = {joint.name for body in bodies for joint in body.joints if joint.name}
        self.joints |= {name for body in bodies if body.free_joint and (name := body.free_joint.text("name"))}

    def _body(self, log: Report, k: int, body: BodyElement) -> str:
        if body.name == "base":
            return log.name_of_base(body.attributes.element, "body", self.taken)
        return body.name or unused_name(f"body{k + 1}", self.taken)

    def part(self, body: int, k: int, joint: str | None) -> str:
        """The link that the k-th joint of a body carries, where it is not the last one."""
        return unused_name(f"{self.bodies[body]}_{joint or k + 1}", self.taken)

    def joint(self, joint: str | None, link: str) -> str | None:
        """What the joint of a link is called, where that is not the link's name."""
        if joint:
            return None if joint == link else joint
        return unused_name(f"{link}_joint", self.joints) if link in self.joints else None
