"""Squares of sines and cosines gathered in SymPy expressions: sin^2 + cos^2 = 1."""

from __future__ import annotations

from typing import Any

from linkwise.extras import sympy_module

#: Sums of up to this many operations are also tried with their products multiplied out.
EXPANDED_SIZE = 150


def gathered(value: Any) -> Any:
    """The expression with x sin(a)^2 + x cos(a)^2 as x, and x - x sin(a)^2 as x cos(a)^2, wherever a sum has such terms.

    Sums whose products hide such terms, or terms that cancel, are multiplied out where the result is shorter. The time is
    about in proportion to the size, far from that of SymPy's own simplification.

    Examples
    --------
    >>> import sympy
    >>> a, q = sympy.symbols("a q", real=True)
    >>> c, s = sympy.cos(q), sympy.sin(q)
    >>> gathered(-a * s**2 - a * c**2 + 1), gathered(sympy.sqrt(1 - s**2)), gathered((a + c) * c + s * s)
    (1 - a, Abs(cos(q)), a*cos(q) + 1)
    """
    sympy = sympy_module()
    if not value.has(sympy.sin, sympy.cos):
        return value
    return sympy.core.traversal.bottom_up(value, _sum)


def _sum(value: Any) -> Any:
    """Sum with its terms gathered."""
    if not value.is_Add:
        return value
    result = _paired(value)
    if result.is_Add and any(factor.is_Add for term in result.args for factor in _factors(term)):
        size = result.count_ops()
        if size <= EXPANDED_SIZE:
            expanded = result.expand()
            opened = _paired(expanded)
            if opened.count_ops() < (size if opened != expanded else size / 2):
                return opened
    return result


def _paired(value: Any) -> Any:
    """The sum without pairs of terms that are one."""
    sympy = sympy_module()
    terms: dict[Any, Any] = {}
    for term in sympy.Add.make_args(value):
        coefficient, factor = term.as_coeff_Mul()
        terms[factor] = coefficient
    count = len(terms)
    waiting = list(terms)
    while waiting:
        term = waiting.pop()
        merged = _merged(term, terms)
        if merged is not None:
            waiting += [*merged, *(other for other in terms if other not in waiting)]
    return value if len(terms) == count else sympy.Add(*(k * term for term, k in terms.items()))


def _merged(term: Any, terms: dict[Any, Any]) -> list[Any] | None:
    """Replace two terms by one, if there is a partner; return the new one."""
    if term not in terms:
        return None
    for square, other in _squares(term):
        factor, k = term / square, terms[term]
        for partner, sign, result in ((factor * other, 1, factor), (factor, -1, factor * other)):
            if partner != term and terms.get(partner) == sign * k:
                del terms[term], terms[partner]
                total = terms.pop(result, 0) + (k if sign == 1 else -k)
                if total != 0:
                    terms[result] = total
                return [result]
    return None


def _squares(term: Any) -> list[tuple[Any, Any]]:
    """The factors of a term that are squares of a sine or a cosine, each with the square of the other function."""
    sympy = sympy_module()
    results = []
    for factor in _factors(term):
        if factor.is_Pow and factor.exp == 2 and isinstance(factor.base, (sympy.sin, sympy.cos)):
            other = sympy.cos if isinstance(factor.base, sympy.sin) else sympy.sin
            results.append((factor, other(factor.base.args[0]) ** 2))
    return results


def _factors(term: Any) -> Any:
    return sympy_module().Mul.make_args(term)
