"""Transposition of contiguous rows of configurations into vector lanes and back, as LLVM text.

``buffer`` names a block with one vector per element, ``rows`` the pointers to the rows, one per lane.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod

from linkwise.kernel.backends.llvm.text import Text, scalar
from linkwise.kernel.tape import Tape

#: Elements up to which code is written out for each; more are moved in a loop.
UNROLLED = 32

#: Elements of an output from which on rows that are mostly zeros are cleared, and the others written over them: where rows
#: are transposed, and where there is only one.
CLEARED, CLEARED_ALONE = 1000, 64


def aligned_memory(t: Text, size: str, align: int) -> tuple[str, str]:
    """Emit: so many bytes of memory, which is to be freed, and the first place in it that is aligned."""
    memory = t.emit(f"call ptr {t.runtime('malloc')}(i64 {size})")
    t.do(f"br i1 {t.emit(f'icmp eq ptr {memory}, null')}, label %stop, label %room, !prof !0")
    t.start("stop")
    t.do("call void @llvm.trap()")  # a result that was not computed must not pass for one
    t.do("unreachable")
    t.start("room")
    place = t.emit(f"add i64 {t.emit(f'ptrtoint ptr {memory} to i64')}, {align - 1}")
    return memory, t.emit(f"inttoptr i64 {t.emit(f'and i64 {place}, {-align}')} to ptr")


def set_constants(t: Text, tape: Tape, buffer: str, *, looped: bool = False, unread: Container[int] = frozenset()) -> None:
    """Emit: initialize outputs that are constant, except unread ones.

    ``looped`` lets a run of one number be set in a loop.
    """
    numbers = [(k, None if k in unread else tape.constant(slot)) for k, slot in enumerate(tape.results)]
    for value, run in groupby(numbers, lambda pair: pair[1]):
        if value is None:
            continue
        places = [k for k, _ in run]

        def fill(k: str, first: int = places[0], number: str = t.number(value)) -> None:
            t.put(number, t.at(t.vector, buffer, first), k)

        each(t, len(places), fill, 4 if looped else len(places))


def each(t: Text, count: int, act: Callable[[str], None], unrolled: int = UNROLLED, step: int = 1) -> None:
    """Emit: act for 0, step, 2 step, ... below count; written out if there are few, else in a loop."""
    if count <= unrolled * step:
        for k in range(0, count, step):
            act(str(k))
        return
    with t.loop(f"each{t.names}", count, step=step) as place:
        act(place)


def each_in_turn(t: Text, count: int, act: Callable[[str, int], None]) -> None:
    """Emit: act for 0, 1, ... below count, as a start and an offset; eight to a turn of a loop if there are many."""
    turns = 8 if count > UNROLLED else 1
    whole = count // turns * turns

    def some(k: str) -> None:
        for offset in range(turns):
            act(k, offset)

    each(t, whole, some, UNROLLED // turns, turns)
    for k in range(whole, count):
        act(str(k), 0)


def row_pointers(t: Text, start: str, row: str, *, clamped: bool = False) -> list[str]:
    """Emit: where the row of each lane is; where some of ``%lanes`` are spare, these have the last row."""
    rows = [start]
    for lane in range(1, t.width):
        step = t.emit(f"select i1 {t.emit(f'icmp ult i64 {lane}, %lanes')}, i64 {row}, i64 0") if clamped else row
        rows.append(t.at("i8", rows[-1], step))
    return rows


def rows_in(t: Text, rows: list[str], buffer: str, size: int) -> None:
    """Transpose rows to lanes, two columns at a time: pieces of two elements, even rows and odd rows, interleaved."""
    if t.width == 1:
        broadcast_row(t, rows[0], buffer, size)
        return
    for column in range(0, size, 2):
        if column + 1 == size:
            column_in(t, rows, column, buffer)
            continue
        two_columns_in(t, rows, column, buffer)


def two_columns_in(t: Text, rows: list[str], column: object, buffer: str) -> None:
    """Emit: two columns from one on of all rows, to lanes."""
    pieces = []
    for row in rows:
        pieces.append(t.emit(f"load <2 x {t.scalar}>, ptr {t.at(t.scalar, row, column)}, align {t.size}"))
    even, odd = _joined(t, pieces[0::2]), _joined(t, pieces[1::2])
    there = t.at(t.vector, buffer, column)
    for offset in (0, 1):
        t.put(_shuffle(t, even, odd, t.width, _zipped(t.width, offset)), there, offset)


def column_in(t: Text, rows: list[str], column: object, buffer: str) -> None:
    """Emit: one column of all rows, to lanes."""
    value = "poison"
    for lane, row in enumerate(rows):
        number = t.emit(f"load {t.scalar}, ptr {t.at(t.scalar, row, column)}, align {t.size}")
        value = t.emit(f"insertelement {t.vector} {value}, {t.scalar} {number}, i32 {lane}")
    t.put(value, buffer, column)


def rows_out(t: Text, rows: list[str], buffer: str, size: int, columns: Columns | None = None) -> None:
    """Transpose lanes to rows in registers, four columns at a time where vectors are long enough, else two."""
    if t.width == 1:
        first_lane(t, rows[0], buffer, size, columns)
        return
    length = group_length(t)
    whole = size // length * length

    def move(column: str) -> None:
        if columns is None:
            group_out(t, rows, buffer, column)
        else:
            columns.choose(t, column, rows, lambda: group_out(t, rows, buffer, column))

    if columns is not None and columns.cleared:
        for row in rows:
            clear(t, row, size * t.size)
        columns.each_written(t, lambda column: group_out(t, rows, buffer, column))
    else:
        each(t, whole, move, UNROLLED // length, length)
    for column in range(whole, size, 2):
        group_out(t, rows, buffer, str(column), min(2, size - column))


def group_length(t: Text) -> int:
    """Number of columns that are copied together from lanes to rows."""
    return 4 if t.width >= 4 else 2


def group_out(t: Text, rows: list[str], buffer: str, column: str, length: int = 0) -> None:
    """Move columns from one on to all rows."""
    first = t.emit(f"getelementptr {t.vector}, ptr {buffer}, i64 {column}")
    values = [t.get(first, offset) for offset in range(length or group_length(t))]
    if len(values) > 1:
        _put_pieces(t, rows, column, _interleaved(t, values), len(values))
        return
    for lane, row in enumerate(rows):
        number = t.emit(f"extractelement {t.vector} {values[0]}, i32 {lane}")
        put(t, number, t.scalar, row, column)


def _put_pieces(t: Text, rows: list[str], column: str, vectors: list[list[str]], length: int) -> None:
    """Store the pieces that interleaved vectors consist of: even rows of the first list, odd rows of the second."""
    per_vector = t.width // length
    for lane, row in enumerate(rows):
        vector = vectors[lane % 2][lane // 2 // per_vector]
        at = lane // 2 % per_vector * length
        mask = ", ".join(f"i32 {at + k}" for k in range(length))
        piece = t.emit(f"shufflevector {t.vector} {vector}, {t.vector} poison, <{length} x i32> <{mask}>")
        put(t, piece, f"<{length} x {t.scalar}>", row, column)


def put(t: Text, value: str, kind: str, row: str, column: str) -> None:
    """Store a piece of a row."""
    t.do(f"store {kind} {value}, ptr {t.at(t.scalar, row, column)}, align {t.size}")


def broadcast_row(t: Text, source: str, buffer: str, size: int) -> None:
    """Emit: every lane gets the one row."""

    def move(k: str, offset: int) -> None:
        number = t.emit(f"load {t.scalar}, ptr {_behind(t, t.scalar, source, k, offset)}, align {t.size}")
        value = t.broadcast(number)
        t.do(f"store {t.vector} {value}, ptr {_behind(t, t.vector, buffer, k, offset)}, align {t.vector_size}")

    each_in_turn(t, size, move)


def clear(t: Text, start: str, count: int) -> None:
    """Emit: so many bytes are zero."""
    t.emit(f"call ptr {t.runtime('memset')}(ptr {start}, i32 0, i64 {count})")


def first_lane(t: Text, target: str, buffer: str, size: int, columns: Columns | None = None) -> None:
    """Emit: the one row is lane 0."""

    def move(k: str, offset: int) -> None:
        number = t.emit(f"load {t.scalar}, ptr {_behind(t, t.vector, buffer, k, offset)}, align {t.size}")
        t.do(f"store {t.scalar} {number}, ptr {_behind(t, t.scalar, target, k, offset)}, align {t.size}")

    if columns is None or not columns.cleared:
        each_in_turn(t, size, move)
        return
    clear(t, target, size * t.size)

    def group(column: str) -> None:
        for offset in range(columns.length):
            move(column, offset)

    columns.each_written(t, group)
    for k in range(len(columns.constant) * columns.length, size):
        move(str(k), 0)


def _behind(t: Text, kind: str, start: str, k: str, offset: int) -> str:
    """The place of element k + offset."""
    place = t.emit(f"getelementptr {kind}, ptr {start}, i64 {k}")
    return t.emit(f"getelementptr {kind}, ptr {place}, i64 {offset}") if offset else place


def _zipped(width: int, offset: int) -> list[int]:
    """Indices that take element ``offset`` of each pair of the first vector and of the second, in turn."""
    return [index for k in range(0, width, 2) for index in (k + offset, width + k + offset)]


def _interleaved(t: Text, columns: list[str]) -> list[list[str]]:
    """Vectors of pieces of rows, one element per column, for even rows and for odd rows: two or four columns."""
    pairs = [[_shuffle(t, a, b, t.width, _zipped(t.width, odd)) for odd in (0, 1)] for a, b in _twos(columns)]
    if len(pairs) == 1:
        return [[value] for value in pairs[0]]
    instructions = []
    for left, right in zip(*pairs, strict=True):
        vectors = []
        for half in range(2):
            starts = range(half * t.width // 2, (half + 1) * t.width // 2, 2)
            indices = [index for k in starts for index in (k, k + 1, t.width + k, t.width + k + 1)]
            vectors.append(_shuffle(t, left, right, t.width, indices))
        instructions.append(vectors)
    return instructions


def _twos(values: list[str]) -> list[tuple[str, str]]:
    return list(zip(values[0::2], values[1::2], strict=True))


def _joined(t: Text, pieces: list[str]) -> str:
    """Concatenate short vectors."""
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


class Columns:
    """Tables of constant column groups of an output, for outputs with many of them.

    All columns are gone through in one order, for each piece of a row is best written while its cache line is there.
    """

    def __init__(self, t: Text, name: str, numbers: Sequence[float | None], least: int) -> None:
        self.name, self.length, self.numbers = name, group_length(t), numbers
        starts = range(0, len(numbers) // self.length * self.length, self.length)
        self.constant = [all(number is not None for number in numbers[k : k + self.length]) for k in starts]
        self.written = [k for k in starts if any(number != 0.0 for number in numbers[k : k + self.length])]
        self.cleared = len(numbers) >= least and 2 * len(self.written) <= len(starts)

    @property
    def unread(self) -> set[int]:
        """Columns that are cleared, not read."""
        if not self.cleared:
            return set()
        whole, length = set(range(len(self.constant) * self.length)), self.length
        return whole - {k for start in self.written for k in range(start, start + length)}

    def each_written(self, t: Text, move: Callable[[str], None]) -> None:
        """Emit code for each group of columns that is not zero."""
        if not self.written:
            return
        with t.loop(f"written{t.names}", len(self.written)) as k:
            column = t.emit(f"zext i32 {t.load('i32', f'@{self.name}_written', k)} to i64")
            move(column)

    def tables(self, t: Text) -> str:
        """Emit the tables: which groups are written; or whether a column begins a constant one, and one row of numbers."""
        size = len(self.numbers)
        if self.cleared:
            starts = ", ".join(f"i32 {k}" for k in self.written or [0])
            return f"@{self.name}_written = internal constant [{len(self.written or [0])} x i32] [{starts}]"
        flags = ", ".join(
            f"i8 {int(k // self.length < len(self.constant) and self.constant[k // self.length])}" for k in range(size)
        )
        row = ", ".join(scalar(0.0 if number is None else number, t.scalar) for number in self.numbers)
        return (
            f"@{self.name}_constant = internal constant [{size} x i8] [{flags}]\n"
            f"@{self.name}_row = internal constant [{size} x {t.scalar}] [{row}]"
        )

    def choose(self, t: Text, column: str, rows: list[str], move: Callable[[], None]) -> None:
        """Emit: write a group of constants to all rows, or copy the computed values."""
        kind, label = f"<{self.length} x {t.scalar}>", f"group{t.names}"
        flag = t.load("i8", f"@{self.name}_constant", column)
        same = t.emit(f"icmp ne i8 {flag}, 0")
        t.do(f"br i1 {same}, label %{label}.same, label %{label}.other")
        t.start(f"{label}.same")
        numbers = t.emit(f"load {kind}, ptr {t.at(t.scalar, f'@{self.name}_row', column)}, align {t.size}")
        for row in rows:
            put(t, numbers, kind, row, column)
        t.do(f"br label %{label}.done")
        t.start(f"{label}.other")
        move()
        t.go_on(f"{label}.done")


def columns_of(t: Text, tape: Tape, name: str, least: int) -> list[Columns | None]:
    """Constant columns of each output, if they are worth a table; rows of at least `least` elements may be cleared."""
    results: list[Columns | None] = []
    first = 0
    for k, shape in enumerate(tape.outputs.values()):
        slots = tape.results[first : first + prod(shape)]
        columns = Columns(t, f"{name}_{k}", [tape.constant(slot) for slot in slots], least)
        results.append(columns if any(columns.constant) else None)
        first += len(slots)
    return results


def unread(outputs: Sequence[Columns | None], firsts: Sequence[int]) -> set[int]:
    """Unread elements of a block, which contains each output from its first element on."""
    return {first + k for columns, first in zip(outputs, firsts, strict=True) if columns for k in columns.unread}


def port(t: Text, name: str, size: int, *, inward: bool) -> str:
    """Emit ``@read_NAME`` or ``@write_NAME``: the rows of one array at one instant, to or from lanes.

    Spare lanes get the last row, and are not written.
    """
    data, time = t.load("ptr", "%port", 0), t.load("i64", "%port", 2)
    t.do(f"%row = load i64, ptr {t.at('i64', '%port', 1)}")
    index = "%k"
    if inward:
        last = t.load("i64", "%port", 3)
        index = t.emit(f"select i1 {t.emit(f'icmp ugt i64 %k, {last}')}, i64 {last}, i64 %k")
    offset = t.emit(f"add i64 {t.emit('mul i64 %begin, %row')}, {t.emit(f'mul i64 {index}, {time}')}")
    t.do(f"%here = getelementptr i8, ptr {data}, i64 {offset}")
    t.do(f"%all = icmp eq i64 %lanes, {t.width}")
    t.do("br i1 %all, label %fast, label %slow")
    t.start("fast")
    (rows_in if inward else rows_out)(t, row_pointers(t, "%here", "%row"), "%block", size)
    t.do("ret void")
    t.start("slow")
    _slowly(t, size, inward=inward)
    head = f"define internal void @{'read' if inward else 'write'}_{name}"
    return t.function(f"{head}(ptr %port, i64 %begin, i64 %lanes, i64 %k, ptr %block) noinline").rstrip()


def _slowly(t: Text, size: int, *, inward: bool) -> None:
    """Emit: one element of one lane after the other; unused lanes get the last row."""
    last = t.emit("sub i64 %lanes, 1")
    with t.loop("lane", t.width if inward else "%lanes") as lane:
        beyond = t.emit(f"icmp ugt i64 {lane}, {last}")
        row = t.emit(f"select i1 {beyond}, i64 {last}, i64 {lane}")
        start = t.at("i8", "%here", t.emit(f"mul i64 {row}, %row"))
        with t.loop("element", size) as element:
            far = t.at(t.scalar, start, element)
            wide = t.emit(f"mul i64 {element}, {t.width}")
            near = t.at(t.scalar, "%block", t.emit(f"add i64 {wide}, {lane}"))
            t.copy(*((near, far) if inward else (far, near)), t.size, t.size)
    t.do("ret void")


def moving(t: Text) -> str:
    """Emit ``void @move(ptr to, ptr from, i64 count)``: so many vectors, one or more, from one place to another."""
    t = replace(t, lines=[], state={"names": 0, "block": "entry"})
    with t.loop("loop", "%count") as k:
        source, target = t.at(t.vector, "%from", k), t.at(t.vector, "%to", k)
        value = t.emit(f"load {t.vector}, ptr {source}, align {t.vector_size}")
        t.do(f"store {t.vector} {value}, ptr {target}, align {t.vector_size}")
    t.do("ret void")
    return t.function("define internal void @move(ptr %to, ptr %from, i64 %count)", kind="noinline nounwind")
