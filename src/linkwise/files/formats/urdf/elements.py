"""URDF elements: numbers, vectors and frames, links with inertia and geometry, joints.

Geometry that cannot be read is reported as a remark, since the mechanics do not need it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from linkwise.errors import choices
from linkwise.files.drake_curves import curvilinear_joint
from linkwise.files.report import Report, body_fields
from linkwise.files.text import number, why_not
from linkwise.files.xml_tree import Element
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.shape import ROLES, Shape
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform

#: Written value of an infinite limit, and threshold from which one is read as infinite. URDF's own reader does not accept
#: infinity. With the greatest float, the distance between two such limits overflows, and so does the number itself in single
#: precision, so that random joint values and velocities in other tools are infinite or NaN; this value avoids that, and no
#: joint reaches it.
UNBOUNDED = 1e30


class Notes(Report):
    """Reads the values of elements; collects problems and remarks.

    Parameters
    ----------
    swap_limits : bool
        Whether reversed limits are exchanged.
    drops : bool
        Whether what is not known is left out.
    """

    def __init__(self, swap_limits: bool = False, drops: bool = False) -> None:
        super().__init__(drops)
        self.swap_limits = swap_limits

    def only(self, item: str, element: Element, tag: str) -> Element | None:
        """Return the only child with that tag; identical repetitions are allowed."""
        children = element.all(tag)
        for other in children[1:]:
            twice = f"{item}: <{tag}> occurs twice, first in line {children[0].line}"
            if other.repeats(children[0]):
                self.remark(other, f"{twice}, with the same words")
            else:
                self.drop(other, twice, "the first counts")
                if not self.drops:
                    break
            element.children.remove(other)
        return children[0] if children else None

    def named(self, parent: Element, tag: str) -> Iterator[tuple[str, Element]]:
        """Yield the children with that tag by name; report a missing or repeated name."""
        lines: dict[str, int] = {}
        for element in parent.all(tag):
            name = self.word(f"a {tag}", element, "name")
            if name in lines:
                self.report(element, f"{tag} {name!r} occurs twice, first in line {lines[name]}")
            elif name is not None:
                lines[name] = element.line
                yield name, element

    def word(self, item: str, element: Element, attribute: str) -> str | None:
        """Read a required, non-empty attribute."""
        text = element.get(attribute)
        if text is None or not text.strip():
            lack = "has no" if text is None else "has an empty"
            self.report(element, f"{item}: <{element.tag}> {lack} {attribute}")
            return None
        return text

    def number(self, item: str, element: Element, attribute: str, default: float | None = None) -> float:
        """Read a finite number; required unless it has a default."""
        text = element.get(attribute)
        if text is None and default is None:
            self.report(element, f"{item}: <{element.tag}> has no {attribute}")
        if text is None:
            return default or 0.0
        value = number(text.strip())
        if value is None:
            self.report(element, f"{item}: {attribute} of <{element.tag}>: {why_not(text.strip())}")
        return value or 0.0

    def end(self, item: str, element: Element, attribute: str, default: float) -> float:
        """Read a number that may be infinite; the largest float of either sign counts as infinite."""
        text, subject = element.get(attribute), f"{item}: {attribute} of <{element.tag}>"
        return default if text is None else self.bound(element, subject, text, UNBOUNDED) or 0.0

    def vector(self, item: str, element: Element, attribute: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Read as many finite numbers, between blanks, as the default has."""
        text = element.get(attribute)
        values = (
            None if text is None else self.finite(element, f"{item}: {attribute} of <{element.tag}>", text, len(default))
        )
        return default if values is None else values

    def frame(self, item: str, element: Element) -> Array:
        """Read the transform (4, 4) of an element's <origin>; the identity if it is missing."""
        origin = self.only(item, element, "origin")
        if origin is None:
            return transform()
        xyz = self.vector(item, origin, "xyz", (0.0, 0.0, 0.0))
        rpy = self.vector(item, origin, "rpy", (0.0, 0.0, 0.0))
        return transform(rpy_to_rotation(*rpy) if any(rpy) else None, xyz)


_MOMENTS = ("ixx", "iyy", "izz")
_PRODUCTS = ("ixy", "iyz", "ixz")


