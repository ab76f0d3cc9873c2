"""The data of a planar mechanism: links, loops, parents, coordinates and symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, Problem
from linkwise.expr.node import Expr
from linkwise.model.link_tree import LinkTree, order_of, parents_of, with_names
from linkwise.model.symbolic import parameters_in
from linkwise.model.validation import Checker, frozen
from linkwise.planar.link import WORLD, Link, Loop, given_loops
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import numbers


class PlanarTree(LinkTree):
    """Links in the plane, joined into a chain or a tree, with or without loops; see `linkwise.planar.Mechanism`."""

    links: tuple[Link, ...]
    loops: tuple[Loop, ...]

    def __init__(self, links: Iterable[Link], loops: Iterable[Loop] = (), name: str | None = None) -> None:
        check = Checker(f"mechanism {name!r}" if name else "mechanism")
        several = tuple(links) if isinstance(links, Iterable) else ()
        if not several or not all(isinstance(link, Link) for link in several):
            check.report("links", links, "one planar.Link or more")
            check.finish()
        if name is not None and not isinstance(name, str):
            check.report("name", name, "a word, or None")
        named = with_names(several)
        parents = parents_of(check, named, WORLD)
        _check_names(check, named, parents)
        values: dict[str, object] = {
            "links": named,
            "loops": given_loops(check, loops, [str(link.name) for link in named]),
            "name": name or "mechanism",
            "parents": parents,
            "order": order_of(check, named, parents),
        }
        check.finish()
        self._hold(values)
        replacements = check.one_of_each_name(self.parameters_used)
        check.finish()
        if replacements:
            PlanarTree.__init__(self, **{**self._values(), **self._substituted(replacements)})

    @cached_property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.coordinate_names)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the coordinates (nq,): those of the links, for a free one with ``.x``, ``.y`` and ``.theta``."""
        return tuple(name for link in self.links for name in link.coordinate_names)

    @cached_property
    def owner(self) -> tuple[int, ...]:
        """Index of the link that each coordinate moves (nq,)."""
        return tuple(k for k, link in enumerate(self.links) for _ in link.coordinate_names)

    @cached_property
    def turns(self) -> tuple[bool, ...]:
        """Whether each coordinate is an angle, rad (nq,); the others are lengths, m."""
        return tuple(turn for link in self.links for turn in link.turns)

    @cached_property
    def limits(self) -> FloatArray:
        """Least and greatest coordinates (nq, 2), rad or m; infinite where there are none."""
        return frozen(np.concatenate([link.bounds for link in self.links]))

    def _find_parameters(self) -> tuple[Expr, ...]:
        return parameters_in([tuple(item._values().values()) for item in (*self.links, *self.loops)])

    def _substituted(self, numbers: Mapping[Expr, Any]) -> dict[str, Any]:
        return {field: [item.substituted(numbers) for item in getattr(self, field)] for field in ("links", "loops")}

    def _values(self) -> dict[str, Any]:
        return {"links": self.links, "loops": self.loops, "name": self.name}


def parent_name(tree: PlanarTree, k: int) -> str:
    """Name of the parent of link k, or ``"world"``."""
    return WORLD if tree.parents[k] < 0 else str(tree.links[tree.parents[k]].name)


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


def _check_names(check: Checker, links: Sequence[Link], parents: Sequence[int]) -> None:
    """Report names of joints that repeat, links with the name of a coordinate of a free link, and free links on others."""
    names = [str(link.name) for link in links]
    coordinates = [name for link in links for name in link.coordinate_names]
    for k, name in enumerate(coordinates):
        if name in coordinates[:k] and names.count(name) < 2:
            check.report("links", name, "unique joint names; this one occurs twice")
    for parent, link in zip(parents, links, strict=True):
        if len(link.variables) < 3:
            continue
        for name in names:
            if name in link.coordinate_names:
                check.report("links", name, f"another name (this one is a coordinate of the free link {link.name!r})")
        if parent >= 0:
            expected = f"{WORLD!r}, for a free link hangs on nothing, or another kind of joint"
            check.problems.append(Problem(f"link {link.name!r}", "parent", link.parent or links[parent].name, expected))
