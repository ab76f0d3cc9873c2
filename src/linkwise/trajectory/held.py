"""Interpolation of a motion whose acceleration jumps at the instants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory.floating import coordinates, twists
from linkwise.trajectory.hermite import quintic_polynomial
from linkwise.trajectory.state import State


@dataclass(frozen=True, eq=False)
class HeldHermite:
    """Quintic polynomials as in `Hermite`, from interval to interval, each with accelerations of its own at both ends.

    At an instant it gives what is recorded there: the acceleration after the jump.

    Attributes
    ----------
    t : ndarray (m,)
        Instants, s, m >= 2.
    q, qd, qdd : ndarray (..., m, nq), (..., m, nv), (..., m, nv)
        What is recorded.
    before : ndarray (..., m - 1, nv)
        The acceleration at the end of each interval, before the jump.
    floating : bool
        Whether q begins with the pose of a base, see `FloatingHermite`.

    Examples
    --------
    >>> up_and_down = HeldHermite(  # accelerated by 2, then by -2
    ...     np.array([0.0, 1.0, 2.0]),
    ...     q=np.array([[0.0], [1.0], [2.0]]),
    ...     qd=np.array([[0.0], [2.0], [0.0]]),
    ...     qdd=np.array([[2.0], [-2.0], [-2.0]]),
    ...     before=np.array([[2.0], [-2.0]]),
    ... )
    >>> [value.tolist() for value in up_and_down(np.array([0.5, 1.0]))]
    [[[0.25], [1.0]], [[1.0], [2.0]], [[2.0], [-2.0]]]
    """

    t: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    before: FloatArray
    floating: bool = False

    def __post_init__(self) -> None:
        inner = slice(1, -1)
        q, qd = (np.repeat(values, 2, axis=-2)[..., inner, :] for values in (self.q, self.qd))
        qdd = np.stack((self.qdd[..., :-1, :], self.before), axis=-2).reshape(qd.shape)
        ends = coordinates(q, qd, qdd) if self.floating else (q, qd, qdd)
        object.__setattr__(self, "_ends", ends)  # beginning and end of each interval in turn

    def __call__(self, time: FloatArray) -> State:
        """Return q (..., K, nq), qd and qdd (..., K, nv) at times (K,) within the instants."""
        left = np.clip(np.searchsorted(self.t, time, side="right") - 1, 0, self.t.size - 2)
        late = (2.0 * time > self.t[left] + self.t[left + 1]).astype(np.intp)
        near, far = left + late, left + 1 - late
        ends: tuple[FloatArray, ...] = self.__dict__["_ends"]
        sides = [values[..., 2 * left + side, :] for side in (late, 1 - late) for values in ends]
        q, qd, qdd = quintic_polynomial(time - self.t[near], self.t[far] - self.t[near], *sides)
        if self.floating:
            q, qd, qdd = twists(q, qd, qdd)
        qdd = np.where((time == self.t[-1])[:, None], self.qdd[..., -1:, :], qdd)
        return q, qd, qdd
