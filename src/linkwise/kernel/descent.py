"""Iterations in machine code: many tasks, each from several starts, a step at a time until it is solved or given up."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from linkwise.kernel import llvm, llvm_descent
from linkwise.kernel import numpy as numpy_lowering
from linkwise.kernel.gufunc import LOOP, Face, Memory, make
from linkwise.kernel.kernel import default_backend
from linkwise.kernel.loading import laned, load_made, machine_key
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

LOWERING = "1"
"""Counts the changes of the lowering, so that object code of an older one is not used."""

INPUTS = ("parameters", "q0", "settings", "q", "aux")
OUTPUTS = ("q", "aux", "status")


@dataclass(frozen=True)
class Program:
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
    backend : {"llvm", "numpy"}, optional
        How it is computed; LLVM wherever llvmlite is installed.
    lanes : int, optional
        How many tasks are computed side by side, 2 or more; as many as the processor has room for if left out. For calls
        with one or two tasks 2 is fastest: divisions and roots of long vectors take longer.
    """

    def __init__(self, program: Program, backend: str | None = None, lanes: int | None = None) -> None:
        if tuple(program.step.inputs) != INPUTS or tuple(program.step.outputs) != OUTPUTS:
            raise ValueError(f"a step takes {', '.join(INPUTS)} and gives {', '.join(OUTPUTS)}")
        self.program, self.backend, self.lanes = program, backend or default_backend(), lanes
        self._lock = threading.Lock()
        self._ufunc: Any = None

    @property
    def ufunc(self) -> Any:
        """The gufunc; compiled when first asked for."""
        if self._ufunc is None:
            with self._lock:
                if self._ufunc is None:
                    self._ufunc = self._build()
        return self._ufunc

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
        given = [np.ascontiguousarray(part, dtype=np.float64) for part in (parameters, q0, starts, settings)]
        with np.errstate(all="ignore"):  # a start may run off to infinity: it is given up, and others follow
            if out is None:
                return ufunc(*given)  # type: ignore[no-any-return]
            return ufunc(*given, out=out)  # type: ignore[no-any-return]

    def _build(self) -> Any:
        if self.backend == "numpy":
            return _rounds(self.program)
        code = load_made(
            machine_key(laned(self.program.digest, self.lanes), "float64"), lambda: object_code(self.program, self.lanes)
        )
        sizes = self.program.sizes
        inputs: dict[str, tuple[int | str, ...]] = {
            "parameters": ("p",), "q0": ("n",), "starts": ("k", "n"), "settings": ("s",),
        }  # fmt: skip
        face = Face(self.program.step.name, inputs, {"found": (sizes["q"] + sizes["aux"] + 1,)})
        memory = Memory(face, [("float64", LOOP(code.address("loop_double")))], "")
        memory.held.append(code)
        return make(memory, 4, 1)


def object_code(program: Program, lanes: int | None = None) -> bytes:
    """Compile a program to an object file."""
    return llvm.compiled(llvm.module(llvm_descent.descent(program, llvm.host().text("double", lanes))))


def _rounds(program: Program) -> Callable[..., FloatArray]:
    """The same on machines without llvmlite: all tasks that are left take a step at once, start after start."""
    step, sizes = numpy_lowering.function(program.step), program.sizes

    def run(
        parameters: FloatArray,
        q0: FloatArray,
        starts: FloatArray,
        settings: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        cores = [np.asarray(x, dtype=float) for x in (parameters, q0, starts, settings)]
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - d] for x, d in zip(cores, (1, 1, 2, 1), strict=True)))
        flat = [
            np.broadcast_to(x, (*batch, *x.shape[x.ndim - d :])).reshape(prod(batch), *x.shape[x.ndim - d :])
            for x, d in zip(cores, (1, 1, 2, 1), strict=True)
        ]
        made = np.empty((len(flat[0]), sizes["q"] + sizes["aux"] + 1))
        rest = np.arange(len(made))
        for attempt in range(flat[2].shape[1] + 1):
            q, tasks = (flat[1] if attempt == 0 else flat[2][:, attempt - 1])[rest].copy(), rest
            aux, lost = np.zeros((len(rest), sizes["aux"])), []
            while tasks.size:
                q, aux, status = step(flat[0][tasks], flat[1][tasks], flat[3][tasks], q, aux)
                over = status != 0
                made[tasks[over]] = np.concatenate([q[over], aux[over], status[over, None]], axis=1)
                lost.append(tasks[over & ~(status > 0)])
                q, aux, tasks = q[~over], aux[~over], tasks[~over]
            rest = np.sort(np.concatenate([*lost, rest[:0]]))
        made = made.reshape(*batch, made.shape[1])
        if out is None:
            return made
        out[...] = made
        return out

    return run
