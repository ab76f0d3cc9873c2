"""Equations in a form that belongs to no language: names, products, sums and assignments, their meanings and values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from linkwise.expr.node import Expr, is_parameter
from linkwise.kernel.tape import Tape
from linkwise.model.inertia import Inertia
from linkwise.model.motor import Motor
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import Array, FloatArray


@dataclass(frozen=True)
class Name:
    """A symbol, a coordinate or an intermediate variable, in plain text: ``q1``, ``XX2``, ``link mass``."""

    text: str


@dataclass(frozen=True)
class Call:
    """A function of sums: sin, cos, sqrt, abs, sign, atan2, select."""

    function: str
    arguments: tuple[Sum, ...]


@dataclass(frozen=True)
class Power:
    """A factor: a base with a nonzero integer exponent; a negative one belongs to a denominator."""

    base: Name | Call | Sum
    exponent: int = 1


@dataclass(frozen=True)
class Term:
    """A number times factors."""

    number: float
    factors: tuple[Power, ...] = ()


@dataclass(frozen=True)
class Sum:
    """Terms in the order of writing; an empty sum is zero."""

    terms: tuple[Term, ...] = ()


def leaf(name: str) -> Sum:
    """A name as a sum."""
    return Sum((Term(1.0, (Power(Name(name)),)),))


@dataclass(frozen=True)
class Assignment:
    """Definition of a name.

    Attributes
    ----------
    name : str
        Name of the variable or of the result.
    index : tuple of int
        Which element of a result, counted from 0; empty for a scalar.
    value : Sum
        What it is.
    comment : str
        What it means, where that is known.
    """

    name: str
    index: tuple[int, ...]
    value: Sum
    comment: str = ""


@dataclass(frozen=True)
class Section:
    """Assignments under one heading."""

    title: str
    assignments: tuple[Assignment, ...]


def matrix_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    """Rows and columns of the matrix that a result becomes: all axes but the last one after the other, a vector a column."""
    return (prod(shape[:-1]), shape[-1]) if len(shape) > 1 else (prod(shape), 1)


def element_name(name: str, index: Sequence[int], separator: str = "") -> str:
    """Name of an element of a result, counted from 1; the separator stands between its numbers, "_" beside those above 9.

    Examples
    --------
    >>> element_name("M", (0, 1)), element_name("tau", (11,)), element_name("C", (1, 11)), element_name("E", ())
    ('M12', 'tau12', 'C2_12', 'E')
    >>> element_name("M", (0, 1), "_"), element_name("tau", (0,), "_")
    ('M1_2', 'tau1')
    """
    words = [str(place + 1) for place in index]
    return name + ("_" if len(words) > 1 and max(map(len, words)) > 1 else separator).join(words)


def separator_for(shapes: Mapping[str, Sequence[int]], symbols: Iterable[str]) -> str:
    """Separator that keeps elements of matrices apart from symbols: "_" where one is called like a symbol (the mass M11).

    Examples
    --------
    >>> separator_for({"M": (2, 2)}, ["M11", "a1"]), separator_for({"M": (2, 2)}, ["M1", "a1"])
    ('_', '')
    """
    symbols = {*symbols}
    names = (element_name(name, index) for name, shape in shapes.items() if len(shape) > 1 for index in np.ndindex(*shape))
    return "_" if any(name in symbols for name in names) else ""


def by_output(flat: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Each result (..., its shape), by name, from the concatenated elements (..., N) of the results."""
    arrays, start = {}, 0
    for name, shape in shapes.items():
        arrays[name] = flat[..., start : start + prod(shape)].reshape(*flat.shape[:-1], *shape)
        start += prod(shape)
    return arrays


