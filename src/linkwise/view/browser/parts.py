"""What a mechanism looks like from its table alone: for each link the surfaces that move with it, in its own frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse
from linkwise.view.browser.surfaces import Surface, ball, box, cylinder, helix, merged
from linkwise.view.drawing.frames import GROUND
from linkwise.view.drawing.labels import rotor
from linkwise.view.drawing.skeleton import Closure, Place, Skeleton
from linkwise.view.figure import colour

ROD, JOINT = 0.014, 0.030
"""Radii of rods and joints, as shares of the mechanism's size, as in its picture."""

GREY = "#8a8f94"
"""Of what is fixed to the ground, and of the closures."""

SHRUNK = 0.84
"""How much smaller a joint's symbol is drawn for each joint before it at the same point."""

Colour = tuple[int, int, int]
"""Red, green, blue, each 0 to 255."""


@dataclass(frozen=True, eq=False)
class Part:
    """One surface of one colour that moves with a link.

    Attributes
    ----------
    link : int
        The link that carries it, -1 for the base; the surface is in its frame.
    moved : int
        For the symbol of a joint the link that the joint moves, otherwise `link`.
    what : {"rod", "joint", "closure", "rotor", "ground", "tool"}
        What it stands for.
    surface : Surface
        Its triangles.
    colour : tuple of int
        Red, green, blue, 0 to 255.
    """

    link: int
    moved: int
    what: str
    surface: Surface
    colour: Colour


@dataclass(frozen=True, eq=False)
class Slide:
    """The rod of a prismatic or screw joint, as long as the joint is out.

    Attributes
    ----------
    link, moved : int
        The link that carries it, -1 for the base, and the link that the joint moves.
    frame : ndarray (4, 4)
        In the frame of `link`, where the joint acts: z along its axis.
    end : ndarray (3,)
        In the frame of `moved`, the point at which the rod ends.
    radius : float
        m.
    """

    link: int
    moved: int
    frame: FloatArray
    end: FloatArray
    radius: float


@dataclass(frozen=True, eq=False)
class Gap:
    """Where a loop closes: a point on each of two links, drawn joined by a red line while they are apart.

    Attributes
    ----------
    links : tuple of int
        The links, -1 for the base.
    points : tuple of ndarray (3,)
        A point in the frame of each.
    radius : float
        Of the line, m.
    """

    links: tuple[int, int]
    points: tuple[FloatArray, FloatArray]
    radius: float


@dataclass(frozen=True, eq=False)
class Parts:
    """All that is drawn of a mechanism.

    Attributes
    ----------
    still : tuple of Part
        What moves with a link as it is.
    slides : tuple of Slide
        Rods that change their length.
    gaps : tuple of Gap
        Closures of loops.
    """

    still: tuple[Part, ...]
    slides: tuple[Slide, ...]
    gaps: tuple[Gap, ...]


def parts(tree: Tree, laid: Skeleton) -> Parts:
    """Return the parts of a mechanism as it is laid out in some position: they do not depend on which one.

    Rods of a link are one surface, so is each joint's symbol; all are sized as in the mechanism's picture.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    laid : Skeleton
        Of the mechanism, in any position.
    """
    here = {-1: inverse(laid.base)} | {k: inverse(place.frame) for k, place in enumerate(laid.places)}
    made = [*_rods(laid, here), *_joints(laid, here), *_closures(laid, here)]
    made += [*_tool(tree, laid, here), *_rotors(tree, laid, here)]
    if not tree.floating:
        made.append(_ground(laid, here[-1]))
    sliding = [k for k, place in enumerate(laid.places) if place.link.joint in {"prismatic", "screw"}]
    slides = tuple(_slide(k, laid.places[k], laid.size, here) for k in sliding)
    return Parts(tuple(made), slides, tuple(_gap(closure, laid.size, here) for closure in laid.closures))


def rgb(name: str, share: float = 1.0) -> Colour:
    """Return a colour written ``#rrggbb``, darkened to a share of it."""
    red, green, blue = (round(int(name[k : k + 2], 16) * share) for k in (1, 3, 5))
    return red, green, blue


def link_colour(k: int) -> str:
    """Return the colour of a link; the base is grey."""
    return GREY if k < 0 else colour(k)


# ── what they are made of ─────────────────────────────────────────────────────────────────────────


Frames = dict[int, FloatArray]
"""By link, -1 for the base: what takes the world to its frame."""


def _local(frame: FloatArray, point: FloatArray) -> FloatArray:
    return np.asarray(frame[:3, :3] @ point + frame[:3, 3], dtype=float)


def _rods(laid: Skeleton, here: Frames) -> Iterator[Part]:
    """One surface a link: its lines to the joints it carries, and from its own joint to its frame."""
    radius = laid.size * ROD
    lines: dict[int, list[tuple[FloatArray, ...]]] = {k: [] for k in here}
    for k, place in enumerate(laid.places):
        lines[place.parent].append(place.arm)
        lines[k].append(place.body)
    for closure in laid.closures:
        for k, bar in zip(closure.links, closure.bars, strict=True):
            lines[k].append(bar)
    for k, along in lines.items():
        found = [one for line in along for one in _rod([_local(here[k], point) for point in line], radius)]
        if found:
            yield Part(k, k, "rod", merged(found), rgb(link_colour(k)))


def _rod(corners: list[FloatArray], radius: float) -> Iterator[Surface]:
    """Yield the rods between corners, with balls at those where they bend."""
    long = [(a, b) for a, b in pairwise(corners) if float(np.linalg.norm(b - a)) > radius / 2]
    for start, end in long:
        yield cylinder(start, end, radius)
    for _, corner in long[:-1]:
        yield ball(corner, radius)


