"""Inverse kinematics: poses of one frame in, joint coordinates out."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, choices
from linkwise.inverse_kinematics.closed_form import ClosedForm, closed_form
from linkwise.inverse_kinematics.textbook_methods import newton_raphson, steepest_descent
from linkwise.kinematics.jacobian import FRAMES
from linkwise.model.tree import Tree
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints.pose import EXACT, Pose, defects
from linkwise.solve.reach_bound import telling_reach
from linkwise.solve.solution import ROWS, Solution
from linkwise.solve.solve import solve, solved, start_of
from linkwise.solve.validation import batch_of, flag, link_given, positive, whole
from linkwise.spatial.validation import mask_of, unmasked

ASKS: dict[tuple[int, ...], str] = {
    (1, 1, 1, 1, 1, 1): "pose",
    (1, 1, 1, 0, 0, 0): "position",
    (0, 0, 0, 1, 1, 1): "orientation",
}
"""What a closed form is asked for, by the mask."""


def form_for(mechanism: Tree, link: int | str, mask: npt.ArrayLike | None, *, needed: bool) -> ClosedForm | None:
    """The closed form for poses in the axes of a mask, None where there is none.

    Raises
    ------
    NoClosedFormError
        Where there is none although it is needed: why.
    """
    asks = "pose" if mask is None else ASKS.get(tuple(map(int, mask_of(mask))))
    if asks is None:
        if needed:
            closed_form(mechanism, link).refuse("the mask leaves single axes free")
        return None
    form = closed_form(mechanism, link, asks=asks)
    if not form.exists and needed:
        form.refuse()
    return form if form.exists else None


def exactly(
    form: ClosedForm,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    tol: float,
    system: CompiledProblem,
    numeric: Callable[..., Solution],
) -> Solution:
    """Solve poses (..., 4, 4) with the solutions nearest to q0 (..., n), and what has none ``numeric(T, q0=q0)``."""
    q, success, far, turned = form.nearest(T, q0, system.limited, tol=tol)
    if q.ndim == 1:
        if success:
            return Solution(q, True, "converged", float(far), float(turned), 0, system.bounds, system.names, tol)
        return numeric(T, q0=q0)
    reason, steps = np.full(success.shape, "converged", dtype="<U11"), np.zeros(success.shape, dtype=np.intp)
    rows = dict(zip(ROWS, (q, success, reason, far, turned, steps), strict=True))
    shared = {"limits": system.bounds, "names": system.names, "tol": tol}
    if success.all():
        return Solution.of(**rows, **shared)
    unsolved = ~success
    start = None if q0 is None else np.broadcast_to(np.asarray(q0, dtype=float), q.shape)[unsolved]
    solution = Solution.of(**{name: np.array(row) for name, row in rows.items()}, **shared)
    solution.put(unsolved, numeric(np.broadcast_to(np.asarray(T, dtype=float), (*success.shape, 4, 4))[unsolved], q0=start))
    return solution


METHODS = ("auto", "closed_form", "numeric", "newton_raphson", "steepest_descent")


@telling_reach
def inverse_kinematics(
    mechanism: Tree,
    T: npt.ArrayLike,
    *,
    q0: npt.ArrayLike | None = None,
    link: int | str = "tool",
    mask: npt.ArrayLike | None = None,
    frame: str = "world",
    tol: float = 1e-9,
    seed: int = 0,
    method: str = "auto",
    limits: bool = True,
) -> Solution:
    """Joint coordinates that bring a frame to poses T (..., 4, 4), within the joint limits.

    Parameters
    ----------
    mechanism : Mechanism
        Any; loops are kept closed.
    T : (..., 4, 4) array_like
        Poses wanted, world frame, m.
    q0 : (..., nq) array_like, optional
        Where to start, rad or m; a little beside the middle of the range of each joint where it is left out. A closed form
        gives the solution nearest to it; the other methods the one that they come to from it, if they come to one. Whole
        turns outside the limits are taken off first. Joints on which the pose does not depend, such as those of a gripper
        beside the frame, stay at q0, at zero (or the limit next to it) where that is left out.
    link : int or str
        Which frame: -1 the tool, otherwise as in `Mechanism.forward_kinematics`.
    mask : (6,) array_like, optional
        1 for what counts, 0 for what is left free: x, y, z, rotation about x, y, z. All count by default.
    frame : {"world", "body"}
        In whose axes the mask is meant: the world's, or those of the moving frame.
    tol : float
        Greatest distance (m) and angle (rad) from the pose for success.
    seed : int
        Of the random starts that follow where q0 does not lead to a solution.
    method : {"auto", "closed_form", "numeric", "newton_raphson", "steepest_descent"}
        ``"auto"`` takes the closed form where the mechanism has one, and ``"numeric"``, damped least squares from q0 and
        then from random starts, where it has none or the closed form finds nothing; ``"closed_form"`` does the same and
        raises `NoClosedFormError` where there is none. The last two are the textbook methods,
        from one start: `linkwise.inverse_kinematics.newton_raphson`, `linkwise.inverse_kinematics.newton_raphson`.
    limits : bool
        Whether joint limits hold. They are hard: no answer that is called one is outside them.

    Returns
    -------
    Solution
        Shaped as T and q0 broadcast; the same for the same arguments, and for a batch as for a loop. Without success q is
        the nearest pose found, and `Solution.explain` tells why.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> arm = robots.panda()
    >>> T = arm.forward_kinematics([0.1, -0.5, 0.2, -2.0, 0.3, 1.6, 0.7])
    >>> found = inverse_kinematics(arm, T)
    >>> found.success, bool(abs(arm.forward_kinematics(found.q) - T).max() < 1e-8)
    (True, True)
    """
    mechanism.require_numbers("inverse_kinematics")
    if not isinstance(method, str) or method not in METHODS:
        raise ArgumentError(f"method is {method!r}; expected {choices(METHODS)}")
    if method == "newton_raphson":
        return newton_raphson(mechanism, T, q0, link=link, mask=mask, frame=frame, tol=tol, limits=limits)
    if method == "steepest_descent":
        return steepest_descent(mechanism, T, q0, link=link, mask=mask, frame=frame, tol=tol, limits=limits)
    if not isinstance(frame, str) or frame not in FRAMES:
        raise ArgumentError(f"frame is {frame!r}; expected {choices(FRAMES)}")
    if limits is not True:
        limits = flag("limits", limits)
    if tol.__class__ is not float or not 0.0 < tol < np.inf:
        tol = positive("tol", tol)
    seed = whole("seed", seed)
    form = None if method == "numeric" else form_for(mechanism, link, mask, needed=method == "closed_form")
    if form is not None:
        options: dict[str, Any] = {"link": link, "mask": mask, "frame": frame, "tol": tol, "seed": seed, "limits": limits}
        again = partial(inverse_kinematics, mechanism, method="numeric", **options)
        return exactly(form, T, q0, tol, pose_system(mechanism, link, limits), again)
    if mask is None and not mechanism.loops:
        plain = _plain(mechanism, T, q0, link, tol, seed, limits)
        if plain is not None:
            return plain
    return solve(mechanism, Pose(link, T, mask, frame), q0=q0, tol=tol, seed=seed, limits=limits)


def pose_system(mechanism: Tree, link: int | str, limits: bool) -> CompiledProblem:
    """The compiled system for whole poses of a link."""
    key = ("pose", link_given(link), limits)

    def make() -> CompiledProblem:
        goal = Pose(link, np.eye(4))
        goal.check(mechanism)
        return system_of(mechanism, [goal], limits=limits)

    return mechanism.memo("inverse_kinematics", key, make)


def _plain(
    mechanism: Tree,
    T: npt.ArrayLike,
    q0: npt.ArrayLike | None,
    link: int | str,
    tol: float,
    seed: int,
    limits: bool,
) -> Solution | None:
    """The usual case without detours: whole poses whose rotations need no repair; None where they do, or are no poses."""
    try:
        poses = np.asarray(unmasked("T", T))
    except ValueError:
        return None
    if poses.shape[-2:] != (4, 4) or poses.dtype.kind not in "biuf":
        return None
    rows = np.asarray(poses, dtype=np.float64).reshape(*poses.shape[:-2], 16)
    gaps = defects(rows)
    if not (gaps <= EXACT if rows.ndim == 1 else (gaps <= EXACT).all()):
        return None
    system = pose_system(mechanism, link, limits)
    start = system.start if q0 is None else start_of(mechanism, system, q0)
    if rows.ndim != 1 or start.ndim != 1:
        batch = batch_of(T=rows.shape[:-1], q0=start.shape[:-1])
        rows, start = np.broadcast_to(rows, (*batch, 16)), np.broadcast_to(start, (*batch, mechanism.nq))
    return solved(mechanism, system, rows, start, tol, seed)
