"""Determinant and cofactors of a square matrix (n, n) of scalars of any kind, by minors: exact where the scalars are.

Laplace's expansion, each minor computed once: about n 2**n products, meant for symbols and for n up to about 8. Numbers are
better served by elimination with pivots (`numpy.linalg`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.spatial.scalar import Array


def determinant(m: npt.ArrayLike) -> Any:
    """The determinant of a square matrix (n, n).

    Examples
    --------
    >>> float(determinant([[1.0, 2.0], [3.0, 4.0]]))
    -2.0
    """
    a = np.asarray(m)
    return _minor(a, tuple(range(len(a))), tuple(range(len(a))), {})


def cofactors(m: npt.ArrayLike) -> tuple[Array, Any]:
    """The matrix (n, n) of the cofactors, which is the transposed inverse times the determinant; and the determinant.

    Examples
    --------
    >>> import sympy
    >>> a, b = sympy.symbols("a b")
    >>> turned, size = cofactors([[a, b], [0, 1]])
    >>> (turned.T / size).tolist()
    [[1/a, -b/a], [0, 1]]
    """
    a = np.asarray(m)
    places = tuple(range(len(a)))
    known: dict[Any, Any] = {}
    found = [[_minor(a, _without(places, i), _without(places, j), known) for j in places] for i in places]
    signed = [[item if (i + j) % 2 == 0 else -item for j, item in enumerate(row)] for i, row in enumerate(found)]
    turned = np.array(signed, dtype=a.dtype)
    return turned, sum((x * c for x, c in zip(a[0, 1:], turned[0, 1:], strict=True)), a[0, 0] * turned[0, 0])


def _minor(a: Array, rows: tuple[int, ...], columns: tuple[int, ...], known: dict[Any, Any]) -> Any:
    """The determinant of a part of a matrix, expanded along its first row."""
    if not rows:
        return 1
    if (rows, columns) not in known:
        total: Any = 0
        for place, column in enumerate(columns):
            item = a[rows[0], column]
            if isinstance(item, (int, float, np.number)) and item == 0:
                continue
            product = item * _minor(a, rows[1:], _without(columns, column), known)
            total = total - product if place % 2 else total + product
        known[rows, columns] = total
    return known[rows, columns]


def _without(places: tuple[int, ...], one: int) -> tuple[int, ...]:
    return tuple(place for place in places if place != one)
