"""How a description is read where it does not say everything itself: the options for it, and the reading."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
    root, xacro, package_dirs, include_root, swap_limits, drop_free_armature
        As in `linkwise.files.ReadOptions`.
    """

    dialect: str | None = None
    convention: str | None = None
    angles: str | None = None
    any_inertia: bool = False
    root: str | None = None
    xacro: dict[str, str] | None = None
    package_dirs: tuple[str, ...] = ()
    include_root: str | None = None
    swap_limits: bool = False
    drop_free_armature: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """The keyword options of `linkwise.files.read`."""
        same = ("root", "xacro", "package_dirs", "include_root", "swap_limits", "drop_free_armature")
        return {"physical": not self.any_inertia, **{name: getattr(self, name) for name in same}}


def reading_options(function: Function) -> Function:
    """Add the options of reading to a command, from --dialect to --drop-free-armature; `spoken` has their values."""
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
        click.option(
            "--root",
            metavar="NAME",
            help="The link (URDF) or body (MJCF) to read with all that hangs on it, of a file with several roots.",
            **_kept("root"),
        ),
        click.option(
            "--xacro",
            metavar="NAME=VALUE",
            multiple=True,
            help="A value for an argument of a .xacro file; may be repeated.",
            **_kept("xacro", _arguments),
        ),
        click.option(
            "--package-dir",
            "package_dirs",
            metavar="FOLDER",
            multiple=True,
            type=click.Path(exists=True, file_okay=False),
            help="A folder that holds packages, or is one, for $(find package), and package:// in `view`; may be repeated.",
            **_kept("package_dirs"),
        ),
        click.option(
            "--include-root",
            metavar="FOLDER",
            type=click.Path(exists=True, file_okay=False),
            help="A folder from which an MJCF file may include files, besides its own.",
            **_kept("include_root"),
        ),
        click.option("--swap-limits", is_flag=True, help="Exchange reversed limits of a URDF.", **_kept("swap_limits")),
        click.option(
            "--drop-free-armature",
            is_flag=True,
            help="Leave out the armature of a free joint of an MJCF file.",
            **_kept("drop_free_armature"),
        ),
    )
    for option in reversed(options):
        function = option(function)
    return function


def _arguments(values: Sequence[str]) -> dict[str, str] | None:
    """Names and values of xacro arguments; None where there are none."""
    pairs = [value.partition("=") for value in values]
    for (name, sign, _), value in zip(pairs, values, strict=True):
        if not name.removesuffix(":") or not sign:
            raise click.BadParameter(f"{value!r} is no NAME=VALUE", param_hint="--xacro")
    return {name.removesuffix(":"): text for name, _, text in pairs} or None  # (ROS writes NAME:=VALUE)


def _kept(field: str, convert: Callable[[Any], Any] | None = None) -> dict[str, Any]:
    """An option whose value is kept with the command instead of being handed to it."""

    def keep(ctx: click.Context, param: click.Parameter, value: Any) -> None:
        ctx.meta.setdefault(_KEPT, {})[field] = value if convert is None else convert(value)

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


def description(name: str, *, second: bool = False) -> Description:
    """Read what MECHANISM names: a file if there is one, else a bundled robot.

    Parameters
    ----------
    name : str
        The file or robot.
    second : bool
        Whether it is the second description of a command: --root and --xacro are for the first.

    Raises
    ------
    FileError
        Where the file is wrong.
    ArgumentError
        Where there is neither a file nor a robot of that name; it lists the robots.
    """
    from linkwise import robots
    from linkwise.errors import FileError

    said = replace(spoken(), root=None, xacro=None) if second else spoken()
    if os.path.exists(Path(name)):
        if not is_table(name):
            return _read(name, said.options)
        _refuse_unused(name, "a table", said)
        reading = table_reading(name, physical=not said.any_inertia)
        if reading.description is None:
            raise FileError(name, reading.problems)
        return reading.description
    if name in robots.names():
        _refuse_unused(name, "a bundled robot", said)
        return robots.describe(name)
    raise ArgumentError(_neither(name, robots.names()))


def _refuse_unused(name: str, form: str, said: Spoken) -> None:
    """Refuse options that would be silently without effect."""
    from linkwise.files import ReadOptions

    ReadOptions(root=said.root, xacro=said.xacro).refuse_unused(name, form, rooted=False)


def _read(name: str, options: dict[str, Any]) -> Description:
    """Read a file; the advice of messages is that of the command line."""
    from linkwise import files
    from linkwise.errors import FileError

    try:
        return files.read(name, **options)
    except FileError as error:
        raise in_options(error) from error


def in_options(error: FileError) -> FileError:
    """Make the advice of a reader's messages that of the command line."""
    from linkwise.errors import FileError, FileProblem

    told = [FileProblem(problem.line, worded(problem.message)) for problem in error.problems]
    return FileError(error.path, told, error.advice)


def worded(message: str) -> str:
    """Make the advice of one message that of the command line."""
    for keyword, option in _OPTIONS.items():
        message = re.sub(keyword, option, message)
    return message


_OPTIONS = {
    r"reading with physical=False accepts": "--any-inertia accepts",
    r"\broot=('[^']*') reads one": r"--root \1 reads one",
    r"\bxacro=\{\} expands a file of any name": "give its name the suffix .xacro",
    r"\bxacro=\{'(\w+)': \.\.\.\} gives": r"--xacro \1=... gives",
    r"\bpackage_dirs names its folder": "--package-dir names its folder",
    r"\binclude_root names": "--include-root names",
    r"\bswap_limits=True": "--swap-limits",
    r"\bdrop_free_armature=True": "--drop-free-armature",
}
"""What stands in the library's messages, and on the command line for it."""


def _neither(name: str, names: Sequence[str]) -> str:
    import difflib

    from linkwise.files.text import bundled_hint

    near = difflib.get_close_matches(name.lower(), names, 1)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    said = f"there is no file {name!r}{bundled_hint(name)}, and no bundled robot of that name.{guess}"
    return f"{said} The robots are {', '.join(names)}."
