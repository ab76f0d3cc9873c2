"""A second way in, for one configuration: a CPython function that checks its arguments itself, as LLVM text.

It takes only one-dimensional contiguous float64 arrays of the right length, runs the kernel on the shortest vectors
there are (every lane of any vector takes the same arithmetic, so the numbers are those of a batch), and hands every
other call, keywords included, to the object it is bound to. What it must know of Python and NumPy stands in the
global ``runtime``, filled in after loading; the offsets into an array object are checked by `linkwise.kernel.entry`.
"""

from __future__ import annotations

from math import prod

from linkwise.kernel.llvm_rows import broadcast_row, first_lane, set_constants
from linkwise.kernel.llvm_text import RUNTIME, Text
from linkwise.kernel.tape import Tape

OFFSETS = {"type": 8, "data": 16, "nd": 24, "dimensions": 32, "descr": 56, "flags": 64, "weakrefs": 72}
"""Where the fields of a NumPy array object stand, in bytes, on a 64-bit machine."""

POOL = ("pool0", "pool1", "pool2")
"""Output arrays that the kernel keeps. One that nobody else holds any more is used again instead of allocating: a reference
count of one means that only the kernel has it, so nobody can tell."""

MOST_SCALARS = 2000
"""Scalars in and out of a kernel that still gets an entry."""

FLAGS = 0x101
"""C contiguous and aligned."""

DOUBLE = 12
"""NumPy's number for float64."""


def entry(tape: Tape, t: Text) -> str:
    """Emit ``PyObject *call(PyObject *self, PyObject **args, ssize_t nargs, PyObject *kwnames)``.

    For kernels for which `has_entry` holds.
    """
    sizes = [prod(shape) for shape in tape.inputs.values()]
    (shape,) = tape.outputs.values()
    t.do(f"%in = alloca [{max(1, sum(sizes))} x {t.vector}], align {max(64, t.vector_size)}")
    t.do(f"%out = alloca [{max(1, prod(shape))} x {t.vector}], align {max(64, t.vector_size)}")
    for k, name in enumerate(RUNTIME):
        address = t.emit(f"getelementptr ptr, ptr @runtime, i64 {k}")
        t.do(f"%{name} = load ptr, ptr {address}")
    t.do("%plain = icmp eq ptr %kwnames, null")
    t.do(f"%enough = icmp eq i64 %nargs, {len(sizes)}")
    t.do("%usual = and i1 %plain, %enough")
    t.do("br i1 %usual, label %check0, label %other, !prof !1")
    for k, size in enumerate(sizes):
        _check(t, k, size, f"check{k + 1}" if k + 1 < len(sizes) else "make")
    _output(t, shape)
    t.start("run")
    sources = [f"[ %{name}, %take_{name} ]" for name in POOL]
    t.do(f"%result = phi ptr {', '.join([*sources, '[ %new, %fresh ]'])}")
    first = 0
    for k, size in enumerate(sizes):
        buffer = t.emit(f"getelementptr {t.vector}, ptr %in, i64 {first}")
        broadcast_row(t, f"%data{k}", buffer, size)
        first += size
    set_constants(t, tape, "%out")
    t.do(f"call void @body_{t.tag}(ptr %in, ptr %out)")
    target = _field(t, "%result", "data", "ptr")
    first_lane(t, target, "%out", prod(shape))
    t.do("ret ptr %result")
    t.start("error")
    t.do("ret ptr null")
    t.start("other")
    t.do("%handed = call ptr %vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")
    t.do("ret ptr %handed")
    lengths = ", ".join(f"i64 {length}" for length in shape) or "i64 0"
    head = f"@shape = internal constant [{max(1, len(shape))} x i64] [{lengths}]\n"
    signature = "define ptr @call(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) #0 {\nentry:\n"
    return head + signature + "\n".join(t.lines) + "\n}\n"


