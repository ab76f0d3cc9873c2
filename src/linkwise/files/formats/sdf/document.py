"""The document of an SDF: included files merged, values of elements, problems with their file and line.

What is included may be of another format, such as URDF: it becomes the model of SDF that it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import FileError, FileProblem, choices, shown
from linkwise.files.losses import motor_losses
from linkwise.files.packages import path_inside, resolve
from linkwise.files.registry import ReadOptions, format_of
from linkwise.files.report import Description, Report
from linkwise.files.text import LARGEST_DESCRIPTION, number, read_text, why_not
from linkwise.files.xml_tree import INFINITE, Element, XmlError, numbers, read_xml, real
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.shape import SIZES, Shape
from linkwise.spatial.quaternion import quaternion_rotation, rotation_quaternion
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform

Version = tuple[int, ...]

#: The versions of the format that are read, first and last; 1.2 and 1.3 have the mechanical part of 1.4.
VERSIONS: tuple[Version, Version] = ((1, 2), (1, 12))

#: Greatest number of files included in one description.
MOST_INCLUDES = 1000

#: Suffixes of files that an address names itself; any other one names the folder of a model.
DIRECT = (".sdf", ".world", ".xml", ".model", ".urdf")

#: A limit from here on is none, by the rules of SDFormat.
UNBOUNDED = 1e16

_TRUTH = {"true": True, "1": True, "false": False, "0": False}

#: Origin of an element of an included file: the file, its version, and the line in it.
Origin = tuple[Path | None, Version]


class Values(Report):
    """Reads the values of elements; collects problems and remarks."""

    def only(self, item: str, element: Element, tag: str) -> Element | None:
        """The child with that tag, of which there may be one."""
        children = element.all(tag)
        for other in children[1:]:
            self.drop(other, f"{item}: <{tag}> occurs twice, first in line {children[0].line}", "the first counts")
            element.children.remove(other)
        return children[0] if children else None

    def text(self, item: str, element: Element, tag: str) -> str | None:
        """Return the text of a child; None if it is missing or empty."""
        child = self.only(item, element, tag)
        return child.text.strip() or None if child is not None else None

    def number(self, item: str, element: Element, tag: str, default: float) -> float:
        """Read the finite number in a child."""
        child = self.only(item, element, tag)
        return default if child is None else (self.numbers(item, child, (default,)) or (default,))[0]

    def end(self, item: str, element: Element, tag: str, default: float) -> float:
        """A limit that may be infinite; so is one from `UNBOUNDED` on."""
        child = self.only(item, element, tag)
        text = "inf" if child is None else child.text.strip()
        if child is not None and number(text) is None and text.lower() not in INFINITE:
            self.drop(child, f"{item}: <{tag}>: {why_not(text)}", "there is no such limit")
            child = None
        value = None if child is None else self.bound(child, f"{item}: <{tag}>", text, UNBOUNDED)
        return default if value is None else value

    def flag(self, item: str, element: Element, tag: str) -> bool:
        """Read a boolean child; False if it is missing."""
        text = self.text(item, element, tag)
        return self.truth(f"{item}: <{tag}>", element, text)

    def truth(self, subject: str, element: Element, text: str | None) -> bool:
        """Parse a boolean; False if it is missing."""
        if text is not None and text.strip().lower() not in _TRUTH:
            self.report(element, f"{subject} is {shown(text)}; expected true or false")
        return _TRUTH.get((text or "").strip().lower(), False)

    def numbers(self, item: str, element: Element, default: Sequence[float]) -> tuple[float, ...] | None:
        """Read as many finite numbers as the default has, from the text of an element; None after a report."""
        return self.finite(element, f"{item}: <{element.tag}>", element.text, len(default))

    def vector(self, item: str, element: Element, tag: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """The finite numbers of a child, as many as the default has."""
        child = self.only(item, element, tag)
        return default if child is None else self.numbers(item, child, default) or default

    def pose(self, item: str, element: Element) -> FloatArray:
        """Read the transform (4, 4) of a child ``<pose>``; the identity if it is missing or empty.

        x y z, then roll pitch yaw (rad, or degrees where it says so) or a quaternion x y z w.
        """
        child = self.only(item, element, "pose")
        if child is None or not child.text.strip():
            return np.eye(4)
        form = child.get("rotation_format") or "euler_rpy"
        in_degrees = self.truth(f"{item}: degrees of <pose>", child, child.get("degrees"))
        if form not in {"euler_rpy", "quat_xyzw"}:
            self.report(child, f"{item}: rotation_format is {shown(form)}; expected 'euler_rpy' or 'quat_xyzw'")
            return np.eye(4)
        values = self.numbers(item, child, (0.0,) * (6 if form == "euler_rpy" else 7))
        if values is None:
            return np.eye(4)
        if form == "euler_rpy":
            turn = np.radians(values[3:]) if in_degrees else np.array(values[3:])
            return np.asarray(transform(rpy_to_rotation(*turn) if turn.any() else None, values[:3]), dtype=float)
        x, y, z, w = values[3:]
        norm = math.hypot(x, y, z, w)
        if not 1e-9 < norm < math.inf:
            self.report(child, f"{item}: its quaternion is {[x, y, z, w]!r}; expected x y z w of a rotation")
            return np.eye(4)
        rotation = quaternion_rotation(np.array([w, x, y, z]) / norm)
        return np.asarray(transform(rotation, values[:3]), dtype=float)


def file_version(values: Values, top: Element) -> Version:
    """Return the format version of a file."""
    text = top.get("version") or ""
    parts = text.strip().split(".")
    version = tuple(int(part) for part in parts[:2]) if len(parts) > 1 and all(map(str.isdecimal, parts)) else (0,)
    if not VERSIONS[0] <= version <= VERSIONS[1]:
        first, last = (".".join(map(str, end)) for end in VERSIONS)
        stated = f"is {shown(text)}" if text else "is missing"
        values.report(top, f"the version {stated}; expected {first!r} to {last!r}")
    return version


class Document:
    """The elements of a description, with those that it includes.

    Attributes
    ----------
    origins : dict of int to Origin
        File and version of each model or world, by the identity of its element.
    merged : set of int
        The models that are merged into those that include them, by the same.
    """

    def __init__(self, values: Values, file: Path | None, options: ReadOptions) -> None:
        self.values, self.file, self.options = values, file, options
        self.folders = [*options.package_dirs, *([] if file is None else [file.absolute().parent])]
        self.origins: dict[int, Origin] = {}
        self.merged: set[int] = set()
        self._count = 0

    def expand(self, element: Element, origin: Origin, open_files: tuple[Path, ...] = ()) -> None:
        """Put the models of included files in the places of all ``<include>`` of a world or model."""
        self.origins[id(element)] = origin
        element.asked_tags.add("include")
        children = []
        for child in element.children:
            if child.tag == "include":
                model = self._include(child, origin, open_files)
                children += [] if model is None else [model]
                continue
            if child.tag == "drake:joint":
                _plain(child)
            if child.tag == "model":
                self.expand(child, origin, open_files)
            children.append(child)
        element.children = children

    def _include(self, element: Element, origin: Origin, open_files: tuple[Path, ...]) -> Element | None:
        """Return the model of an ``<include>``, with its overrides applied; None after a report."""
        values, uri = self.values, self.values.text("<include>", element, "uri")
        self._count += 1
        refused = [child.tag for child in element.children if child.tag.endswith(":params")]
        why = ""
        if uri is None:
            why = "it has no <uri>"
        elif refused:
            why = f"<{refused[0]}> changes the included file, and is not read"
        elif origin[0] is None:
            why = "a text has no folder; include_root names the folder of the included files"
        elif self._count > MOST_INCLUDES:
            why = f"there are more than {MOST_INCLUDES} included files"
        if why:
            values.report(element, f"<include>{f' of {uri!r}' if uri else ''}: {why}")
            return None
        assert uri is not None
        try:
            file = self._file(uri, origin[0] or Path())
            if file in open_files:
                values.report(element, f"<include> of {uri!r}: the file includes itself")
                return None
            top = self._sdf(read_text(file, LARGEST_DESCRIPTION), file, element)
        except (FileError, XmlError) as error:
            problems = error.problems if isinstance(error, FileError) else [error.problem]
            values.report(element, f"<include> of {uri!r}: {problems[0]}")
            return None
        top.include(uri, element.line)
        version, models = file_version(values, top), top.all("model")
        if not models and (top.find("light") is not None or top.find("actor") is not None):
            values.remark(element, f"<include> of {uri!r} is left out, for it holds no model")
            return None
        if len(models) != 1:
            values.report(element, f"<include> of {uri!r}: there are {len(models)} models; expected one <model>")
            return None
        self._override(element, models[0])
        if values.truth("<include>: merge", element, element.get("merge")):
            self.merged.add(id(models[0]))
        self.expand(models[0], (file, version), (*open_files, file))
        return models[0]

    def _sdf(self, text: str, file: Path, element: Element) -> Element:
        """Parse the ``<sdf>`` of a text that an element includes; another format, such as URDF, is converted."""
        options = replace(self.options, root=None, xacro=None)
        form = format_of(file, text, options)
        if form.tag == "sdf":
            place = f"in {file.name!r}, line "
            return read_xml(text, "sdf", lambda line, message: self.values.drop(element, f"{place}{line}: {message}"))
        reading = form.read(text, file, options)
        lost = [] if reading.description is None else list(losses(reading.description.mechanism))
        problems = reading.problems or [FileProblem(0, f"would be lost in an SDF: {part}") for part in lost]
        if reading.description is None or problems:
            raise FileError(file, problems)
        for remark in reading.remarks:
            self.values.remark(0, f"in {file.name!r}: {remark}")
        name = reading.description.mechanism.name or file.stem
        model = model_of(reading.description, name, is_free=form.tag == "robot")
        return Element("sdf", {"version": "1.6"}, children=[model])

    def _override(self, element: Element, model: Element) -> None:
        """Apply the overrides of an ``<include>`` to the model."""
        for tag in ("pose", "static", "placement_frame", "name"):
            override = self.values.only("<include>", element, tag)
            if override is None:
                continue
            if tag in {"placement_frame", "name"}:
                model.attributes[tag] = override.text.strip()
            else:
                model.children = [*(child for child in model.children if child.tag != tag), override]

    def _file(self, uri: str, described: Path) -> Path:
        """Resolve an address to a file; for a folder, to the file named in its ``model.config``."""
        if uri.lower().endswith(DIRECT):
            return resolve(uri, described, self.folders)
        config = self._config(uri.rstrip("/"), described)
        top = read_xml(read_text(config, LARGEST_DESCRIPTION))
        files: Mapping[Version, str] = {_version_key(part.get("version")): part.text.strip() for part in top.all("sdf")}
        known = {version: name for version, name in files.items() if version <= VERSIONS[1] and name}
        if not known:
            raise FileError(
                config, [FileProblem(top.line, f"it names no <sdf>; expected {choices(['a file of the model'])}")]
            )
        named = known[max(known)]
        file = path_inside(config.parent, named)
        if file is None or not file.is_file():
            raise FileError(config, [FileProblem(top.line, f"there is no file {named!r} in the folder of the model")])
        return file

    def _config(self, uri: str, described: Path) -> Path:
        """The ``model.config`` of a folder; a mere name is that of a folder beside the file, else that of a model."""
        try:
            return resolve(f"{uri}/model.config", described, self.folders)
        except FileError:
            if "://" in uri or "/" in uri:
                raise
            return resolve(f"model://{uri}/model.config", described, self.folders)


def _plain(joint: Element) -> None:
    """Convert a joint of Drake to a joint of SDFormat, with Drake's name as type."""
    joint.tag = "joint"
    joint.attributes["type"] = f"drake:{joint.attributes.get('type', '')}"
    for end in joint.children:
        if end.tag in ("drake:parent", "drake:child"):
            end.tag = end.tag.removeprefix("drake:")


