"""The protocol of a language for exported code, the registered languages, and source files that are written all or none."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise.errors import FileError, FileProblem, KernelError, choices
from linkwise.export.ports import CONSTANTS, PARAMETERS, WORDS, Identifiers, inputs, outputs, placed, spelt, used_slots
from linkwise.export.split import TapePart, as_tapes, parts
from linkwise.export.statements import Syntax, body, ports_of
from linkwise.files.atomic import Folder, cannot_write
from linkwise.kernel import Kernel
from linkwise.kernel.tape import Tape
from linkwise.kernel.writers import writer
from linkwise.spatial.validation import choice


@dataclass(frozen=True)
class Sources:
    """Generated files.

    Attributes
    ----------
    files : mapping of str to str
        Names and contents.
    operations : mapping of str to mapping of str to int
        For each function how many operations one call takes, by kind.
    command : str
        What compiles and tries them, to be typed in their folder.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.export import export
    >>> made = export(robots.planar_2r(), ["gravity_torque"], "c")
    >>> list(made.files)
    ['planar_2r.h', 'planar_2r.c', 'planar_2r_test.c']
    """

    files: Mapping[str, str]
    operations: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    command: str = ""

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write all files, or none.

        Parameters
        ----------
        folder : str or Path
            Created if it does not exist.
        force : bool
            Whether files of these names may be replaced.

        Returns
        -------
        list of Path
            What was written.

        Raises
        ------
        FileError
            Where a file is there already, or something cannot be written; no file has changed then, unless the system stops
            between two of them.
        """
        place = Path(folder)
        there = [name for name in self.files if os.path.lexists(place / name)]
        if there and not force:
            problems = [FileProblem(0, f"{name} is there already") for name in there]
            raise FileError(place, problems, "nothing is written; force (--force) replaces what is there")
        blocked = next((name for name in there if (place / name).is_dir()), None)
        if blocked is not None:
            raise cannot_write(place, IsADirectoryError(21, f"{blocked} is a folder"))
        with Folder(place) as opened:
            for name, text in self.files.items():
                opened.write(name, text.encode())
        return [place / name for name in self.files]


PRECISIONS = ("double", "single")

#: Points at which a test calls a function.
ROWS = 4

#: The languages by name.
LANGUAGES: dict[str, Language] = {}


def language(kind: type[Language]) -> type[Language]:
    """Register a language: for `export`, for `Identifiers`, and as a format that kernels are written in."""
    registered = kind()
    LANGUAGES[registered.name], WORDS[registered.name] = registered, registered.reserved

    @writer(registered.name)
    def write(kernel: Kernel, **options: Any) -> Any:
        return registered.write(kernel.tape, titles={kernel.name: kernel.doc}, **options)

    return kind


@dataclass(frozen=True)
class ExportOptions:
    """Options of an export; a language declares those that it supports.

    Attributes
    ----------
    name : str
        Name of the files, without suffix.
    precision : {"double", "single"}
        Precision of all numbers.
    prefix : str
        Before the name of each function.
    self_test : bool
        Whether a test comes along.
    titles : mapping of str to str
        For a tape's name, its documentation.
    points : mapping of str to array (n, ...)
        Values of inputs for the test.
    layout : str
        Where numbers of many configurations lie.
    preface : str
        The first line of a module's documentation.
    """

    name: str = ""
    precision: str = "double"
    prefix: str = ""
    self_test: bool = True
    titles: Mapping[str, str] = field(default_factory=dict)
    points: Mapping[str, npt.ArrayLike] = field(default_factory=dict)
    layout: str = "elements"
    preface: str = ""