def _joints(laid: Skeleton, here: Frames) -> Iterator[Part]:
    nested = _nesting(laid)
    for k, place in enumerate(laid.places):
        frame = here[place.parent] @ place.joint
        size = laid.size * SHRUNK ** nested[k]
        for one, name, share in _symbol(place.link.joint, size, link_colour(k)):
            yield Part(place.parent, k, "joint", one.placed(frame), rgb(name, share))


def _symbol(kind: str, size: float, name: str) -> Iterator[tuple[Surface, str, float]]:
    """Yield the surfaces of a joint's symbol about z, with their colours and how dark they are."""
    r = size * JOINT
    up = np.array([0.0, 0.0, r])
    if kind == "revolute":
        yield cylinder(-1.35 * up, 1.35 * up, r), name, 0.72
    elif kind == "prismatic":
        yield box(np.array([r, r, 1.5 * r]) * 0.85), name, 0.72
    elif kind == "screw":
        yield cylinder(-1.6 * up, 1.6 * up, 0.7 * r), name, 0.72
        yield helix(-1.6 * r, 1.6 * r, 0.75 * r, 0.14 * r), "#202020", 1.0


def _nesting(laid: Skeleton) -> list[int]:
    """How many joints before each one stand at the same point: its symbol is drawn smaller for each."""
    at = [place.joint[:3, 3] for place in laid.places]
    near = laid.size * JOINT
    return [
        sum(place.link.moves and float(np.linalg.norm(at[j] - at[k])) < near for j, place in enumerate(laid.places[:k]))
        for k in range(len(at))
    ]


def _slide(k: int, place: Place, size: float, here: Frames) -> Slide:
    return Slide(place.parent, k, here[place.parent] @ place.joint, _local(here[k], place.moved), size * ROD * 0.6)


def _closures(laid: Skeleton, here: Frames) -> Iterator[Part]:
    """Yield a ball, a hinge or a box on each of the two links that meet where a loop closes."""
    r = laid.size * JOINT * 0.8
    up = np.array([0.0, 0.0, r])
    kinds = {"point": ball(np.zeros(3), r), "hinge": cylinder(-1.35 * up, 1.35 * up, r), "full": box(np.full(3, r))}
    for closure in laid.closures:
        for k, frame in zip(closure.links, closure.frames, strict=True):
            symbol = kinds[closure.loop.kind].placed(here[k] @ frame)
            yield Part(k, k, "closure", symbol, rgb(GREY, 0.7))


def _gap(closure: Closure, size: float, here: Frames) -> Gap:
    one, two = (_local(here[k], frame[:3, 3]) for k, frame in zip(closure.links, closure.frames, strict=True))
    return Gap(closure.links, (one, two), size * ROD * 0.4)


def _tool(tree: Tree, laid: Skeleton, here: Frames) -> Iterator[Part]:
    """Yield a line from the last link to the tool, where it is away from it, and a dark ball at the tool."""
    k = tree.tool_index
    at = _local(here[k], laid.tool[:3, 3])
    made = [ball(at, laid.size * ROD * 0.9)]
    if float(np.linalg.norm(at)) > laid.size * ROD / 2:
        made.append(cylinder(np.zeros(3), at, laid.size * ROD * 0.6))
    yield Part(k, k, "tool", merged(made), rgb("#303030"))


def _rotors(tree: Tree, laid: Skeleton, here: Frames) -> Iterator[Part]:
    """Yield each rotor that is a body of its own: a flat cylinder, joined to the frame that carries it."""
    driven = {link.coordinate_name: k for k, link in enumerate(tree.links) if link.moves}
    r = laid.size * JOINT
    for drive in tree.drives:
        if drive.carrier is None or (found := rotor(tree, laid, drive)) is None:
            continue
        turn = here[drive.carrier]
        origin, at, along = _local(turn, found[0]), _local(turn, found[1]), turn[:3, :3] @ found[2]
        made = [cylinder(at - along * r * 0.5, at + along * r * 0.5, r * 1.25)]
        if float(np.linalg.norm(at - origin)) > laid.size * ROD / 2:
            made.append(cylinder(origin, at, laid.size * ROD * 0.3))
        yield Part(drive.carrier, drive.carrier, "rotor", merged(made), rgb(link_colour(driven[drive.joint]), 0.86))


def _ground(laid: Skeleton, here: FloatArray) -> Part:
    """Return a flat plate under the base, at a right angle to the axis of the first joint if that is there, or level."""
    side, origin = laid.size * GROUND, laid.base[:3, 3]
    frame = laid.base.copy()
    first = laid.places[0] if laid.places else None
    if first is not None and first.link.joint == "revolute" and float(np.linalg.norm(first.joint[:3, 3] - origin)) < side:
        frame[:3, :3] = rotation_between((0.0, 0.0, 1.0), first.joint[:3, 2] * _sense(first.joint[:3, 2], laid))
    thick = 0.10 * side
    frame[:3, 3] = origin - frame[:3, 2] * thick
    plate = box(np.array([side, side, thick]) * (0.8, 0.8, 1.0)).placed(here @ frame)
    return Part(-1, -1, "ground", plate, rgb("#b8bcc0"))


def _sense(axis: FloatArray, laid: Skeleton) -> float:
    """Return the sign that makes the axis point away from the ground, towards the mechanism."""
    return -1.0 if float(axis @ (laid.points.mean(axis=0) - laid.base[:3, 3])) < -0.15 * laid.size else 1.0
