"""Jerk-limited motion from any state to any state, several joints together, by the library Ruckig; also cycle by cycle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.extras import optional
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import choice, numbers
from linkwise.trajectory.motion import State
from linkwise.trajectory.trajectory import Trajectory, planned
from linkwise.trajectory.validation import configuration, count, ends, per_joint, scalar, schedule

#: Synchronization of joints, and its name in Ruckig.
SYNCHRONIZATIONS = {"time": "Time", "phase": "Phase", "none": "No"}


def ruckig_module() -> Any:
    """The library ruckig; `MissingExtraError` where it is not installed."""
    return optional("ruckig", "jerk-limited motion needs the library ruckig", "ruckig")


@dataclass(frozen=True, eq=False)
class JerkLimitedProfiles:
    """An evaluator of motions that Ruckig planned: takes times (K,), returns q, qd, qdd (..., K, n)."""

    motions: tuple[Any, ...]
    batch: tuple[int, ...]
    n: int
    together: bool

    @property
    def durations(self) -> FloatArray:
        """Duration of each motion (...), s."""
        return np.array([motion.duration for motion in self.motions]).reshape(self.batch)

    def __call__(self, time: FloatArray) -> State:
        """Q, qd and qdd; after its end a motion continues with its last velocity."""
        states = np.array([self._states(motion, time) for motion in self.motions])
        q, qd, qdd = np.moveaxis(states.reshape(*self.batch, time.size, 3, self.n), -2, 0)
        return q, qd, qdd

    def _states(self, motion: Any, time: FloatArray) -> FloatArray:
        """The same (K, 3, n) of one motion; Ruckig itself goes on with the last acceleration, beyond all limits."""
        over = [motion.duration] * self.n if self.together else motion.independent_min_durations
        states = np.array([motion.at_time(t) for t in time.tolist()]).reshape(-1, 3, self.n)
        for k, end in enumerate(over):
            q, qd, _ = (row[k] for row in motion.at_time(end))
            late = np.maximum(time - end, 0.0)
            after = np.stack([q + qd * late, np.full_like(late, qd), np.zeros_like(late)], axis=1)
            states[:, :, k] = np.where(late[:, None] > 0.0, after, states[:, :, k])
        return states

    def member(self, place: Any) -> JerkLimitedProfiles:
        """One motion, or some, of a batch."""
        chosen = np.arange(len(self.motions)).reshape(self.batch)[place]
        return JerkLimitedProfiles(tuple(self.motions[k] for k in np.ravel(chosen)), np.shape(chosen), self.n, self.together)


def jerk_limited(
    q0: npt.ArrayLike,
    q1: npt.ArrayLike,
    *,
    qd_max: npt.ArrayLike,
    qdd_max: npt.ArrayLike,
    qddd_max: npt.ArrayLike,
    qd0: npt.ArrayLike = 0.0,
    qd1: npt.ArrayLike = 0.0,
    qdd0: npt.ArrayLike = 0.0,
    qdd1: npt.ArrayLike = 0.0,
    synchronization: str = "time",
    t: npt.ArrayLike | None = None,
    samples: int | None = None,
    rate: float | None = None,
    q_min: npt.ArrayLike | None = None,
    q_max: npt.ArrayLike | None = None,
    names: Sequence[str] = (),
) -> Trajectory:
    """Move from any state to any state as fast as limits of velocity, acceleration and jerk allow.

    The motion is Ruckig's (L. Berscheid and T. Kroeger, "Jerk-limited real-time trajectory generation with arbitrary target
    states", Robotics: Science and Systems XVII, 2021). A velocity or acceleration that exceeds its limit at the beginning is
    brought back within it first.

    Parameters
    ----------
    q0, q1 : (..., n) array_like
        First and last configuration; batch axes broadcast.
    qd_max, qdd_max, qddd_max : float or (n,) array_like
        Greatest velocities, accelerations and jerks, both ways.
    qd0, qd1, qdd0, qdd1 : float or (..., n) array_like
        Velocities and accelerations at the beginning and at the end.
    synchronization : {"time", "phase", "none"}
        All joints arrive together; on a straight line where limits allow; or each as early as it can.
    t : (T,) array_like, optional
        Instants of the result, from 0; they must last as long as the motion.
    samples, rate : int, float, optional
        Instead: how many instants over the longest duration, 101 by default, or how many a second.
    q_min, q_max : (n,) array_like, optional
        Least and greatest coordinates, which no instant may leave.
    names : sequence of str
        Names of the joints.

    Returns
    -------
    Trajectory

    Raises
    ------
    ArgumentError
        Where shapes do not fit, a target exceeds its limit, or Ruckig finds no motion.
    MissingExtraError
        Where the library ruckig is not installed.

    Examples
    --------
    >>> move = jerk_limited([0.0, 0.0], [1.0, 0.2], qd_max=1.0, qdd_max=2.0, qddd_max=8.0)
    >>> round(move.duration, 6)
    1.75
    """
    choice("synchronization", synchronization, sorted(SYNCHRONIZATIONS))
    states = ends(q0=q0, q1=q1, qd0=qd0, qd1=qd1, qdd0=qdd0, qdd1=qdd1)
    batch, n = states["q0"].shape[:-1], states["q0"].shape[-1]
    limits = _limits(n, qd_max, qdd_max, qddd_max)
    flat = {name: value.reshape(-1, n) for name, value in states.items()}
    motions = []
    for k in range(len(flat["q0"])):
        request = _request({name: value[k] for name, value in flat.items()}, limits, synchronization)
        motions.append(_calculated(request, f" of motion {np.unravel_index(k, batch)}" if batch else ""))
    profiles = JerkLimitedProfiles(tuple(motions), batch, n, synchronization != "none")
    duration = float(np.max(profiles.durations, initial=0.0))
    times = np.linspace(0.0, duration, count(samples)) if samples is not None else schedule(duration, t, rate)
    return planned(times, profiles, (q_min, q_max), names)


def _limits(n: int, qd_max: Any, qdd_max: Any, qddd_max: Any) -> dict[str, FloatArray]:
    values = {"qd_max": qd_max, "qdd_max": qdd_max, "qddd_max": qddd_max}
    return {field: per_joint(field, value, n) for field, value in values.items()}


def _request(states: dict[str, FloatArray], limits: dict[str, FloatArray], synchronization: str) -> Any:
    """Ruckig's input, checked: targets within limits."""
    for field, limit in (("qd1", "qd_max"), ("qdd1", "qdd_max")):
        over = np.abs(states[field]) > limits[limit]
        if over.any():
            k = int(np.argmax(over))
            raise ArgumentError(f"{field} is {states[field][k]:g} for joint {k}; {limit} is {limits[limit][k]:g}")
    ruckig = ruckig_module()
    request = ruckig.InputParameter(len(states["q0"]))
    for side, name in (("0", "current"), ("1", "target")):
        for field, word in (("q", "position"), ("qd", "velocity"), ("qdd", "acceleration")):
            setattr(request, f"{name}_{word}", states[field + side].tolist())
    for field, word in (("qd_max", "velocity"), ("qdd_max", "acceleration"), ("qddd_max", "jerk")):
        setattr(request, f"max_{word}", limits[field].tolist())
    request.synchronization = getattr(ruckig.Synchronization, SYNCHRONIZATIONS[synchronization])
    return request


