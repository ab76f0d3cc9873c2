"""Where the parts of a mechanism stand in space: the joints, the frames and the lines along which its links run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.model.limits import resting
from linkwise.model.link import Link
from linkwise.model.loop import Loop
from linkwise.model.tree import Tree
from linkwise.spatial.numbers import unmasked
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import transform

SMALLEST = 1e-9


@dataclass(frozen=True)
class Place:
    """One link in space.

    Attributes
    ----------
    link : Link
        The link.
    parent : int
        Index of its parent, -1 for the base.
    joint : ndarray (4, 4)
        The frame in which its joint acts, z along the axis; fixed to the parent.
    moved : ndarray (3,)
        Where the joint's motion takes the origin of that frame.
    frame : ndarray (4, 4)
        The frame of the link.
    arm : tuple of ndarray (3,)
        Corners of the line from the parent's origin to the joint: part of the parent.
    body : tuple of ndarray (3,)
        Corners of the line from `moved` to the origin of the link.
    """

    link: Link
    parent: int
    joint: FloatArray
    moved: FloatArray
    frame: FloatArray
    arm: tuple[FloatArray, ...]
    body: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Closure:
    """One closed loop in space.

    Attributes
    ----------
    loop : Loop
        The loop.
    frames : tuple of ndarray (4, 4)
        Its frame on each of the two links.
    links : tuple of int
        Indices of these links, -1 for the base.
    bars : tuple of tuple of ndarray (3,)
        From the origin of each link to its frame: part of the link.
    """

    loop: Loop
    frames: tuple[FloatArray, FloatArray]
    links: tuple[int, int]
    bars: tuple[tuple[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]


@dataclass(frozen=True)
class Skeleton:
    """Every link in space, the closed loops, the tool, the extent of it all, and a length to which all symbols are drawn.

    The symbols are drawn to the extent, or smaller where many joints stand close together.
    """

    base: FloatArray
    places: tuple[Place, ...]
    tool: FloatArray
    extent: float = 1.0
    size: float = 1.0
    closures: tuple[Closure, ...] = ()

    @property
    def points(self) -> FloatArray:
        """All corners (m, 3)."""
        corners = [self.base[:3, 3], self.tool[:3, 3]]
        for place in self.places:
            corners += [*place.arm, *place.body]
        for closure in self.closures:
            corners += [frame[:3, 3] for frame in closure.frames]
        return np.array(corners)


def skeleton(tree: Tree, q: Any = None) -> Skeleton:
    """Lay out a mechanism at the coordinates q (nq,); where none are given, with joints at zero or the limit next to it.

    Raises
    ------
    ArgumentError
        Where q is not nq finite numbers.
    """
    values = coordinates(tree, q)
    base, joints = np.asarray(tree.base, dtype=float), values[tree.nq - tree.n :]
    if tree.floating:
        base = np.asarray(base @ transform(quaternion_rotation(values[3:7]), values[:3]), dtype=float)
    frames: dict[int, FloatArray] = {-1: base}
    places: dict[int, Place] = {}
    for k in tree.order:
        places[k] = _place(tree, k, frames[tree.parents[k]], float(tree.followers[k].value(joints)))
        frames[k] = places[k].frame
    closures = tuple(_closure(tree, loop, frames) for loop in tree.loops)
    placed = tuple(places[k] for k in range(len(places)))
    made = Skeleton(frames[-1], placed, frames[tree.tool_index] @ tree.tool, closures=closures)
    extent = float(np.linalg.norm(np.ptp(made.points, axis=0)))
    extent = extent if extent > SMALLEST else 1.0
    return replace(made, extent=extent, size=_symbol_size(made, extent))


def _symbol_size(made: Skeleton, extent: float) -> float:
    """Return the extent, or seven times the usual distance between neighbouring joints where that is less."""
    steps = [float(np.linalg.norm(place.frame[:3, 3] - place.arm[0])) for place in made.places]
    longer = [step for step in steps if step > 0.02 * extent]
    return min(extent, 7.0 * float(np.median(longer))) if longer else extent


def coordinates(tree: Tree, q: Any) -> FloatArray:
    """Return the coordinates as an array (nq,); where none are given, joints at zero or the limit next to it."""
    made = resting(tree) if q is None else np.asarray(unmasked("q", q), dtype=float)
    if made.shape != (tree.nq,) or not np.all(np.isfinite(made)):
        each = ", ".join(tree.coordinate_names) if tree.floating else "one for each joint"
        raise ArgumentError(f"q is {np.asarray(q).tolist()!r}; expected {tree.nq} finite numbers, {each}")
    if tree.floating and not made[3:7].any():
        raise ArgumentError("q has the quaternion 0, 0, 0, 0 of its base; expected one of norm 1, such as 1, 0, 0, 0")
    return made


def _closure(tree: Tree, loop: Loop, frames: dict[int, FloatArray]) -> Closure:
    one, two = (-1 if name == "base" else tree.link_index(name) for name in (loop.first, loop.second))
    ends = (np.asarray(frames[one] @ loop.first_frame), np.asarray(frames[two] @ loop.second_frame))
    bars = ((frames[one][:3, 3], ends[0][:3, 3]), (frames[two][:3, 3], ends[1][:3, 3]))
    return Closure(loop, ends, (one, two), bars)


def _place(tree: Tree, k: int, parent: FloatArray, q: float) -> Place:
    link = tree.links[k]
    acts = np.asarray(parent @ link.before, dtype=float)
    moved = np.asarray(acts @ link.motion(q), dtype=float)
    frame = np.asarray(moved @ link.after, dtype=float)
    upright = acts.copy()
    upright[:3, :3] = acts[:3, :3] @ rotation_between((0.0, 0.0, 1.0), link.axis)
    arm = (parent[:3, 3], acts[:3, 3])
    body = (moved[:3, 3], *_corner(link, moved), frame[:3, 3])
    return Place(link, tree.parents[k], upright, moved[:3, 3], frame, arm, body)


def _corner(link: Link, moved: FloatArray) -> tuple[FloatArray, ...]:
    """Return the corner between the shift d along z and the rest of a standard Denavit-Hartenberg row."""
    if link.dh_row is None or link.dh_row.convention != "standard" or link.joint == "fixed":
        return ()
    return (moved[:3, 3] + moved[:3, 2] * link.after[2, 3],)
