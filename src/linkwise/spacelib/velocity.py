"""Velocity, acceleration and screw axis matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.constants import Z
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import AXIS, BLOCK, JOINT, MAT4, MOTION, POINT, SCALAR, VECTOR
from linkwise.spacelib.points import as_point
from linkwise.spacelib.position import along
from linkwise.spacelib.rotations import NOT_SKEW, skew_measure
from linkwise.spatial.matrix_method import (
    acceleration_matrix,
    compose_acceleration,
    gravity_matrix,
    to_frame,
    velocity_matrix,
)
from linkwise.spatial.rotation import axial
from linkwise.spatial.scalar import Array, array, select
from linkwise.spatial.screw import screw_velocity, turning_measure, velocity_screw
from linkwise.spatial.transform import translation
from linkwise.spatial.vector import chosen, length, unit


@function(gx=SCALAR, gy=SCALAR, gz=SCALAR)
def gtom(gx: Any, gy: Any, gz: Any) -> Array:
    """Acceleration matrix of gravity (manual, section 3.2).

    Parameters
    ----------
    gx, gy, gz : (...) array_like
        Components of the acceleration of gravity, m/s2.

    Returns
    -------
    ndarray (..., 4, 4)

    Examples
    --------
    >>> gtom(0.0, 0.0, -9.81)[Z].tolist()
    [0.0, 0.0, 0.0, -9.81]
    """
    return gravity_matrix(array([gx, gy, gz]))


@function(G=BLOCK)
def gtomgapt(G: Any) -> Array:
    """Angular acceleration from the upper left block of an acceleration matrix: its skew part (manual, eq. 3.3).

    Parameters
    ----------
    G : (..., 3, 3) array_like
        The block, or a larger matrix that begins with it, rad/s2.

    Returns
    -------
    ndarray (..., 3)

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.5, 0.9)
    >>> gtomgapt(H).tolist()
    [0.0, 0.0, 0.9]
    """
    return axial(G)


@function(jtype=JOINT, u=VECTOR, pitch=SCALAR, P=POINT)
def makel(jtype: int, u: Any, pitch: Any, P: Any) -> Array:
    """Screw axis matrix L of a joint: the velocity matrix for a joint rate of 1 (manual, section 3.2).

    Parameters
    ----------
    jtype : int
        `Rev` for a revolute or screw joint, `Pri` for a prismatic one.
    u : (..., 3) array_like
        Direction of the axis; its length does not matter. Zero gives the null matrix.
    pitch : (...) array_like
        Distance along the axis for an angle of 1 rad, m/rad; a prismatic joint has none, and does not look at it.
    P : (..., 4) array_like
        A point of the axis.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another kind of joint.

    Examples
    --------
    >>> makel(Rev, Zaxis, 0.5, [1.0, 0.0, 0.0])[:3, U].tolist()
    [0.0, -1.0, 0.5]
    """
    if jtype:
        return velocity_matrix(np.zeros(3), unit(u)[0])
    return screw_velocity(u, P[:3], pitch)


@function(jtype=JOINT, a=AXIS, pitch=SCALAR, P=POINT)
def makel2(jtype: int, a: int, pitch: Any, P: Any) -> Array:
    """Screw axis matrix L of a joint whose axis is parallel to one of the frame (manual, section 3.2).

    Parameters
    ----------
    jtype : int
        `Rev` for a revolute or screw joint, `Pri` for a prismatic one.
    a : int
        `X`, `Y` or `Z`; `U`, which is no axis, gives the null matrix.
    pitch : (...) array_like
        As for `makel`, m/rad.
    P : (..., 4) array_like
        A point of the axis.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another kind of joint, or another axis.

    Examples
    --------
    >>> makel2(Pri, Y, 0.0, ORIGIN)[:3, U].tolist()
    [0.0, 1.0, 0.0]
    """
    if jtype:
        return velocity_matrix(np.zeros(3), along(a))
    return screw_velocity(along(a), P[:3], pitch)


@function(W=MOTION, refuse=(NOT_SKEW,))
def wtol(W: Any) -> Any:
    """Screw axis matrix L of a velocity matrix: W for an angular speed of 1, of a translation for a speed of 1.

    The null matrix gives the null matrix (manual, section 3.2). Where the angular part is only rounding the motion is a
    translation, as for `wtovel`.

    Parameters
    ----------
    W : (..., 4, 4) array_like
        Velocity matrix, rad/s and m/s.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the last row is not null, or the 3x3 block far from skew-symmetric.

    Examples
    --------
    >>> wtol([[0, 0, 0, 0], [0, 0, -2, 0], [0, 2, 0, 0], [0, 0, 0, 0]])[1].tolist()
    [0.0, 0.0, -1.0, 0.0]
    """
    turns, omega, speed = turning_measure(W), length(axial(W[:3, :3])), length(W[:3, 3])
    made = W / select(turns, select(omega, omega, 1.0), select(speed, speed, 1.0))
    made[:3, :3] = chosen(turns, made[:3, :3], np.zeros((3, 3)))
    return made, skew_measure(W)


@function(W=MOTION, refuse=(NOT_SKEW,))
def wtovel(W: Any) -> tuple[Any, ...]:
    """Screw of a velocity matrix: its axis, angular speed, and speed along the axis (manual, section 3.2).

    Parameters
    ----------
    W : (..., 4, 4) array_like
        Velocity matrix.

    Returns
    -------
    u : ndarray (..., 3)
        Unit vector of the axis; of a translation, along it. Without any motion it is undefined in the manual; here it is
        zero.
    omega : ndarray (...)
        Angular speed, rad/s, not negative.
    vel : ndarray (...)
        Speed along u, m/s; negative where the body moves against u.
    P : ndarray (..., 4)
        The point of the axis nearest to the origin; of a translation, the origin.

    Raises
    ------
    ArgumentError
        Where the last row is not null, or the 3x3 block far from skew-symmetric.

    Notes
    -----
    Where rates of parallel joints cancel, the block of W is rounding, and the motion a translation. It is taken for that
    where omega is up to 1e-9 rad/s and less than a thousand times the symmetric part, which shows the rounding; and in any
    case where the axis would be farther off than some 7e13 m.

    Examples
    --------
    >>> u, omega, vel, P = wtovel([[0, -2, 0, 0], [2, 0, 0, 2], [0, 0, 0, 3], [0, 0, 0, 0]])
    >>> u.tolist(), float(omega), float(vel), P.tolist()
    ([0.0, 0.0, 1.0], 2.0, 3.0, [-1.0, 0.0, 0.0, 1.0])
    """
    u, omega, speed, point = velocity_screw(W)
    return u, omega, speed, as_point(point), skew_measure(W)


@function(jtype=JOINT, qp=SCALAR, qpp=SCALAR)
def veactowh(jtype: int, qp: Any, qpp: Any) -> tuple[Array, Array]:
    """Velocity and acceleration matrices of a joint about or along z, in its own frame (manual, section 3.2).

    Parameters
    ----------
    jtype : int
        `Rev` or `Pri`.
    qp, qpp : (...) array_like
        Rate and acceleration of the joint, rad/s and rad/s2, or m/s and m/s2.

    Returns
    -------
    W, H : ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another kind of joint.

    Examples
    --------
    >>> W, H = veactowh(Rev, 2.0, 3.0)
    >>> H[:2, :2].tolist()
    [[-4.0, -3.0], [3.0, -4.0]]
    """
    return _moving(jtype, along(Z), qp, qpp)


@function(jtype=JOINT, a=AXIS, qp=SCALAR, qpp=SCALAR)
def vactowh2(jtype: int, a: int, qp: Any, qpp: Any) -> tuple[Array, Array]:
    """Velocity and acceleration matrices of a joint about or along an axis of the frame (manual, section 3.2).

    Parameters
    ----------
    jtype : int
        `Rev` or `Pri`.
    a : int
        `X`, `Y` or `Z`; `U`, which is no axis, gives null matrices.
    qp, qpp : (...) array_like
        Rate and acceleration of the joint, rad/s and rad/s2, or m/s and m/s2.

    Returns
    -------
    W, H : ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another kind of joint, or another axis.

    Examples
    --------
    >>> W, H = vactowh2(Pri, X, 2.0, 3.0)
    >>> W[X].tolist(), H[X].tolist()
    ([0.0, 0.0, 0.0, 2.0], [0.0, 0.0, 0.0, 3.0])
    """
    return _moving(jtype, along(a), qp, qpp)


@function(jtype=JOINT, a=AXIS, qp=SCALAR, qpp=SCALAR, O=POINT)
def vactowh3(jtype: int, a: int, qp: Any, qpp: Any, O: Any) -> tuple[Array, Array]:  # noqa: E741
    """Velocity and acceleration matrices of a joint about or along a line parallel to an axis of the frame.

    Their last columns are -Omega O and -G O, with the blocks Omega and G of W and H (manual, section 3.2).

    Parameters
    ----------
    jtype : int
        `Rev` or `Pri`.
    a : int
        `X`, `Y` or `Z`; `U`, which is no axis, gives null matrices.
    qp, qpp : (...) array_like
        Rate and acceleration of the joint, rad/s and rad/s2, or m/s and m/s2.
    O : (..., 4) array_like
        A point of the axis. It does not matter for `Pri`.

    Returns
    -------
    W, H : ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another kind of joint, or another axis.

    Examples
    --------
    >>> W, H = vactowh3(Rev, Z, 2.0, 0.0, [1.0, 0.0, 0.0])
    >>> W[:3, U].tolist(), H[:3, U].tolist()
    ([0.0, -2.0, 0.0], [4.0, 0.0, 0.0])
    """
    there = translation(*O[:3])
    w, h = _moving(jtype, along(a), qp, qpp)
    return to_frame(w, there), to_frame(h, there)


@function(H0=MAT4, H1=MAT4, W0=MAT4, W1=MAT4)
def coriolis(H0: Any, H1: Any, W0: Any, W1: Any) -> Array:
    """Acceleration matrix of a relative motion on a moving carrier: H0 + H1 + 2 W0 W1 (Coriolis' theorem; manual, eq. 3.4).

    Parameters
    ----------
    H0, W0 : (..., 4, 4) array_like
        Acceleration and velocity matrices of the carrier.
    H1, W1 : (..., 4, 4) array_like
        Those of the motion seen from the carrier, in the same frame.

    Returns
    -------
    ndarray (..., 4, 4)

    Examples
    --------
    >>> W, H = veactowh(Rev, 1.0, 0.0)
    >>> bool((coriolis(H, H, W, W) == veactowh(Rev, 2.0, 0.0)[1]).all())
    True
    """
    return compose_acceleration(H0, H1, W0, W1)


def _moving(jtype: int, axis: Array, qp: Any, qpp: Any) -> tuple[Array, Array]:
    """W and H of a joint about or along a line through the origin."""
    still = np.zeros(3)
    if jtype:
        return velocity_matrix(still, axis * qp), acceleration_matrix(still, still, axis * qpp)
    return velocity_matrix(axis * qp, still), acceleration_matrix(axis * qp, axis * qpp, still)
