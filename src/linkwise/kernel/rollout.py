"""Rollouts in machine code: all steps of many simulations in one call, whatever the integrator and the law of control."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from linkwise.errors import KernelError
from linkwise.kernel.backend import Backend, Lazy, backend_of, default_backend
from linkwise.kernel.tape import Tape
from linkwise.spatial.scalar import FloatArray

#: Counts the changes of the lowering, so that object code of an older one is not used.
LOWERING = "1"


#: (advance, weight, delay) of each stage of an integrator, in steps: see `RolloutProgram`.
Coefficients = tuple[tuple[float, float, float], ...]


def scaled(coefficients: Coefficients, step: float) -> Coefficients:
    """The coefficients for steps of this length, s."""
    return tuple((step * a, step * b, step * c) for a, b, c in coefficients)


@dataclass(frozen=True)
class RolloutProgram:
    """The tapes of a step.

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
    coefficients: Coefficients
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
        """Values read at each instant: size, and first index in their destination."""
        if self.law is None:
            return {"tau": (self.nv, 0)}
        places, offset = {}, 0
        for name, shape in self.law.inputs.items():
            if name not in {"t", "q", "qd"}:
                places[name] = (prod(shape), offset)
            offset += prod(shape)
        return places

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


@dataclass(frozen=True)
class Recorded:
    """Recorded results of a rollout, each (B, R, size): the state at recorded instants, and its inputs from there on."""

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
    program : RolloutProgram
        What a step is made of.
    backend : str, optional
        How it is computed, by one that has rollouts; the default one if left out.
    """

    def __init__(self, program: RolloutProgram, backend: str | None = None) -> None:
        self.program, self.backend = program, backend or default_backend()
        self._compiled = Lazy(lambda: backend_of(self.backend).rollout(program))

    @staticmethod
    def runs_on(backend: str | None) -> bool:
        """True if a back end has rollouts; else `PythonRollout` of `linkwise.simulation` takes the steps."""
        return type(backend_of(backend)).rollout is not Backend.rollout

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
        run = self._compiled()
        if run is None:
            raise KernelError(f"the back end {self.backend!r} has no rollouts")
        recorded: Recorded = run(q, qd, reads, start=start, step=step, steps=steps, record=record)
        return recorded
