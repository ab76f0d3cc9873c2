"""Determinant and adjugate of a small matrix (n, n) of scalars, by minors: exact on symbols, no division, no pivot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import combinations
from operator import add
from typing import Any

import numpy as np

from linkwise.spatial.scalar import Array


def determinant(m: Array) -> Any:
    """The determinant, by Laplace's expansion; each minor of the first rows is computed once.

    Examples
    --------
    >>> float(determinant(np.array([[2.0, 1.0], [0.0, 3.0]])))
    6.0
    """
    return _minor(m, range(len(m)), range(len(m)))


def adjugate(m: Array) -> Array:
    """The matrix (n, n) of cofactors, transposed: its product with the matrix is the determinant times the identity.

    Examples
    --------
    >>> adjugate(np.array([[2.0, 1.0], [5.0, 3.0]])).tolist()
    [[3.0, -1.0], [-5.0, 2.0]]
    """
    n = len(m)
    result = np.empty((n, n), dtype=m.dtype)
    for i in range(n):
        for j in range(n):
            rows, columns = ([k for k in range(n) if k != gone] for gone in (j, i))
            minor = _minor(m, rows, columns)
            result[i, j] = minor if (i + j) % 2 == 0 else -minor
    return result


def _minor(m: Array, rows: Sequence[int], columns: Sequence[int]) -> Any:
    """The determinant of some rows and columns: the minors of the last rows in all sets of columns, a row more at a time."""
    results: dict[tuple[int, ...], Any] = {(): 1}
    for count, row in enumerate(reversed(rows), 1):
        results = {chosen: _expanded(m[row], chosen, results) for chosen in combinations(columns, count)}
    return results[tuple(columns)]


def _expanded(row: Array, chosen: tuple[int, ...], smaller: dict[tuple[int, ...], Any]) -> Any:
    terms = []
    for place, column in enumerate(chosen):
        term = row[column] * smaller[chosen[:place] + chosen[place + 1 :]]
        terms.append(-term if place % 2 else term)
    return reduce(add, terms)
