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

TURN = 2.0 * np.pi

#: Ranges of less than this, rad, are narrow.
NARROW = 1.0


class CoordinateBounds(Protocol):
    """Between what joint coordinates stay, over scalars."""

    def clipped(self, q: Array) -> Array:
        """Q (n,), at their bounds the coordinates that are beyond."""

    def movable(self, q: Array, slope: Array) -> list[Any]:
        """For each coordinate 1, or 0 where it is at a bound and the slope (n,) leads beyond."""


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
        """For each coordinate 1, or 0 where it is at a bound and the slope (n,) leads beyond."""
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
    """Least and greatest joint coordinates, and which of them whole turns leave where they are.

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
        """The same, where whole turns of some coordinates count, as where their values are asked for."""
        turning = self.turning.copy()
        turning[list(coordinates)] = False
        return replace(self, turning=turning)

    def wrapped(self, q: Array, q0: Array) -> Array:
        """Scalars q (n,), turned a whole turn towards a window of one turn where they are outside it; slides kept inside.

        The window is that in the limits nearest to q0, so that a coordinate in it is within the limits and, of its kind,
        nearest to q0; where the limits allow less than a turn the window is about their middle.
        """
        wrapped = np.array(q, dtype=object)
        for i in range(len(wrapped)):
            if self.turning[i] and not self.narrow[i]:
                middle = self._middle(i, q0[i])
                up, down = wrapped[i] - (middle + np.pi), (middle - np.pi) - wrapped[i]
                wrapped[i] = select(up, wrapped[i] - TURN, select(down, wrapped[i] + TURN, wrapped[i]))
            else:
                wrapped[i] = self.held(wrapped[i], i)
        return wrapped

    @property
    def narrow(self) -> npt.NDArray[np.bool_]:
        """Which coordinates (n,) have so little room that a step towards a solution would leave it, mostly."""
        return np.asarray(0.5 * self.high - 0.5 * self.low < 0.5 * NARROW)

    @cached_property
    def _finite(self) -> tuple[FloatArray, FloatArray]:
        most = np.finfo(np.float64).max
        return np.maximum(self.low, -most), np.minimum(self.high, most)

    @cached_property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return bool(np.isfinite(self.low).any() or np.isfinite(self.high).any())

    def hold(self, q: FloatArray) -> bool:
        """Whether coordinates (n,) are finite, and within their limits."""
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
        """Which coordinates turn and have no limit, by their index."""
        return np.flatnonzero(self.turning & (self.low == -np.inf) & (self.high == np.inf))

    def lifted(self, q: FloatArray) -> FloatArray:
        """Coordinates (..., n) of what turns brought to their limits or within by whole turns, where they are beyond."""
        above = self.turning & np.isfinite(self.high) & (q > self.high)
        below = self.turning & np.isfinite(self.low) & (q < self.low)
        if not (above.any() or below.any()):
            return q
        high, low = np.where(above, self.high, 0.0), np.where(below, self.low, 0.0)
        return np.where(above, high - np.remainder(high - q, TURN), np.where(below, low + np.remainder(q - low, TURN), q))

    def _middle(self, i: int, q0: Any) -> Any:
        low, high = self.low[i], self.high[i]
        if high - low < TURN:
            return 0.5 * (low + high)
        if np.isfinite(low):
            q0 = select(low + np.pi - q0, low + np.pi, q0)
        if np.isfinite(high):
            q0 = select(q0 - (high - np.pi), high - np.pi, q0)
        return q0

    def held(self, value: Any, i: int) -> Any:
        """A scalar of coordinate i, at its limit where it is beyond."""
        if np.isfinite(self.low[i]):
            value = select(self.low[i] - value, self.low[i], value)
        if np.isfinite(self.high[i]):
            value = select(value - self.high[i], self.high[i], value)
        return value

    def clipped(self, q: Array) -> Array:
        """Scalars q (n,), at their limits those that are beyond."""
        return np.array([self.held(value, i) for i, value in enumerate(q)], dtype=object)

    def movable(self, q: Array, slope: Array) -> list[Any]:
        """For each coordinate 1, or 0 where it is at a limit and the slope (n,) leads beyond."""
        shares: list[Any] = []
        for low, high, value, down in zip(self.low, self.high, q, slope, strict=True):
            share: Any = 1.0
            if np.isfinite(low):
                share = select(value - low, 1.0, select(down, 1.0, 0.0))
            if np.isfinite(high):
                share = select(high - value, share, select(-down, share, 0.0))
            shares.append(share)
        return shares

    def outside(self, q: Array, slack: Any = 0.0) -> Any:
        """How many of the scalars q (n,) are beyond their limits by more than the slack."""
        count: Any = 0.0
        for i in range(len(q)):
            if np.isfinite(self.low[i]):
                count = count + select(self.low[i] - slack - q[i], 1.0, 0.0)
            if np.isfinite(self.high[i]):
                count = count + select(q[i] - slack - self.high[i], 1.0, 0.0)
        return count


def turning(tree: Tree) -> npt.NDArray[np.bool_]:
    """Which coordinates (n,) a full turn leaves where they are: of revolute joints that no other joint follows."""
    free = np.array([part.periodic for part in tree.turns_and_slides], dtype=bool)
    for link, joint in zip(tree.links, tree.followers, strict=True):
        if link.mimic is not None and joint.coordinate >= 0 and joint.ratio:
            free[joint.coordinate] = False
    return free


def shorter_way(away: FloatArray, turning: npt.NDArray[np.bool_]) -> FloatArray:
    """Differences (..., n) of coordinates, those that are turning (n,) the shorter way round."""
    return np.where(turning, away - TURN * np.rint(away / TURN), away)


#: rad, or m: how far beside the middle of its range a joint starts, at most a quarter of the range.
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
    """Which joint coordinates (n,) do not move a frame, for their joints are not on the way to it.

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
