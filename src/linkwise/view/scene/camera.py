"""Point of view of a mechanism: view angles, a camera that sees all of it, a grid below it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene.layout import SceneLayout
from linkwise.view.scene.scene import GROUND

#: Vertical field of view of the camera: less than viser's 75 degrees, which distorts objects near the edges.
FIELD = math.radians(45.0)

#: Degrees: height from which a mechanism is seen, and angle from the side on which it spreads widest; and both directions
#: from which one is seen that is flat.
ELEVATION, TURNED, ABOVE, SIDE = 20.0, 28.0, 58.0, -78.0

#: A mechanism lower than this share of its greatest extent is flat.
FLAT = 0.08

#: Share of the points reached, at either end of each axis, that may be out of sight at first.
RARE = 0.1


@dataclass(frozen=True)
class GroundGrid:
    """The grid under a mechanism, m: its middle, its side, the side of a square and of a small one."""

    middle: tuple[float, float, float]
    side: float
    square: float
    small: float


@dataclass(frozen=True, eq=False)
class Camera:
    """Initial position and target of the camera, and its near and far distance; m."""

    position: FloatArray
    target: FloatArray
    near: float
    far: float


def view_angles(points: FloatArray) -> tuple[float, float]:
    """Elevation and azimuth (deg) from which points (m, 3) about their middle are seen best."""
    spread = np.ptp(points, axis=0)
    if spread[2] < FLAT * spread.max():
        return ABOVE, SIDE
    _, directions = np.linalg.eigh(np.cov(points[:, :2].T) + 1e-15 * np.eye(2))
    normal = directions[:, 0] * (-1.0 if directions[1, 0] > 0 else 1.0)
    return ELEVATION, math.degrees(math.atan2(normal[1], normal[0])) + TURNED


def grid(layout: SceneLayout, floating: bool, reached: FloatArray) -> GroundGrid:
    """Return the grid for a mechanism: level, below all points (m, 3) that it reaches, its lines at round coordinates."""
    points = np.concatenate((layout.points(), reached))
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float(np.max(high - low)) or layout.extent
    square = _round_length(extent / 3)
    below = layout.extent * 0.15 if floating else layout.size * GROUND * 0.25
    floor = min(low[2], layout.poses[0, 2, 3]) - below
    x, y = (round(float(value) / square) * square for value in 0.5 * (low + high)[:2])
    side = 2 * square * math.ceil(0.8 * extent / square)
    return GroundGrid((x, y, float(floor)), side, square, square / 5)


def camera(layout: SceneLayout, reached: FloatArray) -> Camera:
    """Return a place from which all of a mechanism is seen, and most of the points (m, 3) that it reaches."""
    points = layout.points()
    edges = np.quantile(reached, (RARE, 1.0 - RARE), axis=0) if len(reached) else points
    both = np.concatenate((points, edges))
    low, high = both.min(axis=0), both.max(axis=0)
    middle = 0.5 * (low + high)
    radius = max(0.5 * float(np.linalg.norm(high - low)), 0.5 * layout.size) + layout.size * GROUND
    distance = radius / math.sin(FIELD / 2)
    up, around = np.radians(view_angles(points - points.mean(axis=0)))
    direction = np.array([math.cos(up) * math.cos(around), math.cos(up) * math.sin(around), math.sin(up)])
    return Camera(middle + distance * direction, middle, distance / 500, distance * 50)


def fitted(field: float, width: float, height: float) -> float:
    """Return the vertical field of view (rad) of a picture that shows at least the given field in both directions.

    Examples
    --------
    >>> [round(math.degrees(fitted(math.radians(45.0), width, 800)), 1) for width in (400, 800, 1600)]
    [79.3, 45.0, 45.0]
    """
    return field if width >= height or width <= 0 else 2.0 * math.atan(math.tan(field / 2.0) * height / width)


def _round_length(length: float) -> float:
    """Return the greatest 1, 2 or 5 times a power of ten that is not above a length."""
    power = 10.0 ** math.floor(math.log10(length))
    return float(max(step * power for step in (1, 2, 5) if step * power <= length * (1 + 1e-9)))
