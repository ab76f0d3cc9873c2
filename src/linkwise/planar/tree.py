"""The data of a planar mechanism: links, loops, parents, coordinates and symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import count
from typing import Any, Self

import numpy as np

from linkwise.errors import ArgumentError, Problem, choices, members, shown
from linkwise.expr.node import Expr
from linkwise.model.symbolic import expression_of, parameters_in, values_by_name
from linkwise.model.validation import Checker, frozen
from linkwise.planar.link import WORLD, Link
from linkwise.planar.loop import Loop, given_loops
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


class PlanarTree:
    """Links in the plane, joined into a chain or a tree, with or without loops; see `linkwise.planar.Mechanism`."""

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]
    name: str
    parents: tuple[int, ...]
    order: tuple[int, ...]

    def __init__(self, links: Iterable[Link], loops: Iterable[Loop] = (), name: str | None = None) -> None:
        check = Checker(f"mechanism {name!r}" if name else "mechanism")
        several = tuple(links) if isinstance(links, Iterable) else ()
        if not several or not all(isinstance(link, Link) for link in several):
            check.report("links", links, "one planar.Link or more")
            check.finish()
        if name is not None and not isinstance(name, str):
            check.report("name", name, "a word, or None")
        named = _named(several)
        _check_names(check, named)
        parents = _parents(check, named)
        values: dict[str, object] = {
            "links": named,
            "loops": given_loops(check, loops, [str(link.name) for link in named]),
            "name": name or "mechanism",
            "parents": parents,
            "order": _order(check, named, parents),
        }
        check.finish()
        self.__dict__.update(values)
        replacements = check.one_of_each_name(self.parameters_used)
        check.finish()
        if replacements:
            del self.__dict__["parameters_used"]
            self.__dict__.update({field: tuple(items) for field, items in self._with_values(replacements).items()})

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates (nq,): those of the links, for a free one with ``.x``, ``.y`` and ``.theta``."""
        return tuple(name for link in self.links for name in link.coordinate_names)

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links (L,)."""
        return tuple(str(link.name) for link in self.links)

    @cached_property
    def owner(self) -> tuple[int, ...]:
        """Index of the link that each coordinate moves (nq,)."""
        return tuple(k for k, link in enumerate(self.links) for _ in link.coordinate_names)

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Whether each coordinate is an angle, rad (nq,); the others are lengths, m."""
        kinds = {"revolute": (True,), "prismatic": (False,), "fixed": (), "free": (False, False, True)}
        return tuple(turn for link in self.links for turn in kinds[link.joint])

    @cached_property
    def limits(self) -> FloatArray:
        """Least and greatest coordinates (nq, 2), rad or m; infinite where there are none."""
        return frozen(np.concatenate([link.bounds for link in self.links]))

    def link_index(self, link: int | str) -> int:
        """Place of a link in the list, by its name or by an index that may count from the end.

        Raises
        ------
        ArgumentError
            Naming the links there are.
        """
        index = find_index(link, self.link_names)
        if index is not None:
            return index
        last = len(self.links) - 1
        raise ArgumentError(
            f"no link {link!r}; this mechanism has {members(self.link_names)}, or indices -{last + 1} to {last}"
        )

    def path(self, link: int | str) -> tuple[int, ...]:
        """The links from the world to a link, itself included, by index."""
        chain = [self.link_index(link)]
        while self.parents[chain[-1]] >= 0:
            chain.append(self.parents[chain[-1]])
        return tuple(reversed(chain))

    @cached_property
    def parameters_used(self) -> tuple[Expr, ...]:
        """The symbols that stand for numbers of the mechanism, in the order in which they first occur."""
        links, loops = ([value for item in items for value in item.numbers] for items in (self.links, self.loops))
        return parameters_in([*links, *loops])

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in it."""
        return tuple(str(node.value) for node in self.parameters_used)

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    def replace(self, **changes: Any) -> Self:
        """The same mechanism with other links, loops or name; checked again."""
        unknown = sorted(changes.keys() - self._fields().keys())
        if unknown:
            raise ArgumentError(f"a planar mechanism has no field {choices(unknown)}; it has {members(self._fields())}")
        return type(self)(**{**self._fields(), **changes})

    def substitute(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        """The same mechanism with numbers, or other expressions, for some of its symbols; checked again.

        Examples
        --------
        >>> import linkwise as lw
        >>> from linkwise import planar
        >>> arm = planar.Mechanism([planar.Link(), planar.Link(a=lw.symbols("l1"))])
        >>> arm.symbols, arm.substitute(l1=2.0).poses([0.0, 0.0])[1, 0, 2].tolist()
        (('l1',), 2.0)
        """
        numbers_by_name = values_by_name(values, named)
        unknown = [name for name in numbers_by_name if name not in self.symbols]
        if unknown:
            there = members(self.symbols) if self.symbols else "none"
            raise ArgumentError(f"{self.name!r} has no symbol {choices(unknown)}; there is {there}")
        nodes = [node for node in self.parameters_used if node.value in numbers_by_name]
        return self.replace(**self._with_values({node: _scalar(node, numbers_by_name[node.value]) for node in nodes}))

    def _with_values(self, values: Mapping[Expr, Any]) -> dict[str, Any]:
        """Links and loops with numbers, or other expressions, for symbols."""
        return {field: [item.substituted(values) for item in getattr(self, field)] for field in ("links", "loops")}

    # ── identity ──────────────────────────────────────────────────────────────────────────────────

    def _fields(self) -> dict[str, Any]:
        return {"links": self.links, "loops": self.loops, "name": self.name}

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal mechanisms, hashable."""
        return (self.links, self.loops, self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlanarTree) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.links, self.loops, self.name)


