"""Lagrange's equations give what the Newton-Euler recursion gives; the two share the description of the mechanism alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linkwise as lw
from linkwise.dynamics import closed_inverse_dynamics
from linkwise.errors import ArgumentError
from support.bundled import BUNDLED
from support.random_mechanisms import (
    COUPLED,
    FIXED,
    FLOATING,
    afloat,
    direct,
    mechanisms,
    random_body,
    random_state,
    relative,
    variant,
    with_rotors,
)

SAME = 2e-13
"""Ten thousand roundings of numbers that may be ten times the result, which add up like their square root; seen: 2e-15."""


def both(mech: lw.Mechanism, seed: int) -> float:
    state = random_state(mech, seed)
    return relative(direct(mech, "lagrange_dynamics", *state), direct(mech, "inverse_dynamics", *state))


@pytest.mark.parametrize("name", [*FIXED[::2], *FLOATING[::2], *COUPLED[::2]])
def test_lagrange_is_newton_and_euler(name: str) -> None:
    """Chains and trees of every kind of joint, fixed and afloat, with motors, rotors on links, joints that follow others."""
    error = both(variant(name), 1)
    print(f"{error:.1e}")
    assert error < SAME


@settings(max_examples=6, deadline=None)
@given(mechanisms(most=4), st.booleans(), st.booleans(), st.integers(0, 99))
def test_on_any_mechanism(mech: lw.Mechanism, rotors: bool, floating: bool, seed: int) -> None:
    """With a payload in a tool on some link."""
    rng = np.random.default_rng(seed)
    mech = mech.replace(tool_link=str(rng.choice(mech.link_names))).with_payload(**random_body(rng))
    mech = with_rotors(mech, seed) if rotors else mech
    assert both(afloat(mech, seed) if floating else mech, seed) < SAME


@pytest.mark.parametrize("name", BUNDLED)
def test_bundled_robots(name: str) -> None:
    """Those with loops, cut open."""
    mech = lw.robots.load(name)
    assert both(mech.replace(loops=()), 2) < SAME


@pytest.mark.parametrize("name", ["rotors 0", "floating rotors 1", "coupled rotors 4"])
def test_the_lagrangian_is_kinetic_less_potential_energy(name: str) -> None:
    """Up to a constant, that of masses that stand still: the difference between two states tells."""
    mech = variant(name)
    found, wanted = [], []
    for seed in (3, 4):
        q, qd, _ = random_state(mech, seed)
        found.append(float(direct(mech, "lagrangian", q, qd)))
        wanted.append(float(direct(mech, "kinetic_energy", q, qd)) - float(direct(mech, "potential_energy", q)))
    assert abs((found[1] - found[0]) - (wanted[1] - wanted[0])) < SAME * max(map(abs, [*found, *wanted]))


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "five_bar"])
def test_multipliers_close_loops(name: str) -> None:
    """By energies and the gradient of the closure: the efforts of closed inverse dynamics with the forces of the loops."""
    mech = lw.robots.load(name)
    linkage = mech.linkage()
    rng = np.random.default_rng(4)
    count = len(linkage.driven)
    q = linkage.position(linkage.driven_part(linkage.q0) + rng.uniform(0.1, 0.3, count)).q
    qd = linkage.velocity(q, rng.uniform(-2.0, 2.0, count))
    qdd = linkage.acceleration(q, qd, rng.uniform(-2.0, 2.0, count))
    tau, forces = closed_inverse_dynamics(mech, q, qd, qdd, linkage.driven)
    error = relative(mech.kernel("closed_lagrange_dynamics")(q, qd, qdd, forces), tau)
    print(f"{name}: {error:.1e}")
    assert error < 1e-12  # rounding of the projection that finds the forces, beside that of the energies
    with pytest.raises(ArgumentError, match="closed_lagrange_dynamics"):
        mech.kernel("lagrange_dynamics")(q, qd, qdd)
