"""Filling the cache with the machine code that loops over bodies."""

from __future__ import annotations

from linkwise.cli.command import Options, Output, command, progress_bar
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
    cache.store("trial", b"kept")
    if cache.load("trial") is None:
        raise KernelError(
            f"nothing can be kept in {plain(place)}; expected a folder that this user alone may write to, and room"
        )
    cache.remove("trial")
    with progress_bar("compiling", options.as_json) as update:
        count = fill(lambda name, done, count: update(description=name, completed=done, total=count, visible=True))
    return Output({"programs": count, "folder": str(place)}, [f"{count} functions are kept in {plain(place)}"])
