"""Polygons in many configurations as shapes of the geometry library, made only where they may meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwise.errors import MissingExtraError, install_hint
from linkwise.spatial.scalar import FloatArray

BoolArray = NDArray[np.bool_]


def library() -> Any:
    """Return the module ``shapely``.

    Raises
    ------
    MissingExtraError
        Where it is not installed.
    """
    try:
        import shapely
    except ImportError as error:
        raise MissingExtraError(f"collision of polygons needs shapely: {install_hint('planar')}") from error
    return shapely


class Shape:
    """A polygon in N configurations, or one that stands still in all of them.

    Parameters
    ----------
    vertices : (N, m, 2) or (m, 2) array
        In world axes, m.
    """

    def __init__(self, vertices: FloatArray) -> None:
        self.vertices = vertices
        self.still = vertices.ndim == 2
        self.low, self.high = _least(vertices), -_least(-vertices)
        self._made: Any = None

    def at(self, chosen: NDArray[np.intp]) -> Any:
        """Return the library's shapes in the chosen configurations, or the one that stands still."""
        shapely = library()
        if self.still:
            if self._made is None:
                self._made = shapely.polygons(self.vertices)
                shapely.prepare(self._made)
            return self._made
        if self._made is None:
            self._made = np.full(len(self.vertices), None, dtype=object)
        missing = chosen[shapely.is_missing(self._made[chosen])]
        self._made[missing] = shapely.polygons(self.vertices[missing])
        return self._made[chosen]


def _least(vertices: FloatArray) -> FloatArray:
    """Return the least coordinates over the vertices, one vertex after another: faster than a reduction of a short axis."""
    least = vertices[..., 0, :]
    for k in range(1, vertices.shape[-2]):
        least = np.minimum(least, vertices[..., k, :])
    return least


def gap(one: Shape, other: Shape) -> FloatArray:
    """Distance between the boxes about two shapes, (N,) or (): no more than that of the shapes, m."""
    apart = np.maximum(0.0, np.maximum(one.low - other.high, other.low - one.high))
    return np.asarray(np.hypot(apart[..., 0], apart[..., 1]))


def within(one: Shape, other: Shape, margin: float, asked: BoolArray) -> BoolArray:
    """Whether two shapes are no farther apart than the margin, in the configurations asked (N,); False in the others.

    Without a margin it is decided without rounding, for the vertices as they are.
    """
    shapely = library()
    chosen = np.flatnonzero(asked & (gap(one, other) <= margin * (1.0 + 1e-9)))
    answer = np.zeros(asked.shape, dtype=bool)
    still, moving = (one, other) if one.still else (other, one)  # the first is the one that may be prepared
    if chosen.size:
        pair = still.at(chosen), moving.at(chosen)
        answer[chosen] = shapely.dwithin(*pair, margin) if margin > 0.0 else shapely.intersects(*pair)
    return answer


def nearer(one: Shape, other: Shape, best: FloatArray) -> FloatArray:
    """Return the distance of two shapes (N,), m, where that is less than ``best`` (N,); ``best`` elsewhere."""
    shapely = library()
    chosen = np.flatnonzero(gap(one, other) < best)
    answer = best.copy()
    if chosen.size:
        answer[chosen] = np.minimum(best[chosen], shapely.distance(one.at(chosen), other.at(chosen)))
    return answer
