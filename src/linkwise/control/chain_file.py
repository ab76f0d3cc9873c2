"""The .toml file that describes a chain: reading it, checking it, writing it. docs/file-formats.md describes the form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from linkwise.control.chain_description import ChainDescription
from linkwise.control.chain_reader import ChainReader, ChainReading
from linkwise.control.chain_write import render
from linkwise.errors import FileError, FileProblem
from linkwise.files.atomic import write_text
from linkwise.files.linkwise_toml import parsed
from linkwise.files.text import LARGEST_DESCRIPTION, read_text


def read(path: str | Path, *, xacro: Mapping[str, str] | None = None) -> ChainDescription:
    r"""Read the description of a chain.

    A mechanism that the file refers to by a path is read too, from a place relative to the file's folder, in it or below.
    Its inertias may be those of no body, for a chain computes no forces.

    Parameters
    ----------
    path : str or Path
        The file.
    xacro : mapping of str to str, optional
        Arguments with which a .xacro file is expanded, be they none; without them it is refused, for expanding it runs the
        expressions in it and reads whatever it includes.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    MissingExtraError
        Where the mechanism is a .xacro file, which needs its library.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "crane.toml"
    >>> told = 'format = "linkwise chain 1"\n[[link]]\nname = "boom"\na = 18.0\ntheta = 0.6\n'
    >>> _ = path.write_text(told)
    >>> read(path).q0.tolist()
    [0.6]
    """
    reading = _parse(path, xacro)
    if reading.description is None:
        raise FileError(path, reading.problems)
    return reading.description


def check(path: str | Path, *, xacro: Mapping[str, str] | None = None) -> list[FileProblem]:
    """Everything that is wrong with the file of a chain, each with its line; empty when `read` can read it.

    Examples
    --------
    >>> check("/no/such/chain.toml")
    [FileProblem(line=0, message='there is no such file')]
    """
    try:
        return list(_parse(path, xacro).problems)
    except FileError as error:
        return list(error.problems)


def write(description: ChainDescription, path: str | Path) -> None:
    """Write the description of a chain so that reading it gives back an equal one.

    The mechanism stands in the file by its reference, where that names a bundled mechanism or a file in the folder or below
    it, from which the same one is read; else as rows of links, where it is made of nothing but such; else as a table with
    all of it. The file appears whole or not at all. Comments of a file that stood there are lost.

    Parameters
    ----------
    description : ChainDescription
        What to write.
    path : str or Path
        The file.

    Raises
    ------
    FileError
        Where nothing can be written.
    """
    write_text(path, list(render(description, Path(path).parent)))


def _parse(path: str | Path, xacro: Mapping[str, str] | None) -> ChainReading:
    text = read_text(path, LARGEST_DESCRIPTION)
    document, lines, problems = parsed(text)
    if problems:
        return ChainReading(None, problems)
    try:
        return ChainReader(lines, Path(path), xacro).description(document)
    except RecursionError:
        return ChainReading(None, [FileProblem(0, "tables nested too deeply")])
