"""The tree of MJCF bodies: frames, joints with their springs, limits and friction, geoms and sites."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import shown
from linkwise.files.formats.mjcf.attachment import Attached
from linkwise.files.formats.mjcf.attributes import ORIGIN, Attributes, Defaults, check_tag, degrees, float_transform, pose
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.geoms import BodyInertia, Geom, between_ends, body_inertia, read_geom
from linkwise.files.formats.mjcf.meshes import Meshes
from linkwise.files.report import Report
from linkwise.files.xml_tree import Element
from linkwise.model.motor import Motor
from linkwise.model.potential import UNTURNED
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray

TYPES = ("free", "ball", "slide", "hinge")

#: Attributes of a free joint other than its motion.
_PASSIVE = ("armature", "damping", "frictionloss", "springdamper", "stiffness")

#: Directions of the slides of a free joint, and that of its ball joint.
_AXES = (*np.eye(3), np.array([0.0, 0.0, 1.0]))


class SpringLaw(NamedTuple):
    """Stiffness (N m/rad or N/m), rest (rad or m; of a ball joint a quaternion), and stiffness of higher degree."""

    stiffness: float
    rest: Any
    nonlinear: tuple[float, float] = (0.0, 0.0)


@dataclass
class MjcfJoint:
    """A hinge, a slide or a ball.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    kind : str
        Of `TYPES`.
    pos, axis : ndarray (3,)
        A point on it (m) and its direction, in the body's frame.
    ref : float
        Its coordinate in the pose that the file describes, rad or m.
    fields : dict
        limits, tau_max and motor of a `Link`.
    spring : SpringLaw or None
        The law of its spring.
    springref : float
        The coordinate (rad or m) from which springs of tendons count.
    parts : list of MjcfJoint
        The joints in the place of one free joint, itself among them; empty where it is no such part.
    """

    attributes: Attributes
    kind: str
    pos: FloatArray
    axis: FloatArray
    ref: float
    fields: dict[str, Any]
    spring: SpringLaw | None = None
    springref: float = 0.0
    parts: list[MjcfJoint] = field(default_factory=list, repr=False)

    @property
    def time_constant(self) -> tuple[float, float] | None:
        """Time constant (s) and damping ratio that define spring and damper, overriding stiffness and damping."""
        constant, ratio = self.attributes.row("springdamper", (0.0, 0.0))
        return (constant, ratio) if min(constant, ratio) > 0 else None

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self.attributes.text("name")

    def motion(self, value: float) -> FloatArray:
        """Its motion of the body's frame (4, 4) at a coordinate, rad or m; the identity for a ball joint."""
        change = 0.0 if self.kind == "ball" else value - self.ref
        if self.kind == "slide":
            return float_transform(None, tuple(change * self.axis))
        turn = np.asarray(rotation_about(self.axis, change), dtype=float)
        return float_transform(turn, tuple(self.pos - turn @ self.pos))


def read_joint(attrs: Attributes, settings: Settings, outer: FloatArray) -> MjcfJoint:
    """A hinge, a slide or a ball; `outer` is T_body_frame of the frames around it."""
    kind = attrs.word("type", TYPES, "hinge")
    is_hinge = kind == "hinge"
    pos, axis = (np.array(attrs.row(key, usual)) for key, usual in (("pos", ORIGIN), ("axis", (0.0, 0.0, 1.0))))
    ref = attrs.number("ref")
    if not 1e-14 < math.hypot(*axis) < math.inf:
        attrs.report(f"axis is {axis.tolist()!r}; expected a direction", "axis")
        axis = np.array([0.0, 0.0, 1.0])
    point, direction = outer[:3, :3] @ pos + outer[:3, 3], outer[:3, :3] @ (axis / math.hypot(*axis))
    if kind == "ball":
        _left_of_ball(attrs, settings)
        spring, motor = _spring(attrs, settings), joint_motor(attrs, settings)
        turned_back = spring and SpringLaw(spring.stiffness, UNTURNED)
        return MjcfJoint(attrs, kind, point, np.array([0.0, 0.0, 1.0]), 0.0, {"motor": motor}, turned_back)
    motor = joint_motor(attrs, settings)
    fields = {"limits": _limits(attrs, settings, is_hinge), "tau_max": _effort_limit(attrs, settings), "motor": motor}
    ref = degrees(ref) if is_hinge and settings.degree else ref
    spring = _spring(attrs, settings, single=True)
    return MjcfJoint(attrs, kind, point, direction, ref, fields, spring, _springref(attrs, settings))


