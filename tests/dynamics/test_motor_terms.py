"""Rotor inertia and friction at the joint, by the formula in `Motor`."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots

MOTOR = Motor(inertia=2e-4, gear_ratio=-60.0, viscous=1e-3, coulomb=(0.4, -0.5))


def driven(motor: Motor | None) -> Mechanism:
    """One massless joint, so that the effort is the motor's own."""
    return Mechanism([Link(motor=motor)], gravity=(0, 0, 0))


@pytest.mark.parametrize(
    ("speed", "coulomb"), [(0.7, 60 * 0.4), (-0.7, -60 * 0.5), (0.0, 0.0), (5e-324, 60 * 0.4), (-0.0, 0.0)]
)
@pytest.mark.parametrize("backend", ["llvm", "numpy"])
def test_effort_is_the_formula(speed: float, coulomb: float, backend: str) -> None:
    found = driven(MOTOR).kernel("inverse_dynamics", backend=backend)([0.1], [speed], [3.0])
    wanted = 60**2 * 2e-4 * 3.0 + 60**2 * 1e-3 * speed + coulomb
    assert found == pytest.approx([wanted], rel=1e-15, abs=1e-15)  # three products and two sums


def test_one_coulomb_number_stands_for_both_directions() -> None:
    mech = driven(Motor(coulomb=0.3))
    assert mech.inverse_dynamics([0.0], [2.0], [0.0]) == 0.3
    assert mech.inverse_dynamics([0.0], [-2.0], [0.0]) == -0.3


def test_friction_takes_energy_whatever_the_sign_of_the_gear() -> None:
    speeds = np.linspace(-3, 3, 31)[:, None]
    for ratio in (-60.0, 60.0):
        mech = driven(Motor(gear_ratio=ratio, viscous=1e-3, coulomb=(0.4, -0.5)))
        power = mech.inverse_dynamics(np.zeros_like(speeds), speeds, np.zeros_like(speeds)) * speeds
        assert np.all(power[speeds != 0] > 0)


@pytest.mark.parametrize(
    ("ratio", "speed", "wanted"),
    [
        (-60.0, 0.7, -60 * (1e-3 * 0.7 + 0.4)),
        (-60.0, -0.7, -60 * (1e-3 * -0.7 - 0.5)),
        (60.0, 0.7, 60 * (1e-3 * 0.7 + 0.4)),
        (60.0, 0.0, 0.0),
        (-60.0, -0.0, 0.0),
    ],
)
def test_the_rule_of_toolbox_7(ratio: float, speed: float, wanted: float) -> None:
    """G (B qd + Tc), the gear once and with its sign: a negative one lets friction drive the joint."""
    motor = Motor(gear_ratio=ratio, viscous=1e-3, coulomb=(0.4, -0.5), friction_rule="toolbox7")
    for backend in ("llvm", "numpy"):
        found = driven(motor).kernel("friction_torque", backend=backend)([speed])
        assert found == pytest.approx([wanted], rel=1e-15, abs=1e-15)
    assert wanted * speed * ratio >= 0


def test_the_puma_by_both_rules() -> None:
    """At 1 rad/s of all joints, from the table of the model: G^2 B + |G| Tc+ today, G (B + Tc+) in version 7."""
    puma, qd = robots.load("puma560"), np.ones(6)
    today = [62.6111**2 * 1.48e-3 + 62.6111 * 0.395, 107.815**2 * 0.817e-3 + 107.815 * 0.126]
    today += [53.7063**2 * 1.38e-3 + 53.7063 * 0.132, 76.0364**2 * 71.2e-6 + 76.0364 * 11.2e-3]
    today += [71.923**2 * 82.6e-6 + 71.923 * 9.26e-3, 76.686**2 * 36.7e-6 + 76.686 * 3.96e-3]
    older = [-62.6111 * (1.48e-3 + 0.395), 107.815 * (0.817e-3 + 0.126), -53.7063 * (1.38e-3 + 0.132)]
    older += [76.0364 * (71.2e-6 + 11.2e-3), 71.923 * (82.6e-6 + 9.26e-3), 76.686 * (36.7e-6 + 3.96e-3)]
    assert np.allclose(puma.friction_torque(qd), today, rtol=1e-14)
    seven = puma.with_friction_rule("toolbox7")
    assert np.allclose(seven.friction_torque(qd), older, rtol=1e-14)
    assert (seven.friction_torque(qd)[[0, 2]] < 0).all(), "with their negative gears it drives these joints"
    rest = [puma.inverse_dynamics(qd, qd, qd) - puma.friction_torque(qd), seven.inverse_dynamics(qd, qd, qd) - older]
    assert np.abs(rest[0] - rest[1]).max() <= 1e-13, "nothing else depends on the rule"
    assert seven.with_friction_rule("reflected") == puma


def test_several_motors_add_up() -> None:
    """Two on one joint, one of each rule: inertia, viscous and Coulomb friction are sums."""
    one = Motor(inertia=1e-4, gear_ratio=10, viscous=1e-3, coulomb=0.1)
    two = Motor(inertia=2e-4, gear_ratio=-20, viscous=2e-3, coulomb=(0.2, -0.3), joint="arm", friction_rule="toolbox7")
    mech = Mechanism([Link(name="arm", motor=one)], motors=[two], gravity=(0, 0, 0))
    found = mech.inverse_dynamics([0.0], [-2.0], [3.0])
    inertia = (1e-4 * 100 + 2e-4 * 400) * 3
    friction = -(1e-3 * 100 * 2 + 10 * 0.1) + -20 * (2e-3 * -2 - 0.3)
    assert found == pytest.approx([inertia + friction], rel=1e-14)


def test_nofriction_leaves_the_rotor() -> None:
    mech = driven(MOTOR)
    assert mech.without_friction().inverse_dynamics([0.0], [1.0], [1.0]) == pytest.approx(60**2 * 2e-4)
    viscous = mech.without_friction(viscous=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert viscous == pytest.approx(60**2 * 1e-3)
    coulomb = mech.without_friction(coulomb=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert coulomb == pytest.approx(60 * 0.4)
