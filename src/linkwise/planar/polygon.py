"""Polygons: those of links and of obstacles, validated, and the two default shapes of drawn mechanisms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, ModelError, shown
from linkwise.model.validation import Checker, frozen
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

EXPECTED = "a polygon (m, 2) of at least 3 points x, y (m), or a sequence of such"

#: Pairs of edges that are looked at together.
AT_ONCE = 200_000


def bar(length: float, width: float) -> FloatArray:
    """A rectangle along the x axis, from half a width behind the origin to half a width beyond ``length``.

    It is the shape of a link with one joint at the origin and the next at (length, 0), both half a width from the edge.

    Parameters
    ----------
    length : float
        Between the two joints, m; 0 gives a square.
    width : float
        Across, m.

    Returns
    -------
    ndarray (4, 2)
        The corners, counterclockwise, m.

    Raises
    ------
    ArgumentError
        Unless length >= 0 and width > 0, both finite.

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.bar(1.0, 0.25).tolist()
    [[-0.125, -0.125], [1.125, -0.125], [1.125, 0.125], [-0.125, 0.125]]
    """
    along, half = _size(Checker("bar"), length, width)
    return np.array([[-half, -half], [along + half, -half], [along + half, half], [-half, half]])


def rounded_bar(length: float, width: float, corners: int = 9) -> FloatArray:
    """A bar along the x axis with round ends about its two joints, the origin and (length, 0).

    Parameters
    ----------
    length : float
        Between the two joints, m.
    width : float
        Across, m.
    corners : int
        Points on each half circle, at least 2.

    Returns
    -------
    ndarray (2 corners, 2)
        Counterclockwise, m; the points lie on the circles, so the polygon is within the round shape.

    Raises
    ------
    ArgumentError
        Unless length and width are > 0 and finite, and corners is a whole number of at least 2.

    Examples
    --------
    >>> from linkwise import planar
    >>> planar.rounded_bar(1.0, 0.2).shape
    (18, 2)
    """
    check = Checker("rounded_bar")
    if not isinstance(corners, (int, np.integer)) or isinstance(corners, bool) or corners < 2:
        check.report("corners", corners, "a whole number of at least 2")
    along, half = _size(check, length, width, positive=True)
    turn = np.linspace(-0.5 * math.pi, 0.5 * math.pi, corners)
    cap = half * np.stack((np.cos(turn), np.sin(turn)), axis=1)
    return np.concatenate([cap + np.array([along, 0.0]), -cap])


def _size(check: Checker, length: Any, width: Any, positive: bool = False) -> tuple[float, float]:
    """The length of a bar, which may have to be positive, and half its width, which has to."""
    along, half = check.number("length", length, least=0.0, known=True), 0.5 * check.number("width", width, known=True)
    wrong = {problem.field for problem in check.problems}
    for field, argument, value in (("length", length, along), ("width", width, half)):
        if field not in wrong and not value > 0.0 and (positive or field == "width"):
            check.report(field, argument, "a finite number > 0")
    try:
        check.finish()
    except ModelError as error:
        raise ArgumentError(str(error)) from None
    return along, half


def given_polygons(check: Checker, field: str, polygons: Any) -> tuple[FloatArray, ...]:
    """Read-only copies of one or several polygons of a link; empty after a report."""
    if polygons is None:
        return ()
    if real_or_empty(polygons).ndim == 2:
        polygon = _checked(check, field, polygons)
        return () if polygon is None else (polygon,)
    if isinstance(polygons, (str, bytes)) or not isinstance(polygons, Iterable):
        check.report(field, polygons, EXPECTED)
        return ()
    sequence = tuple(polygons)
    several = [_checked(check, f"{field}[{k}]", polygon) for k, polygon in enumerate(sequence)]
    return tuple(polygon for polygon in several if polygon is not None)


def obstacle_polygons(obstacles: Any) -> dict[str, FloatArray]:
    """Obstacles by their names: simple polygons (m, 2) in world axes, by default ``"obstacle 1"`` and so on.

    Raises
    ------
    ArgumentError
        Where one is no polygon, or its name no word.

    Examples
    --------
    >>> list(obstacle_polygons([[(0, 0), (1, 0), (0, 1)]]))
    ['obstacle 1']
    """
    if isinstance(obstacles, Mapping):
        for name in obstacles:
            if not isinstance(name, str) or not name.strip():
                raise ArgumentError(f"obstacles: an obstacle is called {shown(name)}; expected a word")
        named = dict(obstacles)
    elif isinstance(obstacles, Iterable) and not isinstance(obstacles, (str, bytes)):
        named = {f"obstacle {k}": polygon for k, polygon in enumerate(obstacles, start=1)}
    else:
        raise ArgumentError(f"obstacles: {shown(obstacles)}; expected a list or a dict of polygons (m, 2), m")
    return {name: _obstacle(name, polygon) for name, polygon in named.items()}


def _obstacle(name: str, polygon: Any) -> FloatArray:
    points, wrong = _read(polygon, "a polygon (m, 2) of at least 3 points x, y (m); obstacles are a list or a dict of such")
    if wrong:
        raise ArgumentError(f"{name}: {shown(polygon)}; expected {wrong}")
    return points


def _checked(check: Checker, field: str, polygon: Any) -> FloatArray | None:
    """One polygon, or None after a report of its errors."""
    points, wrong = _read(polygon, EXPECTED)
    if wrong:
        check.report(field, polygon, wrong)
        return None
    return frozen(points)


def _read(polygon: Any, expected: str) -> tuple[FloatArray, str]:
    """A copy of a polygon without negative zeros, and the unmet requirement."""
    points = real_or_empty(polygon)
    if points.ndim != 2 or points.shape[1] != 2:
        return np.empty((0, 2)), expected
    return points + 0.0, _fault(points)


def _fault(points: FloatArray) -> str:
    """Unmet requirement of a polygon; empty for a valid one."""
    if not np.isfinite(points).all():
        k = int(np.argwhere(~np.isfinite(points))[0, 0])
        return f"finite numbers; point {k} is {shown(points[k].tolist())}"
    if len(points) < 3:
        return f"at least 3 points; it has {len(points)}"
    ahead = np.roll(points, -1, axis=0)
    same = np.flatnonzero((points == ahead).all(axis=1))
    if same.size:
        k = int(same[0])
        hint = " (the last point joins the first by itself)" if k == len(points) - 1 else ""
        return f"neighbouring points that differ; points {k} and {(k + 1) % len(points)} are one{hint}"
    scale = -int(np.frexp(np.abs(points).max())[1])  # to the size 1, by a power of two: products stay within numbers
    crossed = _crossing(np.ldexp(points, scale), np.ldexp(ahead, scale))
    if crossed is not None:
        i, j = crossed
        return f"an outline that does not meet itself; the edges from points {i} and {j} meet"
    return ""


def _crossing(start: FloatArray, end: FloatArray) -> tuple[int, int] | None:
    """Two edges, from point i and from point j, that share more than a common corner; none in most polygons."""
    count = len(start)
    edge, following = end - start, np.roll(end - start, -1, axis=0)
    folds = (edge[:, 0] * following[:, 1] == edge[:, 1] * following[:, 0]) & ((edge * following).sum(axis=1) < 0)
    if folds.any():  # an edge that runs straight back over the one before
        place = int(np.argmax(folds))
        return place, (place + 1) % count
    rows, edges = max(1, AT_ONCE // count), np.arange(count)
    for first in range(0, count - 2, rows):
        i = edges[first : first + rows, None]
        j = edges[first + 2 :]
        hit = (j >= i + 2) & (j - i < count - 1) & _meet(start[i], end[i], start[j], end[j])
        if hit.any():
            row, column = (int(k) for k in np.argwhere(hit)[0])
            return first + row, first + 2 + column
    return None


def _meet(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> Any:
    """True if segments a b and c d intersect, by the sides of their ends."""
    c_side, d_side = _side(a, b, c), _side(a, b, d)
    a_side, b_side = _side(c, d, a), _side(c, d, b)
    proper = (c_side * d_side < 0) & (a_side * b_side < 0)
    touch = (c_side == 0) & _within(a, b, c) | (d_side == 0) & _within(a, b, d)
    return proper | touch | (a_side == 0) & _within(c, d, a) | (b_side == 0) & _within(c, d, b)


def _side(a: FloatArray, b: FloatArray, p: FloatArray) -> Any:
    """The sign of the area of the triangle a b p: on which side of the line a b the point p is."""
    along, across = b - a, p - a
    return np.sign(along[..., 0] * across[..., 1] - along[..., 1] * across[..., 0])


def _within(a: FloatArray, b: FloatArray, p: FloatArray) -> Any:
    """True if p is in the bounding box of a and b."""
    return ((np.minimum(a, b) <= p) & (p <= np.maximum(a, b))).all(axis=-1)
