"""Linkwise's own .toml format, which represents a mechanism completely; docs/file-formats.md describes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileProblem, ModelError, Problem, choices, members
from linkwise.files import schema
from linkwise.files.losses import Losses
from linkwise.files.registry import NUMERIC, XML, Format, ReadOptions, register, stem
from linkwise.files.report import Description, Reading, all_shapes, attempt, some
from linkwise.files.schema import (
    Field,
    Kind,
    Schema,
    TableList,
    TableReader,
    lengths_of,
    lines,
    named,
    rows,
    same,
    table,
    tables,
    word,
)
from linkwise.files.toml_text import TOO_DEEP, Place, line_of, parsed, row
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia, tensor_from
from linkwise.model.joints import DEFAULT, JOINTS, Curvilinear, Joint, PolynomialSlide
from linkwise.model.link import CONVENTIONS, Z_AXIS, Link
from linkwise.model.link import DH_LETTERS as LETTERS
from linkwise.model.loop import LOOPS, Loop
from linkwise.model.mimic import Mimic
from linkwise.model.motor import Motor
from linkwise.model.potential import BallSpring, ConstantForce
from linkwise.model.shape import ROLES, SIZES, Shape
from linkwise.model.spring import EndStop, LinearSpringDamper, Spring
from linkwise.model.tendon_path import Pulley, WrapCylinder, WrapObject, WrapSphere
from linkwise.model.validation import Checker, frozen
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform

FORMAT = "linkwise 1"

#: Prefix of the ``format`` of a file that describes a chain.
CHAIN = "linkwise chain"

#: Greatest number of links in a message.
MOST_ROOTS = 10

_ZERO = (0.0, 0.0, 0.0)
#: Wrap objects by their kind.
WRAP_OBJECTS: dict[str, Any] = {"sphere": WrapSphere, "cylinder": WrapCylinder}

_NO_TENSOR = (_ZERO, _ZERO, _ZERO)
_VARIABLE = "; write 0 for the joint's variable: its value is added"


_TOML = re.compile(r"(?m)^[ \t]*(\[\[?[^\[\]\n]+\]\]?[ \t]*(#.*)?$|[A-Za-z0-9_\"'.-]+[ \t]*=)")


def _with_root(reading: Reading, root: str) -> Reading:
    """Restrict a reading to the subtree of one link, fixed to the base, with a remark on omitted links."""
    if reading.description is None:
        return reading
    mechanism = reading.description.mechanism
    roots = [name for name, parent in zip(mechanism.link_names, mechanism.parents, strict=True) if parent < 0]
    if root not in roots:
        problem = FileProblem(0, f"root is {root!r}; expected {some(roots, MOST_ROOTS)}")
        return Reading(None, [problem], reading.lines)
    try:
        part = mechanism.subtree(root)
    except ArgumentError as error:
        return Reading(None, [FileProblem(reading.line("link", mechanism.link_index(root)), str(error))], reading.lines)
    kept = {mechanism.link_index(name): k for k, name in enumerate(part.link_names)}
    others = [name for name in mechanism.link_names if name not in part.link_names]
    remarks = list(reading.remarks)
    if others:
        first = reading.line("link", mechanism.link_index(others[0]))
        message = f"left out, as they are not connected to {root!r}: {some(others, MOST_ROOTS, members)}"
        remarks.append(FileProblem(first, message))
    lines = {place: number for place, number in reading.lines.items() if place[:1] != ("link",)}
    for place, number in reading.lines.items():
        if place[:1] == ("link",) and len(place) > 1 and place[1] in kept:
            lines["link", kept[place[1]], *place[2:]] = number
    shapes = tuple(shape for shape in reading.description.shapes if shape.link in part.link_names)
    described = replace(reading.description, mechanism=part, shapes=shapes)
    if mechanism.link_names[mechanism.tool_index] not in part.link_names:
        if described.external.any():
            message = "what acts on the tool is left out with the tool"
            remarks.append(FileProblem(reading.line("external"), message))
        described = replace(described, external=frozen(np.zeros(6)))
    return replace(reading, description=described, lines=lines, remarks=remarks)


class LinkwiseToml(Format):
    """Linkwise's own format, which represents a mechanism completely."""

    name, title, suffixes = "a Linkwise .toml", "Linkwise .toml (keys and [tables])", (".toml",)
    options = frozenset({"root"})
    holds_shapes = True

    def sniff(self, text: str, options: ReadOptions) -> bool:  # noqa: D102
        return not NUMERIC.match(text) and not XML.match(text) and _TOML.search(text) is not None

    def read(self, text: str, path: str | Path, options: ReadOptions) -> Reading:  # noqa: D102
        reading = parse(text, stem(path), options.physical)
        return reading if options.root is None else _with_root(reading, options.root)

    def losses(self, description: Description) -> Losses:  # noqa: D102
        links = description.mechanism.links
        written = {joint for joint, _ in JOINT_KEYS.values()}
        foreign = [x for x in links if not x.joint_model.named_by_link() and type(x.joint_model) not in written]
        return Losses(never=[f"link {link.name!r}: its joint of the kind {link.joint!r}" for link in foreign])

    def write(self, description: Description) -> Iterator[str]:  # noqa: D102
        return render(description)


