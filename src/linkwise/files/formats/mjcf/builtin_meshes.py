"""Meshes of MJCF that are generated: spheres, hemispheres, cones, superspheres and supertori, as MuJoCo documents them.

Each is the mesh itself, not the smooth body that it stands for: mass and moments are those of its triangles.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import Any

import numpy as np

from linkwise.errors import members, shown
from linkwise.files.mesh_file import MeshError
from linkwise.spatial.scalar import FloatArray

#: Vertices (V, 3), and triangles (F, 3) by their indices, turned outwards.
Triangles = tuple[FloatArray, Any]


def builtin_mesh(name: str, params: list[float]) -> Triangles:
    """The vertices (V, 3) and triangles (F, 3) of a generated mesh.

    Raises
    ------
    MeshError
        Naming the kind that is not known here, or the parameters it takes.

    Examples
    --------
    >>> vertices, triangles = builtin_mesh("sphere", [1.0])
    >>> len(vertices), len(triangles)
    (42, 80)
    """
    if name not in BUILTIN:
        raise MeshError(f"what MuJoCo makes of builtin {shown(name)} is not known here (known are {members(list(BUILTIN))})")
    build, ranges = BUILTIN[name]
    within = len(params) == len(ranges) and all(
        least <= value <= most and (not whole or value == int(value))
        for value, (_, least, most, whole) in zip(params, ranges, strict=True)
    )
    if not within:
        expected = ", ".join(f"{quantity} from {least:g} to {most:g}" for quantity, least, most, _ in ranges)
        raise MeshError(f"builtin {name} has params {params}; expected {expected}")
    return build(*(int(value) if whole else value for value, (*_, whole) in zip(params, ranges, strict=True)))


def _sphere(subdivision: int) -> Triangles:
    """Icosahedron on the unit sphere, each triangle repeatedly split into four."""
    golden = (1.0 + np.sqrt(5.0)) / 2.0
    vertices = np.array([np.roll([x, y * golden, 0.0], k) for k in range(3) for x, y in product((-1, 1), repeat=2)])
    near = (vertices @ vertices.T > 0.5) & ~np.eye(12, dtype=bool)
    triangles = np.array([t for t in combinations(range(12), 3) if all(near[i, j] for i, j in combinations(t, 2))])
    inwards = np.linalg.det(vertices[triangles]) < 0.0
    triangles[inwards] = triangles[inwards][:, ::-1]
    single = (vertices / np.linalg.norm(vertices, axis=1, keepdims=True)).astype(np.float32)
    for _ in range(subdivision):  # in single precision, as MuJoCo does
        edges, places = np.unique(np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)), axis=0, return_inverse=True)
        (a, b, c), (ab, bc, ca) = triangles.T, len(single) + places.reshape(-1, 3).T
        middles = single[edges].sum(axis=1)
        single = np.concatenate([single, middles / np.sqrt((middles**2).sum(axis=1, keepdims=True))])
        corners = ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))
        triangles = np.concatenate([np.stack(corner, axis=1) for corner in corners])
    return single.astype(float), triangles


def _hemisphere(resolution: int) -> Triangles:
    """Upper half of an octahedron, its faces split evenly and projected onto the unit sphere, closed by a base fan."""
    n = resolution + 1
    octant = []
    for i, j in product(range(n), repeat=2):
        k = n - i - j
        if k > 0:
            octant.append([(i, j, k), (i + 1, j, k - 1), (i, j + 1, k - 1)])
        if k > 1:
            octant.append([(i + 1, j, k - 1), (i + 1, j + 1, k - 2), (i, j + 1, k - 1)])
    octant += [[(0, 0, 0), (i, n - i, 0), (i + 1, n - i - 1, 0)] for i in range(n)]
    turn = np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]])
    corners = np.concatenate([np.array(octant) @ np.linalg.matrix_power(turn, k) for k in range(4)])
    points, places = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    return points / np.maximum(lengths, 1.0), places.reshape(-1, 3)


def _cone(sides: int, radius: float) -> Triangles:
    """The hull of a regular polygon at z = -1 and a smaller one, or its point, at z = 1."""
    angles = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.stack([np.cos(angles), np.sin(angles), -np.ones(sides)], axis=1)
    top = ring * (radius, radius, -1.0) if radius > 0.0 else np.array([[0.0, 0.0, 1.0]])
    k, following = np.arange(sides), np.roll(np.arange(sides), -1)
    base = np.stack([np.zeros(sides - 2, int), k[2:], k[1:-1]], axis=1)
    if radius == 0.0:
        return np.concatenate([ring, top]), np.concatenate([base, np.stack([k, following, np.full(sides, sides)], axis=1)])
    sides_of = [np.stack([k, following, following + sides], axis=1), np.stack([k, following + sides, k + sides], axis=1)]
    return np.concatenate([ring, top]), np.concatenate([base, base[:, ::-1] + sides, *sides_of])


def _power(value: FloatArray, exponent: float) -> FloatArray:
    return np.asarray(np.sign(value) * np.abs(value) ** exponent)


def _quads(a: Any, b: Any, c: Any, d: Any) -> list[Any]:
    """Split each quadrilateral of a grid along its diagonal b c into two triangles."""
    return [np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (b, d, c))]


def _supersphere(resolution: int, east: float, north: float) -> Triangles:
    """A superellipsoid of half axes 1: rings of as many points as there are steps from pole to pole."""
    latitude = (-np.pi / 2.0 + np.pi * np.arange(1, resolution) / resolution)[:, None]
    longitude = -np.pi + 2.0 * np.pi * np.arange(resolution) / resolution
    around = _power(np.cos(latitude), north)
    x, y = around * _power(np.cos(longitude), east), around * _power(np.sin(longitude), east)
    rings = np.stack(np.broadcast_arrays(x, y, _power(np.sin(latitude), north)), axis=-1).reshape(-1, 3)
    vertices = np.concatenate([[[0.0, 0.0, -1.0]], rings, [[0.0, 0.0, 1.0]]])
    grid = 1 + np.arange(len(rings)).reshape(-1, resolution)
    beside = np.roll(grid, -1, axis=1)
    south, pole = np.zeros(resolution, int), np.full(resolution, len(vertices) - 1)
    ends = [np.stack([south, beside[0], grid[0]], axis=1), np.stack([grid[-1], beside[-1], pole], axis=1)]
    return vertices, np.concatenate([*ends, *_quads(grid[:-1], beside[:-1], grid[1:], beside[1:])])


def _supertorus(resolution: int, radius: float, minor: float, major: float) -> Triangles:
    """A supertoroid about z of the major radius 1."""
    angles = 2.0 * np.pi * np.arange(resolution) / resolution
    section = 1.0 + radius * _power(np.cos(angles), minor)
    x, y = (np.outer(_power(turn, major), section) for turn in (np.cos(angles), np.sin(angles)))
    z = radius * _power(np.sin(angles), minor)
    grid = np.arange(resolution**2).reshape(resolution, resolution)
    beside, above = np.roll(grid, -1, axis=0), np.roll(grid, -1, axis=1)
    vertices = np.stack(np.broadcast_arrays(x, y, z), axis=-1).reshape(-1, 3)
    return vertices, np.concatenate(_quads(grid, beside, above, np.roll(beside, -1, axis=1)))


#: Function and parameters of each mesh: name, least, greatest, and whether it is an integer.
BUILTIN: dict[str, tuple[Callable[..., Triangles], tuple[tuple[str, float, float, bool], ...]]] = {
    "sphere": (_sphere, (("subdivision", 0, 4, True),)),
    "hemisphere": (_hemisphere, (("resolution", 0, 10, True),)),
    "cone": (_cone, (("nvert", 3, 10**4, True), ("radius", 0, 1, False))),
    "supersphere": (_supersphere, (("resolution", 3, 10**3, True), ("e", 0, np.inf, False), ("n", 0, np.inf, False))),
    "supertorus": (
        _supertorus,
        (("resolution", 3, 10**3, True), ("radius", 1e-9, 1, False), ("s", 1e-9, np.inf, False), ("t", 1e-9, np.inf, False)),
    ),
}
