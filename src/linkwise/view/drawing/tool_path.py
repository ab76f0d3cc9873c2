"""The path of the tool through a motion, coloured by its speed, with the mechanism at some instants."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.model.formatting.table import plain
from linkwise.model.tree import Tree
from linkwise.plot.figure import MAP_COLOURS, literal
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import number_within
from linkwise.view.drawing.render import FINEST, MOST, draw, positions
from linkwise.view.motion.motion import MotionLike, trajectory_of
from linkwise.view.scene import evaluate

ROOM = 1.1
"""Width that a colour bar adds to a picture, inches."""


def tool_path(mechanism: Tree, motion: MotionLike, *, postures: int = 4) -> Any:
    """Draw the path of the tool in space, coloured by its speed, and the mechanism at some instants, the last in full.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
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
