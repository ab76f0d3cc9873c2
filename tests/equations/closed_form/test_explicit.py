"""Closed forms: textbooks', the kernels', skew and symmetric as symbols, and what is refused."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
import sympy

from linkwise import Link, Mechanism, Motor, robots, symbols
from linkwise.equations.closed_form import closed_form as module
from linkwise.equations.closed_form import listing
from linkwise.equations.closed_form.base_symbols import with_base_symbols
from linkwise.equations.closed_form.closed_form import RESULTS, ClosedFormResult, explicit, harmonic
from linkwise.equations.closed_form.harmonic import HarmonicForm
from linkwise.equations.document import evaluated
from linkwise.equations.polynomials.expansion import coordinate_words, expansion
from linkwise.equations.polynomials.polynomial import total
from linkwise.equations.tape_to_sympy import to_sympy
from linkwise.equations.writers.text import to_text
from linkwise.errors import ArgumentError, KernelError
from support.messages import unnamed
from support.random_mechanisms import afloat, random_mechanism, random_pose

SAME = 1e-12
"""Relative to the largest element: some thousand terms with errors of 1e-16 each."""


def general(joints: int) -> Mechanism:
    """Revolute joints, every number a symbol: lengths, twists, ten inertial parameters a link, three elements of gravity."""
    links = []
    for k in range(1, joints + 1):
        d, a, alpha, m, x, y, z, *tensor = symbols(
            [f"{word}{k}" for word in ["d", "a", "alpha", "m", "x", "y", "z", "A", "B", "C", "D", "E", "F"]]
        )
        body = {"mass": m, "com": (x, y, z), "inertia": tensor, "physical": False}
        links.append(Link.dh(d=d, a=a, alpha=alpha, convention="standard", **body))
    return Mechanism(links, gravity=symbols("gx gy gz"), name=f"general{joints}")


def given(arm: Mechanism, seed: int = 1) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    sizes = {"q": arm.nq, "qd": arm.nv, "qdd": arm.nv, "parameters": len(arm.symbols)}
    made = {name: rng.uniform(0.3, 1.2, (2, size)) for name, size in sizes.items()}
    if arm.floating:
        made["q"][:, 3:7] /= np.linalg.norm(made["q"][:, 3:7], axis=1, keepdims=True)
    return made


def assert_same(form: ClosedFormResult, arm: Mechanism) -> None:
    """As it computes, and as it is printed."""
    arrays = given(arm)
    kernel = arm.kernel(form.quantity)
    inputs = [arrays[name] for name in kernel.tape.inputs]
    wanted = np.asarray(kernel(*inputs))
    words = [word for group in coordinate_words(arm).values() for word in group]
    flat = np.hstack([arrays["q"], arrays["qd"], arrays["qdd"], arrays["parameters"]])
    printed = evaluated(form.listing(), dict(zip([*words, *arm.symbols], flat.T, strict=True)))
    size = np.abs(wanted).max()
    assert np.abs(form(*inputs) - wanted).max() <= SAME * size
    assert np.abs(printed[next(iter(kernel.tape.outputs))] - wanted).max() <= SAME * size
    assert form.residual < SAME


def text(arm: Mechanism, what: str, **options) -> list[str]:
    """The lines that are equations."""
    lines = to_text(explicit(arm, what, **options).listing(), abbreviate=False).splitlines()
    return [line for line in lines if " = " in line]


def test_planar_arm_as_a_textbook_has_it() -> None:
    """M. W. Spong, S. Hutchinson, M. Vidyasagar, *Robot Modeling and Control* (2006), chapter 7: the planar elbow."""
    m1, m2, l1, c1, c2, i1, i2, g = symbols("m1 m2 l1 lc1 lc2 I1 I2 g")
    first = Link.dh(a=l1, convention="standard", mass=m1, com=(c1 - l1, 0, 0), inertia=(0, 0, i1), physical=False)
    second = Link.dh(convention="standard", mass=m2, com=(c2, 0, 0), inertia=(0, 0, i2), physical=False)
    arm = Mechanism([first, second], gravity=(0, -g, 0))
    assert text(arm, "mass_matrix") == [
        "  M11       = m1·lc1² + I1 + m2·(2·l1·lc2·cos(q2) + l1² + lc2²) + I2",
        "  M12 = M21 = m2·lc2·(l1·cos(q2) + lc2) + I2",
        "  M22       = m2·lc2² + I2",
    ]
    assert text(arm, "coriolis_matrix") == [
        "  C11 = -m2·l1·lc2·qd2·sin(q2)",
        "  C12 = -m2·l1·lc2·sin(q2)·(qd1 + qd2)",
        "  C21 = m2·l1·lc2·qd1·sin(q2)",
    ]
    assert text(arm, "gravity_torque") == [
        "  tau1 = m1·lc1·g·cos(q1) + m2·g·(l1·cos(q1) + lc2·cos(q1 + q2))",
        "  tau2 = m2·lc2·g·cos(q1 + q2)",
    ]


@pytest.mark.parametrize("joints", [2, 3])
def test_mass_matrix_symmetric_and_rate_less_twice_coriolis_skew(joints: int) -> None:
    """Nothing is left: not a small number, no term."""
    made = expansion(general(joints), {"M": ("mass_matrix", {})})
    M, c = made.results["M"], made.christoffel
    assert all((M[i, j] - M[j, i]).terms == 0 for i in range(joints) for j in range(joints))
    assert M[0, 0].terms > 10
    for i, j, k in np.ndindex(joints, joints, joints):
        rate = made.derivative(M[i, j], k)
        assert total([rate, rate, -(c[i, j, k] + c[i, j, k]), -(c[j, i, k] + c[j, i, k])]).terms == 0
    direct = expansion(general(joints), {"C": ("coriolis_matrix", {})})
    assert all(direct.results["C"][index].terms for index in np.ndindex(joints, joints) if index != (joints - 1,) * 2)


@pytest.mark.parametrize("what", sorted(name for name in RESULTS if name != "closure_jacobian"))
def test_every_result_of_an_arm_of_symbols(what: str) -> None:
    arm = robots.planar_2r().symbolic()
    for make in (explicit, harmonic):
        assert_same(make(arm, what), arm)


@pytest.mark.parametrize("name", ["puma560", "scara_icomatic"])
def test_dynamics_of_ready_robots(name: str) -> None:
    arm = robots.load(name)
    for make in (explicit, harmonic):
        assert_same(make(arm, "inverse_dynamics"), arm)


def test_frames_of_ready_robots_in_symbols() -> None:
    arm = robots.puma560().symbolic("lengths")
    assert_same(explicit(arm, "forward_kinematics"), arm)
    form = explicit(arm, "jacobian", link="link3", frame="body")
    q, parameters = given(arm)["q"], given(arm)["parameters"]
    wanted = arm.kernel("jacobian", link="link3", frame="body")(q, parameters)
    assert np.abs(form(q, parameters) - wanted).max() < 1e-15 * 10
    assert form(q[0], parameters).shape == (2, 6, 6)  # (batches broadcast)


def test_twists_and_functions_of_symbols() -> None:
    alpha, a, m = symbols("alpha1 a1 m")
    first = Link.dh(a=a, alpha=alpha, convention="standard", mass=m, com=(0.1, 0, 0))
    second = Link.dh(d=(a * a + m * m).sqrt(), alpha=0.5 * alpha, convention="standard", mass=1.0, com=(0, 0.2, a / (a + m)))
    arm = Mechanism([first, second])
    for make in (explicit, harmonic):
        for what in ("inverse_dynamics", "forward_kinematics"):
            assert_same(make(arm, what), arm)
    assert "·sqrt(m² + a1²)" in to_text(explicit(arm, "mass_matrix").listing(), abbreviate=False)


@pytest.mark.parametrize(
    "arm", [afloat(random_mechanism(1, ["revolute"])), random_mechanism(2, ["screw", "revolute"], [-1, 0])]
)
def test_floating_bases_and_screws_have_an_explicit_form(arm: Mechanism) -> None:
    for what in ("mass_matrix", "coriolis_matrix"):
        assert_same(explicit(arm, what), arm)
    if arm.floating:  # its orientation is q / |q|
        with pytest.raises(ArgumentError, match="takes div of coordinates"):
            explicit(arm, "gravity_torque")


@pytest.mark.parametrize("form", [explicit, harmonic])
def test_what_vanishes_but_for_rounding_of_the_kernel(form: Callable[..., ClosedFormResult]) -> None:
    """One joint has no Coriolis terms, and one that is upright no gravity: of that no kernel with turned frames is sure."""
    poses = [random_pose(np.random.default_rng(seed)) for seed in range(4)]
    for first, second in pairwise(poses):
        link = Link(axis=first[2, :3], after=second, mass=1.5, com=(0.1, -0.2, 0.3), inertia=(0.1, 0.2, 0.15))
        arm = Mechanism([link], base=first)
        for what, name in (("coriolis_matrix", "C"), ("gravity_torque", "tau")):
            made = form(arm, what)
            assert made.terms == {name: 0}
            assert made.residual < 1e-14


def test_friction_stands_apart() -> None:
    arm = Mechanism([Link(mass=1.0, com=(0.1, 0, 0), motor=Motor(viscous=symbols("B1"), coulomb=(2.0, -1.0)))])
    assert_same(explicit(arm, "inverse_dynamics"), arm)
    assert "  f1 = 1.5·sign(qd1) + 0.5·abs(sign(qd1)) + B1·qd1" in text(arm, "inverse_dynamics")


def test_harmonic_form_equals_the_expanded_form_term_by_term() -> None:
    """SymPy expands what the kernel does, operation by operation."""
    body = {"com": (0.25, 0.125, -0.5), "inertia": (0.5, 0.625, 0.75)}
    rows = [(0.5, 0.0, np.pi / 2, 3.0), (0.0, 0.75, 0.0, 2.0), (0.25, 0.5, -np.pi / 2, 1.0)]
    arm = Mechanism([Link.dh(d=d, a=a, alpha=t, convention="standard", mass=m, **body) for d, a, t, m in rows])
    form = HarmonicForm(arm)
    q = sympy.symbols("q1:4", real=True)
    z = sympy.symbols("z1:4")  # exp(i q)

    def waves(expression):
        made = {}
        for wave in expression.atoms(sympy.cos, sympy.sin):
            e = sympy.Mul(*(base ** wave.args[0].coeff(angle) for angle, base in zip(q, z, strict=True)))
            made[wave] = (e + 1 / e) / 2 if wave.func == sympy.cos else (e - 1 / e) / (2 * sympy.I)
        return expression.xreplace(made)

    for name, entries in (("mass_matrix", form.M), ("gravity_torque", [form.g])):
        graph = next(iter(to_sympy(arm.kernel(name).tape, list(q)).values()))
        graph = graph if name == "mass_matrix" else graph.T
        for i, row in enumerate(entries):
            for j, entry in enumerate(row):
                expanded = sympy.expand(waves(sympy.sympify(graph[i, j])))
                found = {}
                for term in sympy.Add.make_args(expanded):
                    number, powers = term.as_independent(*z)
                    h = tuple(int(powers.as_powers_dict().get(e, 0)) for e in z)
                    found[h] = found.get(h, 0) + complex(number)
                wanted = {}
                for h, c, s in zip(map(tuple, entry.harmonics.tolist()), entry.cosine, entry.sine, strict=True):
                    if any(h):
                        wanted |= {h: (c - 1j * s) / 2, tuple(-x for x in h): (c + 1j * s) / 2}
                    else:
                        wanted[h] = c
                kept = {h for h, value in found.items() if abs(value) > 1e-13 * entry.scale}
                assert kept == set(wanted)
                assert all(abs(found[h] - wanted[h]) < 1e-13 * entry.scale for h in kept)


def test_base_parameters_of_the_puma() -> None:
    arm = robots.puma560()
    based = with_base_symbols(arm)
    assert len(based.symbols) == 20
    assert_same(explicit(arm, "gravity_torque", base=True), arm)
    form = harmonic(arm, "mass_matrix", base=True)
    assert_same(form, arm)
    lines = to_text(form.listing(), width=200).splitlines()
    start = lines.index("Base parameters")
    assert any(line.startswith("  MXR3 = 0.025375") for line in lines[start:])


def test_base_parameters_of_symbols() -> None:
    arm = robots.planar_2r().symbolic("inertial", "lengths", "gravity")
    assert_same(explicit(arm, "inverse_dynamics", base=True), arm)
    lines = text(arm, "mass_matrix", base=True)
    assert [" ".join(line.split()) for line in lines if line.startswith(("  MXR2", "  M22"))] == [
        "MXR2 = M2·a2 + MX2",
        "M22 = 2·MXR2·a2 + ZZR2",
    ]


def test_terms_and_entries() -> None:
    arm = robots.planar_2r()
    form = explicit(arm, "mass_matrix")
    assert form.terms == {"M": 5}
    assert [len(entry.terms) for entry in form.entries["M"].ravel()] == [2, 2, 0, 1]  # (the lower half is the upper one)
    assert form.bound == 0.0
    assert [np.abs(each).max() for each in form.bounds.values()] == [0.0]


def test_equal_results_look_equal() -> None:
    arm = robots.puma560().symbolic("inertial", "lengths")
    assert explicit(arm, "mass_matrix").listing() == explicit(arm, "mass_matrix").listing()


def test_what_cannot_be_seen_beside_other_terms_is_left_out() -> None:
    """Angles of SMART's table that are not quite right leave terms of 1e-22 beside such of 1."""
    form = explicit(robots.smart(), "mass_matrix")
    owner, sizes = form.data.waves.owner, np.abs(form.data.waves.values)
    largest = np.zeros(owner.max() + 1)
    np.maximum.at(largest, owner, sizes)
    assert (sizes / largest[owner]).min() > 5e-17
    assert form.residual < SAME


