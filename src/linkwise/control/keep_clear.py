"""A chain that keeps clear: no output is taken from which a shape could touch another, or an obstacle."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.clearance.clearance import distances_at
from linkwise.clearance.kernels import distance_kernel
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import levers
from linkwise.clearance.shapes import CollisionShapes
from linkwise.control.constraints import ChainConstraint
from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import TOOL, Tree
from linkwise.solve.constraints import Clear, Constraint
from linkwise.solve.lengths import size_of
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, select

#: What is kept free beside the margin, as a part of the mechanism's size: a chain that has stopped there can move away.
RESERVE = 1e-3

#: By this share a step stays below what is proven, for rounding.
ROUNDING = 1e-12

#: Of a way that is no longer than this nothing is taken off; and how far a joint may move that carries no shape.
TINY, ANYWHERE = 1e-200, 1e9


@dataclass(frozen=True, eq=False)
class KeepClear(ChainConstraint):
    """All pairs of shapes stay a margin apart, in all outputs of a chain and on the straight lines between them.

    `lw.Clear` among the constraints of a `Chain` becomes one, with the name ``clear``.

    Parameters
    ----------
    name, enabled
        See `ChainConstraint`.
    clear : Clear
        The margin at the beginning, m, which the port ``name.margin`` changes, and the obstacles, which stand in the frame
        of the chain's start.

    Notes
    -----
    Between two configurations no point of a shape moves farther than sum_i l_i |dq_i|, and no distance changes by more: l_i
    is the lever of a coordinate (`linkwise.clearance.reach`). From a configuration with the least distance d a cycle
    therefore takes no step with sum_i l_i |dq_i| > d - margin, whatever the length of the cycle; half of it towards the
    goal, half for braking in other directions. What remains beyond the margin is 1e-3 of the mechanism's size, so that a
    step away from contact is possible; it is taken only where the distance that is measured at its end is greater. Each step
    is checked once more when it is computed, and not taken where it is longer: then the chain stands.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise import control
    >>> arm = lw.robots.planar_2r()
    >>> arm = arm.with_shapes([lw.Shape.rod(name, (-0.9, 0, 0), (0, 0, 0), 0.05) for name in arm.link_names])
    >>> wall = lw.Shape("world", "box", (0.2, 2.0, 0.2), origin=(1.8, 1.0, 0.0), name="wall")
    >>> goal = control.FixedPosition("goal", "tool", [1.9, 0.3, 0.0])
    >>> chain = control.Chain(arm, [goal, lw.Clear(0.05, [wall])], q0=[1.0, 0.5])
    >>> for _ in range(200):
    ...     solved = chain.step(0.01)
    >>> chain["clear.limited"], round(chain["clear.distance"], 3)
    (True, 0.051)
    """

    kind = "clear"
    needed = ("clear",)
    name: str = "clear"
    link: str = TOOL
    clear: Clear = field(kw_only=True)

    def _problems(self) -> Iterator[str]:
        yield from super()._problems()
        if not isinstance(self.clear, Clear):
            yield f"constraint {self.name!r}: clear is {shown(self.clear)}; expected a Clear"

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for those that differ in their name and numbers only."""
        return (self.kind, self.clear.key)

    def equations(self, tree: Tree) -> list[tuple[str, Constraint]]:
        """None: it holds the chain back, and is nothing to go to."""
        return []

    def limits(self, tree: Tree) -> ClearLimits:
        """What a cycle needs to keep it; kept with the mechanism."""
        self.clear.check(tree)
        return tree.memo("control", (*self.key, "limits"), lambda: ClearLimits(tree, self.clear))


