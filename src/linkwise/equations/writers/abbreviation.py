"""Short names for sines and cosines of coordinates, c23 for cos(q2 + q3), with a legend."""

from __future__ import annotations

from dataclasses import replace

from linkwise.equations.document import Assignment, Call, Listing, Name, Power, Section, Sum, Term
from linkwise.equations.writers.names import Names, wave_name

#: Abbreviations up to which each is listed; more are explained by the rule.
MOST_LISTED = 24

RULE = (
    "c and s with digits are cosine and sine of sums of coordinates: c23 is cos(q2 + q3), s2m3 is sin(q2 - q3), and c22 is"
    " cos(2 q2)."
)


def abbreviated(listing: Listing) -> Listing:
    """Write short names for sines and cosines of whole combinations of coordinates.

    What a listing assigns to a name by itself stays: there the sine is the meaning of the name.

    Examples
    --------
    >>> angle = Sum((Term(1.0, (Power(Name("q1")),)), Term(1.0, (Power(Name("q2")),))))
    >>> wave = Sum((Term(2.0, (Power(Call("cos", (angle,))),)),))
    >>> made = abbreviated(Listing("", (Section("", (Assignment("y", (), wave),)),), {"y": ()}))
    >>> made.sections[-1].assignments[0].value.terms[0].factors[0].base
    Name(text='c12')
    """
    return _Abbreviator(listing).made()


class _Abbreviator:
    def __init__(self, listing: Listing) -> None:
        self.listing = listing
        assigned = {line.name for line in listing.assignments}
        self.names = Names(assigned | set(listing.meanings))
        self.found: dict[Call, str] = {}
        self.order: dict[Call, tuple[object, ...]] = {}
        self.seen: dict[Sum, Sum] = {}

    def made(self) -> Listing:
        listing = self.listing
        sections = tuple(
            Section(section.title, tuple(self._line(line) for line in section.assignments)) for section in listing.sections
        )
        if not self.found:
            return listing
        if len(self.found) > MOST_LISTED:
            return replace(listing, sections=sections, notes=(*listing.notes, RULE))
        calls = sorted(self.found, key=lambda call: self.order[call])
        lines = (Assignment(self.found[call], (), Sum((Term(1.0, (Power(call),)),))) for call in calls)
        return replace(listing, sections=(Section("Abbreviations", tuple(lines)), *sections))

    def _line(self, line: Assignment) -> Assignment:
        call = lone_call(line.value)
        if line.name not in self.listing.outputs and call is not None and not line.index:
            return line
        return replace(line, value=self._sum(line.value))

    def _sum(self, value: Sum) -> Sum:
        return Sum(tuple(Term(term.number, tuple(map(self._power, term.factors))) for term in value.terms))

    def _power(self, factor: Power) -> Power:
        base = factor.base
        if isinstance(base, Sum):
            return Power(self._sum(base), factor.exponent)
        if isinstance(base, Call):
            return Power(self._call(base), factor.exponent)
        return factor

    def _call(self, call: Call) -> Call | Name:
        if call in self.found:
            return Name(self.found[call])
        multiples = coordinates_in(call.arguments[0]) if call.function in {"sin", "cos"} else None
        if not multiples:
            return Call(call.function, tuple(self._sum(argument) for argument in call.arguments))
        self.found[call] = self.names.unique(wave_name(call.function, multiples))
        self.order[call] = (len(multiples), sorted(multiples.items()), call.function)
        return Name(self.found[call])


def lone_call(value: Sum) -> Call | None:
    """The function that a value is, if it is that alone."""
    term = value.terms[0] if len(value.terms) == 1 else Term(0.0)
    if term.number != 1 or len(term.factors) != 1 or term.factors[0].exponent != 1:
        return None
    return term.factors[0].base if isinstance(term.factors[0].base, Call) else None


def coordinates_in(angle: Sum) -> dict[int, int] | None:
    """The multiples of coordinates ``q1``, ``q2``, ... in an angle; None where it is anything else, or long."""
    multiples: dict[int, int] = {}
    for term in angle.terms:
        base = term.factors[0].base if len(term.factors) == 1 and term.factors[0].exponent == 1 else None
        whole = float(term.number).is_integer() and 0 < abs(term.number) <= 4
        if not isinstance(base, Name) or not whole or base.text[:1] != "q" or not base.text[1:].isdigit():
            return None
        number = int(base.text[1:])
        if number in multiples:
            return None
        multiples[number] = int(term.number)
    return multiples or None
