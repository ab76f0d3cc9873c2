"""What is derived equals the compiled kernels, of any mechanism, and says what there is not."""

import re

import numpy as np
import pytest

import linkwise as lw
from linkwise import robots
from linkwise.equations.derive import TITLES, derive
from linkwise.equations.document import evaluated
from linkwise.errors import ArgumentError
from support.random_mechanisms import FLOATING, variant

EXACT = 1e-12
"""Rounding, in another order of sums."""


@pytest.mark.parametrize("name", ["planar_3r", "puma560", "scara_icomatic"])
@pytest.mark.parametrize("what", sorted(TITLES))
def test_recursive_form_equals_the_kernel(name: str, what: str) -> None:
    made = derive(getattr(robots, name)(), what)
    assert made.residual < EXACT
    assert made.listing.title.startswith(TITLES[what])


def test_any_algorithm_and_a_floating_base() -> None:
    assert derive(variant(FLOATING[0]), "momentum").residual < EXACT


def test_options_of_the_algorithm() -> None:
    arm = robots.planar_3r()
    made = derive(arm, "jacobian", link=1, frame="body")
    _, results = made.to_sympy()
    assert made.residual < EXACT
    assert results["J"].shape == (6, 3)
    assert not any(results["J"][:, 2])


@pytest.mark.parametrize("form", ["explicit", "harmonic"])
@pytest.mark.parametrize("name", ["planar_2r", "scara_icomatic", "puma560"])
def test_forward_dynamics_written_out(name: str, form: str) -> None:
    """M, C, g and the elimination: a sliding joint that couples with no other, and friction of motors."""
    made = derive(robots.load(name), "forward_dynamics", form)
    assert made.residual < EXACT
    assert made.listing.outputs == {"qdd": (made.tape.outputs["qdd"][0],)}
    assert "qdd1 = x1" in str(made)


def test_a_mechanism_with_symbols() -> None:
    made = derive(robots.planar_2r().symbolic("inertial", "lengths"), "inverse_dynamics")
    assert made.residual < EXACT
    assert "MX2" in str(made)
    assert "Constants" in str(made)


def test_what_there_is_not_is_named() -> None:
    arm = robots.planar_2r()
    with pytest.raises(ArgumentError, match=r"form.*'long'.*'recursive'.*'explicit'.*'harmonic'"):
        derive(arm, "mass_matrix", "long")
    with pytest.raises(ArgumentError, match="no algorithm 'mass'"):
        derive(arm, "mass")
    with pytest.raises(ArgumentError, match="no explicit form of 'kinetic_energy'"):
        derive(arm, "kinetic_energy", "explicit")
    with pytest.raises(ArgumentError, match="significance is for results that are sums"):
        derive(arm, "forward_dynamics", "explicit", significance=0.1)
    named = arm.symbolic("lengths").substitute(a1=lw.symbols("g1"))
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        with pytest.raises(ArgumentError, match="has symbols 'g1', which name parts of the equations of motion"):
            derive(named, quantity, "explicit")
    with pytest.raises(ArgumentError, match="no small terms to drop"):
        derive(arm, "mass_matrix", significance=0.1)
    with pytest.raises(ArgumentError, match="has no option 'frame'"):
        derive(arm, "mass_matrix", frame="body")


def many_links(moving: int) -> lw.Mechanism:
    """Fixed links up to the tenth, then some that move: the eleventh has the mass M11."""
    links = [lw.Link(joint="fixed", name=f"plate{k}", parent=f"plate{k - 1}" if k else None) for k in range(11 - moving)]
    below = links[-1].name if links else None
    body = {"a": 1.0, "convention": "standard", "mass": 1.5, "com": (-0.5, 0.1, 0.0), "inertia": (0.1, 0.2, 0.3)}
    links += [lw.Link.dh(**body, name=f"arm{k}", parent=f"arm{k - 1}" if k else below) for k in range(moving)]
    return lw.Mechanism(links, gravity=(0.0, -9.81, 0.0), name="many").symbolic("inertial")


