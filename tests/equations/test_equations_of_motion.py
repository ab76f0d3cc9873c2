"""What users hold: SymPy matrices that equal textbooks' and kernels', LaTeX, messages."""

import re
import sys

import numpy as np
import pytest
import sympy

import linkwise as lw
from linkwise import EndStop, LinearSpringDamper, Link, Loop, Mechanism, Motor, Spring, robots
from linkwise.equations import equations_of_motion as module
from linkwise.errors import ArgumentError, MissingExtraError, ModelError
from support.messages import unnamed
from support.random_mechanisms import FIXED, afloat, direct, random_mechanism, random_state, relative, variant, with_rotors

SAME = 1e-12


def numeric(e, expression, q, qd, qdd):
    symbols = [*e.q, *e.qd, *e.qdd]
    found = sympy.lambdify(symbols, expression, modules="numpy")(*np.concatenate([q, qd, qdd]))
    return np.asarray(found, dtype=float)


def elbow(**changes) -> Mechanism:
    """A planar arm whose numbers are exact in binary: lengths 2 and 1, masses 3 and 0.5."""
    first = Link.dh(a=2.0, convention="standard", mass=3.0, com=(-1.0, 0, 0), inertia=(0.5, 0.5, 0.75))
    second = Link.dh(a=1.0, convention="standard", mass=0.5, com=(-0.5, 0, 0), inertia=(0.125, 0.125, 0.25))
    return Mechanism([first, second], name="elbow", **{"gravity": (0, -8, 0), **changes})


def test_planar_elbow_is_the_textbook_form_as_symbols() -> None:
    """M. W. Spong, S. Hutchinson, M. Vidyasagar, *Robot Modeling and Control* (2006), chapter 7: the planar elbow."""
    e = elbow().equations()
    q1, q2 = e.q
    qd1, qd2 = e.qd
    half = sympy.Rational(1, 2)
    m1, m2, l1, lc1, lc2, i1, i2, g = 3, half, 2, 1, half, 3 * half / 2, half / 2, 8
    d22 = m2 * lc2**2 + i2
    d12 = m2 * (lc2**2 + l1 * lc2 * sympy.cos(q2)) + i2
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * sympy.cos(q2)) + i1 + i2
    h = -m2 * l1 * lc2 * sympy.sin(q2)
    weight = m2 * lc2 * g * sympy.cos(q1 + q2)
    assert sympy.expand(e.M - sympy.Matrix([[d11, d12], [d12, d22]])) == sympy.zeros(2)
    assert sympy.expand(e.C - sympy.Matrix([[h * qd2, h * qd2 + h * qd1], [-h * qd1, 0]])) == sympy.zeros(2)
    assert sympy.expand(e.g - sympy.Matrix([(m1 * lc1 + m2 * l1) * g * sympy.cos(q1) + weight, weight])) == sympy.zeros(2, 1)
    assert e.friction == sympy.zeros(2, 1)


def test_polar_arm_is_the_textbook_form_as_symbols() -> None:
    """J. J. Craig, *Introduction to Robotics* (1989), chapter 6: one joint turns, the other slides along the arm."""
    first = Link(axis=(0, 0, 1), mass=2.0, com=(0.5, 0, 0), inertia=(0.25, 0.25, 0.25))
    second = Link(joint="prismatic", axis=(1, 0, 0), mass=4.0, inertia=(0.125, 0.125, 0.125))
    e = Mechanism([first, second], gravity=(0, -8, 0)).equations()
    (t, d), (td, dd) = e.q, e.qd
    c, s, eighth = sympy.cos(t), sympy.sin(t), sympy.Rational(1, 8)
    assert sympy.expand(e.M - sympy.diag(2 * eighth * 2 + 3 * eighth + 4 * d**2, 4)) == sympy.zeros(2)
    assert sympy.expand(e.C * e.qd - sympy.Matrix([8 * d * td * dd, -4 * d * td**2])) == sympy.zeros(2, 1)
    assert sympy.expand(e.g - 8 * sympy.Matrix([(1 + 4 * d) * c, 4 * s])) == sympy.zeros(2, 1)


