"""A motion through way-points: splines, or straight lines with blends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.blends import blended, linear_with_blends
from linkwise.trajectory.checks import instants, positive
from linkwise.trajectory.extremes import peaks
from linkwise.trajectory.hermite import Hermite
from linkwise.trajectory.parabolas import Parabolas
from linkwise.trajectory.planned import instants_of, planned
from linkwise.trajectory.splines import Ends, cubic_nodes, quintic_nodes
from linkwise.trajectory.trajectory import Trajectory

KINDS = ("quintic", "cubic", "trapezoidal")


def through(
    points: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    *,
    kind: str = "quintic",
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
    qdd0: npt.ArrayLike = 0.0,
    qdd1: npt.ArrayLike = 0.0,
    limits: npt.ArrayLike | None = None,
    names: Sequence[str] = (),
) -> Trajectory:
    """Move through way-points, at given times or as fast as limits of speed and acceleration allow.

    | kind | between the points | continuous |
    |---|---|---|
    | ``"quintic"`` | polynomials of degree five, the least jerk on average | up to the derivative of the jerk |
    | ``"cubic"`` | polynomials of degree three, the least acceleration on average | up to the acceleration |
    | ``"trapezoidal"`` | straight lines, blended by parabolas | up to the speed |

    The splines pass through every point. The straight lines with blends (J. J. Craig, *Introduction to Robotics*, 3rd
    edition, 2005, section 7.3) pass through the first and the last only: at an inner point they cut the corner, by an
    eighth of the change of speed times the time of the blend. To go through a point, give it twice, at two times, and the
    motion stands there in between; or give two pseudo way-points on a line through it, one before and one after.

    Parameters
    ----------
    points : (..., K, n) array_like
        Way-points, the first and the last included, K >= 2.
    times : (K,) array_like, optional
        When each is due, s, ascending. A batch shares them.
    kind : {"quintic", "cubic", "trapezoidal"}
        What joins the points.
    speed : float or (n,) array_like, optional
        Instead of times: greatest speeds. The legs then take times in proportion to what each would at this speed, and all
        is stretched by one factor until both limits hold, one of them just so.
    acceleration : float or (n,) array_like, optional
        Greatest accelerations, to go with speed; with times and ``"trapezoidal"``, the acceleration of the blends.
    t : (T,) array_like, optional
        Instants within times; unless given, so many from the first to the last as samples says, or 101, or where there are
        more way-points the times of these.
    samples : int, optional
        How many instants, instead of t.
    qd0, qd1, qdd0, qdd1 : (..., n) array_like
        Speeds, and of a quintic accelerations, at the first and last point; rest unless given.
    limits : (n, 2) array_like, optional
        Least and greatest coordinate of each joint that no instant may leave.
    names : sequence of str
        Of the joints, for messages and pictures.

    Returns
    -------
    Trajectory

    Raises
    ------
    ArgumentError
        Where shapes or times do not fit, blends find no room, or a joint leaves its limits.

    Examples
    --------
    >>> through([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0], kind="cubic").at(1.0)[0].tolist()
    [1.0]
    >>> corner = through([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0], kind="trapezoidal", acceleration=8.0)
    >>> corner.at(1.0)[0].round(3).tolist()  # short by an eighth of 0.268 s times a change of speed of 2.14
    [0.928]
    >>> through([[0.0], [1.0], [3.0]], speed=1.0, acceleration=4.0)
    <Trajectory: 101 instants from 0 to 5.93102 s, 1 joint>
    """
    if kind not in KINDS:
        raise ArgumentError(f"kind is {kind!r}; expected {choices(KINDS)}")
    way = numbers("points", points, "finite way-points (..., K, n), K >= 2")
    if way.ndim < 2 or way.shape[-2] < 2 or not way.shape[-1]:
        raise ArgumentError(f"points has the shape {way.shape}; expected way-points (..., K, n), K >= 2")
    ends = _ends(way, kind, qd0=qd0, qd1=qd1, qdd0=qdd0, qdd1=qdd1)
    fastest, hardest = _bounds(way.shape[-1], times, kind, speed, acceleration)
    if times is None:
        if any(np.any(value) for value in ends):
            raise ArgumentError("with speed and acceleration instead of times, the motion begins and ends at rest")
        evaluate, due = _as_fast(way, kind, fastest, hardest)
    else:
        due = instants(times, "times", least=2)
        if due.size != way.shape[-2]:
            raise ArgumentError(f"there are {due.size} times for {way.shape[-2]} way-points")
        evaluate = blended(due, way, hardest, names) if kind == "trapezoidal" else _spline(due, way, kind, ends)
    return planned(instants_of(due, t, samples), evaluate, limits, names)


def _spline(t: FloatArray, q: FloatArray, kind: str, ends: Sequence[FloatArray]) -> Hermite:
    speeds: Ends = (ends[0], ends[1])
    v, a = cubic_nodes(t, q, speeds) if kind == "cubic" else quintic_nodes(t, q, speeds, (ends[2], ends[3]))
    return Hermite(t, q, v, a)


def _as_fast(
    q: FloatArray, kind: str, speed: FloatArray, acceleration: FloatArray
) -> tuple[Hermite | Parabolas, FloatArray]:
    """The motion, and the times of its points, at which one limit is just reached."""
    share = np.abs(np.diff(q, axis=-2)) / speed
    legs = np.max(share, axis=tuple(k for k in range(share.ndim) if k != share.ndim - 2))
    if not np.all(legs > 0):
        k = int(np.argmin(legs > 0))
        raise ArgumentError(f"points {k} and {k + 1} are the same; give times, to say how long to stay there")
    due = np.concatenate(([0.0], np.cumsum(legs)))
    if kind == "trapezoidal":
        return _as_fast_blended(due, q, speed, acceleration)
    rest = [np.zeros(())] * 4
    fast, hard = peaks(_spline(due, q, kind, rest))
    due = due * max(float(np.max(fast / speed)), float(np.max(np.sqrt(hard / acceleration))))
    return _spline(due, q, kind, rest), due


def _as_fast_blended(t: FloatArray, q: FloatArray, speed: FloatArray, a: FloatArray) -> tuple[Parabolas, FloatArray]:
    """The least factor of the times at which the blends fit and no line is too fast, found by halving; and the motion."""

    def fits(factor: float) -> Parabolas | None:
        made = linear_with_blends(t * factor, q, a)
        return made if made and np.all(np.max(np.abs(made.qd), axis=-1) <= speed) else None

    low, high = 0.0, 1.0
    while fits(high) is None:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    made = fits(high)
    assert made is not None
    return made, t * high


def _bounds(n: int, times: Any, kind: str, speed: Any, acceleration: Any) -> tuple[FloatArray, FloatArray]:
    """Greatest speed and acceleration, checked; infinite where they are not used."""
    needed = {"speed": times is None, "acceleration": times is None or kind == "trapezoidal"}
    found = []
    for field, value in (("speed", speed), ("acceleration", acceleration)):
        if needed[field] and value is None:
            raise ArgumentError(
                "give times, or speed and acceleration"
                if times is None
                else "a trapezoidal motion at given times needs acceleration"
            )
        if not needed[field] and value is not None:
            raise ArgumentError(f"{field} is not used by a {kind} motion at given times; leave out one of the two")
        found.append(np.broadcast_to(positive(field, value, n), (n,)) if needed[field] else np.full(n, np.inf))
    return found[0], found[1]


def _ends(q: FloatArray, kind: str, **values: Any) -> list[FloatArray]:
    """End speeds and accelerations (..., n), those that the kind allows."""
    allowed = {"quintic": ("qd0", "qd1", "qdd0", "qdd1"), "cubic": ("qd0", "qd1"), "trapezoidal": ()}[kind]
    shape = (*q.shape[:-2], q.shape[-1])
    found = []
    for field, value in values.items():
        made = numbers(field, value, "finite numbers (..., n), or one for all joints")
        if field not in allowed and np.any(made):
            raise ArgumentError(f"{field} is {shown(value)}; a {kind} motion cannot be given that")
        try:
            found.append(np.broadcast_to(made, shape))
        except ValueError as error:
            raise ArgumentError(f"{field} has the shape {made.shape}; expected {shape}") from error
    return found
