"""Trust-region minimisation within joint limits and along closed loops.

Newton's method with a trust region along the motions that are allowed (J. Nocedal, S. J. Wright, *Numerical Optimization*,
2006, section 4.1). The curvature is taken from differences of values on the closed loops themselves, so that it holds where
what is aimed at is out of reach, and where a linkage turns back; a direction that curves downwards is gone down (Y. N.
Dauphin and others, "Identifying and attacking the saddle point problem in high-dimensional non-convex optimization", 2014,
for taking the absolute values). Small curvatures are raised to the slope (D.-H. Li, M. Fukushima, L. Qi, N. Yamashita,
"Regularized Newton methods for convex minimization problems with singular solutions", 2004): where there are more
joints than the target needs, the curvature along what leaves the frame where it is comes from the distance alone, and would
drive the joints far for nothing. Every step lowers the value, so the way never jumps.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.loops import Linkage, assemble
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closed_samples, closing, require_plain_loops
from linkwise.model.tree import Tree
from linkwise.solve.lengths import size_of
from linkwise.spatial.scalar import FloatArray

Mask = npt.NDArray[np.bool_]

#: Singular values of the closure Jacobian below this share of the greatest count as zero.
RANK = 1e-8

#: Corrections that close the loops again after a step, at most, and what may be left then without another.
ROUNDS, SOUND = 30, 1e-14


@dataclass(frozen=True, eq=False)
class FeasibleMotions:
    """The motions that are allowed at a position, to first order, in units in which lengths and angles compare.

    Attributes
    ----------
    basis : ndarray (n, m)
        Orthonormal.
    back : ndarray (n, K) or None
        The least motion that closes loops which are open by little: the pseudo-inverse of the closure Jacobian. None
        where there are no loops.
    """

    basis: FloatArray
    back: FloatArray | None


class FeasibleSet:
    """The positions that a mechanism may take, and the ways between them that are near.

    Parameters
    ----------
    mechanism : Mechanism
        Any. A floating base stays.
    moving : ndarray of bool (n,)
        Which joint coordinates may move.

    Attributes
    ----------
    task : LoopEquations or None
        The closure equations.
    size : float
        The length that compares with 1 rad, m.
    units : ndarray (n,)
        What coordinates are divided by.
    low, high : ndarray (n,)
        Limits, rad or m.
    """

    def __init__(self, mechanism: Tree, moving: Mask) -> None:
        require_plain_loops(mechanism, "dragging")
        self.mechanism, self.moving = mechanism, moving
        self.task: LoopEquations | None = closing(mechanism) if mechanism.loops else None
        self.size = size_of(mechanism)
        self.units = np.where(np.asarray(mechanism.is_length, dtype=bool), self.task.size if self.task else self.size, 1.0)
        self.low, self.high = mechanism.q_min, mechanism.q_max
        self.base = mechanism.nq - mechanism.n
        self._eye = np.eye(mechanism.n)
        self._limited = np.flatnonzero(moving & (np.isfinite(self.low) | np.isfinite(self.high)))
        if self.task is not None:
            self._closure: Any = kernel_of(mechanism, "closure", None, {})
            self._rows = self.task.rows

    def tangent(self, q: FloatArray) -> FeasibleMotions:
        """The motions at a closed position q (nq,)."""
        free = self.moving
        if self.task is None:
            return FeasibleMotions(self._eye[:, free], None)
        jac = self.task.jacobian(q)[:, free]
        left, values, right = np.linalg.svd(jac)
        rank = int((values > RANK * max(values[0], RANK)).sum())
        basis = np.zeros((len(free), right.shape[0] - rank))
        back = np.zeros((len(free), len(jac)))
        basis[free] = right[rank:].T
        back[free] = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        return FeasibleMotions(basis, back)

    def held(self, tangent: FeasibleMotions, resting: npt.NDArray[np.intp]) -> FeasibleMotions:
        """Those of the motions during which some joints rest, given by their rows of `room`."""
        joints = np.unique(self._limited[resting % len(self._limited)])
        return self._without(tangent, joints)

    def _without(self, tangent: FeasibleMotions, joints: npt.NDArray[np.intp]) -> FeasibleMotions:
        """Those of the motions during which these joints rest."""
        rows = tangent.basis[joints]
        left, values, right = np.linalg.svd(rows)
        rank = int((values > RANK).sum())
        basis = tangent.basis @ right[rank:].T
        if tangent.back is None:
            return FeasibleMotions(basis, None)
        still = (right[:rank].T / values[:rank]) @ left[:, :rank].T
        back = tangent.back - tangent.basis @ (still @ tangent.back[joints])
        back[joints] = 0.0
        return FeasibleMotions(basis, back)

    def beside(self, q: FloatArray, tangent: FeasibleMotions, steps: FloatArray) -> FloatArray:
        """Positions (k, nq) at small steps (k, m) along the basis; loops closed to second order."""
        positions = np.repeat(q[None], len(steps), axis=0)
        positions[:, self.base :] += (steps @ tangent.basis.T) * self.units
        if self.task is not None and tangent.back is not None:
            for _ in range(2):
                positions[:, self.base :] -= ((self._closure(positions) * self._rows) @ tangent.back.T) * self.units
        return positions

    def moved(self, q: FloatArray, tangent: FeasibleMotions, step: FloatArray) -> FloatArray | None:
        """The position (nq,) after a step (m,), loops closed, within the limits; None where there is none near by."""
        trial = q.copy()
        trial[self.base :] = np.clip(q[self.base :] + (tangent.basis @ step) * self.units, self.low, self.high)
        if self.task is None:
            return trial
        closed = self.closed_again(trial, tangent)
        if closed is None:
            return None
        joints = closed[self.base :]
        outside = (joints < self.low) | (joints > self.high)
        if outside.any():
            closed[self.base :] = np.clip(joints, self.low, self.high)
            closed = self.closed_again(closed, self._without(self.tangent(closed), np.flatnonzero(outside)))
            if closed is None or ((closed[self.base :] < self.low) | (closed[self.base :] > self.high)).any():
                return None
        return closed

    def closed_again(self, q: FloatArray, tangent: FeasibleMotions) -> FloatArray | None:
        """Close loops that are open by little, by Newton's method with the Jacobian that is known."""
        assert tangent.back is not None
        position, before = q.copy(), np.inf
        for _ in range(ROUNDS):
            residual = self._closure(position) * self._rows
            left = float(np.abs(residual).max())
            if left <= SOUND or (left <= CLOSED and left >= 0.5 * before):
                return position
            if not left <= 0.8 * before:
                return None
            before = left
            position[self.base :] -= (tangent.back @ residual) * self.units
        return position if before <= CLOSED else None

    def settled(self, q: FloatArray) -> FloatArray:
        """The position (nq,) within the limits, and with loops closed where that is possible, next to any other."""
        position = q.copy()
        position[self.base :] = np.clip(position[self.base :], self.low, self.high)
        if self.task is None or self.open_by(position) <= CLOSED:
            return position
        return np.asarray(closed_near(self.task, position[None])[0][0])

    def open_by(self, q: FloatArray) -> float:
        """How far the loops are open at q (nq,), in longest offsets and rad; 0 where there are none."""
        return 0.0 if self.task is None else float(self.task.error(q))

    def room(self, q: FloatArray, tangent: FeasibleMotions) -> tuple[FloatArray, FloatArray]:
        """Rows (k, m) and bounds (k,) of the steps that stay within the limits: rows @ step <= bounds."""
        which = self._limited
        joints, units, basis = q[self.base :][which], self.units[which], tangent.basis[which]
        above, below = (self.high[which] - joints) / units, (joints - self.low[which]) / units
        return np.concatenate([basis, -basis]), np.maximum(np.concatenate([above, below]), 0.0)


