"""Numbers written in words separated by blanks, as the SpaceLib files hold them: each token with its line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

from linkwise.errors import shown

_TOKEN = re.compile(r"[^ \t\n\v\f]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eEdD][+-]?\d+)?", re.ASCII)
_COMMA = re.compile(r"[+-]?\d*,\d+([eEdD][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_BEGIN = re.compile(r"[+-]?[.,]?(\d|(nan|inf|infinity)(?![a-z]))", re.IGNORECASE | re.ASCII)
_NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)", re.IGNORECASE)


@dataclass(frozen=True)
class Token:
    """A word of a file and the line, counted from 1, on which it stands."""

    text: str
    line: int


def tokens(text: str) -> list[Token]:
    r"""The words of a text whose lines end in ``\n``."""
    return list(each_token(text))


def each_token(text: str) -> Iterator[Token]:
    r"""The words of a text whose lines end in ``\n``, one at a time: a long file needs no list of them."""
    for number, line in enumerate(text.split("\n"), 1):
        for match in _TOKEN.finditer(line):
            yield Token(match.group(), number)


def number(text: str) -> float | None:
    """The finite number that a word says, or None; the exponent may be Fortran's D.

    Examples
    --------
    >>> number("1.5D-3"), number("three")
    (0.0015, None)
    """
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text.replace("D", "e").replace("d", "e"))
    return value if math.isfinite(value) else None


def whole(text: str) -> int | None:
    """The whole number that a word says, also as "3.0", or None.

    Examples
    --------
    >>> whole("3"), whole("3.0"), whole("3.5")
    (3, 3, None)
    """
    if _WHOLE.fullmatch(text):
        return int(text)
    value = number(text)
    return int(value) if value is not None and value.is_integer() and abs(value) < 1e15 else None


def begins_as_number(text: str) -> bool:
    """Whether a word may be meant as a number: a text, such as a comment, does not begin so.

    Examples
    --------
    >>> begins_as_number("0,5"), begins_as_number("--")
    (True, False)
    """
    return _BEGIN.match(text) is not None


def why_not(text: str) -> str:
    """What is wrong with a word that should be a number.

    Examples
    --------
    >>> why_not("0,5")
    "'0,5' has a decimal comma; write '0.5'"
    """
    if _COMMA.fullmatch(text):
        return f"{shown(text)} has a decimal comma; write {shown(text.replace(',', '.'))}"
    if _NUMBER.fullmatch(text):
        return f"{shown(text)} is too large for a number"
    if _NO_NUMBER.fullmatch(text):
        return f"{shown(text)} is not a finite number"
    return f"{shown(text)} is not a number"
