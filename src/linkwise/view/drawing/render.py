"""Pictures of mechanisms: links as rods, joints as solids, frames as axes, and the tool path through a motion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.clearance.shapes import Obstacles
from linkwise.errors import ArgumentError
from linkwise.kinematics.configuration import resting
from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, figure, literal
from linkwise.solve.constraints import Clear
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within, readable
from linkwise.view.drawing import labels
from linkwise.view.drawing.painter import FigurePainter
from linkwise.view.motion import MotionLike, trajectory_of
from linkwise.view.scene.camera import view_angles
from linkwise.view.scene.layout import SceneLayout, evaluate, lay_out
from linkwise.view.scene.obstacles import NearestPoints, collision_primitives, obstacle_primitives
from linkwise.view.scene.scene import FREE, GROUND, MANY, build
from linkwise.view.scene.tessellation import SIDES

#: Opacity of the first and of the last but one of several postures.
FAINT, CLEAR = 0.16, 0.5

#: Up to so many links have names and round joints in a picture; of more none is large enough to see them.
CROWD = 100

#: Sides of a circle beyond that.
FEW_SIDES = 8

#: Postures in one picture; more hide each other.
MOST = 60

#: Side of the square into which space is projected and the share to be filled; room for edges and title; in inches.
SIDE, FILLED, BORDER, HEAD = 7.0, 0.82, 1.6, 0.35

#: Distance of the axes' names from the numbers, points, in addition to matplotlib's, which scales both with the sides of the
#: box across the axis, so that below this share of the longest side the name is moved out, off the numbers.
LABEL, BEFORE, SLENDER = (10.0, 10.0, 8.0), 21.0, 0.7

#: An axis shorter than this share of the longest has one number: more would run into each other.
THIN = 0.12

#: Colour of a path.
LINE = "#111111"

#: Colour of lines between nearest points.
WITNESS = "#d62728"

#: Places of a path that are drawn at most.
FINEST = 2000


def draw(
    mechanism: Tree,
    q: npt.ArrayLike | None = None,
    *,
    trace: Any = None,
    frames: bool | None = None,
    names: bool | None = None,
    obstacles: Obstacles = (),
    into: Any = None,
) -> Any:
    """Draw a mechanism at the joint coordinates q.

    A cylinder is a joint that turns, a box one that slides, a cylinder in a helix a screw; x axes are red, y green, z blue.

    Parameters
    ----------
    mechanism : Mechanism
        What to draw; chains, trees and closed loops alike. A loop that is open at q has a dashed red line.
    q : (nq,) or (k, nq) array_like, optional
        Coordinates, rad or m; by default joints at zero, or the limit next to it, and a floating base in its origin. Of
        several postures the last is drawn in full and those before it the paler the earlier.
    trace : Trajectory or (T, nq) array_like, optional
        A motion, or postures: the path of the tool is drawn, with a ring where it begins.
    frames : bool, optional
        Whether each link has the axes of its frame; by default up to 12 links have. Base and tool always do.
    names : bool, optional
        Whether joints and tool are named; by default up to 100 links have names: more hide each other.
    obstacles : sequence of Shape, or mapping of str to Shape
        Bodies in the world. The collision shapes of the mechanism, if it has some, are drawn with them, and red lines join
        the nearest points of the three pairs that are nearest to each other, with the least distance.
    into : matplotlib.figure.Figure, optional
        An empty figure to draw into; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure
        Save it with ``savefig``; a notebook shows it by itself.

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        Where q is not nq finite numbers, or 1 to 60 times as many, or the trace does not fit the mechanism.

    Examples
    --------
    >>> import linkwise as lw
    >>> picture = draw(lw.robots.puma560(), [[0, 0, 0, 0, 0, 0], [0.5, -1, 0, 0, 0.5, 0]])
    >>> picture.axes[0].get_zlabel()
    'z [m]'
    """
    mechanism.require_numbers("a picture")
    layouts = postures(mechanism, q)
    path = np.empty((0, 3)) if trace is None else positions(mechanism, configurations(mechanism, trace))
    picture = figure(SIDE, SIDE, layout=None) if into is None else into
    axes = space(picture)
    sides = SIDES if len(mechanism.links) <= CROWD else FEW_SIDES
    painter = FigurePainter(axes, frames=len(mechanism.links) <= MANY if frames is None else frames, sides=sides)
    bodies = obstacle_primitives(layouts[-1].poses[0], obstacles)
    scene = build(mechanism, layouts[-1], (*bodies, *(collision_primitives(mechanism) if bodies else ())))
    paler = np.linspace(FAINT, CLEAR, len(layouts) - 1).tolist()
    painter.add(scene, [(layout.poses, strength) for layout, strength in zip(layouts, paler, strict=False)])
    draw_trace(axes, path)
    if bodies:
        last = resting(mechanism) if q is None else np.atleast_2d(np.asarray(q, dtype=float))[-1]
        draw_nearest(axes, NearestPoints.at(mechanism, last, Clear(0.0, obstacles)))
    around = [layouts[-1].poses[0] @ np.append(body.frame[:3, 3], 1.0) for body in bodies]
    shares = look_at(axes, layouts, np.concatenate([path, np.array(around).reshape(-1, 4)[:, :3]]))
    if into is None:
        trim(picture, axes, shares)
    axes.apply_aspect()
    if len(mechanism.links) <= CROWD if names is None else names:
        labels.write(axes, scene)
    literal(picture.suptitle(" ", fontsize=11), plain(mechanism.name))
    return picture


def draw_nearest(axes: Any, nearest: NearestPoints) -> None:
    """Draw lines between nearest points into axes in the plane or in space, the least distance written beside."""
    paper = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0}
    for k, (ends, distance) in enumerate(zip(nearest.points, nearest.distances, strict=True)):
        axes.plot(*ends.T, zorder=5.0, color=WITNESS, linewidth=1.6 if k == 0 else 0.9, marker="o", markersize=3)
        if k == 0:
            axes.text(*ends.mean(axis=0), f"  {distance:.3g} m", zorder=4.9, color=WITNESS, fontsize=9, va="top", bbox=paper)


def postures(mechanism: Tree, q: npt.ArrayLike | None) -> list[SceneLayout]:
    """Lay out one posture (nq,) or several (k, nq), all with symbols of one size, that of the last."""
    if q is None or np.ndim(q) != 2:
        return [lay_out(mechanism, q)]
    rows = np.asarray(readable("q", q))
    if not 1 <= len(rows) <= MOST:
        raise ArgumentError(f"q holds {len(rows)} postures; expected 1 to {MOST}: draw some of them")
    layouts = [lay_out(mechanism, row) for row in rows]
    return [replace(layout, size=layouts[-1].size) for layout in layouts]


def space(picture: Any, place: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)) -> Any:
    """Make axes in space at a place of a figure, or all over it."""
    picture.set_layout_engine("none")
    import mpl_toolkits.mplot3d  # noqa: F401  (makes the projection known)

    axes = picture.add_axes(place, projection="3d", computed_zorder=False)
    axes.autoscale(enable=False)  # (limits are set at the end; looking for them at each line takes time)
    return axes


# ── the view ──────────────────────────────────────────────────────────────────────────────────────


def look_at(axes: Any, layouts: list[SceneLayout], more: FloatArray) -> FloatArray:
    """Set scales and point of view for postures and more points (m, 3); return the shares (2,) of the square they fill."""
    points = np.concatenate([more, *(part for layout in layouts for part in (layout.points(), layout.rotors()))])
    low, high = points.min(axis=0), points.max(axis=0)
    for layout in layouts:
        room = layout.size * 0.11 + layout.extent * 0.02
        below = FREE if layout.tree.floating else np.array([GROUND, GROUND, 0.0])
        floor = layout.poses[0, :3, 3] + layout.size * np.array([[1, 1, 1], [-1, -1, -1]]) * below
        corners = np.concatenate([layout.points() - room, layout.points() + room, floor])
        low, high = np.minimum(low, corners.min(axis=0)), np.maximum(high, corners.max(axis=0))
    dress(axes, low, high)
    axes.set_proj_type("ortho")
    elevation, azimuth = view_angles(points - points.mean(axis=0))
    axes.view_init(elev=elevation, azim=azimuth)
    return _fill(axes, low, high)


def trim(picture: Any, axes: Any, shares: FloatArray) -> None:
    """Crop the figure to its contents, with a border for tick labels and space for the title."""
    width, height = shares * SIDE + BORDER
    picture.set_size_inches(width, height + HEAD)
    across, up = SIDE / width, SIDE / (height + HEAD)
    axes.set_position((0.5 - across / 2, 0.5 * height / (height + HEAD) - up / 2, across, up))


def dress(axes: Any, low: FloatArray, high: FloatArray) -> None:
    """Set limits (3,), names, numbers and the grid of axes in space."""
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


# ── the path of the tool ──────────────────────────────────────────────────────────────────────────


def configurations(mechanism: Tree, motion: Any) -> FloatArray:
    """The postures (m, nq) of a Trajectory or of an array (T, nq), thinned where they are many.

    Raises
    ------
    ArgumentError
        Where they do not fit the mechanism.
    """
    q = np.asarray(getattr(motion, "q", motion), dtype=float)
    if q.ndim != 2 or q.shape[1] != mechanism.nq or not len(q) or not np.all(np.isfinite(q)):
        raise ArgumentError(
            f"the motion has coordinates of the shape {q.shape}; expected finite numbers (T, {mechanism.nq}), "
            f"for {', '.join(mechanism.coordinate_names[:8])}{', ...' if mechanism.nq > 8 else ''}"
        )
    return np.asarray(q[np.linspace(0, len(q) - 1, min(len(q), FINEST)).round().astype(int)])


def positions(mechanism: Tree, q: FloatArray) -> FloatArray:
    """Tool positions (m, 3) at postures (m, nq), m, world frame."""
    return np.asarray(evaluate(mechanism, "forward_kinematics", q)[:, :3, 3])


def draw_trace(axes: Any, path: FloatArray) -> list[Any]:
    """Draw a path (m, 3) in 3D axes, with a ring at its beginning; nothing for an empty path."""
    if not len(path):
        return []
    (line,) = axes.plot(*path.T, zorder=3.6, color=LINE, linewidth=1.4)
    ring = {"marker": "o", "markersize": 6, "markerfacecolor": "white", "markeredgecolor": LINE}
    (mark,) = axes.plot(*path[:1].T, zorder=3.7, **ring)
    return [line, mark]


#: Width that a colour bar adds to a picture, inches.
ROOM = 1.1


def tool_path(mechanism: Tree, motion: MotionLike, *, postures: int = 4) -> Any:
    """Draw the path of the tool in space, coloured by its speed, and the mechanism at some instants, the last in full.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    motion : Trajectory, Motion, str, Path, or tuple
        How: a trajectory, the path of a motion file (.mot, .csv, .npz), ``(t, q)`` or ``(t, q, qd, qdd)``.
    postures : int
        At how many instants the mechanism is drawn, 1 to 60, evenly spread in time; the last is the end of the motion.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        Where the motion does not fit the mechanism, or for other numbers of postures.
    FileError
        Where a file cannot be read.

    Examples
    --------
    >>> import linkwise as lw
    >>> picture = tool_path(lw.robots.planar_2r(), lw.trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0))
    >>> picture.axes[1].get_ylabel()
    'speed of the tool [m/s]'
    """
    moves = trajectory_of(mechanism, motion)
    number_within("postures", postures, 1, MOST, f"a whole number of them, 1 to {MOST}", whole=True)
    start, end = moves.t[0], moves.t[-1]
    q, qd, _ = moves.at(np.linspace(start, end, min(max(len(moves.t), 200), FINEST)))
    at = moves.at(np.linspace(end, start, int(postures))[::-1])[0]
    picture = draw(mechanism, at, trace=q, frames=False)
    speeds = np.linalg.norm((evaluate(mechanism, "jacobian", q)[:, :3] @ qd[..., None])[..., 0], axis=1)
    _coloured(picture, positions(mechanism, q), speeds)
    literal(picture.suptitle(" ", fontsize=11), f"{plain(mechanism.name)}: path of the tool in {moves.duration:g} s")
    return picture


def _coloured(picture: Any, path: FloatArray, values: FloatArray) -> None:
    """Draw a path (m, 3) in the colours of values (m,), with a bar beside the picture."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    axes = picture.axes[0]
    pieces = np.stack([path[:-1], path[1:]], axis=1)
    line: Any = Line3DCollection(pieces, cmap=MAP_COLOURS, linewidths=3.2, zorder=3.65, capstyle="round")
    line.set_array(0.5 * (values[1:] + values[:-1]))
    line.set_clim(0.0, float(values.max()) or 1.0)
    axes.add_collection3d(line, autolim=False)
    width, height = picture.get_size_inches()
    left, low, across, up = axes.get_position().bounds
    share = width / (width + ROOM)
    picture.set_size_inches(width + ROOM, height)
    axes.set_position((left * share, low, across * share, up))
    place = picture.add_axes((share, 0.2, 0.16 / (width + ROOM), 0.6))
    picture.colorbar(line, cax=place).set_label("speed of the tool [m/s]", fontsize=9)
