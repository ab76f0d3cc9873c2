"""Text of numbers and names, and the `Table` that becomes text, HTML and JSON. Knows nothing of mechanisms."""

from __future__ import annotations

import html as markup
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

#: Between columns.
GAP = "  "

#: Titles of columns that hold the units of the columns before them.
UNIT_TITLES = ("", "unit")

Cells = list[str]


# ── numbers and names ─────────────────────────────────────────────────────────────────────────────


def number(value: Any) -> str:
    """Write a number to six digits, without a minus before zero.

    Examples
    --------
    >>> number(0.4318), number(-0.0), number(1e-17)
    ('0.4318', '0', '1e-17')
    """
    try:
        text = f"{float(value):.6g}"
    except (TypeError, ValueError):
        return plain(str(value))
    return "0" if text == "-0" else text


def short(value: float) -> str:
    """Write a number to four digits.

    Examples
    --------
    >>> short(-0.0), short(1234.56)
    ('0', '1235')
    """
    return f"{value + 0.0:.4g}"


def fixed(value: float) -> str:
    """Write four decimals, or an exponent where they would show nothing.

    Examples
    --------
    >>> fixed(0.5), fixed(1e-6), fixed(-1e-15)
    ('0.5000', '1.000e-06', '0.0000')
    """
    if abs(value) < 1e-12 or 5e-5 <= abs(value) < 1e7:
        return f"{abs(value) if abs(value) < 1e-12 else value:.4f}"
    return f"{value:.3e}"


def degrees(angle: Any) -> str:
    """Format an angle given in rad in degrees to six digits; rounding errors of zero become 0°.

    Examples
    --------
    >>> degrees(math.pi / 2), degrees(-1e-17)
    ('90°', '0°')
    """
    try:
        value = math.degrees(float(angle))
    except (TypeError, ValueError):
        return plain(str(angle))
    return number(0.0 if abs(value) < 1e-12 else value) + "°"


def duration(seconds: float) -> str:
    """Write a time with a unit that suits it.

    Examples
    --------
    >>> duration(0.25), duration(6.6e-7), duration(1.5e-8)
    ('250 ms', '660 ns', '15 ns')
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def vector(values: Iterable[Any]) -> str:
    """Numbers with a blank between them."""
    written = (number(value) for value in values)
    return " ".join(f"({text})" if " " in text else text for text in written)


def action(external: Any) -> str:
    """Write a force and a moment (6,).

    Examples
    --------
    >>> action([0, 0, -10, 0, 0.5, 0])
    'force 0 0 -10 N, moment 0 0.5 0 N m'
    """
    return f"force {vector(external[:3])} N, moment {vector(external[3:])} N m"


def counted(count: int, noun: str) -> str:
    """Write a count and its noun, in the plural where it is not one.

    Examples
    --------
    >>> counted(1, "joint"), counted(2000, "instant")
    ('1 joint', '2,000 instants')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def plain(name: object) -> str:
    r"""Escape control characters of a name for a terminal.

    Examples
    --------
    >>> print(plain("arm\x1b[31m"))
    arm\x1b[31m
    """
    return "".join(c if unicodedata.category(c)[0] not in "CZ" or c == " " else repr(c)[1:-1] for c in str(name))


def width(cell: str) -> int:
    """Columns of a text in a terminal: wide characters two, combining ones none."""
    if cell.isascii():
        return len(cell)
    return sum(0 if unicodedata.combining(c) else 1 + (unicodedata.east_asian_width(c) in "WF") for c in cell)


# ── tables ────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class Column:
    """A column of a `Table`.

    Attributes
    ----------
    title : str
        What stands above it, with its unit if it has one.
    key : str
        Its name in JSON; the column is left out there if empty.
    write : callable
        The number format: text of a value that is not text already.
    right : bool or None
        Whether cells are flush right; None decides by whether all are numbers.
    empty : str
        What stands for None.
    """

    title: str
    key: str = ""
    write: Callable[[Any], str] = str
    right: bool | None = None
    empty: str = ""

    def text(self, value: Any) -> str:
        """Write a value."""
        return self.empty if value is None else value if isinstance(value, str) else self.write(value)


