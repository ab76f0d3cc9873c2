"""The quickest move between two configurations under limits of speed and acceleration: trapezoidal speed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.trajectory.checks import ends, flag, positive
from linkwise.trajectory.planned import planned, schedule
from linkwise.trajectory.trajectory import Trajectory
from linkwise.trajectory.trapezoid import fastest, parabolas, together


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
    law = together(np.abs(b - a), *most) if flag("straight", straight) else fastest(np.abs(b - a), *most)
    longest = np.max(law.duration, axis=-1, keepdims=True)
    time = schedule(float(np.max(longest, initial=0.0)), t, rate)
    return planned(time, parabolas(a, b, law.stretched(longest), time[0], longest), limits, names)
