"""Time-optimal motion along a path, by reachability analysis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial import Polynomial

from linkwise.errors import ArgumentError, shown
from linkwise.kernel.reachability import LANES, profiles
from linkwise.model.shape import Shape
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers, whole
from linkwise.trajectory import compiled_path
from linkwise.trajectory.contact import contact_along
from linkwise.trajectory.jerk_along_path import smooth
from linkwise.trajectory.motion_limits import JERK_FIELDS, MotionLimits
from linkwise.trajectory.optimal_motion import OptimalMotion
from linkwise.trajectory.path import JointPath, in_lanes, path_through
from linkwise.trajectory.path_dynamics import PathDynamics, has_friction
from linkwise.trajectory.path_kernels import SHARES, UNLIMITED, joint_limits, kernel, motion_within
from linkwise.trajectory.peaks import DENSE
from linkwise.trajectory.retimed import CHUNK, PathPieces, Pieces, Retimed
from linkwise.trajectory.smoothed import Smoothed
from linkwise.trajectory.validation import closed, count, schedule

#: By this share limits of efforts and of the tool may be exceeded, and how often they are tightened until they are not.
TOLERANCE, ROUNDS = 1e-10, 25

#: Friction, which is linear about the profile before, has converged when the duration changes by less than this share;
#: limits are tightened when it has nearly.
SETTLED, NEARLY = 1e-8, 1e-4

#: How often, until limits can be kept, friction is linear about a motion of half the speed.
HALVINGS = 40

#: Of more joints the dynamics along a path, three recursions as one line of arithmetic, take long to compile.
MOST = 30

#: Two nodes have no speed that are passed slower than this share of the greatest speed of the path.
CRAWL = 1e-6


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
    polynomial of degree four through five points, and by checks at six, at last 17 points of each interval, after which
    limits are tightened where they were exceeded, and the motion is slowed by what is left (`OptimalMotion.stretch`).
    Efforts without friction, with 12 intervals or more between two knots, are checked at 60 points first, and at all others
    where one of these exceeds a limit.
    Between these points nothing is checked; an excess there falls with the square of the interval. With limits of jerk or
    of rates of efforts the result is averaged over a window of time (`linkwise.trajectory.jerk_along_path`): it keeps all
    limits, starts and ends at rest, and is not the shortest.

    Parameters
    ----------
    path : JointPath or (..., K, n) array_like
        Where to go: `path_through`, `tool_path`, or points for `path_through`. Paths of a batch share knots and limits.
    mechanism : Mechanism, optional
        It has the limits, where none are given, and gives efforts and the motion of the tool. Joints must stay in theirs.
    limits : MotionLimits, optional
        What must not be exceeded; those of the mechanism's joints unless given.
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
        In the world. One motion past them, or with ``()`` past the mechanism itself, is refused where capsules about the
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
    problem = _Problem(route, mechanism, {name: value for name, value in chosen.items() if name not in JERK_FIELDS}, stops)
    count_of = whole("refinements", refinements, 0, "0 or more")
    if len(problem.limits) == len(chosen):
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


def _clear(move: OptimalMotion, problem: _Problem, obstacles: Sequence[Shape]) -> OptimalMotion:
    """The motion with its least clearance; raise where it has none, or may have none between two instants."""
    least = move.clearance(obstacles)
    if least.distance <= 0.0:
        profile = move.profile
        s, distance, pair = float(np.interp(least.time, profile.times, profile.pieces.s)), least.distance, least.pair
    elif (contact := contact_along(problem.mechanism, problem.path, obstacles)) is not None:
        s, distance, pair = contact
    else:
        return replace(move, least_clearance=least)
    where = f"{'where the path begins, ' if s == problem.path.s[0] else ''}{problem._where(s, 0)}"
    meet = f"overlap by {-distance:.6g} m" if distance <= 0.0 else f"come within {distance:.6g} m, and may touch,"
    raise ArgumentError(f"{pair[0]!r} and {pair[1]!r} {meet} {where}")


def _nodes(path: JointPath, intervals: int, rests: Sequence[float]) -> FloatArray:
    """Nodes (N + 1,): knots, rests, and what cuts the path evenly between them."""
    stops = numbers("rests", list(rests), "parameters of the path")
    outside = stops[(stops < path.s[0]) | (stops > path.s[-1])]
    if outside.size:
        raise ArgumentError(f"rests holds {outside[0]:g}; the path goes from {path.s[0]:g} to {path.s[-1]:g}")
    return path.divided(intervals, stops)


def _speed(field: str, value: Any, batch: tuple[int, ...]) -> FloatArray:
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


@dataclass(eq=False)
class _Problem:
    path: JointPath
    mechanism: Tree | None
    limits: dict[str, FloatArray]
    stops: npt.NDArray[np.bool_]
    dynamics: dict[str, FloatArray] = field(init=False)
    ceiling: FloatArray | None = None
    _space: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        self.dynamics = {name: value for name, value in self.limits.items() if name not in ("qd_max", "qdd_max")}

    def _where(self, s: float, flat: int) -> str:
        """A parameter of a path, in words."""
        begin, end = self.path.s[0], self.path.s[-1]
        return f"at s = {s:.6g} ({100.0 * (s - begin) / (end - begin):.3g} % of the way){self._member(flat)}"

    def _check_position(self) -> None:
        """Raise where a path leaves the joints' limits; between knots too, for it is a polynomial there."""
        tree = self.mechanism
        if tree is None:
            return
        low, high = tree.memo("trajectory", "limits in lanes", lambda: (in_lanes(tree.q_min), in_lanes(tree.q_max)))
        coefficients = compiled_path.controls_of(self.path)
        if (coefficients <= high).all() and (coefficients >= low).all():  # (a polynomial is between its coefficients)
            return
        inner = coefficients[..., : self.path.n].reshape(-1, *coefficients.shape[-3:-1], self.path.n)
        outside = np.any((inner > tree.q_max) | (inner < tree.q_min), axis=2)
        for path, joint in np.argwhere(outside.any(axis=1)).tolist():
            bounds = float(tree.q_min[joint]), float(tree.q_max[joint])
            parts = [(k, *_departure(inner[path, k, :, joint], *bounds)) for k in np.flatnonzero(outside[path, :, joint])]
            most = max(excess for _, _, excess in parts)
            if most <= 1e-12 * (1.0 + np.abs(inner[path, ..., joint]).max()):
                continue
            k, share = next((k, share) for k, share, excess in parts if excess > 0.0)
            s = float(self.path.s[k] + share * (self.path.s[k + 1] - self.path.s[k]))
            raise ArgumentError(
                f"the path leaves the limits {list(bounds)} of joint {self.path.names[joint]!r} {self._where(s, path)}, and "
                f"by {most:.6g} at most"
            )

    def _check_zero(self, name: str, pieces: Pieces, start: int) -> None:
        slope = np.maximum(np.abs(pieces.first[:, 1]), np.abs(pieces.last[:, 1]))
        moves = (slope > 1e-12 * slope.max()) & (self.limits[name] == 0.0)
        if not moves.any():
            return
        path, k, joint = (int(i) for i in np.argwhere(moves)[0])
        q = np.concatenate((pieces.first[path, 0, :, joint], pieces.last[path, 0, :, joint]))
        raise ArgumentError(
            f"{name} of joint {self.path.names[joint]!r} is 0, and the path moves it by {np.ptp(q):.6g} in all, beginning "
            f"{self._where(float(pieces.s[path, k]), start + path)}"
        )

    def _check_rests(self, nodes: FloatArray, ends: FloatArray) -> None:
        """Raise where an effort is too small to stand where a motion begins, rests or ends."""
        if "tau_max" not in self.limits:
            return
        path, limit = self.path, self.limits["tau_max"]

        def standing(q: FloatArray) -> FloatArray:
            still = np.zeros_like(q)
            return np.abs(self.mechanism.inverse_dynamics(q, still, still))  # type: ignore[union-attr]

        q, rests = path.q[..., [0, -1], :].reshape(-1, 2, path.n), ends == 0.0
        if self.stops.any():
            q = np.concatenate((q, path.at(nodes[self.stops])[0].reshape(len(q), -1, path.n)), axis=1)
            rests = np.concatenate((rests, np.ones((len(q), q.shape[1] - 2), dtype=bool)), axis=1)
        efforts = standing(q)
        short = (efforts > limit * (1.0 + TOLERANCE) + 1e-12 * efforts.max()).any(axis=-1) & rests
        if short.any():
            one = int(np.argmax(short.any(axis=1)))
            efforts = standing(path.at(nodes)[0].reshape(-1, nodes.size, path.n)[one])
            joint = int(np.argmax((efforts - limit).max(axis=0)))
            k = int(np.argmax(efforts[:, joint]))
            raise ArgumentError(self._cannot_stand(joint, self._where(float(nodes[k]), one), float(efforts[k, joint])))

    def _cannot_stand(self, joint: int, where: str, needed: float) -> str:
        limit = self.limits["tau_max"][joint]
        return f"joint {self.path.names[joint]!r} cannot stand {where}: it needs {needed:.6g}, and tau_max is {limit:.6g}"

    def solved(self, nodes: FloatArray, speeds: FloatArray, refinements: int) -> tuple[Retimed, FloatArray]:
        """The motions of all paths, and by what factor each was slowed."""
        ends, batch = np.square(speeds.reshape(-1, 2)), self.path.batch
        self._check_position()
        self._check_rests(nodes, ends)
        if not refinements and (motion := self._compiled(nodes, ends)) is not None:
            return motion, np.ones(batch)
        at, results = self.path.ends(nodes), []
        for k in range(0, len(ends), CHUNK):
            begin, end = at(slice(k, k + CHUNK))
            pieces = Pieces(np.broadcast_to(nodes, (len(begin), nodes.size)), begin, end)
            for name in ("qd_max", "qdd_max"):
                if name in self.limits and not self.limits[name].all():
                    self._check_zero(name, pieces, k)
            results.append(self._chunk(pieces, ends[k : k + CHUNK], refinements, k))
        parts = [(part.pieces.s, part.pieces.first, part.pieces.last, part.x, stretch) for part, stretch in results]
        columns = parts[0] if len(parts) == 1 else [np.concatenate(rows) for rows in zip(*parts, strict=True)]
        s, first, last, x, stretch = (column.reshape((*batch, *column.shape[1:])) for column in columns)
        return Retimed(Pieces(s, first, last), x), stretch

    def smoothed(self, nodes: FloatArray, speeds: FloatArray, limits: dict[str, FloatArray]) -> Retimed:
        """The motions of all paths with limits of the third order as well."""
        for side, speed in enumerate(speeds.reshape(-1, 2).max(axis=0).tolist()):
            if speed:
                raise ArgumentError(f"sd{side} is {speed:g}; with limits of {' or '.join(JERK_FIELDS)} it must be 0")
        averages = np.empty(self.path.batch, dtype=object)
        for place in np.ndindex(self.path.batch):
            one = replace(self, path=self.path.member(place) if place else self.path)
            rest = np.zeros(2)

            def solve(ceiling: FloatArray, one: _Problem = one, rest: FloatArray = rest) -> Retimed:
                one.ceiling = ceiling
                return one.solved(nodes, rest, 0)[0]

            averages[place] = smooth(one.path, self.mechanism, limits, self.stops, solve)
        pieces = PathPieces(self.path, nodes)
        rows = [np.square(average(average.passing(nodes))[1]) for average in averages.reshape(-1)]
        x = np.reshape(rows, (*self.path.batch, nodes.size))
        return Smoothed(pieces, x, path=self.path, averages=averages)

    def _plain_dynamics(self) -> bool:
        """Whether all limits are of joints, and efforts are linear in u and x."""
        if not self.dynamics:
            return True
        tree = self.mechanism
        assert tree is not None
        if set(self.dynamics) != {"tau_max"} or tree.springs or tree.nv > MOST or not self.limits["tau_max"].all():
            return False
        return not has_friction(tree)

    def _compiled(self, nodes: FloatArray, ends: FloatArray) -> Retimed | None:
        """The motions of all paths by one call; None where that cannot be, or something is wrong, which the others name."""
        zero = any(not self.limits[name].all() for name in ("qd_max", "qdd_max") if name in self.limits)
        if zero or np.any(self.stops[:-1] & self.stops[1:]) or not self._plain_dynamics():
            return None
        most = np.where(self.stops, 0.0, UNLIMITED if self.ceiling is None else np.minimum(self.ceiling, UNLIMITED))
        result = compiled_path.speeds(self.path, nodes, most, ends, self.limits, self.mechanism)
        if result is None:
            return None
        low, high, *caps, slowest, fastest = result.edges.T
        first, last = ends.T
        kept = (first >= low) & (first <= np.minimum(high, caps[0])) & (last <= caps[1])  # (not where one is no number)
        if not (kept & (np.square(fastest) <= 1e-2 * UNLIMITED) & (slowest > CRAWL * fastest)).all():
            return None
        shape = (*self.path.batch, nodes.size)
        return Retimed.timed(PathPieces(self.path, nodes), result.x.reshape(shape), result.times.reshape(shape))

    def _chunk(self, pieces: Pieces, ends: FloatArray, refinements: int, start: int) -> tuple[Retimed, FloatArray]:
        fixed = np.isin(pieces.s[0], self.path.s) | self.stops
        for _ in range(refinements):
            retimed, _ = self._solve(pieces, ends, start)
            pieces = refined(retimed, fixed)
        return self._solve(pieces, ends, start)

    def _solve(self, pieces: Pieces, ends: FloatArray, start: int) -> tuple[Retimed, FloatArray]:
        lines, cap, names = self._joint_lines(pieces)
        dynamics = PathDynamics(pieces, self.mechanism, self.dynamics) if self.dynamics else None
        if dynamics is None:
            retimed = self._profile(pieces, lines, cap, ends, names, start)
            return retimed, np.ones(len(ends))
        motion: Retimed | None = None
        halvings = HALVINGS if dynamics.has_friction else 0
        for _ in range(ROUNDS + halvings):
            blocks, tool, before = np.concatenate((lines, dynamics.lines(motion)), axis=-3), dynamics.cap(), motion
            here = cap if tool is None else _least(cap, tool)
            try:
                motion = self._profile(pieces, blocks, here, ends, names + dynamics.names, start, dynamics)
            except ArgumentError:
                if motion is None or not halvings:
                    raise
                # The tangent of friction about a fast motion lies far above friction at rest, about a slow one it does not.
                motion, halvings = motion.stretched(np.full(len(ends), 2.0)), halvings - 1
                continue
            used = dynamics.used(motion)
            excess = _excess(used)
            change = 1.0 if before is None else float(np.max(np.abs(motion.times[:, -1] / before.times[:, -1] - 1.0)))
            if not dynamics.has_friction:
                change = 0.0
            if excess <= TOLERANCE and change <= SETTLED:
                used = dynamics.used(motion, DENSE)
                excess = _excess(used)
                if excess <= TOLERANCE:
                    return motion, np.ones(len(ends))
            if change <= NEARLY:
                dynamics.tighten(motion, used)
        assert motion is not None
        return self._slowed(motion, dynamics, start)

    def _slowed(self, motion: Retimed, dynamics: PathDynamics, start: int) -> tuple[Retimed, FloatArray]:
        """The motion so slow that no limit is exceeded, and the factors of its time."""
        factor = np.ones(len(motion.x))
        for _ in range(200):
            slower = motion.stretched(factor)
            worst = [value.reshape(len(factor), -1).max(axis=1) for value in dynamics.used(slower, DENSE).values()]
            excess = np.max(worst, axis=0) - 1.0
            if np.all(excess <= TOLERANCE):
                return slower, factor
            factor = factor * np.where(excess > TOLERANCE, 1.0 + np.maximum(excess, TOLERANCE), 1.0)
        k = int(np.argmax(excess))
        raise ArgumentError(
            f"an effort{self._member(start + k)} exceeds its limit by {100 * excess[k]:.3g} % however slow the motion is"
        )

    def _joint_lines(self, pieces: Pieces) -> tuple[FloatArray, FloatArray, list[str]]:
        """Blocks for accelerations (B, N, n, 3, 8), greatest x at the nodes (B, N + 1), and names of the blocks."""
        shape = (*pieces.batch, pieces.steps.shape[-1], self.path.n)
        if self._space is None or self._space[0].shape[:-2] != shape:
            self._space = np.empty((*shape, 3, LANES)), np.empty((*shape, 2))
        rates = [self.limits.get(name, np.full(self.path.n, np.inf)) for name in ("qd_max", "qdd_max")]
        rates = np.minimum(np.stack([np.where(rate == 0.0, np.inf, rate) for rate in rates], axis=-1), UNLIMITED)
        with np.errstate(all="ignore"):  # (what has no limit may overflow)
            lines, caps = kernel(joint_limits)(*pieces.ends, pieces.steps[..., None], rates, out=self._space)
        cap = np.full((*pieces.batch, self.stops.size), np.inf)
        if self.ceiling is not None:
            cap[:] = self.ceiling
        cap = _least(cap, reduce(np.minimum, np.moveaxis(caps, -2, 0)))
        cap[:, self.stops] = 0.0
        names = [f"acceleration of {name}" for name in self.path.names]
        if "qdd_max" not in self.limits:
            return lines[..., :0, :, :], cap, []
        return lines, cap, names

    def _profile(
        self, pieces: Pieces, lines: FloatArray, cap: FloatArray, ends: FloatArray, names: list[str], start: int,
        dynamics: PathDynamics | None = None,
    ) -> Retimed:  # fmt: skip
        rate = 0.5 / pieces.steps
        allowed = cap[:, [0, -1]]
        if np.any(ends > allowed * (1.0 + 1e-12)):
            path, side = (int(k) for k in np.argwhere(ends > allowed)[0])
            raise ArgumentError(
                f"sd{side} is {np.sqrt(ends[path, side]):.6g}{self._member(start + path)}; limits of velocity allow at most "
                f"{np.sqrt(allowed[path, side]):.6g} there"
            )
        if np.any(cap[:, :-1] + cap[:, 1:] == 0.0):
            k = int(np.argwhere(cap[:, :-1] + cap[:, 1:] == 0.0)[0][1])
            raise ArgumentError(
                f"rests are next to each other {self._where(float(pieces.s[0, k]), start)}: more intervals are needed"
            )
        with np.errstate(all="ignore"):
            sets = profiles(lines, np.minimum(cap, UNLIMITED), rate, ends)
        if np.any(np.isnan(sets[:, 0, 1])):
            self._infeasible(pieces, lines, sets, names, start, dynamics)
        low, high = sets[:, 0, 0], sets[:, 0, 1]
        outside = (ends[:, 0] > high * (1.0 + 1e-12)) | (ends[:, 0] < low * (1.0 - 1e-12))
        if outside.any():
            path = int(np.argmax(outside))
            self._check_standing(pieces, dynamics, path, 0, start)
            raise ArgumentError(
                f"sd0 is {np.sqrt(ends[path, 0]):.6g}{self._member(start + path)}; from there on the limits can be kept "
                f"from {np.sqrt(low[path]):.6g} to {np.sqrt(high[path]):.6g}{self._slowly(pieces, dynamics, path, start)}"
            )
        x = sets[..., 2]
        if np.any(x > 1e-2 * UNLIMITED):
            raise ArgumentError(f"nothing limits the speed {self._where(float(pieces.s[0, int(np.argmax(x[0]))]), start)}")
        if (stuck := _stuck(x)).any():
            path, k = (int(i) for i in np.argwhere(stuck)[0])
            raise ArgumentError(
                f"the limits leave no speed {self._where(float(pieces.s[path, k]), start + path)} nor at the node after it: "
                f"more intervals are needed{self._slowly(pieces, dynamics, path, start)}"
            )
        return Retimed(pieces, x)

    def _check_standing(self, pieces: Pieces, dynamics: PathDynamics | None, path: int, k: int, start: int) -> None:
        """Raise where an effort is too small to stand in interval k of a path: which, where most, and how much it needs."""
        if dynamics is None or "tau_max" not in self.limits:
            return
        limit, standing = self.limits["tau_max"], np.abs(dynamics.standing[path])
        if np.all(standing[k] <= limit + 1e-12 * standing.max()):
            return
        joint, where = self._neediest(pieces, standing, path, start)
        raise ArgumentError(self._cannot_stand(joint, where, float(standing[..., joint].max())))

    def _neediest(self, pieces: Pieces, efforts: FloatArray, path: int, start: int) -> tuple[int, str]:
        """The joint whose effort (N, 5, n) exceeds its limit by most on a path, and where its effort is greatest."""
        joint = int(np.argmax((efforts - self.limits["tau_max"]).max(axis=(0, 1))))
        k, share = np.unravel_index(np.argmax(efforts[..., joint]), efforts.shape[:2])
        return joint, self._where(float(pieces.s[path, k] + SHARES[share] * pieces.steps[path, k]), start + path)

    def _slowly(self, pieces: Pieces, dynamics: PathDynamics | None, path: int, start: int) -> str:
        """What is added where gravity and friction at rest need more than there is somewhere on a path."""
        if dynamics is None or not dynamics.has_friction:
            return ""
        limit, efforts = self.limits["tau_max"], dynamics.slow_efforts()[path]
        if np.all(efforts <= limit):
            return ""
        joint, where = self._neediest(pieces, efforts, path, start)
        name, most = self.path.names[joint], efforts[..., joint].max()
        return f"; gravity and friction alone need {most:.6g} of joint {name!r} {where}, and tau_max is {limit[joint]:.6g}"

    def _member(self, flat: int) -> str:
        place = np.unravel_index(flat, self.path.batch) if self.path.batch else ()
        return f" of path {tuple(int(k) for k in place)}" if len(place) else ""

    def _infeasible(
        self, pieces: Pieces, lines: FloatArray, sets: FloatArray, names: list[str], start: int,
        dynamics: PathDynamics | None,
    ) -> None:  # fmt: skip
        """Raise, saying where no speed keeps the limits, and which two cannot be kept together."""
        path = int(np.argmax(np.isnan(sets[:, 0, 1])))
        k = int(np.flatnonzero(np.isnan(sets[path, :, 1]))[-1])
        where = self._where(float(pieces.s[path, k]), start + path)
        self._check_standing(pieces, dynamics, path, k, start)
        low, high = lines[path, k, :, 1, :].max(axis=-1), lines[path, k, :, 2, :].min(axis=-1)
        least, most = int(np.argmax(low)), int(np.argmin(high))
        raise ArgumentError(
            f"no speed keeps the limits {where}: {names[least]} wants d2s/dt2 of {low[least]:.6g} or more, "
            f"{names[most]} of {high[most]:.6g} or less{self._slowly(pieces, dynamics, path, start)}"
        )


