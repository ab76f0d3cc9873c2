"""Cardan and Euler angles (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.5).

The axes i, j, k are `X`, `Y` or `Z`, j other than i and k: three different ones make Cardan angles, k = i Euler angles. The
turns are about axes of the moving frame, in this order: R = R_i(q1) R_j(q2) R_k(q3), which are SciPy's sequences in capital
letters. The header of the manual's table 3.2 speaks of fixed axes; its examples 3.16 and 3.17 decide.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.constants import X, Y, Z
from linkwise.spacelib.function import bind, exported, function, spacelib
from linkwise.spacelib.kinds import BLOCK, MOTION, MOVING_AXIS, POINT, POSITION, SCALAR, SIGN, SIZE, TRIPLE, read
from linkwise.spacelib.position import NO_ROTATION, NOT_SKEW, rotation_measure, skew_measure
from linkwise.spatial.cardan import (
    cardan_angles,
    cardan_product_matrix,
    cardan_rate_inverse,
    cardan_rate_matrix,
    cardan_rotation,
    rate_products,
    sequence,
)
from linkwise.spatial.matrix_method import acceleration_matrix, velocity_matrix
from linkwise.spatial.rotation import axial, cross, skew
from linkwise.spatial.scalar import Array, array, blank, select
from linkwise.spatial.transform import transform


@spacelib(
    "3.5",
    "angles to rotation",
    'Rotation.from_euler("XYZ", q).as_matrix()',
    c="cardantor cardantor3 cardantor4",
    maple="cardantoR",
)
def cardator(q: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
    """Rotation matrix from Cardan or Euler angles: R_i(q1) R_j(q2) R_k(q3) (manual, section 3.5.1).

    Parameters
    ----------
    q : (..., 3) array_like
        The three angles, rad.
    i, j, k : int
        `X`, `Y` or `Z`: the axes of the moving frame about which it turns, one after the other.

    Returns
    -------
    ndarray (..., 3, 3)
        The moving frame seen in the fixed one.

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardator([0.1, 0.2, 0.3], X, Y, Z).round(4).tolist()
    [[0.9363, -0.2896, 0.1987], [0.313, 0.9447, -0.0978], [-0.1593, 0.1538, 0.9752]]
    """
    return cardan_rotation(q, i, j, k)


@spacelib(
    "3.5",
    "rotation to angles, both solutions",
    'Rotation.from_matrix(R).as_euler("XYZ")',
    c="rtocardan rtocardan3 rtocardan4",
    maple="Rtocardan",
)
@function(refuse=(NO_ROTATION,))
def rtocarda(R: BLOCK, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> tuple[Any, ...]:
    """Both triples of Cardan or Euler angles of a rotation matrix (manual, section 3.5.1).

    The first has its middle angle in [-pi/2, pi/2] (Cardan) or [0, pi] (Euler); the second is (a + pi, pi - b, c + pi) or
    (a + pi, -b, c + pi). All are in (-pi, pi]. The middle angle is the arc sine or cosine of one element of the matrix where
    that is less than 0.95, as the digits of the manual's example 3.16 show, and near the lock an arc tangent.

    In the lock, where the cosine (Cardan) or sine (Euler) of the middle angle is below 1.5e-14, only the sum or the
    difference of the outer angles is determined: then the third is 0 and both triples are the same.

    Parameters
    ----------
    R : (..., 3, 3) array_like
        The moving frame seen in the fixed one; of a larger matrix, its upper left block.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    q1, q2 : ndarray (..., 3)
        Angles, rad.

    Raises
    ------
    ArgumentError
        Where j is i or k, or the matrix is not a rotation: R'R off the identity by 0.1 or more (Frobenius norm), or a
        negative determinant. A matrix printed with two digits passes.

    Examples
    --------
    >>> q1, q2 = rtocarda(cardator([0.1, 0.2, 0.3], X, Y, Z), X, Y, Z)
    >>> q1.round(9).tolist(), (q2 + [PIG, -PIG, PIG]).round(9).tolist()
    ([0.1, 0.2, 0.3], [0.1, -0.2, 0.3])
    """
    first, second, _ = cardan_angles(R, i, j, k)
    return first, second, rotation_measure(R)


@spacelib(
    "3.5",
    "angles and origin to matrix",
    'transform.transform(Rotation.from_euler("XYZ", q).as_matrix(), O[:3])',
    c="cardantoM",
)
def cardatom(q: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS, O: POINT) -> Array:  # noqa: E741
    """Position matrix of a frame from its Cardan or Euler angles and its origin (manual, section 3.5.1).

    Parameters
    ----------
    q : (..., 3) array_like
        The three angles, rad.
    i, j, k : int
        The axes, as for `cardator`.
    O : (..., 4) array_like
        Where the origin is, m.

    Returns
    -------
    ndarray (..., 4, 4)

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardatom([0.0, 0.0, 0.0], X, Z, Y, [1.0, 2.0, 3.0, 1.0])[:3, U].tolist()
    [1.0, 2.0, 3.0]
    """
    return transform(cardan_rotation(q, i, j, k), O[:3])


@spacelib("3.5", "matrix to angles, both solutions", 'Rotation.from_matrix(m[:3, :3]).as_euler("XYZ")', c="Mtocardan")
@function(refuse=(NO_ROTATION,))
def mtocarda(m: POSITION, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> tuple[Any, ...]:
    """Both triples of Cardan or Euler angles of a position matrix (manual, section 3.5.1).

    `rtocarda` of its 3x3 block, with the same decisions in and near the lock.

    Parameters
    ----------
    m : (..., 4, 4) array_like
        Position matrix of the moving frame.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    q1, q2 : ndarray (..., 3)
        Angles, rad.

    Raises
    ------
    ArgumentError
        As for `rtocarda`.

    Examples
    --------
    >>> q1, _ = mtocarda(cardatom([0.1, 0.2, 0.3], Z, Y, X, ORIGIN), Z, Y, X)
    >>> q1.round(9).tolist()
    [0.1, 0.2, 0.3]
    """
    r = m[:3, :3]
    first, second, _ = cardan_angles(r, i, j, k)
    return first, second, rotation_measure(r)


@spacelib(
    "3.5",
    "matrix of the angular velocity",
    c="cardantol",
    maple="cardantoL",
    note="A 3x3 matrix, whatever the L of the name says.",
)
def cardatol(q: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
    """Matrix A(q) whose columns are the axes of the three turns, with omega = A q' (manual, section 3.5.2).

    Its columns are e_i, R_i e_j and R_i R_j e_k, in the fixed frame, so that q3 plays no part. The manual calls the result
    a 4x4 L matrix; its use in `cardtoom` shows a 3x3 one.

    Parameters
    ----------
    q : (..., 3) array_like
        The three angles, rad.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    ndarray (..., 3, 3)

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardatol([0.1, 0.2, 0.3], X, Y, Z).round(4).tolist()
    [[1.0, 0.0, 0.1987], [0.0, 0.995, -0.0978], [0.0, 0.0998, 0.9752]]
    """
    return cardan_rate_matrix(q, i, j, k)


@spacelib("3.5", "matrix of the products of angular rates", c="cardantoWPROD WPRODtocardan")
def cardtowp(q: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS, dim: SIZE = 3) -> Array:
    """Matrix B(q) of the products of rates in the angular acceleration (manual, section 3.5.2).

    omega' = A q'' + B (q2' q3', q1' q3', q1' q2'), where A is `cardatol` with the columns a1, a2, a3, and B has the columns
    a2 x a3, a1 x a3, a1 x a2. The manual does not say what the matrix holds; `cardompt` decides.

    Parameters
    ----------
    q : (..., 3) array_like
        The three angles, rad.
    i, j, k : int
        The axes, as for `cardator`.
    dim : int
        3, or 4 for a matrix (4, 4) with zeros in its last row and column.

    Returns
    -------
    ndarray (..., dim, dim)

    Raises
    ------
    ArgumentError
        Where j is i or k.

    Examples
    --------
    >>> cardtowp([0.1, 0.2, 0.3], X, Y, Z)[:, 0].round(4).tolist()
    [0.9801, 0.0198, -0.1977]
    """
    matrix = blank(dim, dim)
    matrix[:3, :3] = cardan_product_matrix(q, i, j, k)
    return matrix


@spacelib("3.5", "inverse of the matrix of the angular velocity", c="invA")
@function(codes=(1,))
def inva(alpha: SCALAR, beta: SCALAR, sig: SIGN, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> tuple[Any, Any]:
    """Inverse of the matrix A(q) of `cardatol`, with q' = Ai omega, and whether there is one (manual, section 3.5.2).

    There is none in the lock, where the cosine (Cardan) or sine (Euler) of the second angle is below 1.5e-14; then Ai is
    zero and test is `NOTOK`.

    Parameters
    ----------
    alpha, beta : (...) array_like
        The first two angles, rad.
    sig : int
        1 where j follows i in the cycle X, Y, Z, X; else -1.
    i, j, k : int
        The axes, as for `cardator`.

    Returns
    -------
    Ai : ndarray (..., 3, 3)
    test : int or ndarray (...)
        `OK` or `NOTOK`.

    Raises
    ------
    ArgumentError
        Where j is i or k, or sig does not belong to the axes.

    Examples
    --------
    >>> Ai, test = inva(0.3, PIG_2, 1, X, Y, Z)
    >>> test == NOTOK, bool(Ai.any())
    (True, False)
    """
    _, sense = sequence(i, j, k)
    if sig != sense:
        raise ArgumentError(f"inva: sig is {sig}; expected {sense} for i, j = {'XYZ'[i]}, {'XYZ'[j]}")
    inverse, free = cardan_rate_inverse(alpha, beta, i, j, k)
    result = blank(3, 3)
    for place in np.ndindex(3, 3):
        result[place] = select(free, inverse[place], 0.0)
    return result, select(free, 1.0, 0.0)


LOCKED = (
    "the angles are locked: the cosine (Cardan) or sine (Euler) of the middle one is zero, and the rates are undetermined"
)


@spacelib(
    "3.5",
    "angular velocity, a vector",
    c="cardanto_OMEGA",
    maple="cardanto_omega",
    note="cardanto_OMEGA is the vector in C and the matrix in Maple.",
)
def cardtoom(q: TRIPLE, qp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
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


@spacelib(
    "3.5",
    "angular velocity, a matrix",
    c="cardanto_omega cardanto_omega3 cardanto_omega4",
    maple="cardanto_OMEGA",
    note="cardanto_omega is the matrix in C and the vector in Maple.",
)
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
        read(TRIPLE, "cardtome: qpp", bound.arguments.pop("qpp"))
    return _cardtome(*bound.arguments.values())


@function()
def _cardtome(q: TRIPLE, qp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
    return skew(cardan_rate_matrix(q, i, j, k) @ qp)


_WITHOUT_QPP = signature(lambda q, qp, i, j, k: None)
_WITH_QPP = signature(lambda q, qp, qpp, i, j, k: None)
cardtome.__signature__ = _WITHOUT_QPP  # type: ignore[attr-defined]


@spacelib(
    "3.5",
    "angular acceleration, a vector",
    c="cardanto_OMEGAPTO",
    maple="cardanto_omegapto",
    note="cardanto_OMEGAPTO is the vector in C and the matrix in Maple.",
)
def cardompt(q: TRIPLE, qp: TRIPLE, qpp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
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


@spacelib("3.5", "angles and rates to the block G", c="cardanto_G cardanto_G3 cardanto_G4", maple="cardantoG")
def cardatog(q: TRIPLE, qp: TRIPLE, qpp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> Array:
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


@spacelib("3.5", "angles and rates to velocity matrix", c="cardantoW")
def cardatow(q: TRIPLE, qp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS, O: POINT) -> Array:  # noqa: E741
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


@spacelib("3.5", "angles and rates to acceleration matrix", c="cardantoH")
def cardatoh(q: TRIPLE, qp: TRIPLE, qpp: TRIPLE, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS, O: POINT) -> Array:  # noqa: E741
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


@spacelib("3.5", "velocity matrix to angles and rates", c="Wtocardan")
@function(refuse=(NO_ROTATION, LOCKED, NOT_SKEW))
def wtocarda(m: POSITION, W: MOTION, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> tuple[Any, ...]:
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


@spacelib("3.5", "acceleration matrix to angles and rates", c="Htocardan")
@function(refuse=(NO_ROTATION, LOCKED, NOT_SKEW))
def htocarda(m: POSITION, W: MOTION, H: MOTION, i: MOVING_AXIS, j: MOVING_AXIS, k: MOVING_AXIS) -> tuple[Any, ...]:
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
    """Both triples of angles, the inverse of A for the first, and the validity measures of the matrices."""
    r = m[:3, :3]
    first, second, free = cardan_angles(r, i, j, k)
    inverse, invertible = cardan_rate_inverse(first[0], first[1], i, j, k)
    return first, second, inverse, (rotation_measure(r), select(free, invertible, -1.0), skew_measure(W))


def _mirrored(rates: Array) -> Array:
    """The derivatives of the second solution: its middle angle runs backwards."""
    return array([rates[0], -rates[1], rates[2]])


def _with_axes(kind: str, described: str, i: int, j: int, k: int) -> tuple[Callable[..., Any], ...]:
    """The functions of one fixed sequence of axes, table 3.2 of the manual: to the matrices M, W and H, and back."""
    about, sequence = ", ".join("xyz"[axis] for axis in (i, j, k)), "".join("XYZ"[axis] for axis in (i, j, k))
    to_matrix = f'Rotation.from_euler("{sequence}", q).as_matrix()'
    to_angles = f'Rotation.from_matrix(m[:3, :3]).as_euler("{sequence}")'
    rows: tuple[list[Any], list[Any]] = ([], [])
    for to, back, letter, matrix, more, results in (
        (cardatom, mtocarda, "M", "", "", "Both triples (..., 3) of "),
        (cardatow, wtocarda, "W", "velocity ", " and their rates", "q1, qp1, q2, qp2 (..., 3): "),
        (cardatoh, htocarda, "H", "acceleration ", " and derivatives", "q1, q2, qp1, qp2, qpp1, qpp2 (..., 3): "),
    ):
        summary = f"{(matrix or 'position ').capitalize()}matrix (..., 4, 4) from {described}{more}"
        rows[0].append((to, f"{kind}to{letter}", f"angles about {about} to {matrix}matrix", summary))
        rows[1].append((back, f"{letter}to{kind}", f"{matrix}matrix to angles about {about}", results + described + more))
    scipy = {cardatom: to_matrix, mtocarda: to_angles}
    functions: list[Callable[..., Any]] = []
    for general, name, does, summary in (*rows[0], *rows[1]):
        fixed = _fixed(general, name, (i, j, k))
        fixed.__doc__ = f"{summary}: `{general.__name__}` with these axes.\n\n{_example(fixed)}"
        functions.append(spacelib("A.1", does, scipy.get(general, ""))(fixed))
    return tuple(functions)


def _example(fixed: Callable[..., Any]) -> str:
    """The section of a docstring that calls a function with fixed axes, on the matrices of some angles."""
    angles = {"q": "[0.1, 0.2, 0.3]", "qp": "[1.0, 2.0, 3.0]", "qpp": "[4.0, 5.0, 6.0]", "O": "ORIGIN"}
    stem = fixed.__name__.removeprefix("M").removeprefix("W").removeprefix("H").removeprefix("to")
    matrices = {
        "m": f"{stem}toM({angles['q']}, ORIGIN)",
        "W": f"{stem}toW({angles['q']}, {angles['qp']}, ORIGIN)",
        "H": f"{stem}toH({angles['q']}, {angles['qp']}, {angles['qpp']}, ORIGIN)",
    }
    values = ", ".join((angles | matrices)[name] for name in signature(fixed).parameters)
    to_angles = fixed.__name__[0] in "MWH"
    shown = f"{fixed.__name__}({values}){'[0].round(9)' if to_angles else '.shape'}"
    result = "[0.1, 0.2, 0.3]" if to_angles else "(4, 4)"
    return f"Examples\n--------\n>>> {shown}{'.tolist()' if to_angles else ''}\n{result}\n"


def _fixed(general: Callable[..., Any], name: str, axes: tuple[int, int, int]) -> Callable[..., Any]:
    """A function of this module with its axes fixed."""
    parameters = signature(general).parameters.values()
    place = [parameter.name for parameter in parameters].index("i")
    shown_as = signature(general).replace(parameters=[item for item in parameters if item.name not in ("i", "j", "k")])
    count = len(shown_as.parameters)

    def fixed(*args: Any, **named: Any) -> Any:
        if named or len(args) != count:
            args = tuple(bind(name, shown_as, args, named).arguments.values())
        return general(*args[:place], *axes, *args[place:])

    fixed.__name__ = fixed.__qualname__ = name
    fixed.__signature__ = shown_as  # type: ignore[attr-defined]
    return fixed


# ruff: noqa: N816
cardtoM, cardtoW, cardtoH, Mtocard, Wtocard, Htocard = _with_axes("card", "Cardan angles about X, Y, Z", X, Y, Z)
eultoM, eultoW, eultoH, Mtoeul, Wtoeul, Htoeul = _with_axes("eul", "Euler angles about Z, X, Z", Z, X, Z)
nauttoM, nauttoW, nauttoH, Mtonaut, Wtonaut, Htonaut = _with_axes(
    "naut", "nautical angles about Z, Y, X (yaw, pitch, roll)", Z, Y, X
)


__all__ = exported(__name__)  # noqa: PLE0605