class Table:
    """Lines of text, then columns of values.

    Parameters
    ----------
    lines : sequence of str
        What stands above the columns, the title first.
    columns : sequence of Column or str
        The columns; text is the title of one.
    rows : iterable of sequence
        A value for each column: text, or what the column writes. An empty row is a blank line in text.
    keys : int
        How many columns name the row; they come again where a terminal is too narrow for all columns.

    Examples
    --------
    >>> print(laid_out(Table(["speeds"], ["joint", Column("speed", "speed", short)], [("q1", 0.5), ("q2", -12.0)])))
    speeds
    <BLANKLINE>
    joint  speed
    q1       0.5
    q2     -12
    """

    def __init__(
        self, lines: Sequence[str], columns: Sequence[Column | str], rows: Iterable[Sequence[Any]], keys: int = 1
    ) -> None:
        self.lines = tuple(lines)
        self.columns = tuple(Column(column) if isinstance(column, str) else column for column in columns)
        self.values = tuple(map(tuple, rows))
        self.keys = keys

    @property
    def header(self) -> tuple[str, ...]:
        """Titles of the columns."""
        return tuple(column.title for column in self.columns)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """The cells as text."""
        blank = ("",) * len(self.columns)
        return tuple(
            tuple(column.text(value) for column, value in zip(self.columns, row or blank, strict=True))
            for row in self.values
        )

    def data(self) -> list[dict[str, Any]]:
        """The values for JSON: of each row, those of the columns that have a key."""
        keyed = [(k, column.key) for k, column in enumerate(self.columns) if column.key]
        return [{key: row[k] for k, key in keyed} for row in self.values if row]


