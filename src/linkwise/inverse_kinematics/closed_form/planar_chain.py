"""Chains whose revolute joints follow from the orientation, alone or beside three neighbours that move in one plane."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import TOLERANCE, AxisChain, part
from linkwise.inverse_kinematics.closed_form.axis_clusters import AxisCluster, blocks
from linkwise.inverse_kinematics.closed_form.orientation import orientations
from linkwise.inverse_kinematics.closed_form.problem import Axis, Branch, Setting, Way, words
from linkwise.inverse_kinematics.closed_form.subproblems import MARGIN, component, over, require
from linkwise.spatial.rotation import cross
from linkwise.spatial.scalar import Array, select
from linkwise.spatial.transform import inverse, transform
from linkwise.spatial.vector import inner

#: Below this the area or the volume that directions span is rounding.
FLAT = 1e-12


@dataclass(frozen=True, eq=False)
class RotationFirst(Way):
    """The solution of such a chain, see `rotation_first`."""

    setting: Setting
    name: str = "the orientation alone gives the joints that turn"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches, for the joints of the setting's chain; the fixed joint keeps its value."""
        setting = self.setting
        axes, left = setting.written(displacement, free)
        turning = [axis for axis in axes if not axis.translates]
        branches = []
        for turns in orientations(turning, left[:3, :3]):
            values = {axis.joint: turn for axis, turn in zip(turning, turns, strict=True)}
            ways, missing = _directions(axes, values, left[:3, 3])
            sliding = [axis for axis in axes if axis.translates]
            shares = _shares(ways, missing, [axis.fallback for axis in sliding])
            values |= {axis.joint: share for axis, share in zip(sliding, shares, strict=True)}
            branches.append(setting.branch(values, free))
        return branches


def rotation_first(setting: Setting) -> RotationFirst | None:
    """Recognise such a chain.

    None also where two of three joints that slide go the same way, or three go in one plane.
    """
    translates = setting.chain.translates
    turning = [k for k in setting.free_joints if not translates[k]]
    if len(turning) > 3 or len(setting.free_joints) - len(turning) > 3:
        return None
    for axes, _ in setting.samples():
        along = {axis.joint: np.asarray(axis.along, dtype=float) for axis in axes}
        if any(np.linalg.norm(np.cross(along[i], along[j])) <= TOLERANCE for i, j in pairwise(turning)):
            return None
        ways = np.array([along[axis.joint] for axis in axes if axis.translates])
        if len(ways) and len(turning) < 2 and np.linalg.svd(ways, compute_uv=False)[-1] <= TOLERANCE:
            return None
    return RotationFirst(setting)


def _directions(axes: list[Axis], turns: dict[int, Any], shift: Array) -> tuple[list[Array], Array]:
    """Directions (3,) in which sliding joints move the end, and the total displacement (3,) that they must give."""
    rotation, position = np.eye(3), np.zeros(3)
    ways = []
    for axis in axes:
        if axis.translates:
            ways.append(rotation @ axis.along)
            continue
        turn = axis.rotation(turns[axis.joint])
        position = position + rotation @ (axis.point - turn @ axis.point)
        rotation = rotation @ turn
    return ways, shift - position


def _shares(ways: list[Array], missing: Array, free: list[Any]) -> list[Any]:
    """Lengths along directions that add up to a displacement, or come nearest; free where directions coincide."""
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
    lengths = [inner(missing, normal) * scale for normal in normals]
    sizes = [inner(normal, normal) for normal in normals]
    flat = [*_two_shares(ways[0], ways[1], missing - ways[2] * free[2], free[1]), free[2]]
    last = _two_shares(ways[1], ways[2], missing - ways[0] * free[0], free[2])
    middle = _two_shares(ways[0], ways[2], missing - ways[1] * free[1], free[2])
    by_first, by_middle = [free[0], *last], [middle[0], free[1], middle[1]]
    best = [select(sizes[0] - sizes[2], x, y) for x, y in zip(by_first, flat, strict=True)]
    most = select(sizes[0] - sizes[2], sizes[0], sizes[2])
    best = [select(sizes[1] - most, x, y) for x, y in zip(by_middle, best, strict=True)]
    return [select(usable, x, y) for x, y in zip(lengths, best, strict=True)]


def _two_shares(first: Array, second: Array, missing: Array, free: Any) -> list[Any]:
    """As `_shares` for two directions; the second length is free where they coincide."""
    normal = cross(first, second)
    square = inner(normal, normal)
    usable = square - FLAT * FLAT
    require(usable, MARGIN * MARGIN)
    scale = 1.0 / select(usable, square, 1.0)
    share = select(usable, inner(cross(first, missing), normal) * scale, free)
    alone = inner(first, missing - second * share)
    return [select(usable, inner(cross(missing, second), normal) * scale, alone), share]


