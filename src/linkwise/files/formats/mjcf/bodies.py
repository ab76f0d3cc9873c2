"""The tree of MJCF bodies: frames, joints, geoms and sites, and the inertia of each body."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from linkwise.errors import ModelError, shown
from linkwise.files.formats.mjcf.attachment import Attached
from linkwise.files.formats.mjcf.attributes import (
    ORIENTATIONS,
    ORIGIN,
    Attributes,
    Defaults,
    between,
    check_tag,
    degrees,
    float_transform,
    pose,
)
from linkwise.files.formats.mjcf.document import Settings
from linkwise.files.formats.mjcf.meshes import Meshes, MeshSolid
from linkwise.files.mesh_file import MeshError
from linkwise.files.report import Report, body_fields
from linkwise.files.xml_tree import Element
from linkwise.model.motor import Motor
from linkwise.model.shape import Shape
from linkwise.model.validation import LARGEST
from linkwise.spatial.rotation import rotation_about, skew
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.solids import SOLIDS, Solid

KINDS = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")

#: Those that may reach from one point to another.
LONG = ("capsule", "cylinder", "ellipsoid", "box")

CONTESTED = (
    "its orientation is given by quat here and by {!r} in its default class, and versions of MuJoCo differ in which counts"
)

#: A geom of less mass (kg) counts for nothing (MuJoCo's bound).
LIGHTEST = 1e-14


@dataclass(frozen=True)
class Geom:
    """One geom.

    Attributes
    ----------
    attributes : Attributes
        What it says.
    kind : str
        Of `KINDS`.
    frame : ndarray (4, 4)
        T_body_geom.
    size : tuple of float
        Radius and half length, half axes or half edges (m); empty where they are not known.
    meshes : Meshes
        The meshes of the file.
    """

    attributes: Attributes
    kind: str
    frame: FloatArray
    size: tuple[float, ...]
    meshes: Meshes

    @property
    def from_file(self) -> bool:
        """Whether its size comes from a mesh or another file."""
        return self.kind in ("mesh", "sdf", "hfield") or self.attributes.text("mesh") is not None

    @property
    def _mass(self) -> float | None:
        return self.attributes.number("mass") if "mass" in self.attributes else None

    @property
    def _density(self) -> float:
        return self.attributes.number("density", 1000.0)

    @property
    def massless(self) -> bool:
        """Whether it says that it has no mass."""
        return self._mass == 0 or (self._mass is None and self._density == 0)

    @property
    def unknown(self) -> str | None:
        """Why its volume is not known, where it comes from a file."""
        if not self.from_file:
            return None
        if self.kind != "mesh":
            noun = "height field" if self.kind == "hfield" else f"{self.kind} that is fitted to a mesh"
            return f"the mass of a {noun} is not computed"
        try:
            self.meshes.solid(self.attributes.text("mesh") or "")
        except MeshError as error:
            return f"its mass is that of its mesh, but {error}"
        return None

    def body(self) -> tuple[FloatArray, float, FloatArray] | None:
        """Centre (m), mass (kg) and tensor (3, 3) about the centre in the body's axes; None where it has no mass."""
        said, mass, density = self.attributes, self._mass, self._density
        for key, value in (("mass", mass), ("density", density)):
            if value is not None and value < 0:
                said.report(f"{key} is {value!r}; expected a number >= 0", key)
                return None
        solid = None if self.massless or self.kind == "plane" or not self._is_certain() else self._solid()
        if solid is None or not LIGHTEST < solid.mass < np.inf:
            return None
        factor = density if mass is None else mass / solid.mass
        turn, total = self.frame[:3, :3], factor * solid.mass
        centre = turn @ solid.com + self.frame[:3, 3]
        return (centre, total, turn @ (factor * solid.tensor) @ turn.T) if total > LIGHTEST else None

    def _solid(self) -> MeshSolid | None:
        """Itself with the density 1, in its own frame."""
        if self.kind == "mesh":
            return self.meshes.solid(str(self.attributes.text("mesh")))
        if not self.size:
            return None
        _, filled, shell = SOLIDS[self.kind]
        solid = _solid(shell if self.attributes.flag("shellinertia") else filled, self.size)
        return solid and MeshSolid(solid.mass, np.zeros(3), np.diag(solid.moments))

    def _is_certain(self) -> bool:
        """Whether its mass is known; what is missing is reported."""
        said = self.attributes
        if why := self.unknown:
            said.report(f"{why}; give its body an <inertial>, or this geom mass = '0'")
        elif said.contested and self.kind != "sphere":
            said.report(f"{CONTESTED.format(said.contested)}; its mass needs one of them, expected one", "quat")
        elif self.kind == "mesh" and "shellinertia" in said:
            said.report("shellinertia of a mesh; expected inertia = 'shell' in the <mesh>", "shellinertia")
        else:
            return True
        return False

    def shape(self, link: str) -> Shape | None:
        """What it looks like, where its own numbers say so."""
        if self.kind not in SOLIDS or self.from_file or not self.size:
            return None
        said = self.attributes
        touching = said.whole("contype", 1) or said.whole("conaffinity", 1)
        size = self.size
        if self.kind == "box":
            size = tuple(2 * value for value in size)
        elif self.kind in ("cylinder", "capsule"):
            size = (size[0], 2 * size[1])
        texts = {"name": said.text("name"), "material": said.text("material")}
        try:
            return Shape(
                link, self.kind, size, role="collision" if touching else "visual", origin=self.frame,
                colour=said.numbers("rgba", 4, 4), **texts,
            )  # fmt: skip
        except ModelError as error:
            said.report(str(error))
            return None


