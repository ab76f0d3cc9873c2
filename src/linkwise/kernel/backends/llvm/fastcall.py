"""Entry for one configuration: a CPython function that checks its arguments itself, as LLVM text.

It takes only contiguous float64 arrays of the shapes of the inputs, and floats for numbers, runs the kernel on the shortest
vectors there are (every lane of any vector takes the same arithmetic, so the numbers are those of a batch), and hands every
other call, keywords included, to the object it is bound to. What it must know of Python and NumPy stands in the
global ``runtime``, filled in after loading; the offsets into an array object are checked by `linkwise.kernel.gufunc`.
It returns what the gufunc does: an array, a float64 for the shape (), or a tuple of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from linkwise.kernel.backends.llvm.body import Plan
from linkwise.kernel.backends.llvm.loop import STACK
from linkwise.kernel.backends.llvm.rows import CLEARED_ALONE, broadcast_row, columns_of, first_lane, set_constants, unread
from linkwise.kernel.backends.llvm.text import RUNTIME, SUPPORT, Text
from linkwise.kernel.gufunc import FLAGS, FLOAT, OFFSETS
from linkwise.kernel.tape import Tape

#: Arrays that the kernel keeps for each output, in the table ``pool``, with their flags behind them. One without other
#: references is reused instead of allocating: a reference count of one means that only the kernel has it, so that the reuse
#: is invisible.
POOL = 3

#: Scalars in and out of a kernel that still gets an entry.
MOST_SCALARS = 20_000

#: Outputs up to which constants among them are stored one by one, which is fastest, and slow to compile for many.
MOST_STORES = 1000

#: NumPy's number for float64.
DOUBLE = 12


def has_entry(tape: Tape) -> bool:
    """True if a kernel gets a compiled entry: no input is empty, and few enough numbers go in and out to gain by it."""
    return (
        bool(tape.inputs) and all(map(prod, tape.inputs.values())) and tape.input_count + tape.output_count <= MOST_SCALARS
    )


def entry(tape: Tape, t: Text, plan: Plan) -> str:
    """Emit ``PyObject *call(PyObject *self, PyObject **args, ssize_t nargs, PyObject *kwnames)``.

    For kernels for which `has_entry` holds.
    """
    return EntryCode(tape, t, plan).text()


class EntryCode:
    """Writes the function around the arithmetic of a tape.

    Attributes
    ----------
    sizes : list of tuple
        Shapes of the inputs: numbers, or the names of values that are loaded first.
    shapes : list of tuple
        Those of the outputs.
    """

    sizes: list[tuple[Any, ...]]
    shapes: list[Any]

    def __init__(self, tape: Tape, t: Text, plan: Plan) -> None:
        self.tape, self.t = tape, t
        self.sizes = list(tape.inputs.values())
        self.shapes = list(tape.outputs.values())
        self.firsts = [sum(map(prod, self.shapes[:k])) for k in range(len(self.shapes))]
        self.large = plan.together > 1
        self.columns = columns_of(t, tape, "entry_columns", CLEARED_ALONE)
        self.room = {"in": tape.input_count, "out": len(tape.results), "space": plan.space if self.large else 0}
        self.kept = self.large or sum(self.room.values()) * t.vector_size > STACK

    def text(self) -> str:
        """Emit it."""
        t = self.t
        t.begin()
        tables = self._room()
        for k, name in enumerate(RUNTIME[: -len(SUPPORT)]):
            t.do(f"%{name} = load ptr, ptr {t.at('ptr', '@runtime', k)}")
        t.do("%plain = icmp eq ptr %kwnames, null")
        t.do(f"%enough = icmp eq i64 %nargs, {len(self.sizes)}")
        t.do("%usual = and i1 %plain, %enough")
        t.do("br i1 %usual, label %check0, label %other, !prof !1")
        for k, shape in enumerate(self.sizes):
            _check(t, k, shape, f"check{k + 1}" if k + 1 < len(self.sizes) else "make")
        self._make()
        self._compute()
        self._return()
        t.start("other")
        t.do("%handed = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
        t.do("ret ptr %handed")
        tables.append(
            f"@pool = dso_local global [{max(1, (POOL + 1) * len(list(filter(None, self.shapes))))} x ptr] zeroinitializer"
        )
        tables += self._shapes()
        head = "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #0 {"
        return "\n".join([*tables, head, *t.lines, "}"]) + "\n"

    def _shapes(self) -> list[str]:
        tables = [columns.tables(self.t) for columns in self.columns if columns and columns.cleared]
        return tables + [
            f"@shape{k} = internal constant [{max(1, len(shape))} x i64] [{', '.join(f'i64 {n}' for n in shape) or 'i64 0'}]"
            for k, shape in enumerate(self.shapes)
        ]

    def _shape(self, k: int) -> str:
        """Name of the shape of an output."""
        return f"@shape{k}"

    def _room(self) -> list[str]:
        """Room for vectors: on the stack, or, if it is much, in memory of the kernel, which has the interpreter's lock."""
        t, align = self.t, max(64, self.t.vector_size)
        if self.kept:
            kind = {name: f"[{max(1, size)} x {t.vector}]" for name, size in self.room.items()}
            for name in kind:
                t.do(f"%{name} = getelementptr i8, ptr @entry_{name}, i64 0")
            return [f"@entry_{name} = internal global {room} zeroinitializer, align {align}" for name, room in kind.items()]
        for name, size in self.room.items():
            t.do(f"%{name} = alloca [{max(1, size)} x {t.vector}], align {align}")
        return []

    def data_of(self, array: str) -> str:
        """Emit: address of the elements of an array."""
        return _field(self.t, array, "data", "ptr")

    def _make(self) -> None:
        """Emit the result arrays, except scalars, which have a value from the start."""
        t = self.t
        t.start("make")
        if len(self.shapes) > 1:
            t.do(f"%tuple = call ptr %new_tuple(i64 {len(self.shapes)})")
            t.do("%none = icmp eq ptr %tuple, null")
            t.do("br i1 %none, label %error, label %output0, !prof !0")
        else:
            t.do("br label %output0")
        before = 0
        for k, shape in enumerate(self.shapes):
            t.start(f"output{k}")
            if shape:
                _array(t, k, shape, (POOL + 1) * before, self._shape(k))
                before += 1
                self._put(k)
            t.do(f"br label %{f'output{k + 1}' if k + 1 < len(self.shapes) else 'run'}")

    def _put(self, k: int) -> None:
        if len(self.shapes) > 1:
            self.t.emit(f"call i32 %set_item(ptr %tuple, i64 {k}, ptr %result{k})")

    def _compute(self) -> None:
        t = self.t
        t.start("run")
        first = 0
        for k, size in enumerate(map(prod, self.sizes)):
            broadcast_row(t, f"%data{k}", t.at(t.vector, "%in", first), size)
            first += size
        many = len(self.tape.results) > MOST_STORES
        set_constants(t, self.tape, "%out", looped=many, unread=unread(self.columns, self.firsts))
        if self.large:
            t.do(f"call void @blocks_{t.tag}(ptr %in, ptr %out, ptr %space, i64 1)")
        else:
            t.do(f"call void @body_{t.tag}(ptr %in, ptr %out)")
        for k, shape in enumerate(self.shapes):
            source = t.at(t.vector, "%out", self.firsts[k])
            if shape:
                first_lane(t, _field(t, f"%result{k}", "data", "ptr"), source, prod(shape), self.columns[k])
                continue
            self._make_scalar(k, source)

    def _make_scalar(self, k: int, source: str) -> None:
        """Emit: output k is the number there."""
        t = self.t
        t.do(f"%result{k} = call ptr %new_scalar(ptr {source}, ptr %descr, ptr null)")
        t.do(f"%lost{k} = icmp eq ptr %result{k}, null")
        t.do(f"br i1 %lost{k}, label %failed, label %scalar{k}, !prof !0")
        t.start(f"scalar{k}")
        self._put(k)

    def _return(self) -> None:
        t, several = self.t, len(self.shapes) > 1
        t.do(f"ret ptr {'%tuple' if several else '%result0'}")
        t.start("failed")
        if several:
            t.do("call void %decref(ptr %tuple)")
        t.go_on("error")
        t.do("ret ptr null")


