"""Orientations as three angles: Euler angles about z, y, z, and roll, pitch, yaw about z, y, x."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.rtss.arguments import vectors
from linkwise.rtss.transforms import rt_rotx, rt_roty, rt_rotz
from linkwise.spatial.numbers import numbers
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.rotation import rotation_to_rpy
from linkwise.spatial.scalar import FloatArray

SINGULAR = 10.0 * np.finfo(np.float64).eps
"""Below this sine (Euler) or cosine (roll, pitch, yaw) of the middle angle the other two are not told apart."""


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
    given = rigid_poses("rt_tr2rpy: T", T)
    made = np.empty((*given.shape[:-2], 3))
    for place in np.ndindex(given.shape[:-2]):
        r = given[place][:3, :3]
        about_x, about_y, about_z = rotation_to_rpy(r)
        if math.hypot(r[0, 0], r[1, 0]) < SINGULAR:
            about_x = math.remainder(about_x - math.copysign(1.0, about_y) * about_z, 2.0 * math.pi)
            about_z = 0.0
        made[place] = about_z, about_y, about_x
    return made + 0.0


def _three(function: str, names: tuple[str, str, str], given: tuple[Any, Any, Any]) -> list[FloatArray]:
    """Three arrays of angles that broadcast, from three arguments or from the last axis of one."""
    if given[1] is None and given[2] is None:
        made = vectors(f"{function}: {names[0]}", given[0], 3)
        return [made[..., k] for k in range(3)]
    missing = [name for name, value in zip(names, given, strict=True) if value is None]
    if missing:
        raise ArgumentError(f"{function}: {missing[0]} is missing; expected three angles, or one array (..., 3)")
    angles = [numbers(f"{function}: {name}", value, "finite angles, rad") for name, value in zip(names, given, strict=True)]
    try:
        return list(np.broadcast_arrays(*angles))
    except ValueError as error:
        shapes = ", ".join(f"{name} {angle.shape}" for name, angle in zip(names, angles, strict=True))
        raise ArgumentError(f"{function}: the shapes {shapes} do not broadcast") from error
