"""Where labels stand: for each the place near its point that hides least, one after the other."""

from __future__ import annotations

import numpy as np

from linkwise.spatial.scalar import FloatArray

DISTANCES = (2.0, 8.0, 15.0, 24.0, 34.0, 46.0, 60.0)
"""How far labels are tried from what they name, in points of 1/72 inch."""

DIRECTIONS = np.radians([45, 20, 70, 0, 135, 160, 90, 110, -30, -60, -90, -120, -150, 180])
"""In which directions, the most liked first."""

SLANT = 0.3
"""A label has its corner towards what it names, or the middle of a side where the direction is nearly level or upright."""

ON_LABEL, ON_ROD, OUTSIDE, FAR = 60.0, 1.2, 1000.0, 0.09
"""What it costs to cover all of another label, a place on a rod; to run out of the picture; a point of distance."""


def near(points: FloatArray, distance: float) -> list[list[int]]:
    """Gather points (m, 2) with the first of those within a distance.

    Examples
    --------
    >>> near(np.array([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]]), 2.0)
    [[0, 2], [1]]
    """
    groups: list[list[int]] = []
    for k, point in enumerate(points):
        for group in groups:
            if float(np.linalg.norm(points[group[0]] - point)) < distance:
                group.append(k)
                break
        else:
            groups.append([k])
    return groups


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
    made = np.empty_like(points)
    for k, (point, size) in enumerate(zip(points, sizes, strict=True)):
        low, distance = _candidates(point, size, pixel, radius)
        boxes = np.hstack([low, low + size])
        cost = FAR * distance + 0.02 * np.tile(np.arange(len(DIRECTIONS)), len(DISTANCES))
        cost += ON_LABEL * _covered(boxes, taken).sum(axis=1) / float(size.prod())
        cost += ON_ROD * _within(boxes, rods, 2.0 * pixel).sum(axis=1)
        cost += ON_ROD * _within(boxes, np.delete(points, k, axis=0), radius).sum(axis=1)
        cost += OUTSIDE * _outside(boxes, outline)
        best = int(np.argmin(cost))
        made[k] = low[best]
        taken = np.vstack([taken, boxes[best] + np.array([-2.0, -2.0, 2.0, 2.0]) * pixel])
    return made


def _candidates(point: FloatArray, size: FloatArray, pixel: float, radius: float) -> tuple[FloatArray, FloatArray]:
    """Lower left corners (c, 2) to be tried, and how far from the point they are, points."""
    distance, angle = (grid.ravel() for grid in np.meshgrid(DISTANCES, DIRECTIONS, indexing="ij"))
    ways = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return point + (distance[:, None] * pixel + radius) * ways + (
        np.sign(ways) * (np.abs(ways) > SLANT) - 1.0
    ) * 0.5 * size, distance


def _covered(boxes: FloatArray, taken: FloatArray) -> FloatArray:
    """Areas (c, t) in which boxes (c, 4) and others (t, 4) overlap; a box is its least and greatest x, y."""
    low = np.maximum(boxes[:, None, :2], taken[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], taken[None, :, 2:])
    return np.asarray(np.maximum(high - low, 0.0).prod(axis=2))


def _within(boxes: FloatArray, points: FloatArray, room: float) -> FloatArray:
    """Whether points (p, 2) lie in boxes (c, 4) or within some room about them (c, p)."""
    inside = (points > boxes[:, None, :2] - room) & (points < boxes[:, None, 2:] + room)
    return np.asarray(inside.all(axis=2), dtype=float)


def _outside(boxes: FloatArray, outline: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """How far boxes (c, 4) run out of the outline, one and more where they do, 0 where not."""
    centre, normals, reach = outline
    ends = boxes[:, [[0, 1], [2, 1], [0, 3], [2, 3]]] - centre
    beyond = (np.abs(ends @ normals.T) - reach).max(axis=(1, 2))
    return np.asarray(np.where(beyond > 0, 1.0 + beyond / reach.max(), 0.0))
