"""Equations of motion with loops closed: the two forms beside the compiled dynamics, and beside each other."""

import numpy as np
import pytest

import linkwise as lw
from linkwise.errors import ArgumentError
from linkwise.loops import AssemblyModes

sympy = pytest.importorskip("sympy")


def at(*position):
    place = np.array(np.eye(4), dtype=float if all(isinstance(x, (int, float)) for x in position) else object)
    place[: len(position), 3] = position
    return place


def bars(crank, coupler, rocker, ground, joint="point"):
    parts = (
        ("crank", "base", 0.0, 0.2, (0.3, 0.1, 0), 0.01, 1.0),
        ("coupler", "crank", crank, 0.6, (0.5, 0, 0), 0.05, -1.0),
        ("rocker", "base", ground, 0.4, (0.2, 0, 0), 0.02, 1.0),
    )
    links = [
        lw.Link(name=name, parent=parent, before=at(x), mass=mass, com=com, inertia=(moment,) * 3, offset=offset)
        for name, parent, x, mass, com, moment, offset in parts
    ]
    links[0] = links[0].replace(motor=lw.Motor(viscous=0.02))
    loop = lw.Loop(joint, "coupler", "rocker", at(coupler), at(rocker), name="pin")
    return lw.Mechanism(links, loops=[loop], gravity=(0, -9.81, 0), name="bars")


PARALLELOGRAM = bars(0.5, 1.0, 0.5, 1.0)
CASES = {
    "four_bar": lw.robots.four_bar,
    "slider_crank": lw.robots.slider_crank,
    "parallelogram": lambda: PARALLELOGRAM,
    "jansen": lw.robots.jansen,
}


@pytest.fixture(scope="module", params=["four_bar", "slider_crank", "parallelogram"])
def minimal(request):
    return CASES[request.param]().equations()


@pytest.mark.parametrize("name", CASES)
def test_multipliers_beside_the_compiled_dynamics(name):
    e = CASES[name]().equations("multipliers")
    residual = e.residual
    print(f"{e}: {residual:.1e}")
    assert residual < 1e-10  # rounding times the condition of J inverse(M) J', 1e4 for Jansen's leg
    assert e.J.shape == (len(e.rows), e.tree.nv)


def test_minimal_beside_the_compiled_dynamics(minimal):
    residual = minimal.residual
    print(f"{minimal}: {residual:.1e}")
    assert residual < 1e-11
    assert minimal.M.shape == (1, 1)
    assert minimal.form == "harmonic"


def test_minimal_in_the_driven_coordinate_alone(minimal):
    """Positions, inertia and accelerations from u, ud and tau by the printed equations, beside kernels."""
    mech, (u,), (ud,) = minimal.mechanism, minimal.q[:1], minimal.qd
    positions = sympy.lambdify([u], list(minimal.positions.values()), modules="numpy", cse=True)
    closed = [minimal.M, minimal.C * minimal.qd + minimal.g + minimal.friction]
    numbers = sympy.lambdify([*minimal.q, ud], closed, modules="numpy", cse=True)
    linkage = mech.linkage(list(minimal.driven))
    for value in (0.3, 0.8):
        q = linkage.position([linkage.q0[0] + value]).q
        passive = positions(q[0])
        inertia, bias = numbers(q[0], *passive, 1.7)
        qd = linkage.velocity(q, [1.7])
        apart = np.abs(np.exp(1j * np.array(passive)) - np.exp(1j * q[1:])).max()
        weight = mech.reduced_mass_matrix(q, driven=list(minimal.driven))
        tau = np.array([0.4, 0.0, 0.0])
        qdd = mech.forward_dynamics(q, qd, tau)[0]
        ours = (tau[0] - bias[0, 0]) / inertia[0, 0]
        print(
            f"positions {apart:.1e}, inertia {abs(inertia[0, 0] / weight[0, 0] - 1):.1e}, {abs(ours - qdd) / abs(qdd):.1e}"
        )
        assert apart < 1e-12  # rad; a linkage closes to 1e-12 of its longest offset
        assert abs(inertia[0, 0] / weight[0, 0] - 1.0) < 1e-11
        assert abs(ours - qdd) < 1e-11 * (abs(qdd) + abs(bias[0, 0] / inertia[0, 0]))


def test_the_other_assembly_mode():
    from linkwise.equations.closed_loops import MinimalEquations

    mech = lw.robots.four_bar()
    modes = AssemblyModes(mech)
    for mode in (0, 1):
        e = MinimalEquations(mech, mode=mode)
        values = [float(value.subs(e.q[0], 0.6)) for value in e.positions.values()]
        assert not e.M.subs(e.positions).free_symbols - {e.q[0]}  # in the driven coordinate alone
        assert np.abs(np.array(values) - modes.position([0.6], mode)[1:]).max() < 1e-14


