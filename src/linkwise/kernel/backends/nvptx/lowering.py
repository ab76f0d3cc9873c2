"""Lowering of tapes to PTX, the assembly language of NVIDIA's GPUs: each thread computes configurations in turn.

The arithmetic is that of the processor's code with one lane, fused multiply-adds included, and nothing else is fused: PTX
rounds each operation as the processor does. So a GPU gives the bits of a processor that has fused multiply-adds; but for
sines and cosines of arguments beyond 1e5 rad, which there go through the C library and here through the polynomials, both
within a unit in the last place.

A function over rows, ``rows`` for a tape, takes the number of rows and, for each argument, an address and the bytes from one
row to the next. Compiled for the processor the same text is what tests compare with the gufunc.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cache
from math import gcd, prod
from typing import Any, ClassVar

from linkwise.arrays.cuda_driver import row_alignment
from linkwise.kernel import cache as disk
from linkwise.kernel.backends.llvm import iteration, rollout
from linkwise.kernel.backends.llvm import lowering as llvm
from linkwise.kernel.backends.llvm.body import Plan, write_part
from linkwise.kernel.backends.llvm.sincos import reduction, sine_cosine, slow
from linkwise.kernel.backends.llvm.text import Text
from linkwise.kernel.iteration import IterationProgram
from linkwise.kernel.rollout import RolloutProgram
from linkwise.kernel.tape import Tape

#: Counts the changes of the lowering, so that code of an older one is not used.
LOWERING = "1"

#: The compute capability, times ten, that PTX is written for unless the GPU is older, and its version; newer ones take it.
USUAL, VERSION = 80, "ptx70"


@dataclass
class ThreadText(Text):
    """Text of a function for one thread.

    Attributes
    ----------
    ports : dict of str to list of (int, int, int)
        For a block that is several arrays, as ``"%in"``: the first element of each, their number, the alignment of rows.
    """

    first: ClassVar[str] = "%thread"
    share: ClassVar[str] = ", i64 %thread, i64 %threads"

    scalar: str = "double"
    width: int = 1
    has_fma: bool = True
    ports: dict[str, list[tuple[int, int, int]]] = field(default_factory=dict)

    @property
    def step(self) -> str:
        """See `Text`."""
        return "%threads"

    def runtime(self, name: str) -> str:
        """A function of this module."""
        return f"@{name}"

    def get(self, buffer: str, k: object) -> str:
        """Emit the load of element k of a block."""
        address, align = self._place(buffer, k)
        return self.emit(f"load {self.vector}, ptr {address}, align {align}")

    def put(self, value: str, buffer: str, k: object) -> None:
        """Emit the store of element k of a block."""
        address, align = self._place(buffer, k)
        self.do(f"store {self.vector} {value}, ptr {address}, align {align}")

    def _place(self, buffer: str, k: object) -> tuple[str, int]:
        for number, (start, size, align) in enumerate(self.ports.get(buffer, ())):
            if isinstance(k, int) and start <= k < start + size:
                return self.at(self.scalar, f"{buffer}{number}", k - start), gcd(align, self.size * (k - start))
        return self.at(self.scalar, buffer, k), self.size


def rows(tape: Tape, dtype: str) -> list[str]:
    """Emit ``void @rows(i64 count, ptr, i64, ..., i64 thread, i64 threads)``: every so many rows, from ``thread`` on."""
    t = ThreadText(llvm.SCALARS[dtype])
    sizes = {"%in": list(map(prod, tape.inputs.values())), "%out": list(map(prod, tape.outputs.values()))}
    for buffer, lengths in sizes.items():
        t.ports[buffer] = [(sum(lengths[:k]), size, row_alignment(size * t.size)) for k, size in enumerate(lengths)]
    plan = Plan(tape, has_fma=True, divided=False)
    write_part(tape, t, plan, 0)
    t.lines.pop()
    for k, slot in enumerate(tape.results):
        if (number := tape.constant(slot)) is not None:
            t.put(t.number(number), "%out", k)
    t.do("ret void")
    blocks = [f"{buffer}{k}" for buffer, lengths in sizes.items() for k in range(len(lengths))]
    body = t.function(f"define internal void @row({', '.join(f'ptr noalias {name}' for name in blocks)})", kind=_INLINED)
    t.begin()
    t.do("%none = icmp uge i64 %thread, %count")
    t.do("br i1 %none, label %end, label %next")
    t.start("next")
    t.do("%i = phi i64 [ %thread, %entry ], [ %i1, %next ]")
    here = [t.at("i8", f"{name}.all", t.emit(f"mul i64 %i, {name}.row")) for name in blocks]
    t.do(f"call void @row({', '.join(f'ptr {place}' for place in here)})")
    t.do("%i1 = add i64 %i, %threads")
    t.do("%more = icmp ult i64 %i1, %count")
    t.do("br i1 %more, label %next, label %end")
    t.start("end")
    t.do("ret void")
    takes = "".join(f", ptr noalias {name}.all, i64 {name}.row" for name in blocks)
    return [body, t.function(f"define void @rows(i64 %count{takes}{t.share})", kind=_INLINED)]


_INLINED = "alwaysinline #0"


def assembly(program: Tape | RolloutProgram | IterationProgram, dtype: str = "float64") -> str:
    """LLVM text of a program: ``@rows`` for a tape, ``@rollout``, or ``@loop_double`` for an iteration."""
    if isinstance(program, Tape):
        parts = rows(program, dtype)
    elif isinstance(program, RolloutProgram):
        parts = rollout.rollout(program, ThreadText())
    else:
        parts = iteration.descent(program, ThreadText())
    return llvm.module([*parts, *_far(ThreadText(llvm.SCALARS[dtype]))], table=False)


def _far(t: ThreadText) -> list[str]:
    """Emit ``@slow``, which corrects sine and cosine of large arguments."""
    parts = [reduction(), slow(t)]
    for k, name in enumerate(("sin", "cos")):
        wide = ThreadText("double")
        wide.begin()
        result = sine_cosine(wide, wide.broadcast("%x"))[k]
        wide.do(f"ret double {wide.emit(f'extractelement <1 x double> {result}, i32 0')}")
        parts.append(wide.function(f"define internal double @{name}(double %x)", kind="noinline #0"))
    return parts


# ── the entry, and PTX ────────────────────────────────────────────────────────────────────────────

_REGISTERS = {"block": "ctaid", "length": "ntid", "place": "tid", "blocks": "nctaid"}


def _entry(program: Tape | RolloutProgram | IterationProgram) -> str:
    """Emit ``kernel``, which the driver launches, with the thread index and the number of threads."""
    if isinstance(program, Tape):
        count = len(program.inputs) + len(program.outputs)
        takes = "i64 %count" + "".join(f", ptr noalias %a{k}, i64 %s{k}" for k in range(count))
        call = "@rows(" + takes.replace("noalias ", "")
    elif isinstance(program, RolloutProgram):
        takes = f"ptr byval([{rollout.words(program)} x i64]) align 8 %table"
        call = "@rollout(ptr %table"
    else:
        takes = ", ".join(f"ptr byval([{size} x i64]) align 8 %{name}" for name, size in ITERATION_WORDS.items())
        call = "@loop_double(" + "".join(f"ptr %{name}, " for name in ITERATION_WORDS) + "ptr null"
    lines = []
    for name, register in _REGISTERS.items():
        lines.append(f"  %{name}.32 = call i32 @llvm.nvvm.read.ptx.sreg.{register}.x()")
        lines.append(f"  %{name} = zext i32 %{name}.32 to i64")
    body = "\n".join(lines)
    return f"""