register(LinkwiseToml())


# ── frames and tensors ────────────────────────────────────────────────────────────────────────────


def _frame(xyz: Any = None, rpy: Any = None, matrix: Any = None) -> Array:
    """A transform (4, 4) from xyz and rpy, or from its matrix."""
    beside = {"xyz": xyz, "rpy": rpy}
    if matrix is None:
        return transform(None if rpy is None else rpy_to_rotation(*rpy), xyz)
    others = [Problem("", key, value, "nothing beside a matrix") for key, value in beside.items() if value is not None]
    if others:
        raise ModelError(others[:1])
    return np.array(matrix)


def _frame_values(frame: FloatArray) -> dict[str, Any]:
    """A transform as nothing (the identity), xyz (no rotation), or its matrix."""
    unturned = np.eye(4)
    unturned[:3, 3] = frame[:3, 3]
    if not same(frame, unturned):
        return {"matrix": frame}
    return {} if same(frame, np.eye(4)) else {"xyz": frame[:3, 3]}


def _tensor_text(tensor: FloatArray) -> str:
    """The shortest form that gives back the same tensor: its diagonal, six elements, or all nine."""
    j = tensor.tolist()
    diagonal = [j[0][0], j[1][1], j[2][2]]
    for form in (diagonal, [*diagonal, j[0][1], j[1][2], j[0][2]]):
        if same(tensor_from(Checker("inertia"), form), tensor):
            return row(form)
    return rows(tensor)


def _spring(joints: Any, ratios: Any = None, **values: Any) -> Spring:
    names = (joints,) if isinstance(joints, str) else tuple(joints)
    factors = [1.0] * len(names) if ratios is None else ratios if isinstance(ratios, list) else [ratios]
    if len(factors) != len(names):
        raise ModelError([Problem("", "ratios", ratios, f"{len(names)} numbers, one for each coordinate")])
    return Spring(dict(zip(names, factors, strict=True)), **values)


def _spring_values(spring: Spring) -> dict[str, Any]:
    names, ratios = [name for name, _ in spring.joints], [ratio for _, ratio in spring.joints]
    ratio_field = {} if ratios == [1.0] * len(ratios) else {"ratios": ratios}
    return {**vars(spring), "joints": names[0] if len(names) == 1 else names, **ratio_field}


def _linear_spring_damper(
    links: Any, points: Any, wraps: Sequence[Any] = (), pulleys: Sequence[Any] = (), **values: Any
) -> LinearSpringDamper:
    names = (links,) if isinstance(links, str) else tuple(links)
    if len(points) != len(names):
        raise ModelError([Problem("", "points", points, f"{len(names)} points, one on each of the links")])
    path: list[list[Any]] = [[], *([point] for point in zip(names, points, strict=True))]
    for field, elements in (("pulleys", pulleys), ("wraps", wraps)):
        for after, element in elements:
            if not 0 <= after <= len(names):
                raise ModelError([Problem("", f"{field}.after", after, f"a number of points, 0 to {len(names)}")])
            path[after].append(element)
    return LinearSpringDamper([element for part in path for element in part], **values)


def _linear_spring_damper_values(spring: LinearSpringDamper) -> dict[str, Any]:
    points: list[Any] = []
    others: dict[type, list[Any]] = {WrapObject: [], Pulley: []}
    for element in spring.points:
        kind = next((kind for kind in others if isinstance(element, kind)), None)
        (points if kind is None else others[kind]).append(element if kind is None else (len(points), element))
    links, places = zip(*points, strict=True)
    path = {"links": links, "points": places, "wraps": others[WrapObject] or None, "pulleys": others[Pulley] or None}
    return {**vars(spring), **path}


def _wrap(after: int, kind: str, side: Any = None, side_link: str | None = None, **values: Any) -> tuple[int, WrapObject]:
    other = "frame" if kind == "sphere" else "center"
    if other in values:
        raise ModelError([Problem("", other, values[other], f"nothing for a {kind}")])
    if side is None and side_link is not None:
        raise ModelError([Problem("", "side_link", side_link, "a side beside it")])
    return after, WRAP_OBJECTS[kind](**values, side=side if side_link is None else (side_link, side))


