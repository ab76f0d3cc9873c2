"""Stop feasibility within all limits, and the greatest admissible deceleration.

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
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkwise.control.limits.point_motion import Cones, LoopProjection, Points
from linkwise.control.tangent import block_count, blocks
from linkwise.kernel.row_layout import RowLayout
from linkwise.kinematics.configuration import difference
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import chosen, inner

#: Added to squared velocities, m2/s2, so that each has a direction.
TINY = 1e-24


@dataclass(frozen=True)
class PointLimits:
    """Inverse limits of a point: velocity, acceleration, deceleration, and acceleration in any direction.

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
        """Build it from all inverse limits, and two of the limits."""
        speed, faster, slower = inverse
        return cls(speed, faster, slower, lower(faster, slower), deceleration, upper(acceleration, deceleration))


def lower(a: Any, b: Any) -> Any:
    """The smaller of two scalars; the second where one is not a number."""
    return select(b - a, a, b)


def upper(a: Any, b: Any) -> Any:
    """The greater of two scalars; the second where one is not a number."""
    return select(a - b, a, b)


def length(v: Array) -> Any:
    """|v|, of a single number without a root."""
    return abs(v[0]) if len(v) == 1 else root(squared(v))


def smallest(values: list[Any]) -> Any:
    """Minimum of some scalars and 1, without NaN: margins are relative to their limits."""
    least_value: Any = 1.0
    for value in values:
        least_value = lower(value, least_value)
    return least_value


