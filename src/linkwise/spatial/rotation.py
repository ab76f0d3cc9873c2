"""Rotation matrices: R_a_b takes coordinates in frame b to coordinates in frame a."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.linear import adjugate
from linkwise.spatial.scalar import Array, FloatArray, array, cos_sin, root, select
from linkwise.spatial.vector import inner, unit

#: Up to here the determinant of a matrix (3, 3) of length 1 may be nothing but rounding: eight units in its last place.
SINGULAR = 2.0**-49

#: Enough for singular values of any ratio up to 1e16 (N. J. Higham, 1986, section 3.3); six were so in every trial.
POLAR_STEPS = 9


def rotation_x(angle: Any) -> Array:
    """Rotation (3, 3) by an angle (rad) about x."""
    c, s = cos_sin(angle)
    return array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def rotation_y(angle: Any) -> Array:
    """Rotation (3, 3) by an angle (rad) about y."""
    c, s = cos_sin(angle)
    return array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rotation_z(angle: Any) -> Array:
    """Rotation (3, 3) by an angle (rad) about z."""
    c, s = cos_sin(angle)
    return array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def rotation_of_axis(axis: int, angle: Any) -> Array:
    """Rotation (3, 3) by an angle (rad) about x, y or z, which are 0, 1, 2.

    Examples
    --------
    >>> bool((rotation_of_axis(2, 0.3) == rotation_z(0.3)).all())
    True
    """
    return (rotation_x, rotation_y, rotation_z)[axis](angle)


def rotation_about(axis: npt.ArrayLike, angle: Any) -> Array:
    """Rotation (3, 3) by an angle (rad) about a unit axis (3,): Rodrigues' formula.

    R = u u' + cos(angle) (1 - u u') + sin(angle) u~  (O. Rodrigues, 1840).

    Examples
    --------
    >>> rotation_about([0, 0, 1], 0.0)
    array([[1., 0., 0.],
           [0., 1., 0.],
           [0., 0., 1.]])
    """
    u = np.asarray(axis)
    c, s = cos_sin(angle)
    along = np.outer(u, u)
    return array(along + c * (np.eye(3) - along) + s * skew(u))


def skew(v: npt.ArrayLike) -> Array:
    """The matrix (3, 3) v~ with v~ w = v x w."""
    x, y, z = np.asarray(v)
    return array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def axial(m: npt.ArrayLike) -> Array:
    """The vector (3,) of the skew-symmetric part of a matrix (3, 3): the inverse of `skew`."""
    a = np.asarray(m)
    return array([a[2, 1] - a[1, 2], a[0, 2] - a[2, 0], a[1, 0] - a[0, 1]]) * 0.5


def cross(a: Array, b: Array) -> Array:
    """The vector product (3,) of two arrays (3,) of scalars."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation_error(matrix: npt.ArrayLike) -> Any:
    """Deviation of the block (3, 3) of a matrix of scalars from a rotation: Frobenius norm of R'R - 1; 8 for a reflection.

    Examples
    --------
    >>> float(rotation_error(np.eye(3))), rotation_error(-np.eye(3))
    (0.0, 8.0)
    """
    a = np.asarray(matrix)
    x, y, z = (a[:3, k] for k in range(3))
    off = [inner(x, y), inner(y, z), inner(x, z)]
    along = [inner(v, v) - 1.0 for v in (x, y, z)]
    error = root(sum(v * v for v in along) + 2.0 * sum(v * v for v in off))
    return select(inner(x, cross(y, z)), error, 8.0)


