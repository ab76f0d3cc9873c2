"""What the commands of ``linkwise spacelib`` share: their names, files that may be the manual's own, output as JSON."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linkwise.cli.words import say

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])


class Programs(click.Group):
    """The programs, listed as they stand in the manual."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the programs in the order in which they were added; the data files come last."""
        found = list(self.commands)
        return sorted(found, key=lambda name: name == "data")

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the program, also by its name in the manual (ROB_MAT), or say which one may have been meant."""
        asked = args[0].lower().replace("_", "-")
        if asked in self.commands:
            return super().resolve_command(ctx, [asked, *args[1:]])
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = difflib.get_close_matches(asked, self.commands, 2)
            guess = (
                f"Did you mean {' or '.join(map(repr, near))}?"
                if near
                else f"There is {', '.join(self.list_commands(ctx))}."
            )
            raise click.UsageError(f"No program {args[0]!r}. {guess}", ctx) from error


def bundled_argument(name: str, **settings: Any) -> Callable[[Function], Function]:
    """Make an argument that is a file, or the name of a bundled one."""
    return click.argument(name, type=click.Path(), shell_complete=_complete, **settings)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the bundled files whose names begin so, and the files here."""
    from click.shell_completion import CompletionItem

    found = complete_bundled(ctx, param, incomplete)
    if not found:
        return [CompletionItem(incomplete, type="file")]
    here = [path.name for path in sorted(Path().iterdir()) if path.name.startswith(incomplete) and path.is_file()]
    bundled = {item.value for item in found}
    return [*found, *(CompletionItem(name) for name in here if name not in bundled)]


def complete_bundled(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the bundled files whose names begin so."""
    from click.shell_completion import CompletionItem

    from linkwise.spacelib.programs.bundled import names

    return [CompletionItem(name) for name in names() if name.startswith(incomplete.upper())]


def file_of(name: str) -> Path:
    """Find the file of a name; say so on the error stream where it is a bundled one, since the output may go to a file.

    Raises
    ------
    FileError
        Where there is no such file.
    """
    from linkwise.spacelib.programs.bundled import found

    path, bundled = found(name)
    if bundled:
        say(f"{path.name}: the bundled file is used, there is none here", err=True)
    return path


def is_screen(out: str | None) -> bool:
    """Whether results are to be printed: no file is named, or S, as SpaceLib's programs take it."""
    return out is None or out.upper() == "S"


def print_entries(entries: Iterator[dict[str, Any]]) -> None:
    """Print a list, an entry at a time; nothing before the first entry is there."""
    for k, entry in enumerate(entries):
        click.echo(("[" if k == 0 else ",\n") + json.dumps(entry), nl=False)
    click.echo("]")
