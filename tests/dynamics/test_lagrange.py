"""Lagrange's equations from energies: the textbook's double pendulum, what L must be, and scalars of every kind."""

from __future__ import annotations

import numpy as np
import pytest
import sympy
from sympy import cos

import linkwise as lw
from linkwise.dynamics.lagrange import lagrange_dynamics
from linkwise.expr import derivative, evaluate, symbol
from linkwise.expr.derivative import gradient, rates
from support.kernels_in_sympy import matrix, real, remainder, same
from support.random_mechanisms import direct, random_state, relative, variant

ROUNDING = 5e-14
"""A few thousand roundings of numbers of the size of the result, which add up like their square root; seen: 2e-15."""


def planar() -> lw.Mechanism:
    """Two point masses on rods in a vertical plane, angles from the downward vertical (x)."""
    links = []
    for k in (1, 2):
        m, length = lw.symbols(f"m{k} l{k}")
        links.append(lw.Link.dh(a=length, convention="standard", mass=m))
    return lw.Mechanism(links, gravity=(lw.symbols("g"), 0, 0))


def test_lagrangian_of_the_double_pendulum() -> None:
    """L. D. Landau, E. M. Lifshitz, *Mechanics*, section 5, problem 1: in the angles from the vertical."""
    found = matrix(planar(), "lagrangian")[0]
    q1, q2, w1, w2, m1, m2, l1, l2, g = real(["q1", "q2", "qd1", "qd2", "m1", "m2", "l1", "l2", "g"])
    p1, p2, v1, v2 = q1, q1 + q2, w1, w1 + w2
    wanted = (m1 + m2) / 2 * l1**2 * v1**2 + m2 / 2 * l2**2 * v2**2 + m2 * l1 * l2 * v1 * v2 * cos(p1 - p2)
    wanted += (m1 + m2) * g * l1 * cos(p1) + m2 * g * l2 * cos(p2)
    assert same(found, wanted)


def test_equals_newton_and_euler_symbolically() -> None:
    """All inertial parameters, both lengths and gravity are symbols, on two joints whose axes are not parallel."""
    full = {"mass": 1.0, "com": (0.1, 0.2, 0.4), "inertia": (0.5, 0.6, 0.7, 0.01, 0.02, 0.03)}
    links = [lw.Link.dh(0, 0, 0.5, alpha, convention="standard", **full) for alpha in (np.pi / 2, 0.0)]
    arm = lw.Mechanism(links).symbolic("inertial", "lengths", "gravity")
    for entry in matrix(arm, "inverse_dynamics") - matrix(arm, "lagrange_dynamics"):
        assert remainder(entry) == 0


def test_parameters_are_an_input() -> None:
    arm = planar()
    state = [np.array([0.3, -0.8]), np.array([1.2, 0.5]), np.array([-0.4, 2.0])]
    values = {"m1": 1.5, "l1": 0.4, "m2": 0.7, "l2": 0.9, "g": 9.81}
    found = arm.kernel("lagrange_dynamics")(*state, [values[name] for name in arm.symbols])
    assert relative(found, arm.substitute(values).inverse_dynamics(*state)) < ROUNDING


@pytest.mark.parametrize("name", ["rotors 1", "floating 1"])
def test_numbers_expressions_and_sympy(name: str) -> None:
    """Floats, expressions that are no symbols, one symbol for several inputs, and SymPy numbers give the same."""
    mech = variant(name)
    q, qd, qdd = random_state(mech, 3)
    wanted = direct(mech, "lagrange_dynamics", q, qd, qdd)
    a, b = symbol("a"), symbol("b")
    arrays = [np.array([a * value for value in values], dtype=object) for values in (q, qd)]
    shared = lagrange_dynamics(mech, *arrays, np.array([b] * mech.nv, dtype=object))
    found = evaluate(list(shared), {a: 1.0, b: 1.0})
    assert relative(found, direct(mech, "lagrange_dynamics", q, qd, np.ones(mech.nv))) < ROUNDING
    if not mech.drives:
        exact = [np.array([sympy.Float(value) for value in values], dtype=object) for values in (q, qd, qdd)]
        assert relative(lagrange_dynamics(mech, *exact), wanted) < ROUNDING


def test_loops_are_refused() -> None:
    four_bar = lw.robots.load("four_bar")
    with pytest.raises(lw.errors.ArgumentError, match="lagrange_dynamics is for mechanisms without"):
        lagrange_dynamics(four_bar, *[np.zeros(four_bar.nv)] * 3)
    q = np.linspace(0.1, 0.5, four_bar.n)
    cut = four_bar.replace(loops=())
    assert direct(four_bar, "lagrangian", q, q) == direct(cut, "lagrangian", q, q)  # energies are those of the tree


def test_rates_and_gradient_are_those_of_the_derivative() -> None:
    """Forward and reverse mode over every operation, against the table of partial derivatives one symbol at a time."""
    x, y, z = symbol("x"), symbol("y"), symbol("z")
    made = (x * y + z).sin() / (y * y + 1.0) + (x - z).atan2(y).cos() - abs(x).sqrt() * (-z).sign()
    made = made + (x - y).select(made * z, x * x) * 0.3
    table = derivative([made], [x, y, z])[0]
    at = {x: 0.7, y: -1.3, z: 0.4}
    wanted = np.array(evaluate(list(table), at))
    assert relative(evaluate(gradient(made, [x, y, z]), at), wanted) < 1e-15
    (rate,) = rates([made], {x: 2.0, y: z, z: -1.0})
    assert abs(evaluate([rate], at)[0] - wanted @ [2.0, 0.4, -1.0]) < 1e-14
    assert gradient(2.0, [x]) == [0.0]
    assert gradient(x, [y, x]) == [0.0, 1.0]
    assert rates([x, 3.0, z], {x: y}) == [y, 0.0, 0.0]
