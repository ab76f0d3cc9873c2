"""Writing URDF: docs/urdf.md says what it holds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwise.errors import ArgumentError, choices
from linkwise.files.loss import check_loss
from linkwise.files.shape import Shape
from linkwise.files.urdf.losses import losses, obstacles
from linkwise.files.urdf.plan import JointPlan, plan_of
from linkwise.files.urdf.shapes import GEOMETRIES
from linkwise.files.urdf.values import UNBOUNDED
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.motor import Motor
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray


def render(
    path: str | Path,
    mechanism: Mechanism,
    external: FloatArray | None = None,
    shapes: Sequence[Shape] = (),
    allow_loss: bool = False,
) -> str:
    """The text of a URDF.

    Raises
    ------
    FileError
        Naming everything that would be lost, unless `allow_loss`, and everything that cannot be written at all.
    ArgumentError
        Where a shape hangs on a link that is not there.
    """
    check_loss(path, "a URDF", losses(mechanism, external, shapes), obstacles(mechanism), allow_loss)
    return "\n".join(_robot(mechanism, [shape for shape in shapes if shape.kind in GEOMETRIES])) + "\n"


def _robot(mechanism: Mechanism, shapes: Sequence[Shape]) -> Iterator[str]:
    known = {"base", *mechanism.link_names}
    for shape in shapes:
        if shape.link not in known:
            raise ArgumentError(f"a shape is on link {shape.link!r}; expected {choices(['base', *mechanism.link_names])}")
    plan = plan_of(mechanism, {shape.link for shape in shapes})
    yield '<?xml version="1.0" encoding="utf-8"?>'
    yield f"<robot name={quoteattr(mechanism.name)}>"
    for name, body in plan.links.items():
        yield from _link(name, body, [shape for shape in shapes if shape.link == name])
    for joint in plan.joints:
        yield from _joint(joint)
    yield "</robot>"


def _link(name: str, body: Inertia, shapes: Sequence[Shape]) -> Iterator[str]:
    inner = [*_inertial(body), *(line for shape in shapes for line in _shape(shape))]
    yield from _element("link", {"name": name}, inner)


def _inertial(body: Inertia) -> list[str]:
    if body.is_zero and not body.com.any():
        return []
    j = body.tensor.tolist()
    tensor = {"ixx": j[0][0], "ixy": j[0][1], "ixz": j[0][2], "iyy": j[1][1], "iyz": j[1][2], "izz": j[2][2]}
    inner = [
        *_element("origin", {"xyz": numbers(body.com)}),
        *_element("mass", {"value": real(body.mass)}),
        *_element("inertia", {name: real(value) for name, value in tensor.items()}),
    ]
    return _element("inertial", {}, inner)


def _joint(joint: JointPlan) -> list[str]:
    inner = [
        *_origin(joint.before),
        *_element("parent", {"link": joint.parent}),
        *_element("child", {"link": joint.child}),
        *(_element("axis", {"xyz": numbers(joint.axis)}) if joint.axis is not None else []),
    ]
    if joint.link is not None:
        inner += _limit(joint)
        inner += _dynamics(joint.link.motor)
        mimic = joint.link.mimic
        if mimic is not None:
            said = {"joint": mimic.joint, "multiplier": real(mimic.ratio), "offset": real(mimic.offset)}
            inner += _element("mimic", said)
    return _element("joint", {"name": joint.name, "type": joint.kind}, inner)


def _limit(joint: JointPlan) -> list[str]:
    """Limits, which URDF asks of revolute and prismatic joints; what has none is written as `UNBOUNDED`."""
    link = joint.link
    assert link is not None
    said: dict[str, float] = {}
    if joint.kind != "continuous":
        said["lower"], said["upper"] = link.limits or (-math.inf, math.inf)
    greatest = {"effort": link.effort_limit, "velocity": link.speed_limit}
    if said or any(value is not None for value in greatest.values()):
        said |= {name: math.inf if value is None else value for name, value in greatest.items()}
    bounded = {name: max(-UNBOUNDED, min(UNBOUNDED, value)) for name, value in said.items()}
    return _element("limit", {name: real(value) for name, value in bounded.items()}) if said else []


def _dynamics(motor: Motor | None) -> list[str]:
    """Friction as the joint feels it; what drives the joint instead of braking it cannot be said."""
    if motor is None:
        return []
    up, down = motor.reflected_coulomb
    damping, friction = max(0.0, motor.reflected_viscous), max(0.0, 0.5 * (up - down))
    if not damping and not friction:
        return []
    return _element("dynamics", {"damping": real(damping), "friction": real(friction)})


def _shape(shape: Shape) -> list[str]:
    if shape.kind == "mesh":
        said = {"filename": str(shape.filename)}
        said |= {} if shape.size == (1.0, 1.0, 1.0) else {"scale": numbers(shape.size)}
    elif shape.kind == "box":
        said = {"size": numbers(shape.size)}
    else:
        said = {name: real(value) for name, value in zip(("radius", "length"), shape.size, strict=False)}
    inner = [*_origin(shape.origin), *_element("geometry", {}, _element(shape.kind, said))]
    if shape.colour is not None or shape.material is not None:
        colour = [] if shape.colour is None else _element("color", {"rgba": numbers(shape.colour)})
        inner += _element("material", {"name": shape.material or ""}, colour)
    return _element(shape.role, {"name": shape.name} if shape.name else {}, inner)


def _origin(frame: Any) -> list[str]:
    """The placement, or nothing for the identity."""
    if np.array_equal(frame, np.eye(4)):
        return []
    said = {"xyz": numbers(frame[:3, 3])}
    if not np.array_equal(frame[:3, :3], np.eye(3)):
        said["rpy"] = numbers(rotation_to_rpy(frame[:3, :3]))
    return _element("origin", said)


def _element(tag: str, attributes: dict[str, str], inner: Sequence[str] = ()) -> list[str]:
    """The lines of an element, what is in it set in."""
    head = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    if not inner:
        return [f"<{tag}{head}/>"]
    return [f"<{tag}{head}>", *(f"  {line}" for line in inner), f"</{tag}>"]


def real(value: Any) -> str:
    """A number with all its digits; zero without a sign."""
    return repr(float(value) + 0.0)


def numbers(values: Iterable[Any]) -> str:
    """Numbers with all their digits, between blanks."""
    return " ".join(real(value) for value in values)
