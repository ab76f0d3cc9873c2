"""Faces of an .obj with more than three corners, cut into triangles as tinyobjloader does, with which MuJoCo reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Points = npt.NDArray[np.floating[Any]]
Triangle = tuple[int, int, int]

#: The least that counts as a corner in the reader's single precision, m2.
CORNER = float(np.finfo(np.float32).eps)

#: Corners of a face from which on MuJoCo 4 leaves it out, measured with prisms of three sizes.
TOO_MANY = 101


def first_object_in_triangles(data: bytes) -> bytes:
    """The first object or group of an .obj, its faces in triangles, with one blank between words."""
    points: list[list[bytes]] = []
    cut: list[list[bytes]] = []
    faces, others = False, False
    try:
        for row in map(bytes.split, data.splitlines()):
            word, *corners = row or [b""]
            others |= faces and word in (b"o", b"g")
            if others and word != b"v":
                continue
            faces |= word == b"f"
            if word == b"v":
                points.append(corners[:3])
            if word != b"f" or len(corners) < 4:
                cut.append(row)
                continue
            places = [int(corner.split(b"/")[0]) for corner in corners]
            polygon = np.array([points[k - 1 if k > 0 else k] for k in places]).astype(np.float32)
            cut += [[b"f", *(corners[k] for k in triangle)] for triangle in triangles_of(polygon)]
    except (ValueError, IndexError):
        return data  # (the reader reports errors)
    return b"\n".join(map(b" ".join, cut))


def triangles_of(polygon: Points) -> list[Triangle]:
    """The triangles, as places of their corners, into which a face (k, 3) of single precision is cut.

    Four corners are cut along the shorter diagonal. Of more, ears are cut off one after the other, where the triangle of
    three corners that follow each other holds none of the others, seen along the axis next to the first corner's normal;
    what holds no ear is left out, and a face of `TOO_MANY` corners or more as a whole.

    Examples
    --------
    >>> triangles_of(np.array([[0, 0, 0], [2, 0, 0], [2, 2, 0], [1, 3, 0], [0, 2, 0]], dtype=np.float32))
    [(0, 1, 2), (0, 2, 3), (0, 3, 4)]
    """
    if len(polygon) == 4:
        first, second = polygon[2] - polygon[0], polygon[3] - polygon[1]
        return [(0, 1, 2), (0, 2, 3)] if first @ first < second @ second else [(0, 1, 3), (1, 2, 3)]
    if len(polygon) >= TOO_MANY:
        return []
    flat, left = polygon[:, _axes_across(polygon)], list(range(len(polygon)))
    result: list[Triangle] = []
    at, tries = 0, len(polygon)
    while len(left) > 3 and tries > 0:  # (the reader stops too where the last of the first tries is an ear)
        tries -= 1
        at %= len(left)
        a, b, c, *others = left[at:] + left[:at]
        if _is_ear(flat[[a, b, c]], flat[others]):
            result.append((a, b, c))
            left.remove(b)
            tries = tries and len(left) + 1
        else:
            at += 1
    if len(left) == 3:
        result.append((left[0], left[1], left[2]))
    return result


def _axes_across(polygon: Points) -> Sequence[int]:
    """The two axes across which a face is seen: those of the plane to which its first corner is next."""
    for k in range(len(polygon)):
        a, b, c = polygon[[k, (k + 1) % len(polygon), (k + 2) % len(polygon)]]
        x, y, z = np.abs(np.cross(b - a, c - b))
        if max(x, y, z) > CORNER:
            if x > y and x > z:
                return (1, 2)
            return (0, 1) if z > x and z > y else (0, 2)
    return (1, 2)


def _is_ear(triangle: Points, others: Points) -> bool:
    """True if a triangle (3, 2) turns in the sense of its area about the origin, and contains none of others (k, 2)."""
    a, b, c = triangle
    turn = (b - a)[0] * (c - b)[1] - (b - a)[1] * (c - b)[0]
    area = (a[0] * b[1] - a[1] * b[0]) * np.float32(0.5)
    return not turn * area < 0 and not any(_holds(triangle, point) for point in others)


def _holds(triangle: Points, point: Points) -> bool:
    """True if a point (2,) is inside a triangle (3, 2), by the crossings of a ray along x (W. R. Franklin)."""
    x, y = point
    inside = False
    for (ax, ay), (bx, by) in zip(triangle, np.roll(triangle, 1, axis=0), strict=True):
        if (ay > y) != (by > y) and x < (bx - ax) * (y - ay) / (by - ay) + ax:
            inside = not inside
    return inside
