"""Random numbers for SymPy symbols: real, the same at every call, with the signs that the symbols have."""

from __future__ import annotations

import numpy as np
import pytest
import sympy

from linkwise.errors import ArgumentError
from linkwise.expr import symbol
from linkwise.spacelib.exact import SAMPLES, at_random, holds_symbols, undefined
from linkwise.spacelib.kinds import in_sympy


def test_shapes_and_shared_symbols() -> None:
    a, b = sympy.symbols("a b")
    first, second, third = at_random("f", [[a, b], [a * b, 2.5]], [a + b], np.eye(2))
    assert (first.shape, second.shape, third.shape) == ((SAMPLES, 2, 2), (SAMPLES, 1), (SAMPLES, 2, 2))
    assert np.abs(first[:, 0, 0] * first[:, 0, 1] - first[:, 1, 0]).max() <= 1e-15
    assert np.abs(first[:, 0].sum(axis=1) - second[:, 0]).max() <= 1e-15
    assert (first[:, 1, 1] == 2.5).all()
    assert (third == np.eye(2)).all()
    assert len(set(first[:, 0, 0])) == SAMPLES
    assert np.array_equal(at_random("f", [[a, b], [a * b, 2.5]])[0], first)
    assert first[:, 0].min() < 0 < first[:, 0].max()


def test_what_is_known_of_symbols_holds() -> None:
    n = sympy.Symbol("n", integer=True, negative=True)
    p = sympy.Symbol("p", positive=True)
    (made,) = at_random("f", [n, p, sympy.sqrt(-n), sympy.log(p)])
    assert (made[:, 0] < 0).all()
    assert (made[:, 0] == made[:, 0].round()).all()
    assert (made[:, 1] > 0).all()


def test_functions_of_time_are_numbers_of_their_own() -> None:
    t = sympy.Symbol("t")
    q = sympy.Function("q")(t)
    (made,) = at_random("f", [q, q.diff(t), q.diff(t, 2), sympy.sin(q) ** 2 + sympy.cos(q) ** 2, t])
    assert np.linalg.matrix_rank(made) == 5
    assert np.abs(made[:, 3] - 1).max() <= 1e-15


def test_values_that_are_not_real_are_drawn_again() -> None:
    x = sympy.Symbol("x", real=True)
    (made,) = at_random("f", [x, sympy.sqrt(x), 1 / (x - sympy.Abs(x) + 1)])
    assert (made[:, 0] > 0).all()
    for never in (sympy.sqrt(-1 - x**2), 1 / (sympy.Abs(x) - sympy.sqrt(x**2)), sympy.nan * x):
        with pytest.raises(ArgumentError, match=r"f.*arguments.*random"):
            at_random("f", [never, x])


def test_what_holds_symbols() -> None:
    x, h = sympy.Symbol("x"), symbol("h")
    assert in_sympy([1.0, x])
    assert in_sympy([1.0], sympy.Matrix([x]))
    assert not in_sympy([1.0, h], np.eye(2))
    assert holds_symbols((np.eye(2), h))
    assert holds_symbols((np.array([x]), 1))
    assert not holds_symbols((np.eye(2), 1, 2.0))
    assert all(item is sympy.nan for item in undefined(2, 3).ravel())