def test_coriolis_is_half_the_rate_of_the_inertia():
    """One freedom: dM/dt = 2 C, exactly, along the closed motion; by SymPy at a closed state, to rounding."""
    e = lw.robots.slider_crank().equations()
    rate = sum((e.M[0, 0].diff(q) * speed for q, speed in zip(e.q, e.G * e.qd, strict=True)), sympy.Integer(0))
    q = e.mechanism.linkage(["crank"]).position([0.7]).q
    values = dict(zip([*e.q, *e.qd], [*q, 2.0], strict=True))
    left, right = (float(part.subs(values)) for part in (rate, 2 * e.C[0, 0]))
    assert abs(left - right) < 1e-13 * abs(left)


def test_a_five_bar_has_two_equations():
    e = lw.robots.five_bar().equations(driven=["left_crank", "right_crank"])
    assert e.M.shape == (2, 2)
    assert e.G.shape == (4, 2)
    q = e.mechanism.linkage(list(e.driven)).q0
    mass = np.array(e.M.subs(dict(zip(e.q, q, strict=True))), dtype=float)
    assert np.abs(mass - e.mechanism.reduced_mass_matrix(q, driven=list(e.driven))).max() < 1e-12 * np.abs(mass).max()


def test_symbols_stay_symbols():
    """The slider-crank with its lengths as symbols: the numbers put in give those of the mechanism in numbers."""
    mech = lw.robots.slider_crank()
    length = lw.symbols("L")
    rod = mech.links[1]
    symbolic = mech.replace(links=[mech.links[0], rod.replace(before=at(0.05 * length / 0.2)), *mech.links[2:]])
    e, plain = symbolic.equations(), mech.equations("multipliers")
    assert [str(part) for part in e.parameters] == ["L"]
    point = dict(zip([*e.q, *e.qd], [0.3, -0.2, 0.1, 1.0, 2.0, -1.0], strict=True))
    for ours, theirs in ((e.J, plain.J), (e.bias, plain.bias), (e.M, plain.M)):
        numbers = np.array(ours.subs({**point, e.parameters[0]: 0.2}), dtype=float)
        assert np.abs(numbers - np.array(theirs.subs(point), dtype=float)).max() < 1e-13
    with pytest.raises(ArgumentError, match="residual"):
        _ = e.residual


@pytest.mark.parametrize(("ratio", "form"), [(2.0, "harmonic"), (0.37, "graph")])
def test_symbols_of_loops_and_springs_keep_their_places(ratio, form):
    """In the order of the mechanism that of the loop stands first; in the tree, cut open, it is the second or none."""
    k, b = lw.symbols("k b")
    tail = lw.Link(name="tail", parent="crank", mass=0.3, com=(0.1, 0.2, 0.3), mimic=lw.Mimic("crank", ratio))

    def equations(k, b, rest):
        whole = bars(0.5, b, 0.7, 0.9)
        spring = lw.Spring("crank", stiffness=k, rest=rest)
        return whole.replace(links=[*whole.links, tail], springs=[spring]).equations("multipliers")

    plain = equations(2.0, 0.4, 0.4)
    state = dict(zip([*plain.q, *plain.qd], [0.3, -0.2, 0.1, 1.0, 2.0, -1.0], strict=True))
    for rest in (b, 0.4):
        e = equations(k, b, rest)
        assert (e.form, [str(part) for part in e.parameters]) == (form, ["b", "k"])
        values = {**state, **dict(zip(e.parameters, (0.4, 2.0), strict=True))}
        for name in ("J", "bias", "springs", "M", "g"):
            ours, theirs = getattr(e, name).subs(values), getattr(plain, name).subs(state)
            assert np.abs(np.array(ours - theirs, dtype=float)).max() < 1e-13, name


@pytest.mark.parametrize("name", ["lambda2", "q3", "qdd1"])
def test_a_symbol_with_the_name_of_an_unknown_is_refused(name):
    """One that stands in the loop alone, too."""
    with pytest.raises(ArgumentError, match=f"has a symbol '{name}', the name of a coordinate or multiplier"):
        bars(0.5, lw.symbols(name), 0.7, 0.9).equations("multipliers")


def test_written():
    text = lw.robots.slider_crank().equations("multipliers").to_latex(3)
    assert r"\lambda" in text
    assert r"J_{13} &= \cos{\left(q_{1} + q_{2} \right)}" in text
    assert r"\ddot{u}" in lw.robots.slider_crank().equations().to_latex(3)


MALFORMED = [
    (lw.robots.four_bar, {"form": "harmonic"}, "'minimal' or 'multipliers'"),
    (lw.robots.four_bar, {"driven": ["crankshaft"]}, "'crank', 'coupler' and 'rocker'"),
    (lw.robots.four_bar, {"form": "multipliers", "driven": ["crank"]}, "minimal"),
    (lw.robots.jansen, {"form": "minimal"}, "3 loops"),
    (lw.robots.stewart, {"form": "minimal"}, "not planar|parallel"),
    (lw.robots.planar_2r, {"driven": ["joint1"]}, "no loops"),
    (lw.robots.planar_2r, {"form": "minimal"}, "'harmonic' or 'graph'"),
]


@pytest.mark.parametrize(("robot", "options", "named"), MALFORMED)
def test_malformed(robot, options, named):
    with pytest.raises(ArgumentError, match=named):
        robot().equations(**options)