#: How far from a singular position another one is looked for, rad or longest offsets, and how often.
SIDESTEP, TRIES = 0.02, 16

#: Of closing the loops there again, at most.
STEPS = 30

#: The least singular value that counts, as a part of what it is elsewhere: below the first a position is as good as
#: singular, above the second it is well away.
SINGULAR, REGULAR = 1e-3, 1e-2


@dataclass(frozen=True, eq=False)
class LoopStart:
    """What loops make of a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        With loops.
    q : ndarray (nq,)
        A position with loops closed and not singular, or the least open one where none can be closed.
    held : ndarray of bool (n,)
        Which joints the loops hold.
    driven : tuple of int
        Joint coordinates that drive the loops; none where nothing can.
    rank : int
        Independent closure equations.
    least : float
        The least singular value of theirs as a part of the greatest, at a typical position.
    """

    mechanism: Tree
    q: FloatArray
    held: npt.NDArray[np.bool_]
    driven: tuple[int, ...]
    rank: int
    least: float

    def regular(self, q: FloatArray) -> FloatArray:
        """The position (nq,) itself, or where loops could go on in several ways from it, the nearest of some beside it.

        Where the joints of a loop lie in one line, say, what is allowed to first order is more than what is allowed. The
        same is returned for the same position.
        """
        task = closing(self.mechanism)
        if not self.rank or self._share(task.jacobian(q)) > SINGULAR * self.least or task.error(q) > CLOSED:
            return q
        aside = np.random.default_rng(0).normal(0.0, SIDESTEP, (TRIES, self.mechanism.n)) * task.columns
        starts = np.repeat(q[None], TRIES, axis=0)
        starts[:, task.base :] += aside
        closed, error, _ = closed_near(task, starts, iterations=STEPS)
        good = np.flatnonzero((error <= CLOSED) & (self._share(task.jacobian(closed)) > REGULAR * self.least))
        if not good.size:
            return q
        apart = np.linalg.norm((closed - q)[good, task.base :] / task.columns, axis=1)
        return np.asarray(closed[good[int(np.argmin(apart))]])

    def _share(self, jac: FloatArray) -> FloatArray:
        """The least singular value that counts (...,), as a part of the greatest, of closure Jacobians (..., K, n)."""
        values = np.linalg.svd(jac, compute_uv=False)
        return np.asarray(values[..., self.rank - 1] / np.maximum(values[..., 0], RANK))


