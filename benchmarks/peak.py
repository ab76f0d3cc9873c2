"""The floating-point rate that one core can reach, measured: independent fused multiply-adds on full vectors."""

from __future__ import annotations

import ctypes
import time
from functools import cache

from linkwise.kernel.backends.llvm import lowering as llvm

FLOPS = {"mul": 1, "add": 1, "div": 1, "sqrt": 1, "sin": 12, "cos": 12}
"""What an operation counts for. A sine and a cosine of one angle share their reduction: 24 operations for the pair."""

_CHAINS = 24


@cache
def rate() -> float:
    """Floating-point operations per second of one core on float64."""
    text = llvm.host().text("double")
    v = text.vector
    fma = f"@llvm.fmuladd.{text.suffix}"
    loop = [
        f"  %n{k} = call {v} {fma}({v} %x{k}, {v} {text.number(0.999)}, {v} {text.number(1e-9)})" for k in range(_CHAINS)
    ]
    start = [f"  %x{k} = phi {v} [ {text.number(1.0 + k)}, %entry ], [ %n{k}, %loop ]" for k in range(_CHAINS)]
    total, sums = "%n0", []
    for k in range(1, _CHAINS):
        sums.append(f"  %s{k} = fadd {v} {total}, %n{k}")
        total = f"%s{k}"
    code = "\n".join(
        [
            f"declare {v} {fma}({v}, {v}, {v})",
            'attributes #0 = { "min-legal-vector-width"="512" "prefer-vector-width"="512" }',
            "define void @run(i64 %count, ptr %out) #0 {\nentry:\n  br label %loop\nloop:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *start,
            *loop,
            "  %next = add i64 %i, 1\n  %more = icmp ult i64 %next, %count\n  br i1 %more, label %loop, label %end\nend:",
            *sums,
            f"  store {v} {total}, ptr %out, align 64\n  ret void\n}}",
        ]
    )
    binding = llvm.binding()
    builder = binding.JITLibraryBuilder().add_ir(code).export_symbol("run")
    loaded = builder.link(binding.create_lljit_compiler(llvm.target_machine()), "peak")
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_void_p)(loaded["run"])
    space = ctypes.create_string_buffer(text.vector_size + 64)
    place = (ctypes.addressof(space) + 63) // 64 * 64
    count = 1_000_000
    best = float("inf")
    for _ in range(5):
        begin = time.perf_counter()
        run(count, place)
        best = min(best, time.perf_counter() - begin)
    return 2.0 * text.width * _CHAINS * count / best
