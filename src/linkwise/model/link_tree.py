"""`LinkTree`: named links, each with a parent, and cached results of an immutable mechanism."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import count
from typing import Any, Self, TypeVar

import numpy as np

from linkwise.errors import ArgumentError, Problem, choices, members, shown, suggestion
from linkwise.expr.node import Expr
from linkwise.model.symbolic import expression_of, values_by_name
from linkwise.model.validation import Checker, Record
from linkwise.spatial.validation import numbers as real_numbers
from linkwise.torch_graphs import outside_graphs

Item = TypeVar("Item", bound=Any)
T = TypeVar("T")


def with_names(links: Sequence[Item]) -> tuple[Item, ...]:
    """Name links without a name by their place: link1, link2, ..."""
    taken = {link.name for link in links}
    results = []
    for k, link in enumerate(links):
        name = link.name or next(name for name in (f"link{k + 1}{'_' * more}" for more in count()) if name not in taken)
        taken.add(name)
        results.append(link if link.name else link.unchecked(name=name))
    return tuple(results)


def parents_of(check: Checker, links: Sequence[Any], base: str = "base") -> tuple[int, ...]:
    """Index of each link's parent, -1 for the base, which has its own name in the planar vocabulary."""
    places: dict[str | None, int] = {}
    for k, link in enumerate(links):
        if places.setdefault(link.name, k) != k:
            check.report("links", link.name, "unique names; this one occurs twice")
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
    """Sort links so that each follows its parent; report a cycle."""
    rounds = {-1: 0}  # number of passes through the list until a link's parent comes before it
    visited: set[int] = set()
    for k in range(len(links)):
        path, at = [], k
        while at not in rounds and at not in visited:
            visited.add(at)
            path.append(at)
            at = parents[at]
        for child in reversed(path if at in rounds else ()):
            rounds[child] = rounds[at] + (at > child)
            at = child
    ring = [link.name for k, link in enumerate(links) if k not in rounds]
    if ring:
        check.report("links", ring, "a tree; each of these hangs on another of them (a cycle; a loop closure closes one)")
        return tuple(range(len(links)))
    return tuple(sorted(range(len(links)), key=rounds.__getitem__))


