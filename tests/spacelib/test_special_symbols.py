"""Symbols in special places: a null vector, a translation, a lock give what numbers give; what these refuse is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy

import linkwise.spacelib as sl
from linkwise.errors import ArgumentError
from linkwise.expr import symbol
from support.messages import unnamed

X, Y, Z = 0, 1, 2
a, b, c, q, p, r = sympy.symbols("a b c q p r", real=True)
h = sympy.Symbol("h", positive=True)
POINT = "expected a point (..., 3), or (..., 4) that ends in 1"


def rows(made: Any) -> Any:
    return (
        [rows(part) for part in made] if isinstance(made, tuple) else made.tolist() if isinstance(made, np.ndarray) else made
    )


def test_a_translation() -> None:
    assert rows(sl.mtoscrew(sl.traslat2(X, h))) == [[1, 0, 0], 0, [0, 0, 0, 1], h]
    W, _ = sl.veactowh(sl.Pri, h, b)
    assert rows(sl.wtol(W))[Z] == [0, 0, 0, 1]
    assert rows(sl.wtovel(W)) == [[0, 0, 1], 0, h, [0, 0, 0, 1]]


def test_null_axes() -> None:
    assert rows(sl.rotat([0, 0, 0], q)) == sympy.eye(3).tolist()
    assert rows(sl.screwtom([0, 0, 0], q, [a, b, c], h)) == sympy.eye(4).tolist()
    assert rows(sl.traslat([0, 0, 0], a)) == sympy.eye(4).tolist()
    assert rows(sl.makel(sl.Rev, [0, 0, 0], a, [a, b, c])) == sympy.zeros(4).tolist()


def test_rotations_of_exact_numbers() -> None:
    assert rows(sl.extract(sympy.eye(3))) == [[0, 0, 0], 0]
    assert rows(sl.extract(sympy.diag(-1, -1, 1))) == [[0, 0, 1], sympy.pi]
    half = sympy.Matrix([[-1, 0, 0, a], [0, -1, 0, b], [0, 0, 1, c], [0, 0, 0, 1]])
    assert rows(sl.mtoscrew(half)) == [[0, 0, 1], sympy.pi, [a / 2, b / 2, 0, 1], c]


def test_locked_angles() -> None:
    first, second = sl.rtocarda(sl.rotat2(Z, q), Z, X, Z)
    assert rows(first) == rows(second) == [sympy.atan2(sympy.sin(q), sympy.cos(q)), 0, 0]
    inverse, test = sl.inva(q, sympy.pi / 2, 1, X, Y, Z)
    assert (rows(inverse), test) == (sympy.zeros(3).tolist(), sl.NOTOK)
    m = sl.rotat24(Z, q, [a, b, c])
    with pytest.raises(ArgumentError, match=r"^wtocarda: the angles are locked"):
        sl.wtocarda(m, sympy.zeros(4), Z, X, Z)


def test_weights_that_add_up_to_nothing() -> None:
    assert rows(sl.intermed([a, 0, 0], b, [c, 0, 0], -b)) == [a * b - b * c, 0, 0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sl.framev([a, 0, 0], [b, 0, 0], X, Y), "framev: v1 and v2 are parallel, or one is null"),
        (lambda: sl.framep([a, 0, 0], [a, 0, 0], [0, b, 0], X, Y), "framep: P1, P2 and P3 lie on one line"),
        (lambda: sl.plane([a, 0, 0], [2 * a, 0, 0], [3 * a, 0, 0]), "plane: P1, P2 and P3 lie on one line"),
        (lambda: sl.plane2([a, b, c], [0, 0, 0]), "plane2: v is null"),
        (lambda: sl.line2p([a, b, 0], [a, b, 0]), "line2p: P1 and P2 coincide"),
        (lambda: sl.linpvect([a, b, 0], [0, 0, 0]), "linpvect: v is null"),
        (lambda: sl.distpp([0, 0, 0, a], [0, 0, 0]), "distpp: pl has no normal, or a number beyond 1e70"),
        (lambda: sl.jtoj(sympy.Integer(-1), h, h, h, 0, 0, 0, 0, 0, 0), "jtoj: the mass is negative"),
        (lambda: sl.middle([a, 0, 0, 0], [1, 2, 3]), f"middle: P1 is [a, 0, 0, 0]; {POINT}"),
        (lambda: sl.distp([sympy.nan, 0, a], [0, 0, 0]), "distp: P1 holds nan; expected finite real numbers and symbols"),
        (lambda: sl.distp([0, sympy.oo, a], [0, 0, 0]), "distp: P1 holds oo; expected finite real numbers and symbols"),
        (lambda: sl.distp([0, a, sympy.I], [0, 0, 0]), "distp: P1 holds I; expected finite real numbers and symbols"),
        (lambda: sl.vtom([0, a, float("inf")]), "vtom: v holds inf; expected finite real numbers and symbols"),
        (
            lambda: sl.projponl([0, 0, 0], [[a, 1], [b, 0], [c, 0], [1, 1]]),
            "projponl: l is of shape (4, 2); "
            "expected a line (..., 4, 2): a point that ends in 1 and a direction that ends in 0, as columns",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        call()
    assert unnamed(caught.value, message) == []


def test_a_point_of_linkwise_expressions_ends_in_one() -> None:
    x = symbol("x")
    with pytest.raises(ArgumentError, match=r"that ends in 1$"):
        sl.vect([x, 0, 0, 0], [0, 0, 0])
    assert sl.vect([x, 0, 0, 1], [0, 0, 0])[0] is x


def test_multiples_of_pi_are_exact() -> None:
    made = sl.dhtom(sl.Rev, 0.0, 0.5, 0.0, a, sl.PIG_2, q)
    assert rows(made)[:3] == [
        [sympy.cos(q), 0, sympy.sin(q), a * sympy.cos(q)],
        [sympy.sin(q), 0, -sympy.cos(q), a * sympy.sin(q)],
        [0, 1, 0, sympy.Rational(1, 2)],
    ]
    assert rows(sl.rotat([0, 0, h], sl.PIG / 3))[0] == [sympy.Rational(1, 2), -sympy.sqrt(3) / 2, 0]
    assert rows(sl.vtom([a, sl.PIG2, 3.2]))[0] == [0, sympy.Float(-3.2), 2 * sympy.pi]


def test_formulas_are_short() -> None:
    """A chain's matrices in another frame, and angles found again: no squares of sines and cosines are left over."""
    m = sl.dhtom(sl.Rev, 0, b, 0, a, sympy.pi / 2, q)
    assert rows(sl.invers(m))[0] == [sympy.cos(q), sympy.sin(q), 0, -a]
    W, _ = sl.veactowh(sl.Rev, p, 0)
    assert rows(sl.mami(W, m))[2] == [p * sympy.cos(q), p * sympy.sin(q), 0, -a * p]
    both = m @ sl.dhtom(sl.Rev, 0, 0, 0, c, 0, r)
    assert rows(sl.miam(W, both))[0] == [0, 0, p * sympy.cos(r), 0]
    angles, rates = [q, p, r], [a, b, c]
    place = sl.cardatom(angles, X, Y, Z, [0, 0, 0])
    first, qp, _, _ = sl.wtocarda(place, sl.cardatow(angles, rates, X, Y, Z, [0, 0, 0]), X, Y, Z)
    side = sympy.cos(p) / sympy.Abs(sympy.cos(p))
    assert first[1] == sympy.atan2(sympy.sin(p), sympy.Abs(sympy.cos(p)))
    assert rows(qp) == [a, b * side, c]
