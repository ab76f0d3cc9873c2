"""Whether a mechanism has the inertia that forward dynamics divides by."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ModelError, Problem
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

TRIALS = 3
"""Random configurations; at all of them the inertia of a joint that moves something is positive."""

LEAST = 1e-11
"""Below this part of its entry of M a pivot is rounding."""


@lru_cache(maxsize=64)
def check_inertia(tree: Tree) -> None:
    """Raise `ModelError` naming the first coordinate, counted from the tips, that can move without moving any inertia."""
    rng = np.random.default_rng(1)
    for _ in range(TRIALS):
        matrix = np.asarray(mass_matrix(tree, rng.uniform(-1.0, 1.0, tree.nq)), dtype=float)
        for k in reversed(range(len(matrix))):
            pivot = matrix[k, k]
            whole = float(np.abs(matrix[k]).max())
            least = LEAST * max(whole, _rounding(matrix))
            if not pivot > least:
                raise ModelError([_lacking(tree, k, 0.0 if abs(pivot) <= least else float(pivot))])
            matrix[:k, :k] -= np.outer(matrix[:k, k], matrix[k, :k]) / pivot


def _rounding(matrix: FloatArray) -> float:
    """The size of rounding in a matrix."""
    return float(np.abs(matrix).max()) * 1e-16


def _lacking(tree: Tree, speed: int, pivot: float) -> Problem:
    joint = speed - (tree.nv - tree.n)
    if joint < 0:
        expected = "a mass and moments of inertia about all axes, on a link that is fixed to the base or beyond its joints"
        return Problem("floating base", "mass", pivot, expected)
    expected = "a mass, an inertia or a motor's inertia that this joint moves, for else its acceleration is not defined"
    return Problem(f"joint {tree.names[joint]!r}", "inertia", pivot, expected)
