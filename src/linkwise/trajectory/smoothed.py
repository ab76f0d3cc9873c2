"""A motion along a path whose parameter is averaged over a window of time, so that its acceleration is continuous.

The average of s(t) over the last T has the third derivative (u(t) - u(t - T)) / T, u the second derivative of s: a filter
with a rectangular window (L. Biagiotti and C. Melchiorri, "FIR filters for online trajectory planning with time- and
frequency-domain specifications", Control Engineering Practice 20(12), 2012). From rest to rest it lasts T longer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion import State
from linkwise.trajectory.motion_limits import JERK_FIELDS
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.path_dynamics import gauge, share_of, speed_like, tool_acceleration
from linkwise.trajectory.peaks import greatest
from linkwise.trajectory.retimed import Retimed

#: Places of an interval between nodes at which `Smoothed.usage` is evaluated.
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
        """Build the average of one motion; it waits for the window at intermediate stops, so that it still rests there."""
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
        """Duration of the average, s."""
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
        """Times of ascending parameters (K,), by bisection between two breaks."""
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
        """Times of the nodes (..., N + 1), s."""
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
        """Greatest share (..., N, L) of each limit used between two nodes."""
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


#: Function of an average that returns the ends of intervals (M + 1,), and their slowing factors (M,).
Slowing = Callable[..., tuple[FloatArray, FloatArray]]

#: Tried windows, relative to the one whose jerk needs no reduced velocities, and rounds of reduction in each.
WINDOWS, ROUNDS = (1.0, 0.8, 0.65, 0.5, 0.4), 8

#: Tried windows if shorter, relative to the motion: velocities of a short motion are reduced as a whole.
SHARES_OF_MOTION = (1.0, 0.5, 0.25)

#: Powers of time by which limited quantities fall; for efforts of the part without gravity, whose rate falls slower.
ORDERS = {"qdd_max": 2.0, "tau_max": 2.0, "qddd_max": 3.0, "taud_max": 3.0, "tool_acceleration": 2.0}

#: Checks of each interval between two jumps of the jerk: one-sided at its ends, and uniformly between.
CHECKED = np.linspace(0.0, 1.0, 9)
CHECKED[[0, -1]] = 1e-8, 1.0 - 1e-8

#: Instants that are as near as this share of the motion are one: rounding keeps them apart, and jumps that cancel with them.
NEAR = 1e-13

#: Number of additional intervals in the check of the result.
MORE = 400

#: By this share limits may be exceeded at the peaks that are checked, and the result is slower than they ask for.
TOLERANCE, SAFETY = 1e-10, 5e-8


def smooth(
    path: JointPath, mechanism: Any, limits: Mapping[str, FloatArray], stops: npt.NDArray[np.bool_],
    solve: Callable[[FloatArray], Retimed],
) -> WindowAverage:  # fmt: skip
    """The motion of one path from rest to rest, with limits of jerk and of rates of efforts: an average of faster ones.

    Averaged over a window of time, the motion that is fastest without these limits has a finite jerk, which falls with the
    length of the window. Where the average exceeds a limit, the speed of the motion before it is lowered there and it is
    averaged again; of several windows the one with the shortest result is taken. What is left is taken out by slowing the
    whole motion. The result keeps all limits at the instants that are checked; it is not the shortest.

    Parameters
    ----------
    path : JointPath
        Where to go.
    mechanism : Mechanism, optional
        It moves along it.
    limits : mapping of str to ndarray
        All of them, checked.
    stops : ndarray (N + 1,) of bool
        Nodes at which it rests.
    solve : callable
        The fastest motion without limits of the third order, for greatest x (N + 1,) at the nodes besides.
    """
    first = solve(np.full(stops.size, np.inf))

    def slowing(
        average: WindowAverage, names: tuple[str, ...] = tuple(limits), more: int = 2
    ) -> tuple[FloatArray, FloatArray]:
        even = np.linspace(0.0, average.duration, more)
        breaks = np.unique(np.concatenate((average.breaks, average.passing(path.s), even)))
        breaks = breaks[np.diff(breaks, prepend=-np.inf) > NEAR * average.duration]
        times = (breaks[:-1, None] + np.diff(breaks)[:, None] * CHECKED).reshape(-1)
        chosen = {name: limits[name] for name in names}
        return breaks, slowing_factors(chosen, mechanism, along_path(path, average, times))

    jerks = tuple(name for name in JERK_FIELDS if name in limits)
    lasts = float(first.times[-1])
    window = 0.02 * lasts
    for _ in range(3):
        factor = float(slowing(WindowAverage.of(first, stops, window), jerks)[1].max())
        window *= max(1e-3, factor**3)
    best = _lowered(window, first, stops, solve, slowing, np.inf)
    others = [part * window for part in WINDOWS[1:]]
    for other in others + [part * lasts for part in SHARES_OF_MOTION if part * lasts < others[-1]]:
        best = min(best, _lowered(other, first, stops, solve, slowing, best[0]), key=lambda result: result[0])
    return _slowed(best[1], best[2], slowing)


def _lowered(
    window: float, profile: Retimed, stops: npt.NDArray[np.bool_], solve: Callable[[FloatArray], Retimed],
    slowing: Slowing, shorter: float,
) -> tuple[float, WindowAverage, float]:  # fmt: skip
    """Best of some rounds of lowering velocities: duration, average, and the remaining slowing factor.

    No further round is made that cannot last shorter than another result.
    """
    results: list[tuple[float, WindowAverage, float]] = []
    profile = solve(flattened(profile, window))
    for _ in range(ROUNDS):
        average = WindowAverage.of(profile, stops, window)
        if results and average.duration >= min(shorter, min(results, key=lambda result: result[0])[0]):
            break
        breaks, factors = slowing(average)
        factor = max(1.0, float(factors.max()))
        results.append((average.duration * factor, average, factor))
        if factors.max() <= 1.0 + TOLERANCE:
            break
        waits = window * np.cumsum(np.concatenate(([False, False], stops[1:-1])))
        times = profile.times + waits
        worst = _spread(times, breaks, factors, window)
        profile = Retimed(profile.pieces, profile.x / np.square(worst))
    return min(results, key=lambda result: result[0])


def _spread(times: FloatArray, breaks: FloatArray, factors: FloatArray, window: float) -> FloatArray:
    """Continuous slowing factors (N + 1,) at the nodes, at least those required within a window.

    The average at t is that of the window before t: a node is slowed for all stretches within two windows after it and one
    before it, and what is asked for is averaged over the window about it.
    """
    over = np.flatnonzero(factors > 1.0)
    begin, end = breaks[over] - 2.0 * window, breaks[over + 1] + window
    grid = np.unique(np.concatenate(([-window, breaks[-1]], begin, end)))
    asked = np.ones(grid.size - 1)
    for factor, a, b in zip(factors[over], np.searchsorted(grid, begin), np.searchsorted(grid, end), strict=True):
        asked[a:b] = np.maximum(asked[a:b], factor)
    total = np.concatenate(([0.0], np.cumsum(asked * np.diff(grid))))
    ends = (np.interp(times + side * 0.5 * window, grid, total) for side in (1.0, -1.0))
    width = sum(side * np.clip(times + side * 0.5 * window, grid[0], grid[-1]) for side in (1.0, -1.0))
    return np.asarray(np.maximum((next(ends) - next(ends)) / width, 1.0))


def flattened(profile: Retimed, window: float) -> FloatArray:
    """Greatest x (N + 1,) at the nodes with which each peak of the speed lasts for a window of time.

    Averaged over it, acceleration then falls to zero before it changes its sign, and the jerk is not that of both together.
    """
    x, s = profile.x, profile.pieces.s
    ceiling = np.full(x.size, np.inf)
    for peak in np.flatnonzero((x[1:-1] >= x[:-2]) & (x[1:-1] > x[2:])) + 1:
        low, high = 0.0, float(x[peak])
        for _ in range(40):
            level = 0.5 * (low + high)
            over = x > level
            first = peak - int(np.argmin(over[peak::-1])) + 1
            last = peak + int(np.argmin(over[peak:])) - 1
            if s[last] - s[first] < window * np.sqrt(level):
                high = level
            else:
                low = level
        inside = slice(first, last + 1)
        ceiling[inside] = np.minimum(ceiling[inside], low)
    return ceiling


def _slowed(average: WindowAverage, factor: float, slowing: Slowing) -> WindowAverage:
    """The average so slow that it keeps all limits where they are checked."""
    for _ in range(150):
        average = average.slower(factor * (1.0 + SAFETY))
        factor = float(slowing(average, more=MORE)[1].max())
        if factor <= 1.0:
            return average
    raise ArgumentError(f"a limit is exceeded however slow the motion is; it asks for {factor:.3g} times as much time")


def slowing_factors(limits: Mapping[str, FloatArray], mechanism: Any, state: tuple[FloatArray, ...]) -> FloatArray:
    """Slowing factor of a motion that keeps all limits in each interval (M,), from its states at `CHECKED`.

    Less than 1 where it may be faster.
    """
    factors = []
    for name, share in shares(limits, mechanism, *state).items():
        if name == "tau_max":
            q, limit = state[0], limits[name]
            still, tau = mechanism.inverse_dynamics(q, 0.0 * q, 0.0 * q), mechanism.inverse_dynamics(*state[:3])
            static = still * np.sign(tau)
            taken = (np.abs(tau) - static) / (limit - static)
        else:
            taken = share
        most = greatest(taken.reshape(-1, CHECKED.size, *taken.shape[1:]))
        factors.append(np.maximum(most, 0.0) ** (1.0 / ORDERS.get(name, 1.0)))
    return np.asarray(np.max(factors, axis=0))
