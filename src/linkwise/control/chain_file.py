"""The .toml file that describes a chain: reading it, checking it, writing it. docs/file-formats.md describes the form."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from linkwise import robots
from linkwise.control.description import ChainDescription
from linkwise.control.links import AXES, GREATEST, links_of, with_starting_dof
from linkwise.control.parser import XACRO, ChainReader, ChainReading, file_mechanism
from linkwise.control.schema import CONSTRAINT, FORMAT, LINK, REGULATOR, SPEED_LIMIT, START, TOP
from linkwise.errors import FileError, FileProblem, LinkwiseError
from linkwise.files.atomic import write_text
from linkwise.files.formats.linkwise_toml import render as render_mechanism
from linkwise.files.report import Description
from linkwise.files.schema import FLAG, WHOLE, Schema, lines, table
from linkwise.files.text import LARGEST_DESCRIPTION, read_text
from linkwise.files.toml_text import TOO_DEEP, parsed, real, row, text
from linkwise.mechanism import Mechanism

_HEADER = re.compile(r"^\n(\[\[?)")


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
    source = read_text(path, LARGEST_DESCRIPTION)
    document, places, problems = parsed(source)
    if problems:
        return ChainReading(None, problems)
    try:
        return ChainReader(places, Path(path), xacro).description(document)
    except RecursionError:
        return ChainReading(None, [FileProblem(0, TOO_DEEP)])


# ── writing ───────────────────────────────────────────────────────────────────────────────────────


def render(description: ChainDescription, folder: Path) -> Iterator[str]:
    """The text of a description that will stand in a folder, in parts, with all bits."""
    named = _reference(description, folder)
    own = named is None and description.mechanism.name == description.name
    links = links_of(description.mechanism, description.q0) if own else None
    settings = {
        key: getattr(description, key) for key in ("name", "period", "calculations_per_cycle", "calculation_precision")
    }
    settings |= {"format": FORMAT, "angles_convention": description.angles}
    settings["starting_dof"] = named[1] if named else links[1] if links else "z"
    if not links:
        settings |= {"mechanism": named[0] if named else None, "q0": description.q0}
    yield from lines(TOP, settings)
    for link in links[0] if links else ():
        yield from table("[[link]]", LINK, {**vars(link), **dict.fromkeys(GREATEST), "joint": link.joint})
    if not links and not named:
        yield "\n[mechanism]\n"
        for part in render_mechanism(Description(description.mechanism)):
            yield _HEADER.sub(r"\n\1mechanism.", part)
    yield from _parts(description)


def _parts(description: ChainDescription) -> Iterator[str]:
    """All tables but those of the mechanism."""
    left = dict(description.values)
    start = {key: left.pop(f"start.{key}") for key in START.fields if f"start.{key}" in left}
    yield from table("[start]", START, start)
    for constraint in description.constraints:
        yield from table("[[constraint]]", CONSTRAINT, constraint)
    for name, schema, between in (("speed_limit", SPEED_LIMIT, "."), ("regulator", REGULATOR, ".regulator.")):
        for owner, values in _by_owner(left, schema, between).items():
            yield from table(f"[[{name}]]", schema, {"link": owner, **values})
    for name, entries in (("routes", description.routes), ("ports", left)):
        if entries:
            yield f"\n[{name}]\n"
            yield from (f"{text(port)} = {_value(value)}\n" for port, value in entries.items())


def _by_owner(left: dict[str, Any], schema: Schema, between: str) -> dict[str, dict[str, Any]]:
    """The values whose names end in a key of the schema, taken out, by what stands before."""
    owned: dict[str, dict[str, Any]] = {}
    for port in list(left):
        for key in schema.fields:
            if port.endswith(between + key):
                owned.setdefault(port.removesuffix(between + key), {})[key] = left.pop(port)
    return owned


def _value(value: Any) -> str:
    if isinstance(value, str | tuple):
        return text(value) if isinstance(value, str) else row(value)
    return FLAG.write(value) if isinstance(value, bool) else WHOLE.write(value) if isinstance(value, int) else real(value)


def _reference(description: ChainDescription, folder: Path) -> tuple[str, str] | None:
    """How the file may refer to the mechanism, and its starting_dof: only by what gives back the same one."""
    for named in (description.reference, description.mechanism.name):
        if isinstance(named, str) and named in robots.names():
            axis = _axis(robots.load(named), description.mechanism)
            if axis:
                return named, axis
    if not isinstance(description.reference, Path):
        return None
    root = folder.resolve()
    near = description.reference.relative_to(root).as_posix() if description.reference.is_relative_to(root) else None
    if near is None or description.reference.suffix.lower() == XACRO:
        return None
    try:
        axis = _axis(file_mechanism(description.reference), description.mechanism)
    except (LinkwiseError, OSError):  # gone since
        return None
    return (near, axis) if axis else None


def _axis(plain: Mechanism, mechanism: Mechanism) -> str | None:
    """The starting_dof that makes one mechanism the other."""
    return next((axis for axis in AXES if with_starting_dof(plain, axis) == mechanism), None)
