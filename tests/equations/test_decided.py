"""A tape on SymPy expressions where the special cases that are known to be there are met."""

from __future__ import annotations

import pytest
import sympy

from linkwise.equations.tape_to_sympy import decided
from linkwise.kernel.tape import trace
from linkwise.spatial.scalar import root, select

x, y = sympy.symbols("x y")
GUARDED = trace(lambda q: select(q[0], q[1] / q[0], q[1].sin()), "guarded", {"q": (2,)})


def test_the_general_case_where_nothing_is_known() -> None:
    assert decided(GUARDED, [x, y]) == [y / x]
    assert decided(GUARDED, [sympy.Symbol("r", real=True), y])[0].has(y)


def test_the_other_case_where_it_is_known() -> None:
    assert decided(GUARDED, [sympy.Integer(0), y]) == [sympy.sin(y)]
    assert decided(GUARDED, [sympy.Integer(-2), y]) == [sympy.sin(y)]
    assert decided(GUARDED, [sympy.Integer(2), y]) == [y / 2]
    negative = sympy.Symbol("n", negative=True)
    assert decided(GUARDED, [negative, y]) == [sympy.sin(y)]
    positive = sympy.Symbol("p", positive=True)
    assert decided(GUARDED, [positive, y]) == [y / positive]


def test_conditions_of_conditions_and_shared_parts() -> None:
    def body(q):  # type: ignore[no-untyped-def]
        size = root(q[0] * q[0] + q[1] * q[1])
        other = select(q[2], size, 5.0)
        return select(select(size, size, q[2]), 1.0 / select(size, size, 1.0), other), other

    tape = trace(body, "nested", {"q": (3,)})
    zero = sympy.Integer(0)
    assert decided(tape, [zero, zero, zero]) == [5, 5]
    assert decided(tape, [zero, zero, sympy.Integer(1)]) == [1, 0]
    assert decided(tape, [x, zero, y]) == [1 / sympy.sqrt(x**2), sympy.sqrt(x**2)]


def test_a_wrong_number_of_scalars() -> None:
    with pytest.raises(ValueError, match="guarded takes 2 scalars; 1 were given"):
        decided(GUARDED, [x])
