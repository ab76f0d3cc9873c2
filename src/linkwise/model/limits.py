"""The limits of the joint coordinates, velocities and efforts that the limits of joints make, of followers too."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isclose

import numpy as np

from linkwise.errors import Problem
from linkwise.model.link import Link
from linkwise.model.mimic import Follower
from linkwise.model.validation import Checker
from linkwise.spatial.scalar import FloatArray

#: By how much limits may miss each other, relative: a few products and sums of a follower's ratio and offset.
ROUNDING = 1e-14


def position_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> tuple[FloatArray, FloatArray]:
    """Position limits (n,) of the coordinates within those of every joint, mimic joints included."""
    least, greatest = np.full(n, -np.inf), np.full(n, np.inf)
    for link, joint in zip(links, joints, strict=True):
        for k, limits in enumerate(link.coordinate_limits, joint.coordinate):
            if limits is not None and joint.ratio:
                low, high = sorted((limit - joint.shift) / joint.ratio for limit in limits)
                least[k], greatest[k] = max(least[k], low), min(greatest[k], high)
    crossed = [low > high and isclose(low, high, rel_tol=ROUNDING) for low, high in zip(least, greatest, strict=True)]
    return np.where(crossed, greatest, least), np.where(crossed, least, greatest)


def greatest_rates(links: Sequence[Link], joints: Sequence[Follower], n: int, name: str) -> FloatArray:
    """Greatest velocities or accelerations (n,), by the name of the field, that every joint allows, followers too."""
    result = np.full(n, np.inf)
    for link, joint in zip(links, joints, strict=True):
        for k, most in enumerate(link.greatest(name), joint.coordinate):
            if most is not None and joint.ratio:
                result[k] = min(result[k], most / abs(joint.ratio))
    return result


def greatest_efforts(links: Sequence[Link], n: int) -> FloatArray:
    """Effort limits (n,) of the joints with an independent coordinate."""
    limits = [most for link in links if not link.mimic for most in link.greatest("tau_max")]
    return np.array([np.inf if most is None else most for most in limits], dtype=np.float64).reshape(n)


def empty_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> Iterator[Problem]:
    """Yield problems of joints whose limits leave no range for their coordinate or the one that they follow."""
    least, greatest = position_limits(links, joints, n)
    for link, joint in zip(links, joints, strict=True):
        if link.mimic is not None and link.limits and not joint.ratio and not _holds(link.limits, joint.shift):
            expected = f"limits around {joint.shift:g}, where the joint stays"
            yield Problem(f"joint {link.coordinate_name!r}", "limits", link.limits, expected)
    for link, joint in zip(links, joints, strict=True):
        if link.mimic is not None and joint.coordinate >= 0 and least[joint.coordinate] > greatest[joint.coordinate]:
            expected = f"limits that leave a range to the coordinate of {link.mimic.joint!r}, which it follows"
            yield Problem(f"joint {link.coordinate_name!r}", "limits", link.limits, expected)


def _holds(limits: tuple[float, float], value: float) -> bool:
    slack = ROUNDING * abs(value)
    return limits[0] - slack <= value <= limits[1] + slack


def check_limits(check: Checker, links: Sequence[Link], joints: Sequence[Follower]) -> None:
    """Report the limits of joints that leave nothing to the coordinate that they follow."""
    if any(link.mimic for link in links) and not check.problems:
        check.problems += empty_limits(links, joints, sum(len(link.coordinate_names) for link in links if not link.mimic))
