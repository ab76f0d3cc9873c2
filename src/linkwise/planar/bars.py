"""Thin bars from each joint to the next ones, for links whose shape nobody gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from linkwise.planar.polygon import bar
from linkwise.planar.transforms import matrix, step
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

PART = 0.1
"""Width of a bar, as a part of the mean distance between joints on a link."""


def bars(mechanism: Mechanism) -> dict[str, tuple[FloatArray, ...]]:
    """Polygons by link: a bar from its origin to the joint of each child, at coordinates 0, and to each pin of a loop.

    Parameters
    ----------
    mechanism : Mechanism
        Without symbols.

    Returns
    -------
    dict
        Nothing for a link on which there is no second joint.

    Examples
    --------
    >>> from linkwise import planar
    >>> {name: len(shapes) for name, shapes in bars(planar.Mechanism([planar.Link(), planar.Link(a=1.0)])).items()}
    {'link1': 1, 'link2': 0}
    """
    ends: dict[str, list[FloatArray]] = {str(link.name): [] for link in mechanism.links}
    for k, link in enumerate(mechanism.links):
        if mechanism.parents[k] >= 0:
            x, y, _ = step(link, [0.0] * len(link.coordinate_names))
            ends[str(mechanism.links[mechanism.parents[k]].name)].append(np.array([x, y]))
    for loop in mechanism.loops:
        for name, point in ((loop.first, loop.first_point), (loop.second, loop.second_point)):
            if name in ends:
                ends[name].append(point)
    apart = {name: _apart(several) for name, several in ends.items()}
    reaches = [float(np.hypot(*end)) for several in apart.values() for end in several]
    width = PART * float(np.mean(reaches)) if reaches else 0.0
    return {name: tuple(_bar_to(end, width) for end in several) for name, several in apart.items()}


def _apart(ends: list[FloatArray]) -> list[FloatArray]:
    """The points that are neither the origin nor, but for rounding, one before: several joints may be on one pin."""
    kept = [np.zeros(2)]
    near = 1e-12 * max((float(np.hypot(*end)) for end in ends), default=0.0)
    for end in ends:
        if all(np.hypot(*(end - other)) > near for other in kept):
            kept.append(end)
    return kept[1:]


def _bar_to(end: FloatArray, width: float) -> FloatArray:
    """A bar from the origin to a point."""
    turn = matrix((0.0, 0.0, float(np.arctan2(end[1], end[0]))))[:2, :2].astype(np.float64)
    return bar(float(np.hypot(*end)), width) @ turn.T
