"""Limits of efforts along paths with friction and dampers, for the compiled passes.

What friction and dampers take is no polynomial in u and x: in each interval it is a line in x, tangent to what it is along
the motion before, until the motion settles. Where a joint turns back within an interval, dry friction jumps: there its
greatest size is taken off the limit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path import scratch
from linkwise.trajectory.path_efforts import Checks, EffortGrid, effort_terms
from linkwise.trajectory.path_kernels import SHARES
from linkwise.trajectory.peaks import CREEPING, DENSE, greatest_sizes, in_time, peaks

#: A motion has settled when its duration changes by less than this share; then limits are checked, and tightened.
SETTLED = 1e-8

#: Relative tolerance of checked limits, and number of rounds before another method is used.
TOLERANCE, ROUNDS = 1e-10, 20

#: Ds/dt of the first round, in which friction does not grow; later its square is at least this share of the greatest.
SLOW, LEAST = 1e-6, 1e-6

#: If the velocity at one end of an interval is less than this share of that at the other, checks are uniform in time.
EVEN = 0.5


class DragGrid(NamedTuple):
    """Grid of dynamics evaluations, and of friction within each interval."""

    efforts: EffortGrid
    within: Checks

    @classmethod
    def of(cls, knots: FloatArray, nodes: FloatArray) -> DragGrid:
        """The grid of paths over knots, cut at nodes."""
        return _drag_grid(knots.tobytes(), nodes.tobytes())


@lru_cache(maxsize=8)
def _drag_grid(knots: bytes, nodes: bytes) -> DragGrid:
    s, at = np.frombuffer(knots), np.frombuffer(nodes)
    interval = np.repeat(np.arange(at.size - 1), SHARES.size)
    return DragGrid(EffortGrid.of(s, at), Checks.at(s, at, interval, np.tile(SHARES, at.size - 1)))


def drag_settles(
    grid: DragGrid, n: int, lanes: FloatArray, bounds: FloatArray, mechanism: Any, rests: npt.NDArray[np.bool_],
    x: FloatArray, times: FloatArray, solve: Callable[..., None],
) -> bool:  # fmt: skip
    """Find the velocities of all paths, one after the other; whether efforts hold, and at rest at both ends.

    As `linkwise.trajectory.path_efforts.efforts_hold`, with the times (B, N + 1) that are written too.
    """
    for part, terms in effort_terms(grid.efforts, n, lanes, bounds[2, :n], mechanism, rests, 1):
        if terms is None or not _settles(grid, n, lanes[part], bounds, mechanism, part, terms, x, times, solve):
            return False
    return True


def _settles(
    grid: DragGrid, n: int, lanes: FloatArray, bounds: FloatArray, mechanism: Any, part: slice, terms: FloatArray,
    x: FloatArray, times: FloatArray, solve: Callable[..., None],
) -> bool:  # fmt: skip
    """The same of one path."""
    count, width, most = x.shape[1] - 1, lanes.shape[-1], bounds[2, :n]
    places = (1, count, SHARES.size)
    q, dq = (values.reshape(*places, n) for values in _state(grid.within, lanes, n, "within")[:2])
    turns = (dq.min(axis=2) <= 0.0) & (dq.max(axis=2) >= 0.0) & dq.any(axis=2)
    _, k, joint = np.nonzero(turns)
    drag, reserve = scratch("drag", (*places, 2, width)), scratch("reserve", (1, count, width))
    drag[..., n:] = reserve[..., n:] = 0.0
    margin, before, speed = np.zeros((1, count, n)), np.inf, np.full(places, SLOW)
    for rounds in range(ROUNDS):
        mechanism.kernel("path_drag")(q, dq, speed, out=(drag[..., 0, :n], drag[..., 1, :n]))
        if not rounds:
            drag[..., 1, :n] = 0.0
        reserve[..., :n] = margin * most
        constant, growing = (drag[0, k, :, kind, joint] for kind in range(2))
        reserve[0, k, joint] += np.abs(constant + growing * np.square(speed[0, k])).max(axis=1, initial=0.0)
        drag[0, k, :, :, joint] = 0.0
        solve(part, bounds[None], terms, grid.efforts.stencils, grid.efforts.first, drag, reserve)
        lasts = float(times[part, -1].item())
        if not np.isfinite(lasts):
            return False
        change, before = abs(lasts / before - 1.0), lasts
        if change <= SETTLED:
            excess = _used_shares(grid.efforts, lanes, mechanism, most, turns, x[part]) - 1.0
            if excess.max() <= TOLERANCE:
                return True
            margin += np.maximum(excess, 0.0)
        speed = grid.within.speeds(x[part])[1].reshape(places)
        np.maximum(speed, np.sqrt(LEAST) * speed.max(), out=speed)
    return False


def _state(checks: Checks, lanes: FloatArray, n: int, name: str) -> tuple[FloatArray, ...]:
    """`Checks.state`, with derivatives of exactly zero for a joint at rest."""
    origin, moved = lanes[:, :1, 0], lanes.copy()
    moved[:, :, [0, 3]] -= origin[:, :, None]
    q, dq, ddq = checks.state(moved, n, name)
    q += origin[..., :n]
    return q, dq, ddq


def _used_shares(
    grid: EffortGrid, lanes: FloatArray, mechanism: Any, most: FloatArray, turns: npt.NDArray[np.bool_], x: FloatArray
) -> FloatArray:
    """Greatest share (1, N, n) of each limit used in each interval."""

    def at(checks: Checks) -> FloatArray:
        u, speed = checks.speeds(x)
        speed[(speed == 0.0) & (checks.share == 1.0)] = CREEPING
        states = _state(checks, lanes, most.size, "everywhere")
        shares = mechanism.kernel("path_effort_shares")(*states, u, speed, most)
        return np.asarray(shares.reshape(1, -1, DENSE.size, most.size))

    shares, (begin, end) = at(grid.everywhere), np.sqrt([x[0, :-1], x[0, 1:]])
    slow = np.flatnonzero(np.minimum(begin, end) < EVEN * np.maximum(begin, end))  # friction is no polynomial of s there
    if slow.size:
        places = in_time(begin[slow], end[slow], DENSE).ravel()
        knots, nodes = np.frombuffer(grid.knots), np.frombuffer(grid.nodes)
        shares[:, slow] = at(Checks.at(knots, nodes, np.repeat(slow, DENSE.size), places))
    return np.where(turns, greatest_sizes(shares), peaks(shares))  # (dry friction jumps where a joint turns back)
