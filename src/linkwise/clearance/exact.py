"""Distances of the shapes themselves, one pair after the other, by the library coal."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.clearance.fitting import directions, hull_vertices
from linkwise.clearance.kernels import frames_at
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes
from linkwise.extras import optional
from linkwise.model.shape import Shape
from linkwise.spatial.scalar import FloatArray

#: Tolerance of coal's iterations, m: of distances, and of depths of overlapping shapes.
TOLERANCE, DEPTH_TOLERANCE = 1e-12, 1e-8

#: By how much a distance may differ from that along its own direction, m: at once, and where it is the best of several.
CERTAIN, AGREED = 1e-9, 1e-6

#: Directions in which the iterations begin: from one and not another they may stop at a depth that is not the least.
GUESSES, START = np.concatenate([np.eye(3), -np.eye(3)]), np.zeros(2, dtype=np.int32)

#: Directions in which a greater distance is looked for, and about how many of the best it is looked at how much closer.
DIRECTIONS, BEST, WIDTHS = 512, 16, 0.1 * 0.3 ** np.arange(14)

#: Signed distance, witness points (2, 3), and the unit vector from the first body to the second.
Measure = tuple[float, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class ConvexBody:
    """A convex body in the world: its geometry and poses in coal, its support function, and the poses (..., 4, 4)."""

    geometry: Any
    poses: Any
    support: Callable[[FloatArray], FloatArray]
    T: FloatArray

    def at(self, place: int) -> ConvexBody:
        """The body at one of its poses."""
        return ConvexBody(self.geometry, self.poses[place], self.support, self.T[place])

    def farthest(self, u: FloatArray) -> FloatArray:
        """Points (..., 3) that lie farthest along directions (..., 3)."""
        R = self.T[..., :3, :3]
        return np.asarray((R @ self.support((u[..., None, :] @ R)[..., 0, :])[..., None])[..., 0] + self.T[..., :3, 3])


def exact_pairs(shapes: CollisionShapes, obstacles: CapsuleSet, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signed distances (..., P), witness points (..., P, 2, 3) and unit vectors (..., P, 3), as `Clearance` has them."""
    coal = optional("coal", "exact distances need coal", "collision")
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.epa_tolerance = TOLERANCE, DEPTH_TOLERANCE
    request.gjk_initial_guess = coal.GJKInitialGuess.CachedGuess

    def measure(first: ConvexBody, second: ConvexBody, guess: FloatArray) -> Measure:
        request.cached_gjk_guess, request.cached_support_func_guess = guess, START  # (coal writes into them)
        result.clear()
        value = coal.distance(first.geometry, first.poses, second.geometry, second.poses, request, result)
        return value, np.array([result.getNearestPoint1(), result.getNearestPoint2()]), np.array(result.normal)

    frames = frames_at(shapes.tree, q).reshape(-1, len(shapes.tree.links) + 1, 4, 4)
    placed = [(shape, frames[:, link] @ shape.origin) for shape, link in zip(shapes.own.shapes, shapes.links, strict=True)]
    placed += [(shape, np.broadcast_to(shape.origin, (len(frames), 4, 4))) for shape in obstacles.shapes]
    bodies = [ConvexBody(_geometry(coal, shape), [_pose(coal, x) for x in T], _support(shape), T) for shape, T in placed]
    pairs = shapes.each_pair(bodies[: len(shapes.links)], bodies[len(shapes.links) :])
    shape = len(frames), len(pairs)
    distance, points, normals = np.empty(shape), np.empty((*shape, 2, 3)), np.empty((*shape, 3))
    for k, (first, second) in enumerate(pairs):
        for row in range(len(frames)):
            distance[row, k], points[row, k], normals[row, k] = measure(first.at(row), second.at(row), GUESSES[0])
        difference = np.abs(_apart(first, second, normals[:, k]) - distance[:, k])
        for row in np.flatnonzero(~((distance[:, k] > 0.0) & (difference <= CERTAIN))).tolist():
            distance[row, k], points[row, k], normals[row, k] = _certain(measure, first.at(row), second.at(row))
    batch = q.shape[:-1]
    return tuple(part.reshape(*batch, *part.shape[1:]) for part in (distance, points, normals))  # type: ignore[return-value]


