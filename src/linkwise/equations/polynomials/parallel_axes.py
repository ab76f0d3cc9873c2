"""Angles of joints with parallel axes: their sums are what a closed form is written in (c23 for cos(q2 + q3))."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.expr.node import Expr
from linkwise.model.body_tree import moving_bodies
from linkwise.model.coupling import coupling
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array

PARALLEL = 1e-12
"""How far the sine of the angle between two axes may be from 0."""


@dataclass(frozen=True)
class Group:
    """Coordinates of joints whose axes stay parallel.

    Attributes
    ----------
    coordinates : tuple of int
        Which they are.
    sums : tuple of dict
        The angle of each body against what carries the group, as whole multiples by coordinate: q2, q2 + q3, ...
    """

    coordinates: tuple[int, ...]
    sums: tuple[dict[int, int], ...]


def parallel_groups(tree: Tree) -> list[Group]:
    """The turning coordinates of a mechanism, put together where axes are parallel; in order.

    Where joints follow others, groups that share a coordinate are one.

    Examples
    --------
    >>> from linkwise import robots
    >>> [group.coordinates for group in parallel_groups(robots.puma560())]
    [(0,), (1, 2), (3,), (4,), (5,)]
    """
    how = coupling(tree)
    made = moving_bodies(how.uncoupled)
    axes: list[tuple[int, Array, dict[int, int]] | None] = []  # the group, its axis, and the angle about it, of each body
    sums: list[list[dict[int, int]]] = []
    for body in made.bodies:
        above = axes[body.parent] if body.parent >= 0 else None
        seen = None if above is None else body.placement[:3, :3].T @ above[1]
        if not body.turns or body.free:
            axes.append(None if above is None or body.free else (above[0], np.asarray(seen), above[2]))
            continue
        row = how.spread[body.speed, tree.nv - tree.n :]
        own = {int(k) + how.base: round(row[k]) for k in np.flatnonzero(row)}
        sign = 0 if seen is None else _along(seen)
        if above is None or not sign:
            sums.append([])
            above = (len(sums) - 1, np.zeros(3), {})
            sign = 1
        angle = {k: above[2].get(k, 0) + sign * own.get(k, 0) for k in {**above[2], **own}}
        angle = {k: factor for k, factor in angle.items() if factor}
        sums[above[0]].append(angle)
        axes.append((above[0], np.array([0.0, 0.0, float(sign)]), angle))
    return _apart(sums)


def _along(axis: Array) -> int:
    """1 or -1 where a unit vector is z or -z, else 0."""
    if any(isinstance(element, Expr) for element in axis):
        return 0
    x, y, z = (float(element) for element in axis)
    return 0 if np.hypot(x, y) > PARALLEL else 1 if z > 0 else -1


def _apart(sums: list[list[dict[int, int]]]) -> list[Group]:
    """Groups without common coordinates."""
    left: list[tuple[set[int], list[dict[int, int]]]] = []
    for group in sums:
        has, all_sums = {k for angle in group for k in angle}, group
        for other in [other for other in left if other[0] & has]:
            left.remove(other)
            has, all_sums = has | other[0], other[1] + all_sums
        if has:
            left.append((has, all_sums))
    return [Group(tuple(sorted(has)), tuple(group)) for has, group in sorted(left, key=lambda pair: min(pair[0]))]
