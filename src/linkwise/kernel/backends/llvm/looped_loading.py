"""Looped programs as gufuncs: machine code that all mechanisms share, with the tables of one."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from functools import cache
from math import prod
from typing import Any

import numpy as np

from linkwise.expr.ordering import MANY
from linkwise.kernel import cache as disk
from linkwise.kernel.backends.llvm import looped, processor
from linkwise.kernel.backends.llvm.loading import Code, entry_with_pool, load_made
from linkwise.kernel.backends.llvm.looped import FEW, MOST_SCALARS, numbers
from linkwise.kernel.backends.llvm.lowering import SCALARS, host
from linkwise.kernel.gufunc import LOOP, Entry, Face, Memory, make, python_loop, usable
from linkwise.kernel.looped import LoopedData, LoopedProgram, ProgramLayout
from linkwise.kernel.sources import sources_digest


@cache
def vector_bytes() -> int:
    """Bytes of this machine's vectors, from the disk cache if known there, as LLVM takes longer to answer."""
    key = processor.machine_key("vector bytes", "")
    kept = disk.load(key) or b""
    if not kept.isdigit():
        kept = str(host().vector_bytes).encode()
        disk.store(key, kept)
    return int(kept)


class LoopedCode:
    """Machine code of a program, compiled or read on first use, and shared.

    Parameters
    ----------
    layout : ProgramLayout
        Layout of the program.
    program : callable
        Gives the program, where it must be compiled.
    apart : bool
        Whether a single configuration has code of its own, without lanes.
    """

    def __init__(self, layout: ProgramLayout, program: Callable[[], LoopedProgram], *, apart: bool = True) -> None:
        self.layout, self._program, self.apart = layout, program, apart
        self._lock = threading.RLock()
        self._loaded: dict[tuple[str, int | None, bool], Code] = {}

    def load(self, dtype: str = "float64", lanes: int | None = None, *, stacked: bool = False) -> Code:
        """The code for one type of number."""
        variant = (dtype, lanes, stacked)
        with self._lock:
            if variant not in self._loaded:
                key = processor.machine_key(f"{self.layout.digest} {looped.LOOPED} {lanes} {stacked}", dtype)
                self._loaded[variant] = load_made(
                    key,
                    lambda: looped.object_code(self._program(), dtype, lanes, stacked=stacked),
                    lambda: host().text(SCALARS[dtype], lanes).tag,
                )
            return self._loaded[variant]

    def solver(self, dtype: str = "float64") -> Code | None:
        """Code of the linear solutions, if compiled separately: the same for all mechanisms."""
        if self.layout.length <= MANY:
            return None
        variant = (f"solver {dtype}", None, False)
        with self._lock:
            if variant not in self._loaded:
                known = sources_digest() or self.layout.digest  # (variants of one text share it)
                key = processor.machine_key(
                    f"solver {self.layout.name} {list(self.layout.words)} {looped.LOOPED} {known}", dtype
                )
                self._loaded[variant] = load_made(key, lambda: looped.solver_code(self._program(), dtype, None))
            return self._loaded[variant]

    def warm(self) -> None:
        """Have the code on disk that most calls need."""
        self.load()
        self.load(lanes=FEW)


def gufunc(code: LoopedCode, data: LoopedData, doc: str, *, stacked: bool = False) -> Any:
    """The gufunc of a program on the tables of a mechanism; stacked, its first input is the constants.

    A float32 loop is read or compiled when it is first run.
    """
    layout, numbers = code.layout, data.all_numbers(code.layout)
    inputs = {name: data.shape(shape) for name, shape in layout.inputs.items()}
    outputs = {name: data.shape(shape) for name, shape in layout.outputs.items()}
    face = Face(layout.name, {"constants": (numbers.size,), **inputs} if stacked else inputs, outputs)
    wide = code.load(stacked=stacked)
    few = code.load(lanes=FEW, stacked=stacked) if code.apart else None
    words = data.table(layout, vector_bytes(), stacked=stacked)
    small = data.table(layout, 8 * FEW, stacked=stacked)
    solver = code.solver()
    if solver is not None:
        words[layout.words["solver"]] = solver.address("call")
    if few is not None:
        words[layout.words["few"]], words[layout.words["few data"]] = few.address("loop_double"), small.ctypes.data
    words[layout.words["constants"]] = small[layout.words["constants"]] = numbers.ctypes.data
    memory = Memory(face, [("float32", LOOP()), ("float64", LOOP(wide.address("loop_double")))], doc)
    memory.held += [wide, few, solver, words, small, numbers]
    memory.data[1] = words.ctypes.data
    memory.set_loop(0, _single_later(face, code, data, stacked=stacked))
    return make(memory, len(face.inputs), len(face.outputs))


def entry(code: LoopedCode, data: LoopedData) -> Entry | None:
    """The entry of a program for one configuration of a mechanism; None where it gets none."""
    if not code.apart:
        return None
    layout, all_numbers = code.layout, data.all_numbers(code.layout)
    inputs, outputs = ([data.shape(shape) for shape in shapes.values()] for shapes in (layout.inputs, layout.outputs))
    plain = all(len(shape) == 1 and shape[0] for shape in inputs)
    if not (plain and usable() and sum(map(prod, [*inputs, *outputs])) <= MOST_SCALARS):
        return None
    dimensions = [len(shape) for shape in outputs]
    key = processor.machine_key(f"looped entry {len(inputs)} {dimensions} {looped.LOOPED}", "float64")
    called = load_made(key, lambda: looped.entry_code(len(inputs), dimensions))
    few, words = code.load(lanes=FEW), data.table(layout, 8 * FEW, stacked=False)
    words[layout.words["constants"]] = all_numbers.ctypes.data
    place = numbers([shape[0] for shape in inputs], outputs, few.address("loop_double"), words.ctypes.data)
    ctypes.memmove(called.address("place"), place.ctypes.data, place.nbytes)
    return entry_with_pool(called, outputs, few, words, all_numbers)


def _single_later(face: Face, code: LoopedCode, data: LoopedData, *, stacked: bool) -> Any:
    """A float32 loop that gets its machine code when it is first run."""
    lock, ready = threading.Lock(), list[Any]()

    def run(args: int, dimensions: int, steps: int, _: int) -> None:
        with lock:
            if not ready:
                single, solver = code.load("float32", stacked=stacked), code.solver("float32")
                words = data.table(code.layout, vector_bytes(), stacked=stacked)
                numbers = data.all_numbers(code.layout).astype(np.float32)
                words[code.layout.words["constants"]] = numbers.ctypes.data
                if solver is not None:
                    words[code.layout.words["solver"]] = solver.address("call")
                ready.extend((LOOP(single.address("loop_float")), words.ctypes.data, single, solver, words, numbers))
        ready[0](args, dimensions, steps, ready[1])

    return python_loop(face, "float32", run)
