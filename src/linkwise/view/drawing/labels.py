"""The words of a picture: names beside joints, rotors, tool and base, clear of each other, of rods and of the edges."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.plot.figure import literal, shortened
from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene.layout import few, near
from linkwise.view.scene.scene import Scene

#: Size of the letters, points, and the width of one as a share of it.
FONT, GLYPH = 8.5, 0.58

#: Points nearer than this share a label; a label farther than this from its joint has a leader line; spacing of the points
#: that keep rods clear; all in points of 1/72 inch.
TOGETHER, LEADER, STEP = 7.0, 12.0, 8.0

#: Room that a joint takes, as a share of the mechanism's size.
LABELLED = 0.036

#: Tried distances of labels from their points, in points of 1/72 inch.
DISTANCES = (2.0, 8.0, 15.0, 24.0, 34.0, 46.0, 60.0)

#: In which directions, the most liked first.
DIRECTIONS = np.radians([45, 20, 70, 0, 135, 160, 90, 110, -30, -60, -90, -120, -150, 180])

#: A label has its corner towards its point, or the middle of a side if the direction is nearly level or upright.
SLANT = 0.3

#: Costs of covering all of another label, a place on a rod; of leaving the picture; of a point of distance.
ON_LABEL, ON_ROD, OUTSIDE, FAR = 60.0, 1.2, 1000.0, 0.09


def write(axes: Any, scene: Scene) -> None:
    """Write the labels with the least overlap, one label for coinciding points. The view must be set before."""
    from matplotlib.patheffects import withStroke

    pixel = axes.figure.dpi / 72.0
    layout = scene.layout
    at = np.array([layout.world(label.link, label.point[None])[0] for label in scene.labels])
    names = [shortened(label.text, 24 if label.role == "rotor" else 16) for label in scene.labels]
    seen = shown(axes, at)
    groups = near(seen, TOGETHER * pixel)
    words = [few([names[k] for k in group]) for group in groups]
    points = np.array([seen[group[0]] for group in groups])
    sizes = np.array([[GLYPH * FONT * len(word), FONT] for word in words]) * pixel
    right, up, scale = _screen(axes)
    radius = LABELLED * layout.size * scale
    corners = place(points, sizes, _obstacles(axes, scene, STEP * pixel), outline(axes), pixel, radius)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for group, word, point, size, corner in zip(groups, words, points, sizes, corners, strict=True):

        def back(move: FloatArray, group: list[int] = group) -> FloatArray:
            return np.asarray(at[group[0]] + (right * move[0] + up * move[1]) / scale)

        text = axes.text(*back(corner - point), " ", fontsize=FONT, zorder=5, path_effects=halo)
        literal(text, word)
        nearest = np.clip(point, corner, corner + size)
        if float(np.linalg.norm(nearest - point)) > LEADER * pixel + radius:
            ends = np.array([at[group[0]], back(nearest - point)])
            axes.plot(*ends.T, color="0.35", linewidth=0.7, zorder=4.5)


def corners(axes: Any, words: Any) -> FloatArray:
    """Corners (4, 2) of the place that a label takes, in pixels, by the usual width of letters."""
    pixel = axes.figure.dpi / 72.0
    width, height = GLYPH * FONT * len(words.get_text()) * pixel, FONT * pixel
    x, y = shown(axes, np.array(words.get_position_3d())[None])[0]
    return np.array([[x, y], [x + width, y], [x, y + height], [x + width, y + height]])


def shown(axes: Any, points: FloatArray) -> FloatArray:
    """Pixels (m, 2) at which points (m, 3) are seen."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*points.T, axes.get_proj())
    return np.asarray(axes.transData.transform(np.stack((x, y), axis=1)))


def outline(axes: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The outline of the axes' box, which is that of three pairs of parallel edges: its centre, normals, and reach."""
    low, high = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()]).T
    middle = 0.5 * (low + high)
    seen = shown(axes, np.array([middle, *(middle + np.diag(high - low))]))
    edges = seen[1:] - seen[0]
    normals = edges @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    return seen[0], normals, 0.5 * np.abs(normals @ edges.T).sum(axis=1)