def test_too_long_a_form_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listing, "LARGEST", 4)
    with pytest.raises(ArgumentError) as caught:
        explicit(robots.planar_2r(), "inverse_dynamics")
    assert unnamed(caught.value, "planar_2r: 12 terms are too many for a closed form, more than 4") == []


def test_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = robots.planar_2r()
    carried = Motor(gear_ratio=3.0, carrier="link1", inertia=1e-3, joint="link2", axis=(1, 0, 0))
    refused = {
        "there is no closed form of 'forward_dynamics'; there is one of ": lambda: explicit(arm, "forward_dynamics"),
        "mass_matrix takes 'q'; 2 were given": lambda: explicit(arm, "mass_matrix")([0, 0], [1.0]),
        "the motor of 'link2' is carried by a link": lambda: explicit(
            arm.replace(motors=[carried]), "mass_matrix", base=True
        ),
    }
    for message, call in refused.items():
        with pytest.raises(ArgumentError) as caught:
            call()
        assert message in str(caught.value)
    exact = module.terms_of
    monkeypatch.setattr(
        module,
        "terms_of",
        lambda made, shapes, parts, angles: exact(
            made, shapes, [module.Part(p.output, p.index, p.value.scaled(1 + 1e-9), p.motion) for p in parts], angles
        ),
    )
    with pytest.raises(KernelError, match=r"planar_2r.*mass_matrix"):
        explicit(arm, "mass_matrix")
