"""Closed surfaces of flat faces: cylinders, balls, boxes, capsules and helices about z, with the middle in the origin."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray

#: Sides of a drawn circle; always an even number.
SIDES = 20

Faces = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Surface:
    """Faces in space, wound so that their outer side is seen counterclockwise.

    Attributes
    ----------
    vertices : ndarray (v, 3)
        m.
    faces : ndarray (f, 4) or (f, 3)
        Indices of their corners.
    """

    vertices: FloatArray
    faces: Faces

    @property
    def triangles(self) -> Faces:
        """The faces as triangles (t, 3)."""
        return self.faces if self.faces.shape[1] == 3 else np.concatenate((self.faces[:, :3], self.faces[:, [0, 2, 3]]))

    def placed(self, frame: FloatArray) -> Surface:
        """Return it moved by a frame (4, 4)."""
        return Surface(self.vertices @ frame[:3, :3].T + frame[:3, 3], self.faces)

    def stretched(self, factors: FloatArray) -> Surface:
        """Return it scaled along x, y and z by factors (3,), its outer side still outside where some mirror it."""
        mirrored = float(np.prod(factors)) < 0
        return Surface(self.vertices * factors, self.faces[:, ::-1] if mirrored else self.faces)


def merged(surfaces: Iterable[Surface]) -> Surface:
    """Return several surfaces of faces of one kind as one."""
    parts = list(surfaces)
    if not parts:
        return Surface(np.empty((0, 3)), np.empty((0, 4), dtype=np.uint32))
    first = np.cumsum([0, *(len(part.vertices) for part in parts)])
    faces = [part.faces + start for part, start in zip(parts, first, strict=False)]
    return Surface(np.concatenate([part.vertices for part in parts]), np.concatenate(faces).astype(np.uint32))


def tube(rings: FloatArray, *, closed: bool = True) -> Surface:
    """Return the surface over rings (r, s, 3) of points, s even, each ring counterclockwise about the path.

    The discs that close its ends have vertices of their own, so that shading shows their edges.
    """
    count, sides = rings.shape[:2]
    k, j = np.arange(count - 1)[:, None] * sides, np.arange(sides)[None]
    low, after = k + j, k + (j + 1) % sides
    faces = [np.stack((low, after, after + sides, low + sides), axis=-1).reshape(-1, 4)]
    vertices = [rings.reshape(-1, 3)]
    for ring in (rings[0, ::-1], rings[-1]) if closed else ():
        first, even = sum(map(len, vertices)), np.arange(0, sides, 2)
        sector = (np.zeros_like(even), 1 + even, 2 + even, 1 + (even + 2) % sides)
        faces.append(first + np.stack(sector, axis=1))
        vertices += [ring.mean(axis=0)[None], ring]
    return Surface(np.concatenate(vertices), np.concatenate(faces).astype(np.uint32))


def cylinder(radius: float, length: float, *, sides: int = SIDES, cuts: int = 1) -> Surface:
    """Return a cylinder, its side cut across into so many pieces."""
    return tube(_raised(_circle(radius, sides)[None], np.linspace(-0.5 * length, 0.5 * length, cuts + 1)[:, None]))


def rod(radius: float, *, sides: int = SIDES, cuts: int = 1) -> Surface:
    """Return a cylinder 1 m long that begins in the origin."""
    surface = cylinder(radius, 1.0, sides=sides, cuts=cuts)
    return Surface(_raised(surface.vertices, 0.5), surface.faces)


def ball(radius: float, *, sides: int = SIDES) -> Surface:
    """Return a ball, cut along circles of latitude."""
    latitudes = np.linspace(-0.5 * np.pi, 0.5 * np.pi, sides // 2 + 1)[:, None]
    return tube(_raised(np.cos(latitudes)[..., None] * _circle(radius, sides), radius * np.sin(latitudes)), closed=False)


def capsule(radius: float, length: float, *, sides: int = SIDES) -> Surface:
    """Return a capsule; the length is that between the centres of its caps."""
    surface = ball(radius, sides=sides)
    up = np.where(np.round(surface.vertices[:, 2] / radius, 9) >= 0, 0.5, -0.5)
    return Surface(_raised(surface.vertices, up * length), surface.faces)


def box(x: float, y: float, z: float) -> Surface:
    """Return a box from its edges; each side has separate vertices."""
    square = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
    corners = np.empty((6, 4, 3))
    for side in range(6):
        axis, sign = side // 2, 1.0 if side % 2 else -1.0
        corners[side, :, axis] = sign
        corners[side][:, [(axis + 1) % 3, (axis + 2) % 3]] = square[:: int(sign)]
    return Surface(corners.reshape(-1, 3) * (0.5 * np.array([x, y, z])), np.arange(24, dtype=np.uint32).reshape(6, 4))


def helix_line(radius: float, length: float, turns: float = 3.0) -> FloatArray:
    """Return points (61, 3) of a right-handed helix."""
    share = np.linspace(0.0, 1.0, 61)
    angle = 2 * math.pi * turns * share
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), length * (share - 0.5)), axis=1)


def helix(radius: float, length: float, wire: float) -> Surface:
    """Return a right-handed helix of wire."""
    centres = helix_line(radius, length)
    out = centres * (1.0 / radius, 1.0 / radius, 0.0)
    turn = np.linspace(0.0, 2 * math.pi, 8, endpoint=False)[None, :, None]
    rings = centres[:, None] + wire * (np.cos(turn) * out[:, None] + np.sin(turn) * np.array([0.0, 0.0, 1.0]))
    return tube(rings[:, ::-1])


#: The surface of each kind of primitive, from its size.
SURFACES: dict[str, Callable[..., Surface]] = {
    "box": box,
    "capsule": capsule,
    "cylinder": cylinder,
    "ellipsoid": lambda x, y, z: ball(1.0).stretched(np.array([x, y, z])),
    "helix": helix,
    "sphere": ball,
}


@lru_cache
def surface_of(kind: str, size: tuple[float, ...], **options: Any) -> Surface:
    """Return the surface of a kind of a size; those of equal primitives are one."""
    return SURFACES[kind](*size, **options)


def _circle(radius: float, sides: int) -> FloatArray:
    return radius * _unit_circle(sides)


@cache
def _unit_circle(sides: int) -> FloatArray:
    angle = np.linspace(0.0, 2 * math.pi, sides, endpoint=False)
    return np.stack((np.cos(angle), np.sin(angle), np.zeros(sides)), axis=1)


def _raised(points: FloatArray, heights: Any) -> FloatArray:
    """Points (..., 3) moved along z."""
    return np.asarray(points + np.asarray(heights)[..., None] * np.array([0.0, 0.0, 1.0]))
