"""Who hangs on whom, which coordinate moves what, and in which order the links come."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from linkwise.errors import Problem, choices
from linkwise.model.checks import Checker
from linkwise.model.link import Link
from linkwise.model.mimic import Follower, Mimic, followers


def with_names(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links, with names of their own for those that have none: link1, link2, ... by their place."""
    taken = {link.name for link in links}
    made = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        made.append(link if link.name else link.replace(name=name, dh_row=link.dh_row))
    return tuple(made)


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


def parents_of(check: Checker, links: Sequence[Link]) -> tuple[int, ...]:
    """Index of each link's parent, -1 for the base."""
    places: dict[str | None, int] = {}
    for k, link in enumerate(links):
        if places.setdefault(link.name, k) != k:
            check.report("links", link.name, "names that differ; this one stands twice")
    found = []
    for k, link in enumerate(links):
        parent = link.parent
        if parent is not None and parent != "base" and parent not in places:
            check.problems.append(_unknown_parent(link, list(places)))
            found.append(-1)
        else:
            found.append(k - 1 if parent is None else -1 if parent == "base" else places[parent])
    return tuple(found)


def _unknown_parent(link: Link, names: Sequence[str | None]) -> Problem:
    others = ["base", *(name for name in names if name != link.name)]
    return Problem(f"link {link.name!r}", "parent", link.parent, choices(others))


def order_of(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> tuple[int, ...]:
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
            check.report("links", ring, "a tree; each of these hangs on another of them (a cycle)")
            return tuple(range(len(links)))
        waiting = left
    return tuple(done)
