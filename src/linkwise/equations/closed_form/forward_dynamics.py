"""Forward dynamics written out: M, C, g and friction explicit, then the elimination that solves for the accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from linkwise.equations.document import Assignment, Listing, Name, Power, Section, Sum, Term, element_name, leaf
from linkwise.equations.writers.names import Names
from linkwise.model.tree import Tree


def forward_listing(tree: Tree, listing: Listing) -> Listing:
    """Listing of the forward dynamics from that of the inverse dynamics, tau = M qdd + C qd + g + f.

    M = L D L' with ones on the diagonal of L, then L b' = b, D L' qdd = b' for b = tau - C qd - g - f (G. H. Golub,
    C. F. Van Loan, *Matrix Computations*, 1996, section 4.1). What is zero in M and stays so is left out.
    """
    n = tree.nv
    efforts = {line.index[0]: line.value for line in listing.assignments if line.name == "tau"}
    others = (tuple(line for line in section.assignments if line.name != "tau") for section in listing.sections)
    kept = [Section(section.title, lines) for section, lines in zip(listing.sections, others, strict=True) if lines]
    there = {line.name for section in kept for line in section.assignments}
    rises = {element_name("qdd", (k,)) for k in range(n)}
    names = Names(there | {*tree.symbols})
    biases = [_without(efforts.get(k, Sum()), rises) for k in range(n)]
    mass = {(i, j): listing.element("M", (i, j)) for i in range(n) for j in range(i, n)}
    lines, accelerations = _elimination(n, {at: Name(name) for at, name in mass.items() if name in there}, biases, names)
    results = tuple(Assignment("qdd", (k,), leaf(accelerations[k].text)) for k in range(n))
    sections = (*kept, Section("Solving for the accelerations", tuple(lines)), Section("Accelerations", results))
    return replace(listing, sections=sections, outputs={"qdd": (n,)})


def _elimination(
    n: int, mass: Mapping[tuple[int, int], Name], biases: list[Sum], names: Names
) -> tuple[list[Assignment], list[Name]]:
    """The elimination, line by line, and the names of the accelerations."""
    lines: list[Assignment] = []

    def named(letter: str, index: tuple[int, ...], *terms: Term) -> Name:
        lines.append(Assignment(names.unique(element_name(letter, index)), (), Sum(terms)))
        return Name(lines[-1].name)

    lower: dict[tuple[int, int], Name] = {}  # nonzero elements
    pivots: list[Name] = []
    for j in range(n):
        squares = (Term(-1.0, (Power(lower[j, k], 2), Power(pivots[k]))) for k in range(j) if (j, k) in lower)
        pivots.append(named("D", (j,), Term(1.0, (Power(mass[j, j]),)), *squares))
        for i in range(j + 1, n):
            terms = [Term(1.0, (Power(mass[j, i]),))] if (j, i) in mass else []
            both = (k for k in range(j) if (i, k) in lower and (j, k) in lower)
            terms += [Term(-1.0, (Power(lower[i, k]), Power(lower[j, k]), Power(pivots[k]))) for k in both]
            if terms:
                above = terms[0] if len(terms) == 1 else Term(1.0, (Power(Sum(tuple(terms))),))
                lower[i, j] = named("L", (i, j), Term(above.number, (*above.factors, Power(pivots[j], -1))))
    reduced: list[Name] = []
    for i in range(n):
        products = (Term(-1.0, (Power(lower[i, j]), Power(reduced[j]))) for j in range(i) if (i, j) in lower)
        reduced.append(named("b", (i,), *leaf(element_name("tau", (i,))).terms, *biases[i].terms, *products))
    accelerations: dict[int, Name] = {}
    for i in reversed(range(n)):
        products = (Term(-1.0, (Power(lower[j, i]), Power(accelerations[j]))) for j in range(i + 1, n) if (j, i) in lower)
        accelerations[i] = named("x", (i,), Term(1.0, (Power(reduced[i]), Power(pivots[i], -1))), *products)
    return lines, [accelerations[i] for i in range(n)]


def _without(value: Sum, rises: set[str]) -> Sum:
    """The terms without accelerations, with the other sign."""
    rising = {Power(Name(name)) for name in rises}
    return Sum(tuple(replace(term, number=-term.number) for term in value.terms if not rising & set(term.factors)))
