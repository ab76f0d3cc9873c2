"""The closed form of a dyad: three joints of a planar loop whose others are known, by two circles, or a circle and a line.

Points, directions and rotations of the plane are pairs of scalars that multiply like complex numbers; a displacement is a
pair of them, (turn, shift), and takes x to turn x + shift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array, atan2, cos_sin, root, select

Move = tuple[Array, Array]
"""A displacement of the plane: turn and shift, (2,) each."""

STAY: Move = (np.array([1.0, 0.0]), np.zeros(2))

ROUNDING = 1e-14
"""By how much, relative to what is compared, two links that just reach each other may be too short: rounding."""


@dataclass(frozen=True, eq=False)
class Step:
    """One joint on the way round a loop, or a constant displacement.

    Attributes
    ----------
    coordinate : int
        Index of its coordinate; `PIN` for the joint that the loop itself is, `FIXED` for a constant displacement.
    sign : float
        By what a coordinate is multiplied to give the angle or the way in the plane, +1 or -1.
    slides : bool
        Whether it slides.
    place : ndarray (2,)
        The centre about which it turns, or the direction in which it slides, where all coordinates are zero.
    move : tuple of ndarray (2,)
        The displacement of a constant one.
    """

    coordinate: int
    sign: float = 1.0
    slides: bool = False
    place: Array = field(default_factory=lambda: np.zeros(2))
    move: Move = STAY

    def displacement(self, values: Mapping[int, Any]) -> Move:
        """The displacement at its coordinate."""
        if self.coordinate == FIXED:
            return self.move
        value = values[self.coordinate] * self.sign
        if self.slides:
            return STAY[0], self.place * value
        turn = np.array(cos_sin(value))
        return turn, self.place - times(turn, self.place)


PIN, FIXED = -1, -2


def times(a: Array, b: Array) -> Array:
    """The product of two pairs as complex numbers."""
    return np.array([a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]])


def back(a: Array) -> Array:
    """The opposite rotation: the conjugate."""
    return np.array([a[0], -a[1]])


def dot(a: Array, b: Array) -> Any:
    """The product a . b."""
    return a[0] * b[0] + a[1] * b[1]


def across(a: Array, b: Array) -> Any:
    """The product a x b, positive where the way from a to b turns left."""
    return a[0] * b[1] - a[1] * b[0]


def after(first: Move, second: Move) -> Move:
    """The product of two displacements, x to first(second(x))."""
    return times(first[0], second[0]), times(first[0], second[1]) + first[1]


def along(steps: Sequence[Step], values: Mapping[int, Any]) -> Move:
    """The product of the displacements of steps."""
    made = STAY
    for step in steps:
        made = after(made, step.displacement(values))
    return made


def arranged(steps: Sequence[Step], known: frozenset[int]) -> tuple[Step, ...]:
    """The same way round, begun at the one of the unknown joints that brings them into the order of `close`.

    Where one of the three slides it is the third. Otherwise most of the known joints stand between the third and the first.
    """
    unknown = [k for k, step in enumerate(steps) if step.coordinate != FIXED and step.coordinate not in known]
    best, most = 0, -1
    for k in unknown:
        turned = (*steps[k:], *steps[:k])
        last = max(i for i, step in enumerate(turned) if step.coordinate != FIXED and step.coordinate not in known)
        driven = sum(step.coordinate in known for step in turned[last + 1 :])
        weight = driven + len(steps) * turned[last].slides
        if weight > most:
            best, most = k, weight
    return (*steps[best:], *steps[:best])


def close(steps: Sequence[Step], values: Mapping[int, Any], sign: float) -> dict[int, Any]:
    """The coordinates of the three unknown joints of an arranged way round.

    The product of all displacements is to be the identity: J(a) K1 J(b) K2 J(c) = G, with K1, K2 and G known. Where all
    three turn, the triangle of their centres A, B, C has known sides: the law of cosines gives the bend at B, and the sign
    chooses one of the two triangles, +1 the one in which the way A, B, C turns left. Where the third slides, B is where the
    circle about A meets the line on which it slides, +1 for the one of the two to which AB has a positive component along
    that line. (Two closures of a dyad: R. L. Norton, "Design of Machinery", position analysis.)

    Parameters
    ----------
    steps : sequence of Step
        As `arranged` gives them.
    values : mapping of int to scalar
        The known coordinates.
    sign : float
        +1 or -1.

    Returns
    -------
    dict of int to scalar
        Angles in (-pi, pi]; NaN where the links do not reach.
    """
    at = [k for k, step in enumerate(steps) if step.coordinate != FIXED and step.coordinate not in values]
    a, b, c = (steps[k] for k in at)
    one, two, rest = (along(steps[i + 1 : j], values) for i, j in ((at[0], at[1]), (at[1], at[2]), (at[2], len(steps))))
    p1, k1 = times(one[0], b.place) + one[1] - a.place, one[0]
    home = times(rest[0], a.place) + rest[1]
    whole = back(rest[0])
    if c.slides:
        h = times(whole, times(back(two[0]), b.place - two[1]) - home)
        e = times(whole, c.place)
        short = _root(dot(p1, p1), across(e, h) * across(e, h))
        slid = dot(h, e) - sign * short
        turned_a = times(h - e * slid, back(p1))
        turned_b = times(back(times(turned_a, times(k1, two[0]))), whole)
        found = {a: _angle(turned_a), b: _angle(turned_b), c: slid}
    else:
        p2 = times(two[0], c.place) + two[1] - b.place
        g = times(whole, c.place - home)
        cosine = (dot(g, g) - dot(p1, p1) - dot(p2, p2)) * 0.5
        bend = np.array([cosine, sign * _root(dot(p1, p1) * dot(p2, p2), cosine * cosine)])
        reach = times(p1, bend * (1.0 / dot(p1, p1)) + STAY[0])
        turned_a = times(g, back(reach))
        turned_b = times(times(bend, times(p1, back(k1))), back(p2))
        turned_c = times(back(times(times(turned_a, k1), times(turned_b, two[0]))), whole)
        found = {a: _angle(turned_a), b: _angle(turned_b), c: _angle(turned_c)}
    return {step.coordinate: value * step.sign for step, value in found.items() if step.coordinate != PIN}


def _angle(turn: Array) -> Any:
    return atan2(turn[1], turn[0])


def _root(square: Any, other: Any) -> Any:
    """The root of square - other, zero where rounding alone makes other the greater."""
    left = square - other
    return root(select(left, left, select(left + square * ROUNDING, 0.0, left)))
