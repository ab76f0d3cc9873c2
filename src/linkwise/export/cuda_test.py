"""A CUDA program that compares exported kernels with what the gufuncs gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from linkwise.export.c_test import COMPARE, ENDS, bounds_text, table_text, verdict
from linkwise.export.c_text import TYPES, definition
from linkwise.export.cuda import RESERVED
from linkwise.export.names import Names
from linkwise.export.ports import PARAMETERS, inputs, outputs
from linkwise.export.samples import Samples, samples
from linkwise.export.split import parts
from linkwise.kernel.tape import Tape

ROWS = 4
"""Configurations of a launch."""

_HEAD = """/* Made by Linkwise: tests {name}.cu on the device. {ends} */
#include "{name}.cu"
#include <stdio.h>

static int failures = 0;

static {real} *on_device(const {real} *values, const size_t count)
{{
    {real} *made = NULL;

    failures += (cudaMalloc((void **)&made, (count + 1u) * sizeof({real})) == cudaSuccess) ? 0 : 1;
    if ((values != NULL) && (failures == 0)) {{
        failures += (cudaMemcpy(made, values, count * sizeof({real}), cudaMemcpyHostToDevice) == cudaSuccess) ? 0 : 1;
    }}
    return made;
}}
"""


def program(
    tapes: Sequence[Tape],
    name: str,
    *,
    precision: str = "double",
    prefix: str = "",
    layout: str = "elements",
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> str:
    """The source of the program: each kernel at a few configurations in one launch."""
    names = Names("cuda", taken=RESERVED)
    made = parts(tapes, names, prefix)
    texts = [_HEAD.format(name=name, real=TYPES[precision], ends=ENDS), COMPARE]
    tests = []
    for tape in tapes:
        called = next(part.name for part in made if part.tape is tape)
        tests.append(names.new(f"{called}_test"))
        drawn = samples(tape, ROWS, precision, same=(PARAMETERS,), points=points)
        texts += _test(tape, called, tests[-1], precision, layout, names, drawn)
    return "\n".join([*texts, definition("main", ["void"], verdict(tests, "failures"), "int")])


def _test(tape: Tape, called: str, test: str, precision: str, layout: str, names: Names, drawn: Samples) -> list[str]:
    real, f = TYPES[precision], "" if precision == "double" else "f"
    wanted, allowed = (names.new(f"{test}_{word}") for word in ("wanted", "allowed"))
    texts = [table_text(wanted, "double", drawn.wanted, "double", ""), bounds_text(allowed, drawn)]
    lines, arguments, back, first = [], [], [], 0
    for port in inputs(tape):
        table, values = names.new(f"{test}_{port.name}"), drawn.given[:, first : first + port.size]
        values = values[:1] if port.name == PARAMETERS else values
        values = np.ascontiguousarray(values.T) if layout == "elements" and port.name != PARAMETERS else values
        if not values.size:
            values = np.zeros((1, 1))
        texts.append(table_text(table, real, values, precision, f))
        arguments.append(f"on_device(&{table}[0][0], {values.size}u)")
        first += port.size
    lines += [f"double found[{ROWS * max(1, len(tape.results))}];", "int row;", "int k;"]
    first = 0
    for count, port in enumerate(outputs(tape)):
        lines += [f"{real} host{count}[{ROWS * max(1, port.size)}];"]
        lines += [f"{real} *made{count} = on_device(NULL, {ROWS * port.size}u);"]
        arguments.append(f"made{count}")
        source = f"(k * {ROWS}) + row" if layout == "elements" else f"(row * {port.size}) + k"
        copied = f"cudaMemcpy(host{count}, made{count}, sizeof(host{count}), cudaMemcpyDeviceToHost)"
        back += [f"failures += ({copied} == cudaSuccess) ? 0 : 1;", f"for (row = 0; row < {ROWS}; row++) {{"]
        back += [f"    for (k = 0; k < {port.size}; k++) {{"]
        back += [f"        found[({len(tape.results)} * row) + {first} + k] = (double)host{count}[{source}];", "    }", "}"]
        first += port.size
    lines += ["", f"failures += {called}_launch({', '.join([*arguments, f'{ROWS}u', '0'])});", *back]
    total = ROWS * max(1, len(tape.results))
    lines.append(f'return compared("{called}", {total}, found, &{wanted}[0][0], &{allowed}[0][0]);')
    return [*texts, definition(test, ["void"], lines, "static double")]
