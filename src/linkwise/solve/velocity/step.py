"""Joint speeds for a control loop: what was asked for is checked once, a call then is one piece of machine code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.solve.velocity.bounds import speed_bounds
from linkwise.solve.velocity.task import REGION, rate_task
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


def speed_step(
    mechanism: Mechanism,
    *,
    link: int | str = -1,
    frame: str = "base",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    limits: str | None = "scale",
    fastest: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    length: float | None = None,
) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]:
    """Make a function of q and twist that computes what `joint_speeds` does, without looking at its arguments.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops.
    link, frame, mask, damping, region, fastest, weights, length
        As for `joint_speeds`.
    limits : {"scale", None}
        As for `joint_speeds`; quadratic programs are not compiled.

    Returns
    -------
    callable
        ``step(q, twist)`` gives qd (..., n), the twist given (..., 6), and the six numbers named by
        `linkwise.solve.velocity.kernel.TELLS` (..., 6). It is quickest for contiguous float64 vectors, and lets NaN through.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> step = speed_step(robots.planar_2r(), mask=[1, 1, 0, 0, 0, 0])
    >>> qd, given, tells = step(np.array([0.0, 1.5]), np.array([0.1, 0.2, 0.0, 0.0, 0.0, 0.0]))
    >>> given[:2].round(12).tolist(), float(tells[0])
    ([0.1, 0.2], 1.0)
    """
    if limits not in ("scale", None):
        raise ArgumentError(f"limits is {shown(limits)}; expected 'scale' or None")
    task = rate_task(
        mechanism,
        1,
        link=link,
        frame=frame,
        mask=mask,
        damping=damping,
        region=region,
        weights=weights,
        length=length,
    )
    low, high = task.endless if limits is None else speed_bounds(task, task.nothing, fastest, None)
    solve, shares, nothing, settings = task.solve, task.shares, task.nothing, task.filter

    def step(q: FloatArray, twist: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return solve(q, twist, shares, nothing, low, high, settings)

    return step
