"""Small tables of numbers: a .csv with a header that names columns and units, or rows of numbers alone."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import numpy as np

from linkwise.errors import FileError, FileProblem, choices, members
from linkwise.files.csv_columns import name_and_unit
from linkwise.files.numbers import number, why_not
from linkwise.files.text import read_text
from linkwise.spatial.scalar import FloatArray

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
            for line, found in self.rows:
                if len(found) != len(self.names):
                    self.refuse(line, f"{len(found)} cells; the header has {len(self.names)} columns")

    def refuse(self, line: int, message: str) -> NoReturn:
        """Raise the error of a line; 0 is the whole file."""
        raise FileError(self.path, [FileProblem(line, message)])

    def place(self, names: Sequence[str]) -> int | None:
        """Which column has one of these names; None where none has."""
        places = [k for k, name in enumerate(self.names) if name in names]
        if len(places) > 1:
            self.refuse(self.first, f"the header names the column {names[0]!r} twice")
        return places[0] if places else None

    def column(self, place: int, units: dict[str, float]) -> FloatArray:
        """The numbers of a column (k,), each times what its unit stands for; 1 where no unit is stated."""
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
