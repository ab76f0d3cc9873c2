"""Inverse kinematics: joint coordinates for poses of a frame, by closed form, iteration and multiple starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import TYPE_CHECKING, Any, ParamSpec

import numpy as np
import numpy.typing as npt

from linkwise.arrays import by_library, in_graphs
from linkwise.errors import ArgumentError, choices
from linkwise.inverse_kinematics.branches.configuration import labels_of
from linkwise.inverse_kinematics.branches.self_motion import self_motion
from linkwise.inverse_kinematics.branches.turns import with_turns
from linkwise.inverse_kinematics.by_elimination import proofs, searched_further
from linkwise.inverse_kinematics.by_library import (
    POSES,
    all_solutions_by,
    all_solutions_in_graph,
    all_solutions_in_rows,
    all_solutions_rows,
    solve_by,
)
from linkwise.inverse_kinematics.closed_form import ClosedForm, Solutions, closed_form, elimination
from linkwise.inverse_kinematics.closed_form.completion import APART
from linkwise.inverse_kinematics.textbook_methods import newton_raphson, steepest_descent
from linkwise.kernel.backend import backend_of
from linkwise.kinematics.jacobian import check_frame
from linkwise.model.tree import Tree, require_numeric_tree, require_tree
from linkwise.solve.by_library import solution_in_graph, solution_rows
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints.clear import Clear, clear_given
from linkwise.solve.constraints.pose import EXACT, Pose, defects
from linkwise.solve.joint_limits import JointRanges, beside, shorter_way, start_position
from linkwise.solve.solution import ROWS, Solution
from linkwise.solve.solve import solve, solved, start_of
from linkwise.solve.validation import link_given, positive, settle
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, common_batch, flag, mask_of, readable, whole

if TYPE_CHECKING:
    from linkwise.model.link import Link


Given = ParamSpec("Given")


def farthest(mechanism: Tree, link: int | str = "tool") -> tuple[FloatArray, float]:
    """Return the first joint (3,) of the path to a frame, world frame, m, and a bound of the frame's distance from it, m.

    The lengths between the joints on the way, and the farthest that each slides, are added up: a bound, which a straight
    chain attains. It is infinite for what slides without limits, and for a base that floats.

    Examples
    --------
    >>> from linkwise import robots
    >>> farthest(robots.planar_2r())[1]
    2.0
    """
    here, start, total = np.asarray(mechanism.base, dtype=float), np.zeros(3), 0.0
    moving = False
    for k in mechanism.path(link):
        link_k = mechanism.links[k]
        here = here @ link_k.before
        if link_k.moves:
            start, total = (start, total + float(np.linalg.norm(here[:3, 3]))) if moving else (here[:3, 3].copy(), 0.0)
            total, moving, here = total + _slides(link_k), True, np.eye(4)
        here = here @ link_k.after
    here = here @ mechanism.frame(link)[1]
    if mechanism.floating or not moving:
        return start, np.inf
    return start, total + float(np.linalg.norm(here[:3, 3]))


def _slides(link: Link) -> float:
    """Greatest displacement of a link by its joint, m."""
    if link.joint_model.parts is None:
        return 0.0 if link.joint_model.is_rotation else np.inf
    total = 0.0
    for part, limits in zip(link.joint_model.parts, link.coordinate_limits, strict=True):
        if advance := abs(float(part.advance)):
            total += advance * (np.inf if limits is None else max(abs(limit + link.offset) for limit in limits))
    return total


def telling_reach(solver: Callable[Given, Solution]) -> Callable[Given, Solution]:
    """Wrap a solver of poses so that its failures report the distance of unreachable targets."""
    look: Callable[..., Solution] = _told

    @wraps(solver)
    def solve(*args: Given.args, **options: Given.kwargs) -> Solution:
        solution = solver(*args, **options)
        return solution if solution.success is True or np.all(solution.success) else look(solution, *args, **options)

    return solve


def _told(
    solution: Solution,
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    limits: bool = True,
    **_: Any,
) -> Solution:
    counts = np.array(mask_of(mask)[:3])
    start, most = farthest(mechanism, link)
    slid = not limits and any(mechanism.is_length)
    if not np.isfinite(most) or slid or (frame == "body" and not counts.all()):
        return solution
    away = np.linalg.norm((np.asarray(T, dtype=float)[..., :3, 3] - start) * counts, axis=-1)
    return replace(solution, away=np.broadcast_to(away, np.shape(solution.success)), reach=most)


#: Parts of a pose solved by a closed form, by the mask.
ASKS: dict[tuple[int, ...], str] = {
    (1, 1, 1, 1, 1, 1): "pose",
    (1, 1, 1, 0, 0, 0): "position",
    (0, 0, 0, 1, 1, 1): "orientation",
}


def form_for(mechanism: Tree, link: int | str, mask: npt.ArrayLike | None, *, needed: bool) -> ClosedForm | None:
    """Return the closed form for poses in the axes of a mask, None if there is none.

    Raises
    ------
    NoClosedFormError
        Where there is none although it is needed: why.
    """
    asks = "pose" if mask is None else ASKS.get(tuple(map(int, mask_of(mask))))
    if asks is None:
        if needed:
            closed_form(mechanism, link).refuse("the mask leaves single axes free")
        return None
    form = closed_form(mechanism, link, asks=asks)
    if not form.exists and needed:
        form.refuse()
    return form if form.exists else None


def exactly(
    form: ClosedForm,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    tol: float,
    system: CompiledProblem,
    numeric: Callable[..., Solution],
) -> Solution:
    """Solve poses (..., 4, 4) by the branch nearest to q0 (..., n); call ``numeric(T, q0=q0)`` for those without one."""
    q, success, far, turned = form.nearest(T, q0, system.limited, tol=tol)
    if q.ndim == 1:
        if success:
            return Solution(q, True, "converged", float(far), float(turned), 0, system.bounds, system.names, tol)
        solution = numeric(T, q0=q0)
        if solution.success:
            return solution
        poses = np.asarray(T, dtype=float)[None]
        within = form.all(poses, limits=system.limited)
        reason, proven = proofs(form, poses, within, system.limited, np.array([solution.reason]))
        return replace(solution, reason=str(reason[0]), proven=bool(proven[0]))
    reason, steps = np.full(success.shape, "converged", dtype="<U11"), np.zeros(success.shape, dtype=np.intp)
    rows = dict(zip(ROWS, (q, success, reason, far, turned, steps), strict=True))
    shared = {"limits": system.bounds, "names": system.names, "tol": tol}
    if success.all():
        return Solution.of(**rows, **shared, proven=~success)
    unsolved = ~success
    start = None if q0 is None else np.broadcast_to(np.asarray(q0, dtype=float), q.shape)[unsolved]
    solution = Solution.of(**rows, **shared)  # (these rows are not shared)
    poses = np.broadcast_to(np.asarray(T, dtype=float), (*success.shape, 4, 4))
    solution.put(unsolved, numeric(poses[unsolved], q0=start))
    left = ~solution.success
    proven = np.zeros(success.shape, dtype=bool)
    within = form.all(poses[left], limits=system.limited)
    solution.reason[left], proven[left] = proofs(form, poses[left], within, system.limited, solution.reason[left])
    return replace(solution, proven=proven)


TEXTBOOK_METHODS: dict[str, Callable[..., Solution]] = {
    "newton_raphson": newton_raphson,
    "steepest_descent": steepest_descent,
}

METHODS = ("auto", "closed_form", "numeric", *TEXTBOOK_METHODS)


@in_graphs(POSES, solution_rows, solution_in_graph)
@by_library(solve_by, "T", "q0")
@telling_reach
def inverse_kinematics(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    tol: float = 1e-9,
    seed: int = 0,
    method: str = "auto",
    limits: bool = True,
    clear: Clear | None = None,
    configuration: Mapping[str, str] | None = None,
    backend: str | None = None,
) -> Solution:
    """Joint coordinates that bring a frame to poses T (..., 4, 4), within the joint limits.

    Parameters
    ----------
    mechanism : Mechanism
        Any mechanism; its loops are kept closed.
    T : (..., 4, 4) array_like
        Target poses in the world frame, m.
    q0 : (..., nq) array_like, optional
        Initial guess, rad or m; by default near the middle of the range of each joint. A closed form
        gives the solution nearest to it; the other methods the one that they come to from it, if they come to one. Whole
        turns outside the limits are taken off first. Joints on which the pose does not depend, such as those of a gripper
        beside the frame, stay at q0, at zero (or the limit next to it) where that is left out.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    mask : (6,) array_like, optional
        1 for constrained, 0 for free directions: x, y, z, rotation about x, y, z; or ``"all"`` (the default),
        ``"translation"``, ``"rotation"``.
    frame : {"world", "body"}
        Axes of the mask: those of the world, or of the moving frame.
    tol : float
        Greatest distance (m) and angle (rad) from the pose for success.
    seed : int
        Seed of the random starts that follow where q0 does not lead to a solution.
    method : {"auto", "closed_form", "numeric", "newton_raphson", "steepest_descent"}
        ``"auto"`` takes the closed form where the mechanism has one, and ``"numeric"``, damped least squares from q0 and
        then from random starts, where it has none or the closed form finds nothing; of five or six joints elimination then
        gives what no start led to, or proves that there is none (`Solution.proven`); ``"closed_form"`` does the same and
        raises `NoClosedFormError` where there is none. The last two are the textbook methods,
        from one start: `linkwise.inverse_kinematics.newton_raphson`, `linkwise.inverse_kinematics.steepest_descent`.
    limits : bool
        Whether joint limits hold. They are hard: no solution is outside them.
    clear : Clear, optional
        The clearance to keep. Of a closed form's solutions the nearest to q0 that is clear is taken; where
        none is, or there is no closed form, the pose and this are solved for together.
    configuration : mapping of str to str, optional
        The words that the solution has, such as ``{"elbow": "up"}``: see `configuration_labels`. It is the nearest to q0 of
        all solutions that have them, as `all_inverse_kinematics` lists these. Where there is none although the pose is in
        reach, the reason is ``"configuration"``, and q is a solution with other words.
    backend : {"llvm", "numpy"}, optional
        How the numeric method is computed, as in `linkwise.solve.solve`: from 32 bodies on the way to the frame on NumPy
        takes its steps by default, and nothing is compiled for the mechanism.

    Returns
    -------
    Solution
        Shaped as T and q0 broadcast; the same for the same arguments, and for a batch as for a loop. Without success q is
        the nearest pose found, and `Solution.explain` gives the reason.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.panda()
    >>> T = arm.forward_kinematics([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    >>> found = inverse_kinematics(arm, T)
    >>> found.success, bool(abs(arm.forward_kinematics(found.q) - T).max() < 1e-8)
    (True, True)
    """
    require_numeric_tree(mechanism, "inverse_kinematics")
    choice("method", method, METHODS)
    if backend is not None:
        backend_of(backend)  # (refuses an unknown one)
    if configuration is not None:
        asked: dict[str, Any] = {"q0": q0, "tol": tol, "seed": seed, "limits": limits, "clear": clear, "backend": backend}
        return _in_configuration(mechanism, Pose(link, T, mask, frame), configuration, method, **asked)
    if clear is not None:
        asked = {"q0": q0, "tol": tol, "seed": seed, "limits": limits, "backend": backend}
        return _clear_of(mechanism, Pose(link, T, mask, frame), clear, method, **asked)
    if method in TEXTBOOK_METHODS:
        return TEXTBOOK_METHODS[method](mechanism, T, q0, link=link, mask=mask, frame=frame, tol=tol, limits=limits)
    check_frame(frame)
    if limits is not True:
        limits = flag("limits", limits)
    if tol.__class__ is not float or not 0.0 < tol < np.inf:
        tol = positive("tol", tol)
    seed = whole("seed", seed, 0)
    form = None if method == "numeric" else form_for(mechanism, link, mask, needed=method == "closed_form")
    if form is not None:
        options: dict[str, Any] = {"link": link, "mask": mask, "frame": frame, "tol": tol, "seed": seed, "limits": limits}
        options["backend"] = backend
        again = partial(inverse_kinematics, mechanism, method="numeric", **options)
        return exactly(form, T, q0, tol, pose_system(mechanism, link, limits), again)
    whole_poses = mask is None and not mechanism.loops
    solution = _plain(mechanism, T, q0, link, tol, seed, limits, backend) if whole_poses else None
    if solution is None:
        solution = solve(mechanism, Pose(link, T, mask, frame), q0=q0, tol=tol, seed=seed, limits=limits, backend=backend)
    if method == "numeric" or not whole_poses or solution.success is True or np.all(solution.success):
        return solution
    return searched_further(mechanism, pose_system(mechanism, link, limits), solution, T, q0, link)


def _in_configuration(
    mechanism: Tree,
    goal: Pose,
    configuration: Mapping[str, str],
    method: str,
    *,
    q0: npt.ArrayLike | None,
    tol: float,
    limits: bool,
    **options: Any,
) -> Solution:
    """Return the nearest solutions of a configuration, and the reason where there is none."""
    if method in TEXTBOOK_METHODS or not all(goal.mask) or mechanism.loops or mechanism.manifold_joints:
        raise ArgumentError(
            f"configuration goes with whole poses of a tree on a fixed base, and with method "
            f"{choices([word for word in METHODS if word not in TEXTBOOK_METHODS])}; expected it to be left out"
        )
    clear, size = options.pop("clear"), positive("tol", tol)
    labels_of(mechanism, goal.link).fits(np.zeros(mechanism.n), configuration)
    sought: dict[str, Any] = {"link": goal.link, "limits": limits, "clear": clear, "configuration": configuration}
    some = {"tol": size, "seed": options["seed"]} if method == "numeric" else {}
    listed = all_inverse_kinematics(mechanism, goal.T, q0=q0, method=method, **sought, **some)
    system = pose_system(mechanism, goal.link, limits)
    batch = common_batch(T=goal.numbers.shape[:-1], q0=start_of(mechanism, system, q0).shape[:-1])
    rows = np.broadcast_to(listed.q, (*batch, *listed.q.shape[-2:]))
    q = rows[..., 0, :] if rows.shape[-2] else np.full((*batch, mechanism.n), np.nan)
    tasks = np.ascontiguousarray(np.broadcast_to(goal.numbers, (*batch, 16)).reshape(-1, 16))
    q = np.array(q).reshape(-1, mechanism.n)
    lacking = np.flatnonzero(np.isnan(q).any(axis=-1))
    reason = np.full(len(q), "converged", dtype="<U13")
    if lacking.size:
        starts = None if q0 is None else np.broadcast_to(q0, (*batch, mechanism.n)).reshape(q.shape)[lacking]
        kept: dict[str, Any] = {
            "link": goal.link,
            "method": method,
            "tol": size,
            "limits": limits,
            "clear": clear,
            "q0": starts,
        }
        others = inverse_kinematics(mechanism, tasks[lacking].reshape(-1, 4, 4), **options, **kept)
        q[lacking], reason[lacking] = others.q, np.where(others.success, "configuration", others.reason)
    far, turned, outside = system.checking(tasks, q)
    within = (far <= size) & (turned <= size) & (outside == 0)
    success = (reason == "converged") & within
    reason[~within & (reason == "converged")] = "stalled"  # (tol is below what rounding leaves)
    steps = np.zeros(len(q), dtype=np.intp)
    shared = {"limits": system.bounds, "names": system.names, "tol": size}
    return Solution(q, success, reason, far, turned, steps).shaped(batch, **shared)


def _clear_of(
    mechanism: Tree, goal: Pose, clear: Clear, method: str, *, q0: npt.ArrayLike | None, limits: bool, **options: Any
) -> Solution:
    """Solve for a pose and for clearance, from the nearest clear solution of a closed form if there is one."""
    if method in TEXTBOOK_METHODS:
        raise ArgumentError(f"clear goes with method 'auto', 'closed_form' or 'numeric', not {method!r}")
    constraints = [goal, clear_given(clear)]
    form = None if method == "numeric" else form_for(mechanism, goal.link, goal.mask, needed=method == "closed_form")
    if form is not None:
        clear.check(mechanism)
        solutions = form.all(goal.T, q0, limits)
        solutions = solutions.where(clear.satisfied(mechanism, solutions.q))
        start = system_of(mechanism, constraints, limits=limits).start if q0 is None else np.asarray(q0, dtype=float)
        first = solutions.q[..., 0, :] if solutions.q.shape[-2] else np.full_like(start, np.nan)
        q0 = np.where(np.isnan(first), start, first)
    return solve(mechanism, constraints, q0=q0, limits=limits, **options)


def pose_system(mechanism: Tree, link: int | str, limits: bool, backend: str | None = None) -> CompiledProblem:
    """The system for whole poses of a link."""
    key = ("pose", link_given(link), limits, backend)

    def make() -> CompiledProblem:
        goal = Pose(link, np.eye(4))
        goal.check(mechanism)
        return system_of(mechanism, [goal], limits=limits, backend=backend)

    return mechanism.memo("inverse_kinematics", key, make)


def _plain(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    link: int | str,
    tol: float,
    seed: int,
    limits: bool,
    backend: str | None,
) -> Solution | None:
    """Fast path for whole poses with valid rotations; None for all other poses."""
    try:
        poses = np.asarray(readable("T", T))
    except ValueError:
        return None
    if poses.shape[-2:] != (4, 4) or poses.dtype.kind not in "biuf":
        return None
    rows = np.asarray(poses, dtype=np.float64).reshape(*poses.shape[:-2], 16)
    gaps = defects(rows)
    if not (gaps <= EXACT if rows.ndim == 1 else (gaps <= EXACT).all()):
        return None
    system = pose_system(mechanism, link, limits, backend)
    start = system.start if q0 is None else start_of(mechanism, system, q0)
    if rows.ndim != 1 or start.ndim != 1:
        batch = common_batch(T=rows.shape[:-1], q0=start.shape[:-1])
        rows, start = np.broadcast_to(rows, (*batch, 16)), np.broadcast_to(start, (*batch, mechanism.nq))
    return solved(mechanism, system, rows, start, tol, seed)


#: Starts are followed to this, m and rad, so that equal solutions come out nearly equal.
FINE = 1e-12

#: Solutions whose coordinates differ by less, rad or m, are one.
SAME = 1e-6

#: Methods to find all solutions.
ALL_METHODS = ("auto", "closed_form", "elimination", "numeric")

#: Starts followed in one call.
AT_ONCE = 100_000


@in_graphs(POSES, all_solutions_rows, all_solutions_in_graph, operator=all_solutions_in_rows)
@by_library(all_solutions_by, "T", "q0")
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
    require_tree(mechanism, "numeric_solutions: mechanism")
    if mechanism.loops or mechanism.manifold_joints:
        joint = "" if mechanism.loops else mechanism.manifold_joints[0].joint.kind
        kind = "loops" if mechanism.loops else "a floating base" if mechanism.floating else f"a {joint} joint"
        raise ArgumentError(f"{mechanism.name!r} has {kind}; expected a tree on a fixed base, of joints without quaternions")
    goal = Pose(link, T, mask)
    goal.check(mechanism)
    size, many = positive("tol", tol), whole("starts", starts, 1)
    system = system_of(mechanism, [goal], limits=limits)
    start = start_of(mechanism, system, q0)
    batch = common_batch(T=goal.numbers.shape[:-1], q0=start.shape[:-1])
    tasks = np.broadcast_to(goal.numbers, (*batch, 16)).reshape(-1, 16)
    first = np.broadcast_to(start, (*batch, mechanism.n)).reshape(-1, mechanism.n)
    others = system.starts(whole("seed", seed, 0), many)
    per_call = max(1, AT_ONCE // (1 + many))
    solutions: list[FloatArray] = []
    for k in range(0, len(tasks), per_call):
        solutions += _of_some(system, tasks[k : k + per_call], first[k : k + per_call], others, size)
    counts = np.array([len(rows) for rows in solutions], dtype=np.intp)
    q = np.full((len(solutions), counts.max(initial=0), mechanism.n), np.nan)
    for row, rows in zip(q, solutions, strict=True):
        row[: len(rows)] = rows
    return Solutions(q.reshape(*batch, *q.shape[1:]), counts.reshape(batch), np.zeros(batch, dtype=bool))


@in_graphs(POSES, all_solutions_rows, all_solutions_in_graph, operator=all_solutions_in_rows)
@by_library(all_solutions_by, "T", "q0")
def all_inverse_kinematics(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    limits: bool = True,
    method: str = "auto",
    fixed: Mapping[int | str, npt.ArrayLike] | None = None,
    mask: npt.ArrayLike | None = None,
    tol: float = 1e-9,
    seed: int = 0,
    starts: int = 200,
    turns: bool = False,
    configuration: Mapping[str, str] | None = None,
    redundancy: Mapping[int | str, npt.ArrayLike] | int | None = None,
    clear: Clear | None = None,
) -> Solutions:
    """All joint positions that bring a frame to poses T (..., 4, 4), within the limits, the nearest to q0 first.

    By the closed form where there is one, else, of five or six joints, by elimination, which needs no special geometry.

    Each solution is refined where its equations need it, and is one only where a forward pass of its own
    reaches the pose within 1e-9 m and rad. Revolute joints are turned by whole turns to where they are nearest to q0 within
    their limits, so that no solution appears twice; without q0, those that have no limits are in (-pi, pi].
    In a singular position, where a joint may turn freely, one solution stands for all: that joint stays at q0, or as near to
    it as the others can reach.

    At special poses the equations lose solutions to rounding, or leave a joint undetermined. The branches that nearly reach
    such a pose are refined by Newton's method; where a joint is undetermined and solutions may be missing for it, 100 random
    starts are followed too. `Solutions.complete` is False there, because starts prove nothing; for a single pose a
    `LinkwiseWarning` says how many solutions come from them.

    Elimination (M. Raghavan and B. Roth 1993) gives the angle of one joint as a root of a polynomial of degree 16, or 8. It
    is complete where each root that may be real, within the error of the coefficients, is apart from all others and belongs
    to a solution; or where nothing real is left once the roots of all solutions are divided off. Where neither is so, at
    singular poses and boundaries of the reach, solutions of poses beside are followed too, and `Solutions.complete` is
    False; of a continuum they may be several. A pose without solutions that is complete is out of reach:
    `Solutions.unreachable`.

    Parameters
    ----------
    mechanism : Mechanism
        For the closed form one that has it: `closed_form` says whether it does.
    T : (..., 4, 4) array_like
        Poses, world frame, m.
    q0 : (..., n) array_like, optional
        Solutions are ordered by their distance from here (root of the sum of squares, rad and m alike); a little beside the
        middle of each joint's range where it is left out, the shorter way round.
    link : int or str
        Which frame, as in `Mechanism.forward_kinematics`.
    limits : bool
        Whether joint limits hold.
    method : {"auto", "closed_form", "elimination", "numeric"}
        How solutions are computed; "numeric" is `numeric_solutions`, from many starts.
    fixed : mapping of a joint to its value, optional
        With the closed form of seven joints, one that is held: see `closed_form`.
    mask, tol, seed, starts
        With the numeric method: see `numeric_solutions`.
    turns : bool
        Whether to list each solution with all whole turns of its joints within the limits: of six joints with two turns
        each up to 64 times as many. Joints without limits keep the one turn.
    configuration : mapping of str to str, optional
        Only solutions with these words, such as ``{"shoulder": "left", "elbow": "up"}``: see `configuration_labels`.
    redundancy : mapping of a joint to its values, or int, optional
        For arms with one joint more than a pose determines: values (G,) of one joint, or how many of them between its
        limits; a number alone leaves the choice of the joint to `redundant_joint`.
    clear : Clear, optional
        Only the solutions that are clear are given; `Solutions.complete` says whether there are no others.

    Returns
    -------
    Solutions
        With `redundancy` a `SelfMotion`, whose q is (..., G, K, n).

    Raises
    ------
    NoClosedFormError
        Where no closed form is known, and elimination does not fit: why, and what to use instead.
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
    require_numeric_tree(mechanism, "all_inverse_kinematics")
    choice("method", method, ALL_METHODS)
    _options_agree(method, mask, fixed, redundancy)
    solutions: Solutions
    held: int | None = None
    if redundancy is not None:
        motion = self_motion(mechanism, T, redundancy, q0=q0, link=link, limits=limits)
        solutions, held = motion, motion.joint
    elif method == "numeric":
        sought: dict[str, Any] = {"link": link, "mask": mask, "limits": limits, "tol": tol, "seed": seed, "starts": starts}
        solutions = numeric_solutions(mechanism, T, q0=q0, **sought)
    else:
        solutions, held = _by_form(mechanism, T, q0, link, limits, method, fixed)
    if q0 is None:
        turned = JointRanges.of(mechanism, limits=limits).principal(solutions.q)
        if held is not None:
            turned[..., held] = solutions.q[..., held]
        solutions = replace(solutions, q=turned)
    if mask is None and not (mechanism.loops or mechanism.manifold_joints):
        settle(solutions, labels=labels_of(mechanism, link, held))  # (these solutions are not shared yet)
    if configuration is not None:
        if solutions.labels is None:
            raise ArgumentError("configuration goes with whole poses of a tree on a fixed base; expected it to be left out")
        solutions = solutions.where(labels_of(mechanism, link, held).fits(solutions.q, configuration))
    if clear is not None:
        clear_given(clear).check(mechanism)
        solutions = solutions.where(clear.satisfied(mechanism, solutions.q))
    if turns is False or not flag("turns", turns):
        return solutions
    if not limits:
        raise ArgumentError("turns=True goes with limits=True; without limits there is no end of turns")
    start = start_position(mechanism, beside(mechanism, link)) if q0 is None else np.asarray(q0, dtype=float)
    away = start[..., None, :] if redundancy is not None else start
    return with_turns(solutions, JointRanges.of(mechanism, limits=limits), away, held)


def _options_agree(method: str, mask: Any, fixed: Any, redundancy: Any) -> None:
    """Raise where options of `all_inverse_kinematics` exclude each other."""
    if method != "numeric" and mask is not None:
        raise ArgumentError("mask goes with method='numeric'; of closed forms see closed_form(asks=)")
    if method not in {"auto", "closed_form"} and not (fixed is None and redundancy is None):
        raise ArgumentError("fixed and redundancy go with method='closed_form'")
    if fixed is not None and redundancy is not None:
        raise ArgumentError("fixed and redundancy both say which joint is held; expected one of them")


def _by_form(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    link: int | str,
    limits: bool,
    method: str,
    fixed: Mapping[int | str, npt.ArrayLike] | None,
) -> tuple[Solutions, int | None]:
    """Return the solutions by closed form or elimination, and the fixed coordinate."""
    form = closed_form(mechanism, link, fixed=fixed)
    wanted = method == "elimination" or (method == "auto" and not form.exists and fixed is None)
    general = elimination(mechanism, link) if wanted else None
    if general is None and method == "elimination":
        raise ArgumentError(
            f"{mechanism.name!r}: method is 'elimination', which needs five or six independent joints that move the"
            " frame, two of them prismatic at most"
        )
    return (general or form).all(T, q0, limits), form.fixed


def _of_some(
    system: CompiledProblem, tasks: FloatArray, first: FloatArray, others: FloatArray, tol: float
) -> list[FloatArray]:
    """Return the solutions (k, n) of each task (N, 16)."""
    n, per_task = first.shape[1], 1 + len(others)
    begun = np.concatenate([first[:, None], np.broadcast_to(others, (len(first), *others.shape))], axis=1).reshape(-1, n)
    repeated = np.repeat(tasks, per_task, axis=0)
    rows_out = system.reaching(repeated, begun, begun[:0], system.settings(min(tol, FINE)))
    begins = np.repeat(first, per_task, axis=0)
    q = system.unmoved(system.ranges.nearest_turns(rows_out[:, :n], begins), begins)
    distance, angle, outside = system.checking(repeated, q)
    good = ((distance <= tol) & (angle <= tol) & (outside == 0)).reshape(-1, per_task)
    fine = good & (rows_out[:, -1] > 0).reshape(-1, per_task)
    turning = system.ranges.turning
    return [  # (at singular poses, and far from the base, no start may come to `FINE`)
        _distinct(rows[close], start, turning, SAME) if close.any() else _distinct(rows[keep], start, turning, APART)
        for rows, close, keep, start in zip(q.reshape(-1, per_task, n), fine, good, first, strict=True)
    ]


def _distinct(q: FloatArray, q0: FloatArray, turning: npt.NDArray[np.bool_], same: float) -> FloatArray:
    """Remove rows (k, n) equal up to full turns of the coordinates in `turning` (n,); sort by distance from q0."""
    q = q[np.argsort(np.linalg.norm(q - q0, axis=1), kind="stable")]
    kept: list[FloatArray] = []
    for row in q:
        away = shorter_way(np.array(kept).reshape(-1, len(row)) - row, turning)
        if not kept or np.abs(away).max(axis=1).min() > same:
            kept.append(row)
    return np.array(kept).reshape(-1, q.shape[1])
