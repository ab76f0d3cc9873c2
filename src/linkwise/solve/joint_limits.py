"""Ranges of the joint coordinates for solvers, whole turns within them, and default initial guesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.model.validation import frozen
from linkwise.solve.validation import FARTHEST
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, select
from linkwise.spatial.vector import chosen, column, total

TURN = 2.0 * np.pi

#: Ranges of less than this, rad, are narrow.
NARROW = 1.0


class CoordinateBounds(Protocol):
    """Bounds of joint coordinates, over scalars."""

    def clipped(self, q: Array) -> Array:
        """Q (n,), at their bounds the coordinates that are beyond."""

    def movable(self, q: Array, slope: Array) -> Array | list[Any]:
        """Mask of the coordinates, 0 where one is at a bound and the slope (n,) points beyond."""


@dataclass(frozen=True, eq=False)
class InputBounds:
    """Bounds (n,) that are inputs; infinite where there are none."""

    low: Array
    high: Array

    def clipped(self, q: Array) -> Array:
        """Q (n,), at their bounds the coordinates that are beyond."""
        triples = zip(q, self.low, self.high, strict=True)
        return np.array([least(greatest(value, low), high) for value, low, high in triples], dtype=object)

    def movable(self, q: Array, slope: Array) -> list[Any]:
        """Mask of the coordinates, 0 where one is at a bound and the slope (n,) points beyond."""
        return [
            select(
                value - low,
                select(high - value, 1.0, select(down, 0.0, 1.0)),
                select(high - low, select(-down, 0.0, 1.0), 0.0),
            )
            for value, low, high, down in zip(q, self.low, self.high, slope, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class JointRanges:
    """Joint limits, and which coordinates are periodic.

    Attributes
    ----------
    low, high : ndarray (n,)
        Limits, rad or m; infinite where there are none.
    turning : ndarray (n,)
        Which coordinates a whole turn leaves where they are.
    """

    low: FloatArray
    high: FloatArray
    turning: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, tree: Tree, *, limits: bool = True) -> JointRanges:
        """The ranges of a mechanism, or endless ones, kept with it; a limit out of the range of sensible numbers is none."""
        return tree.memo("joint_ranges", (cls, limits), lambda: cls._of(tree, limits))

    @classmethod
    def _of(cls, tree: Tree, limits: bool) -> JointRanges:
        bounds = np.column_stack([tree.q_min, tree.q_max]) if limits else np.tile([-np.inf, np.inf], (tree.n, 1))
        bounds = np.where(np.abs(bounds) > FARTHEST, np.copysign(np.inf, bounds), bounds)
        bounds, turns = frozen(bounds), turning(tree)
        turns.setflags(write=False)
        return cls(bounds[:, 0], bounds[:, 1], turns)

    def keeping_turns_of(self, coordinates: Sequence[int]) -> JointRanges:
        """Copy in which full turns of some coordinates matter, as where their values are constrained."""
        turning = self.turning.copy()
        turning[list(coordinates)] = False
        return replace(self, turning=turning)

    def wrapped(self, q: Array, q0: Array) -> Array:
        """Scalars q (n,), turned a whole turn towards a window of one turn where they are outside it; slides kept inside.

        The window is that in the limits nearest to q0, so that a coordinate in it is within the limits and, of its kind,
        nearest to q0; where the limits allow less than a turn the window is about their middle.
        """
        wrapped = self.clipped(q)
        free = np.flatnonzero(self.turning & ~self.narrow)
        middle, x = self._middle(free, q0[free]), q[free]
        up, down = x - (middle + np.pi), (middle - np.pi) - x
        wrapped[free] = chosen(up, x - TURN, chosen(down, x + TURN, x))
        return wrapped

    @property
    def narrow(self) -> npt.NDArray[np.bool_]:
        """Mark coordinates (n,) with a range so narrow that most steps towards a solution would leave it."""
        return np.asarray(0.5 * self.high - 0.5 * self.low < 0.5 * NARROW)

    @cached_property
    def _finite(self) -> tuple[FloatArray, FloatArray]:
        most = np.finfo(np.float64).max
        return np.maximum(self.low, -most), np.minimum(self.high, most)

    @cached_property
    def limited(self) -> bool:
        """True if there is any limit."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def hold(self, q: FloatArray) -> bool:
        """True if coordinates (n,) are finite, and within their limits."""
        low, high = self._finite
        return bool(np.count_nonzero((low <= q) & (q <= high)) == len(low))

    def nearest_turns(self, q: FloatArray, q0: FloatArray) -> FloatArray:
        """Coordinates (..., n), those that turn with whole turns added: the nearest to q0 (..., n) within their limits."""
        with np.errstate(invalid="ignore"):
            fewest = np.ceil((self.low - q) / TURN - 1e-12)
            most = np.floor((self.high - q) / TURN + 1e-12)
            turns = np.clip(np.round((q0 - q) / TURN), fewest, most)
        return np.where(self.turning & (turns != 0.0) & (fewest <= most), q + TURN * turns, q)

    def principal(self, q: FloatArray) -> FloatArray:
        """Coordinates (..., n), those that turn and have no limit in (-pi, pi]."""
        turned = q
        for i in self._endless:
            beyond = (q[..., i] > np.pi) | (q[..., i] <= -np.pi)
            if beyond.any():
                turned = q.copy() if turned is q else turned
                some = q[beyond, i]
                turned[beyond, i] = some - TURN * np.ceil((some - np.pi) / TURN)
        return turned

    @cached_property
    def _endless(self) -> npt.NDArray[np.intp]:
        """Indices of the rotational coordinates without limits."""
        return np.flatnonzero(self.turning & (self.low == -np.inf) & (self.high == np.inf))

    def lifted(self, q: FloatArray) -> FloatArray:
        """Shift periodic coordinates (..., n) beyond their limits by full turns to, or towards, the limits."""
        above = self.turning & np.isfinite(self.high) & (q > self.high)
        below = self.turning & np.isfinite(self.low) & (q < self.low)
        if not (above.any() or below.any()):
            return q
        high, low = np.where(above, self.high, 0.0), np.where(below, self.low, 0.0)
        return np.where(above, high - np.remainder(high - q, TURN), np.where(below, low + np.remainder(q - low, TURN), q))

    def _middle(self, some: npt.NDArray[np.intp], q0: Array) -> Array:
        """The middles of the windows of some coordinates, of which q0 (k,) are the nearest."""
        low, high = column(self.low[some], q0), column(self.high[some], q0)
        middle, short = np.array(q0), np.ravel(high - low < TURN)
        lower, upper = (np.ravel(np.isfinite(bound)) & ~short for bound in (low, high))
        least_middle, greatest_middle = low[lower] + np.pi, high[upper] - np.pi
        middle[lower] = chosen(least_middle - middle[lower], least_middle, middle[lower])
        middle[upper] = chosen(middle[upper] - greatest_middle, greatest_middle, middle[upper])
        middle[short] = 0.5 * (low[short] + high[short])
        return middle

    @cached_property
    def _ends(self) -> tuple[tuple[npt.NDArray[np.intp], FloatArray], ...]:
        """Coordinates with a lower limit, and with an upper one, and these limits."""
        pairs = ((np.flatnonzero(np.isfinite(bound)), bound) for bound in (self.low, self.high))
        return tuple((at, bound[at]) for at, bound in pairs)

    def clipped(self, q: Array) -> Array:
        """Scalars q (n,), at their limits those that are beyond."""
        (lower, low), (upper, high) = self._ends
        low, high, inside = column(low, q), column(high, q), np.array(q)
        inside[lower] = chosen(low - inside[lower], low, inside[lower])
        inside[upper] = chosen(inside[upper] - high, high, inside[upper])
        return inside

    def movable(self, q: Array, slope: Array) -> Array:
        """Mask of the coordinates, 0 where one is at a limit and the slope (n,) points beyond."""
        (lower, low), (upper, high) = self._ends
        shares = np.full(slope.shape, 1.0, np.result_type(q, slope))
        shares[lower] = chosen(q[lower] - column(low, q), 1.0, chosen(slope[lower], 1.0, 0.0))
        room, share = column(high, q) - q[upper], shares[upper]
        shares[upper] = chosen(room, share, chosen(-slope[upper], share, 0.0))
        return shares

    def outside(self, q: Array, slack: Any = 0.0) -> Any:
        """Number of the scalars q (n,) beyond their limits by more than the slack."""
        (lower, low), (upper, high) = self._ends
        beyond = [column(low, q) - slack - q[lower], q[upper] - slack - column(high, q)]
        order = np.argsort(np.concatenate([lower, upper]), kind="stable")
        return total(chosen(np.concatenate(beyond)[order], 1.0, 0.0))


