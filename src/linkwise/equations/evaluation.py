"""The values of a listing on numbers: what shows that what is printed is what was meant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from linkwise.equations.document import Call, Listing, Name, Power, Sum, Term
from linkwise.equations.writers.names import element_name
from linkwise.spatial.scalar import FloatArray

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "atan2": np.arctan2,
    "select": lambda c, x, y: np.where(c > 0, x, y),
}


def evaluated(listing: Listing, given: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Compute what is printed, line by line.

    Parameters
    ----------
    listing : Listing
        What to compute.
    given : mapping of str to float or ndarray
        A number, or an array of any one shape (...), for each name that is not assigned.

    Returns
    -------
    dict
        Each output (..., shape of the output); elements that are not listed are 0.

    Raises
    ------
    KeyError
        Where a name is neither given nor assigned before it is used.

    Examples
    --------
    >>> from linkwise.equations.document import Assignment, Section
    >>> square = Sum((Term(2.0, (Power(Name("x"), 2),)),))
    >>> made = Listing("y", (Section("", (Assignment("y", (0,), square),)),), {"y": (2,)})
    >>> evaluated(made, {"x": 3.0})
    {'y': array([18.,  0.])}
    """
    known: dict[str, Any] = {name: np.asarray(value, dtype=float) for name, value in given.items()}
    batch = np.broadcast_shapes(*(value.shape for value in known.values()))
    outputs = {name: np.zeros((*batch, *shape)) for name, shape in listing.outputs.items()}
    for section in listing.sections:
        for line in section.assignments:
            value = _sum(line.value, known)
            if line.name in outputs and len(line.index) == len(listing.outputs[line.name]):
                outputs[line.name].T[line.index[::-1]] = np.asarray(value).T
                known[element_name(line.name, line.index)] = value
            else:
                known[line.name] = value
    return outputs


def _sum(value: Sum, known: Mapping[str, Any]) -> Any:
    total: Any = 0.0
    for term in value.terms:
        total = total + _term(term, known)
    return total


def _term(term: Term, known: Mapping[str, Any]) -> Any:
    product: Any = term.number
    for factor in term.factors:
        base = factor.base
        if isinstance(base, Name):
            found = known[base.text]
        elif isinstance(base, Call):
            found = FUNCTIONS[base.function](*(_sum(argument, known) for argument in base.arguments))
        else:
            found = _sum(base, known)
        product = product * found**factor.exponent if factor.exponent > 0 else product / found**-factor.exponent
    return product


def operations(listing: Listing) -> dict[str, int]:
    """Count what a listing takes: a product of k factors is k - 1 products, a sum of k terms k - 1 sums; signs are free.

    Numbers other than 1 and -1 are factors; a whole power e of something is e - 1 products. A function counts once for each
    time that it is written with another argument, and the sum in an argument once.
    """
    count = {"mul": 0, "add": 0, "div": 0}
    calls: dict[Call, None] = {}
    angles: set[Sum] = set()
    waiting = [line.value for section in listing.sections for line in section.assignments]
    while waiting:
        value = waiting.pop()
        count["add"] += max(0, len(value.terms) - 1)
        for term in value.terms:
            below = [factor for factor in term.factors if factor.exponent < 0]
            above = sum(factor.exponent for factor in term.factors if factor.exponent > 0)
            above += abs(term.number) != 1 or (above == 0 and bool(below))
            under = -sum(factor.exponent for factor in below)
            count["mul"] += max(0, above - 1) + max(0, under - 1)
            count["div"] += bool(below)
            for factor in term.factors:
                _inside(factor, waiting, calls, angles)
    for call in calls:
        count[call.function] = count.get(call.function, 0) + 1
    return {kind: number for kind, number in count.items() if number}


def written_terms(value: Sum) -> int:
    """How many terms a sum has, with those in brackets in it."""
    count, waiting = 0, [value]
    while waiting:
        terms = waiting.pop().terms
        count += len(terms)
        waiting += [factor.base for term in terms for factor in term.factors if isinstance(factor.base, Sum)]
    return count


def _inside(factor: Power, waiting: list[Sum], calls: dict[Call, None], angles: set[Sum]) -> None:
    if isinstance(factor.base, Sum):
        waiting.append(factor.base)
    elif isinstance(factor.base, Call) and factor.base not in calls:
        calls[factor.base] = None
        waiting += [argument for argument in factor.base.arguments if argument not in angles]
        angles.update(factor.base.arguments)
