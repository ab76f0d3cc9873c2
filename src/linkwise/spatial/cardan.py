"""Three turns about axes of the moving frame, R = R_i(a) R_j(b) R_k(c): Cardan and Euler angles.

Axes are 0, 1, 2 for x, y, z; no two neighbours are equal. Three different axes make Cardan (Tait-Bryan) angles, k = i makes
Euler angles. M. D. Shuster, "A survey of attitude representations", J. Astronautical Sciences 41(4), 1993, has all twelve
sequences; G. Legnani et al., *SpaceLib for MATLAB, User's Manual*, section 3.5, has what is done with them. Angular velocity
and acceleration are in the fixed frame.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.rotation import cross, rotation_of_axis
from linkwise.spatial.scalar import Array, array, atan2, blank, cos_sin, root, select

#: The angles are locked, only the sum or difference of the outer two being determined, if the cosine (Cardan) or sine
#: (Euler) of the middle one is no more than this: the rounding of zero in a product of a few rotation matrices.
LOCK = 64 * sys.float_info.epsilon

#: The sine (Cardan) or cosine (Euler) of the middle angle from which its arc is no good measure of the angle.
STEEP = 0.95


def sequence(i: int, j: int, k: int) -> tuple[int, int]:
    """The axis beside the first two, and 1 where the first two are in cyclic order, else -1.

    Raises
    ------
    ArgumentError
        Where two neighbours are equal.

    Examples
    --------
    >>> sequence(0, 1, 2), sequence(2, 1, 2)
    ((2, 1), (0, -1))
    """
    if j in (i, k):
        named = ", ".join("XYZ"[axis] for axis in (i, j, k))
        raise ArgumentError(f"i, j, k are {named}; expected axes whose neighbours differ, such as X, Y, Z or Z, X, Z")
    return 3 - i - j, 1 if (j - i) % 3 == 1 else -1


def cardan_rotation(q: npt.ArrayLike, i: int, j: int, k: int) -> Array:
    """R (3, 3) of the angles q (3,): R_i(q1) R_j(q2) R_k(q3), the turned frame seen in the fixed one.

    Examples
    --------
    >>> cardan_rotation([0.0, np.pi / 2, 0.0], 2, 0, 2).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]
    """
    sequence(i, j, k)
    a, b, c = np.asarray(q)
    return np.asarray(rotation_of_axis(i, a) @ rotation_of_axis(j, b) @ rotation_of_axis(k, c))


def cardan_rate_matrix(q: npt.ArrayLike, i: int, j: int, k: int) -> Array:
    """A(q) (3, 3) with the angular velocity A q': as columns the axes e_i, R_i e_j, R_i R_j e_k of the turns.

    Examples
    --------
    >>> cardan_rate_matrix([0.0, 0.0, 0.0], 2, 0, 1).tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    sequence(i, j, k)
    first = rotation_of_axis(i, np.asarray(q)[0])
    both = first @ rotation_of_axis(j, np.asarray(q)[1])
    return np.stack([np.eye(3)[i], first[:, j], both[:, k]], axis=1)