def turning(tree: Tree) -> npt.NDArray[np.bool_]:
    """Mask of periodic coordinates (n,): those of revolute joints without mimic joints."""
    free = np.array([part.periodic for part in tree.turns_and_slides], dtype=bool)
    for link, joint in zip(tree.links, tree.followers, strict=True):
        if link.mimic is not None and joint.coordinate >= 0 and joint.ratio:
            free[joint.coordinate] = False
    return free


def shorter_way(away: FloatArray, turning: npt.NDArray[np.bool_]) -> FloatArray:
    """Differences (..., n) of coordinates, periodic ones (n,) by the shorter direction."""
    return np.where(turning, away - TURN * np.rint(away / TURN), away)


#: Offset of a joint's start from the middle of its range, rad or m, at most a quarter of the range.
ASIDE = 0.3


def start_position(mechanism: Tree, idle: npt.ArrayLike = False) -> FloatArray:
    """Return joint coordinates (n,) to start from: a little beside the middle of the range of each joint.

    The middle itself is a singular position of many arms, so joints stand 0.3 rad or m (at most a quarter of the range)
    aside, to alternate sides. Where a joint has no limits zero stands for the middle, and its one limit where it has one.
    Joints that are idle (n,), because nothing that is asked for depends on them, stay at zero, or the limit next to it.

    Examples
    --------
    >>> from linkwise import robots
    >>> start_position(robots.planar_2r()).tolist()
    [0.3, -0.3]
    """
    low, high = mechanism.q_min, mechanism.q_max
    bounded = np.isfinite(low) & np.isfinite(high)
    half = np.where(bounded, 0.5 * np.where(bounded, high, 0.0) - 0.5 * np.where(bounded, low, 0.0), np.inf)
    middle = np.where(bounded, np.where(bounded, low, 0.0) + np.where(bounded, half, 0.0), 0.0)
    aside = np.minimum(ASIDE, 0.5 * half) * np.where(np.arange(mechanism.n) % 2, -1.0, 1.0)
    return np.asarray(np.clip(np.where(idle, 0.0, middle + aside), low, high))


def beside(mechanism: Tree, link: int | str) -> npt.NDArray[np.bool_]:
    """Mask of joint coordinates (n,) that do not move a frame.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> hand = Mechanism([Link(name="arm", joint="revolute"), Link(name="finger", joint="prismatic", parent="arm")])
    >>> beside(hand, "arm").tolist(), beside(hand, "finger").tolist()
    ([False, True], [False, False])
    """
    pairs = [(mechanism.coordinates[k], mechanism.links[k]) for k in mechanism.path(link)]
    on_the_way = {i for first, part in pairs for i, _ in enumerate(part.coordinate_names, first)}
    return np.array([i not in on_the_way for i in range(mechanism.n)], dtype=bool)


def near_zero(mechanism: Tree) -> FloatArray:
    """The position (nq,) with all joints at zero, or at the limit next to it; a floating base in its neutral pose."""
    q = mechanism.neutral.copy()
    base = mechanism.nq - mechanism.n
    q[base:] = np.clip(q[base:], mechanism.q_min, mechanism.q_max)
    return q
