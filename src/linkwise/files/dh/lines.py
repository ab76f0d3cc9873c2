"""The lines of a table: cells, each line with its number, without blank ones and comments."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from linkwise.errors import FileProblem, choices, members, shown
from linkwise.files.dh.dialects import HEADER, LONGEST, Dialect
from linkwise.files.numbers import number

SEPARATORS = (";", "\t", ",")
_COMMENT = re.compile("[#%]")


@dataclass(frozen=True)
class Line:
    """One line of the table that says something."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Column:
    """A column and the unit that the header states; empty where it needs none or the dialect fixes it."""

    name: str
    unit: str = ""


def lines_of(text: str) -> list[Line]:
    r"""The lines that say something; ``#`` and ``%`` begin a comment.

    Cells are separated by semicolons, tabs or commas, whichever comes first in this list, or else by blanks.

    Examples
    --------
    >>> lines_of("% theta d a alpha\n0, 0.3, 0.5, 0  % shoulder\n")
    [Line(number=2, cells=('0', '0.3', '0.5', '0'))]
    """
    found = []
    for k, raw in enumerate(text.split("\n"), 1):
        line = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if line:
            mark = next((one for one in SEPARATORS if one in line), None)
            found.append(Line(k, tuple(cell.strip() for cell in line.split(mark))))
    return found


def header_columns(line: Line, problems: list[FileProblem]) -> list[Column]:
    """The columns that a header names; what it says wrongly is reported."""
    found = []
    for cell in line.cells:
        name, unit = _name_and_unit(cell)
        if name not in HEADER:
            problems.append(FileProblem(line.number, f"no column {shown(cell)}; there is {choices(HEADER)}"))
        elif unit not in (HEADER[name] or ("",)):
            problems.append(FileProblem(line.number, _unit_text(name, unit)))
        found.append(Column(name, unit))
    names = [column.name for column in found]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        problems.append(FileProblem(line.number, f"the header names {members(twice)} twice"))
    missing = [name for name in ("theta", "d", "a", "alpha") if name not in names]
    if missing:
        problems.append(FileProblem(line.number, f"the header has no column {choices(missing)}"))
    return found


def _unit_text(name: str, unit: str) -> str:
    forms = [f"{name} [{one}]" for one in HEADER[name]] or [name]
    if not unit:
        return f"column {name!r} has no unit; write {choices(forms)}"
    return f"column {name!r} is in {unit!r}; write {choices(forms)}"


def _name_and_unit(cell: str) -> tuple[str, str]:
    name, bracket, unit = cell.partition("[")
    if not bracket or not unit.endswith("]") or any(mark in unit[:-1] for mark in "[]"):
        return cell, ""
    return name.rstrip(), " ".join(unit[:-1].split())


def names_unit(cell: str) -> bool:
    """Whether a cell names a column of the dialect "linkwise" with a unit in brackets, be it the right one."""
    name, unit = _name_and_unit(cell)
    return name in HEADER and bool(unit)


def is_header(line: Line) -> bool:
    """Whether a line holds no number at all, but words."""
    return all(number(cell) is None for cell in line.cells)


def no_header(line: Line, dialect: Dialect) -> FileProblem:
    """The problem of a header where there is none."""
    first = shown(line.cells[0][:LONGEST])
    said = f"{first} ... is a header, and a table in the dialect {dialect.name!r} has none; take it out, or begin it with #"
    return FileProblem(line.number, said)
