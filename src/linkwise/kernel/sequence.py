"""Kernels that run one after the other over the same arrays each time, in one call from Python: a control loop's body."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.kernel.backend import backend_of, default_backend
from linkwise.kernel.iteration import Descent
from linkwise.kernel.kernel import Kernel
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class KernelCall:
    """Call of a kernel, or a descent, once, or for each row of a batch (B, ...); rows may share some arrays."""

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


Step = KernelCall | Copy | If


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
    >>> run = Sequence([KernelCall(double, (x,), (y,)), Copy(x, y)])
    >>> run(), run(), x.tolist()
    (None, None, [4.0, 8.0, 12.0])
    """

    def __init__(self, steps: Iterable[Step]) -> None:
        self.steps = tuple(steps)
        for array in _arrays(self.steps):
            if array.dtype != np.float64 or not array.flags.c_contiguous:
                raise ValueError("a sequence works on contiguous arrays of float64")
        backends = {call.part.backend for call in _calls(self.steps)} or {default_backend()}
        self._held: list[Any] = []
        compiled = backend_of(backends.pop()).sequence(self.steps, self._held) if len(backends) == 1 else None
        self._run: Callable[[], Any] = compiled or self._plain(self.steps)

    def __call__(self) -> None:
        """Do all steps."""
        self._run()

    def _plain(self, steps: tuple[Step, ...]) -> Callable[[], Any]:
        """The same with a call from Python for each step."""
        parts = [self._one(step) for step in steps]

        def run() -> None:
            with np.errstate(all="ignore"):
                for part in parts:
                    part()

        return run

    def _one(self, step: Step) -> Callable[[], Any]:
        if isinstance(step, KernelCall):
            ufunc, outputs = step.part.ufunc, step.outputs if len(step.outputs) > 1 else step.outputs[0]
            return lambda: ufunc(*step.inputs, out=outputs)
        if isinstance(step, Copy):
            return lambda: np.copyto(step.to.reshape(-1), step.source.reshape(-1))
        then, otherwise = self._plain(step.then), self._plain(step.otherwise)
        return lambda: then() if step.number[0] > 0.0 else otherwise()


def _calls(steps: tuple[Step, ...]) -> list[KernelCall]:
    inner = [part for step in steps if isinstance(step, If) for part in (step.then, step.otherwise)]
    return [step for step in steps if isinstance(step, KernelCall)] + [call for part in inner for call in _calls(part)]


def _arrays(steps: tuple[Step, ...]) -> list[FloatArray]:
    arrays: list[FloatArray] = []
    for step in steps:
        if isinstance(step, KernelCall):
            arrays += [*step.inputs, *step.outputs]
        elif isinstance(step, Copy):
            arrays += [step.to, step.source]
        else:
            arrays += [step.number, *_arrays(step.then), *_arrays(step.otherwise)]
    return arrays
