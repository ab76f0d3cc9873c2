"""Sparse polynomials in many variables and in sines and cosines of angles, as arrays: the arithmetic.

A term is a complex coefficient times exp(i h a) times x^p, with whole h for the angles a and whole p for the variables x. h
and p of a term are fields of its key, one or more 64-bit words (see `linkwise.equations.polynomials.key_packing`), so that
the key of a product is the sum of the keys: products and sums of polynomials are a few operations on whole arrays.

With each coefficient goes its size, the sum of the absolute values of all that was added up to make it. A coefficient that
is small beside its size is what rounding left of a zero; it is dropped at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise.errors import ArgumentError

Keys = npt.NDArray[np.int64]
ComplexArray = npt.NDArray[np.complex128]
FloatArray = npt.NDArray[np.float64]

ROUNDING = 2.0**-46
"""Coefficients below this part (1.4e-14) of the size of what was added up are taken for rounding errors, and dropped."""

MOST_TERMS = 1 << 23
"""Products of terms that one multiplication of polynomials may form, before equal ones are collected: half a gigabyte."""


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
        """How many terms there are; a cosine is two."""
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
    """The polynomial of terms in any order, equal keys added up, and what rounding left of zeros dropped."""
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
