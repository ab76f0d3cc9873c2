"""Joints that follow the path of a frame: resolved motion rate control with the drift fed back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError, shown
from linkwise.inverse_kinematics.pose_error import pose_error
from linkwise.inverse_kinematics.velocity.kernel import DIAGNOSTICS
from linkwise.inverse_kinematics.velocity.task import REGION, ClosedVelocityTask, VelocityTask, rate_task, speed_bounds
from linkwise.loops.loop_solver import closed_near, closing
from linkwise.model.tree import Tree, require_numeric_tree
from linkwise.solve.solution import REASONS, Solution
from linkwise.solve.validation import positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import vectors

#: Below this share of its velocity the motion has stopped.
CREEPING = 1e-6

#: Steps at most.
MOST = 10_000_000


class Path(Protocol):
    """A motion of a frame in time, such as `linkwise.CartesianTrajectory`."""

    @property
    def t(self) -> FloatArray:
        """Its instants (T,), s, ascending."""

    def at(self, time: Any) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Pose (..., 4, 4), twist (..., 6) and acceleration (..., 6) at times (...,)."""


class PathSolution(Solution):
    """Joint motion along a path, with its errors.

    Attributes
    ----------
    t : ndarray (T,)
        Time, s.
    q, qd, qdd : ndarray (T, nq), (T, nv), (T, nv)
        Of the joints; accelerations are differences of the speeds, with loops the nearest to these that keep them closed.
        `linkwise.Trajectory` takes all four.
    path_time : ndarray (T,)
        Which instant of the path was aimed at: behind t where bounds slowed the motion.
    position_error, rotation_error : ndarray (T,)
        How far the frame is from there, m and rad, over the components that count, by a forward pass.
    scale, damping, singular_value : ndarray (T,)
        As of `VelocitySolution`, at each instant.
    reason : str
        ``"followed"``; ``"left"`` where the errors were at some instant above the tolerance: the path is out of reach, or
        too fast near a singular position; ``"stopped"`` where a joint at its limit ended the motion before the path did.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.trajectory import cartesian
    >>> arm, q = robots.puma560(), [0.2, 0.9, -2.6, 0.3, 1.0, 0.2]
    >>> start = arm.forward_kinematics(q)
    >>> made = follow(arm, cartesian(start, start, 0.1), q, dt=0.01)
    >>> made.reason, made.q.shape
    ('followed', (11, 6))
    """

    t: FloatArray
    qd: FloatArray
    qdd: FloatArray
    path_time: FloatArray

    def _explained(self, place: tuple[int, ...]) -> str:
        return f"{self.reason}: {REASONS[self.reason]}"

    def __repr__(self) -> str:
        where = f" at {self.path_time[-1]:.4g} s of the path" if self.reason == "stopped" else ""
        return (
            f"<PathSolution: {self.reason}{where} after {self.t[-1]:.4g} s, errors up to {self.position_error.max():.2g} m"
            f" and {self.rotation_error.max():.2g} rad>"
        )


def follow(
    mechanism: Tree,
    path: Path,
    q0: npt.ArrayLike,
    *,
    dt: float = 1e-3,
    gain: float = 20.0,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    damping: float | str | None = "auto",
    region: float = REGION,
    qd_max: npt.ArrayLike | None = None,
    secondary: Callable[[FloatArray], npt.ArrayLike] | None = None,
    weights: npt.ArrayLike | None = None,
    tol: float = 1e-3,
) -> PathSolution:
    """Integrate the joint velocities that move a frame along a path, speed and position limits being kept.

    The speed asked for is that of the path plus `gain` times what is missing to it (D. E. Whitney, 1969; the feedback that
    keeps the error of integration from piling up is that of B. Siciliano, "A closed-loop inverse kinematic scheme for
    on-line joint-based robot control", Robotica 8(3), 1990). An error above the tolerance is closed no faster than the path
    is at its fastest.
    Steps are of second order (midpoint). Where joints must not be so fast, the motion along the path slows down, and the
    path itself is kept.

    Parameters
    ----------
    mechanism : Mechanism
        Closed loops stay closed, as by `joint_velocities`; they are closed again after each half step.
    path : CartesianTrajectory
        One motion of the frame, in the world's axes; whatever has its ``t`` and ``at`` will do.
    q0 : (nq,) array_like
        Where the joints start, with loops closed. What the frame is then away from the path is closed, at last with the
        time constant 1 / gain.
    dt : float
        Step, s.
    gain : float
        1/s, at most 1 / dt.
    link, mask, damping, region, qd_max, weights
        As for `joint_velocities`.
    secondary : callable, optional
        Takes q (nq,) and returns joint velocities (nv,) to be taken beside.
    tol : float
        Greatest distance (m) and angle (rad) from the path for success, at every instant from the first on.

    Returns
    -------
    PathSolution
        With the errors of a forward pass at each instant.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.trajectory import cartesian
    >>> arm, q = robots.puma560(), [0.2, 0.9, -2.6, 0.3, 1.0, 0.2]
    >>> start = arm.forward_kinematics(q)
    >>> end = start.copy()
    >>> end[:3, 3] += [0.1, -0.1, 0.05]
    >>> made = follow(arm, cartesian(start, end, 1.0), q, dt=0.01)
    >>> made.success, bool(made.position_error.max() < 1e-4)
    (True, True)
    """
    require_numeric_tree(mechanism, "follow")
    task = rate_task(mechanism, 1, link, "world", mask, damping, region, weights, None)
    if not hasattr(path, "t") or not hasattr(path, "at") or getattr(path, "batch", None):
        raise ArgumentError(f"path is {shown(path)}; expected a CartesianTrajectory of one motion")
    step, feedback = positive("dt", dt), positive("gain", gain, zero=True)
    if feedback * step > 1.0:
        raise ArgumentError(f"gain is {feedback:g} 1/s with steps of {step:g} s; expected at most {1.0 / step:g} 1/s")
    start = vectors("q0", q0, mechanism.nq)
    if start.ndim != 1:
        raise ArgumentError(f"q0 has the shape {start.shape}; expected ({mechanism.nq},)")
    return _Following(task, path, step, feedback, qd_max, secondary, positive("tol", tol)).run(start)


