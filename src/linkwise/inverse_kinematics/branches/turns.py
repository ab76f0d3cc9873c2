"""Rows of solutions: those that whole turns make of each."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.closed_form import Solutions
from linkwise.inverse_kinematics.closed_form.answers import rows_of_poses
from linkwise.solve.joint_limits import TURN, JointRanges
from linkwise.spatial.scalar import FloatArray

#: Whole turns count where a coordinate is beyond its limit by rounding only, in turns.
ROUNDING = 1e-12

#: More solutions than this in one call are refused: some gigabytes.
MOST = 50_000_000


def with_turns(solutions: Solutions, ranges: JointRanges, q0: FloatArray, held: int | None = None) -> Solutions:
    """List every solution with all full turns of its joints within the limits, the nearest to q0 (..., n) first.

    A joint without limits has no end of turns: it keeps the one that it has.

    Parameters
    ----------
    solutions : Solutions
        Each once.
    ranges : JointRanges
        The limits.
    q0 : ndarray (..., n)
        From which distances are measured.
    held : int, optional
        A coordinate whose value is handed in.
    """
    turning = ranges.turning & np.isfinite(ranges.low) & np.isfinite(ranges.high)
    if held is not None:
        turning[held] = False
    pose, q = _rows(solutions)
    low, high = np.where(turning, ranges.low, 0.0), np.where(turning, ranges.high, 0.0)
    fewest = np.where(turning, np.minimum(np.ceil((low - q) / TURN - ROUNDING), 0.0), 0.0)
    number = np.where(turning, np.floor((high - q) / TURN + ROUNDING) - fewest + 1.0, 1.0).clip(1.0).astype(np.intp)
    total = np.prod(number, axis=1)
    if total.sum() > MOST:
        raise ArgumentError(f"turns=True gives {total.sum():,} solutions; expected up to {MOST:,} in one call: fewer poses")
    at = np.repeat(np.arange(len(q)), total)
    place = np.arange(len(at)) - np.repeat(np.cumsum(total) - total, total)
    turned = q[at]
    for joint in np.flatnonzero(turning):
        turns = fewest[at, joint] + place % number[at, joint]
        place //= number[at, joint]
        values = np.clip(turned[:, joint] + TURN * turns, ranges.low[joint], ranges.high[joint])
        turned[:, joint] = np.where(turns == 0.0, turned[:, joint], values)
    start = np.broadcast_to(q0, (*solutions.count.shape, q.shape[1])).reshape(-1, q.shape[1])
    order = np.lexsort((np.sum((turned - start[pose[at]]) ** 2, axis=1), pose[at]))
    return _listed(solutions, pose[at][order], turned[order])


def _rows(solutions: Solutions) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """The pose (M,) of each solution, and the solutions (M, n)."""
    filled = np.arange(solutions.q.shape[-2]) < solutions.count.reshape(-1, 1)
    return np.nonzero(filled)[0], solutions.q.reshape(*filled.shape, solutions.q.shape[-1])[filled]


def _listed(solutions: Solutions, pose: npt.NDArray[np.intp], q: FloatArray) -> Solutions:
    """Solutions (M, n) of poses (M,) in rising order, in the shape of others."""
    batch = solutions.count.shape
    rows, count = rows_of_poses(pose, q, solutions.count.size)
    return replace(solutions, q=rows.reshape(*batch, *rows.shape[1:]), count=count.reshape(batch))
