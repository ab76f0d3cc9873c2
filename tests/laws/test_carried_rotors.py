"""A rotor that a link carries is a link of its own, tied to the joint that it drives by q_rotor = G q.

Each carried rotor is made a link on a revolute joint of the carrier; with P the constant matrix of the tie, qd_all = P qd,
whatever depends on the speeds follows: M = P' M_all P, tau = P' tau_all. How far a rotor has turned must not matter.
"""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor
from support.random_mechanisms import direct, random_state, relative, variant
from support.rotors_as_links import anywhere, freed

NAMES = (*(f"rotors {seed}" for seed in range(6)), *(f"floating rotors {seed}" for seed in range(4)))
BOUND = 5e-14
"""Rounding of two ways to the same; seen: 3e-15."""


Pair = tuple[Mechanism, Mechanism, np.ndarray, tuple[np.ndarray, ...], np.ndarray]


@pytest.fixture(params=NAMES, scope="module")
def pair(request: pytest.FixtureRequest) -> Pair:
    mech = variant(request.param)
    made, tie = freed(mech)
    state = random_state(mech, 1)
    assert made.n > mech.n
    return mech, made, tie, state, anywhere(mech, made, state[0], 1)


def test_mass_matrix(pair: Pair) -> None:
    mech, made, tie, (q, _, _), everywhere = pair
    error = relative(direct(mech, "mass_matrix", q), tie.T @ direct(made, "mass_matrix", everywhere) @ tie)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_coriolis_matrix(pair: Pair) -> None:
    """The whole matrix: Christoffel symbols keep their form under a constant tie."""
    mech, made, tie, (q, qd, _), everywhere = pair
    wanted = tie.T @ direct(made, "coriolis_matrix", everywhere, tie @ qd) @ tie
    error = relative(direct(mech, "coriolis_matrix", q, qd), wanted)
    print(f"{error:.1e}")
    assert error <= BOUND


def test_efforts(pair: Pair) -> None:
    mech, made, tie, (q, qd, qdd), everywhere = pair
    errors = [
        relative(
            direct(mech, "inverse_dynamics", q, qd, qdd),
            tie.T @ direct(made, "inverse_dynamics", everywhere, tie @ qd, tie @ qdd),
        ),
        relative(direct(mech, "bias_torque", q, qd), tie.T @ direct(made, "bias_torque", everywhere, tie @ qd)),
        relative(direct(mech, "gravity_torque", q), tie.T @ direct(made, "gravity_torque", everywhere)),
        relative(direct(mech, "friction_torque", qd), tie.T @ direct(made, "friction_torque", tie @ qd)),
    ]
    external = np.random.default_rng(3).normal(size=6) * 10
    pushed = direct(made, "inverse_dynamics_external", everywhere, tie @ qd, tie @ qdd, external)
    errors.append(relative(direct(mech, "inverse_dynamics_external", q, qd, qdd, external), tie.T @ pushed))
    print(errors)
    assert max(errors) <= BOUND


def test_forward_dynamics(pair: Pair) -> None:
    """Of the tied mechanism: P' M P qdd = tau - P' (bias and friction); loses the condition of M."""
    mech, made, tie, (q, qd, tau), everywhere = pair
    mass = tie.T @ direct(made, "mass_matrix", everywhere) @ tie
    taken = direct(made, "bias_torque", everywhere, tie @ qd) + direct(made, "friction_torque", tie @ qd)
    error = relative(direct(mech, "forward_dynamics", q, qd, tau), np.linalg.solve(mass, tau - tie.T @ taken))
    print(f"{error:.1e}, condition {np.linalg.cond(mass):.0f}")
    assert error <= 10 * np.finfo(float).eps * np.linalg.cond(mass)


def test_derivatives(pair: Pair) -> None:
    mech, made, tie, (q, qd, qdd), everywhere = pair
    found = direct(mech, "inverse_dynamics_derivatives", q, qd, qdd)
    wanted = direct(made, "inverse_dynamics_derivatives", everywhere, tie @ qd, tie @ qdd)
    errors = [relative(a, tie.T @ b @ tie) for a, b in zip(found, wanted, strict=True)]
    print(errors)
    assert max(errors) <= BOUND


def test_joint_wrenches(pair: Pair) -> None:
    """What each link receives from its parent: the carrier's includes what its rotors take."""
    mech, made, tie, (q, qd, qdd), everywhere = pair
    extra = len(made.links) - len(mech.links)
    for algorithm, more in (("joint_wrenches", ()), ("joint_wrenches_external", (np.arange(6.0),))):
        wanted = direct(made, algorithm, everywhere, tie @ qd, tie @ qdd, *more)[extra:]
        error = relative(direct(mech, algorithm, q, qd, qdd, *more), wanted)
        print(f"{error:.1e}")
        assert error <= BOUND


def test_energies(pair: Pair) -> None:
    """Kinetic energy, and what potential energy a motion takes."""
    mech, made, tie, (q, qd, _), everywhere = pair
    kinetic = relative(direct(mech, "kinetic_energy", q, qd), direct(made, "kinetic_energy", everywhere, tie @ qd))
    other = random_state(mech, 2)[0]
    fall = direct(mech, "potential_energy", other) - direct(mech, "potential_energy", q)
    wanted = direct(made, "potential_energy", anywhere(mech, made, other, 2)) - direct(made, "potential_energy", everywhere)
    size = abs(direct(mech, "potential_energy", q)) + abs(direct(mech, "potential_energy", other))
    print(f"{kinetic:.1e} {abs(fall - wanted) / size:.1e}")
    assert kinetic <= BOUND
    assert abs(fall - wanted) <= BOUND * size


