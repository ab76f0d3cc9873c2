"""The arithmetic of the steps of a looped program, and the loops over rows around it, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from linkwise.kernel.backends.llvm.body import Plan, _Writer
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.looped import ROW, Place, ProgramLayout, RowPass, RowStep


class Words:
    """The whole numbers of a mechanism, loaded where this is made; those that are not used cost nothing."""

    def __init__(self, t: Text, layout: ProgramLayout, *kinds: str) -> None:
        self.t = t
        self._loaded: dict[str, str] = {}
        for name, index in layout.words.items():
            if not kinds or name.startswith(kinds):
                place = t.emit(f"getelementptr i64, ptr %head, i64 {index}")
                self._loaded[name] = t.emit(f"load i64, ptr {place}")

    def placed(self, layout: ProgramLayout) -> Words:
        """The same where arrays begin as this call has it, which stands before the memory of a block."""
        for name in layout.arrays:
            self._loaded[f"start {name}"] = self.t.emit(f"load i64, ptr {start_place(self.t, layout, name)}")
        return self

    def __getitem__(self, name: str) -> str:
        return self._loaded[name]

    def array(self, name: str) -> str:
        """Emit: the address of the first element of an array."""
        return self.t.at(self.t.vector, "%work", self[f"start {name}"])


def start_place(t: Text, layout: ProgramLayout, name: str) -> str:
    """Emit: where it stands where an array begins, in vectors from the memory of the block."""
    return t.at("i64", "%work", -1 - list(layout.arrays).index(name))


class StepWriter(_Writer):
    """Writes one step where it is run: elements are loaded from and stored to the places that they have.

    Parameters
    ----------
    step : RowStep
        What to write.
    layout : ProgramLayout
        Of the program.
    t : Text
        Where to write it.
    words : Words
        The whole numbers of the mechanism.
    values : mapping of str to str
        The addresses "own", "parent", "body", "link", "ground", "numbers", "globals", "state", "next", and the numbers "q",
        "v", "w", "row", "drive", as far as the step has places that count from them. Without "state" or "next" the state of
        a walk is in registers.
    state : sequence of str
        The state there, and `following` the one that the step leaves.
    stacked : bool
        Whether constants differ from lane to lane.
    """

    def __init__(
        self,
        step: RowStep,
        layout: ProgramLayout,
        t: Text,
        words: Words,
        values: Mapping[str, str],
        state: Sequence[str] = (),
        *,
        stacked: bool,
    ) -> None:
        super().__init__(step.tape, t, Plan(step.tape, has_fma=t.has_fma))
        self.step, self.layout, self.words, self.values, self.stacked = step, layout, words, values, stacked
        self.state, self.following = state, dict[int, str]()

    def emit(self) -> None:
        """Write it."""
        for k, slot in enumerate(self.tape.results):
            number = self.tape.constant(slot)
            if number is not None:
                self._put(self.t.number(number), self.step.outputs[k])
        for slot in (slot for slot in self.plan.outputs if slot < self.tape.input_count):
            self._store(slot)
        for step in (step for part in self.plan.parts for step in part):
            if isinstance(step, tuple):
                self._circular(self.t.names, step)
            else:
                self._instruction(step)
            for slot in self.plan.makes(step):
                self._store(slot)

    def name(self, slot: int) -> str:
        """The value in a slot, loaded where it is first needed."""
        if slot < self.tape.input_count and slot not in self.names:
            self.names[slot] = self._get(self.step.inputs[slot])
        return super().name(slot)

    def _home(self, slot: int) -> tuple[str, int]:
        raise AssertionError(f"slot {slot} is not known yet")

    def _store(self, slot: int) -> None:
        for k in self.plan.outputs.get(slot, ()):
            self._put(self.name(slot), self.step.outputs[k])

    def _get(self, place: Place) -> str:
        t = self.t
        if place[0] == "state" and "state" not in self.values:
            return self.state[place[1]]
        if place[0] in {"numbers", "globals"} and not self.stacked:
            address = t.at(t.scalar, self.values[place[0]], place[1])
            number = t.emit(f"load {t.scalar}, ptr {address}, align {t.size}")
            first = t.emit(f"insertelement {t.vector} poison, {t.scalar} {number}, i32 0")
            return t.emit(f"shufflevector {t.vector} {first}, {t.vector} poison, <{t.width} x i32> zeroinitializer")
        return t.emit(f"load {t.vector}, ptr {self._address(place)}, align {t.vector_size}")

    def _put(self, value: str, place: Place) -> None:
        t = self.t
        if place[0] == "next" and "next" not in self.values:
            self.following[place[1]] = value
            return
        t.do(f"store {t.vector} {value}, ptr {self._address(place)}, align {t.vector_size}")

    def _address(self, place: Place) -> str:
        t = self.t
        if place[0] != "array":
            return t.at(t.vector, self.values[place[0]], place[1])
        _, name, at, index = place
        flat: str | int = 0
        for size, origin, k in zip(self.layout.arrays[name], at.split(), index, strict=True):
            length = size if isinstance(size, int) else self.words[f"size {size}"]
            flat = _sum(t, _sum(t, _product(t, flat, length), self._origin(origin)), k)
        return t.at(t.vector, self.words.array(name), flat)

    def _origin(self, origin: str) -> str | int:
        """What an index counts from: see `linkwise.kernel.looped.ORIGINS`."""
        if origin == ".":
            return 0
        if origin == "10w":
            return _product(self.t, self.values["w"], 10)
        if origin.startswith("drive"):
            return _sum(self.t, _product(self.t, self.values["drive"], 4), self.words["size before drives"])
        return self.values["row" if origin == "r" else origin]


def _sum(t: Text, a: str | int, b: str | int) -> str | int:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if a == 0 else a if b == 0 else t.emit(f"add i64 {a}, {b}")


def _product(t: Text, a: str | int, b: str | int) -> str | int:
    if isinstance(a, int) and isinstance(b, int):
        return a * b
    return 0 if 0 in (a, b) else b if a == 1 else a if b == 1 else t.emit(f"mul i64 {a}, {b}")


@contextmanager
def counted(t: Text, name: str, count: object, first: object = 0) -> Iterator[str]:
    """Emit a loop from `first` to below `count`, which may be no larger."""
    before = t.block
    t.do(f"br label %{name}.test")
    t.start(f"{name}.test")
    place = len(t.lines)
    t.do(f"%{name}.more = icmp slt i64 %{name}.k, {count}")
    t.do(f"br i1 %{name}.more, label %{name}, label %{name}.done")
    t.start(name)
    yield f"%{name}.k"
    t.do(f"%{name}.next = add i64 %{name}.k, 1")
    t.lines.insert(place, f"  %{name}.k = phi i64 [ {first}, %{before} ], [ %{name}.next, %{t.block} ]")
    t.do(f"br label %{name}.test")
    t.start(f"{name}.done")


def phase_head(number: int) -> str:
    """How the function of a phase begins."""
    return f"define internal void @phase{number}(ptr %head, ptr %work, ptr %numbers)"


class PhaseWriter:
    """Writes the function of one phase, its steps among its loops over rows."""

    def __init__(self, layout: ProgramLayout, t: Text, *, stacked: bool) -> None:
        self.layout, self.t, self.stacked = layout, t, stacked

    def text(self, number: int, phase: RowPass) -> str:
        """Emit phase `number`: ``void @phase{number}(ptr head, ptr work, ptr numbers)``."""
        t = self.t
        t.begin()
        t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
        self.words = Words(t, self.layout).placed(self.layout)
        if phase.order == "ground":
            first = t.at(t.vector, "%work", self.words[f"{phase.table} records"])
            self._choose("ground", "0", phase.steps, lambda: {"own": first})
        elif phase.order == "walk":
            self._walk(phase)
        else:
            rows = self.words[f"{phase.table} rows"]
            table = self._rows(phase.table)
            with counted(t, "rows", rows) as passed:
                back = phase.order == "inward"
                row = table.row(t.emit(f"sub i64 {t.emit(f'sub i64 {rows}, 1')}, {passed}") if back else passed)
                self._choose("step", row["kind"], phase.steps, lambda: table.places(row))
        t.do("ret void")
        return t.function(phase_head(number), kind="noinline #0")

    def _rows(self, table: str) -> _Rows:
        return _Rows(self.t, self.words, self.layout, table, stacked=self.stacked)

    def _choose(
        self,
        label: str,
        kind: str,
        steps: Sequence[RowStep | None],
        values: Callable[[], Mapping[str, str]],
        state: Sequence[str] = (),
    ) -> list[str]:
        """Emit: the step for the kind of a row; `values` emits the addresses and numbers it counts from.

        The state that it leaves in registers is returned.
        """
        t = self.t
        cases = [(k, step) for k, step in enumerate(steps) if step is not None]
        if not cases:
            return []
        if len(steps) > 1:
            targets = " ".join(f"i64 {k}, label %{label}.{k}" for k, _ in cases)
            other = f"{label}.end" if len(cases) < len(steps) else f"{label}.{cases[0][0]}"
            t.do(f"switch i64 {kind}, label %{other} [ {targets} ]")
        left: list[tuple[str, dict[int, str]]] = []
        for k, step in cases:
            if len(steps) > 1:
                t.start(f"{label}.{k}")
            known = {"globals": "%numbers", "numbers": "%numbers", **values()}
            writer = StepWriter(step, self.layout, t, self.words, known, state, stacked=self.stacked)
            writer.emit()
            left.append((t.block, writer.following))
            if len(steps) > 1:
                t.do(f"br label %{label}.end")
        if len(steps) == 1:
            return list(left[0][1].values())
        t.start(f"{label}.end")
        return [
            t.emit(f"phi {t.vector} {', '.join(f'[ {values[k]}, %{block} ]' for block, values in left)}")
            for k in sorted(left[0][1])
        ]

    def _walk(self, phase: RowPass) -> None:
        """From each row to the ground, for each of its velocities, with the state in registers."""
        t, same = self.t, not phase.start_table
        starting, table = self._rows(phase.start_table or phase.table), self._rows(phase.table)
        size = max(len(step.outputs) for step in phase.starts if step is not None)
        space, length = t.emit(f"alloca [{size} x {t.vector}], align 64"), self._state_size(phase)
        with counted(t, "rows", self.words[f"{phase.start_table or phase.table} rows"]) as k:
            first = starting.row(k)
            self._choose("start", first["kind"], phase.starts, lambda: {**starting.places(first), "next": space})
            with counted(t, "columns", first["count"] if same else "1") as column:
                w = t.emit(f"add i64 {first['v']}, {column}")
                at = t.at(t.vector, space, t.emit(f"mul i64 {column}, {length}"))
                begin, state = first["body"], [t.get(at, number) for number in range(length)]
                if same:
                    begin = first["parent"]
                    state = self._choose("own", first["kind"], phase.own, lambda: {**starting.places(first), "w": w}, state)
                before = t.block
                t.do("br label %way")
                t.start("way")
                place = len(t.lines)
                t.do("%onward = icmp sge i64 %at, 0")
                t.do("br i1 %onward, label %visit, label %way.done")
                t.start("visit")
                row = table.row("%at")
                passed = {"w": w, "drive": first["drive"]}
                names = [f"%state{number}" for number in range(length)]
                following = self._choose(
                    "visit.kind", row["kind"], phase.steps, lambda: {**table.places(row), **passed}, names
                )
                t.lines[place:place] = [
                    f"  %at = phi i64 [ {begin}, %{before} ], [ {row['parent']}, %{t.block} ]",
                    *(
                        f"  {name} = phi {t.vector} [ {value}, %{before} ], [ {after}, %{t.block} ]"
                        for name, value, after in zip(names, state, following, strict=True)
                    ),
                ]
                t.do("br label %way")
                t.start("way.done")

    @staticmethod
    def _state_size(phase: RowPass) -> int:
        return max(len([place for place in step.outputs if place[0] == "next"]) for step in phase.steps if step is not None)


class _Rows:
    """Addresses of all that belongs to the rows of a table."""

    def __init__(self, t: Text, words: Words, layout: ProgramLayout, table: str, *, stacked: bool) -> None:
        self.t, self.tables, self.table = t, layout.tables, table
        kind = t.vector if stacked else t.scalar
        self.kind = kind
        self.ints = t.at("i64", "%head", words[f"{table} ints"])
        self.records = t.at(t.vector, "%work", words[f"{table} records"])
        self.bodies = t.at(t.vector, "%work", words["bodies records"])
        self.links = t.at(t.vector, "%work", words["links records"]) if "links" in layout.tables else self.bodies
        self.numbers = t.at(kind, "%numbers", words[f"{table} numbers"])

    def row(self, k: str) -> dict[str, str]:
        """Emit: the whole numbers of row k."""
        t = self.t
        line = t.at("i64", self.ints, t.emit(f"mul i64 {k}, {len(ROW)}"))
        row = {name: t.emit(f"load i64, ptr {t.at('i64', line, index)}") for index, name in enumerate(ROW)}
        return {**row, "row": k}

    def places(self, row: dict[str, str]) -> dict[str, str]:
        """Emit: the addresses and numbers that a step of that row counts from."""
        t, tables = self.t, self.tables
        return {
            "own": self._record(self.records, row["row"], tables[self.table].record),
            "parent": self._record(self.records, row["parent"], tables[self.table].record),
            "body": self._record(self.bodies, row["body"], tables["bodies"].record),
            "link": self._record(self.links, row["link"], tables["links" if "links" in tables else "bodies"].record),
            "ground": self.bodies,
            "numbers": t.at(self.kind, self.numbers, t.emit(f"mul i64 {row['row']}, {tables[self.table].numbers}")),
            "q": row["q"],
            "v": row["v"],
            "row": row["row"],
            "drive": row["drive"],
        }

    def _record(self, base: str, index: str, size: int) -> str:
        """The record of a row; that of the ground is the first."""
        t = self.t
        return t.at(t.vector, base, t.emit(f"mul i64 {t.emit(f'add i64 {index}, 1')}, {size}"))
