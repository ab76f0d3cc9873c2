"""Around the arithmetic: moving rows of configurations into vector lanes and back, and the NumPy inner loop, as LLVM text.

A block of `width` configurations is laid out with one vector per element (``in``, ``out`` of the body). Rows whose
elements lie side by side are moved by straight-line code; anything else, and the last few rows, by loops over any
strides, the spare lanes repeating the last row. So every configuration takes the same arithmetic however it comes.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.llvm_text import Text
from linkwise.kernel.tape import Shape, Tape

DIMENSIONS = 3
"""Greatest number of core dimensions of an input or output."""


def copying(t: Text) -> str:
    """Emit ``copy_in`` and ``copy_out``: an argument with any strides to and from vector lanes."""
    s, w, align = t.scalar, t.width, t.size
    return f"""
define internal void @copy_in_{t.tag}(ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst) noinline nounwind {{
entry:
  %last = sub i64 %lanes, 1
  br label %loop
loop:
  %e = phi i64 [ 0, %entry ], [ %e1, %next ]
  %off = call i64 @element(i64 %e, ptr %steps, ptr %dims)
  %from = getelementptr i8, ptr %src, i64 %off
  %to = getelementptr {t.vector}, ptr %dst, i64 %e
  br label %lane
lane:
  %l = phi i64 [ 0, %loop ], [ %l1, %lane ]
  %over = icmp ugt i64 %l, %last
  %real = select i1 %over, i64 %last, i64 %l
  %shift = mul i64 %real, %row
  %p = getelementptr i8, ptr %from, i64 %shift
  %x = load {s}, ptr %p, align 1
  %q = getelementptr {s}, ptr %to, i64 %l
  store {s} %x, ptr %q, align {align}
  %l1 = add i64 %l, 1
  %more = icmp ult i64 %l1, {w}
  br i1 %more, label %lane, label %next
next:
  %e1 = add i64 %e, 1
  %count = load i64, ptr %dims
  %again = icmp ult i64 %e1, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}}

