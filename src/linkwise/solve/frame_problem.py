"""Constraints on frames as equations over batches of numbers: kernels that loop over the bodies give the frames.

Equations of a constraint on frames see of a mechanism the poses of these alone, and the columns of their Jacobians, each as
the others. They are traced for one column, so that their code is the same for all mechanisms, of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import BODIES, kernel_of, loops_over
from linkwise.expr.node import symbol
from linkwise.kernel import Kernel, trace
from linkwise.kinematics import many_joints
from linkwise.kinematics.configuration import random_configuration
from linkwise.model.tree import Tree
from linkwise.solve.constraints.constraint import Configuration, Constraint, ConstraintEquations
from linkwise.solve.problem import ConstraintProblem
from linkwise.spatial.scalar import Array, FloatArray

#: Random configurations for the detection of coordinates that move a frame, and the relative threshold of rounding.
LOOKS, ROUNDING = 3, 1e-13


class Frames(Configuration):
    """View of a mechanism for equations: poses of frames, and one column in place of all columns of their Jacobians.

    Parameters
    ----------
    known : mapping
        Of frames pose (4, 4) and column (6, 1); others are symbols, and are listed in `known` too.
    """

    def __init__(self, known: Mapping[int | str, tuple[Array, Array]]) -> None:
        self.known = dict(known)  # (there is no tree and no q: equations that ask for them raise AttributeError)

    def pose(self, link: int | str) -> Array:
        """T_world_link (4, 4)."""
        return self._frame(link)[0]

    def jacobian(self, link: int | str) -> Array:
        """The column (6, 1)."""
        return self._frame(link)[1]

    def _frame(self, link: int | str) -> tuple[Array, Array]:
        if link not in self.known:
            self.known[link] = _symbols(4, 4), _symbols(6, 1)
        return self.known[link]


def _symbols(*shape: int) -> Array:
    return np.array([symbol(f"\4{k}") for k in range(int(np.prod(shape)))], dtype=object).reshape(shape)


class BatchConfiguration(Configuration):
    """A mechanism at many configurations, q (nq, N): poses (N, 4, 4) and Jacobians (N, 6, nv) from its kernels."""

    def pose(self, link: int | str) -> FloatArray:
        """T_world_link (N, 4, 4)."""
        return self._kept(self._poses, "forward_kinematics", link)

    def jacobian(self, link: int | str) -> FloatArray:
        """J (N, 6, nv) of the link's frame, world axes."""
        return self._kept(self._jacobians, "jacobian", link)

    def _kept(self, known: dict[int | str, Array], name: str, link: int | str) -> FloatArray:
        if link not in known:
            known[link] = np.asarray(kernel_of(self.tree, name, None, {"link": link})(np.moveaxis(self.q, 0, -1)))
        return known[link]


