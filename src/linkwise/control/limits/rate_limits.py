"""What the limits of a point say of two chord velocities, one cycle after the other.

A chord velocity is the way from one output to the next over the length of the cycle. Two of them belong to the middles of
their cycles, so what lies between them is h = (dt_before + dt)/2, and the least acceleration that explains the difference
is the difference over h. With speeds |V| the rules are |V| <= v, |V| - |V before| <= a h, |V before| - |V| <= d h, and,
where both a and d are limited, |V - V before| <= max(a, d) h.

All is computed with the inverses of limits, zero where there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, root, select

TINY = 1e-24
"""Added to squares of speeds, m2/s2, so that a direction can be taken of each."""


@dataclass(frozen=True)
class PointLimits:
    """One over the limits of a point: of speed, acceleration, deceleration, and acceleration in any direction.

    The limits themselves, infinite where there is none, are `most_deceleration` and `most_any_way`.
    """

    speed: Any
    acceleration: Any
    deceleration: Any
    any_way: Any
    most_deceleration: Any
    most_any_way: Any

    @classmethod
    def of(cls, inverse: Sequence[Any], acceleration: Any, deceleration: Any) -> PointLimits:
        """From one over each limit, and two of the limits."""
        speed, faster, slower = inverse
        return cls(speed, faster, slower, lower(faster, slower), deceleration, upper(acceleration, deceleration))


def lower(a: Any, b: Any) -> Any:
    """The smaller of two scalars; the second where one is no number."""
    return select(b - a, a, b)


def upper(a: Any, b: Any) -> Any:
    """The greater of two scalars; the second where one is no number."""
    return select(a - b, a, b)


def length(v: Array) -> Any:
    """|v|, of a single number without a root."""
    return abs(v[0]) if len(v) == 1 else root(squared(v))


def smallest(values: list[Any]) -> Any:
    """The least of some scalars, at most 1, without those that are no number: margins are shares of what is allowed."""
    least_value: Any = 1.0
    for value in values:
        least_value = lower(value, least_value)
    return least_value


def rule_margins(limits: PointLimits, chord: Array, now: Any, before: Array, was: Any, inverse_h: Any) -> tuple[Any, Any]:
    """What is left of the rules, as a share of each limit, of two chord velocities (d,) with their lengths.

    Returns
    -------
    faster, slower : scalar
        Of those that ask for less speed, and of those that ask for more: where the point slows down, too great a change is
        of the latter.
    """
    gain = (now - was) * inverse_h
    any_way = inverse_h * limits.any_way
    change = 1.0 - squared(chord - before) * (any_way * any_way)
    faster = lower(1.0 - now * limits.speed, 1.0 - gain * limits.acceleration)
    slower = 1.0 + gain * limits.deceleration
    return lower(faster, select(gain, change, 1.0)), lower(slower, select(gain, 1.0, change))
