"""A task for a solver: which frame of which mechanism must come to which poses, in which axes, from where, how exactly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices, shown
from linkwise.kinematics.jacobian import FRAMES
from linkwise.solve.arguments import positive
from linkwise.solve.constraints.pose import exact_poses, mask_of
from linkwise.solve.pose_error import pose_error, pose_error_rate
from linkwise.solve.solution import Solution
from linkwise.solve.start import beside, start_position
from linkwise.spatial.numbers import numbers
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism


@dataclass(frozen=True, eq=False)
class Goal:
    """A batch of poses for one frame of a mechanism, laid out in one row (N), with the start and the limits."""

    mechanism: Mechanism
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
        reached = self.mechanism.forward_kinematics(q, link=self.link)
        return pose_error(reached, self.poses[which], self.frame) * self.rows

    def rates(self, q: FloatArray, which: Any) -> FloatArray:
        """The derivative (k, m, n) of minus the errors that count with respect to q."""
        reached = self.mechanism.forward_kinematics(q, link=self.link)
        jac = self.mechanism.jacobian(q, link=self.link, frame=self.frame)
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
        parts = (met & within, reasons, position, rotation, iterations)
        shaped = (part.reshape(self.batch) for part in parts)
        good, why, far, turned, steps = (part if self.batch else part.item() for part in shaped)
        bounds, names = np.stack([self.low, self.high], axis=1), self.mechanism.names
        return Solution(q.reshape(*self.batch, q.shape[-1]), good, why, far, turned, steps, bounds, names, self.tol)

    def _rounding(self, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Which coordinates lie outside their limits by no more than the tolerance."""
        return np.asarray((q >= self.low - self.tol) & (q <= self.high + self.tol))


def sizes(errors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The distances (m) and angles (rad) of errors (k, 6)."""
    return np.linalg.norm(errors[..., :3], axis=-1), np.linalg.norm(errors[..., 3:], axis=-1)


def goal(
    mechanism: Mechanism,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    *,
    link: int | str,
    mask: npt.ArrayLike | None,
    frame: str,
    tol: float,
    limits: bool,
) -> Goal:
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
    if not isinstance(limits, (bool, np.bool_)):
        raise ArgumentError(f"limits is {shown(limits)}; expected True or False")
    rows, size = np.array(mask_of(mask)), positive("tol", tol)
    poses, n = exact_poses(T), mechanism.n
    start = start_position(mechanism, beside(mechanism, link)) if q0 is None else numbers("q0", q0)
    if start.shape[-1:] != (n,):
        raise ArgumentError(f"q0 has the shape {start.shape}; expected (..., {n})")
    try:
        batch = np.broadcast_shapes(poses.shape[:-2], start.shape[:-1])
    except ValueError as error:
        raise ArgumentError(f"the batch shapes T {poses.shape[:-2]} and q0 {start.shape[:-1]} do not broadcast") from error
    rowwise = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 4, 4)
    starts = np.broadcast_to(start, (*batch, n)).reshape(-1, n)
    bounds = mechanism.limits if limits else np.tile([-np.inf, np.inf], (n, 1))
    made = Goal(mechanism, rowwise, starts, batch, link, rows, frame, size, bounds[:, 0], bounds[:, 1])
    made.errors(starts[:1], slice(0, 1))  # (an unknown link is named here)
    return made
