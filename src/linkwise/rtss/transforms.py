"""Homogeneous transforms: rotations and translations made, taken apart, and mended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.rtss.arguments import homogeneous, matrices, vector
from linkwise.rtss.keywords import also
from linkwise.rtss.quaternion import rt_quaternion
from linkwise.spatial.numbers import numbers, real
from linkwise.spatial.rotation import rotation_about, rotation_x, rotation_y, rotation_z
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import is_rigid

PARALLEL = 1e-9
"""Two directions of which the sine of the angle between them is below this are parallel."""

Kind = TypeVar("Kind")


def turn(field: str, rotation: Callable[[float], Array], angle: Any) -> FloatArray:
    """Transforms (..., 4, 4) that turn by angles (...), each by one of the functions for a single angle."""
    made = numbers(field, angle, "finite angles, rad")
    rotations = np.empty((*made.shape, 3, 3))
    for place in np.ndindex(made.shape):
        rotations[place] = rotation(float(made[place]))
    return homogeneous(rotations)


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
        return homogeneous(np.eye(3), vector("rt_transl: x, y, z", [x, y, z], 3))
    given = numbers("rt_transl: x", x, "a vector of 3 numbers, or transforms (..., 4, 4)")
    if given.shape[-2:] == (4, 4):
        return np.asarray(given[..., :3, 3].copy())
    if given.shape not in {(3,), (1, 3), (3, 1)}:
        raise ArgumentError(
            f"rt_transl: x has the shape {given.shape}; expected a vector of 3 numbers, or transforms (..., 4, 4)"
        )
    return homogeneous(np.eye(3), given.ravel())


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
    Mended: where o and a are not at right angles the original gives a matrix that is no rotation; here a keeps its
    direction. Where they are, both agree. (R. P. Paul, *Robot Manipulators*, 1981, for the names n, o, a of the columns.)

    Examples
    --------
    >>> rt_oa2tr([-1, 0, 0], [0, 1, 0])[:3, :3].tolist()
    [[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]]
    """
    return homogeneous(_from_oa("rt_oa2tr", vector("rt_oa2tr: o", o, 3), vector("rt_oa2tr: a", a, 3)) + 0.0)


def rt_trnorm(T: npt.ArrayLike) -> FloatArray:
    """Transforms (..., 4, 4) with the rounding errors taken out of their rotations.

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
    given = matrices("rt_trnorm: T", T)
    return homogeneous(_from_oa("rt_trnorm", given[..., :3, 1], given[..., :3, 2]), given[..., :3, 3])


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
    """Whether something is a homogeneous transform: a 4 x 4 matrix of numbers, whatever numbers they are.

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
        made = real(x)
    except TypeError:
        return False
    return made.shape == (4, 4) and (not valid or is_rigid(made, 1e-6))


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
    given = numbers("rt_unit: v", v, "a vector of finite numbers")
    if not given.size or max(given.shape, default=0) != given.size:
        raise ArgumentError(f"rt_unit: v has the shape {given.shape}; expected a vector or a quaternion")
    return _unit("rt_unit: v", given)


def _unit(field: str, given: FloatArray) -> FloatArray:
    size = np.linalg.norm(given)
    if size == 0:
        raise ArgumentError(f"{field} is {shown(given.tolist())}; expected a vector with a direction")
    return np.asarray(given / size)


def _from_oa(function: str, o: FloatArray, a: FloatArray) -> FloatArray:
    """Rotations (..., 3, 3) from the directions of their z axes and, with them, the planes of their y axes."""
    lengths = np.linalg.norm(o, axis=-1, keepdims=True), np.linalg.norm(a, axis=-1, keepdims=True)
    there = (lengths[0] > 0) & (lengths[1] > 0)
    y, z = o / np.where(there, lengths[0], 1.0), a / np.where(there, lengths[1], 1.0)
    x = np.cross(y, z)
    sine = np.linalg.norm(x, axis=-1, keepdims=True)
    if not (there & (sine > PARALLEL)).all():
        raise ArgumentError(
            f"{function}: the y and z directions are {shown(o.tolist())} and {shown(a.tolist())}; expected "
            "two that are neither zero nor parallel"
        )
    x = x / sine
    return np.stack([x, np.cross(z, x), z], axis=-1)