def rule_margins(limits: PointLimits, chord: Array, now: Any, before: Array, was: Any, inverse_h: Any) -> tuple[Any, Any]:
    """Relative margins of the rate limits, from two chord velocities (d,) with their lengths.

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


#: The least rate of braking, as a share of the cycle's own 2/dt.
SLOWEST = 1e-9

#: Relative velocity that is rounding, at the end of a cycle that ends at rest.
AT_ONCE = 1e-9

#: Share of the possible braking that is used: the possible rate depends slightly on the rate itself.
EASE = 0.999

#: A unit vector in a cone of 30 degrees differs from the axis by this many sines of its angle, at most,
TURNED = 1.04

#: and has at least this share along it.
UPRIGHT = 0.86


@dataclass(frozen=True)
class Brake:
    """A rate of braking (1/s), the share of the speed at the end of the cycle, the stopping distance over the speed (s)."""

    rate: Any
    share: Any
    stop_distance: Any

    @classmethod
    def at(cls, rate: Any, dt: Any) -> Brake:
        """State after a cycle of length dt; a rate of 2/dt or more stops at once."""
        share = 1.0 - 0.5 * dt * rate
        share = select(share - AT_ONCE, share, 0.0)
        return cls(rate, share, share * share / (2.0 * rate))


@dataclass(frozen=True)
class Split:
    """A vector relative to a velocity: component along it, square of the transverse component, total square."""

    along: Any
    across2: Any
    square: Any

    @classmethod
    def of(cls, vector: Array, velocity: Array, inverse: Any) -> Split:
        """Split a vector, with the inverse of the speed."""
        along, square = inner(vector, velocity) * inverse, squared(vector)
        return cls(along, upper(square - along * along, 0.0), square)


class PointTangent:
    """Motion of one point at the end of a cycle.

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
        """Admissible beta |v| (m/s2), slightly reduced, infinite without limits; and the violation if there is none.

        With the force f, the part b of a deceleration d that bends take, and e/f for what is left of Taylor's series (less,
        as the way to the stop is shorter), f + b + e/f <= d; `margins` verifies the limits.
        """
        most, inverse = limits.most_deceleration, limits.deceleration
        slowing, other = self._any_way(most, inverse), self._tangential(most, inverse)
        tangential = other[0] - slowing[0]
        slowing = (select(tangential, other[0], slowing[0]), select(tangential, other[1], slowing[1]))
        whole = self._any_way(limits.most_any_way, limits.any_way)
        return EASE * lower(whole[0], slowing[0]), lower(whole[1], slowing[1])

    def _any_way(self, limit: Any, inverse: Any) -> tuple[Any, Any]:
        across = self.bend.across2 * (inverse * inverse)
        remaining = 1.0 - across + lower(self.bend.along, -0.5 * self.bend.along) * inverse
        most, quality = _greatest(limit, inverse, remaining, self.left * (1.0 + across))
        return lower(most, limit + self.back.along - self.back.across2 * inverse), quality

    def _tangential(self, limit: Any, inverse: Any) -> tuple[Any, Any]:
        taken = upper(-self.bend.along, 0.5 * self.bend.along) + TURNED * self.bent * self.gap * self.inverse
        most, quality = _greatest(limit, inverse, 1.0 - taken * inverse, self.left + 0.5 * TURNED * self.bend.square)
        return lower(most, limit + self.chord_back), quality

    def margins(self, limits: PointLimits, brake: Brake, quality: Any) -> tuple[Any, Any]:
        """Margins of acceleration and velocity during the whole manoeuvre, negative if a limit is violated.

        The rate of braking is as great as the limits let it be, so the share of them that is left means nothing: of
        accelerations it is how far they are from not being possible.
        """
        square, pull, along = brake.share * brake.share, brake.rate * self.speed, self.bend.along
        left = self.jerk * brake.stop_distance * square * (1.0 / 3.0)
        swing = upper(brake.stop_distance * (self.bent + 0.5 * self.jerk * brake.stop_distance), self.gap) * self.inverse
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
        """Squared accelerations at both ends of the manoeuvre, the greater one, and on the way back."""
        across2 = square * square * self.bend.across2
        first, second = force - square * self.bend.along, force + 0.5 * square * self.bend.along
        back = force - self.back.along
        return upper(first * first + across2, second * second + 0.25 * across2), back * back + self.back.across2

    def _total(self, inverse: Any, ends: Any, back: Any, left: Any) -> Any:
        """Margin of a limit of acceleration in any direction."""
        remaining = 1.0 - left * inverse
        return lower(remaining * abs(remaining) - ends * (inverse * inverse), 1.0 - back * (inverse * inverse))

    def _fastest(self, brake: Brake) -> Any:
        """Upper bound of the speed during braking, m/s: of (|v| + x g)(1 - x/2), 0 <= x <= 1, with g from bends."""
        distance, half = brake.stop_distance, 0.5 * brake.stop_distance * brake.stop_distance
        bowed = distance * upper(self.bend.along, 0.0) + half * (self.bend.across2 * self.inverse + self.jerk)
        added = lower(bowed, distance * self.bent + half * self.jerk)
        return brake.share * (self.speed + upper(added - 0.5 * self.speed, 0.0))


def _greatest(limit: Any, inverse: Any, remaining: Any, left: Any) -> tuple[Any, Any]:
    """Greatest f with f + left/f <= remaining limit, and the relative discriminant, negative if there is none."""
    quality = remaining * abs(remaining) - 4.0 * left * (inverse * inverse)
    return limit * (0.5 * (remaining + root(upper(quality, 0.0)))), quality


def joint_margin(limits: PointLimits, speed: Any, brake: Brake) -> Any:
    """Velocity margin of a joint whose velocity is its chord velocity; `force` needs no check."""
    return 1.0 - brake.share * speed * limits.speed


#: Inputs of each point;
LIMITS = ("max_speed", "max_acceleration", "max_deceleration")

#: and one over each.
INVERSE = ("speed", "acceleration", "deceleration")

#: Precomputed scalars,
NUMBERS = ("dt", "inverse_dt", "inverse_h", "moves", "rate", "guess", "left", "far", "following")

#: and for each joint: configurations (nq,), velocities (nv,), limits (n,) and cones (c,).
CONFIGURATIONS, VELOCITIES, JOINT_LIMITS = ("q", "goal"), ("goal_speed", "stop", "wanted", "aim"), ("low", "high", "scale")
CONES = ("cones", "cone_scale")
JOINTS = (*CONFIGURATIONS, *VELOCITIES, *JOINT_LIMITS, *CONES)

