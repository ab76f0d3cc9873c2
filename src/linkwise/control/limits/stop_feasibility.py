"""Whether a chain can stop from where it is without breaking a rule on the way, and how hard it may brake.

The manoeuvre is along the joints' present direction w: the share of w falls at a constant rate beta, from 1 in the middle of
the last cycle to sigma = 1 - beta dt/2 at its end, and on to 0 after another way of S = sigma^2/(2 beta) times w. A point is
then at p(s) with s' = sigma(t) and accelerates by -beta p' + sigma(t)^2 p''. Chord velocities of later cycles, however long
they are, differ by weighted means of this acceleration (the weights are triangles whose areas make h), so bounds of it are
bounds for every cycle that may come.

With v = p', c = p'' at the end of the cycle and j a bound of |p'''|, the acceleration at s is -beta v + k c with k from
-sigma^2/2 to sigma^2, and what is left of Taylor's series, at most j S sigma^2/3. The way back to the middle of the last
cycle is known exactly: it adds (v - V) - v beta dt/2 with the chord velocity V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import inner

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


SLOWEST = 1e-9
"""The least rate of braking, as a share of the cycle's own 2/dt."""

AT_ONCE = 1e-9
"""A share of the speed that is rounding, at the end of a cycle in which it comes to rest."""

EASE = 0.999
"""The share of what seems possible that is used in braking: how much is possible follows from the rate itself, slightly."""

TURNED = 1.04
"""A unit vector in a cone of 30 degrees differs from the axis by this many sines of its angle, at most,"""

UPRIGHT = 0.86
"""and has at least this share along it."""


@dataclass(frozen=True)
class Brake:
    """A rate of braking (1/s), the share of the speed at the end of the cycle, and the way to the stop (s)."""

    rate: Any
    share: Any
    way: Any

    @classmethod
    def at(cls, rate: Any, dt: Any) -> Brake:
        """After a cycle of length dt; a rate of 2/dt or more stops at once."""
        share = 1.0 - 0.5 * dt * rate
        share = select(share - AT_ONCE, share, 0.0)
        return cls(rate, share, share * share / (2.0 * rate))


@dataclass(frozen=True)
class Split:
    """A vector as seen along the velocity: its part along it, the square of what is across, its square."""

    along: Any
    across2: Any
    square: Any

    @classmethod
    def of(cls, vector: Array, velocity: Array, inverse: Any) -> Split:
        """With one over the speed."""
        along, square = inner(vector, velocity) * inverse, squared(vector)
        return cls(along, upper(square - along * along, 0.0), square)


