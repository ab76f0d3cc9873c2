"""Recordings as .csv: a header of names and units, then a line for each cycle.

Numbers are written in the fewest digits that read back as the very same double. The unit of an int is ``int``; in the place
of the unit of a bool or a choice are its words, with bars between, and its cells are words.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.control.channel import Channel
from linkwise.control.port import Port
from linkwise.control.port_names import ELEMENT_WORDS, element_names
from linkwise.errors import ArgumentError, FileError, FileProblem, choices, shown
from linkwise.files.csv_columns import name_and_unit
from linkwise.files.text import read_text
from linkwise.spatial.scalar import FloatArray

CLOCK = ("t [s]", "dt [s]", "cycle [int]")
BOOLS = ("false", "true")
ROWS = 1 << 10
"""How many rows are turned into text at a time."""


class Table(NamedTuple):
    """What stands in such a file: the fields of a `Recording`."""

    channels: tuple[Channel, ...]
    times: FloatArray
    periods: FloatArray
    cycles: npt.NDArray[np.int64]
    values: FloatArray


def render(table: Table) -> Iterator[str]:
    """The text of the file, in parts."""
    heads = [*CLOCK, *(f"{name} [{_unit(channel)}]" for channel in table.channels for name in channel.elements)]
    yield ",".join(map(_quoted, heads)) + "\n"
    kinds = [channel for channel in table.channels for _ in channel.elements]
    for start in range(0, len(table.times), ROWS):
        part = slice(start, start + ROWS)
        columns: list[Iterator[str]] = [
            map(repr, clock[part].tolist()) for clock in (table.times, table.periods, table.cycles)
        ]
        columns += [_cells(channel, table.values[part, k]) for k, channel in enumerate(kinds)]
        yield "".join(",".join(row) + "\n" for row in zip(*columns, strict=True))


def read(path: str | Path) -> Table:
    """Read a file that was written so.

    Raises
    ------
    FileError
        Where it cannot be read, or a cell is not what its column holds; with the line.
    """
    rows = csv.reader(read_text(path).splitlines())
    try:
        heads = next(rows, [])
        body = [(rows.line_num, row) for row in rows if row]
    except csv.Error as error:
        raise _wrong(path, rows.line_num, f"this is no .csv: {error}") from error
    channels = tuple(_channels(path, heads))
    for line, row in body:
        if len(row) != len(heads):
            raise _wrong(path, line, f"{len(row)} cells; the header has {len(heads)} columns")
    kinds = [Channel("t.s"), Channel("dt.s"), Channel("cycle.int", "int")]
    kinds += [channel for channel in channels for _ in channel.elements]
    made = np.empty((len(body), len(kinds)))
    lines = [line for line, _ in body]
    for k, channel in enumerate(kinds):
        made[:, k] = _numbers(path, heads[k], channel, lines, [row[k] for _, row in body])
    return Table(channels, made[:, 0].copy(), made[:, 1].copy(), made[:, 2].astype(np.int64), made[:, 3:].copy())


def _unit(channel: Channel) -> str:
    if channel.kind == "float":
        return channel.unit
    if channel.kind == "int":
        return "int"
    words = channel.choices if channel.kind == "choice" else BOOLS
    return "|".join(words) + "|" * (len(words) == 1)


def _cells(channel: Channel, column: FloatArray) -> Iterator[str]:
    """The cells of a column."""
    if channel.kind == "float":
        return map(repr, column.tolist())
    if channel.kind == "int":
        return map(str, channel.codes(column).tolist())
    words = [_quoted(word) for word in (channel.choices if channel.kind == "choice" else BOOLS)]
    return (words[code] for code in channel.codes(column).tolist())


def _channels(path: str | Path, heads: Sequence[str]) -> Iterator[Channel]:
    """What the columns after the clock's hold; the elements of a vector or matrix stand together."""
    if tuple(head.strip() for head in heads[:3]) != CLOCK:
        raise _wrong(path, 1, f"the header begins with {shown(heads[:3])}; expected the columns {', '.join(CLOCK)}")
    known: set[str] = set()
    at = len(CLOCK)
    while at < len(heads):
        name, unit = name_and_unit(heads[at])
        if unit is None:
            raise _wrong(path, 1, f"column {shown(heads[at])} has no unit; expected a name and, in brackets, its unit")
        shape: tuple[int, ...] = ()
        owner, _, element = name.rpartition(".")
        if element in ELEMENT_WORDS:
            name, shape = owner, (3,) if len(element) == 1 else (3, 3)
        expected = [f"{each} [{unit}]" for each in element_names(name, shape)]
        if list(heads[at : at + len(expected)]) != expected:
            raise _wrong(
                path, 1, f"columns {shown(list(heads[at : at + len(expected)]))}; expected {choices(expected)} together"
            )
        if name in known:
            raise _wrong(path, 1, f"the header names {name!r} twice")
        known.add(name)
        yield _channel(path, name, shape, unit)
        at += len(expected)


def _channel(path: str | Path, name: str, shape: tuple[int, ...], unit: str) -> Channel:
    words = tuple(unit.removesuffix("|").split("|")) if "|" in unit else ()
    kind: Any = "bool" if words == BOOLS else "choice" if words else "int" if unit == "int" else "float"
    try:
        port = Port(name, "in", kind, shape, unit if kind == "float" else "1", choices=words if kind == "choice" else ())
    except ArgumentError as error:
        raise FileError(path, [FileProblem(1, str(error))]) from error
    return Channel.of(port)._replace(direction="")


def _numbers(path: str | Path, head: str, channel: Channel, lines: Sequence[int], cells: Sequence[str]) -> list[float]:
    """The numbers of a column; where one is none, its line is told."""
    words = channel.choices if channel.kind == "choice" else BOOLS if channel.kind == "bool" else ()
    codes = {word: float(code) for code, word in enumerate(words)}
    try:
        made = [codes[cell.strip()] for cell in cells] if codes else list(map(float, cells))
    except (KeyError, ValueError):
        made = []
    if len(made) == len(cells) and channel.admits(np.array(made)) and (codes or not any("_" in cell for cell in cells)):
        return made
    expected = choices(words) if words else "a whole number" if channel.kind == "int" else "a number"
    wrong = next(k for k, cell in enumerate(cells) if not _is_one(cell, codes, channel))
    raise _wrong(path, lines[wrong], f"column {head!r}: {shown(cells[wrong])} is not {expected}")


def _is_one(cell: str, codes: Mapping[str, float], channel: Channel) -> bool:
    if codes:
        return cell.strip() in codes
    try:
        return "_" not in cell and channel.admits(np.asarray(float(cell)))
    except ValueError:
        return False


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if any(c in cell for c in ',"\r\n;') else cell


def _wrong(path: str | Path, line: int, message: str) -> FileError:
    return FileError(path, [FileProblem(line, message)])