def _departure(coefficients: FloatArray, low: float, high: float) -> tuple[float, float]:
    """At which share a polynomial on an interval first leaves its limits, 1 if it does not, and by how much at most."""
    z, left = Polynomial([0.0, 1.0]), Polynomial([1.0, -1.0])
    curve: Any = sum(c * comb(5, k) * z**k * left ** (5 - k) for k, c in enumerate(coefficients.tolist()))
    turns = _inner_roots(curve.deriv())
    values = curve(np.concatenate(([0.0], turns, [1.0])))
    excess = float(np.maximum(values - high, low - values).max())
    crossings = np.concatenate([_inner_roots(curve - bound) for bound in (low, high) if np.isfinite(bound)])
    begins_outside = not low <= coefficients[0] <= high
    return 0.0 if begins_outside else float(crossings.min(initial=1.0)), excess


def _inner_roots(curve: Any) -> FloatArray:
    """The real zeros of a polynomial between 0 and 1."""
    roots = np.atleast_1d(curve.trim(1e-14).roots())
    real = roots.real[np.abs(roots.imag) < 1e-7]
    return np.asarray(real[(real >= 0.0) & (real <= 1.0)])


def _excess(used: dict[str, FloatArray]) -> float:
    """By what share a limit is exceeded at most; NaN where an effort is no number."""
    return float(np.max([np.max(value) for value in used.values()])) - 1.0


