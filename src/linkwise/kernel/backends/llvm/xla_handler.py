"""A handler of XLA's foreign function interface around the inner loop of a gufunc, as LLVM text.

``ptr @call(ptr frame)`` reads the call frame of XLA (``XLA_FFI_CallFrame`` in the header ``xla/ffi/api/c_api.h`` that jaxlib
ships), lays out what NumPy would hand to the loop, and calls it: nothing is copied. An input without a batch is one for all.
XLA has the processor take subnormal numbers for zero; the loop runs without that, and so gives the bits that NumPy gets.
"""

from __future__ import annotations

import ctypes
import hashlib
import platform
from collections.abc import Sequence
from math import prod
from typing import Any

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.loading import Code, load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.tape import Shape

#: Offsets of the fields of the frame, of a buffer and of the metadata, in bytes, on a 64-bit machine.
OFFSETS = {
    "frame.extension": 8,
    "frame.stage": 32,
    "frame.arguments": 72,
    "frame.results": 112,
    "buffer.data": 24,
    "buffer.rank": 32,
    "buffer.sizes": 40,
    "extension.type": 8,
    "extension.metadata": 24,
    "metadata.major": 24,
    "metadata.minor": 28,
}

#: The values of ``XLA_FFI_ExecutionStage_EXECUTE`` and ``XLA_FFI_Extension_Metadata``.
EXECUTE, METADATA = 3, 1

_X86 = (
    (
        "%kept = alloca i32",
        "%usual = alloca i32",
        "call void @llvm.x86.sse.stmxcsr(ptr %kept)",
        "store i32 8064, ptr %usual",
        "call void @llvm.x86.sse.ldmxcsr(ptr %usual)",
    ),
    ("call void @llvm.x86.sse.ldmxcsr(ptr %kept)",),
)
_ARM = (
    ("%kept = call i64 @llvm.aarch64.get.fpcr()", "call void @llvm.aarch64.set.fpcr(i64 0)"),
    ("call void @llvm.aarch64.set.fpcr(i64 %kept)",),
)

#: Code that sets the default floating-point mode, and restores that of the caller.
ROUNDING = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}


def handler(inputs: Sequence[Shape], outputs: Sequence[Shape], size: int, version: tuple[int, int]) -> str:
    """Emit ``@call`` for a gufunc of these shapes, of numbers of `size` bytes, for a version of the interface."""
    t, shapes = Text("double", 1, has_fma=False), [*inputs, *outputs]
    letters = list(dict.fromkeys(length for shape in shapes for length in shape))
    inner = [size * prod(shape[axis + 1 :]) for shape in shapes for axis in range(len(shape))]
    before, after = ROUNDING.get(platform.machine().lower(), ((), ()))
    counting = _rows(t)
    t.begin()
    rooms = {
        "pointers": (len(shapes), "ptr"),
        "dimensions": (1 + len(letters), "i64"),
        "steps": (len(shapes + inner), "i64"),
    }
    for name, (length, kind) in rooms.items():
        t.do(f"%{name} = alloca [{length} x {kind}]")
    _answer_version(t, version)
    executes = t.emit(f"icmp eq i32 {_field(t, 'i32', '%frame', 'frame.stage')}, {EXECUTE}")
    t.do(f"br i1 {executes}, label %execute, label %done")
    t.start("execute")
    sources = [_field(t, "ptr", "%frame", f"frame.{name}") for name in ("arguments", "results")]
    buffers = [t.load("ptr", sources[0], k) for k in range(len(inputs))]
    buffers += [t.load("ptr", sources[1], k) for k in range(len(outputs))]
    rows = [t.emit(f"call i64 @rows(ptr {x}, i64 {len(shape)})") for x, shape in zip(buffers, shapes, strict=True)]
    for k, (buffer, shape) in enumerate(zip(buffers, shapes, strict=True)):
        _store(t, "ptr", _field(t, "ptr", buffer, "buffer.data"), "%pointers", k)
        alone = t.emit(f"icmp eq i64 {rows[k]}, 1")
        _store(t, "i64", t.emit(f"select i1 {alone}, i64 0, i64 {size * prod(shape)}"), "%steps", k)
    for name, begin, values in (("dimensions", 1, letters), ("steps", len(shapes), inner)):
        for k, value in enumerate(values, begin):
            _store(t, "i64", str(value), f"%{name}", k)
    count = rows[len(inputs)]
    _store(t, "i64", count, "%dimensions", 0)
    t.do(f"br i1 {t.emit(f'icmp eq i64 {count}, 0')}, label %done, label %run")
    t.start("run")
    loop, data = t.load("ptr", t.load("ptr", "@place", 0), 0), t.load("ptr", "@place", 1)
    for line in (*before, f"call void {loop}(ptr %pointers, ptr %dimensions, ptr %steps, ptr {data})", *after):
        t.do(line)
    t.go_on("done")
    t.do("ret ptr null")
    place = "@place = dso_local global [2 x ptr] zeroinitializer"
    return "\n".join([place, counting, t.function("define ptr @call(ptr %frame)")])


