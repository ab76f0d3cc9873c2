"""Reverse mode against forward mode: on random expressions, and where a selection leaves out what is not finite."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from linkwise.expr import evaluate
from linkwise.expr.derivative import derivative, gradient, pullback
from linkwise.expr.node import Expr, symbol

x, y, w = symbol("x"), symbol("y"), symbol("w")

SELECTIONS: dict[str, Any] = {
    "a root not chosen": lambda: x.select(x.sqrt() * y, -x * y),
    "a quotient not chosen": lambda: y.select(x / y, x * x),
    "an angle not chosen": lambda: (x * x + y * y).select(y.atan2(x), 3.0 * y),
    "one in another": lambda: x.select(y.select(x.sqrt() / y, x), y.sin() * x),
    "shared with what is always taken": lambda: x.select((x * y).sqrt(), y) + x * y,
    "shared by both operands": lambda: x.select(x * y.sin(), -(y.sin())),
    "as a condition": lambda: x.select(x * y, y).select(y * y, x / y),
    "one operand a number": lambda: x.select(1.0 / x, 0.0) * y,
    "chosen twice": lambda: x.select(x.sqrt(), y) * x.select(y, x.sqrt()),
}

POINTS = [(2.0, 3.0), (-0.5, 0.7), (-2.0, -1.0), (0.0, 0.0), (-1.0, 0.0), (1.0, 0.0), (0.0, -2.0)]


@pytest.mark.parametrize("case", SELECTIONS)
def test_what_is_not_chosen_adds_nothing_in_reverse_either(case: str) -> None:
    """The same numbers in both modes: finite where the chosen operands have finite derivatives."""
    function = SELECTIONS[case]()
    forward, reverse = list(derivative([function], [x, y])[0]), gradient(function, [x, y])
    for point in POINTS:
        values = dict(zip((x, y), point, strict=True))
        found, wanted = evaluate(reverse, values), evaluate(forward, values)
        assert np.allclose(found, wanted, rtol=1e-14, atol=0.0, equal_nan=True), (point, found, wanted)


def test_a_derivative_that_is_not_finite_stays_out() -> None:
    """Of the square root at -1, which is NaN, and of 1/y at 0."""
    safe = x.select(x.sqrt(), 0.0) + y.select(1.0 / y, 2.0 * y)
    assert evaluate(gradient(safe, [x, y]), {x: -1.0, y: 0.0}) == [0.0, 2.0]


def test_second_derivatives_of_a_selection() -> None:
    """In reverse twice, in forward over reverse, and in forward twice."""
    function = x.select((x * y).sqrt() * x, x * x * y)
    first, table = gradient(function, [x, y]), derivative([function], [x, y])[0]
    for point in ((2.0, 3.0), (-2.0, 3.0), (-2.0, -3.0)):
        values = dict(zip((x, y), point, strict=True))
        wanted = evaluate(list(derivative(list(table), [x, y]).ravel()), values)
        forward = evaluate(list(derivative(first, [x, y]).ravel()), values)
        reverse = evaluate([value for row in first for value in gradient(row, [x, y])], values)
        assert np.allclose(forward, wanted, rtol=1e-14, atol=0.0)
        assert np.allclose(reverse, wanted, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize(
    ("name", "function", "at", "wanted"),
    [
        ("abs", lambda: abs(x), 0.0, 0.0),
        ("sign", x.sign, 0.0, 0.0),
        ("sqrt", x.sqrt, 0.0, math.inf),
        ("length", (x * x).sqrt, 0.0, math.nan),
        ("angle", lambda: x.atan2(2.0 * x), 0.0, math.nan),
        ("select", lambda: x.select(x * 3.0, x * 2.0), 0.0, 2.0),
    ],
)
def test_where_there_is_no_derivative(name: str, function: Any, at: float, wanted: float) -> None:
    """What is documented, in both modes; a selection has that of the operand that it chooses."""
    outputs = [function()]
    for table in (derivative(outputs, [x])[0], gradient(outputs[0], [x])):
        assert np.array_equal(evaluate(list(table), {x: at}), [wanted], equal_nan=True), name


def test_the_same_output_twice_and_numbers_among_outputs() -> None:
    product = x * y
    assert evaluate(pullback([product, 4.0, product, x], [w, w, 2.0, 1.0], [x, y]), {x: 3.0, y: 5.0, w: 7.0}) == [46.0, 27.0]


def test_what_depends_on_nothing() -> None:
    assert pullback([1.0], [w], [x]) == [0.0]
    assert pullback([], [], [x]) == [0.0]
    assert pullback([y.sin()], [1.0], [x]) == [0.0]
    assert isinstance(pullback([x], [w], [x])[0], Expr)
