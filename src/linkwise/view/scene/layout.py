"""Layout of a mechanism: frames of its links, lines from joint to joint, and the size of its symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.kinematics.configuration import resting
from linkwise.kinematics.forward_kinematics import base_poses
from linkwise.model.link import Link
from linkwise.model.loop import Loop
from linkwise.model.tree import Tree
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.transform import inverse
from linkwise.spatial.validation import readable

#: A mechanism of less extent (m) is drawn as if it had 1 m.
SMALLEST = 1e-9


@dataclass(frozen=True, eq=False)
class Rod:
    """A line fixed to a link (-1 for the base): its corners (m, 3) in the frame of the link."""

    link: int
    points: FloatArray


@dataclass(frozen=True, eq=False)
class SceneLayout:
    """Joints and rods of a mechanism in the frames of its links, and the size of its symbols.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    poses : ndarray (1 + L, 4, 4)
        Frames of the base and of the links in the posture from which it was laid out, world frame.
    joints : ndarray (L, 4, 4)
        The frame in which each joint acts, z along its axis, in the frame of the parent.
    moved : ndarray (L, 3)
        Where the joint's motion takes the origin of that frame, in the frame of the link.
    rods : tuple of Rod
        From each link's origin to the joints that it carries, from its own joint to its origin, and to its loops.
    extent : float
        Diagonal of the box around it, m.
    size : float
        Length to which all symbols are drawn, m.
    """

    tree: Tree
    poses: FloatArray
    joints: FloatArray
    moved: FloatArray
    rods: tuple[Rod, ...]
    extent: float = 1.0
    size: float = 1.0

    def world(self, link: int, points: FloatArray, poses: FloatArray | None = None) -> FloatArray:
        """Points (m, 3) of a link in the world, in its own posture or in another (1 + L, 4, 4)."""
        frame = (self.poses if poses is None else poses)[1 + link]
        return np.asarray(points @ frame[:3, :3].T + frame[:3, 3])

    def tool(self, poses: FloatArray | None = None) -> FloatArray:
        """The tool's frame (..., 4, 4), world frame."""
        frames = (self.poses if poses is None else poses)[..., 1 + self.tree.tool_index, :, :]
        return np.asarray(frames @ self.tree.tool)

    def lines(self, poses: FloatArray | None = None) -> list[FloatArray]:
        """All lines (m, 3) in the world: rods, extended sliding joints, and the line to the tool."""
        placed, tree = self.poses if poses is None else poses, self.tree
        tool = np.array([placed[1 + tree.tool_index, :3, 3], self.tool(placed)[:3, 3]])
        return [*(self.world(rod.link, rod.points, placed) for rod in self.rods), *self.slides(placed), tool]

    def slides(self, poses: FloatArray) -> list[FloatArray]:
        """Line (2, 3) of each link from its joint's point of action to the displaced point."""
        hung = zip(self.tree.parents, self.joints, strict=True)
        starts = [self.world(parent, joint[None, :3, 3], poses) for parent, joint in hung]
        ends = [self.world(k, point[None], poses) for k, point in enumerate(self.moved)]
        return [np.concatenate(pair) for pair in zip(starts, ends, strict=True)]

    def points(self, poses: FloatArray | None = None) -> FloatArray:
        """All corners (m, 3) in the world."""
        placed = self.poses if poses is None else poses
        ends = placed[0, None, :3, 3], self.tool(placed)[None, :3, 3]
        return np.concatenate([*ends, *(self.world(rod.link, rod.points, placed) for rod in self.rods)])

    def rotors(self) -> FloatArray:
        """Centres (m, 3) of the rotors with separate bodies, world frame."""
        return np.array([self.world(k, at[None])[0] for k, _, at, _ in rotor_places(self.tree)]).reshape(-1, 3)

    def joint_frames(self) -> FloatArray:
        """The frames (L, 4, 4) in which the joints act, world frame."""
        hung = zip(self.tree.parents, self.joints, strict=True)
        return np.array([self.poses[1 + parent] @ joint for parent, joint in hung]).reshape(-1, 4, 4)


def lay_out(tree: Tree, q: Any = None) -> SceneLayout:
    """Lay out a mechanism at the coordinates q (nq,); without them at zero, or at the limit next to it.

    Raises
    ------
    ArgumentError
        Where q is not nq finite numbers.
    """
    joints, moved, rods = [], [], []
    axes = [np.atleast_2d(link.axis)[0] for link in tree.links]
    turns = rotation_between((0.0, 0.0, 1.0), np.reshape(np.array(axes, dtype=float), (-1, 3)))
    for k, (link, parent) in enumerate(zip(tree.links, tree.parents, strict=True)):
        acts, back = np.array(link.before, dtype=float), inverse(np.array(link.after, dtype=float))
        rods.append(Rod(parent, np.array([np.zeros(3), acts[:3, 3]])))
        rods.append(Rod(k, np.array([back[:3, 3], *_corner(link, back), np.zeros(3)])))
        acts[:3, :3] = acts[:3, :3] @ turns[k]
        joints.append(acts)
        moved.append(back[:3, 3])
    for loop in tree.loops:
        rods += [Rod(link, np.array([np.zeros(3), frame[:3, 3]])) for link, frame in loop_ends(tree, loop)]
    poses = frames_at(tree, coordinates(tree, q))
    layout = SceneLayout(tree, poses, np.array(joints), np.array(moved), tuple(rods))
    extent = float(np.linalg.norm(np.ptp(layout.points(), axis=0)))
    extent = extent if extent > SMALLEST else 1.0
    return SceneLayout(tree, poses, layout.joints, layout.moved, layout.rods, extent, _symbol_size(layout, extent))


