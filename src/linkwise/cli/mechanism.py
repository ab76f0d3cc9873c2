"""The argument MECHANISM: a description file, or the name of a bundled robot."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

Function = TypeVar("Function", bound=Callable[..., Any])

SUFFIXES = {".toml", ".dat", ".urdf", ".xacro", ".xml", ".csv"}


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
    return path.suffix.lower() in SUFFIXES and os.path.isfile(path)


def mechanism_argument(**settings: Any) -> Callable[[Function], Function]:
    """Make the argument MECHANISM of a command, with the options that say how it is read."""
    return click.argument("mechanism", shell_complete=complete, **settings)
