"""The stage around a mechanism in the browser: the grid under it, and a camera from which all of it is seen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.frames import GROUND
from linkwise.view.drawing.skeleton import Skeleton

if TYPE_CHECKING:
    import viser

FIELD = math.radians(45.0)
"""Vertical field of view of the camera: less than viser's 75 degrees, which bends what stands near the edges."""

ELEVATION, TURNED = math.radians(20.0), math.radians(28.0)
"""From how far above the mechanism is seen, and how far from the side on which it spreads widest."""

FLAT = 0.08
"""A mechanism lower than this share of its greatest extent is seen from above."""

RARE = 0.1
"""Share of the points reached, at either end of each axis, that may be out of sight at first."""

ROOM = 1.0
"""How much farther away the camera stands than what just shows the whole mechanism."""


@dataclass(frozen=True)
class Grid:
    """The grid under a mechanism, m: its middle, its side, the side of a square and of a small one."""

    middle: tuple[float, float, float]
    side: float
    square: float
    small: float


@dataclass(frozen=True)
class Camera:
    """Where the camera stands at first, what it looks at, and how near and far it sees; m."""

    position: tuple[float, float, float]
    target: tuple[float, float, float]
    near: float
    far: float


def grid(laid: Skeleton, floating: bool, reached: FloatArray) -> Grid:
    """Return the grid for a mechanism: level, below all points (m, 3) that it reaches, its lines at round coordinates."""
    points = np.concatenate((laid.points, reached))
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float(np.max(high - low)) or laid.extent
    square = _round_length(extent / 3)
    below = laid.extent * 0.15 if floating else laid.size * GROUND * 0.25
    floor = min(low[2], laid.base[2, 3]) - below
    x, y = (round(float(value) / square) * square for value in 0.5 * (low + high)[:2])
    side = 2 * square * math.ceil(0.8 * extent / square)
    return Grid((x, y, float(floor)), side, square, square / 5)


def camera(laid: Skeleton, reached: FloatArray) -> Camera:
    """Return a place from which all of a mechanism is seen, and most of the points (m, 3) that it reaches."""
    points = laid.points
    edges = np.quantile(reached, (RARE, 1.0 - RARE), axis=0) if len(reached) else points
    low, high = (pick(points, axis=0) for pick in (np.min, np.max))
    low, high = np.minimum(low, edges.min(axis=0)), np.maximum(high, edges.max(axis=0))
    middle = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 0.5 * laid.size) + laid.size * GROUND
    distance = ROOM * radius / math.sin(FIELD / 2)
    position = middle + distance * _direction(points - points.mean(axis=0))
    return Camera(_three(position), _three(middle), distance / 500, distance * 50)


def set_stage(server: viser.ViserServer, laid: Skeleton, floating: bool, reached: FloatArray) -> viser.GridHandle:
    """Lay the grid, set the light, and point the camera of everyone who comes."""
    ground, seen = grid(laid, floating, reached), camera(laid, reached)
    server.scene.set_up_direction("+z")
    # Light from all sides: viser's default, an image of a city, takes seconds to prepare where there is no graphics card.
    server.scene.configure_environment_map(None)
    server.scene.add_light_hemisphere("/sky", sky_color=(255, 255, 255), ground_color=(200, 200, 205), intensity=2.0)
    first = server.initial_camera
    first.fov, first.near, first.far = FIELD, seen.near, seen.far
    first.position, first.look_at = seen.position, seen.target
    return server.scene.add_grid(
        "/grid",
        width=ground.side,
        height=ground.side,
        plane="xy",
        cell_size=ground.small,
        section_size=ground.square,
        cell_color=(228, 228, 228),
        section_color=(200, 200, 200),
        fade_distance=10 * ground.side,
        shadow_opacity=0.15,
        position=ground.middle,
    )


def _direction(points: FloatArray) -> FloatArray:
    """Return the direction (3,) of the camera: the side on which the points spread widest, a little turned, from above."""
    spread = np.ptp(points, axis=0)
    if spread[2] < FLAT * spread.max():
        up, around = math.radians(58.0), math.radians(-78.0)
    else:
        _, directions = np.linalg.eigh(np.cov(points[:, :2].T) + 1e-15 * np.eye(2))
        normal = directions[:, 0] * (-1.0 if directions[1, 0] > 0 else 1.0)
        up, around = ELEVATION, math.atan2(normal[1], normal[0]) + TURNED
    return np.array([math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up)])


def _round_length(length: float) -> float:
    """Return the greatest 1, 2 or 5 times a power of ten that is not above a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return float(max(step * power for step in (1, 2, 5) if step * power <= length * (1 + 1e-9)))


def _three(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
