"""Motion along a path whose squared speed is linear in the path parameter between nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State
from linkwise.trajectory.path_kernels import kernel, motion_within


@dataclass(frozen=True, eq=False)
class Pieces:
    """The intervals of a path between nodes.

    Attributes
    ----------
    s : ndarray (..., N + 1)
        The nodes.
    first, last : ndarray (3, ..., N, n)
        q and its derivatives by s where an interval begins, and where it ends.
    """

    s: FloatArray
    first: FloatArray
    last: FloatArray

    @property
    def steps(self) -> FloatArray:
        """Lengths (..., N)."""
        return np.diff(self.s, axis=-1)

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape."""
        return tuple(self.first.shape[1:-2])

    def member(self, place: Any) -> Pieces:
        """Those of one path, or of some of a batch."""
        whole = np.broadcast_to(self.s, (*self.batch, self.s.shape[-1]))
        index = (slice(None), *(place if isinstance(place, tuple) else (place,)))
        return Pieces(whole[place], self.first[index], self.last[index])

    def motion(self, share: FloatArray, u: FloatArray, x: FloatArray) -> State:
        """Q, qd and qdd (..., N, K, n) at shares of each interval, for u and x there: all (..., N, K)."""
        ends = [part[..., None, :] for parts in (self.first, self.last) for part in parts]
        step, share, u, x = self.steps[..., None, None], share[..., None], u[..., None], x[..., None]
        q, qd, qdd = kernel(motion_within)(*ends, step, share, u, x)
        return q, qd, qdd


@dataclass(frozen=True, eq=False)
class Retimed:
    """An evaluator: takes times (K,), returns q, qd and qdd (..., K, n); at rest after the end.

    Attributes
    ----------
    pieces : Pieces
        The path.
    x : ndarray (..., N + 1)
        (ds/dt)^2 at the nodes.
    """

    pieces: Pieces
    x: FloatArray

    @cached_property
    def speed(self) -> FloatArray:
        """Ds/dt at the nodes (..., N + 1)."""
        return np.sqrt(self.x)

    @cached_property
    def u(self) -> FloatArray:
        """d2s/dt2 in each interval (..., N)."""
        return np.asarray(0.5 * np.diff(self.x, axis=-1) / self.pieces.steps)

    @cached_property
    def times(self) -> FloatArray:
        """When the nodes are passed (..., N + 1), s."""
        pace = self.speed[..., 1:] + self.speed[..., :-1]
        with np.errstate(divide="ignore"):
            spent = 2.0 * self.pieces.steps / pace
        return np.concatenate((np.zeros((*spent.shape[:-1], 1)), np.cumsum(spent, axis=-1)), axis=-1)

    def stretched(self, factor: FloatArray) -> Retimed:
        """The same, slower by factors (...)."""
        return Retimed(self.pieces, self.x / np.square(factor)[..., None])

    def member(self, place: Any) -> Retimed:
        """One motion, or some, of a batch."""
        return Retimed(self.pieces.member(place), self.x[place])

    def places(self, time: FloatArray) -> tuple[FloatArray, ...]:
        """Interval, share of it, x and u (..., K) at times (K,)."""
        count = self.x.shape[-1]
        nodes = self.times.reshape(-1, count)
        interval = np.stack([np.searchsorted(row, time, side="right") for row in nodes]).reshape(*self.x.shape[:-1], -1) - 1
        interval = np.clip(interval, 0, count - 2)

        def picked(values: FloatArray) -> FloatArray:
            return np.take_along_axis(np.broadcast_to(values, (*self.x.shape[:-1], values.shape[-1])), interval, axis=-1)

        u, speed, step = picked(self.u), picked(self.speed), picked(self.pieces.steps)
        since = np.minimum(time, self.times[..., -1:]) - picked(self.times)
        share = np.clip((speed + 0.5 * u * since) * since / step, 0.0, 1.0)
        x = np.maximum(picked(self.x) + 2.0 * u * step * share, 0.0)
        over = (time > self.times[..., -1:]) | ((time >= self.times[..., -1:]) & (self.x[..., -1:] == 0.0))
        share = np.where(time >= self.times[..., -1:], 1.0, share)
        return interval, share, np.where(over, 0.0, x), np.where(over, 0.0, u)

    def __call__(self, time: FloatArray) -> State:
        """Q, qd and qdd at times (K,)."""
        interval, share, x, u = self.places(time)
        at = interval[..., None]
        ends = [np.take_along_axis(part, at, axis=-2) for parts in (self.pieces.first, self.pieces.last) for part in parts]
        steps = np.broadcast_to(self.pieces.steps, (*self.x.shape[:-1], self.x.shape[-1] - 1))
        step = np.take_along_axis(steps, interval, axis=-1)
        q, qd, qdd = kernel(motion_within)(*ends, *(part[..., None] for part in (step, share, u, x)))
        return q, qd, qdd
