"""Limits of efforts along paths for the compiled passes: the dynamics at places that all paths share, and a check between.

The efforts are a u + b x + c (`linkwise.dynamics.path_dynamics`). a, b and c are smooth between knots: their values at evenly
spaced places of each piece give those within an interval by polynomials through the `STENCIL` nearest places.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.reachability import STENCIL
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path_kernels import COEFFICIENTS, SHARES, kernel, motion_within

#: Places at which the dynamics are evaluated along a path, at least.
PLACES = 160

#: Paths that are worked on at a time: what they need stays in the caches.
TOGETHER = 64

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

    def of(self, lanes: FloatArray) -> FloatArray:
        """Q, dq and ddq (B, S, 3, w) of paths (B, p, 6, w)."""
        state: FloatArray = _samples(default_backend())(self.weights, self.piece, lanes)
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
        The middles of intervals, where efforts are checked.
    pace : ndarray (N,)
        1 / length of each interval.
    """

    samples: Samples
    stencils: FloatArray
    first: FloatArray
    checks: Samples
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
    middle = 0.5 * (begin + end) / counts[piece]
    checks = Samples.at(lengths, piece, middle)
    return EffortGrid(Samples.at(lengths, places, share), stencils, (starts[piece] + skip).astype(float), checks, 1.0 / np.diff(at))


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
    size = min(TOGETHER, len(lanes))
    space, results = np.zeros((size, len(grid.samples.piece), 3, lanes.shape[-1])), []
    for k in range(0, len(lanes), size):
        part = slice(k, k + size)
        state = grid.samples.of(lanes[part])
        terms = space[: len(state)]
        mechanism.kernel("path_dynamics")(*_columns(state, n), out=_columns(terms, n))
        checks = _columns(grid.checks.of(lanes[part]), n)
        result = _tightened(grid, lanes[part], ends[part], bounds, terms, checks, mechanism, solve)
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
    grid: EffortGrid, lanes: FloatArray, ends: FloatArray, bounds: FloatArray, terms: FloatArray,
    checks: tuple[FloatArray, ...], mechanism: Any, solve: Callable[..., tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray] | None:  # fmt: skip
    """The result of some paths, of which limits of efforts are tightened for those that exceed them at the checks."""
    n, paths, margin = checks[0].shape[-1], np.arange(len(lanes)), np.full(len(lanes), MARGIN)
    sets, cap = np.empty(0), np.empty(0)
    for _ in range(ROUNDS):
        limits = np.repeat(bounds[None], len(paths), axis=0)
        limits[:, 2] *= (1.0 - margin[paths])[:, None]
        every = len(paths) == len(lanes)
        chosen = (lanes, ends, terms) if every else (part[paths] for part in (lanes, ends, terms))
        these, ending, dynamics = chosen
        solved = solve(these, ending, limits, dynamics, grid.stencils, grid.first)
        if every:
            sets, cap = solved
        else:
            sets[paths], cap[paths] = solved
        x = solved[0][..., 2]
        if not np.isfinite(x).all():
            return None
        q, v, a = checks if every else (part[paths] for part in checks)
        middle, rise = 0.5 * (x[:, 1:] + x[:, :-1]), 0.5 * np.diff(x, axis=1)
        u = rise * grid.pace
        qdd = v * u[..., None] + a * middle[..., None]
        tau = mechanism.inverse_dynamics(q, v * np.sqrt(middle)[..., None], qdd)
        excess = (np.abs(tau).max(axis=1) / bounds[2, :n]).max(axis=1) - 1.0
        if not (excess > TOLERANCE).any():
            return sets, cap
        margin[paths] += 4.0 * np.maximum(excess, 0.0)
        paths = paths[excess > TOLERANCE]
    return None
