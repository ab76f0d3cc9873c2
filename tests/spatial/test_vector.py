"""Scalar product, length and unit vector, for components of any size."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy

from linkwise.expr import evaluate, symbol
from linkwise.spatial.vector import inner, length, unit


@pytest.mark.parametrize("size", [5e-324, 1e-310, 1e-300, 1e-150, 1e-140, 1e-139, 1.0, 1e139, 1e141, 1e200, 1.7e308])
def test_any_size(size: float) -> None:
    x, y = symbol("x"), symbol("y")
    long, (along, _) = length(np.array([x, y])), unit(np.array([x, y]))
    for a, b in ((size, 0.0), (-size, 0.0), (size, size), (0.7 * size, -0.1 * size)):
        found = evaluate([long, *along], {x: a, y: b})
        power = math.frexp(size)[1]
        near = [math.ldexp(part, -power) for part in (a, b)]
        exact = math.hypot(*near)
        assert found[1:] == pytest.approx([part / exact for part in near], abs=4e-16)
        if power < 1024 or exact < 1:  # else the length itself is beyond the greatest number
            assert found[0] == pytest.approx(math.ldexp(exact, power), rel=4e-16, abs=5e-324)


def test_plain_numbers() -> None:
    direction, size = unit(np.array([0.0, 49.0, 0.0]))
    assert (direction.tolist(), size) == ([0, 1, 0], 49)
    direction, size = unit(np.zeros(3))
    assert (direction.tolist(), size) == ([0, 0, 0], 0)
    assert length(np.array([3.0, 4.0])) == 5
    assert inner(np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])) == 32
    assert math.isnan(evaluate([length(np.array([symbol_of_nan := symbol("x"), 1.0]))], {symbol_of_nan: math.nan})[0])


def test_symbols() -> None:
    a, b = sympy.symbols("a b", real=True)
    found = length(np.array([a, b])).subs({a: 3, b: 4})
    assert abs(found - 5) < 1e-15
