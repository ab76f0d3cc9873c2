"""Where a motion comes nearest to obstacles, or to the mechanism itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.spatial.scalar import FloatArray


class LeastClearance(NamedTuple):
    """Where a motion comes nearest to an obstacle, or to the mechanism itself.

    Attributes
    ----------
    distance : float
        Signed, m; negative where the two overlap.
    pair : tuple of (str, str)
        Names of the two shapes.
    time : float
        When, s.

    Examples
    --------
    >>> import linkwise as lw
    >>> from linkwise.trajectory import MotionLimits, time_optimal
    >>> rods = [lw.Shape.rod(name, (-1, 0, 0), (0, 0, 0), 0.05) for name in ("link1", "link2")]
    >>> arm = lw.robots.planar_2r().with_shapes(rods)
    >>> move = time_optimal([[0.0, 0.0], [1.0, 0.5]], arm, limits=MotionLimits(qd_max=1.0, qdd_max=2.0))
    >>> least = move.clearance([lw.Shape("world", "sphere", 0.1, origin=(2.5, 0.0, 0.0), name="ball")])
    >>> round(least.distance, 6), least.pair, round(least.time, 6)
    (0.35, ('link2', 'ball'), 0.0)
    """

    distance: float
    pair: tuple[str, str]
    time: float


def least_clearance(mechanism: Any, times: FloatArray, q: FloatArray, obstacles: Any, *, exact: bool) -> LeastClearance:
    """The least distance of a mechanism at configurations (K, nq) and their times (K,)."""
    result = mechanism.clearance(q, obstacles, exact=exact)
    nearest, k = result.nearest, int(np.argmin(result.least))
    return LeastClearance(float(result.least[k]), (str(nearest[k][0]), str(nearest[k][1])), float(times[k]))
