"""Newton-Raphson and steepest descent of textbooks, for a whole batch of poses at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.arrays import by_library, in_graphs
from linkwise.errors import ArgumentError
from linkwise.inverse_kinematics.by_library import POSES, solve_by
from linkwise.inverse_kinematics.pose_error import pose_error, pose_error_rate
from linkwise.kinematics.configuration import with_unit_quaternions
from linkwise.kinematics.jacobian import check_frame
from linkwise.model.tree import ManifoldJoint, Tree, require_tree
from linkwise.solve.by_library import solution_in_graph, solution_rows
from linkwise.solve.constraints.pose import exact_poses
from linkwise.solve.joint_limits import beside, start_position, turning
from linkwise.solve.solution import Solution
from linkwise.solve.validation import positive
from linkwise.spatial.linear import least_squares_step
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import common_batch, flag, mask_of, vectors, whole


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
    limited: bool

    @property
    def first(self) -> int:
        """Index of the first joint coordinate in a position (nq,), after the quaternions."""
        return self.mechanism.nq - self.mechanism.n

    def moved(self, q: FloatArray, step: FloatArray) -> FloatArray:
        """Positions (k, nq) after a motion with constant velocities (k, nv) for a unit of time."""
        return np.asarray(kernel_of(self.mechanism, "integrate")(q, step, 1.0)) if self.first else q + step

    def kept(self, q: FloatArray) -> FloatArray:
        """Positions (k, nq), at their limits where they are beyond: joint coordinates, and ball joints in their cones."""
        joints = np.clip(q[:, self.first :], self.low, self.high)
        parts = [np.array([at.joint.clipped(row, most) for row in q[:, at.q]]) for at, most in self._cones]
        return np.concatenate([*parts, joints], axis=-1)

    @property
    def _cones(self) -> list[tuple[ManifoldJoint, float]]:
        """The joints with quaternions, and half the opening of the cone of each, rad."""
        return [(at, at.most if self.limited else np.inf) for at in self.mechanism.manifold_joints]

    def errors(self, q: FloatArray, which: Any) -> FloatArray:
        """Pose errors (k, 6) of positions (k, nq) for some of the poses; zero where an axis does not count."""
        reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q)
        return pose_error(reached, self.poses[which], self.frame) * self.rows

    def rates(self, q: FloatArray, which: Any) -> FloatArray:
        """The derivative (k, m, nv) of minus the errors that count with respect to small motions."""
        reached = kernel_of(self.mechanism, "forward_kinematics", None, {"link": self.link})(q)
        jac = kernel_of(self.mechanism, "jacobian", None, {"link": self.link, "frame": self.frame})(q)
        return pose_error_rate(reached, self.poses[which], jac, self.frame)[..., self.rows, :]

    def met(self, errors: FloatArray) -> npt.NDArray[np.bool_]:
        """Mark errors (k, 6) within the tolerance, (k,)."""
        position, rotation = sizes(errors)
        return np.asarray((position <= self.tol) & (rotation <= self.tol))

    def answer(self, q: FloatArray, reasons: npt.NDArray[np.str_], iterations: npt.NDArray[np.intp]) -> Solution:
        """Verify positions (N, nq) by a separate forward pass, and shape the solution like the poses."""
        joints = q[:, self.first :]
        joints = np.where(self._rounding(joints), np.clip(joints, self.low, self.high), joints)
        q = np.concatenate([normalised(self.mechanism, q)[:, : self.first], joints], axis=1)
        errors = self.errors(q, slice(None))
        position, rotation = sizes(errors)
        met, within = self.met(errors), np.all((joints >= self.low) & (joints <= self.high), axis=-1)
        for at, most in self._cones:
            within &= np.array([at.joint.excess(row, most) for row in q[:, at.q]], dtype=float) <= self.tol
        missed = met | (reasons == "converged")
        reasons = np.where(met & within, "converged", np.where(missed, "limit", reasons))
        rows = Solution(q, met & within, reasons, position, rotation, iterations)
        bounds = np.stack([self.low, self.high], axis=1)
        return rows.shaped(self.batch, limits=bounds, names=self.mechanism.names, tol=self.tol)

    def _rounding(self, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Mark joint coordinates outside their limits by at most the tolerance."""
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
    """Validate and arrange the arguments of a solver.

    Raises
    ------
    ArgumentError
        Naming the argument, what it is and what was expected.
    """
    require_tree(mechanism, "mechanism")
    if mechanism.floating:
        raise ArgumentError(f"{mechanism.name!r} has a floating base; a pose is solved for on a fixed one")
    if mechanism.loops:
        raise ArgumentError(f"{mechanism.name!r} has loops; a pose solved for on its tree alone would open them")
    if not mechanism.nv:
        raise ArgumentError(f"{mechanism.name!r} has no joint that moves")
    check_frame(frame)
    rows, size = np.array(mask_of(mask)), positive("tol", tol)
    poses, n = exact_poses(T), mechanism.n
    start = _start(mechanism, link, q0)
    batch = common_batch(T=poses.shape[:-2], q0=start.shape[:-1])
    rowwise = np.broadcast_to(poses, (*batch, 4, 4)).reshape(-1, 4, 4)
    starts = np.broadcast_to(start, (*batch, mechanism.nq)).reshape(-1, mechanism.nq)
    endless = np.full(n, np.inf)
    low, high = (mechanism.q_min, mechanism.q_max) if flag("limits", limits) else (-endless, endless)
    task = PoseTask(mechanism, rowwise, starts, batch, link, rows, frame, size, low, high, limits)
    task.errors(starts[:1], slice(0, 1))  # (an unknown link is named here)
    return task


