"""What is printed, in a form that belongs to no language: names, products, sums and assignments in readable order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod
from typing import Any


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