@pytest.mark.parametrize("form", ["recursive", "explicit", "harmonic"])
@pytest.mark.parametrize("quantity", ["mass_matrix", "inverse_dynamics", "forward_dynamics"])
def test_elements_of_matrices_are_called_unlike_symbols(quantity: str, form: str) -> None:
    """The element M11 of the mass matrix, and the mass of link 11."""
    mechanism = many_links(2)
    assert "M11" in mechanism.symbols
    made = derive(mechanism, quantity, form)
    print(f"residual {made.residual:.1e}")
    assert made.residual < EXACT
    sides = [line.partition("=")[0].strip() for line in made.to_text(plain=True).splitlines() if " = " in line]
    assert len(sides) == len(set(sides)), "every name is assigned once"
    assert "M11" not in sides
    assignments, results = made.to_sympy()
    assigned = {str(symbol) for symbol, _ in assignments}
    assert not assigned & {*mechanism.symbols}
    matrix = next(iter(results.values()))
    values = {name: 0.3 + 0.1 * k for k, name in enumerate([*mechanism.symbols, "q1", "q2", "qd1", "qd2", *"xyz"])}
    values |= {f"{letter}{k}": 0.2 + 0.3 * k for letter in ("qdd", "tau") for k in (1, 2)}
    known: dict[object, float] = {}
    for symbol, expression in assignments:
        known[symbol] = float(expression.subs({s: known.get(s, values.get(str(s))) for s in expression.free_symbols}))
    found = matrix.subs({s: known.get(s, values.get(str(s))) for s in matrix.free_symbols})
    kernel = mechanism.kernel(quantity, backend="numpy")
    inputs = [[values[f"{name}1"], values[f"{name}2"]] for name in kernel.tape.inputs if name != "parameters"]
    wanted = kernel(*inputs, [values[name] for name in kernel.tape.labels["parameters"]])
    assert np.abs(np.array(found, dtype=float).reshape(wanted.shape) - wanted).max() < 1e-12 * np.abs(wanted).max()


@pytest.mark.parametrize("quantity", ["mass_matrix", "coriolis_matrix", "jacobian", "inverse_dynamics", "regressor"])
def test_names_of_eleven_joints_and_more_differ(quantity: str) -> None:
    mechanism = many_links(11)
    made = derive(mechanism, quantity)
    assert made.residual < EXACT
    sides = [side.strip() for line in made.to_text(plain=True).splitlines() for side in line.split("=")[:-1]]
    assert len(sides) == len(set(sides))
    assert not {*sides} & {*mechanism.symbols}


@pytest.mark.parametrize("name", ["b1", "M12", "L21", "x1", "D1"])
def test_steps_of_the_elimination_give_way_to_symbols(name: str) -> None:
    named = robots.planar_2r().symbolic("lengths").substitute(a1=lw.symbols(name))
    for form in ("explicit", "harmonic"):
        made = derive(named, "forward_dynamics", form)
        assert made.residual < EXACT
        assert name not in {line.name for line in made.listing.assignments}


def test_notebooks_get_markdown_of_bounded_length() -> None:
    made = derive(robots.puma560(), "regressor")
    text = made._repr_markdown_()
    assert text.count("\n") < 130
    assert text.count("$$") % 2 == 0
    assert made._repr_latex_() is None
    assert repr(made).startswith("<Derivation of regressor, recursive: ")


def test_too_long_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linkwise.equations.derive.MOST_TERMS", 10)
    made = derive(robots.planar_2r(), "inverse_dynamics")
    for way in (made.to_text, made.to_latex, made.to_markdown, made.to_sympy, made.to_source):
        with pytest.raises(ArgumentError, match=r"has \d+ terms, more than 10"):
            way()


def test_values_in_sympy_are_those_of_the_kernel() -> None:
    sympy = pytest.importorskip("sympy")
    arm = robots.planar_3r()
    assignments, results = derive(arm, "mass_matrix").to_sympy()
    q = np.array([0.3, -0.4, 0.5])
    at = {sympy.Symbol(f"q{k + 1}", real=True): value for k, value in enumerate(q)}
    for symbol, value in assignments:
        at[symbol] = value.xreplace(at)
    np.testing.assert_allclose(np.array(results["M"].xreplace(at), dtype=float), arm.mass_matrix(q), rtol=1e-12)


@pytest.mark.parametrize("form", ["explicit", "harmonic"])
@pytest.mark.parametrize("name", ["planar_3r", "puma560", "scara_icomatic"])
def test_written_out_forms_equal_the_kernel(name: str, form: str) -> None:
    arm = getattr(robots, name)()
    for what in ("mass_matrix", "coriolis_matrix", "gravity_torque", "inverse_dynamics", "jacobian", "forward_kinematics"):
        assert derive(arm, what, form).residual < EXACT, what


