"""The back end that compiles to machine code with LLVM."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from linkwise.kernel.backend import Backend, CompiledKernel, Lazy, backend
from linkwise.kernel.backends import numpy as numpy_lowering
from linkwise.kernel.backends.llvm import (
    dispatch,
    iteration,
    loaders,
    polynomial_paths,
    reachability,
    rollout,
    sequence,
    xla_handler,
)
from linkwise.kernel.backends.llvm.fastcall import has_entry
from linkwise.kernel.backends.llvm.loading import entry_with_pool, load
from linkwise.kernel.backends.llvm.lowering import entry_in_loop
from linkwise.kernel.gufunc import LOOP, Entry, Memory, make, python_loop, tuple_items, usable
from linkwise.kernel.iteration import IterationProgram
from linkwise.kernel.rollout import RolloutProgram
from linkwise.kernel.tape import Tape


@backend
class Llvm(Backend):
    """Straight-line vector code, with a separate entry for one configuration."""

    name = "llvm"
    preference = 1
    parallel = True

    def available(self) -> bool:
        """True if llvmlite is installed and its code can be loaded."""
        return loaders.usable()

    def build(self, tape: Tape, doc: str, lanes: int | None) -> CompiledKernel:
        """Compile the loop and the entry for one configuration separately: most kernels need only one of the two.

        A float32 loop is compiled when it is first run, for few ever need it.
        """
        code = Lazy(lambda: load(tape, "float64", lanes))

        def ufunc() -> Any:
            memory = Memory(tape, [("float32", LOOP()), ("float64", LOOP(code().address("loop_double")))], doc)
            memory.held.append(code())
            memory.set_loop(0, _single_later(tape, weakref.ref(memory)))
            return make(memory, len(tape.inputs), len(tape.outputs))

        def entry() -> Entry:
            return entry_with_pool(code() if entry_in_loop(tape) else load(tape, "entry"), list(tape.outputs.values()))

        return CompiledKernel(Lazy(ufunc), Lazy(entry) if has_entry(tape) and usable() else lambda: None)

    def dispatcher(self) -> Entry | None:
        """One function for all, which compares addresses with those of a table."""
        if not (self.available() and usable() and tuple_items()):
            return None
        code = dispatch.dispatcher()
        return Entry(code.address("call"), (code,))

    def iteration(self, program: IterationProgram, lanes: int | None) -> Callable[..., Any]:
        """Lanes that take steps until they are done, and are refilled."""
        return iteration.compiled(program, lanes)

    def rollout(self, program: RolloutProgram) -> Callable[..., Any]:
        """Compile all steps as one call, rollouts in vector lanes."""
        return rollout.compiled(program)

    def sequence(self, steps: Any, held: list[Any]) -> Callable[[], Any] | None:
        """A loop over a table of the calls and copies."""
        return sequence.compiled(steps, held) if self.available() else None

    def reachability(self) -> Callable[..., Any]:
        """Compile both passes of all paths as one call, limits in vector lanes."""
        return reachability.compiled()

    def path_speeds(
        self, rows: Tape | None, caps: Tape, efforts: Tape | None, drag: Any = None
    ) -> Callable[..., Any]:  # fmt: skip
        """Lines of limits and both passes of all paths in one call, joints in vector lanes."""
        return polynomial_paths.speeds(rows, caps, efforts, drag)

    def path_samples(self) -> Callable[..., Any]:
        """Compile all samples of all paths as one call, joints in vector lanes."""
        return polynomial_paths.samples()

    def path_motion(self, tape: Tape) -> Callable[..., Any]:
        """Compile all instants of all paths as one call, joints in vector lanes."""
        return polynomial_paths.motion(tape)

    def launcher(self, program: Any) -> Any:
        """PTX, from the same lowering."""
        from linkwise.kernel.backends.nvptx.launch import launcher_of

        return launcher_of(program)

    def xla_handler(self, ufunc: Any, tape: Tape, dtype: str, version: tuple[int, int]) -> tuple[int, Any] | None:
        """The inner loop of the gufunc, called by XLA."""
        inputs, outputs = list(tape.inputs.values()), list(tape.outputs.values())
        return xla_handler.compiled(ufunc, inputs, outputs, dtype, version) if self.available() else None


def _single_later(tape: Tape, owner: weakref.ref[Memory]) -> Any:
    """A float32 loop that compiles the real one when it is first run, and gives it its place."""
    lock, entries = threading.Lock(), list[Any]()

    def run(args: int, dimensions: int, steps: int, data: int) -> None:
        with lock:
            if not entries:
                entries.extend(_single(tape))
                memory = owner()
                if memory is not None:
                    memory.held += entries
                    memory.set_loop(0, entries[0])
        entries[0](args, dimensions, steps, data)

    return python_loop(tape, "float32", run)


def _single(tape: Tape) -> tuple[Any, ...]:
    """The float32 loop, and the machine code that it is in."""
    try:
        code = load(tape, "float32")
        return LOOP(code.address("loop_float")), code
    except Exception:  # tapes that cannot be compiled are computed anyway
        return (numpy_lowering.loop(tape, "float32"),)
