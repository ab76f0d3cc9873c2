"""What an exported tape becomes: one function, or three where it has parameters."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from linkwise.errors import ArgumentError
from linkwise.export.hoisting import hoisted
from linkwise.export.names import Names
from linkwise.export.ports import CONSTANTS, PARAMETERS, told
from linkwise.kernel.tape import Tape


@dataclass(frozen=True)
class Part:
    """A function to be written.

    Attributes
    ----------
    tape : Tape
        What it computes.
    name : str
        Its identifier.
    title : str
        A sentence that says what it is.
    calls : tuple of Part
        Empty, or the two functions of which it consists: what prepares constants of the parameters, and what uses them.
    shared : str
        The input that is one for all configurations: the parameters, or the constants in their place.
    """

    tape: Tape
    name: str
    title: str
    calls: tuple[Part, ...] = ()
    shared: str = PARAMETERS

    @property
    def constants(self) -> int:
        """How many numbers go from the first function that it calls to the second."""
        return self.calls[0].tape.outputs[CONSTANTS][0]


def sentence(documentation: str) -> str:
    r"""The first paragraph of a documentation, as a comment may hold it: without what stands in parentheses with a year.

    Examples
    --------
    >>> sentence("Return T (4, 4): the pose (J. J. Craig, 1986, eq. 3.8).\n\n    Further.")
    'T (4, 4): the pose.'
    """
    first = " ".join(re.split(r"\n\s*\n", documentation.strip(), maxsplit=1)[0].split())
    plain = re.sub(r"\s*\([^()]*\b(1[89]|20)\d\d\b[^()]*\)", "", first)
    return told(plain.removeprefix("Return "))


def as_tapes(tapes: Tape | Sequence[Tape]) -> tuple[Tape, ...]:
    """One tape or many as a tuple.

    Raises
    ------
    ArgumentError
        Where there is none, two have one name, or one has no inputs.
    """
    given = (tapes,) if isinstance(tapes, Tape) else tuple(tapes)
    repeated = sorted({tape.name for tape in given if sum(other.name == tape.name for other in given) > 1})
    if not given or repeated:
        raise ArgumentError(f"two functions are called {repeated[0]!r}" if repeated else "there is no function to export")
    constant = next((tape.name for tape in given if not tape.inputs), None)
    if constant is not None:
        raise ArgumentError(f"{constant} has no inputs: it is a number, and no function")
    return given


def parts(tapes: Sequence[Tape], names: Names, prefix: str = "", titles: Mapping[str, str] | None = None) -> list[Part]:
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
    found: list[Part] = []
    for tape in tapes:
        name = names.new(f"{prefix}{tape.name}")
        title = sentence((titles or {}).get(tape.name, "")) or told(tape.name)
        early, late = hoisted(tape, PARAMETERS) if PARAMETERS in tape.inputs else (None, tape)
        if early is None or not early.code:
            found.append(Part(tape, name, title))
            continue
        prepare, prepared = names.new(f"{name}_prepare"), names.new(f"{name}_prepared")
        first = Part(early, prepare, f"What {prepared} needs of the parameters; to be called when they change.")
        given = list(late.inputs)[-1]
        second = Part(late, prepared, f"{title.rstrip('.')}. With what {prepare} gave.", shared=given)
        found += [first, second, Part(tape, name, title, (first, second))]
    return found
