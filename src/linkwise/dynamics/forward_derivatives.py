"""Exact first derivatives of forward dynamics."""

from __future__ import annotations

from linkwise.algorithm import algorithm
from linkwise.dynamics.derivatives import effort_derivatives
from linkwise.dynamics.factor import factor
from linkwise.dynamics.inverse_dynamics import recursion
from linkwise.dynamics.mass_matrix import composite_mass_matrix
from linkwise.dynamics.motors import friction
from linkwise.dynamics.singular import check_inertia
from linkwise.kinematics.joint_transform import joint_transforms
from linkwise.model.reduction import moving_bodies
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank

SHAPES = {"dqdd_dq": "nv nv", "dqdd_dqd": "nv nv", "dqdd_dtau": "nv nv"}


@algorithm(inputs={"q": "nq", "qd": "nv", "tau": "nv"}, outputs=SHAPES)
def forward_dynamics_derivatives(tree: Tree, q: Array, qd: Array, tau: Array) -> tuple[Array, Array, Array]:
    """Return d qdd/dq, d qdd/dqd and d qdd/dtau = inverse(M), each (nv, nv).

    M d(qdd) = d(tau) - d(tau of the inverse dynamics) at the acceleration there is (J. Carpentier, N. Mansard, "Analytical
    derivatives of rigid body dynamics algorithms", RSS 2018), with M = L' D L.
    """
    check_inertia(tree)
    made = moving_bodies(tree).regrouped()
    joints = joint_transforms(made, q)
    solver = factor(composite_mass_matrix(tree, made, joints))
    qdd = solver.solve(tau - friction(tree, qd) - recursion(tree, made, q, qd, blank(tree.nv)))
    by_q, by_qd, _ = effort_derivatives(tree, made, joints, qd, qdd)
    for table in (by_q, by_qd):
        for j in range(tree.nv):
            table[:, j] = -solver.solve(table[:, j])
    return by_q, by_qd, solver.inverse()
