"""A motion along a path whose parameter is averaged over a window of time, so that its acceleration has no jumps.

The average of s(t) over the last T has the third derivative (u(t) - u(t - T)) / T, u the second derivative of s: a filter
with a rectangular window (L. Biagiotti and C. Melchiorri, "FIR filters for online trajectory planning with time- and
frequency-domain specifications", Control Engineering Practice 20(12), 2012). From rest to rest it lasts T longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.path_dynamics import gauge, share_of, speed_like, tool_acceleration
from linkwise.trajectory.retimed import Retimed

#: Places of an interval between nodes at which `Smoothed.usage` looks.
LOOKED_AT = np.linspace(0.0, 1.0, 7)


@dataclass(frozen=True, eq=False)
class WindowAverage:
    """A parameter s(t), a parabola between instants and at rest outside, averaged over a window of time.

    Attributes
    ----------
    times : ndarray (M + 1,)
        The instants, from 0.
    s, speed : ndarray (M + 1,)
        s and ds/dt there.
    u : ndarray (M,)
        d2s/dt2 between.
    window : float
        Its length, s.
    """

    times: FloatArray
    s: FloatArray
    speed: FloatArray
    u: FloatArray
    window: float

    @classmethod
    def of(cls, profile: Retimed, stops: npt.NDArray[np.bool_], window: float) -> WindowAverage:
        """That of one motion; it stands still for the window at stops between its ends, so that it still rests there."""
        waits = np.flatnonzero(stops[1:-1]) + 1
        times = profile.times + window * np.searchsorted(waits, np.arange(profile.times.size), side="left")
        times, s, speed = (
            np.insert(part, waits, part[waits]) for part in (times, np.asarray(profile.pieces.s), profile.speed)
        )
        times[waits + np.arange(1, waits.size + 1)] += window
        return cls(times, s, speed, np.insert(profile.u, waits, 0.0), window)

    def slower(self, factor: float) -> WindowAverage:
        """The same in a time that is longer by a factor."""
        times, window = self.times * factor, self.window * factor
        return WindowAverage(times, self.s, self.speed / factor, self.u / factor**2, window)

    @property
    def duration(self) -> float:
        """How long the average takes, s."""
        return float(self.times[-1] + self.window)

    @cached_property
    def breaks(self) -> FloatArray:
        """The instants at which the third derivative jumps, ascending."""
        return np.union1d(self.times, self.times + self.window)

    @cached_property
    def _integral(self) -> FloatArray:
        h = np.diff(self.times)
        return np.concatenate(([0.0], np.cumsum(h * (self.s[:-1] + h * (self.speed[:-1] / 2.0 + h * self.u / 6.0)))))

    def _before(self, t: FloatArray) -> tuple[FloatArray, ...]:
        """The integral of s, s, its speed and u before it is averaged."""
        inside = (t >= 0.0) & (t < self.times[-1])
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, self.u.size - 1)
        h, u, speed, s = t - self.times[k], self.u[k], self.speed[k], self.s[k]
        early, end = t < 0.0, self._integral[-1] + self.s[-1] * (t - self.times[-1])
        integral = self._integral[k] + h * (s + h * (speed / 2.0 + h * u / 6.0))
        return (
            np.where(inside, integral, np.where(early, self.s[0] * t, end)),
            np.where(inside, s + h * (speed + 0.5 * h * u), np.where(early, self.s[0], self.s[-1])),
            np.where(inside, speed + h * u, 0.0),
            np.where(inside, u, 0.0),
        )

    def __call__(self, t: FloatArray) -> tuple[FloatArray, ...]:
        """S and its first three derivatives (K,) at times (K,), the third after its jumps."""
        late, early = self._before(t), self._before(t - self.window)
        s, speed, u, jerk = ((a - b) / self.window for a, b in zip(late, early, strict=True))
        over = t >= self.duration
        s = np.where(over, self.s[-1], np.clip(s, self.s[0], self.s[-1]))
        return s, np.where(over, 0.0, np.maximum(speed, 0.0)), np.where(over, 0.0, u), np.where(over, 0.0, jerk)

    def passing(self, s: FloatArray) -> FloatArray:
        """When parameters (K,), ascending, are reached; by bisection between two breaks."""
        at = self(self.breaks)[0]
        k = np.clip(np.searchsorted(at, s, side="left"), 1, at.size - 1)
        low, high = self.breaks[k - 1], self.breaks[k]
        for _ in range(50):
            middle = 0.5 * (low + high)
            late = self(middle)[0] >= s
            low, high = np.where(late, low, middle), np.where(late, middle, high)
        return np.where(s <= self.s[0], 0.0, high)


@dataclass(frozen=True, eq=False)
class Smoothed(Retimed):
    """An evaluator as `Retimed`, of averaged motions.

    Attributes
    ----------
    path : JointPath
        The paths.
    averages : ndarray (...) of object
        The `WindowAverage` of each.
    """

    path: JointPath = field(kw_only=True)
    averages: npt.NDArray[Any] = field(kw_only=True)

    @cached_property
    def times(self) -> FloatArray:
        """When the nodes are passed (..., N + 1), s."""
        nodes = self.pieces.s.reshape(-1, self.x.shape[-1])
        rows = [average.passing(s) for average, s in zip(self.averages.reshape(-1), nodes, strict=True)]
        for row, average in zip(rows, self.averages.reshape(-1), strict=True):
            row[-1] = average.duration
        return np.reshape(rows, self.x.shape)

    def _average(self, place: tuple[int, ...]) -> WindowAverage:
        average: Any = self.averages[place]
        return average  # type: ignore[no-any-return]

    def member(self, place: Any) -> Smoothed:
        """One motion, or some, of a batch."""
        averages = np.asarray(self.averages[place], dtype=object)
        return Smoothed(self.pieces.member(place), self.x[place], path=self.path.member(place), averages=averages)

    def __call__(self, time: FloatArray) -> State:
        """Q, qd and qdd (..., K, n) at times (K,)."""
        q, qd, qdd = (np.empty((*self.averages.shape, time.size, self.path.n)) for _ in range(3))
        for place in np.ndindex(self.averages.shape):
            q[place], qd[place], qdd[place], _ = along_path(self.path.member(place), self._average(place), time)
        return q, qd, qdd

    def usage(self, limits: Mapping[str, FloatArray], mechanism: Any) -> FloatArray:
        """The greatest share (..., N, L) of each limit that is taken between two nodes."""
        times = self.times[..., :-1, None] + np.diff(self.times)[..., None] * LOOKED_AT
        rows = []
        for place in np.ndindex(self.averages.shape):
            state = along_path(self.path.member(place), self._average(place), times[place].reshape(-1))
            columns = []
            for share in shares(limits, mechanism, *state).values():
                wide = share if share.ndim == 2 else share[:, None]
                columns.append(wide.reshape(*times.shape[-2:], -1).max(axis=1))
            rows.append(np.concatenate(columns, axis=-1))
        return np.reshape(rows, (*self.averages.shape, *rows[0].shape))


def along_path(path: JointPath, average: WindowAverage, time: FloatArray) -> tuple[FloatArray, ...]:
    """Q and its first three derivatives by time (K, n) of one path."""
    s, speed, u, jerk = (part[:, None] for part in average(time))
    q, dq, ddq = path.at(s[:, 0])
    dddq = path.third(s[:, 0])
    return q, dq * speed, dq * u + ddq * speed**2, dq * jerk + 3.0 * ddq * speed * u + dddq * speed**3


def shares(
    limits: Mapping[str, FloatArray], mechanism: Any, q: FloatArray, qd: FloatArray, qdd: FloatArray, qddd: FloatArray
) -> dict[str, FloatArray]:
    """The share of each limit that a motion takes: (K, n) of those of joints, (K,) of others."""
    values = {"qd_max": qd, "qdd_max": qdd, "qddd_max": qddd}
    if "tau_max" in limits:
        values["tau_max"] = mechanism.inverse_dynamics(q, qd, qdd)
    if "taud_max" in limits:
        by_q, by_qd, inertia = mechanism.inverse_dynamics_derivatives(q, qd, qdd)
        rate = by_q @ qd[..., None] + by_qd @ qdd[..., None] + inertia @ qddd[..., None]
        values["taud_max"] = rate[..., 0]
    result = {name: share_of(values[name], limit) for name, limit in limits.items() if name in values}
    vectors = speed_like(mechanism, limits, q, qd)
    if "tool_acceleration" in limits:
        vectors["tool_acceleration"] = tool_acceleration(mechanism, q, qd, qdd)
    result |= {name: gauge(value, limits[name]) for name, value in vectors.items()}
    return {name: result[name] for name in limits}
