"""Elimination for poses that no start of the iteration solved: a solution, or the proof that none exists."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.closed_form import ClosedForm, Elimination, Solutions, elimination
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem
from linkwise.solve.constraints.pose import Pose
from linkwise.solve.solution import ROWS, Solution
from linkwise.spatial.scalar import FloatArray


def proofs(
    form: ClosedForm | Elimination, poses: FloatArray, within: Solutions, limited: bool, reasons: npt.NDArray[np.str_]
) -> tuple[npt.NDArray[np.str_], npt.NDArray[np.bool_]]:
    """Reasons why poses (N, 4, 4) were not solved, by all their solutions, and which of these reasons are proven.

    Those `within` the limits are known; others tell what the limits have to do with it.
    """
    free = form.all(poses, limits=False) if limited else within
    reasons = np.where(free.unreachable, "unreachable", np.where(within.unreachable, "limit", reasons))
    return reasons, within.unreachable


def searched_further(
    mechanism: Tree, system: CompiledProblem, solution: Solution, T: npt.ArrayLike, q0: npt.ArrayLike | None, link: int | str
) -> Solution:
    """Extend an iterative solution of whole poses T (..., 4, 4) by elimination where the iteration failed.

    Parameters
    ----------
    mechanism, link
        Whose frame it is.
    system : CompiledProblem
        That of its poses.
    solution : Solution
        Of the search. Its q, the nearest pose, stays where there is no solution.
    T, q0
        As for `linkwise.inverse_kinematics.inverse_kinematics`.
    """
    form = elimination(mechanism, link)
    if form is None:
        return solution
    batch = np.shape(solution.success)
    rows = {name: np.array(getattr(solution, name)).reshape(-1) for name in ROWS[1:]}
    q, reason = np.array(solution.q).reshape(-1, mechanism.nq), rows["reason"].astype("<U11")
    result = Solution.of(**{**vars(solution), **rows, "q": q, "reason": reason})
    failed = np.flatnonzero(~result.success)
    tasks = np.broadcast_to(Pose(link, T).numbers, (*batch, 16)).reshape(-1, 16)[failed]
    start = np.broadcast_to(system.start if q0 is None else np.asarray(q0, dtype=float), (*batch, mechanism.nq))
    start, poses = start.reshape(-1, mechanism.nq)[failed], tasks.reshape(-1, 4, 4)
    within = form.all(poses, start, system.limited)
    first = within.q[:, 0] if within.q.shape[1] else np.full(start.shape, np.nan)
    candidates = np.column_stack([np.where(np.isnan(first), start, first), np.zeros(len(first))])
    more = system.checked(tasks, candidates, start, solution.tol, within.count > 0)
    good, proven = more.success, np.zeros(len(result.success), dtype=bool)
    result.put(failed[good], Solution.of(**{name: getattr(more, name)[good] for name in ROWS}))
    reasons, proven[failed] = proofs(form, poses, within, system.limited, result.reason[failed])
    result.reason[failed] = reasons
    return result.shaped(batch, proven=proven.reshape(batch) if batch else bool(proven[0]))
