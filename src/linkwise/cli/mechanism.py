"""The argument MECHANISM: a description file, or the name of a bundled robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.errors import ArgumentError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from linkwise.files import Description


class MechanismName(click.ParamType):
    """Text that names a mechanism; the shell completes it from the bundled robots and from files."""

    name = "mechanism"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Offer the robots whose names begin so; files where none does."""
        from click.shell_completion import CompletionItem

        from linkwise import robots

        found = [CompletionItem(name) for name in robots.names() if name.startswith(incomplete)]
        here = sorted(Path().glob("*")) if found else []
        files = [CompletionItem(path.name) for path in here if path.name.startswith(incomplete) and _describes(path)]
        return found + files if found else [CompletionItem(incomplete, type="file")]


def _describes(path: Path) -> bool:
    return path.suffix.lower() in {".toml", ".dat"} and path.is_file()


def mechanism_argument(**settings: Any) -> Any:
    """Make the argument MECHANISM of a command."""
    return click.argument("mechanism", type=MechanismName(), **settings)


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
