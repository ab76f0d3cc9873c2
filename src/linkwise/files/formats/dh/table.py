"""Denavit-Hartenberg tables as separated text (.csv), in named dialects.

Orders as in the public sources of P. I. Corke's Robotics Toolbox for MATLAB 9 and 10 (``[theta d a alpha sigma offset]``),
of its versions up to 7 and the Scilab toolbox made after them (``[alpha A theta D sigma]``, then the dynamics), and of his
Robotics Toolbox for Python (``DHLink(d, alpha, theta, a, sigma, mdh, offset)``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from linkwise.errors import ArgumentError, FileError, FileProblem, choices, members, shown
from linkwise.files.csv_motion import name_and_unit
from linkwise.files.report import Description, Reading, attempt
from linkwise.files.text import LARGEST_DESCRIPTION, number, read_text, why_not
from linkwise.mechanism import Mechanism
from linkwise.model.joints import JOINTS
from linkwise.model.link import CONVENTIONS, DH_LETTERS, Link
from linkwise.model.motor import Motor
from linkwise.model.validation import TURN
from linkwise.spatial.validation import choice

#: Most characters of a cell in a message.
LONGEST = 60

_BODY = ("m", "rx", "ry", "rz", "Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")
_MOTOR_COLUMNS = ("Jm", "G", "B", "Tc+", "Tc-")


@dataclass(frozen=True)
class Dialect:
    """Column layout and conventions of a table.

    Attributes
    ----------
    name : str
        How it is called for.
    text : str
        The link or joint that it belongs to.
    forms : tuple of tuple of str
        The columns of a row, by their number; none where a header names them.
    friction_rule : str
        How its motors' friction counts, see `Motor`.
    """

    name: str
    text: str
    forms: tuple[tuple[str, ...], ...]
    friction_rule: str = "reflected"

    @property
    def has_header(self) -> bool:
        """True if the first line names the columns."""
        return not self.forms

    def columns(self, count: int) -> tuple[str, ...] | None:
        """Return the columns of a row with that many cells, or None for an invalid number of cells."""
        return next((form for form in self.forms if len(form) == count), None)

    @property
    def counts(self) -> str:
        """List the valid numbers of cells in a row, as text."""
        sizes = [str(len(form)) for form in self.forms]
        return f"{', '.join(sizes[:-1])} or {sizes[-1]}"

    def has(self, column: str) -> bool:
        """True if some row has that column, or a header may name it."""
        return column in HEADER if self.has_header else any(column in form for form in self.forms)


def _up_to(columns: Sequence[str], *counts: int) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(columns[:count]) for count in counts)


_MATLAB = ("theta", "d", "a", "alpha", "sigma")
_TOOLBOX7 = ("alpha", "a", "theta", "d", "sigma")
_PYTHON = ("d", "alpha", "theta", "a", "sigma", "mdh", "offset", "flip", "lower", "upper")

#: By name.
DIALECTS: dict[str, Dialect] = {
    "linkwise": Dialect("linkwise", "Linkwise: a header names the columns and their units", ()),
    "matlab": Dialect(
        "matlab",
        "Robotics Toolbox for MATLAB 9 and 10, Link([theta d a alpha sigma offset])",
        (*_up_to((*_MATLAB, "offset"), 4, 5, 6), *_up_to((*_MATLAB, *_BODY, *_MOTOR_COLUMNS), 15, 16, 17, 18, 20)),
    ),
    "python": Dialect(
        "python", "Robotics Toolbox for Python, DHLink(d, alpha, theta, a, sigma, mdh, offset), then flip and qlim",
        _up_to(_PYTHON, 4, 5, 6, 7, 8, 10),
    ),
    "toolbox7": Dialect(
        "toolbox7", "Robotics Toolbox for MATLAB up to 7 and for Scilab, [alpha A theta D sigma], then the dynamics",
        (*_up_to(_TOOLBOX7, 4, 5), *_up_to((*_TOOLBOX7, *_BODY, *_MOTOR_COLUMNS), 16, 17, 18, 20)), "toolbox7",
    ),
}  # fmt: skip

#: Columns of a header of the dialect "linkwise", with their mandatory units in brackets.
HEADER: dict[str, tuple[str, ...]] = {
    "name": (),
    "joint": (),
    "convention": (),
    "theta": ("rad", "deg"),
    "d": ("m", "mm"),
    "a": ("m", "mm"),
    "alpha": ("rad", "deg"),
    "b": ("m", "mm"),
    "offset": ("rad or m", "deg or m", "deg or mm"),
    "lower": ("rad or m", "deg or m", "deg or mm"),
    "upper": ("rad or m", "deg or m", "deg or mm"),
    "m": ("kg",),
    **dict.fromkeys(("rx", "ry", "rz"), ("m", "mm")),
    **dict.fromkeys(("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz", "Jm"), ("kg m2",)),
    "G": (),
    "B": ("N m s/rad",),
    "Tc+": ("N m",),
    "Tc-": ("N m",),
}

#: SI values of the units; degrees are converted by `math.radians`.
SCALES = {"": 1.0, "m": 1.0, "mm": 1e-3, "rad": 1.0, "kg": 1.0, "kg m2": 1.0, "N m": 1.0, "N m s/rad": 1.0}


def meanings(cells: Sequence[str]) -> list[str]:
    """Interpret a row in each dialect without a header, a line each.

    Examples
    --------
    >>> meanings(["0", "0.3", "0.5", "1.57"])[0]
    'matlab: theta=0 d=0.3 a=0.5 alpha=1.57'
    """
    readings = []
    for dialect in DIALECTS.values():
        columns = dialect.columns(len(cells))
        if columns is not None:
            pairs = " ".join(f"{name}={cell[:LONGEST]}" for name, cell in zip(columns, cells, strict=True))
            readings.append(f"{dialect.name}: {pairs}")
        elif not dialect.has_header:
            readings.append(f"{dialect.name}: nothing, its rows have {dialect.counts} numbers")
    return readings


def dialect_of(name: str) -> Dialect:
    """Return the dialect of that name."""
    return DIALECTS[choice("dialect", name, DIALECTS)]


SEPARATORS = (";", "\t", ",")
_COMMENT = re.compile("[#%]")


@dataclass(frozen=True)
class Line:
    """One line of the table that is neither blank nor a comment."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True)
