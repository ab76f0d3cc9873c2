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
from linkwise.dynamics.closed_loops.nullspace import refuse_driven
from linkwise.errors import ArgumentError, LinkwiseError, members, shown
from linkwise.identification.closed_motions import ClosedMotions
from linkwise.identification.condition import condition_numbers, criterion_loss
from linkwise.identification.fourier import (
    GRID,
    SHARP,
    FourierFamily,
    FourierSeries,
    basis,
    exponential_limits,
    exponential_motion,
    grid,
)
from linkwise.identification.parameters import symbol, unknowns
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, flag, generator, whole
from linkwise.trajectory.motion import State
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.validation import count, per_joint, position_bounds, scalar

CRITERIA = ("determinant", "condition")

#: Random motions of which the best are refined.
CANDIDATES = 100

#: Default number of instants of the result.
SAMPLES = 501


#: Required share of the predicted descent of a step, and greatest number of halvings.
ENOUGH, HALVINGS = 1e-4, 20

#: Samples of the regressor for each harmonic.
RATE = 20

#: Weight of `ClosedMotions.wall` relative to the criterion; and reduction of a motion that satisfies the smooth limits until
#: it satisfies the exact ones, with its greatest number of repetitions.
WALL, EASED, EASINGS = 1e-3, 0.1, 30

#: Step of the regressor's finite differences, whose error of 1e-6 has no effect on an optimisation.
STEP = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ExcitingTrajectory(Trajectory):
    """A `Trajectory` with its condition number for the base parameters.

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

    Ball joints, and bodies and bases that float, move by Fourier series of the rotation vector from their neutral
    coordinates, within their cones, or half a turn without any; of what floats the position does, within 1 m along each of
    the parent's axes. What cannot be moved like that is to be locked (`Mechanism.lock`), for `identify` too.

    With closed loops the driven coordinates move by Fourier series and the others follow, on the branch of `q0`. The base
    parameters are those of that branch, as `identify` counts them. The driven coordinates keep their limits at all times,
    the others at 32 H instants a period, with a hundredth to spare, and cones there; `qd_max` and `qdd_max` keep the
    motion away from toggle positions.

    Parameters
    ----------
    mech : Mechanism
        Its geometry counts, not its masses.
    duration : float
        The period, s.
    harmonics : int
        H: the fastest part of the motion has H / duration Hz.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinates, rad or m: those of the mechanism unless given. A joint that turns without limits
        stays within half a turn to either side.
    qd_max, qdd_max : float or (nv,) array_like, optional
        Greatest velocities, rad/s or m/s, and accelerations; of a joint with a quaternion the least limit of its angular
        components holds for the size of the vector, and so for its linear ones.
    criterion : {"determinant", "condition"}
        What becomes small: -log det of the normal equations of the base regressor, which is the volume of uncertainty; or
        its condition number with columns scaled to length one, which does not ask how large their effects are.
    effort_std : float or (nv,) array_like, optional
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
        Seed of the random motions.
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
    require_numeric_tree(mech, "exciting_trajectory")
    if not mech.nv:
        raise ArgumentError(f"{mech.name!r} has no joints: there is no motion to optimise")
    choice("criterion", criterion, CRITERIA)
    period, instants = scalar("duration", duration), count(SAMPLES if samples is None else samples)
    at_rest = flag("at_rest", at_rest)
    for field, value, least in (("harmonics", harmonics, 2 if at_rest else 1), ("starts", starts, 1), ("steps", steps, 0)):
        whole(field, value, least)
    most = np.stack([_each(mech, "qd_max", qd_max, np.inf), _each(mech, "qdd_max", qdd_max, np.inf)])
    scatter = _each(mech, "effort_std", effort_std, 1.0)
    refuse_driven(mech, driven, "exciting_trajectory")
    if q0 is not None and not mech.loops:
        raise ArgumentError(f"q0 is {shown(q0)}, but {mech.name!r} has no loops: expected no q0")
    if allowed is not None and not callable(allowed):
        raise ArgumentError(f"allowed is {shown(allowed)}; expected a function of coordinates (K, nq), or None")
    rng = generator("seed", seed)
    bounds = position_bounds(mech.q_min if q_min is None else q_min, mech.q_max if q_max is None else q_max, mech.n)
    closed = ClosedMotions.of(mech, driven, q0, bounds, most) if mech.loops else None
    centre, half, most = _closed_limits(closed, bounds, most) if closed else _open_limits(mech, bounds, most)
    family = FourierFamily(period, harmonics, centre, half, most[0], most[1], at_rest)
    columns = unknowns(mech, known, closed.sampled(rng, centre, half) if closed else None).base.columns
    weights = scatter[closed.speeds] if closed else scatter
    task = Excitation(mech, columns, family, criterion, weights, allowed, closed)
    best, random_condition = _search(task, starts, steps, rng)
    series = family.series(best)

    def state(time: FloatArray) -> State:
        return task.closed_state(series, time) if closed else exponential_motion(mech, *series(time))

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


def _open_limits(mech: Tree, bounds: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Middle and half range (nv,) of the exponential coordinates, and limits of their first and second rates (2, nv)."""
    if not np.all(bounds[:, 0] < bounds[:, 1]):
        raise ArgumentError(f"q_min is {shown(bounds[:, 0])} and q_max {shown(bounds[:, 1])}; expected q_min < q_max")
    low, high = _finite(mech, bounds, np.full(mech.n, -np.pi), range(mech.n)).T
    half, *turning = exponential_limits(mech, *most)
    half = np.concatenate([half, 0.5 * (high - low)])
    centre = np.concatenate([np.zeros(mech.nv - mech.n), 0.5 * (low + high)])
    return centre, half, np.concatenate([turning, most[:, mech.nv - mech.n :]], axis=1)


