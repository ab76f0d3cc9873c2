"""Result of velocity solving: joint rates, the achieved twist, and the reasons of deviations."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.arrays import functions_of, plain
from linkwise.inverse_kinematics.velocity.kernel import DIAGNOSTICS, RANK
from linkwise.solve.solution import REASONS, Solution, element
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.inverse_kinematics.velocity.task import VelocityTask

COMPONENTS = ("along x", "along y", "along z", "about x", "about y", "about z")

#: Components of a direction below this are left out of the sentence.
SHOWN = 0.05


def explained(solution: VelocitySolution, place: tuple[int, ...]) -> str:
    """Explain the result of one element, a sentence a line."""
    reason = str(element(solution.reason, place))
    lines = [f"{reason}: {REASONS[reason]}."]
    if float(element(solution.damping, place)) > 0.0:
        lines.append(_damped(solution, place, missed=reason == "damped"))
    if reason == "lacking":
        lines.append(_rank(solution, place))
    if reason in ("damped", "lacking", "bounded"):
        per = "s2" if solution.task.order == 2 else "s"
        linear, angular = (float(element(value, place)) for value in (solution.linear_residual, solution.angular_residual))
        most, length = linear + solution.task.length * angular, solution.task.length
        lines.append(f"Missing: {_number(linear, most)} m/{per}, {_number(angular, most / length)} rad/{per}.")
    if solution.limits and element(solution.saturated, place).any():
        lines.append(_held(solution, place))
    return "\n".join(lines)


def _damped(solution: VelocitySolution, place: tuple[int, ...], missed: bool) -> str:
    """Describe how singular the position is, and which motion of the frame is damped."""
    region, constant = solution.task.filter
    least = _number(float(element(solution.singular_value, place)))
    treatment = f"damped below {region:g}" if region else f"and all are damped by {constant:g}"
    if not missed:
        return f"The least singular value is {least}, {treatment}."
    left, _, _ = np.linalg.svd(_matrix(solution, place), full_matrices=False)
    worst = left[:, -1] / solution.task.unit
    worst = worst / worst[np.argmax(np.abs(worst))]
    parts = [
        f"{part:.2g} {'m' if row < 3 else 'rad'} {COMPONENTS[row]}"
        for row, part in zip(solution.task.rows, worst, strict=True)
        if abs(part) > SHOWN
    ]
    return f"The least singular value is {least}, {treatment}; the motion that goes with it: {', '.join(parts)}."


def _rank(solution: VelocitySolution, place: tuple[int, ...]) -> str:
    """Describe how many of the selected components the joints can give."""
    values = np.linalg.svd(_matrix(solution, place), compute_uv=False)
    rank = int((values > RANK * values.max(initial=0.0)).sum())
    return f"Of the {len(solution.task.rows)} components that count the joints give {rank} independently."


def _matrix(solution: VelocitySolution, place: tuple[int, ...]) -> FloatArray:
    q = plain(solution.states[0])
    return solution.task.matrix(np.broadcast_to(q, (*solution.rates.shape[:-1], q.shape[-1]))[place])


def _held(solution: VelocitySolution, place: tuple[int, ...]) -> str:
    names = solution.task.mechanism.velocity_names
    rates, at = element(solution.rates, place), element(solution.saturated, place)
    held = ", ".join(
        f"{name} at {float(rate) + 0.0:.4g}" for name, rate, stands in zip(names, rates, at, strict=True) if stands
    )
    scale = float(element(solution.scale, place))
    slowed = f"; the whole motion is {scale:.4g} of what was asked" if scale < 1.0 else ""
    return f"At a bound: {held}{slowed}."


def _number(value: float, size: float = 1.0) -> str:
    """Format four digits; values within rounding relative to a size become zero."""
    return f"{0.0 if abs(value) < 1e-12 * size else value:.4g}"


#: Meanings of the reasons of a `VelocitySolution`.
VELOCITY_REASONS = {word: REASONS[word] for word in ("met", "slowed", "stopped", "bounded", "damped", "lacking")}

#: Tolerance of the residual, relative to the target.
TOL = 1e-9

#: Rounding, relative to the cancelling terms: of a secondary motion, of the acceleration by velocities.
ROUNDING = 1e-12


class VelocitySolution(Solution):
    """Joint velocities or accelerations for a frame, one or a batch, with the twist from a forward pass.

    Attributes
    ----------
    rates : ndarray (..., n)
        Joint speeds, rad/s or m/s, or accelerations, rad/s2 or m/s2; also called `qd` or `qdd`.
    achieved : ndarray (..., 6)
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
    >>> from linkwise.inverse_kinematics import joint_velocities
    >>> arm = robots.planar_2r()
    >>> made = joint_velocities(arm, [0.0, 1.5], [0.1, 0.2, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0])
    >>> made, made.qd.round(6).tolist()
    (<VelocitySolution: met>, [0.207091, -0.307343])
    """

    _tasks = ""
    task: VelocityTask
    states: tuple[FloatArray, ...]
    wanted: FloatArray
    secondary: FloatArray
    rates: FloatArray
    achieved: FloatArray
    diagnostics: FloatArray
    low: FloatArray
    high: FloatArray
    iterations: Any = 0

    @property
    def qd(self) -> FloatArray:
        """Joint velocities (..., n), rad/s or m/s."""
        return self._of(1, "qd")

    @property
    def qdd(self) -> FloatArray:
        """Joint accelerations (..., n), rad/s2 or m/s2."""
        return self._of(2, "qdd")

    @property
    def scale(self) -> Any:
        """Fraction (...) of the target that the bounds permit: 1 is all. Always 1 with ``limits="qp"`` or None."""
        return self._diagnostic("scale")

    @property
    def secondary_scale(self) -> Any:
        """Share (...) of the secondary motion that the bounds leave; NaN where a quadratic program weighed it."""
        return self._diagnostic("secondary_scale")

    @property
    def damping(self) -> Any:
        """Greatest damping of a singular value (...); 0 if there is none, and the solution is exact."""
        return self._diagnostic("damping")

    @property
    def singular_value(self) -> Any:
        """Smallest singular value (...) of the task Jacobian; units as for `joint_velocities`."""
        return self._diagnostic("singular_value")

    @property
    def linear_residual(self) -> Any:
        """Achieved minus `scale` times target velocity (...), m/s or m/s2, over the selected components."""
        return self._diagnostic("linear_residual")

    @property
    def angular_residual(self) -> Any:
        """The same, rad/s or rad/s2."""
        return self._diagnostic("angular_residual")

    @cached_property
    def saturated(self) -> npt.NDArray[np.bool_]:
        """Mask of rates (..., n) at a bound."""
        module, size = self._module, abs(self.rates)
        scale, low, high = (_array(module, x) for x in (self.task.rate_scale, self.low, self.high))
        near = TOL * size + ROUNDING * module.amax(size * scale, axis=-1, keepdims=True) / scale
        return (self.rates >= high - near) | (self.rates <= low + near)  # type: ignore[no-any-return]

    @property
    def _module(self) -> Any:
        """The functions that these arrays are for."""
        return functions_of("VelocitySolution", [self.rates]) or np

    @cached_property
    def exact(self) -> Any:
        """True (...) if the frame has the target velocity."""
        return _plain(~self._missed & (self.diagnostics[..., DIAGNOSTICS.index("scale")] >= 1.0))

    @property
    def success(self) -> Any:
        """The same as `exact`."""
        return self.exact

    @property
    def position_error(self) -> Any:
        """The same as `linear_residual`."""
        return self.linear_residual

    @property
    def rotation_error(self) -> Any:
        """The same as `angular_residual`."""
        return self.angular_residual

    @cached_property
    def reason(self) -> Any:
        """A key (...) of `VELOCITY_REASONS`; ``"met"`` where `exact` is true, and only there."""
        names, touching = ("scale", "secondary_scale", "damping"), plain(self.saturated).any(axis=-1)
        missed, (scale, beside, damping) = plain(self._missed), (plain(self._diagnostic(name)) for name in names)
        held = np.isnan(beside) | ((scale <= 0.0) & touching)
        far = np.where(held & touching, "bounded", np.where(damping > 0.0, "damped", "lacking"))
        near = np.where(scale >= 1.0, "met", np.where(scale > 0.0, "slowed", "stopped"))
        return _plain(np.where(missed, far, near))

    def explain(self, index: int | Sequence[int] | None = None) -> str:
        """Explain the result of one element in words; of the only one without a batch.

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
        >>> from linkwise.inverse_kinematics import joint_velocities
        >>> made = joint_velocities(robots.planar_2r(), [0.0, 0.0], [0.1, 0.2, 0, 0, 0, 0], mask=[1, 1, 0, 0, 0, 0])
        >>> print(made.explain())
        damped: near a singular position some of the motion asked for is left out, so that the joints stay slow.
        The least singular value is 0, damped below 0.02; the motion that goes with it: 1 m along x.
        Missing: 0.1 m/s, 0 rad/s.
        """
        return self._explained(self._place(index))

    def _explained(self, place: tuple[int, ...]) -> str:
        return explained(self, place)

    @property
    def _details(self) -> str:
        return f", scale {self.scale:.3g}" if self.scale < 1 else ""

    @cached_property
    def _missed(self) -> Any:
        """True where the residual exceeds rounding."""
        module, length = self._module, self.task.length
        counts, scale, wanted, secondary = (
            _array(module, x)
            for x in (np.isin(np.arange(6), self.task.rows), self.task.rate_scale, self.wanted, self.secondary)
        )
        asked = module.where(counts, wanted + 0.0 * self.achieved, 0.0) ** 2
        size = module.sqrt(asked[..., :3].sum(-1)) / length + module.sqrt(asked[..., 3:].sum(-1))
        cancelled = module.sqrt(((secondary * scale) ** 2).sum(-1))
        for speeds in self.states[1:]:
            cancelled = cancelled + ((_array(module, speeds) * scale) ** 2).sum(-1)
        slack = TOL * size + ROUNDING * cancelled
        linear, angular = (self.diagnostics[..., DIAGNOSTICS.index(f"{kind}_residual")] for kind in ("linear", "angular"))
        return ~((linear <= slack * length) & (angular <= slack) & (slack < np.inf))

    def _diagnostic(self, name: str) -> Any:
        return _plain(self.diagnostics[..., DIAGNOSTICS.index(name)])

    def _of(self, order: int, name: str) -> FloatArray:
        if order != self.task.order:
            raise AttributeError(f"these are joint {'speeds' if order == 2 else 'accelerations'}; they have no {name}")
        return self.rates


class GraphVelocitySolution(VelocitySolution):
    """A solution that a graph of `torch.compile` returns; outside of it `reason` has the words."""

    reason = property(vars(VelocitySolution)["reason"].func)  # (a cached one takes a lock, which the compiler cannot)


def _array(module: Any, x: Any) -> Any:
    """An array of the module; a tensor as it is."""
    return x if hasattr(x, "detach") else module.asarray(x)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, (np.ndarray, np.generic)) and not value.ndim else value
