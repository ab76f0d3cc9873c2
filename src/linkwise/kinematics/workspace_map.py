"""The grid of a workspace, about the first axis or along x, y, z, and random samples of configurations."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array, FloatArray, blank, greatest, root
from linkwise.spatial.validation import numbers, rows_of

#: Singular values below this share of the greatest count as zero: directions in which no posture moves.
RANK = 1e-9

#: A velocity below this, m/s or rad/s per unit of joint speed, is none.
TINY = 1e-12

#: Postures that show in which directions a mechanism moves at all.
PROBES = 64

#: Postures computed at a time.
CHUNK = 1 << 16

#: What is wrong with joints that slide without limits.
ENDLESS = "the reach has no end"

Bools = npt.NDArray[np.bool_]

#: From random numbers, postures (k, nq) and positions (k, 3) to postures whose frame stands nearer to these.
Towards = Callable[[np.random.Generator, FloatArray, FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Pointing:
    """A direction (3,), unit, in which the frame's z axis must point, and the least cosine of the angle to it."""

    direction: FloatArray
    cosine: float


@dataclass(frozen=True, eq=False)
class Postures:
    """What can be sampled of a mechanism: which coordinates move the frame, how far, and what comes of it."""

    tree: Tree
    link: int | str
    mask: str
    limits: bool
    pointing: Pointing | None
    fixed: Mapping[str, tuple[float, float]]

    @cached_property
    def path(self) -> tuple[int, ...]:
        """The links from the base to the frame."""
        return self.tree.path(self.link)

    @cached_property
    def moving(self) -> npt.NDArray[np.intp]:
        """The coordinates, of the n without quaternions, that move the frame."""
        used = {self.tree.followers[k].coordinate for k in self.path if self.tree.links[k].moves} - {-1}
        return np.array(sorted(used), dtype=np.intp)

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions that move the frame."""
        return self.on_the_way()

    def on_the_way(self, bounded: Collection[ManifoldJoint] = ()) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions on the way to the frame, but for some that loops keep from going far.

        Raises
        ------
        ArgumentError
            Naming one that could go on for ever.
        """
        joints = tuple(at for at in self.tree.manifold_joints if at.link in self.path and at not in bounded)
        for at in joints:
            if not at.joint.is_rotation:
                name = f"{at.name!r} of {self.tree.name!r}"
                raise ArgumentError(f"{name} is a {at.joint.kind} joint on the way to the frame, so that {ENDLESS}; lock it")
        return joints

    @cached_property
    def base(self) -> int:
        """Number of coordinates of joints with quaternions, with which q begins."""
        return self.tree.nq - self.tree.n

    @cached_property
    def velocities(self) -> npt.NDArray[np.intp]:
        """The velocities, of all nv, that move the frame."""
        turns = [np.arange(at.v.start, at.v.stop) for at in self.manifold]
        return np.concatenate([*turns, self.tree.nv - self.tree.n + self.moving]).astype(np.intp)

    @cached_property
    def turning(self) -> Bools:
        """Which coordinates (n,) a full turn leaves where they are: of revolute joints that no other joint follows."""
        tree = self.tree
        result = np.array([part.periodic for part in tree.turns_and_slides], dtype=bool)
        for link, joint in zip(tree.links, tree.followers, strict=True):
            if link.mimic is not None and joint.coordinate >= 0:
                result[joint.coordinate] = False
        return result

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest coordinates (n,); one full turn where there is no limit.

        Raises
        ------
        ArgumentError
            Naming the joints that could go on for ever.
        """
        low, high = self.tree.q_min.copy(), self.tree.q_max.copy()
        if not self.limits:
            low[self.turning], high[self.turning] = -np.inf, np.inf
        for name, (least, most) in self.fixed.items():
            low[self.tree.names.index(name)], high[self.tree.names.index(name)] = least, most
        endless = [name for k, name in enumerate(self.tree.names) if k in self.moving and self._endless(k, low[k], high[k])]
        if endless:
            verb, them = ("has", "it") if len(endless) == 1 else ("have", "them")
            raise ArgumentError(
                f"{members(endless)} of {self.tree.name!r} {verb} no limits and can go on for ever, so that {ENDLESS};"
                f" give {them} limits or a range"
            )
        left, right = np.isfinite(low), np.isfinite(high)
        start = np.where(left, low, np.where(right, np.where(right, high, 0.0) - 2 * np.pi, -np.pi))
        end = np.where(right, high, start + 2 * np.pi)
        return start, end

    def _endless(self, k: int, low: float, high: float) -> bool:
        return not self.turning[k] and not (np.isfinite(low) and np.isfinite(high))

    @cached_property
    def open_ended(self) -> Bools:
        """Which coordinates (n,) may go past the ends of their range, for it is a whole turn."""
        low, high = self.ranges
        return np.asarray(self.turning & (high - low >= 2 * np.pi - 1e-9))

    @cached_property
    def first_axis(self) -> tuple[int, FloatArray] | None:
        """The coordinate that turns everything else, and the joint's frame T_world_joint, z its axis; None without one."""
        tree, placed = self.tree, np.asarray(self.tree.base, dtype=float)
        for k in self.path:
            link = tree.links[k]
            if link.moves:
                coordinate = tree.followers[k].coordinate
                turns = coordinate >= 0 and self.turning[coordinate]
                return (coordinate, _along(placed @ link.before, link.axis)) if turns else None
            placed = placed @ link.before @ link.motion() @ link.after
        return None

    @cached_property
    def kernel(self) -> Kernel:
        """From q (nq,) to position (3,), z axis (3,) and manipulability of the frame."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"p": (3,), "z": (3,), "w": ()}
        return Kernel(trace(self._place, "posture", inputs, outputs))

    @cached_property
    def turned(self) -> Kernel:
        """From q (nq,) and a small motion (nv,) to those of joints with quaternions after it, within their cones."""
        inputs, outputs = {"q": (self.tree.nq,), "step": (self.tree.nv,)}, {"turned": (self.base,)}
        return Kernel(trace(self._turn, "turned", inputs, outputs))

    @cached_property
    def spread(self) -> FloatArray:
        """What a change of one range is along the velocities (nv - n,) of joints with quaternions, rad or m."""
        return np.full(self.tree.nv - self.tree.n, np.pi)

    @cached_property
    def probes(self) -> FloatArray:
        """The Jacobians (k, 6, nv) of some postures."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"J": (6, self.tree.nv)}
        kernel = Kernel(trace(self.rates, "probe", inputs, outputs), "numpy")
        return np.asarray(kernel(self.draw(np.random.default_rng(0), PROBES)))

    def rank(self, rows: Sequence[int]) -> int:
        """How many ways the frame can move at once, at most postures."""
        return max((_rank(np.linalg.svd(rates[rows], compute_uv=False)) for rates in self.probes), default=0)

    @cached_property
    def directions(self) -> FloatArray:
        """Orthonormal rows (r, 6): what the frame's velocities span, all postures together, among the axes that count."""
        rows = list(rows_of(self.mask))
        u, s, _ = np.linalg.svd(np.concatenate(self.probes[:, rows], axis=-1), full_matrices=False)
        result = np.zeros((_rank(s), 6))
        result[:, rows] = _plain(u[:, : len(result)])
        return result

    def rates(self, q: Array) -> Array:
        """The Jacobian (6, nv) of the frame."""
        return np.asarray(jacobian(self.tree, q, link=self.link))

    def _place(self, q: Array) -> tuple[Array, Array, Any]:
        pose = forward_kinematics(self.tree, q, link=self.link)
        rates = blank(len(self.directions), len(self.velocities))
        rates[...] = self.directions @ self.rates(q)[:, self.velocities]
        return pose[:3, 3], pose[:3, 2], volume_of(rates, self.rank(list(rows_of(self.mask))))

    def _turn(self, q: Array, step: Array) -> Array:
        joints = self.tree.manifold_joints
        return np.concatenate([at.joint.clipped(at.joint.integrate(q[at.q], step[at.v]), at.most) for at in joints])

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray, Bools]:
        """Positions (k, 3), manipulabilities (k,), and whether the frame points as asked (k,)."""
        p, z, w = self.kernel(q)
        if self.pointing is None:
            return p, w, np.ones(len(q), dtype=bool)
        return p, w, z @ self.pointing.direction >= self.pointing.cosine

    def draw(self, rng: np.random.Generator, count: int, keep: int = -1) -> FloatArray:
        """Postures (count, nq), evenly spread over the ranges, one coordinate kept in the middle of its range.

        What does not move the frame stands as near zero as it may.
        """
        low, high = self.ranges
        joints = np.tile(np.clip(0.0, low, high), (count, 1))
        k = self.moving
        joints[:, k] = low[k] + rng.random((count, len(k))) * (high[k] - low[k])
        if keep >= 0:
            joints[:, keep] = 0.5 * (low[keep] + high[keep])
        q = np.concatenate([np.tile(self.tree.neutral[: self.base], (count, 1)), joints], axis=1)
        for at in self.manifold:
            q[:, at.q] = at.joint.random(rng, count, at.most)
        return q

    def changed(self, rng: np.random.Generator, q: FloatArray, step: FloatArray, keep: int = -1) -> FloatArray:
        """Postures beside others (k, nq): some coordinates moved by about ``step`` (k, 1) of their ranges, one kept."""
        low, high = self.ranges
        chosen = np.zeros(self.tree.n, dtype=bool)
        chosen[self.moving] = True
        if keep >= 0:
            chosen[keep] = False
        joints = q[:, self.base :]
        some = chosen & (rng.random(joints.shape) < 0.6)
        result = joints + some * rng.standard_normal(joints.shape) * step * (high - low)
        held = np.clip(result, low, high)
        turned = low + np.mod(result - low, 2 * np.pi)
        joints = np.where(self.open_ended & (high - low < 2 * np.pi + 1e-9), turned, held)
        if not self.manifold:
            return np.concatenate([q[:, : self.base], joints], axis=1)
        motion = np.zeros((len(q), self.tree.nv))
        for at in self.manifold:
            some = rng.random((len(q), 1)) < 0.6
            motion[:, at.v] = some * rng.standard_normal((len(q), at.joint.nv)) * step * self.spread[at.v]
        return np.concatenate([self.turned(q, motion), joints], axis=1)


