"""Velocity ellipses of the tool in the plane of a workspace map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.kinematics.workspace import Workspace
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_z
from linkwise.spatial.scalar import FloatArray
from linkwise.view.scene import evaluate

if TYPE_CHECKING:
    from linkwise.view.plots.workspace_plot import MapPanel

ALONG = 7
"""Ellipses along the longer side of a map."""

LARGEST, CLOSE = 0.46, 0.2
"""The longest half axis, and how far from a point of the lattice a posture may be, as shares of the lattice's spacing."""

Posture = tuple[int, FloatArray, float]
"""A cell, its place in the map (2,), and how far its posture is turned to be there, rad."""


@dataclass(frozen=True, eq=False)
class Ellipse:
    """One ellipse: its place (2,), m, its half axes as columns (2, 2), m/s, and the cell whose posture it shows."""

    place: FloatArray
    half: FloatArray
    cell: int


def add_ellipses(
    mechanism: Tree, region: Workspace, panels: Sequence[tuple[Any, MapPanel]], link: int | str
) -> tuple[list[list[Ellipse]], float]:
    """Draw ellipses into maps, all to one scale; return them, and their longest half axis, m/s."""
    drawn, scales = [], []
    for _, panel in panels:
        spacing = _spacing(panel)
        chosen = list(
            _placed(region, panel, spacing) if panel.centre is None else _turned(region, panel, panel.centre, spacing)
        )
        jacobians = np.asarray(evaluate(mechanism, "jacobian", region.q[[k for k, *_ in chosen]], link=link))[
            :, :3, -mechanism.n :
        ]
        ellipses = []
        for (k, place, turn), jacobian in zip(chosen, jacobians, strict=True):
            half = rotation_z(turn)[:2, :2].astype(float) @ half_axes(panel.rows(region.positions[k]) @ jacobian)
            ellipses.append(Ellipse(place, half, k))
        drawn.append(ellipses)
        scales.append(LARGEST * spacing)
    longest = max((float(np.linalg.norm(ellipse.half, axis=0).max()) for part in drawn for ellipse in part), default=0.0)
    for (axis, _), ellipses in zip(panels, drawn, strict=True):
        for ellipse in ellipses:
            _draw(axis, ellipse.place, ellipse.half * (min(scales) / (longest or 1.0)))
    return drawn, longest


def half_axes(jacobian: FloatArray) -> FloatArray:
    """Half axes, as columns (2, 2), of the velocities J qd, J (2, n), with joint speeds whose squares add up to one.

    Examples
    --------
    >>> np.abs(half_axes(np.array([[0.0, 2.0], [1.0, 0.0]]))).tolist()
    [[2.0, 0.0], [0.0, 1.0]]
    """
    directions, stretch, _ = np.linalg.svd(jacobian)
    return np.asarray(directions[:, : len(stretch)] * stretch)


def _spacing(panel: MapPanel) -> float:
    """How far ellipses are apart in a map, m."""
    return float(np.ptp(panel.corners, axis=0).max()) / ALONG or 1.0


def _placed(region: Workspace, panel: MapPanel, spacing: float) -> Iterator[Posture]:
    """Of the postures near each point of a lattice that of greatest manipulability: its cell, its place, and no turn."""
    places, kept = panel.places(region.positions), np.flatnonzero(panel.near(region.positions))
    if not len(kept):
        return
    low = places[kept].min(axis=0)
    cells = np.floor((places[kept] - low) / spacing)
    close = np.abs(places[kept] - low - (cells + 0.5) * spacing).max(axis=1) < CLOSE * spacing
    best: dict[tuple[float, ...], int] = {}
    for k, cell in zip(kept[close].tolist(), map(tuple, cells[close].tolist()), strict=True):
        if cell not in best or region.manipulability[k] > region.manipulability[best[cell]]:
            best[cell] = k
    for k in sorted(best.values()):
        yield k, places[k], 0.0


def _turned(region: Workspace, panel: MapPanel, centre: FloatArray, spacing: float) -> Iterator[Posture]:
    """The same in a map about the first axis, with the angle by which the posture is turned about it to be at the point."""
    places = panel.places(region.positions) - centre
    away, angle = np.hypot(*places.T), np.arctan2(places[:, 1], places[:, 0])
    steps = spacing * np.arange(-ALONG, ALONG + 1)
    for x in steps:
        for y in steps:
            near = np.flatnonzero(np.abs(away - math.hypot(x, y)) < CLOSE * spacing)
            if len(near) and _reached(region, x, y):
                k = int(near[np.argmax(region.manipulability[near])])
                yield k, centre + np.array([x, y]), math.atan2(y, x) - float(angle[k])


def _reached(region: Workspace, x: float, y: float) -> bool:
    """Whether the map about the first axis has anything at a point beside it."""
    radii, _, angles = region.grid.edges
    r, a = math.hypot(x, y), math.atan2(y, x)
    i, k = int(np.searchsorted(radii, r, side="right")) - 1, int(np.searchsorted(angles, a, side="right")) - 1
    if not 0 <= i < len(radii) - 1:
        return False
    return not bool(np.isnan(region.grid.best[i, :, min(max(k, 0), len(angles) - 2)]).all())


def _draw(axis: Any, at: FloatArray, half: FloatArray) -> None:
    angle = np.linspace(0.0, 2 * np.pi, 49)
    outline = at + np.stack([np.cos(angle), np.sin(angle)], axis=1)[:, : half.shape[1]] @ half.T
    axis.plot(*outline.T, color="white", linewidth=2.2, zorder=2.4)
    axis.plot(*outline.T, color="black", linewidth=1.0, zorder=2.5)
