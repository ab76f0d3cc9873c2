"""Expressions multiplied out."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.expr.evaluate import evaluate
from linkwise.expr.expand import expanded, quotient, terms
from linkwise.expr.node import Expr, symbol

A, B, X = symbol("a"), symbol("b"), symbol("x")
S, C = X.sin(), X.cos()


def test_equal_polynomials_are_one_node() -> None:
    assert expanded((A + B) * (A + B)) is expanded(A * A + B * B + 2.0 * (B * A))
    assert expanded((A + B) * (A - B) + B * B - A * A) == 0.0
    assert expanded(3.0) == 3.0
    assert expanded(A) is A


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (S * S * A + C * C * A, A),
        ((1.0 - C * C) / S, S),
        (C / S - 1.0 / (C * S), -(S / C)),
        (C * C * C / S + C * S, C / S),
        (A / (A * B * B), 1.0 / (B * B)),
    ],
)
def test_sines_and_cosines(value: Expr, wanted: Expr) -> None:
    assert terms(value) == terms(wanted)


def test_quotients() -> None:
    assert quotient(A * A * B + A * B * B, A + B) is expanded(A * B)
    assert quotient(3.0 * A - 3.0 * A * C * C, A - A * C * C) == 3.0
    assert str(quotient(A, A - A * C * C)) == "1 / (sin(x) * sin(x))"


@pytest.mark.parametrize("seed", range(20))
def test_the_value_stays(seed: int) -> None:
    """Of random expressions; each step rounds once, values stay below 1e3."""
    rng = np.random.default_rng(seed)
    pool: list[Expr] = [A, B, S, C, X]
    for _ in range(8):
        first, second = (pool[rng.integers(len(pool))] for _ in range(2))
        made = [
            first + second * 2.0,
            first - second,
            first * second,
            -first,
            first / (2.0 + second * second),
            (first + B).cos(),
        ]
        chosen = made[rng.integers(len(made))]
        if isinstance(chosen, Expr):
            pool.append(chosen)
    point = {A: 0.7, B: -1.3, X: 0.4}
    value, other = evaluate([pool[-1], expanded(pool[-1])], point)
    assert abs(value - other) <= 1e-10 * max(1.0, abs(value))
