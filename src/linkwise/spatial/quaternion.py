"""Unit quaternions, scalar first: (w, x, y, z).

The first functions are written over scalars and take the components along the first axis; those for whole batches of
floats take them along the last.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, root, select

#: Added to the square of an angle, so that sin(x)/x is 1 at zero; without effect on any angle above 1e-7 rad.
LEAST = 1e-30

#: Squares of the sine of half an angle up to this take the limit of the angle over it.
STILL = 1e-60

_DIAGONAL = np.array([[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]])


def quaternion_rotation(quaternion: npt.ArrayLike) -> Array:
    """R (3, 3) of a quaternion (w, x, y, z) of any nonzero length, which is normalized.

    Hamilton's product q v q* / |q|^2 written out (J. B. Kuipers, *Quaternions and Rotation Sequences*, 1999, chapter 7).

    Examples
    --------
    >>> quaternion_rotation([0.0, 0.0, 0.0, 2.0]).tolist()
    [[-1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    w, x, y, z = np.asarray(quaternion)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    wx, wy, wz = s * w * x, s * w * y, s * w * z
    xx, yy, zz, xy, yz, xz = s * x * x, s * y * y, s * z * z, s * x * y, s * y * z, s * x * z
    return np.array(
        [
            [1.0 - (yy + zz), xy - wz, xz + wy],
            [xy + wz, 1.0 - (xx + zz), yz - wx],
            [xz - wy, yz + wx, 1.0 - (xx + yy)],
        ]
    )


def quaternion_product(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """Return the product a b (4,): the rotation b, then a, both in the outer axes.

    Examples
    --------
    >>> quaternion_product([0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    w, x, y, z = np.asarray(a)
    p, i, j, k = np.asarray(b)
    return np.array(
        [
            w * p - x * i - y * j - z * k,
            w * i + x * p + y * k - z * j,
            w * j - x * k + y * p + z * i,
            w * k + x * j - y * i + z * p,
        ]
    )


def unit_quaternion(quaternion: npt.ArrayLike) -> Array:
    """Return the quaternion (4,), or many (4, ...), normalized.

    Examples
    --------
    >>> unit_quaternion([0.0, 0.0, 0.0, 2.0]).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    w, x, y, z = q = np.asarray(quaternion)
    return np.asarray(q * (1.0 / np.sqrt(w * w + x * x + y * y + z * z)))


def half_turn(vector: Array) -> tuple[Any, Any, Any]:
    """Values cos(x/2), sin(x/2)/x and x^2 of a rotation vector (3,), rad, of length x."""
    square = vector @ vector + LEAST
    angle = root(square)
    c, s = cos_sin(0.5 * angle)
    return c, s / angle, square


def quaternion_exponential(vector: Array) -> Array:
    """Return the unit quaternion (4,) of a rotation vector (3,), rad.

    Examples
    --------
    >>> quaternion_exponential(np.array([0.0, 0.0, np.pi])).round(9).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    c, half, _ = half_turn(np.asarray(vector))
    return np.array([c, *(half * np.asarray(vector))])


def quaternion_difference(q0: Array, q1: Array) -> tuple[Array, Any, Any]:
    """Rotation vector (3,) from q0 to q1 (4,), rad, by the shorter direction; cosine and sine of half its length.

    It is in the axes of q0, and NaN where one of them has the length 0. The vector part of q0* q1 is that of q0* (q1 - q0),
    in which nothing cancels: it is zero where they are equal.

    Examples
    --------
    >>> quaternion_difference(np.array([1.0, 0.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.0, 1.0]))[0].round(9).tolist()
    [0.0, 0.0, 3.141592654]
    """
    c, (w, x, y, z) = q0 @ q1, q0
    sign = select(-c, -1.0, 1.0)
    c = sign * c
    turn = quaternion_product([w, -x, -y, -z], sign * q1 - q0)[1:]
    square = turn @ turn
    turned = square - STILL
    s = root(select(turned, square, STILL))
    return np.asarray(turn * (2.0 * select(turned, atan2(s, c), 1.0) / select(turned, s, c))), c, s


def random_quaternions(rng: np.random.Generator, count: int) -> FloatArray:
    """Return unit quaternions (count, 4) of rotations spread evenly (K. Shoemake, *Graphics Gems III*, 1992, section III.6).

    Examples
    --------
    >>> np.linalg.norm(random_quaternions(np.random.default_rng(0), 2), axis=-1).round(9).tolist()
    [1.0, 1.0]
    """
    quaternion = rng.normal(size=(count, 4))
    return np.asarray(quaternion / np.linalg.norm(quaternion, axis=-1, keepdims=True))


def conjugated(quaternions: FloatArray) -> FloatArray:
    """Return the conjugates (..., 4): of unit quaternions, the rotations back.

    Examples
    --------
    >>> conjugated(np.array([1.0, 2.0, 3.0, 4.0])).tolist()
    [1.0, -2.0, -3.0, -4.0]
    """
    return np.asarray(quaternions * np.array([1.0, -1.0, -1.0, -1.0]))


def multiplied(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return `quaternion_product` of quaternions (..., 4), broadcast.

    Examples
    --------
    >>> multiplied(np.eye(4), np.array([0.0, 1.0, 0.0, 0.0])).tolist()[:2]
    [[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0]]
    """
    a, b = np.broadcast_arrays(a, b)
    return np.moveaxis(quaternion_product(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)), 0, -1)


def rotated(quaternions: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return vectors (..., 3) turned by quaternions (..., 4) of any length but zero.

    It is written out, so that a batch has the bits of a loop.

    Examples
    --------
    >>> rotated(np.array([0.0, 0.0, 0.0, 2.0]), np.array([1.0, 2.0, 3.0])).tolist()
    [-1.0, -2.0, 3.0]
    """
    r = quaternion_rotation(np.moveaxis(quaternions, -1, 0))
    x, y, z = (vectors[..., k] for k in range(3))
    return np.stack([r[i, 0] * x + r[i, 1] * y + r[i, 2] * z for i in range(3)], axis=-1)


def rotation_quaternion(rotation: FloatArray) -> FloatArray:
    """The unit quaternion (w, x, y, z) with w >= 0 of rotations (..., 3, 3); result (..., 4).

    The row with the greatest diagonal of the matrix 4 q q' (S. W. Shepperd, "Quaternion from rotation matrix", J. Guidance
    and Control 1(3), 1978), so that nothing is lost near a half turn.

    Examples
    --------
    >>> rotation_quaternion(np.diag([-1.0, -1.0, 1.0])).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    r = rotation
    square = np.empty((*r.shape[:-2], 4, 4))
    places = np.arange(4)
    square[..., places, places] = 1.0 + np.einsum("kj,...jj->...k", _DIAGONAL, r)
    for i, j, value in (
        (0, 1, r[..., 2, 1] - r[..., 1, 2]),
        (0, 2, r[..., 0, 2] - r[..., 2, 0]),
        (0, 3, r[..., 1, 0] - r[..., 0, 1]),
        (1, 2, r[..., 0, 1] + r[..., 1, 0]),
        (1, 3, r[..., 0, 2] + r[..., 2, 0]),
        (2, 3, r[..., 1, 2] + r[..., 2, 1]),
    ):
        square[..., i, j] = square[..., j, i] = value
    best = np.argmax(square[..., places, places], axis=-1)
    row = np.take_along_axis(square, best[..., None, None], axis=-2)[..., 0, :]
    row = row * np.where(row[..., :1] < 0.0, -1.0, 1.0)
    return np.asarray(row / np.linalg.norm(row, axis=-1, keepdims=True))


def axis_and_angle(rotation: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The unit axis (..., 3) and the angle (...), 0 to pi, of rotations (..., 3, 3); the axis is z where nothing turns.

    Examples
    --------
    >>> axis, angle = axis_and_angle(np.diag([1.0, -1.0, -1.0]))
    >>> axis.tolist(), round(float(angle), 9)
    ([1.0, 0.0, 0.0], 3.141592654)
    """
    q = rotation_quaternion(rotation)
    size = np.linalg.norm(q[..., 1:], axis=-1)
    still = size == 0.0
    axis = np.where(still[..., None], np.array([0.0, 0.0, 1.0]), q[..., 1:] / np.where(still, 1.0, size)[..., None])
    return axis, 2.0 * np.arctan2(size, q[..., 0])
