"""Expressions as text: no more brackets than needed, and read back they are the same."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkwise.expr import evaluate, symbol
from linkwise.expr.node import LONGEST, text

x, y, z = symbol("x"), symbol("y"), symbol("z")


@pytest.mark.parametrize(
    ("expression", "wanted"),
    [
        (x + y, "x + y"),
        (x - (y + z), "x - (y + z)"),
        (x - (y - z), "x - (y - z)"),
        ((x + y) * z, "z * (x + y)"),
        (x / (y * z), "x / (y * z)"),
        ((x / y) * z, "z * x / y"),
        (-(x + y), "-(x + y)"),
        (-(x * y), "-x * y"),
        (x.sin() * 2.0, "2 * sin(x)"),
        (abs(x - 1.5), "abs(x - 1.5)"),
        ((x + y).sqrt(), "sqrt(x + y)"),
        ((x + y).atan2(-z), "atan2(x + y, -z)"),
        (2.0 * (x - y).select(x, 1.5), "2 * select(x - y, x, 1.5)"),
    ],
)
def test_forms(expression: object, wanted: str) -> None:
    assert str(expression) in {wanted, wanted.replace("z * (x + y)", "(x + y) * z").replace("z * x / y", "x / y * z")}


@given(st.lists(st.tuples(st.sampled_from("+-*/n"), st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_read_back(steps: list[tuple[str, int, int]]) -> None:
    """Python reads the text with the same meaning."""
    values = [x, y, z + 3.0]
    for op, i, j in steps:
        a, b = values[-1 - i % len(values)], values[-1 - j % len(values)]
        if op == "/" and (isinstance(b, float) or isinstance(a, float)):
            continue
        made = {"+": lambda a=a, b=b: a + b, "-": lambda a=a, b=b: a - b, "*": lambda a=a, b=b: a * b * 0.25,
                "/": lambda a=a, b=b: a / b, "n": lambda a=a: -a}[op]()  # fmt: skip
        values.append(made)
    last = values[-1]
    if isinstance(last, float) or len(str(last)) > LONGEST:
        return
    numbers = {"x": 0.7, "y": -1.3, "z": 0.45}
    (wanted,) = evaluate([last], {x: 0.7, y: -1.3, z: 0.45})
    try:
        found = eval(str(last), {}, numbers)
    except ZeroDivisionError:
        return
    if math.isfinite(wanted) and math.isfinite(found):
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_long_text_is_cut() -> None:
    total = x
    for _ in range(40):
        total = total * total + y  # as text, doubles each time
    assert len(text(total)) <= LONGEST + 10