def loop_start(mechanism: Tree) -> LoopStart:
    """Return what loops make of a mechanism; found once."""
    return mechanism.memo("interactive", "loop start", lambda: _find_start(mechanism))


def _find_start(mechanism: Tree) -> LoopStart:
    require_plain_loops(mechanism, "dragging")
    task, assembled = closing(mechanism), assemble(mechanism)
    samples = closed_samples(task) if assembled.success else assembled.q[None]
    samples = samples if len(samples) else assembled.q[None]
    jac = task.jacobian(samples)
    held = np.asarray(np.abs(jac).max(axis=(0, 1)) > CLOSED)
    values = np.linalg.svd(jac, compute_uv=False)
    ranks = (values > RANK * np.maximum(values[:, :1], RANK)).sum(axis=1)
    rank = int(ranks.max()) if assembled.success else 0
    least = float(np.median(values[ranks == rank, rank - 1] / values[ranks == rank, 0])) if rank else 0.0
    try:
        driven = tuple(mechanism.names.index(name) for name in Linkage(mechanism).driven)
    except ArgumentError:
        driven = ()
    first = LoopStart(mechanism, np.asarray(assembled.q), held, driven, rank, least)
    return LoopStart(mechanism, first.regular(first.q), held, driven, rank, least)


class Aim(ABC):
    """Something to come near to."""

    @abstractmethod
    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from it (k,), without unit, 0 there."""

    def value(self, q: FloatArray) -> float:
        """The same of one position (nq,)."""
        return float(self.values(q))

    @abstractmethod
    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,), at a position (nq,)."""


@dataclass(frozen=True, eq=False)
class PoseAim(Aim):
    """A pose of a frame: |p - pt|^2 / (2 s^2) + w^2 (1 - cos(t)), with t the angle that is missing.

    Written with the columns of the rotations, 1 - cos(t) = |R - Rt|^2 / 4, it is smooth at every angle and exact at small
    ones.

    Attributes
    ----------
    pose, rates : callable
        q to the pose (4, 4) of the frame, and to its Jacobian (6, nv), world axes.
    target : ndarray (4, 4)
        The pose wanted.
    weight : float
        w^2.
    size : float
        s, m.
    joints : int
        Number of joint coordinates, the last columns of the Jacobian.
    """

    pose: Callable[[FloatArray], Any]
    rates: Callable[[FloatArray], Any]
    target: FloatArray
    weight: float
    size: float
    joints: int

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from the pose (k,)."""
        gap = self.pose(q)[..., :3, :] - self.target[:3]
        apart, turned = gap[..., 3], gap[..., :3]
        far = np.einsum("...i,...i->...", apart, apart) / (2.0 * self.size**2)
        return np.asarray(far + 0.25 * self.weight * np.einsum("...ij,...ij->...", turned, turned))

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,)."""
        here, rates = self.pose(q), self.rates(q)[:, -self.joints :]
        gradient = rates[:3].T @ (here[:3, 3] - self.target[:3, 3]) / self.size**2
        if self.weight:
            turn = here[:3, :3] @ self.target[:3, :3].T
            moment = np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            gradient = gradient + 0.5 * self.weight * (rates[3:].T @ moment)
        return np.asarray(gradient)


