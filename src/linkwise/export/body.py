"""The inside of an exported function in any language: which names there are, and what each stands for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from linkwise.export.expressions import Syntax, statements
from linkwise.export.names import Names, spelt
from linkwise.export.ports import Port, inputs, outputs, used_slots
from linkwise.kernel.tape import Tape


@dataclass(frozen=True)
class Body:
    """The statements of a function.

    Attributes
    ----------
    ports : mapping of str to str
        The identifier of each input and, behind ``-> ``, of each output.
    lines : list of (str, str)
        Local names and their values, in order.
    results : list of str
        The value of each element of the outputs: a local name or a number, never an element of an input, so that what is
        read has been read when the first result is written.
    """

    ports: dict[str, str]
    lines: list[tuple[str, str]]
    results: list[str]


def ports_of(tape: Tape, names: Names) -> dict[str, str]:
    """Identifiers of the inputs and, behind ``-> ``, of the outputs, from a scope that then holds them."""
    found = {port.name: names.new(port.name) for port in inputs(tape)}
    return found | {f"-> {port.name}": names.new(port.name) for port in outputs(tape)}


def body(
    tape: Tape,
    syntax: Syntax,
    names: Names,
    element: Callable[[str, Port, int], str],
    *,
    unpacked: bool = False,
    most: int = 6,
) -> Body:
    """Write the inside of a function.

    Parameters
    ----------
    tape : Tape
        What it computes.
    syntax : Syntax
        How expressions are written.
    names : Names
        The scope around it.
    element : callable
        Writes element k of an input: ``element(identifier, port, k)``.
    unpacked : bool
        Whether each element that is used gets a local name first.
    most : int
        Operations that one statement has at most.
    """
    scope = names.inner()
    ports = ports_of(tape, scope)
    used, wanted = used_slots(tape), set(tape.results)
    named: dict[int, str] = {}
    called: dict[int, str] = {}
    lines: list[tuple[str, str]] = []
    slot = 0
    for port in inputs(tape):
        for k in range(port.size):
            text, called[slot] = element(ports[port.name], port, k), port.element(k)
            if unpacked and slot in used and text != ports[port.name]:
                named[slot] = scope.new(called[slot])
                lines.append((named[slot], text))
            else:
                named[slot] = text
            slot += 1

    def operand(at: int) -> str | float:
        number = tape.constant(at)
        return named[at] if number is None else number

    count = 0
    for statement in statements(tape, most):
        hint = _hint(tape, statement.slot, called)
        if hint:
            called[statement.slot] = hint
        else:
            count += 1
        value = syntax.text(statement.value, operand)
        named[statement.slot] = scope.new(hint or f"v{count}")
        lines.append((named[statement.slot], value))
    if not unpacked:
        for at in sorted(at for at in wanted if at < tape.input_count):
            value, named[at] = named[at], scope.new(called[at])
            lines.append((named[at], value))
    return Body(ports, lines, [syntax.text(at, operand) for at in tape.results])


def _hint(tape: Tape, slot: int, called: dict[int, str]) -> str:
    """``q2_plus_q3`` and ``sin_q2_plus_q3`` for what is that of elements of the inputs; nothing for anything else."""
    instruction = tape.code[slot - tape.first_result]
    if instruction.op not in _HINTS or any(arg not in called for arg in instruction.args):
        return ""
    hint = _HINTS[instruction.op].format(*(spelt(called[arg]) for arg in instruction.args))
    return hint if len(hint) <= _LONGEST else ""


_HINTS = {"sin": "sin_{}", "cos": "cos_{}", "add": "{}_plus_{}", "sub": "{}_minus_{}"}
_LONGEST = 30
