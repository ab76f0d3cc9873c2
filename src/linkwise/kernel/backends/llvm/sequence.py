"""Sequence of calls as LLVM text: a loop over a table of records of calls, copies and jumps.

``void @loop_double(ptr table)`` reads records of `WORDS` words of 64 bits, the first of which is one of `OPERATIONS`:

    call      function, arguments, dimensions, steps: the inner loop of a gufunc
    copy      to, from, count: numbers of 64 bits
    unless    address, records: these many are skipped unless the number there is above zero
    skip      records: these many are skipped
    end
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.loading import Code, load_made
from linkwise.kernel.backends.llvm.processor import machine_key
from linkwise.kernel.sequence import Copy, KernelCall, Step

#: Counts the changes of the lowering, so that object code of an older one is not used.
LOWERING = "2"

OPERATIONS = ("end", "call", "copy", "unless", "skip")
WORDS = 5


def sequence() -> str:
    """Emit ``@loop_double``."""
    fields = "\n".join(
        f"  %at{k} = getelementptr i64, ptr %record, i64 {k}\n  %word{k} = load i64, ptr %at{k}\n"
        f"  %pointer{k} = inttoptr i64 %word{k} to ptr"
        for k in range(WORDS)
    )
    return f"""
define void @loop_double(ptr %table) #0 {{
entry:
  br label %next
next:
  %record = phi ptr [ %table, %entry ], [ %after, %done ]
{fields}
  switch i64 %word0, label %end [ i64 1, label %call i64 2, label %copy i64 3, label %unless i64 4, label %skip ]
call:
  call void %pointer1(ptr %pointer2, ptr %pointer3, ptr %pointer4, ptr null)
  br label %done
copy:
  %k = phi i64 [ 0, %next ], [ %k1, %element ]
  %more = icmp ult i64 %k, %word3
  br i1 %more, label %element, label %done
element:
  %from = getelementptr i64, ptr %pointer2, i64 %k
  %x = load i64, ptr %from
  %to = getelementptr i64, ptr %pointer1, i64 %k
  store i64 %x, ptr %to
  %k1 = add i64 %k, 1
  br label %copy
unless:
  %above = call i1 @positive(ptr %pointer1)
  %leap.unless = select i1 %above, i64 0, i64 %word2
  br label %done
skip:
  br label %done
done:
  %leap = phi i64 [ 0, %call ], [ 0, %copy ], [ %leap.unless, %unless ], [ %word1, %skip ]
  %ahead = add i64 %leap, 1
  %words = mul i64 %ahead, {WORDS}
  %after = getelementptr i64, ptr %record, i64 %words
  br label %next
end:
  ret void
}}

define internal i1 @positive(ptr %at) #0 {{
  %x = load double, ptr %at, align 8
  %yes = fcmp ogt double %x, 0.0
  ret i1 %yes
}}
"""


def compiled(steps: tuple[Step, ...], held: list[Any]) -> Callable[[], Any]:
    """Compile all steps as one call; objects that must outlive it are appended to `held`."""
    records = [*_records(steps, held), _record("end")]
    table = np.array([word for record in records for word in record], dtype=np.int64)
    code = _code()
    function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(code.address("loop_double"))
    pointer = ctypes.c_void_p(table.ctypes.data)
    held += [table, code, function, pointer]
    return lambda: function(pointer)


def _records(steps: tuple[Step, ...], held: list[Any]) -> list[list[int]]:
    records: list[list[int]] = []
    for step in steps:
        if isinstance(step, KernelCall):
            records.append(_call(step, held))
        elif isinstance(step, Copy):
            if step.to.size != step.source.size:
                raise ValueError(f"{step.source.size} numbers do not go where {step.to.size} are")
            records.append(_record("copy", step.to.ctypes.data, step.source.ctypes.data, step.to.size))
        else:
            then, otherwise = _records(step.then, held), _records(step.otherwise, held)
            then += [_record("skip", len(otherwise))] if otherwise else []
            records += [_record("unless", step.number.ctypes.data, len(then)), *then, *otherwise]
    return records


def _call(call: KernelCall, held: list[Any]) -> list[int]:
    """The arguments, dimensions and steps that NumPy would hand to the inner loop."""
    ufunc = call.part.ufunc
    letters: dict[str, int] = {}
    batches: set[tuple[int, ...]] = set()
    arrays = [*call.inputs, *call.outputs]
    strides: list[int] = []
    inner: list[int] = []
    for array, core in zip(arrays, _cores(ufunc.signature), strict=True):
        split = array.ndim - len(core)
        batches |= {array.shape[:split]} - {()}
        strides.append(array.strides[0] if split else 0)
        inner += array.strides[split:]
        for letter, size in zip(core, array.shape[split:], strict=True):
            if letters.setdefault(letter, size) != size or (letter.isdigit() and int(letter) != size):
                raise ValueError(f"{ufunc.__name__}{ufunc.signature} does not take an array of shape {array.shape}")
    if len(batches) > 1 or any(len(batch) > 1 for batch in batches):
        raise ValueError(f"one batch dimension at most, and the same for all, not {sorted(batches)}")
    count = next(iter(batches))[0] if batches else 1
    pointers = (ctypes.c_void_p * len(arrays))(*[array.ctypes.data for array in arrays])
    dimensions = (ctypes.c_ssize_t * (1 + len(letters)))(count, *letters.values())
    steps = (ctypes.c_ssize_t * (len(strides) + len(inner)))(*strides, *inner)
    held += [pointers, dimensions, steps, ufunc]
    return _record("call", _loop(ufunc), *[ctypes.addressof(block) for block in (pointers, dimensions, steps)])


@cache
def _code() -> Code:
    text = sequence()
    return load_made(machine_key(f"sequence {LOWERING}", "float64"), lambda: llvm.compiled(llvm.module([text])))


def _record(operation: str, *words: int) -> list[int]:
    return [OPERATIONS.index(operation), *words, *[0] * (WORDS - 1 - len(words))]


def _cores(signature: str) -> list[list[str]]:
    """The core dimensions of each argument of a gufunc, as letters."""
    groups = signature.replace("->", ",").replace(" ", "")[1:-1].split("),(")
    return [group.split(",") if group else [] for group in groups]


def _loop(ufunc: Any) -> int:
    """The address of the inner loop for float64."""
    memory = getattr(ufunc, "ufunc", ufunc).__dict__["linkwise"]
    return int(memory.functions[len(memory.functions) - 1])
