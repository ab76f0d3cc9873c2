"""The options that say what a Denavit-Hartenberg table (.csv) means, and descriptions read with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from linkwise.cli.mechanism import description

if TYPE_CHECKING:
    from linkwise.files import Description
    from linkwise.files.description import Reading

Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Spoken:
    """What was said of the table."""

    dialect: str | None
    convention: str | None
    angles: str | None


def table_options(function: Function) -> Function:
    """Add --dialect, --convention and --angles to a command."""
    made = click.option("--angles", metavar="UNIT", help="What a table's angles are in: rad (as the toolboxes) or deg.")(
        function
    )
    made = click.option("--convention", metavar="NAME", help="Of a table that does not say it: standard or modified.")(made)
    known = "linkwise, matlab, python or toolbox7"
    return click.option("--dialect", metavar="NAME", help=f"What the columns of a .csv table are: {known}.")(made)


def is_table(path: str) -> bool:
    """Whether a file is taken for a Denavit-Hartenberg table."""
    return path.lower().endswith(".csv")


def table_reading(path: str, spoken: Spoken) -> Reading:
    """Read a table as far as it goes.

    Raises
    ------
    FileError
        Where it cannot be opened, or its dialect was not said.
    """
    from pathlib import Path

    from linkwise.errors import FileError
    from linkwise.files.dh.table import parse, undecided
    from linkwise.files.text import LARGEST_DESCRIPTION, read_text

    text = read_text(path, LARGEST_DESCRIPTION)
    if spoken.dialect is None:
        raise FileError(path, [undecided(text)], "name it with --dialect")
    name, convention, angles = Path(path).stem, spoken.convention, spoken.angles
    return parse(text, name, dialect=spoken.dialect, convention=convention, angles=angles)


def described(name: str, spoken: Spoken) -> Description:
    """Read what MECHANISM names, which may be a table.

    Raises
    ------
    FileError
        With everything that is wrong.
    """
    from linkwise.errors import FileError

    if not is_table(name):
        return description(name)
    reading = table_reading(name, spoken)
    if reading.description is None:
        raise FileError(name, reading.problems)
    return reading.description
