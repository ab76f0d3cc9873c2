"""Which pairs of polygons a check of collisions looks at: links that can meet, and links with obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown
from linkwise.planar.link import WORLD

if TYPE_CHECKING:
    from linkwise.planar.mechanism import Mechanism

IndexPair = tuple[int, int]
"""Two things: links by their index, then obstacles, counted on from the number of links."""


def things(mechanism: Mechanism, obstacles: Iterable[str]) -> list[str]:
    """Names of the links, then of the obstacles.

    Raises
    ------
    ArgumentError
        Where an obstacle has the name of a link.
    """
    links = mechanism.link_names
    for name in obstacles:
        if name in links:
            raise ArgumentError(f"obstacle {name!r}: a link has this name; expected another one")
    return [*links, *obstacles]


def default_pairs(mechanism: Mechanism, obstacles: int) -> list[IndexPair]:
    """All pairs that can both come together and come apart.

    Left out are links joined by a joint or a loop, links that are fixed to each other, links of one pin (they always meet
    there), and obstacles with what does not move.
    """
    count = len(mechanism.links)
    own: list[IndexPair] | None = mechanism.__dict__.get("_own_pairs")
    bodies = _bodies(mechanism)
    drawn = [k for k, link in enumerate(mechanism.links) if link.polygons]
    if own is None:
        apart = _joined(mechanism) | _meeting(mechanism)
        own = [(i, j) for i in drawn for j in drawn if i < j and bodies[i] != bodies[j] and frozenset((i, j)) not in apart]
        mechanism.__dict__["_own_pairs"] = own
    moving = [i for i in drawn if bodies[i] >= 0]
    return own + [(i, count + k) for i in moving for k in range(obstacles)]


def chosen_pairs(mechanism: Mechanism, names: Sequence[str], pairs: Iterable[Any]) -> list[IndexPair]:
    """Pairs that the user names: two links, or a link and an obstacle, by name; links also by index.

    Raises
    ------
    ArgumentError
        Where a pair is not of two different things, at least one of them a link.
    """
    if isinstance(pairs, str) or not isinstance(pairs, Iterable):
        raise ArgumentError(f"pairs: {shown(pairs)}; expected a list of pairs of names, such as {names[:2]}")
    return [_pair(mechanism, names, given) for given in pairs]


def _pair(mechanism: Mechanism, names: Sequence[str], given: Any) -> IndexPair:
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise ArgumentError(f"pair {shown(given)}: expected two names of {choices(names)}")
    first, second = sorted(_index(len(mechanism.links), names, one) for one in given)
    if first == second or first >= len(mechanism.links):
        raise ArgumentError(f"pair {shown(given)}: expected two different links, or a link and an obstacle")
    return first, second


def _index(links: int, names: Sequence[str], one: Any) -> int:
    if isinstance(one, str) and one in names:
        return names.index(one)
    if isinstance(one, int | np.integer) and not isinstance(one, bool) and -links <= one < links:
        return int(one) % links
    raise ArgumentError(f"pair: there is no {shown(one)}; expected {choices(names)}, or an index of a link")


def _bodies(mechanism: Mechanism) -> list[int]:
    """For each link the first of those fixed to each other to which it belongs, -1 for the ground."""
    found = list(range(len(mechanism.links)))
    for k in mechanism.order:
        if mechanism.links[k].joint == "fixed":
            parent = mechanism.parents[k]
            found[k] = -1 if parent < 0 else found[parent]
    return found


def _joined(mechanism: Mechanism) -> set[frozenset[int]]:
    pairs = {frozenset((k, parent)) for k, parent in enumerate(mechanism.parents) if parent >= 0}
    names = mechanism.link_names
    pinned = [(loop.first, loop.second) for loop in mechanism.loops]
    return pairs | {frozenset(map(names.index, both)) for both in pinned if all(name in names for name in both)}


def _meeting(mechanism: Mechanism) -> set[frozenset[int]]:
    """Pairs of links that hang on one pin: that have a point in common wherever the joints are, with the loops closed.

    Points of joints that are one in two configurations drawn at random are one in all; those that a loop pins together
    are one where it is closed.
    """
    drawn = np.random.default_rng(0).uniform(0.3, 2.9, (2, mechanism.nq))
    poses = np.asarray(mechanism.poses(drawn))
    carriers, points = [], []
    for k, parent in enumerate(mechanism.parents):
        on_parent = parent >= 0 and mechanism.links[k].joint != "prismatic"
        carriers.append({k, parent} if on_parent else {k})
        points.append(poses[:, k, :2, 2])
    for loop in mechanism.loops:
        for name, point in ((loop.first, loop.first_point), (loop.second, loop.second_point)):
            k = -1 if name == WORLD else mechanism.link_index(name)
            carriers.append({k} if k >= 0 else set())
            points.append(np.tile(point, (2, 1)) if k < 0 else poses[:, k, :2, :2] @ point + poses[:, k, :2, 2])
    places = np.array(points)
    one = np.abs(places[:, None] - places).max(axis=(-1, -2)) <= 1e-12 * np.abs(places).max()
    first = len(mechanism.links)
    one[range(first, len(places), 2), range(first + 1, len(places), 2)] = True
    pins = np.arange(len(places))
    for i, j in np.argwhere(one):
        pins[pins == pins[j]] = pins[i]
    links = [set().union(*(carriers[k] for k in np.flatnonzero(pins == pin))) for pin in np.unique(pins)]
    return {frozenset(both) for together in links for both in combinations(together, 2)}
