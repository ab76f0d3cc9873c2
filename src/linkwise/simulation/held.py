"""Between the instants of a simulated motion whose torque jumps at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise.simulation.moved import Moved
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.held import HeldHermite
from linkwise.trajectory.state import State


@dataclass(frozen=True, eq=False)
class Held:
    """The evaluator of a trajectory whose torque holds through each recorded interval.

    What it needs beside the record, the accelerations before the jumps, it computes when it is first asked.

    Attributes
    ----------
    moved : Moved
        The mechanism, and what pushes it.
    t : ndarray (R,)
        Recorded instants, s, R >= 2.
    q, qd, qdd, tau : ndarray (..., R, nq), (..., R, nv), ...
        What is recorded there.
    """

    moved: Moved
    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    def __call__(self, time: FloatArray) -> State:
        """Return q, qd, qdd (..., K, ·) at times (K,) within the instants."""
        return self._pieces(time)

    def member(self, place: tuple[int, ...]) -> Held:
        """The same for one motion, or a smaller batch, of a batch."""
        return Held(self.moved, self.t, *(array[place] for array in (self.q, self.qd, self.qdd, self.tau)))

    def first(self, kept: int) -> Held | None:
        """The same for the first so many instants, which know nothing of what is lost after them; None for one alone."""
        if kept < 2:
            return None
        return Held(self.moved, self.t[:kept], *(array[..., :kept, :] for array in (self.q, self.qd, self.qdd, self.tau)))

    @cached_property
    def _pieces(self) -> HeldHermite:
        before = self.moved.compiled_accelerations(self.q[..., 1:, :], self.qd[..., 1:, :], self.tau[..., :-1, :])
        return HeldHermite(self.t, self.q, self.qd, self.qdd, np.asarray(before), self.moved.tree.floating)
