"""Remarks on a mechanism read from a file: bodies and rotors, lengths, limits, mimic joints."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from linkwise.dynamics.recursions import composite_inertias, reflected_inertias
from linkwise.errors import FileProblem
from linkwise.files.report import Reading
from linkwise.mechanism import Mechanism
from linkwise.model.body import moving_bodies
from linkwise.model.body_transform import joint_transforms
from linkwise.model.coupling import coupling
from linkwise.model.formatting.mechanism_tables import total_mass
from linkwise.model.formatting.table import number
from linkwise.model.inertia import SLACK, SMALLEST
from linkwise.model.transmission import Drive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.spatial_vectors import inertia_times

UNDEFINED = "its acceleration is not defined, and forward dynamics and simulate refuse it"

#: Rounding error of the inertia, kg m2, of a mass of 1 kg near the axes of a mechanism of 1 m.
ROUNDING = 1e-15

#: Lengths beyond this raise a remark, m.
LONG = 50.0

#: Joint limits beyond this raise a remark, rad.
MOST_TURN = 4 * math.pi


def remarks_on(mechanism: Mechanism, reading: Reading) -> list[FileProblem]:
    """Return all remarks on a mechanism, by line of its file."""
    looks = (_bodies, _rotors, _nothing_moved, _lengths, _limits, _followed)
    remarks = [remark for look in looks for remark in look(mechanism, reading)]
    if not mechanism.gravity.any():
        remarks.append(FileProblem(reading.line("gravity"), "gravity is zero"))
    if mechanism.floating and not total_mass(mechanism):
        remarks.append(FileProblem(reading.line("floating"), "the base floats, but nothing has a mass"))
    return sorted(remarks, key=lambda remark: remark.line)


def _bodies(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links without the inertia that a moving body has."""
    if not total_mass(mechanism) and all(link.body.is_zero for link in mechanism.links):
        if mechanism.n and not mechanism.floating:
            yield FileProblem(0, "no link has a mass: this is a description of kinematics alone")
        return
    undefined = _undefined(mechanism)
    loaded = {drive.carrier for drive in mechanism.drives if not drive.motor.locked.is_zero}
    for k, link in enumerate(mechanism.links):
        name = f"link {link.name!r}"
        if not link.body.physical:
            message = f"{name}: physical = false, its inertia is not checked"
            yield FileProblem(reading.line("link", k, "physical"), message)
        elif link.moves and link.body.is_zero and k not in loaded and (k in undefined or k not in reading.between):
            hint = f", and its joint moves none at all: {UNDEFINED}" if k in undefined else ""
            yield FileProblem(reading.line("link", k, "mass"), f"{name} moves, but has no mass and no inertia{hint}")
        elif link.moves and not link.body.mass and not link.body.is_zero:
            yield FileProblem(reading.line("link", k, "mass"), f"{name} has inertia, but no mass")


