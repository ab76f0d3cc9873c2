"""The harmonic form of a result as a listing: constants, then sums of these times cosines and sines."""

from __future__ import annotations

import math
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from linkwise.equations.forms.closed_listing import Product, TermWriter
from linkwise.equations.forms.closed_terms import Terms
from linkwise.equations.forms.explicit_listing import listing_of
from linkwise.equations.listing import Assignment, Listing, Name, Power, Section, Sum, Term
from linkwise.equations.writing.names import Names

if TYPE_CHECKING:
    from linkwise.equations.forms.closed_form import ClosedForm

Powers = tuple[tuple[int, int], ...]


def harmonic_listing(form: ClosedForm) -> Listing:
    """What is printed of a harmonic form. A coefficient of several terms in symbols gets a name, K1, K2, ..., once."""
    writer = TermWriter(form.data.made)
    constants = _Constants(writer)
    sums = _sums(form.data, writer, constants)
    before = [Section("Constants", tuple(constants.lines))] if constants.lines else []
    return listing_of(form, sums, before)


class _Constants:
    """Coefficients by what they are, but for a factor."""

    def __init__(self, writer: TermWriter) -> None:
        self.writer = writer
        self.names = Names(writer.made.names)
        self.known: dict[tuple[tuple[float, Powers], ...], str] = {}
        self.lines: list[Assignment] = []

    def factor(self, products: list[Product]) -> tuple[float, str]:
        """A number and the name of what it multiplies."""
        rows = sorted((tuple(sorted(powers.items())), number) for number, powers in products)
        sizes = Counter(abs(number) for powers, number in rows if powers)
        scale = math.copysign(
            max(sizes, key=lambda size: (sizes[size], size)), next(number for powers, number in rows if powers)
        )
        key = tuple((float(f"{number / scale:.14g}"), powers) for powers, number in rows)
        if key not in self.known:
            self.known[key] = self.names.next("K")
            value = self.writer.combination([(number / scale, dict(powers)) for powers, number in rows])
            self.lines.append(Assignment(self.known[key], (), value))
        return scale, self.known[key]


def _sums(terms: Terms, writer: TermWriter, constants: _Constants) -> dict[int, Sum]:
    """The sum of each element that is not 0, by its number."""
    fixed = terms.made.symbols
    table = [writer.wave(terms.angles[0], wave) for wave in terms.waves.tables[0]]
    motions = [tuple((k, p) for k, p in enumerate(row) if p and k not in fixed) for row in terms.powers.tolist()]
    symbols = [{k: p for k, p in enumerate(row) if p and k in fixed} for row in terms.powers.tolist()]
    different = sorted(set(motions))
    rank = np.array([different.index(motion) for motion in motions], dtype=np.int64)
    owner, code = terms.waves.owner, terms.waves.codes[:, 0]
    element = terms.element[owner]
    order = np.lexsort([owner, code, rank[owner], element]).tolist()
    keys = list(zip(element.tolist(), rank[owner].tolist(), code.tolist(), strict=True))
    owners, values = owner.tolist(), terms.waves.values.tolist()
    made: dict[int, list[Term]] = {}
    for (place, motion, wave), rows in groupby(order, key=keys.__getitem__):
        products: list[Product] = [(values[row], symbols[owners[row]]) for row in rows]
        rest = {**dict(different[motion]), **table[wave]}
        if len(products) == 1:
            made.setdefault(place, []).append(writer.term(products[0][0], {**products[0][1], **rest}))
        else:
            number, name = constants.factor(products)
            others = writer.term(number, rest)
            made.setdefault(place, []).append(Term(number, (Power(Name(name)), *others.factors)))
    return {place: Sum(tuple(some)) for place, some in made.items()}