#: Approximate share of the stopping distance that is needed one cycle later: curvature decreases with velocity.
HARDER = 0.99

#: Candidates behind a moving goal exceed the estimate by this factor: the exact one ends them before.
BEYOND = 1.5

#: Bounds of the estimated margin after braking.
LEAST, MOST = 1e-3, 2.0

#: By this share a stop may seem to be beyond a joint's limit by rounding.
PAD = 1e-12


class Prepare:
    """Maps an input row to the row that the search reads.

    Parameters
    ----------
    points, closures
        Of the mechanism.
    input_layout, carry : RowLayout
        Of the input row, and of the part that is carried.
    """

    def __init__(self, points: Points, closures: LoopProjection, input_layout: RowLayout, carry: RowLayout) -> None:
        self.points, self.closures, self.input_layout, self.carry = points, closures, input_layout, carry
        tree, k, self.cones = points.tree, len(points), Cones(points.tree)
        limits = dict.fromkeys((*LIMITS, *INVERSE), k + block_count(tree))
        self.layout = RowLayout(
            dict.fromkeys(NUMBERS, 1)
            | dict.fromkeys(CONFIGURATIONS, tree.nq)
            | dict.fromkeys(VELOCITIES, tree.nv)
            | dict.fromkeys(JOINT_LIMITS, tree.n)
            | dict.fromkeys(CONES, len(self.cones))
            | {"detour": 1 if self.cones else 0, "carry": carry.size, **limits, "lengths": k, "places": 3 * k}
            | {
                "entered": 3 * (3 * k + tree.nv) if closures else 0,
                "residual": closures.rows,
                "closures": input_layout.parts["closures"].stop - input_layout.parts["closures"].start,
            }
        )

    def __call__(self, p: Array) -> Array:
        """The row; a cycle of no length counts as one of 1 s, for its answer is the present output."""
        input_layout, number = self.input_layout, self.input_layout.number
        moves = select(number(p, "dt"), 1.0, 0.0)
        dt = select(moves, number(p, "dt"), 1.0)
        h = 0.5 * (number(p, "dt_before") + dt)
        q, goal, goal_speed, low, high = (input_layout.read(p, name) for name in ("q", "goal", "goal_speed", "low", "high"))
        kept, switches = input_layout.read(p, "carry"), self.closures.active_pairs(q, input_layout.read(p, "closures"))
        direction, rate = self.carry.read(kept, "direction"), self.carry.number(kept, "rate")
        mean, stop_distance = _braking(rate, h, dt)
        tree = self.points.tree
        base, free = tree.nq - tree.n, tree.nv - tree.n
        low, high = _bounds(q[base:], direction[free:] * stop_distance, low, high)
        openings = self.cones.widened(q, direction * stop_distance, input_layout.read(p, "cones"))
        if not self.closures:
            pairs = zip(goal[base:], low, high, strict=True)
            singles = np.array([select(x - b, b, select(a - x, a, x)) for x, a, b in pairs])
            goal = np.concatenate([self.cones.clipped(goal, openings), singles])
        detour: Any = 0.0
        if self.cones and not self.closures:
            goal, detour = self.cones.detour(q, goal, openings)
        stop, wanted = direction * mean, difference(tree, q, goal) / dt
        chords = [*self.carry.read(kept, "chords").reshape(-1, 3), *blocks(tree, self.carry.read(kept, "joints"))]
        before = [length(chord) for chord in chords]
        limits = [input_layout.read(p, name) for name in LIMITS]
        inverse = [np.array([1.0 / value for value in part]) for part in limits]
        ways = difference(tree, q, goal)
        far = root(squared(ways))
        start = _Start(q, far, root(squared(direction)), rate, stop_distance, stop, chords, before)
        following = squared(goal_speed)
        aim = chosen(following, stop + BEYOND * (self._chase(start, wanted, goal_speed, inverse[2], dt) - stop), wanted)
        guess, left = self._guess(start, aim, limits, h, dt)
        guess = select(following, lower(guess, 1.0 / BEYOND), guess)
        values = {
            "dt": dt, "inverse_dt": 1.0 / dt, "inverse_h": 1.0 / h, "moves": moves,
            "rate": select(mean, rate / upper(mean, 1e-300), 0.0),
            "guess": guess, "left": left, "far": 1.0 / upper(far, 1e-200), "following": following,
            "q": q, "goal": goal, "goal_speed": goal_speed, "stop": stop, "wanted": wanted, "aim": aim,
            "low": low, "high": high,
            "scale": [1.0 / (abs(a) + abs(b) + 1e-200) for a, b in zip(ways[free:], stop[free:] * dt, strict=True)],
            "cones": openings, "cone_scale": self.cones.scale(ways, stop * dt),
            "detour": [detour] if self.cones else [],
            "carry": kept, **dict(zip((*LIMITS, *INVERSE), (*limits, *inverse), strict=True)),
            "lengths": before[: len(self.points)], "places": self.points.positions(q),
            "entered": self._entered(q, switches, (stop, aim, wanted)),
            "residual": self.closures.residual(q, switches), "closures": switches,
        }  # fmt: skip
        return self.layout.row(values)

    def _entered(self, q: Array, switches: Array, chords: tuple[Array, ...]) -> Array:
        """Velocities of points and joints (3 k + n,) with which some chords (n,) begin, if they begin along the loops."""
        if not self.closures:
            return np.zeros(0)
        project = self.closures.along(q, switches)
        begun = [project(chord) for chord in chords]
        return np.concatenate([part for w in begun for part in (self.points.velocities(q, w).ravel(), w)])

    def _chase(self, start: _Start, wanted: Array, goal_speed: Array, inverse: Array, dt: Any) -> Array:
        """Joint chord velocity (n,) that reaches a moving goal and its velocity at the same time.

        Seen from the goal it leads straight there, as fast as the greatest decelerations let it come to rest there: with the
        time c that a unit of speed takes to brake and the way r, (s c + dt/2)^2 = 2 c r for the speed s in this cycle.
        """
        ahead = wanted - goal_speed
        time: Any = 0.0  # (braking time of the velocity in one cycle)
        velocities = [*self.points.velocities(start.q, ahead), *blocks(self.points.tree, ahead)]
        for velocity, limit in zip(velocities, inverse, strict=True):
            time = upper(time, length(velocity) * limit)
        fall = root(2.0 * time * dt)
        return np.asarray(goal_speed + ahead * select(fall - dt, (fall - 0.5 * dt) / upper(time, 1e-300), 1.0))

    def _guess(self, start: _Start, wanted: Array, limits: Sequence[Array], h: Any, dt: Any) -> tuple[Any, Any]:
        """Estimate the final lambda, and the margin after braking.

        The velocities of the points are taken as they are at the present output; the joints' braking as it was in the last
        cycle, on the way to the goal.
        """
        onward = wanted - start.stop
        # (remaining distance after slightly stronger braking than in the last cycle, and lambda's share of it)
        spare = start.far - HARDER * start.stop_distance * start.speed
        taken = root(squared(onward)) * (dt + 1.0 / upper(start.rate, 1e-9))
        share = select(start.rate, lower(upper(spare, 0.0) / (taken + 1e-200), 1.0), 1.0)
        left: Any = spare / upper(start.far, 1e-200)
        tree, velocities = self.points.tree, self.points.velocities
        base, ways = ([*velocities(start.q, w), *blocks(tree, w)] for w in (start.stop, onward))
        for k, (first, step) in enumerate(zip(base, ways, strict=True)):
            (fastest, faster, slower), was = (part[k] for part in limits), start.lengths[k]
            share = lower(share, _reach(first, step, lower(fastest, was + h * faster)))
            share = lower(share, _reach(first - start.chords[k], step, h * upper(faster, slower)))
            if k < len(self.points):
                now = length(first)
                left = lower(left, lower(1.0 - now / fastest, 1.0 - (now - was) / (h * faster)))
        return share, lower(upper(left, LEAST), MOST)