def _wrap_values(placed: tuple[int, WrapObject]) -> dict[str, Any]:
    kind = next(name for name, cls in WRAP_OBJECTS.items() if type(placed[1]) is cls)
    center = {"frame": None} if kind == "sphere" else {}
    link, side = placed[1].side or (placed[1].link, None)
    sides = {"side": side, "side_link": None if link == placed[1].link else link}
    return {"after": placed[0], "kind": kind, **vars(placed[1]), **center, **sides}


def _pulley(after: int, divisor: float) -> tuple[int, Pulley]:
    return after, Pulley(divisor)


# ── schemas ───────────────────────────────────────────────────────────────────────────────────────

TENSOR = Kind("finite numbers", schema.NUMBERS.parse, _tensor_text)
POINTS = Kind("a list of points, each a list of 3 finite numbers", schema.list_of(schema.VECTOR.parse), rows)
FRAME = Schema(
    Field("xyz", schema.VECTOR, "m", doc="position"),
    Field("rpy", schema.VECTOR, "rad", doc="roll, pitch, yaw: Rz(yaw) Ry(pitch) Rx(roll)"),
    Field("matrix", schema.MATRIX, doc="the transform, in the place of xyz and rpy"),
    make=_frame,
    values=_frame_values,
)
BODY_FIELDS = (
    Field("mass", schema.NUMBER, "kg", 0.0, "mass"),
    Field("com", schema.VECTOR, "m", _ZERO, "centre of mass"),
    Field("inertia", TENSOR, "kg m2", _NO_TENSOR, "about the centre of mass: Ixx Iyy Izz (Ixy Iyz Ixz), or 3 rows of 3"),
    Field("physical", schema.FLAG, default=True, doc="false: not checked to be that of a body that can exist"),
)
BODY = Schema(*BODY_FIELDS)
EXTERNAL = Schema(
    Field("force", schema.VECTOR, "N", doc="force on the tool, tool axes"),
    Field("moment", schema.VECTOR, "N m", doc="moment on the tool, tool axes"),
)
MIMIC = Schema(
    Field("joint", schema.TEXT, doc="the name of the one followed", required=True),
    Field("ratio", schema.NUMBER, doc="times the coordinate of the joint followed"),
    Field("offset", schema.NUMBER, "rad or m", doc="added to it"),
    make=Mimic,
)
MOTOR = Schema(
    Field("joint", schema.TEXT, doc="the name of the link that it moves"),
    Field("inertia", schema.NUMBER, "kg m2", doc="rotor inertia about the spin axis, motor side"),
    Field("gear_ratio", schema.NUMBER, doc="motor speed / joint speed"),
    Field("viscous", schema.NUMBER, "N m s/rad", doc="viscous friction, motor side"),
    Field("coulomb", schema.NUMBERS, "N m", doc="Coulomb friction: one number, or one for each direction of motion"),
    Field("transition_speed", schema.NUMBER, "rad/s", doc="of the motor, at which Coulomb friction has 71 %; 0: it jumps"),
    Field("breakaway", schema.NUMBERS, "N m", doc="greatest friction at rest, as for coulomb; that of coulomb if missing"),
    Field("friction_rule", schema.TEXT, default="reflected", doc='"reflected" or "toolbox7"'),
    Field("carrier", schema.TEXT_OR_WHOLE, doc="the link that carries the rotor"),
    Field("axis", schema.VECTOR, doc="direction of the spin, carrier's axes; with a carrier"),
    Field("mass", schema.NUMBER, "kg", 0.0, "of the rotor's own body, added to the carrier's"),
    Field("com", schema.VECTOR, "m", _ZERO, "its centre of mass, carrier's frame"),
    Field("rotor_inertia", TENSOR, "kg m2", _NO_TENSOR, "its tensor, carrier's axes"),
    make=Motor,
    together=("carrier", "axis"),
)
SEPARATE_MOTOR = Schema(
    *(replace(field, required=field.name == "joint") for field in MOTOR.fields.values()), make=Motor, together=MOTOR.together
)
LOOP = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("kind", schema.TEXT, doc=choices(LOOPS), required=True),
    Field("first", schema.TEXT, doc='a link\'s name, or "base"', required=True),
    Field("second", schema.TEXT, doc='a link\'s name, or "base"', required=True),
    Field("first_frame", FRAME, default=np.eye(4), doc="on the first link; its own frame if missing"),
    Field("second_frame", FRAME, default=np.eye(4), doc="on the second link"),
    make=Loop,
)
SPRING = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("joints", schema.TEXT_OR_TEXTS, doc="the coordinates that make its length", required=True),
    Field("ratios", schema.NUMBERS, doc="what each adds to the length per unit; 1 if missing"),
    Field("stiffness", schema.NUMBER, "N m/rad or N/m", 0.0, "tension per length"),
    Field("rest", schema.NUMBER, "rad or m", 0.0, "length without tension"),
    Field("damping", schema.NUMBER, "N m s/rad or N s/m", 0.0, "tension per rate of the length"),
    Field("force", schema.NUMBER, "N m or N", 0.0, "constant tension"),
    Field("inertia", schema.NUMBER, "kg m2 or kg", 0.0, "of what moves along the length"),
    Field("slack", schema.NUMBER, "rad or m", 0.0, "how far beyond the rest there is no tension"),
    Field("nonlinear_stiffness", schema.NUMBERS, "", (0.0, 0.0), "tension per square and per cube of the length"),
    make=_spring,
    values=_spring_values,
)
WRAP = Schema(
    Field("after", schema.WHOLE, doc="after how many points of the path", required=True),
    Field("kind", word(*WRAP_OBJECTS), doc="its surface", required=True),
    Field("link", schema.TEXT, doc='the link, or "base", that it is on', required=True),
    Field("radius", schema.NUMBER, "m", doc="of the surface", required=True),
    Field("center", schema.VECTOR, "m", _ZERO, "of a sphere, in the link's frame"),
    Field("frame", FRAME, default=np.eye(4), doc="of a cylinder, whose axis is z: T_link_cylinder"),
    Field("side", schema.VECTOR, "m", doc="the point that chooses the way"),
    Field("side_link", schema.TEXT, doc="the link in whose frame it is; that of the surface if missing"),
    make=_wrap,
    values=_wrap_values,
)
PULLEY = Schema(
    Field("after", schema.WHOLE, doc="after how many points of the path", required=True),
    Field("divisor", schema.NUMBER, doc="of the length of the branch that begins", required=True),
    make=_pulley,
    values=lambda placed: {"after": placed[0], "divisor": placed[1].divisor},
)
LINEAR_SPRING_DAMPER = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("links", schema.TEXT_OR_TEXTS, doc='the links, or "base", that its points are on, two or more', required=True),
    Field("points", POINTS, "m", doc="a point on each, in the link's frame", required=True),
    Field("wraps", TableList(WRAP), doc="what the path wraps between points"),
    Field("pulleys", TableList(PULLEY), doc="where branches begin"),
    Field("stiffness", schema.NUMBER, "N/m", 0.0, "tension per length"),
    Field("rest", schema.NUMBER, "m", 0.0, "length without tension"),
    Field("damping", schema.NUMBER, "N s/m", 0.0, "tension per rate of the length"),
    Field("force", schema.NUMBER, "N", 0.0, "constant tension"),
    Field("inertia", schema.NUMBER, "kg", 0.0, "of what moves along the length"),
    Field("slack", schema.NUMBER, "m", 0.0, "how far beyond the rest there is no tension"),
    Field("nonlinear_stiffness", schema.NUMBERS, "N/m2, N/m3", (0.0, 0.0), "tension per square and per cube of the length"),
    make=_linear_spring_damper,
    values=_linear_spring_damper_values,
)
END_STOP = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("joint", schema.TEXT, doc="the coordinate, or the ball joint, that it stops", required=True),
    Field("stiffness", schema.NUMBER, "N m/rad or N/m", doc="force per depth; needed without a restitution"),
    Field("damping", schema.NUMBER, "N m s/rad2 or N s/m2", 0.0, "force per depth and rate"),
    Field("limits", schema.PAIR, "rad or m", doc="where it begins; the limits of the joint if missing"),
    Field("restitution", schema.NUMBER, doc="of a rigid stop, 0 to 1, in the place of stiffness and damping"),
    make=EndStop,
)
BALL_SPRING = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("joint", schema.TEXT, doc="the ball joint that it turns back", required=True),
    Field("stiffness", schema.NUMBER, "N m/rad", doc="moment per angle", required=True),
    Field("rest", schema.NUMBERS, default=np.array([1.0, 0.0, 0.0, 0.0]), doc="the quaternion w x y z without a moment"),
    make=BallSpring,
)
CONSTANT_FORCE = Schema(
    Field("name", schema.TEXT, doc="may be missing"),
    Field("link", schema.TEXT, doc="the link that it acts on", required=True),
    Field("force", schema.VECTOR, "N", doc="in the axes of the world", required=True),
    Field("point", schema.VECTOR, "m", _ZERO, "where, in the link's frame"),
    make=ConstantForce,
)
SHAPE = Schema(
    Field("link", schema.TEXT, doc='the link that carries it, or "base"', required=True),
    Field("kind", word(*SIZES), doc="its geometry", required=True),
    Field("size", schema.NUMBERS, "m", doc="edges, radius and length, half axes, or scale: see `Shape`", required=True),
    Field("role", word(*ROLES), default="visual", doc='"visual" if missing'),
    Field("origin", FRAME, default=np.eye(4), doc="T_link_shape"),
    Field("filename", schema.TEXT, doc="of a mesh"),
    Field("colour", schema.NUMBERS, doc="red, green, blue, opacity"),
    Field("name", schema.TEXT, doc="may be missing"),
    Field("material", schema.TEXT, doc="may be missing"),
    make=Shape,
)
LINK = Schema(
    Field("name", schema.TEXT, doc="link1, link2, ... if missing"),
    Field("parent", schema.TEXT, doc='"base" or a link\'s name; the link before if missing'),
    Field("joint", schema.TEXT, doc='"revolute" if missing, "prismatic", "screw", "fixed", ...; or R, P, F'),
    Field("joint_name", schema.TEXT, doc="of the joint, where it is not the link's"),
    Field("convention", word(*CONVENTIONS), doc="of the Denavit-Hartenberg row"),
    Field("theta", schema.NUMBER, "rad", doc="angle about z", turn=True, hint=_VARIABLE),
    Field("d", schema.NUMBER, "m", doc="distance along z", hint=_VARIABLE),
    Field("a", schema.NUMBER, "m", doc="distance along x", hint=_VARIABLE),
    Field("alpha", schema.NUMBER, "rad", doc="angle about x", turn=True),
    Field("b", schema.NUMBER, "m", 0.0, "shift along y, standard convention only"),
    Field("before", FRAME, default=np.eye(4), doc="A: parent's frame to the joint"),
    Field("after", FRAME, default=np.eye(4), doc="B: joint to the link's frame"),
    Field("axis", schema.VECTOR_EACH, default=(0.0, 0.0, 1.0), doc="of the joint, in the frame of A; two if universal"),
    Field("pitch", schema.NUMBER, "m/rad", 0.0, "of a screw joint"),
    Field("lengths", schema.NUMBERS, "m", doc="of the segments of the path of a curvilinear joint"),
    Field("curvatures", schema.NUMBERS, "1/m", doc="of the same, positive to the left"),
    Field("repeats", schema.FLAG, default=False, doc="whether that path begins anew where it ends"),
    Field("coefficients", schema.NUMBERS, "m/rad, m/rad2, ...", doc="of a polynomial joint, which slides along its axis"),
    Field("offset", schema.NUMBER, "rad or m", 0.0, "added to the joint coordinate", turn=True),
    Field("limits", schema.PAIR_EACH, "rad or m", doc="least and greatest joint coordinate, of each; may be infinite"),
    Field("qd_max", schema.NUMBER_EACH, "rad/s or m/s", doc="both ways"),
    Field("qdd_max", schema.NUMBER_EACH, "rad/s2 or m/s2", doc="both ways"),
    Field("tau_max", schema.NUMBER_EACH, "N m or N", doc="both ways"),
    Field("mimic", MIMIC, doc="coordinate = ratio * that of the joint followed + offset"),
    *BODY_FIELDS,
    Field("motor", MOTOR, doc="drives this link's joint"),
)
FORCE_ELEMENTS: dict[str, tuple[type, Schema]] = {
    "spring": (Spring, SPRING),
    "linear_spring_damper": (LinearSpringDamper, LINEAR_SPRING_DAMPER),
    "end_stop": (EndStop, END_STOP),
    "ball_spring": (BallSpring, BALL_SPRING),
    "constant_force": (ConstantForce, CONSTANT_FORCE),
}
DH_KEYS = ("theta", "d", "a", "alpha", "b")
GENERAL_KEYS = ("before", "after", "axis", "pitch")

