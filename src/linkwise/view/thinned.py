"""Curves of any length kept in bounded memory: least and greatest value of each stretch of time, so that peaks survive."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray

STRETCHES = 2048
"""Stretches kept at most; more than the pixels across a figure."""


class Thinned:
    """Values against time, thinned as they come.

    All values are kept while there are few; then time is cut into stretches of equally many instants, each remembered by
    its first time and its least and greatest values, and the stretches are doubled whenever there are too many.

    Parameters
    ----------
    columns : int
        How many curves.

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

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.stretch = 1
        self.rows = 0
        self._time = np.empty(0)
        self._low = np.empty((0, columns))
        self._high = np.empty((0, columns))

    def add(self, t: FloatArray, values: FloatArray) -> None:
        """Take in the next instants: t (k,), values (k, columns)."""
        if not len(t):
            return
        first = self.rows // self.stretch
        index = (self.rows + np.arange(len(t))) // self.stretch
        starts = np.flatnonzero(np.diff(index, prepend=-1))
        low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        time = t[starts]
        if len(self._time) > first:  # the stretch begun before goes on
            low[0] = np.minimum(low[0], self._low[-1])
            high[0] = np.maximum(high[0], self._high[-1])
            time[0] = self._time[-1]
        self._time = np.concatenate((self._time[:first], time))
        self._low = np.concatenate((self._low[:first], low))
        self._high = np.concatenate((self._high[:first], high))
        self.rows += len(t)
        while len(self._time) > STRETCHES:
            self._double()

    def _double(self) -> None:
        starts = np.arange(0, len(self._time), 2)
        self._time = self._time[starts]
        self._low = np.minimum.reduceat(self._low, starts)
        self._high = np.maximum.reduceat(self._high, starts)
        self.stretch *= 2

    def points(self) -> tuple[FloatArray, FloatArray]:
        """Time (m,) and values (m, columns) to draw: all of them, or both ends of each stretch at its first time."""
        if self.stretch == 1:
            return self._time, self._low
        both = np.stack((self._low, self._high), axis=1)
        return np.repeat(self._time, 2), both.reshape(-1, self.columns)
