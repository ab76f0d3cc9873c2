"""Forward dynamics: how a mechanism accelerates under given efforts."""

from __future__ import annotations

from linkwise.algorithm.declaration import algorithm
from linkwise.dynamics.articulated_body import articulated_acceleration
from linkwise.dynamics.closed_loops.forward_dynamics import closed_motion
from linkwise.dynamics.inertia_check import check_inertia
from linkwise.dynamics.inverse_dynamics import inverse_dynamics, inverse_dynamics_external, recursion
from linkwise.dynamics.mass_matrix import composite_mass_matrix, mass_matrix
from linkwise.dynamics.motor_terms import friction
from linkwise.dynamics.optimise.nonrotating_frames import carried_axes
from linkwise.expr.count import operation_count
from linkwise.model.body import Bodies
from linkwise.model.body_tree import moving_bodies
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.linear.ldl import Factor, factor
from linkwise.spatial.scalar import Array, blank

STATE = {"q": "nq", "qd": "nv", "tau": "nv"}


@algorithm(inputs=STATE, outputs={"qdd": "nv"}, spread=False)
def forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array) -> Array:
    """Return qdd (nv,) under the efforts tau of the motors, gravity and friction, by the cheaper of two recursions.

    Short chains: M from composite bodies, M = L' D L, and M qdd = tau - bias - friction solved (M. W. Walker, D. E. Orin,
    1982; R. Featherstone, 2005). Long ones: articulated bodies (R. Featherstone, 1983). Which takes fewer operations on this
    mechanism is counted. Closed loops: M and the closure equations together (see
    `linkwise.dynamics.closed_loops.forward_dynamics.closed_motion`).

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> tau = arm.inverse_dynamics([0.0, 0.5], [1.0, 2.0], [0.3, 0.4])
    >>> arm.forward_dynamics([0.0, 0.5], [1.0, 2.0], tau).round(9)
    array([0.3, 0.4])
    """
    return cheapest(tree, q, qd, tau)


@algorithm(inputs={**STATE, "external": "6"}, outputs={"qdd": "nv"}, spread=False)
def forward_dynamics_external(tree: Tree, q: Array, qd: Array, tau: Array, external: Array) -> Array:
    """Return qdd (nv,) with a force and a moment (6,) acting on the tool at its origin, in tool axes."""
    return cheapest(tree, q, qd, tau, external)


def cheapest(tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None) -> Array:
    """Return qdd (nv,) by the recursion that takes fewer operations, or with the loops closed."""
    if tree.loops:
        return closed_motion(tree, q, qd, tau, external)[0]
    check_inertia(tree)
    if tree.coupled:
        return _coupled_acceleration(tree, q, qd, tau, external)
    bodies = moving_bodies(tree).regrouped()
    left = tau - friction(tree, qd)
    results = [composite_acceleration(tree, bodies, q, qd, left, external)]
    if not any_nonzero([rotor.inertia for rotor in bodies.rotors]):
        results.append(articulated_acceleration(tree, bodies, q, qd, left, external))
    return min(results, key=lambda qdd: sum(operation_count(list(qdd)).values()))


def _coupled_acceleration(tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None) -> Array:
    """Return qdd (nv,) where joints follow others: from M and the efforts gathered at the coordinates."""
    state = (q, qd, blank(tree.nv))
    held = inverse_dynamics(tree, *state) if external is None else inverse_dynamics_external(tree, *state, external)
    return factor(mass_matrix(tree, q)).solve(tau - held)


def composite_acceleration(
    tree: Tree, bodies: Bodies, q: Array, qd: Array, left: Array, external: Array | None = None
) -> Array:
    """Return qdd (nv,) from the mass matrix and the efforts that friction leaves."""
    bias = recursion(tree, bodies, q, qd, blank(tree.nv), external)
    return factored_mass_matrix(tree, bodies, q).solve(left - bias)


def factored_mass_matrix(tree: Tree, bodies: Bodies, q: Array) -> Factor:
    """M = L' D L at q."""
    return factor(composite_mass_matrix(tree, *carried_axes(bodies, q, tips=False)))