def _start(mechanism: Tree, link: int | str, q0: npt.ArrayLike | None) -> FloatArray:
    """Initial guess (..., nq) with unit quaternions; neutral coordinates without `q0`."""
    first = mechanism.nq - mechanism.n
    if q0 is None:
        return np.concatenate([mechanism.neutral[:first], start_position(mechanism, beside(mechanism, link))])
    start = vectors("q0", q0, mechanism.nq)
    for at in mechanism.manifold_joints:
        if not np.linalg.norm(start[..., at.quaternion], axis=-1).all():
            where = f"q0[..., {at.quaternion.start}:{at.quaternion.stop}]"
            raise ArgumentError(f"q0 has a quaternion of zeros; expected qw, qx, qy, qz in {where}")
    return normalised(mechanism, start)


def normalised(mechanism: Tree, q: FloatArray) -> FloatArray:
    """Positions (..., nq) with unit quaternions."""
    if not mechanism.manifold_joints:
        return q
    return np.moveaxis(with_unit_quaternions(mechanism, np.moveaxis(q, -1, 0)), 0, -1)


#: Function of positions (k, nq), their errors (k, 6) and the indices of their poses (k,): the next positions, and for each a
#: reason to stop, "" to continue.
Step = Callable[[FloatArray, FloatArray, npt.NDArray[np.intp]], tuple[FloatArray, npt.NDArray[np.str_]]]


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


#: A step below this share of the tolerance leads nowhere.
AT_REST = 1e-3


