"""Rollouts that Python steps through: one vectorised call for each stage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.kernel import Kernel
from linkwise.kernel.rollout import Coefficients, Recorded, RolloutProgram, scaled
from linkwise.simulation.integrators import INTEGRATORS, Phase
from linkwise.simulation.plant import BatchPlant, Plant
from linkwise.simulation.torque import Feedback, TorqueFunction
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class Steps:
    """Functions of a step over batches.

    Attributes
    ----------
    stage : callable
        ``stage(q, qd, q_sum, qd_sum, q_from, qd_from, tau, advance, weight)``: inputs and outputs as those of
        `RolloutProgram.stage`.
    finish : callable
        ``finish(q, qd)`` returns the state to go on with after a step.
    law : Kernel or None
        See `RolloutProgram`, as are the others.
    """

    stage: Callable[..., Any]
    finish: Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray]]
    law: Kernel | None
    coefficients: Coefficients
    hold: bool


def traced_steps(program: RolloutProgram, backend: str | None) -> Steps:
    """The steps of a program, each tape a kernel."""
    finish = Kernel(program.finish, backend) if program.finish else None

    def finished(q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        if finish is None:
            return q, qd
        return finish(q, qd) if len(finish.tape.inputs) == 2 else (finish(q), qd)

    law = Kernel(program.law, backend) if program.law else None
    return Steps(Kernel(program.stage, backend), finished, law, program.coefficients, program.hold)


def looped_steps(plant: Plant, method: str, law: Feedback | None, hold: bool) -> Steps:
    """The steps of an explicit integrator on a mechanism of many bodies: nothing but a law is compiled for it."""
    scheme, batch = INTEGRATORS[method], BatchPlant(**vars(plant))

    def stage(*arrays: Any) -> tuple[FloatArray, ...]:
        now, total, begin = (Phase(*arrays[k : k + 2]) for k in (0, 2, 4))
        following, reached, qdd = scheme.stage(batch, now, total, begin, *arrays[6:])
        return *following, *reached, qdd

    def finished(q: FloatArray, qd: FloatArray) -> tuple[FloatArray, FloatArray]:
        return batch.with_unit_quaternions(q), qd

    alone = len(scheme.coefficients) == 1
    return Steps(stage, finished, law.kernel(plant.tree, None) if law else None, scheme.coefficients, hold or alone)


class PythonRollout:
    """Steps in Python; the numbers are those of `Rollout` to rounding.

    Parameters
    ----------
    steps : Steps
        What a step is made of.
    """

    def __init__(self, steps: Steps) -> None:
        self.steps = steps

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
        function: TorqueFunction | None = None,
    ) -> Recorded:
        """Integrate; all as in `Rollout`. A function gives the torque in the place of the law."""
        stage, coefficients = self.steps.stage, scaled(self.steps.coefficients, step)
        recorded = Recorded.empty(len(q), steps // record + 1, q.shape[1], qd.shape[1])
        with np.errstate(all="ignore"):
            for k in range(steps + 1):
                now = start + k * step
                torque = function or self._torque(reads, k)
                tau = torque(now, q, qd)
                *point, qdd = stage(q, qd, q, qd, q, qd, tau, *coefficients[0][:2])
                if k % record == 0:
                    for array, value in zip(vars(recorded).values(), (q, qd, qdd, tau), strict=True):
                        array[:, k // record] = value
                if k == steps:
                    break
                for advance, weight, delay in coefficients[1:]:
                    if not self.steps.hold:
                        tau = torque(now + delay, point[0], point[1])
                    *point, _ = stage(*point, q, qd, tau, advance, weight)
                q, qd = self.steps.finish(point[2], point[3])
        return recorded

    def _torque(self, reads: Sequence[FloatArray], k: int) -> TorqueFunction:
        """Torque function from instant k on."""
        rows = [array[:, min(k, array.shape[1] - 1)] for array in reads]
        law = self.steps.law
        if law is None:
            return lambda _t, _q, _qd: rows[0]
        shapes = list(law.tape.inputs.values())[3:]
        parameters = [row.reshape(len(row), *shape) for row, shape in zip(rows, shapes, strict=True)]
        return lambda t, q, qd: np.asarray(law(t, q, qd, *parameters))