define internal void @copy_out_{t.tag}(ptr %src, i64 %lanes, i64 %row, ptr %steps, ptr %dims, ptr %dst) noinline nounwind {{
entry:
  br label %loop
loop:
  %e = phi i64 [ 0, %entry ], [ %e1, %next ]
  %off = call i64 @element(i64 %e, ptr %steps, ptr %dims)
  %to = getelementptr i8, ptr %dst, i64 %off
  %from = getelementptr {t.vector}, ptr %src, i64 %e
  br label %lane
lane:
  %l = phi i64 [ 0, %loop ], [ %l1, %lane ]
  %q = getelementptr {s}, ptr %from, i64 %l
  %x = load {s}, ptr %q, align {align}
  %shift = mul i64 %l, %row
  %p = getelementptr i8, ptr %to, i64 %shift
  store {s} %x, ptr %p, align 1
  %l1 = add i64 %l, 1
  %more = icmp ult i64 %l1, %lanes
  br i1 %more, label %lane, label %next
next:
  %e1 = add i64 %e, 1
  %count = load i64, ptr %dims
  %again = icmp ult i64 %e1, %count
  br i1 %again, label %loop, label %done
done:
  ret void
}}
"""


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
        t.do(f"%in = alloca [{max(1, sum(self.sizes[: self.inputs]))} x {t.vector}], align {align}")
        t.do(f"%out = alloca [{max(1, sum(self.sizes[self.inputs :]))} x {t.vector}], align {align}")
        t.do(f"%cores = alloca [{len(self.shapes) * (DIMENSIONS + 1)} x i64]")
        t.do("%count = load i64, ptr %dimensions")
        self._cores()
        self._constants()
        t.do("br label %block")
        t.start("block")
        t.do("%done = phi i64 [ 0, %entry ], [ %next, %compute ]")
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
        t.do("ret void")

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

    def _constants(self) -> None:
        """Set once what outputs do not depend on anything."""
        for k, slot in enumerate(self.tape.results):
            number = self.tape.constant(slot)
            if number is not None:
                self._store(self.t.number(number), "%out", k)

    def _store(self, value: str, buffer: str, k: int) -> None:
        place = self.t.emit(f"getelementptr {self.t.vector}, ptr {buffer}, i64 {k}")
        self.t.do(f"store {self.t.vector} {value}, ptr {place}, align {self.t.vector_size}")

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
        (self._rows_in if inward else self._rows_out)(rows, self.sizes[k], buffer)
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

    def _rows_in(self, rows: list[str], size: int, buffer: str) -> None:
        """Transpose rows to lanes, two columns at a time: pieces of two elements, even rows and odd rows, interleaved."""
        t, pair = self.t, f"<2 x {self.t.scalar}>"
        for column in range(0, size, 2):
            if column + 1 == size:
                self._column_in(rows, column, buffer)
                continue
            pieces = []
            for row in rows:
                address = t.emit(f"getelementptr {t.scalar}, ptr {row}, i64 {column}")
                pieces.append(t.emit(f"load {pair}, ptr {address}, align {t.size}"))
            even, odd = _joined(t, pieces[0::2]), _joined(t, pieces[1::2])
            for offset in (0, 1):
                self._store(_shuffle(t, even, odd, t.width, _zipped(t.width, offset)), buffer, column + offset)

    def _column_in(self, rows: list[str], column: int, buffer: str) -> None:
        t, value = self.t, "poison"
        for lane, row in enumerate(rows):
            address = t.emit(f"getelementptr {t.scalar}, ptr {row}, i64 {column}")
            number = t.emit(f"load {t.scalar}, ptr {address}, align {t.size}")
            value = t.emit(f"insertelement {t.vector} {value}, {t.scalar} {number}, i32 {lane}")
        self._store(value, buffer, column)

    def _rows_out(self, rows: list[str], size: int, buffer: str) -> None:
        """Transpose lanes to rows in registers, four columns at a time where vectors are long enough, else two."""
        t, column = self.t, 0
        while column < size:
            values = [self._element(buffer, column + offset) for offset in range(min(4, size - column))]
            if len(values) < 4 or t.width < 4:
                values = values[:2]
            if len(values) == 1:
                for lane, row in enumerate(rows):
                    number = t.emit(f"extractelement {t.vector} {values[0]}, i32 {lane}")
                    self._put(number, t.scalar, row, column)
            else:
                self._put_pieces(rows, column, _interleaved(t, values), len(values))
            column += len(values)

    def _put_pieces(self, rows: list[str], column: int, vectors: list[list[str]], length: int) -> None:
        """Store the pieces that interleaved vectors consist of: even rows of the first list, odd rows of the second."""
        t = self.t
        per_vector = t.width // length
        for lane, row in enumerate(rows):
            vector = vectors[lane % 2][lane // 2 // per_vector]
            at = lane // 2 % per_vector * length
            mask = ", ".join(f"i32 {at + k}" for k in range(length))
            piece = t.emit(f"shufflevector {t.vector} {vector}, {t.vector} poison, <{length} x i32> <{mask}>")
            self._put(piece, f"<{length} x {t.scalar}>", row, column)

    def _put(self, value: str, kind: str, row: str, column: int) -> None:
        address = self.t.emit(f"getelementptr {self.t.scalar}, ptr {row}, i64 {column}")
        self.t.do(f"store {kind} {value}, ptr {address}, align {self.t.size}")

    def _element(self, buffer: str, k: int) -> str:
        place = self.t.emit(f"getelementptr {self.t.vector}, ptr {buffer}, i64 {k}")
        return self.t.emit(f"load {self.t.vector}, ptr {place}, align {self.t.vector_size}")


def _lines(t: Text) -> str:
    return "\n".join(t.lines) + "\n"


def broadcast_row(t: Text, source: str, buffer: str, size: int) -> None:
    """Emit: every lane gets the one row."""
    for k in range(size):
        address = t.emit(f"getelementptr {t.scalar}, ptr {source}, i64 {k}")
        number = t.emit(f"load {t.scalar}, ptr {address}, align {t.size}")
        first = t.emit(f"insertelement {t.vector} poison, {t.scalar} {number}, i32 0")
        value = t.emit(f"shufflevector {t.vector} {first}, {t.vector} poison, <{t.width} x i32> zeroinitializer")
        place = t.emit(f"getelementptr {t.vector}, ptr {buffer}, i64 {k}")
        t.do(f"store {t.vector} {value}, ptr {place}, align {t.vector_size}")


def first_lane(t: Text, target: str, buffer: str, size: int) -> None:
    """Emit: the one row is lane 0."""
    for k in range(size):
        place = t.emit(f"getelementptr {t.vector}, ptr {buffer}, i64 {k}")
        number = t.emit(f"load {t.scalar}, ptr {place}, align {t.size}")
        address = t.emit(f"getelementptr {t.scalar}, ptr {target}, i64 {k}")
        t.do(f"store {t.scalar} {number}, ptr {address}, align {t.size}")


def _zipped(width: int, offset: int) -> list[int]:
    """Indices that take element ``offset`` of each pair of the first vector and of the second, in turn."""
    return [index for k in range(0, width, 2) for index in (k + offset, width + k + offset)]


def _interleaved(t: Text, columns: list[str]) -> list[list[str]]:
    """Vectors made of pieces of rows, one element per column, for even rows and for odd rows: two or four columns."""
    pairs = [[_shuffle(t, a, b, t.width, _zipped(t.width, odd)) for odd in (0, 1)] for a, b in _twos(columns)]
    if len(pairs) == 1:
        return [[value] for value in pairs[0]]
    made = []
    for left, right in zip(*pairs, strict=True):
        vectors = []
        for half in range(2):
            starts = range(half * t.width // 2, (half + 1) * t.width // 2, 2)
            indices = [index for k in starts for index in (k, k + 1, t.width + k, t.width + k + 1)]
            vectors.append(_shuffle(t, left, right, t.width, indices))
        made.append(vectors)
    return made


def _twos(values: list[str]) -> list[tuple[str, str]]:
    return list(zip(values[0::2], values[1::2], strict=True))


def _joined(t: Text, pieces: list[str]) -> str:
    """One vector from short vectors laid end to end."""
    length = 2
    while len(pieces) > 1:
        pieces = [
            t.emit(
                f"shufflevector <{length} x {t.scalar}> {a}, <{length} x {t.scalar}> {b}, "
                f"<{2 * length} x i32> <{', '.join(f'i32 {k}' for k in range(2 * length))}>"
            )
            for a, b in zip(pieces[0::2], pieces[1::2], strict=True)
        ]
        length *= 2
    return pieces[0]


def _shuffle(t: Text, a: str, b: str, width: int, indices: list[int]) -> str:
    mask = ", ".join(f"i32 {k}" for k in indices)
    return t.emit(f"shufflevector {t.vector} {a}, {t.vector} {b}, <{width} x i32> <{mask}>")