def as_rows(columns: dict[str, Cells]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Turn named columns into the header and the rows of a `Table`."""
    return tuple(columns), tuple(zip(*columns.values(), strict=True))


def laid_out(table: Table) -> str:
    """Lay the table out in plain text, columns two blanks apart, numbers flush right, their points beneath each other."""
    (head, *rows) = blocks(table, None)[0]
    return "\n".join([*table.lines, "", head, *rows])


def html(table: Table) -> str:
    """Write the table as HTML that takes the colours of the page around it; every name is escaped."""
    title, *notes = (markup.escape(line) for line in table.lines)
    sides = ["right" if flush else "left" for flush in _flush_right(table)]

    def row(tag: str, cells: Sequence[str]) -> str:
        pairs = zip(cells, sides, strict=True)
        inside = (f'<{tag} style="text-align: {side}">{markup.escape(cell)}</{tag}>' for cell, side in pairs)
        return f"<tr>{''.join(inside)}</tr>"

    below = "".join(f"<div><small>{note}</small></div>" for note in notes)
    body = "".join(row("td", cells) for cells in table.rows if any(cells))
    head = row("th", table.header)
    return f"<div><strong>{title}</strong>{below}<table><thead>{head}</thead><tbody>{body}</tbody></table></div>"


def blocks(table: Table, room: int | None, mark: Callable[[str], str] = str) -> list[list[str]]:
    """Lay out the columns in so many columns of a terminal, each block with the key columns; one block where None.

    Parameters
    ----------
    table : Table
        What is laid out.
    room : int or None
        Columns of the terminal.
    mark : callable
        Applied to each padded cell: colours, nothing that takes room.

    Returns
    -------
    list of list of str
        The lines of each block, its head first.
    """
    columns = padded_columns(table)
    sizes = [width(column[0]) for column in columns]
    blocks = []
    for shown in _shares(table, sizes, room):
        lines = zip(*(columns[k] for k in shown), strict=True)
        head, *rows = (GAP.join(map(mark, line)).rstrip() for line in lines)
        blocks.append([head, *rows])
    return blocks


def _shares(table: Table, sizes: Sequence[int], room: int | None) -> list[list[int]]:
    """Columns of each block; a unit, or a title in brackets, stays with the columns before it."""

    def fits(shown: Sequence[int]) -> bool:
        return room is None or sum(sizes[k] for k in shown) + len(GAP) * (len(shown) - 1) <= room

    keys = [*range(table.keys)]
    if fits(range(len(sizes))):
        return [[*range(len(sizes))]]
    groups: list[list[int]] = []
    served = 0
    for k, title in enumerate(table.header[table.keys :], table.keys):
        if title.startswith("[") and groups:
            groups[-1].append(k)
        elif title in UNIT_TITLES and groups:
            for group in groups[served:]:
                group.append(k)
            served = len(groups)
        else:
            groups.append([k])
    shares: list[list[int]] = []
    for group in groups:
        together = sorted({*shares[-1], *group}) if shares else []
        if shares and fits(together):
            shares[-1] = together
        else:
            shares.append([*keys, *group])
    return shares or [keys]


def padded_columns(table: Table) -> list[list[str]]:
    """The columns of a table, each with its title, the cells of a column equally wide."""
    padded = []
    rows = table.rows
    for k, (name, flush) in enumerate(zip(table.header, _flush_right(table), strict=True)):
        shown = [name, *aligned([row[k] for row in rows])]
        size = max(map(width, shown))
        blanks = [" " * (size - width(cell)) for cell in shown]
        padded.append([gap + cell if flush else cell + gap for cell, gap in zip(shown, blanks, strict=True)])
    return padded


def _flush_right(table: Table) -> list[bool]:
    cells = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    pairs = zip(table.columns, cells, strict=True)
    return [all(map(_reads_as_number, texts)) if column.right is None else column.right for column, texts in pairs]


def _reads_as_number(cell: str) -> bool:
    try:
        float(cell.removesuffix("°") or 0)
    except ValueError:
        return False
    return True


# ── decimal points beneath each other ─────────────────────────────────────────────────────────────

_NUMBER = re.compile(r"([-+]?\d+(?:\.\d*)?(?:e[-+]?\d+)?°?)")

#: Separators between the numbers of a cell: a vector, a range, a value and its time.
_BETWEEN = {" ", " .. ", " @ "}

#: Suffixes of the last number of a cell.
_BEHIND = {"", *(f" {unit}{per}" for unit in ("rad", "m", "N", "N m") for per in ("", "/s", "/s²"))}


def aligned(cells: Sequence[str]) -> list[str]:
    """Pad the cells of a column to align decimal points and units.

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
    parts = [_NUMBER.split(cell) for cell in cells]
    if not all(_alignable(row) for row, cell in zip(parts, cells, strict=True) if cell):
        return list(cells)
    halves = [[_halves(row[k], k) for k in range(1, len(row))] for row in parts]
    count = max(map(len, halves), default=0)
    sizes = [
        [max((len(row[k][side]) for row in halves if k < len(row)), default=0) for side in (0, 1)] for k in range(count)
    ]
    return [_joined(row, sizes) if row else "" for row in halves]


def _alignable(parts: list[str]) -> bool:
    """True if a cell, split at its numbers, consists of numbers and separators."""
    return len(parts) > 2 and not parts[0] and set(parts[2:-1:2]) <= _BETWEEN and parts[-1] in _BEHIND


def _halves(part: str, place: int) -> tuple[str, str]:
    """Split a number before its point, with its prefix; other parts are unchanged."""
    if place % 2 == 0:
        return "", part
    cut = min((part.find(mark) for mark in ".e°" if mark in part), default=len(part))
    return part[:cut], part[cut:]


def _joined(row: list[tuple[str, str]], sizes: list[list[int]]) -> str:
    row = row + [("", "")] * (len(sizes) - len(row))
    pairs = zip(row, sizes, strict=True)
    return "".join(first.rjust(before) + second.ljust(after) for (first, second), (before, after) in pairs)
