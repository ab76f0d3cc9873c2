"""The equations of motion are linear in the inertial parameters: the regressor, and the fewest parameters that there are.

W. Khalil, E. Dombre, *Modeling, Identification and Control of Robots* (2002), chapter 9; H. Mayeda, K. Yoshida, K. Osuka,
"Base parameters of manipulator dynamic models", IEEE Trans. Robotics and Automation 6(3), 1990.
"""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots
from linkwise.errors import ModelError
from linkwise.model.parameters import LINK, MOTOR
from support.messages import unnamed
from support.random_mechanisms import VARIANTS, direct, random_body, random_mechanism, random_state, relative, variant

BOUND = 5e-14
"""Rounding; seen: 4e-15."""

NAMES = VARIANTS


@pytest.mark.parametrize("name", NAMES)
def test_regressor_times_parameters_is_inverse_dynamics(name: str) -> None:
    mech = variant(name).with_payload(0.7, (0.1, -0.05, 0.2), (0.01, 0.02, 0.015))
    state = random_state(mech, 1)
    table = direct(mech, "regressor", *state)
    tau = direct(mech, "inverse_dynamics", *state)
    error = relative(table @ mech.parameters, tau)
    print(f"{error:.1e}")
    assert error <= BOUND
    assert len(mech.parameter_names) == len(mech.parameters) == table.shape[1] == 10 * len(mech.links) + 4 * len(mech.drives)
    assert len(set(mech.parameter_names)) == len(mech.parameter_names)


@pytest.mark.parametrize("name", ["joints 2", "rotors 4", "floating rotors 1"])
def test_regressor_depends_on_no_inertia(name: str) -> None:
    """Only on where things are, on gravity and on the gears: other masses and frictions have the same."""
    mech = variant(name)
    rng = np.random.default_rng(1)
    others = [link.replace(**random_body(rng)) for link in mech.links]
    state = random_state(mech, 2)
    other = mech.replace(links=others).without_friction()
    assert np.array_equal(direct(other, "regressor", *state), direct(mech, "regressor", *state))


@pytest.mark.parametrize("name", ["joints 0", "joints 3", "rotors 2", "floating 1", "floating rotors 2"])
def test_base_parameters_give_the_same_efforts(name: str) -> None:
    """On motions other than those that found them; the combinations come from least squares: condition times rounding."""
    mech = variant(name)
    base = mech.base_parameters()
    state = random_state(mech, 3, (15,))
    state[1][::3, -mech.n :] = 0.0  # at rest Coulomb friction is no constant load
    table = np.array([direct(mech, "regressor", *row) for row in zip(*state, strict=True)])
    tau = np.array([direct(mech, "inverse_dynamics", *row) for row in zip(*state, strict=True)])
    kept = table[..., base.columns].reshape(-1, len(base))
    error = relative(table[..., base.columns] @ base.values, tau)
    singular = np.linalg.svd(kept / np.linalg.norm(kept, axis=0), compute_uv=False)
    everything = np.linalg.matrix_rank(table.reshape(kept.shape[0], -1), tol=1e-9 * np.linalg.norm(table))
    print(f"{error:.1e}, {len(base)} of {table.shape[-1]}, condition {singular[0] / singular[-1]:.0f}")
    assert error <= 1e-12
    assert np.linalg.matrix_rank(kept / np.linalg.norm(kept, axis=0), tol=1e-7) == len(base) >= everything
    assert np.allclose(base.matrix @ mech.parameters, base.values, rtol=1e-12)
    assert np.array_equal(base.matrix[:, base.columns], np.eye(len(base)))
    moved = mech.parameters.copy()
    names = list(mech.parameter_names)
    for gone in base.absent:
        moved[names.index(gone)] += 100.0
    assert relative(table @ moved, table @ mech.parameters) <= 1e-12


def geometric(mech: Mechanism) -> Mechanism:
    """The same geometry with generic bodies, and no motors: what is left depends on the structure alone."""
    rng = np.random.default_rng(4)
    return mech.replace(links=[link.replace(motor=None, **random_body(rng)) for link in mech.links])


def mayeda(joints: int, parallel: int, *, vertical: bool) -> int:
    """The least number of parameters of a revolute chain whose neighbouring axes are parallel or perpendicular.

    7 N - 4 beta, beta the number of axes in the first group of parallel ones, and 2 less where these are vertical: then
    gravity does not show the first link's two first moments (Mayeda, Yoshida, Osuka 1990).
    """
    return 7 * joints - 4 * parallel - 2 * vertical


def test_number_of_base_parameters_of_the_puma() -> None:
    """36 of 60 (M. Gautier, W. Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", IEEE
    Trans. Robotics and Automation 6(3), 1990); of the first link one moment of inertia is left."""
    base = geometric(robots.puma560()).base_parameters()
    print(base)
    assert len(base) == mayeda(6, 1, vertical=True) == 36
    assert [name.split()[0] for name in base.names if name.split()[0].endswith("1")] == ["YY1"]


