"""Pictures of a workspace: cells coloured by manipulability, its outer faces as a solid, and the mechanism."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, figure, literal
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice
from linkwise.view.drawing.painter import AXES
from linkwise.view.drawing.render import dress, space
from linkwise.view.scene.layout import SceneLayout, lay_out
from linkwise.view.scene.scene import TRIAD
from linkwise.workspace import Workspace
from linkwise.workspace import workspace as reachable
from linkwise.workspace.grid import Grid

#: Colour of a region shown without manipulability.
PLAIN = "#9ecae1"

#: Cells about the axis, and along each other direction, that are drawn at most.
AROUND, MOST = 60, 60

#: Angles about the axis between which the body is cut open, deg; the view is towards the cut.
CUT = (-100.0, 0.0)


def solid(mechanism: Tree, region: Workspace, laid: SceneLayout, *, coloured: bool) -> Any:
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
    _mechanism_lines(axes, laid)
    _view(axes, np.concatenate([faces.reshape(-1, 3), laid.points()]))
    if coloured:
        bar = picture.colorbar(ScalarMappable(cmap=MAP_COLOURS), cax=picture.add_axes((0.88, 0.2, 0.02, 0.6)))
        bar.set_label(f"manipulability, share of the greatest, {region.best:.3g}")
    literal(picture.suptitle(" ", fontsize=11), title(mechanism, region))
    return picture


def title(mechanism: Tree, region: Workspace) -> str:
    """Title of a picture."""
    return f"{plain(mechanism.name)}: workspace of {plain(region.frame)}"


# ── faces ─────────────────────────────────────────────────────────────────────────────────────────


def _faces(region: Workspace) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Corners (k, 4, 3) of visible faces, their shares of the greatest manipulability (k,), and normals (k, 3)."""
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


def _mechanism_lines(axes: Any, laid: SceneLayout) -> None:
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


#: Random postures that a picture takes.
SAMPLES = 100_000

#: Views of `draw`.
PLANES = ("auto", "xz", "yz", "xy", "3d")

#: Quantities shown by colour.
MEASURES = ("manipulability", "reach")

#: Greatest width of the panels together, and greatest height, inches.
WIDEST, TALLEST = 11.0, 5.6

#: Least number of pieces drawn about the axis, so that circles look round.
ROUND = 180


#: From points (k, 3), world frame, to places (k, 2) in a picture.
Projection = Callable[[FloatArray], FloatArray]


def everywhere(points: FloatArray) -> npt.NDArray[np.bool_]:
    """Mask (k,) of all points (k, 3)."""
    return np.ones(len(points), dtype=bool)


@dataclass(frozen=True, eq=False)
class MapPanel:
    """One planar map: corners (a+1, b+1) of its cells, their values (a, b), and the projection of points.

    ``project`` is that of the mechanism in its posture; ``places`` says where points (k, 3) belong in the map, ``rows``
    along which two directions (2, 3) the map goes at a point (3,), ``near`` which points (k, 3) it shows. ``centre`` (2,) is
    where the first axis is seen from its end: the postures there may be turned about it.
    """

    title: str
    x: FloatArray
    y: FloatArray
    values: FloatArray
    labels: tuple[str, str]
    project: Projection
    places: Projection
    rows: Projection
    near: Callable[[FloatArray], npt.NDArray[np.bool_]] = everywhere
    centre: FloatArray | None = None

    @property
    def corners(self) -> FloatArray:
        """The corners (k, 2) of the cells that have a value."""
        full = np.pad(~np.isnan(self.values), 1)
        used = full[:-1, :-1] | full[1:, :-1] | full[:-1, 1:] | full[1:, 1:]
        return np.column_stack([self.x[used], self.y[used]])


