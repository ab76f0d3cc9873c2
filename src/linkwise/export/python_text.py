"""How Python is written, for NumPy and for JAX: expressions, documentation and whole functions."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from linkwise.export.expressions import Syntax
from linkwise.export.ports import Port, inputs, operations_text, outputs, told
from linkwise.kernel.tape import Tape

WIDTH = 110


def syntax(forms: Mapping[str, str]) -> Syntax:
    """How Python writes expressions."""
    return Syntax(forms, repr)


def docstring(tape: Tape, ports: Mapping[str, str], title: str, batch: bool) -> list[str]:
    """The lines of a function's documentation, numpydoc."""
    head = textwrap.wrap(told(title or tape.name), WIDTH)
    lines = ['"""' + head[0], *head[1:], "", "Parameters", "----------"]
    for port in inputs(tape):
        lines += _described(ports[port.name], port, batch)
    lines += ["", "Returns", "-------"]
    for port in outputs(tape):
        lines += _described(ports[f"-> {port.name}"], port, batch)
    each = "for each configuration" if batch else "in a call"
    return [*lines, "", "Notes", "-----", f"Operations {each}: {operations_text(tape)}.", '"""']


def _described(identifier: str, port: Port, batch: bool) -> list[str]:
    shape = ", ".join([*(["..."] if batch else []), *map(str, port.shape)])
    kind = f"array ({shape})" if shape else "float"
    called = port.called(identifier)
    elements = f"elements {', '.join(map(told, port.labels))}" if port.labels else ""
    what = "; ".join(part for part in (called, port.meaning, elements) if part)
    return [f"{identifier} : {kind}", *(f"    {line}" for line in textwrap.wrap(what, WIDTH - 4))]


def definition(name: str, arguments: Sequence[str], lines: Sequence[str]) -> str:
    """A function with its body."""
    inside = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f"def {name}({', '.join(arguments)}):\n{inside}"


def listed(values: Sequence[str]) -> list[str]:
    """Values between commas, over as many lines as they need."""
    return textwrap.wrap(", ".join(values), WIDTH - 8, break_long_words=False, break_on_hyphens=False)
