"""The loop that iterative methods share: a whole batch at once, each pose left alone as soon as it is settled."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from linkwise.solve.goal import Goal
from linkwise.solve.solution import Solution
from linkwise.spatial.scalar import FloatArray

Step = Callable[[FloatArray, FloatArray, npt.NDArray[np.intp]], tuple[FloatArray, npt.NDArray[np.str_]]]
"""From positions (k, n), their errors (k, 6) and which poses they are for (k,): the next positions, and for each a reason to
stop, "" to go on."""


def search(
    task: Goal, step: Step, iterations: int, settle: Callable[[Goal, FloatArray], FloatArray] | None = None
) -> Solution:
    """Take steps from the start until each pose is reached, its method is at rest, or the iterations are spent.

    What comes out goes through ``settle``, if there is one, before it is checked.
    """
    q = task.start.copy()
    total = len(q)
    reasons, spent = np.full(total, "iterations", dtype="<U10"), np.zeros(total, dtype=np.intp)
    rest = np.arange(total)
    for taken in range(iterations + 1):
        errors = task.errors(q[rest], rest)
        done = task.met(errors)
        reasons[rest[done]] = "converged"
        rest, errors = rest[~done], errors[~done]
        if not rest.size or taken == iterations:
            break
        moved, why = step(q[rest], errors, rest)
        stopped = why != ""
        reasons[rest[stopped]] = why[stopped]
        rest, moved = rest[~stopped], moved[~stopped]
        q[rest] = moved
        spent[rest] += 1
    return task.answer(q if settle is None else settle(task, q), reasons, spent)
