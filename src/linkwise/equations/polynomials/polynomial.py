"""Sparse polynomials in many variables and in sines and cosines of angles, as arrays.

A term is a complex coefficient times exp(i h a) times x^p, with whole h for the angles a and whole p for the variables x. h
and p of a term are fields of its key, one or more 64-bit words, so that adding keys adds all exponents at once: products and
sums of polynomials are a few operations on whole arrays.

With each coefficient goes its size, the sum of the absolute values of all that was added up to make it. A coefficient that
is small beside its size is what rounding left of a zero; it is dropped at once.

`Waves` are polynomials with cosines and sines. Every term is a coefficient, an owner (an entry of a matrix, with powers of
symbols and speeds) and one wave for each group of angles. A wave is a product of cosines and sines of combinations of the
angles of its group; 1 is wave 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError
from linkwise.spatial.scalar import FloatArray

Keys = npt.NDArray[np.int64]
ComplexArray = npt.NDArray[np.complex128]

#: Coefficients below this part (1.4e-14) of their terms are rounding errors, and dropped.
ROUNDING = 2.0**-46

#: Products of terms that one multiplication of polynomials may form, before equal ones are collected: half a gigabyte.
MOST_TERMS = 1 << 23


@dataclass(frozen=True, eq=False, slots=True)
class Polynomial:
    """A sum of terms with different keys, in the order of the keys.

    Attributes
    ----------
    keys : ndarray (W, T)
        W words for each of T terms.
    values : ndarray (T,)
        Coefficients. Those of h and -h are conjugate: the function is real.
    sizes : ndarray (T,)
        How large what was added up was, each at least the absolute value of its coefficient.
    """

    keys: Keys
    values: ComplexArray
    sizes: FloatArray

    @property
    def terms(self) -> int:
        """Number of terms; a cosine counts as two."""
        return len(self.values)

    def __add__(self, other: Polynomial) -> Polynomial:
        return total([self, other])

    def __neg__(self) -> Polynomial:
        return Polynomial(self.keys, -self.values, self.sizes)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return total([self, -other])

    def __mul__(self, other: Polynomial) -> Polynomial:
        few, many = (self, other) if self.terms <= other.terms else (other, self)
        if few.terms == 1:  # the order of the keys stays
            values, sizes = many.values * few.values, many.sizes * few.sizes
            return Polynomial(many.keys + few.keys, values, sizes)
        if few.terms * many.terms > MOST_TERMS:
            problem = f"a product of {few.terms:,} and {many.terms:,} terms has more than {MOST_TERMS:,}"
            raise ArgumentError(f"too many terms for the explicit form: {problem}")
        keys = (few.keys[:, :, None] + many.keys[:, None, :]).reshape(len(few.keys), -1)
        values, sizes = np.outer(few.values, many.values).ravel(), np.outer(few.sizes, many.sizes).ravel()
        return collected(keys, values, sizes)

    def scaled(self, factor: float) -> Polynomial:
        """The polynomial times a number."""
        return Polynomial(self.keys, self.values * factor, self.sizes * abs(factor)) if factor else self.part(slice(0))

    def moved(self, step: Keys) -> Polynomial:
        """The polynomial times the monomial of that key (W,)."""
        return Polynomial(self.keys + step[:, None], self.values, self.sizes)

    def part(self, which: slice | npt.NDArray[np.bool_]) -> Polynomial:
        """Some of the terms."""
        return Polynomial(self.keys[:, which], self.values[which], self.sizes[which])


def nothing(words: int) -> Polynomial:
    """Zero."""
    return Polynomial(np.zeros((words, 0), dtype=np.int64), np.zeros(0, dtype=np.complex128), np.zeros(0))


def number(value: float, words: int) -> Polynomial:
    """A constant."""
    if not value:
        return nothing(words)
    return Polynomial(np.zeros((words, 1), dtype=np.int64), np.array([complex(value)]), np.array([abs(value)]))


def total(parts: Sequence[Polynomial]) -> Polynomial:
    """The sum of polynomials, one at least, with equal words."""
    some = [part for part in parts if part.terms]
    if len(some) < 2:
        return some[0] if some else parts[0]
    return collected(
        np.concatenate([part.keys for part in some], axis=1),
        np.concatenate([part.values for part in some]),
        np.concatenate([part.sizes for part in some]),
    )


def collected(keys: Keys, values: ComplexArray, sizes: FloatArray) -> Polynomial:
    """Polynomial of terms in any order: equal keys are added, and zeros of rounding dropped."""
    order, first = groups(keys)
    if len(first) < len(order):
        values, sizes = np.add.reduceat(values[order], first), np.add.reduceat(sizes[order], first)
        order = order[first]
    else:
        values, sizes = values[order], sizes[order]
    kept = np.abs(values) > ROUNDING * sizes
    if not kept.all():
        order, values, sizes = order[kept], values[kept], sizes[kept]
    return Polynomial(keys[:, order], values, sizes)


def groups(keys: Keys) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The order that sorts keys (W, T), and where in it each run of equal keys begins."""
    order = np.argsort(keys[0], kind="stable") if len(keys) == 1 else np.lexsort(keys[::-1])
    ordered = keys[:, order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (ordered[0, 1:] != ordered[0, :-1]) if len(keys) == 1 else (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    return order, np.flatnonzero(new)


def first_signs(rows: npt.NDArray[np.integer]) -> npt.NDArray[np.int32]:
    """The sign of the first number other than 0 in each row; 0 for a row of zeros.

    Examples
    --------
    >>> first_signs(np.array([[0, -2, 1], [3, -1, 0], [0, 0, 0]])).tolist()
    [-1, 1, 0]
    """
    sign = np.zeros(len(rows), dtype=np.int32)
    for column in rows.T[::-1]:
        np.copyto(sign, np.sign(column), where=column != 0, casting="unsafe")
    return sign


#: Bits of a word that are used: sums of fields never reach the sign.
BITS = 62

IntArray = npt.NDArray[np.int64]
Exponents = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Need:
    """Range of one variable in the terms of some polynomials.

    Attributes
    ----------
    harmonic : int
        Greatest multiple of it in exp(i ...); 0 where it is no angle.
    low, high : int
        Least and greatest power, 0 where it does not stand outside of sine and cosine.
    apart : frozenset of int
        Variables that occur with it in one product; itself, where its power may differ from 0 and 1.
    """

    harmonic: int = 0
    low: int = 0
    high: int = 0
    apart: frozenset[int] = frozenset()


@dataclass(frozen=True)
class KeyField:
    """Bit field of one number in a key: a harmonic or a power of a variable, or the index of a variable."""

    variables: tuple[int, ...]
    harmonic: bool
    word: int
    shift: int
    low: int
    width: int


@dataclass(frozen=True)
class Fields:
    """The fields of keys.

    Variables of which a term has one at most, such as the inertial parameters, share a field, which says which one it is.

    Attributes
    ----------
    count : int
        Number of variables.
    words : int
        Words of a key.
    fields : tuple of Field
        From the highest bits of the first word down, so that the order of keys is that of the harmonics.
    """

    count: int
    words: int
    fields: tuple[KeyField, ...]
    _steps: dict[tuple[int, bool], Keys] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, needs: Sequence[Need]) -> Fields:
        """Assign fields to the needs of variables."""
        wanted: list[tuple[tuple[int, ...], bool, int, int]] = []
        wanted += [((k,), True, -need.harmonic, need.harmonic) for k, need in enumerate(needs) if need.harmonic]
        sharing: list[list[int]] = []
        for k, need in enumerate(needs):
            if not (need.low or need.high):
                continue
            if need.low < 0 or need.high > 1 or k in need.apart:
                wanted.append(((k,), False, need.low, need.high))
                continue
            room = next((group for group in sharing if need.apart.isdisjoint(group)), None)
            if room is None:
                sharing.append([k])
            else:
                room.append(k)
        wanted += [(tuple(group), False, 0, len(group)) for group in sharing]
        fields, word, used = [], 0, 0
        for variables, harmonic, low, high in wanted:
            width = (high - low).bit_length()
            if used + width > BITS:
                word, used = word + 1, 0
            fields.append(KeyField(variables, harmonic, word, BITS - used - width, low, width))
            used += width
        return cls(len(needs), word + 1, tuple(fields))

    def step(self, variable: int, harmonic: bool = False) -> Keys:
        """The key (W,) of a variable itself, or of exp(i times it)."""
        if not self._steps:
            for key_field in self.fields:
                for place, k in enumerate(key_field.variables, 1):
                    key = np.zeros(self.words, dtype=np.int64)
                    key[key_field.word] = place << key_field.shift
                    self._steps[k, key_field.harmonic] = key
        return self._steps[variable, harmonic]

    def exponents(self, keys: Keys, harmonic: bool, variables: Sequence[int] | None = None) -> Exponents:
        """Harmonics, or powers, of variables (all by default) in keys (W, T): shape (T, V)."""
        columns = {k: place for place, k in enumerate(range(self.count) if variables is None else variables)}
        table = np.zeros((keys.shape[1], len(columns)), dtype=np.int32)
        for key_field in self.fields:
            if key_field.harmonic == harmonic and any(k in columns for k in key_field.variables):
                values = self._read(keys, key_field)
                if len(key_field.variables) == 1:
                    table[:, columns[key_field.variables[0]]] = values + key_field.low
                    continue
                there = np.flatnonzero(values)
                which = np.array([columns.get(k, -1) for k in key_field.variables])[values[there] - 1]
                table[there[which >= 0], which[which >= 0]] = 1
        return table

    def exponent(self, keys: Keys, variable: int, harmonic: bool) -> IntArray:
        """The harmonic, or the power, of one variable in keys (W, T): shape (T,)."""
        key_field = next(
            key_field for key_field in self.fields if key_field.harmonic == harmonic and variable in key_field.variables
        )
        exponents = self._read(keys, key_field)
        if len(key_field.variables) == 1:
            return np.asarray(exponents + key_field.low)
        return np.asarray(exponents == key_field.variables.index(variable) + 1, dtype=np.int64)

    def powers_alone(self, keys: Keys) -> Keys:
        """The keys (W, T) without their harmonics."""
        mask, bias = np.zeros(self.words, dtype=np.int64), np.zeros(self.words, dtype=np.int64)
        for key_field in self.fields:
            if not key_field.harmonic:
                mask[key_field.word] |= ((1 << key_field.width) - 1) << key_field.shift
                bias[key_field.word] -= key_field.low << key_field.shift
        return np.asarray(((keys + self._bias[:, None]) & mask[:, None]) - bias[:, None])

    def _read(self, keys: Keys, key_field: KeyField) -> IntArray:
        """Read a field, from 0 up."""
        word = keys[key_field.word] + self._bias[key_field.word]
        return np.asarray((word >> key_field.shift) & ((1 << key_field.width) - 1))

    @cached_property
    def _bias(self) -> Keys:
        bias = np.zeros(self.words, dtype=np.int64)
        for key_field in self.fields:
            bias[key_field.word] -= key_field.low << key_field.shift
        return bias


#: Whole multiples of the angles of a group.
Vector = tuple[int, ...]

#: Factors: ``"cos"`` or ``"sin"``, its argument, its power.
Wave = tuple[tuple[str, Vector, int], ...]


@dataclass(frozen=True, eq=False)
class Waves:
    """Terms in cosines and sines.

    Attributes
    ----------
    owner : ndarray (T,)
        Whose term it is.
    codes : ndarray (T, G)
        The wave of each group.
    values, sizes : ndarray (T,)
        Coefficients, and how large what was added up to make them was.
    tables : tuple of list
        The waves of each group.
    """

    owner: IntArray
    codes: IntArray
    values: FloatArray
    sizes: FloatArray
    tables: tuple[list[Wave], ...]

    @property
    def terms(self) -> int:
        """Number of waves."""
        return len(self.values)

    def part(self, which: npt.NDArray[np.bool_]) -> Waves:
        """Some of the terms."""
        return Waves(self.owner[which], self.codes[which], self.values[which], self.sizes[which], self.tables)

    def merged(self) -> Waves:
        """Add equal waves, in order, and drop zeros of rounding."""
        ids = identified([self.owner, *self.codes.T])
        order = np.argsort(ids, kind="stable")
        first = np.flatnonzero(np.diff(ids[order], prepend=-1))
        values, sizes = (np.add.reduceat(part[order], first) if len(first) else part for part in (self.values, self.sizes))
        kept = np.abs(values) > ROUNDING * sizes
        place = order[first][kept]
        return Waves(self.owner[place], self.codes[place], values[kept], sizes[kept], self.tables)


def joined(first: Waves, second: Waves) -> Waves:
    """The terms of both, which have the same tables."""
    owner, codes = np.concatenate([first.owner, second.owner]), np.concatenate([first.codes, second.codes])
    values, sizes = np.concatenate([first.values, second.values]), np.concatenate([first.sizes, second.sizes])
    return Waves(owner, codes, values, sizes, first.tables)


def identified(columns: Sequence[IntArray]) -> IntArray:
    """Index of each distinct row of columns of nonnegative integers, in lexical order."""
    ids, size = columns[0], int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        count = int(column.max(initial=0)) + 1
        if size * count >= 1 << 62:
            distinct, ids = np.unique(ids, return_inverse=True)
            size = len(distinct)
        ids, size = ids * count + column, size * count
    return np.asarray(ids)


def in_waves(
    owner: IntArray, harmonics: Exponents, coefficients: ComplexArray, sizes: FloatArray, groups: Sequence[int]
) -> Waves:
    """Terms c exp(i h a), real in sum, as products of one cosine or sine for each group of angles.

    Parameters
    ----------
    owner : ndarray (N,)
        Whose term it is.
    harmonics : ndarray (N, A)
        The multiples h of the angles a, those of the first group first. Of h and -h there is only one, that for which
        `first_signs` is not negative.
    coefficients, sizes : ndarray (N,)
        The coefficients c, complex, and how large they are.
    groups : sequence of int
        How many angles each group has.
    """
    value = coefficients * np.where(first_signs(harmonics) > 0, 2.0, 1.0)
    size, done = np.abs(sizes) * np.where(first_signs(harmonics) > 0, 2.0, 1.0), owner[:, None]
    tables: list[list[Wave]] = []
    for count in groups:
        table, code, turn = _waves(harmonics[:, :count])
        tables.append(table)
        turns = np.flatnonzero(code)
        rows = np.concatenate([np.arange(len(code)), turns])
        value, size = np.concatenate([value, value[turns] * (1j * turn[turns])]), size[rows]
        done = np.hstack([done[rows], np.concatenate([code, code[turns] + 1])[:, None]])
        value, harmonics = _turned(value, harmonics[rows, count:])
        ids = identified([*done.T, *_from_zero(harmonics)])
        order = np.argsort(ids, kind="stable")
        first = np.flatnonzero(np.diff(ids[order], prepend=-1))
        if len(first):
            value, size = np.add.reduceat(value[order], first), np.add.reduceat(size[order], first)
        kept = np.abs(value) > ROUNDING * size
        place = order[first][kept]
        value, size, done, harmonics = value[kept], size[kept], done[place], harmonics[place]
    return Waves(done[:, 0], done[:, 1:], value.real, size, tuple(tables)).merged()


def _turned(value: ComplexArray, harmonics: Exponents) -> tuple[ComplexArray, Exponents]:
    """The same real part of v exp(i h a), with the first multiple in h positive; without h a real v."""
    sign = first_signs(harmonics)
    value = np.where(sign < 0, value.conj(), np.where(sign == 0, value.real, value))
    return value, harmonics * np.where(sign < 0, -1, 1)[:, None].astype(np.int32)


def _from_zero(harmonics: Exponents) -> list[IntArray]:
    """Columns of numbers from 0."""
    return [column - column.min(initial=0) for column in harmonics.T.astype(np.int64)]


def _waves(harmonics: Exponents) -> tuple[list[Wave], IntArray, Exponents]:
    """The cosines and sines of some rows, which of them the cosine of each row is, and the sign of each row."""
    turn = first_signs(harmonics)
    part = harmonics * turn[:, None]
    ids = identified([np.zeros(len(part), np.int64), *_from_zero(part)])
    _, first, place = np.unique(ids, return_index=True, return_inverse=True)
    table: list[Wave] = [()]
    code = np.zeros(len(first), dtype=np.int64)
    for k, vector in enumerate(map(tuple, part[first].tolist())):
        if any(vector):
            code[k] = len(table)
            table += [(("cos", vector, 1),), (("sin", vector, 1),)]
    return table, code[place.reshape(-1)], turn
