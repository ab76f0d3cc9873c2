"""Forward dynamics written out: M, C, g and friction explicit, then the elimination that solves for the accelerations."""

from __future__ import annotations

from dataclasses import replace

from linkwise.equations.document import Assignment, Listing, Name, Power, Section, Sum, Term, leaf
from linkwise.equations.writers.names import element_name
from linkwise.errors import ArgumentError, members
from linkwise.model.tree import Tree

#: A named element; None where it is zero.
Value = Name | None


def forward_listing(tree: Tree, listing: Listing) -> Listing:
    """From the listing of the inverse dynamics, tau = M qdd + C qd + g + f, that of the forward dynamics.

    M = L D L' with ones on the diagonal of L, then L b' = b, D L' qdd = b' for b = tau - C qd - g - f (G. H. Golub,
    C. F. Van Loan, *Matrix Computations*, 1996, section 4.1). What is zero in M and stays so is left out.

    Raises
    ------
    ArgumentError
        Where a symbol of the mechanism has a name that is needed.
    """
    n = tree.nv
    kept, efforts = [], [Sum()] * n
    for section in listing.sections:
        own = tuple(line for line in section.assignments if line.name != "tau")
        for line in section.assignments:
            if line.name == "tau":
                efforts[line.index[0]] = line.value
        kept += [replace(section, assignments=own)] if own else []
    there = {line.name for section in kept for line in section.assignments}
    rises = {element_name("qdd", (k,)) for k in range(n)}
    solving = _Solving(n, there, [_without(value, rises) for value in efforts])
    elements = {element_name(letter, (i, j)) for letter in "MC" for i in range(n) for j in range(n)}
    elements |= {element_name(letter, (i,)) for letter in "gf" for i in range(n)}
    taken = sorted((elements | {line.name for line in solving.lines}) & set(tree.symbols))
    if taken:
        raise ArgumentError(f"{tree.name!r} has symbols {members(taken)}, which name steps of the forward dynamics")
    results = tuple(Assignment("qdd", (k,), leaf(solving.found[k].text)) for k in range(n))
    sections = (*kept, Section("Solving for the accelerations", tuple(solving.lines)), Section("Accelerations", results))
    return replace(listing, sections=sections, outputs={"qdd": (n,)})


class _Solving:
    """The elimination, line by line."""

    def __init__(self, n: int, there: set[str], rest: list[Sum]) -> None:
        self.lines: list[Assignment] = []
        lower: dict[tuple[int, int], Value] = {}
        pivots: list[Name] = []
        for j in range(n):
            diagonal = [Term(1.0, (Power(_mass(j, j)),))]
            for k in range(j):
                factor = lower[j, k]
                diagonal += [] if factor is None else [Term(-1.0, (Power(factor, 2), Power(pivots[k])))]
            pivots.append(self._line("D", (j,), Sum(tuple(diagonal))))
            for i in range(j + 1, n):
                lower[i, j] = self._below(i, j, there, lower, pivots)
        reduced: list[Name] = []
        for i in range(n):
            left = [Term(1.0, (Power(Name(element_name("tau", (i,)))),)), *rest[i].terms]
            for j in range(i):
                factor = lower[i, j]
                left += [] if factor is None else [Term(-1.0, (Power(factor), Power(reduced[j])))]
            reduced.append(self._line("b", (i,), Sum(tuple(left))))
        self.found: dict[int, Name] = {}
        for i in reversed(range(n)):
            right = [Term(1.0, (Power(reduced[i]), Power(pivots[i], -1)))]
            for j in range(i + 1, n):
                factor = lower[j, i]
                right += [] if factor is None else [Term(-1.0, (Power(factor), Power(self.found[j])))]
            self.found[i] = self._line("x", (i,), Sum(tuple(right)))

    def _below(self, i: int, j: int, there: set[str], lower: dict[tuple[int, int], Value], pivots: list[Name]) -> Value:
        """An element of L below the diagonal."""
        terms = [Term(1.0, (Power(_mass(j, i)),))] if _mass(j, i).text in there else []
        for k in range(j):
            one, other = lower[i, k], lower[j, k]
            if one is not None and other is not None:
                terms.append(Term(-1.0, (Power(one), Power(other), Power(pivots[k]))))
        if not terms:
            return None
        above = terms[0].factors if len(terms) == 1 else (Power(Sum(tuple(terms))),)
        sign = terms[0].number if len(terms) == 1 else 1.0
        return self._line("L", (i, j), Sum((Term(sign, (*above, Power(pivots[j], -1))),)))

    def _line(self, letter: str, index: tuple[int, ...], value: Sum) -> Name:
        name = element_name(letter, index)
        self.lines.append(Assignment(name, (), value))
        return Name(name)


def _mass(i: int, j: int) -> Name:
    return Name(element_name("M", (i, j)))


def _without(value: Sum, rises: set[str]) -> Sum:
    """The terms without accelerations, with the other sign."""
    rising = {Power(Name(name)) for name in rises}
    return Sum(tuple(replace(term, number=-term.number) for term in value.terms if not rising & set(term.factors)))
