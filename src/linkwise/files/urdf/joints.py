"""URDF's <joint>: how a child link is carried by its parent, its limits, friction, and what it follows."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from linkwise.errors import choices
from linkwise.files.attempt import attempt
from linkwise.files.urdf.values import Notes
from linkwise.files.xml_tree import Element
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.spatial.scalar import Array

TYPES: tuple[str, ...] = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")

TURNING = ("revolute", "continuous")
SINGLE = ("revolute", "continuous", "prismatic")
"""Joints with one coordinate."""

AXIS = (1.0, 0.0, 0.0)
"""Of a joint that does not say one: URDF's default."""


@dataclass
class JointElement:
    """What a <joint> says.

    Attributes
    ----------
    name, kind, parent, child : str
        Its name, type, and the links that it joins.
    element : Element
        Where it stands.
    before : ndarray (4, 4)
        Its frame in the parent link.
    axis : tuple of float
        Direction in its own frame.
    fields : dict
        limits, speed_limit, effort_limit, motor and mimic of a `Link`, where the file says them.
    lines : dict of str to int
        Where each field is said.
    """

    name: str
    kind: str
    parent: str
    child: str
    element: Element
    before: Array
    axis: tuple[float, ...] = AXIS
    fields: dict[str, Any] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    def line(self, name: str) -> int:
        """The line of a field of the link that is made of it."""
        return self.lines.get(name.split(".", maxsplit=1)[0], self.element.line)


def read_joints(notes: Notes, robot: Element, links: Collection[str]) -> list[JointElement]:
    """All joints that could be read; those whose links are not there are told and left out."""
    lines: dict[str, int] = {}
    found = []
    for element in robot.all("joint"):
        name = notes.word("a joint", element, "name")
        if name is None:
            continue
        if name in lines:
            notes.report(element.line, f"joint {name!r} stands twice, first in line {lines[name]}")
            continue
        lines[name] = element.line
        made = _joint(notes, element, name, links)
        if made is not None:
            found.append(made)
    _check_mimics(notes, found)
    return found


def _check_mimics(notes: Notes, joints: Sequence[JointElement]) -> None:
    """Tell the joints that follow none or one without a coordinate; they are then left to move by themselves."""
    kinds = {joint.name: joint.kind for joint in joints}
    for joint in joints:
        mimic = joint.fields.get("mimic")
        if mimic is None or kinds.get(mimic.joint) in SINGLE:
            continue
        known = mimic.joint in kinds
        why = (
            f"that joint is {kinds[mimic.joint]}"
            if known
            else f"there is no such joint{nearest(notes, mimic.joint, kinds, joint.name)}"
        )
        notes.report(joint.line("mimic"), f"joint {joint.name!r}: it mimics {mimic.joint!r}, but {why}")
        del joint.fields["mimic"]


def nearest(notes: Notes, name: str, names: Iterable[str], own: str = "") -> str:
    """A hint at the name that may be meant; empty where none is near, or where there is too much to compare.

    Of several that are near it is the one most like the name `own` of what says it.
    """
    if len(notes.problems) >= _GUESSED:
        return ""
    known = [each for each in islice(names, _COMPARED + 2) if each != own and len(each) <= _LONGEST]
    close = difflib.get_close_matches(name[:_LONGEST], known, 5) if len(known) <= _COMPARED else []
    close.sort(key=lambda each: -difflib.SequenceMatcher(None, own, each).ratio())
    return f"; is {close[0]!r} meant?" if close else ""


_COMPARED = 1000
"""Names that are compared with one that is wrong, at most: the comparison is slow."""

_GUESSED = 100
"""After this many problems no more is guessed."""

_LONGEST = 200
"""Characters of a name that is compared, at most."""


def _joint(notes: Notes, element: Element, name: str, links: Collection[str]) -> JointElement | None:
    item = f"joint {name!r}"
    kind = notes.word(item, element, "type")
    if kind is not None and kind not in TYPES:
        notes.report(element.line, f"{item}: type is {kind!r}; expected {choices(TYPES)}")
    ends = [_end(notes, item, element, tag, links) for tag in ("parent", "child")]
    before = notes.frame(item, element)
    parent, child = ends
    if parent is None or child is None or kind not in TYPES:
        return None
    if parent == child:
        notes.report(element.line, f"{item}: its parent and its child are the same link, {child!r}")
        return None
    made = JointElement(name, kind, parent, child, element, before)
    if kind in (*SINGLE, "planar"):
        _axis(notes, item, made)
    if kind in SINGLE:
        _limit(notes, item, made)
        _dynamics(notes, item, made)
        _mimic(notes, item, made)
    return made


