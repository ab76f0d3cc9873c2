"""Which pairs of polygons a check of collisions looks at: links that can meet, and links with obstacles."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise.errors import ArgumentError, choices, shown

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

    Left out are links joined by a joint or a loop, links that are fixed to each other, links that turn about the same
    point (they always meet there), and obstacles with what does not move.
    """
    count = len(mechanism.links)
    drawn = [k for k, link in enumerate(mechanism.links) if link.polygons]
    bodies = _bodies(mechanism)
    apart = _joined(mechanism) | _meeting(mechanism)
    own = [(i, j) for i in drawn for j in drawn if i < j and bodies[i] != bodies[j] and frozenset((i, j)) not in apart]
    moving = [i for i in drawn if bodies[i] >= 0]
    return own + [(i, count + k) for i in moving for k in range(obstacles)]


def chosen_pairs(mechanism: Mechanism, names: Sequence[str], pairs: Iterable[Any]) -> list[IndexPair]:
    """Pairs that the user names: two links, or a link and an obstacle, by name; links also by index.

    Raises
    ------
    ArgumentError
        Where a pair is not of two different things, at least one of them a link.
    """
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
    """Pairs of links whose body frames have one origin wherever the joints are: at two configurations drawn at random."""
    drawn = np.random.default_rng(0).uniform(0.3, 2.9, (2, mechanism.nq))
    origins = np.asarray(mechanism.poses(drawn))[..., :2, 2]
    size = 1.0 + np.abs(origins).max(initial=0.0)
    count = len(mechanism.links)
    return {
        frozenset((i, j))
        for i in range(count)
        for j in range(i)
        if np.abs(origins[:, i] - origins[:, j]).max(initial=0.0) <= 1e-12 * size
    }