def pointing_of(direction: npt.ArrayLike | None, within: float) -> Pointing | None:
    """Check the direction in which the frame must point."""
    if direction is None:
        return None
    result = numbers("pointing", direction, "a direction x, y, z")
    if result.shape != (3,) or not result.any():
        raise ArgumentError(f"pointing is {shown(direction)}; expected a direction x, y, z, not all zero")
    if not isinstance(within, (int, float, np.floating)) or not 0 < within <= np.pi:
        raise ArgumentError(f"within is {shown(within)}; expected an angle above 0 and up to pi, rad")
    return Pointing(result / np.linalg.norm(result), float(np.cos(within)))


def ranges_of(tree: Tree, ranges: Mapping[str, tuple[float, float]] | None) -> dict[str, tuple[float, float]]:
    """Check the ranges that are given for joints."""
    results = {}
    if not isinstance(ranges, Mapping | None):
        raise ArgumentError(f"ranges is {shown(ranges)}; expected a mapping of names to a least and a greatest number")
    for name, bounds in (ranges or {}).items():
        if name not in tree.names:
            raise ArgumentError(f"ranges name {name!r}; the joints of {tree.name!r} are {members(tree.names)}")
        pair = numbers(f"ranges[{name!r}]", bounds, "a least and a greatest number")
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise ArgumentError(f"ranges[{name!r}] is {shown(bounds)}; expected a least and a greatest number")
        results[name] = (float(pair[0]), float(pair[1]))
    return results