def _solid(make: Callable[[tuple[float, ...]], Solid], size: tuple[float, ...]) -> Solid | None:
    try:
        return make(size)
    except (OverflowError, ZeroDivisionError):  # (a size near the ends of what a float can say)
        return None


def read_geom(said: Attributes, settings: Settings, outer: FloatArray, meshes: Meshes) -> Geom:
    """A geom of a body; `outer` is T_body_frame of the frames around it."""
    kind = said.word("type", KINDS, "sphere")
    if "fromto" in said:
        frame, half = _from_to(said, kind)
    else:
        frame, half = pose(said, settings.degree, settings.sequence), None
        if said.contested:
            subject = f"{said.contested!r} of a default class beside an own quat"
            said.log.leave(said.element, subject, "MuJoCo takes the quat from version 4 on; it only turns the picture")
    return Geom(said, kind, outer @ frame, _size(said, kind, half), meshes)


def _from_to(said: Attributes, kind: str) -> tuple[FloatArray, float | None]:
    """Frame and half length of a geom that reaches from one point to another."""
    ends = said.numbers("fromto", 6, 6)
    nothing = np.eye(4), None
    if kind not in LONG:
        said.report(f"fromto is given for type {kind!r}; only a capsule, cylinder, ellipsoid or box has one", "fromto")
        return nothing
    if any(said.row("pos", ORIGIN)):
        said.report("it has both pos and fromto; expected one of them", "fromto")
    if ends is None:
        return nothing
    frame_and_half = between(ends)
    if frame_and_half is None:
        said.report(f"fromto is {ends!r}; expected two points apart from each other", "fromto")
        return nothing
    return frame_and_half


def _size(said: Attributes, kind: str, half: float | None) -> tuple[float, ...]:
    """Its sizes, all positive, or () after a report."""
    if kind not in SOLIDS or said.text("mesh") is not None:
        return ()
    count = SOLIDS[kind][0]
    sizes = said.numbers("size", 1, 3) if "size" in said else []
    if sizes is None:
        return ()
    if half is not None:
        sizes = [*sizes[:1], half] if count == 2 else [*sizes[:1], *sizes[:1], half]
    if len(sizes) < count or any(value <= 0 for value in sizes[:count]):
        word = f"{count} positive numbers" if count > 1 else "a positive number"
        stated = shown(said.text("size")) if "size" in said else "missing"
        said.report(f"size is {stated}; expected {word} for a {kind}", "size")
        return ()
    return tuple(sizes[:count])


@dataclass
class BodyInertia:
    """Mass (kg), centre of mass (m) and tensor about it (kg m2), in the body's frame; whether they are left out."""

    mass: float = 0.0
    com: FloatArray = field(default_factory=lambda: np.zeros(3))
    tensor: FloatArray = field(default_factory=lambda: np.zeros((3, 3)))
    left_out: bool = False


