"""A mechanism written as Robo's lists, where they can hold it, and the PUMA 560 so.

Link frames do not turn but by joints, and stand so that each joint's axis has a letter: they are chosen for the mechanism.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import linkwise.model.motor
from linkwise import robots
from linkwise.errors import ArgumentError, ModelError, Problem, shown
from linkwise.mechanism import Mechanism
from linkwise.model.symbolic import any_nonzero, has_symbols, same
from linkwise.model.tree import GRAVITY
from linkwise.robo.robot import KINDS, Link, Motor
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray, array
from linkwise.spatial.transform import transform

#: A direction this near to an axis is that axis.
SAME = 1e-9

#: Rounding of a rotation by right angles, apart from 0, 1 and -1.
ROUNDED = 1e-15


@dataclass(frozen=True)
class Place:
    """New frame of a link.

    Attributes
    ----------
    letter : int
        0, 1 or 2: the axis of the joint.
    joint : ndarray (3,)
        The joint in the previous link's new frame, m.
    a : float
        Added to the coordinate, rad or m.
    moved : ndarray (4, 4)
        T_new_old: from the mechanism's own frame of the link to the new one.
    """

    letter: int
    joint: FloatArray
    a: float
    moved: FloatArray


def places(mechanism: Mechanism, problems: list[Problem]) -> dict[int, Place]:
    """New frame of each link, by its index; a problem for each link whose axis cannot have a letter."""
    frames: dict[int, Place] = {}
    moved: dict[int, FloatArray] = {-1: np.eye(4)}
    for first, direction in _outward(mechanism, -1, np.eye(4)):
        if letter_of(direction) < 0:
            problems.append(_axis_problem(mechanism, first))
    for k in mechanism.order if not problems else ():
        link, parent = mechanism.links[k], moved[mechanism.parents[k]]
        start = parent @ link.before
        letter = letter_of(start[:3, :3] @ link.axis)
        here = transform(start[:3, :3], None) @ link.after
        turn = 0.0
        if link.joint == "revolute":
            turn, wrong = _turn(mechanism, k, here, letter)
            problems += [_axis_problem(mechanism, other) for other in wrong]
            if wrong:
                return {}
            here = transform(rotation_about(np.eye(3)[letter], turn), None) @ here
        moved[k] = _rounded(here)
        frames[k] = Place(letter, start[:3, 3], link.offset - turn, moved[k])
    return frames


def letter_of(direction: FloatArray) -> int:
    """0, 1 or 2 where a unit vector is x, y or z, else -1, also where that depends on symbols."""
    if has_symbols(direction):
        return -1
    axes = np.flatnonzero(np.abs(np.eye(3) - direction).max(axis=1) < SAME)
    return int(axes[0]) if axes.size else -1


def _outward(mechanism: Mechanism, k: int, frame: FloatArray) -> Iterator[tuple[int, FloatArray]]:
    """The joints on link k, and beyond slides the joints on those, with their axes in a frame of link k."""
    waiting = [(child, frame) for child in _children(mechanism, k)]
    while waiting:
        child, outer = waiting.pop()
        link = mechanism.links[child]
        start = outer @ link.before
        yield child, np.asarray(start[:3, :3] @ link.axis)
        if link.joint == "prismatic":
            waiting += [(further, start @ link.after) for further in _children(mechanism, child)]


def _children(mechanism: Mechanism, k: int) -> list[int]:
    """The links on link k, the last one first."""
    return [child for child in reversed(range(len(mechanism.links))) if mechanism.parents[child] == k]


def _turn(mechanism: Mechanism, k: int, frame: FloatArray, letter: int) -> tuple[float, list[int]]:
    """Rotation of a revolute link's frame about its own axis that gives letters to all axes beyond it.

    Also the links whose axes have none all the same: then there is no such turn.
    """
    axes = list(_outward(mechanism, k, frame))
    axis = np.eye(3)[letter]
    turns = [0.0]
    for _, direction in axes:
        if not has_symbols(direction) and abs(direction @ axis) < SAME:
            for other in np.delete(np.eye(3), letter, axis=0):
                turns.append(float(np.arctan2(axis @ np.cross(direction, other), direction @ other)))
    candidates = []
    for turn in sorted(turns, key=abs):
        rotation = rotation_about(axis, turn)
        candidates.append((turn, [link for link, direction in axes if letter_of(rotation @ direction) < 0]))
    return min(candidates, key=lambda candidate: len(candidate[1]))


def _axis_problem(mechanism: Mechanism, k: int) -> Problem:
    link = mechanism.links[k]
    before = repr(mechanism.link_names[mechanism.parents[k]]) if mechanism.parents[k] >= 0 else "the base"
    expected = f"an axis along x, y or z of a frame of {before}, turned by joints alone, the same for all axes there"
    return Problem(f"link {link.name!r}", "axis", link.axis.tolist(), expected)


def _rounded(moved: FloatArray) -> FloatArray:
    """T_new_old from the new frame's own axes; exact for rotations by right angles."""
    rotation = array(moved[:3, :3])
    if has_symbols(rotation):
        return moved
    whole = np.round(rotation)
    cleaned = np.where(np.abs(rotation - whole) < ROUNDED, whole + 0.0, rotation)
    return np.asarray(transform(cleaned, moved[:3, 3]))


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
    frames = {} if problems else places(mechanism, problems)
    if problems:
        raise ModelError(problems)
    count = len(mechanism.links)
    numbers = {-1: 0, **{k: count - place for place, k in enumerate(mechanism.order)}}
    motors = list(_motors(mechanism, frames, numbers, problems))
    if problems:
        raise ModelError(problems)
    links = [_link(mechanism, k, frames[k], numbers, motors) for k in reversed(mechanism.order)]
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
    mechanism: Mechanism, frames: dict[int, Place], numbers: dict[int, int], problems: list[Problem]
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
        moved = frames[drive.carrier].moved if drive.carrier >= 0 else np.eye(4)
        turn = moved[:3, :3]
        driven = joints.index(drive.joint)
        letter, spin = frames[driven].letter, turn @ motor.axis
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
    """Yield features that lists cannot represent, apart from axes and motors."""
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
    """Problem of a feature that lists cannot represent."""

    def lost(item: str, field: str, value: object, blank: str) -> Problem:
        return Problem(item, field, value, f"{blank}: lists have no place for it (allow_loss=True leaves it out)")

    item = f"mechanism {mechanism.name!r}"
    for field, value, blank in (("base", mechanism.base, np.eye(4)), ("tool", mechanism.tool, np.eye(4))):
        if not same(value, blank):
            yield lost(item, field, value.tolist(), "the identity")
    if mechanism.springs:
        yield lost(item, "springs", f"{len(mechanism.springs)} of them", "nothing")
    if mechanism.tool_link is not None:
        yield lost(item, "tool_link", mechanism.tool_link, "the last link")
    if not same(mechanism.gravity, GRAVITY):
        yield lost(item, "gravity", mechanism.gravity.tolist(), f"{list(GRAVITY)}")
    if not mechanism.payload.is_zero:
        yield lost(item, "payload", mechanism.payload.mass, "none")
    for link in mechanism.links:
        for field in ("limits", "qd_max", "qdd_max", "tau_max"):
            if getattr(link, field) is not None:
                yield lost(f"link {link.name!r}", field, getattr(link, field), "none")
    for drive in mechanism.drives:
        for field in ("viscous", "coulomb"):
            if any_nonzero(getattr(drive.motor, field)):
                yield lost(f"motor of {drive.joint!r}", field, getattr(drive.motor, field), "none")


