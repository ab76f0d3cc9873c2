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
from linkwise.kernel.tape import Shape

#: Where the fields of the frame, of a buffer and of the metadata stand, in bytes, on a 64-bit machine.
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
    """
  %kept = alloca i32
  %usual = alloca i32
  call void @llvm.x86.sse.stmxcsr(ptr %kept)
  store i32 8064, ptr %usual
  call void @llvm.x86.sse.ldmxcsr(ptr %usual)""",
    "  call void @llvm.x86.sse.ldmxcsr(ptr %kept)",
)
_ARM = (
    """
  %kept = call i64 @llvm.aarch64.get.fpcr()
  call void @llvm.aarch64.set.fpcr(i64 0)""",
    "  call void @llvm.aarch64.set.fpcr(i64 %kept)",
)

#: What puts the processor's floating point into its usual mode, and back into that in which the handler was called.
ROUNDING = {"x86_64": _X86, "amd64": _X86, "aarch64": _ARM, "arm64": _ARM}


def handler(inputs: Sequence[Shape], outputs: Sequence[Shape], size: int, version: tuple[int, int]) -> str:
    """Emit ``@call`` for a gufunc of these shapes, of numbers of `size` bytes, for a version of the interface."""
    shapes = [*inputs, *outputs]
    letters = list(dict.fromkeys(length for shape in shapes for length in shape))
    inner = [size * prod(shape[axis + 1 :]) for shape in shapes for axis in range(len(shape))]
    lines: list[str] = []
    for k, shape in enumerate(shapes):
        source, index = ("arguments", k) if k < len(inputs) else ("results", k - len(inputs))
        lines.append(f"""
  %slot{k} = getelementptr ptr, ptr %{source}, i64 {index}
  %buffer{k} = load ptr, ptr %slot{k}
  %from{k} = getelementptr i8, ptr %buffer{k}, i64 {OFFSETS["buffer.data"]}
  %data{k} = load ptr, ptr %from{k}
  %to{k} = getelementptr ptr, ptr %pointers, i64 {k}
  store ptr %data{k}, ptr %to{k}
  %rows{k} = call i64 @rows(ptr %buffer{k}, i64 {len(shape)})
  %same{k} = icmp eq i64 %rows{k}, 1
  %step{k} = select i1 %same{k}, i64 0, i64 {size * prod(shape)}
  %at{k} = getelementptr i64, ptr %steps, i64 {k}
  store i64 %step{k}, ptr %at{k}""")
    for name, first, values in (("dimensions", 1, letters), ("steps", len(shapes), inner)):
        for k, value in enumerate(values, first):
            lines.append(f"  %{name}{k} = getelementptr i64, ptr %{name}, i64 {k}\n  store i64 {value}, ptr %{name}{k}")
    body = "\n".join(lines)
    before, after = ROUNDING.get(platform.machine().lower(), ("", ""))
    return f"""
@place = dso_local global [2 x ptr] zeroinitializer

define i64 @rows(ptr %buffer, i64 %core) #0 {{
entry:
  %at.rank = getelementptr i8, ptr %buffer, i64 {OFFSETS["buffer.rank"]}
  %rank = load i64, ptr %at.rank
  %at.sizes = getelementptr i8, ptr %buffer, i64 {OFFSETS["buffer.sizes"]}
  %sizes = load ptr, ptr %at.sizes
  %count = sub i64 %rank, %core
  br label %next
next:
  %k = phi i64 [ 0, %entry ], [ %k1, %take ]
  %product = phi i64 [ 1, %entry ], [ %longer, %take ]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %take, label %done
take:
  %at = getelementptr i64, ptr %sizes, i64 %k
  %length = load i64, ptr %at
  %longer = mul i64 %product, %length
  %k1 = add i64 %k, 1
  br label %next
done:
  ret i64 %product
}}

define ptr @call(ptr %frame) #0 {{
entry:
  %pointers = alloca [{len(shapes)} x ptr]
  %dimensions = alloca [{1 + len(letters)} x i64]
  %steps = alloca [{len(shapes) + len(inner)} x i64]
  %at.extension = getelementptr i8, ptr %frame, i64 {OFFSETS["frame.extension"]}
  %extension = load ptr, ptr %at.extension
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %staged, label %extended
extended:
  %at.type = getelementptr i8, ptr %extension, i64 {OFFSETS["extension.type"]}
  %type = load i32, ptr %at.type
  %asks = icmp eq i32 %type, {METADATA}
  br i1 %asks, label %answer, label %staged
answer:
  %at.metadata = getelementptr i8, ptr %extension, i64 {OFFSETS["extension.metadata"]}
  %metadata = load ptr, ptr %at.metadata
  %at.major = getelementptr i8, ptr %metadata, i64 {OFFSETS["metadata.major"]}
  store i32 {version[0]}, ptr %at.major
  %at.minor = getelementptr i8, ptr %metadata, i64 {OFFSETS["metadata.minor"]}
  store i32 {version[1]}, ptr %at.minor
  ret ptr null
staged:
  %at.stage = getelementptr i8, ptr %frame, i64 {OFFSETS["frame.stage"]}
  %stage = load i32, ptr %at.stage
  %executes = icmp eq i32 %stage, {EXECUTE}
  br i1 %executes, label %execute, label %done
execute:
  %at.arguments = getelementptr i8, ptr %frame, i64 {OFFSETS["frame.arguments"]}
  %arguments = load ptr, ptr %at.arguments
  %at.results = getelementptr i8, ptr %frame, i64 {OFFSETS["frame.results"]}
  %results = load ptr, ptr %at.results
{body}
  store i64 %rows{len(inputs)}, ptr %dimensions
  %empty = icmp eq i64 %rows{len(inputs)}, 0
  br i1 %empty, label %done, label %run
run:
  %at.loop = load ptr, ptr @place
  %loop = load ptr, ptr %at.loop
  %at.data = getelementptr ptr, ptr @place, i64 1
  %data = load ptr, ptr %at.data
{before}
  call void %loop(ptr %pointers, ptr %dimensions, ptr %steps, ptr %data)
{after}
  ret ptr null
done:
  ret ptr null
}}
"""


def compiled(
    ufunc: Any, inputs: Sequence[Shape], outputs: Sequence[Shape], dtype: str, version: tuple[int, int]
) -> tuple[int, Code] | None:
    """The address of the handler of a gufunc, and what must live as long; None for what has no inner loop."""
    memory = getattr(getattr(ufunc, "ufunc", ufunc), "__dict__", {}).get("linkwise")
    if memory is None:
        return None
    size, index = (4, 0) if dtype == "float32" else (8, 1)
    text = handler(inputs, outputs, size, version)
    key = machine_key(f"xla handler {hashlib.sha256(text.encode()).hexdigest()}", dtype)
    code = load_made(key, lambda: llvm.compiled(llvm.module([text])))
    place = (ctypes.c_void_p * 2).from_address(code.address("place"))
    place[0] = ctypes.addressof(memory.functions) + 8 * index  # (the loop itself is put there when it is first run)
    place[1] = memory.data[index]
    return code.address("call"), code
