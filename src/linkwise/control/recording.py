"""Recorded histories of ports: `Recording`, its ring buffer `Recorder`, and `replay` of the recorded inputs.

A history has one row of numbers a cycle, with its time. It is written as .npz or .csv.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from linkwise.control import signal as channels_of
from linkwise.control.port import ELEMENT_SHAPES, Port, element_names
from linkwise.control.ports import Ports
from linkwise.control.signal import Channel, differences
from linkwise.control.state import ARRAYS, State, check_kinds, read_channels
from linkwise.errors import ArgumentError, FileError, FileProblem, choices, members, shown
from linkwise.files.atomic import write_text
from linkwise.files.csv_motion import name_and_unit
from linkwise.files.csv_results import quoted
from linkwise.files.npz import NUMBERS, TEXT, check_limit, numbers, read_archive, write_archive
from linkwise.files.report import some
from linkwise.files.text import read_text, refused
from linkwise.spatial.scalar import FloatArray

CLOCK = ("t [s]", "dt [s]", "cycle [int]")
BOOLS = ("false", "true")

#: Rows formatted as text at a time.
ROWS = 1 << 10


def _csv_lines(table: Recording) -> Iterator[str]:
    """The text of the file, in parts."""
    heads = [*CLOCK, *(f"{name} [{_unit(channel)}]" for channel in table.channels for name in channel.elements)]
    yield ",".join(map(quoted, heads)) + "\n"
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
    table = np.empty((len(body), len(kinds)))
    lines = [line for line, _ in body]
    for k, channel in enumerate(kinds):
        table[:, k] = _numbers(path, heads[k], channel, lines, [row[k] for _, row in body])
    return (
        channels,
        table[:, 0].copy(),
        table[:, 1].copy(),
        table[:, 2].astype(np.int64),
        table[:, 3:].copy(),
    )


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
    words = [quoted(word) for word in (channel.choices if channel.kind == "choice" else BOOLS)]
    return (words[code] for code in channel.codes(column).tolist())


def _channels(path: str | Path, heads: Sequence[str]) -> Iterator[Channel]:
    """Channels of the columns after the clock's; elements of a vector or matrix are adjacent."""
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
        if element in ELEMENT_SHAPES:
            name, shape = owner, ELEMENT_SHAPES[element]
        expected = [f"{part} [{unit}]" for part in element_names(name, shape)]
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
    """The numbers of a column; where one is not a number, the error names its line."""
    words = channel.choices if channel.kind == "choice" else BOOLS if channel.kind == "bool" else ()
    codes = {word: float(code) for code, word in enumerate(words)}
    try:
        column = [codes[cell.strip()] for cell in cells] if codes else list(map(float, cells))
    except (KeyError, ValueError):
        column = []
    if len(column) == len(cells) and channel.admits(np.array(column)) and (codes or not any("_" in cell for cell in cells)):
        return column
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


def _wrong(path: str | Path, line: int, message: str) -> FileError:
    return FileError(path, [FileProblem(line, message)])


SUFFIXES = (".csv", ".npz")
HELD = ("times", "periods", "cycles", "values")
START = "start_"

#: Members of an .npz file, with their kinds.
KINDS = {**dict.fromkeys(HELD, NUMBERS), "channels": TEXT, **{START + name: kind for name, kind in ARRAYS.items()}}


