"""The arithmetic of the steps of a looped program, and the loops over rows around it, as LLVM text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from linkwise.kernel.backends.llvm.body import Plan, _Writer
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.looped import ROW, Place, ProgramLayout, RowPass, RowStep

#: Number of walks of one configuration that are merged.
PANEL = 8


class Words:
    """The integers of a mechanism, loaded at construction; unused ones cost nothing."""

    def __init__(self, t: Text, layout: ProgramLayout, *kinds: str) -> None:
        self.t = t
        self._loaded: dict[str, str] = {}
        for name, index in layout.words.items():
            if not kinds or name.startswith(kinds):
                place = t.emit(f"getelementptr i64, ptr %head, i64 {index}")
                self._loaded[name] = t.emit(f"load i64, ptr {place}")

    def placed(self, layout: ProgramLayout) -> Words:
        """The same with the start addresses of arrays for this call, which are stored before the memory of a block."""
        for name in layout.arrays:
            self._loaded[f"start {name}"] = self.t.emit(f"load i64, ptr {start_place(self.t, layout, name)}")
        return self

    def __getitem__(self, name: str) -> str:
        return self._loaded[name]

    def array(self, name: str) -> str:
        """Emit: the address of the first element of an array."""
        return self.t.at(self.t.vector, "%work", self[f"start {name}"])


def start_place(t: Text, layout: ProgramLayout, name: str) -> str:
    """Emit: address of the start of an array, in vectors from the memory of the block."""
    return t.at("i64", "%work", -1 - list(layout.arrays).index(name))


def ahead_place(t: Text, layout: ProgramLayout, name: str) -> str:
    """Emit: address of an array's rows of the next block, or of an output's rows of this block."""
    return t.at("ptr", "%work", -1 - len(layout.arrays) - list(layout.arrays).index(name))


class StepWriter(_Writer):
    """Writes one step where it is run: elements are loaded from and stored to the places that they have.

    Parameters
    ----------
    step : RowStep
        What to write.
    layout : ProgramLayout
        Layout of the program.
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
    memory : Text, optional
        Where that differs from `t`, the single lane that memory holds, which all lanes share: they differ in "w" alone.
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
        memory: Text | None = None,
    ) -> None:
        super().__init__(step.tape, t, Plan(step.tape, has_fma=t.has_fma))
        self.memory = memory or t
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
        shared = place[0] in {"numbers", "globals"} and not self.stacked
        if shared or self.memory is not t:
            address = t.at(t.scalar, self.values[place[0]], place[1]) if shared else self._address(place)
            return t.broadcast(t.emit(f"load {t.scalar}, ptr {address}, align {t.size}"))
        return t.emit(f"load {t.vector}, ptr {self._address(place)}, align {t.vector_size}")

    def _put(self, value: str, place: Place) -> None:
        t = self.t
        if place[0] == "next" and "next" not in self.values:
            self.following[place[1]] = value
        elif self.memory is t:
            t.do(f"store {t.vector} {value}, ptr {self._address(place)}, align {t.vector_size}")
        elif place[2].split()[-1] == "w":
            t.do(f"store {t.vector} {value}, ptr {self._address(place)}, align {t.size}")
        else:
            self._scatter(value, place)

    def _scatter(self, value: str, place: Place) -> None:
        """Emit: store each lane into the row of its w."""
        t, (_, name, at, _) = self.t, place
        step: str | int = 1
        for size in self.layout.arrays[name][at.split().index("w") + 1 :]:
            step = _product(t, step, size if isinstance(size, int) else self.words[f"size {size}"])
        address = self._address(place)
        for lane in range(t.width):
            t.do(
                f"store {t.scalar} {t.emit(f'extractelement {t.vector} {value}, i32 {lane}')}, ptr {address}, align {t.size}"
            )
            address = t.at(t.scalar, address, step)

    def _address(self, place: Place) -> str:
        t, vector = self.t, self.memory.vector
        if place[0] != "array":
            return t.at(vector, self.values[place[0]], place[1])
        _, name, at, index = place
        flat: str | int = 0
        for size, origin, k in zip(self.layout.arrays[name], at.split(), index, strict=True):
            length = size if isinstance(size, int) else self.words[f"size {size}"]
            flat = _sum(t, _sum(t, _product(t, flat, length), self._origin(origin)), k)
        return t.at(vector, self.words.array(name), flat)

    def _origin(self, origin: str) -> str | int:
        """Origin of an index: see `linkwise.kernel.looped.ORIGINS`."""
        if origin == ".":
            return 0
        if origin in {"10w", "10v"}:
            return _product(self.t, self.values[origin[-1]], 10)
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


