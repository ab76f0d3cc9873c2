"""Sampling of mechanisms with closed loops: random configurations are projected onto closed ones."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.manipulability import orthonormal, volume_of
from linkwise.loops.linkage import LEFT, Linkage
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closing, random_starts
from linkwise.loops.mobility import generic_positions
from linkwise.loops.step_kernels import LinkageEquations
from linkwise.model.tree import ManifoldJoint
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints import Closed
from linkwise.spatial.linear import RANK
from linkwise.spatial.scalar import Array, FloatArray, greatest
from linkwise.spatial.validation import rows_of
from linkwise.workspace.postures import PROBES, Bools, Postures

#: Up to this ratio of its columns' sizes, apart from each other, a basis of the motions is as good as any.
SPREAD_OUT = 1e4


class ClosedPostures(Postures):
    """Closed positions of a mechanism with loops."""

    @cached_property
    def task(self) -> LoopEquations:
        """The closure equations."""
        return closing(self.tree)

    @cached_property
    def linkage(self) -> LinkageEquations | None:
        """The equations that give all velocities from driven joints; None where driven joints do not determine them."""
        if self.tree.manifold_joints:
            return None
        try:
            return Linkage(self.tree).equations
        except ArgumentError:
            return None

    @cached_property
    def closer(self) -> CompiledProblem:
        """The compiled problem of closing the loops."""
        return system_of(self.tree, [Closed(loop) for loop in self.tree.loops])

    @property
    def tolerance(self) -> float:
        """Tolerance of the constraints, m and rad."""
        return 0.5 * CLOSED * min(self.task.size, 1.0)

    @cached_property
    def moving(self) -> npt.NDArray[np.intp]:
        """All coordinates: through the loops each may move the frame."""
        return np.arange(self.tree.n)

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """Joints with quaternions in loops, and those on the path to the frame."""
        return self.task.manifold + self.on_the_way(self.task.manifold)

    @cached_property
    def spread(self) -> FloatArray:
        """Size (nv - n,) of a full range of the velocities of joints with quaternions, rad or m."""
        lengths = self.tree.is_linear_velocity[: self.tree.nv - self.tree.n]
        return np.where(lengths, self.task.size, np.pi)

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Coordinate limits (n,); one full turn, or four longest offsets, without a limit."""
        low, high = self.tree.q_min, self.tree.q_max
        reach = np.where(self.tree.is_length, 2.0 * self.task.size, np.pi)
        start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * reach, -reach))
        return start, np.where(np.isfinite(high), high, start + 2.0 * reach)

    @cached_property
    def first_axis(self) -> None:
        """None: no joint rotates the whole workspace."""
        return None

    @cached_property
    def probes(self) -> FloatArray:
        """The Jacobians (k, 6, nv) of some closed postures, of the motions that the loops allow."""
        return self._rates(self._turned(np.random.default_rng(0), generic_positions(self.task)[:PROBES]))

    @cached_property
    def closed_kernel(self) -> Kernel:
        """From q (nq,) to position (3,), z axis (3,), manipulability of the frame, and the condition of its velocities."""
        outputs = {"p": (3,), "z": (3,), "w": (), "spread": (), "left": ()}
        return Kernel(trace(self._closed_place, "closed_posture", {"q": (self.tree.nq,)}, outputs))

    def _closed_place(self, q: Array) -> tuple[Array, Array, Any, Any, Any]:
        assert self.linkage is not None
        speeds, left = self.linkage.motions(q)
        basis, sizes = orthonormal(speeds)
        spread = reduce(greatest, sizes) / -reduce(greatest, [-size for size in sizes])
        pose = forward_kinematics(self.tree, q, link=self.link)
        rates = self.directions @ self.rates(q) @ basis
        return pose[:3, 3], pose[:3, 2], volume_of(rates, self.rank(list(rows_of(self.mask)))), spread, left

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray, Bools]:
        """Positions (k, 3), manipulabilities (k,), and whether loops are closed and the frame points as required (k,)."""
        if self.linkage is None:
            pose = np.asarray(kernel_of(self.tree, "forward_kinematics", None, {"link": self.link})(q))
            p, z, w, poor = pose[:, :3, 3], pose[:, :3, 2], np.zeros(len(q)), np.ones(len(q), dtype=bool)
        else:
            with np.errstate(all="ignore"):
                p, z, w, spread, left = self.closed_kernel(q)
            poor = ~((spread <= SPREAD_OUT) & (left <= LEFT))
        valid = (self.task.error(q) <= CLOSED) & ~self.task.beyond(q, CLOSED)
        if self.pointing is not None:
            valid &= self.pointing.holds(z)
        ill_conditioned = np.flatnonzero(poor & valid)
        if ill_conditioned.size:
            values = np.linalg.svd(self.directions @ self._rates(q[ill_conditioned]), compute_uv=False)
            w[ill_conditioned] = np.prod(values[:, : self.rank(list(rows_of(self.mask)))], axis=1)
        return p, w, valid

    def draw(self, rng: np.random.Generator, count: int, keep: int = -1) -> FloatArray:
        """Postures (count, nq): random ones, brought to closed ones near by; those that do not close are open still."""
        return self._turned(rng, self._closed(random_starts(self.task, count, int(rng.integers(2**31)))))

    def changed(self, rng: np.random.Generator, q: FloatArray, step: FloatArray, keep: int = -1) -> FloatArray:
        """Postures beside others (k, nq), closed again; those that do not close are open still."""
        return self._closed(super().changed(rng, q, step, keep))

    def _closed(self, q: FloatArray) -> FloatArray:
        closer = self.closer
        rows = closer.reaching(np.zeros((len(q), 0)), q, q[:0], closer.settings(self.tolerance))
        return closer.unmoved(np.ascontiguousarray(rows[:, : self.tree.nq]), q)

    def _turned(self, rng: np.random.Generator, q: FloatArray) -> FloatArray:
        """Postures (k, nq), in place, with the joints with quaternions that no loop runs through anywhere in their cones."""
        for at in self.manifold:
            if at not in self.task.manifold:
                q[:, at.q] = at.joint.random(rng, len(q), at.most)
        return q

    def _rates(self, q: FloatArray) -> FloatArray:
        """J P (k, 6, nv): the Jacobian of the frame, of the part of joint velocities that keeps the loops closed."""
        jac = np.zeros((len(q), len(self.task.rows), self.tree.nv))
        jac[..., self.task.speeds] = self.task.jacobian(q) / self.task.columns
        closed = np.eye(self.tree.nv) - np.linalg.pinv(jac, rcond=RANK) @ jac
        return np.asarray(kernel_of(self.tree, "jacobian", None, {"link": self.link})(q) @ closed)
