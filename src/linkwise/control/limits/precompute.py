"""What all candidates of a cycle have in common, from what is given for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkwise.control.limits.loop_projection import LoopProjection
from linkwise.control.limits.point_motion import Points
from linkwise.control.limits.stop_feasibility import Brake, PointLimits, length, lower, smallest, upper
from linkwise.kernel.row_layout import RowLayout
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import chosen, inner

LIMITS = ("max_speed", "max_acceleration", "max_deceleration")
"""Of each point, in what is given;"""

INVERSE = ("speed", "acceleration", "deceleration")
"""and one over each."""

NUMBERS = ("dt", "inverse_dt", "inverse_h", "moves", "rate", "guess", "left", "far", "following")
"""What is prepared as one number each,"""

JOINTS = ("q", "goal", "goal_speed", "stop", "wanted", "aim", "low", "high", "scale")
"""and for each joint."""

HARDER = 0.99
"""The share of the way to a stop that is needed one cycle later, about: bends are less at less speed."""

BEYOND = 1.5
"""Candidates behind a moving goal go so many times as far as what seems right: what is right ends them before."""

LEAST, MOST = 1e-3, 2.0
"""Between these is what braking is taken to leave of the limits."""

PAD = 1e-12
"""By this share a stop may seem to be beyond a joint's limit by rounding."""


class Prepare:
    """The function of a row of what is given to a row of what the search reads.

    Parameters
    ----------
    points, closures
        Of the mechanism.
    given, carry : RowLayout
        Of what is read.
    """

    def __init__(self, points: Points, closures: LoopProjection, given: RowLayout, carry: RowLayout) -> None:
        self.points, self.closures, self.given, self.carry = points, closures, given, carry
        n, k = points.tree.n, len(points)
        limits = dict.fromkeys((*LIMITS, *INVERSE), k + n)
        self.layout = RowLayout(
            dict.fromkeys(NUMBERS, 1)
            | dict.fromkeys(JOINTS, n)
            | {"carry": carry.size, **limits, "lengths": k, "places": 3 * k}
            | {
                "entered": 3 * (3 * k + n) if closures else 0,
                "residual": closures.rows,
                "closures": given.parts["closures"].stop - given.parts["closures"].start,
            }
        )

    def __call__(self, p: Array) -> Array:
        """The row; a cycle of no length counts as one of 1 s, for its answer is the present output."""
        given, number = self.given, self.given.number
        moves = select(number(p, "dt"), 1.0, 0.0)
        dt = select(moves, number(p, "dt"), 1.0)
        h = 0.5 * (number(p, "dt_before") + dt)
        q, goal, goal_speed, low, high = (given.read(p, name) for name in ("q", "goal", "goal_speed", "low", "high"))
        kept, switches = given.read(p, "carry"), self.closures.held(q, given.read(p, "closures"))
        direction, rate = self.carry.read(kept, "direction"), self.carry.number(kept, "rate")
        mean, way = _braking(rate, h, dt)
        low, high = _bounds(q, direction * way, low, high)
        if not self.closures:
            goal = np.array([select(x - b, b, select(a - x, a, x)) for x, a, b in zip(goal, low, high, strict=True)])
        stop, wanted = direction * mean, (goal - q) / dt
        chords = [*self.carry.read(kept, "chords").reshape(-1, 3), *self.carry.read(kept, "joints").reshape(-1, 1)]
        before = [length(chord) for chord in chords]
        limits = [given.read(p, name) for name in LIMITS]
        inverse = [np.array([1.0 / value for value in part]) for part in limits]
        far = root(squared(goal - q))
        start = _Start(q, far, root(squared(direction)), rate, way, stop, chords, before)
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
            "scale": [1.0 / (abs(a) + abs(b) + 1e-200) for a, b in zip(goal - q, stop * dt, strict=True)],
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
        """The joints' chord velocity (n,) that comes up to a moving goal and to its speed at once.

        Seen from the goal it leads straight there, as fast as the greatest decelerations let it come to rest there: with the
        time c that a unit of speed takes to brake and the way r, (s c + dt/2)^2 = 2 c r for the speed s in this cycle.
        """
        ahead = wanted - goal_speed
        time: Any = 0.0  # (that the speed which is there in one cycle takes to brake)
        for velocity, limit in zip([*self.points.velocities(start.q, ahead), *ahead.reshape(-1, 1)], inverse, strict=True):
            time = upper(time, length(velocity) * limit)
        fall = root(2.0 * time * dt)
        return np.asarray(goal_speed + ahead * select(fall - dt, (fall - 0.5 * dt) / upper(time, 1e-300), 1.0))

    def _guess(self, start: _Start, wanted: Array, limits: Sequence[Array], h: Any, dt: Any) -> tuple[Any, Any]:
        """About where lambda ends, and how much braking leaves of the limits.

        The velocities of the points are taken as they are at the present output; the joints' braking as it was in the last
        cycle, on the way to the goal.
        """
        onward = wanted - start.stop
        # (what braking, a little harder than in the last cycle, leaves of the way, and what lambda takes of that)
        spare = start.far - HARDER * start.way * start.speed
        taken = root(squared(onward)) * (dt + 1.0 / upper(start.rate, 1e-9))
        share = select(start.rate, lower(upper(spare, 0.0) / (taken + 1e-200), 1.0), 1.0)
        left: Any = spare / upper(start.far, 1e-200)
        base, ways = ([*self.points.velocities(start.q, w), *w.reshape(-1, 1)] for w in (start.stop, onward))
        for k, (first, step) in enumerate(zip(base, ways, strict=True)):
            (fastest, faster, slower), was = (part[k] for part in limits), start.lengths[k]
            share = lower(share, _reach(first, step, lower(fastest, was + h * faster)))
            share = lower(share, _reach(first - start.chords[k], step, h * upper(faster, slower)))
            if len(first) > 1:
                now = length(first)
                left = lower(left, lower(1.0 - now / fastest, 1.0 - (now - was) / (h * faster)))
        return share, lower(upper(left, LEAST), MOST)


