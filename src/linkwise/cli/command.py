"""How a command is declared: a function from options to an `Output`, its options beside it, registered by its file."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click

from linkwise.cli import commands as own
from linkwise.cli.options import complete_mechanism, did_you_mean, option_name
from linkwise.cli.output import Output, emit
from linkwise.cli.reading import ReadingOptions, reading_options

ENTRY_POINTS = "linkwise.commands"
"""The group of entry points in which other packages name their commands."""

Options = SimpleNamespace
"""The values of a command's options, by name; ``reading`` has those of reading, ``as_json`` whether JSON is asked for."""

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
    """Declare the options of commands that write a folder of results: where, which figures, what is printed."""
    folder = f"Folder of the results; made if needed. Default: out/NAME, NAME being that of the {named_after}."
    return [
        option("-o", "--output", metavar="DIR", type=click.Path(file_okay=False), help=folder),
        option("--figures/--no-figures", default=True, help=figures),
        option("--format", "suffix", type=click.Choice(["png", "svg"]), default="png", help="Of the figures."),
        option("-q", "--quiet", is_flag=True, help="Print nothing but errors."),
    ]


class Command(click.Command):
    """A command made of a function; calling it prints what the function returns.

    Parameters
    ----------
    function : callable
        ``function(options) -> Output``, or ``function(description, options) -> Output`` of a command with a MECHANISM. Its
        docstring is the help. It may return None where it has printed by `linkwise.cli.output.emit` itself.
    parameters : sequence of click.Parameter
        Its arguments and options.
    reading : bool
        Whether it takes the options of reading; one with a MECHANISM does.
    json : bool
        Whether it takes ``--json``.
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
        reads = reading_options() if reading or self._described else []
        as_json = [option("--json", "as_json", is_flag=True, help="Print the results as JSON, and nothing else.")] * json
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
        """Find the command, or say which one may have been meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            names = self.list_commands(ctx)
            guess = did_you_mean(args[0].replace("_", "-"), names, self.guesses) or f"There is {', '.join(names)}."
            raise click.UsageError(f"No {self.noun} {args[0]!r}. {guess}", ctx) from error


class Commands(CommandGroup):
    """The commands of ``linkwise``: files in ``cli/commands``, imported when they are used, and those of other packages.

    Another package adds a command by an entry point in the group ``linkwise.commands``, or by ``app.add_command``.
    """

    first = ("run", "simulate", "ik", "workspace", "serve", "show", "view", "derive", "export", "check", "convert", "bench")
    """The order in which help lists commands; others come behind, by name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name all commands."""
        names = {module.name for module in pkgutil.iter_modules(own.__path__)}
        names |= self.commands.keys() | {point.name for point in _entry_points()}
        order = [*self.first, *sorted(names - {"completion"}), "completion"]
        return [name for name in dict.fromkeys(order) if name in names]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if _file(cmd_name):
            module = importlib.import_module(f"{own.__name__}.{cmd_name}")
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
    paths = (Path(folder, f"{name}.py") for folder in own.__path__)
    return next((path for path in paths if name.isidentifier() and path.is_file()), None)


def _entry_points() -> Any:
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS)
