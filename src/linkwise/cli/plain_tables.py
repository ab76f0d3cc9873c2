"""Tables of the model on the screen: plain text in a pipe; on a terminal cut to its width, title bold, head dim."""

from __future__ import annotations

import sys

import click

from linkwise.cli import words
from linkwise.model.table import Table, padded_columns, width

GAP = "  "
"""Between columns."""


def put_table(table: Table, *, space: bool = True) -> None:
    """Print a table after an empty line (if ``space``): its first line as the title, then its other lines, then its columns.

    In a pipe that is what `linkwise.model.table.laid_out` makes.
    """
    if space:
        click.echo()
    titled = False
    for line in table.lines:
        plain = titled or not line or line.startswith(tuple(words.MARKS))
        titled = titled or not plain
        if plain:
            words.say(line)
        else:
            click.echo("\n".join(map(words.title, words.fitted(line).split("\n"))))
    for columns in cut(padded_columns(table), words.columns(sys.stdout)) if table.rows else ():
        click.echo()
        head, *rows = (GAP.join(row).rstrip() for row in zip(*columns, strict=True))
        click.echo(words.painted(head, dim=True))
        for row in rows:
            click.echo(row)


def cut(columns: list[list[str]], room: int | None) -> list[list[list[str]]]:
    """Share columns out among tables that fit into so many columns of a terminal, each with the first column.

    Examples
    --------
    >>> cut([["link", "a   "], ["mass", "   1"], ["Ixx", "  2"]], 12)
    [[['link', 'a   '], ['mass', '   1']], [['link', 'a   '], ['Ixx', '  2']]]
    """
    first, *others = columns
    if room is None or _wide(columns) <= room:
        return [columns]
    made: list[list[list[str]]] = []
    for column in others:
        if made and _wide([*made[-1], column]) <= room:
            made[-1].append(column)
        else:
            made.append([first, column])
    return made or [columns]


def _wide(columns: list[list[str]]) -> int:
    return sum(width(column[0]) for column in columns) + len(GAP) * (len(columns) - 1)
