"""Extremes and mean squares of a motion of any length, and below which size values are nothing but rounding."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

import numpy as np

from linkwise.dynamics.link_states import LinkStates
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

NOTHING = 1e-12
"""What is below this share of what it is the difference of is rounding."""


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
        largest = values[rows, np.arange(values.shape[1])]
        larger = (np.abs(largest) > np.abs(self.peak)) | np.isnan(self.peak_time)
        self.peak = np.where(larger, largest, self.peak)
        self.peak_time = np.where(larger, t[rows], self.peak_time)
        self._squares += np.einsum("ij,ij->j", values, values)
        self.count += len(t)

    def without_rounding(self, small: FloatArray | float) -> Extremes:
        """Return the same, zero for the columns that never came above ``small`` (columns,)."""
        quiet = copy.copy(self)
        above = ~(np.abs(self.peak) <= small)
        quiet.peak, quiet._squares = self.peak * above, self._squares * above
        return quiet

    @property
    def rms(self) -> FloatArray:
        """Root mean square over the instants (columns,)."""
        return np.asarray(np.sqrt(self._squares / max(self.count, 1)))


class Summary:
    """Extremes of a motion.

    Attributes
    ----------
    q : Extremes
        Of the coordinates (nq,).
    qd, qdd, tau : Extremes
        Of velocities, accelerations and efforts (nv,).
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
        links = len(tree.links)
        self.q = Extremes(tree.nq)
        self.qd, self.qdd, self.tau = (Extremes(tree.nv) for _ in range(3))
        self.force, self.moment = Extremes(links), Extremes(links)
        self.beyond = np.zeros(tree.n, dtype=int)
        self.start = self.end = np.nan
        self.finite = True
        self._tree = tree

    def add(self, states: LinkStates) -> None:
        """Take in the next instants."""
        t = states.t
        for name in ("q", "qd", "qdd", "tau"):
            getattr(self, name).add(t, getattr(states, name))
        self.force.add(t, np.linalg.norm(states.forces, axis=2))
        self.moment.add(t, np.linalg.norm(states.joint_moments, axis=2))
        self.beyond += outside_limits(self._tree, states.q)
        self.start = t[0] if np.isnan(self.start) else self.start
        self.end = t[-1]
        self.finite = self.finite and bool(np.isfinite(states.tau).all())

    @property
    def count(self) -> int:
        """How many instants there were."""
        return self.q.count


def outside_limits(tree: Tree, q: FloatArray) -> FloatArray:
    """At how many of some instants each joint is outside its limits (n,), for coordinates q (k, nq)."""
    low, high = tree.q_min, tree.q_max
    joints = q[:, q.shape[1] - len(low) :]
    return np.asarray(((joints < low) | (joints > high)).sum(axis=0))


def effort_rounding(mechanism: Mechanism, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """Below which size the efforts (nv,) of a floating mechanism are nothing but rounding.

    That is a share of the forces of inertia and gravity that cancel in them at the largest velocities and accelerations
    qd, qdd (nv,).
    """
    v, a = np.abs(qd), np.abs(qdd)
    a = a + np.linalg.norm(v[3:6]) * v
    a[:3] += np.linalg.norm(mechanism.gravity)
    return inertia_rounding(mechanism, a)


def motion_rounding(mechanism: Mechanism, summary: Summary) -> tuple[FloatArray | float, float, float]:
    """The same of a long motion, and of force and moment that links receive; zero where the base does not float."""
    if not mechanism.floating:
        return 0.0, 0.0, 0.0
    small = effort_rounding(mechanism, summary.qd.peak, summary.qdd.peak)
    arm = float(np.linalg.norm(summary.q.peak[:3]))  # moments are first summed about the origin of the world
    return small, float(small[0]), float(small[3] + small[0] * arm)


def inertia_rounding(mechanism: Mechanism, rates: FloatArray) -> FloatArray:
    """`NOTHING` of what the inertia makes of rates (nv,), the largest of the three axes of the base for each of them."""
    size = np.abs(mechanism.mass_matrix(mechanism.neutral)) @ rates
    size[:3], size[3:6] = size[:3].max(), size[3:6].max()
    return np.asarray(NOTHING * size)
