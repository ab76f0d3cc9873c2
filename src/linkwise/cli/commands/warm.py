"""Compile the functions that loop over bodies into the cache."""

from __future__ import annotations

from linkwise.cli.command import Options, Output, command, progress_bar
from linkwise.errors import KernelError
from linkwise.kernel import cache
from linkwise.looped.kernel import warm as fill
from linkwise.model.formatting.table import plain


@command()
def warm(options: Options) -> Output:
    """Compile the functions that loop over bodies, once for all mechanisms, and store them in the cache.

    A new mechanism of many bodies then needs no compiling. Functions of small mechanisms are compiled for each mechanism
    at their first call.
    """
    place = cache.directory()
    if place is None:
        raise KernelError(f"the cache is switched off; expected {cache.VARIABLE} to name a folder, or not to be set")
    cache.store("trial", b"kept")
    if cache.load("trial") is None:
        raise KernelError(
            f"nothing can be stored in {plain(place)}; expected a folder that only this user can write to, and free space"
        )
    cache.remove("trial")
    with progress_bar("compiling", options.as_json) as update:
        count = fill(lambda name, done, count: update(description=name, completed=done, total=count, visible=True))
    return Output({"programs": count, "folder": str(place)}, [f"{count} functions are kept in {plain(place)}"])
