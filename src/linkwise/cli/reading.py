"""Options of reading descriptions, declared once, and the reading."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from linkwise.cli.options import did_you_mean
from linkwise.errors import ArgumentError, FileError, FileProblem

if TYPE_CHECKING:
    from linkwise.files import Description
    from linkwise.files.report import Reading


def _pairs(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> dict[str, str] | None:
    """Names and values of xacro arguments; None where there are none."""
    pairs = [value.partition("=") for value in values]
    for (name, sign, _), value in zip(pairs, values, strict=True):
        if not name.removesuffix(":") or not sign:
            raise click.BadParameter(f"{value!r} is not a NAME=VALUE", param_hint="--xacro")
    return {name.removesuffix(":"): text for name, _, text in pairs} or None  # (ROS writes NAME:=VALUE)


_VALUE: dict[str, Any] = {"metavar": "NAME"}
_FOLDER: dict[str, Any] = {"metavar": "FOLDER", "type": click.Path(exists=True, file_okay=False)}


def _option(text: str, default: Any = None, **settings: Any) -> Any:
    """A field of `ReadingOptions` with the help of its option."""
    return field(default=default, metadata={"help": text, **settings})


#: Words in the library's messages, and their options on the command line.
_WORDS = {
    r"reading with physical=False accepts": "--any-inertia accepts",
    r"\broot=('[^']*') reads one": r"--root \1 reads one",
    r"\bxacro=\{\} expands a file of any name": "give its name the suffix .xacro",
    r"\bxacro=\{'(\w+)': \.\.\.\} gives": r"--xacro \1=... gives",
    r"\bpackage_dirs names its folder": "--package-dir names its folder",
    r"\binclude_root names": "--include-root names",
    r"\bswap_limits=True": "--swap-limits",
    r"\bbare_free_joints=True": "--bare-free-joints",
    r"\bdrop_unknown=True": "--drop-unknown",
}


@dataclass(frozen=True)
class ReadingOptions:
    """The values of the options of reading, and the reading of descriptions by them.

    Attributes
    ----------
    dialect, convention, angles : str or None
        What a Denavit-Hartenberg table (.csv) means.
    any_inertia : bool
        Whether inertias are taken that no body can have.
    root, xacro, package_dir, include_root, swap_limits, bare_free_joints, drop_unknown
        As in `linkwise.files.ReadOptions`.
    """

    dialect: str | None = _option("Dialect of a .csv table: linkwise, matlab, python or toolbox7.", **_VALUE)
    convention: str | None = _option("Convention of a table that does not state it: standard or modified.", **_VALUE)
    angles: str | None = _option("Unit of the angles in a table: rad (as the toolboxes) or deg.", metavar="UNIT")
    any_inertia: bool = _option("Accept physically impossible inertias, as in many URDF files.", False, is_flag=True)
    root: str | None = _option(
        "Link (URDF) or body (MJCF) to read with its descendants, for a file with several roots.", **_VALUE
    )
    xacro: Mapping[str, str] | None = _option(
        "Value of an argument of a .xacro file; may be repeated.", metavar="NAME=VALUE", multiple=True, callback=_pairs
    )
    package_dir: tuple[str, ...] = _option(
        "Package, or folder of packages, for $(find package), and for package:// in `view`; may be repeated.",
        (), multiple=True, **_FOLDER,
    )  # fmt: skip
    include_root: str | None = _option("Folder from which an MJCF file may include files, besides its own.", **_FOLDER)
    swap_limits: bool = _option("Exchange reversed limits of a URDF.", False, is_flag=True)
    bare_free_joints: bool = _option("Leave out forces and armature of free joints of an MJCF file.", False, is_flag=True)
    drop_unknown: bool = _option(
        "Leave out elements that have no counterpart here, such as some equalities of MJCF.", False, is_flag=True
    )

    @classmethod
    def options(cls) -> list[click.Option]:
        """The options, from --dialect to --drop-unknown."""
        return [click.Option([f"--{setting.name.replace('_', '-')}"], **setting.metadata) for setting in fields(cls)]

    @property
    def keywords(self) -> dict[str, Any]:
        """The keyword options of `linkwise.files.read`."""
        same = ("root", "xacro", "include_root", "swap_limits", "bare_free_joints", "drop_unknown")
        named = {name: getattr(self, name) for name in same}
        return {"physical": not self.any_inertia, "package_dirs": self.package_dir, **named}

    def table(self, path: str, *, physical: bool | None = None) -> Reading:
        """Read a Denavit-Hartenberg table as far as possible.

        Raises
        ------
        FileError
            Where it cannot be opened, or its dialect was not stated.
        """
        from linkwise.files.formats.dh.table import read_table

        physical = not self.any_inertia if physical is None else physical
        options = {"convention": self.convention, "angles": self.angles, "physical": physical}
        return read_table(path, self.dialect, "name it with --dialect", **options)

    def description(self, name: str) -> Description:
        """Read MECHANISM: a file if there is one, else a bundled robot.

        Raises
        ------
        FileError
            Where the file is wrong.
        ArgumentError
            Where there is neither a file nor a robot of that name; it lists the robots.
        """
        from linkwise import files, robots
        from linkwise.files.text import bundled_hint

        rooted = files.ReadOptions(root=self.root, xacro=self.xacro)
        if os.path.exists(Path(name)):
            if not is_table(name):
                try:
                    return files.read(name, **self.keywords)
                except FileError as error:
                    raise in_options(error) from error
            rooted.refuse_unused(name, "a table")
            reading = self.table(name)
            if reading.description is None:
                raise FileError(name, reading.problems)
            return reading.description
        if name in robots.names():
            rooted.refuse_unused(name, "a bundled robot")
            return robots.describe(name)
        guess = did_you_mean(name, robots.names())
        missing = f"there is no file {name!r}{bundled_hint(name)}, and no bundled robot of that name."
        raise ArgumentError(" ".join(filter(None, [missing, guess, "linkwise robots lists them."])))


def is_table(path: str) -> bool:
    """True if a file counts as a Denavit-Hartenberg table."""
    return path.lower().endswith(".csv")


def in_options(error: FileError) -> FileError:
    """Make the advice of a reader's messages that of the command line."""
    problems = [FileProblem(problem.line, in_option_words(problem.message)) for problem in error.problems]
    return FileError(error.path, problems, error.advice)


def in_option_words(message: str) -> str:
    """Make the advice of one message that of the command line."""
    for keyword, option in _WORDS.items():
        message = re.sub(keyword, option, message)
    return message
