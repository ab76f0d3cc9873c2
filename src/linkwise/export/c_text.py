"""How C is written: expressions, declarations, comments and whole functions."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence

from linkwise.export.expressions import Syntax
from linkwise.export.numbers import decimal
from linkwise.export.ports import Port, inputs, operations_text, outputs, told, used_slots
from linkwise.kernel.tape import Tape

TYPES = {"double": "double", "single": "float"}

_WIDTH = 100

HELPERS = ("sign_of", "plane_angle")
"""Names of the functions that operations call."""

_HELPERS = {
    "sign": """{kind} {real} sign_of(const {real} x)
{{
    return (x > {zero}) ? {one} : ((x < {zero}) ? -{one} : x);
}}
""",
    "atan2": """{kind} {real} plane_angle(const {real} y, const {real} x)
{{
    return (isinf(y) && isinf(x)) ? ({real})NAN : atan2{f}(y + {zero}, x + {zero});
}}
""",
}
"""Functions that an operation calls. Adding zero takes the sign off a zero."""


def syntax(precision: str) -> Syntax:
    """How C writes expressions in a precision."""
    f = "" if precision == "double" else "f"
    forms = {
        "sqrt": f"sqrt{f}({{}})",
        "sin": f"sin{f}({{}})",
        "cos": f"cos{f}({{}})",
        "abs": f"fabs{f}({{}})",
        "sign": "sign_of({})",
        "atan2": "plane_angle({}, {})",
        "select": f"({{}} > 0.0{f}) ? {{}} : {{}}",
    }
    return Syntax(forms, lambda value: decimal(value, precision) + f, explicit=True)


def helpers(used: set[str], precision: str, kind: str = "static") -> list[str]:
    """The functions that operations call, as far as they are used; of a kind, static inline say."""
    f = "" if precision == "double" else "f"
    words = {"kind": kind, "real": TYPES[precision], "zero": f"0.0{f}", "one": f"1.0{f}", "f": f}
    return [text.format(**words) for op, text in _HELPERS.items() if op in used]


def declared(tape: Tape, ports: Mapping[str, str], real: str) -> list[str]:
    """The parameters of a function as C declares them."""
    read = [f"const {real} {ports[port.name]}[{max(1, port.size)}]" for port in inputs(tape)]
    return read + [f"{real} {ports[f'-> {port.name}']}[{max(1, port.size)}]" for port in outputs(tape)]


def unused(tape: Tape) -> list[str]:
    """The keys, as in `ports_of`, of the inputs that nothing depends on and of the outputs that are empty."""
    used, first, found = used_slots(tape), 0, []
    for port in inputs(tape):
        if not any(slot in used for slot in range(first, first + port.size)):
            found.append(port.name)
        first += port.size
    return found + [f"-> {port.name}" for port in outputs(tape) if not port.size]


def comment(tape: Tape, ports: Mapping[str, str], title: str) -> str:
    """What stands before a declaration, for Doxygen."""
    lines = [*textwrap.wrap(f"@brief {told(title or tape.name)}", 110), ""]
    for port in inputs(tape):
        lines += _described("in ", ports[port.name], port)
    for port in outputs(tape):
        lines += _described("out", ports[f"-> {port.name}"], port)
    return "\n".join(
        ["/**", *(f" * {line}".rstrip() for line in [*lines, "", f"Operations: {operations_text(tape)}."]), " */"]
    )


def _described(way: str, identifier: str, port: Port) -> list[str]:
    name = port.called(identifier)
    called = f"{name}, " if name else ""
    return textwrap.wrap(f"@param[{way.strip()}] {identifier} {called}{port.laid_out}", 110, subsequent_indent="    ")


def signature(name: str, parameters: Sequence[str], kind: str = "void") -> str:
    """A declaration on one line, or with a line for each parameter where it is long."""
    line = f"{kind} {name}({', '.join(parameters)})"
    return line if len(line) <= _WIDTH else f"{kind} {name}(\n    " + ",\n    ".join(parameters) + ")"


def definition(name: str, parameters: Sequence[str], lines: Sequence[str], kind: str = "void") -> str:
    """A function with its body."""
    inside = "".join(f"    {line}\n" if line else "\n" for line in lines)
    return f"{signature(name, parameters, kind)}\n{{\n{inside}}}\n"
