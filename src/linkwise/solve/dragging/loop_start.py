"""What is found once for a mechanism with loops before it follows anything: a closed position, and what the loops hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.kinematics.closing import CLOSED, closed_near, closed_samples, closing
from linkwise.solve.dragging.allowed import RANK
from linkwise.solve.linkage import Linkage, assemble
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.mechanism import Mechanism

ASIDE, TRIES = 0.02, 16
"""How far from a singular position another one is looked for, rad or longest offsets, and how often."""

STEPS = 30
"""Of closing the loops there again, at most."""

SINGULAR, REGULAR = 1e-3, 1e-2
"""The least singular value that counts, as a part of what it is elsewhere: below the first a position is as good as
singular, above the second it is well away."""

_KEPT = "_loop_start"


@dataclass(frozen=True, eq=False)
class LoopStart:
    """What loops make of a mechanism.

    Attributes
    ----------
    mechanism : Mechanism
        With loops.
    q : ndarray (nq,)
        A position with loops closed and not singular, or the least open one where none can be closed.
    held : ndarray of bool (n,)
        Which joints the loops hold.
    driven : tuple of int
        Joint coordinates that drive the loops; none where nothing can.
    rank : int
        Independent closure equations.
    least : float
        The least singular value of theirs as a part of the greatest, at a typical position.
    """

    mechanism: Mechanism
    q: FloatArray
    held: npt.NDArray[np.bool_]
    driven: tuple[int, ...]
    rank: int
    least: float

    def regular(self, q: FloatArray) -> FloatArray:
        """The position (nq,) itself, or where loops could go on in several ways from it, the nearest of some beside it.

        Where the joints of a loop lie in one line, say, what is allowed to first order is more than what is allowed. The
        same is returned for the same position.
        """
        task = closing(self.mechanism)
        if not self.rank or self._share(task.jacobian(q)) > SINGULAR * self.least or task.error(q) > CLOSED:
            return q
        aside = np.random.default_rng(0).normal(0.0, ASIDE, (TRIES, self.mechanism.n)) * task.columns
        starts = np.repeat(q[None], TRIES, axis=0)
        starts[:, task.base :] += aside
        found, error, _ = closed_near(task, starts, iterations=STEPS)
        good = np.flatnonzero((error <= CLOSED) & (self._share(task.jacobian(found)) > REGULAR * self.least))
        if not good.size:
            return q
        apart = np.linalg.norm((found - q)[good, task.base :] / task.columns, axis=1)
        return np.asarray(found[good[int(np.argmin(apart))]])

    def _share(self, jac: FloatArray) -> FloatArray:
        """The least singular value that counts (...,), as a part of the greatest, of closure Jacobians (..., K, n)."""
        values = np.linalg.svd(jac, compute_uv=False)
        return np.asarray(values[..., self.rank - 1] / np.maximum(values[..., 0], RANK))


def loop_start(mechanism: Mechanism) -> LoopStart:
    """Return what loops make of a mechanism; found once."""
    if _KEPT not in mechanism.__dict__:
        mechanism.__dict__[_KEPT] = _made(mechanism)
    made: LoopStart = mechanism.__dict__[_KEPT]
    return made


def _made(mechanism: Mechanism) -> LoopStart:
    task, found = closing(mechanism), assemble(mechanism)
    samples = closed_samples(task) if found.success else found.q[None]
    samples = samples if len(samples) else found.q[None]
    jac = task.jacobian(samples)
    held = np.asarray(np.abs(jac).max(axis=(0, 1)) > CLOSED)
    values = np.linalg.svd(jac, compute_uv=False)
    ranks = (values > RANK * np.maximum(values[:, :1], RANK)).sum(axis=1)
    rank = int(ranks.max()) if found.success else 0
    least = float(np.median(values[ranks == rank, rank - 1] / values[ranks == rank, 0])) if rank else 0.0
    try:
        driven = tuple(mechanism.names.index(name) for name in Linkage(mechanism).driven)
    except ArgumentError:
        driven = ()
    first = LoopStart(mechanism, np.asarray(found.q), held, driven, rank, least)
    return LoopStart(mechanism, first.regular(first.q), held, driven, rank, least)
