"""Rates of Cardan and Euler angles, and the matrices W and H.

G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.5.2. The axes i, j, k are those of
`linkwise.spacelib.cardan.cardator`; angular velocity and acceleration are in the fixed frame.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.cardan import TRIPLE
from linkwise.spacelib.function import bind, function
from linkwise.spacelib.kinds import MOTION, MOVING_AXIS, POINT, POSITION
from linkwise.spacelib.rotations import NO_ROTATION, NOT_SKEW, rotation_measure, skew_measure
from linkwise.spatial.cardan import (
    cardan_angles,
    cardan_product_matrix,
    cardan_rate_inverse,
    cardan_rate_matrix,
    rate_products,
)
from linkwise.spatial.matrix_method import acceleration_matrix, velocity_matrix
from linkwise.spatial.rotation import axial, cross, skew
from linkwise.spatial.scalar import Array, array, select

LOCKED = (
    "the angles are locked: the cosine (Cardan) or sine (Euler) of the middle one is zero, and the rates are undetermined"
)


@function(q=TRIPLE, qp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)
def cardtoom(q: Any, qp: Any, i: int, j: int, k: int) -> Array:
    """Angular velocity from Cardan or Euler angles and their rates: A(q) q', with A from `cardatol` (manual, section 3.5.2).

    Parameters
    ----------
    q, qp : (..., 3) array_like
        The three angles, rad, and their rates, rad/s.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    ndarray (..., 3)
        In the fixed frame, rad/s.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardtoom([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], Z, Y, X).tolist()
    [3.0, 2.0, 1.0]
    """
    return np.asarray(cardan_rate_matrix(q, i, j, k) @ qp)


def cardtome(q: Any, qp: Any, *args: Any, **named: Any) -> Array:
    """Angular velocity as a skew-symmetric matrix, from Cardan or Euler angles and their rates (manual, section 3.5.2).

    Called as cardtome(q, qp, i, j, k), or as cardtome(q, qp, qpp, i, j, k) like the signature that the manual prints; the
    second derivatives play no part, and the manual's example 3.20 leaves them out.

    Parameters
    ----------
    q, qp : (..., 3) array_like
        The three angles, rad, and their rates, rad/s.
    qpp : (..., 3) array_like, optional
        Second derivatives, rad/s2, before the axes or by name.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    ndarray (..., 3, 3)
        In the fixed frame, rad/s.

    Raises
    ------
    ArgumentError
        Where j is i or k, or the number of arguments is another.

    Examples
    --------
    >>> cardtome([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], Z, Y, X).tolist()
    [[0.0, -1.0, 2.0], [1.0, 0.0, -3.0], [-2.0, 3.0, 0.0]]
    >>> cardtome([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], i=Z, j=Y, k=X)[0].tolist()
    [0.0, -1.0, 2.0]
    """
    count = 2 + len(args) + len(named)
    if count not in (5, 6):
        raise ArgumentError(f"cardtome: the number of arguments is {count}; expected q, qp, i, j, k or q, qp, qpp, i, j, k")
    bound = bind("cardtome", _WITH_QPP if count == 6 else _WITHOUT_QPP, (q, qp, *args), named)
    if count == 6:
        TRIPLE.read("cardtome: qpp", bound.arguments.pop("qpp"))
    return _cardtome(*bound.arguments.values())


def _omega_matrix(q: Any, qp: Any, i: int, j: int, k: int) -> Array:
    return skew(cardan_rate_matrix(q, i, j, k) @ qp)


_WITHOUT_QPP = signature(lambda q, qp, i, j, k: None)
_WITH_QPP = signature(lambda q, qp, qpp, i, j, k: None)
cardtome.__signature__ = _WITHOUT_QPP  # type: ignore[attr-defined]
_omega_matrix.__name__ = "cardtome"
_cardtome = function(q=TRIPLE, qp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)(_omega_matrix)


@function(q=TRIPLE, qp=TRIPLE, qpp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)
def cardompt(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int) -> Array:
    """Angular acceleration from Cardan or Euler angles and their derivatives (manual, section 3.5.2).

    A q'' + B (q2' q3', q1' q3', q1' q2'), with A from `cardatol` and B from `cardtowp`.

    Parameters
    ----------
    q, qp, qpp : (..., 3) array_like
        The three angles, rad, and their first and second derivatives, rad/s and rad/s2.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    ndarray (..., 3)
        In the fixed frame, rad/s2.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardompt([0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0], X, Y, Z).tolist()
    [0.0, 0.0, 5.0]
    """
    return _acceleration(q, qp, qpp, i, j, k)


@function(q=TRIPLE, qp=TRIPLE, qpp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)
def cardatog(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int) -> Array:
    """Angular acceleration matrix G = Omega' + Omega^2 from Cardan or Euler angles (manual, section 3.5.2, eq. 3.15).

    Omega is the skew-symmetric matrix of the angular velocity.

    Parameters
    ----------
    q, qp, qpp : (..., 3) array_like
        The three angles, rad, and their first and second derivatives, rad/s and rad/s2.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    ndarray (..., 3, 3)
        In the fixed frame, rad/s2.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardatog([0.0, 0.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0], X, Y, Z).tolist()
    [[-4.0, -3.0, 0.0], [7.0, -1.0, 0.0], [0.0, 0.0, -5.0]]
    """
    return _spin_matrix(q, qp, qpp, i, j, k)


@function(q=TRIPLE, qp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, O=POINT)
def cardatow(q: Any, qp: Any, i: int, j: int, k: int, O: Any) -> Array:  # noqa: E741
    """Velocity matrix W of a frame that turns about a point at rest (manual, section 3.5.2).

    W = [Omega, -Omega O; 0, 0], so that O has no velocity. Where the origin of the frame moves, its velocity is to be added
    to the last column.

    Parameters
    ----------
    q, qp : (..., 3) array_like
        The three angles, rad, and their rates, rad/s.
    i, j, k : int
        The axes, as for `cardator`.
    O : (..., 4) array_like
        The origin of the frame, m.

    Returns
    -------
    ndarray (..., 4, 4)
        In the fixed frame.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardatow([0.0, 0.0, 0.0], [1.0, 2.0, 3.0], X, Y, Z, [1.0, 0.0, 0.0])[1].tolist()
    [3.0, 0.0, -1.0, -3.0]
    """
    omega = cardan_rate_matrix(q, i, j, k) @ qp
    return velocity_matrix(omega, cross(O[:3], omega))


@function(q=TRIPLE, qp=TRIPLE, qpp=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, O=POINT)
def cardatoh(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int, O: Any) -> Array:  # noqa: E741
    """Acceleration matrix H of a frame that turns about a point without acceleration (manual, section 3.5.2).

    H = [G, -G O; 0, 0] with G from `cardatog`, so that O has no acceleration. Where the origin of the frame is accelerated,
    its acceleration is to be added to the last column.

    Parameters
    ----------
    q, qp, qpp : (..., 3) array_like
        The three angles, rad, and their first and second derivatives, rad/s and rad/s2.
    i, j, k : int
        The axes, as for `cardator`.
    O : (..., 4) array_like
        The origin of the frame, m.

    Returns
    -------
    ndarray (..., 4, 4)
        In the fixed frame.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardatoh([0.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 0.0, 1.0], X, Y, Z, [1.0, 0.0, 0.0])[:2, U].tolist()
    [4.0, -1.0]
    """
    omega = cardan_rate_matrix(q, i, j, k) @ qp
    return acceleration_matrix(omega, _acceleration(q, qp, qpp, i, j, k), -(_spin_matrix(q, qp, qpp, i, j, k) @ O[:3]))


@function(m=POSITION, W=MOTION, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, refuse=(NO_ROTATION, LOCKED, NOT_SKEW))
def wtocarda(m: Any, W: Any, i: int, j: int, k: int) -> tuple[Any, ...]:
    """Both triples of Cardan or Euler angles and their rates, from position and velocity (manual, section 3.5.2).

    q' = Ai omega with Ai from `inva`, for column vectors; the manual's note has rows. The results alternate, other than
    those of `htocarda`.

    Parameters
    ----------
    m : (..., 4, 4) array_like
        Position matrix of the moving frame.
    W : (..., 4, 4) array_like
        Its velocity matrix in the fixed frame; the skew-symmetric part of the 3x3 block counts.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    q1, qp1, q2, qp2 : ndarray (..., 3)
        Angles, rad, and rates, rad/s, of the first solution, then of the second.

    Raises
    ------
    ArgumentError
        As for `rtocarda`, and in the lock, where no rates are determined. Near it rounding of m counts multiplied by one
        over the cosine (Cardan) or sine (Euler) of the middle angle.

    Examples
    --------
    >>> m = cardatom([0.1, 0.2, 0.3], X, Y, Z, ORIGIN)
    >>> q1, qp1, q2, qp2 = wtocarda(m, cardatow([0.1, 0.2, 0.3], [1.0, 2.0, 3.0], X, Y, Z, ORIGIN), X, Y, Z)
    >>> qp1.round(9).tolist(), qp2.round(9).tolist()
    ([1.0, 2.0, 3.0], [1.0, -2.0, 3.0])
    """
    first, second, inverse, measures = _solved(m, W, i, j, k)
    rates = inverse @ axial(W[:3, :3])
    return first, rates, second, _mirrored(rates), *measures


@function(
    m=POSITION, W=MOTION, H=MOTION, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, refuse=(NO_ROTATION, LOCKED, NOT_SKEW)
)
def htocarda(m: Any, W: Any, H: Any, i: int, j: int, k: int) -> tuple[Any, ...]:
    """Both triples of Cardan or Euler angles with their first and second derivatives (manual, section 3.5.2).

    q'' = Ai (omega' - B (q2' q3', q1' q3', q1' q2')), with Ai from `inva` and B from `cardtowp`.

    Parameters
    ----------
    m : (..., 4, 4) array_like
        Position matrix of the moving frame.
    W, H : (..., 4, 4) array_like
        Its velocity and acceleration matrices in the fixed frame; the skew-symmetric parts of the 3x3 blocks count.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    q1, q2, qp1, qp2, qpp1, qpp2 : ndarray (..., 3)
        Angles of both solutions, rad, their rates, rad/s, and second derivatives, rad/s2.

    Raises
    ------
    ArgumentError
        As for `wtocarda`.

    Examples
    --------
    >>> q, qp, qpp = [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [4.0, 5.0, 6.0]
    >>> given = cardatom(q, Z, X, Z, ORIGIN), cardatow(q, qp, Z, X, Z, ORIGIN), cardatoh(q, qp, qpp, Z, X, Z, ORIGIN)
    >>> htocarda(*given, Z, X, Z)[4].round(9).tolist()
    [4.0, 5.0, 6.0]
    """
    first, second, inverse, measures = _solved(m, W, i, j, k)
    rates = inverse @ axial(W[:3, :3])
    carried = cardan_product_matrix(first, i, j, k) @ rate_products(rates)
    seconds = inverse @ (axial(H[:3, :3]) - carried)
    return first, second, rates, _mirrored(rates), seconds, _mirrored(seconds), *measures


def _acceleration(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int) -> Array:
    """The angular acceleration (3,)."""
    return np.asarray(cardan_rate_matrix(q, i, j, k) @ qpp + cardan_product_matrix(q, i, j, k) @ rate_products(qp))


def _spin_matrix(q: Any, qp: Any, qpp: Any, i: int, j: int, k: int) -> Array:
    """G (3, 3)."""
    omega = skew(cardan_rate_matrix(q, i, j, k) @ qp)
    return np.asarray(skew(_acceleration(q, qp, qpp, i, j, k)) + omega @ omega)


def _solved(m: Any, W: Any, i: int, j: int, k: int) -> tuple[Array, Array, Array, tuple[Any, ...]]:
    """Both triples of angles, the inverse of A for the first, and what must be above zero of the matrices."""
    r = m[:3, :3]
    first, second, free = cardan_angles(r, i, j, k)
    inverse, invertible = cardan_rate_inverse(first[0], first[1], i, j, k)
    return first, second, inverse, (rotation_measure(r), select(free, invertible, -1.0), skew_measure(W))


def _mirrored(rates: Array) -> Array:
    """The derivatives of the second solution: its middle angle runs backwards."""
    return array([rates[0], -rates[1], rates[2]])
