"""A chain as its equations are written: some joints asked for, one of them perhaps given, and samples of it as numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain, parallel
from linkwise.inverse_kinematics.closed_form.joint_axis import Axis, axes_of, product
from linkwise.inverse_kinematics.closed_form.subproblems import Turn
from linkwise.spatial.scalar import Array, FloatArray

SAMPLES = 4
"""Positions at random in which the equations of a chain are looked at as numbers."""


@dataclass(frozen=True, eq=False)
class Setting:
    """A chain, and which joint of it is given.

    Attributes
    ----------
    chain : AxisChain
        All joints.
    given : int, optional
        The joint whose value is known: those beyond it are written as it has moved them.
    """

    chain: AxisChain
    given: int | None = None

    @property
    def asked(self) -> tuple[int, ...]:
        """The joints that are asked for."""
        return tuple(k for k in range(len(self.chain)) if k != self.given)

    def written(self, displacement: Array, free: Sequence[Any]) -> tuple[list[Axis], Array]:
        """The axes of the joints asked for, and the displacement (4, 4) that they have to make, for a pose.

        With E the motion of the given joint, E_1 ... E E_k ... = D is E_1 ... (E E_k E^-1) ... = D E^-1.

        Parameters
        ----------
        displacement : ndarray (4, 4)
            D, of scalars.
        free : sequence
            For each joint what it does where nothing determines it, a `Turn` or a length; for the one given, its value.
        """
        axes = axes_of(self.chain, free)
        if self.given is None:
            return axes, displacement
        moved = axes[self.given].displacement(free[self.given])
        rotation, shift = moved[:3, :3], moved[:3, 3]
        left = np.array(displacement)
        left[:3, :3] = displacement[:3, :3] @ rotation.T
        left[:3, 3] = displacement[:3, 3] - left[:3, :3] @ shift
        return [a if a.joint < self.given else a.moved(moved) for a in axes if a.joint != self.given], left

    def random(self, count: int = SAMPLES) -> list[list[Any]]:
        """Values of all joints in positions at random, the same ones each time."""
        rng = np.random.default_rng(len(self.chain))
        return [
            [
                float(v) * self.chain.size if slides else Turn(float(np.cos(v)), float(np.sin(v)))
                for v, slides in zip(rng.uniform(-2.5, 2.5, len(self.chain)), self.chain.slides, strict=True)
            ]
            for _ in range(count)
        ]

    def reached(self, values: Sequence[Any]) -> FloatArray:
        """The displacement (4, 4) for numbers of all joints."""
        return np.asarray(product(axes_of(self.chain), values), dtype=float)

    def samples(self) -> list[tuple[list[Axis], FloatArray]]:
        """Axes and displacements as numbers, in the positions of `random`."""
        return [self.written(self.reached(values), values) for values in self.random()]

    def orders(self) -> Iterator[Setting]:
        """The setting itself, and those with joints in another order that make the same motion.

        Neighbours may change places where both slide, or where one slides along the axis of the one that turns.
        """
        start = tuple(range(len(self.chain)))
        queue, seen = [start], {start}
        for order in queue:
            yield self if order == start else self._reordered(order)
            for place, (i, j) in enumerate(pairwise(order)):
                swapped = (*order[:place], j, i, *order[place + 2 :])
                if swapped not in seen and self._commute(i, j):
                    seen.add(swapped)
                    queue.append(swapped)

    def _reordered(self, order: tuple[int, ...]) -> Setting:
        return Setting(part(self.chain, order), None if self.given is None else order.index(self.given))

    def _commute(self, i: int, j: int) -> bool:
        one, other = self.chain.slides[i], self.chain.slides[j]
        return (one and other) or (one is not other and parallel(self.chain, i, j))


def part(chain: AxisChain, which: Sequence[int]) -> AxisChain:
    """Some joints of a chain, in the order given, as a chain of their own, with the same end."""
    joints = list(which)
    return replace(
        chain,
        axes=chain.axes[joints],
        points=chain.points[joints],
        slides=tuple(chain.slides[k] for k in joints),
        coordinates=tuple(chain.coordinates[k] for k in joints),
        ratios=chain.ratios[joints],
        shifts=chain.shifts[joints],
    )
