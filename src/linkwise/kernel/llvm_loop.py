"""The inner loop of a NumPy gufunc around the arithmetic of a kernel, as LLVM text.

A block of `width` configurations is laid out with one vector per element (``in``, ``out`` of the body). Rows whose
elements lie side by side are moved by `linkwise.kernel.llvm_rows`; anything else, and the last few rows, by
`linkwise.kernel.llvm_copy`, the spare lanes repeating the last row. So every configuration takes the same arithmetic
however it comes.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.llvm_copy import DIMENSIONS
from linkwise.kernel.llvm_rows import broadcast_row, first_lane, rows_in, rows_out, set_constants
from linkwise.kernel.llvm_text import RUNTIME, Text
from linkwise.kernel.tape import Shape, Tape

STACK = 32768
"""Bytes of a block of configurations that are still taken from the stack."""


def loop(tape: Tape, t: Text) -> str:
    """Emit ``void @loop(ptr args, ptr dimensions, ptr steps, ptr data)``: the inner loop of a NumPy gufunc."""
    return _Loop(tape, t).text()


class _Loop:
    """Writes the loop and what moves its arguments."""

    def __init__(self, tape: Tape, t: Text) -> None:
        self.tape, self.t = tape, t
        self.shapes: list[Shape] = [*tape.inputs.values(), *tape.outputs.values()]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.inputs = len(tape.inputs)
        self.firsts = [sum(self.sizes[:k]) for k in range(self.inputs)]
        self.firsts += [sum(self.sizes[self.inputs : k]) for k in range(self.inputs, len(self.sizes))]

    def text(self) -> str:
        t, s = self.t, self.t.scalar
        signature = "ptr %args, ptr %steps, ptr %cores, i64 %done, i64 %lanes, ptr %block"
        parts = [self._dims(k) for k in range(len(self.shapes))]
        for name, ports in (("pack", range(self.inputs)), ("unpack", range(self.inputs, len(self.shapes)))):
            t.lines.clear()
            for k in ports:
                self._port(k, inward=name == "pack")
            t.do("ret void")
            parts.append(f"define internal void @{name}_{t.tag}({signature}) noinline #0 {{\nentry:\n" + _lines(t) + "}\n")
        t.lines.clear()
        self._blocks()
        head = f"define void @loop_{s}(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{\nentry:\n"
        return "\n".join(parts) + "\n" + head + _lines(t) + "}\n"

    def _blocks(self) -> None:
        """One block of configurations after another: in, computed, out."""
        t = self.t
        align = max(64, t.vector_size)
        inputs, outputs = max(1, sum(self.sizes[: self.inputs])), max(1, sum(self.sizes[self.inputs :]))
        on_heap = (inputs + outputs) * t.vector_size > STACK
        if on_heap:
            self._heap((inputs + outputs) * t.vector_size + align, inputs * t.vector_size, align)
        else:
            t.do(f"%in = alloca [{inputs} x {t.vector}], align {align}")
            t.do(f"%out = alloca [{outputs} x {t.vector}], align {align}")
        t.do(f"%cores = alloca [{len(self.shapes) * (DIMENSIONS + 1)} x i64]")
        t.do("%count = load i64, ptr %dimensions")
        self._cores()
        set_constants(t, self.tape, "%out")
        t.do("br label %block")
        t.start("block")
        t.do(f"%done = phi i64 [ 0, %{'begin' if on_heap else 'entry'} ], [ %next, %compute ]")
        t.do("%left = sub i64 %count, %done")
        t.do("%more = icmp sgt i64 %left, 0")
        t.do("br i1 %more, label %compute, label %end")
        t.start("compute")
        t.do(f"%short = icmp slt i64 %left, {t.width}")
        t.do(f"%lanes = select i1 %short, i64 %left, i64 {t.width}")
        t.do(f"call void @pack_{t.tag}(ptr %args, ptr %steps, ptr %cores, i64 %done, i64 %lanes, ptr %in)")
        t.do(f"call void @body_{t.tag}(ptr %in, ptr %out)")
        t.do(f"call void @unpack_{t.tag}(ptr %args, ptr %steps, ptr %cores, i64 %done, i64 %lanes, ptr %out)")
        t.do(f"%next = add i64 %done, {t.width}")
        t.do("br label %block")
        t.start("end")
        if on_heap:
            self._runtime("free")
            t.do("call void %free(ptr %memory)")
        t.do("ret void")

    def _runtime(self, name: str) -> None:
        address = self.t.emit(f"getelementptr ptr, ptr @runtime, i64 {RUNTIME.index(name)}")
        self.t.do(f"%{name} = load ptr, ptr {address}")

    def _heap(self, size: int, inputs: int, align: int) -> None:
        """Take the blocks of large mechanisms from the heap: the stack of a thread may be small."""
        t = self.t
        self._runtime("malloc")
        t.do(f"%memory = call ptr %malloc(i64 {size})")
        t.do("%lacking = icmp eq ptr %memory, null")
        t.do("br i1 %lacking, label %stop, label %begin, !prof !0")
        t.start("stop")
        t.do("call void @llvm.trap()")  # a result that was not computed must not be taken for one
        t.do("unreachable")
        t.start("begin")
        t.do("%place = ptrtoint ptr %memory to i64")
        t.do(f"%above = add i64 %place, {align - 1}")
        t.do(f"%aligned = and i64 %above, {-align}")
        t.do("%in = inttoptr i64 %aligned to ptr")
        t.do(f"%out = getelementptr i8, ptr %in, i64 {inputs}")

    def _dims(self, k: int) -> str:
        padded = [1] * (DIMENSIONS - len(self.shapes[k])) + list(self.shapes[k])
        numbers = ", ".join(f"i64 {value}" for value in (self.sizes[k], *padded))
        return f"@dims_{self.t.scalar}_{k} = internal constant [{DIMENSIONS + 1} x i64] [{numbers}]"

    def _cores(self) -> None:
        """For each argument, the strides within a row, and whether its elements lie side by side."""
        t = self.t
        step_index = len(self.shapes)
        for k, shape in enumerate(self.shapes):
            packed = "true"
            for axis in range(DIMENSIONS):
                inner = axis - (DIMENSIONS - len(shape))
                step = "0"
                if inner >= 0:
                    step = self._load("i64", "%steps", step_index + inner)
                    if shape[inner] > 1:
                        tight = t.emit(f"icmp eq i64 {step}, {t.size * prod(shape[inner + 1 :])}")
                        packed = t.emit(f"and i1 {packed}, {tight}")
                place = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1) + axis}")
                t.do(f"store i64 {step}, ptr {place}")
            step_index += len(shape)
            flag = t.emit(f"zext i1 {packed} to i64")
            place = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1) + DIMENSIONS}")
            t.do(f"store i64 {flag}, ptr {place}")

    def _load(self, kind: str, table: str, k: int) -> str:
        address = self.t.emit(f"getelementptr {kind}, ptr {table}, i64 {k}")
        return self.t.emit(f"load {kind}, ptr {address}")

    def _port(self, k: int, *, inward: bool) -> None:
        """Move one argument of one block of configurations."""
        t, s = self.t, self.t.scalar
        if not self.sizes[k]:
            return
        buffer = t.emit(f"getelementptr {t.vector}, ptr %block, i64 {self.firsts[k]}")
        start, row = self._load("ptr", "%args", k), self._load("i64", "%steps", k)
        packed = self._load("i64", "%cores", k * (DIMENSIONS + 1) + DIMENSIONS)
        passed = t.emit(f"mul i64 %done, {row}")
        here = t.emit(f"getelementptr i8, ptr {start}, i64 {passed}")
        tight = t.emit(f"icmp ne i64 {packed}, 0")
        whole = t.emit(f"icmp eq i64 %lanes, {t.width}")
        fast = t.emit(f"and i1 {tight}, {whole}")
        t.do(f"br i1 {fast}, label %fast{k}, label %slow{k}, !prof !1")
        t.start(f"fast{k}")
        rows = [here]
        for _ in range(1, t.width):
            rows.append(t.emit(f"getelementptr i8, ptr {rows[-1]}, i64 {row}"))
        (rows_in if inward else rows_out)(t, rows, buffer, self.sizes[k])
        t.do(f"br label %moved{k}")
        t.start(f"slow{k}")
        one = t.emit("icmp eq i64 %lanes, 1")
        single = t.emit(f"and i1 {one}, {tight}")
        t.do(f"br i1 {single}, label %single{k}, label %any{k}")
        t.start(f"single{k}")
        (broadcast_row if inward else first_lane)(t, here, buffer, self.sizes[k])
        t.do(f"br label %moved{k}")
        t.start(f"any{k}")
        core = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1)}")
        name, source, target = ("in", here, buffer) if inward else ("out", buffer, here)
        copied = f"ptr {source}, i64 %lanes, i64 {row}, ptr {core}, ptr @dims_{s}_{k}, ptr {target}"
        t.do(f"call void @copy_{name}_{t.tag}({copied})")
        t.do(f"br label %moved{k}")
        t.start(f"moved{k}")


def _lines(t: Text) -> str:
    return "\n".join(t.lines) + "\n"
