"""The base parameters: the fewest combinations of inertial parameters that determine all efforts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.base_parameters.regressor_columns import reduction_order
from linkwise.dynamics.base_parameters.row_reduction import CLEAR
from linkwise.dynamics.base_parameters.symbolic import base_forms, combination, combination_text
from linkwise.dynamics.closed_loops.regressor import random_rows
from linkwise.errors import ArgumentError, members, shown
from linkwise.model.parameters import LINK, MOTOR, parameter_names, parameter_values
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import FloatArray

#: Rows of the sampled regressor for each parameter; in a generic motion one would do.
SAMPLES = 4

#: Share of joints that rest in a sample: only there Coulomb friction differs from a constant load.
RESTING = 0.25

#: A column is independent if at least this part remains after projection on the columns before it.
INDEPENDENT = 1e-8


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Combinations of inertial parameters that joint efforts can identify, and that determine them.

    Attributes
    ----------
    names : tuple of str
        What each is (b,): ``"ZZ1 + YY2 + 3920.15 Jm1"``.
    values : ndarray (b,)
        What they are on this mechanism.
    columns : ndarray (b,)
        The column of the regressor that each one takes: ``regressor[..., columns] @ values`` are the efforts.
    matrix : ndarray (b, P)
        How they come from all parameters: ``values = matrix @ parameters``.
    absent : tuple of str
        The parameters that have no effect at all.

    Examples
    --------
    >>> from linkwise import robots
    >>> made = base_parameters(robots.planar_2r())
    >>> made.matrix.shape, made.columns
    ((6, 20), array([ 1,  2,  6, 11, 12, 16]))
    """

    names: tuple[str, ...]
    values: FloatArray
    columns: npt.NDArray[np.int64]
    matrix: FloatArray
    absent: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        width = max(map(len, self.names), default=0)
        rows = [f"{name:<{width}}  {value: .6g}" for name, value in zip(self.names, self.values, strict=True)]
        return "\n".join([f"{len(self.names)} base parameters of {self.matrix.shape[1]}", *rows])


def base_parameters(
    mechanism: Tree, *, seed: int = 0, resting: bool = True, q: npt.ArrayLike | None = None
) -> BaseParameters:
    """Find the base parameters of a mechanism.

    They come in closed form (see `linkwise.dynamics.base_forms`). Where joints follow others, and with loops, the
    combinations are found by the rank of the regressor on random motions, with loops on motions that keep them closed:
    columns are taken from the base to the tips, and one that depends on those before it is grouped with them
    (M. Gautier, "Numerical calculation of the base inertial parameters of robots", 1990).

    Parameters
    ----------
    mechanism : Mechanism
        Its masses and inertias may be unknown (zero); what counts is its geometry, its gravity and which joints have motors.
    seed : int
        Seed of the random motions, not negative.
    resting : bool
        Whether joints rest in some of the motions. Without rest, Coulomb friction of a joint that always feels the same load
        cannot be distinguished from that load, and is grouped with it: what a record of moving joints can show.
    q : (..., nq) array_like, optional
        With loops, closed positions on the branches that count: a parallelogram that never becomes an antiparallelogram
        needs fewer parameters than both. By default random ones on all branches.

    Raises
    ------
    ArgumentError
        For positions without loops, or at which loops are open or singular; for another seed; for symbols in the place of
        numbers, which `base_forms` takes.
    ModelError
        Where loops cannot be closed.

    Examples
    --------
    >>> from linkwise import robots
    >>> base_parameters(robots.planar_2r()).names
    ('MX1 + M1 + M2', 'MY1', 'ZZ1 - M1 - M2', 'MX2 + M2', 'MY2', 'ZZ2 - M2')
    """
    require_tree(mechanism, "base_parameters: mechanism")
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ArgumentError(f"seed is {seed!r}; expected a whole number, 0 or more")
    if not isinstance(resting, (bool, np.bool_)):
        raise ArgumentError(f"resting is {shown(resting)}; expected True or False")
    if mechanism.symbols:
        there = members(mechanism.symbols)
        raise ArgumentError(f"{mechanism.name!r} has symbols, {there}; base_forms gives its base parameters")
    if q is not None and not mechanism.loops:
        raise ArgumentError(f"base_parameters: q is {shown(q)}, but {mechanism.name!r} has no loops: expected no q=")
    if mechanism.coupled or mechanism.loops:
        return ranked(mechanism, seed, resting, q)
    result = base_forms(mechanism, resting=resting)
    return BaseParameters(result.names, result.values, result.columns, result.matrix, result.unseen)


