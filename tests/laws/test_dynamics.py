"""What inverse dynamics must obey, against sums written apart from the library: power balance, linearity, joint actions.

`manual` knows links; the reflected rotors and the friction of motors that no link carries are added here by hand.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise import Mechanism, Motor
from support import spacelib_manual as manual
from support.random_mechanisms import (
    SEEDS,
    direct,
    mechanisms,
    random_mechanism,
    random_state,
    relative,
    sample,
    variant,
)

at_each = pytest.mark.parametrize("seed", SEEDS)
ROUNDING = 5e-14
"""A few thousand roundings at most, which add up like their square root; seen: 2e-15."""


def friction(motor: Motor, speed: float) -> float:
    """Felt at the joint; written out: each constant is on the motor's side of the gear."""
    dry = motor.coulomb[0] if speed > 0 else motor.coulomb[1] if speed < 0 else 0.0
    return motor.gear_ratio**2 * motor.viscous * speed + abs(motor.gear_ratio) * dry


def felt(mech: Mechanism, function: Callable[[Motor, float], float], values: np.ndarray) -> np.ndarray:
    """The sum over the motors of each joint (n,)."""
    total = np.zeros(mech.n)
    for drive in mech.drives:
        total[drive.coordinate] += function(drive.motor, values[drive.coordinate])
    return total


def rotor(motor: Motor, acceleration: float) -> float:
    return motor.gear_ratio**2 * motor.inertia * acceleration


@at_each
def test_power_balance(seed: int) -> None:
    """tau . qd = d/dt (kinetic + potential energy) + dissipation.

    Energy from pseudo-inertias (`manual.energy`), its rate by the five-point difference with h = 1e-3: rounding
    1.5 eps E / h with E up to 1e3 J is 3e-10 W, truncation h^4 E^(5) / 30 up to 1e-8 W, in powers of about 100 W.
    """
    mech = variant(f"joints {seed}").with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    q, qd, qdd = random_state(mech, seed)

    def energy(s: float) -> float:
        speed = qd + s * qdd
        rotors = 0.5 * felt(mech, rotor, speed) @ speed
        return manual.energy(mech, q + s * qd + 0.5 * s * s * qdd, speed) + rotors

    h = 1e-3
    rate = (8 * (energy(h) - energy(-h)) - (energy(2 * h) - energy(-2 * h))) / (12 * h)
    lost = felt(mech, friction, qd) @ qd
    tau = mech.inverse_dynamics(q, qd, qdd)
    size = np.abs(tau * qd).sum()
    error = abs(tau @ qd - rate - lost) / size
    print(f"{error:.1e}")
    assert error <= 1e-10
    assert lost > 1e3 * 1e-10 * size or not mech.drives, "friction is large enough to be missed"


@at_each
def test_linear_in_the_acceleration_with_a_mass_matrix(seed: int) -> None:
    """tau(qdd) - tau(0) = M qdd, M found column by column: symmetric, positive semidefinite, twice the kinetic energy."""
    mech = variant(f"joints {seed}")
    q, qd, qdd = random_state(mech, seed)
    rest = np.zeros_like(q)
    bias = mech.inverse_dynamics(q, qd, rest)
    mass = np.array([mech.inverse_dynamics(q, qd, column) - bias for column in np.eye(mech.n)]).T
    size = max(np.abs(mass).max(), np.abs(bias).max())
    errors = {
        "linear": np.abs(mech.inverse_dynamics(q, qd, qdd) - bias - mass @ qdd).max() / size,
        "symmetric": np.abs(mass - mass.T).max() / size,
        "positive": max(0.0, -np.linalg.eigvalsh(0.5 * (mass + mass.T)).min()) / size,
    }
    still = mech.replace(gravity=(0, 0, 0))
    twice = 2 * manual.energy(still, q, qd) + felt(mech, rotor, qd) @ qd
    errors["energy"] = abs(qd @ mass @ qd - twice) / size
    print(errors)
    assert max(errors.values()) <= ROUNDING


