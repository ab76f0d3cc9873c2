"""The picture of a planar mechanism: polygons, joints, body frames, the ground."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.table import plain
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.evaluation import finite, require_numbers
from linkwise.planar.polygon import obstacle_polygons
from linkwise.spatial.scalar import FloatArray
from linkwise.view.figure import colour, figure, literal, shortened

if TYPE_CHECKING:
    from linkwise.planar.link import Link
    from linkwise.planar.mechanism import Mechanism

PIN, FRAME, EDGE = 0.013, 0.105, 0.06
"""Radius of a pin, length of a frame's axes, and the room about a picture, as shares of its size."""

LONGEST = 6.2
"""Longer side of a picture's axes, inches."""


def draw(
    mechanism: Mechanism,
    configuration: Any,
    *,
    obstacles: Mapping[str, Any] | list[Any] | tuple[Any, ...] = (),
    frames: bool = True,
    names: bool = True,
    into: Any = None,
) -> Any:
    """Draw a planar mechanism in one configuration.

    A circle is a revolute joint, with a dot where it closes a loop; a slot with a block is a prismatic one; a black square
    joins what is fixed to each other. Links fixed to the ground are hatched; a joint to the ground stands on hatched ground.

    Parameters
    ----------
    mechanism : linkwise.planar.Mechanism
        Chain, tree or with loops.
    configuration : (nq,) array_like
        Coordinates, rad or m.
    obstacles : mapping of str to polygon, or sequence of polygons
        Simple polygons (m, 2) in world axes, m; drawn dark grey.
    frames : bool
        Whether to draw the body frames, with the number of the link, counted from 1.
    names : bool
        Whether to name the links, in a legend.
    into : matplotlib.figure.Figure, optional
        An empty figure to draw into; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ArgumentError
        Where the configuration is not nq finite numbers.
    MissingExtraError
        Where matplotlib is not installed.

    Examples
    --------
    >>> from linkwise import planar
    >>> bar = [(0, -0.05), (1, -0.05), (1, 0.05), (0, 0.05)]
    >>> arm = planar.Mechanism([planar.Link(bar, name="upper"), planar.Link(bar, a=1.0, name="lower")])
    >>> picture = draw(arm, [0.5, -1.0])
    >>> picture.axes[0].get_xlabel()
    'x [m]'
    """
    q = one(mechanism, configuration)
    polygons = obstacle_polygons(obstacles)
    low, high = bounds(mechanism, q[None], polygons)
    width, height = LONGEST * (high - low) / (high - low).max()
    made = figure(max(width, 2.4) + (2.2 if names else 0.8), max(height, 2.0) + 0.8) if into is None else into
    axes = made.add_subplot()
    workspace(axes, low, high)
    for polygon in polygons.values():
        symbols.obstacle(axes, polygon)
    on(axes, mechanism, q, float((high - low).max()), frames=frames)
    literal(axes.set_title(" ", fontsize=11), plain(mechanism.name))
    if names:
        legend(made, axes, mechanism, polygons)
    return settled(made, into)


def settled(made: Any, into: Any) -> Any:
    """Return a figure of our own with its layout done once: the first one is of axes that have not their shape yet."""
    if into is None:
        made.get_layout_engine().execute(made)
    return made


def one(mechanism: Mechanism, configuration: Any) -> FloatArray:
    """Read one configuration (nq,)."""
    require_numbers(mechanism)
    q = finite(mechanism, configuration)
    if q.ndim != 1:
        raise ArgumentError(f"configuration has the shape {q.shape}; expected ({mechanism.nq},), for one picture")
    return q


def workspace(axes: Any, low: FloatArray, high: FloatArray) -> None:
    """Make axes of the plane, in m, with one scale."""
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel="x [m]", ylabel="y [m]")
    axes.set_aspect("equal")
    axes.grid(visible=True, color="0.92", linewidth=0.7)
    axes.set_axisbelow(True)


def bounds(mechanism: Mechanism, q: FloatArray, obstacles: Mapping[str, FloatArray]) -> tuple[FloatArray, FloatArray]:
    """Corners (2,), (2,) of the part of the plane that shows the mechanism in configurations (N, nq) and the obstacles."""
    poses = np.asarray(mechanism.poses(q))
    placed = [np.asarray(polygon).reshape(-1, 2) for link in mechanism.place(q) for polygon in link]
    points = np.concatenate([*placed, poses[..., :2, 2].reshape(-1, 2), *obstacles.values()])
    size = float(np.ptp(points, axis=0).max()) or 1.0
    axes = poses[..., :2, 2, None] + 1.35 * FRAME * size * poses[..., :2, :2]  # with their labels
    points = np.concatenate([points, axes.swapaxes(-1, -2).reshape(-1, 2)])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 0.12 * size) + EDGE * size
    return middle - half, middle + half


