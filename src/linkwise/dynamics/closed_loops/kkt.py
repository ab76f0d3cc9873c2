"""The equations of motion with loops closed, factored: M and J inverse(M) J' of the independent closure equations.

A planar linkage described in space has equations that say nothing (nothing moves across its plane), and some spatial
linkages move only because their equations depend on each other wherever they are closed. Dependent equations must be left
out before anything is divided by the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ModelError, Problem
from linkwise.kinematics.loop_constraints import closure, closure_facing, closure_jacobian
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closing, random_starts, repeating
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import near_zero
from linkwise.spatial.linear import Factor, factor
from linkwise.spatial.scalar import Array, FloatArray, greatest, is_zero, root, select

#: Relative singular values of the closure Jacobian above the first are significant, below the second rounding; a
#: configuration with one between is nearly singular, and is skipped.
THERE, GONE = 1e-6, 1e-9

#: The least eigenvalue of the inertia that the loops let move, with ones on the diagonal, below which there is none.
INERT = 1e-11

#: Starts all over the joints' ranges, and as many near the zero position; steps from each.
STARTS, ITERATIONS = 24, 80

#: Distance of the latter from the zero position, rad or longest offsets. A linkage is often singular at it.
ASIDE = 0.3


@dataclass(frozen=True)
class IndependentRows:
    """Independent closure equations, with their rank and scales.

    Attributes
    ----------
    rows : tuple of int
        Equations to go by, in the order of `linkwise.kinematics.closure`. They are independent, unless the linkage is
        overconstrained by its dimensions: then which ones are may change on its way, and all that say something are here.
    rank : int
        How many are independent at a generic closed configuration.
    sizes : ndarray (K,)
        What each equation's violation is compared with: the longest offset (m), or 1 (rad).
    weights : ndarray (len(rows),) or None
        kg or kg m2 per row, of the size of the inertias: where joints move no inertia unless the loops are closed, J' W J
        is added to M, which changes nothing where they stay closed. None where M alone is regular.
    """

    rows: tuple[int, ...]
    rank: int
    sizes: FloatArray
    weights: FloatArray | None

    @property
    def dependent(self) -> tuple[int, ...]:
        """The equations that follow from `rows`, or from others of them."""
        if self.rank < len(self.rows):
            return tuple(range(len(self.sizes)))
        return tuple(k for k in range(len(self.sizes)) if k not in self.rows)


def independent_closure(tree: Tree) -> IndependentRows:
    """Return the independent closure equations, cached.

    Closed configurations are looked for from random starts. The rank there is the least one found: a linkage may also be
    assembled where it cannot move. Rows that are zero at all of them are left out.

    Raises
    ------
    ModelError
        Where no closed configuration is found, or where a joint moves no inertia although the loops are closed.
    """
    tree.require_numbers("what closes loops")
    return tree.memo("independent_constraints", "rows", lambda: _find_rows(tree))


def row_kinds(tree: Tree) -> npt.NDArray[np.bool_]:
    """Mask of closure equations (K,) that are lengths, m; the others are angles."""
    return np.array([k < 3 for loop in tree.loops for k in range(CLOSURE_ROWS[loop.kind])], dtype=bool)


def _find_rows(tree: Tree) -> IndependentRows:
    task = closing(tree)
    samples, nearest = _samples(task)
    tables = task.jacobian(samples)
    ranks = [_rank(table) for table in tables]
    known = [rank for rank in ranks if rank is not None]
    if not known:
        raise ModelError([_never_closed(task, len(samples), nearest)])
    rank = min(known)
    here = np.array([k for k, result in enumerate(ranks) if result == rank])
    lengths = np.linalg.norm(tables[here], axis=-1)
    rows = tuple(int(k) for k in np.flatnonzero(lengths.max(axis=0) > GONE * lengths.max()))
    sizes = np.where(row_kinds(tree), task.size, 1.0)
    return IndependentRows(rows, rank, sizes, _weights(tree, samples[here], rows))


def _samples(task: LoopEquations) -> tuple[FloatArray, float]:
    """Closed configurations (S, nq), and the smallest closure error."""
    wide, near = random_starts(task, STARTS, 1), np.tile(near_zero(task.mechanism), (STARTS, 1))
    aside = np.random.default_rng(2).normal(0.0, ASIDE, (STARTS, len(task.speeds)))
    near = task.moved(near, aside * task.columns)
    q, error, _ = closed_near(task, np.vstack([near, wide]), iterations=ITERATIONS)
    return q[error <= CLOSED], float(error.min())


def _rank(table: FloatArray) -> int | None:
    """The rank of a scaled closure Jacobian, None where it is not clear."""
    values = np.linalg.svd(table, compute_uv=False)
    greatest = values.max(initial=0.0)
    there, gone = int(np.sum(values > THERE * greatest)), int(np.sum(values > GONE * greatest))
    return there if there == gone else None


def _weights(tree: Tree, at: FloatArray, rows: tuple[int, ...]) -> FloatArray | None:
    """Weights of the rows if M alone may be singular; raise an error if the permitted motions have no inertia either."""
    try:
        check_inertia(tree)
    except ModelError:
        for q in at:
            jac = np.asarray(kernel_of(tree, "closure_jacobian")(q))[list(rows)]
            matrix = np.asarray(mass_matrix(tree, q), dtype=float)
            if _moves(matrix, jac):
                return np.asarray(np.trace(matrix) / len(matrix) / np.square(jac).sum(axis=1))
        raise
    return None


def _moves(matrix: FloatArray, jac: FloatArray) -> bool:
    """True if every motion that the loops allow has inertia."""
    free = np.linalg.svd(jac)[2][len(jac) :]
    reduced = free @ matrix @ free.T
    size = np.sqrt(np.maximum(np.diagonal(reduced), 0.0))
    if not len(free):
        return True
    return bool(size.min() > 0 and np.linalg.eigvalsh(reduced / np.outer(size, size)).min() > INERT)


def _never_closed(task: LoopEquations, result: int, nearest: float) -> Problem:
    """Problem of a mechanism without a closed configuration."""
    tree = task.mechanism
    loops = [loop.name or repr(loop) for loop in tree.loops]
    if result:
        return Problem(f"mechanism {tree.name!r}", "loops", loops, "loops that close elsewhere than at singular positions")
    near = f"the best of many tries left them open by {nearest:.2g} of the longest offset, or rad{repeating(task, nearest)}"
    return Problem(f"mechanism {tree.name!r}", "loops", loops, f"loops that can be closed ({near})")


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


#: A row is dependent if its pivot falls to this part by elimination: the square of the sine of an angle of 1e-5. Ten of
#: sixteen digits are then lost.
SINGULAR = 1e-10


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
        """J (r, nv) of the independent equations."""
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


def closed_system(tree: Tree, q: Array, matrix: Array | None = None) -> ClosedSystem:
    """Factor the equations at q, with the mass matrix or another symmetric ``matrix`` (nv, nv) in its place.

    M = L' D L and A = Y inverse(D) Y' with L' Y = J' (R. Featherstone, *Rigid Body Dynamics Algorithms*, 2008, section
    8.3). A is factored without pivots where its rows are independent but at singular positions; else see `deficient`.

    Raises
    ------
    ModelError
        See `independent_closure`.
    """
    closing = independent_closure(tree)
    jac = closure_jacobian(tree, q)
    rows, matrix = jac[list(closing.rows)], mass_matrix(tree, q) if matrix is None else matrix
    if closing.weights is not None:
        matrix = _stiffened(matrix, rows, closing.weights)
    mass = factor(matrix)
    weight = np.array(mass.inverse_pivots, dtype=object)
    halves = np.array([mass.half_solve(row) for row in rows], dtype=object).reshape(len(rows), tree.nv)
    square = gram(halves, weight)
    loops, flag = _loops(square, closing)
    if closing.weights is not None:
        flag = regular(matrix, mass, flag)
    return ClosedSystem(closing, jac, mass, halves, loops, root(flag) if len(rows) else 1.0)


def _loops(square: Array, closing: IndependentRows) -> tuple[Factor | Deficient, Any]:
    """Factors of A, and 1 if its rank is as required, else -1."""
    if closing.rank == len(closing.rows):
        result = factor(square)
        return result, regular(square, result, 1.0)
    pivoted = deficient(square, closing.rank, closing.sizes[list(closing.rows)])
    return pivoted, select(pivoted.least - SINGULAR, 1.0, -1.0)


def gram(halves: Array, weight: Array) -> Array:
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


def regular(matrix: Array, result: Factor, flag: Any, singular: float = SINGULAR) -> Any:
    """1 where the flag is and every pivot is more than a part ``singular`` of its diagonal element, else -1."""
    for k, inverse in enumerate(result.inverse_pivots):
        ratio = matrix[k, k] * inverse  # from 1 on, less only where the pivot has changed its sign
        flag = select((ratio - 0.5) * (1.0 / singular - ratio), flag, -1.0)
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
