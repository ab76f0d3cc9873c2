"""A mechanism with given base parameters."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.identification.unknowns import Unknowns
from linkwise.mechanism import Mechanism
from linkwise.model.link import Link
from linkwise.model.motor import Motor
from linkwise.model.parameters import LINK, MOTOR, numbers_of
from linkwise.spatial.scalar import FloatArray

NEEDED = 1.0
"""Mass of a link that has a first moment and no mass of its own, kg."""

NOTHING = 1e-9
"""A mass below this is none, kg."""

_SIGNS = {"Jm": 1.0, "B": 1.0, "Tc+": 1.0, "Tc-": -1.0}


def rebuilt(mechanism: Mechanism, wanted: Unknowns, values: FloatArray, deviations: FloatArray) -> Mechanism:
    """Return the mechanism with its base parameters changed to `values` (b,); see `Identification.to_mechanism`."""
    numbers = _distributed(mechanism, wanted, values)
    _check_motors(mechanism, numbers, dict(zip(wanted.base.columns.tolist(), deviations, strict=True)))
    of_links = numbers[: len(LINK) * len(mechanism.links)].reshape(-1, len(LINK)).copy()
    of_links[mechanism.tool_index] -= _of_payload(mechanism)
    of_motors = iter(numbers[len(LINK) * len(mechanism.links) :].reshape(-1, len(MOTOR)))
    links = [_link(link, row) for link, row in zip(mechanism.links, of_links, strict=True)]
    links = [link.replace(motor=_motor(link.motor, next(of_motors))) if link.motor else link for link in links]
    motors = [_motor(motor, next(of_motors)) for motor in mechanism.motors]
    return mechanism.replace(links=links, motors=motors)


def _distributed(mechanism: Mechanism, wanted: Unknowns, values: FloatArray) -> FloatArray:
    """All parameters (P,): the base parameters' own columns take what the others, which stay, do not give."""
    base, free = wanted.base, mechanism.parameters.copy()
    own = np.zeros(len(free), dtype=bool)
    own[base.columns] = True
    for _ in range(len(mechanism.links) + 1):
        free[base.columns] = values - base.matrix[:, ~own] @ free[~own]
        lacking = [k for k in _massless(mechanism, free) if not own[len(LINK) * k]]
        if not lacking:
            break
        free[[len(LINK) * k for k in lacking]] += NEEDED
    return free


def _massless(mechanism: Mechanism, numbers: FloatArray) -> Iterator[int]:
    """The links that have a first moment and no mass."""
    rows = numbers[: len(LINK) * len(mechanism.links)].reshape(-1, len(LINK)).copy()
    rows[-1] -= _of_payload(mechanism)
    for k, row in enumerate(rows):
        if abs(row[0]) < NOTHING and row[1:4].any():
            yield k


def _of_payload(mechanism: Mechanism) -> FloatArray:
    """The parameters (10,) that the payload adds to the link of the tool."""
    load = mechanism.payload
    pseudo = np.asarray(load.pseudo)
    return numbers_of(mechanism.tool @ pseudo @ mechanism.tool.T)


def _link(link: Link, numbers: FloatArray) -> Link:
    """The link with mass, centre of mass and tensor from its ten parameters (Steiner)."""
    mass, moment = float(numbers[0]), numbers[1:4]
    com = moment / mass if mass else np.zeros(3)
    shift = mass * (com @ com * np.eye(3) - np.outer(com, com))
    tensor = numbers[4:] - shift[[0, 1, 2, 0, 1, 0], [0, 1, 2, 1, 2, 2]]
    return link.replace(mass=mass, com=com, inertia=tensor, physical=False)


def _motor(motor: Motor, numbers: FloatArray) -> Motor:
    """The motor with other inertia and friction; its body, if it had one, is counted to the link."""
    inertia, viscous, forth, back = map(float, numbers)
    bare = motor.replace(mass=0.0, com=(0.0, 0.0, 0.0), rotor_inertia=0.0, inertia=0.0)
    return bare.replace(inertia=inertia, viscous=viscous, coulomb=(forth, back))


def _check_motors(mechanism: Mechanism, numbers: FloatArray, deviations: dict[int, float]) -> None:
    names, wrong = mechanism.parameter_names, []
    for c in range(len(LINK) * len(mechanism.links), len(names)):
        sign = _SIGNS[MOTOR[(c - len(LINK) * len(mechanism.links)) % len(MOTOR)]]
        if sign * numbers[c] < 0:
            deviation = f" (deviation {deviations[c]:.2g})" if c in deviations else ""
            wrong.append(f"{names[c]} is {numbers[c]:.3g}{deviation}; expected {'>=' if sign > 0 else '<='} 0")
    if wrong:
        said = "no motor has what was identified; leave it out (essential=) or make it known (known=)"
        raise ArgumentError("\n".join([said, *wrong]))