def rotation_between(start: npt.ArrayLike, end: npt.ArrayLike) -> FloatArray:
    """The least rotations (..., 3, 3) from a unit vector (3,) to others (..., 3); half turns about any normal if opposite.

    Examples
    --------
    >>> rotation_between([0, 0, 1], [1, 0, 0]) @ [0, 0, 1]
    array([1., 0., 0.])
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    normal, c = np.cross(a, b), np.asarray(b @ a)[..., None]
    k, cosine = skews(normal), c[..., None]
    near = np.eye(3) + k + k @ k / (1.0 + np.maximum(cosine, 0.0))
    if (c >= 0).all():
        return np.asarray(near)
    sine = np.sqrt(_dot(normal, normal))
    across = np.where(sine < 1e-15, np.eye(3)[int(np.argmin(np.abs(a)))], normal)
    for _ in range(2):  # once for the direction, once more for the rounding
        across = across - a * _dot(a, across)
        across = across / np.sqrt(_dot(across, across))
    size = np.reshape([*map(math.hypot, c.ravel().tolist(), sine.ravel().tolist())], cosine.shape)
    turned = skews(across)
    far = np.eye(3) + sine[..., None] / size * turned + (1.0 - cosine / size) * (turned @ turned)
    return np.asarray(np.where(cosine >= 0, near, far))


def _dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """The products (..., 1) of vectors (..., 3)."""
    return np.asarray(np.broadcast_to(a, b.shape)[..., None, :] @ b[..., :, None])[..., 0]


def skews(v: FloatArray) -> FloatArray:
    """The matrices (..., 3, 3) of numbers with skews(v) @ u = v x u, for v (..., 3)."""
    result = np.zeros((*v.shape, 3))
    x, y, z = np.moveaxis(v, -1, 0)
    result[..., 0, 1], result[..., 0, 2], result[..., 1, 2] = -z, y, -x
    result[..., 1, 0], result[..., 2, 0], result[..., 2, 1] = z, -y, x
    return result


def rotations_about(axis: FloatArray, angle: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) about unit axes (..., 3) by angles (...), broadcast: `rotation_about` of arrays of numbers."""
    k = skews(axis)
    s, half = np.sin(angle)[..., None, None], np.sin(0.5 * angle)[..., None, None]
    return np.asarray(np.eye(3) + s * k + 2.0 * half**2 * (k @ k))


def nearest_rotation(matrix: npt.ArrayLike) -> tuple[Array, Any]:
    """The rotation (3, 3) nearest to a matrix of scalars (its orthogonal polar factor), and a measure of its determinant.

    The mean of X and of its transposed inverse, both brought to one size, taken again and again (N. J. Higham, "Computing
    the polar decomposition - with applications", SIAM J. Sci. Stat. Comput. 7(4), 1986): each step squares the error once it
    is small. The measure is the determinant of the matrix made one of length 1, which is 0.19 for a rotation; it must be
    above `SINGULAR`.

    Examples
    --------
    >>> nearest_rotation(np.diag([1.1, 1.0, 0.9]))[0].tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    flat, _ = unit(np.asarray(matrix).ravel())
    x = flat.reshape(3, 3)
    measure: Any = None
    for step in range(POLAR_STEPS):
        across = adjugate(x).T
        size = inner(x[0], across[0])
        measure = size if step == 0 else measure
        turned = across / size
        scale = root(root(inner(turned.ravel(), turned.ravel()) / inner(x.ravel(), x.ravel())))
        x = (x * scale + turned / scale) * 0.5
    return array(x), measure


def rpy_to_rotation(roll: float, pitch: float, yaw: float) -> Array:
    """Rotation (3, 3) from roll, pitch, yaw (rad): Rz(yaw) Ry(pitch) Rx(roll), the URDF order."""
    return np.asarray(rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll))


def rotation_to_rpy(rotation: npt.ArrayLike) -> tuple[float, float, float]:
    """Roll, pitch, yaw (rad) of a rotation (3, 3), pitch in [-pi/2, pi/2]; at a lock (pitch = +-pi/2) roll is 0.

    The angles make the rotation again to rounding, near a lock too: the roll is what is left when the yaw is taken off.

    Examples
    --------
    >>> np.round(rotation_to_rpy(rpy_to_rotation(0.1, 0.2, 0.3)), 12).tolist()
    [0.1, 0.2, 0.3]
    """
    r = np.asarray(rotation, dtype=float)
    level = math.hypot(r[0, 0], r[1, 0])
    pitch = math.atan2(-r[2, 0], level)
    if level < 1e-15:
        return 0.0, pitch, math.atan2(-r[0, 1], r[1, 1])
    yaw = math.atan2(r[1, 0], r[0, 0])
    c, s = math.cos(yaw), math.sin(yaw)
    return math.atan2(s * r[0, 2] - c * r[1, 2], c * r[1, 1] - s * r[0, 1]), pitch, yaw
