"""Newton-Raphson: the step that would close the gap if the mechanism were linear, over and over."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.pose_iteration import PoseTask, goal, search
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import turning
from linkwise.solve.solution import Solution
from linkwise.solve.validation import count, positive
from linkwise.spatial.linear.least_squares import least_squares_step
from linkwise.spatial.scalar import FloatArray

AT_REST = 1e-3
"""A step below this share of the tolerance leads nowhere."""


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
    whichever solution it happens upon; success is told truthfully either way. Mechanisms with more joints than the pose
    asks for take the shortest step, those with fewer the one that leaves least (m and rad alike).

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base, without loops.
    T : (..., 4, 4) array_like
        Poses wanted, world frame, m.
    q0 : (..., n) array_like, optional
        Where to start, rad or m; a little beside the middle of the range of each joint where it is left out.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
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
    most, farthest = count("iterations", iterations), positive("largest_step", largest_step)

    def step(q: FloatArray, errors: FloatArray, which: Any) -> tuple[FloatArray, npt.NDArray[np.str_]]:
        dq, deficient = least_squares_step(task.rates(q, which), errors[:, task.rows])
        longest = np.max(np.abs(dq), axis=-1, initial=0.0)
        resting = longest <= AT_REST * task.tol
        dq *= np.where(longest > farthest, farthest / np.where(longest > 0, longest, 1.0), 1.0)[:, None]
        return q + dq, np.where(resting, np.where(deficient, "singular", "stalled"), "")

    return search(task, step, most, whole_turns)


def whole_turns(task: PoseTask, q: FloatArray) -> FloatArray:
    """Positions (N, n) with full turns added to or taken off the revolute joints that stand outside their limits."""
    turn = 2.0 * np.pi
    up, down = np.ceil((task.low - q - task.tol) / turn), np.floor((task.high - q + task.tol) / turn)
    least = np.where(up > 0, up, np.where(down < 0, down, 0.0))
    return np.where(turning(task.mechanism) & (up <= down), q + turn * least, q)
