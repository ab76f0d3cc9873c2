"""Solids for the picture of a mechanism: rods, cylinders, boxes and helices as shaded polygons in space."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray

SIDES = 20
"""Sides of what is drawn for a circle."""

LIGHT = np.array([0.35, -0.55, 0.76])
"""Where the light comes from."""


@dataclass
class Solids:
    """Polygons with their colours, gathered so that all of them are drawn together, the far ones first."""

    faces: list[FloatArray] = field(default_factory=list)
    colours: list[FloatArray] = field(default_factory=list)

    def face(self, corners: FloatArray, colour: FloatArray) -> None:
        """Add one polygon (4, 3), lit by the way it faces."""
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        length = float(np.linalg.norm(normal))
        lit = 0.0 if length == 0 else float(normal @ LIGHT) / (length * float(np.linalg.norm(LIGHT)))
        self.faces.append(corners)
        self.colours.append(np.clip(colour * (0.78 + 0.3 * lit), 0.0, 1.0))

    def cylinder(self, start: FloatArray, end: FloatArray, radius: float, colour: FloatArray) -> None:
        """Add a closed cylinder between the centres of its ends, cut into short pieces so that depth sorts well."""
        length = float(np.linalg.norm(end - start))
        if length == 0:
            return
        circle = _circle(radius) @ rotation_between((0.0, 0.0, 1.0), (end - start) / length).T
        cuts = np.linspace(start, end, 1 + max(1, math.ceil(length / (2.5 * radius))))
        rings = cuts[:, None, :] + circle
        for low, high in pairwise(rings):
            for k in range(SIDES):
                j = (k + 1) % SIDES
                self.face(np.array([low[k], low[j], high[j], high[k]]), colour)
        self._disc(cuts[0], rings[0][::-1], colour)
        self._disc(cuts[-1], rings[-1], colour)

    def ball(self, centre: FloatArray, radius: float, colour: FloatArray) -> None:
        """Add a ball, cut along circles of latitude."""
        heights = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SIDES // 2 + 1)
        rings = [centre + _circle(radius * math.cos(h)) + np.array([0.0, 0.0, radius * math.sin(h)]) for h in heights]
        for low, high in pairwise(rings):
            for k in range(SIDES):
                j = (k + 1) % SIDES
                self.face(np.array([low[k], low[j], high[j], high[k]]), colour)

    def _disc(self, centre: FloatArray, ring: FloatArray, colour: FloatArray) -> None:
        """Add a disc as sectors: every face has four corners, so that all fit in one array."""
        for k in range(0, SIDES, 2):
            self.face(np.array([centre, ring[k], ring[k + 1], ring[(k + 2) % SIDES]]), colour)

    def box(self, frame: FloatArray, half: FloatArray, colour: FloatArray) -> None:
        """Add a box with its centre and axes in a frame (4, 4), from its half sides (3,)."""
        signs = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
        for axis in range(3):
            for side in (-1.0, 1.0):
                corners = np.empty((4, 3))
                corners[:, axis] = side
                corners[:, [(axis + 1) % 3, (axis + 2) % 3]] = signs if side > 0 else signs[::-1]
                self.face((corners * half) @ frame[:3, :3].T + frame[:3, 3], colour)


def helix(start: FloatArray, end: FloatArray, radius: float, turns: float = 3.0) -> FloatArray:
    """Points (m, 3) of a helix about the line between two points."""
    length = float(np.linalg.norm(end - start))
    turned = rotation_between((0.0, 0.0, 1.0), (end - start) / length)
    share = np.linspace(0.0, 1.0, 60)
    angle = 2 * math.pi * turns * share
    local = np.stack((radius * np.cos(angle), radius * np.sin(angle), length * share), axis=1)
    return np.asarray(local @ turned.T + start)


def _circle(radius: float) -> FloatArray:
    angle = np.linspace(0.0, 2 * math.pi, SIDES, endpoint=False)
    return radius * np.stack((np.cos(angle), np.sin(angle), np.zeros(SIDES)), axis=1)
