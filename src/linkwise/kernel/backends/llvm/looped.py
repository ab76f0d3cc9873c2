"""Looped programs as machine code: the gufunc's loop over blocks of configurations, and in each block the phases.

A block has a configuration in each vector lane. Arguments go through memory that holds one vector for each element; tables
of constants are read as they are, or, where each configuration has its own, are an argument like the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.expr.ordering import MANY
from linkwise.kernel.backends.llvm.fastcall import EntryCode
from linkwise.kernel.backends.llvm.linear_solve import LinearSolveWriter
from linkwise.kernel.backends.llvm.lowering import SCALARS, compiled, host, module
from linkwise.kernel.backends.llvm.phases import PhaseWriter, Words, ahead_place, phase_head, start_place
from linkwise.kernel.backends.llvm.rows import (
    aligned_memory,
    column_in,
    group_length,
    group_out,
    row_pointers,
    two_columns_in,
)
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.backends.llvm.written_out import written_out
from linkwise.kernel.looped import LinearSolve, LoopedProgram, ProgramLayout, RowPass
from linkwise.kernel.tape import without_collection

#: Scalars in and out of a function that gets an entry: it keeps arrays of this size, and the interpreter's lock.
MOST_SCALARS = 20_000


class LoopedEntry(EntryCode):
    """Writes ``call``, see `linkwise.kernel.backends.llvm.fastcall`, around a loop for gufuncs.

    What mechanisms differ in stands in the global ``place``: see `numbers`.

    Parameters
    ----------
    inputs : int
        Number of the inputs, which are vectors.
    outputs : sequence of int
        The number of dimensions of each output.
    t : Text
        Where to write it.
    """

    def __init__(self, inputs: int, outputs: Sequence[int], t: Text) -> None:
        self.t = t
        self.sizes = [(f"%size{k}",) for k in range(inputs)]
        self.shapes = [tuple(f"%length{k}.{axis}" for axis in range(count)) for k, count in enumerate(outputs)]
        self.count = inputs + len(outputs)

    def _room(self) -> list[str]:
        """Reserve memory for the arguments of the loop, and load the data of the mechanism."""
        t, shapes = self.t, [*self.sizes, *self.shapes]
        names = ["%loop", "%data", *(size for shape in shapes for size in shape)]
        for k, name in enumerate(names):
            t.do(f"{name} = load {'ptr' if k < 2 else 'i64'}, ptr {t.at('i64', '@place', k)}")
        t.do(f"%arguments = alloca [{self.count} x ptr]")
        t.do(f"%numbers = alloca [{self.count} x double]")
        t.do("%one = alloca i64")
        t.do("store i64 1, ptr %one")
        words = len(names) + self.count + len(names) - 2
        self.steps = t.at("i64", "@place", len(names))
        return [f"@place = dso_local global [{words} x i64] zeroinitializer"]

    def _shapes(self) -> list[str]:
        return []

    def _shape(self, k: int) -> str:
        return self.t.at("i64", "@place", 2 + len(self.sizes) + sum(map(len, self.shapes[:k])))

    def _compute(self) -> None:
        t = self.t
        t.start("run")
        scalars = {}
        for k in range(self.count):
            number = k - len(self.sizes)
            if number < 0:
                value = f"%data{k}"
            elif self.shapes[number]:
                value = self.data_of(f"%result{number}")
            else:
                value = scalars[number] = t.at("double", "%numbers", number)
            t.do(f"store ptr {value}, ptr {t.at('ptr', '%arguments', k)}")
        t.do(f"call void %loop(ptr %arguments, ptr %one, ptr {self.steps}, ptr %data)")
        for number, source in scalars.items():
            self._make_scalar(number, source)


def numbers(inputs: Sequence[int], outputs: Sequence[tuple[int, ...]], loop: int, data: int) -> npt.NDArray[np.int64]:
    """Contents of ``place``.

    The loop and its data, the size of each input, the shapes of the outputs, and the strides that the loop gets.

    Parameters
    ----------
    inputs : sequence of int
        Sizes of the inputs.
    outputs : sequence of tuple of int
        Shapes of the outputs.
    loop, data : int
        Addresses of the loop, and of what it gets as its data.
    """
    lengths = [length for shape in outputs for length in shape]
    strides = [8 * prod(shape[axis + 1 :]) for shape in outputs for axis in range(len(shape))]
    outer = [0] * (len(inputs) + len(outputs))
    return np.array([loop, data, *inputs, *lengths, *outer, *([8] * len(inputs)), *strides], dtype=np.int64)


#: Counts the changes of this lowering.
LOOPED = "16"

#: Lanes of the code for so many configurations.
FEW = 1


def object_code(program: LoopedProgram, dtype: str, lanes: int | None, *, stacked: bool) -> bytes:
    """Compile a program to an object file with the symbol ``loop_double`` or ``loop_float``."""
    return compiled(assembly(program, dtype, lanes, stacked=stacked), many=program.layout.length > MANY)


def entry_code(inputs: int, dimensions: Sequence[int]) -> bytes:
    """Compile the entry for one configuration: see `LoopedEntry`."""
    return compiled(module([LoopedEntry(inputs, dimensions, host().text("double", FEW)).text()]))


@without_collection()
def assembly(program: LoopedProgram, dtype: str, lanes: int | None, *, stacked: bool) -> str:
    """LLVM text of a program."""
    t = host().text(SCALARS[dtype], lanes)
    passes = [phase for phase in program.phases if isinstance(phase, RowPass) and phase.order in {"outward", "inward"}]
    longest = max(passes, key=lambda phase: phase.length, default=None)
    phases = PhaseWriter(program.layout, t, stacked=stacked, ahead=longest)
    parts = []
    for k, phase in enumerate(program.phases):
        if isinstance(phase, RowPass):
            parts.append(phases.text(k, phase))
        elif isinstance(phase, LinearSolve):
            apart = program.layout.length > MANY
            parts.append(
                _call_solver(t, program.layout, k) if apart else LinearSolveWriter(phase, t, program.layout).text(k)
            )
        else:
            parts.append(written_out(phase.tape, t, program.layout, k))
    return module(
        [*parts, _pack(t), _unpack(t), _zero(t), _Loop(program.layout, len(program.phases), t, stacked=stacked).text()]
    )


def solver_code(program: LoopedProgram, dtype: str, lanes: int | None) -> bytes:
    """Compile ``call``: the solutions of a program whose other arithmetic is compiled without optimisation."""
    t = host().text(SCALARS[dtype], lanes)
    solutions = {k: phase for k, phase in enumerate(program.phases) if isinstance(phase, LinearSolve)}
    parts = [LinearSolveWriter(phase, t, program.layout).text(k) for k, phase in solutions.items()]
    t.begin()
    t.do(f"switch i64 %phase, label %done [ {' '.join(f'i64 {k}, label %solve{k}' for k in solutions)} ]")
    for k in solutions:
        t.start(f"solve{k}")
        t.do(f"call void @phase{k}(ptr %head, ptr %work, ptr %numbers)")
        t.do("br label %done")
    t.start("done")
    t.do("ret void")
    head = "define void @call(ptr %head, ptr %work, ptr %numbers, i64 %phase)"
    return compiled(module([*parts, t.function(head)]))


def _call_solver(t: Text, layout: ProgramLayout, number: int) -> str:
    """Emit phase `number` as a call of the solver that is compiled apart."""
    t.begin()
    address = Words(t, layout, "solver")["solver"]
    code = t.emit(f"inttoptr i64 {address} to ptr")
    t.do(f"call void {code}(ptr %head, ptr %work, ptr %numbers, i64 {number})")
    t.do("ret void")
    return t.function(phase_head(number), kind="noinline #0")


def _pack(t: Text) -> str:
    """Emit ``pack``: rows of `count` elements side by side, to lanes."""
    t.begin()
    if t.width == 1:
        return _copied(t, "pack")
    rows = row_pointers(t, "%src", "%row", clamped=True)
    pairs = t.emit("udiv i64 %count, 2")
    with t.counted("pairs", pairs) as k:
        two_columns_in(t, rows, t.emit(f"mul i64 {k}, 2"), "%dst")
    with t.counted("last", "%count", t.emit(f"mul i64 {pairs}, 2")) as column:
        column_in(t, rows, column, "%dst")
    t.do("ret void")
    return t.function("define internal void @pack(ptr %src, i64 %lanes, i64 %row, i64 %count, ptr %dst)", kind="noinline #0")


def _copied(t: Text, name: str) -> str:
    """Emit ``pack`` or ``unpack`` of a single lane."""
    with t.counted("all", "%count") as k:
        t.put(t.get("%src", k), "%dst", k)
    t.do("ret void")
    return t.function(
        f"define internal void @{name}(ptr %src, i64 %lanes, i64 %row, i64 %count, ptr %dst)", kind="noinline #0"
    )


def _unpack(t: Text) -> str:
    """Emit ``unpack``: lanes to rows of `count` elements side by side."""
    t.begin()
    if t.width == 1:
        return _copied(t, "unpack")
    rows = row_pointers(t, "%dst", "%row", clamped=True)
    length = group_length(t)
    groups = t.emit(f"udiv i64 %count, {length}")
    with t.counted("groups", groups) as k:
        group_out(t, rows, "%src", t.emit(f"mul i64 {k}, {length}"))
    with t.counted("last", "%count", t.emit(f"mul i64 {groups}, {length}")) as column:
        group_out(t, rows, "%src", column, 1)
    t.do("ret void")
    return t.function(
        "define internal void @unpack(ptr %src, i64 %lanes, i64 %row, i64 %count, ptr %dst)", kind="noinline #0"
    )


def _zero(t: Text) -> str:
    """Emit ``zero``: so many vectors."""
    t.begin()
    with t.counted("all", "%count") as k:
        t.put(t.number(0.0), "%dst", k)
    t.do("ret void")
    return t.function("define internal void @zero(ptr %dst, i64 %count)", kind="noinline #0")


class _Loop:
    """Writes the loop over blocks."""

    def __init__(self, layout: ProgramLayout, phases: int, t: Text, *, stacked: bool) -> None:
        self.layout, self.phases, self.t, self.stacked = layout, phases, t, stacked
        self.arguments = [(name, len(shape)) for name, shape in (*layout.inputs.items(), *layout.outputs.items())]
        if stacked:
            self.arguments.insert(0, ("constants", 1))

    def text(self) -> str:
        """Emit the loop."""
        t, align = self.t, max(64, self.t.vector_size)
        t.begin()
        self._hand_over_few()
        words = Words(t, self.layout)
        memory = self._room(words["bytes"], align)
        for name in self.layout.arrays:
            t.do(f"store i64 {words[f'start {name}']}, ptr {start_place(t, self.layout, name)}")
        if t.width > 1:
            for name in self.layout.outputs:
                t.do(f"call void @zero(ptr {words.array(name)}, i64 {words[f'clear {name}']})")
        cores = self._cores(words)
        blocks = t.emit(f"udiv i64 {t.emit(f'add i64 %count, {t.width - 1}')}, {t.width}")
        names = {name: words.array(name) for name in self.layout.arrays}
        grounds = [
            (t.at(t.vector, "%work", words[f"{table} {part}"]), size)
            for table, layout in self.layout.tables.items()
            for part, size in (("records", layout.record), ("passed", layout.passed))
        ]
        lengths = {name: self._length(words, name) for name in self.layout.cleared}
        cleared = dict(names)
        with t.counted("blocks", blocks) as block:
            done = t.emit(f"mul i64 {block}, {t.width}")
            left = t.emit(f"sub i64 %count, {done}")
            over = t.emit(f"icmp slt i64 {left}, {t.width}")
            lanes = t.emit(f"select i1 {over}, i64 {left}, i64 {t.width}")
            for k, (name, _) in enumerate(self.arguments):
                if t.width == 1 and name in names:
                    there = self._in_place(k, name, done, cores[k][1], words)
                    if name in self.layout.outputs:
                        t.do(f"call void @zero(ptr {there}, i64 {words[f'clear {name}']})")
                        cleared[name] = there
                if name not in self.layout.outputs:
                    inside = names.get(name, "%constants")
                    self._move("pack", k, name, inside, done, lanes, cores[k], words)
            self._look_ahead(done)
            for place, length in grounds:
                t.do(f"call void @zero(ptr {place}, i64 {length})")
            for name in self.layout.cleared:
                t.do(f"call void @zero(ptr {cleared[name]}, i64 {lengths[name]})")
            for number in range(self.phases):
                t.do(f"call void @phase{number}(ptr %head, ptr %work, ptr %constants)")
            for k, (name, _) in enumerate(self.arguments):
                if name in self.layout.outputs:
                    self._move("unpack", k, name, names[name], done, lanes, cores[k], words)
        t.do(f"call void {t.runtime('free')}(ptr {memory})")
        t.do("ret void")
        head = f"define void @loop_{t.scalar}(ptr %args, ptr %dimensions, ptr %steps, ptr %head)"
        return t.function(head)

    def _look_ahead(self, done: str) -> None:
        """Emit: where phases find the rows that come next; those of outputs are the ones of this block."""
        t = self.t
        following = t.emit(f"add i64 {done}, {t.width}")
        for k, (name, _) in enumerate(self.arguments):
            if t.width > 1 and name in self.layout.arrays:
                rows = self._outside(k, done if name in self.layout.outputs else following)
                t.do(f"store ptr {rows}, ptr {ahead_place(t, self.layout, name)}")

    def _in_place(self, k: int, name: str, done: str, tight: str, words: Words) -> str:
        """Emit: process an argument in place if its elements are contiguous; return the address of the array."""
        t = self.t
        outside, base = t.emit(f"ptrtoint ptr {self._outside(k, done)} to i64"), t.emit("ptrtoint ptr %work to i64")
        direct = t.emit(f"ashr exact i64 {t.emit(f'sub i64 {outside}, {base}')}, {t.size.bit_length() - 1}")
        begin = t.emit(f"select i1 {tight}, i64 {direct}, i64 {words[f'start {name}']}")
        t.do(f"store i64 {begin}, ptr {start_place(t, self.layout, name)}")
        return t.at(t.vector, "%work", begin)

    def _outside(self, k: int, done: str) -> str:
        """Emit: where an argument begins of the configuration that is number `done`."""
        t = self.t
        row = t.emit(f"load i64, ptr {t.at('i64', '%steps', k)}")
        return t.at("i8", t.emit(f"load ptr, ptr {t.at('ptr', '%args', k)}"), t.emit(f"mul i64 {done}, {row}"))

    def _hand_over_few(self) -> None:
        """Emit: pass a single configuration to scalar code, if there is any."""
        t = self.t
        words = Words(t, self.layout, "few")
        t.do("%count = load i64, ptr %dimensions")
        t.do(f"%short = icmp sle i64 %count, {FEW}")
        t.do(f"%there = icmp ne i64 {words['few']}, 0")
        t.do("%other = and i1 %short, %there")
        t.do("br i1 %other, label %hand, label %begin")
        t.start("hand")
        t.do(f"%code = inttoptr i64 {words['few']} to ptr")
        t.do(f"%data = inttoptr i64 {words['few data']} to ptr")
        t.do("tail call void %code(ptr %args, ptr %dimensions, ptr %steps, ptr %data)")
        t.do("ret void")
        t.start("begin")

    def _room(self, size: str, align: int) -> str:
        """Emit: memory for one block, ``%work``; return the address to be freed."""
        t = self.t
        starts = -(-8 * 2 * len(self.layout.arrays) // align) * align  # (space for `start_place` and `ahead_place`)
        memory, base = aligned_memory(t, t.emit(f"add i64 {size}, {starts + align}"), align)
        t.do(f"%work = getelementptr i8, ptr {base}, i64 {starts}")
        return memory

    def _length(self, words: Words, name: str) -> str:
        """The number of elements of an array."""
        total: str = ""
        for size in self.layout.arrays[name]:
            part = str(size) if isinstance(size, int) else words[f"size {size}"]
            total = part if not total else self.t.emit(f"mul i64 {total}, {part}")
        return total or "1"

    def _cores(self, words: Words) -> list[tuple[str, str]]:
        """Strides of each argument within a row, and whether its elements are contiguous."""
        t, results = self.t, []
        index = len(self.arguments)
        if self.stacked:
            t.do(f"%constants = getelementptr {t.vector}, ptr %work, i64 {words['stacked']}")
        else:
            t.do(f"%constants = inttoptr i64 {words['constants']} to ptr")
        for name, dimensions in self.arguments:
            place = t.emit("alloca [3 x i64]")
            tight: str = "true"
            expected = str(t.size)
            for axis in reversed(range(3)):
                inner = axis - (3 - dimensions)
                step = "0"
                if inner >= 0:
                    step = t.emit(f"load i64, ptr {t.at('i64', '%steps', index + inner)}")
                    fits = t.emit(f"icmp eq i64 {step}, {expected}")
                    length = words[f"dims {name} {1 + axis}"]
                    single = t.emit(f"icmp sle i64 {length}, 1")
                    tight = t.emit(f"and i1 {tight}, {t.emit(f'or i1 {fits}, {single}')}")
                    expected = t.emit(f"mul i64 {expected}, {length}")
                t.do(f"store i64 {step}, ptr {t.at('i64', place, axis)}")
            results.append((place, tight))
            index += dimensions
        return results

    def _move(
        self, direction: str, k: int, name: str, inside: str, done: str, lanes: str, core: tuple[str, str], words: Words
    ) -> None:
        """Move one argument of a block."""
        t, (strides, tight) = self.t, core
        outside, row = self._outside(k, done), t.emit(f"load i64, ptr {t.at('i64', '%steps', k)}")
        label = f"{direction}{k}"
        dims = t.at("i64", "%head", self.layout.words[f"dims {name} 0"])
        source, target = (outside, inside) if direction == "pack" else (inside, outside)
        t.do(f"br i1 {tight}, label %{label}.tight, label %{label}.loose")
        t.start(f"{label}.tight")
        if t.width > 1 or name == "constants":  # (a single lane is worked on where it is)
            count = t.emit(f"load i64, ptr {dims}")
            t.do(f"call void @{direction}(ptr {source}, i64 {lanes}, i64 {row}, i64 {count}, ptr {target})")
        t.do(f"br label %{label}.end")
        t.start(f"{label}.loose")
        copy = t.runtime("copy_in" if direction == "pack" else "copy_out")
        t.do(f"call void {copy}(ptr {source}, i64 {lanes}, i64 {row}, ptr {strides}, ptr {dims}, ptr {target})")
        t.go_on(f"{label}.end")
