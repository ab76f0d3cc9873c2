"""Words in colour, on a terminal and nowhere else: what went wrong in red, what deserves a remark in yellow."""

from __future__ import annotations

import os
import sys
from typing import IO, Any

import click


def coloured(stream: IO[Any]) -> bool:
    """Whether colours may be written to a stream: it is a terminal, and neither NO_COLOR nor TERM forbids it.

    NO_COLOR is the convention of no-color.org: set to anything, it means none.
    """
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def painted(text: str, colour: str, *, err: bool = False) -> str:
    """Return a text in a colour where the stream that it goes to shows colours."""
    return click.style(text, fg=colour) if coloured(sys.stderr if err else sys.stdout) else text


def remark(text: str, *, err: bool = False) -> None:
    """Print a remark: something odd that keeps nothing from working."""
    click.echo(f"{painted('remark:', 'yellow', err=err)} {text}", err=err)


def warned(text: str) -> str:
    """Return lines, the word at the head of each that is a remark in its colour.

    Examples
    --------
    >>> warned("remark: no masses are given")
    'remark: no masses are given'
    """
    head = "remark:"
    return "\n".join(
        painted(head, "yellow") + line.removeprefix(head) if line.startswith(head) else line for line in text.split("\n")
    )