@dataclass(frozen=True)
class LinkElement:
    """Contents of a <link>.

    Attributes
    ----------
    name : str
        Its name.
    element : Element
        Where it stands.
    body : dict
        mass, com and inertia of a `Link`; empty where there is no <inertial>.
    lines : dict of str to int
        The line of each of them.
    lacks_products : bool
        Whether its <inertia> leaves out one of ixy, iyz, ixz.
    """

    name: str
    element: Element
    body: dict[str, Any]
    lines: dict[str, int]
    lacks_products: bool = False

    @property
    def is_massless(self) -> bool:
        """True if mass and inertia are zero."""
        return not any(np.any(self.body[field]) for field in ("mass", "inertia") if field in self.body)


def read_links(notes: Notes, robot: Element) -> dict[str, LinkElement]:
    """Read all links by name; those without a name, or with a repeated one, are reported and left out."""
    links = {name: _link(notes, element, name) for name, element in notes.named(robot, "link")}
    lacking = [link for link in links.values() if link.lacks_products]
    if lacking:
        places = f" ({len(lacking)} links, the first here)" if len(lacking) > 1 else ""
        message = f"link {lacking[0].name!r}: <inertia> lacks products of inertia, which are read as 0{places}"
        notes.remark(lacking[0].lines["inertia"], message)
    return links


def _link(notes: Notes, element: Element, name: str) -> LinkElement:
    item = f"link {name!r}"
    inertial = notes.only(item, element, "inertial")
    if inertial is None:
        return LinkElement(name, element, {}, {})
    frame = notes.frame(item, inertial)
    parts = {tag: notes.only(item, inertial, tag) for tag in ("origin", "mass", "inertia")}
    lines = {field: inertial.line if part is None else part.line for field, part in parts.items()}
    lines["com"] = lines.pop("origin")
    if parts["mass"] is None:
        notes.report(inertial, f"{item}: <inertial> has no <mass>")
    if parts["inertia"] is None:
        notes.drop(inertial, f"{item}: <inertial> has no <inertia>", "the mass is that of a point")
    mass = 0.0 if parts["mass"] is None else notes.number(item, parts["mass"], "value")
    moments = [0.0] * 6 if parts["inertia"] is None else _moments(notes, item, parts["inertia"])
    lacks = parts["inertia"] is not None and any(parts["inertia"].get(attribute) is None for attribute in _PRODUCTS)
    return LinkElement(name, element, body_fields(mass, frame, moments), lines, lacks)


def _moments(notes: Notes, item: str, element: Element) -> list[float]:
    """About the centre of mass, in the axes of the inertial frame."""
    moments = [notes.number(item, element, attribute) for attribute in _MOMENTS]
    return moments + [notes.number(item, element, attribute, 0.0) for attribute in _PRODUCTS]


MEANT = "; is {!r} meant?"

#: Types that are not URDF's own, and their kinds here: Bullet's "spherical", and those of Drake's ``<drake:joint>``.
EXTENSIONS = {
    "spherical": "ball",
    "drake:ball": "ball",
    "drake:planar": "planar",
    "drake:universal": "universal",
    "drake:screw": "screw",
    "drake:curvilinear": "curvilinear",
}

TYPES: tuple[str, ...] = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating", *EXTENSIONS)

#: Joints with one coordinate.
SINGLE = ("revolute", "continuous", "prismatic", "drake:screw", "drake:curvilinear")

#: URDF's default axis.
AXIS = (1.0, 0.0, 0.0)

#: Axes fixed by the type.
FIXED_AXES: dict[str, tuple[Any, ...]] = {"drake:planar": (0.0, 0.0, 1.0), "drake:universal": (AXIS, (0.0, 1.0, 0.0))}

#: Drake's element for the advance of a screw.
PITCH = "drake:screw_thread_pitch"


@dataclass
class JointElement:
    """Contents of a <joint>.

    Attributes
    ----------
    name, kind, parent, child : str
        Its name, type, and the links that it joins.
    element : Element
        Where it stands.
    before : ndarray (4, 4)
        Its frame in the parent link.
    axis : tuple
        Direction in its own frame, or two.
    fields : dict
        pitch, limits, qd_max, tau_max, motor and mimic of a `Link`, where the file says them.
    damping : tuple of float
        Damping of each of several coordinates.
    idle : bool
        Whether its greatest effort is 0.
    lines : dict of str to int
        The line of each field.
    """

    name: str
    kind: str
    parent: str
    child: str
    element: Element
    before: Array
    axis: tuple[Any, ...] = AXIS
    fields: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)
    damping: tuple[float, ...] = ()
    idle: bool = False

    def line(self, name: str) -> int:
        """Return the line of the file for a field of the resulting link."""
        return self.lines.get(name.split(".", maxsplit=1)[0], self.element.line)


