"""Loops that stay closed on the way to the goal: candidates are brought onto them, and directions along them.

A candidate is corrected by Newton steps of least norm. Where the present output leaves loops open, a candidate at lambda
leaves open 1 - lambda of it, so that loops close on the way to a goal at which they are closed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.kinematics.loop_constraints import half_sine, loop_seen
from linkwise.model.loop import CLOSURE_ROWS, Loop, LoopKind
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import squared
from linkwise.solve.constraints.loop_closure import loop_equations
from linkwise.solve.lengths import size_of
from linkwise.spatial.linear.ldl import factor
from linkwise.spatial.scalar import Array, blank, select
from linkwise.spatial.transform import inverse

CLOSED = 2e-12
"""Loops count as closed up to here: rad, and lengths over the size of the mechanism."""

MEETING = 1e-9
"""Ends of links nearer than this to each other, in units of the mechanism's size, are held together."""

DAMPING = 1e-13
"""Of a Newton step: enough for a factorisation where loops repeat each other."""

STEPS = 8.0
"""The most Newton steps of a candidate."""

APART = 2e-11
"""A candidate that Newton steps leave further apart is none."""

ROUNDING = 1e-10
"""What is left open at the present output below this is rounding, and is not kept."""


Pair = tuple[int | str, int | str, LoopKind]
"""Two links, or a link and ``"base"``, whose ends meet as a ``"point"``, or turned alike too, ``"full"``."""


@dataclass(frozen=True)
class ClosedCandidate:
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


class LoopProjection:
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
        self.loops = [*tree.loops, *(meeting_loop(tree, *pair) for pair in pairs)]
        self.rows = sum(CLOSURE_ROWS[loop.kind] for loop in self.loops)
        self.size = size_of(tree)

    def __bool__(self) -> bool:
        return bool(self.loops)

    def residual(self, q: Array, switches: Array) -> Array:
        """How far the loops are open (K,): rad, and lengths over the size of the mechanism."""
        return self._equations(q, switches)[0] if self.loops else blank(0)

    def held(self, q: Array, switches: Array) -> Array:
        """Which pairs are held together at q (n,): those that shall be and are; the others close on the way to the goal."""
        switched: list[Any] = []
        for switch, loop in zip(switches, self.loops[self.own :], strict=True):
            gap, rotation, _ = loop_seen(self.tree, loop, q)
            apart = squared(gap / self.size) + (squared(half_sine(rotation)) if loop.kind == "full" else 0.0)
            switched.append(switch * select(apart - MEETING**2, 0.0, 1.0))
        return np.array(switched, dtype=object)

    def along(self, q: Array, switches: Array) -> Callable[[Array], Array]:
        """What brings a joint velocity (n,) at q (n,) into the directions that the loops leave, by least squares."""
        rates = self._equations(q, switches)[1]
        solve = factor(rates @ rates.T + DAMPING * np.eye(self.rows)).solve
        return lambda w: w - rates.T @ solve(rates @ w)

    def close(self, here: Array, before: Array, switches: Array, trial: Any, newton: Any, chord: Array) -> ClosedCandidate:
        """A Newton step of a candidate, or the direction (n,) along the loops there.

        Parameters
        ----------
        here : ndarray (n,)
            The candidate.
        before : ndarray (K,)
            How far the present output leaves the loops open.
        switches : ndarray (c,)
            Which pairs are held.
        trial, newton : scalar
            The candidate's lambda, and how many Newton steps it has had.
        chord : ndarray (n,)
            The chord velocity that leads to it.
        """
        if not self.loops:
            return ClosedCandidate(0.0, here, chord, 0.0)
        residual, rates = self._equations(here, switches)
        solve = factor(rates @ rates.T + DAMPING * np.eye(self.rows)).solve
        kept = select(squared(before) - ROUNDING**2, select(trial, 1.0 - trial, 1.0), 0.0)
        left = residual - before * kept
        off = squared(left)
        free = select(1.0 - trial, select(trial + 1.0, 1.0, 0.0), 0.0)  # the goal stands, and the present
        more = select(STEPS - 0.5 - newton, 1.0, 0.0)
        busy = select(off - CLOSED**2, free * more, 0.0)
        tangent = chord - rates.T @ solve(rates @ chord)
        return ClosedCandidate(busy, here - rates.T @ solve(left), tangent, select(off - APART**2, free, 0.0))

    def _equations(self, q: Array, switches: Array) -> tuple[Array, Array]:
        residuals, rates = [], []
        for k, loop in enumerate(self.loops):
            scale: Any = 1.0 if k < self.own else select(switches[k - self.own], 1.0, 0.0)
            part = loop_equations(self.tree, loop, q, sines=True)
            weights = np.array([scale if angle else scale / self.size for angle in part.angles])
            residuals.append(-part.residual * weights)
            rates.append(part.rates * weights[:, None])
        return np.concatenate(residuals), np.concatenate(rates)


def meeting_loop(tree: Tree, first: int | str, second: int | str, kind: LoopKind) -> Loop:
    """A loop that holds the ends of two links together: their places, or all of them."""
    ends = []
    for link in (first, second):
        if link == "base":  # (the start of the chain: the world of the mechanism)
            ends.append(("base", inverse(np.asarray(tree.base))))
            continue
        index, frame = tree.frame(link)
        ends.append((tree.link_names[index], frame))
    (first_name, at_one), (two, at_two) = ends
    return Loop(kind, first_name, two, at_one, at_two)