@pytest.mark.parametrize(
    ("name", "gravity", "number"),
    [
        ("planar_2r", (0, -9.81, 0), mayeda(2, 2, vertical=False)),
        ("planar_2r", (0, 0, -9.81), mayeda(2, 2, vertical=True)),
        ("planar_3r", (0, -9.81, 0), mayeda(3, 3, vertical=False)),
        ("planar_3r", (0, 0, -9.81), mayeda(3, 3, vertical=True)),
        ("seven_joint", (0, 0, -9.81), mayeda(7, 1, vertical=True)),
        ("panda", (0, 0, -9.81), mayeda(7, 1, vertical=True)),
        ("panda", (0, -9.81, 0), mayeda(7, 1, vertical=False)),
        ("ur5", (0, 0, -9.81), mayeda(6, 1, vertical=True)),
        ("smart", (0, 0, -9.81), mayeda(6, 1, vertical=True)),
    ],
)
def test_number_of_base_parameters(name: str, gravity: tuple[float, ...], number: int) -> None:
    base = geometric(robots.load(name).replace(gravity=gravity)).base_parameters()
    print(base)
    assert len(base) == number


def test_a_rotor_on_a_floating_base_needs_a_link_there() -> None:
    motor = Motor(mass=0.1, com=(0.1, 0, 0), rotor_inertia=1e-4 * np.ones(3), axis=(0, 0, 1), carrier="base", joint="arm")
    arm = Link(name="arm", mass=1.0, inertia=0.1 * np.ones(3))
    with pytest.raises(ModelError) as caught:
        _ = Mechanism([arm], motors=[motor], floating=True).parameters
    assert (
        unnamed(
            caught.value,
            "motor of joint 'arm': carrier is 'base'; expected a link that is fixed to the base, for inertial parameters are"
            " those of links",
        )
        == []
    )
    grounded = Mechanism([arm], motors=[motor])
    assert np.array_equal(grounded.parameters[:10], Mechanism([arm]).parameters), "on the ground its weight is not felt"


def test_motors_bring_their_own() -> None:
    """Of a motor of its own four, less its rotor where the joint's moment of inertia is already felt alone (Jm1 and ZZ1)."""
    arm = robots.puma560()
    base = arm.base_parameters()
    bare = arm.replace(links=[link.replace(motor=None) for link in arm.links]).base_parameters()
    friction = [name for name in base.names if name[0] in "BT"]
    rotors = [name for name in base.names if name.startswith("Jm")]
    print(len(bare), len(base), rotors)
    assert len(friction) == 18
    assert len(base) == len(bare) + len(friction) + len(rotors)
    assert any("Jm1" in name and not name.startswith("Jm1") for name in base.names), "the first rotor is felt with link 1"


def test_names() -> None:
    """In the order of the links, ten each; then of the motors, four each, a prime for another motor of the same joint."""
    mech = Mechanism(
        [Link(joint="fixed"), Link(motor=Motor(inertia=1e-4)), Link()],
        motors=[Motor(joint="link2"), Motor(joint="link3")],
    )
    wanted = [f"{symbol}{k}" for k in (1, 2, 3) for symbol in LINK]
    wanted += [f"{symbol}{k}" for k in ("2", "2'", "3") for symbol in MOTOR]
    assert list(mech.parameter_names) == wanted
    assert LINK == ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ", "XY", "YZ", "XZ")


def test_values_of_one_link_by_hand() -> None:
    """About the origin of the link's frame: m, m c, I + m (c'c 1 - c c')."""
    link = Link(mass=2.0, com=(0.1, 0.2, 0.3), inertia=(0.5, 0.6, 0.7, 0.01, 0.02, 0.03))
    found = Mechanism([link]).parameters
    wanted = [2, 0.2, 0.4, 0.6, 0.5 + 2 * 0.13, 0.6 + 2 * 0.10, 0.7 + 2 * 0.05, 0.01 - 0.04, 0.02 - 0.12, 0.03 - 0.06]
    assert np.allclose(found, wanted, rtol=1e-15, atol=1e-16)


def test_teeth() -> None:
    mech = random_mechanism(3)
    state = random_state(mech)
    moved = mech.parameters.copy()
    seen = np.abs(direct(mech, "regressor", *state)).sum(axis=0)
    moved[int(np.argmax(seen))] *= 1 + 1e-6
    assert relative(direct(mech, "regressor", *state) @ moved, direct(mech, "inverse_dynamics", *state)) > 100 * BOUND


def test_friction_of_a_lift_is_not_its_weight() -> None:
    """Moving, the weight of a vertical slide and its Coulomb friction differ by signs only; at rest one of them is gone."""
    lift = Mechanism([Link(joint="prismatic", mass=2.0, motor=Motor(coulomb=(3.0, -4.0), viscous=0.1))])
    base = lift.base_parameters()
    for speed in (0.0, 0.5, -0.5):
        row = direct(lift, "regressor", np.zeros(1), np.array([speed]), np.ones(1))
        wanted = direct(lift, "inverse_dynamics", np.zeros(1), np.array([speed]), np.ones(1))
        assert row[:, base.columns] @ base.values == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize("ratio", [1256.0, 6283.0, 1e5])
def test_a_high_gear_hides_no_mass(ratio: float) -> None:
    """A small SCARA whose slide is driven by a ball screw: as many base parameters of links as without a motor."""
    arms = [Link.dh(a=0.05, convention="standard", mass=1.0, inertia=(1e-3, 1e-3, 1e-3)) for _ in range(2)]
    plain = Link.dh(convention="standard", joint="prismatic", mass=1.0)
    screw = plain.replace(motor=Motor(inertia=1e-5, gear_ratio=ratio))
    few, many = (Mechanism([*arms, slide]).base_parameters() for slide in (plain, screw))
    assert set(many.absent) == set(few.absent)
    assert len(many) == len(few) + 4, "Jm, for gravity does not pull at it as at the mass that slides, B, Tc+ and Tc-"
