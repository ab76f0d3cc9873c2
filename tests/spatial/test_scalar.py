"""Functions of scalars of any kind: numbers, expressions and SymPy symbols, mixed."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import sympy

from linkwise.expr import Expr, evaluate, symbol
from linkwise.spatial.scalar import atan2, cos_sin, cos_sin_of_all, greatest, least, select

NAN, INF = math.nan, math.inf
VALUES = (0.0, -0.0, 1.0, -1.5, 5e-324, 1e300, INF, -INF, NAN)

ANGLES = [
    (0.0, 0.0, 0.0),
    (0.0, -0.0, 0.0),
    (-0.0, -0.0, 0.0),
    (0.0, 2.0, 0.0),
    (-0.0, -1.0, math.pi),
    (0.0, -1.0, math.pi),
    (-5e-324, -1.0, -math.pi),
    (3.0, 0.0, math.pi / 2),
    (-3.0, -0.0, -math.pi / 2),
    (2.0, 2.0, math.pi / 4),
    (2.0, -2.0, 3 * math.pi / 4),
    (-2.0, -2.0, -3 * math.pi / 4),
    (1.0, INF, 0.0),
    (-1.0, -INF, -math.pi),
    (-0.0, -INF, math.pi),
    (-INF, 1.0, -math.pi / 2),
    (INF, INF, NAN),
    (-INF, INF, NAN),
    (NAN, 1.0, NAN),
    (0.0, NAN, NAN),
    (INF, NAN, NAN),
]
"""y, x, the angle of (x, y)."""


def same(found: float, wanted: float) -> bool:
    return found == wanted or (math.isnan(found) and math.isnan(wanted))


def through_graph(function: Any, *values: float, given: tuple[int, ...]) -> float:
    """The value where the operands at these places are symbols and the others numbers."""
    symbols = {k: symbol(f"x{k}") for k in given}
    made = function(*(symbols.get(k, value) for k, value in enumerate(values)))
    return evaluate([made], {node: values[k] for k, node in symbols.items()})[0]


def places(count: int) -> list[tuple[int, ...]]:
    return [chosen for size in range(1, count + 1) for chosen in itertools.combinations(range(count), size)]


@pytest.mark.parametrize(("y", "x", "wanted"), ANGLES)
def test_angles(y: float, x: float, wanted: float) -> None:
    assert same(atan2(y, x), wanted)
    assert same(atan2(np.float64(y), np.float64(x)), wanted)
    for given in places(2):
        assert same(through_graph(atan2, y, x, given=given), wanted), given


def test_angles_of_ordinary_points_are_those_of_the_c_library() -> None:
    for y, x in np.random.default_rng(0).normal(size=(50, 2)):
        assert atan2(y, x) == math.atan2(y, x)
        assert atan2(int(10 * y), int(10 * x)) == math.atan2(int(10 * y), int(10 * x))


def test_selections() -> None:
    for c, x, y in itertools.product(VALUES, repeat=3):
        wanted = x if c > 0 else y
        assert select(c, x, y) is wanted
        for given in places(3):
            assert same(through_graph(select, c, x, y, given=given), wanted), (c, x, y, given)


def test_a_number_selects_at_once() -> None:
    chosen, other = np.zeros(3), symbol("x")
    assert select(np.float32(0.5), chosen, other) is chosen
    assert select(0, other, chosen) is chosen
    assert select(NAN, chosen, other) is other
    assert select(True, chosen, other) is chosen


def test_least_and_greatest_are_one_of_the_operands_and_keep_nan() -> None:
    for a, b in itertools.product(VALUES, repeat=2):
        broken = math.isnan(a) or math.isnan(b)
        for function, plain in ((least, min), (greatest, max)):
            wanted = NAN if broken else plain(a, b)
            assert same(function(a, b), wanted)
            assert same(function(np.float64(a), np.float64(b)), wanted)
            for given in places(2):
                assert same(through_graph(function, a, b, given=given), wanted), (function, a, b, given)


def test_a_limit_takes_one_selection() -> None:
    x = symbol("x")
    assert str(least(x, 3)) == "select(x - 3, 3, x)"
    assert least(3.0, x) is least(x, 3.0)
    assert str(greatest(x, -1.0)) == "select(-1 - x, -1, x)"


def test_sympy() -> None:
    a, b = sympy.symbols("a b", real=True)
    assert atan2(a, b) == sympy.atan2(a, b)
    assert atan2(1, b) == sympy.atan2(1, b)
    assert atan2(sympy.Integer(0), -2) == sympy.pi
    chosen = select(a, b, 2 * b)
    assert chosen == sympy.Piecewise((b, a > 0), (2 * b, True))
    assert select(sympy.Integer(1), a, b) == a
    assert select(1, a, b) is a
    assert select(sympy.Integer(0), a, b) == b
    for function, plain in ((least, min), (greatest, max)):
        for x, y in ((a, b), (a, 2.0), (0.5, b)):
            made = function(x, y)
            for left, right in ((3, -1), (-1, 3), (1, 1)):
                values = {a: left, b: right}
                numbers = [float(sympy.sympify(part).subs(values)) for part in (x, y)]
                assert float(made.subs(values)) == plain(numbers)


@pytest.mark.parametrize("function", [atan2, least])
def test_an_expression_and_a_sympy_symbol_do_not_mix(function: Any) -> None:
    with pytest.raises(TypeError):
        function(symbol("x"), sympy.Symbol("a"))


def test_kinds() -> None:
    x = symbol("x")
    assert isinstance(atan2(x, 1.0), Expr)
    assert isinstance(atan2(1.0, x), Expr)
    assert isinstance(select(x, 1.0, 2.0), Expr)
    assert type(atan2(np.float32(1), 2)) is float


def test_many_cosines_and_sines_are_those_of_one_at_a_time() -> None:
    quarters = [k * math.pi / 2 for k in range(-9, 10)]
    angles = [*quarters, *np.nextafter(quarters, 9.0), *np.nextafter(quarters, -9.0), 1e6, 3e7, *np.linspace(-4, 4, 50)]
    wanted = np.transpose([cos_sin(angle) for angle in angles])
    assert np.array_equal(cos_sin_of_all(angles), wanted)
