"""Second derivatives of the efforts that a motion takes with loops closed, by the driven coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics.closed_loops.inverse_dynamics import closed_rates
from linkwise.dynamics.closed_loops.nullspace import DrivenMotions, cut_open, driven_motions
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.errors import ArgumentError, members
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.configuration import derivative_by_vector, tangent_derivative
from linkwise.kinematics.loop_constraints import closure_bias, closure_jacobian
from linkwise.loops.loop_solver import LoopEquations, closed_samples, closing
from linkwise.loops.step_kernels import LinkageEquations
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.linear import independent_columns, rank_of
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.validation import vectors

#: By which share the mass matrix of the equations that were traced may differ from the one of all equations.
AGREED = 1e-6

Tables = tuple[FloatArray, FloatArray, FloatArray, FloatArray]


def closed_inverse_dynamics_second_derivatives(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
) -> Tables:
    """Second derivatives (..., m, m, m) of the efforts of the driven coordinates u, with loops closed, exact.

    By u and u, u and ud, ud and ud, and of the reduced mass matrix by u: element [..., i, j, k] is that of row i, first by
    j, then by k. All other coordinates follow: with G as in `reduced_mass_matrix` and n the inverse dynamics of the tree,
    the efforts are G' n (A. Jain, *Robot and Multibody Dynamics*, 2011, chapter 11), whose graph is differentiated along G.

    Parameters
    ----------
    mechanism : Mechanism
        With loops.
    q, qd, qdd : (..., nq), (..., nv), (..., nv) array_like
        A motion that keeps them closed.
    driven : sequence of int or str, optional
        As many coordinates as there are degrees of freedom; by default those with motors.

    Raises
    ------
    ArgumentError
        As `closed_inverse_dynamics_derivatives`.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> tables = bars.inverse_dynamics_second_derivatives(bars.neutral, still, still)
    >>> [table.shape for table in tables], bool(np.allclose(tables[2], tables[3]))
    ([(1, 1, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)], True)
    """
    return _tables(mechanism, "inverse_dynamics_second_derivatives", (q, qd, qdd), driven, None)


def closed_inverse_dynamics_hessian_product(
    mechanism: Tree,
    q: npt.ArrayLike,
    qd: npt.ArrayLike,
    qdd: npt.ArrayLike,
    weights: npt.ArrayLike,
    driven: Sequence[int | str] | int | str | None = None,
) -> Tables:
    """The sums (..., m, m) of weights[..., i] times `closed_inverse_dynamics_second_derivatives` [..., i, j, k] over i.

    Parameters
    ----------
    weights : (..., m) array_like
        One for each driven coordinate.
    mechanism, q, qd, qdd, driven
        As for `closed_inverse_dynamics_second_derivatives`.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> bars, still = robots.four_bar(), np.zeros(3)
    >>> products = bars.inverse_dynamics_hessian_product(bars.neutral, still, still, [2.0])
    >>> tables = bars.inverse_dynamics_second_derivatives(bars.neutral, still, still)
    >>> all(np.allclose(2.0 * table[0], product) for table, product in zip(tables, products, strict=True))
    True
    """
    return _tables(mechanism, "inverse_dynamics_hessian_product", (q, qd, qdd), driven, weights)


def _tables(
    mechanism: Tree,
    name: str,
    state: tuple[npt.ArrayLike, npt.ArrayLike, npt.ArrayLike],
    driven: Sequence[int | str] | int | str | None,
    weights: npt.ArrayLike | None,
) -> Tables:
    motions = driven_motions(mechanism, state[0], driven, name)
    speeds, rises = closed_rates(mechanism, motions.freedom, state[0], name, qd=state[1], qdd=state[2])
    factors = [] if weights is None else [vectors(f"{name}: weights", weights, len(motions.at))]
    key = (tuple(motions.at), weights is None)
    kernel = mechanism.memo("closed second derivatives", key, lambda: _kernel(mechanism, motions.at, not factors))
    *tables, mass = kernel(state[0], speeds[..., motions.at], rises[..., motions.at], *factors)
    _check(mechanism, motions, state[0], mass, name)
    return tuple(tables)


def _kernel(mechanism: Tree, at: list[int], whole: bool) -> Kernel:
    """The four tables and the reduced mass matrix, compiled; ``whole``, or with weights summed over the rows."""
    equations = driven_equations(mechanism, at)
    m, tree = len(at), cut_open(mechanism)

    def tables(q: Array, ud: Array, udd: Array, weights: Array | None = None) -> tuple[Array, ...]:
        near = _NearMotion(equations, q)

        def seen(rows: Array) -> Array:
            return rows if weights is None else np.asarray(weights @ rows)

        def mass(x: Array) -> Array:
            led = near.driven_map(x)
            return np.asarray(led.T @ mass_matrix(tree, x) @ led)

        def efforts(x: Array, speeds: Array) -> Array:
            return seen(near.driven_map(x).T @ inverse_dynamics(tree, x, *near.rates(x, speeds, udd)))

        def along(function: Any, x: Array) -> Array:
            return np.asarray(tangent_derivative(tree, function, x) @ near.driven_map(x))

        def by_u(x: Array, speeds: Array) -> Array:
            return along(lambda y: efforts(y, speeds), x)

        def by_ud(x: Array, speeds: Array) -> Array:
            return derivative_by_vector(lambda y: efforts(x, y), speeds)

        return (
            along(lambda x: by_u(x, ud), q),
            derivative_by_vector(lambda x: by_u(q, x), ud),
            derivative_by_vector(lambda x: by_ud(q, x), ud),
            along(lambda x: seen(mass(x)), q),
            mass(q),
        )

    shape = (m, m, m) if whole else (m, m)
    names = ("du_du", "du_dud", "dud_dud", "dM_du")
    outputs = {**dict.fromkeys(names, shape), "mass": (m, m)}
    inputs = {"q": (mechanism.nq,), "ud": (m,), "udd": (m,), **({} if whole else {"weights": (m,)})}
    return Kernel(trace(tables, "closed_inverse_dynamics_second_derivatives", inputs, outputs))


class _AllEquations(LoopEquations):
    """Closure equations by all velocities, including those of bodies outside the loops."""

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """All joints with quaternions."""
        return self.mechanism.manifold_joints


def driven_equations(mechanism: Tree, at: Sequence[int]) -> LinkageEquations:
    """Equations of the passive velocities by the driven ones at some indices, as many as degrees of freedom.

    Unlike those of a `Linkage`, also speeds of joints with quaternions and of a floating base.
    """
    task, passive = _AllEquations(mechanism, closing(mechanism).size), [k for k in range(mechanism.nv) if k not in at]
    tables = task.jacobian(closed_samples(closing(mechanism)))[..., passive]
    able = [table for table in tables if rank_of(np.linalg.svd(table, compute_uv=False)) == len(passive)]
    if not able:
        names = members(mechanism.velocity_names[k] for k in at)
        raise ArgumentError(f"{names} cannot drive {mechanism.name!r}; expected as many speeds as degrees of freedom")
    rows = independent_columns(np.swapaxes(np.array(able), -1, -2), len(passive))
    return LinkageEquations(task, tuple(at), tuple(passive), rows)


def driven_map(equations: LinkageEquations, q: Array) -> Array:
    """G (nv, m), with qd = G ud."""
    jac, still = closure_jacobian(equations.tree, q), blank(len(equations.scale))
    return np.stack([equations.completed(jac, still, unit) for unit in np.eye(len(equations.driven))], axis=1)


class _NearMotion:
    """Velocities and accelerations of all coordinates near a configuration, with their derivatives there up to the second.

    Two steps of Newton's method from the solution at q: their error is of the third order in the deviation from q. Nothing
    is differentiated through an elimination, which divides by pivots that are zero up to rounding.
    """

    def __init__(self, equations: LinkageEquations, q: Array) -> None:
        self.equations, self.q, self.jac = equations, q, closure_jacobian(equations.tree, q)
        self.rows, self.passive = list(equations.rows), equations.task.speeds[list(equations.passive)]
        still = blank(len(equations.driven))
        columns = [equations.completed(self.jac, -np.eye(len(equations.scale))[row], still) for row in self.rows]
        self.inverse = np.array(columns, dtype=object).reshape(len(columns), -1)[:, self.passive].T
        self.map = driven_map(equations, q)

    def driven_map(self, x: Array) -> Array:
        """G (nv, m) at x (nq,), with qd = G ud."""
        return self._solved(closure_jacobian(self.equations.tree, x), self.map, 0.0)

    def rates(self, x: Array, ud: Array, udd: Array) -> tuple[Array, Array]:
        """Velocities and accelerations (nv,) of all coordinates at x, by those of the driven ones."""
        tree = self.equations.tree
        here = self.equations.completed(self.jac, closure_bias(tree, self.q, np.asarray(self.map @ ud)), udd)
        qd = np.asarray(self.driven_map(x) @ ud)
        return qd, self._solved(closure_jacobian(tree, x), here, closure_bias(tree, x, qd)[self.rows])

    def _solved(self, jac: Array, start: Array, bias: Any) -> Array:
        """Solve jac y + bias = 0 for the passive rows of y."""
        result = np.array(start, dtype=object)
        for _ in range(2):
            result[self.passive] = result[self.passive] - self.inverse @ (jac[self.rows] @ result + bias)
        return result


def _check(mechanism: Tree, motions: DrivenMotions, q: npt.ArrayLike, mass: FloatArray, name: str) -> None:
    """Raise `ArgumentError` where the closure equations chosen at other positions do not settle the motion here."""
    wanted = np.swapaxes(motions.map, -1, -2) @ kernel_of(mechanism, "mass_matrix")(q) @ motions.map
    if not np.all(np.abs(mass - wanted) <= AGREED * np.abs(wanted).max(axis=(-1, -2), keepdims=True)):
        raise ArgumentError(
            f"{name}: q is too near a position at which closure equations of {mechanism.name!r} repeat each other that are"
            " independent elsewhere; expected one at which they do not"
        )