def read_joints(notes: Notes, robot: Element, links: Collection[str]) -> list[JointElement]:
    """Read all valid joints; those with unknown links are reported and left out."""
    joints = [_joint(notes, element, name, links) for name, element in notes.named(robot, "joint")]
    readable = [joint for joint in joints if joint is not None]
    _check_mimics(notes, readable)
    return readable


def read_rotors(notes: Notes, robot: Element, joints: Sequence[JointElement]) -> None:
    """Add Drake's rotors with their gears as reflected at the joints; the rest of a ``<transmission>`` has no effect."""
    named = {joint.name: joint for joint in joints if joint.kind in SINGLE}
    for transmission in [child for child in robot.children if child.tag == "transmission"]:
        actuator, kind, end = (transmission.find(tag) for tag in ("actuator", "type", "joint"))
        rotor = None if actuator is None else actuator.find("drake:rotor_inertia")
        if actuator is None or rotor is None or kind is None or "SimpleTransmission" not in kind.text:
            continue
        robot.children.remove(transmission)
        item = f"transmission {transmission.get('name') or ''!r}"
        joint = None if end is None else named.get(end.get("name") or "")
        inertia, gear = notes.number(item, rotor, "value"), actuator.find("drake:gear_ratio")
        ratio = 1.0 if gear is None else notes.number(item, gear, "value")
        if joint is None:
            notes.report(transmission, f"{item}: it has no joint with one coordinate; expected the name of one")
        elif joint.idle:
            notes.remark(rotor, f"{item}: the effort of joint {joint.name!r} is 0, and <{rotor.tag}> is left out")
        else:
            motor = joint.fields.get("motor") or Motor()
            make = partial(motor.replace, inertia=inertia * ratio**2)
            joint.fields["motor"] = notes.build(item, make, rotor)


def _check_mimics(notes: Notes, joints: Sequence[JointElement]) -> None:
    """Report joints that mimic a missing joint or one without a coordinate, and make them independent."""
    kinds = {joint.name: joint.kind for joint in joints}
    for joint in joints:
        mimic = joint.fields.get("mimic")
        if mimic is None or kinds.get(mimic.joint) in SINGLE:
            continue
        why = f"that joint is {kinds.get(mimic.joint)}"
        if mimic.joint not in kinds:
            why = f"there is no such joint{notes.suggestion(mimic.joint, kinds, MEANT, joint.name)}"
        message = f"joint {joint.name!r}: it mimics {mimic.joint!r}, but {why}"
        notes.drop(joint.line("mimic"), message, "it moves by itself")
        del joint.fields["mimic"]


def _joint(notes: Notes, element: Element, name: str, links: Collection[str]) -> JointElement | None:
    item = f"joint {name!r}"
    kind = notes.word(item, element, "type")
    if kind is not None and kind not in TYPES:
        notes.report(element, f"{item}: type is {kind!r}; expected {choices(TYPES)}")
    ends = [_end(notes, item, element, tag, links) for tag in ("parent", "child")]
    before = notes.frame(item, element)
    parent, child = ends
    if parent is None or child is None or kind not in TYPES:
        return None
    if parent == child:
        notes.report(element, f"{item}: its parent and its child are the same link, {child!r}")
        return None
    joint = JointElement(name, kind, parent, child, element, before, FIXED_AXES.get(kind, AXIS))
    for tag in (
        ("dynamics", "mimic")
        if kind == "drake:curvilinear"
        else MOVING
        if kind in SINGLE
        else ["axis"]
        if kind == "planar"
        else []
    ):
        read, fields = MOVING[tag]
        part = notes.only(item, element, tag)
        if part is not None:
            joint.lines |= dict.fromkeys(fields, part.line)
            read(notes, item, joint, part)
        elif tag == "limit" and kind in {"revolute", "prismatic"}:
            notes.remark(element, f"{item} has no <limit>, which URDF asks for; it is read as unlimited")
    if kind in EXTENSIONS:
        _extension(notes, item, joint)
    return joint


