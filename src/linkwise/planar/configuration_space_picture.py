"""The picture of a configuration space: the pairs that collide, the free region that is proved; beside it the workspace."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, shown
from linkwise.planar import drawing_symbols as symbols
from linkwise.planar.collision import BoolArray
from linkwise.planar.drawing import bounds, on, settled, workspace
from linkwise.planar.transforms import place_polygons
from linkwise.plot.figure import colour, figure, legend, literal, shortened
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import real_or_empty

UNSURE, CLASH = "#c9ccd1", "#b3261e"
"""Where the grid proves nothing; where a path collides."""

MOST = 7
"""Up to this many pairs have colours of their own; beyond, those of one obstacle share one."""

BODY = "#7d8790"
"""All links in the workspace: colours are those of the regions beside it."""

TRACES = 7
"""Configurations of a path that are drawn in the workspace."""


def draw(space: Any, path: Any = None, *, into: Any = None) -> Any:
    """Draw both; see `ConfigurationSpace.draw`."""
    route = None if path is None else _path(space, path)
    picture = figure(11.5, 5.6) if into is None else into
    left, right = picture.subplots(1, 2)
    _workspace(left, space, route)
    handles = _regions(right, space)
    handles += _posture(right, space) if route is None else _overlay(right, space, route)
    _axes(right, space)
    look: dict[str, Any] = {"loc": "outside lower center", "frameon": False, "fontsize": 9}
    names = [name for _, name in handles]
    legend(picture, [handle for handle, _ in handles], names, 60, ncols=min(4, max(1, len(handles))), **look)
    return settled(picture, into)


# ── the workspace ─────────────────────────────────────────────────────────────────────────────────


def _workspace(axes: Any, space: Any, route: FloatArray | None) -> None:
    """Draw the mechanism where the path begins and ends and in between, or where the other joints are held."""
    mechanism, obstacles = space.check.mechanism, space.check.obstacles
    shown_at = _inside(space)[None] if route is None else route
    low, high = bounds(mechanism, shown_at, obstacles)
    workspace(axes, low, high)
    size = float((high - low).max())
    for name, polygon in obstacles.items():
        symbols.obstacle(axes, polygon)
        symbols.named(axes, 0.5 * (polygon.min(axis=0) + polygon.max(axis=0)), shortened(name))
    if route is not None:
        along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(route[:, list(space.joints)], axis=0).T))])
        for distance in np.linspace(0.0, along[-1], TRACES)[1:]:
            on(axes, mechanism, route[int(np.argmin(np.abs(along - distance)))], size, faint=True, fill=BODY)
    on(axes, mechanism, shown_at[0], size, frames=False, fill=BODY)
    for link, polygons in zip(mechanism.links, place_polygons(mechanism, shown_at[0]), strict=True):
        if polygons:
            symbols.named(axes, np.mean(polygons[0], axis=0), shortened(str(link.name)))
    axes.set_title("workspace" if route is None else "workspace: the start of the path, and on its way", fontsize=11)


def _inside(space: Any) -> FloatArray:
    """Where the other joints are held, with the two joints as near to that as their ranges let them."""
    q = space.at.copy()
    for k, values in zip(space.joints, space.grid, strict=True):
        q[k] = np.clip(q[k], values[0], values[-1])
    return np.asarray(q)


# ── the regions ───────────────────────────────────────────────────────────────────────────────────


def _regions(axes: Any, space: Any) -> list[tuple[Any, str]]:
    """Colour the grid's points, each with its cell; return what the legend says."""
    from matplotlib.colors import to_rgb
    from matplotlib.patches import Patch

    groups = _groups(space)
    hits = np.stack([space.by_pair[..., members].any(axis=-1) for _, members in groups], axis=-1) if groups else None
    image = np.ones((*space.occupied.shape, 3))
    image[space.near] = to_rgb(UNSURE)
    handles = []
    if hits is not None:
        count = hits.sum(axis=-1)
        for k, (name, _) in enumerate(groups):
            image[hits[..., k] & (count == 1)] = to_rgb(colour(k))
            if hits[..., k].any():
                handles.append((Patch(facecolor=colour(k)), name))
        image = np.where((count > 1)[..., None], _stripes(hits), image)
        if (count > 1).any():
            handles.append((Patch(facecolor="none", edgecolor="0.3", hatch="////"), "stripes: all of these colours"))
    if (space.near & ~space.occupied).any():
        handles.append((Patch(facecolor=UNSURE), "free at the grid's points, not proved between them"))
    handles.append((Patch(facecolor="white", edgecolor="0.5"), "free, proved for all between the points"))
    x, y = space.grid
    axes.pcolormesh(_edges(x), _edges(y), image.transpose(1, 0, 2), shading="flat", rasterized=True)
    return handles