def workspace(
    mechanism: Tree, *, plane: str = "auto", measure: str = "manipulability", samples: int | None = None, **options: Any
) -> Any:
    """Draw the workspace of a mechanism, coloured by manipulability.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base.
    plane : {"auto", "xz", "yz", "xy", "3d"}
        What is drawn: "auto" a plane through the axis of the first joint and the view along it; "xz", "yz" and "xy" that
        plane; "3d" the region as a body with a quarter cut out.
    measure : {"manipulability", "reach"}
        What the colours tell.
    samples : int, optional
        Random postures to try, 1000 or more; fewer are quicker and leave the edge rougher. 100,000 if not given, with loops
        as for `linkwise.workspace.workspace`.
    options
        Those of `linkwise.workspace.workspace`: ``link``, ``ranges``, ``pointing``, ``cells``, ``seed`` and others.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For a plane, measure or option that cannot be, or a base that floats.

    Examples
    --------
    >>> import linkwise as lw
    >>> made = workspace(lw.robots.planar_2r(), samples=2000, cells=32)
    >>> made.get_suptitle()
    'planar_2r: workspace of the tool'
    """
    mechanism.require_numbers("a picture")
    count = samples if samples is not None or mechanism.loops else SAMPLES
    return draw(mechanism, reachable(mechanism, samples=count, **options), plane=plane, measure=measure)


def draw(mechanism: Tree, region: Workspace, *, plane: str = "auto", measure: str = "manipulability") -> Any:
    """Draw a workspace.

    Parameters
    ----------
    mechanism : Mechanism
        Its mechanism; drawn in the posture of greatest manipulability.
    region : Workspace
        What `linkwise.workspace.workspace` found.
    plane : {"auto", "xz", "yz", "xy", "3d"}
        "auto" draws what is reached in a plane through the axis of the first joint, against the distance from it, and the
        view along that axis. "xz" and "yz" are sections through an upright first axis, "xy" the view along it; where there
        is no such axis they show what is reached seen along the axis of the world that is not named. "3d" draws the region
        as a body, a quarter cut out.
    measure : {"manipulability", "reach"}
        Whether colours tell the greatest manipulability in each cell, or only that it is reached.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For another plane or measure, or a plane that does not hold the first axis.
    """
    choice("plane", plane, PLANES)
    coloured = choice("measure", measure, MEASURES) == "manipulability"
    if plane == "3d":
        return solid(mechanism, region, lay_out(mechanism, region.best_q), coloured=coloured)
    return draw_panels(mechanism, region, plane=plane, coloured=coloured)[0]


def draw_panels(
    mechanism: Tree, region: Workspace, *, plane: str = "auto", coloured: bool = True
) -> tuple[Any, list[tuple[Any, MapPanel]]]:
    """Draw the maps of a workspace; return the figure, and the axes of each panel with the panel."""
    choice("plane", plane, PLANES[:-1])
    laid = lay_out(mechanism, region.best_q)
    panels = _panels(region, plane)
    spans = [_span(panel, laid) for panel in panels]
    shapes = [float(high[0] - low[0]) / float(high[1] - low[1]) for low, high in spans]
    height = min(TALLEST, WIDEST / sum(shapes))
    widths = [height * shape for shape in shapes]
    picture = figure(sum(widths) + 0.9 * len(panels) + 1.1 * coloured, height + 1.3)
    grid = picture.subplots(1, len(panels), squeeze=False, width_ratios=widths)[0]
    for axis, panel, span in zip(grid, panels, spans, strict=True):
        mesh = _region(axis, panel, region.best, coloured=coloured)
        _mechanism(axis, panel, laid)
        _dress(axis, panel, span)
    if coloured:
        bar = picture.colorbar(mesh, ax=list(grid), fraction=0.05, pad=0.02)
        bar.set_label(f"manipulability, share of the greatest, {region.best:.3g}")
    literal(picture.suptitle(" ", fontsize=11), title(mechanism, region))
    return picture, list(zip(grid, panels, strict=True))


# ── maps ──────────────────────────────────────────────────────────────────────────────────────────


def _panels(region: Workspace, plane: str) -> list[MapPanel]:
    grid = region.grid
    if not grid.has_axis:
        flat = [names for names, thin in zip(("yz", "xz", "xy"), grid.thin, strict=True) if thin]
        return [_shadow(region, name) for name in (flat[:1] or ["xz", "xy"] if plane == "auto" else [plane])]
    if plane == "auto":
        panels = [] if grid.thin[1] else [_beside(region)]
        return panels if grid.thin[0] else [*panels, _along(region)]
    k = "xyz".index(next(name for name in "xyz" if name not in plane))
    if abs(grid.frame[k, 2]) > 1 - 1e-9:
        return [_along(region)]
    if abs(grid.frame[2, 2]) < 1 - 1e-9:
        raise ArgumentError(f"plane is {plane!r}, but the first joint turns about no axis in it; expected 'auto'")
    return [_section(region, plane)]


