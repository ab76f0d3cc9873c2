"""Who hangs on whom in the plane, and in which order the links come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING

from linkwise.errors import Problem, choices
from linkwise.model.checks import Checker
from linkwise.planar.link import WORLD, Link

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism


def with_names(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links, with names of their own for those that have none: link1, link2, ... by their place."""
    taken = {link.name for link in links}
    made = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        made.append(link if link.name else link.replace(name=name))
    return tuple(made)


def check_names(check: Checker, links: Sequence[Link]) -> None:
    """Report names of links or joints that repeat, and links with the name of a coordinate of a free link."""
    names = [str(link.name) for link in links]
    for k, name in enumerate(names):
        if name in names[:k]:
            check.report("links", name, "names that differ; this one stands twice")
    coordinates = [name for link in links for name in link.coordinate_names]
    for k, name in enumerate(coordinates):
        if name in coordinates[:k] and names.count(name) < 2:
            check.report("links", name, "joint names that differ; this one stands twice")
    for link in links:
        for name in link.coordinate_names if link.joint == "free" else ():
            if name in names:
                check.report("links", name, f"another name (this one is a coordinate of the free link {link.name!r})")


def parents_of(check: Checker, links: Sequence[Link]) -> tuple[int, ...]:
    """Index of each link's parent, -1 for the world; reports parents that are not there, and free links on others."""
    places = {link.name: k for k, link in reversed([*enumerate(links)])}
    found = []
    for k, link in enumerate(links):
        item, parent = f"link {link.name!r}", link.parent
        if parent is not None and parent != WORLD and parent not in places:
            others = [WORLD, *(name for name in places if name != link.name)]
            check.problems.append(Problem(item, "parent", parent, choices(others)))
            found.append(-1)
            continue
        found.append(k - 1 if parent is None else -1 if parent == WORLD else places[parent])
        if link.joint == "free" and found[-1] >= 0:
            expected = f"{WORLD!r}, for a free link hangs on nothing (or another joint: 'revolute', 'prismatic' or 'fixed')"
            check.problems.append(Problem(item, "parent", parent or links[found[-1]].name, expected))
    return tuple(found)


def order_of(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> tuple[int, ...]:
    """The links sorted so that each stands after its parent; reports a cycle."""
    done: list[int] = []
    waiting = list(range(len(links)))
    while waiting:
        ready = [k for k in waiting if parents[k] == -1 or parents[k] in done]
        if not ready:
            names = [links[k].name for k in waiting]
            check.report("links", names, "a tree; each of these hangs on another of them (a cycle; a Loop closes one)")
            return tuple(range(len(links)))
        done += ready
        waiting = [k for k in waiting if k not in ready]
    return tuple(done)


def parent_name(mechanism: Mechanism, k: int) -> str:
    """Name of the parent of link k, or ``"world"``."""
    parent = mechanism.parents[k]
    return WORLD if parent < 0 else str(mechanism.links[parent].name)
