"""Time-optimal motion along a path, by reachability analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, whole
from linkwise.trajectory.contact import contact_along
from linkwise.trajectory.motion_limits import JERK_FIELDS, MotionLimits
from linkwise.trajectory.optimal_motion import OptimalMotion
from linkwise.trajectory.path import JointPath, path_through
from linkwise.trajectory.path_problem import PathProblem
from linkwise.trajectory.validation import closed, count, schedule


def time_optimal(
    path: JointPath | npt.ArrayLike,
    mechanism: Tree | None = None,
    limits: MotionLimits | None = None,
    *,
    sd0: npt.ArrayLike = 0.0,
    sd1: npt.ArrayLike = 0.0,
    rests: Sequence[float] = (),
    intervals: int = 200,
    refinements: int = 0,
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
    rate: float | None = None,
    obstacles: Sequence[Shape] | None = None,
) -> OptimalMotion:
    """Run along a path as fast as limits of joints, efforts and tool allow.

    Along the path q(s) velocity, acceleration and effort are linear in u = d2s/dt2 and x = (ds/dt)^2, but for friction. The
    path is cut into intervals in which u is constant, and the greatest x are found by reachability analysis (H. Pham and
    Q.-C. Pham, IEEE Transactions on Robotics 34(3), 2018). Limits hold between the nodes too: of velocities and
    accelerations by the Bernstein coefficients of what is limited, a polynomial; of efforts and of the tool by those of a
    polynomial of degree four through five points, and by checks at six, at last 17 points of each interval and of the
    polynomial through these, after which limits are tightened where they were exceeded, and the motion is slowed by what is
    left (`OptimalMotion.stretch`). Efforts without friction, with 24 intervals or more between two knots, are checked at 60
    points first, and at all others where one of these exceeds a limit. Where dry friction jumps within an interval, and
    end stops begin, nothing is checked between the points; where a motion ends, friction has the sign of the motion before.
    With limits of jerk or of rates of efforts the result is averaged over a window of time
    (`linkwise.trajectory.jerk_along_path`): it keeps all limits, starts and ends at rest, and is not the shortest.

    Parameters
    ----------
    path : JointPath or (..., K, n) array_like
        Where to go: `path_through`, `tool_path`, or points for `path_through`. Paths of a batch share knots and limits.
    mechanism : Mechanism, optional
        It has the limits, where none are given, and gives efforts and the motion of the tool. Joints must stay in theirs.
    limits : MotionLimits, optional
        Limits; those of the mechanism's joints unless given.
    sd0, sd1 : float or (...) array_like
        ds/dt at the beginning and at the end.
    rests : sequence of float
        Parameters s at which the motion stops.
    intervals : int
        Into how many the path is cut; knots and rests are nodes.
    refinements : int
        How often nodes are moved to where u jumps, and the motion is computed again. With none, a
        bang-bang motion lasts longer than it need by some parts in a hundred thousand.
    t : (T,) array_like, optional
        Instants of the result, from 0; they must last as long as the motion.
    samples, rate : int, float, optional
        Instead: how many instants over the longest duration, 101 by default, or how many a second.
    obstacles : sequence of Shape, optional
        In the world. A motion past them, or with ``()`` past the mechanism itself, is refused where capsules about the
        shapes touch anywhere along the path; else its least clearance, of 1001 instants, is in
        `OptimalMotion.least_clearance`. Sliding joints need limits then.

    Returns
    -------
    OptimalMotion
        A trajectory whose acceleration jumps between nodes; it rests after its end.

    Raises
    ------
    ArgumentError
        Where shapes do not fit, the path leaves the joints' limits or meets an obstacle, a limit is zero for a joint that
        moves, or no speed keeps the limits: what, where along the path, and by how much.

    Examples
    --------
    >>> move = time_optimal([[0.0], [2.0]], limits=MotionLimits(qd_max=1.0, qdd_max=2.0), refinements=1)
    >>> round(move.duration, 6)  # half a second each to start and to brake, one and a half between
    2.5
    >>> [limit.name for limit in move.binding]
    ['acceleration of q1', 'velocity of q1', 'acceleration of q1']
    """
    if mechanism is not None:
        require_tree(mechanism, "mechanism")
    route = path if isinstance(path, JointPath) else path_through(path, names=() if mechanism is None else mechanism.names)
    if not isinstance(limits, MotionLimits | None):
        raise ArgumentError(f"limits is {shown(limits)}; expected a MotionLimits")
    if mechanism is not None:
        _check_mechanism(mechanism, route)
    elif limits is None:
        raise ArgumentError("give a mechanism whose joints have limits, or limits=MotionLimits(...)")
    chosen = (MotionLimits.of(mechanism) if limits is None else limits).checked(route.n, mechanism)  # type: ignore[arg-type]
    nodes = _nodes(route, whole("intervals", intervals, 1, "1 interval or more"), rests)
    ends = np.empty((*route.batch, 2))
    for side, (name, value) in enumerate((("sd0", sd0), ("sd1", sd1))):
        ends[..., side] = _speed(name, value, route.batch)
    stops = np.isin(nodes, np.asarray(rests, dtype=float)) if len(rests) else np.zeros(nodes.size, dtype=bool)
    lower = {name: value for name, value in chosen.items() if name not in JERK_FIELDS}
    problem = PathProblem(route, mechanism, lower, stops)
    count_of = whole("refinements", refinements, 0, "0 or more")
    if len(lower) == len(chosen):
        retimed, stretch = problem.solved(nodes, ends, count_of)
    else:
        retimed, stretch = problem.smoothed(nodes, ends, chosen), np.ones(route.batch)
    duration = float(np.max(retimed.times[..., -1]))
    times = np.linspace(0.0, duration, count(samples)) if samples is not None else schedule(duration, t, rate)
    q, qd, qdd = closed(*retimed(times))
    is_length = () if mechanism is None else mechanism.is_length
    move = OptimalMotion(
        times, q, qd, qdd, names=route.names, is_length=is_length, evaluate=retimed,
        limits=chosen, mechanism=mechanism, stretch=stretch,
    )  # fmt: skip
    return move if obstacles is None else _clear(move, problem, obstacles)


def _clear(move: OptimalMotion, problem: PathProblem, obstacles: Sequence[Shape]) -> OptimalMotion:
    """The motion with its least clearance; raise where it has none, or may have none between two instants."""
    least = move.clearance(obstacles)
    for flat, place in enumerate(np.ndindex(move.batch)):
        there = least.member(place)
        if there.distance <= 0.0:
            profile = move.profile.member(place)
            s, distance, pair = float(np.interp(there.time, profile.times, profile.pieces.s)), there.distance, there.pair
        elif (contact := contact_along(problem.mechanism, problem.path.member(place), obstacles)) is not None:
            s, distance, pair = contact
        else:
            continue
        where = f"{'where the path begins, ' if s == problem.path.s[0] else ''}{problem.refusals.where(s, flat)}"
        meet = f"overlap by {-distance:.6g} m" if distance <= 0.0 else f"come within {distance:.6g} m, and may touch,"
        raise ArgumentError(f"{pair[0]!r} and {pair[1]!r} {meet} {where}")
    return replace(move, least_clearance=least)


def _nodes(path: JointPath, intervals: int, rests: Sequence[float]) -> FloatArray:
    """Nodes (N + 1,): knots, rests, and what cuts the path evenly between them."""
    stops = numbers("rests", list(rests), "parameters of the path")
    outside = stops[(stops < path.s[0]) | (stops > path.s[-1])]
    if outside.size:
        raise ArgumentError(f"rests holds {outside[0]:g}; the path goes from {path.s[0]:g} to {path.s[-1]:g}")
    return path.divided(intervals, stops)


def _speed(field: str, value: Any, batch: tuple[int, ...]) -> FloatArray | float:
    if type(value) is float and 0.0 <= value < np.inf:
        return value
    speed = numbers(field, value, "a number >= 0, ds/dt, or one for each path")
    if speed.shape not in ((), batch) or speed.min(initial=0.0) < 0.0:
        raise ArgumentError(f"{field} is {shown(value)}; expected a number >= 0, ds/dt, or one for each path")
    return speed


def _check_mechanism(mechanism: Tree, path: JointPath) -> None:
    if mechanism.floating or mechanism.manifold_joints or mechanism.loops:
        raise ArgumentError(
            f"{mechanism.name!r} has a floating base, quaternions or closed loops, which time_optimal does not take"
        )
    if mechanism.n != path.n:
        raise ArgumentError(f"{mechanism.name!r} has {mechanism.n} joints; the path has {path.n}")
