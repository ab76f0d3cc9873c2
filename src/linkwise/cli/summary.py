"""What is remembered of a motion of any length: extremes and when they came, and root mean squares."""

from __future__ import annotations

import copy

import numpy as np

from linkwise.cli.results import Results
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


class Extremes:
    """Least, greatest and largest values of some columns with the times at which they came, and their mean squares.

    Attributes
    ----------
    count : int
        Instants so far.
    low, high, peak : ndarray (columns,)
        Least value, greatest value, and value of the largest magnitude.
    peak_time : ndarray (columns,)
        When the largest magnitude came first, s.
    """

    def __init__(self, columns: int) -> None:
        self.count = 0
        self.low = np.full(columns, np.inf)
        self.high = np.full(columns, -np.inf)
        self.peak = np.zeros(columns)
        self.peak_time = np.full(columns, np.nan)
        self._squares = np.zeros(columns)

    def add(self, t: FloatArray, values: FloatArray) -> None:
        """Take in the next instants: t (k,), values (k, columns)."""
        self.low = np.minimum(self.low, values.min(axis=0))
        self.high = np.maximum(self.high, values.max(axis=0))
        rows = np.argmax(np.abs(values), axis=0)
        found = values[rows, np.arange(values.shape[1])]
        larger = (np.abs(found) > np.abs(self.peak)) | np.isnan(self.peak_time)
        self.peak = np.where(larger, found, self.peak)
        self.peak_time = np.where(larger, t[rows], self.peak_time)
        self._squares += np.einsum("ij,ij->j", values, values)
        self.count += len(t)

    def quieted(self, small: FloatArray | float) -> Extremes:
        """Return the same, zero for the columns that never came above ``small`` (columns,)."""
        made = copy.copy(self)
        above = ~(np.abs(self.peak) <= small)
        made.peak, made._squares = self.peak * above, self._squares * above
        return made

    @property
    def rms(self) -> FloatArray:
        """Root mean square over the instants (columns,)."""
        return np.asarray(np.sqrt(self._squares / max(self.count, 1)))


class Summary:
    """What a run tells about a long motion.

    Attributes
    ----------
    q : Extremes
        Of the coordinates (nq,).
    qd, qdd, tau : Extremes
        Of rates, accelerations and efforts (nv,).
    force, moment : Extremes
        Magnitudes for each link (L,), the moment about the joint.
    beyond : ndarray (n,)
        How many instants lie outside each joint's limits.
    start, end : float
        First and last time, s.
    finite : bool
        Whether every effort is a finite number.
    """

    def __init__(self, tree: Tree) -> None:
        n, links = tree.n, len(tree.links)
        self.q = Extremes(tree.nq)
        self.qd, self.qdd, self.tau = (Extremes(tree.nv) for _ in range(3))
        self.force, self.moment = Extremes(links), Extremes(links)
        self.beyond = np.zeros(n, dtype=int)
        self.start = self.end = np.nan
        self.finite = True
        self._limits = tree.limits

    def add(self, results: Results) -> None:
        """Take in the next instants."""
        t = results.t
        for name in ("q", "qd", "qdd", "tau"):
            getattr(self, name).add(t, getattr(results, name))
        self.force.add(t, np.linalg.norm(results.forces, axis=2))
        self.moment.add(t, np.linalg.norm(results.joint_moments, axis=2))
        low, high = self._limits.T
        joints = results.q[:, results.q.shape[1] - len(low) :]
        self.beyond += ((joints < low) | (joints > high)).sum(axis=0)
        self.start = t[0] if np.isnan(self.start) else self.start
        self.end = t[-1]
        self.finite = self.finite and bool(np.isfinite(results.tau).all())

    @property
    def count(self) -> int:
        """How many instants there were."""
        return self.q.count
