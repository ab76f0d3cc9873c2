"""What is printed, in a form that belongs to no language: names, products, sums and assignments in readable order.

What the given names of a listing mean: coordinates, speeds, efforts, and parameters of standard names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any

from linkwise.expr.node import Expr, is_parameter
from linkwise.kernel.tape import Tape
from linkwise.model.inertia import Inertia
from linkwise.model.motor import Motor
from linkwise.model.tree import Tree


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
    """A factor: a base with a whole exponent other than 0; a negative one stands in a denominator."""

    base: Name | Call | Sum
    exponent: int = 1


@dataclass(frozen=True)
class Term:
    """A number times factors."""

    number: float
    factors: tuple[Power, ...] = ()


@dataclass(frozen=True)
class Sum:
    """Terms in the order in which they are written; none stand for zero."""

    terms: tuple[Term, ...] = ()


def leaf(name: str) -> Sum:
    """A name as a sum."""
    return Sum((Term(1.0, (Power(Name(name)),)),))


@dataclass(frozen=True)
class Assignment:
    """What a name stands for.

    Attributes
    ----------
    name : str
        Of the variable or of the result.
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
    if len(shape) > 1:
        return prod(shape[:-1]), shape[-1]
    return (shape[0] if shape else 1), 1


@dataclass(frozen=True)
class Listing:
    """Everything that is printed of one result.

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
    """

    title: str
    sections: tuple[Section, ...]
    outputs: Mapping[str, tuple[int, ...]]
    meanings: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    origins: Mapping[str, Any] = field(default_factory=dict)


def given_meanings(tree: Tree, tape: Tape, listing: Listing) -> dict[str, str]:
    """What the names that a listing uses and does not assign mean, where that is known."""
    used = names_in(listing)
    meanings: dict[str, str] = {}
    slides = {tree.coordinates[k]: link.joint == "prismatic" for k, link in enumerate(tree.links) if link.moves}
    names = dict(zip(range(tree.n), tree.joint_names, strict=True)) if hasattr(tree, "joint_names") else {}
    for letter, what, unit in (("q", "coordinate", ""), ("qd", "speed", "/s"), ("qdd", "acceleration", "/s2")):
        for k in range(tree.n):
            if f"{letter}{k + 1}" in used:
                called = f" ({names[k]})" if k in names else ""
                meanings[f"{letter}{k + 1}"] = f"{what} of joint {k + 1}{called}, {'m' if slides.get(k) else 'rad'}{unit}"
    if "tau" in tape.inputs and any(f"tau{k + 1}" in used for k in range(tree.n)):
        meanings.update({f"tau{k + 1}": f"effort at joint {k + 1}" for k in range(tree.n) if f"tau{k + 1}" in used})
    meanings |= {name: text for name, text in sorted(symbol_meanings(tree).items()) if name in used}
    return _shortened(meanings)


def symbol_meanings(tree: Tree) -> dict[str, str]:
    """What the symbols of a mechanism stand for, of those that stand alone in a field of it."""
    meanings: dict[str, str] = {}
    for value, text in _fields(tree):
        alone = value.args[0] if isinstance(value, Expr) and value.op == "neg" else value
        if isinstance(alone, Expr) and is_parameter(alone):
            meanings.setdefault(str(alone.value), text)
    return meanings


def _fields(tree: Tree) -> Iterator[tuple[Any, str]]:
    """Every number of a mechanism with what it is; links are counted from 1."""
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
        yield link.offset, f"value that is added to coordinate {k}, {'m' if link.joint == 'prismatic' else 'rad'}"
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


def names_in(listing: Listing) -> set[str]:
    """All names that occur in the values of a listing."""
    names: set[str] = set()
    waiting = [line.value for section in listing.sections for line in section.assignments]
    while waiting:
        for term in waiting.pop().terms:
            for factor in term.factors:
                if isinstance(factor.base, Name):
                    names.add(factor.base.text)
                else:
                    waiting += _inner(factor.base)
    return names


def _inner(base: Call | Sum) -> Iterable[Sum]:
    return base.arguments if isinstance(base, Call) else (base,)


def _shortened(found: dict[str, str]) -> dict[str, str]:
    """One line for each kind of thing: where many names say the same of other numbers, the first tells how it goes on."""
    kinds: dict[str, list[str]] = {}
    for name, text in found.items():
        kinds.setdefault(re.sub(r"\d+( \(.*?\))?", "#", text, count=1), []).append(name)
    made = {}
    for names in kinds.values():
        text = found[names[0]]
        letters = list(dict.fromkeys(re.sub(r"\d+$", "", name) for name in names))
        alike = len(names) > 1
        others = names[1:2] if len(letters) == 1 else [next(n for n in names if n.startswith(x)) for x in letters[1:]]
        more = ", ..." if len(names) > 1 + len(others) else ""
        made[names[0]] = f"{text}; {', '.join(f'`{other}`' for other in others)}{more} alike" if alike else text
    return made
