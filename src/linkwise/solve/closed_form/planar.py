"""Three revolute joints with parallel axes: a place in the plane and a direction in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.solve.closed_form.geometry import Chain
from linkwise.solve.closed_form.subproblems import (
    DEGENERATE,
    Turn,
    align,
    choose,
    component,
    direction,
    length_between,
    turned,
    unturned,
)
from linkwise.solve.closed_form.wrist import beside
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, FloatArray, select
from linkwise.spatial.vector import inner


@dataclass(frozen=True, eq=False)
class Planar:
    """Joints i, i + 1, i + 2 of a chain, about axes along h, each one way round or the other.

    Attributes
    ----------
    h : ndarray (3,)
        The direction of the first axis.
    signs : tuple of float
        1 where an axis points along h, else -1.
    upper, fore : ndarray (3,)
        From the first axis to the second and from the second to the third at zero angles, at right angles to h.
    origin : ndarray (3,)
        The point of the first axis.
    wrist : ndarray (3,)
        The point of the third.
    """

    h: FloatArray
    signs: tuple[float, float, float]
    upper: FloatArray
    fore: FloatArray
    origin: FloatArray
    wrist: FloatArray
    size: float

    @classmethod
    def of(cls, chain: Chain, first: int) -> Planar:
        """Of three joints of a chain."""
        h = chain.axes[first]
        p = [chain.points[first + k] - chain.points[first] for k in range(3)]
        flat = [v - h * float(h @ v) for v in p]
        one, two, three = (1.0 if float(h @ chain.axes[first + k]) > 0 else -1.0 for k in range(3))
        upper, fore = flat[1], flat[2] - flat[1]
        return cls(h, (one, two, three), upper, fore, chain.points[first], chain.points[first + 2], chain.size)

    @property
    def reach(self) -> tuple[float, float]:
        """How near to the first axis the third can come, and how far from it (m)."""
        a, b = float(np.linalg.norm(self.upper)), float(np.linalg.norm(self.fore))
        return abs(a - b), a + b

    def solve(self, place: Array, rotation: Any, free: Any) -> list[tuple[Turn, Turn, Turn, Any]]:
        """Both triples of angles that bring the third axis to `place` and turn vectors as `rotation` does.

        Parameters
        ----------
        place : (3,)
            Where a point of the third axis shall be, seen from the first; its height does not matter.
        rotation : callable
            Gives R v for a constant vector v (3,), R being about h.
        free : sequence of three Turns
            What is taken where an angle is free.
        """
        h, size = self.h, self.size
        flat = place - h * inner(h, place)
        w = beside(h)
        seen = rotation(w)
        whole, _ = direction(inner(w, seen), inner(h, cross(w, seen)), Turn(1.0, 0.0))
        found: list[tuple[Turn, Turn, Turn, Any]] = []
        free = [_signed(turn, sign) for turn, sign in zip(free, self.signs, strict=True)]
        seconds = length_between(h, self.fore, -self.upper, inner(flat, flat), free[1], size=size * size)
        for second in seconds[:2]:
            first = align(h, self.upper + turned(h, second, self.fore), flat, free[0], DEGENERATE * size * size)
            third = whole.minus(first.plus(second))
            one, two, three = (_signed(turn, sign) for turn, sign in zip((first, second, third), self.signs, strict=True))
            found.append((one, two, three, seconds[2]))
        return found

    def reachable(self, k: Array, y: Array, z: Array, free: Turn, size: float) -> Turn:
        """The angle nearest to `free` for which Rot(k, angle)' y + z is neither too far from the first axis nor too near.

        k is along h here, and y and z (3,) are seen in the same axes as k.
        """
        least, most = self.reach
        y, z = y - k * inner(k, y), z - k * inner(k, z)
        sum_of_squares = inner(y, y) + inner(z, z)
        now = sum_of_squares + 2.0 * inner(unturned(k, free, y), z)
        inner_edge, outer_edge = least * least, most * most
        near = inner_edge - now
        far = now - outer_edge
        edge = select(near, inner_edge, outer_edge)
        pair = component(k, z, y, 0.5 * (edge - sum_of_squares), free, size=size * size)
        first, second = pair[0].back(), pair[1].back()
        closer = (first.c - second.c) * free.c + (first.s - second.s) * free.s
        best = choose(closer, first, second)
        return choose(near, best, choose(far, best, free))


def _signed(turn: Turn, sign: float) -> Turn:
    return turn if sign > 0 else turn.back()
