"""Equations of a linkage over scalars: a step of the driven coordinates, and passive velocities and accelerations.

Of the closure equations as many as there are passive coordinates are solved, and all of them are checked afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from linkwise.kernel import Kernel, trace
from linkwise.kinematics.configuration import integrate
from linkwise.kinematics.loop_constraints import closure, closure_bias, closure_facing, closure_jacobian, closure_sine
from linkwise.loops.loop_solver import CLOSED, LoopEquations
from linkwise.model.tree import Tree
from linkwise.spatial.linear import RANK, Solved, solve
from linkwise.spatial.scalar import Array, FloatArray, blank, greatest, least, select

#: Newton steps from one position to the next.
STEPS = 4

#: The second Newton step must be shorter than this share of the first: then the solution is the one that continues the
#: branch (the monotonicity test of P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, chapters 2 and 5).
CONTRACTION = 0.25

#: The chord from the start to the solution may differ by this share from the tangent at the solution: otherwise the solution
#: is on another branch that meets the first, or the branch turns within the step.
KINK = 0.5

#: A second step below this is short whatever the first was; rad, or longest offsets.
SHORT = 1e-8

#: The last step must be shorter: what is left is about its square; rad, or longest offsets.
LAST = 2e-7

#: Result of a step: on its branch and closed; loops still open; too long to be certain of the branch; beyond limits.
DONE, OPEN, FAR, OUTSIDE = 0.0, 1.0, 2.0, 3.0


@dataclass(frozen=True, eq=False)
class LinkageEquations:
    """The equations of a linkage: which coordinates are driven, which follow, which closure equations settle them.

    Attributes
    ----------
    task : LoopEquations
        The closure equations.
    driven, passive : tuple of int
        Places among the speeds of the task; those of joints with quaternions that are neither rest.
    rows : tuple of int
        Indices of closure equations, one for each passive speed.
    """

    task: LoopEquations
    driven: tuple[int, ...]
    passive: tuple[int, ...]
    rows: tuple[int, ...]

    @property
    def tree(self) -> Tree:
        """The mechanism."""
        return self.task.mechanism

    @property
    def scale(self) -> FloatArray:
        """Scales of closure equations (K,) that make them dimensionless."""
        return self.task.rows

    @property
    def unit(self) -> FloatArray:
        """Scales of the velocities (s,), as divisors."""
        return self.task.columns

    def kernel(self, name: str) -> Kernel:
        """The compiled `step`, `velocity` or `acceleration`."""
        nq, nv, driven = (self.tree.nq,), (self.tree.nv,), (len(self.driven),)
        inputs, outputs = {
            "step": ({"u": driven, "q": nq}, {"q_next": nq, "error": (), "code": ()}),
            "velocity": ({"q": nq, "ud": driven}, {"qd": nv, "open": (), "left": ()}),
            "acceleration": ({"q": nq, "qd": nv, "udd": driven}, {"qdd": nv, "open": (), "left": ()}),
        }[name]
        function = getattr(self, name)
        return Kernel(trace(function, f"linkage_{name}", inputs, outputs), None, function.__doc__ or "")

    def step(self, u: Array, q: Array, steps: int = STEPS) -> tuple[Array, Any, Any]:
        """Close the loops at the driven coordinates u (m,) by Newton steps from q (nq,), the first along the tangent there.

        Returns
        -------
        q : (nq,)
            The position.
        error : scalar
            The greatest of all closure equations there; 2 where a hinge has opposed axes.
        code : scalar
            0 where the loops are closed on the branch of the start, within the joint limits; else see `DONE`.
        """
        here = np.array(q, dtype=object)
        for place, value in zip(self.driven, u, strict=True):
            here[self.task.shift + place] = value
        lengths: list[Any] = []
        signs: list[Any] = []
        unit = self.unit[list(self.passive)]
        tangent: Array = blank(len(self.passive))
        shift: Array = blank(len(self.passive))
        for number in range(steps):
            point = here if number else q
            residual, jac = closure_sine(self.tree, point), closure_jacobian(self.tree, point)
            right = -residual[list(self.rows), None]
            if not number:
                right = right + self._driven_rows(jac, here - q)[:, None]
            if number == steps - 1:
                right = np.concatenate([right, self._driven_rows(jac, here - q)[:, None]], axis=1)
            solved = self._solve(jac, right)
            here = self._moved(here, solved.unknowns[:, 0])
            shift = shift + solved.unknowns[:, 0]
            tangent = solved.unknowns[:, -1]
            lengths.append(_square(solved.unknowns[:, 0] / unit))
            signs.append(solved.sign)
        error = self._error(here)
        short = SHORT**2 - greatest(_square(shift / unit), _square(tangent / unit))
        straight = greatest(KINK**2 * _square(shift / unit) - _square((shift - tangent) / unit), short)
        near = select(straight, self._near(lengths, signs), -1.0)
        code = select(self._inside(here), DONE, OUTSIDE)
        code = select(near, code, FAR)
        return here, error, select(CLOSED - error, code, select(near, OPEN, FAR))

    def velocity(self, q: Array, ud: Array) -> tuple[Array, Any, Any]:
        """Velocities (nv,) for driven velocities ud (m,) at q (nq,), closure error, and residual of all equations."""
        jac = closure_jacobian(self.tree, q)
        qd = self.completed(jac, blank(len(self.scale)), ud)
        speeds = qd[self.task.speeds] / self.unit
        cause = _greatest(ud / self.unit[list(self.driven)])
        return qd, self._error(q), select(_bounded(speeds, cause), _share(jac @ qd * self.scale, speeds), 2.0)

    def acceleration(self, q: Array, qd: Array, udd: Array) -> tuple[Array, Any, Any]:
        """Accelerations (nv,) for driven accelerations udd (m,), closure error, and residual of all equations."""
        jac, bias = closure_jacobian(self.tree, q), closure_bias(self.tree, q, qd)
        qdd = self.completed(jac, bias, udd)
        speeds = qd[self.task.speeds] / self.unit
        of_speed = _share(jac @ qd * self.scale, speeds)
        scaled = qdd[self.task.speeds] / self.unit
        left = greatest(of_speed, _share((jac @ qdd + bias) * self.scale, np.concatenate([scaled, speeds * speeds])))
        cause = greatest(_greatest(udd / self.unit[list(self.driven)]), _greatest(bias * self.scale))
        return qdd, self._error(q), select(_bounded(scaled, cause), left, 2.0)

    def completed(self, jac: Array, bias: Array, driven: Array) -> Array:
        """Rates (nv,) with J rates + bias = 0 for the rows that count, from those of the driven coordinates."""
        rates = blank(self.tree.nv)
        rates[self.task.speeds[list(self.driven)]] = driven
        right = -(jac @ rates + bias)[list(self.rows)]
        rates[self.task.speeds[list(self.passive)]] = self._solve(jac, right[:, None]).unknowns[:, 0]
        return rates

    def motions(self, q: Array) -> tuple[Array, Any]:
        """Velocities (nv, m) for a unit velocity of each driven coordinate at q (nq,), and residual of all equations."""
        jac = closure_jacobian(self.tree, q)
        columns = [self.completed(jac, blank(len(self.scale)), unit) for unit in np.eye(len(self.driven))]
        shares = [_share(jac @ qd * self.scale, qd[self.task.speeds] / self.unit) for qd in columns]
        return np.stack(columns, axis=1), reduce(greatest, shares)

    def _driven_rows(self, jac: Array, moved: Array) -> Array:
        """Right side of the passive coordinates' equations after a driven motion (nq,)."""
        columns = jac[list(self.rows)][:, self.task.speeds[list(self.driven)]]
        return np.asarray(-(columns @ moved[[self.task.shift + k for k in self.driven]]))

    def _solve(self, jac: Array, right: Array) -> Solved:
        """Solve with the rows that count and the columns of the passive coordinates."""
        square = jac[list(self.rows)][:, self.task.speeds[list(self.passive)]]
        scale = self.scale[list(self.rows)]
        if np.all(scale == scale[:1]):
            return solve(square, right)
        return solve(square * scale[:, None], right * scale[:, None])

    def _moved(self, q: Array, motion: Array) -> Array:
        """Configuration (nq,) after a small motion along the passive velocities."""
        if self.task.manifold:
            whole = blank(self.tree.nv)
            whole[self.task.speeds[list(self.passive)]] = motion
            return np.asarray(integrate(self.tree, q, whole, 1.0))
        result, places = np.array(q, dtype=object), [self.task.shift + k for k in self.passive]
        result[places] = result[places] + motion
        return result

    def _error(self, q: Array) -> Any:
        """Greatest closure residual at q, 2 for a hinge with opposed axes."""
        worst = _greatest(closure(self.tree, q) * self.scale)
        for facing in closure_facing(self.tree, q):
            worst = select(facing, worst, 2.0)
        return worst

    def _near(self, lengths: list[Any], signs: list[Any]) -> Any:
        """Above zero where the first steps contract and the Jacobian of the passive coordinates keeps its orientation."""
        if not self.passive:
            return 1.0
        contracts = greatest(CONTRACTION**2 * lengths[0] - lengths[1], SHORT**2 - lengths[1])
        contracts = least(contracts, LAST**2 - lengths[-1])
        return select(signs[0] * signs[-1], contracts, -1.0)

    def _inside(self, q: Array) -> Any:
        """Above zero where no joint is beyond its limits by more than rounding."""
        excess: Any = -1.0
        for k, (low, high) in enumerate(zip(self.tree.q_min, self.tree.q_max, strict=True)):
            allowed, value = CLOSED * self.unit[self.task.first + k], q[self.task.base + k]
            if np.isfinite(high):
                excess = greatest(excess, value - (high + allowed))
            if np.isfinite(low):
                excess = greatest(excess, (low - allowed) - value)
        for at in self.task.manifold:
            if np.isfinite(at.most):
                excess = greatest(excess, at.joint.excess(q[at.q], at.most) - CLOSED)
        return select(excess, 0.0, 1.0)


def _square(values: Array) -> Any:
    return sum(value * value for value in values) if len(values) else 0.0


def _share(values: Array, of: Array) -> Any:
    """Ratio of the greatest of some values to the greatest of others."""
    return _greatest(values) / greatest(_greatest(of), 1e-300)


def _greatest(values: Array) -> Any:
    return reduce(greatest, [abs(value) for value in values])


def _bounded(values: Array, cause: Any) -> Any:
    """Positive if values are at most their cause divided by the zero threshold of singular values."""
    return (cause / RANK + 1e-300) - _greatest(values)
