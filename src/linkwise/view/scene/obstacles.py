"""Obstacles and collision shapes as primitives of the scene, and the nearest points of the nearest pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from linkwise.clearance.clearance import clearance
from linkwise.clearance.fitting import hull_vertices
from linkwise.clearance.shapes import Obstacles, obstacle_set
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree
from linkwise.solve.constraints import Clear
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse
from linkwise.view.scene.scene import Colour, Primitive, link_colour, rgb

#: Default colour of obstacles.
PLAIN = "#b9a078"

#: Pairs whose nearest points are shown.
NEAREST = 3


def obstacle_primitives(base: FloatArray, obstacles: Obstacles) -> tuple[Primitive, ...]:
    """Primitives of obstacles, carried by the base at the pose (4, 4); the bounding box of a mesh."""
    to_base = inverse(np.asarray(base, dtype=float))
    return tuple(_primitive(shape, -1, to_base, rgb(PLAIN), "obstacle") for shape in obstacle_set(obstacles).shapes)


def collision_primitives(tree: Tree) -> tuple[Primitive, ...]:
    """Primitives of the collision shapes of a mechanism; of a mesh the box about it."""
    links = [(-1 if s.link == "base" else tree.link_index(s.link), s) for s in tree.shapes if s.role == "collision"]
    return tuple(_primitive(shape, link, np.eye(4), link_colour(link), "collision") for link, shape in links)


def _primitive(shape: Shape, link: int, pose: FloatArray, plain: Colour, role: str) -> Primitive:
    kind, size, frame = shape.kind, shape.size, np.asarray(pose @ shape.origin)
    if kind == "mesh":
        points = hull_vertices(shape)
        low, high = points.min(axis=0), points.max(axis=0)
        frame[:3, 3] += frame[:3, :3] @ (0.5 * (low + high))
        kind, size = "box", tuple((high - low).tolist())
    red, green, blue, opacity = (*plain, 1.0) if shape.colour is None else shape.colour
    return Primitive(link, kind, role, size, frame, (red, green, blue), link, None, opacity)


class NearestPoints(NamedTuple):
    """Nearest points of pairs for painters, in ascending order of distance.

    Attributes
    ----------
    points : ndarray (m, 2, 2) or (m, 2, 3)
        World axes, m.
    distances : ndarray (m,)
        m.
    pairs : tuple of (str, str)
        Names (m).
    """

    points: FloatArray
    distances: FloatArray
    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, points: FloatArray, distances: FloatArray, pairs: Sequence[tuple[str, str]]) -> NearestPoints:
        """Nearest points of all pairs at one configuration, in space or in the plane."""
        order = np.argsort(distances)[:NEAREST]
        return cls(points[order], distances[order], tuple(pairs[k] for k in order))

    @classmethod
    def at(cls, tree: Tree, q: FloatArray, clear: Clear) -> NearestPoints:
        """Nearest points of the pairs of a constraint, at q (nq,); none without collision shapes."""
        if not any(shape.role == "collision" for shape in tree.shapes):
            return cls(np.empty((0, 2, 3)), np.empty(0), ())
        result = clearance(tree, q, clear.obstacles, disabled=clear.disabled, seed=clear.seed)
        return cls.of(result.points, result.distance, result.pairs)
