"""The picture of a mechanism: links as rods, joints as cylinders, boxes and helices, frames as red, green and blue axes."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view import frames, labels
from linkwise.view.figure import colour, figure, literal
from linkwise.view.frames import FREE, GROUND, TRIAD
from linkwise.view.skeleton import Closure, Place, Skeleton, skeleton
from linkwise.view.solids import Solids, helix

ROD, JOINT = 0.014, 0.030
"""Radii of rods and joints, as shares of the mechanism's size."""

SQUARE, FILLED, BORDER, HEAD = 7.0, 0.82, 1.6, 0.35
"""Side of the square into which space is projected and the share to be filled; room for edges and title; in inches."""


def draw(mechanism: Tree, q: Any = None, *, into: Any = None) -> Any:
    """Draw a mechanism at the joint coordinates q.

    Parameters
    ----------
    mechanism : Mechanism
        What to draw; chains and trees alike.
    q : (nq,) array_like, optional
        Coordinates, rad or m; by default joints at zero and a floating base in its origin.
    into : matplotlib.figure.Figure, optional
        An empty figure to draw into; a new one by default.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingExtraError
        Where matplotlib is not installed.
    ArgumentError
        Where q is not nq finite numbers.
    """
    mechanism.require_numbers("a picture")
    laid = skeleton(mechanism, q)
    made = figure(SQUARE, SQUARE) if into is None else into
    made.set_layout_engine("none")
    import mpl_toolkits.mplot3d  # noqa: F401  (makes the projection known)

    axes = made.add_axes((0.0, 0.0, 1.0, 1.0), projection="3d", computed_zorder=False)
    _solids(axes, mechanism, laid)
    if mechanism.floating:
        frames.free_body(axes, laid)
    else:
        frames.ground(axes, laid)
        frames.triad(axes, laid.base, laid.size * TRIAD)
    for place in laid.places:
        frames.triad(axes, place.frame, laid.size * TRIAD)
    frames.tool(axes, mechanism, laid)
    words = labels.write(axes, mechanism, laid)
    shares = _view(axes, mechanism, laid)
    if into is None:
        _trim(made, axes, shares)
    axes.apply_aspect()
    labels.keep_inside(axes, laid, words)
    literal(made.suptitle(" ", fontsize=11), plain(mechanism.name))
    return made


# ── links and joints ──────────────────────────────────────────────────────────────────────────────


def _solids(axes: Any, mechanism: Tree, laid: Skeleton) -> None:
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    solids = Solids()
    grey = _rgb("#8a8f94")
    nested = _nesting(laid)
    for k, place in enumerate(laid.places):
        carried = grey if place.parent < 0 else _rgb(colour(place.parent))
        _rods(solids, place.arm, laid.size * ROD, carried)
        _rods(solids, place.body, laid.size * ROD, _rgb(colour(k)))
        _joint(solids, axes, place, laid.size * 0.84 ** nested[k], _rgb(colour(k)))
    for closure in laid.closures:
        _closure(solids, axes, closure, laid.size)
    _rotors(solids, axes, mechanism, laid)
    axes.add_collection3d(
        Poly3DCollection(solids.faces, facecolors=solids.colours, edgecolors=solids.colours, linewidths=0.3, zorder=2),
        autolim=False,
    )


def _rotors(solids: Solids, axes: Any, mechanism: Tree, laid: Skeleton) -> None:
    """Draw each rotor that is a body of its own: a flat cylinder in the colour of what it moves, joined to its carrier."""
    driven = {link.coordinate_name: k for k, link in enumerate(mechanism.links) if link.moves}
    r = laid.size * JOINT
    for drive in mechanism.drives:
        if found := labels.rotor(mechanism, laid, drive):
            origin, at, along = found
            half = along * r * 0.5
            solids.cylinder(at - half, at + half, r * 1.25, _rgb(colour(driven[drive.joint])) * 0.86)
            axes.plot(*np.array([origin, at]).T, color="0.45", linewidth=0.9, zorder=1.5)


def _nesting(laid: Skeleton) -> list[int]:
    """How many joints before each one stand at the same point: its symbol is drawn smaller for each."""
    at = [place.joint[:3, 3] for place in laid.places]
    near = laid.size * JOINT
    return [
        sum(place.link.moves and float(np.linalg.norm(at[j] - at[k])) < near for j, place in enumerate(laid.places[:k]))
        for k in range(len(at))
    ]


