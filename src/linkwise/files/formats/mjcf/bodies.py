"""The tree of MJCF bodies: frames, joints, geoms and sites."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attachment import Attached
from linkwise.files.formats.mjcf.attributes import Attributes, Defaults, check_tag, pose
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.geoms import BodyInertia, Geom, between_ends, body_inertia, read_geom
from linkwise.files.formats.mjcf.joints import TYPES, MjcfJoint, read_free, read_joint
from linkwise.files.formats.mjcf.meshes import Meshes
from linkwise.files.report import Report
from linkwise.files.xml_tree import Element
from linkwise.model.motor import Motor
from linkwise.spatial.scalar import FloatArray

#: Elements of a body that make others.
REFUSED = {
    "composite": "what it makes has to be written out",
    "flexcomp": "a soft body is no rigid one",
}

LEFT = {"camera": "it is for pictures", "light": "it is for pictures", "plugin": "what it does is not known here"}

KNOWN = ("body", "frame", "geom", "site", "joint", "freejoint", "inertial", *LEFT)

#: The place of the world among the bodies.
WORLD = -1


@dataclass
class BodyElement:
    """One body.

    Attributes
    ----------
    attributes : Attributes
        What it says; of the world, the element that holds the first bodies.
    parent : int
        Place of its parent in the list, `WORLD` for the world.
    frame : ndarray (4, 4)
        T_parent_body in the pose that the file describes.
    joints : list of MjcfJoint
        Its other joints, in their order, or those that are in the place of the free one.
    free_joint : Attributes or None
        Its free joint, which counts from the world.
    free_motor : Motor or None
        What each velocity of the free joint feels beside the body.
    inertial : Element or None
        Its inertial element.
    inertia : BodyInertia
        Its mass, centre of mass and tensor.
    geoms : list of Geom
        Its geoms.
    """

    attributes: Attributes
    parent: int
    frame: FloatArray
    joints: list[MjcfJoint] = field(default_factory=list)
    free_joint: Attributes | None = None
    free_motor: Motor | None = None
    inertial: Attributes | None = None
    inertia: BodyInertia = field(default_factory=BodyInertia)
    geoms: list[Geom] = field(default_factory=list)

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self.attributes.text("name")

    @property
    def moves(self) -> bool:
        """Whether it moves relative to its parent."""
        return bool(self.joints) or self.free_joint is not None


@dataclass(frozen=True)
class Site:
    """A frame on a body: the body's place in the list, T_body_site, and its attributes."""

    body: int
    frame: FloatArray
    attributes: Attributes


@dataclass
class _Level:
    """An element that is being read: what is left of its children, and where these stand."""

    children: Iterator[Element]
    owner: int
    outer: FloatArray
    classes: tuple[str, ...]
    end: Callable[[], None] = lambda: None
    framed: bool = False


