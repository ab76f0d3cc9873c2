"""What the commands of ``linkwise spacelib`` that move something have in common: motions in, text and files out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from linkwise.cli.spacelib_names import file_of, is_screen
from linkwise.cli.words import say

if TYPE_CHECKING:
    from linkwise.spacelib.programs.motions import Motion

digits_option = click.option(
    "--digits",
    type=click.Choice(["all", "manual"]),
    default="all",
    show_default=True,
    help="Digits that read back as the same numbers, or as many as the manual prints.",
)


def file_asked(out: str | None, as_json: bool = False, read: Iterable[str] = (), name: str = "OUT") -> str | None:
    """Tell the file that is to be written, None where the screen is meant; refuse one of those that are read."""
    asked = None if is_screen(out) else out
    if asked is not None and as_json:
        raise click.UsageError("--json prints, and OUT names a file; leave one of them out")
    if asked is not None:
        keep_apart(asked, read, name)
    return asked


def keep_apart(written: str, others: Iterable[str], name: str) -> None:
    """Refuse a file that would be written over another one of the command, by whatever path.

    Raises
    ------
    click.BadParameter
        Naming the file.
    """
    for one in others:
        if _same(written, one):
            what = f"{written!r} is also another file of this command, which would be lost; name a new one"
            raise click.BadParameter(what, param_hint=name)


def _same(one: str, other: str) -> bool:
    with suppress(OSError, ValueError):
        return Path(one).samefile(other)
    return Path(one) == Path(other)


def motion_of(name: str, joints: int) -> Motion:
    """Read a motion; the manual's names stand for the laws described there where there is no such file."""
    from linkwise.spacelib.programs import laws
    from linkwise.spacelib.programs.motions import read_motion

    made = {"TEST.MOT": laws.motor_motion, "JOINT.MOT": laws.joint_motion}.get(name.upper())
    if made is None or os.path.exists(Path(name)):
        return read_motion(file_of(name), joints)
    say(f"{name.upper()}: made by the manual's law of motion, there is no such file here", err=True)
    return made()


def print_parts(parts: Iterator[str]) -> None:
    """Print a text that comes in parts."""
    for part in parts:
        click.echo(part, nl=False)


def wrote(path: str, what: str = "", quiet: bool = False) -> None:
    """Tell that a file was written, and what is in it."""
    from linkwise.model.table import plain

    if not quiet:
        say(f"wrote {plain(path)}" + (f": {what}" if what else ""))
