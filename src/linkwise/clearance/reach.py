"""Upper bounds of the displacement of a mechanism's shapes per coordinate."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.clearance.shapes import CollisionShapes
from linkwise.errors import ArgumentError
from linkwise.model.joints.joint import Joint
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


def levers(shapes: CollisionShapes) -> FloatArray:
    """Upper bound of the displacement of any shape per coordinate (n,), m per rad or m, at any position.

    Between two configurations no point moves farther than ``levers @ abs(q1 - q0)``, and no distance changes by more: that
    of two shapes depends only on the joints between them (`pair_levers`), of which several may follow one coordinate.

    Raises
    ------
    ArgumentError
        For mechanisms with loops, floating bases or ball joints, and for sliding joints without limits.
    """

    def make() -> FloatArray:
        rows = [_crossed(shapes, k, -1, surface=True) for k in range(len(shapes.links))]
        return np.asarray(np.max([*rows, *pair_levers(shapes, False)], axis=0))

    return _finite(shapes.tree, shapes.tree.memo("clearance", ("levers", shapes.pairs), make))


def pair_levers(shapes: CollisionShapes, obstacles: bool) -> FloatArray:
    """Upper bound of the change of distance of each group of pairs (G, n) per coordinate, m per rad or m, at any position.

    The groups are `CollisionShapes.groups`. Of two shapes the joints between them count alone. A joint
    between them moves their nearest points apart by no more than the lesser of the distances of the two from its axis; and
    of a capsule the points of its axis count, for its radius is the same all round.

    Raises
    ------
    ArgumentError
        As for `levers`.
    """

    def make() -> FloatArray:
        def moved(i: int, j: int | None) -> FloatArray:
            row = _crossed(shapes, i, -1 if j is None else shapes.links[j])
            return row if j is None else np.minimum(row, _crossed(shapes, j, shapes.links[i]))

        return np.reshape(_of_groups(shapes, obstacles, moved), (-1, shapes.tree.n))

    key = ("pair levers", shapes.pairs, obstacles)
    return _finite(shapes.tree, shapes.tree.memo("clearance", key, make))


def lever_growth(shapes: CollisionShapes, obstacles: bool) -> tuple[FloatArray, FloatArray]:
    """Rotation and displacement between each group of pairs, rad and m per unit of each coordinate (G, n).

    Where slides are outside their limits by excesses e (n,), the levers of a group are greater than `pair_levers` by no more
    than its row of the first times the scalar product of its row of the second with e.
    """

    def crossed(i: int, j: int | None) -> FloatArray:
        rates = np.zeros((2, shapes.tree.n))
        up, down = _between(shapes.tree, shapes.links[i], -1 if j is None else shapes.links[j])
        for k in (*up, *down):
            follower = shapes.tree.followers[k]
            for coordinate, part in enumerate(shapes.tree.links[k].joint_model.turns_and_slides, follower.coordinate):
                slide, turn = _rates(part)
                rates[:, coordinate] += abs(follower.ratio) * np.array([turn, slide])
        return rates

    turns, slides = np.reshape(_of_groups(shapes, obstacles, crossed), (-1, 2, shapes.tree.n)).swapaxes(0, 1)
    return turns, slides


def _of_groups(
    shapes: CollisionShapes, obstacles: bool, function: Callable[[int, int | None], FloatArray]
) -> list[FloatArray]:
    """Greatest values in each group of pairs of a function of both shapes, None for an obstacle."""
    values = [function(*pair) for pair in shapes.each_pair(range(len(shapes.links)), [None] * obstacles)]
    return [np.max([values[k] for k in group], axis=0) for group in shapes.groups(int(obstacles))]


def sliding_limits(tree: Tree) -> tuple[FloatArray, FloatArray]:
    """Limits of sliding coordinates (n,) for which levers are valid; infinite for the others."""
    slides = np.zeros(tree.n, dtype=bool)
    for link, follower in zip(tree.links, tree.followers, strict=True):
        for i, part in enumerate(link.joint_model.turns_and_slides, follower.coordinate):
            slides[i] |= _rates(part)[0] > 0.0
    return np.where(slides, tree.q_min, -np.inf), np.where(slides, tree.q_max, np.inf)


def _finite(tree: Tree, rows: FloatArray) -> FloatArray:
    if not np.isfinite(rows).all():
        raise ArgumentError(f"{tree.name!r} has sliding joints without limits; paths are planned between limits")
    return rows


def _require_axes(tree: Tree) -> None:
    if tree.loops or tree.manifold_joints:
        kind = "loops" if tree.loops else f"a {tree.manifold_joints[0].joint.kind} joint"
        raise ArgumentError(f"{tree.name!r} has {kind}; paths are planned on trees of joints without quaternions")
    varying = [link for link in tree.links if any(part.screws is None for part in link.joint_model.turns_and_slides)]
    if varying:
        problem = f"{tree.name!r} has a joint of the kind {varying[0].joint!r}, whose motion depends on where it is"
        raise ArgumentError(f"{problem}; paths are planned for joints that turn and slide about fixed axes")


def _crossed(shapes: CollisionShapes, shape: int, other: int, *, surface: bool = False) -> FloatArray:
    """Displacement of a shape relative to a link, -1 for the base, by the joints between them, per coordinate (n,).

    The ends of its axes are followed from link to link, each as a ball that holds all places where it may be: a joint that
    turns makes a circle of a point. With `surface`, the radii of the capsules are counted.
    """
    tree = shapes.tree
    _require_axes(tree)
    up, down = _between(tree, shapes.links[shape], other)
    capsules = shapes.own.capsules[shape]
    centres = np.array([x for part in capsules for x in (part.start, part.end)], dtype=float)
    radii = np.array([part.radius * surface for part in capsules for _ in range(2)], dtype=float)
    result = np.zeros(tree.n)
    for k, outward in [*((k, False) for k in up), *((k, True) for k in reversed(down))]:
        link = tree.links[k]
        before, after = np.asarray(link.before, dtype=float), np.asarray(link.after, dtype=float)
        to_joint, from_joint = (np.linalg.inv(before), np.linalg.inv(after)) if outward else (after, before)
        centres = _placed(to_joint, centres)
        if link.moves:
            centres, radii = _swept(tree, k, centres, radii, result)
        centres = _placed(from_joint, centres)
    return result


def _between(tree: Tree, link: int, other: int) -> tuple[list[int], list[int]]:
    """Links whose joints connect one link to another: towards the base, and back outward."""
    routes: list[list[int]] = [[link], [other]]
    for route in routes:
        while route[-1] >= 0:
            route.append(tree.parents[route[-1]])
    up, down = ([k for k in links if k not in others] for links, others in (routes, routes[::-1]))
    return up, down


def _placed(T: FloatArray, points: FloatArray) -> FloatArray:
    return np.asarray(points @ T[:3, :3].T + T[:3, 3])


def _swept(tree: Tree, k: int, centres: FloatArray, radii: FloatArray, result: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Balls that contain some balls (m, 3), (m,) at any position of joint k; their displacement is accumulated."""
    link, follower = tree.links[k], tree.followers[k]
    parts, travel = link.joint_model.turns_and_slides, _travel(tree, k)
    screws = [np.asarray(part.screws, dtype=float)[0] for part in parts]
    around = np.linalg.norm(centres, axis=1)  # (from the joint's origin)
    along = np.zeros_like(centres)
    if len(parts) == 1 and screws[0][3:].any() and not np.cross(screws[0][:3], screws[0][3:]).any():
        axis = screws[0][3:] / np.linalg.norm(screws[0][3:])
        along = (centres @ axis)[:, None] * axis
        around = np.linalg.norm(centres - along, axis=1)
    for i, part in enumerate(parts, follower.coordinate):
        slide, turn = _rates(part)
        reach = float((around + radii).max()) + travel if turn else 0.0
        result[i] += abs(follower.ratio) * (slide + turn * reach)
    if not any(screw[3:].any() for screw in screws):
        return centres, radii + travel
    return along, around + radii + travel


def _rates(part: Joint) -> tuple[float, float]:
    """Translation, m, and rotation, rad, of a joint of one coordinate per unit of it."""
    screw = np.asarray(part.screws, dtype=float)[0]
    return float(np.linalg.norm(screw[:3])), float(np.linalg.norm(screw[3:]))


def _travel(tree: Tree, k: int) -> float:
    """Greatest displacement by the sliding coordinates of a joint, m; infinite without limits."""
    link = tree.links[k]
    travel = 0.0
    for part, limits in zip(link.joint_model.turns_and_slides, link.coordinate_limits, strict=True):
        slide, _ = _rates(part)
        if slide:
            bounds = (-np.inf, np.inf) if limits is None else limits
            travel += slide * max(abs(float(bound) + float(link.offset)) for bound in bounds)
    return travel