@pytest.mark.parametrize("arm", [elbow(), elbow(gravity=(1, 2, 4))], ids=["upright", "tilted"])
def test_mass_rate_less_twice_coriolis_is_skew_as_symbols(arm: Mechanism) -> None:
    third = Link.dh(a=0.5, alpha=0.0, convention="standard", mass=0.25, com=(0.5, 0.25, 0), inertia=(0.5, 0.5, 0.5))
    for made in (arm, arm.replace(links=[*arm.links, third])):
        e = made.equations()
        rate = sum((e.M.diff(q) * qd for q, qd in zip(e.q, e.qd, strict=True)), sympy.zeros(made.n))
        skew = (rate - 2 * e.C).applyfunc(sympy.expand)
        assert (skew + skew.T).applyfunc(sympy.expand) == sympy.zeros(made.n)


@pytest.mark.parametrize("name", ["puma560", "smart", "ur5", "scara_icomatic", "planar_3r"])
def test_expressions_of_ready_robots_are_the_kernels(name: str) -> None:
    arm = robots.load(name)
    e = arm.equations()
    assert e.form == "harmonic"
    assert e.residual < SAME
    q, qd, qdd = random_state(arm, 1)
    if name != "smart":  # (its lines are long; the sum of all is held below)
        assert relative(numeric(e, e.M, q, qd, qdd), direct(arm, "mass_matrix", q)) < SAME
        assert relative(numeric(e, e.C, q, qd, qdd), direct(arm, "coriolis_matrix", q, qd)) < SAME
        assert relative(numeric(e, e.g, q, qd, qdd)[:, 0], direct(arm, "gravity_torque", q)) < SAME
    assert relative(numeric(e, e.tau, q, qd, qdd)[:, 0], direct(arm, "inverse_dynamics", q, qd, qdd)) < SAME
    assert e.harmonic() is e
    check_latex(e.to_latex())


def test_stanford_arm_with_masses() -> None:
    rng = np.random.default_rng(3)
    bare = robots.stanford()
    com = rng.uniform(-0.1, 0.1, 3)
    bodies = [{"mass": 1.0 + k, "com": com * (k == 2), "inertia": (0.03, 0.02, 0.02)} for k in range(6)]
    links = [link.replace(**body) for link, body in zip(bare.links, bodies, strict=True)]
    arm = bare.replace(links=links)
    e = arm.equations()
    q, qd, qdd = random_state(arm, 2)
    assert relative(numeric(e, e.tau, q, qd, qdd)[:, 0], direct(arm, "inverse_dynamics", q, qd, qdd)) < SAME
    assert sympy.degree(sympy.expand(e.M[0, 0]), e.q[2]) == 2


@pytest.mark.parametrize("seed", range(3))
def test_tree_with_rotors_and_friction(seed: int) -> None:
    arm = with_rotors(random_mechanism(seed, ["revolute", "prismatic", "revolute"], [-1, 0, 0]), seed)
    e = arm.equations()
    q, qd, qdd = random_state(arm, seed)
    assert relative(numeric(e, e.tau, q, qd, qdd)[:, 0], direct(arm, "inverse_dynamics", q, qd, qdd)) < SAME
    assert relative(numeric(e, e.friction, q, qd, qdd)[:, 0], direct(arm, "friction_torque", qd)) < SAME


PULLED = [("base", (0.5, 0.2, 0)), ("link2", (0.1, 0, 0))]
SPRINGS = {
    "on joints": [
        Spring("link1", stiffness=2.0, rest=0.1, damping=0.3),
        Spring({"link1": 1.0, "link2": -2.0}, stiffness=3.0),
    ],
    "between links": [LinearSpringDamper(PULLED, stiffness=5.0, rest=0.2, damping=0.4)],
    "end stop": [EndStop("link1", stiffness=10.0, damping=1.0, limits=(-0.2, 0.2))],
}


