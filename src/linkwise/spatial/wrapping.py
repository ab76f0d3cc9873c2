"""Shortest paths from point to point around a sphere or a cylinder, or through it, written over scalars without a branch.

B. A. Garner, M. G. Pandy, "The obstacle-set method for representing muscle paths in musculoskeletal models", Computer
Methods in Biomechanics and Biomedical Engineering 3(1), 2000: a path is straight up to a point of tangency, follows a
geodesic, and is straight again. All is written here by three angles seen from the centre, in the plane of a great circle or
across a cylinder: G between the ends, and b = atan2(T, r) from each end to its point of tangency, T the length of the
tangent. The straight line is free if G <= b0 + b1; around the circle the path is T0 + T1 + r (G - b0 - b1) the short way
and T0 + T1 + r (2 pi - G - b0 - b1) the long way. Along a cylinder the path is straight where its mantle is unrolled.

Which way is taken is that of MuJoCo's spatial tendons (XML reference, "spatial/geom", and what version 4.0 computes): the
short way where the line is hidden; the long way, also where it is free, if a side point outside is opposite: the centre is
within the triangle of the ends and of the side point, projected on their plane. A side point inside has the path pass
through. Ends inside are joined by a straight line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, atan2, cos_sin, greatest, is_number, least, root, select

#: Added to a square (m2) before its root: lengths below 1e-18 m are none, and those from 1e-10 m on keep every bit.
NO_SQUARE = 1e-36

#: Newton steps to the point where a path touches a circle from within: four leave rounding, one more its slope too.
STEPS = 5


@dataclass(frozen=True)
class PathLength:
    """The length (m) of a path between two points, and its derivatives (3,) by the first and by the second point."""

    length: Any
    first: Array
    second: Array

    def chosen(self, c: Any, other: PathLength) -> PathLength:
        """Itself where the scalar c is greater than 0, else another."""
        pairs = (zip(a, b, strict=True) for a, b in ((self.first, other.first), (self.second, other.second)))
        first, second = (np.array([select(c, x, y) for x, y in pair], dtype=object) for pair in pairs)
        return PathLength(select(c, self.length, other.length), first, second)


def line_length(gap: Array) -> Any:
    """The length of a line, m: 1e-18 m, not 0, where its ends coincide, so that its direction gap / length is zero there.

    Lengths from 1e-10 m on are the same to the last bit. A force that jumps there has slopes of its size / 1e-18 m.
    """
    return root(gap @ gap + NO_SQUARE)


def straight(p: Array, q: Array) -> PathLength:
    """The straight line from a point (3,) to another.

    Examples
    --------
    >>> float(straight(np.array([0.0, 0.0, 3.0]), np.array([4.0, 0.0, 0.0])).length)
    5.0
    """
    length = line_length(q - p)
    direction = (q - p) / length
    return PathLength(length, -direction, direction)


def around_sphere(p: Array, q: Array, radius: float, side: Array | None = None) -> PathLength:
    """The path from p to q (3,) past a sphere about the origin: around it, through it, or straight.

    Where both ends and the centre are on one line the path around has no plane, and no slope across that line.

    Parameters
    ----------
    p, q : ndarray (3,)
        The ends, m.
    radius : float
        Of the sphere, m.
    side : ndarray (3,), optional
        Point that chooses the way, m; within the sphere the path must pass through the sphere.

    Examples
    --------
    >>> path = around_sphere(np.array([-2.0, 0.0, 0.0]), np.array([2.0, 1e-9, 0.0]), 1.0)
    >>> bool(abs(path.length - (2 * 3**0.5 + math.pi / 3)) < 1e-8)
    True
    """
    normal = cross(p, q)
    size = root(normal @ normal + NO_SQUARE * NO_SQUARE)
    unit = normal / size
    plane = _Plane(p, q, cross(unit, p), cross(unit, q), size, radius)
    return plane.path(side).chosen_over_straight(p, q)


def around_cylinder(p: Array, q: Array, radius: float, side: Array | None = None) -> PathLength:
    """The path from p to q (3,) past an endless cylinder about the z axis: as for `around_sphere`.

    A side point outside that is on the axis counts as one on the x axis, as in MuJoCo.

    Examples
    --------
    >>> path = around_cylinder(np.array([-2.0, -1e-9, 0.0]), np.array([2.0, 0.0, 3.0]), 1.0)
    >>> bool(abs(path.length - math.hypot(2 * 3**0.5 + math.pi / 3, 3.0)) < 1e-8)
    True
    """
    across_p, across_q = (np.array([end[0], end[1], 0.0], dtype=object) for end in (p, q))
    turned_p, turned_q = (np.array([-end[1], end[0], 0.0], dtype=object) for end in (p, q))
    plane = _Plane(across_p, across_q, turned_p, turned_q, p[0] * q[1] - p[1] * q[0], radius)
    flat = plane.path(side, np.array([1.0, 0.0, 0.0]))
    rise = q[2] - p[2]
    length = root(flat.length * flat.length + rise * rise + NO_SQUARE)
    along, up = flat.length / length, np.array([0.0, 0.0, 1.0]) * (rise / length)
    lifted = _Detour(flat.wraps, length, along * flat.first - up, along * flat.second + up)
    return lifted.chosen_over_straight(p, q)


@dataclass(frozen=True)
class _Detour:
    """A path that is not straight, and whether it is taken: where `wraps` is greater than 0."""

    wraps: Any
    length: Any
    first: Array
    second: Array

    def chosen_over_straight(self, p: Array, q: Array) -> PathLength:
        return PathLength(self.length, self.first, self.second).chosen(self.wraps, straight(p, q))


class _Plane:
    """Two ends about a circle, in its plane.

    Parameters
    ----------
    p, q : ndarray (3,)
        The ends from the centre, in the plane.
    turned_p, turned_q : ndarray (3,)
        The same, turned by a right angle in the positive sense.
    turn : scalar
        Their cross product along the normal.
    radius : float
        Of the circle.
    """

    def __init__(self, p: Array, q: Array, turned_p: Array, turned_q: Array, turn: Any, radius: float) -> None:
        self.ends, self.turned, self.radius = (p, q), (turned_p, turned_q), radius
        r2 = radius * radius
        beyond = [end @ end - r2 for end in self.ends]
        self.outside = select(-beyond[0], -1.0, select(-beyond[1], -1.0, 1.0))
        beyond = [greatest(0.0, value) for value in beyond]
        self.squares = [value + r2 for value in beyond]
        self.tangents = [root(value + NO_SQUARE) for value in beyond]
        self.shares = [atan2(length, radius) for length in self.tangents]
        self.angle = atan2(abs(turn) + NO_SQUARE, p @ q)  # (an angle also where an end is at the centre)
        self.sense = select(-turn, -1.0, 1.0)
        self.hidden = self.angle - (self.shares[0] + self.shares[1])  # the arc of the short way, where it hides the line

    def path(self, side: Array | None, usual: FloatArray | None = None) -> _Detour:
        """The path by a side point (3,), which is inside if it is nearer to the centre than the radius.

        Of a cylinder too, as MuJoCo has it; there `usual` takes the place of one outside that is on the axis.
        """
        if side is None:
            return self._around(select(-self.hidden, -1.0, self.outside), self.sense, greatest(0.0, self.hidden))
        inside = self.radius * self.radius - side @ side
        if usual is not None:
            across = side[0] * side[0] + side[1] * side[1]
            side = np.array([select(across, x, y) for x, y in zip(side, usual, strict=True)], dtype=object)
        if is_number(inside):
            return self._through() if inside > 0.0 else self._around_by(side)
        paths = self._through(), self._around_by(side)
        wraps = select(inside, *(path.wraps for path in paths))
        through, around = (PathLength(path.length, path.first, path.second) for path in paths)
        chosen = through.chosen(inside, around)
        return _Detour(wraps, chosen.length, chosen.first, chosen.second)

    def _around(self, wraps: Any, sense: Any, arc: Any) -> _Detour:
        """A path in a sense, 1 or -1, over an arc: the slopes are those of the straight parts."""
        length = self.tangents[0] + self.tangents[1] + self.radius * arc
        first, second = (
            (tangent * end - sign * (sense * self.radius) * turned) / square
            for end, turned, square, tangent, sign in zip(
                self.ends, self.turned, self.squares, self.tangents, (1.0, -1.0), strict=True
            )
        )
        return _Detour(wraps, length, first, second)

    def _around_by(self, side: Array) -> _Detour:
        """The path that a side point outside prefers: the long way if the centre is between it and the two ends.

        That is where the side point is -a p - b q with positive a and b.
        """
        opposed = least(-self.sense * (side @ self.turned[0]), self.sense * (side @ self.turned[1]))
        wraps = select(opposed, self.outside, select(-self.hidden, -1.0, self.outside))
        long_arc = 2.0 * math.pi - (self.angle + (self.shares[0] + self.shares[1]))
        arc = select(opposed, long_arc, greatest(0.0, self.hidden))
        return self._around(wraps, select(opposed, -self.sense, self.sense), arc)

    def _through(self) -> _Detour:
        """The path over the nearest point of the circle, where the straight line passes it by.

        The point at the angle x from the first end has equal angles to both (Alhazen's problem): sin(2x - G) - a sin(x) +
        b sin(G - x) = 0, a and b the radius by the distances of the second and of the first end. Between the points
        that both ends see it grows with x, so that Newton's steps from the middle find its only zero.
        """
        distances = [root(square) for square in self.squares]
        near = [self.radius / distance for distance in distances]
        low, high = greatest(0.0, self.angle - self.shares[1]), least(self.angle, self.shares[0])
        x = 0.5 * (low + high)
        for _ in range(STEPS):
            (c, s), (d, t) = cos_sin(x), cos_sin(self.angle - x)
            value = s * d - c * t - near[1] * s + near[0] * t
            slope = 2.0 * (c * d + s * t) - near[1] * c - near[0] * d
            x = x - value / select(slope, slope, 1.0)
        lengths, slopes = [], []
        angles = (x, self.angle - x)
        for k, sign in enumerate((1.0, -1.0)):
            c, s = cos_sin(angles[k])
            forth, across = distances[k] - self.radius * c, self.radius * s
            length = root(forth * forth + across * across + NO_SQUARE)
            lengths.append(length)
            towards = sign * (self.sense * across) * self.turned[k]
            slopes.append((forth * self.ends[k] - towards) / (distances[k] * length))
        return _Detour(select(self.hidden, -1.0, self.outside), lengths[0] + lengths[1], *slopes)
