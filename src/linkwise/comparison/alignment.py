"""Alignment of two chains: the base, joint directions and zeros that bring the axes of one onto those of the other.

With all joints at zero, each axis is a line (for a prismatic joint a direction). Moving the joints of the second chain to
their offsets, and its base, must bring each of its axes onto that of the first. Axis by axis: the twist between two
successive axes says whether their directions agree; the turn of the joint before about its own axis brings the next
direction, or for parallel axes the next line, to its place; the places of prismatic joints and of the base follow from
linear equations. Where two directions are possible (axes that meet at a right angle), the positive one is tried first.
A ball joint has a centre in the place of an axis; beyond it everything may be turned in any way again, as the base may.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkwise.comparison.axis_chain import JointAxes, JointAxis, Tie
from linkwise.spatial.lines import angle_between
from linkwise.spatial.rotation import rotation_about, rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform

#: Greatest number of tried positions of axes.
MOST = 20_000

#: Greatest number of alignments tried to fit the mimic joints.
MOST_WHOLE = 200

#: The free turn that is left belongs to the base; 0 and above: to that joint.
BASE = -1


@dataclass(frozen=True)
class Alignment:
    """Transform of the second chain that makes it coincide with the first.

    Attributes
    ----------
    base : ndarray (4, 4)
        Takes the second world to the first.
    signs, offsets : ndarray (m,)
        The joint values of the second chain are ``signs * values of the first + offsets``.
    ball_rotations : ndarray (m, 3, 3)
        What the offset of a ball joint is: the turn about its centre, in the second world, that brings it to its zero.
    """

    base: FloatArray
    signs: FloatArray
    offsets: FloatArray
    ball_rotations: FloatArray

    def motion(self, chain: JointAxes, k: int) -> FloatArray:
        """The motion (4, 4) of all beyond joint k of the second chain by its offset, in its world at zero."""
        return chain.axes[k].displacement(self.ball_rotations[k] if chain.axes[k].is_ball else float(self.offsets[k]))

    def with_offset(self, k: int, value: float) -> Alignment:
        """The same with another offset of joint k."""
        offsets = self.offsets.copy()
        offsets[k] = value
        return replace(self, offsets=offsets)

    def with_turn(self, k: int, value: FloatArray) -> Alignment:
        """The same with another turn (3, 3) of ball joint k."""
        rotations = self.ball_rotations.copy()
        rotations[k] = value
        return replace(self, ball_rotations=rotations)

    def rebased(self, second: JointAxes, value: float) -> Alignment:
        """The same alignment with another offset of the first joint; the base makes up for it."""
        axis = second.axes[0]
        base = self.base @ axis.displacement(float(self.offsets[0])) @ axis.displacement(-value)
        return replace(self.with_offset(0, value), base=np.asarray(base))

    def tool(self, first: JointAxes, second: JointAxes) -> FloatArray:
        """The tool (4, 4) that it needs: T_end2_end1."""
        pose = self.base
        for k in range(len(second.axes)):
            pose = pose @ self.motion(second, k)
        return np.asarray(inverse(pose @ second.end) @ first.end, dtype=float)


@dataclass(frozen=True)
class _State:
    """The axes placed so far: rotation of the second chain's zero position before each of its joints.

    What lies beyond may still be turned about the axis of the owner; or, of a ball joint, that of the joint after it. Beyond
    a ball joint that is `loose` it may be turned in any way.
    """

    rotations: tuple[FloatArray, ...] = ()
    signs: tuple[float, ...] = ()
    offsets: tuple[float, ...] = ()
    owner: int | None = BASE
    line: int | None = None
    loose: int | None = None

    def turned(self, w: FloatArray, angle: float, *, laps: int = 0) -> _State:
        """The same with the free turn used up: everything beyond its owner turned about w."""
        first = 0 if self.owner is None else self.owner + 1
        about = np.asarray(rotation_about(w, angle), dtype=float)
        rotations = tuple(about @ turn if k >= first else turn for k, turn in enumerate(self.rotations))
        offsets = list(self.offsets)
        if self.owner is not None and self.owner >= 0:
            offsets[self.owner] = self.signs[self.owner] * angle + 2 * math.pi * laps
        return _State(rotations, self.signs, tuple(offsets), None, None)

    def then(self, sign: float, owner: int | None, line: int | None) -> _State:
        """The same with one joint more, its offset zero."""
        return _State((*self.rotations, self.rotations[-1]), (*self.signs, sign), (*self.offsets, 0.0), owner, line)

    def loosened(self, k: int) -> _State:
        """The same with a ball joint k more; the turn that was free before it does not matter any more."""
        return replace(self.then(1.0, None, None), loose=k)

    def swung(self, turn: FloatArray) -> _State:
        """The same with everything beyond the loose ball joint turned."""
        assert self.loose is not None
        rotations = tuple(turn @ old if k > self.loose else old for k, old in enumerate(self.rotations))
        return replace(self, rotations=rotations, owner=self.loose, line=self.loose, loose=None)


@dataclass
class Aligner:
    """The search for one tolerance.

    Attributes
    ----------
    first, second : sequence of JointAxis
        The two chains.
    tol : float
        m and rad: how well each axis must fit.
    ties : sequence of Tie
        Joints that follow others: the products of their signs are known.
    accept : callable, optional
        Whether an alignment will do at the tolerance; the first one that is found does where none will.
    reached : int
        How many axes could be brought together at best.
    """

    first: Sequence[JointAxis]
    second: Sequence[JointAxis]
    tol: float
    ties: Sequence[Tie] = ()
    accept: Callable[[Alignment, float], bool] | None = None
    reached: int = 0
    gave_up: bool = False
    _hopeless: set[tuple[int, float]] = field(default_factory=set)
    _tried: int = 0
    _whole: list[_State] = field(default_factory=list)

    def align(self) -> Alignment | None:
        """Find the alignment with as many positive directions in front as there can be, or None."""
        alignment = self._search(_State()) or next(iter(self._whole), None)
        return None if alignment is None else self._alignment(alignment)

    def _search(self, start: _State) -> _State | None:
        """Depth first, one axis of the first after the other; the first alignment of all that is accepted.

        What can still be placed may depend on how an axis lies alone, not on how it got there: see `_mark`.
        """
        if not self.first:
            self._whole.append(start)
            return start if self.accept is None or self.accept(self._alignment(start), self.tol) else None
        levels: list[tuple[Iterator[_State], tuple[int, float] | None]] = [(self._candidates(start, 0), None)]
        while levels:
            k, (candidates, mark) = len(levels) - 1, levels[-1]
            state = next(candidates, None)
            if state is None:
                levels.pop()
                if mark is not None:
                    self._hopeless.add(mark)
                continue
            self._tried += 1
            if self._tried > MOST or len(self._whole) > MOST_WHOLE:
                self.gave_up = not self._whole
                return None
            marks = self._mark(state, k)
            if marks in self._hopeless or not self._allowed(state) or self._places(state)[1] > self.tol:
                continue
            self.reached = max(self.reached, k + 1)
            if k + 1 < len(self.first):
                levels.append((self._candidates(state, k + 1), marks))
                continue
            self._whole.append(state)
            if self.accept is None or self.accept(self._alignment(state), self.tol):
                return state
            if marks is not None:
                self._hopeless.add(marks)
        return None

    def _mark(self, state: _State, k: int) -> tuple[int, float] | None:
        """Axis k and its sense, if nothing else decides what can be placed beyond it."""
        local = not self.ties and all(axis.periodic for axis in self.first[: k + 1])
        return (k, state.signs[-1]) if local else None

    def _allowed(self, state: _State) -> bool:
        """True if the senses so far agree with those of the mimic joints."""
        signs = state.signs
        placed = [tie for tie in self.ties if max(tie.joint, tie.leader) < len(signs)]
        return all(tie.sign in {0.0, signs[tie.joint] * signs[tie.leader]} for tie in placed)

    def _candidates(self, state: _State, k: int) -> Iterator[_State]:
        """Yield the rotations that bring axis k into its direction, without regard to its line."""
        wanted, axis = self.first[k], self.second[k]
        line = k if axis.has_line else None
        if axis.is_ball:
            yield from self._centre(state, k)
            return
        if state.loose is not None:
            for sign in (1.0, -1.0):
                start = state.rotations[k] @ axis.direction
                swung = state.swung(np.asarray(rotation_between(start, sign * wanted.direction), dtype=float))
                yield from self._parallel(swung, k, wanted.direction, sign * wanted.direction)
            return
        if k == 0:
            for sign in (1.0, -1.0):
                turn = np.asarray(rotation_between(axis.direction, sign * wanted.direction), dtype=float)
                yield _State((turn, turn), (sign,), (0.0,), BASE, line)
            return
        direction = state.rotations[k] @ axis.direction
        if state.owner is None:
            sign = math.copysign(1.0, float(direction @ wanted.direction))
            if angle_between(direction, sign * wanted.direction) <= self.tol:
                yield state.then(sign, k if axis.has_line else None, line)
            return
        w = self.first[self._carrier(state, k)].direction
        mine, other = (np.linalg.norm(np.cross(w, u)) for u in (direction, wanted.direction))
        if max(mine, other) <= self.tol:
            yield from self._parallel(state, k, w, direction)
            return
        for sign in (1.0, -1.0):
            target = sign * wanted.direction
            if abs(angle_between(w, direction) - angle_between(w, target)) > self.tol:
                continue
            angle = angle_about(w, direction, target)
            for laps in self._laps(state):
                yield state.turned(w, angle, laps=laps).then(sign, k if axis.has_line else None, line)

    def _carrier(self, state: _State, k: int) -> int:
        """A joint about whose axis the free rotation is."""
        owner = state.owner if state.owner is not None and state.owner >= 0 else 0
        return owner + self.first[owner].is_ball

    def _laps(self, state: _State) -> tuple[int, ...]:
        """Whole turns of the joint that turns freely: of a screw they matter."""
        screw = state.owner is not None and state.owner >= 0 and self.second[state.owner].pitch
        return (0, 1, -1) if screw else (0,)

    def _parallel(self, state: _State, k: int, w: FloatArray, direction: FloatArray) -> Iterator[_State]:
        """An axis parallel to the free rotation: its line, if it has one, determines the angle."""
        wanted, axis = self.first[k], self.second[k]
        sign = math.copysign(1.0, float(direction @ wanted.direction))
        if not axis.has_line or state.line is None:
            yield state.then(sign, state.owner, k if axis.has_line else state.line)
            return
        mine, other = (v - w * float(w @ v) for v in self._arms(state, k, state.line))
        lengths = [float(np.linalg.norm(v)) for v in (mine, other)]
        if abs(lengths[0] - lengths[1]) > self.tol:
            return
        if max(lengths) <= self.tol:
            yield state.then(sign, state.owner, k)
            return
        for laps in self._laps(state):
            yield state.turned(w, angle_about(w, mine, other), laps=laps).then(sign, k, k)

    def _arms(self, state: _State, k: int, before: int) -> tuple[FloatArray, FloatArray]:
        """Vectors from the point of one joint to that of joint k, of the second chain as it is rotated, and of the first."""
        mine = state.rotations[k] @ (self.second[k].point - self.second[before].point)
        return mine, self.first[k].point - self.first[before].point

    def _centre(self, state: _State, k: int) -> Iterator[_State]:
        """A ball joint: its centre determines the rotation before it."""
        if k == 0:
            yield _State((np.eye(3),)).loosened(0)
            return
        before = state.line if state.loose is None else state.loose
        if before is None or (state.loose is None and state.owner is None):
            yield state.loosened(k)
            return
        mine, other = self._arms(state, k, before)
        w = np.zeros(3) if state.loose is not None else self.first[self._carrier(state, k)].direction
        mine, other = (v - w * float(w @ v) for v in (mine, other))
        lengths = [float(np.linalg.norm(v)) for v in (mine, other)]
        if abs(lengths[0] - lengths[1]) > self.tol:
            return
        if min(lengths) <= self.tol:
            yield state.loosened(k)
        elif state.loose is not None:
            yield state.swung(np.asarray(rotation_between(mine / lengths[0], other / lengths[1]), dtype=float)).loosened(k)
        else:
            for laps in self._laps(state):
                yield state.turned(w, angle_about(w, mine, other), laps=laps).loosened(k)

    # ── places ────────────────────────────────────────────────────────────────────────────────────

    def _system(self, state: _State) -> tuple[FloatArray, FloatArray]:
        """The equations that the base's place (3) and the offsets of prismatic joints must fulfil: rows, right sides."""
        count = len(state.signs)
        slides = [k for k in range(count) if not self.second[k].has_line]
        rows: list[FloatArray] = []
        sides: list[FloatArray] = []
        place, moved = np.zeros(3), np.zeros((3, 3 + len(slides)))
        moved[:, :3] = np.eye(3)
        for k in range(count):
            axis, wanted = self.second[k], self.first[k]
            turn, u = state.rotations[k], wanted.direction
            if axis.has_line:
                across = np.eye(3) - (0.0 if axis.is_ball else np.outer(u, u))
                rows.append(across @ moved)
                sides.append(across @ (wanted.point - turn @ axis.point - place))
                place = place + (turn - state.rotations[k + 1]) @ axis.point
                place = place + axis.pitch * state.offsets[k] * (turn @ axis.direction)
            else:
                moved = moved.copy()
                moved[:, 3 + slides.index(k)] = turn @ axis.direction
        return np.concatenate([moved[:0], *rows]), np.concatenate([np.zeros(0), *sides])

    def _places(self, state: _State) -> tuple[FloatArray, float]:
        """The base's place and the offsets of prismatic joints, and the distance of the axis that fits worst, m."""
        rows, sides = self._system(state)
        if not len(rows):
            return np.zeros(rows.shape[1]), 0.0
        solution = np.asarray(np.linalg.lstsq(rows, sides, rcond=1e-9)[0], dtype=np.float64)
        misses = (rows @ solution - sides).reshape(-1, 3)
        return _simplest(rows, solution), float(np.linalg.norm(misses, axis=1).max())

    def _alignment(self, state: _State) -> Alignment:
        places = self._places(state)[0]
        offsets = np.where([axis.is_ball for axis in self.second], 0.0, state.offsets)
        pairs = zip(state.rotations[:-1], state.rotations[1:], self.second, strict=True)
        turns = np.array([before.T @ beyond if axis.is_ball else np.eye(3) for before, beyond, axis in pairs])
        slides = [k for k, axis in enumerate(self.second) if not axis.has_line]
        offsets[slides] = places[3:]
        turning = [k for k, axis in enumerate(self.second) if axis.periodic]
        offsets[turning] = [wrapped(offset) for offset in offsets[turning]]
        base = np.asarray(transform(state.rotations[0], places[:3]), dtype=float)
        return Alignment(base, np.array(state.signs), offsets, turns)