class PointTangent:
    """How one point moves at the end of a cycle.

    Parameters
    ----------
    chord : (d,)
        Its chord velocity in the cycle, m/s; d is 3, or 1 for a joint.
    now : scalar
        The length of it.
    velocity, bend : (d,)
        First and second derivative along the joints' direction, m/s, m/s2.
    jerk : scalar
        Bound of the third, m/s3.
    inverse_dt : scalar
        One over the length of the cycle, 1/s.
    """

    def __init__(self, chord: Array, now: Any, velocity: Array, bend: Array, jerk: Any, inverse_dt: Any) -> None:
        self.jerk, gap = jerk, velocity - chord
        self.speed = root(squared(velocity) + TINY)
        self.inverse = 1.0 / self.speed
        self.bend = Split.of(bend, velocity, self.inverse)
        self.back = Split.of(gap * (2.0 * inverse_dt), velocity, self.inverse)  # the bend in the middle of the cycle
        self.bent, self.gap = root(self.bend.square), root(squared(gap))
        inverse_chord = 1.0 / (now + root(TINY))
        self.chord_speed = inner(velocity, chord) * inverse_chord
        self.chord_back = inner(gap, chord) * inverse_chord * (2.0 * inverse_dt)
        self.back_length = self.gap * (2.0 * inverse_dt)
        self.left = jerk * self.speed * (1.0 / 6.0)

    def force(self, limits: PointLimits) -> tuple[Any, Any]:
        """What beta |v| (m/s2) may be, a little less, infinite without limits; and how far that is from not being possible.

        With the force f, the part b of a deceleration d that bends take, and e/f for what is left of Taylor's series (less,
        as the way to the stop is shorter), f + b + e/f <= d; `margins` tells what really holds.
        """
        most, inverse = limits.most_deceleration, limits.deceleration
        slowing, other = self._any_way(most, inverse), self._tangential(most, inverse)
        tangential = other[0] - slowing[0]
        slowing = (select(tangential, other[0], slowing[0]), select(tangential, other[1], slowing[1]))
        whole = self._any_way(limits.most_any_way, limits.any_way)
        return EASE * lower(whole[0], slowing[0]), lower(whole[1], slowing[1])

    def _any_way(self, limit: Any, inverse: Any) -> tuple[Any, Any]:
        across = self.bend.across2 * (inverse * inverse)
        rest = 1.0 - across + lower(self.bend.along, -0.5 * self.bend.along) * inverse
        most, quality = _greatest(limit, inverse, rest, self.left * (1.0 + across))
        return lower(most, limit + self.back.along - self.back.across2 * inverse), quality

    def _tangential(self, limit: Any, inverse: Any) -> tuple[Any, Any]:
        taken = upper(-self.bend.along, 0.5 * self.bend.along) + TURNED * self.bent * self.gap * self.inverse
        most, quality = _greatest(limit, inverse, 1.0 - taken * inverse, self.left + 0.5 * TURNED * self.bend.square)
        return lower(most, limit + self.chord_back), quality

    def margins(self, limits: PointLimits, brake: Brake, quality: Any) -> tuple[Any, Any]:
        """What is left of accelerations, and of the speed, on the whole manoeuvre; below zero where a limit is broken.

        The rate of braking is as great as the limits let it be, so a share of them that is left tells nothing: of
        accelerations it is how far they are from not being possible.
        """
        square, pull, along = brake.share * brake.share, brake.rate * self.speed, self.bend.along
        left = self.jerk * brake.way * square * (1.0 / 3.0)
        swing = upper(brake.way * (self.bent + 0.5 * self.jerk * brake.way), self.gap) * self.inverse
        turned = TURNED * square * self.bent * swing
        slower = pull + square * upper(-along, 0.5 * along) + turned + left
        slower = upper(slower, brake.rate * self.chord_speed - self.chord_back)
        faster = square * upper(along, -0.5 * along) + turned + left
        faster = upper(faster, self.back.along + TURNED * self.back_length * swing) - UPRIGHT * pull
        ends, narrow = self._ends(pull, square), 0.5 - swing
        slowing, quickening = (self._total(inverse, *ends, left) for inverse in (limits.deceleration, limits.acceleration))
        kept = smallest(
            [
                self._total(limits.any_way, *ends, left),
                upper(slowing, select(narrow, 1.0 - slower * limits.deceleration, -1.0)),
                upper(quickening, select(narrow, 1.0 - faster * limits.acceleration, -1.0)),
            ]
        )
        return select(kept, upper(quality, lower(kept, 1e-3)), kept), 1.0 - self._fastest(brake) * limits.speed

    def _ends(self, force: Any, square: Any) -> tuple[Any, Any]:
        """Squares of the accelerations at both ends of the manoeuvre, the greater one, and on the way back."""
        across2 = square * square * self.bend.across2
        one, other = force - square * self.bend.along, force + 0.5 * square * self.bend.along
        back = force - self.back.along
        return upper(one * one + across2, other * other + 0.25 * across2), back * back + self.back.across2

    def _total(self, inverse: Any, ends: Any, back: Any, left: Any) -> Any:
        """What is left of a limit of acceleration in any direction."""
        remaining = 1.0 - left * inverse
        return lower(remaining * abs(remaining) - ends * (inverse * inverse), 1.0 - back * (inverse * inverse))

    def _fastest(self, brake: Brake) -> Any:
        """A bound of the speed on the way, m/s: of (|v| + x g)(1 - x/2), 0 <= x <= 1, with g what bends may add."""
        way, half = brake.way, 0.5 * brake.way * brake.way
        bowed = way * upper(self.bend.along, 0.0) + half * (self.bend.across2 * self.inverse + self.jerk)
        added = lower(bowed, way * self.bent + half * self.jerk)
        return brake.share * (self.speed + upper(added - 0.5 * self.speed, 0.0))


def _greatest(limit: Any, inverse: Any, remaining: Any, left: Any) -> tuple[Any, Any]:
    """The greatest f with f + left/f <= rest limit, and the discriminant as a share; below zero where there is none."""
    quality = remaining * abs(remaining) - 4.0 * left * (inverse * inverse)
    return limit * (0.5 * (remaining + root(upper(quality, 0.0)))), quality


def joint_margin(limits: PointLimits, speed: Any, brake: Brake) -> Any:
    """What is left of the speed on the way, of a joint whose speed is its chord velocity; `force` needs no check."""
    return 1.0 - brake.share * speed * limits.speed