def _beside(region: Workspace) -> MapPanel:
    """Map of points reached at any angle about the first axis, by their distance from it."""
    grid = region.grid
    x, y = np.meshgrid(grid.edges[0], grid.edges[1] + _offset(region)[2], indexing="ij")
    project = _turned_in(region, 0.0)
    labels = ("distance from the first axis [m]", f"{_name(grid.frame[:3, 2], 'height along the first axis')} [m]")
    height = _offset(region)[2]

    def places(p: FloatArray) -> FloatArray:
        local = grid.local(p)
        return np.column_stack([np.hypot(local[:, 0], local[:, 1]), local[:, 2] + height])

    def rows(p: FloatArray) -> FloatArray:
        x, y, _ = grid.local(p[None])[0]
        away = np.hypot(x, y) or 1.0
        return np.stack([(grid.frame[:3, 0] * x + grid.frame[:3, 1] * y) / away, grid.frame[:3, 2]])

    return MapPanel("in a plane through the first axis", x, y, _most(grid.best, 2), labels, project, places, rows)


def _along(region: Workspace) -> MapPanel:
    """Map of points reached at any height, seen along the first axis."""
    grid = region.grid
    values, angles = _most(grid.best, 1), grid.edges[2]
    finer = -(-ROUND // (len(angles) - 1))
    values, angles = np.repeat(values, finer, axis=1), np.linspace(-np.pi, np.pi, finer * (len(angles) - 1) + 1)
    r, a = np.meshgrid(grid.edges[0], angles, indexing="ij")
    across, up, _ = _offset(region)
    labels = (f"{_name(grid.frame[:3, 0], 'across')} [m]", f"{_name(grid.frame[:3, 1], 'up')} [m]")

    def project(p: FloatArray) -> FloatArray:
        return np.asarray(grid.local(p)[:, :2] + [across, up])

    title = "" if grid.thin[1] else "seen along the first axis"
    directions = grid.frame[:3, :2].T
    x, y = r * np.cos(a) + across, r * np.sin(a) + up
    return MapPanel(title, x, y, values, labels, project, project, lambda _: directions, everywhere, np.array([across, up]))


def _section(region: Workspace, plane: str) -> MapPanel:
    """Map of points reached in a plane through the first axis, which is drawn upright."""
    grid = region.grid
    k = "xy".index(plane[0])
    ahead = (0.0, 0.5 * np.pi)[k]
    sides = [grid.best[:, :, _cell(grid.edges[2], angle)] for angle in (ahead + np.pi, ahead)]
    gap = np.full((1, grid.best.shape[1]), np.nan)
    offset = _offset(region)
    x, y = np.meshgrid(
        np.concatenate([-grid.edges[0][::-1], grid.edges[0]]) + offset[k], grid.edges[1] + offset[2], indexing="ij"
    )
    values, labels = np.concatenate([sides[0][::-1], gap, sides[1]]), (f"{plane[0]} [m]", "z [m]")
    title = f"section through the first axis, {'yx'[k]} = {offset[1 - k]:g} m"
    beside = _beside(region)

    def near(p: FloatArray) -> npt.NDArray[np.bool_]:
        local = grid.local(p)
        places = (np.hypot(local[:, 0], local[:, 1]), local[:, 2])
        cells = [np.searchsorted(edges[1:-1], at, side="right") for edges, at in zip(grid.edges, places, strict=False)]
        return ~np.isnan(sides[1][cells[0], cells[1]])

    def places(p: FloatArray) -> FloatArray:
        return np.asarray(beside.places(p) + np.array([offset[k], 0.0]))

    return MapPanel(title, x, y, values, labels, _turned_in(region, offset[k]), places, beside.rows, near)


def _turned_in(region: Workspace, across: float) -> Projection:
    """The mechanism turned about the first axis until the tool lies in the plane of the picture, to the right."""
    grid = region.grid
    tool = grid.local(region.best_position[None])[0]
    away = float(np.hypot(*tool[:2]))
    ahead = tool[:2] / away if away > 1e-9 else np.array([1.0, 0.0])
    shift = np.array([across, _offset(region)[2]])
    return lambda p: np.column_stack([grid.local(p)[:, :2] @ ahead, grid.local(p)[:, 2]]) + shift


def _shadow(region: Workspace, plane: str) -> MapPanel:
    """Map of points reached, projected along an axis of the world, in the order x, y, z."""
    grid = region.grid
    first, second = ("xyz".index(name) for name in plane)
    x, y = np.meshgrid(grid.edges[first], grid.edges[second], indexing="ij")

    def project(p: FloatArray) -> FloatArray:
        return np.asarray(p[:, [first, second]])

    third = 3 - first - second
    title = "" if grid.thin[third] else f"seen along {'xyz'[third]}"
    labels, values = (f"{plane[0]} [m]", f"{plane[1]} [m]"), _most(grid.best, third)
    return MapPanel(title, x, y, values, labels, project, project, lambda _: np.eye(3)[[first, second]])


def _most(values: FloatArray, axis: int) -> FloatArray:
    """Maximum along an axis; NaN if all are."""
    greatest = np.where(np.isnan(values), -np.inf, values).max(axis=axis)
    return np.where(greatest > -np.inf, greatest, np.nan)


def _offset(region: Workspace) -> FloatArray:
    """Offset of the world's origin from the map's, along the axes of the map (3,)."""
    return np.asarray(region.grid.frame[:3, 3] @ region.grid.frame[:3, :3])


def _cell(edges: FloatArray, angle: float) -> int:
    turned = (angle + np.pi) % (2 * np.pi) - np.pi
    return int(np.clip(np.searchsorted(edges, turned, side="right") - 1, 0, len(edges) - 2))


def _name(direction: FloatArray, otherwise: str) -> str:
    """The name of a direction: that of the world's axis along it."""
    k = int(np.argmax(np.abs(direction)))
    return "xyz"[k] if direction[k] > 1 - 1e-9 else otherwise


# ── what is drawn ─────────────────────────────────────────────────────────────────────────────────


def _region(axis: Any, panel: MapPanel, greatest: float, *, coloured: bool) -> Any:
    from matplotlib.colors import ListedColormap

    shares = panel.values / greatest if greatest > 0 else panel.values
    look = {"cmap": MAP_COLOURS, "vmin": 0.0, "vmax": 1.0} if coloured else {"cmap": ListedColormap([PLAIN])}
    return axis.pcolormesh(panel.x, panel.y, shares, shading="flat", rasterized=True, zorder=1, **look)


def _mechanism(axis: Any, panel: MapPanel, laid: SceneLayout) -> None:
    """Draw the rods, the joints that move, the base and the tool."""
    draw_lines(axis, [panel.project(line) for line in laid.lines()])
    moving = [link.moves for link in laid.tree.links]
    places = (laid.joint_frames()[moving, :3, 3], laid.poses[:1, :3, 3], laid.tool()[None, :3, 3])
    looks = (("o", 5.0, "white", 3.2), ("s", 9.0, "0.6", 2.9), ("o", 6.0, "#d55e00", 3.2))
    for points, (marker, size, fill, order) in zip(places, looks, strict=True):
        look = {"linestyle": "none", "markeredgecolor": "0.15", "marker": marker, "markersize": size, "zorder": order}
        axis.plot(*panel.project(points).T, markerfacecolor=fill, **look)


def _span(panel: MapPanel, laid: SceneLayout) -> tuple[FloatArray, FloatArray]:
    """Corners (2,) of the view: reached cells, and the mechanism, with a margin."""
    points = np.concatenate([panel.corners, panel.project(laid.points())])
    low, high = points.min(axis=0), points.max(axis=0)
    room = 0.04 * float((high - low).max())
    middle, half = 0.5 * (low + high), 0.5 * (high - low) + room
    half = np.maximum(half, 0.25 * half.max())
    return middle - half, middle + half


def _dress(axis: Any, panel: MapPanel, span: tuple[FloatArray, FloatArray]) -> None:
    (left, low), (right, high) = span
    axis.set(aspect="equal", xlim=(left, right), ylim=(low, high), xlabel=panel.labels[0], ylabel=panel.labels[1])
    axis.grid(visible=True, color="0.9", linewidth=0.6, zorder=0)
    axis.set_axisbelow(True)
    axis.set_title(panel.title, fontsize=10)
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
