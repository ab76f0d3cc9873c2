"""The equations of motion with loops closed, factored: M, and J inverse(M) J' of the closure equations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from linkwise.dynamics.closed_loops.independent_constraints import IndependentRows, independent_closure
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.kinematics.loop_constraints import closure, closure_facing, closure_jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.linear import Factor, factor
from linkwise.spatial.scalar import Array, FloatArray, greatest, is_zero, root, select


@dataclass(frozen=True)
class Deficient:
    """A = U U', with its pseudo-inverse U (U'U)^-2 U', rows and columns brought to one unit by sizes.

    Attributes
    ----------
    half : ndarray (K, r)
        U.
    square : Factor
        Of U'U.
    sizes : ndarray (K,)
        What rows and columns of A were divided by.
    least : scalar
        The last pivot, as a part of the first.
    """

    half: Array
    square: Factor
    sizes: Array
    least: Any

    def solve(self, right: Array) -> Array:
        """The shortest x (K,), counted in its units, of those for which A x is nearest to right (K,)."""
        inner = self.square.solve(self.square.solve(self.half.T @ (right / self.sizes)))
        return np.asarray((self.half @ inner) / self.sizes)


def deficient(matrix: Array, rank: int, sizes: Array) -> Deficient:
    """Factorise a positive semidefinite matrix (K, K) of this rank.

    Cholesky's factors with diagonal pivots (G. H. Golub, C. F. Van Loan, *Matrix Computations*, section 4.2.8): as many
    columns as the rank, each from the greatest element that is left on the diagonal. What is left then is rounding, or, a
    little beside positions where rows depend on each other, of second order, and is dropped.
    """
    count = len(matrix)
    left = np.array(matrix, dtype=object) / sizes[:, None] / sizes
    columns, pivots = [], []
    for _ in range(rank):
        largest = reduce(greatest, [left[k, k] for k in range(count)])
        column, taken = left[:, count - 1], left[count - 1, count - 1]
        for k in reversed(range(count - 1)):
            here = left[k, k] - largest + 1e-14 * largest  # the first of those that are as great
            column = np.array([select(here, a, b) for a, b in zip(left[:, k], column, strict=True)], dtype=object)
            taken = select(here, left[k, k], taken)
        column = column * (1.0 / root(taken))
        pivots.append(taken)
        columns.append(column)
        for i in range(count):
            for j in range(i + 1):
                left[i, j] = left[j, i] = left[i, j] - column[i] * column[j]
    half = np.array(columns, dtype=object).T
    square = np.empty((rank, rank), dtype=object)
    for i in range(rank):
        for j in range(i + 1):
            square[i, j] = square[j, i] = half[:, i] @ half[:, j]
    return Deficient(half, factor(square), sizes, pivots[-1] / pivots[0])


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
        J of all equations, see `linkwise.kinematics.loop_constraints.closure_jacobian`.
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
        result = factor(square)
        return result, _regular(square, result, 1.0)
    pivoted = deficient(square, closing.rank, closing.sizes[list(closing.rows)])
    return pivoted, select(pivoted.least - SINGULAR, 1.0, -1.0)


def _square(halves: Array, weight: Array) -> Array:
    """Y W Y', symmetric."""
    count = len(halves)
    result = np.empty((count, count), dtype=object)
    for i in range(count):
        weighted = halves[i] * weight
        for j in range(i + 1):
            result[i, j] = result[j, i] = weighted @ halves[j]
    return result


def _stiffened(matrix: Array, rows: Array, weights: Array) -> Array:
    """M + J' W J, symmetric."""
    result = np.array(matrix, dtype=object)
    for i in range(len(result)):
        weighted = rows[:, i] * weights
        for j in range(i + 1):
            result[i, j] = result[j, i] = matrix[i, j] + weighted @ rows[:, j]
    return result


def _regular(matrix: Array, result: Factor, flag: Any) -> Any:
    """1 where the flag is and every pivot is a part of its diagonal element that is worth something, else -1."""
    for k, inverse in enumerate(result.inverse_pivots):
        ratio = matrix[k, k] * inverse  # from 1 on, less only where the pivot has changed its sign
        flag = select((ratio - 0.5) * (1.0 / SINGULAR - ratio), flag, -1.0)
    return flag


def within(tree: Tree, q: Array, most: FloatArray) -> Any:
    """1 where no closure equation is violated by more than its share of ``most`` (K,), and hinges have one sense; else -1.

    Where that is NaN, it is -1 too.
    """
    flag: Any = 1.0
    for gap, size in zip(closure(tree, q), most, strict=True):
        if not is_zero(gap):
            flag = select(size * size - gap * gap, flag, -1.0)
    for loop, facing in zip(tree.loops, closure_facing(tree, q), strict=True):
        if loop.kind == "hinge":
            flag = select(facing, flag, -1.0)
    return flag
