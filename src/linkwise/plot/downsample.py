"""Downsampling of curves in bounded memory: least and greatest value of each interval of time, so that peaks survive."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

IntArray = npt.NDArray[np.int64]

#: Stretches kept at most; more than the pixels across a figure.
STRETCHES = 2048


class Thinned:
    """Values against time, thinned as they come.

    All values are kept while there are few; then time is cut into stretches of equally many instants, each remembered by
    its first and last time and by its least and greatest values in the order in which they came, and the stretches are
    doubled whenever there are too many.

    Parameters
    ----------
    columns : int
        How many curves.
    stretches : int
        How many stretches of time are kept at most.

    Attributes
    ----------
    stretch : int
        Instants in a stretch, a power of two.

    Examples
    --------
    >>> curve = Thinned(1)
    >>> curve.add(np.arange(10000.0), np.sin(np.arange(10000.0))[:, None])
    >>> curve.stretch, curve.points()[0].size < 2 * STRETCHES
    (8, True)
    """

    def __init__(self, columns: int, stretches: int = STRETCHES) -> None:
        self.columns = columns
        self.stretches = stretches
        self.stretch = 1
        self.rows = 0
        self._kept = _Stretches.empty(columns)

    def add(self, t: FloatArray, values: FloatArray) -> None:
        """Take in the next instants: t (k,), values (k, columns)."""
        if not len(t):
            return
        rows = self.rows + np.arange(len(t))
        first = self.rows // self.stretch
        starts = np.flatnonzero(np.diff(rows // self.stretch, prepend=-1))
        new = _Stretches.cut(rows, t, values, starts)
        if len(self._kept.first) > first:  # the interval begun before continues
            begun = _Stretches(*(part[-1:] for part in self._kept.parts))
            joint = begun.joined(_Stretches(*(part[:1] for part in new.parts))).merged(np.array([0]))
            new = joint.joined(_Stretches(*(part[1:] for part in new.parts)))
        self._kept = _Stretches(*(part[:first] for part in self._kept.parts)).joined(new)
        self.rows += len(t)
        while len(self._kept.first) > self.stretches:
            self._kept = self._kept.merged(np.arange(0, len(self._kept.first), 2))
            self.stretch *= 2

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Time (m,) and values (m, columns) to draw: all of them, or both extremes of each stretch as they came.

        The one that came first stands at the first time of its stretch, the other at the last.
        """
        kept = self._kept
        if self.stretch == 1:
            return kept.first, kept.low
        falls = kept.high_row < kept.low_row
        both = np.stack((np.where(falls, kept.high, kept.low), np.where(falls, kept.low, kept.high)), axis=1)
        return np.stack((kept.first, kept.last), axis=1).ravel(), both.reshape(-1, self.columns)


@dataclass(frozen=True)
class _Stretches:
    """First and last time of some stretches (m,), their extremes, and in which row each came first (m, columns)."""

    first: FloatArray
    last: FloatArray
    low: FloatArray
    high: FloatArray
    low_row: IntArray
    high_row: IntArray

    @classmethod
    def empty(cls, columns: int) -> Self:
        none, rows = np.empty((0, columns)), np.empty((0, columns), dtype=np.int64)
        return cls(np.empty(0), np.empty(0), none, none, rows, rows)

    @classmethod
    def cut(cls, rows: IntArray, t: FloatArray, values: FloatArray, starts: IntArray) -> Self:
        """Cut instants into stretches that begin at ``starts``."""
        every = np.broadcast_to(rows[:, None], values.shape)
        return cls(t, t, values, values, every, every).merged(starts)

    @property
    def parts(self) -> tuple[Any, ...]:
        return self.first, self.last, self.low, self.high, self.low_row, self.high_row

    def joined(self, other: Self) -> Self:
        return type(self)(*(np.concatenate(pair) for pair in zip(self.parts, other.parts, strict=True)))

    def merged(self, starts: IntArray) -> Self:
        """Make one stretch of all from each of ``starts`` to the next."""
        ends = np.append(starts[1:], len(self.first)) - 1
        low, low_row = _extreme(np.minimum, self.low, self.low_row, starts)
        high, high_row = _extreme(np.maximum, self.high, self.high_row, starts)
        return type(self)(self.first[starts], self.last[ends], low, high, low_row, high_row)


def _extreme(pick: Any, values: FloatArray, rows: IntArray, starts: IntArray) -> tuple[FloatArray, IntArray]:
    """Extreme of each stretch, and the first row in which it came."""
    extremes = pick.reduceat(values, starts)
    every = np.repeat(extremes, np.diff(starts, append=len(values)), axis=0)
    return extremes, np.minimum.reduceat(np.where(values == every, rows, np.iinfo(np.int64).max), starts)
