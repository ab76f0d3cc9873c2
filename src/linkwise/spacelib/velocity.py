"""Velocity, acceleration and screw axis matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.constants import Z
from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import AXIS, BLOCK, JOINT, MAT4, MOTION, POINT, SCALAR, VECTOR
from linkwise.spacelib.lines import as_point
from linkwise.spacelib.position import NOT_SKEW, along, skew_measure
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


@spacelib("3.2", "gravity as an acceleration matrix", "matrix_method.gravity_matrix([gx, gy, gz])", maple="gtoM")
def gtom(gx: SCALAR, gy: SCALAR, gz: SCALAR) -> Array:
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


@spacelib("3.2", "angular acceleration of the block G", "rotation.axial(G[:3, :3])", c="Gtomegapto")
def gtomgapt(G: BLOCK) -> Array:
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


@spacelib(
    "3.2", "L of a joint about a direction", "matrix_method.velocity_matrix(u, pitch * u - np.cross(u, P[:3]))", c="makeL"
)
def makel(jtype: JOINT, u: VECTOR, pitch: SCALAR, P: POINT) -> Array:
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


@spacelib(
    "3.2",
    "L of a joint about a frame axis",
    "matrix_method.velocity_matrix([0, 0, 1], -np.cross([0, 0, 1], P[:3]))",
    c="makeL2",
)
def makel2(jtype: JOINT, a: AXIS, pitch: SCALAR, P: POINT) -> Array:
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


@spacelib("3.2", "L of a velocity matrix", "W / np.linalg.norm(rotation.axial(W[:3, :3]))", c="WtoL")
@function(refuse=(NOT_SKEW,))
def wtol(W: MOTION) -> Any:
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
    screw = W / select(turns, select(omega, omega, 1.0), select(speed, speed, 1.0))
    screw[:3, :3] = chosen(turns, screw[:3, :3], np.zeros((3, 3)))
    return screw, skew_measure(W)


@spacelib("3.2", "screw of a velocity matrix", c="Wtovel")
@function(refuse=(NOT_SKEW,))
def wtovel(W: MOTION) -> tuple[Any, ...]:
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


@spacelib("3.2", "W and H of a joint about its z axis", "arm.motion(q, qd, qdd)", c="velacctoWH", maple="velactoWH")
def veactowh(jtype: JOINT, qp: SCALAR, qpp: SCALAR) -> tuple[Array, Array]:
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


@spacelib("3.2", "W and H of a joint about a frame axis", "arm.motion(q, qd, qdd)", c="velacctoWH2", maple="velactoWH2")
def vactowh2(jtype: JOINT, a: AXIS, qp: SCALAR, qpp: SCALAR) -> tuple[Array, Array]:
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


@spacelib(
    "3.2", "W and H of a joint about an axis through a point", "arm.motion(q, qd, qdd)", c="velacctoWH3", maple="velactoWH3"
)
def vactowh3(jtype: JOINT, a: AXIS, qp: SCALAR, qpp: SCALAR, O: POINT) -> tuple[Array, Array]:  # noqa: E741
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


@spacelib("3.2", "theorem of Coriolis", "matrix_method.compose_acceleration(H0, H1, W0, W1)")
def coriolis(H0: MAT4, H1: MAT4, W0: MAT4, W1: MAT4) -> Array:
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


__all__ = exported(__name__)  # noqa: PLE0605
