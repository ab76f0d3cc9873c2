"""What an MJCF file cannot hold of a description."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from linkwise.errors import choices
from linkwise.files.formats.mjcf.body_plan import (
    EQUALITIES,
    LEAST,
    ROUNDING,
    TYPES,
    BodyPlan,
    borne_share,
    has_range,
    joint_values,
)
from linkwise.files.losses import Losses, motor_losses
from linkwise.files.report import Description, can_exist
from linkwise.files.xml_tree import NOT_XML
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.potential import UNTURNED, BallSpring, ConstantForce
from linkwise.model.spring import EndStop, LinearSpringDamper, Spring
from linkwise.spatial.rotation import rotation_error
from linkwise.spatial.scalar import FloatArray


def _turning_losses(mechanism: Mechanism) -> Iterator[str]:
    """Motors of joints with quaternions that MJCF cannot say: it has one number for all velocities of a joint."""
    values = joint_values(mechanism)
    for at in mechanism.manifold_joints:
        reflected = [values.get(name, {}) for name in mechanism.velocity_names[at.v]]
        if any(other != reflected[0] for other in reflected):
            yield f"motors of {at.name!r}: all of them ({_UNEQUAL})"
        elif at.joint.kind == "floating" and reflected[0].get("frictionloss"):
            yield f"motors of {at.name!r}: their Coulomb friction (MuJoCo's is along the axes of the world)"


def losses(description: Description) -> Losses:
    """What an MJCF file leaves out of a description, or changes, and what keeps it from being written.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> arm = Link(name="arm", mass=2.0, inertia=(0.1, 0.1, 0.1), qd_max=1.0)
    >>> screw = Mechanism([arm, Link(name="nut", joint="screw", pitch=0.1)])
    >>> losses(Description(screw)).lost, losses(Description(screw)).never[0]
    (["link 'arm': its qd_max"], "link 'nut': its screw joint")
    """
    mechanism = description.mechanism
    plan = BodyPlan(mechanism, description.shapes)
    apart = plan.mechanism
    lost = [f"link {link.name!r}: {part}" for k, link in enumerate(apart.links) for part in _link_losses(plan, k, link)]
    lost += [f"link {link.name!r}: {_UNNAMED}" for k, link in enumerate(apart.links) if _loses_name(plan, k, mechanism)]
    lost += [f"motor of {drive.joint!r}: {part}" for drive in apart.drives for part in _motor_losses(drive.motor)]
    lost += _turning_losses(apart)
    lost += [part for element in apart.springs for part in _spring_losses(apart, element)]
    lost += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if mechanism.floating and not np.array_equal(mechanism.base, np.eye(4)):
        lost.append(f"its base ({_FROM_WORLD})")
    if not mechanism.payload.physical:
        lost.append("its payload's mark physical=False")
    if description.external.any():
        lost.append("what acts on its tool (external)")
    if plan.is_reordered and not plan.has_order:
        lost.append(f"the order of its links ({_NESTED})")
    for shape in description.shapes:
        named = shape.material is not None or (shape.name and [s.name for s in description.shapes].count(shape.name) > 1)
        if shape.kind == "mesh" or named:
            part = "" if shape.kind == "mesh" else " (its name or material)"
            lost.append(f"link {shape.link!r}: its {shape.role} {shape.kind}{part}")
    return Losses(lost, [*_never(plan)])


_TURNED = "its rotation is not one to rounding, and would be rounded"
_UNEQUAL = "MJCF has one number for all velocities of a joint"
_FROM_WORLD = "a free joint counts from the world"
_NESTED = "a name has a blank, or a massless link does not stand before the one that it carries"
_UNNAMED = "its name (it has no inertia: its joint becomes one of the next body)"
_NO_INERTIA = "and MuJoCo moves no body without mass and moments of inertia"


def _never(plan: BodyPlan) -> Iterator[str]:
    """What another mechanism would be read for, or MuJoCo does not load."""
    mechanism = plan.mechanism
    for k, link in enumerate(mechanism.links):
        item = f"link {link.name!r}"
        if link.moves and link.joint not in TYPES:
            yield f"{item}: its {link.joint} joint"
        elif link.joint == "floating" and (mechanism.parents[k] >= 0 or mechanism.floating):
            yield f"{item}: its floating joint (a free joint stands in the world alone)"
        if k != plan.root and plan.is_bare(k):
            yield f"{item}: it has no inertia, nor has anything fixed to it, {_NO_INERTIA}"
        if not link.body.physical and not can_exist(link.body):
            yield f"{item}: no body has its inertia, and MuJoCo loads no such file"
    if plan.is_bare(-1):
        yield f"its floating base: it has no inertia, nor has anything fixed to it, {_NO_INERTIA}"
    for loop in mechanism.loops:
        if loop.kind not in EQUALITIES:
            yield f"loop {loop.name!r}: its kind {loop.kind!r}; expected {choices(EQUALITIES)}"
    names = [loop.name for loop in mechanism.loops], [getattr(element, "name", None) for element in mechanism.springs]
    for noun, labels in zip(("loop", "spring"), names, strict=True):
        yield from (
            f"{noun} {name!r}: its name occurs twice" for name, times in Counter(labels).items() if name and times > 1
        )
    if "world" in mechanism.link_names:
        yield "link 'world': its name, which means the world"
    words = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)}
    words |= {str(name) for name in (*names[0], *names[1], mechanism.name)}
    yield from (f"the name {name!r} (XML cannot say it)" for name in sorted(words) if NOT_XML.search(name))


def _link_losses(plan: BodyPlan, k: int, link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    if link.joint == "floating" and not np.array_equal(plan.mechanism.base @ link.before, np.eye(4)):
        yield f"its placement ({_FROM_WORLD})"
    yield from (f"its {field}" for field in ("qd_max", "qdd_max") if getattr(link, field) is not None)
    if link.tau_max == 0:
        yield "its tau_max 0 (read as none)"
    if link.limits is not None and (link.has_quaternion or not has_range(link)):
        yield f"its limits ({'of a cone' if link.has_quaternion else 'of one side alone, or without a range'})"
    if not link.moves and link.joint_name:
        yield "the name of its joint"
    if not link.body.physical:
        yield "its mark physical=False"
    if plan.is_lifted(k):
        yield f"its mass or moments of inertia of 0 ({LEAST} is written, {_NO_INERTIA})"


def _loses_name(plan: BodyPlan, k: int, mechanism: Mechanism) -> bool:
    """Whether a link becomes a joint of the body after it, and the reader calls it otherwise."""
    link, body = plan.mechanism.links[k], k
    if k in plan.stacks or k == plan.root or link.name not in mechanism.link_names:
        return False
    while body not in plan.stacks:
        (body,) = plan.children[body]
    return link.name != f"{plan.mechanism.link_names[body]}_{link.coordinate_name}"


def _motor_losses(motor: Motor) -> Iterator[str]:
    if motor.gear_ratio != 1:
        yield "its gear ratio (inertia and friction are written as the joint feels them)"
    yield from motor_losses(motor, "its")


def _spring_losses(mechanism: Mechanism, element: object) -> Iterator[str]:
    if isinstance(element, (Spring, LinearSpringDamper)):
        if element.force:
            where = element.points[0][0] if isinstance(element, LinearSpringDamper) else element.joints[0][0]
            yield f"spring {element.name or where!r}: its constant force"
    elif isinstance(element, BallSpring):
        if element.name or element.rest != UNTURNED:
            yield f"spring of {element.joint!r}: its rest or its name"
    elif isinstance(element, ConstantForce):
        if element.name or borne_share(mechanism, element) is None:
            yield f"the constant force on link {element.link!r}"
    elif isinstance(element, EndStop):
        yield f"end stop of {element.joint!r} (the stops of MuJoCo have another law)"
    else:
        yield f"a force element of the kind {type(element).__name__}"


def _is_bent(frame: FloatArray) -> bool:
    return bool(rotation_error(frame[:3, :3]) > ROUNDING)
