"""A listing as SymPy expressions: assignments in order, and the results as matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.equations.document import Call, Listing, Name, Sum, Term, element_name, matrix_shape
from linkwise.equations.tape_to_sympy import operations
from linkwise.equations.writers.writer import writer
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
    writer = _SympyWriter(listing.origins)
    sympy = sympy_module()
    assignments = []
    elements: dict[str, dict[tuple[int, ...], Any]] = {name: {} for name in listing.outputs}
    for line in listing.assignments:
        value = writer.sum(line.value)
        if line.name in elements and len(line.index) == len(listing.outputs[line.name]):
            elements[line.name][line.index] = value
            writer.known[element_name(line.name, line.index)] = value
        else:
            assignments.append((writer.symbol(line.name), value))
    results = {}
    for name, shape in listing.outputs.items():
        entries = [elements[name].get(index, sympy.Integer(0)) for index in np.ndindex(*shape)]
        results[name] = sympy.ImmutableDenseMatrix(*matrix_shape(shape), entries)
    return assignments, results


class _SympyWriter:
    """Turns sums into expressions, each function of an angle made once."""

    def __init__(self, origins: Mapping[str, Any]) -> None:
        self.sympy = sympy_module()
        self.functions = operations(self.sympy, True)
        self.known: dict[str, Any] = dict(origins)
        self.calls: dict[Call, Any] = {}

    def symbol(self, text: str) -> Any:
        if text not in self.known:
            self.known[text] = self.sympy.Symbol(text, real=True)
        return self.known[text]

    def sum(self, value: Sum) -> Any:
        return self.sympy.Add(*map(self.term, value.terms))

    def term(self, term: Term) -> Any:
        factors = (self.base(factor.base) ** factor.exponent for factor in term.factors)
        return self.sympy.Mul(number(term.number), *factors)

    def base(self, base: Name | Call | Sum) -> Any:
        if isinstance(base, Name):
            return self.symbol(base.text)
        if isinstance(base, Sum):
            return self.sum(base)
        if base not in self.calls:
            self.calls[base] = self.functions[base.function](*map(self.sum, base.arguments))
        return self.calls[base]
