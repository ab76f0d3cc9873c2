"""Neighbouring revolute joints whose axes intersect in a point, and at most three further joints of any kind and order.

The block of one, two or three joints turns about the point c where its axes meet, and leaves c alone: the joints A before
and B after it answer for where c is. From A (block) B = D follows A c = D B^-1 c, which the joints B, carried along by D,
and then the joints A fulfil as one chain: (D B D^-1) A c = D c; or, carried back, B (D^-1 A D) D^-1 c = c. What is left is
the orientation, for the block. With three joints in the block this is D. L. Pieper's solution (1968).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from linkwise.inverse_kinematics.closed_form.axis_chain import (
    TOLERANCE,
    AxisChain,
    common_point,
    feet,
    parallel,
    with_points,
)
from linkwise.inverse_kinematics.closed_form.orientation import orientations
from linkwise.inverse_kinematics.closed_form.position import equation_order, place_point
from linkwise.inverse_kinematics.closed_form.position_pairs import EquationOrder
from linkwise.inverse_kinematics.closed_form.problem import Axis, Branch, Setting, Way, words
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse


@dataclass(frozen=True, eq=False)
class AxisCluster(Way):
    """One decomposition of a chain about a cluster of axes.

    Attributes
    ----------
    setting : Setting
        The chain; the points of the block's axes are where they meet.
    start, stop : int
        The block's place among the joints asked for.
    plan : EquationOrder, optional
        How the position is solved; None where there is nothing to choose.
    gap : float
        How far the axes are from meeting, in sizes of the chain.
    """

    setting: Setting
    start: int
    stop: int
    plan: EquationOrder | None
    gap: float = 0.0

    @property
    def misfit(self) -> float:
        """Deviation of the true chain from the solved one (rad, or relative to its size)."""
        return max(self.gap, self.plan.misfit if self.plan else 0.0)

    @property
    def name(self) -> str:
        """Description of the special geometry."""
        joints = [self.setting.free_joints[k] for k in range(self.start, self.stop)]
        numbers = sorted(self.setting.chain.coordinates[k] for k in joints)
        if len(joints) == 1:
            return f"the axis of joint {words(numbers)} is placed by the others"
        return f"the axes of joints {words(numbers)} meet in a point"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Return all branches, for the joints of the setting's chain; the fixed joint keeps its value."""
        axes, left = self.setting.written(displacement, free)
        branches, size = [], self.setting.chain.size
        for others in place_point(*positions(axes, self.start, self.stop, left), self.plan, size):
            remainder = left[:3, :3]
            for axis in axes[: self.start]:
                remainder = axis.rotation(others[axis.joint]).T @ remainder
            for axis in reversed(axes[self.stop :]):
                remainder = remainder @ axis.rotation(others[axis.joint]).T
            for turns in orientations(axes[self.start : self.stop], remainder):
                values = others | {axis.joint: turn for axis, turn in zip(axes[self.start : self.stop], turns, strict=True)}
                branches.append(self.setting.branch(values, free))
        return branches


def positions(axes: list[Axis], start: int, stop: int, left: Array) -> tuple[list[Axis], Array, Array]:
    """The joints that place the block's point, in order, and the points that they take one to the other."""
    before, after, point = axes[:start], axes[stop:], axes[start].point
    if len(after) > len(before):
        back = inverse(left)
        return [*after, *(axis.moved(back) for axis in before)], back[:3, :3] @ point + back[:3, 3], point
    return [*(axis.moved(left) for axis in after), *before], point, left[:3, :3] @ point + left[:3, 3]


def blocks(setting: Setting) -> Iterator[AxisCluster]:
    """Yield all decompositions of a chain about a cluster, those with the longest cluster first."""
    free_joints = setting.free_joints
    for count in (3, 2, 1):
        beside = len(free_joints) - count
        if not 0 <= beside <= 3:
            continue
        for start in reversed(range(beside + 1)):
            joints = free_joints[start : start + count]
            if any(setting.chain.translates[k] for k in joints) or _divided(setting, joints):
                continue
            for chain, gap in _gathered(setting.chain, joints):
                reduced = replace(setting, chain=chain)
                samples = (positions(axes, start, start + count, left) for axes, left in reduced.samples())
                possible, plan = equation_order(samples, chain.size)
                if possible:
                    yield AxisCluster(reduced, start, start + count, plan, gap)


def _divided(setting: Setting, joints: Sequence[int]) -> bool:
    """True if the fixed joint is between joints of the cluster."""
    return setting.fixed is not None and joints[0] < setting.fixed < joints[-1]


def _gathered(chain: AxisChain, joints: Sequence[int]) -> Iterator[tuple[AxisChain, float]]:
    """The chain with the point where axes meet as a point of each, where they do; of a single axis, points to try."""
    if any(parallel(chain, i, j) for i, j in pairwise(joints)):
        return
    if len(joints) == 1:
        (k,) = joints
        near = k - 1 if k else k + 1
        start = feet(chain, near, k)[1] if 0 <= near < len(chain) else chain.points[k]
        for along in (0.0, 0.5, -0.7):
            yield with_points(chain, {k: start + along * chain.size * chain.axes[k]}), 0.0
        return
    point, gap = common_point(chain, *joints)
    if gap <= TOLERANCE * chain.size:
        yield with_points(chain, dict.fromkeys(joints, point), gap), gap / chain.size