def _frame_length(mechanism: Mechanism, q: FloatArray, size: float) -> float:
    """Length of the axes of the frames, m: shorter where the joints are close to each other."""
    offsets = np.asarray(mechanism.transforms(q))[:, :2, 2]
    apart = np.hypot(offsets[:, 0], offsets[:, 1])
    apart = apart[apart > 0.02 * size]
    return min(FRAME * size, max(0.04 * size, 0.55 * float(np.median(apart)))) if apart.size else FRAME * size


def on(
    axes: Any,
    mechanism: Mechanism,
    q: FloatArray,
    size: float,
    *,
    frames: bool = True,
    faint: bool = False,
    fill: str | None = None,
) -> None:
    """Draw a mechanism at q (nq,) into axes that show a part of the plane ``size`` m wide.

    Faint: its bodies only. With ``fill`` all its bodies have that one colour, else each its own.
    """
    placed, poses = mechanism.place(q), np.asarray(mechanism.poses(q))
    for k, polygons in enumerate(placed):
        still = grounded(mechanism, k)
        symbols.body(axes, polygons, symbols.GROUND if still else fill or colour(k), hatched=still, faint=faint)
    if faint:
        return
    for k, link in enumerate(mechanism.links):
        _foot(axes, mechanism, poses, k, PIN * size)
        if not (grounded(mechanism, k) and link.polygons):
            joint(axes, link, poses[k, :2, 2], _direction(mechanism, poses, k), PIN * size)
    for at in _pins_of_loops(mechanism, poses):
        symbols.pin(axes, at, PIN * size, loop=True)
    if frames:
        length = _frame_length(mechanism, q, size)
        for k, pose in enumerate(poses):
            symbols.frame(axes, pose, length, str(k + 1))


def _foot(axes: Any, mechanism: Mechanism, poses: FloatArray, k: int, radius: float) -> None:
    """Draw the ground on which a joint stands, where its other side is not drawn itself."""
    link = mechanism.links[k]
    if mechanism.parents[k] < 0 and (
        link.joint in ("revolute", "prismatic") or (link.joint == "fixed" and not link.polygons)
    ):
        angle = _direction(mechanism, poses, k) if link.joint == "prismatic" else 0.0
        symbols.ground(axes, poses[k, :2, 2], angle, radius)


def joint(axes: Any, link: Link, at: FloatArray, direction: float, radius: float) -> None:
    """Draw the joint that carries a link, at its origin (2,); direction is that in which it slides, rad."""
    if link.joint == "revolute":
        symbols.pin(axes, at, radius)
    elif link.joint == "prismatic":
        symbols.slot(axes, at, direction, radius)
    elif link.joint == "fixed":
        symbols.weld(axes, at, radius)


def _direction(mechanism: Mechanism, poses: FloatArray, k: int) -> float:
    """Angle of the x axis along which T_i shifts a link, in world axes, rad."""
    parent = mechanism.parents[k]
    turned = math.atan2(poses[parent, 1, 0], poses[parent, 0, 0]) if parent >= 0 else 0.0
    return turned + float(mechanism.links[k].at[2])


def grounded(mechanism: Mechanism, k: int) -> bool:
    """Whether a link is fixed to the ground."""
    while mechanism.links[k].joint == "fixed":
        k = mechanism.parents[k]
        if k < 0:
            return True
    return False


def _pins_of_loops(mechanism: Mechanism, poses: FloatArray) -> list[FloatArray]:
    """Points (2,) of the first links at which loops are closed, in world axes."""
    names = mechanism.link_names
    found = []
    for loop in mechanism.loops:
        point = np.asarray(loop.first_point, dtype=float)
        if loop.first in names:
            pose = poses[names.index(loop.first)]
            point = pose[:2, :2] @ point + pose[:2, 2]
        found.append(point)
    return found


def legend(made: Any, axes: Any, mechanism: Mechanism, obstacles: Mapping[str, FloatArray]) -> None:
    """Name the links, and the obstacles, beside the axes."""
    from matplotlib.colors import to_rgba
    from matplotlib.patches import Patch

    handles, found = [], []
    for k, link in enumerate(mechanism.links):
        if link.polygons:
            still = grounded(mechanism, k)
            fill = symbols.GROUND if still else colour(k)
            handles.append(Patch(facecolor=to_rgba(fill, 0.38), edgecolor=fill, hatch="////" if still else None))
            found.append(str(link.name))
    for name in obstacles:
        handles.append(Patch(facecolor="#5f6b6d", edgecolor=symbols.INK))
        found.append(name)
    if handles:
        shown = made.legend(handles, [" "] * len(handles), loc="outside right upper", frameon=False, fontsize=9)
        for words, name in zip(shown.get_texts(), found, strict=True):
            literal(words, shortened(plain(name)))
