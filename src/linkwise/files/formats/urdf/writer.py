"""Writing URDF: docs/urdf.md says what it holds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from linkwise.errors import ArgumentError, choices
from linkwise.files.description import Description
from linkwise.files.format import Losses
from linkwise.files.formats.urdf.conversion import JointPlan, plan_of
from linkwise.files.formats.urdf.elements import UNBOUNDED
from linkwise.files.formats.urdf.geometry import GEOMETRIES
from linkwise.files.report import attempt
from linkwise.mechanism import Mechanism
from linkwise.model.formatting.table import number
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.shape import Shape
from linkwise.model.tree import GRAVITY
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.scalar import FloatArray

WRITTEN = ("revolute", "prismatic", "fixed")
"""The kinds of joints of a mechanism that URDF has."""


def render(mechanism: Mechanism, shapes: Sequence[Shape] = ()) -> str:
    """The text of a URDF, without what it cannot hold.

    Raises
    ------
    ArgumentError
        Where a shape is on no link.

    Examples
    --------
    >>> from linkwise import robots
    >>> render(robots.planar_2r()).splitlines()[1]
    '<robot name="planar_2r">'
    """
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
    greatest = {"effort": link.tau_max, "velocity": link.qd_max}
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


# ── losses ────────────────────────────────────────────────────────────────────────────────────────

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ROUNDING = 1e-12
"""A rotation that differs by more than this from the one that its angles make is no rotation to rounding."""


def losses(description: Description) -> Losses:
    """What a URDF leaves out of a description, or changes, and what keeps it from being written.

    Examples
    --------
    >>> from linkwise import robots
    >>> losses(Description(robots.planar_2r())).lost
    ['its gravity (0, -9.81, 0) (a URDF says none; it is read with (0, 0, -9.81))']
    """
    mechanism = description.mechanism
    lost = [f"link {link.name!r}: {part}" for link in mechanism.links for part in _link_losses(link)]
    if not np.array_equal(mechanism.gravity, GRAVITY):
        shown, usual = (", ".join(map(number, values)) for values in (mechanism.gravity, GRAVITY))
        lost.append(f"its gravity ({shown}) (a URDF says none; it is read with ({usual}))")
    lost += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if not mechanism.payload.physical:
        lost.append(f"its payload's mark physical=False{_unphysical(mechanism.payload)}")
    lost += [f"its motor of {motor.joint!r}" for motor in mechanism.motors]
    if description.external.any():
        lost.append("what acts on its tool (external)")
    others = [shape for shape in description.shapes if shape.kind not in GEOMETRIES]
    lost += [f"link {shape.link!r}: its {shape.role} {shape.kind} (no shape of a URDF)" for shape in others]
    never = [f"link {link.name!r}: its {link.joint} joint" for link in mechanism.links if link.joint not in WRITTEN]
    never += ["its closed loops"] if mechanism.loops else []
    names = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)} | {mechanism.name}
    never += [f"the name {name!r} (XML cannot say it)" for name in sorted(names) if _NOT_XML.search(name)]
    return Losses(lost, never)


_TURNED = "its rotation is not one to rounding, and would be rounded"


def _link_losses(link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    for field in ("qd_max", "tau_max"):
        if getattr(link, field) == 0:
            yield f"its {field} 0 (read as none)"
    if link.qdd_max is not None:
        yield "its qdd_max"
    if not link.body.physical:
        yield f"its mark physical=False{_unphysical(link.body)}"
    if link.motor is not None:
        yield from _motor_losses(link.motor)


def _motor_losses(motor: Motor) -> Iterator[str]:
    up, down = motor.reflected_coulomb
    tests = {
        "its motor's rotor inertia": motor.inertia != 0,
        "its motor's gear ratio": motor.gear_ratio != 1,
        "its motor's carrier": motor.carrier is not None,
        "its motor's friction rule": motor.friction_rule != "reflected",
        "its Coulomb friction by direction (the mean of both is written)": up != -down,
    }
    return (what for what, lost in tests.items() if lost)


def _unphysical(body: Inertia) -> str:
    """A hint at how a file with this body is read, where it can only be read so."""
    made, _ = attempt("link", lambda: Inertia(body.mass, body.com, body.tensor))
    return "" if made is not None else " (no body has this inertia; files.read(path, physical=False) accepts the file)"


def _is_bent(frame: FloatArray) -> bool:
    rotation = frame[:3, :3]
    return bool(np.abs(rpy_to_rotation(*rotation_to_rpy(rotation)) - rotation).max() > ROUNDING)
