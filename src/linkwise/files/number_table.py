"""Small tables of numbers: a .csv with a header that names columns and units, or rows alone; poses and recorded efforts."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from linkwise.errors import ArgumentError, choices, members
from linkwise.files.csv_motion import name_and_unit
from linkwise.files.text import number, read_text, refused, why_not
from linkwise.model.quantities import names, units
from linkwise.model.tree import Tree
from linkwise.spatial.quaternion import quaternion_rotation
from linkwise.spatial.rotation import rpy_to_rotation
from linkwise.spatial.scalar import FloatArray
from linkwise.spatial.validation import rigid_poses

LONGEST_CELL = 60
NAMES_SHOWN = 40


class NumberTable:
    """The cells of a text file, separated by semicolons, tabs, commas or blanks; lines without anything are left out.

    Parameters
    ----------
    path : path
        The file.
    header : str
        An example of the first line, which names the columns, each with a unit in brackets if it has one; empty where there
        is no such line.
    row : str
        What a row is, for the error where there is none.

    Attributes
    ----------
    names, units : list
        The name of each column, and its unit, None where none is stated.
    first : int
        The line of the header.
    rows : list of (int, list of str)
        The line of each row, and its cells.

    Raises
    ------
    FileError
        Where it cannot be read, or has no rows.
    """

    def __init__(self, path: str | Path, *, header: str = "", row: str = "row") -> None:
        self.path = path
        text = read_text(Path(path))
        first = next((line for line in text.split("\n") if line.strip()), "")
        separator = next((mark for mark in ";\t," if mark in first), None)
        if separator is None:
            self.rows = [(k, line.split()) for k, line in enumerate(text.split("\n"), 1) if line.strip()]
        else:
            reader = csv.reader(io.StringIO(text), delimiter=separator)
            try:
                self.rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
            except csv.Error as error:
                self.refuse(reader.line_num, f"{error}; this is not a table of numbers")
        self.names: list[str] = []
        self.units: list[str | None] = []
        if header:
            if len(self.rows) < 2:
                self.refuse(0, f"there is no {row}; expected a header {header} and a line for each {row}")
            (self.first, cells), *self.rows = self.rows
            for cell in cells:
                name, unit = name_and_unit(cell)
                self.names.append(name)
                self.units.append(unit)
            for line, values in self.rows:
                if len(values) != len(self.names):
                    self.refuse(line, f"{len(values)} cells; the header has {len(self.names)} columns")

    def refuse(self, line: int, message: str) -> NoReturn:
        """Raise the error of a line; 0 is the whole file."""
        raise refused(self.path, message, line)

    def place(self, names: Sequence[str]) -> int | None:
        """Return the column with one of these names, or None."""
        places = [k for k, name in enumerate(self.names) if name in names]
        if len(places) > 1:
            self.refuse(self.first, f"the header names the column {names[0]!r} twice")
        return places[0] if places else None

    def column(self, place: int, units: dict[str, float]) -> FloatArray:
        """Return the numbers of a column (k,) in SI units."""
        name, unit = self.names[place], self.units[place]
        if unit and unit not in units:
            self.refuse(self.first, f"column {name!r} is in {unit!r}; expected {choices(units)}")
        scale = units[unit] if unit else 1.0
        return np.array([self.number(line, name, row[place]) for line, row in self.rows]) * scale

    def number(self, line: int, name: str, cell: str) -> float:
        """The number in a cell."""
        value = number(cell.strip()) if len(cell) <= LONGEST_CELL else None
        if value is None:
            why = why_not(cell[:LONGEST_CELL].strip()) if cell.strip() else "the cell is empty"
            self.refuse(line, f"column {name!r}: {why}")
        return value

    @property
    def listed(self) -> str:
        """The names of the columns, for messages."""
        return members(self.names[:NAMES_SHOWN])


#: Columns of a file of poses.
POSITION, QUATERNION, RPY = ("x", "y", "z"), ("qw", "qx", "qy", "qz"), ("roll", "pitch", "yaw")

UNITS = (
    {name: {"m": 1.0, "mm": 1e-3} for name in POSITION}
    | {name: {"rad": 1.0, "deg": math.pi / 180.0} for name in RPY}
    | {name: {"": 1.0} for name in QUATERNION}
)

#: A quaternion shorter than this has no direction.
ZERO = 1e-9


def read_poses(path: str, link: str | None = None) -> tuple[FloatArray, str, tuple[str, ...]]:
    """Read a table of poses: x, y, z and roll, pitch, yaw or qw, qx, qy, qz, or one of these alone; m and rad.

    Parameters
    ----------
    path : str
        The file. A unit may stand behind a name in brackets: m or mm, rad or deg.
    link : str, optional
        Whose poses, where a column ``link`` names links, as in links.csv.

    Returns
    -------
    tuple of ndarray (k, 4, 4), str, tuple of str
        The poses; ``"xyz"`` and ``"abc"`` for the position and the orientation that it has; a name for each pose, the time
        where there is a column ``t``, else its number.

    Raises
    ------
    FileError
        Where the file is wrong, with the line.
    """
    table = NumberTable(path, header="x, y, z, ...", row="pose")
    groups = [group for group in (POSITION, RPY, QUATERNION) if all(name in table.names for name in group)]
    if not groups or {RPY, QUATERNION} <= set(groups):
        expected = "x, y, z, then qw, qx, qy, qz or roll, pitch, yaw, or one of these alone"
        table.refuse(table.first, f"the header has {table.listed}; expected {expected}")
    _select_link(table, link)
    columns = {group: np.column_stack([_column(table, name) for name in group]) for group in groups}
    poses = np.tile(np.eye(4), (len(table.rows), 1, 1))
    if POSITION in columns:
        poses[:, :3, 3] = columns[POSITION]
    if RPY in columns:
        poses[:, :3, :3] = [rpy_to_rotation(*angles) for angles in columns[RPY]]
    if QUATERNION in columns:
        zero = np.linalg.norm(columns[QUATERNION], axis=1) < ZERO
        if np.any(zero):
            table.refuse(table.rows[int(np.argmax(zero))][0], "the quaternion is zero; expected an orientation")
        rotations = np.asarray(quaternion_rotation(columns[QUATERNION].T), dtype=float)
        poses[:, :3, :3] = np.moveaxis(rotations, -1, 0)
    letters = "xyz" * (POSITION in groups) + "abc" * (len(groups) > (POSITION in groups))
    time = table.place(["t"])
    if time is not None:
        return poses, letters, tuple(f"t = {row[time].strip()} s" for _, row in table.rows)
    return poses, letters, tuple(str(k + 1) for k in range(len(poses)))


def _column(table: NumberTable, name: str) -> FloatArray:
    place = table.place([name])
    assert place is not None
    return table.column(place, UNITS[name])


def _select_link(table: NumberTable, link: str | None) -> None:
    """Keep the rows of one link if a column names links, as in links.csv."""
    place = table.place(["link"])
    if place is None:
        return
    links = list(dict.fromkeys(row[place].strip() for _, row in table.rows))
    if link not in links:
        table.refuse(0, f"it has poses of {members(links[:20])}; choose one with --link")
    table.rows = [(line, row) for line, row in table.rows if row[place].strip() == link]


def read_matrices(path: str) -> FloatArray:
    """Read poses (k, 4, 4) from a file with four numbers a line, four lines a pose.

    Raises
    ------
    FileError
        Where the file is wrong, with the line.
    """
    table = NumberTable(path)
    for line, row in table.rows:
        if len(row) != 4:
            table.refuse(line, f"{len(row)} numbers; expected 4 a line, and 4 lines a pose")
    if not table.rows or len(table.rows) % 4:
        table.refuse(0, f"{len(table.rows)} lines with numbers; expected 4 a pose")
    rows = [[table.number(line, str(k + 1), cell) for k, cell in enumerate(row)] for line, row in table.rows]
    try:
        return rigid_poses("the matrix", np.array(rows).reshape(-1, 4, 4))
    except ArgumentError as error:
        table.refuse(0, str(error))


@dataclass(frozen=True)
class RecordedEfforts:
    """Efforts tau (k, nv) at times t (k,), s, of a file."""

    path: Path
    t: FloatArray
    tau: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the efforts at other times, linear between the recorded ones (m, nv)."""
        return np.stack([np.interp(times, self.t, column) for column in self.tau.T], axis=1)


