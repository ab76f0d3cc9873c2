"""Closed surfaces of triangles: cylinders, balls, boxes and helices, and several of them as one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray

SIDES = 20
"""Sides of what is drawn for a circle."""

Triangles = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles in space, wound so that their outer side is seen counterclockwise.

    Attributes
    ----------
    vertices : ndarray (v, 3)
        m.
    faces : ndarray (f, 3)
        Indices of their corners.
    """

    vertices: FloatArray
    faces: Triangles

    def placed(self, frame: FloatArray) -> Surface:
        """Return it moved by a frame (4, 4)."""
        return Surface(self.vertices @ frame[:3, :3].T + frame[:3, 3], self.faces)

    def stretched(self, factors: FloatArray) -> Surface:
        """Return it scaled along x, y and z by factors (3,) > 0."""
        return Surface(self.vertices * factors, self.faces)


def merged(surfaces: Iterable[Surface]) -> Surface:
    """Return several surfaces as one."""
    vertices, faces, count = [np.empty((0, 3))], [np.empty((0, 3), dtype=np.uint32)], 0
    for one in surfaces:
        vertices.append(one.vertices)
        faces.append((one.faces + count).astype(np.uint32))
        count += len(one.vertices)
    return Surface(np.concatenate(vertices), np.concatenate(faces))


def tube(rings: FloatArray) -> Surface:
    """Return the closed surface over rings (r, s, 3) of points, each ring counterclockwise about the way along them.

    The ends have vertices of their own, so that shading shows their edges.
    """
    count, sides = rings.shape[:2]
    k, j = np.arange(count - 1)[:, None] * sides, np.arange(sides)[None]
    low, next_low = k + j, k + (j + 1) % sides
    sheet = np.stack((low, next_low, next_low + sides, low, next_low + sides, low + sides), axis=-1).reshape(-1, 3)
    fan = np.stack((np.zeros(sides - 2, dtype=int), np.arange(1, sides - 1), np.arange(2, sides)), axis=-1)
    first = count * sides
    faces = np.concatenate((sheet, fan[:, ::-1] + first, fan + first + sides))
    return Surface(np.concatenate((rings.reshape(-1, 3), rings[0], rings[-1])), faces.astype(np.uint32))


def cylinder(start: FloatArray, end: FloatArray, radius: float) -> Surface:
    """Return a closed cylinder between the centres (3,) of its ends."""
    along = np.asarray(end - start, dtype=float)
    length = float(np.linalg.norm(along))
    turned = rotation_between((0.0, 0.0, 1.0), along / length) if length else np.eye(3)
    circle = _circle(radius) @ turned.T
    return tube(np.array([start + circle, end + circle]))


def ball(centre: FloatArray, radius: float) -> Surface:
    """Return a ball."""
    rings = SIDES // 2
    heights = np.linspace(-0.5 * np.pi, 0.5 * np.pi, rings + 1)
    points = [_circle(radius * math.cos(h)) + np.array([0.0, 0.0, radius * math.sin(h)]) for h in heights]
    made = tube(np.array(points) + centre)
    return Surface(made.vertices, made.faces[: 2 * SIDES * rings])


def capsule(radius: float, length: float) -> Surface:
    """Return a capsule about z with its middle in the origin; the length is that between the centres of its caps."""
    made = ball(np.zeros(3), radius)
    up = np.sign(np.round(made.vertices[:, 2] / radius, 9))
    lifted = made.vertices + np.stack((0 * up, 0 * up, np.where(up >= 0, 0.5, -0.5) * length), axis=1)
    return Surface(lifted, made.faces)


def box(half: FloatArray) -> Surface:
    """Return a box with its middle in the origin, from its half sides (3,); each side has vertices of its own."""
    signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float)
    vertices: list[FloatArray] = []
    faces: list[list[int]] = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            corners = np.empty((4, 3))
            corners[:, axis] = side
            corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = signs if side > 0 else signs[::-1]
            faces += [[4 * len(vertices) + k for k in corner] for corner in ((0, 1, 2), (0, 2, 3))]
            vertices.append(corners * half)
    return Surface(np.concatenate(vertices), np.array(faces, dtype=np.uint32))


def helix(low: float, high: float, radius: float, wire: float, turns: float = 3.0) -> Surface:
    """Return a right-handed helix of wire about z, from one height to another."""
    share = np.linspace(0.0, 1.0, 61)
    angle = 2 * math.pi * turns * share
    out = np.stack((np.cos(angle), np.sin(angle), np.zeros_like(angle)), axis=1)
    centres = radius * out + np.stack((0 * share, 0 * share, low + (high - low) * share), axis=1)
    turn = np.linspace(0.0, 2 * math.pi, 8, endpoint=False)
    up = np.array([0.0, 0.0, 1.0])
    rings = centres[:, None] + wire * (np.cos(turn)[None, :, None] * out[:, None] + np.sin(turn)[None, :, None] * up)
    return tube(rings[:, ::-1])


def _circle(radius: float) -> FloatArray:
    angle = np.linspace(0.0, 2 * math.pi, SIDES, endpoint=False)
    return radius * np.stack((np.cos(angle), np.sin(angle), np.zeros(SIDES)), axis=1)