@dataclass(frozen=True, eq=False)
class Recording:
    """Values of ports, cycle by cycle, oldest first.

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
        """Number of cycles before the first row, which were overwritten, or skipped in a pause."""
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
        """Slice of a port in a row of `values`."""
        at = self.channels.index(self._channel(name))
        before = sum(channel.size for channel in self.channels[:at])
        return slice(before, before + self.channels[at].size)

    def differing(self, other: Recording) -> dict[str, int]:
        """Ports whose histories differ from another recording's in any bit, each with the first differing row.

        Only ports that both have are compared; where one recording is longer, its further rows differ.
        """
        rows = min(len(self), len(other))
        first_rows = {}
        for channel in self.channels:
            if channel.name not in other.names:
                continue
            mine, its = (np.ascontiguousarray(run.values[:rows, run.columns(channel.name)]) for run in (self, other))
            wrong = np.flatnonzero((mine.view(np.uint64) != its.view(np.uint64)).any(axis=1))
            if len(wrong) or len(self) != len(other):
                first_rows[channel.name] = int(wrong[0]) if len(wrong) else rows
        return first_rows

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
            parts = (numbers(path, name, held, 1 + (name == "values"), kind) for name, kind in zip(HELD, kinds, strict=True))
            begun = {name: held[START + name] for name in ARRAYS if START + name in held}
            start = State.from_arrays(path, begun) if len(begun) == len(ARRAYS) else None
            fields = (read_channels(path, held), *parts, start)
        try:
            recording = cls(*fields)
        except ArgumentError as error:
            raise refused(path, str(error)) from error
        check_kinds(path, recording.channels, recording.values)
        return recording

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


class Recorder:
    """Keeps the last cycles of a chain.

    All memory is taken when it is made: `take` copies one row.

    Parameters
    ----------
    ports : Ports
        The chain's ports.
    length : int
        How many rows it keeps.
    names : str or sequence of str, optional
        Ports or patterns as of `Ports.find`; all if left out.
    every : int
        A row is taken each so many cycles, the first included.
    start : State, optional
        What the chain goes on from; kept with the recording, so that it can be replayed.
    carry : ndarray (M,), optional
        What the cycle keeps for itself, the array itself. Where `start` is given and each cycle is recorded with all inputs
        that are not routed, it is recorded too; the recording then can be replayed also after its first rows were
        overwritten.

    Attributes
    ----------
    paused : bool
        Whether `take` counts cycles without keeping them, as while the recording is replayed.

    Raises
    ------
    ArgumentError
        Where no port fits a name, or a number is not a whole number above 0.

    Examples
    --------
    >>> from linkwise.control.port import Port
    >>> ports = Ports([Port("arm.theta", "in", unit="rad")])
    >>> recorder = Recorder(ports, 2)
    >>> for k in range(3):
    ...     ports.write("arm.theta", 0.1 * k)
    ...     recorder.take(0.01 * k, 0.01)
    >>> recorder.read("arm.theta"), recorder.lost
    (array([0.1, 0.2]), 1)
    """

    def __init__(
        self,
        ports: Ports,
        length: int,
        names: str | Sequence[str] | None = None,
        *,
        every: int = 1,
        start: State | None = None,
        carry: FloatArray | None = None,
    ) -> None:
        length, self._every = _whole("length", length), _whole("every", every)
        chosen = tuple(ports) if names is None else ports.find(*([names] if isinstance(names, str) else names))
        if not chosen:
            raise ArgumentError(f"recorder: names is {shown(names)}; expected at least one port")
        self._channels = tuple(channel for channel in ports.channels if channel.name in set(chosen))
        places = np.concatenate([np.arange(len(ports.values), dtype=np.intp)[ports.slice_of(name)] for name in chosen])
        self._ports, self._values, self._places = ports, ports.values, places
        self._part = ports.values[places[0] : places[-1] + 1] if (np.diff(places) == 1).all() else None
        self._length = length
        inputs = {name for name, port in ports.items() if port.direction == "in"}
        if start is None or self._every > 1 or not inputs <= {*chosen, *start.routes}:
            carry = None
        # one row more than the length: the state after it is that before the oldest row; filled, so that the operating
        # system allocates the memory now and not in a cycle
        rows = length + (carry is not None)
        self._rows = np.full((rows, len(places)), np.nan)
        self._times, self._periods = np.full(rows, np.nan), np.full(rows, np.nan)
        self._carry, self._carries = carry, None if carry is None else np.full((rows, len(carry)), np.nan)
        partial = carry is not None and len(places) < len(ports.values)
        self._wholes = np.full((rows, len(ports.values)), np.nan) if partial else None
        self._routes: list[tuple[int, Mapping[str, str]]] = []
        self._routing: object = None
        self.paused = False
        self._at = self._taken = self._wait = 0
        self._skipped = [(0, 0)]
        self._start = start

    def take(self, time: float, dt: float) -> None:
        """Keep the values of this cycle: its time and its step, s. While paused only count it."""
        if self.paused:
            self._skip()
            return
        if self._wait:
            self._wait -= 1
            return
        self._wait = self._every - 1
        at = self._at
        if self._part is None:
            self._values.take(self._places, 0, self._rows[at], "clip")
        else:
            self._rows[at] = self._part
        if self._carries is not None:
            self._carries[at] = self._carry
            if self._wholes is not None:
                self._wholes[at] = self._values
            if self._ports.routing is not self._routing:
                self._note_routes()
        self._times[at] = time
        self._periods[at] = dt
        self._at = at + 1 if at + 1 < len(self._rows) else 0
        self._taken += 1

    def clear(self, start: State | None = None) -> None:
        """Clear the recorder; the next cycle is number 0, and `start` the state before it."""
        self._at = self._taken = self._wait = 0
        self._skipped = [(0, 0)]
        self._routes.clear()
        self._routing = None
        self._start = start

    def __len__(self) -> int:
        return min(self._taken, self._length)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: the copy would record a chain that is never stepped."""
        raise TypeError("a recorder belongs to one chain; copy its recording()")

    def __bool__(self) -> bool:
        """True, also for an empty recorder."""
        return True

    def __repr__(self) -> str:
        ports = f"{len(self._channels)} port{'s' * (len(self._channels) != 1)}"
        return f"<Recorder: {len(self)} of {self._length} rows of {ports}, {self.lost} rows lost>"

    @property
    def names(self) -> tuple[str, ...]:
        """The ports recorded, in the order of the chain's values."""
        return tuple(channel.name for channel in self._channels)

    @property
    def lost(self) -> int:
        """Number of overwritten rows."""
        return self._taken - len(self)

    @property
    def times(self) -> FloatArray:
        """The time of each row, s, oldest first."""
        return self._times[self._order()]

    @property
    def periods(self) -> FloatArray:
        """The step dt of each row's cycle, s, oldest first."""
        return self._periods[self._order()]

    def read(self, name: str) -> npt.NDArray[Any]:
        """The history of a port, oldest first; see `Recording.read`."""
        return self.recording().read(name)

    def recording(self) -> Recording:
        """Copy the present contents."""
        order = self._order()
        cycles = self._cycles(self.lost, self._taken)
        return Recording(self._channels, self._times[order], self._periods[order], cycles, self._rows[order], self._began())

    def write(self, path: str | Path) -> None:
        """Write the present contents as .csv or .npz; see `Recording.write`."""
        self.recording().write(path)

    @staticmethod
    def load(path: str | Path, *, max_bytes: int | None = None) -> Recording:
        """Read a file that was written; see `Recording.load`."""
        return Recording.load(path, max_bytes=max_bytes)

    def _note_routes(self) -> None:
        """Note which routes there are from this row on, and forget those that no row is left of."""
        self._routing = self._ports.routing
        self._routes.append((self._taken, self._ports.routes))
        while len(self._routes) > 1 and self._routes[1][0] <= self._taken - self._length:
            del self._routes[0]

    def _skip(self) -> None:
        """Count one more skipped cycle before the next row, and drop the state before the oldest row."""
        since, cycles = self._skipped[-1]
        if since == self._taken:
            self._skipped[-1] = (since, cycles + 1)
            return
        self._skipped.append((self._taken, cycles + 1))
        while self._skipped[1][0] < self._taken - self._length:
            del self._skipped[0]

    def _cycles(self, first: int, end: int) -> npt.NDArray[np.int64]:
        """The numbers of the cycles of rows from the first to before the end, those left out counted too."""
        rows = np.arange(first, end, dtype=np.int64)
        since, cycles = np.array(self._skipped, dtype=np.int64).T
        return np.asarray(rows * self._every + cycles[np.searchsorted(since, rows, side="right") - 1])

    def _began(self) -> State | None:
        """State before the oldest row; None if the cycle before it was skipped."""
        if not self.lost:
            return self._start if self._cycles(0, 1)[0] == 0 else None
        if self._carries is None or self._start is None:
            return None
        if np.diff(self._cycles(self.lost - 1, self.lost + 1))[0] != 1:
            return None
        before = (self._at - self._length - 1) % len(self._rows)
        values = (self._rows if self._wholes is None else self._wholes)[before]
        routes = [routes for since, routes in self._routes if since <= self.lost][-1]
        return State(self._start.channels, values, self._carries[before], routes, self._start.settings)

    def _order(self) -> npt.NDArray[np.intp]:
        """The rows, oldest first."""
        return (np.arange(len(self), dtype=np.intp) + self._at - len(self)) % len(self._rows)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise ArgumentError(f"recorder: {name} is {shown(value)}; expected a whole number above 0")
    return int(value)


