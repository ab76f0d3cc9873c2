"""Projection to closed loops: the nearest closed configuration, and the nearest velocities that keep the loops closed."""

from __future__ import annotations

from typing import Any

from linkwise.algorithm import algorithm
from linkwise.dynamics.closed_loops.kkt import closed_system, within
from linkwise.kinematics.configuration import integrate
from linkwise.kinematics.loop_constraints import closure, closure_jacobian
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, root

#: Steps with one factorisation, for the configuration and for the velocities. Each multiplies the error by about the whole
#: correction in rad: 1e-3, as after a coarse step, leaves less than 1e-11.
STEPS, RATES = 3, 3

#: Tolerance of lengths, relative to the longest offset, and of angles, rad.
CLOSED = 1e-11


@algorithm(inputs={"q": "nq", "qd": "nv"}, outputs={"q_closed": "nq", "qd_closed": "nv"}, spread=False, needs_loops=True)
def project_to_loops(tree: Tree, q: Array, qd: Array) -> tuple[Array, Array]:
    """Return the closed configuration (nq,) and the velocities (nv,) that keep it closed, nearest to a state close by.

    Nearest is measured by the mass matrix: the speeds change as by an impulse of the constraint forces, so no motion that
    the loops allow gains or loses momentum (E. Hairer, Ch. Lubich, G. Wanner, *Geometric Numerical Integration*, 2006,
    section IV.4, the standard projection method). NaN where the loops do not come closed to 1e-11 in a few steps, those of
    equations left out as dependent too, or at a singular position.

    Examples
    --------
    >>> from linkwise import robots
    >>> bars = robots.four_bar()
    >>> q, qd = bars.kernel("project_to_loops")(bars.neutral + [1e-3, 0.0, 0.0], [1.0, 0.0, 0.0])
    >>> bool(abs(bars.kernel("closure")(q)).max() < 1e-11)
    True
    """
    system = closed_system(tree, q)
    rows = list(system.closing.rows)
    dt: Any = 1.0
    at = q
    for _ in range(STEPS):
        at = integrate(tree, at, system.shift(closure(tree, at)[rows]), dt)
    flag = within(tree, at, CLOSED * system.closing.sizes)
    sound = flag if isinstance(flag, float) else root(flag)
    here = closure_jacobian(tree, at)[rows]
    for _ in range(RATES):
        qd = qd + system.shift(here @ qd)
    return at * sound, qd * sound
