"""Finding how a chain can be solved, by looking at the ways there are and trying them on positions at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import EXACT, AxisChain, settled
from linkwise.inverse_kinematics.closed_form.axis_clusters import blocks
from linkwise.inverse_kinematics.closed_form.planar_chain import RotationFirst, planar_runs, plane_first, rotation_first
from linkwise.inverse_kinematics.closed_form.position import equation_order, place_point
from linkwise.inverse_kinematics.closed_form.position_pairs import EquationOrder
from linkwise.inverse_kinematics.closed_form.problem import (
    Axis,
    Branch,
    Family,
    Setting,
    Solve,
    Way,
    axes_of,
    part,
    values_at,
)
from linkwise.inverse_kinematics.closed_form.subproblems import Turn
from linkwise.kernel import Kernel, trace
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True, eq=False)
class PositionOnly(Way):
    """Three joints or fewer that bring the origin of the end frame to a point; only that column of the pose is read."""

    setting: Setting
    plan: EquationOrder | None
    name: str = "the position alone gives all joints"

    @property
    def misfit(self) -> float:
        """How far the true chain is from the one that is solved (rad, or shares of its size)."""
        return self.plan.misfit if self.plan else 0.0

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Every branch, for the joints of the setting's chain; the given joint keeps its value."""
        branches = place_point(*_ends(self.setting, displacement, free), self.plan, self.setting.chain.size)
        return [self.setting.branch(values, free) for values in branches]


def _ends(setting: Setting, displacement: Array, free: Sequence[Any]) -> tuple[list[Axis], Array, Array]:
    """The joints asked for, and the point that they move: where it starts and where it has to be."""
    axes, _ = setting.written(displacement, free)
    home = setting.chain.home[:3, 3]
    goal = displacement[:3, :3] @ home + displacement[:3, 3]
    if setting.given is None:
        return axes, home, goal
    moved = axes_of(setting.chain, free)[setting.given].displacement(free[setting.given])
    return axes, moved[:3, :3] @ home + moved[:3, 3], goal


def position_only(setting: Setting) -> PositionOnly | None:
    """Recognise three joints or fewer that can place a point."""
    if not 1 <= len(setting.asked) <= 3:
        return None
    samples = (_ends(setting, setting.reached(joints), joints) for joints in setting.random())
    possible, plan = equation_order(samples, setting.chain.size)
    return PositionOnly(setting, plan) if possible else None


def orientation_only(setting: Setting) -> RotationFirst | None:
    """Recognise three joints or fewer that turn the end frame, none parallel to the next; only the rotation is read."""
    slides = any(setting.chain.slides[k] for k in setting.asked)
    first = None if slides or not setting.asked else rotation_first(setting)
    return first and replace(first, name="the orientation alone gives all joints")


TRIALS = 8
"""Positions at random that a way must find again before it is taken."""

NEAR = 1e-3
"""How near it must come, unrefined: cosine, sine, or lengths of the chain."""


def take_apart(chain: AxisChain, given: int | None = None, asks: str = "pose") -> tuple[AxisChain, Family] | None:
    """The chain, its joints in the order in which it is solved, and what solves it; None where no way is found.

    A way that needs no refining is preferred.

    Parameters
    ----------
    chain : AxisChain
        The joints.
    given : int, optional
        A joint whose value is handed in, in its place among what `Family.solve` takes where nothing determines a joint.
    asks : {"pose", "position", "orientation"}
        What is asked of the end frame.
    """
    ways = _found(chain, given, asks)
    order = [chain.coordinates.index(k) for k in ways[0].setting.chain.coordinates] if ways else [*range(len(chain))]
    if asks == "pose" and (not ways or any(map(_rough, ways))):
        near = settled(part(chain, order))
        better = _found(near, None if given is None else order.index(given), asks) if near.misfit > EXACT else []
        if better and not any(map(_rough, better)):
            near = better[0].setting.chain
            order = [chain.coordinates.index(k) for k in near.coordinates]
            return part(chain, order), replace(_family(better, asks), refine=True, near=near)
    return (part(chain, order), _family(ways, asks)) if ways else None