def parent_name(tree: PlanarTree, k: int) -> str:
    """Name of the parent of link k, or ``"world"``."""
    return WORLD if tree.parents[k] < 0 else str(tree.links[tree.parents[k]].name)


def require_numbers(tree: PlanarTree) -> None:
    """Refuse a mechanism with symbols.

    Raises
    ------
    ArgumentError
        Naming them.
    """
    if tree.symbols:
        raise ArgumentError(f"{tree.name!r} has symbols, {members(tree.symbols)}; expected numbers: substitute them")


def finite(tree: PlanarTree, configuration: Any) -> FloatArray:
    """Configurations (..., nq) of finite numbers, rad or m; the caller's own array where it is such.

    Raises
    ------
    ArgumentError
        Where they are something else, or of another shape.
    """
    q = numbers("configuration", configuration, f"finite real numbers (..., {tree.nq})", copy=False)
    if q.shape[-1:] != (tree.nq,):
        raise ArgumentError(f"configuration has the shape {q.shape}; expected (..., {tree.nq})")
    return q


def find_index(item: Any, names: Sequence[str], count: int | None = None) -> int | None:
    """Place of a name in a list, or of an index of its first ``count``, which may count from their end; None without it."""
    if isinstance(item, str):
        return names.index(item) if item in names else None
    last = len(names) if count is None else count
    whole = isinstance(item, int | np.integer) and not isinstance(item, bool)
    return int(item) % last if whole and -last <= item < last else None


def _named(links: Sequence[Link]) -> tuple[Link, ...]:
    """The links, with names of their own for those that have none: link1, link2, ... by their place."""
    taken = {link.name for link in links}
    named = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        named.append(link if link.name else link.replace(name=name))
    return tuple(named)


def _check_names(check: Checker, links: Sequence[Link]) -> None:
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


def _parents(check: Checker, links: Sequence[Link]) -> tuple[int, ...]:
    """Index of each link's parent, -1 for the world; reports parents that are not there, and free links on others."""
    places = {link.name: k for k, link in reversed([*enumerate(links)])}
    parents: list[int] = []
    for k, link in enumerate(links):
        item, parent = f"link {link.name!r}", link.parent
        if parent is not None and parent != WORLD and parent not in places:
            others = [WORLD, *(name for name in places if name != link.name)]
            check.problems.append(Problem(item, "parent", parent, choices(others)))
            parents.append(-1)
            continue
        parents.append(k - 1 if parent is None else -1 if parent == WORLD else places[parent])
        if link.joint == "free" and parents[-1] >= 0:
            expected = f"{WORLD!r}, for a free link hangs on nothing (or another joint: 'revolute', 'prismatic' or 'fixed')"
            check.problems.append(Problem(item, "parent", parent or links[parents[-1]].name, expected))
    return tuple(parents)


def _order(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> tuple[int, ...]:
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


def _scalar(node: Expr, value: Any) -> Any:
    """A number or an expression to put in for a symbol."""
    expression = expression_of(value)
    if expression is not None:
        return expression
    name = str(node.value)
    number = numbers(f"symbol {name!r}", value, "a finite number, or an expression")
    if number.shape:
        raise ArgumentError(f"symbol {name!r} is {shown(value)}; expected one number, or an expression")
    return float(number)
