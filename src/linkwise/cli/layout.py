"""How tables stand on the screen: the console, a table's borders, and how numbers are written in it."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from linkwise.cli.summary import Extremes

WIDEST = 1000
"""No table needs as many columns."""

PIPED_WIDTH = 120
"""Columns where the output is no terminal and COLUMNS is not set."""


def console(*, stderr: bool = False) -> Console:
    """Make the console: as wide as the terminal or COLUMNS says, wide enough for every table where neither does."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else PIPED_WIDTH
    return Console(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)


def put(screen: Console, title: str, table: Table) -> None:
    """Print a table under its title, as wide as it needs: digits are never cut off, cells never broken over lines."""
    from rich.measure import Measurement

    screen.print(title, style="bold")
    given = screen.width
    needed = Measurement.get(screen, screen.options.update(max_width=WIDEST), table).maximum
    screen.width = max(given, needed)
    screen.print(table)
    screen.width = given


def new_table(*columns: str, left: tuple[int, ...] = (0,)) -> Table:
    """Make an empty table; columns are flush right but those named in ``left``."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(columns):
        table.add_column(name, justify="left" if k in left else "right")
    return table


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