def _symbol_size(layout: SceneLayout, extent: float) -> float:
    """Return the extent, or seven times the usual distance between neighbouring joints where that is less."""
    origins = layout.poses[:, :3, 3]
    steps = [float(np.linalg.norm(origins[1 + k] - origins[1 + parent])) for k, parent in enumerate(layout.tree.parents)]
    longer = [step for step in steps if step > 0.02 * extent]
    return min(extent, 7.0 * float(np.median(longer))) if longer else extent


def _corner(link: Link, back: FloatArray) -> tuple[FloatArray, ...]:
    """Return the corner between the shift d along z and the shift a of a standard Denavit-Hartenberg row."""
    if link.dh_row is None or link.dh_row.convention != "standard" or not link.moves:
        return ()
    return (back[:3, 3] + back[:3, 2] * float(link.after[2, 3]),)


def loop_ends(tree: Tree, loop: Loop) -> list[tuple[int, FloatArray]]:
    """The two links that a loop joins, -1 for the base, and its frames on them."""
    ends = ((loop.first, loop.first_frame), (loop.second, loop.second_frame))
    return [(-1 if name == "base" else tree.link_index(name), np.asarray(frame, dtype=float)) for name, frame in ends]


def evaluate(tree: Tree, name: str, *inputs: Any, **options: Any) -> Any:
    """Compute an algorithm of a mechanism by its compiled kernel; options are those of the algorithm."""
    return kernel_of(tree, name, None, options)(*inputs)


def rotor_places(tree: Tree) -> Iterator[tuple[int, int, FloatArray, FloatArray]]:
    """Yield each rotor with a separate body: carrier, driven link, centre and axis (3,) in the frame of the carrier."""
    driven = {name: k for k, link in enumerate(tree.links) for name in link.coordinate_names}
    for drive in tree.drives:
        if drive.carrier is not None and drive.motor.axis is not None and drive.motor.mass:
            yield drive.carrier, driven[drive.joint], np.asarray(drive.motor.com), np.asarray(drive.motor.axis)


def coordinates(tree: Tree, q: Any) -> FloatArray:
    """Return the coordinates as an array (nq,); by default joints at zero or the nearest limit.

    Raises
    ------
    ArgumentError
        Where q is not nq finite numbers, or has no orientation of a floating base.
    """
    values = resting(tree) if q is None else np.asarray(readable("q", q), dtype=float)
    if values.shape != (tree.nq,) or not np.all(np.isfinite(values)):
        names = ", ".join(tree.coordinate_names) if tree.manifold_joints else "one for each joint"
        raise ArgumentError(f"q is {np.asarray(q).tolist()!r}; expected {tree.nq} finite numbers, {names}")
    for at in tree.manifold_joints:
        if not values[at.quaternion].any():
            of = "its base" if at.link < 0 else f"joint {at.name!r}"
            raise ArgumentError(f"q has the quaternion 0, 0, 0, 0 of {of}; expected one of norm 1, such as 1, 0, 0, 0")
    return values


def frames_at(tree: Tree, q: FloatArray) -> FloatArray:
    """Frames (1 + L, 4, 4) of the base and of all links at q (nq,), world frame, without compiling anything."""
    poses = np.empty((1 + len(tree.links), 4, 4))
    poses[0] = base_poses(tree, q)
    for k in tree.order:
        poses[1 + k] = poses[1 + tree.parents[k]] @ tree.links[k].placement(tree.joint_coordinates(k, q))
    return poses


def poses_at(tree: Tree, q: FloatArray) -> FloatArray:
    """Frames (..., 1 + L, 4, 4) of the base and of all links at q (..., nq), world frame, by the compiled kernel.

    Examples
    --------
    >>> from linkwise import robots
    >>> poses_at(robots.planar_2r(), np.zeros(2))[:, 0, 3].tolist()
    [0.0, 1.0, 2.0]
    """
    links = evaluate(tree, "link_poses", q)
    return np.concatenate((base_poses(tree, q)[..., None, :, :], links), axis=-3)


def points_of(links: npt.ArrayLike, points: FloatArray, poses: FloatArray) -> FloatArray:
    """Points (*shape, 3) of links (*shape,), -1 for the base, in the world at poses (..., 1 + L, 4, 4): (..., *shape, 3)."""
    frames = poses[..., 1 + np.asarray(links), :, :]
    return np.asarray((frames[..., :3, :3] @ points[..., None])[..., 0] + frames[..., :3, 3])


def near(points: FloatArray, distance: float) -> list[list[int]]:
    """Gather points (m, d), or (m, ..., d) in several postures, with the first of those that is nowhere farther away.

    Examples
    --------
    >>> near(np.array([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]]), 2.0)
    [[0, 2], [1]]
    """
    groups: list[list[int]] = []
    firsts = np.empty_like(points)
    for k, point in enumerate(points):
        apart = np.linalg.norm(firsts[: len(groups)] - point, axis=-1)
        close = np.flatnonzero(apart.max(axis=tuple(range(1, apart.ndim)), initial=0.0) < distance)
        if len(close):
            groups[close[0]].append(k)
        else:
            firsts[len(groups)] = point
            groups.append([k])
    return groups


def few(names: Sequence[str]) -> str:
    """The names in one label; of more than four, the number of those beyond three."""
    return ", ".join(names if len(names) <= 4 else [*names[:3], f"{len(names) - 3} more"])


def segments(points: FloatArray, least: float) -> list[tuple[FloatArray, FloatArray]]:
    """The pieces of a line (m, 3) that are longer than a length."""
    return [(start, end) for start, end in pairwise(points) if float(np.linalg.norm(end - start)) > least]
