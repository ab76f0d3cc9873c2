"""Base class and registry of the writers of listings: conversion of sums to text, order of terms, brackets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, TypeVar

from linkwise.equations.document import Assignment, Call, Listing, Name, Power, Sum, Term
from linkwise.equations.recursive.document_from_tape import recursive_listing
from linkwise.errors import ArgumentError, shown
from linkwise.kernel import Kernel
from linkwise.kernel import writers as kernels

#: Marks of possible line breaks, outside and inside brackets; they are removed from the output.
BREAK, INSIDE = "\u200b", "\u200c"

#: Least filling of a line that is broken before a term that fits the next line, rather than inside its brackets.
FULL = 0.55


class Writer(ABC):
    """Converts sums to text; each language defines the form of names, numbers, products and calls.

    Parameters
    ----------
    digits : int
        Significant digits of numbers, from 1 to 17.
    """

    def __init__(self, digits: int) -> None:
        self.digits = checked_digits(digits)
        self.rounded = False

    @abstractmethod
    def name(self, text: str) -> str:
        """A name."""

    @abstractmethod
    def number(self, value: float) -> str:
        """A number that is not negative."""

    @abstractmethod
    def product(self, factors: Sequence[str]) -> str:
        """Factors that have been written."""

    @abstractmethod
    def quotient(self, above: Sequence[str], below: Sequence[str]) -> str:
        """Factors over factors."""

    @abstractmethod
    def raised(self, base: str, exponent: int, function: bool) -> str:
        """A power with an exponent of 2 or more."""

    @abstractmethod
    def call(self, function: str, arguments: Sequence[str]) -> str:
        """A function of arguments."""

    def notes(self, listing: Listing) -> list[str]:
        """Final sentences: those of the listing, on omitted zeros, and on rounding."""
        rounded = f"Numbers are rounded to {self.digits} digits." if self.rounded else ""
        return [note for note in (*listing.notes, zeros(listing), rounded) if note]

    def pieces(self, value: Sum) -> Iterator[str]:
        """The terms of a sum, each with the sign before it; a line may be broken between them."""
        for k, term in enumerate(value.terms):
            sign = "-" if term.number < 0 else "+"
            written = self.term(term)
            yield (f"-{written}" if sign == "-" else written) if k == 0 else f"{sign} {written}"
        if not value.terms:
            yield "0"

    def line(self, value: Sum) -> str:
        """A sum with a mark at each place where it may be broken."""
        return f" {BREAK}".join(self.pieces(value))

    def sum(self, value: Sum) -> str:
        """A sum inside of something, with marks of that kind."""
        return f" {INSIDE}".join(self.pieces(value))

    def term(self, term: Term) -> str:
        """A term without its sign."""
        above = [self.power(factor) for factor in term.factors if factor.exponent > 0]
        below = [self.power(Power(factor.base, -factor.exponent)) for factor in term.factors if factor.exponent < 0]
        size = abs(term.number)
        if size != 1 or not above:
            above.insert(0, self.rounding(size))
        return self.quotient(above, below) if below else self.product(above)

    def rounding(self, size: float) -> str:
        """A number, noting whether digits are lost."""
        self.rounded = self.rounded or float(f"{size:.{self.digits}g}") != size
        return self.number(size)

    def power(self, factor: Power) -> str:
        """A factor with a positive exponent."""
        base = factor.base
        if isinstance(base, Name):
            written = self.name(base.text)
        elif isinstance(base, Call):
            written = self.call(base.function, [self.sum(argument) for argument in base.arguments])
        else:
            written = f"({self.sum(base)})"
        return written if factor.exponent == 1 else self.raised(written, factor.exponent, isinstance(base, Call))


def whole(text: str) -> str:
    """Text without the marks."""
    return text.replace(BREAK, "").replace(INSIDE, "")


def filled(text: str, room: float, measure: Callable[[str], float]) -> list[str]:
    """Lines of a sum, broken before signs; inside of brackets only where a term would leave much of a line empty.

    Parameters
    ----------
    text : str
        With its marks.
    room : float
        Width of a line.
    measure : callable
        How wide a text is.
    """
    lines: list[str] = []
    line, width = "", 0.0
    for term in text.split(BREAK):
        size = measure(term)
        parts = term.split(INSIDE) if width + size > room else [term]
        if line and len(parts) > 1 and size <= room and width >= FULL * room:
            parts = [term]
        for part in parts:
            added = measure(part) if len(parts) > 1 else size
            if line and width + added > room:
                lines.append(whole(line).rstrip())
                line, width = "", 0.0
            line += part
            width += added
    return [*lines, whole(line).rstrip()]


def checked_digits(digits: int) -> int:
    """Return the number of digits.

    Raises
    ------
    ArgumentError
        Unless it is a whole number from 1 to 17.
    """
    if isinstance(digits, bool) or not isinstance(digits, int) or not 1 <= digits <= 17:
        raise ArgumentError(f"digits is {shown(digits)}; expected a whole number from 1 to 17")
    return digits


def lines_of(
    assignments: Sequence[Assignment], listing: Listing
) -> list[tuple[list[tuple[str, tuple[int, ...]]], Sum, str]]:
    """Rows of a section: left side, value, comment.

    Elements that are 0 are left out; an element that equals one before it, as in a symmetric matrix, stands on the left of
    that one's line.
    """
    rows: list[tuple[list[tuple[str, tuple[int, ...]]], Sum, str]] = []
    places: dict[str, int] = {}
    for line in assignments:
        is_result = line.name in listing.outputs
        if is_result and not line.value.terms:
            continue
        same = _only_name(line.value)
        if is_result and same in places:
            rows[places[same]][0].append((line.name, line.index))
            continue
        if is_result:
            places[listing.element(line.name, line.index)] = len(rows)
        rows.append(([(line.name, line.index)], line.value, line.comment))
    return rows


def sentence(text: str, named: Callable[[str], str], prose: Callable[[str], str]) -> str:
    """Prose with names between backticks; names and prose are formatted separately."""
    return "".join(named(part) if k % 2 else prose(part) for k, part in enumerate(text.split("`")))


def zeros(listing: Listing) -> str:
    """A sentence on the elements that are left out, empty where there are none."""
    names = []
    for name, shape in listing.outputs.items():
        lines = [line for line in listing.assignments if line.name == name]
        if shape and len({line.index for line in lines if line.value.terms}) < prod(shape):
            names.append(name)
    return f"Elements of {' and '.join(names)} that are not listed are 0." if names else ""


def _only_name(value: Sum) -> str:
    """The name that a value merely repeats, else nothing."""
    if len(value.terms) == 1 and value.terms[0].number == 1 and len(value.terms[0].factors) == 1:
        factor = value.terms[0].factors[0]
        if factor.exponent == 1 and isinstance(factor.base, Name):
            return factor.base.text
    return ""


Write = TypeVar("Write", bound=Callable[..., Any])

#: Writers by name: functions of a listing and options.
WRITERS: dict[str, Callable[..., Any]] = {}


def writer(name: str) -> Callable[[Write], Write]:
    """Register a function of a listing and options; for a kernel it writes the recursive form."""

    def register(function: Write) -> Write:
        WRITERS[name] = function

        @kernels.writer(name)
        def write(kernel: Kernel, **options: Any) -> Any:
            return function(recursive_listing(kernel.tape, title=kernel.name), **options)

        return function

    return register