@in_graphs(POSES, solution_rows, solution_in_graph)
@by_library(solve_by, "T", "q0")
def newton_raphson(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None = None,
    *,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    tol: float = 1e-9,
    iterations: int = 100,
    largest_step: float = 0.5,
    limits: bool = True,
) -> Solution:
    """Joint coordinates that bring a frame to a pose, by the step dq = pinv(J) e from one start.

    Near a solution the error is squared at every step. From far away one start is often not enough, and the method finds
    whichever solution it happens upon; success is reported truthfully either way. Mechanisms with more joints than the pose
    asks for take the shortest step, those with fewer the one that leaves least (m and rad alike).

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops.
    T : (..., 4, 4) array_like
        Poses wanted, world frame, m.
    q0 : (..., nq) array_like, optional
        Where to start, rad or m. Where it is left out joints with quaternions are upright, others a little beside the middle
        of their range.
    link : int or str
        The frame: ``"tool"``, or a link by name or index, as in `Mechanism.forward_kinematics`.
    mask : (6,) array_like, optional
        1 for what counts, 0 for what is left free: x, y, z, rotation about x, y, z. All count by default.
    frame : {"world", "body"}
        In whose axes the mask is meant: the world's, or those of the moving frame.
    tol : float
        Greatest distance (m) and angle (rad) from the pose for success.
    iterations : int
        Most steps.
    largest_step : float
        No joint moves farther in one step (rad or m); the whole step is shortened instead.
    limits : bool
        Whether joint limits hold. The steps do not know them. Where a revolute joint ends outside its limits, full turns are
        added or taken off; if that does not help, the answer is none, and its reason ``"limit"``.

    Returns
    -------
    Solution
        Shaped as T and q0 broadcast; the same for the same arguments, and for a batch as for a loop.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Notes
    -----
    D. E. Whitney, "Resolved motion rate control of manipulators and human prostheses", IEEE Trans. Man-Machine Systems
    10(2), 1969, for the step. The error is position and rotation vector, not the difference of matrices that older programs
    take; they agree to first order.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> T = arm.forward_kinematics([0.4, 1.2])
    >>> found = newton_raphson(arm, T, [0.0, 0.5], mask=[1, 1, 0, 0, 0, 0])
    >>> found.success, found.q.round(6).tolist()
    (True, [0.4, 1.2])
    >>> far = newton_raphson(arm, T, mask=[1, 1, 1, 1, 1, 1], link=0)
    >>> far.success, far.reason
    (False, 'singular')
    """
    task = goal(mechanism, T, q0, link=link, mask=mask, frame=frame, tol=tol, limits=limits)
    most, farthest = whole("iterations", iterations, 1), positive("largest_step", largest_step)

    def step(q: FloatArray, errors: FloatArray, which: Any) -> tuple[FloatArray, npt.NDArray[np.str_]]:
        dq, deficient = least_squares_step(task.rates(q, which), errors[:, task.rows])
        longest = np.max(np.abs(dq), axis=-1, initial=0.0)
        resting = longest <= AT_REST * task.tol
        dq *= np.where(longest > farthest, farthest / np.where(longest > 0, longest, 1.0), 1.0)[:, None]
        return task.moved(q, dq), np.where(resting, np.where(deficient, "singular", "stalled"), "")

    return search(task, step, most, whole_turns)


def whole_turns(task: PoseTask, q: FloatArray) -> FloatArray:
    """Shift revolute joints of positions (N, nq) by full turns to bring them within their limits."""
    turn, joints = 2.0 * np.pi, q[:, task.first :]
    up, down = np.ceil((task.low - joints - task.tol) / turn), np.floor((task.high - joints + task.tol) / turn)
    least = np.where(up > 0, up, np.where(down < 0, down, 0.0))
    joints = np.where(turning(task.mechanism) & (up <= down), joints + turn * least, joints)
    return np.concatenate([q[:, : task.first], joints], axis=1)


#: Relaxation of the exact step, with which successive gradients would be perpendicular, and the path would zigzag.
RELAXED = 0.9

#: A step that must be halved more often than this leads nowhere.
HALVINGS = 40

#: The slope at rest, as a share of the tolerance.
LEVEL = 1e-6

#: Relative threshold of zero singular values of the Jacobian where the method stops: with a remaining error, the gradient is
#: accurate to about 1e-8 only, the root of the rounding of its square.
FLAT = 1e-6


