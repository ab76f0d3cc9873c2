"""The curves of a motion as they stand together in one plot: of one kind, in one unit, not more than can be told apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from linkwise.spatial.scalar import FloatArray
from linkwise.view.motions.motion import Motion

TITLES = {"position": "Positions", "speed": "Speeds", "effort": "Efforts"}
"""The kinds of curves that are drawn, and what is written over them."""

MOST_CURVES = 12
"""In one plot."""

DASHES = {"-": (), "--": (6, 4), ":": (2, 3), "-.": (6, 3, 2, 3)}
"""Lengths of dashes and gaps, pixels, of each style of line."""


@dataclass(frozen=True, eq=False)
class Group:
    """The curves of one plot.

    Attributes
    ----------
    kind, unit : str
        What they are and in what.
    t : ndarray (m,)
        s from the first instant.
    columns : ndarray (m, k)
        A curve a column.
    names : tuple of str
        Of the curves.
    left_out : int
        How many more there would be.
    """

    kind: str
    unit: str
    t: FloatArray
    columns: FloatArray
    names: tuple[str, ...]
    left_out: int


def groups(motion: Motion, points: int) -> Iterator[Group]:
    """Yield the plots of a motion, each with at most so many points; no efforts where they are not known.

    Examples
    --------
    >>> from linkwise import robots
    >>> moved = Motion.of(robots.scara_icomatic(), ([0.0, 1.0], [[0.0, 0.0, 0.0], [1.0, 0.5, 0.1]]))
    >>> [(group.kind, group.unit, group.names) for group in groups(moved, 300)][:2]
    [('position', 'rad', ('link1', 'link2')), ('position', 'm', ('link3',))]
    """
    for kind in TITLES:
        if kind == "effort" and motion.efforts is None:
            continue
        t, columns, names, units = motion.series(kind, points)
        for unit in dict.fromkeys(units):
            all_of_it = [k for k, other in enumerate(units) if other == unit]
            few = all_of_it[:MOST_CURVES]
            yield Group(kind, unit, t, np.asarray(columns)[:, few], tuple(names[k] for k in few), len(all_of_it) - len(few))
