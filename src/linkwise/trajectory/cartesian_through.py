"""Straight lines of a frame through several poses, with stops or with blends."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.poses import rigid_poses
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
from linkwise.trajectory.checks import instants, scalar
from linkwise.trajectory.legs import Ways
from linkwise.trajectory.planned import instants_of
from linkwise.trajectory.profiles import along, known, law_of, thirds
from linkwise.trajectory.trapezoid import Law


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
    given = rigid_poses("poses", poses)
    if given.ndim < 3 or given.shape[-3] < 2:
        raise ArgumentError(f"poses has the shape {given.shape}; expected (..., K, 4, 4), K >= 2")
    known(profile)
    ways = Ways.between(given)
    law: Law | None = None
    if times is None:
        law = law_of(ways, profile, speed, acceleration)
        legs = np.max(law.duration.reshape(-1, law.duration.shape[-1]), axis=0)
        due = np.concatenate(([0.0], np.cumsum(legs)))
        law = law.stretched(legs)
    else:
        if speed is not None or acceleration is not None:
            raise ArgumentError("times and limits of speed and acceleration are both given; expected one of them")
        due = instants(times, "times", least=2)
        if due.size != given.shape[-3]:
            raise ArgumentError(f"there are {due.size} times for {given.shape[-3]} poses")
    early, late = _overlap(due, blend, times is None)
    law = law or thirds(late - early)
    return along(ways, instants_of(due, t, samples), profile, law, early)


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