@dataclass(frozen=True)
class _Start:
    """Where a cycle begins: the present output, its direction, the braking chord, the chord velocities before."""

    q: Array
    far: Any
    speed: Any
    rate: Any
    way: Any
    stop: Array
    chords: list[Array]
    lengths: list[Any]


def _braking(rate: Any, h: Any, dt: Any) -> tuple[Any, Any]:
    """Of the braking manoeuvre: the mean share of the direction in this cycle, and the way to the stop (s)."""
    share = upper(1.0 - rate * (h - 0.5 * dt), 0.0)
    way = select(rate, share * share / upper(2.0 * rate, 1e-300), 0.0)
    fall = rate * dt
    return select(share - fall, share - 0.5 * fall, way / dt), way


def _bounds(q: Array, stop: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """The joints' limits, wider where the joints are beyond them, or cannot stop before them."""
    least_of, most_of = [], []
    for here, step, a, b in zip(q, stop, low, high, strict=True):
        end = here + step
        most_of.append(upper(here, select(end - b - PAD * (1.0 + abs(end)), end, b)))
        least_of.append(lower(here, select(a - end - PAD * (1.0 + abs(end)), end, a)))
    return np.array(least_of), np.array(most_of)


def _reach(base: Array, step: Array, most: Any) -> Any:
    """The greatest x with |base + x way| <= most, 1 at most, or 0."""
    a, b, c = squared(step), inner(base, step), squared(base)
    most = lower(most, 1e100)
    far = abs(step[0]) * most if len(step) == 1 else root(upper(b * b + a * (most * most - c), 0.0))
    return select(a, lower(upper((far - b) / (a + 1e-200), 0.0), 1.0), 1.0)


class PreparedRow(SimpleNamespace):
    """What the search reads, by name (see `Prepare`), and the limits and chord velocities of all points in lists.

    Parameters
    ----------
    layout, carry : RowLayout
        Of the row, and of the part of it that is carried.
    p : ndarray
        The row.
    """

    def __init__(self, layout: RowLayout, carry: RowLayout, p: Array) -> None:
        joints = {name: layout.read(p, name) for name in (*JOINTS, "carry", "residual", "closures")}
        super().__init__(**{name: layout.number(p, name) for name in NUMBERS}, **joints)
        self.places = layout.read(p, "places").reshape(-1, 3)
        self.points, self.entered = len(self.places), layout.read(p, "entered").reshape(3, -1)
        inverse = zip(*(layout.read(p, name) for name in INVERSE), strict=True)
        limits = zip(inverse, *(layout.read(p, name) for name in LIMITS[1:]), strict=True)
        self.limits = [PointLimits.of(*each) for each in limits]
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
