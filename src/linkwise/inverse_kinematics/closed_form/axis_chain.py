"""The kinematic data of a closed form: the joint axes from the base to one frame, in one reference position.

A chain is a product of exponentials (R. W. Brockett, "Robotic manipulators and the product of exponentials formula", 1984):
pose = E_1(t_1) ... E_m(t_m) home = D home, where E_i turns about, or slides along, the line of axis i as it lies in the
reference position. Which convention the links were described in does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.kinematics.forward_kinematics import frame_of
from linkwise.model.body import Body, moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.stacks import cleaned
from linkwise.model.tree import Tree
from linkwise.spatial import lines
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.transform import inverse

#: Axes count as parallel up to this angle (rad), as meeting up to this share of the chain's size: a right angle is often
#: written as 1.5708. What is then solved is the neighbouring chain in which they are; the answers are refined on the true
#: one, and checked there.
TOLERANCE = 1e-5

#: Up to here, in the same measure, the neighbouring chain is the true one to rounding, and nothing needs refining.
EXACT = 1e-13


@dataclass(frozen=True, eq=False)
class AxisChain:
    """Joint axes from the base to a frame. All lengths in m, directions of unit length, in the axes of `frame`.

    Attributes
    ----------
    axes : ndarray (m, 3)
        Direction of each joint's axis in the reference position, the joint nearest to the base first.
    points : ndarray (m, 3)
        A point on each axis there.
    translates : tuple of bool
        Which joints are prismatic; the others are revolute.
    home : ndarray (4, 4)
        Pose of the end frame in the reference position.
    frame : ndarray (4, 4)
        T_world_chain: where the axes in which all this is written stand in the world.
    coordinates : tuple of int
        Which coordinate of the mechanism moves each joint.
    ratios, shifts : ndarray (m,)
        What the exponentials take is ``ratios * q[coordinates] + shifts``.
    size : float
        A length (m) that lengths are compared with.
    misfit : float
        How far the true chain is from this one, where special positions of axes have been made exact (rad, or shares of the
        chain's size).
    """

    axes: FloatArray
    points: FloatArray
    translates: tuple[bool, ...]
    home: FloatArray
    frame: FloatArray
    coordinates: tuple[int, ...]
    ratios: FloatArray
    shifts: FloatArray
    size: float
    misfit: float = 0.0

    def __len__(self) -> int:
        return len(self.translates)

    def displacement(self, pose: Array) -> Array:
        """E_1(t_1) ... E_m(t_m) (4, 4) for a pose (4, 4) of scalars of the end frame in the world."""
        return np.asarray(inverse(self.frame) @ pose @ inverse(self.home))

    def reversed(self) -> AxisChain:
        """The chain read from its end: its displacement is the inverse, its joints come in the other order.

        D^-1 = E_m(-t_m) ... E_1(-t_1), and turning each axis round makes of -t again t: the same numbers solve both.
        """
        order = range(len(self))[::-1]
        return replace(part(self, order), axes=-self.axes[order] + 0.0, home=np.eye(4), frame=np.eye(4))

    def with_revolute(self, place: int, axis: FloatArray, point: FloatArray) -> AxisChain:
        """The chain with a revolute joint at a place, of no coordinate, about an axis (3,) through a point (3,)."""
        return replace(
            self,
            axes=np.insert(self.axes, place, axis, axis=0),
            points=np.insert(self.points, place, point, axis=0),
            translates=(*self.translates[:place], False, *self.translates[place:]),
            coordinates=(*self.coordinates[:place], -1, *self.coordinates[place:]),
            ratios=np.insert(self.ratios, place, 1.0),
            shifts=np.insert(self.shifts, place, 0.0),
        )


def part(chain: AxisChain, which: Sequence[int]) -> AxisChain:
    """Return some joints of a chain, in the given order, as a separate chain with the same end frame."""
    joints = list(which)
    return replace(
        chain,
        axes=chain.axes[joints],
        points=chain.points[joints],
        translates=tuple(chain.translates[k] for k in joints),
        coordinates=tuple(chain.coordinates[k] for k in joints),
        ratios=chain.ratios[joints],
        shifts=chain.shifts[joints],
    )


def chain_of(tree: Tree, link: int | str = "tool") -> tuple[AxisChain | None, str]:
    """Return the chain from the base to a frame, or None and the reason.

    Parameters
    ----------
    tree : Tree
        The mechanism; joints beside the way to the frame do not matter.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.

    Raises
    ------
    ArgumentError
        Where there is no such link.
    """
    if tree.manifold_joints or tree.loops:
        quaternions = "the base floats" if tree.floating else "it has joints with quaternions"
        return None, quaternions if tree.manifold_joints else "the mechanism has closed loops"
    couplings = coupling(tree) if tree.coupled else None
    free = tree if couplings is None else couplings.uncoupled
    bodies_of_tree = moving_bodies(free)
    body, end = frame_of(free, bodies_of_tree, link)
    path = bodies_of_tree.path(body)
    if not path:
        return None, "no joint moves this frame"
    bodies = [bodies_of_tree.bodies[k] for k in path]
    if any(b.joint is not None or (b.turn and b.advances) for b in bodies):
        return None, "a joint that is neither revolute nor prismatic is among the joints"
    spread = np.eye(tree.n) if couplings is None else couplings.spread
    shift = np.zeros(free.n) if couplings is None else couplings.shift
    rows = [b.position for b in bodies]
    columns = [np.flatnonzero(spread[row]) for row in rows]
    if any(len(indices) != 1 for indices in columns) or len({int(indices[0]) for indices in columns}) < len(rows):
        return None, "joints on the way to this frame follow each other"
    coordinates = tuple(int(indices[0]) for indices in columns)
    ratios = np.array([spread[row, k] for row, k in zip(rows, coordinates, strict=True)])
    shifts = np.array([shift[row] + b.angle for row, b in zip(rows, bodies, strict=True)])
    return _written(bodies, end, coordinates, ratios, shifts), ""


def _written(
    bodies: list[Body], end: FloatArray, coordinates: tuple[int, ...], ratios: FloatArray, shifts: FloatArray
) -> AxisChain:
    """The chain of bodies one after the other, in the axes in which the first joint turns about z through the origin."""
    pose, axes, points = np.eye(4), [], []
    for k, body in enumerate(bodies):
        pose = cleaned(pose @ body.placement) if k else pose
        axes.append(pose[:3, 2].copy())
        points.append(pose[:3, 3].copy())
    translates = tuple(body.advances for body in bodies)
    home, frame = cleaned(pose @ end), bodies[0].placement
    ends = np.vstack([*points, home[:3, 3]])
    size = float(np.linalg.norm(ends[:, None] - ends[None], axis=-1).max()) or 1.0
    return AxisChain(
        tidy(np.array(axes)), tidy(np.array(points)), translates, home, frame, coordinates, ratios, shifts, size
    )


def tidy(values: FloatArray) -> FloatArray:
    """Round off small deviations from zero, relative to the greatest element, and from one."""
    result = np.array(values, dtype=float)
    result[np.abs(result) < 1e-15 * max(1.0, float(np.abs(result).max(initial=0.0)))] = 0.0
    near = np.abs(np.abs(result) - 1.0) < 1e-15
    result[near] = np.round(result[near])
    return result


def angle(chain: AxisChain, i: int, j: int) -> float:
    """The angle between two axes as lines (rad), 0 to pi/2."""
    a, b = chain.axes[i], chain.axes[j]
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), abs(float(a @ b)))


def distance(chain: AxisChain, i: int, j: int) -> float:
    """The distance between two axes as lines (m)."""
    a, b, offset = chain.axes[i], chain.axes[j], chain.points[j] - chain.points[i]
    normal = np.cross(a, b)
    size = float(np.linalg.norm(normal))
    if size > TOLERANCE:
        return abs(float(offset @ normal)) / size
    return float(np.linalg.norm(offset - a * float(offset @ a)))


def parallel(chain: AxisChain, i: int, j: int) -> bool:
    """True if two axes are parallel or coincide."""
    return angle(chain, i, j) <= TOLERANCE


def meeting(chain: AxisChain, i: int, j: int) -> bool:
    """True if two axes that are not parallel intersect."""
    return not parallel(chain, i, j) and distance(chain, i, j) <= TOLERANCE * chain.size


def common_point(chain: AxisChain, *joints: int) -> tuple[FloatArray, float]:
    """Return the point nearest to the axes of these joints, and its greatest distance from one of them (m).

    Meaningless where all of them are parallel: the distance is infinite then.
    """
    across = [np.eye(3) - np.outer(chain.axes[k], chain.axes[k]) for k in joints]
    matrix = np.asarray(sum(across))
    if np.linalg.eigvalsh(matrix)[0] < TOLERANCE**2:
        return chain.points[joints[0]], math.inf
    point = np.linalg.solve(matrix, np.asarray(sum(a @ chain.points[k] for a, k in zip(across, joints, strict=True))))
    gaps = [float(np.linalg.norm(a @ (point - chain.points[k]))) for a, k in zip(across, joints, strict=True)]
    return tidy(point), max(gaps)


def with_points(chain: AxisChain, points: dict[int, Any], misfit: float = 0.0) -> AxisChain:
    """The chain with other points for some axes, which may lie beside them by `misfit`."""
    points_moved = chain.points.copy()
    for k, point in points.items():
        points_moved[k] = point
    return replace(chain, points=tidy(points_moved), misfit=max(chain.misfit, misfit))


def feet(chain: AxisChain, i: int, j: int) -> tuple[FloatArray, FloatArray]:
    """The ends of the common normal of two axes: the point of each that is nearest to the other.

    Of parallel axes, the point that axis i has, and the one of axis j beside it.
    """
    a, b, p, q = chain.axes[i], chain.axes[j], chain.points[i], chain.points[j]
    if angle(chain, i, j) <= TOLERANCE:
        return p, np.asarray(lines.foot_on_line(p, q, b))
    return lines.feet(p, a, q, b)


def made_parallel(chain: AxisChain, joints: Sequence[int]) -> AxisChain:
    """The chain with the axes of some joints along the first of them, or against it; its misfit grows by the angle."""
    axes, first = chain.axes.copy(), chain.axes[joints[0]]
    for k in joints[1:]:
        axes[k] = first if float(first @ chain.axes[k]) > 0 else -first
    misfit = max(angle(chain, joints[0], k) for k in joints)
    return replace(chain, axes=axes + 0.0, misfit=max(chain.misfit, misfit))


def made_meet(chain: AxisChain, joints: Sequence[int]) -> AxisChain:
    """Move the axes of some joints through one point; the misfit grows by the greatest distance in sizes of the chain."""
    point, gap = common_point(chain, *joints)
    return with_points(chain, dict.fromkeys(joints, point), gap / chain.size)


def as_read(near: AxisChain, chain: AxisChain) -> AxisChain:
    """Reverse a chain that was derived from the reversed `chain`, so that it begins at the base again."""
    back = near.reversed()
    return replace(chain, axes=back.axes, points=np.array(back.points), misfit=near.misfit)


def settled(chain: AxisChain) -> AxisChain:
    """Make near-special geometry exact: parallel axes, right angles, and intersecting neighbours.

    Axes are taken from the base on; each gives way to those before it. Three that meet come before two.
    """
    points, done = chain.points.copy(), set[int]()
    turned = replace(chain, axes=_directions(chain.axes))
    turning = [k for k in range(len(chain)) if not chain.translates[k]]
    for count in (3, 2):
        for joints in zip(*(turning[start:] for start in range(count)), strict=False):
            if joints[-1] - joints[0] >= count or any(parallel(chain, i, j) for i, j in pairwise(joints)):
                continue
            point, gap = common_point(chain, *joints)
            free = [k for k in joints if k not in done]
            if gap > TOLERANCE * chain.size or not free:
                continue
            settled = [k for k in joints if k in done]
            if settled:
                point = _foot(turned, points, settled[0], point)
            points[free] = point
            done.update(joints)
    misfit = max(float(np.linalg.norm(new - old)) for new, old in zip(turned.axes, chain.axes, strict=True))
    ways = [np.linalg.norm(np.cross(new - old, a)) for new, old, a in zip(points, chain.points, chain.axes, strict=True)]
    return replace(turned, points=tidy(points), misfit=max(chain.misfit, misfit, float(max(ways)) / chain.size))


def _directions(axes: FloatArray) -> FloatArray:
    """Directions (m, 3), each along or across those before it wherever it nearly is."""
    directions: list[FloatArray] = []
    for axis in axes:
        along = [a for a in directions if np.linalg.norm(np.cross(a, axis)) <= TOLERANCE]
        across = [a for a in directions if abs(float(a @ axis)) <= TOLERANCE]
        if along:
            directions.append(along[0] if float(along[0] @ axis) > 0 else -along[0])
            continue
        directions.append(_across(axis, across))
    return tidy(np.array(directions))


def _across(axis: FloatArray, others: Sequence[FloatArray]) -> FloatArray:
    """The unit vector nearest to a direction and at right angles to one other, or to two that are not parallel."""
    direction = axis
    if others:
        apart = [a for a in others[1:] if np.linalg.norm(np.cross(a, others[0])) > TOLERANCE]
        normal = np.cross(others[0], apart[0]) if apart else None
        direction = axis - others[0] * float(others[0] @ axis) if normal is None else normal * float(normal @ axis)
    return np.asarray(direction / np.linalg.norm(direction))


def _foot(chain: AxisChain, points: FloatArray, joint: int, near: FloatArray) -> FloatArray:
    """The point of an axis, which may lie on another now, that is nearest to a point."""
    axis, start = chain.axes[joint], points[joint]
    return np.asarray(start + axis * float(axis @ (near - start)))
