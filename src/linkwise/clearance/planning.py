"""A path around obstacles: a bidirectional random tree over the compiled distances, then shortcuts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.clearance.clearance import measured
from linkwise.clearance.kernels import distance_kernel
from linkwise.clearance.pairs import collision_shapes, require_in_world
from linkwise.clearance.reach import levers, pair_levers
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes, Obstacles, obstacle_set
from linkwise.errors import ArgumentError
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within, vectors, whole

#: Random configurations towards which a tree grows at the same time.
AT_ONCE = 8

#: A branch counts that moves some point by this much, as a share of the longest lever.
ADVANCE = 0.02

#: Number of parts of an interval that is not proven clear.
PARTS = 4

#: An interval with a configuration that is not clear is left when it is this many times the resolution.
COARSE = 8.0

#: Pairs of points of a path that are drawn a round, as many of those that shorten it between which a straight path is tried,
#: and rounds without gain that end it.
SHORTCUTS, TRIED, ROUNDS = 16, 4, 4

REASONS = {
    "found": "the path is clear by the margin all along",
    "not found": "no path was found within the iterations, which does not mean that there is none",
}


@dataclass(frozen=True, eq=False, repr=False)
class PlannedPath:
    """A path between two configurations, straight in the coordinates between its corners.

    Attributes
    ----------
    q : ndarray (k, n)
        The corners, the start first; none where no path was found.
    success : bool
        Whether there is a path, and it has been checked.
    reason : {"found", "not found"}
        See `REASONS` of `linkwise.clearance.planning`.
    margin : float
        Least distance that was asked for, m.
    least : float
        Least distance over all configurations at which the path was checked, m; NaN without a path.
    resolution : float
        Between two configurations that decide no point moves farther than this, m.
    iterations : int
        Rounds in which the trees grew.
    checked : int
        Configurations at which the result was checked, no point moving more than half the resolution between them.

    Examples
    --------
    >>> import linkwise as lw
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> ball = lw.Shape("world", "sphere", 0.2, origin=(0.0, 1.6, 0.0))
    >>> arm.plan([0.0, 0.0], [3.0, 0.0], [ball])
    <PlannedPath: found, 3 corners, least clearance 0.0122 m>
    """

    q: FloatArray
    success: bool
    reason: str
    margin: float
    least: float
    resolution: float
    iterations: int
    checked: int

    def __repr__(self) -> str:
        if not self.success:
            return f"<PlannedPath: {self.reason} after {self.iterations} iterations>"
        return f"<PlannedPath: found, {len(self.q)} corners, least clearance {self.least:.3g} m>"

    def sample(self, count: int) -> FloatArray:
        """Configurations (count, n) evenly along the path, by the sum of the changes of the coordinates."""
        if not self.success:
            raise ArgumentError("there is no path to sample")
        along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(self.q, axis=0)).sum(axis=1))])
        at = np.linspace(0.0, along[-1], whole("count", count, 2))
        return np.stack([np.interp(at, along, column) for column in self.q.T], axis=1)


def plan(
    mechanism: Tree,
    q0: npt.ArrayLike,
    goal: npt.ArrayLike,
    obstacles: Obstacles = (),
    *,
    margin: float = 0.0,
    resolution: float = 0.01,
    disabled: Iterable[Any] | None = None,
    seed: int = 0,
    iterations: int = 2000,
) -> PlannedPath:
    """A path from one configuration to another, or to one of several, clear of the mechanism and of obstacles.

    Every piece is proven to be clear, by the distances at its ends and by how far any point moves between them. The whole
    path is checked once more at configurations between which no point moves more than half the resolution. That holds for
    the pairs that are looked at: without ``disabled``, those that `clearance` leaves out by sampling are in neither check.

    Parameters
    ----------
    mechanism : Mechanism
        A tree of joints without quaternions, with collision shapes.
    q0 : (n,) array_like
        Where it starts, rad or m.
    goal : (n,) or (k, n) array_like
        Where it ends, or configurations of which any will do, such as ``all_inverse_kinematics(T, clear=...)``.
    obstacles, disabled
        As for `clearance`.
    margin : float
        Least distance along the path, m.
    resolution : float
        An interval in which no point moves this far, m, and that is not proven to be clear, counts as blocked.
    seed : int
        Seed of random numbers: the same path for the same seed.
    iterations : int
        Most rounds in which the trees grow.

    Returns
    -------
    PlannedPath
        Without success there may be a path all the same: `PlannedPath.reason`.

    Raises
    ------
    ArgumentError
        Where the start, or every goal, is outside the joint limits or not clear: what, where and by how much.

    Notes
    -----
    J. J. Kuffner, S. M. LaValle, "RRT-Connect: an efficient approach to single-query path planning", IEEE ICRA 2000, with
    eight branches at once, each as far as it is clear. Straight shortcuts between random points of the path follow.

    Examples
    --------
    >>> import linkwise as lw
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> ball = lw.Shape("world", "sphere", 0.2, origin=(0.0, 1.6, 0.0))
    >>> path = plan(arm, [0.0, 0.0], [3.0, 0.0], [ball], margin=0.05)
    >>> path.success, bool(arm.clearance(path.sample(200), [ball]).least.min() >= 0.05)
    (True, True)
    """
    others = obstacle_set(obstacles)
    shapes = collision_shapes(mechanism, disabled, 0)
    require_in_world(mechanism, others)
    least = number_within("margin", margin, 0.0, np.inf, "a length of 0 or more, m")
    step = number_within("resolution", resolution, 1e-6, np.inf, "a length of 1e-6 m or more")
    start, goals = vectors("q0", q0, mechanism.nq), np.atleast_2d(vectors("goal", goal, mechanism.nq))
    if start.ndim != 1 or goals.ndim != 2 or not len(goals):
        raise ArgumentError(f"q0 and goal have the shapes {start.shape} and {np.shape(goal)}; expected (n,), (n,) or (k, n)")
    space = _Space(shapes, others, least, step)
    space.require("q0", start[None])
    goals = space.require("goal", goals)
    rng = np.random.default_rng(whole("seed", seed, 0))
    path, rounds = _connect(space, start, goals, rng, whole("iterations", iterations, 1))
    if path is not None:
        path = _shortened(space, path, rng)
        fine = space.between(path, 0.5 * step)
        worst = float(space.distance(fine).min())
        if worst >= least:
            return PlannedPath(path, True, "found", least, worst, step, rounds, len(fine))
    return PlannedPath(np.empty((0, mechanism.n)), False, "not found", least, np.nan, step, rounds, 0)


class _Space:
    """Configurations within the limits, and which of them, and of the straight paths between them, are clear."""

    def __init__(self, shapes: CollisionShapes, obstacles: CapsuleSet, margin: float, step: float) -> None:
        self.shapes, self.obstacles, self.margin, self.step = shapes, obstacles, margin, step
        self.tree = shapes.tree
        self.levers = levers(shapes)
        self.low, self.high = (np.where(np.isfinite(x), x, y) for x, y in self._limits())
        self.any = bool(shapes.pairs or (shapes.moving and obstacles.names))
        self.kernel = distance_kernel(shapes, obstacles.kinds, grouped=True) if self.any else None
        self.rates = pair_levers(shapes, bool(obstacles.names)).T if self.any else np.zeros((self.tree.n, 1))
        self.rows = (obstacles.rows.ravel(),) if obstacles.names else ()

    def _limits(self) -> tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]:
        n = self.tree.n
        return (self.tree.q_min, np.full(n, -np.pi)), (self.tree.q_max, np.full(n, np.pi))

    def distance(self, q: FloatArray) -> FloatArray:
        """The least distance (N,) at configurations (N, n)."""
        return np.asarray(self.distances(q).min(axis=-1))

    def distances(self, q: FloatArray) -> FloatArray:
        """The least distances (N, G) of the groups of pairs at configurations (N, n)."""
        return np.full((len(q), 1), np.inf) if self.kernel is None else np.asarray(self.kernel(q, *self.rows))

    def require(self, name: str, q: FloatArray) -> FloatArray:
        """Configurations (k, n) that are within the limits and clear.

        Raises
        ------
        ArgumentError
            Where there are none: what is wrong with the first.
        """
        inside = ((q >= self.tree.q_min) & (q <= self.tree.q_max)).all(axis=1)
        if not inside.any():
            at = int(np.argmax((q[0] < self.tree.q_min) | (q[0] > self.tree.q_max)))
            bounds = f"[{self.tree.q_min[at]:g}, {self.tree.q_max[at]:g}]"
            raise ArgumentError(f"{name}: {self.tree.names[at]} is {q[0, at]:g}; expected a value in its limits {bounds}")
        good = inside & (self.distance(q) >= self.margin)
        if not good.any():
            raise ArgumentError(f"{name} is not clear by {self.margin:g} m: {self._explain(q[inside][0])}")
        return q[good]

    def _explain(self, q: FloatArray) -> str:
        result = measured(self.shapes, self.obstacles, q)
        k = int(result.distance.argmin())
        where = ", ".join(f"{x:.4g}" for x in result.points[k, 0])
        return f"{' and '.join(result.pairs[k])} are {result.distance[k]:.4g} m apart at ({where})"

    def motion(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Upper bound of the displacement of any point between configurations (..., n), m."""
        return np.asarray(np.abs(b - a) @ self.levers)

    def between(self, path: FloatArray, step: float) -> FloatArray:
        """Configurations along a path (k, n) between which no point moves farther than the step."""
        parts = [path[:1]]
        for a, b in pairwise(path):
            count = max(1, int(np.ceil(self.motion(a, b) / step)))
            parts.append(a + (b - a) * (np.arange(1, count + 1) / count)[:, None])
        return np.concatenate(parts)

    def extents(self, a: FloatArray, b: FloatArray, *, whole: bool = False) -> FloatArray:
        """Proven clear part (M,), from 0 to 1, of the straight paths from a to b (M, n); a is clear.

        With `whole`, 0 for all that are not clear to their ends, which is known sooner.

        Between two configurations at which a pair has the distances c and d its distance is never less than (c + d - m) / 2,
        where it changes by no more than m.
        """
        count, motion, change = len(a), self.motion(a, b), np.abs(b - a) @ self.rates
        reached, barrier = np.ones(count), np.full(count, np.inf)  # (proven part so far; first place without clearance)
        edge, low, high = np.arange(count), np.zeros(count), np.ones(count)
        known = self.distances(np.concatenate([a, b]))
        at_low, at_high = known[:count], known[count:]
        touching = at_high.min(axis=1) < self.margin
        barrier[touching] = 1.0
        if whole:
            reached[touching] = 0.0
        cuts = np.arange(1, PARTS) / PARTS
        while True:
            span, changed = motion[edge] * (high - low), change[edge] * (high - low)[:, None]
            unproven = (at_low + at_high - changed).min(axis=1) < 2.0 * self.margin
            open_ = unproven & (low < np.minimum(reached, barrier)[edge])
            edge, low, high, at_low, at_high, span = (x[open_] for x in (edge, low, high, at_low, at_high, span))
            if not len(edge):
                return reached
            clear = np.minimum(at_low, at_high).min(axis=1) >= self.margin
            blocked = span < np.where(clear, self.step, COARSE * self.step)
            np.minimum.at(reached, edge[blocked], 0.0 if whole else low[blocked])
            left = ~blocked & (low < reached[edge])
            edge, low, high, at_low, at_high = (x[left] for x in (edge, low, high, at_low, at_high))
            if not len(edge):
                return reached
            inner = low[:, None] + (high - low)[:, None] * cuts
            points = a[edge][:, None] + (b - a)[edge][:, None] * inner[..., None]
            distances = self.distances(points.reshape(-1, a.shape[1])).reshape(*inner.shape, -1)
            hit = distances.min(axis=2) < self.margin
            np.minimum.at(barrier, np.repeat(edge, PARTS - 1)[hit.ravel()], inner[hit])
            if whole:
                reached[barrier < np.inf] = 0.0
            places = np.concatenate([low[:, None], inner, high[:, None]], axis=1)
            values = np.concatenate([at_low[:, None], distances, at_high[:, None]], axis=1)
            groups = values.shape[2]
            edge = np.repeat(edge, PARTS)
            low, high = places[:, :-1].ravel(), places[:, 1:].ravel()
            at_low, at_high = values[:, :-1].reshape(-1, groups), values[:, 1:].reshape(-1, groups)


