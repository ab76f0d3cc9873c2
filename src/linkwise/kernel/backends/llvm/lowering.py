"""Lowering a tape to machine code with LLVM."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from linkwise.errors import KernelError
from linkwise.expr.ordering import MANY
from linkwise.kernel.backends.llvm.body import Plan, blocks, is_large, part_functions, whole
from linkwise.kernel.backends.llvm.fastcall import entry, has_entry
from linkwise.kernel.backends.llvm.loop import ELEMENT, copying, loop, sending
from linkwise.kernel.backends.llvm.sincos import reduction, slow
from linkwise.kernel.backends.llvm.text import RUNTIME, Text
from linkwise.kernel.tape import Tape, without_collection

#: Counts the changes of the lowering, so that object code of an older one is not used.
LOWERING = "27"

#: The first version of LLVM that reads ``splat``.
SPLATS = 19

SCALARS = {"float64": "double", "float32": "float"}


@dataclass(frozen=True)
class Host:
    """The target machine of the code."""

    cpu: str
    features: str
    version: str
    vector_bytes: int
    has_fma: bool

    def text(self, scalar: str, lanes: int | None = None) -> Text:
        """An empty function body for vectors of the host's width, or of so many lanes."""
        width = lanes or self.vector_bytes // (8 if scalar == "double" else 4)
        return Text(scalar, width, self.has_fma, splats=int(self.version.partition(".")[0] or 0) >= SPLATS)


@cache
def host() -> Host:
    """Query the vector unit of this machine."""
    llvm = binding()
    features = llvm.get_host_cpu_features()
    wide = 64 if features.get("avx512f") else 32 if features.get("avx") else 16
    fma = bool(features.get("fma") or features.get("avx512f") or "aarch64" in llvm.get_default_triple())
    version = ".".join(map(str, llvm.llvm_version_info))
    return Host(llvm.get_host_cpu_name(), features.flatten(), version, wide, fma)


@cache
def binding() -> Any:
    """The binding of llvmlite, set up for this machine."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise KernelError("llvmlite is not installed; kernels use the NumPy lowering") from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


#: Letters of LLVM text from which on it is nearly all arithmetic without branches: the second level of code generation then
#: takes a quarter longer, for code that is no faster.
LONG = 400_000


@cache
def target_machine(level: int = 2) -> Any:
    """Code generation for this machine, position independent, at a level of optimisation."""
    llvm = binding()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=host().cpu, features=host().features, opt=level, reloc="pic", codemodel="default", jit=True
    )


@without_collection()
def assembly(tape: Tape, dtype: str, lanes: int | None = None) -> str:
    """LLVM text of a kernel: ``loop_double`` or ``loop_float`` for one scalar type, or ``call`` for ``"entry"``."""
    plan, make = Plan(tape, has_fma=host().has_fma, plain=tape.length > MANY), partial(vectors, dtype, lanes)
    if dtype == "entry":
        return module([*part_functions(tape, make(), plan), whole(tape, make(), plan), entry(tape, make(), plan)])
    parts = [blocks(tape, make(), plan), loop(tape, make(), plan)]
    if dtype == "float64" and entry_in_loop(tape):
        parts.append(entry(tape, make(), plan))
    return module(parts)


def vectors(dtype: str, lanes: int | None = None) -> Text:
    """An empty function body for the vectors of a kernel: the shortest for ``"entry"``, else the host's or of `lanes`."""
    if dtype == "entry":
        return replace(host(), vector_bytes=16).text("double")
    return host().text(SCALARS[dtype], lanes)


def support(tag: str) -> str:
    """LLVM text of the functions that all kernels on the same vectors call through pointers, where time is not critical."""
    scalar, lanes = re.fullmatch(r"([a-z]+)(\d+)", tag).groups()  # type: ignore[union-attr]
    t = Text(scalar, int(lanes), has_fma=False)
    return module([ELEMENT, reduction(), slow(t), copying(t), sending(t)])


def entry_in_loop(tape: Tape) -> bool:
    """True if the entry for one configuration is in the loop's module, so that large arithmetic is compiled once."""
    return has_entry(tape) and is_large(tape)


def module(parts: Sequence[str], *, table: bool = True) -> str:
    """LLVM text of a module: shared declarations, the table ``runtime`` if it has one, the parts, the called intrinsics."""
    whole = "\n".join([_TABLE * table + _SHARED, *parts])
    intrinsics = sorted(set(re.findall(r"@llvm\.[\w.]+", whole)))
    return "\n".join([whole, *map(_declaration, intrinsics)])


def _declaration(intrinsic: str) -> str:
    """Declare an intrinsic by its name, which includes its type: ``@llvm.fma.v8f64``."""
    if intrinsic in _PLAIN_INTRINSICS:
        result, takes = _PLAIN_INTRINSICS[intrinsic]
        return f"declare {result} {intrinsic}({takes})"
    _, name, kind = intrinsic.split(".")
    lanes, letter, bits = re.fullmatch(r"(?:v(\d+))?([fi])(\d+)", kind).groups()  # type: ignore[union-attr]
    scalar = f"i{bits}" if letter == "i" else {"64": "double", "32": "float"}[bits]
    value = f"<{lanes} x {scalar}>" if lanes else scalar
    arguments = [value] * {"fma": 3, "fshl": 3, "copysign": 2}.get(name, 1) + ["i1"] * (name in {"ctlz", "cttz"})
    return f"declare {value} {intrinsic}({', '.join(arguments)})"


#: Types of intrinsics whose names do not contain them.
_PLAIN_INTRINSICS = {
    "@llvm.masked.store.v8f64.p0": ("void", "<8 x double>, ptr, i32, <8 x i1>"),
    "@llvm.trap": ("void", ""),
    "@llvm.prefetch.p0": ("void", "ptr, i32, i32, i32"),
    "@llvm.x86.sse.stmxcsr": ("void", "ptr"),
    "@llvm.x86.sse.ldmxcsr": ("void", "ptr"),
    "@llvm.aarch64.get.fpcr": ("i64", ""),
    "@llvm.aarch64.set.fpcr": ("void", "i64"),
    "@llvm.nvvm.read.ptx.sreg.tid.x": ("i32", ""),
    "@llvm.nvvm.read.ptx.sreg.ntid.x": ("i32", ""),
    "@llvm.nvvm.read.ptx.sreg.ctaid.x": ("i32", ""),
    "@llvm.nvvm.read.ptx.sreg.nctaid.x": ("i32", ""),
}

_TABLE = f"\n@runtime = dso_local global [{len(RUNTIME)} x ptr] zeroinitializer"
_SHARED = """
attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }
!0 = !{!"branch_weights", i32 1, i32 2000}
!1 = !{!"branch_weights", i32 2000, i32 1}
"""


def object_code(tape: Tape, dtype: str, lanes: int | None = None) -> bytes:
    """Compile a kernel to an object file."""
    return compiled(assembly(tape, dtype, lanes), many=tape.length > MANY)


def compiled(text: str, *, many: bool = False) -> bytes:
    """Compile LLVM text to an object file; without optimisation where it is of too many operations, see `MANY`."""
    llvm = binding()
    module = llvm.parse_assembly(text)
    machine = target_machine(0 if many else 1 if len(text) > LONG else 2)
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return bytes(machine.emit_object(module))
