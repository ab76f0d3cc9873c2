"""Terms of closed forms as arrays, and as listings: collected by velocities and by linear symbols."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import prod

import numpy as np
import numpy.typing as npt

from linkwise.equations.closed_form.base_symbols import BaseSymbols
from linkwise.equations.document import (
    Assignment,
    Call,
    Listing,
    Name,
    Power,
    Section,
    Sum,
    Term,
    by_output,
    element_name,
    leaf,
    separator_for,
)
from linkwise.equations.polynomials.expansion import Expansion, expansion_of
from linkwise.equations.polynomials.polynomial import (
    ComplexArray,
    Exponents,
    IntArray,
    Keys,
    Polynomial,
    Vector,
    Wave,
    Waves,
    first_signs,
    groups,
    in_waves,
    nothing,
)
from linkwise.equations.writers.names import Names
from linkwise.errors import ArgumentError, members
from linkwise.expr.node import Expr, origins_of
from linkwise.model.symbolic import parameters_in
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray

#: Waves that the results of one form may have: 2,097,152; they take about a minute, and up to two gigabytes.
LARGEST = 1 << 21

#: Terms below this part (5.6e-17) of the largest one with the same symbols in the same entry are negligible.
TINY = 2.0**-54

#: Terms times points that are worked out at a time.
_AT_ONCE = 1 << 20


@dataclass(frozen=True, eq=False)
class Part:
    """A polynomial, times a product of velocities or accelerations, that adds to one element of one result."""

    output: str
    index: tuple[int, ...]
    value: Polynomial
    motion: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """The terms of some results.

    Attributes
    ----------
    expansion : Expansion
        What their variables are.
    shapes : mapping of str to tuple of int
        Shapes of the results.
    element : ndarray (O,)
        For each owner of waves, which element of all results, one after the other, it is part of.
    powers : ndarray (O, V)
        The powers of the variables that stand with it.
    angles : tuple of tuple of int
        The variables of each group of angles.
    waves : Waves
        Coefficients, cosines and sines.
    """

    expansion: Expansion
    shapes: Mapping[str, tuple[int, ...]]
    element: IntArray
    powers: Exponents
    angles: tuple[tuple[int, ...], ...]
    waves: Waves

    @property
    def count(self) -> int:
        """Number of terms."""
        return self.waves.terms

    def counts(self, pairs: bool = False) -> dict[str, FloatArray]:
        """Number of terms of each element; with ``pairs`` sine and cosine of one angle count as one."""
        ones = np.ones(self.count)
        if pairs:  # there is one group then, and a sine follows its cosine in the table
            table = self.waves.tables[0]
            sine = is_sine(table)[self.waves.codes[:, 0]]
            ids = self.waves.owner * len(table) + self.waves.codes[:, 0]
            ones[sine & np.isin(ids - 1, ids[~sine])] = 0.0
        return self.totals(ones)

    def rows(self) -> IntArray:
        """Row of each element of the results: its first index, in dynamics that of a joint."""
        first = [np.indices(shape)[0].ravel() if shape else np.zeros(1, dtype=np.int64) for shape in self.shapes.values()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *first])

    def totals(self, amounts: FloatArray) -> dict[str, FloatArray]:
        """Amounts (T,), one for each term, added up for each element."""
        flat = np.bincount(self.element[self.waves.owner], amounts, minlength=self.size)
        return by_output(flat, self.shapes)

    def sizes(self, known: FloatArray) -> dict[str, FloatArray]:
        """Sum of absolute terms of each element (K, ...) at K points, with waves replaced by 1."""
        owners = np.abs(self.monomials(known))
        place, amounts = self.element[self.waves.owner], np.abs(self.waves.values)
        rows = [np.bincount(place, row[self.waves.owner] * amounts, minlength=self.size) for row in owners]
        return by_output(np.array(rows).reshape(len(known), self.size), self.shapes)

    def monomials(self, known: FloatArray) -> FloatArray:
        """Products (K, O) of symbols, velocities and coordinates."""
        owners = np.ones((len(known), len(self.element)))
        for k in np.flatnonzero(self.powers.any(axis=0)):
            owners *= known[:, k : k + 1] ** self.powers[:, k].astype(float)
        return owners

    def values(self, known: FloatArray) -> dict[str, FloatArray]:
        """Results (K, ...) at K points, given the values (K, V) of all variables."""
        owners = self.monomials(known)
        tables = [self._wave_values(group, known) for group in range(len(self.angles))]
        place, total = self.element[self.waves.owner], np.zeros((len(known), self.size))
        step = max(1, _AT_ONCE // max(1, self.count))
        for start in range(0, len(known), step):
            some = slice(start, start + step)
            term = owners[some][:, self.waves.owner] * self.waves.values
            for group, table in enumerate(tables):
                term *= table[some][:, self.waves.codes[:, group]]
            for row, products in enumerate(term, start):
                total[row] = np.bincount(place, products, minlength=self.size)
        return by_output(total, self.shapes)

    def _wave_values(self, group: int, known: FloatArray) -> FloatArray:
        angles = known[:, list(self.angles[group])]
        values = np.ones((len(known), len(self.waves.tables[group])))
        for k, wave in enumerate(self.waves.tables[group]):
            for name, vector, power in wave:
                angle = angles @ np.array(vector, dtype=float)
                values[:, k] *= (np.cos(angle) if name == "cos" else np.sin(angle)) ** power
        return values

    @property
    def size(self) -> int:
        """Number of elements of all results."""
        return sum(prod(shape) for shape in self.shapes.values())


def terms_of(
    expansion: Expansion, shapes: Mapping[str, tuple[int, ...]], parts: Sequence[Part], angles: Sequence[Sequence[int]]
) -> Terms:
    """Gather polynomials into terms with one wave for each group of angles.

    Parameters
    ----------
    expansion : Expansion
        What the polynomials belong to.
    shapes : mapping of str to tuple of int
        Shapes of the results.
    parts : sequence of Part
        What adds to their elements.
    angles : sequence of sequence of int
        Groups of variables; every one that is an angle is in one.
    """
    flat = [k for group in angles for k in group]
    parts = [part for part in parts if part.value.terms]
    keys, which, values, sizes = _halves(expansion, parts, flat)
    if len(which) > LARGEST:
        raise ArgumentError(
            f"{expansion.tree.name}: {len(which):,} terms are too many for a closed form, more than {LARGEST:,}"
        )
    order, first = groups(np.concatenate([which[None], expansion.fields.powers_alone(keys)]))
    owner = np.empty(len(order), dtype=np.int64)
    owner[order] = np.repeat(np.arange(len(first)), np.diff([*first, len(order)]))
    powers = expansion.fields.exponents(keys[:, order[first]], False)
    part_of = which[order[first]]
    for place, part in enumerate(parts):
        for k in part.motion:
            powers[part_of == place, k] += 1
    start = dict(zip(shapes, np.cumsum([0, *map(prod, shapes.values())]), strict=False))
    element = [start[part.output] + int(np.ravel_multi_index(part.index, shapes[part.output])) for part in parts]
    waves = in_waves(owner, expansion.fields.exponents(keys, True, flat), values, sizes, [len(group) for group in angles])
    size = np.abs(waves.values)
    waves = waves.part(size > TINY * greatest(waves.owner, size))  # angles that are nearly right leave such as 1e-22
    return Terms(expansion, shapes, np.array(element, dtype=np.int64)[part_of], powers, tuple(map(tuple, angles)), waves)


def is_sine(table: Sequence[Wave]) -> npt.NDArray[np.bool_]:
    """Mask of the waves that are the sine of one angle."""
    return np.array([len(wave) == 1 and wave[0][0] == "sin" for wave in table], dtype=bool)


def greatest(place: IntArray, amounts: FloatArray) -> FloatArray:
    """Greatest of all amounts with the same place, for each amount."""
    largest = np.zeros(int(place.max(initial=-1)) + 1)
    np.maximum.at(largest, place, amounts)
    return largest[place]


def _halves(
    expansion: Expansion, parts: Sequence[Part], angles: Sequence[int]
) -> tuple[Keys, IntArray, ComplexArray, FloatArray]:
    """The terms of all parts, of h and -h one: keys, the number of the part, coefficients, sizes."""
    known: dict[int, Polynomial] = {}  # an element in several parts is read once
    for part in parts:
        if id(part.value) not in known:
            kept = first_signs(expansion.fields.exponents(part.value.keys, True, angles)) >= 0
            known[id(part.value)] = part.value.part(kept)
    halves = [known[id(part.value)] for part in parts]
    every = [nothing(expansion.fields.words), *halves]
    return (
        np.concatenate([half.keys for half in every], axis=1),
        np.repeat(np.arange(len(parts)), [half.terms for half in halves]),
        np.concatenate([half.values for half in every]),
        np.concatenate([half.sizes for half in every]),
    )


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

Base = Name | Call | Sum

#: A number, and exponents by number of the base.
Product = tuple[float, dict[int, int]]


class TermWriter:
    """Writes terms of one expansion.

    Parameters
    ----------
    expansion : Expansion
        What the variables are.
    """

    def __init__(self, expansion: Expansion) -> None:
        self.expansion = expansion
        self.linear = linear_symbols(expansion)
        self._first_wave = len(expansion.needs)
        self._bases: dict[int, Base] = {}
        self._waves: dict[tuple[str, tuple[tuple[int, int], ...]], int] = {}

    def sums(self, terms: Terms) -> dict[int, Sum]:
        """The sum of each element that is not 0, by its number."""
        waves = terms.waves
        factors = [
            [self.wave(group, wave) for wave in table] for group, table in zip(terms.angles, waves.tables, strict=True)
        ]
        owners = [self._of_owner(row) for row in terms.powers.tolist()]
        ranks = _ranks([(*owner[:2], tuple(owner[2].items())) for owner in owners])
        element = terms.element[waves.owner]
        order = np.lexsort([*waves.codes.T[::-1], ranks[waves.owner], element]).tolist()
        owner_of, codes, values, places = waves.owner.tolist(), waves.codes.tolist(), waves.values.tolist(), element.tolist()

        def product(row: int) -> Product:
            exponents = dict(owners[owner_of[row]][2])
            for group, code in enumerate(codes[row]):
                if code:
                    exponents.update(factors[group][code])
            return values[row], exponents

        totals: dict[int, Sum] = {}
        for place, rows in groupby(order, key=places.__getitem__):
            written: list[Term] = []
            for symbol, some in groupby(rows, key=lambda row: owners[owner_of[row]][0]):
                parts = [
                    (key, [product(row) for row in members])
                    for key, members in groupby(some, lambda row: owners[owner_of[row]][1])
                ]
                written += self._collected({symbol: 1} if symbol >= 0 else {}, parts)
            totals[place] = Sum(tuple(written))
        return totals

    def _collected(
        self, symbol: dict[int, int], parts: list[tuple[tuple[tuple[int, int], ...], list[Product]]]
    ) -> list[Term]:
        """Products grouped by motion: as one factor if all motions have the same one, else one after the other."""
        if len(parts) > 1 and symbol and all(len(products) == 1 for _, products in parts):
            first = parts[0][1][0][1]
            if all(products[0][1] == first for _, products in parts):
                flat: list[Product] = [(products[0][0], {**first, **dict(motion)}) for motion, products in parts]
                return self._together(symbol, flat)
        return [term for motion, products in parts for term in self._together({**symbol, **dict(motion)}, products)]

    def plain(self, value: Polynomial) -> Sum:
        """A polynomial in symbols as a sum; angles in it, which are symbols too, stay combined."""
        angles = [k for k, need in enumerate(self.expansion.needs) if need.harmonic]
        harmonics = self.expansion.fields.exponents(value.keys, True, angles)
        half = first_signs(harmonics) >= 0
        part = value.part(half)
        owners = np.arange(part.terms)
        waves = in_waves(owners, harmonics[half], part.values, part.sizes, [len(angles)])
        powers = self.expansion.fields.exponents(part.keys, False).tolist()
        table = [self.wave(angles, wave) for wave in waves.tables[0]]
        products = []
        for owner, (code,), number in zip(waves.owner, waves.codes, waves.values.tolist(), strict=True):
            products.append((number, {k: p for k, p in enumerate(powers[owner]) if p} | table[code]))
        return self.combination(products)

    def combination(self, products: Sequence[Product]) -> Sum:
        """Products of symbols, collected by those in which they are linear."""
        written: list[Term] = []
        ordered = [(next((k for k in powers if k in self.linear), -1), number, powers) for number, powers in products]
        for symbol, rows in groupby(sorted(ordered, key=lambda row: row[0]), key=lambda row: row[0]):
            outer = {symbol: 1} if symbol >= 0 else {}
            inner = [(number, {k: p for k, p in powers.items() if k != symbol}) for _, number, powers in rows]
            written += self._together(outer, inner)
        return Sum(tuple(written))

    def _of_owner(self, powers: Sequence[int]) -> tuple[int, tuple[tuple[int, int], ...], dict[int, int]]:
        """The symbol that is collected (-1: none), velocities and accelerations, and all other powers."""
        exponents = {k: p for k, p in enumerate(powers) if p}
        symbol = next((k for k in exponents if k in self.linear), -1)
        motion = tuple(
            (k, p) for k, p in exponents.items() if k >= self.expansion.tree.nq and k not in self.expansion.symbols
        )
        seen = {symbol, *dict(motion)}
        return symbol, motion, {k: p for k, p in exponents.items() if k not in seen}

    def wave(self, angles: Sequence[int], wave: Iterable[tuple[str, Vector, int]]) -> dict[int, int]:
        """Exponents of cosines and sines, by number of the base."""
        exponents = {}
        for name, vector, power in wave:
            key = (name, tuple((k, h) for k, h in zip(angles, vector, strict=True) if h))
            if key not in self._waves:
                self._waves[key] = self._first_wave + len(self._waves)
                angle = Sum(tuple(Term(float(h), (Power(self._base(k)),)) for k, h in key[1]))
                self._bases[self._waves[key]] = Call(name, (angle,))
            exponents[self._waves[key]] = power
        return exponents

    def _base(self, k: int) -> Base:
        """Base of a power of a variable."""
        if k not in self._bases:
            if k < len(self.expansion.names):
                self._bases[k] = Name(self.expansion.names[k])
            else:
                name, args = self.expansion.atoms[k]
                written = tuple(self.plain(arg) for arg in args)
                self._bases[k] = written[0] if name == "div" else Call(name, written)
        return self._bases[k]

    def _power(self, k: int, exponent: int) -> Power:
        below = k in self.expansion.atoms and self.expansion.atoms[k][0] == "div"
        return Power(self._base(k), -exponent if below else exponent)

    def term(self, number: float, exponents: Mapping[int, int]) -> Term:
        """A number times powers, by number of the base: symbols first, then coordinates, then cosines and sines."""
        return Term(number, tuple(self._power(k, exponents[k]) for k in sorted(exponents, key=self._place)))

    def _place(self, k: int) -> tuple[bool, bool]:
        return k >= self._first_wave, k not in self.expansion.symbols

    def _together(self, outer: dict[int, int], products: list[Product]) -> list[Term]:
        """Products with a common factor, in brackets where there are several."""
        if len(products) == 1:
            return [self.term(products[0][0], {**outer, **products[0][1]})]
        if not outer:
            return [self.term(*product) for product in products]
        common = dict(products[0][1])
        for _, exponents in products[1:]:
            common = {k: min(p, exponents[k]) for k, p in common.items() if k in exponents and p > 0 and exponents[k] > 0}
        sizes = {abs(number) for number, _ in products}
        factor = sizes.pop() if len(sizes) == 1 else 1.0
        if products[0][0] < 0:
            factor = -factor
        inner = []
        for number, exponents in products:
            left = {k: p - common.get(k, 0) for k, p in exponents.items()}
            inner.append(self.term(number / factor, {k: p for k, p in left.items() if p}))
        written = self.term(factor, {**outer, **common})
        return [Term(factor, (*written.factors, Power(Sum(tuple(inner)))))]


def linear_symbols(expansion: Expansion) -> frozenset[int]:
    """Symbols in which every term is linear, at most one per term: as many as possible, those of inertia first."""
    needs = expansion.needs
    free = [k for k in sorted(expansion.symbols) if (needs[k].low, needs[k].high) == (0, 1) and k not in needs[k].apart]
    bodies = [*(link.body for link in expansion.tree.links), expansion.tree.payload]
    scales = parameters_in(value for body in bodies for value in (body.values if body.by_moments else body.values[::2]))
    inertial = {str(node.value) for node in scales}  # not the centres of mass, which multiply the masses
    others = {k: len(expansion.needs[k].apart.intersection(free)) for k in free}
    names = dict(enumerate(expansion.names))
    chosen: set[int] = set()
    for k in sorted(free, key=lambda k: (names.get(k) not in inertial, others[k], k)):
        if expansion.needs[k].apart.isdisjoint(chosen):
            chosen.add(k)
    return frozenset(chosen)


def _ranks(keys: Sequence[tuple[object, ...]]) -> np.ndarray:
    """The place of each key when they are sorted."""
    ranks = np.empty(len(keys), dtype=np.int64)
    ranks[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(len(keys))
    return ranks


def document(
    tree: Tree, data: Terms, based: BaseSymbols | None, *, harmonic: bool = False, notes: tuple[str, ...] = ()
) -> Listing:
    """Printed form of a closed form: a section for each result, its elements in rows.

    In the harmonic form a coefficient of several terms in symbols gets a name, K1, K2, ..., once.
    """
    writer, shapes = TermWriter(data.expansion), data.shapes
    constants = _Constants(writer)
    sums = _harmonic_sums(data, writer, constants) if harmonic else writer.sums(data)
    parts = len(shapes) > 1
    separator = separator_for(shapes, tree.symbols)
    sections, start = [*_base_section(tree, data, based)], 0
    sections += [Section("Constants", tuple(constants.lines))] if constants.lines else []
    for name, shape in shapes.items():
        places = range(start, start + int(np.prod(shape, dtype=int)))
        start = places.stop
        lines = list(_lines(name, shape, [sums.get(place, Sum()) for place in places], parts, separator))
        if lines:
            sections.append(Section(TITLES[name], tuple(lines)))
    outputs = dict(shapes)
    if parts:
        sections.append(Section("Efforts", tuple(_efforts(tree, data, sums, separator))))
        outputs = {"tau": (tree.nv,)}
        named = {line.name for section in sections for line in section.assignments if section.title in TITLES.values()}
        if clashes := sorted(named & {*tree.symbols}):
            raise ArgumentError(f"{tree.name!r} has symbols {members(clashes)}, which name parts of the equations of motion")
    return Listing("", tuple(sections), outputs, notes=notes, origins=origins_of(tree.parameters_used), separator=separator)


def _lines(name: str, shape: tuple[int, ...], values: list[Sum], parts: bool, separator: str) -> Iterator[Assignment]:
    """The elements that are not 0; of a symmetric matrix the lower half refers to the upper one."""
    for place, index in enumerate(np.ndindex(*shape)):
        value = values[place]
        if name == "M" and index[0] > index[1]:
            other = values[index[1] * shape[0] + index[0]]
            value = leaf(element_name(name, index[::-1], separator)) if other.terms and not parts else Sum()
        if value.terms:
            yield Assignment(element_name(name, index, separator), (), value) if parts else Assignment(name, index, value)


def _efforts(tree: Tree, data: Terms, sums: dict[int, Sum], separator: str) -> Iterator[Assignment]:
    """Tau = M qdd + C qd + g + f."""
    n, words = tree.nv, data.expansion.names
    speeds, rises = words[tree.nq : tree.nq + n], words[tree.nq + n : tree.nq + 2 * n]
    for i in range(n):
        upper = [(min(i, j), max(i, j)) for j in range(n)]
        factors: list[tuple[int, tuple[str, tuple[int, ...]], tuple[str, ...]]]
        factors = [(j * n + k, ("M", (j, k)), (rise,)) for (j, k), rise in zip(upper, rises, strict=True)]
        factors += [(n * n + i * n + j, ("C", (i, j)), (speed,)) for j, speed in enumerate(speeds)]
        factors += [(2 * n * n + k * n + i, (name, (i,)), ()) for k, name in enumerate("gf")]
        products = [(element_name(*element, separator), *motion) for place, element, motion in factors if sums.get(place)]
        yield Assignment(
            "tau", (i,), Sum(tuple(Term(1.0, tuple(Power(Name(text)) for text in names)) for names in products))
        )


def _base_section(tree: Tree, data: Terms, based: BaseSymbols | None) -> list[Section]:
    """Section of the base parameters."""
    if based is None:
        return []
    names = data.expansion.names
    used = {names[k] for k in np.flatnonzero(data.powers.any(axis=0)) if k < len(names)}
    return base_section(tree, based.symbols, based.values, based.texts, used)


def base_section(
    tree: Tree, symbols: Sequence[str], values: Array, texts: Sequence[str], used: Collection[str]
) -> list[Section]:
    """Definitions of the used base parameters: expressions in the symbols of a mechanism, or numbers and their texts.

    A parameter of the mechanism itself needs no line.
    """
    expansion = expansion_of(tree, {"B": np.asarray(values, dtype=object)})
    writer, lines = TermWriter(expansion), []
    for place, (name, text) in enumerate(zip(symbols, texts, strict=True)):
        is_own = isinstance(values[place], Expr) and name in tree.symbols
        if name in used and not is_own:
            explained = not isinstance(values[place], Expr) and text != name
            lines.append(Assignment(name, (), writer.plain(expansion.results["B"][place]), text if explained else ""))
    return [Section("Base parameters", tuple(lines))] if lines else []


class _Constants:
    """Named coefficients, equal up to a factor."""

    def __init__(self, writer: TermWriter) -> None:
        self.writer = writer
        self.names = Names(writer.expansion.names)
        self.known: dict[tuple[tuple[float, tuple[tuple[int, int], ...]], ...], str] = {}
        self.lines: list[Assignment] = []

    def factor(self, products: list[Product]) -> tuple[float, str]:
        """A number, and the name that it multiplies."""
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


def _harmonic_sums(terms: Terms, writer: TermWriter, constants: _Constants) -> dict[int, Sum]:
    """The sum of each element that is not 0, by its number."""
    fixed = terms.expansion.symbols
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
    sums: dict[int, list[Term]] = {}
    for (place, motion, wave), rows in groupby(order, key=keys.__getitem__):
        products: list[Product] = [(values[row], symbols[owners[row]]) for row in rows]
        common = {**dict(different[motion]), **table[wave]}
        if len(products) == 1:
            sums.setdefault(place, []).append(writer.term(products[0][0], {**products[0][1], **common}))
        else:
            number, name = constants.factor(products)
            others = writer.term(number, common)
            sums.setdefault(place, []).append(Term(number, (Power(Name(name)), *others.factors)))
    return {place: Sum(tuple(some)) for place, some in sums.items()}
