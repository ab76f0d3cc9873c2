"""From where a picture of a mechanism is seen: equal scales, a side on which it spreads out, no room wasted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing import labels
from linkwise.view.drawing.frames import FREE, GROUND
from linkwise.view.drawing.skeleton import Skeleton

SIDE, FILLED, BORDER, HEAD = 7.0, 0.82, 1.6, 0.35
"""Side of the square into which space is projected and the share to be filled; room for edges and title; in inches."""

LABEL, BEFORE, SLENDER = (10.0, 10.0, 8.0), 21.0, 0.7
"""How far the names of the axes are from the numbers, points, beside what matplotlib adds; it scales both with the sides of
the box across the axis, so below this share of the longest side the name is moved out, off the numbers."""

THIN = 0.12
"""An axis shorter than this share of the longest has one number: more would run into each other."""


def look_at(axes: Any, mechanism: Tree, postures: list[Skeleton], more: FloatArray) -> FloatArray:
    """Set scales and point of view for postures and more points (m, 3); return the shares (2,) of the square they fill."""
    points = np.concatenate([more, *(posture.points for posture in postures), *(_rotors(mechanism, p) for p in postures)])
    low, high = points.min(axis=0), points.max(axis=0)
    for laid in postures:
        room = laid.size * 0.11 + laid.extent * 0.02
        below = laid.size * np.array([[1, 1, 1], [-1, -1, -1]]) * (FREE if mechanism.floating else (GROUND, GROUND, 0.0))
        floor = laid.base[:3, 3] + below
        corners = np.concatenate([laid.points - room, laid.points + room, floor])
        low, high = np.minimum(low, corners.min(axis=0)), np.maximum(high, corners.max(axis=0))
    _dress(axes, low, high)
    axes.set_proj_type("ortho")
    elevation, azimuth = _viewpoint(points - points.mean(axis=0))
    axes.view_init(elev=elevation, azim=azimuth)
    return _fill(axes, low, high)


def trim(made: Any, axes: Any, shares: FloatArray) -> None:
    """Cut the figure down to what is filled, with a border for the numbers on the edges and room for the title."""
    width, height = shares * SIDE + BORDER
    made.set_size_inches(width, height + HEAD)
    across, up = SIDE / width, SIDE / (height + HEAD)
    axes.set_position((0.5 - across / 2, 0.5 * height / (height + HEAD) - up / 2, across, up))


def _rotors(mechanism: Tree, laid: Skeleton) -> FloatArray:
    """Centres (m, 3) of the rotors that are bodies of their own."""
    found = [labels.rotor(mechanism, laid, drive) for drive in mechanism.drives]
    return np.array([one[1] for one in found if one]).reshape(-1, 3)


def _dress(axes: Any, low: FloatArray, high: FloatArray) -> None:
    sides = high - low
    across = np.sqrt((sides**2).sum() - sides**2) / sides.max()
    pads = (np.array(LABEL) + BEFORE) * np.maximum(1.0, SLENDER / across) - BEFORE
    for name, start, end, pad in zip("xyz", low, high, pads, strict=True):
        getattr(axes, f"set_{name}lim")(start, end)
        getattr(axes, f"set_{name}label")(f"{name} [m]", fontsize=9, labelpad=float(pad))
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"].update(color="0.9", linewidth=0.6)
        axis.set_major_locator(_ticks(float(end - start), float((high - low).max())))
    axes.tick_params(labelsize=8)


def _ticks(extent: float, largest: float) -> Any:
    from matplotlib.ticker import MaxNLocator

    share, steps = extent / largest, [1, 2, 5, 10]
    return MaxNLocator(nbins=max(2, round(6 * share)), steps=steps) if share > THIN else MaxNLocator(1, min_n_ticks=1)


def _fill(axes: Any, low: FloatArray, high: FloatArray) -> FloatArray:
    """Zoom so that the box between two corners fills the picture; return the shares (2,) of width and height it takes."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    axes.set_box_aspect(high - low)
    axes.apply_aspect()
    corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1)
    x, y, _ = proj_transform(*corners, axes.get_proj())
    shown = axes.transData.transform(np.stack((x, y), axis=1))
    share = np.ptp(shown, axis=0) / np.array([axes.bbox.width, axes.bbox.height])
    zoom = FILLED / float(share.max())
    axes.set_box_aspect(high - low, zoom=zoom)
    return np.asarray(share * zoom)


def _viewpoint(points: FloatArray) -> tuple[float, float]:
    """Elevation and azimuth (deg): from the side on which the points spread widest, a little turned and from above."""
    spread = np.ptp(points, axis=0)
    if spread[2] < 0.08 * spread.max():
        return 58.0, -78.0
    _, directions = np.linalg.eigh(np.cov(points[:, :2].T) + 1e-15 * np.eye(2))
    normal = directions[:, 0]
    if normal[1] > 0:
        normal = -normal
    return 20.0, math.degrees(math.atan2(normal[1], normal[0])) + 28.0
