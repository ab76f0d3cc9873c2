"""The immutable tree of links: who hangs on whom, which coordinate moves what, checked when built."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any, Self

import numpy as np

from linkwise.errors import ArgumentError, Problem, choices, members
from linkwise.model.checks import Checker, frozen
from linkwise.model.inertia import Inertia
from linkwise.model.link import Link
from linkwise.spatial.scalar import FloatArray

GRAVITY = (0.0, 0.0, -9.81)
"""Acceleration of free fall in the world frame unless said otherwise, m/s2."""

NO_PAYLOAD = Inertia()


class Tree:
    """Links joined into a chain or a tree, with base, tool, payload and gravity.

    Parameters
    ----------
    links : sequence of Link
        At least one. A link without a parent follows the link before it in the list, the first one the base.
    base : (4, 4) array_like, optional
        T_world_base: where the base stands; identity by default. All results are in the world frame, which is the
        base frame unless a base is given.
    tool : (4, 4) array_like, optional
        T_link_tool: the tool on the last link of the list.
    gravity : (3,) array_like
        Acceleration of free fall in the world frame, m/s2.
    payload : Inertia, optional
        What the tool carries, in the tool's frame.
    name : str, optional
        How tables and messages call the mechanism.

    Raises
    ------
    ModelError
        With every problem found: names that repeat, parents that are not there, cycles, arrays that are not transforms.
    """

    links: tuple[Link, ...]
    base: FloatArray
    tool: FloatArray
    gravity: FloatArray
    payload: Inertia
    name: str
    parents: tuple[int, ...]
    order: tuple[int, ...]
    coordinates: tuple[int, ...]

    def __init__(
        self,
        links: Iterable[Link],
        *,
        base: Any = None,
        tool: Any = None,
        gravity: Any = GRAVITY,
        payload: Inertia | None = None,
        name: str | None = None,
    ) -> None:
        check = Checker(f"mechanism {name!r}" if name else "mechanism")
        given = tuple(links) if isinstance(links, Iterable) else ()
        if not given or not all(isinstance(link, Link) for link in given):
            check.report("links", links, "one Link or more")
            check.finish()
        if payload is not None and not isinstance(payload, Inertia):
            check.report("payload", payload, "an Inertia or None; with_payload(mass, com, inertia) makes one")
        named = _named(given)
        parents = _parents(check, named)
        values: dict[str, object] = {
            "links": named,
            "base": check.rigid("base", base),
            "tool": check.rigid("tool", tool),
            "gravity": check.vector("gravity", gravity),
            "payload": NO_PAYLOAD if payload is None else payload,
            "name": name or "mechanism",
            "parents": parents,
            "order": _order(check, named, parents),
            "coordinates": _coordinates(named),
        }
        check.finish()
        for field, value in values.items():
            object.__setattr__(self, field, value)

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @property
    def n(self) -> int:
        """Number of joint coordinates."""
        return sum(link.moves for link in self.links)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the moving links, (n,), in the order of the joint coordinates."""
        return tuple(str(link.name) for link in self.links if link.moves)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, (L,), fixed ones too."""
        return tuple(str(link.name) for link in self.links)

    @property
    def limits(self) -> FloatArray:
        """Least and greatest joint coordinates (n, 2), rad or m; infinite where there are none."""
        unlimited = (-np.inf, np.inf)
        return frozen(np.array([link.limits or unlimited for link in self.links if link.moves]).reshape(-1, 2))

    @property
    def motors(self) -> tuple[Any, ...]:
        """The motor of each joint coordinate (n,), None where there is none."""
        return tuple(link.motor for link in self.links if link.moves)

    def link_index(self, link: int | str) -> int:
        """Place of a link in the list, by its name or by an index that may count from the end.

        Raises
        ------
        ArgumentError
            Naming the links there are.
        """
        if isinstance(link, str):
            if link in self.link_names:
                return self.link_names.index(link)
        elif (
            isinstance(link, (int, np.integer)) and not isinstance(link, bool) and -len(self.links) <= link < len(self.links)
        ):
            return int(link) % len(self.links)
        last = len(self.links) - 1
        raise ArgumentError(
            f"no link {link!r}; this mechanism has {members(self.link_names)}, or indices -{last + 1} to {last}"
        )

    def path(self, link: int | str) -> tuple[int, ...]:
        """The links from the base to a link, itself included, by index."""
        found = [self.link_index(link)]
        while self.parents[found[-1]] >= 0:
            found.append(self.parents[found[-1]])
        return tuple(reversed(found))

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    def replace(self, **changes: Any) -> Self:
        """The same mechanism with other values for some fields: links, base, tool, gravity, payload, name."""
        known = self._fields()
        unknown = sorted(changes.keys() - known.keys())
        if unknown:
            raise ArgumentError(f"a mechanism has no field {choices(unknown)}; it has {members(known)}")
        return type(self)(**{**known, **changes})

    def replace_link(self, link: int | str, **changes: Any) -> Self:
        """The same mechanism with other values for some fields of one link (any argument of `Link`)."""
        k = self.link_index(link)
        return self.replace(links=[*self.links[:k], self.links[k].replace(**changes), *self.links[k + 1 :]])

    def with_tool(self, tool: Any) -> Self:
        """The same mechanism with another tool, T_link_tool (4, 4)."""
        return self.replace(tool=tool)

    def with_payload(self, mass: Any = 0.0, com: Any = (0.0, 0.0, 0.0), inertia: Any = 0.0) -> Self:
        """The same mechanism carrying something else (or, with mass 0, nothing) in its tool.

        The payload is kept apart from the last link, so taking it off restores the mechanism exactly.

        Parameters
        ----------
        mass : float
            kg.
        com : (3,) array_like
            Centre of mass in the tool's frame, m.
        inertia : float, (3,), (6,) or (3, 3) array_like
            About the centre of mass, tool axes, kg m2.
        """
        return self.replace(payload=Inertia(mass, com, inertia, item="payload"))

    def nofriction(self, *, coulomb: bool = True, viscous: bool = True) -> Self:
        """The same mechanism without Coulomb friction, viscous friction, or both."""
        return self.replace(links=[_without_friction(link, coulomb, viscous) for link in self.links])

    def perturb(self, fraction: float, seed: int = 0) -> Self:
        """The same mechanism with each mass and each tensor multiplied by a factor from [1 - fraction, 1 + fraction].

        Raises
        ------
        ArgumentError
            Unless 0 <= fraction < 1.
        """
        if not isinstance(fraction, (int, float)) or not 0 <= fraction < 1:
            raise ArgumentError(f"fraction is {fraction!r}; expected a number from 0 to less than 1")
        factors = np.random.default_rng(seed).uniform(1 - fraction, 1 + fraction, (len(self.links), 2))
        pairs = zip(self.links, factors, strict=True)
        return self.replace(links=[_with_body(link, link.body.scaled(float(m), float(i))) for link, (m, i) in pairs])

    # ── how it shows itself ───────────────────────────────────────────────────────────────────────

    def __repr__(self) -> str:
        from linkwise.model import table

        return table.text(self)

    def _repr_html_(self) -> str:
        from linkwise.model import table

        return table.html(self)

    # ── identity ──────────────────────────────────────────────────────────────────────────────────

    def _fields(self) -> dict[str, Any]:
        names = ("links", "base", "tool", "gravity", "payload", "name")
        return {name: getattr(self, name) for name in names}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal mechanisms, hashable."""
        arrays = (self.base.tobytes(), self.tool.tobytes(), self.gravity.tobytes())
        return (self.links, *arrays, self.payload, self.name)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Tree) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self._fields())


