"""Symbols in Robo's lists: in every number of links and motors, and back as they were given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import robo
from linkwise.errors import ArgumentError, ModelError

pytestmark = pytest.mark.usefixtures("uncompiled")

G = sympy.Symbol("G", positive=True)
J, K, A, S, LENGTH = sympy.symbols("J K a s l")
VALUES = {G: 50.0, J: 3e-4, K: 2e-4, A: 0.7, S: 0.3, LENGTH: 0.5}


def lists(motor: dict[str, Any], link: dict[str, Any] | None = None) -> tuple[list[Any], list[Any]]:
    """Two links and the motor of the first, which rides on the second; with other values for some fields."""
    first = {"number": 1, "kind": "Rotationalz", "connected": [0], "previous": 2, "mass": 1.0, "inertia": (0.02, 0.02, 0.01)}
    first |= {"l": (0.5, 0, 0), "p": (0.2, 0, 0), "a": 0.0, "motors": []} | (link or {})
    second = [2, "Rotationaly", [1], 0, 2.0, (0.02, 0.02, 0.02), (0, 0, 0), (0.25, 0, 0), 0.0, [1]]
    rotor = {"number": 1, "link": 2, "driven_joint": 1, "mass": 0.3, "inertia": (3e-4, 3e-4, 2e-4)}
    rotor |= {"l": (0.1, 0, 0), "p": (0, 0, 0.02), "a": 0.4, "G": 60.0} | motor
    return [list(first.values()), second], [list(rotor.values())]


def numbered(value: Any) -> Any:
    """A value with numbers for its symbols."""
    if isinstance(value, (list, tuple)):
        return [numbered(one) for one in value]
    return float(value.subs(VALUES)) if isinstance(value, sympy.Basic) else value


MOTORS: list[dict[str, Any]] = [
    {"G": G},
    {"G": -2 * G},
    {"inertia": (J, J, K)},
    {"inertia": sympy.diag(J, J, K).tolist()},
    {"inertia": (J, J, K, 0, 0, 0), "G": G, "a": A, "mass": S},
    {"a": A},
    {"a": A, "p": (0.1, S, 0)},
    {"l": (LENGTH, 0, 0), "p": (0, 0, LENGTH)},
]


@pytest.mark.parametrize("rotors", ["bodies", "contained", "reduced"])
@pytest.mark.parametrize("motor", MOTORS, ids=str)
def test_every_number_of_a_motor(motor: dict[str, Any], rotors: str) -> None:
    made = robo.robot(*lists(motor), rotors=rotors)
    e = robo.equations(made)
    q = [0.3, -0.8]
    found = np.array(e.M.subs(dict(zip(e.q, q, strict=True))).subs(VALUES), dtype=float)
    plain = robo.mass_matrix(*lists({name: numbered(value) for name, value in motor.items()}), q, rotors=rotors)
    assert np.abs(found - plain).max() <= 1e-14 * np.abs(plain).max()  # some tens of roundings of the greatest element
    assert set(e.parameters) <= VALUES.keys()


@pytest.mark.parametrize("about", ["com", "joint"])
@pytest.mark.parametrize(
    "link", [{"mass": S}, {"inertia": (J, K, K)}, {"l": (LENGTH, 0, S)}, {"p": (0, LENGTH, 0)}, {"a": A}], ids=str
)
def test_every_number_of_a_link(link: dict[str, Any], about: str) -> None:
    options: dict[str, Any] = {"inertia_about": about, "physical": False}
    e = robo.equations(*lists({}, link), **options)
    q = [0.3, -0.8]
    found = np.array(e.M.subs(dict(zip(e.q, q, strict=True))).subs(VALUES), dtype=float)
    plain = robo.mass_matrix(*lists({}, {name: numbered(value) for name, value in link.items()}), q, **options)
    assert np.abs(found - plain).max() <= 1e-14 * np.abs(plain).max()


def test_they_come_back_in_lists() -> None:
    links, motors = lists({"G": G, "a": A, "inertia": (J, J, K)}, {"l": (LENGTH, 0, 0), "mass": 2 * S})
    made = robo.robot(links, motors)
    back = made.to_lists()
    assert back[0][0][4] == 2 * S
    assert back[0][0][6] == [LENGTH, 0.0, 0.0]
    assert back[1][0][7:] == [A, G]
    assert back[1][0][4][2][2] == K
    assert robo.robot(*back) == made
    assert made != robo.robot(*lists({}))
    assert hash(made.motors[0]) == hash(robo.Motor(*motors[0]))


def test_symbolic_mechanisms_as_lists() -> None:
    made = robo.robot(*lists({"G": G, "inertia": (J, J, K)}, {"l": (LENGTH, 0, 0)}))
    links, motors = robo.from_mechanism(made.mechanism)
    assert robo.robot(links, motors).mechanism.equations().M == made.mechanism.equations().M
    with pytest.raises(ModelError) as caught:
        robo.from_mechanism(made.mechanism.symbolic("gravity"))
    assert [problem.field for problem in caught.value.problems] == ["gravity"]
    standard = lw.robots.planar_3r().symbolic()
    again = robo.to_mechanism(*robo.from_mechanism(standard, allow_loss=True), gravity=standard.gravity)
    values = lw.robots.planar_3r().symbol_values()
    q = [0.3, 0.4, -0.9]
    found = again.substitute({name: values[name] for name in again.symbols}).mass_matrix(q)
    assert np.abs(found - lw.robots.planar_3r().mass_matrix(q)).max() <= 1e-14
    twisted = lw.Mechanism([lw.Link.dh(alpha=A, convention="standard"), lw.Link.dh(a=1.0, convention="standard")])
    with pytest.raises(ModelError) as caught:
        robo.from_mechanism(twisted)
    assert [(problem.item, problem.field) for problem in caught.value.problems] == [("link 'link2'", "axis")]


def test_a_motor_that_is_no_rotor_is_told_by_its_own_symbols() -> None:
    with pytest.raises(ModelError) as caught:
        robo.robot(*lists({"inertia": (J, A, K)}))
    (problem,) = caught.value.problems
    assert (problem.item, problem.field) == ("motor 1", "inertia")
    assert str(problem.value[0][0]) == "J"
    with pytest.raises(ModelError) as caught:
        robo.robot(*lists({"G": 0}))
    assert [(problem.item, problem.field) for problem in caught.value.problems] == [("motor 1", "G")]


@pytest.mark.parametrize("q", [[sympy.Symbol("q1"), 0.0], list(lw.symbols("q1 q2"))], ids=str)
def test_symbols_for_coordinates_point_to_derive(q: list[Any]) -> None:
    made = robo.robot(*lists({}))
    with pytest.raises(ArgumentError, match=r"q.*'forward_kinematics'"):
        robo.forward_kinematics(made, q)
    with pytest.raises(ArgumentError, match=r"qd.*'inverse_dynamics'"):
        made.mechanism.inverse_dynamics([0.0, 0.0], q, [0.0, 0.0])
    with pytest.raises(ArgumentError, match=r"derive\('forward_kinematics'\)"):
        robo.forward_kinematics(*lists({}, {"l": (LENGTH, 0, 0)}), [0.0, 0.0])


@pytest.mark.parametrize("rotors", ["bodies", "contained", "reduced"])
def test_spatial_operators_have_the_motors(rotors: str) -> None:
    made = robo.robot(*lists({}), rotors=rotors)
    q = [0.3, -0.8]
    o, mass = made.mechanism.spatial_operators(q), robo.mass_matrix(made, q)
    half = np.eye(2) + o.H @ o.phi @ o.K
    assert np.abs(half @ o.D @ half.T - mass).max() <= 1e-14 * np.abs(mass).max()
