"""The shapes of a mechanism in one posture: links as rods, joints as cylinders, boxes and helices, loops as pins."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing import frames, labels
from linkwise.view.drawing.skeleton import Closure, Place, Skeleton
from linkwise.view.drawing.solids import Solids, helix
from linkwise.view.drawing.strokes import Stroke
from linkwise.view.figure import colour

ROD, JOINT = 0.014, 0.030
"""Radii of rods and joints, as shares of the mechanism's size."""

GREY = "#8a8f94"
"""Colour of what belongs to the base."""


def solids(made: Solids, mechanism: Tree, laid: Skeleton) -> Solids:
    """Add rods, joints, loops and rotors to the solids of a picture; return these."""
    nested = _nesting(laid)
    for k, place in enumerate(laid.places):
        _rods(made, place.arm, laid.size * ROD, _rgb(GREY if place.parent < 0 else colour(place.parent)))
        _rods(made, place.body, laid.size * ROD, _rgb(colour(k)))
        _joint(made, place, laid.size * 0.84 ** nested[k], _rgb(colour(k)))
    for closure in laid.closures:
        _closure(made, closure, laid.size)
    driven = {link.coordinate_name: k for k, link in enumerate(mechanism.links) if link.moves}
    for drive in mechanism.drives:
        if found := labels.rotor(mechanism, laid, drive):
            _, at, along = found
            r = laid.size * JOINT
            made.cylinder(at - along * r * 0.5, at + along * r * 0.5, r * 1.25, _rgb(colour(driven[drive.joint])) * 0.86)
    return made


def strokes(mechanism: Tree, laid: Skeleton, *, axes: bool) -> Iterator[Stroke]:
    """Lines and marks: threads, the gaps of loops, rotors, the ground or the base that floats, frames, the tool.

    Their number depends on the mechanism alone, so that those of another posture take their places one by one. With
    ``axes`` every link has those of its frame.
    """
    nested = _nesting(laid)
    for k, place in enumerate(laid.places):
        if place.link.joint == "screw":
            at, along, r = place.joint[:3, 3], place.joint[:3, 2], laid.size * 0.84 ** nested[k] * JOINT
            thread = helix(at - along * r * 1.6, at + along * r * 1.6, r * 0.95)
            yield Stroke(thread, 4.0, {"color": "black", "linewidth": 1.2})
    for closure in laid.closures:
        ends = np.array([frame[:3, 3] for frame in closure.frames])
        apart = float(np.linalg.norm(ends[1] - ends[0])) > laid.size * ROD
        yield Stroke(ends, 4.0, {"color": "#c03030", "linewidth": 1.4, "linestyle": "--"}, shown=apart)
    for drive in mechanism.drives:
        if found := labels.rotor(mechanism, laid, drive):
            yield Stroke(np.array(found[:2]), 1.5, {"color": "0.45", "linewidth": 0.9})
    if mechanism.floating:
        yield from frames.free_body(laid)
    else:
        yield from frames.ground(laid)
        yield from frames.triad(laid.base, laid.size * frames.TRIAD, moves=False)
    for place in laid.places if axes else ():
        yield from frames.triad(place.frame, laid.size * frames.TRIAD)
    yield from frames.tool(mechanism, laid)


def _nesting(laid: Skeleton) -> list[int]:
    """How many joints before each one stand at the same point: its symbol is drawn smaller for each."""
    at = np.array([place.joint[:3, 3] for place in laid.places])
    near = np.linalg.norm(at[:, None] - at, axis=2) < laid.size * JOINT
    moves = np.array([place.link.moves for place in laid.places])
    return [int(np.count_nonzero(near[k, :k] & moves[:k])) for k in range(len(at))]


def _rods(made: Solids, corners: tuple[FloatArray, ...], radius: float, rgb: FloatArray) -> None:
    for start, end in pairwise(corners):
        if float(np.linalg.norm(end - start)) > radius / 2:
            made.cylinder(start, end, radius, rgb)


def _joint(made: Solids, place: Place, size: float, rgb: FloatArray) -> None:
    """Add the symbol of the joint in the colour of the link that it moves but darker."""
    kind, at, along = place.link.joint, place.joint[:3, 3], place.joint[:3, 2]
    dark, r, light = rgb * 0.72, size * JOINT, np.full(3, 0.75)
    if kind == "revolute":
        made.cylinder(at - along * r * 1.35, at + along * r * 1.35, r, dark)
    elif kind == "prismatic":
        made.box(place.joint, np.array([r, r, 1.5 * r]) * 0.85, dark)
        _rods(made, (at, place.moved), size * ROD * 0.6, light)
    elif kind == "screw":
        made.cylinder(at - along * r * 1.6, at + along * r * 1.6, r * 0.7, dark)
        _rods(made, (at, place.moved), size * ROD * 0.6, light)


def _closure(made: Solids, closure: Closure, size: float) -> None:
    """Add a closed loop: both links out to it, and a ball, a hinge or a box on each."""
    grey, r = _rgb(GREY), size * JOINT * 0.8
    for k, bar in zip(closure.links, closure.bars, strict=True):
        _rods(made, bar, size * ROD, grey if k < 0 else _rgb(colour(k)))
    for frame in closure.frames:
        at, along = frame[:3, 3], frame[:3, 2]
        if closure.loop.kind == "point":
            made.ball(at, r, grey * 0.7)
        elif closure.loop.kind == "hinge":
            made.cylinder(at - along * r * 1.35, at + along * r * 1.35, r, grey * 0.7)
        else:
            made.box(frame, np.full(3, r), grey * 0.7)


def _rgb(name: str) -> FloatArray:
    return np.array([int(name[k : k + 2], 16) for k in (1, 3, 5)]) / 255.0
