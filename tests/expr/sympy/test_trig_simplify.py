"""Squares of sines and cosines gathered: what is written short, what stays, and that nothing changes in value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.expr.sympy.trig_simplify import gathered

a, b, x = sympy.symbols("a b x", real=True)
p, q = sympy.symbols("p q", real=True)
z = sympy.Symbol("z")
cp, sp, cq, sq = sympy.cos(p), sympy.sin(p), sympy.cos(q), sympy.sin(q)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (sq**2 + cq**2, 1),
        (-a * sq**2 - a * cq**2, -a),
        (a * cp * sq**2 + a * cp * cq**2 + b, a * cp + b),
        (1 - sq**2, cq**2),
        (a * b - a * b * cq**2, a * b * sq**2),
        (sympy.sqrt(1 - sq**2), sympy.Abs(cq)),
        (sympy.sqrt(sp**2 * cq**2 + cp**2 * cq**2), sympy.Abs(cq)),
        (sp**2 * sq**2 + sp**2 * cq**2 + cp**2, 1),
        ((a * cq + b * sq) * cq + (a * sq - b * cq) * sq, a),
        ((a * sq) * cq - (a * cq) * sq, 0),
        (sympy.cos(z) ** 2 + sympy.sin(z) ** 2, 1),
        (sympy.atan2(sq**2 + cq**2, x), sympy.atan2(1, x)),
    ],
)
def test_written_short(given: Any, wanted: Any) -> None:
    assert gathered(given) == wanted


@pytest.mark.parametrize(
    "given",
    [a + b, sq**2 + cp**2, a * sq**2 + b * cq**2, sq**2 - cq**2, a * (1 - cq) + b * sq, sq**3 + cq**3, sympy.Integer(2), sq],
)
def test_what_stays(given: Any) -> None:
    assert gathered(given) == given


def test_the_value_stays() -> None:
    """At random numbers; some twenty operations of numbers up to 10."""
    rng = np.random.default_rng(3)
    letters = (a, b, p, q)
    terms = [sp, cp, sq, cq, sp**2, cp**2, sq**2, cq**2, a, b, sympy.Integer(1), sympy.Integer(-1)]
    shorter = 0
    for _ in range(60):
        chosen = [sympy.Mul(*(terms[k] for k in rng.integers(0, len(terms), 3))) for _ in range(5)]
        given = sympy.Add(*chosen) * terms[rng.integers(len(terms))] + chosen[0]
        made = gathered(given)
        shorter += made != given
        values = rng.uniform(-2, 2, 4)
        found = [float(sympy.lambdify(letters, part, "math")(*values)) for part in (given, made)]
        assert found[0] == pytest.approx(found[1], rel=0, abs=1e-13)
    assert shorter
