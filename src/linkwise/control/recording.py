"""A recorded history of ports: one row of numbers a cycle, with its time; read by name, compared, as .npz and as .csv."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.control import signal as channels_of
from linkwise.control.port import ELEMENT_WORDS, Port, element_names
from linkwise.control.signal import Channel
from linkwise.control.state import ARRAYS, State, check_kinds, read_channels
from linkwise.errors import ArgumentError, FileError, FileProblem, choices, members, shown
from linkwise.files.atomic import write_text
from linkwise.files.csv_motion import name_and_unit
from linkwise.files.npz import NUMBERS, TEXT, check_limit, numbers, read_archive, write_archive
from linkwise.files.report import some
from linkwise.files.text import read_text, refused
from linkwise.spatial.scalar import FloatArray

CLOCK = ("t [s]", "dt [s]", "cycle [int]")
BOOLS = ("false", "true")

#: How many rows are turned into text at a time.
ROWS = 1 << 10


def _csv_lines(table: Recording) -> Iterator[str]:
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


def _read_csv(path: str | Path) -> tuple[Any, ...]:
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
    return channels, made[:, 0].copy(), made[:, 1].copy(), made[:, 2].astype(np.int64), made[:, 3:].copy()


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


SUFFIXES = (".csv", ".npz")
HELD = ("times", "periods", "cycles", "values")
START = "start_"

#: What an .npz file holds, and of what kind each is.
KINDS = {**dict.fromkeys(HELD, NUMBERS), "channels": TEXT, **{START + name: kind for name, kind in ARRAYS.items()}}


@dataclass(frozen=True, eq=False)
class Recording:
    """What ports were, cycle by cycle, oldest first.

    Attributes
    ----------
    channels : tuple of Channel
        Which numbers a row of `values` is.
    times : ndarray, shape (T,)
        The time of each recorded cycle, s.
    periods : ndarray, shape (T,)
        Its step dt, s.
    cycles : ndarray of int, shape (T,)
        Its number, counted from 0 where recording began; ascending. Numbers are missing where the recorder was paused.
    values : ndarray, shape (T, N)
        A row for each recorded cycle.
    start : State, optional
        What the chain went on from in the first recorded cycle. An .npz file keeps it, a .csv file does not.

    Raises
    ------
    ArgumentError
        Where the shapes do not fit each other, or the numbers of the cycles do not ascend.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> recorder = arm.record(100)
    >>> arm.step(0.01)
    True
    >>> recorder.recording().times
    array([0.01])
    """

    channels: tuple[Channel, ...]
    times: FloatArray
    periods: FloatArray
    cycles: npt.NDArray[np.int64]
    values: FloatArray
    start: State | None = None

    def __post_init__(self) -> None:
        width = sum(channel.size for channel in self.channels)
        shapes = tuple(getattr(self, name).shape for name in HELD)
        if shapes != ((len(self.times),),) * 3 + ((len(self.times), width),):
            expected = f"T, T, T and (T, {width})"
            raise ArgumentError(f"recording: times, periods, cycles, values have the shapes {shapes}; expected {expected}")
        if (self.cycles[1:] <= self.cycles[:-1]).any() or (self.cycles[:1] < 0).any():
            raise ArgumentError("recording: the numbers of the cycles do not ascend, from 0 or more")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return f"<Recording: {len(self)} cycles, {len(self.channels)} ports, {self.lost} cycles before them lost>"

    @property
    def names(self) -> tuple[str, ...]:
        """The ports recorded, in the order of `values`."""
        return tuple(channel.name for channel in self.channels)

    @property
    def every(self) -> int:
        """The number of cycles from one row to the next; where it differs, the least."""
        return int(np.diff(self.cycles).min()) if len(self) > 1 else 1

    @property
    def lost(self) -> int:
        """How many cycles went by before the first row: they were overwritten, or left out in a pause."""
        return int(self.cycles[0]) if len(self) else 0

    def read(self, name: str) -> npt.NDArray[Any]:
        """The history of a port, oldest first: (T, ...) floats, ints, bools or words.

        Raises
        ------
        ArgumentError
            Where it was not recorded.
        """
        return self._channel(name).decode(self.values[:, self.columns(name)])

    def columns(self, name: str) -> slice:
        """Where a port's numbers stand in a row of `values`."""
        at = self.channels.index(self._channel(name))
        before = sum(channel.size for channel in self.channels[:at])
        return slice(before, before + self.channels[at].size)

    def differing(self, other: Recording) -> dict[str, int]:
        """The ports whose histories differ from another recording's in any bit, each with the first row that does.

        Only ports that both have are compared; where one recording is longer, its further rows differ.
        """
        rows = min(len(self), len(other))
        found = {}
        for channel in self.channels:
            if channel.name not in other.names:
                continue
            mine, its = (np.ascontiguousarray(one.values[:rows, one.columns(channel.name)]) for one in (self, other))
            wrong = np.flatnonzero((mine.view(np.uint64) != its.view(np.uint64)).any(axis=1))
            if len(wrong) or len(self) != len(other):
                found[channel.name] = int(wrong[0]) if len(wrong) else rows
        return found

    def write(self, path: str | Path) -> None:
        """Write a .csv file, for people and other programs, or an .npz file, with every bit; whole or not at all.

        A .csv has the columns ``t [s]``, ``dt [s]``, ``cycle [int]`` and one for each number of each port, with its unit; a
        choice stands there as its word, with all words in the header.

        Raises
        ------
        FileError
            Where the name has another ending, or the file cannot be written.
        """
        if _suffix(path) == ".csv":
            write_text(path, _csv_lines(self))
            return
        arrays: dict[str, Any] = {name: getattr(self, name) for name in HELD}
        arrays["channels"] = np.array(channels_of.to_json(self.channels))
        for name, array in (self.start.arrays() if self.start else {}).items():
            arrays[START + name] = array
        write_archive(path, "recording", arrays)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int | None = None) -> Recording:
        """Read a file that `write` wrote.

        Parameters
        ----------
        path : str or Path
            The file.
        max_bytes : int, optional
            How much an .npz file may hold: 96 MiB of arrays, or eight times its own size where that is more, if left out.

        Raises
        ------
        ArgumentError
            Where max_bytes is no positive whole number.
        FileError
            Where it cannot be read or is no recording, with the line of a .csv.
        """
        check_limit(max_bytes)
        if _suffix(path) == ".csv":
            fields = _read_csv(path)
        else:
            held = read_archive(path, "recording", (*HELD, "channels"), KINDS, max_bytes)
            kinds: tuple[type, ...] = (np.float64, np.float64, np.int64, np.float64)
            found = (numbers(path, name, held, 1 + (name == "values"), kind) for name, kind in zip(HELD, kinds, strict=True))
            begun = {name: held[START + name] for name in ARRAYS if START + name in held}
            start = State.from_arrays(path, begun) if len(begun) == len(ARRAYS) else None
            fields = (read_channels(path, held), *found, start)
        try:
            made = cls(*fields)
        except ArgumentError as error:
            raise refused(path, str(error)) from error
        check_kinds(path, made.channels, made.values)
        return made

    def _channel(self, name: str) -> Channel:
        for channel in self.channels:
            if channel.name == name:
                return channel
        raise ArgumentError(f"port {shown(name)} was not recorded; there are {some(self.names, 8, members)}")


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise refused(path, f"cannot tell the format from the suffix {suffix!r}; expected {choices(SUFFIXES)}")
    return suffix
