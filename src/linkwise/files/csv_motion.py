"""Joint motions as .csv: a header of names and units, then a line for each instant: time, coordinates and their rates."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from linkwise.errors import choices, members
from linkwise.files.text import Source, quoted
from linkwise.model.joints.joint import UNITS
from linkwise.model.quantities import GROUPS
from linkwise.model.tree import ManifoldJoint, manifold_columns
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class MotionColumn:
    """One column: its accepted names, the preferred one first, and its units."""

    names: tuple[str, ...]
    units: tuple[str, ...]


def manifold_names(group: str, joints: Sequence[ManifoldJoint]) -> list[str]:
    """Names of the columns of joints with quaternions in a group; accelerations are called as velocities are."""
    return [name for name, _ in manifold_columns(joints, "q" if group == "q" else "qd")]


def columns(group: str, n: int, names: Sequence[str], joints: Sequence[ManifoldJoint]) -> Iterator[MotionColumn]:
    """The columns of a group in order: joints with quaternions, then the others by number or by name.

    Examples
    --------
    >>> [column.names for column in columns("q", 1, ["arm"], ())]
    [('q1', 'q_arm', 'arm')]
    """
    units = [unit for _, unit in manifold_columns(joints, group)]
    for name, unit in zip(manifold_names(group, joints), units, strict=True):
        yield MotionColumn((f"{group}_{name}", *((name,) if group != "qdd" else ())), (unit,))
    for k in range(n):
        by_name = (f"{group}_{names[k]}", *((names[k],) if group == "q" else ())) if names else ()
        yield MotionColumn((f"{group}{k + 1}", *by_name), UNITS[group])


def header(n: int, names: Sequence[str], joints: Sequence[ManifoldJoint]) -> list[str]:
    """Return the column names of a file written by Linkwise."""
    endings = [f"_{name}" for name in names] or [str(k + 1) for k in range(n)]
    base = {group: [f"_{name}" for name in manifold_names(group, joints)] for group in GROUPS}
    return ["t", *(f"{group}{ending}" for group in GROUPS for ending in [*base[group], *endings])]


def name_and_unit(cell: str) -> tuple[str, str | None]:
    """Split a column heading into its name and the unit in brackets; the unit is None without brackets.

    Examples
    --------
    >>> name_and_unit(" tau_arm [N m]"), name_and_unit("q1")
    (('tau_arm', 'N m'), ('q1', None))
    """
    name, bracket, unit = cell.rstrip().removesuffix("]").rpartition("[")
    if not bracket or not cell.rstrip().endswith("]") or "]" in unit:
        return cell.strip(), None
    return name.strip(), unit.strip()


SEPARATORS = (";", "\t", ",")

#: Tolerance of a quaternion's length in a file (tables have few digits).
UNIT_QUATERNION = 1e-6

#: Columns that are the motion of a joint, by its number or its name.
_NUMBERED, _NAMED = re.compile(r"q(d|dd)?[0-9]+"), re.compile(r"q(d|dd)?_")


class CsvReader:
    """Reads the columns t, q, qd and qdd of n joints, or fewer groups, and of joints with quaternions if there are any.

    Other columns are left alone, but not those of further joints.
    """

    def __init__(
        self,
        source: Source,
        n: int,
        names: Sequence[str],
        joints: Sequence[ManifoldJoint] = (),
        wanted: Sequence[str] = GROUPS,
    ) -> None:
        self.source = source
        self.n = n
        self.joints = tuple(joints)
        groups = [list(columns(group, n, names, joints)) for group in wanted]
        self.sizes = [len(group) for group in groups]
        self.wanted = [MotionColumn(("t", "time"), ("s",)), *(column for group in groups for column in group)]
        self.dt: float | None = None
        self.lines = self._lines()
        offset, header = next(self.lines, (source.start, b""))
        if not header:
            source.fail(offset, "the file is empty; expected a header t, q1, ..., qd1, ..., qdd1, ...")
        names_line = header.decode("utf-8", "backslashreplace")
        self.separator = next((mark for mark in SEPARATORS if mark in names_line), ",")
        cells = [name_and_unit(cell) for cell in next(csv.reader([names_line], delimiter=self.separator))]
        self.header = [name for name, _ in cells]
        self.columns = self._columns(offset, names)
        self._check_units(offset, [cells[at][1] for at in self.columns])
        self.last: float = -np.inf

    def blocks(self) -> Iterator[tuple[FloatArray, ...]]:
        """The instants in order, some thousand at a time: t and the groups that are wanted."""
        batch = list(islice(self.lines, 2048))
        if not batch:
            self.source.fail(self.source.start, "there is no instant after the header")
        while batch:
            yield self._instants(batch)
            batch = list(islice(self.lines, 2048))

    def _columns(self, offset: int, names: Sequence[str]) -> list[int]:
        """Locate the required columns."""
        places = [next((self.header.index(n) for n in column.names if n in self.header), -1) for column in self.wanted]
        missing = [column for column, at in zip(self.wanted, places, strict=True) if at < 0]
        if missing and missing == self.wanted[1 + self.sizes[0] :]:
            self.source.fail(offset, _positions_alone(missing, self.n))
        if missing:
            by_name = [column.names[1] for column in missing if names and _NUMBERED.fullmatch(column.names[0])]
            named = f" (or {by_name[0]!r}{' and so on' * (len(by_name) > 1)}, by name)" if by_name else ""
            lacking = choices([column.names[0] for column in missing])
            self.source.fail(offset, f"the header has no column {lacking}{named}; it has {members(self.header[:40])}")
        if len(set(places)) < len(places) or any(self.header.count(self.header[at]) > 1 for at in places):
            self.source.fail(offset, "the header names a column twice")
        self._check_others(offset, {name for column in self.wanted for name in column.names}, bool(names))
        return places

    def _check_others(self, offset: int, known: set[str], named: bool) -> None:
        """Reject columns of joints that this mechanism does not have: the file belongs to another mechanism."""
        joints = f"there {'is 1 joint' if self.n == 1 else f'are {self.n} joints'}"
        for name in self.header:
            by_name = named and _NAMED.match(name)
            if name not in known and (by_name or _NUMBERED.fullmatch(name)):
                also = " and none has that name" if by_name else ""
                self.source.fail(offset, f"column {name!r} is of no joint: {joints}{also}")

    def _check_units(self, offset: int, units: Sequence[str | None]) -> None:
        for column, unit, at in zip(self.wanted, units, self.columns, strict=True):
            if unit and unit not in column.units:
                stated = f"column {self.header[at]!r} is in {quoted(unit.encode())}"
                self.source.fail(offset, f"{stated}; expected {choices(column.units)}")

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, without their ends, each with its offset."""
        for start, piece in self.source.pieces(b"\n\r"):
            offset = start
            for line in piece.splitlines(keepends=True):
                if not line.isspace():
                    yield offset, line.rstrip(b"\r\n")
                offset += len(line)

    def _instants(self, batch: list[tuple[int, bytes]]) -> tuple[FloatArray, ...]:
        table = self._table(batch)[:, self.columns]
        t = table[:, 0]
        steps = np.diff(t, prepend=self.last)
        if not np.all(steps > 0):
            k = int(np.argmin(steps > 0))
            self.source.fail(batch[k][0], f"the time {float(t[k])!r} does not come after the time before it")
        self.last = float(t[-1])
        ends = np.cumsum(self.sizes)[:-1]
        parts = [np.ascontiguousarray(part) for part in np.split(table[:, 1:], ends, axis=1)]
        for at in self.joints:
            self._check_quaternions(batch, parts[0], at.quaternion)
        return t.copy(), *parts

    def _check_quaternions(self, batch: list[tuple[int, bytes]], q: FloatArray, place: slice) -> None:
        """Refuse an orientation that is none."""
        lengths = np.linalg.norm(q[:, place], axis=1)
        wrong = ~(np.abs(lengths - 1.0) <= UNIT_QUATERNION)
        if wrong.any():
            k = int(np.argmax(wrong))
            names = ", ".join(self.header[at] for at in self.columns[1 + place.start : 1 + place.stop])
            self.source.fail(batch[k][0], f"the quaternion {names} has the length {float(lengths[k]):.9g}; expected 1")

    def _table(self, batch: list[tuple[int, bytes]]) -> FloatArray:
        """Parse all cells at once; on failure, parse line by line to find the invalid cell."""
        width, separator = len(self.header), self.separator.encode()
        if all(line.count(separator) == width - 1 for _, line in batch):
            joined = separator.join(line for _, line in batch)
            values = self.source.numbers(joined.split(separator), joined)
            if values is not None:
                return values.reshape(-1, width)
        return np.array([self._row(offset, line.split(separator)) for offset, line in batch])

    def _row(self, offset: int, cells: list[bytes]) -> list[float]:
        """The cells of a line; one that no joint needs may hold anything."""
        if len(cells) != len(self.header):
            self.source.fail(offset, f"{len(cells)} cells; the header has {len(self.header)} columns")
        named = enumerate(zip(cells, self.header, strict=True))
        return [
            self.source.number(offset, cell.strip(), f"column {name!r}: ") if k in self.columns else 0.0
            for k, (cell, name) in named
        ]


def _positions_alone(missing: Sequence[MotionColumn], n: int) -> str:
    """Return the message for a file with positions only, with the way to compute velocities and accelerations."""
    first, last = missing[0].names[0], missing[-1].names[0]
    make = "linkwise.trajectory.through(q, t).save('motion.csv')"
    columns = f"velocities and accelerations ({first} ... {last}) are missing"
    return f"positions alone: {columns}; from q (k, {n}) and t (k,) compute them by {make}"


def render(
    t: FloatArray,
    q: FloatArray,
    qd: FloatArray,
    qdd: FloatArray,
    names: Sequence[str] = (),
    joints: Sequence[ManifoldJoint] = (),
) -> Iterator[str]:
    """The text of a .csv file, in parts."""
    n = q.shape[1] - len(manifold_names("q", joints))
    yield ",".join(header(n, names, joints)) + "\n"
    for row in np.column_stack((t, q, qd, qdd)):
        yield ",".join(map(repr, row.tolist())) + "\n"
