"""The values of polynomials at points."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from linkwise.equations.polynomials.expansion import Expansion
from linkwise.equations.polynomials.polynomial import FloatArray, Polynomial
from linkwise.expr.operations import OPERATIONS

_AT_ONCE = 1 << 18
"""Terms times points that are worked out at a time."""


def values(made: Expansion, entries: Sequence[Polynomial], points: FloatArray) -> FloatArray:
    """The values (K, E) of E polynomials at K points.

    Parameters
    ----------
    made : Expansion
        What they belong to.
    entries : sequence of Polynomial
        The polynomials.
    points : ndarray (K, V)
        The inputs of the expansion: coordinates, speeds, accelerations, symbols.
    """
    return _values(made, entries, known_values(made, points))


def known_values(made: Expansion, points: FloatArray) -> FloatArray:
    """The values (K, V) of all variables, those of the functions of symbols among them, at points (K, inputs)."""
    known = np.zeros((len(points), len(made.needs)))
    known[:, : points.shape[1]] = points
    for k, (name, args) in made.atoms.items():  # each after those that it depends on
        found = _values(made, args, known)
        if name == "div":
            known[:, k] = 1.0 / found[:, 0]
        else:
            known[:, k] = [OPERATIONS[name].value(*row) for row in found.tolist()]
    return known


def _values(made: Expansion, entries: Sequence[Polynomial], known: FloatArray) -> FloatArray:
    total = np.zeros((len(known), len(entries)))
    for column, entry in enumerate(entries):
        harmonics = made.fields.exponents(entry.keys, True)
        powers = made.fields.exponents(entry.keys, False)
        step = max(1, _AT_ONCE // max(1, len(known)))
        for start in range(0, entry.terms, step):
            some = slice(start, start + step)
            angle = known @ harmonics[some].T
            term = np.cos(angle) * entry.values[some].real - np.sin(angle) * entry.values[some].imag
            for k in np.flatnonzero(powers[some].any(axis=0)):
                term *= known[:, k : k + 1] ** powers[some, k]
            total[:, column] += term.sum(axis=1)
    return total
