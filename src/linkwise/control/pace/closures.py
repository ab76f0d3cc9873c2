"""Loops that stay closed on the way to the goal: candidates are brought onto them, and directions along them.

A candidate is corrected by Newton steps of least norm. Where the present output leaves loops open, a candidate at lambda
leaves open 1 - lambda of it, so that loops close on the way to a goal at which they are closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.dynamics.factor import factor
from linkwise.kinematics.closure import half_sine, loop_seen
from linkwise.model.loop import CLOSURE_ROWS, Loop, LoopKind
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.solve.steps import LEAST_DAMPING, size_of
from linkwise.spatial.scalar import Array, blank, select
from linkwise.spatial.transform import inverse

if TYPE_CHECKING:
    from linkwise.control.pace.row import Row
    from linkwise.control.pace.search import Search

CLOSED = 2e-12
"""Loops count as closed up to here: rad, and lengths over the size of the mechanism."""

MEETING = 1e-9
"""Ends of links nearer than this to each other, in units of the mechanism's size, are held together."""

STEPS = 8.0
"""The most Newton steps of a candidate."""

APART = 2e-11
"""A candidate that Newton steps leave further apart is none."""

ROUNDING = 1e-10
"""What is left open at the present output below this is rounding, and is not kept."""


Pair = tuple[int | str, int | str, LoopKind]
"""Two links, or a link and ``"base"``, whose ends meet as a ``"point"``, or turned alike too, ``"full"``."""


@dataclass(frozen=True)
class Closed:
    """What became of a candidate.

    Attributes
    ----------
    busy : scalar
        Above zero where a Newton step is to follow.
    onward : ndarray (n,)
        Its outcome.
    tangent : ndarray (n,)
        The direction along the loops.
    open : scalar
        Above zero where the loops are open.
    """

    busy: Any
    onward: Array
    tangent: Array
    open: Any


class Closures:
    """The loops of a mechanism, and those that hold two of its points together.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    pairs : sequence of Pair
        Ends of links that meet, each with a switch of its own.
    """

    def __init__(self, tree: Tree, pairs: Sequence[Pair]) -> None:
        self.tree, self.own = tree, len(tree.loops)
        self.loops = [*tree.loops, *(_meeting(tree, *pair) for pair in pairs)]
        self.rows = sum(CLOSURE_ROWS[loop.kind] for loop in self.loops)
        self.size = size_of(tree)

    def __bool__(self) -> bool:
        return bool(self.loops)

    def residual(self, q: Array, switches: Array) -> Array:
        """How far the loops are open (K,): rad, and lengths over the size of the mechanism."""
        return self._equations(q, switches)[0] if self.loops else blank(0)

    def held(self, q: Array, switches: Array) -> Array:
        """Which pairs are held together at q (n,): those that shall be and are; the others close on the way to the goal."""
        made: list[Any] = []
        for switch, loop in zip(switches, self.loops[self.own :], strict=True):
            gap, rotation, _ = loop_seen(self.tree, loop, q)
            apart = squared(gap / self.size) + (squared(half_sine(rotation)) if loop.kind == "full" else 0.0)
            made.append(switch * select(apart - MEETING**2, 0.0, 1.0))
        return np.array(made, dtype=object)

    def along(self, q: Array, switches: Array) -> Callable[[Array], Array]:
        """What brings a joint velocity (n,) at q (n,) into the directions that the loops leave, by least squares."""
        rates = self._equations(q, switches)[1]
        solve = factor(rates @ rates.T + LEAST_DAMPING * np.eye(self.rows)).solve
        return lambda w: w - rates.T @ solve(rates @ w)

    def close(self, here: Array, row: Row, search: Search, chord: Array) -> Closed:
        """A Newton step of a candidate, or the direction (n,) along the loops there."""
        if not self.loops:
            return Closed(0.0, here, chord, 0.0)
        residual, rates = self._equations(here, row.closures)
        solve = factor(rates @ rates.T + LEAST_DAMPING * np.eye(self.rows)).solve
        kept = select(squared(row.residual) - ROUNDING**2, select(search.trial, 1.0 - search.trial, 1.0), 0.0)
        left = residual - row.residual * kept
        off = squared(left)
        free = select(1.0 - search.trial, select(search.trial + 1.0, 1.0, 0.0), 0.0)  # the goal stands, and the present
        more = select(STEPS - 0.5 - search.newton, 1.0, 0.0)
        busy = select(off - CLOSED**2, free * more, 0.0)
        tangent = chord - rates.T @ solve(rates @ chord)
        return Closed(busy, here - rates.T @ solve(left), tangent, select(off - APART**2, free, 0.0))

    def _equations(self, q: Array, switches: Array) -> tuple[Array, Array]:
        residuals, rates = [], []
        for k, loop in enumerate(self.loops):
            gap, rotation, jac = loop_seen(self.tree, loop, q)
            scale: Any = 1.0 if k < self.own else select(switches[k - self.own], 1.0, 0.0)
            residuals.append(gap * (scale / self.size))
            rates.append(jac[:3] * (scale / self.size))
            if loop.kind == "hinge":
                residuals.append(np.array([-rotation[1, 2], rotation[0, 2]]))
                rates.append(jac[3:5])
            elif loop.kind == "full":
                residuals.append(half_sine(rotation) * scale)
                rates.append(jac[3:] * scale)
        return np.concatenate(residuals), np.concatenate(rates)


def _meeting(tree: Tree, first: int | str, second: int | str, kind: LoopKind) -> Loop:
    """A loop that holds the ends of two links together: their places, or all of them."""
    ends = []
    for link in (first, second):
        if link == "base":  # (the start of the chain: the world of the mechanism)
            ends.append(("base", inverse(np.asarray(tree.base))))
            continue
        index = tree.tool_index if link == -1 else tree.link_index(link)
        ends.append((tree.link_names[index], tree.tool if link == -1 else np.eye(4)))
    (one, at_one), (two, at_two) = ends
    return Loop(kind, one, two, at_one, at_two)