def _certain(
    measure: Callable[[ConvexBody, ConvexBody, FloatArray], Measure], first: ConvexBody, second: ConvexBody
) -> Measure:
    """Signed distance of two convex bodies, held against that along its own direction.

    It is the greatest over all directions of how far the bodies lie apart along one (S. Cameron, R. Culley, "Determining the
    minimum translational distance between two convex polyhedra", ICRA 1986): of coal's results from several guesses the
    greatest is taken. Where another direction has more, or none agrees (of concentric bodies of revolution), the direction
    is searched for, and the points are about there.
    """
    best, most = None, -np.inf
    for guess in GUESSES:
        result = measure(first, second, guess)
        apart = float(_apart(first, second, result[2]))
        if apart > most and abs(apart - result[0]) <= AGREED:
            best, most = result, apart
    u = directions(DIRECTIONS)
    if best is not None and _apart(first, second, u).max() <= most:
        return best
    for width in WIDTHS:
        u = u[np.argsort(_apart(first, second, u))[-BEST:]]
        u = np.concatenate([u, (u[:, None] + width * directions(BEST)).reshape(-1, 3)])
        u /= np.linalg.norm(u, axis=1, keepdims=True)
    normal = u[_apart(first, second, u).argmax()]
    normal = np.where(np.abs(normal) < WIDTHS[-1], 0.0, normal)
    points = np.stack([first.farthest(normal), second.farthest(-normal)])
    between = float(normal @ (points[1] - points[0]))
    return between, points.mean(axis=0) + np.outer([-0.5, 0.5], between * normal), normal


def _apart(first: ConvexBody, second: ConvexBody, u: FloatArray) -> FloatArray:
    """How far (...,) two bodies lie apart along directions (..., 3), m."""
    return np.asarray(((second.farthest(-u) - first.farthest(u)) * u).sum(axis=-1))


def _pose(coal: Any, T: FloatArray) -> Any:
    """What coal calls a pose (4, 4)."""
    return coal.Transform3s(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


def _geometry(coal: Any, shape: Shape) -> Any:
    """Shape in coal's classes; a sphere is a capsule, for the depth of spheres in cylinders is wrong in coal 3.0.3."""
    if shape.kind == "sphere":
        return coal.Capsule(shape.size[0], 0.0)
    if shape.kind != "mesh":
        name = {"box": "Box", "cylinder": "Cylinder", "capsule": "Capsule", "ellipsoid": "Ellipsoid"}
        return getattr(coal, name[shape.kind])(*shape.size)
    points = coal.StdVec_Vec3s()
    for vertex in hull_vertices(shape):
        points.append(vertex)
    return coal.ConvexBase.convexHull(points, True, "")


def _support(shape: Shape) -> Callable[[FloatArray], FloatArray]:
    """What gives the points (..., 3) of a shape that lie farthest along directions (..., 3), from its own origin, m."""
    if shape.kind == "mesh":
        vertices = hull_vertices(shape)
        return lambda u: vertices[(u @ vertices.T).argmax(axis=-1)]
    size: FloatArray = np.array(shape.size)
    if shape.kind == "box":
        return lambda u: 0.5 * size * np.sign(u)
    if shape.kind == "ellipsoid":
        return lambda u: size**2 * u / _length(size * u)
    length = 0.0 if shape.kind == "sphere" else size[1]
    round_axes = np.array([1.0, 1.0, shape.kind != "cylinder"])
    return lambda u: size[0] * round_axes * u / _length(round_axes * u) + 0.5 * length * np.sign(u) * [0.0, 0.0, 1.0]


def _length(vectors: FloatArray) -> FloatArray:
    """Lengths (..., 1) of vectors; 1 of zero ones."""
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.where(length > 0.0, length, 1.0)
