"""A tape's general case: what it computes where every selection takes its first value."""

from __future__ import annotations

from dataclasses import replace

from linkwise.kernel.tape import Instruction, Tape


def general_case(tape: Tape) -> Tape:
    """The tape with the first value x in the place of every ``select(c, x, y)``, and without what is then not needed.

    Where an algorithm treats a special place by a selection whose second value is for that place, this is what a textbook
    prints.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> made = trace(lambda q: (q[:1] * q[1])[0].select(q[0].sin(), q[1]), "made", {"q": (2,)}, {"y": ()})
    >>> made.operations, general_case(made).operations
    ({'mul': 1, 'sin': 1, 'select': 1}, {'sin': 1})
    """
    first = tape.first_result
    stands_for = list(range(first))
    for slot, instruction in enumerate(tape.code, first):
        stands_for.append(stands_for[instruction.args[1]] if instruction.op == "select" else slot)
    needed: set[int] = set()
    waiting = [stands_for[slot] for slot in tape.results]
    while waiting:
        slot = waiting.pop()
        if slot >= first and slot not in needed:
            needed.add(slot)
            waiting += [stands_for[arg] for arg in tape.code[slot - first].args]
    place = {slot: slot for slot in range(first)} | {slot: first + k for k, slot in enumerate(sorted(needed))}

    def moved(slots: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(place[stands_for[slot]] for slot in slots)

    kept = (tape.code[slot - first] for slot in sorted(needed))
    code = tuple(Instruction(instruction.op, moved(instruction.args)) for instruction in kept)
    return replace(tape, code=code, results=moved(tape.results))
