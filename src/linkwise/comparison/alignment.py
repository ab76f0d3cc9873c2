"""Alignment of two chains: the base, joint directions and zeros that bring the axes of one onto those of the other.

With all joints at zero, each axis is a line (for a prismatic joint a direction). Moving the joints of the second chain to
their offsets, and its base, must bring each of its axes onto that of the first. Axis by axis: the twist between two
successive axes says whether their directions agree; the turn of the joint before about its own axis brings the next
direction, or for parallel axes the next line, to its place; the places of prismatic joints and of the base follow from
linear equations. Where two directions are possible (axes that meet at a right angle), the positive one is tried first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from linkwise.comparison.axis_chain import JointAxes, JointAxis, Tie, alike, leaders_of, names, ties_between
from linkwise.spatial.lines import angle_between
from linkwise.spatial.quaternion import axis_and_angle
from linkwise.spatial.rotation import rotation_about, rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse, transform

#: How many places of axes are tried before it is given up.
MOST = 20_000

#: How many alignments are tried for one that fits the joints that follow others.
MOST_WHOLE = 200

#: The free turn that is left belongs to the base; 0 and above: to that joint.
BASE = -1


@dataclass(frozen=True)
class Alignment:
    """What lays the second chain over the first.

    Attributes
    ----------
    base : ndarray (4, 4)
        Takes the second world to the first.
    signs, offsets : ndarray (m,)
        The joint values of the second chain are ``signs * values of the first + offsets``.
    """

    base: FloatArray
    signs: FloatArray
    offsets: FloatArray

    def with_offset(self, k: int, value: float) -> Alignment:
        """The same with another offset of joint k."""
        offsets = self.offsets.copy()
        offsets[k] = value
        return replace(self, offsets=offsets)


@dataclass(frozen=True)
class _State:
    """The axes placed so far: what turns the zero position of the second chain before each of its joints."""

    rotations: tuple[FloatArray, ...] = ()
    signs: tuple[float, ...] = ()
    offsets: tuple[float, ...] = ()
    owner: int | None = BASE
    line: int | None = None

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


@dataclass
class Aligner:
    """The search for one tolerance.

    Attributes
    ----------
    first, second : sequence of Axis
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
        """Axis k and how it lies, where nothing but this decides what can be placed beyond it."""
        local = not self.ties and all(axis.periodic for axis in self.first[: k + 1])
        return (k, state.signs[-1]) if local else None

    def _allowed(self, state: _State) -> bool:
        """Whether the directions so far agree with those in which joints follow each other."""
        signs = state.signs
        placed = [tie for tie in self.ties if max(tie.joint, tie.leader) < len(signs)]
        return all(tie.sign in {0.0, signs[tie.joint] * signs[tie.leader]} for tie in placed)

    def _candidates(self, state: _State, k: int) -> Iterator[_State]:
        """The ways to bring axis k into its direction, its line not yet looked at."""
        wanted, axis = self.first[k], self.second[k]
        line = k if axis.has_line else None
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
        """A joint along whose axis the free turn is."""
        return state.owner if state.owner is not None and state.owner >= 0 else 0

    def _laps(self, state: _State) -> tuple[int, ...]:
        """Whole turns of the joint that turns freely: of a screw they matter."""
        screw = state.owner is not None and state.owner >= 0 and self.second[state.owner].pitch
        return (0, 1, -1) if screw else (0,)

    def _parallel(self, state: _State, k: int, w: FloatArray, direction: FloatArray) -> Iterator[_State]:
        """An axis along the free turn: its line, if it has one, says how much is turned."""
        wanted, axis = self.first[k], self.second[k]
        sign = math.copysign(1.0, float(direction @ wanted.direction))
        if not axis.has_line or state.line is None:
            yield state.then(sign, state.owner, k if axis.has_line else state.line)
            return
        before = state.line
        mine = state.rotations[k] @ (axis.point - self.second[before].point)
        other = wanted.point - self.first[before].point
        mine, other = (v - w * float(w @ v) for v in (mine, other))
        lengths = [float(np.linalg.norm(v)) for v in (mine, other)]
        if abs(lengths[0] - lengths[1]) > self.tol:
            return
        if max(lengths) <= self.tol:
            yield state.then(sign, state.owner, k)
            return
        for laps in self._laps(state):
            yield state.turned(w, angle_about(w, mine, other), laps=laps).then(sign, k, k)

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
                across = np.eye(3) - np.outer(u, u)
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
        offsets = np.array(state.offsets)
        slides = [k for k, axis in enumerate(self.second) if not axis.has_line]
        offsets[slides] = places[3:]
        turning = [k for k, axis in enumerate(self.second) if axis.periodic]
        offsets[turning] = [wrapped(offset) for offset in offsets[turning]]
        base = np.asarray(transform(state.rotations[0], places[:3]), dtype=float)
        return Alignment(base, np.array(state.signs), offsets)