@dataclass(frozen=True, eq=False)
class CoordinateAim(Aim):
    """A value of one coordinate: (q_k - v)^2 / (2 u^2).

    Attributes
    ----------
    index : int
        Of the coordinate in q.
    joint : int
        Of the joint coordinate.
    joints : int
        How many there are.
    target : float
        The value wanted, rad or m.
    unit : float
        What lengths are divided by.
    """

    index: int
    joint: int
    joints: int
    target: float
    unit: float

    def values(self, q: FloatArray) -> FloatArray:
        """How far positions (k, nq) are from it (k,)."""
        return np.asarray(0.5 * ((q[..., self.index] - self.target) / self.unit) ** 2)

    def slope(self, q: FloatArray) -> FloatArray:
        """The derivative by the joint coordinates (n,)."""
        gradient = np.zeros(self.joints)
        gradient[self.joint] = (q[self.index] - self.target) / self.unit**2
        return gradient


#: How far beside a position values are taken for the curvature: truncation goes with its square, rounding against it.
ASIDE = 3e-4

#: Of a step, rad or lengths that compare.
LONGEST = 0.3

#: Steps below this are not taken.
SHORTEST = 1e-10

#: A step below this is the last: what it leaves is its square, or a small part of it where limits are curved.
LAST = 1e-7

#: How far it goes down from a ridge, where no slope says to which side.
PUSH = 0.02

#: A joint nearer to its limit stands at it.
AT_LIMIT = 1e-12

#: Curvatures below this share of the greatest are rounding.
FLAT = 1e-9

#: Curvatures count as at least this times the slope: it ends as the slope does, so what is left is still squared.
STIFF = 1.0

#: It is at a ridge where an ordinary step gains less than this share of the value.
IDLE = 0.1


def descend(allowed: FeasibleSet, aim: Aim, q: FloatArray, *, rounds: int, done: float) -> tuple[FloatArray, int]:
    """Go down from an allowed position q (nq,); return where it ends, and how many steps it took.

    Parameters
    ----------
    allowed : FeasibleSet
        Where it may go.
    aim : Aim
        What to come near to.
    q : ndarray (nq,)
        Where to start.
    rounds : int
        Steps at most.
    done : float
        The value at which nothing is left to do.
    """
    value, radius, taken = aim.value(q), LONGEST, 0
    while taken < rounds and value > done and radius > SHORTEST:
        taken += 1
        slope = aim.slope(q) * allowed.units
        tangent = _free(allowed, q, slope)
        if not tangent.basis.shape[1]:
            break
        down = tangent.basis.T @ slope
        curve, ways = np.linalg.eigh(_curvature(allowed, aim, q, value, tangent))
        step = _step(ways, curve, ways.T @ down, value, radius, *allowed.room(q, tangent))
        length = float(np.linalg.norm(step))
        if length <= SHORTEST:
            break
        expected = -float(down @ step + 0.5 * (curve @ (ways.T @ step) ** 2))
        trial = allowed.moved(q, tangent, step)
        reached = np.inf if trial is None else aim.value(trial)
        if trial is None or not reached < value:
            radius = 0.25 * length
            continue
        gained = value - reached
        radius = min(2.0 * radius, LONGEST) if gained > 0.5 * expected else max(0.5 * length, 10.0 * SHORTEST)
        q, value = trial, reached
        if length <= LAST:
            break
    return q, taken


def _free(allowed: FeasibleSet, q: FloatArray, slope: FloatArray) -> FeasibleMotions:
    """The motions at q in which the joints rest that stand at a limit and are pressed against it on the way down."""
    tangent = allowed.tangent(q)
    rows, room = allowed.room(q, tangent)
    at = np.flatnonzero(room <= AT_LIMIT)
    if not at.size:
        return tangent
    pressed = _pushed_back(rows[at], -(rows[at] @ (tangent.basis.T @ slope)))
    return allowed.held(tangent, at[pressed > 0.0]) if (pressed > 0.0).any() else tangent


