"""Random expressions: what the rewritten graph gives is what plain arithmetic gives."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkwise.expr import Expr, derivative, evaluate, schedule, symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.spatial.scalar import atan2, select

Make = Callable[[dict[str, Any], dict[str, Callable[[Any], Any]]], Any]

NUMBERS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0)


@st.composite
def recipes(draw: st.DrawFn, size: int = 30) -> list[tuple[str, int, int, float]]:
    """Steps of (operation, first operand, second operand, number), operands counted back from the newest value."""
    operations = ["add", "sub", "mul", "add", "sub", "mul", "neg", "sin", "cos", "constant", "scale", "abs"]
    operations += ["atan2", "greater", "choose"]
    step = st.tuples(st.sampled_from(operations), st.integers(0, 6), st.integers(0, 6), st.sampled_from(NUMBERS))
    return draw(st.lists(step, min_size=1, max_size=size))


def follow(recipe: list[tuple[str, int, int, float]], start: list[Any], sin: Any, cos: Any) -> list[Any]:
    """Carry a recipe out, on expressions or on floats.

    Every operation passes rounding on as rounding: the greater of two is continuous, and what else is chosen depends on a
    coordinate that is not near any of `NUMBERS`.
    """
    values = list(start)
    for op, i, j, number in recipe:
        x, y = values[-1 - i % len(values)], values[-1 - j % len(values)]
        made = {
            "add": lambda x=x, y=y: x + y,
            "sub": lambda x=x, y=y: x - y,
            "mul": lambda x=x, y=y: x * y * 0.5,
            "neg": lambda x=x: -x,
            "sin": lambda x=x: sin(x),
            "cos": lambda x=x: cos(x),
            "abs": lambda x=x: abs(x),
            "atan2": lambda x=x, y=y: angle(x, y * y + 1.5),
            "greater": lambda x=x, y=y: choice(x - y, x, y),
            "choose": lambda k=i % 3, n=number, x=x, y=y: choice(start[k] - n, x, y),
            "constant": lambda n=number, x=x: x + n,
            "scale": lambda n=number, x=x: n * x,
        }[op]
        values.append(made())
    return values


def sin(value: Any) -> Any:
    return value.sin() if isinstance(value, Expr) else math.sin(value)


def cos(value: Any) -> Any:
    return value.cos() if isinstance(value, Expr) else math.cos(value)


def angle(y: Any, x: Any) -> Any:
    if isinstance(y, complex) or isinstance(x, complex):
        return cmath.atan(y / x)  # (x is positive)
    return atan2(y, x)


def choice(c: Any, x: Any, y: Any) -> Any:
    return select(c.real if isinstance(c, complex) else c, x, y)


POINT = (0.7, -1.3, 0.4)


@settings(max_examples=300)
@given(recipes())
def test_values(recipe: list[tuple[str, int, int, float]]) -> None:
    symbols = [symbol(name) for name in "xyz"]
    found = evaluate(follow(recipe, symbols, sin, cos), dict(zip(symbols, POINT, strict=True)))
    wanted = follow(recipe, list(POINT), sin, cos)
    biggest = 1.0
    for a, b in zip(found, wanted, strict=True):
        biggest = max(biggest, abs(b)) if math.isfinite(b) else math.inf
        if biggest > 1e6:  # from here a sine multiplies rounding by more than the bound allows
            break
        # Each step may re-associate, and a sine passes on the rounding of its argument: eps x size x steps.
        assert abs(a - b) <= 1e-15 * biggest**2 * (len(recipe) + 1) * 4


@settings(max_examples=100)
@given(recipes(12))
def test_derivatives_against_complex_step(recipe: list[tuple[str, int, int, float]]) -> None:
    """d f / d x is the imaginary part of f(x + i h) / h, to rounding (W. Squire, G. Trapp, 1998).

    abs and the greater of two, which are not analytic, are left out.
    """
    other = {"abs": "neg", "greater": "choose"}
    recipe = [(other.get(op, op), i, j, number) for op, i, j, number in recipe]
    symbols = [symbol(name) for name in "xyz"]
    outputs = follow(recipe, symbols, sin, cos)
    exact = derivative(outputs, symbols)
    values = dict(zip(symbols, POINT, strict=True))
    for column in range(3):
        shifted = [complex(v, 1e-40 * (k == column)) for k, v in enumerate(POINT)]
        wanted = follow(recipe, shifted, cmath.sin, cmath.cos)
        found = evaluate(exact[:, column], values)
        size = 1.0
        for a, b in zip(found, wanted, strict=True):
            rate = b.imag / 1e-40
            size = max(size, abs(b), abs(rate))
            if not size < 1e4:
                break
            assert abs(a - rate) <= 1e-14 * size**2


def test_derivative_of_each_operation_against_sympy() -> None:
    import sympy

    x, y = symbol("x"), symbol("y")
    a, b = sympy.symbols("x y", positive=True)
    pairs = {
        "add": (x + 2 * y, a + 2 * b),
        "sub": (x - y * x, a - b * a),
        "mul": (x * y * x, a * b * a),
        "div": (x / (y * x + 1.0), a / (b * a + 1)),
        "sqrt": ((x * y + 2.0).sqrt(), sympy.sqrt(a * b + 2)),
        "sin": ((x * y).sin(), sympy.sin(a * b)),
        "cos": ((x - y).cos(), sympy.cos(a - b)),
        "neg": (-(x * x), -a * a),
        "abs": (abs(x - 3.0 * y), sympy.Abs(a - 3 * b)),
        "atan2": ((x * y).atan2(x - 2.0 * y), sympy.atan2(a * b, a - 2 * b)),
        "select": ((x - y).select(x * y, x), sympy.Piecewise((a * b, a - b > 0), (a, True))),
    }
    point = {x: 0.8, y: 0.45}
    for name, (ours, theirs) in pairs.items():
        table = derivative([ours], [x, y])[0]
        for entry, variable in zip(table, (a, b), strict=True):
            wanted = float(sympy.diff(theirs, variable).subs({a: 0.8, b: 0.45}).doit())
            assert evaluate([entry], point)[0] == pytest.approx(wanted, rel=1e-14, abs=1e-15), name
    assert derivative([x.sign(), 3.0], [x]).tolist() == [[0.0], [0.0]]
    assert {*pairs, "sign"} == OPERATIONS.keys()


@pytest.mark.parametrize("start", [(0.3, 0.9), (-2.0, 0.4), (-0.6, -1.1), (0.2, -0.01), (5.0, 3.0)])
def test_derivatives_of_angles_and_selections_against_central_differences(start: tuple[float, float]) -> None:
    x, y = symbol("x"), symbol("y")
    outputs = [
        y.atan2(x),
        (x * y).atan2(x - 0.3),
        (2.0 * x).atan2(1.5),
        x.select(y.atan2(x * x), x * y).sin(),
        y.select(1.0, x),
    ]
    exact = derivative(outputs, [x, y])
    step = 1e-5
    for column, variable in enumerate((x, y)):
        point = dict(zip((x, y), start, strict=True))
        after, before = (evaluate(outputs, {**point, variable: point[variable] + sign * step}) for sign in (1, -1))
        wanted = [(b - a) / (2 * step) for a, b in zip(before, after, strict=True)]
        # The third derivative, at most some thousand here, times step^2/6; rounding over the step.
        assert evaluate(exact[:, column], point) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


def test_the_derivative_of_a_selection_does_not_see_what_is_not_chosen() -> None:
    """The derivative of the root is infinite or NaN where it is not chosen."""
    x, y = symbol("x"), symbol("y")
    (row,) = derivative([x.select(x.sqrt() * y, y * y)], [x, y])
    assert evaluate(row, {x: 0.0, y: 3.0}) == [0.0, 6.0]
    assert evaluate(row, {x: -1.0, y: 3.0}) == [0.0, 6.0]
    assert evaluate(row, {x: 4.0, y: 3.0}) == [0.75, 2.0]
    assert derivative([x.select(1.0, 2.0)], [x]).tolist() == [[0.0]]
    assert derivative([x.select(y, 2.0)], [y])[0, 0] is x.select(1.0, 0.0)


def test_partial_derivatives_of_a_selection_are_its_rates() -> None:
    c, x, y = symbol("c"), symbol("x"), symbol("y")
    z = c.select(x, y)
    rates = [7.0, 11.0, 13.0]
    operation = OPERATIONS["select"]
    assert operation.rate is not None
    for chooser, wanted in ((1.0, 11.0), (0.0, 13.0)):
        parts = operation.partials(z, c, x, y)
        products = evaluate([p * r for p, r in zip(parts, rates, strict=True)], {c: chooser})
        assert sum(products) == wanted
        assert evaluate([operation.rate((c, x, y), rates)], {c: chooser}) == [wanted]


def test_second_derivatives_commute() -> None:
    x, y = symbol("x"), symbol("y")
    f = (x * y).sin() * (x + y * y) / (2.0 + x.cos())
    first = derivative([f], [x, y])[0]
    second = derivative(list(first), [x, y])
    values = evaluate(list(second.ravel()), {x: 0.6, y: -0.2})
    assert values[1] == pytest.approx(values[2], rel=1e-13)


def test_values_of_single_operations() -> None:
    x, y = symbol("x"), symbol("y")
    nan, inf = math.nan, math.inf

    def value(expression: Any, a: float, b: float = 0.0) -> float:
        return evaluate([expression], {x: a, y: b})[0]

    assert value(x.sqrt(), 2.0) == math.sqrt(2.0)
    assert math.isnan(value(x.sqrt(), -1.0))
    assert math.isnan(value(x.sin(), inf))
    assert value(x / y, 1.0, 0.0) == inf
    assert value(x / y, -1.0, 0.0) == -inf
    assert math.isnan(value(x / y, 0.0, 0.0))
    assert [value(x.sign(), v) for v in (-3.0, 0.0, 1e-320)] == [-1.0, 0.0, 1.0]
    assert math.isnan(value(x.sign(), nan))
    assert value(x.cos(), 1.1) == math.cos(1.1)
    assert value(x.atan2(y), -0.0, -1.0) == math.pi
    assert value(x.atan2(y), 0.0, -0.0) == 0.0
    assert value(x.select(y, 2.0), 5e-324, 3.0) == 3.0
    assert [value(x.select(y, 2.0), v, nan) for v in (0.0, -0.0, -1.0, nan)] == [2.0] * 4
    assert value(abs(x), -1.5) == 1.5


def test_schedule_of_numbers_alone_is_empty() -> None:
    assert schedule([1.0, 2.0]) == []