def _simplest(rows: FloatArray, solution: FloatArray) -> FloatArray:
    """Of all solutions of the equations the one with the smallest offsets, and then with the base nearest to its place."""
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
    """The angle in (-pi, pi], half a turn the other way counted as half a turn."""
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
    """The alignment to the finest tolerance for which there is one, that tolerance, and the search at the finest.

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


ROUNDS = 8

#: Whole turns of a joint, either way, that are tried where others follow it: a third of one turn is another place than a
#: third of two.
LAPS = 24


#: rad or m: turns that bring the followers no nearer than this are coincidence.
NEAR = 1e-2


def tool_of(first: JointAxes, second: JointAxes, alignment: Alignment) -> FloatArray:
    """The tool (4, 4) that an alignment needs: T_end2_end1."""
    pose = alignment.base
    for k, offset in enumerate(alignment.offsets.tolist()):
        pose = pose @ second.axes[k].displacement(offset)
    return np.asarray(inverse(pose @ second.end) @ first.end, dtype=float)


def simplest(first: JointAxes, second: JointAxes, alignment: Alignment, tol: float) -> Alignment:
    """The same alignment with the base, or the tool, the identity where the first, or last, zero can do it.

    A turn of the base about the first axis does what an offset of the first joint does, and so do the tool and the last
    joint. The offset is zero unless with one the base (the tool) is the identity.
    """
    offsets = alignment.offsets.copy()
    beyond = alignment.base @ second.axes[0].displacement(float(offsets[0]))
    angle = _value_of(second, 0, beyond, tol)
    base = alignment.base
    if angle is not None and not _is_identity(base, tol):
        offsets[0], base = angle, np.eye(4)
    last = len(offsets) - 1
    if last > 0 or base is alignment.base:
        tool = tool_of(first, second, Alignment(base, alignment.signs, offsets))
        if not _is_identity(tool, tol):
            kept = float(offsets[last])
            turned = second.axes[last].displacement(kept) @ second.end @ tool @ inverse(second.end)
            angle = _value_of(second, last, np.asarray(turned, dtype=float), tol)
            offsets[last] = kept if angle is None else angle
    return Alignment(base, alignment.signs, offsets)


def rebased(second: JointAxes, alignment: Alignment, value: float) -> Alignment:
    """The same alignment with another offset of the first joint; the base makes up for it."""
    axis = second.axes[0]
    base = alignment.base @ axis.displacement(float(alignment.offsets[0])) @ axis.displacement(-value)
    return replace(alignment.with_offset(0, value), base=np.asarray(base))


def _is_identity(pose: FloatArray, tol: float) -> bool:
    return bool(np.abs(pose - np.eye(4)).max() <= tol)


def _value_of(chain: JointAxes, k: int, motion: FloatArray, tol: float) -> float | None:
    """The joint value that makes this motion, if there is one."""
    axis = chain.axes[k]
    if not axis.has_line:
        value = float(axis.direction @ motion[:3, 3])
    else:
        about, angle = axis_and_angle(motion[:3, :3])
        value = math.copysign(float(angle), float(about @ axis.direction)) if angle > 0 else 0.0
    return value if np.abs(chain.axes[k].displacement(value) - motion).max() <= tol else None


# ── nearly the same ───────────────────────────────────────────────────────────────────────────────


def best_fit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> Alignment:
    """The alignment with the least sum of squares of what the axes miss each other by, from one that is near.

    Directions count in rad, lengths as a share of the reach; so does what the offsets of joints that follow others miss.
    Gauss-Newton over the base and all offsets; what nothing determines stays as it is.
    """
    best, least = alignment, _misses(first, second, alignment, ties)[0]
    for _ in range(ROUNDS):
        size, misses, slopes = _misses(first, second, best, ties, slopes=True)
        step = np.asarray(-np.linalg.lstsq(slopes, misses, rcond=1e-9)[0], dtype=np.float64)
        tried = _stepped(best, step, first.size)
        size = _misses(first, second, tried, ties)[0]
        if not size < least:
            break
        best, least = tried, size
    return best


def misfit(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie] = ()) -> float:
    """What the axes miss each other by, and the ties, as the root of the sum of squares."""
    return math.sqrt(_misses(first, second, alignment, ties)[0])


def _stepped(alignment: Alignment, step: FloatArray, size: float) -> Alignment:
    angle = float(np.linalg.norm(step[:3]))
    turn = rotation_about(step[:3] / angle, angle) if angle > 0 else np.eye(3)
    base = np.asarray(transform(turn, size * step[3:6]) @ alignment.base, dtype=float)
    return Alignment(base, alignment.signs, alignment.offsets + step[6:])


def _misses(
    first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie], *, slopes: bool = False
) -> tuple[float, FloatArray, FloatArray]:
    """Their sum of squares, what each axis and each tie misses, and how that changes with base and offsets."""
    size, count = first.size, len(first.axes)
    values, changes = [], []
    twists = np.zeros((6 + count, 6))  # turning, shift of the world's origin: of the base, then of each joint
    twists[:3, :3], twists[3:6, 3:] = np.eye(3), size * np.eye(3)
    pose = alignment.base
    for k, (axis, wanted) in enumerate(zip(second.axes, first.axes, strict=True)):
        u, p = pose[:3, :3] @ axis.direction, pose[:3, :3] @ axis.point + pose[:3, 3]
        values.append(u - alignment.signs[k] * wanted.direction)
        across = np.eye(3) - np.outer(wanted.direction, wanted.direction)
        if slopes:
            changes.append(np.cross(twists[:, :3], u).T)
        if axis.has_line:
            values.append(across @ (p - wanted.point) / size)
            if slopes:
                changes.append(across @ (np.cross(twists[:, :3], p) + twists[:, 3:]).T / size)
        along = axis.pitch if axis.has_line else 1.0
        turning = u if axis.has_line else np.zeros(3)
        twists[6 + k] = np.concatenate([turning, np.cross(p, turning) + along * u])
        pose = pose @ second.axes[k].displacement(float(alignment.offsets[k]))
    for tie in ties:
        axis = second.axes[tie.joint]
        unit = 1.0 if axis.has_line else size
        values.append(np.array([tie.error(axis.periodic, alignment.signs, alignment.offsets) / unit]))
        row = np.zeros((1, 6 + count))
        row[0, 6 + tie.joint], row[0, 6 + tie.leader] = 1.0 / unit, -tie.ratios[1] / unit
        changes.append(row)
    misses = np.concatenate(values)
    return float(misses @ misses), misses, np.concatenate(changes) if slopes else np.zeros((0, 0))


def follower_differences(first: Sequence[JointAxis], second: Sequence[JointAxis]) -> list[str]:
    """Joints that follow another one in one description and not in the other, or by another ratio."""
    leaders = [leaders_of(axes) for axes in (first, second)]
    if not alike(*leaders):
        lines = []
        for k, pair in enumerate(zip(*leaders, strict=True)):
            if pair[0] != pair[1]:
                texts = ["has a coordinate of its own" if j == k else f"follows joint {j + 1}" for j in pair]
                lines.append(f"joint {k + 1} ({names(first[k], second[k])}): {texts[0]} against {texts[1]}")
        return lines
    return [
        f"ratio by which joint {tie.joint + 1} follows joint {tie.leader + 1}: {abs(one):g} against {abs(other):g}"
        for tie in ties_between(first, second)
        for one, other in [tie.ratios]
        if not np.isclose(abs(one), abs(other), rtol=1e-9, atol=0)
    ]


def with_followers(first: JointAxes, second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with the zeros of the first and last joint, which are free, chosen so that what follows fits.

    Whole turns of the leaders are then chosen so that this holds for all their followers.
    """
    last = len(first.axes) - 1
    for tie in ties:
        k, j, ratio = tie.joint, tie.leader, tie.ratios[1]
        chosen = next((joint for joint in (k, j) if joint in {0, last}), None)
        if chosen is None or not ratio:
            continue
        shift = tie.shift(alignment.signs)
        value = ratio * alignment.offsets[j] + shift if chosen == k else (alignment.offsets[k] - shift) / ratio
        alignment = rebased(second, alignment, float(value)) if chosen == 0 else alignment.with_offset(-1, float(value))
    return _lapped(second, alignment, ties)


def tie_error(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> float:
    """By how much the offsets fulfil the worst tie not, rad or m."""
    errors = (tie.error(second.axes[tie.joint].periodic, alignment.signs, alignment.offsets) for tie in ties)
    return max(map(abs, errors), default=0.0)


def _lapped(second: JointAxes, alignment: Alignment, ties: Sequence[Tie]) -> Alignment:
    """The alignment with whole turns of revolute leaders with which all their followers are best."""
    for j in sorted({tie.leader for tie in ties if second.axes[tie.leader].periodic}):
        following = [tie for tie in ties if tie.leader == j]
        turned = alignment.offsets[j] + 2 * math.pi * np.arange(-LAPS, LAPS + 1)
        candidates = [alignment.with_offset(j, value) for value in sorted(turned.tolist(), key=abs)]
        errors = [tie_error(second, candidate, following) for candidate in candidates]
        if min(errors) <= NEAR:
            alignment = next(c for c, error in zip(candidates, errors, strict=True) if error <= max(2 * min(errors), 1e-7))
    return alignment
