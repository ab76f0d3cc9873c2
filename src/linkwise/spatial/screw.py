"""Screws over scalars: axis and angle of a rotation, the screw of a rigid displacement, and that of a velocity matrix.

Every rigid displacement turns about a line and moves along it (M. Chasles, 1830), and so does every velocity (the
instantaneous screw axis). The matrices are those of G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, sections 3.1
and 3.2. Of each choice between cases the first is the general one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.matrix_method import velocity_matrix
from linkwise.spatial.rotation import axial, cross, rotation_about
from linkwise.spatial.scalar import Array, array, atan2, cos_sin, greatest, least, select
from linkwise.spatial.transform import transform
from linkwise.spatial.vector import chosen, inner, length, unit

#: Rounding error of the elements of a product of a few rotations: four units in the last place of 1.
ROUNDING = 2.0**-50

#: A rotation (rad) up to which a product of rotation matrices may owe it to rounding.
WOBBLE = 64 * sys.float_info.epsilon

#: Angular velocity (rad/s) up to which the angular part of a velocity matrix may be rounding, of rates of up to 1e6.
SLOWEST = 1e-9

#: Required ratio of either part to the error of the symmetric part, which is rounding.
DIGITS = 1e3

#: Ratio of angular to linear velocity (1/m) up to which a motion is a translation: the axis would be farther off than 7e13
#: m.
FARTHEST = 64 * sys.float_info.epsilon


def screw_rotation(u: npt.ArrayLike, phi: Any) -> Array:
    """Rotation (3, 3) about an axis of any length, rad; the identity for the zero vector.

    Examples
    --------
    >>> screw_rotation([0.0, 0.0, 0.0], 1.0).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    axis, size = unit(np.asarray(u))
    return rotation_about(axis, select(size, phi, 0.0))


def screw_transform(u: npt.ArrayLike, phi: Any, point: npt.ArrayLike, h: Any) -> Array:
    """The transform (4, 4) that turns by phi (rad) about the line through a point (3,) along u, and moves by h along it.

    The origin moves by (1 - R) P + h u. With Rodrigues' formula this is (1 - cos phi) P' - sin phi u x P + h u, P' the part
    of P across u, where nothing cancels at small angles. For u = 0 it is the identity.

    Examples
    --------
    >>> screw_transform([0.0, 0.0, 2.0], 0.0, [1.0, 0.0, 0.0], 3.0)[:3, 3].tolist()
    [0.0, 0.0, 3.0]
    """
    axis, size = unit(np.asarray(u))
    turn, p = select(size, phi, 0.0), np.asarray(point)
    c, s = cos_sin(turn)
    versine = select(0.5 - c, 1.0 - c, s * s / (1.0 + abs(c)))
    moved = versine * (p - axis * inner(axis, p)) - s * cross(axis, p) + h * axis
    return transform(rotation_about(axis, turn), moved)


def rotation_screw(rotation: npt.ArrayLike) -> tuple[Array, Any]:
    """The unit axis (3,) and the angle (rad, 0 to pi) of a rotation (3, 3); the axis is 0 where nothing turns.

    sin phi u is the vector of the skew part, and 2 cos phi + 1 the trace. Towards a half turn the skew part vanishes: there
    the axis comes from the symmetric part, (1 - cos phi) u u' + cos phi, and only its sense from the skew part. At a half
    turn, to rounding, the first component of the axis that is not 0, to rounding, is positive.

    Examples
    --------
    >>> axis, angle = rotation_screw([[-1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, -1.0]])
    >>> axis.tolist(), round(angle, 9)
    ([0.0, 1.0, 0.0], 3.141592654)
    """
    r = np.asarray(rotation)
    w = axial(r)
    axis, s = unit(w)
    c = _cosine(r)
    return chosen(c + 0.5, axis, _axis_near_half_turn(r, w, c)), atan2(s, c)


def transform_screw(t: npt.ArrayLike) -> tuple[Array, Any, Array, Any]:
    """The screw of a rigid displacement (4, 4): unit axis u (3,), angle phi (rad, 0 to pi), point P (3,), distance h.

    P = (T' + cot(phi/2) u x T) / 2 with T' the part of the displacement T across u is the point of the axis nearest to the
    origin (O. Bottema, B. Roth, *Theoretical Kinematics*, 1979, chapter 3). A pure translation has u along T, phi = 0, P at
    the origin and h >= 0; the identity has u = 0 and h = 0. A rotation of up to `WOBBLE` rad counts if it is more than
    `DIGITS` times the error of the symmetric part, which is rounding.

    Examples
    --------
    >>> u, phi, p, h = transform_screw([[1, 0, 0, 0], [0, 1, 0, 3.0], [0, 0, 1, 4.0], [0, 0, 0, 1]])
    >>> u.tolist(), phi, p.tolist(), float(h)
    ([0.0, 0.6, 0.8], 0.0, [0.0, 0.0, 0.0], 5.0)
    """
    m = np.asarray(t)
    r, move = m[:3, :3], m[:3, 3]
    axis, phi = rotation_screw(r)
    s, c = length(axial(r)), _cosine(r)
    turns = select(-c, 1.0, s - least(DIGITS * _symmetric_error(r), WOBBLE))
    along, distance = unit(move)
    h = inner(axis, move)
    cot_half = select(c + 0.5, (1.0 + c) / select(s, s, 1.0), s / (1.0 + abs(c)))
    point = (move - h * axis + cot_half * cross(axis, move)) * 0.5
    nothing = np.zeros(3)
    return (
        chosen(turns, axis, along),
        select(turns, phi, 0.0),
        chosen(turns, point, nothing),
        select(turns, h, distance),
    )


