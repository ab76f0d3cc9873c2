"""Homogeneous transforms, three angles, and small motions and forces between frames."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.rtss.arguments import also, matrices, vector, vectors
from linkwise.rtss.quaternion import rt_quaternion
from linkwise.spatial.rotation import axial, rotation_about, rotation_to_rpy, rotation_x, rotation_y, rotation_z, skews
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import is_rigid, transforms
from linkwise.spatial.validation import common_batch, numbers, real, rigid_poses
from linkwise.spatial.vector import directions

#: Two directions are parallel if the sine of their angle is below this.
PARALLEL = 1e-9

Kind = TypeVar("Kind")


def turn(field: str, rotation: Callable[[float], Array], angle: Any) -> FloatArray:
    """Transforms (..., 4, 4) that turn by angles (...), each by one of the functions for a single angle."""
    angles = numbers(field, angle, "finite angles, rad")
    rotations = [rotation(angle) for angle in angles.ravel().tolist()]
    return transforms(np.array(rotations, dtype=float).reshape(*angles.shape, 3, 3))


def rt_rotx(t: npt.ArrayLike) -> FloatArray:
    """Transform (..., 4, 4) that turns by an angle about x.

    Parameters
    ----------
    t : (...) array_like
        Angle, rad. The original takes one; here many give a transform each. Multiples of pi/2 give true zeros and ones.

    Examples
    --------
    >>> rt_rotx(np.pi / 2)[:3, :3].tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    return turn("rt_rotx: t", rotation_x, t)


def rt_roty(t: npt.ArrayLike) -> FloatArray:
    """Transform (..., 4, 4) that turns by an angle about y; see `rt_rotx`.

    Examples
    --------
    >>> rt_roty(np.pi / 2)[:3, :3].tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
    """
    return turn("rt_roty: t", rotation_y, t)


