"""Position and rototranslation matrices, frames (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, 3.1 and 3.6).

Axis a1 goes along the first direction, axis a2 lies in the plane of both, on the side of the second; the third makes the
frame right handed. The manual puts the third axis along the product of the first direction and the second for every pair of
axes. That is so for the pairs (X, Y), (Y, Z) and (Z, X); for the others the axis goes against the product, as else the frame
would be left handed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import U
from linkwise.spacelib.function import exported, function, spacelib
from linkwise.spacelib.kinds import AXIS, BLOCK, JOINT, MOVING_AXIS, POINT, POSITION, SCALAR, VECTOR, shape_of
from linkwise.spacelib.lines import as_point
from linkwise.spatial.lines import blur_of, right_handed, spread, within
from linkwise.spatial.rotation import rotation_error, rotation_of_axis
from linkwise.spatial.scalar import Array, array, blank, greatest, select
from linkwise.spatial.screw import (
    FARTHEST,
    SLOWEST,
    angular_size,
    rotation_screw,
    screw_rotation,
    screw_transform,
    transform_screw,
)
from linkwise.spatial.transform import dh_standard, transform
from linkwise.spatial.vector import unit

#: Tolerance of R'R = 1 (Frobenius norm): a rotation printed with two decimals is nearer.
COARSE = 0.1

NO_ROTATION = f"the 3x3 block is not a rotation: R'R is off the identity by {COARSE} or more, or the determinant is negative"


NOT_SKEW = f"the 3x3 block of W is no angular velocity: its symmetric part is {COARSE} of its skew-symmetric part or more"


def skew_measure(W: Array) -> Any:
    """Above zero where the upper left block of a velocity matrix is skew-symmetric but for `COARSE`, or rounding, or null.

    A block whose size is up to that of rounding (`linkwise.spatial.screw.SLOWEST`) is what sums of velocities leave where
    the angular ones cancel; it need not be skew-symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> [bool(skew_measure(size * np.eye(4)) > 0) for size in (0.0, 1.0, 1e-16)]
    [True, False, True]
    """
    skew, odd = angular_size(W)
    linear = sum((abs(W[k, 3]) for k in (1, 2)), abs(W[0, 3]))
    return select(odd, COARSE * skew + greatest(SLOWEST, FARTHEST * linear) - odd, 1.0)


def rotation_measure(block: Array) -> Any:
    """Above zero where the upper left block of a matrix is a rotation but for `COARSE`.

    Examples
    --------
    >>> import numpy as np
    >>> bool(rotation_measure(np.eye(4)) > 0), bool(rotation_measure(-np.eye(3)) > 0)
    (True, False)
    """
    return COARSE - rotation_error(block)


@spacelib("3.1", "extended Denavit-Hartenberg parameters to matrix", "transform.dh_standard(theta, d, a, alpha, b)")
def dhtom(jtype: JOINT, theta: SCALAR, d: SCALAR, b: SCALAR, a: SCALAR, alpha: SCALAR, q: SCALAR) -> Array:
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


@spacelib("3.1", "Denavit-Hartenberg parameters to matrix", "transform.dh_standard(theta, d, a, alpha)", c="DHtoMstd")
def dhtomstd(theta: SCALAR, d: SCALAR, a: SCALAR, alpha: SCALAR) -> Array:
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


@spacelib("3.1", "axis and angle of a rotation", "Rotation.from_matrix(R).as_rotvec()")
@function(refuse=(NO_ROTATION,))
def extract(A: BLOCK) -> tuple[Any, ...]:
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


@spacelib("3.1", "screw of a rototranslation", maple="Mtoscrew")
@function(refuse=(NO_ROTATION,))
def mtoscrew(Q: POSITION) -> tuple[Any, ...]:
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


@spacelib("3.1", "rototranslation of a screw", maple="screwtoM", note="C takes h before P; both orders are taken.")
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


@function()
def _screwtom(u: VECTOR, phi: SCALAR, P: POINT, h: SCALAR) -> Array:
    return screw_transform(u, phi, P[:3], h)


@spacelib("3.1", "rotation about a direction", "rotation.rotation_about(u, phi)")
def rotat(u: VECTOR, phi: SCALAR) -> Array:
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


@spacelib("3.1", "rotation about a frame axis", "rotation.rotation_z(phi)", c="rotat2 rotat23")
def rotat2(a: AXIS, phi: SCALAR) -> Array:
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


@spacelib(
    "3.1", "frame put at a point, then turned about its own axis", "transform.transform(rotation.rotation_z(phi), O[:3])"
)
def rotat24(a: AXIS, phi: SCALAR, O: POINT) -> Array:  # noqa: E741
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


@spacelib(
    "3.1",
    "frame put at a point, then turned about the base's axis",
    "transform.transform(rotation.rotation_z(phi)) @ transform.translation(*O[:3])",
)
def rotat34(a: AXIS, phi: SCALAR, O: POINT) -> Array:  # noqa: E741
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


@spacelib("3.1", "translation along a direction", "transform.translation(*(h * u))")
def traslat(u: VECTOR, h: SCALAR) -> Array:
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


@spacelib("3.1", "translation along a frame axis", "transform.translation(z=h)")
def traslat2(a: AXIS, h: SCALAR) -> Array:
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


@spacelib("3.1", "translation of a point along a frame axis", "transform.translation(*P[:3]) @ transform.translation(z=h)")
def traslat24(a: AXIS, h: SCALAR, P: POINT) -> Array:
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
    """True if an argument has the shape of a point, or of many."""
    shape = shape_of(value)
    return bool(shape) and (shape[-1] in (3, 4) or (len(shape) >= 2 and shape[-1] == 1 and shape[-2] in (3, 4)))


_NO_TRIANGLE = ("P1, P2 and P3 are more than 1e70 apart", "P1, P2 and P3 lie on one line")
_NO_PLANE = ("v1 or v2 is longer than 1e70", "v1 and v2 are parallel, or one is null")


@spacelib("3.6", "rotation of a frame from three points", c="frameP frameP3 frameP4")
@function(refuse=_NO_TRIANGLE)
def framep(P1: POINT, P2: POINT, P3: POINT, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Rotation matrix of a frame on three points (manual, section 3.6).

    Axis a1 goes from P1 to P2; axis a2 lies in the plane of the points, on the side of P3.

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.
    a1, a2 : int
        Two different axes: `X`, `Y` or `Z`. The third makes the frame right handed, whatever their order.

    Returns
    -------
    ndarray (..., 3, 3)
        The frame's axes as columns.

    Raises
    ------
    ArgumentError
        Where the points lie on one line: the sine of the angle at P1 is up to 1e-9, or within the rounding of the
        coordinates; or where two are less than 1e-70 or more than 1e70 apart.

    Examples
    --------
    >>> framep([5, 4, 3, 1], [5, 6, 4, 1], [5, 5, 5, 1], X, Y).round(3).tolist()
    [[0.0, 0.0, 1.0], [0.894, -0.447, 0.0], [0.447, 0.894, 0.0]]
    """
    return _on_points("framep", P1, P2, P3, a1, a2)


