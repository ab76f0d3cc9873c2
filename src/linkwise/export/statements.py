"""The inside of an exported function in any language: expressions, statements, and the names of local values.

How operations are grouped is never changed, so whatever is written computes the very operations of the tape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from linkwise.export.ports import Identifiers, TapePort, inputs, outputs, spelt, used_slots
from linkwise.kernel.tape import Tape

#: Slot of a named value, or an operation on trees.
Tree = int | tuple[str, tuple["Tree", ...]]

_ARITHMETIC = {"add", "sub", "mul", "div", "neg"}
_LEVEL = {"add": 1, "sub": 1, "mul": 2, "div": 2, "neg": 3}
_ATOM = 4
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


@dataclass(frozen=True)
class Statement:
    """A named value: its slot, and its expression."""

    slot: int
    value: Tree


def statements(tape: Tape, most: int = 6) -> list[Statement]:
    """Write a tape as statements, operands first.

    Parameters
    ----------
    tape : Tape
        What is computed.
    most : int
        Operations that one statement has at most; 1 gives each a statement of its own.
    """
    uses = Counter(arg for instruction in tape.code for arg in instruction.args) + Counter(tape.results)
    trees: dict[int, Tree] = {}
    sizes: dict[int, int] = {}
    inlined: set[int] = set()
    results = set(tape.results)
    for k, instruction in enumerate(tape.code):
        slot, size, args = tape.first_result + k, 1, []
        for arg in instruction.args:
            fits = instruction.op in _ARITHMETIC and size + sizes.get(arg, most) <= most
            if fits and uses[arg] == 1 and arg not in results and _is_arithmetic(trees[arg]):
                size += sizes[arg]
                inlined.add(arg)
                args.append(trees[arg])
            else:
                args.append(arg)
        trees[slot], sizes[slot] = (instruction.op, tuple(args)), size
    return [Statement(slot, tree) for slot, tree in trees.items() if slot not in inlined]


def _is_arithmetic(tree: Tree) -> bool:
    return not isinstance(tree, int) and tree[0] in _ARITHMETIC


@dataclass(frozen=True)
class Syntax:
    """Syntax of expressions in a language.

    Attributes
    ----------
    forms : mapping of str to str
        How an operation is written, with ``{}`` for operands; sums, products, quotients and negatives need none.
    number : callable
        Writes a number that is not negative.
    explicit : bool
        Whether parentheses also stand where the precedence of operators makes them needless.
    """

    forms: Mapping[str, str]
    number: Callable[[float], str]
    explicit: bool = False

    def text(self, tree: Tree, operand: Callable[[int], str | float]) -> str:
        """Write an expression; `operand` gives the name in a slot, or its number."""
        return self._written(tree, operand)[0]

    def _written(self, tree: Tree, operand: Callable[[int], str | float]) -> tuple[str, int]:
        """Text of an expression, and its binding level."""
        if isinstance(tree, int):
            value = operand(tree)
            return (value, _ATOM) if isinstance(value, str) else self.literal(value)
        op, args = tree
        parts = [self._written(arg, operand) for arg in args]
        if op in self.forms:
            return self.forms[op].format(*(self._operand(part, 0) for part in parts)), _ATOM
        level = _LEVEL[op]
        if op == "neg":
            return f"-{self._operand(parts[0], level + 1)}", level
        left, right = self._operand(parts[0], level), self._operand(parts[1], level, strict=True)
        return f"{left} {_SIGNS[op]} {f'({right})' if right.startswith('-') else right}", level

    def literal(self, value: float) -> tuple[str, int]:
        """Text of a number, and its binding level."""
        return (self.number(value), _ATOM) if value >= 0 else (f"-{self.number(-value)}", _LEVEL["neg"])

    def _operand(self, part: tuple[str, int], least: int, strict: bool = False) -> str:
        """The text of an operand of an operation of some level, in parentheses where it would fall apart."""
        text, level = part
        mixed = self.explicit and least == _LEVEL["add"] and level == _LEVEL["mul"]
        return f"({text})" if level < least + strict or mixed else text


@dataclass(frozen=True)
class FunctionBody:
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


def ports_of(tape: Tape, names: Identifiers) -> dict[str, str]:
    """Identifiers of the inputs and, behind ``-> ``, of the outputs, reserved in a scope."""
    identifiers = {port.name: names.new(port.name) for port in inputs(tape)}
    return identifiers | {f"-> {port.name}": names.new(port.name) for port in outputs(tape)}


def body(
    tape: Tape,
    syntax: Syntax,
    names: Identifiers,
    element: Callable[[str, TapePort, int], str],
    *,
    unpacked: bool = False,
    most: int = 6,
) -> FunctionBody:
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
    return FunctionBody(ports, lines, [syntax.text(at, operand) for at in tape.results])


def _hint(tape: Tape, slot: int, called: dict[int, str]) -> str:
    """Name hint: ``q2_plus_q3`` and ``sin_q2_plus_q3`` for functions of elements of the inputs; else empty."""
    instruction = tape.code[slot - tape.first_result]
    if instruction.op not in _HINTS or any(arg not in called for arg in instruction.args):
        return ""
    hint = _HINTS[instruction.op].format(*(spelt(called[arg]) for arg in instruction.args))
    return hint if len(hint) <= _LONGEST else ""


_HINTS = {"sin": "sin_{}", "cos": "cos_{}", "add": "{}_plus_{}", "sub": "{}_minus_{}"}
_LONGEST = 30
