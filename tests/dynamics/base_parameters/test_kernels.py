"""Compiled functions in base parameters equal those of the mechanism, and take no more operations."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots
from linkwise.dynamics.base_parameters.model import WHAT
from linkwise.equations.derive import derive
from linkwise.errors import ArgumentError

EXACT = 1e-12
"""Of the largest element: the same numbers are added up in another order."""

INPUTS = {"inverse_dynamics": 3, "bias_torque": 2, "gravity_torque": 1, "mass_matrix": 1}


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic"])
@pytest.mark.parametrize("what", WHAT)
def test_kernels_in_base_parameters(name: str, what: str) -> None:
    robot = robots.load(name)
    base = robot.base_bodies()
    state = np.random.default_rng(1).uniform(-1.0, 1.0, (INPUTS[what], 6, robot.n))
    kernel = base.kernel(what, backend="numpy")
    assert kernel.tape.labels["parameters"] == base.names
    found, wanted = kernel(*state, base.values), robot.kernel(what, backend="numpy")(*state)
    residual = np.abs(found - wanted).max() / max(np.abs(wanted).max(), 1.0)
    print(f"{name}: {what}: {residual:.1e}")
    assert residual < EXACT


def test_symbols_of_lengths_and_gravity_follow_the_base_parameters() -> None:
    arm = robots.planar_3r().symbolic("inertial", "lengths", "gravity")
    base = arm.base_bodies()
    kernel = base.kernel("inverse_dynamics", backend="numpy")
    assert kernel.tape.labels["parameters"] == ("MXR1", "ZZR1", "MXR2", "ZZR2", "MXR3", "ZZR3", "a1", "a2", "g")
    # W. Khalil's recursion as OpenSYMORO generates it takes 33 and 23, the last link's length absent (it enters no effort).
    assert kernel.operations["mul"] <= 33
    assert kernel.operations["add"] <= 23


def test_the_pumas_inverse_dynamics_is_within_what_was_asked() -> None:
    """Beside 203 products and 150 sums of OpenSYMORO for the same set of parameters."""
    puma = robots.puma560().without_friction()
    arm = puma.replace(links=[link.replace(motor=None) for link in puma.links])
    operations = arm.symbolic("inertial", "lengths", "gravity").base_bodies().kernel("inverse_dynamics").operations
    print(operations)
    assert operations["mul"] <= 180
    assert operations["add"] <= 150


def test_the_recursive_form_in_base_parameters() -> None:
    made = derive(robots.planar_2r().symbolic("inertial", "lengths"), "inverse_dynamics", base=True)
    assert made.residual < EXACT
    text = str(made)
    assert "ZZR1 = " in text
    assert "Base parameters" in text
    numbers = derive(robots.planar_2r(), "mass_matrix", base=True)
    assert numbers.residual < EXACT


def test_what_there_is_not() -> None:
    base = robots.planar_2r().base_bodies()
    with pytest.raises(ArgumentError, match=r"'jacobian'.*'inverse_dynamics'.*'bias_torque'"):
        base.kernel("jacobian")
    rotor = Motor(inertia=1e-4, gear_ratio=20.0, carrier="base", axis=(0, 0, 1))
    carried = Motor(inertia=1e-4, gear_ratio=20.0, carrier="one", axis=(1, 0, 0))
    links = [
        Link.dh(a=0.5, convention="standard", name="one", mass=1.0, motor=rotor),
        Link.dh(a=0.5, convention="standard", name="two", mass=1.0, motor=carried),
    ]
    with pytest.raises(ArgumentError, match="'carried': links carry rotors"):
        Mechanism(links, name="carried").base_bodies().kernel("mass_matrix")
