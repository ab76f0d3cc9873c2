"""The reader of URDF, the Unified Robot Description Format of ROS, and the tree of its links; docs/urdf.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from linkwise.errors import Problem, members
from linkwise.files.formats.urdf.elements import (
    EXTENSIONS,
    TYPES,
    JointElement,
    LinkElement,
    Notes,
    read_joints,
    read_links,
    read_rotors,
    read_shapes,
)
from linkwise.files.formats.urdf.writer import axis_links
from linkwise.files.registry import USUAL, ReadOptions
from linkwise.files.report import Description, Reading, listed, some, with_tool_at_a_tip
from linkwise.files.toml_text import Place
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.joints.ball import ROTATION_COLUMNS
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.spring import Spring
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import transform


def find_root(notes: Notes, links: Mapping[str, LinkElement], joints: Sequence[JointElement], unread: int = 0) -> str | None:
    """Name of the link that no joint carries; None, with the problems reported, where the links are not one tree.

    So many joints could not be read: each might carry one of the links that seem to be roots.
    """
    carried: dict[str, JointElement] = {}
    wrong = False
    for joint in joints:
        first = carried.setdefault(joint.child, joint)
        if first is not joint:
            wrong = True
            message = f"link {joint.child!r} has two parents: joint {joint.name!r} carries it, and so does {first.name!r}"
            notes.report(joint.element, f"{message} in line {first.element.line}")
    roots = [name for name in links if name not in carried]
    for ring in rings({child: joint.parent for child, joint in carried.items()}):
        wrong = True
        line = min(links[name].element.line for name in ring)
        notes.report(line, f"the links {some(ring, _MOST, members)} carry each other in a ring; expected a tree")
    if len(roots) > 1 + unread:
        wrong = True
        places = ", ".join(f"{name!r} (line {links[name].element.line})" for name in roots[:_MOST])
        more = f" and {len(roots) - _MOST} more" if len(roots) > _MOST else ""
        message = f"there are {len(roots)} roots, links that no joint carries: {places}{more}"
        if unread:
            message += f", of which the joints that are wrong can carry {unread}"
        hint = "a fixed joint can join two" + ("" if unread else f", and root={roots[0]!r} reads one alone")
        notes.report(links[roots[1]].element.line, f"{message}; expected one ({hint})")
    return None if wrong or unread or not roots else roots[0]


def keep_tree(notes: Notes, robot: Element, root: str) -> None:
    """Take the links and joints that do not hang on a root out of a file, with a remark.

    A joint whose parent is missing, or is no link, stays with all that hangs on it, and is reported as in any file.
    """
    ends = {joint: tuple(_link(joint, tag) for tag in ("parent", "child")) for joint in robot.all("joint")}
    carried = {child for _, child in ends.values()}
    names = [link.get("name") for link in robot.all("link")]
    if root not in names or root in carried:
        roots = [name for name in names if name is not None and name not in carried]
        why = "is carried by a joint" if root in carried else "is no link"
        notes.report(robot, f"root {root!r} {why}; expected {some(roots, _MOST)}")
        return
    children: dict[str | None, list[str | None]] = {}
    for parent, child in ends.values():
        children.setdefault(parent if parent in names else root, []).append(child)
    kept: set[str | None] = {root}
    pending: list[str | None] = [root]
    while pending:
        reached = [child for child in children.get(pending.pop(), ()) if child not in kept]
        kept.update(reached)
        pending += reached
    dropped = [link for link in robot.all("link") if link.get("name") not in kept]
    if dropped:
        shown = some([link.get("name") for link in dropped], _MOST, listed)
        notes.remark(dropped[0], f"left out, as they are not connected to {root!r}: {shown}")
    others = {link.get("name") for link in dropped}
    left_out = {id(link) for link in dropped} | {id(joint) for joint, (parent, _) in ends.items() if parent in others}
    robot.children = [child for child in robot.children if id(child) not in left_out]


def _link(joint: Element, tag: str) -> str | None:
    end = joint.find(tag)
    return None if end is None else end.get("link")


#: Greatest number of roots, or links of a cycle, in a message.
_MOST = 10

#: The link that is the ground, also where a file joins others to it without saying it.
WORLD = "world"


def rings(parents: Mapping[str, str]) -> list[list[str]]:
    """The rings in a table of each one's parent.

    Examples
    --------
    >>> rings({"a": "b", "b": "a", "c": "a", "d": "e"})
    [['a', 'b']]
    """
    cycles = []
    done: set[str] = set()
    for start in parents:
        path: dict[str, None] = {}
        at = start
        while at in parents and at not in done and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            names = list(path)
            cycles.append(names[names.index(at) :])
        done.update(path)
    return cycles


@dataclass
class Mounting:
    """Mounting of a URDF tree in the world.

    Attributes
    ----------
    body : str or None
        The link that sits on Linkwise's base without a joint; None where that is a frame ``base`` without mass, which is
        Linkwise's base itself.
    base : ndarray (4, 4)
        T_world_base, or where a floating base has its origin.
    floating : bool
        Whether the base moves freely.
    joint : str or None
        The joint that says so, or that places the base in the world.
    frames : set of str
        Links of the file that are the world or the base, and become no links.
    """

    body: str | None
    base: Array = field(default_factory=transform)
    floating: bool = False
    joint: str | None = None
    frames: set[str] = field(default_factory=set)


def find_ground(notes: Notes, links: Mapping[str, LinkElement], joints: Sequence[JointElement], root: str) -> Mounting:
    """The ground of a tree with that root; a floating joint that is the only one of the root makes the base float."""
    first = [joint for joint in joints if joint.parent == root]
    ground = Mounting(root)
    if len(first) == 1 and _places_base(first[0], links):
        ground = Mounting(first[0].child, first[0].before, first[0].kind == "floating", first[0].name, {root})
        if not links[root].is_massless:
            line = links[root].lines["mass"]
            notes.remark(line, f"link {root!r}: its inertia is not used, for it is the world in which the base floats")
    if ground.body == "base" and links["base"].is_massless and any(joint.parent == "base" for joint in joints):
        ground.frames.add("base")
        ground.body = None
    return ground


def _places_base(joint: JointElement, links: Mapping[str, LinkElement]) -> bool:
    """True if the only joint of the root defines the pose of the base."""
    frames = joint.parent == WORLD and joint.child == "base"
    massless = links[joint.parent].is_massless and links[joint.child].is_massless
    return joint.kind == "floating" or (frames and massless and joint.kind == "fixed")


def linkwise_names(notes: Notes, links: Mapping[str, LinkElement], ground: Mounting) -> dict[str, str]:
    """Map the links of the file to names: ``base`` for the base; other links of that name are renamed.

    The world in which the base is placed has no name.
    """
    names = {name: name for name in links if name == "base" or name not in ground.frames}
    if "base" in links and "base" not in ground.frames:
        names["base"] = notes.name_of_base(links["base"].element, "link", set(links))
    return names


#: Elements of xacro that make something.
#:
#: Any other one is the call of a macro, which old versions of xacro left standing where none was defined; in a file without
#: directives nothing can expand it.
DIRECTIVES = ("macro", "property", "include", "arg", "if", "unless", "insert_block", "call", "element", "attribute")

#: Kinds of joints with at most one coordinate, by type.
KINDS = {kind: kind for kind in TYPES} | {"continuous": "revolute"} | EXTENSIONS


def parse(text: str, name: str = "", options: ReadOptions = USUAL) -> Reading:
    r"""Read the text of a URDF file.

    The links are the root, then the child of each joint in the order in which the file has the joints; so are the joint
    coordinates.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the file gives none.
    options : ReadOptions
        How it is read.
    """
    notes = Notes(options.swap_limits, options.drop_unknown)
    try:
        robot = read_xml(text, "robot", notes.drop)
    except XmlError as error:
        return Reading(None, [error.problem], {})
    for child in robot.children:
        if child.tag == "drake:joint":
            child.tag = "joint"
            child.attributes["type"] = f"drake:{child.attributes.get('type', '')}"
    _add_world(notes, robot)
    if options.root is not None:
        keep_tree(notes, robot, options.root)
    return _Reader(robot, name, options.physical, notes).reading()


def _add_world(notes: Notes, robot: Element) -> None:
    """Add the link ``world`` if it is used but not defined: Drake predefines it."""
    joint = next((joint for joint in robot.all("joint") if _link(joint, "parent") == WORLD), None)
    if joint is not None and all(link.get("name") != WORLD for link in robot.all("link")):
        notes.remark(joint, f"there is no link {WORLD!r}; it is taken as the ground")
        robot.children.insert(0, Element("link", {"name": WORLD}, line=joint.line))


class _Reader:
    """Builds a description from the elements, gathering the problems of all parts."""

    def __init__(self, robot: Element, name: str, physical: bool, notes: Notes) -> None:
        self.robot = robot
        self.name = (robot.get("name") or "").strip() or name
        self.physical = physical
        self.notes = notes
        self.lines: dict[Place, int] = {}
        self.links: list[Link] = []
        self.names: dict[str, str] = {}
        self.places: dict[str, Mapping[str, int]] = {}  # lines of problems by item and field
        self.springs: list[Spring] = []
        self.motors: list[Motor] = []

    def reading(self) -> Reading:
        elements = read_links(self.notes, self.robot)
        joints = read_joints(self.notes, self.robot, elements)
        read_rotors(self.notes, self.robot, joints)
        macro = next((child for child in self.robot.walk() if child.tag.partition("xacro:")[2] in DIRECTIVES), None)
        if macro is not None:
            message = f"<{macro.tag}>: this is a xacro file, to be expanded first; xacro={{}} expands a file of any name"
            self.notes.report(macro, message)
        elif not self.robot.all("link"):
            self.notes.report(self.robot, "there is no <link>; expected one or more")
        unread = len(self.robot.all("joint")) - len(joints)
        complete = len(elements) == len(self.robot.all("link"))
        root = find_root(self.notes, elements, joints, unread) if complete else None
        description = None
        if root is None:
            for element in elements.values():
                self._inertia(element)
        else:
            ground = find_ground(self.notes, elements, joints, root)
            self.names = linkwise_names(self.notes, elements, ground)
            mechanism = self._mechanism(ground, elements, joints)
            shapes = read_shapes(self.notes, self.robot, elements.values(), self.names)
            description = Description(mechanism, shapes=tuple(shapes)) if mechanism is not None else None
        if self.notes.problems or description is None:
            return Reading(None, self.notes.sorted_problems, self.lines)
        macros = {child.tag: _LEFT_OVER for child in self.robot.walk() if child.tag.startswith("xacro:")}
        self.notes.leave_unused(self.robot, _WHY | macros)
        return Reading(description, [], self.lines, self.notes.all_remarks, frozenset(axis_links(self.links)))

    def _mechanism(
        self, ground: Mounting, elements: Mapping[str, LinkElement], joints: Sequence[JointElement]
    ) -> Mechanism | None:
        if ground.body is not None:
            self._body(elements[ground.body])
        for joint in joints:
            if joint.name != ground.joint:
                self._joint(joint, elements[joint.child])
        settings: dict[str, Any] = {"base": ground.base, "floating": ground.floating, "name": self.name or None}
        settings |= {"springs": self.springs, "motors": self.motors}
        mechanism = self.notes.build("mechanism", lambda: Mechanism(self.links, **settings), self._line)
        return mechanism and with_tool_at_a_tip(mechanism)

    def _line(self, problem: Problem) -> int:
        """Return the line of a problem's subject."""
        places = self.places.get(problem.item, {})
        return places.get(problem.field.split(".")[0], places.get("", 0))

    def _body(self, element: LinkElement) -> None:
        """The link that sits on the base without a joint."""
        name = self.names[element.name]
        lines = {"": element.element.line, **element.lines}
        self._add(name, lines, lambda: Link(joint="fixed", name=name, parent="base", **self._inertia(element)))

    def _joint(self, joint: JointElement, element: LinkElement) -> None:
        """The link that a joint carries."""
        name, parent, body = self.names[joint.child], self.names[joint.parent], self._inertia(element)
        lines = {"": element.element.line, **dict.fromkeys(("axis", "before", "joint_name"), joint.element.line)}
        lines |= {**joint.lines, **element.lines}
        self.places[f"joint {joint.name!r}"] = {"": joint.element.line, **joint.lines}
        fields: dict[str, Any] = {"joint": KINDS[joint.kind], "name": name, "parent": parent, "before": joint.before}
        fields |= {**joint.fields, **body}
        if KINDS[joint.kind] not in {"fixed", "floating", "ball", "curvilinear"}:
            fields["axis"] = joint.axis
        if joint.name != name:
            fields["joint_name"] = joint.name
        self._add(name, lines, lambda: Link(**fields))
        if joint.damping and fields["joint"] == "ball":
            (viscous,), endings = joint.damping, ROTATION_COLUMNS["qd"]
            self.motors += [Motor(viscous=viscous, joint=f"{joint.name}{ending}") for ending, _ in endings]
        coordinates = self.links[-1].coordinate_names if joint.damping else ()
        pairs = zip(coordinates, joint.damping, strict=False)
        self.springs += [Spring(coordinate, damping=value) for coordinate, value in pairs if value]

    def _inertia(self, element: LinkElement) -> dict[str, Any]:
        """The body of a link; empty where it cannot be built, which is reported."""
        if not element.body:
            return {}
        line = lambda wrong: element.lines.get(wrong.field, element.element.line)  # noqa: E731
        return self.notes.body(f"link {element.name!r}", element.body, self.physical, line)

    def _add(self, name: str, lines: Mapping[str, int], make: Callable[[], Link]) -> None:
        """Add a link and note its lines; a bare link replaces one that could not be built."""
        item, place = f"link {name!r}", ("link", len(self.links))
        link = self.notes.build(item, make, lambda wrong: lines.get(wrong.field.split(".")[0], lines[""]))
        self.places[item] = lines
        self.lines |= {(*place, field) if field else place: line for field, line in lines.items()}
        self.links.append(link or Link(name=name, parent="base"))


_WHY = {
    "transmission": "a gear acts on a rotor's inertia, which URDF does not hold",
    "safety_controller": "its soft limits are a controller's",
    "calibration": "it places an encoder's mark",
    "gazebo": "it is for the simulator Gazebo",
}


_LEFT_OVER = "it is the call of a macro that was not defined when the file was expanded; what it makes is missing here"