@dataclass(frozen=True)
class FrameConstraint:
    """A constraint on frames, compiled for one column of their Jacobians.

    Attributes
    ----------
    links : tuple
        The frames.
    angles : tuple of bool
        Which rows are angles, (m,).
    ranged : bool
        Whether it is a range.
    rows : Kernel
        Numbers, poses (4, 4) and columns (6, 1) to residual (m,), rates and exact rates (m, 1).
    lacking : Kernel
        Numbers and poses to the squares of distance and angle.
    """

    links: tuple[int | str, ...]
    angles: tuple[bool, ...]
    ranged: bool
    rows: Kernel
    lacking: Kernel

    @classmethod
    def of(cls, constraint: Constraint) -> FrameConstraint | None:
        """The same constraint; None where its equations ask for more than frames."""
        count, view = constraint.numbers.shape[-1], Frames({})
        try:
            equations = constraint.equations(view, _symbols(count))
            constraint.errors(view, _symbols(count))
        except AttributeError:
            return None
        links = tuple(view.known)

        def rows(p: Array, *frames: Array) -> tuple[Array, ...]:
            at = Frames(dict(zip(links, zip(frames[: len(links)], frames[len(links) :], strict=True), strict=True)))
            traced = constraint.equations(at, p)
            return traced.residual, traced.rates, traced.rates if traced.exact is None else traced.exact

        def errors(p: Array, *poses: Array) -> tuple[Any, Any]:
            return constraint.errors(Frames({link: (pose, pose[:0]) for link, pose in zip(links, poses, strict=True)}), p)

        poses = {"p": (count,), **{f"T{k}": (4, 4) for k in range(len(links))}}
        columns = {f"J{k}": (6, 1) for k in range(len(links))}
        compiled = Kernel(trace(rows, "frame_equations", {**poses, **columns}))
        ranged = (equations.interval or constraint.interval(view, _symbols(count))) is not None
        return cls(links, equations.angles, ranged, compiled, Kernel(trace(errors, "frame_errors", poses)))

    def equations(self, at: BatchConfiguration, p: FloatArray) -> ConstraintEquations:
        """The equations at many configurations, for numbers (p, N): residual (m, N), rates (m, nv, N)."""
        poses = [at.pose(link)[:, None] for link in self.links]
        columns = [np.moveaxis(at.jacobian(link), -1, 1)[..., None] for link in self.links]
        residual, rates, exact = self.rows(p.T[:, None], *poses, *columns)
        rates, exact = (np.transpose(part[..., 0], (2, 1, 0)) for part in (rates, exact))
        return ConstraintEquations(residual[:, 0].T, rates, self.angles, exact)

    def errors(self, at: BatchConfiguration, p: FloatArray) -> tuple[Any, Any]:
        """The squares of distance and angle (...,), for numbers (p, ...)."""
        squares: tuple[Any, Any] = self.lacking(np.moveaxis(p, 0, -1), *(at.pose(link) for link in self.links))
        return squares

    def moved(self, tree: Tree, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Mask of velocities (nv,) that change the frames of the errors, at configurations q (N, nq)."""
        tape, at = self.lacking.tape, BatchConfiguration(tree, q.T)
        used = {slot for instruction in tape.code for slot in instruction.args} | set(tape.results)
        result = np.zeros(tree.nv, dtype=bool)
        for k, link in enumerate(self.links):
            first = tape.inputs["p"][0] + 16 * k
            asked = np.array([slot in used for slot in range(first, first + 16)]).reshape(4, 4)
            speeds = at.jacobian(link)[:, [*np.flatnonzero(asked[:3, 3]), *([3, 4, 5] if asked[:3, :3].any() else [])]]
            result |= np.abs(speeds).max(axis=(0, 1), initial=0.0) > ROUNDING * np.abs(speeds).max(initial=0.0)
        return result


@dataclass(frozen=True)
class CoordinateConstraint:
    """A constraint on joint coordinates alone, whose equations work on arrays as they are.

    Attributes
    ----------
    constraint : Constraint
        The constraint.
    rates : ndarray (m, nv)
        What a step must fulfil.
    angles : tuple of bool
        Which rows are angles, (m,).
    """

    constraint: Constraint
    rates: FloatArray
    angles: tuple[bool, ...]
    links = ()
    ranged = False

    @classmethod
    def of(cls, constraint: Constraint, tree: Tree) -> CoordinateConstraint:
        """The same constraint."""
        known = constraint.equations(Configuration(tree, tree.neutral), np.zeros(constraint.numbers.shape[-1]))
        return cls(constraint, np.asarray(known.rates, dtype=float), known.angles)

    def equations(self, at: BatchConfiguration, p: FloatArray) -> ConstraintEquations:
        """The equations at many configurations, for numbers (p, N): residual (m, N), rates (m, nv, N)."""
        residual = np.asarray(self.constraint.equations(at, p).residual, dtype=float)
        return ConstraintEquations(
            residual, np.broadcast_to(self.rates[..., None], (*self.rates.shape, residual.shape[-1])), self.angles
        )

    def errors(self, at: BatchConfiguration, p: FloatArray) -> tuple[Any, Any]:
        """The squares of distance and angle (...,), for numbers (p, ...)."""
        return self.constraint.errors(at, p)

    def moved(self, tree: Tree, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Which velocities (nv,) change the coordinates."""
        return np.asarray(self.rates.any(axis=0))


class FrameProblem(ConstraintProblem):
    """Constraints on frames, and on coordinates, as functions of batches: arrays (..., N) where there are scalars else.

    Parameters
    ----------
    tree, constraints, limits
        As of `ConstraintProblem`.
    frames : sequence of FrameConstraint or CoordinateConstraint
        The constraints.
    """

    def __init__(
        self,
        tree: Tree,
        constraints: Sequence[Constraint],
        frames: Sequence[FrameConstraint | CoordinateConstraint],
        *,
        limits: bool,
    ) -> None:
        super().__init__(tree, constraints, limits=limits)
        self.frames = frames

    def at(self, q: FloatArray) -> BatchConfiguration:
        """The mechanism at q (nq, N)."""
        return BatchConfiguration(self.tree, q)

    def parts(self, at: Configuration, p: FloatArray) -> list[ConstraintEquations]:
        """The equations of each constraint, m and rad."""
        assert isinstance(at, BatchConfiguration)
        return [frame.equations(at, part) for frame, part in zip(self.frames, self.split(p), strict=True)]

    def retract(self, q: FloatArray, dq: FloatArray) -> FloatArray:
        """The coordinates (nq, N) after a step dq (nv, N)."""
        if not self.base:
            return q + dq
        many = many_joints.goes_over_joints(self.tree, (q, dq))
        step = partial(many_joints.integrate, self.tree) if many else kernel_of(self.tree, "integrate")
        return np.asarray(step(q.T, dq.T, 1.0)).T

    def check(self, p: FloatArray, q: FloatArray) -> tuple[Any, Any, Any]:
        """Distance (m), angle (rad), and number of joints outside their limits, for parameters (..., p) and q (..., nq)."""
        at = self.at(np.moveaxis(q, -1, 0))
        far: Any = 0.0
        turned: Any = 0.0
        for gain, squares in zip(self.gains(np.moveaxis(p, -1, 0)), self.squares_of_errors(at, p), strict=True):
            counts = np.asarray(gain) > 0.0  # (what has the weight zero need not hold)
            far, turned = far + np.where(counts, squares[0], 0.0), turned + np.where(counts, squares[1], 0.0)
        return np.sqrt(far), np.sqrt(turned), self.outside(at.q)

    def squares_of_errors(self, at: BatchConfiguration, p: FloatArray) -> list[tuple[Any, Any]]:
        """Of numbers (..., p) the squares of distance and angle of each constraint, (...,) each."""
        numbers = self.split(np.moveaxis(p, -1, 0))
        return [frame.errors(at, part) for frame, part in zip(self.frames, numbers, strict=True)]

    def rates(self, p: FloatArray, q: FloatArray) -> FloatArray:
        """Jacobian of the step's equations (N, m, nv), for parameters (N, p) and q (N, nq)."""
        return np.moveaxis(self.stacked(self.parts(self.at(q.T), p.T), exact=True)[1], -1, 0)

    def moved(self) -> npt.NDArray[np.bool_]:
        """Mask of velocities (nv,) on which the constraints depend."""
        q = random_configuration(self.tree, count=LOOKS)
        return np.asarray(np.logical_or.reduce([frame.moved(self.tree, q) for frame in self.frames]))


def batch_step(step: Callable[..., Any]) -> Callable[..., tuple[FloatArray, ...]]:
    """A step over scalars that are rows (N,), as one over batches (N, ...)."""

    def rows(*arrays: FloatArray) -> tuple[FloatArray, ...]:
        with np.errstate(all="ignore"):  # a start may diverge: it is given up, and others follow
            return tuple(np.asarray(value).T for value in step(*(array.T for array in arrays)))

    return rows


def frame_problem(
    tree: Tree, constraints: Sequence[Constraint], *, limits: bool, levels: bool = False
) -> FrameProblem | None:
    """Constraints on frames that many bodies move, and on coordinates; None for others, which are compiled.

    Those of several levels may have weights, and any number of rows, but no ranges.
    """
    weighted = any(constraint.weight is not None for constraint in constraints)
    if len(tree.links) < BODIES or not constraints or (weighted and not levels):
        return None
    cones = any(np.isfinite(at.most) for at in tree.manifold_joints)
    if cones and limits:
        return None
    kinds = [constraint.kind() for constraint in constraints]
    frames = [CoordinateConstraint.of(c, tree) if c.is_of_arrays(tree) else FrameConstraint.of(c) for c in kinds]
    known = [frame for frame in frames if frame is not None and not (levels and frame.ranged)]
    if len(known) < len(constraints) or (not levels and sum(len(frame.angles) for frame in known) >= tree.nv):
        return None
    looped = loops_over(tree, *{link for frame in known for link in frame.links})
    return FrameProblem(tree, constraints, known, limits=limits) if looped else None