def body_inertia(
    said: Attributes | None, geoms: Sequence[Geom], settings: Settings, item: Attributes, *, moves: bool = True
) -> BodyInertia:
    """The inertia of a body.

    Parameters
    ----------
    said : Attributes, optional
        Its ``<inertial>``.
    geoms : sequence of Geom
        Its geoms.
    settings : Settings
        The file's.
    item : Attributes
        The body's own, for reports.
    moves : bool
        Whether a joint moves it. Of one that stands a mass that is not known is left out: no joint feels it.
    """
    body = BodyInertia() if said is None else _inertial(said, settings)
    if settings.from_geoms == "true" or (said is None and settings.from_geoms == "auto"):
        least, most = settings.groups
        counted = [geom for geom in geoms if least <= geom.attributes.whole("group") <= most]
        weighed = [geom for geom in counted if geom.kind != "plane" and not geom.massless]
        if not moves and settings.total_mass <= 0 and any(geom.unknown for geom in weighed):
            return BodyInertia(left_out=True)
        body = _of_geoms(counted) or body
    return _corrected(body, settings, item)


def _inertial(said: Attributes, settings: Settings) -> BodyInertia:
    """What an ``<inertial>`` says: its frame has the principal axes, unless the whole tensor is given."""
    frame = pose(said, settings.degree, settings.sequence)
    for key in ("pos", "mass"):
        if key not in said:
            said.report(f"it has no {key}")
    mass = said.non_negative("mass")
    full = said.numbers("fullinertia", 6, 6)
    diagonal = said.row("diaginertia", ORIGIN)
    if "fullinertia" in said and (any(diagonal) or any(key in said for key in ORIENTATIONS)):
        said.report("it has fullinertia and also diaginertia or an orientation; expected one of the two", "fullinertia")
    moments = [*diagonal, 0.0, 0.0, 0.0] if full is None else [*full[:4], full[5], full[4]]
    body = body_fields(mass, frame, moments)
    return BodyInertia(mass, body["com"], np.array(body["inertia"]))


def _of_geoms(geoms: Sequence[Geom]) -> BodyInertia | None:
    """The sum of the geoms, by the parallel-axis theorem; None where none has a mass."""
    parts = [body for geom in geoms if (body := geom.body()) is not None]
    mass = sum(part[1] for part in parts)
    if not parts:
        return None
    com = sum((m * centre for centre, m, _ in parts), np.zeros(3)) / mass
    tensor = np.zeros((3, 3))
    for centre, m, own_tensor in parts:
        arm = np.asarray(skew(centre - com), dtype=float)
        tensor += own_tensor - m * arm @ arm
    return BodyInertia(mass, com, 0.5 * (tensor + tensor.T))


def _corrected(body: BodyInertia, settings: Settings, item: Attributes) -> BodyInertia:
    """The same body with at least the least mass and moments, and balanced, where the compiler options say so."""
    mass = max(body.mass, settings.least_mass)
    if (settings.least_inertia <= 0 and not settings.balance) or not np.abs(body.tensor).max() <= LARGEST:
        return BodyInertia(mass, body.com, body.tensor)
    moments, axes = np.linalg.eigh(body.tensor)
    if settings.least_inertia > moments[0]:
        moments = np.maximum(moments, settings.least_inertia)
        body.tensor = axes @ np.diag(moments) @ axes.T
    if settings.balance and moments[0] + moments[1] < moments[2]:
        body.tensor = float(moments.mean()) * np.eye(3)
        item.remark("its moments of inertia are made equal, for balanceinertia is 'true'")
    return BodyInertia(mass, body.com, 0.5 * (body.tensor + body.tensor.T))


def scaled_to(total: float, bodies: Sequence[BodyInertia]) -> None:
    """Scale all masses and tensors so that the masses are a total (kg); nothing where it is not positive."""
    there = sum(body.mass for body in bodies)
    if total <= 0 or there <= 0:
        return
    for body in bodies:
        body.mass *= total / there
        body.tensor = body.tensor * (total / there)


TYPES = ("free", "ball", "slide", "hinge")


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
    spring : tuple of float or None
        Stiffness (N m/rad or N/m) and rest (rad or m) of a linear spring.
    springref : float
        The coordinate (rad or m) from which springs of tendons count.
    """

    attributes: Attributes
    kind: str
    pos: FloatArray
    axis: FloatArray
    ref: float
    fields: dict[str, Any]
    spring: tuple[float, float] | None = None
    springref: float = 0.0

    @property
    def name(self) -> str | None:
        """Its name, if it has one."""
        return self.attributes.text("name")

    def motion(self, value: float) -> FloatArray:
        """What it does to its body's frame (4, 4) at a coordinate, rad or m; a ball joint here does nothing."""
        change = 0.0 if self.kind == "ball" else value - self.ref
        if self.kind == "slide":
            return float_transform(None, tuple(change * self.axis))
        turn = np.asarray(rotation_about(self.axis, change), dtype=float)
        return float_transform(turn, tuple(self.pos - turn @ self.pos))


