"""CUDA: a function for the device, a kernel with a thread for each configuration, and a launcher for the host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from linkwise.export.language import LANGUAGES, ROWS, Job, Sources, language
from linkwise.export.languages.c import COMPARE, ENDS, C, definition, expected_text, signature, table_text, verdict
from linkwise.export.ports import PARAMETERS, inputs, outputs, placed
from linkwise.export.samples import samples
from linkwise.export.split import TapePart
from linkwise.export.statements import ports_of
from linkwise.kernel.tape import Tape
from linkwise.spatial.validation import choice

_WORDS = """
dim3 threadIdx blockIdx blockDim gridDim warpSize cudaError_t cudaStream_t cudaSuccess rsqrt sincospi sinpi cospi norm
rnorm norm3d norm4d rhypot erfcx erfcinv erfinv normcdf normcdfinv cyl_bessel_i0 cyl_bessel_i1 rcbrt saturate char1
int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 float1 float2 float3 float4 double1 double2 double3 double4 half
clock assert
"""

#: Layouts of numbers of many configurations. With the first, neighbouring threads read neighbouring numbers.
LAYOUTS = {
    "elements": "element after element, each for all configurations: element k of configuration i at [k * count + i]",
    "configurations": "configuration after configuration: element k of configuration i at [i * size + k]",
}

#: Threads of a block.
THREADS = 128

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


_TEST_HEAD = """/* Made by Linkwise: tests {name}.cu on the device. {ends} */
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


@language
class Cuda(C):
    """CUDA C++: reserved words of C, and names that CUDA defines everywhere."""

    name = "cuda"
    suffix = ".cu"
    reserved = C.reserved | frozenset(_WORDS.split())
    options = frozenset({"precision", "prefix", "titles", "layout"})
    taken = (*C.taken, *C.of_tests, "blocks_for", "on_device", "failures", "stream", "at")
    of_tests = ()
    kind = "static __device__ __forceinline__"

    def function(self, part: TapePart, job: Job) -> str:
        """The function that a thread runs, the kernel, and its launcher."""
        declaration = self.declared(part, job)
        text = definition(declaration.name, declaration.parameters, declaration.lines, f"{self.kind} void")
        return f"{declaration.comment}\n{text}\n{_launched(part, job)}"

    def text(self, job: Job) -> str:  # type: ignore[override]
        """The file."""
        choice("layout", job.options.layout, LAYOUTS)
        helpers = [self._once(text, job.options.precision) for text in self.helpers_of(job)]
        helpers.append(self._once(_BLOCKS.format(threads=THREADS, last=THREADS - 1)))
        functions = [self.function(part, job) for part in job.parts]
        return "\n".join([_HEAD.format(layout=LAYOUTS[job.options.layout]), *helpers, *functions])

    def files(self, job: Job) -> Sources:
        """The file, and a program that compares the kernels with the gufuncs."""
        name = job.options.name
        files, command = {f"{name}.cu": self.text(job)}, f"nvcc -O2 -c {name}.cu"
        if job.options.self_test:
            files[f"{name}_test.cu"] = self._program(Job(self, job.tapes, job.options))
            command = f"nvcc -O2 {name}_test.cu -o {name}_test && ./{name}_test"
        return Sources(files, {tape.name: tape.operations for tape in job.tapes}, command)

    def _once(self, helper: str, precision: str = "") -> str:
        """A helper with an include guard, for programs that include several files; those of two precisions are overloads."""
        name = next(word for word in self.taken if f"{word}(" in helper)
        guard = f"LINKWISE_{name}_{precision}".strip("_").upper()
        return f"#ifndef {guard}\n#define {guard}\n{helper}#endif\n"

    def _program(self, job: Job) -> str:
        """A program that launches each kernel at a few configurations."""
        texts, tests = [_TEST_HEAD.format(name=job.options.name, real=job.real, ends=ENDS), COMPARE], []
        for tape in job.tapes:
            tests.append(job.names.new(f"{job.called[tape.name]}_test"))
            texts += _test(tape, tests[-1], job)
        return "\n".join([*texts, definition("main", ["void"], verdict(tests, "failures"), "int")])


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
        Precision of all numbers.
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
    return str(LANGUAGES["cuda"].write(tapes, precision=precision, prefix=prefix, layout=layout, titles=titles))


def _launched(part: TapePart, job: Job) -> str:
    """The kernel around the device function, and the launcher of the kernel."""
    tape, real, names = part.tape, job.real, job.names
    kernel, launch = names.new(f"{part.name}_kernel"), names.new(f"{part.name}_launch")
    scope = names.inner()
    ports = ports_of(tape, scope)
    mine = {key: scope.new(f"{port}_i") for key, port in ports.items()}
    place = "[({k}u * count) + at]" if job.options.layout == "elements" else "[({size}u * at) + {k}u]"
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


def _test(tape: Tape, test: str, job: Job) -> list[str]:
    """The tables of one function, and the function that launches it on them."""
    real, called, names, layout = job.real, job.called[tape.name], job.names, job.options.layout
    drawn = samples(tape, ROWS, job.options.precision, same=(PARAMETERS,), points=job.options.points)
    wanted, allowed = (names.new(f"{test}_{word}") for word in ("wanted", "allowed"))
    texts = expected_text(wanted, allowed, drawn)
    lines, arguments, back = [], [], []
    for first, port in placed(inputs(tape)):
        table, values = names.new(f"{test}_{port.name}"), drawn.inputs[:, first : first + port.size]
        values = values[:1] if port.name == PARAMETERS else values
        values = np.ascontiguousarray(values.T) if layout == "elements" and port.name != PARAMETERS else values
        if not values.size:
            values = np.zeros((1, 1))
        texts.append(table_text(table, values, job.options.precision))
        arguments.append(f"on_device(&{table}[0][0], {values.size}u)")
    lines += [f"double found[{ROWS * max(1, len(tape.results))}];", "int row;", "int k;"]
    for count, (first, port) in enumerate(placed(outputs(tape))):
        lines += [f"{real} host{count}[{ROWS * max(1, port.size)}];"]
        lines += [f"{real} *made{count} = on_device(NULL, {ROWS * port.size}u);"]
        arguments.append(f"made{count}")
        source = f"(k * {ROWS}) + row" if layout == "elements" else f"(row * {port.size}) + k"
        copied = f"cudaMemcpy(host{count}, made{count}, sizeof(host{count}), cudaMemcpyDeviceToHost)"
        back += [f"failures += ({copied} == cudaSuccess) ? 0 : 1;", f"for (row = 0; row < {ROWS}; row++) {{"]
        back += [f"    for (k = 0; k < {port.size}; k++) {{"]
        back += [f"        found[({len(tape.results)} * row) + {first} + k] = (double)host{count}[{source}];", "    }", "}"]
    lines += ["", f"failures += {called}_launch({', '.join([*arguments, f'{ROWS}u', '0'])});", *back]
    total = ROWS * max(1, len(tape.results))
    lines.append(f'return compared("{called}", {total}, found, &{wanted}[0][0], &{allowed}[0][0]);')
    return [*texts, definition(test, ["void"], lines, "static double")]
