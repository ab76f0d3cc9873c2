"""Solutions beside the joint limits by less than is known of them.

Where two solutions become one, each is known to the root of rounding only. One that is at a limit may then come out beyond
it; with the joints beyond held at their limits, the others tell. Where joints move and leave the pose, another position of
them may be within the limits that the one which stands for all exceeds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import TURN, JointRanges
from linkwise.spatial.scalar import FloatArray

#: Solutions beyond their limits by less (rad, m) are examined.
BESIDE = 1e-3

#: The determinant of J'J, in shares of the product of its diagonal, above which singular values are not looked at.
REGULAR = 1e-8

#: Newton steps with some joints fixed, and relative threshold of zero singular values.
STEPS, RANK = 8, 1e-11

#: Places on a line (rad, m) where it is tried whether the pose stays.
TRIED = (0.3, -0.7, 1.9)

#: A joint that moves by less than this share along a line is fixed; a value this near (rad, m) to a limit is at it.
STILL = 1e-7

#: Full periods in both directions in the search for a line.
WINDINGS = 2

Mask = npt.NDArray[np.bool_]


def periods(chain: AxisChain, n: int) -> FloatArray:
    """Periods (n,) of the coordinates of a chain, rad; zero for sliding joints and joints outside the chain."""
    period, turning = np.zeros(n), [k for k, slides in enumerate(chain.translates) if not slides]
    period[[chain.coordinates[k] for k in turning]] = TURN / np.abs(chain.ratios[turning])
    return period


def least_beyond(q: FloatArray, ranges: JointRanges, period: FloatArray) -> FloatArray:
    """Coordinates (M, n) by whole periods (n,), zero for none, where they are least beyond their limits."""
    whole = np.where(period > 0.0, period, 1.0)
    with np.errstate(invalid="ignore"):  # (limits that are none)
        down = np.where(period > 0.0, np.ceil(np.maximum(q - ranges.high, 0.0) / whole), 0.0)
        up = np.where(period > 0.0, np.ceil(np.maximum(ranges.low - q, 0.0) / whole), 0.0)
        turned = q + period * (up - down)
        back = q + period * (np.maximum(up - 1.0, 0.0) - np.maximum(down - 1.0, 0.0))
    away, before = (np.abs(at - np.clip(at, ranges.low, ranges.high)) for at in (turned, back))
    return np.asarray(np.where(before < away, back, turned))


def nearly_singular(rates: FloatArray) -> Mask:
    """Mark Jacobians (M, m, k) that are nearly singular, so that singular values must decide."""
    gram = np.swapaxes(rates, -1, -2) @ rates
    return np.asarray(np.linalg.det(gram) <= REGULAR * np.diagonal(gram, axis1=-2, axis2=-1).prod(axis=-1))


def undamped_steps(rates: FloatArray, gap: FloatArray) -> FloatArray:
    """Newton steps (M, k) for Jacobians (M, m, k) and gaps (M, m), of least length where the Jacobian lacks rank."""
    steps, singular = np.empty(rates.shape[::2]), np.ones(len(rates), dtype=bool)
    if rates.shape[1] == rates.shape[2]:
        singular = nearly_singular(rates)
        steps[~singular] = np.linalg.solve(rates[~singular], gap[~singular, :, None])[..., 0]
    steps[singular] = (np.linalg.pinv(rates[singular], rcond=RANK) @ gap[singular, :, None])[..., 0]
    return steps


def brought_within(
    mechanism: Tree,
    link: int | str,
    poses: FloatArray,
    q: FloatArray,
    ranges: JointRanges,
    period: FloatArray,
    tol: float,
    columns: Sequence[int],
    rows: slice = slice(6),
) -> tuple[FloatArray, Mask, Mask]:
    """Solutions within the limits for poses (M, 4, 4), from solutions (M, n) beyond them.

    Returns
    -------
    q : (M, n)
        Coordinates within the limits.
    reached : (M,)
        Whether these are solutions: they reach the pose to `tol`, m and rad, in the rows of the Jacobian that count.
    doubtful : (M,)
        Whether others may be although these are none: the pose changes by less than `tol` where a joint moves as far as the
        solution is beyond its limits.
    """
    forward, rates_of = (kernel_of(mechanism, name, None, {"link": link}) for name in ("forward_kinematics", "jacobian"))

    def reaches(q: FloatArray, poses: FloatArray) -> Mask:
        gap = pose_error(forward(q), poses)
        gap[:, : rows.start or 0] = gap[:, rows.stop :] = 0.0
        return np.asarray((np.linalg.norm(gap[:, :3], axis=1) <= tol) & (np.linalg.norm(gap[:, 3:], axis=1) <= tol))

    q = least_beyond(q, ranges, period)
    moved, clamped = np.clip(q, ranges.low, ranges.high), (q < ranges.low) | (q > ranges.high)
    beyond = np.abs(q - moved).max(axis=1, initial=0.0)
    _, values, directions = np.linalg.svd(rates_of(q)[:, rows][..., columns], full_matrices=False)
    doubtful = np.asarray(beyond * values[:, -1] < tol)
    beside = (beyond < BESIDE) | doubtful
    if not beside.any():
        return moved, beside, doubtful
    longest = np.maximum(BESIDE, beyond)
    for _ in range(STEPS):
        gap, rates = pose_error(forward(moved), poses)[:, rows], np.where(clamped[:, None], 0.0, rates_of(moved))
        step = undamped_steps(rates[:, rows][..., columns], gap)
        moved[:, columns] += step * (longest / np.maximum(np.linalg.norm(step, axis=1), longest))[:, None]
        clamped |= (moved < ranges.low) | (moved > ranges.high)
        moved = np.clip(moved, ranges.low, ranges.high)
    reached = reaches(moved, poses) & beside
    for k in np.flatnonzero(doubtful & ~reached):
        along = np.zeros(q.shape[1])
        along[columns] = directions[k, -1]
        line = q[k] + np.outer(TRIED, along)
        if reaches(line, np.broadcast_to(poses[k], (len(line), 4, 4))).all():
            row, doubtful[k] = _on_line(q[k], along, ranges, period)
            if row is not None:
                moved[k], reached[k] = row, reaches(row[None], poses[k, None])[0]
    return moved, reached, doubtful


def _on_line(q: FloatArray, along: FloatArray, ranges: JointRanges, period: FloatArray) -> tuple[FloatArray | None, bool]:
    """The nearest place within the limits on the line through q (n,), None without one; and whether there may be another.

    Where a line meets a box it enters at one of the faces; its joints turn alike, so that it closes after a period.
    """
    moves = np.flatnonzero(np.abs(along) > STILL)
    lengths = period[moves] / np.abs(along[moves])
    turns = np.arange(-WINDINGS, WINDINGS + 1)
    faces = np.concatenate(
        [((bound[k] - q[k] + turns * period[k]) / along[k]) for bound in (ranges.low, ranges.high) for k in moves]
    )
    faces = faces[np.isfinite(faces)]
    rows = least_beyond(q + np.outer(faces, along), ranges, period)
    inside = np.clip(rows, ranges.low, ranges.high)
    fits = np.abs(rows - inside).max(axis=1, initial=0.0) < STILL
    if fits.any():
        return inside[fits][np.argmin(np.abs(faces[fits]))], False
    return None, bool(np.ptp(lengths) > STILL)