def _end(notes: Notes, item: str, element: Element, tag: str, links: Collection[str]) -> str | None:
    """The name of the link at one end of a joint."""
    part = notes.only(item, element, tag)
    if part is None:
        notes.report(element, f"{item}: it has no <{tag}>")
        return None
    link = notes.word(item, part, "link")
    if not all(other.repeats(part) for other in element.all(tag)):  # (which is reported)
        return None
    if link is not None and link not in links:
        hint = notes.suggestion(link, links, MEANT)
        notes.report(part, f"{item}: its {tag} is {link!r}, but there is no such link{hint}")
        return None
    return link


def _axis(notes: Notes, item: str, joint: JointElement, element: Element) -> None:
    axis = notes.vector(item, element, "xyz", AXIS)
    if any(axis):
        joint.axis = axis
    else:
        notes.report(element, f"{item}: its axis is zero; expected a direction")


#: Drake's attribute of a ``<limit>``.
ACCELERATION = "drake:acceleration"

#: Attributes of a ``<limit>``, and what they limit.
GREATEST = {"velocity": "qd_max", ACCELERATION: "qdd_max", "effort": "tau_max"}


def _limit(notes: Notes, item: str, joint: JointElement, element: Element) -> None:
    if joint.kind != "continuous":
        low, high = (notes.end(item, element, end, 0.0) for end in ("lower", "upper"))
        if element.get("lower") is None and element.get("upper") is None:
            notes.remark(element, f"{item}: <limit> has no lower and no upper; by the rules of URDF both are 0")
        limits = notes.limits(element, item, low, high, notes.swap_limits)
        if limits != (-math.inf, math.inf):
            joint.fields["limits"] = limits
    for attribute, name in GREATEST.items():
        greatest = notes.end(item, element, attribute, math.inf)
        if greatest < 0:
            notes.report(element, f"{item}: its {attribute} limit is {greatest!r}; expected a number >= 0")
        elif greatest == 0:
            notes.remark(element, f"{item}: its {attribute} limit is 0; it is read as none")
            joint.idle |= attribute == "effort"
        elif greatest < math.inf:
            joint.fields[name] = greatest


def _dynamics(notes: Notes, item: str, joint: JointElement, element: Element) -> None:
    """Damping and friction, at the joint: a motor with a direct drive and no inertia."""
    friction = {name: notes.number(item, element, name, 0.0) for name in ("damping", "friction")}
    for name, value in friction.items():
        if value < 0:
            notes.report(element, f"{item}: its {name} is {value!r}; expected a number >= 0")
    if any(friction.values()) and min(friction.values()) >= 0:
        joint.fields["motor"] = Motor(viscous=friction["damping"], coulomb=friction["friction"])


def _extension(notes: Notes, item: str, joint: JointElement) -> None:
    """The pitch of a screw, the path of a curvilinear joint, and the damping of a joint with several coordinates."""
    if joint.kind == "drake:curvilinear":
        _curvilinear(notes, item, joint)
        return
    if joint.kind == "drake:screw":
        part = notes.only(item, joint.element, PITCH)
        if part is None:
            notes.report(joint.element, f"{item}: it has no <{PITCH}>; expected one, m for each turn")
        else:
            joint.fields["pitch"] = notes.number(item, part, "value") / (2 * math.pi)
        return
    part = notes.only(item, joint.element, "dynamics")
    count = {"drake:planar": 3, "drake:universal": 2}.get(joint.kind, 1)
    if part is None:
        return
    same = len((part.get("damping") or "").split()) == 1
    values = notes.vector(item, part, "damping", (0.0,) * (1 if same else count)) * (count if same else 1)
    if min(values) < 0:
        notes.report(part, f"{item}: its damping is {min(values)!r}; expected a number >= 0")
    elif any(values):
        joint.damping = values


def _curvilinear(notes: Notes, item: str, joint: JointElement) -> None:
    element = joint.element

    def direction(tag: str, default: tuple[float, ...]) -> tuple[float, ...]:
        part = notes.only(item, element, tag)
        return default if part is None else notes.vector(item, part, "xyz", (0.0, 0.0, 0.0))

    part = notes.only(item, element, "drake:is_periodic")
    repeats = part is not None and part.get("value") == "true"
    path = curvilinear_joint(
        notes, item, element, lambda curve, name: notes.number(item, curve, name, 0.0), direction, repeats
    )
    if path is None:  # (which is reported)
        joint.kind, joint.fields = "fixed", {}
    else:
        joint.before = joint.before @ path[1]
        joint.fields["joint"] = path[0]
        joint.fields |= {} if repeats else {"limits": (0.0, float(path[0].lengths.sum()))}


