"""Configurations that fulfil constraints, each verified by forward kinematics, and the best fit where none does."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise import arrays
from linkwise.errors import ArgumentError, shown
from linkwise.kernel import threads
from linkwise.kernel.backend import backend_of
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.by_library import in_parts, parts_inputs, parts_rows, solution_in_graph, solve_by, solve_parts
from linkwise.solve.compiled_problem import MORE_STARTS, NEAREST_STARTS, CompiledProblem, system_of
from linkwise.solve.constraints.constraint import Constraint, ConstraintOfArrays
from linkwise.solve.constraints.loop_closure import with_loops
from linkwise.solve.levels import LevelDescent, LevelSystem, level_system
from linkwise.solve.levenberg_marquardt import BEST_FIT, ITERATIONS
from linkwise.solve.solution import ROWS, PrioritySolution, Solution
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, listed, vectors, whole

#: Relative threshold of zero singular values of the rates where the iteration stops.
FLAT = 1e-6

#: An error below this (rad, or in lengths of the mechanism) suggests a solution near a singular position.
ALL_BUT = 1e-3

#: Most steps of a start.
LONGEST = 500.0

#: Tasks looked at together: between one lot and the next Python sees to signals.
STARTS_AT_ONCE = 500


def nearest(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int
) -> Solution:
    """The best of several descents within the limits, for tasks (N, p) from starts (N, nq) and random ones.

    The best is that with the least squared error, lengths measured by the mechanism's size; the first of equal ones.
    """
    parts = [
        _part(mechanism, system, tasks[k : k + STARTS_AT_ONCE], starts[k : k + STARTS_AT_ONCE], tol, seed)
        for k in range(0, len(tasks), STARTS_AT_ONCE)
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
    """Search longer, within the limits, for tasks solved outside them, or nearly solved; results are written in place."""
    missed = np.hypot(near.position_error / system.problem.length, near.rotation_error)
    open_tasks = np.flatnonzero((near.reason == "limit") | (~near.success & (missed < ALL_BUT)))
    if not open_tasks.size:
        return
    numbers, start = tasks[open_tasks], near.q[open_tasks]
    rows_out = system.approaching(numbers, start, system.starts(seed, MORE_STARTS), system.settings(tol, LONGEST))
    rows = system.checked(numbers, rows_out, start, tol)
    good = rows.success
    near.put(open_tasks[good], Solution.of(**{name: getattr(rows, name)[good] for name in ROWS}))


def _reasons(
    mechanism: Tree, system: CompiledProblem, tasks: FloatArray, q: FloatArray, rows_out: FloatArray, tol: float, seed: int
) -> npt.NDArray[np.str_]:
    """Reasons of unsolved configurations; the effect of the limits is tested by solving without them."""
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


#: Tasks of one call into machine code: between two calls Python sees to signals.
AT_ONCE = 10_000


@arrays.in_graphs(parts_inputs, parts_rows, solution_in_graph, operator=solve_parts, in_parts=in_parts)
def solve(
    mechanism: Tree,
    constraints: Constraint | Sequence[Constraint],
    *,
    q0: npt.ArrayLike | None = None,
    tol: float = 1e-9,
    seed: int = 0,
    limits: bool = True,
    backend: str | None = None,
) -> Solution:
    """Coordinates for which all constraints hold, within the joint limits; the loops of the mechanism are closed too.

    The first start is q0; where it does not lead to a solution, random ones follow, always the same for the same seed. Where
    none does, the answer is the nearest found, with the reason.

    Constraints with a weight or a priority are met level by level: those of priority 0 must hold; of each next level the
    weighted sum of squares is made as small as the levels before leave, going down from there, so that it is a minimum
    nearby. A weight alone means priority 1.

    Parameters
    ----------
    mechanism : Mechanism
        Any; a floating base is solved for like the joints.
    constraints : Constraint or sequence of Constraint
        Constraints: see `linkwise.solve.constraints`. Their numbers may have batch shapes, which broadcast.
    q0 : (..., nq) array_like, optional
        Where to start, and what the answer should be near to; a little beside the middle of the range of each joint where it
        is left out, and zero where nothing depends on the joint. Whole turns outside the limits are taken off first. Joints
        on which no constraint depends stay there.
    tol : float
        Greatest distance (m) and angle (rad) from what is asked for.
    seed : int
        Seed of the random starts.
    limits : bool
        Whether joint limits hold. They are hard: no answer is outside them.
    backend : {"llvm", "numpy"}, optional
        How it is computed, levels of priority apart; LLVM wherever llvmlite is installed. Where 32 bodies or more move the
        frames that constraints ask for, and the others are postures or values of coordinates, NumPy takes the steps by
        default, over kernels that loop over the bodies: nothing is compiled for the mechanism.

    Returns
    -------
    Solution
        Shaped as the numbers and q0 broadcast; the same for the same arguments, and for a batch as for a loop. With weights
        or priorities a `PrioritySolution`, which says what of each constraint is lacking.

    Raises
    ------
    ArgumentError
        Naming what is wrong.

    Notes
    -----
    Damped least squares (see `linkwise.solve.levenberg_marquardt`), all of it in machine code, with the tasks of a
    batch side by side in the lanes of the processor's vectors. Success is decided by a separate forward pass. So are
    constraints of one level. Further levels are descended one task after the other (see `linkwise.solve.levels`).

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import Position, solve
    >>> arm = robots.planar_3r()
    >>> found = solve(arm, Position("tool", [1.0, 1.5, 0.0], mask=[1, 1, 0]))
    >>> found.success, arm.forward_kinematics(found.q)[:2, 3].round(6).tolist()
    (True, [1.0, 1.5])
    """
    require_numeric_tree(mechanism, "solve")
    sequence = _constraint_list(constraints)
    tracked = [array for c in sequence if isinstance(c, ConstraintOfArrays) for array in c.arrays.values()]
    library = arrays.of("solve", [*tracked, q0])
    if library is not None:
        return solve_by(library, solve, mechanism, sequence, q0, tol=tol, seed=seed, limits=limits, backend=backend)
    all_constraints = with_loops(mechanism, sequence)
    size, number = positive("tol", tol), whole("seed", seed, 0)
    levelled = any(c.level or c.weight is not None for c in all_constraints)
    limited = flag("limits", limits)
    backend_of(backend)
    if levelled:
        system: CompiledProblem = level_system(mechanism, all_constraints, limits=limited)
    else:
        system = system_of(mechanism, all_constraints, limits=limited, backend=backend)
    start = start_of(mechanism, system, q0)
    parts = [constraint.task for constraint in all_constraints]
    try:
        batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts), start.shape[:-1])
    except ValueError as error:
        shapes = ", ".join([*(f"{c!r}" for c in all_constraints), f"q0 {start.shape}"])
        raise ArgumentError(f"the batch shapes do not broadcast: {shapes}") from error
    flat = np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)
    start = np.broadcast_to(start, (*batch, mechanism.nq))
    if isinstance(system, LevelSystem):
        return _solved_by_levels(mechanism, system, all_constraints, flat, start, size, number)
    return solved(mechanism, system, flat, start, size, number)


def _solved_by_levels(
    mechanism: Tree,
    system: LevelSystem,
    constraints: Sequence[Constraint],
    tasks_given: FloatArray,
    start: FloatArray,
    tol: float,
    seed: int,
) -> PrioritySolution:
    """Solve tasks with parameters (..., p) from starts (..., nq): required constraints in machine code, then the levels."""
    batch, nq = tasks_given.shape[:-1], mechanism.nq
    tasks = np.ascontiguousarray(tasks_given.reshape(prod(batch), tasks_given.shape[-1]))
    starts = start.reshape(prod(batch), nq)
    hard = [k for k, level in enumerate(system.levels) if level == 0]
    which = np.repeat([level == 0 for level in system.levels], system.problem.counts)
    first = system_of(mechanism, [constraints[k] for k in hard], limits=system.limited) if hard else None
    if first is not None:
        rows = solved(mechanism, first, np.ascontiguousarray(tasks[:, which]), starts, tol, seed)
    else:
        ends = system.ends(tasks, starts, system.settings(tol, LONGEST))
        rows = system.checked(tasks, ends, starts, tol)
    q, levels = np.array(rows.q), sorted(set(system.levels))
    resting = np.ones((len(tasks), len(levels)), dtype=bool)
    alone = len(levels) == 1  # (then the machine code has done all, as a rule)
    for k in np.flatnonzero(~(rows.success | system.settled(tasks, q))) if alone else range(len(tasks)):
        q[k], at_rest, steps = LevelDescent(system, tasks[k]).run(q[k], tol)
        q[k] = _near(system, q[k], starts[k])
        resting[k] = [at_rest[level] for level in levels]
        rows.iterations[k] += steps
    if first is not None:  # (degrees of freedom lost by rounding are lost to later levels)
        away, angle, beyond = first.checking(tasks[:, which], q)
        lost = rows.success & ~((away <= tol) & (angle <= tol) & (beyond == 0))
        q[lost], resting[lost, 1:] = rows.q[lost], False
    errors = np.asarray(system.each_error(tasks, q))
    outside = system.checking(tasks, q)[2]
    weights = system.weights(tasks)
    must = np.where(weights[:, hard, None] > 0.0, errors[:, hard], 0.0)
    far, turned = (np.linalg.norm(must[..., part], axis=-1) for part in (0, 1))
    holds = (far <= tol) & (turned <= tol) & (outside == 0)
    reason = np.where(holds, np.where(resting.all(axis=1), "converged", "iterations"), rows.reason if hard else "limit")
    fields = {"reason": reason, "success": reason == "converged", "position_error": far, "rotation_error": turned}
    scaled = np.square(errors[..., 0] / system.problem.length) + np.square(errors[..., 1])
    owners = np.array(system.levels)
    lacking = weights * scaled
    sums = np.stack([np.sqrt(lacking[:, owners == level].sum(axis=1)) for level in levels], axis=1)
    shared = {"limits": system.bounds, "names": system.names, "tol": tol}
    return PrioritySolution.of(q=q, iterations=rows.iterations, **fields).shaped(
        batch,
        constraint_errors=errors.reshape(*batch, *errors.shape[1:]),
        constraints=tuple(repr(c) for c in constraints),
        priorities=owners,
        levels=sums.reshape(*batch, len(levels)),
        at_rest=resting.reshape(*batch, len(levels)),
        **shared,
    )


def _near(system: CompiledProblem, q: FloatArray, start: FloatArray) -> FloatArray:
    """Coordinates (nq,), those that may turn with the whole turns that are nearest to the start."""
    base = system.problem.base
    return np.concatenate([q[:base], system.ranges.nearest_turns(q[base:], start[base:])])


def solved(
    mechanism: Tree, system: CompiledProblem, tasks_given: FloatArray, start: FloatArray, tol: float, seed: int
) -> Solution:
    """Solve tasks with numbers (..., p) from starts (..., nq)."""
    batch, nq = tasks_given.shape[:-1], len(system.start)
    if not batch:
        row = system.reaching(tasks_given, start, system.starts(seed), system.settings(tol))
        q = system.unmoved(row[:nq], start)
        distance, angle, outside = system.checking(tasks_given, q)
        if row[-1] > 0 and distance <= tol and angle <= tol and not outside:
            steps = int(row[nq])
            return Solution(q, True, "converged", float(distance), float(angle), steps, system.bounds, system.names, tol)
    tasks = np.ascontiguousarray(tasks_given.reshape(prod(batch), tasks_given.shape[-1]))
    starts = start.reshape(prod(batch), nq)
    rows = _reached(system, tasks, starts, tol, seed)
    unsolved = np.flatnonzero(~rows.success)
    if unsolved.size:
        rows.put(unsolved, nearest(mechanism, system, tasks[unsolved], starts[unsolved], tol, seed))
    return rows.shaped(batch, limits=system.bounds, names=system.names, tol=tol)


def _reached(system: CompiledProblem, tasks: FloatArray, starts: FloatArray, tol: float, seed: int) -> Solution:
    """Solution of the iteration for tasks in a row."""
    count, others, settings = len(tasks), system.starts(seed), system.settings(tol)
    solution = Solution(
        np.empty(starts.shape),
        np.empty(count, bool),
        np.empty(count, "<U11"),
        np.empty(count),
        np.empty(count),
        np.empty(count, np.intp),
    )

    def reach(part: slice) -> Iterator[None]:
        for first in range(part.start, part.stop, AT_ONCE):
            here = slice(first, min(first + AT_ONCE, part.stop))
            begun = starts[here] if starts.strides[0] else starts[0]  # (one start for all is not copied)
            rows = system.reaching(tasks[here], begun, others, settings)
            solution.put(here, system.checked(tasks[here], rows, starts[here], tol, rows[:, -1] > 0))
            yield

    threads.run(reach, system.pieces(count))
    return solution


def start_of(mechanism: Tree, system: CompiledProblem, q0: npt.ArrayLike | None) -> FloatArray:
    """The first start (..., nq)."""
    if q0 is None:
        return system.start
    if type(q0) is np.ndarray and _usual(q0, system):
        return q0
    start = vectors("q0", q0, mechanism.nq)
    for at in mechanism.manifold_joints:
        place = at.quaternion
        size = np.linalg.norm(start[..., place], axis=-1, keepdims=True)
        if not (size > 0.0).all():
            where = f"q0[..., {place.start}:{place.stop}]"
            raise ArgumentError(f"q0 has a quaternion of zeros; expected qw, qx, qy, qz in {where}")
        start[..., place] /= size
    start[..., system.problem.base :] = system.ranges.lifted(start[..., system.problem.base :])
    return start


def _usual(q0: FloatArray, system: CompiledProblem) -> bool:
    """True for a plain start: joint coordinates only, float64, finite and within the limits."""
    n = len(system.ranges.low)
    return q0.dtype == np.float64 and q0.shape == (n,) == system.start.shape and system.ranges.hold(q0)


def _constraint_list(constraints: Constraint | Sequence[Constraint]) -> list[Constraint]:
    expected = "Pose, Position, Orientation and the like"
    sequence = [constraints] if isinstance(constraints, Constraint) else listed("constraints", constraints, expected)
    wrong = [item for item in sequence if not isinstance(item, Constraint)]
    if wrong:
        raise ArgumentError(f"constraints hold {shown(wrong[0])}; expected {expected}")
    return sequence