class Job:
    """Functions that are to be written in a language, with their names.

    Attributes
    ----------
    tapes : tuple of Tape
        What is exported.
    parts : list of Part
        The functions.
    names : Names
        The scope of the file, which has their names.
    operations : set of str
        The operations that occur.
    called : dict of str to str
        For the name of a tape that of its function.
    """

    def __init__(self, language: Language, tapes: Tape | Sequence[Tape], options: ExportOptions) -> None:
        choice("precision", options.precision, PRECISIONS)
        self.options, self.tapes = options, as_tapes(tapes)
        for tape in self.tapes:
            check_numbers(tape, options.precision)
        self.real = language.types.get(options.precision, "")
        self.parts = parts(
            self.tapes, Identifiers(language.name, (*language.taken, *language.of_tests)), options.prefix, options.titles
        )
        self.names = Identifiers(language.name, (*language.taken, *(part.name for part in self.parts)))
        self.operations = {instruction.op for tape in self.tapes for instruction in tape.code}
        self.called = {part.tape.name: part.name for part in self.parts if any(part.tape is tape for tape in self.tapes)}


class Language(ABC):
    """A language.

    Attributes
    ----------
    name, suffix : str
        Its name, and the end of a file's name.
    reserved : frozenset of str
        What a name must not be.
    options : frozenset of str
        Which of `ExportOptions` it knows.
    operations : mapping of str to str
        How operations are written, ``{}`` for operands, ``<f>`` for the suffix of functions in single precision; sums,
        products, quotients and negatives need none.
    helpers : mapping of str to str
        By the operation, functions that it calls; ``<real>`` is the type of numbers.
    types : mapping of str to str
        The type of numbers, by precision; none where it is that of the arguments.
    single : str
        The suffix of functions in single precision.
    explicit : bool
        Whether parentheses also stand where they are needless.
    taken, of_tests : tuple of str
        Names that its files use, which no other thing may have; those that no function may have that is tested.
    """

    name: ClassVar[str]
    suffix: ClassVar[str]
    reserved: ClassVar[frozenset[str]]
    options: ClassVar[frozenset[str]] = frozenset({"prefix", "titles"})
    operations: ClassVar[Mapping[str, str]] = {}
    helpers: ClassVar[Mapping[str, str]] = {}
    types: ClassVar[Mapping[str, str]] = {}
    single: ClassVar[str] = ""
    explicit: ClassVar[bool] = False
    taken: ClassVar[tuple[str, ...]] = ()
    of_tests: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def function(self, part: TapePart, job: Job) -> str:
        """Write one function, with its comment."""

    @abstractmethod
    def text(self, job: Job) -> str:
        """A file with all functions."""

    def files(self, job: Job) -> Sources:
        """Write all files, including the build and test."""
        operations = {tape.name: tape.operations for tape in job.tapes}
        return Sources({f"{job.options.name}{self.suffix}": self.text(job)}, operations)

    def number(self, value: float, precision: str) -> str:
        """A number that is not negative: the fewest digits that read back as it."""
        return decimal(value, precision)

    def write(self, tapes: Tape | Sequence[Tape], **options: Any) -> Any:
        """Write one file with functions, as text.

        Raises
        ------
        TypeError
            For an option that the language does not know.
        """
        unknown = sorted(options.keys() - self.options)
        if unknown:
            raise TypeError(f"{self.name} takes no option {choices(unknown)}; it takes {choices(sorted(self.options))}")
        return self.text(
            Job(self, tapes, ExportOptions(**{key: value for key, value in options.items() if value is not None}))
        )

    def sources(self, tapes: Sequence[Tape], name: str, **options: Any) -> Sources:
        """Files with functions and, where the language has one, a test; options as those of `ExportOptions`."""
        return self.files(Job(self, tapes, ExportOptions(spelt(name), **options)))

    def syntax(self, precision: str) -> Syntax:
        """Build the syntax of expressions."""
        forms = {op: form.replace("<f>", self.suffix_in(precision)) for op, form in self.operations.items()}
        return Syntax(forms, partial(self.number, precision=precision), self.explicit)

    def suffix_in(self, precision: str) -> str:
        """The suffix of functions in a precision."""
        return "" if precision == "double" else self.single

    def helpers_of(self, job: Job) -> list[str]:
        """Helper functions that the operations call."""
        f = self.suffix_in(job.options.precision)
        used = [text for op, text in self.helpers.items() if op in job.operations]
        return [text.replace("<real>", job.real).replace("<f>", f) for text in used]


