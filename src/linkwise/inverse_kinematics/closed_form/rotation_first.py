"""Chains whose revolute joints follow from the orientation alone: the sliding joints then are linear equations.

At most three joints turn, none about an axis parallel to the next; up to three slide, anywhere between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import TOLERANCE
from linkwise.inverse_kinematics.closed_form.families import Branch
from linkwise.inverse_kinematics.closed_form.joint_axis import Axis
from linkwise.inverse_kinematics.closed_form.orientation import orientations
from linkwise.inverse_kinematics.closed_form.problem import Setting
from linkwise.inverse_kinematics.closed_form.subproblems import MARGIN, require
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, select
from linkwise.spatial.vector import inner

FLAT = 1e-12
"""Below this the area or the volume that directions span is rounding."""


@dataclass(frozen=True, eq=False)
class RotationFirst:
    """The solution of such a chain, see `rotation_first`."""

    setting: Setting
    misfit: float = 0.0
    name: str = "the orientation alone gives the joints that turn"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Every branch, for the joints of the setting's chain; the given joint keeps its value."""
        setting = self.setting
        axes, left = setting.written(displacement, free)
        turning = [axis for axis in axes if not axis.slides]
        found = []
        for turns in orientations(turning, left[:3, :3]):
            values = {axis.joint: turn for axis, turn in zip(turning, turns, strict=True)}
            ways, missing = _ways(axes, values, left[:3, 3])
            sliding = [axis for axis in axes if axis.slides]
            shares = _shares(ways, missing, [axis.free for axis in sliding])
            values |= {axis.joint: share for axis, share in zip(sliding, shares, strict=True)}
            joints = range(len(setting.chain))
            found.append(Branch(tuple(free[k] if k == setting.given else values[k] for k in joints)))
        return found


def rotation_first(setting: Setting) -> RotationFirst | None:
    """Recognise such a chain.

    None also where two of three joints that slide go the same way, or three go in one plane.
    """
    slides = setting.chain.slides
    turning = [k for k in setting.asked if not slides[k]]
    if len(turning) > 3 or len(setting.asked) - len(turning) > 3:
        return None
    for axes, _ in setting.samples():
        along = {axis.joint: np.asarray(axis.along, dtype=float) for axis in axes}
        if any(np.linalg.norm(np.cross(along[i], along[j])) <= TOLERANCE for i, j in pairwise(turning)):
            return None
        ways = np.array([along[axis.joint] for axis in axes if axis.slides])
        if len(ways) and len(turning) < 2 and np.linalg.svd(ways, compute_uv=False)[-1] <= TOLERANCE:
            return None
    return RotationFirst(setting)


def _ways(axes: list[Axis], turns: dict[int, Any], shift: Array) -> tuple[list[Array], Array]:
    """Which way (3,) each sliding joint moves the end, and how far (3,) all of them together have to."""
    rotation, position = np.eye(3), np.zeros(3)
    ways = []
    for axis in axes:
        if axis.slides:
            ways.append(rotation @ axis.along)
            continue
        own = axis.rotation(turns[axis.joint])
        position = position + rotation @ (axis.point - own @ axis.point)
        rotation = rotation @ own
    return ways, shift - position


def _shares(ways: list[Array], missing: Array, free: list[Any]) -> list[Any]:
    """Lengths along the ways that add up to what is missing, or come nearest; where ways fall together, some are free."""
    if not ways:
        return []
    if len(ways) == 1:
        return [inner(ways[0], missing)]
    if len(ways) == 2:
        return _two_shares(ways[0], ways[1], missing, free[1])
    normals = [cross(ways[1], ways[2]), cross(ways[2], ways[0]), cross(ways[0], ways[1])]
    volume = inner(ways[0], normals[0])
    usable = abs(volume) - FLAT
    require(usable)
    scale = 1.0 / select(usable, volume, 1.0)
    made = [inner(missing, normal) * scale for normal in normals]
    sizes = [inner(normal, normal) for normal in normals]
    flat = [*_two_shares(ways[0], ways[1], missing - ways[2] * free[2], free[1]), free[2]]
    last = _two_shares(ways[1], ways[2], missing - ways[0] * free[0], free[2])
    middle = _two_shares(ways[0], ways[2], missing - ways[1] * free[1], free[2])
    by_first, by_middle = [free[0], *last], [middle[0], free[1], middle[1]]
    best = [select(sizes[0] - sizes[2], x, y) for x, y in zip(by_first, flat, strict=True)]
    most = select(sizes[0] - sizes[2], sizes[0], sizes[2])
    best = [select(sizes[1] - most, x, y) for x, y in zip(by_middle, best, strict=True)]
    return [select(usable, x, y) for x, y in zip(made, best, strict=True)]


def _two_shares(one: Array, other: Array, missing: Array, free: Any) -> list[Any]:
    """The same for two ways; the second is free where they fall together."""
    normal = cross(one, other)
    square = inner(normal, normal)
    usable = square - FLAT * FLAT
    require(usable, MARGIN * MARGIN)
    scale = 1.0 / select(usable, square, 1.0)
    second = select(usable, inner(cross(one, missing), normal) * scale, free)
    alone = inner(one, missing - other * second)
    return [select(usable, inner(cross(missing, other), normal) * scale, alone), second]
