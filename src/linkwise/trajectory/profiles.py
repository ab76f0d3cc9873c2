"""How a frame proceeds along its lines: profiles, in given times or under limits."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
from linkwise.trajectory.legs import Legs, Progress, Ways
from linkwise.trajectory.trapezoid import Law, fastest, parabolas

PROFILES = ("quintic", "trapezoidal")
SHARE = 1.0 / 3.0
"""Of a leg at given times with trapezoidal speed, a third is for starting and a third for braking."""


def known(profile: object) -> None:
    """Refuse what is no profile."""
    if not isinstance(profile, str) or profile not in PROFILES:
        raise ArgumentError(f"profile is {profile!r}; expected {choices(PROFILES)}")


def along(ways: Ways, time: FloatArray, profile: str, law: Law, start: FloatArray) -> CartesianTrajectory:
    """Return the motion along the ways whose legs begin at start and follow the law, each (..., K - 1)."""
    if profile == "quintic":
        return CartesianTrajectory.made(time, Legs(ways, Progress(start, start + law.duration)))
    zero = 0.0 * law.duration
    return CartesianTrajectory.made(time, Legs(ways, parabolas(zero, zero + 1.0, law, start, law.duration)))


def law_of(ways: Ways, profile: str, speed: Any, acceleration: Any) -> Law:
    """The quickest law of each leg (..., K - 1) from 0 to 1 under limits of the origin and of turning."""
    limits = []
    for field, value in (("speed", speed), ("acceleration", acceleration)):
        if value is None:
            raise ArgumentError("give times, or both speed and acceleration")
        expected = "two numbers > 0: of the origin and of turning"
        made = numbers(field, value, expected)
        if made.shape != (2,) or not np.all(made > 0):
            raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
        limits.append(made)
    length, angle = ways.sizes
    moves = (length > 0) | (angle > 0)
    with np.errstate(divide="ignore"):
        v, a = (np.where(moves, np.minimum(top[0] / length, top[1] / angle), 1.0) for top in limits)
    if profile == "trapezoidal":
        return fastest(moves.astype(np.float64), v, a, a)
    return thirds(np.where(moves, np.maximum(15.0 / 8.0 / v, np.sqrt(10.0 / np.sqrt(3.0) / a)), 0.0))


def thirds(duration: FloatArray) -> Law:
    """From 0 to 1 in a given time: a third of it each for starting, going on, and braking."""
    part = SHARE * duration
    top = 1.0 / np.where(duration > 0, duration - part, 1.0)
    steep = top / np.where(duration > 0, part, 1.0)
    return Law(part, duration - 2.0 * part, part, top, steep, steep)