@in_graphs(POSES, solution_rows, solution_in_graph)
@by_library(solve_by, "T", "q0")
def steepest_descent(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None = None,
    *,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    tol: float = 1e-9,
    iterations: int = 10_000,
    scale: float = 1.0,
    limits: bool = True,
) -> Solution:
    """Joint coordinates that bring a frame to a pose, by steps along J' e, the slope of half the squared error.

    **Slow**: hundreds to thousands of steps where `newton_raphson` takes five, the more the nearer to a singular position.
    It is here because Robo solves so. In its favour: no step raises the error, nothing is inverted, and the joints never
    leave their limits on the way.

    Parameters
    ----------
    mechanism, T, q0, link, mask, frame, tol
        As for `newton_raphson`.
    iterations : int
        Most steps.
    scale : float
        Metres that one radian of the turn counts for in the error; about the size of the arm is best.
    limits : bool
        Whether joint limits hold: coordinates are kept in their range at every step, and a start outside is brought into it.

    Returns
    -------
    Solution
        Shaped as T and q0 broadcast; the same for the same arguments, and for a batch as for a loop.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Notes
    -----
    With f = |e|^2 / 2 and the slope g = -J' e the step is 0.9 |g|^2 / |J g|^2 along -g, which is 0.9 times the exact minimum
    for a linear mechanism (A. Cauchy 1847), halved until f falls as much as the slope promises (L. Armijo 1966). Less than
    the whole step is much faster than the whole: M. Raydan and B. F. Svaiter, "Relaxed steepest descent and
    Cauchy-Barzilai-Borwein method", Computational Optimization and Applications 21, 2002.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.planar_2r()
    >>> T = arm.forward_kinematics([0.4, 1.2])
    >>> found = steepest_descent(arm, T, [0.0, 0.5], mask=[1, 1, 0, 0, 0, 0])
    >>> found.success, found.q.round(6).tolist()
    (True, [0.4, 1.2])
    """
    task = goal(mechanism, T, q0, link=link, mask=mask, frame=frame, tol=tol, limits=limits)
    most, metres = whole("iterations", iterations, 1), positive("scale", scale)
    weights = np.array([1.0, 1.0, 1.0, metres, metres, metres])

    def height(errors: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.sum((weights * errors) ** 2, axis=-1))

    def step(q: FloatArray, errors: FloatArray, which: Any) -> tuple[FloatArray, npt.NDArray[np.str_]]:
        rates = weights[task.rows, None] * task.rates(q, which)
        down = np.sum(rates * (weights * errors)[:, task.rows, None], axis=1)
        joints, at_joints = q[:, task.first :], down[:, down.shape[1] - task.mechanism.n :]
        held = np.zeros(down.shape, dtype=bool)
        held[:, held.shape[1] - task.mechanism.n :] = ((joints <= task.low) & (at_joints < 0)) | (
            (joints >= task.high) & (at_joints > 0)
        )
        direction = np.where(held, 0.0, down)
        slope = np.sum(direction**2, axis=-1)
        length = RELAXED * slope / np.maximum(np.sum(np.sum(rates * direction[:, None, :], axis=-1) ** 2, axis=-1), 1e-300)
        now, moved = height(errors), q.copy()
        pending = np.flatnonzero(np.sqrt(slope) > LEVEL * task.tol)
        for _ in range(HALVINGS):
            if not pending.size:
                break
            tried = task.kept(task.moved(q[pending], length[pending, None] * direction[pending]))
            promised = np.sum(kernel_of(task.mechanism, "difference")(q[pending], tried) * direction[pending], axis=-1)
            fell = now[pending] - height(task.errors(tried, which[pending])) >= 1e-4 * promised
            moved[pending[fell]] = tried[fell]
            pending = pending[~fell]
            length[pending] *= 0.5
        resting = np.all(moved == q, axis=-1)
        lacking = least_squares_step(rates, errors[:, task.rows], FLAT)[1] if resting.any() else resting
        why = np.where(held.any(axis=-1), "limit", np.where(lacking, "singular", "stalled"))
        return moved, np.where(resting, why, "")

    inside = replace(task, start=task.kept(task.start))
    return search(inside, step, most)
