"""Chain with clearance: no output permits contact of shapes with each other or with obstacles."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from linkwise.clearance.clearance import measured
from linkwise.clearance.kernels import distance_kernel
from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import lever_growth, pair_levers, sliding_limits
from linkwise.clearance.segments import smallest
from linkwise.control.constraints import ChainConstraint
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.model.tree import TOOL, Tree
from linkwise.model.validation import Checker
from linkwise.solve.constraints import Clear, Constraint
from linkwise.solve.lengths import size_of
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, select

#: Additional clearance beyond the margin, relative to the mechanism's size: a stopped chain can then move away.
RESERVE = 1e-3

#: Steps stay below the proven bound by this share, for rounding.
ROUNDING = 1e-12

#: Motions shorter than this are not reduced; and the free range of a joint without shapes.
TINY, ANYWHERE = 1e-200, 1e9


@dataclass(frozen=True, eq=False)
class KeepClear(ChainConstraint):
    """All pairs of shapes keep a margin, in all outputs of a chain and on the straight lines between them.

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
    Between two configurations the distance of a pair changes by no more than sum_i l_i |dq_i|: l_i is the lever of a
    coordinate for that pair, 0 for joints that are not between its shapes (`linkwise.clearance.reach`). From a configuration
    at which a pair has the distance d a cycle therefore takes no step with sum_i l_i |dq_i| > d - margin, for no pair and
    whatever the length of the cycle; half of it towards the goal, half for braking in other directions. A joint goes on
    at its speed where the pairs that it moves are far apart, whatever holds the others back. What remains beyond the margin
    is 1e-3 of the mechanism's size, so that a step away from contact is possible; it is taken only where the least distance
    that is measured at its end is greater. Each step is checked once more when it is computed, and not taken where it is
    longer: then the chain stands. Coordinates that slide stay within the mechanism's own limits, which ports widen only
    where it is switched off; switched on while one is outside, levers are longer by what it is outside until it is back.

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
    inputs: ClassVar[tuple[str, ...]] = ("enabled", "margin")
    name: str = "clear"
    link: str = TOOL
    clear: Clear = field(kw_only=True)

    def _check(self, check: Checker) -> None:
        super()._check(check)
        if not isinstance(self.clear, Clear):
            check.report("clear", self.clear, "a Clear")

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for those that differ in their name and numbers only."""
        return (self.kind, self.clear.key)

    @property
    def content(self) -> tuple[Any, ...]:
        """Contents for a file; equal for equal constraints."""
        clear = self.clear
        shapes = tuple((shape.kind, shape.size, shape.origin.tobytes(), shape.colour) for shape in clear.obstacles.shapes)
        return (self.name, self.enabled, *clear.key, clear.margin, clear.obstacles.names, shapes)

    def equations(self, tree: Tree) -> list[tuple[str, Constraint]]:
        """Return no equations: the constraint only limits the motion."""
        return []

    def limits(self, tree: Tree) -> ClearLimits:
        """Data of the constraint for a cycle; cached in the mechanism."""
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
    levers : ndarray (G, n)
        Of each group of pairs by how much its distance changes at most with each coordinate, slides being within limits.
    distance, least : Kernel
        The distances of all groups (G,), and the least of them (), at q (nq,), with obstacles (8 M,) where there are any.
    bounding : Kernel
        Of q, the goal, low and high (n,), the distances (G,) and the margin with the switch (2,): goals and limits (2, 3, n)
        within what is proven, up to margin and reserve, and up to the margin alone; and 1 where that holds the chain back.
    accepting : Kernel
        Of the distances before and after a step (G,): above zero where the least grew.
    checking : Kernel
        Of q and the next output (n,), the distances at q (G,), and margin and switch (2,): above zero where the step is
        longer than what is proven, whatever computed it.
    """

    def __init__(self, tree: Tree, clear: Clear) -> None:
        shapes, kinds = collision_shapes(tree, clear.disabled, clear.seed), clear.obstacles.kinds
        self.levers, self.reserve = pair_levers(shapes, bool(kinds)), RESERVE * size_of(tree)
        self.sliding, self._growth = sliding_limits(tree), lever_growth(shapes, bool(kinds))
        self.distance, self.least = (distance_kernel(shapes, kinds, least=flag, grouped=not flag) for flag in (False, True))
        self.groups, n = len(self.levers), tree.nq
        row = dict.fromkeys(("q", "goal", "low", "high"), (n,)) | {"distance": (self.groups,), "switch": (2,)}
        parts = {"toward": (3 * n,), "away": (3 * n,), "binds": (1,)}
        self.bounding = Kernel(trace(self._bound, "chain_clear", row, parts), lanes=2)
        gained = trace(
            lambda before, after: np.array([select(smallest([*after]) - smallest([*before]), 1.0, 0.0)], dtype=object),
            "chain_clearer", {"before": (self.groups,), "after": (self.groups,)}, {"gained": (1,)},
        )  # fmt: skip
        self.accepting = Kernel(gained, lanes=2)
        step = {"q": (n,), "output": (n,), "distance": (self.groups,), "switch": (2,)}
        self.checking = Kernel(trace(self._check, "chain_proof", step, {"beyond": (1,)}), lanes=2)

    @cached_property
    def digest(self) -> str:
        """The same for the same mechanism, kinds of obstacles, and pairs."""
        return f"{self.distance.tape.digest} {self.bounding.tape.digest} {self.checking.tape.digest}"

    def _bound(self, q: Array, goal: Array, low: Array, high: Array, distance: Array, switch: Array) -> tuple[Array, ...]:
        left, levers = distance - switch[0], self._levers(q)
        ways = self._distance_changes(q, goal, levers)
        free = np.array([greatest(part - self.reserve, 0.0) for part in left], dtype=object)
        binds = select(-smallest([0.5 * most - change for most, change in zip(free, ways, strict=True)]), switch[1], 0.0)
        alone, (least_slides, most_slides) = np.concatenate([goal, low, high]), self.sliding
        low = np.array(
            [greatest(*pair) if np.isfinite(pair[1]) else pair[0] for pair in zip(low, least_slides, strict=True)]
        )
        high = np.array([least(*pair) if np.isfinite(pair[1]) else pair[0] for pair in zip(high, most_slides, strict=True)])
        toward = self._within(q, goal, low, high, free, ways, levers)
        away = self._within(q, goal, low, high, self._reserved(left), ways, levers)
        toward = np.array([select(switch[1], *pair) for pair in zip(toward, alone, strict=True)], dtype=object)
        return toward, away, np.array([binds], dtype=object)

    def _check(self, q: Array, output: Array, distance: Array, switch: Array) -> Array:
        left = self._reserved(distance - switch[0]) - self._distance_changes(q, output, self._levers(q, output))
        return np.array([select(-smallest([*left]), switch[1], 0.0)], dtype=object)

    def _reserved(self, left: Array) -> Array:
        return np.array([greatest(part, self.reserve) for part in left], dtype=object)

    def _levers(self, *at: Array) -> Array:
        """Levers (G, n) that hold on the straight line between configurations, with slides outside their limits too."""
        excess = np.zeros(len(at[0]), dtype=object)
        for k, (low, high) in enumerate(zip(*self.sliding, strict=True)):
            for q in at if np.isfinite(high) else ():
                excess[k] = greatest(greatest(excess[k], low - q[k]), q[k] - high)
        turns, slides = (part.astype(object) for part in self._growth)
        return np.asarray(self.levers + turns * (slides @ excess)[:, None])

    def _distance_changes(self, q: Array, there: Array, levers: Array) -> Array:
        """Upper bound of the change of each group's distance (G,) between two configurations."""
        return np.asarray(levers @ np.array([abs(part) for part in there - q], dtype=object))

    def _within(self, q: Array, goal: Array, low: Array, high: Array, free: Array, ways: Array, levers: Array) -> Array:
        """Goal towards the given one, and limits, each (n,): no step between them exceeds the free distances (G,)."""
        halves = 0.5 * (1.0 - ROUNDING) * free
        shares = [half / greatest(change, TINY) for half, change in zip(halves, ways, strict=True)]
        turns, slides = self._growth
        moving = np.asarray((self.levers > 0.0) | ((turns > 0.0) & np.any(slides > 0.0, axis=1, keepdims=True)))
        counts = moving.sum(axis=1)
        goals, lows, highs = [], [], []
        for i, (here, there, least_value, most) in enumerate(zip(q, goal, low, high, strict=True)):
            moved = [int(k) for k in np.flatnonzero(moving[:, i])]
            share = smallest([shares[k] for k in moved]) if moved else 1.0
            asides = [halves[k] / greatest(int(counts[k]) * levers[k, i], TINY) for k in moved]
            aside = least(smallest(asides), ANYWHERE) if moved else ANYWHERE
            radius = abs(there - here) * share + aside
            first, last = here - radius, here + radius
            lows.append(least(greatest(least_value, first), last))
            highs.append(greatest(least(most, last), first))
            nearer = select(1.0 - share, here + (there - here) * share, there)
            goals.append(least(greatest(nearer, lows[-1]), highs[-1]))
        return np.array([*goals, *lows, *highs], dtype=object)


def require_clear(constraint: KeepClear, tree: Tree, q: FloatArray, margin: float) -> None:
    """Refuse a configuration (nq,) to begin with that is not clear by a margin, m.

    Raises
    ------
    ArgumentError
        Naming the distance, its pair and what is kept; where the mechanism has no levers, or no pair of shapes.
    """
    clear = constraint.clear
    clear.check(tree)
    shapes = collision_shapes(tree, clear.disabled, clear.seed)
    pair_levers(shapes, bool(clear.obstacles.names))
    result, reserve = measured(shapes, clear.obstacles, q), RESERVE * size_of(tree)
    if not result.least > margin + reserve:
        raise ArgumentError(
            f"constraint {constraint.name!r}: the least distance where the chain begins is {result.least:.4g} m,"
            f" {' and '.join(result.nearest)}; expected more than the margin of {margin:g} m and {reserve:.4g} m for moving"
            " away"
        )
