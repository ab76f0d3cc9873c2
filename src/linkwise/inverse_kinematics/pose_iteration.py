"""The loop that iterative methods share: a whole batch at once, each pose left alone as soon as it is settled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm.compile import kernel_of
from linkwise.errors import ArgumentError, choices
from linkwise.inverse_kinematics.pose_error import pose_error, pose_error_rate
from linkwise.kinematics.jacobian import FRAMES
from linkwise.model.tree import Tree
from linkwise.solve.constraints.pose import exact_poses
from linkwise.solve.initial_guess import beside, start_position
from linkwise.solve.solution import Solution
from linkwise.solve.validation import batch_of, flag, positive
from linkwise.spatial.mask import mask_of
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


@dataclass(frozen=True, eq=False)
class PoseTask:
    """A batch of poses for one frame of a mechanism, laid out in one row (N), with the start and the limits."""

    mechanism: Tree
    poses: FloatArray
    start: FloatArray
    batch: tuple[int, ...]
    link: int | str
    rows: npt.NDArray[np.bool_]
    frame: str
    tol: float
    low: FloatArray
    high: FloatArray

    def errors(self, q: FloatArray, which: Any) -> FloatArray:
        """Pose errors (k, 6) of positions (k, n) for some of the poses; zero where an axis does not count."""
        reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q)
        return pose_error(reached, self.poses[which], self.frame) * self.rows

    def rates(self, q: FloatArray, which: Any) -> FloatArray:
        """The derivative (k, m, n) of minus the errors that count with respect to q."""
        reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q)
        jac = kernel_of(self.mechanism, "jacobian", None, {"link": self.link, "frame": self.frame})(q)
        return pose_error_rate(reached, self.poses[which], jac, self.frame)[..., self.rows, :]

    def met(self, errors: FloatArray) -> npt.NDArray[np.bool_]:
        """Which errors (k, 6) are within the tolerance, (k,)."""
        position, rotation = sizes(errors)
        return np.asarray((position <= self.tol) & (rotation <= self.tol))

    def answer(self, q: FloatArray, reasons: npt.NDArray[np.str_], iterations: npt.NDArray[np.intp]) -> Solution:
        """Check positions (N, n) by a forward pass of their own, and shape the answer as the poses were given."""
        q = np.where(self._rounding(q), np.clip(q, self.low, self.high), q)
        errors = self.errors(q, slice(None))
        position, rotation = sizes(errors)
        met, within = self.met(errors), np.all((q >= self.low) & (q <= self.high), axis=-1)
        missed = met | (reasons == "converged")
        reasons = np.where(met & within, "converged", np.where(missed, "limit", reasons))
        bounds, names = np.stack([self.low, self.high], axis=1), self.mechanism.names
        parts = (met & within, reasons, position, rotation, iterations)
        return Solution.of_rows(self.batch, q, *parts, limits=bounds, names=names, tol=self.tol)

    def _rounding(self, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Which coordinates lie outside their limits by no more than the tolerance."""
        return np.asarray((q >= self.low - self.tol) & (q <= self.high + self.tol))


def sizes(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distances (m) and angles (rad) of errors (k, 6)."""
    return np.linalg.norm(errors[..., :3], axis=-1), np.linalg.norm(errors[..., 3:], axis=-1)


def goal(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    *,
    link: int | str,
    mask: npt.ArrayLike | None,
    frame: str,
    tol: float,
    limits: bool,
) -> PoseTask:
    """Check what a solver was given and lay it out.

    Raises
    ------
    ArgumentError
        Naming the argument, what it is and what was expected.
    """
    if mechanism.floating:
        raise ArgumentError(f"{mechanism.name!r} has a floating base; a pose is solved for on a fixed one")
    if mechanism.loops:
        raise ArgumentError(f"{mechanism.name!r} has loops; a pose solved for on its tree alone would open them")
    if not mechanism.n:
        raise ArgumentError(f"{mechanism.name!r} has no joint that moves")
    if not isinstance(frame, str) or frame not in FRAMES:
        raise ArgumentError(f"frame is {frame!r}; expected {choices(FRAMES)}")
    rows, size = np.array(mask_of(mask)), positive("tol", tol)
    poses, n = exact_poses(T), mechanism.n
    start = start_position(mechanism, beside(mechanism, link)) if q0 is None else numbers("q0", q0)
    if start.shape[-1:] != (n,):
        raise ArgumentError(f"q0 has the shape {start.shape}; expected (..., {n})")
    batch = batch_of(T=poses.shape[:-2], q0=start.shape[:-1])
    rowwise = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 4, 4)
    starts = np.broadcast_to(start, (*batch, n)).reshape(-1, n)
    endless = np.full(n, np.inf)
    low, high = (mechanism.q_min, mechanism.q_max) if flag("limits", limits) else (-endless, endless)
    task = PoseTask(mechanism, rowwise, starts, batch, link, rows, frame, size, low, high)
    task.errors(starts[:1], slice(0, 1))  # (an unknown link is named here)
    return task


Step = Callable[[FloatArray, FloatArray, npt.NDArray[np.intp]], tuple[FloatArray, npt.NDArray[np.str_]]]
"""From positions (k, n), their errors (k, 6) and which poses they are for (k,): the next positions, and for each a reason to
stop, "" to go on."""


def search(
    task: PoseTask, step: Step, iterations: int, settle: Callable[[PoseTask, FloatArray], FloatArray] | None = None
) -> Solution:
    """Take steps from the start until each pose is reached, its method is at rest, or the iterations are spent.

    What comes out goes through ``settle``, if there is one, before it is checked.
    """
    q = task.start.copy()
    total = len(q)
    reasons, spent = np.full(total, "iterations", dtype="<U10"), np.zeros(total, dtype=np.intp)
    pending = np.arange(total)
    for taken in range(iterations + 1):
        errors = task.errors(q[pending], pending)
        done = task.met(errors)
        reasons[pending[done]] = "converged"
        pending, errors = pending[~done], errors[~done]
        if not pending.size or taken == iterations:
            break
        moved, why = step(q[pending], errors, pending)
        stopped = why != ""
        reasons[pending[stopped]] = why[stopped]
        pending, moved = pending[~stopped], moved[~stopped]
        q[pending] = moved
        spent[pending] += 1
    return task.answer(q if settle is None else settle(task, q), reasons, spent)
