"""What the methods of dynamics refuse, word by word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from linkwise import Link, Mechanism, Motor, robots, symbols
from linkwise.dynamics import Contacts, base_parameters, operational_space_inertia
from linkwise.errors import ArgumentError, LinkwiseError, ModelError
from linkwise.kinematics import manipulability
from support.messages import unnamed

ARM = robots.load("planar_2r")
BODY = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
CRAFT = Mechanism([Link(joint="fixed", name="hull", **BODY), Link(name="arm", **BODY)], floating=True, name="craft")
Z2, Z8 = np.zeros(2), np.zeros(8)

SHAPES: list[tuple[str, tuple[Any, ...], str]] = [
    ("mass_matrix", (np.zeros(3),), "mass_matrix: q has the shape (3,); expected (..., 2)"),
    ("mass_matrix", (np.zeros((2, 3)),), "mass_matrix: q has the shape (2, 3); expected (..., 2)"),
    ("mass_matrix", (None,), "mass_matrix: q holds object; expected real numbers (..., 2)"),
    ("coriolis_matrix", (Z2, np.zeros(1)), "coriolis_matrix: qd has the shape (1,); expected (..., 2)"),
    ("gravity_torque", (["a", "b"],), "gravity_torque: q holds <U1; expected real numbers (..., 2)"),
    ("gravity_torque", (0.0,), "gravity_torque: q has the shape (); expected (..., 2)"),
    ("gravity_torque", ([[1.0], [1.0, 2.0]],), "gravity_torque: q is not an array; expected (..., 2)"),
    ("bias_torque", (Z2, 1j * Z2), "bias_torque: qd holds complex128; expected real numbers (..., 2)"),
    ("friction_torque", (np.zeros(3),), "friction_torque: qd has the shape (3,); expected (..., 2)"),
    ("forward_dynamics", (Z2, Z2, np.zeros((2, 5))), "forward_dynamics: tau has the shape (2, 5); expected (..., 2)"),
    (
        "forward_dynamics",
        (np.zeros((2, 2)), np.zeros((3, 2)), Z2),
        "forward_dynamics: the batch shapes do not fit each other: q (2,), qd (3,), tau ()",
    ),
    (
        "inverse_dynamics_derivatives",
        (Z2, Z2, np.zeros(3)),
        "inverse_dynamics_derivatives: qdd has the shape (3,); expected (..., 2)",
    ),
    (
        "forward_dynamics_derivatives",
        (Z2, np.zeros(0), Z2),
        "forward_dynamics_derivatives: qd has the shape (0,); expected (..., 2)",
    ),
    ("kinetic_energy", (Z2, np.zeros(5)), "kinetic_energy: qd has the shape (5,); expected (..., 2)"),
    ("potential_energy", (np.zeros(1),), "potential_energy: q has the shape (1,); expected (..., 2)"),
    ("momentum", (np.zeros(1), Z2), "momentum: q has the shape (1,); expected (..., 2)"),
    ("center_of_mass", (np.zeros(1),), "center_of_mass: q has the shape (1,); expected (..., 2)"),
    ("center_of_mass_jacobian", (np.zeros(1),), "center_of_mass_jacobian: q has the shape (1,); expected (..., 2)"),
    ("regressor", (Z2, Z2, np.zeros(5)), "regressor: qdd has the shape (5,); expected (..., 2)"),
    ("integrate", (np.zeros(5), Z2), "integrate: q has the shape (5,); expected (..., 2)"),
    (
        "integrate",
        (np.zeros((2, 2)), Z2, np.zeros(3)),
        "integrate: the batch shapes do not fit each other: q (2,), qd (), dt (3,)",
    ),
    ("difference", (np.zeros(5), Z2), "difference: q0 has the shape (5,); expected (..., 2)"),
    ("difference", (Z2, ["a", "b"]), "difference: q1 holds <U1; expected real numbers (..., 2)"),
    ("difference", (Z2, [[1.0], [1.0, 2.0]]), "difference: q1 is not an array; expected real numbers (..., 2)"),
    (
        "difference",
        (np.zeros((2, 2)), np.zeros((3, 2))),
        "difference: the batch shapes do not fit each other: q0 (2,), q1 (3,)",
    ),
    ("spatial_operators", (np.zeros(5),), "spatial_operators: q has the shape (5,); expected (..., 2)"),
    (
        "operational_space_inertia",
        (np.zeros(3),),
        "inverse_operational_space_inertia: q has the shape (3,); expected (..., 2)",
    ),
]


@pytest.mark.parametrize(("method", "args", "message"), SHAPES)
def test_shapes_and_kinds(method: str, args: tuple[Any, ...], message: str) -> None:
    for _ in range(2):  # before and after the compiled entry is there
        with pytest.raises(ArgumentError) as caught:
            getattr(ARM, method)(*args)
        assert unnamed(caught.value, message) == []


@pytest.mark.parametrize(
    ("method", "args", "message"),
    [
        ("mass_matrix", (Z8[:1],), "mass_matrix: q has the shape (1,); expected (..., 8)"),
        ("mass_matrix", (np.zeros(7),), "mass_matrix: q has the shape (7,); expected (..., 8)"),
        ("bias_torque", (Z8, Z8), "bias_torque: qd has the shape (8,); expected (..., 7)"),
        ("forward_dynamics", (Z8, Z8[:7], Z8), "forward_dynamics: tau has the shape (8,); expected (..., 7)"),
        ("integrate", (Z8, Z8), "integrate: qd has the shape (8,); expected (..., 7)"),
        ("difference", (Z8, Z8[:7]), "difference: q1 has the shape (7,); expected (..., 8)"),
    ],
)
def test_a_floating_base_has_seven_coordinates_and_six_speeds_more(
    method: str, args: tuple[np.ndarray, ...], message: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        getattr(CRAFT, method)(*args)
    assert unnamed(caught.value, message) == []


OPTIONS: list[tuple[Callable[[], object], str]] = [
    (lambda: ARM.momentum(Z2, Z2, about="tip"), "about is 'tip'; expected 'origin' or 'com'"),
    (lambda: ARM.momentum(Z2, Z2, about=None), "momentum: about is None; expected a word or a whole number"),  # type: ignore[arg-type]
    (lambda: ARM.momentum(Z2, Z2, about=["com"]), "momentum: about is ['com']; expected a word or a whole number"),  # type: ignore[arg-type]
    (lambda: ARM.jacobian(Z2, frame=["world"]), "jacobian: frame is ['world']; expected a word or a whole number"),  # type: ignore[arg-type]
    (
        lambda: ARM.operational_space_inertia(Z2, mask=[1]),
        "mask is [1]; expected six of 0 or 1, not all 0: x, y, z, about x, about y, about z; or 'all', 'translation' or"
        " 'rotation'",
    ),  # type: ignore[arg-type]
    (lambda: base_parameters(ARM, seed=-1), "seed is -1; expected a whole number, 0 or more"),
    (lambda: operational_space_inertia(np.eye(3)), "inverse has the shape (3, 3); expected (..., 6, 6)"),
    (lambda: manipulability(np.eye(3)), "jacobian has the shape (3, 3); expected (..., 6, n)"),
    (
        lambda: ARM.operational_space_inertia(Z2, mask="linear"),
        "mask is 'linear'; expected six of 0 or 1, not all 0: x, y, z, about x, about y, about z; or 'all', 'translation'",
    ),
    (lambda: ARM.operational_space_inertia(Z2, frame="tool"), "frame is 'tool'; expected 'world' or 'body'"),
    (
        lambda: ARM.operational_space_inertia(Z2, link="hand"),
        "no link 'hand'; this mechanism has 'link1' and 'link2', or indices -2 to 1",
    ),
    (lambda: ARM.kernel("momentum", abut="com"), "momentum has no option 'abut'; it has 'about'"),
]


@pytest.mark.parametrize(("call", "message"), OPTIONS)
def test_options(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


def test_friction_rules() -> None:
    with pytest.raises(ModelError) as caught:
        ARM.with_friction_rule("dry")
    assert unnamed(caught.value, "mechanism 'planar_2r': friction_rule is 'dry'; expected 'reflected' or 'toolbox7'") == []


def test_operators_of_a_rotor_on_the_ground() -> None:
    motor = Motor(inertia=1e-4, joint="arm", carrier="hull", axis=(0, 0, 1))
    assert CRAFT.replace(motors=[motor]).spatial_operators(CRAFT.neutral).B.any()
    on_ground = CRAFT.replace(floating=False, motors=[motor.replace(carrier="base")])
    assert on_ground.spatial_operators([0.3]).R[0, 0] == 1e-4, "one on the ground is a rotor on a joint"


@pytest.mark.parametrize("value", ["yes", 1, None, np.array([True])])
def test_floating_is_true_or_false(value: object) -> None:
    with pytest.raises(ModelError) as caught:
        ARM.replace(floating=value)
    assert unnamed(caught.value, f"mechanism 'planar_2r': floating is {value!r}; expected True or False") == []


def test_every_error_is_one_of_ours() -> None:
    assert issubclass(ArgumentError, LinkwiseError)
    assert issubclass(ArgumentError, ValueError)
    assert issubclass(ModelError, LinkwiseError)


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("linearize", ([0.0],)),
        ("modes", ([0.0],)),
        ("static_equilibrium", ([0.0],)),
        ("operational_space_dynamics", ([0.0], [0.0])),
        ("dynamic_manipulability", ([0.0],)),
    ],
)
def test_what_needs_numbers_says_so_by_its_own_name(name: str, args: tuple[Any, ...]) -> None:
    rod = Mechanism([Link(axis=(0, 1, 0), mass=symbols("m"), com=(0, 0, -1.0))])
    with pytest.raises(ArgumentError, match=f"has symbols, 'm'; {name} needs numbers"):
        getattr(rod, name)(*args)
    with pytest.raises(ArgumentError, match="has symbols, 'm'; Contacts needs numbers"):
        Contacts(rod, [])
