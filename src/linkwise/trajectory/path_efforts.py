"""Limits of efforts along paths for the compiled passes: the dynamics at places that all paths share, and a check.

The efforts are a u + b x + c (`linkwise.dynamics.path_dynamics`). a, b and c are smooth between knots: their values at
evenly spaced places of each piece give those within an interval by polynomials through the `STENCIL` nearest places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.reachability import STENCIL
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path import aligned
from linkwise.trajectory.path_kernels import COEFFICIENTS, SHARES, kernel, motion_within

#: Places at which the dynamics are evaluated along a path, at least.
PLACES = 160

#: Efforts are checked at so many places of a path, at least: at the begin or in the middle of every third interval of
#: 200, for what interpolation leaves has the same size but another sign in the next one; from end to end of each of a few.
CHECKS = 60

#: Paths that are worked on at a time: what they need stays in the caches.
TOGETHER = 16

#: By this share limits of efforts are tightened from the start, and may be exceeded where they are checked; how often they
#: are tightened by four times the excess until they are not.
MARGIN, TOLERANCE, ROUNDS = 2e-10, 1e-10, 6


class Samples(NamedTuple):
    """Places on paths over the same knots: what gives q, dq and ddq from both ends of a piece (S, 3, 6), and which it is."""

    weights: FloatArray
    piece: FloatArray

    @classmethod
    def at(cls, lengths: FloatArray, piece: Any, share: FloatArray) -> Self:
        """Those at shares of pieces of such lengths."""
        units = kernel(motion_within)(*np.eye(6)[:, None], lengths[piece][:, None], share[:, None], 0.0, 1.0)
        return cls(np.stack(units, axis=1), piece.astype(float))

    def of(self, lanes: FloatArray, space: FloatArray) -> FloatArray:
        """Q, dq and ddq (B, S, 3, w) of paths (B, p, 6, w), written into a space for B paths or more."""
        state: FloatArray = _samples(default_backend())(self.weights, self.piece, lanes, out=space[: len(lanes)])
        return state


class EffortGrid(NamedTuple):
    """Where the dynamics are evaluated, and how efforts within each interval follow.

    Attributes
    ----------
    samples : Samples
        S places where a, b and c are evaluated.
    stencils : ndarray (N, 5, STENCIL)
        What gives the Bernstein coefficients of a, b and c in each interval, from `STENCIL` places in a row.
    first : ndarray (N,)
        The first of these.
    checks : Samples
        C places where efforts are checked.
    checked, share, pace : ndarray (C,)
        The intervals in which these are, at which shares, and 1 / length of the intervals.
    """

    samples: Samples
    stencils: FloatArray
    first: FloatArray
    checks: Samples
    checked: npt.NDArray[np.intp]
    share: FloatArray
    pace: FloatArray

    @classmethod
    def of(cls, knots: FloatArray, nodes: FloatArray) -> EffortGrid:
        """The grid of paths over knots, cut at nodes."""
        return _effort_grid(knots.tobytes(), nodes.tobytes())


@lru_cache(maxsize=32)
def _effort_grid(knots: bytes, nodes: bytes) -> EffortGrid:
    s, at = np.frombuffer(knots), np.frombuffer(nodes)
    lengths, piece = np.diff(s), np.searchsorted(s, at[:-1], side="right") - 1
    counts = np.maximum(STENCIL, np.ceil(max(PLACES, at.size - 1) * lengths / lengths.sum() * (1 - 1e-12)).astype(int))
    starts = np.concatenate(([0], np.cumsum(counts)))
    places = np.append(np.repeat(np.arange(counts.size), counts), counts.size - 1)
    share = (np.arange(starts[-1] + 1) - starts[places]) / counts[places]
    begin, end = ((side - s[piece]) / lengths[piece] * counts[piece] for side in (at[:-1], at[1:]))
    skip = np.clip(np.round(0.5 * (begin + end - STENCIL + 1)), 0, counts[piece] + 1 - STENCIL)
    x = begin[:, None] + (end - begin)[:, None] * SHARES - skip[:, None]
    stencils = COEFFICIENTS @ _lagrange(x)
    each = max(4, -(-2 * CHECKS // piece.size)) if piece.size < 2 * CHECKS else 1
    checked = np.repeat(np.arange(0, piece.size, max(1, (piece.size // CHECKS - 1) // 2 * 2 + 1)), each)
    within = np.arange(checked.size) % max(2, each) / max(2, each - 1)
    middle = begin[checked] + within * (end - begin)[checked]
    checks = Samples.at(lengths, piece[checked], middle / counts[piece[checked]])
    first = (starts[piece] + skip).astype(float)
    return EffortGrid(
        Samples.at(lengths, places, share), stencils, first, checks, checked, within, 1.0 / np.diff(at)[checked]
    )


def _lagrange(x: FloatArray) -> FloatArray:
    """Weights (..., STENCIL) of the values at 0, 1, ... in the polynomial through them, at x."""
    k = np.arange(STENCIL)
    factors = (x[..., None, None] - k) / np.where(k[:, None] == k, 1, k[:, None] - k)
    weights: FloatArray = np.prod(np.where(k[:, None] == k, 1.0, factors), axis=-1)
    return weights


@cache
def _samples(backend: str) -> Callable[..., Any]:
    program = backend_of(backend).path_samples()
    assert program is not None  # (a back end that has the passes has this)
    return program


def effort_speeds(
    grid: EffortGrid, n: int, lanes: FloatArray, ends: FloatArray, bounds: FloatArray, mechanism: Any,
    solve: Callable[..., tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray] | None:  # fmt: skip
    """Sets (B, N + 1, 3) and caps (B, N + 1) with limits of efforts; None where these do not hold after some rounds.

    Parameters
    ----------
    grid : EffortGrid
        Where the dynamics are evaluated.
    n : int
        Number of joints.
    lanes : ndarray (B, p, 6, w)
        The paths.
    ends : ndarray (B, 2)
        x at the first and at the last node.
    bounds : ndarray (3, w)
        Limits of velocity, acceleration and effort.
    mechanism : Mechanism
        It moves along the paths.
    solve : callable
        Sets and caps of some paths from lanes, ends, bounds, terms, stencils and first places.
    """
    size, results = min(TOGETHER, len(lanes)), []
    places, middles = (aligned((size, len(part.piece), 3, lanes.shape[-1])) for part in (grid.samples, grid.checks))
    space, bound = aligned(places.shape), bounds[2, :n]
    space[..., n:] = 0.0
    for k in range(0, len(lanes), size):
        part = slice(k, k + size)
        state, checks = grid.samples.of(lanes[part], places), _columns(grid.checks.of(lanes[part], middles), n)
        terms = space[: len(state)]
        mechanism.kernel("path_dynamics")(*_columns(state, n), out=_columns(terms, n))

        def share(x: FloatArray, paths: Any, checks: tuple[FloatArray, ...] = checks) -> FloatArray:
            before, rise = x[:, grid.checked], np.diff(x, axis=1)[:, grid.checked]
            u, speed = 0.5 * rise * grid.pace, np.sqrt(np.maximum(before + rise * grid.share, 0.0))
            shares = mechanism.kernel("path_effort_shares")(*(part[paths] for part in checks), u, speed, bound)
            return np.asarray(shares.max(axis=(1, 2)))

        result = _tightened(lanes[part], ends[part], bounds, terms, (grid.stencils, grid.first), share, solve)
        if result is None:
            return None
        results.append(result)
    if len(results) == 1:
        return results[0]
    sets, cap = (np.concatenate(columns) for columns in zip(*results, strict=True))
    return sets, cap


def _columns(state: FloatArray, n: int) -> tuple[FloatArray, ...]:
    return tuple(state[..., k, :n] for k in range(3))


def _tightened(
    lanes: FloatArray, ends: FloatArray, bounds: FloatArray, terms: FloatArray, stencils: tuple[FloatArray, FloatArray],
    share: Callable[[FloatArray, Any], FloatArray], solve: Callable[..., tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray] | None:  # fmt: skip
    """The result of some paths, of which limits of efforts are tightened for those that exceed them at the checks."""
    limits = np.repeat(bounds[None], len(lanes), axis=0)
    limits[:, 2] *= 1.0 - MARGIN
    paths: Any = slice(None)
    sets, cap = solve(lanes, ends, limits, terms, *stencils)
    for _ in range(ROUNDS):
        x = sets[paths, :, 2]
        if not np.isfinite(x).all():
            return None
        excess = share(x, paths) - 1.0
        over = ~(excess <= TOLERANCE)
        if not over.any():
            return sets, cap
        paths = np.arange(len(lanes))[paths][over]
        limits[paths, 2] *= 1.0 - 4.0 * excess[over, None]
        sets[paths], cap[paths] = solve(lanes[paths], ends[paths], limits[paths], terms[paths], *stencils)
    return None
