"""Motion along a path whose squared velocity is linear in the path parameter between nodes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import compiled_path
from linkwise.trajectory.motion import State
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.path_kernels import kernel, motion_within

#: Paths processed at a time, so that their data stay in the caches.
CHUNK = 16


@dataclass(frozen=True, eq=False)
class Pieces:
    """The intervals of a path between nodes.

    Attributes
    ----------
    s : ndarray (..., N + 1)
        The nodes.
    first, last : ndarray (..., 3, N, n)
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
        return tuple(self.first.shape[:-3])

    def member(self, place: Any) -> Pieces:
        """Pieces of one path, or of some of a batch."""
        return Pieces(self.s[place], self.first[place], self.last[place])

    @property
    def ends(self) -> list[FloatArray]:
        """q, dq and ddq at the beginning, then at the end: six arrays (..., N, n)."""
        return [part[..., k, :, :] for part in (self.first, self.last) for k in range(3)]

    def motion(self, share: FloatArray, u: FloatArray, x: FloatArray) -> State:
        """Q, qd and qdd (..., N, K, n) at shares of each interval, for u and x there: all (..., N, K)."""
        ends = [part[..., None, :] for part in self.ends]
        step, share, u, x = self.steps[..., None, None], share[..., None], u[..., None], x[..., None]
        q, qd, qdd = kernel(motion_within)(*ends, step, share, u, x)
        return q, qd, qdd


class PathPieces(Pieces):
    """Intervals of the paths of a batch between common nodes (N + 1,), evaluated on first use."""

    def __init__(self, path: JointPath, nodes: FloatArray) -> None:
        vars(self).update(path=path, nodes=nodes, s=np.broadcast_to(nodes, (*path.batch, nodes.size)))

    path: JointPath
    nodes: FloatArray

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        begin, end = self.path.ends(self.nodes)(slice(None))
        return begin.reshape(*self.batch, *begin.shape[1:]), end.reshape(*self.batch, *end.shape[1:])

    @property
    def first(self) -> FloatArray:
        """Begin of the intervals."""
        return self._sides[0]

    @property
    def last(self) -> FloatArray:
        """End of the intervals."""
        return self._sides[1]

    @property
    def steps(self) -> FloatArray:
        """Lengths (N,)."""
        return np.diff(self.nodes)

    @property
    def batch(self) -> tuple[int, ...]:
        """The batch shape."""
        return self.path.batch

    def member(self, place: Any) -> PathPieces:
        """Pieces of one path, or of some of a batch."""
        return PathPieces(self.path.member(place), self.nodes)


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

    @classmethod
    def timed(cls, pieces: Pieces, x: FloatArray, times: FloatArray) -> Self:
        """Build a motion whose `times` are known."""
        result = cls(pieces, x)
        vars(result)["times"] = times
        return result

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
        """Times of the nodes (..., N + 1), s."""
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

    def __call__(self, time: FloatArray) -> State:
        """Q, qd and qdd at times (K,)."""
        if isinstance(self.pieces, PathPieces):
            state = compiled_path.motion(self.pieces.path, self.pieces.nodes, self.times, self.x, time)
            if state is not None:
                return state
        batch, n = self.pieces.batch, self.pieces.first.shape[-1]
        nodes = self.times.reshape(-1, self.x.shape[-1])
        x, speed, s = (part.reshape(nodes.shape) for part in (self.x, self.speed, self.pieces.s))
        first, last = (part.reshape(-1, *part.shape[-3:]) for part in (self.pieces.first, self.pieces.last))
        results = [np.empty((len(nodes), time.size, n)) for _ in range(3)]
        for k in range(0, len(nodes), CHUNK):
            part = slice(k, k + CHUNK)
            rows = nodes[part]
            at = np.stack([row.searchsorted(time, side="right") for row in rows])
            at = np.minimum(at - 1, nodes.shape[1] - 2)
            path = np.arange(len(rows))[:, None]
            step = s[part][path, at + 1] - s[part][path, at]
            x0 = x[part][path, at]
            u = 0.5 * (x[part][path, at + 1] - x0) / step
            end = rows[:, -1:]
            since = np.minimum(time, end) - rows[path, at]
            share = np.minimum(np.maximum((speed[part][path, at] + 0.5 * u * since) * since / step, 0.0), 1.0)
            over = (time > end) | ((time >= end) & (x[part][:, -1:] == 0.0))
            share[time >= end] = 1.0
            here = np.maximum(x0 + 2.0 * u * step * share, 0.0)
            here[over] = u[over] = 0.0
            ends = [half[part][path, :, at][:, :, j] for half in (first, last) for j in range(3)]
            columns = [value[..., None] for value in (step, share, u, here)]
            kernel(motion_within)(*ends, *columns, out=tuple(result[part] for result in results))
        q, qd, qdd = (result.reshape(*batch, time.size, n) for result in results)
        return q, qd, qdd


def refined(retimed: Retimed, fixed: npt.NDArray[np.bool_]) -> Pieces:
    """The pieces with nodes moved to where u jumps within an interval.

    There u before and after it, continued, give lines x(s) that meet; the nearer node that is not fixed is moved to where.
    """
    pieces, u, x = retimed.pieces, retimed.u, retimed.x
    step, s = pieces.steps, pieces.s
    before, after = u[:, :-2], u[:, 2:]
    gap = x[:, 2:-1] - x[:, 1:-2] - 2.0 * after * step[:, 1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(gap / (2.0 * (before - after) * step[:, 1:-1]), nan=-1.0, posinf=-1.0, neginf=-1.0)
    rough = np.abs(after - before)
    smooth = np.zeros_like(rough)
    smooth[:, 1:] += np.abs(before[:, 1:] - before[:, :-1])
    smooth[:, :-1] += np.abs(after[:, 1:] - after[:, :-1])
    jumps = (rough > 3.0 * smooth + 1e-9 * np.abs(u).max(axis=1, keepdims=True)) & (share > 1e-9) & (share < 1.0 - 1e-9)
    moved = s.copy()
    for path, k in np.argwhere(jumps):
        at = k + 1
        node = at if (share[path, k] < 0.5 and not fixed[at]) or fixed[at + 1] else at + 1
        if not fixed[node] and moved[path, node] == s[path, node]:
            moved[path, node] = s[path, at] + share[path, k] * step[path, at]
    return _moved(pieces, moved)


def _moved(pieces: Pieces, s: FloatArray) -> Pieces:
    """The same paths with inner nodes elsewhere, each within one of its two intervals."""
    inner, old = s[:, 1:-1], pieces.s[:, 1:-1]
    interval = np.arange(inner.shape[1]) + (inner >= old)
    rows = np.arange(len(s))[:, None]
    step = pieces.steps[rows, interval][..., None]
    share = np.clip((inner - pieces.s[rows, interval])[..., None] / step, 0.0, 1.0)
    fresh = np.stack(kernel(motion_within)(*(part[rows, interval] for part in pieces.ends), step, share, 0.0, 1.0), axis=1)
    stays = (inner == old)[:, None, :, None]
    first, last = pieces.first.copy(), pieces.last.copy()
    first[..., 1:, :] = np.where(stays, first[..., 1:, :], fresh)
    last[..., :-1, :] = np.where(stays, last[..., :-1, :], fresh)
    return Pieces(s, first, last)