def _mimic(notes: Notes, item: str, joint: JointElement, element: Element) -> None:
    leader = notes.word(item, element, "joint")
    ratio, offset = notes.number(item, element, "multiplier", 1.0), notes.number(item, element, "offset", 0.0)
    if leader is not None:
        mimic = notes.build(item, lambda: Mimic(leader, ratio, offset), element)
        joint.fields |= {"mimic": mimic} if mimic else {}


#: Reader of each element of a movable joint, and the fields that it sets.
MOVING: dict[str, tuple[Callable[[Notes, str, JointElement, Element], None], tuple[str, ...]]] = {
    "axis": (_axis, ("axis",)),
    "limit": (_limit, ("limits", *GREATEST.values())),
    "dynamics": (_dynamics, ("motor",)),
    "mimic": (_mimic, ("mimic",)),
}


#: Supported geometries; the capsule is not URDF's own, but Drake and Bullet have it.
GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")

Colour = tuple[float, ...]


def read_shapes(notes: Notes, robot: Element, links: Iterable[LinkElement], names: Mapping[str, str]) -> list[Shape]:
    """Return all readable shapes; remark on the others. `names` maps the links to their names."""
    links = list(links)
    colours = dict(_colours([robot, *(visual for link in links for visual in link.element.all("visual"))]))
    shapes: list[Shape] = []
    for link in links:
        if link.name in names:
            shapes += notes.shapes(link.element, partial(_shape, names[link.name], colours))
            continue
        for element in (element for role in ROLES for element in link.element.all(role)):
            notes.remark(element, f"link {link.name!r}: {element.tag}: what stands in the world is left out")
            element.attributes, element.children = {}, []
    return shapes


def _colours(places: Iterable[Element]) -> Iterator[tuple[str, Colour]]:
    """Return the colours of named materials; the first definition of a name counts."""
    seen = set()
    for place in places:
        for material in place.all("material"):
            name, colour = material.get("name"), _colour(Notes(), "", material)
            if name and colour and name not in seen:
                seen.add(name)
                yield name, colour


def _colour(notes: Notes, item: str, material: Element) -> Colour | None:
    element = material.find("color")
    return None if element is None else notes.vector(item, element, "rgba", (0.0, 0.0, 0.0, 1.0))


def _shape(link: str, colours: dict[str, Colour], notes: Notes, element: Element, role: str) -> Shape | None:
    item = f"link {link!r}: {role}"
    geometry, material = notes.only(item, element, "geometry"), notes.only(item, element, "material")
    name = None if material is None else material.get("name") or None
    colour = None if material is None else _colour(notes, item, material) or colours.get(name or "")
    values: dict[str, Any] = {"role": role, "origin": notes.frame(item, element), "name": element.get("name")}
    if geometry is None or not geometry.children:
        notes.report(element, f"{item} has no geometry")
        return None
    body, *others = geometry.children
    if others:
        notes.report(others[0], f"{item}: <{others[0].tag}> is a second geometry; expected one")
        geometry.children = []
        return None
    if body.tag not in GEOMETRIES:
        notes.report(body, f"{item}: geometry is <{body.tag}>; expected {choices(GEOMETRIES)}")
        return None
    geometry.find(body.tag)
    size, filename = _size(notes, item, body), body.get("filename") if body.tag == "mesh" else None
    if body.tag == "mesh" and not filename:
        notes.report(body, f"{item}: <mesh> has no filename")
    if notes.problems:
        return None
    make = lambda: Shape(link, body.tag, size, colour=colour, material=name, filename=filename, **values)  # noqa: E731
    return notes.build(item, make, element)


def _size(notes: Notes, item: str, body: Element) -> tuple[float, ...]:
    if body.tag == "box":
        notes.word(item, body, "size")
        return notes.vector(item, body, "size", (0.0, 0.0, 0.0))
    if body.tag == "mesh":
        return notes.vector(item, body, "scale", (1.0, 1.0, 1.0))
    names = ("radius",) if body.tag == "sphere" else ("radius", "length")
    return tuple(notes.number(item, body, name) for name in names)
