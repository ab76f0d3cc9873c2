"""How a description is read where it does not say everything itself: the options for it, and the reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linkwise.errors import ArgumentError

if TYPE_CHECKING:
    from linkwise.errors import FileError
    from linkwise.files import Description
    from linkwise.files.description import Reading

Function = TypeVar("Function", bound=Callable[..., Any])

_KEPT = "linkwise.spoken"


@dataclass(frozen=True)
class Spoken:
    """What was said of the descriptions that a command reads.

    Attributes
    ----------
    dialect, convention, angles : str or None
        What a Denavit-Hartenberg table (.csv) means.
    any_inertia : bool
        Whether inertias are taken that no body can have.
    """

    dialect: str | None = None
    convention: str | None = None
    angles: str | None = None
    any_inertia: bool = False


def reading_options(function: Function) -> Function:
    """Add --dialect, --convention, --angles and --any-inertia to a command; `spoken` tells what was said."""
    known = "linkwise, matlab, python or toolbox7"
    options = (
        click.option(
            "--dialect", metavar="NAME", help=f"What the columns of a .csv table are: {known}.", **_kept("dialect")
        ),
        click.option(
            "--convention",
            metavar="NAME",
            help="Of a table that does not say it: standard or modified.",
            **_kept("convention"),
        ),
        click.option(
            "--angles",
            metavar="UNIT",
            help="A table's angles: rad (as the toolboxes) or deg.",
            **_kept("angles"),
        ),
        click.option(
            "--any-inertia",
            is_flag=True,
            help="Take inertias that no body can have, as many a URDF holds.",
            **_kept("any_inertia"),
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _kept(field: str) -> dict[str, Any]:
    """An option whose value is kept with the command instead of being handed to it."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        ctx.meta.setdefault(_KEPT, {})[field] = value

    return {"expose_value": False, "callback": keep}


def spoken() -> Spoken:
    """What was said to the command that runs."""
    return Spoken(**click.get_current_context().meta.get(_KEPT, {}))


def is_table(path: str) -> bool:
    """Whether a file is taken for a Denavit-Hartenberg table."""
    return path.lower().endswith(".csv")


def table_reading(path: str, *, physical: bool = True) -> Reading:
    """Read a table as far as it goes.

    Raises
    ------
    FileError
        Where it cannot be opened, or its dialect was not said.
    """
    from linkwise.errors import FileError
    from linkwise.files.dh.table import parse, said_dialect, undecided
    from linkwise.files.text import LARGEST_DESCRIPTION, read_text

    said = spoken()
    text = read_text(path, LARGEST_DESCRIPTION)
    dialect = said.dialect or said_dialect(text)
    if dialect is None:
        raise FileError(path, [undecided(text)], "name it with --dialect")
    options = {"convention": said.convention, "angles": said.angles}
    return parse(text, Path(path).stem, dialect=dialect, physical=physical, **options)


def description(name: str) -> Description:
    """Read what MECHANISM names: a file if there is one, else a bundled robot.

    Raises
    ------
    FileError
        Where the file is wrong.
    ArgumentError
        Where there is neither a file nor a robot of that name; it lists the robots.
    """
    from linkwise import robots
    from linkwise.errors import FileError

    physical = not spoken().any_inertia
    if Path(name).exists():
        if not is_table(name):
            return _read(name, physical)
        reading = table_reading(name, physical=physical)
        if reading.description is None:
            raise FileError(name, reading.problems)
        return reading.description
    if name in robots.names():
        return robots.describe(name)
    raise ArgumentError(_neither(name, robots.names()))


def _read(name: str, physical: bool) -> Description:
    """Read a file; the advice of messages is that of the command line."""
    from linkwise import files
    from linkwise.errors import FileError

    try:
        return files.read(name, physical=physical)
    except FileError as error:
        raise in_options(error) from error


def in_options(error: FileError) -> FileError:
    """Make the advice of a reader's messages that of the command line."""
    from linkwise.errors import FileError, FileProblem

    told = [FileProblem(problem.line, worded(problem.message)) for problem in error.problems]
    return FileError(error.path, told, error.advice)


def worded(message: str) -> str:
    """Make the advice of one message that of the command line."""
    return message.replace("reading with physical=False accepts", "--any-inertia accepts")


def _neither(name: str, names: Sequence[str]) -> str:
    import difflib

    from linkwise.files.text import bundled_hint

    near = difflib.get_close_matches(name.lower(), names, 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    said = f"there is no file {name!r}{bundled_hint(name)}, and no bundled robot of that name.{guess}"
    return f"{said} The robots are {', '.join(names)}."
