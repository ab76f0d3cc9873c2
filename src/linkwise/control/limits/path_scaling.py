"""Path scaling: the greatest admissible step towards the goal in a cycle within all limits of links and joints.

False position with the margin of an end that stays halved (the Illinois method: M. Dowell, P. Jarratt, "A modified regula
falsi method for computing the root of an equation", BIT 11, 1971), and a bisection now and then.

Candidates are q + w dt with w from the chord velocity of the braking manoeuvre (lambda = 0) to that which leads to the goal
at once (lambda = 1). Where the goal moves, those below 1 lead towards the velocity that comes up to it and to its own
velocity at once instead: aimed at the goal alone, a chase goes on from side to side of it. The goal is looked at first;
where it breaks a rule, the greatest lambda that breaks none is looked for. Braking itself needs no look: it was verified,
to its end, when the last output was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.control.limits.point_motion import ClosedCandidate, Cones, LoopProjection, Pair, Points
from linkwise.control.limits.stop_feasibility import (
    LIMITS,
    SLOWEST,
    Brake,
    PointLimits,
    PointTangent,
    Prepare,
    PreparedRow,
    joint_margin,
    length,
    lower,
    rule_margins,
    smallest,
    upper,
)
from linkwise.control.tangent import block_count, blocks, integrate
from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel, trace
from linkwise.kernel.iteration import Descent, IterationProgram
from linkwise.kernel.row_layout import RowLayout
from linkwise.kernel.sequence import Copy, KernelCall
from linkwise.kinematics.configuration import difference
from linkwise.model.tree import TOOL, Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.spatial.scalar import Array, FloatArray, root, select
from linkwise.spatial.vector import chosen, inner

#: Phases of the search: the goal; between; the best of these; a part of the braking chord; the best of those.
GOAL, BETWEEN, CHOSEN, SLOWER, STOPPED = 0.0, 1.0, 2.0, 3.0, 4.0

#: The search ends where its bracket is this share of its upper end,
NARROW = 1e-5

#: or where a candidate leaves less than this share of a limit.
NEAR = 1e-4

#: The most candidates between.
LONGEST = 60.0

#: Every so many candidates the bracket is halved, by ratio where it can be.
CYCLE = 6.0

#: Greatest growth factor of the step from one candidate to the next.
WIDENING = 8.0

#: Greatest float below 1: anything above it counts as 1.
ALMOST = 1.0 - 2.0**-53


@dataclass(frozen=True)
class BracketSearch:
    """A state of the search; `status` is above zero when it is over."""

    phase: Any
    trial: Any
    low: Any
    low_margin: Any
    high: Any
    high_margin: Any
    side: Any
    turn: Any
    looks: Any
    newton: Any
    status: Any = 0.0

    @staticmethod
    def lengths() -> dict[str, int]:
        """Sizes of the state's parts."""
        names = ("phase", "trial", "low", "low_margin", "high", "high_margin", "side", "turn", "looks", "newton")
        return dict.fromkeys(names, 1)

    @classmethod
    def read(cls, layout: RowLayout, aux: Array) -> BracketSearch:
        """Read the state from the row of an iteration, which is zero at its start."""
        numbers = {name: layout.number(aux, name) for name in cls.lengths()}
        return cls(**{**numbers, "trial": select(numbers["looks"] - 0.5, numbers["trial"], 1.0)})

    def parts(self) -> dict[str, Any]:
        """The state as parts of a row."""
        return {name: getattr(self, name) for name in self.lengths()}

    def next(
        self, margin: Any, onward: Any, hard: Any, closed: ClosedCandidate, guess: tuple[Any, Any], closures: bool
    ) -> BracketSearch:
        """State after the evaluation of a margin.

        Parameters
        ----------
        margin, onward, hard : scalar
            What a candidate leaves of all limits, of those that ask for less speed, and of those that are kept even where
            braking is not.
        closed : ClosedCandidate
            What became of its loops.
        guess : (scalar, scalar)
            The candidate to look at after the goal, and the margin that braking counts with.
        closures : bool
            Whether there are loops: then braking may lead where more than accelerations are broken.
        """
        at = [_is(self.phase, code) for code in (GOAL, BETWEEN, CHOSEN, SLOWER, STOPPED)]
        if closures:
            margin, hard = (select(closed.open, -1.0, value) for value in (margin, hard))
            margin, onward = (select(at[3], hard, value) for value in (margin, onward))
        judged = margin
        fits = select(judged, 1.0, select(0.5 - abs(judged), select(judged * judged, 0.0, 1.0), 0.0))
        judged = select(fits, onward, judged)
        bracket = self._bracket(judged, fits, at[1] + at[3], guess[1])
        narrow = select(NARROW * upper(abs(bracket.high), 1e-6) - (bracket.high - bracket.low), 1.0, 0.0)
        narrow = select(self.looks - LONGEST, 1.0, narrow)
        good = select(NEAR - judged, fits, 0.0)
        over = select(at[0], fits, select(at[1], good, at[2] + at[4]))
        phase = select(at[1], select(narrow, CHOSEN, BETWEEN), BETWEEN)
        between = bracket.between()
        further = at[1] * fits * select(self.high - ALMOST, 1.0, 0.0)  # only the goal itself is known to be infeasible
        between = select(further, lower(self._further(judged), 0.5 * (1.0 + self.trial)), between)
        trial = select(at[0], select(0.999 - guess[0], upper(guess[0], 1e-6), between), between)
        trial = select((at[1] + at[3]) * narrow, bracket.low, trial)
        if not closures:
            return bracket.go(phase, trial, self.looks + 1.0, over)
        slower = at[2] * select(self.trial, 0.0, 1.0) * (1.0 - select(hard, 1.0, 0.0))
        over = over * (1.0 - slower)
        phase = select(slower + at[3], select(at[3] * narrow, STOPPED, SLOWER), phase)
        bracket = bracket.restart(slower)
        trial = select(slower, bracket.between(), trial)
        held, fresh = self.parts() | {"newton": self.newton + 1.0}, bracket.go(phase, trial, self.looks + 1.0, over).parts()
        parts = {name: select(closed.busy, held[name], fresh[name]) for name in held}
        return BracketSearch(**{**parts, "looks": self.looks + 1.0, "status": select(closed.busy, 0.0, over)})

    def go(self, phase: Any, trial: Any, looks: Any, status: Any) -> BracketSearch:
        """The same bracket with the next candidate."""
        return replace(self, phase=phase, trial=trial, looks=looks, newton=0.0, status=status)

    def restart(self, slower: Any) -> BracketSearch:
        """New bracket from standstill to the braking chord, if that must be shortened."""
        ends = {"low": -1.0, "low_margin": 1.0, "high": 0.0, "high_margin": -1.0}
        return replace(self, **{name: select(slower, value, getattr(self, name)) for name, value in ends.items()})

    def _bracket(self, margin: Any, fits: Any, between: Any, braking: Any) -> BracketSearch:
        """The bracket with the candidate as one of its ends; the other's margin is halved when it stays twice."""
        again = select(fits, select(self.side - 0.5, 1.0, 0.0), select(-0.5 - self.side, 1.0, 0.0))
        inner = {
            "low": select(fits, self.trial, self.low),
            "low_margin": select(fits, upper(margin, 1e-9), select(again, 0.5 * self.low_margin, self.low_margin)),
            "high": select(fits, self.high, self.trial),
            "high_margin": select(fits, select(again, 0.5 * self.high_margin, self.high_margin), _below(margin)),
            "side": select(fits, 1.0, -1.0),
            "turn": select(self.turn - (CYCLE - 1.5), 0.0, self.turn + 1.0),
        }
        first = {"low": 0.0, "low_margin": braking, "high": 1.0, "high_margin": _below(margin), "side": 0.0, "turn": 0.0}
        return replace(self, **{name: select(between, value, first[name]) for name, value in inner.items()})

    def between(self) -> Any:
        """The next candidate in the bracket."""
        share = self.low_margin / upper(self.low_margin - self.high_margin, 1e-300)
        straight = self.low + (self.high - self.low) * lower(upper(share, 1e-3), 0.999)
        halved = select(self.low, root(upper(self.low * self.high, 0.0)), 0.5 * (self.low + self.high))
        return select(self.turn - (CYCLE - 1.5), halved, straight)

    def _further(self, margin: Any) -> Any:
        """Extrapolate the margins of this candidate and of the lower end, and a little beyond."""
        fall = upper(self.low_margin - margin, 0.1 * margin)
        return self.trial + (self.trial - self.low) * lower(1.1 * margin / upper(fall, 1e-12), WIDENING)