#: The kinds of joints with keys of their own.
JOINT_KEYS: dict[str, tuple[type[Joint], tuple[str, ...]]] = {
    "curvilinear": (Curvilinear, ("lengths", "curvatures", "repeats")),
    "polynomial": (PolynomialSlide, ("coefficients",)),
}
TOP = Schema(
    Field("format", schema.TEXT, doc=f'"{FORMAT}"'),
    Field("name", schema.TEXT, doc="the file's name if missing"),
    Field("source", schema.TEXTS, doc="where the numbers come from"),
    Field("convention", word(*CONVENTIONS), doc="of all Denavit-Hartenberg rows"),
    Field("angles", word("rad", "deg"), doc='"rad" if missing'),
    Field("gravity", schema.VECTOR, "m/s2", doc="acceleration of free fall, world frame; 0 0 -9.81 if missing"),
    Field("floating", schema.FLAG, default=False, doc="whether the base moves freely"),
    Field("tool_link", schema.TEXT, doc="the link that the tool is on; the last if missing"),
    Field("base", FRAME, doc="T_world_base"),
    Field("tool", FRAME, doc="T_link_tool"),
    Field("payload", BODY, doc="what the tool carries, tool frame"),
    Field("external", EXTERNAL, doc="what acts on the tool from outside"),
    Field("link", tables("link"), doc="the links, in order"),
    Field("motor", tables("motor"), doc="motors whose rotors ride on other links"),
    Field("loop", tables("loop"), doc="closed loops"),
    Field("spring", tables("spring"), doc="springs and dampers"),
    Field("linear_spring_damper", tables("linear_spring_damper"), doc="springs and dampers on lines between links"),
    Field("end_stop", tables("end_stop"), doc="end stops"),
    Field("ball_spring", tables("ball_spring"), doc="springs of ball joints"),
    Field("constant_force", tables("constant_force"), doc="constant forces on links"),
    Field("shape", tables("shape"), doc="what links look like and collide with"),
)

