"""Where constraints cannot be met: the nearest to them that is found, and why not nearer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import MORE_STARTS, NEAREST_STARTS, CompiledProblem, system_of
from linkwise.solve.levenberg_marquardt import ITERATIONS
from linkwise.solve.policy import BEST_FIT
from linkwise.spatial.scalar import FloatArray

FLAT = 1e-6
"""Singular values of the rates below this share of the greatest count as zero where the iteration rests."""

ALL_BUT = 1e-3
"""An error below this (rad, or in lengths of the mechanism) hints at a solution that lies beside a singular position."""

LONGEST = 500.0
"""Most steps of a start."""

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


def nearest(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int
) -> Nearest:
    """The best of several descents within the limits, for tasks (N, p) from starts (N, nq) and random ones.

    The best is that with the least squared error, lengths measured by the mechanism's size; the first of equal ones.
    """
    parts = [
        _part(mechanism, system, tasks[k : k + AT_ONCE], starts[k : k + AT_ONCE], tol, seed)
        for k in range(0, len(tasks), AT_ONCE)
    ]
    fields = ("q", "iterations", "distance", "angle", "success", "reason")
    return Nearest(*(np.concatenate([getattr(part, field) for part in parts]) for field in fields))


def _part(mechanism: Tree, system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int) -> Nearest:
    count, nq = len(tasks), mechanism.nq
    others = system.starts(seed)[:NEAREST_STARTS]
    begun = np.concatenate([starts[:, None], np.broadcast_to(others, (count, *others.shape))], axis=1)
    begun = system.clipped(begun).reshape(-1, nq)
    repeated = np.repeat(tasks, 1 + len(others), axis=0)
    rows_out = system.approaching(repeated, begun, begun[:0], system.settings(tol, LONGEST))
    q = np.ascontiguousarray(rows_out[:, :nq])
    distance, angle, outside = system.checking(repeated, q)
    good = (distance <= tol) & (angle <= tol) & (outside == 0)
    cost = np.where(good, -1.0, (distance / system.problem.length) ** 2 + angle**2)
    rows = np.nanargmin(np.where(np.isnan(cost), np.inf, cost).reshape(count, -1), axis=1)
    rows = rows + np.arange(count) * (1 + len(others))
    q, rows_out, good = q[rows], rows_out[rows], good[rows]
    q[:, system.problem.base :] = system.ranges.nearest_turns(q[:, system.problem.base :], starts[:, system.problem.base :])
    q = system.unmoved(q, starts)
    distance, angle, _ = system.checking(tasks, q)
    reason = _reasons(mechanism, system, tasks, q, rows_out, tol, seed)
    reason[good] = "converged"
    near = Nearest(q, rows_out[:, nq].astype(np.intp), distance, angle, good, reason)
    _search_on(system, tasks, near, tol, seed)
    return near


def _search_on(system: CompiledProblem, tasks: FloatArray, near: Nearest, tol: float, seed: int) -> None:
    """Look much longer, within the limits, for what is met outside them, or all but met; writes what is found into near."""
    missed = np.hypot(near.distance / system.problem.length, near.angle)
    open_tasks = np.flatnonzero((near.reason == "limit") | (~near.success & (missed < ALL_BUT)))
    nq = near.q.shape[1]
    if not open_tasks.size:
        return
    numbers = tasks[open_tasks]
    rows_out = system.approaching(
        numbers, near.q[open_tasks], system.starts(seed, MORE_STARTS), system.settings(tol, LONGEST)
    )
    q = system.unmoved(np.ascontiguousarray(rows_out[:, :nq]), near.q[open_tasks])
    distance, angle, outside = system.checking(numbers, q)
    good = (distance <= tol) & (angle <= tol) & (outside == 0)
    solved = open_tasks[good]
    near.q[solved], near.iterations[solved] = q[good], rows_out[good, nq].astype(np.intp)
    near.distance[solved], near.angle[solved] = distance[good], angle[good]
    near.success[solved], near.reason[solved] = True, "converged"


def _reasons(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, q: FloatArray, rows_out: FloatArray, tol: float, seed: int
) -> npt.NDArray[np.str_]:
    """Why configurations do not meet the constraints: what the limits have to do with it is tried without them."""
    nq = mechanism.nq
    hopeless = rows_out[:, nq + 1] > BEST_FIT.damping.hopeless
    reason = np.where(rows_out[:, -1] == ITERATIONS, "iterations", np.where(hopeless, "stalled", "unreachable")).astype(
        "<U11"
    )
    moving = reason != "unreachable"
    if moving.any():
        lacking = system.deficient(tasks[moving], q[moving], FLAT)
        reason[moving] = np.where(lacking, "singular", reason[moving])
    if np.isfinite(system.bounds).any():
        endless = system_of(mechanism, system.problem.constraints, limits=False)
        without_limits = endless.reaching(tasks, q, endless.starts(seed), endless.settings(tol))
        reason[without_limits[:, -1] > 0] = "limit"
    return reason
