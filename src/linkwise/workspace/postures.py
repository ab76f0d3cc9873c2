"""Sampling of postures of a mechanism: random ones, neighbours, and those whose frame is at a given place."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, members, shown
from linkwise.kernel import Kernel, trace
from linkwise.kinematics.forward_kinematics import forward_kinematics
from linkwise.kinematics.jacobian import jacobian
from linkwise.kinematics.manipulability import volume_of
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.solve.compiled_problem import CompiledProblem, system_of
from linkwise.solve.constraints import Aligned, Closed, Position
from linkwise.solve.joint_limits import turning
from linkwise.solve.lengths import size_of
from linkwise.spatial.rotation import rotation_between
from linkwise.spatial.scalar import Array, FloatArray, blank
from linkwise.spatial.validation import numbers, rows_of

#: Relative threshold of zero singular values: directions in which no posture moves.
RANK = 1e-9

#: A velocity below this, m/s or rad/s per unit of joint velocity, is zero.
TINY = 1e-12

#: Postures that show in which directions a mechanism moves at all.
PROBES = 64

#: Error of joints that slide without limits.
ENDLESS = "the workspace is unbounded"

#: Tolerance of the placement of a frame, m and rad, its greatest number of steps, and relative rounding of positions.
THERE, STEPS, ROUNDING = 1e-10, 60.0, 4e-15

#: Indices of x, y, z in the numbers of `Position`.
XYZ = [3, 7, 11]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pointing:
    """Required direction (3,), unit, of the frame's z axis, and its permitted deviation, rad."""

    direction: FloatArray
    within: float

    def holds(self, z: FloatArray) -> Bools:
        """Mask of unit vectors z (k, 3) within the permitted deviation."""
        return np.asarray(z @ self.direction >= np.cos(self.within))


