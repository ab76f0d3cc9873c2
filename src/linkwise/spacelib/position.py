"""Position, rotation and rototranslation matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.spacelib.constants import U
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import AXIS, BLOCK, JOINT, POINT, POSITION, SCALAR, VECTOR, shape_of
from linkwise.spacelib.points import as_point
from linkwise.spacelib.rotations import NO_ROTATION, rotation_measure
from linkwise.spatial.rotation import rotation_of_axis
from linkwise.spatial.scalar import Array
from linkwise.spatial.screw import rotation_screw, screw_rotation, screw_transform, transform_screw
from linkwise.spatial.transform import dh_standard, transform
from linkwise.spatial.vector import unit


@function(jtype=JOINT, theta=SCALAR, d=SCALAR, b=SCALAR, a=SCALAR, alpha=SCALAR, q=SCALAR)
def dhtom(jtype: int, theta: Any, d: Any, b: Any, a: Any, alpha: Any, q: Any) -> Array:
    """Position matrix of a link from the extended Denavit-Hartenberg parameters.

    Rz(theta) Tz(d) Tx(a) Ty(b) Rx(alpha), with q added to theta for `Rev` and to d for `Pri` (manual, section 3.1, eq. 3.1).

    Parameters
    ----------
    jtype : int
        `Rev` or `Pri`.
    theta, alpha : (...) array_like
        Angles about z and x, rad.
    d, b, a : (...) array_like
        Shifts along z, y and x, m.
    q : (...) array_like
        Joint coordinate, rad or m.

    Returns
    -------
    ndarray (..., 4, 4)
        Frame (i) seen in frame (i-1).

    Raises
    ------
    ArgumentError
        For another kind of joint.

    Examples
    --------
    >>> dhtom(Pri, 0.0, 0.5, 0.0, 0.2, 0.0, 0.1)[:3, 3].tolist()
    [0.2, 0.0, 0.6]
    """
    if jtype:
        return dh_standard(theta, d + q, a, alpha, b)
    return dh_standard(theta + q, d, a, alpha, b)


@function(theta=SCALAR, d=SCALAR, a=SCALAR, alpha=SCALAR)
def dhtomstd(theta: Any, d: Any, a: Any, alpha: Any) -> Array:
    """Position matrix of a link from the four standard Denavit-Hartenberg parameters: Rz(theta) Tz(d) Tx(a) Rx(alpha).

    `dhtom` with b = 0 (manual, section 3.1); the joint coordinate is theta or d itself.

    Parameters
    ----------
    theta, alpha : (...) array_like
        Angles about z and x, rad.
    d, a : (...) array_like
        Shifts along z and x, m.

    Returns
    -------
    ndarray (..., 4, 4)
        Frame (i) seen in frame (i-1).

    Examples
    --------
    >>> dhtomstd(0.0, 0.5, 0.2, 0.0)[:3, 3].tolist()
    [0.2, 0.0, 0.5]
    """
    return dh_standard(theta, d, a, alpha)


@function(refuse=(NO_ROTATION,), A=BLOCK)
def extract(A: Any) -> tuple[Any, ...]:
    """Axis and angle of a rotation matrix: the inverse of `rotat`.

    The angle is the one of atan2(|w|, (trace - 1) / 2), w the vector of the skew part; both results keep all digits from no
    turn at all up to a half turn (manual, section 3.1).

    Parameters
    ----------
    A : (..., 3, 3) array_like
        A rotation, or a larger matrix with it as its upper left block.

    Returns
    -------
    u : ndarray (..., 3)
        Unit vector. Where nothing turns it is undefined in the manual; here it is zero. At a half turn both senses do; the
        first component that is not zero is positive.
    phi : ndarray (...)
        Angle, rad, 0 to pi.

    Raises
    ------
    ArgumentError
        For a matrix that is far from a rotation: one printed with two decimals passes, and is taken as it is (`normal` mends
        it before).

    Examples
    --------
    >>> u, phi = extract([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    >>> u.tolist(), round(float(phi), 9)
    ([0.0, 0.0, -1.0], 1.570796327)
    >>> u, phi = extract(UNIT3)
    >>> u.tolist(), float(phi)
    ([0.0, 0.0, 0.0], 0.0)
    """
    return *rotation_screw(A), rotation_measure(A)


@function(refuse=(NO_ROTATION,), Q=POSITION)
def mtoscrew(Q: Any) -> tuple[Any, ...]:
    """Screw parameters of a rototranslation matrix: the inverse of `screwtom` (manual, section 3.1).

    Parameters
    ----------
    Q : (..., 4, 4) array_like
        Rototranslation.

    Returns
    -------
    u : ndarray (..., 3)
        Unit vector of the axis, as `extract` gives it.
    phi : ndarray (...)
        Angle, rad, 0 to pi.
    P : ndarray (..., 4)
        The point of the axis nearest to the origin.
    h : ndarray (...)
        Displacement along u, m.

    Raises
    ------
    ArgumentError
        Where the upper left block is far from a rotation, as for `extract`.

    Notes
    -----
    Of a pure translation the manual says nothing: here u is along it, phi = 0, P is the origin and h the distance, as
    `wtovel` has it. The identity gives u = 0 and h = 0. A rotation of up to 1.4e-14 rad counts as none where it is less than
    a thousand times the rounding that the matrix shows.

    Examples
    --------
    >>> u, phi, P, h = mtoscrew([[0, 1, 0, 2], [-1, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    >>> u.tolist(), round(float(phi), 9), P.tolist(), float(h)
    ([0.0, 0.0, -1.0], 1.570796327, [1.0, -1.0, 0.0, 1.0], 0.0)
    """
    u, phi, point, h = transform_screw(Q)
    return u, phi, as_point(point), h, rotation_measure(Q)


def screwtom(u: Any, phi: Any, P: Any, h: Any) -> Any:
    """Rototranslation matrix of a screw displacement: the inverse of `mtoscrew` (manual, section 3.1).

    Parameters
    ----------
    u : (..., 3) array_like
        Direction of the axis; its length does not matter. Zero gives the identity.
    phi : (...) array_like
        Angle, rad.
    P : (..., 4) array_like
        A point of the axis.
    h : (...) array_like
        Displacement along u, m. The C release has it before P: that order is taken too, where the third argument is a number
        and the fourth one a point.

    Returns
    -------
    ndarray (..., 4, 4)

    Examples
    --------
    >>> screwtom(Zaxis_n, PIG_2, [1, -1, 0, 1], 0.5).round(9).tolist()[0]
    [0.0, 1.0, 0.0, 2.0]
    >>> bool((screwtom(Zaxis_n, PIG_2, 0.5, [1, -1, 0, 1]) == screwtom(Zaxis_n, PIG_2, [1, -1, 0, 1], 0.5)).all())
    True
    """
    if _is_point(h) and not _is_point(P):
        P, h = h, P
    return _screwtom(u, phi, P, h)


def _screw(u: Any, phi: Any, P: Any, h: Any) -> Array:
    return screw_transform(u, phi, P[:3], h)


_screw.__name__ = screwtom.__name__
_screwtom = function(u=VECTOR, phi=SCALAR, P=POINT, h=SCALAR)(_screw)


@function(u=VECTOR, phi=SCALAR)
def rotat(u: Any, phi: Any) -> Array:
    """Rotation matrix of a turn about an axis through the origin, by Rodrigues' formula (manual, section 3.1).

    Parameters
    ----------
    u : (..., 3) array_like
        Direction of the axis; its length does not matter. Zero gives the identity.
    phi : (...) array_like
        Angle, rad.

    Returns
    -------
    ndarray (..., 3, 3)

    Examples
    --------
    >>> rotat(Zaxis_n, PIG_2).round(9).tolist()
    [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    """
    return screw_rotation(u, phi)


@function(a=AXIS, phi=SCALAR)
def rotat2(a: int, phi: Any) -> Array:
    """Rotation matrix of a turn about an axis of the frame (manual, section 3.1).

    Parameters
    ----------
    a : int
        `X`, `Y` or `Z`; `U` does not turn.
    phi : (...) array_like
        Angle, rad.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> rotat2(X, PIG_2).round(9).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    return turned(a, phi)


@function(a=AXIS, phi=SCALAR, O=POINT)
def rotat24(a: int, phi: Any, O: Any) -> Array:  # noqa: E741
    """Position matrix of a frame put at a point, then turned about its own axis (manual, section 3.1).

    Parameters
    ----------
    a : int
        `X`, `Y` or `Z`; `U` does not turn.
    phi : (...) array_like
        Angle, rad.
    O : (..., 4) array_like
        Where the origin is.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> rotat24(Z, PIG_2, [1.0, 2.0, 3.0, 1.0])[:, U].tolist()
    [1.0, 2.0, 3.0, 1.0]
    """
    return transform(turned(a, phi), O[:3])


@function(a=AXIS, phi=SCALAR, O=POINT)
def rotat34(a: int, phi: Any, O: Any) -> Array:  # noqa: E741
    """Position matrix of a frame put at a point, then turned, origin and all, about the axis of the base frame.

    The origin comes to R O (manual, section 3.1).

    Parameters
    ----------
    a : int
        `X`, `Y` or `Z`; `U` does not turn.
    phi : (...) array_like
        Angle, rad.
    O : (..., 4) array_like
        Where the origin is before the turn.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> rotat34(Z, PIG_2, [1.0, 2.0, 3.0, 1.0])[:, U].round(9).tolist()
    [-2.0, 1.0, 3.0, 1.0]
    """
    rotation = turned(a, phi)
    return transform(rotation, rotation @ O[:3])


@function(u=VECTOR, h=SCALAR)
def traslat(u: Any, h: Any) -> Array:
    """Translation matrix along a vector (manual, section 3.1).

    Parameters
    ----------
    u : (..., 3) array_like
        Direction; its length does not matter. Zero gives the identity.
    h : (...) array_like
        Distance, m.

    Returns
    -------
    ndarray (..., 4, 4)

    Examples
    --------
    >>> traslat([0.0, 3.0, 4.0], 2.0)[:, U].tolist()
    [0.0, 1.2, 1.6, 1.0]
    """
    axis, _ = unit(u)
    return transform(None, h * axis)


@function(a=AXIS, h=SCALAR)
def traslat2(a: int, h: Any) -> Array:
    """Translation matrix along an axis of the frame (manual, section 3.1).

    Parameters
    ----------
    a : int
        `X`, `Y` or `Z`; `U` does not move.
    h : (...) array_like
        Distance, m.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> traslat2(Y, 2.0)[:, U].tolist()
    [0.0, 2.0, 0.0, 1.0]
    """
    return transform(None, along(a) * h)


@function(a=AXIS, h=SCALAR, P=POINT)
def traslat24(a: int, h: Any, P: Any) -> Array:
    """Position matrix of a frame put at a point, then moved along an axis (manual, section 3.1).

    Parameters
    ----------
    a : int
        `X`, `Y` or `Z`; `U` does not move.
    h : (...) array_like
        Distance, m.
    P : (..., 4) array_like
        Where the origin is before.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> traslat24(Y, 2.0, [1.0, 1.0, 1.0])[:, U].tolist()
    [1.0, 3.0, 1.0, 1.0]
    """
    return transform(None, P[:3] + along(a) * h)


def turned(a: int, phi: Any) -> Array:
    """The rotation about an axis by its number; the identity for `U`."""
    return np.eye(3) if a == U else rotation_of_axis(a, phi)


def along(a: int) -> Array:
    """The direction (3,) of an axis by its number; zero for `U`."""
    return np.zeros(3) if a == U else np.eye(3)[a]


def _is_point(value: Any) -> bool:
    """Whether an argument has the shape of a point, or of many."""
    shape = shape_of(value)
    return bool(shape) and (shape[-1] in (3, 4) or (len(shape) >= 2 and shape[-1] == 1 and shape[-2] in (3, 4)))
