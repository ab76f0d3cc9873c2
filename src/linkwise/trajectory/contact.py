"""Whether a mechanism meets an obstacle, or itself, anywhere along a path."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.clearance.pairs import collision_shapes
from linkwise.clearance.reach import levers
from linkwise.trajectory.path import JointPath
from linkwise.trajectory.path_kernels import controls

#: Into how many intervals a path is cut at first and at last, and how often those are halved that are not known to be clear.
INTERVALS, MOST, HALVINGS = 200, 100_000, 30


def contact_along(mechanism: Any, path: JointPath, obstacles: Any) -> tuple[float, float, tuple[str, str]] | None:
    """Where one path meets an obstacle, or the mechanism itself: the parameter, the distance there and the two shapes.

    None where capsules about the shapes touch nowhere along it, between the places at which they are measured too: in an
    interval a joint moves no more than the control points of its polynomial, from one to the next, and no distance changes
    by more than the levers of the joints times that (`linkwise.clearance.reach`). The distance is above zero where contact
    can neither be found nor excluded.

    Raises
    ------
    ArgumentError
        Where the mechanism has joints that have no levers: sliding ones without limits.
    """
    lever, s = levers(collision_shapes(mechanism)), path.divided(INTERVALS, np.empty(0))
    where, distance, open_ = s, np.empty(0), np.zeros(0, dtype=np.intp)
    halvings = 0
    while True:
        result = mechanism.clearance(path.at(where)[0], obstacles)
        least = np.asarray(result.least)
        worst = int(np.argmin(least))
        if least[worst] <= 0.0 or s.size > MOST or halvings == HALVINGS:
            return float(where[worst]), float(least[worst]), (str(result.nearest[worst][0]), str(result.nearest[worst][1]))
        distance = np.insert(distance, open_ + 1, least) if distance.size else least
        s = np.insert(s, open_ + 1, where) if open_.size else s
        (q0, v0, a0), (q1, v1, a1) = (side[0] for side in path.ends(s)(slice(None)))
        points = np.stack(controls(q0, v0, a0, q1, v1, a1, np.diff(s)[:, None]))
        travel = np.abs(np.diff(points, axis=0)).sum(axis=0) @ lever
        open_ = np.flatnonzero(distance[:-1] + distance[1:] <= travel)
        if not open_.size:
            return None
        where = 0.5 * (s[open_] + s[open_ + 1])
        halvings += 1
