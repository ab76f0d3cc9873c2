"""Outputs with many constants: their columns are written from a table instead of from vector lanes, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from linkwise.kernel.llvm_rows import group_length, put
from linkwise.kernel.llvm_text import Text, scalar


class Columns:
    """Which groups of columns of an output are constant: tables behind the code, for outputs with many.

    All columns are gone through in one order, for each piece of a row is best written while its cache line is there.
    """

    def __init__(self, t: Text, name: str, numbers: Sequence[float | None]) -> None:
        self.name, self.length, self.numbers = name, group_length(t), numbers
        starts = range(0, len(numbers) // self.length * self.length, self.length)
        self.constant = [all(number is not None for number in numbers[k : k + self.length]) for k in starts]

    def tables(self, t: Text) -> str:
        """Emit the tables: whether a column begins a constant group, and one row of numbers."""
        size = len(self.numbers)
        flags = ", ".join(
            f"i8 {int(k // self.length < len(self.constant) and self.constant[k // self.length])}" for k in range(size)
        )
        row = ", ".join(scalar(0.0 if number is None else number, t.scalar) for number in self.numbers)
        return (
            f"@{self.name}_constant = internal constant [{size} x i8] [{flags}]\n"
            f"@{self.name}_row = internal constant [{size} x {t.scalar}] [{row}]"
        )

    def choose(self, t: Text, column: str, rows: list[str], move: Callable[[], None]) -> None:
        """Emit: write a group of constants to all rows, or move what was computed."""
        kind, label = f"<{self.length} x {t.scalar}>", f"group{t.names}"
        place = t.emit(f"getelementptr i8, ptr @{self.name}_constant, i64 {column}")
        flag = t.emit(f"load i8, ptr {place}")
        same = t.emit(f"icmp ne i8 {flag}, 0")
        t.do(f"br i1 {same}, label %{label}.same, label %{label}.other")
        t.start(f"{label}.same")
        place = t.emit(f"getelementptr {t.scalar}, ptr @{self.name}_row, i64 {column}")
        numbers = t.emit(f"load {kind}, ptr {place}, align {t.size}")
        for row in rows:
            put(t, numbers, kind, row, column)
        t.do(f"br label %{label}.done")
        t.start(f"{label}.other")
        move()
        t.do(f"br label %{label}.done")
        t.start(f"{label}.done")
