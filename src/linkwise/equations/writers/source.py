"""A listing as Python source that builds SymPy matrices, and as plain data for JSON."""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from linkwise.equations.document import Listing, element_name, matrix_shape, names_in
from linkwise.equations.writers.abbreviation import abbreviated
from linkwise.equations.writers.names import Names
from linkwise.equations.writers.text import TextWriter
from linkwise.equations.writers.writer import whole, writer
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
    assigned = {name for line in listing.assignments for name in (line.name, element_name(line.name, line.index))}
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
            identifiers.setdefault(element_name(line.name, line.index), identifiers[line.name] + _place(shape, line.index))
    return identifiers


def _place(shape: tuple[int, ...], index: tuple[int, ...]) -> str:
    """Where an element stands in a matrix that has all axes but the last one after the other."""
    rows, column = (shape[:-1], index[-1]) if len(shape) > 1 else (shape, 0)
    return f"[{np.ravel_multi_index(index[: len(rows)], rows) if rows else 0}, {column}]"


def _symbol(name: str, origins: Mapping[str, Any]) -> str:
    """The call that makes a symbol: with the assumptions of the one that the mechanism was described with, else real."""
    if name in origins:
        return str(sympy_module().srepr(origins[name]))
    return f"Symbol({json.dumps(name, ensure_ascii=False)}, real=True)"
