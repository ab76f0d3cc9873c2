"""Attributes and frames of MJCF elements, the elements that are read, and the problems found in them, each with its line."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from linkwise.errors import Problem, choices, members, shown
from linkwise.files.report import Report, Result, attempt, some
from linkwise.files.text import number, whole, why_not
from linkwise.files.xml_tree import Element
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_about, rotation_between, rotation_x, rotation_y, rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform

#: Attributes of an orientation, with their counts of numbers.
ORIENTATIONS = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}

_FRAME = f"pos {' '.join(ORIENTATIONS)}"
_EQUALITY = "name class active solref solimp"
_ENDS = "body1 body2 site1 site2 anchor"

#: The kinds of equality constraints that can be read.
EQUALITIES = ("joint", "tendon", "connect", "weld")

#: Kinds of actuators; defaults of one hold for all of them.
ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity", "orientation", "pid", "damper", "cylinder", "muscle"),
    *("adhesion", "dcmotor"),
)

_ACTUATOR = """
    name class group nsample interp delay ctrllimited forcelimited actlimited ctrlrange forcerange actrange lengthrange
    inheritrange gear armature damping cranklength joint jointinparent tendon slidersite cranksite site refsite body user
    dyntype gaintype biastype dynprm gainprm biasprm actdim actearly input kp kv ki imax dampratio timeconst tausmooth
    posrange velrange ffrange slewmax area diameter bias range force scale lmin lmax vmax fpmax fvmax gain motorconst
    resistance nominal saturation inductance cogging controller thermal lugre plugin instance
