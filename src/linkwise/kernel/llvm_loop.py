"""The inner loop of a NumPy gufunc around the arithmetic of a kernel, as LLVM text.

A block of `width` configurations is laid out with one vector per element (``in``, ``out`` of the body). Rows whose
elements lie side by side are moved by `linkwise.kernel.llvm_rows`; anything else, and the last few rows, by
`linkwise.kernel.llvm_copy`, the spare lanes repeating the last row. So every configuration takes the same arithmetic
however it comes.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.llvm_copy import DIMENSIONS
from linkwise.kernel.llvm_plan import Plan
from linkwise.kernel.llvm_rows import Columns, broadcast_row, first_lane, rows_in, rows_out, set_constants
from linkwise.kernel.llvm_text import RUNTIME, Text
from linkwise.kernel.tape import Shape, Tape

STACK = 32768
"""Bytes of a block of configurations that are still taken from the stack."""

STREAM = 1 << 22
"""Bytes of an output from which on it is written past the caches: those of a core itself hold 1 or 2 MiB."""


def loop(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit ``void @loop(ptr args, ptr dimensions, ptr steps, ptr data)``: the inner loop of a NumPy gufunc."""
    return _Loop(tape, t, plan).text()


class _Loop:
    """Writes the loop and what moves its arguments."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t, self.plan = tape, t, plan
        self.shapes: list[Shape] = [*tape.inputs.values(), *tape.outputs.values()]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.inputs = len(tape.inputs)
        self.firsts = [sum(self.sizes[:k]) for k in range(self.inputs)]
        self.firsts += [sum(self.sizes[self.inputs : k]) for k in range(self.inputs, len(self.sizes))]
        self.columns = [self._columns(k) for k in range(len(self.sizes))]
        self.streams = t.vector_size >= 32  # shorter vectors are those of processors that are not of the x86 kind

    def text(self) -> str:
        t, s = self.t, self.t.scalar
        signature = "ptr %args, ptr %steps, ptr %cores, i64 %done, i64 %lanes, ptr %block, ptr %stage"
        parts = [self._dims(k) for k in range(len(self.shapes))]
        parts += [columns.tables(t) for columns in self.columns if columns]
        for name, ports in (("pack", range(self.inputs)), ("unpack", range(self.inputs, len(self.shapes)))):
            t.begin()
            for k in ports:
                self._port(k, inward=name == "pack")
            t.do("ret void")
            parts.append(f"define internal void @{name}_{t.tag}({signature}) noinline #0 {{\n" + _lines(t) + "}\n")
        t.begin()
        self._main()
        head = f"define void @loop_{s}(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{\n"
        return "\n".join(parts) + "\n" + head + _lines(t) + "}\n"

    def _columns(self, k: int) -> Columns | None:
        """Which columns of an output are constant, where that is worth a table."""
        if k < self.inputs:
            return None
        slots = self.tape.results[self.firsts[k] : self.firsts[k] + self.sizes[k]]
        found = Columns(self.t, f"columns_{self.t.scalar}_{k}", [self.tape.constant(slot) for slot in slots])
        return found if found.constant else None

    def _main(self) -> None:
        """Some blocks of configurations after the others: in, computed, out."""
        t, together = self.t, self.plan.together
        sizes = {
            "in": together * sum(self.sizes[: self.inputs]),
            "out": together * sum(self.sizes[self.inputs :]),
            "space": together * self.plan.space,
            "stage": max(self.sizes[self.inputs :]) + 1 if self.streams else 0,
        }
        on_heap = self._room(sizes)
        t.do(f"%cores = alloca [{len(self.shapes) * (DIMENSIONS + 1)} x i64]")
        t.do("%count = load i64, ptr %dimensions")
        self._cores()
        for number in range(together):
            block = t.emit(f"getelementptr {t.vector}, ptr %out, i64 {number * sum(self.sizes[self.inputs :])}")
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
        self._move("pack", "in", self.sizes[: self.inputs])
        t.do(f"call void @blocks_{t.tag}(ptr %in, ptr %out, ptr %space, i64 %blocks)")
        self._move("unpack", "out", self.sizes[self.inputs :])
        t.do("br label %written")
        t.start("written")
        t.do("%next = add i64 %done, %rows")
        t.do("br label %round")
        t.start("end")
        if self.streams:
            largest = max(1, t.size * max(self.sizes[self.inputs :]))
            t.do(f"%streamed = icmp ugt i64 %count, {STREAM // largest}")
            t.do("br i1 %streamed, label %fence, label %finish, !prof !0")
            t.start("fence")  # what was written past the caches is seen by other threads before what comes after
            t.do("fence seq_cst")
            t.do("br label %finish")
            t.start("finish")
        if on_heap:
            self._runtime("free")
            t.do("call void %free(ptr %memory)")
        t.do("ret void")

    def _move(self, name: str, buffer: str, sizes: list[int]) -> None:
        """Move the arguments of the blocks of this round."""
        t = self.t
        before = t.block
        t.do(f"br label %{name}")
        t.start(name)
        t.do(f"%{name}.b = phi i64 [ 0, %{before} ], [ %{name}.b1, %{name} ]")
        passed = t.emit(f"mul i64 %{name}.b, {t.width}")
        first = t.emit(f"add i64 %done, {passed}")
        left = t.emit(f"sub i64 %rows, {passed}")
        short = t.emit(f"icmp slt i64 {left}, {t.width}")
        lanes = t.emit(f"select i1 {short}, i64 {left}, i64 {t.width}")
        offset = t.emit(f"mul i64 %{name}.b, {sum(sizes)}")
        block = t.emit(f"getelementptr {t.vector}, ptr %{buffer}, i64 {offset}")
        arguments = f"ptr %args, ptr %steps, ptr %cores, i64 {first}, i64 {lanes}, ptr {block}, ptr %stage"
        t.do(f"call void @{name}_{t.tag}({arguments})")
        t.do(f"%{name}.b1 = add i64 %{name}.b, 1")
        t.do(f"%{name}.again = icmp ult i64 %{name}.b1, %blocks")
        t.do(f"br i1 %{name}.again, label %{name}, label %{name}ed")
        t.start(f"{name}ed")

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
        t.do(f"%memory = call ptr %malloc(i64 {(sum(sizes.values()) + len(sizes)) * max(64, t.vector_size)})")
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
        for name, size in sizes.items():
            t.do(f"%{name} = getelementptr i8, ptr %base, i64 {passed}")
            passed += (size * t.vector_size + align - 1) // align * align
        return True

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
            if k >= self.inputs and self.streams and self.sizes[k]:
                flag = self._streamed(k, packed, flag)
            place = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1) + DIMENSIONS}")
            t.do(f"store i64 {flag}, ptr {place}")

    def _load(self, kind: str, table: str, k: int) -> str:
        address = self.t.emit(f"getelementptr {kind}, ptr {table}, i64 {k}")
        return self.t.emit(f"load {kind}, ptr {address}")

    def _streamed(self, k: int, packed: str, flag: str) -> str:
        """2 for an output whose rows lie without gaps and which is so large that it is written past the caches."""
        t, row_size = self.t, self.t.size * self.sizes[k]
        row = self._load("i64", "%steps", k)
        start = t.emit(f"ptrtoint ptr {self._load('ptr', '%args', k)} to i64")
        odd = t.emit(f"and i64 {start}, {t.size - 1}")
        conditions = [
            t.emit(f"icmp eq i64 {row}, {row_size}"),
            t.emit(f"icmp eq i64 {odd}, 0"),
            t.emit(f"icmp ugt i64 %count, {STREAM // row_size}"),
        ]
        good = packed
        for condition in conditions:
            good = t.emit(f"and i1 {good}, {condition}")
        return t.emit(f"select i1 {good}, i64 2, i64 {flag}")

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
        t.do(f"br i1 {tight}, label %tight{k}, label %loose{k}, !prof !1")
        t.start(f"tight{k}")
        t.do(f"%whole{k} = icmp eq i64 %lanes, {t.width}")
        t.do(f"br i1 %whole{k}, label %whole{k}.rows, label %few{k}, !prof !1")
        self._rows(k, here, row, packed, buffer, inward=inward)
        t.start(f"few{k}")
        one = t.emit("icmp eq i64 %lanes, 1")
        t.do(f"br i1 {one}, label %single{k}, label %few{k}.rows")
        t.start(f"single{k}")
        (broadcast_row if inward else first_lane)(t, here, buffer, self.sizes[k])
        t.do(f"br label %moved{k}")
        t.start(f"loose{k}")
        core = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1)}")
        name, source, target = ("in", here, buffer) if inward else ("out", buffer, here)
        copied = f"ptr {source}, i64 %lanes, i64 {row}, ptr {core}, ptr @dims_{s}_{k}, ptr {target}"
        t.do(f"call void @copy_{name}_{t.tag}({copied})")
        t.do(f"br label %moved{k}")
        t.start(f"moved{k}")

    def _rows(self, k: int, here: str, row: str, packed: str, buffer: str, *, inward: bool) -> None:
        """Move rows whose elements lie side by side; where some lanes are spare, the last row stands for theirs.

        What spare lanes computed is what the last row's lane did, so writing it there once more changes nothing.
        """
        t = self.t
        sources = {f"whole{k}.rows": self._pointers(f"whole{k}.rows", here, row)}
        staged = self.streams and not inward
        if staged:
            t.do(f"%stream{k} = icmp eq i64 {packed}, 2")
            t.do(f"br i1 %stream{k}, label %stage{k}, label %move{k}")
            t.start(f"stage{k}")
            sources[f"stage{k}"] = self._stage(k, here)
        t.do(f"br label %move{k}")
        sources[f"few{k}.rows"] = self._pointers(f"few{k}.rows", here, row, clamped=True)
        t.do(f"br label %move{k}")
        t.start(f"move{k}")
        rows = []
        for lane in range(t.width):
            values = [f"[ {pointers[lane]}, %{block} ]" for block, pointers in sources.items()]
            rows.append(t.emit(f"phi ptr {', '.join(values)}"))
        if inward:
            rows_in(t, rows, buffer, self.sizes[k])
            t.do(f"br label %moved{k}")
            return
        if staged:
            t.do(f"%staged{k} = phi i1 [ %stream{k}, %whole{k}.rows ], [ %stream{k}, %stage{k} ], [ false, %few{k}.rows ]")
        rows_out(t, rows, buffer, self.sizes[k], self.columns[k])
        t.do(f"br i1 %staged{k}, label %send{k}, label %moved{k}" if staged else f"br label %moved{k}")
        if staged:
            t.start(f"send{k}")
            t.do(f"call void @send_{t.tag}(ptr {here}, ptr {rows[0]}, i64 {t.size * t.width * self.sizes[k]})")
            t.do(f"br label %moved{k}")

    def _pointers(self, block: str, here: str, row: str, *, clamped: bool = False) -> list[str]:
        """Begin a block with a pointer to the row of each lane."""
        t = self.t
        t.start(block)
        rows = [here]
        for lane in range(1, t.width):
            step = row
            if clamped:
                real = t.emit(f"icmp ult i64 {lane}, %lanes")
                step = t.emit(f"select i1 {real}, i64 {row}, i64 0")
            rows.append(t.emit(f"getelementptr i8, ptr {rows[-1]}, i64 {step}"))
        return rows

    def _stage(self, k: int, here: str) -> list[str]:
        """Pointers to rows on the stage, which begins as far behind a cache line as the place where they go."""
        t = self.t
        start = t.emit(f"ptrtoint ptr {here} to i64")
        shift = t.emit(f"and i64 {start}, 63")
        rows = [t.emit(f"getelementptr i8, ptr %stage, i64 {shift}")]
        for _ in range(1, t.width):
            rows.append(t.emit(f"getelementptr i8, ptr {rows[-1]}, i64 {t.size * self.sizes[k]}"))
        return rows


def _lines(t: Text) -> str:
    return "\n".join(t.lines) + "\n"
