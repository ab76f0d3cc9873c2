"""CUDA: a function for the device, a kernel with a thread for each configuration, and a launcher for the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.export.body import body, ports_of
from linkwise.export.c_test import WORDS
from linkwise.export.c_text import HELPERS, TYPES, comment, declared, definition, helpers, signature, syntax, unused
from linkwise.export.names import Names, spelt
from linkwise.export.numbers import check_numbers, check_precision
from linkwise.export.ports import CONSTANTS, PARAMETERS, inputs, outputs
from linkwise.export.sources import Sources
from linkwise.export.split import Part, as_tapes, parts
from linkwise.kernel.tape import Tape

LAYOUTS = {
    "elements": "element after element, each for all configurations: element k of configuration i at [k * count + i]",
    "configurations": "configuration after configuration: element k of configuration i at [i * size + k]",
}
"""Where numbers of many configurations lie. The first lets neighbouring threads read neighbouring numbers."""

THREADS = 128
"""Threads of a block."""

_DEVICE = "static __device__ __forceinline__"

RESERVED = (*HELPERS, *WORDS, "blocks_for", "on_device", "failures", "stream", "at")
"""Names in the file and in the program that tests it."""

_HEAD = """/* Made by Linkwise. CUDA C++; what runs on the device also compiles as C++ with the words of CUDA defined away.
 * Arrays of the kernels: {layout}.
 * Parameters and constants are one array for all configurations.
 */
