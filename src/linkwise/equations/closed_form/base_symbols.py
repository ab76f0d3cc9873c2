"""A mechanism whose links have base parameters in place of inertial parameters: equal efforts, fewer symbols."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise.dynamics.base_parameters.symbolic import BaseForms, base_forms
from linkwise.equations.polynomials.polynomial import ROUNDING
from linkwise.errors import ArgumentError
from linkwise.expr.evaluate import evaluate
from linkwise.expr.node import Expr, parameter
from linkwise.model.inertia import Inertia
from linkwise.model.parameters import LINK
from linkwise.model.tree import NO_PAYLOAD, Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True, eq=False)
class BaseSymbols:
    """Base parameters as symbols.

    Attributes
    ----------
    tree : Tree
        The mechanism in which they are the only inertial parameters of links.
    symbols : tuple of str
        What they are called (b,): ``"XXR2"`` takes the place of XX2, with what is regrouped with it.
    texts : tuple of str
        What they are combinations of.
    values : ndarray (b,)
        What they are on the mechanism that was given: numbers, or expressions in its symbols.
    zeros : frozenset of str
        Symbols that stand for 0: masses, which a link with first moments must have.
    """

    tree: Tree
    symbols: tuple[str, ...]
    texts: tuple[str, ...]
    values: Array
    zeros: frozenset[str]

    def parameters(self, described: Tree, values: FloatArray) -> FloatArray:
        """Values (K, S) of the symbols of `tree`, from those (K, S') of the symbols of the given mechanism."""
        by_name = dict(zip(self.symbols, self.values, strict=True))
        used = {str(node.value): node for node in self.tree.parameters_used}
        wanted = [by_name.get(name, 0.0 if name in self.zeros else node) for name, node in used.items()]
        rows = [evaluate(wanted, dict(zip(described.parameters_used, row, strict=True))) for row in values.tolist()]
        return np.array(rows, dtype=float).reshape(len(values), len(wanted))


def with_base_symbols(tree: Tree) -> BaseSymbols:
    """Put symbols for the base parameters of the links; those of motors stay as they are.

    That only these parameters are kept and all others are 0 changes no effort: the others count only as parts of these
    (M. Gautier, W. Khalil, "Direct calculation of minimum set of inertial parameters of serial robots", IEEE Trans. Robotics
    and Automation 6(3), 1990).

    Raises
    ------
    ArgumentError
        Where links carry rotors, whose bodies are part of theirs.
    """
    carried = [drive.joint for drive in tree.drives if drive.carrier is not None]
    if carried:
        raise ArgumentError(f"{tree.name}: the motor of {carried[0]!r} is carried by a link; base parameters are for others")
    bare = tree.replace(links=[link.replace(motor=None) for link in tree.links], motors=())
    forms = base_forms(bare)
    seen = [k for k in range(len(forms)) if not _vanishes(forms, k)]
    used = set(tree.symbols)
    columns = [int(forms.columns[k]) for k in seen]
    names = {column: _free(f"{LINK[column % len(LINK)]}R{column // len(LINK) + 1}", used) for column in columns}
    links, zeros = [], set()
    for k, link in enumerate(tree.links):
        symbols = [names.get(len(LINK) * k + place) for place in range(len(LINK))]
        numbers: list[Any] = [0.0 if name is None else parameter(name) for name in symbols]
        if symbols[0] is None:
            mass = _free(f"MR{k + 1}", used)
            zeros.add(mass)
            numbers[0] = parameter(mass)
        links.append(link.replace(body=Inertia.from_moments(numbers[0], numbers[1:4], numbers[4:], physical=False)))
    based = tree.replace(links=links, payload=NO_PAYLOAD)
    texts = tuple(forms.names[k] for k in seen)
    return BaseSymbols(based, tuple(names.values()), texts, np.asarray(forms.values)[seen], frozenset(zeros))


def _vanishes(forms: BaseForms, k: int) -> bool:
    """True if a base parameter is 0 on the mechanism, up to rounding."""
    value = forms.values[k]
    if isinstance(value, Expr):
        return False
    products = [
        abs(float(factor) * float(parameter_value))
        for factor, parameter_value in zip(forms.matrix[k], forms.numbers, strict=True)
        if not isinstance(factor, Expr) and not isinstance(parameter_value, Expr)
    ]
    return bool(abs(value) <= ROUNDING * sum(products))


def _free(name: str, used: set[str]) -> str:
    """The name, lengthened until it is free; it is used then."""
    while name in used:
        name += "_"
    used.add(name)
    return name