def phase_head(number: int) -> str:
    """Head of the function of a phase."""
    return f"define internal void @phase{number}(ptr %head, ptr %work, ptr %numbers)"


class PhaseWriter:
    """Writes the function of one phase, its steps among its loops over rows.

    In the phase `ahead` memory is asked for the rows of arrays that come next, a line with each row of the table: processors
    do not foresee eight short rows at a time, and would wait for lines that are asked for at once.
    """

    def __init__(self, layout: ProgramLayout, t: Text, *, stacked: bool, ahead: RowPass | None = None) -> None:
        self.layout, self.t, self.stacked, self.ahead = layout, t, stacked, ahead

    def text(self, number: int, phase: RowPass) -> str:
        """Emit phase `number`: ``void @phase{number}(ptr head, ptr work, ptr numbers)``."""
        t = self.t
        t.begin()
        t.do(f"%lanes = alloca [3 x {t.vector}], align 64")
        self.words = Words(t, self.layout).placed(self.layout)
        if phase.order == "ground":
            names = {"own": f"{phase.table} records", "own passed": f"{phase.table} passed"}
            ground = {base: t.at(t.vector, "%work", self.words[name]) for base, name in names.items()}
            self._choose("ground", "0", phase.steps, lambda: ground)
        elif phase.order == "walk":
            self._walk(phase)
        else:
            rows = self.words[f"{phase.table} rows"]
            table = self._rows(phase.table)
            soon = self._ahead() if phase is self.ahead and t.width > 1 else []
            with t.counted("rows", rows) as passed:
                for start, write in soon:
                    line = t.at(t.vector, start, passed)
                    t.do(f"call void @llvm.prefetch.p0(ptr {line}, i32 {write}, i32 3, i32 1)")
                back = phase.order == "inward"
                row = table.row(t.emit(f"sub i64 {t.emit(f'sub i64 {rows}, 1')}, {passed}") if back else passed)
                self._choose("step", row["kind"], phase.steps, lambda: table.places(row))
        t.do("ret void")
        return t.function(phase_head(number), kind="noinline #0")

    def _ahead(self) -> list[tuple[str, int]]:
        """Emit: where rows come next of arrays with an element for each row of the table, and whether they are written."""
        t, layout = self.t, self.layout
        arrays = [name for name in (*layout.inputs, *layout.outputs) if layout.arrays[name] in {("nq",), ("nv",)}]
        return [(t.emit(f"load ptr, ptr {ahead_place(t, layout, name)}"), int(name in layout.outputs)) for name in arrays]

    def _rows(self, table: str) -> _Rows:
        return _Rows(self.t, self.words, self.layout, table, stacked=self.stacked)

    def _choose(
        self,
        label: str,
        kind: str,
        steps: Sequence[RowStep | None],
        values: Callable[[], Mapping[str, str]],
        state: Sequence[str] = (),
        lanes: Text | None = None,
    ) -> list[str]:
        """Emit: the step for the kind of a row; `values` emits the addresses and numbers it counts from.

        The state that it leaves in registers is returned.
        """
        t, vector = self.t, (lanes or self.t).vector
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
            writer = StepWriter(step, self.layout, lanes or t, self.words, known, state, stacked=self.stacked, memory=t)
            writer.emit()
            left.append((t.block, writer.following))
            if len(steps) > 1:
                t.do(f"br label %{label}.end")
        if len(steps) == 1:
            return list(left[0][1].values())
        t.start(f"{label}.end")
        return [
            t.emit(f"phi {vector} {', '.join(f'[ {values[k]}, %{block} ]' for block, values in left)}")
            for k in sorted(left[0][1])
        ]

    def _walk(self, phase: RowPass) -> None:
        """Emit the walk from each row to the ground, for each of its velocities, with the state in registers."""
        t, same = self.t, not phase.start_table
        starting, table = self._rows(phase.start_table or phase.table), self._rows(phase.table)
        size = max(len(step.outputs) for step in phase.starts if step is not None)
        space, length = t.emit(f"alloca [{size} x {t.vector}], align 64"), self._state_size(phase)
        rows = self.words[f"{phase.start_table or phase.table} rows"]
        panel = _Panel(t, table, length) if same and t.width == 1 and _is_separable(phase) else None
        with t.counted("rows", rows) as k:
            members, stop = panel.begin(k, rows) if panel else ("1", "-1")
            with t.counted("members", members) as member:
                first = starting.row(t.emit(f"add i64 {k}, {member}"))
                self._choose("start", first["kind"], phase.starts, lambda: {**starting.places(first), "next": space})
                with t.counted("columns", first["count"] if same else "1") as column:
                    w = t.emit(f"add i64 {first['v']}, {column}")
                    at = t.at(t.vector, space, t.emit(f"mul i64 {column}, {length}"))
                    begin, state = first["body"], [t.get(at, number) for number in range(length)]
                    if same:
                        begin, places = first["parent"], {**starting.places(first), "w": w}
                        state = self._choose("own", first["kind"], phase.own, lambda: places, state)
                    state = self._way("way", phase, table, begin, stop, {"w": w, "drive": first["drive"]}, state)
                    if panel:
                        panel.put(member, state)
            if panel:
                panel.go_on(members)
                passed = {"w": table.row(k)["v"], "drive": "0"}
                self._way("together", phase, table, stop, "-1", passed, panel.state(), panel.lanes)
                panel.end()

    def _way(
        self,
        label: str,
        phase: RowPass,
        table: _Rows,
        begin: str,
        stop: str,
        passed: Mapping[str, str],
        state: Sequence[str],
        lanes: Text | None = None,
    ) -> list[str]:
        """Emit: visit the rows from one to below another, with the state in these lanes; the state that is left."""
        t, before = self.t, self.t.block
        vector = (lanes or t).vector
        t.go_on(label)
        place = len(t.lines)
        t.do(f"%{label}.more = icmp ne i64 %{label}.at, {stop}")
        t.do(f"br i1 %{label}.more, label %{label}.visit, label %{label}.done")
        t.start(f"{label}.visit")
        row = table.row(f"%{label}.at")
        names = [f"%{label}.state{number}" for number in range(len(state))]
        following = self._choose(
            f"{label}.kind", row["kind"], phase.steps, lambda: {**table.places(row), **passed}, names, lanes
        )
        t.lines[place:place] = [
            f"  %{label}.at = phi i64 [ {begin}, %{before} ], [ {row['parent']}, %{t.block} ]",
            *(
                f"  {name} = phi {vector} [ {value}, %{before} ], [ {after}, %{t.block} ]"
                for name, value, after in zip(names, state, following, strict=True)
            ),
        ]
        t.do(f"br label %{label}")
        t.start(f"{label}.done")
        return names

    @staticmethod
    def _state_size(phase: RowPass) -> int:
        return max(len([place for place in step.outputs if place[0] == "next"]) for step in phase.steps if step is not None)