class DHColumn:
    """A column and the unit that the header states; empty where it needs none or the dialect fixes it."""

    name: str
    unit: str = ""


def lines_of(text: str) -> list[Line]:
    r"""Return the lines that are neither blank nor comments (``#`` and ``%`` begin a comment).

    Cells are separated by semicolons, tabs or commas, whichever comes first in this list, or else by blanks.

    Examples
    --------
    >>> lines_of("% theta d a alpha\n0, 0.3, 0.5, 0  % shoulder\n")
    [Line(number=2, cells=('0', '0.3', '0.5', '0'))]
    """
    lines = []
    for k, raw in enumerate(text.split("\n"), 1):
        line = _COMMENT.split(raw, maxsplit=1)[0].strip()
        if line:
            mark = next((separator for separator in SEPARATORS if separator in line), None)
            lines.append(Line(k, tuple(cell.strip() for cell in line.split(mark))))
    return lines


def header_columns(line: Line) -> tuple[list[DHColumn], list[FileProblem]]:
    """Parse a header: its columns, and its problems."""
    columns, problems = [], []
    for cell in line.cells:
        name, unit = _name_and_unit(cell)
        if name not in HEADER:
            problems.append(FileProblem(line.number, f"no column {shown(cell)}; there is {choices(HEADER)}"))
        elif unit not in (HEADER[name] or ("",)):
            problems.append(FileProblem(line.number, _unit_text(name, unit)))
        columns.append(DHColumn(name, unit))
    names = [column.name for column in columns]
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        problems.append(FileProblem(line.number, f"the header names {members(twice)} twice"))
    missing = [name for name in ("theta", "d", "a", "alpha") if name not in names]
    if missing:
        problems.append(FileProblem(line.number, f"the header has no column {choices(missing)}"))
    return columns, problems


def _unit_text(name: str, unit: str) -> str:
    forms = [f"{name} [{stated}]" for stated in HEADER[name]] or [name]
    if not unit:
        return f"column {name!r} has no unit; write {choices(forms)}"
    return f"column {name!r} is in {unit!r}; write {choices(forms)}"


def _name_and_unit(cell: str) -> tuple[str, str]:
    name, unit = name_and_unit(cell)
    return name, " ".join((unit or "").split())


def is_header(line: Line) -> bool:
    """True if a line contains no number, only words."""
    return all(number(cell) is None for cell in line.cells)


ANGLES = ("theta", "alpha")
WORDS = ("name", "joint", "convention")
LIMITS = ("lower", "upper")
_MOTOR = ("Jm", "B", "Tc+", "Tc-")


