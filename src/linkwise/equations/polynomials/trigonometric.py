"""Polynomials written with cosines and sines: as one cosine or sine of a combination of angles, or as products of them.

Every term is a coefficient, an owner (an entry of a matrix, with powers of symbols and speeds) and one wave for each group
of angles. A wave is a product of cosines and sines of combinations of the angles of its group; 1 is wave 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.equations.polynomials.key_packing import Exponents, IntArray
from linkwise.equations.polynomials.polynomial import ROUNDING, ComplexArray, FloatArray, first_signs

Vector = tuple[int, ...]
"""Whole multiples of the angles of a group."""

Wave = tuple[tuple[str, Vector, int], ...]
"""Factors: ``"cos"`` or ``"sin"``, of what, to which power."""


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
        """How many there are."""
        return len(self.values)

    def part(self, which: npt.NDArray[np.bool_]) -> Waves:
        """Some of the terms."""
        return Waves(self.owner[which], self.codes[which], self.values[which], self.sizes[which], self.tables)

    def merged(self) -> Waves:
        """Equal ones added up, in order, without what rounding left of zeros."""
        ids = identified([self.owner, *self.codes.T])
        order = np.argsort(ids, kind="stable")
        first = np.flatnonzero(np.diff(ids[order], prepend=-1))
        values, sizes = (np.add.reduceat(part[order], first) if len(first) else part for part in (self.values, self.sizes))
        kept = np.abs(values) > ROUNDING * sizes
        place = order[first][kept]
        return Waves(self.owner[place], self.codes[place], values[kept], sizes[kept], self.tables)


def joined(one: Waves, other: Waves) -> Waves:
    """The terms of both, which have the same tables."""
    owner, codes = np.concatenate([one.owner, other.owner]), np.concatenate([one.codes, other.codes])
    values, sizes = np.concatenate([one.values, other.values]), np.concatenate([one.sizes, other.sizes])
    return Waves(owner, codes, values, sizes, one.tables)


def identified(columns: Sequence[IntArray]) -> IntArray:
    """One number for each row of columns of numbers from 0, the same for equal rows, in lexical order."""
    ids, size = columns[0], int(columns[0].max(initial=0)) + 1
    for column in columns[1:]:
        own = int(column.max(initial=0)) + 1
        if size * own >= 1 << 62:
            found, ids = np.unique(ids, return_inverse=True)
            size = len(found)
        ids, size = ids * own + column, size * own
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
