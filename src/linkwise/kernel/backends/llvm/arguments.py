"""Moving the arguments of a gufunc into vector lanes and back, as LLVM text.

Rows whose elements lie side by side are moved by `linkwise.kernel.backends.llvm.rows`, anything else by
`linkwise.kernel.backends.llvm.copy`. Where a block has fewer rows than lanes, the spare lanes repeat the last row. An output
that is larger than the caches goes through a stage, a piece of memory laid out as the output is, and from there past the
caches.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.backends.llvm.copy import DIMENSIONS
from linkwise.kernel.backends.llvm.rows import Columns, broadcast_row, first_lane, rows_in, rows_out
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.tape import Shape, Tape

STREAM = 1 << 25
"""Bytes of all outputs together from which on they are written past the caches, which have no room for them."""

STREAMED_ROW = 16
"""Scalars of a row of an output from which on it is written so: for fewer, too many cache lines are written in pieces."""

ARGUMENTS = ("ptr args", "ptr steps", "ptr cores", "i64 done", "i64 lanes", "ptr block", "ptr stage")
"""What ``pack`` and ``unpack`` take: two of the gufunc's own tables, what `Ports.cores` wrote, the rows that are done and
those to be moved, where they are in lanes, the stage."""


class Ports:
    """Writes what moves the arguments: ``pack`` for the inputs, ``unpack`` for the outputs."""

    def __init__(self, tape: Tape, t: Text) -> None:
        self.tape, self.t = tape, t
        self.shapes: list[Shape] = [*tape.inputs.values(), *tape.outputs.values()]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.inputs = len(tape.inputs)
        self.firsts = [sum(self.sizes[:k]) for k in range(self.inputs)]
        self.firsts += [sum(self.sizes[self.inputs : k]) for k in range(self.inputs, len(self.sizes))]
        self.columns = [self._columns(k) for k in range(len(self.sizes))]
        self.largest = max(self.sizes[self.inputs :])
        # Vectors shorter than 32 bytes are those of processors that are not of the x86 kind.
        self.streams = t.vector_size >= 32 and self.largest >= STREAMED_ROW

    def text(self) -> str:
        """Emit ``pack``, ``unpack`` and the tables that they need."""
        t = self.t
        parts = [self._dims(k) for k in range(len(self.shapes))]
        parts += [columns.tables(t) for columns in self.columns if columns]
        signature = ", ".join(argument.replace(" ", " %") for argument in ARGUMENTS)
        for name, ports in (("pack", range(self.inputs)), ("unpack", range(self.inputs, len(self.shapes)))):
            t.begin()
            for k in ports:
                self._port(k, inward=name == "pack")
            t.do("ret void")
            head = f"define internal void @{name}_{t.tag}({signature}) noinline #0 {{"
            parts.append("\n".join([head, *t.lines, "}"]))
        return "\n".join(parts) + "\n"

    def _columns(self, k: int) -> Columns | None:
        """Which columns of an output are constant, where that is worth a table."""
        if k < self.inputs:
            return None
        slots = self.tape.results[self.firsts[k] : self.firsts[k] + self.sizes[k]]
        found = Columns(self.t, f"columns_{self.t.scalar}_{k}", [self.tape.constant(slot) for slot in slots])
        return found if any(found.constant) else None

    def _dims(self, k: int) -> str:
        padded = [1] * (DIMENSIONS - len(self.shapes[k])) + list(self.shapes[k])
        numbers = ", ".join(f"i64 {value}" for value in (self.sizes[k], *padded))
        return f"@dims_{self.t.scalar}_{k} = internal constant [{DIMENSIONS + 1} x i64] [{numbers}]"

    def cores(self) -> None:
        """Write into ``cores``, for each argument, the strides within a row and whether its elements lie side by side."""
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
            if k >= self.inputs and self.streamed(k):
                flag = self._placed(k, packed, flag)
            place = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1) + DIMENSIONS}")
            t.do(f"store i64 {flag}, ptr {place}")

    def _load(self, kind: str, table: str, k: int) -> str:
        address = self.t.emit(f"getelementptr {kind}, ptr {table}, i64 {k}")
        return self.t.emit(f"load {kind}, ptr {address}")

    def streamed(self, k: int) -> bool:
        """Whether an output may be written past the caches."""
        return self.streams and self.sizes[k] >= STREAMED_ROW

    def is_streaming(self) -> str:
        """Emit: whether the outputs are so large that they are written past the caches."""
        return self.t.emit(f"icmp ugt i64 %count, {STREAM // (self.t.size * sum(self.sizes[self.inputs :]))}")

    def _placed(self, k: int, packed: str, flag: str) -> str:
        """2 for an output that is written past the caches: many rows without gaps."""
        t, row_size = self.t, self.t.size * self.sizes[k]
        row = self._load("i64", "%steps", k)
        start = t.emit(f"ptrtoint ptr {self._load('ptr', '%args', k)} to i64")
        odd = t.emit(f"and i64 {start}, {t.size - 1}")
        conditions = [
            t.emit(f"icmp eq i64 {row}, {row_size}"),
            t.emit(f"icmp eq i64 {odd}, 0"),
            self.is_streaming(),
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
        staged = self.streamed(k) and not inward
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
