"""The structure of a tree of links: names, parents, order, which coordinate moves which joint, and the joints' limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any, TypeVar

import numpy as np

from linkwise.errors import Problem, choices
from linkwise.model.link import Link
from linkwise.model.mimic import Follower, Mimic, followers
from linkwise.model.validation import Checker
from linkwise.spatial.scalar import FloatArray

T = TypeVar("T", bound=Any)


def with_names(links: Sequence[T]) -> tuple[T, ...]:
    """The links, with names of their own for those that have none: link1, link2, ... by their place."""
    taken = {link.name for link in links}
    results = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        results.append(link if link.name else link.replace(name=name))
    return tuple(results)


def followers_of(check: Checker, links: Sequence[Link]) -> tuple[Follower, ...]:
    """How each link's joint depends on the joint coordinates; a coordinate for each joint that follows no other."""
    known = len(check.problems)
    first: dict[str, Link] = {}
    for link in links:
        name = link.coordinate_name
        if link.moves and (link.joint_name or (name in first and first[name].joint_name)) and name in first:
            check.report("links", name, "joint names that differ; this one stands twice")
        if link.moves:
            first.setdefault(name, link)
    joints = [(link.coordinate_name, link.moves, link.mimic if isinstance(link.mimic, Mimic) else None) for link in links]
    return followers(check if len(check.problems) == known else Checker(check.item), joints)


def parents_of(check: Checker, links: Sequence[Any], base: str = "base") -> tuple[int, ...]:
    """Index of each link's parent, -1 for the base, which has a name of its own in the plane."""
    places: dict[str | None, int] = {}
    for k, link in enumerate(links):
        if places.setdefault(link.name, k) != k:
            check.report("links", link.name, "names that differ; this one stands twice")
    results = []
    for k, link in enumerate(links):
        parent = link.parent
        if parent is not None and parent != base and parent not in places:
            others = [base, *(name for name in places if name != link.name)]
            check.problems.append(Problem(f"link {link.name!r}", "parent", parent, choices(others)))
            results.append(-1)
        else:
            results.append(k - 1 if parent is None else -1 if parent == base else places[parent])
    return tuple(results)


def order_of(check: Checker, links: Sequence[Any], parents: Sequence[int]) -> tuple[int, ...]:
    """The links sorted so that each stands after its parent; reports a cycle."""
    done: list[int] = []
    placed = {-1}
    waiting = list(range(len(links)))
    while waiting:
        for k in waiting:
            if parents[k] in placed:
                done.append(k)
                placed.add(k)
        left = [k for k in waiting if k not in placed]
        if left == waiting:
            ring = [links[k].name for k in left]
            check.report("links", ring, "a tree; each of these hangs on another of them (a cycle; a Loop closes one)")
            return tuple(range(len(links)))
        waiting = left
    return tuple(done)


def position_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> tuple[FloatArray, FloatArray]:
    """Least and greatest coordinates, each (n,), that every joint allows, those that follow others too."""
    least, greatest = np.full(n, -np.inf), np.full(n, np.inf)
    for link, joint in zip(links, joints, strict=True):
        k = joint.coordinate
        if link.limits is not None and k >= 0 and joint.ratio:
            low, high = sorted((limit - joint.shift) / joint.ratio for limit in link.limits)
            least[k], greatest[k] = max(least[k], low), min(greatest[k], high)
    return least, greatest


def greatest_rates(links: Sequence[Link], joints: Sequence[Follower], n: int, name: str) -> FloatArray:
    """Greatest velocities or accelerations (n,), by the name of the field, that every joint allows, followers too."""
    result = np.full(n, np.inf)
    for link, joint in zip(links, joints, strict=True):
        if (most := getattr(link, name)) is not None and joint.coordinate >= 0 and joint.ratio:
            result[joint.coordinate] = min(result[joint.coordinate], most / abs(joint.ratio))
    return result


def greatest_efforts(links: Sequence[Link], n: int) -> FloatArray:
    """Greatest efforts (n,) of the joints that have a coordinate of their own."""
    own = (np.inf if link.tau_max is None else link.tau_max for link in links if link.moves and not link.mimic)
    return np.fromiter(own, dtype=np.float64, count=n)


def empty_limits(links: Sequence[Link], joints: Sequence[Follower], n: int) -> Iterator[Problem]:
    """What is wrong with joints whose limits leave nothing to the coordinate that they follow, or to themselves."""
    least, greatest = position_limits(links, joints, n)
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
        if link.mimic is not None and joint.coordinate >= 0 and least[joint.coordinate] > greatest[joint.coordinate]:
            expected = f"limits that leave a range to the coordinate of {link.mimic.joint!r}, which it follows"
            yield Problem(f"joint {link.coordinate_name!r}", "limits", link.limits, expected)


def check_limits(check: Checker, links: Sequence[Link], joints: Sequence[Follower]) -> None:
    """Report the limits of joints that leave nothing to the coordinate that they follow."""
    if any(link.mimic for link in links) and not check.problems:
        check.problems += empty_limits(links, joints, sum(link.moves and not link.mimic for link in links))
