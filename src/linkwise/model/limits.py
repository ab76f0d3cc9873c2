"""How far, how fast and how hard the joint coordinates may go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwise.errors import Problem
from linkwise.model.checks import Checker
from linkwise.model.link import Link
from linkwise.model.mimic import Follower
from linkwise.spatial.scalar import FloatArray

if TYPE_CHECKING:
    from linkwise.model.tree import Tree


def resting(tree: Tree) -> FloatArray:
    """Coordinates (nq,) in which a mechanism is shown where none are given: every joint at zero, or the limit next to it.

    A mechanism with loops is left as it is at zero: its joints depend on each other.

    Examples
    --------
    >>> from linkwise import Link, Mechanism
    >>> resting(Mechanism([Link(limits=(0.3, 0.5)), Link()])).tolist()
    [0.3, 0.0]
    """
    made = np.array(tree.neutral, dtype=float)
    if not tree.loops:
        first = tree.nq - tree.n
        made[first:] = np.clip(made[first:], *np.asarray(tree.limits).T)
    return made


def position_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> FloatArray:
    """Least and greatest coordinates (n, 2) that every joint allows, those that follow others too."""
    made = np.tile([-np.inf, np.inf], (n, 1))
    for link, joint in zip(links, joints, strict=True):
        if link.limits is not None and joint.coordinate >= 0 and joint.ratio:
            low, high = sorted((limit - joint.shift) / joint.ratio for limit in link.limits)
            row = made[joint.coordinate]
            row[:] = max(row[0], low), min(row[1], high)
    return made


def speed_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> FloatArray:
    """Greatest speeds (n,) that every joint allows, those that follow others too."""
    made = np.full(n, np.inf)
    for link, joint in zip(links, joints, strict=True):
        if link.speed_limit is not None and joint.coordinate >= 0 and joint.ratio:
            made[joint.coordinate] = min(made[joint.coordinate], link.speed_limit / abs(joint.ratio))
    return made


def effort_limits(links: Sequence[Link], n: int) -> FloatArray:
    """Greatest efforts (n,) of the joints that have a coordinate of their own."""
    own = (np.inf if link.effort_limit is None else link.effort_limit for link in links if link.moves and not link.mimic)
    return np.fromiter(own, dtype=np.float64, count=n)


def empty_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> Iterator[Problem]:
    """What is wrong with joints whose limits leave nothing to the coordinate that they follow, or to themselves."""
    limits = position_limits(links, joints, n)
    for link, joint in zip(links, joints, strict=True):
        if (
            link.mimic is not None
            and link.limits
            and not joint.ratio
            and not link.limits[0] <= joint.shift <= link.limits[1]
        ):
            expected = f"limits around {joint.shift:g}, where the joint stays"
            yield Problem(f"joint {link.coordinate_name!r}", "limits", link.limits, expected)
    for link, joint in zip(links, joints, strict=True):
        if link.mimic is not None and joint.coordinate >= 0 and limits[joint.coordinate, 0] > limits[joint.coordinate, 1]:
            expected = f"limits that leave a range to the coordinate of {link.mimic.joint!r}, which it follows"
            yield Problem(f"joint {link.coordinate_name!r}", "limits", link.limits, expected)


def check_limits(check: Checker, links: Sequence[Link], joints: Sequence[Follower]) -> None:
    """Report the limits of joints that leave nothing to the coordinate that they follow."""
    if any(link.mimic for link in links) and not check.problems:
        check.problems += empty_limits(links, joints, sum(link.moves and not link.mimic for link in links))