@dataclass
class Rows:
    """Makes links of rows; all that is wrong is gathered in `problems`.

    Attributes
    ----------
    dialect : Dialect
        Which it is.
    convention : str or None
        Remarks on the table.
    angles : str
        "rad" or "deg", where no header says it.
    physical : bool
        Whether each inertia must be that of a body that can exist.
    undecided : bool
        Whether some row has no convention.
    """

    dialect: Dialect
    convention: str | None
    angles: str
    physical: bool
    problems: list[FileProblem] = field(default_factory=list)
    undecided: bool = False

    def link(self, line: Line, columns: Sequence[DHColumn], k: int) -> Link | None:
        """The link of a row, or None after a report."""
        known = len(self.problems)
        cells = {column.name: self._cell(line, column, cell) for column, cell in zip(columns, line.cells, strict=True)}
        kind = self._kind(line, cells)
        convention = self._convention(line, cells)
        self._switch(line, cells, "flip", "0 or 1 (q counts as -q + offset)")
        if len(self.problems) > known:
            return None
        values = {column.name: self._scaled(line, column, cells[column.name], kind) for column in columns}
        self._check_constant(line, values, kind)
        if len(self.problems) > known:
            return None
        name = str(cells.get("name") or f"link{k + 1}")
        link, wrong = attempt(f"link {name!r}", lambda: self._build_link(values, kind, convention, name))
        self.problems += [FileProblem(line.number, str(problem)) for problem in wrong]
        return link

    # ── cells ─────────────────────────────────────────────────────────────────────────────────────

    def _cell(self, line: Line, column: DHColumn, cell: str) -> Any:
        if column.name in WORDS:
            return cell
        if column.name in LIMITS and (not cell or cell.lower().lstrip("+-") in {"inf", "infinity"}):
            none = -math.inf if column.name == "lower" else math.inf
            if cell and float(cell) != none:
                self._report(line, f"{column.name} is {cell}; expected a number, or {none} for none")
            return none
        value = number(cell)
        if value is None:
            self._report(line, f"{column.name}: {why_not(cell[:LONGEST]) if cell else 'the cell is empty'}")
            return 0.0
        return value

    def _kind(self, line: Line, cells: Mapping[str, Any]) -> str:
        if "joint" not in cells:
            return DH_LETTERS["P" if self._switch(line, cells, "sigma", "0 (revolute) or 1 (prismatic)") else "R"]
        kind = DH_LETTERS.get(cells["joint"], str(cells["joint"]))
        if kind not in DH_LETTERS.values():
            self._report(line, f"joint is {shown(kind)}; expected {choices([*DH_LETTERS, *DH_LETTERS.values()])}")
        return kind

    def _switch(self, line: Line, cells: Mapping[str, Any], name: str, meaning: str) -> bool:
        value = cells.get(name, 0.0)
        if value not in (0.0, 1.0):
            self._report(line, f"{name} is {value:g}; expected {meaning}")
        return bool(value == 1.0)

    def _convention(self, line: Line, cells: Mapping[str, Any]) -> str:
        stated = str(cells["convention"]) if "convention" in cells else None
        if "mdh" in cells:
            stated = CONVENTIONS[self._switch(line, cells, "mdh", "0 (standard) or 1 (modified)")]
        if stated is None:
            self.undecided = self.undecided or self.convention is None
        elif stated not in CONVENTIONS:
            self._report(line, f"convention is {shown(stated)}; expected {choices(CONVENTIONS)}")
        elif stated and self.convention and stated != self.convention:
            self._report(line, f"the row is of the {stated} convention, and convention is {self.convention!r}")
        return stated or self.convention or "standard"

    def _scaled(self, line: Line, column: DHColumn, value: Any, kind: str) -> Any:
        """The value in SI."""
        if column.name in WORDS:
            return value
        if column.name in ("offset", *LIMITS):
            turning, _, sliding = (column.unit or f"{self.angles} or m").partition(" or ")
            unit = sliding if JOINTS[kind].is_length else turning
        else:
            unit = column.unit or (self.angles if column.name in ANGLES else "")
        if unit in ("deg", "rad") and column.name not in LIMITS:
            most = TURN if unit == "rad" else math.degrees(TURN)
            if abs(value) > most:
                heading = f"{column.name} [{column.unit.replace('rad', 'deg')}]"
                hint = f"write {heading} in the header" if column.unit else "say angles='deg'"
                hint = f"; if these are degrees, {hint}" if unit == "rad" else ""
                self._report(line, f"{column.name} is {value:g} {unit}, more than a turn{hint}")
                return 0.0
        return math.radians(value) if unit == "deg" else value * SCALES[unit]

    def _check_constant(self, line: Line, values: Mapping[str, Any], kind: str) -> None:
        """Reject a constant in the cell of the joint variable (theta or d), which the toolboxes would ignore."""
        place = JOINTS[kind].dh_parameter
        if self.dialect.has_header or not place or not values.get(place):
            return
        where = "put it into the offset" if self.dialect.has("offset") else "this dialect has no offset"
        self._report(
            line,
            f"{place} is {values[place]:g} in the row of a {kind} joint, where the toolbox ignores it (the joint's variable "
            f"takes its place); write 0, or {where}",
        )

    def _report(self, line: Line, message: str) -> None:
        self.problems.append(FileProblem(line.number, message))

    # ── links ─────────────────────────────────────────────────────────────────────────────────────

    def _build_link(self, values: Mapping[str, Any], kind: str, convention: str, name: str) -> Link:
        def get(key: str) -> Any:
            return values.get(key, 0.0)

        limits = (values.get("lower", -math.inf), values.get("upper", math.inf))
        link = Link.dh(
            get("theta"), get("d"), get("a"), get("alpha"), b=get("b"), convention=convention, joint=kind, name=name,
            offset=get("offset"), limits=None if limits == (-math.inf, math.inf) else limits,
            mass=get("m"), com=(get("rx"), get("ry"), get("rz")), physical=self.physical,
            inertia=[get(key) for key in ("Ixx", "Iyy", "Izz", "Ixy", "Iyz", "Ixz")],
            motor=self._motor(values),
        )  # fmt: skip
        return flipped(link) if get("flip") else link

    def _motor(self, values: Mapping[str, Any]) -> Motor | None:
        if not any(values.get(key) for key in _MOTOR):
            return None
        jm, viscous, *coulomb = (values.get(key, 0.0) for key in _MOTOR)
        rule = self.dialect.friction_rule
        return Motor(jm, values.get("G", 1.0), viscous, coulomb, friction_rule=rule)