def volume_of(rates: Array, rank: int) -> Any:
    """The product of the greatest ``rank`` singular values of a matrix (r, m) of scalars that has no higher rank.

    Where that is the number of its rows or columns these are made orthogonal one by one (modified Gram-Schmidt; G. H. Golub,
    C. F. Van Loan, *Matrix Computations*, section 5.2.8), which loses no digits to squaring. Otherwise its square is a
    coefficient of the characteristic polynomial of J J' (Faddeev and Le Verrier).

    Examples
    --------
    >>> float(volume_of(np.array([[3.0, 0.0, 0.0], [1.0, 2.0, 0.0]]), 2))
    6.0
    >>> float(volume_of(np.array([[3.0, 0.0], [4.0, 0.0]]), 1))
    5.0
    """
    if not rank:
        return 0.0
    if rank < min(rates.shape):
        return root(greatest(_coefficient(rates @ rates.T, rank), 0.0))
    rows = list(rates if rates.shape[0] <= rates.shape[1] else rates.T)
    result: Any = 1.0
    for k, row in enumerate(rows):
        square = row @ row
        result = result * root(square)
        inverse = 1.0 / greatest(square, 1e-300)
        rows[k + 1 :] = [other - row * ((other @ row) * inverse) for other in rows[k + 1 :]]
    return result