def _field(t: Text, kind: str, structure: str, name: str) -> str:
    """Emit: a field of a structure of XLA."""
    return t.emit(f"load {kind}, ptr {t.at('i8', structure, OFFSETS[name])}")


def _store(t: Text, kind: str, value: str, base: str, k: int) -> None:
    t.do(f"store {kind} {value}, ptr {t.at(kind, base, k)}")


def _rows(t: Text) -> str:
    """Emit ``@rows``: the number of rows of a buffer whose last axes are the core."""
    t.begin()
    t.do("%product = alloca i64")
    t.do("store i64 1, ptr %product")
    sizes = _field(t, "ptr", "%buffer", "buffer.sizes")
    with t.counted("axis", t.emit(f"sub i64 {_field(t, 'i64', '%buffer', 'buffer.rank')}, %core")) as axis:
        _store(t, "i64", t.emit(f"mul i64 {t.load('i64', '%product', 0)}, {t.load('i64', sizes, axis)}"), "%product", 0)
    t.do(f"ret i64 {t.load('i64', '%product', 0)}")
    return t.function("define i64 @rows(ptr %buffer, i64 %core)")


def _answer_version(t: Text, version: tuple[int, int]) -> None:
    """Emit: return with the version where XLA asks for that."""
    t.do(f"%extension = load ptr, ptr {t.at('i8', '%frame', OFFSETS['frame.extension'])}")
    t.do(f"br i1 {t.emit('icmp eq ptr %extension, null')}, label %staged, label %extended")
    t.start("extended")
    asks = t.emit(f"icmp eq i32 {_field(t, 'i32', '%extension', 'extension.type')}, {METADATA}")
    t.do(f"br i1 {asks}, label %answer, label %staged")
    t.start("answer")
    metadata = _field(t, "ptr", "%extension", "extension.metadata")
    for name, number in zip(("metadata.major", "metadata.minor"), version, strict=True):
        t.do(f"store i32 {number}, ptr {t.at('i8', metadata, OFFSETS[name])}")
    t.do("ret ptr null")
    t.start("staged")


def compiled(
    ufunc: Any, inputs: Sequence[Shape], outputs: Sequence[Shape], dtype: str, version: tuple[int, int]
) -> tuple[int, Code] | None:
    """Address of a gufunc's handler, and the objects that must outlive it; None if it has no inner loop."""
    memory = getattr(getattr(ufunc, "ufunc", ufunc), "__dict__", {}).get("linkwise")
    if memory is None:
        return None
    size, index = (4, 0) if dtype == "float32" else (8, 1)
    text = handler(inputs, outputs, size, version)
    key = machine_key(f"xla handler {hashlib.sha256(text.encode()).hexdigest()}", dtype)
    code = load_made(key, lambda: llvm.compiled(llvm.module([text])))
    place = (ctypes.c_void_p * 2).from_address(code.address("place"))
    place[0] = ctypes.addressof(memory.functions) + 8 * index  # (the loop itself is stored there on its first run)
    place[1] = memory.data[index]
    return code.address("call"), code
