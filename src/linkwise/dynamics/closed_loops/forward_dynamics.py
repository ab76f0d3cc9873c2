"""Forward dynamics with closed loops: accelerations, and the forces that close the loops."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.algorithm import algorithm
from linkwise.dynamics.closed_loops.kkt import ClosedSystem, closed_system, within
from linkwise.dynamics.external import Wrenches
from linkwise.dynamics.inverse_dynamics import inverse_dynamics
from linkwise.kinematics.loop_constraints import closure, closure_bias
from linkwise.loops.loop_solver import NEARLY, REST
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, blank, root, select

STATE = {"q": "nq", "qd": "nv", "tau": "nv"}


@algorithm(inputs=STATE, outputs={"qdd": "nv", "forces": "K"}, spread=False, needs_loops=True)
def closed_forward_dynamics(tree: Tree, q: Array, qd: Array, tau: Array) -> tuple[Array, Array]:
    """Return `forward_dynamics` (nv,) and `constraint_forces` (K,), which are found together.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> qdd, forces = bars.kernel("closed_forward_dynamics")(bars.neutral, [0.0] * 3, [0.0] * 3)
    >>> bool(abs(bars.kernel("closure_jacobian")(bars.neutral) @ qdd).max() < 1e-9), forces.shape
    (True, (5,))
    """
    return closed_motion(tree, q, qd, tau)


@algorithm(inputs=STATE, outputs={"forces": "K"}, spread=False, needs_loops=True)
def constraint_forces(
    tree: Tree, q: Array, qd: Array, tau: Array, external: Array | None = None, *, wrenches: Wrenches = None
) -> Array:
    """Force and moment (K,) that the second link of each loop receives from the first, in F1's axes, about its origin.

    The multipliers f in M qdd + bias + friction = tau + J' f, J qdd = -dJ/dt qd (J. L. Lagrange, *Mécanique analytique*,
    1788), row by row as `closure` counts them: three forces (N), then for a full closure three moments (N m), for a hinge
    those about x and y. Where equations depend on others, not all of these are determined by the laws of rigid bodies: of
    those that are possible it is the least, a force counted as the moment that it has at the longest offset; so nothing
    acts across the plane of a planar linkage. NaN where `forward_dynamics` is. Wrenches are as for `inverse_dynamics`.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> bars.constraint_forces(bars.neutral, [0.0] * 3, [0.0] * 3).shape
    (5,)
    """
    return closed_motion(tree, q, qd, tau, external, wrenches)[1]


def closed_motion(
    tree: Tree,
    q: Array,
    qd: Array,
    tau: Array,
    external: Array | None = None,
    wrenches: Wrenches = None,
    *,
    checked: bool = True,
    baumgarte: float = 0.0,
) -> tuple[Array, Array]:
    """Return qdd (nv,), with the loops closed, and the forces (K,) that close them.

    Both are NaN at a singular position, where closure equations become dependent that are independent elsewhere; and,
    ``checked``, in a state that does not close the loops: q not to `NEARLY`, qd not to it, or qdd not to it in an equation
    that was left out. A stage of an integrator, which may stand beside the closed states, goes unchecked.

    With the rate ``baumgarte`` a (1/s) open loops close as a critically damped oscillator does: J qdd + dJ/dt qd = -2 a J qd
    - a^2 e, e the `closure` (J. Baumgarte, "Stabilization of constraints and integrals of motion in dynamical systems",
    Computer Methods in Applied Mechanics and Engineering 1, 1972, p. 1-16, with both of its factors equal).
    """
    system, qdd, forces, sound = solved_motion(tree, q, qd, tau, external, wrenches, checked=checked, baumgarte=baumgarte)
    rows = list(system.closing.rows)
    forces[rows] = forces[rows] * sound
    return qdd * sound, forces


def solved_motion(
    tree: Tree,
    q: Array,
    qd: Array,
    tau: Array,
    external: Array | None = None,
    wrenches: Wrenches = None,
    *,
    checked: bool = True,
    baumgarte: float = 0.0,
) -> tuple[ClosedSystem, Array, Array, Any]:
    """Return the system of `closed_motion`, its solution, and a factor: 1, or NaN in an invalid state."""
    system = closed_system(tree, q)
    bias = closure_bias(tree, q, qd)
    if baumgarte:
        bias = bias + 2.0 * baumgarte * (system.jacobian @ qd) + baumgarte**2 * closure(tree, q)
    left = tau - held_efforts(tree.replace(loops=()), q, qd, external, wrenches)
    qdd, result, free = system.solve(left, bias[list(system.closing.rows)])
    forces = blank(len(bias))
    forces[list(system.closing.rows)] = result
    return system, qdd, forces, root(_closed(tree, system, q, qd, qdd, bias, free)) if checked else 1.0


def held_efforts(tree: Tree, q: Array, qd: Array, external: Array | None = None, wrenches: Wrenches = None) -> Array:
    """Bias and friction (nv,) of a tree, minus external wrenches: its inverse dynamics without accelerations."""
    return np.asarray(inverse_dynamics(tree, q, qd, blank(tree.nv), external, wrenches=wrenches))


def _closed(tree: Tree, system: ClosedSystem, q: Array, qd: Array, qdd: Array, bias: Array, free: Array) -> Any:
    """1 in a state and with accelerations that keep the loops closed, else -1.

    What is left of accelerations is compared with ``free`` too, those of the loops' ends if the loops were open.
    """
    closing = system.closing
    flag = within(tree, q, NEARLY * closing.sizes)
    jac, everything = system.jacobian / closing.sizes[:, None], list(range(len(bias)))
    flag = _small(jac * qd, everything, 0.0, flag)
    terms = np.concatenate([jac * qdd, (bias / closing.sizes)[:, None]], axis=1)
    scaled = free / closing.sizes[list(closing.rows)]
    return _small(terms, list(closing.dependent), np.square(scaled).sum(), flag)


def _small(terms: Array, rows: list[int], more: Any, flag: Any) -> Any:
    """1 where the flag is and the sums over some rows of terms (K, m) are small beside all terms, else -1."""
    size = np.square(terms).sum() + more
    for k in rows:
        total = terms[k].sum()
        if not (isinstance(total, float) and total == 0.0):
            flag = select(NEARLY**2 * size + REST**2 - total * total, flag, -1.0)
    return flag