def _calculated(request: Any, where: str) -> Any:
    ruckig = ruckig_module()
    motion = ruckig.Trajectory(request.degrees_of_freedom)
    try:
        request.validate(check_current_state_within_limits=False, check_target_state_within_limits=True)
        result = ruckig.Ruckig(request.degrees_of_freedom).calculate(request, motion)
    except Exception as error:  # (its own class of error, which has no public base)
        raise ArgumentError(f"Ruckig refuses the states or limits{where}: {error}") from error
    if result not in (ruckig.Result.Working, ruckig.Result.Finished):
        raise ArgumentError(f"Ruckig finds no motion{where}: {result.name}")
    return motion


class OnlineTrajectory:
    """Jerk-limited motion cycle by cycle, to targets that may change in every cycle.

    Parameters
    ----------
    cycle : float
        Time from one `step` to the next, s.
    q0 : (n,) array_like
        Where the motion begins.
    qd_max, qdd_max, qddd_max : float or (n,) array_like
        Greatest velocities, accelerations and jerks, both ways.
    qd0, qdd0 : float or (n,) array_like
        Velocities and accelerations at the beginning.
    synchronization : {"time", "phase", "none"}
        See `jerk_limited`.

    Raises
    ------
    ArgumentError
        Where shapes do not fit, or a limit is not above zero.
    MissingExtraError
        Where the library ruckig is not installed.

    Examples
    --------
    >>> follow = OnlineTrajectory(0.001, [0.0], qd_max=1.0, qdd_max=2.0, qddd_max=8.0)
    >>> q, qd, qdd = follow.step([0.5])
    """

    def __init__(
        self,
        cycle: float,
        q0: npt.ArrayLike,
        *,
        qd_max: npt.ArrayLike,
        qdd_max: npt.ArrayLike,
        qddd_max: npt.ArrayLike,
        qd0: npt.ArrayLike = 0.0,
        qdd0: npt.ArrayLike = 0.0,
        synchronization: str = "time",
    ) -> None:
        choice("synchronization", synchronization, sorted(SYNCHRONIZATIONS))
        start = configuration("q0", q0)
        if start.ndim != 1:
            raise ArgumentError(f"q0 has the shape {start.shape}; expected (n,)")
        self.cycle, self.n = scalar("cycle", cycle), start.size
        self._limits = _limits(self.n, qd_max, qdd_max, qddd_max)
        states = ends(q0=start, q1=start, qd0=qd0, qdd0=qdd0, qd1=0.0, qdd1=0.0)
        self._request = _request(states, self._limits, synchronization)
        ruckig = ruckig_module()
        self._ruckig, self._output = ruckig.Ruckig(self.n, self.cycle), ruckig.OutputParameter(self.n)
        self._failures = {ruckig.Result.Working: "", ruckig.Result.Finished: ""}
        self._finished = ruckig.Result.Finished
        #: True if the target is reached.
        self.arrived = False

    @property
    def duration(self) -> float:
        """Total duration of the motion to the present target, from the time when the target was set, s."""
        return float(self._output.trajectory.duration)

    def step(self, target: npt.ArrayLike, velocity: npt.ArrayLike = 0.0) -> State:
        """Go on for one cycle towards a target.

        Parameters
        ----------
        target : (n,) array_like
            Configuration to reach.
        velocity : float or (n,) array_like
            With what velocity.

        Returns
        -------
        q, qd, qdd : ndarray (n,)
            The state at the end of the cycle.

        Raises
        ------
        ArgumentError
            Where shapes do not fit or the velocity exceeds its limit; the state stays as it was.
        """
        values, rates = self._checked_target(target, velocity)
        self._request.target_position, self._request.target_velocity = values, rates
        try:
            result = self._ruckig.update(self._request, self._output)
        except Exception as error:  # (its own class of error, which has no public base)
            raise ArgumentError(f"Ruckig finds no motion to the target {values}: {error}") from error
        if result not in self._failures:
            raise ArgumentError(f"Ruckig finds no motion to the target {values}: {result.name}")
        self.arrived = result == self._finished
        self._output.pass_to_input(self._request)
        out = self._output
        q, qd, qdd = np.array([out.new_position, out.new_velocity, out.new_acceleration])
        return q, qd, qdd

    def _checked_target(self, target: npt.ArrayLike, velocity: npt.ArrayLike) -> tuple[list[float], list[float]]:
        """Validate target and velocity as n floats each; fast for an array without velocity."""
        if (
            type(target) is np.ndarray
            and target.dtype == np.float64
            and target.shape == (self.n,)
            and type(velocity) is float
            and not velocity
        ):
            values: list[float] = target.tolist()
            if math.isfinite(sum(values)):
                return values, [0.0] * self.n
        wanted, rate = configuration("target", target), numbers("velocity", velocity, "finite numbers, one or (n,)")
        for name, array in (("target", wanted), ("velocity", rate)):
            if array.shape != (self.n,) and (name == "target" or array.ndim):
                raise ArgumentError(f"{name} has the shape {array.shape}; expected ({self.n},)")
        rates = rate.tolist() if rate.ndim else [float(rate)] * self.n
        for k, (value, most) in enumerate(zip(rates, self._limits["qd_max"].tolist(), strict=True)):
            if abs(value) > most:
                raise ArgumentError(f"velocity is {value:g} for joint {k}; qd_max is {most:g}")
        return wanted.tolist(), rates
