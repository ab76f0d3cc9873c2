"""What is odd but not wrong in a description file."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwise.errors import FileProblem
from linkwise.files.description import Reading
from linkwise.mechanism import Mechanism
from linkwise.model.drive import Drive
from linkwise.model.inertia import SLACK
from linkwise.model.part_tables import total_mass
from linkwise.model.table import number


def remarks_on(mechanism: Mechanism, reading: Reading) -> list[FileProblem]:
    """Everything odd about a mechanism, by the line of the file that it was read from."""
    found = [*reading.remarks, *_bodies(mechanism, reading), *_rotors(mechanism, reading)]
    if not mechanism.gravity.any():
        found.append(FileProblem(reading.line("gravity"), "gravity is zero"))
    if mechanism.floating and not total_mass(mechanism):
        found.append(FileProblem(reading.line("floating"), "the base floats, but nothing has a mass"))
    return sorted(found, key=lambda remark: remark.line)


def _bodies(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links without the inertia that a moving body has."""
    loaded = {drive.carrier for drive in mechanism.drives if not drive.motor.locked.is_zero}
    for k, link in enumerate(mechanism.links):
        name = f"link {link.name!r}"
        if not link.body.physical:
            said = f"{name}: physical = false, its inertia is not checked"
            yield FileProblem(reading.line("link", k, "physical"), said)
        elif link.moves and link.body.is_zero and k not in loaded:
            yield FileProblem(reading.line("link", k, "mass"), f"{name} moves, but has no mass and no inertia")
        elif link.moves and not link.body.mass and not link.body.is_zero:
            yield FileProblem(reading.line("link", k, "mass"), f"{name} has inertia, but no mass")


def _rotors(mechanism: Mechanism, reading: Reading) -> Iterator[FileProblem]:
    """Links that are said to contain locked rotors which their inertia is too small for.

    Whatever turns with a link adds to its inertia, so the tensor less Jm a a' of each rotor (a: its axis) must be positive
    semidefinite; else some motion has negative kinetic energy.
    """
    for k, link in enumerate(mechanism.links):
        held = [drive for drive in mechanism.drives if drive.carrier == k and _is_contained(drive)]
        if not held or not link.body.physical:
            continue
        rest, least = link.body.tensor, -SLACK * np.trace(link.body.tensor)
        for drive in held:
            axis = np.asarray(drive.motor.axis)
            rest = rest - drive.motor.inertia * np.outer(axis, axis)
        if np.linalg.eigvalsh(rest)[0] < least:
            rotors = " and ".join(f"{number(d.motor.inertia)} kg m2 of {d.joint!r}" for d in held)
            said = f"link {link.name!r}: its inertia is too small to contain the rotors that it carries ({rotors})"
            hint = "; give each its mass and rotor_inertia, or the link's inertia with them"
            yield FileProblem(reading.line("link", k, "inertia"), said + hint)


def _is_contained(drive: Drive) -> bool:
    """Whether the rotor's moment is a part of its carrier's own inertia."""
    return drive.motor.inertia > 0 and not drive.motor.rotor_inertia.any()