@pytest.mark.parametrize("form", ["recursive", "explicit", "harmonic"])
def test_symbols_in_every_form(form: str) -> None:
    """Base parameters are for the forms that are written out; the recursive one works out its constants first."""
    arm = robots.planar_3r().symbolic("inertial", "lengths", "gravity")
    for what in ("mass_matrix", "inverse_dynamics"):
        made = derive(arm, what, form, base=form != "recursive")
        assert made.residual < EXACT
        titles = [section.title for section in made.listing.sections]
        assert ("Constants" if form == "recursive" else "Base parameters") in titles
        assert "once for all" in str(made)


def test_base_is_for_what_is_linear_in_inertias() -> None:
    with pytest.raises(ArgumentError, match="no 'forward_dynamics' in base parameters"):
        derive(robots.planar_2r(), "forward_dynamics", base=True)


def test_what_is_dropped_is_bounded() -> None:
    arm = robots.puma560()
    whole, short = (derive(arm, "mass_matrix", "harmonic", significance=share) for share in (0.0, 0.02))
    assert whole.bound == 0.0
    assert short.terms < whole.terms
    q = np.random.default_rng(1).uniform(-np.pi, np.pi, (200, 6))
    given = {f"q{k + 1}": q[:, k] for k in range(6)}
    off = np.abs(evaluated(short.listing, given)["M"] - arm.mass_matrix(q)).max()
    assert 0.05 * short.bound < off <= short.bound + 1e-12


def test_equations_of_a_mechanism_with_symbols() -> None:
    """The planar arm of R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction to Robotic Manipulation* (1994)."""
    sympy = pytest.importorskip("sympy")
    m1, m2, l1, r1, r2, i1, i2 = lw.symbols("m1 m2 l1 r1 r2 I1 I2")
    upper = lw.Link.dh(a=l1, convention="standard", mass=m1, com=(r1 - l1, 0, 0), inertia=(0, 0, i1))
    lower = lw.Link.dh(a=0.5, convention="standard", mass=m2, com=(r2 - 0.5, 0, 0), inertia=(0, 0, i2))
    arm = lw.Mechanism([upper, lower], gravity=(0, 0, 0), name="arm")
    e = arm.equations()
    at = {str(symbol): symbol for symbol in e.parameters}
    length, near, far = at["l1"], at["r1"], at["r2"]
    alpha = at["I1"] + at["I2"] + at["m1"] * near**2 + at["m2"] * (length**2 + far**2)
    beta, delta = at["m2"] * length * far, at["I2"] + at["m2"] * far**2
    c, s = sympy.cos(e.q[1]), sympy.sin(e.q[1])
    one, two = e.qd
    mass = sympy.Matrix([[alpha + 2 * beta * c, delta + beta * c], [delta + beta * c, delta]])
    coriolis = sympy.Matrix([[-beta * s * two, -beta * s * (one + two)], [beta * s * one, 0]])
    assert (e.M - mass).expand() == sympy.zeros(2, 2)
    assert (e.C - coriolis).expand() == sympy.zeros(2, 2)
    assert e.g == sympy.zeros(2, 1)
    assert e.form == "harmonic"
    assert e.residual < EXACT
    assert r"m_{2}" in e.to_latex()
    graph = arm.equations("graph")
    assert (graph.M - mass).expand() == sympy.zeros(2, 2)
    assignments, matrix = graph.steps("M")
    for symbol, value in reversed(assignments):
        matrix = matrix.subs(symbol, value)
    assert (matrix - mass).expand() == sympy.zeros(2, 2)


def test_equations_with_symbols_that_have_no_harmonic_form() -> None:
    craft = lw.Mechanism([lw.Link(mass=lw.symbols("m"), com=(0.1, 0.2, 0.3))], floating=True)
    assert craft.equations().form == "graph"
    with pytest.raises(ArgumentError):
        craft.equations("harmonic")


def test_short_names_and_what_there_is() -> None:
    arm = robots.planar_2r()
    assert arm.derive("M", "explicit").to_text() == arm.derive("mass_matrix", "explicit").to_text()
    with pytest.raises(ArgumentError, match=re.escape("expected M (mass_matrix), C (coriolis_matrix)")):
        arm.derive("mass")
    with pytest.raises(ArgumentError, match=re.escape("'M,C' is 2 names; expected one at a time: M, C")):
        arm.derive("M,C")
