"""Declaration of commands, their options, and their output as text or JSON."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import os
import pkgutil
import shutil
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any

import click

from linkwise.cli import commands
from linkwise.cli.options import complete_mechanism, did_you_mean, option_name
from linkwise.cli.reading import ReadingOptions
from linkwise.model.formatting.table import Table, blocks, plain

#: Words at the head of a line or a cell, and their colours; the words say the same without a colour.
MARKS = {
    "remark:": "yellow",
    "Error:": "red",
    "not solved": "red",
    "solved": "green",
    "lost:": "yellow",
    "not reached": "red",
    "at its": "yellow",
}

#: Columns of a terminal that does not report its width.
USUAL_WIDTH = 80


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
        """Write the file; return the line that reports it, or nothing where it could not be written."""
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
    """Text that is printed unchanged, in parts; ``paged`` shows long text a page at a time."""

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
    """A call of the command line: whether JSON is requested, known before the arguments are parsed, and already printed."""

    words: Sequence[str]
    as_json: bool = field(init=False)
    printed: bool = False

    def __post_init__(self) -> None:
        words = list(self.words)
        self.as_json = "--json" in (words[: words.index("--")] if "--" in words else words)

    def fail(self, message: str, error: Exception | None = None) -> None:
        """Print the document of a call that failed, unless there is one: the error, of a file by its lines."""
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


@contextmanager
def progress_bar(words: str, quiet: bool) -> Iterator[Callable[..., None]]:
    """A bar on the error stream, if that is a terminal; yields a function of ``completed``, ``total``, ``description``."""
    if quiet or not sys.stderr.isatty():
        yield lambda **_: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn(words), BarColumn(), TaskProgressColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield partial(bar.update, bar.add_task("", visible=False))


# ── JSON ──────────────────────────────────────────────────────────────────────────────────────────


def _print_json(data: Any, indent: int | None) -> None:
    """Print one JSON document; numbers that are not finite become null, as JSON has none."""
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
    """Print lines and tables, an empty line between a table and its neighbours."""
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
    """True if colours are forced by FORCE_COLOR or CLICOLOR_FORCE, for any output."""
    return any(os.environ.get(name, "0") not in ("", "0") for name in ("FORCE_COLOR", "CLICOLOR_FORCE"))


def coloured(stream: IO[Any]) -> bool:
    """True if a stream accepts colours: it is a terminal, and neither NO_COLOR nor TERM forbids them.

    NO_COLOR is the convention of no-color.org: set to anything, it means none, even where they are forced.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return forced() or (stream.isatty() and os.environ.get("TERM") != "dumb")


def terminal_width(stream: IO[Any]) -> int | None:
    """Width of a stream in columns; None if it is not a terminal, where lines may have any length."""
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
    """Return a text in a colour or a style (bold, dim) if its stream shows colours."""
    return click.style(text, fg=colour or None, **style) if coloured(sys.stderr if err else sys.stdout) else text


def say(text: str, *, err: bool = False) -> None:
    """Print lines; on a terminal they are broken between words, and the first words have their colours."""
    for line in text.split("\n"):
        click.echo("\n".join(marked(part, err=err) for part in fitted(line, err=err).split("\n")), err=err)


def fitted(line: str, *, err: bool = False) -> str:
    """Break a line that is wider than the terminal between words; continuation lines are indented by two more blanks."""
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


#: The group of entry points in which other packages name their commands.
ENTRY_POINTS = "linkwise.commands"

#: Options of a command, by name; ``reading`` has the reading options, ``as_json`` is the flag of JSON output.
Options = SimpleNamespace

Parameter = click.Parameter
Function = Callable[..., "Output | None"]


def option(*names: str, **settings: Any) -> click.Option:
    """Declare an option, as `click.option` does; a default that is no flag is shown in the help."""
    shown = settings.get("default") not in (None, "", True, False)
    declared: dict[str, Any] = {"show_default": shown, "metavar": getattr(settings.get("type"), "metavar", None)}
    return click.Option(names, **declared | settings)


def argument(name: str, **settings: Any) -> click.Argument:
    """Declare an argument, as `click.argument` does."""
    return click.Argument([name], **settings)


def mechanism(**settings: Any) -> click.Argument:
    """Declare the argument MECHANISM: a description file, or the name of a bundled robot."""
    return click.Argument(["mechanism"], shell_complete=complete_mechanism, **settings)


def result_options(named_after: str, figures: str) -> list[click.Option]:
    """Declare the options of commands that write a folder of results: folder, figures, printed tables."""
    folder = f"Folder of the results, created if needed. Default: out/NAME, with the name of the {named_after}."
    return [
        option("-o", "--output", metavar="DIR", type=click.Path(file_okay=False), help=folder),
        option("--figures/--no-figures", default=True, help=figures),
        option("--format", "suffix", type=click.Choice(["png", "svg"]), default="png", help="Format of the figures."),
        option("-q", "--quiet", is_flag=True, help="Print errors only."),
    ]


