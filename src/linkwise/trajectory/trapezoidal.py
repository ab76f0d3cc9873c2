"""The quickest move between two configurations under limits of speed and acceleration: trapezoidal speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.checks import ends, positive
from linkwise.trajectory.parabolas import Parabolas
from linkwise.trajectory.planned import planned, schedule
from linkwise.trajectory.trajectory import Trajectory


def trapezoidal(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    *,
    speed: npt.ArrayLike,
    acceleration: npt.ArrayLike,
    deceleration: npt.ArrayLike | None = None,
    straight: bool = False,
    t: npt.ArrayLike | None = None,
    rate: float | None = None,
    limits: npt.ArrayLike | None = None,
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
    speed : float or (..., n) array_like
        Greatest speeds, > 0.
    acceleration, deceleration : float or (..., n) array_like
        Greatest accelerations, > 0, of starting and of braking; the same where no deceleration is given.
    straight : bool
        All joints proceed in one trapezoid, so that the way is a straight line in joint space and the accelerations jump
        together. It takes as long or a little longer: each limit is then that of the joint which needs it most.
    t : (T,) array_like, optional
        Instants, s, ascending; the motion begins at the first and must be over by the last.
    rate : float, optional
        Instead of t: instants a second, from 0 to the first at which all is at rest. With neither, 101 instants from
        the beginning to the end.
    limits : (n, 2) array_like, optional
        Least and greatest coordinate of each joint that no instant may leave.
    names : sequence of str
        Of the joints, for messages and pictures.

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
    >>> move = trapezoidal([0.0, 0.0], [2.0, -0.5], speed=1.0, acceleration=2.0)
    >>> move.duration  # 2 m at 1 m/s, and 1/2 s to start and stop
    2.5
    >>> move.at(1.25)[1].tolist()
    [1.0, -0.4]
    """
    made = ends(q0=q0, q1=q1)
    n = made["q0"].shape[-1]
    bounds = [positive("speed", speed, n), positive("acceleration", acceleration, n)]
    bounds.append(bounds[1] if deceleration is None else positive("deceleration", deceleration, n))
    try:
        a, b, *most = np.broadcast_arrays(made["q0"], made["q1"], *bounds)
    except ValueError as error:
        raise ArgumentError("the batch axes of speed and acceleration do not broadcast with those of q0 and q1") from error
    law = _together(np.abs(b - a), *most) if straight else fastest(np.abs(b - a), *most)
    longest = np.max(law.duration, axis=-1, keepdims=True)
    time = schedule(float(np.max(longest, initial=0.0)), t, rate)
    return planned(time, parabolas(a, b, law.stretched(longest), time[0], longest), limits, names)


class Law(NamedTuple):
    """A trapezoid of speed: how long each part takes (s), the speed reached, the two accelerations; arrays (..., n)."""

    starting: FloatArray
    cruising: FloatArray
    braking: FloatArray
    speed: FloatArray
    acceleration: FloatArray
    deceleration: FloatArray

    @property
    def duration(self) -> FloatArray:
        """What it takes in all, s."""
        return self.starting + self.cruising + self.braking

    def stretched(self, duration: FloatArray) -> Law:
        """Return the same in another duration."""
        still = self.duration == 0.0
        k = np.where(still, 0.0, self.duration / np.where(duration > 0, duration, 1.0))
        slower = 1.0 / np.where(still, 1.0, k)
        times = (self.starting * slower, self.cruising * slower, self.braking * slower)
        return Law(*times, self.speed * k, self.acceleration * k * k, self.deceleration * k * k)


def fastest(distance: FloatArray, speed: FloatArray, acceleration: FloatArray, deceleration: FloatArray) -> Law:
    """Return the quickest law over distances >= 0, from rest to rest.

    The peak of the triangle is sqrt(2 D a b / (a + b)): the way to it and back, v^2/2a + v^2/2b, is the distance D.
    """
    a, b = acceleration, deceleration
    peak = np.minimum(speed, np.sqrt(2.0 * distance * (a / (a + b)) * b))
    cruising = np.maximum(0.0, distance - 0.5 * peak * (peak / a + peak / b)) / speed
    return Law(peak / a, np.where(peak < speed, 0.0, cruising), peak / b, peak, a, b)


def _together(distance: FloatArray, *limits: FloatArray) -> Law:
    """Return the quickest law, the same for all joints but for their distances, under limits (..., n) of each."""
    moves = distance > 0.0
    size = np.where(moves, distance, 1.0)
    tops = [np.min(np.where(moves, limit / size, np.inf), axis=-1, keepdims=True) for limit in limits]
    law = fastest(
        np.any(moves, axis=-1, keepdims=True).astype(np.float64), *(np.where(np.isfinite(top), top, 1.0) for top in tops)
    )
    rates = (np.minimum(rate * distance, limit) for rate, limit in zip(law[3:], limits, strict=True))
    return Law(*(time + 0.0 * distance for time in law[:3]), *rates)


def parabolas(q0: FloatArray, q1: FloatArray, law: Law, start: npt.ArrayLike, duration: FloatArray) -> Parabolas:
    """Return the motion from q0 to q1 (..., n) by a law, beginning at times (..., n), all over after the duration."""
    way = np.sign(q1 - q0)
    parts = (0.0 * way, law.starting, law.starting + law.cruising, duration + 0.0 * way)
    t = np.asarray(start)[..., None] + np.stack(np.broadcast_arrays(*parts), axis=-1)
    halves = [0.5 * way * law.speed * part for part in (law.starting, law.braking)]
    q = np.stack((q0, q0 + halves[0], q1 - halves[1], q1), axis=-1)
    zero, top = np.zeros_like(way), way * law.speed
    qd = np.stack((zero, top, top, zero), axis=-1)
    return Parabolas(t, q, qd, np.stack((way * law.acceleration, zero, zero - way * law.deceleration), axis=-1))