def _screen(axes: Any) -> tuple[FloatArray, FloatArray, float]:
    """Directions (3,) in space that are seen to the right and upwards, and the pixels of a metre along them."""
    azimuth, elevation = math.radians(axes.azim), math.radians(axes.elev)
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    up = np.array([-math.sin(elevation) * math.cos(azimuth), -math.sin(elevation) * math.sin(azimuth), math.cos(elevation)])
    ends = shown(axes, np.array([np.zeros(3), right]))
    return right, up, float(ends[1, 0] - ends[0, 0])


def _obstacles(axes: Any, scene: Scene, step: float) -> FloatArray:
    """Places (m, 2) in pixels along rods: labels beside them are better read."""
    layout = scene.layout
    places = [shown(axes, layout.tool()[None, :3, 3])]
    for rod in layout.rods:
        seen = shown(axes, layout.world(rod.link, rod.points))
        for start, end in pairwise(seen):
            places.append(np.linspace(start, end, 2 + int(np.linalg.norm(end - start) / step)))
    return np.concatenate(places)


# ── where they stand ──────────────────────────────────────────────────────────────────────────────


def place(
    points: FloatArray,
    sizes: FloatArray,
    rods: FloatArray,
    outline: tuple[FloatArray, FloatArray, FloatArray],
    pixel: float,
    radius: float = 0.0,
) -> FloatArray:
    """Find the lower left corners (m, 2) of labels, pixels.

    Parameters
    ----------
    points : (m, 2) ndarray
        What they belong to, pixels.
    sizes : (m, 2) ndarray
        Their widths and heights, pixels.
    rods : (k, 2) ndarray
        What is better not covered, pixels.
    outline : tuple of ndarray
        Centre (2,), normals (j, 2) and reaches (j,) of the stripes within which all must stand.
    pixel : float
        Pixels in a point of 1/72 inch.
    radius : float
        How much room each point takes, pixels.
    """
    taken = np.empty((0, 4))
    corners = np.empty_like(points)
    for k, (point, size) in enumerate(zip(points, sizes, strict=True)):
        low, distance = _candidates(point, size, pixel, radius)
        boxes = np.hstack([low, low + size])
        cost = FAR * distance + 0.02 * np.tile(np.arange(len(DIRECTIONS)), len(DISTANCES))
        cost += ON_LABEL * _covered(boxes, taken).sum(axis=1) / float(size.prod())
        cost += ON_ROD * _within(boxes, rods, 2.0 * pixel).sum(axis=1)
        cost += ON_ROD * _within(boxes, np.delete(points, k, axis=0), radius).sum(axis=1)
        cost += OUTSIDE * _outside(boxes, outline)
        best = int(np.argmin(cost))
        corners[k] = low[best]
        taken = np.vstack([taken, boxes[best] + np.array([-2.0, -2.0, 2.0, 2.0]) * pixel])
    return corners


def _candidates(point: FloatArray, size: FloatArray, pixel: float, radius: float) -> tuple[FloatArray, FloatArray]:
    """Candidate lower left corners (c, 2), and their distances from the point, points."""
    distance, angle = (grid.ravel() for grid in np.meshgrid(DISTANCES, DIRECTIONS, indexing="ij"))
    ways = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return point + (distance[:, None] * pixel + radius) * ways + (
        np.sign(ways) * (np.abs(ways) > SLANT) - 1.0
    ) * 0.5 * size, distance


def _covered(boxes: FloatArray, taken: FloatArray) -> FloatArray:
    """Overlap areas (c, t) of boxes (c, 4) with others (t, 4); a box is its least and greatest x, y."""
    low = np.maximum(boxes[:, None, :2], taken[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], taken[None, :, 2:])
    return np.asarray(np.maximum(high - low, 0.0).prod(axis=2))


def _within(boxes: FloatArray, points: FloatArray, room: float) -> FloatArray:
    """Mask (c, p) of points (p, 2) in boxes (c, 4) enlarged by a margin."""
    inside = (points > boxes[:, None, :2] - room) & (points < boxes[:, None, 2:] + room)
    return np.asarray(inside.all(axis=2), dtype=float)


def _outside(boxes: FloatArray, outline: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Excess of boxes (c, 4) over the outline, at least one if there is any, else 0."""
    centre, normals, reach = outline
    ends = boxes[:, [[0, 1], [2, 1], [0, 3], [2, 3]]] - centre
    beyond = (np.abs(ends @ normals.T) - reach).max(axis=(1, 2))
    return np.asarray(np.where(beyond > 0, 1.0 + beyond / reach.max(), 0.0))
