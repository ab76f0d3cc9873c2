"""The cells of a workspace: in each that is reached the best posture found, improved and spread to the cells around.

Random joint angles crowd in some places and miss thin ones. So each cell keeps the best posture found for it, and random
changes of these are tried again and again, a change counting for whichever cell it leads to: J.-B. Mouret and J. Clune,
"Illuminating search spaces by mapping elites", 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from linkwise.kinematics.workspace_postures import CHUNK, Bools, Postures
from linkwise.spatial.scalar import FloatArray

SPREAD = (1e-3, 0.25)
"""Least and greatest standard deviation of a change, shares of the joint's range."""

EDGE_TRIES, MOST_PARENTS = 4, 24_000
"""Changes tried a round for each cell at an edge of what is reached; most cells taken a round."""


@dataclass
class Cells:
    """An archive of postures over a grid.

    Attributes
    ----------
    edges : tuple of ndarray
        Borders of the cells along each of three directions.
    chart : callable
        Positions (k, 3) to what is measured along those directions (k, 3).
    best, q : ndarray
        For each cell (flat) the greatest manipulability, -inf where it is not reached, and its posture.
    """

    edges: tuple[FloatArray, FloatArray, FloatArray]
    chart: Callable[[FloatArray], FloatArray]
    postures: Postures
    best: FloatArray = field(init=False)
    q: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        count = int(np.prod(self.shape))
        self.best = np.full(count, -np.inf)
        self.q = np.zeros((count, self.postures.tree.n))

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each direction."""
        return tuple(len(edge) - 1 for edge in self.edges)

    @property
    def reached(self) -> npt.NDArray[np.intp]:
        """The cells (flat) that are reached."""
        return np.flatnonzero(self.best > -np.inf)

    def take(self, q: FloatArray) -> None:
        """Try postures (k, n)."""
        for start in range(0, len(q), CHUNK):
            self._take(q[start : start + CHUNK])

    def _take(self, q: FloatArray) -> None:
        p, w, valid = self.postures.evaluate(q)
        at, inside = self._at(p)
        better = np.flatnonzero(valid & inside & (w > self.best[at]))
        better = better[np.argsort(w[better], kind="stable")]
        found, last = np.unique(at[better][::-1], return_index=True)
        winners = better[::-1][last]
        self.best[found], self.q[found] = w[winners], q[winners]

    def _at(self, p: FloatArray) -> tuple[npt.NDArray[np.intp], Bools]:
        """The cells (flat) of positions, and which of them lie in the grid; borders count as inside."""
        at, inside = np.zeros(len(p), dtype=np.intp), np.ones(len(p), dtype=bool)
        for edge, value in zip(self.edges, self.chart(p).T, strict=True):
            size = edge[-1] - edge[0]
            k = np.floor((value - edge[0]) * ((len(edge) - 1) / size)).astype(np.intp)
            inside &= (value >= edge[0] - 1e-9 * size) & (value <= edge[-1] + 1e-9 * size)
            at = at * (len(edge) - 1) + np.clip(k, 0, len(edge) - 2)
        return at, inside

    def improve(self, rng: np.random.Generator, rounds: int, keep: int) -> None:
        """Try changes of what the cells hold, most at the edges of what is reached; ``keep`` is a coordinate left alone."""
        for _ in range(rounds):
            held = self.reached
            if not held.size:
                return
            edge = self._edge()[held]
            inner = held if len(held) <= MOST_PARENTS else rng.choice(held, MOST_PARENTS, replace=False)
            outer = np.repeat(held[edge], EDGE_TRIES)
            outer = outer if len(outer) <= MOST_PARENTS else rng.choice(outer, MOST_PARENTS, replace=False)
            parents = np.concatenate([inner, outer])
            step = np.exp(rng.uniform(math.log(SPREAD[0]), math.log(SPREAD[1]), (len(parents), 1)))
            self.take(self.postures.changed(rng, self.q[parents], step, keep))

    def _edge(self) -> Bools:
        """Which cells have a neighbour that is not reached."""
        full = (self.best > -np.inf).reshape(self.shape)
        empty = np.zeros(self.shape, dtype=bool)
        for axis in range(3):
            for shift in (1, -1):
                beside = np.roll(full, shift, axis)
                beside[(slice(None),) * axis + (0 if shift == 1 else -1,)] = True
                empty |= ~beside
        return (full & empty).ravel()


def climb(
    postures: Postures,
    rng: np.random.Generator,
    start: FloatArray,
    scores: Callable[[FloatArray, FloatArray], FloatArray],
    rounds: int = 40,
    tries: int = 120,
) -> tuple[FloatArray, FloatArray]:
    """The greatest of several scores near the best of some postures: their values (m,) and postures (m, n).

    ``scores`` takes positions (k, 3) and manipulabilities (k,) and gives (k, m).
    """
    p, w, valid = postures.evaluate(start)
    found = np.where(valid[:, None], scores(p, w), -np.inf)
    first = np.argmax(found, axis=0)
    q, value = start[first], found[first, np.arange(found.shape[1])]
    count = len(q)
    for taken in range(rounds):
        step = 0.2 * 0.75**taken * np.exp(rng.uniform(-2.0, 0.5, (count * tries, 1)))
        tried = postures.changed(rng, np.repeat(q, tries, axis=0), step)
        p, w, valid = postures.evaluate(tried)
        got = np.where(valid[:, None], scores(p, w), -np.inf).reshape(count, tries, -1)
        own = got[np.arange(count), :, np.arange(count)]
        best = np.argmax(own, axis=1)
        gained = own[np.arange(count), best] > value
        q = np.where(gained[:, None], tried.reshape(count, tries, -1)[np.arange(count), best], q)
        value = np.where(gained, own[np.arange(count), best], value)
    return value, q