@spacelib("3.6", "frame from three points", c="frame4P")
@function(refuse=_NO_TRIANGLE)
def frame4p(P1: POINT, P2: POINT, P3: POINT, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Position matrix of a frame on three points, its origin in the first (manual, section 3.6).

    Parameters
    ----------
    P1, P2, P3 : (..., 4) array_like
        The points, m.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the points lie on one line, as for `framep`.

    Examples
    --------
    >>> frame4p([0, 1, 2, 1], [0, 6, 2, 1], [0, 1, 6, 1], Y, Z).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 2.0], [0.0, 0.0, 0.0, 1.0]]
    """
    rotation, *measures = _on_points("frame4p", P1, P2, P3, a1, a2)
    return transform(rotation, P1[:3]), *measures


@spacelib("3.6", "rotation of a frame from two vectors", c="frameV frameV3 frameV4")
@function(refuse=_NO_PLANE)
def framev(v1: VECTOR, v2: VECTOR, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Rotation matrix of a frame on two vectors (manual, section 3.6).

    Axis a1 goes along v1; axis a2 lies in the plane of both, on the side of v2.

    Parameters
    ----------
    v1, v2 : (..., 3) array_like
        The vectors; their lengths do not matter.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        Where the vectors are parallel, the sine of their angle up to 1e-9, or one is null, its length not above 1e-70, or
        longer than 1e70.

    Examples
    --------
    >>> R = framev([0, 2, 0], [0, 1, 2], Z, Y)
    >>> (R @ Zaxis).tolist(), (R @ Yaxis).tolist(), (R @ Xaxis).tolist()
    ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0])
    """
    return _axes("framev", v1, v2, a1, a2), within(v1, v2), spread(v1, v2)


@spacelib("3.6", "frame from a point and two vectors", c="frame4V")
@function(refuse=_NO_PLANE)
def frame4v(P1: POINT, v1: VECTOR, v2: VECTOR, a1: MOVING_AXIS, a2: MOVING_AXIS) -> Any:
    """Position matrix of a frame on a point and two vectors (manual, section 3.6).

    Parameters
    ----------
    P1 : (..., 4) array_like
        The origin, m.
    v1, v2 : (..., 3) array_like
        The vectors; their lengths do not matter.
    a1, a2 : int
        As for `framep`.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where the vectors are parallel or null, as for `framev`.

    Examples
    --------
    >>> (frame4v([5, 4, 3], [0, 3, 0], [2, 1, 0], Y, X) @ [1, 1, 1, 1]).tolist()
    [6.0, 5.0, 4.0, 1.0]
    """
    return transform(_axes("frame4v", v1, v2, a1, a2), P1[:3]), within(v1, v2), spread(v1, v2)


@spacelib("3.6", "unit vector of an axis", "np.eye(3)[n]", c="axis", maple="Axis axis")
@function(direct=True)
def aaxis(n: MOVING_AXIS) -> Array:
    """Unit vector of an axis of the frame (manual, section 3.6).

    Parameters
    ----------
    n : int
        `X`, `Y` or `Z`.

    Returns
    -------
    ndarray (3,)

    Raises
    ------
    ArgumentError
        For another axis.

    Examples
    --------
    >>> aaxis(Y).tolist()
    [0.0, 1.0, 0.0]
    """
    direction = np.zeros(3)
    direction[n] = 1.0
    return direction


def _on_points(name: str, p1: Array, p2: Array, p3: Array, a1: int, a2: int) -> tuple[Array, Any, Any]:
    """Axes from three points, and measures: that they are not too far apart, and not on one line."""
    first, second = p2[:3] - p1[:3], p3[:3] - p1[:3]
    measure = spread(first, second, blur_of(p1[:3], p2[:3], p3[:3]))
    return _axes(name, first, second, a1, a2), within(first, second), measure


def _axes(name: str, first: Array, second: Array, a1: int, a2: int) -> Array:
    """The axes as columns: a1 along the first vector, a2 on the side of the second."""
    if a1 == a2:
        raise ArgumentError(f"{name}: a1 and a2 are both {'XYZ'[a1]} ({a1}); expected two different axes")
    axes = blank(3, 3)
    axes[:, a1], axes[:, a2], across = right_handed(first, second)
    axes[:, 3 - a1 - a2] = across if (a2 - a1) % 3 == 1 else -across
    return array(axes)


__all__ = exported(__name__)  # noqa: PLE0605
