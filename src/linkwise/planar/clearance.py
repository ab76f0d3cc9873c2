"""Distances between the polygons of a planar chain, and from obstacles, pair by pair, with nearest points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.clearance.clearance import Distances
from linkwise.planar.collision import Check, Obstacles, gap, library
from linkwise.planar.tree import PlanarTree
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class PlanarClearance(Distances):
    """Distances between pairs of links, and of links and obstacles, at one configuration or at a batch.

    Attributes
    ----------
    q : ndarray (..., nq)
        Configurations, rad or m.
    distance : ndarray (..., P)
        Distance of each pair, m; 0 where they meet.
    pairs : tuple of (str, str)
        Names of the two things of each pair.
    points : ndarray (..., P, 2, 2)
        The witness points: on each of the two that nearest to the other, world axes, m; where they meet, a point of both.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper")])
    >>> arm.clearance([[0.0], [1.5]], {"wall": [(1.25, -1), (2, -1), (2, 1), (1.25, 1)]}).least.round(3).tolist()
    [0.25, 1.129]
    """

    q: FloatArray
    distance: FloatArray
    pairs: tuple[tuple[str, str], ...]
    points: FloatArray


def clearance(
    mechanism: PlanarTree, configurations: Any, obstacles: Obstacles = (), *, pairs: Iterable[Any] | None = None
) -> PlanarClearance:
    """Distances of all pairs that are checked, with nearest points.

    Parameters
    ----------
    mechanism, configurations, obstacles, pairs
        As for `collides`.

    Returns
    -------
    PlanarClearance

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
    >>> result = clearance(arm, [0.0, 0.0], {"wall": wall})
    >>> result.distance.tolist(), result.pairs, result.points[1, :, 0].tolist()
    ([1.25, 0.25], (('upper', 'wall'), ('lower', 'wall')), [2.0, 2.25])
    """
    check = Check.of(mechanism, obstacles, pairs)
    (q, batch), shapely = check.read(configurations), library()
    distance = np.full((len(q), len(check.pairs)), np.inf)
    points = np.full((len(q), len(check.pairs), 2, 2), np.nan)
    for part, k, polygon, other in check.polygons(q):
        near = np.flatnonzero(gap(polygon, other) <= distance[part, k])
        both = polygon.at(near), other.at(near)
        lengths = shapely.distance(*both)
        ends = shapely.get_coordinates(shapely.shortest_line(*both)).reshape(-1, 2, 2)
        rows = near + part.start
        closer = lengths < distance[rows, k]
        distance[rows[closer], k], points[rows[closer], k] = lengths[closer], ends[closer]
    shape = (*batch, len(check.pairs))
    return PlanarClearance(
        q.reshape(*batch, -1), distance.reshape(shape), tuple(check.pair_names), points.reshape(*shape, 2, 2)
    )
