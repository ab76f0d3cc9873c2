"""A C program that compares exported functions with what the gufuncs gave."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from linkwise.export.c_text import TYPES, definition
from linkwise.export.names import Names
from linkwise.export.numbers import decimal
from linkwise.export.ports import inputs, outputs
from linkwise.export.samples import Samples, samples
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.export.c import CSource

ROWS = 4
"""Points for each function."""

_NAMES = "compared name count found wanted allowed worst largest tested open off same share untested failed made row k"

WORDS = tuple(_NAMES.split())
"""Names in the program, which no function that it tests may have."""

ENDS = "Ends with 0 where all is well, else with 1;\n * with 2 where a function could not be tested."
"""What a program's status says."""

COMPARE = """/* The largest difference in units of what rounding allows; above 1 where one is too large or not a number.
 * Below 0 where nothing could be compared: at these points no result is a number, or rounding decides which. */
static double compared(const char *name, const int count, const double *found, const double *wanted, const double *allowed)
{
    double worst = 0.0;
    double largest = 0.0;
    int tested = 0;
    int k;

    for (k = 0; k < count; k++) {
        const double off = (found[k] == wanted[k]) ? 0.0 : fabs(found[k] - wanted[k]);
        const int open = isinf(allowed[k]) ? 1 : 0;
        const int same = (open == 1) || (isnan(found[k]) && isnan(wanted[k])) || (off <= allowed[k]);
        const double share = same ? ((allowed[k] > 0.0) ? (off / allowed[k]) : 0.0) : HUGE_VAL;

        tested += ((open == 1) || isnan(wanted[k])) ? 0 : 1;
        largest = ((open == 0) && (off > largest)) ? off : largest;
        worst = (share > worst) ? share : worst;
    }
    printf("%-40s %5d of %d numbers, largest difference %.1e, ", name, tested, count, largest);
    printf("%s\\n", (worst > 1.0) ? "TOO LARGE" : ((tested > 0) ? "good" : "NOT TESTED"));
    return ((tested > 0) || (worst > 1.0)) ? worst : -1.0;
}
"""


def program(source: CSource) -> str:
    """The source of the program."""
    names = Names("c", taken=[*(function.name for function in source.functions), *WORDS])
    parts = [f"/* Made by Linkwise: tests {source.name}.c. {ENDS} */"]
    parts += ["#include <math.h>\n#include <stdio.h>\n", f'#include "{source.name}.h"\n', COMPARE]
    calls = []
    for tape in source.tapes:
        called = next(function.name for function in source.functions if function.tape is tape)
        tables, check = checked(tape, called, source, names)
        parts += [tables, check[1]]
        calls.append(check[0])
    parts.append(definition("main", ["void"], verdict(calls), "int"))
    return "\n".join(parts)


def verdict(tests: Sequence[str], failures: str = "0") -> list[str]:
    """The lines of ``main``: call the tests, and end with a status as `ENDS` says."""
    lines = ["double worst = 0.0;", "double share;", "int untested = 0;", "int failed;", ""]
    for test in tests:
        lines += [f"share = {test}();", "worst = (share > worst) ? share : worst;", "untested += (share < 0.0) ? 1 : 0;"]
    lines.append(f"failed = ((worst > 1.0) || ({failures} > 0)) ? 1 : 0;")
    lines.append('printf("%s\\n", (failed > 0) ? "FAILED" : ((untested > 0) ? "good as far as tested" : "all good"));')
    return [*lines, "return (failed > 0) ? 1 : ((untested > 0) ? 2 : 0);"]


def checked(tape: Tape, called: str, source: CSource, names: Names) -> tuple[str, tuple[str, str]]:
    """The tables of one function, and the name and the text of the function that goes through them."""
    precision = source.precision
    real, f = TYPES[precision], "" if precision == "double" else "f"
    drawn = samples(tape, ROWS, precision, points=source.points)
    given, wanted, allowed, test = (names.new(f"{called}_{word}") for word in ("given", "wanted", "allowed", "test"))
    tables = [
        table_text(given, real, drawn.given, precision, f),
        table_text(wanted, "double", drawn.wanted, "double", ""),
        bounds_text(allowed, drawn),
    ]
    return "\n".join(tables), (test, _function(tape, called, real, test, given, wanted, allowed))


def _function(tape: Tape, called: str, real: str, test: str, given: str, wanted: str, allowed: str) -> str:
    count = len(tape.results)
    starts, first = [], 0
    for port in inputs(tape):
        starts.append(f"&{given}[row][{first if port.size else 0}]")
        first += port.size
    places, first = [], 0
    for port in outputs(tape):
        places.append(f"&made[{first if port.size else 0}]")
        first += port.size
    lines = [
        f"{real} made[{max(1, count)}] = {{0}};",
        f"double found[{ROWS * max(1, count)}];",
        "int row;",
        "int k;",
        "",
        f"for (row = 0; row < {ROWS}; row++) {{",
        f"    {called}({', '.join([*starts, *places])});",
        f"    for (k = 0; k < {max(1, count)}; k++) {{",
        f"        found[({max(1, count)} * row) + k] = (double)made[k];",
        "    }",
        "}",
        f'return compared("{called}", {ROWS * max(1, count)}, found, &{wanted}[0][0], &{allowed}[0][0]);',
    ]
    return definition(test, ["void"], lines, "static double")


def table_text(name: str, kind: str, values: FloatArray, precision: str, suffix: str) -> str:
    """An array of arrays of numbers."""
    rows = [[_number(value, precision, suffix) for value in row] or [f"0.0{suffix}"] for row in values.tolist()]
    return array_text(name, kind, rows)


def bounds_text(name: str, drawn: Samples) -> str:
    """The array of how far each number may be off, rounded upwards to a few digits."""
    rows = [
        [f"{value:.2e}" if math.isfinite(value) else "HUGE_VAL" for value in row] or ["0.0"]
        for row in (1.01 * drawn.allowed).tolist()
    ]
    return array_text(name, "double", rows)


def _number(value: float, precision: str, suffix: str) -> str:
    if math.isnan(value):
        return "(double)NAN"
    if math.isinf(value):
        return "HUGE_VAL" if value > 0 else "-HUGE_VAL"
    return decimal(value, precision) + suffix


def array_text(name: str, kind: str, rows: list[list[str]]) -> str:
    """An array of arrays of what is written already."""
    written = [textwrap.fill(", ".join(row), 110, initial_indent="    {", subsequent_indent="     ") + "}," for row in rows]
    return f"static const {kind} {name}[{len(rows)}][{len(rows[0])}] = {{\n" + "\n".join(written) + "\n};\n"
