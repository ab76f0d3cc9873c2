"""From a closed position to other values of the driven coordinates without leaving the branch, a whole batch at once.

A step that is too long to be sure of the branch is taken again shorter, one that went well is followed by one twice as long
(P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, chapter 5). Where the start is open there is no branch to keep:
damped least squares close the loops at the driven coordinates first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.loops.assembly import CONVERGED, ITERATIONS, LIMITS, STALLED, TOGGLE
from linkwise.loops.loop_solver import CLOSED, NEARLY, LoopEquations, closed_near
from linkwise.loops.step_kernels import DONE, OPEN, OUTSIDE, STEPS
from linkwise.spatial.scalar import FloatArray

SHORTEST = 1e-6
"""A step of the driven coordinates below this, rad or longest offsets, is not cut again: the branch ends there. Loops that
are closed to 1e-15 leave a position uncertain by 3e-8 where a branch ends, so that shorter steps would tell nothing."""

_WALK = -1
"""Not settled: to be followed from where it is."""

HOP, WELL = 1e-2, 0.05
"""A step by all closure equations, rad or longest offsets, and the smallest singular value, beside the greatest, with which
they settle the passive coordinates well."""

ROUNDS = 2000
"""Steps at most."""

AT_END = 10 * SHORTEST, 0.05
"""How far the end of a branch may be from the last position that was sure: driven coordinates, and passive ones, which go
with the square root there; rad and longest offsets."""

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
Counts = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BranchFollower:
    """How positions are followed: the closure equations, the compiled step, and which joints are driven."""

    task: LoopEquations
    step: Step
    driven: npt.NDArray[np.intp]
    passive: npt.NDArray[np.intp]

    def follow(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, FloatArray, Counts]:
        """Positions (N, nq) at driven coordinates u (N, m) from starts (N, nq), reasons, closure errors and iterations."""
        with np.errstate(all="ignore"):
            q, error, code = self.step(u, start)
        reasons = np.where(code == OUTSIDE, LIMITS, CONVERGED)
        taken = np.full(len(q), STEPS, dtype=np.intp)
        rest = np.flatnonzero((code != DONE) & (code != OUTSIDE))
        if rest.size:
            q[rest], reasons[rest], more = self._farther(u[rest], start[rest])
            taken[rest] += more
            error[rest] = self.task.error(q[rest])
            closed = error[rest] <= CLOSED
            there = reasons[rest] == CONVERGED
            beyond = there & closed & self._beyond(q[rest])
            reasons[rest] = np.where(beyond, LIMITS, np.where(there & ~closed, STALLED, reasons[rest]))
        return q, reasons, error, taken

    def _farther(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """What one step does not reach: close the start where it is open, then go on in as many steps as it takes."""
        q, taken = start.copy(), np.zeros(len(u), dtype=np.intp)
        reasons = np.full(len(u), _WALK, dtype=np.intp)
        opened = np.flatnonzero(~(self.task.error(start) <= NEARLY))
        if opened.size:
            q[opened], reasons[opened], taken[opened] = self._closed(u[opened], start[opened])
        walking = np.flatnonzero(reasons == _WALK)
        if walking.size:
            q[walking], reasons[walking], more = self._walked(u[walking], q[walking])
            taken[walking] += more
        return q, reasons, taken

    def _closed(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Close open starts at the driven coordinates; else anywhere near, to be followed from there (reason `_WALK`)."""
        held = self._at(u, start)
        q, error, taken = closed_near(self.task, held, self.passive)
        reasons = np.where(error <= CLOSED, CONVERGED, _WALK)
        q[:, self.task.base + self.driven] = held[:, self.task.base + self.driven]
        rest = np.flatnonzero(reasons == _WALK)
        if rest.size:
            best, found, more = closed_near(self.task, start[rest])
            taken[rest] += more
            reasons[rest[found > CLOSED]] = STALLED
            keep = (found <= CLOSED) | (found < error[rest])
            q[rest[keep]] = best[keep]
        return q, reasons, taken

    def _walked(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Follow the branch of closed starts as far as it goes."""
        q, count = start.copy(), len(u)
        first = start[:, self.task.base + self.driven]
        length = (np.abs(u - first) / self.task.columns[self.driven]).max(axis=-1)
        done, pace, taken = np.zeros(count), np.full(count, 0.5), np.zeros(count, dtype=np.intp)
        ends = np.full(count, TOGGLE, dtype=np.intp)
        for _ in range(ROUNDS):
            rest = np.flatnonzero((done < 1.0) & (pace * length >= SHORTEST))
            if not rest.size:
                break
            share = np.minimum(done[rest] + pace[rest], 1.0)
            wanted = np.where(share[:, None] < 1.0, first[rest] + share[:, None] * (u[rest] - first[rest]), u[rest])
            with np.errstate(all="ignore"):
                found, _, code = self.step(wanted, q[rest])
            taken[rest] += STEPS
            good = (code == DONE) | (code == OUTSIDE)
            short = np.flatnonzero(~good & (pace[rest] * length[rest] <= HOP))
            if short.size:
                hop = np.minimum(done[rest[short]] + HOP / length[rest[short]], 1.0)
                over, reached = self._hopped(first[rest[short]], u[rest[short]], hop, q[rest[short]])
                sure = short[reached]
                found[sure], share[sure], good[sure] = over[reached], hop[reached], True
            q[rest[good]], done[rest[good]] = found[good], share[good]
            pace[rest] *= np.where(good, 2.0, 0.25)
            ends[rest] = np.where(code == OPEN, STALLED, TOGGLE)
        left = done < 1.0
        reasons = np.where(left, np.where(pace * length >= SHORTEST, ITERATIONS, ends), CONVERGED)
        ended = np.flatnonzero(left & (reasons != ITERATIONS))
        if ended.size:
            last, more = self._at_end(u[ended], q[ended])
            taken[ended] += more
            reached = np.isfinite(last[:, 0])
            q[ended[reached]], reasons[ended[reached]] = last[reached], CONVERGED
        return q, reasons, taken

    def _hopped(
        self, first: FloatArray, u: FloatArray, share: FloatArray, q: FloatArray
    ) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
        """Positions a short step on, by all closure equations, and which of them are sure.

        Where equations repeat each other the ones that a step solves may do so by themselves at some position, though all
        together settle the passive coordinates well. Only there this goes on: near the end of a branch, or where branches
        meet, they do not.
        """
        wanted = np.where(share[:, None] < 1.0, first + share[:, None] * (u - first), u)
        made = np.full_like(q, np.nan)
        values = np.linalg.svd(self.task.jacobian(q)[..., self.passive], compute_uv=False)[..., : len(self.passive)]
        well = np.flatnonzero((values.shape[-1] == len(self.passive)) & (values.min(axis=-1) > WELL * values.max(axis=-1)))
        if not well.size:
            return made, np.zeros(len(q), dtype=bool)
        found, error, _ = closed_near(self.task, self._at(wanted[well], q[well]), self.passive)
        moved = (np.abs(found - q[well])[:, self.task.base :] / self.task.columns).max(axis=-1)
        close = (error <= CLOSED) & (moved <= HOP / WELL)
        made[well[close]] = found[close]
        return made, np.isfinite(made[:, 0])

    def _at_end(self, u: FloatArray, q: FloatArray) -> tuple[FloatArray, Counts]:
        """The end of a branch itself, where Newton's method is slow: NaN where it is not what was asked for."""
        held = self._at(u, q)
        found, error, taken = closed_near(self.task, held, self.passive)
        same = found[:, self.task.base + self.driven] == held[:, self.task.base + self.driven]
        moved = np.abs(found - q)[:, self.task.base :] / self.task.columns
        close = (moved[:, self.driven].max(axis=-1) <= AT_END[0]) & (moved.max(axis=-1) <= AT_END[1])
        near = (error <= CLOSED) & same.all(axis=-1) & close
        return np.where(near[:, None], found, np.nan), taken

    def _at(self, u: FloatArray, q: FloatArray) -> FloatArray:
        made = q.copy()
        made[:, self.task.base + self.driven] = u
        return made

    def _beyond(self, q: FloatArray) -> npt.NDArray[np.bool_]:
        """Which positions have a joint beyond its limits by more than rounding."""
        mechanism = self.task.mechanism
        joints, low, high = q[:, self.task.base :], mechanism.q_min, mechanism.q_max
        allowed = CLOSED * self.task.columns
        return np.asarray(((joints < low - allowed) | (joints > high + allowed)).any(axis=-1))