def _coefficient(square: Array, order: int) -> Any:
    """The sum of all products of ``order`` eigenvalues of a matrix."""
    unit, power, result = np.eye(len(square)), np.eye(len(square)), 0.0
    for k in range(1, order + 1):
        product = square @ power
        result = np.trace(product) * (1.0 / k)
        power = result * unit - product
    return result


def _rank(s: FloatArray) -> int:
    """How many singular values, the greatest first, are not zero."""
    return int(np.sum(s > RANK * s[0])) if s.size and s[0] > TINY else 0


def _plain(u: FloatArray) -> FloatArray:
    """Rows with the span of the columns of u (m, r): those of the unit matrix where it spans whole axes."""
    used = np.abs(u @ u.T - np.diag(np.diag(u @ u.T))).max(initial=0.0) < 1e-9
    if used:
        return np.eye(len(u))[np.diag(u @ u.T) > 0.5]
    return np.asarray(u.T)


def _along(placed: FloatArray, axis: FloatArray) -> FloatArray:
    """T_world_joint with z along the axis of the joint."""
    result = np.asarray(placed, dtype=float).copy()
    result[:3, :3] = result[:3, :3] @ rotation_between((0.0, 0.0, 1.0), axis)
    return result


#: Least and greatest standard deviation of a change, shares of the joint's range.
SPREAD = (1e-3, 0.25)

#: How often each empty cell beside reached ones is aimed at, where all is along x, y, z.
AIMS = 8

