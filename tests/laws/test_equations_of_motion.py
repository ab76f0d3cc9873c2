"""M qdd + C qd + g + friction = tau, and what M, C and g must be, on fixed and floating bases, with rotors anywhere.

Rates and gradients are exact ones of the graphs (`exact`), so that every bound is one of rounding.
"""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.dynamics.forward_dynamics import articulated_acceleration, composite_acceleration
from linkwise.dynamics.recursions import friction
from linkwise.model.body import moving_bodies
from support.exact_derivatives import along, by_motion, gradients, rates
from support.random_mechanisms import FIXED, FREE, VARIANTS, direct, random_mechanism, random_state, relative, variant

at_each = pytest.mark.parametrize("name", VARIANTS)
ROUNDING = 5e-14
"""A few thousand roundings of numbers that may be ten times the result, which add up like their square root; seen: 4e-15."""

EPS = np.finfo(float).eps


@at_each
def test_forward_after_inverse_is_the_identity(name: str) -> None:
    """What solving loses is the condition of M; seen: 1.2 eps times the condition number."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 1)
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    found = direct(mech, "forward_dynamics", q, qd, tau)
    condition = np.linalg.cond(direct(mech, "mass_matrix", q))
    error, back = relative(found, qdd), relative(direct(mech, "inverse_dynamics", q, qd, found), tau)
    print(f"{error:.1e} {error / (EPS * condition):.1f} eps cond, back {back:.1e}")
    assert error <= 10 * EPS * condition
    assert back <= 10 * ROUNDING


@pytest.mark.parametrize("name", [name for name in FREE if "rotors" not in name])
def test_both_recursions_of_forward_dynamics(name: str) -> None:
    """Which one is taken depends on the mechanism; either must do for all."""
    mech = variant(name)
    q, qd, tau = random_state(mech, 2)
    made = moving_bodies(mech).regrouped()
    left = tau - friction(mech, qd)
    one = composite_acceleration(mech, made, q, qd, left).astype(float)
    other = articulated_acceleration(mech, made, q, qd, left).astype(float)
    error = relative(other, one)
    print(f"{error:.1e}")
    assert error <= 10 * EPS * np.linalg.cond(direct(mech, "mass_matrix", q))


@at_each
def test_mass_matrix_is_the_hessian_of_kinetic_energy(name: str) -> None:
    """Kinetic energy is a sum over bodies, M over composite bodies; a quadratic form is known by its values at e_i + e_j."""
    mech = variant(name)
    q, qd, _ = random_state(mech, 3)
    mass = direct(mech, "mass_matrix", q)
    units = np.eye(mech.nv)
    alone = [float(direct(mech, "kinetic_energy", q, e)) for e in units]
    hessian = np.array(
        [[float(direct(mech, "kinetic_energy", q, a + b)) - alone[i] - alone[j] for j, b in enumerate(units)]
         for i, a in enumerate(units)]
    )  # fmt: skip
    energy = float(direct(mech, "kinetic_energy", q, qd))
    errors = {
        "Hessian": relative(mass, hessian),
        "energy": abs(0.5 * qd @ mass @ qd - energy) / energy,
    }
    least = np.linalg.eigvalsh(mass).min()
    print(errors, f"least eigenvalue {least:.1e}")
    assert max(errors.values()) <= ROUNDING
    assert np.array_equal(mass, mass.T)
    assert least > 1e-10 * np.abs(mass).max()


@at_each
def test_mass_rate_less_twice_coriolis_is_skew(name: str) -> None:
    mech = variant(name)
    q, qd, _ = random_state(mech, 4)
    rate = along(mech, "mass_matrix", (q,), (rates(mech, q) @ qd,))
    coriolis = direct(mech, "coriolis_matrix", q, qd)
    left = rate - 2 * coriolis
    error = np.abs(left + left.T).max() / np.abs(coriolis).max()
    print(f"{error:.1e}")
    assert error <= ROUNDING
    assert np.abs(rate - rate.T).max() <= ROUNDING * np.abs(rate).max()


@pytest.mark.parametrize("name", FIXED)
def test_coriolis_matrix_is_that_of_christoffel_symbols(name: str) -> None:
    """C_ij = sum over k of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) qd_k / 2, where the speeds are rates of coordinates."""
    mech = variant(name)
    q, qd, _ = random_state(mech, 5)
    by_q = gradients(mech, "mass_matrix", (q,), 0)[0]
    symbols = 0.5 * (by_q + by_q.transpose(0, 2, 1) - by_q.transpose(2, 0, 1))
    found = direct(mech, "coriolis_matrix", q, qd)
    error = relative(found, symbols @ qd)
    print(f"{error:.1e}")
    assert error <= ROUNDING


@at_each
def test_the_parts_make_the_whole(name: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech, 6)
    mass, coriolis = direct(mech, "mass_matrix", q), direct(mech, "coriolis_matrix", q, qd)
    gravity, bias = direct(mech, "gravity_torque", q), direct(mech, "bias_torque", q, qd)
    rubbing, tau = direct(mech, "friction_torque", qd), direct(mech, "inverse_dynamics", q, qd, qdd)
    weightless = direct(mech.replace(gravity=(0, 0, 0)).without_friction(), "inverse_dynamics", q, qd, 0 * qd)
    size = np.abs(tau).max() + np.abs(bias).max()
    errors = {
        "bias": np.abs(coriolis @ qd + gravity - bias).max() / size,
        "Coriolis": np.abs(coriolis @ qd - weightless).max() / size,
        "whole": np.abs(mass @ qdd + bias + rubbing - tau).max() / size,
        "at rest": np.abs(gravity - direct(mech.without_friction(), "inverse_dynamics", q, 0 * qd, 0 * qdd)).max() / size,
    }
    print(errors)
    assert max(errors.values()) <= ROUNDING


@at_each
def test_coriolis_is_linear_in_the_speeds(name: str) -> None:
    """C(q, u) v = C(q, v) u where the speeds are rates of coordinates: symbols are alike in their last two places."""
    mech = variant(name)
    q, u, v = random_state(mech, 7)
    at = [direct(mech, "coriolis_matrix", q, w) for w in (u, v, u + 2 * v)]
    errors = [relative(at[0] + 2 * at[1], at[2])]
    if not mech.manifold_joints:
        errors.append(np.abs(at[0] @ v - at[1] @ u).max() / np.abs(at[0] @ u).max())
    print(errors)
    assert max(errors) <= ROUNDING


@at_each
def test_gravity_is_the_gradient_of_potential_energy(name: str) -> None:
    mech = variant(name).with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    q, _, _ = random_state(mech, 8)
    gravity = direct(mech, "gravity_torque", q)
    error = np.abs(by_motion(mech, "potential_energy", q) - gravity).max() / np.abs(gravity).max()
    print(f"{error:.1e}")
    assert error <= ROUNDING


@at_each
def test_power_balance(name: str) -> None:
    """Tau qd = dT/dt + dU/dt + friction qd, the rates exact ones of the energies' graphs."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 9)
    tau, rubbing = direct(mech, "inverse_dynamics", q, qd, qdd), direct(mech, "friction_torque", qd)
    moving = rates(mech, q) @ qd
    kinetic = along(mech, "kinetic_energy", (q, qd), (moving, qdd))
    potential = along(mech, "potential_energy", (q,), (moving,))
    size = np.abs(tau * qd).sum()
    error = abs(tau @ qd - kinetic - potential - rubbing @ qd) / size
    print(f"{error:.1e} of {size:.0f} W, friction {rubbing @ qd:.1f} W")
    assert error <= ROUNDING
    assert abs(rubbing @ qd) > 1e6 * ROUNDING * size or not mech.drives, "friction is large enough to be missed"


