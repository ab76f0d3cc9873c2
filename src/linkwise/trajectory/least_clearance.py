"""Where a motion comes nearest to obstacles, or to the mechanism itself."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise.errors import ArgumentError
from linkwise.spatial.validation import whole
from linkwise.trajectory.motion import Motion


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


def least_clearance(motion: Motion, mechanism: Any, obstacles: Any, samples: int, *, exact: bool) -> LeastClearance:
    """The least distance at evenly spaced instants of a motion: see `Trajectory.clearance`."""
    if motion.batch:
        raise ArgumentError(f"clearance is of one motion, not of a batch of shape {motion.batch}; take a member(...)")
    if mechanism is None:
        raise ArgumentError("this motion has no mechanism; clearance(obstacles, mechanism=...) takes one")
    times = np.linspace(motion.t[0], motion.t[-1], whole("samples", samples, 2, "2 instants or more"))
    result = mechanism.clearance(motion.at(times)[0], obstacles, exact=exact)
    nearest, k = result.nearest, int(np.argmin(result.least))
    return LeastClearance(float(result.least[k]), (str(nearest[k][0]), str(nearest[k][1])), float(times[k]))