def ranked(mechanism: Tree, seed: int = 0, resting: bool = True, q: npt.ArrayLike | None = None) -> BaseParameters:
    """The base parameters by rank; the arguments are those of `base_parameters`."""
    names = parameter_names(mechanism)
    rng, share = np.random.default_rng(seed), RESTING if resting else 0.0
    if mechanism.loops:
        table = random_rows(mechanism, rng, SAMPLES * len(names), share, q)
    else:
        table = _sampled(mechanism, rng, len(names), share)
    sizes = np.linalg.norm(table, axis=0)
    seen = sizes > INDEPENDENT * _size_of_kind(mechanism, sizes)
    kept, basis = [], np.zeros((len(table), 0))
    for least, column in [(least, column) for least in (CLEAR, INDEPENDENT) for column in reduction_order(mechanism)]:
        if seen[column] and column not in kept:
            left = table[:, column] / sizes[column]
            for _ in range(2):  # once more for the rounding
                left = left - basis @ (basis.T @ left)
            size = float(np.linalg.norm(left))
            if size > least:
                kept.append(column)
                basis = np.concatenate([basis, (left / size)[:, None]], axis=1)
    columns = np.array(sorted(kept), dtype=np.int64)
    matrix = _combinations(table, sizes, columns, seen)
    return BaseParameters(
        tuple(combination_name(row, column, names) for row, column in zip(matrix, columns.tolist(), strict=True)),
        matrix @ parameter_values(mechanism),
        columns,
        matrix,
        tuple(name for name, there in zip(names, seen, strict=True) if not there),
    )


def _sampled(mechanism: Tree, rng: np.random.Generator, count: int, share: float) -> FloatArray:
    """Rows of the regressor on random motions."""
    times = -(-SAMPLES * count // max(mechanism.nv, 1))
    q, qd, qdd = (rng.uniform(-2.0, 2.0, (times, size)) for size in (mechanism.nq, mechanism.nv, mechanism.nv))
    for at in mechanism.manifold_joints:
        q[:, at.quaternion] /= np.linalg.norm(q[:, at.quaternion], axis=1, keepdims=True)
    qd[1::2] = -qd[: len(qd) - 1 : 2]  # every joint moves in both directions, as friction differs
    qd[rng.random(qd.shape) < share] = 0.0
    return np.asarray(kernel_of(mechanism, "regressor", "numpy")(q, qd, qdd)).reshape(-1, count)


def _size_of_kind(tree: Tree, sizes: FloatArray) -> FloatArray:
    """Largest column size of each kind of parameter (P,): links are one kind, each motor is a kind of its own."""
    largest, start = np.zeros(len(sizes)), len(LINK) * len(tree.links)
    for first, last in [(0, start), *((k, k + len(MOTOR)) for k in range(start, len(sizes), len(MOTOR)))]:
        largest[first:last] = sizes[first:last].max(initial=0.0)
    return largest


def _combinations(
    table: FloatArray, sizes: FloatArray, columns: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]
) -> FloatArray:
    """Combination of all parameters for each of the columns that are kept."""
    matrix = np.zeros((len(columns), table.shape[1]))
    if len(columns):
        scale = sizes[columns]
        solved = np.linalg.lstsq(table[:, columns] / scale, table[:, seen], rcond=None)[0] / scale[:, None]
        solved[np.abs(solved) * scale[:, None] < 1e-9 * sizes[seen]] = 0.0
        near = np.round(solved)
        matrix[:, seen] = np.where((near != 0) & (np.abs(solved - near) < 1e-9), near, solved)
    return matrix


def combination_name(row: FloatArray, column: int, names: tuple[str, ...]) -> str:
    """Write a combination (P,) of parameters as a sum, beginning with the parameter whose column is kept."""
    return combination_text(combination(row, column, names))
