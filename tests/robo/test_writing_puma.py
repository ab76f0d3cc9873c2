"""Robo's PUMA 560: the standard one where motors are reduced, and beside it exactly what carried motors add."""

from __future__ import annotations

import time

import numpy as np
import pytest

from linkwise import Motor, robo, robots

Q = np.random.default_rng(560).uniform(-2, 2, (3, 5, 6))


def made(rotors: str) -> robo.Robot:
    return robo.robot(*robo.puma560(), rotors=rotors, physical=False)


def test_with_reduced_motors_it_is_the_standard_one() -> None:
    standard, arm = robots.puma560().without_friction(), made("reduced")
    wanted = standard.inverse_dynamics(*Q)
    assert np.allclose(robo.inverse_dynamics(arm, *Q), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    mass = standard.mass_matrix(Q[0])
    assert np.allclose(robo.mass_matrix(arm, Q[0]), mass, rtol=0, atol=1e-14 * np.abs(mass).max())
    qdd = robo.forward_dynamics(arm, Q[0], Q[1], wanted)
    assert np.allclose(qdd, Q[2], rtol=0, atol=1e-11)  # the condition of the mass matrix, some 1e2
    wrist = standard.forward_kinematics(Q[0])[..., :3, 3]
    assert np.allclose(robo.forward_kinematics(arm, Q[0])[..., :3, 3], wrist, rtol=0, atol=1e-15 * 4)


@pytest.mark.parametrize("rotors", ["contained", "bodies"])
def test_carried_motors_differ_by_their_terms_and_nothing_else(rotors: str) -> None:
    """Rotor j rides on link j - 1 and spins about joint j's axis: its angular velocity is that of link j - 1 plus G qd s."""
    standard, arm = robots.puma560(), made(rotors)
    q = Q[0, 0]
    difference = np.zeros((6, 6))
    for j in range(6):
        carrier = standard.jacobian(q, link=j - 1)[3:] if j else np.zeros((3, 6))
        s = standard.forward_kinematics(q, link=j - 1)[:3, 2] if j else np.array([0.0, 0.0, 1.0])
        motor = standard.links[j].motor
        assert motor is not None
        column = np.eye(6)[j]
        cross = motor.gear_ratio * motor.inertia * np.outer(column, s @ carrier)
        difference += cross + cross.T  # G Jm s, off the diagonal; G^2 Jm is in the standard one too
        if rotors == "bodies":
            tensor = 0.5 * motor.inertia * (np.eye(3) + np.outer(s, s))
            difference += carrier.T @ tensor @ carrier  # the disc at rest, which the link's own data contain already
    wanted = standard.mass_matrix(q) + difference
    assert np.abs(difference).max() > 0.01  # kg m2: not a trifle beside the wrist's inertias
    found = robo.mass_matrix(arm, q)
    assert np.allclose(found, wanted, rtol=0, atol=1e-14 * np.abs(wanted).max())


def test_in_motion_it_is_the_standard_one_with_its_motors_on_the_links() -> None:
    standard = robots.puma560().without_friction()
    motors = [
        Motor(link.motor.inertia, link.motor.gear_ratio, carrier=k - 1 if k else "base", axis=(0, 0, 1), joint=link.name)
        for k, link in enumerate(standard.links)
        if link.motor is not None
    ]
    carried = standard.replace(links=[link.replace(motor=None) for link in standard.links], motors=motors)
    wanted = carried.inverse_dynamics(*Q)
    assert np.allclose(robo.inverse_dynamics(made("contained"), *Q), wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
    assert not np.allclose(wanted, standard.inverse_dynamics(*Q), atol=0.01)


def test_the_lists_name_their_motors() -> None:
    links, motors = robo.puma560()
    assert [link[9] for link in links] == [[], [1], [2], [3], [4], [5]]
    assert [motor[:3] for motor in motors] == [[1, 2, 1], [2, 3, 2], [3, 4, 3], [4, 5, 4], [5, 6, 5], [6, 0, 6]]


def test_inverse_kinematics_by_steepest_descent() -> None:
    arm = made("contained")
    q = np.array([0.2, 0.6, -0.2, 0.3, 0.9, 0.1])
    found = robo.inverse_kinematics(arm, robo.forward_kinematics(arm, q), q + 0.1)
    assert found.success
    assert np.allclose(found.q, q, rtol=0, atol=1e-7)  # 1e-9 m and rad, times the inverse of the Jacobian
    wrist = robo.inverse_kinematics(arm, robo.forward_kinematics(arm, q, 4), q + 0.1, link=4)
    assert wrist.success


def test_the_equations_of_all_six_joints_finish() -> None:
    """Robo ran out of memory beyond four."""
    arm = made("contained")
    begun = time.perf_counter()
    found = robo.equations(arm)
    mass, coriolis, gravity = found.M, found.C, found.g
    print(f"{time.perf_counter() - begun:.1f} s")
    assert mass.shape == coriolis.shape == (6, 6)
    q, qd = Q[0, 0], Q[1, 0]
    at = dict(zip([*found.q, *found.qd], [*q, *qd], strict=True))
    for matrix, wanted in (
        (mass, arm.mechanism.mass_matrix(q)),
        (gravity, arm.mechanism.gravity_torque(q)[:, None]),
        (coriolis, arm.mechanism.coriolis_matrix(q, qd)),
    ):
        values = np.array(matrix.xreplace(at).evalf(20).tolist(), dtype=float)
        assert np.allclose(values, wanted, rtol=0, atol=1e-12 * max(np.abs(wanted).max(), 1.0))