@dataclass(frozen=True)
class Listing:
    """Complete printed form of one result.

    Attributes
    ----------
    title : str
        What it is, of which mechanism.
    sections : tuple of Section
        In order; what an assignment names has been assigned before.
    outputs : mapping of str to tuple of int
        Shapes of the results.
    meanings : mapping of str to str
        What the names that are given mean, with units where known.
    notes : tuple of str
        Sentences below.
    origins : mapping of str to sympy.Symbol
        By their names, the SymPy symbols of the mechanism; every other name is a real symbol in SymPy.
    separator : str
        Between the numbers of an element of a matrix: see `separator_for`.
    """

    title: str
    sections: tuple[Section, ...]
    outputs: Mapping[str, tuple[int, ...]]
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    origins: Mapping[str, Any] = field(default_factory=dict)
    separator: str = ""

    def element(self, name: str, index: Sequence[int]) -> str:
        """Name of an element of a result, or of an intermediate value, which has no index."""
        return element_name(name, index, self.separator)

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        """Assignments of all sections, in order."""
        return tuple(line for section in self.sections for line in section.assignments)


def given_meanings(tree: Tree, tape: Tape, listing: Listing) -> dict[str, str]:
    """Meanings of the names that a listing uses and does not assign, where known."""
    used = names_in(listing)
    meanings: dict[str, str] = {}
    for letter, kind, per in (("q", "coordinate", ""), ("qd", "velocity", "/s"), ("qdd", "acceleration", "/s2")):
        for k in range(tree.n):
            if f"{letter}{k + 1}" in used:
                meanings[f"{letter}{k + 1}"] = f"{kind} of joint {k + 1}, {'m' if tree.is_length[k] else 'rad'}{per}"
    if "tau" in tape.inputs:
        meanings |= {f"tau{k}": f"effort at joint {k}" for k in range(1, tree.n + 1) if f"tau{k}" in used}
    meanings |= {name: text for name, text in sorted(symbol_meanings(tree).items()) if name in used}
    return _shortened(meanings)


def symbol_meanings(tree: Tree) -> dict[str, str]:
    """Meanings of the symbols of a mechanism that are the complete value of a field."""
    meanings: dict[str, str] = {}
    for value, text in _fields(tree):
        alone = value.args[0] if isinstance(value, Expr) and value.op == "neg" else value
        if isinstance(alone, Expr) and is_parameter(alone):
            meanings.setdefault(str(alone.value), text)
    return meanings


def _fields(tree: Tree) -> Iterator[tuple[Any, str]]:
    """Yield every number of a mechanism with its meaning; links are counted from 1."""
    for k, link in enumerate(tree.links, 1):
        row = link.dh_row
        if row is not None:
            yield row.a, f"length of link {k} (Denavit-Hartenberg), m"
            yield row.d, f"offset of link {k} along its joint axis (Denavit-Hartenberg), m"
            yield row.b, f"shift of link {k} (Denavit-Hartenberg), m"
            yield row.alpha, f"twist of link {k} (Denavit-Hartenberg), rad"
            yield row.theta, f"angle of link {k} (Denavit-Hartenberg), rad"
        else:
            yield from ((value, f"place of joint {k} on the link before it, m") for value in link.before[:3, 3])
            yield from ((value, f"place of link {k} on its joint, m") for value in link.after[:3, 3])
        unit = "m" if link.joint_model.is_length else "rad"
        yield link.offset, f"value that is added to coordinate {k}, {unit}"
        yield link.pitch, f"pitch of joint {k}, m/rad"
        yield from _of_body(link.body, f"link {k}")
        if link.motor is not None:
            yield from _of_motor(link.motor, f"motor {k}")
    yield from _of_body(tree.payload, "the payload")
    yield from ((value, "place of the tool on its link, m") for value in tree.tool[:3, 3])
    yield from ((value, "place of the base, m") for value in tree.base[:3, 3])
    yield from ((value, "acceleration of gravity, m/s2") for value in tree.gravity)
    for k, motor in enumerate(tree.motors, 1):
        yield from _of_motor(motor, f"further motor {k}")


