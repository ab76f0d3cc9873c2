"""Writer of URDF; docs/urdf.md lists the supported features."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.files.formats.urdf.elements import ACCELERATION, GEOMETRIES, GREATEST, PITCH, UNBOUNDED
from linkwise.files.losses import Losses, motor_losses
from linkwise.files.report import Description, can_exist, check_shape_links, needs_tool_frame, unused_name
from linkwise.files.xml_tree import NOT_XML, element_lines, numbers, real
from linkwise.mechanism import Mechanism
from linkwise.model.assembly import separated
from linkwise.model.formatting.table import number
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.shape import Shape
from linkwise.model.tree import GRAVITY
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.scalar import Array, FloatArray

#: Ends of the names of a link between, on a joint's axis, and of the joint that holds the link itself on it.
AXIS, FIXED = "_axis", "_fixed"

#: A link's origin this near to the joint's axis, relative to its distance from the joint's frame, is on it.
AT_AXIS = 1e-15


@dataclass(frozen=True)
class JointPlan:
    """One <joint>."""

    name: str
    kind: str
    parent: str
    child: str
    before: Array
    axis: FloatArray | None = None
    link: Link | None = None  # whose limits, friction and mimic it has


@dataclass
class UrdfPlan:
    """All links with their inertia, and all joints, in the order of writing."""

    links: dict[str, Inertia] = field(default_factory=dict)
    joints: list[JointPlan] = field(default_factory=list)
    base: str = "base"  # name of the mechanism's base


def plan_of(mechanism: Mechanism, keep: Collection[str] = ()) -> UrdfPlan:
    """Plan the elements of a URDF; `keep` names links with shapes."""
    return _Planner(mechanism, keep).plan


class _Planner:
    """Builds a plan: the ground, the links one by one, the tool."""

    def __init__(self, mechanism: Mechanism, keep: Collection[str]) -> None:
        self.mechanism = mechanism = with_written_kinds(mechanism)
        self.plan = UrdfPlan()
        self.links = {"base", *mechanism.link_names}
        self.joints = {link.coordinate_name for link in mechanism.links if link.moves}
        root = self._ground(keep)
        for k, link in enumerate(mechanism.links):
            if k != root:
                self._link(k, link)
        self._tool()

    def _ground(self, keep: Collection[str]) -> int:
        """Add the root and its placement; return the index of the link that is the base body, or -1."""
        mechanism, plan = self.mechanism, self.plan
        root = _root(mechanism)
        placed = not np.array_equal(mechanism.base, np.eye(4))
        if "base" in keep or (placed and not mechanism.floating):
            root = -1
        if root >= 0:
            plan.base = str(mechanism.links[root].name)
        body = mechanism.links[root].body if root >= 0 else Inertia()
        if mechanism.floating or placed:
            world = unused_name("world", self.links)
            plan.links[world] = Inertia()
            kind, name = ("floating", "floating_base") if mechanism.floating else ("fixed", "base")
            plan.joints.append(JointPlan(unused_name(name, self.joints), kind, world, plan.base, mechanism.base))
        plan.links[plan.base] = body
        return root

    def _parent(self, k: int) -> str:
        at = self.mechanism.parents[k]
        return self.plan.base if at < 0 else str(self.mechanism.links[at].name)

    def _link(self, k: int, link: Link) -> None:
        """A joint, and where the link's origin is not on its axis a link without mass before it."""
        if not link.moves:
            name = unused_name(link.coordinate_name, self.joints)
            self._add(k, name, "fixed", link.before @ link.after)
            return
        before = link.before @ link.motion(0.0) if link.offset else link.before
        kind = ("revolute" if link.limits else "continuous") if link.joint == "revolute" else link.joint
        if kind in SEVERAL and np.array_equal(link.after, np.eye(4)):
            self._add(k, link.coordinate_name, kind, before, axis=link.axis if kind == "planar" else None)
            return
        if kind == "prismatic" or (kind not in SEVERAL and _on_axis(link)):
            turned = link.after[:3, :3].T @ link.axis
            self._add(k, link.coordinate_name, kind, before @ link.after, axis=turned, link=link)
            return
        between = unused_name(f"{link.name}{AXIS}", self.links)
        self.plan.links[between] = Inertia()
        about = None if kind in {"floating", "ball"} else link.axis
        whole = None if kind in SEVERAL else link
        self.plan.joints.append(JointPlan(link.coordinate_name, kind, self._parent(k), between, before, about, whole))
        self._add(k, unused_name(f"{link.coordinate_name}{FIXED}", self.joints), "fixed", link.after, between)

    def _add(self, k: int, name: str, kind: str, before: Array, parent: str | None = None, **moving: Any) -> None:
        """The k-th link and the joint that carries it, on its own parent unless another is named."""
        link = self.mechanism.links[k]
        self.plan.links[str(link.name)] = link.body
        self.plan.joints.append(JointPlan(name, kind, parent or self._parent(k), str(link.name), before, **moving))

    def _tool(self) -> None:
        """Add the tool, with the shapes that it carries, as a separate link."""
        mechanism = self.mechanism
        if not needs_tool_frame(mechanism):
            return
        name = unused_name("tool", self.links)
        self.plan.links[name] = mechanism.payload
        held = mechanism.link_names[mechanism.tool_index]
        self.plan.joints.append(JointPlan(unused_name("tool", self.joints), "fixed", held, name, mechanism.tool))


