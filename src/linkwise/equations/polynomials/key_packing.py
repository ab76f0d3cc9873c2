"""How the exponents of a term are packed into its key, so that adding keys adds all exponents at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise.equations.polynomials.polynomial import Keys

BITS = 62
"""Bits of a word that are used: sums of fields never reach the sign."""

IntArray = npt.NDArray[np.int64]
Exponents = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Need:
    """What the terms of some polynomials may have in one variable.

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
class Field:
    """Where one number stands in a key: a harmonic or a power of a variable, or which of several variables there is."""

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
        How many variables there are.
    words : int
        Words of a key.
    fields : tuple of Field
        From the highest bits of the first word down, so that the order of keys is that of the harmonics.
    """

    count: int
    words: int
    fields: tuple[Field, ...]
    _steps: dict[tuple[int, bool], Keys] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, needs: Sequence[Need]) -> Fields:
        """Assign fields to what variables need."""
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
            fields.append(Field(variables, harmonic, word, BITS - used - width, low, width))
            used += width
        return cls(len(needs), word + 1, tuple(fields))

    def step(self, variable: int, harmonic: bool = False) -> Keys:
        """The key (W,) of a variable itself, or of exp(i times it)."""
        if not self._steps:
            for each in self.fields:
                for place, k in enumerate(each.variables, 1):
                    key = np.zeros(self.words, dtype=np.int64)
                    key[each.word] = place << each.shift
                    self._steps[k, each.harmonic] = key
        return self._steps[variable, harmonic]

    def exponents(self, keys: Keys, harmonic: bool, variables: Sequence[int] | None = None) -> Exponents:
        """Harmonics, or powers, of variables (all by default) in keys (W, T): shape (T, V)."""
        columns = {k: place for place, k in enumerate(range(self.count) if variables is None else variables)}
        table = np.zeros((keys.shape[1], len(columns)), dtype=np.int32)
        for each in self.fields:
            if each.harmonic == harmonic and any(k in columns for k in each.variables):
                values = self._read(keys, each)
                if len(each.variables) == 1:
                    table[:, columns[each.variables[0]]] = values + each.low
                    continue
                there = np.flatnonzero(values)
                which = np.array([columns.get(k, -1) for k in each.variables])[values[there] - 1]
                table[there[which >= 0], which[which >= 0]] = 1
        return table

    def exponent(self, keys: Keys, variable: int, harmonic: bool) -> IntArray:
        """The harmonic, or the power, of one variable in keys (W, T): shape (T,)."""
        each = next(each for each in self.fields if each.harmonic == harmonic and variable in each.variables)
        found = self._read(keys, each)
        if len(each.variables) == 1:
            return np.asarray(found + each.low)
        return np.asarray(found == each.variables.index(variable) + 1, dtype=np.int64)

    def powers_alone(self, keys: Keys) -> Keys:
        """The keys (W, T) without their harmonics."""
        return self._alone(keys, False)

    def _alone(self, keys: Keys, harmonic: bool) -> Keys:
        mask, bias = np.zeros(self.words, dtype=np.int64), np.zeros(self.words, dtype=np.int64)
        for each in self.fields:
            if each.harmonic == harmonic:
                mask[each.word] |= ((1 << each.width) - 1) << each.shift
                bias[each.word] -= each.low << each.shift
        return np.asarray(((keys + self._bias[:, None]) & mask[:, None]) - bias[:, None])

    def _read(self, keys: Keys, each: Field) -> IntArray:
        """What stands in a field, from 0 up."""
        return np.asarray(((keys[each.word] + self._bias[each.word]) >> each.shift) & ((1 << each.width) - 1))

    @cached_property
    def _bias(self) -> Keys:
        bias = np.zeros(self.words, dtype=np.int64)
        for each in self.fields:
            bias[each.word] -= each.low << each.shift
        return bias
