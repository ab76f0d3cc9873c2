"""The ranges of the joint coordinates as solvers use them: which turn freely, where whole turns lead, what stays inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray, select

TURN = 2.0 * np.pi


@dataclass(frozen=True, eq=False)
class JointRanges:
    """Least and greatest joint coordinates, and which of them whole turns leave where they are.

    Attributes
    ----------
    low, high : ndarray (n,)
        Limits, rad or m; infinite where there are none.
    turning : ndarray (n,)
        Which coordinates a whole turn leaves where they are.
    """

    low: FloatArray
    high: FloatArray
    turning: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, tree: Tree, *, limits: bool = True) -> JointRanges:
        """The ranges of a mechanism, or endless ones."""
        bounds = tree.limits if limits else np.tile([-np.inf, np.inf], (tree.n, 1))
        return cls(bounds[:, 0], bounds[:, 1], turning(tree))

    def wrapped(self, q: Array, q0: Array) -> Array:
        """Scalars q (n,), turned a whole turn towards a window of one turn where they are outside it; slides kept inside.

        The window is that in the limits nearest to q0, so that a coordinate in it is within the limits and, of its kind,
        nearest to q0; where the limits allow less than a turn the window is about their middle.
        """
        made = np.array(q, dtype=object)
        for i in range(len(made)):
            if self.turning[i]:
                middle = self._middle(i, q0[i])
                up, down = made[i] - (middle + np.pi), (middle - np.pi) - made[i]
                made[i] = select(up, made[i] - TURN, select(down, made[i] + TURN, made[i]))
            else:
                made[i] = self.held(made[i], i)
        return made

    def _middle(self, i: int, q0: Any) -> Any:
        low, high = self.low[i], self.high[i]
        if high - low < TURN:
            return 0.5 * (low + high)
        if np.isfinite(low):
            q0 = select(low + np.pi - q0, low + np.pi, q0)
        if np.isfinite(high):
            q0 = select(q0 - (high - np.pi), high - np.pi, q0)
        return q0

    def held(self, value: Any, i: int) -> Any:
        """A scalar of coordinate i, at its limit where it is beyond."""
        if np.isfinite(self.low[i]):
            value = select(self.low[i] - value, self.low[i], value)
        if np.isfinite(self.high[i]):
            value = select(value - self.high[i], self.high[i], value)
        return value

    def outside(self, q: Array, slack: Any = 0.0) -> Any:
        """How many of the scalars q (n,) are beyond their limits by more than the slack."""
        count: Any = 0.0
        for i in range(len(q)):
            if np.isfinite(self.low[i]):
                count = count + select(self.low[i] - slack - q[i], 1.0, 0.0)
            if np.isfinite(self.high[i]):
                count = count + select(q[i] - slack - self.high[i], 1.0, 0.0)
        return count


def turning(tree: Tree) -> npt.NDArray[np.bool_]:
    """Which coordinates (n,) a full turn leaves where they are: of revolute joints that no other joint follows."""
    made = np.zeros(tree.n, dtype=bool)
    for link, joint in zip(tree.links, tree.followers, strict=True):
        if joint.coordinate >= 0 and link.mimic is None:
            made[joint.coordinate] = link.joint == "revolute"
    for link, joint in zip(tree.links, tree.followers, strict=True):
        if link.mimic is not None and joint.coordinate >= 0 and joint.ratio:
            made[joint.coordinate] = False
    return made
