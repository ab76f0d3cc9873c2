"""Filling the cache with the machine code that loops over bodies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from linkwise.cli.command import Options, Output, command
from linkwise.errors import KernelError
from linkwise.kernel import cache
from linkwise.looped.kernel import warm as fill
from linkwise.model.formatting.table import plain


@command()
def warm(options: Options) -> Output:
    """Compile the functions that loop over bodies, once for all mechanisms, and keep them.

    A mechanism of many bodies, seen for the first time, then answers without compiling anything. Functions of small
    mechanisms are compiled for each, when they are first called.
    """
    place = cache.directory()
    if place is None:
        raise KernelError(f"the cache is switched off; expected {cache.VARIABLE} to name a folder, or not to be set")
    with _progress(options.as_json) as progress:
        count = fill(progress)
    return Output({"programs": count, "folder": str(place)}, [f"{count} functions are kept in {plain(place)}"])


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, int, int], None]]:
    """A bar on the error stream, where that is a terminal."""
    if quiet:
        yield lambda name, done, count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (TextColumn("compiling"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")
        yield lambda name, done, count: bar.update(task, description=name, completed=done, total=count)
