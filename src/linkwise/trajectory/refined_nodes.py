"""Nodes of a path moved to where the acceleration along it jumps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.path_kernels import kernel, motion_within
from linkwise.trajectory.retimed import Pieces, Retimed


def refined(retimed: Retimed, fixed: npt.NDArray[np.bool_]) -> Pieces:
    """The pieces with nodes moved to where u jumps within an interval.

    There u before and after it, continued, give lines x(s) that meet; the nearer node that is not fixed is moved to where.
    """
    pieces, u, x = retimed.pieces, retimed.u, retimed.x
    step, s = pieces.steps, pieces.s
    before, after = u[:, :-2], u[:, 2:]
    gap = x[:, 2:-1] - x[:, 1:-2] - 2.0 * after * step[:, 1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(gap / (2.0 * (before - after) * step[:, 1:-1]), nan=-1.0, posinf=-1.0, neginf=-1.0)
    rough = np.abs(after - before)
    smooth = np.zeros_like(rough)
    smooth[:, 1:] += np.abs(before[:, 1:] - before[:, :-1])
    smooth[:, :-1] += np.abs(after[:, 1:] - after[:, :-1])
    jumps = (rough > 3.0 * smooth + 1e-9 * np.abs(u).max(axis=1, keepdims=True)) & (share > 1e-9) & (share < 1.0 - 1e-9)
    moved = s.copy()
    for path, k in np.argwhere(jumps):
        at = k + 1
        node = at if (share[path, k] < 0.5 and not fixed[at]) or fixed[at + 1] else at + 1
        if not fixed[node] and moved[path, node] == s[path, node]:
            moved[path, node] = s[path, at] + share[path, k] * step[path, at]
    return _moved(pieces, moved)


def _moved(pieces: Pieces, s: FloatArray) -> Pieces:
    """The same paths with inner nodes elsewhere, each within one of its two intervals."""
    inner, old = s[:, 1:-1], pieces.s[:, 1:-1]
    interval = np.arange(inner.shape[1]) + (inner >= old)
    rows = np.arange(len(s))[:, None]
    step = pieces.steps[rows, interval][..., None]
    share = np.clip((inner - pieces.s[rows, interval])[..., None] / step, 0.0, 1.0)
    fresh = np.stack(kernel(motion_within)(*(part[rows, interval] for part in pieces.ends), step, share, 0.0, 1.0), axis=1)
    stays = (inner == old)[:, None, :, None]
    first, last = pieces.first.copy(), pieces.last.copy()
    first[..., 1:, :] = np.where(stays, first[..., 1:, :], fresh)
    last[..., :-1, :] = np.where(stays, last[..., :-1, :], fresh)
    return Pieces(s, first, last)