def read_joint(said: Attributes, settings: Settings, outer: FloatArray) -> MjcfJoint:
    """A hinge, a slide or a ball; `outer` is T_body_frame of the frames around it."""
    kind = said.word("type", TYPES, "hinge")
    is_hinge = kind == "hinge"
    pos, axis = (np.array(said.row(key, usual)) for key, usual in (("pos", ORIGIN), ("axis", (0.0, 0.0, 1.0))))
    ref = said.number("ref")
    if not 1e-14 < math.hypot(*axis) < math.inf:
        said.report(f"axis is {axis.tolist()!r}; expected a direction", "axis")
        axis = np.array([0.0, 0.0, 1.0])
    rotation = outer[:3, :3]
    if kind == "ball":
        _left_of_ball(said, settings)
        fields: dict[str, Any] = {"motor": joint_motor(said, settings)}
        return MjcfJoint(said, kind, rotation @ pos + outer[:3, 3], np.array([0.0, 0.0, 1.0]), 0.0, fields)
    motor = joint_motor(said, settings)
    fields = {"limits": _limits(said, settings, is_hinge), "tau_max": _effort_limit(said, settings), "motor": motor}
    ref = degrees(ref) if is_hinge and settings.degree else ref
    return MjcfJoint(
        said,
        kind,
        rotation @ pos + outer[:3, 3],
        rotation @ (axis / math.hypot(*axis)),
        ref,
        fields,
        _spring(said, settings),
        _springref(said, settings),
    )


def joint_motor(said: Attributes, settings: Settings) -> Motor | None:
    """Armature, damping and friction of a joint, the same for each of its velocities; None where there is nothing."""
    rotor: dict[str, Any] = {"viscous": _passive(said, settings), "coulomb": said.non_negative("frictionloss")}
    rotor["inertia"] = said.non_negative("armature")
    for key, flags in (("viscous", {"damper", "passive"}), ("coulomb", {"frictionloss", "constraint"})):
        rotor[key] *= not flags & settings.disabled
    return Motor(**rotor) if any(rotor.values()) else None


def _left_of_ball(said: Attributes, settings: Settings) -> None:
    """Remarks on what a ball joint says and is left out."""
    _spring_left_out(said, "ball")
    least, most = said.row("range", (0.0, 0.0))
    bare = said.text("limited") == "true" and "range" not in said  # (0, where MuJoCo takes none of hinges and slides)
    if bare or _limited(said, settings, "limited", "range", (least, most)):
        said.remark("its range is left out: it limits the angle of the whole turn, and a ball joint here that of its axis")


def _spring_left_out(said: Attributes, kind: str) -> None:
    """A remark on a spring that a joint of this kind does not have here."""
    if any(said.numbers("stiffness", 1, 3) or ()) and not _by_time_constant(said):
        said.remark(f"its spring is left out, for a {kind} joint has none")


def _by_time_constant(said: Attributes) -> bool:
    """Whether a time constant and a damping ratio say the spring and the damper, whatever stiffness and damping say."""
    return min(said.row("springdamper", (0.0, 0.0))) > 0


def _passive(said: Attributes, settings: Settings) -> float:
    """The viscous friction; damping that is not proportional to the speed is remarked on."""
    if _by_time_constant(said):
        both = said.row("springdamper", (0.0, 0.0))
        said.remark(f"springdamper is {both!r}: its spring and damper are not known here, and left out")
        return 0.0
    damping = said.damping()
    if damping < 0:
        said.report(f"damping is {damping!r}; expected a number >= 0", "damping")
        damping = 0.0
    return damping


def _spring(said: Attributes, settings: Settings) -> tuple[float, float] | None:
    """Stiffness and rest of a linear spring; one of another law is remarked on."""
    stiffness = said.numbers("stiffness", 1, 3) or [0.0]
    if not any(stiffness) or {"spring", "passive"} & settings.disabled or _by_time_constant(said):
        return None
    if said.number("springyield"):
        said.remark(f"springyield = {said.text('springyield')} is left out, for a spring here does not yield")
    rest = _springref(said, settings)
    if stiffness[0] < 0 or any(stiffness[1:]):
        law = " + ".join(f"{k!r} x{'' if power == 1 else f'^{power}'}" for power, k in enumerate(stiffness, 1) if k)
        stretch = f"q - {rest!r}" if rest else "q"
        said.remark(f"its spring is left out, for it is not linear: it pulls with -({law}), x = {stretch}")
        return None
    return stiffness[0], rest