def _end(notes: Notes, item: str, element: Element, tag: str, links: Collection[str]) -> str | None:
    """The name of the link at one end of a joint."""
    found = notes.only(item, element, tag)
    if found is None:
        notes.report(element.line, f"{item}: it has no <{tag}>")
        return None
    link = notes.word(item, found, "link")
    if len(element.all(tag)) > 1:
        return None
    if link is not None and link not in links:
        notes.report(found.line, f"{item}: its {tag} is {link!r}, but there is no such link{nearest(notes, link, links)}")
        return None
    return link


def _axis(notes: Notes, item: str, made: JointElement) -> None:
    element = notes.only(item, made.element, "axis")
    if element is None:
        return
    made.lines["axis"] = element.line
    axis = notes.vector(item, element, "xyz", AXIS)
    if not any(axis):
        notes.report(element.line, f"{item}: its axis is zero; expected a direction")
        return
    made.axis = axis


def _limit(notes: Notes, item: str, made: JointElement) -> None:
    """Limits, where there are any; a revolute or prismatic joint without them is told in a remark."""
    element = notes.only(item, made.element, "limit")
    if element is None:
        if made.kind != "continuous":
            notes.remark(made.element.line, f"{item} has no <limit>, which URDF asks for; it is read as unlimited")
        return
    made.lines |= dict.fromkeys(("limits", "speed_limit", "effort_limit"), element.line)
    if made.kind != "continuous":
        low, high = (notes.bound(item, element, end, 0.0) for end in ("lower", "upper"))
        if element.get("lower") is None and element.get("upper") is None:
            notes.remark(element.line, f"{item}: <limit> has no lower and no upper; by the rules of URDF both are 0")
        if low > high and notes.swap_limits:
            notes.remark(element.line, f"{item}: its limits were exchanged: lower is {low!r}, upper is {high!r}")
            low, high = high, low
        if low > high:
            said = f"its limits are reversed: lower is {low!r}, upper is {high!r}; swap_limits=True exchanges them"
            notes.report(element.line, f"{item}: {said}")
        elif (low, high) != (-math.inf, math.inf):
            made.fields["limits"] = (low, high)
    for said, name in (("velocity", "speed_limit"), ("effort", "effort_limit")):
        greatest = notes.bound(item, element, said, math.inf)
        if greatest < 0:
            notes.report(element.line, f"{item}: its {said} limit is {greatest!r}; expected a number >= 0")
        elif greatest == 0:
            notes.remark(element.line, f"{item}: its {said} limit is 0; it is read as none")
        elif greatest < math.inf:
            made.fields[name] = greatest


def _dynamics(notes: Notes, item: str, made: JointElement) -> None:
    """Damping and friction, at the joint: a motor with a direct drive and no inertia."""
    element = notes.only(item, made.element, "dynamics")
    if element is None:
        return
    made.lines["motor"] = element.line
    said = {name: notes.number(item, element, name, 0.0) for name in ("damping", "friction")}
    for name, value in said.items():
        if value < 0:
            notes.report(element.line, f"{item}: its {name} is {value!r}; expected a number >= 0")
    if any(said.values()) and min(said.values()) >= 0:
        made.fields["motor"] = Motor(viscous=said["damping"], coulomb=said["friction"])


def _mimic(notes: Notes, item: str, made: JointElement) -> None:
    element = notes.only(item, made.element, "mimic")
    if element is None:
        return
    made.lines["mimic"] = element.line
    joint = notes.word(item, element, "joint")
    ratio, offset = notes.number(item, element, "multiplier", 1.0), notes.number(item, element, "offset", 0.0)
    if joint is None:
        return
    mimic, wrong = attempt(item, lambda: Mimic(joint, ratio, offset))
    for problem in wrong:
        notes.tell(element.line, problem)
    if mimic is not None:
        made.fields["mimic"] = mimic
