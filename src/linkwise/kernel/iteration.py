"""Iterations in machine code: many tasks, each from several starts, a step at a time until solved or given up."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
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

#: Steps of a task from a good start, for an estimate of its cost.
STEPS = 8

#: Starts of tasks that take their steps together in NumPy, unless there are more tasks.
AT_ONCE = 256

#: Greatest number of coordinates of all tasks in one NumPy step, so that its data stay in the caches.
ROOM = 1 << 17

INPUTS = ("parameters", "q0", "settings", "q", "aux")
OUTPUTS = ("q", "aux", "status")


@dataclass(frozen=True)
class IterationProgram:
    """The tape of a step and its sizes.

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
    program : IterationProgram
        What a step is made of.
    backend : str, optional
        Back end; the default one if left out.
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
        """The gufunc; compiled on first use."""
        return self._compiled()

    def __call__(
        self,
        parameters: FloatArray,
        q0: FloatArray,
        starts: FloatArray,
        settings: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Run all tasks: q, aux and status in each row of the result, in `out`, contiguous, if provided."""
        ufunc = self.ufunc
        # (the machine code reads rows that lie side by side, whatever strides NumPy would hand it)
        arrays = [np.ascontiguousarray(part, dtype=np.float64) for part in (parameters, q0, starts, settings)]
        with np.errstate(all="ignore"):  # a start may diverge: it is given up, and others follow
            result: FloatArray
            if threads.WORKERS.get() != 1:
                result = threads.call(ufunc, self._operations, arrays, {} if out is None else {"out": out})
            else:
                result = ufunc(*arrays) if out is None else ufunc(*arrays, out=out)
            return result

    def pieces(self, tasks: int) -> list[slice]:
        """Divide tasks among threads, for callers with further work on each piece."""
        return threads.pieces(tasks, self._operations) if backend_of(self.backend).parallel else [slice(0, tasks)]

    @property
    def _operations(self) -> int:
        """Estimated operations of a task."""
        return STEPS * threads.cost(self.program.step)


class Rounds:
    """An iteration stepped by Python, called like `Descent`: all unfinished tasks take a step at once.

    A task comes to its starts in lots, each of four times as many as the one before, so that few tasks are as quick as many;
    the first that leads to a solution counts.

    Parameters
    ----------
    step : callable
        Rows (N, ...) of the inputs of `IterationProgram.step` to rows of its outputs.
    sizes : mapping of str to int
        The lengths of q and aux.
    """

    def __init__(self, step: Callable[..., Any], sizes: Mapping[str, int]) -> None:
        self.step, self.sizes = step, sizes

    def __call__(
        self,
        parameters: FloatArray,
        q0: FloatArray,
        starts: FloatArray,
        settings: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Run all tasks, as `Descent` does."""
        cores = [np.asarray(x, dtype=float) for x in (parameters, q0, starts, settings)]
        pairs = list(zip(cores, (1, 1, 2, 1), strict=True))
        batch = np.broadcast_shapes(*(x.shape[: x.ndim - d] for x, d in pairs))
        p, q0, starts, settings = (np.broadcast_to(x, (*batch, *x.shape[x.ndim - d :])) for x, d in pairs)
        p, q0, settings = (x.reshape(prod(batch), x.shape[-1]) for x in (p, q0, settings))
        starts = starts.reshape(prod(batch), *starts.shape[-2:])
        rows = np.empty((len(p), self.sizes["q"] + self.sizes["aux"] + 1))
        active, first, lot = np.arange(len(rows)), -1, 1
        while active.size and first < starts.shape[1]:
            begun = q0[active, None] if first < 0 else starts[active, first : first + lot]
            tasks = np.repeat(active, begun.shape[1])
            begun, some = begun.reshape(len(tasks), -1), max(1, ROOM // max(1, self.sizes["q"]))
            parts = [(tasks[k : k + some], begun[k : k + some]) for k in range(0, len(tasks), some)]
            ends = np.concatenate([self._ends(p[at], q0[at], settings[at], start) for at, start in parts])
            solved = ends[:, -1].reshape(len(active), -1) > 0.0
            best = np.where(solved.any(axis=1), solved.argmax(axis=1), solved.shape[1] - 1)
            rows[active] = ends.reshape(*solved.shape, -1)[np.arange(len(active)), best]
            active, first = active[~solved.any(axis=1)], first + solved.shape[1]
            lot = max(1, min(4 * lot, AT_ONCE // max(1, len(active))))
        rows = rows.reshape(*batch, rows.shape[1])
        if out is None:
            return rows
        out[...] = rows
        return out

    def pieces(self, tasks: int) -> list[slice]:
        """Return all tasks in one piece: threads would only compete for Python's lock."""
        return [slice(0, tasks)]

    def _ends(self, p: FloatArray, q0: FloatArray, settings: FloatArray, q: FloatArray) -> FloatArray:
        """Results of starts (N, n): q, aux and status."""
        left, aux = np.arange(len(q)), np.zeros((len(q), self.sizes["aux"]))
        ends = np.empty((len(q), q.shape[1] + aux.shape[1] + 1))
        while left.size:
            q, aux, status = self.step(p, q0, settings, q, aux)
            over = status != 0
            if over.any():
                ends[left[over]] = np.concatenate([q[over], aux[over], status[over, None]], axis=1)
                p, q0, settings, q, aux, left = (x[~over] for x in (p, q0, settings, q, aux, left))
        return ends