def with_written_kinds(mechanism: Mechanism) -> Mechanism:
    """The mechanism with two joints in the place of each that URDF has no kind for, where two of its kinds are the same."""
    return separated(mechanism, whole=SEVERAL)


def axis_links(links: Sequence[Link]) -> set[int]:
    """Places of the links without mass that a plan puts on a joint's axis where its link has the frame elsewhere."""
    fixed = {(link.parent, link.name, link.coordinate_name) for link in links if not link.moves}
    return {
        k
        for k, link in enumerate(links)
        if link.moves
        and link.body.is_zero
        and (link.name, str(link.name).removesuffix(AXIS), f"{link.coordinate_name}{FIXED}") in fixed
    }


def _root(mechanism: Mechanism) -> int:
    """The one link on the base, if it sits there without a joint and is not displaced; else -1."""
    first = [k for k, parent in enumerate(mechanism.parents) if parent < 0]
    link = mechanism.links[first[0]]
    still = not link.moves and not link.joint_name and np.array_equal(link.before @ link.after, np.eye(4))
    return first[0] if len(first) == 1 and still else -1


def _on_axis(link: Link) -> bool:
    """True if the joint's axis passes through the origin of the link's frame."""
    shift = link.after[:3, 3]
    off = np.linalg.norm(np.cross(link.axis, shift))
    return bool(off <= AT_AXIS * np.linalg.norm(shift))


#: The kinds of joints of a mechanism that URDF has.
WRITTEN = ("revolute", "prismatic", "screw", "fixed", "planar", "ball", "floating")

#: Types with another name in URDF, or without one: Bullet's and Drake's.
NAMES = {"ball": "spherical"}

#: Types with several coordinates.
SEVERAL = ("planar", "ball", "floating")


def render(mechanism: Mechanism, shapes: Sequence[Shape] = ()) -> str:
    """Return the text of a URDF, without the losses.

    Raises
    ------
    ArgumentError
        Where a shape is on no link.

    Examples
    --------
    >>> from linkwise import robots
    >>> render(robots.planar_2r()).splitlines()[1]
    '<robot name="planar_2r">'
    """
    return "\n".join(_robot(mechanism, [shape for shape in shapes if shape.kind in GEOMETRIES])) + "\n"


def _robot(mechanism: Mechanism, shapes: Sequence[Shape]) -> Iterator[str]:
    check_shape_links(mechanism, shapes)
    plan = plan_of(mechanism, {shape.link for shape in shapes})
    inner = [
        line
        for name, body in plan.links.items()
        for line in _link(name, body, [shape for shape in shapes if shape.link == name])
    ]
    inner += [line for joint in plan.joints for line in _joint(joint)]
    yield '<?xml version="1.0" encoding="utf-8"?>'
    limited = any(joint.link is not None and joint.link.qdd_max is not None for joint in plan.joints)
    extended = limited or any(joint.kind == "screw" for joint in plan.joints)
    drake = {"xmlns:drake": "http://drake.mit.edu"} if extended else {}
    yield from element_lines("robot", {"name": mechanism.name, **drake}, inner)


