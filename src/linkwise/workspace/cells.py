"""The postures that reach the cells of a workspace, one a cell: tried, improved, and aimed at places."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.workspace.grid import Grid
from linkwise.workspace.postures import Bools, Postures

#: Postures computed at a time.
CHUNK = 1 << 16

#: Least and greatest standard deviation of a change, relative to the joint's range.
SPREAD = (1e-3, 0.25)

#: Changes tried per round for each cell at an edge of the reached region; greatest numbers of changed cells, and of targets,
#: per round.
EDGE_TRIES, MOST_PARENTS, MOST_AIMS = 4, 12_000, 64_000

#: Trials of each empty cell next to reached ones.
AIMS = 8

#: Searches for a reached cell among the 27 about another.
LOOKS = 12

#: Aims at a place from cells about it.
NEIGHBOURS = 4

#: Greatest number of batches of trials from any postures for a place that no neighbouring cell reaches; numbers of random
#: starts, and of stored ones, per batch; and the share of reached places below which trials end.
BATCHES, STARTS, FEW = 8, 8, 1e-3

#: Standard deviations of the share of reached places that count as uncertainty.
DEVIATIONS = 3.0

Places = npt.NDArray[np.intp]


@dataclass
class Cells:
    """An archive of postures over a grid.

    The first joint, where the grid lies about its axis, stands in the middle of its range in all of them: `covered` says
    what it reaches by turning.

    Attributes
    ----------
    grid : Grid
        The cells, empty.
    turned : int
        The coordinate of that joint; -1 where there is none.
    best, q, p : ndarray
        For each cell (flat) the greatest manipulability, -inf where it is not reached, its posture, and where that stands.
    """

    grid: Grid
    postures: Postures
    turned: int
    best: FloatArray = field(init=False)
    q: FloatArray = field(init=False)
    p: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        count = int(np.prod(self.grid.shape))
        self.best = np.full(count, -np.inf)
        self.q, self.p = np.zeros((count, self.postures.tree.nq)), np.zeros((count, 3))

    @property
    def reached(self) -> Places:
        """The cells (flat) that are reached."""
        return np.flatnonzero(self.best > -np.inf)

    def take(self, q: FloatArray) -> None:
        """Try postures (k, nq)."""
        for start in range(0, len(q), CHUNK):
            self._take(q[start : start + CHUNK])

    def _take(self, q: FloatArray) -> None:
        if self.turned >= 0:
            q = q.copy()
            q[:, self.postures.base + self.turned] = self._middle
        p, w, valid = self.postures.evaluate(q)
        at, inside = self.grid.cells(p)
        better = np.flatnonzero(valid & inside & (w > self.best[at]))
        better = better[np.argsort(w[better], kind="stable")]
        result, last = np.unique(at[better][::-1], return_index=True)
        winners = better[::-1][last]
        self.best[result], self.q[result], self.p[result] = w[winners], q[winners], p[winners]

    @property
    def _middle(self) -> float:
        low, high = (float(bound[self.turned]) for bound in self.postures.ranges)
        return 0.5 * (low + high)

    def improve(self, rng: np.random.Generator, rounds: int) -> None:
        """Vary the postures of the cells, mostly at the edges of the reached region, and the neighbouring ones."""
        for _ in range(rounds):
            held = self.reached
            if not held.size:
                return
            full = (self.best > -np.inf).reshape(self.grid.shape)
            edge = self.grid.near(~full).ravel()[held]
            outer = np.repeat(held[edge], EDGE_TRIES)
            parents = np.concatenate([_some(rng, held, MOST_PARENTS), _some(rng, outer, MOST_PARENTS)])
            step = np.exp(rng.uniform(math.log(SPREAD[0]), math.log(SPREAD[1]), (len(parents), 1)))
            self.take(self.postures.changed(rng, self.q[parents], step, self.turned))
            some = _some(rng, self.reached, MOST_AIMS)
            source = np.where(self.best > -np.inf, np.arange(len(self.best)), -1)
            q, good = self._aimed(rng, source, some, self.grid.places(rng, some), self.q[:0])
            self.take(q[good])

    # ── what is covered ───────────────────────────────────────────────────────────────────────────

    def covered(self) -> tuple[FloatArray, Places]:
        """Best value of each cell (arrays of the grid's shape), with the first joint rotated through its range.

        Returns its manipulability, -inf where nothing is reached, and in which cell (flat) its posture is kept; -1 in none.
        """
        best = self.best.reshape(self.grid.shape)
        source = np.where(best > -np.inf, np.arange(best.size).reshape(best.shape), -1)
        value, kept = best, source
        for k in range(1, self.grid.shift + 1):
            for shift in (k, -k):
                other = np.roll(best, shift, 2)
                better = other > value
                value, kept = np.where(better, other, value), np.where(better, np.roll(source, shift, 2), kept)
        return value, kept

    def missed(self, q: FloatArray) -> float:
        """Share of postures (k, nq) neither in nor next to a covered cell.

        An estimate of the share of all that lacks (I. J. Good, "The population frequencies of species and the estimation of
        population parameters", Biometrika 40, 1953).
        """
        p, _, valid = self.postures.evaluate(q)
        full = self.covered()[1] >= 0
        at, inside = self.grid.cells(p[valid])
        return float(np.mean(~inside | ~(full | self.grid.near(full)).ravel()[at])) if valid.any() else 1.0

    def fill(self, rng: np.random.Generator) -> None:
        """Aim at places in each empty cell beside reached ones, from these, `AIMS` times, until no such cell is left."""
        aimed = np.zeros(self.grid.shape, dtype=np.intp)
        while True:
            _, source = self.covered()
            full = source >= 0
            cells = _some(rng, np.flatnonzero(self.grid.near(full) & ~full & (aimed < AIMS)), MOST_AIMS)
            if not cells.size:
                return
            aimed.ravel()[cells] += 1
            q, good = self._aimed(rng, source.ravel(), cells, self.grid.places(rng, cells), self.q[:0])
            self.take(q[good])

    def probe(self, rng: np.random.Generator, cells: Places, target: FloatArray) -> tuple[Bools, int]:
        """Test if positions (k, 3) in some cells (k,) are reached; return how many only by the last batch of trials.

        They are aimed at from the cell itself and from others about it; then from anywhere, until that reaches few more.
        """
        hit, source = np.zeros(len(cells), dtype=bool), self.covered()[1].ravel()
        ways = (False, True) if self.postures.system.problem.bounded else (False,)

        def aim(count: int, starts: FloatArray, *, own: bool = False) -> int:
            before = int(hit.sum())
            for inside in ways:
                for _ in range(count):
                    left = np.flatnonzero(~hit)
                    q, good = self._aimed(rng, source, cells[left], target[left], starts, own=own, inside=inside)
                    self.take(q[good])
                    hit[left] = good
            return int(hit.sum()) - before

        aim(1, self.q[:0], own=True)
        last = aim(NEIGHBOURS, self.q[:0])
        for _ in range(BATCHES):
            q = self.postures.draw(rng, 2 * STARTS)
            drawn = q[self.postures.evaluate(q)[2]][:STARTS]
            last = aim(1, np.concatenate([self.q[rng.choice(self.reached, STARTS)], drawn]))
            if last <= FEW * len(cells):
                break
        return hit, last

    def measured(self, rng: np.random.Generator, places: int) -> tuple[float, float]:
        """Volume (m3) or plane area (m2) of the reached region, and its uncertainty, by so many places in each stratum.

        By stratified sampling (W. G. Cochran, *Sampling Techniques*, 3rd ed. 1977, chapter 5): cells that the border
        may pass through are one stratum, those within the other. Each share has the variance of a binomial one; and
        as many places as the last aims reached may be reached by further ones.
        """
        grid = self.grid
        full = self.covered()[1] >= 0
        border = grid.near(~full) & full | grid.near(full) & ~full
        for axis, count in enumerate(grid.shape):  # (the sides of the map just touch the reached region)
            if count > 1 and not (grid.has_axis and axis == 2):
                border[(slice(None),) * axis + ([0, -1],)] = True
        sizes = np.broadcast_to(grid.sizes(), grid.shape)
        size = variance = missed = 0.0
        for stratum in (border, full & ~border):
            volumes = np.where(stratum, sizes, 0.0).ravel()
            total = float(volumes.sum())
            if not total:
                continue
            chosen = rng.choice(len(volumes), places, p=volumes / total)
            hit, last = self.probe(rng, chosen, grid.places(rng, chosen))
            likely = (hit.sum() + 1.0) / (places + 2.0)
            size += total * float(hit.mean())
            variance += total**2 * likely * (1.0 - likely) / places
            missed += total * last / places
        return size, DEVIATIONS * float(np.sqrt(variance)) + missed

    def _aimed(
        self,
        rng: np.random.Generator,
        source: Places,
        cells: Places,
        target: FloatArray,
        starts: FloatArray,
        *,
        own: bool = False,
        inside: bool = False,
    ) -> tuple[FloatArray, Bools]:
        """Postures at positions (k, 3) in some cells (k,), from stored ones in or next to these, rotated towards them."""
        begun = self._nearby(rng, source, cells, own)
        q, p = self.q[begun], self.p[begun]
        chart, here = self.grid.chart(target), self.grid.chart(p)
        if self.turned >= 0:
            at = self.postures.base + self.turned
            low, high = (bound[self.turned] for bound in self.postures.ranges)
            turn = self._sense * (chart[:, 2] - here[:, 2])
            q[:, at] = np.clip(q[:, at] + (turn + np.pi) % (2.0 * np.pi) - np.pi, low, high)
        if any(self.grid.thin):
            target = self.grid.positions(np.where(self.grid.thin, here, chart))
        return self.postures.aimed(q, target, starts, inside=inside)

    @property
    def _sense(self) -> float:
        """1 where the first joint turns about the z axis of the grid, -1 where it turns against it."""
        axis = self.postures.first_axis
        return 1.0 if axis is None else float(np.sign(axis[1][:3, 2] @ self.grid.frame[:3, 2]))

    def _nearby(self, rng: np.random.Generator, source: Places, cells: Places, own: bool) -> Places:
        """Index of a posture for each cell: its own, if `own`, or a neighbour's; any if there is none."""
        at, result = np.array(np.unravel_index(cells, self.grid.shape)), np.full(len(cells), -1)
        if own:
            result = source[cells]
        most = np.array(self.grid.shape)[:, None] - 1
        for _ in range(LOOKS):
            left = np.flatnonzero(result < 0)
            there = at[:, left] + rng.integers(-1, 2, (3, left.size))
            if self.grid.has_axis:
                there[2] %= self.grid.shape[2]
            result[left] = source[np.ravel_multi_index(tuple(np.clip(there, 0, most)), self.grid.shape)]
        left = np.flatnonzero(result < 0)
        result[left] = rng.choice(self.reached, left.size)
        return result


def _some(rng: np.random.Generator, places: Places, most: int) -> Places:
    return places if len(places) <= most else rng.choice(places, most, replace=False)


def climb(
    postures: Postures,
    rng: np.random.Generator,
    start: FloatArray,
    scores: Callable[[FloatArray, FloatArray], FloatArray],
    rounds: int = 40,
    tries: int = 120,
) -> tuple[FloatArray, FloatArray]:
    """Maximize several scores near the best of some postures: values (m,) and postures (m, nq).

    ``scores`` takes positions (k, 3) and manipulabilities (k,) and gives (k, m).
    """
    p, w, valid = postures.evaluate(start)
    result = np.where(valid[:, None], scores(p, w), -np.inf)
    first = np.argmax(result, axis=0)
    q, value = start[first], result[first, np.arange(result.shape[1])]
    count, ways, bounded = len(q), postures.ways, postures.system.problem.bounded
    for taken in range(rounds):
        p0 = postures.evaluate(q)[0]
        step = 0.2 * 0.75**taken * np.exp(rng.uniform(-2.0, 0.5, (count * tries, 1)))
        tried = postures.changed(rng, np.repeat(q, tries, axis=0), step)
        aims = np.arange(0, count * tries, 2)
        shift = postures.size * step[aims] * (rng.standard_normal((len(aims), len(ways))) @ ways)
        start = np.repeat(q, tries, axis=0)[aims]
        tried[aims], _ = postures.aimed(start, np.repeat(p0, tries, axis=0)[aims] + shift, start[:0], inside=bounded)
        p, w, valid = postures.evaluate(tried)
        got = np.where(valid[:, None], scores(p, w), -np.inf).reshape(count, tries, -1)
        slopes = got[np.arange(count), :, np.arange(count)]
        best = np.argmax(slopes, axis=1)
        gained = slopes[np.arange(count), best] > value
        q = np.where(gained[:, None], tried.reshape(count, tries, -1)[np.arange(count), best], q)
        value = np.where(gained, slopes[np.arange(count), best], value)
    return value, q