@dataclass(frozen=True, eq=False)
class Postures:
    """Sampling of a mechanism: the coordinates that move the frame, their ranges, and the results."""

    tree: Tree
    link: int | str
    mask: str
    pointing: Pointing | None

    @cached_property
    def path(self) -> tuple[int, ...]:
        """The links from the base to the frame."""
        return self.tree.path(self.link)

    @cached_property
    def moving(self) -> npt.NDArray[np.intp]:
        """The coordinates, of the n without quaternions, that move the frame."""
        used = {self.tree.followers[k].coordinate for k in self.path if self.tree.links[k].moves} - {-1}
        return np.array(sorted(used), dtype=np.intp)

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions that move the frame."""
        return self.on_the_way()

    def on_the_way(self, bounded: Collection[ManifoldJoint] = ()) -> tuple[ManifoldJoint, ...]:
        """Joints with quaternions on the path to the frame, except some whose range is limited by loops.

        Raises
        ------
        ArgumentError
            Naming one that could go on for ever.
        """
        joints = tuple(at for at in self.tree.manifold_joints if at.link in self.path and at not in bounded)
        for at in joints:
            if not at.joint.is_rotation:
                name = f"{at.name!r} of {self.tree.name!r}"
                raise ArgumentError(f"{name} is a {at.joint.kind} joint on the way to the frame: {ENDLESS}; lock it")
        return joints

    @cached_property
    def base(self) -> int:
        """Number of coordinates of joints with quaternions, with which q begins."""
        return self.tree.nq - self.tree.n

    @cached_property
    def velocities(self) -> npt.NDArray[np.intp]:
        """The velocities, of all nv, that move the frame."""
        turns = [np.arange(at.v.start, at.v.stop) for at in self.manifold]
        return np.concatenate([*turns, self.tree.nv - self.tree.n + self.moving]).astype(np.intp)

    @cached_property
    def turning(self) -> Bools:
        """Mask of periodic coordinates (n,): those of revolute joints without mimic joints."""
        return turning(self.tree)

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Coordinate limits (n,); one full turn without a limit.

        Raises
        ------
        ArgumentError
            Naming the joints that could go on for ever.
        """
        low, high = self.tree.q_min, self.tree.q_max
        endless = [name for k, name in enumerate(self.tree.names) if k in self.moving and self._endless(k, low[k], high[k])]
        if endless:
            verb, them = ("has", "it") if len(endless) == 1 else ("have", "them")
            raise ArgumentError(
                f"{members(endless)} of {self.tree.name!r} {verb} no limits: {ENDLESS}; give {them} limits or a range"
            )
        left, right = np.isfinite(low), np.isfinite(high)
        start = np.where(left, low, np.where(right, np.where(right, high, 0.0) - 2 * np.pi, -np.pi))
        end = np.where(right, high, start + 2 * np.pi)
        return start, end

    def _endless(self, k: int, low: float, high: float) -> bool:
        return not self.turning[k] and not (np.isfinite(low) and np.isfinite(high))

    @cached_property
    def open_ended(self) -> Bools:
        """Mask of coordinates (n,) that may cross the ends of their range, as it is a full turn."""
        low, high = self.ranges
        return np.asarray(self.turning & (high - low >= 2 * np.pi - 1e-9))

    @cached_property
    def first_axis(self) -> tuple[int, FloatArray] | None:
        """The coordinate that turns everything else, and the joint's frame T_world_joint, z its axis; None without one."""
        tree, placed = self.tree, np.asarray(self.tree.base, dtype=float)
        for k in self.path:
            link = tree.links[k]
            if link.moves:
                coordinate = tree.followers[k].coordinate
                turns = coordinate >= 0 and self.turning[coordinate]
                return (coordinate, _along(placed @ link.before, link.axis)) if turns else None
            placed = placed @ link.before @ link.motion() @ link.after
        return None

    @cached_property
    def kernel(self) -> Kernel:
        """Kernel from q (nq,) to position (3,), z axis (3,) and manipulability of the frame."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"p": (3,), "z": (3,), "w": ()}
        return Kernel(trace(self._place, "posture", inputs, outputs))

    @cached_property
    def turned(self) -> Kernel:
        """Kernel from q (nq,) and a small motion (nv,) to the joints with quaternions after it, within their cones."""
        inputs, outputs = {"q": (self.tree.nq,), "step": (self.tree.nv,)}, {"turned": (self.base,)}
        return Kernel(trace(self._turn, "turned", inputs, outputs))

    @cached_property
    def spread(self) -> FloatArray:
        """Range of change of the velocities (nv - n,) of joints with quaternions, rad or m."""
        return np.full(self.tree.nv - self.tree.n, np.pi)

    @cached_property
    def probes(self) -> FloatArray:
        """The Jacobians (k, 6, nv) of some postures."""
        inputs, outputs = {"q": (self.tree.nq,)}, {"J": (6, self.tree.nv)}
        kernel = Kernel(trace(self.rates, "probe", inputs, outputs), "numpy")
        return np.asarray(kernel(self.draw(np.random.default_rng(0), PROBES)))

    def rank(self, rows: Sequence[int]) -> int:
        """Number of independent motions of the frame, at most postures."""
        return max((_rank(np.linalg.svd(rates[rows], compute_uv=False)) for rates in self.probes), default=0)

    @cached_property
    def directions(self) -> FloatArray:
        """Orthonormal rows (r, 6): the span of the frame's velocities over all postures, in the selected axes."""
        return self._span(list(rows_of(self.mask)))

    @cached_property
    def ways(self) -> FloatArray:
        """The same of positions, orthonormal rows (r, 3)."""
        return self._span([0, 1, 2])[:, :3]

    def _span(self, rows: list[int]) -> FloatArray:
        u, s, _ = np.linalg.svd(np.concatenate(self.probes[:, rows], axis=-1), full_matrices=False)
        result = np.zeros((_rank(s), 6))
        result[:, rows] = _plain(u[:, : len(result)])
        return result

    def rates(self, q: Array) -> Array:
        """The Jacobian (6, nv) of the frame."""
        return np.asarray(jacobian(self.tree, q, link=self.link))

    def _place(self, q: Array) -> tuple[Array, Array, Any]:
        pose = forward_kinematics(self.tree, q, link=self.link)
        rates = blank(len(self.directions), len(self.velocities))
        rates[...] = self.directions @ self.rates(q)[:, self.velocities]
        return pose[:3, 3], pose[:3, 2], volume_of(rates, self.rank(list(rows_of(self.mask))))

    def _turn(self, q: Array, step: Array) -> Array:
        joints = self.tree.manifold_joints
        return np.concatenate([at.joint.clipped(at.joint.integrate(q[at.q], step[at.v]), at.most) for at in joints])

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray, Bools]:
        """Positions (k, 3), manipulabilities (k,), and whether the frame has the pointing direction (k,)."""
        p, z, w = self.kernel(q)
        if self.pointing is None:
            return p, w, np.ones(len(q), dtype=bool)
        return p, w, self.pointing.holds(z)

    @cached_property
    def system(self) -> CompiledProblem:
        """Compiled problem of placing the frame: within the limits, in the pointing direction, with loops closed."""
        return system_of(self.tree, self._constraints)

    @cached_property
    def _constraints(self) -> list[Position | Aligned | Closed]:
        result: list[Position | Aligned | Closed] = [Position(self.link, np.zeros(3))]
        if self.pointing is not None:  # (slightly inside the cone, as solutions from outside end on its boundary)
            upper = self.pointing.within - 2.0 * self.tolerance
            result.append(Aligned(self.link, [0, 0, 1], self.pointing.direction, upper=upper))
        return result + [Closed(loop) for loop in self.tree.loops]

    @cached_property
    def size(self) -> float:
        """The mechanism's, m."""
        return size_of(self.tree)

    @property
    def tolerance(self) -> float:
        """Tolerance of constraints, m and rad."""
        away = float(np.linalg.norm(np.asarray(self.tree.base, dtype=float)[:3, 3]))
        return max(THERE, ROUNDING * (self.size + away))

    def aimed(self, q: FloatArray, target: FloatArray, starts: FloatArray, *, inside: bool) -> tuple[FloatArray, Bools]:
        """Postures (k, nq) with frames at positions (k, 3), from others (k, nq), then from starts (m, nq) for all.

        ``inside``: whether each step stays within the limits; else only the last does. Also says which arrived (k,).
        """
        tasks = np.tile(np.concatenate([constraint.task for constraint in self._constraints]), (len(q), 1))
        tasks[:, XYZ] = target
        iteration = self.system.approaching if inside else self.system.reaching
        rows = iteration(tasks, q, starts, self.system.settings(self.tolerance, STEPS if inside else None))
        solution = self.system.checked(tasks, rows, q, 2.0 * self.tolerance, reached=rows[:, -1] > 0)
        return solution.q, solution.success

    def draw(self, rng: np.random.Generator, count: int, keep: int = -1) -> FloatArray:
        """Postures (count, nq), evenly spread over the ranges, one coordinate kept in the middle of its range.

        What does not move the frame stands as near zero as it may.
        """
        low, high = self.ranges
        joints = np.tile(np.clip(0.0, low, high), (count, 1))
        k = self.moving
        joints[:, k] = low[k] + rng.random((count, len(k))) * (high[k] - low[k])
        if keep >= 0:
            joints[:, keep] = 0.5 * (low[keep] + high[keep])
        q = np.concatenate([np.tile(self.tree.neutral[: self.base], (count, 1)), joints], axis=1)
        for at in self.manifold:
            q[:, at.q] = at.joint.random(rng, count, at.most)
        return q

    def changed(self, rng: np.random.Generator, q: FloatArray, step: FloatArray, keep: int = -1) -> FloatArray:
        """Postures beside others (k, nq): some coordinates moved by about ``step`` (k, 1) of their ranges, one kept."""
        low, high = self.ranges
        chosen = np.zeros(self.tree.n, dtype=bool)
        chosen[self.moving] = True
        if keep >= 0:
            chosen[keep] = False
        joints = q[:, self.base :]
        some = chosen & (rng.random(joints.shape) < 0.6)
        result = joints + some * rng.standard_normal(joints.shape) * step * (high - low)
        held = np.clip(result, low, high)
        turned = low + np.mod(result - low, 2 * np.pi)
        joints = np.where(self.open_ended & (high - low < 2 * np.pi + 1e-9), turned, held)
        if not self.manifold:
            return np.concatenate([q[:, : self.base], joints], axis=1)
        motion = np.zeros((len(q), self.tree.nv))
        for at in self.manifold:
            some = rng.random((len(q), 1)) < 0.6
            motion[:, at.v] = some * rng.standard_normal((len(q), at.joint.nv)) * step * self.spread[at.v]
        return np.concatenate([self.turned(q, motion), joints], axis=1)


