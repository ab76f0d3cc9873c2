"""A listing as SymPy expressions: assignments in order, and the results as matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.equations.document import Call, Listing, Name, Power, Sum, Term, matrix_shape
from linkwise.equations.writers.formats import writer
from linkwise.equations.writers.names import element_name
from linkwise.expr.sympy.symbols import number
from linkwise.extras import sympy_module


@writer("sympy")
def to_sympy(listing: Listing) -> tuple[list[tuple[Any, Any]], dict[str, Any]]:
    """Write a listing as SymPy expressions: in the symbols that the mechanism was described with, all others real.

    Parameters
    ----------
    listing : Listing
        What to write.

    Returns
    -------
    assignments : list of (symbol, expression)
        Intermediate values in order, as ``sympy.cse`` gives them; empty where every element is written out.
    results : dict
        For each output an ``ImmutableMatrix`` in these: a vector as a column, a scalar as (1, 1), and of more than two axes
        all but the last one after the other.

    Raises
    ------
    MissingExtraError
        Where SymPy is not installed.
    """
    maker = _Maker(listing.origins)
    sympy = maker.sympy
    assignments = []
    elements: dict[str, dict[tuple[int, ...], Any]] = {name: {} for name in listing.outputs}
    for section in listing.sections:
        for line in section.assignments:
            value = maker.sum(line.value)
            if line.name in elements and len(line.index) == len(listing.outputs[line.name]):
                elements[line.name][line.index] = value
                maker.known[element_name(line.name, line.index)] = value
            else:
                symbol = maker.symbol(line.name)
                assignments.append((symbol, value))
    results = {}
    for name, shape in listing.outputs.items():
        entries = [elements[name].get(tuple(map(int, index)), sympy.Integer(0)) for index in np.ndindex(*shape)]
        results[name] = sympy.ImmutableDenseMatrix(*matrix_shape(shape), entries)
    return assignments, results


class _Maker:
    """Turns sums into expressions, each function of an angle made once."""

    def __init__(self, origins: Mapping[str, Any]) -> None:
        self.sympy = sympy_module()
        self.known: dict[str, Any] = dict(origins)
        self._calls: dict[Call, Any] = {}
        sympy = self.sympy
        self._table: Mapping[str, Any] = {
            "sin": sympy.sin,
            "cos": sympy.cos,
            "sqrt": sympy.sqrt,
            "abs": sympy.Abs,
            "sign": sympy.sign,
            "atan2": sympy.atan2,
            "select": lambda c, x, y: sympy.Piecewise((x, sympy.Gt(c, 0)), (y, True)),
        }

    def symbol(self, text: str) -> Any:
        if text not in self.known:
            self.known[text] = self.sympy.Symbol(text, real=True)
        return self.known[text]

    def sum(self, value: Sum) -> Any:
        return self.sympy.Add(*(self._term(term) for term in value.terms))

    def _term(self, term: Term) -> Any:
        return self.sympy.Mul(number(term.number), *(self._power(factor) for factor in term.factors))

    def _power(self, factor: Power) -> Any:
        base = factor.base
        if isinstance(base, Name):
            made = self.symbol(base.text)
        elif isinstance(base, Call):
            if base not in self._calls:
                self._calls[base] = self._table[base.function](*(self.sum(argument) for argument in base.arguments))
            made = self._calls[base]
        else:
            made = self.sum(base)
        return made if factor.exponent == 1 else made**factor.exponent
