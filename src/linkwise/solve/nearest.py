"""Where constraints cannot be met: the nearest to them that is found, and why not nearer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from linkwise.solve.steps import HOPELESS, LONGEST
from linkwise.solve.system import MORE_STARTS, NEAREST_STARTS, System, system_of
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

FLAT = 1e-6
"""Singular values of the rates below this share of the greatest count as zero where the iteration rests."""

ALL_BUT = 1e-3
"""An error below this (rad, or in lengths of the mechanism) hints at a solution that lies beside a singular position."""

AT_ONCE = 500
"""Tasks looked at together: between one lot and the next Python sees to signals."""


@dataclass(frozen=True, eq=False)
class Nearest:
    """Configurations (N, nq) that come nearest, with their errors, and why they come no nearer."""

    q: FloatArray
    iterations: npt.NDArray[np.intp]
    distance: FloatArray
    angle: FloatArray
    success: npt.NDArray[np.bool_]
    reason: npt.NDArray[np.str_]


def nearest(mechanism: Mechanism, system: System, tasks: FloatArray, starts: FloatArray, tol: float, seed: int) -> Nearest:
    """The best of several descents within the limits, for tasks (N, p) from starts (N, nq) and random ones.

    The best is that with the least squared error, lengths measured by the mechanism's size; the first of equal ones.
    """
    parts = [
        _part(mechanism, system, tasks[k : k + AT_ONCE], starts[k : k + AT_ONCE], tol, seed)
        for k in range(0, len(tasks), AT_ONCE)
    ]
    fields = ("q", "iterations", "distance", "angle", "success", "reason")
    return Nearest(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def _part(mechanism: Mechanism, system: System, tasks: FloatArray, starts: FloatArray, tol: float, seed: int) -> Nearest:
    count, nq = len(tasks), mechanism.nq
    others = system.starts(seed)[:NEAREST_STARTS]
    begun = np.concatenate([starts[:, None], np.broadcast_to(others, (count, *others.shape))], axis=1)
    begun = system.clipped(begun).reshape(-1, nq)
    given = np.repeat(tasks, 1 + len(others), axis=0)
    made = system.approaching(given, begun, begun[:0], system.settings(tol))
    q = np.ascontiguousarray(made[:, :nq])
    distance, angle, outside = system.checking(given, q)
    good = (distance <= tol) & (angle <= tol) & (outside == 0)
    cost = np.where(good, -1.0, (distance / system.task.length) ** 2 + angle**2)
    rows = np.nanargmin(np.where(np.isnan(cost), np.inf, cost).reshape(count, -1), axis=1)
    rows = rows + np.arange(count) * (1 + len(others))
    q, made, good = q[rows], made[rows], good[rows]
    q[:, system.task.free :] = system.ranges.nearest_turns(q[:, system.task.free :], starts[:, system.task.free :])
    q = system.unmoved(q, starts)
    distance, angle, _ = system.checking(tasks, q)
    reason = _reasons(mechanism, system, tasks, q, made, tol, seed)
    reason[good] = "converged"
    near = Nearest(q, made[:, nq].astype(np.intp), distance, angle, good, reason)
    _search_on(system, tasks, near, tol, seed)
    return near


def _search_on(system: System, tasks: FloatArray, near: Nearest, tol: float, seed: int) -> None:
    """Look much longer, within the limits, for what is met outside them, or all but met; writes what is found into near."""
    missed = np.hypot(near.distance / system.task.length, near.angle)
    rest = np.flatnonzero((near.reason == "limit") | (~near.success & (missed < ALL_BUT)))
    nq = near.q.shape[1]
    if not rest.size:
        return
    given = tasks[rest]
    made = system.approaching(given, near.q[rest], system.starts(seed, MORE_STARTS), system.settings(tol))
    q = system.unmoved(np.ascontiguousarray(made[:, :nq]), near.q[rest])
    distance, angle, outside = system.checking(given, q)
    good = (distance <= tol) & (angle <= tol) & (outside == 0)
    found = rest[good]
    near.q[found], near.iterations[found] = q[good], made[good, nq].astype(np.intp)
    near.distance[found], near.angle[found] = distance[good], angle[good]
    near.success[found], near.reason[found] = True, "converged"


def _reasons(
    mechanism: Mechanism, system: System, tasks: FloatArray, q: FloatArray, made: FloatArray, tol: float, seed: int
) -> npt.NDArray[np.str_]:
    """Why configurations do not meet the constraints: what the limits have to do with it is tried without them."""
    nq = mechanism.nq
    steps, damping = made[:, nq], made[:, nq + 1]
    reason = np.where(steps > LONGEST, "iterations", np.where(damping > HOPELESS, "stalled", "unreachable")).astype("<U11")
    moving = reason != "unreachable"
    if moving.any():
        lacking = system.deficient(tasks[moving], q[moving], FLAT)
        reason[moving] = np.where(lacking, "singular", reason[moving])
    if np.isfinite(system.bounds).any():
        endless = system_of(mechanism, system.task.constraints, limits=False)
        found = endless.reaching(tasks, q, endless.starts(seed), endless.settings(tol))
        reason[found[:, -1] > 0] = "limit"
    return reason