def _array(t: Text, k: int, shape: Sequence[object], first: int, dimensions: str) -> None:
    """Emit: ``%result`` is an unshared array of the pool, with an owned reference, else a new one."""
    flags = t.load("i64", "@pool", first + POOL)
    t.do(f"br label %try{k}.0")
    for number in range(POOL):
        label = f"{k}.{number}"
        then = f"try{k}.{number + 1}" if number + 1 < POOL else f"fresh{k}"
        t.start(f"try{label}")
        t.do(f"%pool{label} = load ptr, ptr {t.at('ptr', '@pool', first + number)}")
        count = t.emit(f"load i32, ptr %pool{label}")
        free = t.emit(f"icmp eq i32 {count}, 1")
        t.do(f"br i1 {free}, label %look{label}, label %{then}")
        t.start(f"look{label}")
        same = t.emit(f"icmp eq i32 {_field(t, f'%pool{label}', 'nd', 'i32')}, {len(shape)}")
        held = t.emit(f"zext i32 {_field(t, f'%pool{label}', 'flags', 'i32')} to i64")
        conditions = [
            t.emit(f"icmp eq i64 {held}, {flags}"),
            t.emit(f"icmp eq ptr {_field(t, f'%pool{label}', 'descr', 'ptr')}, %descr"),
            t.emit(f"icmp eq ptr {_field(t, f'%pool{label}', 'weakrefs', 'ptr')}, null"),
        ]
        lengths = _field(t, f"%pool{label}", "dimensions", "ptr")
        t.do(f"br i1 {same}, label %size{label}, label %{then}")
        t.start(f"size{label}")
        for axis, length in enumerate(shape):
            conditions.append(t.emit(f"icmp eq i64 {t.load('i64', lengths, axis)}, {length}"))
        t.do(f"br i1 {t.all(*conditions)}, label %take{label}, label %{then}, !prof !1")
        t.start(f"take{label}")
        t.do(f"store i32 2, ptr %pool{label}")
        t.do(f"br label %made{k}")
    t.start(f"fresh{k}")
    t.do(
        f"%new{k} = call ptr %new_array(ptr %array_type, i32 {len(shape)}, ptr {dimensions}, i32 {DOUBLE}, "
        "ptr null, ptr null, i32 0, i32 0, ptr null)"
    )
    t.do(f"%lacking{k} = icmp eq ptr %new{k}, null")
    t.do(f"br i1 %lacking{k}, label %failed, label %made{k}, !prof !0")
    t.start(f"made{k}")
    sources = [f"[ %pool{k}.{number}, %take{k}.{number} ]" for number in range(POOL)]
    t.do(f"%result{k} = phi ptr {', '.join([*sources, f'[ %new{k}, %fresh{k} ]'])}")


