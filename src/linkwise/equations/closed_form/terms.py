"""Matrices in closed form: every entry a sum of terms in symbols, speeds, and cosines and sines of angles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.equations.polynomials.expansion import Expansion
from linkwise.equations.polynomials.key_packing import Exponents, IntArray
from linkwise.equations.polynomials.polynomial import ComplexArray, FloatArray, Keys, Polynomial, first_signs, groups
from linkwise.equations.polynomials.trigonometric import Waves, in_waves
from linkwise.errors import ArgumentError

LARGEST = 1 << 21
"""Waves that the results of one form may have: 2,097,152; they take about a minute, and up to two gigabytes."""

TINY = 2.0**-54
"""Terms below this part (5.6e-17) of the largest one with the same symbols in the same entry cannot be seen beside it."""

_AT_ONCE = 1 << 20
"""Terms times points that are worked out at a time."""


@dataclass(frozen=True, eq=False)
class Part:
    """A polynomial, times a product of speeds or accelerations, that adds to one element of one result."""

    output: str
    index: tuple[int, ...]
    value: Polynomial
    motion: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Terms:
    """The terms of some results.

    Attributes
    ----------
    made : Expansion
        What their variables are.
    shapes : mapping of str to tuple of int
        Of the results.
    element : ndarray (O,)
        For each owner of waves, which element of all results, one after the other, it is part of.
    powers : ndarray (O, V)
        The powers of the variables that stand with it.
    angles : tuple of tuple of int
        The variables of each group of angles.
    waves : Waves
        Coefficients, cosines and sines.
    """

    made: Expansion
    shapes: Mapping[str, tuple[int, ...]]
    element: IntArray
    powers: Exponents
    angles: tuple[tuple[int, ...], ...]
    waves: Waves

    @property
    def count(self) -> int:
        """How many terms there are."""
        return self.waves.terms

    def counts(self, pairs: bool = False) -> dict[str, FloatArray]:
        """How many terms each element has; with ``pairs`` a sine does not count where its cosine does."""
        ones = np.ones(self.count)
        if pairs:  # there is one group then, and a sine follows its cosine in the table
            table = self.waves.tables[0]
            sine = np.array([len(wave) == 1 and wave[0][0] == "sin" for wave in table], dtype=bool)[self.waves.codes[:, 0]]
            ids = self.waves.owner * len(table) + self.waves.codes[:, 0]
            ones[sine & np.isin(ids - 1, ids[~sine])] = 0.0
        return self.totals(ones)

    def rows(self) -> IntArray:
        """The row that each element of the results stands in: its first index, in dynamics what one joint feels."""
        first = [np.indices(shape)[0].ravel() if shape else np.zeros(1, dtype=np.int64) for shape in self.shapes.values()]
        return np.concatenate([np.zeros(0, dtype=np.int64), *first])

    def totals(self, amounts: FloatArray) -> dict[str, FloatArray]:
        """Amounts (T,), one for each term, added up for each element."""
        flat = np.bincount(self.element[self.waves.owner], amounts, minlength=self._size)
        return {name: made[0] for name, made in self._by_output(flat[None], np.float64).items()}

    def sizes(self, known: FloatArray) -> dict[str, FloatArray]:
        """How large the terms of each element (K, ...) are at K points, added up without their signs, waves taken as 1."""
        owners = np.abs(self.monomials(known))
        place, amounts = self.element[self.waves.owner], np.abs(self.waves.values)
        rows = [np.bincount(place, row[self.waves.owner] * amounts, minlength=self._size) for row in owners]
        return self._by_output(np.array(rows).reshape(len(known), self._size), np.float64)

    def monomials(self, known: FloatArray) -> FloatArray:
        """The products (K, O) of symbols, speeds and coordinates."""
        owners = np.ones((len(known), len(self.element)))
        for k in np.flatnonzero(self.powers.any(axis=0)):
            owners *= known[:, k : k + 1] ** self.powers[:, k].astype(float)
        return owners

    def values(self, known: FloatArray) -> dict[str, FloatArray]:
        """Results (K, ...) at K points, given the values (K, V) of all variables."""
        owners = self.monomials(known)
        tables = [self._wave_values(group, known) for group in range(len(self.angles))]
        place, total = self.element[self.waves.owner], np.zeros((len(known), self._size))
        step = max(1, _AT_ONCE // max(1, self.count))
        for start in range(0, len(known), step):
            some = slice(start, start + step)
            term = owners[some][:, self.waves.owner] * self.waves.values
            for group, table in enumerate(tables):
                term *= table[some][:, self.waves.codes[:, group]]
            for row, each in enumerate(term, start):
                total[row] = np.bincount(place, each, minlength=self._size)
        return self._by_output(total, np.float64)

    def _wave_values(self, group: int, known: FloatArray) -> FloatArray:
        angles = known[:, list(self.angles[group])]
        found = np.ones((len(known), len(self.waves.tables[group])))
        for k, wave in enumerate(self.waves.tables[group]):
            for name, vector, power in wave:
                angle = angles @ np.array(vector, dtype=float)
                found[:, k] *= (np.cos(angle) if name == "cos" else np.sin(angle)) ** power
        return found

    @property
    def _size(self) -> int:
        return sum(prod(shape) for shape in self.shapes.values())

    def _by_output(self, flat: npt.NDArray[Any], kind: Any) -> dict[str, Any]:
        made, start = {}, 0
        for name, shape in self.shapes.items():
            size = prod(shape)
            made[name] = flat[:, start : start + size].reshape(len(flat), *shape).astype(kind)
            start += size
        return made


def terms_of(
    made: Expansion, shapes: Mapping[str, tuple[int, ...]], parts: Sequence[Part], angles: Sequence[Sequence[int]]
) -> Terms:
    """Gather polynomials into terms with one wave for each group of angles.

    Parameters
    ----------
    made : Expansion
        What the polynomials belong to.
    shapes : mapping of str to tuple of int
        Of the results.
    parts : sequence of Part
        What adds to their elements.
    angles : sequence of sequence of int
        Groups of variables; every one that is an angle is in one.
    """
    flat = [k for group in angles for k in group]
    parts = [part for part in parts if part.value.terms]
    keys, which, values, sizes = _halves(made, parts, flat)
    if len(which) > LARGEST:
        raise ArgumentError(f"{made.tree.name}: {len(which):,} terms are too many for a closed form, more than {LARGEST:,}")
    order, first = groups(np.concatenate([which[None], made.fields.powers_alone(keys)]))
    owner = np.empty(len(order), dtype=np.int64)
    owner[order] = np.repeat(np.arange(len(first)), np.diff([*first, len(order)]))
    powers = made.fields.exponents(keys[:, order[first]], False)
    part_of = which[order[first]]
    for place, part in enumerate(parts):
        for k in part.motion:
            powers[part_of == place, k] += 1
    start = dict(zip(shapes, np.cumsum([0, *map(prod, shapes.values())]), strict=False))
    element = [start[part.output] + int(np.ravel_multi_index(part.index, shapes[part.output])) for part in parts]
    waves = in_waves(owner, made.fields.exponents(keys, True, flat), values, sizes, [len(group) for group in angles])
    waves = waves.part(_seen(waves))
    return Terms(made, shapes, np.array(element, dtype=np.int64)[part_of], powers, tuple(map(tuple, angles)), waves)


def _seen(waves: Waves) -> npt.NDArray[np.bool_]:
    """Which terms are not lost beside others of the same owner: angles that are nearly right leave such as 1e-22."""
    size = np.abs(waves.values)
    largest = np.zeros(int(waves.owner.max(initial=-1)) + 1)
    np.maximum.at(largest, waves.owner, size)
    return np.asarray(size > TINY * largest[waves.owner])


def _halves(
    made: Expansion, parts: Sequence[Part], angles: Sequence[int]
) -> tuple[Keys, IntArray, ComplexArray, FloatArray]:
    """The terms of all parts, of h and -h one: keys, the number of the part, coefficients, sizes."""
    halves: list[tuple[Polynomial, int]] = []
    known: dict[int, Polynomial] = {}
    for place, part in enumerate(parts):
        if id(part.value) not in known:
            kept = first_signs(made.fields.exponents(part.value.keys, True, angles)) >= 0
            known[id(part.value)] = part.value.part(kept)
        halves.append((known[id(part.value)], place))
    return (
        np.concatenate([np.zeros((made.fields.words, 0), np.int64), *(half.keys for half, _ in halves)], axis=1),
        np.repeat(np.array([place for _, place in halves], dtype=np.int64), [half.terms for half, _ in halves]),
        np.concatenate([np.zeros(0, np.complex128), *(half.values for half, _ in halves)]),
        np.concatenate([np.zeros(0), *(half.sizes for half, _ in halves)]),
    )
