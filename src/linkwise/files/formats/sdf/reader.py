"""The reader of SDF: links, joints and loops of all models of a file, and the tree that they make; docs/sdf.md."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileProblem, Problem, choices, shown
from linkwise.files.drake_curves import curvilinear_joint
from linkwise.files.formats.sdf.auto_inertia import DENSITY, summed_solids
from linkwise.files.formats.sdf.document import Document, Values, file_version
from linkwise.files.formats.sdf.frames import MOST, WORLD, FrameError, Scope
from linkwise.files.formats.sdf.tree import CLOSURES, Gearbox, JointTree, SdfJoint, SdfLink
from linkwise.files.registry import ReadOptions
from linkwise.files.report import Description, Reading, body_fields, listed, some, with_tool_at_a_tip
from linkwise.files.toml_text import Place
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.model.loop import Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.shape import SIZES, Shape
from linkwise.model.spring import Spring
from linkwise.model.tree import GRAVITY
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.solids import SOLIDS
from linkwise.spatial.transform import inverse, transform

#: Kinds of joints by their types in SDF.
KINDS = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "screw": "screw",
    "universal": "universal",
    "revolute2": "universal",
    "ball": "ball",
    "fixed": "fixed",
    "drake:planar": "planar",
    "drake:curvilinear": "curvilinear",
}

#: Default gravity of a world, m/s2.
WORLD_GRAVITY = (0.0, 0.0, -9.8)

#: Moments and products of inertia, with their default values, kg m2.
MOMENTS = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "iyz": 0.0, "ixz": 0.0}

#: Unused elements of a world or model, with the reasons.
WHY = {
    "plugin": "what it does is not known here",
    "physics": "it is for the simulator",
    "light": "it is for pictures",
    "scene": "it is for pictures",
    "gui": "it is for the simulator's window",
    "sensor": "Linkwise has no sensors",
    "state": "it is a state, not a part of the mechanism",
    "gripper": "what it grasps is for the simulator",
    "fluid_added_mass": "the water around a body is no part of it",
}


def parse(text: str, name: str, file: Path | None, options: ReadOptions) -> Reading:
    r"""Read the text of an SDF file.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the file gives none.
    file : Path, optional
        The file, from whose folder others are included.
    options : ReadOptions
        How it is read.

    Examples
    --------
    >>> joint = '<joint name="j" type="continuous"><parent>world</parent><child>arm</child></joint>'
    >>> text = f'<sdf version="1.7"><model name="m"><link name="arm"/>{joint}</model></sdf>'
    >>> parse(text, "", None, ReadOptions()).description.mechanism.names
    ('j',)
    """
    values = Values(options.drop_unknown)
    try:
        top = read_xml(text, "sdf", values.drop)
        version = file_version(values, top)
        if values.problems:
            return Reading(None, values.sorted_problems, {})
        document = Document(values, file, options)
        worlds = top.all("world")
        if len(worlds) > 1:
            values.report(worlds[1], f"there are {len(worlds)} worlds; expected one")
        world = worlds[0] if worlds else top
        document.expand(world, (file, version))
        with np.errstate(all="ignore"):
            return _Reader(top, Scope(values, document, world, "", None, ""), name, options).reading()
    except XmlError as error:
        return Reading(None, [error.problem], {})
    except RecursionError:
        return Reading(None, [FileProblem(0, "the frames depend on each other too deeply")], {})


class _Reader:
    """Builds a description from the scopes, gathering the problems of all parts."""

    def __init__(self, top: Element, world: Scope, name: str, options: ReadOptions) -> None:
        self.top, self.world, self.options, self.values = top, world, options, world.values
        models = list(world.models)
        self.name = (
            (world.element.get("name") or name) if world.element is not top else models[0] if len(models) == 1 else name
        )
        self.links: dict[str, SdfLink] = {}
        self.joints: list[SdfJoint] = []
        self.gearboxes: list[Gearbox] = []
        self.names: dict[str, str] = {WORLD: "base"}
        self.model_links: list[Link] = []
        self.lines: dict[Place, int] = {}
        self.places: dict[str, Element] = {}

    def reading(self) -> Reading:
        values = self.values
        if not self.world.models and self.world.element is self.top and not values.problems:
            values.report(self.top, "<sdf> holds no <model> and no <world>")
        gravity = self._gravity()
        if self.options.root in self.world.models:
            self._keep_model(str(self.options.root))
        self._read_links()
        joints = self._read_joints()
        tree = JointTree(values, self.links, joints)
        if self.options.root is not None and self.options.root not in self.world.models:
            tree.keep_root(self.world.element, self.options.root, list(self.world.models))
        floats = tree.one_floats
        if floats:
            tree.drop_still()
        mechanism = None if values.problems else self._mechanism(tree, floats, gravity)
        shapes = self._shapes(tree)
        if values.problems or mechanism is None:
            return Reading(None, values.sorted_problems, self.lines)
        values.leave_unused(self.top, WHY)
        description = Description(mechanism, shapes=tuple(shapes))
        return Reading(description, [], self.lines, values.all_remarks, lacking=values.lacking)

    def _gravity(self) -> tuple[float, ...]:
        """Read the gravity of a world; the default for a model without a world."""
        if self.world.element is self.top:
            return tuple(GRAVITY)
        world = self.world.element
        self.lines["gravity",] = (world.find("gravity") or world).line
        return self.values.vector("the world", world, "gravity", WORLD_GRAVITY)

    def _keep_model(self, name: str) -> None:
        """Leave all models but one out."""
        others = [other for other in self.world.models if other != name]
        if others:
            self.values.remark(
                self.world.elements[others[0]], f"left out, for root is {name!r}: {some(others, MOST, listed)}"
            )
        for other in others:
            del self.world.models[other]
        dropped = [child for child in self.world.elements.values() if child.tag == "joint"]
        dropped += [self.world.elements[other] for other in others]
        for child in dropped:
            child.attributes, child.children = {}, []
        self.world.elements = {key: child for key, child in self.world.elements.items() if child not in dropped}

    # ── links ─────────────────────────────────────────────────────────────────────────────────────

    def _read_links(self) -> None:
        taken = {scope.full_name(element) for scope, _, element in self.world.all("link")}
        for scope, key, element in self.world.all("link"):
            name = scope.full_name(element)
            item = f"link {name!r}"
            if name in self.links:
                self.values.report(element, f"{item} occurs twice, first in line {self.links[name].element.line}")
                continue
            self.names[name] = self.values.name_of_base(element, "link", taken) if name == "base" else name
            frame = self._placed(scope, key, element)
            if self.values.flag(item, element, "kinematic"):
                self.values.remark(element, f"{item}: it is kinematic, which is read as any link")
            if element.find("gravity") is not None and not self.values.flag(item, element, "gravity"):
                self.values.remark(element, f"{item}: gravity is false there; here gravity acts on all links")
            self.links[name] = link = SdfLink(name, element, scope, frame, {})
            link.body = self._body(item, link)

    def _placed(self, scope: Scope, key: str, element: Element) -> FloatArray:
        """T_world_frame; the identity after a report."""
        try:
            return np.asarray(scope.world_pose @ scope.pose(key, element), dtype=float)
        except FrameError as error:
            self.values.report(error.element, error.message)
            return np.eye(4)

    def _body(self, item: str, link: SdfLink) -> dict[str, Any]:
        """Mass, centre of mass and tensor; SDFormat's own are 1 kg and 1 kg m2."""
        element, scope = link.element, link.scope
        if (soft := element.find("drake:deformable_properties")) is not None:
            self.values.report(soft, f"{item}: <{soft.tag}>: a soft body is no rigid one")
        inertial = self.values.only(item, element, "inertial")
        if inertial is None:
            if scope.static:
                return {}
            self.values.remark(
                element, f"{item} has no <inertial>; by the rules of SDFormat its mass is 1 and its inertia 1 1 1"
            )
            inertial = Element("inertial", line=element.line)
        if inertial.find("fluid_added_mass") is not None:
            self.values.drop(inertial, f"{item}: <fluid_added_mass> is an inertia that is not read")
        if self.values.truth(f"{item}: auto", inertial, inertial.get("auto")):
            return self._auto_body(item, link, inertial)
        frame = self.values.pose(f"{item}: <inertial>", inertial)
        mass = self.values.number(item, inertial, "mass", 1.0)
        tensor = self.values.only(item, inertial, "inertia") or Element("inertia", line=inertial.line)
        body = body_fields(mass, frame, [self.values.number(item, tensor, tag, value) for tag, value in MOMENTS.items()])
        return self.values.body(item, body, self.options.physical, inertial)

    def _auto_body(self, item: str, link: SdfLink, inertial: Element) -> dict[str, Any]:
        """The inertia of the collisions, each with its density, else that of the link, else 1000 kg/m3; scaled to a mass."""
        values, parts = self.values, []
        density = values.number(item, inertial, "density", DENSITY)
        mass = values.number(item, inertial, "mass", 0.0) if inertial.find("mass") is not None else None
        for element in link.element.all("collision"):
            geometry = element.find("geometry")
            body = (
                next((child for child in geometry.children if child.tag in SOLIDS), None) if geometry is not None else None
            )
            if geometry is None or body is None:
                values.report(element, f"{item}: auto = 'true', but a collision is none of {choices(SOLIDS)}")
                continue
            geometry.asked_tags.add(body.tag)
            own_density = values.number(f"{item}: collision", element, "density", density)
            size, frame = self._size(values, item, body), self._pose_in_link(values, item, link, element)
            if min(*size, own_density) <= 0:
                values.report(body, f"{item}: auto = 'true', but a size or a density is not positive")
            parts.append((body.tag, size, frame, own_density))
        if not parts and not values.problems:
            values.report(inertial, f"{item}: auto = 'true', but it has no <collision>; expected one or more")
        if values.problems:
            return {}
        return values.body(item, summed_solids(parts, mass), self.options.physical, inertial)

    def _pose_in_link(self, values: Values, item: str, link: SdfLink, element: Element) -> FloatArray:
        """T_link_shape of a collision or visual."""
        origin, pose = values.pose(item, element), element.find("pose")
        if pose is not None and (relative := pose.get("relative_to")):
            try:
                frame = link.scope.world_pose @ link.scope.pose(relative, pose)
                return np.asarray(inverse(link.frame) @ frame @ origin, dtype=float)
            except FrameError as error:
                values.report(error.element, error.message)
        return origin

    # ── joints ────────────────────────────────────────────────────────────────────────────────────

    def _read_joints(self) -> list[SdfJoint]:
        joints: dict[str, SdfJoint] = {}
        for scope, key, element in self.world.all("joint"):
            name = scope.full_name(element)
            if name in joints:
                self.values.report(element, f"joint {name!r} occurs twice, first in line {joints[name].element.line}")
                continue
            try:
                joint = self._joint(scope, key, element, name)
            except FrameError as error:
                self.values.report(error.element, error.message)
                continue
            if joint is not None:
                joints[name] = joint
        for gearbox in self.gearboxes:
            gearbox.couple(joints.values(), self.values)
        for joint in joints.values():
            mimic = joint.fields.get("mimic")
            if mimic is not None and (mimic.joint not in joints or joints[mimic.joint].kind not in ONE):
                why = "there is no such joint" if mimic.joint not in joints else f"that joint is {joints[mimic.joint].kind}"
                self.values.report(joint.element, f"joint {joint.name!r}: it mimics {mimic.joint!r}, but {why}")
        return list(joints.values())

    def _joint(self, scope: Scope, key: str, element: Element, name: str) -> SdfJoint | None:
        item, kind = f"joint {name!r}", element.get("type") or ""
        if kind not in (*KINDS, "gearbox"):
            self.values.report(element, f"{item}: type is {shown(kind)}; expected {choices([*KINDS, 'gearbox'])}")
            return None
        parent, child = (scope.body(scope.end(element, tag), element) for tag in ("parent", "child"))
        if child in {WORLD, parent}:
            why = "its child is the world" if child == WORLD else f"its parent and its child are the same link, {child!r}"
            self.values.report(element, f"{item}: {why}; expected a link that it carries")
            return None
        joint = SdfJoint(name, KINDS.get(kind, kind), element, parent, child, self._placed(scope, key, element))
        if kind == "gearbox":
            self._gearbox(scope, joint)
            return None
        self._axes(scope, joint, item, kind)
        if joint.kind in ONE:
            self._rotor(joint, item)
            self._drake_mimic(joint, item)
        if joint.kind == "planar":
            joint.start = self._placed(scope, scope.end(element, "parent"), element)
            self._planar(joint, item)
        if joint.kind == "curvilinear":
            self._curvilinear(joint, item, self._placed(scope, scope.end(element, "parent"), element))
        if kind == "screw":
            joint.fields["pitch"] = self._pitch(item, element)
        return joint

    def _gearbox(self, scope: Scope, joint: SdfJoint) -> None:
        """A gearbox, kept until all joints are known."""
        item = f"joint {joint.name!r}"
        reference = scope.body(scope.end(joint.element, "gearbox_reference_body"), joint.element)
        elements = [self.values.only(item, joint.element, tag) for tag in ("axis", "axis2")]
        if None in elements:
            missing = ("axis", "axis2")[elements.index(None)]
            self.values.report(joint.element, f"{item}: it has no <{missing}>; expected two axes")
            return
        axes = [joint.frame[:3, :3] @ self._direction(scope, joint, item, axis) for axis in elements if axis is not None]
        ratio = self.values.number(item, joint.element, "gearbox_ratio", 1.0)
        if not ratio:
            self.values.report(joint.element, f"{item}: its gearbox_ratio is 0; expected another number")
            return
        self.gearboxes.append(Gearbox(joint, reference, axes, ratio))

    def _axes(self, scope: Scope, joint: SdfJoint, item: str, kind: str) -> None:
        """The axes with their limits and friction."""
        tags = AXES.get(joint.kind, ["axis"])
        axes = [self.values.only(item, joint.element, tag) for tag in tags]
        if len(tags) == 2 and None in axes:
            self.values.report(joint.element, f"{item}: it has no <{tags[axes.index(None)]}>; expected two axes")
            return
        directions, limits, greatest = [], [], {"qd_max": [], "qdd_max": [], "tau_max": []}  # type: ignore[var-annotated]
        for k, child in enumerate(axes):
            axis = child or Element("axis", line=joint.element.line)
            directions.append(self._direction(scope, joint, item, axis))
            limits.append(self._limits(item, axis, kind, greatest))
            self._dynamics(joint, item, axis, f"{joint.name}_{k + 1}" if len(tags) == 2 else None)
        if not tags:
            return
        several = len(tags) == 2
        joint.fields["axis"] = directions if several else directions[0]
        if any(pair != (-math.inf, math.inf) for pair in limits):
            joint.fields["limits"] = limits if several else limits[0]
        for name, ends in greatest.items():
            if any(end < math.inf for end in ends):
                joint.fields[name] = ends if several else ends[0]

    def _direction(self, scope: Scope, joint: SdfJoint, item: str, axis: Element) -> FloatArray:
        """Return an axis in the joint's frame; before version 1.5 it was expressed in the model's frame."""
        child = self.values.only(item, axis, "xyz")
        direction = np.array(self.values.vector(item, axis, "xyz", (0.0, 0.0, 1.0)))
        frame = child.get("expressed_in") if child is not None else None
        if self.values.flag(item, axis, "use_parent_model_frame") or scope.version < (1, 5):
            frame = frame or WORLD if scope.outer is None else frame or "__model__"
        if frame:
            try:
                rotation = (scope.world_pose @ scope.pose(frame, child or axis))[:3, :3]
                direction = joint.frame[:3, :3].T @ rotation @ direction
            except FrameError as error:
                self.values.report(error.element, error.message)
        if not direction.any():
            self.values.report(axis, f"{item}: its axis is zero; expected a direction")
            return np.array([0.0, 0.0, 1.0])
        return np.asarray(direction, dtype=float)

    def _limits(self, item: str, axis: Element, kind: str, greatest: Mapping[str, list[float]]) -> tuple[float, float]:
        limit = self.values.only(item, axis, "limit") or Element("limit", line=axis.line)
        for tag, name in (("velocity", "qd_max"), ("drake:acceleration", "qdd_max"), ("effort", "tau_max")):
            value = self.values.end(item, limit, tag, -1.0)
            greatest[name].append(math.inf if value < 0 else value)
        low, high = self.values.end(item, limit, "lower", -math.inf), self.values.end(item, limit, "upper", math.inf)
        if kind == "continuous":
            return -math.inf, math.inf
        return self.values.limits(limit, item, low, high, self.options.swap_limits)

    def _dynamics(self, joint: SdfJoint, item: str, axis: Element, coordinate: str | None) -> None:
        """Damping, friction and spring of a joint, and the joint that it follows; `coordinate` is one of two angles."""
        dynamics = self.values.only(item, axis, "dynamics") or Element("dynamics", line=axis.line)
        tags = ("damping", "friction", "spring_stiffness", "spring_reference")
        damping, friction, stiffness, reference = (self.values.number(item, dynamics, tag, 0.0) for tag in tags)
        for tag, value in zip(tags, (damping, friction, stiffness), strict=False):
            if value < 0:
                self.values.report(dynamics, f"{item}: its {tag} is {value!r}; expected a number >= 0")
                return
        if coordinate is None and (damping or friction):
            joint.fields["motor"] = self.values.build(item, lambda: Motor(viscous=damping, coulomb=friction), dynamics)
        elif friction:
            self.values.remark(dynamics, f"{item}: its friction is left out, for a joint with two axes has none here")
        if stiffness or (damping and coordinate):
            rate = 0.0 if coordinate is None else damping
            spring = self.values.build(item, lambda: Spring(coordinate or joint.name, stiffness, reference, rate), dynamics)
            joint.springs += [spring] if spring else []
        self._mimic(joint, item, axis, several=coordinate is not None)

    def _mimic(self, joint: SdfJoint, item: str, axis: Element, *, several: bool) -> None:
        """It follows multiplier (leader - reference) + offset."""
        child = self.values.only(item, axis, "mimic")
        if child is None:
            return
        leader, on = child.get("joint"), child.get("axis") or "axis"
        if not leader or several or on != "axis":
            why = "names no joint" if not leader else "is of one of two axes, which cannot follow or be followed here"
            self.values.report(child, f"{item}: <mimic> {why}; expected joint = 'the name of a joint with one axis'")
            return
        defaults = {"multiplier": 1.0, "offset": 0.0, "reference": 0.0}
        ratio, offset, reference = (self.values.number(item, child, tag, value) for tag, value in defaults.items())
        self._follow(joint, item, leader, ratio, offset - ratio * reference, child)

    def _drake_mimic(self, joint: SdfJoint, item: str) -> None:
        """Drake's own element: it follows multiplier leader + offset, of which all are attributes."""
        child = self.values.only(item, joint.element, "drake:mimic")
        if child is None:
            return
        values = []
        for key in ("multiplier", "offset"):
            text = child.get(key)
            subject = f"{item}: {key} of <drake:mimic>"
            parsed = None if text is None else self.values.finite(child, subject, text, 1)
            if text is None:
                self.values.report(child, f"{item}: <drake:mimic> has no {key}; expected a number")
            values += list(parsed or ())
        leader = (child.get("joint") or "").strip()
        if not leader or "mimic" in joint.fields:
            why = "names no joint" if not leader else "stands beside a <mimic> of its axis"
            self.values.report(child, f"{item}: <drake:mimic> {why}; expected one joint that it follows")
        elif len(values) == 2:
            self._follow(joint, item, leader, values[0], values[1], child)

    def _follow(self, joint: SdfJoint, item: str, leader: str, ratio: float, offset: float, at: Element) -> None:
        """Let a joint follow one of its own model."""
        prefix = joint.name[: len(joint.name) - len((joint.element.get("name") or "").strip())]
        mimic = self.values.build(item, lambda: Mimic(prefix + leader, ratio, offset), at)
        joint.fields |= {"mimic": mimic} if mimic else {}

    def _planar(self, joint: SdfJoint, item: str) -> None:
        """Drake's planar joint: its normal is z, and each of its velocities is damped."""
        joint.fields["axis"] = (0.0, 0.0, 1.0)
        damping = self.values.vector(item, joint.element, "drake:damping", (0.0, 0.0, 0.0))
        if min(damping) < 0:
            self.values.report(joint.element, f"{item}: its damping is {min(damping)!r}; expected a number >= 0")
            return
        names = Link(name=joint.name, joint="planar", axis=(0.0, 0.0, 1.0)).coordinate_names
        joint.springs += [Spring(name, damping=value) for name, value in zip(names, damping, strict=True) if value]

    def _curvilinear(self, joint: SdfJoint, item: str, start: FloatArray) -> None:
        """Drake's joint along a path, which begins in a frame of the parent."""
        values, element = self.values, joint.element

        def direction(tag: str, default: tuple[float, ...]) -> tuple[float, ...]:
            part = values.only(item, element, tag)
            return default if part is None else values.vector(f"{item}: <{tag}>", part, "xyz", (0.0, 0.0, 0.0))

        number = lambda curve, name: values.number(item, curve, f"drake:{name}", 0.0)  # noqa: E731
        repeats = values.flag(item, element, "drake:is_periodic")
        path = curvilinear_joint(values, item, element, number, direction, repeats)
        damping = values.number(item, element, "drake:damping", 0.0)
        if damping < 0:
            values.report(element, f"{item}: its damping is {damping!r}; expected a number >= 0")
        if path is None or damping < 0:
            joint.kind = "fixed"
        else:
            joint.start = start @ path[1]
            joint.fields["joint"] = path[0]
            joint.fields |= {} if repeats else {"limits": (0.0, float(path[0].lengths.sum()))}
            joint.fields |= {"motor": Motor(viscous=damping)} if damping else {}

    def _rotor(self, joint: SdfJoint, item: str) -> None:
        """Drake's rotor with its gear, as the joint feels it; by Drake's rule a joint without effort has none."""
        inertia, ratio = (self.values.number(item, joint.element, f"drake:{tag}", value) for tag, value in ROTOR.items())
        if inertia and joint.fields.get("tau_max") == 0:
            self.values.remark(joint.element, f"{item}: its effort is 0, and its <drake:rotor_inertia> is left out")
        elif inertia:
            motor = joint.fields.get("motor") or Motor()
            joint.fields["motor"] = self.values.build(item, lambda: motor.replace(inertia=inertia * ratio**2), joint.element)

    def _pitch(self, item: str, element: Element) -> float:
        """The advance of a screw, m/rad: from m per turn, or the older rad per m of a left-handed thread."""
        if element.find("screw_thread_pitch") is None and element.find("thread_pitch") is None:
            self.values.remark(element, f"{item} has no <screw_thread_pitch>; by SDFormat's rules it is 1 m for each turn")
        thread = self.values.number(item, element, "thread_pitch", -2 * math.pi)
        if element.find("screw_thread_pitch") is not None or not thread:
            return self.values.number(item, element, "screw_thread_pitch", 1.0) / (2 * math.pi)
        return -1.0 / thread

    # ── the mechanism ─────────────────────────────────────────────────────────────────────────────

    def _mechanism(self, tree: JointTree, floats: bool, gravity: Iterable[float]) -> Mechanism | None:
        base = np.eye(4)
        springs, loops = [], []
        for name in tree.roots:
            link = self.links[name]
            fields: dict[str, Any] = {"joint": "fixed" if floats or link.scope.static else "floating"}
            base = link.frame if floats else base
            fields |= {} if floats else {"before": link.frame}
            self._add(link, link.element, {**fields, "parent": "base"})
        for joint in tree.joints:
            child = self.links[joint.child]
            before = inverse(self._frame(joint.parent)) @ (joint.frame if joint.start is None else joint.start)
            after = inverse(joint.frame) @ child.frame
            if joint.kind == "fixed":
                before, after = before @ after, np.eye(4)
            fields = {"joint": joint.kind, "parent": self.names[joint.parent], "before": before, "after": after}
            joint_name = {} if joint.name == self.names[joint.child] else {"joint_name": joint.name}
            self._add(child, joint.element, {**fields, **joint.fields, **joint_name})
            self.places[f"joint {joint.name!r}"] = joint.element
            springs += joint.springs
        for joint in tree.closing:
            self.places[f"loop {joint.name!r}"] = joint.element
            if loop := self._loop(joint):
                loops.append(loop)
        if self.values.problems:
            return None
        settings: dict[str, Any] = {"base": base, "floating": floats, "name": self.name or None, "gravity": tuple(gravity)}
        if not self.model_links:
            self.model_links = self.values.ground_alone(self.world.element, "there is no <link>")
        make = lambda: Mechanism(self.model_links, loops=loops, springs=springs, **settings)  # noqa: E731
        mechanism = self.values.build("mechanism", make, self._line)
        return mechanism and with_tool_at_a_tip(mechanism)

    def _line(self, problem: Problem) -> int:
        return self.places[problem.item].line if problem.item in self.places else 0

    def _frame(self, name: str) -> FloatArray:
        return np.eye(4) if name == WORLD else self.links[name].frame

    def _add(self, link: SdfLink, element: Element, fields: dict[str, Any]) -> None:
        name = self.names[link.name]
        self.places[f"link {name!r}"] = link.element
        self.lines["link", len(self.model_links)] = element.line
        part = self.values.build(f"link {name!r}", lambda: Link(name=name, **fields, **link.body), element)
        self.model_links.append(part or Link(name=name, parent="base"))

    def _loop(self, joint: SdfJoint) -> Loop | None:
        """Return the closure for a joint whose child is already carried by another joint."""
        item = f"joint {joint.name!r}"
        if joint.kind not in CLOSURES:
            why = f"it carries {joint.child!r} beside another joint, and a {joint.kind} joint cannot close a loop"
            self.values.report(joint.element, f"{item}: {why}; expected {choices(CLOSURES)}")
            return None
        left: list[str] = [name for name in ("limits", "motor", "mimic", "qd_max", "tau_max") if name in joint.fields]
        left += ["spring"] if joint.springs else []
        if left:
            self.values.remark(joint.element, f"{item}: it closes a loop and has no coordinate; left out: {', '.join(left)}")
        turn = rotation_between((0.0, 0.0, 1.0), joint.fields["axis"]) if joint.kind == "revolute" else None
        frame = joint.frame @ np.asarray(transform(turn), dtype=float)
        first, second = (inverse(self._frame(end)) @ frame for end in (joint.parent, joint.child))
        ends = self.names[joint.parent], self.names[joint.child]
        return self.values.build(item, lambda: Loop(CLOSURES[joint.kind], *ends, first, second, joint.name), joint.element)

    # ── shapes ────────────────────────────────────────────────────────────────────────────────────

    def _shapes(self, tree: JointTree) -> list[Shape]:
        """Return all readable shapes; remark on the others."""
        links = [self.links[name] for name in [*tree.roots, *(joint.child for joint in tree.joints)]]
        return [shape for link in links for shape in self.values.shapes(link.element, partial(self._shape, link))]

    def _shape(self, link: SdfLink, values: Values, element: Element, role: str) -> Shape | None:
        item = f"link {link.name!r}: {role}"
        geometry = values.only(item, element, "geometry")
        body = next((child for child in geometry.children if child.tag != "empty"), None) if geometry is not None else None
        if geometry is None or body is None:
            values.report(element, f"{item} has no geometry")
            return None
        geometry.asked_tags.add(body.tag)
        if body.tag not in SIZES:
            values.report(body, f"{item}: geometry is <{body.tag}>; expected {choices(SIZES)}")
            body.children = []
            return None
        origin = self._pose_in_link(values, item, link, element)
        size, filename = self._size(values, item, body), None
        if body.tag == "mesh":
            filename = self._filename(link.scope, values.text(item, body, "uri"))
            if filename is None:
                values.report(body, f"{item}: <mesh> has no <uri>")
            if body.find("submesh") is not None:
                values.report(body, f"{item}: <submesh> is a part of a mesh, and not read")
        material = values.only(item, element, "material")
        colour = None if material is None or material.find("diffuse") is None else self._colour(values, item, material)
        if values.problems:
            return None
        fields: dict[str, Any] = {"role": role, "origin": origin, "name": element.get("name"), "colour": colour}
        return values.build(item, lambda: Shape(self.names[link.name], body.tag, size, filename=filename, **fields), element)

    def _colour(self, values: Values, item: str, material: Element) -> tuple[float, ...]:
        diffuse = material.find("diffuse")
        count = 4 if diffuse is None or len(diffuse.text.split()) != 3 else 3
        return (*values.vector(item, material, "diffuse", (1.0,) * count), 1.0)[:4]

    def _size(self, values: Values, item: str, body: Element) -> tuple[float, ...]:
        tags = {"box": "size", "mesh": "scale", "ellipsoid": "radii"}
        if body.tag in tags:
            return values.vector(item, body, tags[body.tag], (1.0, 1.0, 1.0))
        return tuple(values.number(item, body, name, 1.0) for name in SIZES[body.tag])

    def _filename(self, scope: Scope, uri: str | None) -> str | None:
        """Return the address of a mesh relative to the main file."""
        main = self.world.file
        if uri is None or "://" in uri or scope.file is None or main is None or scope.file == main:
            return uri
        return os.path.relpath(scope.file.parent / uri, main.absolute().parent)


#: Drake's elements of a rotor, and their values where they are missing.
ROTOR = {"rotor_inertia": 0.0, "gear_ratio": 1.0}

#: The elements with axes of the kinds of joints that have not one alone.
AXES: dict[str, list[str]] = {"fixed": [], "ball": [], "planar": [], "curvilinear": [], "universal": ["axis", "axis2"]}

#: Joints with one coordinate.
ONE = ("revolute", "prismatic", "screw")
