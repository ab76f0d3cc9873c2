"""Links from a table of Denavit-Hartenberg parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.errors import ArgumentError, choices, shown
from linkwise.model.link import Link

LETTERS = {"R": "revolute", "P": "prismatic", "F": "fixed"}
COLUMNS = ("theta", "d", "a", "alpha", "b")


def links_from_dh(
    rows: Iterable[Sequence[float]], *, convention: str, order: Sequence[str], joints: str | None
) -> list[Link]:
    """The links ``link1``, ``link2``, ... of a chain; see `Mechanism.from_dh`.

    Raises
    ------
    ArgumentError
        Where columns, letters and rows do not match.
    """
    try:
        table = [tuple(row) for row in rows]
    except TypeError as error:
        raise ArgumentError(f"rows is {shown(rows)}; expected rows of numbers, one for each link") from error
    letters = "R" * len(table) if joints is None else joints
    if sorted(set(order) - {"b"}) != sorted(COLUMNS[:4]) or len(set(order)) != len(order):
        raise ArgumentError(f"order is {tuple(order)!r}; expected each of {choices(COLUMNS[:4])} once, and 'b' if needed")
    if len(letters) != len(table) or not set(letters) <= LETTERS.keys():
        raise ArgumentError(f"joints is {joints!r}; expected {len(table)} letters, each {choices(LETTERS)}")
    for k, row in enumerate(table):
        if len(row) != len(order):
            raise ArgumentError(f"row {k} is {row!r}; expected {len(order)} numbers: {', '.join(order)}")
    links = []
    for k, (row, letter) in enumerate(zip(table, letters, strict=True)):
        numbers: dict[str, Any] = dict(zip(order, row, strict=True))
        links.append(Link.dh(**numbers, convention=convention, joint=LETTERS[letter], name=f"link{k + 1}"))
    return links
