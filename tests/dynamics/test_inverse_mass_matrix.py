"""The inverse of the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, robots
from linkwise.errors import ArgumentError, ModelError
from support.random_mechanisms import FREE, random_state, variant


@pytest.mark.parametrize("name", FREE)
def test_it_is_the_inverse(name: str) -> None:
    """To the condition of M times some units in the last place."""
    mech = variant(name)
    q = random_state(mech)[0]
    mass, inverse = mech.mass_matrix(q), mech.inverse_mass_matrix(q)
    bound = 1e-15 * np.linalg.cond(mass)
    error = np.abs(inverse @ mass - np.eye(mech.nv)).max()
    print(f"{name}: {error:.1e}, bound {10 * bound:.1e}")
    assert np.array_equal(inverse, inverse.T)
    assert error < 10 * bound


def test_it_is_what_forward_dynamics_has_by_efforts() -> None:
    arm = robots.load("puma560")
    q, qd, tau = random_state(arm)
    by_tau = arm.forward_dynamics_derivatives(q, qd, tau)[2]
    assert np.abs(arm.inverse_mass_matrix(q) - by_tau).max() < 1e-14 * np.abs(by_tau).max()


def test_it_is_refused_with_loops_and_without_inertia() -> None:
    with pytest.raises(ArgumentError, match="closed loops"):
        robots.load("four_bar").inverse_mass_matrix(np.zeros(3))
    with pytest.raises(ModelError):
        Mechanism([Link(mass=1.0), Link()]).inverse_mass_matrix([0.0, 0.0])
