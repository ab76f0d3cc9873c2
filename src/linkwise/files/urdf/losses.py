"""What of a mechanism a URDF leaves out, and what keeps one from being written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from linkwise.files.attempt import attempt
from linkwise.files.shape import Shape
from linkwise.files.urdf.shapes import GEOMETRIES
from linkwise.mechanism import Mechanism
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.table import number
from linkwise.model.tree import GRAVITY
from linkwise.spatial.rotation import rotation_to_rpy, rpy_to_rotation
from linkwise.spatial.scalar import FloatArray

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
ROUNDING = 1e-12
"""A rotation that differs by more than this from the one that its angles make is no rotation to rounding."""


def losses(mechanism: Mechanism, external: FloatArray | None = None, shapes: Sequence[Shape] = ()) -> list[str]:
    """What a URDF leaves out of a mechanism and what goes with it, or changes; empty when nothing would be lost.

    How placements were given (rows of Denavit-Hartenberg parameters, offsets, frames behind the joint) is not counted: the
    file places every link where the mechanism has it. What keeps a file from being written at all is told by `obstacles`.

    Examples
    --------
    >>> losses(Mechanism([Link(name="arm")], gravity=(0, 0, 0)))
    ['its gravity (0, 0, 0) (a URDF says none; it is read with (0, 0, -9.81))']
    """
    found = [f"link {link.name!r}: {what}" for link in mechanism.links for what in _link_losses(link)]
    if not np.array_equal(mechanism.gravity, GRAVITY):
        shown, usual = (", ".join(map(number, values)) for values in (mechanism.gravity, GRAVITY))
        found.append(f"its gravity ({shown}) (a URDF says none; it is read with ({usual}))")
    found += [f"its {name} ({_TURNED})" for name in ("base", "tool") if _is_bent(getattr(mechanism, name))]
    if not mechanism.payload.physical:
        found.append(f"its payload's mark physical=False{_unphysical(mechanism.payload)}")
    found += [f"its motor of {motor.joint!r}" for motor in mechanism.motors]
    if external is not None and np.any(external):
        found.append("what acts on its tool (external)")
    others = [shape for shape in shapes if shape.kind not in GEOMETRIES]
    return [*found, *(f"link {each.link!r}: its {each.role} {each.kind} (no shape of a URDF)" for each in others)]


_TURNED = "its rotation is not one to rounding, and would be rounded"


def _link_losses(link: Link) -> Iterator[str]:
    if any(_is_bent(frame) for frame in (link.before, link.after)):
        yield f"its placement ({_TURNED})"
    for field in ("speed_limit", "effort_limit"):
        if getattr(link, field) == 0:
            yield f"its {field} 0 (read as none)"
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


def obstacles(mechanism: Mechanism) -> list[str]:
    """What keeps a URDF of a mechanism from being written: it would describe another one, or could not be read again.

    Examples
    --------
    >>> obstacles(Mechanism([Link(name="nut", joint="screw", pitch=0.1)]))
    ["link 'nut': its screw joint"]
    """
    found = [f"link {link.name!r}: its screw joint" for link in mechanism.links if link.joint == "screw"]
    if mechanism.loops:
        found.append("its closed loops")
    names = {str(name) for link in mechanism.links for name in (link.name, link.joint_name)} | {mechanism.name}
    return [*found, *(f"the name {name!r} (XML cannot say it)" for name in sorted(names) if _NOT_XML.search(name))]
