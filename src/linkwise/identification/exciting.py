"""The motion from which parameters are found best: a finite Fourier series, optimised within the limits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, members, shown
from linkwise.identification.criterion import CRITERIA
from linkwise.identification.descent import descend
from linkwise.identification.excitation import Excitation
from linkwise.identification.exciting_trajectory import ExcitingTrajectory
from linkwise.identification.family import Family
from linkwise.identification.unknowns import unknowns
from linkwise.mechanism import Mechanism
from linkwise.spatial.numbers import generator, numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.checks import count, flag, positive, scalar

CANDIDATES = 100
"""Random motions from which the best are taken."""

SAMPLES = 501
"""Instants of the result unless it is said."""


def exciting_trajectory(
    mech: Mechanism,
    duration: float,
    harmonics: int = 5,
    *,
    limits: npt.ArrayLike | None = None,
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    criterion: str = "determinant",
    effort_std: npt.ArrayLike | None = None,
    known: str | Iterable[str] = (),
    rest: bool = True,
    allowed: Callable[[FloatArray], Any] | None = None,
    samples: int | None = None,
    starts: int = 2,
    steps: int = 100,
    seed: int = 0,
) -> ExcitingTrajectory:
    """Find a periodic motion within limits from which the base parameters are found best.

    Joints move by finite Fourier series (J. Swevers et al., "Optimal robot excitation and identification", IEEE Trans.
    Robotics and Automation 13(5), 1997). Limits hold at all times, not only at the samples. The same seed gives the same
    motion on the same machine.

    Parameters
    ----------
    mech : Mechanism
        With a fixed base. Its geometry counts, not its masses.
    duration : float
        The period, s.
    harmonics : int
        H: the fastest part of the motion has H / duration Hz.
    limits : (n, 2) array_like, optional
        Least and greatest coordinates, rad or m: ``mech.limits`` unless given. A joint that turns without limits stays
        within half a turn to either side.
    speed, acceleration : float or (n,) array_like, optional
        Greatest speed, rad/s or m/s, and acceleration.
    criterion : {"determinant", "condition"}
        What becomes small: -log det of the normal equations of the base regressor, which is the volume of uncertainty; or
        its condition number with columns scaled to length one, which does not ask how large their effects are.
    effort_std : float or (nv,) array_like, optional
        Standard deviation of the measured efforts, by which the rows of each joint are divided; equal unless given.
    known : str or sequence of str
        Parameters that are not to be found, as in `identify`.
    rest : bool
        Whether the motion begins and ends at rest (speed and acceleration zero).
    allowed : callable, optional
        Takes coordinates (K, n) and says for each whether the mechanism may be there (K,), as bool: the workspace. It
        is asked at 32 H instants a period.
    samples : int, optional
        Instants of the result, both ends included; 501 unless given. ``at`` gives any others, exactly.
    starts, steps : int
        From how many of 100 random motions the optimisation begins, and how many steps it takes at most from each.
    seed : int
        Of the random motions.

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
    >>> exciting_trajectory(robots.planar_2r(), 5.0, harmonics=3, speed=2.0, acceleration=6.0, steps=30)
    <Trajectory: 501 instants from 0 to 5 s, 2 joints, condition number ..., at random ...>
    """
    mech.require_numbers("exciting_trajectory")
    if not mech.n:
        raise ArgumentError(f"{mech.name!r} has no joints, and so nothing that could be excited")
    if mech.floating:
        raise ArgumentError(f"{mech.name!r} has a floating base, which no joint motion prescribes; expected a fixed base")
    if criterion not in CRITERIA:
        raise ArgumentError(f"criterion is {criterion!r}; expected {choices(CRITERIA)}")
    period, instants = scalar("duration", duration), count(SAMPLES if samples is None else samples)
    rest = flag("rest", rest)
    _whole(harmonics=(harmonics, 2 if rest else 1), starts=(starts, 1), steps=(steps, 0))
    low, high = _limits(mech, limits).T
    fastest, hardest = _each(mech, "speed", speed, np.inf), _each(mech, "acceleration", acceleration, np.inf)
    scatter = _each(mech, "effort_std", effort_std, 1.0)
    family = Family(period, harmonics, 0.5 * (low + high), 0.5 * (high - low), fastest, hardest, rest)
    task = Excitation(mech, unknowns(mech, known).base.columns, family, criterion, scatter, allowed)
    found, before = _searched(task, starts, steps, generator("seed", seed))
    series = family.series(found)
    t = np.linspace(0.0, period, instants)
    return ExcitingTrajectory(
        t,
        *series(t),
        names=mech.names,
        slides=mech.slides,
        evaluate=series,
        condition=task.condition(series),
        random_condition=before,
    )


def _searched(task: Excitation, starts: int, steps: int, rng: np.random.Generator) -> tuple[FloatArray, float]:
    """The numbers of the best motion found, and the condition number of the best of the random ones."""
    drawn = [task.drawn(rng) for _ in range(CANDIDATES)]
    rated = [(task.rating(numbers), k) for k, numbers in enumerate(drawn)]
    best = sorted(pair for pair in rated if np.isfinite(pair[0]))
    if not best:
        reason = "tells the base parameters apart" + (" and stays where allowed() says so" if task.allowed else "")
        raise ArgumentError(f"none of {CANDIDATES} random motions {reason}; try more harmonics, wider limits or known=(...)")
    first = drawn[best[0][1]]
    ends = [descend(task.sloped, drawn[k].ravel(), steps).reshape(first.shape) for _, k in best[:starts]]
    found = min([first, *ends], key=task.rating)
    return found, task.condition(task.family.series(first))


def _each(mech: Mechanism, field: str, value: Any, default: float) -> FloatArray:
    """A positive number for each joint (n,)."""
    given = np.asarray(default if value is None else positive(field, value, mech.n), dtype=np.float64)
    return np.broadcast_to(given, mech.n)


def _whole(**given: tuple[Any, int]) -> None:
    for field, (value, least) in given.items():
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ArgumentError(f"{field} is {value!r}; expected a whole number from {least}")


def _limits(mech: Mechanism, limits: Any) -> FloatArray:
    """Finite position limits (n, 2)."""
    expected = f"({mech.n}, 2): least and greatest of each joint"
    made = numbers("limits", mech.limits if limits is None else limits, expected, finite=False)
    if made.shape != (mech.n, 2) or not np.all(made[:, 0] < made[:, 1]):
        raise ArgumentError(f"limits is {shown(limits)}; expected {expected}")
    each = zip(mech.names, mech.slides, made, strict=True)
    open_ended = [name for name, slides, row in each if slides and np.any(np.isinf(row))]
    if open_ended:
        raise ArgumentError(f"no limits of sliding joints: {members(open_ended)}; expected limits=(n, 2), finite for them")
    low, high = made.T
    low = np.where(np.isinf(low), np.where(np.isinf(high), -np.pi, high - 2.0 * np.pi), low)
    return np.stack([low, np.where(np.isinf(high), low + 2.0 * np.pi, high)], axis=1)