#include <math.h>
#include <stddef.h>
"""

_BLOCKS = """#ifdef __CUDACC__
static unsigned int blocks_for(const size_t count)
{{
    const size_t blocks = (count + {last}u) / {threads}u;

    return (unsigned int)((blocks < 65535u) ? blocks : 65535u);
}}
#endif
"""


def to_cuda(
    tapes: Tape | Sequence[Tape],
    *,
    precision: str = "double",
    prefix: str = "",
    layout: str = "elements",
    titles: Mapping[str, str] | None = None,
) -> str:
    """Write tapes as CUDA C++: for each ``NAME``, a device function; ``NAME_kernel``, a thread for each configuration; and
    ``NAME_launch(..., count, stream)``, which starts it on arrays in the device's memory and returns the error code.

    An input ``parameters`` is one for all configurations; ``NAME_prepare_launch(parameters, constants, 1, stream)`` computes
    what depends on it alone once, and ``NAME_prepared_launch`` goes on from there.

    Parameters
    ----------
    tapes : Tape or sequence of Tape
        The functions.
    precision : {"double", "single"}
        Of all numbers.
    prefix : str
        Before the name of each.
    layout : {"elements", "configurations"}
        Where element k of configuration i lies: at k * count + i, as threads like it, or, as in a NumPy array (count, size),
        at i * size + k.
    titles : mapping of str to str, optional
        For a tape's name, its documentation, of which the first paragraph stands in the comment.

    Raises
    ------
    ArgumentError
        Where the precision or the layout is unknown, there is no tape, or two have one name.
    KernelError
        Where a number does not exist in single precision.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> source = to_cuda(trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)}))
    >>> print(next(line for line in source.splitlines() if "__global__" in line))
    __global__ void square_kernel(const double *x, double *y, const size_t count)
    """  # noqa: D205
    check_precision(precision)
    if layout not in LAYOUTS:
        raise ArgumentError(f"layout is {shown(layout)}; expected {choices(LAYOUTS)}")
    given = as_tapes(tapes)
    for tape in given:
        check_numbers(tape, precision)
    names = Names("cuda", taken=RESERVED)
    used = {instruction.op for tape in given for instruction in tape.code}
    written = [_HEAD.format(layout=LAYOUTS[layout]), *(_once(text, precision) for text in helpers(used, precision, _DEVICE))]
    written.append(_once(_BLOCKS.format(threads=THREADS, last=THREADS - 1)))
    for part in parts(given, names, prefix, titles):
        written += [_device(part, precision, names), _launched(part, precision, names, layout)]
    return "\n".join(written)


def _once(helper: str, precision: str = "") -> str:
    """A helper that stands once in a program that includes several files; those of two precisions are overloads."""
    name = next(word for word in RESERVED if f"{word}(" in helper)
    guard = f"LINKWISE_{name}_{precision}".strip("_").upper()
    return f"#ifndef {guard}\n#define {guard}\n{helper}#endif\n"


def cuda_sources(
    tapes: Sequence[Tape],
    name: str,
    *,
    precision: str = "double",
    prefix: str = "",
    layout: str = "elements",
    self_test: bool = True,
    titles: Mapping[str, str] | None = None,
    points: Mapping[str, npt.ArrayLike] | None = None,
) -> Sources:
    """The file NAME.cu and the program NAME_test.cu that compares the kernels with the gufuncs; see `to_cuda`."""
    from linkwise.export.cuda_test import program

    name = spelt(name)
    files = {f"{name}.cu": to_cuda(tapes, precision=precision, prefix=prefix, layout=layout, titles=titles)}
    command = f"nvcc -O2 -c {name}.cu"
    if self_test:
        files[f"{name}_test.cu"] = program(tapes, name, precision=precision, prefix=prefix, layout=layout, points=points)
        command = f"nvcc -O2 {name}_test.cu -o {name}_test && ./{name}_test"
    return Sources(files, {tape.name: tape.operations for tape in tapes}, command)


def _device(part: Part, precision: str, names: Names) -> str:
    """The function that a thread runs."""
    tape, real = part.tape, TYPES[precision]
    kind = f"{_DEVICE} void"
    if part.calls:
        scope = names.inner()
        ports = ports_of(tape, scope)
        kept, (first, second) = scope.new(CONSTANTS), part.calls
        others = [ports[port.name] for port in inputs(tape) if port.name != PARAMETERS]
        results = [ports[f"-> {port.name}"] for port in outputs(tape)]
        lines = [f"{real} {kept}[{part.constants}];", "", f"{first.name}({ports[PARAMETERS]}, {kept});"]
        lines.append(f"{second.name}({', '.join([*others, kept, *results])});")
    else:
        inside = body(tape, syntax(precision), names, lambda identifier, _, k: f"{identifier}[{k}]")
        ports = inside.ports
        lines = [f"(void){ports[key]};" for key in unused(tape)]
        lines += [f"const {real} {local} = {value};" for local, value in inside.lines]
        places = [f"{ports[f'-> {port.name}']}[{k}]" for port in outputs(tape) for k in range(port.size)]
        lines += ["", *(f"{place} = {value};" for place, value in zip(places, inside.results, strict=True))]
    text = definition(part.name, declared(tape, ports, real), lines, kind)
    return f"{comment(tape, ports, part.title)}\n{text}"


def _launched(part: Part, precision: str, names: Names, layout: str) -> str:
    """The kernel around the device function, and the launcher of the kernel."""
    tape, real = part.tape, TYPES[precision]
    kernel, launch = names.new(f"{part.name}_kernel"), names.new(f"{part.name}_launch")
    scope = names.inner()
    ports = ports_of(tape, scope)
    mine = {key: scope.new(f"{port}_i") for key, port in ports.items()}
    place = "[({k}u * count) + at]" if layout == "elements" else "[({size}u * at) + {k}u]"
    lines, copies, arguments = [], [], []
    for port in inputs(tape):
        there, here = ports[port.name], mine[port.name]
        if port.name == part.shared:
            arguments.append(there)
            continue
        arguments.append(here)
        values = [f"{there}{place.format(k=k, size=port.size)}" for k in range(port.size)]
        lines.append(f"const {real} {here}[{max(1, port.size)}] = {{{', '.join(values) or '0'}}};")
    for port in outputs(tape):
        there, here = ports[f"-> {port.name}"], mine[f"-> {port.name}"]
        arguments.append(here)
        lines.append(f"{real} {here}[{max(1, port.size)}];")
        copies += [f"{there}{place.format(k=k, size=port.size)} = {here}[{k}];" for k in range(port.size)]
    start = "size_t at = ((size_t)blockIdx.x * blockDim.x) + threadIdx.x"
    loop = [f"for ({start}; at < count; at += (size_t)gridDim.x * blockDim.x) {{"]
    inner = [*lines, "", f"{part.name}({', '.join(arguments)});", *copies]
    whole = [*loop, *(f"    {line}" if line else "" for line in inner), "}"]
    pointers = [f"const {real} *{ports[port.name]}" for port in inputs(tape)]
    pointers += [f"{real} *{ports[f'-> {port.name}']}" for port in outputs(tape)]
    text = definition(kernel, [*pointers, "const size_t count"], whole, "__global__ void")
    host = signature(launch, [*pointers, "const size_t count", "cudaStream_t stream"], 'extern "C" int')
    started = f"{kernel}<<<blocks_for(count), {THREADS}, 0, stream>>>({', '.join([*ports.values(), 'count'])});"
    body_lines = ["    if (count > 0u) {", f"        {started}", "    }", "    return (int)cudaGetLastError();"]
    return "\n".join(["#ifdef __CUDACC__", text, f"{host}\n{{", *body_lines, "}", "#endif", ""])