def _of_body(body: Inertia, of: str) -> Iterator[tuple[Any, str]]:
    mass, first, tensor = body.values
    yield mass, f"mass of {of}, kg"
    moment = f"first moment of {of} about its frame's origin, kg m"
    yield from ((value, moment if body.by_moments else f"centre of mass of {of} in its frame, m") for value in first)
    about = "its frame's origin" if body.by_moments else "its centre of mass"
    yield from ((value, f"inertia tensor of {of} about {about}, kg m2") for value in tensor.flat)


def _of_motor(motor: Motor, of: str) -> Iterator[tuple[Any, str]]:
    yield motor.inertia, f"rotor inertia of {of}, kg m2"
    yield motor.gear_ratio, f"gear ratio of {of}"
    yield motor.viscous, f"viscous friction of {of}, N m s/rad"
    yield from ((value, f"Coulomb friction of {of}, N m") for value in motor.coulomb)
    yield motor.transition_speed, f"transition speed of Coulomb friction of {of}, rad/s"


def names_in(listing: Listing) -> set[str]:
    """Names in the values of a listing."""
    names: set[str] = set()
    waiting = [line.value for line in listing.assignments]
    while waiting:
        for term in waiting.pop().terms:
            for factor in term.factors:
                if isinstance(factor.base, Name):
                    names.add(factor.base.text)
                else:
                    waiting += factor.base.arguments if isinstance(factor.base, Call) else (factor.base,)
    return names


def _shortened(meanings: dict[str, str]) -> dict[str, str]:
    """Merge meanings of one kind: the first name of a group is explained for all of them."""
    kinds: dict[str, list[str]] = {}
    for name, text in meanings.items():
        kinds.setdefault(re.sub(r"\d+( \(.*?\))?", "#", text, count=1), []).append(name)
    shortened = {}
    for names in kinds.values():
        letters = list(dict.fromkeys(re.sub(r"\d+$", "", name) for name in names))
        others = names[1:2] if len(letters) == 1 else [next(n for n in names if n.startswith(x)) for x in letters[1:]]
        alike = [*(f"`{other}`" for other in others), *(["..."] if len(names) > 1 + len(others) else [])]
        shortened[names[0]] = meanings[names[0]] + (f"; {', '.join(alike)} alike" if alike else "")
    return shortened


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": np.sin,
    "cos": np.cos,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "sign": np.sign,
    "atan2": np.arctan2,
    "select": lambda c, x, y: np.where(c > 0, x, y),
}


def evaluated(listing: Listing, inputs: Mapping[str, Any]) -> dict[str, FloatArray]:
    """Evaluate the printed form, line by line.

    Parameters
    ----------
    listing : Listing
        What to compute.
    inputs : mapping of str to float or ndarray
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
    known: dict[str, Any] = {name: np.asarray(value, dtype=float) for name, value in inputs.items()}
    batch = np.broadcast_shapes(*(value.shape for value in known.values()))
    outputs = {name: np.zeros((*batch, *shape)) for name, shape in listing.outputs.items()}
    for line in listing.assignments:
        value = _sum(line.value, known)
        if line.name in outputs and len(line.index) == len(listing.outputs[line.name]):
            outputs[line.name].T[line.index[::-1]] = np.asarray(value).T
            known[listing.element(line.name, line.index)] = value
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
            value = known[base.text]
        elif isinstance(base, Call):
            value = FUNCTIONS[base.function](*(_sum(argument, known) for argument in base.arguments))
        else:
            value = _sum(base, known)
        product = product * value**factor.exponent if factor.exponent > 0 else product / value**-factor.exponent
    return product


def operations(listing: Listing) -> dict[str, int]:
    """Count the operations of a listing: k factors are k - 1 products, k terms are k - 1 sums; signs are free.

    Numbers other than 1 and -1 are factors; a whole power e of something is e - 1 products. A function counts once for each
    time that it is written with another argument, and the sum in an argument once.
    """
    count = {"mul": 0, "add": 0, "div": 0}
    calls: dict[Call, None] = {}
    angles: set[Sum] = set()
    waiting = [line.value for line in listing.assignments]
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
    """Number of terms of a sum, including those in brackets."""
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
