"""The derivatives of inverse and forward dynamics, against exact ones of the graphs and against finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from support.exact_derivatives import by_motion, gradients
from support.random_mechanisms import FLOATING, VARIANTS, column_by_column, direct, random_state, relative, variant

at_each = pytest.mark.parametrize("name", VARIANTS)
BOUND = 1e-13
"""Rounding: a few thousand operations, and chains of them that cancel a digit; seen: 5e-15."""

EPS = np.finfo(float).eps


@at_each
def test_inverse_dynamics_derivatives(name: str) -> None:
    """To rounding; of Coulomb friction the graph has derivative 0 too."""
    mech = variant(name)
    state = random_state(mech, 1)
    found = direct(mech, "inverse_dynamics_derivatives", *state)
    wanted = (
        by_motion(mech, "inverse_dynamics", *state),
        gradients(mech, "inverse_dynamics", state, 1)[0],
        gradients(mech, "inverse_dynamics", state, 2)[0],
    )
    errors = [relative(a, b) for a, b in zip(found, wanted, strict=True)]
    print(errors)
    assert max(errors) <= BOUND
    assert relative(found[2], direct(mech, "mass_matrix", state[0])) <= BOUND


@pytest.mark.parametrize("name", ["joints 1", "joints 3", "rotors 1", "floating 1", "floating rotors 2"])
def test_forward_dynamics_derivatives(name: str) -> None:
    """Against the graph of forward dynamics itself; solving loses the condition of M, at most twice."""
    mech = variant(name)
    state = random_state(mech, 2)
    found = direct(mech, "forward_dynamics_derivatives", *state)
    wanted = (
        by_motion(mech, "forward_dynamics", *state),
        gradients(mech, "forward_dynamics", state, 1)[0],
        gradients(mech, "forward_dynamics", state, 2)[0],
    )
    errors = [relative(a, b) for a, b in zip(found, wanted, strict=True)]
    condition = np.linalg.cond(direct(mech, "mass_matrix", state[0]))
    print(errors, f"condition {condition:.0f}")
    assert max(errors) <= max(BOUND, 10 * EPS * condition)


@at_each
def test_forward_derivatives_follow_from_inverse_ones(name: str) -> None:
    """M dqdd/dx = -dtau/dx at the acceleration there is, and dqdd/dtau is the inverse of M, symmetric to the bit."""
    mech = variant(name)
    q, qd, tau = random_state(mech, 3)
    by_q, by_qd, by_tau = direct(mech, "forward_dynamics_derivatives", q, qd, tau)
    qdd = direct(mech, "forward_dynamics", q, qd, tau)
    of_q, of_qd, mass = direct(mech, "inverse_dynamics_derivatives", q, qd, qdd)
    condition = np.linalg.cond(mass)
    size = np.abs(mass).max()
    errors = {
        "q": np.abs(mass @ by_q + of_q).max() / max(np.abs(of_q).max(), size * np.abs(by_q).max()),
        "qd": np.abs(mass @ by_qd + of_qd).max() / max(np.abs(of_qd).max(), size * np.abs(by_qd).max()),
        "tau": np.abs(mass @ by_tau - np.eye(mech.nv)).max() / condition,
    }
    print(errors)
    assert max(errors.values()) <= BOUND
    assert np.array_equal(by_tau, by_tau.T)


@pytest.mark.parametrize("name", FLOATING)
def test_derivatives_along_integrate(name: str) -> None:
    """What dq means with a floating base: central differences along `integrate`.

    With h = 2e-3, where truncation and rounding meet: h^4 / 480 is 3e-14, times the ratio of a fifth derivative to the
    first; 2 eps / h is 2e-13, times the ratio of the function to its derivative, and for accelerations the condition of M
    in both. Seen: 4e-13 in efforts, 3e-11 in accelerations; with h twice and half as large both are larger.
    """
    mech = variant(name)
    q, qd, qdd = random_state(mech, 4)
    for algorithm, last, bound in (("inverse_dynamics", qdd, 2e-12), ("forward_dynamics", qdd, 1e-10)):
        found = direct(mech, f"{algorithm}_derivatives", q, qd, last)

        def moved(step: np.ndarray, algorithm: str = algorithm, last: np.ndarray = last) -> np.ndarray:
            return np.asarray(direct(mech, algorithm, direct(mech, "integrate", q, step, 1.0), qd, last))

        error = relative(found[0], column_by_column(moved, mech.nv))
        print(f"{error:.1e}")
        assert error <= bound


def test_coulomb_friction_adds_nothing_and_viscous_friction_its_constant() -> None:
    mech = variant("rotors 2")
    q, qd, qdd = random_state(mech, 5)
    with_all = direct(mech, "inverse_dynamics_derivatives", q, qd, qdd)
    smooth = direct(mech.without_friction(viscous=False), "inverse_dynamics_derivatives", q, qd, qdd)
    without = direct(mech.without_friction(), "inverse_dynamics_derivatives", q, qd, qdd)
    assert all(np.array_equal(a, b) for a, b in zip(with_all, smooth, strict=True))
    damping = np.zeros(mech.n)
    for drive in mech.drives:
        motor = drive.motor
        ratio = motor.gear_ratio**2 if motor.friction_rule == "reflected" else motor.gear_ratio
        damping[drive.coordinate] += ratio * motor.viscous
    assert np.abs(with_all[1] - without[1] - np.diag(damping)).max() <= BOUND * np.abs(without[1]).max()
    assert np.abs(damping).max() > 1e-3


def test_teeth() -> None:
    """A step of one joint by a millionth is seen in every derivative."""
    mech = variant("floating rotors 0")
    q, qd, qdd = random_state(mech, 1)
    off = q.copy()
    off[-1] += 1e-6
    pairs = zip(
        direct(mech, "inverse_dynamics_derivatives", off, qd, qdd),
        direct(mech, "inverse_dynamics_derivatives", q, qd, qdd),
        strict=True,
    )
    assert min(relative(a, b) for a, b in pairs) > 100 * BOUND
