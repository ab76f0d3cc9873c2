"""Starts of the solver all over the joints' ranges, a few in each cycle, for a target that no start near by leads to.

They are the points of an additive recurrence with low discrepancy: multiples of the powers of 1/phi, phi^(n+1) = phi + 1,
modulo 1 (H. Weyl, "Ueber die Gleichverteilung von Zahlen mod. Eins", Math. Annalen 77, 1916; the powers of phi as in the
sequence of M. Roberts, 2018). They follow from a state that goes on from cycle to cycle, so a replay meets the same ones.
"""

from __future__ import annotations

from math import pi
from typing import Any

import numpy as np

from linkwise.control.cycle.rows import Problem
from linkwise.spatial.scalar import Array, FloatArray, greatest, least, select

STARTS = 4
"""Starts in a cycle."""

UNLIMITED = 1e6
"""A joint limit beyond this, rad or m, is none."""


class GlobalSearch:
    """Where the solver starts in the cycles in which it searches.

    Parameters
    ----------
    problem : Problem
        What is solved.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.reach = np.array([problem.length if slides else pi for slides in problem.tree.slides])
        self.steps = _steps(problem.tree.n)

    def __call__(self, p: Array, here: Array, state: Array) -> tuple[Array, Array]:
        """The starts of a cycle (STARTS, n), and the next state (n,); p are the parameters of the problem.

        A joint without limits is tried up to half a turn, or the size of the mechanism, from where it is.
        """
        n = self.problem.tree.n
        low, high = p[:n], p[n : 2 * n]
        first = [select(a + UNLIMITED, a, least(b, x) - r) for a, b, x, r in zip(low, high, here, self.reach, strict=True)]
        last = [select(UNLIMITED - b, b, greatest(a, x) + r) for a, b, x, r in zip(low, high, here, self.reach, strict=True)]
        rows: list[Any] = []
        for _ in range(STARTS):
            moved = state + self.steps
            state = np.array([select(x - 1.0, x - 1.0, x) for x in moved], dtype=object)
            rows.append([a + (b - a) * x for a, b, x in zip(first, last, state, strict=True)])
        return np.array(rows, dtype=object), state


def _steps(n: int) -> FloatArray:
    """The step (n,) of the recurrence in each coordinate."""
    phi = 2.0
    for _ in range(64):
        phi = (1.0 + phi) ** (1.0 / (n + 1))
    return np.asarray((1.0 / phi) ** np.arange(1, n + 1) % 1.0)
