"""How far the shapes of a mechanism move at most with each coordinate."""

from __future__ import annotations

import numpy as np

from linkwise.clearance.shapes import CollisionShapes
from linkwise.errors import ArgumentError
from linkwise.model.joints.joint import Joint
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


def levers(shapes: CollisionShapes) -> FloatArray:
    """For each coordinate (n,) by how much a point of a shape moves at most, m per rad or m, wherever the joints are.

    Between two configurations no point moves farther than ``levers @ abs(q1 - q0)``, and no distance changes by more: that
    of two shapes depends only on the joints between them.

    Raises
    ------
    ArgumentError
        For mechanisms with loops, floating bases or ball joints.
    """
    tree = shapes.tree
    if tree.loops or tree.manifold_joints:
        kind = "loops" if tree.loops else f"a {tree.manifold_joints[0].joint.kind} joint"
        raise ArgumentError(f"{tree.name!r} has {kind}; paths are planned on trees of joints without quaternions")
    varying = [link for link in tree.links if any(part.screws is None for part in link.joint_model.turns_and_slides)]
    if varying:
        problem = f"{tree.name!r} has a joint of the kind {varying[0].joint!r}, whose motion depends on where it is"
        raise ArgumentError(f"{problem}; paths are planned for joints that turn and slide about fixed axes")
    beyond = _beyond(shapes)
    result = np.zeros(tree.n)
    for k, (link, follower) in enumerate(zip(tree.links, tree.followers, strict=True)):
        for i, part in enumerate(link.joint_model.turns_and_slides, follower.coordinate):
            slide, turn = _rates(part)
            reach = beyond[k] + _travel(tree, k) if turn else 0.0
            result[i] += abs(follower.ratio) * (slide + turn * reach)
    if not np.isfinite(result).all():
        raise ArgumentError(f"{tree.name!r} has sliding joints without limits; paths are planned between limits")
    return result


def _rates(part: Joint) -> tuple[float, float]:
    """How far a joint of one coordinate slides, m, and turns, rad, for a unit of it."""
    screw = np.asarray(part.screws, dtype=float)[0]
    return float(np.linalg.norm(screw[:3])), float(np.linalg.norm(screw[3:]))


def _beyond(shapes: CollisionShapes) -> FloatArray:
    """For each link (L,) how far from the origin of its joint, after the joint, a point that it carries is at most, m."""
    tree = shapes.tree
    own = np.full(len(tree.links), -np.inf)
    for link, parts in zip(shapes.links, shapes.own.capsules, strict=True):
        if link >= 0:
            far = max(max(float(np.linalg.norm(x)) for x in (part.start, part.end)) + part.radius for part in parts)
            own[link] = max(own[link], far)
    result = np.full(len(tree.links), -np.inf)
    for k in reversed(tree.order):
        after = float(np.linalg.norm(np.asarray(tree.links[k].after)[:3, 3]))
        children = [
            float(np.linalg.norm(np.asarray(tree.links[c].before)[:3, 3])) + _travel(tree, c) + result[c]
            for c in range(len(tree.links))
            if tree.parents[c] == k
        ]
        result[k] = after + max([own[k], *children])
    return np.asarray(np.maximum(result, 0.0))


def _travel(tree: Tree, k: int) -> float:
    """How far the sliding coordinates of a joint carry it from its origin at most, m; infinite without limits."""
    link = tree.links[k]
    travel = 0.0
    for part, limits in zip(link.joint_model.turns_and_slides, link.coordinate_limits, strict=True):
        slide, _ = _rates(part)
        if slide:
            bounds = (-np.inf, np.inf) if limits is None else limits
            travel += slide * max(abs(float(bound) + float(link.offset)) for bound in bounds)
    return travel
