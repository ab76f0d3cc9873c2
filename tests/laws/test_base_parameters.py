"""The base parameters in closed form are those that the rank of the regressor on random motions gives.

M. Gautier, W. Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", IEEE Trans. Robotics and
Automation 6(3), 1990; M. Gautier, "Numerical calculation of the base inertial parameters of robots", ICRA 1990.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots
from linkwise.dynamics import base_bodies, base_forms
from linkwise.dynamics.base_parameters.base_parameters import _sampled, ranked
from linkwise.dynamics.base_parameters.model import BaseBodies
from linkwise.expr.node import parameter
from linkwise.model.symbolic import numbers_at
from linkwise.spatial.rotation import rotation_x
from linkwise.spatial.transform import transform
from support.random_mechanisms import direct, random_state, relative, variant
from support.special_mechanisms import special_mechanism

SPAN = 1e-12
"""Of a column that is made of others, relative to the largest: rounding, times the coefficients, below 100."""

EFFORTS = 1e-12
"""Of efforts in base parameters, relative to the largest; seen: 4e-15."""

NAMES = ("joints 1", "floating 1")


def check(mech: Mechanism, *, resting: bool = True) -> None:
    """Same columns as by rank, and they make all others on motions of their own."""
    found, wanted = base_forms(mech, resting=resting), ranked(mech, resting=resting)
    print(len(found), "of", found.matrix.shape[1])
    assert found.columns.tolist() == wanted.columns.tolist()
    assert set(found.unseen) == set(wanted.absent)
    table = _sampled(mech, np.random.default_rng(1), found.matrix.shape[1], 0.25 if resting else 0.0)
    assert relative(table[:, found.columns] @ found.matrix, table) <= SPAN
    assert np.array_equal(found.matrix[:, found.columns], np.eye(len(found)))


@pytest.mark.parametrize("seed", range(16))
def test_special_mechanisms(seed: int) -> None:
    """Parallel axes, axes that meet, slides between them, gravity along one or none, rotors on links."""
    check(special_mechanism(seed), resting=seed % 3 > 0)


def of_joints(*kinds: str, **options: object) -> Mechanism:
    """Equal links one after the other on joints of these kinds."""
    more = {"screw": {"pitch": 0.1}, "universal": {"axis": ((1, 0, 0), (0, 1, 0))}}
    body = {"mass": 1.0, "com": (0.1, 0.02, 0.03), "inertia": (0.02, 0.03, 0.025)}
    links = [Link(joint=kind, before=transform(np.eye(3), (0.3, 0, 0.1)), **body, **more.get(kind, {})) for kind in kinds]
    return Mechanism(links, **options)


WITH_BALLS = [
    of_joints("ball"),
    of_joints("revolute", "ball"),
    of_joints("prismatic", "ball", "ball"),
    of_joints("planar", "ball", "revolute"),
    of_joints("ball", "prismatic", gravity=(0, 0, 0)),
    of_joints("ball", "revolute", floating=True),
    of_joints("revolute", "universal", "ball", "cylindrical", "planar", "prismatic", "screw"),
]


@pytest.mark.parametrize("mech", WITH_BALLS, ids=lambda mech: "-".join(link.joint for link in mech.links))
def test_ball_joints(mech: Mechanism) -> None:
    check(mech)


@pytest.mark.parametrize("name", NAMES)
def test_general_mechanisms(name: str) -> None:
    check(variant(name))


@pytest.mark.parametrize("seed", range(3))
def test_a_floating_base_without_a_link(seed: int) -> None:
    """What bodies on it do not show by themselves has nowhere to go: it is told apart by none, or by another body."""
    check(special_mechanism(100 + seed, floating=True))


def test_a_link_fixed_to_a_floating_base_may_stand_last() -> None:
    arm, hull = Link(name="arm", parent="base"), Link(joint="fixed", name="hull", parent="base")
    check(Mechanism([arm, hull], floating=True))
    found = base_forms(Mechanism([arm, hull], floating=True))
    assert "M2 + M1" in found.names, "links of the base come first"


@pytest.mark.parametrize("name", ["planar_3r", "stanford", "elbow"])
def test_the_same_names_as_by_rank(name: str) -> None:
    arm = robots.load(name)
    assert arm.base_parameters().names == ranked(arm).names


@pytest.mark.parametrize("angle", [np.pi / 4, np.pi / 2, 0.3, 0.0])
def test_two_axes_at_an_angle_without_gravity(angle: float) -> None:
    check(Mechanism([Link(), Link(before=transform(rotation_x(angle), (0.3, 0.0, 0.0)))], gravity=(0, 0, 0)))


def test_an_angle_that_is_nearly_right_leads_nothing() -> None:
    """A frame that stands 2e-4 rad askew: the first moment of inertia is still that about the axis."""
    askew = transform(rotation_x(np.pi / 2 + 2e-4), None)
    found = base_forms(
        Mechanism([Link(after=askew), Link(before=transform(rotation_x(1.0), (0.3, 0, 0)))], gravity=(0, 0, 0))
    )
    assert found.names[0].startswith("YY1 ")
    assert np.abs(found.matrix).max() < 10


def at_values(made: BaseBodies) -> BaseBodies:
    """With numbers for the base parameters."""
    point = {parameter(name): float(value) for name, value in zip(made.names, made.values, strict=True)}

    def numbered(value: object) -> np.ndarray:
        return numbers_at(np.asarray(value, dtype=object), point)

    bodies = tuple(replace(body, inertia=numbered(body.inertia)) for body in made.bodies.bodies)
    rotors = tuple(replace(rotor, inertia=float(numbered(rotor.inertia))) for rotor in made.bodies.rotors)
    reflected = tuple(numbered(made.reflected).tolist())
    return replace(made, bodies=replace(made.bodies, bodies=bodies, rotors=rotors), reflected=reflected)


@pytest.mark.parametrize("mech", [*(special_mechanism(seed) for seed in range(8)), *map(variant, NAMES), *WITH_BALLS[2::2]])
@pytest.mark.parametrize("second", [False, True])
def test_efforts_in_base_parameters(mech: Mechanism, second: bool) -> None:
    made = at_values(base_bodies(mech, second_moments=second))
    state = random_state(mech, 1)
    error = relative(made.efforts(mech, *state).astype(float), direct(mech, "inverse_dynamics", *state))
    print(f"{error:.1e}")
    assert error <= EFFORTS


def test_teeth() -> None:
    """A base parameter that is off by one in a million shows."""
    mech = robots.planar_2r()
    made = base_bodies(mech)
    state = random_state(mech)
    wanted = direct(mech, "inverse_dynamics", *state)
    wrong = replace(made, matrix=made.matrix * (1 + 1e-6))
    assert relative(at_values(wrong).efforts(mech, *state).astype(float), wanted) > 100 * EFFORTS


def test_joints_that_follow_others() -> None:
    """The combinations of the joints set free determine all efforts; by rank there can be fewer."""
    mech = variant("coupled 1")
    found, fewest = base_forms(mech), mech.base_parameters()
    table = _sampled(mech, np.random.default_rng(2), found.matrix.shape[1], 0.0)
    assert relative(table[:, found.columns] @ found.matrix, table) <= SPAN
    assert len(found) >= len(fewest)
    assert not found.minimal
    assert "some may not be distinguishable" in repr(found)


def test_a_motor_without_carrier_is_felt_with_the_first_moment_of_inertia() -> None:
    """G^2 Jm and ZZ of the first link are one; further out the joint's speed is not all that the link has."""
    across = transform(rotation_x(np.pi / 2), (0.5, 0.0, 0.0))
    found = base_forms(
        Mechanism([Link(motor=Motor(gear_ratio=3.0)), *(Link(before=across, motor=Motor()) for _ in range(2))])
    )
    assert "9 Jm1" in found.names[0]
    assert found.names[0].startswith("ZZ1 + 0.25 M2")
    assert "Jm3" in found.names
