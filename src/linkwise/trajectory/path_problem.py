"""The fastest motions along paths for limits of the first and second order, and of the third by smoothing."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import reduce

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kernel.reachability import LANES, profiles
from linkwise.model.spring import Spring
from linkwise.model.symbolic import any_nonzero
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import compiled_path
from linkwise.trajectory.motion_limits import JERK_FIELDS
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.path_dynamics import MOST, PathDynamics, has_drag
from linkwise.trajectory.path_kernels import UNLIMITED, joint_limits, kernel
from linkwise.trajectory.path_refusals import PathRefusals
from linkwise.trajectory.peaks import DENSE
from linkwise.trajectory.retimed import CHUNK, PathPieces, Pieces, Retimed, refined
from linkwise.trajectory.smoothed import Smoothed, smooth

#: Relative tolerance of effort and tool limits, and greatest number of tightenings.
TOLERANCE, ROUNDS = 1e-10, 25

#: Friction, which is linear about the profile before, has converged when the duration changes by less than this share;
#: limits are tightened when it has nearly.
SETTLED, NEARLY = 1e-8, 1e-4

#: Greatest number of halvings of the velocity at which friction is linearized until limits can be kept.
HALVINGS = 40

#: Two nodes passed slower than this share of the greatest velocity of the path count as without velocity.
CRAWL = 1e-6


@dataclass(eq=False)
class PathProblem:
    """Paths over common knots, the mechanism, and the limits of first and second order.

    Attributes
    ----------
    path : JointPath
        B paths, or one.
    mechanism : Mechanism or None
        It moves along them.
    limits : mapping of str to ndarray
        Those that there are.
    stops : ndarray (N + 1,) of bool
        Nodes at which the motion rests.
    dynamics : mapping of str to ndarray
        Of the limits those of efforts, tool and momenta.
    refusals : PathRefusals
        What raises where there is no motion.
    ceiling : ndarray (N + 1,), optional
        Greatest x at the nodes besides.
    """

    path: JointPath
    mechanism: Tree | None
    limits: dict[str, FloatArray]
    stops: npt.NDArray[np.bool_]
    dynamics: dict[str, FloatArray] = field(init=False)
    refusals: PathRefusals = field(init=False)
    ceiling: FloatArray | None = None
    _space: tuple[FloatArray, FloatArray] | None = None

    def __post_init__(self) -> None:
        self.dynamics = {name: value for name, value in self.limits.items() if name not in ("qd_max", "qdd_max")}
        self.refusals = PathRefusals(self.path, self.mechanism, self.limits)

    def solved(self, nodes: FloatArray, speeds: FloatArray, refinements: int) -> tuple[Retimed, FloatArray]:
        """Motions of all paths, and the factor by which each was slowed."""
        ends, batch = np.square(speeds.reshape(-1, 2)), self.path.batch
        self.refusals.check_position()
        if self.stops.any():
            self.refusals.check_rests(nodes, self.stops, ends)
        if not refinements and (motion := self._compiled(nodes, ends)) is not None:
            return motion, np.ones(batch)
        self.refusals.check_rests(nodes, self.stops, ends)
        at, results = self.path.ends(nodes), []
        size = 1 if self.dynamics else CHUNK  # (the number of tightenings differs from path to path)
        for k in range(0, len(ends), size):
            begin, end = at(slice(k, k + size))
            pieces = Pieces(np.broadcast_to(nodes, (len(begin), nodes.size)), begin, end)
            for name in ("qd_max", "qdd_max"):
                if name in self.limits and not self.limits[name].all():
                    self.refusals.check_zero(name, pieces, k)
            results.append(self._chunk(pieces, ends[k : k + size], refinements, k))
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
            member = replace(self, path=self.path.member(place) if place else self.path)
            still = np.zeros(2)

            def solve(ceiling: FloatArray, member: PathProblem = member, still: FloatArray = still) -> Retimed:
                member.ceiling = ceiling
                return member.solved(nodes, still, 0)[0]

            averages[place] = smooth(member.path, self.mechanism, limits, self.stops, solve)
        pieces = PathPieces(self.path, nodes)
        rows = [np.square(average(average.passing(nodes))[1]) for average in averages.reshape(-1)]
        x = np.reshape(rows, (*self.path.batch, nodes.size))
        return Smoothed(pieces, x, path=self.path, averages=averages)

    def _plain_dynamics(self) -> bool:
        """True if all limits are of joints, and efforts are smooth along the path apart from friction."""
        if not self.dynamics:
            return True
        tree = self.mechanism
        assert tree is not None
        if set(self.dynamics) != {"tau_max"} or tree.nv > MOST or not self.limits["tau_max"].all():
            return False
        elastic = all(
            isinstance(spring, Spring) and not any_nonzero(spring.slack) and not any(spring.nonlinear_stiffness)
            for spring in tree.springs
        )
        return elastic and not tree.has_length_inertias

    def _compiled(self, nodes: FloatArray, ends: FloatArray) -> Retimed | None:
        """The motions of all paths by one call; None where that cannot be, or something is wrong, which the others name."""
        zero = any(not self.limits[name].all() for name in ("qd_max", "qdd_max") if name in self.limits)
        if zero or np.any(self.stops[:-1] & self.stops[1:]) or not self._plain_dynamics():
            return None
        most = np.where(self.stops, 0.0, UNLIMITED if self.ceiling is None else np.minimum(self.ceiling, UNLIMITED))
        drag = "tau_max" in self.limits and has_drag(self.mechanism)
        result = compiled_path.speeds(self.path, nodes, most, ends, self.limits, self.mechanism, drag=drag)
        if result is None:
            return None
        low, high, *caps, slowest, fastest = result.edges.T
        first, last = ends.T
        kept = (first >= low) & (first <= np.minimum(high, caps[0])) & (last <= caps[1])  # (not where one is not a number)
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
        halvings = HALVINGS if dynamics.has_drag else 0
        for _ in range(ROUNDS + halvings):
            blocks, tool, before = np.concatenate((lines, dynamics.lines(motion)), axis=-3), dynamics.cap(), motion
            here = cap if tool is None else _least(cap, tool)
            try:
                motion = self._profile(pieces, blocks, here, ends, names + dynamics.names, start, dynamics)
            except ArgumentError:
                if motion is None or not halvings:
                    raise
                # The tangent of friction about a fast motion is far above friction at rest; about a slow one it is not.
                motion, halvings = motion.stretched(np.full(len(ends), 2.0)), halvings - 1
                continue
            used = dynamics.used(motion)
            excess = _excess(used)
            change = 1.0 if before is None else float(np.max(np.abs(motion.times[:, -1] / before.times[:, -1] - 1.0)))
            if not dynamics.has_drag:
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
        which = self.refusals.member(start + k)
        raise ArgumentError(f"an effort{which} exceeds its limit by {100 * excess[k]:.3g} % however slow the motion is")

    def _joint_lines(self, pieces: Pieces) -> tuple[FloatArray, FloatArray, list[str]]:
        """Blocks for accelerations (B, N, n, 3, 8), greatest x at the nodes (B, N + 1), and names of the blocks."""
        shape = (*pieces.batch, pieces.steps.shape[-1], self.path.n)
        if self._space is None or self._space[0].shape[:-2] != shape:
            self._space = np.empty((*shape, 3, LANES)), np.empty((*shape, 2))
        rates = [self.limits.get(name, np.full(self.path.n, np.inf)) for name in ("qd_max", "qdd_max")]
        rates = np.minimum(np.stack([np.where(rate == 0.0, np.inf, rate) for rate in rates], axis=-1), UNLIMITED)
        with np.errstate(all="ignore"):  # (values without a limit may overflow)
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
        rate, refusals = 0.5 / pieces.steps, self.refusals
        allowed = cap[:, [0, -1]]
        if np.any(ends > allowed * (1.0 + 1e-12)):
            path, side = (int(k) for k in np.argwhere(ends > allowed)[0])
            raise ArgumentError(
                f"sd{side} is {np.sqrt(ends[path, side]):.6g}{refusals.member(start + path)}; limits of velocity allow at "
                f"most {np.sqrt(allowed[path, side]):.6g} there"
            )
        if np.any(cap[:, :-1] + cap[:, 1:] == 0.0):
            k = int(np.argwhere(cap[:, :-1] + cap[:, 1:] == 0.0)[0][1])
            raise ArgumentError(
                f"rests are next to each other {refusals.where(float(pieces.s[0, k]), start)}: more intervals are needed"
            )
        with np.errstate(all="ignore"):
            sets = profiles(lines, np.minimum(cap, UNLIMITED), rate, ends)
        if np.any(np.isnan(sets[:, 0, 1])):
            refusals.infeasible(pieces, lines, sets, names, start, dynamics)
        low, high = sets[:, 0, 0], sets[:, 0, 1]
        outside = (ends[:, 0] > high * (1.0 + 1e-12)) | (ends[:, 0] < low * (1.0 - 1e-12))
        if outside.any():
            path = int(np.argmax(outside))
            refusals.check_standing(pieces, dynamics, path, 0, start)
            raise ArgumentError(
                f"sd0 is {np.sqrt(ends[path, 0]):.6g}{refusals.member(start + path)}; from there on the limits can be kept "
                f"from {np.sqrt(low[path]):.6g} to {np.sqrt(high[path]):.6g}{refusals.slowly(pieces, dynamics, path, start)}"
            )
        x = sets[..., 2]
        if np.any(x > 1e-2 * UNLIMITED):
            raise ArgumentError(
                f"nothing limits the speed {refusals.where(float(pieces.s[0, int(np.argmax(x[0]))]), start)}"
            )
        if (stuck := _stuck(x)).any():
            path, k = (int(i) for i in np.argwhere(stuck)[0])
            where = refusals.where(float(pieces.s[path, k]), start + path)
            raise ArgumentError(
                f"the limits leave no speed {where} nor at the node after it: more intervals are "
                f"needed{refusals.slowly(pieces, dynamics, path, start)}"
            )
        return Retimed(pieces, x)


def _excess(used: dict[str, FloatArray]) -> float:
    """Greatest relative violation of a limit; NaN if an effort is not a number."""
    return float(np.max([np.max(value) for value in used.values()])) - 1.0


def _stuck(x: FloatArray) -> npt.NDArray[np.bool_]:
    """Mask of intervals (..., N) with vanishing velocity at both ends, relative to the greatest of the path."""
    speed = np.sqrt(np.maximum(x, 0.0))
    return np.asarray(speed[..., :-1] + speed[..., 1:] <= CRAWL * speed.max(axis=-1, keepdims=True))


def _least(cap: FloatArray, caps: FloatArray) -> FloatArray:
    """Greatest x at nodes (B, N + 1), and no more than that at the ends of intervals (B, N, 2)."""
    result = cap.copy()
    np.minimum(result[:, :-1], caps[..., 0], out=result[:, :-1])
    np.minimum(result[:, 1:], caps[..., 1], out=result[:, 1:])
    return result