class _Branches:
    """A tree of configurations, each proven to be clear on the straight line from its parent."""

    def __init__(self, roots: FloatArray) -> None:
        self.q, self.parents = roots.copy(), [-1] * len(roots)

    def nearest(self, q: FloatArray, weights: FloatArray) -> npt.NDArray[np.intp]:
        """The configuration (M,) nearest to each of (M, n), measured by the levers."""
        near, far = self.q * weights, q * weights
        return np.asarray(((near * near).sum(axis=1)[None] - 2.0 * far @ near.T).argmin(axis=1))

    def grow(self, space: _Space, targets: FloatArray) -> tuple[npt.NDArray[np.intp], FloatArray]:
        """Branches towards targets (M, n): the indices of their ends, without those too short, and their lengths."""
        parents = self.nearest(targets, space.levers)
        a = self.q[parents]
        reached = space.extents(a, targets)
        far = reached * space.motion(a, targets) > ADVANCE * float(space.levers.max())
        far |= reached == 1.0
        first = len(self.parents)
        ends = (a + (targets - a) * reached[:, None])[far]
        ends[reached[far] == 1.0] = targets[far][reached[far] == 1.0]
        self.q = np.concatenate([self.q, ends])
        self.parents += parents[far].tolist()
        return np.arange(first, len(self.parents)), reached[far]

    def path(self, k: int) -> FloatArray:
        """Configurations from the root to place k."""
        places = [k]
        while self.parents[places[-1]] >= 0:
            places.append(self.parents[places[-1]])
        return self.q[places[::-1]]


