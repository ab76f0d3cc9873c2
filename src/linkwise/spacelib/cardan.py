"""Cardan and Euler angles and rotation matrices (G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.5.1).

The axes i, j, k are `X`, `Y` or `Z`, j other than i and k: three different ones make Cardan angles, k = i Euler angles. The
turns are about axes of the moving frame, in this order: R = R_i(q1) R_j(q2) R_k(q3), which are SciPy's sequences in capital
letters. The header of the manual's table 3.2 speaks of fixed axes; its examples 3.16 and 3.17 decide.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spacelib.function import function
from linkwise.spacelib.kinds import BLOCK, MOVING_AXIS, POINT, POSITION, SCALAR, SIGN, Choice, Kind
from linkwise.spacelib.rotations import NO_ROTATION, rotation_measure
from linkwise.spatial.cardan import (
    cardan_angles,
    cardan_product_matrix,
    cardan_rate_inverse,
    cardan_rate_matrix,
    cardan_rotation,
    sequence,
)
from linkwise.spatial.scalar import Array, blank, select
from linkwise.spatial.transform import transform


def _three(value: Array) -> Array | None:
    if value.ndim >= 2 and value.shape[-2:] == (3, 1):
        value = value[..., 0]
    return value if value.ndim and value.shape[-1] == 3 else None


TRIPLE = Kind("three numbers (..., 3), one for each angle", 1, _three)
"""Angles or their rates: a list, a 1-D array or a column."""

SIZE = Choice({3: "3", 4: "4"})
"""Size of a matrix that is filled up with zeros."""


@function(q=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)
def cardator(q: Any, i: int, j: int, k: int) -> Array:
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


@function(R=BLOCK, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, refuse=(NO_ROTATION,))
def rtocarda(R: Any, i: int, j: int, k: int) -> tuple[Any, ...]:
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
        Where j is i or k, or the matrix is no rotation: R'R off the identity by 0.1 or more (Frobenius norm), or a negative
        determinant. A matrix printed with two digits passes.

    Examples
    --------
    >>> q1, q2 = rtocarda(cardator([0.1, 0.2, 0.3], X, Y, Z), X, Y, Z)
    >>> q1.round(9).tolist(), (q2 + [PIG, -PIG, PIG]).round(9).tolist()
    ([0.1, 0.2, 0.3], [0.1, -0.2, 0.3])
    """
    first, second, _ = cardan_angles(R, i, j, k)
    return first, second, rotation_measure(R)


@function(q=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, O=POINT)
def cardatom(q: Any, i: int, j: int, k: int, O: Any) -> Array:  # noqa: E741
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


@function(m=POSITION, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, refuse=(NO_ROTATION,))
def mtocarda(m: Any, i: int, j: int, k: int) -> tuple[Any, ...]:
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


@function(q=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS)
def cardatol(q: Any, i: int, j: int, k: int) -> Array:
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


@function(q=TRIPLE, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, dim=SIZE)
def cardtowp(q: Any, i: int, j: int, k: int, dim: int = 3) -> Array:
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
    made = blank(dim, dim)
    made[:3, :3] = cardan_product_matrix(q, i, j, k)
    return made


@function(alpha=SCALAR, beta=SCALAR, sig=SIGN, i=MOVING_AXIS, j=MOVING_AXIS, k=MOVING_AXIS, codes=(1,))
def inva(alpha: Any, beta: Any, sig: int, i: int, j: int, k: int) -> tuple[Any, Any]:
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
    made = blank(3, 3)
    for place in np.ndindex(3, 3):
        made[place] = select(free, inverse[place], 0.0)
    return made, select(free, 1.0, 0.0)
