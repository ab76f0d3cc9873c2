"""Lowering a tape to C99 that needs nothing but math.h."""

from __future__ import annotations

import re
from math import prod

from linkwise.kernel.tape import Instruction, Tape

_FORMS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "sqrt": "sqrt({})",
    "sin": "sin({})",
    "cos": "cos({})",
    "abs": "fabs({})",
    "sign": "sign({})",
    "atan2": "plane_angle({}, {})",
    "select": "{} > 0 ? {} : {}",
}

_HELPERS = {
    "sign": "static double sign(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }\n\n",
    "atan2": (
        "static double plane_angle(double y, double x)\n"
        "{\n"
        "    return isinf(y) && isinf(x) ? NAN : atan2(y + 0.0, x + 0.0);\n"
        "}\n\n"
    ),
}
"""Functions that an operation calls. Adding 0.0 takes the sign off a zero."""


def source(tape: Tape) -> str:
    """C source of the kernel: ``void NAME(const double q[6], ..., double tau[6])``, arrays in C order, one configuration.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> print(source(trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)})))
    #include <math.h>
    <BLANKLINE>
    /* square: x (1) -> y (1) */
    void square(const double x[1], double y[1])
    {
        const double v1 = x[0] * x[0];
        y[0] = v1;
    }
    <BLANKLINE>
    """
    names = {port: _identifier(port) for port in (*tape.inputs, *tape.outputs)}
    inputs = [f"const double {names[port]}[{max(1, prod(shape))}]" for port, shape in tape.inputs.items()]
    outputs = [f"double {names[port]}[{max(1, prod(shape))}]" for port, shape in tape.outputs.items()]
    given = [f"{names[port]}[{k}]" for port, shape in tape.inputs.items() for k in range(prod(shape))]
    wanted = [f"{names[port]}[{k}]" for port, shape in tape.outputs.items() for k in range(prod(shape))]
    lines = [
        f"    const double v{tape.first_result + k} = {_expression(tape, instruction, given)};"
        for k, instruction in enumerate(tape.code)
    ]
    lines += [f"    {name} = {_operand(tape, slot, given)};" for name, slot in zip(wanted, tape.results, strict=True)]
    unused = [name for name, shape in tape.inputs.items() if not _is_used(tape, name)]
    lines = [f"    (void){names[name]};" for name in unused] + lines
    described = " -> ".join(
        ", ".join(f"{port} ({', '.join(map(str, shape))})" for port, shape in group.items())
        for group in (tape.inputs, tape.outputs)
    )
    head = f"/* {tape.name}: {described} */\nvoid {_identifier(tape.name)}({', '.join(inputs + outputs)})\n{{\n"
    used = {instruction.op for instruction in tape.code}
    extra = "".join(helper for op, helper in _HELPERS.items() if op in used)
    return "#include <math.h>\n\n" + extra + head + "\n".join(lines) + "\n}\n"


def _expression(tape: Tape, instruction: Instruction, given: list[str]) -> str:
    return _FORMS[instruction.op].format(*(_operand(tape, arg, given) for arg in instruction.args))


def _operand(tape: Tape, slot: int, given: list[str]) -> str:
    if slot < len(given):
        return given[slot]
    number = tape.constant(slot)
    if number is None:
        return f"v{slot}"
    return repr(number) if number >= 0 else f"({number!r})"


def _is_used(tape: Tape, name: str) -> bool:
    first = 0
    for port, shape in tape.inputs.items():
        if port == name:
            slots = range(first, first + prod(shape))
            return any(arg in slots for i in tape.code for arg in i.args) or any(slot in slots for slot in tape.results)
        first += prod(shape)
    return False


def _identifier(name: str) -> str:
    return re.sub(r"\W", "_", name)
