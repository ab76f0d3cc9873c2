"""Rollouts in machine code: all steps of many simulations in one call, whatever the integrator and the law of control."""

from __future__ import annotations

import ctypes
import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.kernel import llvm, llvm_rollout
from linkwise.kernel.loading import Code, load_made, machine_key
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

LOWERING = "1"
"""Counts the changes of the lowering, so that object code of an older one is not used."""

AT_ONCE = 400_000
"""Steps of one call into machine code: between two calls Python sees to signals."""

_ROLLOUT = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


@dataclass(frozen=True)
class Program:
    """What a step is made of.

    Attributes
    ----------
    stage : Tape
        Inputs q, qd (the point), q_sum, qd_sum, q_from, qd_from (the state at the step's beginning), tau, advance, weight;
        outputs the next q, qd, q_sum, qd_sum, and qdd at the point. After the last stage the sum is the new state.
    coefficients : tuple of (advance, weight, delay)
        Of each stage, in steps: what leads from the state to the next point, the stage's share in the sum, the time of its
        point.
    law : Tape or None
        Inputs t, q, qd, then what is read; output tau. Without it tau is read.
    finish : Tape or None
        q of a finished step to the q to go on with; or q and qd to both.
    hold : bool
        Whether tau holds for a whole step; else the law is asked at every stage.
    """

    stage: Tape
    coefficients: tuple[tuple[float, float, float], ...]
    law: Tape | None = None
    finish: Tape | None = None
    hold: bool = True

    @property
    def nq(self) -> int:
        """Numbers of a configuration."""
        return prod(self.stage.inputs["q"])

    @property
    def nv(self) -> int:
        """Numbers of a velocity."""
        return prod(self.stage.inputs["qd"])

    @cached_property
    def reads(self) -> dict[str, tuple[int, int]]:
        """What is read at each instant: size, and the first index among what it is read into."""
        if self.law is None:
            return {"tau": (self.nv, 0)}
        found, offset = {}, 0
        for name, shape in self.law.inputs.items():
            if name not in {"t", "q", "qd"}:
                found[name] = (prod(shape), offset)
            offset += prod(shape)
        return found

    @property
    def tapes(self) -> dict[str, Tape]:
        """The tapes that there are, by name."""
        return {name: tape for name, tape in (("stage", self.stage), ("law", self.law), ("finish", self.finish)) if tape}

    @property
    def digest(self) -> str:
        """The same for the same program, in any process; the coefficients are not part of the code, their number is."""
        tapes = [(name, tape.digest) for name, tape in self.tapes.items()]
        text = repr((LOWERING, tapes, len(self.coefficients), self.hold))
        return hashlib.sha256(text.encode()).hexdigest()

    def scaled(self, step: float) -> tuple[tuple[float, float, float], ...]:
        """The coefficients for steps of this length, s."""
        return tuple((step * a, step * b, step * c) for a, b, c in self.coefficients)


@dataclass(frozen=True)
class Recorded:
    """What a rollout leaves behind, each (B, R, size): the state at recorded instants, and what acts from there on."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    @classmethod
    def empty(cls, rollouts: int, records: int, nq: int, nv: int) -> Recorded:
        """Room for so many rollouts and records."""
        q, qd, qdd, tau = (np.empty((rollouts, records, size)) for size in (nq, nv, nv, nv))
        return cls(q, qd, qdd, tau)


class Rollout:
    """A program in machine code.

    Compiled at its first run, once; runs without the interpreter's lock, so several threads can.

    Parameters
    ----------
    program : Program
        What a step is made of.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._lock = threading.Lock()
        self._code: Code | None = None

    def __call__(
        self,
        q: FloatArray,
        qd: FloatArray,
        reads: Sequence[FloatArray],
        *,
        start: float,
        step: float,
        steps: int,
        record: int,
    ) -> Recorded:
        """Integrate.

        Parameters
        ----------
        q, qd : (B, nq) and (B, nv) ndarray
            Initial states.
        reads : sequence of (B or 1, rows, size) ndarray
            For each of the program's `reads`, a row per instant; the last row holds from its instant on.
        start, step : float
            Time of the first instant, and from instant to instant, s.
        steps, record : int
            How many, and of how many the first instant is recorded; `steps` must be a multiple of `record`.
        """
        code, program = self._loaded(), self.program
        function = _ROLLOUT(code.address("rollout"))
        given = [_rows(array) for array in reads]
        made = Recorded.empty(len(q), steps // record + 1, program.nq, program.nv)
        work, align = self._work_space()
        width = llvm.host().text("double").width
        across = min(len(q), max(width, AT_ONCE // max(1, steps) // width * width)) or 1
        along = max(1, AT_ONCE // across // record) * record
        q, qd = np.ascontiguousarray(q)[:, None], np.ascontiguousarray(qd)[:, None]
        for row in range(0, len(q), across):
            rows = slice(row, row + across)
            now = (q[rows], qd[rows])
            for first in range(0, max(1, steps), along):
                here = slice(first // record, None)
                out = [array[rows, here] for array in (made.q, made.qd, made.qdd, made.tau)]
                part = [array if len(array) == 1 else array[rows] for array in given]
                words = [len(now[0]), min(along, steps - first), first, record, _bits(start), _bits(step), align]
                words += [_bits(number) for stage in program.scaled(step) for number in stage]
                words += [word for array in (*now, *part, *out) for word in _port(array)]
                table = np.array(words, dtype=np.int64)
                function(table.ctypes.data)
                now = (out[0][:, along // record :], out[1][:, along // record :])
        del work
        return made

    def _work_space(self) -> tuple[FloatArray, int]:
        """Room for the state and the stages of one block, and where it begins."""
        text = llvm.host().text("double")
        room = np.empty(llvm_rollout.Space.of(self.program).size * text.width + 8)
        return room, (int(room.ctypes.data) + 63) // 64 * 64

    def _loaded(self) -> Code:
        if self._code is None:
            with self._lock:
                if self._code is None:
                    self._code = load_made(machine_key(self.program.digest, "float64"), lambda: object_code(self.program))
        return self._code


def object_code(program: Program) -> bytes:
    """Compile a program to an object file."""
    return llvm.compiled(llvm.module(llvm_rollout.rollout(program, llvm.host().text("double"))))


def _rows(array: npt.ArrayLike) -> FloatArray:
    """The same with the numbers of a row side by side; strides of zero, where something is repeated, are kept."""
    found = np.asarray(array, dtype=np.float64)
    return found if found.strides[-1] == found.itemsize or found.shape[-1] == 1 else np.ascontiguousarray(found)


def _port(array: FloatArray) -> tuple[int, int, int, int]:
    """The four words of `llvm_rollout.PORT`."""
    row = 0 if array.shape[0] == 1 else array.strides[0]
    return int(array.ctypes.data), row, array.strides[1], array.shape[1] - 1


def _bits(number: float) -> int:
    """The bits of a float64 as an integer."""
    return int(np.float64(number).view(np.int64))
