"""The signs of planar pictures, drawn into axes: bodies, pins, slots, the ground, frames and dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise.plot.figure import literal
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import FloatArray

INK, GROUND, OBSTACLE = "#222222", "#8a8f94", "#5f6b6d"

#: Colours of the x and the y axis of a frame; their labels distinguish them too.
X, Y = "#b3261e", "#1b7f3b"

#: Drawing order.
BELOW, BODY, JOINT, FRAME, WORDS = 1.0, 2.0, 4.0, 5.0, 7.0


def body(axes: Any, polygon: FloatArray, fill: Any, *, hatched: bool = False, faint: bool = False) -> None:
    """Fill a polygon (m, 2), with a thin outline; fixed bodies are hatched, traces are faint."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Polygon

    look: dict[str, Any] = {"facecolor": to_rgba(fill, 0.38), "edgecolor": fill, "linewidth": 1.1, "zorder": BODY}
    if faint:
        look = {"facecolor": to_rgba(fill, 0.10), "edgecolor": to_rgba(fill, 0.45), "linewidth": 0.8, "zorder": BELOW}
    axes.add_patch(Polygon(polygon, closed=True, joinstyle="round", hatch="////" if hatched else None, **look))


def obstacle(axes: Any, polygon: FloatArray) -> None:
    """Fill an obstacle: dark grey."""
    from matplotlib.patches import Polygon

    axes.add_patch(Polygon(polygon, closed=True, facecolor=OBSTACLE, edgecolor=INK, linewidth=1.1, zorder=BELOW))


def pin(axes: Any, at: FloatArray, radius: float, *, loop: bool = False) -> None:
    """Draw the circle of a revolute joint; that of a loop has a dot."""
    from matplotlib.patches import Circle

    axes.add_patch(Circle(_pair(at), radius, facecolor="white", edgecolor=INK, linewidth=1.3, zorder=JOINT))
    if loop:
        axes.add_patch(Circle(_pair(at), 0.45 * radius, facecolor=INK, edgecolor="none", zorder=JOINT))


def slot(axes: Any, at: FloatArray, angle: float, radius: float) -> None:
    """Draw the slot of a prismatic joint along its direction, with the block that slides in it."""
    from matplotlib.patches import Circle, FancyBboxPatch
    from matplotlib.transforms import Affine2D

    turned = Affine2D().rotate(angle).translate(*at) + axes.transData
    box: Any = {"boxstyle": f"round,pad=0,rounding_size={radius}", "mutation_aspect": 1.0}
    look: Any = {"facecolor": "white", "edgecolor": INK, "linewidth": 1.3, "zorder": JOINT}
    axes.add_patch(FancyBboxPatch((-3.2 * radius, -radius), 6.4 * radius, 2.0 * radius, transform=turned, **box, **look))
    axes.add_patch(Circle(_pair(at), 0.6 * radius, facecolor=INK, edgecolor="none", zorder=JOINT))


def weld(axes: Any, at: FloatArray, radius: float) -> None:
    """Draw the square of a fixed joint."""
    from matplotlib.patches import Rectangle

    corner = at - 0.7 * radius
    axes.add_patch(Rectangle(_pair(corner), 1.4 * radius, 1.4 * radius, facecolor=INK, edgecolor="none", zorder=JOINT))


def ground(axes: Any, at: FloatArray, angle: float, radius: float) -> None:
    """Draw hatched ground beside a joint, along a direction."""
    turn = rotation_z(angle)[:2, :2].astype(float)
    wide, deep = 4.5 * radius, 2.2 * radius
    foot = np.array([[0.0, 0.0], [-1.6 * radius, -deep], [1.6 * radius, -deep]])
    line(axes, at + np.array([[-wide, -deep], [wide, -deep]]) @ turn.T, color=INK, linewidth=1.3, zorder=BELOW)
    for x in np.linspace(-wide + radius, wide, 8):
        stroke = np.array([[x, -deep], [x - radius, -deep - radius]])
        line(axes, at + stroke @ turn.T, color=INK, linewidth=0.8, zorder=BELOW)
    line(axes, at + foot[[1, 0, 2]] @ turn.T, color=INK, linewidth=1.1, zorder=BELOW)


def _pair(point: FloatArray) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def line(axes: Any, points: FloatArray, **look: Any) -> None:
    """Draw a line through points (k, 2)."""
    axes.plot(*np.asarray(points).T, solid_capstyle="round", **look)


def arrow(axes: Any, start: Any, end: Any, color: str, *, ends: str = "-|>", width: float = 1.5) -> None:
    """Draw an arrow."""
    shape = {"arrowstyle": ends, "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 10}
    axes.annotate("", end, start, arrowprops=shape, zorder=FRAME, annotation_clip=False)


def words(axes: Any, at: Any, text: str, color: str = INK, size: float = 10.0, **look: Any) -> Any:
    """Write a formula at a point, with a white rim."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2.5, foreground="white")]
    place = {"ha": "center", "va": "center", **look}
    return axes.text(*at, text, fontsize=size, color=color, zorder=WORDS, path_effects=halo, **place)


def named(axes: Any, at: Any, text: str, color: str = INK, size: float = 9.0, **look: Any) -> Any:
    """Write a name as it is: a dollar sign makes no formula."""
    label = words(axes, at, " ", color, size, **look)
    literal(label, text)
    return label


def frame(axes: Any, pose: FloatArray, length: float, index: str = "", *, size: float = 10.0) -> None:
    """Draw a body frame (3, 3): its x and y axis with their labels."""
    origin = pose[:2, 2]
    for letter, direction, color in (("x", pose[:2, 0], X), ("y", pose[:2, 1], Y)):
        arrow(axes, origin, origin + length * direction, color)
        if index:
            aside = np.array([-direction[1], direction[0]])  # so that those of opposite axes do not meet
            words(axes, origin + length * (1.08 * direction + 0.2 * aside), f"${letter}_{{{index}}}$", color, size)


def dimension(axes: Any, start: FloatArray, end: FloatArray, aside: FloatArray, text: str) -> None:
    """Draw a dimension line between two points, shifted aside, with lines to the points."""
    for point in (start, end):
        line(axes, np.array([point, point + 1.12 * aside]), color=GROUND, linewidth=0.8, zorder=FRAME)
    arrow(axes, start + aside, end + aside, INK, ends="<|-|>", width=1.0)
    words(axes, 0.5 * (start + end) + 1.0 * aside, text, size=11.0)


def angle(axes: Any, at: FloatArray, start: float, sweep: float, radius: float, text: str) -> FloatArray:
    """Draw an angle at a point, from the direction ``start`` on, rad, with an arrow head and its name; return where."""
    along = start + np.linspace(0.0, sweep, 40)
    arc = at + radius * np.stack((np.cos(along), np.sin(along)), axis=1)
    line(axes, arc, color=INK, linewidth=1.0, zorder=FRAME)
    if abs(sweep) * radius > 0:
        arrow(axes, arc[-4], arc[-1], INK, width=1.0)
    middle = start + 0.4 * sweep
    place = at + 1.18 * radius * np.array([math.cos(middle), math.sin(middle)])
    words(axes, place, text, size=11.0)
    return np.asarray(place)
