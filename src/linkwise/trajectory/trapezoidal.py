"""Point-to-point motions: trapezoidal velocity under limits, and quintic polynomials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import flag
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.trajectory import Trajectory, planned
from linkwise.trajectory.validation import ends, grid, positive, schedule


class TrapezoidalProfile(NamedTuple):
    """Trapezoidal velocity: duration of each part (s), cruising velocity, and both accelerations; arrays (..., n)."""

    starting: FloatArray
    cruising: FloatArray
    braking: FloatArray
    velocity: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray

    @property
    def duration(self) -> FloatArray:
        """Total duration, s."""
        return self.starting + self.cruising + self.braking

    def stretched(self, duration: FloatArray) -> TrapezoidalProfile:
        """Return the same in another duration."""
        still = self.duration == 0.0
        k = np.where(still, 0.0, self.duration / np.where(duration > 0, duration, 1.0))
        slower = 1.0 / np.where(still, 1.0, k)
        times = (self.starting * slower, self.cruising * slower, self.braking * slower)
        return TrapezoidalProfile(*times, self.velocity * k, self.acceleration * k * k, self.deceleration * k * k)


def quickest(
    distance: FloatArray, velocity: FloatArray, acceleration: FloatArray, deceleration: FloatArray
) -> TrapezoidalProfile:
    """Return the quickest profile over distances >= 0, from rest to rest.

    The peak of the triangle is sqrt(2 D a b / (a + b)): the way to it and back, v^2/2a + v^2/2b, is the distance D.
    """
    a, b = acceleration, deceleration
    peak = np.minimum(velocity, np.sqrt(2.0 * distance * (a / (a + b)) * b))
    cruising = np.maximum(0.0, distance - 0.5 * peak * (peak / a + peak / b)) / velocity
    return TrapezoidalProfile(peak / a, np.where(peak < velocity, 0.0, cruising), peak / b, peak, a, b)


def synchronized(distance: FloatArray, *limits: FloatArray) -> TrapezoidalProfile:
    """Return the quickest profile, the same for all joints but for their distances, under limits (..., n) of each."""
    moves = distance > 0.0
    size = np.where(moves, distance, 1.0)
    tops = [np.min(np.where(moves, limit / size, np.inf), axis=-1, keepdims=True) for limit in limits]
    profile = quickest(
        np.any(moves, axis=-1, keepdims=True).astype(np.float64), *(np.where(np.isfinite(top), top, 1.0) for top in tops)
    )
    rates = (np.minimum(rate * distance, limit) for rate, limit in zip(profile[3:], limits, strict=True))
    return TrapezoidalProfile(*(time + 0.0 * distance for time in profile[:3]), *rates)


def motion_of(
    profile: TrapezoidalProfile, q0: FloatArray, q1: FloatArray, start: npt.ArrayLike, duration: FloatArray
) -> PiecewisePolynomial:
    """Return the motion from q0 to q1 (..., n) by a profile, beginning at times (..., n), all over after the duration."""
    sign = np.sign(q1 - q0)
    parts = (0.0 * sign, profile.starting, profile.starting + profile.cruising, duration + 0.0 * sign)
    t = np.atleast_1d(start)[..., None, :] + np.stack(np.broadcast_arrays(*parts), axis=-2)
    halves = [0.5 * sign * profile.velocity * part for part in (profile.starting, profile.braking)]
    q = np.stack((q0, q0 + halves[0], q1 - halves[1], q1), axis=-2)
    zero, cruise = np.zeros_like(sign), sign * profile.velocity
    qdd = np.stack((sign * profile.acceleration, zero, zero - sign * profile.deceleration), axis=-2)
    return PiecewisePolynomial(t, q, np.stack((zero, cruise, cruise, zero), axis=-2), qdd, degree=2)


def trapezoidal(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    *,
    qd_max: npt.ArrayLike,
    qdd_max: npt.ArrayLike,
    deceleration: npt.ArrayLike | None = None,
    straight: bool = False,
    t: npt.ArrayLike | None = None,
    rate: float | None = None,
    q_min: npt.ArrayLike | None = None,
    q_max: npt.ArrayLike | None = None,
    names: Sequence[str] = (),
) -> Trajectory:
    """Move from rest to rest as fast as speed and acceleration allow; all joints start and end together.

    Each joint accelerates, goes on at its greatest speed, and brakes; on a short way it brakes as soon as it has accelerated
    (L. Biagiotti and C. Melchiorri, *Trajectory Planning for Automatic Machines and Robots*, 2008, section 3.2). The
    joint that takes longest sets the duration. The others do in that time what they would do alone, slower by one
    factor: speeds by k, accelerations by k squared.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        Where it begins and ends, rad or m; batch axes broadcast. The motions of a batch begin together, each takes its own
        time and then rests.
    qd_max : float or (..., n) array_like
        Greatest velocities, > 0, rad/s or m/s.
    qdd_max, deceleration : float or (..., n) array_like
        Greatest accelerations, > 0, rad/s2 or m/s2, of starting and of braking; the same where no deceleration is given.
    straight : bool
        All joints proceed in one trapezoid, so that the way is a straight line in joint space and the accelerations jump
        together. It takes as long or a little longer: each limit is then that of the joint which needs it most.
    t : (T,) array_like, optional
        Instants, s, ascending; the motion begins at the first and must be over by the last.
    rate : float, optional
        Instead of t: instants a second, from 0 to the first at which all is at rest. With neither, 101 instants from
        the beginning to the end.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinate of each joint, such as ``mech.q_min`` and ``mech.q_max``, that no instant may leave.
    names : sequence of str
        Names of the joints, for messages and pictures.

    Returns
    -------
    Trajectory
        Its acceleration jumps; at a jump it is the value after it.

    Raises
    ------
    ArgumentError
        Where shapes do not fit, a limit is not positive, t is too short, or a joint leaves its limits.

    Examples
    --------
    >>> move = trapezoidal([0.0, 0.0], [2.0, -0.5], qd_max=1.0, qdd_max=2.0)
    >>> move.duration  # 2 m at 1 m/s, and 1/2 s to start and stop
    2.5
    >>> move.at(1.25)[1].tolist()
    [1.0, -0.4]
    """
    configurations = ends(q0=q0, q1=q1)
    n = configurations["q0"].shape[-1]
    bounds = [positive("qd_max", qd_max, n), positive("qdd_max", qdd_max, n)]
    bounds.append(bounds[1] if deceleration is None else positive("deceleration", deceleration, n))
    try:
        a, b, *most = np.broadcast_arrays(configurations["q0"], configurations["q1"], *bounds)
    except ValueError as error:
        raise ArgumentError("the batch axes of qd_max and qdd_max do not broadcast with those of q0 and q1") from error
    shape = synchronized if flag("straight", straight) else quickest
    profile = shape(np.abs(b - a), *most)
    longest = np.max(profile.duration, axis=-1, keepdims=True)
    time = schedule(float(np.max(longest, initial=0.0)), t, rate)
    return planned(time, motion_of(profile.stretched(longest), a, b, time[0], longest), (q_min, q_max), names)


def quintic(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    t: npt.ArrayLike,
    *,
    samples: int | None = None,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
    qdd0: npt.ArrayLike = 0.0,
    qdd1: npt.ArrayLike = 0.0,
    q_min: npt.ArrayLike | None = None,
    q_max: npt.ArrayLike | None = None,
    names: Sequence[str] = (),
) -> Trajectory:
    """Move from one configuration to another by polynomials of degree five, at rest at both ends unless stated otherwise.

    J. J. Craig, *Introduction to Robotics*, 3rd edition, 2005, eq. 7.16 to 7.18. From rest to rest the velocity is
    15/8 of the mean velocity at most, the acceleration 10/sqrt(3) of the way over the square of the duration.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        First and last configuration, rad or m; batch axes broadcast.
    t : float or (T,) array_like
        The duration, s, from 0; or the instants, ascending, of which the first is the beginning and the last the end.
    samples : int, optional
        Number of instants; 101 unless given.
    qd0, qd1, qdd0, qdd1 : (..., n) array_like
        Velocities and accelerations at the beginning and the end.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinate of each joint, such as ``mech.q_min`` and ``mech.q_max``, that no instant may leave.
    names : sequence of str
        Names of the joints, such as ``mech.names``, for messages and pictures.

    Returns
    -------
    Trajectory

    Raises
    ------
    ArgumentError
        Where shapes or times do not fit, or a joint leaves its limits: which one, when, and its value.

    Examples
    --------
    >>> move = quintic([0.0, 1.0], [1.0, 0.0], 2.0)
    >>> move
    <Trajectory: 101 instants from 0 to 2 s, 2 joints>
    >>> q, qd, qdd = move.at(1.0)
    >>> q.tolist(), qd.tolist()
    ([0.5, 0.5], [0.9375, -0.9375])
    """
    time = grid(t, samples)
    values = ends(q0=q0, q1=q1, qd0=qd0, qd1=qd1, qdd0=qdd0, qdd1=qdd1)
    q, qd, qdd = (np.stack((values[f"{name}0"], values[f"{name}1"]), axis=-2) for name in ("q", "qd", "qdd"))
    return planned(time, PiecewisePolynomial(time[[0, -1]], q, qd, qdd), (q_min, q_max), names)