def _version_key(text: str | None) -> Version:
    parts = (text or "0").strip().split(".")
    return tuple(int(part) for part in parts) if all(map(str.isdecimal, parts)) else (0,)


#: Kinds of joints, with their types in SDF.
TYPES = {kind: kind for kind in ("revolute", "prismatic", "screw", "universal", "ball", "fixed")}

WORLD = "world"

#: The moments and products of inertia, each with its place in the tensor.
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "iyz": (1, 2), "ixz": (0, 2)}


def losses(mechanism: Mechanism) -> Iterator[str]:
    """List the features of a mechanism that an included model cannot represent."""
    plain = {"springs": mechanism.springs, "loops": mechanism.loops, "motors beside those of links": mechanism.motors}
    yield from (f"its {name}" for name, there in plain.items() if there)
    for link in mechanism.links:
        floats = link.joint == "floating" and link.parent == BASE
        if link.joint not in TYPES and not floats:
            yield f"its {link.joint} joint {link.coordinate_name!r}"
        if link.motor is not None:
            yield from motor_losses(link.motor, f"link {link.name!r}: its motor's")


def model_of(description: Description, name: str, *, is_free: bool) -> Element:
    """Convert a description to a ``<model>``; without a joint its roots are free, or fixed to the ground."""
    mechanism = description.mechanism
    model, poses = Element("model", {"name": name}), {BASE: np.asarray(mechanism.base, dtype=float)}
    for k in mechanism.order:
        link = mechanism.links[k]
        outer = poses[BASE if mechanism.parents[k] < 0 else mechanism.link_names[mechanism.parents[k]]]
        poses[str(link.name)] = np.asarray(outer @ link.placement(), dtype=float)
    for k, link in enumerate(mechanism.links):
        is_root = mechanism.parents[k] < 0
        above = BASE if is_root else mechanism.link_names[mechanism.parents[k]]
        if link.name == WORLD:
            continue
        shapes = [_shape(shape, at) for at, shape in enumerate(description.shapes) if shape.link == link.name]
        model.children.append(_tag("link", _pose(poses[str(link.name)]), _inertial(link), *shapes, name=str(link.name)))
        floats = link.joint == "floating" or (is_root and link.joint == "fixed" and (is_free or mechanism.floating))
        if not floats:
            frame = np.asarray(poses[above] @ link.before, dtype=float)
            model.children.append(_joint(link, WORLD if is_root else above, frame))
    return model


