"""The explicit form of a result as a listing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwise.equations.forms.closed_listing import TermWriter
from linkwise.equations.listing import Assignment, Listing, Name, Power, Section, Sum, Term
from linkwise.equations.polynomials.expansion import expansion_of
from linkwise.equations.writing.names import element_name
from linkwise.expr.node import Expr, origins_of
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array

if TYPE_CHECKING:
    from linkwise.equations.forms.closed_form import ClosedForm

TITLES = {
    "T": "Pose of the frame in the world",
    "J": "Jacobian",
    "M": "Mass matrix",
    "C": "Coriolis matrix",
    "g": "Gravity",
    "f": "Friction",
    "tau": "Gravity",
    "Y": "Regressor",
}


def explicit_listing(form: ClosedForm) -> Listing:
    """What is printed of an explicit form: a section for each result, its elements in rows."""
    return listing_of(form, TermWriter(form.data.made).sums(form.data), [])


def listing_of(form: ClosedForm, sums: dict[int, Sum], before: list[Section]) -> Listing:
    """A listing of elements that are written already, by their number; sections that come before them."""
    shapes, parts = form.data.shapes, form.what == "inverse_dynamics"
    sections, start = [*_base_section(form), *before], 0
    for name, shape in shapes.items():
        places = range(start, start + int(np.prod(shape, dtype=int)))
        start = places.stop
        lines = list(_lines(name, shape, [sums.get(place, Sum()) for place in places], parts))
        if lines:
            sections.append(Section(TITLES[name], tuple(lines)))
    outputs = dict(shapes)
    if parts:
        sections.append(Section("Efforts", tuple(_efforts(form, sums))))
        outputs = {"tau": (form.tree.nv,)}
    return Listing("", tuple(sections), outputs, notes=_notes(form), origins=origins_of(form.tree.parameters_used))


def _lines(name: str, shape: tuple[int, ...], values: list[Sum], parts: bool) -> Iterator[Assignment]:
    """The elements that are not 0; of a symmetric matrix the lower half refers to the upper one."""
    for place, index in enumerate(np.ndindex(*shape)):
        value = values[place]
        if name == "M" and index[0] > index[1]:
            other = values[index[1] * shape[0] + index[0]]
            value = _named(element_name(name, index[::-1])) if other.terms and not parts else Sum()
        if value.terms:
            yield Assignment(element_name(name, index), (), value) if parts else Assignment(name, index, value)


def _efforts(form: ClosedForm, sums: dict[int, Sum]) -> Iterator[Assignment]:
    """Tau = M qdd + C qd + g + f."""
    n, words = form.tree.nv, form.data.made.names
    speeds, rises = words[form.tree.nq :], words[form.tree.nq + n :]
    for i in range(n):
        terms = []
        for j in range(n):
            if sums.get(min(i, j) * n + max(i, j)):
                terms.append(Term(1.0, (Power(Name(element_name("M", (min(i, j), max(i, j))))), Power(Name(rises[j])))))
        for j in range(n):
            if sums.get(n * n + i * n + j):
                terms.append(Term(1.0, (Power(Name(element_name("C", (i, j)))), Power(Name(speeds[j])))))
        for name, start in (("g", 2 * n * n), ("f", 2 * n * n + n)):
            if sums.get(start + i):
                terms.append(Term(1.0, (Power(Name(element_name(name, (i,)))),)))
        yield Assignment("tau", (i,), Sum(tuple(terms)))


def _named(name: str) -> Sum:
    return Sum((Term(1.0, (Power(Name(name)),)),))


def _base_section(form: ClosedForm) -> list[Section]:
    """What the base parameters are."""
    if form.based is None:
        return []
    names = form.data.made.names
    used = {names[k] for k in np.flatnonzero(form.data.powers.any(axis=0)) if k < len(names)}
    return base_section(form.tree, form.based.symbols, form.based.values, form.based.texts, used)


def base_section(
    tree: Tree, symbols: Sequence[str], values: Array, texts: Sequence[str], used: Collection[str]
) -> list[Section]:
    """What those base parameters are that are used: expressions in the symbols of a mechanism, or numbers and their texts.

    A parameter of the mechanism itself needs no line.
    """
    made = expansion_of(tree, {"B": np.asarray(values, dtype=object)})
    writer, lines = TermWriter(made), []
    for place, (name, text) in enumerate(zip(symbols, texts, strict=True)):
        own = isinstance(values[place], Expr) and name in tree.symbols
        if name in used and not own:
            told = not isinstance(values[place], Expr) and text != name
            lines.append(Assignment(name, (), writer.plain(made.results["B"][place]), text if told else ""))
    return [Section("Base parameters", tuple(lines))] if lines else []


def _notes(form: ClosedForm) -> tuple[str, ...]:
    if form.dropped is None or not form.dropped.count:
        return ()
    left = f"{form.dropped.count} small terms are left out; no element is off by more than {form.bound:.3g}"
    return (f"{left}{', with ' if form.assumed else ''}{form.assumed}.",)