class Cyclic(Protocol):
    """Interface of a chain that replaying needs."""

    @property
    def ports(self) -> Ports:
        """Its ports; ``step`` applies the routes, reads the inputs and writes the outputs."""

    def step(self, dt: float) -> Any:
        """Run one cycle of dt seconds."""

    def restore(self, state: State) -> Any:
        """Go on from a state."""


def replay(chain: Cyclic, recording: Recording | Recorder, *, from_state: State | None = None) -> Recording:
    """Run the recorded cycles again.

    Every recorded input is given what it was, whether it was written or routed; routed inputs that were not recorded are fed
    as ever. The chain is left where the last cycle leaves it, with its routes.

    Parameters
    ----------
    chain : Chain
        The chain that was recorded, or another one made alike.
    recording : Recording or Recorder
        Every cycle, with all inputs that are not routed. A recorder pauses meanwhile.
    from_state : State, optional
        What the chain goes on from. If left out, the state kept with the recording, or else the chain as it stands.

    Returns
    -------
    Recording
        All ports of the chain, cycle by cycle. ``recording.differing(...)`` of it lists the outputs that differ: none, to
        the bit, where the chain goes on from the same state.

    Raises
    ------
    ArgumentError
        Where the recording lacks an input, has a port that the chain has not or has otherwise, leaves out cycles, or
        lost its first ones and no state is given.

    Examples
    --------
    >>> from linkwise import control, robots
    >>> arm = control.Chain(robots.planar_2r(), control.FixedPosition("hold", "tool", [1.0, 1.0, 0.0]), q0=[0.1, 1.4])
    >>> recorder = arm.record(100)
    >>> [arm.step(0.01) for _ in range(3)]
    [True, True, True]
    >>> recorder.recording().differing(replay(arm, recorder))
    {}
    """
    if isinstance(recording, Recorder):
        before, recording.paused = recording.paused, True
        try:
            return replay(chain, recording.recording(), from_state=from_state)
        finally:
            recording.paused = before
    if not isinstance(recording, Recording):
        raise ArgumentError(f"replay: recording is {shown(recording)}; expected a Recording or a Recorder")
    if from_state is not None and not isinstance(from_state, State):
        raise ArgumentError(f"replay: from_state is {shown(from_state)}; expected a State, as save() gives it")
    state = from_state if from_state is not None else recording.start
    _check(chain.ports, recording, state)
    if state is not None:
        chain.restore(state)
    return _run(chain, recording, state)


