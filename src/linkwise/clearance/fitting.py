"""Spheres and capsules that contain shapes, each with its excess over the shape."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.shape import Shape
from linkwise.spatial.scalar import FloatArray

#: A flat box is cut into as many capsules side by side at most.
MOST_STRIPS = 8

#: Relative enlargement of a fitted radius against rounding, so that no vertex is outside.
ROUNDING = 1e-14

#: Directions in which the reach of a capsule beyond a mesh is measured, and axes that are tried for it.
DIRECTIONS, AXES = 2048, 64

#: The directions about which it is looked at more closely.
BEST = 32


@dataclass(frozen=True)
class Capsule:
    """All points within a radius of a segment; a sphere if the segment is a point.

    Attributes
    ----------
    start, end : ndarray (3,)
        Ends of the segment, in the frame of the link, m.
    radius : float
        m.
    excess : float
        How far it reaches beyond the shape for which it stands, m: 0 for spheres and capsules. So much less than the
        distance of the shape a distance of the capsule is at most.

    Examples
    --------
    >>> from linkwise import Shape
    >>> capsule = fit_capsules(Shape("arm", "sphere", 0.2))[0]
    >>> capsule.is_sphere, capsule.radius, capsule.excess
    (True, 0.2, 0.0)
    """

    start: FloatArray
    end: FloatArray
    radius: float
    excess: float

    @property
    def is_sphere(self) -> bool:
        """True if the segment is a point."""
        return bool((self.start == self.end).all())


def fit_capsules(shape: Shape) -> tuple[Capsule, ...]:
    """Capsules that together contain a shape: one, or for a flat box several side by side.

    Parameters
    ----------
    shape : Shape
        Any; of a mesh its convex hull is contained.

    Returns
    -------
    tuple of Capsule
        In the frame of the link.

    Notes
    -----
    The distance by which a convex body A reaches beyond a convex body B is the greatest difference of their support
    functions over all directions (R. Schneider, *Convex Bodies: The Brunn-Minkowski Theory*, section 1.8). It is in closed
    form for boxes and cylinders, and sampled over directions for ellipsoids and meshes.

    Examples
    --------
    >>> from linkwise import Shape
    >>> rod = fit_capsules(Shape("arm", "cylinder", (0.05, 0.4)))[0]
    >>> rod.end.round(3).tolist(), round(rod.radius, 4), round(rod.excess, 4)
    ([0.0, 0.0, 0.15], 0.0707, 0.0207)
    """
    rotation, position = shape.origin[:3, :3], shape.origin[:3, 3]
    return tuple(
        Capsule(rotation @ part.start + position, rotation @ part.end + position, part.radius, part.excess)
        for part in _FITS[shape.kind](shape)
    )


def _along(axis: int, half: float, radius: float, excess: float, center: FloatArray | None = None) -> Capsule:
    tip = np.zeros(3)
    tip[axis] = max(half, 0.0)
    middle = np.zeros(3) if center is None else center
    return Capsule(middle - tip, middle + tip, radius * (1.0 + ROUNDING), max(excess, 0.0))


def _sphere(shape: Shape) -> Iterator[Capsule]:
    yield Capsule(np.zeros(3), np.zeros(3), shape.size[0], 0.0)


def _capsule(shape: Shape) -> Iterator[Capsule]:
    radius, length = shape.size
    tip = np.array([0.0, 0.0, 0.5 * length])
    yield Capsule(-tip, tip, radius, 0.0)


def _cylinder(shape: Shape) -> Iterator[Capsule]:
    """The segment is shortened by the radius, so that the excess at the side equals that at the ends."""
    radius, length = shape.size
    back = min(radius, 0.5 * length)
    enclosing = math.hypot(radius, back)
    yield _along(2, 0.5 * length - back, enclosing, enclosing - back)


def _box(shape: Shape) -> Iterator[Capsule]:
    """Strips of the longest edge, as many over the middle edge as make them about as wide as they are thick."""
    size = np.array(shape.size)
    thin, middle, long = (int(k) for k in np.argsort(size, kind="stable"))
    thickness = max(float(size[thin]), float(size[middle]) / MOST_STRIPS)
    strips = min(MOST_STRIPS, max(1, math.ceil(float(size[middle]) / thickness - 1e-9))) if thickness else 1
    width = 0.5 * float(size[middle]) / strips
    half = 0.5 * float(size[thin])
    back = min(half, 0.5 * float(size[long]))
    enclosing = math.hypot(width, half, back)
    for k in range(strips):
        center = np.zeros(3)
        center[middle] = (2 * k + 1 - strips) * width
        yield _along(long, 0.5 * float(size[long]) - back, enclosing, enclosing - min(back, width, half), center)


def _ellipsoid(shape: Shape) -> Iterator[Capsule]:
    """The segment of the longest half axis, less the middle one: the circle of its end encloses the tip of the ellipse."""
    size = np.array(shape.size)
    thin, middle, long = (int(k) for k in np.argsort(size, kind="stable"))
    a, b, c = (float(size[k]) for k in (long, middle, thin))
    s = np.linspace(0.0, 1.0, DIRECTIONS + 1)
    excess = (a - b) * s + b - np.sqrt(a * a * s * s + c * c * (1.0 - s * s))
    yield _along(long, a - b, b, float(excess.max()))


def _mesh(shape: Shape) -> Iterator[Capsule]:
    yield enclosing_capsule(hull_vertices(shape))


_FITS = {
    "sphere": _sphere,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "box": _box,
    "ellipsoid": _ellipsoid,
    "mesh": _mesh,
}


def enclosing_capsule(points: FloatArray) -> Capsule:
    """A small capsule that contains points (N, 3): the least volume over a set of axes; the excess is that over their hull.

    Examples
    --------
    >>> corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 0.1) for z in (0, 0.1)], float)
    >>> capsule = enclosing_capsule(corners)
    >>> round(capsule.radius, 3), (capsule.start[1:] + capsule.end[1:]).round(3).tolist()
    (0.071, [0.1, 0.1])
    """
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    scale = float(np.abs(points - middle).max()) or 1.0
    centred = (points - middle) / scale
    axes = np.concatenate([np.linalg.svd(centred, full_matrices=False)[2], np.eye(3), directions(AXES)])
    _, start, end, radius = min((_around(centred, axis) for axis in axes), key=lambda fit: fit[0])
    radius = radius * (1.0 + 1e-12)
    reach = _reach(directions(DIRECTIONS), centred, start, end, radius)
    return Capsule(start * scale + middle, end * scale + middle, radius * scale, max(reach, 0.0) * scale)


def _reach(u: FloatArray, points: FloatArray, start: FloatArray, end: FloatArray, radius: float) -> float:
    """Excess of a capsule over the hull of points: the greatest over directions (N, 3), refined iteratively."""
    for width in (0.04, 0.01, 0.0025, 0.0):
        reach = np.maximum(u @ start, u @ end) + radius - (u @ points.T).max(axis=1)
        best = u[np.argsort(reach)[-BEST:]]
        u = (best[:, None] + width * directions(BEST)).reshape(-1, 3)
        u = u / np.linalg.norm(u, axis=1, keepdims=True)
    return float(reach.max())


def _around(points: FloatArray, axis: FloatArray) -> tuple[float, FloatArray, FloatArray, float]:
    """Volume, ends and radius of a capsule about points along an axis; a sphere where the segment would turn round."""
    along = points @ axis
    flat = points - along[:, None] * axis
    center = _circle_center(flat)
    center = center - (center @ axis) * axis  # (into the plane of the flat points: the middle of a box need not lie there)
    square = ((flat - center) ** 2).sum(axis=1)
    radius = math.sqrt(float(square.max())) or 1e-9
    best = (math.inf, center, center, 0.0)
    for wide in (1.0, 1.03, 1.1, 1.25):
        r = wide * radius
        back = np.sqrt(np.maximum(r * r - square, 0.0))
        low, high = float((along + back).min()), float((along - back).max())
        if low > high:  # (a sphere about the middle of the two)
            low = high = 0.5 * (along.min() + along.max())
            r = math.sqrt(float((square + (along - low) ** 2).max()))
        volume = math.pi * r * r * (high - low + 4.0 / 3.0 * r)
        if volume < best[0]:
            best = (volume, center + low * axis, center + high * axis, r)
    return best


def _circle_center(points: FloatArray) -> FloatArray:
    """The centre of about the least ball about points (M. Badoiu, K. Clarkson 2003)."""
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    center = middle
    for k in range(1, 60):
        center = center + (points[int(((points - center) ** 2).sum(axis=1).argmax())] - center) / (k + 1)
    return min((middle, center), key=lambda place: float(((points - place) ** 2).sum(axis=1).max()))


@cache
def directions(count: int) -> FloatArray:
    """Unit vectors (count, 3), evenly over the sphere: a Fibonacci lattice."""
    k = np.arange(count) + 0.5
    z, turn = 1.0 - 2.0 * k / count, math.pi * (1.0 + math.sqrt(5.0)) * k
    flat = np.sqrt(1.0 - z * z)
    return np.stack([flat * np.cos(turn), flat * np.sin(turn), z], axis=1)


def hull_vertices(shape: Shape) -> FloatArray:
    """Vertices (N, 3) of a mesh, in the frame of the shape, m.

    Raises
    ------
    ArgumentError
        Where they are not known, or cannot be read.
    """
    if shape.vertices is None:
        message = f"the mesh {shape.filename!r} of link {shape.link!r} has no vertices"
        raise ArgumentError(f"{message}; expected a mechanism read by load(path), or Shape(vertices=)")
    points = shape.vertices() if callable(shape.vertices) else shape.vertices
    return np.asarray(np.asarray(points) * np.array(shape.size))