def read_free(
    attrs: Attributes, settings: Settings, pose: FloatArray, *, bare: bool
) -> tuple[Motor | None, list[MjcfJoint]]:
    """Return the motor of a free joint, and the joints that replace it if it has friction or a spring.

    These act along the axes of the world, as MuJoCo's velocities do: on three slides, which a ball joint follows. The spring
    rests at the pose of the file; `bare` leaves out all that is no motion.
    """
    motor, spring = joint_motor(attrs, settings), _spring(attrs, settings)
    if bare:
        if parts := [f"{key} {attrs.text(key)}" for key in _PASSIVE if any(attrs.numbers(key, 1, 3) or ())]:
            attrs.remark(f"left out, for MuJoCo adds it to all six freedoms: {', '.join(parts)}")
        return None, []
    if not (spring or (motor and any(motor.coulomb))):
        return motor, []
    attrs.remark(
        "its friction or spring is along the axes of the world, so it is read as three prismatic joints and a ball joint;"
        " bare_free_joints=True leaves that out"
    )
    name, timed = attrs.text("name"), attrs.text("springdamper")
    shared = {} if timed is None else {"springdamper": timed}
    rest = [*pose[:3, 3].tolist(), tuple(rotation_quaternion(pose[:3, :3]).tolist())]
    joints: list[MjcfJoint] = []
    for kind, ending, axis, zero in zip(("slide",) * 3 + ("ball",), ("_x", "_y", "_z", ""), _AXES, rest, strict=True):
        named = {"name": f"{name}{ending}"} if name else {}
        part = Attributes(Element(attrs.element.tag, named | shared, attrs.element.line), attrs.log)
        own = spring and SpringLaw(spring.stiffness, zero)
        joints.append(MjcfJoint(part, kind, np.zeros(3), axis, 0.0, {"motor": motor}, own, parts=joints))
    return motor, joints


def joint_motor(attrs: Attributes, settings: Settings) -> Motor | None:
    """Return armature, damping and friction of a joint, equal for all its velocities; None if all are zero."""
    rotor: dict[str, Any] = {"viscous": _passive(attrs, settings), "coulomb": attrs.non_negative("frictionloss")}
    rotor["inertia"] = attrs.non_negative("armature")
    for key, flags in (("viscous", {"damper", "passive"}), ("coulomb", {"frictionloss", "constraint"})):
        rotor[key] *= not flags & settings.disabled
    return Motor(**rotor) if any(rotor.values()) else None


def _left_of_ball(attrs: Attributes, settings: Settings) -> None:
    """Yield remarks on the unsupported attributes of a ball joint."""
    least, most = attrs.row("range", (0.0, 0.0))
    bare = attrs.text("limited") == "true" and "range" not in attrs  # (0, where MuJoCo takes none of hinges and slides)
    if bare or _limited(attrs, settings, "limited", "range", (least, most)):
        attrs.remark("its range is left out: it limits the angle of the whole turn, and a ball joint here that of its axis")


def _by_time_constant(attrs: Attributes) -> bool:
    """True if a time constant and a damping ratio define spring and damper, overriding stiffness and damping."""
    return min(attrs.row("springdamper", (0.0, 0.0))) > 0


def _passive(attrs: Attributes, settings: Settings) -> float:
    """The viscous friction; damping that is not proportional to the speed is remarked on."""
    damping = 0.0 if _by_time_constant(attrs) else attrs.damping()
    if damping < 0:
        attrs.report(f"damping is {damping!r}; expected a number >= 0", "damping")
        damping = 0.0
    return damping


