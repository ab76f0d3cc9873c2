"""Combinations of parameters as lines of text: ``"XX2 - YY2 - a2^2 M3"``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.expr.expanded import Monomial, ranked, terms
from linkwise.expr.node import Expr
from linkwise.expr.text import text

Combination = Sequence[tuple[Any, str]]
"""Coefficients, numbers or expressions, and the parameters that they go with."""


def combination_text(parts: Combination) -> str:
    """Write a combination as a sum, its coefficients multiplied out.

    Examples
    --------
    >>> from linkwise.expr.node import parameter
    >>> a = parameter("a2")
    >>> combination_text([(1.0, "XX2"), (-1.0, "YY2"), (2.5 - a * a, "M3")])
    'XX2 - YY2 + 2.5 M3 - a2^2 M3'
    """
    line = ""
    for coefficient, name in parts:
        for monomial, number in ranked(terms(coefficient)):
            sign = ("-" if number < 0 else "") if not line else " - " if number < 0 else " + "
            line += sign + _product(abs(number), monomial, name)
    return line or "0"


def _product(number: float, monomial: Monomial, name: str) -> str:
    size = "" if number == 1 else f"{number:.6g}"
    above = [_power(factor, power) for factor, power in monomial if power > 0]
    below = [_power(factor, -power) for factor, power in monomial if power < 0]
    top = " ".join(part for part in (size, *above) if part)
    if below:
        top = f"{top or '1'}/{below[0] if len(below) == 1 else '(' + ' '.join(below) + ')'}"
    return f"{top} {name}" if top else name


def _power(factor: Expr, power: int) -> str:
    base = text(factor)
    if factor.op in {"add", "sub", "mul", "div", "neg"}:
        base = f"({base})"
    return base if power == 1 else f"{base}^{power}"
