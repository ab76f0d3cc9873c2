"""Link frames that do not turn but by joints, and stand so that each joint's axis has a letter: found for a mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linkwise.errors import Problem
from linkwise.mechanism import Mechanism
from linkwise.model.symbolic import has_symbols
from linkwise.spatial.rotation import rotation_about
from linkwise.spatial.scalar import FloatArray, array
from linkwise.spatial.transform import transform

SAME = 1e-9
"""A direction this near to an axis is that axis."""

ROUNDED = 1e-15
"""What a rotation by right angles may have beside 0, 1 and -1 by rounding."""


@dataclass(frozen=True)
class Place:
    """Where the frame of a link is put.

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
    """The new frame of each link, by its index; a problem for each link whose axis can have no letter."""
    made: dict[int, Place] = {}
    moved: dict[int, FloatArray] = {-1: np.eye(4)}
    for first, direction in _outward(mechanism, -1, np.eye(4)):
        if letter_of(direction) < 0:
            problems.append(_unsayable(mechanism, first))
    for k in mechanism.order if not problems else ():
        link, parent = mechanism.links[k], moved[mechanism.parents[k]]
        start = parent @ link.before
        letter = letter_of(start[:3, :3] @ link.axis)
        here = transform(start[:3, :3], None) @ link.after
        turn = 0.0
        if link.joint == "revolute":
            turn, wrong = _turn(mechanism, k, here, letter)
            problems += [_unsayable(mechanism, other) for other in wrong]
            if wrong:
                return {}
            here = transform(rotation_about(np.eye(3)[letter], turn), None) @ here
        moved[k] = _rounded(here)
        made[k] = Place(letter, start[:3, 3], link.offset - turn, moved[k])
    return made


def letter_of(direction: FloatArray) -> int:
    """0, 1 or 2 where a unit vector is x, y or z, else -1, also where that depends on symbols."""
    if has_symbols(direction):
        return -1
    found = np.flatnonzero(np.abs(np.eye(3) - direction).max(axis=1) < SAME)
    return int(found[0]) if found.size else -1


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
    """By how much to turn the frame of a revolute link about its own axis, so that all axes beyond it have letters.

    Also the links whose axes have none all the same: then there is no such turn.
    """
    axes = list(_outward(mechanism, k, frame))
    axis = np.eye(3)[letter]
    turns = [0.0]
    for _, direction in axes:
        if not has_symbols(direction) and abs(direction @ axis) < SAME:
            for other in np.delete(np.eye(3), letter, axis=0):
                turns.append(float(np.arctan2(axis @ np.cross(direction, other), direction @ other)))
    best: tuple[float, list[int]] | None = None
    for turn in sorted(turns, key=abs):
        rotation = rotation_about(axis, turn)
        wrong = [link for link, direction in axes if letter_of(rotation @ direction) < 0]
        if best is None or len(wrong) < len(best[1]):
            best = turn, wrong
    assert best is not None
    return best


def _unsayable(mechanism: Mechanism, k: int) -> Problem:
    link = mechanism.links[k]
    before = mechanism.link_names[mechanism.parents[k]] if mechanism.parents[k] >= 0 else "the base"
    expected = (
        f"an axis along x, y or z (not against it) of a frame of {before!r} that turns by joints alone, one frame for all "
        "that hangs there"
    )
    return Problem(f"link {link.name!r}", "axis", link.axis.tolist(), expected.replace("'the base'", "the base"))


def _rounded(moved: FloatArray) -> FloatArray:
    """T_new_old from the new frame's own axes: where it turns by right angles, without what rounding left."""
    rotation = array(moved[:3, :3])
    if has_symbols(rotation):
        return moved
    whole = np.round(rotation)
    cleaned = np.where(np.abs(rotation - whole) < ROUNDED, whole + 0.0, rotation)
    return np.asarray(transform(cleaned, moved[:3, 3]))