@dataclass(frozen=True)
class _Start:
    """Begin of a cycle: present output, its direction, braking chord, previous chord velocities."""

    q: Array
    far: Any
    speed: Any
    rate: Any
    stop_distance: Any
    stop: Array
    chords: list[Array]
    lengths: list[Any]


def _braking(rate: Any, h: Any, dt: Any) -> tuple[Any, Any]:
    """Mean share of the direction in this cycle of braking, and stopping distance divided by the speed (s)."""
    share = upper(1.0 - rate * (h - 0.5 * dt), 0.0)
    stop_distance = select(rate, share * share / upper(2.0 * rate, 1e-300), 0.0)
    fall = rate * dt
    return select(share - fall, share - 0.5 * fall, stop_distance / dt), stop_distance


def _bounds(q: Array, stop: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The joints' limits, wider where the joints are beyond them, or cannot stop before them."""
    least_of, most_of = [], []
    for here, step, a, b in zip(q, stop, low, high, strict=True):
        end = here + step
        most_of.append(upper(here, select(end - b - PAD * (1.0 + abs(end)), end, b)))
        least_of.append(lower(here, select(a - end - PAD * (1.0 + abs(end)), end, a)))
    return np.array(least_of), np.array(most_of)


def _reach(base: Array, step: Array, most: Any) -> Any:
    """Greatest x with |base + x step| <= most, between 0 and 1."""
    a, b, c = squared(step), inner(base, step), squared(base)
    most = lower(most, 1e100)
    far = abs(step[0]) * most if len(step) == 1 else root(upper(b * b + a * (most * most - c), 0.0))
    return select(a, lower(upper((far - b) / (a + 1e-200), 0.0), 1.0), 1.0)


class PreparedRow(SimpleNamespace):
    """Inputs of the search, by name (see `Prepare`), and lists of limits and chord velocities of all points.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    layout, carry : RowLayout
        Of the row, and of the part of it that is carried.
    p : ndarray
        The row.
    """

    def __init__(self, tree: Tree, layout: RowLayout, carry: RowLayout, p: Array) -> None:
        joints = {name: layout.read(p, name) for name in (*JOINTS, "carry", "residual", "closures", "detour")}
        super().__init__(**{name: layout.number(p, name) for name in NUMBERS}, **joints, tree=tree, ball_cones=Cones(tree))
        self.places = layout.read(p, "places").reshape(-1, 3)
        self.points, self.entered = len(self.places), layout.read(p, "entered").reshape(3, -1)
        inverse = zip(*(layout.read(p, name) for name in INVERSE), strict=True)
        limits = zip(inverse, *(layout.read(p, name) for name in LIMITS[1:]), strict=True)
        self.limits = [PointLimits.of(*values) for values in limits]
        chords = [*carry.read(self.carry, "chords").reshape(-1, 3), *blocks(tree, carry.read(self.carry, "joints"))]
        lengths = [*layout.read(p, "lengths"), *(length(chord) for chord in chords[len(self.places) :])]
        self.before = (chords, lengths)

    def inside(self, here: Array) -> Array:
        """Clip a configuration (nq,) to the joints' limits, which it exceeds by rounding only."""
        single = here[self.tree.nq - self.tree.n :]
        singles = np.array([lower(upper(x, a), b) for x, a, b in zip(single, self.low, self.high, strict=True)])
        return np.concatenate([self.ball_cones.clipped(here, self.cones), singles])

    def room(self, here: Array, tangent: Array, brake: Brake) -> Any:
        """Margin of the joints' limits after stopping."""
        base, free = self.tree.nq - self.tree.n, self.tree.nv - self.tree.n
        margins = self.ball_cones.room(here, tangent * brake.stop_distance, self.cones, self.cone_scale)
        for x, speed, low, high, scale in zip(here[base:], tangent[free:], self.low, self.high, self.scale, strict=True):
            travel = speed * brake.stop_distance
            margins += [(high - (x + upper(travel, 0.0))) * scale, ((x + lower(travel, 0.0)) - low) * scale]
        return smallest(margins)
