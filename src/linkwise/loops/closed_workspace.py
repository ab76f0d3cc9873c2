"""Where a mechanism with closed loops can go: postures are drawn, and brought to the nearest ones that close the loops."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise.algorithm import kernel_of
from linkwise.errors import ArgumentError
from linkwise.kinematics.workspace import Effort, Workspace, check_workspace, explored
from linkwise.kinematics.workspace import workspace as tree_workspace
from linkwise.kinematics.workspace_map import PROBES, Bools, Postures, pointing_of, ranges_of
from linkwise.loops.linkage import LEFT, Linkage
from linkwise.loops.loop_solver import CLOSED, LoopEquations, closed_near, closing, random_starts
from linkwise.loops.mobility import generic_positions
from linkwise.loops.step_kernels import DONE
from linkwise.model.tree import ManifoldJoint, Tree
from linkwise.spatial.linear import RANK
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import rows_of, word_of

#: Random postures, without loops and with them, where each is closed by iteration.
SAMPLES, CLOSED_SAMPLES = 500_000, 10_000

#: What is tried beside them.
EFFORT = Effort(seeds=2_000, share=4_000, rounds=18, climbs=20, tries=30)

#: Up to this ratio of its columns' sizes, apart from each other, a basis of the motions is as good as any.
SPREAD_OUT = 1e4

#: Shares of a change that driven joints try, one after the other.
SHARES = (1.0, 0.3, 0.1, 0.03)

#: Directions in which the frame moves less than this share of its fastest are not used to aim at a place.
STEEP = 1e-2

#: Steps that aim at a place, and how far joints move beside that, rad or m.
AIMING, BESIDE = 4, (1e-3, 0.3)

#: Of the changes that none of them brings about, at limits and where branches end, one in so many is closed by iteration.
ITERATED = 16

#: Steps of damped least squares that close a random posture, and one beside a closed one.
FAR_STEPS, NEAR_STEPS = 60, 8


class ClosedPostures(Postures):
    """Closed positions of a mechanism with loops."""

    @cached_property
    def task(self) -> LoopEquations:
        """The closure equations."""
        return closing(self.tree)

    @cached_property
    def linkage(self) -> Linkage | None:
        """What closes loops by driven joints in one compiled step; None where those do not say it all."""
        if self.tree.manifold_joints:
            return None
        try:
            return Linkage(self.tree)
        except ArgumentError:
            return None

    @cached_property
    def moving(self) -> npt.NDArray[np.intp]:
        """All coordinates: the loops move what the frame does not stand on."""
        return np.arange(self.tree.n)

    @cached_property
    def manifold(self) -> tuple[ManifoldJoint, ...]:
        """The joints with quaternions that loops run through, and those on the way to the frame."""
        return self.task.manifold + self.on_the_way(self.task.manifold)

    @cached_property
    def spread(self) -> FloatArray:
        """What a change of one range is along the velocities (nv - n,) of joints with quaternions, rad or m."""
        lengths = self.tree.is_linear_velocity[: self.tree.nv - self.tree.n]
        return np.where(lengths, self.task.size, np.pi)

    @cached_property
    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Least and greatest coordinates (n,); one full turn, or four longest offsets, where there is no limit."""
        low, high = self.tree.q_min.copy(), self.tree.q_max.copy()
        for name, (least, most) in self.fixed.items():
            low[self.tree.names.index(name)], high[self.tree.names.index(name)] = least, most
        reach = np.where(self.tree.is_length, 2.0 * self.task.size, np.pi)
        start = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0 * reach, -reach))
        return start, np.where(np.isfinite(high), high, start + 2.0 * reach)

    @cached_property
    def first_axis(self) -> None:
        """None: no joint turns all there is."""
        return None

    @cached_property
    def probes(self) -> FloatArray:
        """The Jacobians (k, 6, nv) of some closed postures, of the motions that the loops allow."""
        return self._rates(self._turned(np.random.default_rng(0), generic_positions(self.task)[:PROBES]))

    def evaluate(self, q: FloatArray) -> tuple[FloatArray, FloatArray, Bools]:
        """Positions (k, 3), manipulabilities (k,), and whether the loops are closed and the frame points as asked (k,)."""
        pose = self._poses(q)
        values = np.linalg.svd(self.directions @ self._quick_rates(q), compute_uv=False)
        volume = np.prod(values[:, : self.rank(list(rows_of(self.mask)))], axis=1)
        valid = self.task.error(q) <= CLOSED
        for name, (least, most) in self.fixed.items():
            k = self.base + self.tree.names.index(name)
            valid &= (q[:, k] >= least) & (q[:, k] <= most)
        if self.pointing is not None:
            valid &= pose[:, :3, 2] @ self.pointing.direction >= self.pointing.cosine
        return pose[:, :3, 3], volume, valid

    def draw(self, rng: np.random.Generator, count: int, keep: int = -1) -> FloatArray:
        """Postures (count, nq): random ones, brought to closed ones near by; those that do not close are open still."""
        starts = random_starts(self.task, count, int(rng.integers(2**31)))
        return self._turned(rng, closed_near(self.task, starts, iterations=FAR_STEPS)[0])

    def changed(self, rng: np.random.Generator, q: FloatArray, step: FloatArray, keep: int = -1) -> FloatArray:
        """Postures beside others (k, nq), closed again: by steps of driven joints, or where these fail by iteration."""
        result, left = super().changed(rng, q, step, keep), np.arange(len(q))
        if self.linkage is not None:
            change = self.linkage.driven_part(result) - self.linkage.driven_part(q)
            left = self._step(self.linkage, q, change, result)[::ITERATED]
        result[left] = closed_near(self.task, result[left], iterations=NEAR_STEPS)[0]
        return result

    def towards(self, rng: np.random.Generator, q: FloatArray, target: FloatArray) -> FloatArray:
        """Postures beside closed ones (k, nq) whose frames stand nearer to positions (k, 3), by some steps of Newton.

        Driven joints at their limits stay there; what leaves the frame in its place changes at random in the first step.
        """
        result = q.copy()
        for step in range(AIMING):
            shift = target - self._poses(result)[:, :3, 3]
            if self.linkage is None:
                motion = _solved(self._rates(result)[:, :3], shift, np.zeros((len(q), self.tree.nv)))
                moved = np.asarray(kernel_of(self.tree, "integrate")(result, motion, 1.0))
                result = closed_near(self.task, moved, iterations=NEAR_STEPS)[0]
                continue
            k = [self.tree.names.index(name) for name in self.linkage.driven]
            here = self.linkage.driven_part(result)
            low, high = (np.broadcast_to(bound[k], here.shape) for bound in (self.tree.q_min, self.tree.q_max))
            rates = self._jacobians(result)[:, :3] @ self._speeds(self.linkage, result)[0]
            size = np.exp(rng.uniform(math.log(BESIDE[0]), math.log(BESIDE[1]), (len(q), 1))) if step == 0 else 0.0
            beside = size * rng.standard_normal(here.shape)
            change = _solved(rates, shift, beside)
            held = (here + change > high) | (here + change < low)
            kept = np.where(held, np.clip(here + change, low, high) - here, 0.0)
            left = shift - (rates @ kept[..., None])[..., 0]
            change = np.where(held, kept, _solved(np.where(held[:, None], 0.0, rates), left, np.where(held, 0.0, beside)))
            change = np.clip(here + change, low, high) - here
            self._step(self.linkage, result.copy(), change, result)
        return result

    @staticmethod
    def _step(linkage: Linkage, q: FloatArray, change: FloatArray, result: FloatArray) -> npt.NDArray[np.intp]:
        """Write where changes (k, m) of driven joints lead, or shares of them; return the rows with which none does."""
        start, left = linkage.driven_part(q), np.arange(len(q))
        for share in SHARES:
            with np.errstate(all="ignore"):
                stepped, _, code = linkage.step_kernel(start[left] + share * change[left], q[left])
            result[left[code == DONE]] = stepped[code == DONE]
            left = left[code != DONE]
        return left

    def _poses(self, q: FloatArray) -> FloatArray:
        return np.asarray(kernel_of(self.tree, "forward_kinematics", None, {"link": self.link})(q))

    def _jacobians(self, q: FloatArray) -> FloatArray:
        return np.asarray(kernel_of(self.tree, "jacobian", None, {"link": self.link})(q))

    @staticmethod
    def _speeds(linkage: Linkage, q: FloatArray) -> tuple[FloatArray, Bools]:
        """Joint speeds (k, nv, m) per speed of each driven joint, 0 where there are none; whether they close the loops."""
        with np.errstate(all="ignore"):
            speeds, _, left = linkage.velocity_kernel(q[:, None], np.eye(len(linkage.driven)))
        return np.where(np.isfinite(speeds), speeds, 0.0).swapaxes(1, 2), (left <= LEFT).all(axis=1)

    def _turned(self, rng: np.random.Generator, q: FloatArray) -> FloatArray:
        """Postures (k, nq), in place, with the joints with quaternions that no loop runs through anywhere in their cones."""
        for at in self.manifold:
            if at not in self.task.manifold:
                q[:, at.q] = at.joint.random(rng, len(q), at.most)
        return q

    def _quick_rates(self, q: FloatArray) -> FloatArray:
        """The Jacobian of the frame times an orthonormal basis, or a projector, of what the loops allow (k, 6, nv)."""
        if self.linkage is None:
            return self._rates(q)
        speeds, good = self._speeds(self.linkage, q)
        basis, factor = np.linalg.qr(speeds)
        sizes = np.abs(np.diagonal(factor, axis1=1, axis2=2))
        good &= sizes.max(axis=1) <= SPREAD_OUT * sizes.min(axis=1)
        rates = np.zeros((len(q), 6, self.tree.nv))
        rates[..., : basis.shape[-1]] = self._jacobians(q) @ basis
        rates[~good] = self._rates(q[~good])
        return rates

    def _rates(self, q: FloatArray) -> FloatArray:
        """J P (k, 6, nv): the Jacobian of the frame, of the part of joint speeds that keeps the loops closed."""
        jac = np.zeros((len(q), len(self.task.rows), self.tree.nv))
        jac[..., self.task.speeds] = self.task.jacobian(q) / self.task.columns
        closed = np.eye(self.tree.nv) - np.linalg.pinv(jac, rcond=RANK) @ jac
        return np.asarray(self._jacobians(q) @ closed)


