"""Distances of the shapes themselves, one pair after the other, by the library coal."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.clearance.fitting import hull_vertices
from linkwise.clearance.kernels import frames_at
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes
from linkwise.extras import optional
from linkwise.model.shape import Shape
from linkwise.spatial.scalar import FloatArray

#: Tolerance of coal's iterations, m: of distances, and of depths of overlapping shapes.
TOLERANCE, DEPTH_TOLERANCE = 1e-12, 1e-8


def exact_pairs(shapes: CollisionShapes, obstacles: CapsuleSet, q: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Signed distances (..., P), witness points (..., P, 2, 3) and unit vectors (..., P, 3), as `Clearance` has them."""
    coal = optional("coal", "exact distances need coal", "collision")
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.epa_tolerance = TOLERANCE, DEPTH_TOLERANCE
    bodies = [_geometry(coal, shape) for shape in shapes.own.shapes]
    others = [(_geometry(coal, shape), _pose(coal, shape.origin)) for shape in obstacles.shapes]
    frames = frames_at(shapes.tree, q)
    batch, count = q.shape[:-1], len(shapes.pairs) + len(shapes.moving) * len(others)
    distance, points, normals = np.empty((*batch, count)), np.empty((*batch, count, 2, 3)), np.empty((*batch, count, 3))
    for place in np.ndindex(*batch):
        placed = [
            (body, _pose(coal, frames[place][link] @ shape.origin))
            for body, link, shape in zip(bodies, shapes.links, shapes.own.shapes, strict=True)
        ]
        for k, (first, second) in enumerate(shapes.each_pair(placed, others)):
            result.clear()
            distance[(*place, k)] = coal.distance(*first, *second, request, result)
            points[(*place, k)] = result.getNearestPoint1(), result.getNearestPoint2()
            normals[(*place, k)] = result.normal
    return distance, points, normals


def _pose(coal: Any, T: FloatArray) -> Any:
    return coal.Transform3s(np.ascontiguousarray(T[:3, :3]), np.ascontiguousarray(T[:3, 3]))


def _geometry(coal: Any, shape: Shape) -> Any:
    """Shape in coal's classes."""
    if shape.kind != "mesh":
        name = {"box": "Box", "sphere": "Sphere", "cylinder": "Cylinder", "capsule": "Capsule", "ellipsoid": "Ellipsoid"}
        return getattr(coal, name[shape.kind])(*shape.size)
    points = coal.StdVec_Vec3s()
    for vertex in hull_vertices(shape):
        points.append(vertex)
    return coal.ConvexBase.convexHull(points, True, "")
