"""Recorded efforts: a .csv with the time and one column for each effort, such as joints.csv of ``linkwise run``."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import numpy as np

from linkwise.cli.columns import names, units
from linkwise.errors import FileError, FileProblem, choices, members
from linkwise.files.csv_columns import name_and_unit
from linkwise.files.numbers import number, why_not
from linkwise.files.text import read_text
from linkwise.model.tree import Tree
from linkwise.spatial.scalar import FloatArray


@dataclass(frozen=True)
class Recorded:
    """Efforts tau (k, nv) at times t (k,), s."""

    path: Path
    t: FloatArray
    tau: FloatArray

    def at(self, times: FloatArray) -> FloatArray:
        """Return the efforts at other times, linear between the recorded ones (m, nv)."""
        return np.stack([np.interp(times, self.t, column) for column in self.tau.T], axis=1)


def read(path: str | Path, tree: Tree) -> Recorded:
    """Read the columns ``t`` and ``tau1`` or ``tau_NAME``, ... of a mechanism; a unit may stand behind each in brackets.

    Columns of other things are left alone. The force and moment on a floating base, ``tau_base_fx`` ..., may be missing:
    they are zero then.

    Raises
    ------
    FileError
        Where a column is missing, of no joint or in another unit, a cell is no number, or the times do not ascend.
    """
    text = read_text(path)
    separator = next((one for one in ";\t," if one in text.partition("\n")[0]), ",")
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    try:
        rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        _refuse(path, reader.line_num, f"{error}; this is not a table of numbers")
    if len(rows) < 2:
        _refuse(path, 0, "there is no instant; expected a header t, tau1, ... and a line for each instant")
    header = [name_and_unit(cell) for cell in rows[0][1]]
    places = _places(path, [name for name, _ in header], tree)
    _check_units(path, header, places, tree)
    table = np.array([[_cell(path, line, row, header, at) for at in places] for line, row in rows[1:]])
    steps = np.diff(table[:, 0])
    if not np.all(steps > 0):
        _refuse(path, rows[2 + int(np.argmin(steps > 0))][0], "the time does not come after the time before it")
    return Recorded(Path(path), table[:, 0], table[:, 1:])


def _places(path: str | Path, found: Sequence[str], tree: Tree) -> list[int]:
    """Where the time and each effort stand in the header; -1 for one of a floating base that is not there."""
    wanted = [("t", "time"), *((f"tau_{name}",) for name in names(tree, "tau")[: tree.nv - tree.n])]
    wanted += [(f"tau{k + 1}", f"tau_{name}") for k, name in enumerate(tree.names)]
    places = [next((found.index(name) for name in one if name in found), -1) for one in wanted]
    optional = range(1, 1 + tree.nv - tree.n)
    missing = [one[0] for k, (one, at) in enumerate(zip(wanted, places, strict=True)) if at < 0 and k not in optional]
    if missing:
        named = f" (or {'tau_' + tree.names[0]!r} and so on, by name)" if tree.names else ""
        _refuse(path, 1, f"the header has no column {choices(missing)}{named}; it has {members(found[:40])}")
    known = {name for one in wanted for name in one}
    strange = [name for name in found if re.match(r"tau(_|\d+$)", name) and name not in known]
    if strange:
        _refuse(path, 1, f"column {strange[0]!r} is of no joint of {tree.name!r}")
    if any(sum(found.count(name) for name in set(one)) > 1 for one in wanted):
        _refuse(path, 1, "the header names a column twice")
    return places


def _check_units(path: str | Path, header: Sequence[tuple[str, str | None]], places: Sequence[int], tree: Tree) -> None:
    for at, unit in zip(places, ["s", *units(tree, "tau")], strict=True):
        if at >= 0 and header[at][1] not in {None, "", unit}:
            _refuse(path, 1, f"column {header[at][0]!r} is in {header[at][1]!r}; expected {unit!r}")


def _cell(path: str | Path, line: int, row: Sequence[str], header: Sequence[tuple[str, str | None]], at: int) -> float:
    if len(row) != len(header):
        _refuse(path, line, f"{len(row)} cells; the header has {len(header)} columns")
    if at < 0:
        return 0.0
    value = number(row[at].strip()) if len(row[at]) <= 60 else None
    if value is None:
        why = why_not(row[at][:60].strip()) if row[at].strip() else "the cell is empty"
        _refuse(path, line, f"column {header[at][0]!r}: {why}")
    return value


def _refuse(path: str | Path, line: int, message: str) -> NoReturn:
    raise FileError(path, [FileProblem(line, message)])
