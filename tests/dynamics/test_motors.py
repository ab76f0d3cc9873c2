"""Rotor inertia and friction at the joint, by the formula in `Motor`."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor

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


def test_nofriction_leaves_the_rotor() -> None:
    mech = driven(MOTOR)
    assert mech.nofriction().inverse_dynamics([0.0], [1.0], [1.0]) == pytest.approx(60**2 * 2e-4)
    viscous = mech.nofriction(viscous=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert viscous == pytest.approx(60**2 * 1e-3)
    coulomb = mech.nofriction(coulomb=False).inverse_dynamics([0.0], [1.0], [0.0])
    assert coulomb == pytest.approx(60 * 0.4)
