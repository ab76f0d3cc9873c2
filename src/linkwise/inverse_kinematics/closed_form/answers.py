"""Flat lists of solutions of many poses, and the closing of loops at them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form import loop_closing
from linkwise.inverse_kinematics.closed_form.tapes import NO_SETTINGS
from linkwise.spatial.scalar import FloatArray

Mask = npt.NDArray[np.bool_]

#: Closure tolerance of a solution (rad, relative to the arm's size), and distance below which two are one (rad).
OPEN, SAME = 1e-9, 1e-6

#: Nearer solutions of a pose (rad) may be one: where the loop, halfway, is not this many times as open as at these. SHUT is
#: open by rounding alone.
APART, NO_MORE_OPEN, SHUT = 1e-3, 3.0, 1e-15

#: Undamped Newton steps, and relative threshold of zero singular values.
UNDAMPED_STEPS, RANK = 14, 1e-11

#: The same for steps from halfway between two solutions, which leave the loop open along a direction that hardly opens it.
HALFWAY_STEPS, HALFWAY_RANK = 4, 1e-4


class Answers(NamedTuple):
    """Solutions of poses.

    Attributes
    ----------
    pose : ndarray (M,)
        Pose of which pose each is; in rising order where these are `distinct`.
    angles : ndarray (M, 6)
        What the exponentials of the chain take, rad, of joints that slide in shares of the arm's size.
    proven : ndarray (N,)
        Whether these are all solutions of a pose: each root of its determinant that may be on the circle is alone, and is
        the hidden angle of a solution.
    """

    pose: npt.NDArray[np.intp]
    angles: FloatArray
    proven: Mask


def closed_loops(
    loop: FloatArray, q: FloatArray, slides: tuple[bool, ...] = loop_closing.ALL_TURN, fixed: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Close loops (M, 6, 3, 4) by joints (M, 6); return also the closure errors. The joint `fixed` does not move."""
    rows = loop_closing.closing_iteration(slides, fixed)(loop.reshape(-1, 72), q, q[:0], NO_SETTINGS)
    return rows[:, :6], rows[:, 7]


def closed_to_rounding(
    loop: FloatArray,
    q: FloatArray,
    slides: tuple[bool, ...],
    period: FloatArray,
    *,
    rank: float = RANK,
    steps: int = UNDAMPED_STEPS,
    fixed: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Refine joints (M, 6) that nearly close loops (M, 6, 3, 4) by undamped Newton steps; return also the closure errors.

    Steps have no part along singular values below the share `rank` of the greatest, nor of the joint `fixed`.
    """
    best, least = q.copy(), np.full(len(q), np.inf)
    q = q.copy()
    for _ in range(steps):
        gap, rates, opened = loop_closing.kernels(slides)["opening"](loop, q)
        better = opened < least
        best[better], least[better] = q[better], opened[better]
        if fixed is not None:
            rates = np.array(rates)
            rates[..., fixed] = 0.0
        step = (np.linalg.pinv(rates, rcond=rank) @ gap[..., None])[..., 0]
        q = q + step * (APART / np.maximum(np.linalg.norm(step, axis=1), APART))[:, None]
    return wrapped(best, period), least


def pairs_of_poses(pose: npt.NDArray[np.intp]) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """The pairs of rows that are of the same pose, of poses (M,) in rising order."""
    for back in range(1, len(pose)):
        later = np.flatnonzero(pose[back:] == pose[:-back]) + back
        if not later.size:
            return
        yield later, later - back


def distinct(
    pose: npt.NDArray[np.intp], angles: FloatArray, period: FloatArray | None = None
) -> tuple[npt.NDArray[np.intp], FloatArray]:
    """Remove duplicate solutions (M, 6) of each pose (M,); poses are sorted."""
    order = np.argsort(pose, kind="stable")
    pose, angles = pose[order], angles[order]
    keep = np.ones(len(pose), dtype=bool)
    for later, earlier in pairs_of_poses(pose):
        same = np.abs(wrapped(angles[later] - angles[earlier], period)).max(axis=1, initial=0.0) < SAME
        keep[later[same & keep[earlier]]] = False
    return pose[keep], angles[keep]


def rows_of_poses(pose: npt.NDArray[np.intp], values: FloatArray, poses: int) -> tuple[FloatArray, npt.NDArray[np.intp]]:
    """Arrange values (M, ...) of sorted poses (M,) as rows (N, K, ...), padded with NaN; return also the counts."""
    count = np.bincount(pose, minlength=poses).astype(np.intp)
    rows = np.full((poses, int(count.max(initial=0)), *values.shape[1:]), np.nan)
    rows[pose, np.arange(len(pose)) - (np.cumsum(count) - count)[pose]] = values
    return rows, count


def wrapped(angles: FloatArray, period: FloatArray | None = None) -> FloatArray:
    """Reduce angles (M, 6) to [-pi, pi]; coordinates without a period are unchanged."""
    turns = np.rint(angles * (0.5 / np.pi))
    return np.asarray(angles - (2.0 * np.pi if period is None else period) * turns)
