"""Where constraints cannot be met: the nearest to them that is found, and why not nearer."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import MORE_STARTS, NEAREST_STARTS, CompiledProblem, system_of
from linkwise.solve.levenberg_marquardt import BEST_FIT, ITERATIONS
from linkwise.solve.solution import ROWS, Solution
from linkwise.spatial.scalar import FloatArray

FLAT = 1e-6
"""Singular values of the rates below this share of the greatest count as zero where the iteration rests."""

ALL_BUT = 1e-3
"""An error below this (rad, or in lengths of the mechanism) hints at a solution that lies beside a singular position."""

LONGEST = 500.0
"""Most steps of a start."""

AT_ONCE = 500
"""Tasks looked at together: between one lot and the next Python sees to signals."""


def nearest(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int
) -> Solution:
    """The best of several descents within the limits, for tasks (N, p) from starts (N, nq) and random ones.

    The best is that with the least squared error, lengths measured by the mechanism's size; the first of equal ones.
    """
    parts = [
        _part(mechanism, system, tasks[k : k + AT_ONCE], starts[k : k + AT_ONCE], tol, seed)
        for k in range(0, len(tasks), AT_ONCE)
    ]
    return Solution.of(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in ROWS})


def _part(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int
) -> Solution:
    count, nq, base = len(tasks), mechanism.nq, system.problem.base
    others = system.starts(seed)[:NEAREST_STARTS]
    begun = np.concatenate([starts[:, None], np.broadcast_to(others, (count, *others.shape))], axis=1)
    begun = system.clipped(begun).reshape(-1, nq)
    repeated = np.repeat(tasks, 1 + len(others), axis=0)
    rows_out = system.approaching(repeated, begun, begun[:0], system.settings(tol, LONGEST))
    distance, angle, outside = system.checking(repeated, np.ascontiguousarray(rows_out[:, :nq]))
    good = (distance <= tol) & (angle <= tol) & (outside == 0)
    cost = np.where(good, -1.0, (distance / system.problem.length) ** 2 + angle**2)
    rows = np.nanargmin(np.where(np.isnan(cost), np.inf, cost).reshape(count, -1), axis=1)
    rows = rows + np.arange(count) * (1 + len(others))
    rows_out, good = rows_out[rows], good[rows]
    rows_out[:, base:nq] = system.ranges.nearest_turns(rows_out[:, base:nq], starts[:, base:])
    near = system.checked(tasks, rows_out, starts, tol)
    near.reason[:] = np.where(good, "converged", _reasons(mechanism, system, tasks, near.q, rows_out, tol, seed))
    near.success[:] = good
    _search_on(system, tasks, near, tol, seed)
    return near


def _search_on(system: CompiledProblem, tasks: FloatArray, near: Solution, tol: float, seed: int) -> None:
    """Look much longer, within the limits, for what is met outside them, or all but met; writes what is found there."""
    missed = np.hypot(near.position_error / system.problem.length, near.rotation_error)
    open_tasks = np.flatnonzero((near.reason == "limit") | (~near.success & (missed < ALL_BUT)))
    if not open_tasks.size:
        return
    numbers, start = tasks[open_tasks], near.q[open_tasks]
    rows_out = system.approaching(numbers, start, system.starts(seed, MORE_STARTS), system.settings(tol, LONGEST))
    found = system.checked(numbers, rows_out, start, tol)
    good = found.success
    near.put(open_tasks[good], Solution.of(**{name: getattr(found, name)[good] for name in ROWS}))


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
