"""Steepest descent: straight down the slope of the error, as far as it pays."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.inverse_kinematics.pose_iteration import goal, search
from linkwise.model.tree import Tree
from linkwise.solve.solution import Solution
from linkwise.solve.validation import count, positive
from linkwise.spatial.linear.least_squares import least_squares_step
from linkwise.spatial.scalar import FloatArray

RELAXED = 0.9
"""Share of the exact step that is taken: the exact one makes successive slopes perpendicular, and zigzags."""

HALVINGS = 40
"""A step that must be halved more often than this leads nowhere."""

AT_REST = 1e-6
"""The slope at rest, as a share of the tolerance."""

FLAT = 1e-6
"""Singular values of the Jacobian below this share of the greatest count as zero where the method rests: beside an error
that stays, the slope is known to some 1e-8 only, the root of the rounding of its square."""


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
    most, metres = count("iterations", iterations), positive("scale", scale)
    weights = np.array([1.0, 1.0, 1.0, metres, metres, metres])

    def height(errors: FloatArray) -> FloatArray:
        return np.asarray(0.5 * np.sum((weights * errors) ** 2, axis=-1))

    def step(q: FloatArray, errors: FloatArray, which: Any) -> tuple[FloatArray, npt.NDArray[np.str_]]:
        rates = weights[task.rows, None] * task.rates(q, which)
        down = np.sum(rates * (weights * errors)[:, task.rows, None], axis=1)
        held = ((q <= task.low) & (down < 0)) | ((q >= task.high) & (down > 0))
        direction = np.where(held, 0.0, down)
        slope = np.sum(direction**2, axis=-1)
        length = RELAXED * slope / np.maximum(np.sum(np.sum(rates * direction[:, None, :], axis=-1) ** 2, axis=-1), 1e-300)
        now, moved = height(errors), q.copy()
        pending = np.flatnonzero(np.sqrt(slope) > AT_REST * task.tol)
        for _ in range(HALVINGS):
            if not pending.size:
                break
            tried = np.clip(q[pending] + length[pending, None] * direction[pending], task.low, task.high)
            promised = np.sum((tried - q[pending]) * direction[pending], axis=-1)
            fell = now[pending] - height(task.errors(tried, which[pending])) >= 1e-4 * promised
            moved[pending[fell]] = tried[fell]
            pending = pending[~fell]
            length[pending] *= 0.5
        resting = np.all(moved == q, axis=-1)
        lacking = least_squares_step(rates, errors[:, task.rows], FLAT)[1] if resting.any() else resting
        why = np.where(held.any(axis=-1), "limit", np.where(lacking, "singular", "stalled"))
        return moved, np.where(resting, why, "")

    inside = replace(task, start=np.clip(task.start, task.low, task.high))
    return search(inside, step, most)
