"""A Rosenbrock method of order 2 that is L-stable: implicit in springs, dampers and steady friction."""

from __future__ import annotations

from math import sqrt
from typing import Any

from linkwise.dynamics.closed_loops.kkt import ClosedSystem, closed_system
from linkwise.dynamics.derivatives import with_springs
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.dynamics.recursions import friction
from linkwise.kinematics.configuration import configuration_rate, derivative_by_vector
from linkwise.kinematics.loop_constraints import closure, closure_jacobian
from linkwise.model.tree import Tree
from linkwise.simulation.integrators.declaration import Phase, Stage, integrator
from linkwise.simulation.plant import Plant
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, blank

#: Steps to closed loops with the factors of the time step: enough to leave nothing to `project_to_loops`, whose projection
#: would strain springs of 1e8 N m/rad and more.
CLOSING = 4

#: The one of the two values for an L-stable method that has the smaller error.
GAMMA = 1.0 - 1.0 / sqrt(2.0)


@integrator("ros2", (1.0, 1.5, 0.0), (1.0, 0.5, 1.0))
def ros2(plant: Plant, now: Phase, total: Phase, begin: Phase, tau: Array, step: Any, weight: Any) -> Stage:
    """One of two stages, with (1 - gamma h A) k = f - 2 k_1 in the second and f in the first.

    J. G. Verwer, E. J. Spee, J. G. Blom, W. Hundsdorfer, "A second-order Rosenbrock method applied to photochemical
    dispersion problems", SIAM J. Scientific Computing 20(4), 1999, eq. 2.4: of order 2 whatever the matrix A is, so that it
    may hold no more than what is stiff. With K and D the derivatives of spring and friction efforts by q and qd, M dv = f
    becomes (M + gamma h D + gamma^2 h^2 K) k_v = M f_v - gamma h K f_q, symmetric, which one factorisation solves. Where
    loops are closed, their forces J' f stand beside it and J k_v = J f_v: the derivatives of the accelerations are those
    with J held, which leaves out how it turns under the forces of the loops.
    """
    tree = plant.tree
    second = 1.5 - weight / step
    slope = derivative_by_vector(lambda qd: friction(tree, qd), begin.qd)
    stiffness, damping, mass = with_springs(
        tree, begin.q, begin.qd, (blank(tree.nv, tree.nv), slope, mass_matrix(tree, begin.q))
    )
    qdd = plant.accelerations(*now, tau)
    before = now.qd - begin.qd  # h k_1 in the second stage, 0 in the first
    velocity = now.qd - 2.0 * (second * begin.qd + GAMMA * before)
    reach = GAMMA * step
    matrix, rise = mass + reach * (damping + reach * stiffness), qdd - 2.0 * before / step
    left = mass @ rise - reach * (stiffness @ velocity)
    system = closed_system(tree, begin.q, matrix) if tree.loops else None
    qd_rate = system.solve(left, -(system.rows @ rise))[0] if system else factor(matrix).solve(left)
    shift = configuration_rate(tree, begin.q, qd_rate)
    q_rate = configuration_rate(tree, now.q, now.qd) - 2.0 * (now.q - begin.q) / step + reach * shift
    following = Phase(begin.q + step * q_rate, begin.qd + step * qd_rate)
    reached = Phase(total.q + weight * q_rate, total.qd + weight * qd_rate)
    return following, _closed(tree, system, reached, second) if system and plant.projects else reached, qdd


def _closed(tree: Tree, system: ClosedSystem, state: Phase, share: Any) -> Phase:
    """Share, 0 or 1, of the projection to the nearest state with loops closed, in the metric of the step's matrix.

    By the mass matrix, which `project_to_loops` goes by, a stiff spring would take part of what the loops are open.
    """
    rows, (q, qd) = list(system.closing.rows), state
    for _ in range(CLOSING):
        q = q + share * configuration_rate(tree, q, system.shift(closure(tree, q)[rows]))
    jac = closure_jacobian(tree, q)[rows]
    for _ in range(CLOSING):
        qd = qd + share * system.shift(jac @ qd)
    return Phase(q, qd)
