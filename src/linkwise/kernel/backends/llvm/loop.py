"""The inner loop of a NumPy gufunc around the arithmetic of a kernel, as LLVM text.

A block of `width` configurations is laid out with one vector per element (``in``, ``out`` of the body); what moves arguments
there and back is written by `linkwise.kernel.backends.llvm.arguments`. Every configuration takes the same arithmetic however
it comes.
"""

from __future__ import annotations

from linkwise.kernel.backends.llvm.arguments import ARGUMENTS, Ports
from linkwise.kernel.backends.llvm.copy import DIMENSIONS
from linkwise.kernel.backends.llvm.rows import set_constants
from linkwise.kernel.backends.llvm.schedule import Plan
from linkwise.kernel.backends.llvm.text import RUNTIME, Text
from linkwise.kernel.tape import Tape

STACK = 32768
"""Bytes of a block of configurations that are still taken from the stack."""


def loop(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit ``void @loop(ptr args, ptr dimensions, ptr steps, ptr data)``: the inner loop of a NumPy gufunc."""
    return _Loop(tape, t, plan).text()


class _Loop:
    """Writes the loop."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t, self.plan = tape, t, plan
        self.ports = Ports(tape, t)
        self.sizes = {"in": tape.input_count, "out": len(tape.results), "space": plan.space}

    def text(self) -> str:
        """Emit the loop and what moves its arguments."""
        t, moving = self.t, self.ports.text()
        t.begin()
        self._main()
        head = f"define void @loop_{t.scalar}(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{"
        return "\n".join([moving, head, *t.lines, "}"]) + "\n"

    def _main(self) -> None:
        """Some blocks of configurations after the others: in, computed, out."""
        t, together = self.t, self.plan.together
        sizes = {name: together * size for name, size in self.sizes.items()}
        sizes["stage"] = self.ports.largest + 64 // t.vector_size if self.ports.streams else 0
        on_heap = self._room(sizes)
        t.do(f"%cores = alloca [{len(self.ports.shapes) * (DIMENSIONS + 1)} x i64]")
        t.do("%count = load i64, ptr %dimensions")
        self.ports.cores()
        for number in range(together):
            block = t.emit(f"getelementptr {t.vector}, ptr %out, i64 {number * self.sizes['out']}")
            set_constants(t, self.tape, block, looped=True)
        before = t.block
        t.do("br label %round")
        t.start("round")
        t.do(f"%done = phi i64 [ 0, %{before} ], [ %next, %written ]")
        t.do("%left = sub i64 %count, %done")
        t.do("%more = icmp sgt i64 %left, 0")
        t.do("br i1 %more, label %compute, label %end")
        t.start("compute")
        t.do(f"%many = icmp sgt i64 %left, {t.width * together}")
        t.do(f"%rows = select i1 %many, i64 {t.width * together}, i64 %left")
        t.do(f"%above = add i64 %rows, {t.width - 1}")
        t.do(f"%blocks = udiv i64 %above, {t.width}")
        self._move("pack", "in")
        t.do(f"call void @blocks_{t.tag}(ptr %in, ptr %out, ptr %space, i64 %blocks)")
        self._move("unpack", "out")
        t.do("br label %written")
        t.start("written")
        t.do("%next = add i64 %done, %rows")
        t.do("br label %round")
        t.start("end")
        if self.ports.streams:
            streamed = self.ports.is_streaming()
            t.do(f"br i1 {streamed}, label %fence, label %finish, !prof !0")
            t.start("fence")  # what was written past the caches is seen by other threads before what comes after
            t.do("fence seq_cst")
            t.do("br label %finish")
            t.start("finish")
        if on_heap:
            self._runtime("free")
            t.do("call void %free(ptr %memory)")
        t.do("ret void")

    def _move(self, name: str, buffer: str) -> None:
        """Move the arguments of the blocks of this round."""
        t = self.t
        with t.loop(name, "%blocks") as block_number:
            passed = t.emit(f"mul i64 {block_number}, {t.width}")
            first = t.emit(f"add i64 %done, {passed}")
            left = t.emit(f"sub i64 %rows, {passed}")
            short = t.emit(f"icmp slt i64 {left}, {t.width}")
            lanes = t.emit(f"select i1 {short}, i64 {left}, i64 {t.width}")
            block = t.at(t.vector, f"%{buffer}", t.emit(f"mul i64 {block_number}, {self.sizes[buffer]}"))
            values = ("%args", "%steps", "%cores", first, lanes, block, "%stage")
            given = [f"{argument.split()[0]} {value}" for argument, value in zip(ARGUMENTS, values, strict=True)]
            t.do(f"call void @{name}_{t.tag}({', '.join(given)})")

    def _runtime(self, name: str) -> None:
        address = self.t.emit(f"getelementptr ptr, ptr @runtime, i64 {RUNTIME.index(name)}")
        self.t.do(f"%{name} = load ptr, ptr {address}")

    def _room(self, sizes: dict[str, int]) -> bool:
        """Room for vectors: on the stack, or, if it is much, on the heap, for the stack of a thread may be small."""
        t, align = self.t, max(64, self.t.vector_size)
        on_heap = sum(sizes.values()) * t.vector_size > STACK
        if not on_heap:
            for name, size in sizes.items():
                t.do(f"%{name} = alloca [{max(1, size)} x {t.vector}], align {align}")
            return False
        self._runtime("malloc")
        whole = {name: (size * t.vector_size + align - 1) // align * align for name, size in sizes.items()}
        t.do(f"%memory = call ptr %malloc(i64 {sum(whole.values()) + align})")
        t.do("%lacking = icmp eq ptr %memory, null")
        t.do("br i1 %lacking, label %stop, label %begin, !prof !0")
        t.start("stop")
        t.do("call void @llvm.trap()")  # a result that was not computed must not be taken for one
        t.do("unreachable")
        t.start("begin")
        t.do("%place = ptrtoint ptr %memory to i64")
        t.do(f"%higher = add i64 %place, {align - 1}")
        t.do(f"%aligned = and i64 %higher, {-align}")
        t.do("%base = inttoptr i64 %aligned to ptr")
        passed = 0
        for name, size in whole.items():
            t.do(f"%{name} = getelementptr i8, ptr %base, i64 {passed}")
            passed += size
        return True