def flipped(link: Link) -> Link:
    """Reverse the sense of the joint coordinate: q becomes -q + offset."""
    return link.replace(axis=-link.axis, offset=-link.offset)


#: Most problems reported.
MOST = 100


def read_dh(
    path: str | Path,
    *,
    dialect: str | None = None,
    convention: str | None = None,
    angles: str | None = None,
    physical: bool = True,
) -> Mechanism:
    r"""Read a Denavit-Hartenberg table. Its dialect must be named: the same numbers mean another robot in another one.

    Parameters
    ----------
    path : str or Path
        The file: a row a link, cells separated by semicolons, tabs, commas or blanks; ``#`` and ``%`` begin a comment.
    dialect : str
        "linkwise", "matlab", "python" or "toolbox7"; see the page on tables. A header with the units in brackets says
        "linkwise" by itself. Without either the error shows what the first row would mean in each.
    convention : {"standard", "modified"}, optional
        Required where the table does not define it: "python" holds it in its column mdh, "linkwise" may in a column.
    angles : {"rad", "deg"}, optional
        Unit of the angles, by default rad, as in the toolboxes; a header of "linkwise" states it.
    physical : bool
        Whether every inertia must be that of a body that can exist.

    Raises
    ------
    FileError
        With everything that is wrong, each with its line.
    ArgumentError
        Where there is no such dialect, convention or unit.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "arm.csv"
    >>> _ = path.write_text("0, 0.3, 0, 90, 0\n0, 0, 0.5, 0, 0\n")
    >>> print(read_dh(path, dialect="matlab", convention="standard", angles="deg"))
    arm: 2 joints (RR)
    standard Denavit-Hartenberg: Rz(theta) Tz(d) Tx(a) Rx(alpha); lengths in m, angles in degrees
    gravity 0 0 -9.81 m/s2
    <BLANKLINE>
    link   joint  theta    d    a  alpha
    link1  R      q1     0.3  0      90°
    link2  R      q2     0    0.5     0°
    """
    reading = read_table(path, dialect, convention=convention, angles=angles, physical=physical)
    if reading.description is None:
        raise FileError(path, reading.problems[:MOST])
    return reading.description.mechanism