def _solved(rates: FloatArray, shift: FloatArray, beside: FloatArray) -> FloatArray:
    """Motions (k, m) with which a frame moves by ``shift`` (k, 3), next to others."""
    left = shift - (rates @ beside[..., None])[..., 0]
    return np.asarray(beside + (np.linalg.pinv(rates, rcond=STEEP) @ left[..., None])[..., 0])


def workspace(
    mechanism: Tree,
    *,
    link: int | str = "tool",
    samples: int | None = None,
    seed: int = 0,
    limits: bool = True,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    mask: str = "translation",
    pointing: npt.ArrayLike | None = None,
    within: float = 0.2,
    cells: int = 160,
) -> Workspace:
    """Find what a frame reaches and how well it moves there, with closed loops or without.

    Without loops this is `linkwise.kinematics.workspace`, where the arguments are described. With loops random postures are
    brought to closed ones near by, all assembly modes together, and each that counts closes the loops to 1e-12. The
    manipulability is that of the frame per speed of all joints, of which the loops allow some; limits of joints hold.
    Each empty cell beside those reached is aimed at, until no aim reaches more. What lacks is mostly reached by few
    assembly modes only: the share of further random postures which stand in cells that nothing else reached counts in
    `Workspace.size_error`, and so do cells that only the last aims reached.

    Parameters
    ----------
    mechanism : Mechanism
        On a fixed base.
    samples : int, optional
        Random postures; 500,000 if not given, 10,000 with loops.
    link, seed, limits, ranges, mask, pointing, within, cells
        As for `linkwise.kinematics.workspace`; with loops `limits` cannot be False.

    Raises
    ------
    ArgumentError
        Naming the argument at fault.

    Examples
    --------
    >>> from linkwise import robots
    >>> found = workspace(robots.five_bar(), samples=1000, cells=16)
    >>> found.dimension, bool(found.size > 0.01)
    (2, True)
    """
    if not mechanism.loops:
        return tree_workspace(
            mechanism,
            link=link,
            samples=SAMPLES if samples is None else samples,
            seed=seed,
            limits=limits,
            ranges=ranges,
            mask=mask,
            pointing=pointing,
            within=within,
            cells=cells,
        )
    mechanism.require_numbers("workspace")
    count = CLOSED_SAMPLES if samples is None else samples
    check_workspace(mechanism, count, seed, limits, cells)
    if not limits:
        raise ArgumentError(f"limits is False; {mechanism.name!r} has loops, with which the limits of joints hold")
    place = link if isinstance(link, str) else mechanism.link_names[mechanism.link_index(link)]
    asked = pointing_of(pointing, within), ranges_of(mechanism, ranges)
    postures = ClosedPostures(mechanism, place, word_of(mask), True, *asked)
    return explored(postures, count, seed, cells, EFFORT, postures.towards)