#: Schemas by the names of their tables in the documentation.
TABLES = {
    "the file": TOP,
    "[[link]]": LINK,
    "mimic": MIMIC,
    "motor, [[motor]]": MOTOR,
    "[[loop]]": LOOP,
    "[[spring]]": SPRING,
    "[[linear_spring_damper]]": LINEAR_SPRING_DAMPER,
    "wraps": WRAP,
    "pulleys": PULLEY,
    "[[end_stop]]": END_STOP,
    "[[ball_spring]]": BALL_SPRING,
    "[[constant_force]]": CONSTANT_FORCE,
    "[[shape]]": SHAPE,
    "[payload]": BODY,
    "[external]": EXTERNAL,
    "a frame": FRAME,
}


# ── reading ───────────────────────────────────────────────────────────────────────────────────────


def parse(source: str, name: str = "", physical: bool = True) -> Reading:
    r"""Read the text of a Linkwise .toml file.

    Parameters
    ----------
    source : str
        The text, line ends as ``\n``.
    name : str
        Name of the mechanism where the text gives none.
    physical : bool
        Whether each inertia that is not marked ``physical = false`` must be that of a body that can exist.
    """
    document, lines, problems = parsed(source)
    return Reading(None, problems, {}) if problems else described(document, lines, name, physical)


