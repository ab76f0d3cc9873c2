"""Conversion of SymPy expressions to expressions of Linkwise, the inverse of `linkwise.equations.tape_to_sympy`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, members, shown
from linkwise.expr.node import Expr, parameter
from linkwise.expr.symbols import checked_name
from linkwise.extras import sympy_module
from linkwise.spatial.scalar import array, greatest, least, select

#: A condition: gives the first of two values where it holds, else the second.
Choice = Callable[[Any, Any], Any]

#: The greatest exponent that is read: a power becomes products.
MOST_FACTORS = 64


def from_sympy(expression: Any, replacements: Mapping[Any, Any] | None = None) -> Any:
    """Read a SymPy expression, or an array of them, as an expression of Linkwise.

    Sums, products, quotients, powers by whole and half numbers, sin, cos, tan, asin, acos, atan, atan2, Abs, sign, Min, Max
    and Piecewise over real symbols. Numbers become the nearest float, pi included. Shared parts are read once, so the time
    is in proportion to the size of the graph, not to that of the written expression.

    Parameters
    ----------
    expression : SymPy expression, number, Expr, or an array of these
        Numbers and expressions of Linkwise stay as they are. A Matrix, a list or an array is read element by element.
    replacements : mapping, optional
        What stands for a symbol, or for any other part of the expression, such as ``q(t)``: an Expr or a number, by the
        SymPy object or by the symbol's name. Every other symbol stands for itself: it is taken as real, and what is computed
        with it is written in it again. A symbol with the assumption ``real=True`` alone is that of its name in
        `linkwise.symbols`.

    Returns
    -------
    Expr, float, or ndarray of them
        Of the shape of what was given.

    Raises
    ------
    ArgumentError
        Naming what an expression of Linkwise cannot have: another function, another exponent, a number that is not real and
        finite, a symbol that is not real or whose name `linkwise.symbols` refuses, a condition that is none, two symbols
        of one name.
    MissingExtraError
        Where SymPy is not installed.

    Examples
    --------
    >>> import sympy
    >>> m, l = sympy.symbols("m l")
    >>> read = from_sympy(m * l**2 / 3 + sympy.sin(sympy.pi / 6))
    >>> read
    Expr(0.5 + l * l * 0.333333333333 * m)
    >>> from_sympy(m / l, {m: 6.0, "l": 2.0})
    3.0
    """
    return _Reader(replacements or {}).everything(expression)


def model_expression(expression: Any) -> Any:
    """Read a SymPy expression in place of a number of a model; as `from_sympy`, but every symbol means itself.

    Real ones too: a model in which another symbol has the same name can then be refused.
    """
    return _Reader({}, own_symbols=True).everything(expression)


class _Reader:
    """One conversion: results of parts by identity, as SymPy compares expressions completely."""

    def __init__(self, replacements: Mapping[Any, Any], own_symbols: bool = False) -> None:
        self.sympy = sympy_module()
        self.replacements, self.own_symbols = dict(replacements), own_symbols
        self.made: dict[int, Any] = {}
        self.kept: list[Any] = []  # identities stay valid as long as the objects live
        self.named: dict[str, Any] = {}
        self.functions = _functions(self.sympy)

    def everything(self, value: Any) -> Any:
        """A scalar or an array."""
        if isinstance(value, (self.sympy.MatrixBase, self.sympy.NDimArray)):
            value = np.array(value.tolist(), dtype=object)
        if isinstance(value, (list, tuple, np.ndarray)):
            replacements = np.asarray(value, dtype=object)
            return array([self.scalar(part) for part in replacements.flat]).reshape(replacements.shape)
        return self.scalar(value)

    def scalar(self, value: Any) -> Any:
        """Read one expression, its parts first; without recursion, for expressions may be deep."""
        if isinstance(value, Expr):
            return value
        if isinstance(value, (float, int, np.floating, np.integer)) and not isinstance(value, bool):
            return _finite(float(value), value)
        if not isinstance(value, self.sympy.Expr):
            raise ArgumentError(f"{shown(value)} is neither a SymPy expression nor a number")
        waiting = [value]
        while waiting:
            part = waiting[-1]
            missing = [] if id(part) in self.made else [p for p in self._parts(part) if id(p) not in self.made]
            if missing:
                waiting += reversed(missing)
                continue
            waiting.pop()
            if id(part) not in self.made:
                result = self._read(part)
                self.kept.append(part)
                self.made[id(part)] = _finite(result, part) if isinstance(result, float) else result
        return self.made[id(value)]

    def _parts(self, part: Any) -> tuple[Any, ...]:
        """Parts to be converted first."""
        if part.is_Atom or self._is_given(part):
            return ()
        return part.args[:1] if part.is_Pow else tuple(part.args)

    def _is_given(self, part: Any) -> bool:
        return bool(self.replacements) and part in self.replacements

    def _read(self, part: Any) -> Any:
        """Convert one part; its parts are converted already."""
        if self._is_given(part):
            return self.replacements[part]
        if part.is_Atom:
            return self._atom(part)
        if isinstance(part, self.sympy.core.containers.Tuple):  # a value with its condition
            return tuple(self.made[id(p)] for p in part.args)
        values = [self.made[id(p)] for p in self._parts(part)]
        if isinstance(part, self.sympy.Expr) and all(isinstance(value, float) for value in values) and part.is_number:
            return self._number(part)
        if part.is_Pow or part.is_Mul:
            return self._product([part] if part.is_Pow else part.args)
        if part.func not in self.functions:
            others = (self.sympy.Add, self.sympy.logic.boolalg.Boolean)
            known = sorted(function.__name__ for function in self.functions if not issubclass(function, others))
            problem = f"{part.func.__name__!r} in {shown(part)} is not among what Linkwise computes"
            raise ArgumentError(f"{problem}: sums, products, quotients, powers, {members(known)}")
        return self.functions[part.func](*values)

    def _atom(self, part: Any) -> Any:
        """Convert a number, a symbol, a constant condition."""
        if isinstance(part, self.sympy.Symbol):
            return self._symbol(part)
        if part in (self.sympy.true, self.sympy.false):
            return _always if part == self.sympy.true else _never
        return self._number(part)

    def _symbol(self, part: Any) -> Any:
        if part.name in self.replacements:
            return self.replacements[part.name]
        if isinstance(part, (self.sympy.Dummy, self.sympy.Wild)):
            raise ArgumentError(f"{part} is a {type(part).__name__}, which has no name of its own; expected a Symbol")
        if part.is_real is False or not part.is_commutative:
            raise ArgumentError(f"symbol {part.name!r} is not real; the numbers of a mechanism are")
        other = self.named.setdefault(part.name, part)
        if other != part:
            both = " and ".join(map(self.sympy.srepr, (other, part)))
            raise ArgumentError(f"two symbols with different assumptions are called {part.name!r}, {both}; expected one")
        plain = not self.own_symbols and part == self.sympy.Symbol(part.name, real=True)
        return parameter(checked_name(part.name), None if plain else part)

    def _number(self, part: Any) -> float:
        """The float nearest to a part without symbols."""
        if part.is_Rational:
            try:
                return int(part.p) / int(part.q)  # rounded once
            except (OverflowError, ZeroDivisionError):
                return math.inf
        if part.is_Float:
            return float(part)
        return float(part.evalf(25)) if part.is_number and part.is_real else math.nan

    def _exponent(self, part: Any) -> float:
        """A whole or half number."""
        exponent = part.exp
        twice = 2 * exponent if exponent.is_Rational or exponent.is_Float else None
        if twice is None or twice != int(twice) or abs(exponent) > MOST_FACTORS:
            expected = f"a whole or half number up to {MOST_FACTORS}"
            raise ArgumentError(f"the exponent of {shown(part)} is {shown(exponent)}; expected {expected}")
        return float(exponent)

    def _product(self, factors: Sequence[Any]) -> Any:
        """A product of powers, of which those with a negative exponent are one divisor."""
        above: Any = 1.0
        below: Any = 1.0
        for factor in factors:
            if self._is_power(factor):
                exponent, base = self._exponent(factor), self.made[id(factor.base)]
                if exponent < 0:
                    below = Expr.apply("mul", below, _raised(base, -exponent))
                else:
                    above = Expr.apply("mul", above, _raised(base, exponent))
            else:
                above = Expr.apply("mul", above, self.made[id(factor)])
        return Expr.apply("div", above, below)

    def _is_power(self, factor: Any) -> bool:
        """True if a factor is to be raised here: not if its power is known, nor if it is a number, except a divisor."""
        if not factor.is_Pow or self._is_given(factor):
            return False
        return not isinstance(self.made.get(id(factor)), float) or factor.exp == -1


def _finite(value: float, part: Any) -> float:
    if not math.isfinite(value):
        raise ArgumentError(f"{shown(part)} is not a real and finite number")
    return value


def _raised(base: Any, exponent: float) -> Any:
    """A positive whole or half power, as products of few factors."""
    whole, result = int(exponent), Expr.apply("sqrt", base) if exponent % 1 else 1.0
    while whole:
        if whole % 2:
            result = Expr.apply("mul", result, base)
        whole //= 2
        base = Expr.apply("mul", base, base) if whole else base
    return result


# ── functions, and conditions, which are choices between two values ──────────────────────────────────


def _functions(sympy: Any) -> dict[Any, Callable[..., Any]]:
    """Conversion of each function and each condition of SymPy."""
    return {
        sympy.Add: _each(lambda x, y: Expr.apply("add", x, y)),
        sympy.sin: lambda x: Expr.apply("sin", x),
        sympy.cos: lambda x: Expr.apply("cos", x),
        sympy.tan: lambda x: Expr.apply("div", Expr.apply("sin", x), Expr.apply("cos", x)),
        sympy.asin: lambda x: Expr.apply("atan2", x, Expr.apply("sqrt", 1.0 - x * x)),
        sympy.acos: lambda x: Expr.apply("atan2", Expr.apply("sqrt", 1.0 - x * x), x),
        sympy.atan: lambda x: Expr.apply("atan2", x, 1.0),
        sympy.atan2: lambda y, x: Expr.apply("atan2", y, x),
        sympy.Abs: abs,
        sympy.sign: lambda x: Expr.apply("sign", x),
        sympy.Min: _each(least),
        sympy.Max: _each(greatest),
        sympy.Piecewise: _piecewise,
        sympy.Gt: lambda x, y: partial(select, x - y),
        sympy.Lt: lambda x, y: partial(select, y - x),
        sympy.Ge: lambda x, y: _unless(partial(select, y - x)),
        sympy.Le: lambda x, y: _unless(partial(select, x - y)),
        sympy.Eq: lambda x, y: _unless(partial(select, abs(x - y))),
        sympy.Ne: lambda x, y: partial(select, abs(x - y)),
        sympy.And: _all,
        sympy.Or: _any,
        sympy.Not: _unless,
        sympy.ITE: _if_else,
    }


def _each(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of any number of values from one of two."""
    return lambda *values: reduce(function, values)


