"""Columns of numbers with their decimal points beneath each other."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?°?)")

_BETWEEN = {" ", " .. ", " @ "}
"""What may stand between the numbers of a cell: a vector, a range, a value and its time."""

_BEHIND = {"", *(f" {unit}{per}" for unit in ("rad", "m", "N", "N m") for per in ("", "/s", "/s²"))}
"""What may stand behind the last number of a cell."""


def aligned(cells: Sequence[str]) -> list[str]:
    """Pad the cells of a column so that decimal points stand beneath each other, and so do units.

    A cell may hold several numbers: a vector, a range. A column with anything else in it stays as it is.

    Examples
    --------
    >>> aligned(["0.5", "-12", "3.25"])
    ['  0.5 ', '-12   ', '  3.25']
    >>> aligned(["-160° .. 160°", "", "0.5° .. 1°"])
    ['-160°   .. 160°', '', '   0.5° ..   1°']
    >>> aligned(["q1", "0.5"])
    ['q1', '0.5']
    """
    read = [_NUMBER.split(cell) for cell in cells]
    if not all(_understood(parts) for parts, cell in zip(read, cells, strict=True) if cell):
        return list(cells)
    split = [[_halves(parts[k], k) for k in range(1, len(parts))] for parts in read]
    count = max(map(len, split), default=0)
    sizes = [[max((len(row[k][side]) for row in split if k < len(row)), default=0) for side in (0, 1)] for k in range(count)]
    return [_padded(row, sizes) if row else "" for row in split]


def _understood(parts: list[str]) -> bool:
    """Whether a cell, split at its numbers, is made of numbers and what may stand beside them."""
    return len(parts) > 2 and not parts[0] and set(parts[2:-1:2]) <= _BETWEEN and parts[-1] in _BEHIND


def _halves(part: str, place: int) -> tuple[str, str]:
    """A number before and from its point, with what is not padded in front; other parts whole."""
    if place % 2 == 0:
        return "", part
    cut = min((part.find(mark) for mark in ".e°" if mark in part), default=len(part))
    return part[:cut], part[cut:]


def _padded(row: list[tuple[str, str]], sizes: list[list[int]]) -> str:
    row = row + [("", "")] * (len(sizes) - len(row))
    return "".join(
        first.rjust(before) + rest.ljust(after) for (first, rest), (before, after) in zip(row, sizes, strict=True)
    )
