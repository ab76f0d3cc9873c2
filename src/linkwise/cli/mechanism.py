"""The argument MECHANISM: a description file, or the name of a bundled robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linkwise.errors import ArgumentError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from linkwise.files import Description

Function = TypeVar("Function", bound=Callable[..., Any])


def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer the robots whose names begin so, and the descriptions here; any file where no robot does."""
    from click.shell_completion import CompletionItem

    from linkwise import robots

    found = [name for name in robots.names() if name.startswith(incomplete)]
    if not found:
        return [CompletionItem(incomplete, type="file")]
    here = [path.name for path in sorted(Path().iterdir()) if path.name.startswith(incomplete) and _describes(path)]
    return [CompletionItem(name) for name in [*found, *here]]


def _describes(path: Path) -> bool:
    return path.suffix.lower() in {".toml", ".dat", ".urdf", ".xacro", ".xml"} and path.is_file()


def mechanism_argument(**settings: Any) -> Callable[[Function], Function]:
    """Make the argument MECHANISM of a command."""
    return click.argument("mechanism", shell_complete=complete, **settings)


def description(name: str) -> Description:
    """Read what MECHANISM names: a file if there is one, else a bundled robot.

    Raises
    ------
    FileError
        Where the file is wrong.
    ArgumentError
        Where there is neither a file nor a robot of that name; it lists the robots.
    """
    from linkwise import files, robots

    if Path(name).exists():
        return files.read(name)
    if name in robots.names():
        return robots.describe(name)
    raise ArgumentError(_neither(name, robots.names()))


def _neither(name: str, names: Sequence[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name.lower(), names, 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    return f"there is no file {name!r}, and no bundled robot of that name.{guess} The robots are {', '.join(names)}."
