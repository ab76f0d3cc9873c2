"""A tape cut in two: what depends on one input alone, computed once, and the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from linkwise.errors import ArgumentError, choices
from linkwise.export.ports import CONSTANTS
from linkwise.kernel.tape import Instruction, Shape, Tape


def hoisted(tape: Tape, input_name: str) -> tuple[Tape, Tape]:
    """Take what depends on one input alone out of a tape.

    Parameters
    ----------
    tape : Tape
        What is computed.
    input_name : str
        The input that changes rarely: the parameters of a mechanism.

    Returns
    -------
    prologue : Tape
        From that input to ``constants``: everything that the rest needs of it, elements of the input itself among them.
    main : Tape
        The tape with ``constants`` as its last input in the place of the one taken out. Each operation of the tape stands in
        one of the two and does the same as before, so the results are the same to the last bit.

    Raises
    ------
    ArgumentError
        Where there is no such input; it names those there are.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> tape = trace(lambda q, m: q * (m[0] * m[1] + 1.0), "f", {"q": (1,), "m": (2,)}, {"y": (1,)})
    >>> prologue, main = hoisted(tape, "m")
    >>> prologue.operations, main.operations
    ({'mul': 1, 'add': 1}, {'mul': 1})
    """
    if input_name not in tape.inputs:
        raise ArgumentError(f"{tape.name} has no input {input_name!r}; it has {choices(tape.inputs)}")
    first = 0
    for name, shape in tape.inputs.items():
        if name == input_name:
            break
        first += prod(shape)
    given = range(first, first + prod(tape.inputs[input_name]))
    early = _dependent(tape, set(given))
    needed = {arg for k, i in enumerate(tape.code) if tape.first_result + k not in early for arg in i.args} | set(
        tape.results
    )
    passed = [slot for slot in (*given, *sorted(early - set(given))) if slot in needed]
    labelled = _labelled(tape, input_name, [slot - first for slot in passed if slot in given], len(passed))
    return _prologue(labelled, input_name, given, early, passed), _main(labelled, input_name, early, passed)


def _labelled(tape: Tape, input_name: str, elements: list[int], count: int) -> Tape:
    """The tape with labels for the constants: elements of the input keep theirs, what is computed is called k1, k2, ..."""
    names = tape.labels.get(input_name) or [f"{input_name}_{k}" for k in range(prod(tape.inputs[input_name]))]
    made = tuple(f"k{k}" for k in range(1, count - len(elements) + 1))
    return replace(tape, labels={**tape.labels, CONSTANTS: (*(names[k] for k in elements), *made)})


def _dependent(tape: Tape, given: set[int]) -> set[int]:
    """The elements of an input, and the slots that are computed of them and constants alone."""
    early = set(given)
    for k, instruction in enumerate(tape.code):
        if all(arg in early or tape.constant(arg) is not None for arg in instruction.args):
            early.add(tape.first_result + k)
    return early


def _prologue(tape: Tape, input_name: str, given: range, early: set[int], passed: list[int]) -> Tape:
    return _cut(
        tape,
        f"{tape.name}_prepare",
        {input_name: tape.inputs[input_name]},
        {CONSTANTS: (len(passed),)},
        list(given),
        [slot for slot in sorted(early) if slot >= tape.first_result],
        passed,
    )


def _main(tape: Tape, input_name: str, early: set[int], passed: list[int]) -> Tape:
    kept: dict[str, Shape] = {}
    slots: list[int] = []
    first = 0
    for name, shape in tape.inputs.items():
        if name != input_name:
            kept[name] = shape
            slots += range(first, first + prod(shape))
        first += prod(shape)
    inner = CONSTANTS
    while inner in kept:
        inner += "_"
    late = [tape.first_result + k for k in range(len(tape.code)) if tape.first_result + k not in early]
    return _cut(
        tape, f"{tape.name}_prepared", {**kept, inner: (len(passed),)}, tape.outputs, slots + passed, late, tape.results
    )


def _cut(
    tape: Tape,
    name: str,
    inputs: Mapping[str, Shape],
    outputs: Mapping[str, Shape],
    given: list[int],
    code: list[int],
    results: Sequence[int],
) -> Tape:
    """A tape of some of the instructions, whose slots are given as those of the whole."""
    instructions = [tape.code[slot - tape.first_result] for slot in code]
    read = {arg for instruction in instructions for arg in instruction.args} | set(results)
    numbers = [slot for slot in range(tape.input_count, tape.first_result) if slot in read]
    place = {slot: k for k, slot in enumerate([*given, *numbers, *code])}
    return replace(
        tape,
        name=name,
        inputs=inputs,
        outputs=outputs,
        constants=tuple(tape.constants[slot - tape.input_count] for slot in numbers),
        code=tuple(Instruction(i.op, tuple(place[arg] for arg in i.args)) for i in instructions),
        results=tuple(place[slot] for slot in results),
    )