class ClearLimits:
    """Compiled parts of a chain that keeps clear.

    Parameters
    ----------
    tree : Tree
        The mechanism, with shapes; without loops and quaternions.
    clear : Clear
        What is looked at; neither its margin nor the places of its obstacles count here.

    Attributes
    ----------
    distance : Kernel
        The least distance () at q (nq,), with obstacles (8 M,) where there are any.
    bounding : Kernel
        Of q, the goal, low and high (n,), the distance (1,) and the margin with the switch (2,): goals and limits (2, 3, n)
        within what is proven, up to margin and reserve, and up to the margin alone; and 1 where that holds the chain back.
    accepting : Kernel
        Of the distance before and after a step (1,): above zero where it grew.
    checking : Kernel
        Of q and the next output (n,), the distance at q (1,), and margin and switch (2,): above zero where the step is
        longer than what is proven, whatever computed it.
    """

    def __init__(self, tree: Tree, clear: Clear) -> None:
        self._shapes: CollisionShapes = collision_shapes(tree, clear.disabled, clear.seed)
        self.levers, self.reserve = levers(self._shapes), RESERVE * size_of(tree)
        self.distance = distance_kernel(self._shapes, clear.obstacles.kinds, least=True)
        n = tree.nq
        row = dict.fromkeys(("q", "goal", "low", "high"), (n,)) | {"distance": (1,), "switch": (2,)}
        parts = {"toward": (3 * n,), "away": (3 * n,), "binds": (1,)}
        self.bounding = Kernel(trace(self._bound, "chain_clear", row, parts), lanes=2)
        gained = trace(
            lambda before, after: np.array([select(after[0] - before[0], 1.0, 0.0)], dtype=object),
            "chain_clearer", {"before": (1,), "after": (1,)}, {"gained": (1,)},
        )  # fmt: skip
        self.accepting = Kernel(gained, lanes=2)
        step = {"q": (n,), "output": (n,), "distance": (1,), "switch": (2,)}
        self.checking = Kernel(trace(self._check, "chain_proof", step, {"beyond": (1,)}), lanes=2)

    def least(self, clear: Clear, q: FloatArray) -> float:
        """The least distance at q (nq,), m."""
        return float(distances_at(self._shapes, clear.obstacles, q, least=True))

    @cached_property
    def digest(self) -> str:
        """The same for the same mechanism, kinds of obstacles, and pairs."""
        return f"{self.distance.tape.digest} {self.bounding.tape.digest} {self.checking.tape.digest}"

    def _bound(self, q: Array, goal: Array, low: Array, high: Array, distance: Array, switch: Array) -> tuple[Array, ...]:
        left = distance[0] - switch[0]
        free = greatest(left - self.reserve, 0.0)
        way = self._way(q, goal)
        binds = select(way - 0.5 * free, switch[1], 0.0)
        toward = self._within(q, goal, low, high, free, way)
        away = self._within(q, goal, low, high, greatest(left, self.reserve), way)
        alone = np.concatenate([goal, low, high])
        toward = np.array([select(switch[1], *pair) for pair in zip(toward, alone, strict=True)], dtype=object)
        return toward, away, np.array([binds], dtype=object)

    def _check(self, q: Array, output: Array, distance: Array, switch: Array) -> Array:
        free = greatest(distance[0] - switch[0], self.reserve)
        return np.array([select(self._way(q, output) - free, switch[1], 0.0)], dtype=object)

    def _way(self, q: Array, there: Array) -> Any:
        """How far a point moves at most between two configurations."""
        return sum((float(lever) * abs(part) for lever, part in zip(self.levers, there - q, strict=True)), 0.0)

    def _within(self, q: Array, goal: Array, low: Array, high: Array, free: Any, way: Any) -> Array:
        """A goal on the way to it (n,), and limits (n,), (n,): no step between them is longer than what is free."""
        half, n = 0.5 * (1.0 - ROUNDING) * free, len(q)
        share = half / greatest(way, TINY)
        goals, lows, highs = [], [], []
        for here, there, least_value, most, lever in zip(q, goal, low, high, self.levers, strict=True):
            aside = half / (n * float(lever)) if lever > 0.0 else ANYWHERE
            radius = abs(there - here) * share + aside if lever > 0.0 else aside
            first, last = here - radius, here + radius
            lows.append(least(greatest(least_value, first), last))
            highs.append(greatest(least(most, last), first))
            nearer = select(half - way, there, here + (there - here) * share)
            goals.append(least(greatest(nearer, lows[-1]), highs[-1]))
        return np.array([*goals, *lows, *highs], dtype=object)


def require_clear(constraint: KeepClear, limits: ClearLimits, q: FloatArray, margin: float) -> None:
    """Refuse a configuration (nq,) to begin with that is not clear by a margin, m.

    Raises
    ------
    ArgumentError
        Naming the distance and what is kept.
    """
    distance, kept = limits.least(constraint.clear, q), margin + limits.reserve
    if not distance > kept:
        raise ArgumentError(
            f"constraint {constraint.name!r}: the least distance where the chain begins is {distance:.4g} m; expected more"
            f" than the margin of {margin:g} m and {limits.reserve:.4g} m for moving away"
        )
