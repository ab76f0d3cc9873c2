"""A Rosenbrock method of order 2 that is L-stable: implicit in springs, dampers and steady friction."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from linkwise.algorithm import refuse_loops
from linkwise.dynamics.derivatives import with_springs
from linkwise.dynamics.mass_matrix import mass_matrix
from linkwise.dynamics.recursions import friction_slope
from linkwise.kinematics.configuration import configuration_rate
from linkwise.simulation.integrators.declaration import Phase, Stage, integrator
from linkwise.simulation.plant import Plant
from linkwise.spatial.linear import factor
from linkwise.spatial.scalar import Array, blank

#: Of the two values that make the method L-stable, that with the smaller error.
GAMMA = 1.0 - 1.0 / sqrt(2.0)


@integrator("ros2", (1.0, 1.5, 0.0), (1.0, 0.5, 1.0))
def ros2(plant: Plant, now: Phase, total: Phase, begin: Phase, tau: Array, step: Any, weight: Any) -> Stage:
    """One of the two stages, in which (1 - gamma h A) k = f - 2 k_1 in the second and f in the first.

    J. G. Verwer, E. J. Spee, J. G. Blom, W. Hundsdorfer, "A second-order Rosenbrock method applied to photochemical
    dispersion problems", SIAM J. Scientific Computing 20(4), 1999, eq. 2.4: of order 2 whatever the matrix A is, so that it
    may hold no more than what is stiff. With K and D the derivatives of spring and friction efforts by q and qd, M dv = f
    becomes (M + gamma h D + gamma^2 h^2 K) k_v = M f_v - gamma h K f_q, symmetric, which one factorisation solves.
    """
    tree = plant.tree
    if tree.loops:
        refuse_loops(tree, "simulate with method 'ros2'")
    second = 1.5 - weight / step
    slope = np.diag(np.array(friction_slope(tree, begin.qd), dtype=object))
    stiffness, damping, mass = with_springs(
        tree, begin.q, begin.qd, (blank(tree.nv, tree.nv), slope, mass_matrix(tree, begin.q))
    )
    qdd = plant.accelerations(*now, tau)
    before = now.qd - begin.qd  # h k_1 in the second stage, 0 in the first
    velocity = now.qd - 2.0 * (second * begin.qd + GAMMA * before)
    reach = GAMMA * step
    solver = factor(mass + reach * (damping + reach * stiffness))
    qd_rate = solver.solve(mass @ (qdd - 2.0 * before / step) - reach * (stiffness @ velocity))
    shift = configuration_rate(tree, begin.q, qd_rate)
    q_rate = configuration_rate(tree, now.q, now.qd) - 2.0 * (now.q - begin.q) / step + reach * shift
    following = Phase(begin.q + step * q_rate, begin.qd + step * qd_rate)
    return following, Phase(total.q + weight * q_rate, total.qd + weight * qd_rate), qdd
