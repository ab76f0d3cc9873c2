"""Interning, arithmetic with numbers and arrays, and memory that is given back."""

from __future__ import annotations

import gc
import math
import pickle
import threading

import numpy as np
import pytest

from linkwise.expr import evaluate, symbol
from linkwise.expr.node import live_nodes, parameter


def test_equal_expressions_are_one_object() -> None:
    x, y = symbol("x"), symbol("y")
    assert x + y is y + x
    assert x * y is y * x
    assert (x + y).sin() is (y + x).sin()
    assert x - y is not y - x
    assert x + 1 is x + 1.0
    assert x + np.float64(1.0) is x + np.int32(1)
    assert symbol("x") is not x


def test_constant_results_are_floats() -> None:
    x = symbol("x")
    for value in (x * 0.0, x - x, x / x, (x.cos() * x.cos() + x.sin() * x.sin())):
        assert type(value) is float
    assert x + 0.0 is x
    assert x * 1.0 is x
    negative = -x
    assert -negative is x


def test_object_arrays() -> None:
    x, y = symbol("x"), symbol("y")
    rows = np.array([[x, y], [1.0, 0.0]], dtype=object)
    product = rows @ np.array([2.0, x], dtype=object)
    assert product[0] is 2.0 * x + y * x
    assert product[1] == 2.0
    assert np.sin(np.array([x, y], dtype=object))[0] is x.sin()
    assert np.sqrt(np.array([x], dtype=object))[0] is x.sqrt()


@pytest.mark.parametrize("power", [0, 1, 2, 5, 2.0, 0.5, 2.5, -1, -3, -0.5])
def test_powers(power: float) -> None:
    x = symbol("x")
    assert evaluate([x**power], {x: 1.7})[0] == pytest.approx(1.7**power, rel=2e-15)


def test_what_is_refused() -> None:
    x = symbol("x")
    for power in (0.3, float("nan"), "2", x):
        with pytest.raises(TypeError):
            x**power
    with pytest.raises(TypeError):
        x + "1"
    with pytest.raises(TypeError, match="an expression, not a number"):
        float(x)
    with pytest.raises(TypeError, match="not known when the graph is built"):
        bool(x)
    with pytest.raises(TypeError, match="does not pickle"):
        pickle.dumps(x)


def test_angles_and_selections() -> None:
    x, y = symbol("x"), symbol("y")
    assert x.atan2(y) is x.atan2(y)
    assert x.atan2(y) is not y.atan2(x)
    assert x.select(y, 1) is x.select(y, np.float64(1.0))
    assert x.select(y, y) is y
    assert x.select(2.0, 2.0) == 2.0
    assert type(x.select(2.0, 2.0)) is float
    assert x.apply("atan2", 1.0, x).args[0].value == 1.0


@pytest.mark.parametrize("other", ["1", None, [1.0]])
def test_angles_and_selections_refuse_what_is_no_scalar(other: object) -> None:
    x = symbol("x")
    kind = type(other).__name__
    with pytest.raises(
        TypeError, match=f"^atan2 takes expressions and numbers; its operands are of the types Expr, {kind}$"
    ):
        x.atan2(other)
    with pytest.raises(TypeError, match=f"^select takes .* types Expr, float, {kind}$"):
        x.select(1.0, other)


def test_memory_is_given_back() -> None:
    gc.collect()
    before = live_nodes()
    x = symbol("x")
    held = [(x * k).sin() + x for k in range(1, 1000)]
    assert live_nodes() >= before + 2000
    del held
    gc.collect()
    assert live_nodes() == before


def test_a_long_chain_is_freed_without_recursion() -> None:
    gc.collect()
    before = live_nodes()
    x = symbol("x")
    total = x
    for _ in range(200_000):
        total = total.sin() + x
    assert live_nodes() > before + 399_000
    del total
    gc.collect()
    assert live_nodes() == before


def test_a_cycle_of_garbage_does_not_keep_nodes() -> None:
    gc.collect()
    before = live_nodes()
    box: list[object] = [symbol("x") * 3.0]
    box.append(box)
    del box
    gc.collect()
    assert live_nodes() == before


def test_negative_zero_and_nan_constants() -> None:
    x = symbol("x")
    assert x + -0.0 is x
    (value,) = evaluate([x + math.nan], {x: 1.0})
    assert math.isnan(value)
    assert math.copysign(1.0, evaluate([x * -0.0], {x: 1.0})[0]) == 1.0


def test_many_threads_build_at_once() -> None:
    """Each thread builds the same expressions over its own and a shared symbol; every value is right."""
    shared = symbol("s")
    failures: list[object] = []

    def build() -> None:
        own = symbol("x")
        for k in range(300):
            expression = (shared * own + k).sin() * own - shared * own
            value = evaluate([expression], {shared: 0.3, own: 0.7})[0]
            wanted = math.sin(0.3 * 0.7 + k) * 0.7 - 0.3 * 0.7
            if abs(value - wanted) > 1e-13:
                failures.append((k, value, wanted))

    threads = [threading.Thread(target=build) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("number", [0, 0.0, np.float64(1.0), True])
def test_whether_an_expression_is_a_number_cannot_be_asked(number: float) -> None:
    """It would be False whatever the value turns out to be, and a law with such an ``if`` silently wrong."""
    x = symbol("x")
    with pytest.raises(TypeError, match="x is an expression; whether it is"):
        _ = x == number
    with pytest.raises(TypeError, match="x is an expression; whether it is"):
        _ = x != number
    assert x == x  # noqa: PLR0124
    assert x != symbol("x")
    assert len({x, x, symbol("x")}) == 2


def test_expressions_of_parameters_are_ordered_by_what_they_are() -> None:
    """They are shared with all graphs, so neither their age nor what else is alive may show in an expression."""
    younger, older = parameter("in_order_a"), parameter("in_order_b")
    again = parameter("in_order_c")
    assert (older * younger).args == (younger, older)
    assert ((again + older) * younger).args == (younger, again + older)
    x = symbol("x")
    assert (x * again).args == (again, x)
    kept = [older - younger, younger * again]
    assert (younger - older).op == "sub"
    assert (younger * (2.0 * again)).args == (younger, 2.0 * again)
    y = symbol("y")
    kept += [y - x, x * y]
    assert (x - y) is -(y - x)
    assert (x * (2.0 * y)).args[1] is x * y
