"""The arithmetic of the steps of a looped program, and the loops over rows around it, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from linkwise.kernel.backends.llvm.body import Plan, _Writer
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.looped import ROW, LinearSolve, LoopedProgram, Place, ProgramLayout, RowPass, RowStep

#: What every function of a step takes.
ARGUMENTS = (
    "ptr noalias %own", "ptr noalias %parent", "ptr %body", "ptr %link", "ptr %ground", "ptr %numbers", "ptr %globals",
    "ptr %work", "ptr %head", "i64 %q", "i64 %v", "i64 %w", "i64 %row", "i64 %drive", "ptr noalias %state",
    "ptr noalias %next",
)  # fmt: skip


class Words:
    """The whole numbers of a mechanism, loaded where this is made: what is not used costs nothing."""

    def __init__(self, t: Text, layout: ProgramLayout, *kinds: str) -> None:
        self.t = t
        self._loaded: dict[str, str] = {}
        for name, index in layout.words.items():
            if not kinds or name.startswith(kinds):
                place = t.emit(f"getelementptr i64, ptr %head, i64 {index}")
                self._loaded[name] = t.emit(f"load i64, ptr {place}")

    def __getitem__(self, name: str) -> str:
        return self._loaded[name]

    def array(self, name: str) -> str:
        """Emit: the address of the first element of an array."""
        return self.t.at(self.t.vector, "%work", self[f"start {name}"])


class StepWriter(_Writer):
    """Writes one step as a function: elements are loaded from and stored to the places that they have."""

    def __init__(self, step: RowStep, layout: ProgramLayout, t: Text, *, stacked: bool) -> None:
        super().__init__(step.tape, t, Plan(step.tape, has_fma=t.has_fma))
        self.step, self.layout, self.stacked = step, layout, stacked

    def function(self, name: str) -> str:
        """Emit the function."""
        t = self.t
        t.begin()
        t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
        self.words = Words(t, self.layout, "size ", "start ")
        for k, slot in enumerate(self.tape.results):
            number = self.tape.constant(slot)
            if number is not None:
                self._put(t.number(number), self.step.outputs[k])
        for slot in (slot for slot in self.plan.outputs if slot < self.tape.input_count):
            self._store(slot)
        groups = 0
        for part in self.plan.parts:
            for step in part:
                if isinstance(step, tuple):
                    self._circular(groups, step)
                    groups += 1
                else:
                    self._instruction(step)
                for slot in self.plan.makes(step):
                    self._store(slot)
        t.do("ret void")
        return t.function(f"define internal void @{name}({', '.join(ARGUMENTS)})", kind="noinline #0")

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
        if place[0] in {"numbers", "globals"} and not self.stacked:
            address = t.at(t.scalar, f"%{place[0]}", place[1])
            number = t.emit(f"load {t.scalar}, ptr {address}, align {t.size}")
            first = t.emit(f"insertelement {t.vector} poison, {t.scalar} {number}, i32 0")
            return t.emit(f"shufflevector {t.vector} {first}, {t.vector} poison, <{t.width} x i32> zeroinitializer")
        return t.emit(f"load {t.vector}, ptr {self._address(place)}, align {t.vector_size}")

    def _put(self, value: str, place: Place) -> None:
        t = self.t
        t.do(f"store {t.vector} {value}, ptr {self._address(place)}, align {t.vector_size}")

    def _address(self, place: Place) -> str:
        t = self.t
        if place[0] != "array":
            return t.at(t.vector, f"%{place[0]}", place[1])
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
            return _product(self.t, "%w", 10)
        if origin.startswith("drive"):
            return _sum(self.t, _product(self.t, "%drive", 4), self.words["size before drives"])
        return {"r": "%row"}.get(origin, f"%{origin}")


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


class PhaseWriter:
    """Writes the function of one phase, and those of its steps."""

    def __init__(self, program: LoopedProgram, t: Text, *, stacked: bool) -> None:
        self.program, self.layout, self.t, self.stacked = program, program.layout, t, stacked

    def text(self, number: int) -> str:
        """Emit phase `number`: ``void @phase{number}(ptr head, ptr work, ptr numbers)``."""
        phase = self.program.phases[number]
        if isinstance(phase, LinearSolve):
            return LinearSolveWriter(phase, self.t, self.layout).text(number)
        functions = []
        names: dict[str, list[str | None]] = {}
        for group in ("steps", "starts", "own"):
            names[group] = []
            for kind, step in enumerate(getattr(phase, group)):
                name = None if step is None else f"{group}{number}_{kind}"
                names[group].append(name)
                if step is not None and name is not None:
                    writer = StepWriter(step, self.layout, self.t, stacked=self.stacked)
                    functions.append(writer.function(name))
        t = self.t
        t.begin()
        words = Words(t, self.layout)
        if phase.order == "ground":
            first = t.at(t.vector, "%work", words[f"{phase.table} records"])
            t.do(self._call(names["steps"][0], {"own": first, "parent": first, "body": first, "numbers": "%numbers"}))
        elif phase.order == "walk":
            self._walk(phase, words, names)
        else:
            rows = words[f"{phase.table} rows"]
            table = _Rows(t, words, self.layout, phase.table, stacked=self.stacked)
            with counted(t, "rows", rows) as passed:
                back = phase.order == "inward"
                row = table.row(t.emit(f"sub i64 {t.emit(f'sub i64 {rows}, 1')}, {passed}") if back else passed)
                self._choose("step", row["kind"], names["steps"], lambda name: self._call(name, table.places(row)))
        t.do("ret void")
        head = f"define internal void @phase{number}(ptr %head, ptr %work, ptr %numbers, ptr %state0, ptr %state1)"
        return "\n".join([*functions, t.function(head, kind="noinline #0")])

    @staticmethod
    def _call(name: str | None, values: Mapping[str, str]) -> str:
        """The call of a step; arguments without a value are null."""
        known = {"globals": "%numbers", "work": "%work", "head": "%head", **values}
        operands = []
        for argument in ARGUMENTS:
            kind, value = argument.split()[0], argument.split("%")[1]
            operands.append(f"{kind} {known.get(value, 'null' if kind == 'ptr' else '0')}")
        return f"call void @{name}({', '.join(operands)})"

    def _choose(self, label: str, kind: str, names: Sequence[str | None], call: Callable[[str], str]) -> None:
        """Emit: the call for the kind of a row."""
        t = self.t
        if len(names) == 1:
            if names[0] is not None:
                t.do(call(names[0]))
            return
        cases = [(k, name) for k, name in enumerate(names) if name is not None]
        targets = " ".join(f"i64 {k}, label %{label}.{k}" for k, _ in cases)
        t.do(f"switch i64 {kind}, label %{label}.end [ {targets} ]")
        for k, name in cases:
            t.start(f"{label}.{k}")
            t.do(call(name))
            t.do(f"br label %{label}.end")
        t.start(f"{label}.end")

    def _walk(self, phase: RowPass, words: Words, names: dict[str, list[str | None]]) -> None:
        """From each row to the ground, for each of its velocities; states are passed from one place to the other."""
        t = self.t
        starting = _Rows(t, words, self.layout, phase.start_table or phase.table, stacked=self.stacked)
        table = _Rows(t, words, self.layout, phase.table, stacked=self.stacked)
        same = not phase.start_table
        size = max(len(step.outputs) for step in phase.starts if step is not None)
        space = t.emit(f"alloca [{size} x {t.vector}], align 64")
        rows = words[f"{phase.start_table or phase.table} rows"]
        with counted(t, "rows", rows) as k:
            first = starting.row(k)
            places = starting.places(first)
            self._choose("start", first["kind"], names["starts"], lambda name: self._call(name, {**places, "next": space}))
            count = first["count"] if same else "1"
            with counted(t, "columns", count) as column:
                w = t.emit(f"add i64 {first['v']}, {column}")
                state = t.at(t.vector, space, t.emit(f"mul i64 {column}, {self._state_size(phase)}"))
                begin = first["parent"] if same else first["body"]
                current = state
                if same:
                    self._choose(
                        "own",
                        first["kind"],
                        names["own"],
                        lambda name: self._call(name, {**places, "w": w, "state": state, "next": "%state0"}),
                    )
                    current = "%state0"
                before = t.block
                t.do("br label %way")
                t.start("way")
                place = len(t.lines)
                t.do("%onward = icmp sge i64 %at, 0")
                t.do("br i1 %onward, label %visit, label %way.done")
                t.start("visit")
                row = table.row("%at")
                here = table.places(row)
                self._choose(
                    "visit.kind",
                    row["kind"],
                    names["steps"],
                    lambda name: self._call(
                        name, {**here, "w": w, "drive": first["drive"], "state": "%now", "next": "%other"}
                    ),
                )
                spare = "%state1"
                after = t.block
                t.lines[place:place] = [
                    f"  %at = phi i64 [ {begin}, %{before} ], [ {row['parent']}, %{after} ]",
                    f"  %now = phi ptr [ {current}, %{before} ], [ %other, %{after} ]",
                    f"  %other = phi ptr [ {spare}, %{before} ], [ %spare, %{after} ]",
                ]
                t.do("%is1 = icmp eq ptr %other, %state1")
                t.do("%spare = select i1 %is1, ptr %state0, ptr %state1")
                t.do("br label %way")
                t.start("way.done")

    @staticmethod
    def _state_size(phase: RowPass) -> int:
        places = [place for step in phase.steps if step is not None for place in step.inputs if place[0] == "state"]
        own = [place for step in phase.own if step is not None for place in step.inputs if place[0] == "state"]
        counts = [len(step.outputs) for step in phase.starts]
        return max([int(place[1]) + 1 for place in [*places, *own]] or counts)


class _Rows:
    """Addresses of what belongs to the rows of a table."""

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
        """Emit: what a step of that row is called with."""
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


class LinearSolveWriter:
    """Writes L' D L and what is solved with it, element by element in loops over rows and their parents."""

    def __init__(self, phase: LinearSolve, t: Text, layout: ProgramLayout) -> None:
        self.phase, self.t, self.layout = phase, t, layout

    def text(self, number: int) -> str:
        """Emit the function of the phase."""
        t = self.t
        t.begin()
        words = Words(t, self.layout)
        n = words["size nv"]
        parents = t.at("i64", "%head", words["parents"])
        self.order = t.at("i64", "%head", words["order"])
        matrix = words.array(self.phase.matrix)
        pivots = t.at(t.vector, matrix, t.emit(f"mul i64 {n}, {n}"))  # (behind the matrix: 1 / D)
        self.n, self.parents, self.matrix, self.pivots = n, parents, matrix, pivots
        self._factor()
        for k, (name, what) in enumerate(self.phase.right):
            self._solve(f"r{k}", words.array(name), what)
        t.do("ret void")
        head = f"define internal void @phase{number}(ptr %head, ptr %work, ptr %numbers, ptr %state0, ptr %state1)"
        return t.function(head, kind="noinline #0")

    def _at(self, i: str, j: str, matrix: str = "") -> str:
        t = self.t
        return t.at(t.vector, matrix or self.matrix, t.emit(f"add i64 {t.emit(f'mul i64 {i}, {self.n}')}, {j}"))

    def _load(self, address: str) -> str:
        return self.t.emit(f"load {self.t.vector}, ptr {address}, align {self.t.vector_size}")

    def _store(self, value: str, address: str) -> None:
        self.t.do(f"store {self.t.vector} {value}, ptr {address}, align {self.t.vector_size}")

    @contextmanager
    def _up(self, name: str, start: str) -> Iterator[str]:
        """Emit a loop over a velocity and its parents."""
        t = self.t
        before = t.block
        t.do(f"br label %{name}.test")
        t.start(f"{name}.test")
        place = len(t.lines)
        t.do(f"%{name}.more = icmp sge i64 %{name}.k, 0")
        t.do(f"br i1 %{name}.more, label %{name}, label %{name}.done")
        t.start(name)
        yield f"%{name}.k"
        after = t.emit(f"load i64, ptr {t.at('i64', self.parents, f'%{name}.k')}")
        t.lines.insert(place, f"  %{name}.k = phi i64 [ {start}, %{before} ], [ {after}, %{t.block} ]")
        t.do(f"br label %{name}.test")
        t.start(f"{name}.done")

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

    def _factor(self) -> None:
        t = self.t
        with counted(t, "last", self.n) as passed:
            k = self._placed(t.emit(f"sub i64 {t.emit(f'sub i64 {self.n}, 1')}, {passed}"))
            inverse = t.op("fdiv", t.number(1.0), self._load(self._at(k, k)))
            self._store(inverse, t.at(t.vector, self.pivots, k))
            with self._up("i", self._parent(k)) as i:
                ratio = t.op("fmul", self._load(self._at(k, i)), inverse)
                with self._up("j", i) as j:
                    there = self._at(i, j)
                    self._store(self._less(self._load(there), ratio, self._load(self._at(k, j))), there)
            with self._up("scale", self._parent(k)) as i:
                there = self._at(k, i)
                self._store(t.op("fmul", self._load(there), inverse), there)

    def _solve(self, label: str, right: str, what: str) -> None:
        """Solve in place: a vector, or a matrix column by column, rows innermost."""
        t = self.t
        vector = what.endswith("vector")
        columns = "1" if vector else self.n
        if what == "inverse":
            with counted(t, f"{label}.clear", t.emit(f"mul i64 {self.n}, {self.n}")) as k:
                self._store(t.number(0.0), t.at(t.vector, right, k))
            with counted(t, f"{label}.one", self.n) as k:
                self._store(t.number(1.0), self._at(k, k, right))

        def at(i: str, column: str) -> str:
            return t.at(t.vector, right, t.emit(f"add i64 {t.emit(f'mul i64 {i}, {columns}')}, {column}"))

        with counted(t, f"{label}.back", self.n) as passed:
            i = self._placed(t.emit(f"sub i64 {t.emit(f'sub i64 {self.n}, 1')}, {passed}"))
            with self._up(f"{label}.b", self._parent(i)) as j:
                factor = self._load(self._at(i, j))
                with counted(t, f"{label}.bc", columns) as c:
                    there = at(j, c)
                    self._store(self._less(self._load(there), factor, self._load(at(i, c))), there)
        with counted(t, f"{label}.forth", self.n) as passed:
            i = self._placed(passed)
            pivot = self._load(t.at(t.vector, self.pivots, i))
            if what.startswith("negative"):
                pivot = t.negative(pivot)
            with counted(t, f"{label}.fc", columns) as c:
                there = at(i, c)
                self._store(t.op("fmul", self._load(there), pivot), there)
            with self._up(f"{label}.f", self._parent(i)) as j:
                factor = self._load(self._at(i, j))
                with counted(t, f"{label}.fd", columns) as c:
                    there = at(i, c)
                    self._store(self._less(self._load(there), factor, self._load(at(j, c))), there)