def test_teeth() -> None:
    """A gyroscopic moment of a thousandth of one rotor, and a C that is not Christoffel's, are seen."""
    mech = variant("rotors 3")
    q, qd, _ = random_state(mech, 1)
    one = mech.motors[-1]
    off = mech.replace(motors=[*mech.motors[:-1], one.replace(gear_ratio=one.gear_ratio * 1.001)])
    assert relative(direct(off, "bias_torque", q, qd), direct(mech, "bias_torque", q, qd)) > 100 * ROUNDING
    coriolis = direct(mech, "coriolis_matrix", q, qd)
    other = np.outer(coriolis @ qd, qd) / (qd @ qd)  # the same C qd
    left = along(mech, "mass_matrix", (q,), (qd,)) - 2 * other
    assert np.abs(left + left.T).max() > 1e3 * ROUNDING * np.abs(coriolis).max()


def test_a_long_chain_goes_by_articulated_bodies_also_under_a_wrench() -> None:
    """Which recursion takes fewer operations is counted, and the wrench on the tool changes little."""
    chain = random_mechanism(1, ["revolute"] * 20, range(-1, 19), ["general"] * 20, motors=False)
    plain, pushed = (chain.kernel(name, backend="numpy") for name in ("forward_dynamics", "forward_dynamics_external"))
    counts = [sum(kernel.operations.values()) for kernel in (plain, pushed)]
    print(counts)
    assert counts[0] < counts[1] <= counts[0] + 100
    q, qd, tau = random_state(chain, 1)
    push = np.arange(6.0)
    back = direct(
        chain, "inverse_dynamics_external", q, qd, direct(chain, "forward_dynamics_external", q, qd, tau, push), push
    )
    assert relative(back, tau) <= 1e-9, "the condition of M times rounding"
