"""Division of an exported tape: one function, or three if some of it depends on parameters only."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from linkwise.errors import ArgumentError, choices
from linkwise.export.ports import CONSTANTS, PARAMETERS, Identifiers, printable_ascii
from linkwise.kernel.tape import Instruction, Shape, Tape


def hoisted(tape: Tape, input_name: str) -> tuple[Tape, Tape]:
    """Separate the part of a tape that depends on one input only.

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
    sizes = {name: prod(shape) for name, shape in tape.inputs.items()}
    names = list(sizes)
    first = sum(sizes[name] for name in names[: names.index(input_name)])
    hoisted_input = range(first, first + sizes[input_name])
    early = _dependent(tape, set(hoisted_input))
    computed = range(tape.first_result, tape.first_result + len(tape.code))
    late = [slot for slot in computed if slot not in early]
    needed = {arg for slot in late for arg in tape.code[slot - tape.first_result].args} | set(tape.results)
    passed = [slot for slot in (*hoisted_input, *sorted(early - set(hoisted_input))) if slot in needed]
    labelled = _labelled(tape, input_name, [slot - first for slot in passed if slot in hoisted_input], len(passed))
    prologue = _cut(
        replace(labelled, name=f"{tape.name}_prepare", outputs={CONSTANTS: (len(passed),)}),
        {input_name: tape.inputs[input_name]},
        list(hoisted_input),
        [slot for slot in computed if slot in early],
        passed,
    )
    kept = {name: shape for name, shape in tape.inputs.items() if name != input_name}
    inner = CONSTANTS
    while inner in kept:
        inner += "_"
    others = [slot for slot in range(tape.input_count) if slot not in hoisted_input]
    main = replace(labelled, name=f"{tape.name}_prepared")
    return prologue, _cut(main, {**kept, inner: (len(passed),)}, others + passed, late, tape.results)


def _labelled(tape: Tape, input_name: str, elements: list[int], count: int) -> Tape:
    """Label the constants: elements of the input keep their labels, computed ones are called k1, k2, ..."""
    names = tape.labels.get(input_name) or [f"{input_name}_{k}" for k in range(prod(tape.inputs[input_name]))]
    computed = tuple(f"k{k}" for k in range(1, count - len(elements) + 1))
    return replace(tape, labels={**tape.labels, CONSTANTS: (*(names[k] for k in elements), *computed)})


def _dependent(tape: Tape, slots: set[int]) -> set[int]:
    """The elements of an input, and the slots that are computed of them and constants alone."""
    early = set(slots)
    for k, instruction in enumerate(tape.code):
        if all(arg in early or tape.constant(arg) is not None for arg in instruction.args):
            early.add(tape.first_result + k)
    return early


def _cut(tape: Tape, inputs: Mapping[str, Shape], slots: list[int], code: list[int], results: Sequence[int]) -> Tape:
    """A tape of some of the instructions, whose slots are given in the numbering of the whole."""
    instructions = [tape.code[slot - tape.first_result] for slot in code]
    read = {arg for instruction in instructions for arg in instruction.args} | set(results)
    numbers = [slot for slot in range(tape.input_count, tape.first_result) if slot in read]
    place = {slot: k for k, slot in enumerate([*slots, *numbers, *code])}
    return replace(
        tape,
        inputs=inputs,
        constants=tuple(tape.constants[slot - tape.input_count] for slot in numbers),
        code=tuple(Instruction(i.op, tuple(place[arg] for arg in i.args)) for i in instructions),
        results=tuple(place[slot] for slot in results),
    )


@dataclass(frozen=True)
class TapePart:
    """A function to be written.

    Attributes
    ----------
    tape : Tape
        What it computes.
    name : str
        Its identifier.
    title : str
        A sentence that describes it.
    calls : tuple of Part
        Empty, or the two functions of which it consists: what prepares constants of the parameters, and what uses them.
    shared : str
        The input that is one for all configurations: the parameters, or the constants in their place.
    """

    tape: Tape
    name: str
    title: str
    calls: tuple[TapePart, ...] = ()
    shared: str = PARAMETERS

    @property
    def constants(self) -> int:
        """Number of constants passed from its first function to the second."""
        return self.calls[0].tape.outputs[CONSTANTS][0]


def sentence(documentation: str) -> str:
    r"""First paragraph of a documentation for a comment, without parentheses that contain a year.

    Examples
    --------
    >>> sentence("Return T (4, 4): the pose (J. J. Craig, 1986, eq. 3.8).\n\n    Further.")
    'T (4, 4): the pose.'
    """
    first = " ".join(re.split(r"\n\s*\n", documentation.strip(), maxsplit=1)[0].split())
    plain = re.sub(r"\s*\([^()]*\b(1[89]|20)\d\d\b[^()]*\)", "", first)
    return printable_ascii(plain.removeprefix("Return "))


def as_tapes(tapes: Tape | Sequence[Tape]) -> tuple[Tape, ...]:
    """One tape or many as a tuple.

    Raises
    ------
    ArgumentError
        Where there is none, two have one name, or one has no inputs.
    """
    several = (tapes,) if isinstance(tapes, Tape) else tuple(tapes)
    repeated = sorted({tape.name for tape in several if sum(other.name == tape.name for other in several) > 1})
    if not several or repeated:
        raise ArgumentError(f"two functions are called {repeated[0]!r}" if repeated else "there is no function to export")
    constant = next((tape.name for tape in several if not tape.inputs), None)
    if constant is not None:
        raise ArgumentError(f"{constant} has no inputs: it is a number, and no function")
    return several


def parts(
    tapes: Sequence[Tape], names: Identifiers, prefix: str = "", titles: Mapping[str, str] | None = None
) -> list[TapePart]:
    """The functions that tapes become, each behind those that it calls.

    Parameters
    ----------
    tapes : sequence of Tape
        What is exported.
    names : Names
        The scope of the file, which gets the names of the functions.
    prefix : str
        Before each name.
    titles : mapping of str to str, optional
        For a tape's name, its documentation.
    """
    functions: list[TapePart] = []
    for tape in tapes:
        name = names.new(f"{prefix}{tape.name}")
        title = sentence((titles or {}).get(tape.name, "")) or printable_ascii(tape.name)
        early, late = hoisted(tape, PARAMETERS) if PARAMETERS in tape.inputs else (None, tape)
        if early is None or not early.code:
            functions.append(TapePart(tape, name, title))
            continue
        prepare, prepared = names.new(f"{name}_prepare"), names.new(f"{name}_prepared")
        first = TapePart(early, prepare, f"What {prepared} needs of the parameters; to be called when they change.")
        last = list(late.inputs)[-1]
        second = TapePart(late, prepared, f"{title.rstrip('.')}. With what {prepare} gave.", shared=last)
        functions += [first, second, TapePart(tape, name, title, (first, second))]
    return functions
