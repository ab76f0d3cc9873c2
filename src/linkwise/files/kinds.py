"""Kinds of values in files: how each is parsed from a document and written so that the same bits come back."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from linkwise.errors import choices
from linkwise.files.toml_text import real, row, text


@dataclass(frozen=True)
class Kind:
    """A kind of value.

    Attributes
    ----------
    expected : str
        What a value must be, for messages.
    parse : callable
        The value of what a document holds, or None where it is not of this kind.
    write : callable
        The value as text that is parsed to the same bits.
    """

    expected: str
    parse: Callable[[Any], Any]
    write: Callable[[Any], str] = real


def any_number(value: Any) -> float | None:
    """A number as a float, infinite ones too; None for what is none, or a whole number beyond all floats."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _finite(value: Any) -> float | None:
    """A finite float; whole numbers are numbers too, true and false are not."""
    number = any_number(value)
    return number if number is not None and math.isfinite(number) else None


def _numbers(value: Any) -> Any:
    """A finite number, or a list of them, or a list of lists of them."""
    if not isinstance(value, list):
        return _finite(value)
    return _all([_numbers(item) for item in value] if len(value) <= 16 else [None])


def _all(values: list[Any]) -> list[Any] | None:
    return None if any(value is None for value in values) else values


def _list_of(size: int, parse: Callable[[Any], Any]) -> Callable[[Any], list[Any] | None]:
    """A parser of a list of that many values."""
    return lambda value: _all([parse(item) for item in value]) if isinstance(value, list) and len(value) == size else None


def rows(values: Iterable[Iterable[Any]]) -> str:
    """A matrix as a list of lists."""
    return "[" + ", ".join(row(line) for line in values) + "]"


def word(*allowed: str) -> Kind:
    """One of some words."""
    return Kind(choices(allowed), lambda value: value if value in allowed else None, text)


def tables(name: str) -> Kind:
    """An array of tables; what is in them is read with their own schema."""
    return Kind(f"one [[{name}]] table or more", lambda value: value if isinstance(value, list) and value else None)


def _is(*types: type) -> Callable[[Any], Any]:
    """A parser of values of some types; True and False are no numbers."""
    return lambda value: value if isinstance(value, types) and (bool in types or not isinstance(value, bool)) else None


TEXT = Kind("text in quotes", _is(str), text)
TEXTS = Kind(
    "a list of texts in quotes",
    lambda value: tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None,
    lambda lines: "[\n" + "".join(f"    {text(line)},\n" for line in lines) + "]",
)
FLAG = Kind("true or false", _is(bool), lambda value: "true" if value else "false")
WHOLE = Kind("a whole number", _is(int), lambda value: str(int(value)))
NUMBER = Kind("a finite number", _finite)
NUMBERS = Kind("finite numbers", _numbers, row)
PAIR = Kind("a list of 2 numbers", _list_of(2, any_number), row)
VECTOR = Kind("a list of 3 finite numbers", _list_of(3, _finite), row)
MATRIX = Kind("a list of 4 rows of 4 finite numbers", _list_of(4, _list_of(4, _finite)), rows)
TEXT_OR_WHOLE = Kind(
    'the name of a link in quotes, its place from 0, or "base"',
    _is(str, int),
    lambda value: text(value) if isinstance(value, str) else str(value),
)
