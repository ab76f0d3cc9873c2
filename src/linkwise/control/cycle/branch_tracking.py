"""Keeping the branch of motion of a chain with loops where branches meet, over scalars.

At a change point of a linkage (all bars of a parallelogram in one line, say) the equations lose rank and two branches of
motion meet: the answer next to the last one may be on either. A mechanism that moves goes on in its direction. So the
direction of the motion is remembered as a secant, and where the solver's answer turns off it by much, the answer that
continues the motion is looked for beside it (continuation along a secant: E. L. Allgower, K. Georg, *Numerical Continuation
Methods*, 1990, chapters 2 and 8).
"""

from __future__ import annotations

import numpy as np

from linkwise.control.cycle.constraint_equations import ChainProblem
from linkwise.solve.constraints.constraint import Configuration, squared
from linkwise.solve.levenberg_marquardt import by_rows
from linkwise.spatial.scalar import Array, greatest, root, select
from linkwise.spatial.vector import chosen, inner

SECANT = 1e-3
"""A secant is taken over at least so much, rad or units of size: at a change point joint values are known to the root of the
precision only, which must be small beside it."""

TURNED = 1e-2
"""The square of the sine of the angle by which an answer must turn off the secant to be doubted: six degrees. A branch that
is left in the middle of a step turns off by little at first."""

STEP = 1e-8
"""Answers nearer than this to the last one, rad or units of size, have no direction."""

CONTINUED = 0.1
"""The share of the residual at the last answer, and of the secant beside what the equations settle, that is left at most
where the secant continues the motion."""

NEAR = 3.0
"""The joint values that came in may be so many steps from the last answer; else they say which branch it is."""

TINY = 1e-100
"""Added to a square before its root is divided by."""

NULL_DAMPING = 1e-10
"""Squares of singular values far below this count as zero where it is asked what the equations settle."""


class BranchTracker:
    """The decisions for one kind of chain.

    Parameters
    ----------
    problem : ChainProblem
        The rows that are solved.
    """

    def __init__(self, problem: ChainProblem) -> None:
        self.problem = problem
        self.scale = np.array([1.0 / problem.length if slides else 1.0 for slides in problem.tree.slides])

    @property
    def exists(self) -> bool:
        """Whether there are loops at all, in which branches can meet."""
        return any(group.kind in {"closed", "meet"} for group in self.problem.groups)

    def turned(self, last: Array, secant: Array, row: Array) -> Array:
        """Above zero (1,) where an answer, a row of the solver, is none, or turns off the secant (n,)."""
        n = self.problem.tree.n
        step, along = (row[:n] - last) * self.scale, secant * self.scale
        size, length, both = squared(step), squared(along), inner(step, along)
        off = select(size * length * (1.0 - TURNED) - both * both, 1.0, 0.0) * select(size - STEP**2, 1.0, 0.0)
        return np.array([select(length, select(row[-1], off, 1.0), 0.0)], dtype=object)

    def continued(self, p: Array, begin: Array, last: Array, secant: Array) -> tuple[Array, Array]:
        """Where the motion along the secant leads (n,), and above zero (1,) where it does go on there.

        The length of the step is that which leaves the least residual, to first order. The step must satisfy the equations
        about, and the equations must settle it: what they leave free is not continued, or a redundant chain would drift.
        """
        residual, rates = self._rows(last, p)
        change = rates @ secant
        step = secant * (inner(change, residual) / (squared(change) + 1e-200))
        there = last + step
        left, _ = self._rows(there, p)
        length = squared(step * self.scale)
        beside = last + step * greatest(1.0, SECANT / root(length + TINY))  # (well off the change point)
        _, rates = self._rows(beside, p)
        free = (step - by_rows(rates, rates @ step, NULL_DAMPING)) * self.scale
        good = select(CONTINUED**2 * squared(residual) - squared(left), 1.0, 0.0)
        good = good * select(CONTINUED**2 * length - squared(free), 1.0, 0.0)
        good = good * select(NEAR**2 * length - squared((begin - last) * self.scale), 1.0, 0.0)
        return there, np.array([good], dtype=object)

    def _rows(self, q: Array, p: Array) -> tuple[Array, Array]:
        return self.problem.stacked(self.problem.parts(Configuration(self.problem.tree, q), p))

    def nearer(self, there: Array, first: Array, other: Array) -> Array:
        """Above zero (1,) where another answer is one, and the first is none, or further from there (n,)."""
        n = self.problem.tree.n
        gap, new = (squared((row[:n] - there) * self.scale) for row in (first, other))
        return np.array([select(other[-1], select(first[-1], gap - new, 1.0), 0.0)], dtype=object)

    def remember(self, goal: Array, anchor: Array, secant: Array) -> tuple[Array, Array]:
        """The point (n,) from which the secant (n,) is taken next, and the secant: that to the goal if it is long enough."""
        shift = goal - anchor
        far = select(squared(shift * self.scale) - SECANT**2, 1.0, 0.0)
        return chosen(far, goal, anchor), chosen(far, shift, secant)