def _springref(said: Attributes, settings: Settings) -> float:
    """Where springs rest, rad or m."""
    rest = said.number("springref")
    return degrees(rest) if settings.degree and said.word("type", TYPES, "hinge") == "hinge" else rest


def _limits(said: Attributes, settings: Settings, is_hinge: bool) -> tuple[float, float] | None:
    low, high = said.row("range", (0.0, 0.0))
    if not _limited(said, settings, "limited", "range", (low, high)) or {"limit", "constraint"} & settings.disabled:
        return None
    return (degrees(low), degrees(high)) if is_hinge and settings.degree else (low, high)


def _effort_limit(said: Attributes, settings: Settings) -> float | None:
    low, high = said.row("actuatorfrcrange", (0.0, 0.0))
    if not _limited(said, settings, "actuatorfrclimited", "actuatorfrcrange", (low, high)):
        return None
    if low != -high:
        said.remark(f"actuatorfrcrange is {[low, high]!r}; an effort limit holds both ways here, so it is left out")
        return None
    return high


def _limited(said: Attributes, settings: Settings, key: str, range_key: str, limits: tuple[float, float]) -> bool:
    """Whether a range holds, by MuJoCo's rules."""
    limited = said.word(key, ("false", "true", "auto"), "auto")
    if limited == "auto" and not settings.autolimits and limits != (0.0, 0.0):
        said.report(f"it has {range_key} but not {key}, and the compiler's autolimits is 'false'", range_key)
        return False
    if limited == "true" and not limits[0] < limits[1]:
        stated = shown(said.text(range_key)) if range_key in said else "not given"
        said.report(f"{range_key} is {stated}; expected the least value, then the greatest, for {key} is 'true'", range_key)
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
        Its other joints, in their order.
    free_joint : Attributes or None
        Its free joint.
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

    def __init__(self, defaults: Defaults, settings: Settings, meshes: Meshes, drop_free_armature: bool = False) -> None:
        self.log, self.defaults, self.settings, self.meshes = defaults.log, defaults, settings, meshes
        self.drop_free_armature = drop_free_armature
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
        if said.number("gravcomp"):
            said.remark(f"gravcomp = {said.text('gravcomp')} is a force that is left out")

        def end() -> None:
            body.inertia = body_inertia(body.inertial, body.geoms, self.settings, said, moves=self._moves(body))

        return _Level(iter(element.children), len(self.elements) - 1, np.eye(4), classes, end)

    def _moves(self, body: BodyElement) -> bool:
        """Whether a joint moves a body: its own, or one of those that carry it."""
        while not body.moves and body.parent != WORLD:
            body = self.elements[body.parent]
        return body.moves

    def _site(self, said: Attributes, owner: int, outer: FloatArray) -> None:
        frame = pose(said, self.settings.degree, self.settings.sequence)
        if "fromto" in said:
            ends = said.numbers("fromto", 6, 6)
            middle = between(ends) if ends else None
            if ends and middle is None:
                said.report(f"fromto is {ends!r}; expected two points apart from each other", "fromto")
            frame = middle[0] if middle else frame
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
        motor = joint_motor(said, self.settings)
        if motor is not None and any(motor.coulomb):
            said.remark("its friction is left out, for MuJoCo's is along the axes of the world")
            motor = motor.replace(coulomb=0.0)
        if motor is not None and motor.inertia and self.drop_free_armature:
            said.remark(f"its armature {motor.inertia!r} is left out; MuJoCo adds it to the inertia of all six freedoms")
            motor = motor.replace(inertia=0.0)
        body.free_motor = motor if motor is not None and (motor.inertia or motor.viscous) else None
        _spring_left_out(said, "free")


def repeated(log: Report, items: list[Attributes], noun: str) -> None:
    """Report names that stand twice."""
    first: dict[str, Element] = {}
    for said in items:
        name = said.text("name")
        if name is not None and name in first:
            log.report(said.element, f"{noun} {shown(name)} stands twice, first in {first[name].place}")
        elif name is not None:
            first[name] = said.element
