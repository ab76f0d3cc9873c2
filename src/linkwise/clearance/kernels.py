"""Compiled functions of clearance: distances of all pairs of a mechanism, and nearest points of any two segments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.clearance.segments import SMALLEST, gap, reciprocal, smallest
from linkwise.clearance.shapes import BOX, CollisionShapes, row_count
from linkwise.kernel import Kernel, trace
from linkwise.kernel.deferred_tape import tape_by_name
from linkwise.kinematics.forward_kinematics import base_poses, link_poses
from linkwise.kinematics.jacobian import jacobian
from linkwise.model.digest import digest, digest_of
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, greatest, is_zero, least, root, select

#: Farther than anything, m.
FAR = 1e300

#: A number that divides must not be 0.
TINY = 1e-150

#: A segment that is nearer to the box, m, runs into it.
INSIDE = 1e-12


def box_gap(p: Array, d: Array, e: Any, R: Array, center: Array, half: Array) -> tuple[Any, Array, Any, Array, Array]:
    """Signed distance of a segment from a box, and where both are nearest.

    Parameters
    ----------
    p, d : ndarray (3,)
        One end, m, and from there to the other end; zeros for a point.
    e : scalar
        1 / d·d; 0 for a point.
    R : ndarray (3, 3)
        The axes of the box, as columns.
    center, half : ndarray (3,)
        Its middle and half its edges, m.

    Returns
    -------
    distance : scalar
        m; of a segment that runs into the box less the way out through the nearest face, which is that of a point, and of
        a segment at least what it must be moved.
    apart : ndarray (3,)
        From the segment to the box, m; of a segment that runs into it the way back through that face.
    between : scalar
        The length of `apart`, m.
    first, second : ndarray (3,)
        The points on the segment and on the box.

    Notes
    -----
    The squared distance of p + s d from a box is convex in s; half its derivative, the sum over the axes of the velocity
    times what the coordinate is beyond the edge, is piecewise linear, with six kinks. So its root is that of the line
    between the two kinks about it.
    """
    x, v = R.T @ (p - center), R.T @ d
    s: Any = 0.0 if is_zero(e) else _nearest(x, v, half)
    outside = _excess(x + v * s, half)
    between = root(outside @ outside)
    depth, normal, end = _way_out(x, v, half)
    inside = INSIDE - between
    s = select(inside, end, s)
    apart = R @ np.array([select(inside, -n * depth, -c) for n, c in zip(normal, outside, strict=True)])
    first = p + d * s
    second = first + np.array([select(inside, -a, a) for a in apart])
    return select(inside, -depth, between), apart, select(inside, depth, between), first, second


def _excess(y: Array, half: Array) -> Array:
    """Excess of coordinates (3,) over the edges."""
    return np.array([a - greatest(least(a, h), -h) for a, h in zip(y, half, strict=True)])


def _nearest(x: Array, v: Array, half: Array) -> Any:
    """The s from 0 to 1 at which x + s v is nearest to the box."""

    def slope(s: Any) -> Any:
        return v @ _excess(x + v * s, half)

    low, high = 0.0, 1.0
    kinks = []
    for a, b, h in zip(x, v, half, strict=True):
        inverse = 1.0 / select(abs(b) - TINY, b, TINY)
        kinks += [(-h - a) * inverse, (h - a) * inverse]
    for kink in [0.0, 1.0, *(select(k, select(k - 1.0, 1.0, k), 0.0) for k in kinks)]:
        rising = slope(kink)
        low = select(rising, low, greatest(low, kink))
        high = select(rising, least(high, kink), high)
    at_low, at_high = slope(low), slope(high)
    rise = at_high - at_low
    return select(rise, least(low - (high - low) * at_low / greatest(rise, TINY), high), low)


def _way_out(x: Array, v: Array, half: Array) -> tuple[Any, Array, Any]:
    """Depth of a segment inside the nearest face, m, its outward normal (3,), and the deepest end."""
    depth: Any = FAR
    normal, end = np.zeros(3), 0.0
    for k, (a, b, h) in enumerate(zip(x, v, half, strict=True)):
        for side in (1.0, -1.0):
            into = h - least(side * a, side * (a + b))
            nearer = depth - into
            depth = least(depth, into)
            normal = np.array([select(nearer, side * (i == k), n) for i, n in enumerate(normal)])
            end = select(nearer, select(-side * b, 1.0, 0.0), end)
    return depth, normal, end


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
    """As `box_gap`, for segments p + s d (..., 3) and a box (16,), `CapsuleSet.rows`."""
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
