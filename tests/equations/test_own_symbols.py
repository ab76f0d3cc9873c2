"""SymPy symbols that describe a mechanism come back as they are: the same objects of SymPy, with their assumptions."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import planar
from linkwise.errors import ArgumentError, ModelError
from linkwise.expr.node import origin_of, parameter
from linkwise.expr.sympy.from_sympy import from_sympy

LENGTH = sympy.Symbol("a1")
MASS = sympy.Symbol("m", positive=True)
OTHER = sympy.Symbol("a2", real=True)
OWN = {LENGTH, MASS, OTHER}
FORMS = ("recursive", "explicit", "harmonic")


def arm() -> lw.Mechanism:
    """A planar arm with three kinds of SymPy symbols and one of Linkwise."""
    first = lw.Link.dh(a=LENGTH, convention="standard", mass=MASS, com=(-LENGTH / 2, 0, 0))
    second = lw.Link.dh(a=OTHER, convention="standard", mass=1.0, com=(-0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    return lw.Mechanism([first, second], gravity=(0, -lw.symbols("g"), 0))


def symbols_in(*matrices: Any) -> set[Any]:
    return set().union(*(matrix.free_symbols for matrix in matrices))


def own(*matrices: Any) -> set[Any]:
    """The symbols of the mechanism among those of matrices, found by their names alone."""
    return {symbol for symbol in symbols_in(*matrices) if symbol.name in {"a1", "m", "a2"}}


@pytest.mark.parametrize("form", [None, "graph"])
def test_equations_are_in_the_users_own_symbols(form: str | None) -> None:
    e = arm().equations(form)
    assert own(e.M, e.g, e.tau) == OWN
    assert set(e.parameters) == {*OWN, sympy.Symbol("g", real=True)}
    inertia = e.M.subs({LENGTH: 2, MASS: 3, OTHER: 1, e.q[1]: 0})
    kernel = arm().kernel("mass_matrix")
    values = {"a1": 2.0, "m": 3.0, "a2": 1.0, "g": 9.81}
    wanted = kernel([0.0, 0.0], [values[name] for name in arm().symbols])
    assert np.abs(np.array(inertia, dtype=float) - wanted).max() <= 1e-15 * 10.0  # a few roundings of entries up to 10


@pytest.mark.parametrize("form", [None, "graph"])
def test_steps_are_in_them_too(form: str | None) -> None:
    assignments, matrix = arm().equations(form).steps("g")
    assert own(matrix, *(value for _, value in assignments)) == OWN


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("base", [False, True])
def test_derivations_are(form: str, base: bool) -> None:
    assignments, results = arm().derive("gravity_torque", form, base=base).to_sympy()
    assert own(*results.values(), *(value for _, value in assignments)) == OWN


@pytest.mark.parametrize("form", FORMS)
def test_source_makes_them_with_their_assumptions(form: str) -> None:
    found: dict[str, Any] = {}
    exec(arm().derive("inverse_dynamics", form).to_source(), found)
    assert own(found["tau"]) == OWN


@pytest.mark.parametrize("again", [lambda x: x, copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_kernels_and_copies_keep_them(again: Any) -> None:
    mechanism = again(arm())
    assert mechanism == arm()
    assert own(mechanism.equations().tau) == OWN
    kernel = again(arm().kernel("forward_kinematics"))
    for one in (kernel, kernel.derivative("parameters")):
        assignments, results = one.to_sympy()
        assert own(*results.values(), *(value for _, value in assignments)) <= {LENGTH, OTHER}
    assert own(*kernel.to_sympy()[1].values()) == {LENGTH, OTHER}


def test_what_is_put_in_for_a_symbol_comes_back() -> None:
    whole = sympy.Symbol("n", integer=True)
    made = arm().substitute({LENGTH: whole / 2, "g": 9.81})
    assert own(made.equations().M) == {MASS, OTHER}
    assert whole in made.equations().M.free_symbols
    assert arm().substitute({LENGTH: 2.0}) == arm().substitute(a1=2.0)
    with pytest.raises(ArgumentError, match="'a1' has two values"):
        arm().substitute({LENGTH: 1.0, "a1": 2.0})


def test_standard_symbols_beside_them() -> None:
    assert own(arm().symbolic("inertial").equations().M) == OWN


CONFLICTS = [
    (LENGTH, sympy.Symbol("a1", positive=True)),
    (LENGTH, sympy.Symbol("a1", real=True)),
    (sympy.Symbol("a1", integer=True), sympy.Symbol("a1", positive=True)),
]


@pytest.mark.parametrize(("one", "other"), CONFLICTS, ids=str)
def test_two_symbols_of_one_name_are_refused(one: Any, other: Any) -> None:
    """Wherever the two stand: in one link, in two, beside the links; both are named with their assumptions."""
    first = lw.Link.dh(a=one, convention="standard")
    makers = [
        lambda: lw.Mechanism([lw.Link.dh(a=one, d=other, convention="standard")]),
        lambda: lw.Mechanism([first, lw.Link(mass=other)]),
        lambda: lw.Mechanism([first], gravity=(0, 0, -other)),
        lambda: lw.Mechanism([first], motors=[lw.Motor(joint="link1", inertia=other)]),
        lambda: lw.Mechanism([first, lw.Link(mass=lw.symbols("m"))]).substitute(m=other),
        lambda: planar.Mechanism([planar.Link(a=one), planar.Link(a=other)]),
    ]
    for make in makers:
        with pytest.raises(ModelError) as caught:
            make()
        (problem,) = caught.value.problems
        assert problem.field == "symbols"
        assert set(problem.value) == {one, other}
        assert sympy.srepr(one) in problem.expected
        assert sympy.srepr(other) in problem.expected
    with pytest.raises(ModelError) as caught:
        lw.Link.dh(a=one + 2 * other, convention="standard")
    assert sympy.srepr(one) in str(caught.value)
    assert sympy.srepr(other) in str(caught.value)


def test_other_mechanisms_do_not_matter() -> None:
    """What a name stands for is a matter of each mechanism, whichever others there are."""
    several = [
        lw.Mechanism([lw.Link.dh(a=symbol, convention="standard")])
        for symbol in (LENGTH, sympy.Symbol("a1", positive=True), lw.symbols("a1"), sympy.Symbol("a1", real=True))
    ]
    found = [own(next(iter(each.kernel("forward_kinematics").to_sympy()[1].values()))) for each in several]
    real = sympy.Symbol("a1", real=True)
    assert found == [{LENGTH}, {sympy.Symbol("a1", positive=True)}, {real}, {real}]


def test_a_symbol_of_linkwise_is_the_one_of_sympy_with_its_name() -> None:
    """In every field: they cancel, are one parameter, and come back as the one of SymPy."""
    a1 = lw.symbols("a1")
    first = lw.Link.dh(a=LENGTH, d=2 * a1, convention="standard", motor=lw.Motor(inertia=a1))
    frame = np.eye(4, dtype=object)
    frame[0, 3] = -a1
    made = lw.Mechanism([first], tool=frame, gravity=(0, 0, -a1), motors=[lw.Motor(joint="link1", inertia=a1)])
    assert made.symbols == ("a1",)
    pose = made.kernel("forward_kinematics")
    assert pose([0.3], [1.5])[:3, 3].tolist() == [0.0, 0.0, 3.0]
    assert own(next(iter(pose.to_sympy()[1].values()))) == {LENGTH}
    assert made.equations().M[0, 0] == 2 * LENGTH
    flat = planar.Mechanism([planar.Link(a=LENGTH), planar.Link(a=-a1)])
    assert flat.symbols == ("a1",)
    assert flat.poses([0.0, 0.0])[1, 0, 2] == 0


def test_reading_keeps_symbols_that_are_not_merely_real() -> None:
    assert from_sympy(OTHER) is parameter("a2")
    assert origin_of(from_sympy(MASS)) == MASS
    assert own(lw.Mechanism([lw.Link(joint="prismatic", mass=from_sympy(MASS * 2))]).equations().M) == {MASS}


@pytest.mark.parametrize("symbol", [lw.symbols("q1"), sympy.Symbol("q1"), lw.symbols("qd1")], ids=str)
def test_a_symbol_with_the_name_of_a_coordinate_is_refused(symbol: Any) -> None:
    made = lw.Mechanism([lw.Link.dh(a=symbol, convention="standard", mass=1.0)])
    for form in (None, "graph"):
        with pytest.raises(ArgumentError, match=f"symbol '{made.symbols[0]}'"):
            made.equations(form)


def test_planar_mechanisms_give_them_back() -> None:
    t, u = sympy.symbols("t u")
    made = planar.Mechanism([planar.Link(), planar.Link(a=LENGTH)])
    assert made.symbolic_transforms()[1][0, 2] == LENGTH
    assert made.poses([t, u])[1, 0, 2] == LENGTH * sympy.cos(t)
    assert made.poses([0.0, 0.2])[1, 0, 2] == LENGTH
    assert str(made.poses([lw.symbols("t"), 0.2])[1, 0, 2]) == "a1 * cos(t)"
    with pytest.raises(ModelError) as caught:
        made.poses([t, sympy.Symbol("a1", positive=True)])
    assert set(caught.value.problems[0].value) == {LENGTH, sympy.Symbol("a1", positive=True)}
    with pytest.raises(ArgumentError, match="not of both"):
        made.poses([t, lw.symbols("u")])
