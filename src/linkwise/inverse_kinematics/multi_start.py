"""Many solutions of a pose without a closed form: those that many starts lead to, each once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices
from linkwise.inverse_kinematics.closed_form import Solutions, closed_form
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

METHODS = ("closed_form", "numeric")
"""How all solutions are found."""

AT_ONCE = 100_000
"""Starts followed in one call."""


def numeric_solutions(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    q0: npt.ArrayLike | None = None,
    limits: bool = True,
    tol: float = 1e-9,
    seed: int = 0,
    starts: int = 200,
) -> Solutions:
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
    Solutions
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
    >>> len(numeric_solutions(arm, T)), len(arm.all_inverse_kinematics(T))
    (3, 3)
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
    counts = np.array([len(rows) for rows in solutions], dtype=np.intp)
    q = np.full((len(solutions), counts.max(initial=0), mechanism.n), np.nan)
    for row, rows in zip(q, solutions, strict=True):
        row[: len(rows)] = rows
    return Solutions(q.reshape(*batch, *q.shape[1:]), counts.reshape(batch), np.zeros(batch, dtype=bool))


def all_inverse_kinematics(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    limits: bool = True,
    method: str = "closed_form",
    given: Mapping[int | str, npt.ArrayLike] | None = None,
    mask: npt.ArrayLike | None = None,
    tol: float = 1e-9,
    seed: int = 0,
    starts: int = 200,
) -> Solutions:
    """All positions of the joints that bring a frame to poses T (..., 4, 4), within the limits, the nearest to q0 first.

    By the closed form, or with ``method="numeric"`` by `numeric_solutions`, for mechanisms without one.

    Each solution of the closed form is refined where its equations need it, and is one only where a forward pass of its own
    reaches the pose within 1e-9 m and rad. Revolute joints are turned by whole turns to where they are nearest to q0 within
    their limits, so that no solution appears twice. In a singular position, where a joint may turn freely, one solution
    stands for all: that joint stays at q0, or as near to it as the others can reach.

    At special poses the equations lose solutions to rounding, or leave a joint undetermined. The branches that nearly reach
    such a pose are refined by Newton's method; where a joint is undetermined and solutions may be missing for it, 100 random
    starts are followed too. `Solutions.complete` is False there, because starts prove nothing; for a single pose a
    `LinkwiseWarning` says how many solutions come from them.

    Parameters
    ----------
    mechanism : Mechanism
        For the closed form one that has it: `closed_form` says whether it does.
    T : (..., 4, 4) array_like
        Poses, world frame, m.
    q0 : (..., n) array_like, optional
        Solutions are ordered by their distance from here (root of the sum of squares, rad and m alike); a little beside the
        middle of each joint's range where it is left out.
    link : int or str
        Which frame, as in `Mechanism.forward_kinematics`.
    limits : bool
        Whether joint limits hold.
    method : {"closed_form", "numeric"}
        How solutions are found.
    given : mapping of a joint to its value, optional
        With the closed form of seven joints, one that is held: see `closed_form`.
    mask, tol, seed, starts
        With the numeric method: see `numeric_solutions`.

    Returns
    -------
    Solutions

    Raises
    ------
    NoClosedFormError
        Where no closed form is known: why, and what to use instead.
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> solutions = arm.all_inverse_kinematics(T, q0=[0.1, 0.8, -2.0, 0.3, 0.5, 0.0])
    >>> len(solutions), solutions[0].round(6).tolist()
    (3, [0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> bool(abs(arm.forward_kinematics(solutions) - T).max() < 1e-12)
    True
    """
    mechanism.require_numbers("all_inverse_kinematics")
    if not isinstance(method, str) or method not in METHODS:
        raise ArgumentError(f"method is {method!r}; expected {choices(METHODS)}")
    if method == "closed_form":
        if mask is not None:
            raise ArgumentError("mask goes with method='numeric'; of closed forms see closed_form(asks=)")
        return closed_form(mechanism, link, given=given).all(T, q0, limits)
    if given is not None:
        raise ArgumentError("given goes with method='closed_form'")
    return numeric_solutions(mechanism, T, link=link, mask=mask, q0=q0, limits=limits, tol=tol, seed=seed, starts=starts)


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
