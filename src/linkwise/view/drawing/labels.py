"""The words of a picture: names beside joints, rotors, tool and base, clear of each other and of the edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.model.drive import Drive
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.label_places import near, place
from linkwise.view.drawing.skeleton import Skeleton
from linkwise.view.figure import literal, shortened

MANY = 12
"""Beyond this many links they are numbered, as in the list of links, not named."""

FONT, GLYPH = 8.5, 0.58
"""Size of the letters, points, and the width of one as a share of it."""

JOINT = 0.036
"""Room that a joint takes, as a share of the mechanism's size."""

TOGETHER, LEADER, STEP = 7.0, 12.0, 8.0
"""Points nearer than this share a label; a label farther than this from its joint has a line to it; rods are kept clear of
at points so far apart; all in points of 1/72 inch."""


def rotor(mechanism: Tree, laid: Skeleton, drive: Drive) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Origin of the frame that carries a rotor, its centre and axis (3,); None where it is no body of its own."""
    if drive.carrier is None or drive.motor.axis is None or not drive.motor.mass:
        return None
    frame = laid.base if drive.carrier < 0 else laid.places[drive.carrier].frame
    return frame[:3, 3], frame[:3, :3] @ drive.motor.com + frame[:3, 3], frame[:3, :3] @ drive.motor.axis


def write(axes: Any, mechanism: Tree, laid: Skeleton) -> None:
    """Write the labels where they hide least; those whose points are seen as one share one. The view must be set."""
    from matplotlib.patheffects import withStroke

    pixel = axes.figure.dpi / 72.0
    at, names = zip(*_all(mechanism, laid), strict=True)
    seen = shown(axes, np.array(at))
    groups = near(seen, TOGETHER * pixel)
    words = [", ".join(_few([names[k] for k in group])) for group in groups]
    points = np.array([seen[group[0]] for group in groups])
    sizes = np.array([[GLYPH * FONT * len(word), FONT] for word in words]) * pixel
    right, up, scale = _screen(axes)
    radius = JOINT * laid.size * scale
    corners = place(points, sizes, _obstacles(axes, laid, STEP * pixel), outline(axes), pixel, radius)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    for group, word, point, size, corner in zip(groups, words, points, sizes, corners, strict=True):

        def back(move: FloatArray, group: list[int] = group) -> FloatArray:
            return np.asarray(at[group[0]] + (right * move[0] + up * move[1]) / scale)

        text = axes.text(*back(corner - point), " ", fontsize=FONT, zorder=5, path_effects=halo)
        literal(text, word)
        nearest = np.clip(point, corner, corner + size)
        if float(np.linalg.norm(nearest - point)) > LEADER * pixel + radius:
            ends = np.array([at[group[0]], back(nearest - point)])
            axes.plot(*ends.T, color="0.35", linewidth=0.7, zorder=4.5)


def corners(axes: Any, words: Any) -> FloatArray:
    """Corners (4, 2) of the place that a label takes, in pixels, by the usual width of letters."""
    pixel = axes.figure.dpi / 72.0
    width, height = GLYPH * FONT * len(words.get_text()) * pixel, FONT * pixel
    x, y = shown(axes, np.array(words.get_position_3d())[None])[0]
    return np.array([[x, y], [x + width, y], [x, y + height], [x + width, y + height]])


def shown(axes: Any, points: FloatArray) -> FloatArray:
    """Pixels (m, 2) at which points (m, 3) are seen."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*points.T, axes.get_proj())
    return np.asarray(axes.transData.transform(np.stack((x, y), axis=1)))


def outline(axes: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The outline of the axes' box, which is that of three pairs of parallel edges: its centre, normals, and reach."""
    low, high = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()]).T
    middle = 0.5 * (low + high)
    seen = shown(axes, np.array([middle, *(middle + np.diag(high - low))]))
    edges = seen[1:] - seen[0]
    normals = edges @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    return seen[0], normals, 0.5 * np.abs(normals @ edges.T).sum(axis=1)


def _screen(axes: Any) -> tuple[FloatArray, FloatArray, float]:
    """Directions (3,) in space that are seen to the right and upwards, and the pixels of a metre along them."""
    azimuth, elevation = math.radians(axes.azim), math.radians(axes.elev)
    right = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0])
    up = np.array([-math.sin(elevation) * math.cos(azimuth), -math.sin(elevation) * math.sin(azimuth), math.cos(elevation)])
    ends = shown(axes, np.array([np.zeros(3), right]))
    return right, up, float(ends[1, 0] - ends[0, 0])


def _obstacles(axes: Any, laid: Skeleton, step: float) -> FloatArray:
    """Places (m, 2) in pixels along rods and bars: labels beside them are better read."""
    lines = [line for one in laid.places for line in (one.arm, one.body)]
    lines += [bar for closure in laid.closures for bar in closure.bars]
    made = [shown(axes, laid.tool[None, :3, 3])]
    for line in lines:
        seen = shown(axes, np.array(line))
        for start, end in pairwise(seen):
            made.append(np.linspace(start, end, 2 + int(np.linalg.norm(end - start) / step)))
    return np.concatenate(made)


def _all(mechanism: Tree, laid: Skeleton) -> Iterator[tuple[FloatArray, str]]:
    """What is named: the base that floats, joints (of fixed links their frames), rotors, the tool."""
    many = len(laid.places) > MANY
    if mechanism.floating:
        yield laid.base[:3, 3], "floating base"
    names = [str(k + 1) if many else plain(place.link.name) for k, place in enumerate(laid.places)]
    for one, name in zip(laid.places, names, strict=True):
        yield (one.joint if one.link.moves else one.frame)[:3, 3], name
    driven = {one.link.coordinate_name: name for one, name in zip(laid.places, names, strict=True) if one.link.moves}
    for drive in mechanism.drives:
        if found := rotor(mechanism, laid, drive):
            yield found[1], f"rotor of {driven[drive.joint]}"
    yield laid.tool[:3, 3], "tool"


def _few(names: list[str]) -> Iterable[str]:
    short = [name if name.startswith("rotor of ") and len(name) <= 24 else shortened(name, 16) for name in names]
    return short if len(short) <= 4 else [*short[:3], f"{len(short) - 3} more"]
