"""Pairs of shapes of a mechanism that are checked against each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from linkwise.clearance.fitting import fit_capsules
from linkwise.clearance.kernels import frames_at, segment_gaps
from linkwise.clearance.shapes import CapsuleSet, CollisionShapes, LeftOut
from linkwise.errors import ArgumentError, choices, shown
from linkwise.kinematics.configuration import random_configuration
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import listed, whole

#: Configurations at which pairs of links are looked at.
SAMPLES = 2000

#: Pairs count as never touching if all samples are farther apart than this share of the shapes' reach.
APART = 0.05


def collision_shapes(tree: Tree, disabled: Iterable[Any] | None = None, seed: int = 0) -> CollisionShapes:
    """The collision shapes of a mechanism and the pairs that matter; kept with the mechanism.

    Raises
    ------
    ArgumentError
        Where there are none; for pairs of links that are not there.
    """
    require_tree(tree, "clearance: mechanism")
    names = None if disabled is None else _disabled(tree, disabled)
    key = ("shapes", names, whole("seed", seed, 0))
    return tree.memo("clearance", key, lambda: _collision_shapes(tree, names, seed))


def _collision_shapes(tree: Tree, disabled: frozenset[frozenset[str]] | None, seed: int) -> CollisionShapes:
    tree.require_numbers("clearance")
    shapes = tuple(shape for shape in tree.shapes if shape.role == "collision")
    if not shapes:
        hint = "expected Mechanism(shapes=[Shape(link, kind, size, role='collision')]), or a file that has some"
        raise ArgumentError(f"{tree.name!r} has no collision shapes; {hint}")
    links = tuple(-1 if shape.link == "base" else tree.link_index(shape.link) for shape in shapes)
    capsules = CapsuleSet(shapes, _names(shapes), tuple(map(fit_capsules, shapes)))
    bodies = _bodies(tree)
    moved = [tree.floating or (link >= 0 and bodies[link] >= 0) for link in links]
    joined = _joined(tree, bodies)
    pairs: list[tuple[int, int, str]] = []
    left_out: list[tuple[int, int, str]] = []
    for i, j in combinations(range(len(shapes)), 2):
        both = (bodies[links[i]], bodies[links[j]])
        reason = "neighbours" if both[0] == both[1] or frozenset(both) in joined else ""
        if not reason and disabled is not None and frozenset((shapes[i].link, shapes[j].link)) in disabled:
            reason = "disabled"
        (left_out if reason else pairs).append((i, j, reason))
    if disabled is None and pairs:
        chosen = [(i, j) for i, j, _ in pairs]
        reasons = _sampled(tree, capsules, links, chosen, seed)
        left_out += [(i, j, reason) for (i, j), reason in zip(chosen, reasons, strict=True) if reason]
        pairs = [(i, j, "") for (i, j), reason in zip(chosen, reasons, strict=True) if not reason]
    named = tuple(LeftOut(capsules.names[i], capsules.names[j], reason) for i, j, reason in sorted(left_out))
    moving = tuple(k for k, moves in enumerate(moved) if moves)
    return CollisionShapes(tree, capsules, links, moving, tuple((i, j) for i, j, _ in pairs), named)


def _names(shapes: Sequence[Shape]) -> tuple[str, ...]:
    """The link's name where it has one shape, else with the shape's own name or number behind it."""
    several = {shape.link for k, shape in enumerate(shapes) if any(other.link == shape.link for other in shapes[:k])}
    names: list[str] = []
    for shape in shapes:
        name = shape.link
        if name in several:
            number = 1 + sum(other.startswith(f"{name}/") for other in names)
            name = first = f"{name}/{shape.name or number}"
            while name in names:
                number += 1
                name = f"{first}_{number}"
        names.append(name)
    return tuple(names)


def require_in_world(tree: Tree, obstacles: CapsuleSet) -> None:
    """Raise `ArgumentError` where an obstacle is said to be on a link whose frame is not the world's.

    Obstacles stand in the world frame, whatever their `Shape.link`: on a link they might be meant to move with it.
    """
    for shape, name in zip(obstacles.shapes, obstacles.names, strict=True):
        if shape.link in tree.link_names and not _is_world(tree, tree.link_index(shape.link)):
            raise ArgumentError(
                f"the obstacle {shown(name)} is on {shown(shape.link)}, a link of {tree.name!r} whose frame is not the"
                " world's; expected a word that is no link's, for obstacles stand in the world frame"
            )


def _is_world(tree: Tree, link: int) -> bool:
    """True if the frame of a link is that of the world in every configuration."""
    still = not tree.floating and not any(tree.links[k].moves for k in tree.path(link))
    return still and np.array_equal(np.asarray(forward_kinematics(tree, tree.neutral, link=link), dtype=float), np.eye(4))


def disabled_pairs(pairs: Iterable[Any]) -> tuple[tuple[str, str], ...]:
    """Pairs of words; the reasons, as an SRDF has them, are left out."""
    result = []
    for pair in listed("disabled", pairs, "pairs of names of links"):
        words = isinstance(pair, Sequence) and not isinstance(pair, str) and all(isinstance(word, str) for word in pair[:2])
        if not words or len(pair) not in {2, 3}:
            raise ArgumentError(f"disabled holds {shown(pair)}; expected pairs of names of links")
        result.append((pair[0], pair[1]))
    return tuple(result)


def _disabled(tree: Tree, pairs: Iterable[Any]) -> frozenset[frozenset[str]]:
    """Pairs of names of links, from those of an SRDF with reasons too."""
    known = {"base", *tree.link_names}
    result = set()
    for pair in disabled_pairs(pairs):
        for name in pair:
            if name not in known:
                raise ArgumentError(f"disabled: there is no link {shown(name)}; expected {choices(sorted(known))}")
        result.add(frozenset(pair))
    return frozenset(result)


def _bodies(tree: Tree) -> dict[int, int]:
    """First link of each group of fixed links, for each link, and -1 for the base."""
    bodies = {-1: -1}
    for k in tree.order:
        bodies[k] = k if tree.links[k].moves else bodies[tree.parents[k]]
    return bodies


def _joined(tree: Tree, bodies: Mapping[int, int]) -> set[frozenset[int]]:
    """Pairs of bodies with a joint or a loop between them."""
    joined = {frozenset((bodies[k], bodies[tree.parents[k]])) for k in tree.order if tree.links[k].moves}
    for loop in tree.loops:
        ends = [-1 if name == "base" else tree.link_index(name) for name in (loop.first, loop.second)]
        joined.add(frozenset(bodies[end] for end in ends))
    return joined


def _sampled(tree: Tree, shapes: CapsuleSet, links: Sequence[int], pairs: Sequence[tuple[int, int]], seed: int) -> list[str]:
    """Reason why each pair is ignored, from random configurations within the limits; empty for relevant pairs."""
    if tree.loops:  # (closed configurations are not drawn: nothing is left out for them)
        return [""] * len(pairs)
    q = random_configuration(tree, seed, SAMPLES)
    starts, vectors = placed(shapes, links, frames_at(tree, q))
    reach = float(np.abs(starts - starts.mean(axis=(0, 1))).max()) or 1.0
    distances = pair_distances(shapes, pairs, starts, vectors)
    always = np.asarray((distances < 0.0).all(axis=0))
    never = np.asarray(distances.min(axis=0) > APART * reach)
    return ["always" if a else "never" if n else "" for a, n in zip(always, never, strict=True)]


def placed(shapes: CapsuleSet, links: Sequence[int], frames: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Starts and vectors of the capsules in the world (..., K, 3), from the frames (..., L + 1, 4, 4), the base last."""
    rows, at = shapes.rows, np.array([links[k] for k in shapes.owners])
    pose = frames[..., at, :, :]
    starts = (pose[..., :3, :3] @ rows[:, :3, None])[..., 0] + pose[..., :3, 3]
    return starts, (pose[..., :3, :3] @ rows[:, 3:6, None])[..., 0]


def pair_distances(
    shapes: CapsuleSet, pairs: Sequence[tuple[int, int]], starts: FloatArray, vectors: FloatArray
) -> FloatArray:
    """Signed distances (..., P) of pairs of shapes of one set, m."""
    rows, owners = shapes.rows, shapes.owners
    result = np.empty((*starts.shape[:-2], len(pairs)))
    for k, (i, j) in enumerate(pairs):
        first, second = (np.flatnonzero(owners == shape) for shape in (i, j))
        a, b = (np.ravel(x) for x in np.meshgrid(first, second, indexing="ij"))
        gaps = segment_gaps(starts[..., a, :], vectors[..., a, :], starts[..., b, :], vectors[..., b, :])[0]
        result[..., k] = (gaps - rows[a, 6] - rows[b, 6]).min(axis=-1)
    return result
