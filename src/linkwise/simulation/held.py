"""Between the instants of a simulated motion whose torque jumps at them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.held import HeldHermite
from linkwise.trajectory.state import State


def before_jumps(mech: Tree, q: FloatArray, qd: FloatArray, tau: FloatArray) -> FloatArray:
    """Accelerations (..., nv) at the ends of intervals, q (..., nq), qd (..., nv), under the torque that held in them."""
    made: FloatArray = mech.kernel("forward_dynamics")(q, qd, tau)  # type: ignore[attr-defined]
    return made


@dataclass(frozen=True, eq=False)
class Held:
    """The evaluator of a trajectory whose torque holds through each recorded interval.

    What it needs beside the record, the accelerations before the jumps, it computes when it is first asked.

    Attributes
    ----------
    mech : Tree
        The mechanism.
    t : ndarray (R,)
        Recorded instants, s, R >= 2.
    q, qd, qdd, tau : ndarray (..., R, nq), (..., R, nv), ...
        What is recorded there.
    """

    mech: Tree
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
        return Held(self.mech, self.t, *(array[place] for array in (self.q, self.qd, self.qdd, self.tau)))

    @cached_property
    def _pieces(self) -> HeldHermite:
        before = before_jumps(self.mech, self.q[..., 1:, :], self.qd[..., 1:, :], self.tau[..., :-1, :])
        return HeldHermite(self.t, self.q, self.qd, self.qdd, np.asarray(before), self.mech.floating)
