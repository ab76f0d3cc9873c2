"""A workspace as a solid: the outer faces of its cells, with a quarter cut out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.kinematics.workspace import Workspace
from linkwise.kinematics.workspace_map import Grid
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, figure, literal
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.painter import AXES
from linkwise.view.drawing.render import dress, space
from linkwise.view.scene import Layout
from linkwise.view.scene.scene import TRIAD

PLAIN = "#9ecae1"
"""Colour of a region shown without manipulability."""

AROUND, MOST = 60, 60
"""Cells about the axis, and along each other direction, that are drawn at most."""

CUT = (-100.0, 0.0)
"""The angles about the axis between which the body is cut open, deg; the viewer looks in there."""


def solid(mechanism: Tree, region: Workspace, laid: Layout, *, coloured: bool) -> Any:
    """Draw the body with the mechanism in it; see `linkwise.view.plots.workspace_plot.draw`."""
    picture = figure(8.5, 7.0)
    from matplotlib import colormaps
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    axes = space(picture, (0.0, 0.02, 0.86, 0.92))
    faces, shares, normals = _faces(region)
    colours = colormaps[MAP_COLOURS](shares)[:, :3] if coloured else np.tile(to_rgb(PLAIN), (len(faces), 1))
    lit = (0.78 + 0.22 * np.abs(normals @ (0.36, -0.48, 0.8)))[:, None] * colours
    axes.add_collection3d(Poly3DCollection(faces, facecolors=lit, edgecolors=lit, linewidths=0.2, zorder=1), autolim=False)
    _mechanism(axes, laid)
    _view(axes, np.concatenate([faces.reshape(-1, 3), laid.points()]))
    if coloured:
        bar = picture.colorbar(ScalarMappable(cmap=MAP_COLOURS), cax=picture.add_axes((0.88, 0.2, 0.02, 0.6)))
        bar.set_label(f"manipulability, share of the greatest, {region.best:.3g}")
    literal(picture.suptitle(" ", fontsize=11), title(mechanism, region))
    return picture


def title(mechanism: Tree, region: Workspace) -> str:
    """What stands above a picture."""
    return f"{plain(mechanism.name)}: what {plain(region.frame)} reaches"


# ── faces ─────────────────────────────────────────────────────────────────────────────────────────


def _faces(region: Workspace) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corners (k, 4, 3) of the faces that show, their shares of the greatest manipulability (k,), and normals (k, 3)."""
    grid, best = region.grid, np.where(np.isnan(region.grid.best), -np.inf, region.grid.best)
    edges, best = _coarse(grid, best)
    if grid.has_axis:
        middles = np.degrees(0.5 * (edges[2][1:] + edges[2][:-1]))
        best = np.where((middles > CUT[0]) & (middles < CUT[1]), -np.inf, best)
    faces, values = [], []
    for axis in range(3):
        for side in (0, 1):
            beside = np.roll(best, 1 - 2 * side, axis)
            if not (grid.has_axis and axis == 2):
                beside[(slice(None),) * axis + (-side,)] = -np.inf
            cells = np.argwhere((best > -np.inf) & (beside == -np.inf))
            faces.append(_corners(grid, edges, cells, axis, side))
            values.append(best[tuple(cells.T)])
    shown, shares = np.concatenate(faces), np.concatenate(values) / max(region.best, 1e-300)
    normals = np.cross(shown[:, 2] - shown[:, 0], shown[:, 3] - shown[:, 1])
    return shown, shares, normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)


def _coarse(grid: Grid, best: FloatArray) -> tuple[list[FloatArray], FloatArray]:
    """Fewer and larger cells, each with the best of those in it; many about the axis where there was one."""
    edges = list(grid.edges)
    for axis in range(3):
        count = len(edges[axis]) - 1
        step = -(-count // (AROUND if grid.has_axis and axis == 2 else MOST))
        starts = np.arange(0, count, step)
        best = np.maximum.reduceat(best, starts, axis=axis)
        edges[axis] = edges[axis][[*starts, count]]
    if grid.has_axis and best.shape[2] == 1:
        best, edges[2] = np.repeat(best, AROUND, axis=2), np.linspace(-np.pi, np.pi, AROUND + 1)
    return edges, best


def _corners(grid: Grid, edges: list[FloatArray], cells: Any, axis: int, side: int) -> FloatArray:
    """Corners (k, 4, 3), world frame, of one side of cells (k, 3)."""
    others = [k for k in range(3) if k != axis]
    corners = np.empty((len(cells), 4, 3))
    for corner, (a, b) in enumerate(((0, 0), (1, 0), (1, 1), (0, 1))):
        add = np.zeros(3, dtype=int)
        add[axis], add[others[0]], add[others[1]] = side, a, b
        corners[:, corner] = np.column_stack([edges[k][cells[:, k] + add[k]] for k in range(3)])
    if grid.has_axis:
        r, z, angle = np.moveaxis(corners, -1, 0)
        corners = np.stack([r * np.cos(angle), r * np.sin(angle), z], axis=-1)
    return np.asarray(corners @ grid.frame[:3, :3].T + grid.frame[:3, 3])


# ── the rest of the picture ───────────────────────────────────────────────────────────────────────


def draw_lines(axes: Any, lines: Sequence[FloatArray]) -> None:
    """Draw the lines (m, 2) or (m, 3) of a mechanism, dark with a white rim."""
    for width, shade, order in ((5.0, "white", 3.0), (2.2, "0.15", 3.1)):
        for corners in lines:
            axes.plot(*corners.T, color=shade, linewidth=width, solid_capstyle="round", zorder=order)


def _mechanism(axes: Any, laid: Layout) -> None:
    draw_lines(axes, laid.lines())
    axes.plot(*laid.tool()[:3, 3, None], marker="o", markersize=6.0, color="#d55e00", markeredgecolor="0.15", zorder=3.2)
    base = laid.poses[0]
    for k, shade in enumerate(AXES):
        ends = np.array([base[:3, 3], base[:3, 3] + base[:3, k] * laid.size * TRIAD])
        axes.plot(*ends.T, color=shade, linewidth=1.6, solid_capstyle="round", zorder=3.0)


def _view(axes: Any, points: FloatArray) -> None:
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.02 * float((high - low).max())
    dress(axes, low - room, high + room)
    axes.set_box_aspect(high - low + 2 * room)
    axes.set_proj_type("ortho")
    axes.view_init(elev=24.0, azim=-50.0)
