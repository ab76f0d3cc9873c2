"""The picture of a mechanism: links as rods, joints as cylinders, boxes and helices, frames as red, green and blue axes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.numbers import unmasked
from linkwise.view.drawing import labels, shapes, strokes
from linkwise.view.drawing.skeleton import Skeleton, skeleton
from linkwise.view.drawing.solids import Solids
from linkwise.view.drawing.traces import draw_trace, places
from linkwise.view.drawing.viewpoint import SIDE, look_at, trim
from linkwise.view.figure import figure, literal

if TYPE_CHECKING:
    from linkwise.trajectory.trajectory import Trajectory

FAINT, CLEAR = 0.16, 0.5
"""How strong the colours of the first and of the last but one of several postures are."""

MOST = 60
"""Postures in one picture; more hide each other."""


def draw(
    mechanism: Tree,
    q: npt.ArrayLike | None = None,
    *,
    trace: Trajectory | npt.ArrayLike | None = None,
    frames: bool | None = None,
    names: bool = True,
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
    names : bool
        Whether joints and tool are named.
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
    >>> made = draw(lw.robots.puma560(), [[0, 0, 0, 0, 0, 0], [0.5, -1, 0, 0, 0.5, 0]])
    >>> made.axes[0].get_zlabel()
    'z [m]'
    """
    mechanism.require_numbers("a picture")
    laid = postures(mechanism, q)
    path = np.empty((0, 3)) if trace is None else places(mechanism, trace)
    made = figure(SIDE, SIDE) if into is None else into
    axes = space(made)
    add_solids(axes, faded(mechanism, laid))
    axed = len(mechanism.links) <= labels.MANY if frames is None else frames
    strokes.plot(axes, [stroke for stroke in shapes.strokes(mechanism, laid[-1], axes=axed) if stroke.shown])
    draw_trace(axes, path)
    shares = look_at(axes, mechanism, laid, path)
    if into is None:
        trim(made, axes, shares)
    axes.apply_aspect()
    if names:
        labels.write(axes, mechanism, laid[-1])
    literal(made.suptitle(" ", fontsize=11), plain(mechanism.name))
    return made


def postures(mechanism: Tree, q: npt.ArrayLike | None) -> list[Skeleton]:
    """Lay out one posture (nq,) or several (k, nq), all with symbols of one size, that of the last."""
    if q is None or np.ndim(q) != 2:
        return [skeleton(mechanism, q)]
    rows = np.asarray(unmasked("q", q))
    if not 1 <= len(rows) <= MOST:
        raise ArgumentError(f"q holds {len(rows)} postures; expected 1 to {MOST}: draw some of them")
    made = [skeleton(mechanism, one) for one in rows]
    return [resized(one, made[-1].size) for one in made]


def resized(laid: Skeleton, size: float) -> Skeleton:
    """The same posture with symbols of another size."""
    return replace(laid, size=size)


def space(made: Any) -> Any:
    """Make axes in space that fill a figure."""
    made.set_layout_engine("none")
    import mpl_toolkits.mplot3d  # noqa: F401  (makes the projection known)

    axes = made.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    axes.autoscale(enable=False)  # (limits are set at the end; looking for them at each line takes time)
    return axes


def faded(mechanism: Tree, laid: list[Skeleton]) -> Solids:
    """The solids of several postures, the last in full colours."""
    made = Solids()
    for strength, one in zip([*np.linspace(FAINT, CLEAR, len(laid) - 1), 1.0], laid, strict=True):
        made.strength = float(strength)
        shapes.solids(made, mechanism, one)
    return made


def add_solids(axes: Any, solids: Solids) -> Any:
    """Put solids into axes in space."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    faces, colours = solids.faces, solids.colours
    look = {"facecolors": colours, "edgecolors": colours, "linewidths": 0.3, "zorder": 2}
    made: Any = Poly3DCollection(faces, **look)
    axes.add_collection3d(made, autolim=False)
    return made
