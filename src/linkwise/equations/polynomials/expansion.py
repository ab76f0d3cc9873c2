"""The equations of a mechanism multiplied out: every entry a polynomial in symbols, and in sines and cosines of angles.

The recursions are run once on symbols, which gives a tape, and the tape is evaluated on polynomials that are kept as arrays
(see `linkwise.equations.polynomials.polynomial`). So numbers and symbols take the same way, and there is no algebra that
simplifies: equal terms meet because their keys are equal. For a mass matrix it takes less time than sampling it, from which
a Fourier transform would give the same harmonics: 0.1 s against 2 s for eight joints of any kind, 4 s against 21 s for ten.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from linkwise.algorithm.declaration import find
from linkwise.equations.polynomials.bounds import survey
from linkwise.equations.polynomials.evaluation import expanded
from linkwise.equations.polynomials.key_packing import Fields, Need
from linkwise.equations.polynomials.polynomial import FloatArray, Polynomial, total
from linkwise.expr.node import symbol
from linkwise.expr.operations import OPERATIONS
from linkwise.kernel.tape import Tape
from linkwise.model.tree import BASE_ACCELERATIONS, BASE_COORDINATES, BASE_SPEEDS, Tree
from linkwise.spatial.scalar import Array

_AT_ONCE = 1 << 18
"""Terms times points that are worked out at a time."""

Atoms = Mapping[int, tuple[str, tuple[Polynomial, ...]]]


@dataclass(frozen=True, eq=False, repr=False)
class Expansion:
    """Results of algorithms for one mechanism, as polynomials.

    Attributes
    ----------
    tree : Tree
        The mechanism.
    names : tuple of str
        What the variables are called, as far as they are inputs: coordinates ``q1``, speeds ``qd1``, accelerations ``qdd1``,
        then the symbols of the mechanism. After them come the atoms.
    needs : tuple of Need
        What each variable is used for.
    fields : Fields
        How the keys are made.
    atoms : mapping of int to (str, tuple of Polynomial)
        The functions of symbols that are no polynomials, by variable.
    results : mapping of str to ndarray
        Arrays of polynomials.
    """

    tree: Tree
    names: tuple[str, ...]
    needs: tuple[Need, ...]
    fields: Fields
    atoms: Atoms
    results: Mapping[str, Array]

    @cached_property
    def symbols(self) -> frozenset[int]:
        """The variables that are symbols of the mechanism, or functions of these: all others change with the motion."""
        first = self.tree.nq + 2 * self.tree.nv
        found: set[int] = set()
        for k in range(first, len(self.needs)):
            parts = self.atoms[k][1] if k in self.atoms else ()
            used = {j for part in parts for j in np.flatnonzero(self.fields.exponents(part.keys, False).any(axis=0))}
            used |= {j for part in parts for j in np.flatnonzero(self.fields.exponents(part.keys, True).any(axis=0))}
            if used <= found | set(range(first, len(self.names))):
                found.add(k)
        return frozenset(found)

    def without(self, symbols: Collection[str]) -> Expansion:
        """The same where these symbols are 0."""
        gone = [self.names.index(name) for name in symbols if name in self.names]
        made = {name: np.empty(array.shape, dtype=object) for name, array in self.results.items()}
        for name, array in self.results.items():
            for index in np.ndindex(*array.shape):
                entry = cast(Polynomial, array[index])
                made[name][index] = entry.part(np.asarray(~self.fields.exponents(entry.keys, False, gone).any(axis=1)))
        return replace(self, results=made)

    @cached_property
    def christoffel(self) -> Array:
        """Christoffel symbols (n, n, n) of the mass matrix: C_ij = sum_k c_ijk qd_k; c_ijk and c_ikj are one object.

        c_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2: R. M. Murray, Z. Li, S. S. Sastry, *A Mathematical Introduction
        to Robotic Manipulation* (1994), eq. 4.23.
        """
        return christoffel(
            self.results["M"],
            lambda entry, k: self.derivative(entry, k).scaled(0.5),
            lambda one, other, less: total([one, other, -less]),
        )

    def derivative(self, value: Polynomial, variable: int) -> Polynomial:
        """The derivative of a polynomial by one variable."""
        parts = []
        if self.needs[variable].harmonic:
            h = self.fields.exponent(value.keys, variable, True)
            turned = Polynomial(value.keys, value.values * (1j * h), value.sizes * np.abs(h)).part(h != 0)
            parts.append(turned)
        if self.needs[variable].low or self.needs[variable].high:
            p = self.fields.exponent(value.keys, variable, False)
            lowered = Polynomial(value.keys, value.values * p, value.sizes * np.abs(p)).part(p != 0)
            parts.append(lowered.moved(-self.fields.step(variable)))
        return total(parts) if parts else value.part(slice(0))


def christoffel(mass: Any, derivative: Callable[[Any, int], Any], combined: Callable[[Any, Any, Any], Any]) -> Array:
    """Christoffel symbols (n, n, n) of a symmetric matrix (n, n) of functions; c_ijk and c_ikj are one object.

    Parameters
    ----------
    mass : sequence of sequence
        The matrix; its upper half is read.
    derivative : callable
        Of an entry by the coordinate k.
    combined : callable
        (a + b - c) / 2 of three derivatives, where `derivative` has not halved them already.
    """
    n = len(mass)
    rate = {(i, j, k): derivative(mass[i][j], k) for i in range(n) for j in range(i, n) for k in range(n)}
    rate |= {(j, i, k): part for (i, j, k), part in rate.items()}
    symbols = np.empty((n, n, n), dtype=object)
    for i, j in np.ndindex(n, n):
        for k in range(j, n):
            symbols[i, j, k] = symbols[i, k, j] = combined(rate[i, j, k], rate[i, k, j], rate[j, k, i])
    return symbols


def expansion(tree: Tree, results: Mapping[str, tuple[str, Mapping[str, Any]]]) -> Expansion:
    """Run algorithms for a mechanism and multiply out what they give.

    Parameters
    ----------
    tree : Tree
        The mechanism, of numbers and symbols.
    results : mapping of str to (str, mapping)
        By name of a result the algorithm that gives it, and its options.

    Raises
    ------
    ArgumentError
        Where a result is no polynomial in sines, cosines, coordinates and functions of symbols, or has too many terms.
    """
    words = coordinate_words(tree)
    given = {key: _symbols(group) for key, group in words.items()}
    made = {}
    for name, (algorithm, options) in results.items():
        declared = find(algorithm)
        made[name] = np.asarray(declared.function(tree, *(given[key] for key in declared.inputs), **options), dtype=object)
    return expansion_of(tree, made, given)


def expansion_of(tree: Tree, results: Mapping[str, Array], given: Mapping[str, Array] | None = None) -> Expansion:
    """Multiply out expressions in coordinates, speeds, accelerations and symbols of a mechanism.

    Parameters
    ----------
    tree : Tree
        The mechanism.
    results : mapping of str to array of Expr
        What to multiply out.
    given : mapping of str to array of Expr, optional
        The coordinates ``q`` and their derivatives ``qd`` and ``qdd`` in it; without, there are only symbols.
    """
    words = coordinate_words(tree)
    inputs = dict(given or {key: _symbols(group) for key, group in words.items()})
    if tree.symbols:
        inputs["parameters"] = np.array(tree.parameters_used, dtype=object)
    names = tuple(word for group in words.values() for word in group) + tuple(tree.symbols)
    tape = Tape.from_graph("equations", inputs, results)
    speeds, first = range(tree.nq, tree.nq + tree.nv), tree.nq + 2 * tree.nv
    found = survey(tape, (*tree.coordinate_names, *names[tree.nq :]), range(first, len(names)), speeds)
    fields = Fields.of(found.needs)
    values, atoms = expanded(found, fields)
    made, start = {}, 0
    for name, shape in tape.outputs.items():
        made[name] = np.empty(shape, dtype=object)
        made[name].ravel()[:] = values[start : start + made[name].size]
        start += made[name].size
    return Expansion(tree, names, tuple(found.needs), fields, atoms, made)


def _symbols(words: Sequence[str]) -> Array:
    made = np.empty(len(words), dtype=object)
    made[:] = [symbol(word) for word in words]
    return made


def coordinate_words(tree: Tree) -> dict[str, list[str]]:
    """What coordinates, speeds and accelerations are called: ``q1``, ``qd1``, ``qdd1``, those of a floating base before."""
    base = (BASE_COORDINATES, BASE_SPEEDS, BASE_ACCELERATIONS) if tree.floating else ((), (), ())
    numbers = range(1, tree.n + 1)
    return {key: [*own, *(f"{key}{k}" for k in numbers)] for key, own in zip(("q", "qd", "qdd"), base, strict=True)}


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