def _rotors(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Yield links whose inertia is smaller than that of the locked rotors inside them.

    Whatever turns with a link adds to its inertia, so the tensor less Jm a a' of each rotor (a: its axis) must be positive
    semidefinite; else some motion has negative kinetic energy.
    """
    carriers: dict[int | None, list[Drive]] = {}
    for drive in mechanism.drives:
        carriers.setdefault(drive.carrier, []).append(drive)
    for k, link in enumerate(mechanism.links):
        carried = [drive for drive in carriers.get(k, ()) if drive.motor.inertia > 0]
        held = [drive for drive in carried if not drive.motor.rotor_inertia.any()]  # (else it is no part of the link's own)
        if not held or not link.body.physical:
            continue
        tensor, least = link.body.tensor, -SLACK * np.trace(link.body.tensor)
        for drive in held:
            axis = np.asarray(drive.motor.axis)
            tensor = tensor - drive.motor.inertia * np.outer(axis, axis)
        if np.linalg.eigvalsh(tensor)[0] < least:
            rotors = " and ".join(f"{number(d.motor.inertia)} kg m2 of {d.joint!r}" for d in held)
            message = f"link {link.name!r}: its inertia is too small to contain the rotors that it carries ({rotors})"
            hint = "; give each its mass and rotor_inertia, or the link's inertia with them"
            yield FileProblem(reading.line("link", k, "inertia"), message + hint)


def _nothing_moved(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Yield joints of links with mass that move no inertia."""
    for k in _undefined(mechanism):
        link = mechanism.links[k]
        if link.body.mass:
            why = "moves no inertia (its mass is on the axis, and a point has none about it)"
            yield FileProblem(reading.line("link", k, "mass"), f"joint {link.coordinate_name!r} {why}: {UNDEFINED}")


def _undefined(mechanism: Mechanism) -> set[int]:
    """Return the links whose joints move no inertia, in a mechanism with masses: mostly a tip without mass."""
    return mechanism.memo("report", "undefined", lambda: _without_inertia(mechanism))


def _without_inertia(mechanism: Mechanism) -> set[int]:
    total = total_mass(mechanism)
    if not total or mechanism.loops or not mechanism.nv:
        return set()
    inertias, first = _moved_inertias(mechanism), mechanism.nv - mechanism.n
    speeds = {at.link: [*range(at.v.start, at.v.stop)] for at in mechanism.manifold_joints if at.link >= 0}
    for k, link in enumerate(mechanism.links):
        if link.coordinate_names and link.mimic is None:
            speeds[k] = [first + at for at, _ in enumerate(link.coordinate_names, mechanism.coordinates[k])]
    return {k for k, places in speeds.items() if np.abs(inertias[places]).min() <= ROUNDING * total}


def _moved_inertias(mechanism: Mechanism) -> FloatArray:
    """The inertia (nv,) that each velocity moves, at some configuration: the diagonal of the mass matrix."""
    coupled = coupling(mechanism)
    joints = np.linspace(0.3, 0.9, mechanism.n)
    q = coupled.coordinates(np.append(mechanism.neutral[: mechanism.nq - mechanism.n], joints))
    tree = moving_bodies(coupled.uncoupled)
    diagonal = np.array(reflected_inertias(coupled.uncoupled), dtype=float)
    with np.errstate(all="ignore"):
        q = np.asarray(q, dtype=float)
        inertias = composite_inertias(tree, joint_transforms(tree, q))
        for body, inertia in zip(tree.bodies, inertias, strict=True):
            for freedom in body.freedoms_at(q):
                diagonal[freedom.speed] += float(freedom.screw @ inertia_times(inertia, freedom.screw))
    return np.asarray(np.square(coupled.spread).T @ diagonal)


def _lengths(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Yield links with lengths that look like millimetres, at the line of the first of them."""
    for k, link in enumerate(mechanism.links):
        lengths = {field: float(np.linalg.norm(getattr(link, field)[:3, 3])) for field in ("before", "after")}
        if link.dh_row is not None:
            lengths = {field: getattr(link.dh_row, field) for field in ("a", "b", "d")}
        ranges = zip(link.joint_model.turns_and_slides, link.coordinate_limits, strict=True)
        slid = [abs(end) for part, pair in ranges if part.is_length for end in pair or () if math.isfinite(end)]
        if slid:
            lengths["limits"] = max(slid)
        long = {field: value for field, value in lengths.items() if abs(value) > LONG}
        if long:
            stated = " and ".join(f"{_LENGTHS.get(field, field)} {number(value)} m" for field, value in long.items())
            line = reading.line("link", k, next(iter(long)))
            yield FileProblem(line, f"link {link.name!r}: {stated}; millimetres?")


_LENGTHS = {
    "a": "a is",
    "b": "b is",
    "d": "d is",
    "before": "before shifts by",
    "after": "after shifts by",
    "limits": "its limits reach",
}


def _limits(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Yield limits that permit no motion, or that look like degrees."""
    for k, link in enumerate(mechanism.links):
        parts = zip(link.joint_model.turns_and_slides, link.coordinate_names, link.coordinate_limits, strict=True)
        for part, coordinate, limits in parts:
            if limits is None:
                continue
            low, high = limits
            line, name = reading.line("link", k, "limits"), f"joint {coordinate!r}"
            if low == high:
                yield FileProblem(line, f"{name} cannot move: both its limits are {number(low)}")
            widest = max((abs(limit) for limit in limits if math.isfinite(limit)), default=0.0)
            if part.periodic and widest > MOST_TURN:
                message = f"{name}: its limits are {number(low)} to {number(high)} rad, more than two turns"
                yield FileProblem(line, f"{message}; are they in degrees?")


def _followed(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Yield mimic joints whose limits are reached before those of the joint that they follow."""
    leaders = [link for link in mechanism.links if link.mimic is None for _ in link.coordinate_names]
    for k, (link, follower) in enumerate(zip(mechanism.links, mechanism.followers, strict=True)):
        if link.mimic is None or link.limits is None:
            continue
        leader = leaders[follower.coordinate]
        far = leader.limits or (-math.inf, math.inf)
        reach = [follower.ratio * limit if follower.ratio else 0.0 for limit in far]
        low, high = sorted(distance + follower.shift for distance in reach)
        if low < link.limits[0] - SLACK or high > link.limits[1] + SLACK:
            follows = f"joint {link.coordinate_name!r} follows {leader.coordinate_name!r}"
            message = f"{follows}, which could take it to {number(low)} to {number(high)}"
            hint = f"its own limits are {number(link.limits[0])} to {number(link.limits[1])}, and stop both earlier"
            yield FileProblem(reading.line("link", k, "limits"), f"{message}; {hint}")


def impossible(mechanism: Mechanism) -> list[str]:
    """List the physically impossible inertias, with the violation and the nearest valid value.

    Examples
    --------
    >>> from linkwise import Link
    >>> print(*impossible(Mechanism([Link(name="arm", mass=1.0, inertia=(1, 1, 5), physical=False)])))
    link 'arm': its largest principal moment, 5 kg m2, exceeds the sum of the other two, 2, by 3; a body has at most that sum
    """
    messages = []
    for link in mechanism.links:
        name, body = f"link {link.name!r}", link.body
        least, middle, most = np.linalg.eigvalsh(body.tensor).tolist()
        slack = SLACK * max(abs(least), abs(most), SMALLEST)
        if body.mass < 0:
            messages.append(f"{name}: its mass, {number(body.mass)} kg, is negative")
        if least < -slack:
            negative = f"its least principal moment, {number(least)} kg m2, is negative"
            messages.append(f"{name}: {negative}; a body has none below 0")
        elif most > least + middle + slack:
            by = f"the sum of the other two, {number(least + middle)}, by {number(most - least - middle)}"
            largest = f"its largest principal moment, {number(most)} kg m2"
            messages.append(f"{name}: {largest}, exceeds {by}; a body has at most that sum")
    return messages