def _output(t: Text, shape: tuple[int, ...]) -> None:
    """Emit: ``%result`` is an array of the pool that nobody else holds, with an owned reference, else a new one."""
    for k, name in enumerate(POOL):
        then = f"try{k + 1}" if k + 1 < len(POOL) else "fresh"
        t.start("make" if k == 0 else f"try{k}")
        count = t.emit(f"load i32, ptr %{name}")
        free = t.emit(f"icmp eq i32 {count}, 1")
        t.do(f"br i1 {free}, label %look_{name}, label %{then}")
        t.start(f"look_{name}")
        same = t.emit(f"icmp eq i32 {_field(t, f'%{name}', 'nd', 'i32')}, {len(shape)}")
        flags = t.emit("ptrtoint ptr %flags to i64")
        found = t.emit(f"zext i32 {_field(t, f'%{name}', 'flags', 'i32')} to i64")
        conditions = [
            t.emit(f"icmp eq i64 {found}, {flags}"),
            t.emit(f"icmp eq ptr {_field(t, f'%{name}', 'descr', 'ptr')}, %descr"),
            t.emit(f"icmp eq ptr {_field(t, f'%{name}', 'weakrefs', 'ptr')}, null"),
        ]
        lengths = _field(t, f"%{name}", "dimensions", "ptr")
        t.do(f"br i1 {same}, label %size_{name}, label %{then}")
        t.start(f"size_{name}")
        for axis, length in enumerate(shape):
            address = t.emit(f"getelementptr i64, ptr {lengths}, i64 {axis}")
            value = t.emit(f"load i64, ptr {address}")
            conditions.append(t.emit(f"icmp eq i64 {value}, {length}"))
        good = conditions[0]
        for condition in conditions[1:]:
            good = t.emit(f"and i1 {good}, {condition}")
        t.do(f"br i1 {good}, label %take_{name}, label %{then}, !prof !1")
        t.start(f"take_{name}")
        t.do(f"store i32 2, ptr %{name}")
        t.do("br label %run")
    t.start("fresh")
    t.do(
        f"%new = call ptr %new_array(ptr %array_type, i32 {len(shape)}, ptr @shape, i32 {DOUBLE}, "
        "ptr null, ptr null, i32 0, i32 0, ptr null)"
    )
    t.do("%failed = icmp eq ptr %new, null")
    t.do("br i1 %failed, label %error, label %run, !prof !0")


def has_entry(tape: Tape) -> bool:
    """Whether a kernel gets a compiled entry: one output, vectors in, and not so many that the stack would be crowded."""
    vectors = all(len(shape) == 1 and shape[0] for shape in tape.inputs.values())
    return len(tape.outputs) == 1 and vectors and tape.input_count + len(tape.results) <= MOST_SCALARS


def _check(t: Text, k: int, size: int, then: str) -> None:
    """Emit: go on if argument k is a contiguous float64 array of this length, else hand the call over."""
    t.start(f"check{k}")
    address = t.emit(f"getelementptr ptr, ptr %args, i64 {k}")
    t.do(f"%array{k} = load ptr, ptr {address}")
    kind = _field(t, f"%array{k}", "type", "ptr")
    is_array = t.emit(f"icmp eq ptr {kind}, %array_type")
    t.do(f"br i1 {is_array}, label %look{k}, label %other, !prof !1")
    t.start(f"look{k}")
    dimensions = _field(t, f"%array{k}", "nd", "i32")
    flat = t.emit(f"icmp eq i32 {dimensions}, 1")
    descr = _field(t, f"%array{k}", "descr", "ptr")
    double = t.emit(f"icmp eq ptr {descr}, %descr")
    flags = _field(t, f"%array{k}", "flags", "i32")
    wanted = t.emit(f"and i32 {flags}, {FLAGS}")
    tidy = t.emit(f"icmp eq i32 {wanted}, {FLAGS}")
    good = t.emit(f"and i1 {flat}, {double}")
    good = t.emit(f"and i1 {good}, {tidy}")
    t.do(f"br i1 {good}, label %count{k}, label %other, !prof !1")
    t.start(f"count{k}")
    lengths = _field(t, f"%array{k}", "dimensions", "ptr")
    length = t.emit(f"load i64, ptr {lengths}")
    right = t.emit(f"icmp eq i64 {length}, {size}")
    t.do(f"%data{k} = load ptr, ptr {_address(t, f'%array{k}', 'data')}")
    t.do(f"br i1 {right}, label %{then}, label %other, !prof !1")


def _address(t: Text, array: str, field: str) -> str:
    return t.emit(f"getelementptr i8, ptr {array}, i64 {OFFSETS[field]}")


def _field(t: Text, array: str, field: str, kind: str) -> str:
    return t.emit(f"load {kind}, ptr {_address(t, array, field)}")
