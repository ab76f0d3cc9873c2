"""Optimal excitation: the finite Fourier series within limits that identifies parameters best."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.dynamics import parameter_names
from linkwise.dynamics.base_parameters.base_parameters import INDEPENDENT
from linkwise.dynamics.closed_loops.nullspace import refuse_driven
from linkwise.errors import ArgumentError, LinkwiseError, members, shown
from linkwise.identification.closed_motions import ClosedMotions
from linkwise.identification.parameters import REGROUPED, independent_columns, symbol, unknowns
from linkwise.model.assembly import lock
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, flag, generator, whole
from linkwise.trajectory.motion import State
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.validation import count, position_bounds, positive, scalar

#: A parameter takes part in a combination if it makes up this share of it.
MEANT = 1e-6


CRITERIA = ("determinant", "condition")

#: Below this ratio of eigenvalues of the normal equations, parameters cannot be distinguished.
SINGULAR = 1e-13


def check_excited(table: FloatArray, labels: Sequence[str]) -> None:
    """Raise unless the columns of a regressor (rows, b) are independent, naming the parameters that are at fault.

    Raises
    ------
    ArgumentError
        With the parameters that have no effect in the motion, and the groups that cannot be distinguished.
    """
    count = len(labels)
    sizes = np.linalg.norm(table, axis=0)
    seen = sizes > INDEPENDENT * sizes.max(initial=0.0)
    groups = _groups(table[:, seen] / sizes[seen])
    if seen.all() and not groups:
        return
    names = [label for label, there in zip(labels, seen, strict=True) if there]
    missing = int((~seen).sum()) + sum(lost for _, lost in groups)
    lines = [f"the motion does not excite all that is to be found: {missing} of {count} base parameters stay unknown"]
    if not seen.all():
        lines.append(f"no effect: {members(label for label, there in zip(labels, seen, strict=True) if not there)}")
    lines += [
        f"not told apart: {members(names[k] for k in group)} ({len(group) - lost} of {len(group)} combinations are seen)"
        for group, lost in groups
    ]
    if any(label.endswith(REGROUPED) for label in labels):
        where = "see mech.base_parameters(resting=False)"
        lines.append(f"({REGROUPED} marks a parameter with which others are grouped: {where})")
    raise ArgumentError("\n".join(lines))


def _groups(table: FloatArray) -> list[tuple[list[int], int]]:
    """The columns of unit length that depend on each other, and how many of each group are too many."""
    kept = independent_columns(table, range(table.shape[1]))
    loose: list[tuple[set[int], int]] = []
    for c in sorted(set(range(table.shape[1])) - set(kept)):
        before = [k for k in kept if k < c]
        shares = np.linalg.lstsq(table[:, before], table[:, c], rcond=None)[0]
        loose.append(({c, *(k for k, share in zip(before, shares, strict=True) if abs(share) > MEANT)}, 1))
    return [(sorted(group), lost) for group, lost in _merged(loose)]


def _merged(dependent: list[tuple[set[int], int]]) -> list[tuple[set[int], int]]:
    """Groups that share a member are one."""
    groups: list[tuple[set[int], int]] = []
    for group, lost in dependent:
        touching = [other for other in groups if other[0] & group]
        groups = [other for other in groups if other not in touching]
        groups.append((group.union(*(other for other, _ in touching)), lost + sum(more for _, more in touching)))
    return groups


def condition_numbers(table: FloatArray) -> tuple[float, float]:
    """Condition number of a regressor (..., b) with its columns scaled to length one, and as it is."""
    rows = table.reshape(-1, table.shape[-1])
    factor = np.linalg.qr(rows, mode="r")
    return float(np.linalg.cond(factor / np.linalg.norm(factor, axis=0))), float(np.linalg.cond(factor))


def criterion_loss(table: FloatArray, criterion: str) -> tuple[float, FloatArray]:
    """Return the criterion of a regressor (rows, b), and its slope (rows, b); infinite where parameters are confounded.

    "condition" is the logarithm of the condition number with columns scaled to length one; "determinant" is
    -log det(table' table) / 2 b, the mean logarithm of the lengths of the axes of the ellipsoid of uncertainty.
    """
    sizes = np.linalg.norm(table, axis=0)
    if not np.all(sizes > 0):
        return np.inf, np.zeros_like(table)
    scaled = table / sizes
    values, vectors = np.linalg.eigh(scaled.T @ scaled)
    if values[0] <= SINGULAR * values[-1]:
        return np.inf, np.zeros_like(table)
    if criterion == "determinant":
        count = len(sizes)
        inverse = (vectors / values) @ vectors.T
        size = -(0.5 * np.log(values).sum() + np.log(sizes).sum()) / count
        return float(size), -(scaled @ inverse) / sizes / count
    largest, smallest = (
        2.0 * (np.outer(scaled @ vectors[:, k], vectors[:, k]) - values[k] * vectors[:, k] ** 2 * scaled) / sizes / values[k]
        for k in (-1, 0)  # slopes of the logarithms of these eigenvalues
    )
    return float(0.5 * np.log(values[-1] / values[0])), 0.5 * (largest - smallest)


#: Instants for each harmonic at which the limits are held.
GRID = 32

#: The greatest of many numbers is taken as their sum of powers of this degree, which is smooth and never too small.
SHARP = 64.0


@dataclass(frozen=True, eq=False)
class FourierSeries:
    """Joint motions q(t) = offset + sum over k of a_k sin(k w t) / (k w) - b_k cos(k w t) / (k w), with w = 2 pi / period.

    J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans. Robotics and Automation 13(5), 1997,
    eq. 10 to 12.

    Attributes
    ----------
    period : float
        s.
    offset : ndarray (n,)
        The mean position, rad or m.
    coefficients : ndarray (n, 2 H)
        a_1 ... a_H, b_1 ... b_H of each joint, rad/s or m/s.
    """

    period: float
    offset: FloatArray
    coefficients: FloatArray

    def __call__(self, time: FloatArray) -> State:
        """Return q, qd and qdd (K, n) at times (K,)."""
        q, qd, qdd = basis(time, self.period, self.coefficients.shape[1] // 2) @ self.coefficients.T
        return q + self.offset, qd, qdd


def grid(period: float, count: int) -> FloatArray:
    """Even instants (count,) of one period, its end left out."""
    return np.asarray(np.arange(count) * (period / count), dtype=np.float64)


def basis(time: FloatArray, period: float, harmonics: int) -> FloatArray:
    """What each coefficient adds to q, qd and qdd at some times: (3, K, 2 H)."""
    w = 2.0 * np.pi / period * np.arange(1, harmonics + 1)
    sin, cos = np.sin(np.outer(time, w)), np.cos(np.outer(time, w))
    return np.stack([np.hstack([sin / w, -cos / w]), np.hstack([cos, sin]), np.hstack([-w * sin, w * cos])])


def resting(period: float, harmonics: int) -> FloatArray:
    """Orthonormal directions (2 H, 2 H - 2) of the coefficients of motions that begin, and end, at rest: qd = qdd = 0."""
    conditions = basis(np.zeros(1), period, harmonics)[1:, 0]
    return np.asarray(np.linalg.svd(conditions)[2][2:].T)


@dataclass(frozen=True, eq=False)
class FourierFamily:
    """All motions of H harmonics within limits, as a function of numbers (n, m + 2) that may have any value.

    Of a joint's numbers the first m say the shape, which is then made so large that it just touches one limit; the next
    makes it smaller (logistic function), and the last moves it within what is left between the position limits (tanh).

    A trigonometric polynomial of degree H that stays below a limit at N > 2 H even instants of its period stays below
    limit / cos(pi H / N) at all times (H. Ehlich, K. Zeller, "Schwankung von Polynomen zwischen Gitterpunkten", Math.
    Zeitschrift 86, 1964): the limits are lowered by that much, 0.5 %.
    """

    period: float
    harmonics: int
    centre: FloatArray
    half: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    at_rest: bool

    @property
    def numbers(self) -> int:
        """How many numbers a joint takes."""
        return 2 * self.harmonics - 2 * self.at_rest + 2

    def series(self, numbers: FloatArray, degree: float = np.inf) -> FourierSeries:
        """Return the motion of some numbers (n, m + 2)."""
        directions = self.directions()
        scale, offset, *_ = self._placed(numbers, directions, degree)
        return FourierSeries(self.period, offset, (scale[:, None] * numbers[:, :-2]) @ directions.T)

    def pull_back(self, numbers: FloatArray, of_offset: FloatArray, of_coefficients: FloatArray) -> FloatArray:
        """Return the slope by the numbers from the slopes by offset (n,) and coefficients (n, 2 H)."""
        directions = self.directions()
        u, w, o = numbers[:, :-2], numbers[:, -2], numbers[:, -1]
        scale, _, size, reach, by_u, reach_by_u = self._placed(numbers, directions, SHARP)
        along = of_coefficients @ directions
        by_scale = (along * u).sum(axis=1) - of_offset * np.tanh(o) * reach
        slopes = np.empty_like(numbers)
        slopes[:, :-2] = scale[:, None] * along - (by_scale * scale / size)[:, None] * by_u
        slopes[:, :-2] -= (of_offset * np.tanh(o) * scale)[:, None] * reach_by_u
        slopes[:, -2] = by_scale * scale * (1.0 - _logistic(w))
        slopes[:, -1] = of_offset * (1.0 - np.tanh(o) ** 2) * (self.half - scale * reach)
        return slopes

    def directions(self) -> FloatArray:
        """The coefficients (2 H, m) of each number of a shape."""
        return resting(self.period, self.harmonics) if self.at_rest else np.eye(2 * self.harmonics)

    def _placed(self, numbers: FloatArray, directions: FloatArray, degree: float) -> tuple[FloatArray, ...]:
        """Scale and offset of each joint; what the shape is of its limits and how far it reaches, with their slopes."""
        shapes = basis(grid(self.period, GRID * self.harmonics), self.period, self.harmonics) @ directions
        below = np.cos(np.pi / GRID)
        limits = below * np.stack([self.half, self.speed, self.acceleration])
        values = np.einsum("ktm,nm->nkt", shapes, numbers[:, :-2])
        size, by_values = _smooth_maximum((values / limits.T[:, :, None]).reshape(len(numbers), -1), degree)
        by_values = by_values.reshape(values.shape) / limits.T[:, :, None]
        reach, reach_by = _smooth_maximum(values[:, 0] / below, degree)
        scale = _logistic(numbers[:, -2]) / size
        offset = self.centre + np.tanh(numbers[:, -1]) * (self.half - scale * reach)
        by_u = np.einsum("nkt,ktm->nm", by_values, shapes)
        return scale, offset, size, reach, by_u, reach_by @ shapes[0] / below


def _smooth_maximum(values: FloatArray, degree: float) -> tuple[FloatArray, FloatArray]:
    """The greatest size in each row, or the norm of some degree instead, and its slope."""
    top = np.abs(values).max(axis=1)
    if np.isinf(degree):
        return top, np.zeros_like(values)
    parts = np.abs(values) / top[:, None]
    norm = (parts**degree).sum(axis=1) ** (1.0 / degree)
    return top * norm, np.sign(values) * (parts / norm[:, None]) ** (degree - 1.0)


def _logistic(x: FloatArray) -> FloatArray:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * x)))


#: Random motions from which the best are taken.
CANDIDATES = 100

#: Default number of instants of the result.
SAMPLES = 501


#: A step of the minimiser must bring this share of what the slope promises; it is halved so often.
ENOUGH, HALVINGS = 1e-4, 20

#: Samples of the regressor for each harmonic.
RATE = 20

#: What `ClosedMotions.wall` counts beside the criterion, and by how much the size number of a motion that the smooth
#: limits let through is taken back until it keeps the exact ones, so often at most.
WALL, EASED, EASINGS = 1e-3, 0.1, 30

#: Of the finite differences of the regressor, whose error of 1e-6 an optimisation does not feel.
STEP = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ExcitingTrajectory(Trajectory):
    """A `Trajectory`, and how well it tells the base parameters apart.

    Attributes
    ----------
    condition : float
        Condition number of the base regressor over one period, its columns scaled to length one.
    random_condition : float
        That of the best of the random motions from which the optimisation began.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.identification import exciting_trajectory
    >>> made = exciting_trajectory(robots.planar_2r(), 5.0, harmonics=3, qd_max=2.0, qdd_max=6.0, steps=30)
    >>> made.t.shape, made.condition < 100
    ((501,), True)
    """

    condition: float = np.nan
    random_condition: float = np.nan

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, condition number {self.condition:.3g}, at random {self.random_condition:.3g}>"


def exciting_trajectory(
    mech: Tree,
    duration: float,
    harmonics: int = 5,
    *,
    q_min: npt.ArrayLike | None = None,
    q_max: npt.ArrayLike | None = None,
    qd_max: npt.ArrayLike | None = None,
    qdd_max: npt.ArrayLike | None = None,
    criterion: str = "determinant",
    effort_std: npt.ArrayLike | None = None,
    known: str | Iterable[str] = (),
    at_rest: bool = True,
    allowed: Callable[[FloatArray], Any] | None = None,
    samples: int | None = None,
    starts: int = 2,
    steps: int = 100,
    seed: int = 0,
    driven: Sequence[int | str] | int | str | None = None,
    q0: npt.ArrayLike | None = None,
) -> ExcitingTrajectory:
    """Find a periodic motion within limits from which the base parameters are found best.

    Joints move by finite Fourier series (J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans.
    Robotics and Automation 13(5), 1997). Limits hold at all times, not only at the samples. The same seed gives the same
    motion on the same machine.

    Joints with quaternions have no motors: ball joints and bodies that float must be held at their neutral coordinates, at
    which they rest in the motion. The parameters that it tells apart are those of the mechanism with them locked there
    (`Mechanism.lock`), which `identify` then takes.

    With closed loops the driven coordinates move by Fourier series and the others follow, on the branch of `q0`. The base
    parameters are those of that branch, as `identify` counts them. The driven coordinates keep their limits at all times,
    the others at 32 H instants a period, with a hundredth to spare; `qd_max` and `qdd_max` keep the motion away from toggle
    positions.

    Parameters
    ----------
    mech : Mechanism
        With a fixed base and a joint without a quaternion. Its geometry counts, not its masses.
    duration : float
        The period, s.
    harmonics : int
        H: the fastest part of the motion has H / duration Hz.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinates, rad or m: those of the mechanism unless given. A joint that turns without limits
        stays within half a turn to either side.
    qd_max, qdd_max : float or (n,) array_like, optional
        Greatest velocities, rad/s or m/s, and accelerations.
    criterion : {"determinant", "condition"}
        What becomes small: -log det of the normal equations of the base regressor, which is the volume of uncertainty; or
        its condition number with columns scaled to length one, which does not ask how large their effects are.
    effort_std : float or (n,) array_like, optional
        Standard deviation of the measured efforts, by which the rows of each joint are divided; equal unless given.
    known : str or sequence of str
        Parameters that are not to be found, as in `identify`.
    at_rest : bool
        Whether the motion begins and ends at rest (speed and acceleration zero).
    allowed : callable, optional
        Takes coordinates (K, nq) and says for each whether the mechanism may be there (K,), as bool: the workspace. It
        is asked at 32 H instants a period.
    samples : int, optional
        Instants of the result, both ends included; 501 unless given. ``at`` gives any others, exactly.
    starts, steps : int
        From how many of 100 random motions the optimisation begins, and how many steps it takes at most from each.
    seed : int
        Of the random motions.
    driven : sequence of int or str, optional
        With loops, as many coordinates as there are degrees of freedom; by default those with motors.
    q0 : (nq,) array_like, optional
        With loops, the branch, and the middle of driven joints that turn without limits; see `Linkage`.

    Returns
    -------
    ExcitingTrajectory
        A trajectory whose `condition` is the condition number of the base regressor over the period, columns scaled;
        `random_condition` is that of the best of the random motions.

    Raises
    ------
    ArgumentError
        Where an argument does not fit; where no random motion tells all parameters apart, or none is allowed.

    Examples
    --------
    >>> from linkwise import robots
    >>> exciting_trajectory(robots.planar_2r(), 5.0, harmonics=3, qd_max=2.0, qdd_max=6.0, steps=30)
    <Trajectory: 501 instants from 0 to 5 s, 2 joints, condition number ..., at random ...>
    """
    mech.require_numbers("exciting_trajectory")
    if not mech.n:
        others = " but those with quaternions" if mech.manifold_joints else ""
        raise ArgumentError(f"{mech.name!r} has no joints{others}, and so nothing that could be excited")
    if mech.floating:
        raise ArgumentError(f"{mech.name!r} has a floating base, which no joint motion prescribes; expected a fixed base")
    choice("criterion", criterion, CRITERIA)
    period, instants = scalar("duration", duration), count(SAMPLES if samples is None else samples)
    at_rest = flag("at_rest", at_rest)
    for field, value, least in (("harmonics", harmonics, 2 if at_rest else 1), ("starts", starts, 1), ("steps", steps, 0)):
        whole(field, value, least)
    velocity, acceleration = _each(mech, "qd_max", qd_max, np.inf), _each(mech, "qdd_max", qdd_max, np.inf)
    scatter = _each(mech, "effort_std", effort_std, 1.0)
    refuse_driven(mech, driven, "exciting_trajectory")
    if q0 is not None and not mech.loops:
        raise ArgumentError(f"q0 is {shown(q0)}, but {mech.name!r} has no loops: expected no q0")
    rng = generator("seed", seed)
    held, closed, may, moving = mech, None, allowed, list(range(mech.n))
    if mech.loops:
        bounds = position_bounds(mech.q_min if q_min is None else q_min, mech.q_max if q_max is None else q_max, mech.n)
        closed = ClosedMotions.of(mech, driven, q0, np.stack([*bounds.T, velocity, acceleration]))
        moving, middle = closed.driven, closed.linkage.q0[mech.nq - mech.n :]
        low, high = _finite(mech, bounds, middle - np.pi, moving).T
    else:
        low, high = _limits(mech, q_min, q_max).T
        held = lock(mech, {at.name: at.joint.neutral for at in mech.manifold_joints}) if mech.manifold_joints else mech
        rest = mech.neutral[: mech.nq - mech.n], np.zeros(mech.nv - mech.n)
        may = None if allowed is None else lambda q: allowed(_beside(q, rest[0]))
    centre, half = 0.5 * (low + high)[moving], 0.5 * (high - low)[moving]
    family = FourierFamily(period, harmonics, centre, half, velocity[moving], acceleration[moving], at_rest)
    known_at = closed.sampled(rng, centre, half) if closed else None
    columns = unknowns(held, known, known_at).base.columns
    task = Excitation(held, columns, family, criterion, scatter[moving], may, closed)
    best, random_condition = _search(task, starts, steps, rng)
    series = family.series(best)

    def state(time: FloatArray) -> State:
        if closed:
            return task.closed_state(series, time)
        q, qd, qdd = series(time)
        return _beside(q, rest[0]), _beside(qd, rest[1]), _beside(qdd, rest[1])

    t = np.linspace(0.0, period, instants)
    return ExcitingTrajectory(
        t,
        *state(t),
        names=mech.names,
        is_length=mech.is_length,
        manifold_joints=mech.manifold_joints,
        evaluate=state,
        condition=task.condition(series),
        random_condition=random_condition,
    )


def _beside(values: FloatArray, rest: FloatArray) -> FloatArray:
    """Values (K, n) of the joint coordinates behind those of joints with quaternions, which rest."""
    return np.concatenate([np.broadcast_to(rest, (len(values), len(rest))), values], axis=1)


def _search(task: Excitation, starts: int, steps: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """The numbers of the best motion found, and the condition number of the best of the random ones."""
    drawn = [task.drawn(rng) for _ in range(CANDIDATES)]
    rated = [(task.rating(numbers), k) for k, numbers in enumerate(drawn)]
    best = sorted(pair for pair in rated if np.isfinite(pair[0]))
    if not best:
        reason = "tells the base parameters apart" + (" and stays where allowed() says so" if task.allowed else "")
        reason += ", closes the loops and keeps the limits of all joints" if task.closed else ""
        raise ArgumentError(f"none of {CANDIDATES} random motions {reason}; try more harmonics, wider limits or known=(...)")
    first = drawn[best[0][1]]
    ends = [descend(task.sloped, drawn[k].ravel(), steps).reshape(first.shape) for _, k in best[:starts]]
    if task.closed:
        ends = [_eased(task, end) for end in ends]
    return min([first, *ends], key=task.rating), task.condition(task.family.series(first))


def _eased(task: Excitation, numbers: FloatArray) -> FloatArray:
    """The numbers of a motion made smaller until all joints keep their limits."""
    for _ in range(EASINGS):
        if np.isfinite(task.rating(numbers)):
            break
        numbers = numbers.copy()
        numbers[:, -2] -= EASED
    return numbers


def _each(mech: Tree, field: str, value: Any, default: float) -> FloatArray:
    """A positive number for each joint (n,)."""
    return np.broadcast_to(np.asarray(default if value is None else positive(field, value, mech.n)), mech.n)


def _limits(mech: Tree, q_min: Any, q_max: Any) -> FloatArray:
    """Finite position limits (n, 2)."""
    bounds = position_bounds(mech.q_min if q_min is None else q_min, mech.q_max if q_max is None else q_max, mech.n)
    if not np.all(bounds[:, 0] < bounds[:, 1]):
        raise ArgumentError(f"q_min is {shown(bounds[:, 0])} and q_max {shown(bounds[:, 1])}; expected q_min < q_max")
    return _finite(mech, bounds, np.full(mech.n, -np.pi), range(mech.n))


def _finite(mech: Tree, bounds: FloatArray, least: FloatArray, moving: Iterable[int]) -> FloatArray:
    """The limits (n, 2) of the joints that move made finite: those that turn without any have a turn, from the least on."""
    open_ended = [mech.names[k] for k in moving if mech.is_length[k] and np.any(np.isinf(bounds[k]))]
    if open_ended:
        raise ArgumentError(f"no limits of sliding joints: {members(open_ended)}; expected finite q_min and q_max")
    low, high = bounds.T
    low = np.where(np.isinf(low), np.where(np.isinf(high), least, high - 2.0 * np.pi), low)
    return np.stack([low, np.where(np.isinf(high), low + 2.0 * np.pi, high)], axis=1)


def descend(
    function: Callable[[FloatArray], tuple[float, FloatArray]], x: FloatArray, steps: int, settled: float = 1e-5
) -> FloatArray:
    """Return where the least value is that is found from x (m,) on; stops when ten steps bring less than `settled`.

    BFGS with backtracking (J. Nocedal, S. J. Wright, *Numerical Optimization*, 2006, algorithm 6.1), which serves for
    functions with kinks too (A. S. Lewis, M. L. Overton, "Nonsmooth optimization via quasi-Newton methods", 2013).
    """
    value, slope = function(x)
    inverse = np.eye(x.size) / max(float(np.linalg.norm(slope)), 1e-300)
    past = [value]
    for _ in range(steps):
        direction = -inverse @ slope
        fall = float(slope @ direction)
        if not fall < 0:
            break
        for halved in range(HALVINGS):
            step = direction * 0.5**halved
            new_value, new_slope = function(x + step)
            if new_value <= value + ENOUGH * 0.5**halved * fall:
                break
        else:
            break
        change = new_slope - slope
        x, value, slope = x + step, new_value, new_slope
        inverse = _updated(inverse, step, change)
        past.append(value)
        if len(past) > 10 and past[-11] - value < settled:
            break
    return x


def _updated(inverse: FloatArray, step: FloatArray, change: FloatArray) -> FloatArray:
    """The BFGS update of the inverse of the second derivatives."""
    bend = float(step @ change)
    if bend <= 1e-12 * float(np.linalg.norm(step) * np.linalg.norm(change)):
        return inverse
    part = np.eye(step.size) - np.outer(step, change) / bend
    return np.asarray(part @ inverse @ part.T + np.outer(step, step) / bend)


@dataclass(frozen=True, eq=False)
class Excitation:
    """What is to become small.

    Attributes
    ----------
    tree : Tree
        With n joints.
    columns : ndarray (b,)
        Of the regressor: the base parameters' own.
    family : FourierFamily
        The motions.
    criterion : str
        One of `linkwise.identification.optimal_excitation.CRITERIA`.
    effort_std : ndarray (n,)
        What each joint's rows are divided by.
    allowed : callable or None
        Takes q (K, n), says whether the mechanism may be there (K,).
    closed : ClosedMotions or None
        With loops, how all coordinates follow those of the family.
    """

    tree: Tree
    columns: npt.NDArray[np.int64]
    family: FourierFamily
    criterion: str
    effort_std: FloatArray
    allowed: Callable[[FloatArray], Any] | None
    closed: ClosedMotions | None = None

    @property
    def joints(self) -> int:
        """How many joints move by series of their own."""
        return len(self.family.centre)

    @cached_property
    def times(self) -> FloatArray:
        """Even instants of one period (K,)."""
        count = max(RATE * self.family.harmonics, -(-2 * len(self.columns) // self.joints))
        return grid(self.family.period, count)

    @cached_property
    def smooth(self) -> npt.NDArray[np.bool_]:
        """Columns (b,) that change steadily: not those of Coulomb friction, which jump."""
        names = parameter_names(self.tree)
        return np.array([not symbol(names[c]).startswith("Tc") for c in self.columns])

    def drawn(self, rng: np.random.Generator) -> FloatArray:
        """Numbers (n, m + 2) of a random motion: one that fills its limits, or of any size where not all is allowed."""
        values = rng.normal(size=(self.joints, self.family.numbers))
        values[:, -2] = rng.uniform(-4.0, 4.0) if self.allowed or self.closed else 4.0
        values[:, -1] *= rng.uniform(0.0, 0.5) if self.closed else 0.5
        return values

    def rating(self, numbers: FloatArray) -> float:
        """The criterion of the exact motion of some numbers."""
        series = self.family.series(numbers)
        return criterion_loss(self._table(*series(self.times)), self.criterion)[0] if self._may(series) else np.inf

    def condition(self, series: FourierSeries) -> float:
        """Condition number with scaled columns of a motion."""
        return condition_numbers(self._table(*series(self.times)))[0]

    def sloped(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """The criterion of the smooth motion of some numbers, in a row, and its slope by them."""
        numbers = flat.reshape(self.joints, -1)
        series = self.family.series(numbers, SHARP)
        state = series(self.times)
        table = self._table(*state)
        value, slope = criterion_loss(table, self.criterion)
        if not np.isfinite(value) or not self._may(series):
            return np.inf, np.zeros_like(flat)
        if self.closed:
            motion = self.closed.assembled(*state)
            value += WALL * float(self.closed.wall(motion).sum()) if motion else np.inf
        if not np.isfinite(value):
            return np.inf, np.zeros_like(flat)
        by_state = self._pulled(state, table, slope * self.smooth)
        parts = basis(self.times, self.family.period, self.family.harmonics)
        by_coefficients = np.einsum("kti,ktm->im", by_state, parts)
        return value, self.family.pull_back(numbers, by_state[0].sum(axis=0), by_coefficients).ravel()

    def _may(self, series: FourierSeries) -> bool:
        """Whether a motion stays where it may."""
        if self.allowed is None and self.closed is None:
            return True
        count = GRID * self.family.harmonics
        state = series(grid(self.family.period, count))
        if self.closed:
            motion = self.closed.assembled(*state)
            if motion is None or not self.closed.within(motion):
                return False
            state = motion
        if self.allowed is None:
            return True
        q = state[0]
        answer = np.asarray(self.allowed(q))
        if answer.shape != (count,) or answer.dtype != bool:
            raise ArgumentError(
                f"allowed returned {answer.dtype} of the shape {answer.shape} for q {q.shape}; expected bool ({count},)"
            )
        return bool(answer.all())

    def closed_state(self, series: FourierSeries, time: FloatArray) -> State:
        """The motion (K, nq), (K, nv), (K, nv) of a mechanism with loops, each from the instant of a grid before it."""
        assert self.closed is not None
        count = GRID * self.family.harmonics
        path = self.closed.linkage.trace(series(grid(self.family.period, count))[0]).q
        at = np.floor(np.mod(time, self.family.period) / self.family.period * count).astype(np.intp) % count
        motion = self.closed.assembled(*series(time), path[at])
        if motion is None:
            raise LinkwiseError(f"the loops of {self.tree.name!r} do not close on the way found; expected narrower limits")
        return motion

    def _table(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Weighted rows (..., K n, b) of the base regressor; NaN where loops do not close."""
        if self.closed is None:
            return self._weighted(kernel_of(self.tree, "regressor", None, {})(q, qd, qdd))
        motion = self.closed.assembled(q, qd, qdd)
        return self._weighted(self.closed.rows(motion)) if motion else np.full((q.size, len(self.columns)), np.nan)

    def _weighted(self, regressor: FloatArray) -> FloatArray:
        rows = regressor[..., self.columns] / self.effort_std[:, None]
        return np.asarray(rows.reshape(*rows.shape[:-3], -1, rows.shape[-1]))

    def _pulled(self, state: tuple[FloatArray, ...], table: FloatArray, slope: FloatArray) -> FloatArray:
        """The slope (3, K, n) by q, qd and qdd at the instants, from that by the table; with loops, of the wall too."""
        slopes = np.zeros((3, *state[0].shape))
        motion = self.closed.assembled(*state) if self.closed else None
        for k in range(3):
            for i in range(self.joints):
                shifted = list(state)
                shifted[k] = state[k].copy()
                shifted[k][:, i] += STEP
                if self.closed and motion:
                    aside = self.closed.assembled(shifted[0], shifted[1], shifted[2], motion[0])
                    if aside is None:
                        continue
                    slopes[k, :, i] = WALL * (self.closed.wall(aside) - self.closed.wall(motion)) / STEP
                    rows = self._weighted(self.closed.rows(aside))
                else:
                    rows = self._table(*shifted)
                slopes[k, :, i] += ((rows - table) * slope).reshape(len(self.times), -1).sum(axis=1) / STEP
        return slopes