def _below(margin: Any) -> Any:
    """The margin of an end that does not fit: below zero, bounded, also where it is not a number."""
    return select(-1e-9 - margin, select(margin + 1e6, margin, -1e6), select(-margin, -1e-9, -1.0))


def _is(value: Any, code: float) -> Any:
    """1 where a whole number is a code, else 0."""
    apart = value - code
    return select(0.25 - apart * apart, 1.0, 0.0)


#: Assumed growth of the third derivative along loops until standstill, relative to this cycle.
FURTHER = 2.0

#: By this share of a limit a rule may seem broken by rounding: positions of 1 m, cycles of 0.1 ms.
ROUNDING = 1e-6


@dataclass(frozen=True)
class CandidateMargins:
    """Margins of a candidate.

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
        """Evaluate a candidate x; end with it or return the next one."""
        tree = self.points.tree
        row = PreparedRow(tree, self.prepared, self.carry, p)
        search = BracketSearch.read(self.aux, aux)
        here = chosen(search.looks - 0.5, x, row.goal)
        w = self._chord(row, search.trial)
        chord = difference(tree, row.q, here) * row.inverse_dt if self.closures else w
        closed = self.closures.close(here, row.residual, row.closures, search.trial, search.newton, chord)
        places = (self.points.positions(here) - row.places) * row.inverse_dt
        look = self._evaluate(row, here, search.trial, closed.tangent, [*places, *blocks(tree, chord)])
        moved = search.next(look.margin, look.onward, look.hard, closed, (row.guess, row.left), bool(self.closures))
        onward = chosen(moved.trial - ALMOST, row.goal, integrate(tree, row.q, self._chord(row, moved.trial) * row.dt))
        best = self._best(row, search, moved, here, w, aux)
        if self.closures:
            onward = chosen(closed.busy, closed.onward, self._started(row, search, moved, here, w, onward, best))
        status = select(row.moves, moved.status, 1.0)
        result = chosen(row.moves, chosen(status, row.inside(here), onward), row.q)
        state = {
            "carry": chosen(row.moves, self._memory_row(row, look, closed.tangent), row.carry),
            "limited": select(row.moves, select(1.0 - search.trial, 1.0, sum(row.detour, 0.0)), 0.0),
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
        """Start for closing the next candidate: the offset of the last one; for the chosen one its closed position."""
        tree = self.points.tree
        line = integrate(tree, row.q, w * row.dt)
        between = chosen(search.looks - 0.5, integrate(tree, onward, difference(tree, line, here)), onward)
        between = chosen(moved.trial, between, onward)
        some = select(moved.low + 1.0, abs(moved.low), 0.0)  # (braking, 0, and standing, -1, are not closed anew)
        again = chosen(some, best, onward)
        ended = (moved.phase - CHOSEN) * (moved.phase - STOPPED)
        return chosen(0.25 - ended * ended, again, chosen(moved.trial - ALMOST, onward, between))

    def _memory_row(self, row: PreparedRow, look: CandidateMargins, tangent: Array) -> Array:
        """Memory for the next cycle."""
        k = len(self.points)
        rate = select(look.margin, look.brake.rate, select(-look.margin, row.rate, look.brake.rate))
        chords = np.concatenate([np.zeros(0), *look.chords[:k]])
        return self.carry.row(
            {"direction": tangent, "rate": rate, "chords": chords, "joints": np.concatenate(look.chords[k:])}
        )

    def _evaluate(self, row: PreparedRow, here: Array, trial: Any, tangent: Array, chords: list[Array]) -> CandidateMargins:
        k = len(self.points)
        velocities, bends = self.points.motion(here, tangent)
        if self.closures:
            bends = (velocities - np.array(chords[:k]).reshape(-1, 3)) * (2.0 * row.inverse_dt)
        now = [length(chord) for chord in chords]
        jerks = [*self.points.jerk(here, tangent)]
        if self.closures:
            measured = self._jerks(row, trial, [*velocities, *blocks(self.points.tree, tangent)], chords)
            jerks = [upper(bound, estimate) for bound, estimate in zip(jerks, measured[:k], strict=True)]
        ways = [*zip(velocities, bends, jerks, strict=True)]
        if self.closures:
            speeds = blocks(self.points.tree, tangent)
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
        faster, slower = smallest([margin for margin, _ in rules]), smallest([margin for _, margin in rules])
        stops = [
            margin
            for point, limits, force in zip(points, row.limits, forces, strict=False)
            for margin in point.margins(limits, brake, force[1])
        ]
        joint_limits = list(zip(row.limits, now, strict=True))[len(points) :]
        stops += [joint_margin(limits, speed, brake) for limits, speed in joint_limits]
        room = row.room(here, tangent, brake)
        ahead = self._ahead(row, here, tangent, brake, velocities)
        sound = select(1e300 - squared(here), 1.0, -1.0)  # NaN and overflow are rejected
        onward = smallest([sound, faster, *stops, room, ahead, 1.0 - brake.stop_distance * self.points.turning(tangent)])
        hard: Any = room
        if self.closures:
            triples = zip(row.limits, now, row.before[1], strict=True)
            hard = smallest([room, *(self._no_faster(row, *arguments) for arguments in triples)])
        return CandidateMargins(lower(onward, slower), onward, lower(faster, slower), hard, brake, chords)

    def _jerks(self, row: PreparedRow, trial: Any, velocities: list[Array], chords: list[Array]) -> list[Any]:
        """Third derivatives of the motion along the loops, times `FURTHER`, by the velocities at both ends of the cycle.

        With the velocities v0 and v1 at the ends and the chord velocity V of a cubic they are 6 (v0 + v1 - 2 V)/dt^2. The
        first is that of the candidate's chord brought into the directions that the loops leave at the present output.
        """
        stop, aim, wanted = row.entered
        entered = chosen(trial - ALMOST, wanted, chosen(trial, stop + trial * (aim - stop), stop * (1.0 + trial)))
        k = 3 * row.points
        begun = [*entered[:k].reshape(-1, 3), *blocks(self.points.tree, entered[k:])]
        scale = 6.0 * FURTHER * row.inverse_dt * row.inverse_dt
        triples = zip(begun, velocities, chords, strict=True)
        return [scale * length(v0 + v1 - chord * 2.0) for v0, v1, chord in triples]

    def _brake(self, row: PreparedRow, points: list[PointTangent], forces: list[tuple[Any, Any]], now: list[Any]) -> Brake:
        """Estimate the strongest admissible braking."""
        slowest: Any = 0.5 * row.dt
        for limits, speed in list(zip(row.limits, now, strict=True))[len(points) :]:
            slowest = upper(slowest, speed * limits.deceleration)
        rate: Any = 1.0 / slowest
        for (force, _), point in zip(forces, points, strict=False):
            rate = lower(rate, force * point.inverse)
        return Brake.at(upper(rate, SLOWEST * row.inverse_dt), row.dt)

    def _no_faster(self, row: PreparedRow, limits: PointLimits, now: Any, was: Any) -> Any:
        """Margin of the velocity limit; of a violated one, margin of braking as hard as the rules permit."""
        slowed = was * limits.speed - limits.most_deceleration * limits.speed / row.inverse_h
        return (1.0 + ROUNDING) * upper(1.0, slowed) - now * limits.speed

    def _ahead(self, row: PreparedRow, here: Array, tangent: Array, brake: Brake, velocities: Array) -> Any:
        """Relative remaining distance to the goal after braking to its velocity; 1 if the goal is not ahead."""
        left, apart = difference(row.tree, here, row.goal), tangent - row.goal_speed
        along, square = inner(apart, left), squared(apart)
        relative = velocities - self.points.velocities(here, row.goal_speed)
        slow: Any = 0.0
        for limits, speed in zip(row.limits, [*relative, *blocks(row.tree, apart)], strict=True):
            slow = upper(slow, squared(speed) * (limits.deceleration * limits.deceleration))
        matched = Brake.at(1.0 / upper(root(slow), 0.5 * row.dt), row.dt).stop_distance
        braking_way = select(row.following, matched, brake.stop_distance)
        share = (along - braking_way * square) * row.far / (root(square) + 1e-200)
        return select(-along, 1.0, share)


class Pace:
    """Limits of velocity, acceleration and deceleration of link ends and joints, with the state from cycle to cycle.

    A cycle takes a chain from q to the next output, on the way to a goal. A point that was at p(q) and comes to p(q_next) in
    the time dt has the chord velocity V; over two cycles with middles h apart, h = (dt_before + dt)/2, it holds for each
    point that |V| is at most its greatest speed, that |V| grows by at most its acceleration times h and falls by at most
    its deceleration times h, and, where both are limited, that V changes by at most the greater one times h. From rest all
    joints are scaled together, so the outputs are on the straight line of joint values (where loops close, on the projection
    of it). A goal that stands is not passed, and is reached exactly, bit for bit, after finitely many cycles.

    All this holds because an output is only taken from which the chain can stop along its present direction without breaking
    a rule or a joint's limit, whatever the lengths of the cycles to come: the manoeuvre is verified to its end, by bounds
    (see `linkwise.control.limits.stop_feasibility`). Of outputs between this braking and the goal the one next to the goal
    is taken, to 1e-4 of a limit.

    Where limits are changed while the chain moves: a chain outside a joint's limit, or faster than a lowered speed, comes
    back as hard as it could brake in the last cycle; a lowered deceleration counts from the next output that can stop with
    it, and a stop that has begun goes on as it was verified. Nothing ever jumps.

    Loops are kept closed in every output. How much they bend the ways of the points is known at the present output, and how
    fast that grows from the last cycle; braking is planned with twice this growth. Near a singular position that the last
    cycle gave no sign of, an acceleration may turn out greater than its limit: loops and joint limits go first, speeds
    second, accelerations third, which `kept` reports.

    Parameters
    ----------
    tree : Tree
        A mechanism with a joint that moves.
    links : sequence of int or str
        The links whose ends are limited, by index or name; "tool" is the tool. The points are these, then all joints (n,).
        Of a joint with a quaternion the lengths of its linear and angular velocity count: `linkwise.control.tangent.blocks`.
    closures : sequence of (link, link, kind)
        Pairs of links whose ends meet, beside the mechanism's own loops; each has a switch in the input row. ``"base"`` is
        the origin of the world.
    backend : {"llvm", "numpy"}, optional
        Back end; LLVM wherever llvmlite is installed.

    Attributes
    ----------
    input_parts : dict of str to slice
        Parts of the row that a cycle takes: dt, dt_before (s, of the last cycle that had a length), q, goal (nq,),
        goal_speed (nv,), low, high (n,), cones (c,), carry, max_speed, max_acceleration, max_deceleration (k + b,) of the
        points, above zero, infinite where there is none, closures (c,), above zero where a pair is held. The goal must be
        in the limits, and at it the loops closed.
    output_parts : dict of str to slice
        Parts of the row that it returns: q (n,); carry, for the next cycle; limited, 1 where the goal was not reached at
        once; kept, 1 where all rules hold; lam, the share of the way from braking to the goal; looks, how many outputs were
        tried.

    Raises
    ------
    ArgumentError
        Where no joint moves, or a link is not there.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> pace = Pace(arm, [-1])
    >>> row, out = np.zeros(pace.row), np.zeros(pace.output_row)
    >>> for name, value in {"dt": 0.01, "dt_before": 0.01, "low": -3.0, "high": 3.0, "goal": [1.0, 0.5]}.items():
    ...     row[pace.input_parts[name]] = value
    >>> for name in ("max_speed", "max_acceleration", "max_deceleration"):
    ...     row[pace.input_parts[name]] = np.inf
    >>> row[pace.input_parts["max_speed"].start] = 0.5
    >>> cycles = 0
    >>> while (row[pace.input_parts["q"]] != [1.0, 0.5]).any():
    ...     pace.run(row, out)
    ...     row[pace.input_parts["q"]] = out[pace.output_parts["q"]]
    ...     row[pace.input_parts["carry"]] = out[pace.output_parts["carry"]]
    ...     cycles += 1
    >>> cycles
    496
    """

    input_parts: dict[str, slice]
    output_parts: dict[str, slice]

    def __init__(
        self,
        tree: Tree,
        links: Sequence[int | str],
        *,
        closures: Sequence[Pair] = (),
        backend: str | None = None,
    ) -> None:
        _check(tree, [*links, *(link for pair in closures for link in pair[:2])])
        n, nv, k, pairs = tree.nq, tree.nv, len(links), len(closures)
        points, loops = Points(tree, tuple(links)), LoopProjection(tree, closures)
        self.points = points
        carry = RowLayout({"direction": nv, "rate": 1, "chords": 3 * k, "joints": nv})
        coordinates = {"q": n, "goal": n, "goal_speed": nv, "low": tree.n, "high": tree.n, "cones": len(Cones(tree))}
        limits = dict.fromkeys(LIMITS, k + block_count(tree))
        input_layout = RowLayout({"dt": 1, "dt_before": 1, **coordinates, "carry": carry.size, **limits, "closures": pairs})
        reported = {"carry": carry.size, "limited": 1, "kept": 1, "lam": 1, "looks": 1}
        state = {name: 1 for name in BracketSearch.lengths() if name not in reported}
        aux = RowLayout({**reported, **state, "best": n if loops else 0})
        prepare = Prepare(points, loops, input_layout, carry)
        self._rest = np.zeros(carry.size)
        self.n, self.input_parts, self.row = n, input_layout.parts, input_layout.size
        parts = {name: slice(n + part.start, n + part.stop) for name, part in aux.parts.items() if name in reported}
        self.output_parts, self.output_row = {"q": slice(0, n), **parts}, n + sum(reported.values())
        row = prepare.layout.size
        self._prepare = Kernel(trace(prepare, "pace_prepare", {"given": (self.row,)}, {"row": (row,)}), backend, lanes=2)
        inputs = {"parameters": (row,), "q0": (n,), "settings": (1,), "q": (n,), "aux": (aux.size,)}
        outputs = {"q": (n,), "aux": (aux.size,), "status": ()}
        step = CandidateStep(points, loops, prepare.layout, carry, aux)
        self._search = Descent(IterationProgram(trace(step, "pace", inputs, outputs)), backend, lanes=2)
        self._found = n + aux.size + 1

    def rest(self, q: npt.ArrayLike) -> FloatArray:
        """State (C,) of a chain at rest at q (n,)."""
        if np.shape(q) != (self.n,):
            raise ArgumentError(f"q has the shape {np.shape(q)}; expected ({self.n},)")
        return self._rest.copy()

    def run(self, inputs: FloatArray, out: FloatArray) -> None:
        """Do one cycle for each row: (..., `row`) to (..., `output_row`)."""
        shape = inputs.shape[:-1]
        with np.errstate(all="ignore"):
            row = self._prepare.ufunc(inputs)
            rows = self._search.ufunc(row, np.zeros((*shape, self.n)), np.zeros((*shape, 0, self.n)), np.zeros((*shape, 1)))
        out[...] = rows[..., : self.output_row]

    def steps(self, inputs: FloatArray, outputs: FloatArray) -> list[KernelCall | Copy]:
        """The same as steps of a `Sequence`, for rows (B, `row`) and (B, `output_row`) that stay where they are."""
        rows = len(inputs)
        row, searched = np.empty((rows, self._prepare.tape.outputs["row"][0])), np.empty((rows, self._found))
        fixed = (np.zeros((rows, self.n)), np.zeros((rows, 0, self.n)), np.zeros((rows, 1)))
        copies = [Copy(to, source[: self.output_row]) for to, source in zip(outputs, searched, strict=True)]
        return [KernelCall(self._prepare, (inputs,), (row,)), KernelCall(self._search, (row, *fixed), (searched,)), *copies]


def _check(tree: Tree, links: Sequence[int | str]) -> None:
    """Raise `ArgumentError` unless the limits are valid for the mechanism, and all links exist."""
    if not tree.nv:
        raise ArgumentError(f"{tree.name!r} has no joint that moves")
    for link in links:
        if isinstance(link, bool) or not isinstance(link, (int, str, np.integer)):
            raise ArgumentError(f'link is {shown(link)}; expected a name, an index, or "tool"')
        if link not in (TOOL, "base"):
            tree.link_index(link)
