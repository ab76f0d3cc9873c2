"""Solids for the picture of a mechanism: rods, cylinders, boxes, balls and helices as shaded polygons in space."""

from __future__ import annotations

import math

import numpy as np

from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray

SIDES = 20
"""Sides of what is drawn for a circle."""

LIGHT = np.array([0.35, -0.55, 0.76])
"""Where the light comes from."""

SQUARE = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])


class Solids:
    """Polygons with their colours, gathered so that all of them are drawn together, the far ones first.

    Parameters
    ----------
    sides : int
        Sides of what is drawn for a circle, an even number.

    Attributes
    ----------
    strength : float
        What is added next has its colour at 1, is white at 0.
    """

    def __init__(self, sides: int = SIDES) -> None:
        self.sides = sides
        self.strength = 1.0
        self._faces: list[FloatArray] = []
        self._colours: list[FloatArray] = []

    @property
    def faces(self) -> FloatArray:
        """Corners of all polygons (m, 4, 3)."""
        return np.concatenate(self._faces) if self._faces else np.empty((0, 4, 3))

    @property
    def colours(self) -> FloatArray:
        """Their colours (m, 3), lit by the way they face."""
        return np.concatenate(self._colours) if self._colours else np.empty((0, 3))

    def add(self, faces: FloatArray, colour: FloatArray) -> None:
        """Add polygons (m, 4, 3) of one colour (3,)."""
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        lengths = np.linalg.norm(normals, axis=1) * float(np.linalg.norm(LIGHT))
        lit = np.divide(normals @ LIGHT, lengths, out=np.zeros(len(faces)), where=lengths > 0)
        self._faces.append(faces)
        shaded = np.clip(colour * (0.78 + 0.3 * lit)[:, None], 0.0, 1.0)
        self._colours.append(1.0 - self.strength * (1.0 - shaded))

    def cylinder(self, start: FloatArray, end: FloatArray, radius: float, colour: FloatArray) -> None:
        """Add a closed cylinder between the centres of its ends, cut into short pieces so that depth sorts well."""
        length = float(np.linalg.norm(end - start))
        if length == 0:
            return
        circle = _circle(radius, self.sides) @ rotation_between((0.0, 0.0, 1.0), (end - start) / length).T
        cuts = np.linspace(start, end, 1 + max(1, math.ceil(length / (2.5 * radius))))
        rings = cuts[:, None, :] + circle
        self._side(rings, colour)
        self._disc(cuts[0], rings[0][::-1], colour)
        self._disc(cuts[-1], rings[-1], colour)

    def ball(self, centre: FloatArray, radius: float, colour: FloatArray) -> None:
        """Add a ball, cut along circles of latitude."""
        height = np.linspace(-0.5 * np.pi, 0.5 * np.pi, self.sides // 2 + 1)[:, None, None]
        rings = np.cos(height) * _circle(radius, self.sides) + np.sin(height) * np.array([0.0, 0.0, radius])
        self._side(centre + rings, colour)

    def box(self, frame: FloatArray, half: FloatArray, colour: FloatArray) -> None:
        """Add a box with its centre and axes in a frame (4, 4), from its half sides (3,)."""
        made = np.empty((6, 4, 3))
        for axis in range(3):
            for k, side in enumerate((-1.0, 1.0)):
                made[2 * axis + k, :, axis] = side
                made[2 * axis + k][:, [(axis + 1) % 3, (axis + 2) % 3]] = SQUARE if side > 0 else SQUARE[::-1]
        self.add((made * half) @ frame[:3, :3].T + frame[:3, 3], colour)

    def _side(self, rings: FloatArray, colour: FloatArray) -> None:
        """Add what lies between rings (k, sides, 3), each above the one before."""
        turned = np.roll(rings, -1, axis=1)
        faces = np.stack([rings[:-1], turned[:-1], turned[1:], rings[1:]], axis=2)
        self.add(faces.reshape(-1, 4, 3), colour)

    def _disc(self, centre: FloatArray, ring: FloatArray, colour: FloatArray) -> None:
        """Add a disc as sectors: every face has four corners, so that all fit in one array."""
        corners = (np.broadcast_to(centre, ring[::2].shape), ring[::2], ring[1::2], np.roll(ring, -2, axis=0)[::2])
        self.add(np.stack(corners, axis=1), colour)


def helix(start: FloatArray, end: FloatArray, radius: float, turns: float = 3.0) -> FloatArray:
    """Points (m, 3) of a helix about the line between two points."""
    length = float(np.linalg.norm(end - start))
    turned = rotation_between((0.0, 0.0, 1.0), (end - start) / length)
    share = np.linspace(0.0, 1.0, 60)
    angle = 2 * math.pi * turns * share
    local = np.stack((radius * np.cos(angle), radius * np.sin(angle), length * share), axis=1)
    return np.asarray(local @ turned.T + start)


def _circle(radius: float, sides: int) -> FloatArray:
    angle = np.linspace(0.0, 2 * math.pi, sides, endpoint=False)
    return radius * np.stack((np.cos(angle), np.sin(angle), np.zeros(sides)), axis=1)
