"""M = L' D L without filling in what the tree leaves empty, and solving with it.

R. Featherstone, "Efficient factorization of the joint-space inertia matrix for branched kinematic trees", Int. J. Robotics
Research 24(6), 2005. Elimination from the tips to the base keeps the zeros of M, and zeros vanish from the graph, so nothing
here needs to know the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array


@dataclass(frozen=True)
class Factor:
    """M = L' D L: the strict lower triangle of the unit L (n, n), and 1/D (n,)."""

    lower: Array
    inverse_pivots: tuple[Any, ...]

    def half_solve(self, right: Array) -> Array:
        """Y (n,) with L' y = right (n,)."""
        y = np.array(right, dtype=object)
        for k in reversed(range(len(y))):
            for i in range(k):
                y[i] = y[i] - self.lower[k, i] * y[k]
        return np.asarray(y)

    def solve(self, right: Array) -> Array:
        """X (n,) with M x = right (n,)."""
        return self.other_half_solve(self.half_solve(right))

    def other_half_solve(self, right: Array) -> Array:
        """X (n,) with D L x = right (n,)."""
        x = np.asarray(right) * np.array(self.inverse_pivots, dtype=object)
        for k in range(len(x)):
            for i in range(k):
                x[k] = x[k] - self.lower[k, i] * x[i]
        return np.asarray(x)

    def inverse(self) -> Array:
        """The inverse (n, n) of M; its lower triangle is computed, the upper one is the same."""
        n = len(self.inverse_pivots)
        result = np.empty((n, n), dtype=object)
        for j in range(n):
            result[:, j] = self.solve(np.eye(n)[j])
        for i in range(n):
            result[i, i + 1 :] = result[i + 1 :, i]
        return result


def factor(matrix: Array) -> Factor:
    """Factorise a symmetric positive definite matrix (n, n) from the last row to the first."""
    left = np.array(matrix, dtype=object)
    n = len(left)
    lower = np.zeros((n, n), dtype=object)
    inverse_pivots: list[Any] = [1.0] * n
    for k in reversed(range(n)):
        inverse_pivots[k] = 1.0 / left[k, k]
        for i in range(k):
            lower[k, i] = left[k, i] * inverse_pivots[k]
        for i in range(k):
            for j in range(i + 1):
                left[i, j] = left[i, j] - lower[k, i] * left[k, j]
    return Factor(lower, tuple(inverse_pivots))