@pytest.mark.parametrize("name", SPRINGS)
def test_springs_are_a_term_of_their_own(name: str) -> None:
    arm = elbow(springs=SPRINGS[name])
    e, (q, qd, qdd) = arm.equations(), np.random.default_rng(0).normal(size=(3, 2))
    assert relative(numeric(e, e.tau, q, qd, qdd).ravel(), arm.inverse_dynamics(q, qd, qdd)) < SAME
    assert relative(numeric(e, e.springs, q, qd, qdd).ravel(), arm.spring_torque(q, qd)) < SAME
    assert elbow().equations().M == e.M
    assert r"s_{1}" in e.to_latex()
    k = lw.symbols("k")
    assert elbow(springs=[Spring("link2", stiffness=k)]).equations().springs[1] == sympy.Symbol("k", real=True) * e.q[1]


def test_graph_form_is_for_what_has_no_harmonics() -> None:
    screw = random_mechanism(2, ["revolute", "screw"], [-1, 0])
    craft = afloat(random_mechanism(1, ["revolute"]))
    for arm in (screw, craft):
        e = arm.equations()
        assert (e.form, e.harmonics, e.residual) == ("graph", None, 0.0)
        state = random_state(arm, 1)
        assert relative(numeric(e, e.M, *state), direct(arm, "mass_matrix", state[0])) < SAME
        with pytest.raises(ArgumentError, match=r"equations\(form='graph'\) has them$"):
            e.harmonic()
    assert [str(symbol) for symbol in (craft.equations().q[0], craft.equations().q[7])] == ["base_x", "q1"]
    assert [str(craft.equations().qdd[k]) for k in (5, 6)] == ["base_wz_dot", "qdd1"]


def test_both_forms_are_equal() -> None:
    arm = robots.planar_2r()
    first, second = arm.equations(), arm.equations(form="graph")
    assert second.form == "graph"
    for name in ("M", "C", "g"):
        difference = getattr(first, name) - getattr(second, name)
        difference = difference.applyfunc(lambda entry: sympy.expand(entry.rewrite(sympy.exp)))
        left = difference.applyfunc(lambda entry: sum(abs(term.as_coeff_Mul()[0]) for term in sympy.Add.make_args(entry)))
        assert max(left) < 1e-14
    assert second.harmonic().M == first.M


@pytest.mark.parametrize("name", [FIXED[0], FIXED[3], "floating rotors 1"])
def test_steps_are_the_kernel(name: str) -> None:
    arm = variant(name)
    e = arm.equations()
    q, qd, _ = random_state(arm, 4)
    for what, algorithm, symbols, given in (
        ("M", "mass_matrix", [*e.q], (q,)),
        ("C", "coriolis_matrix", [*e.q, *e.qd], (q, qd)),
    ):
        assignments, matrix = e.steps(what)
        function = sympy.lambdify(symbols, matrix, modules="numpy", cse=lambda _, both=(assignments, matrix): both)
        assert relative(function(*np.concatenate(given)), direct(arm, algorithm, *given)) < SAME


def check_latex(source: str) -> None:
    r"""What would not compile: braces, \left and \right, environments, lines without their &."""
    assert source.startswith("\\begin{align*}\n")
    assert source.endswith("\n\\end{align*}")
    depth = 0
    for mark in re.findall(r"(?<!\\)[{}]", source):
        depth += 1 if mark == "{" else -1
        assert depth >= 0
    assert depth == 0
    assert not re.search(r"(?<!\\)\\\\\\end|\d\.?e[-+]?\d|\*\*|qd", source.replace(r"\\", "").replace(r"\end{align*}", ""))
    lines = source.splitlines()[1:-1]
    for k, line in enumerate(lines):
        assert line.count("&") == 1
        assert line.endswith(r" \\") == (k < len(lines) - 1)
        assert line.count(r"\left") == line.count(r"\right")
        assert len(line) < 200