def described(document: dict[str, Any], lines: Mapping[Place, int], name: str = "", physical: bool = True) -> Reading:
    """Read a document of the form of a Linkwise .toml; `name` and `physical` as for `parse`."""
    form = document.get("format")
    if isinstance(form, str) and form.startswith(CHAIN):
        message = "this file describes a chain: linkwise check and linkwise serve take it, linkwise.control.load reads it"
        return Reading(None, [FileProblem(lines.get(("format",), 0), message)], lines)
    try:
        return _Reader(lines, name, physical).description(document)
    except RecursionError:
        return Reading(None, [FileProblem(0, TOO_DEEP)], lines)


class _Reader(TableReader):
    """Builds a description from a parsed document, gathering the problems of all parts."""

    def __init__(self, lines: Mapping[Place, int], name: str, physical: bool) -> None:
        super().__init__(lines)
        self.name = name
        self.physical = physical
        self.convention: str | None = None

    def description(self, document: dict[str, Any]) -> Reading:
        self.degrees = document.get("angles") == "deg"
        top = self.table("", (), document, TOP)
        self.check_format(document, FORMAT)
        self.convention = top.get("convention")
        links = [self._link(k, raw) for k, raw in enumerate(top.get("link", ()))]
        if "link" not in document:
            self.report((), "there is no link; expected one [[link]] table or more")
        self._check_names(links)
        self.lengths = (False,)
        motors = self._parts("motor", top, SEPARATE_MOTOR)
        loops = self._parts("loop", top, LOOP)
        shapes = self._parts("shape", top, SHAPE)
        for k, shape in shapes.items():
            if links and shape.link not in (known := ["base", *(str(link.name) for link in links)]):
                self.report(("shape", k, "link"), f"shape {k + 1}: link is {shape.link!r}; expected {choices(known)}")
        self.force_elements = {kind: self._force_elements(kind, top, links) for kind in FORCE_ELEMENTS}
        external = top.get("external", {})
        wrench = np.array([external.get(key, _ZERO) for key in ("force", "moment")]).reshape(6)
        mechanism = self._mechanism(top, links, motors, loops) if links else None
        problems = sorted(self.problems, key=lambda problem: problem.line)
        if problems or mechanism is None:
            return Reading(None, problems, self.lines)
        held = Description(mechanism, frozen(wrench), top.get("source", ()), tuple(shapes.values()))
        return Reading(held, [], self.lines)

    def _parts(self, kind: str, top: Mapping[str, Any], schema: Schema) -> dict[int, Any]:
        """The motors or loops by their place; those that are wrong are left out."""
        parts = {k: self.build(f"{kind} {k + 1}", (kind, k), raw, schema) for k, raw in enumerate(top.get(kind, ()))}
        return {k: part for k, part in parts.items() if part is not None}

    def _force_elements(self, kind: str, top: Mapping[str, Any], links: Sequence[Link]) -> dict[int, Any]:
        """Read springs or end stops by their place; their unit (degrees or m) depends on the joint that they act on."""
        pairs = [pair for x in links for pair in zip(x.coordinate_names, x.joint_model.turns_and_slides, strict=True)]
        lengths = {name: part.is_length for name, part in pairs}
        parts = {}
        for k, raw in enumerate(top.get(kind, ())):
            value = raw.get("joints", raw.get("joint")) if isinstance(raw, dict) else None
            names = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            kinds = {lengths[name] for name in names if isinstance(name, str) and name in lengths}
            self.lengths = (kinds == {True},)
            mixed = self.degrees and isinstance(raw, dict) and (len(kinds) > 1 or "ratios" in raw)
            for key in (key for key in ("rest", "slack") if mixed and raw.get(key)):
                why = "is of a length that several joints make, which degrees cannot express; expected a file in rad"
                self.report((kind, k, key), f"{kind} {k + 1}: {key} {why}")
            parts[k] = self.build(f"{kind} {k + 1}", (kind, k), raw, FORCE_ELEMENTS[kind][1])
        self.lengths = (False,)
        return {k: part for k, part in parts.items() if part is not None}

    def _link(self, k: int, raw: Any) -> Link:
        """The link of a table; a bare one of the same name where something is wrong."""
        place, item = ("link", k), named("link", k, raw)
        joint = raw.get("joint", DEFAULT) if isinstance(raw, dict) else ""
        joint = LETTERS.get(joint, joint) if isinstance(joint, str) else DEFAULT
        self.lengths, self.periodic = lengths_of(joint), joint in JOINTS and JOINTS[joint].periodic
        values = self.table(item, place, raw, LINK)
        values = {"name": f"link{k + 1}", **values, "physical": values.get("physical", True) and self.physical}
        general = [key for key in GENERAL_KEYS if key in values]
        dh = [key for key in DH_KEYS if key in values]
        convention = values.pop("convention", None) or self.convention
        if general and dh:
            both = f"{item} has {dh[0]!r} of a Denavit-Hartenberg row and {general[0]!r} of the general form"
            self.report((*place, general[0]), f"{both}; expected one of the two")
            return _bare(values)
        if dh and convention is None:
            message = f"{item} has a Denavit-Hartenberg row, but no convention is given"
            expected = f"expected convention = {choices(CONVENTIONS)} before the first table"
            self.report((*place, dh[0]), f"{message}; {expected}")
            return _bare(values)
        if "joint" in values:
            values["joint"] = joint
        for kind, (_, keys) in JOINT_KEYS.items():
            for key in keys:
                if key in values and kind != joint:
                    self.report((*place, key), f"{item} has {key!r}, but its joint is {joint!r}; expected {kind!r}")
                    return _bare(values)
        link, problems = attempt(item, lambda: Link.dh(**values, convention=str(convention)) if dh else _made(joint, values))
        self.tell(place, problems)
        return link or _bare(values)

    def _check_names(self, links: Sequence[Link]) -> None:
        first: dict[str | None, int] = {}
        for k, link in enumerate(links):
            if link.name in first:
                line = line_of(self.lines, ("link", first[link.name], "name"))
                self.report(("link", k, "name"), f"link {link.name!r} occurs twice, first in line {line}")
            first.setdefault(link.name, k)

    def _mechanism(
        self, top: dict[str, Any], links: Sequence[Link], motors: dict[int, Motor], loops: dict[int, Loop]
    ) -> Mechanism | None:
        keys = ("gravity", "floating", "tool_link", "base", "tool")
        settings: dict[str, Any] = {key: top[key] for key in keys if key in top}
        if "payload" in top:
            body = {**top["payload"], "physical": top["payload"].get("physical", True) and self.physical}
            settings["payload"], problems = attempt("payload", lambda: Inertia(**body, item="payload"))
            self.tell(("payload",), problems)
        name = top.get("name", self.name) or None
        parts: dict[str, Any] = {"motors": list(motors.values()), "loops": list(loops.values()), "name": name}
        elements = [(kind, k, part) for kind, parts in self.force_elements.items() for k, part in parts.items()]
        elements.sort(key=lambda element: line_of(self.lines, element[:2]))  # (the kinds have no fixed order)
        parts["springs"] = [element for _, _, element in elements]
        mechanism, problems = attempt("mechanism", lambda: Mechanism(links, **parts, **settings))
        places: dict[str, Place] = {}
        for k, link in enumerate(links):
            places |= {f"link {link.name!r}": ("link", k), f"link {link.name!r}: motor": ("link", k, "motor")}
            places |= {f"joint {link.coordinate_name!r}": ("link", k)} if link.moves else {}
        places |= {f"motors[{at}]": ("motor", k) for at, k in enumerate(motors)}
        for at, (kind, k, element) in enumerate(elements):
            places[f"spring {element.name!r}" if element.name else f"springs[{at}]"] = (kind, k)
        for at, (k, loop) in enumerate(loops.items()):
            places[f"loop {loop.name!r}" if loop.name else f"loops[{at}]"] = ("loop", k)
        for problem in problems:
            self._report_whole(problem, places, [link.name for link in links])
        return mechanism

    def _report_whole(self, problem: Problem, places: dict[str, Place], names: Sequence[str | None]) -> None:
        """Report a problem of the mechanism at the line of the item concerned."""
        if problem.item in places:
            place = places[problem.item]
            numbered = place[0] in {"motor", "loop", *FORCE_ELEMENTS}
            item = f"{place[0]} {place[1] + 1}" if numbered else problem.item  # type: ignore[operator]
            self.tell(place, [replace(problem, item=item)])
        elif problem.field != "links":
            self.tell((), [problem])
        elif isinstance(problem.value, list):  # a cycle; names that repeat have been reported with their lines
            self.report(("link", names.index(problem.value[0]), "parent"), str(problem))


