"""Momentum, its rate, and the centre of mass by parameters."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.model.tree import Tree
from support.random_mechanisms import FREE, random_state, relative, variant, with_rotors


def along(mech: Tree, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
    """The state after a short time with a constant acceleration."""
    return mech.integrate(q, qd + 0.5 * t * qdd, t), qd + t * qdd


@pytest.mark.parametrize("about", ["origin", "com"])
@pytest.mark.parametrize("rotors", [False, True])
@pytest.mark.parametrize("name", FREE)
def test_the_rate_of_momentum(name: str, rotors: bool, about: str) -> None:
    """Against a central difference of four points with step 1e-3: error 1e-12 of its size, rounding 1e-12."""
    mech = with_rotors(variant(name)) if rotors else variant(name)
    q, qd, qdd = random_state(mech)
    h = 1e-3
    values = {k: mech.momentum(*along(mech, q, qd, qdd, k * h), about=about) for k in (-2, -1, 1, 2)}
    wanted = (8.0 * (values[1] - values[-1]) - (values[2] - values[-2])) / (12.0 * h)
    straight = mech.momentum_dot(q, qd, qdd, about=about)
    print(f"{name}: {relative(straight, wanted):.1e}")
    assert relative(straight, wanted) < 1e-9


@pytest.mark.parametrize("name", FREE)
def test_the_linear_part_is_mass_times_the_acceleration_of_the_center(name: str) -> None:
    mech = variant(name)
    q, qd, qdd = random_state(mech)
    rate = mech.centroidal_momentum_matrix(q) @ qdd + mech.centroidal_momentum_matrix_dot(q, qd) @ qd
    assert relative(mech.momentum_dot(q, qd, qdd, about="com"), rate) < 1e-12


@pytest.mark.parametrize("name", FREE)
def test_the_center_of_mass_by_parameters(name: str) -> None:
    """With the masses of rotors on a fixed base, which are no parameters, it is that of the potential energy."""
    mech = variant(name)
    q = random_state(mech)[0]
    regressor = mech.center_of_mass_regressor(q)
    share = np.linalg.norm(regressor[:, 1])  # (a unit vector over the mass of all)
    potential = mech.energy_regressor(q, np.zeros(mech.nv))[1]
    assert relative(-(mech.gravity @ regressor) / share, potential) < 1e-13
    if mech.floating or not any(drive.carrier == -1 for drive in mech.drives):
        assert relative(regressor @ mech.parameters, mech.center_of_mass(q)) < 1e-13