def rt_rotz(t: npt.ArrayLike) -> FloatArray:
    """Transform (..., 4, 4) that turns by an angle about z; see `rt_rotx`.

    Examples
    --------
    >>> rt_rotz(np.pi / 2)[:3, :3].tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return turn("rt_rotz: t", rotation_z, t)


def rt_rotvec(v: npt.ArrayLike, t: npt.ArrayLike) -> FloatArray:
    """Transform (..., 4, 4) that turns by an angle about any axis through the origin.

    Parameters
    ----------
    v : (3,) array_like
        Direction of the axis, of any length but zero.
    t : (...) array_like
        Angle, rad.

    Raises
    ------
    ArgumentError
        Where the axis has no direction.

    Examples
    --------
    >>> rt_rotvec([0, 0, 2], np.pi / 2)[:3, :3].tolist()
    [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    axis = _unit("rt_rotvec: v", vector("rt_rotvec: v", v, 3))
    return turn("rt_rotvec: t", lambda angle: rotation_about(axis, angle), t)


@also(v="x", T="x")
def rt_transl(x: npt.ArrayLike, y: npt.ArrayLike | None = None, z: npt.ArrayLike | None = None) -> FloatArray:
    """Transform that moves, or the translation of a transform.

    ``rt_transl(x, y, z)`` and ``rt_transl(v)`` make a transform; ``rt_transl(T)`` gives the translation (..., 3) of
    transforms.

    Parameters
    ----------
    x : float, (3,) or (..., 4, 4) array_like
        The x component, the vector, or the transforms, m.
    y, z : float, optional
        The other components.

    Returns
    -------
    ndarray (4, 4) or (..., 3)
        A trajectory is (m, 4, 4) here, the configuration first, where it is 4 x 4 x m in the original.

    Raises
    ------
    ArgumentError
        For anything else.

    Examples
    --------
    >>> T = rt_transl(0.5, 0.0, 1.0)
    >>> rt_transl(T).tolist()
    [0.5, 0.0, 1.0]
    >>> rt_transl(np.stack([T, rt_transl([1, 2, 3])])).tolist()
    [[0.5, 0.0, 1.0], [1.0, 2.0, 3.0]]
    """
    if (y is None) != (z is None):
        raise ArgumentError("rt_transl takes x, y, z, or a vector, or transforms; two numbers were given")
    if y is not None:
        return transforms(np.eye(3), vector("rt_transl: x, y, z", [x, y, z], 3))
    array = numbers("rt_transl: x", x, "a vector of 3 numbers, or transforms (..., 4, 4)")
    if array.shape[-2:] == (4, 4):
        return np.asarray(array[..., :3, 3].copy())
    if array.shape not in {(3,), (1, 3), (3, 1)}:
        raise ArgumentError(f"rt_transl: x has the shape {array.shape}; expected 3 numbers or transforms (..., 4, 4)")
    return transforms(np.eye(3), array.ravel())


def rt_oa2tr(o: npt.ArrayLike, a: npt.ArrayLike) -> FloatArray:
    """Transform (4, 4) whose z axis is along a and whose y axis is, in the plane of o and a, on the side of o.

    Parameters
    ----------
    o : (3,) array_like
        Orientation vector, of any length: the y axis.
    a : (3,) array_like
        Approach vector, of any length: the z axis.

    Raises
    ------
    ArgumentError
        Where they are parallel, or one is zero.

    Notes
    -----
    Mended: where o and a are not at right angles the original gives a matrix that is not a rotation; here a keeps its
    direction. Where they are, both agree. (R. P. Paul, *Robot Manipulators*, 1981, for the names n, o, a of the columns.)

    Examples
    --------
    >>> rt_oa2tr([-1, 0, 0], [0, 1, 0])[:3, :3].tolist()
    [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
    """
    return transforms(_from_oa("rt_oa2tr", vector("rt_oa2tr: o", o, 3), vector("rt_oa2tr: a", a, 3)) + 0.0)


def rt_trnorm(T: npt.ArrayLike) -> FloatArray:
    """Transforms (..., 4, 4) with orthonormalized rotations.

    The z axis keeps its direction, the y axis its plane with z. The last row becomes 0 0 0 1.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        Transforms that are nearly rigid.

    Raises
    ------
    ArgumentError
        Where the y and z columns have no plane.

    Notes
    -----
    Mended: the original leaves the angle between the y and the z column as it is, so that its result is not orthonormal.

    Examples
    --------
    >>> T = rt_roty(np.pi / 3)
    >>> T[:3, :3] += 1e-7
    >>> rt_ishomog(T, valid=True), rt_ishomog(rt_trnorm(T), valid=True)
    (True, True)
    >>> R = rt_tr2rot(rt_trnorm(T))
    >>> bool(np.abs(R.T @ R - np.eye(3)).max() < 1e-15)
    True
    """
    poses = matrices("rt_trnorm: T", T)
    return transforms(_from_oa("rt_trnorm", poses[..., :3, 1], poses[..., :3, 2]), poses[..., :3, 3])


def rt_tr2rot(T: npt.ArrayLike) -> FloatArray:
    """Rotations (..., 3, 3) of transforms (..., 4, 4).

    Raises
    ------
    ArgumentError
        Where it is no array (..., 4, 4).

    Examples
    --------
    >>> rt_tr2rot(np.eye(4)).shape
    (3, 3)
    """
    return np.asarray(matrices("rt_tr2rot: T", T)[..., :3, :3].copy())


def rt_ishomog(x: Any, valid: bool = False) -> bool:
    """True for a homogeneous transform: a 4 x 4 matrix of numbers, with any values.

    Parameters
    ----------
    x : object
        Anything.
    valid : bool
        Whether it must be a rigid transform too: rotation orthonormal and right handed to 1e-6, last row 0 0 0 1. The
        original cannot ask this.

    Examples
    --------
    >>> rt_ishomog(np.zeros((4, 4))), rt_ishomog(np.zeros((4, 4)), valid=True), rt_ishomog("T")
    (True, False, False)
    """
    try:
        array = real(x)
    except TypeError:
        return False
    return array.shape == (4, 4) and (not valid or is_rigid(array, 1e-6))


@overload
def rt_unit(v: rt_quaternion) -> rt_quaternion: ...
@overload
def rt_unit(v: npt.ArrayLike) -> FloatArray: ...
@also(obj="v")
def rt_unit(v: Any) -> Any:
    """Vector or quaternion of length 1 with the same direction.

    Parameters
    ----------
    v : (p,), (1, p) or (p, 1) array_like, or rt_quaternion
        Of any length but zero.

    Returns
    -------
    ndarray or rt_quaternion
        Shaped as it was given.

    Raises
    ------
    ArgumentError
        Where it is zero (the original divides by it), or no vector.

    Examples
    --------
    >>> rt_unit([3, 0, 4]).tolist()
    [0.6, 0.0, 0.8]
    """
    if isinstance(v, rt_quaternion):
        return v.unit()
    array = numbers("rt_unit: v", v, "a vector of finite numbers")
    if not array.size or max(array.shape, default=0) != array.size:
        raise ArgumentError(f"rt_unit: v has the shape {array.shape}; expected a vector or a quaternion")
    return _unit("rt_unit: v", array)


def _unit(field: str, v: FloatArray) -> FloatArray:
    if not v.any():
        raise ArgumentError(f"{field} is {shown(v.tolist())}; expected a vector with a direction")
    return directions(v.ravel()).reshape(v.shape)


def _from_oa(function: str, o: FloatArray, a: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) from the directions of their z axes and, with them, the planes of their y axes."""
    y, z = directions(o), directions(a)
    x = np.cross(y, z)
    sine = np.linalg.norm(x, axis=-1, keepdims=True)
    if not (sine > PARALLEL).all():
        both = f"{shown(o.tolist())} and {shown(a.tolist())}"
        expected = "two that are neither zero nor parallel"
        raise ArgumentError(f"{function}: the y and z directions are {both}; expected {expected}")
    x = x / sine
    return np.stack([x, np.cross(z, x), z], axis=-1)


#: Below this sine (Euler) or cosine (roll, pitch, yaw) of the middle angle the other two are not distinguished.
SINGULAR = 10.0 * np.finfo(np.float64).eps


def rt_eul2tr(phi: npt.ArrayLike, theta: npt.ArrayLike | None = None, psi: npt.ArrayLike | None = None) -> FloatArray:
    """Transform Rz(phi) Ry(theta) Rz(psi) of Euler angles.

    Parameters
    ----------
    phi : (...) or (..., 3) array_like
        First angle, rad; or all three, in the last axis.
    theta, psi : (...) array_like, optional
        The other angles.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where three angles are not given.

    Examples
    --------
    >>> T = rt_eul2tr(0.1, 0.2, 0.3)
    >>> bool(np.array_equal(T, rt_eul2tr([0.1, 0.2, 0.3])))
    True
    """
    first, second, third = _three("rt_eul2tr", ("phi", "theta", "psi"), (phi, theta, psi))
    return np.asarray(rt_rotz(first) @ rt_roty(second) @ rt_rotz(third))


def rt_rpy2tr(roll: npt.ArrayLike, pitch: npt.ArrayLike | None = None, yaw: npt.ArrayLike | None = None) -> FloatArray:
    """Transform Rz(roll) Ry(pitch) Rx(yaw) of roll, pitch and yaw angles.

    The order is that of the Robotics Toolbox up to release 7: **roll is about z and yaw about x** (R. P. Paul, *Robot
    Manipulators*, 1981). URDF files and `linkwise.spatial.rotation.rpy_to_rotation` have roll about x and yaw about z.

    Parameters
    ----------
    roll : (...) or (..., 3) array_like
        Angle about z, rad; or all three, in the last axis.
    pitch, yaw : (...) array_like, optional
        Angles about y and x.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where three angles are not given.

    Examples
    --------
    >>> bool(np.array_equal(rt_rpy2tr(0.5, 0, 0), rt_rotz(0.5)))
    True
    """
    first, second, third = _three("rt_rpy2tr", ("roll", "pitch", "yaw"), (roll, pitch, yaw))
    return np.asarray(rt_rotz(first) @ rt_roty(second) @ rt_rotx(third))


def rt_tr2eul(T: npt.ArrayLike) -> FloatArray:
    """Euler angles phi, theta, psi (..., 3) of transforms Rz(phi) Ry(theta) Rz(psi), rad; theta from 0 to pi.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        Rigid transforms.

    Raises
    ------
    ArgumentError
        Where one is not rigid.

    Notes
    -----
    With theta = 0 or pi only phi + psi or psi - phi is determined. Mended: the original then takes phi from the rounding
    errors; here phi is 0 where the sine of theta is below 10 times the rounding unit. Near there phi and psi are each
    as uncertain as the matrix makes them, and the three together still give the matrix back to rounding.

    Examples
    --------
    >>> rt_tr2eul(rt_eul2tr(0.1, 0.2, 0.3)).round(12).tolist()
    [0.1, 0.2, 0.3]
    >>> rt_tr2eul(rt_eul2tr(0.6, 0.0, -1.75)).round(12).tolist()
    [0.0, 0.0, -1.15]
    """
    r = rigid_poses("rt_tr2eul: T", T)
    sine = np.hypot(r[..., 0, 2], r[..., 1, 2])
    phi = np.where(sine < SINGULAR, 0.0, np.arctan2(r[..., 1, 2], r[..., 0, 2]))
    c, s = np.cos(phi), np.sin(phi)
    theta = np.arctan2(c * r[..., 0, 2] + s * r[..., 1, 2], r[..., 2, 2])
    psi = np.arctan2(c * r[..., 1, 0] - s * r[..., 0, 0], c * r[..., 1, 1] - s * r[..., 0, 1])
    return np.stack([phi, theta, psi], axis=-1)


def rt_tr2rpy(T: npt.ArrayLike) -> FloatArray:
    """Roll, pitch, yaw angles (..., 3) of transforms Rz(roll) Ry(pitch) Rx(yaw), rad; pitch from -pi/2 to pi/2.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        Rigid transforms.

    Raises
    ------
    ArgumentError
        Where one is not rigid.

    Notes
    -----
    With pitch = pi/2 only yaw - roll is determined, with -pi/2 only roll + yaw; roll is 0 then, as in the original, where
    the cosine of pitch is below 10 times the rounding unit. The order of the angles is that of `rt_rpy2tr`.

    Examples
    --------
    >>> rt_tr2rpy(rt_rpy2tr(0.1, 0.2, 0.3)).round(12).tolist()
    [0.1, 0.2, 0.3]
    >>> rt_tr2rpy(rt_rpy2tr(0.6, np.pi / 2, -1.75)).round(12).tolist()
    [0.0, 1.570796326795, -2.35]
    """
    poses = rigid_poses("rt_tr2rpy: T", T)
    angles = np.empty((*poses.shape[:-2], 3))
    for place in np.ndindex(poses.shape[:-2]):
        r = poses[place][:3, :3]
        about_x, about_y, about_z = rotation_to_rpy(r)
        if math.hypot(r[0, 0], r[1, 0]) < SINGULAR:
            about_x = math.remainder(about_x - math.copysign(1.0, about_y) * about_z, 2.0 * math.pi)
            about_z = 0.0
        angles[place] = about_z, about_y, about_x
    return angles + 0.0


def _three(function: str, names: tuple[str, str, str], values: tuple[Any, Any, Any]) -> list[FloatArray]:
    """Three arrays of angles that broadcast, from three arguments or from the last axis of one."""
    if values[1] is None and values[2] is None:
        array = vectors(f"{function}: {names[0]}", values[0], 3)
        return [array[..., k] for k in range(3)]
    missing = [name for name, value in zip(names, values, strict=True) if value is None]
    if missing:
        raise ArgumentError(f"{function}: {missing[0]} is missing; expected three angles, or one array (..., 3)")
    angles = [numbers(f"{function}: {name}", value, "finite angles, rad") for name, value in zip(names, values, strict=True)]
    common_batch(function, **{name: angle.shape for name, angle in zip(names, angles, strict=True)})
    return list(np.broadcast_arrays(*angles))


_HALVES_EXCHANGED = np.array([3, 4, 5, 0, 1, 2])


def rt_diff2tr(d: npt.ArrayLike) -> FloatArray:
    """Matrices (..., 4, 4) of small motions: the skew matrix of the rotation, the translation beside it, zeros below.

    Parameters
    ----------
    d : (..., 6) array_like
        Translation (m), then rotation (rad): dx, dy, dz, rx, ry, rz.

    Raises
    ------
    ArgumentError
        Where it is no array (..., 6).

    Examples
    --------
    >>> rt_diff2tr([1, 2, 3, 4, 5, 6]).tolist()
    [[0.0, -6.0, 5.0, 1.0], [6.0, 0.0, -4.0, 2.0], [-5.0, 4.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0]]
    """
    motions = vectors("rt_diff2tr: d", d, 6)
    poses = np.zeros((*motions.shape[:-1], 4, 4))
    poses[..., :3, :3] = skews(motions[..., 3:])
    poses[..., :3, 3] = motions[..., :3]
    return poses + 0.0


@also(T="T1")
def rt_tr2diff(T1: npt.ArrayLike, T2: npt.ArrayLike | None = None) -> FloatArray:
    """Small motion (..., 6): of a matrix like that of `rt_diff2tr`, or from one transform to another, in base axes.

    Parameters
    ----------
    T1 : (..., 4, 4) array_like
        The matrix of a small motion, of which the skew part and the translation are taken; or the first transform.
    T2 : (..., 4, 4) array_like, optional
        The second transform.

    Returns
    -------
    ndarray (..., 6)
        Translation (m), then rotation (rad). Between two transforms the rotation is the axis times the *sine* of the angle,
        right to first order; `linkwise.solve` measures the angle itself.

    Raises
    ------
    ArgumentError
        Where it is no array (..., 4, 4), or two are given and one is not rigid.

    Examples
    --------
    >>> rt_tr2diff(rt_diff2tr([1, 2, 3, 4, 5, 6])).tolist()
    [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> from linkwise.rtss import rt_rotz
    >>> rt_tr2diff(np.eye(4), rt_rotz(0.001)).round(9).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 0.001]
    """
    if T2 is None:
        pose = matrices("rt_tr2diff: T1", T1)
        shift, turn = pose[..., :3, 3], pose[..., :3, :3]
    else:
        first, second = rigid_poses("rt_tr2diff: T1", T1), rigid_poses("rt_tr2diff: T2", T2)
        shift = second[..., :3, 3] - first[..., :3, 3]
        turn = second[..., :3, :3] @ np.swapaxes(first[..., :3, :3], -1, -2)
    return np.concatenate([shift, np.moveaxis(axial(np.moveaxis(turn, (-2, -1), (0, 1))), 0, -1)], axis=-1)


def rt_tr2jac(T: npt.ArrayLike) -> FloatArray:
    """Matrices (..., 6, 6) that take a motion of a body from one frame to another on it.

    With T = T_a_b a velocity (of the origin, then angular) of the body at a, in the axes of a, becomes the one at b, in the
    axes of b.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        T_a_b, rigid.

    Raises
    ------
    ArgumentError
        Where it is not rigid.

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> (rt_tr2jac(rt_transl(1, 0, 0)) @ [0, 0, 0, 0, 0, 1.0]).tolist()
    [0.0, 1.0, 0.0, 0.0, 0.0, 1.0]
    """
    poses = rigid_poses("rt_tr2jac: T", T)
    rotation, position = poses[..., :3, :3], poses[..., :3, 3]
    jacobians = np.zeros((*poses.shape[:-2], 6, 6))
    jacobians[..., :3, :3] = jacobians[..., 3:, 3:] = np.swapaxes(rotation, -1, -2)
    jacobians[..., :3, 3:] = np.swapaxes(np.cross(position[..., :, None], rotation, axisa=-2, axisb=-2, axisc=-2), -1, -2)
    return jacobians


def rt_ftrans(T: npt.ArrayLike, F: npt.ArrayLike) -> FloatArray:
    """Force and moment (..., 6) on a body, transformed from one frame to another on it.

    With T = T_a_b, F acts at the origin of a, in the axes of a; the result acts alike at the origin of b, in the axes of b.

    Parameters
    ----------
    T : (..., 4, 4) array_like
        T_a_b, rigid.
    F : (..., 6) array_like
        Force (N), then moment (N m).

    Raises
    ------
    ArgumentError
        Where T is not rigid or F no array (..., 6).

    Examples
    --------
    >>> from linkwise.rtss import rt_transl
    >>> rt_ftrans(rt_transl(1, 0, 0), [0, 0, 5, 0, 0, 0]).tolist()
    [0.0, 0.0, 5.0, 0.0, 5.0, 0.0]
    """
    across = rt_tr2jac(rigid_poses("rt_ftrans: T", T))[..., _HALVES_EXCHANGED[:, None], _HALVES_EXCHANGED]
    return np.asarray((across @ vectors("rt_ftrans: F", F, 6)[..., None])[..., 0])


__all__ = [name for name in dir() if name.startswith("rt_")]
