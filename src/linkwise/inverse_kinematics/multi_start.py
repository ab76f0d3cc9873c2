"""Many solutions of a pose without a closed form: those that many starts lead to, each once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices
from linkwise.inverse_kinematics.closed_form import Solutions, all_inverse_kinematics
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints.pose import Pose
from linkwise.solve.solve import start_of
from linkwise.solve.validation import batch_of, count, positive, whole
from linkwise.spatial.scalar import FloatArray

FINE = 1e-12
"""Starts are followed to this, m and rad, so that equal solutions come out nearly equal."""

SAME = 1e-6
"""Solutions whose coordinates differ by less, rad or m, are one."""

AT_ONCE = 100_000
"""Starts followed in one call."""


def numeric_solutions(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    link: int | str = -1,
    mask: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    limits: bool = True,
    tol: float = 1e-9,
    seed: int = 0,
    starts: int = 200,
) -> FloatArray | Solutions:
    """The different solutions that many random starts lead to, the nearest to q0 first.

    For mechanisms without a closed form. What determines the joints has a few solutions, and with enough starts they are
    all found, though nothing proves it; where joints are left over there is no end of them, and these are a sample.

    Parameters
    ----------
    mechanism : Mechanism
        Without loops.
    T : (..., 4, 4) array_like
        Poses, world frame, m.
    link, mask, limits, tol, seed
        As for `inverse_kinematics`.
    q0 : (..., n) array_like, optional
        The first start, from which distances are measured.
    starts : int
        Random starts for each pose.

    Returns
    -------
    ndarray (k, n) or Solutions
        As `all_inverse_kinematics` gives them; each row has been checked by a forward pass. `Solutions.complete` is False.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> numeric_solutions(arm, T).shape, arm.all_inverse_kinematics(T).shape
    ((3, 6), (3, 6))
    """
    if mechanism.loops or mechanism.floating:
        kind = "loops" if mechanism.loops else "a floating base"
        raise ArgumentError(f"{mechanism.name!r} has {kind}; many solutions are looked for on a fixed tree")
    goal = Pose(link, T, mask)
    goal.check(mechanism)
    size, many = positive("tol", tol), count("starts", starts)
    system = system_of(mechanism, [goal], limits=limits)
    start = start_of(mechanism, system, q0)
    batch = batch_of(T=goal.numbers.shape[:-1], q0=start.shape[:-1])
    tasks = np.broadcast_to(goal.numbers, (*batch, 16)).reshape(-1, 16)
    first = np.broadcast_to(start, (*batch, mechanism.n)).reshape(-1, mechanism.n)
    others = system.starts(whole("seed", seed), many)
    per_call = max(1, AT_ONCE // (1 + many))
    solutions: list[FloatArray] = []
    for k in range(0, len(tasks), per_call):
        solutions += _of_some(system, tasks[k : k + per_call], first[k : k + per_call], others, size)
    if not batch:
        return solutions[0]
    counts = np.array([len(rows) for rows in solutions], dtype=np.intp)
    q = np.full((len(solutions), counts.max(initial=0), mechanism.n), np.nan)
    for row, rows in zip(q, solutions, strict=True):
        row[: len(rows)] = rows
    return Solutions(q.reshape(*batch, *q.shape[1:]), counts.reshape(batch), np.zeros(batch, dtype=bool))


def all_solutions(method: str) -> Callable[..., FloatArray | Solutions]:
    """The function that gives all solutions by a method, "closed_form" or "numeric".

    Examples
    --------
    >>> all_solutions("numeric").__name__, all_solutions("closed_form").__name__
    ('numeric_solutions', 'all_inverse_kinematics')
    """
    ways: dict[str, Callable[..., FloatArray | Solutions]] = {
        "closed_form": all_inverse_kinematics,
        "numeric": numeric_solutions,
    }
    if not isinstance(method, str) or method not in ways:
        raise ArgumentError(f"method is {method!r}; expected {choices(ways)}")
    return ways[method]


def _of_some(
    system: CompiledProblem, tasks: FloatArray, first: FloatArray, others: FloatArray, tol: float
) -> list[FloatArray]:
    """For each task (N, 16) its solutions (k, n)."""
    n, per_task = first.shape[1], 1 + len(others)
    begun = np.concatenate([first[:, None], np.broadcast_to(others, (len(first), *others.shape))], axis=1).reshape(-1, n)
    repeated = np.repeat(tasks, per_task, axis=0)
    rows_out = system.reaching(repeated, begun, begun[:0], system.settings(min(tol, FINE)))
    begins = np.repeat(first, per_task, axis=0)
    q = system.unmoved(system.ranges.nearest_turns(rows_out[:, :n], begins), begins)
    distance, angle, outside = system.checking(repeated, q)
    good = (rows_out[:, -1] > 0) & (distance <= tol) & (angle <= tol) & (outside == 0)
    return [
        _distinct(rows[keep], start)
        for rows, keep, start in zip(q.reshape(-1, per_task, n), good.reshape(-1, per_task), first, strict=True)
    ]


def _distinct(q: FloatArray, q0: FloatArray) -> FloatArray:
    """Rows (k, n) that differ, sorted by their distance from q0."""
    q = q[np.argsort(np.linalg.norm(q - q0, axis=1), kind="stable")]
    kept: list[FloatArray] = []
    for row in q:
        if not kept or np.abs(np.array(kept) - row).max(axis=1).min() > SAME:
            kept.append(row)
    return np.array(kept).reshape(-1, q.shape[1])
