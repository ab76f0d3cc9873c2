"""Limits of efforts along paths for the compiled passes: the dynamics at places that all paths share, and a check.

The efforts are a u + b x + c (`linkwise.dynamics.path_dynamics`). a, b and c are smooth between knots: their values at
evenly spaced places of each piece give those within an interval by polynomials through the `STENCIL` nearest places.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.reachability import STENCIL
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path import scratch
from linkwise.trajectory.path_kernels import COEFFICIENTS, SHARES, kernel, motion_within
from linkwise.trajectory.peaks import DENSE, peaks

#: Places at which the dynamics are evaluated along a path, and along each of its pieces, at least.
PLACES, EACH = 200, 32

#: Of a path with `MANY` intervals, at least `SMOOTH` in each piece, efforts are checked at this many places at least, at the
#: begin or in the middle of every third interval of 200: the interpolation error has equal size and alternating sign in the
#: intervals. If they exceed limits there, and for other paths, they are checked everywhere.
CHECKS, MANY, SMOOTH = 60, 120, 24

#: A path that exceeds limits by this share is too rough.
ROUGH = 1e-5

#: Paths processed at a time, so that their data stay in the caches.
TOGETHER = 32

#: Initial tightening of effort limits, tolerance where they are checked everywhere, and greatest number of tightenings by
#: four times the excess.
MARGIN, TOLERANCE, ROUNDS = 2e-8, 1e-10, 6

#: By this share tightened limits may be exceeded at few places: near the ends of pieces, and at nodes between these places,
#: interpolation leaves up to sixty times as much.
SEEN = 3e-10


class PathSamples(NamedTuple):
    """Points of paths over common knots: weights for q, dq and ddq from both ends of a piece (S, 3, 6), and the piece."""

    weights: FloatArray
    piece: FloatArray

    @classmethod
    def at(cls, lengths: FloatArray, piece: Any, share: FloatArray) -> Self:
        """Points at shares of pieces of such lengths."""
        units = kernel(motion_within)(*np.eye(6)[:, None], lengths[piece][:, None], share[:, None], 0.0, 1.0)
        return cls(np.stack(units, axis=1), piece.astype(float))

    def of(self, lanes: FloatArray, space: FloatArray) -> FloatArray:
        """Q, dq and ddq (B, S, 3, w) of paths (B, p, 6, w), written into a space for B paths or more."""
        program = _samples(default_backend())
        state: FloatArray = program(self.weights, self.piece, lanes, out=space[: len(lanes)])
        return state


class Checks(NamedTuple):
    """C places where efforts are checked, with the intervals (C,) in which these are, at which shares, and 1 / length."""

    samples: PathSamples
    interval: npt.NDArray[np.intp]
    share: FloatArray
    pace: FloatArray

    @classmethod
    def at(cls, s: FloatArray, nodes: FloatArray, interval: npt.NDArray[np.intp], share: FloatArray) -> Self:
        """Points at shares of intervals between nodes of paths over knots."""
        piece = np.searchsorted(s, nodes[interval], side="right") - 1
        lengths, steps = np.diff(s), np.diff(nodes)[interval]
        within = (nodes[interval] - s[piece] + share * steps) / lengths[piece]
        return cls(PathSamples.at(lengths, piece, within), interval, share, 1.0 / steps)

    def state(self, lanes: FloatArray, n: int, name: str) -> tuple[FloatArray, ...]:
        """Q, dq and ddq (B, C, n) of paths (B, p, 6, w), in a space of that name."""
        return columns(self.samples.of(lanes, scratch(name, (len(lanes), len(self.share), 3, lanes.shape[-1]))), n)

    def speeds(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """U and ds/dt (B, C) from squared velocities (B, N + 1) at the nodes."""
        before = x.take(self.interval, axis=1)
        rise = x[:, 1:].take(self.interval, axis=1) - before
        return rise * (0.5 * self.pace), np.sqrt(np.maximum(before + rise * self.share, 0.0))


class EffortGrid(NamedTuple):
    """Grid of dynamics evaluations, and the interpolation of efforts within each interval.

    Attributes
    ----------
    samples : PathSamples
        S places where a, b and c are evaluated.
    stencils : ndarray (N, 5, STENCIL)
        What gives the Bernstein coefficients of a, b and c in each interval, from `STENCIL` places in a row.
    first : ndarray (N,)
        The first of these.
    checks : Checks
        Where efforts are checked first.
    knots, nodes : bytes
        Of the paths.
    """

    samples: PathSamples
    stencils: FloatArray
    first: FloatArray
    checks: Checks
    knots: bytes
    nodes: bytes

    @property
    def everywhere(self) -> Checks:
        """Checks at `DENSE` shares of all intervals, and between them by `peaks`."""
        return _everywhere(self.knots, self.nodes)

    @classmethod
    def of(cls, knots: FloatArray, nodes: FloatArray) -> EffortGrid:
        """The grid of paths over knots, cut at nodes."""
        return _effort_grid(knots.tobytes(), nodes.tobytes())


@lru_cache(maxsize=32)
def _effort_grid(knots: bytes, nodes: bytes) -> EffortGrid:
    s, at = np.frombuffer(knots), np.frombuffer(nodes)
    lengths, piece = np.diff(s), np.searchsorted(s, at[:-1], side="right") - 1
    counts = np.maximum(EACH, np.ceil(PLACES * lengths / lengths.sum() * (1 - 1e-12)).astype(int))
    starts = np.concatenate(([0], np.cumsum(counts)))
    places = np.append(np.repeat(np.arange(counts.size), counts), counts.size - 1)
    share = (np.arange(starts[-1] + 1) - starts[places]) / counts[places]
    begin, end = ((side - s[piece]) / lengths[piece] * counts[piece] for side in (at[:-1], at[1:]))
    skip = np.clip(np.round(0.5 * (begin + end - STENCIL + 1)), 0, counts[piece] + 1 - STENCIL)
    x = begin[:, None] + (end - begin)[:, None] * SHARES - skip[:, None]
    stencils = COEFFICIENTS @ _lagrange(x)
    if piece.size < MANY or np.bincount(piece, minlength=lengths.size).min() < SMOOTH:
        checks = _everywhere(knots, nodes)
    else:
        checked = np.arange(0, piece.size, max(1, (piece.size // CHECKS - 1) // 2 * 2 + 1))
        checks = Checks.at(s, at, checked, np.where(np.arange(checked.size) % 2, 0.5, 0.0))
    first = (starts[piece] + skip).astype(float)
    return EffortGrid(PathSamples.at(lengths, places, share), stencils, first, checks, knots, nodes)


@lru_cache(maxsize=8)
def _everywhere(knots: bytes, nodes: bytes) -> Checks:
    at = np.frombuffer(nodes)
    interval = np.repeat(np.arange(at.size - 1), DENSE.size)
    return Checks.at(np.frombuffer(knots), at, interval, np.tile(DENSE, at.size - 1))


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


def efforts_hold(
    grid: EffortGrid, n: int, lanes: FloatArray, bounds: FloatArray, mechanism: Any, rests: npt.NDArray[np.bool_],
    x: FloatArray, solve: Callable[..., None],
) -> bool:  # fmt: skip
    """Find the velocities of all paths with effort limits; whether these hold after some rounds, and at rest at both ends.

    Parameters
    ----------
    grid : EffortGrid
        Where the dynamics are evaluated.
    n : int
        Number of joints.
    lanes : ndarray (B, p, 6, w)
        The paths.
    bounds : ndarray (3, w)
        Limits of velocity, acceleration and effort.
    mechanism : Mechanism
        It moves along the paths.
    rests : ndarray (B, 2) of bool
        Whether the motions begin and end at rest.
    x : ndarray (B, N + 1)
        Where the squared speeds are written.
    solve : callable
        Finds speeds of some paths for their limits (b, 3, w), terms, stencils and first places.
    """
    size = min(TOGETHER, len(lanes))
    shares, most = mechanism.kernel("path_effort_shares"), bounds[2, :n]
    for part, terms in effort_terms(grid, n, lanes, most, mechanism, rests, size):
        if terms is None:
            return False

        def share(paths: FloatArray, some: FloatArray, checks: Checks) -> FloatArray:
            taken = shares(*checks.state(paths, n, "middles"), *checks.speeds(some), most)
            if checks is grid.everywhere:
                taken = peaks(taken.reshape(len(paths), -1, DENSE.size, n))
            return np.asarray(np.abs(taken).reshape(len(paths), -1).max(axis=1))

        members = np.arange(part.start, part.stop)
        if not _tightened(members, lanes, bounds, terms, grid, x, share, solve):
            return False
    return True


def effort_terms(
    grid: EffortGrid, n: int, lanes: FloatArray, most: FloatArray, mechanism: Any, rests: npt.NDArray[np.bool_], size: int
) -> Iterator[tuple[slice, FloatArray | None]]:  # fmt: skip
    """Yield groups of paths with a, b and c (b, S, 3, w); None if one cannot rest at its ends."""
    width = lanes.shape[-1]
    places, space = (scratch(name, (size, len(grid.samples.piece), 3, width)) for name in ("places", "terms"))
    space[..., n:] = 0.0
    dynamics = mechanism.kernel("path_dynamics")
    for k in range(0, len(lanes), size):
        part = slice(k, min(k + size, len(lanes)))
        state = grid.samples.of(lanes[part], places)
        terms = space[: len(state)]
        dynamics(*columns(state, n), out=columns(terms, n))
        standing = np.abs(terms[:, [0, -1], 2, :n])
        short = (rests[part] & (standing > most).any(axis=-1)).any()
        yield part, None if short else terms


def columns(state: FloatArray, n: int) -> tuple[FloatArray, ...]:
    """The three parts (..., n) of a state or of terms (..., 3, w)."""
    return tuple(state[..., k, :n] for k in range(3))


def _tightened(
    members: npt.NDArray[np.intp], lanes: FloatArray, bounds: FloatArray, terms: FloatArray, grid: EffortGrid,
    x: FloatArray, share: Callable[[FloatArray, FloatArray, Checks], FloatArray], solve: Callable[..., None],
) -> bool:  # fmt: skip
    """Find the velocities of some paths, with effort limits tightened for those that violate them at the checks."""
    limits, begin = np.repeat(bounds[None], len(members), axis=0), members[0]
    limits[:, 2] *= 1.0 - MARGIN
    stencils, checks = (grid.stencils, grid.first), grid.checks
    solve(slice(begin, members[-1] + 1), limits, terms, *stencils)
    some: Any = slice(begin, members[-1] + 1)
    for _ in range(ROUNDS):
        if not np.isfinite(x[some]).all():
            return False
        excess = share(lanes[some], x[some], checks) - 1.0
        over = ~(excess <= (TOLERANCE if checks is grid.everywhere else SEEN - MARGIN))
        if checks is not grid.everywhere and over.any():
            members, checks = members[over], grid.everywhere
            excess = share(lanes[members], x[members], checks) - 1.0
            over = ~(excess <= TOLERANCE)
        if not over.any():
            return True
        if not excess.max() <= ROUGH:
            return False
        some = members = members[over]
        limits[members - begin, 2] *= 1.0 - 4.0 * excess[over, None]
        solve(members, limits[members - begin], terms[members - begin], *stencils)
    return False
