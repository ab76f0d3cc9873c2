"""What stands about a mechanism in its picture: frames, the ground under it or the base that floats, the tool."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.skeleton import Skeleton
from linkwise.view.drawing.strokes import Stroke

TRIAD, GROUND, FREE = 0.095, 0.13, 0.15
"""Length of frame axes, half side of the ground, length of the axes of a floating base: shares of the mechanism's size."""

AXES = ("#d62728", "#2ca02c", "#1f77ff")
"""Colours of x, y and z."""


def triad(frame: FloatArray, length: float, width: float = 1.6, *, moves: bool = True) -> Iterator[Stroke]:
    """The axes of a frame."""
    origin = frame[:3, 3]
    for k, one in enumerate(AXES):
        look = {"color": one, "linewidth": width, "solid_capstyle": "round"}
        yield Stroke(np.array([origin, origin + frame[:3, k] * length]), 3.0, look, moves)


def ground(laid: Skeleton) -> Iterator[Stroke]:
    """A square under the base, at a right angle to the axis of the first joint or level, hatched as ground."""
    side, origin = laid.size * GROUND, laid.base[:3, 3]
    turned = laid.base[:3, :3]
    first = laid.places[0]
    if first.parent < 0 and first.link.joint == "revolute" and float(np.linalg.norm(first.joint[:3, 3] - origin)) < side:
        turned = rotation_between((0.0, 0.0, 1.0), first.joint[:3, 2] * _sense(first.joint[:3, 2], laid))
    u, v, w = turned.T * side
    square = origin + np.array([u + v, u - v, -u - v, -u + v, u + v])
    yield Stroke(square, 1.0, {"color": "0.45", "linewidth": 1.2}, moves=False)
    for share in np.linspace(-0.9, 0.9, 9):
        for edge, across in ((v, u), (u, v)):
            start = origin + across * share - edge
            hatch = np.array([start, start - w * 0.22 - across * 0.18])
            yield Stroke(hatch, 1.0, {"color": "0.55", "linewidth": 0.9}, moves=False)


def free_body(laid: Skeleton) -> Iterator[Stroke]:
    """The frame of a base that floats: long axes with a ring at the origin, for nothing holds it."""
    yield from triad(laid.base, laid.size * FREE, 2.6)
    ring = {"marker": "o", "markersize": 9, "markerfacecolor": "white", "markeredgecolor": "0.3", "markeredgewidth": 1.6}
    yield Stroke(laid.base[None, :3, 3], 3.5, ring)


def tool(mechanism: Tree, laid: Skeleton) -> Iterator[Stroke]:
    """The tool's frame, longer than the others, joined to its link by a line where no rod of the link leads to it."""
    at, last = laid.tool[:3, 3], laid.places[mechanism.tool_index].frame[:3, 3]
    if not np.array_equal(mechanism.tool, np.eye(4)):
        bars = [
            bar for one in laid.closures for k, bar in zip(one.links, one.bars, strict=True) if k == mechanism.tool_index
        ]
        if not any(float(np.linalg.norm(bar[1] - at)) < 1e-6 * laid.size for bar in bars):
            yield Stroke(np.array([last, at]), 2.5, {"color": "0.3", "linewidth": 2.2})
        yield from triad(laid.tool, laid.size * TRIAD * 1.3)
    yield Stroke(at[None], 4.0, {"color": "black", "marker": "o", "markersize": 4})


def _sense(axis: FloatArray, laid: Skeleton) -> float:
    """Return the sign that makes the axis point away from the ground, towards the mechanism."""
    centre = laid.points.mean(axis=0) - laid.base[:3, 3]
    along = float(axis @ centre)
    return -1.0 if along < -0.15 * laid.size else 1.0
