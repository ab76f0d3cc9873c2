"""Whether the polygons of planar links run into each other or into obstacles, for one configuration or many at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.planar.collision_pairs import IndexPair, chosen_pairs, default_pairs, things
from linkwise.planar.collision_shapes import BoolArray, Shape, nearer, within
from linkwise.planar.evaluation import finite, require_numbers
from linkwise.planar.polygon import obstacle_polygons
from linkwise.spatial.numbers import real
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

AT_ONCE = 16384
"""Configurations whose polygons are held at the same time."""

Obstacles = Mapping[str, Any] | Sequence[Any]


def collides(
    mechanism: Mechanism,
    configurations: Any,
    *,
    obstacles: Obstacles = (),
    pairs: Iterable[Any] | None = None,
    margin: float = 0.0,
) -> BoolArray:
    """Whether a mechanism is in collision, with itself or with obstacles.

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
    q, clearance = check.read(configurations), read_margin(margin)
    found = np.zeros(len(q.flat), dtype=bool)
    for part, placed in check.placed(q.flat):
        for pair in check.pairs:
            found[part] |= check.meet(placed, pair, clearance, ~found[part])
    return found.reshape(q.batch)


def pairs_in_collision(
    mechanism: Mechanism,
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
    q = check.read(configuration)
    if q.batch:
        shape = (*q.batch, mechanism.nq)
        raise ArgumentError(f"configuration has the shape {shape}; expected ({mechanism.nq},): one configuration")
    found = check.each(q.flat, np.full(len(check.pairs), read_margin(margin)))[0]
    return [name for name, hit in zip(check.pair_names, found, strict=True) if hit]


def distance(
    mechanism: Mechanism, configurations: Any, *, obstacles: Obstacles = (), pairs: Iterable[Any] | None = None
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
    q = check.read(configurations)
    best = np.full(len(q.flat), math.inf)
    for part, placed in check.placed(q.flat):
        for first, second in check.pairs:
            for one in placed[first]:
                for other in placed[second]:
                    best[part] = nearer(one, other, best[part])
    return best.reshape(q.batch)


@dataclass(frozen=True)
class Configurations:
    """Coordinates (N, nq) in one list, and the shape of the batch from which they come."""

    flat: FloatArray
    batch: tuple[int, ...]


@dataclass(frozen=True)
class Check:
    """What is checked: a mechanism, obstacles (m, 2) with their names, and pairs of links and obstacles."""

    mechanism: Mechanism
    obstacles: dict[str, FloatArray]
    names: list[str]
    pairs: list[IndexPair]

    @classmethod
    def of(cls, mechanism: Mechanism, obstacles: Obstacles, pairs: Iterable[Any] | None) -> Check:
        """Read what the user gave."""
        require_numbers(mechanism)
        polygons = obstacle_polygons(obstacles)
        names = things(mechanism, polygons)
        chosen = default_pairs(mechanism, len(polygons)) if pairs is None else chosen_pairs(mechanism, names, pairs)
        return cls(mechanism, polygons, names, chosen)

    @property
    def pair_names(self) -> list[tuple[str, str]]:
        """Names of the two things of each pair."""
        return [(self.names[i], self.names[j]) for i, j in self.pairs]

    def read(self, configurations: Any) -> Configurations:
        """Read coordinates (..., nq), rad or m."""
        q = finite(self.mechanism, configurations)
        return Configurations(q.reshape(math.prod(q.shape[:-1]), self.mechanism.nq), q.shape[:-1])

    def placed(self, q: FloatArray) -> Iterator[tuple[slice, list[list[Shape]]]]:
        """The shapes of all links, then of the obstacles, for one part of the configurations (N, nq) after another."""
        still = [[Shape(polygon)] for polygon in self.obstacles.values()]
        for start in range(0, len(q), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            moving = [[Shape(np.asarray(polygon)) for polygon in link] for link in self.mechanism.place(q[part])]
            if not all(np.isfinite(end).all() for link in moving for shape in link for end in (shape.low, shape.high)):
                raise ArgumentError(f"configuration: some put a link of {self.mechanism.name!r} beyond all numbers")
            yield part, moving + still

    def meet(self, placed: list[list[Shape]], pair: IndexPair, margin: float, asked: BoolArray) -> BoolArray:
        """Whether any polygon of the one meets any of the other, in the configurations asked (N,); False elsewhere."""
        found = np.zeros(asked.shape, dtype=bool)
        for one in placed[pair[0]]:
            for other in placed[pair[1]]:
                found |= within(one, other, margin, asked & ~found)
        return found

    def each(self, q: FloatArray, margins: FloatArray) -> BoolArray:
        """Which pairs meet (N, P) in the configurations (N, nq), each with its own margin (P,), m."""
        found = np.zeros((len(q), len(self.pairs)), dtype=bool)
        for part, placed in self.placed(q):
            for k, pair in enumerate(self.pairs):
                everywhere = np.ones(len(q[part]), dtype=bool)
                found[part, k] = self.meet(placed, pair, float(margins[k]), everywhere)
        return found


def read_margin(margin: float) -> float:
    """Read the distance up to which polygons are in collision, m."""
    try:
        made = real(margin)
    except TypeError:
        made = np.empty(0)
    if made.ndim or not (np.isfinite(made) and made >= 0.0):
        raise ArgumentError(f"margin: {shown(margin)}; expected a finite length of at least 0, m")
    return float(made)