def test_momentum(pair: Pair) -> None:
    """Rotors on the ground spin too."""
    mech, made, tie, (q, qd, _), everywhere = pair
    error = relative(direct(mech, "momentum", q, qd), direct(made, "momentum", everywhere, tie @ qd))
    print(f"{error:.1e}")
    assert error <= BOUND


def test_center_of_mass(pair: Pair) -> None:
    """Of links and rotors, those on the ground too."""
    mech, made, _, (q, _, _), everywhere = pair
    mass = sum(link.body.mass for link in made.links)
    error = relative(direct(mech, "center_of_mass", q), direct(made, "center_of_mass", everywhere))
    jacobian = mass * direct(mech, "center_of_mass_jacobian", q)
    linear = np.stack([direct(mech, "momentum", q, unit)[:3] for unit in np.eye(mech.nv)], axis=1)
    print(f"{error:.1e} {relative(jacobian, linear):.1e}")
    assert error <= BOUND
    assert relative(jacobian, linear) <= BOUND


def test_gyroscopic_moment_by_hand() -> None:
    """A turntable about z carries a rotor that spins about x: the mount must supply G Jm qd2 qd1 about y.

    The table's joint 1 feels nothing of it; the carrier's joint 2, about y, does: w x (G Jm qd_r x) = qd1 G Jm qd_r y.
    """
    ratio, jm = 40.0, 2e-4
    table = Link(name="table", axis=(0, 0, 1), inertia=(0.1, 0.1, 0.1))
    arm = Link(name="arm", axis=(0, 1, 0), inertia=(0.1, 0.1, 0.1))
    tip = Link(name="tip", axis=(1, 0, 0), inertia=(0.01, 0.01, 0.01))
    motor = Motor(inertia=jm, gear_ratio=ratio, joint="tip", carrier="arm", axis=(1, 0, 0))
    mech = Mechanism([table, arm, tip], motors=[motor])
    plain = mech.replace(motors=[])
    zero, speeds = np.zeros(3), np.array([2.0, 0.0, 3.0])
    moment = direct(mech, "inverse_dynamics", zero, speeds, zero) - direct(plain, "inverse_dynamics", zero, speeds, zero)
    assert np.allclose(moment, [0.0, ratio * jm * 3.0 * 2.0, 0.0], rtol=0, atol=1e-15)
    # The arm's turning by qdd about x (none here) would load the tip's joint: G Jm (a . dw/dt) + G^2 Jm qdd.
    alone = direct(mech, "inverse_dynamics", zero, zero, np.array([0.0, 0.0, 1.0]))
    assert np.allclose(alone, [0.0, 0.0, 0.01 + ratio**2 * jm], rtol=1e-14, atol=1e-16)


def test_a_rotor_on_the_driven_link_itself() -> None:
    """It turns with the joint and, besides, G times as fast: (1 + G)^2 Jm about a common axis."""
    ratio, jm = 5.0, 1e-3
    motor = Motor(
        gear_ratio=ratio, joint="arm", carrier="arm", axis=(0, 0, 1), rotor_inertia=(jm, jm, jm), mass=0.3, com=(0, 0, 0.1)
    )
    mech = Mechanism([Link(name="arm", inertia=(0.1, 0.1, 0.1))], motors=[motor])
    mass = direct(mech, "mass_matrix", np.zeros(1))
    assert mass[0, 0] == pytest.approx(0.1 + (1 + ratio) ** 2 * jm, rel=1e-15)


def test_teeth() -> None:
    """A tie that is off by a millionth is seen; and Corke's model, G^2 Jm alone, is another model."""
    mech = variant("rotors 3")
    made, tie = freed(mech)
    q = random_state(mech, 1)[0]
    everywhere = anywhere(mech, made, q, 1)
    mass = direct(mech, "mass_matrix", q)
    for off in (tie * (1 + 1e-6), np.where(np.abs(tie) > 1, 0.0, tie)):
        assert relative(mass, off.T @ direct(made, "mass_matrix", everywhere) @ off) > 1e3 * BOUND


def test_a_rotor_on_a_pedestal_loads_the_pedestal() -> None:
    """A link that is fixed to the ground carries the motor of the first joint, and turns the rotor faster and faster."""
    motor = Motor(gear_ratio=10.0, carrier="pedestal", mass=5.0, com=(1, 0, 0), rotor_inertia=(1, 1, 1), axis=(0, 0, 1))
    arm = Link(name="arm", mass=1.0, inertia=(0.1, 0.1, 0.1), motor=motor)
    mech = Mechanism([Link(joint="fixed", name="pedestal", mass=1.0), arm])
    actions = direct(mech, "joint_wrenches", np.zeros(1), np.zeros(1), np.array([2.0]))
    assert actions[0, 5] == pytest.approx(10.0 * 2.0 + 0.1 * 2.0, rel=1e-14)
    assert actions[0, 2] == pytest.approx(7.0 * 9.81, rel=1e-14)
    assert direct(mech, "momentum", np.zeros(1), np.ones(1))[5] == pytest.approx(10.0 + 0.1, rel=1e-14)
    assert direct(mech, "center_of_mass", np.zeros(1))[0] == pytest.approx(5 / 7, rel=1e-14)