def _made(joint: str, values: dict[str, Any]) -> Link:
    """A link of the general form, its joint by keys of its own where it has such."""
    if joint not in JOINT_KEYS:
        return Link(**values)
    kind, keys = JOINT_KEYS[joint]
    own = {key: values[key] for key in keys if key in values}
    missing = [key for key in keys if key not in own and key != "repeats"]
    if missing:
        item = f"link {values['name']!r}"
        raise ModelError([Problem(item, key, None, f"numbers, for its joint is {joint!r}") for key in missing])
    if joint == "polynomial":
        own["axis"] = Link(axis=values.get("axis", Z_AXIS)).axis
    return Link(**{key: value for key, value in values.items() if key not in {*keys, "joint"}}, joint=kind(**own))


def _bare(values: Mapping[str, Any]) -> Link:
    """A link that only keeps the place of one that could not be built, so that the tree can still be checked."""
    parent = values.get("parent")
    link, _ = attempt("link", lambda: Link(name=values["name"], parent=parent if parent and parent.strip() else None))
    return link or Link(name="?")


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def render(description: Description) -> Iterator[str]:
    """The text of a description, in parts; reading it gives back the same mechanism to the last bit."""
    mechanism = description.mechanism
    conventions = {link.dh_row.convention for link in mechanism.links if link.dh_row}
    settings = {key: getattr(mechanism, key) for key in ("name", "gravity", "floating", "tool_link")}
    settings |= {"format": FORMAT, "source": description.source or None}
    if len(conventions) == 1:
        settings["convention"] = next(iter(conventions))
    yield from lines(TOP, settings)
    for name in ("base", "tool"):
        yield from table(f"[{name}]", FRAME, getattr(mechanism, name))
    yield from table("[payload]", BODY, _body_values(mechanism.payload))
    if description.external.any():
        yield from table("[external]", EXTERNAL, {"force": description.external[:3], "moment": description.external[3:]})
    for link in mechanism.links:
        yield from table("[[link]]", LINK, _link_values(link, len(conventions) > 1))
    for motor in mechanism.motors:
        yield from table("[[motor]]", MOTOR, motor)
    for loop in mechanism.loops:
        yield from table("[[loop]]", LOOP, loop)
    for element in mechanism.springs:
        kind, schema = next((kind, schema) for kind, (cls, schema) in FORCE_ELEMENTS.items() if type(element) is cls)
        yield from table(f"[[{kind}]]", schema, element)
    for shape in all_shapes(mechanism, description.shapes):
        yield from table("[[shape]]", SHAPE, shape)


def _link_values(link: Link, mixed: bool) -> dict[str, Any]:
    """The values of a link by the keys of `LINK`; `mixed`: with its convention."""
    form = {key: getattr(link, key) for key in GENERAL_KEYS} if link.dh_row is None else dict(vars(link.dh_row))
    if not mixed:
        form.pop("convention", None)
    _, keys = JOINT_KEYS.get(link.joint, (None, ()))
    own = {key: getattr(link.joint_model, key) for key in keys}
    return {**vars(link), **dict.fromkeys(GENERAL_KEYS), **form, **own, **_body_values(link.body)}


def _body_values(body: Inertia) -> dict[str, Any]:
    return {"mass": body.mass, "com": body.com, "inertia": body.tensor, "physical": body.physical}
