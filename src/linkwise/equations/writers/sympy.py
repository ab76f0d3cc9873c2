"""A listing as SymPy expressions, as Python source that builds their matrices, and as plain data for JSON."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.equations.document import Call, Listing, Name, Sum, Term, matrix_shape, names_in
from linkwise.equations.tape_to_sympy import operations
from linkwise.equations.writers.abbreviation import abbreviated
from linkwise.equations.writers.names import Names
from linkwise.equations.writers.text import TextWriter
from linkwise.equations.writers.writer import whole, writer
from linkwise.expr.sympy.symbols import number
from linkwise.extras import sympy_module

_IMPORTED = ("Abs", "Matrix", "Piecewise", "Symbol", "atan2", "cos", "sign", "sin", "sqrt", "zeros")


class SourceWriter(TextWriter):
    """Python expressions with identifiers for all names and every digit of the numbers."""

    def __init__(self, identifiers: Mapping[str, str], functions: Mapping[str, str]) -> None:
        super().__init__(17, plain=True)
        self.identifiers, self.functions = identifiers, functions

    def name(self, text: str) -> str:
        """The identifier."""
        return self.identifiers[text]

    def number(self, value: float) -> str:
        """The shortest text that gives the number back."""
        return str(int(value)) if value.is_integer() and value < 1e15 else repr(value)

    def call(self, function: str, arguments: Any) -> str:
        """A call; a selection as SymPy has it."""
        if function == "select" and "select" in self.functions:
            condition, chosen, other = map(whole, arguments)
            return f"Piecewise(({chosen}, {condition} > 0), ({other}, True))"
        return super().call(self.functions.get(function, function), arguments)


@writer("source")
def to_source(listing: Listing) -> str:
    """Write a listing as Python source that needs SymPy alone and leaves a matrix for each output.

    Examples
    --------
    >>> from linkwise.equations.recursive.document_from_tape import recursive_listing
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[:1].dot(q[:1]) * 0.1 + q[0].sin(), "energy", {"q": (1,)}, {"E": ()})
    >>> print(to_source(recursive_listing(made)))
    # energy
    from sympy import Abs, Matrix, Piecewise, Symbol, atan2, cos, sign, sin, sqrt, zeros
    <BLANKLINE>
    q1 = Symbol("q1", real=True)
    s1 = sin(q1)
    E = zeros(1, 1)
    E[0, 0] = 0.1*q1**2 + s1
    """
    identifiers = identifiers_of(listing, _IMPORTED)
    writer = SourceWriter(identifiers, {"abs": "Abs", "select": "Piecewise"})
    lines = [f"# {line}" for line in (listing.title, *listing.notes) if line]
    lines += [f"from sympy import {', '.join(_IMPORTED)}", ""]
    lines += [f"{identifiers[name]} = {_symbol(name, listing.origins)}" for name in given_names(listing)]
    results: list[str] = []
    for line in listing.assignments:
        value = whole(writer.line(line.value))
        if line.name in listing.outputs:
            results.append(f"{identifiers[line.name]}{_place(listing.outputs[line.name], line.index)} = {value}")
        else:
            lines.append(f"{identifiers[line.name]} = {value}")
    lines += [f"{identifiers[name]} = zeros{matrix_shape(shape)}" for name, shape in listing.outputs.items()]
    return "\n".join([*lines, *(line for line in results if not line.endswith(" = 0"))])


def to_data(listing: Listing) -> dict[str, Any]:
    """Write a listing as lists, texts and numbers: values are Python expressions in the names of ``names``."""
    listing = abbreviated(listing)
    identifiers = identifiers_of(listing, ())
    writer = SourceWriter(identifiers, {})
    return {
        "title": listing.title,
        "outputs": {name: list(shape) for name, shape in listing.outputs.items()},
        "names": {identifiers[name]: name for name in given_names(listing)},
        "meanings": {identifiers[name]: text.replace("`", "") for name, text in listing.meanings.items()},
        "assignments": [
            {
                "name": identifiers[line.name],
                **({"index": list(line.index)} if line.name in listing.outputs else {}),
                "value": whole(writer.line(line.value)),
            }
            for line in listing.assignments
        ],
        "notes": list(listing.notes),
    }


def given_names(listing: Listing) -> list[str]:
    """The names that a listing uses and does not assign, sorted as people count."""
    assigned = {name for line in listing.assignments for name in (line.name, listing.element(line.name, line.index))}
    names = names_in(listing) - assigned
    return sorted(names, key=lambda name: [(len(part), part) for part in re.split(r"(\d+)", name)])


def identifiers_of(listing: Listing, taken: tuple[str, ...]) -> dict[str, str]:
    """An identifier of Python for each name; the name itself wherever it can be."""
    names = Names(taken)
    identifiers: dict[str, str] = {}
    for name in [*listing.outputs, *given_names(listing), *(line.name for line in listing.assignments), *listing.meanings]:
        if name not in identifiers:
            plain = re.sub(r"\W", "_", name)
            plain = f"_{plain}" if not plain or plain[0].isdigit() or keyword.iskeyword(plain) else plain
            identifiers[name] = names.unique(plain)
    for line in listing.assignments:
        shape = listing.outputs.get(line.name)
        if shape is not None:
            identifiers.setdefault(
                listing.element(line.name, line.index), identifiers[line.name] + _place(shape, line.index)
            )
    return identifiers


def _place(shape: tuple[int, ...], index: tuple[int, ...]) -> str:
    """Index of an element in a matrix that stacks all axes except the last one."""
    rows, column = (shape[:-1], index[-1]) if len(shape) > 1 else (shape, 0)
    return f"[{np.ravel_multi_index(index[: len(rows)], rows) if rows else 0}, {column}]"


def _symbol(name: str, origins: Mapping[str, Any]) -> str:
    """The call that makes a symbol: with the assumptions of the one that the mechanism was described with, else real."""
    if name in origins:
        return str(sympy_module().srepr(origins[name]))
    return f"Symbol({json.dumps(name, ensure_ascii=False)}, real=True)"


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
            writer.known[listing.element(line.name, line.index)] = value
        else:
            assignments.append((writer.symbol(line.name), value))
    results = {}
    for name, shape in listing.outputs.items():
        entries = [elements[name].get(index, sympy.Integer(0)) for index in np.ndindex(*shape)]
        results[name] = sympy.ImmutableDenseMatrix(*matrix_shape(shape), entries)
    return assignments, results


class _SympyWriter:
    """Converts sums to expressions; each function of an angle is created once."""

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