def cardan_product_matrix(q: npt.ArrayLike, i: int, j: int, k: int) -> Array:
    """B(q) (3, 3): the angular acceleration is A q'' + B (q2' q3', q1' q3', q1' q2').

    Each axis of A is carried by the turns before it, so the columns are a2 x a3, a1 x a3, a1 x a2.

    Examples
    --------
    >>> cardan_product_matrix([0.0, 0.0, 0.0], 0, 1, 2).tolist()
    [[1.0, 0.0, 0.0], [0.0, -1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    a1, a2, a3 = cardan_rate_matrix(q, i, j, k).T
    return np.stack([cross(a2, a3), cross(a1, a3), cross(a1, a2)], axis=1)


def rate_products(qp: npt.ArrayLike) -> Array:
    """The products (3,) that `cardan_product_matrix` is multiplied by."""
    u, v, w = np.asarray(qp)
    return array([v * w, u * w, u * v])


def cardan_rate_inverse(a: Any, b: Any, i: int, j: int, k: int) -> tuple[Array, Any]:
    """The inverse (3, 3) of A(q), which the first two angles determine, and a measure that is above 0 where it exists.

    The measure is how far the cosine (Cardan) or sine (Euler) of b is beyond `LOCK`; where it is not, the matrix means
    nothing. The second axis is normal to both others and so a row of the inverse; the third row is along a1 x a2.

    Examples
    --------
    >>> inverse, measure = cardan_rate_inverse(0.1, 0.2, 2, 0, 1)
    >>> bool(np.abs(inverse @ cardan_rate_matrix([0.1, 0.2, 0.3], 2, 0, 1) - np.eye(3)).max() < 1e-15), measure > 0
    (True, True)
    >>> cardan_rate_inverse(0.0, 0.0, 2, 0, 2)[1] > 0
    False
    """
    other, s = sequence(i, j, k)
    ca, sa = cos_sin(a)
    cb, sb = cos_sin(b)
    along, across = (cb, -s * sb) if k == i else (s * sb, cb)  # components of a3 on a1 and on a1 x a2
    free = abs(across) - LOCK
    scale = 1.0 / select(free, across, 1.0)
    inverse = blank(3, 3)
    inverse[1, j], inverse[1, other] = ca, s * sa
    inverse[2, j], inverse[2, other] = -s * sa * scale, ca * scale
    inverse[0, i], inverse[0, j], inverse[0, other] = 1.0, -along * inverse[2, j], -along * inverse[2, other]
    return array(inverse), free


def cardan_angles(rotation: npt.ArrayLike, i: int, j: int, k: int) -> tuple[Array, Array, Any]:
    """Both triples of angles (3,) of a rotation (3, 3), in (-pi, pi], and a measure that is positive unless they are locked.

    The first has b in [-pi/2, pi/2] (Cardan) or [0, pi] (Euler); the second is (a + pi, pi - b, c + pi) or
    (a + pi, -b, c + pi). Up to `STEEP` b is the arc sine or cosine of one element, as is usual, which matters for a matrix
    of few digits; beyond, it comes from two more elements, and c from what is left when the first turn is taken off, so
    that the three make the rotation to rounding however near the lock is. In the lock c is 0 and both triples are the same.

    Examples
    --------
    >>> first, second, _ = cardan_angles(cardan_rotation([0.1, 0.2, 0.3], 0, 1, 2), 0, 1, 2)
    >>> first.round(4).tolist(), second.round(4).tolist()
    ([0.1, 0.2, 0.3], [-3.0416, 2.9416, -2.8416])
    """
    r = np.asarray(rotation)
    other, s = sequence(i, j, k)
    if k == i:
        known, first, last = r[i, i], (r[j, i], -s * r[other, i]), (r[i, j], s * r[i, other])
    else:
        known, first, last = s * r[i, k], (-s * r[j, k], r[k, k]), (-s * r[i, j], r[i, i])
    level = root(first[0] * first[0] + first[1] * first[1])
    free, gentle = level - LOCK, STEEP - abs(known)
    complement = select(gentle, root(select(gentle, 1.0 - known * known, 1.0)), level)

    turn = 1.0 / select(free, level, 1.0)
    row = turn * first[1] * r[j] + s * turn * first[0] * r[other]  # of R_i(a)' R = R_j(b) R_k(c), where R_j does nothing
    left = (-s * row[other] if k == i else s * row[i], row[j])
    last = (select(gentle, last[0], left[0]), select(gentle, last[1], left[1]))

    a1, a2 = _opposite(free, first, (s * r[other, j], r[j, j]))
    c1, c2 = _opposite(free, last, (0.0, 1.0))
    turned = select(free, -complement, complement)
    b1, b2 = (atan2(complement, known), atan2(turned, known)) if k == i else (atan2(known, complement), atan2(known, turned))
    return array([a1, b1, c1]), array([a2, b2, c2]), free


def _opposite(free: Any, point: tuple[Any, Any], locked: tuple[Any, Any]) -> tuple[Any, Any]:
    """The angle of a point (y, x) and of the one opposite; in the lock, twice that of another point."""
    y, x = point
    angle = atan2(select(free, y, locked[0]), select(free, x, locked[1]))
    return angle, atan2(select(free, -y, locked[0]), select(free, -x, locked[1]))
