"""How tables stand on the screen: the console, a table's borders, and how numbers are written in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from linkwise.cli import words
from linkwise.model.alignment import aligned
from linkwise.model.table import width

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

    from linkwise.cli.summary import Extremes

WIDEST = 1000
"""No table needs as many columns."""

UNITS = ("", "unit")
"""Heads of columns that hold the units of the columns before them."""

PIPED_WIDTH = 120
"""Columns where the output is no terminal and COLUMNS is not set."""


def console(*, stderr: bool = False) -> Console:
    """Make the console: as wide as the terminal or COLUMNS says, wide enough for every table where neither does."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    size = words.columns(stream) or (None if os.environ.get("COLUMNS", "").isdigit() else PIPED_WIDTH)
    style = words.coloured(stream)
    return Console(
        stderr=stderr,
        width=size,
        force_terminal=stream.isatty() or style,
        color_system=("auto" if os.name == "nt" else "standard") if style else None,
        highlight=False,
        markup=False,
        emoji=False,
    )


def put(screen: Console, title: str, table: Table) -> None:
    """Print a table under its title; digits are never cut off, cells never broken over lines.

    What is wider than the terminal is printed as several tables, one below the other, each with the first columns;
    where there is no terminal it stays one.
    """
    screen.print(title, style="bold")
    given = screen.width
    room = given if words.columns(sys.stdout) else WIDEST
    for piece in pieces(screen, table, room):
        screen.width = max(given, _needed(screen, piece))
        screen.print(piece)
    screen.width = given


def pieces(screen: Console, table: Table, room: int) -> list[Table]:
    """Cut a table into tables that each fit into so many columns; numbers get their points beneath each other."""
    whole = _part(table, range(len(table.columns)))
    if _needed(screen, whole) <= room:
        return [whole]
    keys = next((k for k, column in enumerate(table.columns) if column.justify != "left"), 1)
    made: list[list[int]] = []
    for group in _groups(table, keys, lambda shown: _needed(screen, _part(table, shown)) <= room):
        if made and _needed(screen, _part(table, [*range(keys), *made[-1], *group])) <= room:
            made[-1] = [*(k for k in made[-1] if k not in group), *group]
        else:
            made.append(group)
    return [_part(table, [*range(keys), *group]) for group in made]


def _groups(table: Table, keys: int, fits: Callable[[list[int]], bool]) -> list[list[int]]:
    """Columns that belong together: numbers and the unit behind them, which comes again where they are apart."""
    found: list[list[int]] = []
    begun = 0
    for k, column in list(enumerate(table.columns))[keys:]:
        name = str(column.header)
        if name.startswith("[") and found:
            found[-1].append(k)
        elif name in UNITS and found:
            together = [*chain(*found[begun:]), k]
            if fits([*range(keys), *together]):
                found[begun:] = [together]
            else:
                found[begun:] = [[*group, k] for group in found[begun:]]
            begun = len(found)
        else:
            found.append([k])
    return found


def _part(table: Table, shown: Sequence[int]) -> Table:
    """Some columns of a table."""
    made = new_table()
    cells: list[Sequence[RenderableType]] = []
    for column in (table.columns[k] for k in shown):
        head, body, justify = str(column.header), list(column.cells), column.justify
        texts = [cell for cell in body if isinstance(cell, str)]
        if justify == "right" and len(texts) == len(body):
            head, *texts = flush_right([head, *aligned(texts)])
            made.add_column(head, justify="left", style=column.style)  # (rich would strip blanks behind what is flush right)
            cells.append(texts)
        else:
            made.add_column(head, justify=justify, style=column.style)
            cells.append(body)
    for values, row in zip(zip(*cells, strict=True), table.rows, strict=True):
        made.add_row(*values, end_section=row.end_section)
    return made


def flush_right(cells: Sequence[str]) -> list[str]:
    """Put blanks before cells, so that all are equally wide.

    Examples
    --------
    >>> flush_right(["speed", "0.5 "])
    ['speed', ' 0.5 ']
    """
    size = max(map(width, cells))
    return [" " * (size - width(cell)) + cell for cell in cells]


def _needed(screen: Console, table: Table) -> int:
    from rich.measure import Measurement

    return Measurement.get(screen, screen.options.update(max_width=WIDEST), table).maximum


def new_table(*columns: str, left: tuple[int, ...] = (0,)) -> Table:
    """Make an empty table; columns are flush right but those named in ``left``; units are dim, and so is the head."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, header_style="dim", border_style="dim")
    for k, name in enumerate(columns):
        style = "dim" if k and name in UNITS else None
        table.add_column(name, justify="left" if k in left else "right", style=style)
    return table


def flagged(text: str, colour: str) -> Text:
    """A cell that stands out among units."""
    from rich.text import Text

    return Text(text, style=f"not dim {colour}")


def peak(extremes: Extremes, k: int) -> str:
    """Write the largest value of a column and when it came; zero came at no time."""
    if not extremes.peak[k]:
        return "0"
    return f"{short(extremes.peak[k])} @ {short(extremes.peak_time[k])}"


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


def time_text(seconds: float) -> str:
    """Write a time with a unit that suits it.

    Examples
    --------
    >>> time_text(0.25), time_text(6.6e-7), time_text(1.5e-8)
    ('250 ms', '660 ns', '15 ns')
    """
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"