def _stuck(x: FloatArray) -> npt.NDArray[np.bool_]:
    """In which intervals (..., N) there is no speed at either end, beside the greatest of the path."""
    speed = np.sqrt(np.maximum(x, 0.0))
    return np.asarray(speed[..., :-1] + speed[..., 1:] <= CRAWL * speed.max(axis=-1, keepdims=True))


def _least(cap: FloatArray, caps: FloatArray) -> FloatArray:
    """Greatest x at nodes (B, N + 1), and no more than that at the ends of intervals (B, N, 2)."""
    result = cap.copy()
    np.minimum(result[:, :-1], caps[..., 0], out=result[:, :-1])
    np.minimum(result[:, 1:], caps[..., 1], out=result[:, 1:])
    return result


def refined(retimed: Retimed, fixed: npt.NDArray[np.bool_]) -> Pieces:
    """The pieces with nodes moved to where u jumps within an interval.

    There u before and after it, continued, give lines x(s) that meet; the nearer node that is not fixed is moved to where.
    """
    pieces, u, x = retimed.pieces, retimed.u, retimed.x
    step, s = pieces.steps, pieces.s
    before, after = u[:, :-2], u[:, 2:]
    gap = x[:, 2:-1] - x[:, 1:-2] - 2.0 * after * step[:, 1:-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.nan_to_num(gap / (2.0 * (before - after) * step[:, 1:-1]), nan=-1.0, posinf=-1.0, neginf=-1.0)
    rough = np.abs(after - before)
    smooth = np.zeros_like(rough)
    smooth[:, 1:] += np.abs(before[:, 1:] - before[:, :-1])
    smooth[:, :-1] += np.abs(after[:, 1:] - after[:, :-1])
    jumps = (rough > 3.0 * smooth + 1e-9 * np.abs(u).max(axis=1, keepdims=True)) & (share > 1e-9) & (share < 1.0 - 1e-9)
    moved = s.copy()
    for path, k in np.argwhere(jumps):
        at = k + 1
        node = at if (share[path, k] < 0.5 and not fixed[at]) or fixed[at + 1] else at + 1
        if not fixed[node] and moved[path, node] == s[path, node]:
            moved[path, node] = s[path, at] + share[path, k] * step[path, at]
    return _moved(pieces, moved)


def _moved(pieces: Pieces, s: FloatArray) -> Pieces:
    """The same paths with inner nodes elsewhere, each within one of its two intervals."""
    inner, old = s[:, 1:-1], pieces.s[:, 1:-1]
    interval = np.arange(inner.shape[1]) + (inner >= old)
    rows = np.arange(len(s))[:, None]
    step = pieces.steps[rows, interval][..., None]
    share = np.clip((inner - pieces.s[rows, interval])[..., None] / step, 0.0, 1.0)
    fresh = np.stack(kernel(motion_within)(*(part[rows, interval] for part in pieces.ends), step, share, 0.0, 1.0), axis=1)
    stays = (inner == old)[:, None, :, None]
    first, last = pieces.first.copy(), pieces.last.copy()
    first[..., 1:, :] = np.where(stays, first[..., 1:, :], fresh)
    last[..., :-1, :] = np.where(stays, last[..., :-1, :], fresh)
    return Pieces(s, first, last)
