"""Files of the commands of ``linkwise spacelib``: the manual's own by their names, motions, and what is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from linkwise.cli.command import argument, option
from linkwise.cli.options import names_and_files, refuse
from linkwise.cli.output import say
from linkwise.model.formatting.table import plain
from linkwise.spacelib.programs import bundled, laws
from linkwise.spacelib.programs.motions import Motion, read_motion

DIGITS = option(
    "--digits",
    type=click.Choice(["all", "manual"]),
    default="all",
    help="Digits that read back as the same numbers, or as many as the manual prints.",
)

OUT = argument("out", type=click.Path(), required=False)


def bundled_argument(name: str, **settings: Any) -> click.Argument:
    """Make an argument that is a file, or the name of a bundled one."""
    return argument(name, type=click.Path(), shell_complete=_complete, **settings)


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
    """Offer the bundled files whose names begin so, and the files here."""
    return names_and_files(complete_bundled(ctx, param, incomplete), incomplete)


def complete_bundled(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    """Offer the bundled files whose names begin so."""
    return [name for name in bundled.names() if name.startswith(incomplete.upper())]


def file_of(name: str) -> Path:
    """Find the file of a name; say so on the error stream where it is a bundled one, since the output may go to a file.

    Raises
    ------
    FileError
        Where there is no such file.
    """
    path, is_bundled = bundled.found(name)
    if is_bundled:
        say(f"{path.name}: the bundled file is used, there is none here", err=True)
    return path


def motion_of(name: str, joints: int) -> Motion:
    """Read a motion; the manual's names stand for the laws described there where there is no such file."""
    law = {"TEST.MOT": laws.motor_motion, "JOINT.MOT": laws.joint_motion}.get(name.upper())
    if law is None or os.path.exists(Path(name)):
        return read_motion(file_of(name), joints)
    say(f"{name.upper()}: made by the manual's law of motion, there is no such file here", err=True)
    return law()


def output_file(out: str | None, as_json: bool = False, read: Iterable[str] = ()) -> str | None:
    """The file that is to be written, None where the screen is meant, also by S; one of those that are read is refused."""
    if out is None or out.upper() == "S":
        return None
    if as_json:
        raise click.UsageError("--json prints, and OUT names a file; leave one of them out")
    keep_apart(out, read, "OUT")
    return out


def keep_apart(written: str | Path, others: Iterable[str], name: str) -> None:
    """Refuse a file that would be written over another one of the command, by whatever path.

    Raises
    ------
    click.BadParameter
        Naming the file.
    """
    for other in others:
        same = Path(written) == Path(other)
        with suppress(OSError, ValueError):
            same = Path(written).samefile(other)
        if same:
            refuse(f"{str(written)!r} is also another file of this command, which would be lost; name a new one", name)


def wrote(path: str, contents: str = "") -> str:
    """The line that says that a file was written, and what is in it."""
    return f"wrote {plain(path)}" + (f": {contents}" if contents else "")
