"""What stands about a mechanism in its picture: frames, the ground under it or the base that floats, the tool."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.view.skeleton import Skeleton

TRIAD, GROUND, FREE = 0.095, 0.13, 0.15
"""Length of frame axes, half side of the ground, length of the axes of a floating base: shares of the mechanism's size."""

AXES = ("#d62728", "#2ca02c", "#1f77ff")
"""Colours of x, y and z."""


def triad(axes: Any, frame: FloatArray, length: float, width: float = 1.6) -> None:
    """Draw the axes of a frame."""
    origin = frame[:3, 3]
    for k, one in enumerate(AXES):
        tip = origin + frame[:3, k] * length
        axes.plot(*np.array([origin, tip]).T, color=one, linewidth=width, solid_capstyle="round", zorder=3)


def ground(axes: Any, laid: Skeleton) -> None:
    """Draw a square under the base, at a right angle to the axis of the first joint or level, hatched as ground."""
    side, origin = laid.size * GROUND, laid.base[:3, 3]
    turned = laid.base[:3, :3]
    first = laid.places[0]
    if first.parent < 0 and first.link.joint == "revolute" and float(np.linalg.norm(first.joint[:3, 3] - origin)) < side:
        turned = rotation_between((0.0, 0.0, 1.0), first.joint[:3, 2] * _sense(first.joint[:3, 2], laid))
    u, v, w = turned.T * side
    square = origin + np.array([u + v, u - v, -u - v, -u + v, u + v])
    axes.plot(*square.T, color="0.45", linewidth=1.2, zorder=1)
    for share in np.linspace(-0.9, 0.9, 9):
        for edge, across in ((v, u), (u, v)):
            start = origin + across * share - edge
            axes.plot(*np.array([start, start - w * 0.22 - across * 0.18]).T, color="0.55", linewidth=0.9, zorder=1)


def free_body(axes: Any, laid: Skeleton) -> None:
    """Draw the frame of a base that floats: long axes with a ring at the origin, for nothing holds it."""
    triad(axes, laid.base, laid.size * FREE, 2.6)
    ring = {"marker": "o", "markersize": 9, "markerfacecolor": "white", "markeredgecolor": "0.3", "markeredgewidth": 1.6}
    axes.plot(*laid.base[:3, 3, None], zorder=3.5, **ring)


def _sense(axis: FloatArray, laid: Skeleton) -> float:
    """Return the sign that makes the axis point away from the ground, towards the mechanism."""
    centre = laid.points.mean(axis=0) - laid.base[:3, 3]
    along = float(axis @ centre)
    return -1.0 if along < -0.15 * laid.size else 1.0


def tool(axes: Any, mechanism: Tree, laid: Skeleton) -> None:
    """Draw the tool's frame longer than the others, joined to its link by a line where it is away from it."""
    last = laid.places[mechanism.tool_index].frame[:3, 3]
    if not np.array_equal(mechanism.tool, np.eye(4)):
        axes.plot(*np.array([last, laid.tool[:3, 3]]).T, color="0.3", linewidth=2.2, zorder=2.5)
        triad(axes, laid.tool, laid.size * TRIAD * 1.3)
    axes.plot(*laid.tool[:3, 3, None], color="black", marker="o", markersize=4, zorder=4)
