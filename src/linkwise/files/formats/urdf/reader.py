"""Reading URDF, the Unified Robot Description Format of ROS; docs/urdf.md describes what is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from linkwise.errors import FileProblem, Problem
from linkwise.files.description import Description, Reading
from linkwise.files.formats.urdf.conversion import axis_links, planar_links
from linkwise.files.formats.urdf.elements import JointElement, LinkElement, Notes, read_joints, read_links
from linkwise.files.formats.urdf.geometry import read_shapes
from linkwise.files.formats.urdf.tree import Ground, find_ground, find_root, keep_tree, linkwise_names
from linkwise.files.report import attempt
from linkwise.files.suggestions import with_tool_at_a_tip
from linkwise.files.toml_text import Place
from linkwise.files.xml_tree import Element, XmlError, read_xml
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link

DIRECTIVES = ("macro", "property", "include", "arg", "if", "unless", "insert_block", "call", "element", "attribute")
"""Elements of xacro that make something.

Any other one is the call of a macro, which old versions of xacro left standing where none was defined; in a file without
directives nothing can expand it.
"""

KINDS = {"revolute": "revolute", "continuous": "revolute", "prismatic": "prismatic", "fixed": "fixed"}
"""What each type of joint with one coordinate or none is here."""


def parse(
    text: str, name: str = "", physical: bool = True, *, root: str | None = None, swap_limits: bool = False
) -> Reading:
    r"""Read the text of a URDF file.

    The links are the root, then the child of each joint in the order in which the file has the joints; so are the joint
    coordinates.

    Parameters
    ----------
    text : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the file gives none.
    physical : bool
        Whether each inertia must be that of a body that can exist. False accepts the others, and marks them.
    root : str, optional
        The root, of a file with several: what does not hang on it is left out.
    swap_limits : bool
        Whether reversed limits are exchanged.
    """
    try:
        robot = read_xml(text)
    except XmlError as error:
        return Reading(None, [error.problem], {})
    if robot.tag != "robot":
        return Reading(None, [FileProblem(robot.line, f"the root element is <{robot.tag}>; expected <robot>")], {})
    notes = Notes(swap_limits=swap_limits)
    if root is not None:
        keep_tree(notes, robot, root)
    return _Reader(robot, name, physical, notes).reading()


class _Reader:
    """Builds a description from the elements, gathering the problems of all parts."""

    def __init__(self, robot: Element, name: str, physical: bool, notes: Notes) -> None:
        self.robot = robot
        self.name = (robot.get("name") or "").strip() or name
        self.physical = physical
        self.notes = notes
        self.lines: dict[Place, int] = {}
        self.links: list[Link] = []
        self.between: set[int] = set()
        self.names: dict[str, str] = {}
        self.places: dict[str, Mapping[str, int]] = {}  # lines of what a problem can be about, by field

    def reading(self) -> Reading:
        elements = read_links(self.notes, self.robot)
        joints = read_joints(self.notes, self.robot, elements)
        macro = next((child for child in self.robot.walk() if child.tag.partition("xacro:")[2] in DIRECTIVES), None)
        if macro is not None:
            said = f"<{macro.tag}>: this is a xacro file, to be expanded first; xacro={{}} expands a file of any name"
            self.notes.report(macro.line, said)
        elif not self.robot.all("link"):
            self.notes.report(self.robot.line, "there is no <link>; expected one or more")
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
        self.between |= axis_links(self.links)
        note_unused(self.notes, self.robot)
        return Reading(description, [], self.lines, self.notes.all_remarks, frozenset(self.between))

    def _mechanism(
        self, ground: Ground, elements: Mapping[str, LinkElement], joints: Sequence[JointElement]
    ) -> Mechanism | None:
        if ground.body is not None:
            self._body(elements[ground.body])
        for joint in joints:
            if joint.name != ground.joint and joint.kind != "floating":
                self._joint(joint, elements[joint.child])
        settings: dict[str, Any] = {"base": ground.base, "floating": ground.floating, "name": self.name or None}
        mechanism = self.notes.build("mechanism", lambda: Mechanism(self.links, **settings), self._line)
        return mechanism and with_tool_at_a_tip(mechanism)

    def _line(self, problem: Problem) -> int:
        """The line of what a problem is about."""
        places = self.places.get(problem.item, {})
        return places.get(problem.field.split(".")[0], places.get("", 0))

    def _body(self, element: LinkElement) -> None:
        """The link that sits on the base without a joint."""
        name = self.names[element.name]
        lines = {"": element.element.line, **element.lines}
        self._add(name, lines, lambda: [Link(joint="fixed", name=name, parent="base", **self._inertia(element))])

    def _joint(self, joint: JointElement, element: LinkElement) -> None:
        """The link that a joint carries; a planar joint has three."""
        name, parent, body = self.names[joint.child], self.names[joint.parent], self._inertia(element)
        lines = {"": element.element.line, **dict.fromkeys(("axis", "before", "joint_name"), joint.element.line)}
        lines |= {**joint.lines, **element.lines}
        self.places[f"joint {joint.name!r}"] = {"": joint.element.line, **joint.lines}
        if joint.kind == "planar":
            self._add(name, lines, lambda: planar_links(joint.name, name, parent, joint.before, joint.axis, body))
            return
        said: dict[str, Any] = {"joint": KINDS[joint.kind], "name": name, "parent": parent, "before": joint.before}
        said |= {**joint.fields, **body}
        if joint.kind != "fixed":
            said["axis"] = joint.axis
        if joint.name != name:
            said["joint_name"] = joint.name
        self._add(name, lines, lambda: [Link(**said)])

    def _inertia(self, element: LinkElement) -> dict[str, Any]:
        """The body of a link; nothing where it cannot be, which is told."""
        if not element.body:
            return {}
        item = f"link {element.name!r}"
        physical = self.physical or attempt(item, lambda: Inertia(**element.body, item=item))[0] is not None
        make = lambda: Inertia(**element.body, physical=physical, item=item)  # noqa: E731
        body = self.notes.build(item, make, lambda wrong: element.lines.get(wrong.field, element.element.line))
        return {} if body is None else {**element.body, "physical": physical}

    def _add(self, name: str, lines: Mapping[str, int], make: Callable[[], list[Link]]) -> None:
        """Add links and note their lines; a bare one keeps the place of what could not be built."""
        links = self.notes.build(f"link {name!r}", make, lambda wrong: lines.get(wrong.field.split(".")[0], lines[""]))
        for link in links or [Link(name=name, parent="base")]:
            self.places[f"link {link.name!r}"] = lines
            place = ("link", len(self.links))
            if link.name != name:
                self.between.add(len(self.links))
            self.lines |= {(*place, field) if field else place: line for field, line in lines.items()}
            self.links.append(link)


_WHY = {
    "transmission": "a gear acts on a rotor's inertia, which URDF does not hold",
    "safety_controller": "its soft limits are a controller's",
    "calibration": "it places an encoder's mark",
    "gazebo": "it is for the simulator Gazebo",
}


_LEFT_OVER = "it is the call of a macro that was not defined when the file was expanded; what it makes is missing here"


def note_unused(notes: Notes, robot: Element) -> None:
    """Note each kind of element and attribute that is not used."""
    for kind, element in _leftovers(robot):
        why = _LEFT_OVER if element.tag.startswith("xacro:") else _WHY.get(element.tag, "")
        notes.leave(kind, element.line, why)


def _leftovers(robot: Element) -> Iterator[tuple[str, Element]]:
    """Every kind of what nothing asked for, with each element that has it, in the order of the text."""
    robot.get("version")
    pending = [("robot", robot)]
    while pending:
        place, element = pending.pop()
        for name in element.attributes:
            if name not in element.asked_attributes and not name.startswith(("xmlns", "xml:")):
                yield f"the attribute {name!r} of <{element.tag}>", element
        inner = []
        for child in element.children:
            if child.tag in element.asked_tags:
                inner.append((f"{child.get('type')} joint" if child.tag == "joint" else child.tag, child))
            else:
                yield f"<{child.tag}>" + ("" if place == "robot" else f" of a {place}"), child
        pending.extend(reversed(inner))
