"""The inner loop of a NumPy gufunc around the arithmetic of a kernel, and its argument copies, as LLVM text.

A block of `width` configurations is laid out with one vector per element (``in``, ``out`` of the body); what moves arguments
there and back is written by `linkwise.kernel.backends.llvm.loop`. Every configuration takes the same arithmetic however
it comes.

Rows whose elements lie side by side are moved by `linkwise.kernel.backends.llvm.rows`, anything else by
`linkwise.kernel.backends.llvm.loop`. Where a block has fewer rows than lanes, the spare lanes repeat the last row. An output
that is larger than the caches goes through a stage, a piece of memory laid out as the output is, and from there past the
caches, in whole cache lines.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.backends.llvm.body import Plan
from linkwise.kernel.backends.llvm.rows import (
    CLEARED,
    Columns,
    aligned_memory,
    broadcast_row,
    clear,
    columns_of,
    first_lane,
    row_pointers,
    rows_in,
    rows_out,
    set_constants,
    unread,
)
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.tape import Shape, Tape
from linkwise.kernel.threads import STREAM, STREAMED_ROW

#: Greatest number of core dimensions of an input or output.
DIMENSIONS = 3


def copying(t: Text) -> str:
    """Emit ``copy_in`` and ``copy_out``: an argument with any strides to and from vector lanes.

    Spare lanes get the last row.
    """
    return _copying(t, inward=True) + "\n" + _copying(t, inward=False)


def _copying(t: Text, *, inward: bool) -> str:
    t.begin()
    last = t.emit("sub i64 %lanes, 1") if inward else ""
    with t.loop("element", "%count") as element:
        offset = t.emit(f"call i64 @element(i64 {element}, ptr %steps, ptr %dims)")
        outside = t.at("i8", "%src" if inward else "%dst", offset)
        inside = t.at(t.vector, "%dst" if inward else "%src", element)
        with t.loop("lane", t.width if inward else "%lanes") as lane:
            row = lane
            if inward:
                over = t.emit(f"icmp ugt i64 {lane}, {last}")
                row = t.emit(f"select i1 {over}, i64 {last}, i64 {lane}")
            far = t.at("i8", outside, t.emit(f"mul i64 {row}, %row"))
            near = t.at(t.scalar, inside, lane)
            t.copy(near, far, t.size, 1) if inward else t.copy(far, near, 1, t.size)
        t.do("%count = load i64, ptr %dims")
    t.do("ret void")
    name = "in" if inward else "out"
    arguments = "ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst"
    return t.function(f"define void @copy_{name}({arguments})", kind="noinline nounwind")


def sending(t: Text) -> str:
    """Emit ``void @send(ptr to, ptr from, ptr carried, i64 first, i64 second, i64 end)``: copy past the caches.

    Where it goes begins on a cache line. Bytes from `first` to `second` are written as any others; whole lines behind, to
    `end`, go past the caches. The last 64 bytes are carried too, for what is left of them to be sent with what comes behind
    it: a line that is written in two parts takes several times as long.
    """
    t.begin()
    t.do("%above = add i64 %second, 63")
    t.do("%lines = and i64 %above, -64")
    t.go_on("begin")
    t.do("%b = phi i64 [ %first, %entry ], [ %b.next, %each ]")
    t.do("%before = icmp ult i64 %b, %second")
    t.do("br i1 %before, label %each, label %sent")
    t.start("each")
    t.copy(t.at("i8", "%to", "%b"), t.at("i8", "%from", "%b"), t.size, t.size)
    t.do(f"%b.next = add i64 %b, {t.size}")
    t.do("br label %begin")
    t.start("sent")
    t.do("%l = phi i64 [ %lines, %begin ], [ %l.next, %line ]")
    t.do("%l.next = add i64 %l, 64")
    t.do("%full = icmp ule i64 %l.next, %end")
    t.do("br i1 %full, label %line, label %left")
    t.start("line")
    _line(t, t.at("i8", "%to", "%l"), t.at("i8", "%from", "%l"), ", !nontemporal !2")
    t.do("br label %sent")
    t.start("left")
    _line(t, "%carried", t.at("i8", t.at("i8", "%from", "%end"), -64))
    t.do("ret void")
    arguments = "ptr %to, ptr %from, ptr %carried, i64 %first, i64 %second, i64 %end"
    return t.function(f"define void @send({arguments})", kind="noinline nounwind #0") + "!2 = !{i32 1}\n"


def _line(t: Text, to: str, source: str, kind: str = "") -> None:
    """Emit: copy 64 bytes to a cache line, by one vector or more."""
    for k in range(64 // t.vector_size):
        value = t.emit(f"load {t.vector}, ptr {t.at(t.vector, source, k)}, align {t.size}")
        t.do(f"store {t.vector} {value}, ptr {t.at(t.vector, to, k)}, align {t.vector_size}{kind}")


ELEMENT = """
define internal i64 @element(i64 %e, ptr %steps, ptr %dims) alwaysinline nounwind {
  %p1 = getelementptr i64, ptr %dims, i64 2
  %p2 = getelementptr i64, ptr %dims, i64 3
  %d1 = load i64, ptr %p1
  %d2 = load i64, ptr %p2
  %i2 = urem i64 %e, %d2
  %r = udiv i64 %e, %d2
  %i1 = urem i64 %r, %d1
  %i0 = udiv i64 %r, %d1
  %s0 = load i64, ptr %steps
  %q1 = getelementptr i64, ptr %steps, i64 1
  %q2 = getelementptr i64, ptr %steps, i64 2
  %s1 = load i64, ptr %q1
  %s2 = load i64, ptr %q2
  %o0 = mul i64 %i0, %s0
  %o1 = mul i64 %i1, %s1
  %o2 = mul i64 %i2, %s2
  %o01 = add i64 %o0, %o1
  %o = add i64 %o01, %o2
  ret i64 %o
}
"""


#: Arguments of ``pack`` and ``unpack``: two of the gufunc's own tables, the output of `ArgumentPorts.cores`, the finished
#: rows and those to be copied, their memory in lanes, the stage.
ARGUMENTS = ("ptr args", "ptr steps", "ptr cores", "i64 done", "i64 lanes", "ptr block", "ptr stage")


class ArgumentPorts:
    """Writes the copying of arguments: ``pack`` for the inputs, ``unpack`` for the outputs."""

    def __init__(self, tape: Tape, t: Text) -> None:
        self.tape, self.t = tape, t
        self.shapes: list[Shape] = [*tape.inputs.values(), *tape.outputs.values()]
        self.sizes = [prod(shape) for shape in self.shapes]
        self.inputs = len(tape.inputs)
        self.firsts = [sum(self.sizes[:k]) for k in range(self.inputs)]
        self.firsts += [sum(self.sizes[self.inputs : k]) for k in range(self.inputs, len(self.sizes))]
        self.columns: list[Columns | None] = [None] * self.inputs
        self.columns += columns_of(t, tape, f"columns_{t.scalar}", CLEARED)
        self.largest = max(self.sizes[self.inputs :])
        # Shorter vectors are those of processors other than x86, or explicitly requested ones.
        outputs = range(self.inputs, len(self.sizes)) if t.vector_size in {32, 64} else []
        #: Outputs that may be written past the caches, where a block is a cache line or more.
        self.streamed = [k for k in outputs if self.sizes[k] >= STREAMED_ROW and self.sizes[k] * t.vector_size >= 64]

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
                    step = self.t.load("i64", "%steps", step_index + inner)
                    if shape[inner] > 1:
                        tight = t.emit(f"icmp eq i64 {step}, {t.size * prod(shape[inner + 1 :])}")
                        packed = t.emit(f"and i1 {packed}, {tight}")
                t.do(f"store i64 {step}, ptr {t.at('i64', '%cores', k * (DIMENSIONS + 1) + axis)}")
            step_index += len(shape)
            flag = t.emit(f"zext i1 {packed} to i64")
            if k in self.streamed:
                flag = self._placed(k, packed, flag)
            t.do(f"store i64 {flag}, ptr {t.at('i64', '%cores', k * (DIMENSIONS + 1) + DIMENSIONS)}")

    def is_streaming(self) -> str:
        """Emit: whether the outputs are so large that they are written past the caches."""
        return self.t.emit(f"icmp ugt i64 %count, {STREAM // (self.t.size * sum(self.sizes[self.inputs :]))}")

    def _placed(self, k: int, packed: str, flag: str) -> str:
        """2 for an output that is written past the caches: many rows without gaps."""
        t, row_size = self.t, self.t.size * self.sizes[k]
        row = self.t.load("i64", "%steps", k)
        start = t.emit(f"ptrtoint ptr {self.t.load('ptr', '%args', k)} to i64")
        odd = t.emit(f"and i64 {start}, {t.size - 1}")
        conditions = [
            t.emit(f"icmp eq i64 {row}, {row_size}"),
            t.emit(f"icmp eq i64 {odd}, 0"),
            t.emit(f"icmp uge i64 %count, {t.width}"),
            self.is_streaming(),
        ]
        return t.emit(f"select i1 {t.all(packed, *conditions)}, i64 2, i64 {flag}")

    def _port(self, k: int, *, inward: bool) -> None:
        """Move one argument of one block of configurations."""
        t, s = self.t, self.t.scalar
        if not self.sizes[k]:
            return
        buffer = t.emit(f"getelementptr {t.vector}, ptr %block, i64 {self.firsts[k]}")
        start, row = self.t.load("ptr", "%args", k), self.t.load("i64", "%steps", k)
        packed = self.t.load("i64", "%cores", k * (DIMENSIONS + 1) + DIMENSIONS)
        passed = t.emit(f"mul i64 %done, {row}")
        here = t.emit(f"getelementptr i8, ptr {start}, i64 {passed}")
        tight = t.emit(f"icmp ne i64 {packed}, 0")
        t.do(f"br i1 {tight}, label %tight{k}, label %loose{k}, !prof !1")
        t.start(f"tight{k}")
        t.do(f"%whole{k} = icmp eq i64 %lanes, {t.width}")
        t.do(f"br i1 %whole{k}, label %whole{k}.rows, label %few{k}, !prof !1")
        self._rows(k, here, row, packed, buffer, inward=inward)
        t.start(f"few{k}")
        alone = t.emit("icmp eq i64 %lanes, 1")
        t.do(f"br i1 {alone}, label %single{k}, label %few{k}.rows")
        t.start(f"single{k}")
        if inward:
            broadcast_row(t, here, buffer, self.sizes[k])
        else:
            first_lane(t, here, buffer, self.sizes[k], self.columns[k])
        t.do(f"br label %moved{k}")
        t.start(f"loose{k}")
        core = t.emit(f"getelementptr i64, ptr %cores, i64 {k * (DIMENSIONS + 1)}")
        name, source, target = ("in", here, buffer) if inward else ("out", buffer, here)
        copied = f"ptr {source}, i64 %lanes, i64 {row}, ptr {core}, ptr @dims_{s}_{k}, ptr {target}"
        t.do(f"call void {t.runtime(f'copy_{name}')}({copied})")
        t.go_on(f"moved{k}")

    def _rows(self, k: int, here: str, row: str, packed: str, buffer: str, *, inward: bool) -> None:
        """Emit: copy rows of contiguous elements; the last row fills unused lanes.

        What spare lanes computed is what the last row's lane did, so writing it there once more changes nothing.
        """
        t = self.t
        t.start(f"whole{k}.rows")
        sources = {f"whole{k}.rows": row_pointers(t, here, row)}
        staged = k in self.streamed and not inward
        if staged:
            t.do(f"%stream{k} = icmp eq i64 {packed}, 2")
            t.do(f"br i1 %stream{k}, label %stage{k}, label %move{k}")
            t.start(f"stage{k}")
            sources[f"stage{k}"] = self._stage(k)
        t.do(f"br label %move{k}")
        t.start(f"few{k}.rows")
        sources[f"few{k}.rows"] = row_pointers(t, here, row, clamped=True)
        t.go_on(f"move{k}")
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
            self._send(here, k)
            t.do(f"br label %moved{k}")

    @property
    def stage(self) -> int:
        """Vectors of the stage: 64 bytes that are carried for each output, 64 for those of the last block, and a block."""
        return (len(self.streamed) + 1) * 64 // self.t.vector_size + self.largest if self.streamed else 0

    def _carried(self, k: int) -> str:
        """Emit: where the last bytes of an output are, some of which may not be written yet."""
        return self.t.at("i8", "%stage", 64 * self.streamed.index(k))

    def _board(self) -> str:
        """Emit: where a block is laid out."""
        return self.t.at("i8", "%stage", 64 * len(self.streamed) + 64)

    def _stage(self, k: int) -> list[str]:
        """Pointers to rows on the stage, behind the bytes that were carried."""
        t, board = self.t, self._board()
        _line(t, t.at("i8", board, -64), self._carried(k))
        return [t.at("i8", board, lane * t.size * self.sizes[k]) for lane in range(t.width)]

    def _send(self, here: str, k: int) -> None:
        """Emit: send the staged block; the first line of the first block only as far as it belongs to the output."""
        t, shift = self.t, self._shift(here)
        begun = t.emit("icmp ne i64 %done, 0")
        first = t.emit(f"select i1 {begun}, i64 0, i64 {shift}")
        second = t.emit(f"and i64 {t.emit(f'add i64 {first}, 63')}, -64")
        end = t.emit(f"add i64 {shift}, {t.size * t.width * self.sizes[k]}")
        self._call_send(here, self._board(), shift, self._carried(k), first, second, end)

    def finish(self) -> None:
        """Emit: write the lines that are not whole yet."""
        t = self.t
        for k in self.streamed:
            packed = t.load("i64", "%cores", k * (DIMENSIONS + 1) + DIMENSIONS)
            rows = t.emit(f"and i64 %count, {-t.width}")
            here = t.at("i8", t.load("ptr", "%args", k), t.emit(f"mul i64 {rows}, {t.size * self.sizes[k]}"))
            shift = self._shift(here)
            end = t.emit(f"select i1 {t.emit(f'icmp eq i64 {packed}, 2')}, i64 {shift}, i64 0")
            self._call_send(here, t.at("i8", self._carried(k), 64), end, self._board(), "0", end, end)

    def _shift(self, here: str) -> str:
        """Emit: bytes from the beginning of its cache line to a place."""
        return self.t.emit(f"and i64 {self.t.emit(f'ptrtoint ptr {here} to i64')}, 63")

    def _call_send(self, here: str, source: str, shift: str, carried: str, first: str, second: str, end: str) -> None:
        """Emit a call of ``send`` for two places and so many bytes before them."""
        t, back = self.t, self.t.emit(f"sub i64 0, {shift}")
        to, source = (t.at("i8", place, back) for place in (here, source))
        arguments = f"ptr {to}, ptr {source}, ptr {carried}, i64 {first}, i64 {second}, i64 {end}"
        t.do(f"call void {t.runtime('send')}({arguments})")


#: Greatest size of a block of configurations on the stack, bytes.
STACK = 32768


def loop(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit ``void @loop(ptr args, ptr dimensions, ptr steps, ptr data)``: the inner loop of a NumPy gufunc."""
    return _Loop(tape, t, plan).text()


