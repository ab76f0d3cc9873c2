"""What velocity solving answers: joint rates, what they give, and what keeps them from giving all that was asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, shown
from linkwise.solve.velocity.kernel import TELLS
from linkwise.solve.velocity.words import explained
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.solve.velocity.task import RateTask

RATE_REASONS: dict[str, str] = {
    "met": "the frame moves exactly as asked",
    "slowed": "the frame moves in the direction asked, slower: a joint would pass its bound",
    "stopped": "a joint at its bound keeps the frame from moving in that direction at all",
    "bounded": "joints at their bounds keep the frame from moving as asked; this is the nearest",
    "damped": "near a singular position some of the motion asked for is left out, so that the joints stay slow",
    "lacking": "the joints cannot move the frame as asked, however fast they are; this is the nearest",
}
"""What each reason of a `RateSolution` means."""

TOL = 1e-9
"""A residual above this share of what was asked for is one."""

ROUNDING = 1e-12
"""What is rounding, as a share of what cancels: of a secondary motion, of the acceleration that speeds bring."""


@dataclass(frozen=True, eq=False, repr=False)
class RateSolution:
    """Joint speeds or accelerations for a frame, one or a batch, with what a forward pass says of them.

    Attributes
    ----------
    rates : ndarray (..., n)
        Joint speeds, rad/s or m/s, or accelerations, rad/s2 or m/s2; also called `qd` or `qdd`.
    given : ndarray (..., 6)
        What the frame does at these rates, by a forward pass from the base outward: linear, then angular.
    wanted : ndarray (..., 6)
        What was asked for.
    secondary : ndarray (..., n)
        What was wanted beside.
    limits : {"scale", "qp", None}
        How bounds were kept.
    low, high : ndarray
        The bounds of the rates, as they broadcast against them.

    Examples
    --------
    >>> from linkwise import robots
    >>> from linkwise.solve import joint_speeds
    >>> arm = robots.planar_2r()
    >>> made = joint_speeds(arm, [0.0, 1.5], [0.1, 0.2, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0])
    >>> made, made.qd.round(6).tolist()
    (<RateSolution: met>, [0.207091, -0.307343])
    """

    task: RateTask = field(repr=False)
    states: tuple[FloatArray, ...]
    wanted: FloatArray
    secondary: FloatArray
    rates: FloatArray
    given: FloatArray
    tells: FloatArray
    low: FloatArray
    high: FloatArray
    limits: str | None

    @property
    def qd(self) -> FloatArray:
        """Joint speeds (..., n), rad/s or m/s."""
        return self._of(1, "qd")

    @property
    def qdd(self) -> FloatArray:
        """Joint accelerations (..., n), rad/s2 or m/s2."""
        return self._of(2, "qdd")

    @property
    def scale(self) -> Any:
        """Share (...) of what was asked for that the bounds leave: 1 is all. Always 1 with ``limits="qp"`` or None."""
        return self._told("scale")

    @property
    def secondary_scale(self) -> Any:
        """Share (...) of the secondary motion that the bounds leave; NaN where a quadratic program weighed it."""
        return self._told("secondary_scale")

    @property
    def damping(self) -> Any:
        """The greatest damping of a singular value (...); 0 where there is none, and the answer is undistorted."""
        return self._told("damping")

    @property
    def singular_value(self) -> Any:
        """The least singular value (...) of the Jacobian that counts: see `linkwise.solve.joint_speeds` on units."""
        return self._told("singular_value")

    @property
    def linear_residual(self) -> Any:
        """What is given less `scale` times what was asked for (...), m/s or m/s2, over the components that count."""
        return self._told("linear_residual")

    @property
    def angular_residual(self) -> Any:
        """The same, rad/s or rad/s2."""
        return self._told("angular_residual")

    @cached_property
    def saturated(self) -> npt.NDArray[np.bool_]:
        """Which rates (..., n) stand at a bound."""
        size = np.abs(self.rates)
        near = TOL * size + ROUNDING * (size * self.task.turns).max(axis=-1, keepdims=True) / self.task.turns
        return np.asarray((self.rates >= self.high - near) | (self.rates <= self.low + near))

    @cached_property
    def exact(self) -> Any:
        """Whether (...) the frame does what was asked, at the speed asked."""
        return _plain(~self._missed & (np.asarray(self.scale) >= 1.0))

    @cached_property
    def reason(self) -> Any:
        """A word (...) of `RATE_REASONS`; ``"met"`` where `exact` is true, and only there."""
        scale, missed = np.asarray(self.scale), self._missed
        held = np.isnan(self.secondary_scale) | ((scale <= 0.0) & self._touching)
        far = np.where(held & self._touching, "bounded", np.where(np.asarray(self.damping) > 0.0, "damped", "lacking"))
        near = np.where(scale >= 1.0, "met", np.where(scale > 0.0, "slowed", "stopped"))
        return _plain(np.where(missed, far, near))

    def explain(self, index: int | tuple[int, ...] = ()) -> str:
        """Say in words what became of one of them; of the only one, where there is no batch.

        Parameters
        ----------
        index : int or tuple of int
            Which of a batch.

        Raises
        ------
        ArgumentError
            Where there is no such element.

        Examples
        --------
        >>> from linkwise import robots
        >>> from linkwise.solve import joint_speeds
        >>> made = joint_speeds(robots.planar_2r(), [0.0, 0.0], [0.1, 0.2, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0])
        >>> print(made.explain())
        damped: near a singular position some of the motion asked for is left out, so that the joints stay slow.
        The least singular value is 0, damped below 0.02; the motion that goes with it: 1 m along x.
        Missing: 0.1 m/s, 0 rad/s.
        """
        place = index if isinstance(index, tuple) else (index,)
        batch = self.rates.shape[:-1]
        if len(place) != len(batch) or not all(-size <= k < size for k, size in zip(place, batch, strict=True)):
            raise ArgumentError(f"index is {shown(index)}; expected one into the batch {batch}")
        return explained(self, place, RATE_REASONS)

    def __repr__(self) -> str:
        if not np.ndim(self.scale):
            return f"<RateSolution: {self.reason}{f', scale {self.scale:.3g}' if self.scale < 1 else ''}>"
        words, counts = np.unique(self.reason, return_counts=True)
        found = ", ".join(f"{count} {word}" for word, count in zip(words, counts, strict=True))
        return f"<RateSolution: {np.shape(self.scale)}{': ' if found else ''}{found}>"

    @cached_property
    def _missed(self) -> Any:
        """Where the residual is more than rounding."""
        length, rows = self.task.length, list(self.task.rows)
        asked = np.zeros_like(self.given)
        asked[..., rows] = np.broadcast_to(self.wanted, self.given.shape)[..., rows]
        size = np.linalg.norm(asked[..., :3], axis=-1) / length + np.linalg.norm(asked[..., 3:], axis=-1)
        cancelled = np.linalg.norm(self.secondary * self.task.turns, axis=-1)
        for speeds in self.states[1:]:
            cancelled = cancelled + np.square(speeds * self.task.turns).sum(axis=-1)
        slack = TOL * size + ROUNDING * cancelled
        linear, angular = np.asarray(self.linear_residual), np.asarray(self.angular_residual)
        return ~((linear <= slack * length) & (angular <= slack) & (slack < np.inf))

    @property
    def _touching(self) -> Any:
        return np.any(self.saturated, axis=-1)

    def _told(self, name: str) -> Any:
        return _plain(self.tells[..., TELLS.index(name)])

    def _of(self, order: int, name: str) -> FloatArray:
        if order != self.task.order:
            raise AttributeError(f"these are joint {'speeds' if order == 2 else 'accelerations'}; they have no {name}")
        return self.rates


def _plain(value: Any) -> Any:
    return value if np.ndim(value) else np.asarray(value).item()
