"""How far polygons of a planar mechanism can move while some coordinates move a little: a bound for all configurations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.planar.collision import Check
    from linkwise.planar.collision_pairs import IndexPair
    from linkwise.planar.link import Link
    from linkwise.planar.mechanism import Mechanism


ROUNDING = 64 * float(np.finfo(np.float64).eps)
"""Of a placed corner, in parts of the farthest one from the origin and per radian: a dozen products and sums, with room."""


def movements(check: Check, steps: Mapping[int, float], corners: FloatArray) -> FloatArray:
    """Bound how much nearer the two polygons of each pair can come, as they are computed.

    A coordinate that moves one of the two and not the other changes their distance by at most its step times the
    greatest distance of a point of the moved link from the joint where it turns, and by its step where it slides. One
    that moves both alike changes nothing. What rounding can do to the placed corners is added.

    Parameters
    ----------
    check : Check
        A mechanism without loops, obstacles, and the pairs.
    steps : mapping of int to float
        How far each coordinate moves at most, rad or m; the others are held.
    corners : (2, nq) array
        Configurations with the least and with the greatest values of all coordinates that may move.

    Returns
    -------
    ndarray (P,)
        m.
    """
    reaches = {k: _reaches(check.mechanism, k, corners) for k in steps}
    bounds = [sum(step * _between(reaches[k], pair) for k, step in steps.items()) for pair in check.pairs]
    return (1.0 + 1e-9) * np.array(bounds) + _rounding(check, corners)


def _rounding(check: Check, corners: FloatArray) -> float:
    """By how much the distance of two placed polygons may be off, m."""
    mechanism = check.mechanism
    offsets = sum(_offset(mechanism, k, parent, corners) for k, parent in enumerate(mechanism.parents))
    beyond = max((float(np.abs(polygon).max()) for polygon in check.obstacles.values()), default=0.0)
    farthest = max(offsets + max(map(_size, mechanism.links)), beyond)
    turned = 1.0 + float(np.abs(corners[:, mechanism.turns]).sum(axis=1).max())
    return ROUNDING * farthest * turned


def _between(reaches: Mapping[int, float], pair: IndexPair) -> float:
    moved = [reaches[k] for k in pair if k in reaches]
    return moved[0] if len(moved) == 1 else 0.0


def _reaches(mechanism: Mechanism, coordinate: int, corners: FloatArray) -> dict[int, float]:
    """For each link that a coordinate moves, how far a point of it moves at most for one unit of the coordinate."""
    owner = mechanism.owner[coordinate]
    turns = mechanism.turns[coordinate]
    away = {owner: 0.0}  # bounds of the distances of the links' origins from that of the joint
    for k in mechanism.order:
        parent = mechanism.parents[k]
        if parent in away and k != owner:
            away[k] = away[parent] + _offset(mechanism, k, parent, corners)
    if not turns:
        return dict.fromkeys(away, 1.0)
    return {k: away[k] + _size(mechanism.links[k]) for k in away}


def _offset(mechanism: Mechanism, link: int, parent: int, corners: FloatArray) -> float:
    """Greatest distance of a link's origin from its parent's, or the world's: convex in the coordinate that changes it."""
    poses = mechanism.poses(corners)
    offsets = poses[:, link, :2, 2] - (poses[:, parent, :2, 2] if parent >= 0 else 0.0)
    return float(np.hypot(offsets[:, 0], offsets[:, 1]).max())


def _size(link: Link) -> float:
    """Greatest distance of a vertex from the link's origin."""
    return max((float(np.hypot(*polygon.T).max()) for polygon in link.polygons), default=0.0)
