"""Constraints on a mechanism as functions of scalars: residuals, Jacobians, tolerances, and bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise.kinematics.configuration import integrate
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintEquations, squared
from linkwise.solve.joint_limits import CoordinateBounds, JointRanges
from linkwise.solve.lengths import size_of
from linkwise.spatial.scalar import Array, root, select
from linkwise.spatial.vector import column

#: Tolerance of the angle of an axis on its cone, for rounding, rad.
CONE_ROUNDING = 1e-12


class ConstraintProblem:
    """Constraints with numbers p that differ from task to task, and coordinates q (nq,).

    Parameters
    ----------
    tree : Tree
        The mechanism.
    constraints : sequence of Constraint
        Constraints; of their numbers only the count is used, and kept.
    limits : bool
        Whether joint limits hold.
    """

    def __init__(self, tree: Tree, constraints: Sequence[Constraint], *, limits: bool = True) -> None:
        self.tree, self.constraints = tree, tuple(constraint.kind() for constraint in constraints)
        self.counts = [int(constraint.task.shape[-1]) for constraint in constraints]
        self.weighted = any(constraint.weight is not None for constraint in constraints)
        self.size = sum(self.counts)
        counted = [i for constraint in constraints for i in constraint.counted(tree)]
        self.ranges, self.limited = JointRanges.of(tree, limits=limits).keeping_turns_of(counted), limits
        self.parameters = self.size
        self.length = size_of(tree)
        self.base = tree.nq - tree.n
        most = [most for _, most in self._cones()]
        self.bounded = bool(np.isfinite([*self.ranges.low, *self.ranges.high, *most]).any())

    def bounds(self, p: Array) -> CoordinateBounds:
        """Bounds of the joint coordinates."""
        return self.ranges

    def split(self, p: Array) -> list[Array]:
        """The numbers of each constraint."""
        ends = np.cumsum(self.counts, dtype=int)
        parts = [p[end - count : end] for end, count in zip(ends, self.counts, strict=True)]
        return [part if c.weight is None else part[:-1] for c, part in zip(self.constraints, parts, strict=True)]

    def gains(self, p: Array) -> list[Any]:
        """The root of the weight of each constraint."""
        ends = np.cumsum(self.counts, dtype=int)
        return [1.0 if c.weight is None else root(p[end - 1]) for c, end in zip(self.constraints, ends, strict=True)]

    def at(self, q: Array) -> Configuration:
        """The mechanism at q (nq,)."""
        return Configuration(self.tree, q)

    def parts(self, at: Configuration, p: Array) -> list[ConstraintEquations]:
        """The equations of each constraint, m and rad."""
        return [c.equations(at, part) for c, part in zip(self.constraints, self.split(p), strict=True)]

    def weights(self, parts: Sequence[ConstraintEquations]) -> Array:
        """Weight of each row (m,): lengths are divided by the mechanism's size."""
        return np.array([1.0 if angle else 1.0 / self.length for part in parts for angle in part.angles])

    def stacked(
        self, parts: Sequence[ConstraintEquations], *, exact: bool = False, gains: Sequence[Any] | None = None
    ) -> tuple[Array, Array]:
        """Residual (m,) and rates (m, nv) of all rows, weighted, by the gains of the constraints too if there are any.

        The rates are those for a step to a solution, or, exact, minus the derivative of the residual.
        """
        if not parts:
            return np.zeros(0), np.zeros((0, self.tree.nv))
        weights = self.weights(parts)
        if gains is not None:
            weights = weights * np.array([gain for gain, part in zip(gains, parts, strict=True) for _ in part.angles])
        rates = [part.exact if exact and part.exact is not None else part.rates for part in parts]
        residual = np.concatenate([part.residual for part in parts])
        return residual * column(weights, residual), np.concatenate(rates) * column(weights, rates[0])

    def errors(self, q: Array, p: Array) -> tuple[Any, Any]:
        """Squares of the distance (m2) and of the angle (rad2) from holding, over all constraints, by a separate check."""
        at = Configuration(self.tree, q)
        pairs = [c.errors(at, part) for c, part in zip(self.constraints, self.split(p), strict=True)]
        if self.weighted:  # (constraints of weight zero need not hold)
            pairs = [
                tuple(select(gain, value, 0.0) for value in pair) for gain, pair in zip(self.gains(p), pairs, strict=True)
            ]
        return sum((pair[0] for pair in pairs), 0.0), sum((pair[1] for pair in pairs), 0.0)

    def squares(self, parts: Sequence[ConstraintEquations], counting: Array | None = None) -> tuple[Any, Any]:
        """Squared residuals of all lengths (m2) and all angles (rad2), of rows whose `counting` (m,) is not zero."""
        pairs = [(value, angle) for part in parts for value, angle in zip(part.residual, part.angles, strict=True)]
        if counting is not None:
            pairs = [(select(abs(w), value, w), angle) for w, (value, angle) in zip(counting, pairs, strict=True)]
        far, turned = ([value for value, angle in pairs if angle is kind] for kind in (False, True))
        return squared(np.array(far)), squared(np.array(turned))

    def met(self, parts: Sequence[ConstraintEquations], residual: Array, settings: Array) -> Any:
        """1 if lengths and angles are within the tolerances, whose squares are the first settings; else 0, also for NaN."""
        if self.weighted:
            far, turned = self.squares(parts, residual)
            return select(settings[0] - far, 1.0, 0.0) * select(settings[1] - turned, 1.0, 0.0)
        angles = [angle for part in parts for angle in part.angles]
        far = squared(np.array([value for value, angle in zip(residual, angles, strict=True) if not angle]))
        turned = squared(np.array([value for value, angle in zip(residual, angles, strict=True) if angle]))
        near = select(settings[0] - far * self.length**2, 1.0, 0.0)
        return near * select(settings[1] - turned, 1.0, 0.0)

    def retract(self, q: Array, dq: Array) -> Array:
        """Q after a step dq (nv,), quaternions included."""
        return integrate(self.tree, q, dq, 1.0) if self.base else q + dq

    def within(self, bounds: CoordinateBounds, q: Array) -> Array:
        """Q (nq,), at their bounds the joint coordinates that are beyond."""
        return np.concatenate([self.in_cones(q), bounds.clipped(q[self.base :])])

    def in_cones(self, q: Array) -> Array:
        """The first of the coordinates q (nq,), those of joints with quaternions, brought into their cones."""
        return np.concatenate([q[:0], *(at.joint.clipped(q[at.q], most) for at, most in self._cones())])

    def outside(self, q: Array, slack: Any = 0.0) -> Any:
        """Number of joints beyond their limits at q (nq,) by more than the slack."""
        count = self.ranges.outside(q[self.base :], slack)
        for at, most in self._cones():
            if np.isfinite(most):
                count = count + select(at.joint.excess(q[at.q], most) - slack - CONE_ROUNDING, 1.0, 0.0)
        return count

    def _cones(self) -> list[tuple[ManifoldJoint, float]]:
        return [(at, at.most if self.limited else np.inf) for at in self.tree.manifold_joints]

    def shares(self, bounds: CoordinateBounds, q: Array, slope: Array) -> Array:
        """Mask of the velocities, 0 where the joint is at a bound and the slope points beyond."""
        shares, first = np.full(slope.shape, 1.0, np.result_type(q, slope)), len(slope) - self.tree.n
        shares[first:] = bounds.movable(q[self.base :], slope[first:])
        return shares