@dataclass(frozen=True, eq=False)
class PlanarRun(Way):
    """The solution of such a chain.

    Attributes
    ----------
    setting : Setting
        The chain.
    start : int
        Where the run begins among the joints; it has three.
    plane : Block or RotationFirst
        What solves the run alone.
    bent : float
        How far its axes are from parallel, or its slides from across them (rad).
    """

    setting: Setting
    start: int
    plane: AxisCluster | RotationFirst
    bent: float

    @property
    def misfit(self) -> float:
        """Deviation of the true chain from the solved one (rad, or relative to its size)."""
        return max(self.plane.misfit, self.bent)

    @property
    def name(self) -> str:
        """Description of the special geometry."""
        numbers = [self.setting.chain.coordinates[k] for k in range(self.start, self.start + 3)]
        return f"joints {words(sorted(numbers))} move in one plane"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches."""
        axes, left = self.setting.written(displacement, free)
        before, run, after = axes[: self.start], axes[self.start : self.start + 3], axes[self.start + 3 :]
        turning = next(axis for axis in run if not axis.translates)
        beside = [axis for axis in [*before, turning, *after] if not axis.translates]
        branches = []
        for turns in orientations(beside, left[:3, :3]):
            values: dict[int, Any] = {axis.joint: turn for axis, turn in zip(beside, turns, strict=True)}
            values |= {axis.joint: 0.0 for axis in [*before, *after] if axis.translates}
            remaining, directions = _remainder(before, after, values, left)
            for joint, direction in directions.items():
                values[joint] = over(-inner(turning.along, remaining[:3, 3]), inner(turning.along, direction), free[joint])
                remaining = transform(remaining[:3, :3], remaining[:3, 3] + direction * values[joint])
            inside = [free[axis.joint] for axis in run]
            for branch in self.plane.solve(remaining, inside):
                all_values = values | {axis.joint: value for axis, value in zip(run, branch.joints, strict=True)}
                branches.append(self.setting.branch(all_values, free))
        return branches


def _remainder(before: list[Axis], after: list[Axis], values: dict[int, Any], left: Array) -> tuple[Array, dict[int, Array]]:
    """Displacement (4, 4) left to the planar run, and for each sliding joint outside it the derivative of its position."""
    remaining, ways = left, dict[int, Array]()
    for axis in before:
        back = inverse(axis.displacement(values[axis.joint]))
        remaining = back @ remaining
        ways = {joint: back[:3, :3] @ direction for joint, direction in ways.items()}
        if axis.translates:
            ways[axis.joint] = -axis.along
    for axis in reversed(after):
        if axis.translates:
            ways[axis.joint] = -(remaining[:3, :3] @ axis.along)
        remaining = remaining @ inverse(axis.displacement(values[axis.joint]))
    return remaining, ways


def planar_runs(setting: Setting) -> Iterator[PlanarRun]:
    """Yield all runs of three joints in a plane for which the other joints can be solved."""
    chain, count = setting.chain, len(setting.chain)
    if setting.fixed is not None or not 4 <= count <= 6:
        return
    for start in range(count - 2):
        run = range(start, start + 3)
        others = [k for k in range(count) if k not in run]
        if sum(chain.translates[k] for k in others) > 1 or sum(not chain.translates[k] for k in others) > 2:
            continue
        bent = _bent(chain, run)
        if bent > TOLERANCE or not _apart(chain, run):
            continue
        inner_chain = part(chain, run)
        alone = rotation_first(Setting(inner_chain))
        planes: list[AxisCluster | RotationFirst] = [*blocks(Setting(inner_chain))]
        for plane in planes if alone is None else [alone, *planes]:
            yield PlanarRun(setting, start, plane, bent)


def _bent(chain: AxisChain, run: Sequence[int]) -> float:
    """Deviation of the joints of a run from planar motion (rad)."""
    turning = [k for k in run if not chain.translates[k]]
    if not turning:
        return np.inf
    normal = chain.axes[turning[0]]
    return max(
        abs(float(chain.axes[k] @ normal)) if chain.translates[k] else float(np.linalg.norm(np.cross(chain.axes[k], normal)))
        for k in run
    )


def _apart(chain: AxisChain, run: Sequence[int]) -> bool:
    """True if no axis of a revolute joint is parallel to the next, the run counted as one joint."""
    normal = next(chain.axes[k] for k in run if not chain.translates[k])
    axes = [
        normal if k == run[0] else chain.axes[k]
        for k in range(len(chain))
        if k == run[0] or (k not in run and not chain.translates[k])
    ]
    return all(np.linalg.norm(np.cross(a, b)) > TOLERANCE for a, b in pairwise(axes))


@dataclass(frozen=True, eq=False)
class PlaneFirst(Way):
    """The solution of such a chain.

    Attributes
    ----------
    setting : Setting
        The chain.
    run : PlanarRun
        What solves the chain without its first joint.
    """

    setting: Setting
    run: PlanarRun

    @property
    def misfit(self) -> float:
        """Deviation of the true chain from the solved one (rad, or relative to its size)."""
        return self.run.misfit

    @property
    def name(self) -> str:
        """Description of the special geometry."""
        coordinates = self.setting.chain.coordinates
        return f"joints {words(sorted(coordinates[1:4]))} move in one plane, which joint {words(coordinates[:1])} turns"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches."""
        axes, left = self.setting.written(displacement, free)
        first, last = axes[0], axes[-1]
        normal = next(axis for axis in axes[1:4] if not axis.translates).along
        place = left[:3, :3] @ last.point + left[:3, 3] - first.point
        height = inner(normal, last.point - first.point)
        size = self.setting.chain.size
        branches = []
        for turn in component(first.along, normal, place, height, first.fallback.back(), size=size)[:2]:
            remaining = np.asarray(inverse(first.displacement(turn.back())) @ left)
            branches += [Branch((turn.back(), *branch.joints)) for branch in self.run.solve(remaining, list(free)[1:])]
        return branches


def plane_first(setting: Setting) -> Iterator[PlaneFirst]:
    """Yield all decompositions of such a chain."""
    chain = setting.chain
    if setting.fixed is not None or len(chain) != 5 or chain.translates[0] or chain.translates[4]:
        return
    turning = [k for k in range(1, 4) if not chain.translates[k]]
    if not turning or np.linalg.norm(np.cross(chain.axes[0], chain.axes[turning[0]])) <= TOLERANCE:
        return
    for run in planar_runs(Setting(part(chain, range(1, 5)))):
        if run.start == 0:
            yield PlaneFirst(setting, run)
