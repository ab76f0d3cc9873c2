"""The equations of motion with loops closed, factored: M, and J inverse(M) J' of the closure equations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.deficient import Deficient, deficient
from linkwise.dynamics.closed_loops.rows import IndependentRows, independent_closure
from linkwise.dynamics.factor import Factor, factor
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.kinematics.closure import closure_jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, root, select

SINGULAR = 1e-10
"""What is left of a pivot, as a part of what it was before the others were taken off, where rows count as dependent: the
square of the sine of an angle of 1e-5. The numbers have then lost ten of their sixteen digits."""


@dataclass(frozen=True)
class ClosedSystem:
    """[M -J'; J 0] at one configuration, ready to be solved.

    Attributes
    ----------
    closing : IndependentRows
        Which equations it goes by.
    jacobian : ndarray (K, nv)
        J of all equations, see `linkwise.kinematics.closure.closure_jacobian`.
    mass : Factor
        M, or M + J' W J where M alone may be singular.
    halves : ndarray (r, nv)
        Y = inverse(L') J' of the equations to go by, one a row, with M = L' D L.
    loops : Factor or Deficient
        J inverse(M) J' = Y inverse(D) Y' (r, r).
    valid : scalar
        1; NaN where fewer equations are independent than elsewhere: at a singular position.
    """

    closing: IndependentRows
    jacobian: Array
    mass: Factor
    halves: Array
    loops: Factor | Deficient
    valid: Any

    @property
    def rows(self) -> Array:
        """J (r, nv) of the equations to go by."""
        return self.jacobian[list(self.closing.rows)]

    def solve(self, left: Array, relative: Array) -> tuple[Array, Array, Array]:
        """The accelerations (nv,) under efforts (nv,) with J qdd = -relative (r,), and the forces f in M qdd = left + J' f.

        Third, J inverse(M) left + relative (r,): how the loops' ends would accelerate if the loops were open.
        """
        z = self.mass.half_solve(left)
        weighted = z * np.array(self.mass.inverse_pivots, dtype=object)
        free = np.array([row @ weighted for row in self.halves], dtype=object) + relative
        forces = -self.loops.solve(free)
        qdd = self.mass.other_half_solve(z + self.halves.T @ forces)
        if self.closing.weights is not None:
            forces = forces + self.closing.weights * relative
        return qdd * self.valid, forces * self.valid, free

    def shift(self, gap: Array) -> Array:
        """The least motion (nv,), measured by M, that changes J times it by -gap (r,): -inverse(M) J' inverse(A) gap."""
        return np.asarray(self.mass.other_half_solve(-(self.halves.T @ self.loops.solve(gap))) * self.valid)


def closed_system(tree: Tree, q: Array) -> ClosedSystem:
    """Factor the equations at q.

    M = L' D L and A = Y inverse(D) Y' with L' Y = J' (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section
    8.3). A is factored without pivots where its rows are independent but at singular positions; else see `deficient`.

    Raises
    ------
    ModelError
        See `independent_closure`.
    """
    closing = independent_closure(tree)
    jac = closure_jacobian(tree, q)
    rows, matrix = jac[list(closing.rows)], mass_matrix(tree, q)
    if closing.weights is not None:
        matrix = _stiffened(matrix, rows, closing.weights)
    mass = factor(matrix)
    weight = np.array(mass.inverse_pivots, dtype=object)
    halves = np.array([mass.half_solve(row) for row in rows], dtype=object).reshape(len(rows), tree.nv)
    square = _square(halves, weight)
    loops, flag = _loops(square, closing)
    if closing.weights is not None:
        flag = _regular(matrix, mass, flag)
    return ClosedSystem(closing, jac, mass, halves, loops, root(flag) if len(rows) else 1.0)


def _loops(square: Array, closing: IndependentRows) -> tuple[Factor | Deficient, Any]:
    """The factors of A, and 1 where its rank is what it must be, else -1."""
    if closing.rank == len(closing.rows):
        made = factor(square)
        return made, _regular(square, made, 1.0)
    pivoted = deficient(square, closing.rank, closing.sizes[list(closing.rows)])
    return pivoted, select(pivoted.least - SINGULAR, 1.0, -1.0)


def _square(halves: Array, weight: Array) -> Array:
    """Y W Y', symmetric."""
    count = len(halves)
    made = np.empty((count, count), dtype=object)
    for i in range(count):
        weighted = halves[i] * weight
        for j in range(i + 1):
            made[i, j] = made[j, i] = weighted @ halves[j]
    return made


def _stiffened(matrix: Array, rows: Array, weights: Array) -> Array:
    """M + J' W J, symmetric."""
    made = np.array(matrix, dtype=object)
    for i in range(len(made)):
        weighted = rows[:, i] * weights
        for j in range(i + 1):
            made[i, j] = made[j, i] = matrix[i, j] + weighted @ rows[:, j]
    return made


def _regular(matrix: Array, made: Factor, flag: Any) -> Any:
    """1 where the flag is and every pivot is a part of its diagonal element that is worth something, else -1."""
    for k, inverse in enumerate(made.inverse_pivots):
        ratio = matrix[k, k] * inverse  # from 1 on, less only where the pivot has changed its sign
        flag = select((ratio - 0.5) * (1.0 / SINGULAR - ratio), flag, -1.0)
    return flag
