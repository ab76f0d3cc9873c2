"""Time-optimal motion along a path, by reachability analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import levers
from linkwise.errors import ArgumentError, shown
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree, require_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import listed, numbers, whole
from linkwise.trajectory.least_clearance import LeastClearance
from linkwise.trajectory.motion_limits import JERK_FIELDS, MotionLimits
from linkwise.trajectory.path import JointPath, path_through
from linkwise.trajectory.path_dynamics import CHECKED, PathDynamics, along, share_of
from linkwise.trajectory.path_kernels import controls
from linkwise.trajectory.path_problem import PathProblem
from linkwise.trajectory.retimed import Retimed
from linkwise.trajectory.smoothed import Smoothed
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.validation import closed, count, schedule

#: Names of joint limits.
JOINT_WORDS = {
    "qd_max": "velocity",
    "qdd_max": "acceleration",
    "tau_max": "effort",
    "qddd_max": "jerk",
    "taud_max": "rate of effort",
}
OTHER_WORDS = {
    "tool_speed": "speed of the tool",
    "tool_acceleration": "acceleration of the tool",
    "linear_momentum": "momentum",
    "angular_momentum": "angular momentum",
}

#: Among limits whose shares differ by less than this, the previously active one stays active.
EQUAL = 1e-4


class Binding(NamedTuple):
    """A limit that binds in a part of a motion.

    Attributes
    ----------
    name : str
        Name of the limit: ``"effort of shoulder"``.
    begin, end : float
        When, s.
    s0, s1 : float
        Where along the path.
    share : float
        The least of the shares of it that are taken in the intervals of that part.

    Examples
    --------
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> move = time_optimal([[0.0], [2.0]], limits=MotionLimits(qd_max=1.0, qdd_max=2.0), refinements=1)
    >>> limit = move.binding[1]
    >>> limit.name, round(limit.begin, 1), round(limit.end, 1), round(limit.share, 6)
    ('velocity of q1', 0.5, 2.0, 1.0)
    """

    name: str
    begin: float
    end: float
    s0: float
    s1: float
    share: float


@dataclass(frozen=True, eq=False, repr=False)
class OptimalMotion(Trajectory):
    """A `Trajectory` along a path as fast as limits allow: see `time_optimal`.

    Attributes
    ----------
    limits : mapping of str to ndarray
        What it keeps.
    mechanism : Mechanism, optional
        The mechanism.
    stretch : ndarray (...)
        By what factors it was slowed in the end so that no limit is exceeded between nodes, its speeds at start and end with
        it; 1 with limits of velocity and acceleration alone.
    least_clearance : LeastClearance, optional
        Where `time_optimal` was given obstacles.

    Examples
    --------
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> move = time_optimal([[0.0, 0.0], [2.0, 1.0]], limits=MotionLimits(qd_max=1.0, qdd_max=2.0))
    >>> move.limit_names[:2], float(move.stretch), bool(move.usage.max() <= 1.0 + 1e-9)
    (('velocity of q1', 'velocity of q2'), 1.0, True)
    """

    limits: Mapping[str, FloatArray] = field(default_factory=dict)
    mechanism: Any = None
    stretch: FloatArray | float = 1.0
    least_clearance: LeastClearance | None = None

    @property
    def profile(self) -> Retimed:
        """The motion along the path: nodes ``pieces.s``, squared velocities ``x``, ``times`` of the nodes."""
        if not isinstance(self.evaluate, Retimed):
            raise ArgumentError("this motion has lost its path; time_optimal returns one that has it")
        return self.evaluate

    @property
    def durations(self) -> FloatArray:
        """Duration of each motion of a batch (...), s; `duration` is that of the longest."""
        return np.asarray(self.profile.times[..., -1])

    def member(self, index: int | tuple[int, ...]) -> Self:
        """Return one motion, or a smaller batch, of a batch; its instants are those of the longest of the whole."""
        part = super().member(index)
        least = None if self.least_clearance is None else self.least_clearance.member(index)
        return replace(part, stretch=np.broadcast_to(self.stretch, self.batch)[index], least_clearance=least)

    @cached_property
    def limit_names(self) -> tuple[str, ...]:
        """The limits, in the order of the columns of `usage`."""
        names: list[str] = []
        for key in self.limits:
            names += [f"{JOINT_WORDS[key]} of {name}" for name in self.names] if key in JOINT_WORDS else [OTHER_WORDS[key]]
        return tuple(names)

    @cached_property
    def usage(self) -> FloatArray:
        """Greatest share (..., N, L) of each of L limits used in each of N intervals of the path."""
        profile = self.profile
        if isinstance(profile, Smoothed):
            return profile.usage(self.limits, self.mechanism)
        _, qd, qdd = profile.pieces.motion(*along(profile, CHECKED))
        rates = {"qd_max": qd, "qdd_max": qdd}
        others = {key: value for key, value in self.limits.items() if key not in rates}
        dynamic = PathDynamics(profile.pieces, self.mechanism, others).used(profile) if others else {}
        columns = []
        for key, limit in self.limits.items():
            share = share_of(rates[key], limit).max(axis=-2) if key in rates else dynamic[key]
            columns.append(share if key in JOINT_WORDS else share[..., None])
        return np.concatenate(columns, axis=-1)

    @property
    def binding(self) -> list[Binding]:
        """Most used limit by interval, in order of time; consecutive intervals with the same one are merged.

        Raises
        ------
        ArgumentError
            For a batch: take one `member`.
        """
        if self.batch:
            raise ArgumentError(f"binding is of one motion, not of a batch of shape {self.batch}; take a member(...)")
        usage, profile = self.usage, self.profile
        greatest = np.argmax(usage, axis=-1)
        for k in range(1, greatest.size):
            if usage[k, greatest[k - 1]] >= usage[k, greatest[k]] - EQUAL:
                greatest[k] = greatest[k - 1]
        starts = np.flatnonzero(np.diff(greatest, prepend=-1))
        parts = []
        for begin, end in zip(starts, [*starts[1:], greatest.size], strict=True):
            which, t, s = int(greatest[begin]), profile.times, profile.pieces.s
            share = float(usage[begin:end, which].min())
            ends = float(t[begin]), float(t[end]), float(s[begin]), float(s[end])
            parts.append(Binding(self.limit_names[which], *ends, share))
        return parts

    def plot_binding(self, title: str = "") -> Any:
        """Draw the velocity along the path and the used share of each limit against time.

        Returns
        -------
        matplotlib.figure.Figure

        Raises
        ------
        ArgumentError
            For a batch.
        MissingExtraError
            Where matplotlib is not installed.
        """
        from linkwise.plot.limits import draw_binding

        return draw_binding(self, title)


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
    (`linkwise.trajectory.smoothed`): it keeps all limits, starts and ends at rest, and is not the shortest.

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
    pauses = numbers("rests", listed("rests", rests, "parameters of the path"), "parameters of the path")
    nodes = _nodes(route, whole("intervals", intervals, 1, "1 interval or more"), pauses)
    ends = np.empty((*route.batch, 2))
    for side, (name, value) in enumerate((("sd0", sd0), ("sd1", sd1))):
        ends[..., side] = _speed(name, value, route.batch)
    stops = np.isin(nodes, pauses)
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


def _nodes(path: JointPath, intervals: int, stops: FloatArray) -> FloatArray:
    """Nodes (N + 1,): knots, rests, and uniform divisions of the path between them."""
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


#: Initial and greatest number of intervals of a path, and greatest number of halvings of those not proven clear.
INTERVALS, MOST, HALVINGS = 200, 100_000, 30


def contact_along(mechanism: Any, path: JointPath, obstacles: Any) -> tuple[float, float, tuple[str, str]] | None:
    """First collision of one path with an obstacle, or of the mechanism with itself: parameter, distance and the two shapes.

    None where capsules about the shapes touch nowhere along it, between the places at which they are measured too: in an
    interval a joint moves no more than the control points of its polynomial, from one to the next, and no distance changes
    by more than the levers of the joints times that (`linkwise.clearance.reach`). The distance is above zero where contact
    can neither be found nor excluded.

    Raises
    ------
    ArgumentError
        Where the mechanism has joints that have no levers: sliding ones without limits.
    """
    lever, s = levers(collision_shapes(mechanism)), path.divided(INTERVALS, np.empty(0))
    where, distance, open_ = s, np.empty(0), np.zeros(0, dtype=np.intp)
    halvings = 0
    while True:
        result = mechanism.clearance(path.at(where)[0], obstacles)
        least = np.asarray(result.least)
        worst = int(np.argmin(least))
        if least[worst] <= 0.0 or s.size > MOST or halvings == HALVINGS:
            return float(where[worst]), float(least[worst]), (str(result.nearest[worst][0]), str(result.nearest[worst][1]))
        distance = np.insert(distance, open_ + 1, least) if distance.size else least
        s = np.insert(s, open_ + 1, where) if open_.size else s
        (q0, v0, a0), (q1, v1, a1) = (side[0] for side in path.ends(s)(slice(None)))
        points = np.stack(controls(q0, v0, a0, q1, v1, a1, np.diff(s)[:, None]))
        travel = np.abs(np.diff(points, axis=0)).sum(axis=0) @ lever
        open_ = np.flatnonzero(distance[:-1] + distance[1:] <= travel)
        if not open_.size:
            return None
        where = 0.5 * (s[open_] + s[open_ + 1])
        halvings += 1
