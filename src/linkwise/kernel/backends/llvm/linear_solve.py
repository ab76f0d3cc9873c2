"""L' D L of a matrix by rows with known parents, and the solutions by it, as LLVM text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from linkwise.kernel.backends.llvm.phases import Words, phase_head
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.looped import PANEL, LinearSolve, ProgramLayout

#: Columns of a matrix that are solved together, `PANEL` at most: with two rows of L at a time they stay in 16 registers.
COLUMNS = (PANEL, 2, 1)


class LinearSolveWriter:
    """Writes L' D L and the solutions by it, in loops over rows and their parents.

    A row and its parent, where that stands just before it in the order, are worked on together: each number of the rows
    further up is then loaded and stored half as often.
    """

    def __init__(self, phase: LinearSolve, t: Text, layout: ProgramLayout) -> None:
        self.phase, self.t, self.layout = phase, t, layout

    def text(self, number: int) -> str:
        """Emit the function of the phase."""
        t = self.t
        t.begin()
        words = Words(t, self.layout).placed(self.layout)
        n = words["size nv"]
        self.parents = t.at("i64", "%head", words["parents"])
        self.order = t.at("i64", "%head", words["order"])
        matrix = words.array(self.phase.matrix)
        pivots = t.at(t.vector, matrix, t.emit(f"mul i64 {n}, {n}"))  # (behind the matrix: 1 / D)
        self.n, self.matrix, self.pivots = n, matrix, pivots
        self.panel = t.at(t.vector, pivots, n)
        self.last = t.emit(f"sub i64 {n}, 1")
        if not self.phase.factorised:
            self._factor()
        for k, (name, operation) in enumerate(self.phase.right):
            self._solve(f"r{k}", words.array(name), operation)
        t.do("ret void")
        return t.function(phase_head(number), kind="noinline #0")

    # ── what is emitted often ─────────────────────────────────────────────────────────────────────

    def _at(self, i: str, j: str, matrix: str = "") -> str:
        t = self.t
        return t.at(t.vector, matrix or self.matrix, t.emit(f"add i64 {t.emit(f'mul i64 {i}, {self.n}')}, {j}"))

    def _load(self, address: str) -> str:
        return self.t.emit(f"load {self.t.vector}, ptr {address}, align {self.t.vector_size}")

    def _store(self, value: str, address: str) -> None:
        self.t.do(f"store {self.t.vector} {value}, ptr {address}, align {self.t.vector_size}")

    def _placed(self, k: str) -> str:
        """The velocity that is number k in the order."""
        return self.t.emit(f"load i64, ptr {self.t.at('i64', self.order, k)}")

    def _parent(self, k: str) -> str:
        return self.t.emit(f"load i64, ptr {self.t.at('i64', self.parents, k)}")

    def _less(self, value: str, a: str, b: str) -> str:
        """Value - a b, fused where the processor can."""
        t = self.t
        if not t.has_fma:
            return t.op("fsub", value, t.op("fmul", a, b))
        return t.call("fma", t.negative(a), b, value)

    @contextmanager
    def _up(self, name: str, start: str) -> Iterator[str]:
        """Emit a loop over a velocity and its parents."""
        with self._up_with(name, start, []) as (k, _, _):
            yield k

    @contextmanager
    def _up_with(self, name: str, start: str, values: list[str]) -> Iterator[tuple[str, list[str], list[str]]]:
        """As `_up`, with loop-carried values: their names in the loop and after it, and their updates."""
        t, before = self.t, self.t.block
        t.go_on(f"{name}.test")
        place = len(t.lines)
        t.do(f"%{name}.more = icmp sge i64 %{name}.k, 0")
        t.do(f"br i1 %{name}.more, label %{name}, label %{name}.done")
        t.start(name)
        names = [f"%{name}.s{k}" for k in range(len(values))]
        changed: list[str] = []
        yield f"%{name}.k", names, changed
        after = self._parent(f"%{name}.k")
        phis = [f"  %{name}.k = phi i64 [ {start}, %{before} ], [ {after}, %{t.block} ]"]
        for total, value, other in zip(names, values, changed, strict=True):
            phis.append(f"  {total} = phi {t.vector} [ {value}, %{before} ], [ {other}, %{t.block} ]")
        t.lines[place:place] = phis
        t.do(f"br label %{name}.test")
        t.start(f"{name}.done")

    @contextmanager
    def _rows(self, name: str, top: str, *, inward: bool) -> Iterator[Iterator[tuple[str, str]]]:
        """Emit a loop over the rows up to number `top` of the order: first for a row and the parent before it, then for one.

        It yields an iterator of both cases, (child, parent) and (row, "").
        """
        t, before, step = self.t, self.t.block, -1 if inward else 1
        t.go_on(f"{name}.test")
        place = len(t.lines)
        at = f"%{name}.at"
        t.do(f"%{name}.more = icmp {'sge' if inward else 'sle'} i64 {at}, {0 if inward else top}")
        t.do(f"br i1 %{name}.more, label %{name}.any, label %{name}.done")
        t.start(f"{name}.any")
        beside = t.emit(f"add i64 {at}, {step}")
        inside = t.emit(f"icmp {'sge' if inward else 'sle'} i64 {beside}, {0 if inward else top}")
        row, other = self._placed(at), self._placed(t.emit(f"select i1 {inside}, i64 {beside}, i64 {at}"))
        child, parent = (row, other) if inward else (other, row)
        paired = t.emit(f"icmp eq i64 {self._parent(child)}, {parent}")
        t.do(f"br i1 {paired}, label %{name}.pair, label %{name}.single")
        sources = [f"[ {top if inward else 0}, %{before} ]"]

        def cases() -> Iterator[tuple[str, str]]:
            for label, rows, far in (("pair", (child, parent), 2 * step), ("single", (row, ""), step)):
                t.start(f"{name}.{label}")
                yield rows
                sources.append(f"[ {t.emit(f'add i64 {at}, {far}')}, %{t.block} ]")
                t.do(f"br label %{name}.test")

        yield cases()
        t.lines.insert(place, f"  {at} = phi i64 {', '.join(sources)}")
        t.start(f"{name}.done")

    # ── the factor ────────────────────────────────────────────────────────────────────────────────

    def _factor(self) -> None:
        with self._rows("factor", self.last, inward=True) as cases:
            for label, (k, parent) in zip("ps", cases, strict=True):
                inverse = self._inverted(k)
                rows, start = [(k, inverse)], self._parent(k)
                if parent:
                    self._rank_one(f"{label}.one", parent, rows)
                    rows, start = [*rows, (parent, self._inverted(parent))], self._parent(parent)
                with self._up(f"{label}.i", start) as i:
                    self._rank_one(f"{label}.j", i, rows)
                for number, (row, pivot) in enumerate(rows):
                    with self._up(f"{label}.scale{number}", self._parent(row)) as i:
                        there = self._at(row, i)
                        self._store(self.t.op("fmul", self._load(there), pivot), there)

    def _inverted(self, k: str) -> str:
        """Emit 1 / D of a row, and keep it."""
        t = self.t
        inverse = t.op("fdiv", t.number(1.0), self._load(self._at(k, k)))
        self._store(inverse, t.at(t.vector, self.pivots, k))
        return inverse

    def _rank_one(self, name: str, i: str, rows: list[tuple[str, str]]) -> None:
        """Emit: subtract multiples of the rows below from row i."""
        ratios = [self.t.op("fmul", self._load(self._at(k, i)), inverse) for k, inverse in rows]
        with self._up(name, i) as j:
            there = self._at(i, j)
            value = self._load(there)
            for (k, _), ratio in zip(rows, ratios, strict=True):
                value = self._less(value, ratio, self._load(self._at(k, j)))
            self._store(value, there)

    # ── solutions ─────────────────────────────────────────────────────────────────────────────────

    def _solve(self, label: str, right: str, operation: str) -> None:
        """Solve in place: a vector, or a matrix, some columns at a time, which stay in registers."""
        t, inverse = self.t, operation == "inverse"
        negative = operation.startswith("negative")
        if operation.endswith("vector"):
            self._solve_columns(f"{label}.v", right, 1, self.last, negative=negative)
            return
        done = "0"
        for count in COLUMNS:
            blocks = t.emit(f"udiv i64 {t.emit(f'sub i64 {self.n}, {done}')}, {count}")
            name = f"{label}.c{count}"
            with t.counted(name, blocks) as block:
                first = t.emit(f"add i64 {done}, {t.emit(f'mul i64 {block}, {count}')}")
                top = self._last_of(name, first, count) if inverse else self.last
                self._fill(name, "" if inverse else right, first, count)
                self._solve_columns(name, self.panel, count, top, negative=negative)
                self._copy(f"{name}.out", right, first, count, back=True)
            done = t.emit(f"add i64 {done}, {t.emit(f'mul i64 {blocks}, {count}')}")
        if inverse:
            self._mirror(label, right)

    def _last_of(self, name: str, first: str, count: int) -> str:
        """Emit: the last in order of some consecutive velocities, as its number there."""
        t, before = self.t, self.t.block
        t.go_on(f"{name}.seek")
        below = f"%{name}.below"
        t.do(f"%{name}.top = phi i64 [ {self.last}, %{before} ], [ {below}, %{name}.seek ]")
        t.do(f"{below} = sub i64 %{name}.top, 1")
        velocity = self._placed(f"%{name}.top")
        inside = t.emit(f"icmp ult i64 {t.emit(f'sub i64 {velocity}, {first}')}, {count}")
        t.do(f"br i1 {inside}, label %{name}.sought, label %{name}.seek")
        t.start(f"{name}.sought")
        return f"%{name}.top"

    def _fill(self, name: str, right: str, first: str, count: int) -> None:
        """Emit: columns of a matrix, of the identity where none is named, side by side."""
        t = self.t
        if right:
            self._copy(f"{name}.in", right, first, count, back=False)
            return
        with t.counted(f"{name}.clear", t.emit(f"mul i64 {self.n}, {count}")) as k:
            t.put(t.number(0.0), self.panel, k)
        start = t.at(t.vector, self.panel, t.emit(f"mul i64 {first}, {count}"))
        for diagonal in range(count):
            t.put(t.number(1.0), start, diagonal * (count + 1))

    def _copy(self, name: str, right: str, first: str, count: int, *, back: bool) -> None:
        """Emit: gather columns of a matrix, or scatter them back."""
        t = self.t
        with t.counted(name, self.n) as i:
            there, here = self._at(i, first, right), t.at(t.vector, self.panel, t.emit(f"mul i64 {i}, {count}"))
            source, target = (here, there) if back else (there, here)
            for k in range(count):
                t.put(t.get(source, k), target, k)

    def _mirror(self, label: str, right: str) -> None:
        """Emit: copy one triangle of a symmetric matrix to the one whose row comes after the column."""
        t = self.t
        with t.counted(f"{label}.row", self.n) as k:
            i = self._placed(k)
            with t.counted(f"{label}.column", k) as other:
                j = self._placed(other)
                self._store(self._load(self._at(j, i, right)), self._at(i, j, right))

    def _solve_columns(self, label: str, right: str, count: int, top: str, *, negative: bool) -> None:
        """Solve with columns, so many numbers a row, that are zero behind number `top` of the order."""
        t = self.t

        def row(i: str) -> list[str]:
            start = t.at(t.vector, right, t.emit(f"mul i64 {i}, {count}"))
            return [t.at(t.vector, start, k) for k in range(count)]

        def reduced(i: str, factors: list[str], values: list[list[str]]) -> list[str]:
            """Row i less rows below it, each times its element of L."""
            results = []
            for k, place in enumerate(row(i)):
                value = self._load(place)
                for factor, those in zip(factors, values, strict=True):
                    value = self._less(value, factor, those[k])
                self._store(value, place)
                results.append(value)
            return results

        with self._rows(f"{label}.back", top, inward=True) as cases:
            for kind, (i, parent) in zip("ps", cases, strict=True):
                rows, values = [i], [[self._load(place) for place in row(i)]]
                if parent:
                    values.append(reduced(parent, [self._load(self._at(i, parent))], values))
                    rows.append(parent)
                with self._up(f"{label}.u{kind}", self._parent(rows[-1])) as j:
                    reduced(j, [self._load(self._at(k, j)) for k in rows], values)
        with self._rows(f"{label}.forth", top, inward=False) as cases:
            for kind, (i, parent) in zip("ps", cases, strict=True):
                rows, starts = [parent, i] if parent else [i], []
                for k in rows:
                    pivot = self._load(t.at(t.vector, self.pivots, k))
                    pivot = t.negative(pivot) if negative else pivot
                    starts += [t.op("fmul", self._load(place), pivot) for place in row(k)]
                with self._up_with(f"{label}.f{kind}", self._parent(rows[0]), starts) as (j, sums, changed):
                    factors, less = [self._load(self._at(k, j)) for k in rows], []
                    for column, there in enumerate(row(j)):  # (column by column: more numbers find no registers)
                        number = self._load(there)
                        less.append([self._less(s, f, number) for s, f in zip(sums[column::count], factors, strict=True)])
                    changed += [columns[number] for number in range(len(rows)) for columns in less]
                for value, place in zip(sums[:count], row(rows[0]), strict=True):
                    self._store(value, place)
                if parent:
                    factor = self._load(self._at(i, parent))
                    for value, above, place in zip(sums[count:], sums[:count], row(i), strict=True):
                        self._store(self._less(value, factor, above), place)
