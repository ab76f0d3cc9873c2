"""Lowering a tape to NumPy: a Python function over whole arrays, one line per operation."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwise.kernel.backend import Backend, CompiledKernel, Lazy, backend
from linkwise.kernel.gufunc import Memory, loop_arrays, make, python_loop
from linkwise.kernel.iteration import IterationProgram, Rounds
from linkwise.kernel.tape import Instruction, Shape, Tape
from linkwise.spatial.scalar import FloatArray

#: Code of an operation; adding 0.0 removes the sign of a zero.
_FORMS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "div": "{} / {}",
    "neg": "-{}",
    "sqrt": "numpy.sqrt({})",
    "sin": "numpy.sin({})",
    "cos": "numpy.cos({})",
    "abs": "numpy.abs({})",
    "sign": "numpy.sign({})",
    "atan2": "numpy.where(numpy.isinf({0}) & numpy.isinf({1}), _number('nan'), numpy.arctan2({0} + 0.0, {1} + 0.0))",
    "select": "numpy.where({} > 0, {}, {})",
}

#: Rows computed at a time: every intermediate result is an array of that length.
_CHUNK = 4096


def source(tape: Tape) -> str:
    """Python source of the kernel as it is run: a function ``computed`` of its inputs, batch axes leading, in that order.

    `linkwise.export.to_python` writes what is for readers.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> print(source(trace(lambda x: x * x, "square", {"x": (1,)}, {"y": (1,)})))
    import numpy
    <BLANKLINE>
    <BLANKLINE>
    def computed(in0):
        in0 = numpy.array(in0, ndmin=1, copy=None)
        _kind = numpy.result_type(in0, 'f4')
        in0 = in0.astype(_kind, copy=False)
        _number = _kind.type
        with numpy.errstate(all='ignore'):
            _0 = in0[..., 0]
            _1 = _0 * _0
            out0 = numpy.empty(in0.shape[:-1] + (1,), _kind)
            out0[..., 0] = _1
        return out0
    """
    inputs = {f"in{k}": shape for k, shape in enumerate(tape.inputs.values())}
    names = ", ".join(inputs)
    lines = ["import numpy", "", "", f"def computed({names}):"]
    lines += [f"    {name} = numpy.array({name}, ndmin={len(shape)}, copy=None)" for name, shape in inputs.items()]
    lines.append(f"    _kind = numpy.result_type({names}, 'f4')")
    lines += [f"    {name} = {name}.astype(_kind, copy=False)" for name in inputs]
    lines += ["    _number = _kind.type", "    with numpy.errstate(all='ignore'):"]
    lines += [f"        {line}" for line in _statements(tape, inputs)]
    lines.append(f"    return {', '.join(f'out{k}' for k in range(len(tape.outputs)))}")
    return "\n".join(lines)


def _statements(tape: Tape, inputs: Mapping[str, Shape]) -> list[str]:
    used = {arg for instruction in tape.code for arg in instruction.args} | set(tape.results)
    lines, slot = [], 0
    for name, shape in inputs.items():
        for index in np.ndindex(shape):
            if slot in used:
                lines.append(f"_{slot} = {name}[{', '.join(['...', *map(str, index)])}]")
            slot += 1
    for k, instruction in enumerate(tape.code):
        lines.append(f"_{tape.first_result + k} = {_expression(tape, instruction)}")
    shapes = [f"{name}.shape{f'[:-{len(shape)}]' if shape else ''}" for name, shape in inputs.items()]
    batch = shapes[0]
    if len(shapes) > 1:
        lines.append(f"_batch = numpy.broadcast_shapes({', '.join(shapes)})")
        batch = "_batch"
    results = iter(tape.results)
    for k, shape in enumerate(tape.outputs.values()):
        lines.append(f"out{k} = numpy.empty({batch} + {shape}, _kind)")
        for index in np.ndindex(shape):
            lines.append(f"out{k}[{', '.join(['...', *map(str, index)])}] = {_operand(tape, next(results))}")
    return lines


def _expression(tape: Tape, instruction: Instruction) -> str:
    return _FORMS[instruction.op].format(*(_operand(tape, arg) for arg in instruction.args))


def _operand(tape: Tape, slot: int) -> str:
    number = tape.constant(slot)
    return f"_{slot}" if number is None else f"_number({number!r})"


def function(tape: Tape) -> Callable[..., Any]:
    """The NumPy lowering as a Python function."""
    space: dict[str, Any] = {}
    exec(compile(source(tape), f"<linkwise {tape.name}>", "exec"), space)
    compiled_function: Callable[..., Any] = space["computed"]
    return compiled_function


def python_gufunc(tape: Tape, computed: Callable[..., Any], doc: str) -> Any:
    """A gufunc with the shapes of a tape whose loops call a Python function of many rows."""
    memory = Memory(tape, [(dtype, loop(tape, dtype, computed)) for dtype in ("float32", "float64")], doc)
    return make(memory, len(tape.inputs), len(tape.outputs))


def loop(tape: Tape, dtype: str, compiled: Callable[..., Any] | None = None) -> Any:
    """Wrap the NumPy lowering as the inner loop of a gufunc, for machines without llvmlite."""
    function_of_rows, count = compiled or function(tape), len(tape.inputs)

    def run(args: int, dimensions: int, steps: int, _data: int) -> None:
        views = loop_arrays(tape, dtype, args, dimensions, steps)
        for start in range(0, ctypes.c_ssize_t.from_address(dimensions).value, _CHUNK):
            part = [view[start : start + _CHUNK] for view in views]
            results = function_of_rows(*part[:count])
            for view, result in zip(part[count:], results if isinstance(results, tuple) else (results,), strict=True):
                view[...] = result

    return python_loop(tape, dtype, run)


@backend
class NumPy(Backend):
    """Whole arrays at a time; runs everywhere."""

    name = "numpy"
    preference = 0

    def build(self, tape: Tape, doc: str, lanes: int | None) -> CompiledKernel:
        """Build a gufunc whose loops call the Python function."""
        return CompiledKernel(Lazy(lambda: python_gufunc(tape, function(tape), doc)))

    def iteration(self, program: IterationProgram, lanes: int | None) -> Callable[..., FloatArray]:
        """Step all unfinished tasks at once, start after start."""
        return Rounds(function(program.step), program.sizes)
