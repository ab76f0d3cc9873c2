"""Orientation by three revolute joints or fewer, whose axes may have been moved by what is known already."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.solve.closed_form.joint_axis import Axis
from linkwise.solve.closed_form.subproblems import Turn, align, cone, direction
from linkwise.spatial.scalar import Array

LEAST = 1e-14
"""Two directions are one, and the angle about them free, up to this angle (rad)."""


def orientations(axes: Sequence[Axis], rotation: Array) -> list[tuple[Turn, ...]]:
    """Every way to turn by a rotation (3, 3) with at most three revolute joints, no axis parallel to the next.

    Three reach every rotation, or nearly: what the first and the last leave alone is one number, which gives the angle
    between (subproblem 4). With fewer some rotations are out of reach; then there is a miss.
    """
    if not axes:
        return [()]
    last = axes[-1]
    if len(axes) == 1:
        return [(_last(last, rotation),)]
    aim = rotation @ last.along
    found: list[tuple[Turn, ...]] = []
    if len(axes) == 2:
        middles: list[tuple[Turn, ...]] = [()]
    else:
        middles = [(turn,) for turn in cone(axes[1].along, last.along, axes[0].along, aim, axes[1].free)[:2]]
    for middle in middles:
        carried = axes[1].carried(middle[0], last.along) if middle else last.along
        first = align(axes[0].along, carried, aim, axes[0].free, LEAST * LEAST)
        rest = axes[0].rotation(first).T @ rotation
        if middle:
            rest = axes[1].rotation(middle[0]).T @ rest
        found.append((first, *middle, _last(last, rest)))
    return found


def _last(axis: Axis, rotation: Array) -> Turn:
    """The angle of a rotation (3, 3) about an axis, to nearest."""
    moved = rotation @ axis.frame[:, 0]
    return direction(np.dot(axis.frame[:, 0], moved), np.dot(axis.frame[:, 1], moved), axis.free)[0]