#: Changes tried a round for each cell at an edge of what is reached; most cells taken a round.
EDGE_TRIES, MOST_PARENTS = 4, 24_000


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
        self.q = np.zeros((count, self.postures.tree.nq))

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each direction."""
        return tuple(len(edge) - 1 for edge in self.edges)

    @property
    def reached(self) -> npt.NDArray[np.intp]:
        """The cells (flat) that are reached."""
        return np.flatnonzero(self.best > -np.inf)

    def take(self, q: FloatArray) -> None:
        """Try postures (k, nq)."""
        for start in range(0, len(q), CHUNK):
            self._take(q[start : start + CHUNK])

    def _take(self, q: FloatArray) -> None:
        p, w, valid = self.postures.evaluate(q)
        at, inside = self._at(p)
        better = np.flatnonzero(valid & inside & (w > self.best[at]))
        better = better[np.argsort(w[better], kind="stable")]
        result, last = np.unique(at[better][::-1], return_index=True)
        winners = better[::-1][last]
        self.best[result], self.q[result] = w[winners], q[winners]

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

    def fill(self, rng: np.random.Generator, towards: Towards) -> int:
        """Aim at places in each empty cell beside reached ones, from these, `AIMS` times, until no such cell is left.

        For cells along x, y, z. Returns how many cells the last of these times reached, which is about how many a further
        one would: each reaches fewer than the one before.
        """
        aimed, last = np.zeros(len(self.best), dtype=np.intp), 0
        low, high = (
            np.stack(np.meshgrid(*(edge[part] for edge in self.edges), indexing="ij"), axis=-1).reshape(-1, 3)
            for part in (slice(None, -1), slice(1, None))
        )
        while True:
            cells, parents = self._beside(rng, aimed < AIMS)
            if not cells.size:
                return last
            target = low[cells] + rng.random((len(cells), 3)) * (high[cells] - low[cells])
            self.take(towards(rng, self.q[parents], target))
            aimed[cells] += 1
            last += int(np.sum((self.best[cells] > -np.inf) & (aimed[cells] == AIMS)))

    def _beside(self, rng: np.random.Generator, wanted: Bools) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Cells that are wanted and not reached, `MOST_PARENTS` at most, and for each a reached one beside it, by chance."""
        full = (self.best > -np.inf).reshape(self.shape)
        sought = wanted.reshape(self.shape) & ~full
        number = np.arange(full.size).reshape(self.shape)
        pairs = []
        for axis in range(3):
            one, two = ((slice(None),) * axis + (part,) for part in (slice(1, None), slice(None, -1)))
            for here, there in ((one, two), (two, one)):
                met = sought[here] & full[there]
                pairs.append(np.stack([number[here][met], number[there][met]]))
        cells, parents = rng.permutation(np.concatenate(pairs, axis=1), axis=1)
        cells, first = np.unique(cells, return_index=True)
        some = rng.permutation(len(cells))[:MOST_PARENTS]
        return cells[some], parents[first[some]]

    def places(self, p: FloatArray) -> npt.NDArray[np.intp]:
        """The cells (flat) of positions (k, 3), of those outside the nearest."""
        return self._at(p)[0]

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
    """The greatest of several scores near the best of some postures: their values (m,) and postures (m, nq).

    ``scores`` takes positions (k, 3) and manipulabilities (k,) and gives (k, m).
    """
    p, w, valid = postures.evaluate(start)
    result = np.where(valid[:, None], scores(p, w), -np.inf)
    first = np.argmax(result, axis=0)
    q, value = start[first], result[first, np.arange(result.shape[1])]
    count = len(q)
    for taken in range(rounds):
        step = 0.2 * 0.75**taken * np.exp(rng.uniform(-2.0, 0.5, (count * tries, 1)))
        tried = postures.changed(rng, np.repeat(q, tries, axis=0), step)
        p, w, valid = postures.evaluate(tried)
        got = np.where(valid[:, None], scores(p, w), -np.inf).reshape(count, tries, -1)
        slopes = got[np.arange(count), :, np.arange(count)]
        best = np.argmax(slopes, axis=1)
        gained = slopes[np.arange(count), best] > value
        q = np.where(gained[:, None], tried.reshape(count, tries, -1)[np.arange(count), best], q)
        value = np.where(gained, slopes[np.arange(count), best], value)
    return value, q


#: A workspace thinner than this share of its size is plane.
FLAT = 1e-7

#: Cells about the first axis, and where all lies in a plane: as many of these as fit its range best.
TURNS, TURNS_FLAT = range(64, 81), range(320, 361)

#: Most cells along each side of a map in x, y, z.
MOST_ALONG = 100

