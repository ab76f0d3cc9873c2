"""The robot let go, or driven: its equations of motion integrated in time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.mechanism import Mechanism
from linkwise.rtss.arguments import mechanism_of
from linkwise.rtss.robot import rt_robot
from linkwise.simulation import simulate
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.checks import instants


def rt_fdyn(
    robot: rt_robot | Mechanism,
    t0: float,
    t: npt.ArrayLike,
    torqfun: Callable[..., Any] | None = None,
    q0: npt.ArrayLike | None = None,
    qd0: npt.ArrayLike | None = None,
    *args: Any,
    method: str = "lsoda",
    rtol: float = 1e-8,
    atol: float = 1e-10,
) -> tuple[FloatArray, FloatArray]:
    """Joint coordinates and speeds that follow in time from the torques of the motors.

    Parameters
    ----------
    robot : rt_robot or Mechanism
    t0 : float
        When it begins, s.
    t : (m,) array_like or float
        When the state is asked for, s, ascending from t0 on.
    torqfun : callable, optional
        ``torqfun(t, q, qd, *args)`` gives the efforts (n,) of the motors; None is no effort. The original takes the name of
        a function, here it is the function.
    q0, qd0 : (n,) array_like, optional
        State at t0; zero unless given.
    *args
        Handed on to torqfun.
    method, rtol, atol
        As for `linkwise.simulate`: ``"lsoda"`` is the integrator of the original. A method with fixed steps goes from one
        of the instants to the next, which must then be at equal distances.

    Returns
    -------
    q, qd : ndarray (m, n)
        A row for each time; the original has a column for each.

    Raises
    ------
    ArgumentError
        Where times or shapes do not fit, or torqfun cannot be called.
    SimulationError
        Where the integration fails.
    MissingExtraError
        Without SciPy, for ``"lsoda"`` and the other adaptive methods.

    Notes
    -----
    Coulomb friction jumps at rest, where adaptive methods take ever shorter steps: use `rt_nofriction`.
    `linkwise.simulate` gives accelerations, torques and energies too, and many rollouts at once.

    Examples
    --------
    >>> from linkwise.rtss import rt_nofriction, rt_puma560
    >>> q, qd = rt_fdyn(rt_nofriction(rt_puma560()), 0.0, [0.0, 0.1, 0.2])
    >>> q.shape, q[-1, :3].round(3).tolist()
    ((3, 6), [-0.003, -0.15, 0.035])
    """
    mechanism = mechanism_of("rt_fdyn", robot, dynamic=True)
    if torqfun is not None and not callable(torqfun):
        raise ArgumentError(f"rt_fdyn: torqfun is {shown(torqfun)}; expected a function torqfun(t, q, qd, ...) or None")
    start = numbers("rt_fdyn: t0", t0, "a time, s")
    if start.ndim:
        raise ArgumentError(f"rt_fdyn: t0 has the shape {start.shape}; expected a time, s")
    times = instants(
        np.atleast_1d(numbers("rt_fdyn: t", t, "finite times (T,), s, ascending: 1 instant or more")), "rt_fdyn: t"
    )
    if times[0] < start or times[-1] <= start:
        raise ArgumentError(
            f"rt_fdyn: t is {shown(times.tolist())}; expected times from t0 = {float(start)!r} on, and after it"
        )
    before = int(times[0] > start)
    whole = np.concatenate([[float(start)], times]) if before else times

    def torque(time: float, q: FloatArray, qd: FloatArray) -> Any:
        assert torqfun is not None
        return torqfun(time, q, qd, *args)

    options = {"method": method, "rtol": rtol, "atol": atol}
    made = simulate(mechanism, q0, qd0, torque=None if torqfun is None else torque, t=whole, **options)  # type: ignore[arg-type]
    return made.q[..., before:, :], made.qd[..., before:, :]
