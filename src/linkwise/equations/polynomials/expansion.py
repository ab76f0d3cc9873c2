"""The equations of a mechanism multiplied out: every entry a polynomial in symbols, and in sines and cosines of angles.

The recursions are run once on symbols, which gives a tape, and the tape is evaluated on polynomials that are kept as arrays
(see `linkwise.equations.polynomials.polynomial`). So numbers and symbols take the same way, and there is no algebra that
simplifies: equal terms meet because their keys are equal. For a mass matrix it takes less time than sampling it, from which
a Fourier transform would give the same harmonics: 0.1 s against 2 s for eight joints of any kind, 4 s against 21 s for ten.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from linkwise.algorithm import find
from linkwise.equations.polynomials.bounds import survey
from linkwise.equations.polynomials.evaluation import expanded
from linkwise.equations.polynomials.fields import Fields, Need
from linkwise.equations.polynomials.polynomial import Polynomial, total
from linkwise.expr.node import symbol
from linkwise.kernel.tape import Tape
from linkwise.model.tree import BASE_ACCELERATIONS, BASE_COORDINATES, BASE_SPEEDS, Tree
from linkwise.spatial.scalar import Array

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
        M, n = self.results["M"], self.tree.n
        rate = {(i, j, k): self.derivative(M[i, j], k).scaled(0.5) for i in range(n) for j in range(i, n) for k in range(n)}
        rate |= {(j, i, k): part for (i, j, k), part in rate.items()}
        made = np.empty((n, n, n), dtype=object)
        for i in range(n):
            for j in range(n):
                for k in range(j, n):
                    made[i, j, k] = made[i, k, j] = total([rate[i, j, k], rate[i, k, j], -rate[j, k, i]])
        return made

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
