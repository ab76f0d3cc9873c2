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
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import JointRanges
from linkwise.spatial.scalar import FloatArray

#: How far beyond its limits (rad, m) a solution is looked at.
BESIDE = 1e-3

#: The determinant of J'J, in shares of the product of its diagonal, above which singular values are not looked at.
REGULAR = 1e-8

#: Newton steps with some joints held, and the share of the greatest singular value below which one counts as zero.
STEPS, RANK = 8, 1e-11

Mask = npt.NDArray[np.bool_]


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
    """Which Jacobians (M, m, k) are so nearly singular that singular values must tell."""
    gram = np.swapaxes(rates, -1, -2) @ rates
    return np.asarray(np.linalg.det(gram) <= REGULAR * np.diagonal(gram, axis1=-2, axis2=-1).prod(axis=-1))


def held_at_limits(
    mechanism: Tree,
    link: int | str,
    poses: FloatArray,
    q: FloatArray,
    ranges: JointRanges,
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
        Whether the pose changes by less than `tol` where a joint moves as far as the solution is beyond its limits.
    """
    forward, rates_of = (kernel_of(mechanism, name, None, {"link": link}) for name in ("forward_kinematics", "jacobian"))
    moved, held = np.clip(q, ranges.low, ranges.high), (q < ranges.low) | (q > ranges.high)
    beyond = np.abs(q - moved).max(axis=1, initial=0.0)
    least = np.linalg.svd(rates_of(q)[:, rows][..., columns], compute_uv=False)[:, -1]
    doubtful, beside = np.asarray(beyond * least < tol), beyond < BESIDE
    if not beside.any():
        return moved, beside, doubtful
    for _ in range(STEPS):
        gap, rates = pose_error(forward(moved), poses)[:, rows], np.where(held[:, None], 0.0, rates_of(moved))
        step = (np.linalg.pinv(rates[:, rows][..., columns], rcond=RANK) @ gap[..., None])[..., 0]
        moved[:, columns] += step * (BESIDE / np.maximum(np.linalg.norm(step, axis=1), BESIDE))[:, None]
        held |= (moved < ranges.low) | (moved > ranges.high)
        moved = np.clip(moved, ranges.low, ranges.high)
    gap = pose_error(forward(moved), poses)
    gap[:, : rows.start or 0] = gap[:, rows.stop :] = 0.0
    reached = (np.linalg.norm(gap[:, :3], axis=1) <= tol) & (np.linalg.norm(gap[:, 3:], axis=1) <= tol)
    return moved, np.asarray(reached & beside), doubtful
