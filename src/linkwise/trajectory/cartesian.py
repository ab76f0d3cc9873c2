"""The straight line of a frame, its orientation turning about one axis."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.poses import rigid_poses
from linkwise.trajectory.cartesian_trajectory import CartesianTrajectory
from linkwise.trajectory.checks import grid
from linkwise.trajectory.legs import Ways
from linkwise.trajectory.planned import schedule
from linkwise.trajectory.profiles import along, known, law_of, thirds


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
    known(profile)
    ways = Ways.between(poses)
    if speed is not None or acceleration is not None:
        if samples is not None:
            raise ArgumentError("samples goes with a duration; speed and acceleration go with t or rate")
        law = law_of(ways, profile, speed, acceleration)
        longest = float(np.max(law.duration, initial=0.0))
        time = schedule(longest, t, rate)
        return along(ways, time, profile, law, time[0] + 0.0 * law.duration)
    if t is None or rate is not None:
        raise ArgumentError("give t, or speed and acceleration with t or rate or neither")
    time = grid(t, samples)
    start, duration = np.asarray(time[:1]), np.asarray(time[-1:] - time[:1])
    return along(ways, time, profile, thirds(duration), start)