class _Following:
    """Constants of the steps."""

    def __init__(
        self, task: VelocityTask, path: Path, dt: float, gain: float, qd_max: Any, secondary: Any, tol: float
    ) -> None:
        self.task, self.path, self.dt, self.gain, self.tol = task, path, dt, gain, tol
        self.qd_max, self.secondary = qd_max, secondary
        self.counts = np.isin(np.arange(6), task.rows) / np.repeat([task.length, 1.0], 3)
        self.most = max(float(self.size(path.at(path.t)[1]).max()), gain * tol / min(1.0, task.length))

    def size(self, twist: FloatArray) -> FloatArray:
        """Magnitude of twists (..., 6) in the selected components, rad/s, lengths divided by the characteristic length."""
        return np.asarray(np.linalg.norm(twist * self.counts, axis=-1))

    def run(self, q: FloatArray) -> PathSolution:
        time, at, end = 0.0, float(self.path.t[0]), float(self.path.t[-1])
        self.speed(q, at)  # (an error where q0 leaves loops open)
        q = self.closed(q)
        rows = [(time, at, q, *self.speed(q, at))]
        while at < end and len(rows) < MOST:
            qd, diagnostics = rows[-1][3:]
            if diagnostics[0] < CREEPING:
                break
            dt = min(self.dt, (end - at) / diagnostics[0])
            middle, middle_diagnostics = self.speed(self.moved(q, qd, 0.5 * dt), min(end, at + 0.5 * dt * diagnostics[0]))
            if middle_diagnostics[0] < CREEPING:
                break
            q, time = self.moved(q, middle, dt), time + dt
            last = dt < self.dt or at + dt * middle_diagnostics[0] >= end - 1e-9 * self.dt
            at = (
                end
                if last and middle_diagnostics[0] >= diagnostics[0] * (1.0 - 1e-9)
                else min(end, at + dt * middle_diagnostics[0])
            )
            rows.append((time, at, q, *self.speed(q, at)))
        return self.solution(rows, done=at >= end)

    def moved(self, q: FloatArray, qd: FloatArray, dt: float) -> FloatArray:
        """The configuration (nq,) after a time, s."""
        return self.closed(np.asarray(kernel_of(self.task.mechanism, "integrate")(q, qd, dt)))

    def closed(self, q: FloatArray) -> FloatArray:
        """The configuration (nq,) with the loops, if there are any, closed nearby."""
        if not self.task.mechanism.loops:
            return q
        return np.asarray(closed_near(closing(self.task.mechanism), q[None])[0][0])

    def speed(self, q: FloatArray, at: float) -> tuple[FloatArray, FloatArray]:
        """Joint velocities and `DIAGNOSTICS` for an instant of the path, by its remaining error."""
        task = self.task
        wanted, twist, _ = self.path.at(at)
        reached = kernel_of(task.mechanism, "forward_kinematics", None, {"link": task.link})(q)
        beside = task.nothing if self.secondary is None else vectors("secondary", self.secondary(q), task.n)
        low, high = speed_bounds(task, q, self.qd_max, self.dt)
        back = self.gain * pose_error(reached, wanted)
        size = float(self.size(back))
        asked = twist + (back if size <= self.most else back * (self.most / size))
        qd, _, diagnostics = task.solve(q, asked, task.shares, beside, low, high, task.filter)
        return qd, diagnostics

    def solution(self, rows: list[Any], *, done: bool) -> PathSolution:
        """Evaluate the whole motion in one batch."""
        t, at, q, qd, diagnostics = (np.array(part) for part in zip(*rows, strict=True))
        qdd = np.gradient(qd, t, axis=0) if len(t) > 1 else np.zeros_like(qd)
        task = self.task
        if isinstance(task, ClosedVelocityTask):
            qdd = task.closing_rates(q, qd, qdd)
        error = np.zeros((len(t), 6))
        picked = list(task.rows)
        reached = kernel_of(task.mechanism, "forward_kinematics", None, {"link": task.link})(q)
        error[:, picked] = pose_error(reached, self.path.at(at)[0])[:, picked]
        position, rotation = np.linalg.norm(error[:, :3], axis=-1), np.linalg.norm(error[:, 3:], axis=-1)
        scale, damping, least = (diagnostics[:, DIAGNOSTICS.index(name)] for name in ("scale", "damping", "singular_value"))
        on_path = bool((position <= self.tol).all() and (rotation <= self.tol).all())
        reason = ("followed" if on_path else "left") if done else "stopped"
        motion = {"t": t, "q": q, "qd": qd, "qdd": qdd, "path_time": at, "iterations": len(t) - 1}
        errors = {"position_error": position, "rotation_error": rotation, "reason": reason, "success": reason == "followed"}
        return PathSolution.of(**motion, **errors, scale=scale, damping=damping, singular_value=least)