def _run(chain: Cyclic, recording: Recording, state: State | None) -> Recording:
    ports = chain.ports
    fed = [(ports.slice_of(name), recording.columns(name)) for name in recording.names if ports[name].direction == "in"]
    history = Recorder(ports, max(1, len(recording)))
    routes = ports.routes
    ports.reroute({target: source for target, source in routes.items() if target not in recording.names})
    try:
        for k, (time, dt) in enumerate(zip(recording.times.tolist(), recording.periods.tolist(), strict=True)):
            for place, columns in fed:
                ports.values[place] = recording.values[k, columns]
            chain.step(dt)
            history.take(time, dt)
    finally:
        ports.reroute(routes)
    replayed = history.recording()
    return Recording(replayed.channels, replayed.times, replayed.periods, recording.cycles, replayed.values, state)


def _check(ports: Ports, recording: Recording, state: State | None) -> None:
    """Raise an error if a replay cannot reproduce the recording."""
    ours = [channel for channel in ports.channels if channel.name in set(recording.names)]
    theirs = sorted(recording.channels, key=lambda channel: list(ports).index(channel.name) if channel.name in ports else -1)
    if difference := differences(ours, theirs, directions=False):
        raise ArgumentError(f"replay: the recording belongs to another chain: {difference}")
    routes: Mapping[str, str] = ports.routes if state is None else state.routes
    inputs = [name for name, port in ports.items() if port.direction == "in"]
    if lacking := [name for name in inputs if name not in recording.names and name not in routes]:
        listed = some(lacking, 8, members)
        raise ArgumentError(f"replay: the recording lacks the inputs {listed}; record them, or all ports")
    if recording.every != 1:
        raise ArgumentError(f"replay: one cycle in {recording.every} was recorded; expected every one")
    if len(gaps := np.flatnonzero(np.diff(recording.cycles) != 1)):
        before, after = recording.cycles[gaps[0] : gaps[0] + 2].tolist()
        raise ArgumentError(f"replay: cycle {before + 1} was not recorded, the next one is {after}; expected no pause")
    if recording.lost and state is None:
        lost = f"replay: the first {recording.lost} cycles were overwritten or skipped"
        raise ArgumentError(f"{lost}; expected from_state, the state of the chain after them")
