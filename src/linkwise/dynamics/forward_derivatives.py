"""Exact first derivatives of forward dynamics."""

from __future__ import annotations

from linkwise.algorithm import algorithm
from linkwise.dynamics.derivatives import inverse_dynamics_derivatives
from linkwise.dynamics.factor import factor
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.dynamics.singular import check_inertia
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank

SHAPES = {"dqdd_dq": "nv nv", "dqdd_dqd": "nv nv", "dqdd_dtau": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "tau": "nv"}, outputs=SHAPES, spread=False, open_only=True)
def forward_dynamics_derivatives(tree: Tree, q: Array, qd: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Return d qdd/dq, d qdd/dqd and d qdd/dtau = inverse(M), each (nv, nv).

    M d(qdd) = d(tau) - d(tau of the inverse dynamics) at the acceleration there is (J. Carpentier, N. Mansard, "Analytical
    derivatives of rigid body dynamics algorithms", RSS 2018), with M = L' D L.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> dq, dqd, dtau = arm.forward_dynamics_derivatives([0.0, 0.5], [1.0, 2.0], [0.0, 0.0])
    >>> (dtau @ arm.mass_matrix([0.0, 0.5])).round(9) + 0.0
    array([[1., 0.],
           [0., 1.]])
    """
    check_inertia(tree)
    solver = factor(mass_matrix(tree, q))
    qdd = solver.solve(tau - inverse_dynamics(tree, q, qd, blank(tree.nv)))
    by_q, by_qd, _ = inverse_dynamics_derivatives(tree, q, qd, qdd)
    for table in (by_q, by_qd):
        for j in range(tree.nv):
            table[:, j] = -solver.solve(table[:, j])
    return by_q, by_qd, solver.inverse()