class RowLanguage(Language):
    """A language whose functions take rows of numbers, and write their results to such.

    Attributes
    ----------
    local, unused, room : str
        How a local value, a port that is not used, and a local row are written.
    outward, inward : str
        How a local row is handed over, to be written and to be read.
    spaced : bool
        Whether an empty line stands before the results.
    """

    local: ClassVar[str]
    unused: ClassVar[str]
    room: ClassVar[str]
    outward: ClassVar[str] = "{}"
    inward: ClassVar[str] = "{}"
    spaced: ClassVar[bool] = False

    def inside(self, part: TapePart, job: Job) -> tuple[dict[str, str], list[str]]:
        """The identifiers of the ports of a function, and its lines."""
        tape, precision = part.tape, job.options.precision
        if part.calls:
            scope = job.names.inner()
            ports = ports_of(tape, scope)
            kept, (first, second) = scope.new(CONSTANTS), part.calls
            others = [ports[port.name] for port in inputs(tape) if port.name != PARAMETERS]
            results = [ports[f"-> {port.name}"] for port in outputs(tape)]
            lines = [self.room.format(real=job.real, name=kept, size=part.constants), *[""] * self.spaced]
            lines.append(f"{first.name}({ports[PARAMETERS]}, {self.outward.format(kept)});")
            return ports, [*lines, f"{second.name}({', '.join([*others, self.inward.format(kept), *results])});"]
        statements = body(tape, self.syntax(precision), job.names, lambda identifier, _, k: f"{identifier}[{k}]")
        lines = [self.unused.format(statements.ports[key]) for key in unused(tape)]
        lines += [self.local.format(real=job.real, name=name, value=value) for name, value in statements.lines]
        lines += [""] * (self.spaced and bool(lines))
        places = [f"{statements.ports[f'-> {port.name}']}[{k}]" for port in outputs(tape) for k in range(port.size)]
        return statements.ports, lines + [
            f"{place} = {value};" for place, value in zip(places, statements.results, strict=True)
        ]


def unused(tape: Tape) -> list[str]:
    """The keys, as in `ports_of`, of the inputs that nothing depends on and of the outputs that are empty."""
    used = used_slots(tape)
    idle = [port.name for k, port in placed(inputs(tape)) if used.isdisjoint(range(k, k + port.size))]
    return idle + [f"-> {port.name}" for port in outputs(tape) if not port.size]


def decimal(value: float, precision: str = "double") -> str:
    """The fewest digits that read back as the number in that precision, always with a point or an exponent.

    Examples
    --------
    >>> decimal(0.1), decimal(0.1 + 0.2), decimal(0.1 + 0.2, "single"), decimal(2)
    ('0.1', '0.30000000000000004', '0.3', '2.0')
    """
    return repr(float(value)) if precision == "double" else repr(float(str(np.float32(value))))


def special(value: float, words: tuple[str, str, str], otherwise: str) -> str:
    """Text of NaN, infinity and its negative, or of any other number."""
    if math.isnan(value):
        return words[0]
    if math.isinf(value):
        return words[1] if value > 0 else words[2]
    return otherwise


def check_numbers(tape: Tape, precision: str) -> None:
    """Raise `KernelError` where a number of a tape does not exist in a precision."""
    if precision == "double":
        return
    for number in tape.constants:
        with np.errstate(over="ignore", under="ignore"):
            held = float(np.float32(number))
        if not math.isfinite(held) or (held == 0 and number != 0):
            raise KernelError(f"{tape.name} contains {number!r}, which single precision does not hold; export it in double")
