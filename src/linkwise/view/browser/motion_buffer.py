"""Buffer of the last seconds of interactive motion: positions, velocities and the efforts that hold the mechanism."""

from __future__ import annotations

from collections import deque

import numpy as np

from linkwise.algorithm import kernel_of
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray
from linkwise.trajectory import Trajectory
from linkwise.view.motion import ShownMotion, efforts_of

#: Length of the history, and least time between two instants, s.
SECONDS, APART = 10.0, 0.05


class History:
    """The last ten seconds, an instant every 50 ms at most.

    Parameters
    ----------
    mechanism : Mechanism
        What is moved.
    q : (nq,) ndarray
        Where it stands at first.
    now : float
        The time, s, of any clock that does not go back.
    """

    def __init__(self, mechanism: Tree, q: FloatArray, now: float) -> None:
        self._mechanism = mechanism
        self._past: deque[tuple[float, FloatArray, FloatArray | None]] = deque()
        self.why_no_efforts = ""
        first = self._holding(q)
        self._known = first is not None
        self._past.extend(((now - APART, q, first), (now, q, first)))

    @property
    def last(self) -> float:
        """Time of the last motion, s."""
        return self._past[-1][0]

    def add(self, q: FloatArray, now: float) -> None:
        """Append a configuration; one that follows too soon replaces the last."""
        if now - self._past[-2][0] < 2 * APART:
            self._past.pop()
        elif now - self.last > 2 * APART:
            self._past.append((now - APART, *self._past[-1][1:]))  # it rested until just now
        self._past.append((max(now, self._past[-1][0] + 1e-6), q, self._holding(q)))
        while len(self._past) > 2 and self._past[0][0] < now - SECONDS:
            self._past.popleft()

    def motion(self) -> ShownMotion:
        """Return the past as a motion; velocities are difference quotients, efforts those of static equilibrium."""
        t = np.array([time for time, _, _ in self._past])
        q = np.array([at for _, at, _ in self._past])
        steps = kernel_of(self._mechanism, "difference")(q[:-1], q[1:]) / np.diff(t)[:, None]
        qd = np.concatenate((steps[:1], steps))
        joints = self._mechanism.manifold_joints
        trajectory = Trajectory(t, q, qd, np.zeros_like(qd), manifold_joints=joints)
        return ShownMotion(self._mechanism, trajectory, self._efforts(), self.why_no_efforts, ())

    def _efforts(self) -> FloatArray | None:
        """Return the efforts (m, nv); where they were unknown for a moment (a singular position) they are no numbers."""
        if not self._known:
            return None
        unknown = np.full(self._mechanism.nv, np.nan)
        return np.array([unknown if tau is None else tau for _, _, tau in self._past])

    def _holding(self, q: FloatArray) -> FloatArray | None:
        """Return the efforts (nv,) that hold the mechanism still at q, None where they are not known."""
        still = np.zeros((1, self._mechanism.nv))
        joints = self._mechanism.manifold_joints
        at_rest = Trajectory(np.zeros(1), q[None], still, still, manifold_joints=joints)
        efforts, why_none = efforts_of(self._mechanism, at_rest)
        self.why_no_efforts = self.why_no_efforts or why_none
        return None if efforts is None else np.asarray(efforts)[0]
