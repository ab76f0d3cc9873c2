"""A joint that turns, three neighbours that move in one plane, and another that turns: the first from the place alone.

A point of the last axis stays at one height over the plane of the three, whatever they and the last joint do; that gives the
first joint. Where the orientation gives it (see `linkwise.solve.closed_form.planar_run`) is quite another matter: for
positions in which the first axis and the last are parallel the orientation does not say what each of them does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.solve.closed_form.families import Branch, words
from linkwise.solve.closed_form.geometry import TOLERANCE
from linkwise.solve.closed_form.planar_run import PlanarRun, planar_runs
from linkwise.solve.closed_form.setting import Setting, part
from linkwise.solve.closed_form.subproblems import component
from linkwise.spatial.scalar import Array
from linkwise.spatial.transform import inverse
from linkwise.spatial.vector import inner


@dataclass(frozen=True, eq=False)
class PlaneFirst:
    """The solution of such a chain.

    Attributes
    ----------
    setting : Setting
        The chain.
    rest : PlanarRun
        What solves the chain without its first joint.
    """

    setting: Setting
    rest: PlanarRun

    @property
    def misfit(self) -> float:
        """How far the true chain is from the one that is solved (rad, or shares of its size)."""
        return self.rest.misfit

    @property
    def name(self) -> str:
        """What is special about the chain, in words."""
        coordinates = self.setting.chain.coordinates
        return f"joints {words(sorted(coordinates[1:4]))} move in one plane, which joint {words(coordinates[:1])} turns"

    def solve(self, displacement: Array, free: Sequence[Any]) -> list[Branch]:
        """Every branch."""
        axes, left = self.setting.written(displacement, free)
        first, last = axes[0], axes[-1]
        normal = next(axis for axis in axes[1:4] if not axis.slides).along
        place = left[:3, :3] @ last.point + left[:3, 3] - first.point
        height = inner(normal, last.point - first.point)
        size = self.setting.chain.size
        found = []
        for turn in component(first.along, normal, place, height, first.free.back(), size=size)[:2]:
            rest = np.asarray(inverse(first.displacement(turn.back())) @ left)
            found += [Branch((turn.back(), *branch.joints)) for branch in self.rest.solve(rest, list(free)[1:])]
        return found


def plane_first(setting: Setting) -> Iterator[PlaneFirst]:
    """Every way to take such a chain apart."""
    chain = setting.chain
    if setting.given is not None or len(chain) != 5 or chain.slides[0] or chain.slides[4]:
        return
    turning = [k for k in range(1, 4) if not chain.slides[k]]
    if not turning or np.linalg.norm(np.cross(chain.axes[0], chain.axes[turning[0]])) <= TOLERANCE:
        return
    for run in planar_runs(Setting(part(chain, range(1, 5)))):
        if run.start == 0:
            yield PlaneFirst(setting, run)
