"""From a tape to SymPy expressions in the general case, but for the special cases that are known to be there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from linkwise.equations.graph import operations
from linkwise.equations.symbols import number
from linkwise.kernel.tape import Tape
from linkwise.spatial.with_sympy import sympy_module


def decided(tape: Tape, given: Sequence[Any]) -> list[Any]:
    """The results of a tape on SymPy expressions, one for each element of the outputs.

    Of ``select(c, x, y)`` it is y where c is known not to be above zero, being a number or because of what is assumed of the
    symbols; else it is x, the general case, which a textbook prints. What is not chosen is not written at all.

    Examples
    --------
    >>> import sympy
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: q[0].select(1.0 / q[0], 7.0), "made", {"q": (1,)}, {"y": ()})
    >>> decided(made, sympy.symbols("a,")), decided(made, [sympy.Integer(0)])
    ([1/a], [7])
    """
    known: dict[int, Any] = dict(enumerate([*given, *map(number, tape.constants)]))
    if len(known) != tape.first_result:
        raise ValueError(f"{tape.name} takes {tape.input_count} scalars; {len(given)} were given")
    table = operations(sympy_module(), True)
    waiting = list(reversed(tape.results))
    while waiting:
        slot = waiting[-1]
        if slot in known:
            waiting.pop()
            continue
        instruction = tape.code[slot - tape.first_result]
        args = instruction.args
        if instruction.op == "select" and args[0] in known:
            args = (args[2] if known[args[0]].is_extended_nonpositive else args[1],)
        elif instruction.op == "select":
            args = args[:1]
        missing = [arg for arg in args if arg not in known]
        if missing:
            waiting += reversed(missing)
        elif instruction.op == "select":
            known[slot] = known[args[0]]
        else:
            known[slot] = table[instruction.op](*(known[arg] for arg in args))
    return [known[slot] for slot in tape.results]