"""

#: Attributes read from each kind of element; equalities and parts of tendons have keys of two words.
_ATTRIBUTES = {
    "mujoco": "model",
    "include": "file",
    "model": "name file content_type",
    "attach": "model body frame prefix",
    "replicate": "count sep offset euler prefix",
    "default": "class",
    "worldbody": "",
    "compiler": """
        autolimits boundmass boundinertia settotalmass balanceinertia strippath coordinate angle fitaabb eulerseq meshdir
        texturedir discardvisual usethread fusestatic inertiafromgeom inertiagrouprange saveinertial assetdir alignfree
        conflict passthrough savecanonical savecompiled convexhull exactmeshinertia
    """,  # (the last two are of older versions)
    "option": """
        timestep apirate impratio tolerance ls_tolerance noslip_tolerance ccd_tolerance mpr_tolerance sleep_tolerance gravity
        wind magnetic density viscosity o_margin o_solref o_solimp o_friction integrator collision cone jacobian solver
        iterations ls_iterations noslip_iterations ccd_iterations mpr_iterations sdf_iterations sdf_initpoints
        actuatorgroupdisable
    """,
    "flag": """
        constraint equality frictionloss limit contact passive spring damper gravity clampctrl warmstart filterparent
        actuation refsafe sensor midphase eulerdamp autoreset nativeccd island override energy fwdinv invdiscrete sensornoise
        multiccd sleep diagexact ipc speculative
    """,
    "body": f"name childclass {_FRAME} mocap gravcomp sleep simple fuse user",
    "frame": f"name childclass {_FRAME}",
    "inertial": f"{_FRAME} mass diaginertia fullinertia",
    "freejoint": "name group align",
    "joint": """
        name class type group pos axis springdamper limited actuatorfrclimited solreflimit solimplimit solreffriction
        solimpfriction stiffness range actuatorfrcrange actuatorgravcomp margin ref springref springyield armature damping
        frictionloss user align
    """,
    "geom": f"""
        {_FRAME} name class type contype conaffinity condim group priority size material friction mass density shellinertia
        solmix solref solimp margin gap surfacevel adhesion fromto hfield mesh fitscale rgba fluidshape fluidcoef castshadow
        user
    """,
    "site": f"name class type group {_FRAME} material mesh size fromto rgba user",
    "mesh": """
        name class content_type file scale inertia smoothnormal maxhullvert vertex texcoord normal face refpos refquat
        material builtin params
    """,
    "equality": _EQUALITY,
    "equality joint": f"{_EQUALITY} joint1 joint2 polycoef",
    "equality tendon": f"{_EQUALITY} tendon1 tendon2 polycoef",
    "equality connect": f"{_EQUALITY} {_ENDS}",
    "equality weld": f"{_EQUALITY} {_ENDS} relpose torquescale",
    "tendon": """
        name class group limited range actuatorfrclimited actuatorfrcrange solreflimit solimplimit solreffriction
        solimpfriction margin springlength springyield stiffness damping frictionloss armature width material rgba user
    """,
    "tendon joint": "joint coef",
    "tendon site": "site",
    "tendon geom": "geom sidesite",
    "tendon pulley": "divisor",
    **dict.fromkeys((*ACTUATORS, "plugin"), _ACTUATOR),
}
ATTRIBUTES = {kind: tuple(names.split()) for kind, names in _ATTRIBUTES.items()}

#: Elements of a default class that are not used here.
UNUSED_DEFAULTS = ("texture", "material", "camera", "light", "pair", "skin", "hfield")

#: Elements that a default class may contain.
DEFAULTS = ("joint", "geom", "site", "equality", "tendon", "mesh", *ACTUATORS, *UNUSED_DEFAULTS)

#: Child elements; those of tags that are not named here are searched too.
INSIDE: dict[str, tuple[str, ...]] = {
    "compiler": ("lengthrange",),
    "option": ("flag",),
    "geom": ("plugin",),
    **dict.fromkeys((*ACTUATORS, "flag", "joint", "freejoint", "site", "inertial", "equality", "connect", "weld"), ()),
}


#: The default class that all elements without another one are of.
MAIN = "main"

#: Greatest number of names in a message.
MOST_NAMED = 20


@dataclass(frozen=True)
class AttributeText:
    """Text of an attribute, and the element that defines it: the element itself or its default class."""

    text: str
    element: Element
    item: str


class Attributes:
    """Attributes of an element, which override those of its default class.

    Parameters
    ----------
    element : Element
        The element.
    log : Report
        Where problems go.
    item : str, optional
        Its name in messages: ``"joint 'elbow'"``.
    kind : str, optional
        That of `ATTRIBUTES` which it is, where its tag does not say so.
    known : sequence of str, optional
        The attributes that there are, where they are not those of its kind; others are reported.
    defaults : mapping of str to AttributeText
        What the default class says.
    """

    def __init__(
        self,
        element: Element,
        log: Report,
        item: str = "",
        *,
        kind: str = "",
        known: Sequence[str] | None = None,
        defaults: Mapping[str, AttributeText] | None = None,
    ) -> None:
        self.element, self.item, self.log = element, item or named(element), log
        check_known(element, log, self.item, ATTRIBUTES[kind or element.tag] if known is None else known)
        for child in element.children if element.tag in INSIDE else ():
            check_tag(child, self.item, log, INSIDE[element.tag])
        self.explicit = frozenset(element.attributes)
        self.contested: str | None = None  # form of the orientation in its default class, if the element itself has quat
        self.entries = dict(defaults or {})
        self.entries |= {key: AttributeText(text, element, self.item) for key, text in element.attributes.items()}

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def report(self, message: str, key: str | None = None) -> None:
        """Report something wrong with the element, at the line of an attribute if one is named."""
        entry = self.entries.get(key) if key else None
        self.log.report(entry.element if entry else self.element, f"{entry.item if entry else self.item}: {message}")

    def remark(self, message: str) -> None:
        """Remark on the element."""
        self.log.remark(self.element, f"{self.item}: {message}")

    def drop(self, message: str) -> None:
        """Report an unsupported feature: as a problem, or as a remark where such features are dropped."""
        self.log.drop(self.element, f"{self.item}: {message}")

    def tell(self, problem: Problem) -> None:
        """Report a problem of the model at the element."""
        self.log.tell(self.element, replace(problem, item=self.item))

    def build(self, make: Callable[[], Result]) -> Result | None:
        """Return the part of a model that `make` returns, or None after a report."""
        part, problems = attempt(self.item, make)
        for problem in problems:
            self.tell(problem)
        return part

    def lookup(
        self, key: str, known: Mapping[str, Result], nouns: str, default: str | None = None, *, needed: bool = True
    ) -> Result | None:
        """Return the item that an attribute refers to; None if it is unknown, which is reported, or missing."""
        name = self.text(key) or default
        if name is not None and name in known:
            return known[name]
        if name is not None or needed:
            value = f"{shown(name)}; the {nouns} are" if name else "missing; expected"
            self.report(f"{key} is {value} {offered(known)}", key)
        return None

    def text(self, key: str) -> str | None:
        """Return the text unchanged, or None if it is missing or empty."""
        return self.entries[key].text if key in self.entries and self.entries[key].text else None

    def number(self, key: str, default: float = 0.0) -> float:
        """Read one number."""
        return self.row(key, [default])[0]

    def row(self, key: str, default: Sequence[float]) -> list[float]:
        """Read as many numbers as the default has; return the default if the attribute is missing or invalid."""
        return self.numbers(key, len(default), len(default)) or list(default)

    def numbers(self, key: str, least: int, most: int) -> list[float] | None:
        """Numbers separated by blanks, or None where the attribute is missing, wrong, or empty, which MuJoCo ignores."""
        words = self.entries[key].text.split() if key in self.entries else []
        if not words:
            return None
        values = [real(word) for word in words]
        bad = next((word for word, value in zip(words, values, strict=True) if value is None), None)
        if bad is not None:
            why = f"{shown(bad)} is not a number" if number(bad) is not None else why_not(bad)
            self.report(f"{key} is {shown(self.entries[key].text)}: {why}", key)
            return None
        if not least <= len(values) <= most:
            count = f"{least}" if least == most else f"{least} to {most}"
            expected = f"{count} number{'s' if most > 1 else ''}"
            self.report(f"{key} is {shown(self.entries[key].text)}; expected {expected}", key)
            return None
        return [value for value in values if value is not None]

    def whole(self, key: str, default: int = 0) -> int:
        """Read one integer."""
        if key not in self.entries:
            return default
        value = whole(self.entries[key].text.strip())
        if value is None:
            self.report(f"{key} is {shown(self.entries[key].text)}; expected a whole number", key)
        return default if value is None else value

    def word(self, key: str, allowed: Sequence[str], default: str) -> str:
        """Read one of the allowed keywords."""
        if key not in self.entries:
            return default
        if self.entries[key].text not in allowed:
            self.report(f"{key} is {shown(self.entries[key].text)}; expected {choices(allowed)}", key)
            return default
        return self.entries[key].text

    def flag(self, key: str, default: bool = False) -> bool:
        """True or false."""
        return self.word(key, ("true", "false"), "true" if default else "false") == "true"

    def non_negative(self, key: str) -> float:
        """Read one non-negative number; return 0 if the attribute is missing or invalid."""
        value = self.number(key)
        if not value >= 0:
            self.report(f"{key} is {value!r}; expected a number >= 0", key)
            return 0.0
        return value

    def damping(self) -> float:
        """The damping that is proportional to the speed; any other is remarked on."""
        first, *others = self.numbers("damping", 1, 3) or [0.0]
        if any(others):
            self.remark(f"damping is {[first, *others]!r}; parts that are not proportional to the velocity are left out")
        return first


def check_known(element: Element, log: Report, item: str = "", known: Sequence[str] | None = None) -> None:
    """Report attributes that are not known, by default those of the element: a misspelt one would have no effect."""
    names = ATTRIBUTES[element.tag] if known is None else known
    for key in element.attributes:
        if key not in names:
            listed = f"; it has {members(names)}" if 0 < len(names) < 12 else ""
            hint = log.suggestion(key[:40], names) or listed
            log.report(element, f"{item or f'<{element.tag}>'} has no attribute {shown(key)}{hint}")


def check_tag(element: Element, place: str, log: Report, known: Sequence[str]) -> bool:
    """True if an element is allowed at this place; report any other."""
    if element.tag in known:
        return True
    hint = log.suggestion(element.tag[:40], known, " (did you mean <{}>?)")
    log.report(element, f"there is no element <{element.tag}> in {place}{hint}")
    return False


def offered(names: Collection[str], text: Callable[[Iterable[object]], str] = choices) -> str:
    """The names that there are, as a message lists them: the first ones of many."""
    return some(names, MOST_NAMED, text)


def real(word: str) -> float | None:
    """Parse a finite number, or return None; MJCF has no exponents with a D.

    Examples
    --------
    >>> real("-1.5e-3"), real("1d3"), real("inf")
    (-0.0015, None, None)
    """
    return None if "d" in word.lower() else number(word)


def degrees(value: float) -> float:
    """Degrees in rad, as MuJoCo computes it."""
    return value / 180.0 * math.pi


def named(element: Element) -> str:
    """Return the name of an element in messages: its tag and its name, if any."""
    name = element.get("name") if "name" in ATTRIBUTES.get(element.tag, ("name",)) else None
    return f"{element.tag} {shown(name)}" if name else f"<{element.tag}>"


#: Contents of one class: attributes by the kind of element.
Class = dict[str, dict[str, AttributeText]]


class Defaults:
    """The classes of a file by name."""

    def __init__(self, log: Report) -> None:
        self.log = log
        self.classes: dict[str, Class] = {MAIN: {}}

    def read(self, element: Element, parent: str | None = None, *, attached: bool = False) -> None:
        """Take in a ``<default>``: its own elements, then the classes nested in it, which begin with all that it has.

        The outermost one of a file that is `attached` has another name, and begins with nothing.
        """
        check_known(element, self.log)
        name = element.get("class") or ""
        if attached:
            self.classes[name] = {}
        elif parent is None:
            if name not in ("", MAIN):
                self.log.report(element, f"<default>: class is {shown(name)}; the outermost is {MAIN!r}")
            name = MAIN
        elif not name or name in self.classes:
            why = f"class {shown(name)} occurs twice" if name else "class is empty; expected a name of its own"
            self.log.report(element, f"<default>: {why}")
            return
        else:
            self.classes[name] = dict(self.classes[parent])  # (of its tables none is ever changed)
        for child in element.children:
            if child.tag != "default":
                self._take_in(child, name)
        for child in element.all("default"):
            self.read(child, name)

    def _take_in(self, element: Element, name: str) -> None:
        """Store the attributes of a class for one kind of element."""
        item = f"<{element.tag}> of default class {shown(name)}"
        if not check_tag(element, "<default>", self.log, DEFAULTS) or element.tag in UNUSED_DEFAULTS:
            return
        keys = [key for key in ATTRIBUTES[element.tag] if key not in ("name", "class")]
        entries = Attributes(element, self.log, item, known=keys).entries
        tables, kind = self.classes[name], kind_of(element.tag)
        tables[kind] = {**tables.get(kind, {}), **{key: entries[key] for key in keys if key in entries}}

    def of(self, element: Element, surrounding: Sequence[str] = (), kind: str = "") -> dict[str, AttributeText]:
        """Return the default attributes of an element; `surrounding` are the enclosing child classes, innermost last."""
        name = element.get("class") or (surrounding[-1] if surrounding else MAIN)
        return self.classes[self.known(element, name, "class")].get(kind or kind_of(element.tag), {})

    def known(self, element: Element, name: str, key: str) -> str:
        """The name of a class, or the main one after a report."""
        if name in self.classes:
            return name
        classes = offered(self.classes, members)
        self.log.report(element, f"<{element.tag}>: {key} is {shown(name)}; the classes are {classes}")
        return MAIN


def kind_of(tag: str) -> str:
    """Return the kind of an element for the look-up of class defaults."""
    return "actuator" if tag in ACTUATORS else tag


#: A direction shorter than this is none (MuJoCo's bound).
LEAST = 1e-14

_TURNS = {"x": rotation_x, "y": rotation_y, "z": rotation_z}
_NO_TURN = np.eye(3)

#: Default position, m.
ORIGIN = (0.0, 0.0, 0.0)


#: The name of the ``<text>`` of ``<custom>`` that lists bodies in the order of the links.
ORDER = "linkwise_order"


def pose(attributes: Attributes, degree: bool, sequence: str) -> FloatArray:
    """T_parent_frame (4, 4) of an element.

    Parameters
    ----------
    attributes : Attributes
        The element's.
    degree : bool
        Whether angles are in degrees.
    sequence : str
        The axes of Euler angles, a small letter for each that turns with the frame.
    """
    position = attributes.row("pos", ORIGIN)
    return float_transform(orientation(attributes, degree, sequence), position)


def float_transform(rotation: Array | None, position: npt.ArrayLike) -> FloatArray:
    """The transform (4, 4) of floats with a rotation (3, 3) and a position (3,)."""
    return np.asarray(transform(rotation, position), dtype=float)


def orientation(attributes: Attributes, degree: bool, sequence: str) -> FloatArray:
    """Return R_parent_frame (3, 3) of an element; its own attributes take precedence over those of its default class.

    Beside an own quaternion MuJoCo before version 4 takes what the default class says otherwise (euler, zaxis, ...); this
    is noted as `Attributes.contested`, for where it matters.
    """
    explicit = [key for key in ORIENTATIONS if key in attributes.explicit]
    stated = explicit or [key for key in ORIENTATIONS if key in attributes]
    if len(stated) > 1:
        attributes.report(f"its orientation is given by {members(stated)}; expected one of them", stated[0])
        return _NO_TURN
    if explicit == ["quat"]:
        attributes.contested = next((key for key in ORIENTATIONS if key in attributes and key != "quat"), None)
    if not stated:
        return _NO_TURN
    values = attributes.numbers(stated[0], ORIENTATIONS[stated[0]], ORIENTATIONS[stated[0]])
    rotation = None if values is None else _turned(stated[0], values, degree, sequence)
    if values is not None and rotation is None:
        attributes.report(f"{stated[0]} is {values!r}, which has no direction", stated[0])
    return _NO_TURN if rotation is None else np.asarray(rotation, dtype=float)


def _turned(kind: str, values: list[float], degree: bool, sequence: str) -> Array | None:
    if kind == "quat":
        size = math.hypot(*values)
        return quaternion_rotation([value / size for value in values]) if LEAST < size < math.inf else None
    if kind == "euler":
        return euler_rotation(values, degree, sequence)
    first = _unit(values[:3])
    if first is None:
        return None
    if kind == "axisangle":
        return rotation_about(first, degrees(values[3]) if degree else values[3])
    if kind == "zaxis":
        return _z_to(first)
    second = np.array(values[3:])
    across = _unit((second - first * (first @ second)).tolist())
    return None if across is None else np.column_stack([first, across, np.cross(first, across)])


def _unit(values: list[float]) -> FloatArray | None:
    size = math.hypot(*values)
    return np.array(values) / size if LEAST < size < math.inf else None


def euler_rotation(values: Sequence[float], degree: bool, sequence: str) -> Array:
    """Turns one after the other: about axes that turn with the frame (small letters) or that stay."""
    angles = [degrees(value) for value in values] if degree else values
    rotation: Array = np.eye(3)
    for axis, angle in zip(sequence, angles, strict=True):
        turn = _TURNS[axis.lower()](angle)
        rotation = rotation @ turn if axis.islower() else turn @ rotation
    return rotation


def _z_to(direction: FloatArray) -> FloatArray:
    """The least rotation that takes z to a direction; the half turn to -z is about x, as MuJoCo has it."""
    if math.hypot(direction[0], direction[1]) < 1e-10 and direction[2] < 0:
        return np.asarray(rotation_x(math.pi), dtype=float)
    return rotation_between([0.0, 0.0, 1.0], direction)


def between(ends: list[float]) -> tuple[FloatArray, float] | None:
    """The frame (4, 4) in the middle between two points, its z from the first to the second, and half their distance (m).

    None where the points are too close. (The direction is that of MuJoCo's code, from the second to the first; for shapes
    that look the same both ways it makes no difference.)
    """
    start, end = np.array(ends[:3]), np.array(ends[3:])
    direction = _unit((start - end).tolist())
    if direction is None:
        return None
    return float_transform(_z_to(direction), (start + end) / 2), math.hypot(*(start - end)) / 2