def _check(t: Text, k: int, shape: Sequence[object], then: str) -> None:
    """Emit: continue if argument k is a contiguous float64 array of this shape, or a float for (), else forward the call."""
    t.start(f"check{k}")
    t.do(f"%array{k} = load ptr, ptr {t.at('ptr', '%args', k)}")
    known = t.emit(f"icmp eq ptr {_field(t, f'%array{k}', 'type', 'ptr')}, {'%array_type' if shape else '%float_type'}")
    t.do(f"br i1 {known}, label %look{k}, label %other, !prof !1")
    t.start(f"look{k}")
    if not shape:
        t.do(f"%data{k} = getelementptr i8, ptr %array{k}, i64 {FLOAT}")
        t.do(f"br label %{then}")
        return
    right_dimensions = t.emit(f"icmp eq i32 {_field(t, f'%array{k}', 'nd', 'i32')}, {len(shape)}")
    double = t.emit(f"icmp eq ptr {_field(t, f'%array{k}', 'descr', 'ptr')}, %descr")
    flags = t.emit(f"and i32 {_field(t, f'%array{k}', 'flags', 'i32')}, {FLAGS}")
    tidy = t.emit(f"icmp eq i32 {flags}, {FLAGS}")
    t.do(f"br i1 {t.all(right_dimensions, double, tidy)}, label %count{k}, label %other, !prof !1")
    t.start(f"count{k}")
    lengths = _field(t, f"%array{k}", "dimensions", "ptr")
    right = [t.emit(f"icmp eq i64 {t.load('i64', lengths, axis)}, {size}") for axis, size in enumerate(shape)]
    t.do(f"%data{k} = load ptr, ptr {_address(t, f'%array{k}', 'data')}")
    t.do(f"br i1 {t.all(*right)}, label %{then}, label %other, !prof !1")


def _address(t: Text, array: str, field: str) -> str:
    return t.emit(f"getelementptr i8, ptr {array}, i64 {OFFSETS[field]}")


def _field(t: Text, array: str, field: str, kind: str) -> str:
    return t.emit(f"load {kind}, ptr {_address(t, array, field)}")
