"""Pictures of a motion, of a path and of a workspace, each in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.table import plain
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.picture import draw
from linkwise.view.drawing.traces import FINEST, configurations, positions
from linkwise.view.figure import literal
from linkwise.view.maps.workspace_solid import COLOURS

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism
    from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
    from linkwise.trajectory.trajectory import Trajectory

ROOM = 1.1
"""Width that a colour bar adds to a picture, inches."""


def trajectory(motion: Trajectory | CartesianTrajectory, title: str = "") -> Any:
    """Draw the curves of a motion against time: position, speed, acceleration, and effort and energy where recorded.

    Parameters
    ----------
    motion : Trajectory or CartesianTrajectory
        Of joints, or of a frame.
    title : str
        Stands above.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        For a batch: draw one `member`.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> import linkwise as lw
    >>> len(trajectory(lw.trajectory.quintic([0.0], [1.0], 2.0)).axes)
    3
    """
    return motion.plot(title)


def workspace(
    mechanism: Mechanism, *, plane: str = "auto", measure: str = "manipulability", samples: int = 100_000, **options: Any
) -> Any:
    """Draw what a mechanism reaches, coloured by how well it moves there.

    Parameters
    ----------
    mechanism : Mechanism
        Without closed loops.
    plane : {"auto", "xz", "yz", "xy", "3d"}
        What is drawn: "auto" a plane through the axis of the first joint and the view along it; "xz", "yz" and "xy" that
        plane; "3d" the region as a body with a quarter cut out.
    measure : {"manipulability", "reach"}
        What the colours tell.
    samples : int
        Random postures to try, 1000 or more; fewer are quicker and leave the edge rougher.
    options
        Those of `linkwise.kinematics.workspace`: ``link``, ``ranges``, ``pointing``, ``cells``, ``seed`` and others.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        For a plane, measure or option that cannot be, or a mechanism with closed loops.

    Examples
    --------
    >>> import linkwise as lw
    >>> made = workspace(lw.robots.planar_2r(), samples=2000, cells=32)
    >>> made.get_suptitle()
    'planar_2r: what the tool reaches'
    """
    from linkwise.view.maps.workspace_picture import draw as drawn

    mechanism.require_numbers("a picture")
    return drawn(mechanism, mechanism.workspace(samples=samples, **options), plane=plane, measure=measure)


def tool_path(mechanism: Mechanism, motion: Trajectory, *, postures: int = 4) -> Any:
    """Draw the path of the tool in space, coloured by its speed, and the mechanism at some instants, the last in full.

    Parameters
    ----------
    mechanism : Mechanism
        What moves.
    motion : Trajectory
        How.
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

    Examples
    --------
    >>> import linkwise as lw
    >>> made = tool_path(lw.robots.planar_2r(), lw.trajectory.quintic([0.0, 0.0], [1.0, 0.5], 2.0))
    >>> made.axes[1].get_ylabel()
    'speed of the tool [m/s]'
    """
    configurations(mechanism, motion)
    if not isinstance(postures, int) or postures < 1:
        raise ArgumentError(f"postures is {postures!r}; expected a number of them, 1 or more")
    times = np.linspace(motion.t[0], motion.t[-1], min(max(len(motion.t), 200), FINEST))
    q, qd, _ = motion.at(times)
    shown = motion.at(np.linspace(motion.t[0], motion.t[-1], postures)[-postures:] if postures > 1 else motion.t[-1:])[0]
    made = draw(mechanism, shown, trace=q, frames=False)
    speeds = np.linalg.norm((np.asarray(mechanism.jacobian(q))[:, :3] @ qd[..., None])[..., 0], axis=1)
    _coloured(made, positions(mechanism, q), speeds)
    literal(
        made.suptitle(" ", fontsize=11), f"{plain(mechanism.name)}: path of the tool in {motion.t[-1] - motion.t[0]:g} s"
    )
    return made


def _coloured(made: Any, path: FloatArray, values: FloatArray) -> None:
    """Draw a path (m, 3) in the colours of values (m,), with a bar beside the picture."""
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    axes = made.axes[0]
    pieces = np.stack([path[:-1], path[1:]], axis=1)
    line: Any = Line3DCollection(pieces, cmap=COLOURS, linewidths=3.2, zorder=3.65, capstyle="round")
    line.set_array(0.5 * (values[1:] + values[:-1]))
    line.set_clim(0.0, float(values.max()) or 1.0)
    axes.add_collection3d(line, autolim=False)
    width, height = made.get_size_inches()
    left, low, across, up = axes.get_position().bounds
    share = width / (width + ROOM)
    made.set_size_inches(width + ROOM, height)
    axes.set_position((left * share, low, across * share, up))
    place = made.add_axes((share, 0.2, 0.16 / (width + ROOM), 0.6))
    made.colorbar(line, cax=place).set_label("speed of the tool [m/s]", fontsize=9)
