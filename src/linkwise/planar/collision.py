"""Collision of the polygons of planar links with each other and with obstacles, for one configuration or a batch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import ArgumentError, choices, shown
from linkwise.extras import optional
from linkwise.model.link_tree import find_index
from linkwise.planar.polygon import obstacle_polygons
from linkwise.planar.transforms import evaluated, place_polygons
from linkwise.planar.tree import WORLD, PlanarTree, finite
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

BoolArray = NDArray[np.bool_]

#: A pair: links by their index, then obstacles, counted on from the number of links.
IndexPair = tuple[int, int]

#: Configurations whose polygons are in memory at the same time.
AT_ONCE = 16384

Obstacles = Mapping[str, Any] | Sequence[Any]


def collides(
    mechanism: PlanarTree,
    configurations: Any,
    *,
    obstacles: Obstacles = (),
    pairs: Iterable[Any] | None = None,
    margin: float = 0.0,
) -> BoolArray:
    """True if a mechanism is in collision, with itself or with obstacles.

    A polygon is the closed area within its outline: what touches, or lies inside, is in collision. Whether two polygons
    meet is decided without rounding for the vertices as `Mechanism.place` gives them, which are rounded; so polygons that
    should just touch may come out either way. A margin settles that.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
        Open or closed; that its loops are closed in the configurations is not looked at.
    configurations : (..., nq) array_like
        Coordinates, rad or m.
    obstacles : mapping of str to polygon, or sequence of polygons
        Simple polygons (m, 2) in world axes, m.
    pairs : iterable of pairs, optional
        What to check: two links, or a link and an obstacle, by name (a link also by its index). By default all links
        with all others and with all obstacles, but for links joined by a joint or a loop, links fixed to each other,
        links that hang on one pin (they always meet there), and what does not move with obstacles.
    margin : float
        Polygons no farther apart than this are in collision too, m.

    Returns
    -------
    ndarray (...,) of bool

    Raises
    ------
    ArgumentError
        Where a configuration is not nq finite numbers, an obstacle no polygon, a pair unknown, or the margin negative.
    MissingExtraError
        Where shapely is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> wall = [(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]
    >>> collides(arm, [[0.0, 0.0], [1.57, 0.0]], obstacles={"wall": wall})
    array([ True, False])
    """
    check = Check.of(mechanism, obstacles, pairs)
    (q, batch), clearance = check.read(configurations), read_margin(margin)
    hits = np.zeros(len(q), dtype=bool)
    for part, placed in check.placed(q):
        for pair in check.pairs:
            hits[part] |= check.meet(placed, pair, clearance, ~hits[part])
    return hits.reshape(batch)


def pairs_in_collision(
    mechanism: PlanarTree,
    configuration: Any,
    *,
    obstacles: Obstacles = (),
    pairs: Iterable[Any] | None = None,
    margin: float = 0.0,
) -> list[tuple[str, str]]:
    """Names of all pairs that are in collision in one configuration, as `collides` decides it.

    Parameters
    ----------
    mechanism, obstacles, pairs, margin
        As for `collides`.
    configuration : (nq,) array_like
        Coordinates, rad or m.

    Returns
    -------
    list of (str, str)
        Two links, or a link and an obstacle.

    Raises
    ------
    ArgumentError
        As for `collides`; also where more than one configuration is given.
    MissingExtraError
        Where shapely is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> wall = [(1.5, -1), (1.7, -1), (1.7, 1), (1.5, 1)]
    >>> pairs_in_collision(arm, [0.0, 0.3], obstacles={"wall": wall})
    [('lower', 'wall')]
    """
    check = Check.of(mechanism, obstacles, pairs)
    q, batch = check.read(configuration)
    if batch:
        shape = (*batch, mechanism.nq)
        raise ArgumentError(f"configuration has the shape {shape}; expected ({mechanism.nq},): one configuration")
    hits = check.each(q, np.full(len(check.pairs), read_margin(margin)))[0]
    return [name for name, hit in zip(check.pair_names, hits, strict=True) if hit]


def distance(
    mechanism: PlanarTree, configurations: Any, *, obstacles: Obstacles = (), pairs: Iterable[Any] | None = None
) -> FloatArray:
    """Least distance between the polygons of any pair that is checked, 0 where some meet.

    Parameters
    ----------
    mechanism, configurations, obstacles, pairs
        As for `collides`.

    Returns
    -------
    ndarray (...,)
        m; infinite where there is no pair to check.

    Raises
    ------
    ArgumentError, MissingExtraError
        As for `collides`.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> wall = [(2.25, -1), (2.5, -1), (2.5, 1), (2.25, 1)]
    >>> distance(arm, [0.0, 0.0], obstacles={"wall": wall})
    array(0.25)
    """
    check = Check.of(mechanism, obstacles, pairs)
    q, batch = check.read(configurations)
    best = np.full(len(q), math.inf)
    for part, _, polygon, other in check.polygons(q):
        best[part] = nearer(polygon, other, best[part])
    return best.reshape(batch)


@dataclass(frozen=True)
class Check:
    """Input of a collision check: a mechanism, obstacles (m, 2) with their names, and pairs of links and obstacles."""

    mechanism: PlanarTree
    obstacles: dict[str, FloatArray]
    names: list[str]
    pairs: list[IndexPair]

    @classmethod
    def of(cls, mechanism: PlanarTree, obstacles: Obstacles, pairs: Iterable[Any] | None) -> Check:
        """Validate the user's arguments."""
        mechanism.require_numbers("a check of collisions")
        polygons = obstacle_polygons(obstacles)
        names = things(mechanism, polygons)
        chosen = default_pairs(mechanism, len(polygons)) if pairs is None else chosen_pairs(mechanism, names, pairs)
        return cls(mechanism, polygons, names, chosen)

    @property
    def pair_names(self) -> list[tuple[str, str]]:
        """Names of the two things of each pair."""
        return [(self.names[i], self.names[j]) for i, j in self.pairs]

    def read(self, configurations: Any) -> tuple[FloatArray, tuple[int, ...]]:
        """Read coordinates (..., nq), rad or m, as one list (N, nq), and the shape of the batch."""
        q = finite(self.mechanism, configurations)
        return q.reshape(math.prod(q.shape[:-1]), self.mechanism.nq), q.shape[:-1]

    def placed(self, q: FloatArray) -> Iterator[tuple[slice, list[list[PlacedPolygon]]]]:
        """The shapes of all links, then of the obstacles, for one part of the configurations (N, nq) after another."""
        still = [[PlacedPolygon(polygon)] for polygon in self.obstacles.values()]
        for start in range(0, len(q), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            moving = [
                [PlacedPolygon(np.asarray(polygon)) for polygon in link] for link in place_polygons(self.mechanism, q[part])
            ]
            if not all(np.isfinite(end).all() for link in moving for shape in link for end in (shape.low, shape.high)):
                raise ArgumentError(f"configuration: some move a link of {self.mechanism.name!r} beyond the largest number")
            yield part, moving + still

    def polygons(self, q: FloatArray) -> Iterator[tuple[slice, int, PlacedPolygon, PlacedPolygon]]:
        """The polygons of each pair against each other, with the part of the configurations (N, nq) and the pair's place."""
        for part, placed in self.placed(q):
            for k, (first, second) in enumerate(self.pairs):
                for polygon, other in product(placed[first], placed[second]):
                    yield part, k, polygon, other

    def meet(self, placed: list[list[PlacedPolygon]], pair: IndexPair, margin: float, asked: BoolArray) -> BoolArray:
        """Mask (N,) of the `asked` configurations in which a polygon of one meets one of the other."""
        hits = np.zeros(asked.shape, dtype=bool)
        for polygon, other in product(placed[pair[0]], placed[pair[1]]):
            hits |= within(polygon, other, margin, asked & ~hits)
        return hits

    def each(self, q: FloatArray, margins: FloatArray) -> BoolArray:
        """Mask (N, P) of meeting pairs in configurations (N, nq), each with its own margin (P,), m."""
        hits = np.zeros((len(q), len(self.pairs)), dtype=bool)
        for part, placed in self.placed(q):
            for k, pair in enumerate(self.pairs):
                everywhere = np.ones(len(q[part]), dtype=bool)
                hits[part, k] = self.meet(placed, pair, float(margins[k]), everywhere)
        return hits


def read_margin(margin: float) -> float:
    """Read the distance up to which polygons are in collision, m."""
    length = real_or_empty(margin)
    if length.ndim or not (np.isfinite(length) and length >= 0.0):
        raise ArgumentError(f"margin: {shown(margin)}; expected a finite length of at least 0, m")
    return float(length)


# ── which pairs ───────────────────────────────────────────────────────────────────────────────────


def things(mechanism: PlanarTree, obstacles: Iterable[str]) -> list[str]:
    """Names of the links, then of the obstacles.

    Raises
    ------
    ArgumentError
        Where an obstacle has the name of a link.
    """
    links = mechanism.link_names
    for name in obstacles:
        if name in links:
            raise ArgumentError(f"obstacle {name!r}: a link has this name; expected another one")
    return [*links, *obstacles]


def default_pairs(mechanism: PlanarTree, obstacles: int) -> list[IndexPair]:
    """All pairs that can both touch and separate.

    Left out are links joined by a joint or a loop, links that are fixed to each other, links of one pin (they always meet
    there), and obstacles with what does not move.
    """
    count = len(mechanism.links)
    bodies = _bodies(mechanism)
    drawn = [k for k, link in enumerate(mechanism.links) if link.polygons]

    def between_links() -> list[IndexPair]:
        apart = _joined(mechanism) | _meeting(mechanism)
        pairs = combinations(drawn, 2)
        return [(i, j) for i, j in pairs if bodies[i] != bodies[j] and frozenset((i, j)) not in apart]

    moving = [i for i in drawn if bodies[i] >= 0]
    return mechanism.memo("planar.collision", "pairs", between_links) + [
        (i, count + k) for i in moving for k in range(obstacles)
    ]


def chosen_pairs(mechanism: PlanarTree, names: Sequence[str], pairs: Iterable[Any]) -> list[IndexPair]:
    """Pairs that the user names: two links, or a link and an obstacle, by name; links also by index.

    Raises
    ------
    ArgumentError
        Where a pair is not of two different things, at least one of them a link.
    """
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ArgumentError(f"pairs: {shown(pairs)}; expected a list of pairs of names, such as {names[:2]}")
    return [_pair(mechanism, names, pair) for pair in pairs]


def _pair(mechanism: PlanarTree, names: Sequence[str], pair: Any) -> IndexPair:
    if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
        raise ArgumentError(f"pair {shown(pair)}: expected two names of {choices(names)}")
    first, second = sorted(_index(len(mechanism.links), names, name) for name in pair)
    if first == second or first >= len(mechanism.links):
        raise ArgumentError(f"pair {shown(pair)}: expected two different links, or a link and an obstacle")
    return first, second


def _index(links: int, names: Sequence[str], name: Any) -> int:
    index = find_index(name, names, links)
    if index is None:
        raise ArgumentError(f"pair: there is no {shown(name)}; expected {choices(names)}, or an index of a link")
    return index


def _bodies(mechanism: PlanarTree) -> list[int]:
    """First link of each group of fixed links, for each link; -1 for the ground."""
    bodies = list(range(len(mechanism.links)))
    for k in mechanism.order:
        if not mechanism.links[k].variables:
            parent = mechanism.parents[k]
            bodies[k] = -1 if parent < 0 else bodies[parent]
    return bodies


def _joined(mechanism: PlanarTree) -> set[frozenset[int]]:
    pairs = {frozenset((k, parent)) for k, parent in enumerate(mechanism.parents) if parent >= 0}
    names = mechanism.link_names
    pinned = [(loop.first, loop.second) for loop in mechanism.loops]
    return pairs | {frozenset(map(names.index, both)) for both in pinned if all(name in names for name in both)}


def _meeting(mechanism: PlanarTree) -> set[frozenset[int]]:
    """Pairs of links that hang on one pin: that have a point in common wherever the joints are, with the loops closed.

    Points of joints that are one in two configurations drawn at random are one in all; those that a loop pins together
    are one where it is closed.
    """
    drawn = np.random.default_rng(0).uniform(0.3, 2.9, (2, mechanism.nq))
    poses = np.asarray(evaluated(mechanism, "poses", drawn))
    carriers, points = [], []
    for k, parent in enumerate(mechanism.parents):
        on_parent = parent >= 0 and "a" not in mechanism.links[k].variables
        carriers.append({k, parent} if on_parent else {k})
        points.append(poses[:, k, :2, 2])
    for loop in mechanism.loops:
        for name, point in ((loop.first, loop.first_point), (loop.second, loop.second_point)):
            k = -1 if name == WORLD else mechanism.link_index(name)
            carriers.append({k} if k >= 0 else set())
            points.append(np.tile(point, (2, 1)) if k < 0 else poses[:, k, :2, :2] @ point + poses[:, k, :2, 2])
    places = np.array(points)
    same = np.abs(places[:, None] - places).max(axis=(-1, -2)) <= 1e-12 * np.abs(places).max()
    first = len(mechanism.links)
    same[range(first, len(places), 2), range(first + 1, len(places), 2)] = True
    pins = np.arange(len(places))
    for i, j in np.argwhere(same):
        pins[pins == pins[j]] = pins[i]
    links = [set().union(*(carriers[k] for k in np.flatnonzero(pins == pin))) for pin in np.unique(pins)]
    return {frozenset(both) for together in links for both in combinations(together, 2)}


# ── shapes of the geometry library ────────────────────────────────────────────────────────────────


def library() -> Any:
    """The module ``shapely``; `MissingExtraError` where it is not installed."""
    return optional("shapely", "collision of polygons needs shapely", "planar")


class PlacedPolygon:
    """A polygon in N configurations, or a constant one.

    Parameters
    ----------
    vertices : (N, m, 2) or (m, 2) array
        In world axes, m.
    """

    def __init__(self, vertices: FloatArray) -> None:
        self.vertices = vertices
        self.still = vertices.ndim == 2
        self.low, self.high = _least(vertices), -_least(-vertices)
        self._shapes: Any = None

    def at(self, chosen: NDArray[np.intp]) -> Any:
        """Return the library's shapes in the chosen configurations, or the constant one."""
        shapely = library()
        if self.still:
            if self._shapes is None:
                self._shapes = shapely.polygons(self.vertices)
                shapely.prepare(self._shapes)
            return self._shapes
        if self._shapes is None:
            self._shapes = np.full(len(self.vertices), None, dtype=object)
        missing = chosen[shapely.is_missing(self._shapes[chosen])]
        self._shapes[missing] = shapely.polygons(self.vertices[missing])
        return self._shapes[chosen]


def _least(vertices: FloatArray) -> FloatArray:
    """Return the least coordinates over the vertices, one vertex after another: faster than a reduction of a short axis."""
    least = vertices[..., 0, :]
    for k in range(1, vertices.shape[-2]):
        least = np.minimum(least, vertices[..., k, :])
    return least


def gap(polygon: PlacedPolygon, other: PlacedPolygon) -> FloatArray:
    """Distance between the boxes about two shapes, (N,) or (): no more than that of the shapes, m."""
    apart = np.maximum(0.0, np.maximum(polygon.low - other.high, other.low - polygon.high))
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


def within(polygon: PlacedPolygon, other: PlacedPolygon, margin: float, asked: BoolArray) -> BoolArray:
    """Mask (N,) of the `asked` configurations in which two shapes are within the margin.

    Without a margin it is decided without rounding, for the vertices as they are.
    """
    shapely = library()
    chosen = np.flatnonzero(asked & (gap(polygon, other) <= margin * (1.0 + 1e-9)))
    answer = np.zeros(asked.shape, dtype=bool)
    still, moving = (polygon, other) if polygon.still else (other, polygon)  # the first is the one that may be prepared
    if chosen.size:
        pair = still.at(chosen), moving.at(chosen)
        answer[chosen] = shapely.dwithin(*pair, margin) if margin > 0.0 else shapely.intersects(*pair)
    return answer


def nearer(polygon: PlacedPolygon, other: PlacedPolygon, best: FloatArray) -> FloatArray:
    """Return the distance of two shapes (N,), m, where that is less than ``best`` (N,); ``best`` elsewhere."""
    shapely = library()
    chosen = np.flatnonzero(gap(polygon, other) < best)
    answer = best.copy()
    if chosen.size:
        answer[chosen] = np.minimum(best[chosen], shapely.distance(polygon.at(chosen), other.at(chosen)))
    return answer
