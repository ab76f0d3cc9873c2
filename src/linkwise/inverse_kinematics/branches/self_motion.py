"""Self-motions of arms with one joint to spare: the solutions of a pose as curves over the redundant joint.

With that joint held the arm has six joints and a closed form: all its values go through it in one call. Solutions of
neighbouring values belong to one curve where the null space of the Jacobian leads from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError, members, shown
from linkwise.inverse_kinematics.branches.configuration import labels_of
from linkwise.inverse_kinematics.closed_form import ClosedForm, Solutions, closed_form
from linkwise.inverse_kinematics.closed_form.solutions import Metric
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.manipulability import manipulability
from linkwise.model.tree import Tree, require_tree
from linkwise.solve.joint_limits import TURN, JointRanges, beside, shorter_way, start_position
from linkwise.solve.validation import joint_given, joint_index, link_given
from linkwise.spatial.scalar import Array, FloatArray
from linkwise.spatial.validation import choice, numbers, vectors, whole

#: Neighbours of one curve differ from the prediction of the null space by at most this share of their difference.
STRAIGHT = 0.25

#: Beside a turning point they leave the direction of the null space by at most this share, and are between one and two times
#: as long as it foretells, by at most this much more or less than one and a half.
ASIDE, WIDE = 0.5, 0.7

#: Halvings of the interval in which a curve ends.
HALVINGS = 32

#: Number of positions for the choice of the parametrizing joint.
TRIALS = 32

CRITERIA = ("nearest", "manipulability", "limits")

#: Criterion that the best solution minimizes: a name, or a function of joint coordinates (n,) over scalars.
Criterion = str | Callable[[Array], Any]


@dataclass(frozen=True, eq=False)
class SelfMotionCurve:
    """Connected part of the self-motion of one pose on which the redundant joint moves monotonically.

    Attributes
    ----------
    values : ndarray (m,)
        Values of the redundant joint, rad or m, rising: the ends of the interval, and the values of the grid between them.
    q : ndarray (m, n)
        Joint coordinates, without leaps by whole turns.
    interval : tuple of float
        Where the curve is within the limits, to 1e-9 of the grid's step.
    ends : tuple of str
        What ends it below and above: ``"grid"``, the last value; ``"turning point"``, where it meets another curve and the
        joint turns back; or the name of the joint that comes to a limit.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.panda()
    >>> T = arm.forward_kinematics([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    >>> curve = arm.all_inverse_kinematics(T, redundancy={"link7": 16}).curves()[0]
    >>> curve.ends, bool(abs(arm.forward_kinematics(curve.q) - T).max() < 1e-12)
    (('turning point', 'link1'), True)
    """

    values: FloatArray
    q: FloatArray
    interval: tuple[float, float]
    ends: tuple[str, str]

    def __repr__(self) -> str:
        return f"<SelfMotionCurve: {self.interval[0]:.4g} to {self.interval[1]:.4g}, ends {self.ends[0]}, {self.ends[1]}>"


@dataclass(frozen=True, eq=False, repr=False)
class SelfMotion(Solutions):
    """Solutions of poses over values of a redundant joint: a `Solutions` whose last axis of poses runs over the values.

    Attributes
    ----------
    q : ndarray (..., G, K, n)
        Joint coordinates within the limits, for G values, rad or m.
    joint : int
        The coordinate that is redundant.
    values : ndarray (G,)
        Its values, rising.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.panda()
    >>> T = arm.forward_kinematics([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    >>> motion = arm.all_inverse_kinematics(T, redundancy={"link7": 64})
    >>> motion
    <SelfMotion: link7 at 64 values, 48 solutions>
    >>> [curve.ends for curve in motion.curves()][0]
    ('turning point', 'link1')
    >>> bool(abs(arm.forward_kinematics(motion.best("manipulability")) - T).max() < 1e-12)
    True
    """

    form: ClosedForm = field(kw_only=True)
    poses: FloatArray = field(kw_only=True)
    values: FloatArray = field(kw_only=True)
    ranges: JointRanges = field(kw_only=True)

    @property
    def joint(self) -> int:
        """The coordinate that is redundant."""
        assert self.form.fixed is not None
        return self.form.fixed

    def best(
        self, criterion: Criterion = "manipulability", q0: npt.ArrayLike | None = None, metric: Metric = None
    ) -> FloatArray:
        """The best solution (..., n) of each pose over all values, NaN where a pose has none.

        Parameters
        ----------
        criterion : {"nearest", "manipulability", "limits"} or callable
            The nearest to q0 in a metric of `Solutions.nearest`; the greatest volume of the velocity ellipsoid (T. Yoshikawa
            1985); the greatest distance of a joint from the middle of its range, in halves of the range, the least; or a
            function of coordinates (n,), written over scalars, whose least value is wanted: it is compiled.
        q0 : (..., n) array_like, optional
            For ``"nearest"``.
        metric : array_like, str or callable, optional
            For ``"nearest"``.
        """
        q = self.q.reshape(*self.poses.shape[:-2], -1, self.q.shape[-1])
        if criterion == "nearest":
            if q0 is None:
                raise ArgumentError("criterion is 'nearest', of which q0 says to what; q0 is left out")
            empty = np.zeros(self.poses.shape[:-2], dtype=bool)
            return Solutions(q, empty.astype(np.intp), empty).nearest(q0, metric)
        cost = self._cost(criterion, q)
        if not cost.shape[-1]:
            return np.full((*cost.shape[:-1], q.shape[-1]), np.nan)
        best = np.argmin(np.where(np.isnan(cost), np.inf, cost), axis=-1)
        return np.asarray(np.take_along_axis(q, best[..., None, None], axis=-2)[..., 0, :])

    def _cost(self, criterion: Criterion, q: FloatArray) -> FloatArray:
        """Cost (...) of coordinates q (..., n) that the best solution minimizes."""
        mechanism = self.form.mechanism
        if callable(criterion):
            tape = trace(lambda row: np.asarray(criterion(row)), "criterion", {"q": (mechanism.n,)}, {"cost": ()})
            return np.asarray(Kernel(tape)(np.ascontiguousarray(q)))
        choice("criterion", criterion, CRITERIA)
        if criterion == "limits":
            half = 0.5 * (self.ranges.high - self.ranges.low)
            some = np.isfinite(half)
            middle = self.ranges.low[some] + half[some]
            return np.asarray(np.abs((q[..., some] - middle) / half[some]).max(axis=-1, initial=0.0))
        filled = ~np.isnan(q[..., 0])
        cost = np.full(filled.shape, np.nan)
        rates = kernel_of(mechanism, "jacobian", None, {"link": self.form.link})(q[filled])
        cost[filled] = -manipulability(rates)
        return cost

    def curves(self, pose: Any = ()) -> list[SelfMotionCurve]:
        """The self-motion of one pose, by its index in a batch, as connected curves within the limits.

        A curve is found where at least one value of the grid lies on it; where two come near to each other, a finer grid
        tells them apart.
        """
        T = np.asarray(self.poses[pose])
        if T.ndim != 2:
            raise ArgumentError(f"pose is {shown(pose)}; expected the index of one pose of {self.poses.shape[:-2]}")
        return _Curves(self, T).all()

    def __repr__(self) -> str:
        name = self.form.mechanism.names[self.joint]
        size = int(np.prod(self.poses.shape[:-2]))
        poses = f" of {size} poses" if self.poses.ndim > 2 else ""
        return f"<SelfMotion{poses}: {name} at {len(self.values)} values, {self.count.sum()} solutions>"


class _Curves:
    """The curves of one pose."""

    def __init__(self, motion: SelfMotion, T: FloatArray) -> None:
        self.motion, self.T, self.joint = motion, T, motion.joint
        self.form, self.ranges = motion.form, motion.ranges
        self.labels = labels_of(self.form.mechanism, self.form.link, self.joint)
        self.columns = [k for k in range(self.form.mechanism.n) if k != self.joint]

    def all(self) -> list[SelfMotionCurve]:
        """The curves, the longest first."""
        values = self.motion.values
        solutions = self.form.holding(values).all(self.T, limits=False)
        rows, open_rows, curves = list(solutions), dict[int, list[FloatArray]](), list[tuple[int, list[FloatArray]]]()
        started: dict[int, int] = {}
        for g, q in enumerate(rows):
            successors = self._successors(rows[g - 1], q, values[g] - values[g - 1]) if g else {}
            kept: dict[int, list[FloatArray]] = {}
            begun: dict[int, int] = {}
            for old, chain in open_rows.items():
                if old in successors:
                    new = successors[old]
                    kept[new], begun[new] = [*chain, chain[-1] + self._between(chain[-1], q[new])], started[old]
                else:
                    curves.append((started[old], chain))
            for new in range(len(q)):
                if new not in kept:
                    kept[new], begun[new] = [q[new]], g
            open_rows, started = kept, begun
        curves += [(started[old], chain) for old, chain in open_rows.items()]
        parts = [part for first, chain in curves for part in self._within_limits(first, np.array(chain))]
        ends = self._ends(parts)
        return sorted(ends, key=lambda curve: curve.interval[0] - curve.interval[1])

    def _between(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """Difference of coordinates b - a (..., n); angles by the shorter direction."""
        return shorter_way(b - a, self.ranges.turning)

    def _tangents(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The change of coordinates (M, n) for a unit of the redundant joint, and the sign of the others' determinant."""
        rates = np.array(kernel_of(self.form.mechanism, "jacobian", None, {"link": self.form.link})(q))
        held = rates[..., self.columns]
        tangents = np.ones_like(q)
        with np.errstate(all="ignore"):
            inverse = np.linalg.pinv(held, rcond=1e-12)
            tangents[:, self.columns] = -(inverse @ rates[..., self.joint, None])[..., 0]
        return tangents, np.sign(np.linalg.det(held)) if held.shape[-1] == 6 else np.ones(len(q))

    def _successors(self, q: FloatArray, after: FloatArray, step: float) -> dict[int, int]:
        """Match solutions (k, n) to their continuations (m, n) at the next value."""
        if not len(q) or not len(after):
            return {}
        fits = self._continues(q[:, None], after[None], step)
        best, back = fits.argmin(axis=1), fits.argmin(axis=0)
        return {k: int(j) for k, j in enumerate(best) if back[j] == k and np.isfinite(fits[k, j])}

    def _continues(self, q: FloatArray, after: FloatArray, step: FloatArray | float) -> FloatArray:
        """Distance of coordinates q and after (..., n), which broadcast, from a common curve; infinite without a match."""
        q, after = np.broadcast_arrays(q, after)
        (t, sign), (u, other) = (
            (part.reshape(*q.shape[:-1], *part.shape[1:]) for part in self._tangents(rows.reshape(-1, q.shape[-1])))
            for rows in (q, after)
        )
        away, steps = self._between(q, after), np.broadcast_to(np.asarray(step)[..., None], q.shape)
        miss = np.linalg.norm(away - 0.5 * steps * (t + u), axis=-1)
        size = np.linalg.norm(away, axis=-1)
        # near a turning point the difference is between one and two times the prediction of the flatter tangent
        flat = steps * np.where((np.linalg.norm(t, axis=-1) < np.linalg.norm(u, axis=-1))[..., None], t, u)
        share = np.sum(away * flat, axis=-1) / np.sum(flat * flat, axis=-1)
        turns = (np.linalg.norm(away - share[..., None] * flat, axis=-1) <= ASIDE * size) & (np.abs(share - 1.5) <= WIDE)
        return np.where((sign == other) & ((miss <= STRAIGHT * size) | turns), miss, np.inf)

    def _within_limits(self, first: int, chain: FloatArray) -> list[tuple[int, FloatArray]]:
        """The parts of a curve (m, n) that are within the limits after whole turns, with the index of their first value."""
        turning = self.ranges.turning.copy()
        turning[self.joint] = False
        below, above = self.ranges.low > chain, self.ranges.high < chain
        fewest = np.where(turning, np.ceil((self.ranges.low - chain) / TURN), below.astype(float))
        most = np.where(turning, np.floor((self.ranges.high - chain) / TURN), -above.astype(float))
        parts: list[tuple[int, FloatArray]] = []
        begin, low, high = 0, np.full(chain.shape[1], -np.inf), np.full(chain.shape[1], np.inf)
        for k in range(len(chain) + 1):
            if k < len(chain):
                narrowed = np.maximum(low, fewest[k]), np.minimum(high, most[k])
                if (narrowed[0] <= narrowed[1]).all():
                    low, high = narrowed
                    continue
            if k > begin:
                parts.append((first + begin, chain[begin:k] + TURN * np.clip(0.0, low, high)))
            begin, (low, high) = k, (fewest[min(k, len(chain) - 1)], most[min(k, len(chain) - 1)])
            if (low > high).any():
                begin, low, high = k + 1, np.full(chain.shape[1], -np.inf), np.full(chain.shape[1], np.inf)
        return parts

    def _ends(self, parts: list[tuple[int, FloatArray]]) -> list[SelfMotionCurve]:
        """Return the curves with their end points, found between two grid values by simultaneous bisection."""
        if not parts:
            return []
        values, count = self.motion.values, len(parts)
        first = np.array([k for k, _ in parts])
        last = np.array([k + len(chain) - 1 for k, chain in parts])
        inner = np.concatenate([first, last])
        outer = np.concatenate([first - 1, last + 1])
        open_ends = (outer >= 0) & (outer < len(values))
        good, bad = values[inner].copy(), values[np.clip(outer, 0, len(values) - 1)]
        q = np.concatenate([[chain[0] for _, chain in parts], [chain[-1] for _, chain in parts]])
        reasons = np.full(2 * count, "grid", dtype=object)
        some = np.flatnonzero(open_ends)
        for _ in range(HALVINGS if some.size else 0):
            middle = 0.5 * (good[some] + bad[some])
            trial, solved, *_ = self.form.holding(middle).nearest(self.T, q[some], limits=False)
            follows = solved & np.isfinite(self._continues(q[some], trial, middle - good[some]))
            trial = q[some] + self._between(q[some], trial)
            outside = (trial < self.ranges.low) | (trial > self.ranges.high)
            further = follows & ~outside.any(axis=1)
            for place, continues, beyond in zip(some.tolist(), follows, outside, strict=True):
                if not continues:
                    reasons[place] = "turning point"
                elif beyond.any():
                    reasons[place] = self.form.mechanism.names[int(np.argmax(beyond))]
            good[some] = np.where(further, middle, good[some])
            bad[some] = np.where(further, bad[some], middle)
            q[some] = np.where(further[:, None], trial, q[some])
        curves = []
        for k, (place, chain) in enumerate(parts):
            at, rows = values[place : place + len(chain)], chain
            if good[k] < at[0]:
                at, rows = np.r_[good[k], at], np.vstack([q[k], rows])
            if good[count + k] > at[-1]:
                at, rows = np.r_[at, good[count + k]], np.vstack([rows, q[count + k]])
            ends = (str(reasons[k]), str(reasons[count + k]))
            curves.append(SelfMotionCurve(at, rows, (float(at[0]), float(at[-1])), ends))
        return curves


def self_motion(
    mechanism: Tree,
    T: npt.ArrayLike,
    redundancy: Mapping[int | str, npt.ArrayLike] | int,
    *,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    limits: bool = True,
) -> SelfMotion:
    """The solutions of poses for values of a redundant joint; see `linkwise.inverse_kinematics.all_inverse_kinematics`."""
    joint, values = _redundant(mechanism, redundancy, link)
    form = closed_form(mechanism, link, fixed={joint: values})
    if not form.exists:
        form.refuse()
    poses = numbers("T", T, "rigid poses (..., 4, 4)")
    n = mechanism.n
    start = _start(mechanism, link_given(link)) if q0 is None else vectors("q0", q0, n)
    solutions = form.all(poses[..., None, :, :], start[..., None, :], limits)
    batch = solutions.count.shape[:-1]
    return SelfMotion(
        solutions.q,
        solutions.count,
        solutions.complete,
        labels_of(mechanism, link, joint),
        cause=solutions.cause,
        form=form,
        poses=np.broadcast_to(poses, (*batch, 4, 4)),
        values=values,
        ranges=JointRanges.of(mechanism, limits=limits),
    )


def _start(mechanism: Tree, link: int | str) -> FloatArray:
    """Reference coordinates (n,): values of joints that do not move the frame, and origin of distances."""
    return mechanism.memo("self_motion_start", link, lambda: start_position(mechanism, beside(mechanism, link)))


def _redundant(
    mechanism: Tree, redundancy: Mapping[int | str, npt.ArrayLike] | int, link: int | str
) -> tuple[int, FloatArray]:
    """The coordinate, and its values, rising."""
    if not isinstance(redundancy, Mapping):
        return redundant_joint(mechanism, link), _grid(mechanism, redundant_joint(mechanism, link), redundancy)
    if len(redundancy) != 1:
        raise ArgumentError(f"redundancy is {shown(redundancy)}; expected one joint and its values, as {{'joint7': 64}}")
    ((name, values),) = redundancy.items()
    joint = joint_index(mechanism, "redundancy", joint_given("redundancy", name))
    if isinstance(values, int):
        return joint, _grid(mechanism, joint, values)
    grid = np.unique(numbers("redundancy", values, "values (G,) of a joint"))
    if not grid.size:
        raise ArgumentError("redundancy has no values; expected some, or their number")
    return joint, grid


def _grid(mechanism: Tree, joint: int, count: int) -> FloatArray:
    """Return values between the limits of a joint, or over a full turn."""
    low, high = float(mechanism.q_min[joint]), float(mechanism.q_max[joint])
    many = whole("redundancy", count, 2)
    if np.isfinite(low) and np.isfinite(high):
        return np.linspace(low, high, many)
    if not JointRanges.of(mechanism).turning[joint]:
        raise ArgumentError(f"{mechanism.names[joint]!r} slides without limits; expected its values in redundancy")
    return np.linspace(-np.pi, np.pi, many)


def redundant_joint(mechanism: Tree, link: int | str = "tool") -> int:
    """Choose the joint that parametrizes a self-motion: of those that leave a closed form, the one that moves most.

    Raises
    ------
    NoClosedFormError
        Where there is no such joint: the frame is not moved by one joint too many, or no closed form remains.

    Examples
    --------
    >>> from linkwise import robots
    >>> redundant_joint(robots.panda())
    4
    """

    def make() -> int:
        forms = {k: closed_form(mechanism, link, fixed={k: 0.0}) for k in range(mechanism.n)}
        possible = [k for k, form in forms.items() if form.exists]
        if not possible or closed_form(mechanism, link).exists:
            why = f"{members(mechanism.names)} do not leave a closed form when one of them is held"
            closed_form(mechanism, link).refuse("" if possible else why)
        q = np.random.default_rng(1).uniform(-1.5, 1.5, (TRIALS, mechanism.n))
        rates = np.array(kernel_of(mechanism, "jacobian", None, {"link": link})(q))
        along = np.abs(np.linalg.svd(rates)[2][:, -1]).mean(axis=0)
        return max(possible, key=lambda k: along[k])

    require_tree(mechanism, "redundant_joint: mechanism")
    return mechanism.memo("redundant_joint", link, make)