def _spring(attrs: Attributes, settings: Settings, *, single: bool = False) -> SpringLaw | None:
    """Law of a spring, of stiffness 0 where a time constant says it; one that cannot be read is remarked on.

    With `single`, of a joint of one coordinate, it may have terms of higher degree.
    """
    if _by_time_constant(attrs):
        return SpringLaw(0.0, _springref(attrs, settings))
    stiffness = attrs.numbers("stiffness", 1, 3) or [0.0]
    if not any(stiffness) or {"spring", "passive"} & settings.disabled:
        return None
    if attrs.number("springyield"):
        attrs.remark(f"springyield = {attrs.text('springyield')} is left out, for a spring here does not yield")
    zero = _springref(attrs, settings)
    if stiffness[0] < 0 or (any(stiffness[1:]) and not single):
        law = " + ".join(f"{k!r} x{'' if power == 1 else f'^{power}'}" for power, k in enumerate(stiffness, 1) if k)
        stretch = f"q - {zero!r}" if zero else "q"
        why = "its stiffness is negative" if stiffness[0] < 0 else "it is not linear"
        attrs.remark(f"its spring is left out, for {why}: it pulls with -({law}), x = {stretch}")
        return None
    square, cube = [*stiffness[1:], 0.0, 0.0][:2]
    return SpringLaw(stiffness[0], zero, (square, cube))


def _springref(attrs: Attributes, settings: Settings) -> float:
    """Rest position of the spring, rad or m."""
    value = attrs.number("springref")
    return degrees(value) if settings.degree and attrs.word("type", TYPES, "hinge") == "hinge" else value


def _limits(attrs: Attributes, settings: Settings, is_hinge: bool) -> tuple[float, float] | None:
    low, high = attrs.row("range", (0.0, 0.0))
    if not _limited(attrs, settings, "limited", "range", (low, high)) or {"limit", "constraint"} & settings.disabled:
        return None
    return (degrees(low), degrees(high)) if is_hinge and settings.degree else (low, high)


def _effort_limit(attrs: Attributes, settings: Settings) -> float | None:
    low, high = attrs.row("actuatorfrcrange", (0.0, 0.0))
    if not _limited(attrs, settings, "actuatorfrclimited", "actuatorfrcrange", (low, high)):
        return None
    if low != -high:
        attrs.remark(f"actuatorfrcrange is {[low, high]!r}; an effort limit holds both ways here, so it is left out")
        return None
    return high


def _limited(attrs: Attributes, settings: Settings, key: str, range_key: str, limits: tuple[float, float]) -> bool:
    """True if a range is active, by MuJoCo's rules."""
    limited = attrs.word(key, ("false", "true", "auto"), "auto")
    if limited == "auto" and not settings.autolimits and limits != (0.0, 0.0):
        attrs.report(f"it has {range_key} but not {key}, and the compiler's autolimits is 'false'", range_key)
        return False
    if limited == "true" and not limits[0] < limits[1]:
        stated = shown(attrs.text(range_key)) if range_key in attrs else "not given"
        attrs.report(f"{range_key} is {stated}; expected the least value, then the greatest, for {key} is 'true'", range_key)
        return False
    return limited == "true" or (limited == "auto" and limits[0] < limits[1])


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
    """One body and its contents.

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
        """True if the body moves relative to its parent."""
        return bool(self.joints) or self.free_joint is not None


@dataclass(frozen=True)
class Site:
    """A frame on a body: the body's place in the list, T_body_site, and its attributes."""

    body: int
    frame: FloatArray
    attributes: Attributes