def _rebuild(kind: type[Tree], values: dict[str, Any]) -> Tree:
    return kind(**values)


def _named(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links, with names of their own for those that have none: link1, link2, ... by their place."""
    taken = {link.name for link in links}
    made = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        made.append(link if link.name else link.replace(name=name, dh_row=link.dh_row))
    return tuple(made)


def _with_body(link: Link, body: Inertia) -> Link:
    return link.replace(mass=body.mass, com=body.com, inertia=body.tensor)


def _without_friction(link: Link, coulomb: bool, viscous: bool) -> Link:
    if link.motor is None:
        return link
    return link.replace(motor=link.motor.without_friction(coulomb=coulomb, viscous=viscous))


def _coordinates(links: Sequence[Link]) -> tuple[int, ...]:
    """The index into q of each link's joint coordinate, -1 for a fixed link."""
    found, count = [], 0
    for link in links:
        found.append(count if link.moves else -1)
        count += link.moves
    return tuple(found)


def _parents(check: Checker, links: Sequence[Link]) -> tuple[int, ...]:
    """Index of each link's parent, -1 for the base."""
    names = [link.name for link in links]
    for k, name in enumerate(names):
        if name in names[:k]:
            check.report("links", name, "names that differ; this one stands twice")
    found = []
    for k, link in enumerate(links):
        parent = link.parent
        if parent is not None and parent != "base" and parent not in names:
            check.problems.append(_unknown_parent(link, names))
            found.append(-1)
        else:
            found.append(k - 1 if parent is None else -1 if parent == "base" else names.index(parent))
    return tuple(found)


def _unknown_parent(link: Link, names: Sequence[str | None]) -> Problem:
    others = ["base", *(name for name in names if name != link.name)]
    return Problem(f"link {link.name!r}", "parent", link.parent, choices(others))


def _order(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> tuple[int, ...]:
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
