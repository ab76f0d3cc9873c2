"""A recorded history of ports: one row of numbers a cycle, with its time; read by name, written, read back, compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.control import channel as channels_of
from linkwise.control import recording_csv
from linkwise.control.archive import numbers, read_archive, write_archive
from linkwise.control.channel import Channel
from linkwise.control.state import ARRAYS, State, check_kinds, read_channels
from linkwise.errors import ArgumentError, choices, shown
from linkwise.files.atomic import write_text
from linkwise.files.npz import NUMBERS, TEXT, check_limit, refused
from linkwise.spatial.scalar import FloatArray

SUFFIXES = (".csv", ".npz")
HELD = ("times", "periods", "cycles", "values")
START = "start_"
KINDS = {**dict.fromkeys(HELD, NUMBERS), "channels": TEXT, **{START + name: kind for name, kind in ARRAYS.items()}}
"""What an .npz file holds, and of what kind each is."""


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
            table = recording_csv.Table(self.channels, self.times, self.periods, self.cycles, self.values)
            write_text(path, recording_csv.render(table))
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
            table = recording_csv.read(path)
            fields: tuple[Any, ...] = (*table, None)
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
        raise ArgumentError(f"port {shown(name)} was not recorded; there are {_listed(self.names)}")


def _suffix(path: str | Path) -> str:
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise refused(path, f"cannot tell the format from the suffix {suffix!r}; expected {choices(SUFFIXES)}")
    return suffix


def _listed(names: Sequence[str], most: int = 8) -> str:
    told = ", ".join(map(repr, names[:most])) or "(none)"
    return told if len(names) <= most else f"{told}, ... ({len(names)} ports)"
