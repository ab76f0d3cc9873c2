"""Chains of three joints or fewer of which only a position, or only an orientation, is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.solve.closed_form.families import Branch
from linkwise.solve.closed_form.geometry import EXACT, TOLERANCE
from linkwise.solve.closed_form.position_plans import Plan, plan_of, plan_of_two
from linkwise.solve.closed_form.position_sides import side
from linkwise.solve.closed_form.rotations import orientations
from linkwise.solve.closed_form.setting import Setting
from linkwise.solve.closed_form.wrist_positions import one_joint, three_joints, two_joints
from linkwise.spatial.scalar import Array


@dataclass(frozen=True, eq=False)
class PositionOnly:
    """Three joints or fewer that bring the origin of the end frame to a point; only that column of the pose is read."""

    setting: Setting
    plan: Plan | None
    name: str = "the position alone gives all joints"

    @property
    def misfit(self) -> float:
        """How far the true chain is from the one that is solved (rad, or shares of its size)."""
        return self.plan.misfit if self.plan else 0.0

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Every branch, for the joints of the setting's chain; the given joint keeps its value."""
        setting = self.setting
        axes, _ = setting.written(displacement, free)
        size, (p, t) = setting.chain.size, _ends(setting, displacement, free)
        if len(axes) == 1:
            found: list[tuple[Any, ...]] = [(one_joint(axes[0], p, t, size),)]
        else:
            assert self.plan is not None
            found = list((three_joints if len(axes) == 3 else two_joints)(axes, p, t, self.plan, size))
        branches = []
        for values in found:
            by_joint = {axis.joint: value for axis, value in zip(axes, values, strict=True)}
            joints = range(len(setting.chain))
            branches.append(Branch(tuple(free[k] if k == setting.given else by_joint[k] for k in joints)))
        return branches


def _ends(setting: Setting, displacement: Array, free: Sequence[Any]) -> tuple[Array, Array]:
    """The point that the joints asked for move, where it starts and where it has to be."""
    home = setting.chain.home[:3, 3]
    goal = displacement[:3, :3] @ home + displacement[:3, 3]
    if setting.given is None:
        return home, goal
    axes, _ = Setting(setting.chain).written(displacement, free)
    moved = axes[setting.given].displacement(free[setting.given])
    return moved[:3, :3] @ home + moved[:3, 3], goal


def position_only(setting: Setting) -> PositionOnly | None:
    """Recognise three joints or fewer that can place a point."""
    size, count = setting.chain.size, len(setting.asked)
    if not 1 <= count <= 3:
        return None
    if count == 1:
        return PositionOnly(setting, None)
    matrices, others, curves = [], [], ("", "")
    for (axes, _), joints in zip(setting.samples(), setting.random(), strict=True):
        p, t = _ends(setting, setting.reached(joints), joints)
        last, first = side(axes[-1], axes[-2], p, size), side(axes[0], axes[1], t, size)
        matrices.append(last.matrix)
        others.append(first.matrix)
        curves = (first.curve, last.curve)
    c, a = np.array(matrices).astype(float), np.array(others).astype(float)
    if count == 2:
        plan = plan_of_two(c)
    else:
        plan = plan_of(a, c, curves, (bool(np.ptp(a, axis=0).max() < EXACT), bool(np.ptp(c, axis=0).max() < EXACT)))
    return None if plan is None else PositionOnly(setting, plan)


@dataclass(frozen=True, eq=False)
class OrientationOnly:
    """Three revolute joints or fewer that turn the end frame; only the rotation of the pose is read."""

    setting: Setting
    misfit: float = 0.0
    name: str = "the orientation alone gives all joints"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Every branch, for the joints of the setting's chain; the given joint keeps its value."""
        setting = self.setting
        axes, left = setting.written(displacement, free)
        branches = []
        for turns in orientations(axes, left[:3, :3]):
            values = {axis.joint: turn for axis, turn in zip(axes, turns, strict=True)}
            joints = range(len(setting.chain))
            branches.append(Branch(tuple(free[k] if k == setting.given else values[k] for k in joints)))
        return branches


def orientation_only(setting: Setting) -> OrientationOnly | None:
    """Recognise three revolute joints or fewer, none parallel to the next."""
    if not 1 <= len(setting.asked) <= 3 or any(setting.chain.slides[k] for k in setting.asked):
        return None
    for axes, _ in setting.samples():
        pairs = pairwise(np.asarray(axis.along, dtype=float) for axis in axes)
        if any(np.linalg.norm(np.cross(one, other)) <= TOLERANCE for one, other in pairs):
            return None
    return OrientationOnly(setting)