class LinkTree(Record):
    """Named links, each with a parent; subclasses add the fields, and declare which of them may have symbols."""

    links: tuple[Any, ...]
    name: str
    parents: tuple[int, ...]
    order: tuple[int, ...]

    def __setattr__(self, field: str, value: object) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    def __delattr__(self, field: str) -> None:
        raise AttributeError(f"a mechanism never changes; use replace({field}=...) to make another")

    # ── what it is made of ────────────────────────────────────────────────────────────────────────

    @property
    def link_names(self) -> tuple[str, ...]:
        """Names of all links, (L,), fixed ones too."""
        return self.memo("model", "link_names", lambda: tuple(str(link.name) for link in self.links))

    @property
    def _link_places(self) -> dict[str, int]:
        """Place of each link in the list by its name."""
        return self.memo("model", "link_places", lambda: {name: k for k, name in enumerate(self.link_names)})

    def link_index(self, link: int | str) -> int:
        """Place of a link in the list, by its name or by an index that may count from the end.

        Raises
        ------
        ArgumentError
            Naming the links there are.
        """
        index = self._link_places.get(link) if isinstance(link, str) else find_index(link, self.link_names)
        if index is not None:
            return index
        last = len(self.links) - 1
        hint = suggestion(str(link), self.link_names)
        raise ArgumentError(
            f"no link {link!r}{hint}; this mechanism has {members(self.link_names)}, or indices -{last + 1} to {last}"
        )

    def path(self, link: int | str) -> tuple[int, ...]:
        """The links from the base to a link, itself included, by index."""
        results = [self.link_index(link)]
        while self.parents[results[-1]] >= 0:
            results.append(self.parents[results[-1]])
        return tuple(reversed(results))

    def carried(self, link: int) -> list[int]:
        """A link, by its index, and all that it carries, in the order of the list."""
        inside = {link}
        for k in self.order:
            if self.parents[k] in inside:
                inside.add(k)
        return sorted(inside)

    def memo(self, owner: str, key: Hashable, make: Callable[[], T]) -> T:
        """Cache the result of `make`, which is called once for this mechanism, by whichever thread comes first.

        Results live as long as the mechanism; other mechanisms made from it, and copies, start without any.

        Parameters
        ----------
        owner : str
            The module or algorithm that keeps the result.
        key : hashable
            Which of the owner's results.
        make : callable
            Computes it, from the mechanism and the key alone.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> arm.memo("example", "list", list) is arm.memo("example", "list", list)
        True
        """
        results: dict[Hashable, T] = self.__dict__["_memo"]
        place = (owner, key)
        return results[place] if place in results else self._compute(place, make)

    @outside_graphs("what is computed once for a mechanism")
    def _compute(self, place: tuple[str, Hashable], make: Callable[[], T]) -> T:
        """The result of `make`, kept at a place of `memo`."""
        results: dict[Hashable, T] = self.__dict__["_memo"]
        with self.__dict__["_lock"]:
            if place not in results:
                results[place] = make()
        return results[place]

    def recall(self, owner: str, key: Hashable) -> Any:
        """Cached result of `memo` for an owner and a key; None if there is none yet."""
        return self.__dict__["_memo"].get((owner, key))

    def _hold(self, values: Mapping[str, object]) -> None:
        """Take the values of all attributes, and nothing that `memo` keeps."""
        self.__dict__.update(values, _memo={}, _lock=threading.RLock())

    # ── other mechanisms made from it ─────────────────────────────────────────────────────────────

    def replace(self, **changes: Any) -> Self:
        """The same mechanism with other values for some fields.

        They are links, loops, motors, springs, base, tool, tool_link, gravity, payload, floating, shapes and name; of a
        planar mechanism links, loops and name.

        Examples
        --------
        >>> from linkwise import robots
        >>> arm = robots.planar_2r()
        >>> arm.replace(gravity=(0, 0, -1.62), name="on the moon").gravity
        array([ 0.  ,  0.  , -1.62])
        """
        return type(self)(**self._with(changes, self._values(), "a mechanism"))

    # ── symbols in it ─────────────────────────────────────────────────────────────────────────────

    @property
    def parameters_used(self) -> tuple[Expr, ...]:
        """Symbols in place of numbers of the mechanism, in the order of their first occurrence."""
        return self.memo("model", "parameters", self._find_parameters)

    def _find_parameters(self) -> tuple[Expr, ...]:
        raise NotImplementedError

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of the symbols in it, (S,): kernels take their values as a last input, ``parameters`` (..., S)."""
        return tuple(str(node.value) for node in self.parameters_used)

    def substitute(self, values: Mapping[Any, Any] | None = None, /, **named: Any) -> Self:
        """The same mechanism with numbers, or other expressions, for some of its symbols; checked again.

        Parameters
        ----------
        values : mapping of str or symbol to float, optional
            By the symbols, or their names, where these are no Python words.
        **named
            The same.

        Raises
        ------
        ArgumentError
            Naming the symbols there are.

        Examples
        --------
        >>> import linkwise as lw
        >>> l1, l2 = lw.symbols("l1 l2")
        >>> arm = lw.Mechanism.from_dh([(0, 0, l1, 0), (0, 0, l2, 0)], convention="standard")
        >>> arm.symbols, arm.substitute(l1=1.0, l2=0.5).forward_kinematics([0.0, 0.0])[0, 3].tolist()
        (('l1', 'l2'), 1.5)
        """
        chosen = values_by_name(values, named)
        unknown = [name for name in chosen if name not in self.symbols]
        if unknown:
            there = members(self.symbols) if self.symbols else "none"
            raise ArgumentError(f"{self.name!r} has no symbol {choices(unknown)}; there is {there}")
        numbers = {
            node: _as_scalar(str(node.value), chosen[node.value]) for node in self.parameters_used if node.value in chosen
        }
        return self.replace(**self._substituted(numbers))

    def _substituted(self, numbers: Mapping[Expr, Any]) -> dict[str, Any]:
        """The fields that may hold symbols, with numbers or other expressions for these."""
        raise NotImplementedError

    def require_numbers(self, subject: str) -> None:
        """Raise `ArgumentError` where the mechanism has symbols: `subject` needs numbers."""
        if self.symbols:
            problem = f"{self.name!r} has symbols, {members(self.symbols)}; {subject} needs numbers in their place"
            raise ArgumentError(f"{problem} (substitute() puts them there)")


def find_index(item: Any, names: Sequence[str], count: int | None = None) -> int | None:
    """Place of a name in a list, or of an index of its first ``count``, which may count from their end; None without it."""
    if isinstance(item, str):
        return names.index(item) if item in names else None
    last = len(names) if count is None else count
    whole = isinstance(item, int | np.integer) and not isinstance(item, bool)
    return int(item) % last if whole and -last <= item < last else None


def _as_scalar(name: str, value: Any) -> Any:
    """Value of a symbol as a number or an expression."""
    match = expression_of(value)
    if match is not None:
        return match
    result = real_numbers(f"symbol {name!r}", value, "a finite number, or an expression")
    if result.shape:
        raise ArgumentError(f"symbol {name!r} is {shown(value)}; expected one number, or an expression")
    return float(result)
