"""Lines and marks in space: what a picture draws beside its solids, kept apart from how they are drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line through points, or one mark.

    Attributes
    ----------
    points : ndarray (m, 3)
        Its corners, world frame, m.
    order : float
        What has more lies on top.
    look : mapping
        Colour, width and the like, as matplotlib's lines take them.
    moves : bool
        Whether it goes with the mechanism; what does not is drawn once.
    shown : bool
        Whether it is seen at all; the dashed line of a loop that is closed is not.
    """

    points: FloatArray
    order: float
    look: Mapping[str, Any] = field(default_factory=dict)
    moves: bool = True
    shown: bool = True


def plot(axes: Any, strokes: Iterable[Stroke]) -> list[Any]:
    """Draw strokes into axes in space; return the lines."""
    made = []
    for stroke in strokes:
        (line,) = axes.plot(*stroke.points.T, zorder=stroke.order, **stroke.look)
        line.set_visible(stroke.shown)
        made.append(line)
    return made


def move(lines: Iterable[Any], strokes: Iterable[Stroke]) -> None:
    """Put lines that `plot` has made where the same strokes are now."""
    for line, stroke in zip(lines, strokes, strict=True):
        line.set_data_3d(*stroke.points.T)
        line.set_visible(stroke.shown)