def _always(x: Any, y: Any) -> Any:
    return x


def _never(x: Any, y: Any) -> Any:
    return y


def _unless(condition: Choice) -> Choice:
    return lambda x, y: _checked(condition)(y, x)


def _all(*conditions: Choice) -> Choice:
    return lambda x, y: reduce(lambda chosen, condition: _checked(condition)(chosen, y), conditions, x)


def _any(*conditions: Choice) -> Choice:
    return lambda x, y: reduce(lambda chosen, condition: _checked(condition)(x, chosen), conditions, y)


def _if_else(condition: Choice, holds: Choice, otherwise: Choice) -> Choice:
    """What SymPy makes of a comparison with a Piecewise."""
    return lambda x, y: _checked(condition)(_checked(holds)(x, y), _checked(otherwise)(x, y))


def _checked(condition: Any) -> Choice:
    """A condition, which may also be a symbol in SymPy."""
    if not callable(condition):
        raise ArgumentError(f"{shown(condition)} is not a condition; expected a comparison, And, Or or Not of these")
    result: Choice = condition
    return result


def _piecewise(*pairs: tuple[Any, Choice]) -> Any:
    """First value whose condition is true; the last one always is."""
    *cases, (result, condition) = pairs
    if condition is not _always:
        raise ArgumentError("a Piecewise has no value for all other cases; expected one that ends in (value, True)")
    for value, condition in reversed(cases):
        result = _checked(condition)(value, result)
    return result