def pointing_of(direction: npt.ArrayLike | None, within: float) -> Pointing | None:
    """Check the direction in which the frame must point."""
    if not isinstance(within, (int, float, np.floating)) or isinstance(within, bool) or not 0 < within <= np.pi:
        raise ArgumentError(f"within is {shown(within)}; expected an angle above 0 and up to pi, rad")
    if direction is None:
        return None
    result = numbers("pointing", direction, "a direction x, y, z")
    if result.shape != (3,) or not result.any():
        raise ArgumentError(f"pointing is {shown(direction)}; expected a direction x, y, z, not all zero")
    return Pointing(result / np.linalg.norm(result), float(within))


def with_ranges(tree: Tree, limits: bool, ranges: Mapping[str, tuple[float, float]] | None) -> Tree:
    """The mechanism with ranges of some joints in the place of their limits; unless ``limits``, others turn without."""
    named = {}
    if not isinstance(ranges, Mapping | None):
        raise ArgumentError(f"ranges is {shown(ranges)}; expected a mapping of names to a least and a greatest number")
    for name, bounds in (ranges or {}).items():
        if name not in tree.names:
            raise ArgumentError(f"ranges name {name!r}; the joints of {tree.name!r} are {members(tree.names)}")
        pair = numbers(f"ranges[{name!r}]", bounds, "a least and a greatest number")
        if pair.shape != (2,) or not pair[0] < pair[1]:
            raise ArgumentError(f"ranges[{name!r}] is {shown(bounds)}; expected a least and a greatest number")
        named[name] = (float(pair[0]), float(pair[1]))
    endless = set() if limits else {name for name, turns in zip(tree.names, turning(tree), strict=True) if turns}
    changes = {**dict.fromkeys(endless), **named}
    if not changes:
        return tree
    links = [
        link.replace(limits=changes[link.coordinate_name]) if link.coordinate_name in changes and not link.mimic else link
        for link in tree.links
    ]
    return tree.replace(links=links, springs=())


def _rank(s: FloatArray) -> int:
    """Number of singular values, the greatest first, that are not zero."""
    return int(np.sum(s > RANK * s[0])) if s.size and s[0] > TINY else 0


def _plain(u: FloatArray) -> FloatArray:
    """Rows with the span of the columns of u (m, r): those of the unit matrix where it spans whole axes."""
    used = np.abs(u @ u.T - np.diag(np.diag(u @ u.T))).max(initial=0.0) < 1e-9
    if used:
        return np.eye(len(u))[np.diag(u @ u.T) > 0.5]
    return np.asarray(u.T)


def _along(placed: FloatArray, axis: FloatArray) -> FloatArray:
    """T_world_joint with z along the axis of the joint."""
    result = np.asarray(placed, dtype=float).copy()
    result[:3, :3] = result[:3, :3] @ rotation_between((0.0, 0.0, 1.0), axis)
    return result