def test_latex_of_the_planar_arm() -> None:
    motor = Motor(viscous=0.5, coulomb=(2.0, -1.0))
    arm = elbow()
    arm = arm.replace(links=[arm.links[0].replace(motor=motor), arm.links[1]])
    source = arm.equations().to_latex(3)
    check_latex(source)
    assert source.splitlines() == [
        r"\begin{align*}",
        r"M(q)\,\ddot{q} + C(q, \dot{q})\,\dot{q} + g(q) + f(\dot{q}) &= \tau \\",
        r"M_{11} &= \frac{49}{8} + \cos{\left(q_{2} \right)} \\",
        r"M_{12} = M_{21} &= \frac{3}{8} + \frac{\cos{\left(q_{2} \right)}}{2} \\",
        r"M_{22} &= \frac{3}{8} \\",
        r"C_{11} &= - \frac{\dot{q}_{2} \sin{\left(q_{2} \right)}}{2} \\",
        r"C_{12} &= - \frac{\dot{q}_{1} \sin{\left(q_{2} \right)}}{2} - \frac{\dot{q}_{2} \sin{\left(q_{2} \right)}}{2} \\",
        r"C_{21} &= \frac{\dot{q}_{1} \sin{\left(q_{2} \right)}}{2} \\",
        r"g_{1} &= 32 \cos{\left(q_{1} \right)} + 2 \cos{\left(q_{1} + q_{2} \right)} \\",
        r"g_{2} &= 2 \cos{\left(q_{1} + q_{2} \right)} \\",
        r"f_{1} &= \frac{3 \operatorname{sign}{\left(\dot{q}_{1} \right)}}{2} + \frac{\dot{q}_{1}}{2} \\",
        r"&\quad + \frac{\left|{\operatorname{sign}{\left(\dot{q}_{1} \right)}}\right|}{2}",
        r"\end{align*}",
    ]


def test_how_it_shows_itself() -> None:
    e = elbow().equations()
    assert repr(e) == "<Equations of elbow: 2 joints, harmonic form>"
    assert e._repr_latex_() == r"$\displaystyle M(q)\,\ddot{q} + C(q, \dot{q})\,\dot{q} + g(q) = \tau$"
    assert repr(elbow(floating=True).equations()) == "<Equations of elbow: 2 joints, floating base, graph form>"
    check_latex(Mechanism([Link(joint="fixed", mass=1.0)]).equations().to_latex())


def test_numbers_keep_their_bits_and_symbols_are_real() -> None:
    e = robots.puma560().equations()
    for value in e.M.atoms(sympy.Float):
        assert value._prec == 53
    assert all(symbol.is_real for symbol in [*e.q, *e.qd, *e.qdd])
    assert [str(symbol) for symbol in (e.q[0], e.qd[5], e.qdd[2])] == ["q1", "qd6", "qdd3"]


def test_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = elbow()
    refused = {
        "form is 'expanded'; expected 'harmonic' or 'graph', or nothing": lambda: arm.equations(form="expanded"),
        "digits is 0; expected a whole number from 1 to 17": lambda: arm.equations().to_latex(0),
        "digits is True; expected a whole number from 1 to 17": lambda: arm.equations().to_latex(True),
        "there is no matrix 'tau'; there are 'M', 'C' and 'g'": lambda: arm.equations().steps("tau"),
        "elbow: M has 7 terms, more than 4; harmonics has them as arrays, steps('M') is another form": lambda: (
            arm.equations().M
        ),
        "elbow: M written out has 20 operations, more than 4; steps('M') names shared parts": lambda: (
            arm.equations("graph").M
        ),
    }
    monkeypatch.setattr(module, "MOST_TERMS", 4)
    monkeypatch.setattr(module, "MOST_OPERATIONS", 4)
    for message, call in refused.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        assert unnamed(caught.value, message) == []


def test_a_long_coriolis_matrix_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    e = elbow().equations()
    monkeypatch.setattr(module, "MOST_TERMS", 0)
    with pytest.raises(ArgumentError) as caught:
        _ = e.C
    said = "elbow: C has at least 1 terms, more than 0; harmonics has them as arrays, steps('C') is another form"
    assert unnamed(caught.value, said) == []
    assert "christoffel" not in vars(e.harmonics)


def test_loops_that_cannot_close_are_refused() -> None:
    arm = elbow(loops=[Loop("point", "link2", "base", name="tip")])
    with pytest.raises(ModelError, match=r"'elbow'.*'tip'"):
        arm.equations()


def test_without_sympy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(MissingExtraError) as caught:
        elbow().equations()
    assert unnamed(caught.value, 'symbolic equations need SymPy: pip install "sympy>=1.12"') == []