def _link(name: str, body: Inertia, shapes: Sequence[Shape]) -> Iterator[str]:
    inner = [*_inertial(body), *(line for shape in shapes for line in _shape(shape))]
    yield from element_lines("link", {"name": name}, inner)


def _inertial(body: Inertia) -> list[str]:
    if body.is_zero and not body.com.any():
        return []
    j = body.tensor.tolist()
    tensor = {"ixx": j[0][0], "ixy": j[0][1], "ixz": j[0][2], "iyy": j[1][1], "iyz": j[1][2], "izz": j[2][2]}
    inner = [
        *element_lines("origin", {"xyz": numbers(body.com)}),
        *element_lines("mass", {"value": real(body.mass)}),
        *element_lines("inertia", {name: real(value) for name, value in tensor.items()}),
    ]
    return element_lines("inertial", {}, inner)


def _joint(joint: JointPlan) -> list[str]:
    inner = [
        *_origin(joint.before),
        *element_lines("parent", {"link": joint.parent}),
        *element_lines("child", {"link": joint.child}),
        *(element_lines("axis", {"xyz": numbers(joint.axis)}) if joint.axis is not None else []),
    ]
    if joint.link is not None:
        inner += _limit(joint)
        inner += _dynamics(joint.link.motor)
        mimic = joint.link.mimic
        if mimic is not None:
            attributes = {"joint": mimic.joint, "multiplier": real(mimic.ratio), "offset": real(mimic.offset)}
            inner += element_lines("mimic", attributes)
    if joint.kind == "screw" and joint.link is not None:
        inner += element_lines(PITCH, {"value": real(2 * math.pi * joint.link.pitch)})
    tag = "drake:joint" if joint.kind == "screw" else "joint"
    return element_lines(tag, {"name": joint.name, "type": NAMES.get(joint.kind, joint.kind)}, inner)


def _limit(joint: JointPlan) -> list[str]:
    """Write limits, which URDF requires of revolute and prismatic joints; missing ones become `UNBOUNDED`."""
    link = joint.link
    assert link is not None
    limits: dict[str, float] = {}
    if joint.kind != "continuous":
        limits["lower"], limits["upper"] = link.limits or (-math.inf, math.inf)
    greatest = {"effort": link.tau_max, "velocity": link.qd_max}
    drake = {} if link.qdd_max is None else {ACCELERATION: link.qdd_max}
    if limits or drake or any(value is not None for value in greatest.values()):
        limits |= {name: math.inf if value is None else value for name, value in greatest.items()} | drake
    bounded = {name: max(-UNBOUNDED, min(UNBOUNDED, value)) for name, value in limits.items()}
    return element_lines("limit", {name: real(value) for name, value in bounded.items()}) if limits else []


def _dynamics(motor: Motor | None) -> list[str]:
    """Write the friction reflected at the joint; negative friction, which drives the joint, cannot be represented."""
    if motor is None:
        return []
    up, down = motor.reflected_coulomb
    damping, friction = max(0.0, motor.reflected_viscous), max(0.0, 0.5 * (up - down))
    if not damping and not friction:
        return []
    return element_lines("dynamics", {"damping": real(damping), "friction": real(friction)})


def _shape(shape: Shape) -> list[str]:
    if shape.kind == "mesh":
        attributes = {"filename": str(shape.filename)}
        attributes |= {} if shape.size == (1.0, 1.0, 1.0) else {"scale": numbers(shape.size)}
    elif shape.kind == "box":
        attributes = {"size": numbers(shape.size)}
    else:
        attributes = {name: real(value) for name, value in zip(("radius", "length"), shape.size, strict=False)}
    inner = [*_origin(shape.origin), *element_lines("geometry", {}, element_lines(shape.kind, attributes))]
    if shape.colour is not None or shape.material is not None:
        colour = [] if shape.colour is None else element_lines("color", {"rgba": numbers(shape.colour)})
        inner += element_lines("material", {"name": shape.material or ""}, colour)
    return element_lines(shape.role, {"name": shape.name} if shape.name else {}, inner)


