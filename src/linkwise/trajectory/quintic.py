"""The smooth blend between two configurations: one polynomial of degree five."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from linkwise.trajectory.piecewise_polynomial import PiecewisePolynomial
from linkwise.trajectory.trajectory import Trajectory, planned
from linkwise.trajectory.validation import ends, grid


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
    """Move from one configuration to another by polynomials of degree five, at rest at both ends unless said otherwise.

    J. J. Craig, *Introduction to Robotics*, 3rd edition, 2005, eq. 7.16 to 7.18. From rest to rest the velocity is
    15/8 of the mean velocity at most, the acceleration 10/sqrt(3) of the way over the square of the duration.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        Where it begins and ends, rad or m; batch axes broadcast.
    t : float or (T,) array_like
        The duration, s, from 0; or the instants, ascending, of which the first is the beginning and the last the end.
    samples : int, optional
        Into how many instants a duration is cut; 101 unless given.
    qd0, qd1, qdd0, qdd1 : (..., n) array_like
        Velocities and accelerations at the beginning and the end.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinate of each joint, such as ``mech.q_min`` and ``mech.q_max``, that no instant may leave.
    names : sequence of str
        Of the joints, such as ``mech.names``, for messages and pictures.

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
