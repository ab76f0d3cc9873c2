"""Kernels that run one after the other over the same arrays each time, in one call from Python: a control loop's body."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from linkwise.kernel import llvm, llvm_sequence
from linkwise.kernel.descent import Descent
from linkwise.kernel.kernel import Kernel
from linkwise.kernel.llvm_sequence import OPERATIONS, WORDS
from linkwise.kernel.loading import Code, load_made, machine_key
from linkwise.spatial.scalar import FloatArray

LOWERING = "2"
"""Counts the changes of the lowering, so that object code of an older one is not used."""


@dataclass(frozen=True)
class Call:
    """Run a kernel, or a descent, once, or for each row of a batch (B, ...), in which some arrays may be one for all."""

    part: Kernel | Descent
    inputs: tuple[FloatArray, ...]
    outputs: tuple[FloatArray, ...]


@dataclass(frozen=True)
class Copy:
    """Copy the numbers of an array to another of the same size."""

    to: FloatArray
    source: FloatArray


@dataclass(frozen=True)
class If:
    """Do some steps where a number (1,) is above zero, others where it is not, or is NaN; they may change it."""

    number: FloatArray
    then: tuple[Step, ...] = ()
    otherwise: tuple[Step, ...] = ()


Step = Call | Copy | If


class Sequence:
    """Steps in a row, each over arrays that stay the same; called without arguments it does them all.

    In machine code one call of it costs a fraction of what NumPy takes to call each kernel. Nothing is allocated. The arrays
    must be contiguous float64 and live as long as the sequence, which holds them. It is for one thread at a time.

    Parameters
    ----------
    steps : iterable of Call, Copy or If
        In their order.

    Examples
    --------
    >>> from linkwise.kernel.tape import trace
    >>> double = Kernel(trace(lambda x: 2.0 * x, "double", {"x": (3,)}))
    >>> x, y = np.array([1.0, 2.0, 3.0]), np.zeros(3)
    >>> run = Sequence([Call(double, (x,), (y,)), Copy(x, y)])
    >>> run(), run(), x.tolist()
    (None, None, [4.0, 8.0, 12.0])
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = tuple(steps)
        for array in _arrays(self.steps):
            if array.dtype != np.float64 or not array.flags.c_contiguous:
                raise ValueError("a sequence works on contiguous arrays of float64")
        calls = _calls(self.steps)
        self._held: list[Any] = []
        compiled = all(call.part.backend == "llvm" for call in calls)
        self._run: Callable[[], Any] = self._compiled() if compiled else self._plain(self.steps)

    def __call__(self) -> None:
        """Do all steps."""
        self._run()

    def _compiled(self) -> Callable[[], Any]:
        if llvm_unavailable():
            return self._plain(self.steps)
        table = np.array(_flat([*self._records(self.steps), _record("end")]), dtype=np.int64)
        code = _code()
        function = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(code.address("loop_double"))
        pointer = ctypes.c_void_p(table.ctypes.data)
        self._held += [table, code, function, pointer]

        def run() -> None:
            function(pointer)

        return run

    def _records(self, steps: tuple[Step, ...]) -> list[list[int]]:
        made: list[list[int]] = []
        for step in steps:
            if isinstance(step, Call):
                made.append(self._call(step))
            elif isinstance(step, Copy):
                if step.to.size != step.source.size:
                    raise ValueError(f"{step.source.size} numbers do not go where {step.to.size} are")
                made.append(_record("copy", step.to.ctypes.data, step.source.ctypes.data, step.to.size))
            else:
                then, otherwise = self._records(step.then), self._records(step.otherwise)
                then += [_record("skip", len(otherwise))] if otherwise else []
                made += [_record("unless", step.number.ctypes.data, len(then)), *then, *otherwise]
        return made

    def _call(self, call: Call) -> list[int]:
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
        self._held += [pointers, dimensions, steps, ufunc]
        return _record("call", _loop(ufunc), *[ctypes.addressof(block) for block in (pointers, dimensions, steps)])

    def _plain(self, steps: tuple[Step, ...]) -> Callable[[], Any]:
        """The same with a call from Python for each step."""
        parts: list[Callable[[], Any]] = []
        for step in steps:
            parts.append(self._one(step))

        def run() -> None:
            with np.errstate(all="ignore"):
                for part in parts:
                    part()

        return run

    def _one(self, step: Step) -> Callable[[], Any]:
        if isinstance(step, Call):
            ufunc, outputs = step.part.ufunc, step.outputs if len(step.outputs) > 1 else step.outputs[0]
            return lambda: ufunc(*step.inputs, out=outputs)
        if isinstance(step, Copy):
            return lambda: np.copyto(step.to.reshape(-1), step.source.reshape(-1))
        then, otherwise = self._plain(step.then), self._plain(step.otherwise)
        return lambda: then() if step.number[0] > 0.0 else otherwise()


def llvm_unavailable() -> bool:
    """Whether there is no compiler for the loop over the steps."""
    from linkwise.kernel.kernel import default_backend

    return default_backend() != "llvm"


@cache
def _code() -> Code:
    text = llvm_sequence.sequence()
    return load_made(machine_key(f"sequence {LOWERING}", "float64"), lambda: llvm.compiled(llvm.module([text])))


def _record(operation: str, *words: int) -> list[int]:
    return [OPERATIONS.index(operation), *words, *[0] * (WORDS - 1 - len(words))]


def _flat(records: list[list[int]]) -> list[int]:
    return [word for record in records for word in record]


def _cores(signature: str) -> list[list[str]]:
    """The core dimensions of each argument of a gufunc, as letters."""
    groups = signature.replace("->", ",").replace(" ", "")[1:-1].split("),(")
    return [group.split(",") if group else [] for group in groups]


def _loop(ufunc: Any) -> int:
    """The address of the inner loop for float64."""
    memory = getattr(ufunc, "ufunc", ufunc).__dict__["linkwise"]
    return int(memory.functions[len(memory.functions) - 1])


def _calls(steps: tuple[Step, ...]) -> list[Call]:
    inner = [part for step in steps if isinstance(step, If) for part in (step.then, step.otherwise)]
    return [step for step in steps if isinstance(step, Call)] + [call for part in inner for call in _calls(part)]


def _arrays(steps: tuple[Step, ...]) -> list[FloatArray]:
    made: list[FloatArray] = []
    for step in steps:
        if isinstance(step, Call):
            made += [*step.inputs, *step.outputs]
        elif isinstance(step, Copy):
            made += [step.to, step.source]
        else:
            made += [step.number, *_arrays(step.then), *_arrays(step.otherwise)]
    return made
