"""Three angles for a rotation, in the two conventions that chains are described in, and small turns."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.kinematics.loop_constraints import half_sine
from linkwise.spatial.rotation import rotation_x, rotation_y, rotation_z
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, root, select
from linkwise.spatial.validation import unmasked

AnglesConvention = Literal["xyz", "zyx"]
CONVENTIONS: tuple[str, ...] = ("xyz", "zyx")
"""Extrinsic: about the fixed axes x, y, z in this order, and about z, y, x."""

SMALL = 1e-8
"""Squares of angles below this take the series: its next term is lost in rounding."""


def angles_rotation(angles: npt.ArrayLike, convention: str = "xyz") -> Array:
    """Rotation (3, 3) of the angles ax, ay, az about fixed axes.

    Parameters
    ----------
    angles : (3,) array_like
        About x, y and z, rad, whatever the order in which they are done; scalars of any kind.
    convention : {"xyz", "zyx"}
        ``"xyz"``: about x first, then the fixed y, then the fixed z, ``Rz Ry Rx`` (the same as intrinsic z, y', x'');
        ``"zyx"``: about z first, ``Rx Ry Rz`` (intrinsic x, y', z'').

    Raises
    ------
    ArgumentError
        For another convention.

    Examples
    --------
    >>> angles_rotation([0.0, 0.0, np.pi / 2]).round(9).tolist()[1]
    [1.0, 0.0, 0.0]
    """
    turned = np.asarray(unmasked("angles", angles))
    parts = [turn(angle) for turn, angle in zip((rotation_x, rotation_y, rotation_z), turned, strict=True)]
    return np.asarray(parts[2] @ parts[1] @ parts[0] if known(convention) == "xyz" else parts[0] @ parts[1] @ parts[2])


def rotation_angles(rotation: npt.ArrayLike, convention: str = "xyz") -> FloatArray:
    """The angles (3,), rad, of a rotation (3, 3): `angles_rotation` of them gives it back.

    The middle angle is within a quarter turn. Where it is one the first and the third turn about one axis: then the one that
    is done first is zero.

    Parameters
    ----------
    rotation : (3, 3) array_like
        A rotation matrix.
    convention : {"xyz", "zyx"}
        See `angles_rotation`.

    Examples
    --------
    >>> rotation_angles(angles_rotation([0.1, 0.2, 0.3])).round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    r = np.asarray(unmasked("rotation", rotation), dtype=float)
    if r.shape != (3, 3):
        raise ArgumentError(f"rotation has the shape {r.shape}; expected (3, 3)")
    if known(convention) == "zyx":
        return -rotation_angles(r.T, "xyz")  # (the inverse of Rx Ry Rz is Rz Ry Rx of the negative angles)
    level = float(np.hypot(r[0, 0], r[1, 0]))
    if level > 1e-12:
        return np.array([np.arctan2(r[2, 1], r[2, 2]), np.arctan2(-r[2, 0], level), np.arctan2(r[1, 0], r[0, 0])])
    return np.array([0.0, np.arctan2(-r[2, 0], level), np.arctan2(-r[0, 1], r[1, 1])])


def known(convention: Any) -> str:
    """The convention, if it is one."""
    if convention not in CONVENTIONS:
        raise ArgumentError(f"angles are {shown(convention)}; expected {choices(CONVENTIONS)}")
    return str(convention)


def turned(turn: Array) -> Array:
    """Rotation (3, 3) about a vector (3,) of scalars by its length, rad (O. Rodrigues, 1840)."""
    square = turn @ turn
    cos, sin = cos_sin(0.5 * root(square))
    w = select(square - SMALL, cos, 1.0 - square / 8.0)
    x, y, z = turn * select(square - SMALL, sin / root(select(square - SMALL, square, 1.0)), 0.5 - square / 48.0)
    return np.array(
        [
            [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
            [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
            [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
        ],
    )


def turn_of(rotation: Array) -> Array:
    """The vector (3,) about which, and by whose length, a rotation (3, 3) of scalars turns; up to half a turn."""
    half = half_sine(rotation)
    square = half @ half
    size = root(select(square - SMALL, square, 1.0))
    angle = 2.0 * atan2(0.5 * size, root(select(1.0 - 0.25 * square, 1.0 - 0.25 * square, 0.0)))
    return np.asarray(half * select(square - SMALL, angle / size, 1.0 + square / 24.0))
