"""The words of a picture: names beside joints, rotors, tool and base, kept clear of the numbers along the edges."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

import numpy as np

from linkwise.model.drive import Drive
from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.figure import literal, shortened
from linkwise.view.skeleton import Skeleton

MANY = 12
"""Beyond this many links they are numbered, as in the list of links, not named."""

FONT, GLYPH = 8.5, 0.58
"""Size of the letters, points, and the width of one as a share of it."""

ASIDE, ABOVE = 0.042, 0.045
"""How far a label stands from its point, as shares of the mechanism's size."""


def rotor(mechanism: Tree, laid: Skeleton, drive: Drive) -> tuple[FloatArray, FloatArray, FloatArray] | None:
    """Origin of the frame that carries a rotor, its centre and axis (3,); None where it is no body of its own."""
    if drive.carrier is None or drive.motor.axis is None or not drive.motor.mass:
        return None
    frame = laid.base if drive.carrier < 0 else laid.places[drive.carrier].frame
    return frame[:3, 3], frame[:3, :3] @ drive.motor.com + frame[:3, 3], frame[:3, :3] @ drive.motor.axis


def write(axes: Any, mechanism: Tree, laid: Skeleton) -> list[tuple[Any, FloatArray]]:
    """Write the labels, those that stand together in one; return each with its point."""
    from matplotlib.patheffects import withStroke

    together: dict[tuple[int, ...], tuple[FloatArray, list[str]]] = {}
    for at, label in _all(mechanism, laid):
        key = tuple(np.round(at / (laid.size * 0.04)).astype(int))
        together.setdefault(key, (at, []))[1].append(label)
    halo = [withStroke(linewidth=2.5, foreground="white")]
    made = []
    for at, names in together.values():
        words = axes.text(*(at + laid.size * np.array([0.03, 0.03, ABOVE])), " ", fontsize=FONT, zorder=5, path_effects=halo)
        literal(words, ", ".join(_few(names)))
        made.append((words, at))
    return made


def keep_inside(axes: Any, laid: Skeleton, labels: Iterable[tuple[Any, FloatArray]]) -> None:
    """Move each label that runs out of the axes' box to another side of its point, where it does not."""
    azimuth = math.radians(axes.azim)
    right, up = np.array([-math.sin(azimuth), math.cos(azimuth), 0.0]), np.array([0.0, 0.0, 1.0])
    for words, at in labels:
        if _fits(axes, words):
            continue
        first = words.get_position_3d(), words.get_ha(), words.get_va()
        for above, aside in product((1.0, -1.6), (1.0, -1.0)):
            words.set_position_3d(at + laid.size * (ASIDE * aside * right + ABOVE * above * up))
            words.set(ha="left" if aside > 0 else "right", va="baseline" if above > 0 else "top")
            if _fits(axes, words):
                break
        else:
            words.set_position_3d(first[0])
            words.set(ha=first[1], va=first[2])


def corners(axes: Any, words: Any) -> FloatArray:
    """Corners (4, 2) of the place that a label takes, in pixels, by the usual width of letters."""
    pixel = axes.figure.dpi / 72.0
    width, height = GLYPH * FONT * len(words.get_text()) * pixel, FONT * pixel
    x, y = _shown(axes, np.array(words.get_position_3d())[None])[0]
    left = x - width * (words.get_ha() == "right")
    low = y - height * (words.get_va() == "top")
    return np.array([[left, low], [left + width, low], [left, low + height], [left + width, low + height]])


def _fits(axes: Any, words: Any) -> bool:
    """Whether a label stands within the outline of the axes' box, which is that of three pairs of parallel edges."""
    low, high = np.array([axes.get_xlim3d(), axes.get_ylim3d(), axes.get_zlim3d()]).T
    middle = 0.5 * (low + high)
    seen = _shown(axes, np.array([middle, *(middle + np.diag(high - low))]))
    edges = seen[1:] - seen[0]
    normals = edges @ np.array([[0.0, 1.0], [-1.0, 0.0]])
    reach = 0.5 * np.abs(normals @ edges.T).sum(axis=1)
    return bool(np.all(np.abs((corners(axes, words) - seen[0]) @ normals.T) <= reach))


def _shown(axes: Any, points: FloatArray) -> FloatArray:
    """Pixels (m, 2) at which points (m, 3) are seen."""
    from mpl_toolkits.mplot3d.proj3d import proj_transform

    x, y, _ = proj_transform(*points.T, axes.get_proj())
    return np.asarray(axes.transData.transform(np.stack((x, y), axis=1)))


def _all(mechanism: Tree, laid: Skeleton) -> Iterator[tuple[FloatArray, str]]:
    """What is named: the base that floats, joints (of fixed links their frames), rotors, the tool."""
    many = len(laid.places) > MANY
    if mechanism.floating:
        yield laid.base[:3, 3], "floating base"
    names = [str(k + 1) if many else plain(place.link.name) for k, place in enumerate(laid.places)]
    for place, name in zip(laid.places, names, strict=True):
        yield (place.joint if place.link.moves else place.frame)[:3, 3], name
    driven = {place.link.coordinate_name: name for place, name in zip(laid.places, names, strict=True) if place.link.moves}
    for drive in mechanism.drives:
        if found := rotor(mechanism, laid, drive):
            yield found[1], f"rotor of {driven[drive.joint]}"
    yield laid.tool[:3, 3], "tool"


def _few(names: list[str]) -> Iterable[str]:
    short = [name if name.startswith("rotor of ") and len(name) <= 24 else shortened(name, 16) for name in names]
    return short if len(short) <= 4 else [*short[:3], f"{len(short) - 3} more"]
