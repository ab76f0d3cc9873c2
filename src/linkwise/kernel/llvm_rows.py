"""Moving rows of configurations into vector lanes and back where their elements lie side by side, as LLVM text.

``buffer`` names a block with one vector per element, ``rows`` the pointers to the rows, one per lane.
"""

from __future__ import annotations

from linkwise.kernel.llvm_text import Text
from linkwise.kernel.tape import Tape


def set_constants(t: Text, tape: Tape, buffer: str) -> None:
    """Emit: what outputs do not depend on anything is set once."""
    for k, slot in enumerate(tape.results):
        number = tape.constant(slot)
        if number is not None:
            _store(t, t.number(number), buffer, k)


def rows_in(t: Text, rows: list[str], buffer: str, size: int) -> None:
    """Transpose rows to lanes, two columns at a time: pieces of two elements, even rows and odd rows, interleaved."""
    pair = f"<2 x {t.scalar}>"
    for column in range(0, size, 2):
        if column + 1 == size:
            _column_in(t, rows, column, buffer)
            continue
        pieces = []
        for row in rows:
            address = t.emit(f"getelementptr {t.scalar}, ptr {row}, i64 {column}")
            pieces.append(t.emit(f"load {pair}, ptr {address}, align {t.size}"))
        even, odd = _joined(t, pieces[0::2]), _joined(t, pieces[1::2])
        for offset in (0, 1):
            _store(t, _shuffle(t, even, odd, t.width, _zipped(t.width, offset)), buffer, column + offset)


def _column_in(t: Text, rows: list[str], column: int, buffer: str) -> None:
    value = "poison"
    for lane, row in enumerate(rows):
        address = t.emit(f"getelementptr {t.scalar}, ptr {row}, i64 {column}")
        number = t.emit(f"load {t.scalar}, ptr {address}, align {t.size}")
        value = t.emit(f"insertelement {t.vector} {value}, {t.scalar} {number}, i32 {lane}")
    _store(t, value, buffer, column)


def rows_out(t: Text, rows: list[str], buffer: str, size: int) -> None:
    """Transpose lanes to rows in registers, four columns at a time where vectors are long enough, else two."""
    column = 0
    while column < size:
        values = [_element(t, buffer, column + offset) for offset in range(min(4, size - column))]
        if len(values) < 4 or t.width < 4:
            values = values[:2]
        if len(values) == 1:
            for lane, row in enumerate(rows):
                number = t.emit(f"extractelement {t.vector} {values[0]}, i32 {lane}")
                _put(t, number, t.scalar, row, column)
        else:
            _put_pieces(t, rows, column, _interleaved(t, values), len(values))
        column += len(values)


def _put_pieces(t: Text, rows: list[str], column: int, vectors: list[list[str]], length: int) -> None:
    """Store the pieces that interleaved vectors consist of: even rows of the first list, odd rows of the second."""
    per_vector = t.width // length
    for lane, row in enumerate(rows):
        vector = vectors[lane % 2][lane // 2 // per_vector]
        at = lane // 2 % per_vector * length
        mask = ", ".join(f"i32 {at + k}" for k in range(length))
        piece = t.emit(f"shufflevector {t.vector} {vector}, {t.vector} poison, <{length} x i32> <{mask}>")
        _put(t, piece, f"<{length} x {t.scalar}>", row, column)


def _put(t: Text, value: str, kind: str, row: str, column: int) -> None:
    address = t.emit(f"getelementptr {t.scalar}, ptr {row}, i64 {column}")
    t.do(f"store {kind} {value}, ptr {address}, align {t.size}")


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


def _store(t: Text, value: str, buffer: str, k: int) -> None:
    place = t.emit(f"getelementptr {t.vector}, ptr {buffer}, i64 {k}")
    t.do(f"store {t.vector} {value}, ptr {place}, align {t.vector_size}")


def _element(t: Text, buffer: str, k: int) -> str:
    place = t.emit(f"getelementptr {t.vector}, ptr {buffer}, i64 {k}")
    return t.emit(f"load {t.vector}, ptr {place}, align {t.vector_size}")