def puma560() -> tuple[list[list[Any]], list[list[Any]]]:
    """Return Links and Motors of the PUMA 560, six each.

    The numbers are those of `linkwise.robots.puma560`, from P. I. Corke and B. Armstrong-Helouvry, 1994: the links as
    measured, with their motors in them, Jm and the gear ratios of the motors. Neither masses nor places of the rotors are
    published with them. Each motor therefore has no mass, stands at the joint that it drives, on the link before it (the
    real ones of the wrist sit in the forearm, farther back), and has the tensor of a thin disc whose moment about its axis
    is Jm. Use the lists with ``rotors="contained"``, where only Jm and G of them count beside the link that carries them, or
    with ``rotors="reduced"``; and with ``physical=False``, for links 6 and 4 are sets of numbers that were identified.

    Friction and joint limits, which lists have no place for, are left out. The frames stand at the near ends of the links.

    Examples
    --------
    >>> Links, Motors = puma560()
    >>> [link[1] for link in Links]
    ['Rotationalz', 'Rotationalx', 'Rotationalz', 'Rotationalx', 'Rotationalx', 'Rotationalz']
    >>> [motor[8] for motor in Motors]
    [76.686, 71.923, 76.0364, -53.7063, 107.815, -62.6111]
    """
    arm = robots.puma560()
    before = ("base", *arm.link_names)
    motors = [
        linkwise.model.motor.Motor(motor.inertia, motor.gear_ratio, carrier=carrier, axis=(0, 0, 1), joint=link.name)
        for link, carrier in zip(arm.links, before, strict=False)
        if (motor := link.motor) is not None
    ]
    links = [link.replace(motor=None, limits=None) for link in arm.links]
    return from_mechanism(arm.replace(links=links, motors=reversed(motors)))
