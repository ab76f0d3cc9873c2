"""Descriptions of other formats that an SDF includes, such as URDF, as the models of SDF that they are."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwise.files.losses import motor_losses
from linkwise.files.report import Description
from linkwise.files.xml_tree import Element, numbers, real
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.model.loop import BASE
from linkwise.model.shape import SIZES, Shape
from linkwise.spatial.quaternion import rotation_quaternion
from linkwise.spatial.scalar import Array

#: The joints that can be said, and their types.
TYPES = {kind: kind for kind in ("revolute", "prismatic", "screw", "universal", "ball", "fixed")}

WORLD = "world"

#: The moments and products of inertia, each with its place in the tensor.
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "iyz": (1, 2), "ixz": (0, 2)}


def losses(mechanism: Mechanism) -> Iterator[str]:
    """What of a mechanism an included model cannot hold."""
    plain = {"springs": mechanism.springs, "loops": mechanism.loops, "motors beside those of links": mechanism.motors}
    yield from (f"its {name}" for name, there in plain.items() if there)
    for link in mechanism.links:
        floats = link.joint == "floating" and link.parent == BASE
        if link.joint not in TYPES and not floats:
            yield f"its {link.joint} joint {link.coordinate_name!r}"
        if link.motor is not None:
            yield from motor_losses(link.motor, f"link {link.name!r}: its motor's")


def model_of(description: Description, name: str, *, is_free: bool) -> Element:
    """The ``<model>`` of a description; without a joint its roots are free, or stand on the ground."""
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
    said = numbers([*frame[:3, 3], x, y, z, w])
    return _tag("pose", text=said, relative_to=relative_to, rotation_format="quat_xyzw")


def _inertial(link: Link) -> Element:
    body = link.body
    moments = [_tag(name, text=body.tensor[place]) for name, place in MOMENTS.items()]
    centre = _tag("pose", text=numbers([*body.com, 0.0, 0.0, 0.0]))
    return _tag("inertial", centre, _tag("mass", text=body.mass), _tag("inertia", *moments))


def _joint(link: Link, parent: str, frame: Array) -> Element:
    """The joint of a link, its axes in its own frame."""
    said = [_pose(frame), _tag("parent", text=parent), _tag("child", text=str(link.name))]
    if link.joint == "screw":
        said.append(_tag("screw_thread_pitch", text=2 * math.pi * link.pitch))
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
        said.append(_tag("axis2" if at else "axis", *parts))
    if motor is not None and motor.reflected_inertia:
        said.append(_tag("drake:rotor_inertia", text=motor.reflected_inertia))
    return _tag("joint", *said, name=link.coordinate_name, type=TYPES[link.joint])


def _shape(shape: Shape, at: int) -> Element:
    whole = {"box": "size", "mesh": "scale", "ellipsoid": "radii"}.get(shape.kind)
    sizes = zip(SIZES[shape.kind], shape.size, strict=True)
    parts = [_tag(whole, text=numbers(shape.size))] if whole else [_tag(name, text=value) for name, value in sizes]
    parts += [_tag("uri", text=shape.filename)] if shape.filename else []
    colour = [] if shape.colour is None else [_tag("material", _tag("diffuse", text=numbers(shape.colour)))]
    geometry = _tag("geometry", _tag(shape.kind, *parts))
    return _tag(shape.role, _pose(shape.origin, ""), geometry, *colour, name=shape.name or str(at))