define ptx_kernel void @kernel({takes}) #0 {{
entry:
{body}
  %before = mul i64 %block, %length
  %thread = add i64 %before, %place
  %threads = mul i64 %blocks, %length
  call void {call}, i64 %thread, i64 %threads)
  ret void
}}
"""


#: Numbers of words in the arguments of an iteration's loop: addresses, sizes of dimensions, strides in bytes.
ITERATION_WORDS = {"args": 5, "dimensions": 4, "steps": 5}


def architecture(capability: int) -> str:
    """Name of the PTX target for a GPU of this compute capability, times ten."""
    return f"sm_{min(capability, USUAL)}"


def ptx(program: Tape | RolloutProgram | IterationProgram, dtype: str = "float64", capability: int = USUAL) -> bytes:
    """PTX of a program with the one function ``kernel``, from the disk where it is kept."""
    target = architecture(capability)
    identity = program.digest, type(program).__name__, dtype, target, VERSION, LOWERING, llvm.LOWERING, llvm.host().version
    key = hashlib.sha256(repr(identity).encode()).hexdigest()
    kept = disk.load(key)
    if kept is None:
        kept = compiled(assembly(program, dtype) + _entry(program), target)
        disk.store(key, kept)
    return kept


@cache
def _machine(target: str) -> Any:
    binding = llvm.binding()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    return binding.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=target, features=f"+{VERSION}", opt=3)


def optimized(text: str, machine: Any, entry: str) -> Any:
    """A module for a machine, of which one function is called from outside."""
    binding = llvm.binding()
    module = binding.parse_assembly(text)
    for function in module.functions:
        if not function.is_declaration and function.name != entry:
            function.linkage = "internal"
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    options = binding.create_pipeline_tuning_options(speed_level=2)
    options.loop_vectorization = options.slp_vectorization = False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(module, builder)
    return module


def compiled(text: str, target: str) -> bytes:
    """Compile LLVM text to PTX."""
    machine = _machine(target)
    return str(machine.emit_assembly(optimized(text, machine, "kernel"))).encode()
