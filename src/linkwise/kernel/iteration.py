"""Iterations in machine code: many tasks, each from several starts, a step at a time until it is solved or given up."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from linkwise.kernel import threads
from linkwise.kernel.backend import Lazy, backend_of, default_backend
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: Counts the changes of the lowering, so that object code of an older one is not used.
LOWERING = "2"

#: Steps of a task from a good start, for an estimate of what it takes.
STEPS = 8

INPUTS = ("parameters", "q0", "settings", "q", "aux")
OUTPUTS = ("q", "aux", "status")


@dataclass(frozen=True)
class IterationProgram:
    """What a step is made of.

    Attributes
    ----------
    step : Tape
        Inputs parameters (p,), q0 (n,) and settings (s,), which hold for a whole task, and the state: q (n,) and aux (a,),
        zero at a start. Outputs the next q and aux, and status (): 0 to go on, above zero where the q that comes out is a
        solution, below where this start is given up.
    """

    step: Tape

    @property
    def sizes(self) -> dict[str, int]:
        """Length of each input."""
        return {name: prod(shape) for name, shape in self.step.inputs.items()}

    @property
    def digest(self) -> str:
        """The same for the same program, in any process."""
        return hashlib.sha256(repr((LOWERING, self.step.digest)).encode()).hexdigest()


class Descent:
    """A program in machine code, as a gufunc ``(p),(n),(k,n),(s)->(n+a+1)``.

    Called with parameters, q0, starts and settings it gives the last q, aux and status of each task. Each task begins at q0;
    where a start is given up the next of the k starts is tried, in their order, until one is solved.

    Parameters
    ----------
    program : Program
        What a step is made of.
    backend : str, optional
        How it is computed; the default one if left out.
    lanes : int, optional
        How many tasks are computed side by side, 2 or more; as many as the processor has room for if left out. For calls
        with one or two tasks 2 is fastest: divisions and roots of long vectors take longer.
    """

    def __init__(self, program: IterationProgram, backend: str | None = None, lanes: int | None = None) -> None:
        if tuple(program.step.inputs) != INPUTS or tuple(program.step.outputs) != OUTPUTS:
            raise ValueError(f"a step takes {', '.join(INPUTS)} and gives {', '.join(OUTPUTS)}")
        self.program, self.backend, self.lanes = program, backend or default_backend(), lanes
        self._compiled = Lazy(lambda: backend_of(self.backend).iteration(program, lanes))

    @property
    def ufunc(self) -> Any:
        """The gufunc; compiled when first asked for."""
        return self._compiled()

    def __call__(
        self,
        parameters: FloatArray,
        q0: FloatArray,
        starts: FloatArray,
        settings: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Run all tasks: q, aux and status in each row of the result, which is `out`, contiguous, if there is one."""
        ufunc = self.ufunc
        # (the machine code reads rows that lie side by side, whatever strides NumPy would hand it)
        arrays = [np.ascontiguousarray(part, dtype=np.float64) for part in (parameters, q0, starts, settings)]
        with np.errstate(all="ignore"):  # a start may run off to infinity: it is arrays up, and others follow
            result: FloatArray
            if threads.WORKERS.get() != 1:
                result = threads.call(ufunc, self._operations, arrays, {} if out is None else {"out": out})
            else:
                result = ufunc(*arrays) if out is None else ufunc(*arrays, out=out)
            return result

    def pieces(self, tasks: int) -> list[slice]:
        """How so many tasks are divided among threads, by those who do more with each piece than this iteration."""
        return threads.pieces(tasks, self._operations) if backend_of(self.backend).parallel else [slice(0, tasks)]

    @property
    def _operations(self) -> int:
        """What a task takes, roughly."""
        return STEPS * threads.cost(self.program.step)