class Command(click.Command):
    """A command built from a function; calling it prints the function's result.

    Parameters
    ----------
    function : callable
        ``function(options) -> Output``, or ``function(description, options) -> Output`` of a command with a MECHANISM. Its
        docstring is the help. It may return None where it has printed by `linkwise.cli.command.emit` itself.
    parameters : sequence of click.Parameter
        Its arguments and options.
    reading : bool
        Whether it takes the options of reading; one with a MECHANISM does.
    json : bool
        Whether it takes ``--json``.
    **settings
        Those of `click.Command`.
    """

    def __init__(
        self,
        function: Callable[..., Output | None],
        parameters: Sequence[Parameter],
        reading: bool,
        json: bool,
        **settings: Any,
    ) -> None:
        self._function = function
        self._described = any(param.name == "mechanism" for param in parameters)
        reads = ReadingOptions.options() if reading or self._described else []
        as_json = [option("--json", "as_json", is_flag=True, help="Print the results as JSON only.")] * json
        settings = {"name": function.__name__.replace("_", "-"), "help": inspect.getdoc(function)} | settings
        super().__init__(params=[*parameters, *as_json, *reads], callback=self._call, **settings)

    def _call(self, **values: Any) -> int:
        known = {field.name for field in fields(ReadingOptions)}
        reading = ReadingOptions(**{name: values.pop(name) for name in known & values.keys()})
        as_json = values.pop("as_json", False)
        options = Options(**values, reading=reading, as_json=as_json)
        described = [reading.description(options.mechanism)] if self._described else []
        for param in self.params if described else ():
            resolve, value = getattr(param.type, "resolve", None), values.get(str(param.name))
            if resolve is not None and value:
                setattr(options, str(param.name), resolve(value, described[0].mechanism, option_name(param)))
        output = self._function(*described, options)
        if output is None:
            return 0
        emit(output, as_json=as_json)
        return output.status


def command(
    *parameters: Parameter, reading: bool = False, json: bool = True, **settings: Any
) -> Callable[[Function], Command]:
    """Make a command of the decorated function, see `Command`; ``settings`` are those of `click.Command`."""
    return lambda function: Command(function, parameters, reading, json, **settings)


class CommandGroup(click.Group):
    """Commands by name; a wrong name gets a guess at the one that was meant."""

    noun, guesses = "command", 1

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or suggest similar names."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            names = self.list_commands(ctx)
            guess = did_you_mean(args[0].replace("_", "-"), names, self.guesses) or f"Expected {', '.join(names)}."
            raise click.UsageError(f"No {self.noun} {args[0]!r}. {guess}", ctx) from error


class Commands(CommandGroup):
    """The commands of ``linkwise``: files in ``cli/commands``, imported when they are used, and those of other packages.

    Another package adds a command by an entry point in the group ``linkwise.commands``, or by ``app.add_command``.
    """

    first = (
        *("run", "simulate", "ik", "workspace", "path", "sweep", "serve", "show", "view", "derive", "export", "check"),
        *("convert", "bench"),
    )
    """The order in which help lists commands; others come behind, by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        names = {module.name for module in pkgutil.iter_modules(commands.__path__)}
        names |= self.commands.keys() | {point.name for point in _entry_points()}
        order = [*self.first, *sorted(names - {"completion"}), "completion"]
        return [name for name in dict.fromkeys(order) if name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if _file(cmd_name):
            module = importlib.import_module(f"{commands.__name__}.{cmd_name}")
            target = getattr(module, cmd_name)
        elif cmd_name in self.commands:
            target = self.commands[cmd_name]
        else:
            target = next((point.load() for point in _entry_points() if point.name == cmd_name), None)
        return target if isinstance(target, click.Command) else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with the first lines of their files, importing none of them."""
        names = self.list_commands(ctx)
        with formatter.section("Commands"):
            formatter.write_dl([(name, self.short_help_of(ctx, name)) for name in names])

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Offer the commands that begin so."""
        from click.shell_completion import CompletionItem

        names = [name for name in self.list_commands(ctx) if name.startswith(incomplete)]
        items = [CompletionItem(name, help=self.short_help_of(ctx, name)) for name in names]
        return [*items, *click.Command.shell_complete(self, ctx, incomplete)]

    def short_help_of(self, ctx: click.Context, name: str) -> str:
        """The line of help for a command."""
        path = _file(name)
        if path:
            with path.open(encoding="utf-8") as file:
                return file.readline().strip().strip('"')
        target = self.get_command(ctx, name)
        return target.get_short_help_str(100) if target else ""


def _file(name: str) -> Path | None:
    """The file of one of Linkwise's own commands."""
    paths = (Path(folder, f"{name}.py") for folder in commands.__path__)
    return next((path for path in paths if name.isidentifier() and path.is_file()), None)


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS)