def _found(chain: AxisChain, given: int | None, asks: str) -> list[Way]:
    """One way that solves a chain, or two where `_family` wants them; none where none is found."""
    found: list[Way] = []
    spare = asks == "pose" and len(Setting(chain, given).asked) < 6
    for setting in Setting(chain, given).orders():
        for way in _ways(setting, asks):
            if (_rough(way) and found) or any(way.name == other.name for other in found) or not _finds_again(way):
                continue
            found = [*(other for other in found if spare or not _rough(other)), way]
            if not _rough(way) and sum(not _rough(other) for other in found) > spare:
                return sorted(found, key=_rough)[:2]
    return sorted(found, key=_rough)[:2]


def _family(ways: list[Way], asks: str) -> Family:
    """What solves a chain by the first of several ways, and by the others where that one lets go.

    Where a pose is asked of fewer than six joints there are more equations than unknowns, and each way leaves some of them
    out: in special positions it may be those that would have said more. So a second way is gone as well.
    """
    first = ways[0]
    given = first.setting.given
    held = () if given is None else (given,)
    solve = first.solve if len(ways) == 1 else _joined(first, ways[1])
    misfit = max(way.misfit for way in ways)
    return Family(first.name, solve, misfit > EXACT, asks, held)


def _rough(way: Way) -> bool:
    """Whether the answers want refining."""
    return way.misfit > EXACT


def _joined(first: Way, second: Way) -> Solve:
    """The branches of both ways, for the joints in the order of the first."""
    one, other = first.setting.chain.coordinates, second.setting.chain.coordinates
    there, back = [one.index(k) for k in other], [other.index(k) for k in one]

    def solve(displacement: Array, free: Sequence[Any]) -> list[Branch]:
        found = list(first.solve(displacement, free))
        for branch in second.solve(displacement, [free[k] for k in there]):
            found.append(Branch(tuple(branch.joints[k] for k in back), branch.miss))
        return found

    return solve


def _ways(setting: Setting, asks: str) -> Iterator[Way]:
    """What there is to try, the simplest first."""
    if asks == "pose":
        first = rotation_first(setting)
        if first is not None:
            yield first
        yield from blocks(setting)
        yield from planar_runs(setting)
        yield from plane_first(setting)
        return
    found = position_only(setting) if asks == "position" else orientation_only(setting)
    if found is not None:
        yield found


def _finds_again(way: Way) -> bool:
    """Whether every position at random is among the branches for its own pose."""
    setting = way.setting
    trials = setting.random(TRIALS)
    truth = np.array([_numbers(values, setting) for values in trials], dtype=float)
    poses = np.array([setting.reached(values) for values in trials])
    held = truth if setting.given is not None else np.broadcast_to(_numbers(values_at(setting.chain), setting), truth.shape)
    found = _branches(way, poses, np.ascontiguousarray(held.astype(float)))
    miss = np.abs(found - truth[:, None]).max(axis=-1)
    return bool(np.all(np.any(miss < NEAR, axis=1)))


def _branches(way: Way, poses: FloatArray, held: FloatArray) -> FloatArray:
    """Branches (k, K, m) as numbers."""
    setting = way.setting

    def run(pose: Array, numbers: Array) -> Array:
        given = setting.given
        free = values_at(setting.chain)
        if given is not None:
            free[given] = _values(numbers, setting)[given]
        return np.array([_numbers(branch.joints, setting) for branch in way.solve(pose, free)], dtype=object)

    kernel = Kernel(trace(run, "trial", {"pose": (4, 4), "held": (held.shape[1],)}), "numpy")
    with np.errstate(all="ignore"):
        return np.asarray(kernel(poses, held))


def _numbers(values: Any, setting: Setting) -> list[Any]:
    """Cosines and sines, and ways in lengths of the chain, one after the other."""
    found = []
    for value, slides in zip(values, setting.chain.slides, strict=True):
        found += [value / setting.chain.size] if slides else [value.c, value.s]
    return found


def _values(numbers: Array, setting: Setting) -> list[Any]:
    """The inverse of `_numbers`."""
    found, place = [], 0
    for slides in setting.chain.slides:
        found.append(numbers[place] * setting.chain.size if slides else Turn(numbers[place], numbers[place + 1]))
        place += 1 if slides else 2
    return found
