"""Straight lines of a frame, its orientation turning about one axis: between two poses, or through several."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers
from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.segments import Legs, Ways
from linkwise.trajectory.trapezoidal import TrapezoidalProfile, motion_of, quickest
from linkwise.trajectory.validation import grid, instants, instants_of, scalar, schedule

PROFILES = ("quintic", "trapezoidal")
SHARE = 1.0 / 3.0
"""Of a leg at given times with trapezoidal speed, a third is for starting and a third for braking."""


def cartesian(
    T0: npt.ArrayLike,
    T1: npt.ArrayLike,
    t: npt.ArrayLike | None = None,
    *,
    samples: int | None = None,
    profile: str = "quintic",
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    rate: float | None = None,
) -> CartesianTrajectory:
    """Move a frame from pose to pose, at rest at both: its origin on a straight line, its orientation about one axis.

    With s from 0 to 1, the origin is at p0 + (p1 - p0) s and the orientation is R0 exp(s log(R0' R1)), the shortest turn
    (K. Shoemake, "Animating rotation with quaternion curves", SIGGRAPH 1985: slerp).

    Parameters
    ----------
    T0, T1 : (..., 4, 4) array_like
        Rigid poses in one frame; batch axes broadcast. Orientations half a turn apart, which have no shortest turn, are
        refused: use `cartesian_through` with a pose between.
    t : float or (T,) array_like, optional
        The duration, s, from 0; or instants, ascending, of which the first is the beginning and the last the end.
        With speed and acceleration: instants by the last of which the motion must be over.
    samples : int, optional
        Into how many instants a duration is cut; 101 unless given.
    profile : {"quintic", "trapezoidal"}
        How s grows: smoothly, or with constant accelerations. In a given duration the trapezoid starts for a third of it and
        brakes for a third.
    speed, acceleration : (2,) array_like, optional
        Instead of a duration: greatest speed of the origin (m/s) and of turning (rad/s), greatest acceleration (m/s2,
        rad/s2). The motion is as fast as all four allow the profile to be.
    rate : float, optional
        With speed and acceleration, instead of t: instants a second.

    Returns
    -------
    CartesianTrajectory
        Poses, twists and their derivatives.

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, the orientations are half a turn apart, or times and limits do not fit.

    Examples
    --------
    >>> from linkwise.spatial.rotation import rotation_z
    >>> from linkwise.spatial.transform import transform
    >>> move = cartesian(np.eye(4), transform(rotation_z(1.0), [2.0, 0.0, 0.0]), 4.0)
    >>> move
    <CartesianTrajectory: 101 instants from 0 to 4 s>
    >>> pose, twist, _ = move.at(2.0)
    >>> pose[:3, 3].tolist(), twist.round(6).tolist()
    ([1.0, 0.0, 0.0], [0.9375, 0.0, 0.0, 0.0, 0.0, 0.46875])
    """
    first, last = rigid_poses("T0", T0), rigid_poses("T1", T1)
    try:
        poses = np.stack(np.broadcast_arrays(first, last), axis=-3)
    except ValueError as error:
        raise ArgumentError(f"the shapes T0 {first.shape} and T1 {last.shape} do not broadcast") from error
    choice("profile", profile, PROFILES)
    lines = Ways.between(poses)
    if speed is not None or acceleration is not None:
        if samples is not None:
            raise ArgumentError("samples goes with a duration; speed and acceleration go with t or rate")
        law = _quickest_legs(lines, profile, speed, acceleration)
        longest = float(np.max(law.duration, initial=0.0))
        time = schedule(longest, t, rate)
        return _along(lines, time, profile, law, time[0] + 0.0 * law.duration)
    if t is None or rate is not None:
        raise ArgumentError("give t, or speed and acceleration with t or rate or neither")
    time = grid(t, samples)
    start, duration = np.asarray(time[:1]), np.asarray(time[-1:] - time[:1])
    return _along(lines, time, profile, _thirds(duration), start)


def cartesian_through(
    poses: npt.ArrayLike,
    times: npt.ArrayLike | None = None,
    *,
    blend: float = 0.0,
    profile: str = "quintic",
    speed: npt.ArrayLike | None = None,
    acceleration: npt.ArrayLike | None = None,
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
) -> CartesianTrajectory:
    """Move a frame through several poses on straight lines, with a stop at each, or with blends from line to line.

    Each leg is as in `cartesian`. Where legs overlap, their motions add up: the origin cuts the corner smoothly, and the
    turns are carried out one after the other, exp(f1 s1) exp(f2 s2). The pose itself is then not met.

    Parameters
    ----------
    poses : (..., K, 4, 4) array_like
        Rigid poses, K >= 2, two neighbours less than half a turn apart.
    times : (K,) array_like, optional
        When each is due, s, ascending.
    blend : float
        How long two legs overlap at an inner pose, s: half of it before the pose's time the next leg begins, half of it
        after that time the leg before ends. 0 stops at each pose. At most the duration of the shortest leg.
    profile : {"quintic", "trapezoidal"}
        How each leg proceeds, see `cartesian`.
    speed, acceleration : (2,) array_like, optional
        Instead of times, without blends: the limits of the origin and of turning, see `cartesian`. A batch shares the
        times.
    t : (T,) array_like, optional
        Instants within times; unless given, so many from the first to the last as samples says, or 101, or where there are
        more way-points the times of these.
    samples : int, optional
        How many instants, instead of t.

    Returns
    -------
    CartesianTrajectory

    Raises
    ------
    ArgumentError
        Where a pose is not rigid, neighbours are half a turn apart, or times, limits and blend do not fit.

    Examples
    --------
    >>> from linkwise.spatial.transform import translation
    >>> square = [translation(), translation(1.0), translation(1.0, 1.0)]
    >>> cartesian_through(square, [0.0, 1.0, 2.0]).at(1.0)[0][:3, 3].tolist()
    [1.0, 0.0, 0.0]
    >>> cartesian_through(square, [0.0, 1.0, 2.0], blend=0.5).at(1.0)[0][:3, 3].round(3).tolist()
    [0.942, 0.058, 0.0]
    """
    stations = rigid_poses("poses", poses)
    if stations.ndim < 3 or stations.shape[-3] < 2:
        raise ArgumentError(f"poses has the shape {stations.shape}; expected (..., K, 4, 4), K >= 2")
    choice("profile", profile, PROFILES)
    lines = Ways.between(stations)
    law: TrapezoidalProfile | None = None
    if times is None:
        law = _quickest_legs(lines, profile, speed, acceleration)
        legs = np.max(law.duration.reshape(-1, law.duration.shape[-1]), axis=0)
        due = np.concatenate(([0.0], np.cumsum(legs)))
        law = law.stretched(legs)
    else:
        if speed is not None or acceleration is not None:
            raise ArgumentError("times and limits of speed and acceleration are both given; expected one of them")
        due = instants(times, "times", least=2)
        if due.size != stations.shape[-3]:
            raise ArgumentError(f"there are {due.size} times for {stations.shape[-3]} poses")
    early, late = _overlap(due, blend, times is None)
    law = law or _thirds(late - early)
    return _along(lines, instants_of(due, t, samples), profile, law, early)


def _overlap(due: FloatArray, blend: Any, limited: bool) -> tuple[FloatArray, FloatArray]:
    """When each leg begins and ends, each (K - 1,)."""
    half = 0.5 * scalar("blend", blend, above=-1e-300, expected="a time >= 0, s")
    shortest = float(np.min(np.diff(due)))
    if half and limited:
        raise ArgumentError("blend goes with times; under limits of speed and acceleration the motion stops at each pose")
    if 2.0 * half > shortest:
        raise ArgumentError(f"blend is {2.0 * half:g}; expected at most {shortest:g} s, the duration of the shortest leg")
    early, late = due[:-1].copy(), due[1:].copy()
    early[1:] -= half
    late[:-1] += half
    return early, late


def _along(lines: Ways, time: FloatArray, profile: str, law: TrapezoidalProfile, start: FloatArray) -> CartesianTrajectory:
    """Return the motion along the ways whose legs begin at start and follow the law, each (..., K - 1)."""
    zero = 0.0 * law.duration
    if profile == "trapezoidal":
        progress = motion_of(law, zero, zero + 1.0, start, law.duration)
    else:
        times = np.stack(np.broadcast_arrays(start + zero, start + law.duration), axis=-2)
        s, at_rest = np.stack((zero, zero + 1.0), axis=-2), np.stack((zero, zero), axis=-2)
        progress = PiecewisePolynomial(times, s, at_rest, at_rest)
    return CartesianTrajectory.made(time, Legs(lines, progress))


def _quickest_legs(lines: Ways, profile: str, speed: Any, acceleration: Any) -> TrapezoidalProfile:
    """The quickest law of each leg (..., K - 1) from 0 to 1 under limits of the origin and of turning."""
    limits = []
    for field, value in (("speed", speed), ("acceleration", acceleration)):
        if value is None:
            raise ArgumentError("give times, or both speed and acceleration")
        expected = "two numbers > 0: of the origin and of turning"
        limit = numbers(field, value, expected)
        if limit.shape != (2,) or not np.all(limit > 0):
            raise ArgumentError(f"{field} is {shown(value)}; expected {expected}")
        limits.append(limit)
    length, angle = lines.sizes
    moves = (length > 0) | (angle > 0)
    with np.errstate(divide="ignore"):
        v, a = (np.where(moves, np.minimum(top[0] / length, top[1] / angle), 1.0) for top in limits)
    if profile == "trapezoidal":
        return quickest(moves.astype(np.float64), v, a, a)
    return _thirds(np.where(moves, np.maximum(15.0 / 8.0 / v, np.sqrt(10.0 / np.sqrt(3.0) / a)), 0.0))


def _thirds(duration: FloatArray) -> TrapezoidalProfile:
    """From 0 to 1 in a given time: a third of it each for starting, going on, and braking."""
    part = SHARE * duration
    top = 1.0 / np.where(duration > 0, duration - part, 1.0)
    steep = top / np.where(duration > 0, part, 1.0)
    return TrapezoidalProfile(part, duration - 2.0 * part, part, top, steep, steep)