def _is_separable(phase: RowPass) -> bool:
    """True if a walk depends on its velocity w only through the state and the destination of elements."""
    steps = [step for step in phase.steps if step is not None]
    read = [place for step in steps for place in step.inputs if place[0] == "array"]
    put = [place for step in steps for place in step.outputs if place[0] != "next"]
    apart = all(not {"w", "10w"} & set(place[2].split()) for place in read)
    return apart and all(place[0] == "array" and place[2].split().count("w") == 1 for place in put)


class _Panel:
    """Walks of a single configuration from consecutive rows, merged in lanes where the last one begins.

    The mass matrix of a chain of 100 joints takes 0.7 of the time (`benchmarks/sizes.py`).
    """

    def __init__(self, t: Text, table: _Rows, length: int) -> None:
        self.t, self.table, self.length, self.lanes = t, table, length, replace(t, width=PANEL)
        self.states = t.emit(f"alloca [{length} x {self.lanes.vector}], align 64")
        self.until = t.emit("alloca i64")
        t.do(f"store i64 0, ptr {self.until}")

    def begin(self, k: str, rows: str) -> tuple[str, str]:
        """Emit: the number of rows from this one on that begin together, and their last rows; none if already done."""
        t, row = self.t, self.table.row(k)
        until = t.emit(f"load i64, ptr {self.until}")
        t.do(f"br i1 {t.emit(f'icmp slt i64 {k}, {until}')}, label %panel.end, label %panel.take")
        t.start("panel.take")
        fits = t.emit(f"icmp slt i64 {t.emit(f'add i64 {k}, {PANEL - 1}')}, {rows}")
        t.do(f"br i1 {fits}, label %panel.look, label %panel.begin")
        t.start("panel.look")
        conditions = [t.emit(f"icmp eq i64 {row['count']}, 1"), t.emit(f"icmp sge i64 {row['parent']}, 0")]
        for offset in range(1, PANEL):
            other = self.table.row(t.emit(f"add i64 {k}, {offset}"))
            expected = {"count": "1", "parent": f"add i64 {k}, {offset - 1}", "v": f"add i64 {row['v']}, {offset}"}
            for name, value in expected.items():
                conditions.append(t.emit(f"icmp eq i64 {other[name]}, {value if name == 'count' else t.emit(value)}"))
        together = t.all(*conditions)
        size, stop = (t.emit(f"select i1 {together}, i64 {x}, i64 {y}") for x, y in ((PANEL, 1), (row["parent"], -1)))
        t.go_on("panel.begin")
        t.do(f"%panel.size = phi i64 [ 1, %panel.take ], [ {size}, %panel.look ]")
        t.do(f"%panel.stop = phi i64 [ -1, %panel.take ], [ {stop}, %panel.look ]")
        t.do(f"store i64 {t.emit(f'add i64 {k}, %panel.size')}, ptr {self.until}")
        return "%panel.size", "%panel.stop"

    def put(self, member: str, state: Sequence[str]) -> None:
        """Emit: store the state of a member's walk at the merging row."""
        lane = self.t.at(self.t.vector, self.states, member)
        for k, value in enumerate(state):
            self.t.put(value, lane, k * PANEL)

    def state(self) -> list[str]:
        """Emit: the states of all members."""
        return [self.lanes.get(self.states, k) for k in range(self.length)]

    def go_on(self, members: str) -> None:
        """Emit: the code that follows is for merged members."""
        t = self.t
        t.do(f"br i1 {t.emit(f'icmp eq i64 {members}, {PANEL}')}, label %panel.on, label %panel.end")
        t.start("panel.on")

    def end(self) -> None:
        """Emit: the end of a panel."""
        self.t.go_on("panel.end")


