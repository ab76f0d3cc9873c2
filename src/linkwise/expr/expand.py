"""An expression multiplied out: a sum of monomials, with like ones collected and sin^2 written as 1 - cos^2."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from linkwise.errors import ArgumentError
from linkwise.expr.node import Expr, existing, precedence
from linkwise.expr.ordering import schedule

#: Factors with their exponents, in the order of `precedence`; no exponent is 0.
Monomial = tuple[tuple[Expr, int], ...]

Sum = dict[Monomial, float]

#: Terms that a product may have before like ones are collected.
MOST_TERMS = 2_000

#: A coefficient below this part of its terms is rounding.
_ROUNDING = 1e-14


def expanded(expression: Any) -> Any:
    """Multiply out, collect, and build the expression again: equal polynomials in the same symbols become one node.

    Symbols, and functions of them, are the variables. A sum in a denominator is one too, after it was expanded itself.

    Parameters
    ----------
    expression : Expr or float
        What to multiply out. A graph with shared sums may have many terms; this is for short ones.

    Raises
    ------
    ArgumentError
        Where a product would have more than `MOST_TERMS` terms.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> a, b = symbol("a"), symbol("b")
    >>> print(expanded((a + b) * (a - b) + b * b))
    a * a
    """
    if not isinstance(expression, Expr):
        return expression
    return built(terms(expression))


def terms(expression: Any) -> Sum:
    """The monomials of an expression and their coefficients."""
    known: dict[Expr, Sum] = {}
    if not isinstance(expression, Expr):
        return {(): float(expression)} if expression else {}
    for node in schedule([expression]) or [expression]:
        known[node] = _one(node, [known[arg] for arg in node.args])
    return known[expression]


def built(result: Sum) -> Any:
    """The expression of a sum of monomials."""
    total: Any = 0.0
    for monomial, number in ranked(result):
        part: Any = abs(number)
        below: Any = 1.0
        product: Any = 1.0
        for factor, power in monomial:
            if power > 0:
                product = product * factor**power
            else:
                below = below * factor**-power
        part = part * product / below if isinstance(below, Expr) else part * product
        total = total + part if number > 0 else total - part
    return total


def ranked(result: Sum) -> list[tuple[Monomial, float]]:
    """The terms in the order in which they are written, factors too: of low degree first, then by name."""
    labels = {factor: _label(factor) for monomial in result for factor, _ in monomial}
    named = [(tuple(sorted(monomial, key=lambda part: labels[part[0]])), number) for monomial, number in result.items()]
    return sorted(named, key=lambda item: _rank(item[0], labels))


def _rank(monomial: Monomial, labels: Mapping[Expr, str]) -> tuple[int, list[tuple[str, int]]]:
    return sum(abs(power) for _, power in monomial), [(labels[factor], -power) for factor, power in monomial]


def _label(factor: Expr) -> str:
    return str(factor.value if factor.op == "symbol" else factor)


def _one(node: Expr, args: list[Sum]) -> Sum:
    if node.op in _ARITHMETIC:
        return _ARITHMETIC[node.op](*args)
    if node.op == "const":
        return {(): node.value} if node.value else {}
    result = node if node.op == "symbol" else Expr.apply(node.op, *(built(arg) for arg in args))
    return {((result, 1),): 1.0} if isinstance(result, Expr) else ({(): result} if result else {})


def _added(a: Sum, b: Sum, sign: float = 1.0) -> Sum:
    return _total([*a.items(), *((monomial, sign * number) for monomial, number in b.items())])


def quotient(above: Any, below: Any) -> Any:
    """Quotient of two expressions, expanded; common factors are cancelled if they are factors of the whole.

    Examples
    --------
    >>> from linkwise.expr.node import symbol
    >>> a, b = symbol("a"), symbol("b")
    >>> print(quotient(a * a * b + a * b * b, a + b))
    a * b
    """
    top, bottom = terms(above), terms(below)
    if len(top) == len(bottom) > 1:
        variables = list({factor: None for monomial in (*top, *bottom) for factor, _ in monomial})
        (first, number), (other, size) = _leading(top, variables), _leading(bottom, variables)
        factor = _product({first: number}, _inverse({other: size}))
        if not _added(top, _product(factor, bottom), -1.0):
            return built(factor)
    return built(_product(top, _inverse(bottom)))


def _leading(result: Sum, variables: Sequence[Expr]) -> tuple[Monomial, float]:
    """The term with the highest powers, those of the first variable first: of a product it is the product of both."""
    return max(result.items(), key=lambda item: [dict(item[0]).get(factor, 0) for factor in variables])


def _inverse(below: Sum) -> Sum:
    if len(below) == 2:
        below = _of_sine(below)
    if len(below) == 1:
        ((monomial, number),) = below.items()
        return {tuple((factor, -power) for factor, power in monomial): 1.0 / number}
    whole = built(below)
    return {((whole, -1),): 1.0} if isinstance(whole, Expr) else {(): 1.0 / whole}


def _of_sine(below: Sum) -> Sum:
    """Write x - x cos^2 as x sin^2; anything else stays."""
    (monomial, number), (other, size) = sorted(below.items(), key=lambda item: sum(power for _, power in item[0]))
    for factor, power in other:
        if factor.op == "cos" and power >= 2 and number == -size and _joined(other, ((factor, -2),)) == monomial:
            return {_joined(monomial, ((factor.args[0].sin(), 2),)): number}
    return below


def _product(a: Sum, b: Sum) -> Sum:
    if len(a) * len(b) > MOST_TERMS:
        raise ArgumentError(f"a product of {len(a):,} and {len(b):,} terms is too long to be multiplied out")
    return _total((_joined(m, n), x * y) for m, x in a.items() for n, y in b.items())


def _joined(a: Monomial, b: Monomial) -> Monomial:
    powers = dict(a)
    for factor, power in b:
        powers[factor] = powers.get(factor, 0) + power
    return tuple(sorted(((f, p) for f, p in powers.items() if p), key=lambda item: precedence(item[0])))


def _total(parts: Iterable[tuple[Monomial, float]]) -> Sum:
    """Collect like monomials, after sin^2 + cos^2 = 1; remainders of rounding are dropped."""
    results: Sum = {}
    sizes: Sum = {}
    waiting = list(parts)
    while waiting:
        monomial, number = waiting.pop()
        others = _by_squares(monomial)
        if others is None:
            results[monomial] = results.get(monomial, 0.0) + number
            sizes[monomial] = sizes.get(monomial, 0.0) + abs(number)
        else:
            waiting += [(other, sign * number) for other, sign in others]
    return {monomial: number for monomial, number in results.items() if abs(number) > _ROUNDING * sizes[monomial]}


def _by_squares(monomial: Monomial) -> list[tuple[Monomial, float]] | None:
    """The same with 1 - cos^2 for sin^2, 1 - sin^2 for cos^2 over the sine, and as two fractions where it is over both."""
    powers = dict(monomial)
    for sine, power in monomial:
        if sine.op != "sin" or 0 <= power < 2:
            continue
        if power >= 2:
            quotient = _joined(monomial, ((sine, -2),))
            return [(quotient, 1.0), (_joined(quotient, ((sine.args[0].cos(), 2),)), -1.0)]
        cosine = existing("cos", sine.args)
        if cosine is not None and powers.get(cosine, 0) >= 2:
            quotient = _joined(monomial, ((cosine, -2),))
            return [(quotient, 1.0), (_joined(quotient, ((sine, 2),)), -1.0)]
        if cosine is not None and powers.get(cosine, 0) < 0:
            return [(_joined(monomial, ((sine, 2),)), 1.0), (_joined(monomial, ((cosine, 2),)), 1.0)]
    return None


_ARITHMETIC: dict[str, Callable[..., Sum]] = {
    "add": _added,
    "sub": lambda a, b: _added(a, b, -1.0),
    "neg": lambda a: {monomial: -number for monomial, number in a.items()},
    "mul": _product,
    "div": lambda a, b: _product(a, _inverse(b)),
}
