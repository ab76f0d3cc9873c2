"""The inverse of a small matrix that loses nothing but what is singular: each singular direction is damped by itself.

Damped least squares as of Y. Nakamura and H. Hanafusa, "Inverse kinematic solutions with singularity robustness for robot
manipulator control", J. Dynamic Systems, Measurement and Control 108(3), 1986, and C. W. Wampler, "Manipulator inverse
kinematic solutions based on vector formulations and damped least-squares methods", IEEE Trans. Systems, Man and Cybernetics
16(1), 1986; damped only along the directions that are nearly lost as of A. A. Maciejewski and C. A. Klein, "Numerical
filtering for the operation of robotic manipulators through kinematically singular configurations", J. Robotic Systems 5(6),
1988, and S. Chiaverini, "Singularity-robust task-priority redundancy resolution for real-time kinematic control of robot
manipulators", IEEE Trans. Robotics and Automation 13(3), 1997.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from linkwise.spatial.linear import orthogonal_rows
from linkwise.spatial.scalar import Array, greatest, least, root, select

RANK = 1e-12
"""A singular value below this share of the greatest is rounding: zero."""


class FilteredInverse:
    """Solves A x = b, A (m, n) of scalars, with gains s / (s^2 + l^2) for its singular values s.

    l^2 = region^2 - s^2 for s below the region and 0 above, so the gain is s / region^2 there and never above 1 / region,
    plus a damping that is the same for all. Singular values that are zero have no gain. What the last sweep leaves of the
    angles between rows is taken by one step of refinement.

    Parameters
    ----------
    matrix : (m, n) array of scalars
        One of m and n at most 6.
    region : scalar
        Singular values below this are damped.
    constant : scalar
        What damps all of them.
    rank : int
        How many singular values are not zero, away from singular positions.
    """

    def __init__(self, matrix: Array, region: Any, constant: Any, rank: int) -> None:
        self.wide = matrix.shape[0] <= matrix.shape[1]
        self.made = orthogonal_rows(matrix if self.wide else matrix.T)
        squares = _descending(self.made.squares, rank)
        region_square = region * region
        self.kept = [square - squares[0] * RANK**2 for square in self.made.squares]
        self.gains = [
            _inverse(kept, greatest(square, region_square) + constant * constant)
            for kept, square in zip(self.kept, self.made.squares, strict=True)
        ]
        self.smallest = root(squares[-1])
        self.damping = root(greatest(region_square - squares[-1], 0.0) + constant * constant)

    def solve(self, right: Array) -> Array:
        """X (n,), the shortest with the least (filtered) |A x - right|, for a right side (m,)."""
        factors, gains = self.made, np.array(self.gains, dtype=object)
        share = np.array(factors.squares, dtype=object) * gains
        if self.wide:
            turned = factors.turned(right)
            x = (turned * gains) @ factors.rows
            return np.asarray(x + ((turned * share - factors.rows @ x) * gains) @ factors.rows)
        turned = factors.rows @ right
        w = turned * gains
        return factors.turned_back(w + (turned * share - factors.rows @ (w @ factors.rows)) * gains)

    def project(self, vector: Array) -> Array:
        """The part (n,) of a vector that A takes to zero."""
        factors = self.made
        if not self.wide:
            parts = zip(self.kept, factors.turned(vector), strict=True)
            return factors.turned_back(np.array([select(kept, 0.0, part) for kept, part in parts], dtype=object))
        inverses = [_inverse(kept, square) for kept, square in zip(self.kept, factors.squares, strict=True)]
        left = np.array(vector, dtype=object)
        for _ in range(2):  # the second time takes what rounding left along short rows
            for row, inverse in zip(factors.rows, inverses, strict=True):
                left = left - row * ((row @ left) * inverse)
        return left


def _inverse(there: Any, square: Any) -> Any:
    """One over a square where there is one, else 0; nothing is divided by zero."""
    return select(there, 1.0 / select(there, square, 1.0), 0.0)


def _descending(values: Sequence[Any], count: int) -> list[Any]:
    """Some scalars from the greatest to the one of rank ``count``; what lies between may be missing."""
    left, sorted_values = list(values), []
    if count == len(left):
        return [reduce(greatest, left), reduce(least, left)]
    for _ in range(count):
        for k in range(len(left) - 1, 0, -1):  # the greatest comes to the front
            left[k - 1], left[k] = greatest(left[k - 1], left[k]), least(left[k - 1], left[k])
        sorted_values.append(left.pop(0))
    return sorted_values