def read_table(path: str | Path, dialect: str | None, advice: str = "", **options: Any) -> Reading:
    """Read a file as far as possible; `options` as for `parse`, `advice` is added where the dialect is unknown."""
    text = read_text(path, LARGEST_DESCRIPTION)
    dialect = dialect or said_dialect(text)
    if dialect is None:
        raise FileError(path, [undecided(text)], advice)
    return parse(text, Path(path).stem, dialect=dialect, **options)


def parse(
    text: str, name: str, *, dialect: str, convention: str | None = None, angles: str | None = None, physical: bool = True
) -> Reading:
    r"""Read the text of a table, line ends as ``\n``; see `read_dh`."""
    spoken = dialect_of(dialect)
    choice("convention", CONVENTIONS[0] if convention is None else convention, CONVENTIONS)
    choice("angles", "rad" if angles is None else angles, ("rad", "deg"))
    if spoken.has_header and angles is not None:
        raise ArgumentError(f"angles is {angles!r}; the header of a table in the dialect 'linkwise' has the units")
    lines = lines_of(text)
    if not lines:
        return Reading(None, [FileProblem(0, "the file holds no row")], {})
    rows = Rows(spoken, convention, angles or "rad", physical)
    table = list(_with_columns(lines, spoken, rows.problems))
    links = [rows.link(line, columns, k) for k, (line, columns) in enumerate(table)]
    if rows.undecided:
        rows.problems.append(
            FileProblem(0, f"the table does not state its convention; give convention={choices(CONVENTIONS)}")
        )
    if not links and not rows.problems:
        rows.problems.append(FileProblem(lines[0].number, "there is no row below the header"))
    if rows.problems:
        return Reading(None, sorted(rows.problems, key=lambda problem: problem.line), {})
    mechanism, wrong = attempt(name, lambda: Mechanism([link for link in links if link is not None], name=name or None))
    if mechanism is None:
        return Reading(None, [FileProblem(0, str(problem)) for problem in wrong], {})
    return Reading(Description(mechanism), [], {("link", k): line.number for k, (line, _) in enumerate(table)})


def _with_columns(lines: list[Line], dialect: Dialect, problems: list[FileProblem]) -> Iterator[tuple[Line, list[DHColumn]]]:
    """Pair the cells of each row with their columns; report rows of invalid length."""
    head, (named, wrong) = lines[0], header_columns(lines[0]) if dialect.has_header else ([], [])
    problems += wrong
    if wrong:
        return
    if not named and is_header(head):
        table = f"a table in the dialect {dialect.name!r} has none; take it out, or begin it with #"
        problems.append(FileProblem(head.number, f"{shown(head.cells[0][:LONGEST])} ... is a header, and {table}"))
    for line in lines[1:] if named or problems else lines:
        columns = named or [DHColumn(name) for name in dialect.columns(len(line.cells)) or ()]
        if len(columns) == len(line.cells):
            yield line, columns
        else:
            expected = f"the header has {len(named)}" if named else f"expected {dialect.counts}"
            problems.append(FileProblem(line.number, f"{len(line.cells)} cells; {expected}"))


def undecided(text: str) -> FileProblem:
    """Return the problem of a table without a named dialect."""
    lines = lines_of(text)
    known = choices(DIALECTS)
    cells = map(_name_and_unit, lines[0].cells) if lines and is_header(lines[0]) else ()
    if any(name in HEADER and unit for name, unit in cells):
        message = "this is a header of the dialect 'linkwise': name that one"
        why = "".join(f" ({problem.message})" for problem in header_columns(lines[0])[1][:1])
        return FileProblem(lines[0].number, message + why)
    row = next((line for line in lines if not is_header(line)), None)
    if row is None:
        return FileProblem(0, f"a Denavit-Hartenberg table needs its dialect named: {known}")
    text = "; ".join(meanings(row.cells[:40]))
    return FileProblem(row.number, f"the dialect of this table is not stated; expected {known}. This row would mean: {text}")


def said_dialect(text: str) -> str | None:
    """Return the dialect identified by the table itself: "linkwise", if its header names all columns with their units.

    Examples
    --------
    >>> said_dialect("theta [deg], d [mm], a [mm], alpha [deg]"), said_dialect("0, 0, 0, 0")
    ('linkwise', None)
    """
    lines = lines_of(text)
    return "linkwise" if lines and is_header(lines[0]) and not header_columns(lines[0])[1] else None
