"""Branches of solutions along a path of poses, and the route through them with the least joint travel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.arrays import GraphOutput, by_library, in_graphs, no_graph, plain, refuse
from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics.branches.self_motion import SelfMotion
from linkwise.inverse_kinematics.by_library import path_by
from linkwise.inverse_kinematics.closed_form import Solutions
from linkwise.inverse_kinematics.inverse_kinematics import all_inverse_kinematics
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.joint_limits import JointRanges, shorter_way
from linkwise.solve.lengths import characteristic_length
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag, numbers, rigid_poses, vectors, whole

#: Joints that move farther between two samples, rad or m, leap.
LEAP = 1.0

#: Two solutions are on one branch if the motion between them follows the path to this share of the joint motion (rad,
#: relative to the arm's size).
STRAIGHT = 0.1

#: A continuous path is refined where no branch continues, until samples are this share of the first distance apart.
FINEST = 1.0 / 64.0

#: A Jacobian with a singular value below this is one of a singular position.
SINGULAR = 1e-6

#: Cost of a leap relative to joint travel: the number of leaps is minimized first.
LEAP_COST = 1e6

#: Reasons why no branch continues.
REASONS = {
    "unreachable": "no solution reaches the pose, with or without joint limits",
    "limits": "all solutions are outside the joint limits, or nearer to them than the margin",
    "singularity": "all solutions within the limits are nearer to a singular position than the margin",
    "apart": "solutions on both sides are on different branches: joints would leap",
}


@dataclass(frozen=True)
class PathBreak:
    """An interval between two samples in which no branch continues.

    Attributes
    ----------
    start, end : float
        The path parameter of the last sample before, and of the first one after.
    reason : str
        A key of `linkwise.inverse_kinematics.path_branches.REASONS`.
    leap : float
        How far a joint leaps, rad or m; infinite where the path ends before it has a solution again.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.ur5()
    >>> near = arm.forward_kinematics([0.1, -1.2, 1.5, 0.3, 0.9, 0.2])
    >>> far = near.copy()
    >>> far[0, 3] += 9.0
    >>> follow_path(arm, [near, near, far]).breaks[0].reason
    'unreachable'
    """

    start: float
    end: float
    reason: str
    leap: float

    def __str__(self) -> str:
        return f"between {self.start:.6g} and {self.end:.6g}: {REASONS[self.reason]}"


@dataclass(frozen=True, eq=False, repr=False)
class PathBranches:
    """The branches of solutions along a path, and the chosen route; created by `follow_path`.

    Attributes
    ----------
    s : ndarray (S,)
        The path parameter of each sample.
    q : ndarray (S, n)
        Joint coordinates of the chosen way, rad or m; NaN where the pose has no solution that is allowed.
    success : bool
        Whether one branch leads from the first sample to the last.
    breaks : tuple of PathBreak
        Where none does.
    travel : float
        The length of the way in joint space without leaps, in the metric of the weights.
    solutions : tuple of ndarray (k, n)
        The allowed solutions of each sample.
    branch : tuple of ndarray (k,)
        The number of the branch of each: the same along the path as long as it goes on, from 0.
    chosen : ndarray (S,)
        Which of them the way takes, -1 where there is none.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.ur5()
    >>> poses = arm.forward_kinematics([[0.1, -1.2, 1.5, 0.3, 0.9, 0.2], [0.2, -1.2, 1.5, 0.3, 0.9, 0.2]])
    >>> way = follow_path(arm, poses)
    >>> way.success, round(way.travel, 6), [len(rows) for rows in way.solutions]
    (True, 0.1, [512, 512])
    """

    s: FloatArray
    q: FloatArray
    success: bool
    breaks: tuple[PathBreak, ...]
    travel: float
    solutions: tuple[FloatArray, ...]
    branch: tuple[npt.NDArray[np.intp], ...]
    chosen: npt.NDArray[np.intp]

    @cached_property
    def count(self) -> int:
        """Number of branches."""
        return 1 + max((int(rows.max(initial=-1)) for rows in self.branch), default=-1)

    def explain(self) -> str:
        """The result in words."""
        if self.success:
            return f"one branch of {self.count} leads along the path; the joints travel {self.travel:.4g}"
        return f"no branch of {self.count} leads along the path: " + "; ".join(map(str, self.breaks))

    def __repr__(self) -> str:
        return f"<PathBranches: {self.explain()}>"


class GraphPathBranches(PathBranches):
    """The route in a graph of `torch.compile`, without solutions, whose number depends on values.

    Attributes
    ----------
    table : tensor (R, 4)
        The breaks, NaN behind them: start, end, place of the reason in `REASONS`, leap. Outside of the graph `breaks` has
        them.
    count : tensor () of int64
        Number of branches.
    """

    table: Any
    count: Any

    @property
    def breaks(self) -> tuple[PathBreak, ...]:
        """See `PathBranches`."""
        rows = [row for row in plain(self.table).tolist() if not np.isnan(row[0])]
        words = list(REASONS)
        return tuple(PathBreak(start, end, words[int(place)], leap) for start, end, place, leap in rows)

    @property
    def solutions(self) -> NoReturn:
        """Raise an error: graphs have no solutions.

        Raises
        ------
        ArgumentError
            Always.
        """
        refuse(no_graph("what follow_path lists beside the way"))

    branch = solutions


def _graph_rows(mechanism: Tree, *, T: tuple[int, ...], **_: Any) -> dict[str, GraphOutput]:
    """Output declarations of a route in graphs."""
    along = T[:1]
    return {
        "s": GraphOutput(along, differentiable=False),
        "q": GraphOutput((*along, mechanism.n)),
        "success": GraphOutput(kind="bool"),
        "travel": GraphOutput(differentiable=False),
        "chosen": GraphOutput(along, "int64"),
        "table": GraphOutput((*along, 4), differentiable=False),
        "count": GraphOutput(kind="int64"),
    }


def _way(solver: Callable[..., PathBranches], mechanism: Tree, T: Any, **options: Any) -> Any:
    """Compute the outputs of `_graph_rows`."""
    path = solver(mechanism, T, **options)
    table = np.full((len(T), 4), np.nan)
    for row, gap in zip(table, path.breaks, strict=False):
        row[:] = gap.start, gap.end, list(REASONS).index(gap.reason), gap.leap
    return SimpleNamespace(**vars(path), table=table, count=path.count)


def _in_graph(mechanism: Tree, tensors: Any, options: Any, **rows: Any) -> GraphPathBranches:
    path = object.__new__(GraphPathBranches)
    for name, value in rows.items():
        object.__setattr__(path, name, value)
    return path


class _Nodes(NamedTuple):
    """Nodes of one sample: pose, solutions (k, n), their Jacobians, and the reason if there are none."""

    pose: FloatArray
    q: FloatArray
    rates: FloatArray
    why: str


class _Step(NamedTuple):
    """The moves from one sample to the next that stay on a branch: from and to which node (k,), and their lengths (k,)."""

    start: npt.NDArray[np.intp]
    end: npt.NDArray[np.intp]
    length: FloatArray

    def least(self, cost: FloatArray) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """The nodes (m,) that a move leads to, and which move is the cheapest to each, by costs of moves (k,)."""
        order = np.lexsort((cost, self.end))
        nodes, first = np.unique(self.end[order], return_index=True)
        return nodes, order[first]


@in_graphs({"T": (..., 4, 4), "q0": ("nq",)}, _graph_rows, _in_graph, operator=_way)
@by_library(path_by, "T", "q0")
def follow_path(
    mechanism: Tree,
    T: npt.ArrayLike | Callable[[float], npt.ArrayLike],
    *,
    s: npt.ArrayLike | None = None,
    samples: int = 101,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    limits: bool = True,
    limit_margin: npt.ArrayLike = 0.0,
    singularity_margin: float = 0.0,
    weights: npt.ArrayLike | None = None,
    configuration: Mapping[str, str] | None = None,
    redundancy: Mapping[int | str, npt.ArrayLike] | int | None = None,
    method: str = "auto",
) -> PathBranches:
    """Joint coordinates along a path of poses, on the branch with the least joint travel.

    All solutions of every sample are the nodes of a graph, with all whole turns within the limits; two of neighbouring
    samples are joined where the joints move from one to the other as the path does. The way has the fewest leaps
    between branches and, with these, the least travel (R. Bellman's dynamic programming over samples). A leap is reported,
    never hidden.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, with a closed form or six revolute joints.
    T : (S, 4, 4) array_like, or callable
        Poses in the world, or the pose (4, 4) at a path parameter. A callable is sampled again, up to 64 times as closely,
        where no branch goes on, so that coarse samples are not mistaken for a leap.
    s : (S,) array_like, optional
        The path parameter of each sample, rising; from 0 to 1 where it is left out.
    samples : int
        Of a callable without `s`.
    q0 : (n,) array_like, optional
        Where the joints stand before: the travel from there counts too.
    link, configuration, redundancy, method
        As for `all_inverse_kinematics`.
    limits : bool
        Whether joint limits hold.
    limit_margin : float or (n,) array_like
        How far joints stay from their limits, rad or m.
    singularity_margin : float
        Solutions whose Jacobian, velocities divided by the characteristic length of the frame, has a singular value below it
        are left out.
    weights : (n,) array_like, optional
        Weights of the squared joint moves; 1 each by default.

    Returns
    -------
    PathBranches

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import robots
    >>> arm = robots.ur5()
    >>> start = arm.forward_kinematics([0.1, -1.2, 1.5, 0.3, 0.9, 0.2])
    >>> def seam(s):
    ...     T = start.copy()
    ...     T[1, 3] += 0.3 * s
    ...     return T
    >>> way = follow_path(arm, seam, samples=21, singularity_margin=0.02)
    >>> way.success, way.q.shape, bool(abs(np.diff(way.q, axis=0)).max() < 0.1)
    (True, (21, 6), True)
    """
    require_numeric_tree(mechanism, "follow_path")
    margin = numbers("limit_margin", limit_margin, "at least 0, rad or m")
    if margin.shape not in {(), (mechanism.n,)} or (margin < 0.0).any():
        raise ArgumentError(
            f"limit_margin is {shown(limit_margin)}; expected at least 0, for all joints or ({mechanism.n},)"
        )
    weight = np.ones(mechanism.n) if weights is None else vectors("weights", weights, mechanism.n)
    singular = positive("singularity_margin", singularity_margin, zero=True)
    pose_at, at = _sampled(T, s, samples)
    options = {"link": link, "method": method, "redundancy": redundancy}
    graph = _Graph(mechanism, options, configuration, flag("limits", limits), margin, singular, weight)
    start = None if q0 is None else vectors("q0", q0, mechanism.n)
    graph.add(at, np.array([pose_at(value) for value in at]))
    finest = FINEST * float(np.diff(at).min(initial=np.inf))
    while callable(T):
        route = graph.way(at, start)
        steps = [i for i in route.open_steps if max(route.chosen[i : i + 2]) >= 0 and at[i + 1] - at[i] > 1.5 * finest]
        middles = [0.5 * (at[i] + at[i + 1]) for i in steps]
        if not middles:
            break
        graph.add(np.array(middles), np.array([pose_at(value) for value in middles]))
        at = np.sort(np.concatenate([at, middles]))
    return graph.result(at, start)


def _sampled(
    T: npt.ArrayLike | Callable[[float], npt.ArrayLike], s: npt.ArrayLike | None, samples: int
) -> tuple[Callable[[float], FloatArray], FloatArray]:
    """Return the pose as a function of the path parameter, and the parameters of the samples."""
    poses = None if callable(T) else rigid_poses("T", T)
    if poses is not None and poses.ndim != 3:
        raise ArgumentError(f"T has the shape {poses.shape}; expected poses (S, 4, 4), or a function of the path parameter")
    count = whole("samples", samples, 2) if poses is None else len(poses)
    at = np.linspace(0.0, 1.0, count) if s is None else numbers("s", s, "path parameters (S,)")
    if at.ndim != 1 or not len(at) or (np.diff(at) <= 0.0).any() or (poses is not None and len(at) != count):
        raise ArgumentError(f"s has the shape {at.shape}; expected rising path parameters ({count},)")
    if callable(T):
        return lambda value: np.asarray(rigid_poses("T(s)", T(float(value)))), at
    assert poses is not None
    known = dict(zip(at.tolist(), poses, strict=True))
    return lambda value: known[float(value)], at


class _Way(NamedTuple):
    """The chosen nodes by sample, -1 for none, and the steps (by their first sample) without a continuing branch."""

    chosen: npt.NDArray[np.intp]
    open_steps: list[int]


class _Graph:
    """Nodes by path parameter, and the steps between neighbours."""

    def __init__(
        self,
        mechanism: Tree,
        options: Mapping[str, Any],
        configuration: Mapping[str, str] | None,
        limits: bool,
        margin: FloatArray,
        singular: float,
        weight: FloatArray,
    ) -> None:
        self.mechanism, self.options, self.configuration = mechanism, options, configuration
        self.limits, self.margin, self.singular, self.weight = limits, margin, singular, weight
        self.ranges = JointRanges.of(mechanism, limits=limits)
        endless = (self.ranges.low == -np.inf) & (self.ranges.high == np.inf)
        self.endless = self.ranges.turning & endless
        self.size = characteristic_length(mechanism, options["link"])
        self.nodes: dict[float, _Nodes] = {}
        self.steps: dict[tuple[float, float], _Step] = {}

    def add(self, at: FloatArray, poses: FloatArray) -> None:
        """The nodes of samples (S,) with poses (S, 4, 4)."""
        solve = partial(all_inverse_kinematics, self.mechanism, poses, **self.options)
        solutions = solve(limits=self.limits, configuration=self.configuration, turns=self.limits)
        rows = _by_pose(solutions, len(at))
        allowed = [self._allowed(part) for part in rows]
        for k, (inside, rates) in enumerate(allowed):
            if self.singular or not len(inside) or np.linalg.svd(rates, compute_uv=False)[:, -1].min() > SINGULAR:
                continue
            # (a continuum has one representative: those nearest to the neighbouring solutions)
            others = [part[0] for part in allowed[max(k - 1, 0) : k + 2 : 2] if len(part[0])]
            if self.options["redundancy"] is None and others:
                near = partial(all_inverse_kinematics, self.mechanism, poses[k], **self.options, limits=self.limits)
                more = list(near(q0=np.concatenate(others), configuration=self.configuration))
                _, first = np.unique(np.concatenate([rows[k], *more]).round(6), axis=0, return_index=True)
                allowed[k] = self._allowed(np.concatenate([rows[k], *more])[first])
        unlimited: Solutions | None = None
        for k, (inside, rates) in enumerate(allowed):
            why = ""
            if not len(inside):
                unlimited = unlimited or solve(limits=False)
                within = len(rows[k]) and len(self._allowed(rows[k], singular=0.0)[0])
                why = "singularity" if within else "limits" if len(_by_pose(unlimited, len(at))[k]) else "unreachable"
            self.nodes[float(at[k])] = _Nodes(poses[k], inside, rates, why)

    def _allowed(self, q: FloatArray, singular: float | None = None) -> tuple[FloatArray, FloatArray]:
        """Select coordinates (k, n) within both margins; return also their Jacobians."""
        least = self.singular if singular is None else singular
        inside = q[((q >= self.ranges.low + self.margin) & (q <= self.ranges.high - self.margin)).all(axis=1)]
        rates = np.array(kernel_of(self.mechanism, "jacobian", None, {"link": self.options["link"]})(inside))
        rates = rates.reshape(len(inside), 6, self.mechanism.n)
        rates[:, :3] /= self.size
        if not least or not len(inside):
            return inside, rates
        keep = np.linalg.svd(rates, compute_uv=False)[:, -1] >= least
        return inside[keep], rates[keep]

    def step(self, start: float, end: float) -> _Step:
        """Return the edges between two samples, cached."""
        if (start, end) not in self.steps:
            self.steps[start, end] = self._step(self.nodes[start], self.nodes[end])
        return self.steps[start, end]

    def moves(self, q: FloatArray, after: FloatArray) -> FloatArray:
        """Difference of coordinates q and after (..., n); joints without limits by the shorter direction."""
        return shorter_way(after - q, self.endless)

    def _step(self, a: _Nodes, b: _Nodes) -> _Step:
        near = np.ones((len(a.q), len(b.q)), dtype=bool)
        for joint, endless in enumerate(self.endless):
            near &= np.abs(shorter_way(b.q[None, :, joint] - a.q[:, None, joint], endless)) <= LEAP
        start, end = np.nonzero(near)
        moves = self.moves(a.q[start], b.q[end])
        gap = pose_error(a.pose, b.pose)
        gap[:3] /= self.size
        moved = 0.5 * np.einsum("kij,kj->ki", a.rates[start] + b.rates[end], moves)
        joined = np.linalg.norm(moved - gap, axis=1) <= STRAIGHT * np.linalg.norm(moves, axis=1)
        return _Step(start[joined], end[joined], np.sqrt((moves[joined] ** 2) @ self.weight))

    def way(self, at: FloatArray, q0: FloatArray | None) -> _Way:
        """The nodes with the fewest leaps, then the least travel; samples without nodes are passed over."""
        filled = [k for k, value in enumerate(at) if len(self.nodes[float(value)].q)]
        chosen = np.full(len(at), -1, dtype=np.intp)
        cost, before = self._costs(at, filled, q0, leaping=False)
        if np.isinf(cost).all():
            cost, before = self._costs(at, filled, q0, leaping=True)
        node = int(cost.argmin()) if filled else -1
        for place in range(len(filled) - 1, -1, -1):
            chosen[filled[place]] = node
            node = int(before[place - 1][node]) if place else node
        return _Way(chosen, [k for k in range(len(at) - 1) if not self._joined(at[k], at[k + 1], chosen[k], chosen[k + 1])])

    def _costs(
        self, at: FloatArray, filled: list[int], q0: FloatArray | None, *, leaping: bool
    ) -> tuple[FloatArray, list[npt.NDArray[np.intp]]]:
        """Costs to reach each node of the last sample, and the predecessors of the nodes of each later sample.

        Without leaps infinite where only a leap leads. With them all pairs of nodes of neighbouring samples are compared.
        """
        nodes = [self.nodes[float(at[k])].q for k in filled]
        if not nodes:
            return np.empty(0), []
        cost = np.zeros(len(nodes[0])) if q0 is None else np.sqrt(self.moves(q0, nodes[0]) ** 2 @ self.weight)
        before = []
        for (k, after), a, b in zip(pairwise(filled), nodes, nodes[1:], strict=False):
            previous, total = np.zeros(len(b), dtype=np.intp), np.full(len(b), np.inf)
            if leaping:
                leaps = cost[:, None] + LEAP_COST + np.sqrt(self.moves(a[:, None], b[None]) ** 2 @ self.weight)
                previous, total = leaps.argmin(axis=0), leaps.min(axis=0)
            if after == k + 1:
                step = self.step(float(at[k]), float(at[after]))
                joined = cost[step.start] + step.length
                ends, moves = step.least(joined)
                better = joined[moves] < total[ends]
                previous[ends[better]], total[ends[better]] = step.start[moves[better]], joined[moves[better]]
            before.append(previous)
            cost = total
        return cost, before

    def _joined(self, start: float, end: float, node: int, after: int) -> bool:
        if node < 0 or after < 0:
            return False
        step = self.step(float(start), float(end))
        return bool(((step.start == node) & (step.end == after)).any())

    def result(self, at: FloatArray, q0: FloatArray | None) -> PathBranches:
        """Build the result: the route, its breaks, and the other branches."""
        route, nodes = self.way(at, q0), [self.nodes[float(value)] for value in at]
        q = np.full((len(at), self.mechanism.n), np.nan)
        for k, node in enumerate(route.chosen):
            if node >= 0:
                q[k] = nodes[k].q[node]
        done = [k for k in range(len(at)) if route.chosen[k] >= 0]
        for k, after in pairwise(done):
            q[after] = q[k] + np.where(self.endless, self.moves(q[k], q[after]), q[after] - q[k])
        travel = 0.0
        for k in range(len(at) - 1):
            if k not in route.open_steps:
                travel += float(np.sqrt((q[k + 1] - q[k]) ** 2 @ self.weight))
        breaks = self._breaks(at, q, route, nodes)
        success = bool(len(done) == len(at) and not route.open_steps)
        rows = tuple(node.q for node in nodes)
        return PathBranches(at, q, success, breaks, travel, rows, self._numbered(at), route.chosen)

    def _breaks(self, at: FloatArray, q: FloatArray, route: _Way, nodes: list[_Nodes]) -> tuple[PathBreak, ...]:
        """Build one break for each run of steps without a continuing branch."""
        breaks = []
        runs = np.split(route.open_steps, np.flatnonzero(np.diff(route.open_steps) > 1) + 1) if route.open_steps else []
        for run in runs:
            pieces = [[int(k)] for k in run]
            joined: list[list[int]] = []
            for piece in pieces:  # (steps that meet in a sample without solutions are one break)
                if joined and route.chosen[piece[0]] < 0:
                    joined[-1] += piece
                else:
                    joined.append(piece)
            for piece in joined:
                first, last = piece[0], piece[-1] + 1
                why = next((nodes[k].why for k in range(first, last + 1) if nodes[k].why), "apart")
                leap = float(np.abs(q[last] - q[first]).max())
                breaks.append(PathBreak(float(at[first]), float(at[last]), why, leap if np.isfinite(leap) else np.inf))
        if len(at) == 1 and nodes[0].why:
            breaks.append(PathBreak(float(at[0]), float(at[0]), nodes[0].why, np.inf))
        return tuple(breaks)

    def _numbered(self, at: FloatArray) -> tuple[npt.NDArray[np.intp], ...]:
        """The number of the branch of each node: that of the nearest node before that it is joined with, or a new one."""
        first = len(self.nodes[float(at[0])].q)
        numbered, following = [np.arange(first, dtype=np.intp)], first
        for start, end in pairwise(at.tolist()):
            step, count = self.step(start, end), len(self.nodes[end].q)
            numbers_here = np.full(count, -1, dtype=np.intp)
            ends, moves = step.least(step.length)
            back = _Step(step.end, step.start, step.length)
            starts, returns = back.least(step.length)
            nearest = dict(zip(starts.tolist(), back.start[returns].tolist(), strict=True))
            for node, before in zip(ends.tolist(), step.start[moves].tolist(), strict=True):
                if nearest[before] == node:
                    numbers_here[node] = numbered[-1][before]
            new = numbers_here < 0
            numbers_here[new] = following + np.arange(new.sum())
            following += int(new.sum())
            numbered.append(numbers_here)
        return tuple(numbered)


def _by_pose(solutions: Solutions, count: int) -> list[FloatArray]:
    """The solutions (k, n) of each pose; of a self-motion those of all values together."""
    if not isinstance(solutions, SelfMotion):
        return list(solutions)
    rows = solutions.q.reshape(count, -1, solutions.q.shape[-1])
    return [part[~np.isnan(part[:, 0])] for part in rows]
