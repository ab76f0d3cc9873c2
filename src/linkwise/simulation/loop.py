"""The same steps as a rollout in machine code, as a Python loop: for torques asked of Python, and without llvmlite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from linkwise.kernel import Kernel
from linkwise.kernel.rollout import Program, Recorded
from linkwise.spatial.scalar import FloatArray

Ask = Callable[[float, FloatArray, FloatArray], FloatArray]
"""``ask(t, q, qd) -> tau`` over all rollouts at once: (B, nq), (B, nv) -> (B, nv)."""


class Loop:
    """A program run by Python, one vectorised kernel call per stage; the numbers are those of `Rollout` to rounding.

    Parameters
    ----------
    program : Program
        What a step is made of.
    backend : str, optional
        Of the kernels.
    ask : callable, optional
        Gives the torque, in the place of the program's law.
    """

    def __init__(self, program: Program, backend: str | None = None, ask: Ask | None = None) -> None:
        self.program, self.ask = program, ask
        self._stage = Kernel(program.stage, backend)
        self._law = Kernel(program.law, backend) if program.law else None
        self._finish = Kernel(program.finish, backend) if program.finish else None

    def asking(self, ask: Ask) -> Loop:
        """The same, its kernels shared, with another function that gives the torque."""
        made = object.__new__(Loop)
        made.__dict__ = {**self.__dict__, "ask": ask}
        return made

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
        """Integrate; all as in `Rollout`."""
        program, coefficients = self.program, self.program.scaled(step)
        made = Recorded.empty(len(q), steps // record + 1, program.nq, program.nv)
        with np.errstate(all="ignore"):
            for k in range(steps + 1):
                now = start + k * step
                torque = self._torque(reads, k)
                tau = torque(now, q, qd)
                *point, qdd = self._stage(q, qd, q, qd, q, qd, tau, *coefficients[0][:2])
                if k % record == 0:
                    for array, value in ((made.q, q), (made.qd, qd), (made.qdd, qdd), (made.tau, tau)):
                        array[:, k // record] = value
                if k == steps:
                    break
                for advance, weight, delay in coefficients[1:]:
                    if not program.hold:
                        tau = torque(now + delay, point[0], point[1])
                    *point, _ = self._stage(*point, q, qd, tau, advance, weight)
                q, qd = point[2], point[3]
                if self._finish is not None:
                    q, qd = self._finished(q, qd)
        return made

    def _finished(self, q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The state to go on with."""
        assert self._finish is not None
        return self._finish(q, qd) if len(self._finish.tape.inputs) == 2 else (self._finish(q), qd)

    def _torque(self, reads: Sequence[FloatArray], k: int) -> Ask:
        """What gives the torque from instant k on."""
        if self.ask is not None:
            return self.ask
        rows = [array[:, min(k, array.shape[1] - 1)] for array in reads]
        if self._law is None:
            return partial(_held, rows[0])
        shapes = list(self._law.tape.inputs.values())[3:]
        given = [row.reshape(len(row), *shape) for row, shape in zip(rows, shapes, strict=True)]
        return partial(_asked, self._law, given)


def _held(tau: FloatArray, _t: float, _q: FloatArray, _qd: FloatArray) -> FloatArray:
    return tau


def _asked(law: Kernel, given: list[FloatArray], t: float, q: FloatArray, qd: FloatArray) -> Any:
    return law(t, q, qd, *given)
