"""Results of solvers: joint coordinates, whether they solve the task, and the reason where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from linkwise.arrays import plain
from linkwise.errors import ArgumentError, shown
from linkwise.spatial.scalar import FloatArray

#: Meaning of each reason of a `Solution`.
REASONS: dict[str, str] = {
    "converged": "it is solved, within the tolerance and the joint limits",
    "unreachable": "no start led to a solution, with or without the joint limits: it is most likely out of reach",
    "configuration": "it is solved, but no solution within the limits has the configuration asked for",
    "limit": "joint limits stand in the way: it is met outside them, or the way to it ends at them",
    "singular": "the method came to rest where the Jacobian has lost rank: another start may lead farther",
    "stalled": "the method came to rest away from the goal: the joints cannot come nearer from here",
    "iterations": "the iterations ran out while the error still changed, or before the end of the way",
    "toggle": "the branch ends, or meets another, before the driven coordinates get there: q is the last position before",
    "met": "the frame moves exactly as asked",
    "slowed": "the frame moves in the direction asked, slower: a joint would pass its bound",
    "stopped": "a joint at its bound keeps the frame from moving in that direction at all",
    "bounded": "joints at their bounds keep the frame from moving as asked; this is the nearest",
    "damped": "near a singular position some of the motion asked for is left out, so that the joints stay slow",
    "lacking": "the joints cannot move the frame as asked, however fast they are; this is the nearest",
    "followed": "the frame was on the path at every instant, and came to its end",
    "left": "the frame was away from the path at some instant: it is out of reach, or too fast near a singular position",
}

#: Meaning of a reason if a closed form gives all positions of the joints, so that it is proven.
PROVEN: dict[str, str] = {
    "unreachable": "it is out of reach, which is proven: no position of the joints reaches it, whatever the joint limits",
    "limit": "joint limits stand in the way, which is proven: each position that reaches it is outside of them",
}

#: Fields of a solution that a batch has a row of for each task.
ROWS = ("q", "success", "reason", "position_error", "rotation_error", "iterations")

#: Types of `ROWS`.
DTYPES = ("float64", "bool", "<U13", "float64", "float64", "int64")

#: A target is beyond the reach where it is farther than the reach by more than this share of it.
ROUNDING = 1e-9

#: A coordinate this near to a limit (rad or m) is at it.
AT_LIMIT = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Joint coordinates for a task, or for a batch of tasks, with results of a forward pass.

    The errors are those of a forward pass through q as it stands here, not the solver's own; `success` follows from them
    and from the joint limits. Without success q is the nearest that was found: the reason says what stands in the way.

    Attributes
    ----------
    q : ndarray (..., nq)
        Coordinates, rad or m.
    success : bool or ndarray (...)
        Whether both errors are within the tolerance, and q within the joint limits where they were asked for.
    reason : str or ndarray (...)
        A key of `REASONS`; ``"converged"`` where `success` is true, and only there.
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
    proven : bool or ndarray (...)
        Whether the reason is proven, by a closed form or elimination that gives all positions: that none reaches the target
        (``"unreachable"``), or none within the limits (``"limit"``). Without it the reason is what the solver met with.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.inverse_kinematics import newton_raphson
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
    proven: Any = False

    @property
    def active_limits(self) -> npt.NDArray[np.int8]:
        """Joint coordinates (..., n) at or beyond their lower (-1) or upper (+1) limit, else 0."""
        if self.limits is None:
            return np.zeros(self.q.shape, np.int8)
        joints = plain(self.q)[..., self.q.shape[-1] - len(self.limits) :]
        low, high = joints <= self.limits[:, 0] + AT_LIMIT, joints >= self.limits[:, 1] - AT_LIMIT
        return np.where(low, -1, np.where(high, 1, 0)).astype(np.int8)

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """Explain the result of the task, or of one of a batch, in words.

        Parameters
        ----------
        index : int or sequence of int, optional
            Which of a batch.

        Raises
        ------
        ArgumentError
            Where a batch has no index, or the index is not in it.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> T = arm.forward_kinematics([0.3, 0.4])
        >>> T[0, 3] += 3.0
        >>> print(arm.inverse_kinematics(T, mask=[1, 1, 0, 0, 0, 0]).explain().split(":")[0])
        not solved (unreachable)
        """
        return self._explained(self._place(index))

    def _explained(self, place: tuple[int, ...]) -> str:
        """Explain the result of the task at a place of the batch."""
        reason, q = str(element(self.reason, place)), self.q[place]
        far, turned = (float(element(error, place)) for error in (self.position_error, self.rotation_error))
        errors, steps = f"{far:.3g} m and {turned:.3g} rad", int(element(self.iterations, place))
        if element(self.success, place):
            after = f" after {steps} iterations" if steps else ""
            return f"solved{after}: {errors} from the goal (tolerance {self.tol:g})"
        meaning = PROVEN[reason] if element(self.proven, place if np.ndim(self.proven) else ()) else REASONS[reason]
        message = f"not solved ({reason}): {meaning}. The nearest found is {errors} away"
        at = self._limits_at(q, self.active_limits[place])
        message = f"{message}, with {', '.join(at)}." if at else f"{message}."
        away = None if self.away is None else float(self.away[place])
        if away is None or not away > self.reach * (1.0 + ROUNDING):
            return message
        reach = f"from where the links reach {self.reach:.4g} m at most"
        return f"{message} The target is {away:.4g} m from the first joint, {reach}."

    def _limits_at(self, q: FloatArray, active: npt.NDArray[np.int8]) -> list[str]:
        """List the joints at or beyond a limit, in words."""
        bounds = np.full((len(self.names), 2), np.nan) if self.limits is None else self.limits
        return [
            f"{name} {'at' if low - AT_LIMIT <= value <= high + AT_LIMIT else 'beyond'} "
            f"its {'least' if side < 0 else 'greatest'} value"
            for name, value, (low, high), side in zip(
                self.names, q[len(q) - len(self.names) :], bounds, active, strict=False
            )
            if side
        ]

    def _place(self, index: int | Sequence[int] | None) -> tuple[int, ...]:
        """An index into the batch, checked; none for one task alone."""
        batch = np.shape(self.success)
        if index is None:
            if batch:
                raise ArgumentError(f"this is a batch of {batch} tasks; explain(index) describes one")
            return ()
        place = (int(index),) if isinstance(index, (int, np.integer)) else tuple(index)
        if len(place) != len(batch) or not all(-size <= k < size for k, size in zip(place, batch, strict=True)):
            raise ArgumentError(f"index is {shown(index)}; expected one into the batch {batch}")
        return place

    def __repr__(self) -> str:
        kind = type(self).__name__
        if not isinstance(self.reason, (str, np.ndarray)):  # (of another library, which may not have computed it yet)
            return f"<{kind}: {tuple(np.shape(self.success))}{self._tasks}, {type(self.success).__module__}>"
        if not np.ndim(self.success):
            return f"<{kind}: {self.reason}{self._details}>"
        words, counts = np.unique(self.reason, return_counts=True)
        counted = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return f"<{kind}: {np.shape(self.success)}{self._tasks}{': ' if counted else ''}{counted}>"

    _tasks: ClassVar[str] = " poses"
    _rows: ClassVar[tuple[str, ...]] = ROWS[1:]

    @property
    def _details(self) -> str:
        """Details after the reason, for a single task."""
        errors = f", errors {self.position_error:.3g} m and {self.rotation_error:.3g} rad"
        return f" after {self.iterations} iterations{'' if self.success else errors}"

    @classmethod
    def of(cls, **fields: Any) -> Self:
        """A solution of its fields by name, without a detour; the others are as declared."""
        solution = object.__new__(cls)
        solution.__dict__.update(fields)
        return solution

    def shaped(self, batch: tuple[int, ...], **fields: Any) -> Self:
        """Arrange rows (N) in the shape of a batch, or as scalars, with further fields common to all."""
        rows = {name: np.asarray(getattr(self, name)) for name in self._rows}
        rows = {name: row.reshape(batch) if batch else row.item() for name, row in rows.items()}
        fields.setdefault("proven", np.zeros(batch, dtype=bool) if batch else False)
        return self.of(**{**vars(self), **rows, "q": self.q.reshape(*batch, self.q.shape[-1]), **fields})

    def put(self, place: Any, other: Solution) -> None:
        """Take rows of another solution, in place."""
        for name in ROWS:
            getattr(self, name)[place] = getattr(other, name)


class GraphSolution(Solution):
    """A solution that a graph of `torch.compile` returns, with the places of its reasons in `REASONS`.

    Attributes
    ----------
    codes : tensor (...) of int64
        These places, -1 where no reason is known, as on a GPU. Outside of the graph `reason` has the words.
    """

    codes: Any

    @property
    def reason(self) -> Any:
        """See `Solution`."""
        codes = plain(self.codes)
        return np.array([*REASONS, ""])[codes]


class PrioritySolution(Solution):
    """Result for constraints with weights or priorities.

    `success` says that all constraints of priority 0 hold within the tolerance, and that the levels after them are met as
    well as the levels before leave. The errors `position_error` and `rotation_error` are those of priority 0. All are
    computed by a forward pass of its own.

    Attributes
    ----------
    constraint_errors : ndarray (..., c, 2)
        Distance (m) and angle (rad) that each constraint lacks, in the order of `constraints`.
    constraints : tuple of str
        The constraints, in words.
    priorities : ndarray of int (c,)
        Their priorities.
    levels : ndarray (..., L)
        For each priority there is the root of the weighted sum of the squares of what is lacking, lengths in shares of the
        mechanism's size.
    at_rest : ndarray of bool (..., L)
        Whether the sum is the least that the levels before leave, nearby; in it an angle t counts as 2 sin(t/2), one between
        axes as 4 sin(t/4).

    Examples
    --------
    >>> from linkwise import Position, robots
    >>> arm = robots.planar_2r()
    >>> there, far = (Position("tool", p, mask=[1, 1, 0], priority=k) for k, p in enumerate([[1, 1, 0], [1, 3, 0]]))
    >>> solution = arm.solve([there, far])
    >>> solution.success, solution.holds.tolist(), solution.constraint_errors[:, 0].round(6).tolist()
    (True, [True, False], [0.0, 2.0])
    """

    constraint_errors: FloatArray
    constraints: tuple[str, ...]
    priorities: npt.NDArray[np.intp]
    levels: FloatArray
    at_rest: npt.NDArray[np.bool_]

    _tasks = " tasks"

    @property
    def holds(self) -> npt.NDArray[np.bool_]:
        """Mark constraints (..., c) that are satisfied within the tolerance."""
        return np.asarray((self.constraint_errors <= self.tol).all(axis=-1))

    def _explained(self, place: tuple[int, ...]) -> str:
        lines = [super()._explained(place)]
        for level, (lacking, still) in enumerate(zip(self.levels[place], self.at_rest[place], strict=True)):
            priority = int(np.unique(self.priorities)[level])
            lines.append(f"Priority {priority}: {lacking:.3g} lacking{'' if still else ', not at rest'}.")
            for k in np.flatnonzero(self.priorities == priority):
                far, turned = self.constraint_errors[(*place, k)]
                state = "holds" if self.holds[(*place, k)] else f"lacks {far:.3g} m and {turned:.3g} rad"
                lines.append(f"  {self.constraints[k]}: {state}")
        return "\n".join(lines)


class GraphPrioritySolution(GraphSolution, PrioritySolution):
    """The same of constraints with weights or priorities."""


def element(value: Any, place: tuple[int, ...]) -> Any:
    """Element of a batch, or a single value for the place ()."""
    return plain(value)[place]
