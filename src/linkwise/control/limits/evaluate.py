"""One look at a candidate for the next output, over scalars: what it leaves of every limit, and what to look at next.

Candidates are q + w dt with w from the chord velocity of the braking manoeuvre (lambda = 0) to that which leads to the goal
at once (lambda = 1). Where the goal moves, those below 1 lead towards the velocity that comes up to it and to its own
velocity at once instead: aimed at the goal alone, a chase goes on from side to side of it. The goal is looked at first;
where it breaks a rule, the greatest lambda that breaks none is looked for. Braking itself needs no look: it was verified,
to its end, when the last output was chosen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.control.limits.bisection import ALMOST, CHOSEN, STOPPED, BracketSearch
from linkwise.control.limits.point_motion import LoopProjection, Points
from linkwise.control.limits.stop_feasibility import (
    SLOWEST,
    Brake,
    PointLimits,
    PointTangent,
    PreparedRow,
    joint_margin,
    length,
    lower,
    rule_margins,
    smallest,
    upper,
)
from linkwise.kernel.row_layout import RowLayout
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import chosen, inner

FURTHER = 2.0
"""How many times as fast as in this cycle ways along loops may come to bend until the chain stands."""

ROUNDING = 1e-6
"""By this share of a limit a rule may seem broken by rounding: positions of 1 m, cycles of 0.1 ms."""


@dataclass(frozen=True)
class CandidateMargins:
    """What a candidate is like.

    Attributes
    ----------
    margin, onward, rules, hard : scalar
        The least share that is left of all limits, of those that ask for less speed, of the rules of this cycle, of what is
        kept even where braking is not.
    brake : Brake
        The braking from there.
    chords : list of ndarray
        Chord velocities of all points.
    """

    margin: Any
    onward: Any
    rules: Any
    hard: Any
    brake: Brake
    chords: list[Array]


class CandidateStep:
    """The traced step of the search, for one mechanism.

    Parameters
    ----------
    points, closures
        Of the mechanism.
    prepared, carry, aux : RowLayout
        Of the parameters, of what is carried to the next cycle, of the state.
    """

    def __init__(
        self, points: Points, closures: LoopProjection, prepared: RowLayout, carry: RowLayout, aux: RowLayout
    ) -> None:
        self.points, self.closures = points, closures
        self.prepared, self.carry, self.aux = prepared, carry, aux

    def __call__(self, p: Array, q0: Array, settings: Array, x: Array, aux: Array) -> tuple[Array, Array, Any]:
        """Look at a candidate x, and either end with it or say which is next."""
        row = PreparedRow(self.prepared, self.carry, p)
        search = BracketSearch.read(self.aux, aux)
        here = chosen(search.looks - 0.5, x, row.goal)
        w = self._chord(row, search.trial)
        chord = (here - row.q) * row.inverse_dt if self.closures else w
        closed = self.closures.close(here, row.residual, row.closures, search.trial, search.newton, chord)
        places = (self.points.positions(here) - row.places) * row.inverse_dt
        look = self._look(row, here, search.trial, closed.tangent, [*places, *chord.reshape(-1, 1)])
        moved = search.next(look.margin, look.onward, look.hard, closed, (row.guess, row.left), bool(self.closures))
        onward = chosen(moved.trial - ALMOST, row.goal, row.q + self._chord(row, moved.trial) * row.dt)
        best = self._best(row, search, moved, here, w, aux)
        if self.closures:
            onward = chosen(closed.busy, closed.onward, self._started(row, search, moved, here, w, onward, best))
        status = select(row.moves, moved.status, 1.0)
        result = chosen(row.moves, chosen(status, row.inside(here), onward), row.q)
        state = {
            "carry": chosen(row.moves, self._kept(row, look, closed.tangent), row.carry),
            "limited": select(row.moves, select(1.0 - search.trial, 1.0, 0.0), 0.0),
            "kept": select(row.moves, select(look.rules + ROUNDING, 1.0, 0.0), 1.0),
            "lam": search.trial,
            "best": best,
            **moved.parts(),
        }
        return result, self.aux.row(state), status

    def _chord(self, row: PreparedRow, trial: Any) -> Array:
        """The joints' chord velocity of a candidate; below zero only a part of the braking one."""
        between = row.stop + trial * (row.aim - row.stop)
        otherwise = row.stop * (1.0 + trial) if self.closures else row.stop
        return chosen(trial - ALMOST, row.wanted, chosen(trial, between, otherwise))

    def _best(
        self, row: PreparedRow, search: BracketSearch, moved: BracketSearch, here: Array, w: Array, aux: Array
    ) -> Array:
        """The closed configuration of the lower end of the bracket."""
        if not self.closures:
            return np.zeros(0)
        anew = select(moved.low - search.trial, 0.0, select(search.trial - moved.low, 0.0, 1.0))
        return chosen(anew, here, self.aux.read(aux, "best"))

    def _started(
        self,
        row: PreparedRow,
        search: BracketSearch,
        moved: BracketSearch,
        here: Array,
        w: Array,
        onward: Array,
        best: Array,
    ) -> Array:
        """Where the next candidate is closed from: as far off its line as the last one was; the chosen one, as it was."""
        line = row.q + w * row.dt
        between = chosen(search.looks - 0.5, onward + (here - line), onward)
        between = chosen(moved.trial, between, onward)
        some = select(moved.low + 1.0, abs(moved.low), 0.0)  # (braking, 0, and standing, -1, are not closed anew)
        again = chosen(some, best, onward)
        ended = (moved.phase - CHOSEN) * (moved.phase - STOPPED)
        return chosen(0.25 - ended * ended, again, chosen(moved.trial - ALMOST, onward, between))

    def _kept(self, row: PreparedRow, look: CandidateMargins, tangent: Array) -> Array:
        """What the next cycle must know."""
        k = len(self.points)
        rate = select(look.margin, look.brake.rate, select(-look.margin, row.rate, look.brake.rate))
        chords = np.concatenate([np.zeros(0), *look.chords[:k]])
        return self.carry.row(
            {"direction": tangent, "rate": rate, "chords": chords, "joints": np.concatenate(look.chords[k:])}
        )

    def _look(self, row: PreparedRow, here: Array, trial: Any, tangent: Array, chords: list[Array]) -> CandidateMargins:
        k = len(self.points)
        velocities, bends = self.points.motion(here, tangent)
        if self.closures:
            bends = (velocities - np.array(chords[:k]).reshape(-1, 3)) * (2.0 * row.inverse_dt)
        now = [length(chord) for chord in chords]
        jerks = [*self.points.jerk(here, tangent)]
        if self.closures:
            measured = self._jerks(row, trial, [*velocities, *tangent.reshape(-1, 1)], chords)
            jerks = [upper(one, other) for one, other in zip(jerks, measured[:k], strict=True)]
        ways = [*zip(velocities, bends, jerks, strict=True)]
        if self.closures:
            speeds = tangent.reshape(-1, 1)
            gaps = [(speed - chord) * (2.0 * row.inverse_dt) for speed, chord in zip(speeds, chords[k:], strict=True)]
            ways += [*zip(speeds, gaps, measured[k:], strict=True)]
        points = [
            PointTangent(c, s, *derivatives, row.inverse_dt) for c, s, derivatives in zip(chords, now, ways, strict=False)
        ]
        forces = [point.force(limits) for point, limits in zip(points, row.limits, strict=False)]
        brake = self._brake(row, points, forces, now)
        rules = [
            rule_margins(*arguments, row.inverse_h) for arguments in zip(row.limits, chords, now, *row.before, strict=True)
        ]
        faster, slower = smallest([one for one, _ in rules]), smallest([other for _, other in rules])
        stops = [
            margin
            for point, limits, force in zip(points, row.limits, forces, strict=False)
            for margin in point.margins(limits, brake, force[1])
        ]
        rest = list(zip(row.limits, now, strict=True))[len(points) :]
        stops += [joint_margin(limits, speed, brake) for limits, speed in rest]
        room = row.room(here, tangent, brake)
        ahead = self._ahead(row, here, tangent, brake, velocities)
        sound = select(1e300 - squared(here), 1.0, -1.0)  # what is no number, or beyond all numbers, is refused
        onward = smallest([sound, faster, *stops, room, ahead, 1.0 - brake.way * self.points.turning(tangent)])
        hard: Any = room
        if self.closures:
            triples = zip(row.limits, now, row.before[1], strict=True)
            hard = smallest([room, *(self._no_faster(row, *arguments) for arguments in triples)])
        return CandidateMargins(lower(onward, slower), onward, lower(faster, slower), hard, brake, chords)

    def _jerks(self, row: PreparedRow, trial: Any, velocities: list[Array], chords: list[Array]) -> list[Any]:
        """Third derivatives of the ways along the loops, times `FURTHER`, by the velocities at both ends of the cycle.

        With the velocities v0 and v1 at the ends and the chord velocity V of a cubic they are 6 (v0 + v1 - 2 V)/dt^2. The
        first is that of the candidate's chord brought into the directions that the loops leave at the present output.
        """
        stop, aim, wanted = row.entered
        entered = chosen(trial - ALMOST, wanted, chosen(trial, stop + trial * (aim - stop), stop * (1.0 + trial)))
        k = 3 * row.points
        begun = [*entered[:k].reshape(-1, 3), *entered[k:].reshape(-1, 1)]
        scale = 6.0 * FURTHER * row.inverse_dt * row.inverse_dt
        triples = zip(begun, velocities, chords, strict=True)
        return [scale * length(v0 + v1 - chord * 2.0) for v0, v1, chord in triples]

    def _brake(self, row: PreparedRow, points: list[PointTangent], forces: list[tuple[Any, Any]], now: list[Any]) -> Brake:
        """As hard as it may be, about."""
        slowest: Any = 0.5 * row.dt
        for limits, speed in list(zip(row.limits, now, strict=True))[len(points) :]:
            slowest = upper(slowest, speed * limits.deceleration)
        rate: Any = 1.0 / slowest
        for (force, _), point in zip(forces, points, strict=False):
            rate = lower(rate, force * point.inverse)
        return Brake.at(upper(rate, SLOWEST * row.inverse_dt), row.dt)

    def _no_faster(self, row: PreparedRow, limits: PointLimits, now: Any, was: Any) -> Any:
        """What is left of the speed limit, or, where it was broken, of braking as hard as the rules let."""
        slowed = was * limits.speed - limits.most_deceleration * limits.speed / row.inverse_h
        return (1.0 + ROUNDING) * upper(1.0, slowed) - now * limits.speed

    def _ahead(self, row: PreparedRow, here: Array, tangent: Array, brake: Brake, velocities: Array) -> Any:
        """What is left of the way to the goal after braking to its speed; the goal ahead, or nothing is asked."""
        left, apart = row.goal - here, tangent - row.goal_speed
        along, square = inner(apart, left), squared(apart)
        relative = velocities - self.points.velocities(here, row.goal_speed)
        slow: Any = 0.0
        for limits, speed in zip(row.limits, [*relative, *apart.reshape(-1, 1)], strict=True):
            slow = upper(slow, squared(speed) * (limits.deceleration * limits.deceleration))
        matched = Brake.at(1.0 / upper(root(slow), 0.5 * row.dt), row.dt).way
        braking_way = select(row.following, matched, brake.way)
        share = (along - braking_way * square) * row.far / (root(square) + 1e-200)
        return select(-along, 1.0, share)