class _Loop:
    """Writes the loop."""

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t, self.plan = tape, t, plan
        self.ports = ArgumentPorts(tape, t)
        self.sizes = {"in": tape.input_count, "out": len(tape.results), "space": plan.space}

    def text(self) -> str:
        """Emit the loop and the copying of its arguments."""
        t, moving = self.t, self.ports.text()
        t.begin()
        self._main()
        head = f"define void @loop_{t.scalar}(ptr %args, ptr %dimensions, ptr %steps, ptr %data) #0 {{"
        return "\n".join([moving, head, *t.lines, "}"]) + "\n"

    def _main(self) -> None:
        """Some blocks of configurations after the others: in, computed, out."""
        t, together = self.t, self.plan.together
        sizes = {name: together * size for name, size in self.sizes.items()}
        sizes["stage"] = self.ports.stage
        memory = self._room(sizes)
        t.do(f"%cores = alloca [{len(self.ports.shapes) * (DIMENSIONS + 1)} x i64]")
        t.do("%count = load i64, ptr %dimensions")
        self.ports.cores()
        for number in range(together):
            block = t.emit(f"getelementptr {t.vector}, ptr %out, i64 {number * self.sizes['out']}")
            self._clear_loose(block)
            set_constants(t, self.tape, block, looped=True, unread=unread(self.ports.columns, self.ports.firsts))
        before = t.block
        t.go_on("round")
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
        t.go_on("written")
        t.do("%next = add i64 %done, %rows")
        t.do("br label %round")
        t.start("end")
        if self.ports.streamed:
            streamed = self.ports.is_streaming()
            t.do(f"br i1 {streamed}, label %fence, label %finish, !prof !0")
            t.start("fence")  # non-temporal stores become visible to other threads before later ones
            self.ports.finish()
            t.do("fence seq_cst")
            t.go_on("finish")
        if memory:
            t.do(f"call void {t.runtime('free')}(ptr {memory})")
        t.do("ret void")

    def _clear_loose(self, block: str) -> None:
        """Emit: clear elements of the block that are zeros of outputs whose rows are not written as a whole."""
        t, ports = self.t, self.ports
        for k, columns in enumerate(ports.columns):
            if columns is None or not columns.cleared:
                continue
            tight = t.load("i64", "%cores", k * (DIMENSIONS + 1) + DIMENSIONS)
            with t.when(t.emit(f"icmp eq i64 {tight}, 0"), f"zeros{t.names}"):
                clear(t, t.at(t.vector, block, ports.firsts[k]), ports.sizes[k] * t.vector_size)

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
            operands = [f"{argument.split()[0]} {value}" for argument, value in zip(ARGUMENTS, values, strict=True)]
            t.do(f"call void @{name}_{t.tag}({', '.join(operands)})")

    def _room(self, sizes: dict[str, int]) -> str:
        """Room for vectors: on the stack, or, if it is much, on the heap, for the stack of a thread may be small.

        Returns what is to be freed, empty where that is nothing.
        """
        t, align = self.t, max(64, self.t.vector_size)
        if sum(sizes.values()) * t.vector_size <= STACK:
            for name, size in sizes.items():
                t.do(f"%{name} = alloca [{max(1, size)} x {t.vector}], align {align}")
            return ""
        whole = {name: (size * t.vector_size + align - 1) // align * align for name, size in sizes.items()}
        memory, base = aligned_memory(t, str(sum(whole.values()) + align), align)
        passed = 0
        for name, size in whole.items():
            t.do(f"%{name} = getelementptr i8, ptr {base}, i64 {passed}")
            passed += size
        return memory