def screw_velocity(u: npt.ArrayLike, point: npt.ArrayLike, pitch: Any) -> Array:
    """The matrix L (4, 4) of a turn of 1 rad/s about the line through a point (3,) along u, with a pitch in m/rad.

    The body point at the origin has the velocity P x u + pitch u. For u = 0 it is null.

    Examples
    --------
    >>> screw_velocity([0.0, 0.0, 1.0], [1.0, 0.0, 0.0], 0.5)[:3, 3].tolist()
    [0.0, -1.0, 0.5]
    """
    axis, _ = unit(np.asarray(u))
    return velocity_matrix(axis, cross(np.asarray(point), axis) + pitch * axis)


def velocity_screw(w: npt.ArrayLike) -> tuple[Array, Any, Any, Array]:
    """The screw of a velocity matrix (4, 4): unit axis u (3,), rate omega >= 0 (rad/s), speed along u (m/s), point P (3,).

    P = u x v / omega is the point of the axis nearest to the origin. A pure translation has u along v, omega = 0, P at the
    origin and a speed >= 0; no motion has u = 0. Where the angular part is nothing but rounding (`turning_measure`) the
    motion is a translation.

    Examples
    --------
    >>> u, omega, speed, p = velocity_screw([[0, -2.0, 0, 0], [2.0, 0, 0, 2.0], [0, 0, 0, 3.0], [0, 0, 0, 0]])
    >>> u.tolist(), float(omega), float(speed), p.tolist()
    ([0.0, 0.0, 1.0], 2.0, 3.0, [-1.0, 0.0, 0.0])
    """
    m = np.asarray(w)
    turns, v = turning_measure(m), m[:3, 3]
    axis, omega = unit(axial(m[:3, :3]))
    along, speed = unit(v)
    point = cross(axis, v) / select(omega, omega, 1.0)
    return (
        chosen(turns, axis, along),
        select(turns, omega, 0.0),
        select(turns, inner(axis, v), speed),
        chosen(turns, point, np.zeros(3)),
    )


def angular_size(w: npt.ArrayLike) -> tuple[Any, Any]:
    """The sizes (rad/s) of the skew-symmetric and of the symmetric part of a velocity matrix's block: sums of amounts.

    Examples
    --------
    >>> tuple(map(float, angular_size([[0.5, -2.0, 0, 0], [2.0, 0, 0, 2.0], [0, 0, 0, 3.0], [0, 0, 0, 0]])))
    (4.0, 0.5)
    """
    m = np.asarray(w)
    pairs = [(m[i, k] * 0.5, m[k, i] * 0.5) for i, k in ((0, 1), (0, 2), (1, 2))]
    odd = sum((abs(a + b) for a, b in pairs), 0.0) * 2.0 + sum((abs(m[k, k]) for k in range(1, 3)), abs(m[0, 0]))
    return sum((abs(a - b) for a, b in pairs[1:]), abs(pairs[0][0] - pairs[0][1])) * 2.0, odd


def turning_measure(w: npt.ArrayLike) -> Any:
    """Above 0 where a velocity matrix (4, 4) turns, 0 or less for a translation.

    Where rates of parallel joints cancel, their sum leaves a block that is rounding: its symmetric part, which should be
    null, tells how much. An angular part up to `SLOWEST` counts if it is more than `DIGITS` times that. In no case does it
    count where the axis would be farther off than 1 / `FARTHEST` m, for then it changes no digit of the velocity of any
    point that is within a metre or so.

    Examples
    --------
    >>> bool(turning_measure([[0, -1e-16, 0, 1.0], [1.1e-16, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]) > 0)
    False
    """
    m = np.asarray(w)
    skew, odd = angular_size(m)
    linear = sum((abs(m[k, 3]) for k in (1, 2)), abs(m[0, 3]))
    return select(skew, skew - greatest(least(DIGITS * odd, SLOWEST), FARTHEST * linear), 0.0)


def _cosine(r: Array) -> Any:
    return (r[0, 0] + r[1, 1] + r[2, 2] - 1.0) * 0.5


def _axis_near_half_turn(r: Array, w: Array, c: Any) -> Array:
    """The axis from the longest column of (R + R')/2 - c = (1 - c) u u', with the sense of the skew part."""
    square = (r + r.T) * 0.5
    columns = [array([square[i, k] - (c if i == k else 0.0) for i in range(3)]) for k in range(3)]
    longest, size = columns[0], columns[0][0]
    for k in (1, 2):
        longer = columns[k][k] - size
        longest, size = chosen(longer, columns[k], longest), select(longer, columns[k][k], size)
    axis, _ = unit(longest)
    sense = inner(w, axis)
    first = select(abs(axis[0]) - ROUNDING, axis[0], select(abs(axis[1]) - ROUNDING, axis[1], axis[2]))
    return chosen(select(abs(sense) - ROUNDING, sense, first), axis, -axis)


def _symmetric_error(r: Array) -> Any:
    """Above 0 where the symmetric part of a rotation is not exactly the identity."""
    parts: Sequence[Any] = [r[k, k] - 1.0 for k in range(3)] + [r[j, k] + r[k, j] for j, k in ((0, 1), (0, 2), (1, 2))]
    return sum((abs(part) for part in parts[1:]), abs(parts[0]))
