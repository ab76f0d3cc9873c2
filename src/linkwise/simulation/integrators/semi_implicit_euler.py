"""The symplectic Euler method, of order 1: velocities first, then the configuration along the new velocities."""

from __future__ import annotations

from typing import Any

from linkwise.simulation.integrators.declaration import Phase, Stage, integrator
from linkwise.simulation.plant import Plant
from linkwise.spatial.scalar import Array


@integrator("semi_implicit_euler", (0.0, 1.0, 0.0), explicit=True)
def semi_implicit_euler(
    plant: Plant, now: Phase, _total: Phase, _begin: Phase, tau: Array, _advance: Any, step: Any
) -> Stage:
    """One step: E. Hairer, Ch. Lubich, G. Wanner, *Geometric Numerical Integration* (2006), eq. I.1.9."""
    qdd = plant.accelerations(*now, tau)
    qd = now.qd + step * qdd
    following = Phase(plant.integrate(now.q, qd, step), qd)
    return following, following, qdd