@dataclass
class _Level:
    """An element being read: its remaining children and their surroundings."""

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
        while levels:  # (open elements; bodies may be nested to any depth)
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
        """Open a frame; the contents of an attachment have the settings of their own file."""
        attrs = Attributes(element, self.log)
        inner = level.outer @ pose(attrs, self.settings.degree, self.settings.sequence)
        settings = self.settings
        if isinstance(element, Attached):
            outer_flags, total = settings.disabled, settings.total_mass
            self.settings = replace(element.settings, disabled=outer_flags, total_mass=total)

        def end() -> None:
            self.settings = settings

        return _Level(iter(element.children), level.owner, inner, self._classes(element, level.classes), end, framed=True)

    def _part(self, element: Element, level: _Level) -> None:
        """Read one element of a body or a frame that is not itself a body or a frame."""
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
        """Return the child classes that apply inside an element."""
        name = element.get("childclass")
        return (*classes, self.defaults.known(element, name, "childclass")) if name else classes

    def _said(self, element: Element, classes: tuple[str, ...]) -> Attributes:
        return Attributes(element, self.log, defaults=self.defaults.of(element, classes))

    def _body(self, element: Element, level: _Level) -> _Level:
        """Open a body; its inertia is computed after all its contents have been read."""
        classes = self._classes(element, level.classes)
        attrs = Attributes(element, self.log)
        frame = level.outer @ pose(attrs, self.settings.degree, self.settings.sequence)
        body = BodyElement(attrs, level.owner, frame)
        self.elements.append(body)
        if attrs.flag("mocap"):
            self.log.leave(element, "the attribute 'mocap' of <body>", "such a body stands still here")

        def end() -> None:
            if (free := body.free_joint) is not None and not body.joints:
                body.free_motor, body.joints = read_free(free, self.settings, body.frame, bare=self.bare)
            body.inertia = body_inertia(body.inertial, body.geoms, self.settings, attrs, moves=self._moves(body))

        return _Level(iter(element.children), len(self.elements) - 1, np.eye(4), classes, end)

    def _moves(self, body: BodyElement) -> bool:
        """True if a joint of the body or of one of its ancestors moves it."""
        while not body.moves and body.parent != WORLD:
            body = self.elements[body.parent]
        return body.moves

    def _site(self, attrs: Attributes, owner: int, outer: FloatArray) -> None:
        frame = pose(attrs, self.settings.degree, self.settings.sequence)
        if "fromto" in attrs and (frame_and_half := between_ends(attrs)):
            frame = frame_and_half[0]
        self.sites.append(Site(owner, outer @ frame, attrs))

    def _mechanics(self, element: Element, owner: int, outer: FloatArray, classes: tuple[str, ...], *, framed: bool) -> None:
        """A joint or an inertial element."""
        if owner == WORLD:
            self.log.report(element, f"<{element.tag}> is in the world, which does not move; expected it in a <body>")
            return
        body = self.elements[owner]
        if element.tag == "inertial":
            attrs = Attributes(element, self.log, f"{body.attributes.item}: <inertial>")
            if body.inertial is not None or framed:
                why = "it is in a <frame>, which MuJoCo ignores" if framed else "there is another one"
                attrs.report(f"{why}; expected one, directly in the body")
            body.inertial = attrs
            return
        if element.tag == "freejoint":
            attrs, kind = Attributes(element, self.log), "free"
        else:
            attrs = self._said(element, classes)
            kind = attrs.word("type", TYPES, "hinge")
        if kind == "free":
            self._free(attrs, body)
        else:
            body.joints.append(read_joint(attrs, self.settings, outer))
        if body.free_joint is not None and body.joints:
            attrs.report(f"{body.attributes.item} has a free joint and another one; expected the free one alone")

    def _free(self, attrs: Attributes, body: BodyElement) -> None:
        """Read a free joint; report invalid attributes."""
        if body.parent != WORLD or body.free_joint is not None:
            why = "there is another one" if body.free_joint is not None else "the body hangs on another one"
            attrs.report(f"a free joint carries {body.attributes.item}, but {why}; expected one, on a body in the world")
        body.free_joint = attrs


def repeated(log: Report, items: list[Attributes], noun: str) -> None:
    """Report names that occur twice."""
    first: dict[str, Element] = {}
    for attrs in items:
        name = attrs.text("name")
        if name is not None and name in first:
            log.report(attrs.element, f"{noun} {shown(name)} occurs twice, first in {first[name].place}")
        elif name is not None:
            first[name] = attrs.element
