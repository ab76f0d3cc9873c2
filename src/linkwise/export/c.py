"""C99 that needs nothing but math.h: a source, its header, and a program that tests them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy.typing as npt

from linkwise.export.body import body, ports_of
from linkwise.export.c_test import WORDS, program
from linkwise.export.c_text import HELPERS, TYPES, comment, declared, definition, helpers, signature, syntax, unused
from linkwise.export.names import Names, spelt
from linkwise.export.numbers import check_numbers, check_precision
from linkwise.export.ports import CONSTANTS, PARAMETERS, inputs, outputs
from linkwise.export.sources import Sources
from linkwise.export.split import Part, as_tapes, parts
from linkwise.kernel.tape import Tape

COMPILE = "cc -std=c99 -O2 -Wall -Wextra -pedantic {name}.c {name}_test.c -o {name}_test -lm && ./{name}_test"
"""What compiles a source with its test, and runs it."""


@dataclass(frozen=True)
class Function:
    """One function in C.

    Attributes
    ----------
    tape : Tape
        What it computes.
    name : str
        Its identifier.
    parameters : list of str
        As they are declared: ``const double q[6]``.
    comment : str
        What stands before it in the header.
    definition : str
        With its body.
    """

    tape: Tape
    name: str
    parameters: list[str]
    comment: str
    definition: str

    @property
    def signature(self) -> str:
        """Its declaration, without the semicolon."""
        return signature(self.name, self.parameters)


class CSource(str):
    """C source: as text one file that stands alone; `header`, `source` and `self_test` are the same as three files.

    Attributes
    ----------
    name : str
        Of the files, without suffix.
    precision : str
        "double" or "single".
    functions : tuple of Function
        In order; of a tape with parameters there are three.
    tapes : tuple of Tape
        What was exported.

    Examples
    --------
    >>> from linkwise import robots
    >>> code = robots.planar_2r().kernel("gravity_torque").to_c()
    >>> code.signature
    'void gravity_torque(const double q[2], double tau[2])'
    >>> code.name, code.precision, len(code.functions)
    ('gravity_torque', 'double', 1)
    """

    name: str
    precision: str
    functions: tuple[Function, ...]
    tapes: tuple[Tape, ...]
    tested: bool
    points: Mapping[str, npt.ArrayLike]

    @property
    def signature(self) -> str:
        """The declarations of the functions, a line each.

        Examples
        --------
        >>> from linkwise.kernel.tape import trace
        >>> to_c(trace(lambda x: x * x, "square", {"x": (2,)}, {"y": (2,)})).signature
        'void square(const double x[2], double y[2])'
        """
        return "\n".join(f"void {function.name}({', '.join(function.parameters)})" for function in self.functions)

    @cached_property
    def header(self) -> str:
        """NAME.h: include guard, declarations for C and C++, and what every argument is."""
        guard = f"{self.name.upper()}_H"
        lines = [
            f"/** @file {self.name}.h",
            " *  Made by Linkwise. C99; nothing is allocated, nothing is kept between calls.",
            " */",
        ]
        lines += [f"#ifndef {guard}", f"#define {guard}", "", "#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
        for function in self.functions:
            lines += [function.comment, f"{function.signature};", ""]
        return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""])

    @cached_property
    def source(self) -> str:
        """NAME.c: the functions."""
        head = f'/* Made by Linkwise; see {self.name}.h. */\n#include "{self.name}.h"\n\n#include <math.h>\n'
        return "\n".join([head, *self._helpers(), *(function.definition for function in self.functions)])

    @cached_property
    def self_test(self) -> str:
        """NAME_test.c: a program that compares the functions with what the gufuncs give, at random points.

        It prints the largest difference of each and ends with 0 where all are within what rounding allows, else with 1.
        """
        return program(self)

    @property
    def sources(self) -> Sources:
        """The files."""
        files = {f"{self.name}.h": self.header, f"{self.name}.c": self.source}
        if self.tested:
            files[f"{self.name}_test.c"] = self.self_test
        command = COMPILE if self.tested else "cc -std=c99 -O2 -Wall -Wextra -pedantic -c {name}.c"
        operations = {function.name: function.tape.operations for function in self.functions}
        return Sources(files, operations, command.format(name=self.name))

    def write(self, folder: str | Path, *, force: bool = False) -> list[Path]:
        """Write the files, all or none; see `Sources.write`."""
        return self.sources.write(folder, force=force)

    def _helpers(self) -> list[str]:
        return helpers({i.op for function in self.functions for i in function.tape.code}, self.precision)


def to_c(
    tapes: Tape | Sequence[Tape],
    *,
    name: str | None = None,
    precision: str = "double",
    prefix: str = "",
    self_test: bool = True,
    titles: Mapping[str, str] | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> CSource:
    """Write tapes as C99 functions ``void NAME(const double q[6], ..., double tau[6])``, for one configuration a call.

    Arrays are in C order. Nothing is allocated and nothing kept, so the functions may be called from anywhere at any time.
    All that is read is read before anything is written: an output may be the array of an input.

    Where a tape computes anything of an input ``parameters`` alone, three functions come of it:
    ``NAME_prepare(parameters, constants)`` does that, ``NAME_prepared(..., constants, ...)`` the rest, and NAME both.

    Parameters
    ----------
    tapes : Tape or sequence of Tape
        The functions.
    name : str, optional
        Of the files; that of the first tape, with the prefix, unless said.
    precision : {"double", "single"}
        Of all numbers. In single precision numbers and functions have the suffix f.
    prefix : str
        Before the name of each function.
    self_test : bool
        Whether `write` writes a program that tests them.
    titles : mapping of str to str, optional
        For a tape's name, its documentation, of which the first paragraph stands in the comment.
    points : mapping of str to array (n, ...), optional
        For the name of an input the values with which the test calls the functions, where random ones give no numbers:
        closed configurations ``q`` of a mechanism with loops, and speeds ``qd`` that keep them closed.

    Raises
    ------
    ArgumentError
        Where a precision is unknown, or there is no tape, or two have one name.
    KernelError
        Where a number does not exist in single precision.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> print(to_c(trace(lambda x: x * x + 1.0, "square", {"x": (1,)}, {"y": (1,)})))
    #include <math.h>
    <BLANKLINE>
    void square(const double x[1], double y[1])
    {
        const double v1 = 1.0 + (x[0] * x[0]);
    <BLANKLINE>
        y[0] = v1;
    }
    <BLANKLINE>
    """
    check_precision(precision)
    given = as_tapes(tapes)
    for tape in given:
        check_numbers(tape, precision)
    written = parts(given, Names("c", taken=(*HELPERS, *WORDS)), prefix, titles)
    names = Names("c", taken=(*HELPERS, *(part.name for part in written)))
    functions = [_function(part, precision, names) for part in written]
    used = {instruction.op for tape in given for instruction in tape.code}
    made = CSource("\n".join(["#include <math.h>\n", *helpers(used, precision), *(f.definition for f in functions)]))
    made.name = spelt(f"{prefix}{given[0].name}" if name is None else name)
    made.precision, made.functions, made.tapes, made.tested = precision, tuple(functions), given, self_test
    made.points = dict(points or {})
    return made


def _function(part: Part, precision: str, names: Names) -> Function:
    if part.calls:
        return _both(part, precision, names)
    tape, real = part.tape, TYPES[precision]
    inside = body(tape, syntax(precision), names, lambda identifier, _, k: f"{identifier}[{k}]")
    lines = [f"(void){inside.ports[key]};" for key in unused(tape)]
    lines += [f"const {real} {local} = {value};" for local, value in inside.lines]
    if lines:
        lines.append("")
    places = [f"{inside.ports[f'-> {port.name}']}[{k}]" for port in outputs(tape) for k in range(port.size)]
    lines += [f"{place} = {value};" for place, value in zip(places, inside.results, strict=True)]
    return _made(part, inside.ports, real, lines)


def _both(part: Part, precision: str, names: Names) -> Function:
    """The function that prepares and computes."""
    real, scope = TYPES[precision], names.inner()
    ports = ports_of(part.tape, scope)
    kept = scope.new(CONSTANTS)
    first, second = part.calls
    others = [ports[port.name] for port in inputs(part.tape) if port.name != PARAMETERS]
    results = [ports[f"-> {port.name}"] for port in outputs(part.tape)]
    lines = [
        f"{real} {kept}[{part.constants}];",
        "",
        f"{first.name}({ports[PARAMETERS]}, {kept});",
        f"{second.name}({', '.join([*others, kept, *results])});",
    ]
    return _made(part, ports, real, lines)


def _made(part: Part, ports: Mapping[str, str], real: str, lines: Sequence[str]) -> Function:
    parameters = declared(part.tape, ports, real)
    text = definition(part.name, parameters, lines)
    return Function(part.tape, part.name, parameters, comment(part.tape, ports, part.title), text)
