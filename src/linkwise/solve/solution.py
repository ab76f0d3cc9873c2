"""What a solver answers: joint coordinates, whether they solve the task, and why not where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray

REASONS: dict[str, str] = {
    "converged": "it is solved, within the tolerance and the joint limits",
    "unreachable": "no start led nearer, with or without the joint limits: it is most likely out of reach",
    "limit": "joint limits stand in the way: it is met outside them, or the way to it ends at them",
    "singular": "the method came to rest where the Jacobian has lost rank: another start may lead farther",
    "stalled": "the method came to rest away from the goal: the joints cannot come nearer from here",
    "iterations": "the iterations ran out while the error still changed",
}
"""What each reason of a `Solution` means."""

ROUNDING = 1e-9
"""A target is beyond the reach where it is farther than the reach by more than this share of it."""

AT_LIMIT = 1e-9
"""A coordinate this near to a limit (rad or m) stands at it."""


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Joint coordinates for a task, or for a batch of tasks, with what a forward pass says of them.

    The errors are those of a forward pass through q as it stands here, not the solver's own; `success` follows from them
    and from the joint limits. Without success q is the nearest that was found: the reason says what stands in the way.

    Attributes
    ----------
    q : ndarray (..., nq)
        Coordinates, rad or m.
    success : bool or ndarray (...)
        Whether both errors are within the tolerance, and q within the joint limits where they were asked for.
    reason : str or ndarray (...)
        A word of `REASONS`; ``"converged"`` where `success` is true, and only there.
    position_error : float or ndarray (...)
        Distance from what was asked for, m, over the axes that count.
    rotation_error : float or ndarray (...)
        Angle to what was asked for, rad, about the axes that count.
    iterations : int or ndarray (...)
        Steps that led here from the start that counted; 0 for a closed form.
    limits : ndarray (n, 2) or None
        The joint limits that held, for `active_limits`.
    names : tuple of str
        Names of the joint coordinates.
    tol : float
        The tolerance, m and rad.
    away : ndarray (...) or None
        How far the targets are from the first joint, m, over the axes that count, where that was looked at.
    reach : float
        How far from there the links reach at most, m.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import newton_raphson
    >>> arm = robots.puma560()
    >>> T = arm.forward_kinematics([0.1, 0.8, -2.0, 0.3, 0.5, 0.2])
    >>> newton_raphson(arm, T, [0.0, 0.7, -1.9, 0.2, 0.4, 0.0])
    <Solution: converged after 4 iterations>
    """

    q: FloatArray
    success: Any
    reason: Any
    position_error: Any
    rotation_error: Any
    iterations: Any
    limits: FloatArray | None = None
    names: tuple[str, ...] = ()
    tol: float = 0.0
    away: Any = None
    reach: float = np.inf

    @property
    def active_limits(self) -> npt.NDArray[np.int8]:
        """Which joint coordinates (..., n) stand at or beyond their least (-1) or greatest (+1) value, else 0."""
        if self.limits is None:
            return np.zeros(self.q.shape, np.int8)
        joints = self.q[..., self.q.shape[-1] - len(self.limits) :]
        low, high = joints <= self.limits[:, 0] + AT_LIMIT, joints >= self.limits[:, 1] - AT_LIMIT
        return np.where(low, -1, np.where(high, 1, 0)).astype(np.int8)

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """In words, what became of the task, or of one of a batch.

        Parameters
        ----------
        index : int or sequence of int, optional
            Which of a batch.

        Raises
        ------
        ArgumentError
            Where a batch is not told apart, or the index is not in it.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> T = arm.forward_kinematics([0.3, 0.4])
        >>> T[0, 3] += 3.0
        >>> print(arm.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0]).explain().split(":")[0])
        not solved (unreachable)
        """
        one = self._one(index)
        errors = f"{one.position_error:.3g} m and {one.rotation_error:.3g} rad"
        if one.success:
            steps = f" after {one.iterations} iterations" if one.iterations else ""
            return f"solved{steps}: {errors} from the goal (tolerance {self.tol:g})"
        told = f"not solved ({one.reason}): {REASONS[str(one.reason)]}. The nearest found is {errors} away"
        joints = one.q[len(one.q) - len(self.names) :]
        bounds = np.full((len(self.names), 2), np.nan) if self.limits is None else self.limits
        at = [
            f"{name} {'at' if low - AT_LIMIT <= value <= high + AT_LIMIT else 'beyond'} "
            f"its {'least' if side < 0 else 'greatest'} value"
            for name, value, (low, high), side in zip(self.names, joints, bounds, one.active_limits, strict=False)
            if side
        ]
        told = f"{told}, with {', '.join(at)}." if at else f"{told}."
        if one.away is None or not one.away > one.reach * (1.0 + ROUNDING):
            return told
        far, most = f"{float(one.away):.4g}", f"{one.reach:.4g}"
        return f"{told} The target is {far} m from the first joint, from where the links reach {most} m at most."

    def _one(self, index: int | Sequence[int] | None) -> Solution:
        batch = np.shape(self.success)
        if index is None:
            if batch:
                raise ArgumentError(f"this is a batch of {batch} tasks; explain(index) tells of one")
            return self
        place = (index,) if isinstance(index, (int, np.integer)) else tuple(index)
        try:
            good, why = (np.asarray(part)[place] for part in (self.success, self.reason))
            if np.ndim(good):
                raise IndexError
            numbers = (self.position_error, self.rotation_error, self.iterations)
            far, turned, steps = (np.asarray(part)[place].item() for part in numbers)
        except IndexError as error:
            raise ArgumentError(f"no task {index}; this is a batch of {batch}") from error
        away = None if self.away is None else self.away[place]
        rest = (self.limits, self.names, self.tol, away, self.reach)
        return Solution(self.q[place], bool(good), str(why), far, turned, steps, *rest)

    def __repr__(self) -> str:
        if not np.ndim(self.success):
            errors = f", errors {self.position_error:.3g} m and {self.rotation_error:.3g} rad"
            return f"<Solution: {self.reason} after {self.iterations} iterations{'' if self.success else errors}>"
        words, counts = np.unique(self.reason, return_counts=True)
        found = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return f"<Solution: {np.shape(self.success)} poses{': ' if found else ''}{found}>"
