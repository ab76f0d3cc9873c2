"""A mechanism written as Robo's lists, where they can hold it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, ModelError, Problem, shown
from linkwise.mechanism import Mechanism
from linkwise.model.symbolic import any_nonzero, same
from linkwise.model.tree import GRAVITY
from linkwise.robo.frames import Place, letter_of, places
from linkwise.robo.lists import KINDS, Link, Motor

WORDS = {"revolute": "Rotational", "prismatic": "Translational"}


def from_mechanism(mechanism: Mechanism, *, allow_loss: bool = False) -> tuple[list[list[Any]], list[list[Any]]]:
    """Return the lists Links and Motors of a mechanism.

    Link numbers run from the tips to the base: the first link of the mechanism has the greatest. Frames are put at the near
    ends of the links and turned about the joints' axes until every axis has a letter; `a` takes up the turn, so that
    coordinates keep their meaning. Where a link's frame serves as it is, it stays. A mechanism that names a link before the
    one that carries it gets its links, and with them its coordinates, put in order.

    Parameters
    ----------
    mechanism : Mechanism
        Of revolute and prismatic joints. A motor is carried by a link; see the notes.
    allow_loss : bool
        Leave out what lists have no place for: base, tool, payload, gravity, limits, friction.

    Raises
    ------
    ModelError
        Naming everything that lists cannot hold, or that would be lost.

    Notes
    -----
    Motors without a body (Jm and an axis only) are written without mass, with the tensor of a thin disc whose moment about
    its axis is Jm; read such lists with ``rotors="contained"``. Bodies and motors without one cannot stand in one list.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise import robo
    >>> Links, Motors = robo.from_mechanism(lw.robots.planar_2r(), allow_loss=True)
    >>> [(link[0], link[1], link[2], link[3], link[6]) for link in Links]
    [(1, 'Rotationalz', [0], 2, [1.0, 0.0, 0.0]), (2, 'Rotationalz', [1], 0, [0.0, 0.0, 0.0])]
    """
    if not isinstance(mechanism, Mechanism):
        raise ArgumentError(f"from_mechanism: mechanism is {shown(mechanism)}; expected a Mechanism")
    problems = [*_unsayable(mechanism), *([] if allow_loss else _lost(mechanism))]
    found = {} if problems else places(mechanism, problems)
    if problems:
        raise ModelError(problems)
    count = len(mechanism.links)
    numbers = {-1: 0, **{k: count - place for place, k in enumerate(mechanism.order)}}
    motors = list(_motors(mechanism, found, numbers, problems))
    if problems:
        raise ModelError(problems)
    links = [_link(mechanism, k, found[k], numbers, motors) for k in reversed(mechanism.order)]
    return [link.to_list() for link in links], [motor.to_list() for motor in motors]


def _link(mechanism: Mechanism, k: int, place: Place, numbers: dict[int, int], motors: list[Motor]) -> Link:
    link, turn = mechanism.links[k], place.moved[:3, :3]
    hanging = sorted(numbers[child] for child, parent in enumerate(mechanism.parents) if parent == k)
    return Link(
        numbers[k],
        WORDS[link.joint] + "xyz"[place.letter],
        hanging or [0],
        numbers[mechanism.parents[k]],
        link.body.mass,
        turn @ link.body.tensor @ turn.T,
        place.joint,
        turn @ link.body.com + place.moved[:3, 3],
        place.a,
        [motor.number for motor in motors if motor.link == numbers[k]],
    )


def _motors(
    mechanism: Mechanism, found: dict[int, Place], numbers: dict[int, int], problems: list[Problem]
) -> Iterator[Motor]:
    drives = [drive for drive in mechanism.drives if any_nonzero(drive.motor.inertia) or not drive.motor.locked.is_zero]
    joints = [link.coordinate_name for link in mechanism.links]
    bodies = {not drive.motor.locked.is_zero for drive in drives}
    for number, drive in enumerate(drives, start=1):
        motor, item = drive.motor, f"motor of {drive.joint!r}"
        if motor.axis is None or drive.carrier is None:
            problems.append(Problem(item, "carrier", None, "the link that carries it, for Robo's motors ride on links"))
            continue
        if len(bodies) > 1 and motor.locked.is_zero:
            problems.append(Problem(item, "rotor_inertia", 0.0, "a body, for other motors have one"))
        moved = found[drive.carrier].moved if drive.carrier >= 0 else np.eye(4)
        turn = moved[:3, :3]
        driven = joints.index(drive.joint)
        letter, spin = found[driven].letter, turn @ motor.axis
        if letter not in {letter_of(spin), letter_of(-spin)}:
            expected = f"a spin along {'xyz'[letter]} of the carrier's frame, the letter of the joint that it drives"
            problems.append(Problem(item, "axis", motor.axis.tolist(), expected))
            continue
        ratio = motor.gear_ratio if letter_of(spin) >= 0 else -motor.gear_ratio
        tensor = turn @ motor.rotor_inertia @ turn.T
        if motor.locked.is_zero:
            tensor = np.diag(0.5 * motor.inertia * (1.0 + np.eye(3)[letter]))
        place = turn @ motor.com + moved[:3, 3]
        yield Motor(number, numbers[drive.carrier], numbers[driven], motor.mass, tensor, place, (0, 0, 0), 0, ratio)


def _unsayable(mechanism: Mechanism) -> Iterator[Problem]:
    """What no list can hold, apart from axes and motors."""
    item = f"mechanism {mechanism.name!r}"
    if mechanism.floating:
        yield Problem(item, "floating", True, "a base that stands still")
    if mechanism.loops:
        yield Problem(item, "loops", [loop.name for loop in mechanism.loops], "a tree without loops")
    for link in mechanism.links:
        if link.joint not in WORDS:
            yield Problem(f"link {link.name!r}", "joint", link.joint, f"one that Robo has: {', '.join(KINDS)}")
        if link.mimic is not None:
            yield Problem(f"link {link.name!r}", "mimic", link.mimic, "a joint with a coordinate of its own")


def _lost(mechanism: Mechanism) -> Iterator[Problem]:
    """What lists have no place for."""

    def lost(item: str, field: str, value: object, blank: str) -> Problem:
        return Problem(item, field, value, f"{blank}: lists have no place for it (allow_loss=True leaves it out)")

    item = f"mechanism {mechanism.name!r}"
    for field, value, blank in (("base", mechanism.base, np.eye(4)), ("tool", mechanism.tool, np.eye(4))):
        if not same(value, blank):
            yield lost(item, field, value.tolist(), "the identity")
    if mechanism.tool_link is not None:
        yield lost(item, "tool_link", mechanism.tool_link, "the last link")
    if not same(mechanism.gravity, GRAVITY):
        yield lost(item, "gravity", mechanism.gravity.tolist(), f"{list(GRAVITY)}")
    if not mechanism.payload.is_zero:
        yield lost(item, "payload", mechanism.payload.mass, "none")
    for link in mechanism.links:
        for field in ("limits", "speed_limit", "effort_limit"):
            if getattr(link, field) is not None:
                yield lost(f"link {link.name!r}", field, getattr(link, field), "none")
    for drive in mechanism.drives:
        for field in ("viscous", "coulomb"):
            if any_nonzero(getattr(drive.motor, field)):
                yield lost(f"motor of {drive.joint!r}", field, getattr(drive.motor, field), "none")
