"""The names in the scene: which of them stand at one point in every position, and share a label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.model.table import plain
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.view.drawing.labels import MANY
from linkwise.view.drawing.skeleton import Skeleton, skeleton

TRIED = 2
"""How many positions beside the given one are looked at to see which names stay together."""

SHOWN = 3
"""Names in one label; of more, the number of the rest is told."""


@dataclass(frozen=True, eq=False)
class Label:
    """A label on a link (-1 for the base): its text, and its point (3,) in the link's frame."""

    link: int
    text: str
    point: FloatArray


def named(tree: Tree, q: FloatArray, near: float) -> list[Label]:
    """Return the labels of a mechanism: joints by the names of their links, at the joint; fixed links at their frames.

    Parameters
    ----------
    tree : Tree
        The mechanism; with more than `MANY` links they are numbered, as in the list of links.
    q : (nq,) array_like
        A position of it.
    near : float
        m. Names that are no farther apart, here and in other positions, share a label.
    """
    draw = np.random.default_rng(0)
    joints = slice(tree.nq - tree.n, tree.nq)
    others = [np.array(q) for _ in range(TRIED)]
    for other in others:
        other[joints] += draw.uniform(-1.0, 1.0, tree.n)
    laid = skeleton(tree, q)
    points = np.stack([_points(one) for one in (laid, *(skeleton(tree, other) for other in others))])
    numbered = len(tree.links) > MANY
    together: list[list[int]] = []
    for k in range(len(tree.links)):
        for group in together:
            if float(np.linalg.norm(points[:, k] - points[:, group[0]], axis=-1).max()) <= near:
                group.append(k)
                break
        else:
            together.append([k])
    words = [str(k + 1) if numbered else plain(name) for k, name in enumerate(tree.link_names)]
    return [_label(laid, group[0], [words[k] for k in group], points[0, group[0]]) for group in together]


def _points(laid: Skeleton) -> FloatArray:
    """Where each name stands (L, 3)."""
    return np.array([(place.joint if place.link.moves else place.frame)[:3, 3] for place in laid.places]).reshape(-1, 3)


def _label(laid: Skeleton, k: int, words: list[str], at: FloatArray) -> Label:
    place = laid.places[k]
    link = place.parent if place.link.moves else k
    frame = laid.base if link < 0 else laid.places[link].frame
    said = words if len(words) <= SHOWN + 1 else [*words[:SHOWN], f"{len(words) - SHOWN} more"]
    return Label(link, ", ".join(said), np.asarray(frame[:3, :3].T @ (at - frame[:3, 3])))
