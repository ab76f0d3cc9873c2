"""Between which rates each joint must stay."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.solve.velocity.task import RateTask, per_joint
from linkwise.spatial.scalar import FloatArray


def speed_bounds(
    task: RateTask, q: FloatArray, fastest: npt.ArrayLike | None, dt: float | None
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest speeds (n,), or (..., n) where a step of dt s must end within the position limits.

    A joint that stands outside its limits may come back and may rest; it is not driven back.
    """
    if fastest is None and dt is None:
        return task.slowest, task.fastest
    most = _fastest(task, fastest)
    if dt is None:
        return -most, most
    low, high = task.mechanism.limits.T
    return np.minimum(np.maximum((low - q) / dt, -most), 0.0), np.maximum(np.minimum((high - q) / dt, most), 0.0)


def acceleration_bounds(
    task: RateTask, qd: FloatArray, largest: npt.ArrayLike | None, fastest: npt.ArrayLike | None, dt: float | None
) -> tuple[FloatArray, FloatArray]:
    """Least and greatest accelerations (n,), or (..., n) where a step of dt s must end within the speed limits.

    A joint that is faster than it may be brakes as hard as it can.
    """
    if largest is None and dt is None:
        return task.endless
    n = task.n
    most = np.full(n, np.inf) if largest is None else per_joint("largest", largest, n, f"{n} numbers > 0")
    if dt is None:
        return -most, most
    speed = _fastest(task, fastest)
    low, high = np.maximum((-speed - qd) / dt, -most), np.minimum((speed - qd) / dt, most)
    return np.minimum(low, most), np.maximum(high, -most)


def _fastest(task: RateTask, fastest: npt.ArrayLike | None) -> FloatArray:
    return task.fastest if fastest is None else per_joint("fastest", fastest, task.n, f"{task.n} numbers > 0")
