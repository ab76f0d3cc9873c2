"""Motion along a path with limits of jerk and of rates of efforts, by averaging the time-optimal one of the second order.

Averaged over a window of time (`linkwise.trajectory.smoothed`), the motion that is fastest without these limits has a finite
jerk, which falls with the length of the window. Where the average exceeds a limit, the speed of the motion before it is
lowered there and it is averaged again; of several windows the one with the shortest result is taken. What is left is taken
out by slowing the whole motion. The result keeps all limits at the instants that are checked; it is not the shortest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.motion_limits import JERK_FIELDS
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.peaks import greatest
from linkwise.trajectory.retimed import Retimed
from linkwise.trajectory.smoothed import WindowAverage, along_path, shares

#: Gives, of an average, the ends of stretches (M + 1,), and how much slower the motion must be in each (M,).
Slowing = Callable[..., tuple[FloatArray, FloatArray]]

#: Windows that are tried, as shares of the one whose jerk needs no lowering of speeds, and rounds of lowering in each.
WINDOWS, ROUNDS = (1.0, 0.8, 0.65, 0.5, 0.4), 8

#: Windows that are tried where they are shorter, as shares of the motion: of a short one speeds are lowered as a whole.
SHARES_OF_MOTION = (1.0, 0.5, 0.25)

#: With which power of the time falls what is limited: of efforts their part beside gravity's, whose rate falls slower.
ORDERS = {"qdd_max": 2.0, "tau_max": 2.0, "qddd_max": 3.0, "taud_max": 3.0, "tool_acceleration": 2.0}

#: Where each stretch between two jumps of the jerk is checked: at its ends, one-sided, and evenly between.
CHECKED = np.linspace(0.0, 1.0, 9)
CHECKED[[0, -1]] = 1e-8, 1.0 - 1e-8

#: Instants that are as near as this share of the motion are one: rounding keeps them apart, and jumps that cancel with them.
NEAR = 1e-13

#: Into how many stretches the motion is cut besides when the result is checked.
MORE = 400

#: By this share limits may be exceeded at the peaks that are checked, and the result is slower than they ask for.
TOLERANCE, SAFETY = 1e-10, 5e-8


def smooth(
    path: JointPath, mechanism: Any, limits: Mapping[str, FloatArray], stops: npt.NDArray[np.bool_],
    solve: Callable[[FloatArray], Retimed],
) -> WindowAverage:  # fmt: skip
    """The motion of one path from rest to rest.

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
    """Of some rounds of lowering of speeds the duration, the average, and how much slower it must be, at best.

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
    """By what factors (N + 1,) to be slower at the nodes, without jumps, and no less than asked for within a window.

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
    """By what factor a motion must be slower to keep all limits in each stretch (M,), from its states at `CHECKED`.

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