def _origin(frame: Any) -> list[str]:
    """The placement, or nothing for the identity."""
    if np.array_equal(frame, np.eye(4)):
        return []
    attributes = {"xyz": numbers(frame[:3, 3])}
    if not np.array_equal(frame[:3, :3], np.eye(3)):
        attributes["rpy"] = numbers(rotation_to_rpy(frame[:3, :3]))
    return element_lines("origin", attributes)


# ── losses ────────────────────────────────────────────────────────────────────────────────────────

#: A rotation that differs by more than this from the one that its angles make is not a rotation to rounding.
ROUNDING = 1e-12


def losses(description: Description) -> Losses:
    """List the features that a URDF drops or changes, and those for which it cannot be written.

    Examples
    --------
    >>> from linkwise import robots
    >>> losses(Description(robots.planar_2r())).lost
    ['its gravity (0, -9.81, 0) (a URDF has none; it is read with (0, 0, -9.81))']
    """
    mechanism = with_written_kinds(description.mechanism)
    lost = [f"link {link.name!r}: {part}" for link in mechanism.links for part in _link_losses(link)]
    root = -1 if mechanism.floating else _root(mechanism)
    carried = [link.joint for link, parent in zip(mechanism.links, mechanism.parents, strict=True) if parent == root >= 0]
    if carried == ["floating"] and np.array_equal(mechanism.base, np.eye(4)):
        lost.append(f"link {mechanism.links[root].name!r} (it is read as the world in which the base floats)")
    if not np.array_equal(mechanism.gravity, GRAVITY):
        shown, usual = (", ".join(map(number, values)) for values in (mechanism.gravity, GRAVITY))
        lost.append(f"its gravity ({shown}) (a URDF has none; it is read with ({usual}))")
    lost += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if not mechanism.payload.physical:
        lost.append(f"its payload's mark physical=False{_unphysical(mechanism.payload)}")
    lost += [f"its motor of {motor.joint!r}" for motor in mechanism.motors]
    lost += ["its springs"] if mechanism.springs else []
    if description.external.any():
        lost.append("what acts on its tool (external)")
    others = [shape for shape in description.shapes if shape.kind not in GEOMETRIES]
    lost += [f"link {shape.link!r}: its {shape.role} {shape.kind} (no shape of a URDF)" for shape in others]
    never = [f"link {link.name!r}: its {link.joint} joint" for link in mechanism.links if link.joint not in WRITTEN]
    never += ["its closed loops"] if mechanism.loops else []
    names = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)} | {mechanism.name}
    never += [f"the name {name!r} (XML cannot represent it)" for name in sorted(names) if NOT_XML.search(name)]
    return Losses(lost, never)


_TURNED = "its rotation is not one to rounding, and would be rounded"


def _link_losses(link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    for limit in GREATEST.values():
        if getattr(link, limit) == 0 and link.joint not in SEVERAL:
            yield f"its {limit} 0 (read as none)"
    if link.joint in SEVERAL:
        yield from (f"its {field}" for field in ("limits", *GREATEST.values()) if getattr(link, field) is not None)
    if not link.body.physical:
        yield f"its mark physical=False{_unphysical(link.body)}"
    if link.motor is not None:
        yield from ["its motor's rotor inertia"] * (link.motor.inertia != 0)
        yield from ["its motor's gear ratio"] * (link.motor.gear_ratio != 1)
        yield from motor_losses(link.motor, "its motor's")


def _unphysical(body: Inertia) -> str:
    """Return a hint for a file that can be read only with physical=False."""
    return "" if can_exist(body) else " (no body has this inertia; files.read(path, physical=False) accepts the file)"


def _is_bent(frame: FloatArray) -> bool:
    rotation = frame[:3, :3]
    return bool(np.abs(rpy_to_rotation(*rotation_to_rpy(rotation)) - rotation).max() > ROUNDING)