@at_each
def test_efforts_are_joint_wrenches_along_the_joint_axes(seed: int) -> None:
    mech = variant(f"joints {seed}")
    q, qd, qdd = random_state(mech, seed)
    external = np.random.default_rng(seed).normal(size=6)
    for extra in ((), (external,)):
        actions = mech.joint_wrenches(q, qd, qdd, *extra)
        found = manual.rob_mat(mech, q, qd, qdd)
        tau = np.zeros(mech.n)
        for k, i in enumerate(mech.coordinates):
            if i >= 0:
                phi = np.zeros((4, 4))
                phi[:3, 3], (phi[2, 1], phi[0, 2], phi[1, 0]) = actions[k, :3], actions[k, 3:]
                tau[i] = manual.pse_dot(found.L[k], phi)
        tau = tau + felt(mech, rotor, qdd) + felt(mech, friction, qd)
        error = relative(mech.inverse_dynamics(q, qd, qdd, *extra), tau)
        print(f"{error:.1e}")
        assert error <= ROUNDING


@at_each
def test_an_external_wrench_takes_off_its_projection(seed: int) -> None:
    """Tau changes by -J' f, with J and f in the tool's axes, and the action on the last link by what was added."""
    mech = variant(f"joints {seed}")
    state = random_state(mech, seed)
    f = np.random.default_rng(seed).normal(size=6) * 10
    change = mech.inverse_dynamics(*state, f) - mech.inverse_dynamics(*state)
    size = np.abs(mech.inverse_dynamics(*state)).max()
    error = np.abs(change + mech.jacobian(state[0], frame="body").T @ f).max() / size
    named = np.abs(mech.inverse_dynamics(*state, external=f) - mech.inverse_dynamics(*state, f)).max()
    print(f"{error:.1e}")
    assert error <= ROUNDING
    assert named == 0


@given(mechanisms(), st.integers(0, 2**16))
def test_friction_is_added_on_top(mech: Mechanism, seed: int) -> None:
    q, qd, qdd = random_state(mech, seed)
    qd[0] = 0.0
    tau = direct(mech, "inverse_dynamics", q, qd, qdd)
    size = np.abs(tau).max()
    dry = felt(mech, lambda m, v: friction(Motor(0, m.gear_ratio, 0, m.coulomb), v), qd)
    wet = felt(mech, lambda m, v: m.gear_ratio**2 * m.viscous * v, qd)
    for options, taken in (({}, dry + wet), ({"coulomb": False}, wet), ({"viscous": False}, dry)):
        without = direct(mech.without_friction(**options), "inverse_dynamics", q, qd, qdd)
        assert np.abs(tau - without - taken).max() <= ROUNDING * max(size, 1.0)


def test_dry_friction_has_two_sides_and_none_at_rest() -> None:
    motor = Motor(gear_ratio=-2.0, viscous=0.5, coulomb=(0.3, -0.4))
    mech = random_mechanism(0, ["revolute"], [-1], ["general"], motors=False, gravity=(0, 0, 0))
    mech = mech.replace_link(0, motor=motor)
    zero = np.zeros(1)
    # Centrifugal force of one body about a fixed axis has no moment about it, so what is left is friction.
    efforts = [float(mech.inverse_dynamics(zero, np.array([v]), zero)[0]) for v in (1.0, -1.0, 0.0, 1e-300, -1e-300)]
    assert np.allclose(efforts, [2.0 + 0.6, -2.0 - 0.8, 0.0, 0.6, -0.8], rtol=0, atol=1e-15)


def test_gravity_alone_holds_the_weight() -> None:
    mech = sample(4)
    q, _, _ = random_state(mech)
    rest = np.zeros_like(q)
    actions = mech.joint_wrenches(q, rest, rest)
    roots = [k for k, parent in enumerate(mech.parents) if parent < 0]
    weight = sum(link.body.mass for link in mech.links) * mech.gravity
    error = relative(actions[roots, :3].sum(axis=0), -weight)
    print(f"{error:.1e}")
    assert error <= 1e-14


def test_teeth() -> None:
    """The balance is not met when the acceleration of one joint is off by a millionth."""
    mech = sample(0)
    q, qd, qdd = random_state(mech)
    off = qdd + np.eye(mech.n)[0] * 1e-6
    assert relative(mech.inverse_dynamics(q, qd, off), mech.inverse_dynamics(q, qd, qdd)) > 100 * ROUNDING
