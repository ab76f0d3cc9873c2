"""Lowering a tape to machine code with LLVM."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

from linkwise.errors import KernelError
from linkwise.kernel.llvm_body import body
from linkwise.kernel.llvm_entry import entry
from linkwise.kernel.llvm_loop import ELEMENT, helpers, loop
from linkwise.kernel.llvm_text import RUNTIME, Text
from linkwise.kernel.tape import Tape

LOWERING = "2"
"""Counts the changes of the lowering, so that object code of an older one is not used."""

SCALARS = {"float64": "double", "float32": "float"}


@dataclass(frozen=True)
class Host:
    """The machine that code is made for."""

    cpu: str
    features: str
    version: str
    vector_bytes: int
    has_fma: bool

    def text(self, scalar: str) -> Text:
        """An empty function body for vectors of the host's width."""
        return Text(scalar, self.vector_bytes // (8 if scalar == "double" else 4), self.has_fma)


@cache
def host() -> Host:
    """Find out what this machine's vector unit can do."""
    llvm = binding()
    found = llvm.get_host_cpu_features()
    wide = 64 if found.get("avx512f") else 32 if found.get("avx") else 16
    fma = bool(found.get("fma") or found.get("avx512f") or "aarch64" in llvm.get_default_triple())
    version = ".".join(map(str, llvm.llvm_version_info))
    return Host(llvm.get_host_cpu_name(), found.flatten(), version, wide, fma)


@cache
def binding() -> Any:
    """llvmlite's binding, set up for this machine."""
    try:
        import llvmlite.binding as llvm
    except ImportError as error:
        raise KernelError("llvmlite is not installed; kernels use the NumPy lowering") from error
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


@cache
def target_machine() -> Any:
    """Code generation for this machine, position independent."""
    llvm = binding()
    target = llvm.Target.from_default_triple()
    return target.create_target_machine(
        cpu=host().cpu, features=host().features, opt=2, reloc="pic", codemodel="default", jit=True
    )


def assembly(tape: Tape, dtype: str) -> str:
    """LLVM text of a kernel for one scalar type: ``loop_double`` or ``loop_float``, and for float64 the entry ``call``."""
    scalar = SCALARS[dtype]
    make = lambda: host().text(scalar)  # noqa: E731
    parts = [_declarations(make()), ELEMENT, helpers(make()), body(tape, make()), loop(tape, make())]
    if dtype == "float64":
        parts.append(entry(tape, make()))
    return "\n".join(parts)


def object_code(tape: Tape, dtype: str) -> bytes:
    """Compile a kernel to an object file."""
    llvm = binding()
    module = llvm.parse_assembly(assembly(tape, dtype))
    machine = target_machine()
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    return bytes(machine.emit_object(module))


def _declarations(t: Text) -> str:
    v, scalar_suffix = t.vector, t.suffix.split("f")[-1]
    wide = f"<{t.width} x double>"
    one = f"({v})"
    lines = [
        f"@runtime = dso_local global [{len(RUNTIME)} x ptr] zeroinitializer",
        f"declare {t.scalar} @llvm.fabs.f{scalar_suffix}({t.scalar})",
        f"declare {v} @llvm.fabs.{t.suffix}{one}",
        f"declare {v} @llvm.sqrt.{t.suffix}{one}",
        f"declare {v} @llvm.copysign.{t.suffix}({v}, {v})",
        f"declare {v} @llvm.fmuladd.{t.suffix}({v}, {v}, {v})",
        f"declare {wide} @llvm.fma.v{t.width}f64({wide}, {wide}, {wide})",
        'attributes #0 = { nounwind "min-legal-vector-width"="512" "prefer-vector-width"="512" }',
        '!0 = !{!"branch_weights", i32 1, i32 2000}',
        '!1 = !{!"branch_weights", i32 2000, i32 1}',
    ]
    return "\n".join(lines)
