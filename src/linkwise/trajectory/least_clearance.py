"""Least clearance of a motion from obstacles and of the mechanism from itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import FloatArray


class LeastClearance(NamedTuple):
    """Least clearance of a motion from obstacles or of the mechanism from itself; for a batch of motions for each of them.

    Attributes
    ----------
    distance : float or ndarray (...)
        Signed, m; negative where the two overlap.
    pair : tuple of (str, str), or ndarray (..., 2)
        Names of the two shapes.
    time : float or ndarray (...)
        When, s.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> move = time_optimal([[0.0, 0.0], [1.0, 0.5]], arm, limits=MotionLimits(qd_max=1.0, qdd_max=2.0))
    >>> least = move.clearance([lw.Shape("world", "sphere", 0.1, origin=(2.5, 0.0, 0.0), name="obstacle")])
    >>> round(least.distance, 6), least.pair, round(least.time, 6)
    (0.35, ('link2', 'obstacle'), 0.0)
    """

    distance: Any
    pair: Any
    time: Any

    @classmethod
    def of(cls, distance: FloatArray, pair: npt.NDArray[np.str_], time: FloatArray) -> LeastClearance:
        """Build from numbers () of one motion, or (...) of a batch; names (..., 2)."""
        if distance.ndim:
            return cls(distance, pair, time)
        return cls(float(distance), (str(pair[0]), str(pair[1])), float(time))

    def member(self, index: int | tuple[int, ...]) -> LeastClearance:
        """Result of one motion, or of a smaller batch, of a batch."""
        return LeastClearance.of(*(np.asarray(part)[index] for part in self))


def least_clearance(mechanism: Any, times: FloatArray, q: FloatArray, obstacles: Any, *, exact: bool) -> LeastClearance:
    """The least distances of a mechanism at configurations (..., K, nq) and their times (K,)."""
    batch = q.shape[:-2]
    distance, time, pair = np.empty(batch), np.empty(batch), np.empty((*batch, 2), dtype=object)
    for place in np.ndindex(batch):  # (one after the other: a batch has many pairs and instants)
        result = mechanism.clearance(q[place], obstacles, exact=exact)
        k = int(np.argmin(result.least))
        distance[place], pair[place], time[place] = result.least[k], result.nearest[k], times[k]
    return LeastClearance.of(distance, pair.astype(str), time)
