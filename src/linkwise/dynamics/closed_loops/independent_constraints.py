"""Which closure equations are independent: found once for a mechanism, at closed configurations.

A planar linkage described in space has equations that say nothing (nothing moves across its plane), and some spatial
linkages move only because their equations depend on each other wherever they are closed. Dependent equations must be left
out before anything is divided by the rest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm.compile import kernel_of
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ModelError, Problem
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closing, random_starts, repeating
from linkwise.model.loop import CLOSURE_ROWS
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import near_zero
from linkwise.spatial.scalar import FloatArray

THERE, GONE = 1e-6, 1e-9
"""Singular values of the closure Jacobian, as parts of the greatest one, above the first are there, below the second are
rounding; a configuration with one between is near a singular one, and says nothing of the others."""

INERT = 1e-11
"""The least eigenvalue of the inertia that the loops let move, with ones on the diagonal, below which there is none."""

STARTS, ITERATIONS = 24, 80
"""Starts all over the joints' ranges, and as many near the zero position; steps from each."""

ASIDE = 0.3
"""How far from the zero position the latter are, rad or longest offsets. At it itself a linkage may well be singular."""


@dataclass(frozen=True)
class IndependentRows:
    """The closure equations to go by.

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
    """Return the equations to go by; the same every time.

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
    """Which closure equations (K,) are lengths, m; the others are angles."""
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
    """Closed configurations (S, nq), and how far the nearest to one is open."""
    wide, near = random_starts(task, STARTS, 1), np.tile(near_zero(task.mechanism), (STARTS, 1))
    aside = np.random.default_rng(2).normal(0.0, ASIDE, (STARTS, task.mechanism.n))
    near[:, task.base :] += aside * task.columns
    q, error, _ = closed_near(task, np.vstack([near, wide]), iterations=ITERATIONS)
    return q[error <= CLOSED], float(error.min())


def _rank(table: FloatArray) -> int | None:
    """The rank of a scaled closure Jacobian, None where it is not clear."""
    values = np.linalg.svd(table, compute_uv=False)
    greatest = values.max(initial=0.0)
    there, gone = int(np.sum(values > THERE * greatest)), int(np.sum(values > GONE * greatest))
    return there if there == gone else None


def _weights(tree: Tree, at: FloatArray, rows: tuple[int, ...]) -> FloatArray | None:
    """The weights of the rows where M alone may be singular; raises where what the loops let move has no inertia either."""
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
    """Whether every motion that the loops allow moves some inertia."""
    free = np.linalg.svd(jac)[2][len(jac) :]
    reduced = free @ matrix @ free.T
    size = np.sqrt(np.maximum(np.diagonal(reduced), 0.0))
    if not len(free):
        return True
    return bool(size.min() > 0 and np.linalg.eigvalsh(reduced / np.outer(size, size)).min() > INERT)


def _never_closed(task: LoopEquations, result: int, nearest: float) -> Problem:
    """What to say where there is no closed configuration to go by."""
    tree = task.mechanism
    loops = [loop.name or repr(loop) for loop in tree.loops]
    if result:
        return Problem(f"mechanism {tree.name!r}", "loops", loops, "loops that close elsewhere than at singular positions")
    near = f"the best of many tries left them open by {nearest:.2g} of the longest offset, or rad{repeating(task, nearest)}"
    return Problem(f"mechanism {tree.name!r}", "loops", loops, f"loops that can be closed ({near})")
