"""What a command returns, and the one function that prints it for people or writes it as JSON for programs."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import IO, Any

import click

from linkwise.model.formatting.table import Table, blocks, plain

MARKS = {
    "remark:": "yellow",
    "Error:": "red",
    "not solved": "red",
    "solved": "green",
    "lost:": "yellow",
    "not reached": "red",
    "at its": "yellow",
}
"""Words at the head of a line or a cell, and their colours; the words say the same without a colour."""

USUAL_WIDTH = 80
"""Columns of a terminal that does not say how many it has."""


@dataclass
class File:
    """A file that a command writes after its results are known.

    Attributes
    ----------
    path : Path
        Where; its folder must exist.
    content : callable
        Makes the bytes.
    label : str
        What is printed before the path.
    optional : bool
        Whether the command goes on where an optional library is missing; what is missing is printed on the error stream.
    err : bool
        Whether the path is printed on the error stream, for the output has the results alone.
    """

    path: Path
    content: Callable[[], bytes]
    label: str = "wrote "
    optional: bool = False
    err: bool = False

    def write(self) -> str:
        """Write the file; return the line that says so, or nothing where it could not be made."""
        from linkwise.errors import MissingExtraError
        from linkwise.files.atomic import write_bytes

        try:
            content = self.content()
        except MissingExtraError as error:
            if not self.optional:
                raise
            say(f"\nno {self.label.rstrip(': ')}: {error}", err=True)
            return ""
        write_bytes(self.path, content)
        return f"{self.label}{plain(self.path)}"


@dataclass
class Raw:
    """Text that is printed as it is, in parts; ``paged`` shows what is longer than the terminal a page at a time."""

    parts: Iterable[str]
    paged: bool = False

    def print(self) -> None:
        """Print it."""
        if not self.paged:
            for part in self.parts:
                click.echo(part, nl=False)
            return
        text = "".join(self.parts)
        if sys.stdout.isatty() and text.count("\n") > shutil.get_terminal_size().lines:
            click.echo_via_pager(text)
        else:
            click.echo(text)


@dataclass
class Output:
    """The results of a command.

    Attributes
    ----------
    data : object
        The JSON document, or a function that makes it. An iterator is printed as a list, an entry a line. Where there is
        none, the parts are printed with ``--json`` too.
    parts : iterable
        Lines of text, tables and `Raw` text for people, printed as they come.
    files : sequence of File
        Written after that.
    status : int
        The exit status.
    keep : bool
        Whether the JSON document is printed before the files are written, for it is of use without them.
    line : bool
        Whether the JSON document is one line, for a reader that does not wait for the end of the output.
    """

    data: Any = None
    parts: Iterable[str | Table | Raw] = ()
    files: Sequence[File] = ()
    status: int = 0
    keep: bool = False
    line: bool = False


@dataclass
class Invocation:
    """A call of the command line: whether JSON is asked for, known before words are parsed, and whether it is printed."""

    words: Sequence[str]
    as_json: bool = field(init=False)
    printed: bool = False

    def __post_init__(self) -> None:
        words = list(self.words)
        self.as_json = "--json" in (words[: words.index("--")] if "--" in words else words)

    def fail(self, message: str, error: Exception | None = None) -> None:
        """Print the document of a call that failed, unless there is one: what is wrong, of a file by its lines."""
        from linkwise.errors import FileError

        if self.as_json and not self.printed:
            facts: dict[str, Any] = {"error": message}
            if isinstance(error, FileError):
                problems = [{"line": problem.line, "message": problem.message} for problem in error.problems]
                facts |= {"file": error.path, "problems": problems}
            click.echo(json.dumps(jsonable(facts), indent=2))


def emit(output: Output, *, as_json: bool) -> None:
    """Print the results of a command and write its files."""
    if not as_json or output.data is None:
        _print_parts(output.parts)
        for file in output.files:
            if line := file.write():
                say(line, err=file.err)
        return
    data = output.data() if callable(output.data) else output.data
    if output.keep:
        _print_json(data, None if output.line else 2)
    for file in output.files:
        file.write()
    if not output.keep:
        _print_json(data, None if output.line else 2)


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────


def _print_json(data: Any, indent: int | None) -> None:
    """Print one JSON document; what is no finite number is null, for JSON has none."""
    if isinstance(data, Iterator):
        for k, entry in enumerate(data):
            click.echo(("[" if k == 0 else ",\n") + json.dumps(jsonable(entry)), nl=False)
        click.echo("]")
    else:
        click.echo(json.dumps(jsonable(data), indent=indent, allow_nan=False))
    context = click.get_current_context(silent=True)
    if context is not None and isinstance(context.obj, Invocation):
        context.obj.printed = True


def jsonable(value: Any) -> Any:
    """Return a value in JSON's own kinds: arrays as lists, paths as texts, infinite and undefined numbers as None.

    Examples
    --------
    >>> import numpy as np
    >>> jsonable({"q": np.array([0.5, np.inf]), 2: (True, None)})
    {'q': [0.5, None], '2': [True, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): jsonable(entry) for key, entry in value.items()}
    if hasattr(value, "tolist"):  # (an array or a number of NumPy)
        return jsonable(value.tolist())
    if isinstance(value, list | tuple):
        return [jsonable(entry) for entry in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return fspath(value) if isinstance(value, PathLike) else value


# ── text ──────────────────────────────────────────────────────────────────────────────────────────


def _print_parts(parts: Iterable[str | Table | Raw]) -> None:
    """Print lines and tables, an empty line between a table and what stands beside it."""
    before: str | Table | Raw | None = None
    for part in parts:
        beside_table = isinstance(part, Table) or isinstance(before, Table)
        if before is not None and beside_table and not (isinstance(part, str) and part.startswith("\n")):
            click.echo()
        if isinstance(part, Table):
            _print_table(part)
        elif isinstance(part, Raw):
            part.print()
        else:
            say(part)
        before = part


def _print_table(table: Table) -> None:
    """Print a table: its title, its other lines, then its columns; on a terminal, as many below each other as it takes."""
    for k, line in enumerate(table.lines):
        for part in fitted(line).split("\n"):
            click.echo(part if k else painted(part, bold=True))
    for lines in blocks(table, terminal_width(sys.stdout), marked) if table.values else ():
        head, *rows = lines
        click.echo("\n".join(["", painted(head, dim=True), *rows] if table.lines else [painted(head, dim=True), *rows]))


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


def terminal_width(stream: IO[Any]) -> int | None:
    """How many columns a stream shows; None where it is no terminal, and lines may have any length."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdigit() and int(columns):
        return int(columns)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except OSError:
        return USUAL_WIDTH


def painted(text: str, colour: str = "", *, err: bool = False, **style: bool) -> str:
    """Return a text in a colour or a style (bold, dim) where the stream that it goes to shows colours."""
    return click.style(text, fg=colour or None, **style) if coloured(sys.stderr if err else sys.stdout) else text


def say(text: str, *, err: bool = False) -> None:
    """Print lines; on a terminal they are broken between words, and the first words have their colours."""
    for line in text.split("\n"):
        click.echo("\n".join(marked(part, err=err) for part in fitted(line, err=err).split("\n")), err=err)


def fitted(line: str, *, err: bool = False) -> str:
    """Break a line that is wider than the terminal between words; what follows is indented by two blanks more."""
    room = terminal_width(sys.stderr if err else sys.stdout)
    if room is None or len(line) <= room:
        return line
    indent = " " * (len(line) - len(line.lstrip()) + 2)
    return textwrap.fill(line, max(room, 20), subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def marked(line: str, *, err: bool = False) -> str:
    """Return a line or a cell, the word at its head in its colour if it has one.

    Examples
    --------
    >>> marked("remark: no masses are given")
    'remark: no masses are given'
    """
    bare = line.lstrip()
    for head, colour in MARKS.items():
        if bare.startswith(head):
            return line[: len(line) - len(bare)] + painted(head, colour, err=err) + bare.removeprefix(head)
    return line
