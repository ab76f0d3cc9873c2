"""Compiled functions of clearance: distances of all pairs of a mechanism, and nearest points of any two segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.clearance.box import box_gap
from linkwise.clearance.segments import SMALLEST, gap, reciprocal, smallest
from linkwise.clearance.shapes import BOX, CollisionShapes, row_count
from linkwise.kernel import Kernel, trace
from linkwise.kernel.deferred_tape import tape_by_name
from linkwise.kinematics.forward_kinematics import base_poses, link_poses
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.digest import digest, digest_of
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, greatest, select

#: A capsule in the world: one end, the vector to the other, 1 / its squared length, the radius.
WorldCapsule = tuple[Array, Array, Any, Any]

#: A box in the world: its axes, its middle, half its edges.
WorldBox = tuple[Array, Array, Array]


def frames_at(tree: Tree, q: FloatArray) -> FloatArray:
    """Poses in the world (..., L + 1, 4, 4) of all links, then of the base."""
    poses = kernel_of(tree, "link_poses", None, {})(q)
    return np.concatenate([poses, base_poses(tree, q)[..., None, :, :]], axis=-3)


def segment_gaps(p: FloatArray, d: FloatArray, q: FloatArray, g: FloatArray) -> tuple[FloatArray, ...]:
    """Nearest points of segments p + s d and q + t g, each (..., 3).

    Returns
    -------
    distance : ndarray (...,)
        m.
    apart : ndarray (..., 3)
        From the nearest point of the first to that of the second, m.
    s, t : ndarray (...,)
        From 0 to 1.

    Examples
    --------
    >>> distance, apart, s, t = segment_gaps([0.0, 0, 0], [1.0, 0, 0], [0.0, 1, 0], [0.0, 0, 1])
    >>> float(distance), float(s), float(t)
    (1.0, 0.0, 0.0)
    """
    return _segment_kernel()(p, d, q, g)  # type: ignore[no-any-return]


@cache
def _segment_kernel() -> Kernel:
    def gaps(p: Array, d: Array, q: Array, g: Array) -> tuple[Any, ...]:
        squares = d @ d, g @ g
        e, h = (select(square, 1.0 / greatest(square, SMALLEST), 0.0) for square in squares)
        return gap(p, d, e, q, g, h)

    inputs = dict.fromkeys(("p", "d", "q", "g"), (3,))
    outputs = {"distance": (), "apart": (3,), "s": (), "t": ()}
    return Kernel(tape_by_name("clearance segments", lambda: trace(gaps, "segment_gaps", inputs, outputs)))


def box_gaps(p: FloatArray, d: FloatArray, box: FloatArray) -> tuple[FloatArray, ...]:
    """What `box_gap` says of segments p + s d (..., 3) and a box (16,), `CapsuleSet.rows`."""
    return _box_kernel()(p, d, reciprocal(d), box[:9].reshape(3, 3), box[9:12], box[12:15])  # type: ignore[no-any-return]


@cache
def _box_kernel() -> Kernel:
    inputs = {"p": (3,), "d": (3,), "e": (), "R": (3, 3), "center": (3,), "half": (3,)}
    outputs = {"distance": (), "apart": (3,), "between": (), "first": (3,), "second": (3,)}
    return Kernel(tape_by_name("clearance boxes", lambda: trace(box_gap, "box_gaps", inputs, outputs)))


def link_jacobians(tree: Tree, links: Sequence[int], q: FloatArray) -> FloatArray:
    """Jacobians (..., len(links), 6, nv) of the frames of links, world axes."""

    def make() -> Kernel:
        def jacobians(q: Array) -> Array:
            return np.stack([jacobian(tree, q, link=link) for link in links])

        return Kernel(trace(jacobians, "link_jacobians", {"q": (tree.nq,)}))

    return tree.memo("clearance", ("jacobians", tuple(links)), make)(q)  # type: ignore[no-any-return]


def distances(shapes: CollisionShapes, kinds: Sequence[int], q: Array, rows: Array) -> list[list[tuple[Any, ...]]]:
    """Distances of all pairs over scalars: of each pair of shapes, those of its capsules.

    Parameters
    ----------
    shapes : CollisionShapes
        Shapes of the mechanism.
    kinds : sequence of int
        Of each obstacle 0 for a sphere, `BOX` for a box, else the number of its capsules.
    q : ndarray (nq,)
        Coordinates.
    rows : ndarray (M, 8)
        The obstacles: see `CapsuleSet.rows`.

    Returns
    -------
    list of list of tuple
        Pairs of the mechanism first, then each of its moving shapes with each obstacle. Of each pair of capsules the signed
        distance, the vector from the one axis to the other (3,), their distance, and the nearest points on them (3,).
    """
    capsules, start = _own_capsules(shapes, q), 0
    obstacles: list[Any] = []
    for kind in kinds:
        parts = rows[start : start + row_count(kind)]
        start += len(parts)
        if kind == BOX:
            box = np.reshape(parts, 16)
            obstacles.append([(np.reshape(box[:9], (3, 3)), box[9:12], box[12:15])])
        else:
            obstacles.append([(x[:3], x[3:6] if kind else np.zeros(3), x[7] if kind else 0.0, x[6]) for x in parts])
    return [[_signed(a, b) for a in first for b in second] for first, second in shapes.each_pair(capsules, obstacles)]


def _own_capsules(shapes: CollisionShapes, q: Array) -> list[list[WorldCapsule]]:
    tree, needed = shapes.tree, {*shapes.moving, *(k for pair in shapes.pairs for k in pair)}
    poses = link_poses(tree, q)
    base: Array = np.asarray(tree.base)
    if tree.floating:
        at = tree.manifold_joints[0]
        base = base @ at.joint.placement(q[at.q])
    result = []
    for k, (link, parts) in enumerate(zip(shapes.links, shapes.own.capsules, strict=True)):
        pose = base if link < 0 else poses[link]
        capsules: list[WorldCapsule] = []
        for part in parts if k in needed else ():
            vector = part.end - part.start
            start = pose[:3, :3] @ part.start + pose[:3, 3]
            capsules.append((start, pose[:3, :3] @ vector, float(reciprocal(vector)), part.radius))
        result.append(capsules)
    return result


def _signed(a: WorldCapsule, b: WorldCapsule | WorldBox) -> tuple[Any, ...]:
    if len(b) == 3:
        distance, apart, between, first, second = box_gap(a[0], a[1], a[2], *b)
        return distance - a[3], apart, between, first, second
    between, apart, s, t = gap(a[0], a[1], a[2], b[0], b[1], b[2])
    return between - (a[3] + b[3]), apart, between, a[0] + a[1] * s, b[0] + b[1] * t


def distance_kernel(
    shapes: CollisionShapes, kinds: tuple[int, ...], *, least: bool = False, grouped: bool = False
) -> Kernel:
    """The compiled distances of all pairs (P,), of q (nq,) and obstacles (8 M,).

    With `least` the least of them; with `grouped` the least of each group: `CollisionShapes.groups`.
    """
    tree = shapes.tree
    name = "least_clearance" if least else "grouped_clearance" if grouped else "clearance"
    inputs = {"q": (tree.nq,), "obstacles": (8 * sum(map(row_count, kinds)),)}
    if not kinds:
        del inputs["obstacles"]

    def compute(q: Array, rows: Array | None = None) -> Any:
        rows = np.zeros((0, 8)) if rows is None else np.reshape(rows, (-1, 8))
        values = [smallest([part[0] for part in parts]) for parts in distances(shapes, kinds, q, rows)]
        if grouped:
            values = [smallest([values[k] for k in group]) for group in shapes.groups(len(kinds))]
        return smallest(values) if least else np.array(values)

    def make() -> Kernel:
        content = digest(shapes.pairs, shapes.moving, shapes.links, shapes.own.rows, shapes.own.owners)
        known = digest_of(tree)
        if known is None:
            return Kernel(trace(compute, name, inputs))
        return Kernel(tape_by_name((name, known, content, kinds), lambda: trace(compute, name, inputs)))

    return tree.memo("clearance", (name, shapes.pairs, shapes.moving, kinds), make)