def _tag(tag: str, *children: Element, text: Any = "", **attributes: str) -> Element:
    return Element(tag, attributes, children=list(children), text=text if isinstance(text, str) else real(text))


def _pose(frame: Array, relative_to: str = "__model__") -> Element:
    w, x, y, z = rotation_quaternion(frame[:3, :3])
    values = numbers([*frame[:3, 3], x, y, z, w])
    return _tag("pose", text=values, relative_to=relative_to, rotation_format="quat_xyzw")


def _inertial(link: Link) -> Element:
    body = link.body
    moments = [_tag(name, text=body.tensor[place]) for name, place in MOMENTS.items()]
    centre = _tag("pose", text=numbers([*body.com, 0.0, 0.0, 0.0]))
    return _tag("inertial", centre, _tag("mass", text=body.mass), _tag("inertia", *moments))


def _joint(link: Link, parent: str, frame: Array) -> Element:
    """The joint of a link, its axes in its own frame."""
    children = [_pose(frame), _tag("parent", text=parent), _tag("child", text=str(link.name))]
    if link.joint == "screw":
        children.append(_tag("screw_thread_pitch", text=2 * math.pi * link.pitch))
    motor, axes = link.motor, np.atleast_2d(link.axis)[: 0 if link.joint in {"fixed", "ball"} else 2]
    for at, axis in enumerate(axes):
        parts = [_tag("xyz", text=numbers(axis))]
        limits = [None, None] if link.limits is None else np.atleast_2d(link.limits)[at]
        greatest = [
            value if value is None else np.atleast_1d(value)[at] for value in (link.qd_max, link.qdd_max, link.tau_max)
        ]
        tags = ("lower", "upper", "velocity", "drake:acceleration", "effort")
        pairs = zip(tags, [*limits, *greatest], strict=True)
        parts.append(_tag("limit", *(_tag(tag, text=value) for tag, value in pairs if value is not None)))
        if motor is not None:
            friction = (("damping", motor.reflected_viscous), ("friction", motor.reflected_coulomb[0]))
            parts.append(_tag("dynamics", *(_tag(tag, text=value) for tag, value in friction)))
        if link.mimic is not None:
            terms = (("multiplier", link.mimic.ratio), ("offset", link.mimic.offset))
            parts.append(_tag("mimic", *(_tag(tag, text=value) for tag, value in terms), joint=link.mimic.joint))
        children.append(_tag("axis2" if at else "axis", *parts))
    if motor is not None and motor.reflected_inertia:
        children.append(_tag("drake:rotor_inertia", text=motor.reflected_inertia))
    return _tag("joint", *children, name=link.coordinate_name, type=TYPES[link.joint])


def _shape(shape: Shape, at: int) -> Element:
    whole = {"box": "size", "mesh": "scale", "ellipsoid": "radii"}.get(shape.kind)
    sizes = zip(SIZES[shape.kind], shape.size, strict=True)
    parts = [_tag(whole, text=numbers(shape.size))] if whole else [_tag(name, text=value) for name, value in sizes]
    parts += [_tag("uri", text=shape.filename)] if shape.filename else []
    colour = [] if shape.colour is None else [_tag("material", _tag("diffuse", text=numbers(shape.colour)))]
    geometry = _tag("geometry", _tag(shape.kind, *parts))
    return _tag(shape.role, _pose(shape.origin, ""), geometry, *colour, name=shape.name or str(at))