def _stripes(hits: BoolArray) -> FloatArray:
    """Colours (n, m, 3) where several things collide (n, m, k): theirs in turn, along diagonals."""
    from matplotlib.colors import to_rgb

    n, m, groups = hits.shape
    palette = np.array([to_rgb(colour(k)) for k in range(groups)])
    wide = max(2, round(max(n, m) / 60))
    turn = (np.add.outer(np.arange(n), np.arange(m)) // wide) % np.maximum(1, hits.sum(axis=-1))
    rank = np.cumsum(hits, axis=-1) - 1
    chosen = np.argmax(hits & (rank == turn[..., None]), axis=-1)
    return np.asarray(palette[chosen])


def _groups(space: Any) -> list[tuple[str, list[int]]]:
    """Pairs with names: each alone, or, where there are many, by obstacle, and links with links."""
    if len(space.pairs) <= MOST:
        return [(f"{first} meets {second}", [k]) for k, (first, second) in enumerate(space.pairs)]
    groups: dict[str, list[int]] = {}
    for k, (_, second) in enumerate(space.pairs):
        groups.setdefault(f"a link meets {second}" if second in space.check.obstacles else "two links meet", []).append(k)
    return list(groups.items())


def _edges(values: FloatArray) -> FloatArray:
    """Limits (n + 1,) of the cells about the grid's values (n,); half cells at both ends."""
    return np.concatenate([values[:1], 0.5 * (values[1:] + values[:-1]), values[-1:]])


# ── axes ──────────────────────────────────────────────────────────────────────────────────────────


def _axes(axes: Any, space: Any) -> None:
    mechanism = space.check.mechanism
    x, y = space.grid
    axes.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
    turning = [mechanism.turns[k] for k in space.joints]
    names = [shortened(mechanism.coordinate_names[k]) for k in space.joints]
    for which, name, turns in zip((axes.xaxis, axes.yaxis), names, turning, strict=True):
        literal(which.label, f"{name} [{'rad' if turns else 'm'}]")
        which.label.set_visible(True)
        if turns:
            _parts_of_pi(which)
    if turning[0]:
        axes.secondary_xaxis("top", functions=(np.degrees, np.radians)).set_xlabel("[deg]", fontsize=8)
    if turning[1]:
        axes.secondary_yaxis("right", functions=(np.degrees, np.radians)).set_ylabel("[deg]", fontsize=8)
    if all(turning):
        axes.set_aspect("equal")
    _ends(axes, space)


def _parts_of_pi(which: Any) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, MultipleLocator

    low, high = which.get_view_interval()
    if high - low > 0.9 * math.pi:
        which.set_major_locator(MultipleLocator(0.5 * math.pi))
        which.set_major_formatter(FuncFormatter(lambda value, _: _of_pi(value)))
    else:
        which.set_major_locator(MaxNLocator(6))


def _of_pi(value: float) -> str:
    """Write a multiple of half pi."""
    halves = round(value / (0.5 * math.pi))
    if halves == 0:
        return "0"
    sign, count = "−" if halves < 0 else "", abs(halves)
    if count % 2 == 0:
        return f"{sign}{'' if count == 2 else count // 2}π"
    return f"{sign}{'' if count == 1 else count}π/2"


def _ends(axes: Any, space: Any) -> None:
    """Tell the edges: a thick line is a limit; dashed ones with equal arrows are one and the same."""
    sides = {"left": 0, "right": 0, "bottom": 1, "top": 1}
    for side, which in sides.items():
        wraps = space.wraps[which]
        axes.spines[side].set(linewidth=1.2 if wraps else 2.6, linestyle=(0, (5, 3)) if wraps else "-", color=symbols.INK)
    for which in np.flatnonzero(space.wraps).tolist():
        ends, along = (part.ravel() for part in np.meshgrid((0.0, 1.0), 0.6 + 0.035 * np.arange(1 + which)))
        at, marker = ((ends, along), "^") if which == 0 else ((along, ends), ">")
        look = {"marker": marker, "markersize": 7, "color": symbols.INK, "linestyle": ""}
        axes.plot(*at, transform=axes.transAxes, clip_on=False, zorder=8, **look)
    edges = [("left and right edge are one", space.wraps[0]), ("bottom and top edge are one", space.wraps[1])]
    phrases = [words for words, holds in edges if holds]
    if len(phrases) == 2:
        phrases = ["a torus: opposite edges are one"]
    if not all(space.wraps):
        phrases.append("thick edges: limits")
    title = "configuration space (" + "; ".join(phrases) + ")"
    held = space.held
    literal(axes.title, f"{title}\n{shortened(held, 90)}" if held else title)
    axes.title.set_fontsize(11)


# ── a path ────────────────────────────────────────────────────────────────────────────────────────


def _path(space: Any, path: Any) -> FloatArray:
    """Read a path as configurations (k, nq), with points between, half a step of the grid apart at most."""
    nq = space.check.mechanism.nq
    corners = real_or_empty(path)
    if corners.ndim != 2 or not len(corners) or corners.shape[1] not in (2, nq) or not np.isfinite(corners).all():
        raise ArgumentError(f"path: {shown(path)}; expected (k, 2) or (k, {nq}) finite numbers, rad or m")
    route = corners
    if corners.shape[1] == 2:
        route = np.tile(space.at, (len(corners), 1))
        route[:, list(space.joints)] = corners
    _held(space, route)
    steps = np.array([0.5 * (values[1] - values[0]) for values in space.grid])
    pieces = [route[:1]]
    for start, end in pairwise(route):
        count = max(1, math.ceil(float(np.max(np.abs((end - start)[list(space.joints)]) / steps))))
        pieces.append(start + np.arange(1, count + 1)[:, None] / count * (end - start))
    return np.concatenate(pieces)


def _held(space: Any, route: FloatArray) -> None:
    others = [k for k in range(route.shape[1]) if k not in space.joints]
    off = np.abs(route[:, others] - space.at[others]).max(initial=0.0)
    if off > 1e-9 * max(1.0, np.abs(space.at[others]).max(initial=0.0)):
        raise ArgumentError(f"path: another joint moves, by up to {off:.3g}; expected it to be where it is held")


def _posture(axes: Any, space: Any) -> list[tuple[Any, str]]:
    """Mark the posture that is drawn in the workspace."""
    (dot,) = axes.plot(*_inside(space)[list(space.joints)], marker="o", markersize=7, color="black", linestyle="", zorder=7)
    dot.set(markerfacecolor="white", clip_on=False)
    return [(dot, "the posture drawn in the workspace")]


def _overlay(axes: Any, space: Any, route: FloatArray) -> list[tuple[Any, str]]:
    both = route[:, list(space.joints)].copy()
    for k, (values, wraps) in enumerate(zip(space.grid, space.wraps, strict=True)):
        if wraps:
            both[:, k] = values[0] + np.mod(both[:, k] - values[0], values[-1] - values[0])
    spans = np.array([values[-1] - values[0] for values in space.grid])
    breaks = np.flatnonzero((np.abs(np.diff(both, axis=0)) > 0.5 * spans).any(axis=1)) + 1
    line = np.insert(both, breaks, np.nan, axis=0)
    (drawn,) = axes.plot(*line.T, color="black", linewidth=1.8, zorder=6)
    axes.plot(*both[0], marker="o", markersize=7, markerfacecolor="white", color="black", linestyle="", zorder=7)
    axes.plot(*both[-1], marker="s", markersize=7, markerfacecolor="white", color="black", linestyle="", zorder=7)
    handles = [(drawn, "path, from the circle to the square")]
    margins = np.full(len(space.pairs), space.margin)
    hit = space.check.each(route, margins).any(axis=-1)
    if hit.any():
        (marks,) = axes.plot(*both[hit].T, marker="x", markersize=5, color=CLASH, linestyle="", zorder=7)
        handles.append((marks, "path in collision"))
    return handles
