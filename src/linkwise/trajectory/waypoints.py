"""A motion through way-points: splines, or straight lines with blends."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.polynomial.polynomial import polyder, polyval

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.trajectory import Trajectory, planned
from linkwise.trajectory.validation import instants, instants_of, per_joint

KINDS = ("quintic", "cubic", "trapezoidal")


def through(
    points: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    *,
    kind: str = "quintic",
    qd_max: npt.ArrayLike | None = None,
    qdd_max: npt.ArrayLike | None = None,
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
    qdd0: npt.ArrayLike = 0.0,
    qdd1: npt.ArrayLike = 0.0,
    q_min: npt.ArrayLike | None = None,
    q_max: npt.ArrayLike | None = None,
    names: Sequence[str] = (),
) -> Trajectory:
    """Move through way-points, at given times or as fast as velocity and acceleration limits permit.

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
    qd_max : float or (n,) array_like, optional
        Instead of times: greatest velocities. The legs then take times in proportion to what each would at this speed, and
        all is stretched by one factor until both limits hold, one of them just so.
    qdd_max : float or (n,) array_like, optional
        Greatest accelerations, to go with qd_max; with times and ``"trapezoidal"``, the acceleration of the blends.
    t : (T,) array_like, optional
        Instants within times; unless given, so many from the first to the last as samples says, or 101, or where there are
        more way-points the times of these.
    samples : int, optional
        Number of instants, in the place of t.
    qd0, qd1, qdd0, qdd1 : (..., n) array_like
        Speeds, and of a quintic accelerations, at the first and last point; rest unless given.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinate of each joint, such as ``mech.q_min`` and ``mech.q_max``, that no instant may leave.
    names : sequence of str
        Names of the joints, for messages and pictures.

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
    >>> corner = through([[0.0], [1.0], [0.0]], [0.0, 1.0, 2.0], kind="trapezoidal", qdd_max=8.0)
    >>> corner.at(1.0)[0].round(3).tolist()  # short by an eighth of 0.268 s times a change of speed of 2.14
    [0.928]
    >>> through([[0.0], [1.0], [3.0]], qd_max=1.0, qdd_max=4.0)
    <Trajectory: 101 instants from 0 to 5.93102 s, 1 joint>
    """
    choice("kind", kind, KINDS)
    q = numbers("points", points, "finite way-points (..., K, n), K >= 2")
    if q.ndim < 2 or q.shape[-2] < 2 or not q.shape[-1]:
        raise ArgumentError(f"points has the shape {q.shape}; expected way-points (..., K, n), K >= 2")
    ends = _ends(q, kind, qd0=qd0, qd1=qd1, qdd0=qdd0, qdd1=qdd1)
    velocity, acceleration = _bounds(q.shape[-1], times, kind, qd_max, qdd_max)
    if times is None:
        if any(np.any(value) for value in ends):
            raise ArgumentError("with qd_max and qdd_max instead of times, the motion begins and ends at rest")
        evaluate, due = _as_fast(q, kind, velocity, acceleration)
    else:
        due = instants(times, "times", least=2)
        if due.size != q.shape[-2]:
            raise ArgumentError(f"there are {due.size} times for {q.shape[-2]} way-points")
        evaluate = blended(due, q, acceleration, names) if kind == "trapezoidal" else _spline(due, q, kind, ends)
    return planned(instants_of(due, t, samples), evaluate, (q_min, q_max), names)


def _spline(t: FloatArray, q: FloatArray, kind: str, ends: Sequence[FloatArray]) -> PiecewisePolynomial:
    if kind == "quintic":
        nodes = spline_nodes(t, q, ends)
        return PiecewisePolynomial(t, q, nodes[..., 1, :], nodes[..., 2, :])
    v, h = spline_nodes(t, q, ends[:2])[..., 1, :], np.diff(t)[:, None]
    slope = 6.0 * np.diff(q, axis=-2) / h
    a = np.empty_like(v)
    a[..., :-1, :] = (slope - 4.0 * v[..., :-1, :] - 2.0 * v[..., 1:, :]) / h
    a[..., -1, :] = (2.0 * v[..., -2, :] + 4.0 * v[..., -1, :] - slope[..., -1, :]) / h[-1]
    return PiecewisePolynomial(t, q, v, a)


def _as_fast(
    q: FloatArray, kind: str, speed: FloatArray, acceleration: FloatArray
) -> tuple[PiecewisePolynomial, FloatArray]:
    """The motion, and the times of its points, at which one limit is just reached."""
    share = np.abs(np.diff(q, axis=-2)) / speed
    legs = np.max(share, axis=tuple(k for k in range(share.ndim) if k != share.ndim - 2))
    if not np.all(legs > 0):
        k = int(np.argmin(legs > 0))
        raise ArgumentError(f"points {k} and {k + 1} are the same; give times, to say how long to stay there")
    due = np.concatenate(([0.0], np.cumsum(legs)))
    if kind == "trapezoidal":
        return _as_fast_blended(due, q, speed, acceleration)
    standing = [np.zeros(q.shape[-1])] * 4
    qd_peak, qdd_peak = _spline(due, q, kind, standing).peaks()
    due = due * max(float(np.max(qd_peak / speed)), float(np.max(np.sqrt(qdd_peak / acceleration))))
    return _spline(due, q, kind, standing), due


def _as_fast_blended(
    t: FloatArray, q: FloatArray, speed: FloatArray, a: FloatArray
) -> tuple[PiecewisePolynomial, FloatArray]:
    """The least factor of the times at which the blends fit and no line is too fast, found by halving; and the motion."""

    def fits(factor: float) -> PiecewisePolynomial | None:
        motion = linear_with_blends(t * factor, q, a)
        return motion if motion and np.all(np.max(np.abs(motion.qd), axis=-2) <= speed) else None

    low, high = 0.0, 1.0
    while fits(high) is None:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if fits(middle) else (middle, high)
    motion = fits(high)
    assert motion is not None
    return motion, t * high


def _bounds(n: int, times: Any, kind: str, qd_max: Any, qdd_max: Any) -> tuple[FloatArray, FloatArray]:
    """Greatest velocities and accelerations, checked; infinite where they are not used."""
    needed = {"qd_max": times is None, "qdd_max": times is None or kind == "trapezoidal"}
    bounds = []
    for field, value in (("qd_max", qd_max), ("qdd_max", qdd_max)):
        if needed[field] and value is None:
            raise ArgumentError(
                "give times, or qd_max and qdd_max" if times is None else "a trapezoidal motion at given times needs qdd_max"
            )
        if not needed[field] and value is not None:
            raise ArgumentError(f"{field} is not used by a {kind} motion at given times; leave out one of the two")
        bounds.append(per_joint(field, value, n) if needed[field] else np.full(n, np.inf))
    return bounds[0], bounds[1]


def _ends(q: FloatArray, kind: str, **values: Any) -> list[FloatArray]:
    """End velocities and accelerations (..., n), those that the kind allows."""
    allowed = {"quintic": ("qd0", "qd1", "qdd0", "qdd1"), "cubic": ("qd0", "qd1"), "trapezoidal": ()}[kind]
    shape = (*q.shape[:-2], q.shape[-1])
    checked = []
    for field, value in values.items():
        array = numbers(field, value, "finite numbers (..., n), or one for all joints")
        if field not in allowed and np.any(array):
            raise ArgumentError(f"{field} is {shown(value)}; a {kind} motion cannot be given that")
        try:
            checked.append(np.broadcast_to(array, shape))
        except ValueError as error:
            raise ArgumentError(f"{field} has the shape {array.shape}; expected {shape}") from error
    return checked


def spline_nodes(t: FloatArray, q: FloatArray, ends: Sequence[FloatArray]) -> FloatArray:
    """Return position and derivatives (..., K, m, n) at the knots of the spline of degree 2 m - 1 with given ends.

    At the inner points derivatives m to 2 m - 2 are continuous too (C. de Boor, *A Practical Guide to Splines*, 1978,
    chapter IV, eq. 5, for m = 2). Of all motions through the points with these ends it has the least integral of the squared
    derivative m (I. J. Schoenberg, "Spline interpolation and the higher derivatives", Proc. Nat. Acad. Sci. 51, 1964).

    Parameters
    ----------
    t : ndarray (K,)
        Times of the points.
    q : ndarray (..., K, n)
        The points.
    ends : sequence of ndarray (..., n)
        First and last value of each derivative 1 to m - 1.
    """
    m, h = 1 + len(ends) // 2, np.diff(t)
    nodes = np.zeros((*q.shape[:-1], m, q.shape[-1]))
    nodes[..., 0, :] = q
    nodes[..., 0, 1:, :], nodes[..., -1, 1:, :] = np.stack(ends[::2], axis=-2), np.stack(ends[1::2], axis=-2)
    if len(t) > 2:
        powers = np.tile(h[:, None] ** np.arange(m), 2)[:, None, :] / h[:, None, None] ** np.arange(m, 2 * m - 1)[:, None]
        at_begin, at_end = (powers * derivatives for derivatives in _end_derivatives(m))
        before, here, after = at_end[:-1, :, :m], at_end[:-1, :, m:] - at_begin[1:, :, :m], -at_begin[1:, :, m:]
        inner = nodes[..., 1:-1, :, :]  # all derivatives of which are zero yet
        jumps = before @ (nodes[..., :-2, :, :] - inner) + after @ (nodes[..., 2:, :, :] - inner)
        inner[..., 1:, :] = block_tridiagonal(before[..., 1:], here[..., 1:], after[..., 1:], -jumps)
    return nodes


@cache
def _end_derivatives(m: int) -> FloatArray:
    """Derivatives m to 2 m - 2 at both ends of a polynomial on [0, 1] by its first m there: (2, m - 1, 2 m)."""
    powers = np.eye(2 * m)
    derivatives = np.array([[polyval(end, polyder(powers, k)) for k in range(2 * m - 1)] for end in (0.0, 1.0)])
    return np.asarray(derivatives[:, m:] @ np.linalg.inv(derivatives[:, :m].reshape(2 * m, 2 * m)))


def block_tridiagonal(before: FloatArray, here: FloatArray, after: FloatArray, rhs: FloatArray) -> FloatArray:
    """Solve before[k] x[k-1] + here[k] x[k] + after[k] x[k+1] = rhs[k] by elimination from the first row to the last.

    G. H. Golub and C. F. Van Loan, *Matrix Computations*, 4th edition, 2013, section 4.5.1.

    Parameters
    ----------
    before, here, after : ndarray (m, b, b)
        The blocks; the first of before and the last of after are not used.
    rhs : ndarray (..., m, b, n)
        Right-hand sides.

    Returns
    -------
    x : ndarray (..., m, b, n)
    """
    x = rhs.copy()
    carried = np.empty_like(here)
    pivot = here[0]
    for k in range(len(here)):
        if k:
            pivot = here[k] - before[k] @ carried[k - 1]
            x[..., k, :, :] -= before[k] @ x[..., k - 1, :, :]
        x[..., k, :, :] = np.linalg.solve(pivot, x[..., k, :, :])
        carried[k] = np.linalg.solve(pivot, after[k])
    for k in range(len(here) - 2, -1, -1):
        x[..., k, :, :] -= carried[k] @ x[..., k + 1, :, :]
    return x


def linear_with_blends(t: FloatArray, q: FloatArray, acceleration: FloatArray) -> PiecewisePolynomial | None:
    """Return straight lines through points, blended by parabolas of a given acceleration; None if they do not fit.

    J. J. Craig, *Introduction to Robotics*, 3rd edition, 2005, section 7.3, eq. 7.24 to 7.28: a blend at an inner point
    begins before it and ends after it by the same time; the first and the last lie within the motion.

    Parameters
    ----------
    t : ndarray (K,)
        Times of the points.
    q : ndarray (..., K, n)
        The points.
    acceleration : ndarray (..., n)
        Acceleration of the blends, > 0.
    """
    q, acceleration = np.swapaxes(q, -1, -2), np.asarray(acceleration)[..., None]  # (..., n, K)
    legs, moves = np.diff(t), np.diff(q, axis=-1)
    velocities = moves / legs
    first = _end(moves[..., :1], legs[0], acceleration, alone=len(t) == 2)
    last = _end(moves[..., -1:], legs[-1], acceleration, alone=len(t) == 2)
    velocities[..., :1] = moves[..., :1] / (legs[0] - (first if len(t) == 2 else 0.5 * first))
    if len(t) > 2:
        velocities[..., -1:] = moves[..., -1:] / (legs[-1] - 0.5 * last)
    changes = np.diff(velocities, axis=-1, prepend=0.0, append=0.0)
    inner = np.abs(changes[..., 1:-1]) / acceleration
    blends = np.concatenate((first, inner, last), axis=-1)
    starts = np.concatenate((t[0] + 0.0 * first, t[1:-1] - 0.5 * inner, t[-1] - last), axis=-1)
    knots = np.stack((starts, starts + blends), axis=-1).reshape(*blends.shape[:-1], -1)
    knots[..., -1] = t[-1]
    room = 1e-12 * (t[-1] - t[0])
    if not np.all(np.diff(knots, axis=-1) >= -room):  # also where there is no blend short enough (NaN)
        return None
    knots = np.maximum.accumulate(knots, axis=-1)
    before = np.concatenate((0.0 * velocities[..., :1], velocities), axis=-1)
    after = np.concatenate((velocities, 0.0 * velocities[..., :1]), axis=-1)
    entry, leave = q - 0.5 * before * blends, q + 0.5 * after * blends
    entry[..., 0], leave[..., -1] = q[..., 0], q[..., -1]
    leave[..., 0] = q[..., 0] + 0.5 * velocities[..., 0] * blends[..., 0]
    entry[..., -1] = q[..., -1] - 0.5 * velocities[..., -1] * blends[..., -1]
    places, rates = (np.stack(pair, axis=-1).reshape(knots.shape) for pair in ((entry, leave), (before, after)))
    qdd = np.zeros((*knots.shape[:-1], knots.shape[-1] - 1))
    qdd[..., ::2] = np.sign(changes) * acceleration
    knots, places, rates, qdd = (np.swapaxes(part, -1, -2) for part in (knots, places, rates, qdd))
    return PiecewisePolynomial(knots, places, rates, qdd, degree=2)


def _end(move: FloatArray, leg: float, acceleration: FloatArray, *, alone: bool) -> FloatArray:
    """Duration of the first or last blend, s; of both for a single leg. NaN if the leg is too short."""
    with np.errstate(invalid="ignore"):
        if alone:
            return np.asarray(0.5 * leg - np.sqrt(0.25 * leg**2 - np.abs(move) / acceleration))
        return np.asarray(leg - np.sqrt(leg**2 - 2.0 * np.abs(move) / acceleration))


def blended(t: FloatArray, q: FloatArray, acceleration: FloatArray, names: Sequence[str]) -> PiecewisePolynomial:
    """Return `linear_with_blends`, or raise an error with the joint and place where the blends do not fit."""
    motion = linear_with_blends(t, q, acceleration)
    if motion is not None:
        return motion
    for k in range(q.shape[-1]):
        a = np.asarray(acceleration)[..., k : k + 1] if acceleration.ndim else acceleration
        if linear_with_blends(t, q[..., k : k + 1], a) is None:
            name = names[k] if names else f"q{k + 1}"
            raise ArgumentError(
                f"joint {name!r} cannot be blended: between two way-points there is no time for it; "
                "give more acceleration or more time"
            )
    raise AssertionError  # pragma: no cover  (where all joints fit, the whole does)