def _rods(solids: Solids, corners: tuple[FloatArray, ...], radius: float, rgb: FloatArray) -> None:
    for start, end in pairwise(corners):
        if float(np.linalg.norm(end - start)) > radius / 2:
            solids.cylinder(start, end, radius, rgb)


def _joint(solids: Solids, axes: Any, place: Place, size: float, rgb: FloatArray) -> None:
    """Draw the symbol of the joint in the colour of the link that it moves but darker."""
    kind, at, along = place.link.joint, place.joint[:3, 3], place.joint[:3, 2]
    dark, r = rgb * 0.72, size * JOINT
    if kind == "revolute":
        solids.cylinder(at - along * r * 1.35, at + along * r * 1.35, r, dark)
    elif kind == "prismatic":
        solids.box(place.joint, np.array([r, r, 1.5 * r]) * 0.85, dark)
        _rods(solids, (at, place.moved), size * ROD * 0.6, np.full(3, 0.75))
    elif kind == "screw":
        solids.cylinder(at - along * r * 1.6, at + along * r * 1.6, r * 0.7, dark)
        _rods(solids, (at, place.moved), size * ROD * 0.6, np.full(3, 0.75))
        axes.plot(*helix(at - along * r * 1.6, at + along * r * 1.6, r * 0.95).T, color="black", linewidth=1.2, zorder=4)


def _closure(solids: Solids, axes: Any, closure: Closure, size: float) -> None:
    """Draw a closed loop: both links out to it, and a ball, a hinge or a box there; a dashed line where it is open."""
    grey, r = _rgb("#8a8f94"), size * JOINT * 0.8
    for k, bar in zip(closure.links, closure.bars, strict=True):
        _rods(solids, bar, size * ROD, grey if k < 0 else _rgb(colour(k)))
    for frame in closure.frames:
        at, along = frame[:3, 3], frame[:3, 2]
        if closure.loop.kind == "point":
            solids.ball(at, r, grey * 0.7)
        elif closure.loop.kind == "hinge":
            solids.cylinder(at - along * r * 1.35, at + along * r * 1.35, r, grey * 0.7)
        else:
            solids.box(frame, np.full(3, r), grey * 0.7)
    ends = np.array([frame[:3, 3] for frame in closure.frames])
    if float(np.linalg.norm(ends[1] - ends[0])) > size * ROD:
        axes.plot(*ends.T, color="#c03030", linewidth=1.4, linestyle="--", zorder=4)


# ── view ──────────────────────────────────────────────────────────────────────────────────────────


def _view(axes: Any, mechanism: Tree, laid: Skeleton) -> FloatArray:
    """Set equal scales and a point of view from which the mechanism spreads out; return the shares (2,) that are filled."""
    carried = [found[1] for drive in mechanism.drives if (found := labels.rotor(mechanism, laid, drive))]
    points = np.array([*laid.points, *carried])
    room = laid.size * 0.11 + laid.extent * 0.02
    below = laid.size * np.array([[1, 1, 1], [-1, -1, -1]]) * (FREE if mechanism.floating else (GROUND, GROUND, 0.0))
    floor = laid.base[:3, 3] + below
    low = np.minimum(points.min(axis=0) - room, floor.min(axis=0))
    high = np.maximum(points.max(axis=0) + room, floor.max(axis=0))
    for name, start, end in zip("xyz", low, high, strict=True):
        getattr(axes, f"set_{name}lim")(start, end)
        getattr(axes, f"set_{name}label")(f"{name} [m]", fontsize=9)
        axis = getattr(axes, f"{name}axis")
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis._axinfo["grid"].update(color="0.9", linewidth=0.6)
        axis.set_major_locator(_ticks(float(end - start), float((high - low).max())))
    axes.tick_params(labelsize=8)
    axes.set_proj_type("ortho")
    elevation, azimuth = _viewpoint(points - points.mean(axis=0))
    axes.view_init(elev=elevation, azim=azimuth)
    return _fill(axes, low, high)


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


def _trim(made: Any, axes: Any, shares: FloatArray) -> None:
    """Cut the figure down to what is filled, with a border for the numbers on the edges and room for the title."""
    width, height = shares * SQUARE + BORDER
    made.set_size_inches(width, height + HEAD)
    across, up = SQUARE / width, SQUARE / (height + HEAD)
    axes.set_position((0.5 - across / 2, 0.5 * height / (height + HEAD) - up / 2, across, up))


def _ticks(extent: float, largest: float) -> Any:
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(nbins=max(2, round(6 * extent / largest)), steps=[1, 2, 5, 10])


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


def _rgb(name: str) -> FloatArray:
    return np.array([int(name[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
