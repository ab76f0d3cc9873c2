"""Frames of MJCF: a position, and an orientation in one of five ways."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from linkwise.errors import members
from linkwise.files.formats.mjcf.attributes import Attributes, degrees
from linkwise.files.formats.mjcf.schema import ORIENTATIONS
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_about, rotation_between, rotation_x, rotation_y, rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import transform

LEAST = 1e-14
"""A direction shorter than this is none (MuJoCo's bound)."""

_TURNS = {"x": rotation_x, "y": rotation_y, "z": rotation_z}
_NO_TURN = np.eye(3)


def pose(attributes: Attributes, degree: bool, sequence: str) -> FloatArray:
    """T_parent_frame (4, 4) of an element.

    Parameters
    ----------
    attributes : Attributes
        The element's.
    degree : bool
        Whether angles are in degrees.
    sequence : str
        The axes of Euler angles, a small letter for each that turns with the frame.
    """
    position = attributes.row("pos", 3, (0.0, 0.0, 0.0))
    return float_transform(orientation(attributes, degree, sequence), position)


def float_transform(rotation: Array | None, position: npt.ArrayLike) -> FloatArray:
    """The transform (4, 4) of floats with a rotation (3, 3) and a position (3,)."""
    return np.asarray(transform(rotation, position), dtype=float)


def orientation(attributes: Attributes, degree: bool, sequence: str) -> FloatArray:
    """R_parent_frame (3, 3) of an element, its own way of saying it before that of its default class.

    Beside an own quaternion MuJoCo before version 4 takes what the default class says otherwise (euler, zaxis, ...); this
    is noted as `Attributes.contested`, for where it matters.
    """
    own = [key for key in ORIENTATIONS if key in attributes.own]
    given = own or [key for key in ORIENTATIONS if key in attributes]
    if len(given) > 1:
        attributes.report(f"its orientation is given by {members(given)}; expected one of them", given[0])
        return _NO_TURN
    if own == ["quat"]:
        attributes.contested = next((key for key in ORIENTATIONS if key in attributes and key != "quat"), None)
    if not given:
        return _NO_TURN
    values = attributes.numbers(given[0], ORIENTATIONS[given[0]], ORIENTATIONS[given[0]])
    made = None if values is None else _turned(given[0], values, degree, sequence)
    if values is not None and made is None:
        attributes.report(f"{given[0]} is {values!r}, which says no direction", given[0])
    return _NO_TURN if made is None else np.asarray(made, dtype=float)


def _turned(way: str, values: list[float], degree: bool, sequence: str) -> Array | None:
    if way == "quat":
        size = math.hypot(*values)
        return quaternion_rotation([value / size for value in values]) if LEAST < size < math.inf else None
    if way == "euler":
        return _euler([degrees(value) for value in values] if degree else values, sequence)
    first = _unit(values[:3])
    if first is None:
        return None
    if way == "axisangle":
        return rotation_about(first, degrees(values[3]) if degree else values[3])
    if way == "zaxis":
        return _z_to(first)
    second = np.array(values[3:])
    across = _unit((second - first * (first @ second)).tolist())
    return None if across is None else np.column_stack([first, across, np.cross(first, across)])


def _unit(values: list[float]) -> FloatArray | None:
    size = math.hypot(*values)
    return np.array(values) / size if LEAST < size < math.inf else None


def _euler(angles: list[float], sequence: str) -> Array:
    """Turns one after the other: about axes that turn with the frame (small letters) or that stay."""
    made: Array = np.eye(3)
    for axis, angle in zip(sequence, angles, strict=True):
        turn = _TURNS[axis.lower()](angle)
        made = made @ turn if axis.islower() else turn @ made
    return made


def _z_to(direction: FloatArray) -> FloatArray:
    """The least rotation that takes z to a direction; the half turn to -z is about x, as MuJoCo has it."""
    if math.hypot(direction[0], direction[1]) < 1e-10 and direction[2] < 0:
        return np.asarray(rotation_x(math.pi), dtype=float)
    return rotation_between([0.0, 0.0, 1.0], direction)


def between(ends: list[float]) -> tuple[FloatArray, float] | None:
    """The frame (4, 4) in the middle between two points, its z from the first to the second, and half their distance (m).

    None where the points are too close. (The direction is that of MuJoCo's code, from the second to the first; for shapes
    that look the same both ways it makes no difference.)
    """
    start, end = np.array(ends[:3]), np.array(ends[3:])
    direction = _unit((start - end).tolist())
    if direction is None:
        return None
    return float_transform(_z_to(direction), (start + end) / 2), math.hypot(*(start - end)) / 2