def _closed_limits(closed: ClosedMotions, bounds: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Middle and half range (m,) of the driven coordinates, and their velocity and acceleration limits (2, m)."""
    mech = closed.linkage.mechanism
    middle = closed.linkage.q0[mech.nq - mech.n :]
    low, high = _finite(mech, bounds, middle - np.pi, closed.driven)[closed.driven].T
    return 0.5 * (low + high), 0.5 * (high - low), most[:, closed.speeds]


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
    """Parameters of a motion reduced until all joints keep their limits."""
    for _ in range(EASINGS):
        if np.isfinite(task.rating(numbers)):
            break
        numbers = numbers.copy()
        numbers[:, -2] -= EASED
    return numbers


def _each(mech: Tree, field: str, value: Any, default: float) -> FloatArray:
    """A positive number for each velocity (nv,)."""
    return np.full(mech.nv, default) if value is None else per_joint(field, value, mech.nv)


def _finite(mech: Tree, bounds: FloatArray, least: FloatArray, moving: Iterable[int]) -> FloatArray:
    """Finite limits (n, 2) of the moving joints: unlimited rotation is restricted to a full turn from the least on."""
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
    """Objective of the optimization.

    Attributes
    ----------
    tree : Tree
        Of which n coordinates move by series: the exponential ones (nv,), or with loops the driven ones.
    columns : ndarray (b,)
        Columns of the regressor: the base parameters' own.
    family : FourierFamily
        The motions.
    criterion : str
        One of `linkwise.identification.optimal_excitation.CRITERIA`.
    effort_std : ndarray (n,)
        What the rows of each effort are divided by.
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
        """Number of coordinates that move by an independent series."""
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
        """True if a motion is feasible."""
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
        q = state[0] if self.closed else exponential_motion(self.tree, *state)[0]
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
            raise LinkwiseError(f"the loops of {self.tree.name!r} do not close along the motion; expected narrower limits")
        return motion

    def _table(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """Weighted rows (..., K n, b) of the base regressor; NaN where loops do not close."""
        if self.closed is None:
            return self._weighted(kernel_of(self.tree, "regressor", None, {})(*exponential_motion(self.tree, q, qd, qdd)))
        motion = self.closed.assembled(q, qd, qdd)
        return self._weighted(self.closed.rows(motion)) if motion else np.full((q.size, len(self.columns)), np.nan)

    def _weighted(self, regressor: FloatArray) -> FloatArray:
        rows = regressor[..., self.columns] / self.effort_std[:, None]
        return np.asarray(rows.reshape(*rows.shape[:-3], -1, rows.shape[-1]))

    def _pulled(self, state: tuple[FloatArray, ...], table: FloatArray, slope: FloatArray) -> FloatArray:
        """The slope (3, K, n) by coordinates and rates at the instants from that by the table, with loops by the wall."""
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