class _Rows:
    """Addresses of all that belongs to the rows of a table."""

    def __init__(self, t: Text, words: Words, layout: ProgramLayout, table: str, *, stacked: bool) -> None:
        self.t, self.tables, self.table = t, layout.tables, table
        kind = t.vector if stacked else t.scalar
        self.kind = kind
        self.ints = t.at("i64", "%head", words[f"{table} ints"])
        self.records = t.at(t.vector, "%work", words[f"{table} records"])
        self.bodies, self.passed = (t.at(t.vector, "%work", words[f"bodies {part}"]) for part in ("records", "passed"))
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
            "own passed": self._at(self.passed, row["place"], tables["bodies"].passed),
            "parent passed": self._at(self.passed, row["parent's place"], tables["bodies"].passed),
            "body passed": self._record(self.passed, row["body"], tables["bodies"].passed),
            "numbers": t.at(self.kind, self.numbers, t.emit(f"mul i64 {row['row']}, {tables[self.table].numbers}")),
            "q": row["q"],
            "v": row["v"],
            "row": row["row"],
            "drive": row["drive"],
        }

    def _record(self, base: str, index: str, size: int) -> str:
        """The record of a row; that of the ground is the first."""
        return self._at(base, self.t.emit(f"add i64 {index}, 1"), size)

    def _at(self, base: str, index: str, size: int) -> str:
        return self.t.at(self.t.vector, base, self.t.emit(f"mul i64 {index}, {size}"))
