"""What a look at a candidate reads: the row that was prepared for the cycle."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.control.pace.braking import Brake
from linkwise.control.pace.layout import RowLayout
from linkwise.control.pace.prepared import INVERSE, JOINTS, LIMITS, NUMBERS
from linkwise.control.pace.rules import Limits, lower, smallest, upper
from linkwise.spatial.scalar import Array


class Row:
    """What the search reads, by name (see `Prepare`), and the limits and chord velocities of all points in lists.

    Parameters
    ----------
    layout, carry : RowLayout
        Of the row, and of the part of it that is carried.
    p : ndarray
        The row.
    """

    dt: Any
    inverse_dt: Any
    inverse_h: Any
    moves: Any
    rate: Any
    guess: Any
    left: Any
    far: Any
    following: Any
    q: Array
    goal: Array
    goal_speed: Array
    stop: Array
    wanted: Array
    aim: Array
    low: Array
    high: Array
    scale: Array
    carry: Array
    residual: Array
    closures: Array
    places: Array
    entered: Array
    points: int
    limits: list[Limits]
    before: tuple[list[Array], list[Any]]

    def __init__(self, layout: RowLayout, carry: RowLayout, p: Array) -> None:
        for name in NUMBERS:
            setattr(self, name, layout.number(p, name))
        for name in (*JOINTS, "carry", "residual", "closures"):
            setattr(self, name, layout.read(p, name))
        self.places = layout.read(p, "places").reshape(-1, 3)
        self.points, self.entered = len(self.places), layout.read(p, "entered").reshape(3, -1)
        inverse = zip(*(layout.read(p, name) for name in INVERSE), strict=True)
        limits = zip(inverse, *(layout.read(p, name) for name in LIMITS[1:]), strict=True)
        self.limits = [Limits.of(*each) for each in limits]
        chords = [*carry.read(self.carry, "chords").reshape(-1, 3), *carry.read(self.carry, "joints").reshape(-1, 1)]
        lengths = [*layout.read(p, "lengths"), *(abs(chord[0]) for chord in chords[len(self.places) :])]
        self.before = (chords, lengths)

    def inside(self, here: Array) -> Array:
        """A configuration (n,) with the rounding beyond the joints' limits taken off."""
        return np.array([lower(upper(x, a), b) for x, a, b in zip(here, self.low, self.high, strict=True)])

    def room(self, here: Array, tangent: Array, brake: Brake) -> Any:
        """What is left of the way to the joints' limits, after stopping."""
        margins = []
        for x, speed, low, high, scale in zip(here, tangent, self.low, self.high, self.scale, strict=True):
            way = speed * brake.way
            margins += [(high - (x + upper(way, 0.0))) * scale, ((x + lower(way, 0.0)) - low) * scale]
        return smallest(margins)