class BodyTree:
    """Reads all bodies, each before those that hang on it: MuJoCo's own order."""

    def __init__(self, defaults: Defaults, settings: Settings, meshes: Meshes, bare: bool = False) -> None:
        self.log, self.defaults, self.settings, self.meshes = defaults.log, defaults, settings, meshes
        self.bare = bare
        self.elements: list[BodyElement] = []
        self.world_geoms: list[Geom] = []
        self.sites: list[Site] = []

    def read(self, world: Element) -> None:
        """Take in a ``<worldbody>``."""
        Attributes(world, self.log)
        levels = [_Level(iter(world.children), WORLD, np.eye(4), ())]
        while levels:  # (the elements that are open: bodies stand in each other to any depth)
            level = levels[-1]
            child = next(level.children, None)
            if child is None:
                levels.pop().end()
            elif child.tag == "body":
                levels.append(self._body(child, level))
            elif child.tag == "frame":
                levels.append(self._frame(child, level))
            else:
                self._part(child, level)

    def _frame(self, element: Element, level: _Level) -> _Level:
        """What stands in a frame; what was attached has the settings of its own file."""
        said = Attributes(element, self.log)
        inner = level.outer @ pose(said, self.settings.degree, self.settings.sequence)
        settings = self.settings
        if isinstance(element, Attached):
            outer_flags, total = settings.disabled, settings.total_mass
            self.settings = replace(element.settings, disabled=outer_flags, total_mass=total)

        def end() -> None:
            self.settings = settings

        return _Level(iter(element.children), level.owner, inner, self._classes(element, level.classes), end, framed=True)

    def _part(self, element: Element, level: _Level) -> None:
        """What stands in a body or a frame beside these."""
        tag, owner, outer, classes = element.tag, level.owner, level.outer, level.classes
        if tag == "geom":
            geom = read_geom(self._said(element, classes), self.settings, outer, self.meshes)
            (self.world_geoms if owner == WORLD else self.elements[owner].geoms).append(geom)
        elif tag == "site":
            self._site(self._said(element, classes), owner, outer)
        elif tag in ("joint", "freejoint", "inertial"):
            self._mechanics(element, owner, outer, classes, framed=level.framed)
        elif tag in REFUSED:
            self.log.report(element, f"<{tag}> is not read: {REFUSED[tag]}")
        elif tag in LEFT:
            self.log.leave(element, f"<{tag}>", LEFT[tag])
        else:
            check_tag(element, "a body", self.log, KNOWN)

    def _classes(self, element: Element, classes: tuple[str, ...]) -> tuple[str, ...]:
        """The child classes around what is in an element."""
        name = element.get("childclass")
        return (*classes, self.defaults.known(element, name, "childclass")) if name else classes

    def _said(self, element: Element, classes: tuple[str, ...]) -> Attributes:
        return Attributes(element, self.log, defaults=self.defaults.of(element, classes))

    def _body(self, element: Element, level: _Level) -> _Level:
        """A body; its inertia is known when all that stands in it has been read."""
        classes = self._classes(element, level.classes)
        said = Attributes(element, self.log)
        frame = level.outer @ pose(said, self.settings.degree, self.settings.sequence)
        body = BodyElement(said, level.owner, frame)
        self.elements.append(body)
        if said.flag("mocap"):
            self.log.leave(element, "the attribute 'mocap' of <body>", "such a body stands still here")

        def end() -> None:
            if (free := body.free_joint) is not None and not body.joints:
                body.free_motor, body.joints = read_free(free, self.settings, body.frame, bare=self.bare)
            body.inertia = body_inertia(body.inertial, body.geoms, self.settings, said, moves=self._moves(body))

        return _Level(iter(element.children), len(self.elements) - 1, np.eye(4), classes, end)

    def _moves(self, body: BodyElement) -> bool:
        """Whether a joint moves a body: its own, or one of those that carry it."""
        while not body.moves and body.parent != WORLD:
            body = self.elements[body.parent]
        return body.moves

    def _site(self, said: Attributes, owner: int, outer: FloatArray) -> None:
        frame = pose(said, self.settings.degree, self.settings.sequence)
        if "fromto" in said and (frame_and_half := between_ends(said)):
            frame = frame_and_half[0]
        self.sites.append(Site(owner, outer @ frame, said))

    def _mechanics(self, element: Element, owner: int, outer: FloatArray, classes: tuple[str, ...], *, framed: bool) -> None:
        """A joint or an inertial element."""
        if owner == WORLD:
            self.log.report(element, f"<{element.tag}> stands in the world, which does not move; expected it in a <body>")
            return
        body = self.elements[owner]
        if element.tag == "inertial":
            said = Attributes(element, self.log, f"{body.attributes.item}: <inertial>")
            if body.inertial is not None or framed:
                why = "it stands in a <frame>, which MuJoCo overlooks" if framed else "there is another one"
                said.report(f"{why}; expected one, directly in the body")
            body.inertial = said
            return
        if element.tag == "freejoint":
            said, kind = Attributes(element, self.log), "free"
        else:
            said = self._said(element, classes)
            kind = said.word("type", TYPES, "hinge")
        if kind == "free":
            self._free(said, body)
        else:
            body.joints.append(read_joint(said, self.settings, outer))
        if body.free_joint is not None and body.joints:
            said.report(f"{body.attributes.item} has a free joint and another one; expected the free one alone")

    def _free(self, said: Attributes, body: BodyElement) -> None:
        """A free joint; reports what it cannot have."""
        if body.parent != WORLD or body.free_joint is not None:
            why = "there is another one" if body.free_joint is not None else "the body hangs on another one"
            said.report(f"a free joint carries {body.attributes.item}, but {why}; expected one, on a body in the world")
        body.free_joint = said


def repeated(log: Report, items: list[Attributes], noun: str) -> None:
    """Report names that stand twice."""
    first: dict[str, Element] = {}
    for said in items:
        name = said.text("name")
        if name is not None and name in first:
            log.report(said.element, f"{noun} {shown(name)} stands twice, first in {first[name].place}")
        elif name is not None:
            first[name] = said.element
