"""A minimiser for a function that may be infinite: quasi-Newton steps, halved until they go down."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise.spatial.scalar import FloatArray

ENOUGH, HALVINGS = 1e-4, 20
"""A step must bring this share of what the slope promises; it is halved so often."""


def descend(
    function: Callable[[FloatArray], tuple[float, FloatArray]], x: FloatArray, steps: int, settled: float = 1e-5
) -> FloatArray:
    """Return where the least value is that is found from x (m,) on; stops when ten steps bring less than `settled`.

    BFGS with backtracking (J. Nocedal, S. J. Wright, *Numerical Optimization*, 2006, algorithm 6.1), which serves for
    functions with kinks too (A. S. Lewis, M. L. Overton, "Nonsmooth optimization via quasi-Newton methods", 2013).
    """
    value, slope = function(x)
    inverse = np.eye(x.size) / max(float(np.linalg.norm(slope)), 1e-300)
    past = [value]
    for _ in range(steps):
        way = -inverse @ slope
        fall = float(slope @ way)
        if not fall < 0:
            break
        for halved in range(HALVINGS):
            step = way * 0.5**halved
            new_value, new_slope = function(x + step)
            if new_value <= value + ENOUGH * 0.5**halved * fall:
                break
        else:
            break
        change = new_slope - slope
        x, value, slope = x + step, new_value, new_slope
        inverse = _updated(inverse, step, change)
        past.append(value)
        if len(past) > 10 and past[-11] - value < settled:
            break
    return x


def _updated(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """The BFGS update of the inverse of the second derivatives."""
    bend = float(step @ change)
    if bend <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    part = np.eye(step.size) - np.outer(step, change) / bend
    return np.asarray(part @ inverse @ part.T + np.outer(step, step) / bend)
