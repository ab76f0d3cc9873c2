"""Continuation along a branch of closed positions: `BranchFollower`.

A step that is too long to be sure of the branch is taken again shorter, one that went well is followed by one twice as long
(P. Deuflhard, *Newton Methods for Nonlinear Problems*, 2004, chapter 5). Where the start is open there is no branch to keep:
damped least squares close the loops at the driven coordinates first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.loops.assembly_modes import CONVERGED, ITERATIONS, LIMITS, STALLED, TOGGLE
from linkwise.loops.loop_solver import CLOSED, NEARLY, LoopEquations, closed_near
from linkwise.loops.step_kernels import DONE, OPEN, OUTSIDE, STEPS
from linkwise.spatial.scalar import FloatArray

#: Steps of the driven coordinates below this, rad or longest offsets, are not divided: the branch ends there. Loops closed
#: to 1e-15 leave an uncertainty of 3e-8 of the position at the end of a branch, so that shorter steps would be meaningless.
SHORTEST = 1e-6

#: Not settled: to be followed from where it is.
_WALK = -1

#: A step by all closure equations, rad or longest offsets, and the relative singular value above which they determine the
#: passive coordinates well.
HOP, WELL = 1e-2, 0.05

#: Steps at most.
ROUNDS = 2000

#: Tolerance of the end of a branch relative to the last certain position: driven coordinates, and passive ones, which change
#: with the square root there; rad and longest offsets.
AT_END = 10 * SHORTEST, 0.05

Step = Callable[[FloatArray, FloatArray], tuple[FloatArray, FloatArray, FloatArray]]
Counts = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class BranchFollower:
    """Continuation of positions: closure equations, compiled step, and indices of driven and passive coordinates."""

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
        unfinished = np.flatnonzero((code != DONE) & (code != OUTSIDE))
        if unfinished.size:
            q[unfinished], reasons[unfinished], more = self._farther(u[unfinished], start[unfinished])
            taken[unfinished] += more
            error[unfinished] = self.task.error(q[unfinished])
            closed = error[unfinished] <= CLOSED
            there = reasons[unfinished] == CONVERGED
            beyond = there & closed & self.task.beyond(q[unfinished], CLOSED)
            reasons[unfinished] = np.where(beyond, LIMITS, np.where(there & ~closed, STALLED, reasons[unfinished]))
        return q, reasons, error, taken

    def _farther(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Continue where one step fails: close the start if it is open, then take as many steps as necessary."""
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
        q[:, self.task.shift + self.driven] = held[:, self.task.shift + self.driven]
        open_rows = np.flatnonzero(reasons == _WALK)
        if open_rows.size:
            best, closed, more = closed_near(self.task, start[open_rows])
            taken[open_rows] += more
            reasons[open_rows[closed > CLOSED]] = STALLED
            keep = (closed <= CLOSED) | (closed < error[open_rows])
            q[open_rows[keep]] = best[keep]
        return q, reasons, taken

    def _walked(self, u: FloatArray, start: FloatArray) -> tuple[FloatArray, Counts, Counts]:
        """Follow the branch of closed starts as far as it continues."""
        q, count = start.copy(), len(u)
        first = start[:, self.task.shift + self.driven]
        length = (np.abs(u - first) / self.task.columns[self.driven]).max(axis=-1)
        done, pace, taken = np.zeros(count), np.full(count, 0.5), np.zeros(count, dtype=np.intp)
        ends = np.full(count, TOGGLE, dtype=np.intp)
        for _ in range(ROUNDS):
            active = np.flatnonzero((done < 1.0) & (pace * length >= SHORTEST))
            if not active.size:
                break
            share = np.minimum(done[active] + pace[active], 1.0)
            wanted = np.where(share[:, None] < 1.0, first[active] + share[:, None] * (u[active] - first[active]), u[active])
            with np.errstate(all="ignore"):
                solved, _, code = self.step(wanted, q[active])
            taken[active] += STEPS
            good = (code == DONE) | (code == OUTSIDE)
            short = np.flatnonzero(~good & (pace[active] * length[active] <= HOP))
            if short.size:
                hop = np.minimum(done[active[short]] + HOP / length[active[short]], 1.0)
                over, reached = self._hopped(first[active[short]], u[active[short]], hop, q[active[short]])
                sure = short[reached]
                solved[sure], share[sure], good[sure] = over[reached], hop[reached], True
            q[active[good]], done[active[good]] = solved[good], share[good]
            pace[active] *= np.where(good, 2.0, 0.25)
            ends[active] = np.where(code == OPEN, STALLED, TOGGLE)
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
        positions = np.full_like(q, np.nan)
        values = np.linalg.svd(self.task.jacobian(q)[..., self.passive], compute_uv=False)[..., : len(self.passive)]
        well = np.flatnonzero((values.shape[-1] == len(self.passive)) & (values.min(axis=-1) > WELL * values.max(axis=-1)))
        if not well.size:
            return positions, np.zeros(len(q), dtype=bool)
        closed, error, _ = closed_near(self.task, self._at(wanted[well], q[well]), self.passive)
        moved = np.abs(self.task.apart(q[well], closed)).max(axis=-1)
        close = (error <= CLOSED) & (moved <= HOP / WELL)
        positions[well[close]] = closed[close]
        return positions, np.isfinite(positions[:, 0])

    def _at_end(self, u: FloatArray, q: FloatArray) -> tuple[FloatArray, Counts]:
        """End of a branch, where Newton's method is slow: NaN unless it matches the target."""
        held = self._at(u, q)
        closed, error, taken = closed_near(self.task, held, self.passive)
        same = closed[:, self.task.shift + self.driven] == held[:, self.task.shift + self.driven]
        moved = np.abs(self.task.apart(q, closed))
        close = (moved[:, self.driven].max(axis=-1) <= AT_END[0]) & (moved.max(axis=-1) <= AT_END[1])
        near = (error <= CLOSED) & same.all(axis=-1) & close
        return np.where(near[:, None], closed, np.nan), taken

    def _at(self, u: FloatArray, q: FloatArray) -> FloatArray:
        start = q.copy()
        start[:, self.task.shift + self.driven] = u
        return start
