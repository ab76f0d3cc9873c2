"""The compiled closed form of a frame, for arguments of any shape."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError, warn
from linkwise.inverse_kinematics.closed_form.axis_chain import AxisChain
from linkwise.inverse_kinematics.closed_form.completion import Completion
from linkwise.inverse_kinematics.closed_form.problem import Family
from linkwise.inverse_kinematics.closed_form.program import LIMITED, ClosedFormProgram
from linkwise.kernel import threads
from linkwise.model.tree import Tree
from linkwise.solve.joint_limits import start_position
from linkwise.solve.validation import FARTHEST, positive
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import RIGID, common_batch, flag, no_poses, numbers, rigid_poses, vectors

#: An answer is one where the forward pass comes as near to the pose as this, m and rad.
TOLERANCE = 1e-9

#: Poses of a large batch in one call of the kernel if only the nearest solutions are kept.
AT_ONCE = 8192


class Compiled:
    """Solver of poses of one frame, with or without the value of one joint; see `ClosedFormProgram.run` for its results.

    Parameters
    ----------
    mechanism : Mechanism
        Whose frame it is.
    link : int or str
        Which frame.
    chain, family : AxisChain, Family
        The joints, and what solves them.
    fixed : int, optional
        The coordinate whose value is handed in.
    """

    def __init__(self, mechanism: Tree, link: int | str, chain: AxisChain, family: Family, fixed: int | None = None) -> None:
        self.mechanism, self.fixed = mechanism, fixed
        self.kernel = ClosedFormProgram(mechanism, link, chain, family).kernel()
        self.completion = Completion(mechanism, link, chain, family, fixed, self.kernel)
        idle = np.isin(np.arange(mechanism.n), chain.coordinates, invert=True)
        self.start = np.ascontiguousarray(start_position(mechanism, idle))
        self.limits = {
            True: np.column_stack([mechanism.q_min, mechanism.q_max]),
            False: np.tile([-np.inf, np.inf], (mechanism.n, 1)),
        }
        self._known = {(limits, TOLERANCE): self._bounds(limits, TOLERANCE) for limits in (True, False)}
        self._entry = self.kernel.entry(self._slow) or self._slow

    def run(
        self, T: npt.ArrayLike, q0: npt.ArrayLike | None, limits: bool, tol: float, value: FloatArray, nearest: bool = False
    ) -> tuple[Any, ...]:
        """The completed results of `ClosedFormProgram.run` for arguments that fit; with `nearest`, rows may be left out."""
        bounds = self._known.get((limits, tol)) if limits is True or limits is False else None
        if bounds is None:
            bounds = self._bounds(limits, tol)
        if type(T) is np.ndarray and T.shape == (4, 4) and T.dtype.char == "d" and self.fixed is None:  # (without detours)
            start = self.start if q0 is None else q0
            if type(start) is np.ndarray and start.shape == self.start.shape and start.dtype.char == "d":
                results: tuple[Any, ...] = self._entry(T.reshape(16), start, bounds)
                if results[3][2] <= RIGID:
                    return results
        poses, start = pose_matrices(T), self._start(q0, value)
        poses = poses.reshape(*poses.shape[:-2], 16)
        batch = common_batch(T=poses.shape[:-1], q0=start.shape[:-1])
        with np.errstate(all="ignore"):  # (branches that are no answers may divide by nothing)
            if nearest and math.prod(batch) > AT_ONCE:
                results = self._in_blocks(batch, poses, start, bounds)
            else:
                results = self.kernel(poses, start, bounds)
        special = results[3][~(results[3][..., 2] <= RIGID)]
        if not special.size:
            return results
        if not np.all(special[:, 2] - special[:, 3] <= RIGID):
            refuse(T, start)
        completed, added = self._completed(batch, poses, start, bounds, results)
        if added and not batch and not nearest:
            warn(
                f"{self.mechanism.name!r}: {added} of {int(completed[1])} solutions come from random starts, because the"
                " closed form leaves a joint undetermined at this pose; there may be others"
            )
        return completed

    def _completed(
        self,
        batch: tuple[int, ...],
        poses: FloatArray,
        start: FloatArray,
        bounds: FloatArray,
        results: tuple[Any, ...],
    ) -> tuple[tuple[Any, ...], int]:
        """Write the kernel's results into its arrays, with the solutions that it misses; count those found from starts."""
        n = start.shape[-1]
        q = None if results[0] is None else results[0].reshape(-1, *results[0].shape[-2:])
        count, nearest, errors = (
            np.asarray(part).reshape(-1, *core) for part, core in zip(results[1:], ((), (n,), (4,)), strict=True)
        )
        some = np.flatnonzero(errors[:, 3] > 0.0)
        completed = self.completion.run(
            np.broadcast_to(poses, (*batch, 16)).reshape(-1, 16)[some],
            np.broadcast_to(start, (*batch, n)).reshape(-1, n)[some],
            bounds,
            errors[some, 3],
        )
        most = max((len(rows.q) for rows in completed), default=0)
        if q is not None and most > q.shape[1]:
            q = np.concatenate([q, np.full((len(q), most - q.shape[1], n), np.nan)], axis=1)
        for k, rows in zip(some, completed, strict=True):
            count[k], errors[k, :2] = len(rows.q), rows.errors
            if rows.doubtful:
                errors[k, 3] = LIMITED
            if len(rows.q):
                nearest[k] = rows.q[0]
            if q is not None:
                q[k, : len(rows.q)] = rows.q
        shaped = (None if p is None else p.reshape((*batch, *p.shape[1:])) for p in (q, count, nearest, errors))
        return tuple(shaped), sum(rows.added for rows in completed)

    def _start(self, q0: npt.ArrayLike | None, value: FloatArray) -> FloatArray:
        n = self.mechanism.n
        start = self.start if q0 is None else vectors("q0", q0, n)
        if self.fixed is None:
            return start
        starts = np.broadcast_to(start, (*common_batch(q0=start.shape[:-1], fixed=value.shape), n)).copy()
        starts[..., self.fixed] = value
        return starts

    def _bounds(self, limits: bool, tol: float) -> FloatArray:
        """The third argument of the kernel."""
        return np.concatenate([*self.limits[flag("limits", limits)].T, [positive("tol", tol), np.nan]])

    def _slow(self, pose: FloatArray, q0: FloatArray, bounds: FloatArray) -> Any:
        with np.errstate(all="ignore"):
            return self.kernel.ufunc(pose, q0, bounds)

    def _in_blocks(
        self, batch: tuple[int, ...], poses: FloatArray, start: FloatArray, bounds: FloatArray
    ) -> tuple[Any, ...]:
        """Run the kernel in blocks and keep only the nearest solution, so that a large batch needs little memory."""
        total, n = math.prod(batch), start.shape[-1]
        rows, starts = (np.broadcast_to(part, (*batch, part.shape[-1])).reshape(total, -1) for part in (poses, start))
        count, q, errors = np.empty(total), np.empty((total, n)), np.empty((total, 4))

        def solve(part: slice) -> Iterator[None]:
            every = np.empty((AT_ONCE, *self.kernel.tape.outputs["q"]))
            for first in range(part.start, part.stop, AT_ONCE):
                here = slice(first, min(first + AT_ONCE, part.stop))
                results = every[: here.stop - first], count[here], q[here], errors[here]
                self.kernel(rows[here], starts[here], bounds, out=results)
                yield

        threads.run(solve, self.kernel.pieces(total))
        return None, count.reshape(batch), q.reshape(*batch, n), errors.reshape(*batch, 4)


def pose_matrices(T: npt.ArrayLike) -> FloatArray:
    """Numbers (..., 4, 4), which are not yet known to be rigid poses."""
    poses = T if type(T) is np.ndarray and T.dtype.char == "d" else numbers("T", T, "rigid poses (..., 4, 4)")
    if poses.shape[-2:] != (4, 4):
        raise no_poses("T", poses.shape)
    return poses


def refuse(T: npt.ArrayLike, start: FloatArray) -> None:
    """Raise an error for invalid poses or starts; return them if they are valid."""
    farthest = np.abs(rigid_poses("T", T)[..., :3, 3]).max(initial=0.0)
    if farthest > FARTHEST:
        raise ArgumentError(f"T has the position {farthest:g} m; expected positions up to {FARTHEST:g} m")
    if np.abs(start).max(initial=0.0) > FARTHEST:
        raise ArgumentError(f"q0 is {np.abs(start).max():g}; expected numbers up to {FARTHEST:g}")
