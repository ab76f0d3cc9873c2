"""Words as people like to read them: in colour on a terminal and nowhere else, long lines broken between words."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import IO, Any

import click

MARKS = {"remark:": "yellow", "Error:": "red", "not solved": "red", "solved": "green", "lost:": "yellow"}
"""Words at the head of a line, and their colours; what they say stands there without a colour too."""


USUAL = 80
"""Columns of a terminal that does not tell how many it has."""


def forced() -> bool:
    """Whether colours are wanted wherever the output goes: FORCE_COLOR or CLICOLOR_FORCE says so."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


def coloured(stream: IO[Any]) -> bool:
    """Whether colours may be written to a stream: it is a terminal, and neither NO_COLOR nor TERM forbids it.

    NO_COLOR is the convention of no-color.org: set to anything, it means none, even where they are forced.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return forced() or (stream.isatty() and os.environ.get("TERM") != "dumb")


def columns(stream: IO[Any]) -> int | None:
    """How many columns a stream shows; None where it is no terminal, and lines may have any length."""
    if not stream.isatty():
        return None
    said = os.environ.get("COLUMNS", "")
    if said.isdigit() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL
    except OSError:
        return USUAL


def painted(text: str, colour: str = "", *, err: bool = False, **style: bool) -> str:
    """Return a text in a colour or a style (bold, dim) where the stream that it goes to shows colours."""
    return click.style(text, fg=colour or None, **style) if coloured(sys.stderr if err else sys.stdout) else text


def title(text: str) -> str:
    """Return a title, which is bold on a terminal."""
    return painted(text, bold=True)


def ok() -> str:
    """Return the word for what is right, which is green on a terminal."""
    return painted("ok", "green")


def say(text: str, *, err: bool = False) -> None:
    """Print lines; on a terminal they are broken between words, and the first words have their colours."""
    for line in text.split("\n"):
        click.echo(marked(fitted(line, err=err), err=err), err=err)


def remark(text: str, *, err: bool = False) -> None:
    """Print a remark: something odd that keeps nothing from working."""
    say(f"remark: {text}", err=err)


def fitted(line: str, *, err: bool = False) -> str:
    """Break a line that is wider than the terminal between words; what follows is indented by two blanks more."""
    room = columns(sys.stderr if err else sys.stdout)
    if room is None or len(line) <= room:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, max(room, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def marked(text: str, *, err: bool = False) -> str:
    """Return lines, the word at the head of each in its colour if it has one.

    Examples
    --------
    >>> marked("remark: no masses are given")
    'remark: no masses are given'
    """
    return "\n".join(_marked(line, err) for line in text.split("\n"))


def _marked(line: str, err: bool) -> str:
    bare = line.lstrip()
    for head, colour in MARKS.items():
        if bare.startswith(head):
            return line[: len(line) - len(bare)] + painted(head, colour, err=err) + bare.removeprefix(head)
    return line
