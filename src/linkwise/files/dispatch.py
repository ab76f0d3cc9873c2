"""One way in and out for every description format: reading by content, writing by suffix."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise.errors import ArgumentError, FileError, FileProblem, choices
from linkwise.files import linkwise_toml, spacelib_dat, toml_write
from linkwise.files.atomic import write_text
from linkwise.files.description import Description, Reading
from linkwise.files.remarks import remarks_on
from linkwise.files.text import read_text
from linkwise.mechanism import Mechanism
from linkwise.model.checks import frozen
from linkwise.spatial.scalar import FloatArray

Parser = Callable[[str, str, bool], Reading]

PARSERS: dict[str, Parser] = {".toml": linkwise_toml.parse, ".dat": spacelib_dat.parse}
"""The reader of each format, by the usual suffix."""

MOST_PROBLEMS = 100
"""How many problems of one file are told at most."""

_NUMERIC = re.compile(r"\s*[+-]?\.?\d[^\s=]*(\s|$)")
_TOML = re.compile(r"(?m)^[ \t]*(\[\[?[^\[\]\n]+\]\]?[ \t]*(#.*)?$|[A-Za-z0-9_\"'.-]+[ \t]*=)")
_XML = re.compile(r"\s*<")


def read(path: str | Path, *, physical: bool = True) -> Description:
    """Read a description: Linkwise .toml or SpaceLib .DAT, told apart by what is in the file, not by its name.

    Parameters
    ----------
    path : str or Path
        The file.
    physical : bool
        Whether every inertia must be that of a body that can exist (unless the file marks it ``physical = false``).
        False accepts a .DAT in which only the moments that matter were filled in.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.

    Examples
    --------
    >>> import linkwise as lw, tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> save(lw.Mechanism([lw.Link.dh(a=0.5, convention="standard", mass=1.0)], name="arm"), folder / "arm.toml")
    >>> read(folder / "arm.toml").mechanism.names
    ('link1',)
    """
    reading = _parse(path, physical)
    if reading.description is None:
        raise FileError(path, _some(reading.problems))
    return reading.description


def load(path: str | Path) -> Mechanism:
    """The mechanism of a description file; see `read`.

    What the file says to act on the tool (``[external]``, the end of a .DAT) is no part of a Mechanism: `read` gives it,
    and it has to be passed to the functions of the mechanism and to `save`.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    """
    return read(path).mechanism


def check(path: str | Path) -> list[FileProblem]:
    """Everything that is wrong with a description file, each with its line; empty when it can be read.

    Examples
    --------
    >>> check("/no/such/file.toml")
    [FileProblem(line=0, message='there is no such file')]
    """
    try:
        return _some(_parse(path, True).problems)
    except FileError as error:
        return list(error.problems)


def remarks(path: str | Path) -> list[FileProblem]:
    """What is odd but not wrong in a description file that can be read: moving links without mass, and the like.

    Of a link that carries a rotor it is told where its inertia is too small to contain the rotor's, as it must where the
    rotor has no body of its own.

    Raises
    ------
    FileError
        Where the file cannot be read at all.
    """
    reading = _parse(path, True)
    if reading.description is None:
        raise FileError(path, _some(reading.problems))
    return remarks_on(reading.description.mechanism, reading)


def save(
    mechanism: Mechanism,
    path: str | Path,
    *,
    external: Any = None,
    source: Sequence[str] = (),
    allow_loss: bool = False,
) -> None:
    """Write a description, as the suffix says: ``.toml`` holds everything, ``.dat`` what SpaceLib knows.

    The file appears whole or not at all. A .DAT names neither the mechanism (the file's name stands for it) nor the
    source of its numbers.

    Parameters
    ----------
    mechanism : Mechanism
        What to write.
    path : str or Path
        The file.
    external : (6,) array_like, optional
        Force (N) and moment (N m) on the tool, tool axes. A Mechanism does not hold them; zero unless given here.
    source : sequence of str
        Where the numbers come from, a line each.
    allow_loss : bool
        Write a .DAT even if it cannot hold the names, limits, motors, base, tool or payload. What would make it a file
        of another mechanism (branches, a floating base), or one that cannot be read again, is refused all the same.

    Raises
    ------
    FileError
        Where the format cannot hold the mechanism, naming everything that would be lost, or nothing can be written.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in PARSERS:
        raise FileError(
            path, [FileProblem(0, f"cannot tell the format from the suffix {suffix!r}; expected {choices(PARSERS)}")]
        )
    wrench = _wrench(external)
    if suffix == ".dat":
        write_text(path, [spacelib_dat.render(path, mechanism, wrench, allow_loss)])
    else:
        write_text(path, list(toml_write.render(Description(mechanism, wrench, tuple(source)))))


def _wrench(external: Any) -> FloatArray:
    made = np.zeros(6) if external is None else np.array(external, dtype=np.float64)
    if made.shape != (6,) or not np.all(np.isfinite(made)):
        raise ArgumentError(f"external is {external!r}; expected 6 finite numbers, force then moment")
    return frozen(made)


def _parse(path: str | Path, physical: bool) -> Reading:
    _refuse_robot(path)
    text = read_text(path)
    return _parser(path, text)(text, Path(path).stem, physical)


def _refuse_robot(path: str | Path) -> None:
    """Say how a bundled robot is loaded where its bare name is given for a file that is not there."""
    from linkwise import robots

    name = str(path).lower()
    if name in robots.names() and not Path(path).exists():
        why = f"there is no such file; the bundled robot of that name is lw.robots.load({name!r})"
        raise FileError(path, [FileProblem(0, why)])


def _parser(path: str | Path, text: str) -> Parser:
    """The reader that the content asks for; where the content says nothing, the suffix decides."""
    if not text.strip():
        raise FileError(path, [FileProblem(0, "the file is empty")])
    if _NUMERIC.match(text):
        return PARSERS[".dat"]
    if not _XML.match(text):
        suffix = Path(path).suffix.lower()
        if _TOML.search(text):
            return PARSERS[".toml"]
        if suffix in PARSERS:
            return PARSERS[suffix]
    raise FileError(path, [FileProblem(1, _unknown(text))])


def _unknown(text: str) -> str:
    first = text.split(maxsplit=1)[0]
    start = first if len(first) <= 20 else first[:20] + "..."
    tried = "Linkwise .toml (keys and [tables]) and SpaceLib .DAT (numbers only)"
    return f"the format is not known; it starts with {start!r}; tried {tried}"


def _some(problems: Sequence[FileProblem]) -> list[FileProblem]:
    left = len(problems) - MOST_PROBLEMS
    return list(problems) if left <= 0 else [*problems[:MOST_PROBLEMS], FileProblem(0, f"and {left} problems more")]