Chart = Callable[[FloatArray], FloatArray]
Edges = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells and the greatest manipulability found in each.

    Attributes
    ----------
    frame : ndarray (4, 4)
        T_world_map. With an axis its z is the axis of the first joint, at the point next to the base; else it is the world.
    has_axis : bool
        Whether the cells lie about that axis: their borders are then of the distance from it, the height along it and the
        angle about it from the map's x (m, m, rad), otherwise of x, y and z (m).
    edges : tuple of ndarray
        Borders of the cells in those three directions.
    best : ndarray
        Greatest manipulability found in each cell; NaN where nothing is reached.
    shift : int
        How many cells the first joint turns to either side of its middle; -1 where it turns all round.
    """

    frame: FloatArray
    has_axis: bool
    edges: Edges
    shift: int = -1
    best: FloatArray = field(default_factory=lambda: np.zeros((0, 0, 0)))

    @property
    def reached(self) -> Bools:
        """Which cells are reached."""
        return ~np.isnan(self.best)

    @property
    def centres(self) -> Edges:
        """Middles of the cells in the three directions."""
        first, second, third = (0.5 * (edge[1:] + edge[:-1]) for edge in self.edges)
        return first, second, third

    def radius(self, p: FloatArray) -> FloatArray:
        """Distances (k,) of positions (k, 3), world frame, from the axis of the map."""
        return np.asarray(np.hypot(*self.local(p).T[:2]))

    def local(self, p: FloatArray) -> FloatArray:
        """Positions (k, 3) in the frame of the map."""
        return np.asarray((p - self.frame[:3, 3]) @ self.frame[:3, :3])

    def filled(self, best: FloatArray) -> Grid:
        """The same with what was found in its cells (-inf where nothing), the first joint turned through its range."""
        turned = best
        if self.has_axis and len(self.edges[2]) > 2:
            for k in range(1, self.shift + 1):
                turned = np.maximum(turned, np.maximum(np.roll(best, k, 2), np.roll(best, -k, 2)))
        return replace(self, best=np.where(turned > -np.inf, turned, np.nan))

    def sizes(self) -> FloatArray:
        """Volumes (m3) of the cells; their areas (m2) where the map is one cell thick and plane."""
        first, second, third = (np.diff(edge) for edge in self.edges)
        if self.has_axis:
            first = 0.5 * np.diff(self.edges[0] ** 2)
        sides = [np.ones(1) if thin else side for thin, side in zip(self.thin, (first, second, third), strict=True)]
        return np.asarray(sides[0][:, None, None] * sides[1][None, :, None] * sides[2][None, None, :])

    @property
    def thin(self) -> tuple[bool, bool, bool]:
        """In which directions all that is reached is in one place."""
        widths = [float(edge[-1] - edge[0]) for edge in self.edges]
        largest = max(widths[: 2 if self.has_axis else 3])
        first, second, third = (width <= 3 * FLAT * largest for width in widths)
        return first, second, third and not self.has_axis


def grid_of(
    postures: Postures, rng: np.random.Generator, seeds: FloatArray, cells: int, climbing: tuple[int, int]
) -> tuple[Grid, Edges, Chart, int]:
    """Make an empty map that just holds all there is, with its chart and the coordinate that need not be sampled (-1: none).

    The first joint is left out where it turns everything and nothing depends on where it stands.
    """
    axis = postures.first_axis
    if axis is None or not _turns_freely(postures, axis[1]):
        return _along_axes(postures, rng, seeds, cells, climbing)
    coordinate, joint = axis
    frame = _map_frame(joint, np.asarray(postures.tree.base, dtype=float)[:3, 3])
    plain = Grid(frame, True, (np.zeros(2),) * 3)
    half = 0.5 * float(np.diff([bound[coordinate] for bound in postures.ranges])[0])

    def chart(p: FloatArray) -> FloatArray:
        x, y, z = plain.local(p).T
        return np.column_stack([np.hypot(x, y), z, np.arctan2(y, x)])

    low, high = _extent(postures, rng, seeds, lambda p: chart(p)[:, :2], climbing)
    low[0] = 0.0 if low[0] < 0.01 * high[0] else low[0]
    counts = TURNS_FLAT if high[1] - low[1] <= FLAT * high[0] else TURNS
    count, shift = _about(half, counts)
    across = cells if count == 1 or counts is TURNS_FLAT else max(16, (4 * cells) // 5)
    first, second = _edges(low, high, across)
    edges = (first, second, np.linspace(-np.pi, np.pi, count + 1))
    return replace(plain, edges=edges, shift=shift), edges, chart, coordinate


def _along_axes(
    postures: Postures, rng: np.random.Generator, seeds: FloatArray, cells: int, climbing: tuple[int, int]
) -> tuple[Grid, Edges, Chart, int]:
    def chart(p: FloatArray) -> FloatArray:
        return p

    low, high = _extent(postures, rng, seeds, chart, climbing)
    first, second, third = _edges(low, high, min(max(16, cells // 2), MOST_ALONG))
    edges = (first, second, third)
    return Grid(np.eye(4), False, edges), edges, chart, -1


def _extent(
    postures: Postures, rng: np.random.Generator, seeds: FloatArray, chart: Chart, climbing: tuple[int, int]
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest values of a chart."""
    result, _ = climb(postures, rng, seeds, lambda p, w: np.concatenate([-chart(p), chart(p)], axis=1), *climbing)
    return -result[: len(result) // 2], result[len(result) // 2 :]


def _edges(low: FloatArray, high: FloatArray, cells: int) -> list[FloatArray]:
    """Borders of nearly cubic cells, an even number each way; one cell where there is no width."""
    widths, result = high - low, []
    widest = max(float(widths.max()), 1e-12)
    for start, end, width in zip(low, high, widths, strict=True):
        if width <= FLAT * widest:
            result.append(0.5 * (start + end) + FLAT * widest * np.array([-1.0, 1.0]))
        else:
            result.append(np.linspace(start, end, 1 + 2 * int(np.ceil(0.5 * cells * width / widest))))
    return result


def _turns_freely(postures: Postures, joint: FloatArray) -> bool:
    """Whether the direction in which the frame must point, if any, is that of the first axis."""
    asked = postures.pointing
    return asked is None or abs(abs(float(asked.direction @ joint[:3, 2])) - 1.0) < 1e-12


def _about(half: float, counts: range) -> tuple[int, int]:
    """How many cells there are about an axis, and how many a turn by ``half`` to either side covers on each side."""
    if half >= np.pi - 1e-9:
        return 1, -1
    shares = {count: half * count / (2 * np.pi) - 0.5 for count in counts}
    count = min(counts, key=lambda n: abs(shares[n] - round(shares[n])))
    return count, max(0, round(shares[count]))


def _map_frame(joint: FloatArray, base: FloatArray) -> FloatArray:
    """T_world_map: z along the axis, upwards where it can be, x along the world's where the axis stands upright."""
    z = joint[:3, 2].copy()
    up = np.array([0.0, 0.0, 1.0])
    if abs(abs(z @ up) - 1.0) < 1e-9:
        z, x = up, np.array([1.0, 0.0, 0.0])
    else:
        y = up - (up @ z) * z
        y /= np.linalg.norm(y)
        x = np.cross(y, z)
        if x @ (1.0, 1e-3, 0.0) < 0:
            z, x = -z, -x
    result = np.eye(4)
    result[:3, :3] = np.column_stack([x, np.cross(z, x), z])
    result[:3, 3] = joint[:3, 3] + ((base - joint[:3, 3]) @ z) * z
    return result


def measured(postures: Postures, grid: Grid, missed: float = 0.0) -> tuple[float, float, int]:
    """Volume or plane area of what is reached, its uncertainty with some cells missed, and how many dimensions it has."""
    dimension = postures.rank(list(rows_of("translation")))
    flat = sum(grid.thin)
    if dimension != 3 - flat or dimension < 2:
        return np.nan, np.nan, dimension
    sizes, full = grid.sizes(), grid.reached
    fine = float((sizes * full).sum())
    coarse = float((sizes * _coarser(full, about=grid.has_axis)).sum())
    return 2.0 * fine - coarse, 0.25 * (coarse - fine) + missed * float(sizes.mean()), dimension


def _coarser(full: Bools, *, about: bool) -> Bools:
    """The cells that cells of twice the size cover: each with its neighbour, but not about the axis."""
    result = full
    for axis in range(2 if about else 3):
        if result.shape[axis] > 1:
            either = np.logical_or.reduceat(result, np.arange(0, result.shape[axis], 2), axis=axis)
            result = np.repeat(either, 2, axis=axis)
    return result