def _simplest(rows: FloatArray, solution: FloatArray) -> FloatArray:
    """Solution of the equations with the smallest offsets, and then with the least displacement of the base."""
    _, sizes, right = np.linalg.svd(rows)
    rank = int(np.sum(sizes > 1e-9 * max(1.0, sizes[0])))
    free = right[rank:].T
    if not free.size:
        return solution
    offsets = free[3:]
    if offsets.size:
        solution = solution - free @ np.linalg.lstsq(offsets, solution[3:], rcond=1e-9)[0]
        _, sizes, right = np.linalg.svd(offsets)
        rank = int(np.sum(sizes > 1e-9))
        free = free @ right[rank:].T
    return np.asarray(solution - free @ np.linalg.lstsq(free[:3], solution[:3], rcond=1e-9)[0]) if free.size else solution


def wrapped(angle: float) -> float:
    """Angle in (-pi, pi], with -pi replaced by pi."""
    wrapped_angle = math.remainder(angle, 2 * math.pi)
    return wrapped_angle + 2 * math.pi if wrapped_angle < -math.pi + 1e-12 else wrapped_angle


def angle_about(w: FloatArray, start: FloatArray, end: FloatArray) -> float:
    """The turn about w that takes one vector over another."""
    return math.atan2(float(w @ np.cross(start, end)), float(start @ end - (w @ start) * (w @ end)))


def align(
    first: JointAxes,
    second: JointAxes,
    finest: float,
    coarsest: float,
    ties: Sequence[Tie] = (),
    accept: Callable[[Alignment, float], bool] | None = None,
) -> tuple[Alignment | None, float, Aligner]:
    """Alignment to the finest possible tolerance, that tolerance, and the search at the finest.

    Where several are possible it is the first one that ``accept(alignment, tolerance)`` takes, or else the first one.
    """
    tol, finest_search = finest, None
    while True:
        search = Aligner(first.axes, second.axes, tol, ties, accept)
        alignment = search.align()
        finest_search = finest_search or search
        if alignment is not None or tol >= coarsest:
            return alignment, tol, finest_search
        tol = min(10 * tol, coarsest)