def _connect(
    space: _Space, start: FloatArray, goals: FloatArray, rng: np.random.Generator, most: int
) -> tuple[FloatArray | None, int]:
    """A path from the start to one of the goals, and the rounds that it took."""
    straight = space.extents(np.broadcast_to(start, goals.shape), goals, whole=True)
    if straight.max() == 1.0:
        direct = np.flatnonzero(straight == 1.0)
        goal = goals[direct[space.motion(start, goals[direct]).argmin()]]
        return np.stack([start, goal]), 0
    here, there = _Branches(start[None]), _Branches(goals)
    for k in range(1, most + 1):
        ends, _ = here.grow(space, rng.uniform(space.low, space.high, (AT_ONCE, len(start))))
        if len(ends):
            targets = here.q[ends]
            joined, reached = there.grow(space, targets)
            met = np.flatnonzero(reached == 1.0)
            if len(met):
                place = int(joined[met[0]])
                end = int(ends[np.abs(targets - there.q[place]).sum(axis=1).argmin()])
                path = np.concatenate([here.path(end), there.path(place)[::-1][1:]])
                return (path if k % 2 else path[::-1]), k
        here, there = there, here
    return None, most


def _shortened(space: _Space, path: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The path with straight pieces in the place of detours."""
    idle = 0
    while idle < ROUNDS and len(path) > 2:
        lengths = space.motion(path[:-1], path[1:])
        along = np.concatenate([[0.0], np.cumsum(lengths)])
        ends = np.sort(rng.uniform(0.0, along[-1], (SHORTCUTS, 2)), axis=1)
        points = np.stack([np.interp(ends, along, column) for column in path.T], axis=-1)
        gain = ends[:, 1] - ends[:, 0] - space.motion(points[:, 0], points[:, 1])
        tried = np.flatnonzero(gain > 1e-3 * along[-1])[:TRIED]
        clear = space.extents(points[tried, 0], points[tried, 1], whole=True) == 1.0
        gain[np.setdiff1d(np.arange(SHORTCUTS), tried[clear])] = 0.0
        best = int(gain.argmax())
        idle = 0 if gain[best] > 1e-3 * along[-1] else idle + 1
        if gain[best] > 0.0:
            before, after = (along < ends[best, 0]), (along > ends[best, 1])
            path = np.concatenate([path[before], points[best], path[after]])
    corners, k = [0], 0
    while k < len(path) - 1:  # (from each corner straight to the last one to which the path is clear)
        later = path[k + 1 :]
        clear = space.extents(np.broadcast_to(path[k], later.shape), later, whole=True) == 1.0
        k += 1 + max([0, *np.flatnonzero(clear)])
        corners.append(k)
    return path[corners]