def _curvature(allowed: FeasibleSet, aim: Aim, q: FloatArray, value: float, tangent: FeasibleMotions) -> FloatArray:
    """The second derivative (m, m) of the value along the basis, from second differences."""
    count = tangent.basis.shape[1]
    differences = aim.values(allowed.beside(q, tangent, _offsets(count))) - value
    both = differences[: len(differences) // 2] + differences[len(differences) // 2 :]
    diagonal = both[:count]
    hessian = np.diag(diagonal)
    rows, columns = _pairs(count)
    hessian[rows, columns] = hessian[columns, rows] = 0.5 * (both[count:] - diagonal[rows] - diagonal[columns])
    return hessian / ASIDE**2


@cache
def _pairs(count: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    return np.triu_indices(count, 1)


@cache
def _offsets(count: int) -> FloatArray:
    """Steps along each direction, and along each pair of them, forwards, then backwards."""
    rows, columns = _pairs(count)
    eye = np.eye(count)
    steps = ASIDE * np.concatenate([eye, eye[rows] + eye[columns]])
    both = np.concatenate([steps, -steps])
    both.flags.writeable = False
    return both


def _step(
    ways: FloatArray,
    curve: FloatArray,
    down: FloatArray,
    value: float,
    radius: float,
    rows: FloatArray,
    room: FloatArray,
) -> FloatArray:
    """The step (m,) that lowers a model of the value most, curvatures taken absolute: rows @ step <= room, not too long.

    Slope and curvature are those along `ways`.
    """
    most = float(np.abs(curve).max())
    bent = np.maximum(np.abs(curve), max(FLAT * most + 1e-30, STIFF * float(np.linalg.norm(down))))
    ridge = (curve < -1e-6 * most) & (np.abs(down) < PUSH * np.abs(curve))
    if ridge.any() and 0.5 * float(down @ (down / bent)) < IDLE * value:
        signs = np.where(np.abs(down) > 1e-12 * most, -np.sign(down), _side(ways))
        down = np.where(ridge, -PUSH * signs * bent, down)
    step = _within(ways, bent, down, rows, room)
    if float(np.linalg.norm(step)) > radius:
        step = _within(ways, bent + _more(bent, down, radius), down, rows, room)
    length = float(np.linalg.norm(step))
    return step if length <= radius else np.asarray(step * (radius / length))


def _within(ways: FloatArray, bent: FloatArray, down: FloatArray, rows: FloatArray, room: FloatArray) -> FloatArray:
    """The lowest point (m,) of a model with these slopes and curvatures along `ways`, where rows @ step <= room."""
    free = -(ways @ (down / bent))
    over = rows @ free - room
    if not (over > 0.0).any():
        return np.asarray(free)
    along = rows @ ways
    return np.asarray(free - ways @ ((_pushed_back(along / np.sqrt(bent), over) @ along) / bent))


def _pushed_back(rows: FloatArray, over: FloatArray) -> FloatArray:
    """How strongly each limit (k,) pushes back so that none is passed: the least that does, none pulls.

    Multipliers y >= 0 of the least |x|^2 with rows @ x >= over: y minimises |rows.T @ y|^2 / 2 - over @ y (C. L. Lawson,
    R. J. Hanson, *Solving Least Squares Problems*, 1974, chapter 23, whose active sets these are).
    """
    multipliers = np.zeros(len(over))
    chosen = np.zeros(len(over), dtype=bool)
    square = rows @ rows.T
    small = 1e-13 * (1.0 + float(np.abs(over).max()))
    for _ in range(3 * len(over)):
        lacking = np.where(chosen, -np.inf, over - square @ multipliers)
        if not lacking.max() > small:
            break
        chosen[int(np.argmax(lacking))] = True
        while chosen.any():
            wanted = np.zeros(len(over))
            wanted[chosen] = np.linalg.lstsq(square[np.ix_(chosen, chosen)], over[chosen], rcond=1e-12)[0]
            if (wanted[chosen] > 0.0).all():
                break
            falls = chosen & (wanted <= 0.0)
            share = float((multipliers[falls] / (multipliers[falls] - wanted[falls] + 1e-300)).min())
            multipliers += share * (wanted - multipliers)
            chosen &= multipliers > 1e-15
            multipliers[~chosen] = 0.0
        multipliers = wanted if chosen.any() else multipliers
    return multipliers


def _side(ways: FloatArray) -> FloatArray:
    """For each direction the sign of its greatest component: a side to go to where both are alike."""
    rows = np.argmax(np.abs(ways) > 0.9 * np.abs(ways).max(axis=0), axis=0)
    return np.asarray(np.sign(ways[rows, range(ways.shape[1])]))


def _more(bent: FloatArray, down: FloatArray, radius: float) -> float:
    """What to add to all curvatures, r >= 0, such that down / (bent + r) is no longer than the radius.

    By Newton's method on the inverse of the length.
    """
    more = 0.0
    for _ in range(20):
        along = down / (bent + more)
        square = float(along @ along)
        length = square**0.5
        if length <= 1.01 * radius:
            break
        more += (length - radius) / radius * square / float(along @ (along / (bent + more)))
    return more
