"""Second derivatives of inverse and forward dynamics, and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.derivatives import forward_dynamics_derivatives, inverse_dynamics_derivatives
from linkwise.dynamics.forward_dynamics import forward_dynamics
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.expr.derivative import derivative, pullback, rates
from linkwise.expr.evaluate import as_symbols, substitute
from linkwise.expr.node import symbol
from linkwise.kinematics.configuration import configuration_rate, derivative_by_vector, tangent_derivative
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array

CUBE, SQUARE = "nv nv nv", "nv nv"


@algorithm(
    inputs={"q": "nq", "qd": "nv", "qdd": "nv"},
    outputs={"dq_dq": CUBE, "dq_dqd": CUBE, "dqd_dqd": CUBE, "dM_dq": CUBE},
    open_only=True,
)
def inverse_dynamics_second_derivatives(tree: Tree, q: Array, qd: Array, qdd: Array) -> tuple[Array, Array, Array, Array]:
    """Second derivatives (nv, nv, nv) of the efforts: by q twice, by q and qd, by qd twice, and of M by q.

    Element [i, j, k] is the derivative of row i, first by quantity j of the first name, then by k of the second. With a
    floating base the small motions are in the base's own axes, and those of two of them do not commute. Exact: the first
    derivatives (see `inverse_dynamics_derivatives`), differentiated as a graph.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> tables = arm.inverse_dynamics_second_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> tables[3][0].round(3) + 0.0
    array([[ 0.   , -0.479],
           [ 0.   , -0.24 ]])
    """
    return _second_derivatives(tree, lambda at, speeds: inverse_dynamics_derivatives(tree, at, speeds, qdd), q, qd)


@algorithm(
    inputs={"q": "nq", "qd": "nv", "tau": "nv"},
    outputs={"dq_dq": CUBE, "dq_dqd": CUBE, "dqd_dqd": CUBE, "dtau_dq": CUBE},
    spread=False,
)
def forward_dynamics_second_derivatives(tree: Tree, q: Array, qd: Array, tau: Array) -> tuple[Array, Array, Array, Array]:
    """Second derivatives (nv, nv, nv) of the accelerations: by q twice, by q and qd, by qd twice, by tau and q.

    The order of the indices is that of `inverse_dynamics_second_derivatives`. Where loops are closed all coordinates are
    counted, as in `forward_dynamics_derivatives`: along motions that keep them closed, of which the second derivative of
    the coordinates counts too, with the first derivatives.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> tables = arm.forward_dynamics_second_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> [table.shape for table in tables]
    [(2, 2, 2), (2, 2, 2), (2, 2, 2), (2, 2, 2)]
    """
    return _second_derivatives(tree, lambda at, speeds: forward_dynamics_derivatives(tree, at, speeds, tau), q, qd)


@algorithm(
    inputs={"q": "nq", "qd": "nv", "qdd": "nv", "weights": "nv"},
    outputs={"wdq_dq": SQUARE, "wdq_dqd": SQUARE, "wdqd_dqd": SQUARE, "wdM_dq": SQUARE},
    open_only=True,
)
def inverse_dynamics_hessian_product(
    tree: Tree, q: Array, qd: Array, qdd: Array, weights: Array
) -> tuple[Array, Array, Array, Array]:
    """The sums (nv, nv) of weights[i] times `inverse_dynamics_second_derivatives` [i, j, k] over the rows i.

    The second derivatives of one number, the weighted sum of the efforts, as optimal control takes them with a costate
    (J. Nganga, P. M. Wensing, "Accelerating second-order differential dynamic programming for rigid-body systems", IEEE
    Robotics and Automation Letters 6(4), 2021): its gradient in reverse mode, differentiated in forward mode.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> arm, state, weights = robots.planar_2r(), ([0.0, 0.5], [1.0, 2.0], [0.0, 0.0]), np.array([1.0, -2.0])
    >>> products = arm.inverse_dynamics_hessian_product(*state, weights)
    >>> tables = arm.inverse_dynamics_second_derivatives(*state)
    >>> all(np.allclose(np.tensordot(weights, table, 1), one) for table, one in zip(tables, products, strict=True))
    True
    """
    return _hessian_product(tree, partial(inverse_dynamics, tree), (q, qd, qdd), weights)


@algorithm(
    inputs={"q": "nq", "qd": "nv", "tau": "nv", "weights": "nv"},
    outputs={"wdq_dq": SQUARE, "wdq_dqd": SQUARE, "wdqd_dqd": SQUARE, "wdtau_dq": SQUARE},
    spread=False,
)
def forward_dynamics_hessian_product(
    tree: Tree, q: Array, qd: Array, tau: Array, weights: Array
) -> tuple[Array, Array, Array, Array]:
    """The sums (nv, nv) of weights[i] times `forward_dynamics_second_derivatives` [i, j, k] over the rows i.

    As `inverse_dynamics_hessian_product`, of the accelerations.

    Examples
    --------
    >>> from linkwise import robots
    >>> products = robots.planar_2r().forward_dynamics_hessian_product([0.0, 0.5], [1.0, 2.0], [0.0, 0.0], [1.0, -2.0])
    >>> [product.shape for product in products]
    [(2, 2), (2, 2), (2, 2), (2, 2)]
    """
    return _hessian_product(tree, partial(forward_dynamics, tree), (q, qd, tau), weights)


def _second_derivatives(
    tree: Tree, first: Callable[[Array, Array], tuple[Array, Array, Array]], q: Array, qd: Array
) -> tuple[Array, Array, Array, Array]:
    """Derivatives of first derivatives by q, qd and a third quantity: q and q, q and qd, qd and qd, and the third and q."""
    return (
        tangent_derivative(tree, lambda x: first(x, qd)[0], q),
        derivative_by_vector(lambda x: first(q, x)[0], qd),
        derivative_by_vector(lambda x: first(q, x)[1], qd),
        tangent_derivative(tree, lambda x: first(x, qd)[2], q),
    )


def _hessian_product(
    tree: Tree, function: Callable[..., Array], state: tuple[Array, Array, Array], weights: Array
) -> tuple[Array, Array, Array, Array]:
    """The tables (nv, nv) of the weighted sum of a function of q, qd and a third quantity: see `_second_derivatives`."""
    x, v, u = (np.array(part, dtype=object) for part in as_symbols(*state))
    motion = [symbol(f"\1{k}") for k in range(tree.nv)]
    slopes = pullback(list(function(x, v, u)), list(weights), [*x, *v, *u])
    by_x, by_v, by_u = slopes[: tree.nq], slopes[tree.nq : tree.nq + tree.nv], slopes[tree.nq + tree.nv :]
    gradients = [*pullback(list(configuration_rate(tree, x, np.array(motion))), by_x, motion), *by_v, *by_u]
    moving = [dict(zip(x, configuration_rate(tree, x, unit), strict=True)) for unit in np.eye(tree.nv)]
    by_q = np.array([rates(gradients, seeds) for seeds in moving], dtype=object).T.reshape(3, tree.nv, tree.nv)
    numbers = dict(zip([*x, *v, *u], np.concatenate(state), strict=True))
    tables = (by_q[0], by_q[1].T, derivative(by_v, list(v)), by_q[2])
    wdq_dq, wdq_dqd, wdqd_dqd, wdthird_dq = (substitute(table, numbers) for table in tables)
    return wdq_dq, wdq_dqd, wdqd_dqd, wdthird_dq