def read_efforts(path: str | Path, tree: Tree) -> RecordedEfforts:
    """Read the columns ``t`` and ``tau1`` or ``tau_NAME``, ... of a mechanism; each may have a unit in brackets.

    Columns of other things are left alone. The force and moment on a floating base, ``tau_base_fx`` ..., may be missing:
    they are zero then.

    Raises
    ------
    FileError
        Where a column is missing, of no joint or in another unit, a cell is not a number, or the times do not ascend.
    """
    table = NumberTable(path, header="t, tau1, ...", row="instant")
    base = tree.nv - tree.n
    wanted = [("t", "time"), *((f"tau_{name}",) for name in names(tree, "tau")[:base])]
    wanted += [(f"tau{k + 1}", f"tau_{name}") for k, name in enumerate(tree.names)]
    places = [table.place(group) for group in wanted]
    missing = [group[0] for k, group in enumerate(wanted) if places[k] is None and not 1 <= k <= base]
    if missing:
        named = f" (or {'tau_' + tree.names[0]!r} and so on, by name)" if tree.names else ""
        table.refuse(table.first, f"the header has no column {choices(missing)}{named}; it has {table.listed}")
    known = {name for group in wanted for name in group}
    strange = [name for name in table.names if re.match(r"tau(_|\d+$)", name) and name not in known]
    if strange:
        table.refuse(table.first, f"column {strange[0]!r} is of no joint of {tree.name!r}")
    zero = np.zeros(len(table.rows))
    columns = [
        zero if place is None else table.column(place, {unit: 1.0})
        for place, unit in zip(places, ["s", *units(tree, "tau")], strict=True)
    ]
    steps = np.diff(columns[0])
    if not np.all(steps > 0):
        table.refuse(table.rows[1 + int(np.argmin(steps > 0))][0], "the time does not come after the time before it")
    return RecordedEfforts(Path(path), columns[0], np.stack(columns[1:], axis=1) if tree.nv else np.zeros((len(zero), 0)))


#: Units of a coordinate in brackets, in rad or m.
COORDINATE_UNITS = {"rad": {"rad": 1.0, "deg": math.pi / 180.0}, "m": {"m": 1.0, "mm": 1e-3}}


def read_points(path: str | Path, tree: Tree) -> FloatArray:
    """Read joint coordinates (k, n), a row each, from the columns ``q1`` or ``q_NAME``, ... of a mechanism.

    Angles are in rad or ``[deg]``, lengths in m or ``[mm]``. Columns of other things are left alone.

    Raises
    ------
    FileError
        Where a column is missing or in another unit, or a cell is not a number.
    """
    table = NumberTable(path, header="q1, q2, ...", row="point")
    wanted = [(f"q{k + 1}", f"q_{name}") for k, name in enumerate(tree.names)]
    places = [table.place(group) for group in wanted]
    missing = [group[0] for group, place in zip(wanted, places, strict=True) if place is None]
    if missing:
        table.refuse(table.first, f"the header has no column {choices(missing)} (or {wanted[0][1]!r} and so on, by name)")
    columns = zip(places, units(tree, "q"), strict=True)
    return np.stack([table.column(place, COORDINATE_UNITS[unit]) for place, unit in columns if place is not None], axis=1)
