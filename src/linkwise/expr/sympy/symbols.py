"""SymPy symbols for the parameters of a model, and SymPy numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from linkwise.expr.node import Expr, origin_of
from linkwise.extras import sympy_module


def parameter_symbols(parameters: Iterable[Expr]) -> tuple[Any, ...]:
    """SymPy's symbols for those of a mechanism: the ones that it was described with, else real ones of the same names.

    Examples
    --------
    >>> import linkwise as lw
    >>> parameter_symbols([lw.symbols("m")])[0].is_real
    True
    """
    sympy = sympy_module()
    result = ((node, origin_of(node)) for node in parameters)
    return tuple(sympy.Symbol(node.value, real=True) if origin is None else origin for node, origin in result)


def number(value: float) -> Any:
    """A float as a SymPy number: a whole number, or a fraction with a denominator of 2, 4 or 8, where it is exactly that.

    Else it is the Float with the same 53 bits.

    Examples
    --------
    >>> number(3.0), number(-0.5), number(0.1)
    (3, -1/2, 0.100000000000000)
    """
    sympy = sympy_module()
    exact = Fraction(value)
    if exact.denominator <= 8 and abs(exact.numerator) < 10_000:
        return sympy.Rational(exact.numerator, exact.denominator)
    return sympy.Float(value)
